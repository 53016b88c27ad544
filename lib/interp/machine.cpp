#include "interp/machine.h"

#include "interp/origins.h"

namespace adc::interp {

namespace {
/// Cells in all frames together.
constexpr size_t kMaxCells = size_t{1} << 27;
}  // namespace

diag::SourceSpan Machine::SpanOf(const Code* code) const {
  return function->spans[static_cast<size_t>(code - function->code.data())];
}

const Code* Machine::Fail(ErrorKind kind, const Code* code, std::string text) {
  result->error = {kind, std::move(text), SpanOf(code)};
  return nullptr;
}

void Machine::Raise(uint32_t status, uint32_t task, uint32_t index, uint64_t needed, const Code* code,
                    std::string text) {
  if (result->status.code != 0) return;
  result->status = {status, task, index, needed, std::move(text), SpanOf(code)};
}

bool Machine::Enter(const FunctionCode& callee, size_t new_base) {
  size_t end = new_base + callee.cells;
  if (end > kMaxCells) return false;
  if (end > cell_store.size()) {
    cell_store.resize(end + end / 2);
    if (program->dual) tangent_store.resize(cell_store.size());
    if (origins != nullptr) origins->cells.resize(cell_store.size());
  }
  base = new_base;
  function = &callee;
  cells = cell_store.data() + base;
  tangents = program->dual ? tangent_store.data() + base : nullptr;
  for (auto [cell, bits] : callee.constants) {
    cells[cell] = bits;
    if (tangents != nullptr) tangents[cell] = 0;
    if (origins != nullptr) origins->cells[base + cell] = 0;
  }
  return true;
}

}  // namespace adc::interp
