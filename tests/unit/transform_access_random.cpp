// What AccessFacts claims, held against the truth: random loops, gates and indices, run exhaustively by an
// evaluator that shares nothing with the analysis. Its i32 has 8 bits and its i64 has 16, and the analysis is
// told so: then a few hundred iterations go round, and every value of a parameter matters. Runs in which an
// index is out of range count for nothing, since that is the program's error.

#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>

#include "analysis/access.h"
#include "transform_support.h"

using namespace adc;        // NOLINT
using namespace adc::test;  // NOLINT
using analysis::AccessFacts, analysis::Relation;
using ir::Inst, ir::Op;

namespace {

constexpr analysis::IndexWidths kWidths{8, 16};

struct Value {
  std::string text;
  bool wide = false;
  std::function<int64_t()> eval;
};

int64_t Wrap(int64_t value, bool wide) {
  return wide ? static_cast<int16_t>(value) : static_cast<int8_t>(value);
}

struct LoopRun {
  uint32_t loop, execution;
  int64_t iteration;
};

struct Event {
  uint32_t access;
  uint32_t time;
  std::vector<LoopRun> around;  // outermost first
};

/// A random kernel as text and as closures that run it.
class Program {
 public:
  explicit Program(uint32_t seed) : random_(seed) {
    std::string body;
    uint32_t tasks = Pick(5) == 0 ? 2 : 1;
    for (uint32_t task = 0; task < tasks; ++task) body += Parallel();
    source =
        "kernel @k(%x: buffer<vec<f32, 2>, 1>, %m: buffer<f32, 2>, %c: buffer<f32, 3>, %q: buffer<i32, 1>, "
        "%n: i32, %p: i32, %w: i32, %u: i64) {\n" +
        body + "}\n";
  }

  /// False where the run is too long, or an index was out of range.
  bool Run() {
    static constexpr std::array<int64_t, 24> kNarrow = {0,  1,  2,  3,  4,  5,  6,   7,   8,    9,  10, 12,
                                                        15, 16, 17, 32, 63, 64, 100, 127, -128, -1, -2, -64};
    for (int64_t& value : params_) value = kNarrow[Pick(kNarrow.size())];
    params_[3] = Pick(2) != 0 ? params_[3] : params_[3] * static_cast<int64_t>(1 + Pick(200));
    params_[3] = Wrap(params_[3], true);
    for (int64_t& extent : extents_) extent = Pick(3) == 0 ? static_cast<int64_t>(1 + Pick(12)) : 127;
    // An extent that nobody asks for may need 64 bits.
    for (uint32_t n = 0; n < extents_.size(); ++n)
      if (!asked_[n] && Pick(2) != 0) extents_[n] = 32767;
    salt_ = random_();
    events.clear();
    cells.clear();
    running_.clear();
    executions_ = steps_ = 0;
    in_range = true;
    for (auto& range : out_of_range) range = false;
    for (const std::function<void()>& task : tasks_) task();
    return in_range && steps_ < kMaxSteps;
  }

  std::string source;
  std::vector<Event> events;
  std::map<std::vector<int64_t>, std::vector<uint32_t>> cells;  // buffer, indices -> events
  std::vector<uint32_t> component;                              // by access; 2: the buffer has none
  std::array<bool, 300> out_of_range{};                         // by access * 3 + axis
  uint32_t accesses = 0, loops = 0;
  bool in_range = true;

 private:
  static constexpr uint32_t kMaxSteps = 20000;
  uint32_t Pick(size_t count) { return static_cast<uint32_t>(random_() % count); }

  Value Number(int64_t value, bool wide) {
    return {std::to_string(value) + (wide ? ":i64" : ":i32"), wide, [value] { return value; }};
  }
  Value Param(uint32_t number) {
    static const char* const kNames[] = {"%n", "%p", "%w", "%u"};
    return {kNames[number], number == 3, [this, number] { return params_[number]; }};
  }
  Value Shape(uint32_t number) {
    static const char* const kNames[] = {"shape(%x, 0)", "shape(%m, 0)", "shape(%m, 1)",
                                         "shape(%c, 0)", "shape(%c, 1)", "shape(%c, 2)"};
    asked_[number] = true;
    return {kNames[number], false, [this, number] { return extents_[number]; }};
  }
  Value Widen(const Value& v) { return {"(cast " + v.text + " to i64)", true, v.eval}; }
  Value Apply(const std::string& op, Value a, Value b) {
    if (a.wide && !b.wide) b = Widen(b);
    if (b.wide && !a.wide) a = Widen(a);
    bool wide = a.wide;
    std::function<int64_t()> eval = [op, wide, x = a.eval, y = b.eval] {
      int64_t l = x(), r = y();
      return Wrap(op == "add" ? l + r : op == "sub" ? l - r : l * r, wide);
    };
    return {"(" + op + " " + a.text + ", " + b.text + ")", wide, eval};
  }
  /// A division: the quotient and what remains. 0: div and rem, 1: floordiv and mod, 2: div and a difference,
  /// 3: of unsigned numbers.
  std::pair<Value, Value> Divide(const Value& a, Value b, uint32_t form) {
    if (a.wide && !b.wide) b = Widen(b);
    Value x = b.wide && !a.wide ? Widen(a) : a;
    bool wide = x.wide, floors = form == 1, is_unsigned = form == 3;
    auto read = [wide, is_unsigned](int64_t value) {
      return is_unsigned ? value & (wide ? 0xffff : 0xff) : value;
    };
    auto quotient = [=, l = x.eval, r = b.eval] {
      int64_t n = read(l()), d = read(r());
      if (d == 0) return int64_t{0};
      int64_t whole = n / d;
      return Wrap(whole - (floors && n % d != 0 && (n < 0) != (d < 0) ? 1 : 0), wide);
    };
    auto remainder = [=, l = x.eval, r = b.eval] {
      int64_t n = read(l()), d = read(r());
      if (d == 0) return int64_t{0};
      int64_t rest = n % d;
      return Wrap(rest + (floors && rest != 0 && (rest < 0) != (d < 0) ? d : 0), wide);
    };
    std::string type = wide ? "i64" : "i32", other = wide ? "u64" : "u32";
    auto apply = [&](const std::string& op) {
      if (!is_unsigned) return "(" + op + " " + x.text + ", " + b.text + ")";
      return "(cast (" + op + " (cast " + x.text + " to " + other + "), (cast " + b.text + " to " + other +
             ")) to " + type + ")";
    };
    Value whole{apply(floors ? "floordiv" : "div"), wide, quotient};
    if (form == 2) return {whole, Apply("sub", x, Apply("mul", whole, b))};
    return {whole, {apply(floors ? "mod" : "rem"), wide, remainder}};
  }
  /// The digits of an index of a loop, in several spellings and orders, or what is almost that.
  std::vector<Value> Digits(uint32_t count) {
    Value index = indices_[Pick(indices_.size())];
    if (Pick(8) == 0) index = Apply("add", index, Number(Small(), false));
    bool factors = !factors_.empty() && Pick(2) == 0;
    Value radix = factors ? factors_[1] : Uniform();
    uint32_t form = Pick(4);
    auto [high, low] = Divide(index, radix, form);
    if (Pick(4) == 0) low = Divide(index, Pick(3) == 0 ? Uniform() : radix, Pick(4)).second;
    std::vector<Value> digits = {high, low};
    if (count == 3) {
      Value second = factors ? factors_[0] : Uniform();
      auto [top, middle] = Divide(high, second, Pick(3) == 0 ? Pick(4) : form);
      if (Pick(3) == 0)
        middle = Divide(Divide(index, Apply("mul", radix, second), form).second, radix, form).first;
      if (Pick(2) == 0) top = Divide(index, Apply("mul", radix, second), form).first;
      digits = {top, middle, low};
    }
    if (count == 1 && factors && Pick(2) == 0) {
      return {Apply("add", Apply("mul", digits[1], factors_[0]), digits[0])};
    }
    if (count == 1) {
      Value stride = Pick(3) == 0 ? Uniform() : radix;
      return {Apply("add", Apply("mul", digits[0], stride), digits[1])};
    }
    if (Pick(3) == 0) std::swap(digits[0], digits[Pick(digits.size())]);
    return digits;
  }
  /// A value from outside of all loops.
  Value Uniform() {
    switch (Pick(8)) {
      case 0:
      case 1:
        return Param(Pick(3));
      case 2:
        return Pick(3) == 0 ? Param(3) : Param(Pick(3));
      case 3:
        return Shape(Pick(6));
      case 4:
        return Apply("add", Param(Pick(3)), Number(Small(), false));
      case 5:
        factors_ = {Param(Pick(3)), Param(Pick(3))};
        return Apply("mul", factors_[0], factors_[1]);
      default:
        return Number(Small(), false);
    }
  }
  int64_t Small() {
    static constexpr int64_t kValues[] = {0,  1,  1,  2,  2,  3,   4,  5,  7,  8,
                                          16, 17, 31, 32, 64, 127, -1, -2, -3, -64};
    return kValues[Pick(20)];
  }
  /// Sums of products with loop indices, most of them shaped like flattened indices.
  Value Index() {
    if (indices_.empty()) return Uniform();
    if (Pick(12) == 0) {
      Value at = indices_[Pick(indices_.size())];
      if (at.wide) return at;
      return {"(load %q[" + at.text + "])", false, [this, at] {
                return static_cast<int64_t>((static_cast<uint64_t>(at.eval() + 200) * 40503u + salt_) % 20);
              }};
    }
    Value sum = Pick(4) == 0 ? Uniform() : indices_[Pick(indices_.size())];
    uint32_t terms = Pick(4);
    for (uint32_t n = 0; n < terms; ++n) {
      Value index = indices_[Pick(indices_.size())];
      if (Pick(6) == 0 && !index.wide) index = Widen(index);
      switch (Pick(5)) {
        case 0:
          sum = Apply("add", sum, Number(Small(), false));
          break;
        case 1:
          sum = Apply(Pick(4) == 0 ? "sub" : "add", sum, index);
          break;
        case 2:
          sum = Apply("add", Apply("mul", index, extents_of_loops_[Pick(extents_of_loops_.size())]), sum);
          break;
        case 3:
          sum = Apply("add", Apply("mul", sum, extents_of_loops_[Pick(extents_of_loops_.size())]), index);
          break;
        case 4:
          sum = Apply("add", sum, Apply("mul", index, Pick(2) != 0 ? Number(Small(), false) : Uniform()));
          break;
      }
    }
    return Pick(8) == 0 && !sum.wide ? Widen(sum) : sum;
  }
  /// The index of an axis; the flattened form of all loops around more often than chance would have it.
  Value AccessIndex() {
    if (!recent_.empty() && Pick(3) == 0) {
      Value again = recent_[Pick(recent_.size())];
      if (!Seen(again)) return Index();
      return Pick(2) == 0 ? again : Apply("add", again, Number(Small(), again.wide));
    }
    Value index = Pick(2) == 0 ? Index() : Flat();
    recent_.push_back(index);
    scope_of_.push_back(scope_);
    return index;
  }
  bool Seen(const Value& v) {
    for (size_t n = 0; n < recent_.size(); ++n) {
      if (recent_[n].text != v.text) continue;
      const std::vector<uint32_t>& made = scope_of_[n];
      return made.size() <= scope_.size() && std::equal(made.begin(), made.end(), scope_.begin());
    }
    return false;
  }
  Value Flat() {
    if (indices_.empty()) return Uniform();
    Value flat = indices_[0];
    for (size_t n = 1; n < indices_.size(); ++n)
      flat = Apply("add", Apply("mul", flat, extents_of_loops_[n]), indices_[n]);
    if (Pick(3) == 0) flat = Apply("mul", flat, Number(Small(), false));
    return flat;
  }

  struct Bounds {
    Value lo, hi;
  };
  using Piece = std::pair<std::string, std::function<void()>>;
  Bounds LoopBounds() {
    bool wide = Pick(8) == 0;
    Value lo = Pick(4) == 0 ? Uniform() : Number(0, false);
    Value hi = Pick(3) == 0 ? Number(static_cast<int64_t>(1 + Pick(9)), false) : Uniform();
    if (Pick(12) == 0 && !indices_.empty()) hi = indices_[Pick(indices_.size())];
    if (wide || lo.wide || hi.wide) {
      if (!lo.wide) lo = Widen(lo);
      if (!hi.wide) hi = Widen(hi);
    }
    return {lo, hi};
  }
  void PushIndex(const std::string& name, const Bounds& bounds, const std::shared_ptr<int64_t>& cell) {
    indices_.push_back({name, bounds.lo.wide, [cell] { return *cell; }});
    bool zero = bounds.lo.text.rfind("0:", 0) == 0 || bounds.lo.text == "(cast 0:i32 to i64)";
    extents_of_loops_.push_back(zero ? bounds.hi : Apply("sub", bounds.hi, bounds.lo));
  }
  void PopIndex() {
    indices_.pop_back();
    extents_of_loops_.pop_back();
  }

  std::string Parallel() {
    uint32_t axes = 1 + Pick(2), loop = loops++;
    std::vector<Bounds> bounds;
    for (uint32_t n = 0; n < axes; ++n) bounds.push_back(LoopBounds());
    std::string names, ranges;
    std::vector<std::shared_ptr<int64_t>> cells_of;
    for (uint32_t n = 0; n < axes; ++n) {
      std::string name = "%i" + std::to_string(loop) + "_" + std::to_string(n);
      names += (n != 0 ? ", " : "") + name;
      ranges += (n != 0 ? ", " : "") + bounds[n].lo.text + ".." + bounds[n].hi.text;
      cells_of.push_back(std::make_shared<int64_t>(0));
      PushIndex(name, bounds[n], cells_of.back());
    }
    scope_.push_back(1000 + loop);
    Piece body = Block(0);
    scope_.pop_back();
    for (uint32_t n = 0; n < axes; ++n) PopIndex();
    tasks_.push_back([this, bounds, cells_of, axes, loop, run = body.second] {
      uint32_t execution = executions_++;
      int64_t iteration = 0;
      std::array<int64_t, 2> lo{}, hi{0, 1};
      for (uint32_t n = 0; n < axes; ++n) lo[n] = bounds[n].lo.eval(), hi[n] = bounds[n].hi.eval();
      for (int64_t i = lo[0]; i < hi[0]; ++i) {
        for (int64_t j = lo[1]; j < hi[1] && steps_ < kMaxSteps; ++j) {
          *cells_of[0] = i;
          if (axes > 1) *cells_of[1] = j;
          ++steps_;
          running_.push_back({loop, execution, iteration++});
          run();
          running_.pop_back();
        }
      }
    });
    return "parallel " + names + " in " + ranges + " {\n" + body.first + "}\n";
  }

  Piece Block(uint32_t depth) {
    std::string text;
    std::vector<std::function<void()>> runs;
    uint32_t count = 1 + Pick(3);
    for (uint32_t n = 0; n < count; ++n) {
      uint32_t kind = depth < 3 ? Pick(7) : 0;
      Piece piece = kind <= 3 ? Access() : kind == 4 ? Branch(depth) : Loop(depth);
      text += piece.first;
      runs.push_back(std::move(piece.second));
    }
    return {text, [runs] {
              for (const std::function<void()>& run : runs) run();
            }};
  }

  Piece Access() {
    uint32_t number = accesses++;
    if (number >= 100) return {"", [] {}};
    uint32_t rank = Pick(3) != 0 ? 1 : 2 + Pick(2), first_extent = rank == 3 ? 3 : rank - 1;
    bool vector = rank == 1;
    std::vector<Value> at;
    if (!indices_.empty() && Pick(3) == 0) at = Digits(rank);
    while (at.size() < rank) at.push_back(AccessIndex());
    uint32_t part = vector ? Pick(2) : 2;
    component.resize(accesses, 2);
    component[number] = part;
    std::string place = rank == 1 ? "%x[" : rank == 2 ? "%m[" : "%c[";
    for (uint32_t n = 0; n < rank; ++n) place += (n != 0 ? ", " : "") + at[n].text;
    place += vector ? "]." + std::to_string(part) : "]";
    bool store = Pick(2) != 0;
    std::string text =
        store ? "store " + place + ", 1.0\n" : "%a" + std::to_string(number) + " = load " + place + "\n";
    return {text, [this, number, at, first_extent, part] {
              std::vector<int64_t> cell = {first_extent, part};
              for (uint32_t axis = 0; axis < at.size(); ++axis) {
                int64_t index = at[axis].eval();
                bool outside = index < 0 || index >= extents_[first_extent + axis];
                if (outside) out_of_range[3 * number + axis] = true;
                in_range = in_range && !outside;
                cell.push_back(index);
              }
              if (events.size() > 2000) in_range = false;
              if (!in_range) steps_ = kMaxSteps;  // the rest says nothing
              if (!in_range) return;
              cells[cell].push_back(static_cast<uint32_t>(events.size()));
              events.push_back({number, static_cast<uint32_t>(events.size()), running_});
            }};
  }

  /// An index below a bound, perhaps as numbers without signs, and said by a negation or in two steps.
  Piece Inside(const Value& index) {
    Value limit = Uniform();
    if (index.wide != limit.wide) return Condition();
    bool is_unsigned = Pick(2) != 0, less = Pick(4) != 0;
    int64_t mask = !is_unsigned ? -1 : index.wide ? 0xffff : 0xff;
    std::string type = index.wide ? "u64" : "u32";
    auto text = [&](const Value& v) {
      return is_unsigned ? "(cast " + v.text + " to " + type + ")" : v.text;
    };
    std::string left = text(index), right = text(limit);
    condition_ = [index, limit, less, mask] {
      return ((index.eval() & mask) < (limit.eval() & mask)) == less;
    };
    std::string is_below = "(lt " + left + ", " + right + ")", is_above = "(ge " + left + ", " + right + ")";
    if (Pick(3) == 0) return {less ? "(not " + is_above + ")" : "(not " + is_below + ")", {}};
    if (Pick(3) == 0 && less) return {"(select " + is_below + ", " + is_below + ", false)", {}};
    return {less ? is_below : is_above, {}};
  }
  Piece Condition() {
    const Value& index = indices_[Pick(indices_.size())];
    switch (Pick(5)) {
      case 4:
        return Inside(index);
      case 0: {
        int64_t divisor = 2 << Pick(5), rest = Pick(4);
        rest %= divisor;
        std::string type = index.wide ? ":i64" : ":i32";
        condition_ = [index, divisor, rest] {
          return ((index.eval() % divisor) + divisor) % divisor == rest;
        };
        return {"(eq (mod " + index.text + ", " + std::to_string(divisor) + type + "), " +
                    std::to_string(rest) + type + ")",
                {}};
      }
      case 1: {
        Value limit = Uniform();
        condition_ = [limit] { return limit.eval() > 2; };
        return {"(gt " + limit.text + ", 2" + (limit.wide ? ":i64)" : ":i32)"), {}};
      }
      default: {
        Value limit = Pick(3) == 0 ? Index() : Uniform(), left = index;
        if (limit.wide && !left.wide) left = Widen(left);
        if (!limit.wide && left.wide) limit = Widen(limit);
        bool less = Pick(2) != 0;
        condition_ = [left, limit, less] {
          return less ? left.eval() < limit.eval() : left.eval() >= limit.eval();
        };
        return {std::string(less ? "(lt " : "(ge ") + left.text + ", " + limit.text + ")", {}};
      }
    }
  }
  Piece Branch(uint32_t depth) {
    std::string condition = Condition().first;
    std::function<bool()> holds = condition_;
    if (Pick(4) == 0) {
      std::string other = Condition().first;
      bool both = Pick(2) != 0;
      condition = std::string(both ? "(and " : "(or ") + condition + ", " + other + ")";
      holds = [x = holds, y = condition_, both] { return both ? x() && y() : x() || y(); };
    }
    scope_.push_back(2000 + scopes_++);
    Piece then = Block(depth + 1);
    scope_.back() = 2000 + scopes_++;
    Piece other = Pick(2) != 0 ? Block(depth + 1) : Piece("", [] {});
    scope_.pop_back();
    return {"if " + condition + " {\n" + then.first + "} else {\n" + other.first + "}\n",
            [holds, x = then.second, y = other.second] { holds() ? x() : y(); }};
  }
  Piece Loop(uint32_t depth) {
    uint32_t loop = loops++;
    Bounds bounds = LoopBounds();
    int64_t step = Pick(4) == 0 ? 2 + Pick(2) : 1;
    bool reversed = Pick(4) == 0;
    auto at = std::make_shared<int64_t>(0);
    std::string name = "%t" + std::to_string(loop);
    PushIndex(name, bounds, at);
    scope_.push_back(1000 + loop);
    Piece body = Block(depth + 1);
    scope_.pop_back();
    PopIndex();
    std::string text = "for " + name + " in " + bounds.lo.text + ".." + bounds.hi.text +
                       (step > 1 ? " step " + std::to_string(step) : "") + (reversed ? " reversed" : "") +
                       " {\n" + body.first + "}\n";
    return {text, [this, bounds, step, reversed, at, loop, run = body.second] {
              int64_t lo = bounds.lo.eval(), hi = bounds.hi.eval();
              int64_t trips = hi > lo ? (hi - lo + step - 1) / step : 0;
              uint32_t execution = executions_++;
              for (int64_t n = 0; n < trips && steps_ < kMaxSteps; ++n) {
                *at = lo + (reversed ? trips - 1 - n : n) * step;
                ++steps_;
                running_.push_back({loop, execution, n});
                run();
                running_.pop_back();
              }
            }};
  }

  std::mt19937 random_;
  std::array<int64_t, 4> params_{};
  std::array<int64_t, 6> extents_{};
  std::array<bool, 6> asked_{};
  uint64_t salt_ = 0;
  std::vector<Value> indices_, extents_of_loops_, recent_, factors_;  // the last product's
  std::vector<std::vector<uint32_t>> scope_of_;
  std::vector<uint32_t> scope_;
  uint32_t scopes_ = 0;
  std::function<bool()> condition_;
  std::vector<std::function<void()>> tasks_;
  std::vector<LoopRun> running_;
  uint32_t executions_ = 0, steps_ = 0;
};

/// How far two events lie in the same iterations of the same loops.
size_t Common(const Event& a, const Event& b) {
  size_t n = 0;
  while (n < a.around.size() && n < b.around.size() && a.around[n].execution == b.around[n].execution &&
         a.around[n].iteration == b.around[n].iteration)
    ++n;
  return n;
}

struct Tally {
  uint32_t claims = 0, tried = 0, runs = 0;
};

/// Every claim about `program` against some runs of it. The text of what was claimed wrongly.
std::string Falsify(uint32_t seed, Tally& tally) {
  Program program(seed);
  auto parsed = Parse(program.source);
  ir::Function& kernel = parsed->Kernel("k");
  AccessFacts facts(*parsed->module, kernel, kWidths);
  std::vector<Inst> accesses, loops;
  for (Inst inst : facts.structure().Order()) {
    if (ir::IsAccess(kernel[inst].op) && kernel.TypeOf(kernel.Operand(inst, 0)).scalar == ir::Scalar::F32)
      accesses.push_back(inst);
    if (analysis::IsLoop(kernel[inst].op)) loops.push_back(inst);
  }
  REQUIRE(accesses.size() == program.accesses);
  REQUIRE(loops.size() == program.loops);
  // The numbers of the generator are those of the text.
  std::map<std::array<uint32_t, 3>, bool> distinct;
  auto is_distinct = [&](uint32_t loop, uint32_t a, uint32_t b) {
    auto [place, fresh] = distinct.try_emplace({loop, a, b}, false);
    if (fresh) place->second = facts.DistinctAcross(loops[loop], accesses[a], accesses[b]);
    if (fresh && place->second) ++tally.claims;
    return place->second;
  };
  for (uint32_t run = 0; run < 10; ++run) {
    bool valid = program.Run();
    for (uint32_t n = 0; n < accesses.size(); ++n) {
      for (uint32_t axis = 0; axis < kernel[accesses[n]].index_count; ++axis) {
        if (program.out_of_range[3 * n + axis] && facts.InRange(accesses[n], axis))
          return "InRange of access " + std::to_string(n);
      }
    }
    if (!valid) continue;
    ++tally.runs;
    uint32_t pairs = 0;
    for (const auto& [cell, events] : program.cells) {
      for (uint32_t one : events) {
        for (uint32_t two : events) {
          if (one == two || ++pairs > 20000) continue;
          const Event& a = program.events[one];
          const Event& b = program.events[two];
          std::string about = " of accesses " + std::to_string(a.access) + " and " + std::to_string(b.access);
          size_t common = Common(a, b);
          bool apart = common < a.around.size() && common < b.around.size() &&
                       a.around[common].execution == b.around[common].execution;
          ++tally.tried;
          if (apart && is_distinct(a.around[common].loop, a.access, b.access))
            return "DistinctAcross loop " + std::to_string(a.around[common].loop) + about;
          if (!apart && facts.SameIteration(accesses[a.access], accesses[b.access]) == Relation::Distinct)
            return "SameIteration is Distinct" + about;
          if (kernel[accesses[a.access]].op != Op::Load || kernel[accesses[b.access]].op != Op::Store)
            continue;
          bool race = apart && common == 0;
          if (race && !facts.MayRace(accesses[a.access], accesses[b.access])) return "MayRace" + about;
          if ((race || b.time > a.time) && !facts.MayOverwriteLater(accesses[a.access], accesses[b.access]))
            return "MayOverwriteLater" + about;
        }
      }
    }
    // Cells of one iteration that are claimed to be the same.
    for (size_t one = 0; one < program.events.size() && one < 60; ++one) {
      for (size_t two = 0; two < one; ++two) {
        const Event& a = program.events[one];
        const Event& b = program.events[two];
        if (a.access == b.access || Common(a, b) != std::max(a.around.size(), b.around.size())) continue;
        if (facts.SameIteration(accesses[a.access], accesses[b.access]) != Relation::Same) continue;
        bool same = false;
        for (const auto& [cell, events] : program.cells) {
          bool has_a = std::find(events.begin(), events.end(), one) != events.end();
          bool has_b = std::find(events.begin(), events.end(), two) != events.end();
          same = same || (has_a && has_b);
        }
        if (!same)
          return "SameIteration is Same of accesses " + std::to_string(a.access) + " and " +
                 std::to_string(b.access);
      }
    }
  }
  return {};
}

}  // namespace

TEST_CASE("Nothing that is claimed of random accesses is false in any run of them") {
  // ADC_ACCESS_SEEDS=FIRST,COUNT tries others.
  uint32_t first = 1, count = 6500;
  if (const char* seeds = std::getenv("ADC_ACCESS_SEEDS")) {
    char* rest = nullptr;
    first = static_cast<uint32_t>(std::strtoul(seeds, &rest, 10));
    if (*rest == ',') count = static_cast<uint32_t>(std::strtoul(rest + 1, nullptr, 10));
  }
  Tally tally;
  for (uint32_t seed = first; seed < first + count; ++seed) {
    std::string wrong = Falsify(seed, tally);
    INFO("seed " << seed << "\n" << Program(seed).source);
    REQUIRE(wrong == "");
  }
  CAPTURE(tally.claims, tally.tried, tally.runs);
  // The test would say nothing if nothing ran or met.
  if (count >= 400) CHECK(tally.runs > count);
  if (count >= 400) CHECK(tally.tried > 100 * count);
}
