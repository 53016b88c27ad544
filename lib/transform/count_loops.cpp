// `while` says nothing of how often it runs: its tape is counted before the launch, on the device. Front ends
// write it for every loop that they do not know better. Here the number of iterations is found:
//
//   %r, %e = while carry(%s = %x, %j = %n) {       %r = for %k in (-1 - n)..-1 step 2 carry(%s = %x) {
//     %c = gt %j, 0                                  %j = sub -1, %k
//     continue_if %c                           ->    ...
//   } do {                                           yield %s2
//     ...                                          }
//     %j2 = sub %j, 2
//     yield %s2, %j2
//   }
//
// A counter is a carried value that every way through the body changes by the same constant. It may be cast
// before it is compared: a cast of one width counts in the other type, modulo the same power of two, and a
// cast to a wider type preserves the number. The bounds of the `for` are computed in the type of the
// comparison where no sum of theirs can wrap, else in i64. Downward loops of step 1 are `reversed`; others
// count -1 - j upward, which no number makes wrap.
//
// Wrapping. With j < b and step s, j passes the largest number M where b > M - s + 1. If s is a power of two,
// j stays in its residue class modulo s when it wraps: an element of the class in [b, M] ends the loop before
// it wraps, and if there is none, nothing ever ends it. So the count is right for every loop that ends. A
// wrapped j of any other step meets the bound later: such a loop stays unless the bound excludes that.
// Likewise j != b ends, with a step of a power of two, after ((b - first) mod 2^width) / s iterations or not
// at all. A loop of 2^40 iterations counts as one without end.

#include "transform/count_loops.h"

#include <algorithm>
#include <bit>

#include "analysis/memory.h"
#include "analysis/structure.h"
#include "analysis/uses.h"
#include "ir/module.h"
#include "transform/rewriter.h"

namespace adc::transform {
namespace {

using ir::Block;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Scalar;
using ir::Type;
using ir::Value;

/// A step that is found in more sums and branches than this is not.
constexpr uint32_t kMostSums = 200;
/// Casts of a bound that are looked through.
constexpr uint32_t kMostCasts = 4;

/// Where an integer lies. Numbers of u64 beyond INT64_MAX count as INT64_MAX.
struct Extremes {
  int64_t low = 0;
  int64_t high = 0;
  bool beyond = false;  ///< may be above INT64_MAX
  bool IsOne() const { return low == high && !beyond; }
};

Extremes OfType(Type type) {
  int64_t bits = ir::BitWidth(type.scalar);
  if (ir::IsSigned(type.scalar)) {
    int64_t high = bits == 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1;
    return {-high - 1, high};
  }
  return bits == 64 ? Extremes{0, INT64_MAX, true} : Extremes{0, (int64_t{1} << bits) - 1};
}

struct Counted {
  uint32_t number = 0;  ///< of the carried value that counts
  Type type;            ///< in which it counts: its own, or the other one of its width
  Op op = Op::Lt;       ///< the loop goes on while `counter op bound`
  int64_t step = 0;
  Value bound;           ///< of the type in which the two are compared
  Extremes first, last;  ///< where the counter starts, and the bound
};

/// The `for` of a counted loop: `to - from` and `step` say how often, `flags` the order.
struct Shape {
  enum Form : uint8_t {
    Index,     ///< the counter is the index
    Mirrored,  ///< -1 - index
    Distance,  ///< the index is the way that the counter has come
  } form = Index;
  Type type;
  bool reversed = false;
};

class CountingRewriter final : public Rewriter {
 public:
  CountingRewriter(ir::Module& module, const Function& from, FoldConfig fold)
      : Rewriter(module, from, fold), structure_(from), uses_(from) {}

  bool any() const { return any_; }

 private:
  void Visit(Inst inst) override {
    std::optional<Counted> counted;
    std::optional<Shape> shape;
    if (from_[inst].op == Op::While) counted = Find(inst);
    if (counted) shape = ShapeOf(*counted);
    if (!shape) return Copy(inst);
    any_ = true;
    Emit(inst, *counted, *shape);
  }

  // ---- What counts

  std::optional<Counted> Find(Inst loop) const {
    const ir::InstData& data = from_[loop];
    if ((data.flags & ir::kFlagHasMax) != 0) return std::nullopt;
    for (Inst inst : from_[data.regions[0]].insts) {
      Op op = from_[inst].op;
      if (op != Op::ContinueIf && !analysis::IsPureOrRead(op)) return std::nullopt;
    }
    Value condition = from_.Operand(from_.Terminator(data.regions[0]), 0);
    bool negated = false;
    Inst test = from_.DefiningInst(condition);
    while (test.Valid() && from_[test].op == Op::Not) {
      negated = !negated;
      test = from_.DefiningInst(from_.Operand(test, 0));
    }
    if (!test.Valid() || !ir::IsCompare(from_[test].op)) return std::nullopt;
    Op op = negated ? Opposite(from_[test].op) : from_[test].op;
    Value left = from_.Operand(test, 0), right = from_.Operand(test, 1);
    if (!from_.TypeOf(left).IsScalar() || !ir::IsInteger(from_.TypeOf(left).scalar)) return std::nullopt;
    if (structure_.DefinedOutside(right, loop)) return Counter(loop, op, left, right);
    if (structure_.DefinedOutside(left, loop)) return Counter(loop, Mirror(op), right, left);
    return std::nullopt;
  }

  std::optional<Counted> Counter(Inst loop, Op op, Value compared, Value bound) const {
    Type type = from_.TypeOf(compared);
    Block test = from_[loop].regions[0];
    // From the comparison down to the carried value.
    for (Inst cast = from_.DefiningInst(compared); cast.Valid(); cast = from_.DefiningInst(compared)) {
      if (from_[cast].op != Op::Cast || !structure_.Contains(loop, cast)) return std::nullopt;
      compared = from_.Operand(cast, 0);
      Type inner = from_.TypeOf(compared);
      if (!inner.IsScalar() || !ir::IsInteger(inner.scalar)) return std::nullopt;
      bool same_width = ir::BitWidth(inner.scalar) == ir::BitWidth(type.scalar);
      bool widens = ir::BitWidth(inner.scalar) < ir::BitWidth(type.scalar) &&
                    (ir::IsUnsigned(inner.scalar) || ir::IsSigned(type.scalar));
      if (!same_width && !widens) return std::nullopt;
      // Below a cast of one width the type above is what counts; a wider one only compares.
      if (widens) type = inner;
    }
    const ir::ValueData& param = from_[compared];
    if (param.kind != ir::ValueKind::BlockParam || Block(param.owner) != test) return std::nullopt;
    Value yielded = from_.Operand(from_.Terminator(from_[loop].regions[1]), param.number);
    uint32_t left = kMostSums;
    std::optional<uint64_t> change = ChangeOf(yielded, compared, left);
    if (!change) return std::nullopt;
    int64_t unused = 64 - ir::BitWidth(type.scalar);
    Counted counted{param.number, type, op, static_cast<int64_t>(*change << unused) >> unused, bound, {}, {}};
    if (counted.step == 0 || counted.step == OfType(Signed(type)).low) return std::nullopt;
    counted.first = Converted(ExtremesOf(from_.Operand(loop, param.number)), type);
    counted.last = ExtremesOf(bound);
    return counted;
  }

  /// What every way to `v` adds to `param`, modulo 2^64, if `left` sums and branches say so.
  std::optional<uint64_t> ChangeOf(Value v, Value param, uint32_t& left) const {
    uint64_t sum = 0;
    while (v != param) {
      Inst inst = from_.DefiningInst(v);
      if (!inst.Valid() || left == 0) return std::nullopt;
      --left;
      Op op = from_[inst].op;
      Value a, b;
      if (op == Op::Select) {
        a = from_.Operand(inst, 1), b = from_.Operand(inst, 2);
      } else if (op == Op::If) {
        uint32_t number = from_[v].number;
        a = from_.Operand(from_.Terminator(from_[inst].regions[0]), number);
        b = from_.Operand(from_.Terminator(from_[inst].regions[1]), number);
      }
      if (a.Valid()) {
        std::optional<uint64_t> one = ChangeOf(a, param, left);
        if (!one || one != ChangeOf(b, param, left)) return std::nullopt;
        return sum + *one;
      }
      if (op != Op::Add && op != Op::Sub) return std::nullopt;
      Value base = from_.Operand(inst, 0), other = from_.Operand(inst, 1);
      if (op == Op::Add && from_.IsConstant(base)) std::swap(base, other);
      std::optional<int64_t> constant = from_.IntegerConstant(other);
      if (!constant) return std::nullopt;
      sum += static_cast<uint64_t>(op == Op::Add ? *constant : -static_cast<uint64_t>(*constant));
      v = base;
    }
    return sum;
  }

  Extremes ExtremesOf(Value v, uint32_t casts = 0) const {
    Type type = from_.TypeOf(v);
    Extremes all = OfType(type);
    if (from_.IsConstant(v)) {
      auto bits = static_cast<int64_t>(from_.ConstantOf(v).bits);
      return bits < 0 && ir::IsUnsigned(type.scalar) ? Extremes{INT64_MAX, INT64_MAX, true}
                                                     : Extremes{bits, bits};
    }
    Inst inst = from_.DefiningInst(v);
    if (!inst.Valid()) return all;
    if (from_[inst].op == Op::Shape) return {0, all.high};
    if (from_[inst].op == Op::Cast && casts < kMostCasts) {
      Type inner = from_.TypeOf(from_.Operand(inst, 0));
      if (inner.IsScalar() && ir::IsInteger(inner.scalar))
        return Converted(ExtremesOf(from_.Operand(inst, 0), casts + 1), type);
    }
    return all;
  }

  static Extremes Converted(Extremes from, Type to) {
    Extremes all = OfType(to);
    bool fits = !from.beyond && from.low >= all.low && from.high <= all.high;
    if (fits) return from;
    bool is_known = from.IsOne() && ir::BitWidth(to.scalar) < 64;
    if (!is_known) return all;
    int64_t unused = 64 - ir::BitWidth(to.scalar);
    uint64_t shifted = static_cast<uint64_t>(from.low) << unused;
    int64_t number = ir::IsSigned(to.scalar) ? static_cast<int64_t>(shifted) >> unused
                                             : static_cast<int64_t>(shifted >> unused);
    return {number, number};
  }

  static Type Signed(Type type) {
    switch (ir::BitWidth(type.scalar)) {
      case 8:
        return Type::Of(Scalar::I8);
      case 16:
        return Type::Of(Scalar::I16);
      case 32:
        return ir::kI32;
      default:
        return ir::kI64;
    }
  }

  static Op Opposite(Op op) {
    constexpr std::pair<Op, Op> kPairs[] = {{Op::Lt, Op::Ge}, {Op::Le, Op::Gt}, {Op::Eq, Op::Ne}};
    for (auto [a, b] : kPairs) {
      if (op == a) return b;
      if (op == b) return a;
    }
    return op;
  }

  static Op Mirror(Op op) {
    constexpr std::pair<Op, Op> kPairs[] = {{Op::Lt, Op::Gt}, {Op::Le, Op::Ge}};
    for (auto [a, b] : kPairs) {
      if (op == a) return b;
      if (op == b) return a;
    }
    return op;
  }

  // ---- How often it runs

  /// The `for` that runs as often; empty where none does. `!=` becomes an order where that is the same.
  std::optional<Shape> ShapeOf(Counted& counted) const {
    bool up = counted.step > 0;
    auto stride = static_cast<uint64_t>(up ? counted.step : -counted.step);
    bool is_power = std::has_single_bit(stride);
    // What lies beyond the numbers of an i64 is not told from the last of them.
    if (counted.first.beyond || (counted.op == Op::Ge && counted.last.beyond)) return std::nullopt;
    if (counted.op == Op::Ne) {
      bool known = counted.first.IsOne() && counted.last.IsOne();
      bool ahead = up ? counted.first.high <= counted.last.low : counted.first.low >= counted.last.high;
      auto from = static_cast<uint64_t>(counted.first.low), to = static_cast<uint64_t>(counted.last.low);
      bool meets = stride == 1 || (known && (up ? to - from : from - to) % stride == 0);
      if (known && !meets) return std::nullopt;
      if (ahead && meets) {
        counted.op = up ? Op::Lt : Op::Gt;
      } else if (is_power && ir::BitWidth(counted.type.scalar) < 64) {
        return Shape{Shape::Distance, ir::kI64};
      } else {
        return std::nullopt;
      }
    }
    bool upward = counted.op == Op::Lt || counted.op == Op::Le;
    bool downward = counted.op == Op::Gt || counted.op == Op::Ge;
    if (up ? !upward : !downward) return std::nullopt;
    bool inclusive = counted.op == Op::Le || counted.op == Op::Ge;
    // Cut to an i64, the bound has to be too far to be met.
    constexpr uint64_t kNeverRun = uint64_t{1} << 40;
    auto way = static_cast<uint64_t>(INT64_MAX - std::max<int64_t>(counted.first.high, 0));
    if (up && counted.last.beyond && way / stride < kNeverRun) return std::nullopt;
    // How far from the end of its type the bound has to lie.
    auto margin = static_cast<int64_t>(stride - (inclusive ? 0 : 1));
    Extremes all = OfType(counted.type), last = counted.last;
    bool never = up ? last.high <= all.high - margin : last.low >= all.low + margin;
    bool always = up ? last.low > all.high - margin : last.high < all.low + margin;
    if (always || (!never && !is_power)) return std::nullopt;
    bool narrow = counted.type == ir::kI32 && from_.TypeOf(counted.bound) == ir::kI32;
    if (narrow) {
      if (std::optional<Shape> shape = In(ir::kI32, counted, up, inclusive, stride)) return shape;
    }
    return In(ir::kI64, counted, up, inclusive, stride);
  }

  /// In `type`, if the bounds of the loop cannot wrap there.
  static std::optional<Shape> In(Type type, const Counted& counted, bool up, bool inclusive,
                                 uint64_t stride) {
    Extremes all = OfType(type);
    bool can_add = counted.last.high < all.high;
    if (up) {
      if (inclusive && !can_add) return std::nullopt;
      return Shape{Shape::Index, type};
    }
    if (stride == 1 && counted.first.high < all.high && (inclusive || can_add))
      return Shape{Shape::Index, type, true};
    // In i64 it can be reversed, unless it is one.
    if (stride == 1 && type == ir::kI32) return std::nullopt;
    if (inclusive && counted.last.low == all.low) return std::nullopt;
    return Shape{Shape::Mirrored, type};
  }

  // ---- The loop

  Value InType(Value v, Extremes extremes, Type type) {
    if (extremes.beyond) v = builder_.Make(Op::Min, {v, builder_.Int(into_->TypeOf(v), INT64_MAX)});
    return builder_.Cast(v, type);
  }

  std::pair<Value, Value> BoundsOf(const Counted& counted, const Shape& shape, Value start) {
    Value first = builder_.Cast(start, counted.type);
    Value last = Map(counted.bound);
    if (shape.form == Shape::Distance) {
      last = builder_.Cast(last, counted.type);
      Value way =
          counted.step > 0 ? builder_.Make(Op::Sub, {last, first}) : builder_.Make(Op::Sub, {first, last});
      return {builder_.I64(0), builder_.Cast(builder_.Cast(way, Unsigned(counted.type)), ir::kI64)};
    }
    first = InType(first, counted.first, shape.type);
    last = InType(last, counted.last, shape.type);
    Value one = builder_.Int(shape.type, 1), minus_one = builder_.Int(shape.type, -1);
    bool inclusive = counted.op == Op::Le || counted.op == Op::Ge;
    if (shape.form == Shape::Mirrored) {
      first = builder_.Make(Op::Sub, {minus_one, first});
      last = inclusive ? builder_.Make(Op::Neg, {last}) : builder_.Make(Op::Sub, {minus_one, last});
    } else if (shape.reversed) {
      return {inclusive ? last : builder_.Make(Op::Add, {last, one}), builder_.Make(Op::Add, {first, one})};
    } else if (inclusive) {
      last = builder_.Make(Op::Add, {last, one});
    }
    return {first, last};
  }

  static Type Unsigned(Type type) {
    switch (ir::BitWidth(type.scalar)) {
      case 8:
        return Type::Of(Scalar::U8);
      case 16:
        return Type::Of(Scalar::U16);
      default:
        return ir::kU32;
    }
  }

  Value CounterAt(Value index, const Counted& counted, const Shape& shape, Value start) {
    Type type = into_->TypeOf(start);
    if (shape.form == Shape::Mirrored)
      return builder_.Cast(builder_.Make(Op::Sub, {builder_.Int(shape.type, -1), index}), type);
    Value number = builder_.Cast(index, type);
    if (shape.form == Shape::Index) return number;
    return builder_.Make(counted.step > 0 ? Op::Add : Op::Sub, {start, number});
  }

  void Emit(Inst loop, const Counted& counted, const Shape& shape) {
    const ir::InstData data = from_[loop];
    Block test = data.regions[0];
    builder_.SetSpan(data.span);
    std::vector<Value> initial = MapAll(from_.Operands(loop));
    Value start = initial[counted.number];
    auto [lo, hi] = BoundsOf(counted, shape, start);
    bool carries = uses_.IsUsed(from_.Result(loop, counted.number));
    if (!carries) initial.erase(initial.begin() + counted.number);
    Value step = builder_.Int(shape.type, counted.step > 0 ? counted.step : -counted.step);
    Inst made = builder_.For(lo, hi, step, initial, shape.reversed ? ir::kFlagReversed : 0);
    (*into_)[made].flags |= data.flags & ir::kFlagCheckpoint;
    (*into_)[made].attr = data.attr;
    Block region = (*into_)[made].regions[0], outer = builder_.block();
    Value index = (*into_)[region].params[0], counter = from_[test].params[counted.number], carried;
    if (shape.form == Shape::Index) (*into_)[index].name = from_[counter].name;
    uint32_t place = 0;
    for (uint32_t n = 0; n < data.result_count; ++n) {
      if (n == counted.number && !carries) continue;
      Value param = (*into_)[region].params[place + 1], result = into_->Result(made, place);
      ++place;
      if (n == counted.number) carried = param;
      (*into_)[param].name = from_[from_[test].params[n]].name;
      SetMapped(from_[test].params[n], param);
      SetMapped(from_.Result(loop, n), result);
      PassName(from_.Result(loop, n), result);
    }
    builder_.SetBlock(region);
    SetMapped(counter, CounterAt(index, counted, shape, start));
    EmitBody(loop, counted, carried);
    builder_.SetBlock(outer);
  }

  /// What decides and the body, and the new carried values. `carried` is the counter where the loop has it
  /// among these.
  void EmitBody(Inst loop, const Counted& counted, Value carried) {
    Block test = from_[loop].regions[0], body = from_[loop].regions[1];
    Value condition = from_.Operand(from_.Terminator(test), 0);
    SetMapped(condition, builder_.Int(ir::kI1, 1));
    for (Block block : {test, body}) {
      for (Inst inst : from_[block].insts) {
        bool known = inst == from_.DefiningInst(condition);
        if (!known && !ir::IsTerminator(from_[inst].op)) Visit(inst);
      }
    }
    Inst yield = from_.Terminator(body);
    std::vector<Value> yields;
    for (uint32_t n = 0; n < from_[loop].result_count; ++n) {
      if (n != counted.number) {
        yields.push_back(Map(from_.Operand(yield, n)));
      } else if (carried.Valid()) {
        // In the form in which a carried value is seen to grow by a constant.
        Value step = builder_.Int(into_->TypeOf(carried), counted.step);
        yields.push_back(builder_.Make(Op::Add, {carried, step}));
      }
    }
    builder_.SetSpan(from_[yield].span);
    builder_.Yield(yields);
  }

  analysis::Structure structure_;
  analysis::Uses uses_;
  bool any_ = false;
};

bool HasWhile(const Function& function) {
  for (uint32_t n = 0; n < function.InstCount(); ++n) {
    if (function[Inst(n)].op == Op::While) return true;
  }
  return false;
}

}  // namespace

void CountLoops(ir::Module& module, const CountLoopsConfig& config) {
  for (const std::unique_ptr<Function>& function : module.functions) {
    if (!HasWhile(*function)) continue;
    CountingRewriter rewriter(module, *function, config.fold);
    std::unique_ptr<Function> counted = rewriter.Run();
    if (rewriter.any()) *function = std::move(*counted);
  }
}

}  // namespace adc::transform
