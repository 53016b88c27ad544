// Objects: what names stand for, and how they are read and written.
//
// A variable of a class is a tree whose leaves are numbers, vectors and matrices. A leaf is a slot, which
// becomes values, or an element of memory. An array of structs is a local array for each leaf of its element.

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecordLayout.h>

#include "diag/errors/cpp.h"
#include "frontend/cpp/lowering.h"
#include "ir/param_words.h"

namespace adc::frontend {

using clang::QualType;
using clang::SourceRange;
using ir::Op;
using ir::Scalar;
using ir::Type;
using ir::Value;

bool InNamespace(const clang::Decl* declaration, llvm::StringRef name) {
  const clang::DeclContext* context = declaration->getDeclContext()->getEnclosingNamespaceContext();
  while (context != nullptr && context->isNamespace()) {
    const auto* space = llvm::cast<clang::NamespaceDecl>(context);
    const clang::DeclContext* parent = space->getParent();
    if (space->getName() == name && parent->getRedeclContext()->isTranslationUnit()) return true;
    context = parent;
  }
  return false;
}

const clang::ClassTemplateSpecializationDecl* ContractTemplate(QualType type, llvm::StringRef name) {
  const auto* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  const auto* made = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  if (made == nullptr || made->getName() != name || !InNamespace(made, "adc")) return nullptr;
  return made;
}

namespace {

/// Elements of an array that are copied one by one; longer ones in a loop.
constexpr uint64_t kCopiedElements = 64;

QualType TypeArgument(const clang::ClassTemplateSpecializationDecl* made, unsigned n) {
  return made->getTemplateArgs()[n].getAsType();
}

uint32_t NumberArgument(const clang::ClassTemplateSpecializationDecl* made, unsigned n) {
  return static_cast<uint32_t>(made->getTemplateArgs()[n].getAsIntegral().getExtValue());
}

/// Whether the end of an object does anything.
bool DestructorRuns(const clang::CXXRecordDecl* record) {
  if (record == nullptr || record->hasTrivialDestructor()) return false;
  const clang::CXXDestructorDecl* destructor = record->getDestructor();
  if (destructor != nullptr && destructor->isUserProvided()) {
    const auto* body = llvm::dyn_cast_or_null<clang::CompoundStmt>(destructor->getBody());
    if (body == nullptr || !body->body_empty()) return true;
  }
  auto runs = [](clang::QualType type) {
    return DestructorRuns(type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl());
  };
  return std::any_of(record->bases_begin(), record->bases_end(),
                     [&](auto& base) { return runs(base.getType()); }) ||
         std::any_of(record->field_begin(), record->field_end(),
                     [&](auto* field) { return runs(field->getType()); });
}

}  // namespace

std::string Lowering::Spell(QualType type) const {
  return type.getUnqualifiedType().getAsString(context_.getPrintingPolicy());
}

// ---- Types

std::optional<Type> Lowering::ScalarOf(QualType type) const {
  type = type.getCanonicalType().getUnqualifiedType();
  if (const auto* enumeration = type->getAs<clang::EnumType>())
    return ScalarOf(enumeration->getDecl()->getIntegerType());
  if (type->isBooleanType()) return ir::kI1;
  if (type->isSpecificBuiltinType(clang::BuiltinType::Float)) return ir::kF32;
  if (type->isSpecificBuiltinType(clang::BuiltinType::Double)) return ir::kF64;
  if (!type->isIntegerType() || type->isBitIntType()) return std::nullopt;
  bool is_signed = type->isSignedIntegerType();
  switch (context_.getTypeSize(type)) {
    case 8:
      return Type::Of(is_signed ? Scalar::I8 : Scalar::U8);
    case 16:
      return Type::Of(is_signed ? Scalar::I16 : Scalar::U16);
    case 32:
      return Type::Of(is_signed ? Scalar::I32 : Scalar::U32);
    case 64:
      return Type::Of(is_signed ? Scalar::I64 : Scalar::U64);
    default:
      return std::nullopt;
  }
}

QualType Lowering::Unmarked(QualType type, ir::ParamInfo* marks) const {
  for (;;) {
    type = type.getNonReferenceType();
    const clang::ClassTemplateSpecializationDecl* made = ContractTemplate(type, "marked");
    for (size_t n = 0; made == nullptr && n < ir::kParamWords.size(); ++n) {
      made = ContractTemplate(type, ir::kParamWords[n].text);
      if (made != nullptr && marks != nullptr) marks->*ir::kParamWords[n].flag = true;
    }
    if (made == nullptr) return type;
    type = TypeArgument(made, 0);
  }
}

std::optional<Type> Lowering::RegisterType(QualType type) const {
  type = Unmarked(type);
  if (std::optional<Type> scalar = ScalarOf(type)) return scalar;
  if (const auto* made = ContractTemplate(type, "vec")) {
    std::optional<Type> scalar = ScalarOf(TypeArgument(made, 0));
    uint32_t n = NumberArgument(made, 1);
    if (!scalar || n < 2 || n > ir::kMaxVector) return std::nullopt;
    return Type::Vec(scalar->scalar, n);
  }
  if (const auto* made = ContractTemplate(type, "mat")) {
    std::optional<Type> scalar = ScalarOf(TypeArgument(made, 0));
    uint32_t r = NumberArgument(made, 1), c = NumberArgument(made, 2);
    if (!scalar || r < 2 || c < 2 || r > ir::kMaxVector || c > ir::kMaxVector) return std::nullopt;
    return Type::Mat(scalar->scalar, r, c);
  }
  return std::nullopt;
}

Type Lowering::NeedRegister(QualType type, SourceRange range) {
  if (std::optional<Type> found = RegisterType(type)) return *found;
  std::string help;
  if (type->isSpecificBuiltinType(clang::BuiltinType::LongDouble)) help = "use double";
  if (type->isAnyPointerType()) help = "use an index into an array or an adc::buffer";
  if (type->isVectorType()) help = "turn the SIMD of the header off, by the define that it has for that";
  Refuse(range, "a kernel has no values of type '" + Spell(type) + "'", help);
}

std::optional<Lowering::BufferType> Lowering::BufferOf(QualType type) const {
  const auto* made = ContractTemplate(Unmarked(type), "buffer");
  if (made == nullptr) return std::nullopt;
  return BufferType{TypeArgument(made, 0), NumberArgument(made, 1)};
}

const clang::CXXRecordDecl* Lowering::RecordOf(QualType type) const {
  const auto* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record == nullptr ? nullptr : record->getDefinition();
}

bool Lowering::ArrayOf(QualType type, QualType* element, uint64_t* count) const {
  if (const auto* complex = type.getNonReferenceType()->getAs<clang::ComplexType>()) {
    *element = complex->getElementType();
    *count = 2;
    return true;
  }
  const auto* array = context_.getAsConstantArrayType(type.getNonReferenceType());
  if (array == nullptr) return false;
  *element = array->getElementType();
  *count = array->getSize().getZExtValue();
  return true;
}

/// Types of bases, then of fields.
std::vector<QualType> Lowering::MembersOf(const clang::CXXRecordDecl* record, SourceRange range) {
  std::string name = "'" + record->getNameAsString() + "'";
  if (record->isPolymorphic() || record->getNumVBases() != 0)
    Refuse(range, name + " has virtual functions or bases", "use a template, or an enumeration and a switch");
  if (DestructorRuns(record))
    Refuse(range, name + " has a destructor that runs code", "leave it out of the kernel");
  std::vector<QualType> members;
  for (const clang::CXXBaseSpecifier& base : record->bases()) members.push_back(base.getType());
  for (const clang::FieldDecl* field : record->fields()) {
    if (field->isBitField())
      Refuse(range, name + " has a bit-field, '" + field->getNameAsString() + "'", "use shifts and masks");
    members.push_back(field->getType());
  }
  return members;
}

void Lowering::LeafTypes(QualType type, uint64_t count, SourceRange range,
                         std::vector<std::pair<Type, uint64_t>>* leaves) {
  QualType element;
  uint64_t inner = 0;
  if (ArrayOf(type, &element, &inner)) return LeafTypes(element, count * inner, range, leaves);
  const clang::CXXRecordDecl* record = RecordOf(type);
  if (record == nullptr || RegisterType(type)) {
    leaves->emplace_back(NeedRegister(type, range), count);
    return;
  }
  if (record->isUnion()) {
    std::map<uint64_t, QualType> numbers;
    NumbersOf(type, 0, range, &numbers);
    for (auto [offset, number] : numbers) leaves->emplace_back(*ScalarOf(number), count);
    return;
  }
  for (QualType member : MembersOf(record, range)) LeafTypes(member, count, range, leaves);
}

// ---- Objects

ObjectPtr Lowering::NewSlot(Type type, QualType cpp, std::string_view name) {
  auto object = std::make_shared<Object>();
  object->kind = ObjectKind::Slot;
  object->type = cpp;
  object->register_type = type;
  object->slot = writer_.NewSlot(type, name);
  return object;
}

ObjectPtr Lowering::NewObject(QualType type, std::string_view name, SourceRange range) {
  type = type.getNonReferenceType();
  if (std::optional<Type> leaf = RegisterType(type)) return NewSlot(*leaf, type, name);
  if (type->isAnyPointerType() || type->isMemberPointerType()) return NewPointer(type, range);
  QualType element;
  uint64_t count = 0;
  auto object = std::make_shared<Object>();
  object->type = type;
  if (ArrayOf(type, &element, &count)) {
    object->kind = ObjectKind::Array;
    object->element = element;
    object->count = count;
    if (type->isAnyComplexType() || (element->isAnyPointerType() && count <= kCopiedElements)) {
      for (uint64_t n = 0; n < count; ++n) object->members.push_back(NewObject(element, name, range));
      return object;
    }
    std::vector<std::pair<Type, uint64_t>> leaves;
    LeafTypes(type, 1, range, &leaves);
    for (auto [leaf, length] : leaves) {
      if (length == 0 || length > (1u << 20))
        Refuse(range, "an array of " + std::to_string(length) + " elements in a kernel", "use a buffer");
      Value base = writer_.builder().Alloca(Type::Array(leaf, static_cast<uint32_t>(length)));
      if (!name.empty()) writer_.Name(base, name);
      array_outside_[base] = parallel_.empty();
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
  object->kind = ObjectKind::Struct;
  std::vector<QualType> types = MembersOf(record, range);
  size_t bases = record->getNumBases();
  auto field = record->field_begin();
  for (size_t n = 0; n < types.size(); ++n) {
    std::string member(name);
    if (n >= bases) {
      if (!member.empty()) member += ".";
      member += (*field)->getName().str();
      if (!name.empty() && (*field)->getName().empty()) member.clear();
      ++field;
    }
    // References, buffers and closures are bound when they are initialised.
    bool bound = types[n]->isReferenceType() || BufferOf(types[n]).has_value() ||
                 (record->isLambda() && types[n]->isPointerType());
    object->members.push_back(bound ? nullptr
                                    : NewObject(types[n], name.empty() ? std::string_view() : member, range));
  }
  return object;
}

/// The object of this type in storage.
ObjectPtr Lowering::View(QualType type, Storage storage, SourceRange range) {
  auto object = std::make_shared<Object>();
  object->type = type;
  QualType element;
  uint64_t count = 0;
  if (ArrayOf(type, &element, &count)) {
    object->kind = ObjectKind::Array;
    object->element = element;
    object->count = count;
    object->storage = std::move(storage);
    return object;
  }
  if (std::optional<Type> leaf = RegisterType(type)) {
    object->register_type = *leaf;
    object->base = storage.bases[0];
    bool word = leaf->IsScalar() && leaf->scalar == writer_.TypeOf(object->base).scalar;
    object->kind = storage.in_buffer && !word ? ObjectKind::Spread : ObjectKind::Cell;
    object->byte = storage.byte;
    object->alone = storage.alone;
    object->indices = storage.indices;
    object->indices.push_back(storage.flat.Valid() ? storage.flat : writer_.builder().I32(0));
    return object;
  }
  object->kind = ObjectKind::Struct;
  size_t first_base = 0;
  const clang::CXXRecordDecl* record = RecordOf(type);
  if (record->isUnion() && !storage.in_buffer) return UnionIn(storage, type, range);
  std::vector<QualType> members = MembersOf(record, range);
  std::vector<uint64_t> offsets;
  if (storage.in_buffer) {
    const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(record);
    for (const clang::CXXBaseSpecifier& base : record->bases())
      offsets.push_back(
          static_cast<uint64_t>(layout.getBaseClassOffset(RecordOf(base.getType())).getQuantity()));
    while (offsets.size() < members.size())
      offsets.push_back(layout.getFieldOffset(static_cast<unsigned>(offsets.size() - record->getNumBases())) /
                        8);
  }
  for (size_t n = 0; n < members.size(); ++n) {
    Storage part = storage;
    if (storage.in_buffer) {
      uint32_t word = WordBytes(storage);
      part = Moved(storage, offsets[n]);
      bool whole = static_cast<uint64_t>(context_.getTypeAlignInChars(type).getQuantity()) % word == 0;
      part.alone = storage.alone || whole;
      uint64_t begin = (storage.byte + offsets[n]) / word;
      uint64_t end = (storage.byte + offsets[n] + BytesOf(members[n]) + word - 1) / word;
      for (size_t other = 0; other < members.size(); ++other) {
        if (other == n || (RecordOf(members[other]) != nullptr && RecordOf(members[other])->isEmpty()))
          continue;
        uint64_t first = (storage.byte + offsets[other]) / word;
        uint64_t last = (storage.byte + offsets[other] + BytesOf(members[other]) + word - 1) / word;
        part.alone = part.alone && (last <= begin || end <= first);
      }
    } else {
      std::vector<std::pair<Type, uint64_t>> leaves;
      LeafTypes(members[n], 1, range, &leaves);
      auto first = storage.bases.begin() + static_cast<ptrdiff_t>(first_base);
      part.bases.assign(first, first + static_cast<ptrdiff_t>(leaves.size()));
      first_base += leaves.size();
    }
    object->members.push_back(View(members[n], std::move(part), range));
  }
  return object;
}

ObjectPtr Lowering::Member(const ObjectPtr& object, const clang::FieldDecl* field, SourceRange range) {
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
    member->offset = context_.getASTRecordLayout(record).getFieldOffset(field->getFieldIndex()) / 8;
    parts_.push_back(member);
  }
  return member;
}

ObjectPtr Lowering::BaseOf(const ObjectPtr& object, const clang::CXXRecordDecl* base, SourceRange range) {
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

/// The object of which this one is a base, where the kernel knows it.
ObjectPtr Lowering::DerivedOf(const ObjectPtr& object, const clang::CXXRecordDecl* derived,
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

/// An index as the IR takes one.
Value Lowering::Index(Value value) {
  Type type = writer_.TypeOf(value);
  if (type.IsIndex()) return value;
  bool wide = type.scalar == Scalar::U32 || type.scalar == Scalar::U64;
  return writer_.Cast(value, wide ? ir::kI64 : ir::kI32);
}

ObjectPtr Lowering::Element(const ObjectPtr& array, Value index, SourceRange range) {
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

ObjectPtr Lowering::ElementOfStorage(const ObjectPtr& array, Value index, SourceRange range) {
  Storage storage = array->storage;
  auto one_type = [&](Value& a, Value& b) {
    if (writer_.TypeOf(a) == writer_.TypeOf(b)) return;
    a = writer_.Cast(a, ir::kI64);
    b = writer_.Cast(b, ir::kI64);
  };
  auto times = [&](Value a, uint64_t n) {
    if (n == 1) return a;
    return writer_.Make(Op::Mul, {a, writer_.builder().Int(writer_.TypeOf(a), static_cast<int64_t>(n))});
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
      return View(array->element, Moved(std::move(storage), static_cast<uint64_t>(*at) * bytes), range);
    }
    step = times(index, bytes / word);
  } else if (first.Valid()) {
    first = times(first, array->count);
  }
  if (first.Valid()) {
    one_type(first, step);
    step = writer_.Make(Op::Add, {first, step});
  }
  storage.flat = step;
  return View(array->element, std::move(storage), range);
}

ObjectPtr Lowering::ComponentOf(const ObjectPtr& object, Value at, QualType type) {
  auto component = std::make_shared<Object>();
  Type of = object->register_type;
  component->kind = ObjectKind::Component;
  component->type = type;
  component->register_type = of.IsMat() ? Type::Vec(of.scalar, of.columns) : of.ScalarType();
  component->of = object;
  component->at = Index(at);
  return component;
}

/// A number, seen as one of another type of its size.
ObjectPtr Lowering::BitsOf(const ObjectPtr& number, QualType type) {
  Type as = *ScalarOf(type);
  if (number->register_type == as) return number;
  auto bits = std::make_shared<Object>();
  bits->kind = ObjectKind::Bits;
  bits->type = type;
  bits->register_type = as;
  bits->of = number;
  return bits;
}

ObjectPtr Lowering::BufferElement(const ObjectPtr& buffer, std::vector<Value> indices, SourceRange range) {
  for (Value& index : indices) index = Index(index);
  ObjectPtr row, cell = std::make_shared<Object>();
  Value position;
  if (!indices.empty()) {
    row = std::make_shared<Object>(*buffer);
    row->indices.assign(indices.begin(), indices.end() - 1);
    position = indices.back();
  }
  if (buffer->by_words) {
    Storage storage;
    storage.bases = {buffer->base};
    storage.indices = std::move(indices);
    storage.in_buffer = true;
    cell = View(buffer->element, std::move(storage), range);
  } else {
    cell->kind = ObjectKind::Cell;
    cell->type = buffer->element;
    cell->register_type = *RegisterType(buffer->element);
    cell->base = buffer->base;
    cell->indices = std::move(indices);
  }
  cell->within = row;
  cell->position = position;
  return cell;
}

Value Lowering::ZeroOf(Type type) {
  Value zero = writer_.builder().Zero(type.ScalarType());
  if (type.IsScalar()) return zero;
  std::vector<Value> zeros(type.Components(), zero);
  return function_.Result(
      writer_.builder().Create(type.IsVec() ? Op::VecMake : Op::MatMake, zeros, {&type, 1}));
}

namespace {

/// Position of a component of memory, where it is known.
std::optional<uint32_t> KnownComponent(const ir::Function& function, const Object& component) {
  std::optional<int64_t> at = function.IntegerConstant(component.at);
  if (!at || *at < 0) return std::nullopt;
  const Object& of = *component.of;
  if (of.kind == ObjectKind::Component) {
    std::optional<uint32_t> row = KnownComponent(function, of);
    if (!row || *at >= of.register_type.rows) return std::nullopt;
    return *row * of.register_type.rows + static_cast<uint32_t>(*at);
  }
  uint32_t extent = of.register_type.rows;
  if (*at >= extent) return std::nullopt;
  return static_cast<uint32_t>(*at);
}

bool IsLeaf(const Object& object) {
  return object.kind != ObjectKind::Struct && object.kind != ObjectKind::Array &&
         object.kind != ObjectKind::Buffer && object.kind != ObjectKind::Pointer;
}

/// The vector or matrix that a component is of, in the end.
const Object& WholeOf(const Object& object) {
  return object.kind == ObjectKind::Component ? WholeOf(*object.of) : object;
}

}  // namespace

/// A reference to one of two objects, as a condition that is known when it is bound says. Null where they
/// have arrays in memory, whose elements no leaf stands for.
ObjectPtr Lowering::ChoiceOf(Value condition, const ObjectPtr& yes, const ObjectPtr& no) {
  if (yes == no) return yes;
  if (yes == nullptr || no == nullptr) return nullptr;
  bool parts = yes->kind == ObjectKind::Struct || (yes->kind == ObjectKind::Array && !yes->members.empty());
  if (!parts && !(IsLeaf(*yes) && IsLeaf(*no))) return nullptr;
  auto choice = std::make_shared<Object>();
  choice->type = yes->type;
  if (parts) {
    choice->kind = yes->kind;
    choice->element = yes->element;
    choice->count = yes->count;
    if (yes->members.size() != no->members.size()) return nullptr;
    for (size_t n = 0; n < yes->members.size(); ++n) {
      choice->members.push_back(ChoiceOf(condition, yes->members[n], no->members[n]));
      if (choice->members.back() == nullptr) return nullptr;
    }
    return choice;
  }
  choice->kind = ObjectKind::Choice;
  choice->register_type = yes->register_type;
  choice->at = condition;
  choice->of = yes;
  choice->members = {no};
  return choice;
}

Value Lowering::Load(const ObjectPtr& object, SourceRange range) {
  SetPlace(range);
  switch (object->kind) {
    case ObjectKind::Slot:
      return writer_.Get(object->slot);
    case ObjectKind::Cell: {
      auto outside = array_outside_.find(object->base);
      if (outside != array_outside_.end() && outside->second && !parallel_.empty())
        Refuse(range, "an array that is declared outside of " + parallel_ + " is used inside of it",
               "declare it inside, make it constexpr, or pass a buffer");
      return writer_.builder().Load(object->base, object->indices);
    }
    case ObjectKind::Spread: {
      Type type = object->register_type;
      if (type.IsScalar()) return LoadWords(*object, range);
      std::vector<Value> parts;
      for (uint32_t n = 0; n < type.Components(); ++n) parts.push_back(Load(SpreadPart(*object, n), range));
      return function_.Result(
          writer_.builder().Create(type.IsVec() ? Op::VecMake : Op::MatMake, parts, {&type, 1}));
    }
    case ObjectKind::Bits: {
      Value bits = Load(object->of, range);
      return writer_.builder().Bitcast(bits, object->register_type);
    }
    case ObjectKind::Choice:
      return writer_.Choose(
          object->at, object->register_type, [&] { return Load(object->of, range); },
          [&] { return Load(object->members[0], range); });
    case ObjectKind::Component: {
      const Object& whole = WholeOf(*object);
      std::optional<uint32_t> known = KnownComponent(function_, *object);
      if (known && object->register_type.IsScalar() && whole.kind == ObjectKind::Cell)
        return writer_.builder().Load(whole.base, whole.indices, ir::kNoAttr, *known);
      if (known && object->register_type.IsScalar() && whole.kind == ObjectKind::Spread)
        return Load(SpreadPart(whole, *known), range);
      if (object->of->kind == ObjectKind::Component || object->of->register_type.IsVec()) {
        if (object->of->kind == ObjectKind::Component) {
          Value matrix = Load(object->of->of, range);
          return writer_.Make(Op::MatGet, {matrix, object->of->at, object->at});
        }
        return writer_.Make(Op::VecGet, {Load(object->of, range), object->at});
      }
      // A row.
      Value matrix = Load(object->of, range);
      std::vector<Value> parts;
      Type type = object->register_type;
      for (uint32_t n = 0; n < type.rows; ++n)
        parts.push_back(
            writer_.Make(Op::MatGet, {matrix, object->at, writer_.builder().I32(static_cast<int32_t>(n))}));
      return function_.Result(writer_.builder().Create(Op::VecMake, parts, {&type, 1}));
    }
    case ObjectKind::Struct:
    case ObjectKind::Array:
    case ObjectKind::Buffer:
    case ObjectKind::Pointer:
      break;
  }
  Refuse(range, "a value of type '" + Spell(object->type) + "' cannot stand here");
}

void Lowering::Store(const ObjectPtr& object, Value value, SourceRange range) {
  SetPlace(range);
  Type type = object->register_type;
  auto store = [&](const std::vector<Value>& indices, Value v, uint32_t component) {
    writer_.builder().Access(Op::Store, object->base, indices, {&v, 1}, ir::kNoAttr, component);
  };
  switch (object->kind) {
    case ObjectKind::Slot:
      return writer_.Set(object->slot, value);
    case ObjectKind::Cell: {
      auto outside = array_outside_.find(object->base);
      if (outside != array_outside_.end() && outside->second && !parallel_.empty())
        Refuse(range, "an array that is declared outside of " + parallel_ + " is assigned inside of it",
               "declare it inside, or pass a buffer");
      if (function_[object->base].kind == ir::ValueKind::Global) Refuse(range, "a constant is assigned");
      return store(object->indices, value, ir::kNoAttr);
    }
    case ObjectKind::Spread: {
      if (type.IsScalar()) return StoreWords(*object, value, range);
      for (uint32_t n = 0; n < type.Components(); ++n) {
        auto component = [&](uint32_t k) { return writer_.builder().I32(static_cast<int32_t>(k)); };
        Value part =
            type.IsVec()
                ? writer_.Make(Op::VecGet, {value, component(n)})
                : writer_.Make(Op::MatGet, {value, component(n / type.columns), component(n % type.columns)});
        Store(SpreadPart(*object, n), part, range);
      }
      return;
    }
    case ObjectKind::Bits:
      return Store(object->of, writer_.builder().Bitcast(value, object->of->register_type), range);
    case ObjectKind::Choice:
      return writer_.If(
          object->at, [&] { Store(object->of, value, range); },
          [&] { Store(object->members[0], value, range); });
    case ObjectKind::Component:
      break;
    case ObjectKind::Struct:
    case ObjectKind::Array:
    case ObjectKind::Buffer:
    case ObjectKind::Pointer:
      Refuse(range, "a value of type '" + Spell(object->type) + "' cannot be assigned here");
  }
  const Object& whole = WholeOf(*object);
  std::optional<uint32_t> known = KnownComponent(function_, *object);
  if (known && type.IsScalar() && whole.kind == ObjectKind::Cell) {
    writer_.builder().Access(Op::Store, whole.base, whole.indices, {&value, 1}, ir::kNoAttr, *known);
    return;
  }
  if (known && type.IsScalar() && whole.kind == ObjectKind::Spread)
    return Store(SpreadPart(whole, *known), value, range);
  Value before = Load(object->of, range);
  Type of = object->of->register_type;
  if (of.IsVec()) return Store(object->of, writer_.Make(Op::VecSet, {before, object->at, value}), range);
  // A row of a matrix: the matrix with every component chosen.
  std::vector<Value> parts;
  std::optional<int64_t> row = function_.IntegerConstant(object->at);
  auto number = [&](uint32_t n) { return writer_.builder().I32(static_cast<int32_t>(n)); };
  for (uint32_t r = 0; r < of.rows; ++r) {
    for (uint32_t c = 0; c < of.columns; ++c) {
      if (row && *row != static_cast<int64_t>(r)) {
        parts.push_back(writer_.Make(Op::MatGet, {before, number(r), number(c)}));
        continue;
      }
      Value part = writer_.Make(Op::VecGet, {value, number(c)});
      if (!row) {
        Value here = writer_.builder().Int(writer_.TypeOf(object->at), r);
        part = writer_.Make(Op::Select, {writer_.Make(Op::Eq, {object->at, here}), part,
                                         writer_.Make(Op::MatGet, {before, number(r), number(c)})});
      }
      parts.push_back(part);
    }
  }
  Store(object->of, function_.Result(writer_.builder().Create(Op::MatMake, parts, {&of, 1})), range);
}

void Lowering::Copy(const ObjectPtr& to, const ObjectPtr& from, SourceRange range) {
  if (to == from) return;
  if (IsLeaf(*to)) return Store(to, Load(from, range), range);
  if (to->kind == ObjectKind::Pointer) return Bind(to, AddressIn(from, range), range);
  if (to->kind == ObjectKind::Struct && from->kind == ObjectKind::Struct) {
    if (RecordOf(to->type)->isUnion() && RecordOf(from->type)->isUnion()) {
      size_t whole = WholeField(RecordOf(to->type), range);
      return Copy(to->members[whole], from->members[whole], range);
    }
    for (size_t n = 0; n < to->members.size(); ++n) {
      if (to->members[n] == nullptr || from->members[n] == nullptr) {
        to->members[n] = from->members[n];  // a reference or a buffer
      } else if (from->members[n]->kind == ObjectKind::Buffer) {
        to->members[n] = from->members[n];
      } else {
        Copy(to->members[n], from->members[n], range);
      }
    }
    return;
  }
  if (to->kind == ObjectKind::Array && from->kind == ObjectKind::Array) {
    if (to->count <= kCopiedElements) {
      for (uint64_t n = 0; n < to->count; ++n) {
        Value at = writer_.builder().I32(static_cast<int32_t>(n));
        ObjectPtr target = Element(to, at, range);
        Copy(target, Element(from, at, range), range);
      }
      return;
    }
    SetPlace(range);
    Value index =
        writer_.OpenFor(writer_.builder().I32(0), writer_.builder().I32(static_cast<int32_t>(to->count)),
                        writer_.builder().I32(1), {});
    ObjectPtr target = Element(to, index, range);
    Copy(target, Element(from, index, range), range);
    writer_.Close();
    return;
  }
  Refuse(range, "a value of type '" + Spell(from->type) + "' cannot be copied");
}

void Lowering::Zero(const ObjectPtr& object, SourceRange range) {
  if (object == nullptr) return;
  SetPlace(range);
  if (IsLeaf(*object)) return Store(object, ZeroOf(object->register_type), range);
  if (object->kind == ObjectKind::Pointer) return Bind(object, NullAddress(), range);
  if (object->kind == ObjectKind::Struct) {
    for (const ObjectPtr& member : PartsOf(*object, range)) Zero(member, range);
    return;
  }
  if (object->kind != ObjectKind::Array) Refuse(range, "a buffer cannot be made in a kernel");
  EachElement(object, range, [&](const ObjectPtr& element) { Zero(element, range); });
}

/// The elements of an array, in a loop where they are many.
void Lowering::EachElement(const ObjectPtr& array, SourceRange range,
                           const std::function<void(const ObjectPtr&)>& visit) {
  if (array->count <= kCopiedElements) {
    for (uint64_t n = 0; n < array->count; ++n)
      visit(Element(array, writer_.builder().I32(static_cast<int32_t>(n)), range));
    return;
  }
  Value index =
      writer_.OpenFor(writer_.builder().I32(0), writer_.builder().I32(static_cast<int32_t>(array->count)),
                      writer_.builder().I32(1), {});
  visit(Element(array, index, range));
  writer_.Close();
}

/// What an expression gives as an object that lives as long as it is used.
ObjectPtr Lowering::Temporary(const clang::Expr* expression, std::string_view name) {
  if (std::optional<Type> type = RegisterType(expression->getType())) {
    ObjectPtr slot = NewSlot(*type, expression->getType(), name);
    Store(slot, ValueOf(expression), expression->getSourceRange());
    return slot;
  }
  if (BufferOf(expression->getType())) return Place(expression);
  ObjectPtr object = NewObject(expression->getType(), name, expression->getSourceRange());
  Initialise(object, expression);
  return object;
}

}  // namespace adc::frontend
