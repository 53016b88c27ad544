#pragma once
// The words that passes of lib/raise write on operations: what a printer of code reads. A lowered module
// has none of them.

#include <span>
#include <string_view>

#include "ir/function.h"

namespace adc::ir {

struct RaiseWord {
  uint8_t flag = 0;
  std::string_view word;
};

inline constexpr RaiseWord kAccessWords[] = {
    {kFlagFlat, "flat"}, {kFlagPrivate, "private"}, {kFlagAlways, "always"}, {kFlagGathered, "gathered"}};
inline constexpr RaiseWord kParallelWords[] = {{kFlagRecheck, "recheck"},    {kFlagSparse, "sparse"},
                                               {kFlagFours, "fours"},        {kFlagFlat, "flat"},
                                               {kFlagLanesEnd, "lanes_end"}, {kFlagLanesBody, "lanes_body"}};
inline constexpr RaiseWord kIfWords[] = {
    {kFlagGuard, "guard"}, {kFlagThenCounters, "then_counters"}, {kFlagElseCounters, "else_counters"}};
inline constexpr RaiseWord kWhileWords[] = {{kFlagLanes, "lanes"}};

/// The words that `op` may have, in the order in which they are printed.
constexpr std::span<const RaiseWord> RaiseWordsOf(Op op) {
  if (IsAccess(op)) return kAccessWords;
  if (op == Op::Parallel || op == Op::ParallelOver) return kParallelWords;
  if (op == Op::If) return kIfWords;
  if (op == Op::While) return kWhileWords;
  return {};
}

}  // namespace adc::ir
