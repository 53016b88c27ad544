// Unions whose members are the same numbers under other names. Such a union is its numbers, each once, and
// the members are made of them:
//
//   union Vec3 { struct { float x, y, z; }; float v[3]; };    v[1] is y
//
// Where numbers of different types and one size lie in one place, the union has one of them, a float if there
// is one, and the others are its bits. What passes through bits has no derivative.

#include <clang/AST/RecordLayout.h>

#include "diag/errors/cpp.h"
#include "frontend/cpp/lowering.h"
#include "support/check.h"

namespace adc::frontend {

using clang::QualType;
using clang::SourceRange;
using ir::Op;
using ir::Value;

namespace {

constexpr size_t kMostNumbers = 64;

std::vector<uint64_t> OffsetsOf(const clang::ASTContext& context, const clang::CXXRecordDecl* record) {
  ADC_CHECK(record != nullptr, "numbers, arrays and classes lie in a union");
  const clang::ASTRecordLayout& layout = context.getASTRecordLayout(record);
  std::vector<uint64_t> offsets;
  for (const clang::CXXBaseSpecifier& base : record->bases()) {
    const auto* of = llvm::cast<clang::CXXRecordDecl>(base.getType()->castAs<clang::RecordType>()->getDecl());
    offsets.push_back(static_cast<uint64_t>(layout.getBaseClassOffset(of).getQuantity()));
  }
  for (const clang::FieldDecl* field : record->fields())
    offsets.push_back(layout.getFieldOffset(field->getFieldIndex()) / 8);
  return offsets;
}

}  // namespace

/// The numbers of a union, or of what lies in one, by their place in bytes.
void Lowering::NumbersOf(QualType type, uint64_t offset, SourceRange range,
                         std::map<uint64_t, QualType>* numbers) {
  const char* help = "use std::bit_cast, or a struct";
  QualType element;
  uint64_t count = 0;
  if (ArrayOf(type, &element, &count)) {
    if (count > kMostNumbers)
      Refuse(range, "a union with an array of " + std::to_string(count) + " elements", help);
    for (uint64_t n = 0; n < count; ++n) NumbersOf(element, offset + n * BytesOf(element), range, numbers);
    return;
  }
  if (RegisterType(type)) {
    if (!ScalarOf(type))
      Refuse(range, "'" + Spell(type) + "' under another name",
             "kernels have numbers, structs and arrays under several names");
    auto [known, fresh] = numbers->emplace(offset, type.getUnqualifiedType());
    bool differs = ScalarOf(known->second) != ScalarOf(type);
    if (differs && HaveSameBits(known->second, type)) {
      differs = false;
      if (ScalarOf(type)->IsFloat()) known->second = type.getUnqualifiedType();
    }
    if (known != numbers->begin()) {
      auto before = std::prev(known);
      differs = differs || before->first + BytesOf(before->second) > offset;
    }
    auto after = std::next(known);
    if (after != numbers->end()) differs = differs || offset + BytesOf(type) > after->first;
    if (differs) Refuse(range, "a union whose members are numbers of different sizes", help);
    return;
  }
  const clang::CXXRecordDecl* record = RecordOf(type);
  if (record == nullptr || BufferOf(type)) NeedRegister(type, range);
  std::vector<QualType> members = MembersOf(record, range);
  std::vector<uint64_t> offsets = OffsetsOf(context_, record);
  for (size_t n = 0; n < members.size(); ++n) NumbersOf(members[n], offset + offsets[n], range, numbers);
}

/// What lies there, made of the numbers.
ObjectPtr Lowering::Overlay(QualType type, uint64_t offset, const std::map<uint64_t, ObjectPtr>& numbers) {
  if (RegisterType(type)) return BitsOf(numbers.at(offset), type);
  auto object = std::make_shared<Object>();
  object->type = type;
  if (ArrayOf(type, &object->element, &object->count)) {
    object->kind = ObjectKind::Array;
    for (uint64_t n = 0; n < object->count; ++n)
      object->members.push_back(Overlay(object->element, offset + n * BytesOf(object->element), numbers));
    return object;
  }
  object->kind = ObjectKind::Struct;
  const clang::CXXRecordDecl* record = RecordOf(type);
  std::vector<uint64_t> offsets = OffsetsOf(context_, record);
  for (const clang::CXXBaseSpecifier& base : record->bases())
    object->members.push_back(Overlay(base.getType(), offset + offsets[object->members.size()], numbers));
  for (const clang::FieldDecl* field : record->fields())
    object->members.push_back(Overlay(field->getType(), offset + offsets[object->members.size()], numbers));
  return object;
}

/// Whether they are numbers of one size, whose bits may be read as the other's.
bool Lowering::HaveSameBits(QualType a, QualType b) const {
  std::optional<ir::Type> one = ScalarOf(a), other = ScalarOf(b);
  return one && other && *one != *other && !one->IsBool() && !other->IsBool() && BytesOf(a) == BytesOf(b);
}

/// The numbers of an object that stands for all of a union, by their place.
void Lowering::NumbersIn(const ObjectPtr& object, uint64_t offset, SourceRange range,
                         std::map<uint64_t, ObjectPtr>* numbers) {
  if (object->kind == ObjectKind::Array) {
    for (uint64_t n = 0; n < object->count; ++n)
      NumbersIn(Element(object, writer_.builder().I32(static_cast<int32_t>(n)), range),
                offset + n * BytesOf(object->element), range, numbers);
  } else if (object->kind == ObjectKind::Struct) {
    std::vector<uint64_t> offsets = OffsetsOf(context_, RecordOf(object->type));
    for (size_t n = 0; n < offsets.size(); ++n)
      NumbersIn(object->members[n], offset + offsets[n], range, numbers);
  } else {
    numbers->emplace(offset, object);
  }
}

/// The first number in what has numbers alone; a null type where there is none.
QualType Lowering::NumberIn(QualType type) const {
  QualType element;
  uint64_t count = 0;
  if (ScalarOf(type)) return type.getCanonicalType().getUnqualifiedType();
  if (ArrayOf(type, &element, &count)) return NumberIn(element);
  const clang::CXXRecordDecl* record = RecordOf(type);
  if (record == nullptr || RegisterType(type) || record->field_empty()) return {};
  return NumberIn(record->field_begin()->getType());
}

/// What the address is of, seen as objects of another type.
Lowering::Address Lowering::SeenAs(const Address& address, QualType type, SourceRange range) {
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
  if (!context_.hasSameUnqualifiedType(from, number))
    flat = InParts(address, number, writer_.builder().I32(0));
  if (ScalarOf(type)) return flat;
  std::map<uint64_t, QualType> numbers;
  NumbersOf(type, 0, range, &numbers);
  ObjectPtr grouped = FlatArray(flat.array, type);
  grouped->at = flat.index;
  return {grouped, writer_.builder().I32(0)};
}

ObjectPtr Lowering::GroupedElement(const ObjectPtr& array, Value index, SourceRange range) {
  std::map<uint64_t, QualType> types;
  NumbersOf(array->element, 0, range, &types);
  bool wide = InBuffer(*array);
  Value each = writer_.builder().Int(writer_.TypeOf(index), static_cast<int64_t>(types.size()));
  Value first = Further(array->at, writer_.Make(Op::Mul, {index, each}), wide);
  std::map<uint64_t, ObjectPtr> numbers;
  for (auto [offset, number] : types) {
    Value at = writer_.builder().I32(static_cast<int32_t>(numbers.size()));
    numbers[offset] = Element(array->of, Further(first, at, wide), range);
  }
  return Overlay(array->element, 0, numbers);
}

/// A union of the numbers that `make` gives, in the order in which they lie.
ObjectPtr Lowering::UnionOf(QualType type, SourceRange range,
                            const std::function<ObjectPtr(QualType number)>& make) {
  std::map<uint64_t, QualType> types;
  NumbersOf(type, 0, range, &types);
  std::map<uint64_t, ObjectPtr> numbers;
  for (auto [offset, number] : types) numbers[offset] = make(number);
  return Overlay(type, 0, numbers);
}

/// A union that is an element of a local array: of one array for each of its numbers.
ObjectPtr Lowering::UnionIn(const Storage& storage, QualType type, SourceRange range) {
  auto base = storage.bases.begin();
  return UnionOf(type, range, [&](QualType number) {
    Storage part;
    part.bases = {*base++};
    part.flat = storage.flat;
    return View(number, std::move(part), range);
  });
}

/// The members of an object that have all that it has: of a union one alone, where one has all its numbers.
std::vector<ObjectPtr> Lowering::PartsOf(const Object& object, SourceRange range) {
  const clang::CXXRecordDecl* record = RecordOf(object.type);
  if (record == nullptr || !record->isUnion() || record->field_empty()) return object.members;
  return {object.members[WholeField(record, range)]};
}

/// The field of a union that has all its numbers, a struct rather than an array.
size_t Lowering::WholeField(const clang::CXXRecordDecl* record, SourceRange range) {
  std::map<uint64_t, QualType> all;
  NumbersOf(context_.getRecordType(record), 0, range, &all);
  std::optional<size_t> whole;
  bool array = false;
  for (const clang::FieldDecl* field : record->fields()) {
    std::map<uint64_t, QualType> own;
    NumbersOf(field->getType(), 0, range, &own);
    bool is_array = context_.getAsArrayType(field->getType()) != nullptr;
    bool same = std::equal(own.begin(), own.end(), all.begin(), all.end(), [&](auto& one, auto& other) {
      return one.first == other.first && ScalarOf(one.second) == ScalarOf(other.second);
    });
    if (!same || (whole && (!array || is_array))) continue;
    whole = field->getFieldIndex();
    array = is_array;
  }
  if (!whole)
    Refuse(range, "a union without a member that has all of its numbers", "give it an array of them");
  return *whole;
}

}  // namespace adc::frontend
