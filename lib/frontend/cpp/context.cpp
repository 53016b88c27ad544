#include "frontend/cpp/context.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecordLayout.h>

#include "diag/errors/cpp.h"
#include "ir/param_words.h"
#include "support/check.h"

namespace adc::frontend {

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

llvm::StringRef NameOf(const clang::NamedDecl* declaration) {
  return declaration->getDeclName().isIdentifier() ? declaration->getName() : "";
}

bool IsStandard(QualType type, llvm::StringRef name) {
  const auto* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record != nullptr && record->isInStdNamespace() && NameOf(record) == name;
}

const clang::ClassTemplateSpecializationDecl* ContractTemplate(QualType type, llvm::StringRef name) {
  const auto* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  const auto* made = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  if (made == nullptr || made->getName() != name || !InNamespace(made, "adc")) return nullptr;
  return made;
}

namespace {

constexpr size_t kMostNumbers = 64;

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
  return llvm::any_of(record->bases(), [&](auto& base) { return runs(base.getType()); }) ||
         llvm::any_of(record->fields(), [&](auto* field) { return runs(field->getType()); });
}

}  // namespace

Context::Context(Shared& shared, ir::Function& function)
    : shared_(shared),
      context_(shared.context),
      module_(shared.module),
      function_(function),
      writer_(shared.module, function) {}

void Context::Refuse(SourceRange range, std::string text, std::string help) {
  diag::SourceSpan span = writer_.span();
  if (range.isValid() && !shared_.places.InSystemHeader(range.getBegin())) span = shared_.places.Of(range);
  diag::Diagnostic& error = shared_.diagnostics.Error(diag::E0802, span, std::move(text));
  for (const Frame* frame = frame_; frame != nullptr; frame = frame->caller) {
    if (frame->call.isInvalid() || shared_.places.InSystemHeader(frame->call.getBegin())) continue;
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(frame->function);
    if (method != nullptr && method->getParent()->isLambda()) continue;
    error.AddNote(shared_.places.Of(frame->call),
                  "in '" + frame->function->getNameAsString() + "', called here");
  }
  error.AddHelp(std::move(help));
  throw Refusal();
}

void Context::RefuseKind(const clang::Stmt* at) {
  std::string kind = llvm::isa<clang::Expr>(at) ? "expression" : "statement";
  Refuse(at, "kernels do not have this kind of " + kind + " (" + at->getStmtClassName() + ")",
         "docs/cpp.md says what a kernel may use");
}

void Context::SetPlace(SourceRange range) {
  // Code of a library's header has the place where the kernel calls it.
  if (range.isInvalid() || shared_.places.InSystemHeader(range.getBegin())) return;
  writer_.SetSpan(shared_.places.Of(range));
}

std::string Context::Spell(QualType type) const {
  return type.getUnqualifiedType().getAsString(context_.getPrintingPolicy());
}

// ---- Types

std::optional<Type> Context::ScalarOf(QualType type) const {
  type = type.getCanonicalType().getUnqualifiedType();
  if (const auto* enumeration = type->getAs<clang::EnumType>())
    return ScalarOf(enumeration->getDecl()->getIntegerType());
  if (type->isBooleanType()) return ir::kI1;
  if (type->isSpecificBuiltinType(clang::BuiltinType::Float)) return ir::kF32;
  if (type->isSpecificBuiltinType(clang::BuiltinType::Double)) return ir::kF64;
  if (!type->isIntegerType() || type->isBitIntType()) return std::nullopt;
  if (BytesOf(type) > 8) return std::nullopt;
  return Type::Of(ir::IntegerOf(static_cast<uint32_t>(8 * BytesOf(type)), type->isSignedIntegerType()));
}

QualType Context::Unmarked(QualType type, ir::ParamInfo* marks) const {
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

std::optional<Type> Context::RegisterType(QualType type) const {
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

Type Context::NeedRegister(QualType type, SourceRange range) {
  if (std::optional<Type> found = RegisterType(type)) return *found;
  std::string help;
  if (type->isSpecificBuiltinType(clang::BuiltinType::LongDouble)) help = "use double";
  if (type->isAnyPointerType()) help = "use an index into an array or an adc::buffer";
  if (type->isVectorType()) help = "turn the SIMD of the header off, by the define that it has for that";
  Refuse(range, "a kernel has no values of type '" + Spell(type) + "'", help);
}

std::optional<BufferType> Context::BufferOf(QualType type) const {
  const auto* made = ContractTemplate(Unmarked(type), "buffer");
  if (made == nullptr) return std::nullopt;
  return BufferType{TypeArgument(made, 0), NumberArgument(made, 1)};
}

const clang::CXXRecordDecl* Context::RecordOf(QualType type) const {
  const auto* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record == nullptr ? nullptr : record->getDefinition();
}

std::optional<ArrayType> Context::ArrayOf(QualType type) const {
  type = type.getNonReferenceType();
  if (const auto* complex = type->getAs<clang::ComplexType>()) return ArrayType{complex->getElementType(), 2};
  const auto* array = context_.getAsConstantArrayType(type);
  if (array == nullptr) return std::nullopt;
  return ArrayType{array->getElementType(), array->getSize().getZExtValue()};
}

/// Bases, then fields.
std::vector<Part> Context::LayoutOf(const clang::CXXRecordDecl* record) const {
  ADC_CHECK(record != nullptr, "numbers, arrays and classes lie in a union");
  const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(record);
  std::vector<Part> parts;
  for (const clang::CXXBaseSpecifier& base : record->bases()) {
    clang::CharUnits at = layout.getBaseClassOffset(RecordOf(base.getType()));
    parts.push_back({base.getType(), static_cast<uint64_t>(at.getQuantity())});
  }
  for (const clang::FieldDecl* field : record->fields())
    parts.push_back({field->getType(), layout.getFieldOffset(field->getFieldIndex()) / 8, field,
                     field->getNameAsString()});
  return parts;
}

/// The same of a class that a kernel may have.
std::vector<Part> Context::MembersOf(const clang::CXXRecordDecl* record, SourceRange range) {
  std::string name = "'" + record->getNameAsString() + "'";
  if (record->isPolymorphic() || record->getNumVBases() != 0)
    Refuse(range, name + " has virtual functions or bases", "use a template, or an enumeration and a switch");
  if (DestructorRuns(record))
    Refuse(range, name + " has a destructor that runs code", "leave it out of the kernel");
  for (const clang::FieldDecl* field : record->fields()) {
    if (field->isBitField())
      Refuse(range, name + " has a bit-field, '" + field->getNameAsString() + "'", "use shifts and masks");
  }
  return LayoutOf(record);
}

uint64_t Context::BytesOf(QualType type) const {
  return static_cast<uint64_t>(context_.getTypeSizeInChars(type.getNonReferenceType()).getQuantity());
}

void Context::LeafTypes(QualType type, uint64_t count, SourceRange range,
                        std::vector<std::pair<Type, uint64_t>>* leaves) {
  if (std::optional<ArrayType> array = ArrayOf(type))
    return LeafTypes(array->element, count * array->count, range, leaves);
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
  for (const Part& member : MembersOf(record, range)) LeafTypes(member.type, count, range, leaves);
}

/// How many numbers of the type an object consists of, where it consists of nothing else.
std::optional<uint64_t> Context::CountOf(QualType type, QualType number) const {
  std::optional<Type> scalar = ScalarOf(number), leaf = RegisterType(type);
  if (!scalar) return std::nullopt;
  std::optional<ArrayType> array = ArrayOf(type);
  uint64_t count = 0;
  const clang::CXXRecordDecl* record = RecordOf(type);
  if (leaf) {
    if (leaf->ScalarType() != *scalar) return std::nullopt;
    count = leaf->Components();
  } else if (array) {
    count = array->count * CountOf(array->element, number).value_or(0);
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

// ---- Of buffers of structs

/// The types of number in the elements of a buffer.
void Context::ScalarsOf(QualType type, SourceRange range, std::set<Scalar>* scalars) {
  if (std::optional<ArrayType> array = ArrayOf(type)) return ScalarsOf(array->element, range, scalars);
  if (std::optional<Type> leaf = RegisterType(type)) {
    scalars->insert(leaf->scalar);
    return;
  }
  const clang::CXXRecordDecl* record = RecordOf(type);
  if (record == nullptr && type->isVectorType()) NeedRegister(type, range);
  if (record == nullptr || BufferOf(type))
    Refuse(range, "a buffer cannot have elements of type '" + Spell(type) + "'");
  for (const Part& member : MembersOf(record, range)) ScalarsOf(member.type, range, scalars);
}

/// The word of a buffer of structs: its float; without one the only type of number, or an integer that
/// divides all of them.
Scalar Context::WordOf(QualType type, bool diff, SourceRange range) {
  std::set<Scalar> scalars;
  ScalarsOf(type, range, &scalars);
  if (scalars.empty()) Refuse(range, "a buffer of an empty class");
  bool single = scalars.contains(Scalar::F32), wide = scalars.contains(Scalar::F64);
  if (single && wide && diff)
    Refuse(range, "a struct in a buffer with an adjoint has 'float' and 'double'",
           "use one of them, or a buffer for each");
  Scalar word = *scalars.begin();
  if (scalars.size() > 1) {
    bool small =
        llvm::any_of(scalars, [](Scalar one) { return ir::ByteSize(one) <= 4 && !ir::IsFloat(one); });
    word = single ? Scalar::F32 : wide && (diff || !small) ? Scalar::F64 : small ? Scalar::U32 : Scalar::U64;
    // Structs of small integers alone.
    auto align = static_cast<uint64_t>(context_.getTypeAlignInChars(type).getQuantity());
    if (align == 2) word = Scalar::U16;
    if (align == 1) word = Scalar::U8;
  }
  if (word == Scalar::I1) word = Scalar::U8;
  if (BytesOf(type) % ir::ByteSize(word) != 0)
    Refuse(range, "'" + Spell(type) + "' has " + std::to_string(BytesOf(type)) +
                      " bytes, which is no number of '" + std::string(ir::Spelling(word)) + "'");
  return word;
}

/// Adds what lies there to `members`. Bases and members without a name add what they hold; a class of the
/// library with one member, as std::array is, is that member.
void Context::DescribeMember(QualType type, const std::string& name, uint64_t offset,
                             std::vector<ir::StructMember>* members) const {
  ir::StructMember member;
  member.name = name;
  member.offset = offset;
  const clang::CXXRecordDecl* record = nullptr;
  for (;;) {
    if (std::optional<ArrayType> array = ArrayOf(type)) {
      member.counts.push_back(array->count);
      type = array->element;
      continue;
    }
    record = RegisterType(type) ? nullptr : RecordOf(type);
    bool one = record != nullptr && record->isInStdNamespace() && record->getNumBases() == 0 &&
               std::distance(record->field_begin(), record->field_end()) == 1;
    if (!one) break;
    type = record->field_begin()->getType();
  }
  if (record == nullptr) {
    Type leaf = *RegisterType(type);
    member.scalar = leaf.scalar;
    if (!leaf.IsScalar()) member.counts.push_back(leaf.rows);
    if (leaf.IsMat()) member.counts.push_back(leaf.columns);
    members->push_back(std::move(member));
    return;
  }
  bool is_merged = name.empty() && member.counts.empty();
  uint64_t begin = is_merged ? offset : 0;
  std::vector<ir::StructMember>* into = is_merged ? members : &member.members;
  for (const Part& part : LayoutOf(record)) DescribeMember(part.type, part.name, begin + part.offset, into);
  member.bytes = BytesOf(type);
  if (!member.members.empty()) members->push_back(std::move(member));
}

// ---- Of unions, and of what is seen as another type

/// The numbers of a union, or of what lies in one, by their place in bytes.
void Context::NumbersOf(QualType type, uint64_t offset, SourceRange range,
                        std::map<uint64_t, QualType>* numbers) {
  const char* help = "use std::bit_cast, or a struct";
  if (std::optional<ArrayType> array = ArrayOf(type)) {
    if (array->count > kMostNumbers)
      Refuse(range, "a union with an array of " + std::to_string(array->count) + " elements", help);
    for (uint64_t n = 0; n < array->count; ++n)
      NumbersOf(array->element, offset + n * BytesOf(array->element), range, numbers);
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
  for (const Part& member : MembersOf(record, range))
    NumbersOf(member.type, offset + member.offset, range, numbers);
}

/// Whether they are numbers of one size, whose bits may be read as the other's.
bool Context::HaveSameBits(QualType a, QualType b) const {
  std::optional<ir::Type> one = ScalarOf(a), other = ScalarOf(b);
  return one && other && *one != *other && !one->IsBool() && !other->IsBool() && BytesOf(a) == BytesOf(b);
}

/// The first number in what has numbers alone; a null type where there is none.
QualType Context::NumberIn(QualType type) const {
  if (ScalarOf(type)) return type.getCanonicalType().getUnqualifiedType();
  if (std::optional<ArrayType> array = ArrayOf(type)) return NumberIn(array->element);
  const clang::CXXRecordDecl* record = RecordOf(type);
  if (record == nullptr || RegisterType(type) || record->field_empty()) return {};
  return NumberIn(record->field_begin()->getType());
}

/// The field of a union that has all its numbers, a struct rather than an array.
size_t Context::WholeField(const clang::CXXRecordDecl* record, SourceRange range) {
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
