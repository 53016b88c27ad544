// Pointers. One is an object whose elements lie one after another, which is known where the pointer is used,
// and an index, which is an ordinary value:
//
//   const double* p = a + 2;      the local array a, 2
//   p[i], *p++                    a[2 + i]; a[2], and the index becomes 3
//   &b(i, 0)                      the row i of the buffer b, 0
//   &v.x                          x and what follows it in the struct v, 0
//
// What would have to be looked up at run time is refused: a pointer in memory, or one to either of two
// arrays.

#include <clang/AST/RecordLayout.h>

#include "diag/errors/cpp.h"
#include "frontend/cpp/lowering.h"

namespace adc::frontend {

using clang::QualType;
using clang::SourceRange;
using ir::Op;
using ir::Type;
using ir::Value;

namespace {

constexpr const char* kChosen = "a pointer to one of several objects that is chosen at run time";
constexpr const char* kChosenHelp = "let it stay in one array and choose its index, or use if and else";

QualType PointedTo(QualType pointer) {
  return pointer.getNonReferenceType()->getPointeeType();
}

}  // namespace

// ---- Indices

/// The index without a widening that it has been through.
Value Lowering::Narrow(Value index) {
  index = Index(index);
  if (writer_.TypeOf(index) == ir::kI32) return index;
  if (std::optional<int64_t> number = function_.IntegerConstant(index)) {
    bool fits = *number >= INT32_MIN && *number <= INT32_MAX;
    return fits ? writer_.builder().I32(static_cast<int32_t>(*number)) : index;
  }
  ir::Inst inst = function_.DefiningInst(index);
  if (!inst.Valid() || function_[inst].op != Op::Cast) return index;
  Value from = function_.Operand(inst, 0);
  return writer_.TypeOf(from) == ir::kI32 ? from : index;
}

/// The sum of two indices: of buffers, which may be long, in 64 bits.
Value Lowering::Further(Value a, Value b, bool in_buffer) {
  a = Narrow(a), b = Narrow(b);
  if (function_.IntegerConstant(a) == 0) return b;
  if (function_.IntegerConstant(b) == 0) return a;
  Type type = in_buffer ? ir::kI64 : ir::kI32;
  return writer_.Make(Op::Add, {writer_.Cast(a, type), writer_.Cast(b, type)});
}

bool Lowering::InBuffer(const Object& array) const {
  if (array.of != nullptr) return InBuffer(*array.of);
  return array.kind == ObjectKind::Buffer;
}

Lowering::Address Lowering::Moved(Address from, Value by, SourceRange range) {
  if (from.array == nullptr) Refuse(range, "arithmetic on a null pointer");
  from.index = Further(from.index, by, InBuffer(*from.array));
  from.may_be_null = false;
  return from;
}

// ---- What objects lie in

/// The element of a struct that is `array->element` times a number, as reinterpret_cast sees it.
ObjectPtr Lowering::FlatElement(const ObjectPtr& array, Value index, SourceRange range) {
  if (!ScalarOf(array->element)) return GroupedElement(array, index, range);
  const ObjectPtr& of = array->of;
  if (HaveSameBits(of->element, array->element)) return BitsOf(Element(of, index, range), array->element);
  uint64_t each = *CountOf(of->element, array->element);
  Value at = writer_.builder().I32(0), rest = Narrow(index);
  if (of->kind != ObjectKind::Array || of->count != 1) {
    Value number = writer_.builder().Int(writer_.TypeOf(rest), static_cast<int64_t>(each));
    at = writer_.Make(Op::Div, {rest, number});
    rest = writer_.Make(Op::Rem, {rest, number});
  }
  ObjectPtr object = Element(of, at, range);
  if (object->register_type.IsVec()) return ComponentOf(object, rest, array->element);
  if (object->register_type.IsMat()) {
    Value columns = writer_.builder().Int(writer_.TypeOf(rest), object->register_type.columns);
    ObjectPtr row = ComponentOf(object, writer_.Make(Op::Div, {rest, columns}), array->element);
    return ComponentOf(row, writer_.Make(Op::Rem, {rest, columns}), array->element);
  }
  std::vector<ObjectPtr> leaves;
  LeavesOf(object, array->element, range, &leaves);
  ObjectPtr run = RunOf(std::move(leaves), array->element);
  if (run->members.empty()) return Element(run, rest, range);
  ObjectPtr number = MemberAt(run, rest, range);
  if (number->owner == nullptr && number->within == nullptr) {
    number->within = array;
    number->position = index;
    parts_.push_back(number);
  }
  return number;
}

void Lowering::LeavesOf(const ObjectPtr& object, QualType leaf, SourceRange range,
                        std::vector<ObjectPtr>* leaves) {
  if (object->kind == ObjectKind::Struct) {
    for (const ObjectPtr& member : PartsOf(*object, range)) LeavesOf(member, leaf, range, leaves);
  } else if (object->kind == ObjectKind::Array) {
    for (uint64_t n = 0; n < object->count; ++n)
      LeavesOf(Element(object, writer_.builder().I32(static_cast<int32_t>(n)), range), leaf, range, leaves);
  } else if (object->register_type.IsScalar()) {
    leaves->push_back(object);
  } else {
    for (uint32_t n = 0; n < object->register_type.Components(); ++n) {
      Value at = writer_.builder().I32(static_cast<int32_t>(n));
      auto whole = std::make_shared<Object>();
      whole->kind = ObjectKind::Array;
      whole->element = object->type;
      whole->count = 1;
      whole->members = {object};
      leaves->push_back(Element(FlatArray(whole, leaf), at, range));
    }
  }
}

/// How many numbers of the type an object consists of, where it consists of nothing else.
std::optional<uint64_t> Lowering::CountOf(QualType type, QualType number) const {
  std::optional<Type> scalar = ScalarOf(number), leaf = RegisterType(type);
  if (!scalar) return std::nullopt;
  uint64_t count = 0, inner = 0;
  QualType element;
  const clang::CXXRecordDecl* record = RecordOf(type);
  if (leaf) {
    if (leaf->ScalarType() != *scalar) return std::nullopt;
    count = leaf->Components();
  } else if (ArrayOf(type, &element, &inner)) {
    count = inner * CountOf(element, number).value_or(0);
  } else if (record != nullptr && record->getNumBases() == 0 && !record->field_empty()) {
    for (const clang::FieldDecl* field : record->fields()) {
      std::optional<uint64_t> own = CountOf(field->getType(), number);
      if (!own || field->isBitField() || field->getType()->isReferenceType()) return std::nullopt;
      count = record->isUnion() ? std::max(count, *own) : count + *own;
    }
  }
  if (count == 0 || count * BytesOf(number) != BytesOf(type)) return std::nullopt;
  return count;
}

/// The numbers that the elements of an array consist of.
ObjectPtr Lowering::FlatArray(const ObjectPtr& of, QualType number) {
  auto flat = std::make_shared<Object>();
  flat->kind = ObjectKind::Array;
  flat->of = of;
  flat->element = number;
  return flat;
}

/// Objects that lie one after another, as an array.
ObjectPtr Lowering::RunOf(std::vector<ObjectPtr> members, QualType element) {
  auto run = std::make_shared<Object>();
  run->kind = ObjectKind::Array;
  run->element = element;
  run->count = members.size();
  const Object& first = *members[0];
  // Words of a buffer of structs.
  if (first.kind == ObjectKind::Cell && writer_.TypeOf(first.base).IsBuffer() && first.within == nullptr &&
      !first.indices.empty()) {
    run->storage.bases = {first.base};
    run->storage.indices = first.indices;
    run->storage.flat = first.indices.back();
    run->storage.indices.pop_back();
    run->storage.in_buffer = true;
    return run;
  }
  run->members = std::move(members);
  return run;
}

/// One of the objects of a run, which an index chooses.
ObjectPtr Lowering::MemberAt(const ObjectPtr& run, Value index, SourceRange range) {
  if (std::optional<int64_t> known = function_.IntegerConstant(index)) {
    if (*known < 0 || *known >= static_cast<int64_t>(run->count))
      Refuse(range, "element " + std::to_string(*known) + " of " + std::to_string(run->count),
             "a pointer to a member reaches members of its type that follow one another in their struct");
    return run->members[static_cast<size_t>(*known)];
  }
  if (run->count == 1 && run->members[0]->kind != ObjectKind::Choice) return run->members[0];
  if (run->count == 1)
    Refuse(range, "one object is indexed at run time", "point into an array or a struct, or use index 0");
  std::function<ObjectPtr(size_t, size_t)> among = [&](size_t first, size_t end) -> ObjectPtr {
    if (end - first == 1) return run->members[first];
    size_t middle = first + (end - first) / 2;
    Value bound = writer_.builder().Int(writer_.TypeOf(index), static_cast<int64_t>(middle));
    ObjectPtr left = among(first, middle), right = among(middle, end);
    if (left == nullptr || right == nullptr) return nullptr;
    return ChoiceOf(writer_.Make(Op::Lt, {index, bound}), left, right);
  };
  ObjectPtr chosen = among(0, run->count);
  if (chosen == nullptr)
    Refuse(range, "one of several objects with arrays or pointers that is chosen at run time",
           "use indices that are constants");
  return chosen;
}

/// The object's address: in the array that it is an element of, or its own.
Lowering::Address Lowering::AddressOfObject(const ObjectPtr& object, SourceRange range) {
  if (object->owner != nullptr) return AddressInOwner(object, range);
  if (object->within != nullptr) return Whole({object->within, object->position});
  Value zero = writer_.builder().I32(0);
  if (object->kind == ObjectKind::Component) {
    const Object& of = *object->of;
    if (of.register_type.IsMat()) Refuse(range, "a pointer to a row of a matrix", "use its elements");
    if (of.kind == ObjectKind::Component) {
      // An element of a matrix: its place in the whole.
      Address outer = AddressOfObject(of.of, range);
      Value row = Narrow(of.at);
      Value columns = writer_.builder().Int(writer_.TypeOf(row), of.of->register_type.columns);
      return InParts(outer, object->type, Further(writer_.Make(Op::Mul, {row, columns}), object->at, false));
    }
    return InParts(AddressOfObject(object->of, range), object->type, object->at);
  }
  auto alone = std::make_shared<Object>();
  alone->kind = ObjectKind::Array;
  alone->element = object->type;
  alone->count = 1;
  alone->members = {object};
  return {alone, zero};
}

/// `part`, of what the address is of, in numbers.
Lowering::Address Lowering::InParts(const Address& outer, QualType number, Value part) {
  std::optional<uint64_t> each = CountOf(outer.array->element, number);
  ObjectPtr flat = FlatArray(outer.array, number);
  if (outer.array->kind == ObjectKind::Array) flat->count = outer.array->count * *each;
  bool wide = InBuffer(*outer.array);
  Value at = Narrow(outer.index);
  if (wide && !function_.IsConstant(at)) at = writer_.Cast(at, ir::kI64);
  Value number_of = writer_.builder().Int(writer_.TypeOf(at), static_cast<int64_t>(*each));
  return {flat, Further(writer_.Make(Op::Mul, {at, number_of}), part, wide)};
}

/// A row of a local array, as a place in the whole of it.
Lowering::Address Lowering::Whole(Address address) {
  const Object& row = *address.array;
  if (row.kind != ObjectKind::Array || row.storage.in_buffer || !row.storage.flat.Valid()) return address;
  auto whole = std::make_shared<Object>(row);
  whole->storage.flat = {};
  whole->within = whole->owner = nullptr;
  Value first = Narrow(row.storage.flat);
  Value count = writer_.builder().Int(writer_.TypeOf(first), static_cast<int64_t>(row.count));
  return {whole, Further(writer_.Make(Op::Mul, {first, count}), address.index, false)};
}

/// A member's address: in the numbers that its struct consists of, or among the members beside it that are of
/// its type.
Lowering::Address Lowering::AddressInOwner(const ObjectPtr& object, SourceRange range) {
  const Object& owner = *object->owner;
  QualType type = object->type;
  if (CountOf(owner.type, type)) {
    uint64_t bytes = object->offset;
    ObjectPtr whole = object->owner;
    for (; whole->owner != nullptr && CountOf(whole->owner->type, type); whole = whole->owner)
      bytes += whole->offset;
    auto part = static_cast<int32_t>(bytes / BytesOf(type));
    return InParts(AddressOfObject(whole, range), type, writer_.builder().I32(part));
  }
  const clang::CXXRecordDecl* record = RecordOf(owner.type);
  const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(record);
  std::vector<ObjectPtr> run;
  int32_t position = 0;
  uint64_t end = 0;
  bool met = false;
  for (const clang::FieldDecl* one : record->fields()) {
    uint64_t offset = layout.getFieldOffset(one->getFieldIndex()) / 8;
    bool alike = context_.hasSameUnqualifiedType(one->getType(), type);
    if (!alike || offset != end) {
      if (met) break;
      run.clear();
    }
    if (alike && offset == object->offset) {
      met = true;
      position = static_cast<int32_t>(run.size());
    }
    end = offset + BytesOf(one->getType());
    if (alike) run.push_back(owner.members[record->getNumBases() + one->getFieldIndex()]);
  }
  return {RunOf(std::move(run), type), writer_.builder().I32(position)};
}

// ---- Pointers as objects

ObjectPtr Lowering::NewPointer(QualType type, SourceRange range) {
  QualType to = PointedTo(type);
  if (type->isMemberPointerType() || to->isFunctionType())
    Refuse(range, "a kernel has no pointers or references to functions or to members",
           "call it, or pass a lambda to a template");
  if (to->isIncompleteType() && !to->isVoidType())
    Refuse(range, "a kernel has no pointers to '" + Spell(to) + "'", "use a pointer to what it points to");
  auto pointer = std::make_shared<Object>();
  pointer->kind = ObjectKind::Pointer;
  pointer->type = type.getNonReferenceType();
  pointer->born = Here();
  pointer->slot = writer_.NewSlot(ir::kI64, {});
  parts_.push_back(pointer);
  return pointer;
}

ObjectPtr Lowering::PointerTo(QualType type, const Address& address, SourceRange range,
                              const clang::VarDecl* variable) {
  ObjectPtr pointer = NewPointer(type, range);
  bool local = address.array == nullptr || !InBuffer(*address.array);
  if (local) pointer->slot = writer_.NewSlot(ir::kI32, {});
  Bind(pointer, address, range);
  if (variable != nullptr && !IsMoved(variable)) pointer->at = address.index;
  return pointer;
}

/// Whether anything is done to a pointer but reading it. Inside of a loop the index of one that is only read
/// is what it was before.
bool Lowering::IsMoved(const clang::VarDecl* variable) {
  if (variable->getType().isConstQualified()) return false;
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(variable->getDeclContext());
  const clang::Stmt* body = function == nullptr ? nullptr : function->getBody();
  if (body == nullptr) return true;
  std::function<bool(const clang::Stmt*)> moves = [&](const clang::Stmt* s) -> bool {
    if (s == nullptr) return false;
    if (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(s)) {
      const clang::Expr* read = cast->getSubExpr()->IgnoreParens();
      if (cast->getCastKind() == clang::CK_LValueToRValue && llvm::isa<clang::DeclRefExpr>(read))
        return false;
    }
    if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(s)) return name->getDecl() == variable;
    return std::any_of(s->child_begin(), s->child_end(), moves);
  };
  return moves(body);
}

/// Whether the object was there already: then it is wherever the other one is.
bool Lowering::Outlives(const Object& object, const Born& other) const {
  auto old = [&](Value v) { return !v.Valid() || function_.IsConstant(v) || v.raw < other.values; };
  auto all = [&](const std::vector<Value>& values) { return std::all_of(values.begin(), values.end(), old); };
  bool here = old(object.base) && old(object.at) && all(object.indices) && all(object.storage.bases) &&
              all(object.storage.indices) && old(object.storage.flat);
  bool in_slot = object.kind == ObjectKind::Slot || object.kind == ObjectKind::Pointer;
  if (!here || (in_slot && object.slot >= other.slots)) return false;
  for (const ObjectPtr& member : object.members) {
    if (member != nullptr && !Outlives(*member, other)) return false;
  }
  return object.of == nullptr || Outlives(*object.of, other);
}

/// Lets the pointer point there. Another object than before is for all that follows, so that no branch and
/// no loop may stand between.
void Lowering::Bind(const ObjectPtr& pointer, const Address& address, SourceRange range) {
  bool same = pointer->bound && SameArray(pointer->of, address.array);
  bool elsewhere = writer_.Depth() != pointer->born.depth || writer_.MayHaveLeft(pointer->born.scopes);
  // Null or into one array, as the index says. What a loop asked before does not know of the null.
  bool joins = elsewhere && pointer->bound && (pointer->of == nullptr) != (address.array == nullptr);
  bool may_be_null = joins || address.may_be_null;
  if (may_be_null && !pointer->may_be_null && writer_.LoopCount() != pointer->born.loops)
    Refuse(range, kChosen, kChosenHelp);
  if (!same && elsewhere) {
    if (pointer->bound && !joins) Refuse(range, kChosen, kChosenHelp);
    if (address.array != nullptr && !Outlives(*address.array, pointer->born))
      Refuse(range, "a pointer is declared before what it points to, outside of this branch or loop",
             "declare it here");
  }
  Type type = writer_.TypeOf(writer_.Get(pointer->slot));
  bool long_one = address.array != nullptr && InBuffer(*address.array);
  if (long_one && type == ir::kI32) Refuse(range, kChosen, kChosenHelp);
  pointer->may_be_null = may_be_null || (pointer->may_be_null && (same || elsewhere));
  if (!same && (!joins || address.array != nullptr)) pointer->of = address.array;
  pointer->bound = true;
  writer_.Set(pointer->slot, writer_.Cast(address.index, type));
}

Lowering::Address Lowering::AddressIn(const ObjectPtr& pointer, SourceRange range) {
  if (pointer->kind != ObjectKind::Pointer) Refuse(range, "a kernel knows no pointer like this");
  if (!pointer->bound) Refuse(range, "a pointer is read before it points to anything");
  return {pointer->of, pointer->at.Valid() ? pointer->at : writer_.Get(pointer->slot), pointer->may_be_null};
}

/// An address that a cast takes along, which a null would not survive.
Lowering::Address Lowering::Certain(const Address& address, SourceRange range) {
  if (address.may_be_null)
    Refuse(range, "a pointer that may be null is seen as one to another type",
           "compare it with nullptr before");
  return address;
}

Value Lowering::IsNull(const Address& address) {
  if (address.array == nullptr || !address.may_be_null)
    return writer_.builder().Int(ir::kI1, address.array == nullptr);
  return writer_.Make(Op::Eq,
                      {address.index, writer_.builder().Int(writer_.TypeOf(address.index), kNullIndex)});
}

ObjectPtr Lowering::At(const Address& address, SourceRange range) {
  if (address.array == nullptr) Refuse(range, "what a null pointer points to is used");
  return Element(address.array, Narrow(address.index), range);
}

// ---- Expressions

Lowering::Address Lowering::AddressOf(const clang::Expr* e) {
  using clang::Stmt;
  e = e->IgnoreParens();
  SourceRange range = e->getSourceRange();
  SetPlace(range);
  if (e->isGLValue()) return AddressIn(Place(e), range);
  if (const clang::Expr* written = WrittenFor(e)) return AddressOf(written);
  Address null = NullAddress();
  switch (e->getStmtClass()) {
    case Stmt::OpaqueValueExprClass:
      if (const clang::Expr* source = llvm::cast<clang::OpaqueValueExpr>(e)->getSourceExpr())
        return AddressOf(source);
      break;
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
    case Stmt::CallExprClass:
    case Stmt::CXXMemberCallExprClass:
    case Stmt::CXXOperatorCallExprClass:
      return AddressIn(Place(e), range);
    default:
      if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(e)) return AddressOfCast(cast);
      break;
  }
  RefusePointer(e);
}

Lowering::Address Lowering::AddressOfCast(const clang::CastExpr* cast) {
  const clang::Expr* from = cast->getSubExpr();
  SourceRange range = cast->getSourceRange();
  switch (cast->getCastKind()) {
    case clang::CK_ArrayToPointerDecay: {
      if (llvm::isa<clang::StringLiteral>(from->IgnoreParens()))
        Refuse(from, "a kernel has no text", "adc::print and assert take it as their argument");
      ObjectPtr array = Place(from);
      if (array->kind != ObjectKind::Array) Refuse(range, "this is no array that a kernel knows");
      return Whole({array, writer_.builder().I32(0)});
    }
    case clang::CK_NullToPointer:
      return NullAddress();
    case clang::CK_LValueToRValue:
    case clang::CK_NoOp:
    case clang::CK_UserDefinedConversion:
      return AddressOf(from);
    case clang::CK_DerivedToBase:
    case clang::CK_UncheckedDerivedToBase: {
      ObjectPtr object = At(Certain(AddressOf(from), range), range);
      return AddressOfObject(BaseOf(object, RecordOf(PointedTo(cast->getType())), range), range);
    }
    case clang::CK_BaseToDerived: {
      ObjectPtr object = At(Certain(AddressOf(from), range), range);
      return AddressOfObject(DerivedOf(object, RecordOf(PointedTo(cast->getType())), range), range);
    }
    case clang::CK_BitCast:
      if (PointedTo(cast->getType())->isVoidType()) return AddressOf(from);
      return SeenAs(Certain(AddressOf(from), range), PointedTo(cast->getType()), range);
    default:
      RefusePointer(cast);
  }
}

/// `new (p) T(...)`: p, where an object is made anew.
Lowering::Address Lowering::AddressOfNew(const clang::CXXNewExpr* made) {
  if (!made->getOperatorNew()->isReservedGlobalPlacementOperator() || made->isArray())
    Refuse(made, "a kernel has no 'new'", "use a local array of a size that is known, or a buffer");
  SourceRange range = made->getSourceRange();
  Address to = SeenAs(Certain(AddressOf(made->getPlacementArg(0)), range), made->getAllocatedType(), range);
  if (made->getInitializer() != nullptr) Initialise(At(to, range), made->getInitializer());
  return to;
}

/// `&e`
Lowering::Address Lowering::AddressOfPlace(const clang::Expr* e) {
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

Lowering::Address Lowering::AddressOfSum(const clang::BinaryOperator* sum) {
  clang::BinaryOperatorKind kind = sum->getOpcode();
  if (kind == clang::BO_Comma) {
    Effect(sum->getLHS());
    return AddressOf(sum->getRHS());
  }
  bool minus = kind == clang::BO_Sub;
  if (kind != clang::BO_Add && !minus) RefusePointer(sum);
  if (!sum->getLHS()->getType()->isAnyPointerType()) {
    Value by = ValueOf(sum->getLHS());
    return Moved(AddressOf(sum->getRHS()), by, sum->getSourceRange());
  }
  Address from = AddressOf(sum->getLHS());
  Value by = Index(ValueOf(sum->getRHS()));
  SetPlace(sum->getSourceRange());
  return Moved(from, minus ? writer_.Make(Op::Neg, {by}) : by, sum->getSourceRange());
}

Lowering::Address Lowering::AddressOfChoice(const clang::ConditionalOperator* choice) {
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
void Lowering::StepPointer(const ObjectPtr& pointer, const clang::UnaryOperator* step) {
  SourceRange range = step->getSourceRange();
  Value by = writer_.builder().I32(step->isIncrementOp() ? 1 : -1);
  Bind(pointer, Moved(AddressIn(pointer, range), by, range), range);
}

/// `p = q`, `p += n`
ObjectPtr Lowering::AssignPointer(const clang::BinaryOperator* assignment) {
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
  if (assignment->getOpcode() == clang::BO_SubAssign) by = writer_.Make(Op::Neg, {by});
  Bind(pointer, Moved(AddressIn(pointer, range), by, range), range);
  return pointer;
}

// ---- Memory

/// `memcpy`, `memmove` and `memset` to 0 of whole elements.
void Lowering::MoveMemory(const clang::CallExpr* call, bool sets) {
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
  Value size = writer_.builder().Int(writer_.TypeOf(bytes), static_cast<int64_t>(BytesOf(to.array->element)));
  std::optional<int64_t> known = function_.IntegerConstant(bytes);
  if (known && *known % static_cast<int64_t>(BytesOf(to.array->element)) != 0)
    Refuse(range, "a part of an element is copied", "copy whole elements");
  Value count = writer_.Make(Op::Div, {bytes, size});
  auto run = [&](ir::Words words) {
    Type type = writer_.TypeOf(count);
    Value k = writer_.OpenFor(writer_.builder().Zero(type), count, writer_.builder().Int(type, 1), words);
    ObjectPtr here = At(Moved(to, k, range), range);
    if (sets) {
      Zero(here, range);
    } else {
      Copy(here, At(Moved(from, k, range), range), range);
    }
    writer_.Close();
  };
  if (sets || !SameArray(to.array, from.array)) return run({});
  // What overlaps is copied from the end that is not written first.
  Value back = writer_.Make(Op::Gt, {writer_.Cast(to.index, ir::kI64), writer_.Cast(from.index, ir::kI64)});
  writer_.If(back, [&] { run({ir::Word::Reversed}); }, [&] { run({}); });
}

// ---- Comparisons

/// Whether two pointers point into one array, as far as their indices compare.
bool Lowering::SameArray(const ObjectPtr& a, const ObjectPtr& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->kind != b->kind || a->members.size() != b->members.size())
    return false;
  auto same = [&](Value one, Value other) { return one == other; };
  auto all = [&](const std::vector<Value>& one, const std::vector<Value>& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), same);
  };
  if (!context_.hasSameUnqualifiedType(a->element, b->element) || (a->of == nullptr) != (b->of == nullptr))
    return false;
  if (a->of != nullptr) return SameArray(a->of, b->of) && same(a->at, b->at);
  if (a->kind == ObjectKind::Buffer) return same(a->base, b->base) && all(a->indices, b->indices);
  return a->members == b->members && all(a->storage.bases, b->storage.bases) &&
         all(a->storage.indices, b->storage.indices) && same(a->storage.flat, b->storage.flat) &&
         a->storage.byte == b->storage.byte;
}

/// Whether they certainly lie in different memory: variables of the kernel, or one of them and a buffer.
bool Lowering::Apart(const Object& a, const Object& b) const {
  auto innermost = [](const Object* object) {
    for (;;) {
      const Object* next = object->of.get();
      if (next == nullptr && !object->members.empty()) next = object->members[0].get();
      if (next == nullptr) return object;
      object = next;
    }
  };
  const Object *one = innermost(&a), *other = innermost(&b);
  auto base = [&](const Object& object) {
    if (!object.storage.bases.empty()) return object.storage.bases[0];
    return object.base;
  };
  bool slots = one->kind == ObjectKind::Slot || other->kind == ObjectKind::Slot;
  if (slots) return one->kind != other->kind || one->slot != other->slot;
  Value first = base(*one), second = base(*other);
  if (!first.Valid() || !second.Valid() || first == second) return false;
  return !writer_.TypeOf(first).IsBuffer() || !writer_.TypeOf(second).IsBuffer();
}

/// `p == q`, `p < q`, `p - q`
Value Lowering::ComparePointers(const clang::BinaryOperator* binary) {
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
    return writer_.builder().Int(ir::kI1, kind == clang::BO_NE);
  }
  Value x = Narrow(a.index), y = Narrow(b.index);
  if (writer_.TypeOf(x) != writer_.TypeOf(y)) x = writer_.Cast(x, ir::kI64), y = writer_.Cast(y, ir::kI64);
  if (kind != clang::BO_Sub) return Arithmetic(kind, x, y, binary);
  Type type = NeedRegister(binary->getType(), range);
  return writer_.Make(Op::Sub, {writer_.Cast(x, type), writer_.Cast(y, type)});
}

}  // namespace adc::frontend
