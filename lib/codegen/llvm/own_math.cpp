#include "codegen/llvm/own_math.h"

#include "codegen/common/math_functions.h"
#include "codegen/common/questions.h"
#include "codegen/llvm/device_calls.h"
#include "ir/module.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/FunctionComparator.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op;
using llvm::Value;

namespace {

/// The body of one function.
class MathText final : public LaneFlow {
 public:
  /// `made` takes the functions that it makes on the way.
  MathText(const ir::Function& text, llvm::IRBuilder<>& builder, TargetHooks& hooks, LaneShape shape,
           const analysis::Uniform& uniform, std::vector<llvm::Function*>& made)
      : LaneFlow(text, builder, hooks, FloatMode::Strict, shape, uniform),
        uniform_(uniform),
        made_(made),
        single_(builder, hooks, FloatMode::Strict) {}

  void Emit(llvm::Function& into) {
    mask_ = Splat(builder_.getTrue());
    for (uint32_t n = 0; n < function_.Params().size(); ++n) Bind(function_.Params()[n], into.getArg(n));
    EmitBlock(function_.Body());
    builder_.CreateRet(Get(function_.Operand(function_.Terminator(function_.Body()), 0)));
  }

 private:
  Value* Shared(ir::Value value) override {
    if (function_.IsConstant(value))
      return single_.Constant(function_.TypeOf(value).scalar, function_.ConstantOf(value).bits);
    return shared_.Get(value);
  }
  Value* SharedIndex(ir::Value value) override {
    return builder_.CreateSExtOrTrunc(Shared(value), builder_.getInt64Ty());
  }
  void BindShared(ir::Value value, Value* number) override { shared_.Set(value) = number; }
  void BindCounter(ir::Value counter, Value* wide) override {
    BindShared(counter, builder_.CreateTrunc(wide, single_.RegisterType(function_.TypeOf(counter).scalar)));
  }
  void EmitShared(ir::Inst inst, uint32_t) override {
    llvm::SmallVector<Value*, 4> operands;
    for (ir::Value operand : function_.Operands(inst)) operands.push_back(Shared(operand));
    BindShared(function_.Result(inst), EmitBy(single_, inst, operands));
  }
  Value* EmitOperation(ir::Inst inst, llvm::ArrayRef<Value*> operands) override {
    return EmitBy(scalars_, inst, operands);
  }
  Value* EmitBy(ScalarEmitter& scalars, ir::Inst inst, llvm::ArrayRef<Value*> operands) {
    Op op = function_[inst].op;
    if (op == Op::Fma && !shape_.fuses)
      return builder_.CreateFAdd(builder_.CreateFMul(operands[0], operands[1]), operands[2]);
    ir::Scalar result = function_.TypeOf(function_.Result(inst)).scalar;
    return scalars.Emit(op, OperandScalar(function_, inst), result, operands);
  }
  Value* EmitFunction(ir::Inst, llvm::ArrayRef<Value*>) override {
    ADC_UNREACHABLE("a function of our own that calls another");
  }
  void EmitOther(ir::Inst, uint32_t) override {
    ADC_UNREACHABLE("a function of our own that touches memory");
  }
  bool Decides(ir::Inst) const override { return true; }

  /// The values that are defined outside of the side and used in it, constants left out. False where one of
  /// them is shared.
  bool FindTaken(ir::Block side, std::vector<ir::Value>* taken) const {
    IndexSet<ir::Value> own;
    bool all_differ = true;
    auto visit = [&](auto& self, ir::Block block) -> void {
      for (ir::Value param : function_[block].params) own.Insert(param);
      for (ir::Inst inst : function_[block].insts) {
        for (ir::Value operand : function_.Operands(inst)) {
          if (own.Has(operand) || function_.IsConstant(operand)) continue;
          own.Insert(operand);
          taken->push_back(operand);
          all_differ = all_differ && !IsShared(operand);
        }
        for (uint32_t n = 0; n < function_.RegionCount(inst); ++n) self(self, function_[inst].regions[n]);
        for (uint32_t n = 0; n < function_[inst].result_count; ++n) own.Insert(function_.Result(inst, n));
      }
    };
    visit(visit, side);
    return all_differ;
  }

  /// A long side is the rare one: the reduction of a large argument, a number that is none. Copies of the
  /// function do without copies of it.
  bool EmitApart(ir::Block side, std::vector<Value*>* results) override {
    constexpr size_t kLong = 32;
    std::vector<ir::Value> taken;
    if (!shape_.outlines || function_[side].insts.size() < kLong || !FindTaken(side, &taken)) return false;
    llvm::SmallVector<Value*, 4> operands;
    llvm::SmallVector<llvm::Type*, 4> types, yields;
    for (ir::Value value : taken) operands.push_back(Get(value));
    for (Value* operand : operands) types.push_back(operand->getType());
    std::span<const ir::Value> yielded = function_.Operands(function_.Terminator(side));
    for (ir::Value value : yielded) yields.push_back(single_.RegisterType(function_.TypeOf(value).scalar));
    llvm::Function* around = builder_.GetInsertBlock()->getParent();
    auto* type = llvm::FunctionType::get(llvm::StructType::get(builder_.getContext(), yields), types, false);
    auto* made = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, around->getName() + ".rare",
                                        around->getParent());
    made->copyAttributesFrom(around);
    made->addFnAttr(llvm::Attribute::NoInline);
    llvm::IRBuilder<> inside(llvm::BasicBlock::Create(builder_.getContext(), "entry", made));
    MathText(function_, inside, hooks_, shape_, uniform_, made_).EmitSide(side, taken, *made);
    Value* all = builder_.CreateCall(OnlyOne(made), operands);
    for (unsigned n = 0; n < yields.size(); ++n) results->push_back(builder_.CreateExtractValue(all, n));
    return true;
  }

  /// The function made before that is the same: sine and cosine have one reduction, and a kernel calls it
  /// once for both.
  llvm::Function* OnlyOne(llvm::Function* made) {
    llvm::GlobalNumberState numbers;
    for (llvm::Function* other : made_) {
      if (llvm::FunctionComparator(made, other, &numbers).compare() != 0) continue;
      made->eraseFromParent();
      return other;
    }
    made_.push_back(made);
    return made;
  }

  void EmitSide(ir::Block side, const std::vector<ir::Value>& taken, llvm::Function& into) {
    mask_ = Splat(builder_.getTrue());
    shape_.outlines = false;
    for (unsigned n = 0; n < taken.size(); ++n) Bind(taken[n], into.getArg(n));
    EmitBlock(side);
    Value* all = llvm::PoisonValue::get(into.getReturnType());
    std::span<const ir::Value> yielded = function_.Operands(function_.Terminator(side));
    for (unsigned n = 0; n < yielded.size(); ++n) {
      bool is_shared = function_.IsConstant(yielded[n]) || IsShared(yielded[n]);
      all = builder_.CreateInsertValue(all, is_shared ? Shared(yielded[n]) : Get(yielded[n]), n);
    }
    builder_.CreateRet(all);
  }

  const analysis::Uniform& uniform_;
  std::vector<llvm::Function*>& made_;
  ScalarEmitter single_;
  SideTable<ir::Value, Value*> shared_;
};

}  // namespace

bool HasFma(const target::Target& target) {
  return target.arch != target::Arch::X86_64 || target.level >= 3;
}

llvm::Function* OwnMath::Make(llvm::IRBuilder<>& builder, TargetHooks& hooks, LaneShape shape,
                              const ir::Function& text, const std::string& name,
                              llvm::ArrayRef<Value*> operands) {
  llvm::SmallVector<llvm::Type*, 2> types(operands.size(), operands[0]->getType());
  llvm::Function* made =
      NewFunction(module_, name, operands[0]->getType(), types, builder.GetInsertBlock()->getParent());
  made->setDoesNotAccessMemory();
  made->setWillReturn();
  made_.push_back(made);
  llvm::IRBuilder<> inside(llvm::BasicBlock::Create(module_.getContext(), "entry", made));
  analysis::Uniform uniform(text, ir::Inst());
  MathText(text, inside, hooks, shape, uniform, made_).Emit(*made);
  return made;
}

Value* OwnMath::Call(llvm::IRBuilder<>& builder, TargetHooks& hooks, LaneShape shape, Op op,
                     ir::Scalar scalar, llvm::ArrayRef<Value*> operands) {
  const ir::Function* text = MathFunctions::Get().Find(op, scalar);
  ADC_CHECK(text != nullptr, "a function that we have no text of");
  std::string name = "adc." + std::string(MathFunctions::Get().module().Text(text->name));
  if (shape.count > 0) name += "." + std::to_string(shape.count);
  llvm::Function* function = module_.getFunction(name);
  if (function == nullptr) function = Make(builder, hooks, shape, *text, name, operands);
  return builder.CreateCall(function, operands);
}

void OwnMath::Finish() {
  constexpr unsigned kMostInlined = 4;
  for (llvm::Function* function : made_) {
    if (function->getReturnType()->isVectorTy() && function->getNumUses() <= kMostInlined)
      function->addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

void OwnMath::FinishOnDevice() {
  std::vector<llvm::Function*> called;
  for (llvm::Function* function : made_) {
    bool decided = function->hasFnAttribute(llvm::Attribute::AlwaysInline) ||
                   function->hasFnAttribute(llvm::Attribute::NoInline);
    if (!decided) called.push_back(function);
  }
  KeepManyCalls(called, true);
}

}  // namespace adc::codegen
