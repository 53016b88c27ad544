#include "driver/reproduction.h"

#include <unistd.h>

#include <filesystem>

namespace adc::driver {

namespace {

bool WriteSources(int file, const void* context) {
  auto write = [file](std::string_view text) { return WriteToReproduction(file, text.data(), text.size()); };
  for (const auto& source : static_cast<const diag::SourceManager*>(context)->Files()) {
    bool written = write("//--- ") && write(source->name) && write("\n") && write(source->text) &&
                   (source->text.ends_with('\n') || write("\n"));
    if (!written) return false;
  }
  return true;
}

std::string PlaceOf(const CompileOptions& options) {
  if (!options.repro.empty()) return options.repro;
  std::error_code failure;  // then it is the current folder
  std::filesystem::path folder = std::filesystem::temp_directory_path(failure);
  return (folder / ("adc-repro-" + std::to_string(getpid()) + ".txt")).string();
}

std::string HeadOf(const CompileOptions& options, std::string_view version) {
  return "// reproduction of an internal error; split-file takes the files apart\n// version: " +
         std::string(version) + "\n// command line: " + options.command_line + "\n";
}

}  // namespace

Reproduction::Reproduction(const CompileOptions& options, std::string_view version,
                           const diag::SourceManager& sources)
    : scope_(PlaceOf(options), HeadOf(options, version), WriteSources, &sources) {}

}  // namespace adc::driver
