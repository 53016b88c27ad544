#include "json.h"

#include "artifact/views.h"

namespace adc::artifact {

size_t Utf8Length(std::string_view text) {
  if (text.empty()) return 0;
  auto byte = [&](size_t index) { return static_cast<uint32_t>(static_cast<unsigned char>(text[index])); };
  uint32_t lead = byte(0);
  if (lead < 0x80) return 1;
  size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  uint32_t code = lead & (0x7Fu >> length);
  for (size_t index = 1; index < length; ++index) {
    if ((byte(index) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(index) & 0x3F);
  }
  if (length == 3 && (code < 0x800 || (code >= 0xD800 && code <= 0xDFFF))) return 0;
  if (length == 4 && (code < 0x10000 || code > 0x10FFFF)) return 0;
  return length;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    size_t length = static_cast<unsigned char>(text[0]) < 0x80 ? 1 : Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void JsonWriter::Separate() {
  if (!first_) Put(",");
  first_ = false;
}

void JsonWriter::Open(char bracket) {
  Separate();
  Put(std::string_view(&bracket, 1));
  first_ = true;
}

void JsonWriter::Close(char bracket) {
  Put(std::string_view(&bracket, 1));
  first_ = false;
}

void JsonWriter::Key(std::string_view key) {
  Separate();
  Quote(key);
  Put(":");
  first_ = true;  // the value follows without a comma
}

void JsonWriter::Int(int64_t value) {
  Separate();
  char digits[24];
  TextWriter writer(digits, sizeof digits);
  writer << value;
  Put(digits);
}

void JsonWriter::Bool(bool value) {
  Separate();
  Put(value ? "true" : "false");
}

void JsonWriter::Str(std::string_view value) {
  Separate();
  Quote(value);
}

void JsonWriter::Quote(std::string_view value) {
  Put("\"");
  size_t plain = 0;
  for (size_t index = 0; index < value.size(); ++index) {
    unsigned char letter = static_cast<unsigned char>(value[index]);
    if (letter >= 0x20 && letter != '"' && letter != '\\') continue;
    Put({value.data() + plain, index - plain});
    plain = index + 1;
    char escape[7] = "\\";
    switch (letter) {
      case '"':
      case '\\':
        escape[1] = static_cast<char>(letter);
        break;
      case '\b':
        escape[1] = 'b';
        break;
      case '\f':
        escape[1] = 'f';
        break;
      case '\n':
        escape[1] = 'n';
        break;
      case '\r':
        escape[1] = 'r';
        break;
      case '\t':
        escape[1] = 't';
        break;
      default:
        escape[1] = 'u';
        escape[2] = escape[3] = '0';
        escape[4] = static_cast<char>('0' + (letter >> 4));
        escape[5] = "0123456789abcdef"[letter & 15];
        break;
    }
    Put(escape);
  }
  Put({value.data() + plain, value.size() - plain});
  Put("\"");
}

bool JsonReader::FaultWith(Message message) {
  if (failed_) return false;
  failed_ = true;
  if (error_) error_->offset = position_;
  return FailWith(error_, Code::kMalformed, Rule::kH8, message);
}

bool JsonReader::NoMemory() {
  failed_ = true;
  return Fail(error_, Code::kOutOfMemory, Rule::kNone, "out of memory for the metadata");
}

bool JsonReader::Open(char bracket) {
  if (failed_) return false;
  if (Peek() != bracket) return Fault("expected '", std::string_view(&bracket, 1), "'");
  if (++depth_ > kMaxJsonDepth) return Fault("nested deeper than ", kMaxJsonDepth);
  ++position_;
  first_ = true;
  last_keys_[depth_] = {};
  return true;
}

bool JsonReader::BeginObject() {
  return Open('{');
}
bool JsonReader::BeginArray() {
  return Open('[');
}

bool JsonReader::Ends(char bracket) {
  if (failed_ || Peek() != bracket) return false;
  ++position_;
  --depth_;
  first_ = false;
  return true;
}

bool JsonReader::Element() {
  if (failed_) return false;
  if (!first_) {
    if (Peek() != ',') return Fault("expected ',' or the end");
    ++position_;
  }
  first_ = false;
  return true;
}

bool JsonReader::AnyKey(std::string_view* key) {
  if (!Element()) return false;
  size_t begin = position_ + 1;
  if (!ReadString(nullptr)) return false;
  *key = {text_.data() + begin, position_ - 1 - begin};
  std::string_view& last = last_keys_[depth_];
  int order = last.data() ? key->compare(last) : 1;
  if (order == 0) return Fault("key '", *key, "' stands twice");
  if (order < 0) return Fault("key '", *key, "' is not in ascending order");
  last = *key;
  if (Peek() != ':') return Fault("expected ':'");
  ++position_;
  return true;
}

bool JsonReader::Expect(std::string_view word) {
  std::string_view rest = Piece(text_, position_);
  if (!BeginsWith(rest, word)) return Fault("expected ", word);
  position_ += word.size();
  return true;
}

bool JsonReader::Int(int64_t* value) {
  if (failed_) return false;
  bool negative = Peek() == '-';
  if (negative) ++position_;
  size_t begin = position_;
  uint64_t magnitude = 0;
  while (Peek() >= '0' && Peek() <= '9') {
    uint64_t digit = static_cast<uint64_t>(Peek() - '0');
    if (MultiplyOverflows(magnitude, uint64_t{10}, &magnitude) ||
        AddOverflows(magnitude, digit, &magnitude)) {
      return Fault("integer out of range");
    }
    ++position_;
  }
  size_t digits = position_ - begin;
  if (digits == 0) return Fault("expected an integer");
  if (text_[begin] == '0' && (digits > 1 || negative)) return Fault("integer is not in its shortest form");
  if (Peek() == '.' || Peek() == 'e' || Peek() == 'E') return Fault("numbers are integers here");
  uint64_t limit = static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0);
  if (magnitude > limit) return Fault("integer out of range");
  *value = static_cast<int64_t>(negative ? uint64_t{0} - magnitude : magnitude);
  return true;
}

bool JsonReader::Bool(bool* value) {
  if (failed_) return false;
  *value = Peek() == 't';
  return Expect(*value ? "true" : "false");
}

bool JsonReader::Str(String* value) {
  value->clear();
  return ReadString(value);
}

bool JsonReader::ReadString(String* sink) {
  if (failed_) return false;
  if (Peek() != '"') return Fault("expected a string");
  ++position_;
  size_t plain = position_;
  auto flush = [&] {
    if (sink && !sink->TryAppend({text_.data() + plain, position_ - plain})) return NoMemory();
    return true;
  };
  while (true) {
    if (position_ >= text_.size()) return Fault("string without end");
    unsigned char letter = static_cast<unsigned char>(text_[position_]);
    if (letter == '"') {
      if (!flush()) return false;
      ++position_;
      return true;
    }
    if (letter < 0x20) return Fault("control character in a string");
    if (letter < 0x80 && letter != '\\') {
      ++position_;
      continue;
    }
    if (letter != '\\') {
      size_t length = Utf8Length(Piece(text_, position_));
      if (length == 0) return Fault("string is not UTF-8");
      position_ += length;
      continue;
    }
    if (!flush()) return false;
    ++position_;
    char decoded = 0;
    constexpr std::string_view kShort = "\"\\bfnrt", kMeaning = "\"\\\b\f\n\r\t";
    size_t which = 0;
    while (which < kShort.size() && kShort[which] != Peek()) ++which;
    if (which < kShort.size()) {
      decoded = kMeaning[which];
      ++position_;
    } else {
      std::string_view rest = Piece(text_, position_);
      auto digit = [](char text) {
        return text >= '0' && text <= '9' ? text - '0' : text >= 'a' && text <= 'f' ? text - 'a' + 10 : -1;
      };
      if (rest.size() < 5 || !BeginsWith(rest, "u00") || (rest[3] != '0' && rest[3] != '1') ||
          digit(rest[4]) < 0) {
        return Fault("escape is not canonical");
      }
      decoded = static_cast<char>((rest[3] - '0') * 16 + digit(rest[4]));
      for (char shorter : std::string_view("\b\f\n\r\t")) {
        if (decoded == shorter) return Fault("escape is not canonical");
      }
      position_ += 5;
    }
    if (sink && !sink->TryAppend({&decoded, 1})) return NoMemory();
    plain = position_;
  }
}

bool JsonReader::Skip() {
  if (failed_) return false;
  switch (Peek()) {
    case '"':
      return ReadString(nullptr);
    case 't':
    case 'f': {
      bool ignored = false;
      return Bool(&ignored);
    }
    case '[':
      if (!BeginArray()) return false;
      while (!EndsArray()) {
        if (!Element() || !Skip()) return false;
      }
      return true;
    case '{': {
      if (!BeginObject()) return false;
      std::string_view key;
      while (!EndsObject()) {
        if (!AnyKey(&key) || !Skip()) return false;
      }
      return true;
    }
    default: {
      int64_t ignored = 0;
      return Int(&ignored);
    }
  }
}

}  // namespace adc::artifact
