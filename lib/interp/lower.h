#pragma once
// Compiles functions to steps (interp/machine.h).
//
// Every IR value gets cells of its own, but for results of loops, which are the cells of the carried
// parameters: a loop's results can only be read before the loop runs again. Vectors and matrices are taken
// apart here, in the order that docs/ir.md states for sums. Functions are compiled once each, however often
// they are called.

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "interp/step_writer.h"

namespace adc::interp {

/// The program that runs `function`. An instruction that cannot be run becomes a step that reports it.
std::unique_ptr<Program> Lower(const ir::Module& module, const ir::Function& function,
                               const LowerOptions& options);

/// Compiles one function of a program; the members for vectors and for memory lie in files of their own.
class FunctionLowering : StepWriter {
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
  uint32_t Arithmetic(ir::Op op, ir::Scalar scalar, uint32_t a, uint32_t b = 0);
  uint32_t SumOfProducts(ir::Scalar scalar, const Cells& a, const Cells& b);
  uint32_t Length(ir::Scalar scalar, const Cells& a);
  Cells Product(ir::Scalar scalar, const Cells& a, ir::Type a_type, const Cells& b, ir::Type b_type);
  uint32_t Determinant(ir::Scalar scalar, const Cells& m, uint32_t n);
  Cells Inverse(ir::Scalar scalar, const Cells& m, uint32_t n);
  void Define(ir::Inst inst, const Cells& cells);

  FunctionNumber number_of_;
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
