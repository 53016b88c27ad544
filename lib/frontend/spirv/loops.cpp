// Loops of SPIR-V as loops of the IR.
//
// A loop whose counter moves by a constant step to a bound that nothing changes is a `for`; others are a
// `while`, whose condition region is the block that decides where that block does nothing else.

#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>

#include "diag/errors/shader.h"
#include "frontend/spirv/lowering.h"

namespace adc::frontend::spirv {

using ir::Op;

std::set<Id> Lowering::LoopBlocks(const Block& header) {
  std::set<Id> blocks{header.label};
  Id merge = header.merge->At(0);
  std::vector<Id> pending{header.label};
  const Function& function = *frames_.back()->function;
  while (!pending.empty()) {
    auto found = function.block_of.find(pending.back());
    pending.pop_back();
    if (found == function.block_of.end()) continue;
    const Block& block = function.blocks[found->second];
    ++spent_;
    for (Id next : Successors(block)) {
      bool outside = next == merge;
      for (const Scope& scope : frames_.back()->scopes)
        outside =
            outside || (scope.kind != Scope::Kind::Function && (next == scope.merge || next == scope.next));
      if (!outside && blocks.insert(next).second) pending.push_back(next);
    }
  }
  return blocks;
}

bool Lowering::UsedOutside(Id id, const std::set<Id>& blocks) {
  Frame& f = frame();
  if (f.uses.empty()) {
    for (const Block& block : f.function->blocks) {
      auto add = [&](const Instruction* inst) {
        if (inst == nullptr) return;
        for (uint32_t word : inst->operands) {
          std::vector<Id>& labels = f.uses[word];
          if (labels.empty() || labels.back() != block.label) labels.push_back(block.label);
        }
      };
      for (const Instruction* phi : block.phis) add(phi);
      for (const Instruction* inst : block.body) add(inst);
      add(block.terminator);
    }
    f.uses[0];
  }
  auto found = f.uses.find(id);
  if (found == f.uses.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](Id label) { return blocks.count(label) == 0; });
}

bool Lowering::IsPure(const Instruction& inst) const {
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpStore:
    case spv::OpCopyMemory:
    case spv::OpFunctionCall:
    case spv::OpControlBarrier:
    case spv::OpMemoryBarrier:
    case spv::OpVariable:
      return false;
    case spv::OpExtInst:
      return inst.At(1) != GLSLstd450Modf && inst.At(1) != GLSLstd450Frexp;
    case spv::OpAtomicFAddEXT:
    case spv::OpAtomicFMinEXT:
    case spv::OpAtomicFMaxEXT:
      return false;
    default:
      return inst.op < spv::OpAtomicLoad || inst.op > spv::OpAtomicXor;
  }
}

/// Whether something in `blocks` may write the variable, or memory of the shader's that `variable` is.
bool Lowering::StoredIn(Id variable, const std::set<Id>& blocks) {
  const Instruction* inst = binary_.Find(variable);
  if (inst == nullptr) return true;
  if (types_.IsAddress(inst->type)) {
    // Of a pointer in a block of constants.
    bool fixed = inst->op == spv::OpLoad && ReadsConstant(*inst);
    return !fixed || written_.count(types_.Element(inst->type)) != 0;
  }
  if (inst->op != spv::OpVariable || inst->At(0) != spv::StorageClassFunction) {
    bool known = inst->op == spv::OpVariable && inst->At(0) != spv::StorageClassPrivate;
    bool aliased = binary_.Decorated(variable, spv::DecorationAliased) >= 0;
    return !known || aliased || written_.count(variable) != 0;
  }
  for (Id label : blocks) {
    const Block& block = BlockAt(label);
    for (const Instruction* in : block.body) {
      ++spent_;
      bool writes = in->op == spv::OpStore || in->op == spv::OpCopyMemory;
      if (writes && RootOf(in->At(0)) == variable) return true;
      if (in->op == spv::OpFunctionCall || in->op == spv::OpExtInst) {
        for (size_t n = 0; n < in->operands.size(); ++n) {
          if (RootOf(in->At(n)) == variable) return true;
        }
      }
    }
  }
  return false;
}

/// Whether a value that the deciding block computes is the same in every iteration.
bool Lowering::IsInvariant(Id id, const std::set<Id>& blocks, Id counter, uint32_t depth) {
  const Instruction* inst = binary_.Find(id);
  if (inst == nullptr || id == counter || depth > 32) return false;
  Id home = 0;
  for (Id label : blocks) {
    const Block& block = BlockAt(label);
    ++spent_;
    auto in = [&](const std::vector<const Instruction*>& list) {
      return std::any_of(list.begin(), list.end(), [&](const Instruction* other) { return other == inst; });
    };
    if (in(block.phis)) return false;
    if (in(block.body)) home = label;
  }
  if (home == 0) return true;
  if (!IsPure(*inst)) return false;
  switch (static_cast<uint32_t>(inst->op)) {
    case spv::OpLoad: {
      Id root = RootOf(inst->At(0));
      const Instruction* pointer = binary_.Find(inst->At(0));
      if (root == 0 || root == counter || pointer == nullptr || StoredIn(root, blocks)) return false;
      return root == inst->At(0) || IsInvariant(inst->At(0), blocks, counter, depth + 1);
    }
    case spv::OpArrayLength:
      return true;
    case spv::OpExtInst:
      for (size_t n = 2; n < inst->operands.size(); ++n) {
        if (!IsInvariant(inst->At(n), blocks, counter, depth + 1)) return false;
      }
      return true;
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain:
      for (size_t n = 1; n < inst->operands.size(); ++n) {
        if (!IsInvariant(inst->At(n), blocks, counter, depth + 1)) return false;
      }
      return true;
    case spv::OpIAdd:
    case spv::OpISub:
    case spv::OpIMul:
    case spv::OpSDiv:
    case spv::OpUDiv:
    case spv::OpBitcast:
    case spv::OpSNegate:
    case spv::OpShiftLeftLogical:
    case spv::OpShiftRightLogical:
    case spv::OpShiftRightArithmetic:
    case spv::OpBitwiseAnd:
    case spv::OpCopyObject:
      for (uint32_t word : inst->operands) {
        if (!IsInvariant(word, blocks, counter, depth + 1)) return false;
      }
      return true;
    case spv::OpCompositeExtract:
      return IsInvariant(inst->At(0), blocks, counter, depth + 1);
    default:
      return false;
  }
}

std::optional<Lowering::Counted> Lowering::FindCounted(const Block& header, const std::set<Id>& blocks) {
  Id merge = header.merge->At(0), next = header.merge->At(1);
  if (next == header.label || blocks.count(next) == 0) return std::nullopt;
  // The block that decides: the header, or the one right behind it.
  const Block* test = &header;
  if (header.terminator->op == spv::OpBranch) {
    if (blocks.count(header.terminator->At(0)) == 0) return std::nullopt;
    test = &BlockAt(header.terminator->At(0));
    if (test->merge != nullptr || !test->phis.empty() || test->label == next) return std::nullopt;
  }
  if (test->terminator->op != spv::OpBranchConditional) return std::nullopt;
  for (const Block* block : {&header, test}) {
    for (const Instruction* inst : block->body) {
      if (!IsPure(*inst)) return std::nullopt;
    }
  }
  Counted counted;
  counted.test = test;
  bool negated = test->terminator->At(1) == merge;
  if (negated == (test->terminator->At(2) == merge)) return std::nullopt;
  counted.body = test->terminator->At(negated ? 2 : 1);
  if (counted.body == next || blocks.count(counted.body) == 0) return std::nullopt;
  if (!BlockAt(merge).phis.empty()) {
    // Its phis take values where the test fails: only what the header's own phis say is known there.
    for (const Instruction* phi : BlockAt(merge).phis) {
      for (size_t n = 0; n + 1 < phi->operands.size(); n += 2) {
        if (phi->At(n + 1) == test->label) return std::nullopt;
      }
    }
  }
  const Instruction* condition = binary_.Find(test->terminator->At(0));
  if (condition == nullptr) return std::nullopt;
  enum class Order { Less, LessEqual, Greater, GreaterEqual } order;
  switch (static_cast<uint32_t>(condition->op)) {
    case spv::OpULessThan:
      counted.is_unsigned = true;
      [[fallthrough]];
    case spv::OpSLessThan:
      order = Order::Less;
      break;
    case spv::OpULessThanEqual:
      counted.is_unsigned = true;
      [[fallthrough]];
    case spv::OpSLessThanEqual:
      order = Order::LessEqual;
      break;
    case spv::OpUGreaterThan:
      counted.is_unsigned = true;
      [[fallthrough]];
    case spv::OpSGreaterThan:
      order = Order::Greater;
      break;
    case spv::OpUGreaterThanEqual:
      counted.is_unsigned = true;
      [[fallthrough]];
    case spv::OpSGreaterThanEqual:
      order = Order::GreaterEqual;
      break;
    default:
      return std::nullopt;
  }
  auto flip = [](Order o) {
    return o == Order::Less        ? Order::Greater
           : o == Order::LessEqual ? Order::GreaterEqual
           : o == Order::Greater   ? Order::Less
                                   : Order::LessEqual;
  };
  auto opposite = [](Order o) {
    return o == Order::Less        ? Order::GreaterEqual
           : o == Order::LessEqual ? Order::Greater
           : o == Order::Greater   ? Order::LessEqual
                                   : Order::Less;
  };
  if (negated) order = opposite(order);
  // The counter on one side: a load of a variable, or a phi of the header.
  auto counter_of = [&](Id side) -> Id {
    const Instruction* inst = binary_.Find(side);
    if (inst == nullptr) return 0;
    if (inst->op == spv::OpPhi)
      return std::find(header.phis.begin(), header.phis.end(), inst) != header.phis.end() ? side : 0;
    if (inst->op != spv::OpLoad) return 0;
    const Instruction* variable = binary_.Find(inst->At(0));
    bool local = variable != nullptr && variable->op == spv::OpVariable &&
                 variable->At(0) == spv::StorageClassFunction;
    return local ? inst->At(0) : 0;
  };
  Id left = condition->At(0), right = condition->At(1);
  auto try_side = [&](Id side, Id bound) -> bool {
    Id counter = counter_of(side);
    if (counter == 0) return false;
    const Instruction* in = binary_.Find(side);
    bool here = in->op == spv::OpPhi;
    for (const Block* block : {&header, test}) {
      here = here || std::find(block->body.begin(), block->body.end(), in) != block->body.end();
    }
    if (!here || !FindStep(header, blocks, counter, counted)) return false;
    if (!IsInvariant(bound, blocks, counter, 0)) return false;
    counted.bound = bound;
    return true;
  };
  if (!try_side(left, right)) {
    if (!try_side(right, left)) return std::nullopt;
    order = flip(order);
  }
  bool up = counted.step > 0;
  bool less = order == Order::Less || order == Order::LessEqual;
  if (up != less || (!up && counted.step != -1)) return std::nullopt;
  // Downwards without a sign, `i >= 0` always holds.
  if (!up && counted.is_unsigned) return std::nullopt;
  counted.reversed = !up;
  counted.inclusive = order == Order::LessEqual || order == Order::GreaterEqual;
  if (MayWrap(blocks, counted)) return std::nullopt;
  // Without a sign a start that is not known may lie above the bound, or read as a negative number.
  if (counted.is_unsigned && !counted.from_constant) return std::nullopt;
  // What the deciding blocks compute is not seen behind the loop.
  for (const Block* block : {&header, test}) {
    for (const Instruction* inst : block->body) {
      if (inst->result != 0 && UsedOutside(inst->result, blocks)) return std::nullopt;
    }
  }
  bool only_counter = true;
  for (const Instruction* phi : header.phis) only_counter = only_counter && phi->result == counted.counter;
  const Block& last = BlockAt(next);
  counted.plain = only_counter && last.phis.empty() && !counted.seen_outside;
  for (const Instruction* inst : last.body)
    counted.plain = counted.plain && (IsPure(*inst) || inst == counted.update);
  return counted;
}

/// Whether constants say that the i32 which counts for the loop would pass its largest or smallest value
/// where the shader's counter does not, or that the loop ends only when its counter wraps.
bool Lowering::MayWrap(const std::set<Id>& blocks, Counted& counted) {
  std::vector<Id> starts;
  if (counted.is_phi) {
    starts.push_back(counted.first);
  } else {
    for (const Block& block : frame().function->blocks) {
      if (blocks.count(block.label) != 0) continue;
      for (const Instruction* inst : block.body) {
        if (inst->op == spv::OpStore && inst->At(0) == counted.counter) starts.push_back(inst->At(1));
      }
    }
    const Instruction* variable = binary_.Find(counted.counter);
    if (variable->operands.size() > 1) starts.push_back(variable->At(1));
  }
  counted.from_constant = !starts.empty();
  for (Id start : starts) {
    std::optional<int64_t> known = types_.Integer(start);
    counted.from_constant = counted.from_constant && known;
    if (!known) continue;
    auto first = static_cast<int32_t>(*known);
    if ((counted.is_unsigned && first < 0) || (counted.reversed && first == INT32_MAX)) return true;
  }
  std::optional<int64_t> known = types_.Integer(counted.bound);
  if (!known) return false;
  auto bound = static_cast<int32_t>(*known);
  if (counted.reversed) return counted.inclusive && bound == INT32_MIN;
  // Behind its last value the counter goes one step on.
  return (counted.is_unsigned && bound < 0) ||
         int64_t{bound} + (counted.inclusive ? 1 : 0) + counted.step - 1 > INT32_MAX;
}

/// Whether the counter moves by a constant step, once per iteration, at its end.
bool Lowering::FindStep(const Block& header, const std::set<Id>& blocks, Id counter, Counted& counted) {
  Id next = header.merge->At(1);
  const Block& last = BlockAt(next);
  if (last.merge != nullptr || last.terminator->op != spv::OpBranch || last.terminator->At(0) != header.label)
    return false;
  const Instruction* definition = binary_.Find(counter);
  Id type = definition->op == spv::OpPhi ? definition->type : types_.Element(definition->type);
  if (types_.KindOf(type) != spv::OpTypeInt || types_.Of(type).At(0) != 32) return false;
  auto step_of = [&](Id value, auto&& is_counter) -> int64_t {
    const Instruction* sum = binary_.Find(value);
    if (sum == nullptr || (sum->op != spv::OpIAdd && sum->op != spv::OpISub)) return 0;
    Id a = sum->At(0), b = sum->At(1);
    if (sum->op == spv::OpIAdd && is_counter(b)) std::swap(a, b);
    const Instruction* constant = binary_.Find(b);
    std::optional<int64_t> step = types_.Integer(b);
    if (!is_counter(a) || !step || constant->op != spv::OpConstant) return 0;
    auto narrow = static_cast<int32_t>(*step);
    return sum->op == spv::OpISub ? -int64_t{narrow} : int64_t{narrow};
  };
  if (definition->op == spv::OpPhi) {
    if (definition->operands.size() != 4) return false;
    size_t back = definition->At(1) == next ? 0 : 2;
    if (definition->At(back + 1) != next) return false;
    counted.first = definition->At(2 - back);
    counted.step = step_of(definition->At(back), [&](Id id) { return id == counter; });
    counted.update = binary_.Find(definition->At(back));
    counted.is_phi = true;
  } else {
    // Nothing but loads, and in the loop one store: the last block's.
    const Instruction* update = nullptr;
    for (const Block& block : frame().function->blocks) {
      bool inside = blocks.count(block.label) != 0;
      for (const Instruction* inst : block.body) {
        ++spent_;
        bool names = std::find(inst->operands.begin(), inst->operands.end(), counter) != inst->operands.end();
        if (!names || inst->op == spv::OpLoad) continue;
        bool store = inst->op == spv::OpStore && inst->At(0) == counter && inst->At(1) != counter;
        // A literal may look like the variable; only what takes pointers matters.
        bool takes = inst->op == spv::OpStore || inst->op == spv::OpCopyMemory ||
                     inst->op == spv::OpAccessChain || inst->op == spv::OpInBoundsAccessChain ||
                     inst->op == spv::OpFunctionCall || inst->op == spv::OpExtInst ||
                     inst->op == spv::OpCopyObject || inst->op == spv::OpSelect;
        if (!takes) continue;
        if (!store) return false;
        if (!inside) continue;
        if (update != nullptr || block.label != next) return false;
        update = inst;
      }
    }
    if (update == nullptr) return false;
    counted.update = update;
    counted.step = step_of(update->At(1), [&](Id id) {
      const Instruction* load = binary_.Find(id);
      bool in_last = std::find(last.body.begin(), last.body.end(), load) != last.body.end();
      return load != nullptr && load->op == spv::OpLoad && load->At(0) == counter && in_last;
    });
    // Behind the store its block must not read it again.
    bool stored = false;
    for (const Instruction* inst : last.body) {
      if (stored && inst->op == spv::OpLoad && inst->At(0) == counter) return false;
      stored = stored || inst == update;
    }
  }
  counted.counter = counter;
  if (counted.step == 0) return false;
  counted.seen_outside = false;
  if (definition->op == spv::OpPhi) {
    counted.seen_outside = UsedOutside(counter, blocks);
  } else {
    for (const Block& block : frame().function->blocks) {
      if (blocks.count(block.label) != 0) continue;
      for (const Instruction* inst : block.body)
        counted.seen_outside = counted.seen_outside || (inst->op == spv::OpLoad && inst->At(0) == counter);
    }
  }
  return true;
}

Lowering::Flow Lowering::EmitLoop(const Block& header) {
  Nest();
  if (header.terminator == nullptr) Refuse(diag::E0852, b_->span(), "a block does not end");
  std::set<Id> blocks = LoopBlocks(header);
  Spend(blocks.size(), *header.merge);
  Scope scope;
  scope.kind = Scope::Kind::Loop;
  scope.merge = header.merge->At(0);
  scope.next = header.merge->At(1);
  std::optional<Counted> counted = FindCounted(header, blocks);
  scope.plain_continue = counted && counted->plain;
  if (!scope.plain_continue) scope.next_number = NewFlag(&scope.next_flag);
  frame().scopes.push_back(scope);
  ++frame().loops;
  Flow flow = counted ? EmitCounted(header, *counted) : EmitWhile(header, blocks);
  flow.pending = frame().scopes.back().pending;
  frame().scopes.pop_back();
  --frame().loops;
  --depth_;
  return flow;
}

void Lowering::EmitNext(const Block& header, const Flow& flow) {
  Scope scope = frame().scopes.back();
  ir::Block region = b_->block();
  std::set<uint32_t> rest = flow.pending;
  bool continued = rest.erase(scope.next_number) != 0;
  // Anything else that is pending here leaves more than the loop; LeaveBy has taken it out already.
  if (!rest.empty()) Refuse(diag::E0857, b_->span(), "a branch leaves a loop for a construct around it");
  if (!flow.falls && !continued) return;
  if (scope.next == header.label) return;
  frame().scopes.back().next = 0;
  Flow end = EmitFrom(0, scope.next, header.label);
  frame().scopes.back().next = scope.next;
  if (!end.pending.empty())
    Refuse(diag::E0857, b_->span(), "what follows an iteration leaves for a construct around the loop");
  b_->SetBlock(region);
}

/// Whether a bound without a sign may be beyond an i32: a counter or an extent is not.
bool Lowering::MayBeLarge(ir::Value bound) const {
  const ir::ValueData* data = &(*kernel_)[bound];
  if (data->kind == ir::ValueKind::Result && (*kernel_)[ir::Inst(data->owner)].op == Op::Cast) {
    data = &(*kernel_)[kernel_->Operand(ir::Inst(data->owner), 0)];
    if (data->type.Is(ir::Scalar::U32)) return true;
  }
  if (data->kind == ir::ValueKind::Result) return (*kernel_)[ir::Inst(data->owner)].op != Op::Shape;
  return data->kind != ir::ValueKind::BlockParam || ir::Block(data->owner) == kernel_->Body();
}

Lowering::Flow Lowering::EmitCounted(const Block& header, const Counted& counted) {
  Frame& f = frame();
  // The bound, and what it is computed from, in front of the loop.
  std::set<Id> needed{counted.bound};
  std::vector<const Instruction*> chosen;
  auto choose = [&](const Block& from) {
    for (size_t n = from.body.size(); n-- > 0;) {
      const Instruction* inst = from.body[n];
      if (needed.count(inst->result) == 0) continue;
      chosen.push_back(inst);
      needed.insert(inst->operands.begin(), inst->operands.end());
    }
  };
  choose(*counted.test);
  if (counted.test != &header) choose(header);
  for (size_t n = chosen.size(); n-- > 0;) Emit(*chosen[n]);
  ir::Value bound = GetOne(counted.bound);
  // More iterations than an i32 counts are as many as it counts, and not none.
  if (counted.is_unsigned && counted.from_constant && !types_.Integer(counted.bound) && MayBeLarge(bound)) {
    ir::Value word = b_->Cast(bound, ir::kU32);
    bound = b_->Make(Op::Min, {word, b_->Int(ir::kU32, INT32_MAX)});
  }
  bound = b_->Cast(bound, ir::kI32);
  ir::Value first;
  if (counted.is_phi) {
    // Where it comes from is one of two, and has been stored on the edge.
    first = LoadSlot(SlotOfPhi(*binary_.Find(counted.counter), 0));
  } else {
    first = Load(GetPointer(counted.counter, *header.merge), *header.merge).parts[0];
  }
  ir::Value one = b_->I32(1);
  ir::Value low = first, high = bound;
  if (counted.reversed) {
    low = counted.inclusive ? bound : b_->Make(Op::Add, {bound, one});
    high = b_->Make(Op::Add, {first, one});
  } else if (counted.inclusive) {
    high = b_->Make(Op::Add, {bound, one});
  }
  ir::Value step = b_->I32(static_cast<int32_t>(counted.reversed ? 1 : counted.step));
  ir::Inst loop = b_->For(low, high, step, {}, counted.reversed ? ir::kFlagReversed : 0);
  ir::Block back = b_->block(), region = (*kernel_)[loop].regions[0];
  ir::Value index = (*kernel_)[region].params[0];
  b_->SetBlock(region);
  const Instruction& counter = *binary_.Find(counted.counter);
  std::string name(binary_.NameOf(counted.counter));
  if (!name.empty()) (*kernel_)[index].name = FreeName(name);
  Scope& scope = f.scopes.back();
  if (!scope.plain_continue) StoreSlot(scope.next_flag, b_->Int(ir::kI1, 0));
  if (counted.is_phi) {
    f.skipped.insert(&counter);
    if (counted.seen_outside) StoreSlot(SlotOfPhi(counter, 0), index);
    std::vector<ir::Value> slots = f.stored[counted.counter];
    f.stored.erase(counted.counter);
    Set(counter, {{index}});
    if (counted.seen_outside) f.stored[counted.counter] = slots;
  } else {
    if (counted.seen_outside) {
      Store(GetPointer(counted.counter, *header.merge), {{index}}, *header.merge);
    }
    f.counters[counted.counter] = index;
    f.skipped.insert(counted.update);
  }
  // The deciding blocks once more, for what the body reads of them.
  EmitBlock(header);
  if (counted.test != &header) EmitBlock(*counted.test);
  b_->SetSpan(header.merge->span);
  StoreEdge(counted.test->label, counted.body);
  Flow body = EmitFrom(0, counted.body, f.scopes.back().next);
  b_->SetBlock(region);
  EmitNext(header, body);
  b_->SetBlock(region);
  if (counted.seen_outside && !kernel_->Terminator(region).Valid()) {
    ir::Value after = b_->Make(Op::Add, {index, b_->I32(static_cast<int32_t>(counted.step))});
    if (counted.is_phi) {
      StoreSlot(f.stored[counted.counter][0], after);
    } else {
      Store(GetPointer(counted.counter, *header.merge), {{after}}, *header.merge);
    }
  }
  Close(region);
  f.counters.erase(counted.counter);
  b_->SetBlock(back);
  return Flow{true, {}};
}

Lowering::Flow Lowering::EmitWhile(const Block& header, const std::set<Id>& blocks) {
  Frame& f = frame();
  Id merge = header.merge->At(0), next = header.merge->At(1);
  // A block that only decides is the condition.
  const Block* test = nullptr;
  if (next != header.label && BlockAt(merge).phis.empty()) {
    const Block* candidate = &header;
    if (header.terminator->op == spv::OpBranch && blocks.count(header.terminator->At(0)) != 0) {
      candidate = &BlockAt(header.terminator->At(0));
      if (candidate->merge != nullptr || !candidate->phis.empty() || candidate->label == next)
        candidate = nullptr;
    }
    if (candidate != nullptr && candidate->terminator->op == spv::OpBranchConditional &&
        (candidate->terminator->At(1) == merge) != (candidate->terminator->At(2) == merge)) {
      bool pure = true;
      for (const Block* block : {&header, candidate}) {
        for (const Instruction* inst : block->body)
          pure = pure && IsPure(*inst) && leave_region_.count(inst->result) == 0;
      }
      if (pure) test = candidate;
    }
  }
  ir::Inst loop = b_->While({}, {});
  ir::Block back = b_->block(), condition = (*kernel_)[loop].regions[0], region = (*kernel_)[loop].regions[1];
  b_->SetBlock(condition);
  Flow body;
  if (test != nullptr) {
    EmitBlock(header);
    if (test != &header) EmitBlock(*test);
    bool negated = test->terminator->At(1) == merge;
    ir::Value goes = GetOne(test->terminator->At(0));
    if (negated) goes = b_->Make(Op::Not, {goes});
    b_->Terminate(Op::ContinueIf, {{goes}});
    b_->SetBlock(region);
    StoreSlot(f.scopes.back().next_flag, b_->Int(ir::kI1, 0));
    Id start = test->terminator->At(negated ? 2 : 1);
    if (start == next) {
      StoreEdge(test->label, next);
      body.falls = true;
    } else {
      StoreEdge(test->label, start);
      body = EmitFrom(0, start, next);
    }
  } else {
    ir::Value yes = b_->Int(ir::kI1, 1);
    b_->Terminate(Op::ContinueIf, {{yes}});
    b_->SetBlock(region);
    StoreSlot(f.scopes.back().next_flag, b_->Int(ir::kI1, 0));
    f.open_header = header.label;
    if (next == header.label) {
      // The header is the whole loop, and branches back to itself.
      EmitBlock(header);
      f.open_header = 0;
      const Instruction& last = *header.terminator;
      if (last.op == spv::OpBranchConditional) {
        bool negated = last.At(2) == header.label;
        Require((last.At(1) == header.label) != negated, last, "a loop of one block does not repeat itself");
        Id out = last.At(negated ? 1 : 2);
        ir::Value again = GetOne(last.At(0));
        if (negated) again = b_->Make(Op::Not, {again});
        ir::Inst branch = b_->If(again, {});
        b_->SetBlock((*kernel_)[branch].regions[0]);
        StoreEdge(header.label, header.label);
        b_->SetBlock((*kernel_)[branch].regions[1]);
        Require(Leave(header.label, out).has_value(), last, "a loop of one block leaves for elsewhere");
        CloseArms(branch);
        b_->SetBlock(region);
      } else {
        StoreEdge(header.label, header.label);
      }
    } else {
      body = EmitFrom(0, header.label, next);
    }
  }
  b_->SetBlock(region);
  EmitNext(header, body);
  Close(region);
  b_->SetBlock(back);
  return Flow{true, {}};
}

}  // namespace adc::frontend::spirv
