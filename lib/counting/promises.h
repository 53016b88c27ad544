#pragma once
// Checks of promises before a launch: a size kernel finds out whether a parameter keeps the promise that
// `checked` makes of it.
//
// The size kernel has a word for each scalar of the parameter's memory, zero before it runs, and marks it
// where the task would access it. A word holds the last iteration that came by, and two flags about all of
// them:
//
//   word = 4 * (1 + number of the iteration) + 2 * (several iterations came by) + (one of them writes)
//
//   %old = atomic exchange %x.marks[..], 4 * (1 + %number) + writes
//   %seen = (bits of %old), with "several" where %old is another iteration's
//   if (ne %seen, 0) {
//     %now = atomic or %x.marks[..], %seen
//     if (two iterations in %old or %now, one of which writes) { atomic max %sizes[promise], 1 + %number }
//   }
//
// An index beyond the extents, an error that the launch itself meets, marks nothing.
// An iteration that comes between the two atomics sees no bits of those before: the second atomic finds that
// out. One word has one order of its changes on every target, so that no pair of accesses is missed, and a
// count of 0 says that the promise holds. An iteration marks an element once in a block, as a write if any
// access there is one. Numbers are taken modulo 2^30 - 2: two iterations at that distance count as one.

#include <map>
#include <vector>

#include "adstack/plan.h"
#include "analysis/tasks.h"
#include "counting/repeatable.h"
#include "transform/mark_words.h"

namespace adc::counting {

/// Of each parameter marked `checked` that the task's parallel loop writes, in their order.
std::vector<adstack::PlannedPromise> PromisesOf(const ir::Function& kernel, const analysis::Task& task);

/// Marks the accesses of one task in its size kernel.
class PromiseMarks {
 public:
  PromiseMarks(ir::Module& module, const ir::Function& from, const analysis::Task& task,
               const std::vector<adstack::PlannedPromise>& promises);

  /// An access of which only the launch itself knows whether it is made, or where: no promise about it can be
  /// checked before. Invalid where there is none. Memory that other iterations may write is not known. In
  /// memory that a promise covers they write nothing that counts, or the check finds the first that does.
  /// `keeps_rows`: as the size kernel's own Repeatable has it.
  ir::Inst FirstUnknown(const analysis::Structure& structure, const analysis::Task& task,
                        const adstack::TaskPlan& plan, bool keeps_rows) const;
  /// Adds the words to the size kernel.
  void AddWords(ir::Function& into);
  /// Whether Mark is wanted where `access` stands.
  bool Marks(ir::Inst access) const { return marks_.contains(access); }
  /// Raises sizes[first + promise] where another iteration was met. `map` gives the builder's value for one
  /// of the task.
  template <class Map>
  void Mark(ir::Builder& builder, ir::Inst access, ir::Value sizes, size_t first, const Map& map) const {
    std::vector<ir::Value> indices;
    for (ir::Value index : from_.Indices(access)) indices.push_back(map(index));
    ir::Value number = transform::IterationNumber(builder, module_, from_, parallel_, map);
    MarkAt(builder, access, indices, number, sizes, first);
  }

 private:
  struct Marked {
    uint32_t promise = 0;
    bool writes = false;
  };

  transform::MarkedPlace PlaceOf(ir::Inst access) const {
    return {from_[from_.Operand(access, 0)].number, from_[access].attr};
  }
  void MarkAt(ir::Builder& builder, ir::Inst access, const std::vector<ir::Value>& indices, ir::Value number,
              ir::Value sizes, size_t first) const;

  ir::Module& module_;
  const ir::Function& from_;
  ir::Inst parallel_;
  std::map<ir::Inst, Marked> marks_;
  std::map<transform::MarkedPlace, ir::Value> words_;
};

}  // namespace adc::counting
