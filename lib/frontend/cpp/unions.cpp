// Unions whose members are the same numbers under other names. Such a union is its numbers, each once, and
// the members are made of them:
//
//   union Vec3 { struct { float x, y, z; }; float v[3]; };    v[1] is y
//
// Where numbers of different types and one size lie in one place, the union has one of them, a float if there
// is one, and the others are its bits. Numbers that pass through bits have no derivative.

#include "frontend/cpp/objects.h"

namespace adc::frontend {

/// The object that lies there, made of the numbers.
ObjectPtr Objects::Overlay(QualType type, uint64_t offset, const std::map<uint64_t, ObjectPtr>& numbers) {
  if (RegisterType(type)) return BitsOf(numbers.at(offset), type);
  if (std::optional<ArrayType> array = ArrayOf(type)) {
    ObjectPtr object = NewArray(array->element, array->count, type);
    for (uint64_t n = 0; n < object->count; ++n)
      object->members.push_back(Overlay(object->element, offset + n * BytesOf(object->element), numbers));
    return object;
  }
  auto object = std::make_shared<Object>(ObjectKind::Struct, type);
  for (const Part& member : LayoutOf(RecordOf(type)))
    object->members.push_back(Overlay(member.type, offset + member.offset, numbers));
  return object;
}

/// The numbers of an object that stands for all of a union, by their place.
void Objects::NumbersIn(const ObjectPtr& object, uint64_t offset, SourceRange range,
                        std::map<uint64_t, ObjectPtr>* numbers) {
  if (object->kind == ObjectKind::Array) {
    for (uint64_t n = 0; n < object->count; ++n)
      NumbersIn(Element(object, Number(n), range), offset + n * BytesOf(object->element), range, numbers);
  } else if (object->kind == ObjectKind::Struct) {
    std::vector<Part> members = LayoutOf(RecordOf(object->type));
    for (size_t n = 0; n < members.size(); ++n)
      NumbersIn(object->members[n], offset + members[n].offset, range, numbers);
  } else {
    numbers->emplace(offset, object);
  }
}

ObjectPtr Objects::GroupedElement(const ObjectPtr& array, Value index, SourceRange range) {
  std::map<uint64_t, QualType> types;
  NumbersOf(array->element, 0, range, &types);
  bool wide = InBuffer(*array);
  Value each = Number(types.size(), TypeOf(index));
  Value first = Further(array->at, Make(Op::Mul, {index, each}), wide);
  uint64_t n = 0;
  return UnionOf(array->element, range,
                 [&](QualType) { return Element(array->of, Further(first, Number(n++), wide), range); });
}

/// A union of the numbers that `make` gives, in the order in which they lie.
ObjectPtr Objects::UnionOf(QualType type, SourceRange range,
                           const std::function<ObjectPtr(QualType number)>& make) {
  std::map<uint64_t, QualType> types;
  NumbersOf(type, 0, range, &types);
  std::map<uint64_t, ObjectPtr> numbers;
  for (auto [offset, number] : types) numbers[offset] = make(number);
  return Overlay(type, 0, numbers);
}

/// A union that is an element of a local array: of one array for each of its numbers.
ObjectPtr Objects::UnionIn(const Storage& storage, QualType type, SourceRange range) {
  auto base = storage.bases.begin();
  return UnionOf(type, range, [&](QualType number) {
    return View(number, {.bases = {*base++}, .flat = storage.flat}, range);
  });
}

/// The members of an object that have all that it has: of a union one alone, where one has all its numbers.
std::vector<ObjectPtr> Objects::PartsOf(const Object& object, SourceRange range) {
  const clang::CXXRecordDecl* record = RecordOf(object.type);
  if (record == nullptr || !record->isUnion() || record->field_empty()) return object.members;
  return {object.members[WholeField(record, range)]};
}

}  // namespace adc::frontend
