#pragma once
// The shape that most passes here have: walk a function in textual order and write a new one, instruction by
// instruction, through a folding builder. A pass overrides Visit for what it changes and calls Copy for the
// rest. The result is compact: no dropped instruction is left in its tables.

#include <memory>

#include "ir/clone.h"
#include "transform/folding_builder.h"

namespace adc::transform {

class Rewriter {
 public:
  Rewriter(ir::Module& module, const ir::Function& from, FoldConfig config = {});
  virtual ~Rewriter() = default;

  /// The rewritten function, with names made unique. Comments inside of it are not carried over.
  std::unique_ptr<ir::Function> Run();

 protected:
  /// Writes the counterpart of `inst` to the end of the builder's block and enters its results in the map.
  virtual void Visit(ir::Inst inst) { Copy(inst); }
  /// The new value for a value of the source function. Scalar module constants become literals.
  virtual ir::Value Map(ir::Value v);
  std::vector<ir::Value> MapAll(std::span<const ir::Value> values);
  void SetMapped(ir::Value from, ir::Value to) { map_[from] = to; }
  /// The same, and passes the name on.
  void MapNamed(ir::Value from, ir::Value to);
  /// Maps the results of `inst` to the first of `values`, in order, with their names.
  void MapResults(ir::Inst inst, std::span<const ir::Value> values);
  /// Maps the parameters of a source block to the first of `params`, which get their names.
  void MapParams(ir::Block source, std::span<const ir::Value> params);

  /// Copies the instruction with mapped operands: arithmetic through the folding builder, everything else as
  /// it is, its regions through Visit.
  void Copy(ir::Inst inst);
  /// The same without regions and without arithmetic folding: a new instruction with the given operands and
  /// the attributes of `inst`, appended to the builder's block. Results are mapped and named.
  ir::Inst CopyShell(ir::Inst inst, std::span<const ir::Value> operands);
  /// The same with results of other types, none of which is mapped.
  ir::Inst CopyAs(ir::Inst inst, std::span<const ir::Value> operands, std::span<const ir::Type> types);
  /// Gives the copy of a control instruction its regions: parameters mapped and named, contents visited.
  void CopyRegions(ir::Inst from, ir::Inst to);
  /// A new region of `owner` for the source region, with mapped parameters and no contents.
  ir::Block NewRegion(ir::Block source, ir::Inst owner, uint32_t number);
  /// Visits every instruction of a source block, writing into `into`.
  virtual void VisitBlock(ir::Block source, ir::Block into);
  /// Visits all of a source block but its terminator, writing into the builder's block.
  void VisitContents(ir::Block source);
  /// Calls `write` with the builder at the end of `block`, and puts the builder back.
  template <class Write>
  void InBlock(ir::Block block, Write&& write) {
    ir::Block outer = builder_.block();
    builder_.SetBlock(block);
    write();
    builder_.SetBlock(outer);
  }
  /// The results of an instruction of the new function, and the types of values of it.
  std::vector<ir::Value> ResultsOf(ir::Inst inst) const;
  std::vector<ir::Type> TypesOf(std::span<const ir::Value> values) const;
  /// Maps the result of a one-result instruction and passes its name on.
  void Define(ir::Inst inst, ir::Value value) { MapNamed(from_.Result(inst), value); }
  void PassName(ir::Value from, ir::Value to);
  /// Zeros in a scalar, vector or matrix.
  ir::Value ZeroOf(ir::Type type);
  std::vector<ir::Value> ZerosOf(std::span<const ir::Type> types);
  /// The vector or matrix of these components, in row-major order.
  ir::Value Whole(ir::Type type, std::span<const ir::Value> components);
  /// Component `k` of a vector or matrix.
  ir::Value Component(ir::Value whole, uint32_t k);
  /// The iterations of a `for` with these bounds of the new function, as i64. Where the distance of two i64
  /// wraps, the largest i64.
  ir::Value Trips(ir::Value lo, ir::Value hi, int64_t step);
  /// True for operations that go through the folding builder: pure, with a type that operands determine.
  static bool IsArithmetic(ir::Op op);
  /// True for `shape %g::field, axis`: a constant of the layout, which copying makes of it.
  bool IsFieldExtent(ir::Inst inst) const;

  ir::Module& module_;
  const ir::Function& from_;
  ir::ValueMap map_;
  std::unique_ptr<ir::Function> into_;
  FoldingBuilder builder_;
};

/// Whether `holds` of the data of any instruction that the function has.
template <class Holds>
bool AnyInst(const ir::Function& function, const Holds& holds) {
  for (uint32_t n = 0; n < function.InstCount(); ++n) {
    if (holds(function[ir::Inst(n)])) return true;
  }
  return false;
}

/// Gives every value whose name another one before it has a name of its own: `%a`, `%a.1`, `%a.2`, ...
void MakeNamesUnique(ir::Module& module, ir::Function& function);

}  // namespace adc::transform
