#include "codegen/cpu/alone.h"

#include <algorithm>

#include "analysis/loops.h"

namespace adc::codegen {
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
/// What a worker could do in the time in which it is woken, some microseconds: 8 lanes at once, where code
/// has lanes.
constexpr uint64_t kWaking = uint64_t{1} << 15;

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
    uint64_t update = UpdateCost(kernel, inst, depth > 0);
    uint64_t own = ir::ClassOf(op) == ir::OpClass::Function ? kFunction : 1;
    work.all += times * (update + own);
    work.updates += times * update;
    work.own += real_times * own;
    work.known = work.known && op != ir::Op::While &&
                 (op != ir::Op::For || analysis::ConstantTrips(kernel, inst).has_value());
    bool is_loop = (op == ir::Op::For || op == ir::Op::While) && depth < kDeepest;
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

}  // namespace

bool UpdatesTogether(const ir::Function& kernel, ir::Inst inst) {
  const ir::InstData& data = kernel[inst];
  bool is_sum = data.op == ir::Op::AddTo && !data.Has(ir::Word::Plain);
  if (!is_sum && !ir::IsAtomic(data.op)) return false;
  bool is_memory = kernel[kernel.Operand(inst, 0)].kind == ir::ValueKind::BlockParam;
  return is_memory && !data.Has(ir::Word::Private);
}

WorkOfOne WorkOf(const ir::Function& kernel, ir::Inst parallel) {
  WorkOfOne work;
  Add(kernel, kernel[parallel].regions[0], 1, 1, 0, work);
  return work;
}

uint32_t WorthOfWaking(const ir::Function& kernel, ir::Inst parallel) {
  WorkOfOne work = WorkOf(kernel, parallel);
  return work.known ? static_cast<uint32_t>(std::max<uint64_t>(kWaking / std::max<uint64_t>(work.own, 1), 1))
                    : 0;
}

bool WantsFormForOne(const ir::Function& kernel, ir::Inst parallel) {
  WorkOfOne work = WorkOf(kernel, parallel);
  return work.updates * kWorthwhile > work.all;
}

}  // namespace adc::codegen
