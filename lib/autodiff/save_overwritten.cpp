// A gradient runs after its kernel, and finds memory as the kernel left it; where a step of a simulation is
// launched a thousand times on the same buffers, it finds what the last launch left. Whatever it reads again
// must be saved by then. This pass finds what that is by asking reverse mode what it would read again
// (RecordingPlan), lets the kernel store exactly these values, and asks again, since a value that is saved
// needs nothing in turn, and the plan changes.
//
// A slot is a number with one digit per loop around the value, in a radix that the arguments of the launch
// give. The iteration of the `parallel` is the lowest digit, so that the threads of a wave write neighbouring
// elements, and the loops inside of it follow:
//
//   parallel %i, %j in 0..%n, 0..%m { for %t in 0..%k { %a = load ... } }
//   slot(%a) = base + t * (n * m) + i * m + j,   base = slots of the values before
//
// A loop whose length depends on data has the digits of the longest that its arguments allow: those of a
// `while max`, with a counter that it carries from here on, of a `parallel` that runs behind a condition
// (transform/guard_tasks.h), of a `for` up to a minimum. Slots of iterations that do not run stay as they
// are.
//
// All of it is 64-bit arithmetic: a buffer of 2^31 elements and more is what this is for.
//
// What is saved is the value, not the cell: a cell that a loop overwrites in each trip has one slot per trip.
// That is the checkpointing of "store all" (Griewank and Walther, Evaluating Derivatives, chapter 12), with
// the tape in the caller's memory; schedules over launches are the loader's (adrt_rollout.h).

#include "autodiff/save_overwritten.h"

#include <algorithm>
#include <map>

#include "analysis/memory.h"
#include "autodiff/save_final_values.h"
#include "autodiff/to_be_recorded.h"
#include "autodiff/vjp_reads.h"
#include "diag/errors/autodiff.h"
#include "ir/module.h"
#include "ir/type.h"
#include "support/check.h"
#include "transform/isolate_tasks.h"
#include "transform/rewriter.h"

namespace adc::autodiff {

using ir::Block;
using ir::Function;
using ir::Inst;
using ir::InstData;
using ir::Op;
using ir::Type;
using ir::Value;

namespace {

/// What a gradient reads of memory that does not last, by the instruction of the kernel that it reads it for.
struct Reads {
  std::vector<Inst> values;  ///< loads, and atomics with a result, that it would repeat: in the state then
  std::vector<FinalRead> finals;  ///< whole buffers: in the state after the task
};

/// What a vjp also writes, cells of layouts and what the kernel's own reverse reads nobody saves:
/// check_saved.h finds it.
Reads ReadsToSave(const ir::Module& module, const Function& function, const SaveConfig& config) {
  RegionTree tree(function);
  Activity activity(module, function, DiffParameters::FromAttributes(module, function));
  AdjointWork work(function, activity);
  RecordingPlan plan(function, tree, work, false);
  StoredValues saved(function, false);
  analysis::Structure structure(function);
  analysis::MemoryClasses memory(structure);
  bool alias_marked = false;
  for (const ir::ParamInfo& info : function.params) alias_marked = alias_marked || (info.alias && info.save);
  auto lasts = [&](Value buffer, uint32_t field) {
    const ir::ValueData& base = function[buffer];
    bool is_parameter = base.kind == ir::ValueKind::BlockParam && ir::Block(base.owner) == function.Body();
    if (!is_parameter || function.params[base.number].role != ir::ParamRole::Plain) return true;
    const ir::ParamInfo& info = function.params[base.number];
    bool marked = info.save || (info.alias && alias_marked);
    return !marked && !(config.overwritten && memory.IsWritten(memory.ClassOf(buffer, field)));
  };
  Reads reads;
  auto keep = [&](Inst reader, Value base, uint32_t component) {
    if (!lasts(base, ir::kNoAttr) && !plan.FinalOf(reader, base, component).Valid())
      reads.finals.push_back({reader, base, component});
  };
  for (Inst inst : structure.Order()) {
    Op op = function[inst].op;
    // A layout's cells are not copied.
    bool of_buffer = ir::IsAccess(op) && function.TypeOf(function.Operand(inst, 0)).IsBuffer();
    if (IsExtremum(op) && of_buffer && work.Has(inst))
      keep(inst, function.Operand(inst, 0), function[inst].component);
    if (op == Op::Call && function.RegionCount(inst) != 0 && work.Has(inst)) {
      VjpReads of_call(module, function, inst);
      for (const VjpReads::Read& read : of_call.Reads())
        keep(inst, function.Operand(inst, read.param), read.component);
    }
    if ((op != Op::Load && !ir::IsAtomic(op)) || !plan.Reloaded(inst)) continue;
    if (lasts(function.Operand(inst, 0), function[inst].attr)) continue;
    // What is saved already and read again all the same is for the check of reverse mode to refuse.
    if (saved.Of(function.Result(inst)).Valid()) continue;
    // An old value that carries a derivative is refused (E0402), saved or not.
    if (ir::IsAtomic(op) && activity.ActiveResult(inst)) continue;
    reads.values.push_back(inst);
  }
  return reads;
}

/// Arithmetic on arguments and shapes.
bool IsFromArguments(const Function& function, Value v) {
  if (function.IsConstant(v)) return true;
  const ir::ValueData& data = function[v];
  if (data.kind == ir::ValueKind::BlockParam) return ir::Block(data.owner) == function.Body();
  Inst inst = function.DefiningInst(v);
  if (!inst.Valid()) return false;
  if (function[inst].op == Op::Shape) return true;
  if (ir::InfoOf(function[inst].op).effect != ir::Effect::Pure || !data.type.IsInteger()) return false;
  std::span<const Value> operands = function.Operands(inst);
  return std::all_of(operands.begin(), operands.end(),
                     [&](Value one) { return IsFromArguments(function, one); });
}

/// How deep the arithmetic of a bound is looked through.
constexpr uint32_t kBoundDepth = 8;

/// Whether arguments and shapes say how large `v` may become.
bool IsBoundedByArguments(const Function& function, Value v, uint32_t depth = kBoundDepth) {
  if (IsFromArguments(function, v)) return true;
  Inst inst = function.DefiningInst(v);
  if (!inst.Valid() || depth == 0) return false;
  auto bounded = [&](uint32_t n) {
    return IsBoundedByArguments(function, function.Operand(inst, n), depth - 1);
  };
  Op op = function[inst].op;
  if (op == Op::Select) return bounded(1) && bounded(2);
  if (op == Op::Max) return bounded(0) && bounded(1);
  if (op == Op::Min) return bounded(0) || bounded(1);
  bool widens = op == Op::Cast && function.TypeOf(v) == ir::kI64 &&
                function.TypeOf(function.Operand(inst, 0)) == ir::kI32;
  return widens && bounded(0);
}

class SaveRewriter final : public transform::Rewriter {
 public:
  SaveRewriter(ir::Module& module, const Function& from, const SaveConfig& config)
      : Rewriter(module, from, config.fold) {}

  /// False after an error.
  bool Plan(std::span<const Inst> values, diag::Diagnostics& diagnostics) {
    for (Inst inst : values) {
      Site site{inst, {}, {}, {}};
      for (Inst at = from_[from_[inst].parent].owner; at.Valid(); at = from_[from_[at].parent].owner)
        if (from_[at].op != Op::If) site.loops.insert(site.loops.begin(), at);
      for (Inst loop : site.loops) {
        if (IsBounded(loop)) continue;
        Refuse(site, loop, diagnostics);
        return false;
      }
      for (Inst loop : site.loops)
        if (from_[loop].op == Op::While) counters_[loop] = Value();
      anchored_[site.loops.empty() ? inst : site.loops.front()].push_back(inst);
      sites_.emplace(inst, std::move(site));
    }
    return true;
  }

 private:
  /// A loop or axis around a value: what counts, from where, in which steps, how often at most.
  struct Digit {
    Value index;    ///< of the loop, which begins at `first`
    Value counter;  ///< or, built, one that begins at 0
    Value first, trips;
    int64_t step = 1;
    bool loose = false;  ///< it may run less often
  };
  struct Site {
    Inst inst;
    std::vector<Inst> loops;  ///< outermost first
    Value buffer, base;       ///< built; base: the first slot
  };

  /// Whether arguments and shapes say where the loop begins and how often it runs at most.
  bool IsBounded(Inst loop) const {
    const InstData& data = from_[loop];
    if (data.op == Op::ParallelOver) return true;
    if (data.op == Op::While) {
      bool has_max = (data.flags & ir::kFlagHasMax) != 0 && (data.flags & ir::kFlagOrNone) == 0;
      return has_max && IsBoundedByArguments(from_, from_.Operand(loop, 0));
    }
    uint32_t count = data.op == Op::For ? 2 : data.operand_count;
    for (uint32_t n = 0; n < count; n += 2) {
      if (!IsFromArguments(from_, from_.Operand(loop, n))) return false;
      if (!IsBoundedByArguments(from_, from_.Operand(loop, n + 1))) return false;
    }
    return true;
  }

  void Refuse(const Site& site, Inst loop, diag::Diagnostics& diagnostics) const {
    const ir::ValueData& value = from_[from_.Result(site.inst)];
    bool is_while = from_[loop].op == Op::While;
    diagnostics
        .Error(diag::E0450, from_[site.inst].span,
               (value.name.Valid() ? "'%" + std::string(module_.Text(value.name)) + "'"
                                   : std::string("a value")) +
                   " is to be saved for the gradient, but the number of times is not known before the launch")
        .AddNote(from_[loop].span,
                 is_while ? "this loop has no 'max' that arguments and shapes bound"
                          : "arguments and shapes alone do not bound the number of iterations of this loop")
        .AddHelp(is_while ? "write 'while max N' with an N of arguments and shapes; or copy what it reads to "
                            "a buffer that the kernel does not write"
                          : "use arguments as bounds, or 'min' of the bound and an argument; if they depend "
                            "on a loop around it, run over all iterations and skip some by an 'if'; or copy "
                            "what it reads to a buffer that the kernel does not write");
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

  /// What arguments and shapes let `v` be at most.
  Value Most(Value v) {
    if (IsFromArguments(from_, v)) return Rebuilt(v);
    Inst inst = from_.DefiningInst(v);
    auto most = [&](uint32_t n) { return Most(from_.Operand(inst, n)); };
    Op op = from_[inst].op;
    if (op == Op::Cast) return Wide(most(0));
    if (op == Op::Select) return builder_.Make(Op::Max, {most(1), most(2)});
    if (op == Op::Max) return builder_.Make(Op::Max, {most(0), most(1)});
    bool first = IsBoundedByArguments(from_, from_.Operand(inst, 0)),
         second = IsBoundedByArguments(from_, from_.Operand(inst, 1));
    if (first && second) return builder_.Make(Op::Min, {most(0), most(1)});
    return most(first ? 0 : 1);
  }

  /// The digits of `loop`, outermost axis first.
  std::vector<Digit> DigitsOf(Inst loop) {
    const InstData& data = from_[loop];
    std::span<const Value> indices = from_[data.regions[0]].params;
    std::vector<Digit> digits;
    if (data.op == Op::ParallelOver) {
      const ir::Layout& layout = module_.layouts[from_.TypeOf(from_.Operand(loop, 0)).count];
      for (size_t axis = 0; axis < indices.size(); ++axis) {
        Value extent = builder_.I64(static_cast<int64_t>(layout.fields[data.attr].axes[axis].extent));
        digits.push_back({indices[axis], {}, builder_.I64(0), extent});
      }
      return digits;
    }
    if (data.op == Op::While) {
      // The test runs no more often than the body may: after the last iteration there is none.
      Value most = builder_.Make(Op::Max, {Wide(Most(from_.Operand(loop, 0))), builder_.I64(0)});
      return {{{}, counters_.at(loop), {}, most, 1, true}};
    }
    size_t axes = data.op == Op::For ? 1 : indices.size();
    for (size_t axis = 0; axis < axes; ++axis) {
      auto operand = static_cast<uint32_t>(2 * axis);
      Value lo = Wide(Rebuilt(from_.Operand(loop, operand))),
            hi = Wide(Most(from_.Operand(loop, operand + 1)));
      Digit digit{
          indices[axis], {}, lo, builder_.Make(Op::Max, {builder_.Make(Op::Sub, {hi, lo}), builder_.I64(0)})};
      digit.loose = data.op != Op::For && !IsFromArguments(from_, from_.Operand(loop, operand + 1));
      if (data.op == Op::For) digit.step = *from_.IntegerConstant(from_.Operand(loop, 2));
      if (digit.step != 1) digit.trips = builder_.Make(Op::CeilDiv, {digit.trips, builder_.I64(digit.step)});
      digits.push_back(digit);
    }
    return digits;
  }

  /// All digits around a site, the lowest first: those of the parallel, then those of the loops inside.
  std::vector<Digit> DigitsOf(const Site& site) {
    std::vector<Digit> digits;
    for (Inst loop : site.loops) {
      std::vector<Digit> own = DigitsOf(loop);
      digits.insert(digits.end(), own.rbegin(), own.rend());
    }
    return digits;
  }

  /// Gives the sites of an anchor, which is visited next, their buffers and first slots.
  void Prepare(Inst anchor, const std::vector<Inst>& values) {
    struct Filled {
      Value buffer, slots;
    };
    std::map<ir::Scalar, Filled> buffers;
    builder_.SetSpan(from_[anchor].span);
    for (Inst inst : values) {
      Site& site = sites_.at(inst);
      Type element = from_.TypeOf(from_.Result(inst));
      auto [entry, fresh] = buffers.try_emplace(element.scalar);
      if (fresh)
        entry->second = {AddSavedBuffer(module_, *into_, element, from_[anchor].span), builder_.I64(0)};
      site.buffer = entry->second.buffer;
      site.base = entry->second.slots;
      Value slots = builder_.I64(1);
      for (const Digit& digit : DigitsOf(site)) slots = builder_.Make(Op::Mul, {slots, digit.trips});
      entry->second.slots = builder_.Make(Op::Add, {site.base, slots});
    }
  }

  void Save(const Site& site) {
    builder_.SetSpan(from_[site.inst].span);
    Value slot = site.base, radix = builder_.I64(1);
    for (const Digit& digit : DigitsOf(site)) {
      Value number = digit.counter.Valid() ? digit.counter
                                           : builder_.Make(Op::Sub, {Wide(Map(digit.index)), digit.first});
      // Where no expression says how far it comes (a gradient counts the iterations of a `while` backwards,
      // and those of a `parallel` may be counted before the launch) the minimum bounds the slot.
      if (digit.loose)
        number = builder_.Make(Op::Min, {number, builder_.Make(Op::Sub, {digit.trips, builder_.I64(1)})});
      if (digit.step != 1) number = builder_.Make(Op::Div, {number, builder_.I64(digit.step)});
      slot = builder_.Make(Op::Add, {slot, builder_.Make(Op::Mul, {number, radix})});
      radix = builder_.Make(Op::Mul, {radix, digit.trips});
    }
    Value value = Map(from_.Result(site.inst));
    builder_.Access(Op::Store, site.buffer, {&slot, 1}, {&value, 1});
  }

  /// A `while` with one more carried value, which counts its iterations.
  void CopyCounted(Inst inst) {
    const InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    std::vector<Value> initial = MapAll(from_.Operands(inst).subspan(1));
    initial.push_back(builder_.I64(0));
    Inst loop = builder_.While(Map(from_.Operand(inst, 0)), initial, data.flags);
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

  void Visit(Inst inst) override {
    if (auto values = anchored_.find(inst); values != anchored_.end()) Prepare(inst, values->second);
    if (counters_.contains(inst)) {
      CopyCounted(inst);
    } else {
      Copy(inst);
    }
    if (auto site = sites_.find(inst); site != sites_.end()) Save(site->second);
  }

  std::map<Inst, Value> counters_;  ///< of `while` loops around sites, built
  std::map<Inst, Site> sites_;      ///< by the instruction whose result is saved
  std::map<Inst, std::vector<Inst>>
      anchored_;  ///< these, by the instruction of the kernel's body around them
};

/// False after an error. `*saved` is set where the kernel got buffers.
bool SaveIn(ir::Module& module, Function& function, const SaveConfig& config, diag::Diagnostics& diagnostics,
            bool* saved) {
  for (bool copied = false;;) {
    Reads reads = ReadsToSave(module, function, config);
    if (reads.values.empty() && reads.finals.empty()) return true;
    if (config.differentiated_again) {
      Inst first = reads.values.empty() ? reads.finals.front().reader : reads.values.front();
      diagnostics
          .Error(diag::E0452, function[first].span,
                 "second derivatives of '@" + std::string(module.Text(function.name)) +
                     "' would need derivatives of the values that it saves")
          .AddHelp("derive 'jvp(grad)' of a kernel that writes its results to other buffers");
      return false;
    }
    *saved = true;
    // What is loaded for another reason may be what a winner is found by: one after the other.
    if (reads.values.empty()) {
      ADC_CHECK(!copied, "a copy of a buffer was not found again");
      copied = true;
      function = std::move(*SaveFinalValues(module, function, reads.finals, config.fold));
      continue;
    }
    SaveRewriter rewriter(module, function, config);
    if (!rewriter.Plan(reads.values, diagnostics)) return false;
    function = std::move(*rewriter.Run());
  }
}

/// Like SaveIn, but all of the values or none, and nothing is said.
void SaveWherePossible(ir::Module& module, Function& function, const SaveConfig& config, bool* saved) {
  diag::Diagnostics found(0);
  Function before = std::move(*transform::Rewriter(module, function, config.fold).Run());
  bool any = false;
  if (SaveIn(module, function, config, found, &any)) {
    *saved = *saved || any;
  } else {
    function = std::move(before);
  }
}

bool Asks(const Function& function, const SaveConfig& config) {
  if (!function.IsKernel() || function.role != ir::KernelRole::Primal || function.grad.Valid()) return false;
  bool marked = std::any_of(function.params.begin(), function.params.end(),
                            [](const ir::ParamInfo& info) { return info.save; });
  return (marked || config.overwritten) && (!config.saves || config.saves(function));
}

}  // namespace

bool SaveOverwritten(ir::Module& module, const SaveConfig& config, diag::Diagnostics& diagnostics) {
  bool saved = false;
  for (auto& function : module.functions) {
    if (!Asks(*function, config)) continue;
    if (config.optional) {
      SaveWherePossible(module, *function, config, &saved);
    } else if (!SaveIn(module, *function, config, diagnostics, &saved)) {
      return false;
    }
  }
  // A value of a task's prologue that is stored makes a task of its own.
  return !saved || transform::IsolateTasks(module, {}, diagnostics);
}

}  // namespace adc::autodiff
