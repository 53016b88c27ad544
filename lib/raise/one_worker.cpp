#include "raise/one_worker.h"

#include <algorithm>
#include <optional>
#include <set>

#include "analysis/loops.h"
#include "analysis/structure.h"
#include "analysis/tasks.h"
#include "analysis/walk.h"
#include "ir/reduction.h"
#include "raise/reach.h"

namespace adc::raise {
namespace {

// Roughly, in instructions.
constexpr uint64_t kAtomic = 25;   ///< of which no other thread has the cache line
constexpr uint64_t kGathered = 8;  ///< into a cell that the table has
constexpr uint64_t kSwept = 20;    ///< into one that it may not have: a loop moves from cell to cell
constexpr uint64_t kFunction = 20;
constexpr uint64_t kTrips = 8;                      ///< of a loop
constexpr uint64_t kMostTrips = uint64_t{1} << 24;  ///< of all loops around an instruction together
constexpr uint32_t kDeepest = 6;     ///< loops inside this many others count as not inside another
constexpr uint64_t kWorthwhile = 6;  ///< the updates are this part of the work
/// Operations of a body: to compile it twice takes longer than its sums are worth.
constexpr uint64_t kLargeBody = 1000;
/// Operations of a loop, of which LLVM makes much less where it has plain additions.
constexpr uint64_t kShortLoop = 100;
/// The work that a worker could do in the time in which it is woken, some microseconds: 8 lanes at once,
/// where code has lanes.
constexpr uint64_t kWaking = uint64_t{1} << 15;

/// Of a launch, for each iteration that sweeps cells of a buffer: as far as is known it sweeps all of them.
constexpr uint64_t kBytesPerSweep = 4096;
/// Of an iteration, for each byte of copies that a worker clears and adds, so that two workers gain.
constexpr uint64_t kInstructionsPerByte = 8;

/// The cost of an iteration, roughly, in instructions.
struct WorkOfOne {
  uint64_t all = 0;
  uint64_t updates = 0;  ///< of `all`, for updates that one worker alone need not make as they are
  uint64_t own = 0;      ///< with plain updates, loops run as often as constants say
  uint64_t operations = 0;
  bool known = true;  ///< constants say how often each loop runs
};

uint64_t UpdateCost(const ir::Function& kernel, ir::Inst inst, bool is_in_loop) {
  if (!UpdatesTogether(kernel, inst)) return 0;
  if (!kernel[inst].Has(ir::Word::Gathered)) return kAtomic;
  return is_in_loop ? kSwept : kGathered;
}

/// `times` takes every loop for one of kTrips, `real_times` one of constant bounds for what it is.
void Add(const ir::Function& kernel, ir::Block block, uint64_t times, uint64_t real_times, uint32_t depth,
         WorkOfOne& work) {
  for (ir::Inst inst : kernel[block].insts) {
    ir::Op op = kernel[inst].op;
    ++work.operations;
    uint64_t update = UpdateCost(kernel, inst, depth > 0);
    uint64_t own = ir::ClassOf(op) == ir::OpClass::Function ? kFunction : 1;
    work.all += times * (update + own);
    work.updates += times * update;
    work.own += real_times * own;
    work.known = work.known && op != ir::Op::While &&
                 (op != ir::Op::For || analysis::ConstantTrips(kernel, inst).has_value());
    bool is_loop = analysis::IsSerialLoop(op) && depth < kDeepest;
    uint64_t trips = is_loop ? kTrips : 1, real_trips = trips;
    if (is_loop && op == ir::Op::For)
      real_trips = std::min(analysis::ConstantTrips(kernel, inst).value_or(kTrips), kMostTrips / real_times);
    for (ir::Block region : kernel[inst].regions) {
      if (!region.Valid()) continue;
      Add(kernel, region, times * trips, std::max<uint64_t>(real_times * real_trips, 1),
          depth + (is_loop ? 1 : 0), work);
    }
  }
}

/// Whether updates that one worker alone need not make as they are go to one cell in all turns of `loop`, or
/// from cell to cell.
bool Sweeps(const ir::Function& kernel, const analysis::Structure& structure, ir::Inst loop,
            ir::Inst update) {
  std::span<const ir::Value> indices = kernel.Indices(update);
  auto is_fixed = [&](ir::Value v) { return structure.DefinedOutside(v, loop); };
  if (std::ranges::all_of(indices, is_fixed)) return true;
  return kernel[loop].op == ir::Op::For && indices.back() == kernel[kernel[loop].regions[0]].params[0] &&
         std::all_of(indices.begin(), indices.end() - 1, is_fixed);
}

/// Loops that sweep the same cells in every iteration of `parallel`.
class CommonSweeps {
 public:
  CommonSweeps(const ir::Function& kernel, ir::Inst parallel)
      : kernel_(kernel), structure_(kernel), parallel_(parallel) {}

  /// Whether there are loops, and each makes such updates in all of its turns: a long loop that makes none,
  /// or a branch that is not taken, leaves workers alone with what they do.
  bool Are() const { return In(kernel_[parallel_].regions[0]).value_or(false); }

 private:
  bool IsOutside(ir::Value v) const { return structure_.DefinedOutside(v, parallel_); }
  bool IsCounter(ir::Value v) const {
    ir::Inst loop = analysis::LoopOfIndex(kernel_, v);
    return loop.Valid() && kernel_[loop].op == ir::Op::For &&
           std::ranges::all_of(kernel_.Operands(loop).first(3),
                               [&](ir::Value bound) { return IsOutside(bound); });
  }
  bool IsSweep(ir::Inst inst) const {
    if (!UpdatesTogether(kernel_, inst)) return false;
    std::span<const ir::Value> indices = kernel_.Indices(inst);
    return std::ranges::all_of(indices, [&](ir::Value v) { return IsOutside(v) || IsCounter(v); }) &&
           std::ranges::any_of(indices, [&](ir::Value v) { return IsCounter(v); });
  }

  /// Whether `block` has loops; nothing where one of them does something else.
  std::optional<bool> In(ir::Block block) const {
    bool has_loops = false;
    for (ir::Inst inst : kernel_[block].insts) {
      const ir::InstData& data = kernel_[inst];
      if (data.op == ir::Op::If) {
        for (ir::Block region : data.regions)
          if (region.Valid() && In(region) != false) return std::nullopt;
      }
      if (!analysis::IsSerialLoop(data.op)) continue;
      ir::Block body = analysis::LoopYieldBlock(kernel_, inst);
      std::optional<bool> inner = In(body);
      bool sweeps = std::ranges::any_of(kernel_[body].insts, [&](ir::Inst each) { return IsSweep(each); });
      if (!inner || !(*inner || sweeps)) return std::nullopt;
      has_loops = true;
    }
    return has_loops;
  }

  const ir::Function& kernel_;
  analysis::Structure structure_;
  ir::Inst parallel_;
};

/// Whether a short loop in `block` makes such updates.
bool HasShortSweep(const ir::Function& kernel, const analysis::Structure& structure, ir::Block block) {
  return std::ranges::any_of(kernel[block].insts, [&](ir::Inst inst) {
    uint64_t operations = 0;
    bool sweeps = false, is_loop = analysis::IsSerialLoop(kernel[inst].op);
    for (ir::Block region : kernel[inst].regions) {
      if (!region.Valid()) continue;
      if (HasShortSweep(kernel, structure, region)) return true;
      if (!is_loop) continue;
      analysis::ForEachInst(kernel, region, [&](ir::Inst inner) {
        ++operations;
        sweeps = sweeps || (UpdatesTogether(kernel, inner) && Sweeps(kernel, structure, inst, inner));
      });
    }
    return sweeps && operations <= kShortLoop;
  });
}

/// Which updates of a task a worker may make in copies of their buffers.
class Uses {
 public:
  explicit Uses(const ir::Function& kernel) : kernel_(kernel) {}

  void Note(ir::Inst inst, bool is_in_loop) {
    for (ir::Value v : kernel_.Operands(inst)) used_.Insert(v);
    const ir::InstData& data = kernel_[inst];
    if (ir::IsAccess(data.op) && kernel_[kernel_.Operand(inst, 0)].kind == ir::ValueKind::BlockParam)
      NoteAccess(inst, is_in_loop);
    bool is_loop = analysis::IsSerialLoop(data.op);
    for (ir::Block region : data.regions) {
      if (!region.Valid()) continue;
      for (ir::Inst inner : kernel_[region].insts) Note(inner, is_in_loop || is_loop);
    }
  }

  /// All updates that may meet those of other iterations; none where a copy cannot stand for a buffer of
  /// theirs.
  std::vector<ir::Inst> Copied() const {
    bool stays = std::ranges::any_of(updates_, [&](ir::Inst update) {
      bool is_used = kernel_[update].result_count != 0 && used_.Has(kernel_.Result(update));
      return is_used || mixed_.contains(ParamOf(update));
    });
    return stays ? std::vector<ir::Inst>() : updates_;
  }
  bool sweeps() const { return sweeps_; }

 private:
  uint32_t ParamOf(ir::Inst access) const { return kernel_[kernel_.Operand(access, 0)].number; }

  void NoteAccess(ir::Inst inst, bool is_in_loop) {
    const ir::InstData& data = kernel_[inst];
    uint32_t param = ParamOf(inst);
    bool is_mixed = ir::ReductionOf(data.op) != ir::Reduction::Add || kernel_.params[param].alias ||
                    !kernel_.TypeOf(kernel_.Params()[param]).IsBuffer();
    if (UpdatesTogether(kernel_, inst)) {
      // Sums of f16 are rounded at every step.
      ir::Scalar scalar = kernel_.TypeOf(kernel_.AccessValues(inst)[0]).scalar;
      is_mixed = is_mixed || scalar == ir::Scalar::I1 || scalar == ir::Scalar::F16;
      sweeps_ = sweeps_ || (is_in_loop && data.Has(ir::Word::Gathered));
      updates_.push_back(inst);
    }
    if (is_mixed) mixed_.insert(param);
  }

  const ir::Function& kernel_;
  std::set<uint32_t> mixed_;  ///< parameters for which a copy cannot stand
  IndexSet<ir::Value> used_;
  std::vector<ir::Inst> updates_;
  bool sweeps_ = false;
};

/// Marks the updates of a task that go to copies, if all can and they are enough of its work. How many bytes
/// of copies an iteration is worth; 0 where there are none.
uint32_t MarkCopies(ir::Function& kernel, const analysis::Task& task, const WorkOfOne& work) {
  Uses uses(kernel);
  const std::vector<ir::Inst>& body = kernel[kernel.Body()].insts;
  for (uint32_t position = task.first; position < task.last; ++position) uses.Note(body[position], false);
  std::vector<ir::Inst> copied = uses.Copied();
  if (copied.empty() || (!uses.sweeps() && work.updates * 2 < work.all)) return 0;
  for (ir::Inst update : copied) kernel[update].words.Add(ir::Word::Copied);
  uint64_t least = uses.sweeps() ? kBytesPerSweep : 1;
  return static_cast<uint32_t>(std::clamp<uint64_t>(work.own / kInstructionsPerByte, least, UINT32_MAX));
}

}  // namespace

void MarkOneWorker(ir::Module&, ir::Function& kernel, const RaiseConfig& config) {
  if (config.device) return;
  for (const analysis::Task& task : analysis::TasksOf(kernel)) {
    if (task.kind != analysis::TaskKind::Parallel) continue;
    WorkOfOne work;
    Add(kernel, kernel[task.parallel].regions[0], 1, 1, 0, work);
    ir::WorkerNumbers& workers = kernel.workers[task.parallel] = {};
    if (work.known)
      workers.waking = static_cast<uint32_t>(kWaking / std::clamp<uint64_t>(work.own, 1, kWaking));
    if (!config.form_for_one || work.updates * kWorthwhile <= work.all) continue;
    bool asks = work.operations > kLargeBody &&
                !HasShortSweep(kernel, analysis::Structure(kernel), kernel[task.parallel].regions[0]);
    kernel[task.parallel].words.Add(asks ? ir::Word::AsksAlone : ir::Word::Alone);
    workers.reach = ReachOf(kernel, task.parallel);
    // Where it is known, most iterations of a call meet those of no other.
    if (!workers.reach.empty() || ir::IsCounting(kernel.role)) continue;
    workers.copies = MarkCopies(kernel, task, work);
    // Two workers would wait for each other at every cell.
    if (workers.copies == 0 && CommonSweeps(kernel, task.parallel).Are()) workers.waking = UINT32_MAX;
  }
}

}  // namespace adc::raise
