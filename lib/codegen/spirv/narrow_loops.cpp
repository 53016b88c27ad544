#include "codegen/spirv/narrow_loops.h"

#include <algorithm>

#include "analysis/uses.h"

namespace adc::codegen::spirv {

using ir::Inst, ir::Op, ir::Value;

Value WordOf(const ir::Function& function, Value v) {
  Inst inst = function.DefiningInst(v);
  if (!inst.Valid() || function[inst].op != Op::Cast || function.TypeOf(v) != ir::kI64) return {};
  Value word = function.Operand(inst, 0);
  return function.TypeOf(word) == ir::kU32 ? word : Value();
}

NarrowLoops::NarrowLoops(const ir::Function& function) {
  auto is_word = [&](Value v) {
    std::optional<int64_t> known = function.IntegerConstant(v);
    return known ? *known >= 0 && *known <= int64_t{UINT32_MAX} : WordOf(function, v).Valid();
  };
  std::vector<Inst> loops;
  for (uint32_t n = 0; n < function.InstCount(); ++n) {
    Inst inst(n);
    if (function[inst].op != Op::For) continue;
    Value low = function.Operand(inst, 0), high = function.Operand(inst, 1);
    bool by_ones = function.IntegerConstant(function.Operand(inst, 2)) == 1;
    if (function.TypeOf(low) == ir::kI64 && by_ones && is_word(low) && is_word(high)) loops.push_back(inst);
  }
  if (loops.empty()) return;
  analysis::Uses uses(function);
  for (Inst loop : loops) {
    std::span<const analysis::Use> readers = uses.Of(function[function[loop].regions[0]].params[0]);
    bool narrow = std::all_of(readers.begin(), readers.end(), [&](const analysis::Use& use) {
      ir::Type type =
          function[use.inst].op == Op::Cast ? function.TypeOf(function.Result(use.inst)) : ir::kI64;
      return ir::IsInteger(type.scalar) && ir::BitWidth(type.scalar) <= 32;
    });
    if (!narrow) continue;
    loops_.Insert(loop);
    for (const analysis::Use& use : readers) of_index_.Insert(use.inst);
  }
  for (Inst loop : loops) {
    for (uint32_t n = 0; n < 2; ++n) {
      Value bound = function.Operand(loop, n);
      if (!WordOf(function, bound).Valid()) continue;
      std::span<const analysis::Use> readers = uses.Of(bound);
      bool only = std::all_of(readers.begin(), readers.end(), [&](const analysis::Use& use) {
        return loops_.Has(use.inst) && use.number < 2;
      });
      if (only) of_bounds_.Insert(function.DefiningInst(bound));
    }
  }
}

}  // namespace adc::codegen::spirv
