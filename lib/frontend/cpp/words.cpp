// Buffers of structs. One has the words of the struct on an axis of its own, at the offsets that C++ gives
// them. A word is the struct's float, so that the buffer may have an adjoint:
//
//   struct P { vec<float, 3> x; int kind; };    buffer<P, 1> p    %p: buffer<f32, 2>, of extents n and 4
//   p[i].x.y                                    load %p[%i, 1]
//   p[i].kind                                   bitcast (load %p[%i, 3]) to i32
//
// A number of two words is put together of both, one that is less than a word is cut out of it.

#include <algorithm>

#include "diag/errors/cpp.h"
#include "frontend/cpp/lowering.h"

namespace adc::frontend {

using clang::QualType;
using clang::SourceRange;
using ir::Op;
using ir::Scalar;
using ir::Type;
using ir::Value;

/// The types of number in the elements of a buffer.
void Lowering::ScalarsOf(QualType type, SourceRange range, std::set<Scalar>* scalars) {
  QualType element;
  uint64_t count = 0;
  if (ArrayOf(type, &element, &count)) return ScalarsOf(element, range, scalars);
  if (std::optional<Type> leaf = RegisterType(type)) {
    scalars->insert(leaf->scalar);
    return;
  }
  const clang::CXXRecordDecl* record = RecordOf(type);
  if (record == nullptr && type->isVectorType()) NeedRegister(type, range);
  if (record == nullptr || BufferOf(type))
    Refuse(range, "a buffer cannot have elements of type '" + Spell(type) + "'");
  for (QualType member : MembersOf(record, range)) ScalarsOf(member, range, scalars);
}

/// The word of a buffer of structs: its float; without one the only type of number, or an integer that
/// divides all of them.
Scalar Lowering::WordOf(QualType type, bool diff, SourceRange range) {
  std::set<Scalar> scalars;
  ScalarsOf(type, range, &scalars);
  if (scalars.empty()) Refuse(range, "a buffer of an empty class");
  bool single = scalars.contains(Scalar::F32), wide = scalars.contains(Scalar::F64);
  if (single && wide && diff)
    Refuse(range, "a struct in a buffer with an adjoint has 'float' and 'double'",
           "use one of them, or a buffer for each");
  Scalar word = *scalars.begin();
  if (scalars.size() > 1) {
    bool small = std::any_of(scalars.begin(), scalars.end(),
                             [](Scalar one) { return ir::ByteSize(one) <= 4 && !ir::IsFloat(one); });
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

uint64_t Lowering::BytesOf(QualType type) const {
  return static_cast<uint64_t>(context_.getTypeSizeInChars(type.getNonReferenceType()).getQuantity());
}

uint32_t Lowering::WordBytes(const Storage& storage) const {
  return static_cast<uint32_t>(ir::ByteSize(writer_.TypeOf(storage.bases[0]).scalar));
}

/// What lies `bytes` further in the struct.
Storage Lowering::Moved(Storage storage, uint64_t bytes) {
  uint32_t word = WordBytes(storage);
  bytes += storage.byte;
  storage.byte = static_cast<uint32_t>(bytes % word);
  if (bytes < word) return storage;
  Value more = writer_.builder().I32(static_cast<int32_t>(bytes / word));
  storage.flat = storage.flat.Valid()
                     ? writer_.Make(Op::Add, {storage.flat, Convert(more, writer_.TypeOf(storage.flat))})
                     : more;
  return storage;
}

/// A number of a vector or matrix in a buffer of structs.
ObjectPtr Lowering::SpreadPart(const Object& spread, uint32_t component) {
  Storage storage;
  storage.bases = {spread.base};
  storage.indices = spread.indices;
  storage.flat = spread.indices.back();
  storage.indices.pop_back();
  storage.in_buffer = true;
  storage.byte = spread.byte;
  Type scalar = spread.register_type.ScalarType();
  auto bytes = static_cast<uint32_t>(ir::ByteSize(scalar.scalar));
  storage.alone = spread.alone && bytes % WordBytes(storage) == 0;
  storage = Moved(std::move(storage), uint64_t{component} * bytes);
  auto part = std::make_shared<Object>();
  part->type = spread.type;
  part->register_type = scalar;
  part->base = spread.base;
  bool word = scalar.scalar == writer_.TypeOf(spread.base).scalar;
  part->kind = word ? ObjectKind::Cell : ObjectKind::Spread;
  part->byte = storage.byte;
  part->alone = storage.alone;
  part->indices = storage.indices;
  part->indices.push_back(storage.flat);
  return part;
}

namespace {

Type Bits(uint64_t bytes) {
  return Type::Of(bytes == 1   ? Scalar::U8
                  : bytes == 2 ? Scalar::U16
                  : bytes == 4 ? Scalar::U32
                               : Scalar::U64);
}

}  // namespace

/// A number whose type is not that of the words in which it lies.
Value Lowering::LoadWords(const Object& spread, SourceRange range) {
  SetPlace(range);
  Type type = spread.register_type, word = writer_.TypeOf(spread.base).ScalarType();
  uint64_t size = type.IsBool() ? 1 : ir::ByteSize(type.scalar), word_size = ir::ByteSize(word.scalar);
  Type bits = Bits(size), raw = Bits(word_size);
  auto load = [&](uint64_t n) {
    std::vector<Value> indices = spread.indices;
    if (n != 0)
      indices.back() = writer_.Make(
          Op::Add,
          {indices.back(), writer_.builder().Int(writer_.TypeOf(indices.back()), static_cast<int64_t>(n))});
    Value v = writer_.builder().Load(spread.base, indices);
    if (word == raw) return v;
    // An integer that lies in words of floats is no float, though the buffer may be differentiated.
    return writer_.builder().Bitcast(type.IsFloat() ? v : writer_.Make(Op::StopGradient, {v}), raw);
  };
  Value v;
  if (size <= word_size) {
    v = load(0);
    if (spread.byte != 0) v = writer_.Make(Op::Shr, {v, writer_.builder().Int(raw, spread.byte * 8)});
    v = writer_.Cast(v, bits);
  } else {
    for (uint64_t n = 0; n * word_size < size; ++n) {
      Value part = writer_.Cast(load(n), bits);
      if (n != 0)
        part = writer_.Make(Op::Shl,
                            {part, writer_.builder().Int(bits, static_cast<int64_t>(n * word_size * 8))});
      v = n == 0 ? part : writer_.Make(Op::Or, {v, part});
    }
  }
  if (type.IsBool()) return writer_.Make(Op::Ne, {v, writer_.builder().Zero(bits)});
  return type == bits ? v : writer_.builder().Bitcast(v, type);
}

void Lowering::StoreWords(const Object& spread, Value value, SourceRange range) {
  SetPlace(range);
  Type type = spread.register_type, word = writer_.TypeOf(spread.base).ScalarType();
  uint64_t size = type.IsBool() ? 1 : ir::ByteSize(type.scalar), word_size = ir::ByteSize(word.scalar);
  Type bits = Bits(size), raw = Bits(word_size);
  if (size < word_size && (!spread.alone || spread.byte != 0))
    Refuse(
        range,
        "a number of " + std::to_string(size) + " bytes is stored beside others in a word of " +
            std::to_string(word_size) + ", which iterations would write at once",
        "use numbers of " + std::to_string(word_size) + " bytes in structs of buffers that a kernel writes");
  Value v = type.IsBool()  ? writer_.Cast(value, bits)
            : type == bits ? value
                           : writer_.builder().Bitcast(value, bits);
  for (uint64_t n = 0; n == 0 || n * word_size < size; ++n) {
    std::vector<Value> indices = spread.indices;
    if (n != 0)
      indices.back() = writer_.Make(
          Op::Add,
          {indices.back(), writer_.builder().Int(writer_.TypeOf(indices.back()), static_cast<int64_t>(n))});
    Value part = v;
    if (n != 0)
      part =
          writer_.Make(Op::Shr, {part, writer_.builder().Int(bits, static_cast<int64_t>(n * word_size * 8))});
    part = writer_.Cast(part, raw);
    if (raw != word) part = writer_.builder().Bitcast(part, word);
    writer_.builder().Access(Op::Store, spread.base, indices, {&part, 1});
  }
}

}  // namespace adc::frontend
