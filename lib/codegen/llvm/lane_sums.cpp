// Sums of a worker that runs in step with the other lanes of a wave: warp-aggregated atomics. Lanes that sum
// into the same cell add up before they update it.
//
// A sum into one cell is reduced over the wave when the task ends, where all lanes meet again, then over the
// waves of the block through shared memory, and one thread updates the cell. Gathered sums are flushed by the
// lanes that have come to them together: those with the same cell add up first, and one of them makes one
// atomic update. Neighbouring components of one cell, which are summed one after another, are flushed as one
// (lane_flush.h).

#include <algorithm>
#include <bit>

#include "codegen/llvm/gpu_dialect.h"
#include "codegen/llvm/lane_flush.h"
#include "codegen/llvm/sums.h"
#include "codegen/llvm/turn_sums.h"
#include "ir/module.h"
#include "llvm/IR/Module.h"

namespace adc::codegen {

using ir::Op, ir::Scalar;
using llvm::Value;

namespace {

/// Components that are flushed together, at most: each takes registers.
constexpr size_t kMostComponents = 4;
/// More would keep blocks from running at once.
constexpr uint32_t kMostShared = 8u << 10;

class LaneSums final : public SumEmitter {
 public:
  using SumEmitter::SumEmitter;
  uint32_t SharedBytes() const override { return shared_bytes_; }

  Value* ShareTurns(ir::Inst loop) override {
    TurnCells cells = TurnCellsOf(kernel_, loop);
    if (cells.sums.empty() || !IsGathered(cells.sums[0])) return nullptr;
    return AllAgree(cells.roots);
  }

  Value* ShareBranch(ir::Inst branch, Value* condition) override {
    const ir::InstData& data = kernel_[branch];
    ir::Block inside = data.regions[0];
    if (HasElse(kernel_, branch) || data.Has(ir::Word::ThenCounters)) return nullptr;
    std::vector<ir::Value> roots;
    bool has_sums = false;
    for (ir::Inst inst : kernel_[inside].insts) {
      if (kernel_[inst].op == Op::Alloca) return nullptr;
      if (kernel_[inst].op != Op::For) continue;
      TurnCells cells = TurnCellsOf(kernel_, inst);
      has_sums |= !cells.sums.empty() && IsGathered(cells.sums[0]);
      roots.insert(roots.end(), cells.roots.begin(), cells.roots.end());
    }
    auto is_inside = [&](ir::Value v) {
      ir::Inst made = kernel_.DefiningInst(v);
      return made.Valid() && kernel_[made].parent == inside;
    };
    if (!has_sums || std::ranges::any_of(roots, is_inside)) return nullptr;
    const GpuDialect& wave = *hooks_.Wave();
    Value* agree = AllAgree(roots);
    Value* with = wave.LanesWhere(builder_, wave.ActiveLanes(builder_), condition);
    return builder_.CreateAnd(agree, builder_.CreateIsNotNull(with));
  }

  void BeginTurns(ir::Inst loop) override {
    const KernelPart& part = *this;
    turns_.push_back({loop, std::make_unique<TurnSums>(part, TurnCellsOf(kernel_, loop).sums)});
  }

  void EndTurn(ir::Inst loop, uint32_t number, uint32_t copies) override {
    if (!turns_.empty() && turns_.back().loop == loop) turns_.back().sums->EndTurn(number, copies);
  }

  void EndTurns() override {
    turns_.back().sums->End();
    turns_.pop_back();
  }

  void AddWhere(llvm::Value* condition) override { adds_where_ = condition; }

 private:
  struct Pending {
    ir::Inst inst;
    uint32_t component = 0;
    llvm::Value* value = nullptr;
  };

  struct Reduced {
    llvm::Value* total = nullptr;
    llvm::Value* touched = nullptr;  ///< i1, or null: the total shows it, or it does not matter
  };

  void Flush() override {
    if (pending_.empty()) return;
    if (pending_.back().component < pending_.front().component)
      std::reverse(pending_.begin(), pending_.end());
    ir::Inst first = pending_.front().inst;
    Scalar scalar = UpdateScalar(kernel_, first);
    Scalar summed = scalar == Scalar::F16 ? Scalar::F32 : scalar;
    llvm::SmallVector<Value*> operands{memory_.AddressOf(first)};
    for (const Pending& pending : pending_) operands.push_back(pending.value);
    LaneCells cells{scalar, static_cast<uint32_t>(pending_.size()), scalars_.RegisterType(summed),
                    operands[0]->getType(), hooks_.AtomicScope()};
    llvm::Function* flush =
        FlushFunction(*builder_.GetInsertBlock()->getModule(), *hooks_.Wave(), hooks_.Description(), cells);
    aliases_.Mark(builder_.CreateCall(flush, operands), first, false);
    pending_.clear();
  }

  /// Whether all lanes are there, and have the same values: an i1.
  Value* AllAgree(const std::vector<ir::Value>& values) {
    const GpuDialect& wave = *hooks_.Wave();
    Value *active = wave.ActiveLanes(builder_), *every = wave.EveryLane(builder_);
    Value* alike = builder_.getTrue();
    for (ir::Value value : values) {
      Value* own = values_.Get(value);
      Value* first = wave.ReadScalar(builder_, active, own, wave.FirstLane(builder_, active));
      alike = builder_.CreateAnd(alike, builder_.CreateICmpEQ(own, first));
    }
    Value* agree = values.empty() ? active : wave.LanesWhere(builder_, active, alike);
    return builder_.CreateICmpEQ(agree, every);
  }

  void BeginGathered(const PrivateSums&) override {}

  void AddGathered(ir::Inst inst, uint32_t) override {
    Scalar scalar = UpdateScalar(kernel_, inst);
    Value* value = ValueOf(inst);
    if (adds_where_ != nullptr)
      value = builder_.CreateSelect(adds_where_, value,
                                    scalars_.Constant(scalar, codegen::StartOf(Reduction::Add, scalar)));
    if (!turns_.empty() && turns_.back().sums->Has(inst)) {
      turns_.back().sums->Add(inst, value);
      return;
    }
    uint32_t component = ComponentOf(kernel_[inst]);
    if (!pending_.empty() && !IsNeighbour(inst, component)) Flush();
    if (scalar == Scalar::F16) value = scalars_.Emit(Op::Cast, scalar, Scalar::F32, {value});
    pending_.push_back({inst, component, value});
  }

  void EndSums(const std::vector<Sum>& sums) override {
    const GpuDialect& wave = *hooks_.Wave();
    std::vector<Reduced> reduced;
    for (const Sum& sum : sums) {
      Value* total = TotalOf(sum);
      reduced.push_back(OverLanes(sum, {total, sum.shows ? nullptr : TouchedOf(sum, total)}, wave.Lanes()));
    }
    Value* leads = builder_.CreateICmpEQ(wave.Lane(builder_), builder_.getInt32(0));
    llvm::BasicBlock* done = OverBlock(sums, reduced, leads);
    for (size_t n = 0; n < sums.size(); ++n) {
      Value* chosen = leads;
      Value* touched = sums[n].shows ? TouchedOf(sums[n], reduced[n].total) : reduced[n].touched;
      if (touched != nullptr) chosen = builder_.CreateAnd(chosen, touched);
      UpdateIf(chosen, sums[n], reduced[n].total);
    }
    if (done == nullptr) return;
    GoOnIn(builder_, done);
  }

  void EndGathered() override {}

  /// Over the lanes of the wave, or as many as `lanes`; every lane of the wave runs it.
  Reduced OverLanes(const Sum& sum, Reduced own, uint32_t lanes) {
    const GpuDialect& wave = *hooks_.Wave();
    Value* at_once = AddAtOnce(sum, own.total, lanes);
    own.total =
        at_once != nullptr ? at_once : TotalOverLanes(sum.what->update, sum.what->scalar, own.total, lanes);
    if (own.touched != nullptr) {
      Value* touched = wave.LanesWhere(builder_, wave.EveryLane(builder_), own.touched);
      own.touched = builder_.CreateICmpNE(touched, llvm::ConstantInt::get(touched->getType(), 0));
    }
    return own;
  }

  Value* TotalOverLanes(Op update, Scalar scalar, Value* own, uint32_t lanes) {
    const GpuDialect& wave = *hooks_.Wave();
    for (uint32_t distance = lanes / 2; distance != 0; distance /= 2) {
      Value* other = wave.ReadScalarAcross(builder_, own, distance);
      own = memory_.Combine(update, scalar, own, {other});
    }
    return own;
  }

  /// The sum of whole numbers by the wave's own instruction; null where there is none for them.
  /// Counts have 64 bits and seldom need them: where every lane's fits 26, the sum of 32 or 64 of them
  /// fits 32.
  Value* AddAtOnce(const Sum& sum, Value* own, uint32_t lanes) {
    const GpuDialect& wave = *hooks_.Wave();
    constexpr uint32_t kSmall = 26;
    if (sum.what->reduction != Reduction::Add || !wave.AddsAtOnce()) return nullptr;
    if (own->getType()->isIntegerTy(32)) return wave.AddOverWave(builder_, own);
    if (!own->getType()->isIntegerTy(64)) return nullptr;
    Value* large = builder_.CreateICmpUGE(own, builder_.getInt64(uint64_t{1} << kSmall));
    Value* any = wave.LanesWhere(builder_, wave.EveryLane(builder_), large);
    llvm::BasicBlock* at_once = NewBlock(builder_, "sum_small");
    llvm::BasicBlock* in_rounds = NewBlock(builder_, "sum_large");
    llvm::BasicBlock* join = NewBlock(builder_, "sum_joined");
    builder_.CreateCondBr(builder_.CreateICmpEQ(any, llvm::ConstantInt::get(any->getType(), 0)), at_once,
                          in_rounds);
    builder_.SetInsertPoint(at_once);
    Value* small = wave.AddOverWave(builder_, builder_.CreateTrunc(own, builder_.getInt32Ty()));
    small = builder_.CreateZExt(small, own->getType());
    builder_.CreateBr(join);
    builder_.SetInsertPoint(in_rounds);
    Value* total = TotalOverLanes(sum.what->update, sum.what->scalar, own, lanes);
    GoOnIn(builder_, join);
    return EmitPhi(builder_, small, at_once, total, in_rounds);
  }

  /// Over the waves of the block. Leaves the builder where the first wave goes on alone, and gives the block
  /// that it must lead to, where all go on; null, and nothing done, where there is one wave or too many sums.
  /// `leads`: this is the first lane of its wave.
  /// The first lane of each wave leaves what its wave has; lane n of the first wave takes what wave n left.
  llvm::BasicBlock* OverBlock(const std::vector<Sum>& sums, std::vector<Reduced>& reduced, Value* leads) {
    const GpuDialect& wave = *hooks_.Wave();
    uint32_t waves = hooks_.WavesOfBlock();
    struct Part {
      Scalar scalar;
      uint32_t offset;  ///< of its elements, one per wave
      Value** value;
      Value* start;
    };
    std::vector<Part> parts;
    uint32_t bytes = 0;
    auto add = [&](Scalar scalar, Value*& value, Value* start) {
      parts.push_back({scalar, bytes, &value, start});
      bytes += (waves * ir::ByteSize(scalar) + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
    };
    for (size_t n = 0; n < sums.size(); ++n) {
      add(sums[n].what->scalar, reduced[n].total, StartOf(sums[n]));
      if (reduced[n].touched != nullptr) add(Scalar::I1, reduced[n].touched, builder_.getFalse());
    }
    if (waves == 1 || bytes > kMostShared) return nullptr;
    Value* memory = SharedWords(bytes / kSharedAlignment);
    shared_bytes_ = bytes;
    auto place = [&](const Part& part, Value* wave_number) {
      Value* begin = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), memory, part.offset);
      return builder_.CreateInBoundsGEP(scalars_.MemoryType(part.scalar), begin, wave_number);
    };
    Value* number = hooks_.WaveInBlock();
    EmitWhen(builder_, leads, "sum_leave", "sum_left", [&] {
      for (const Part& part : parts)
        builder_.CreateStore(scalars_.ToMemory(part.scalar, *part.value), place(part, number));
    });
    llvm::BasicBlock *take = NewBlock(builder_, "sum_take"), *done = NewBlock(builder_, "sums_done");
    wave.MeetBlock(builder_);
    builder_.CreateCondBr(builder_.CreateICmpEQ(number, builder_.getInt32(0)), take, done);
    builder_.SetInsertPoint(take);
    Value* lane = wave.Lane(builder_);
    Value* known = builder_.CreateICmpULT(lane, builder_.getInt32(waves));
    Value* asked = builder_.CreateSelect(known, lane, builder_.getInt32(0));
    for (const Part& part : parts) {
      Value* got = builder_.CreateLoad(scalars_.MemoryType(part.scalar), place(part, asked));
      *part.value = builder_.CreateSelect(known, scalars_.FromMemory(part.scalar, got), part.start);
    }
    for (size_t n = 0; n < sums.size(); ++n)
      reduced[n] = OverLanes(sums[n], reduced[n], std::bit_ceil(waves));
    return done;
  }

  bool IsNeighbour(ir::Inst inst, uint32_t component) const {
    const Pending& last = pending_.back();
    if (pending_.size() == kMostComponents || !IsOneElement(kernel_, last.inst, inst)) return false;
    // From either end: components come up or down.
    bool up = pending_.size() == 1 || pending_[0].component < pending_[1].component;
    bool down = pending_.size() == 1 || pending_[0].component > pending_[1].component;
    return (up && component == last.component + 1) || (down && component + 1 == last.component);
  }

  /// A loop whose turns the lanes share.
  struct OpenTurns {
    ir::Inst loop;
    std::unique_ptr<TurnSums> sums;
  };

  uint32_t shared_bytes_ = 0;
  std::vector<OpenTurns> turns_;  ///< outermost first
  llvm::Value* adds_where_ = nullptr;
  std::vector<Pending> pending_;  ///< components of one cell, for Flush
};

}  // namespace

std::unique_ptr<SumEmitter> MakeLaneSums(const KernelPart& part) {
  return std::make_unique<LaneSums>(part);
}

}  // namespace adc::codegen
