#pragma once
// How the artifact format reports: a code that callers act on, the number of the rule that was broken, where,
// and a text for people. Errors are plain memory, so that reporting never allocates.

#include <cstdint>
#include <span>
#include <string_view>

#include "artifact/compiler.h"

namespace adc::artifact {

struct KernelMeta;

/// The kinds of errors. The groups match those of the loader's `adrt_status`.
enum class Code : uint32_t {
  kOk,
  kArgument,     ///< the caller's description is inconsistent
  kOutOfMemory,  ///< the allocator refused
  kBadMagic,     ///< not a bundle at all
  kTruncated,    ///< shorter than it says
  kCorrupt,      ///< a hash does not match
  kMalformed,    ///< a rule of the format is broken: see `rule`
  kOverLimit,    ///< a limit of the caller is passed
  kVersion,      ///< made for another major version
  kUnsupported,  ///< a required feature or section kind that this reader does not know
};

/// The rules of the format page (artifact-format/README.md), by number: "H3" is canonical form.
enum class Rule : uint32_t { kNone = 0, kH1 = 1, kH2, kH3, kH4, kH5, kH6, kH7, kH8, kH9, kH10, kH11, kH12 };

inline constexpr uint32_t kNoSection = 0xFFFFFFFFu;

/// The first thing that was wrong. `offset` counts bytes from the start of the file, or of the section's raw
/// bytes where `section` is given.
struct Error {
  Code code = Code::kOk;
  Rule rule = Rule::kNone;
  uint32_t section = kNoSection;
  uint64_t offset = 0;
  char text[256] = {};

  bool ok() const { return code == Code::kOk; }
  std::string_view message() const;
};

/// Builds a text in fixed memory; a text that does not fit is cut at a character boundary. Always
/// zero-terminated.
class TextWriter {
 public:
  TextWriter(char* buffer, size_t capacity) : buffer_(buffer), capacity_(capacity) {
    if (capacity_ > 0) buffer_[0] = 0;
  }
  TextWriter& operator<<(std::string_view text);
  TextWriter& operator<<(const char* text) { return *this << std::string_view(text); }
  TextWriter& operator<<(uint64_t number);
  TextWriter& operator<<(int64_t number);
  TextWriter& operator<<(uint32_t number) { return *this << uint64_t{number}; }
  TextWriter& operator<<(int32_t number) { return *this << int64_t{number}; }
  /// `0x` and 16 hexadecimal digits.
  TextWriter& Hex(uint64_t number);

 private:
  char* buffer_;
  size_t capacity_;
  size_t size_ = 0;
};

/// A piece of a message: text or a number. Messages are handed over as lists of parts, so that a place that
/// reports costs a few stores and one call.
class MessagePart {
 public:
  MessagePart(std::string_view text) : text_(text.data() ? text.data() : ""), value_(text.size()) {}
  MessagePart(const char* text) : text_(text), value_(kUntilZero) {}
  MessagePart(uint64_t number) : value_(number) {}
  MessagePart(int64_t number) : text_(&kSigned), value_(static_cast<uint64_t>(number)) {}
  MessagePart(uint32_t number) : value_(number) {}
  MessagePart(int32_t number) : MessagePart(int64_t{number}) {}
  /// "kernel 'NAME'"
  MessagePart(const KernelMeta& kernel) : text_(&kKernel), value_(reinterpret_cast<uintptr_t>(&kernel)) {}

  void Write(TextWriter& writer) const;

 private:
  static constexpr char kSigned = 0, kKernel = 0;
  static constexpr uint64_t kUntilZero = UINT64_MAX;
  const char* text_ =
      nullptr;      ///< null: value_ is an unsigned number; &kSigned: a signed one; &kKernel: an address
  uint64_t value_;  ///< of a text: how long it is, where it does not end at its zero
};
using Message = std::span<const MessagePart>;

/// Sets `error` (which may be null) unless it holds an earlier one, and returns false.
bool FailWith(Error* error, Code code, Rule rule, Message message);

/// The same with the parts one after the other: `return Fail(error, code, rule, "section ", number, " is
/// damaged")`.
template <class... Parts>
ADC_ALWAYS_INLINE bool Fail(Error* error, Code code, Rule rule, const Parts&... parts) {
  const MessagePart list[] = {MessagePart(parts)...};
  return FailWith(error, code, rule, list);
}

}  // namespace adc::artifact
