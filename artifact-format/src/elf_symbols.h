#pragma once
// The symbols of an ELF file that may be hostile.

#include <span>
#include <string_view>

#include "artifact/error.h"

namespace adc::artifact {

/// ELF64, little-endian, version 1. The caller has read the header, since it knows type and machine.
class ElfSymbols {
 public:
  static constexpr uint64_t kHeaderBytes = 64;
  /// Kinds of sections that are tables of symbols.
  enum Table : uint32_t { kLinking = 2, kDynamic = 11 };

  struct Symbol {
    std::string_view name;
    uint64_t at = 0;  ///< where its row lies in the file
    uint64_t size = 0;
    bool is_code = false;  ///< a function that others see, in a section of code that has its first byte
  };

  explicit ElfSymbols(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  /// Calls `see(Symbol)` for each symbol of the one table of this kind whose name is at most `longest` bytes;
  /// the walk ends when `see` returns false. False with `why` and `where` where headers, sections, symbols or
  /// names do not lie inside the bytes, or where there are two such tables.
  template <class See>
  bool Walk(Table kind, size_t longest, const See& see) {
    if (!Open(kind)) return false;
    Symbol symbol;
    while (Next(longest, &symbol)) {
      if (!symbol.name.empty() && !see(symbol)) return true;
    }
    return why_.empty();
  }
  std::string_view why() const { return why_; }
  uint64_t where() const { return where_; }

 private:
  bool Bad(uint64_t at, std::string_view why);
  bool Inside(uint64_t offset, uint64_t length) const;
  bool Open(Table kind);
  bool OpenTable(uint64_t section);
  bool Next(size_t longest, Symbol* symbol);
  bool IsCode(uint64_t row) const;

  std::span<const uint8_t> bytes_;
  std::string_view names_, why_;
  uint64_t where_ = 0, sections_ = 0, section_count_ = 0, at_ = 0, left_ = 0;
};

}  // namespace adc::artifact
