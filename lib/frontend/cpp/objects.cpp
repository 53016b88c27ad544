// A variable of a class is a tree whose leaves are numbers, vectors and matrices. A leaf is a slot, which
// becomes values, or an element of memory. An array of structs is a local array for each leaf of its element.

#include "frontend/cpp/objects.h"

namespace adc::frontend {

/// A struct has its members, and they know the struct; a pointer may lie in what it points to.
Objects::~Objects() {
  for (const ObjectPtr& part : parts_) {
    part->owner = part->within = part->derived = nullptr;
    if (part->kind == ObjectKind::Pointer) part->of = nullptr;
  }
}

ObjectPtr Objects::NewSlot(Type type, QualType cpp, std::string_view name) {
  auto object = std::make_shared<Object>(ObjectKind::Slot, cpp);
  object->register_type = type;
  object->slot = writer_.NewSlot(type, name);
  return object;
}

ObjectPtr Objects::NewObject(QualType type, std::string_view name, SourceRange range) {
  type = type.getNonReferenceType();
  if (std::optional<Type> leaf = RegisterType(type)) return NewSlot(*leaf, type, name);
  if (type->isAnyPointerType() || type->isMemberPointerType()) return NewPointer(type, range);
  if (std::optional<ArrayType> array = ArrayOf(type)) {
    auto [element, count] = *array;
    ObjectPtr object = NewArray(element, count, type);
    if (type->isAnyComplexType() || (element->isAnyPointerType() && count <= kCopiedElements)) {
      for (uint64_t n = 0; n < count; ++n) object->members.push_back(NewObject(element, name, range));
      return object;
    }
    std::vector<std::pair<Type, uint64_t>> leaves;
    LeafTypes(type, 1, range, &leaves);
    for (auto [leaf, length] : leaves) {
      if (length == 0 || length > (1u << 20))
        Refuse(range, "an array of " + std::to_string(length) + " elements in a kernel", "use a buffer");
      Value base = writer_.Alloca(Type::Array(leaf, static_cast<uint32_t>(length)));
      if (!name.empty()) writer_.Name(base, name);
      if (parallel_.empty()) outside_.insert(base);
      object->storage.bases.push_back(base);
    }
    return object;
  }
  const clang::CXXRecordDecl* record = RecordOf(type);
  if (record == nullptr) NeedRegister(type, range);
  if (BufferOf(type))
    Refuse(range, "a buffer that is no parameter", "pass it as a parameter, or bind a reference to it");
  if (record->isUnion())
    return UnionOf(type, range, [&](QualType number) { return NewSlot(*ScalarOf(number), number, name); });
  auto object = std::make_shared<Object>(ObjectKind::Struct, type);
  for (const Part& member : MembersOf(record, range)) {
    std::string own(name);
    if (!own.empty() && member.field != nullptr) own = member.name.empty() ? "" : own + "." + member.name;
    // References, buffers and closures are bound when they are initialised.
    bool bound = member.type->isReferenceType() || BufferOf(member.type).has_value() ||
                 (record->isLambda() && member.type->isPointerType());
    object->members.push_back(bound ? nullptr : NewObject(member.type, own, range));
  }
  return object;
}

ObjectPtr Objects::NewPointer(QualType type, SourceRange range) {
  QualType to = type.getNonReferenceType()->getPointeeType();
  if (type->isMemberPointerType() || to->isFunctionType())
    Refuse(range, "a kernel has no pointers or references to functions or to members",
           "call it, or pass a lambda to a template");
  if (to->isIncompleteType() && !to->isVoidType())
    Refuse(range, "a kernel has no pointers to '" + Spell(to) + "'", "use a pointer to what it points to");
  auto pointer = std::make_shared<Object>(ObjectKind::Pointer, type.getNonReferenceType());
  pointer->born = Here();
  pointer->slot = writer_.NewSlot(ir::kI64, {});
  parts_.push_back(pointer);
  return pointer;
}

ObjectPtr Objects::LeafIn(const Storage& storage, Type leaf, QualType type) {
  bool word = leaf.IsScalar() && leaf.scalar == TypeOf(storage.bases[0]).scalar;
  auto object =
      std::make_shared<Object>(storage.in_buffer && !word ? ObjectKind::Spread : ObjectKind::Cell, type);
  object->register_type = leaf;
  object->base = storage.bases[0];
  object->byte = storage.byte;
  object->alone = storage.alone;
  object->indices = storage.indices;
  object->indices.push_back(storage.flat.Valid() ? storage.flat : Number(0));
  return object;
}

/// The object of this type in storage.
ObjectPtr Objects::View(QualType type, Storage storage, SourceRange range) {
  if (std::optional<ArrayType> array = ArrayOf(type)) {
    ObjectPtr object = NewArray(array->element, array->count, type);
    object->storage = std::move(storage);
    return object;
  }
  if (std::optional<Type> leaf = RegisterType(type)) return LeafIn(storage, *leaf, type);
  size_t first_base = 0;
  const clang::CXXRecordDecl* record = RecordOf(type);
  if (record->isUnion() && !storage.in_buffer) return UnionIn(storage, type, range);
  auto object = std::make_shared<Object>(ObjectKind::Struct, type);
  std::vector<Part> members = MembersOf(record, range);
  for (const Part& member : members) {
    Storage part = storage;
    if (storage.in_buffer) {
      uint32_t word = WordBytes(storage);
      part = Shifted(storage, member.offset);
      bool whole = static_cast<uint64_t>(context_.getTypeAlignInChars(type).getQuantity()) % word == 0;
      part.alone = storage.alone || whole;
      auto first_word = [&](const Part& of) { return (storage.byte + of.offset) / word; };
      auto end_word = [&](const Part& of) {
        return (storage.byte + of.offset + BytesOf(of.type) + word - 1) / word;
      };
      for (const Part& other : members) {
        const clang::CXXRecordDecl* of = RecordOf(other.type);
        if (&other == &member || (of != nullptr && of->isEmpty())) continue;
        bool apart = end_word(other) <= first_word(member) || end_word(member) <= first_word(other);
        part.alone = part.alone && apart;
      }
    } else {
      std::vector<std::pair<Type, uint64_t>> leaves;
      LeafTypes(member.type, 1, range, &leaves);
      auto first = storage.bases.begin() + static_cast<ptrdiff_t>(first_base);
      part.bases.assign(first, first + static_cast<ptrdiff_t>(leaves.size()));
      first_base += leaves.size();
    }
    object->members.push_back(View(member.type, std::move(part), range));
  }
  return object;
}

// ---- Parts

ObjectPtr Objects::Member(const ObjectPtr& object, const clang::FieldDecl* field, SourceRange range) {
  if (object->kind != ObjectKind::Struct)
    Refuse(range, "'" + field->getNameAsString() + "' of a class that kernels do not see into");
  const auto* record = llvm::cast<clang::CXXRecordDecl>(field->getParent());
  size_t position = record->getNumBases() + field->getFieldIndex();
  ObjectPtr member = position < object->members.size() ? object->members[position] : nullptr;
  if (member == nullptr) Refuse(range, "'" + field->getNameAsString() + "' is read before it is bound");
  bool inside =
      !field->getType()->isReferenceType() && member->kind != ObjectKind::Buffer && !record->isLambda();
  if (inside && member->owner != object) {
    member->owner = object;
    member->offset = LayoutOf(record)[position].offset;
    parts_.push_back(member);
  }
  return member;
}

ObjectPtr Objects::BaseOf(const ObjectPtr& object, const clang::CXXRecordDecl* base, SourceRange range) {
  if (object->kind != ObjectKind::Struct) return object;
  const clang::CXXRecordDecl* record = RecordOf(object->type);
  if (record == RecordOf(Unmarked(context_.getRecordType(base)))) return object;
  size_t position = 0;
  for (const clang::CXXBaseSpecifier& one : record->bases()) {
    const clang::CXXRecordDecl* found = RecordOf(one.getType());
    ObjectPtr part = object->members[position];
    if (part != nullptr && part->derived != object) {
      part->derived = object;
      parts_.push_back(part);
    }
    if (found == base->getDefinition()) return part;
    if (found->isDerivedFrom(base)) return BaseOf(object->members[position], base, range);
    ++position;
  }
  Refuse(range, "a base class that is not found");
}

void Objects::BindMember(const ObjectPtr& owner, size_t n, ObjectPtr place, SourceRange range) {
  ObjectPtr& member = owner->members[n];
  if (member != nullptr && member != place)
    Refuse(range, "a struct whose reference is to one of several objects that is chosen at run time",
           "choose the object first, or hold a value");
  member = std::move(place);
}

/// The object of which this one is a base, where the kernel knows it.
ObjectPtr Objects::DerivedOf(const ObjectPtr& object, const clang::CXXRecordDecl* derived,
                             SourceRange range) {
  ObjectPtr whole = object;
  while (whole != nullptr && RecordOf(whole->type) != derived->getDefinition()) whole = whole->derived;
  if (whole == nullptr)
    Refuse(
        range,
        "a base class is seen as '" + derived->getNameAsString() + "', which it is not known to be part of",
        "pass the derived class, by a template");
  return whole;
}

ObjectPtr Objects::Element(const ObjectPtr& array, Value index, SourceRange range) {
  index = Index(index);
  if (!array->members.empty()) {
    ObjectPtr member = MemberAt(array, index, range);
    if (member->within == nullptr && array->count > 1) {
      member->within = array;
      member->position = index;
      parts_.push_back(member);
    }
    return member;
  }
  if (array->of != nullptr) return FlatElement(array, index, range);
  if (array->kind == ObjectKind::Buffer) {
    std::vector<Value> indices = array->indices;
    indices.push_back(index);
    return BufferElement(array, std::move(indices), range);
  }
  ObjectPtr element = ElementOfStorage(array, index, range);
  element->within = array;
  element->position = index;
  return element;
}

ObjectPtr Objects::ElementOfStorage(const ObjectPtr& array, Value index, SourceRange range) {
  Storage storage = array->storage;
  auto times = [&](Value a, uint64_t n) {
    if (n == 1) return a;
    return Make(Op::Mul, {a, Number(n, TypeOf(a))});
  };
  Value step = index;
  Value first = storage.flat;
  if (storage.in_buffer) {
    uint64_t bytes = BytesOf(array->element), word = WordBytes(storage);
    if (bytes % word != 0) {
      std::optional<int64_t> at = function_.IntegerConstant(index);
      if (!at || *at < 0)
        Refuse(range,
               "an array of '" + Spell(array->element) + "' in a struct of a buffer, at an index of run time",
               "use numbers of " + std::to_string(word) + " bytes, or a buffer of its own");
      storage.alone = storage.alone && array->count == 1;
      return View(array->element, Shifted(std::move(storage), static_cast<uint64_t>(*at) * bytes), range);
    }
    step = times(index, bytes / word);
  } else if (first.Valid()) {
    first = times(first, array->count);
  }
  if (first.Valid()) {
    if (TypeOf(first) != TypeOf(step)) {
      first = writer_.Cast(first, ir::kI64);
      step = writer_.Cast(step, ir::kI64);
    }
    step = Make(Op::Add, {first, step});
  }
  storage.flat = step;
  return View(array->element, std::move(storage), range);
}

ObjectPtr Objects::ComponentOf(const ObjectPtr& object, Value at, QualType type) {
  Type of = object->register_type;
  auto component = std::make_shared<Object>(ObjectKind::Component, type);
  component->register_type = of.IsMat() ? Type::Vec(of.scalar, of.columns) : of.ScalarType();
  component->of = object;
  component->at = Index(at);
  return component;
}

/// A number, seen as one of another type of its size.
ObjectPtr Objects::BitsOf(const ObjectPtr& number, QualType type) {
  Type as = *ScalarOf(type);
  if (number->register_type == as) return number;
  auto bits = std::make_shared<Object>(ObjectKind::Bits, type);
  bits->register_type = as;
  bits->of = number;
  return bits;
}

ObjectPtr Objects::BufferElement(const ObjectPtr& buffer, std::vector<Value> indices, SourceRange range) {
  for (Value& index : indices) index = Index(index);
  ObjectPtr row, cell;
  Value position;
  if (!indices.empty()) {
    row = std::make_shared<Object>(*buffer);
    row->indices.assign(indices.begin(), indices.end() - 1);
    position = indices.back();
  }
  if (buffer->by_words) {
    cell = View(buffer->element, {.bases = {buffer->base}, .indices = std::move(indices), .in_buffer = true},
                range);
  } else {
    cell = std::make_shared<Object>(ObjectKind::Cell, buffer->element);
    cell->register_type = *RegisterType(buffer->element);
    cell->base = buffer->base;
    cell->indices = std::move(indices);
  }
  cell->within = row;
  cell->position = position;
  return cell;
}

uint32_t Objects::WordBytes(const Storage& storage) const {
  return static_cast<uint32_t>(ir::ByteSize(TypeOf(storage.bases[0]).scalar));
}

/// The place `bytes` further in the struct.
Storage Objects::Shifted(Storage storage, uint64_t bytes) {
  uint32_t word = WordBytes(storage);
  bytes += storage.byte;
  storage.byte = static_cast<uint32_t>(bytes % word);
  if (bytes < word) return storage;
  Value more = Number(bytes / word);
  storage.flat =
      storage.flat.Valid() ? Make(Op::Add, {storage.flat, Convert(more, TypeOf(storage.flat))}) : more;
  return storage;
}

/// The words of a buffer of structs from one on.
Storage Objects::WordsFrom(const Object& word) {
  std::vector<Value> row(word.indices.begin(), word.indices.end() - 1);
  return {.bases = {word.base}, .indices = std::move(row), .flat = word.indices.back(), .in_buffer = true};
}

/// A number of a vector or matrix in a buffer of structs.
ObjectPtr Objects::SpreadPart(const Object& spread, uint32_t component) {
  Storage storage = WordsFrom(spread);
  storage.byte = spread.byte;
  Type scalar = spread.register_type.ScalarType();
  auto bytes = static_cast<uint32_t>(ir::ByteSize(scalar.scalar));
  storage.alone = spread.alone && bytes % WordBytes(storage) == 0;
  storage = Shifted(std::move(storage), uint64_t{component} * bytes);
  return LeafIn(storage, scalar, spread.type);
}

/// A reference to one of two objects, as a condition that is known when it is bound says. Null where they
/// have arrays in memory, whose elements no leaf stands for.
ObjectPtr Objects::ChoiceOf(Value condition, const ObjectPtr& yes, const ObjectPtr& no) {
  if (yes == no) return yes;
  if (yes == nullptr || no == nullptr) return nullptr;
  bool parts = yes->kind == ObjectKind::Struct || (yes->kind == ObjectKind::Array && !yes->members.empty());
  if (!parts && !(IsLeaf(*yes) && IsLeaf(*no))) return nullptr;
  auto choice = std::make_shared<Object>(parts ? yes->kind : ObjectKind::Choice, yes->type);
  if (parts) {
    choice->element = yes->element;
    choice->count = yes->count;
    if (yes->members.size() != no->members.size()) return nullptr;
    for (size_t n = 0; n < yes->members.size(); ++n) {
      choice->members.push_back(ChoiceOf(condition, yes->members[n], no->members[n]));
      if (choice->members.back() == nullptr) return nullptr;
    }
    return choice;
  }
  choice->register_type = yes->register_type;
  choice->at = condition;
  choice->of = yes;
  choice->members = {no};
  return choice;
}

// ---- What lies one after another

/// The element of a struct that is `array->element` times a number, as reinterpret_cast sees it.
ObjectPtr Objects::FlatElement(const ObjectPtr& array, Value index, SourceRange range) {
  if (!ScalarOf(array->element)) return GroupedElement(array, index, range);
  const ObjectPtr& of = array->of;
  if (HaveSameBits(of->element, array->element)) return BitsOf(Element(of, index, range), array->element);
  uint64_t each = *CountOf(of->element, array->element);
  Value at = Number(0), rest = Narrow(index);
  if (of->kind != ObjectKind::Array || of->count != 1) {
    Value number = Number(each, TypeOf(rest));
    at = Make(Op::Div, {rest, number});
    rest = Make(Op::Rem, {rest, number});
  }
  ObjectPtr object = Element(of, at, range);
  if (object->register_type.IsVec()) return ComponentOf(object, rest, array->element);
  if (object->register_type.IsMat()) {
    Value columns = writer_.Int(TypeOf(rest), object->register_type.columns);
    ObjectPtr row = ComponentOf(object, Make(Op::Div, {rest, columns}), array->element);
    return ComponentOf(row, Make(Op::Rem, {rest, columns}), array->element);
  }
  std::vector<ObjectPtr> leaves;
  EachLeaf(object, range, [&](const ObjectPtr& leaf) {
    if (leaf->register_type.IsScalar()) return leaves.push_back(leaf);
    ObjectPtr numbers = FlatArray(Alone(leaf), array->element);
    for (uint32_t n = 0; n < leaf->register_type.Components(); ++n)
      leaves.push_back(Element(numbers, Number(n), range));
  });
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

void Objects::EachLeaf(const ObjectPtr& object, SourceRange range,
                       const std::function<void(const ObjectPtr&)>& visit) {
  if (object->kind == ObjectKind::Struct) {
    for (const ObjectPtr& member : PartsOf(*object, range)) EachLeaf(member, range, visit);
  } else if (object->kind == ObjectKind::Array) {
    for (uint64_t n = 0; n < object->count; ++n) EachLeaf(Element(object, Number(n), range), range, visit);
  } else {
    visit(object);
  }
}

/// An array whose only element is the object.
ObjectPtr Objects::Alone(const ObjectPtr& object) {
  ObjectPtr array = NewArray(object->type, 1);
  array->members = {object};
  return array;
}

/// The numbers that the elements of an array consist of.
ObjectPtr Objects::FlatArray(const ObjectPtr& of, QualType number) {
  ObjectPtr flat = NewArray(number, 0);
  flat->of = of;
  return flat;
}

/// Objects that lie one after another, as an array.
ObjectPtr Objects::RunOf(std::vector<ObjectPtr> members, QualType element) {
  ObjectPtr run = NewArray(element, members.size());
  const Object& first = *members[0];
  // Words of a buffer of structs.
  if (first.kind == ObjectKind::Cell && TypeOf(first.base).IsBuffer() && first.within == nullptr &&
      !first.indices.empty()) {
    run->storage = WordsFrom(first);
  } else {
    run->members = std::move(members);
  }
  return run;
}

/// One of the objects of a run, which an index chooses.
ObjectPtr Objects::MemberAt(const ObjectPtr& run, Value index, SourceRange range) {
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
    Value bound = Number(middle, TypeOf(index));
    ObjectPtr left = among(first, middle), right = among(middle, end);
    if (left == nullptr || right == nullptr) return nullptr;
    return ChoiceOf(Make(Op::Lt, {index, bound}), left, right);
  };
  ObjectPtr chosen = among(0, run->count);
  if (chosen == nullptr)
    Refuse(range, "one of several objects with arrays or pointers that is chosen at run time",
           "use indices that are constants");
  return chosen;
}

}  // namespace adc::frontend
