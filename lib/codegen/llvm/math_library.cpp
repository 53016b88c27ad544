// The library is ten megabytes of bitcode and a kernel needs a function or two of it, so it is read lazily:
// names first, then the bodies that are reached from what the module calls.
//
// The library was compiled for the oldest processor of its family, by a compiler that left its own name, its
// calling habits and its permissions in it. All of that is removed: attributes for this target's processor
// are set, and permissions to be less exact (`!fpmath`) are dropped, so that every target computes what the
// tables of the tests say.
//
// Two functions of libclc are not fit to be called with any number: sinh and cosh of f64 index a table of 37
// entries with the integral part of their argument, unchecked. They are called through a guard:
//
//   define double @adc.sinh(double %x) {
//     a = |x|;  a < 36 ? _Z4sinhd(x) : copysign(0.5 * h * h, x) with h = exp(0.5 * a)
//   }
//
// which also gives infinities and NaNs their results. The product overflows where the function does.
#include "codegen/llvm/math_library.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "codegen/common/math_file.h"
#include "codegen/common/math_names.h"
#include "codegen/llvm/amd_inputs.h"
#include "codegen/llvm/blocks.h"
#include "codegen/llvm/device_calls.h"
#include "diag/errors/codegen.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op, ir::Scalar;
using llvm::Value;

namespace {

constexpr const char* kReflect = "__nvvm_reflect";

struct Guard {
  const char* name;    ///< the called function
  const char* unsafe;  ///< libclc's function
  bool odd;            ///< f(-x) = -f(x)
};
constexpr Guard kGuards[] = {{"adc.sinh", "_Z4sinhd", true}, {"adc.cosh", "_Z4coshd", false}};
constexpr const char* kExp = "_Z3expd";
constexpr double kGuardLimit = 36.0;

std::string NameOf(const MathLibrary& library, Op op, Scalar scalar, size_t operands) {
  ADC_CHECK(scalar == Scalar::F32 || scalar == Scalar::F64, "library functions take f32 or f64");
  bool wide = scalar == Scalar::F64;
  std::string plain = MathName(op);
  if (library.names == MathLibrary::Names::Libdevice) return "__nv_" + plain + (wide ? "" : "f");
  if (wide && op == Op::Sinh) return "adc.sinh";
  if (wide && op == Op::Cosh) return "adc.cosh";
  return "_Z" + std::to_string(plain.size()) + plain + std::string(operands, wide ? 'd' : 'f');
}

llvm::FunctionCallee Declare(llvm::Module& module, const std::string& name, llvm::FunctionType* type,
                             bool pure) {
  llvm::FunctionCallee callee = module.getOrInsertFunction(name, type);
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setWillReturn();
  if (pure) function->setDoesNotAccessMemory();
  return callee;
}

/// Bodies of the guards that are called.
void DefineGuards(llvm::Module& module) {
  for (const Guard& guard : kGuards) {
    llvm::Function* function = module.getFunction(guard.name);
    if (function == nullptr || !function->isDeclaration()) continue;
    llvm::LLVMContext& context = module.getContext();
    llvm::IRBuilder<> b(context);
    llvm::FunctionType* type = function->getFunctionType();
    function->setLinkage(llvm::GlobalValue::InternalLinkage);
    function->addFnAttr(llvm::Attribute::AlwaysInline);
    auto* head = llvm::BasicBlock::Create(context, "entry", function);
    auto* near = llvm::BasicBlock::Create(context, "near", function);
    auto* far = llvm::BasicBlock::Create(context, "far", function);
    auto* end = llvm::BasicBlock::Create(context, "end", function);
    b.SetInsertPoint(head);
    Value* x = function->getArg(0);
    Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    Value* limit = llvm::ConstantFP::get(x->getType(), kGuardLimit);
    b.CreateCondBr(b.CreateFCmpOLT(magnitude, limit), near, far);
    b.SetInsertPoint(near);
    Value* exact = b.CreateCall(Declare(module, guard.unsafe, type, true), {x});
    b.CreateBr(end);
    b.SetInsertPoint(far);
    Value* half = llvm::ConstantFP::get(x->getType(), 0.5);
    Value* root = b.CreateCall(Declare(module, kExp, type, true), {b.CreateFMul(half, magnitude)});
    Value* large = b.CreateFMul(b.CreateFMul(half, root), root);
    if (guard.odd) large = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, large, x);
    GoOnIn(b, end);
    b.CreateRet(EmitPhi(b, exact, near, large, far));
  }
}

std::vector<std::string> Undefined(const llvm::Module& module) {
  std::vector<std::string> names;
  for (const llvm::Function& function : module) {
    if (function.isDeclaration() && !function.isIntrinsic() && function.getName() != kReflect)
      names.push_back(function.getName().str());
  }
  return names;
}

/// Answers the questions of a library about the target: subnormal numbers are not flushed, divisions and
/// roots are exact.
uint32_t Reflected(llvm::StringRef question, const target::Target& target) {
  if (question == "__CUDA_ARCH") return 10 * target.level;
  if (question == "__CUDA_PREC_DIV" || question == "__CUDA_PREC_SQRT") return 1;
  return 0;
}

void AnswerReflect(llvm::Module& module, const target::Target& target) {
  llvm::Function* reflect = module.getFunction(kReflect);
  if (reflect == nullptr) return;
  std::vector<llvm::CallInst*> calls;
  for (llvm::User* user : reflect->users()) {
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) calls.push_back(call);
  }
  for (llvm::CallInst* call : calls) {
    std::string question;
    auto* text = llvm::dyn_cast<llvm::GlobalVariable>(call->getArgOperand(0)->stripPointerCasts());
    if (text != nullptr && text->hasInitializer()) {
      if (auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(text->getInitializer()))
        question = data->isCString() ? data->getAsCString().str() : "";
    }
    call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), Reflected(question, target)));
    call->eraseFromParent();
    if (text != nullptr) text->removeDeadConstantUsers();
    if (text != nullptr && text->use_empty()) text->eraseFromParent();
  }
  if (reflect->use_empty()) reflect->eraseFromParent();
}

/// Makes a function of the library one of ours.
void Adopt(llvm::Function& function, const target::Target& target) {
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.setComdat(nullptr);
  function.setSection("");
  llvm::stripDebugInfo(function);
  llvm::AttributeMask dropped;
  for (const llvm::Attribute& attribute : function.getAttributes().getFnAttrs()) {
    if (attribute.isStringAttribute()) dropped.addAttribute(attribute.getKindAsString());
  }
  dropped.addAttribute(llvm::Attribute::Convergent);
  function.removeFnAttrs(dropped);
  function.addFnAttr("target-cpu", target.processor);
  if (!target.features.empty()) function.addFnAttr("target-features", target.features);
  if (target.arch == target::Arch::Amdgcn) {
    for (const char* input : kAmdInputs) function.addFnAttr(input);
  }
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    instruction.dropUnknownNonDebugMetadata();
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      call->setAttributes(llvm::AttributeList().addRetAttributes(
          call->getContext(), llvm::AttrBuilder(call->getContext(), call->getAttributes().getRetAttrs())));
  }
}

/// Moves a table from constant to global memory: constant memory gives one address at a time to all threads
/// of a warp, and they look up an entry each.
void MoveTable(llvm::GlobalVariable& table, uint32_t space) {
  auto* moved =
      new llvm::GlobalVariable(*table.getParent(), table.getValueType(), true, table.getLinkage(),
                               table.getInitializer(), "", &table, llvm::GlobalValue::NotThreadLocal, space);
  moved->takeName(&table);
  moved->setAlignment(table.getAlign());
  moved->setUnnamedAddr(table.getUnnamedAddr());
  llvm::convertUsersOfConstantsToInstructions({&table});
  // Addresses are typed by their space: those made of the table's change with it.
  llvm::Type* type = moved->getType();
  llvm::SmallVector<llvm::Value*> changed = {&table};
  while (!changed.empty()) {
    for (llvm::User* user : changed.pop_back_val()->users()) {
      if (!user->getType()->isPointerTy() || user->getType() == type) continue;
      if (llvm::isa<llvm::LoadInst>(user) || llvm::isa<llvm::AddrSpaceCastInst>(user)) continue;
      user->mutateType(type);
      changed.push_back(user);
    }
  }
  table.mutateType(type);
  table.replaceAllUsesWith(moved);
  table.eraseFromParent();
}

/// Keeps what LLVM's linker would otherwise print before it ends the process.
class ErrorText {
 public:
  explicit ErrorText(llvm::LLVMContext& context) : context_(context), saved_(context.getDiagnosticHandler()) {
    context.setDiagnosticHandler(std::make_unique<Handler>(text_));
  }
  ~ErrorText() { context_.setDiagnosticHandler(std::move(saved_)); }
  ErrorText(const ErrorText&) = delete;
  ErrorText& operator=(const ErrorText&) = delete;
  const std::string& Text() const { return text_; }

 private:
  struct Handler final : llvm::DiagnosticHandler {
    explicit Handler(std::string& out) : text(out) {}
    bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
      if (info.getSeverity() == llvm::DS_Error) {
        llvm::raw_string_ostream stream(text);
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info.print(printer);
      }
      return true;
    }
    std::string& text;
  };

  llvm::LLVMContext& context_;
  std::unique_ptr<llvm::DiagnosticHandler> saved_;
  std::string text_;
};

diag::Diagnostic LibraryFailure(const MathLibrary& library, const std::string& reason) {
  bool chosen = library.names == MathLibrary::Names::Libdevice;
  return diag::Fail(
      diag::E0610, {}, "cannot use the math library '" + library.file + "': " + reason,
      chosen ? "give the path of a libdevice.10.bc to --libdevice, or drop the option: libclc is used then"
             : "install libclc-19 (scripts/install-deps does), or give --libdevice=FILE for cuda targets");
}

}  // namespace

MathLibrary MathLibraryOf(const target::Target& target, const std::string& libdevice) {
  bool nvidia = target.arch == target::Arch::Nvptx;
  ADC_CHECK(nvidia || target.arch == target::Arch::Amdgcn,
            "a target whose math comes from a library in bitcode");
  bool chosen = nvidia && !libdevice.empty();
  return {chosen ? MathLibrary::Names::Libdevice : MathLibrary::Names::OpenCl, MathFileOf(target, libdevice)};
}

Value* EmitMath(llvm::IRBuilder<>& builder, const MathLibrary& library, Op op, Scalar scalar,
                llvm::ArrayRef<Value*> operands) {
  llvm::Type* type = operands[0]->getType();
  llvm::SmallVector<llvm::Type*, 2> parameters(operands.size(), type);
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  return builder.CreateCall(Declare(module, NameOf(library, op, scalar, operands.size()),
                                    llvm::FunctionType::get(type, parameters, false), true),
                            operands);
}

std::pair<Value*, Value*> EmitSinCos(llvm::IRBuilder<>& builder, TargetHooks& hooks,
                                     const MathLibrary& library, Scalar scalar, Value* operand) {
  if (library.names == MathLibrary::Names::OpenCl)
    return {EmitMath(builder, library, Op::Sin, scalar, {operand}),
            EmitMath(builder, library, Op::Cos, scalar, {operand})};
  llvm::Type* type = operand->getType();
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  Value* sine = hooks.Local(type, "sine");
  Value* cosine = hooks.Local(type, "cosine");
  auto* function =
      llvm::FunctionType::get(builder.getVoidTy(), {type, sine->getType(), cosine->getType()}, false);
  builder.CreateCall(Declare(module, scalar == Scalar::F64 ? "__nv_sincos" : "__nv_sincosf", function, false),
                     {operand, sine, cosine});
  return {builder.CreateLoad(type, sine), builder.CreateLoad(type, cosine)};
}

diag::Status LinkMath(llvm::Module& module, const MathLibrary& library, const target::Target& target) {
  DefineGuards(module);
  std::vector<std::string> wanted = Undefined(module);
  if (wanted.empty()) return diag::Unit{};
  auto file = llvm::MemoryBuffer::getFile(library.file, false, false);
  if (!file) return LibraryFailure(library, file.getError().message());
  auto opened = llvm::getOwningLazyBitcodeModule(std::move(*file), module.getContext(), true);
  if (!opened) return LibraryFailure(library, llvm::toString(opened.takeError()));
  std::unique_ptr<llvm::Module> source = std::move(*opened);
  for (const std::string& name : wanted) {
    if (source->getFunction(name) == nullptr)
      return LibraryFailure(library, "it has no function '" + name + "'");
  }
  ErrorText errors(module.getContext());
  if (llvm::Error error = source->materializeMetadata())
    return LibraryFailure(library, llvm::toString(std::move(error)));
  while (!source->named_metadata_empty()) source->eraseNamedMetadata(&*source->named_metadata_begin());
  source->setTargetTriple(module.getTargetTriple());
  source->setDataLayout(module.getDataLayout());
  std::vector<std::string> linked;
  bool failed = llvm::Linker::linkModules(module, std::move(source), llvm::Linker::LinkOnlyNeeded,
                                          [&linked](llvm::Module&, const llvm::StringSet<>& names) {
                                            for (const auto& name : names)
                                              linked.push_back(name.first().str());
                                          });
  if (failed || !errors.Text().empty()) return LibraryFailure(library, errors.Text());
  std::vector<llvm::GlobalVariable*> tables;
  std::vector<llvm::Function*> functions;
  for (const std::string& name : linked) {
    llvm::GlobalValue* value = module.getNamedValue(name);
    if (value == nullptr || value->isDeclaration()) continue;
    if (auto* function = llvm::dyn_cast<llvm::Function>(value)) {
      Adopt(*function, target);
      functions.push_back(function);
    } else {
      value->setLinkage(llvm::GlobalValue::InternalLinkage);
      if (auto* table = llvm::dyn_cast<llvm::GlobalVariable>(value)) tables.push_back(table);
    }
  }
  if (target.arch == target::Arch::Nvptx) {
    for (llvm::GlobalVariable* table : tables) {
      if (table->isConstant() && table->getAddressSpace() != target.spaces.global)
        MoveTable(*table, target.spaces.global);
    }
  }
  AnswerReflect(module, target);
  for (const Guard& guard : kGuards) {
    if (llvm::Function* function = module.getFunction(guard.name)) functions.push_back(function);
  }
  KeepManyCalls(functions, false);
  std::vector<std::string> missing = Undefined(module);
  if (!missing.empty()) return LibraryFailure(library, "it has no function '" + missing[0] + "'");
  return diag::Unit{};
}

}  // namespace adc::codegen
