#include "interp/origins.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "ir/number.h"

namespace adc::interp {

bool Origins::IsSpecial(ir::Scalar scalar, uint64_t bits) const {
  if (!ir::IsFloat(scalar)) return false;
  double number = ir::FloatFromBits(scalar, bits);
  return infinities ? !std::isfinite(number) : std::isnan(number);
}

bool Origins::Take(uint64_t known, const Code* code, uint64_t* origin) {
  *origin = known != 0 ? known : ++count;
  if (known != 0 || count != stop_at) return true;
  stopped = code;
  return false;
}

namespace {

uint64_t* CellsOf(Machine& m) {
  return m.origins->cells.data() + m.base;
}

/// The origin beside slot `at` of the adstack in cell a.
uint64_t& SlotOf(Machine& m, const Code* c, uint64_t at) {
  std::vector<std::vector<uint64_t>>& stacks = m.origins->stacks;
  uint64_t number = m.cells[c->a];
  if (stacks.size() <= number) stacks.resize(number + 1);
  if (stacks[number].size() <= at) stacks[number].resize(at + 1);
  return stacks[number][at];
}

template <bool slot>
const Code* WatchPush(Machine& m, const Code* c) {
  uint64_t at = slot ? m.cells[c->c] : m.stacks[m.cells[c->a]].values.size() - 1;
  SlotOf(m, c, at) = CellsOf(m)[c->b];
  return c + 1;
}

template <bool slot, bool taken>
const Code* WatchStackRead(Machine& m, const Code* c) {
  uint64_t size = m.stacks[m.cells[c->a]].values.size();
  CellsOf(m)[c->dst] = SlotOf(m, c, slot ? m.cells[c->c] : taken ? size : size - 1);
  return c + 1;
}

}  // namespace

const Code* WatchValueStep(Machine& m, const Code* c) {
  const WatchInfo& info = m.program->watched[c->info];
  uint64_t* own = CellsOf(m);
  if (!m.origins->IsSpecial(info.result, m.cells[c->dst])) {
    own[c->dst] = 0;
    return c + 1;
  }
  const uint32_t operands[] = {c->a, c->b, c->c};
  uint32_t first = 0, end = std::min<uint32_t>(info.operand_count, std::size(operands));
  if (info.selects) {
    first = (m.cells[c->a] & 1) != 0 ? 1 : 2;
    end = first + 1;
  }
  uint64_t oldest = 0;
  for (uint32_t n = first; n < end; ++n) {
    uint64_t origin = own[operands[n]];
    bool special = m.origins->IsSpecial(info.operand, m.cells[operands[n]]);
    if (special && origin != 0 && (oldest == 0 || origin < oldest)) oldest = origin;
  }
  return m.origins->Take(oldest, c, &own[c->dst]) ? c + 1 : nullptr;
}

const Code* WatchMoveStep(Machine& m, const Code* c) {
  uint64_t* own = CellsOf(m);
  own[c->dst] = own[c->a];
  return c + 1;
}

const Code* WatchPickStep(Machine& m, const Code* c) {
  uint64_t* own = CellsOf(m);
  uint64_t index = m.cells[c->b];
  own[c->dst] = index < c->c ? own[c->a + index] : 0;
  return c + 1;
}

const Code* WatchPlaceStep(Machine& m, const Code* c) {
  uint64_t* own = CellsOf(m);
  uint64_t index = m.cells[c->b];
  if (index < c->info) own[c->dst + index] = own[c->c];
  return c + 1;
}

const Code* WatchClearStep(Machine& m, const Code* c) {
  std::fill_n(CellsOf(m) + c->a, c->b, uint64_t{0});
  return c + 1;
}

Step WatchPushStep(bool slot) {
  return slot ? &WatchPush<true> : &WatchPush<false>;
}
Step WatchStackReadStep(bool slot, bool taken) {
  if (slot) return &WatchStackRead<true, false>;
  return taken ? &WatchStackRead<false, true> : &WatchStackRead<false, false>;
}

}  // namespace adc::interp
