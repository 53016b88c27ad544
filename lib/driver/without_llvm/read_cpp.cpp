#include "driver/read_cpp.h"

#include "diag/errors/cpp.h"
#include "ir/module.h"

namespace adc::driver {

std::unique_ptr<ir::Module> ReadCpp(const std::vector<std::string>& inputs, const CompileOptions&,
                                    diag::SourceManager&, diag::Diagnostics& diagnostics,
                                    std::vector<std::string>*, PassRunner*) {
  diagnostics
      .Error(diag::E0804, {}, "'" + inputs[0] + "' is C++, and this adc was built without LLVM and Clang")
      .AddHelp("write the kernel in the IR, GLSL or HLSL, or use an adc with LLVM");
  return nullptr;
}

}  // namespace adc::driver
