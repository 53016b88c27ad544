// Invocations are followed in step, from statement to statement: each is in a branch, may be in it, or is
// not. A condition that is not known takes both branches; a loop whose trips are not known runs once, with
// nothing known of what it carries. What an invocation accesses is noted by element, and compared at the next
// barrier.

#include "transform/workgroup_races.h"

#include <algorithm>
#include <string>
#include <utility>

#include "diag/errors/transform.h"
#include "ir/module.h"
#include "transform/workgroup_sums.h"

namespace adc::transform {

using ir::Block;
using ir::Function;
using ir::Inst;
using ir::InstData;
using ir::Op;
using ir::Value;

namespace {

constexpr uint64_t kMostSteps = 4'000'000;

enum class Active : uint8_t { No, Maybe, Yes };
/// One per invocation.
using Mask = std::vector<Active>;

class RaceSearch {
 public:
  RaceSearch(const ir::Module& module, const Function& function, Inst loop, const WorkgroupFacts& facts,
             diag::Diagnostics& diagnostics)
      : module_(module),
        function_(function),
        facts_(facts),
        diagnostics_(diagnostics),
        structure_(function),
        memory_(structure_),
        loop_(loop),
        values_(function, facts.Size()) {}

  void Run() {
    for (Value param : function_.Params()) values_.SetAlike(param);
    for (Value index : function_[function_[loop_].regions[0]].params) values_.SetAlike(index);
    for (uint32_t l = 0; l < facts_.Size(); ++l) values_.Set(facts_.Invocation(), l, Sum{l, {}});
    Follow(function_[loop_].regions[0], Mask(facts_.Size(), Active::Yes));
    Compare();
    if (steps_ <= kMostSteps) return;
    diag::Diagnostic warning{diag::Severity::Warning, diag::W0464, function_[loop_].span,
                             "the invocations of this workgroup have too many steps to be compared"};
    diagnostics_.Add(
        warning.AddHelp("see that no two of them access one element without a barrier between them"));
  }

 private:
  /// Of an element: the first invocations that stored and loaded, and another one that did.
  struct Touch {
    Inst inst;
    uint32_t invocation = 0;
    bool sure = false;
  };
  struct Element {
    std::vector<Touch> stores, atomics, loads;  ///< of two invocations at most each
  };
  /// What is accessed of one class of memory since the last barrier.
  struct Touched {
    std::map<std::vector<Sum>, Element> elements;
    Inst unknown_store, unknown_atomic, unknown_load;  ///< accesses of elements that are not known
    bool only_stored = true;                           ///< and outside of the workgroup
  };

  bool Spend(const Mask& mask) {
    steps_ += mask.size();
    return steps_ <= kMostSteps;
  }

  // ---- Following

  void Follow(Block block, const Mask& mask) {
    for (Inst inst : function_[block].insts) {
      if (!Spend(mask)) return;
      const InstData& data = function_[inst];
      if (data.op == Op::Barrier) {
        Compare();
      } else if (data.op == Op::If) {
        FollowIf(inst, mask);
      } else if (data.op == Op::For) {
        FollowFor(inst, mask);
      } else if (data.op == Op::While) {
        FollowWhile(inst, mask);
      } else if (!ir::IsTerminator(data.op)) {
        FollowPlain(inst, mask);
      }
    }
  }

  void FollowPlain(Inst inst, const Mask& mask) {
    if (ir::IsAccess(function_[inst].op)) Note(inst, mask);
    for (uint32_t n = 0; n < function_[inst].result_count; ++n) {
      Value result = function_.Result(inst, n);
      if (function_.TypeOf(result).IsArray() || function_.TypeOf(result).IsFloat()) continue;
      bool computed = ir::IsScalarOperation(function_[inst].op);
      if (computed) Compute(inst, mask);
      // A value of the whole workgroup is itself, whatever it is.
      if (!facts_.Varies(result) && !values_.Of(result, 0)) {
        values_.SetAlike(result);
      } else if (!computed) {
        values_.Forget(result);
      }
    }
  }

  void Compute(Inst inst, const Mask& mask) {
    std::vector<Known> operands(function_[inst].operand_count);
    for (uint32_t l = 0; l < mask.size(); ++l) {
      if (mask[l] == Active::No) continue;
      for (uint32_t n = 0; n < operands.size(); ++n) operands[n] = values_.Of(function_.Operand(inst, n), l);
      values_.Set(function_.Result(inst), l, Evaluate(function_, inst, operands));
    }
  }

  /// Those of `mask` for which `condition` may be `wanted`.
  Mask Where(const Mask& mask, Value condition, bool wanted) const {
    Mask taken = mask;
    for (uint32_t l = 0; l < mask.size(); ++l) {
      if (mask[l] == Active::No) continue;
      Known known = values_.Of(condition, l);
      bool decided = known && known->IsConstant();
      if (decided && (known->constant != 0) != wanted) taken[l] = Active::No;
      if (!decided) taken[l] = Active::Maybe;
    }
    return taken;
  }

  static bool Any(const Mask& mask) {
    return std::any_of(mask.begin(), mask.end(), [](Active active) { return active != Active::No; });
  }

  void FollowIf(Inst inst, const Mask& mask) {
    Value condition = function_.Operand(inst, 0);
    Mask taken[2] = {Where(mask, condition, true), Where(mask, condition, false)};
    // A barrier in one branch is none for those that take the other one.
    std::map<uint32_t, Touched> before = facts_.HasBarrier(inst) ? touched_ : std::map<uint32_t, Touched>();
    std::map<uint32_t, Touched> in_first;
    for (uint32_t r = 0; r < 2; ++r) {
      if (!Any(taken[r])) continue;
      bool second = facts_.HasBarrier(inst) && r == 1 && Any(taken[0]);
      if (second) in_first = std::exchange(touched_, before);
      Follow(function_[inst].regions[r], taken[r]);
      if (second) Join(in_first);
    }
    for (uint32_t n = 0; n < function_[inst].result_count; ++n) {
      Value yields[2];
      for (uint32_t r = 0; r < 2; ++r)
        yields[r] = function_.Operand(function_.Terminator(function_[inst].regions[r]), n);
      for (uint32_t l = 0; l < mask.size(); ++l) {
        if (mask[l] == Active::No) continue;
        Known first = values_.Of(yields[0], l), second = values_.Of(yields[1], l);
        bool one = taken[0][l] == Active::No || taken[1][l] == Active::No;
        Known known = taken[0][l] == Active::No ? second : first;
        values_.Set(function_.Result(inst, n), l, one || first == second ? known : Known());
      }
    }
  }

  void Move(std::span<const Value> from, std::span<const Value> to, const Mask& mask) {
    std::vector<std::vector<Known>> moved;
    for (Value v : from) {
      moved.emplace_back(mask.size());
      for (uint32_t l = 0; l < mask.size(); ++l) moved.back()[l] = values_.Of(v, l);
    }
    for (size_t n = 0; n < from.size(); ++n) {
      for (uint32_t l = 0; l < mask.size(); ++l) {
        if (mask[l] != Active::No) values_.Set(to[n], l, moved[n][l]);
      }
    }
  }

  std::vector<Value> ResultsOf(Inst inst) const {
    std::vector<Value> results;
    for (uint32_t n = 0; n < function_[inst].result_count; ++n) results.push_back(function_.Result(inst, n));
    return results;
  }

  /// Nothing is known of what the loop carries: its body stands for any iteration.
  void FollowAny(Inst inst, const Mask& mask) {
    for (Value param : function_[function_[inst].regions[0]].params) {
      if (facts_.Varies(param)) {
        values_.Forget(param);
      } else {
        values_.SetAlike(param);
      }
    }
    Mask maybe = mask;
    std::replace(maybe.begin(), maybe.end(), Active::Yes, Active::Maybe);
    // What is before a barrier of one iteration meets what is behind the last one of the iteration before;
    // and where there is no iteration, what is behind the loop meets what is before it.
    uint32_t times = facts_.HasBarrier(inst) ? 2 : 1;
    std::map<uint32_t, Touched> before = touched_;
    for (uint32_t n = 0; n < times; ++n) {
      for (uint32_t r = 0; r < function_.RegionCount(inst); ++r) Follow(function_[inst].regions[r], maybe);
    }
    if (facts_.HasBarrier(inst)) Join(before);
    for (Value result : ResultsOf(inst)) {
      if (facts_.Varies(result)) {
        values_.Forget(result);
      } else {
        values_.SetAlike(result);
      }
    }
  }

  /// The first three operands of a `for`; empty where they are not known.
  std::optional<std::vector<std::array<int64_t, 3>>> BoundsOf(Inst inst, const Mask& mask) const {
    std::vector<std::array<int64_t, 3>> bounds(mask.size());
    for (uint32_t l = 0; l < mask.size(); ++l) {
      for (uint32_t n = 0; n < 3 && mask[l] != Active::No; ++n) {
        Known known = values_.Of(function_.Operand(inst, n), l);
        if (!known || !known->IsConstant()) return std::nullopt;
        bounds[l][n] = known->constant;
      }
    }
    return bounds;
  }

  void FollowFor(Inst inst, const Mask& mask) {
    auto bounds = BoundsOf(inst, mask);
    if (!bounds || (function_[inst].flags & ir::kFlagReversed) != 0) return FollowAny(inst, mask);
    Block body = function_[inst].regions[0];
    std::span<const Value> params = function_[body].params;
    Move(function_.Operands(inst).subspan(3), params.subspan(1), mask);
    Mask running = mask;
    for (int64_t trip = 0;; ++trip) {
      for (uint32_t l = 0; l < mask.size(); ++l) {
        auto [low, high, step] = (*bounds)[l];
        if (running[l] != Active::No && low + trip * step >= high) running[l] = Active::No;
        if (running[l] != Active::No) values_.Set(params[0], l, Sum{low + trip * step, {}});
      }
      if (!Any(running) || !Spend(mask)) break;
      Follow(body, running);
      Move(function_.Operands(function_.Terminator(body)), params.subspan(1), running);
    }
    Move(params.subspan(1), ResultsOf(inst), mask);
  }

  void FollowWhile(Inst inst, const Mask& mask) {
    const InstData& data = function_[inst];
    std::span<const Value> params = function_[data.regions[0]].params;
    std::span<const Value> first = function_.Operands(inst).last(params.size());
    Move(first, params, mask);
    Mask running = mask;
    while (Spend(mask)) {
      Follow(data.regions[0], running);
      Value condition = function_.Operand(function_.Terminator(data.regions[0]), 0);
      for (uint32_t l = 0; l < mask.size(); ++l) {
        Known known = values_.Of(condition, l);
        if (running[l] != Active::No && (!known || !known->IsConstant())) return FollowAny(inst, mask);
      }
      running = Where(running, condition, true);
      if (!Any(running)) break;
      Follow(data.regions[1], running);
      Move(function_.Operands(function_.Terminator(data.regions[1])), params, running);
    }
    Move(params, ResultsOf(inst), mask);
  }

  // ---- Accesses

  void Note(Inst inst, const Mask& mask) {
    uint32_t memory_class = memory_.ClassOf(inst);
    Value base = function_.Operand(inst, 0);
    Inst made = function_.DefiningInst(base);
    bool is_own = made.Valid() && (function_[made].flags & ir::kFlagShared) == 0;
    if (is_own || !memory_.IsWrittenIn(memory_class, loop_)) return;
    Touched& touched = touched_[memory_class];
    bool writes = analysis::WritesMemory(function_[inst].op), is_atomic = ir::IsAtomic(function_[inst].op);
    if (made.Valid() || !writes || is_atomic) touched.only_stored = false;
    // Stores of one value by all invocations leave that value.
    bool alike = function_[inst].op == Op::Store && !facts_.Varies(function_.AccessValues(inst)[0]);
    for (uint32_t l = 0; l < mask.size(); ++l) {
      if (mask[l] == Active::No) continue;
      std::optional<std::vector<Sum>> element = ElementOf(inst, l);
      if (!element) {
        (is_atomic ? touched.unknown_atomic : writes ? touched.unknown_store : touched.unknown_load) = inst;
        return;
      }
      Element& noted = touched.elements[*element];
      std::vector<Touch>& list = is_atomic ? noted.atomics : writes ? noted.stores : noted.loads;
      bool seen = std::any_of(list.begin(), list.end(), [&](const Touch& touch) {
        return touch.invocation == l || (alike && touch.inst == inst);
      });
      if (!seen && list.size() < 2) list.push_back({inst, l, mask[l] == Active::Yes});
    }
  }

  std::optional<std::vector<Sum>> ElementOf(Inst inst, uint32_t l) const {
    std::vector<Sum> element;
    for (Value index : function_.Indices(inst)) {
      Known known = values_.Of(index, l);
      if (!known) return std::nullopt;
      element.push_back(*known);
    }
    element.push_back(Sum{int64_t{function_[inst].component}, {}});
    return element;
  }

  /// What happened since the last barrier. Of stores to a buffer that nothing reads there are no warnings:
  /// that iterations of the loop do not meet in one is for the checks of parallel loops to show.
  void Compare() {
    for (auto& [memory_class, touched] : touched_) {
      for (auto& [element, noted] : touched.elements) CompareElement(noted);
      if (!touched.only_stored) CompareUnknown(touched);
    }
    touched_.clear();
  }

  void CompareUnknown(const Touched& touched) {
    std::optional<std::vector<Sum>> before;
    bool comparable = true, loads = touched.unknown_load.Valid(), atomics = touched.unknown_atomic.Valid();
    bool stores = touched.unknown_store.Valid();
    for (const auto& [element, noted] : touched.elements) {
      loads = loads || !noted.loads.empty();
      stores = stores || !noted.stores.empty();
      atomics = atomics || !noted.atomics.empty();
      comparable = comparable && (!before || HasTermsOf(*before, element));
      before = element;
    }
    if (touched.unknown_store.Valid()) return Warn(touched.unknown_store, touched.unknown_store);
    if (touched.unknown_load.Valid() && (stores || atomics))
      return Warn(touched.unknown_load, touched.unknown_load);
    if (touched.unknown_atomic.Valid() && (stores || loads))
      return Warn(touched.unknown_atomic, touched.unknown_atomic);
    if (!comparable && stores) WarnOfMixed(touched);
  }

  /// Adds what may have happened since the last barrier as well, on another way here.
  void Join(const std::map<uint32_t, Touched>& others) {
    for (auto& [memory_class, touched] : touched_) Doubt(touched);
    for (auto [memory_class, other] : others) {
      Doubt(other);
      Touched& touched = touched_[memory_class];
      touched.only_stored = touched.only_stored && other.only_stored;
      for (Inst Touched::* unknown :
           {&Touched::unknown_store, &Touched::unknown_atomic, &Touched::unknown_load}) {
        if (!(touched.*unknown).Valid()) touched.*unknown = other.*unknown;
      }
      for (auto& [element, noted] : other.elements) {
        Element& into = touched.elements[element];
        for (std::vector<Touch> Element::* list : {&Element::stores, &Element::atomics, &Element::loads}) {
          for (const Touch& touch : noted.*list) Add(into.*list, touch);
        }
      }
    }
  }

  /// It may not have happened since the last barrier.
  static void Doubt(Touched& touched) {
    for (auto& [element, noted] : touched.elements) {
      for (std::vector<Touch>* list : {&noted.stores, &noted.atomics, &noted.loads}) {
        for (Touch& touch : *list) touch.sure = false;
      }
    }
  }

  static void Add(std::vector<Touch>& list, const Touch& added) {
    bool seen = std::any_of(list.begin(), list.end(), [&](const Touch& touch) {
      return touch.invocation == added.invocation && touch.inst == added.inst;
    });
    if (!seen && list.size() < 4) list.push_back(added);
  }

  static bool HasTermsOf(const std::vector<Sum>& a, const std::vector<Sum>& b) {
    for (size_t n = 0; n < a.size(); ++n) {
      if (a[n].terms != b[n].terms) return false;
    }
    return true;
  }

  void CompareElement(const Element& noted) {
    for (const Touch& store : noted.stores) {
      for (const std::vector<Touch>* list : {&noted.stores, &noted.atomics, &noted.loads}) {
        for (const Touch& other : *list) {
          if (other.invocation == store.invocation) continue;
          if (store.sure && other.sure) return Refuse(store, other);
          Warn(store.inst, other.inst);
        }
      }
    }
    for (const Touch& load : noted.loads) {
      for (const Touch& atomic : noted.atomics) {
        if (atomic.invocation != load.invocation) Warn(atomic.inst, load.inst);
      }
    }
  }

  void WarnOfMixed(const Touched& touched) {
    Inst store, other;
    for (const auto& [element, noted] : touched.elements) {
      if (!noted.stores.empty() && !store.Valid()) store = noted.stores[0].inst;
      for (const std::vector<Touch>* list : {&noted.loads, &noted.stores}) {
        if (!list->empty() && (*list)[0].inst != store) other = (*list)[0].inst;
      }
    }
    Warn(store, other.Valid() ? other : store);
  }

  // ---- Reports

  std::string NameOf(Inst access) const {
    StringId name = function_[function_.Operand(access, 0)].name;
    return name.Valid() ? "'%" + std::string(module_.Text(name)) + "'" : "an array";
  }

  void Refuse(const Touch& store, const Touch& other) {
    if (!reported_.Insert(store.inst)) return;
    diagnostics_
        .Error(diag::E0307, function_[store.inst].span,
               "invocation " + std::to_string(store.invocation) + " of a workgroup stores to an element of " +
                   NameOf(store.inst) + " that invocation " + std::to_string(other.invocation) +
                   " accesses, and no barrier is between them")
        .AddNote(function_[other.inst].span, "it is accessed here")
        .AddHelp("put a barrier between the two");
  }

  void Warn(Inst store, Inst other) {
    if (!reported_.Insert(store)) return;
    diag::Diagnostic warning{diag::Severity::Warning, diag::W0464, function_[store].span,
                             "two invocations of a workgroup may access one element of " + NameOf(store) +
                                 " without a barrier between them, and one of them changes it"};
    if (other != store) warning.AddNote(function_[other].span, "it is accessed here");
    diagnostics_.Add(
        warning.AddHelp("invocations run in order here, so that the result is that of one order"));
  }

  const ir::Module& module_;
  const Function& function_;
  const WorkgroupFacts& facts_;
  diag::Diagnostics& diagnostics_;
  analysis::Structure structure_;
  analysis::MemoryClasses memory_;
  Inst loop_;
  KnownValues values_;
  std::map<uint32_t, Touched> touched_;
  IndexSet<Inst> reported_;
  uint64_t steps_ = 0;
};

}  // namespace

void CheckWorkgroupRaces(const ir::Module& module, const Function& function, Inst loop,
                         const WorkgroupFacts& facts, diag::Diagnostics& diagnostics) {
  RaceSearch(module, function, loop, facts, diagnostics).Run();
}

}  // namespace adc::transform
