#include "codegen/cpu/lanes.h"

#include <algorithm>

#include "ir/module.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op;
using ir::Scalar;

LaneLoops LaneLoopsOf(const ir::Function& kernel, ir::Inst parallel) {
  LaneLoops loops;
  if (kernel[parallel].component == ir::kNoAttr) return loops;
  loops.lanes = kernel[parallel].component;
  loops.ends_in_lanes = kernel[parallel].Has(ir::Word::LanesEnd);
  const std::vector<ir::Inst>& insts = kernel[kernel[parallel].regions[0]].insts;
  for (uint32_t place = 0; place < insts.size(); ++place) {
    bool in_lanes = kernel[insts[place]].op == Op::While && kernel[insts[place]].Has(ir::Word::Lanes);
    if (in_lanes) loops.places.push_back(place);
  }
  return loops;
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
    Value* loaded = builder_.CreateLoad(single_.MemoryType(scalar), SlotOf(value, lane_));
    body_.values().BindAnew(value, single_.FromMemory(scalar, loaded));
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

/// Emits the additions of all lanes to a cell as one. The greatest of numbers that were widened is the
/// widened greatest.
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
    Value* loaded = builder_.CreateAlignedLoad(type, arrays_.Get(value), llvm::Align(64));
    if (scalar == Scalar::I1) loaded = builder_.CreateICmpNE(loaded, llvm::Constant::getNullValue(type));
    return loaded;
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

/// Reads only in the lanes that are active: an index of another one may be anything.
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
  // The comparison is the one that a lane alone computes: nothing is left to the optimiser's choice.
  llvm::IRBuilderBase::FastMathFlagGuard guard(builder_);
  builder_.clearFastMathFlags();
  const ir::InstData& data = kernel_[inst];
  bool bounded = data.Has(ir::Word::HasMax);
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
  // The lanes that go on are held as numbers as wide as the carried values: 0 or -1.
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
    Value* last = carried[n];
    Scalar scalar = kernel_.TypeOf(result).scalar;
    if (scalar == Scalar::I1)
      last = builder_.CreateZExt(last, llvm::FixedVectorType::get(builder_.getInt8Ty(), loops_.lanes));
    builder_.CreateAlignedStore(last, arrays_.Get(result), llvm::Align(64));
  }
}

}  // namespace adc::codegen
