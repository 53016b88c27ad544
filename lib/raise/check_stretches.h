#pragma once
// Stretches of code whose accesses one check in front of them serves.
//
//   for %o in 0..3 {                        first: nothing but %b says where the accesses are. The smallest
//     %v = load %x[(add %b, %o)]            index of %x is %b + 0, the largest %b + 2.
//     ...
//   }
//
// A stretch is a loop, or several accesses to one buffer that are constants apart, with the code between
// them. The bounds of an index are sums of values that are there before the stretch. Indices of i32 wrap, the
// sum does not: an index and its sum are equal modulo 2^32, and so equal if the sum is not negative and below
// 2^31.

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/structure.h"
#include "analysis/uses.h"
#include "ir/function.h"
#include "raise/access_groups.h"
#include "raise/intervals.h"

namespace adc::raise {

/// A constant and values times coefficients, in 64 bits, which it does not leave.
struct IndexSum {
  int64_t constant = 0;
  std::vector<std::pair<ir::Value, int64_t>> terms;  ///< ascending, no coefficient is 0
};

/// The smallest and the largest index along one axis.
struct IndexBounds {
  ir::Inst access;  ///< one of the accesses, for the extent
  uint32_t axis = 0;
  IndexSum low, high;
};

struct Stretch {
  size_t end = 0;                  ///< in its block, one past the last instruction
  std::vector<ir::Inst> accesses;  ///< in range if `bounds` are, by the first of their groups
  size_t indices = 0;              ///< of `accesses` that are checked
  std::vector<IndexBounds> bounds;
  std::vector<ir::Value> given;  ///< values that are read after the stretch
};

/// The extent of an axis that the type says; 0: of a buffer, which each launch says.
uint64_t FixedExtent(const ir::Module& module, const ir::Function& kernel, ir::Inst access, uint32_t axis);

class CheckStretches {
 public:
  /// Whether the index along an axis of an access has to be checked.
  using Needs = std::function<bool(ir::Inst access, uint32_t axis)>;

  CheckStretches(const ir::Module& module, const ir::Function& kernel, const AccessGroups& groups,
                 const analysis::Uses& uses, Needs needs)
      : module_(module),
        kernel_(kernel),
        groups_(groups),
        uses_(uses),
        needs_(std::move(needs)),
        structure_(kernel),
        intervals_(module, kernel) {}

  /// The stretch that begins at instruction number `begin` of a block; nothing where none is worth it. Of
  /// the accesses in `sure` no check is asked.
  std::optional<Stretch> From(ir::Block block, size_t begin, const IndexSet<ir::Inst>& sure);

 private:
  bool MayHold(ir::Inst inst) const;
  bool NeedsCheck(ir::Inst access) const;
  bool Gather(ir::Inst inst, bool is_top, Stretch& stretch) const;
  bool AddBounds(ir::Inst access, Stretch& stretch) const;
  bool AddExtreme(ir::Value v, int64_t coefficient, bool largest, bool may_wrap, uint32_t depth,
                  IndexSum& sum) const;
  bool AddOperands(ir::Value v, int64_t coefficient, bool largest, uint32_t depth, IndexSum& sum) const;
  bool HasConstant(ir::Value v) const;
  bool IsKnown(ir::Value v) const;
  uint32_t PlaceOf(ir::Inst inst) const;
  void FindGiven(Stretch& stretch) const;

  const ir::Module& module_;
  const ir::Function& kernel_;
  const AccessGroups& groups_;
  const analysis::Uses& uses_;
  Needs needs_;
  analysis::Structure structure_;
  Intervals intervals_;
  // The stretch that is looked for.
  ir::Block block_;
  size_t begin_ = 0;
  const IndexSet<ir::Inst>* sure_ = nullptr;
};

}  // namespace adc::raise
