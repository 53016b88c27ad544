// Expressions that name or make objects: places, and what objects are initialised with. values.cpp has those
// that are numbers.

#include "frontend/cpp/expressions.h"

namespace adc::frontend {

// ---- What expressions name

namespace {

/// A variable, or a member of one: to name it does nothing else.
bool IsPlain(const clang::Expr* e, const clang::ASTContext& context) {
  e = e->IgnoreParenImpCasts();
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(e)) return IsPlain(member->getBase(), context);
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(e))
    return !choice->getCond()->HasSideEffects(context) && IsPlain(choice->getTrueExpr(), context) &&
           IsPlain(choice->getFalseExpr(), context);
  return llvm::isa<clang::DeclRefExpr, clang::CXXThisExpr>(e);
}

/// `c ? a : b`, of which a copy is made on either side.
bool IsChoice(const clang::Expr* e) {
  return llvm::isa<clang::ConditionalOperator>(e->IgnoreParenImpCasts());
}

/// Whether a cast leaves an object as it is.
bool KeepsObject(clang::CastKind kind) {
  return kind == clang::CK_NoOp || kind == clang::CK_ConstructorConversion ||
         kind == clang::CK_UserDefinedConversion;
}

}  // namespace

ObjectPtr Expressions::Place(const clang::Expr* e) {
  using clang::Stmt;
  e = e->IgnoreParens();
  SetPlace(e->getSourceRange());
  if (const clang::Expr* written = WrittenFor(e)) return Place(written);
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(e)) return PlaceOfCall(call);
  switch (e->getStmtClass()) {
    case Stmt::DeclRefExprClass:
      return PlaceOfVariable(llvm::cast<clang::DeclRefExpr>(e));
    case Stmt::MemberExprClass:
      return PlaceOfMember(llvm::cast<clang::MemberExpr>(e));
    case Stmt::ArraySubscriptExprClass: {
      const auto* subscript = llvm::cast<clang::ArraySubscriptExpr>(e);
      const clang::Expr* base = subscript->getBase()->IgnoreParens();
      const auto* decay = llvm::dyn_cast<clang::ImplicitCastExpr>(base);
      if (decay == nullptr || decay->getCastKind() != clang::CK_ArrayToPointerDecay)
        return At(AddressOfPlace(e), e->getSourceRange());
      ObjectPtr array = Place(decay->getSubExpr());
      Value index = ValueOf(subscript->getIdx());
      SetPlace(e->getSourceRange());
      if (array->kind != ObjectKind::Array) Refuse(e, "this is no array that a kernel knows");
      return Element(array, index, e->getSourceRange());
    }
    case Stmt::MaterializeTemporaryExprClass:
      return Temporary(llvm::cast<clang::MaterializeTemporaryExpr>(e)->getSubExpr());
    case Stmt::UnaryOperatorClass: {
      const auto* unary = llvm::cast<clang::UnaryOperator>(e);
      if (unary->getOpcode() == clang::UO_Deref) return Pointee(unary->getSubExpr());
      if (unary->isIncrementDecrementOp()) return PlaceOfStep(unary);
      bool real = unary->getOpcode() == clang::UO_Real;
      if ((real || unary->getOpcode() == clang::UO_Imag) &&
          unary->getSubExpr()->getType()->isAnyComplexType())
        return Element(Place(unary->getSubExpr()), Number(real ? 0 : 1), e->getSourceRange());
      break;
    }
    case Stmt::BinaryOperatorClass:
    case Stmt::CompoundAssignOperatorClass: {
      const auto* binary = llvm::cast<clang::BinaryOperator>(e);
      if (binary->isAssignmentOp()) return PlaceOfAssignment(binary);
      break;
    }
    case Stmt::ImplicitCastExprClass:
    case Stmt::CStyleCastExprClass:
    case Stmt::CXXStaticCastExprClass:
    case Stmt::CXXFunctionalCastExprClass:
    case Stmt::CXXReinterpretCastExprClass:
    case Stmt::CXXConstCastExprClass:
      if (ObjectPtr place = PlaceOfCast(llvm::cast<clang::CastExpr>(e))) return place;
      break;
    case Stmt::CXXConstructExprClass:
    case Stmt::CXXTemporaryObjectExprClass: {
      // A buffer is passed on as it is, with other marks or with constant elements.
      const auto* construct = llvm::cast<clang::CXXConstructExpr>(e);
      if (BufferOf(e->getType())) {
        if (construct->getNumArgs() >= 1 && BufferOf(construct->getArg(0)->getType()))
          return Place(construct->getArg(0));
        Refuse(e, "a kernel makes no buffers", "pass the buffer as a parameter");
      }
      break;
    }
    case Stmt::ConditionalOperatorClass:
      if (ObjectPtr place = PlaceOfChoice(llvm::cast<clang::ConditionalOperator>(e))) return place;
      break;
    default:
      break;
  }
  if (!e->isGLValue()) return Temporary(e);
  RefuseKind(e);
}

/// Null: a cast that makes an object.
ObjectPtr Expressions::PlaceOfCast(const clang::CastExpr* cast) {
  const clang::Expr* from = cast->getSubExpr();
  SourceRange range = cast->getSourceRange();
  clang::CastKind kind = cast->getCastKind();
  if (kind == clang::CK_LValueBitCast) return At(SeenAs(AddressOfPlace(from), cast->getType(), range), range);
  if (ChangesClass(kind)) return SeenAsClass(Place(from), cast, range);
  bool same = cast->isGLValue() ? kind == clang::CK_NoOp : KeepsObject(kind) && BufferOf(cast->getType());
  return same ? Place(from) : nullptr;
}

ObjectPtr Expressions::PlaceOfCall(const clang::CallExpr* call) {
  if (ObjectPtr chosen = ExtremeByReference(call)) return chosen;
  Given given = Call(call);
  if (given.object != nullptr) return given.object;
  if (!given.value.Valid()) Refuse(call, "a call that gives no value is used as one");
  ObjectPtr slot = NewSlot(TypeOf(given.value), call->getType().getNonReferenceType(), {});
  Store(slot, given.value, call->getSourceRange());
  return slot;
}

/// Null: a choice between values.
ObjectPtr Expressions::PlaceOfChoice(const clang::ConditionalOperator* choice) {
  const clang::Expr *yes = choice->getTrueExpr(), *no = choice->getFalseExpr();
  Value condition = Condition(choice->getCond());
  if (function_.IsConstant(condition)) return Place(function_.ConstantOf(condition).bits != 0 ? yes : no);
  if (!choice->isGLValue()) return nullptr;
  if (IsPlain(yes, context_) && IsPlain(no, context_)) {
    ObjectPtr place = Place(yes);
    if (ObjectPtr chosen = ChoiceOf(condition, place, Place(no))) return chosen;
  }
  Refuse(choice, "a reference to one of several objects that is chosen at run time",
         "choose between the values, or use if and else");
}

ObjectPtr Expressions::PlaceOfVariable(const clang::DeclRefExpr* reference) {
  const clang::ValueDecl* declaration = reference->getDecl();
  SourceRange range = reference->getSourceRange();
  if (reference->refersToEnclosingVariableOrCapture()) {
    if (ObjectPtr captured = Captured(declaration, range)) return captured;
  }
  auto found = frame_->variables.find(declaration);
  if (found != frame_->variables.end()) return found->second;
  if (const auto* binding = llvm::dyn_cast<clang::BindingDecl>(declaration)) {
    const clang::VarDecl* holder = binding->getHoldingVar();
    if (holder == nullptr) return Place(binding->getBinding());
    if (!frame_->variables.contains(holder)) DeclareVariable(holder);
    return frame_->variables.at(holder);
  }
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration);
  if (variable != nullptr && variable->hasGlobalStorage()) return PlaceOfGlobal(variable, range);
  if (const auto* parameter = llvm::dyn_cast<clang::TemplateParamObjectDecl>(declaration))
    return FromConstant(parameter->getValue(), parameter->getType(), range);
  if (llvm::isa<clang::FunctionDecl>(declaration))
    Refuse(range, "a kernel has no pointers or references to functions",
           "call it, or pass a lambda to a template");
  Refuse(range, "'" + declaration->getNameAsString() + "' cannot be used here");
}

ObjectPtr Expressions::PlaceOfMember(const clang::MemberExpr* member) {
  SourceRange range = member->getSourceRange();
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(member->getMemberDecl()))
    return PlaceOfGlobal(variable, range);
  const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
  if (field == nullptr) Refuse(range, "kernels do not have this kind of member");
  const auto* record = llvm::cast<clang::CXXRecordDecl>(field->getParent());
  ObjectPtr object = OwnerOf(member->getBase(), member->isArrow(), record, range);
  if (std::optional<Type> type = RegisterType(context_.getRecordType(record))) {
    llvm::StringRef name = field->getName();
    if (type->IsVec() && name.size() == 1 && llvm::StringRef("xyzw").contains(name)) {
      return ComponentOf(object, Number(llvm::StringRef("xyzw").find(name)), field->getType());
    }
    Refuse(range, "the inside of '" + record->getNameAsString() + "'", "use [k], or .x .y .z .w");
  }
  return Member(object, field, range);
}

/// The object, or its base, that has the members of a class.
ObjectPtr Expressions::OwnerOf(const clang::Expr* e, bool pointer, const clang::CXXRecordDecl* record,
                               SourceRange range) {
  ObjectPtr object = pointer ? Pointee(e) : Place(e);
  bool derived = object->kind == ObjectKind::Struct && RecordOf(object->type) != record->getDefinition();
  return derived ? BaseOf(object, record, range) : object;
}

/// An object of which a copy is made.
ObjectPtr Expressions::CopiedFrom(const clang::Expr* e) {
  return IsChoice(e) ? Temporary(e) : Place(e);
}

ObjectPtr Expressions::PlaceOfStep(const clang::UnaryOperator* step) {
  if (step->isPostfix()) return Temporary(step);
  ObjectPtr place = Place(step->getSubExpr());
  if (place->kind == ObjectKind::Pointer) {
    StepPointer(place, step);
    return place;
  }
  Step(place, Load(place, step->getSourceRange()), step);
  return place;
}

/// `++v`, `v--`
void Expressions::Step(const ObjectPtr& place, Value before, const clang::UnaryOperator* step) {
  Type type = TypeOf(before);
  Value one = type.IsFloat() ? writer_.Float(type, 1) : writer_.Int(type, 1);
  Store(place, Make(step->isIncrementOp() ? Op::Add : Op::Sub, {before, one}), step->getSourceRange());
}

ObjectPtr Expressions::PlaceOfAssignment(const clang::BinaryOperator* assignment) {
  const clang::Expr *to = assignment->getLHS(), *value = assignment->getRHS();
  SourceRange range = assignment->getSourceRange();
  if (to->getType()->isAnyPointerType()) return AssignPointer(assignment);
  if (to->getType().isVolatileQualified()) Refuse(range, "a kernel has no volatile variables");
  if (const auto* compound = llvm::dyn_cast<clang::CompoundAssignOperator>(assignment)) {
    if (to->getType()->isAnyComplexType()) return AssignComplex(compound);
    Value right = ValueOf(value);
    ObjectPtr place = Place(to);
    Value left = Load(place, to->getSourceRange());
    Type of = TypeOf(left);
    Type wide = NeedRegister(compound->getComputationLHSType(), range);
    SetPlace(range);
    Value result = Arithmetic(clang::BinaryOperator::getOpForCompoundAssignment(compound->getOpcode()),
                              Convert(left, wide), right, assignment);
    Store(place, Convert(result, of), range);
    return place;
  }
  if (RegisterType(to->getType())) {
    Value right = ValueOf(value);
    ObjectPtr place = Place(to);
    Store(place, right, range);
    return place;
  }
  ObjectPtr from = CopiedFrom(value);
  ObjectPtr place = Place(to);
  Copy(place, from, range);
  return place;
}

// ---- Objects from expressions

void Expressions::Initialise(const ObjectPtr& object, const clang::Expr* e) {
  using clang::Stmt;
  e = e->IgnoreParens();
  SourceRange range = e->getSourceRange();
  if (object->kind == ObjectKind::Pointer) return Bind(object, AddressOf(e), range);
  if (object->kind != ObjectKind::Struct && object->kind != ObjectKind::Array)
    return Store(object, ValueOf(e), range);
  if (e->isGLValue() && !IsChoice(e)) return Copy(object, Place(e), range);
  if (e->getType()->isAnyComplexType() && InitialiseComplex(object, e)) return;
  SetPlace(range);
  if (const clang::Expr* written = WrittenFor(e)) return Initialise(object, written);
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(e)) {
    Given given = Call(call);
    if (given.object == nullptr) Refuse(e, "this call gives no object");
    return Copy(object, given.object, range);
  }
  switch (e->getStmtClass()) {
    case Stmt::CXXBindTemporaryExprClass:
      return Initialise(object, llvm::cast<clang::CXXBindTemporaryExpr>(e)->getSubExpr());
    case Stmt::MaterializeTemporaryExprClass:
      return Initialise(object, llvm::cast<clang::MaterializeTemporaryExpr>(e)->getSubExpr());
    case Stmt::ImplicitCastExprClass:
    case Stmt::CStyleCastExprClass:
    case Stmt::CXXStaticCastExprClass:
    case Stmt::CXXFunctionalCastExprClass: {
      const auto* cast = llvm::cast<clang::CastExpr>(e);
      clang::CastKind kind = cast->getCastKind();
      if (KeepsObject(kind)) return Initialise(object, cast->getSubExpr());
      if (!ChangesClass(kind)) break;
      return Copy(object, SeenAsClass(Place(cast->getSubExpr()), cast, range), range);
    }
    case Stmt::ImplicitValueInitExprClass:
    case Stmt::CXXScalarValueInitExprClass:
      return Zero(object, range);
    case Stmt::InitListExprClass:
      return InitialiseByList(object, llvm::cast<clang::InitListExpr>(e));
    case Stmt::CXXParenListInitExprClass: {
      const auto* list = llvm::cast<clang::CXXParenListInitExpr>(e);
      if (object->kind != ObjectKind::Struct) break;
      return InitialiseMembers(object, list->getInitExprs(), range);
    }
    case Stmt::ArrayInitLoopExprClass:
      e = llvm::cast<clang::ArrayInitLoopExpr>(e)->getCommonExpr()->getSourceExpr();
      return Copy(object, Place(e), range);
    case Stmt::CXXConstructExprClass:
    case Stmt::CXXTemporaryObjectExprClass:
      return Construct(object, llvm::cast<clang::CXXConstructExpr>(e));
    case Stmt::LambdaExprClass:
      return MakeClosure(object, llvm::cast<clang::LambdaExpr>(e));
    case Stmt::ConditionalOperatorClass: {
      const auto* choice = llvm::cast<clang::ConditionalOperator>(e);
      Value condition = Condition(choice->getCond());
      SetPlace(range);
      return writer_.If(
          condition, [&] { Initialise(object, choice->getTrueExpr()); },
          [&] { Initialise(object, choice->getFalseExpr()); });
    }
    case Stmt::BinaryOperatorClass: {
      const auto* binary = llvm::cast<clang::BinaryOperator>(e);
      if (binary->getOpcode() == clang::BO_Cmp) Refuse(e, "a kernel has no operator <=>", "define == and <");
      break;
    }
    case Stmt::CXXThrowExprClass:
      RefuseException(e);
    default:
      break;
  }
  RefuseKind(e);
}

void Expressions::InitialiseArray(const ObjectPtr& object, const clang::InitListExpr* list) {
  SourceRange range = list->getSourceRange();
  unsigned given = list->getNumInits();
  bool zeros = list->hasArrayFiller() && given < object->count;
  if (zeros && given == 0) return Zero(object, range);
  for (uint64_t n = 0; n < object->count; ++n) {
    ObjectPtr element = Element(object, Number(n), range);
    const clang::Expr* init = n < given ? list->getInit(static_cast<unsigned>(n)) : list->getArrayFiller();
    if (init == nullptr) {
      Zero(element, range);
    } else {
      Initialise(element, init);
    }
  }
}

void Expressions::InitialiseByList(const ObjectPtr& object, const clang::InitListExpr* list) {
  if (const clang::InitListExpr* semantic = list->getSemanticForm()) list = semantic;
  if (list->isTransparent()) return Initialise(object, list->getInit(0));
  if (object->kind == ObjectKind::Array) return InitialiseArray(object, list);
  SourceRange range = list->getSourceRange();
  if (const clang::FieldDecl* field = list->getInitializedFieldInUnion()) {
    if (list->getNumInits() == 0 || BytesOf(field->getType()) < BytesOf(object->type)) Zero(object, range);
    if (list->getNumInits() == 1) Initialise(object->members[field->getFieldIndex()], list->getInit(0));
    return;
  }
  if (RecordOf(object->type)->isUnion()) return Zero(object, range);
  InitialiseMembers(object, list->inits(), range);
}

void Expressions::InitialiseMembers(const ObjectPtr& object, llvm::ArrayRef<clang::Expr*> values,
                                    SourceRange range) {
  std::vector<Part> members = MembersOf(RecordOf(object->type), range);
  for (size_t n = 0; n < members.size(); ++n)
    InitialiseMember(object, n, members[n].type, n < values.size() ? values[n] : nullptr, range);
}

/// Gives a member its first value; null: zero.
void Expressions::InitialiseMember(const ObjectPtr& owner, size_t n, QualType type, const clang::Expr* init,
                                   SourceRange range) {
  if (type->isReferenceType() || BufferOf(type)) return BindMember(owner, n, Place(init), range);
  if (init == nullptr) return Zero(owner->members[n], range);
  Initialise(owner->members[n], init);
}

void Expressions::Construct(const ObjectPtr& object, const clang::CXXConstructExpr* construct) {
  const clang::CXXConstructorDecl* constructor = construct->getConstructor();
  SourceRange range = construct->getSourceRange();
  if (object->kind == ObjectKind::Array) {
    if (construct->getNumArgs() == 0 && constructor->isTrivial()) return;
    for (uint64_t n = 0; n < object->count; ++n) Construct(Element(object, Number(n), range), construct);
    return;
  }
  if (object->kind != ObjectKind::Struct) return Store(object, ValueOfConstruct(construct), range);
  if (constructor->isCopyOrMoveConstructor() && !constructor->isUserProvided()) {
    const clang::Expr* from = construct->getArg(0);
    return IsChoice(from) ? Initialise(object, from) : Copy(object, Place(from), range);
  }
  if (construct->requiresZeroInitialization()) Zero(object, range);
  if (constructor->isDefaultConstructor() && constructor->isTrivial()) return;
  std::vector<const clang::Expr*> arguments(construct->arg_begin(), construct->arg_end());
  RunConstructor(constructor, object, arguments, range);
}

void Expressions::MakeClosure(const ObjectPtr& object, const clang::LambdaExpr* lambda) {
  SourceRange range = lambda->getSourceRange();
  auto field = lambda->getLambdaClass()->field_begin();
  auto init = lambda->capture_init_begin();
  for (const clang::LambdaCapture& capture : lambda->captures()) {
    size_t n = field->getFieldIndex();
    QualType type = field->getType();
    if (capture.capturesThis() && type->isPointerType()) {
      BindMember(object, n, Pointee(*init), range);
    } else {
      if (object->members[n] == nullptr && type->isPointerType())
        object->members[n] = NewObject(type, {}, range);
      InitialiseMember(object, n, type, *init, range);
    }
    ++field;
    ++init;
  }
}

/// An expression whose value is not used.
void Expressions::Effect(const clang::Expr* e) {
  e = e->IgnoreParens();
  SetPlace(e->getSourceRange());
  if (const clang::Expr* written = WrittenFor(e)) return Effect(written);
  if (const auto* temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(e))
    return Effect(temporary->getSubExpr());
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(e)) {
    if (cast->getCastKind() == clang::CK_ToVoid) return Effect(cast->getSubExpr());
  }
  if (AssertOf(e)) return;
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(e)) {
    Call(call);
    return;
  }
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(e)) {
    Value condition = Condition(choice->getCond());
    return writer_.If(
        condition, [&] { Effect(choice->getTrueExpr()); }, [&] { Effect(choice->getFalseExpr()); });
  }
  if (llvm::isa<clang::CXXThrowExpr>(e)) RefuseException(e);
  if (const auto* made = llvm::dyn_cast<clang::CXXNewExpr>(e)) {
    AddressOfNew(made);
    return;
  }
  if (llvm::isa<clang::CXXDeleteExpr>(e))
    Refuse(e, "a kernel has no 'delete'", "use local arrays and buffers");
  if (e->getType()->isVoidType()) Refuse(e, "kernels do not have this kind of expression");
  if (e->isGLValue()) {
    Place(e);
  } else if (RegisterType(e->getType())) {
    ValueOf(e);
  } else {
    Temporary(e);
  }
}

}  // namespace adc::frontend
