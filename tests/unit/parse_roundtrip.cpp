// print(parse(print(m))) == print(m) for every directive file and sample that parses.

#include <algorithm>
#include <filesystem>

#include "../support/folders.h"
#include "ir/module.h"
#include "parse_support.h"

using namespace adc;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> SourceFiles() {
  std::vector<std::string> found;
  for (const char* folder : {"tests/files", "tests/e2e", "samples", "lib"}) {
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(fs::path(adc::test::SourceFolder()) / folder)) {
      if (entry.path().extension() == ".ir") found.push_back(entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

TEST_CASE("what prints reads back as it prints", "[parse]") {
  uint32_t good = 0;
  for (const std::string& path : SourceFiles()) {
    diag::SourceManager sources;
    diag::Diagnostics diagnostics;
    std::unique_ptr<ir::Module> module = parse::ParseFile(path, {}, sources, diagnostics);
    if (module == nullptr || diagnostics.HasErrors()) continue;
    ++good;
    std::string first = ir::Print(*module);
    // Imports are looked up beside the file, so the second reading has its name.
    diag::SourceManager again_sources;
    diag::Diagnostics again_diagnostics;
    std::unique_ptr<ir::Module> again = parse::ParseText(path, first, {}, again_sources, again_diagnostics);
    INFO(path);
    INFO(diag::PrintDiagnostics(again_diagnostics, again_sources, false));
    REQUIRE_FALSE(again_diagnostics.HasErrors());
    CHECK(ir::Print(*again) == first);
  }
  CHECK(good >= 200);
}

TEST_CASE("each function prints by itself as it does in its module", "[parse]") {
  auto reading = test::ReadGood(
      "func @f(%a: f32) -> f32 {\n  return %a\n}\n\nkernel @k(%x: buffer<f32, 0>) {\n  %0 = call @f(1.0)\n"
      "  store %x[], %0\n}\n");
  const ir::Module& module = *reading->module;
  CHECK(ir::Print(module, *module.Find("f")) + "\n" + ir::Print(module, *module.Find("k")) ==
        ir::Print(module));
}

TEST_CASE("several files are one module, and each file is read once", "[parse]") {
  fs::path folder = fs::temp_directory_path() / "adc_parse_files";
  fs::create_directories(folder);
  auto write = [&](const char* name, const std::string& text) {
    std::string path = (folder / name).string();
    FILE* file = std::fopen(path.c_str(), "wb");
    REQUIRE(file != nullptr);
    std::fputs(text.c_str(), file);
    std::fclose(file);
    return path;
  };
  std::string common = write("common.ir", "func @twice(%a: f32) -> f32 {\n  return (add %a, %a)\n}\n");
  std::string one =
      write("one.ir", "import \"common.ir\"\nkernel @one(%x: f32) {\n  %y = call @twice(%x)\n}\n");
  std::string two =
      write("two.ir",
            "import \"./common.ir\"\nimport \"one.ir\"\nkernel @two(%x: f32) {\n  %y = call @twice(%x)\n}\n");
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  std::vector<std::string> dependencies;
  auto module = parse::ParseFiles({one, two, one}, {}, sources, diagnostics, &dependencies);
  INFO(diag::PrintDiagnostics(diagnostics, sources, false));
  REQUIRE(module != nullptr);
  CHECK_FALSE(diagnostics.HasErrors());
  CHECK(module->functions.size() == 3);
  CHECK(dependencies == std::vector<std::string>{one, two, common});
  // Both kernels print, the imported function does not.
  std::string text = ir::Print(*module);
  CHECK(text.find("kernel @one") != std::string::npos);
  CHECK(text.find("kernel @two") != std::string::npos);
  CHECK(text.find("func @twice") == std::string::npos);
  fs::remove_all(folder);
}
