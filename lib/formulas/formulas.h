#pragma once
// Size expressions for people: a shared part is written once, under a name.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/size_expr.h"

namespace adc::formulas {

/// The expressions that stand together in a text, "max(i0 in 0..n: e2)" with "e2 = (end[i0] - start[i0])"
/// beside it. Nothing is cut, however long they are. Pool and names stay where they are as long as this
/// lives.
class Formulas {
 public:
  /// `names` are those of the kernel's parameters. One entry of `roots` per place where the text shows it;
  /// those that are none (kNoNode) count as nothing.
  Formulas(const artifact::SizeExprPool& pool, std::vector<std::string_view> names,
           std::span<const artifact::NodeId> roots);

  /// How many parts of expressions the roots use: all texts together are about so long.
  size_t parts() const { return parts_; }
  /// One of the roots, or its name.
  std::string Text(artifact::NodeId root) const;
  /// "e1 = ..." for each name, those that others use first.
  std::vector<std::string> Terms() const;

 private:
  std::string Written(artifact::NodeId expr) const;

  const artifact::SizeExprPool& pool_;
  std::vector<std::string_view> names_;
  size_t parts_ = 0;
  std::vector<uint32_t> terms_;  ///< per node its number; 0: written out
};

}  // namespace adc::formulas
