#include "interp/workgroup.h"

#include <algorithm>

#include "interp/origins.h"

namespace adc::interp {
namespace {

/// Copies what `from` has in place of `to`, but for the arrays that all invocations have in common.
template <class T>
void Exchange(std::vector<T>& to, const std::vector<T>& from, const Workgroup& group) {
  if (from.empty()) return;
  std::vector<T> common;
  for (CellRange range : group.info->shared) {
    auto first = to.begin() + static_cast<std::ptrdiff_t>(group.base + range.first);
    common.insert(common.end(), first, first + range.count);
  }
  std::copy(from.begin(), from.end(), to.begin());
  size_t at = 0;
  for (CellRange range : group.info->shared) {
    std::copy_n(common.begin() + static_cast<std::ptrdiff_t>(at), range.count,
                to.begin() + static_cast<std::ptrdiff_t>(group.base + range.first));
    at += range.count;
  }
}

/// Registers up to the end of the current frame.
template <class T>
std::vector<T> Registers(const Machine& m, const std::vector<T>& all) {
  size_t end = std::min(all.size(), m.base + m.function->cells);
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(end)};
}

void Suspend(Machine& m, const Code* resume) {
  Workgroup::Invocation& own = m.workgroup.invocations[m.workgroup.current];
  own.resume = resume;
  own.cells = Registers(m, m.cell_store);
  own.tangents = Registers(m, m.tangent_store);
  if (m.origins != nullptr) own.origins = Registers(m, m.origins->cells);
  own.frames = m.frames;
  own.base = m.base;
  own.function = m.function;
}

const Code* Resume(Machine& m) {
  const Workgroup::Invocation& own = m.workgroup.invocations[m.workgroup.current];
  Exchange(m.cell_store, own.cells, m.workgroup);
  Exchange(m.tangent_store, own.tangents, m.workgroup);
  if (m.origins != nullptr) Exchange(m.origins->cells, own.origins, m.workgroup);
  m.frames = own.frames;
  m.SetFrame(own.function, own.base);
  return own.resume;
}

const Code* Start(Machine& m) {
  m.frames = {};
  m.SetFrame(m.workgroup.function, m.workgroup.base);
  m.cells[m.workgroup.info->invocation] = m.workgroup.current;
  return m.workgroup.begin;
}

/// The invocation that goes on after the current one; `end` where all have ended.
const Code* GoOn(Machine& m, const Code* end) {
  Workgroup& group = m.workgroup;
  if (group.started < group.invocations.size()) {
    group.current = group.started++;
    return Start(m);
  }
  for (size_t n = 1; n <= group.invocations.size(); ++n) {
    group.current = (group.current + 1) % group.invocations.size();
    if (group.invocations[group.current].resume != nullptr) return Resume(m);
  }
  group.info = nullptr;
  return end;
}

}  // namespace

const Code* WorkgroupBeginStep(Machine& m, const Code* c) {
  Workgroup& group = m.workgroup;
  group.info = &m.program->parallels[c->info];
  group.invocations.assign(group.info->invocations, {});
  group.begin = c + 1;
  group.base = m.base;
  group.function = m.function;
  group.current = 0;
  group.started = 1;
  return Start(m);
}

const Code* WorkgroupNextStep(Machine& m, const Code* c) {
  m.workgroup.invocations[m.workgroup.current].resume = nullptr;
  return GoOn(m, c + 1);
}

const Code* BarrierStep(Machine& m, const Code* c) {
  if (m.workgroup.info == nullptr) return c + 1;
  Suspend(m, c + 1);
  return GoOn(m, nullptr);
}

const Code* SharedAllocaStep(Machine& m, const Code* c) {
  m.cells[c->dst] = m.base + c->a;
  if (m.workgroup.current != 0) return c + 1;
  std::fill_n(m.cells + c->a, c->b, uint64_t{0});
  if (m.tangents != nullptr) std::fill_n(m.tangents + c->a, c->b, 0.0);
  if (m.origins != nullptr) std::fill_n(m.origins->cells.data() + m.base + c->a, c->b, uint64_t{0});
  return c + 1;
}

}  // namespace adc::interp
