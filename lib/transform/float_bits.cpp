// Integer operations on the bits of floats are linear over the field of two elements: exclusive or adds, a
// mask of constants or of all ones and none multiplies, a shift moves. So an integer is held as a sum of
// terms
//
//   (bits of a float, or all ones) shifted left, and a mask, where a condition holds
//
// with at most one condition in a sum. `a | b` is `a ^ b ^ (a & b)`. A swap by exclusive or, for example:
//
//   %t = and (xor %a, %b), %m     a where c, b where c             (%m is all ones where c holds, else zero)
//   %r = xor %a, %t               a, a where c, b where c          where c: b;  elsewhere: a
//
// A sum that is the bits of one float in both cases becomes a `select` of the two, and a single term from
// then on: in a network of swaps sums stay short.

#include "transform/float_bits.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/module.h"
#include "transform/rewriter.h"

namespace adc::transform {
namespace {

using ir::Function, ir::Inst, ir::Op, ir::Scalar, ir::Type, ir::Value;

constexpr size_t kMostTerms = 12;

uint64_t Ones(uint32_t width) {
  return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

struct Term {
  Value base;         ///< a float of the new function; invalid: all ones
  int shift = 0;      ///< its bits are shifted left by this
  uint64_t mask = 0;  ///< and then masked
  Value condition;    ///< an i1 of the new function; invalid: always there
  bool holds = true;  ///< the term is there where the condition is this
};
using Sum = std::vector<Term>;

class FloatBitsRewriter final : public Rewriter {
 public:
  using Rewriter::Rewriter;

 private:
  void Visit(Inst inst) override {
    const ir::InstData& data = from_[inst];
    if (data.result_count != 1 || from_.RegionCount(inst) != 0) return Copy(inst);
    Type type = from_.TypeOf(from_.Result(inst));
    if (data.op == Op::Bitcast && type.IsScalar() && ir::IsFloat(type.scalar)) {
      if (Value value = FloatOf(from_.Operand(inst, 0), type); value.Valid()) return Define(inst, value);
    }
    Copy(inst);
    if (!type.IsScalar() || !ir::IsInteger(type.scalar)) return;
    std::optional<Sum> sum = SumOf(inst, ir::BitWidth(type.scalar));
    if (!sum || sum->empty()) return;
    Shorten(*sum, ir::BitWidth(type.scalar));
    sums_.emplace(from_.Result(inst).raw, std::move(*sum));
  }

  /// The sum that an operand is known to be: a constant, or the sum that was found where it was computed.
  std::optional<Sum> Known(Value v) const {
    if (from_.IsConstant(v))
      return Sum{{.base = {}, .mask = from_.ConstantOf(v).bits & WidthMask(v), .condition = {}}};
    auto found = sums_.find(v.raw);
    if (found == sums_.end()) return std::nullopt;
    return found->second;
  }

  uint64_t WidthMask(Value v) const { return Ones(ir::BitWidth(from_.TypeOf(v).scalar)); }

  std::optional<Sum> SumOf(Inst inst, uint32_t width) {
    const ir::InstData& data = from_[inst];
    auto operand = [&](uint32_t n) { return from_.Operand(inst, n); };
    auto known = [&](uint32_t n) { return Known(operand(n)); };
    uint64_t all = Ones(width);
    if (data.op == Op::Bitcast) {
      Type from = from_.TypeOf(operand(0));
      if (!from.IsScalar() || !ir::IsFloat(from.scalar)) return known(0);
      return Sum{{.base = Map(operand(0)), .mask = all, .condition = {}}};
    }
    if (data.op == Op::Cast) return Widened(operand(0), all);
    if (data.op == Op::Neg) return MaskOfFlag(operand(0), true, all);
    if (data.op == Op::Sub && IsConstant(operand(0), 0)) return MaskOfFlag(operand(1), true, all);
    if (data.op == Op::Sub && IsConstant(operand(1), 1)) return MaskOfFlag(operand(0), false, all);
    if (data.op == Op::Add && IsConstant(operand(1), all)) return MaskOfFlag(operand(0), false, all);
    if (data.op == Op::Select) return Chosen(Map(operand(0)), known(1), known(2));
    if (data.op == Op::Shl || data.op == Op::Shr) return Shifted(inst, width);
    if (data.op == Op::Not) return Added(known(0), Sum{{.base = {}, .mask = all, .condition = {}}});
    if (data.op == Op::Xor) return Added(known(0), known(1));
    if (data.op == Op::And) return Product(known(0), known(1));
    if (data.op == Op::Or) return Added(Added(known(0), known(1)), Product(known(0), known(1)));
    return std::nullopt;
  }

  bool IsConstant(Value v, uint64_t bits) const {
    return from_.IsConstant(v) && (from_.ConstantOf(v).bits & WidthMask(v)) == bits;
  }

  /// `-flag` and `flag - 1`: all ones or none, of a flag that is 1 where a condition holds, and 0 elsewhere.
  std::optional<Sum> MaskOfFlag(Value flag, bool negated, uint64_t all) const {
    std::optional<Sum> sum = Known(flag);
    if (!sum || sum->size() != 1) return std::nullopt;
    Term& term = sum->front();
    if (term.base.Valid() || term.mask != 1 || !term.condition.Valid()) return std::nullopt;
    term.mask = all;
    if (!negated) term.holds = !term.holds;
    return sum;
  }

  /// Another width or sign. Widening a signed integer copies its highest bit.
  std::optional<Sum> Widened(Value v, uint64_t all) {
    if (from_.TypeOf(v) == Type::Of(Scalar::I1)) return Sum{{.base = {}, .mask = 1, .condition = Map(v)}};
    if (!ir::IsInteger(from_.TypeOf(v).scalar)) return std::nullopt;
    std::optional<Sum> sum = Known(v);
    if (!sum) return std::nullopt;
    uint64_t highest = WidthMask(v) ^ (WidthMask(v) >> 1);
    bool extends = ir::IsSigned(from_.TypeOf(v).scalar) && all > WidthMask(v);
    for (Term& term : *sum) {
      if (extends && (term.mask & highest) != 0) return std::nullopt;
      term.mask &= all;
    }
    return sum;
  }

  std::optional<Sum> Shifted(Inst inst, uint32_t width) {
    Value v = from_.Operand(inst, 0), amount = from_.Operand(inst, 1);
    std::optional<Sum> sum = Known(v);
    if (!sum || !from_.IsConstant(amount)) return std::nullopt;
    auto by = static_cast<uint32_t>(from_.ConstantOf(amount).bits % width);
    bool left = from_[inst].op == Op::Shl;
    if (!left && ir::IsSigned(from_.TypeOf(v).scalar)) {
      // The sign, everywhere: a mask of all ones where the float is negative.
      bool is_mask = by == width - 1 && sum->size() == 1 && (*sum)[0].base.Valid() &&
                     (*sum)[0].mask == Ones(width) && (*sum)[0].shift == 0 && !(*sum)[0].condition.Valid();
      if (!is_mask) return std::nullopt;
      return Sum{{.base = {}, .mask = Ones(width), .condition = IsNegative(Map(v))}};
    }
    for (Term& term : *sum) {
      term.mask = left ? (term.mask << by) & Ones(width) : term.mask >> by;
      if (term.base.Valid()) term.shift += left ? static_cast<int>(by) : -static_cast<int>(by);
    }
    return sum;
  }

  /// Whether the sign bit of an integer of the new function is set.
  Value IsNegative(Value integer) {
    Type type = into_->TypeOf(integer);
    Type as_signed = Type::Of(ir::BitWidth(type.scalar) == 64 ? Scalar::I64 : Scalar::I32);
    if (ir::BitWidth(type.scalar) < 32) return {};
    if (!(type == as_signed)) integer = builder_.Cast(integer, as_signed);
    return builder_.Make(Op::Lt, {integer, builder_.Zero(as_signed)});
  }

  std::optional<Sum> Chosen(Value condition, std::optional<Sum> then, std::optional<Sum> otherwise) const {
    Sum where{{.base = {}, .mask = ~uint64_t{0}, .condition = condition}}, elsewhere = where;
    elsewhere[0].holds = false;
    return Added(Product(std::move(then), where), Product(std::move(otherwise), elsewhere));
  }

  static void Add(Sum& sum, const Term& term) {
    auto same = std::find_if(sum.begin(), sum.end(), [&](const Term& other) {
      return other.base == term.base && other.shift == term.shift && other.condition == term.condition &&
             other.holds == term.holds;
    });
    if (same == sum.end())
      sum.push_back(term);
    else
      same->mask ^= term.mask;
    std::erase_if(sum, [](const Term& other) { return other.mask == 0; });
  }

  static std::optional<Sum> Added(std::optional<Sum> a, std::optional<Sum> b) {
    if (!a || !b) return std::nullopt;
    Value condition;
    for (const Sum* part : {&*a, &*b}) {
      for (const Term& term : *part) {
        if (!term.condition.Valid()) continue;
        if (condition.Valid() && !(condition == term.condition)) return std::nullopt;
        condition = term.condition;
      }
    }
    // Where there is a condition each term says when it is there, so that terms of either case add up.
    Sum all;
    for (const Sum* part : {&*a, &*b}) {
      for (Term term : *part) {
        bool splits = condition.Valid() && !term.condition.Valid();
        term.condition = condition;
        Add(all, term);
        if (!splits) continue;
        term.holds = false;
        Add(all, term);
      }
    }
    if (all.size() > kMostTerms) return std::nullopt;
    return all;
  }

  static std::optional<Sum> Product(std::optional<Sum> a, std::optional<Sum> b) {
    if (!a || !b) return std::nullopt;
    std::optional<Sum> all = Sum{};
    for (const Term& left : *a) {
      for (const Term& right : *b) {
        bool one_float = !left.base.Valid() || !right.base.Valid() ||
                         (left.base == right.base && left.shift == right.shift);
        bool one_condition =
            !left.condition.Valid() || !right.condition.Valid() || left.condition == right.condition;
        bool apart = left.condition.Valid() && left.condition == right.condition && left.holds != right.holds;
        if (apart || (left.mask & right.mask) == 0) continue;
        if (!one_float || !one_condition) return std::nullopt;
        const Term& of_float = left.base.Valid() ? left : right;
        const Term& of_condition = left.condition.Valid() ? left : right;
        all = Added(std::move(all), Sum{{of_float.base, of_float.shift, left.mask & right.mask,
                                         of_condition.condition, of_condition.holds}});
        if (!all) return std::nullopt;
      }
    }
    return all;
  }

  /// A sum that is the bits of one float everywhere becomes one term.
  void Shorten(Sum& sum, uint32_t width) {
    Type type;
    for (const Term& term : sum) {
      if (term.base.Valid() && ir::BitWidth(into_->TypeOf(term.base).scalar) == width)
        type = into_->TypeOf(term.base);
    }
    if (sum.size() < 2 || type == Type()) return;
    if (Value value = FloatOf(sum, type); value.Valid())
      sum = {{.base = value, .mask = Ones(width), .condition = {}}};
  }

  Value FloatOf(Value integer, Type type) {
    if (from_.IsConstant(integer)) return {};
    std::optional<Sum> sum = Known(integer);
    return sum ? FloatOf(*sum, type) : Value();
  }

  /// The float whose bits the sum is, made in the new function; invalid where there is none.
  Value FloatOf(const Sum& sum, Type type) {
    Value condition;
    for (const Term& term : sum) {
      if (term.condition.Valid()) condition = term.condition;
    }
    if (!condition.Valid()) return CaseOf(sum, true, type);
    Value then = CaseOf(sum, true, type), otherwise = CaseOf(sum, false, type);
    if (!then.Valid() || !otherwise.Valid()) return {};
    return builder_.Make(Op::Select, {condition, then, otherwise});
  }

  /// The same where the condition is `holds`: a constant, or a float or constant whose sign is left, cleared,
  /// set, flipped, taken from another float or multiplied by that of another.
  Value CaseOf(const Sum& sum, bool holds, Type type) {
    uint32_t width = ir::BitWidth(type.scalar);
    uint64_t sign = uint64_t{1} << (width - 1), rest = sign - 1, constant = 0;
    Value value, signs;
    bool own_sign = false;
    for (const Term& term : Merged(sum, holds)) {
      if (!term.base.Valid()) {
        constant ^= term.mask;
        continue;
      }
      if (term.shift != 0 || !(into_->TypeOf(term.base) == type)) return {};
      if ((term.mask & rest) == rest && !value.Valid()) {
        value = term.base;
        own_sign = (term.mask & sign) != 0;
      } else if (term.mask == sign && !signs.Valid()) {
        signs = term.base;
      } else {
        return {};
      }
    }
    if (!value.Valid()) {
      if (!signs.Valid()) return builder_.Bits(type, constant);
      value = builder_.Bits(type, constant & rest);
      own_sign = true;
      constant &= sign;
    }
    if ((constant & rest) != 0) return {};
    bool flips = constant != 0;
    if (!own_sign && !signs.Valid()) value = builder_.Make(Op::Abs, {value});
    if (signs.Valid()) {
      Value bits = builder_.Bitcast(signs, Type::Of(width == 64   ? Scalar::I64
                                                    : width == 32 ? Scalar::I32
                                                                  : Scalar::I16));
      Value negative =
          width < 32 ? builder_.Make(Op::Lt, {bits, builder_.Zero(into_->TypeOf(bits))}) : IsNegative(bits);
      Value positive = own_sign ? value : builder_.Make(Op::Abs, {value});
      Value turned = builder_.Make(Op::Neg, {positive});
      return builder_.Make(Op::Select, {negative, flips ? positive : turned, flips ? turned : positive});
    }
    return flips ? builder_.Make(Op::Neg, {value}) : value;
  }

  /// The terms that are there where the condition is `holds`, those of one float added up.
  static Sum Merged(const Sum& sum, bool holds) {
    Sum there;
    for (Term term : sum) {
      if (term.condition.Valid() && term.holds != holds) continue;
      term.condition = {};
      term.holds = true;
      Add(there, term);
    }
    return there;
  }

  std::unordered_map<uint32_t, Sum> sums_;  ///< by integer of the old function
};

}  // namespace

bool TakesBits(const Function& function) {
  bool out = false, back = false;
  for (uint32_t block = 0; block < function.BlockCount(); ++block) {
    for (Inst inst : function[ir::Block(block)].insts) {
      if (function[inst].op != Op::Bitcast) continue;
      bool to_float = ir::IsFloat(function.TypeOf(function.Result(inst)).scalar);
      (to_float ? back : out) = true;
    }
  }
  return out && back;
}

void FloatBits(ir::Module& module, FoldConfig fold) {
  for (size_t n = 0; n < module.functions.size(); ++n) {
    if (!TakesBits(*module.functions[n])) continue;
    *module.functions[n] = std::move(*FloatBitsRewriter(module, *module.functions[n], fold).Run());
  }
}

}  // namespace adc::transform
