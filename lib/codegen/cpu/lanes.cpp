#include "codegen/cpu/lanes.h"

#include <algorithm>

#include "analysis/uses.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op;
using ir::Scalar;

namespace {

/// Bytes of the vectors that a processor computes with, at full speed.
uint32_t VectorBytes(const target::Target& target) {
  return target.arch == target::Arch::X86_64 && target.level >= 3 ? 32 : 16;
}
bool HasFma(const target::Target& target) {
  return target.arch != target::Arch::X86_64 || target.level >= 3;
}

/// Registers of lanes: four of them hide what one waits for.
constexpr uint32_t kVectors = 4;

class Finder {
 public:
  Finder(const ir::Function& kernel, ir::Inst parallel, const target::Target& target,
         const BodyConfig& config)
      : kernel_(kernel),
        target_(target),
        config_(config),
        block_(kernel[parallel].regions[0]),
        uses_(kernel) {}

  LaneLoops Run() {
    LaneLoops loops;
    if (!MayMix(block_)) return loops;
    const std::vector<ir::Inst>& insts = kernel_[block_].insts;
    for (uint32_t place = 0; place < insts.size(); ++place) {
      if (kernel_[insts[place]].op == Op::While && InLanes(insts[place])) loops.places.push_back(place);
    }
    loops.lanes = kVectors * VectorBytes(target_) / widest_;
    loops.ends_in_lanes = !loops.places.empty() && EndsInLanes(loops.places.back() + 1);
    return loops;
  }

 private:
  /// Whether the block does nothing that another iteration, begun before it has ended, could meet. A worker's
  /// iterations share its row and its local arrays.
  bool MayMix(ir::Block block) const {
    for (ir::Inst inst : kernel_[block].insts) {
      const ir::InstData& data = kernel_[inst];
      ir::Effect effect = ir::InfoOf(data.op).effect;
      bool is_sum = (data.op == Op::AtomicMax || data.op == Op::AtomicAdd) &&
                    kernel_.TypeOf(kernel_.Operand(inst, 0)).IsBuffer();
      bool harmless = effect == ir::Effect::Pure || effect == ir::Effect::Control || data.op == Op::Load ||
                      data.op == Op::Shape || is_sum;
      if (!harmless) return false;
      for (ir::Block region : data.regions) {
        if (region.Valid() && !MayMix(region)) return false;
      }
    }
    return true;
  }

  bool InLanes(ir::Inst loop) {
    uint32_t widest = 4;
    for (ir::Block region : {kernel_[loop].regions[0], kernel_[loop].regions[1]}) {
      for (ir::Value param : kernel_[region].params) {
        if (!FitsLane(param)) return false;
        widest = std::max(widest, ir::ByteSize(kernel_.TypeOf(param).scalar));
      }
      for (ir::Inst inst : kernel_[region].insts) {
        if (!ir::IsTerminator(kernel_[inst].op) && !InLane(inst)) return false;
      }
    }
    widest_ = std::max(widest_, widest);
    return true;
  }

  /// Whether from `place` on there is arithmetic alone, and sums of integers into one cell.
  bool EndsInLanes(uint32_t place) const {
    const std::vector<ir::Inst>& insts = kernel_[block_].insts;
    for (; place + 1 < insts.size(); ++place) {
      const ir::InstData& data = kernel_[insts[place]];
      if (data.op != Op::AtomicMax && data.op != Op::AtomicAdd) {
        if (data.op == Op::Load || !InLane(insts[place])) return false;
        continue;
      }
      if (!ir::IsInteger(kernel_.TypeOf(kernel_.AccessValues(insts[place])[0]).scalar)) return false;
      if (data.result_count > 0 && uses_.IsUsed(kernel_.Result(insts[place]))) return false;
      for (ir::Value index : kernel_.Indices(insts[place])) {
        if (!kernel_.IntegerConstant(index)) return false;
      }
    }
    return true;
  }

  bool InLane(ir::Inst inst) const {
    const ir::InstData& data = kernel_[inst];
    if (data.result_count != 1 || !FitsLane(kernel_.Result(inst))) return false;
    if (data.op == Op::Load) {
      // A gather, which leaves lanes out that have ended.
      ir::Type base = kernel_.TypeOf(kernel_.Operand(inst, 0));
      return base.IsBuffer() && !config_.check_bounds &&
             ir::ByteSize(kernel_.TypeOf(kernel_.Result(inst)).scalar) >= 4;
    }
    return IsVectorOp(data.op, kernel_.TypeOf(kernel_.Operand(inst, 0)).scalar) &&
           std::all_of(kernel_.Operands(inst).begin(), kernel_.Operands(inst).end(),
                       [&](ir::Value operand) { return FitsLane(operand); });
  }

  bool FitsLane(ir::Value value) const {
    ir::Type type = kernel_.TypeOf(value);
    return type.IsScalar() && type.scalar != Scalar::F16;
  }

  /// Whether vectors have it: a function that is called for each lane, or a division of integers, which runs
  /// lane by lane, would run for lanes that have ended.
  bool IsVectorOp(Op op, Scalar operand) const {
    if (ir::InfoOf(op).effect != ir::Effect::Pure) return false;
    bool divides = op == Op::Div || op == Op::Rem || op == Op::Mod || op == Op::FloorDiv;
    bool is_function =
        ir::ClassOf(op) == ir::OpClass::Function || op == Op::Rem || (op == Op::Fma && !HasFma(target_));
    return !is_function && (!divides || ir::IsFloat(operand));
  }

  const ir::Function& kernel_;
  const target::Target& target_;
  const BodyConfig& config_;
  ir::Block block_;
  analysis::Uses uses_;
  uint32_t widest_ = 4;
};

}  // namespace

LaneLoops FindLaneLoops(const ir::Function& kernel, ir::Inst parallel, const target::Target& target,
                        const BodyConfig& config) {
  return Finder(kernel, parallel, target, config).Run();
}

LaneEmitter::LaneEmitter(const ir::Module& module, const ir::Function& kernel, llvm::IRBuilder<>& builder,
                         TargetHooks& hooks, BodyEmitter& body, FloatMode float_mode, ir::Inst parallel,
                         ir::Value counter, const LaneLoops& loops)
    : module_(module),
      kernel_(kernel),
      builder_(builder),
      hooks_(hooks),
      body_(body),
      loops_(loops),
      single_(builder, hooks, float_mode),
      scalars_(builder, hooks, float_mode, loops.lanes),
      insts_(&kernel[kernel[parallel].regions[0]].insts),
      counter_(counter),
      saved_(loops.places.size() + 1),
      taken_(loops.places.size() + 1) {
  FindHandedOver();
}

llvm::BasicBlock* LaneEmitter::NewBlock(const char* name) {
  return llvm::BasicBlock::Create(builder_.getContext(), name, builder_.GetInsertBlock()->getParent());
}

/// The part that an instruction of the block belongs to; that of a `while` in lanes is the part before it.
uint32_t LaneEmitter::PartOf(uint32_t place) const {
  return static_cast<uint32_t>(std::lower_bound(loops_.places.begin(), loops_.places.end(), place) -
                               loops_.places.begin());
}

void LaneEmitter::FindHandedOver() {
  SideTable<ir::Value, uint32_t> made_in(0, UINT32_MAX);  // the part
  IndexSet<ir::Value> by_lanes;                           // results of the loops in lanes
  if (counter_.Valid()) varying_.Insert(counter_);
  auto use = [&](ir::Value value, uint32_t part, bool in_lanes) {
    uint32_t made = made_in.Get(value);
    if (made == UINT32_MAX || (made == part && !in_lanes && !by_lanes.Has(value))) return;
    if (arrays_.Get(value) == nullptr) {
      HandOver(value);
      if (!by_lanes.Has(value)) saved_[made].push_back(value);
    }
    std::vector<ir::Value>& taken = taken_[part];
    if (!in_lanes && std::find(taken.begin(), taken.end(), value) == taken.end()) taken.push_back(value);
  };
  auto use_all = [&](auto& self, ir::Inst inst, uint32_t part, bool in_lanes) -> void {
    for (ir::Value operand : kernel_.Operands(inst)) {
      // The counter is bound anew in each part; only loops in lanes read it from an array.
      if (operand == counter_ && in_lanes && arrays_.Get(operand) == nullptr) {
        HandOver(operand);
        saved_[0].push_back(operand);
      }
      use(operand, part, in_lanes);
    }
    for (ir::Block region : kernel_[inst].regions) {
      if (!region.Valid()) continue;
      for (ir::Inst inner : kernel_[region].insts) self(self, inner, part, in_lanes);
    }
  };
  for (uint32_t place = 0; place < insts_->size(); ++place) {
    ir::Inst inst = (*insts_)[place];
    uint32_t part = PartOf(place);
    bool is_last = part == loops_.places.size(), in_end = is_last && loops_.ends_in_lanes;
    bool in_lanes = in_end || (!is_last && loops_.places[part] == place);
    use_all(use_all, inst, part, in_lanes);
    if (in_end) continue;
    for (uint32_t n = 0; n < kernel_[inst].result_count; ++n) {
      ir::Value result = kernel_.Result(inst, n);
      varying_.Insert(result);
      made_in[result] = part;
      if (in_lanes) by_lanes.Insert(result);
    }
  }
}

void LaneEmitter::HandOver(ir::Value value) {
  llvm::Type* type = single_.MemoryType(kernel_.TypeOf(value).scalar);
  arrays_[value] = hooks_.Local(llvm::ArrayType::get(type, loops_.lanes), "lanes");
  arrays_[value]->setAlignment(llvm::Align(64));
}

LaneEmitter::Value* LaneEmitter::SlotOf(ir::Value value, Value* lane) {
  llvm::AllocaInst* array = arrays_.Get(value);
  return builder_.CreateInBoundsGEP(array->getAllocatedType(), array, {builder_.getInt64(0), lane});
}

void LaneEmitter::OpenLanes() {
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  lane_loop_ = NewBlock("lane");
  builder_.CreateBr(lane_loop_);
  builder_.SetInsertPoint(lane_loop_);
  lane_ = builder_.CreatePHI(builder_.getInt64Ty(), 2, "lane");
  lane_->addIncoming(builder_.getInt64(0), before);
}

void LaneEmitter::CloseLanes() {
  llvm::BasicBlock* done = NewBlock("lanes_end");
  Value* next = builder_.CreateAdd(lane_, builder_.getInt64(1), "", true, true);
  lane_->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpULT(next, builder_.getInt64(loops_.lanes)), lane_loop_, done);
  builder_.SetInsertPoint(done);
}

void LaneEmitter::EmitPart(uint32_t first, uint32_t last) {
  uint32_t part = PartOf(first);
  for (ir::Value value : taken_[part]) {
    Scalar scalar = kernel_.TypeOf(value).scalar;
    Value* kept = builder_.CreateLoad(single_.MemoryType(scalar), SlotOf(value, lane_));
    body_.values().BindAnew(value, single_.FromMemory(scalar, kept));
  }
  body_.EmitRange(kernel_[(*insts_)[first]].parent, first, last);
  for (ir::Value value : saved_[part]) {
    Scalar scalar = kernel_.TypeOf(value).scalar;
    builder_.CreateStore(single_.ToMemory(scalar, body_.values().Get(value)), SlotOf(value, lane_));
  }
}

void LaneEmitter::EmitEnd(uint32_t first, uint32_t last) {
  llvm::IRBuilderBase::FastMathFlagGuard guard(builder_);
  builder_.clearFastMathFlags();
  for (uint32_t place = first; place < last; ++place) {
    ir::Inst inst = (*insts_)[place];
    Op op = kernel_[inst].op;
    if (op == Op::AtomicMax || op == Op::AtomicAdd) {
      EmitSum(inst);
    } else {
      EmitPure(inst);
    }
  }
}

/// What all lanes add to a cell, as one. The greatest of numbers that were widened is the widened greatest.
void LaneEmitter::EmitSum(ir::Inst inst) {
  ir::Value value = kernel_.AccessValues(inst)[0], narrow = value;
  ir::Inst from = kernel_.DefiningInst(value);
  bool is_max = kernel_[inst].op == Op::AtomicMax;
  bool is_widened = is_max && from.Valid() && kernel_[from].op == Op::Cast &&
                    kernel_.TypeOf(value).Is(Scalar::I64) &&
                    kernel_.TypeOf(kernel_.Operand(from, 0)).Is(Scalar::I32);
  if (is_widened) narrow = kernel_.Operand(from, 0);
  Value* all = Get(narrow);
  bool is_signed = ir::IsSigned(kernel_.TypeOf(narrow).scalar);
  Value* one = is_max ? builder_.CreateIntMaxReduce(all, is_signed) : builder_.CreateAddReduce(all);
  if (is_widened) one = builder_.CreateSExt(one, builder_.getInt64Ty());
  // The value may be a constant, which others take as well.
  Value* before = kernel_[value].kind == ir::ValueKind::Result ? one : body_.values().Get(value);
  body_.values().BindAnew(value, one);
  if (!body_.sums().Accumulate(inst)) body_.memory().EmitAccess(inst);
  body_.values().BindAnew(value, before);
}

LaneEmitter::Value* LaneEmitter::Get(ir::Value value) {
  if (Value* known = values_.Get(value)) return known;
  if (varying_.Has(value)) {
    Scalar scalar = kernel_.TypeOf(value).scalar;
    ADC_CHECK(arrays_.Get(value) != nullptr, "what lanes take is handed over to them");
    auto* type = llvm::FixedVectorType::get(single_.MemoryType(scalar), loops_.lanes);
    Value* kept = builder_.CreateAlignedLoad(type, arrays_.Get(value), llvm::Align(64));
    if (scalar == Scalar::I1) kept = builder_.CreateICmpNE(kept, llvm::Constant::getNullValue(type));
    return kept;
  }
  return Splat(body_.values().Get(value));
}

LaneEmitter::Value* LaneEmitter::Index(ir::Value value) {
  return builder_.CreateSExtOrTrunc(Get(value), scalars_.RegisterType(Scalar::I64));
}

void LaneEmitter::EmitPure(ir::Inst inst) {
  llvm::SmallVector<Value*, 4> operands;
  for (ir::Value operand : kernel_.Operands(inst)) operands.push_back(Get(operand));
  Op op = kernel_[inst].op;
  Scalar typed = kernel_.TypeOf(kernel_.Operand(inst, op == Op::Select ? 1 : 0)).scalar;
  ir::Value result = kernel_.Result(inst);
  values_[result] = scalars_.Emit(op, typed, kernel_.TypeOf(result).scalar, operands);
}

/// A read of those lanes alone that are active: an index of another one may be anything.
LaneEmitter::Value* LaneEmitter::EmitLoad(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  ir::Value base = kernel_.Operand(inst, 0);
  uint32_t number = kernel_[base].number;
  ir::Type element = module_.ElementType(kernel_, base, data.attr);
  Value* position = Splat(builder_.getInt64(0));
  uint32_t axis = 0;
  for (ir::Value index : kernel_.Indices(inst)) {
    if (axis > 0) position = builder_.CreateMul(position, Splat(hooks_.Extent(number, axis)));
    position = builder_.CreateAdd(position, Index(index));
    ++axis;
  }
  uint64_t component = data.component == ir::kNoAttr ? 0 : data.component;
  position = builder_.CreateMul(position, Splat(builder_.getInt64(element.Components())));
  position = builder_.CreateAdd(position, Splat(builder_.getInt64(component)));
  llvm::Type* type = single_.MemoryType(element.scalar);
  Value* addresses = builder_.CreateGEP(type, hooks_.BufferAddress(number), position);
  return builder_.CreateMaskedGather(scalars_.RegisterType(element.scalar), addresses,
                                     llvm::Align(ir::ByteSize(element.scalar)), active_,
                                     llvm::Constant::getNullValue(scalars_.RegisterType(element.scalar)));
}

void LaneEmitter::EmitBlock(ir::Block block) {
  for (ir::Inst inst : kernel_[block].insts) {
    if (ir::IsTerminator(kernel_[inst].op)) continue;
    if (kernel_[inst].op == Op::Load) {
      values_[kernel_.Result(inst)] = EmitLoad(inst);
    } else {
      EmitPure(inst);
    }
  }
}

llvm::SmallVector<LaneEmitter::Value*> LaneEmitter::Yielded(ir::Block block) {
  llvm::SmallVector<Value*> values;
  for (ir::Value v : kernel_.Operands(kernel_.Terminator(block))) values.push_back(Get(v));
  return values;
}

void LaneEmitter::EmitWhile(ir::Inst inst) {
  // What is compared is what one lane alone computes: nothing is left to the optimiser's choice.
  llvm::IRBuilderBase::FastMathFlagGuard guard(builder_);
  builder_.clearFastMathFlags();
  const ir::InstData& data = kernel_[inst];
  bool bounded = (data.flags & ir::kFlagHasMax) != 0;
  ir::Block test = data.regions[0], inside = data.regions[1];
  Value* limit = bounded ? Index(kernel_.Operand(inst, 0)) : nullptr;
  llvm::SmallVector<Value*> initial;
  for (uint32_t n = 0; n < data.result_count; ++n)
    initial.push_back(Get(kernel_.Operand(inst, n + (bounded ? 1 : 0))));
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* header = NewBlock("lanes_while");
  llvm::BasicBlock* work = NewBlock("lanes_do");
  llvm::BasicBlock* exit = NewBlock("lanes_while_end");
  builder_.CreateBr(header);
  builder_.SetInsertPoint(header);
  llvm::SmallVector<llvm::PHINode*> carried;
  for (uint32_t n = 0; n < data.result_count; ++n) {
    carried.push_back(builder_.CreatePHI(initial[n]->getType(), 2));
    carried[n]->addIncoming(initial[n], before);
    values_[kernel_[test].params[n]] = carried[n];
  }
  // Which lanes go on is held in numbers as wide as what they carry: 0 or -1.
  uint32_t bits = 32;
  for (llvm::PHINode* phi : carried) bits = std::max(bits, phi->getType()->getScalarSizeInBits());
  llvm::Type* mask_type = llvm::FixedVectorType::get(builder_.getIntNTy(bits), loops_.lanes);
  llvm::PHINode* going = builder_.CreatePHI(mask_type, 2, "going");
  going->addIncoming(llvm::Constant::getAllOnesValue(mask_type), before);
  // Lanes that go on have all made as many trips.
  llvm::PHINode* trips = nullptr;
  Value* mask = going;
  if (bounded) {
    trips = builder_.CreatePHI(builder_.getInt64Ty(), 2, "trips");
    trips->addIncoming(builder_.getInt64(0), before);
    mask =
        builder_.CreateAnd(mask, builder_.CreateSExt(builder_.CreateICmpSLT(Splat(trips), limit), mask_type));
  }
  Value* zero = llvm::Constant::getNullValue(mask_type);
  active_ = builder_.CreateICmpSLT(mask, zero);
  EmitBlock(test);
  mask = builder_.CreateAnd(mask, builder_.CreateSExt(Yielded(test)[0], mask_type));
  Value* any = builder_.CreateICmpNE(builder_.CreateOrReduce(mask),
                                     llvm::ConstantInt::get(builder_.getIntNTy(bits), 0));
  builder_.CreateCondBr(any, work, exit);
  builder_.SetInsertPoint(work);
  active_ = builder_.CreateICmpSLT(mask, zero);
  for (uint32_t n = 0; n < data.result_count; ++n) {
    if (n < kernel_[inside].params.size()) values_[kernel_[inside].params[n]] = carried[n];
  }
  EmitBlock(inside);
  llvm::SmallVector<Value*> yielded = Yielded(inside);
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  for (uint32_t n = 0; n < data.result_count; ++n)
    carried[n]->addIncoming(builder_.CreateSelect(active_, yielded[n], carried[n]), latch);
  going->addIncoming(mask, latch);
  if (bounded) trips->addIncoming(builder_.CreateAdd(trips, builder_.getInt64(1)), latch);
  builder_.CreateBr(header);
  builder_.SetInsertPoint(exit);
  for (uint32_t n = 0; n < data.result_count; ++n) {
    ir::Value result = kernel_.Result(inst, n);
    values_[result] = nullptr;
    if (arrays_.Get(result) == nullptr) continue;
    Value* kept = carried[n];
    Scalar scalar = kernel_.TypeOf(result).scalar;
    if (scalar == Scalar::I1)
      kept = builder_.CreateZExt(kept, llvm::FixedVectorType::get(builder_.getInt8Ty(), loops_.lanes));
    builder_.CreateAlignedStore(kept, arrays_.Get(result), llvm::Align(64));
  }
}

}  // namespace adc::codegen
