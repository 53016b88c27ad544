#pragma once
// Sums over the iterations of one thread (codegen/common/private_sums.h), and how threads flush them.
//
// A sum is a state of the body's emission (body.h), which becomes a register. When the iterations are done
// all threads of a subgroup meet and reduce their sums; where the device has no reduction for the type, each
// thread goes on with its own. On Vulkan the subgroups of a workgroup then leave what they have in shared
// memory, and its first thread makes one atomic update for all. In code that is to run unverified or to be
// translated (Addressing::Alone, Metal) one thread of each subgroup makes the update.
//
// Gathered sums of threads that are in step (in_step.h) are added up over the subgroup where they come to one
// cell, or to few; elsewhere each thread adds to the cell by itself.

#include <functional>
#include <span>
#include <vector>

#include "codegen/common/private_sums.h"
#include "codegen/spirv/memory.h"

namespace adc::codegen::spirv {

using ir::Reduction;

class SumEmitter {
 public:
  SumEmitter(Environment& environment, ValueTable& values, MemoryEmitter& memory, PrivateSums sums,
             uint32_t block_size)
      : m_(environment.entry.context.module),
        kernel_(environment.entry.kernel),
        environment_(environment),
        f_(environment.entry.f),
        scalars_(environment.entry.scalars),
        values_(values),
        memory_(memory),
        sums_(std::move(sums)),
        block_size_(block_size) {}

  const std::vector<PrivateSum>& sums() const { return sums_.sums; }
  /// The sum that an accumulation belongs to; ir::kNoAttr: none.
  uint32_t SumOf(ir::Inst inst) const { return sums_.sum_of.Get(inst); }
  /// The number from which a sum starts.
  Id Start(uint32_t sum) const { return scalars_.Constant(sums_.sums[sum].scalar, sums_.sums[sum].start); }
  /// Whether values of a type are added up over subgroups.
  static bool CanAdd(ir::Scalar scalar) { return scalar != ir::Scalar::I1; }
  /// Where threads are in step: the gathered sums `sums`, into neighbouring components of one element, of the
  /// threads with `active`. `one_cell`: it is the same element for all of them.
  void AddTogether(std::span<const ir::Inst> sums, Id active, bool one_cell);
  /// Where threads are in step: the total that those with `active` add to the cell of `sum`.
  Id TotalOf(ir::Inst sum, Id active);
  /// The value that a thread adds by itself.
  Id ValueOf(ir::Inst sum);
  /// Whether threads exchange values of a type without asking more of the device than their sums do.
  static bool CanExchange(ir::Scalar scalar) {
    return ir::BitWidth(scalar) == 32 || scalar == ir::Scalar::F64;
  }
  /// The totals over the subgroup of `runs`, a power of two of them: thread n has that of run n modulo their
  /// number. `place`: by which exchanges name the thread, of `size`.
  Id TotalOfRuns(ir::Scalar scalar, std::vector<Id> runs, Id place, Id size);
  /// Whether one of the subgroup's threads has `truth`.
  Id AnyOf(Id truth) { return TruthTogether(spv::OpGroupNonUniformLogicalOr, truth); }
  /// Whether all of them have it.
  Id AllOf(Id truth) { return TruthTogether(spv::OpGroupNonUniformLogicalAnd, truth); }
  /// The sum after accumulation `inst`.
  Id Accumulate(ir::Inst inst, Id total);
  /// Adds all sums to their cells, where all threads meet; one entry of both lists per sum. `touched`:
  /// whether the thread has added to the sum, 0 where the cell may always be touched.
  void UpdateAll(std::span<const Id> totals, std::span<const Id> touched);
  /// Memory that UpdateAll shares between the threads of a workgroup.
  uint32_t SharedBytes() const { return shared_bytes_; }

 private:
  /// The part of a sum that an invocation has.
  struct Partial {
    Id total = 0;
    Id touched = 0;  ///< 0: the cell may always be touched
    Id leads = 0;    ///< whether the invocation goes on with it; 0: each does
  };
  /// Something that subgroups leave for the first invocation of their workgroup.
  struct Left {
    Id* value = nullptr;
    Id type = 0;
    std::function<Id(Id, Id)> combine;
  };

  Partial OverSubgroup(uint32_t sum, Partial own);
  /// Adds up over the workgroup what has been added up over subgroups (`by_subgroup`), or nowhere; its first
  /// invocation updates the cells.
  void UpdateOverBlock(std::vector<Partial>& partials);
  std::vector<Left> LeftOf(std::vector<Partial>& partials, bool by_subgroup);
  /// The totals of `left` at `variables`, of `count` subgroups.
  void Collect(std::span<const Left> left, std::span<const Id> variables, Id count);
  void UpdateCells(std::span<const Partial> partials);
  /// The sum of the registers of a subgroup where `has` holds.
  Id AddOver(ir::Scalar scalar, Id has, Id value);
  /// Which of the threads with `left` have the element that one of them has.
  Id PeersOf(std::pair<Id, uint32_t> element, Id left);
  /// The reduction of a subgroup's registers of this type; OpNop where there is none.
  spv::Op Reduce(Reduction reduction, ir::Scalar scalar) const;
  /// The same of 64-bit integers, which takes no feature of the device; 0 where there is none.
  Id ReduceWide(Reduction reduction, ir::Scalar scalar, Id total);
  /// Whether this invocation is the one of its subgroup that goes on, where all of them meet.
  Id Leads();
  /// Whether this is the one of them that the device chooses.
  Id Elected() {
    return f_.Emit(spv::OpGroupNonUniformElect, m_.types.Bool(), {f_.Int(32, spv::ScopeSubgroup)});
  }
  /// Operation `how` over the values of a subgroup: of any type, words of 32 bits, truths.
  Id Together(spv::Op how, Id type, Id value);
  Id WordTogether(spv::Op how, Id value) { return Together(how, m_.types.Int(32), value); }
  Id TruthTogether(spv::Op how, Id truth);

  ModuleBuilder& m_;
  const ir::Function& kernel_;
  Environment& environment_;
  FunctionBuilder& f_;
  ScalarEmitter& scalars_;
  ValueTable& values_;
  MemoryEmitter& memory_;
  PrivateSums sums_;
  uint32_t block_size_;
  uint32_t shared_bytes_ = 0;
};

}  // namespace adc::codegen::spirv
