// A .npy file is the magic "\x93NUMPY", a version, the length of a header, the header (a Python literal of a
// dict with 'descr', 'fortran_order' and 'shape', padded with blanks and ended by a newline), and the
// elements. The header is read by a small scanner for exactly such dicts; nothing in it is trusted: every
// count is checked against the bytes that are there before memory is asked for.

#include "npy/npy.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "support/check.h"

namespace adc::tool {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMaxAxes = 32;

struct TypeRow {
  const char* name;
  const char* code;  ///< NumPy's kind and byte size
  uint32_t bytes;
};
constexpr TypeRow kTypes[] = {
    {"i1", "b1", 1},  {"i8", "i1", 1},  {"i16", "i2", 2}, {"i32", "i4", 4},
    {"i64", "i8", 8}, {"u8", "u1", 1},  {"u16", "u2", 2}, {"u32", "u4", 4},
    {"u64", "u8", 8}, {"f16", "f2", 2}, {"f32", "f4", 4}, {"f64", "f8", 8},
};

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> extents;
};

/// Scans one dict literal. Each method leaves the place after what it took, or reports failure.
class HeaderScanner {
 public:
  explicit HeaderScanner(std::string_view text) : text_(text) {}

  std::string Scan(Header* header) {
    if (!Take('{')) return "the header is not a dict";
    bool descr = false, order = false, shape = false;
    while (!Take('}')) {
      std::string key;
      if (!Text(&key) || !Take(':')) return "the header has a malformed entry";
      if (key == "descr") {
        if (!Text(&header->descr))
          return "the header's 'descr' is not a simple type (records are not supported)";
        descr = true;
      } else if (key == "fortran_order") {
        if (Word("True"))
          header->fortran_order = true;
        else if (!Word("False"))
          return "the header's 'fortran_order' is neither True nor False";
        order = true;
      } else if (key == "shape") {
        if (!Shape(&header->extents)) return "the header's 'shape' is not a tuple of sizes";
        shape = true;
      } else {
        return "the header has an unknown entry";
      }
      if (!Take(',') && !Peek('}')) return "the header has a malformed entry";
    }
    if (!descr || !order || !shape) return "the header lacks 'descr', 'fortran_order' or 'shape'";
    SkipBlanks();
    return at_ == text_.size() ? std::string() : "the header has text after its dict";
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool Peek(char c) {
    SkipBlanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool Take(char c) {
    if (!Peek(c)) return false;
    ++at_;
    return true;
  }
  bool Word(std::string_view word) {
    SkipBlanks();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool Text(std::string* text) {
    SkipBlanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return false;
    size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return false;
    *text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }
  bool Size(int64_t* size) {
    SkipBlanks();
    size_t first = at_;
    int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      int digit = text_[at_] - '0';
      if (value > (std::numeric_limits<int64_t>::max() - digit) / 10) return false;
      value = value * 10 + digit;
    }
    *size = value;
    return at_ > first;
  }
  bool Shape(std::vector<int64_t>* extents) {
    if (!Take('(')) return false;
    while (!Take(')')) {
      int64_t size = 0;
      if (extents->size() == kMaxAxes || !Size(&size)) return false;
      extents->push_back(size);
      if (!Take(',') && !Peek(')')) return false;
    }
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

/// Number of elements; false when it does not fit.
bool CountOf(const std::vector<int64_t>& extents, uint64_t* count) {
  bool empty = std::find(extents.begin(), extents.end(), 0) != extents.end();
  *count = empty ? 0 : 1;
  for (int64_t extent : extents) {
    if (!empty && __builtin_mul_overflow(*count, static_cast<uint64_t>(extent), count)) return false;
  }
  return true;
}

/// The elements of a Fortran-ordered array in C order.
std::string Transposed(const std::string& bytes, const std::vector<int64_t>& extents, uint32_t size) {
  std::string result(bytes.size(), '\0');
  std::vector<int64_t> index(extents.size(), 0);
  std::vector<uint64_t> stride(extents.size(), 1);
  for (size_t axis = 1; axis < extents.size(); ++axis)
    stride[axis] = stride[axis - 1] * static_cast<uint64_t>(extents[axis - 1]);
  uint64_t from = 0;
  for (size_t to = 0; to < bytes.size(); to += size) {
    std::memcpy(&result[to], &bytes[from * size], size);
    for (size_t axis = extents.size(); axis-- > 0;) {
      from += stride[axis];
      if (++index[axis] < extents[axis]) break;
      from -= stride[axis] * static_cast<uint64_t>(extents[axis]);
      index[axis] = 0;
    }
  }
  return result;
}

/// The bytes before the elements.
struct Begin {
  Header header;
  const TypeRow* type = nullptr;
  size_t data_at = 0;  ///< where the elements begin
  uint64_t count = 0, size = 0;
};

/// Reads what stands before the elements; says what is wrong with it. `data_at` is filled as soon as it is
/// known.
std::string ParseBegin(std::string_view file, Begin* begin) {
  if (file.substr(0, kMagic.size()) != kMagic) return "not a .npy file";
  auto byte = [&](size_t at) { return static_cast<uint32_t>(static_cast<unsigned char>(file[at])); };
  if (file.size() < 10) return "the file ends inside its header";
  uint32_t version = byte(6);
  if (version < 1 || version > 3)
    return "a .npy file of version " + std::to_string(version) + "; 1 to 3 can be read";
  size_t start = version == 1 ? 10 : 12;
  if (file.size() < start) return "the file ends inside its header";
  size_t length = byte(8) | (byte(9) << 8);
  if (version > 1) length |= (byte(10) << 16) | (byte(11) << 24);
  begin->data_at = start + length;
  if (length > file.size() - start) return "the file ends inside its header";

  Header& header = begin->header;
  if (std::string wrong = HeaderScanner(file.substr(start, length)).Scan(&header); !wrong.empty())
    return wrong;
  if (header.descr.size() < 3 || std::string_view("<>|=").find(header.descr[0]) == std::string_view::npos)
    return "elements of type '" + header.descr.substr(0, 16) + "' cannot be read";
  begin->type = std::find_if(std::begin(kTypes), std::end(kTypes),
                             [&](const TypeRow& r) { return header.descr.substr(1) == r.code; });
  if (begin->type == std::end(kTypes))
    return "elements of type '" + header.descr.substr(0, 16) + "' cannot be read";
  uint64_t bytes = begin->type->bytes;
  if (!CountOf(header.extents, &begin->count) || __builtin_mul_overflow(begin->count, bytes, &begin->size))
    return "the header says more elements than any file holds";
  return {};
}

}  // namespace

uint64_t NpyWanted(std::string_view begin) {
  Begin read;
  // A header that is not all there wants as much as it says that it has.
  if (!ParseBegin(begin, &read).empty()) return std::max<uint64_t>(begin.size(), read.data_at);
  uint64_t end = 0;
  bool fits = !__builtin_add_overflow(read.size, uint64_t{read.data_at} + 1, &end);
  return fits ? end : UINT64_MAX;
}

std::string ParseNpy(std::string_view file, NpyArray* array) {
  Begin begin;
  if (std::string wrong = ParseBegin(file, &begin); !wrong.empty()) return wrong;
  const Header& header = begin.header;
  const TypeRow* row = begin.type;
  uint64_t size = begin.size;
  std::string_view data = file.substr(begin.data_at);
  if (size != data.size()) {
    return "the header says " + std::to_string(begin.count) + " elements of " + std::to_string(row->bytes) +
           " bytes, the file holds " +
           (size < data.size() ? "more" : std::to_string(data.size()) + " bytes of them");
  }
  array->type = row->name;
  array->extents = header.extents;
  array->bytes = data;
  if (header.descr[0] == '>' && row->bytes > 1) {
    for (size_t at = 0; at < size; at += row->bytes)
      std::reverse(&array->bytes[at], &array->bytes[at] + row->bytes);
  }
  if (header.fortran_order && header.extents.size() > 1 && begin.count > 0)
    array->bytes = Transposed(array->bytes, header.extents, row->bytes);
  if (array->type == "i1") {
    for (char& flag : array->bytes) flag = flag != 0 ? 1 : 0;
  }
  return {};
}

std::string NpyText(const NpyArray& array) {
  const TypeRow* row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                    [&](const TypeRow& r) { return array.type == r.name; });
  ADC_CHECK(row != std::end(kTypes), "an array file of an unknown element type");
  uint64_t count = 0;
  ADC_CHECK(CountOf(array.extents, &count) && count * row->bytes == array.bytes.size(),
            "an array file whose bytes do not fit its extents");
  std::string header = std::string("{'descr': '") + (row->bytes == 1 ? '|' : '<') + row->code +
                       "', 'fortran_order': False, 'shape': (";
  for (size_t axis = 0; axis < array.extents.size(); ++axis)
    header += std::to_string(array.extents[axis]) + (axis + 1 < array.extents.size() ? ", "
                                                     : array.extents.size() == 1     ? ","
                                                                                     : "");
  header += "), }";
  // The elements start at a multiple of 64 bytes.
  size_t start = header.size() + 1 + 10 <= 65535 + 10 ? 10 : 12;
  size_t padded = (start + header.size() + 1 + 63) / 64 * 64;
  header.append(padded - start - header.size() - 1, ' ');
  header += '\n';
  std::string file(kMagic);
  file += static_cast<char>(start == 10 ? 1 : 2);
  file += '\0';
  for (size_t n = 0; n < start - 8; ++n) file += static_cast<char>((header.size() >> (8 * n)) & 0xFF);
  return file + header + array.bytes;
}

}  // namespace adc::tool
