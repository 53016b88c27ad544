#include "codegen/cpu/lane_body.h"

#include "ir/words.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op, ir::Scalar;
using llvm::Value;

LaneBody::LaneBody(const LaneContext& context, ir::Inst parallel, const analysis::Uniform& uniform)
    : LaneFlow(context.kernel, context.builder, context.hooks,
               context.float_mode == FloatMode::Fast ? FloatMode::Fast : FloatMode::Strict, context.shape,
               uniform),
      context_(context),
      parallel_(parallel),
      uses_(context.kernel) {}

void LaneBody::EmitGroup(const Axis& axis, Value* cell, Value* mask,
                         const std::function<void(Value*)>& tell) {
  cell_ = cell;
  tell_ = tell;
  mask_ = mask != nullptr ? mask : llvm::ConstantInt::getTrue(InLanes(builder_.getInt1Ty()));
  tell_(cell);
  if (axis.counter.Valid()) {
    Value* first = builder_.CreateAdd(axis.low, cell);
    context_.body.values().BindCounter(axis.counter, first);
    llvm::Type* type =
        function_.TypeOf(axis.counter).Is(Scalar::I32) ? builder_.getInt32Ty() : builder_.getInt64Ty();
    Value* narrow = builder_.CreateTrunc(first, type);
    Bind(axis.counter, builder_.CreateAdd(Splat(narrow), LaneNumbers(type)));
    slopes_.Set(axis.counter) = 1;
  }
  EmitBlock(function_[parallel_].regions[0]);
}

void LaneBody::EmitShared(ir::Inst inst, uint32_t position) {
  context_.body.EmitRange(function_[inst].parent, position, position + 1);
}

Value* LaneBody::EmitFunction(ir::Inst inst, llvm::ArrayRef<Value*> operands) {
  Scalar scalar = function_.TypeOf(function_.Result(inst)).scalar;
  return context_.math.Call(builder_, hooks_, shape_, function_[inst].op, scalar, operands);
}

/// The library has functions of numbers alone.
void LaneBody::EmitPure(ir::Inst inst, uint32_t position) {
  if (IsFunction(inst) && !function_[inst].Has(ir::Word::OwnMath)) return EmitLaneByLane(inst, position);
  LaneFlow::EmitPure(inst, position);
}

Value* LaneBody::EmitOperation(ir::Inst inst, llvm::ArrayRef<Value*> operands) {
  bool may_fuse = shape_.fuses && context_.float_mode == FloatMode::Contract && !Decides(inst);
  if (may_fuse) {
    if (Value* fused = EmitFused(inst, operands)) return fused;
  }
  return LaneFlow::EmitOperation(inst, operands);
}

/// A product in lanes that the one sum which reads it may take in.
bool LaneBody::IsProduct(ir::Value value) const {
  ir::Inst made = function_.DefiningInst(value);
  return made.Valid() && function_[made].op == Op::Mul && function_[made].Has(ir::Word::Fuses) &&
         !IsShared(value);
}

/// a * b + c in one step; null where the sum has no product.
Value* LaneBody::EmitFused(ir::Inst inst, llvm::ArrayRef<Value*> operands) {
  Op op = function_[inst].op;
  if (op != Op::Add && op != Op::Sub) return nullptr;
  bool second = IsProduct(function_.Operand(inst, 1)),
       first = !second && IsProduct(function_.Operand(inst, 0));
  if (!first && !second) return nullptr;
  ir::Inst product = function_.DefiningInst(function_.Operand(inst, second ? 1 : 0));
  Value* a = Get(function_.Operand(product, 0));
  Value* b = Get(function_.Operand(product, 1));
  Value* c = operands[second ? 0 : 1];
  if (op == Op::Sub) (second ? a : c) = builder_.CreateFNeg(second ? a : c);
  return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {c->getType()}, {a, b, c});
}

/// How much the result of an operation on indices grows from lane to lane; 0: not evenly.
int64_t LaneBody::SlopeOfResult(ir::Inst inst) const {
  constexpr int64_t kMost = 1 << 16;
  const ir::InstData& data = function_[inst];
  ir::Type type = function_.TypeOf(function_.Result(inst));
  if (!type.Is(Scalar::I32) && !type.Is(Scalar::I64)) return 0;
  if (data.op == Op::Cast) {
    ir::Type from = function_.TypeOf(function_.Operand(inst, 0));
    return from.Is(Scalar::I32) ? SlopeOf(function_.Operand(inst, 0)) : 0;
  }
  if (data.op != Op::Add && data.op != Op::Sub && data.op != Op::Mul) return 0;
  ir::Value a = function_.Operand(inst, 0), b = function_.Operand(inst, 1);
  auto is_even = [&](ir::Value v) { return IsShared(v) || SlopeOf(v) != 0; };
  if (!is_even(a) || !is_even(b)) return 0;
  int64_t slope = 0;
  if (data.op == Op::Mul) {
    std::optional<int64_t> factor = function_.IntegerConstant(b);
    slope = SlopeOf(a);
    if (!factor) {
      factor = function_.IntegerConstant(a);
      slope = SlopeOf(b);
    }
    if (!factor || *factor > kMost || *factor < -kMost) return 0;
    slope *= *factor;
  } else {
    slope = data.op == Op::Add ? SlopeOf(a) + SlopeOf(b) : SlopeOf(a) - SlopeOf(b);
  }
  return slope > kMost || slope < -kMost ? 0 : slope;
}

/// An index that grows evenly has a number of its own as well: that of lane 0.
void LaneBody::NotePure(ir::Inst inst) {
  ir::Value result = function_.Result(inst);
  int64_t slope = SlopeOfResult(inst);
  slopes_.Set(result) = slope;
  if (slope != 0) context_.body.values().EmitPure(inst);
}

void LaneBody::EmitOther(ir::Inst inst, uint32_t position) {
  Op op = function_[inst].op;
  if (op == Op::Print) return;
  if (op == Op::Alloca) return EmitAlloca(inst);
  if (op == Op::StatusRaise) return EmitLaneByLane(inst, position);
  ADC_CHECK(ir::IsAccess(op), "an operation that raising leaves out of lanes");
  EmitAccess(inst, position);
}

/// The numbers of all lanes combined in the order of the lanes' halves: a fixed one.
Value* LaneBody::Combined(Op op, Scalar scalar, Value* lanes) {
  llvm::IRBuilderBase::FastMathFlagGuard guard(builder_);
  builder_.clearFastMathFlags();
  for (uint32_t half = shape_.count / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 32> low, high;
    for (uint32_t lane = 0; lane < half; ++lane) {
      low.push_back(static_cast<int>(lane));
      high.push_back(static_cast<int>(lane + half));
    }
    Value* a = builder_.CreateShuffleVector(lanes, low);
    Value* b = builder_.CreateShuffleVector(lanes, high);
    lanes = scalars_.Emit(op, scalar, scalar, {a, b});
  }
  return builder_.CreateExtractElement(lanes, builder_.getInt64(0));
}

/// Sums into one cell, and the greatest of integers.
bool LaneBody::EmitReduced(ir::Inst inst, uint32_t position) {
  const ir::InstData& data = function_[inst];
  ir::Value value = function_.AccessValues(inst)[0];
  Scalar scalar = function_.TypeOf(value).scalar;
  bool is_max = data.op == Op::AtomicMax && !ir::IsFloat(scalar);
  bool is_sum = data.op == Op::AddTo || data.op == Op::AtomicAdd || data.op == Op::AtomicSub;
  if (!data.Has(ir::Word::Private) || (!is_sum && !is_max) || scalar == Scalar::I1) return false;
  if (IsShared(value) && ir::IsFloat(scalar)) return false;
  // The greatest of numbers that were widened is the widened greatest.
  ir::Value narrow = is_max ? BeforeWidening(value) : value;
  Scalar own = function_.TypeOf(narrow).scalar;
  llvm::Type* type = scalars_.RegisterType(own);
  // A value that leaves the result as it is, to the bit.
  Value* none = ir::IsFloat(own) ? llvm::ConstantFP::getNegativeZero(type)
                                 : static_cast<Value*>(llvm::Constant::getNullValue(type));
  if (is_max && ir::IsSigned(own))
    none = llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(ir::BitWidth(own)));
  Value* one = Combined(is_max ? Op::Max : Op::Add, own, builder_.CreateSelect(mask_, Get(narrow), none));
  if (narrow != value)
    one = builder_.CreateIntCast(one, builder_.getIntNTy(ir::BitWidth(scalar)), ir::IsSigned(own));
  // The value may be shared, or an index that grows evenly, for which that of lane 0 stands elsewhere.
  ValueTable& values = context_.body.values();
  Value* elsewhere = values.Find(value);
  values.BindAnew(value, one);
  context_.body.EmitRange(data.parent, position, position + 1);
  values.BindAnew(value, elsewhere);
  return true;
}

/// The integer that `value` is, in another type.
ir::Value LaneBody::BeforeWidening(ir::Value value) const {
  ir::Inst made = function_.DefiningInst(value);
  if (!made.Valid() || function_[made].op != Op::Cast) return value;
  ir::Value from = function_.Operand(made, 0);
  Scalar narrow = function_.TypeOf(from).scalar, wide = function_.TypeOf(value).scalar;
  bool keeps = !ir::IsFloat(narrow) && narrow != Scalar::I1 && ir::BitWidth(narrow) < ir::BitWidth(wide) &&
               (ir::IsSigned(wide) || !ir::IsSigned(narrow));
  return keeps ? from : value;
}

/// `lanes` in memory, an element a lane.
Value* LaneBody::Spill(Value* lanes) {
  llvm::Type* type = llvm::cast<llvm::VectorType>(lanes->getType())->getElementType();
  if (type->isIntegerTy(1)) {
    type = builder_.getInt8Ty();
    lanes = builder_.CreateZExt(lanes, InLanes(type));
  }
  llvm::AllocaInst* array = hooks_.Local(llvm::ArrayType::get(type, shape_.count), "lanes");
  array->setAlignment(llvm::Align(64));
  builder_.CreateAlignedStore(lanes, array, llvm::Align(64));
  return array;
}

/// Runs `inst` for one active lane after the other.
void LaneBody::EmitLaneByLane(ir::Inst inst, uint32_t position) {
  const ir::InstData& data = function_[inst];
  struct Taken {
    ir::Value value;
    Value* array;
    Value* first;  ///< of an index that grows evenly, the value that stands for lane 0 elsewhere
  };
  std::vector<Taken> taken;
  for (ir::Value operand : function_.Operands(inst)) {
    if (IsShared(operand)) continue;
    Value* first = SlopeOf(operand) != 0 ? context_.body.values().Get(operand) : nullptr;
    taken.push_back({operand, Spill(Get(operand)), first});
  }
  bool gives = data.result_count != 0 && uses_.IsUsed(function_.Result(inst));
  llvm::Type* made_type =
      gives ? scalars_.MemoryType(function_.TypeOf(function_.Result(inst)).scalar) : nullptr;
  if (gives && !made_type->isVectorTy()) made_type = InLanes(made_type);
  Value* made = gives ? Spill(llvm::Constant::getNullValue(made_type)) : nullptr;
  llvm::Type* bits_type = builder_.getIntNTy(shape_.count);
  Value* all = builder_.CreateZExt(builder_.CreateBitCast(mask_, bits_type), builder_.getInt64Ty());
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* look = NewBlock(builder_, "lane");
  llvm::BasicBlock* work = NewBlock(builder_, "lane_do");
  llvm::BasicBlock* exit = NewBlock(builder_, "lanes_end");
  GoOnIn(builder_, look);
  llvm::PHINode* left = BeginPhi(builder_, all, before, "left");
  builder_.CreateCondBr(builder_.CreateICmpNE(left, builder_.getInt64(0)), work, exit);
  builder_.SetInsertPoint(work);
  Value* lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, builder_.getTrue());
  tell_(builder_.CreateAdd(cell_, lane));
  for (const Taken& one : taken) {
    Scalar scalar = function_.TypeOf(one.value).scalar;
    bool truth = scalar == Scalar::I1;
    llvm::Type* type = truth ? builder_.getInt8Ty() : scalars_.RegisterType(scalar)->getScalarType();
    Value* number = builder_.CreateLoad(type, builder_.CreateInBoundsGEP(type, one.array, lane));
    if (truth) number = builder_.CreateICmpNE(number, builder_.getInt8(0));
    context_.body.values().BindAnew(one.value, number);
  }
  context_.body.EmitRange(data.parent, position, position + 1);
  if (gives) {
    ir::Value result = function_.Result(inst);
    Value* number = context_.body.values().Get(result);
    if (number->getType()->isIntegerTy(1)) number = builder_.CreateZExt(number, builder_.getInt8Ty());
    builder_.CreateStore(number, builder_.CreateInBoundsGEP(number->getType(), made, lane));
  }
  Value* rest = builder_.CreateAnd(left, builder_.CreateSub(left, builder_.getInt64(1)));
  left->addIncoming(rest, builder_.GetInsertBlock());
  builder_.CreateBr(look);
  builder_.SetInsertPoint(exit);
  tell_(cell_);
  for (const Taken& one : taken) {
    if (one.first != nullptr) context_.body.values().BindAnew(one.value, one.first);
  }
  if (!gives) return;
  Value* lanes = builder_.CreateAlignedLoad(made_type, made, llvm::Align(64));
  if (function_.TypeOf(function_.Result(inst)).Is(Scalar::I1))
    lanes = builder_.CreateICmpNE(lanes, llvm::Constant::getNullValue(made_type));
  Bind(function_.Result(inst), lanes);
}

}  // namespace adc::codegen
