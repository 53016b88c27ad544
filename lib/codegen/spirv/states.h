#pragma once
// States: values that some instruction inside of control flow changes and a later one needs, without being
// carried by the IR: the row that a thread has claimed, the value of a sum. Loops and branches that change
// one carry it.

#include "codegen/spirv/debug_places.h"
#include "codegen/spirv/in_step.h"
#include "codegen/spirv/memory.h"
#include "codegen/spirv/rows.h"
#include "codegen/spirv/sums.h"

namespace adc::codegen::spirv {

/// The parts that a kernel's body needs beyond those of a function's.
struct KernelParts {
  Environment& environment;
  MemoryEmitter& memory;
  RowEmitter& rows;
  StatusReporter& status;
  SumEmitter& sums;
  const InStep& in_step;
  DebugPlaces* places = nullptr;  ///< where lines are to be said
};

class States {
 public:
  /// `kernel`: null for a function, which has none.
  States(const ir::Function& function, FunctionBuilder& builder, KernelParts* kernel);

  /// Those that `inst` and its regions change.
  const std::vector<uint32_t>& Of(ir::Inst inst) const { return changes_.Get(inst); }
  Id TypeOf(uint32_t state) const { return types_[state]; }
  /// What they are now.
  std::vector<Id>& now() { return now_; }
  /// Makes the phis of the states that the loop `inst` changes, and closes them.
  std::vector<OpenPhi> Open(ir::Inst inst, Loop& loop);
  void Close(ir::Inst inst, Loop& loop, const std::vector<OpenPhi>& open);

  /// Emits an instruction that does nothing but change states; false where it is none.
  bool EmitChange(ir::Inst inst);
  /// After all iterations, where threads meet: adds each sum to its cell.
  void UpdateCells();

 private:
  uint32_t New(Id type, Id initial);
  void Find(ir::Inst inst);

  const ir::Function& function_;
  FunctionBuilder& f_;
  KernelParts* kernel_;
  std::vector<Id> now_, types_;
  std::map<uint32_t, uint32_t> of_gates_;  ///< claim group with a gate -> state
  std::vector<uint32_t> of_sums_;          ///< by sum: its total
  std::vector<uint32_t> of_touches_;       ///< by sum: whether it has been touched; ir::kNoAttr: no state
  SideTable<ir::Inst, std::vector<uint32_t>> changes_;
};

}  // namespace adc::codegen::spirv
