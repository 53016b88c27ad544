#pragma once
// Where the rows of a task's adstacks lie in the heap, for every kind of target: the arithmetic that the
// loader places rows with, and that tests and tools compute sizes with.
//
// The task's part of the heap: [claim counters | rows of group 0 | rows of group 1 | ...]. Rows lie
// interleaved in blocks of W = lanes: element of size s at byte offset o of row r is at
//   group offset + (r / W) * stride * W + o * W + (r % W) * s
// so that the lanes of a warp that touch the same slot touch neighbours. On a CPU W is 1, and a row is plain
// memory of `stride` bytes.

#include <cstdint>
#include <span>
#include <string_view>

#include "artifact/metadata.h"

namespace adc::artifact {

/// The differences between the kinds of targets.
struct RowRules {
  uint32_t lanes = 1;            ///< rows of a block
  uint32_t stride_unit = 64;     ///< strides are multiples of it
  uint32_t offset_unit = 64;     ///< offsets of groups, and of everything else in the heap, are
  uint32_t words_per_group = 2;  ///< CPU: offset, stride; GPU: offset, stride, rows, counter
  bool is_gpu = false;           ///< words, claim counters and threads as in artifact/gpu_abi.h
  bool words_in_heap = false;    ///< a launch's words lie in device memory, and the heap holds them
  bool has_table = false;        ///< so do those that are too many for parameters (artifact/gpu_abi.h)
};

/// The rules of a target kind ("cpu", "cuda", ...) for rows in blocks of `lanes`.
RowRules RowRulesOf(std::string_view target_kind, uint32_t lanes);

struct StackPlace {
  uint64_t capacity = 0;  ///< elements; the caller's
  uint64_t offset = 0;    ///< bytes inside its row
};
struct GroupPlace {
  uint64_t rows = 0;     ///< whole blocks of lanes; the caller's
  uint64_t offset = 0;   ///< of its rows, in the heap
  uint64_t stride = 0;   ///< bytes of a row
  uint64_t counter = 0;  ///< GPU, gated: offset of its claim counter, in the heap; else 0
};

/// `value` up to a multiple of `alignment`, a power of two; false where 64 bits do not hold it.
bool AlignUp(uint64_t value, uint64_t alignment, uint64_t* result);

/// A stack of flags (StackMeta::bits) has one bit for each: element k is bit k % 32 of word k / 32.
inline constexpr uint32_t kFlagsPerWord = 32;
/// Bytes that `capacity` elements of the stack take; false where 64 bits do not hold them.
bool StackBytes(const StackMeta& stack, uint64_t capacity, uint64_t* bytes);
/// Elements of the stack that `bytes` hold.
uint64_t ElementsIn(const StackMeta& stack, uint64_t bytes);

/// Whether threads claim the group's rows from a counter.
bool IsClaimed(const GroupMeta& group, const RowRules& rules);
/// Bytes of the task's claim counters, a multiple of rules.offset_unit.
uint64_t CounterBytes(const AdstackPlanMeta& plan, const RowRules& rules);
/// `rows` up to whole blocks; false where that does not fit.
bool RoundRows(uint64_t rows, const RowRules& rules, uint64_t* rounded);

/// Offsets of stacks inside their rows and strides of the groups, in stack order, each stack aligned to its
/// element or word; stacks that share are placed with the first of them. `row_bytes` is the sum of the
/// strides. False where a size does not fit 64 bits.
bool PlaceStacks(const AdstackPlanMeta& plan, const RowRules& rules, std::span<StackPlace> stacks,
                 std::span<GroupPlace> groups, uint64_t* row_bytes);
/// Places counters and the rows of each group from `begin` on, which is a multiple of rules.offset_unit;
/// `end` is where they end. False where an offset passes PTRDIFF_MAX.
bool PlaceRows(const AdstackPlanMeta& plan, const RowRules& rules, uint64_t begin,
               std::span<GroupPlace> groups, uint64_t* end);

/// How many adstack words the task's code takes.
size_t AdstackWordCount(const AdstackPlanMeta& plan, const RowRules& rules);
/// How many words a launch of a task has: `cells` of the kernel's arguments, adstack words, and on a GPU
/// those of the launch itself. Null plan: no adstacks.
size_t LaunchWordCount(size_t cells, const AdstackPlanMeta* plan, const RowRules& rules);
/// How many of `count` words of a launch lie in a table.
size_t TableWordCount(size_t count, const RowRules& rules);
/// Bytes of the heap that hold a launch's words, of which there are `count`.
uint64_t WordBytesInHeap(size_t count, const RowRules& rules);
/// Writes them: per group its words, then per stack that lives in a row offset and capacity.
void WriteAdstackWords(const AdstackPlanMeta& plan, const RowRules& rules, std::span<const StackPlace> stacks,
                       std::span<const GroupPlace> groups, uint64_t* words);

}  // namespace adc::artifact
