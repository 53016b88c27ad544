// The gradient runs after the kernel, so a load that it repeats sees the final contents. That is right
// exactly when no write of the kernel changes the cell after the load ran: not later in its iteration, not in
// a later or another iteration, not in a later task (analysis::AccessFacts::MayOverwriteLater). Only loads
// that are repeated count; a value that is only used linearly is never read again:
//
//   %a = load %x[%i]   store %x[%i], (add %a, %b)        fine: nothing needs %a
//   %a = load %x[%i]   store %x[%i], (mul %a, %b)        refused where %b is active: its adjoint needs %a
//
// The adjoint of an atomic minimum or maximum goes to the iteration that wrote the final value
// (adjoint_sweep_memory.cpp), so that nothing may read the cell between two of them: the adjoint of such a
// read belongs to the winner until then, whose value is gone when the second one wins.
//
// An active load is wrong as well when another iteration of its parallel loop may write the cell: their order
// is not known, and neither is the adjoint that belongs to the load.

#include "autodiff/clobber.h"

#include <algorithm>
#include <map>

#include "analysis/access.h"
#include "analysis/walk.h"
#include "autodiff/overwritten_stores.h"
#include "autodiff/vjp_reads.h"
#include "diag/errors/autodiff.h"
#include "ir/module.h"
#include "ir/wording.h"

namespace adc::autodiff {

using diag::ErrorId;
using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

class ReverseCheck {
 public:
  ReverseCheck(const ir::Module& module, const Function& kernel, const Activity& activity,
               const AdjointWork& work, const RecordingPlan& plan, diag::Diagnostics& diagnostics)
      : module_(module),
        kernel_(kernel),
        activity_(activity),
        work_(work),
        plan_(plan),
        diagnostics_(diagnostics),
        facts_(module, kernel),
        tasks_(analysis::TasksOf(kernel)) {
    for (uint32_t n = 0; n < kernel.params.size(); ++n)
      if (kernel.params[n].writeonce || kernel.params[n].settled) settled_.Insert(kernel.Params()[n]);
  }

  bool Run() {
    uint32_t in_call = 0;  // one past the last number inside of a call that has a vjp of its own
    for (Inst inst : facts_.structure().Order()) {
      Op op = kernel_[inst].op;
      if (facts_.structure().Position(inst) < in_call) continue;
      if (op == Op::Call && kernel_.RegionCount(inst) != 0) {
        in_call = facts_.structure().End(inst);
        if (work_.Has(inst)) CheckInPlace(inst);
      } else if (op == Op::Load) {
        CheckLoad(inst);
      } else if (ir::IsAtomic(op)) {
        CheckAtomic(inst);
      } else if (op == Op::AddTo) {
        CheckSum(inst);
      } else if (op == Op::While) {
        CheckCondition(inst);
      }
    }
    return ok_;
  }

 private:
  std::string NameOf(Value v) const { return ir::NameOf(module_, kernel_, v); }
  diag::Diagnostic& Error(ErrorId id, Inst inst, std::string text) {
    ok_ = false;
    return diagnostics_.Error(id, kernel_[inst].span, std::move(text));
  }
  /// The writes that could touch the cell of `load`: all of its class, less those that differ from it in a
  /// constant index or in the component, which never do.
  std::span<const Inst> Candidates(Inst load, uint32_t memory_class);
  void CheckLoad(Inst load);
  /// A promise is trusted where nothing is known, and not where it is known to be broken. The first is what
  /// `settled` says beside `disjoint`. False after an error.
  bool CheckSettled(Inst load, uint32_t memory_class, const std::string& value);
  bool CheckDisjoint(Inst load, uint32_t memory_class, const std::string& value);
  void CheckAtomic(Inst atomic);
  void CheckSum(Inst sum);
  void CheckReadsBetween(Inst atomic);
  /// The kernel has saved what the winner is found by before `inst` runs.
  bool IsAfterFinal(Inst atomic, Inst inst) const {
    Inst copy = plan_.FinalOf(atomic, kernel_.Operand(atomic, 0), kernel_[atomic].component);
    return copy.Valid() && facts_.structure().Position(inst) > facts_.structure().Position(copy);
  }
  /// Whether an iteration that runs `load` stores to the element as well: another iteration that writes it
  /// would be one of two that do, of which CheckWriteRaces warns.
  bool StoresThere(Inst load) const;
  /// True where a constant index tells two accesses of one buffer apart.
  bool DifferInConstant(Inst a, Inst b) const;
  bool CheckDistinct(Inst call, const std::string& symbol);
  bool IsUnread(Inst call, const VjpReads& reads, uint32_t memory_class, Inst write) const;
  void CheckInPlace(Inst call);
  void CheckCondition(Inst loop);

  const ir::Module& module_;
  const Function& kernel_;
  const Activity& activity_;
  const AdjointWork& work_;
  const RecordingPlan& plan_;
  diag::Diagnostics& diagnostics_;
  analysis::AccessFacts facts_;
  std::vector<analysis::Task> tasks_;
  IndexSet<Value> settled_;  ///< parameters marked `writeonce` or `settled`
  /// Writes of one class by a constant index that every one of them has, and by component.
  struct WriteBuckets {
    uint32_t axis = ir::kNoAttr;  ///< the place of that index; kNoAttr: the class is not divided
    std::map<std::pair<int64_t, uint32_t>, std::vector<Inst>> writes;
  };
  std::map<uint32_t, WriteBuckets> buckets_;
  bool ok_ = true;
};

std::span<const Inst> ReverseCheck::Candidates(Inst load, uint32_t memory_class) {
  std::span<const Inst> all = facts_.memory().Writes(memory_class);
  auto [entry, fresh] = buckets_.try_emplace(memory_class);
  WriteBuckets& buckets = entry->second;
  if (fresh) {
    Inst first = all.front();
    // Buffers that may overlap have no indices in common.
    Value base = ir::IsAccess(kernel_[first].op) ? kernel_.Operand(first, 0) : Value();
    uint32_t axes = base.Valid() ? kernel_[first].index_count : 0;
    for (uint32_t axis = 0; axis < axes && buckets.axis == ir::kNoAttr; ++axis) {
      bool constant = true;
      for (Inst write : all) {
        constant = constant && ir::IsAccess(kernel_[write].op) && kernel_.Operand(write, 0) == base &&
                   kernel_.IntegerConstant(kernel_.Indices(write)[axis]).has_value();
      }
      if (constant) buckets.axis = axis;
    }
    if (buckets.axis != ir::kNoAttr) {
      for (Inst write : all) {
        int64_t index = *kernel_.IntegerConstant(kernel_.Indices(write)[buckets.axis]);
        buckets.writes[{index, kernel_[write].component}].push_back(write);
      }
    }
  }
  if (buckets.axis == ir::kNoAttr || kernel_.Operand(load, 0) != kernel_.Operand(all.front(), 0)) return all;
  std::optional<int64_t> index = kernel_.IntegerConstant(kernel_.Indices(load)[buckets.axis]);
  if (!index) return all;
  auto found = buckets.writes.find({*index, kernel_[load].component});
  return found == buckets.writes.end() ? std::span<const Inst>() : found->second;
}

bool ReverseCheck::StoresThere(Inst load) const {
  std::span<const Value> indices = kernel_.Indices(load);
  for (Block block = kernel_[load].parent; block != kernel_.Body();) {
    bool stores = std::ranges::any_of(kernel_[block].insts, [&](Inst inst) {
      return kernel_[inst].op == Op::Store && kernel_.Operand(inst, 0) == kernel_.Operand(load, 0) &&
             kernel_[inst].attr == kernel_[load].attr && kernel_[inst].component == kernel_[load].component &&
             std::ranges::equal(kernel_.Indices(inst), indices);
    });
    if (stores) return true;
    Inst owner = kernel_[block].owner;
    if (analysis::IsParallel(kernel_[owner].op)) return false;
    block = kernel_[owner].parent;
  }
  return false;
}

void ReverseCheck::CheckLoad(Inst load) {
  Value base = kernel_.Operand(load, 0);
  if (kernel_.TypeOf(base).IsArray()) return;
  bool repeated = plan_.Reloaded(load);
  bool active = work_.Has(load);
  if (!repeated && !active) return;
  uint32_t memory_class = facts_.memory().ClassOf(load);
  if (!facts_.memory().IsWritten(memory_class)) return;
  std::string value = NameOf(kernel_.Result(load));
  std::string buffer = NameOf(base);
  bool settled = settled_.Has(base);
  if (settled && repeated && !CheckSettled(load, memory_class, value)) return;
  if (kernel_.IsParameter(base) && kernel_.params[kernel_[base].number].IsDisjoint() &&
      !CheckDisjoint(load, memory_class, value))
    return;
  if (settled) return;
  for (Inst write : Candidates(load, memory_class)) {
    if (repeated && facts_.MayOverwriteLater(load, write)) {
      Error(diag::E0401, load,
            "the gradient needs " + value + " as it is read here, but " + buffer +
                " may be overwritten there afterwards")
          .AddNote(kernel_[write].span, "this may write the same element later")
          .AddHelp(
              "write to another buffer or in another kernel, let the kernel save the value "
              "(--save-overwritten), or mark " +
              buffer + " " + ir::AttributeText(module_, "settled") +
              " if no element is written after it was read");
      return;
    }
    if (active && facts_.MayRace(load, write) && !StoresThere(load)) {
      Error(diag::E0404, load,
            "what is read here into " + value + " may be written by another iteration of the parallel loop")
          .AddNote(kernel_[write].span, "this may write the same element in another iteration")
          .AddHelp("read from a buffer that the loop does not write, " + ir::RunInOrder(module_) +
                   ", or mark " + buffer + " " + ir::AttributeText(module_, "disjoint") +
                   " if no other iteration writes it");
      return;
    }
  }
}

/// A function and its vjp are written for parameters that are different memory. Where the call writes none of
/// it, parameters may share memory. False after an error.
bool ReverseCheck::CheckDistinct(Inst call, const std::string& symbol) {
  std::vector<Value> buffers;
  for (Value operand : kernel_.Operands(call)) {
    if (kernel_.TypeOf(operand).IsBuffer()) buffers.push_back(operand);
  }
  auto is_alias = [&](Value buffer) {
    const ir::ValueData& data = kernel_[buffer];
    return kernel_.IsParameter(buffer) && kernel_.params[data.number].alias;
  };
  auto is_written = [&](Value buffer) {
    for (uint32_t p = facts_.structure().Position(call) + 1; p < facts_.structure().End(call); ++p) {
      Inst inst = facts_.structure().Order()[p];
      ir::Effect effect = ir::InfoOf(kernel_[inst].op).effect;
      bool writes = effect == ir::Effect::Write || effect == ir::Effect::Atomic;
      if (writes && ir::IsAccess(kernel_[inst].op) && kernel_.Operand(inst, 0) == buffer) return true;
    }
    return false;
  };
  for (size_t n = 0; n < buffers.size(); ++n) {
    for (size_t m = 0; m < n; ++m) {
      bool common = buffers[n] == buffers[m] || (is_alias(buffers[n]) && is_alias(buffers[m]));
      if (!common || !(is_written(buffers[n]) || is_written(buffers[m]))) continue;
      Error(diag::E0442, call,
            symbol + " works in place, and two of its parameters are " +
                (buffers[n] == buffers[m]
                     ? NameOf(buffers[n])
                     : NameOf(buffers[m]) + " and " + NameOf(buffers[n]) + ", which may be the same memory"))
          .AddHelp("its vjp is written for memory of its own in each parameter: call a function that takes " +
                   NameOf(buffers[n]) + " once");
      return false;
    }
  }
  return true;
}

/// Whether the vjp does not see the effect of `write`, outside of `call`, on memory of this class: it reads
/// nothing there, or values that the kernel has saved before.
bool ReverseCheck::IsUnread(Inst call, const VjpReads& reads, uint32_t memory_class, Inst write) const {
  auto is_here = [&](uint32_t param) {
    return facts_.memory().ClassOf(kernel_.Operand(call, param), ir::kNoAttr) == memory_class;
  };
  for (uint32_t n = 0; n < kernel_.Operands(call).size(); ++n)
    if (reads.Writes(n) && is_here(n)) return false;
  return std::all_of(reads.Reads().begin(), reads.Reads().end(), [&](const VjpReads::Read& read) {
    if (!is_here(read.param)) return true;
    Inst copy = plan_.FinalOf(call, kernel_.Operand(call, read.param), read.component);
    return copy.Valid() && facts_.structure().Position(copy) < facts_.structure().Position(write);
  });
}

/// A vjp that is given buffers may read there what its function touched, as the function left it: where it
/// reads at all, nothing may write afterwards, nor the function itself again.
void ReverseCheck::CheckInPlace(Inst call) {
  const analysis::Structure& structure = facts_.structure();
  std::string symbol = "'@" + std::string(module_.Text(kernel_[call].symbol)) + "'";
  if (!CheckDistinct(call, symbol)) return;
  for (Inst around : structure.Enclosing(call)) {
    if (!IsSerialLoop(kernel_[around].op)) continue;
    Error(diag::E0442, call, symbol + " works in place, and its vjp cannot be called in a serial loop")
        .AddNote(kernel_[around].span, "this loop runs it several times")
        .AddHelp(
            "call it once per iteration of a 'parallel', or move the loop into the function and its vjp");
    return;
  }
  VjpReads reads(module_, kernel_, call);
  for (uint32_t p = structure.Position(call) + 1; p < structure.End(call); ++p) {
    Inst access = structure.Order()[p];
    if (!ir::IsAccess(kernel_[access].op) || kernel_.TypeOf(kernel_.Operand(access, 0)).IsArray()) continue;
    Value base = kernel_.Operand(access, 0);
    uint32_t memory_class = facts_.memory().ClassOf(access);
    if (!facts_.memory().IsWritten(memory_class)) continue;
    for (Inst write : facts_.memory().Writes(memory_class)) {
      bool own = structure.Contains(call, write);
      // The vjp of the call accounts for later writes of the same call.
      bool meets = own || IsUnread(call, reads, memory_class, write)
                       ? facts_.MayRace(access, write)
                       : facts_.MayOverwriteLater(access, write);
      if (!meets || (settled_.Has(base) && kernel_[access].op == Op::Load)) continue;
      Error(diag::E0442, call,
            "the vjp of " + symbol + " finds " + NameOf(base) +
                " as the kernel leaves it, and it may be written " +
                (own ? "by another iteration's call" : "after this call"))
          .AddNote(kernel_[write].span, "this may write what the call touches")
          .AddHelp(
              "write to another buffer or in another kernel, and give each iteration elements of its own");
      return;
    }
  }
}

bool ReverseCheck::CheckSettled(Inst load, uint32_t memory_class, const std::string& value) {
  for (Inst write : Candidates(load, memory_class)) {
    // An iteration that executes the load executes the write too, and its cell is the same.
    bool breaks = ir::IsAccess(kernel_[write].op) &&
                  facts_.structure().Position(write) > facts_.structure().Position(load) &&
                  facts_.structure().Contains(kernel_[write].parent, load) &&
                  facts_.SameIteration(load, write) == analysis::Relation::Same;
    if (!breaks) continue;
    Error(diag::E0401, load,
          "the gradient needs " + value + " as it is read here, and " + NameOf(kernel_.Operand(load, 0)) +
              " is overwritten there afterwards, whatever is promised")
        .AddNote(kernel_[write].span, "this writes the same element")
        .AddHelp(
            "write to another buffer or in another kernel, or let the kernel save the value "
            "(--save-overwritten)");
    return false;
  }
  return true;
}

bool ReverseCheck::CheckDisjoint(Inst load, uint32_t memory_class, const std::string& value) {
  uint32_t task = facts_.TaskOf(load);
  if (task == ir::kNoAttr || tasks_[task].kind != analysis::TaskKind::Parallel) return true;
  Inst loop = tasks_[task].parallel;
  for (Inst write : Candidates(load, memory_class)) {
    if (!facts_.MeetsElsewhere(loop, load, write)) continue;
    Error(diag::E0404, load,
          "what is read here into " + value + " is written by another iteration of the parallel loop")
        .AddNote(kernel_[write].span, "this writes the same element in another iteration")
        .AddHelp(ir::RunInOrder(module_) +
                 ": 'disjoint', 'settled' and 'writeonce' promise that an iteration reads what it wrote "
                 "itself, or what earlier tasks wrote");
    return false;
  }
  return true;
}

/// Refuses the sum by which derived kernels add to adjoints: a primal that has one is not reversed.
void ReverseCheck::CheckSum(Inst sum) {
  const ir::InstData& data = kernel_[sum];
  Value base = kernel_.Operand(sum, 0);
  bool is_local = kernel_.TypeOf(base).IsArray();
  if (!kernel_.TypeOf(kernel_.AccessValues(sum)[0]).IsFloat()) return;
  if (!is_local && !activity_.ActiveMemory(base, data.attr)) return;
  Error(diag::E0403, sum, "'add_to' sums into adjoints, and has no derivative of its own")
      .AddHelp(
          is_local
              ? "a local array belongs to one iteration: load, add, store"
              : "write 'atomic add', or load, add and store where no other iteration touches the element");
}

void ReverseCheck::CheckAtomic(Inst atomic) {
  const ir::InstData& data = kernel_[atomic];
  Value base = kernel_.Operand(atomic, 0);
  if (kernel_.TypeOf(base).IsArray()) {
    if (work_.Has(atomic) && data.op != Op::AtomicAdd && data.op != Op::AtomicSub)
      Error(diag::E0403, atomic,
            "'" + std::string(ir::InfoOf(data.op).spelling) + "' of a local array has no derivative")
          .AddHelp("a local array belongs to one iteration: load, compute, store");
    return;
  }
  bool active = data.result_count > 0 && activity_.ActiveResult(atomic);
  if (plan_.Reloaded(atomic) || active) {
    Error(diag::E0402, atomic, "the gradient needs the old value that this atomic returns")
        .AddHelp(active ? "drop the result, or load the value from a buffer that the kernel does not write"
                        : "let the kernel save it (--save-overwritten), or mark " + NameOf(base) + " " +
                              ir::AttributeText(module_, "save"));
    return;
  }
  if (!activity_.ActiveMemory(base, data.attr)) return;
  if (data.op == Op::AtomicAdd || data.op == Op::AtomicSub) return;
  if (data.op != Op::AtomicMin && data.op != Op::AtomicMax) {
    Error(diag::E0403, atomic,
          "'" + std::string(ir::InfoOf(data.op).spelling) + "' of a 'diff' buffer has no derivative")
        .AddHelp(data.op == Op::AtomicMul
                     ? "each factor's derivative is the product of the others, which is not recorded: "
                       "multiply in a "
                       "serial loop that owns the element, or add logarithms of positive factors"
                     : "leave 'diff' off " + NameOf(base));
    return;
  }
  for (Inst write : facts_.memory().Writes(facts_.memory().ClassOf(atomic))) {
    if (IsAfterFinal(atomic, write) || kernel_[write].op == data.op ||
        !facts_.MayOverwriteLater(atomic, write))
      continue;
    Error(diag::E0403, atomic,
          "the winner of '" + std::string(ir::InfoOf(data.op).spelling) +
              "' is not known where something else may write " + NameOf(base) + " afterwards")
        .AddNote(kernel_[write].span, "here")
        .AddHelp("do the other write before it, or in another kernel");
    return;
  }
  CheckReadsBetween(atomic);
}

bool ReverseCheck::DifferInConstant(Inst a, Inst b) const {
  return ir::IsAccess(kernel_[b].op) && DifferInConstantIndex(kernel_, a, b);
}

/// `atomic` may be the first of two extrema: refuses an active read between them.
void ReverseCheck::CheckReadsBetween(Inst atomic) {
  uint32_t memory_class = facts_.memory().ClassOf(atomic);
  for (Inst read : facts_.structure().Order()) {
    if (kernel_[read].op != Op::Load || !work_.Has(read) || IsAfterFinal(atomic, read)) continue;
    if (facts_.memory().ClassOf(read) != memory_class || DifferInConstant(atomic, read)) continue;
    if (!facts_.MayOverwriteLater(atomic, read)) continue;
    for (Inst later : facts_.memory().Writes(memory_class)) {
      if (IsAfterFinal(atomic, later) || DifferInConstant(read, later) ||
          !facts_.MayOverwriteLater(read, later))
        continue;
      std::string spelling(ir::InfoOf(kernel_[atomic].op).spelling);
      Error(diag::E0403, atomic,
            "the winner of this '" + spelling + "' is not known: " + NameOf(kernel_.Operand(atomic, 0)) +
                " is read and then changed again")
          .AddNote(kernel_[read].span, "this may read the element in between")
          .AddNote(kernel_[later].span, "this may change it after that")
          .AddHelp("do the second one on another buffer, or in another kernel");
      return;
    }
  }
}

void ReverseCheck::CheckCondition(Inst loop) {
  bool writes = false;
  analysis::ForEachInst(kernel_, kernel_[loop].regions[0], [&](Inst inst) {
    writes = writes || plan_.WritesReplayedArray(inst) ||
             (analysis::WritesMemory(kernel_[inst].op) && work_.Has(inst));
  });
  if (!writes) return;
  Error(diag::E0409, loop, "the condition of this 'while' writes memory that is differentiated")
      .AddHelp("move the write into the body of the loop");
}

}  // namespace

bool CheckReverse(const ir::Module& module, const Function& kernel, const Activity& activity,
                  const AdjointWork& work, const RecordingPlan& plan, diag::Diagnostics& diagnostics) {
  return ReverseCheck(module, kernel, activity, work, plan, diagnostics).Run();
}

}  // namespace adc::autodiff
