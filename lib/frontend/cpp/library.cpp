// Functions of the C++ library that are operations of the IR. Others are lowered from their bodies, where the
// library has them in its headers.

#include "frontend/cpp/library.h"

#include <clang/Basic/Builtins.h>

#include "ir/module.h"

namespace adc::frontend {

/// `std::min(a, b)`, `max` and `clamp` where a reference is bound to what they give, which is one of these.
ObjectPtr Library::ExtremeByReference(const clang::CallExpr* call) {
  SourceRange range = call->getSourceRange();
  const clang::FunctionDecl* function = call->getDirectCallee();
  if (function == nullptr || !function->isInStdNamespace() || !call->isGLValue()) return nullptr;
  bool least = NameOf(function) == "min", clamp = NameOf(function) == "clamp";
  if (!least && !clamp && NameOf(function) != "max") return nullptr;
  if (call->getNumArgs() != (clamp ? 3 : 2)) return nullptr;
  std::optional<Type> type = RegisterType(call->getType());
  if (!type || !type->IsScalar()) return nullptr;
  ObjectPtr a = Place(call->getArg(0));
  ObjectPtr b = Place(call->getArg(1));
  if (clamp) {
    ObjectPtr c = Place(call->getArg(2));
    Value v = Load(a, range), low = Load(b, range);
    Value high = Load(c, range);
    if (type->IsBool()) return nullptr;
    ObjectPtr above = ChoiceOf(Make(Op::Lt, {high, v}), c, a);
    return ChoiceOf(Make(Op::Lt, {v, low}), b, above);
  }
  Value first = Load(a, range), second = Load(b, range);
  SetPlace(range);
  if (type->IsBool()) first = writer_.Cast(first, ir::kI32), second = writer_.Cast(second, ir::kI32);
  Value other = least ? Make(Op::Lt, {second, first}) : Make(Op::Lt, {first, second});
  return ChoiceOf(other, b, a);
}

/// Functions of whole objects, of memory, and of what the program is.
std::optional<Given> Library::CallOnObjects(const clang::CallExpr* call, llvm::StringRef name, From from,
                                            llvm::ArrayRef<const clang::Expr*> arguments) {
  bool in_std = from == From::Std;
  SourceRange range = call->getSourceRange();
  if (in_std && (name == "move" || name == "forward" || name == "as_const") && arguments.size() == 1)
    return Place(arguments[0]);
  if ((name == "addressof" || name == "__addressof") && arguments.size() == 1)
    return PointerTo(call->getType(), AddressOfPlace(arguments[0]), range);
  if ((name == "memcpy" || name == "memmove" || name == "memset") && arguments.size() == 3) {
    MoveMemory(call, name == "memset");
    return Given{};
  }
  if (in_std && name == "swap" && arguments.size() == 2 && call->getType()->isVoidType()) {
    ObjectPtr a = Place(arguments[0]);
    ObjectPtr b = Place(arguments[1]);
    ObjectPtr old = NewObject(a->type, {}, range);
    SetPlace(range);
    Copy(old, a, range);
    Copy(a, b, range);
    Copy(b, old, range);
    return Given{};
  }
  if (name == "is_constant_evaluated" || name == "__is_constant_evaluated") return writer_.Int(ir::kI1, 0);
  if (name == "expect" && arguments.size() >= 1 && from == From::Compiler) return ValueOf(arguments[0]);
  if (name == "unreachable" || name == "abort" || name == "exit" || name == "terminate")
    Refuse(call, "a kernel cannot end the program", "use assert");
  return std::nullopt;
}

Value Library::BitCast(const clang::CallExpr* call, const clang::Expr* argument, Type to) {
  Value v = ValueOf(argument);
  SetPlace(call->getSourceRange());
  Type from = TypeOf(v);
  if (from == to) return v;
  if (!from.IsScalar() || from.IsBool() || to.IsBool())
    Refuse(call, "std::bit_cast of something that is no number");
  return writer_.Bitcast(v, to);
}

/// `std::min({a, b, c})`: the first of the least.
std::optional<Value> Library::ExtremeOfList(const clang::Expr* list, Op op, SourceRange range) {
  list = list->IgnoreImplicit();
  if (const auto* made = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(list))
    list = made->getSubExpr()->IgnoreImplicit();
  const auto* values = llvm::dyn_cast<clang::InitListExpr>(list);
  if (values == nullptr || values->getNumInits() == 0) return std::nullopt;
  Value best = ValueOf(values->getInit(0));
  for (unsigned n = 1; n < values->getNumInits(); ++n) {
    Value next = ValueOf(values->getInit(n));
    SetPlace(range);
    best = Make(op, {next, best});
  }
  return best;
}

std::optional<Value> Library::CallOnNumbers(const clang::CallExpr* call, llvm::StringRef name, From from,
                                            llvm::ArrayRef<const clang::Expr*> arguments, Type result) {
  SourceRange range = call->getSourceRange();
  if (from == From::Std && name == "bit_cast") return BitCast(call, arguments[0], result);
  if (from == From::Std && (name == "min" || name == "max") && arguments.size() == 1)
    return ExtremeOfList(arguments[0], name == "min" ? Op::Min : Op::Max, range);
  std::optional<LibraryFunction> function = FindLibraryFunction(name, arguments.size(), from);
  if (!function || (function->takes == Takes::Floats && !result.IsFloat()) ||
      (function->takes == Takes::Numbers && result.IsBool()))
    return std::nullopt;
  std::vector<Value> operands;
  for (const clang::Expr* argument : arguments) {
    Value v = ValueOf(argument);
    if (function->takes == Takes::Floats || function->takes == Takes::Numbers) v = Convert(v, result);
    if (function->takes == Takes::AnyFloat && !TypeOf(v).IsFloat()) v = Convert(v, ir::kF64);
    operands.push_back(v);
  }
  SetPlace(range);
  return Convert(function->Make(writer_, operands), result);
}

std::optional<Given> Library::CallLibrary(const clang::CallExpr* call, const clang::FunctionDecl* function,
                                          llvm::ArrayRef<const clang::Expr*> arguments) {
  llvm::StringRef name = NameOf(function);
  if (name.empty()) return std::nullopt;
  bool in_std = function->isInStdNamespace() || InNamespace(function, "std");
  bool is_builtin = function->getBuiltinID() != 0,
       in_system = shared_.places.InSystemHeader(function->getLocation());
  bool global = function->getDeclContext()->getRedeclContext()->isTranslationUnit() ||
                (function->isExternC() && in_system);
  if (!in_std && !global && !is_builtin) return std::nullopt;
  // A function of the user's that has a library's name is the user's.
  if (!in_std && !is_builtin && !in_system) return std::nullopt;
  name.consume_front("__builtin_");
  name = WithoutSuffix(name);
  if (std::optional<Given> complex = CallComplex(call, name)) return complex;
  From from = in_std ? From::Std : is_builtin ? From::Compiler : From::Anywhere;
  if (std::optional<Given> made = CallOnObjects(call, name, from, arguments)) return made;
  std::optional<Type> result = RegisterType(call->getType());
  if (!result || !result->IsScalar()) return std::nullopt;
  if (!arguments.empty() && IsStandard(arguments[0]->getType(), "complex")) return std::nullopt;
  if (std::optional<Value> made = CallOnNumbers(call, name, from, arguments, *result)) return *made;
  if (std::optional<Value> constant = TryConstant(call)) return *constant;
  bool c_function = function->isExternC() || is_builtin;
  if (c_function && !function->hasBody())
    Refuse(call, "kernels do not know the function '" + function->getNameAsString() + "'",
           "docs/cpp.md lists the library functions that kernels know");
  return std::nullopt;
}

/// `assert(c)` of the C library: a conditional whose other branch calls what fails.
bool Library::AssertOf(const clang::Expr* expression) {
  const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(expression->IgnoreParens());
  if (choice == nullptr) return false;
  const auto* call = llvm::dyn_cast<clang::CallExpr>(choice->getFalseExpr()->IgnoreParenImpCasts());
  const clang::FunctionDecl* fails = call == nullptr ? nullptr : call->getDirectCallee();
  llvm::StringRef name = fails == nullptr ? "" : NameOf(fails);
  if (name != "__assert_fail" && name != "__assert_rtn" && name != "_wassert") return false;
  std::string text = "assertion failed";
  for (const clang::Expr* argument : call->arguments()) {
    if (const auto* literal = llvm::dyn_cast<clang::StringLiteral>(argument->IgnoreParenImpCasts())) {
      if (literal->getCharByteWidth() == 1) text = literal->getString().str();
      break;
    }
  }
  Value condition = Condition(choice->getCond());
  SetPlace(expression->getSourceRange());
  ir::Inst inst = writer_.Create(Op::Assert, {&condition, 1}, {});
  function_[inst].symbol = module_.Intern(text);
  return true;
}

}  // namespace adc::frontend
