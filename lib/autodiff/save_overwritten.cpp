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
// (transform/guard_tasks.h), of a `for` up to a minimum or an index. Where they allow any, an element that
// the index names bounds it (slot_bounds.h), and may say which iteration of the `parallel` it is as well:
// then the latter has no digit. Slots of iterations that do not run stay as they are.
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
#include "autodiff/reverse_analyses.h"
#include "autodiff/save_final_values.h"
#include "autodiff/slot_bounds.h"
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

/// Whether the buffer, a parameter of the kernel, is marked `save`, or may be one that is.
bool IsMarked(const Function& function, Value buffer) {
  const ir::ParamInfo& info = function.params[function[buffer].number];
  return info.save || (info.alias && std::ranges::any_of(function.params, [](const ir::ParamInfo& other) {
                         return other.alias && other.save;
                       }));
}

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
  auto lasts = [&](Value buffer, uint32_t field) {
    const ir::ValueData& base = function[buffer];
    bool is_parameter = function.IsParameter(buffer);
    if (!is_parameter || function.params[base.number].role != ir::ParamRole::Plain) return true;
    return !IsMarked(function, buffer) &&
           !(config.overwritten && memory.IsWritten(memory.ClassOf(buffer, field)));
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

class SaveRewriter final : public transform::Rewriter {
 public:
  SaveRewriter(ir::Module& module, const Function& from, const SaveConfig& config)
      : Rewriter(module, from, config.fold),
        activity_(module, from, DiffParameters::FromAttributes(module, from)) {}

  /// Values of loops that nothing bounds are left out; false where `leaves` does not allow that.
  bool Plan(std::span<const Inst> values, const std::function<bool(Inst value, Inst loop)>& leaves) {
    for (Inst inst : values) {
      Site site{inst, {}, {}, {}};
      for (Inst at = from_[from_[inst].parent].owner; at.Valid(); at = from_[from_[at].parent].owner)
        if (from_[at].op != Op::If) site.loops.insert(site.loops.begin(), at);
      if (Inst loop = FindBounds(site); loop.Valid()) {
        if (!leaves(inst, loop)) return false;
        continue;
      }
      for (Inst loop : site.loops)
        if (from_[loop].op == Op::While) counters_[loop] = Value();
      anchored_[site.loops.empty() ? inst : site.loops.front()].push_back(inst);
      sites_.emplace(inst, std::move(site));
    }
    return true;
  }
  /// Whether any value is saved.
  bool Saves() const { return !sites_.empty(); }

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
    std::vector<Inst> loops;                       ///< outermost first
    Value buffer, base;                            ///< built; base: the first slot
    std::map<Value, IndexedAxis> by_element = {};  ///< indices that are numbers of elements
    bool exclusive = false;  ///< one of these says which iteration of the `parallel` it is, too
  };

  /// Says how the loops around a value are numbered. Valid: the loop that nothing bounds.
  Inst FindBounds(Site& site) const {
    for (Inst loop : site.loops) {
      const InstData& data = from_[loop];
      if (data.op == Op::ParallelOver) continue;
      if (data.op == Op::While) {
        bool has_max = (data.flags & ir::kFlagHasMax) != 0 && (data.flags & ir::kFlagOrNone) == 0;
        if (!has_max || !HasMost(from_, from_.Operand(loop, 0))) return loop;
        continue;
      }
      size_t axes = data.op == Op::For ? 1 : from_[data.regions[0]].params.size();
      for (size_t axis = 0; axis < axes; ++axis) {
        if (IsArgumentAxis(loop, axis)) continue;
        Value index = from_[data.regions[0]].params[axis];
        IndexedAxis found = AxisOfIndex(from_, activity_, site.inst, loop, index);
        // Within two such loops an element may come again.
        if (!found.base.Valid() || (found.exclusive && site.exclusive)) return loop;
        site.exclusive = site.exclusive || found.exclusive;
        site.by_element[index] = found;
      }
    }
    return {};
  }

  /// Whether arguments and shapes say where the indices of an axis lie.
  bool IsArgumentAxis(Inst loop, size_t axis) const {
    auto low = static_cast<uint32_t>(2 * axis);
    return HasLeast(from_, from_.Operand(loop, low)) && HasMost(from_, from_.Operand(loop, low + 1));
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

  /// The number of `v` that arguments and shapes let it be at most, or at least.
  Value Most(Value v) { return Extreme(v, true); }
  Value Least(Value v) { return Extreme(v, false); }
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

  /// All digits around a site, the lowest first: those of the parallel, then those of the loops inside.
  std::vector<Digit> DigitsOf(const Site& site) {
    std::vector<Digit> digits;
    for (Inst loop : site.loops) {
      if (site.exclusive && analysis::IsParallel(from_[loop].op)) continue;
      std::vector<Digit> own = DigitsOf(site, loop);
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
      if (digit.step != 1) number = builder_.Make(Op::Div, {number, builder_.I64(digit.step)});
      if (digit.loose)
        number = builder_.Make(Op::Min, {number, builder_.Make(Op::Sub, {digit.trips, builder_.I64(1)})});
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

  Activity activity_;
  std::map<Inst, Value> counters_;  ///< of `while` loops around sites, built
  std::map<Inst, Site> sites_;      ///< by the instruction whose result is saved
  std::map<Inst, std::vector<Inst>>
      anchored_;  ///< these, by the instruction of the kernel's body around them
};

/// Why a value cannot be saved: `loop` is not bounded.
void Explain(const ir::Module& module, const Function& function, Inst loop, diag::Diagnostic& said) {
  bool is_while = function[loop].op == Op::While, is_text = module.door == ir::Door::Text;
  said.AddNote(function[loop].span,
               is_while && is_text
                   ? "this loop has no 'max' that arguments and shapes bound"
                   : "arguments and shapes alone do not bound the number of iterations of this loop");
  std::string bound = !is_while ? "use arguments as bounds, or 'min' of the bound and an argument"
                      : is_text ? "write 'while max N' with an N of arguments and shapes"
                                : "count up to an argument or a constant in a 'for', and leave it by 'break'";
  said.AddHelp(bound + "; or copy what it reads to a buffer that the kernel does not write");
}

std::string NameOf(const ir::Module& module, const Function& function, Inst value) {
  StringId name = function[function.Result(value)].name;
  return name.Valid() ? "'%" + std::string(module.Text(name)) + "'" : std::string("a value");
}

class KernelSaver {
 public:
  KernelSaver(ir::Module& module, const SaveConfig& config) : module_(module), config_(config) {}

  /// False after an error. `*saved` is set where the kernel got buffers. With `left` the values of loops that
  /// nothing bounds stay what they are, and enter it as warnings, unless their buffers are marked `save`.
  bool Save(Function& function, bool overwritten, diag::Diagnostics& diagnostics, diag::Diagnostics* left,
            bool* saved) {
    SaveConfig config = config_;
    config.overwritten = overwritten;
    for (bool copied = false;;) {
      Reads reads = ReadsToSave(module_, function, config);
      if (reads.values.empty() && reads.finals.empty()) return true;
      if (config.differentiated_again) return RefuseSecond(function, reads, diagnostics);
      SaveRewriter rewriter(module_, function, config);
      diag::Diagnostics found(0);
      auto leaves = [&](Inst value, Inst loop) {
        bool may = left != nullptr && !IsMarked(function, function.Operand(value, 0));
        diag::Diagnostic& said =
            may ? found.Warning(diag::W0462, function[value].span,
                                NameOf(module_, function, value) +
                                    " is not saved for the gradient: it must run before anything changes the "
                                    "buffers that the kernel leaves")
                : diagnostics.Error(diag::E0450, function[value].span,
                                    NameOf(module_, function, value) +
                                        " is to be saved for the gradient, but the number of times is not "
                                        "known before the launch");
        Explain(module_, function, loop, said);
        return may;
      };
      if (!rewriter.Plan(reads.values, leaves)) return false;
      if (rewriter.Saves()) {
        *saved = true;
        function = std::move(*rewriter.Run());
        continue;
      }
      // What is loaded for another reason may be what a winner is found by: one after the other.
      if (reads.finals.empty()) {
        if (left != nullptr) *left = std::move(found);
        return true;
      }
      ADC_CHECK(!copied, "a copy of a buffer was not found again");
      copied = *saved = true;
      function = std::move(*SaveFinalValues(module_, function, reads.finals, config.fold));
    }
  }

  /// As Save with all that the kernel overwrites, or without an option if that cannot be and the gradient is
  /// right in the state that the kernel leaves. False after an error, which is that of the former.
  bool SaveAll(Function& function, diag::Diagnostics& diagnostics, bool* saved) {
    diag::Diagnostics refused(diagnostics.ErrorLimit()), left(0), ignored(0);
    bool any = false;
    std::unique_ptr<Function> made = Copy(function);
    bool good = Save(*made, true, refused, nullptr, &any);
    if (!good) {
      // Nothing is saved where nothing need be; else what can be.
      std::unique_ptr<Function> partly = Copy(function);
      bool some = false;
      made = Copy(function);
      any = false;
      bool known = Save(*partly, true, ignored, &left, &some);
      good = Save(*made, false, ignored, nullptr, &any) && IsRight(*made);
      if (!good && known && IsRight(*partly)) {
        made = std::move(partly);
        any = some;
        good = true;
      }
      diagnostics.AddAll(good ? left : refused);
      if (!good) return false;
      config_.left(function);
    }
    function = std::move(*made);
    *saved = *saved || any;
    return true;
  }

  /// Like Save, but all of the values or none, and nothing is said.
  void SaveWherePossible(Function& function, bool* saved) {
    diag::Diagnostics found(0);
    std::unique_ptr<Function> made = Copy(function);
    bool any = false;
    if (!Save(*made, config_.overwritten, found, nullptr, &any)) return;
    function = std::move(*made);
    *saved = *saved || any;
  }

 private:
  bool RefuseSecond(const Function& function, const Reads& reads, diag::Diagnostics& diagnostics) const {
    Inst first = reads.values.empty() ? reads.finals.front().reader : reads.values.front();
    diagnostics
        .Error(diag::E0452, function[first].span,
               "second derivatives of '@" + std::string(module_.Text(function.name)) +
                   "' would need derivatives of the values that it saves")
        .AddHelp("derive 'jvp(grad)' of a kernel that writes its results to other buffers");
    return false;
  }

  std::unique_ptr<Function> Copy(const Function& function) {
    return transform::Rewriter(module_, function, config_.fold).Run();
  }

  /// Whether reverse mode takes the kernel as it is.
  bool IsRight(const Function& function) const {
    bool later = std::ranges::any_of(function.params, [](const ir::ParamInfo& info) {
      return info.save || info.role == ir::ParamRole::Saved;
    });
    diag::Diagnostics found(0);
    return ReverseAnalyses(module_, function, !later && !config_.differentiated_again).Check(module_, found);
  }

  ir::Module& module_;
  const SaveConfig& config_;
};

bool Asks(const Function& function, const SaveConfig& config) {
  if (!function.IsKernel() || function.role != ir::KernelRole::Primal || function.grad.Valid()) return false;
  bool marked = std::any_of(function.params.begin(), function.params.end(),
                            [](const ir::ParamInfo& info) { return info.save; });
  return (marked || config.overwritten) && (!config.saves || config.saves(function));
}

}  // namespace

bool SaveOverwritten(ir::Module& module, const SaveConfig& config, diag::Diagnostics& diagnostics) {
  bool saved = false;
  KernelSaver saver(module, config);
  for (auto& function : module.functions) {
    if (!Asks(*function, config)) continue;
    if (config.optional) {
      saver.SaveWherePossible(*function, &saved);
    } else if (config.overwritten ? !saver.SaveAll(*function, diagnostics, &saved)
                                  : !saver.Save(*function, false, diagnostics, nullptr, &saved)) {
      return false;
    }
  }
  // A value of a task's prologue that is stored makes a task of its own.
  return !saved || transform::IsolateTasks(module, {}, diagnostics);
}

}  // namespace adc::autodiff
