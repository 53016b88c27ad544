#pragma once
// The accesses of a workgroup's invocations since they last waited for each other, by element.

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "transform/workgroup_sums.h"

namespace adc::transform {

/// An element of memory by what its indices are, its component last; empty: not known.
using ElementName = std::optional<std::vector<Sum>>;

class Touches {
 public:
  enum class Kind : uint8_t { Load, Store, Atomic };
  struct Touch {
    ir::Inst inst;
    uint32_t invocation = 0;
    bool sure = false;  ///< it happens, and after the last barrier
  };
  /// Two invocations at one element, the first of which changes it. Not sure: at what may be one element.
  struct Conflict {
    Touch change, other;
    bool sure = false;
  };

  /// Notes an access. `alike`: a store of one value by all invocations, which do not disturb each other.
  /// `in_buffer`: of memory from outside of the workgroup.
  void Note(uint32_t memory_class, const ElementName& element, Kind kind, const Touch& touch, bool alike,
            bool in_buffer);
  /// Tells of what does not go together, and forgets all. Of stores to a buffer that nothing reads here only
  /// those are told that surely name one element: that iterations of the loop do not meet in one is for the
  /// checks of parallel loops to show.
  void Compare(const std::function<void(const Conflict&)>& tell);
  /// Adds what happened on another way here, with another last barrier: of both nothing is sure any more.
  void Join(Touches others);

 private:
  struct Element {
    std::vector<Touch> of[3];  ///< by kind; of a few invocations, which is enough to tell two apart
  };
  struct Memory {
    std::map<std::vector<Sum>, Element> elements;
    std::optional<Touch> unknown[3];  ///< by kind: an access of an element that is not known
    bool only_stored = true;          ///< and outside of the workgroup
  };
  using Tell = std::function<void(const Conflict&)>;

  static void CompareElement(const Element& element, const Tell& tell);
  static void CompareUnknown(const Memory& memory, const Tell& tell);
  static bool AreComparable(const Memory& memory);
  void Doubt();

  std::map<uint32_t, Memory> memories_;  ///< by class
};

}  // namespace adc::transform
