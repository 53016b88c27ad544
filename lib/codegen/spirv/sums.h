#pragma once
// Sums over the iterations of one thread (codegen/common/private_sums.h), and how threads flush them.
//
// A sum is a state of the body's emission (body.h), which becomes a register. When the iterations are done
// all threads of a subgroup meet, reduce their sums, and one of them makes one atomic update. Where the
// device has no reduction for the type, each thread that has a partial sum makes its own.
//
// Each thread adds to the cell of a gathered sum by itself. Adding up over those of a subgroup that come to
// one cell together would save atomic updates, but it takes operations of a subgroup in divergent control
// flow, and one driver (NVIDIA's, 580) loses threads there: a store after a loop that one thread entered was
// not made by any.

#include "codegen/common/private_sums.h"
#include "codegen/spirv/memory.h"

namespace adc::codegen::spirv {

using ir::Reduction;

class SumEmitter {
 public:
  SumEmitter(ModuleBuilder& module, const ir::Function& kernel, Environment& environment,
             FunctionBuilder& builder, ScalarEmitter& scalars, ValueTable& values, MemoryEmitter& memory,
             PrivateSums sums)
      : m_(module),
        kernel_(kernel),
        environment_(environment),
        f_(builder),
        scalars_(scalars),
        values_(values),
        memory_(memory),
        sums_(std::move(sums)) {}

  const std::vector<PrivateSum>& sums() const { return sums_.sums; }
  /// The sum that an accumulation belongs to; ir::kNoAttr: none.
  uint32_t SumOf(ir::Inst inst) const { return sums_.sum_of.Get(inst); }
  /// What a sum starts from.
  Id Start(uint32_t sum) const { return scalars_.Constant(sums_.sums[sum].scalar, sums_.sums[sum].start); }
  /// The sum after accumulation `inst`.
  Id Accumulate(ir::Inst inst, Id total);
  /// Adds a sum to its cell, where all threads meet. `touched`: 0 where the cell may always be touched.
  void Update(uint32_t sum, Id total, Id touched);

 private:
  /// The reduction of a subgroup's registers of this type; OpNop where there is none.
  spv::Op Reduce(Reduction reduction, ir::Scalar scalar) const;
  /// The same of 64-bit integers, which takes no feature of the device; 0 where there is none.
  Id ReduceWide(Reduction reduction, ir::Scalar scalar, Id total);
  Id Together(spv::Op how, uint32_t width, Id value);

  ModuleBuilder& m_;
  const ir::Function& kernel_;
  Environment& environment_;
  FunctionBuilder& f_;
  ScalarEmitter& scalars_;
  ValueTable& values_;
  MemoryEmitter& memory_;
  PrivateSums sums_;
};

}  // namespace adc::codegen::spirv
