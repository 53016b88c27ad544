// What a kernel may hold, phase by phase. Text may hold anything (what `adc --emit=ir` prints can be read
// again); from Scalar on registers hold scalars, but for what stands around calls of functions with
// derivatives of their own and for parameters that are vectors; from Lowered on there are no adstacks and no
// calls.

#include "diag/errors/verify.h"
#include "ir/check.h"
#include "verify/rules.h"

namespace adc::verify {

using ir::Inst;
using ir::InstData;
using ir::Op;
using ir::Phase;

namespace {

bool IsStackOp(Op op) {
  return op == Op::StackNew || op == Op::StackPush || op == Op::StackPop || op == Op::StackTop;
}

/// Calls of a function with derivatives of its own stay until those are opened, and in derived kernels so
/// are calls of what it names.
bool IsKept(const ir::Module& module, const ir::Function* callee) {
  if (callee == nullptr) return false;
  if (callee->vjp.Valid() || callee->jvp.Valid()) return true;
  for (const auto& function : module.functions) {
    if (function->vjp == callee->name || function->jvp == callee->name) return true;
  }
  return false;
}

/// Makes or takes apart a vector, or passes one to a function that stays. In a derived kernel whose calls
/// are not opened yet vectors also leave the branches and loops that the calls are in.
bool MayTouchVectors(const ir::Function& kernel, Phase phase, Op op) {
  if (op == Op::VecMake || op == Op::VecGet || op == Op::MatMake || op == Op::MatGet || op == Op::Call)
    return true;
  bool passes_on = op == Op::If || op == Op::For || op == Op::While || op == Op::Yield || IsStackOp(op);
  return phase == Phase::Scalar && kernel.derived_from.Valid() && passes_on;
}

}  // namespace

void CheckPhase(Context& context, const ir::Function& kernel, std::span<const Inst> body) {
  Phase phase = context.module.phase;
  if (phase == Phase::Parsed) return;
  for (Inst inst : body) {
    const InstData& data = kernel[inst];
    if (phase == Phase::Lowered && (IsStackOp(data.op) || data.op == Op::Call)) {
      context.Error(diag::E0207, data.span, ir::OpName(data.op) + " is left after the lowering of adstacks");
      continue;
    }
    if (data.op == Op::Call) {
      if (phase == Phase::Scalar && !IsKept(context.module, context.module.Find(data.symbol)))
        context.Error(diag::E0207, data.span,
                      "a call of " + context.Symbol(data.symbol) + " is left after inlining");
      continue;
    }
    if (data.op == Op::Random) context.Error(diag::E0207, data.span, "'random' is left after scalarisation");
    if (MayTouchVectors(kernel, phase, data.op)) continue;
    bool vector = false;
    for (uint32_t n = 0; n < data.result_count; ++n) {
      ir::Type type = kernel.TypeOf(kernel.Result(inst, n));
      vector = vector || type.IsVec() || type.IsMat();
    }
    for (ir::Value v : kernel.Operands(inst)) {
      vector = vector || kernel.TypeOf(v).IsVec() || kernel.TypeOf(v).IsMat();
    }
    if (vector)
      context.Error(diag::E0207, data.span, ir::OpName(data.op) + " works on vectors after scalarisation");
  }
}

}  // namespace adc::verify
