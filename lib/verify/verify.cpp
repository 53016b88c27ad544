#include "verify/verify.h"

#include "ir/module.h"
#include "verify/rules.h"

namespace adc::verify {

bool Verify(const ir::Module& module, diag::Diagnostics& diagnostics) {
  Context context{module, diagnostics};
  uint32_t errors = diagnostics.ErrorTotal();
  std::vector<std::vector<ir::Inst>> bodies(module.functions.size());
  for (size_t n = 0; n < module.functions.size(); ++n) {
    const ir::Function& function = *module.functions[n];
    CheckSignature(context, function);
    if (function.broken) continue;
    bool sound = CheckStructure(context, function, &bodies[n]);
    if (!sound) bodies[n].clear();
    if (sound) CheckPhase(context, function, bodies[n]);
  }
  CheckCalls(context, bodies);
  return diagnostics.ErrorTotal() == errors;
}

}  // namespace adc::verify
