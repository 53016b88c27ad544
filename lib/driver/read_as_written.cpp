#include "driver/read_as_written.h"

#include "driver/read_cpp.h"
#include "driver/read_shader.h"
#include "host/input_kind.h"
#include "ir/module.h"
#include "parse/parser.h"

namespace adc::driver {

std::unique_ptr<ir::Module> ReadAsWritten(const std::string& path, const CompileOptions& options,
                                          diag::SourceManager& sources, diag::Diagnostics& diagnostics) {
  std::vector<std::string> dependencies;
  if (IsShader(InputKindOf(path))) return ReadShader(path, options, sources, diagnostics, &dependencies);
  if (InputKindOf(path) == InputKind::Cpp)
    return ReadCpp({path}, options, sources, diagnostics, &dependencies, nullptr);
  parse::ParseConfig config;
  config.include_dirs = options.include_dirs;
  config.import_dirs = options.import_dirs;
  config.defines = options.defines;
  return parse::ParseFile(path, config, sources, diagnostics);
}

}  // namespace adc::driver
