#include "frontend/cpp/pointers.h"

namespace adc::frontend {

/// A capture of the lambda that is being lowered: a variable, or `this` if it is null.
ObjectPtr Pointers::Captured(const clang::ValueDecl* variable, SourceRange range) {
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(frame_->function);
  if (method == nullptr || !method->getParent()->isLambda()) return nullptr;
  llvm::DenseMap<const clang::ValueDecl*, clang::FieldDecl*> captures;
  clang::FieldDecl* self = nullptr;
  method->getParent()->getCaptureFields(captures, self);
  const clang::FieldDecl* field = variable == nullptr ? self : captures.lookup(variable);
  return field == nullptr ? nullptr : Member(frame_->self, field, range);
}

ObjectPtr Pointers::Pointee(const clang::Expr* whole) {
  const clang::Expr* pointer = whole->IgnoreParenImpCasts();
  if (llvm::isa<clang::CXXThisExpr>(pointer) && frame_->self != nullptr) {
    ObjectPtr captured = Captured(nullptr, pointer->getSourceRange());
    return captured != nullptr ? captured : frame_->self;
  }
  return At(AddressOf(whole), pointer->getSourceRange());
}

/// What a cast between classes, or of pointers to them, makes of an object.
ObjectPtr Pointers::SeenAsClass(const ObjectPtr& object, const clang::CastExpr* cast, SourceRange range) {
  QualType type = cast->getType();
  const clang::CXXRecordDecl* to = RecordOf(type->isPointerType() ? type->getPointeeType() : type);
  return cast->getCastKind() == clang::CK_BaseToDerived ? DerivedOf(object, to, range)
                                                        : BaseOf(object, to, range);
}

void Pointers::RefusePointer(const clang::Expr* pointer) {
  Refuse(pointer, "a kernel has no pointer like this",
         "docs/cpp.md says what pointers may do; use references, arrays and adc::buffer");
}

Address Pointers::AddressOf(const clang::Expr* e) {
  using clang::Stmt;
  e = e->IgnoreParens();
  SourceRange range = e->getSourceRange();
  SetPlace(range);
  if (e->isGLValue()) return AddressIn(Place(e), range);
  if (const clang::Expr* written = WrittenFor(e)) return AddressOf(written);
  if (llvm::isa<clang::CallExpr>(e)) return AddressIn(Place(e), range);
  Address null = NullAddress();
  switch (e->getStmtClass()) {
    case Stmt::CXXThisExprClass:
      return AddressOfObject(Pointee(e), range);
    case Stmt::CXXNewExprClass:
      return AddressOfNew(llvm::cast<clang::CXXNewExpr>(e));
    case Stmt::CXXNullPtrLiteralExprClass:
    case Stmt::ImplicitValueInitExprClass:
    case Stmt::CXXScalarValueInitExprClass:
      return null;
    case Stmt::InitListExprClass: {
      const auto* list = llvm::cast<clang::InitListExpr>(e);
      return list->getNumInits() == 0 ? null : AddressOf(list->getInit(0));
    }
    case Stmt::UnaryOperatorClass: {
      const auto* unary = llvm::cast<clang::UnaryOperator>(e);
      if (unary->getOpcode() == clang::UO_AddrOf) return AddressOfPlace(unary->getSubExpr());
      if (!unary->isIncrementDecrementOp()) break;
      ObjectPtr pointer = Place(unary->getSubExpr());
      Address before = AddressIn(pointer, range);
      StepPointer(pointer, unary);
      return before;
    }
    case Stmt::BinaryOperatorClass:
      return AddressOfSum(llvm::cast<clang::BinaryOperator>(e));
    case Stmt::ConditionalOperatorClass:
      return AddressOfChoice(llvm::cast<clang::ConditionalOperator>(e));
    default:
      if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(e)) return AddressOfCast(cast);
      break;
  }
  RefusePointer(e);
}

Address Pointers::AddressOfCast(const clang::CastExpr* cast) {
  const clang::Expr* from = cast->getSubExpr();
  SourceRange range = cast->getSourceRange();
  switch (cast->getCastKind()) {
    case clang::CK_ArrayToPointerDecay: {
      if (llvm::isa<clang::StringLiteral>(from->IgnoreParens()))
        Refuse(from, "a kernel has no text", "adc::print and assert take it as their argument");
      ObjectPtr array = Place(from);
      if (array->kind != ObjectKind::Array) Refuse(range, "this is no array that a kernel knows");
      return Whole({array, Number(0)});
    }
    case clang::CK_NullToPointer:
      return NullAddress();
    case clang::CK_LValueToRValue:
    case clang::CK_NoOp:
    case clang::CK_UserDefinedConversion:
      return AddressOf(from);
    case clang::CK_DerivedToBase:
    case clang::CK_UncheckedDerivedToBase:
    case clang::CK_BaseToDerived: {
      ObjectPtr object = At(Certain(AddressOf(from), range), range);
      return AddressOfObject(SeenAsClass(object, cast, range), range);
    }
    case clang::CK_BitCast:
      if (cast->getType()->getPointeeType()->isVoidType()) return AddressOf(from);
      return SeenAs(Certain(AddressOf(from), range), cast->getType()->getPointeeType(), range);
    default:
      RefusePointer(cast);
  }
}

/// `new (p) T(...)`: p, where an object is made anew.
Address Pointers::AddressOfNew(const clang::CXXNewExpr* made) {
  if (!made->getOperatorNew()->isReservedGlobalPlacementOperator() || made->isArray())
    Refuse(made, "a kernel has no 'new'", "use a local array of a size that is known, or a buffer");
  SourceRange range = made->getSourceRange();
  Address to = SeenAs(Certain(AddressOf(made->getPlacementArg(0)), range), made->getAllocatedType(), range);
  if (made->getInitializer() != nullptr) Initialise(At(to, range), made->getInitializer());
  return to;
}

/// `&e`
Address Pointers::AddressOfPlace(const clang::Expr* e) {
  e = e->IgnoreParens();
  SourceRange range = e->getSourceRange();
  if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) {
    Address base = AddressOf(subscript->getBase());
    Value index = ValueOf(subscript->getIdx());
    return Moved(base, index, range);
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(e)) {
    if (unary->getOpcode() == clang::UO_Deref) return AddressOf(unary->getSubExpr());
  }
  return AddressOfObject(Place(e), range);
}

Address Pointers::AddressOfSum(const clang::BinaryOperator* sum) {
  clang::BinaryOperatorKind kind = sum->getOpcode();
  bool minus = kind == clang::BO_Sub;
  if (kind != clang::BO_Add && !minus) RefusePointer(sum);
  if (!sum->getLHS()->getType()->isAnyPointerType()) {
    Value by = ValueOf(sum->getLHS());
    return Moved(AddressOf(sum->getRHS()), by, sum->getSourceRange());
  }
  Address from = AddressOf(sum->getLHS());
  Value by = Index(ValueOf(sum->getRHS()));
  SetPlace(sum->getSourceRange());
  return Moved(from, minus ? Make(Op::Neg, {by}) : by, sum->getSourceRange());
}

Address Pointers::AddressOfChoice(const clang::ConditionalOperator* choice) {
  Value condition = Condition(choice->getCond());
  if (function_.IsConstant(condition))
    return AddressOf(function_.ConstantOf(condition).bits != 0 ? choice->getTrueExpr()
                                                               : choice->getFalseExpr());
  Address yes, no;
  auto index = [&](Address* of, const clang::Expr* e) {
    *of = AddressOf(e);
    return writer_.Cast(of->index, ir::kI64);
  };
  SetPlace(choice->getSourceRange());
  Value chosen = writer_.Choose(
      condition, ir::kI64, [&] { return index(&yes, choice->getTrueExpr()); },
      [&] { return index(&no, choice->getFalseExpr()); });
  bool one_null = (yes.array == nullptr) != (no.array == nullptr);
  if (!one_null && !SameArray(yes.array, no.array)) Refuse(choice, kChosen, kChosenHelp);
  return {yes.array != nullptr ? yes.array : no.array, chosen, one_null || yes.may_be_null || no.may_be_null};
}

/// `++p`, `p--`
void Pointers::StepPointer(const ObjectPtr& pointer, const clang::UnaryOperator* step) {
  SourceRange range = step->getSourceRange();
  Value by = writer_.I32(step->isIncrementOp() ? 1 : -1);
  Bind(pointer, Moved(AddressIn(pointer, range), by, range), range);
}

/// `p = q`, `p += n`
ObjectPtr Pointers::AssignPointer(const clang::BinaryOperator* assignment) {
  SourceRange range = assignment->getSourceRange();
  if (assignment->getOpcode() == clang::BO_Assign) {
    Address to = AddressOf(assignment->getRHS());
    ObjectPtr pointer = Place(assignment->getLHS());
    Bind(pointer, to, range);
    return pointer;
  }
  Value by = Index(ValueOf(assignment->getRHS()));
  ObjectPtr pointer = Place(assignment->getLHS());
  SetPlace(range);
  if (assignment->getOpcode() == clang::BO_SubAssign) by = Make(Op::Neg, {by});
  Bind(pointer, Moved(AddressIn(pointer, range), by, range), range);
  return pointer;
}

/// `memcpy`, `memmove` and `memset` to 0 of whole elements.
void Pointers::MoveMemory(const clang::CallExpr* call, bool sets) {
  SourceRange range = call->getSourceRange();
  auto address = [&](const clang::Expr* e) {
    e = e->IgnoreParens();
    const auto* cast = llvm::dyn_cast<clang::CastExpr>(e);
    return AddressOf(cast != nullptr && cast->getCastKind() == clang::CK_BitCast ? cast->getSubExpr() : e);
  };
  Address to = address(call->getArg(0)), from;
  if (!sets) from = address(call->getArg(1));
  if (sets && function_.IntegerConstant(ValueOf(call->getArg(1))) != 0)
    Refuse(range, "memset to something else than 0", "assign in a loop");
  if (to.array == nullptr || (!sets && from.array == nullptr)) Refuse(range, "a null pointer is copied");
  if (!sets && HaveSameBits(to.array->element, from.array->element))
    from = SeenAs(from, to.array->element, range);
  if (!sets && !context_.hasSameUnqualifiedType(to.array->element, from.array->element))
    Refuse(range, "objects of different types are copied as bytes",
           "use std::bit_cast; numbers of one size are copied");
  Value bytes = Narrow(ValueOf(call->getArg(2)));
  SetPlace(range);
  Value size = Number(BytesOf(to.array->element), TypeOf(bytes));
  std::optional<int64_t> known = function_.IntegerConstant(bytes);
  if (known && *known % static_cast<int64_t>(BytesOf(to.array->element)) != 0)
    Refuse(range, "a part of an element is copied", "copy whole elements");
  Value count = Make(Op::Div, {bytes, size});
  auto run = [&](ir::Words words) {
    Type type = TypeOf(count);
    Value k = writer_.OpenFor(writer_.Zero(type), count, writer_.Int(type, 1), words);
    ObjectPtr here = At(Moved(to, k, range), range);
    if (sets) {
      Zero(here, range);
    } else {
      Copy(here, At(Moved(from, k, range), range), range);
    }
    writer_.Close();
  };
  if (sets || !SameArray(to.array, from.array)) return run({});
  // Memory that overlaps is copied from the end that is not written first.
  Value back = Make(Op::Gt, {writer_.Cast(to.index, ir::kI64), writer_.Cast(from.index, ir::kI64)});
  writer_.If(back, [&] { run({ir::Word::Reversed}); }, [&] { run({}); });
}

/// `p == q`, `p < q`, `p - q`
Value Pointers::ComparePointers(const clang::BinaryOperator* binary) {
  SourceRange range = binary->getSourceRange();
  clang::BinaryOperatorKind kind = binary->getOpcode();
  Address a = AddressOf(binary->getLHS()), b = AddressOf(binary->getRHS());
  SetPlace(range);
  if (!SameArray(a.array, b.array)) {
    const Address& other = a.array == nullptr ? b : a;
    if (binary->isEqualityOp() && other.may_be_null && (a.array == nullptr || b.array == nullptr))
      return kind == clang::BO_EQ ? IsNull(other) : writer_.Not(IsNull(other));
    bool apart = a.array == nullptr || b.array == nullptr || Apart(*a.array, *b.array);
    if (!apart || !binary->isEqualityOp())
      Refuse(range, "pointers into different objects are compared", "compare indices");
    return writer_.Int(ir::kI1, kind == clang::BO_NE);
  }
  Value x = Narrow(a.index), y = Narrow(b.index);
  if (TypeOf(x) != TypeOf(y)) x = writer_.Cast(x, ir::kI64), y = writer_.Cast(y, ir::kI64);
  if (kind != clang::BO_Sub) return Arithmetic(kind, x, y, binary);
  Type type = NeedRegister(binary->getType(), range);
  return Make(Op::Sub, {writer_.Cast(x, type), writer_.Cast(y, type)});
}

}  // namespace adc::frontend
