#pragma once
// Writes the steps of one function, and gives its values their cells.

#include <map>
#include <type_traits>
#include <utility>

#include "interp/machine.h"

namespace adc::interp {

struct LowerOptions {
  bool dual = false;
  bool promote_floats = false;
  bool origins = false;  ///< steps watch where special values come from (interp/origins.h); plain runs alone
};

/// Adds a row to a table of the program. Gives its number.
template <class Row>
uint32_t AddRow(std::vector<Row>& table, std::type_identity_t<Row> row) {
  table.push_back(std::move(row));
  return static_cast<uint32_t>(table.size() - 1);
}

class StepWriter {
 public:
  StepWriter(const ir::Module& module, const ir::Function& function, const LowerOptions& options,
             Program& program);
  FunctionCode TakeCode();

  /// What the next steps are of, and where it stands.
  struct Origin {
    ir::Inst inst;
    diag::SourceSpan span;
  };
  /// The next steps are of `inst`. Gives what they were of.
  Origin Enter(ir::Inst inst);
  void Return(Origin outer) { origin_ = outer; }

  size_t Emit(Step step, uint32_t dst = 0, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0, uint32_t info = 0);
  size_t Here() const { return code_.code.size(); }
  void JumpTo(size_t from, size_t target);
  void JumpHere(size_t from) { JumpTo(from, Here()); }
  /// dst = op a [, b [, c]], which must have a step.
  void EmitArithmetic(ir::Op op, const WatchInfo& types, uint32_t dst, uint32_t a, uint32_t b, uint32_t c);
  void EmitCast(ir::Scalar from, ir::Scalar to, uint32_t dst, uint32_t a);
  void EmitMove(uint32_t dst, uint32_t a);
  void EmitPick(uint32_t dst, uint32_t a, uint32_t index, uint32_t count);
  void EmitWatch(const WatchInfo& info, uint32_t dst, uint32_t a, uint32_t b = 0, uint32_t c = 0);
  void Unsupported(std::string text);

  uint32_t NewCells(uint32_t count);
  /// First cell of a value; its cells are made at the first mention.
  uint32_t CellOf(ir::Value value);
  CellRange RangeOf(ir::Value value) { return {CellOf(value), CellCount(function_.TypeOf(value))}; }
  std::vector<uint32_t> CellsOf(ir::Value value);
  uint32_t ConstantCell(uint64_t bits);
  uint32_t CellCount(ir::Type type) const;
  void Alias(ir::Value value, uint32_t first_cell);
  /// The type that registers have: every float is a double in promoted runs.
  ir::Scalar Register(ir::Scalar scalar) const;
  uint64_t RegisterBits(ir::Scalar scalar, uint64_t bits) const;
  bool IsPromoted(ir::Scalar scalar) const { return Register(scalar) != scalar; }

 protected:
  const ir::Module& module_;
  const ir::Function& function_;
  const LowerOptions& options_;
  Program& program_;
  FunctionCode code_;

 private:
  std::map<uint64_t, uint32_t> constant_cells_;
  Origin origin_;
};

}  // namespace adc::interp
