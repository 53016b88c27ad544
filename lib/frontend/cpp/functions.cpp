#include "frontend/cpp/statements.h"
#include "ir/module.h"

namespace adc::frontend {

namespace {

/// Functions inside of functions.
constexpr size_t kMostFrames = 200;

}  // namespace

const clang::FunctionDecl* Statements::BodyOf(const clang::FunctionDecl* function, SourceRange call) {
  const clang::FunctionDecl* defined = nullptr;
  std::string name = "'" + function->getNameAsString() + "'";
  if (function->getBody(defined) == nullptr || defined == nullptr)
    Refuse(
        call, name + " has no body that the compiler sees",
        "define it in this file or in a header; docs/cpp.md lists the library functions that kernels know");
  size_t frames = 0;
  for (const Frame* frame = frame_; frame != nullptr; frame = frame->caller, ++frames) {
    if (frame->function == defined)
      Refuse(call, name + " calls itself", "kernels have no recursion: use a loop");
  }
  if (frames > kMostFrames) Refuse(call, "functions call one another more than 200 deep");
  if (defined->isVariadic()) Refuse(call, name + " takes any number of arguments", "use a template");
  return defined;
}

ObjectPtr Statements::ParameterOf(const clang::ParmVarDecl* parameter, const clang::Expr* argument) {
  SourceRange range = argument->getSourceRange();
  if (ObjectPtr made = FromInitial(parameter, argument, range)) return made;
  ObjectPtr object = NewObject(parameter->getType(), {}, range);
  Initialise(object, argument);
  return object;
}

Given Statements::Inline(const clang::FunctionDecl* function, const std::function<ObjectPtr()>& self,
                         llvm::ArrayRef<const clang::Expr*> arguments, SourceRange call, bool right_first) {
  if (function->isDefaulted() && llvm::isa<clang::CXXConstructorDecl>(function) && !function->hasBody())
    Refuse(call, "kernels do not know this constructor");
  const clang::FunctionDecl* defined = BodyOf(function, call);
  Frame frame;
  frame.function = defined;
  frame.call = call;
  if (self && !right_first) frame.self = self();
  // Arguments are evaluated in the caller.
  auto count = std::min(defined->getNumParams(), static_cast<unsigned>(arguments.size()));
  for (unsigned k = 0; k < count; ++k) {
    unsigned n = right_first ? count - 1 - k : k;
    const clang::ParmVarDecl* parameter = defined->getParamDecl(n);
    frame.variables[parameter] = ParameterOf(parameter, arguments[n]);
  }
  if (self && right_first) frame.self = self();
  return RunBody(frame, defined->getBody(), llvm::dyn_cast<clang::CXXConstructorDecl>(defined));
}

Given Statements::RunBody(Frame& frame, const clang::Stmt* body,
                          const clang::CXXConstructorDecl* constructor) {
  QualType type = frame.function->getReturnType();
  SourceRange range = frame.call.isValid() ? frame.call : frame.function->getSourceRange();
  frame.gives_reference = type->isReferenceType() || BufferOf(type).has_value();
  if (!type->isVoidType() && !frame.gives_reference) frame.result = NewObject(type, {}, range);
  frame.caller = frame_;
  diag::SourceSpan place = writer_.span();
  frame.born = Here();
  if (frame.gives_reference) frame.chosen = writer_.NewSlot(ir::kI32, {});
  frame_ = &frame;
  frame.scope = writer_.OpenScope();
  if (constructor != nullptr) RunInitialisers(constructor);
  if (const auto* tried = llvm::dyn_cast<clang::CXXTryStmt>(body)) RefuseException(tried);
  Statement(body);
  writer_.CloseScope();
  frame_ = frame.caller;
  writer_.SetSpan(place);
  if (frame.gives_reference) frame.result = ChosenPlace(frame, range);
  if (frame.result == nullptr) return {};
  if (frame.result->kind == ObjectKind::Slot && !frame.gives_reference)
    return writer_.Get(frame.result->slot);
  return frame.result;
}

/// Runs the part of a constructor before its body.
void Statements::RunInitialisers(const clang::CXXConstructorDecl* constructor) {
  for (const clang::CXXCtorInitializer* init : constructor->inits()) {
    const clang::Expr* value = init->getInit();
    SetPlace(value->getSourceRange());
    if (init->isDelegatingInitializer()) {
      Initialise(frame_->self, value);
    } else if (init->isBaseInitializer()) {
      const clang::CXXRecordDecl* base = RecordOf(QualType(init->getBaseClass(), 0));
      Initialise(BaseOf(frame_->self, base, value->getSourceRange()), value);
    } else {
      const clang::FieldDecl* field = init->getAnyMember();
      ObjectPtr owner = frame_->self;
      if (const clang::IndirectFieldDecl* inside = init->getIndirectMember()) {
        // A member of an anonymous struct or union.
        for (const clang::NamedDecl* step : inside->chain().drop_back())
          owner = Member(owner, llvm::cast<clang::FieldDecl>(step), value->getSourceRange());
      }
      const auto* parent = llvm::cast<clang::CXXRecordDecl>(field->getParent());
      size_t n = parent->getNumBases() + field->getFieldIndex();
      InitialiseMember(owner, n, field->getType(), value, value->getSourceRange());
    }
  }
}

/// A call of a function that names its own derivative: the IR's.
Given Statements::CallFunction(const clang::FunctionDecl* function,
                               llvm::ArrayRef<const clang::Expr*> arguments, SourceRange call) {
  auto known = shared_.functions.find(function);
  if (known == shared_.functions.end())
    Refuse(call, "'" + function->getNameAsString() + "' could not be compiled");
  std::vector<Value> operands;
  for (const clang::Expr* argument : arguments)
    operands.push_back(BufferOf(argument->getType()) ? Place(argument)->base : ValueOf(argument));
  SetPlace(call);
  const ir::Function* callee = module_.Find(known->second);
  ir::Inst inst = writer_.Create(ir::Op::Call, operands, callee->result_types);
  function_[inst].symbol = known->second;
  if (callee->result_types.empty()) return {};
  return function_.Result(inst);
}

}  // namespace adc::frontend
