#pragma once
// The provision of each primal value that the adjoint sweep of a gradient reads: a side record of the
// decisions of to_be_recorded.h, for people and for comparisons. Nothing is generated from it.

#include <string>
#include <vector>

#include "diag/source.h"
#include "ir/function.h"

namespace adc::autodiff {

class AdjointWork;
class RecordingPlan;
class RegionTree;

/// An operation whose reversed form reads a value.
struct ProvisionReader {
  ir::Op op;
  diag::SourceSpan place;
};

/// One primal value of the kernel that was differentiated.
struct Provision {
  uint32_t id = 0;   ///< its number there
  std::string name;  ///< as the source has it; empty where it has none
  ir::Scalar scalar = ir::Scalar::F32;
  diag::SourceSpan place;
  uint32_t operations = 0;               ///< recomputed: how many operations make it again from `from`
  std::vector<uint32_t> from;            ///< recomputed: its sources, by number, without constants
  bool carried = false;                  ///< stored: carried by the loop, and not a value made in its body
  std::vector<ProvisionReader> readers;  ///< none: only other values are made from it
};

/// A stretch of code that is reversed as one (region_tree.h).
struct UnitProvisions {
  static constexpr uint32_t kNone = UINT32_MAX;
  /// The operation whose body it is: For, While, Parallel, ParallelOver, If; Return: the kernel itself.
  ir::Op op = ir::Op::Return;
  diag::SourceSpan place;             ///< of that
  uint32_t around = kNone;            ///< position of the unit around it
  bool segments = false;              ///< a loop over segments: its stored values are checkpoints
  std::vector<Provision> stored;      ///< pushed in each iteration
  std::vector<std::string> arrays;    ///< local arrays of which each iteration pushes old contents
  std::vector<Provision> undone;      ///< carried values that each reversed iteration inverts
  std::vector<Provision> left;        ///< read where the kernel has stored them
  std::vector<Provision> recomputed;  ///< made again, in textual order
  std::vector<Provision> loaded;      ///< read again from memory that the kernel leaves as it is
};

/// Of one derived kernel; units in textual order of the kernel that was differentiated, outer before inner.
struct ProvisionRecord {
  std::vector<UnitProvisions> units;
  std::vector<std::pair<uint32_t, std::string>> names;  ///< of values that others are made of, ascending
};

ProvisionRecord DescribeProvisions(const ir::Module& module, const ir::Function& function,
                                   const RegionTree& tree, const AdjointWork& work,
                                   const RecordingPlan& plan);

/// The provision of one value, and its reason.
struct ProvisionNote {
  enum class Way : uint8_t { Taped, Checkpoint, Contents, Inverted, ReadAgain, Recomputed, Loaded };
  Way way = Way::Taped;
  std::string name;  ///< of contents: the local array
  ir::Scalar scalar = ir::Scalar::F32;
  diag::SourceSpan place;
  std::string_view unit;                      ///< runs again or is reversed as one: "loop", "branch"
  diag::SourceSpan unit_place;                ///< of that
  uint32_t bits = 0;                          ///< taped, checkpoint: how much an iteration of the unit stores
  uint32_t operations = 0;                    ///< recomputed: how many make it again
  std::vector<std::string> from;              ///< recomputed: of which values that have names
  std::string_view reason;                    ///< taped, checkpoint: why this value is stored
  std::vector<ProvisionReader> readers = {};  ///< the readers of the value in the adjoint sweep
  std::vector<std::string> makes = {};        ///< which values that have names are made from it there
};

/// All that a record says of single values, in its order.
std::vector<ProvisionNote> NotesOf(const ProvisionRecord& record);

/// "taped in the loop at relax.ir:4:10, 4 bytes an iteration: carried from iteration to iteration"
std::string Describe(const ProvisionNote& note, const diag::SourceManager& sources);

/// The provisions of the values that are named `name` and made on the line of `place`, a line each: "taped, 4
/// bytes an iteration of the loop at relax.ir:4:10: ..."; none where the gradient reads none of them.
std::vector<std::string> DescribeValue(const ProvisionRecord& record, std::string_view name,
                                       diag::SourceSpan place, const diag::SourceManager& sources);

/// The record for people: per unit the stored values and the reasons, the recomputed values, their sources
/// and numbers of operations, with places; values of one source line together.
std::string PrintProvisions(std::string_view kernel, const ProvisionRecord& record,
                            const diag::SourceManager& sources);

}  // namespace adc::autodiff
