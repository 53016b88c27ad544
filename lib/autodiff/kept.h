#pragma once
// What a gradient does about each primal value that its adjoint sweep reads: a side record of the decisions
// of needed.h, for people and for comparisons. Nothing is generated from it.

#include <string>
#include <vector>

#include "autodiff/needed.h"
#include "transform/block_loops.h"

namespace adc::autodiff {

/// One primal value of the kernel that was differentiated.
struct KeptValue {
  uint32_t id = 0;   ///< its number there
  std::string name;  ///< as the source has it; empty where it has none
  ir::Scalar scalar = ir::Scalar::F32;
  diag::SourceSpan place;
  uint32_t operations = 0;     ///< recomputed: how many make it again from `from`
  std::vector<uint32_t> from;  ///< recomputed: what it is made of, by number, constants left out
  bool carried = false;        ///< stored: carried by the loop, and not a value made in its body
};

/// A stretch of code that is reversed as one (region_tree.h).
struct KeptUnit {
  static constexpr uint32_t kNone = UINT32_MAX;
  /// What it is the body of: For, While, Parallel, ParallelOver, If; Return: the kernel itself.
  ir::Op op = ir::Op::Return;
  diag::SourceSpan place;     ///< of that
  uint32_t around = kNone;    ///< position of the unit around it
  bool segments = false;      ///< a loop over segments: what it stores are checkpoints
  diag::SourceSpan parallel;  ///< place of the parallel loop around it, or its own; invalid in serial tasks
  std::vector<KeptValue> stored;      ///< pushed in each iteration
  std::vector<std::string> arrays;    ///< local arrays of which each iteration pushes old contents
  std::vector<KeptValue> undone;      ///< carried values that each reversed iteration inverts
  std::vector<KeptValue> left;        ///< read where the kernel has stored them
  std::vector<KeptValue> recomputed;  ///< made again, in textual order
  uint32_t loads = 0;                 ///< read again from memory that the kernel leaves as it is
  /// Of the values made here, how many the adjoints of the kernel's operations read: operands of products and
  /// functions, conditions, bounds, indices. Loop indices, arguments and constants are not among them.
  uint32_t reads_4 = 0, reads_8 = 0, reads_integer = 0;  ///< floats up to 32 bits, of 64 bits; the others
};

/// Of one derived kernel; units in textual order of the kernel that was differentiated, outer before inner.
struct KeptRecord {
  std::vector<KeptUnit> units;
  std::vector<std::pair<uint32_t, std::string>> names;  ///< of what values are made of, ascending numbers
};

KeptRecord DescribeKept(const ir::Module& module, const ir::Function& function, const RegionTree& tree,
                        const AdjointWork& work, const NeededPlan& plan, const transform::StepLoops& steps);

/// The record for people: per unit what is stored and why, what is recomputed, from what, in how many
/// operations, with places; values of one source line together.
std::string PrintKept(std::string_view kernel, const KeptRecord& record, const diag::SourceManager& sources);

}  // namespace adc::autodiff
