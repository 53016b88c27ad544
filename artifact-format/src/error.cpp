#include "artifact/error.h"

#include "artifact/metadata.h"
#include "names.h"

namespace adc::artifact {

std::string_view Error::message() const {
  size_t size = 0;
  while (size < sizeof text && text[size] != 0) ++size;
  return {text, size};
}

TextWriter& TextWriter::operator<<(std::string_view text) {
  if (capacity_ == 0) return *this;
  size_t left = capacity_ - 1 - size_;
  size_t count = text.size() < left ? text.size() : left;
  // A cut inside a UTF-8 sequence would leave half a character: step back to its first byte.
  if (count < text.size()) {
    while (count > 0 && (static_cast<unsigned char>(text[count]) & 0xC0) == 0x80) --count;
  }
  // A message quotes names and texts of bundles, and hosts print it: none of them drives a terminal.
  for (size_t index = 0; index < count; ++index) {
    size_t hidden = HiddenLength(text, index);
    buffer_[size_++] = hidden == 0 ? text[index] : '?';
    if (hidden > 1) index += hidden - 1;
  }
  if (count < text.size()) capacity_ = size_ + 1;
  buffer_[size_] = 0;
  return *this;
}

TextWriter& TextWriter::operator<<(uint64_t number) {
  char digits[20];
  size_t begin = sizeof digits;
  do {
    digits[--begin] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return *this << std::string_view(digits + begin, sizeof digits - begin);
}

TextWriter& TextWriter::operator<<(int64_t number) {
  if (number >= 0) return *this << static_cast<uint64_t>(number);
  return *this << "-" << (uint64_t{0} - static_cast<uint64_t>(number));
}

TextWriter& TextWriter::Hex(uint64_t number) {
  char digits[18] = {'0', 'x'};
  for (int index = 0; index < 16; ++index) {
    digits[2 + index] = "0123456789abcdef"[(number >> (60 - 4 * index)) & 15];
  }
  return *this << std::string_view(digits, sizeof digits);
}

void MessagePart::Write(TextWriter& writer) const {
  if (!text_) {
    writer << value_;
  } else if (text_ == &kSigned) {
    writer << static_cast<int64_t>(value_);
  } else if (text_ == &kKernel) {
    writer << "kernel '" << reinterpret_cast<const KernelMeta*>(static_cast<uintptr_t>(value_))->name.view()
           << "'";
  } else if (value_ == kUntilZero) {
    writer << text_;
  } else {
    writer << std::string_view(text_, value_);
  }
}

bool FailWith(Error* error, Code code, Rule rule, Message message) {
  if (error && error->code == Code::kOk) {
    error->code = code;
    error->rule = rule;
    TextWriter writer(error->text, sizeof error->text);
    for (const MessagePart& part : message) part.Write(writer);
  }
  return false;
}

}  // namespace adc::artifact
