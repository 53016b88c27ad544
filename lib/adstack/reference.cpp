#include "adstack/reference.h"

#include <algorithm>
#include <map>

#include "adstack/bounds.h"
#include "adstack/compact_pool.h"
#include "adstack/walk.h"

namespace adc::adstack {
namespace {

using ir::Inst;
using ir::Op;

class ReferencePlanner {
 public:
  ReferencePlanner(const ir::Module& module, const ir::Function& kernel, AdstackPlan& plan)
      : kernel_(kernel), plan_(plan), algebra_(work_), bounds_(module, kernel, algebra_) {
    ForEachInst(kernel, [&](Inst inst) {
      Op op = kernel[inst].op;
      if (op == Op::For || op == Op::While) loops_[kernel[inst].span.begin].push_back(inst);
    });
  }

  void Add(const NestReads& nest) {
    auto task = std::find_if(plan_.tasks.begin(), plan_.tasks.end(), [&](const TaskPlan& one) {
      return one.kind == artifact::TaskKind::kParallel && one.place == nest.parallel;
    });
    if (task == plan_.tasks.end()) return;
    NodeId trips = algebra_.Const(1);
    for (diag::SourceSpan loop : nest.loops) trips = algebra_.Mul(trips, MostTrips(loop));
    NodeId capacity = algebra_.Add(trips, algebra_.Const(1));
    auto known = std::find_if(task->reference.begin(), task->reference.end(),
                              [&](const ReferenceStacks& one) { return one.capacity == capacity; });
    if (known == task->reference.end()) known = task->reference.insert(known, {capacity});
    known->floats_4 += nest.floats_4;
    known->floats_8 += nest.floats_8;
    known->integers += nest.integers;
  }

  void Finish() {
    std::vector<NodeId*> roots;
    for (TaskPlan& task : plan_.tasks) {
      for (ReferenceStacks& stacks : task.reference) roots.push_back(&stacks.capacity);
    }
    CompactPool(work_, plan_.exprs, roots);
  }

 private:
  /// Of the loops with this place: where a function was inlined several times there are as many.
  NodeId MostTrips(diag::SourceSpan place) {
    constexpr size_t kMost = 8;
    auto found = loops_.find(place.begin);
    if (found == loops_.end()) return algebra_.Const(1);
    NodeId most = algebra_.Const(0);
    for (size_t at = 0; at < std::min(found->second.size(), kMost); ++at) {
      Inst loop = found->second[at];
      NodeId trips = algebra_.Clamp0(bounds_.TripsOf(loop).upper);
      NodeId largest = bounds_.LargestIn(kernel_[loop].parent, trips);
      // The forward run says what its reversed twin may not know any more.
      if (at == 0 || largest != kNoNode) most = algebra_.Max(most, largest);
    }
    return most;
  }

  const ir::Function& kernel_;
  AdstackPlan& plan_;
  SizeExprPool work_;
  SizeAlgebra algebra_;
  Bounds bounds_;
  std::map<uint32_t, std::vector<Inst>> loops_;  ///< in textual order, by where they begin
};

}  // namespace

void PlanReference(const ir::Module& module, const ir::Function& kernel, std::span<const NestReads> nests,
                   AdstackPlan& plan) {
  ReferencePlanner planner(module, kernel, plan);
  for (const NestReads& nest : nests) planner.Add(nest);
  planner.Finish();
}

}  // namespace adc::adstack
