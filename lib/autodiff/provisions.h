#pragma once
// What a gradient does about each primal value that its adjoint sweep reads: a side record of the decisions
// of to_be_recorded.h, for people and for comparisons. Nothing is generated from it.

#include <string>
#include <vector>

#include "diag/source.h"
#include "ir/function.h"

namespace adc::autodiff {

class RecordingPlan;
class RegionTree;

/// One primal value of the kernel that was differentiated.
struct Provision {
  uint32_t id = 0;   ///< its number there
  std::string name;  ///< as the source has it; empty where it has none
  ir::Scalar scalar = ir::Scalar::F32;
  diag::SourceSpan place;
  uint32_t operations = 0;     ///< recomputed: how many make it again from `from`
  std::vector<uint32_t> from;  ///< recomputed: what it is made of, by number, constants left out
  bool carried = false;        ///< stored: carried by the loop, and not a value made in its body
};

/// A stretch of code that is reversed as one (region_tree.h).
struct UnitProvisions {
  static constexpr uint32_t kNone = UINT32_MAX;
  /// What it is the body of: For, While, Parallel, ParallelOver, If; Return: the kernel itself.
  ir::Op op = ir::Op::Return;
  diag::SourceSpan place;             ///< of that
  uint32_t around = kNone;            ///< position of the unit around it
  bool segments = false;              ///< a loop over segments: what it stores are checkpoints
  std::vector<Provision> stored;      ///< pushed in each iteration
  std::vector<std::string> arrays;    ///< local arrays of which each iteration pushes old contents
  std::vector<Provision> undone;      ///< carried values that each reversed iteration inverts
  std::vector<Provision> left;        ///< read where the kernel has stored them
  std::vector<Provision> recomputed;  ///< made again, in textual order
  uint32_t loads = 0;                 ///< read again from memory that the kernel leaves as it is
};

/// Of one derived kernel; units in textual order of the kernel that was differentiated, outer before inner.
struct ProvisionRecord {
  std::vector<UnitProvisions> units;
  std::vector<std::pair<uint32_t, std::string>> names;  ///< of what values are made of, ascending numbers
};

ProvisionRecord DescribeProvisions(const ir::Module& module, const ir::Function& function,
                                   const RegionTree& tree, const RecordingPlan& plan);

/// What the gradient does about the values that are named `name` and made on the line of `place`, a line
/// each: "taped, 4 bytes an iteration of the loop at relax.ir:4:10: ..."; none where it reads none of them.
std::vector<std::string> DescribeValue(const ProvisionRecord& record, std::string_view name,
                                       diag::SourceSpan place, const diag::SourceManager& sources);

/// The record for people: per unit what is stored and why, what is recomputed, from what, in how many
/// operations, with places; values of one source line together.
std::string PrintProvisions(std::string_view kernel, const ProvisionRecord& record,
                            const diag::SourceManager& sources);

}  // namespace adc::autodiff
