// Pointers. One is an object whose elements lie one after another, which is known where the pointer is used,
// and an index, which is an ordinary value:
//
//   const double* p = a + 2;      the local array a, 2
//   p[i], *p++                    a[2 + i]; a[2], and the index becomes 3
//   &b(i, 0)                      the row i of the buffer b, 0
//   &v.x                          x and what follows it in the struct v, 0
//
// Addresses that would have to be looked up at run time are refused: a pointer in memory, or one to either of
// two arrays.

#include "frontend/cpp/addresses.h"

namespace adc::frontend {

/// The object's address: in the array that it is an element of, or its own.
Address Addresses::AddressOfObject(const ObjectPtr& object, SourceRange range) {
  if (object->owner != nullptr) return AddressInOwner(object, range);
  if (object->within != nullptr) return Whole({object->within, object->position});
  Value zero = Number(0);
  if (object->kind == ObjectKind::Component) {
    const Object& of = *object->of;
    if (of.register_type.IsMat()) Refuse(range, "a pointer to a row of a matrix", "use its elements");
    if (of.kind == ObjectKind::Component) {
      // An element of a matrix: its place in the whole.
      Address outer = AddressOfObject(of.of, range);
      Value row = Narrow(of.at);
      Value columns = writer_.Int(TypeOf(row), of.of->register_type.columns);
      return InParts(outer, object->type, Further(Make(Op::Mul, {row, columns}), object->at, false));
    }
    return InParts(AddressOfObject(object->of, range), object->type, object->at);
  }
  return {Alone(object), zero};
}

/// `part`, of what the address is of, in numbers.
Address Addresses::InParts(const Address& outer, QualType number, Value part) {
  std::optional<uint64_t> each = CountOf(outer.array->element, number);
  ObjectPtr flat = FlatArray(outer.array, number);
  if (outer.array->kind == ObjectKind::Array) flat->count = outer.array->count * *each;
  bool wide = InBuffer(*outer.array);
  Value at = Narrow(outer.index);
  if (wide && !function_.IsConstant(at)) at = writer_.Cast(at, ir::kI64);
  Value number_of = Number(*each, TypeOf(at));
  return {flat, Further(Make(Op::Mul, {at, number_of}), part, wide)};
}

/// A row of a local array, as a place in the whole of it.
Address Addresses::Whole(Address address) {
  const Object& row = *address.array;
  if (row.kind != ObjectKind::Array || row.storage.in_buffer || !row.storage.flat.Valid()) return address;
  auto whole = std::make_shared<Object>(row);
  whole->storage.flat = {};
  whole->within = whole->owner = nullptr;
  Value first = Narrow(row.storage.flat);
  Value count = Number(row.count, TypeOf(first));
  return {whole, Further(Make(Op::Mul, {first, count}), address.index, false)};
}

/// A member's address: in the numbers that its struct consists of, or among the members beside it that are of
/// its type.
Address Addresses::AddressInOwner(const ObjectPtr& object, SourceRange range) {
  const Object& owner = *object->owner;
  QualType type = object->type;
  if (CountOf(owner.type, type)) {
    uint64_t bytes = object->offset;
    ObjectPtr whole = object->owner;
    for (; whole->owner != nullptr && CountOf(whole->owner->type, type); whole = whole->owner)
      bytes += whole->offset;
    return InParts(AddressOfObject(whole, range), type, Number(bytes / BytesOf(type)));
  }
  std::vector<Part> members = LayoutOf(RecordOf(owner.type));
  std::vector<ObjectPtr> run;
  size_t position = 0;
  uint64_t end = 0;
  bool met = false;
  for (size_t n = 0; n < members.size(); ++n) {
    uint64_t offset = members[n].offset;
    bool alike = members[n].field != nullptr && context_.hasSameUnqualifiedType(members[n].type, type);
    if (!alike || offset != end) {
      if (met) break;
      run.clear();
    }
    if (alike && offset == object->offset) {
      met = true;
      position = run.size();
    }
    end = offset + BytesOf(members[n].type);
    if (alike) run.push_back(owner.members[n]);
  }
  return {RunOf(std::move(run), type), Number(position)};
}

Address Addresses::Moved(Address from, Value by, SourceRange range) {
  if (from.array == nullptr) Refuse(range, "arithmetic on a null pointer");
  from.index = Further(from.index, by, InBuffer(*from.array));
  from.may_be_null = false;
  return from;
}

ObjectPtr Addresses::At(const Address& address, SourceRange range) {
  if (address.array == nullptr) Refuse(range, "what a null pointer points to is used");
  return Element(address.array, Narrow(address.index), range);
}

/// The target of the address, seen as objects of another type.
Address Addresses::SeenAs(const Address& address, QualType type, SourceRange range) {
  if (address.array == nullptr || context_.hasSameUnqualifiedType(address.array->element, type))
    return address;
  QualType number = NumberIn(type), from = address.array->element;
  if (HaveSameBits(from, type)) {
    ObjectPtr bits = FlatArray(address.array, type);
    bits->count = address.array->count;
    return {bits, address.index};
  }
  if (number.isNull() || !CountOf(type, number) || !CountOf(from, number))
    Refuse(range, "'" + Spell(from) + "' is seen as '" + Spell(type) + "'",
           "use std::bit_cast; what consists of one type of number alone may be seen as others that do");
  Address flat = address;
  if (!context_.hasSameUnqualifiedType(from, number)) flat = InParts(address, number, Number(0));
  if (ScalarOf(type)) return flat;
  std::map<uint64_t, QualType> numbers;
  NumbersOf(type, 0, range, &numbers);
  ObjectPtr grouped = FlatArray(flat.array, type);
  grouped->at = flat.index;
  return {grouped, Number(0)};
}

// ---- Pointers as objects

ObjectPtr Addresses::PointerTo(QualType type, const Address& address, SourceRange range,
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
bool Addresses::IsMoved(const clang::VarDecl* variable) {
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
bool Addresses::Outlives(const Object& object, const Born& other) const {
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
void Addresses::Bind(const ObjectPtr& pointer, const Address& address, SourceRange range) {
  bool same = pointer->bound && SameArray(pointer->of, address.array);
  bool elsewhere = writer_.Depth() != pointer->born.depth || writer_.MayHaveLeft(pointer->born.scopes);
  // Null or into one array, as the index says. Questions that a loop asked before do not know of the null.
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
  Type type = TypeOf(writer_.Get(pointer->slot));
  bool long_one = address.array != nullptr && InBuffer(*address.array);
  if (long_one && type == ir::kI32) Refuse(range, kChosen, kChosenHelp);
  pointer->may_be_null = may_be_null || (pointer->may_be_null && (same || elsewhere));
  if (!same && (!joins || address.array != nullptr)) pointer->of = address.array;
  pointer->bound = true;
  writer_.Set(pointer->slot, writer_.Cast(address.index, type));
}

Address Addresses::AddressIn(const ObjectPtr& pointer, SourceRange range) {
  if (pointer->kind != ObjectKind::Pointer) Refuse(range, "a kernel knows no pointer like this");
  if (!pointer->bound) Refuse(range, "a pointer is read before it points to anything");
  return {pointer->of, pointer->at.Valid() ? pointer->at : writer_.Get(pointer->slot), pointer->may_be_null};
}

/// An address that a cast takes along, which a null would not survive.
Address Addresses::Certain(const Address& address, SourceRange range) {
  if (address.may_be_null)
    Refuse(range, "a pointer that may be null is seen as one to another type",
           "compare it with nullptr before");
  return address;
}

Value Addresses::IsNull(const Address& address) {
  if (address.array == nullptr || !address.may_be_null) return writer_.Int(ir::kI1, address.array == nullptr);
  return Make(Op::Eq, {address.index, writer_.Int(TypeOf(address.index), kNullIndex)});
}

// ---- Comparisons

/// Whether two pointers point into one array, as far as their indices compare.
bool Addresses::SameArray(const ObjectPtr& a, const ObjectPtr& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->kind != b->kind || a->members.size() != b->members.size())
    return false;
  if (!context_.hasSameUnqualifiedType(a->element, b->element) || (a->of == nullptr) != (b->of == nullptr))
    return false;
  if (a->of != nullptr) return SameArray(a->of, b->of) && a->at == b->at;
  if (a->kind == ObjectKind::Buffer) return a->base == b->base && a->indices == b->indices;
  return a->members == b->members && a->storage.bases == b->storage.bases &&
         a->storage.indices == b->storage.indices && a->storage.flat == b->storage.flat &&
         a->storage.byte == b->storage.byte;
}

/// Whether they certainly lie in different memory: variables of the kernel, or one of them and a buffer.
bool Addresses::Apart(const Object& a, const Object& b) const {
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
  return !TypeOf(first).IsBuffer() || !TypeOf(second).IsBuffer();
}

}  // namespace adc::frontend
