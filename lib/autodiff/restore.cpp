#include "autodiff/restore.h"

#include <algorithm>

namespace adc::autodiff {

using ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

/// The carried parameter from which the yield of `k` can be computed back; empty where it cannot.
std::optional<uint32_t> SourceOf(const Function& function, const RegionTree& tree, Inst loop, uint32_t k) {
  auto carried = [&](Value v) -> std::optional<uint32_t> {
    return function.DefiningBlock(v) == function[loop].regions[0] ? CarriedNumber(function, v) : std::nullopt;
  };
  Value yielded = CarriedYield(function, loop, k);
  if (!function.TypeOf(yielded).IsScalar()) return std::nullopt;
  if (std::optional<uint32_t> source = carried(yielded)) return source;
  Inst update = function.DefiningInst(yielded);
  if (!update.Valid() || !tree.Inside(yielded, loop) || !function.TypeOf(yielded).IsInteger())
    return std::nullopt;
  Op op = function[update].op;
  if (op != Op::Add && op != Op::Sub && op != Op::Xor) return std::nullopt;
  Value a = function.Operand(update, 0), b = function.Operand(update, 1);
  if (std::optional<uint32_t> source = carried(a); source && AvailableAtEntry(function, tree, loop, b))
    return source;
  if (std::optional<uint32_t> source = carried(b); source && AvailableAtEntry(function, tree, loop, a))
    return source;
  return std::nullopt;
}

}  // namespace

std::vector<Restore> PlanRestores(const Function& function, const RegionTree& tree, Inst loop,
                                  const std::vector<uint32_t>& wanted) {
  uint32_t count = function[loop].result_count;
  std::vector<uint32_t> state_of(count, ir::kNoAttr);  // by parameter
  for (uint32_t k = count; k-- > 0;)
    if (std::optional<uint32_t> source = SourceOf(function, tree, loop, k)) state_of[*source] = k;
  std::vector<bool> restored(count, false);
  for (uint32_t k : wanted) {
    // The state that gives k back is itself the parameter of the iteration before: follow it round.
    std::vector<uint32_t> chain;
    uint32_t at = k;
    while (at != ir::kNoAttr && !restored[at] && std::find(chain.begin(), chain.end(), at) == chain.end()) {
      chain.push_back(at);
      at = state_of[at];
    }
    if (at == ir::kNoAttr) continue;
    for (uint32_t link : chain) restored[link] = true;
  }
  std::vector<Restore> result;
  for (uint32_t k = 0; k < count; ++k)
    if (restored[k]) result.push_back({state_of[k], k});
  return result;
}

bool AvailableAtEntry(const Function& function, const RegionTree& tree, Inst loop, Value v) {
  ir::ValueKind kind = function[v].kind;
  if (kind == ir::ValueKind::Constant || kind == ir::ValueKind::Global || !tree.Inside(v, loop)) return true;
  return function[loop].op == Op::For && v == function[function[loop].regions[0]].params[0];
}

}  // namespace adc::autodiff
