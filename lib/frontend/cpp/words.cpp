// Buffers of structs. One has the words of the struct on an axis of its own, at the offsets that C++ gives
// them. A word is the struct's float, so that the buffer may have an adjoint:
//
//   struct P { vec<float, 3> x; int kind; };    buffer<P, 1> p    %p: buffer<f32, 2>, of extents n and 4
//   p[i].x.y                                    load %p[%i, 1]
//   p[i].kind                                   bitcast (load %p[%i, 3]) to i32
//
// A number of two words is put together of both, one that is less than a word is cut out of it.

#include "frontend/cpp/memory.h"

namespace adc::frontend {

/// The indices of the word `n` of a number.
std::vector<Value> Memory::WordAt(const Object& spread, uint64_t n) {
  std::vector<Value> indices = spread.indices;
  if (n != 0) indices.back() = Make(Op::Add, {indices.back(), Number(n, TypeOf(indices.back()))});
  return indices;
}

namespace {

/// The unsigned integer of 1, 2, 4 or 8 bytes.
Type UnsignedOf(uint64_t bytes) {
  return Type::Of(ir::IntegerOf(static_cast<uint32_t>(8 * bytes), false));
}

}  // namespace

/// A number whose type is not that of the words in which it lies.
Value Memory::LoadWords(const Object& spread, SourceRange range) {
  SetPlace(range);
  Type type = spread.register_type, word = TypeOf(spread.base).ScalarType();
  uint64_t size = type.IsBool() ? 1 : ir::ByteSize(type.scalar), word_size = ir::ByteSize(word.scalar);
  Type bits = UnsignedOf(size), raw = UnsignedOf(word_size);
  auto load = [&](uint64_t n) {
    std::vector<Value> indices = WordAt(spread, n);
    Value v = writer_.Load(spread.base, indices);
    if (word == raw) return v;
    // An integer that lies in words of floats is no float, though the buffer may be differentiated.
    return writer_.Bitcast(type.IsFloat() ? v : Make(Op::StopGradient, {v}), raw);
  };
  Value v;
  if (size <= word_size) {
    v = load(0);
    if (spread.byte != 0) v = Make(Op::Shr, {v, writer_.Int(raw, spread.byte * 8)});
    v = writer_.Cast(v, bits);
  } else {
    for (uint64_t n = 0; n * word_size < size; ++n) {
      Value part = writer_.Cast(load(n), bits);
      if (n != 0) part = Make(Op::Shl, {part, Number(n * word_size * 8, bits)});
      v = n == 0 ? part : Make(Op::Or, {v, part});
    }
  }
  if (type.IsBool()) return Make(Op::Ne, {v, writer_.Zero(bits)});
  return type == bits ? v : writer_.Bitcast(v, type);
}

void Memory::StoreWords(const Object& spread, Value value, SourceRange range) {
  SetPlace(range);
  Type type = spread.register_type, word = TypeOf(spread.base).ScalarType();
  uint64_t size = type.IsBool() ? 1 : ir::ByteSize(type.scalar), word_size = ir::ByteSize(word.scalar);
  Type bits = UnsignedOf(size), raw = UnsignedOf(word_size);
  if (size < word_size && (!spread.alone || spread.byte != 0))
    Refuse(
        range,
        "a number of " + std::to_string(size) + " bytes is stored beside others in a word of " +
            std::to_string(word_size) + ", which iterations would write at once",
        "use numbers of " + std::to_string(word_size) + " bytes in structs of buffers that a kernel writes");
  Value v = type.IsBool() ? writer_.Cast(value, bits) : type == bits ? value : writer_.Bitcast(value, bits);
  for (uint64_t n = 0; n == 0 || n * word_size < size; ++n) {
    std::vector<Value> indices = WordAt(spread, n);
    Value part = v;
    if (n != 0) part = Make(Op::Shr, {part, Number(n * word_size * 8, bits)});
    part = writer_.Cast(part, raw);
    if (raw != word) part = writer_.Bitcast(part, word);
    writer_.Access(Op::Store, spread.base, indices, {&part, 1});
  }
}

}  // namespace adc::frontend
