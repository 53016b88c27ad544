// `adc new`: a folder with a kernel, a program that runs it and its gradient, and the build of both.

#include <cctype>
#include <filesystem>
#include <string>

#include "command_line.h"
#include "commands.h"
#include "host/exit_code.h"
#include "host/files.h"
#include "new_templates.h"
#include "print.h"

namespace adc::tool {

namespace {

/// Whether `name` is a name in C, in C++ and in the text at once.
bool IsName(std::string_view name) {
  auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  if (name.empty() || name.size() > 64 || !letter(name[0])) return false;
  for (char c : name) {
    if (!letter(c) && std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
  }
  return true;
}

/// The template with the kernel's name for @name@ and its file for @source@.
std::string Filled(std::string_view text, const std::string& name, const std::string& source) {
  const std::pair<std::string_view, const std::string*> words[] = {{"@name@", &name}, {"@source@", &source}};
  std::string filled;
  while (!text.empty()) {
    size_t at = text.find('@');
    filled += text.substr(0, at);
    if (at == std::string_view::npos) break;
    text.remove_prefix(at);
    size_t length = 1;
    std::string by = "@";
    for (const auto& [word, value] : words) {
      if (!text.starts_with(word)) continue;
      length = word.size();
      by = *value;
    }
    filled += by;
    text.remove_prefix(length);
  }
  return filled;
}

}  // namespace

int New(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> folders;
  bool cpp = false;
  CommandLine line("adc new [options] FOLDER",
                   "Makes a folder with a kernel of its name, a program in C that runs the kernel and its\n"
                   "gradient with the loader, and a CMake project that builds both.");
  line.Flag("--cpp", "write the kernel in C++; default: in adc's text", &cpp);
  line.Example("adc new spring", "then: cmake -S spring -B spring/build && cmake --build spring/build");
  line.Example("adc new --cpp springs", "a kernel in C++");
  line.Positional("folder", 1, 1, &folders);
  if (std::optional<int> code = line.Parse(words)) return *code;
  std::string folder = folders[0];
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  std::string name = std::filesystem::path(folder).filename().string();
  if (!IsName(name)) {
    PrintError("'" + name + "' cannot be the name of a kernel",
               "name the folder by letters, digits and '_', not beginning with a digit");
    return kExitUsage;
  }
  std::error_code failure;
  if (!std::filesystem::create_directory(folder, failure)) {
    if (!failure) failure = std::make_error_code(std::errc::file_exists);
    bool there = failure == std::errc::file_exists;
    PrintError("cannot make the folder '" + folder + "': " + failure.message(),
               there ? "nothing of it was changed; give another name" : "");
    return kExitFailed;
  }
  std::string source = name + (cpp ? ".cpp" : ".ir");
  const std::pair<std::string, std::string_view> files[] = {{source, cpp ? kNewCpp : kNewText},
                                                            {"main.c", kNewMain},
                                                            {"CMakeLists.txt", kNewBuild},
                                                            {"README.md", kNewReadme}};
  for (const auto& [file, text] : files) {
    FileStatus written = WriteWhole(folder + "/" + file, Filled(text, name, source));
    if (written) continue;
    PrintError(written.Failure().text);
    for (const auto& [made, unused] : files) std::filesystem::remove(folder + "/" + made, failure);
    std::filesystem::remove(folder, failure);
    return kExitFailed;
  }
  Print("%s: %s, main.c, CMakeLists.txt, README.md\n", folder.c_str(), source.c_str());
  Print("  adc gradcheck %s/%s --kernel %s --arg x=random[100] --arg k=2.0\n", folder.c_str(), source.c_str(),
        name.c_str());
  Print("  cmake -S %s -B %s/build && cmake --build %s/build && %s/build/%s\n", folder.c_str(),
        folder.c_str(), folder.c_str(), folder.c_str(), name.c_str());
  return kExitOk;
}

}  // namespace adc::tool
