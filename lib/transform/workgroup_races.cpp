// Invocations are followed in step, from statement to statement: each is in a branch, may be in it, or is
// not. A condition that is not known takes both branches; a loop whose trips are not known runs once, with
// carried values that are not known. The accesses of an invocation are noted by element, and compared at the
// next barrier.

#include "transform/workgroup_races.h"

#include <algorithm>
#include <string>
#include <utility>

#include "diag/errors/transform.h"
#include "ir/module.h"
#include "ir/wording.h"
#include "transform/workgroup_sums.h"
#include "transform/workgroup_touches.h"

namespace adc::transform {

using ir::Block, ir::Function, ir::Inst, ir::InstData, ir::Op, ir::Value;

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
    Touches before = facts_.HasBarrier(inst) ? touches_ : Touches();
    for (uint32_t r = 0; r < 2; ++r) {
      if (!Any(taken[r])) continue;
      bool second = facts_.HasBarrier(inst) && r == 1 && Any(taken[0]);
      Touches in_first;
      if (second) in_first = std::exchange(touches_, before);
      Follow(function_[inst].regions[r], taken[r]);
      if (second) touches_.Join(std::move(in_first));
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
    auto forget = [&](Value v) { return facts_.Varies(v) ? values_.Forget(v) : values_.SetAlike(v); };
    for (Value param : function_[function_[inst].regions[0]].params) forget(param);
    Mask maybe = mask;
    std::replace(maybe.begin(), maybe.end(), Active::Yes, Active::Maybe);
    // Accesses before a barrier of one iteration meet those after the last barrier of the iteration before;
    // and where there is no iteration, accesses after the loop meet those before it.
    uint32_t times = facts_.HasBarrier(inst) ? 2 : 1;
    Touches before = facts_.HasBarrier(inst) ? touches_ : Touches();
    for (uint32_t n = 0; n < times; ++n) {
      for (uint32_t r = 0; r < function_.RegionCount(inst); ++r) Follow(function_[inst].regions[r], maybe);
    }
    if (facts_.HasBarrier(inst)) touches_.Join(std::move(before));
    for (Value result : ResultsOf(inst)) forget(result);
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
    if (!bounds || function_[inst].Has(ir::Word::Reversed)) return FollowAny(inst, mask);
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
    Inst made = function_.DefiningInst(function_.Operand(inst, 0));
    bool is_own = made.Valid() && !function_[made].Has(ir::Word::Shared);
    if (is_own || !memory_.IsWrittenIn(memory_class, loop_)) return;
    Op op = function_[inst].op;
    Touches::Kind kind = ir::IsAtomic(op)             ? Touches::Kind::Atomic
                         : analysis::WritesMemory(op) ? Touches::Kind::Store
                                                      : Touches::Kind::Load;
    bool alike = op == Op::Store && !facts_.Varies(function_.AccessValues(inst)[0]);
    for (uint32_t l = 0; l < mask.size(); ++l) {
      if (mask[l] == Active::No) continue;
      touches_.Note(memory_class, ElementOf(inst, l), kind, {inst, l, mask[l] == Active::Yes}, alike,
                    !made.Valid());
    }
  }

  ElementName ElementOf(Inst inst, uint32_t l) const {
    std::vector<Sum> element;
    for (Value index : function_.Indices(inst)) {
      Known known = values_.Of(index, l);
      if (!known) return std::nullopt;
      element.push_back(*known);
    }
    element.push_back(Sum{int64_t{function_[inst].component}, {}});
    return element;
  }

  void Compare() {
    touches_.Compare([&](const Touches::Conflict& conflict) {
      if (conflict.sure) {
        Refuse(conflict.change, conflict.other);
      } else {
        Warn(conflict.change.inst, conflict.other.inst);
      }
    });
  }

  // ---- Reports

  std::string NameOf(Inst access) const {
    return ir::NameOf(module_, function_, function_.Operand(access, 0), "an array");
  }

  void Refuse(const Touches::Touch& store, const Touches::Touch& other) {
    if (!refused_.Insert(store.inst)) return;
    diagnostics_
        .Error(diag::E0307, function_[store.inst].span,
               "invocation " + std::to_string(store.invocation) + " of a workgroup stores to an element of " +
                   NameOf(store.inst) + " that invocation " + std::to_string(other.invocation) +
                   " accesses, and no barrier is between them")
        .AddNote(function_[other.inst].span, "it is accessed here")
        .AddHelp("put a barrier between the two");
  }

  void Warn(Inst change, Inst other) {
    if (!warned_.Insert(change)) return;
    diag::Diagnostic warning{diag::Severity::Warning, diag::W0464, function_[change].span,
                             "two invocations of a workgroup may access one element of " + NameOf(change) +
                                 " without a barrier between them, and one of them changes it"};
    if (other != change) warning.AddNote(function_[other].span, "it is accessed here");
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
  Touches touches_;
  IndexSet<Inst> refused_, warned_;
  uint64_t steps_ = 0;
};

}  // namespace

void CheckWorkgroupRaces(const ir::Module& module, const Function& function, Inst loop,
                         const WorkgroupFacts& facts, diag::Diagnostics& diagnostics) {
  RaceSearch(module, function, loop, facts, diagnostics).Run();
}

}  // namespace adc::transform
