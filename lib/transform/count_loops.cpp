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
// cast to a wider type preserves the number. The bounds of the `for` are of i32 where both ends are known to
// lie in it and no sum of theirs can wrap, else of i64. Downward loops of step 1 are `reversed` where one
// more than their start is a number of the type; others count -1 - j upward, which no number makes wrap.
//
// Wrapping. With j < b and step s, j passes the largest number M where b > M - s + 1. If s is a power of two,
// j stays in its residue class modulo s when it wraps: an element of the class in [b, M] ends the loop before
// it wraps, and if there is none, nothing ever ends it. So the count is right for every loop that ends. A
// wrapped j of any other step meets the bound later: such a loop stays unless the bound excludes that.
// Likewise j != b ends, with a step of a power of two, after ((b - first) mod 2^width) / s iterations or not
// at all. A loop that is marked `no_wrap` promises that none of this happens to a counter with a sign, and a
// cast to more bits without one then preserves a number that grows from 0 on. A loop of 2^40 iterations
// counts as one without end.

#include "transform/count_loops.h"

#include <algorithm>
#include <bit>

#include "analysis/conditions.h"
#include "analysis/loops.h"
#include "analysis/memory.h"
#include "analysis/structure.h"
#include "analysis/uses.h"
#include "ir/module.h"
#include "transform/rewriter.h"

namespace adc::transform {
namespace {

using analysis::Fact, analysis::Facts;
using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Scalar, ir::Type, ir::Value;

/// A step that is found in more sums and branches than this is not.
constexpr uint32_t kMostSums = 200;
/// Casts and loops that are looked through for what a bound may be.
constexpr uint32_t kMostSteps = 4;

/// The interval in which an integer lies. Numbers of u64 beyond INT64_MAX count as INT64_MAX.
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
  Value bound;           ///< of the type in which the two are compared, in the old function
  Value limit;           ///< the same in the new one
  Extremes first, last;  ///< where the counter starts, and the bound
  Fact test;             ///< the comparison, while the loop goes on
  bool alone = true;     ///< nothing else ends the loop
  bool may_go_on =
      false;  ///< for some bounds the comparison holds for ever, and something else ends the loop
  bool unwrapped = false;  ///< it is promised that it does not wrap
  bool steady = true;      ///< the counter changes as well on the ways on which something else ends the loop
};

/// The `for` of a counted loop: `to - from` and `step` say how often, `reversed` in which order.
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
      : Rewriter(module, from, fold), structure_(from), memory_(structure_), uses_(from) {}

  bool any() const { return any_; }

 private:
  void Visit(Inst inst) override {
    if (from_[inst].op == Op::While) {
      if (auto found = Find(inst)) {
        any_ = true;
        return Emit(inst, found->first, found->second);
      }
    }
    if (inst != test_) Copy(inst);
  }

  // ---- What counts

  /// Of what has to hold for the loop to go on, the first comparison that counts.
  std::optional<std::pair<Counted, Shape>> Find(Inst loop) {
    const ir::InstData& data = from_[loop];
    if (data.Has(ir::Word::HasMax)) return std::nullopt;
    Block test = data.regions[0];
    for (Inst inst : structure_.Within(test)) {
      Op op = from_[inst].op;
      bool plain = op == Op::If || ir::IsTerminator(op) || analysis::IsPureOrRead(op);
      if (!plain) return std::nullopt;
    }
    Facts conditions(from_), going(from_);
    conditions.Add(analysis::ConditionOf(from_, loop), true);
    for (const Fact& one : conditions.all()) {
      const ir::ValueData& value = from_[one.condition];
      if (value.kind != ir::ValueKind::BlockParam || Block(value.owner) != test) continue;
      going.Add(analysis::CarriedYield(from_, loop, value.number), one.truth);
    }
    for (const Fact& one : conditions.all()) {
      std::optional<Counted> counted = OfTest(loop, one, going);
      if (!counted) continue;
      counted->alone = std::all_of(conditions.all().begin(), conditions.all().end(), [&](const Fact& other) {
        return other.divided || other.condition == one.condition;
      });
      if (std::optional<Shape> shape = ShapeOf(*counted)) return std::pair(*counted, *shape);
    }
    return std::nullopt;
  }

  /// `going` is what holds at the end of each iteration but the last.
  std::optional<Counted> OfTest(Inst loop, const Fact& condition, const Facts& going) {
    Inst test = from_.DefiningInst(condition.condition);
    if (!test.Valid() || !ir::IsCompare(from_[test].op)) return std::nullopt;
    Op op = condition.truth ? from_[test].op : ir::Inverted(from_[test].op);
    Value left = from_.Operand(test, 0), right = from_.Operand(test, 1);
    if (!from_.TypeOf(left).IsScalar() || !ir::IsInteger(from_.TypeOf(left).scalar)) return std::nullopt;
    std::optional<Counted> counted;
    uint32_t steps = kMostSums;
    if (StandsBefore(right, loop, steps)) {
      counted = Counter(loop, op, left, right, going);
    } else if (StandsBefore(left, loop, steps)) {
      counted = Counter(loop, ir::Mirrored(op), right, left, going);
    }
    if (counted) counted->test = condition;
    return counted;
  }

  /// Whether `v` is the same whenever the condition is evaluated, and may be computed before the loop.
  bool StandsBefore(Value v, Inst loop, uint32_t& left) const {
    if (structure_.DefinedOutside(v, loop)) return true;
    Inst inst = from_.DefiningInst(v);
    if (!inst.Valid() || from_[inst].parent != from_[loop].regions[0] || left == 0) return false;
    --left;
    Op op = from_[inst].op;
    bool is_same = op == Op::Load ? !memory_.IsWrittenIn(memory_.ClassOf(inst), loop)
                                  : op == Op::Shape || IsArithmetic(op);
    std::span<const Value> operands = from_.Operands(inst);
    return is_same && std::all_of(operands.begin(), operands.end(),
                                  [&](Value one) { return StandsBefore(one, loop, left); });
  }

  /// Such a value before the loop, in the new function.
  Value Before(Value v, Inst loop) {
    if (!structure_.DefinedOutside(v, loop)) {
      Inst inst = from_.DefiningInst(v);
      for (Value one : from_.Operands(inst)) Before(one, loop);
      Copy(inst);
    }
    return Map(v);
  }

  std::optional<Counted> Counter(Inst loop, Op op, Value compared, Value bound, const Facts& going) {
    Type type = from_.TypeOf(compared);
    bool not_below_zero = false;
    Block test = from_[loop].regions[0];
    // From the comparison down to the carried value.
    for (Inst cast = from_.DefiningInst(compared); cast.Valid(); cast = from_.DefiningInst(compared)) {
      if (from_[cast].op != Op::Cast || !structure_.Contains(loop, cast)) return std::nullopt;
      compared = from_.Operand(cast, 0);
      Type inner = from_.TypeOf(compared);
      if (!inner.IsScalar() || !ir::IsInteger(inner.scalar)) return std::nullopt;
      bool same_width = ir::BitWidth(inner.scalar) == ir::BitWidth(type.scalar);
      bool widens = ir::BitWidth(inner.scalar) < ir::BitWidth(type.scalar);
      if (!same_width && !widens) return std::nullopt;
      if (widens && ir::IsSigned(inner.scalar) && ir::IsUnsigned(type.scalar)) not_below_zero = true;
      // Below a cast of one width the type above is what counts; a wider one only compares.
      if (widens) type = inner;
    }
    const ir::ValueData& param = from_[compared];
    if (param.kind != ir::ValueKind::BlockParam || Block(param.owner) != test) return std::nullopt;
    Value yielded = analysis::CarriedYield(from_, loop, param.number);
    uint32_t left = kMostSums;
    std::optional<uint64_t> change = ChangeOf(yielded, compared, going, left);
    if (!change) return std::nullopt;
    left = kMostSums;
    bool steady = ChangeOf(yielded, compared, Facts(from_), left).has_value();
    int64_t unused = 64 - ir::BitWidth(type.scalar);
    Counted counted;
    counted.number = param.number;
    counted.type = type;
    counted.op = op;
    counted.step = static_cast<int64_t>(*change << unused) >> unused;
    counted.bound = bound;
    counted.steady = steady;
    if (counted.step == 0 || counted.step == INT64_MIN >> unused) return std::nullopt;
    counted.first = Converted(ExtremesOf(Map(from_.Operand(loop, param.number))), type);
    // Numbers of fewer bits are sums of more bits, cut.
    counted.unwrapped = from_[loop].Has(ir::Word::Unwrapped) && from_.TypeOf(compared) == type &&
                        ir::IsSigned(type.scalar) && ir::BitWidth(type.scalar) >= 32;
    if (not_below_zero && (!counted.unwrapped || counted.step < 0 || counted.first.low < 0))
      return std::nullopt;
    counted.limit = Before(bound, loop);
    counted.last = ExtremesOf(counted.limit);
    return counted;
  }

  /// The number that every way to `v` that agrees with `known` adds to `param`, modulo 2^64; found within
  /// `left` sums and branches, or empty.
  std::optional<uint64_t> ChangeOf(Value v, Value param, const Facts& known, uint32_t& left) const {
    uint64_t sum = 0;
    while (v != param) {
      Inst inst = from_.DefiningInst(v);
      if (!inst.Valid() || left == 0) return std::nullopt;
      --left;
      Op op = from_[inst].op;
      if (analysis::IsChoice(op)) {
        std::optional<uint64_t> change = ChangeOfChoice(inst, v, param, known, left);
        return change ? std::optional(sum + *change) : std::nullopt;
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

  std::optional<uint64_t> ChangeOfChoice(Inst inst, Value v, Value param, const Facts& known,
                                         uint32_t& left) const {
    std::optional<uint64_t> change;
    for (uint32_t r = 0; r < 2; ++r) {
      if (known.Exclude(inst, r)) continue;
      Value given = analysis::GivenBy(from_, inst, r, v);
      std::optional<uint64_t> one = ChangeOf(given, param, known.Inside(inst, r), left);
      if (!one || (change && change != one)) return std::nullopt;
      change = one;
    }
    return change;
  }

  /// Of a value of the new function.
  Extremes ExtremesOf(Value v, uint32_t depth = 0) const {
    Type type = into_->TypeOf(v);
    Extremes all = OfType(type);
    if (into_->IsConstant(v)) {
      auto bits = static_cast<int64_t>(into_->ConstantOf(v).bits);
      return bits < 0 && ir::IsUnsigned(type.scalar) ? Extremes{INT64_MAX, INT64_MAX, true}
                                                     : Extremes{bits, bits};
    }
    if (Inst loop = analysis::LoopOfIndex(*into_, v); loop.Valid()) {
      if ((*into_)[loop].op != Op::For || depth == kMostSteps) return all;
      Extremes lo = ExtremesOf(into_->Operand(loop, 0), depth + 1);
      Extremes hi = ExtremesOf(into_->Operand(loop, 1), depth + 1);
      return lo.low < hi.high ? Extremes{lo.low, hi.high - 1} : all;
    }
    Inst inst = into_->DefiningInst(v);
    if (!inst.Valid() || depth == kMostSteps) return all;
    if ((*into_)[inst].op == Op::Shape) return {0, all.high};
    Op op = (*into_)[inst].op;
    if (op != Op::Cast && op != Op::Div && op != Op::Add) return all;
    Value operand = into_->Operand(inst, 0);
    if (!into_->TypeOf(operand).IsScalar() || !ir::IsInteger(into_->TypeOf(operand).scalar)) return all;
    if (op == Op::Cast) return Converted(ExtremesOf(operand, depth + 1), type);
    std::optional<int64_t> constant = into_->IntegerConstant(into_->Operand(inst, 1));
    Extremes base = ExtremesOf(operand, depth + 1);
    if (op == Op::Add) return constant ? Moved(base, *constant, type) : all;
    if (!constant || *constant < 2 || base.low < 0) return all;
    uint64_t high = base.beyond ? UINT64_MAX : static_cast<uint64_t>(base.high);
    auto most = static_cast<int64_t>(high / static_cast<uint64_t>(*constant));
    return {base.low / *constant, most};
  }

  static Extremes Moved(Extremes from, int64_t by, Type type) {
    Extremes all = OfType(type);
    bool fits = !from.beyond && (by < 0 ? from.low >= all.low - by : from.high <= all.high - by);
    return fits ? Extremes{from.low + by, from.high + by} : all;
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

  // ---- How often it runs

  /// The `for` that runs as often as the comparison holds; empty where none does. `!=` becomes an order where
  /// that is the same.
  std::optional<Shape> ShapeOf(Counted& counted) {
    bool up = counted.step > 0;
    auto stride = static_cast<uint64_t>(up ? counted.step : -counted.step);
    bool is_power = std::has_single_bit(stride);
    // Numbers beyond those of an i64 are not told from the last of them.
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
        bool wider = ir::BitWidth(from_.TypeOf(counted.bound).scalar) > ir::BitWidth(counted.type.scalar);
        if (!counted.alone && (wider || stride != 1)) return std::nullopt;
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
    // The distance that the bound must have from the end of its type.
    auto margin = static_cast<int64_t>(stride - (inclusive ? 0 : 1));
    Extremes all = OfType(counted.type), last = counted.last;
    bool never = up ? last.high <= all.high - margin : last.low >= all.low + margin;
    bool always = up ? last.low > all.high - margin : last.high < all.low + margin;
    if (always || (!never && !is_power && !counted.unwrapped)) return std::nullopt;
    never = never || counted.unwrapped;
    counted.may_go_on = !never;
    if (!never && !counted.alone && ir::BitWidth(counted.type.scalar) == 64) return std::nullopt;
    if (InI32(counted.first) && InI32(counted.last) && stride <= INT32_MAX) {
      if (std::optional<Shape> shape = In(ir::kI32, counted, up, inclusive, stride)) return shape;
    }
    return In(ir::kI64, counted, up, inclusive, stride);
  }

  static bool InI32(Extremes extremes) {
    Extremes all = OfType(ir::kI32);
    return !extremes.beyond && extremes.low >= all.low && extremes.high <= all.high;
  }

  /// In `type`, if the bounds of the loop cannot wrap there.
  static std::optional<Shape> In(Type type, const Counted& counted, bool up, bool inclusive,
                                 uint64_t stride) {
    Extremes all = OfType(type);
    bool can_add = counted.last.high < all.high;
    if (up) {
      // Nothing ends a loop to the largest number of its own type.
      bool endless = counted.alone && OfType(counted.type).high == all.high;
      if (inclusive && !can_add && !endless) return std::nullopt;
      return Shape{Shape::Index, type};
    }
    if (stride == 1 && counted.first.high < all.high && (inclusive || can_add))
      return Shape{Shape::Index, type, true};
    // Nothing ends one to the smallest number, but that it wraps.
    bool ends = counted.alone && counted.unwrapped;
    if (inclusive && counted.last.low == all.low && !ends) return std::nullopt;
    return Shape{Shape::Mirrored, type};
  }

  // ---- The loop

  Value InType(Value v, Extremes extremes, Type type) {
    if (extremes.beyond) v = builder_.Make(Op::Min, {v, builder_.Int(into_->TypeOf(v), INT64_MAX)});
    return builder_.Cast(v, type);
  }

  std::pair<Value, Value> BoundsOf(const Counted& counted, const Shape& shape, Value start) {
    Value first = builder_.Cast(start, counted.type);
    Value last = counted.limit;
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
    test_ = from_.DefiningInst(counted.test.condition);
    SetMapped(counted.test.condition, builder_.Int(ir::kI1, counted.test.truth ? 1 : 0));
    builder_.SetSpan(from_[loop].span);
    Inst made = counted.alone ? EmitFor(loop, counted, shape) : EmitBounded(loop, counted, shape);
    (*into_)[made].words.Add(from_[loop].words.Of({ir::Word::Checkpoint, ir::Word::Unroll}));
    (*into_)[made].attr = from_[loop].attr;
  }

  Inst EmitFor(Inst loop, const Counted& counted, const Shape& shape) {
    const ir::InstData data = from_[loop];
    Block test = data.regions[0];
    std::vector<Value> initial = MapAll(from_.Operands(loop));
    Value start = initial[counted.number];
    auto [lo, hi] = BoundsOf(counted, shape, start);
    bool carries = uses_.IsUsed(from_.Result(loop, counted.number));
    if (!carries) initial.erase(initial.begin() + counted.number);
    Value step = builder_.Int(shape.type, counted.step > 0 ? counted.step : -counted.step);
    Inst made =
        builder_.For(lo, hi, step, initial, shape.reversed ? ir::Words{ir::Word::Reversed} : ir::Words());
    Block region = (*into_)[made].regions[0];
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
      MapNamed(from_.Result(loop, n), result);
    }
    InBlock(region, [&] {
      Value number = CounterAt(index, counted, shape, start);
      SetMapped(counter, number);
      if (shape.form != Shape::Index) PassName(counter, number);
      VisitContents(test);
      VisitContents(data.regions[1]);
      Yield(loop, counted, carried);
    });
    return made;
  }

  /// A loop that something else may end before: it counts as far as that, and no further.
  Inst EmitBounded(Inst loop, const Counted& counted, const Shape& shape) {
    std::vector<Value> initial = MapAll(from_.Operands(loop));
    Value start = initial[counted.number];
    auto [lo, hi] = BoundsOf(counted, shape, start);
    bool carries = uses_.IsUsed(from_.Result(loop, counted.number)) && !counted.steady;
    if (carries) initial.push_back(start);
    Value trips = Trips(lo, hi, std::abs(counted.step));
    if (counted.may_go_on)
      trips = builder_.Make(Op::Select, {HoldsForEver(counted, start), builder_.I64(INT64_MAX), trips});
    Inst made = builder_.While(trips, initial);
    Block test = from_[loop].regions[0];
    Block new_test = (*into_)[made].regions[0], new_body = (*into_)[made].regions[1];
    std::vector<Value> params = (*into_)[new_test].params;
    MapParams(test, params);
    MapResults(loop, ResultsOf(made));
    Value counter = carries ? params.back() : params[counted.number];
    (*into_)[counter].name = from_[from_[test].params[counted.number]].name;
    SetMapped(from_[test].params[counted.number], counter);
    InBlock(new_test, [&] {
      VisitContents(test);
      Value condition = Map(analysis::ConditionOf(from_, loop));
      builder_.Terminate(Op::ContinueIf, {&condition, 1});
    });
    InBlock(new_body, [&] {
      VisitContents(from_[loop].regions[1]);
      Yield(loop, counted, counter);
    });
    return made;
  }

  /// Whether the comparison holds for the last number that the counter comes to, and so for all.
  Value HoldsForEver(const Counted& counted, Value start) {
    bool up = counted.step > 0;
    Value end = builder_.I64(up ? OfType(counted.type).high : OfType(counted.type).low);
    Value first = builder_.Cast(builder_.Cast(start, counted.type), ir::kI64);
    Value way = up ? builder_.Make(Op::Sub, {end, first}) : builder_.Make(Op::Sub, {first, end});
    Value rest = builder_.Make(Op::And, {way, builder_.I64(std::abs(counted.step) - 1)});
    Value last = builder_.Make(up ? Op::Sub : Op::Add, {end, rest});
    return builder_.Make(counted.op, {last, InType(counted.limit, counted.last, ir::kI64)});
  }

  /// The new carried values, with that of the counter where it is `carried`: in its place where that has the
  /// same result, else after the others.
  void Yield(Inst loop, const Counted& counted, Value carried) {
    Inst yield = from_.Terminator(from_[loop].regions[1]);
    bool is_last = !counted.steady && uses_.IsUsed(from_.Result(loop, counted.number));
    std::vector<Value> yields;
    Value next;
    builder_.SetSpan(from_[yield].span);
    // In the form in which a carried value is seen to grow by a constant.
    if (carried.Valid())
      next = builder_.Make(Op::Add, {carried, builder_.Int(into_->TypeOf(carried), counted.step)});
    for (uint32_t n = 0; n < from_[loop].result_count; ++n) {
      if (n != counted.number || is_last) {
        yields.push_back(Map(from_.Operand(yield, n)));
      } else if (next.Valid()) {
        yields.push_back(next);
      }
    }
    if (is_last) yields.push_back(next);
    builder_.Yield(yields);
  }

  analysis::Structure structure_;
  analysis::MemoryClasses memory_;
  analysis::Uses uses_;
  Inst test_;  ///< the comparison of the loop that is being written
  bool any_ = false;
};

}  // namespace

void CountLoops(ir::Module& module, const CountLoopsConfig& config) {
  for (const std::unique_ptr<Function>& function : module.functions) {
    if (!AnyInst(*function, [](const ir::InstData& data) { return data.op == Op::While; })) continue;
    CountingRewriter rewriter(module, *function, config.fold);
    std::unique_ptr<Function> counted = rewriter.Run();
    if (rewriter.any()) *function = std::move(*counted);
  }
}

}  // namespace adc::transform
