#include "check_spirv.h"
#include "command_line.h"
#include "compile_source.h"
#include "host/exit_code.h"
#include "interpret.h"

namespace adc::tool {

int CompileSource(const std::string& path, const OpenOptions&, std::vector<uint8_t>*) {
  PrintError("'" + path + "' is a source file, and this program has no compiler",
             "compile it with adc, and give the bundle");
  return kExitUnsupported;
}

bool WritesCodeFor(const target::Target&) {
  return true;
}

int CompileForInterpreter(const std::string& path, const OpenOptions& options, std::vector<uint8_t>* bytes) {
  return CompileSource(path, options, bytes);
}

int CheckSource(const std::string& path, const OpenOptions&, const adrt_bundle*, const Kernel&) {
  PrintError("'" + path + "' cannot be interpreted: this program has no compiler", "use adc gradcheck");
  return kExitUnsupported;
}

int InterpretSource(const std::string& path, const OpenOptions&, const Kernel&,
                    std::map<std::string, ArgValue>&, const InterpretOptions&) {
  PrintError("'" + path + "' cannot be interpreted: this program has no compiler", "use adc run --interpret");
  return kExitUnsupported;
}

// gradcheck asks where it has a text, which CheckSource has refused.
std::vector<std::string> FirstNanTexts(const std::string&, const OpenOptions&, const Kernel&,
                                       const std::vector<std::string>& parameters,
                                       const std::map<std::string, ArgValue>&, uint64_t) {
  return std::vector<std::string>(parameters.size());
}

SpirvCheck CheckOfSpirv() {
  return nullptr;
}

// No text, no oracle: gradcheck looks at bundles without one.
struct DualKernel::Ready {};
DualKernel::DualKernel() = default;
DualKernel::~DualKernel() = default;
DualKernel::DualKernel(DualKernel&&) noexcept = default;
DualKernel& DualKernel::operator=(DualKernel&&) noexcept = default;
bool DualKernel::Open(const std::string&, const OpenOptions&, const std::string&, uint64_t) {
  return false;
}
bool DualKernel::Run(std::map<std::string, ArgValue>&, std::map<std::string, std::vector<double>>&, bool) {
  return false;
}
std::map<std::string, std::vector<uint32_t>> DualKernel::IntegerWords() const {
  return {};
}
uint64_t DualKernel::Steps() const {
  return 0;
}
bool DualKernel::TakesExtrema() const {
  return false;
}
bool DualKernel::Promises() const {
  return false;
}

}  // namespace adc::tool
