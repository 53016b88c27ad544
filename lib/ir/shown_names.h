#pragma once
// The names that values have in the text of a function.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/function.h"

namespace adc::ir {

/// A value keeps its name where it is the first of that name in its function, in textual order; a later one
/// (passes copy bodies) gets `.1`, `.2`, and so on. A value without a name gets the next free number. Results
/// of loops, calls and atomics that are neither named nor used are not written, and have none.
class ShownNames {
 public:
  /// `module` and `function` must outlive this. They may be broken: no index is followed unseen.
  ShownNames(const Module& module, const Function& function);

  /// Without '%'; empty where the value is written nowhere.
  std::string_view Of(Value v) const { return shown_[v.raw]; }
  /// Whether `inst` is written with its results in front.
  bool ShowsResults(Inst inst) const;

 private:
  struct NameState {
    bool taken = false;
    uint64_t next_suffix = 0;
  };

  std::vector<Value> InTextualOrder();
  bool DroppedAlone(Value v) const;
  std::string_view Fresh(const std::string& stem, uint64_t& next);

  const Module& module_;
  const Function& function_;
  std::vector<unsigned char> used_;
  std::vector<std::string_view> shown_;
  std::deque<std::string> generated_;  ///< the storage of names that no source wrote; views point into it
  std::unordered_map<std::string_view, NameState> names_;
};

}  // namespace adc::ir
