#include "msl_host/runner.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

// A kernel's parameters lose their attributes when the compiler reads them, so the launcher of each kernel is
// made from the text of its signature: a parameter with [[buffer(n)]] gets the launch's buffer n, one with a
// built-in attribute the index that it names. The launchers are C++ behind the kernels, in the same file.

namespace adc::msl_host {
namespace {

std::string_view Trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(" \n\t"), end = text.find_last_not_of(" \n\t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

/// Splits at commas outside of brackets.
std::vector<std::string_view> SplitParameters(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t n = 0; n <= text.size(); ++n) {
    if (n == text.size() || (text[n] == ',' && depth == 0)) {
      if (std::string_view part = Trimmed(text.substr(begin, n - begin)); !part.empty())
        parts.push_back(part);
      begin = n + 1;
    } else if (std::string_view("([<").find(text[n]) != std::string_view::npos) {
      ++depth;
    } else if (std::string_view(")]>").find(text[n]) != std::string_view::npos) {
      --depth;
    }
  }
  return parts;
}

struct BuiltIn {
  std::string_view attribute;
  std::string_view value;  ///< of the first axis
  bool is_extent;          ///< other axes are 1, not 0
};
constexpr BuiltIn kBuiltIns[] = {
    {"thread_position_in_grid", "block * block_size + lane", false},
    {"threads_per_grid", "blocks * block_size", true},
    {"threadgroup_position_in_grid", "block", false},
    {"threadgroups_per_grid", "blocks", true},
    {"thread_position_in_threadgroup", "lane", false},
    {"thread_index_in_threadgroup", "lane", false},
    {"threads_per_threadgroup", "block_size", true},
    {"thread_index_in_simdgroup", "0", false},
    {"threads_per_simdgroup", "1", true},
    {"simdgroup_index_in_threadgroup", "lane", false},
    {"simdgroups_per_threadgroup", "block_size", true},
};

/// The argument for one parameter, and the check of what it needs; empty where it is not understood.
std::string ArgumentOf(std::string_view parameter, std::string& checks) {
  size_t open = parameter.rfind("[["), close = parameter.rfind("]]");
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  std::string attribute(Trimmed(parameter.substr(open + 2, close - open - 2)));
  std::string_view declarator = Trimmed(parameter.substr(0, open));
  size_t name = declarator.find_last_of(" &*");
  if (name == std::string_view::npos) return {};
  std::string type(Trimmed(declarator.substr(0, name + 1)));
  constexpr std::string_view kRestrict = "__restrict";
  if (type.ends_with(kRestrict)) type = Trimmed(type.substr(0, type.size() - kRestrict.size()));
  if (attribute.starts_with("buffer(")) {
    std::string number = attribute.substr(7, attribute.size() - 8);
    checks += "  if (!buffers[" + number + "]) return " + number + " + 1;\n";
    bool reference = type.ends_with("&");
    std::string pointer = reference ? type.substr(0, type.size() - 1) + "*" : type;
    return std::string(reference ? "*" : "") + "(" + pointer + ")buffers[" + number + "]";
  }
  for (const BuiltIn& built_in : kBuiltIns) {
    if (attribute != built_in.attribute) continue;
    std::string value(built_in.value), rest = built_in.is_extent ? ", 1" : ", 0";
    if (type == "uint3") return "uint3{" + value + rest + rest + "}";
    if (type == "uint2") return "uint2{" + value + rest + "}";
    return type + "(" + value + ")";
  }
  return {};
}

struct TemporaryFolder {
  std::filesystem::path path;
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "adc-msl-XXXXXX").string();
    if (mkdtemp(pattern.data())) path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove_all(path, ignored);
  }
};

/// "-O0" to "-O3" for ADC_MSL_HOST_LEVEL, which many short runs set; else what suits the length of the text.
const char* LevelFor(std::string_view source) {
  static constexpr const char* kLevels[] = {"-O0", "-O1", "-O2", "-O3"};
  const char* wanted = std::getenv("ADC_MSL_HOST_LEVEL");
  if (wanted && wanted[0] >= '0' && wanted[0] <= '3' && !wanted[1]) return kLevels[wanted[0] - '0'];
  // Long texts are compiled without optimisation: they run briefly.
  return source.size() > (64u << 10) ? "-O0" : "-O1";
}

bool RunCompiler(const std::filesystem::path& folder, const char* level) {
  pid_t child = fork();
  if (child == 0) {
    std::string source = folder / "kernels.cpp", image = folder / "kernels.so", log = folder / "log";
    if (!freopen(log.c_str(), "w", stderr)) _exit(126);
    execl(ADC_CLANG, ADC_CLANG, "-std=c++17", level, "-march=native", "-fPIC", "-shared",
          "-fno-strict-aliasing", "-fsigned-char", "-Xclang", "-cl-single-precision-constant",
          "-Wno-unknown-attributes", "-Wno-ignored-attributes", "-Werror=uninitialized", "-I", ADC_MSL_HOST,
          ADC_MSL_HOST_LINKER, "-o", image.c_str(), source.c_str(), "-lm", nullptr);
    _exit(127);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string LaunchersOf(std::string_view source, std::string& error) {
  static constexpr std::string_view kKernel = "\nkernel void ";
  std::string launchers;
  for (size_t at = source.find(kKernel); at != std::string_view::npos; at = source.find(kKernel, at + 1)) {
    size_t name = at + kKernel.size(), open = source.find('(', name), brace = source.find('{', open);
    size_t close = source.rfind(')', brace);
    if (brace == std::string_view::npos) break;
    std::string entry(source.substr(name, open - name)), checks, arguments;
    for (std::string_view parameter : SplitParameters(source.substr(open + 1, close - open - 1))) {
      std::string argument = ArgumentOf(parameter, checks);
      if (argument.empty()) {
        error = "kernel " + entry + ": parameter '" + std::string(parameter) + "' is not understood";
        return {};
      }
      arguments += (arguments.empty() ? "" : ", ") + argument;
    }
    launchers += "extern \"C\" uint host_run_" + entry +
                 "(void* const* buffers, uint blocks, uint block_size) {\n" + checks +
                 "  for (uint block = 0; block < blocks; ++block)\n    for (uint lane = 0; lane < "
                 "block_size; ++lane) " +
                 entry + "(" + arguments + ");\n  return 0;\n}\n";
  }
  return launchers;
}

std::unique_ptr<Library> Library::Compile(std::string_view source, std::string& error) {
  std::string launchers = LaunchersOf(source, error);
  if (!error.empty()) return nullptr;
  TemporaryFolder folder;
  if (folder.path.empty()) {
    error = "no temporary folder";
    return nullptr;
  }
  std::ofstream(folder.path / "kernels.cpp") << source << '\n' << launchers;
  if (!RunCompiler(folder.path, LevelFor(source))) {
    std::ostringstream text;
    text << std::ifstream(folder.path / "log").rdbuf();
    error = text.str().empty() ? "the compiler did not run" : text.str();
    return nullptr;
  }
  void* image = dlopen((folder.path / "kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!image) {
    error = dlerror();
    return nullptr;
  }
  return std::unique_ptr<Library>(new Library(image));
}

Library::~Library() {
  dlclose(image_);
}

Library::Entry Library::Find(std::string_view name) const {
  return reinterpret_cast<Entry>(dlsym(image_, ("host_run_" + std::string(name)).c_str()));
}

}  // namespace adc::msl_host
