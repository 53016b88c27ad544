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

void Machine::SetFrame(const FunctionCode* code, size_t new_base) {
  base = new_base;
  function = code;
  cells = cell_store.data() + base;
  tangents = program->dual ? tangent_store.data() + base : nullptr;
}

void Machine::CopyCells(size_t from, size_t to, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k) {
    cell_store[to + k] = cell_store[from + k];
    if (program->dual) tangent_store[to + k] = tangent_store[from + k];
    if (origins != nullptr) origins->cells[to + k] = origins->cells[from + k];
  }
}

bool Machine::Enter(const FunctionCode& callee, size_t new_base) {
  size_t end = new_base + callee.cells;
  if (end > kMaxCells) return false;
  if (end > cell_store.size()) {
    cell_store.resize(end + end / 2);
    if (program->dual) tangent_store.resize(cell_store.size());
    if (origins != nullptr) origins->cells.resize(cell_store.size());
  }
  SetFrame(&callee, new_base);
  for (auto [cell, bits] : callee.constants) {
    cells[cell] = bits;
    if (tangents != nullptr) tangents[cell] = 0;
    if (origins != nullptr) origins->cells[base + cell] = 0;
  }
  return true;
}

}  // namespace adc::interp
