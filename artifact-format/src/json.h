#pragma once
// Canonical JSON, written and read. Canonical means: no white space, keys ascending by byte, integers alone
// (no fraction, no exponent, no leading zero, no "-0"), strings in UTF-8 with the shortest escapes and only
// for `"`, `\` and control characters. So there is one text per content, and a duplicate key cannot hide.
//
// Both sides are driven by one description of the fields (metadata_fields.h): they have the same calls, the
// writer takes values and the reader fills them.

#include <cstdint>
#include <string_view>

#include "artifact/error.h"
#include "artifact/memory.h"

namespace adc::artifact {

/// Deepest nesting of arrays and objects that a reader accepts.
inline constexpr uint32_t kMaxJsonDepth = 32;

/// Appends canonical JSON to a string. Keys must be given in ascending order. Refused memory shows in ok().
class JsonWriter {
 public:
  explicit JsonWriter(String* text) : text_(text) {}

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  void Key(std::string_view key);
  void Int(int64_t value);
  void Bool(bool value);
  void Str(std::string_view value);
  bool ok() const { return ok_; }

 private:
  void Open(char bracket);
  void Close(char bracket);
  void Separate();
  void Put(std::string_view part) { ok_ = text_->TryAppend(part) && ok_; }
  void Quote(std::string_view value);

  String* text_;
  bool first_ = true;
  bool ok_ = true;
};

/// Reads canonical JSON front to back. The first mistake is stored in `error` with its offset, and every
/// later call returns false.
class JsonReader {
 public:
  JsonReader(std::string_view text, Error* error) : text_(text), error_(error) {}

  bool BeginObject();
  /// True at the end of the object, which is then closed.
  bool EndsObject() { return Ends('}'); }
  /// Reads the next key of the object, which must be greater than the one before.
  bool AnyKey(std::string_view* key);
  bool BeginArray();
  bool EndsArray() { return Ends(']'); }
  /// Before each element of an array.
  bool Element();
  bool Int(int64_t* value);
  bool Bool(bool* value);
  bool Str(String* value);
  /// Skips a value of any kind.
  bool Skip();
  bool AtEnd() const { return position_ == text_.size(); }
  bool ok() const { return !failed_; }
  template <class... Parts>
  ADC_ALWAYS_INLINE bool Fault(const Parts&... parts) {
    const MessagePart list[] = {MessagePart(parts)...};
    return FaultWith(list);
  }
  bool FaultWith(Message message);
  bool NoMemory();

 private:
  bool Ends(char bracket);
  bool Open(char bracket);
  bool Expect(std::string_view word);
  char Peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
  /// One string, decoded piece by piece into `sink`, which may be null.
  bool ReadString(String* sink);

  std::string_view text_;
  Error* error_;
  size_t position_ = 0;
  uint32_t depth_ = 0;
  bool first_ = true;
  bool failed_ = false;
  std::string_view last_keys_[kMaxJsonDepth + 1];  ///< of the object open at each depth
};

/// Length of the UTF-8 sequence at the start of `text`, 0 where it is not valid UTF-8 (overlong forms,
/// surrogates and values past U+10FFFF are not).
size_t Utf8Length(std::string_view text);

/// Whether all of it is.
bool IsUtf8(std::string_view text);

}  // namespace adc::artifact
