#include "codegen/llvm/lane_sums.h"

#include <algorithm>
#include <bit>

#include "codegen/llvm/atomic_update.h"
#include "ir/module.h"
#include "llvm/IR/Module.h"

// How lanes with the same cell add up, whichever lanes they are. Each knows its peers, the mask of the lanes
// with its cell, and its rank among them. In each round a lane adds the value of the next peer above it that
// is left; then those of odd rank are done, and ranks halve:
//
//   rank   0 1 2 3 4      0 adds 1, 2 adds 3; 1 and 3 are done
//          0 . 1 . 2      0 adds 2; 2 is done (its rank is now 1)
//          0 . . . 1      0 adds 4
//
// Five rounds at most for 32 lanes, for all cells at once; none where every lane has a cell of its own. Where
// all lanes of the wave arrive and have one cell, which an index that no iteration of its own decides gives,
// the lanes add up pairwise, without a look at who has what.

namespace adc::codegen {

using ir::Op;
using ir::Scalar;
using llvm::Value;

namespace {

/// Components that are flushed together, at most: each takes registers.
constexpr size_t kMostComponents = 4;
/// So few lanes flush each by itself.
constexpr uint32_t kFewLanes = 2;
constexpr uint32_t kSharedAlignment = 8;
/// More would keep blocks from running at once.
constexpr uint32_t kMostShared = 8u << 10;

}  // namespace

bool LaneSums::IsNeighbour(ir::Inst inst, uint32_t component) const {
  const ir::InstData& data = kernel_[inst];
  const Pending& last = pending_.back();
  if (pending_.size() == kMostComponents || kernel_[last.inst].attr != data.attr ||
      kernel_[last.inst].index_count != data.index_count)
    return false;
  for (uint32_t n = 0; n < 1u + data.index_count; ++n) {
    if (kernel_.Operand(last.inst, n) != kernel_.Operand(inst, n)) return false;
  }
  // From either end: components come up or down.
  bool up = pending_.size() == 1 || pending_[0].component < pending_[1].component;
  bool down = pending_.size() == 1 || pending_[0].component > pending_[1].component;
  return (up && component == last.component + 1) || (down && component + 1 == last.component);
}

void LaneSums::AddGathered(ir::Inst inst, uint32_t) {
  ir::Value operand = kernel_.AccessValues(inst)[0];
  Scalar scalar = kernel_.TypeOf(operand).scalar;
  uint32_t component = kernel_[inst].component == ir::kNoAttr ? 0 : kernel_[inst].component;
  if (!pending_.empty() && !IsNeighbour(inst, component)) Flush();
  Value* value = values_.Get(operand);
  if (kernel_[inst].op == Op::AtomicSub) value = scalars_.Emit(Op::Neg, scalar, scalar, {value});
  if (scalar == Scalar::F16) value = scalars_.Emit(Op::Cast, scalar, Scalar::F32, {value});
  pending_.push_back({inst, component, value});
}

void LaneSums::Flush() {
  if (pending_.empty()) return;
  if (pending_.back().component < pending_.front().component) std::reverse(pending_.begin(), pending_.end());
  ir::Inst first = pending_.front().inst;
  Scalar scalar = kernel_.TypeOf(kernel_.AccessValues(first)[0]).scalar;
  llvm::SmallVector<Value*> operands{memory_.AddressOf(first)};
  for (const Pending& pending : pending_) operands.push_back(pending.value);
  llvm::Function* flush =
      FlushFunction(scalar, static_cast<uint32_t>(pending_.size()), operands[0]->getType());
  aliases_.Mark(builder_.CreateCall(flush, operands), first, false);
  pending_.clear();
}

llvm::Function* LaneSums::FlushFunction(Scalar scalar, uint32_t count, llvm::Type* pointer) {
  llvm::Function* user = builder_.GetInsertBlock()->getParent();
  llvm::Module* module = user->getParent();
  std::string name = std::string("adc.flush.") + ir::Spelling(scalar) + "." + std::to_string(count);
  if (llvm::Function* known = module->getFunction(name)) return known;
  const GpuDialect& wave = *hooks_.Wave();
  llvm::Type* type = scalars_.RegisterType(scalar == Scalar::F16 ? Scalar::F32 : scalar);
  llvm::SmallVector<llvm::Type*> parameters(1 + count, type);
  parameters[0] = pointer;
  auto* flush = llvm::Function::Create(llvm::FunctionType::get(builder_.getVoidTy(), parameters, false),
                                       llvm::GlobalValue::InternalLinkage, name, *module);
  flush->setDoesNotThrow();
  flush->setConvergent();
  flush->setWillReturn();
  flush->setOnlyAccessesInaccessibleMemOrArgMem();
  flush->addParamAttr(0, llvm::Attribute::NoCapture);
  wave.MakeFunction(*flush);
  auto block = [&](const char* label) {
    return llvm::BasicBlock::Create(module->getContext(), label, flush);
  };
  llvm::BasicBlock* head = block("entry");
  llvm::BasicBlock* alone = block("alone");
  llvm::BasicBlock* several = block("several");
  llvm::BasicBlock* done = block("done");
  llvm::IRBuilder<> b(head);
  Value* address = flush->getArg(0);
  auto update = [&](llvm::ArrayRef<Value*> values) {
    auto kind = ir::IsFloat(scalar) ? llvm::AtomicRMWInst::FAdd : llvm::AtomicRMWInst::Add;
    llvm::Type* element = scalar == Scalar::F16 ? b.getHalfTy() : type;
    for (uint32_t n = 0; n < count; ++n) {
      AtomicCell cell{b.CreateConstInBoundsGEP1_64(element, address, n), element,
                      llvm::Align(ir::ByteSize(scalar)), hooks_.AtomicScope()};
      if (scalar == Scalar::F16) {
        EmitHalfSum(b, hooks_.Description(), cell, values[n]);
        continue;
      }
      EmitAtomicUpdate(b, hooks_.Description(), kind, cell, values[n], [](llvm::Instruction*) {});
    }
    b.CreateBr(done);
  };
  llvm::SmallVector<Value*> own;
  for (uint32_t n = 0; n < count; ++n) own.push_back(flush->getArg(1 + n));
  Value* active = wave.ActiveLanes(b);
  llvm::BasicBlock* every = block("every");
  llvm::BasicBlock* together = block("together");
  llvm::BasicBlock* some = block("some");
  b.CreateCondBr(b.CreateICmpEQ(active, wave.EveryLane(b)), every, some);
  b.SetInsertPoint(every);
  Value* number = b.CreatePtrToInt(address, b.getInt64Ty());
  Value* same = b.CreateICmpEQ(wave.ReadScalar(b, active, number, b.getInt32(0)), number);
  b.CreateCondBr(b.CreateICmpEQ(wave.LanesWhere(b, active, same), wave.EveryLane(b)), together, some);
  b.SetInsertPoint(together);
  llvm::SmallVector<Value*> totals = own;
  for (uint32_t distance = wave.Lanes() / 2; distance != 0; distance /= 2) {
    for (Value*& total : totals) {
      Value* other = wave.ReadScalarAcross(b, total, distance);
      total = ir::IsFloat(scalar) ? b.CreateFAdd(total, other) : b.CreateAdd(total, other);
    }
  }
  llvm::BasicBlock* for_all = block("for_all");
  b.CreateCondBr(b.CreateICmpEQ(wave.Lane(b), b.getInt32(0)), for_all, done);
  b.SetInsertPoint(for_all);
  update(totals);
  b.SetInsertPoint(some);
  Value* lanes = b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, active);
  b.CreateCondBr(b.CreateICmpULE(lanes, llvm::ConstantInt::get(lanes->getType(), kFewLanes)), alone, several);
  b.SetInsertPoint(alone);
  update(own);
  b.SetInsertPoint(several);
  Value* peers = wave.Peers(b, active, b.CreatePtrToInt(address, b.getInt64Ty()));
  Value* lane = wave.Lane(b);
  Value* rank = wave.CountBelow(b, peers);
  Value* first = wave.FirstLane(b, peers);
  llvm::Type* mask_type = wave.MaskType(b);
  Value* none = llvm::ConstantInt::get(mask_type, 0);
  // The lanes above this one: two shifts, since the last lane would shift by the whole width.
  Value* above = b.CreateShl(
      b.CreateShl(llvm::ConstantInt::getAllOnesValue(mask_type), b.CreateZExt(lane, mask_type)), 1);
  Value* waiting = b.CreateAnd(peers, above);
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* test = block("test");
  llvm::BasicBlock* add = block("add");
  llvm::BasicBlock* summed = block("summed");
  llvm::BasicBlock* lead = block("lead");
  b.CreateBr(test);
  b.SetInsertPoint(test);
  llvm::PHINode* left = b.CreatePHI(mask_type, 2, "left");
  llvm::PHINode* order = b.CreatePHI(b.getInt32Ty(), 2, "order");
  left->addIncoming(waiting, before);
  order->addIncoming(rank, before);
  llvm::SmallVector<llvm::PHINode*> sums;
  for (Value* value : own) {
    sums.push_back(b.CreatePHI(type, 2, "sum"));
    sums.back()->addIncoming(value, before);
  }
  Value* has_next = b.CreateICmpNE(left, none);
  b.CreateCondBr(b.CreateICmpNE(wave.LanesWhere(b, active, has_next), none), add, summed);
  b.SetInsertPoint(add);
  Value* next = b.CreateSelect(has_next, wave.FirstLane(b, left), lane);
  for (llvm::PHINode* sum : sums) {
    Value* other = wave.ReadScalar(b, active, sum, next);
    Value* total = ir::IsFloat(scalar) ? b.CreateFAdd(sum, other) : b.CreateAdd(sum, other);
    sum->addIncoming(b.CreateSelect(has_next, total, sum), add);
  }
  Value* odd = b.CreateTrunc(order, b.getInt1Ty());
  Value* finished = wave.LanesWhere(b, active, odd);
  left->addIncoming(b.CreateAnd(left, b.CreateNot(finished)), add);
  order->addIncoming(b.CreateLShr(order, 1), add);
  b.CreateBr(test);
  b.SetInsertPoint(summed);
  b.CreateCondBr(b.CreateICmpEQ(lane, first), lead, done);
  b.SetInsertPoint(lead);
  update(llvm::SmallVector<Value*>(sums.begin(), sums.end()));
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return flush;
}

Value* LaneSums::TotalOverLanes(const Sum& sum, Value* own, uint32_t lanes) {
  const GpuDialect& wave = *hooks_.Wave();
  for (uint32_t distance = lanes / 2; distance != 0; distance /= 2) {
    Value* other = wave.ReadScalarAcross(builder_, own, distance);
    own = Combine(sum.what->reduction, false, sum.what->scalar, own, other);
  }
  return own;
}

/// Counts have 64 bits and seldom need them: where every lane's fits 26, the sum of 32 or 64 of them fits 32.
Value* LaneSums::AddAtOnce(const Sum& sum, Value* own, uint32_t lanes) {
  const GpuDialect& wave = *hooks_.Wave();
  constexpr uint32_t kSmall = 26;
  if (sum.what->reduction != Reduction::Add || !wave.AddsAtOnce()) return nullptr;
  if (own->getType()->isIntegerTy(32)) return wave.AddOverWave(builder_, own);
  if (!own->getType()->isIntegerTy(64)) return nullptr;
  Value* large = builder_.CreateICmpUGE(own, builder_.getInt64(uint64_t{1} << kSmall));
  Value* any = wave.LanesWhere(builder_, wave.EveryLane(builder_), large);
  llvm::BasicBlock* at_once = NewBlock("sum_small");
  llvm::BasicBlock* in_rounds = NewBlock("sum_large");
  llvm::BasicBlock* join = NewBlock("sum_joined");
  builder_.CreateCondBr(builder_.CreateICmpEQ(any, llvm::ConstantInt::get(any->getType(), 0)), at_once,
                        in_rounds);
  builder_.SetInsertPoint(at_once);
  Value* small = wave.AddOverWave(builder_, builder_.CreateTrunc(own, builder_.getInt32Ty()));
  small = builder_.CreateZExt(small, own->getType());
  builder_.CreateBr(join);
  builder_.SetInsertPoint(in_rounds);
  Value* total = TotalOverLanes(sum, own, lanes);
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
  llvm::PHINode* either = builder_.CreatePHI(own->getType(), 2);
  either->addIncoming(small, at_once);
  either->addIncoming(total, in_rounds);
  return either;
}

LaneSums::Reduced LaneSums::OverLanes(const Sum& sum, Reduced own, uint32_t lanes) {
  const GpuDialect& wave = *hooks_.Wave();
  Value* at_once = AddAtOnce(sum, own.total, lanes);
  own.total = at_once != nullptr ? at_once : TotalOverLanes(sum, own.total, lanes);
  if (own.touched != nullptr) {
    Value* touched = wave.LanesWhere(builder_, wave.EveryLane(builder_), own.touched);
    own.touched = builder_.CreateICmpNE(touched, llvm::ConstantInt::get(touched->getType(), 0));
  }
  return own;
}

llvm::GlobalVariable* LaneSums::Shared(uint32_t bytes) {
  llvm::Module* module = builder_.GetInsertBlock()->getModule();
  auto* array = llvm::ArrayType::get(builder_.getInt64Ty(), bytes / kSharedAlignment);
  auto* memory = new llvm::GlobalVariable(
      *module, array, false, llvm::GlobalValue::InternalLinkage, llvm::UndefValue::get(array), "adc.shared",
      nullptr, llvm::GlobalValue::NotThreadLocal, hooks_.Description().spaces.shared);
  memory->setAlignment(llvm::Align(kSharedAlignment));
  return memory;
}

/// The first lane of each wave leaves what its wave has; lane n of the first wave takes what wave n left.
llvm::BasicBlock* LaneSums::OverBlock(const std::vector<Sum>& sums, std::vector<Reduced>& reduced,
                                      Value* leads) {
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
  llvm::GlobalVariable* memory = Shared(bytes);
  shared_bytes_ = bytes;
  auto place = [&](const Part& part, Value* wave_number) {
    Value* begin = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), memory, part.offset);
    return builder_.CreateInBoundsGEP(scalars_.MemoryType(part.scalar), begin, wave_number);
  };
  llvm::BasicBlock* leave = NewBlock("sum_leave");
  llvm::BasicBlock* left = NewBlock("sum_left");
  llvm::BasicBlock* take = NewBlock("sum_take");
  llvm::BasicBlock* done = NewBlock("sums_done");
  Value* number = hooks_.WaveInBlock();
  builder_.CreateCondBr(leads, leave, left);
  builder_.SetInsertPoint(leave);
  for (const Part& part : parts)
    builder_.CreateStore(scalars_.ToMemory(part.scalar, *part.value), place(part, number));
  builder_.CreateBr(left);
  builder_.SetInsertPoint(left);
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
  for (size_t n = 0; n < sums.size(); ++n) reduced[n] = OverLanes(sums[n], reduced[n], std::bit_ceil(waves));
  return done;
}

void LaneSums::EndSums(const std::vector<Sum>& sums) {
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
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

}  // namespace adc::codegen
