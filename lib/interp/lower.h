#pragma once
// Compiles functions to steps (interp/machine.h).
//
// Every IR value gets cells of its own, but for results of loops, which are the cells of the carried
// parameters: a loop's results can only be read before the loop runs again. Vectors and matrices are taken
// apart here, in the order that docs/ir.md states for sums. Functions are compiled once each, however often
// they are called.

#include <map>
#include <memory>
#include <unordered_map>

#include "interp/machine.h"

namespace adc::interp {

struct LowerOptions {
  bool dual = false;
  bool promote_floats = false;
  bool origins = false;  ///< steps watch where special values come from (interp/origins.h); plain runs alone
};

/// The program that runs `function`. An instruction that cannot be run becomes a step that reports it.
std::unique_ptr<Program> Lower(const ir::Module& module, const ir::Function& function,
                               const LowerOptions& options);

/// Compiles one function of a program; the members for vectors and for memory lie in files of their own.
class FunctionLowering {
 public:
  /// Gives each called function its number, each once.
  using FunctionNumber = std::function<uint32_t(const ir::Function&)>;

  FunctionLowering(const ir::Module& module, const ir::Function& function, const LowerOptions& options,
                   Program& program, FunctionNumber number_of);
  FunctionCode Take();

 private:
  using Cells = std::vector<uint32_t>;

  // lower.cpp
  void LowerBlock(ir::Block block);
  void LowerInst(ir::Inst inst);
  void LowerControl(ir::Inst inst);
  void LowerFor(ir::Inst inst);
  void LowerWhile(ir::Inst inst);
  void LowerIf(ir::Inst inst);
  void LowerScope(ir::Inst inst);
  void LowerParallel(ir::Inst inst);
  void LowerCall(ir::Inst inst);
  void LowerReport(ir::Inst inst);
  void LowerReturn(ir::Inst inst);
  void LowerLeave(ir::Inst inst);
  void Unsupported(std::string text);
  /// Moves values to cells, all at once: a source may be the target of another move.
  void MoveAll(std::span<const ir::Value> from, std::span<const ir::Value> to);
  void MoveToResults(ir::Block block, ir::Inst owner);

  // lower_memory.cpp
  void LowerAccess(ir::Inst inst);
  void LowerAlloca(ir::Inst inst);
  void LowerShape(ir::Inst inst);
  void LowerStack(ir::Inst inst);
  void LowerRow(ir::Inst inst);

  // lower_vector.cpp
  void LowerValue(ir::Inst inst);
  void LowerElementwise(ir::Inst inst);
  void LowerCast(ir::Inst inst);
  void LowerRandom(ir::Inst inst);
  void LowerComponent(ir::Inst inst);
  Cells MatrixCells(ir::Inst inst);
  Cells CellsOf(ir::Value value);
  uint32_t Arithmetic(ir::Op op, ir::Scalar scalar, uint32_t a, uint32_t b = 0);
  /// dst = op a [, b [, c]], which must have a step.
  void EmitArithmetic(ir::Op op, const WatchInfo& types, uint32_t dst, uint32_t a, uint32_t b, uint32_t c);
  void EmitCast(ir::Scalar from, ir::Scalar to, uint32_t dst, uint32_t a);
  void EmitMove(uint32_t dst, uint32_t a);
  void EmitPick(uint32_t dst, uint32_t a, uint32_t index, uint32_t count);
  void EmitWatch(const WatchInfo& info, uint32_t dst, uint32_t a, uint32_t b = 0, uint32_t c = 0);
  uint32_t SumOfProducts(ir::Scalar scalar, const Cells& a, const Cells& b);
  uint32_t Length(ir::Scalar scalar, const Cells& a);
  Cells Product(ir::Scalar scalar, const Cells& a, ir::Type a_type, const Cells& b, ir::Type b_type);
  uint32_t Determinant(ir::Scalar scalar, const Cells& m, uint32_t n);
  Cells Inverse(ir::Scalar scalar, const Cells& m, uint32_t n);
  void Define(ir::Inst inst, const Cells& cells);

  // Emission.
  size_t Emit(Step step, uint32_t dst = 0, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0, uint32_t info = 0);
  size_t Here() const { return out_.code.size(); }
  void JumpTo(size_t from, size_t target);
  uint32_t NewCells(uint32_t count);
  /// First cell of a value; its cells are made at the first mention.
  uint32_t CellOf(ir::Value value);
  uint32_t ConstantCell(uint64_t bits);
  uint32_t CellCount(ir::Type type) const;
  void Alias(ir::Value value, uint32_t first_cell);
  /// The type that registers have: every float is a double in promoted runs.
  ir::Scalar Register(ir::Scalar scalar) const;
  uint64_t RegisterBits(ir::Scalar scalar, uint64_t bits) const;
  bool IsPromoted(ir::Scalar scalar) const { return Register(scalar) != scalar; }

  const ir::Module& module_;
  const ir::Function& function_;
  LowerOptions options_;
  Program& program_;
  FunctionNumber number_of_;
  FunctionCode out_;
  std::vector<uint32_t> cell_of_;
  std::map<uint64_t, uint32_t> constant_cells_;
  diag::SourceSpan span_;
  ir::Inst inst_;
  uint32_t task_ = 0;
  uint32_t asserts_ = 0;

  /// A loop or scope whose body is being compiled: where what leaves it puts its values, and the jumps.
  struct Open {
    std::span<const ir::Value> values;
    std::vector<size_t> breaks, continues;
    std::optional<uint32_t> counts = {};  ///< a `while`: the loop whose turns are told where it ends
  };
  std::map<ir::Inst, Open> open_;
};

}  // namespace adc::interp
