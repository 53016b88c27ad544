// The gradient runs on the buffers as the kernel left them, so a value that the kernel stored need not be
// computed again:
//
//   %t = ... a dozen operations on %q ...        the adjoint of `mul` reads %t:
//   store %axis[%j], %t                     =>     %t = load %axis[%j]
//   %m = mul %t, %speed
//
// A cell that a kernel may overwrite later is never read again. Of a cell whose index is data only the user
// can know that it is not: `writeonce` says so.

#include "autodiff/stored.h"

#include "analysis/loops.h"
#include "analysis/memory.h"
#include "analysis/structure.h"

namespace adc::autodiff {

using analysis::CarriedNumber;
using ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

/// Operations that making a value again may take before a load is preferred.
constexpr uint32_t kCheap = 6;
/// How deep the arithmetic of an index is looked through.
constexpr uint32_t kIndexDepth = 4;

/// Whether an index is had from what is known where the value was computed.
bool IndexKnown(const Function& function, Value index, uint32_t limit) {
  // Carried values would have to be taped, and control would have to run.
  if (CarriedNumber(function, index)) return false;
  Inst inst = function.DefiningInst(index);
  if (!inst.Valid()) return true;
  bool pure = ir::InfoOf(function[inst].op).effect == ir::Effect::Pure;
  bool load = function[inst].op == Op::Load && !analysis::IsLocalAccess(function, inst);
  if (limit == 0 || !(pure || load)) return false;
  for (Value operand : function.Operands(inst))
    if (!IndexKnown(function, operand, limit - 1)) return false;
  return true;
}

/// Operations that making `v` again takes; more than `limit` where that is enough to know.
uint32_t Cost(const Function& function, Value v, uint32_t limit) {
  if (CarriedNumber(function, v)) return limit + 1;
  Inst inst = function.DefiningInst(v);
  if (!inst.Valid()) return 0;
  Op op = function[inst].op;
  if (op == Op::Load) return 1;
  if (ir::InfoOf(op).effect != ir::Effect::Pure) return limit + 1;
  bool dear = op == Op::Div || op == Op::Sqrt || op == Op::Rsqrt || ir::ClassOf(op) == ir::OpClass::Function;
  uint32_t cost = dear ? 4 : 1;
  for (Value operand : function.Operands(inst)) {
    if (cost > limit) return cost;
    cost += Cost(function, operand, limit - cost);
  }
  return cost;
}

}  // namespace

bool IsWorthRereading(const Function& function, Value v) {
  return Cost(function, v, kCheap) > kCheap;
}

StoredValues::StoredValues(const Function& function, bool reread) {
  IndexSet<Value> lasting, saved;
  for (uint32_t n = 0; n < function.params.size(); ++n) {
    const ir::ParamInfo& info = function.params[n];
    if (reread && info.writeonce && !info.alias) lasting.Insert(function.Params()[n]);
    if (info.role == ir::ParamRole::Saved) saved.Insert(function.Params()[n]);
  }
  analysis::Structure structure(function);
  for (Inst inst : structure.Order()) {
    if (function[inst].op != Op::Store) continue;
    Value base = function.Operand(inst, 0);
    if (!lasting.Has(base) && !saved.Has(base)) continue;
    Value v = function.AccessValues(inst)[0];
    Inst source = function.DefiningInst(v);
    if (!source.Valid() || function[source].parent != function[inst].parent || store_.Get(v).Valid())
      continue;
    if (saved.Has(base)) {
      store_[v] = inst;
      continue;
    }
    bool known = true;
    for (Value index : function.Indices(inst)) known = known && IndexKnown(function, index, kIndexDepth);
    if (known && IsWorthRereading(function, v)) store_[v] = inst;
  }
}

}  // namespace adc::autodiff
