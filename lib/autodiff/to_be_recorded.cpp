// To be recorded or to be recomputed (Hascoet, Naumann and Pascual: "To be recorded" analysis, 2005).
//
// The reverse of a unit (region_tree.h) is its primal sweep, the slice that the adjoint sweep reads, and then
// its adjoint sweep. Nested units are reversed within the adjoint sweep of the unit around them, each with
// both sweeps of its own, so that at any moment everything around is available and only the unit's own values
// have to be provided. The primal sweep provides:
//
//   recorded   to-be-recorded values of the unit, closed over their operands;
//   forward    for control that must run forward in the primal sweep (its results are read, or it is a loop
//              that must fill a tape), the values inside it that such a run computes. The same inner loop may
//              run forward in several roles, once for each unit around it, so the set is per *root*.
//
// A loop body's own unit cannot compute its carried values: the adjoint sweep starts at the last iteration.
// The forward run of the loop pushes those that it reads, directly or through other values, and each reversed
// iteration pops them: the tape. Any set of body values that separates the carried values from the direct
// reads will do; the cheapest in bits is a minimum cut, and of equally cheap ones that nearest to the reads,
// which leaves the least to recompute:
//
//   for carry(%a) { %t = tanh %a  %b = add %t, %x  yield %b }     reads %t alone: push %t, not %a
//   for carry(%p, %q, %r) { %c = mul %p, %q  ... sin %c ... }      reads %c alone: push %c, not %p and %q
//
// Units are planned innermost first: a value that a nested unit reads from around it is a direct read of the
// unit that defines it, and everything else about the nested unit is settled by then.
//
// A value that the kernel left in memory for good (stored.h) is available wherever the indices of its cell
// are.
//
// Local arrays are a second kind of state. An array whose contents are read is replayed: its stores belong
// to every forward run, and the adjoint sweep undoes them one by one (adjoint_sweep_arrays.cpp). A loop may
// fill an array before anything reads it: the stores of its iterations then stay in place until the array is
// gone.
//
//   %h = alloca            the forward run of the loop fills %h; its reversed iterations neither
//   for %o { store %h[%o], ... }      replay their stores nor take them back
//   ... load %h[...] ...

#include "autodiff/to_be_recorded.h"

#include <algorithm>

#include "autodiff/cut.h"

namespace adc::autodiff {

using analysis::ConditionOf;
using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Value;

/// The worklist that closes the needs of one unit.
struct RecordingPlan::Closure {
  Block unit;
  Inst owner;  ///< of the unit; invalid for the body
  std::vector<Value> recorded;
  std::unordered_set<uint32_t> recorded_set;
  std::unordered_set<uint32_t> taped;  ///< tape: not expanded
  std::unordered_map<uint32_t, std::unordered_set<uint32_t>> forward;
  std::vector<std::pair<Inst, Value>> forward_order;  ///< the entries of `forward`, in order
  std::vector<Value> outer;                           ///< values that are read from around the unit
  std::unordered_map<uint32_t, std::vector<Value>>
      inputs;  ///< of control run forward: to-be-recorded values of the unit
  size_t next_recorded = 0;
  size_t next_forward = 0;
};

namespace {

bool AlwaysAvailable(const Function& function, Value v) {
  const ir::ValueData& data = function[v];
  if (data.kind == ir::ValueKind::Constant || data.kind == ir::ValueKind::Global) return true;
  return function.IsParameter(v);
}

bool IsScratch(const Function& function, Value v) {
  const ir::ValueData& data = function[v];
  return function.IsParameter(v) && function.params[data.number].role == ir::ParamRole::Scratch;
}

bool Holds(const std::vector<Value>& values, Value v) {
  return std::find(values.begin(), values.end(), v) != values.end();
}

/// The size of an element of a tape of `v`, in bits: flags lie in words.
uint32_t BitsOf(const Function& function, Value v) {
  ir::Type type = function.TypeOf(v);
  if (type.Is(ir::Scalar::I1)) return 1;
  return 8 * (type.IsScalar() ? ir::ByteSize(type.scalar) : type.ElementBytes());
}

}  // namespace

RecordingPlan::RecordingPlan(const Function& function, const RegionTree& tree, const AdjointWork& work,
                             bool reread_stored)
    : function_(function), tree_(tree), work_(work), stored_(function, reread_stored), finals_(function) {
  FindReplayedArrays();
  for (Inst inst : function[function.Body()].insts) MarkArrayWrites(inst);
  FindFilledArrays();
  for (Block unit : tree.PostOrder()) PlanUnit(unit);
  PlanScratch();
}

const std::vector<Value>& RecordingPlan::Tape(Inst loop) const {
  return tape_.Get(loop);
}

void RecordingPlan::FindReplayedArrays() {
  // An over-approximation without tapes: all values from which the direct reads could be computed.
  const analysis::Structure& structure = tree_.structure();
  IndexSet<Value> seen;
  std::vector<Value> list;
  std::unordered_map<uint32_t, std::vector<Inst>> writes, fills;  // of local arrays, of scratch
  auto reach = [&](Value v) {
    if (!AlwaysAvailable(function_, v) && seen.Insert(v)) list.push_back(v);
  };
  for (Inst inst : structure.Order()) {
    if (analysis::WritesMemory(function_[inst].op) && analysis::IsLocalAccess(function_, inst))
      writes[function_.Operand(inst, 0).raw].push_back(inst);
    if (analysis::WritesMemory(function_[inst].op) && IsScratch(function_, function_.Operand(inst, 0)))
      fills[function_.Operand(inst, 0).raw].push_back(inst);
    for (Value v : work_.ReadsOf(inst)) reach(v);
    if (function_[inst].op == Op::While && work_.Has(inst)) reach(ConditionOf(function_, inst));
  }
  for (size_t at = 0; at < list.size(); ++at) {
    Value v = list[at];
    if (std::optional<uint32_t> k = CarriedNumber(function_, v)) {
      reach(function_.Result(function_[Block(function_[v].owner)].owner, *k));
      continue;
    }
    Inst inst = function_.DefiningInst(v);
    if (!inst.Valid()) continue;
    const ir::InstData& data = function_[inst];
    if (data.op == Op::Alloca) {
      replayed_arrays_.Insert(v);
      for (Inst write : writes[v.raw]) {
        for (Value operand : function_.Operands(write)) reach(operand);
        for (Inst around : structure.Enclosing(write)) {
          bool branch = function_[around].op == Op::If;
          uint32_t fixed = branch ? 1 : function_[around].operand_count - function_[around].result_count;
          for (uint32_t n = 0; n < fixed; ++n) reach(function_.Operand(around, n));
          if (function_[around].op == Op::While) reach(ConditionOf(function_, around));
        }
      }
      continue;
    }
    if (data.op == Op::Load) {  // a value that crossed in scratch was computed in an earlier task
      auto filled = fills.find(function_.Operand(inst, 0).raw);
      if (filled != fills.end()) {
        for (Inst write : filled->second)
          for (Value operand : function_.Operands(write)) reach(operand);
      }
    }
    if (IsSerialLoop(data.op)) {
      uint32_t k = v.raw - data.first_result.raw;
      reach(CarriedYield(function_, inst, k));
      if (data.op == Op::While) reach(ConditionOf(function_, inst));
      for (Value operand : function_.Operands(inst)) reach(operand);
      reach(CarriedParam(function_, inst, k));
    } else if (data.op == Op::If) {
      reach(function_.Operand(inst, 0));
      for (Block region : data.regions)
        reach(function_.Operand(function_.Terminator(region), v.raw - data.first_result.raw));
    } else {
      for (Value operand : function_.Operands(inst)) reach(operand);
    }
  }
}

std::vector<Value> RecordingPlan::MarkArrayWrites(Inst inst) {
  const ir::InstData& data = function_[inst];
  std::vector<Value> written;
  if (analysis::WritesMemory(data.op) && replayed_arrays_.Has(function_.Operand(inst, 0)))
    written.push_back(function_.Operand(inst, 0));
  for (Block region : data.regions) {
    if (!region.Valid()) continue;
    for (Inst inner : function_[region].insts)
      for (Value array : MarkArrayWrites(inner))
        if (!tree_.Inside(array, inst)) written.push_back(array);
  }
  std::sort(written.begin(), written.end());
  written.erase(std::unique(written.begin(), written.end()), written.end());
  if (!written.empty()) outer_arrays_[inst] = written;
  return written;
}

/// Arrays that a loop fills: nothing reads them before the loop, in it, or in another iteration of a loop
/// around it. The loop's own unit finds the contents that it has left.
void RecordingPlan::FindFilledArrays() {
  const analysis::Structure& structure = tree_.structure();
  replayed_here_ = outer_arrays_;
  SideTable<Value, uint32_t> first_read;  // position after which nothing has read the array, from below
  for (Inst inst : structure.Order()) {
    for (Value v : function_.Operands(inst)) {
      bool stores = function_[inst].op == Op::Store && v == function_.Operand(inst, 0);
      if (replayed_arrays_.Has(v) && !stores && first_read.Get(v) == 0)
        first_read[v] = structure.Position(inst) + 1;
    }
  }
  for (Inst inst : structure.Order()) {
    if (!IsSerialLoop(function_[inst].op)) continue;
    std::vector<Inst> around = structure.Enclosing(inst);
    for (Value array : OuterArrays(inst)) {
      bool is_outermost = std::ranges::none_of(around, [&](Inst outer) {
        return IsSerialLoop(function_[outer].op) && !tree_.Inside(array, outer);
      });
      uint32_t read = first_read.Get(array);
      if (!is_outermost || (read != 0 && read - 1 < structure.End(inst))) continue;
      for (uint32_t at = structure.Position(inst) + 1; at < structure.End(inst); ++at)
        std::erase(replayed_here_[structure.Order()[at]], array);
      FindFillingStores(inst, array);
    }
  }
}

/// Values that each iteration of `loop` leaves in an element of its own, where nothing else writes the array.
void RecordingPlan::FindFillingStores(Inst loop, Value array) {
  if (function_[loop].op != Op::For) return;
  const analysis::Structure& structure = tree_.structure();
  Block body = function_[loop].regions[0];
  auto writes = [&](Inst inst) {
    return function_[inst].op == Op::Store && function_.Operand(inst, 0) == array;
  };
  auto store = std::ranges::find_if(structure.Order(), writes);
  if (std::count_if(store, structure.Order().end(), writes) != 1 || function_[*store].parent != body) return;
  Value v = function_.AccessValues(*store)[0], index = function_.Indices(*store)[0];
  Inst made = function_.DefiningInst(v);
  bool is_whole = function_.TypeOf(v) == function_.TypeOf(array).Element();
  if (is_whole && index == function_[body].params[0] && made.Valid() && function_[made].parent == body &&
      !filling_.Get(v).Valid() && IsWorthRereading(function_, v))
    filling_[v] = *store;
}

bool RecordingPlan::Replays(Inst root, Value array) const {
  return Holds(replayed_here_.Get(root), array);
}

void RecordingPlan::PlanUnit(Block unit) {
  Closure closure;
  closure.unit = unit;
  closure.owner = function_[unit].owner;
  bool loop = closure.owner.Valid() && IsSerialLoop(function_[closure.owner].op);
  Close(closure);
  if (loop) {
    // A carried value that can be inverted need not be taped.
    std::vector<uint32_t> carried;
    for (Value v : closure.recorded)
      if (std::optional<uint32_t> k = CarriedNumber(function_, v)) carried.push_back(*k);
    std::sort(carried.begin(), carried.end());
    std::unordered_set<uint32_t> restored;
    for (const Restore& restore : PlanRestores(function_, tree_, closure.owner, carried))
      restored.insert(CarriedParam(function_, closure.owner, restore.param).raw);
    std::vector<Value> tape = ChooseTape(closure, restored);
    Closure committed;
    committed.unit = unit;
    committed.owner = closure.owner;
    for (Value v : tape) committed.taped.insert(v.raw);
    Close(committed);
    for (Value v : tape)
      if (committed.recorded_set.contains(v.raw)) tape_[closure.owner].push_back(v);
    PlanRestoresOf(committed);
    Commit(committed);
    return;
  }
  Commit(closure);
}

void RecordingPlan::PlanRestoresOf(Closure& closure) {
  std::vector<uint32_t> carried;
  for (Value v : closure.recorded) {
    std::optional<uint32_t> k = CarriedNumber(function_, v);
    if (k && !closure.taped.contains(v.raw)) carried.push_back(*k);
  }
  std::sort(carried.begin(), carried.end());
  std::vector<Restore> restores = PlanRestores(function_, tree_, closure.owner, carried);
  for (const Restore& restore : restores) {
    // The adjoint sweep starts from what the loop ended with, and reads what the update added.
    closure.outer.push_back(function_.Result(closure.owner, restore.state));
    Inst update = function_.DefiningInst(CarriedYield(function_, closure.owner, restore.state));
    if (!update.Valid() || !tree_.Inside(function_.Result(update), closure.owner)) continue;
    for (Value operand : function_.Operands(update))
      if (!AlwaysAvailable(function_, operand) && !tree_.Inside(operand, closure.owner))
        closure.outer.push_back(operand);
  }
  restores_[closure.owner] = std::move(restores);
}

void RecordingPlan::PlanScratch() {
  // A fill may itself read scratch of an earlier task, so look again until nothing new is read.
  const analysis::Structure& structure = tree_.structure();
  std::vector<Value> scratch;
  for (uint32_t n = 0; n < function_.params.size(); ++n)
    if (function_.params[n].role == ir::ParamRole::Scratch) scratch.push_back(function_.Params()[n]);
  bool grew = !scratch.empty();
  while (grew) {
    grew = false;
    Closure closure;
    closure.unit = function_.Body();
    IndexSet<Value> filled;
    for (Inst inst : structure.Order())
      if (function_[inst].op == Op::Load && reloaded_.Has(inst)) filled.Insert(function_.Operand(inst, 0));
    for (Inst inst : structure.Order()) {
      if (!analysis::WritesMemory(function_[inst].op)) continue;
      Value base = function_.Operand(inst, 0);
      if (!filled.Has(base) || !Holds(scratch, base)) continue;
      if (refilled_scratch_.Insert(base)) grew = true;
      for (Value v : function_.Operands(inst)) NeedForward(closure, kWholeKernel, v);
    }
    CloseWorklist(closure);
    for (auto [root, v] : closure.forward_order) {
      if (forward_[root.raw].insert(v.raw).second) grew = true;
      Inst inst = function_.DefiningInst(v);
      if (inst.Valid() && !stored_.Of(v).Valid() && analysis::ReadsMemory(function_[inst].op))
        reloaded_.Insert(inst);
    }
  }
}

void RecordingPlan::Close(Closure& closure) {
  for (Value v : pending_.Get(closure.unit)) Need(closure, v);
  for (Inst inst : tree_.InstsOf(closure.unit)) {
    for (Value v : work_.ReadsOf(inst)) Need(closure, v);
    if (WritesReplayedArray(inst)) NeedArrayWrites(closure, Inst(), inst, replayed_here_.Get(inst));
  }
  if (closure.owner.Valid() && function_[closure.owner].op == Op::While && work_.Has(closure.owner)) {
    // The trip count is the number of times that the condition held in a forward run.
    NeedForward(closure, closure.owner, ConditionOf(function_, closure.owner));
    if (function_[closure.owner].Has(ir::Word::HasMax))
      NeedForward(closure, closure.owner, function_.Operand(closure.owner, 0));
  }
  if (closure.owner.Valid() && IsSerialLoop(function_[closure.owner].op))
    NeedTapeUndo(closure, closure.owner);
  CloseWorklist(closure);
}

void RecordingPlan::CloseWorklist(Closure& closure) {
  while (closure.next_recorded < closure.recorded.size() ||
         closure.next_forward < closure.forward_order.size()) {
    if (closure.next_recorded < closure.recorded.size()) {
      ExpandRecorded(closure, closure.recorded[closure.next_recorded++]);
    } else {
      auto [root, v] = closure.forward_order[closure.next_forward++];
      ExpandForward(closure, root, v);
    }
  }
}

void RecordingPlan::Need(Closure& closure, Value v) {
  if (AlwaysAvailable(function_, v)) return;
  if (tree_.UnitOf(v) != closure.unit) {
    closure.outer.push_back(v);
    return;
  }
  if (closure.recorded_set.insert(v.raw).second) closure.recorded.push_back(v);
}

void RecordingPlan::NeedForward(Closure& closure, Inst root, Value v) {
  if (AlwaysAvailable(function_, v)) return;
  if (!tree_.Inside(v, root)) {
    if (root != closure.owner && tree_.UnitOf(v) == closure.unit) closure.inputs[root.raw].push_back(v);
    Need(closure, v);
    return;
  }
  auto [entry, fresh] = closure.forward.try_emplace(root.raw);
  if (fresh) {
    auto settled = forward_.find(root.raw);
    if (settled != forward_.end()) entry->second = settled->second;
  }
  if (entry->second.insert(v.raw).second) closure.forward_order.emplace_back(root, v);
}

void RecordingPlan::ExpandRecorded(Closure& closure, Value v) {
  if (closure.taped.contains(v.raw)) {
    NeedForward(closure, closure.owner, v);
    return;
  }
  if (Inst store = StoreOf(v); store.Valid()) {
    for (Value index : function_.Indices(store)) Need(closure, index);
    Need(closure, function_.Operand(store, 0));
    return;
  }
  Inst inst = function_.DefiningInst(v);
  if (!inst.Valid()) return;  // an index of a loop, or a carried value in the search for the tape
  const ir::InstData& data = function_[inst];
  uint32_t k = v.raw - data.first_result.raw;
  if (IsSerialLoop(data.op)) {
    NeedForward(closure, inst, CarriedParam(function_, inst, k));
  } else if (data.op == Op::If) {
    closure.inputs[inst.raw].push_back(function_.Operand(inst, 0));
    Need(closure, function_.Operand(inst, 0));
    for (Block region : data.regions)
      NeedForward(closure, inst, function_.Operand(function_.Terminator(region), k));
  } else {
    for (Value operand : function_.Operands(inst)) Need(closure, operand);
  }
}

void RecordingPlan::ExpandForward(Closure& closure, Inst root, Value v) {
  if (function_[v].kind == ir::ValueKind::BlockParam) {
    Inst loop = function_[Block(function_[v].owner)].owner;
    if (function_[loop].op == Op::For) {
      for (uint32_t n = 0; n < 3; ++n) NeedForward(closure, root, function_.Operand(loop, n));
    } else {
      NeedForward(closure, root, ConditionOf(function_, loop));
      if (function_[loop].Has(ir::Word::HasMax)) NeedForward(closure, root, function_.Operand(loop, 0));
    }
    if (std::optional<uint32_t> k = CarriedNumber(function_, v)) {
      NeedForward(closure, root, CarriedInit(function_, loop, *k));
      NeedForward(closure, root, CarriedYield(function_, loop, *k));
    }
    return;
  }
  if (Inst store = stored_.Of(v); store.Valid()) {
    for (Value index : function_.Indices(store)) NeedForward(closure, root, index);
    return;
  }
  Inst inst = function_.DefiningInst(v);
  const ir::InstData& data = function_[inst];
  uint32_t k = v.raw - data.first_result.raw;
  if (replayed_arrays_.Has(v)) {
    // Everything that is stored in it lies in the block that makes it or deeper: inside the root as well.
    for (Inst inner : tree_.InstsOf(tree_.UnitOf(v)))
      if (Holds(OuterArrays(inner), v)) NeedArrayWrites(closure, root, inner, {&v, 1});
    return;
  }
  if (IsSerialLoop(data.op)) {
    NeedForward(closure, root, CarriedParam(function_, inst, k));
  } else if (data.op == Op::If) {
    NeedForward(closure, root, function_.Operand(inst, 0));
    for (Block region : data.regions)
      NeedForward(closure, root, function_.Operand(function_.Terminator(region), k));
  } else {
    for (Value operand : function_.Operands(inst)) NeedForward(closure, root, operand);
  }
}

void RecordingPlan::NeedArrayWrites(Closure& closure, Inst root, Inst inst, std::span<const Value> arrays) {
  // Without a root, `inst` stands in the unit itself: a store is replayed by the primal sweep, control
  // becomes the root of a forward run.
  auto need = [&](Value v) {
    if (root.Valid())
      NeedForward(closure, root, v);
    else
      Need(closure, v);
  };
  const ir::InstData& data = function_[inst];
  if (!ir::HasRegions(data.op)) {
    for (Value v : function_.Operands(inst)) need(v);
    return;
  }
  if (analysis::IsParallel(data.op)) return;
  uint32_t fixed = data.op == Op::If ? 1 : data.operand_count - data.result_count;
  for (uint32_t n = 0; n < fixed; ++n) need(function_.Operand(inst, n));
  if (!root.Valid()) root = inst;
  if (data.op == Op::While) NeedForward(closure, root, ConditionOf(function_, inst));
  for (Block region : data.regions) {
    if (!region.Valid()) continue;
    for (Inst inner : function_[region].insts) {
      for (Value array : OuterArrays(inner)) {
        if (std::find(arrays.begin(), arrays.end(), array) == arrays.end()) continue;
        NeedArrayWrites(closure, root, inner, arrays);
        break;
      }
    }
  }
}

void RecordingPlan::NeedTapeUndo(Closure& closure, Inst loop) {
  UndoPlan undo = PlanUndo(function_, tree_, *this, loop);
  for (Inst store : undo.stores)
    for (Value v : function_.Operands(store)) NeedForward(closure, loop, v);
  for (Value array : undo.snapshots) NeedForward(closure, loop, array);
  for (Value array : undo.before) NeedForward(closure, loop, array);
  if (undo.Empty()) return;
  // The forward run replays every write inside the loop, wherever it stands.
  NeedArrayWrites(closure, loop, loop, replayed_here_.Get(loop));
}

std::vector<Value> RecordingPlan::ChooseTape(const Closure& closure,
                                             const std::unordered_set<uint32_t>& restored) const {
  std::vector<Value> carried;
  uint64_t carried_bits = 0;
  for (Value v : closure.recorded) {
    if (!CarriedNumber(function_, v) || restored.contains(v.raw)) continue;
    carried.push_back(v);
    carried_bits += BitsOf(function_, v);
  }
  std::sort(carried.begin(), carried.end());
  // With a large carried state every path of the flow is cheap and there are many: keep the state itself.
  constexpr uint64_t kSearchBits = 4096;
  if (carried.empty() || carried_bits > kSearchBits) return carried;

  CutGraph graph;
  std::unordered_map<uint32_t, uint32_t> node_of;          // by value
  std::unordered_map<uint32_t, uint32_t> control_node_of;  // by instruction
  for (Value v : closure.recorded) {
    node_of[v.raw] = static_cast<uint32_t>(graph.nodes.size());
    CutGraph::Node node;
    bool keepable = function_.TypeOf(v).IsScalar();
    node.cost = keepable ? BitsOf(function_, v) : CutGraph::kInfinite;
    node.source = CarriedNumber(function_, v) && !restored.contains(v.raw);
    graph.nodes.push_back(std::move(node));
  }
  auto link = [&](Value from, uint32_t to) {
    auto found = node_of.find(from.raw);
    if (found != node_of.end()) graph.nodes[found->second].uses.push_back(to);
  };
  for (Value v : closure.recorded) {
    Inst inst = function_.DefiningInst(v);
    if (!inst.Valid()) continue;
    uint32_t to = node_of[v.raw];
    if (Inst store = StoreOf(v); store.Valid()) {
      for (Value index : function_.Indices(store)) link(index, to);
      continue;
    }
    if (!ir::HasRegions(function_[inst].op)) {
      for (Value operand : function_.Operands(inst)) link(operand, to);
      continue;
    }
    auto [control, fresh] = control_node_of.try_emplace(inst.raw, 0);
    if (fresh) {
      control->second = static_cast<uint32_t>(graph.nodes.size());
      graph.nodes.push_back({CutGraph::kInfinite, false, false, {}});
      auto inputs = closure.inputs.find(inst.raw);
      if (inputs != closure.inputs.end())
        for (Value input : inputs->second) link(input, control->second);
    }
    graph.nodes[control->second].uses.push_back(to);
  }
  auto sink = [&](Value v) {
    auto found = node_of.find(v.raw);
    if (found != node_of.end()) graph.nodes[found->second].sink = true;
  };
  for (Value v : pending_.Get(closure.unit)) sink(v);
  for (Inst inst : tree_.InstsOf(closure.unit)) {
    for (Value v : work_.ReadsOf(inst)) sink(v);
    if (!WritesReplayedArray(inst)) continue;
    // Replayed in the primal sweep of each reversed iteration, so its reads must be available there.
    auto inputs = closure.inputs.find(inst.raw);
    if (inputs != closure.inputs.end())
      for (Value v : inputs->second) sink(v);
    for (Value v : function_.Operands(inst)) sink(v);
  }
  bool found = false;
  std::vector<uint32_t> cut = MinimumCut(graph, &found);
  if (!found) return carried;
  std::vector<Value> tape;
  for (uint32_t n : cut) {
    if (n >= closure.recorded.size()) return carried;
    tape.push_back(closure.recorded[n]);
  }
  std::sort(tape.begin(), tape.end());
  return tape;
}

void RecordingPlan::Commit(Closure& closure) {
  // The reversed loop runs as often as the forward run has counted, even if the adjoint sweep reads nothing
  // else of the forward run.
  if (closure.owner.Valid() && function_[closure.owner].op == Op::While && work_.Has(closure.owner))
    runs_forward_.Insert(closure.owner);
  for (Value v : closure.recorded) {
    to_be_recorded_.Insert(v);
    Inst inst = function_.DefiningInst(v);
    if (!inst.Valid() || closure.taped.contains(v.raw) || StoreOf(v).Valid()) continue;
    if (analysis::ReadsMemory(function_[inst].op)) reloaded_.Insert(inst);
    if (ir::HasRegions(function_[inst].op)) runs_forward_.Insert(inst);
  }
  for (Value v : pending_.Get(closure.unit)) direct_.Insert(v);
  for (Inst inst : tree_.InstsOf(closure.unit)) {
    for (Value v : work_.ReadsOf(inst)) direct_.Insert(v);
    if (!WritesReplayedArray(inst)) continue;
    // The adjoint sweep takes its writes back, whether or not there is adjoint work in it: a store at its
    // indices, a branch by its condition, a `for` within its bounds.
    const ir::InstData& data = function_[inst];
    if (!ir::HasRegions(data.op)) {
      for (Value index : function_.Indices(inst)) direct_.Insert(index);
      continue;
    }
    runs_forward_.Insert(inst);
    uint32_t read = data.op == Op::If ? 1 : data.op == Op::For ? 3 : 0;
    for (uint32_t n = 0; n < read; ++n) direct_.Insert(function_.Operand(inst, n));
  }
  for (auto [root, v] : closure.forward_order) {
    forward_[root.raw].insert(v.raw);
    runs_forward_.Insert(root);
    Inst inst = function_.DefiningInst(v);
    if (inst.Valid() && !stored_.Of(v).Valid() && analysis::ReadsMemory(function_[inst].op))
      reloaded_.Insert(inst);
  }
  for (Value v : closure.outer) pending_[tree_.UnitOf(v)].push_back(v);
}

namespace {

void CollectUndo(const Function& function, const RegionTree& tree, const RecordingPlan& plan, Inst loop,
                 Block block, bool top_level, UndoPlan& undo) {
  for (Inst inst : function[block].insts) {
    if (!ir::HasRegions(function[inst].op)) {
      if (!plan.WritesReplayedArray(inst)) continue;
      Value array = function.Operand(inst, 0);
      if (tree.Inside(array, loop)) continue;
      if (top_level)
        undo.stores.push_back(inst);
      else if (!Holds(undo.snapshots, array))
        undo.snapshots.push_back(array);
      continue;
    }
    for (Block region : function[inst].regions)
      if (region.Valid()) CollectUndo(function, tree, plan, loop, region, false, undo);
  }
}

bool IsApart(const Function& function, Inst loop) {
  return function[loop].op == Op::For && function[loop].Has(ir::Word::Apart) &&
         function[loop].attr != ir::kNoAttr;
}

/// Moves arrays to `before`, but for those that are much larger than what the turns store one by one.
void TakeBefore(const Function& function, Inst loop, UndoPlan& undo) {
  constexpr uint64_t kWordsOfTurn = 4;
  auto take = [&](Value array) {
    if (!Holds(undo.before, array)) undo.before.push_back(array);
  };
  for (Value array : undo.snapshots) take(array);
  undo.snapshots.clear();
  std::erase_if(undo.stores, [&](Inst store) {
    Value array = function.Operand(store, 0);
    ir::Type type = function.TypeOf(array);
    bool large = uint64_t{type.count} * type.Components() > kWordsOfTurn * function[loop].attr;
    bool taken = Holds(undo.before, array);
    if (!large) take(array);
    return taken || !large;
  });
}

}  // namespace

UndoPlan PlanUndo(const Function& function, const RegionTree& tree, const RecordingPlan& plan, Inst loop) {
  UndoPlan undo;
  bool top_level = function[loop].op == Op::For;
  CollectUndo(function, tree, plan, loop, function[loop].regions[0], top_level, undo);
  if (!top_level) CollectUndo(function, tree, plan, loop, function[loop].regions[1], true, undo);
  if (IsApart(function, loop)) TakeBefore(function, loop, undo);
  // An array with a snapshot needs no single undo.
  std::erase_if(undo.stores, [&](Inst store) { return Holds(undo.snapshots, function.Operand(store, 0)); });
  return undo;
}

}  // namespace adc::autodiff
