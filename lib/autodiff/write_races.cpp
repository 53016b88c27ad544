// Two iterations of a parallel loop that store to one element race: one of the values stays, and which one is
// not determined. The gradient is wrong then, whichever it was: a store takes its cell's adjoint and clears
// it, and the iteration that comes first on a device takes what belongs to another one.
//
//   parallel %i, %j in ... { store %y[%i], v }
//
// Neither index nor gates know %j: all iterations along %j store to one element. Where the value is known to
// be the same for all of them that is no race, and where it carries no derivative the gradient is right as
// well. So, with "misses" for a store that provably does not depend on an axis of more than one iteration:
//
//                                          memory with an adjoint       other memory, other kernels
//   misses, one value without derivative   nothing                      nothing
//   misses, one value with a derivative    error: it is counted once    nothing
//                                          per iteration
//   misses, values that may differ         error                        warning
//   not shown to miss or to be injective   warning, unless promised     nothing: order may not matter there
//
// The promises are `disjoint`, `settled` and `writeonce`. Warnings bear the id of the error: it is one fault,
// more or less surely.

#include "autodiff/write_races.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/access.h"
#include "analysis/loops.h"
#include "diag/errors/autodiff.h"
#include "ir/module.h"
#include "ir/wording.h"

namespace adc::autodiff {

using ir::Function, ir::Inst, ir::Op, ir::Value, ir::ValueKind;

namespace {

/// The indices of a parallel loop that a value may depend on.
class Dependence {
 public:
  Dependence(const Function& function, const analysis::AccessFacts& facts, Inst loop)
      : function_(function),
        facts_(facts),
        loop_(loop),
        own_(function[function[loop].regions[0]].params),
        depends_(own_.size(), false) {}

  void Add(Value v) {
    if (facts_.structure().DefinedOutside(v, loop_) || !seen_.Insert(v)) return;
    const ir::ValueData& data = function_[v];
    if (data.kind == ValueKind::BlockParam) {
      Inst owner = function_[ir::Block(data.owner)].owner;
      if (owner == loop_) {
        depends_[data.number] = true;
      } else {
        AddControl(owner);
      }
      return;
    }
    Inst inst = function_.DefiningInst(v);
    Op op = function_[inst].op;
    bool fixed_memory = op == Op::Load && !analysis::IsLocalAccess(function_, inst) &&
                        !facts_.memory().IsWrittenIn(facts_.memory().ClassOf(inst), loop_);
    if (function_.RegionCount(inst) != 0) {
      AddControl(inst);
    } else if (ir::InfoOf(op).effect == ir::Effect::Pure || fixed_memory) {
      for (Value operand : function_.Operands(inst)) Add(operand);
    } else {
      std::fill(depends_.begin(), depends_.end(), true);
    }
  }
  bool On(size_t axis) const { return depends_[axis]; }

 private:
  /// Adds all that the results of a branch or a loop depend on: the values that decide about it, and those
  /// that its regions end with.
  void AddControl(Inst control) {
    for (Value operand : function_.Operands(control)) Add(operand);
    for (ir::Block region : function_[control].regions) {
      if (!region.Valid()) continue;
      for (Value operand : function_.Operands(function_.Terminator(region))) Add(operand);
    }
  }

  const Function& function_;
  const analysis::AccessFacts& facts_;
  Inst loop_;
  std::span<const Value> own_;
  std::vector<bool> depends_;
  IndexSet<Value> seen_;
};

/// Writes alike in what DistinctAcross looks at: the component of an element that they name, by the same
/// index values, and the block that they are in. One stands for all, so that code that stores to one element
/// again and again is compared in linear time.
class Representatives {
 public:
  Representatives(const Function& function, std::span<const Inst> writes) : function_(function) {
    for (Inst write : writes) {
      if (first_.emplace(KeyOf(write), write).second) all_.push_back(write);
    }
  }
  const std::vector<Inst>& all() const { return all_; }
  /// The one that stands for `write`.
  Inst Of(Inst write) const { return first_.at(KeyOf(write)); }

 private:
  using Key = std::tuple<ir::Block, uint32_t, uint32_t, uint32_t, std::vector<Value>>;

  Key KeyOf(Inst write) const {
    const ir::InstData& data = function_[write];
    std::span<const Value> indices = function_.Indices(write);
    return {data.parent, function_.Operand(write, 0).raw, data.attr, data.component,
            std::vector<Value>(indices.begin(), indices.end())};
  }

  const Function& function_;
  std::map<Key, Inst> first_;
  std::vector<Inst> all_;
};

/// Most elements of one memory, named differently in one loop, that are compared with each other.
constexpr size_t kMostCompared = 1000;

class RaceCheck {
 public:
  RaceCheck(const ir::Module& module, const Function& kernel, const Activity* activity,
            diag::Diagnostics& diagnostics)
      : module_(module),
        kernel_(kernel),
        activity_(activity),
        diagnostics_(diagnostics),
        facts_(module, kernel) {}

  bool Run() {
    for (const analysis::Task& task : analysis::TasksOf(kernel_))
      if (task.kind == analysis::TaskKind::Parallel) CheckLoop(task.parallel);
    return ok_;
  }

 private:
  std::string NameOf(Value v) const { return ir::NameOf(module_, kernel_, v); }
  std::string ToPromise(Value base) const {
    return "mark " + NameOf(base) + " " + ir::AttributeText(module_, "disjoint") +
           " if no two iterations do: " + ir::AttributeText(module_, "checked") +
           " promises the same, and each launch is checked for it";
  }
  void CheckLoop(Inst loop);
  /// The number of an axis that the store provably misses; kNoAttr where there is none.
  uint32_t MissedAxis(Inst loop, Inst store);
  /// An index of `write` that no two executions have in common for equal other indices: the old value of an
  /// `atomic add` of a constant to a cell that nothing else in the loop writes, `slot = atomic add n[], 1`.
  /// Invalid where there is none.
  Value SlotOf(Inst loop, Inst write);
  /// Reports a store to `writeonce` memory that a serial loop around it provably repeats.
  void CheckRepeated(Inst store);
  /// Reports a store that misses an axis.
  void CheckMissed(Inst loop, Inst store, uint32_t axis);

  const ir::Module& module_;
  const Function& kernel_;
  const Activity* activity_;
  diag::Diagnostics& diagnostics_;
  analysis::AccessFacts facts_;
  std::set<std::pair<uint32_t, uint32_t>> missed_;  ///< reported by CheckMissed: place and memory of a store
  bool ok_ = true;
};

uint32_t RaceCheck::MissedAxis(Inst loop, Inst store) {
  Dependence dependence(kernel_, facts_, loop);
  for (Value index : kernel_.Indices(store)) dependence.Add(index);
  for (Inst around : facts_.structure().Enclosing(store)) {
    if (around == loop) continue;
    for (Value operand : kernel_.Operands(around)) dependence.Add(operand);
    if (kernel_[around].op == Op::While)
      for (Value v : kernel_.Operands(kernel_.Terminator(kernel_[around].regions[0]))) dependence.Add(v);
  }
  for (uint32_t axis = 0; axis < kernel_[kernel_[loop].regions[0]].params.size(); ++axis)
    if (!dependence.On(axis) && !facts_.RunsOnce(loop, axis)) return axis;
  return ir::kNoAttr;
}

Value RaceCheck::SlotOf(Inst loop, Inst write) {
  std::span<const Value> indices = kernel_.Indices(write);
  for (Value index : indices) {
    Inst atomic = kernel_.DefiningInst(index);
    if (!atomic.Valid() || kernel_[atomic].op != Op::AtomicAdd) continue;
    std::optional<int64_t> step = kernel_.IntegerConstant(kernel_.AccessValues(atomic)[0]);
    if (!step || *step % 2 == 0) continue;  // odd steps come round last
    bool counts = facts_.structure().Contains(loop, atomic);
    for (Inst other : facts_.memory().Writes(facts_.memory().ClassOf(atomic)))
      counts = counts && (other == atomic || !facts_.structure().Contains(loop, other));
    // One counter for all, or one for each value of the other indices.
    for (Value of_counter : kernel_.Indices(atomic)) {
      counts = counts && (facts_.structure().DefinedOutside(of_counter, loop) ||
                          std::find(indices.begin(), indices.end(), of_counter) != indices.end());
    }
    if (counts) return index;
  }
  return {};
}

void RaceCheck::CheckMissed(Inst loop, Inst store, uint32_t axis) {
  Value base = kernel_.Operand(store, 0), v = kernel_.AccessValues(store)[0];
  bool active = activity_ != nullptr && activity_->ActiveMemory(base, kernel_[store].attr);
  Dependence of_value(kernel_, facts_, loop);
  of_value.Add(v);
  bool one_value = !of_value.On(axis);
  if (one_value && !(active && activity_->Active(v))) return;
  // A vector is stored component by component.
  if (!missed_.emplace(kernel_[store].span.begin, base.raw).second) return;
  Value index = kernel_[kernel_[loop].regions[0]].params[axis];
  std::string text =
      "every iteration along " + NameOf(index) + " stores to the same element of " + NameOf(base);
  if (active) {
    ok_ = false;
    diagnostics_.Error(diag::E0404, kernel_[store].span, text)
        .AddNote(kernel_[loop].span, "the parallel loop is here")
        .AddHelp("sum with 'atomic add', name the element by " + NameOf(index) +
                 " as well, or store before or after the loop");
  } else {
    diagnostics_.Warning(diag::W0404, kernel_[store].span, text + ", and which value stays is not determined")
        .AddNote(kernel_[loop].span, "the parallel loop is here")
        .AddHelp("use an atomic, or name the element by " + NameOf(index) + " as well");
  }
}

/// Neither its indices nor what it runs under know the counter and the carried values of the loop: the
/// promise is broken where the loop runs twice, an error where its bounds are constants, and a warning
/// elsewhere.
void RaceCheck::CheckRepeated(Inst store) {
  std::vector<Inst> inside;  // between the store and the loop that is looked at
  std::vector<Inst> enclosing = facts_.structure().Enclosing(store);
  for (size_t at = enclosing.size(); at-- > 0;) {
    Inst around = enclosing[at];
    if (kernel_[around].op == Op::For) {
      std::optional<int64_t> low = kernel_.IntegerConstant(kernel_.Operand(around, 0));
      std::optional<int64_t> high = kernel_.IntegerConstant(kernel_.Operand(around, 1));
      bool known = low && high;
      bool repeats = !known || *high - *low > 1;
      Dependence dependence(kernel_, facts_, around);
      for (Value index : kernel_.Indices(store)) dependence.Add(index);
      for (Inst control : inside) {
        known = known && kernel_[control].op == Op::For && analysis::RunsAtLeastOnce(kernel_, control);
        for (Value operand : kernel_.Operands(control)) dependence.Add(operand);
      }
      for (size_t n = 0; n < kernel_[kernel_[around].regions[0]].params.size(); ++n)
        repeats = repeats && !dependence.On(n);
      if (repeats) {
        Value base = kernel_.Operand(store, 0);
        std::string text = "this stores to the same element of " + NameOf(base) +
                           (known ? " in every iteration of a loop, and "
                                  : " in every iteration of a loop: where that runs twice, ") +
                           NameOf(base) + " is not written once as 'writeonce' promises";
        diag::Diagnostic& told = known ? diagnostics_.Error(diag::E0404, kernel_[store].span, text)
                                       : diagnostics_.Warning(diag::W0404, kernel_[store].span, text);
        told.AddNote(kernel_[around].span, "the loop is here")
            .AddHelp("store after the loop, or mark " + NameOf(base) + " " +
                     ir::AttributeText(module_, "settled") + " if it is read only after the last store");
        ok_ = ok_ && !known;
        return;
      }
    }
    if (analysis::IsParallel(kernel_[around].op)) return;
    if (kernel_[around].op == Op::While) return;  // how often it runs lies in the data
    inside.push_back(around);
  }
}

void RaceCheck::CheckLoop(Inst loop) {
  std::vector<uint32_t> warned;  // memory classes
  for (uint32_t memory_class : facts_.memory().WrittenIn(loop)) {
    std::vector<Inst> writes;
    for (Inst write : facts_.memory().Writes(memory_class)) {
      bool local = analysis::IsLocalAccess(kernel_, write);
      if (ir::IsAccess(kernel_[write].op) && !local && facts_.structure().Contains(loop, write))
        writes.push_back(write);
    }
    Representatives representatives(kernel_, writes);
    for (Inst store : writes) {
      if (kernel_[store].op != Op::Store) continue;
      Value base = kernel_.Operand(store, 0);
      const ir::ParamInfo& info = kernel_.params[kernel_[base].number];
      if (info.role != ir::ParamRole::Plain) continue;
      if (info.writeonce) CheckRepeated(store);
      uint32_t missed = MissedAxis(loop, store);
      if (missed != ir::kNoAttr) {
        CheckMissed(loop, store, missed);
        continue;
      }
      bool active = activity_ != nullptr && activity_->ActiveMemory(base, kernel_[store].attr);
      bool warned_before = std::find(warned.begin(), warned.end(), memory_class) != warned.end();
      if (!active || info.IsDisjoint() || warned_before) continue;
      if (representatives.all().size() > kMostCompared) {
        diagnostics_
            .Warning(diag::W0404, kernel_[store].span,
                     "the parallel loop writes more than " + std::to_string(kMostCompared) + " elements of " +
                         NameOf(base) +
                         ", too many to compare: two iterations may store to one of them, and "
                         "the gradient is wrong where they do")
            .AddHelp("store from a loop, or " + ToPromise(base));
        warned.push_back(memory_class);
        continue;
      }
      // The store that represents it has been looked at.
      Inst first = representatives.Of(store);
      if (first != store && kernel_[first].op == Op::Store) continue;
      for (Inst other : representatives.all()) {
        if (facts_.DistinctAcross(loop, store, other)) continue;
        bool alike = std::equal(kernel_.Indices(store).begin(), kernel_.Indices(store).end(),
                                kernel_.Indices(other).begin(), kernel_.Indices(other).end());
        if (alike && SlotOf(loop, store).Valid()) continue;
        diag::Diagnostic& warning =
            diagnostics_.Warning(diag::W0404, kernel_[store].span,
                                 "two iterations of the parallel loop may store to one element of " +
                                     NameOf(base) + ", and the gradient is wrong where they do");
        if (other != store) warning.AddNote(kernel_[other].span, "this may write the same element");
        warning.AddHelp("use an atomic, or " + ToPromise(base));
        warned.push_back(memory_class);
        break;
      }
    }
  }
}

}  // namespace

bool CheckWriteRaces(const ir::Module& module, const Function& kernel, const Activity* activity,
                     diag::Diagnostics& diagnostics) {
  return RaceCheck(module, kernel, activity, diagnostics).Run();
}

}  // namespace adc::autodiff
