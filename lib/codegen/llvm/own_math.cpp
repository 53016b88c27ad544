#include "codegen/llvm/own_math.h"

#include "codegen/common/math_functions.h"
#include "ir/module.h"
#include "llvm/IR/Module.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op;
using llvm::Value;

namespace {

/// The body of one function.
class MathText final : public LaneFlow {
 public:
  MathText(const ir::Function& text, llvm::IRBuilder<>& builder, TargetHooks& hooks, LaneShape shape,
           const analysis::Uniform& uniform)
      : LaneFlow(text, builder, hooks, FloatMode::Strict, shape, uniform),
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
    ir::Value typed = function_.Operand(inst, op == Op::Select ? 1 : 0);
    return scalars.Emit(op, function_.TypeOf(typed).scalar, function_.TypeOf(function_.Result(inst)).scalar,
                        operands);
  }
  Value* EmitFunction(ir::Inst, llvm::ArrayRef<Value*>) override {
    ADC_UNREACHABLE("a function of our own that calls another");
  }
  void EmitOther(ir::Inst, uint32_t) override {
    ADC_UNREACHABLE("a function of our own that touches memory");
  }
  bool Decides(ir::Inst) const override { return true; }

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
  auto* type = llvm::FunctionType::get(operands[0]->getType(), types, false);
  auto* made = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module_);
  made->setDoesNotThrow();
  made->setDoesNotAccessMemory();
  made->setWillReturn();
  const llvm::Function* like = builder.GetInsertBlock()->getParent();
  for (const char* attribute : {"target-cpu", "target-features"}) {
    if (like->hasFnAttribute(attribute)) made->addFnAttr(like->getFnAttribute(attribute));
  }
  made_.push_back(made);
  llvm::IRBuilder<> inside(llvm::BasicBlock::Create(module_.getContext(), "entry", made));
  analysis::Uniform uniform(text, ir::Inst());
  MathText(text, inside, hooks, shape, uniform).Emit(*made);
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

}  // namespace adc::codegen
