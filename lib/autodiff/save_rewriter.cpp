// A slot is a number with one digit per loop around the value, in a radix that the arguments of the launch
// give. The iteration of the `parallel` is the lowest digit, so that the threads of a wave write neighbouring
// elements, and the loops inside of it follow:
//
//   parallel %i, %j in 0..%n, 0..%m { for %t in 0..%k { %a = load ... } }
//   slot(%a) = base + t * (n * m) + i * m + j,   base = slots of the values before
//
// A loop whose length depends on data has the digits of the longest that its arguments allow: those of a
// `while max`, with a counter that it carries from here on, of a `parallel` that runs behind a condition
// (transform/guard_tasks.h), of a `for` up to a minimum or an index. Where they allow any, an element that
// the index names bounds it (slot_bounds.h), and may say which iteration of the `parallel` it is as well:
// then the latter has no digit. Slots of iterations that do not run stay as they are.
//
// A loop that only data bounds, an *open* one, has the top digit, which needs no radix; so may one axis of
// the `parallel`. Of several loops one inside the other the innermost is counted from the beginning of the
// outermost:
//
//   parallel %i in 0..%n { for %j in lo[%i]..hi[%i] { while { ... } do { %a = load ... } } }
//   slot(%a) = (iterations of the `while` so far) * n + i
//
// Such values have a buffer of their own, whose length is a stack's (adstack/saved_stacks.h).
//
// All of it is 64-bit arithmetic: a buffer of 2^31 elements and more is what this is for.

#include "autodiff/save_rewriter.h"

#include <algorithm>
#include <map>

#include "autodiff/activity.h"
#include "autodiff/save_final_values.h"
#include "autodiff/slot_bounds.h"
#include "ir/module.h"
#include "ir/type.h"
#include "transform/memory_to_registers.h"
#include "transform/rewriter.h"

namespace adc::autodiff {

using ir::Block, ir::Inst, ir::InstData, ir::kI64, ir::Op, ir::Type, ir::Value;

namespace {

class SaveRewriter final : public transform::Rewriter {
 public:
  SaveRewriter(ir::Module& module, const ir::Function& from, const transform::FoldConfig& fold)
      : Rewriter(module, from, fold), activity_(module, from, DiffParameters::FromAttributes(module, from)) {}

  /// Values of loops that have no number are left out; false where `leaves` does not allow that.
  bool Plan(std::span<const Inst> values, const std::function<bool(Inst value, Inst loop)>& leaves) {
    for (Inst inst : values) {
      Site site{inst, {}};
      for (Inst at = from_[from_[inst].parent].owner; at.Valid(); at = from_[from_[at].parent].owner)
        if (from_[at].op != Op::If) site.loops.insert(site.loops.begin(), at);
      if (Inst loop = FindBounds(site); loop.Valid()) {
        if (!leaves(inst, loop)) return false;
        continue;
      }
      for (Inst loop : site.loops) {
        bool has_digit = !IsInTopDigit(site, loop) || site.open.size() == 1;
        if (from_[loop].op == Op::While && has_digit) counters_[loop] = Value();
      }
      if (site.open.size() > 1) totals_[site.OpenAround()] = Value();
      anchored_[site.loops.empty() ? inst : site.loops.front()].push_back(inst);
      sites_.emplace(inst, std::move(site));
    }
    return true;
  }

  /// Whether any value is saved.
  bool Saves() const { return !sites_.empty(); }
  /// Whether the function has counters, local arrays that are to become values.
  bool Counts() const { return !totals_.empty(); }

 private:
  /// A loop or axis around a value: its counter, its begin, its step, and its largest number of trips.
  struct Digit {
    ir::Value index;    ///< of the loop, which begins at `first`
    ir::Value counter;  ///< or, built, one that begins at 0
    ir::Value first, trips;
    int64_t step = 1;
    bool loose = false;  ///< it may run less often
  };
  /// The outermost and the innermost; the `parallel` and nothing.
  using OpenLoops = std::pair<ir::Inst, ir::Inst>;
  /// Values that lie in one buffer, one after the other, or where `open` is not empty, interleaved: `slots`
  /// for each number of the top digit.
  struct Buffer {
    ir::Value param, slots;  ///< built
  };
  struct Site {
    ir::Inst inst;
    std::vector<ir::Inst> loops;      ///< outermost first
    std::vector<ir::Inst> open = {};  ///< those of them that only data bounds
    ir::Value base = {};              ///< built: the first slot
    size_t buffer = 0;
    ir::Value open_axis = {};                          ///< an index of the `parallel` that only data bounds
    std::map<ir::Value, IndexedAxis> by_element = {};  ///< indices that are numbers of elements
    bool exclusive = false;  ///< one of these says which iteration of the `parallel` it is, too

    bool IsOpen() const { return !open.empty() || open_axis.Valid(); }
    OpenLoops OpenAround() const {
      if (open_axis.Valid()) return {loops.front(), {}};
      return open.empty() ? OpenLoops() : OpenLoops(open.front(), open.back());
    }
  };

  /// Says how the loops around a value are numbered. Valid: one that has no number.
  Inst FindBounds(Site& site) const {
    for (Inst loop : site.loops) {
      const InstData& data = from_[loop];
      if (data.op == Op::ParallelOver) continue;
      if (data.op == Op::While) {
        bool has_max = data.Has(ir::Word::HasMax) && !data.Has(ir::Word::OrNone);
        if (!has_max || !HasMost(from_, from_.Operand(loop, 0))) site.open.push_back(loop);
        continue;
      }
      size_t axes = data.op == Op::For ? 1 : from_[data.regions[0]].params.size();
      for (size_t axis = 0; axis < axes; ++axis) {
        if (IsArgumentAxis(loop, axis)) continue;
        Value index = from_[data.regions[0]].params[axis];
        IndexedAxis found = AxisOfIndex(from_, activity_, site.inst, loop, index);
        // Within two such loops an element may come again.
        if (!found.base.Valid() || (found.exclusive && site.exclusive)) {
          if (data.op == Op::For) {
            site.open.push_back(loop);
          } else if (site.open_axis.Valid()) {
            return loop;
          } else {
            site.open_axis = index;
          }
          continue;
        }
        site.exclusive = site.exclusive || found.exclusive;
        site.by_element[index] = found;
      }
    }
    // The element says which iteration it is.
    if (site.exclusive && site.open.empty()) site.open_axis = {};
    // There is one top digit.
    return site.open_axis.Valid() && !site.open.empty() ? site.open.front() : Inst();
  }

  /// Whether arguments and shapes say where the indices of an axis lie.
  bool IsArgumentAxis(Inst loop, size_t axis) const {
    auto low = static_cast<uint32_t>(2 * axis);
    return HasLeast(from_, from_.Operand(loop, low)) && HasMost(from_, from_.Operand(loop, low + 1));
  }

  /// Whether the top digit says which iteration of `loop` it is.
  static bool IsInTopDigit(const Site& site, Inst loop) {
    if (site.open.empty()) return false;
    auto place = [&](Inst one) { return std::ranges::find(site.loops, one); };
    return place(loop) >= place(site.open.front()) && place(loop) <= place(site.open.back());
  }

  Value Wide(Value v) { return into_->TypeOf(v) == ir::kI64 ? v : builder_.Cast(v, ir::kI64); }

  /// The counterpart of an expression on arguments and shapes, made here where the walk has not come to it.
  Value Rebuilt(Value v) {
    Inst inst = from_.DefiningInst(v);
    if (!inst.Valid() || map_.Get(v).Valid()) return Map(v);
    for (Value operand : from_.Operands(inst)) Rebuilt(operand);
    Copy(inst);
    return Map(v);
  }

  Value Both(Op op, Value left, Value right) {
    bool alike = into_->TypeOf(left) == into_->TypeOf(right);
    return builder_.Make(op, {alike ? left : Wide(left), alike ? right : Wide(right)});
  }

  ir::Value Most(ir::Value v) { return Extreme(v, true); }
  ir::Value Least(ir::Value v) { return Extreme(v, false); }

  /// The number of `v` that arguments and shapes let it be at most, or at least.
  Value Extreme(Value v, bool most) {
    if (IsFromArguments(from_, v)) return Rebuilt(v);
    if (ShiftedIndex shifted(from_, v); shifted.index.Valid()) {
      IndexOf at(from_, shifted.index);
      int64_t shift = shifted.shift - (most ? 1 : 0);
      return builder_.Make(Op::Add, {most ? Wide(EndOf(at)) : Wide(BeginOf(at)), builder_.I64(shift)});
    }
    Inst inst = from_.DefiningInst(v);
    auto extreme = [&](uint32_t n) { return Extreme(from_.Operand(inst, n), most); };
    auto has = [&](uint32_t n) {
      Value operand = from_.Operand(inst, n);
      return most ? HasMost(from_, operand) : HasLeast(from_, operand);
    };
    Op op = from_[inst].op;
    if (op == Op::Cast) return Wide(extreme(0));
    Op outer = most ? Op::Max : Op::Min;
    if (op == Op::Select) return Both(outer, extreme(1), extreme(2));
    if (op == outer) return Both(op, extreme(0), extreme(1));
    if (has(0) && has(1)) return Both(op, extreme(0), extreme(1));
    return extreme(has(0) ? 0 : 1);
  }

  Value BeginOf(const IndexOf& at) {
    if (from_[at.loop].op == Op::ParallelOver) return builder_.I64(0);
    return Least(from_.Operand(at.loop, at.Low()));
  }

  Value EndOf(const IndexOf& at) {
    if (from_[at.loop].op == Op::ParallelOver) return builder_.I64(ExtentOf(at.loop, at.axis));
    return Most(from_.Operand(at.loop, at.Low() + 1));
  }

  /// Of the cells that a `parallel` runs over.
  int64_t ExtentOf(Inst loop, size_t axis) const {
    const ir::Layout& layout = module_.layouts[from_.TypeOf(from_.Operand(loop, 0)).count];
    return static_cast<int64_t>(layout.fields[from_[loop].attr].axes[axis].extent);
  }

  /// The digits of `loop`, outermost axis first.
  std::vector<Digit> DigitsOf(const Site& site, Inst loop) {
    const InstData& data = from_[loop];
    std::span<const Value> indices = from_[data.regions[0]].params;
    std::vector<Digit> digits;
    if (data.op == Op::ParallelOver) {
      for (size_t axis = 0; axis < indices.size(); ++axis)
        digits.push_back({indices[axis], {}, builder_.I64(0), builder_.I64(ExtentOf(loop, axis))});
      return digits;
    }
    if (data.op == Op::While) {
      // The test runs no more often than the body may: after the last iteration there is none.
      Value most = builder_.Make(Op::Max, {Wide(Most(from_.Operand(loop, 0))), builder_.I64(0)});
      return {{{}, counters_.at(loop), {}, most, 1, true}};
    }
    size_t axes = data.op == Op::For ? 1 : indices.size();
    for (size_t axis = 0; axis < axes; ++axis) {
      if (indices[axis] == site.open_axis) continue;
      if (auto found = site.by_element.find(indices[axis]); found != site.by_element.end()) {
        Value elements = Wide(builder_.Shape(Map(found->second.base), found->second.axis));
        digits.push_back({indices[axis], {}, builder_.I64(0), elements, 1, true});
        continue;
      }
      IndexOf at(from_, indices[axis]);
      Value lo = Wide(BeginOf(at)), hi = Wide(EndOf(at));
      Digit digit{
          indices[axis], {}, lo, builder_.Make(Op::Max, {builder_.Make(Op::Sub, {hi, lo}), builder_.I64(0)})};
      digit.loose = !IsFromArguments(from_, from_.Operand(loop, at.Low())) ||
                    !IsFromArguments(from_, from_.Operand(loop, at.Low() + 1));
      if (data.op == Op::For) digit.step = *from_.IntegerConstant(from_.Operand(loop, 2));
      if (digit.step != 1) digit.trips = builder_.Make(Op::CeilDiv, {digit.trips, builder_.I64(digit.step)});
      digits.push_back(digit);
    }
    return digits;
  }

  /// All digits around a site but the top one of open loops, the lowest first: those of the parallel, then
  /// those of the loops inside.
  std::vector<Digit> DigitsOf(const Site& site) {
    std::vector<Digit> digits;
    // An element that one iteration alone stores to may come again in another of an open loop.
    bool has_iteration = site.exclusive && site.open.empty();
    for (Inst loop : site.loops) {
      if ((has_iteration && analysis::IsParallel(from_[loop].op)) || IsInTopDigit(site, loop)) continue;
      std::vector<Digit> own = DigitsOf(site, loop);
      digits.insert(digits.end(), own.rbegin(), own.rend());
    }
    return digits;
  }

  Value NumberOf(const Digit& digit) {
    Value number =
        digit.counter.Valid() ? digit.counter : builder_.Make(Op::Sub, {Wide(Map(digit.index)), digit.first});
    return digit.step != 1 ? builder_.Make(Op::Div, {number, builder_.I64(digit.step)}) : number;
  }

  /// The number of the iteration of what is open around a site.
  Value TopDigit(const Site& site) {
    if (site.open_axis.Valid()) {
      IndexOf at(from_, site.open_axis);
      return NumberOf({site.open_axis, {}, Wide(Map(from_.Operand(at.loop, at.Low()))), {}});
    }
    Inst inner = site.open.back();
    const InstData& data = from_[inner];
    if (site.open.size() == 1 && data.op == Op::While) return counters_.at(inner);
    if (site.open.size() == 1)
      return NumberOf({from_[data.regions[0]].params[0],
                       {},
                       Wide(Map(from_.Operand(inner, 0))),
                       {},
                       *from_.IntegerConstant(from_.Operand(inner, 2))});
    Value total = Total(totals_.at(site.OpenAround()));
    Block around = from_[site.inst].parent;
    while (from_[around].owner != inner) around = from_[from_[around].owner].parent;
    // A body has been counted when it begins, the test of a `while` has not.
    bool is_test = data.op == Op::While && around == data.regions[0];
    return is_test ? total : builder_.Make(Op::Sub, {total, builder_.I64(1)});
  }

  /// Of the counter that is a local array.
  Value Total(Value array) {
    Value zero = builder_.I64(0);
    return builder_.Load(array, {&zero, 1});
  }

  /// Gives the sites of an anchor, which is visited next, their buffers and first slots.
  void Prepare(Inst anchor, const std::vector<Inst>& values) {
    std::map<std::pair<ir::Scalar, OpenLoops>, size_t> known;
    builder_.SetSpan(from_[anchor].span);
    for (Inst inst : values) {
      Site& site = sites_.at(inst);
      Type element = from_.TypeOf(from_.Result(inst));
      auto [entry, fresh] = known.try_emplace({element.scalar, site.OpenAround()}, buffers_.size());
      if (fresh)
        buffers_.push_back({AddSavedBuffer(module_, *into_, element, from_[anchor].span), builder_.I64(0)});
      site.buffer = entry->second;
      Buffer& buffer = buffers_[site.buffer];
      site.base = buffer.slots;
      Value slots = builder_.I64(1);
      for (const Digit& digit : DigitsOf(site)) slots = builder_.Make(Op::Mul, {slots, digit.trips});
      buffer.slots = builder_.Make(Op::Add, {site.base, slots});
    }
  }

  void Save(const Site& site) {
    builder_.SetSpan(from_[site.inst].span);
    const Buffer& buffer = buffers_[site.buffer];
    Value slot = site.base, radix = builder_.I64(1);
    for (const Digit& digit : DigitsOf(site)) {
      Value number = NumberOf(digit);
      // Where no expression says how far it comes (a gradient counts the iterations of a `while` backwards,
      // and those of a `parallel` may be counted before the launch) the minimum bounds the slot.
      if (digit.loose)
        number = builder_.Make(Op::Min, {number, builder_.Make(Op::Sub, {digit.trips, builder_.I64(1)})});
      slot = builder_.Make(Op::Add, {slot, builder_.Make(Op::Mul, {number, radix})});
      radix = builder_.Make(Op::Mul, {radix, digit.trips});
    }
    if (site.IsOpen())
      slot = builder_.Make(Op::Add, {slot, builder_.Make(Op::Mul, {TopDigit(site), buffer.slots})});
    Value value = Map(from_.Result(site.inst));
    builder_.Access(Op::Store, buffer.param, {&slot, 1}, {&value, 1});
  }

  /// A `while` with one more carried value, which counts its iterations.
  void CopyCounted(Inst inst) {
    const InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    bool has_max = data.Has(ir::Word::HasMax);
    std::vector<Value> initial = MapAll(from_.Operands(inst).subspan(has_max));
    initial.push_back(builder_.I64(0));
    Inst loop = builder_.While(has_max ? Map(from_.Operand(inst, 0)) : Value(), initial, data.words);
    (*into_)[loop].attr = data.attr;
    Block test = (*into_)[loop].regions[0], body = (*into_)[loop].regions[1];
    const std::vector<Value>& source = from_[data.regions[0]].params;
    for (size_t n = 0; n < source.size(); ++n) {
      SetMapped(source[n], (*into_)[test].params[n]);
      (*into_)[(*into_)[test].params[n]].name = from_[source[n]].name;
    }
    Value counter = counters_[inst] = (*into_)[test].params.back();
    VisitBlock(data.regions[0], test);
    Block around = builder_.block();
    builder_.SetBlock(body);
    for (Inst one : from_[data.regions[1]].insts) {
      if (from_[one].op != Op::Yield) {
        Visit(one);
        continue;
      }
      std::vector<Value> next = MapAll(from_.Operands(one));
      builder_.SetSpan(from_[one].span);
      next.push_back(builder_.Make(Op::Add, {counter, builder_.I64(1)}));
      builder_.Yield(next);
    }
    builder_.SetBlock(around);
    for (uint32_t n = 0; n < data.result_count; ++n) {
      SetMapped(from_.Result(inst, n), into_->Result(loop, n));
      PassName(from_.Result(inst, n), into_->Result(loop, n));
    }
  }

  /// One more iteration of `inner`.
  void CountUp(Inst inner) {
    for (const auto& [ends, array] : totals_) {
      if (ends.second != inner) continue;
      Value zero = builder_.I64(0), next = builder_.Make(Op::Add, {Total(array), builder_.I64(1)});
      builder_.Access(Op::Store, array, {&zero, 1}, {&next, 1});
    }
  }

  void Visit(Inst inst) override {
    Inst owner = from_[from_[inst].parent].owner;
    bool in_body = owner.Valid() && from_[inst].parent == from_[owner].regions[from_[owner].op == Op::While];
    if (in_body && inst == from_[from_[inst].parent].insts.front()) CountUp(owner);
    if (auto values = anchored_.find(inst); values != anchored_.end()) Prepare(inst, values->second);
    for (auto& [ends, array] : totals_) {
      if (ends.first != inst) continue;
      array = builder_.Alloca(Type::Array(kI64, 1));
      Value zero = builder_.I64(0);
      builder_.Access(Op::Store, array, {&zero, 1}, {&zero, 1});
    }
    if (counters_.contains(inst)) {
      CopyCounted(inst);
    } else {
      Copy(inst);
    }
    // The test that ends a loop had a number, too.
    if (from_[inst].op == Op::While) CountUp(inst);
    if (auto site = sites_.find(inst); site != sites_.end()) Save(site->second);
  }

  Activity activity_;
  std::map<ir::Inst, ir::Value> counters_;  ///< of `while` loops around sites, built
  std::map<ir::Inst, Site> sites_;          ///< by the instruction whose result is saved
  std::map<ir::Inst, std::vector<ir::Inst>>
      anchored_;  ///< these, by the instruction of the kernel's body around them
  std::vector<Buffer> buffers_;
  /// By the outermost and the innermost of several open loops: iterations of the latter since the former
  /// began, in a local array.
  std::map<OpenLoops, ir::Value> totals_;
};

}  // namespace

bool SaveValues(ir::Module& module, const ir::Function& function, const transform::FoldConfig& fold,
                std::span<const Inst> values, const MayLeave& leaves, std::unique_ptr<ir::Function>* saved) {
  SaveRewriter rewriter(module, function, fold);
  if (!rewriter.Plan(values, leaves)) return false;
  if (!rewriter.Saves()) return true;
  *saved = rewriter.Run();
  if (!rewriter.Counts()) return true;
  if (auto promoted = transform::PromoteArrays(module, **saved, {fold})) *saved = std::move(promoted);
  return true;
}

}  // namespace adc::autodiff
