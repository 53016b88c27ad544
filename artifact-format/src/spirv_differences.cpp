#include "artifact/spirv_differences.h"

#include "bundle_layout.h"

namespace adc::artifact {
namespace {

constexpr size_t kWord = 4, kHeaderWords = 5, kBoundAt = 12;
constexpr uint32_t kOpFunction = 54;
// Operands that have a row of their own in the table: of most instructions all.
constexpr uint32_t kRows = 512, kColumns = 8;

// Each of the ranges [0, shared), [shared, bound) and the rest is mapped to itself, so that no word is lost
// that is no id.
template <bool kBack>
bool Convert(std::span<uint8_t> module) {
  size_t size = module.size();
  if (size < kWord * kHeaderWords || size % kWord != 0) return false;
  uint32_t before[kRows * kColumns] = {};  // by operation and operand: the id below `shared` there last
  uint32_t bound = Load<uint32_t>(module.data() + kBoundAt);
  uint32_t shared = bound, next = 0;  // the largest id so far, and one
  for (size_t at = kWord * kHeaderWords; at < size;) {
    uint32_t first = Load<uint32_t>(module.data() + at);
    uint32_t words = first >> 16, op = first & 0xFFFF;
    if (words == 0 || words > (size - at) / kWord) return false;
    // The words before the first function are shared by all functions.
    if (op == kOpFunction && shared == bound) shared = next;
    at += kWord;
    for (uint32_t number = 0; number < words - 1; ++number, at += kWord) {
      uint32_t word = Load<uint32_t>(module.data() + at);
      if (word >= bound) continue;
      uint32_t& last = before[op % kRows * kColumns + (number < kColumns ? number : kColumns - 1)];
      bool of_all = word < shared;
      uint32_t low = of_all ? 0 : shared, high = of_all ? shared : bound, from = of_all ? last : next;
      uint64_t moved = kBack ? uint64_t{word} + from - low : uint64_t{word} + high - from;
      uint32_t other = static_cast<uint32_t>(moved < high ? moved : moved - (high - low));
      uint32_t id = kBack ? other : word;
      if (of_all) last = id;
      if (id >= next) next = id + 1;
      Store(module.data() + at, other);
    }
  }
  return true;
}

}  // namespace

bool ToDifferences(std::span<uint8_t> module) {
  return Convert<false>(module);
}

bool FromDifferences(std::span<uint8_t> module) {
  return Convert<true>(module);
}

}  // namespace adc::artifact
