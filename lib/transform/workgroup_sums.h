#pragma once
// Integers of a workgroup's invocations as far as they are known at compile time.

#include <map>
#include <optional>
#include <vector>

#include "ir/function.h"
#include "support/side_table.h"

namespace adc::transform {

/// A constant and multiples of values that are the same for the whole workgroup.
struct Sum {
  int64_t constant = 0;
  std::map<uint32_t, int64_t> terms;  ///< by number of the value
  bool IsConstant() const { return terms.empty(); }
  friend auto operator<=>(const Sum&, const Sum&) = default;
};
/// Empty: not known.
using Known = std::optional<Sum>;

/// The result of an operation on integers; empty where it is neither a constant nor such a sum.
Known Evaluate(const ir::Function& function, ir::Inst inst, const std::vector<Known>& operands);

/// The known values of one function, an entry per invocation where they vary.
class KnownValues {
 public:
  KnownValues(const ir::Function& function, uint32_t invocations)
      : function_(function), invocations_(invocations) {}

  Known Of(ir::Value v, uint32_t invocation) const;
  void Set(ir::Value v, uint32_t invocation, Known known) { RowOf(v)[invocation] = std::move(known); }
  /// One value for all invocations, whatever it is.
  void SetAlike(ir::Value v);
  void Forget(ir::Value v) { RowOf(v).assign(invocations_, Known()); }

 private:
  std::vector<Known>& RowOf(ir::Value v);

  const ir::Function& function_;
  uint32_t invocations_;
  SideTable<ir::Value, std::vector<Known>> rows_;
  uint32_t next_ = 0;  ///< number of a value
};

}  // namespace adc::transform
