#include "counting/trip_kernel.h"

#include <algorithm>
#include <optional>

#include "analysis/memory.h"
#include "analysis/tasks.h"
#include "analysis/uses.h"
#include "analysis/walk.h"
#include "ir/clone.h"
#include "ir/module.h"
#include "sizing/bounds.h"
#include "sizing/trip_count.h"
#include "sizing/trips_param.h"
#include "transform/simplify.h"

// A trip kernel is a slice: from the bounds of the loop backwards, instruction of the kernel's body by
// instruction, each with all its regions. Where it may run before the launch, the slice goes through the
// serial tasks in front: a value that crossed from one of them in scratch is taken from its store there,
// writes of the launch's memory are left out, and a load is only repeated where the kernel does not write its
// memory before the loop: the trip kernel may run before the launch as well as when the loop's turn has come,
// and finds the same value at both times. An instruction that cannot be repeated in this way ends the
// attempt, and the slice of the prologue alone, which is made of pure instructions and loads, reads what is
// there when the loop's turn has come.
//
// The parallel's own upper bound becomes `lo + trips`, in the type of its index, so that the indices in the
// body stay what they were. That sum wraps back to the bound where the bound was larger, and nothing runs
// where it was not.

namespace adc::counting {
namespace {

using analysis::ForEachInst, analysis::Task;
using artifact::NodeId, artifact::SizeExprPool;
using ir::Function, ir::Inst, ir::Op, ir::Type, ir::Value;
using sizing::Bounds, sizing::SizeAlgebra, sizing::TripCount, sizing::TripKernelName, sizing::Trips;

bool IsScratch(const Function& function, Value value) {
  return function.IsParameter(value) &&
         function.params[function[value].number].role == ir::ParamRole::Scratch;
}

/// The instructions that one loop's bounds depend on.
class Slice {
 public:
  /// `repeats`: as it can be computed before the launch.
  Slice(const analysis::Structure& structure, const analysis::MemoryClasses& memory, Inst parallel,
        bool repeats)
      : structure_(structure),
        from_(structure.function()),
        memory_(memory),
        parallel_(parallel),
        uses_(from_),
        repeats_(repeats) {}

  /// False where `value`, of the kernel's body, rests on what cannot be repeated.
  bool Need(Value value) {
    pending_.push_back(value);
    while (!pending_.empty() && possible_) {
      Value next = pending_.back();
      pending_.pop_back();
      if (Inst inst = from_.DefiningInst(next); inst.Valid()) NeedInst(analysis::TopLevelOf(from_, inst));
    }
    return possible_;
  }

  bool Has(Inst inst) const { return needed_.Has(inst); }
  /// The value that `load`, of scratch, gives; invalid for any other instruction.
  Value Forwarded(Inst load) const { return forwarded_.Get(load); }

  /// Whether a copy leaves out the instruction: its effect can be seen from outside, or it belongs to the
  /// adjoint sweep.
  static bool IsLeftOut(const Function& function, Inst inst) {
    Op op = function[inst].op;
    if (op == Op::Assert || op == Op::Print || ir::ClassOf(op) == ir::OpClass::Stack) return true;
    return analysis::WritesMemory(op) && function.IsParameter(function.Operand(inst, 0));
  }

 private:
  void NeedInst(Inst top) {
    if (!needed_.Insert(top)) return;
    if (Value stored = repeats_ ? StoredFor(top) : Value(); stored.Valid()) {
      forwarded_[top] = stored;
      pending_.push_back(stored);
      return;
    }
    for (uint32_t place = structure_.Position(top); place < structure_.End(top) && possible_; ++place) {
      Inst inst = structure_.Order()[place];
      if (IsLeftOut(from_, inst)) {
        for (uint32_t n = 0; n < from_[inst].result_count; ++n)
          possible_ = possible_ && !uses_.IsUsed(from_.Result(inst, n));
        continue;
      }
      possible_ = possible_ && !(repeats_ && MayBeWritten(inst));
      for (Value operand : from_.Operands(inst)) {
        pending_.push_back(operand);
        if (from_.TypeOf(operand).IsArray()) NeedWrites(operand);
      }
    }
  }

  /// Everything that fills a local array.
  void NeedWrites(Value array) {
    for (Inst inst : structure_.Order()) {
      if (analysis::WritesMemory(from_[inst].op) && from_.Operand(inst, 0) == array)
        NeedInst(analysis::TopLevelOf(from_, inst));
    }
  }

  /// The result of a load of scratch that is stored once, in a serial task in front.
  Value StoredFor(Inst load) const {
    if (from_[load].op != Op::Load || !IsScratch(from_, from_.Operand(load, 0))) return {};
    uint32_t memory_class = memory_.ClassOf(load);
    if (!memory_.IsWritten(memory_class)) return {};
    Inst found;
    for (Inst write : memory_.Writes(memory_class)) {
      if (from_[write].component != from_[load].component) continue;
      bool plain = from_[write].op == Op::Store && from_[write].parent == from_.Body() &&
                   from_[write].index_count == 0;
      if (found.Valid() || !plain || structure_.Position(write) > structure_.Position(load)) return {};
      found = write;
    }
    return found.Valid() ? from_.AccessValues(found)[0] : Value();
  }

  /// Whether what `inst` reads is another value before the launch, or when the loop's turn has come.
  bool MayBeWritten(Inst inst) const {
    if (!analysis::ReadsMemory(from_[inst].op) || analysis::IsLocalAccess(from_, inst)) return false;
    uint32_t memory_class = memory_.ClassOf(inst);
    return memory_.IsWritten(memory_class) &&
           memory_.IsWrittenBetween(memory_class, 0, structure_.Position(parallel_));
  }

  const analysis::Structure& structure_;
  const Function& from_;
  const analysis::MemoryClasses& memory_;
  Inst parallel_;
  analysis::Uses uses_;
  bool repeats_;
  bool possible_ = true;
  std::vector<Value> pending_;
  IndexSet<Inst> needed_;  ///< instructions of the body
  SideTable<Inst, Value> forwarded_;
};

class TripKernels {
 public:
  TripKernels(ir::Module& module, Function& kernel)
      : module_(module),
        kernel_(kernel),
        structure_(kernel),
        memory_(structure_),
        tasks_(analysis::TasksOf(kernel)) {}

  /// False when every loop has expressions for its bounds.
  bool Run() {
    FindLoops();
    // All parameters first: trip kernels are bound by position to what they count for.
    for (Loop& loop : loops_) {
      for (uint32_t axis : loop.axes) loop.trips.push_back(AddTrips(loop.parallel, axis));
    }
    for (const Loop& loop : loops_) MakeKernel(loop);
    // Only now, so that the copies are made from the analysed code.
    for (const Loop& loop : loops_) {
      for (size_t n = 0; n < loop.axes.size(); ++n) Bound(loop.parallel, loop.axes[n], loop.trips[n]);
    }
    return !loops_.empty();
  }

 private:
  struct Loop {
    Inst parallel;
    std::vector<uint32_t> axes;  ///< those to be counted
    Slice slice;
    std::vector<Value> trips = {};
  };

  void FindLoops() {
    SizeExprPool pool;
    SizeAlgebra algebra(pool);
    Bounds bounds(module_, kernel_, algebra);
    for (const Task& task : tasks_) {
      Inst parallel = task.parallel;
      if (!parallel.Valid() || kernel_[parallel].op != Op::Parallel) continue;
      std::vector<uint32_t> open, all;
      for (uint32_t axis = 0; axis < kernel_[parallel].operand_count / 2u; ++axis) {
        Trips trips = bounds.TripsOf(parallel, axis);
        if (!trips.exact) open.push_back(axis);
        if (!trips.exact || ReadsScratch(pool, trips.upper)) all.push_back(axis);
      }
      if (std::optional<Slice> slice = SliceOf(parallel, all, true)) {
        loops_.push_back({parallel, all, std::move(*slice)});
      } else if (std::optional<Slice> prologue = SliceOf(parallel, open, false)) {
        loops_.push_back({parallel, open, std::move(*prologue)});
      }
    }
  }

  /// The slice of the bounds of these axes; empty where there is nothing to count, or the slice cannot be
  /// repeated.
  std::optional<Slice> SliceOf(Inst parallel, const std::vector<uint32_t>& axes, bool repeats) const {
    if (axes.empty()) return std::nullopt;
    Slice slice(structure_, memory_, parallel, repeats);
    for (uint32_t axis : axes) {
      for (uint32_t end : {0u, 1u}) {
        if (!slice.Need(kernel_.Operand(parallel, 2 * axis + end))) return std::nullopt;
      }
    }
    return slice;
  }

  bool ReadsScratch(const SizeExprPool& pool, NodeId expr) const {
    for (Value param : kernel_.Params()) {
      if (IsScratch(kernel_, param) && pool.DependsOn(expr, kernel_[param].number)) return true;
    }
    return false;
  }

  void MakeKernel(const Loop& loop) {
    ir::ValueMap map;
    StringId name = module_.Intern(TripKernelName(module_, kernel_, loop.trips[0]));
    std::unique_ptr<Function> made = CloneSignature(kernel_, name, map);
    made->role = ir::KernelRole::Size;
    made->derived_from = kernel_.name;
    made->grad = {};
    made->leading_comments.clear();
    Value sizes = made->AddParameter(Type::Buffer(ir::kI64, 1), ir::FreshName(module_, kernel_, "sizes"), {});
    ir::Builder builder(module_, *made, made->Body());
    ir::Cloner cloner(kernel_, builder, map);
    cloner.LeaveOut([&](Inst inst) { return Slice::IsLeftOut(kernel_, inst); });
    for (Inst inst : kernel_[kernel_.Body()].insts) {
      if (!loop.slice.Has(inst) || Slice::IsLeftOut(kernel_, inst)) continue;
      if (Value stored = loop.slice.Forwarded(inst); stored.Valid()) {
        map[kernel_.Result(inst)] = cloner.Map(stored);
      } else {
        cloner.CloneInst(inst);
      }
    }
    builder.SetSpan(kernel_[loop.parallel].span);
    for (uint32_t axis : loop.axes) {
      Value low = cloner.Map(kernel_.Operand(loop.parallel, 2 * axis));
      Value high = cloner.Map(kernel_.Operand(loop.parallel, 2 * axis + 1));
      Value trips = TripCount(builder, low, high, builder.I32(1));
      Value index = builder.I64(axis);
      builder.Access(Op::Store, sizes, {&index, 1}, {&trips, 1});
    }
    builder.Terminate(Op::Return, {});
    transform::SimplifyFunction(module_, module_.AddFunction(std::move(made)), {});
  }

  Value AddTrips(Inst parallel, uint32_t axis) {
    Value index = kernel_[kernel_[parallel].regions[0]].params[axis];
    std::string name(module_.Text(kernel_[index].name));
    ir::ParamInfo info;
    info.role = ir::ParamRole::Trips;
    info.span = kernel_[parallel].span;
    return kernel_.AddParameter(
        ir::kI64, ir::FreshName(module_, kernel_, (name.empty() ? "i" : name) + ".trips"), info);
  }

  /// Whether `inst`, of a prologue, gives to the bit what a copy of it in another kernel gives, however
  /// floats are contracted or rearranged, and reads nothing that this kernel keeps in scratch: otherwise the
  /// size of the loop could not be known before the launch.
  bool IsTheSameElsewhere(Inst inst) const {
    Op op = kernel_[inst].op;
    if (op == Op::Load) return !IsScratch(kernel_, kernel_.Operand(inst, 0));
    if (ir::InfoOf(op).effect != ir::Effect::Pure || kernel_.RegionCount(inst) != 0) return false;
    Type type = kernel_.TypeOf(kernel_.Result(inst));
    if (!ir::IsFloat(type.scalar) || op == Op::Cast) return true;
    return ir::Has(op, ir::Exact) && op != Op::Add && op != Op::Sub && op != Op::Mul && op != Op::Div &&
           op != Op::Rcp;
  }

  /// Whether that is so of all that the bounds rest on, and some of it is read from memory: nothing else
  /// changes between counting and launch.
  bool CanCompare(Value low, Value high) const {
    IndexSet<Inst> seen;
    std::vector<Value> left = {low, high};
    bool reads = false;
    while (!left.empty()) {
      Inst inst = kernel_.DefiningInst(left.back());
      left.pop_back();
      if (!inst.Valid() || !seen.Insert(inst)) continue;
      if (!IsTheSameElsewhere(inst)) return false;
      reads = reads || kernel_[inst].op == Op::Load;
      for (Value operand : kernel_.Operands(inst)) left.push_back(operand);
    }
    return reads;
  }

  /// Has the axis end where `trips` says, or where its own bounds do, if they say otherwise by now: the code
  /// sees that this is not what was launched.
  void Bound(Inst parallel, uint32_t axis, Value trips) {
    Value low = kernel_.Operand(parallel, 2 * axis), own = kernel_.Operand(parallel, 2 * axis + 1);
    Type type = kernel_.TypeOf(low);
    size_t before = kernel_[kernel_.Body()].insts.size();
    ir::Builder builder(module_, kernel_, kernel_.Body());
    builder.SetSpan(kernel_[parallel].span);
    Value count = trips;
    if (CanCompare(low, own)) {
      Value now = builder.Make(Op::Max, {TripCount(builder, low, own, builder.I32(1)), builder.I64(0)});
      count = builder.Make(Op::Select, {builder.Make(Op::Eq, {now, trips}), trips, now});
    }
    Value high = type == ir::kI64 ? count : builder.Cast(count, type);
    if (kernel_.IntegerConstant(low) != 0) high = builder.Make(Op::Add, {low, high});
    kernel_.SetOperand(parallel, 2 * axis + 1, high);
    std::vector<Inst>& insts = kernel_[kernel_.Body()].insts;
    std::rotate(std::find(insts.begin(), insts.end(), parallel),
                insts.begin() + static_cast<ptrdiff_t>(before), insts.end());
  }

  ir::Module& module_;
  Function& kernel_;
  analysis::Structure structure_;
  analysis::MemoryClasses memory_;
  std::vector<Task> tasks_;
  std::vector<Loop> loops_;
};

/// Drops the stores to scratch that is not read any more. Kernels that count for this one when a loop's turn
/// has come read scratch as well, in a parameter at the same position. False where there is none.
bool DropUnreadScratch(const ir::Module& module, Function& kernel) {
  IndexSet<Value> read;
  for (const auto& other : module.functions) {
    if (other->role != ir::KernelRole::Size || other->derived_from != kernel.name) continue;
    ForEachInst(*other, [&](Inst inst) {
      for (Value operand : other->Operands(inst)) {
        if (IsScratch(*other, operand)) read.Insert(kernel.Params()[(*other)[operand].number]);
      }
    });
  }
  ForEachInst(kernel, [&](Inst inst) {
    if (kernel[inst].op == Op::Store) return;
    for (Value operand : kernel.Operands(inst)) read.Insert(operand);
  });
  return 0 < std::erase_if(kernel[kernel.Body()].insts, [&](Inst inst) {
           return kernel[inst].op == Op::Store && IsScratch(kernel, kernel.Operand(inst, 0)) &&
                  !read.Has(kernel.Operand(inst, 0));
         });
}

}  // namespace

void AddTripKernels(ir::Module& module, Function& kernel) {
  if (kernel.role == ir::KernelRole::Size || !TripKernels(module, kernel).Run()) return;
  transform::SimplifyFunction(module, kernel, {});
  if (DropUnreadScratch(module, kernel)) transform::SimplifyFunction(module, kernel, {});
}

}  // namespace adc::counting
