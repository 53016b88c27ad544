// Philox4x32-10 of J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel Random Numbers: As Easy
// as 1, 2, 3" (SC 2011): a bijection of four words, the counter, keyed by two, the seed. Ten times, with hi
// and lo the halves of a product of 64 bits,
//
//   (c0, c1, c2, c3)  =>  (hi(M1 * c2) ^ c1 ^ k0,  lo(M1 * c2),  hi(M0 * c0) ^ c3 ^ k1,  lo(M0 * c0))
//
// and (k0, k1) goes up by (W0, W1) between the rounds. A number depends on nothing but the operands, so that
// the gradient computes it again and there is no state. The interpreter has a version of its own
// (ir/philox.h), which the published test vectors check as well.

#include "transform/random_expansion.h"

#include <array>

namespace adc::transform {
namespace {

using ir::Op, ir::Scalar, ir::Type, ir::Value;

constexpr Type kU32 = Type::Of(Scalar::U32);
constexpr Type kU64 = Type::Of(Scalar::U64);
constexpr std::array<uint32_t, 2> kMultiplier = {0xD2511F53, 0xCD9E8D57};
constexpr std::array<uint32_t, 2> kWeyl = {0x9E3779B9, 0xBB67AE85};
constexpr int kRounds = 10;

class Expansion {
 public:
  explicit Expansion(FoldingBuilder& builder) : builder_(builder) {}

  std::array<Value, 4> Words(std::span<const Value> operands) {
    std::array<Value, 2> key = Halves(operands[0]);
    std::array<Value, 2> low = Halves(operands[1]);
    Value zero = builder_.Zero(kU32);
    std::array<Value, 2> high = {zero, zero};
    if (operands.size() > 2) high = Halves(operands[2]);
    std::array<Value, 4> words = {low[0], low[1], high[0], high[1]};
    for (int round = 0; round < kRounds; ++round) {
      if (round != 0) {
        for (size_t n = 0; n < 2; ++n)
          key[n] = builder_.Make(Op::Add, {key[n], builder_.Int(kU32, kWeyl[n])});
      }
      std::array<Value, 2> first = Product(words[0], kMultiplier[0]);
      std::array<Value, 2> second = Product(words[2], kMultiplier[1]);
      words = {Mix(second[1], words[1], key[0]), second[0], Mix(first[1], words[3], key[1]), first[0]};
    }
    return words;
  }

  /// Component `number` of the result.
  Value Component(const std::array<Value, 4>& words, Scalar scalar, uint32_t number) {
    Type type = Type::Of(scalar);
    if (scalar == Scalar::U64 || scalar == Scalar::F64) {
      Value low = builder_.Cast(words[2 * number], kU64), high = builder_.Cast(words[2 * number + 1], kU64);
      Value bits = builder_.Make(Op::Or, {low, builder_.Make(Op::Shl, {high, builder_.Int(kU64, 32)})});
      return scalar == Scalar::U64 ? bits : Fraction(bits, type, 64, 53);
    }
    Value bits = words[number];
    return scalar == Scalar::U32 ? bits : Fraction(bits, type, 32, scalar == Scalar::F16 ? 11 : 24);
  }

 private:
  /// The low and the high word of the bits of an integer, with zeros above them.
  std::array<Value, 2> Halves(Value v) {
    Type type = builder_.function().TypeOf(v);
    if (ir::BitWidth(type.scalar) == 32) {
      Value word = type == kU32 ? v : builder_.Cast(v, kU32);
      return {word, builder_.Zero(kU32)};
    }
    return Split(type == kU64 ? v : builder_.Cast(v, kU64));
  }

  std::array<Value, 2> Split(Value wide) {
    Value high = builder_.Make(Op::Shr, {wide, builder_.Int(kU64, 32)});
    return {builder_.Cast(wide, kU32), builder_.Cast(high, kU32)};
  }

  std::array<Value, 2> Product(Value word, uint32_t factor) {
    return Split(builder_.Make(Op::Mul, {builder_.Cast(word, kU64), builder_.Int(kU64, factor)}));
  }

  Value Mix(Value a, Value b, Value c) { return builder_.Make(Op::Xor, {builder_.Make(Op::Xor, {a, b}), c}); }

  /// The uppermost `digits` of `width` bits as a number in [0, 1): exact, so that targets agree.
  Value Fraction(Value bits, Type type, int width, int digits) {
    Type integer = builder_.function().TypeOf(bits);
    Value top = builder_.Make(Op::Shr, {bits, builder_.Int(integer, width - digits)});
    Value scale = builder_.Float(type, 1.0 / static_cast<double>(uint64_t{1} << digits));
    return builder_.Make(Op::Mul, {builder_.Cast(top, type), scale});
  }

  FoldingBuilder& builder_;
};

}  // namespace

std::vector<Value> ExpandRandom(FoldingBuilder& builder, std::span<const Value> operands, Type type) {
  Expansion expand(builder);
  std::array<Value, 4> words = expand.Words(operands);
  std::vector<Value> components;
  for (uint32_t n = 0; n < type.Components(); ++n)
    components.push_back(expand.Component(words, type.scalar, n));
  return components;
}

}  // namespace adc::transform
