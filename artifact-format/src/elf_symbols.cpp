// Linkers and drivers read headers, sections and symbols, so each of these must lie inside the bytes.

#include "elf_symbols.h"

#include "artifact/views.h"
#include "bundle_layout.h"

namespace adc::artifact {
namespace {

constexpr uint16_t kRelocatable = 1, kReservedSections = 0xFF00;
constexpr uint32_t kStringTable = 3;
constexpr uint64_t kSectionBytes = 64, kSymbolBytes = 24, kHoldsCode = 4;
constexpr uint8_t kFunction = 2;

}  // namespace

bool ElfSymbols::Bad(uint64_t at, std::string_view why) {
  where_ = at;
  why_ = why;
  return false;
}

bool ElfSymbols::Inside(uint64_t offset, uint64_t length) const {
  return offset <= bytes_.size() && length <= bytes_.size() - offset;
}

bool ElfSymbols::Open(Table kind) {
  if (bytes_.size() < kHeaderBytes) return Bad(0, "is shorter than its header");
  sections_ = Load<uint64_t>(bytes_.data() + 40);
  section_count_ = Load<uint16_t>(bytes_.data() + 60);
  if (Load<uint16_t>(bytes_.data() + 58) != kSectionBytes ||
      !Inside(sections_, section_count_ * kSectionBytes)) {
    return Bad(40, "has sections outside of its bytes");
  }
  bool has_symbols = false;
  for (uint64_t number = 0; number < section_count_; ++number) {
    uint64_t at = sections_ + number * kSectionBytes;
    if (Load<uint32_t>(bytes_.data() + at + 4) != kind) continue;
    // ELF allows one table, and each further one would have all symbols looked at again.
    if (has_symbols) return Bad(at, "has two tables of symbols");
    has_symbols = true;
    if (!OpenTable(at)) return false;
  }
  return true;
}

bool ElfSymbols::OpenTable(uint64_t section) {
  const uint8_t* row = bytes_.data() + section;
  at_ = Load<uint64_t>(row + 24);
  left_ = Load<uint64_t>(row + 32);
  uint64_t link = Load<uint32_t>(row + 40);
  if (!Inside(at_, left_) || link >= section_count_) return Bad(section, "has symbols outside of its bytes");
  uint64_t table = sections_ + link * kSectionBytes;
  uint64_t text = Load<uint64_t>(bytes_.data() + table + 24),
           size = Load<uint64_t>(bytes_.data() + table + 32);
  if (Load<uint32_t>(bytes_.data() + table + 4) != kStringTable || !Inside(text, size)) {
    return Bad(table, "has names outside of its bytes");
  }
  names_ = {reinterpret_cast<const char*>(bytes_.data()) + text, size};
  return true;
}

// A symbol without a name that counts, such as one that is too long, comes with an empty name.
bool ElfSymbols::Next(size_t longest, Symbol* symbol) {
  if (left_ < kSymbolBytes) return false;
  const uint8_t* row = bytes_.data() + at_;
  uint64_t begin = Load<uint32_t>(row);
  if (begin >= names_.size()) return Bad(at_, "has a symbol whose name lies outside of its bytes");
  // Symbols may overlap in the table of names: a name that is longer than the caller asks about is not read
  // to its end.
  std::string_view name = Piece(names_, begin, longest + 1);
  size_t end = name.find('\0');
  symbol->name = end == std::string_view::npos ? std::string_view() : Piece(name, 0, end);
  symbol->at = at_;
  symbol->size = Load<uint64_t>(row + 16);
  symbol->is_code = IsCode(at_);
  at_ += kSymbolBytes;
  left_ -= kSymbolBytes;
  return true;
}

bool ElfSymbols::IsCode(uint64_t row) const {
  uint8_t info = bytes_[row + 4];
  uint16_t section = Load<uint16_t>(bytes_.data() + row + 6);
  bool is_seen = info >> 4 != 0;
  if ((info & 15) != kFunction || !is_seen || section == 0 || section >= kReservedSections ||
      section >= section_count_) {
    return false;
  }
  const uint8_t* holder = bytes_.data() + sections_ + section * kSectionBytes;
  if ((Load<uint64_t>(holder + 8) & kHoldsCode) == 0) return false;
  bool is_relocatable = Load<uint16_t>(bytes_.data() + 16) == kRelocatable;
  uint64_t value = Load<uint64_t>(bytes_.data() + row + 8);
  uint64_t begin = is_relocatable ? 0 : Load<uint64_t>(holder + 16), size = Load<uint64_t>(holder + 32);
  return value >= begin && value - begin < size;
}

}  // namespace adc::artifact
