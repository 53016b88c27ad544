#include "adstack/lower.h"

#include <algorithm>
#include <map>

#include "adstack/flag_words.h"
#include "analysis/structure.h"
#include "ir/module.h"
#include "sizing/trip_count.h"
#include "support/check.h"

// The function is edited in place, block by block from the outside in: a block's instruction list is taken,
// and refilled with the old instructions and what comes before, after or instead of them. Results that go
// away (pops) map to the values that replace them.

namespace adc::adstack {
namespace {

using artifact::Storage;
using ir::Block, ir::Function, ir::Inst, ir::kI64, ir::Op, ir::Type, ir::Value;
using sizing::TripCount, sizing::WideIndex;

/// A stack on its way to memory. Where it has several gates, row and capacity are those of the gate
/// that was entered last: the others' blocks are over, or still to come.
struct Lowered {
  const PlannedStack* plan = nullptr;
  uint32_t task = 0;
  uint32_t number = 0;  ///< in the task's plan
  Value row;            ///< private: the array; saved: the buffer
  Value capacity;
  Value counter;  ///< counted: array of one i64
};

class Lowering {
 public:
  Lowering(ir::Module& module, Function& kernel, const AdstackPlan& plan, const LowerConfig& config)
      : kernel_(kernel),
        plan_(plan),
        config_(config),
        drops_(ir::IsCounting(kernel.role)),
        builder_(module, kernel, kernel.Body()) {}

  void Run() {
    for (uint32_t task = 0; task < plan_.tasks.size(); ++task) {
      const std::vector<PlannedStack>& stacks = plan_.tasks[task].stacks;
      for (uint32_t number = 0; number < stacks.size(); ++number) Enter(task, number, stacks[number]);
    }
    for (Value idle : plan_.idle_stacks) idle_.Insert(idle);
    if (stacks_.empty() && plan_.idle_stacks.empty()) return;
    LowerBlock(kernel_.Body());
  }

 private:
  void Enter(uint32_t task, uint32_t number, const PlannedStack& plan) {
    auto position = static_cast<uint32_t>(stacks_.size());
    stacks_.push_back({&plan, task, number, {}, {}, {}});
    of_stack_[plan.stack] = position;
    // If the gate is the kernel's body, the claim stands right before the first instruction that concerns the
    // task's stacks, else at the begin of the gate's block.
    if (plan.gate == kernel_.Body()) {
      claims_before_[analysis::TopLevelOf(kernel_, kernel_.DefiningInst(plan.stack))].push_back(position);
    } else {
      for (Block gate : plan.gates) claims_in_[gate].push_back(position);
    }
    for (const PlannedAccess& access : plan.accesses) {
      // The caller's buffer may have any length.
      bool wants = config_.guards || plan.storage == Storage::kSaved;
      if (!wants) guarded_.Insert(access.inst);
      if (!wants || !access.guard.Valid() || !GuardsAtLoop(plan, access)) continue;
      guarded_.Insert(access.inst);
      std::vector<uint32_t>& guards = guards_[access.guard];
      if (std::find(guards.begin(), guards.end(), position) == guards.end()) guards.push_back(position);
    }
  }

  /// Where overflows are dropped, only a loop that pops and does not push is cut: the others must run to
  /// their end.
  bool GuardsAtLoop(const PlannedStack& plan, const PlannedAccess& access) const {
    if (!drops_) return true;
    if (kernel_[access.guard].op != Op::For) return false;
    return std::none_of(plan.accesses.begin(), plan.accesses.end(), [&](const PlannedAccess& other) {
      return other.guard == access.guard && kernel_[other.inst].op == Op::StackPush;
    });
  }

  void LowerBlock(Block block) {
    std::vector<Inst> old = std::move(kernel_[block].insts);
    kernel_[block].insts.clear();
    builder_.SetBlock(block);
    if (const std::vector<uint32_t>& claimed = claims_in_.Get(block); !claimed.empty()) Claim(claimed);
    for (Inst inst : old) {
      builder_.SetSpan(kernel_[inst].span);
      if (const std::vector<uint32_t>& claimed = claims_before_.Get(inst); !claimed.empty()) Claim(claimed);
      for (uint32_t n = 0; n < kernel_[inst].operand_count; ++n) {
        Value replacement = replaced_.Get(kernel_.Operand(inst, n));
        if (replacement.Valid()) kernel_.SetOperand(inst, n, replacement);
      }
      LowerInst(inst);
    }
  }

  void LowerInst(Inst inst) {
    Op op = kernel_[inst].op;
    if (op == Op::StackNew) return LowerNew(inst);
    if (op == Op::StackPush || op == Op::StackPop || op == Op::StackTop) return LowerAccess(inst);
    std::vector<uint32_t> guards = guards_.Get(inst);
    if (op == Op::For && !guards.empty()) GuardFor(inst, guards);
    Block block = builder_.block();
    kernel_.Append(block, inst);
    for (uint32_t region = 0; region < kernel_.RegionCount(inst); ++region) {
      LowerBlock(kernel_[inst].regions[region]);
      if (op == Op::While && region == 0 && !guards.empty()) GuardWhile(inst, guards);
    }
    builder_.SetBlock(block);
  }

  void Claim(const std::vector<uint32_t>& positions) {
    std::map<uint32_t, Value> rows;  // by group, for this gate
    for (uint32_t position : positions) {
      Lowered& stack = stacks_[position];
      const PlannedStack& plan = *stack.plan;
      if (plan.storage == Storage::kPrivate) {
        uint32_t length = plan.IsBits() ? FlagWords(plan.private_length) : plan.private_length;
        // A pop reads what a push has stored. Flags are set within words that are read first.
        stack.row = builder_.Alloca(Type::Array(MemoryType(plan), length),
                                    plan.IsBits() ? ir::Words() : ir::Words{ir::Word::Unset});
        stack.capacity = builder_.I64(plan.private_length);
        continue;
      }
      if (plan.storage == Storage::kSaved) {
        stack.row = kernel_.Params()[plan.param];
        stack.capacity = builder_.Cast(builder_.Shape(stack.row, 0), kI64);
        continue;
      }
      // Serial tasks of one kernel have the body as their common gate block, but numbers of their own.
      Value& row = rows[plan.group];
      if (!row.Valid()) row = Row(Op::RowClaim, plan.group);
      stack.row = row;
      int64_t constant = 0;
      bool is_constant = plan_.exprs.IsConst(plan.capacity, &constant);
      stack.capacity = is_constant ? builder_.I64(constant) : Row(Op::RowCapacity, stack.number);
    }
  }

  Value Row(Op op, uint32_t number) {
    Inst inst = builder_.Create(op, {}, {&kI64, 1});
    kernel_[inst].attr = number;
    return kernel_.Result(inst);
  }

  void Raise(const Lowered& stack, Value needed) {
    if (drops_) return;
    Inst raise = builder_.Create(Op::StatusRaise, {&needed, 1}, {});
    kernel_[raise].attr = stack.task;
    kernel_[raise].component = stack.number;
  }

  void LowerNew(Inst inst) {
    uint32_t position = of_stack_.Get(kernel_.Result(inst));
    if (position == UINT32_MAX) return;
    Lowered& stack = stacks_[position];
    if (stack.plan->addressing == artifact::Addressing::kCounted)
      stack.counter = builder_.Alloca(Type::Array(kI64, 1));
  }

  Value Wide(Value value) { return WideIndex(builder_, value); }

  /// The type of an element in memory: flags are bits of words.
  static Type MemoryType(const PlannedStack& plan) {
    return plan.IsBits() ? kFlagWord : Type::Of(plan.scalar);
  }

  void StoreAt(const Lowered& stack, Value slot, Value value) {
    if (!stack.plan->IsBits()) return StoreElement(stack, Position(stack, slot), value);
    FlagPlace place = FlagAt(builder_, slot);
    Value position = Position(stack, place.word);
    Value word = LoadElement(stack, position);
    StoreElement(stack, position, SetFlag(builder_, word, place.bit, value));
  }

  Value LoadAt(const Lowered& stack, Value slot) {
    if (!stack.plan->IsBits()) return LoadElement(stack, Position(stack, slot));
    FlagPlace place = FlagAt(builder_, slot);
    return GetFlag(builder_, LoadElement(stack, Position(stack, place.word)), place.bit);
  }

  void StoreElement(const Lowered& stack, Value position, Value value) {
    if (stack.plan->storage != Storage::kRow) {
      builder_.Access(Op::Store, stack.row, {&position, 1}, {&value, 1});
      return;
    }
    Value operands[] = {stack.row, position, value};
    kernel_[builder_.Create(Op::RowStore, operands, {})].attr = stack.number;
  }

  Value LoadElement(const Lowered& stack, Value position) {
    if (stack.plan->storage != Storage::kRow) return builder_.Load(stack.row, {&position, 1});
    Value operands[] = {stack.row, position};
    Type type = MemoryType(*stack.plan);
    Inst load = builder_.Create(Op::RowLoad, operands, {&type, 1});
    kernel_[load].attr = stack.number;
    return kernel_.Result(load);
  }

  /// Element `number` as accesses name it. In a row it stays as wide as it is, for devices that compute in 32
  /// bits. A single private word of flags is one that a back end keeps in a register, whatever the slot.
  Value Position(const Lowered& stack, Value number) {
    if (stack.plan->storage == Storage::kRow) return kernel_.IsConstant(number) ? Wide(number) : number;
    bool is_single = stack.plan->IsBits() && FlagWords(stack.plan->private_length) == 1;
    return is_single ? builder_.I64(0) : Wide(number);
  }

  void LowerAccess(Inst inst) {
    Value stack_value = kernel_.Operand(inst, 0);
    bool is_push = kernel_[inst].op == Op::StackPush;
    uint32_t position = of_stack_.Get(stack_value);
    if (position == UINT32_MAX) {
      ADC_CHECK(idle_.Has(stack_value), "an adstack that the plan does not know");
      if (!is_push) replaced_[kernel_.Result(inst)] = builder_.Zero(kernel_.TypeOf(kernel_.Result(inst)));
      return;
    }
    const Lowered& stack = stacks_[position];
    if (stack.plan->addressing == artifact::Addressing::kCounted) return LowerCounted(inst, stack);
    Value slot = kernel_.Operand(inst, kernel_[inst].operand_count - 1);
    bool in_array = stack.plan->storage == Storage::kPrivate && !stack.plan->IsBits();
    if (in_array) slot = Wide(slot);
    Value wide = guarded_.Has(inst) ? Value() : Wide(slot);
    Value fits = wide.Valid() ? Fits(stack, wide) : Value();
    if (fits.Valid()) return AccessWhere(fits, inst, stack, slot, wide);
    Value loaded = AccessAt(inst, stack, slot);
    if (!is_push) replaced_[kernel_.Result(inst)] = loaded;
  }

  /// Pushes to the slot, or reads it; the value that is read.
  Value AccessAt(Inst inst, const Lowered& stack, Value slot) {
    if (kernel_[inst].op != Op::StackPush) return LoadAt(stack, slot);
    StoreAt(stack, slot, kernel_.Operand(inst, 1));
    return {};
  }

  /// The same where the slot `fits`. Elsewhere a push reports that it is element `number`, and a read gives
  /// 0. A counter moves only where the access succeeds, so that after an overflow pops run dry instead of
  /// astray.
  void AccessWhere(Value fits, Inst inst, const Lowered& stack, Value slot, Value number) {
    bool is_push = kernel_[inst].op == Op::StackPush;
    bool moves = stack.counter.Valid() && kernel_[inst].op != Op::StackTop;
    uint32_t results = is_push ? 0 : 1;
    Type type = Type::Of(stack.plan->scalar);
    auto following = [&] { return builder_.Make(Op::Add, {number, builder_.I64(1)}); };
    auto access = [&] {
      Value zero = builder_.I64(0), next = moves && is_push ? following() : slot;
      Value loaded = AccessAt(inst, stack, slot);
      if (moves) builder_.Access(Op::Store, stack.counter, {&zero, 1}, {&next, 1});
      builder_.Yield({&loaded, results});
    };
    auto drop = [&] {
      // Of what other stacks read the push has said it.
      if (is_push || stack.plan->storage == Storage::kSaved) Raise(stack, following());
      Value zero = builder_.Zero(type);
      builder_.Yield({&zero, results});
    };
    Inst branch = builder_.Branch(fits, {&type, results}, access, drop);
    if (!is_push) replaced_[kernel_.Result(inst)] = kernel_.Result(branch);
  }

  /// Whether `slot` lies in the stack; invalid where it surely does.
  Value Fits(const Lowered& stack, Value slot) {
    std::optional<int64_t> constant = kernel_.IntegerConstant(slot);
    std::optional<int64_t> capacity = kernel_.IntegerConstant(stack.capacity);
    if (constant && capacity && *constant >= 0 && *constant < *capacity) return {};
    Value above = builder_.Make(Op::Ge, {slot, builder_.I64(0)});
    return builder_.Make(Op::And, {above, builder_.Make(Op::Lt, {slot, stack.capacity})});
  }

  void LowerCounted(Inst inst, const Lowered& stack) {
    bool is_push = kernel_[inst].op == Op::StackPush;
    Value zero = builder_.I64(0), one = builder_.I64(1);
    Value count = builder_.Load(stack.counter, {&zero, 1});
    Value slot = is_push ? count : builder_.Make(Op::Sub, {count, one});
    Value fits =
        is_push ? builder_.Make(Op::Lt, {slot, stack.capacity}) : builder_.Make(Op::Ge, {slot, zero});
    AccessWhere(fits, inst, stack, slot, count);
  }

  Value AnyOf(Value a, Value b) { return a.Valid() ? builder_.Make(Op::Or, {a, b}) : b; }

  /// `if over { status.raise ... }`, for each stack on its own where there are several.
  void RaiseWhere(Value any, const std::vector<std::pair<uint32_t, Value>>& over, Value needed) {
    if (over.empty() || drops_) return;
    builder_.Where(any, [&] {
      for (const std::pair<uint32_t, Value>& own : over) {
        auto raise = [&] { Raise(stacks_[own.first], needed); };
        if (own.second == any) {
          raise();
        } else {
          builder_.Where(own.second, raise);
        }
      }
    });
  }

  /// Whether `number`, of iterations or of the last one, is too much (`op`) for the stack, or for slots of a
  /// type.
  Value IsBeyond(Op op, Value number, const Lowered& stack, Type slot) {
    Value over = builder_.Make(op, {number, stack.capacity});
    std::optional<int64_t> capacity = kernel_.IntegerConstant(stack.capacity);
    if (slot != ir::kI32 || (capacity && *capacity <= INT32_MAX)) return over;
    // No value of its own that would live as long as the capacity.
    return builder_.Make(Op::Or, {over, builder_.Make(op, {number, builder_.I64(INT32_MAX)})});
  }

  void GuardFor(Inst loop, const std::vector<uint32_t>& guards) {
    Value trips =
        TripCount(builder_, kernel_.Operand(loop, 0), kernel_.Operand(loop, 1), kernel_.Operand(loop, 2));
    std::optional<int64_t> constant_trips = kernel_.IntegerConstant(trips);
    // From 0 or above, no loop of 32 bits has more iterations than their numbers can count.
    std::optional<int64_t> low = kernel_.IntegerConstant(kernel_.Operand(loop, 0));
    Type index = low && *low >= 0 ? kI64 : kernel_.TypeOf(kernel_.Operand(loop, 0));
    Value any;
    std::vector<std::pair<uint32_t, Value>> over;
    for (uint32_t position : guards) {
      std::optional<int64_t> capacity = kernel_.IntegerConstant(stacks_[position].capacity);
      bool is_short = constant_trips && *constant_trips <= INT32_MAX;
      if (is_short && capacity && *constant_trips <= *capacity) continue;
      Value own = IsBeyond(Op::Gt, trips, stacks_[position], is_short ? kI64 : index);
      any = AnyOf(any, own);
      if (Reports(loop, *stacks_[position].plan)) over.push_back({position, own});
    }
    if (!any.Valid()) return;
    RaiseWhere(any, over, trips);
    upper_bound_[loop] = kernel_.Operand(loop, 1);
    kernel_.SetOperand(loop, 1,
                       builder_.Make(Op::Select, {any, kernel_.Operand(loop, 0), kernel_.Operand(loop, 1)}));
  }

  /// A loop that only pops reports nothing where a pushing loop with the same bounds has done so.
  bool Reports(Inst loop, const PlannedStack& plan) {
    bool pushed_alike = false;
    for (const PlannedAccess& access : plan.accesses) {
      if (kernel_[access.inst].op != Op::StackPush || !access.guard.Valid()) continue;
      if (access.guard == loop) return true;
      if (kernel_[access.guard].op != Op::For) continue;
      // The pushing loop came first, and its upper bound has been replaced already.
      pushed_alike = pushed_alike || (kernel_.Operand(access.guard, 0) == kernel_.Operand(loop, 0) &&
                                      kernel_.Operand(access.guard, 2) == kernel_.Operand(loop, 2) &&
                                      upper_bound_.Get(access.guard) == kernel_.Operand(loop, 1));
    }
    return !pushed_alike;
  }

  void GuardWhile(Inst loop, const std::vector<uint32_t>& guards) {
    Block test = kernel_[loop].regions[0];
    Inst terminator = kernel_.Terminator(test);
    kernel_[test].insts.pop_back();
    builder_.SetBlock(test);
    builder_.SetSpan(kernel_[terminator].span);
    Value goes_on = kernel_.Operand(terminator, 0);
    Value any, needed;
    std::vector<std::pair<uint32_t, Value>> over;
    for (uint32_t position : guards) {
      const PlannedStack& plan = *stacks_[position].plan;
      for (const PlannedAccess& access : plan.accesses) {
        if (access.guard != loop) continue;
        Value slot = kernel_.Operand(access.inst, kernel_[access.inst].operand_count - 1);
        Value count = Wide(slot);
        Value full = IsBeyond(Op::Ge, count, stacks_[position], kernel_.TypeOf(slot));
        Value own = builder_.Make(Op::And, {goes_on, full});
        any = AnyOf(any, own);
        needed = builder_.Make(Op::Add, {count, builder_.I64(1)});
        over.push_back({position, own});
        break;
      }
    }
    RaiseWhere(any, over, needed);
    Value stays = builder_.Make(Op::And, {goes_on, builder_.Make(Op::Not, {any})});
    kernel_.SetOperand(terminator, 0, stays);
    kernel_.Append(test, terminator);
  }

  Function& kernel_;
  const AdstackPlan& plan_;
  const LowerConfig& config_;
  bool drops_;  ///< a size kernel: nothing is reported
  ir::Builder builder_;
  std::vector<Lowered> stacks_;
  SideTable<Value, uint32_t> of_stack_{0, UINT32_MAX};
  IndexSet<Value> idle_;
  IndexSet<Inst> guarded_;
  SideTable<Inst, std::vector<uint32_t>> guards_;      ///< stacks that a loop guards
  SideTable<Block, std::vector<uint32_t>> claims_in_;  ///< stacks claimed where a block begins
  SideTable<Inst, std::vector<uint32_t>>
      claims_before_;                   ///< stacks of serial tasks, claimed before an instruction
  SideTable<Inst, Value> upper_bound_;  ///< of guarded loops, before the guard
  SideTable<Value, Value> replaced_;
};

}  // namespace

bool LowerAdstacks(ir::Module& module, Function& kernel, const AdstackPlan& plan,
                   diag::Diagnostics& diagnostics, const LowerConfig& config) {
  ADC_CHECK(module.phase == ir::Phase::Differentiated, "adstacks are lowered once all kernels are derived");
  if (diagnostics.HasErrors()) return false;
  Lowering(module, kernel, plan, config).Run();
  return true;
}

}  // namespace adc::adstack
