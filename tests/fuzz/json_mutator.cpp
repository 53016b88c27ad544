// The mutator of targets whose input is canonical JSON: values become others of the same kind, elements of
// lists stand twice or not at all, members go away, numbers become ones that sizes trip over. What comes out
// is still canonical as a rule, so that it gets past the reader of JSON.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* bytes, size_t size, size_t most);

namespace {

constexpr const char* kNumbers[] = {"0",
                                    "1",
                                    "2",
                                    "3",
                                    "7",
                                    "64",
                                    "255",
                                    "65535",
                                    "4294967295",
                                    "2147483647",
                                    "9223372036854775807",
                                    "-1",
                                    "-9223372036854775808"};

/// A value's text; of a member, `name` is where its name begins.
struct Value {
  size_t begin, end, name;
  bool in_list;
  char kind;  // of its first character, '0' for numbers and words
};

/// All values of a text, as far as brackets and quotes say.
std::vector<Value> ValuesOf(const std::string& text) {
  std::vector<Value> values;
  std::vector<size_t> open;  // their positions in `values`
  size_t name = std::string::npos;
  for (size_t at = 0; at < text.size();) {
    char c = text[at];
    if (c == ',' || c == ':' || c == ' ' || c == '\n') {
      ++at;
      continue;
    }
    if (c == '}' || c == ']') {
      ++at;
      if (open.empty()) continue;
      values[open.back()].end = at;
      open.pop_back();
      continue;
    }
    size_t end = at + 1;
    if (c == '"') {
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
      if (end < text.size() && text[end] == ':') {
        name = at;
        at = end;
        continue;
      }
    } else if (c != '{' && c != '[') {
      while (end < text.size() && text.find_first_of(",:]}\"", end) != end) ++end;
      c = '0';
    }
    bool in_list = !open.empty() && values[open.back()].kind == '[';
    values.push_back({at, end, in_list ? at : name, in_list, c});
    name = std::string::npos;
    if (c == '{' || c == '[') open.push_back(values.size() - 1);
    at = end;
  }
  for (size_t left : open) values[left].end = text.size();
  return values;
}

class Mutation {
 public:
  Mutation(std::string text, unsigned int seed) : text_(std::move(text)), random_(seed) {}

  std::string Run() {
    for (size_t count = 1 + Below(3); count > 0; --count) Change();
    return std::move(text_);
  }

 private:
  size_t Below(size_t count) { return count == 0 ? 0 : random_() % count; }

  void Change() {
    std::vector<Value> values = ValuesOf(text_);
    if (values.size() < 2) return;
    Value chosen = values[1 + Below(values.size() - 1)];
    std::string own = text_.substr(chosen.begin, chosen.end - chosen.begin);
    switch (Below(6)) {
      case 0:
        if (chosen.kind == '0') Replace(chosen, kNumbers[Below(std::size(kNumbers))]);
        return;
      case 1:
        if (chosen.in_list) text_.insert(chosen.end, "," + own);
        return;
      case 2:
        TakeAway(chosen);
        return;
      default:
        for (int attempt = 0; attempt < 16; ++attempt) {
          const Value& other = values[Below(values.size())];
          std::string candidate = text_.substr(other.begin, other.end - other.begin);
          if (other.kind != chosen.kind || candidate == own || candidate.size() > 4096) continue;
          Replace(chosen, candidate);
          return;
        }
        return;
    }
  }

  void Replace(const Value& value, const std::string& text) {
    text_.replace(value.begin, value.end - value.begin, text);
  }

  /// With its name, and the comma before or behind it.
  void TakeAway(const Value& value) {
    if (value.name == std::string::npos) return;
    size_t begin = value.name, end = value.end;
    if (end < text_.size() && text_[end] == ',') {
      ++end;
    } else if (begin > 0 && text_[begin - 1] == ',') {
      --begin;
    }
    text_.erase(begin, end - begin);
  }

  std::string text_;
  std::mt19937 random_;
};

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t most, unsigned int seed) {
  if (seed % 4 == 0 || size == 0) return LLVMFuzzerMutate(bytes, size, most);
  std::string changed = Mutation({reinterpret_cast<const char*>(bytes), size}, seed / 4).Run();
  size = std::min(changed.size(), most);
  std::memcpy(bytes, changed.data(), size);
  return size;
}
