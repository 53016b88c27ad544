#include "command_line.h"
#include "compile_source.h"
#include "driver/options.h"

namespace adc::tool {

int CompileSource(const std::string& path, const OpenOptions&, std::vector<uint8_t>*) {
  PrintError("'" + path + "' is a source file, and this program has no compiler",
             "compile it with adc, and give the bundle");
  return driver::kExitUnsupported;
}

}  // namespace adc::tool
