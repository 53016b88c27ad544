// Formatting changes white space alone, and once.

#include <algorithm>
#include <filesystem>

#include "../support/folders.h"
#include "ir/module.h"
#include "parse/format.h"
#include "parse_support.h"

using namespace adc;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> AllTexts() {
  std::vector<std::string> found;
  for (const char* folder : {"tests", "samples", "lib", "bench", "docs"}) {
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(fs::path(adc::test::SourceFolder()) / folder)) {
      if (entry.path().extension() == ".ir") found.push_back(entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string ReadFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Empty after an error, which `messages` has.
std::string Format(const std::string& text, std::string* messages = nullptr) {
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  uint32_t base = sources.AddFile("test.ir", text);
  std::string formatted;
  bool good = parse::FormatText(*sources.FileOf({base, base + 1}), diagnostics, &formatted);
  CHECK(good == !diagnostics.HasErrors());
  if (messages != nullptr) *messages = diag::PrintDiagnostics(diagnostics, sources, false);
  return good ? formatted : std::string();
}

std::string WithoutBlanks(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (static_cast<unsigned char>(c) > ' ') out += c;
  }
  return out;
}

/// The canonical text of `text` as the file at `path`; empty where it has errors.
std::string Parsed(const std::string& path, const std::string& text) {
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  std::unique_ptr<ir::Module> module = parse::ParseText(path, text, {}, sources, diagnostics);
  return module == nullptr || diagnostics.HasErrors() ? std::string() : ir::Print(*module);
}

}  // namespace

TEST_CASE("formatted text means the same and stays as it is", "[format]") {
  size_t formatted = 0, parsed = 0;
  for (const std::string& path : AllTexts()) {
    std::string text = ReadFile(path);
    std::string once = Format(text);
    if (once.empty()) continue;
    ++formatted;
    INFO(path);
    CHECK(WithoutBlanks(once) == WithoutBlanks(text));
    CHECK(Format(once) == once);
    std::string canonical = Parsed(path, text);
    if (canonical.empty()) continue;
    ++parsed;
    CHECK(Parsed(path, once) == canonical);
  }
  CHECK(formatted > 300);
  CHECK(parsed > 250);
}

TEST_CASE("what a module prints is formatted, and comes back from one line", "[format]") {
  size_t modules = 0;
  for (const std::string& path : AllTexts()) {
    std::string canonical = Parsed(path, ReadFile(path));
    if (canonical.empty()) continue;
    ++modules;
    INFO(path);
    CHECK(Format(canonical) == canonical);
    // Without comments, all on one line: every statement, item and member is found again.
    std::string joined, lines;
    size_t begin = 0;
    while (begin < canonical.size()) {
      size_t end = canonical.find('\n', begin);
      std::string line = canonical.substr(begin, end - begin);
      begin = end + 1;
      size_t first = line.find_first_not_of(' ');
      if (first != std::string::npos && line.compare(first, 2, "//") == 0) continue;
      joined += line + " ";
      if (!line.empty()) lines += line + "\n";
    }
    std::string again = Format(joined), without_blank_lines;
    for (size_t at = 0; at < again.size(); ++at) {
      if (again[at] != '\n' || at == 0 || again[at - 1] != '\n') without_blank_lines += again[at];
    }
    CHECK(without_blank_lines == lines);
  }
  CHECK(modules > 250);
}

TEST_CASE("forms of text", "[format]") {
  CHECK(Format("kernel @k ( %x:buffer< f32,1 > diff,%n :i32 ){parallel %i in 0 .. %n{%a=%x [%i]*-2.0+%n%(2)"
               "%b=%a -1 store %x[ %i ],%b}}") ==
        "kernel @k(%x: buffer<f32, 1> diff, %n: i32) {\n  parallel %i in 0..%n {\n    %a = %x[%i] * -2.0 + "
        "%n % (2)\n"
        "    %b = %a - 1\n    store %x[%i], %b\n  }\n}\n");
  CHECK(Format("const @a=1.0:f32 const @b=[1,2]:array<i32,2>") ==
        "const @a = 1.0 : f32\nconst @b = [1, 2] : array<i32, 2>\n");
  CHECK(Format("layout @g{dense[4,@n]{mass:f32 diff vel:vec<f32,3>}count:i32}") ==
        "layout @g {\n  dense[4, @n] {\n    mass: f32 diff\n    vel: vec<f32, 3>\n  }\n  count: i32\n}\n");
  CHECK(Format("func @f<T>(%a:T)->T{%b=%a<1.0&&%a>0.0?1.0:T(2)%c=!%d||~%e==@f<T>(%a)return %b}") ==
        "func @f<T>(%a: T) -> T {\n  %b = %a < 1.0 && %a > 0.0 ? 1.0:T(2)\n  %c = !%d || ~%e == @f<T>(%a)\n"
        "  return %b\n}\n");
  // Breaks inside of statements are the writer's; one blank line stays.
  CHECK(Format("\n\nfunc @f(\n  %a: f32)\n{\n\n\n%b = %a +\n%a\n\n\n\nif %c {\n}\nelse\n{ // behind\n  // "
               "own\n}\n}\n"
               "// end") ==
        "func @f(\n    %a: f32)\n{\n  %b = %a +\n      %a\n\n  if %c {\n  } else\n  {  // behind\n    // "
        "own\n  }\n}\n\n"
        "// end\n");
  CHECK(Format("").empty());
  std::string messages;
  CHECK(Format("kernel @k() {\n", &messages).empty());
  CHECK(messages.find("has no closing partner [E0118]") != std::string::npos);
  CHECK(Format("kernel @k() }\n", &messages).empty());
  CHECK(messages.find("this '}' closes nothing [E0118]") != std::string::npos);
  CHECK(Format("kernel @k() { %a = 1x }\n", &messages).empty());
  CHECK(messages.find("[E0104]") != std::string::npos);
}
