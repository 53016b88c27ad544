#include "artifact/adstack_layout.h"

#include <cstddef>

#include "artifact/cpu_abi.h"
#include "artifact/gpu_abi.h"

namespace adc::artifact {

static_assert(RowRules().stride_unit == ADRT_CPU_ROW_ALIGNMENT);
static_assert(RowRules().offset_unit == ADRT_CPU_ROW_ALIGNMENT);

namespace {

bool Shares(const StackMeta& left, const StackMeta& right) {
  return left.share == right.share && left.group == right.group && left.storage == right.storage;
}

}  // namespace

bool AlignUp(uint64_t value, uint64_t alignment, uint64_t* result) {
  if (AddOverflows(value, alignment - 1, result)) return false;
  *result &= ~(alignment - 1);
  return true;
}

RowRules RowRulesOf(std::string_view target_kind, uint32_t lanes) {
  RowRules rules;
  rules.lanes = lanes > 0 ? lanes : 1;
  if (target_kind == "cpu") return rules;
  rules.stride_unit = ADRT_GPU_STRIDE_ALIGNMENT;
  rules.offset_unit = ADRT_GPU_GROUP_ALIGNMENT;
  rules.words_per_group = ADRT_GPU_GROUP_WORDS;
  rules.is_gpu = true;
  rules.words_in_heap = target_kind == "vulkan";
  rules.has_table = target_kind == "cuda" || target_kind == "hip";
  return rules;
}

bool StackBytes(const StackMeta& stack, uint64_t capacity, uint64_t* bytes) {
  uint64_t units = capacity;
  if (stack.bits) units = capacity / kFlagsPerWord + (capacity % kFlagsPerWord != 0 ? 1 : 0);
  return !MultiplyOverflows(units, uint64_t{ScalarTypeSize(stack.type)}, bytes);
}

uint64_t ElementsIn(const StackMeta& stack, uint64_t bytes) {
  uint64_t units = bytes / ScalarTypeSize(stack.type);
  uint64_t elements = 0;
  if (!stack.bits) return units;
  return MultiplyOverflows(units, uint64_t{kFlagsPerWord}, &elements) ? UINT64_MAX : elements;
}

bool IsClaimed(const GroupMeta& group, const RowRules& rules) {
  return rules.is_gpu && !group.gate.empty();
}

uint64_t CounterBytes(const AdstackPlanMeta& plan, const RowRules& rules) {
  uint64_t bytes = 0, rounded = 0;
  for (const GroupMeta& group : plan.groups) {
    if (IsClaimed(group, rules)) bytes += sizeof(uint32_t);
  }
  return AlignUp(bytes, rules.offset_unit, &rounded) ? rounded : bytes;
}

bool RoundRows(uint64_t rows, const RowRules& rules, uint64_t* rounded) {
  return AlignUp(rows, rules.lanes, rounded);
}

bool PlaceStacks(const AdstackPlanMeta& plan, const RowRules& rules, std::span<StackPlace> stacks,
                 std::span<GroupPlace> groups, uint64_t* row_bytes) {
  for (GroupPlace& group : groups) group.stride = 0;
  for (uint32_t index = 0; index < plan.stacks.size(); ++index) {
    const StackMeta& stack = plan.stacks[index];
    if (stack.storage != Storage::kRow) continue;
    uint64_t bytes = 0, alignment = ScalarTypeSize(stack.type);
    if (!StackBytes(stack, stacks[index].capacity, &bytes)) return false;
    if (stack.share != kNoIndex) {
      bool placed = false;
      for (uint32_t other = 0; other < plan.stacks.size() && !placed; ++other) {
        if (!Shares(plan.stacks[other], stack)) continue;
        if (other < index) {
          stacks[index].offset = stacks[other].offset;
          placed = true;
          continue;
        }
        uint64_t other_bytes = 0, other_alignment = ScalarTypeSize(plan.stacks[other].type);
        if (!StackBytes(plan.stacks[other], stacks[other].capacity, &other_bytes)) return false;
        if (other_bytes > bytes) bytes = other_bytes;
        if (other_alignment > alignment) alignment = other_alignment;
      }
      if (placed) continue;
    }
    uint64_t& cursor = groups[stack.group].stride;
    if (!AlignUp(cursor, alignment, &cursor)) return false;
    stacks[index].offset = cursor;
    if (AddOverflows(cursor, bytes, &cursor)) return false;
  }
  *row_bytes = 0;
  for (GroupPlace& group : groups) {
    if (!AlignUp(group.stride, rules.stride_unit, &group.stride) ||
        AddOverflows(*row_bytes, group.stride, row_bytes)) {
      return false;
    }
  }
  return true;
}

bool PlaceRows(const AdstackPlanMeta& plan, const RowRules& rules, uint64_t begin,
               std::span<GroupPlace> groups, uint64_t* end) {
  uint64_t counter = begin, cursor = begin;
  if (AddOverflows(begin, CounterBytes(plan, rules), &cursor)) return false;
  for (uint32_t index = 0; index < groups.size(); ++index) {
    GroupPlace& group = groups[index];
    group.counter = 0;
    if (IsClaimed(plan.groups[index], rules)) {
      group.counter = counter;
      counter += sizeof(uint32_t);
    }
    uint64_t bytes = 0;
    group.offset = cursor;
    if (MultiplyOverflows(group.stride, group.rows, &bytes) || AddOverflows(cursor, bytes, &cursor) ||
        !AlignUp(cursor, rules.offset_unit, &cursor)) {
      return false;
    }
  }
  *end = cursor;
  return cursor <= uint64_t{PTRDIFF_MAX};
}

size_t AdstackWordCount(const AdstackPlanMeta& plan, const RowRules& rules) {
  size_t count = plan.groups.size() * rules.words_per_group;
  for (const StackMeta& stack : plan.stacks) count += stack.storage == Storage::kRow ? 2 : 0;
  return count;
}

size_t LaunchWordCount(size_t cells, const AdstackPlanMeta* plan, const RowRules& rules) {
  size_t adstack_words = plan != nullptr ? AdstackWordCount(*plan, rules) : 0;
  return rules.is_gpu ? cells + adstack_words + ADRT_GPU_TAIL_WORDS : adstack_words;
}

size_t TableWordCount(size_t count, const RowRules& rules) {
  if (!rules.has_table || count <= ADRT_GPU_MAX_WORDS) return 0;
  return count - ADRT_GPU_DIRECT_WORDS - ADRT_GPU_TAIL_WORDS;
}

uint64_t WordBytesInHeap(size_t count, const RowRules& rules) {
  if (rules.words_in_heap) return count * sizeof(uint64_t);
  constexpr size_t kChunk = ADRT_GPU_TABLE_CHUNK;
  return (TableWordCount(count, rules) + kChunk - 1) / kChunk * kChunk * sizeof(uint64_t);
}

void WriteAdstackWords(const AdstackPlanMeta& plan, const RowRules& rules, std::span<const StackPlace> stacks,
                       std::span<const GroupPlace> groups, uint64_t* words) {
  for (const GroupPlace& group : groups) {
    *words++ = group.offset;
    *words++ = group.stride;
    if (!rules.is_gpu) continue;
    *words++ = group.rows;
    *words++ = group.counter;
  }
  for (uint32_t index = 0; index < plan.stacks.size(); ++index) {
    if (plan.stacks[index].storage != Storage::kRow) continue;
    *words++ = stacks[index].offset;
    *words++ = stacks[index].capacity;
  }
}

}  // namespace adc::artifact
