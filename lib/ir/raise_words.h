#pragma once
// The words that passes of lib/raise write on operations: what a printer of code reads. A lowered module
// has none of them.

#include <span>
#include <string>
#include <string_view>

#include "ir/function.h"

namespace adc::ir {

/// Flags beside those that function.h names.
enum RaiseFlag : uint8_t {
  kFlagAsWritten = 1,  ///< scalar operation: it decides, or is what something that decides is made of
  kFlagNoWrap = 2,     ///< add, sub, mul of i32: the result over the integers fits
  kFlagFuses = 4,      ///< mul: the one sum that reads it may take it in
  kFlagPaired = 8,     ///< sin, cos: the block has the other one of the same operand
  kFlagOfTurn = 2,     ///< gathered: all iterations come to the cell in the same turn of the loop around
  kFlagMayMeet = 1,    ///< accumulation: data decide whether threads of a wave come to one cell
};

struct RaiseWord {
  uint8_t flag = 0;
  std::string_view word;
};

inline constexpr RaiseWord kAccessWords[] = {{kFlagFlat, "flat"},      {kFlagPrivate, "private"},
                                             {kFlagAlways, "always"},  {kFlagGathered, "gathered"},
                                             {kFlagOfTurn, "of_turn"}, {kFlagMayMeet, "may_meet"}};
inline constexpr RaiseWord kParallelWords[] = {{kFlagRecheck, "recheck"},     {kFlagSparse, "sparse"},
                                               {kFlagFours, "fours"},         {kFlagTeam, "team"},
                                               {kFlagFlat, "flat"},           {kFlagLanesEnd, "lanes_end"},
                                               {kFlagLanesBody, "lanes_body"}};
inline constexpr RaiseWord kAllocaWords[] = {{kFlagCommon, "common"}, {kFlagOwn, "own"}};
inline constexpr RaiseWord kIfWords[] = {
    {kFlagGuard, "guard"}, {kFlagThenCounters, "then_counters"}, {kFlagElseCounters, "else_counters"}};
inline constexpr RaiseWord kWhileWords[] = {{kFlagLanes, "lanes"}};
inline constexpr RaiseWord kScalarWords[] = {{kFlagAsWritten, "as_written"}};
inline constexpr RaiseWord kSumWords[] = {{kFlagAsWritten, "as_written"}, {kFlagNoWrap, "no_wrap"}};
inline constexpr RaiseWord kProductWords[] = {
    {kFlagAsWritten, "as_written"}, {kFlagNoWrap, "no_wrap"}, {kFlagFuses, "fuses"}};
inline constexpr RaiseWord kAngleWords[] = {{kFlagAsWritten, "as_written"}, {kFlagPaired, "paired"}};

/// The words that `op` may have, in the order in which they are printed.
constexpr std::span<const RaiseWord> RaiseWordsOf(Op op) {
  if (IsAccess(op)) return kAccessWords;
  if (op == Op::Parallel || op == Op::ParallelOver) return kParallelWords;
  if (op == Op::Alloca) return kAllocaWords;
  if (op == Op::If) return kIfWords;
  if (op == Op::While) return kWhileWords;
  if (op == Op::Add || op == Op::Sub) return kSumWords;
  if (op == Op::Mul) return kProductWords;
  if (op == Op::Sin || op == Op::Cos) return kAngleWords;
  if (IsScalarOperation(op)) return kScalarWords;
  return {};
}

/// The words that an instruction has, each after a blank.
inline std::string RaiseWordsText(const InstData& data) {
  std::string text;
  for (const RaiseWord& word : RaiseWordsOf(data.op)) {
    if ((data.flags & word.flag) != 0) text.append(" ").append(word.word);
  }
  return text;
}

}  // namespace adc::ir
