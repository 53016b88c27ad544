#include "vulkan/clamp.h"

#include <initializer_list>

#include "vulkan/spirv_op.h"

namespace adrt::vulkan {
namespace {

constexpr uint32_t kBound = 3;  // the word of the header that bounds ids
constexpr uint32_t kUMin = 38;  // of GLSL.std.450

class Writer {
 public:
  Writer(std::span<const uint32_t> words, std::span<const Index> indices, KnownIds known,
         adc::artifact::Vector<uint32_t>* into)
      : words_(words), indices_(indices), known_(known), into_(*into), next_id_(words[kBound]) {}

  bool Run() {
    if (!Copy(0, kHeader)) return false;
    bool imported = false, declared = false;
    size_t next = 0;
    for (size_t at = kHeader, length = 0; at < words_.size(); at += length) {
      uint32_t op = words_[at] & 0xFFFF;
      length = words_[at] >> 16;
      // Imports stand after capabilities and extensions, constants in front of functions.
      if (!imported && op != kOpCapability && op != kOpExtension) {
        imported = true;
        if (!Import()) return false;
      }
      if (!declared && op == kOpFunctionBegin) {
        declared = true;
        if (!Declare()) return false;
      }
      bool is_chain = next < indices_.size() && indices_[next].chain == at;
      if (is_chain && !Bound(next)) return false;
      size_t begin = into_.size();
      if (!Copy(at, length)) return false;
      if (is_chain) into_[begin + indices_[next++].number] = bounded_;
    }
    into_[kBound] = next_id_;
    return true;
  }

 private:
  bool Copy(size_t at, size_t count) {
    for (size_t n = at; n < at + count; ++n) {
      if (!into_.TryPush(words_[n])) return false;
    }
    return true;
  }

  /// An instruction.
  bool Write(uint32_t op, std::initializer_list<uint32_t> operands) {
    if (!into_.TryPush(static_cast<uint32_t>(operands.size() + 1) << 16 | op)) return false;
    for (uint32_t operand : operands) {
      if (!into_.TryPush(operand)) return false;
    }
    return true;
  }

  bool Import() {
    if (known_.glsl != 0) return true;
    known_.glsl = next_id_++;
    // "GLSL.std.450", little-endian.
    return Write(kOpExtInstImport, {known_.glsl, 0x4C534C47, 0x6474732E, 0x3035342E, 0});
  }

  /// The type, and a constant for each index: the last element, or the 1 that a length is reduced by.
  bool Declare() {
    if (known_.word == 0) {
      known_.word = next_id_++;
      if (!Write(kOpTypeInt, {known_.word, 32, 0})) return false;
    }
    constants_ = next_id_;
    next_id_ += static_cast<uint32_t>(indices_.size());
    for (size_t n = 0; n < indices_.size(); ++n) {
      const Index& index = indices_[n];
      if (!Write(kOpConstant, {known_.word, Constant(n), index.buffer != 0 ? 1 : index.last})) return false;
    }
    return true;
  }
  uint32_t Constant(size_t n) const { return constants_ + static_cast<uint32_t>(n); }

  /// Replaces index `n` by `bounded_`.
  bool Bound(size_t n) {
    const Index& index = indices_[n];
    uint32_t value = words_[index.chain + index.number];
    if (index.type != known_.word) {
      uint32_t op = index.bytes == 4 ? kOpBitcast : index.bytes < 4 ? kOpSConvert : kOpUConvert;
      uint32_t converted = next_id_++;
      if (!Write(op, {known_.word, converted, value})) return false;
      value = converted;
    }
    uint32_t last = Constant(n);
    if (index.buffer != 0) {
      uint32_t length = next_id_++, less = next_id_++;
      if (!Write(kOpArrayLength, {known_.word, length, index.buffer, 0})) return false;
      if (!Write(kOpISub, {known_.word, less, length, last})) return false;
      last = less;
    }
    bounded_ = next_id_++;
    return Write(kOpExtInst, {known_.word, bounded_, known_.glsl, kUMin, value, last});
  }

  std::span<const uint32_t> words_;
  std::span<const Index> indices_;
  KnownIds known_;
  adc::artifact::Vector<uint32_t>& into_;
  uint32_t next_id_, constants_ = 0, bounded_ = 0;
};

}  // namespace

bool BoundIndices(std::span<const uint32_t> words, std::span<const Index> indices, KnownIds known,
                  adc::artifact::Vector<uint32_t>* bounded) {
  return Writer(words, indices, known, bounded).Run();
}

}  // namespace adrt::vulkan
