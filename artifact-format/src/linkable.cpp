// A new table of symbols and a new table of names at the end of the file, and the headers of these two
// sections changed to say so. The names that were there stay in front of the new ones: sections are named by
// the same table. The symbol that is added comes last, so that no number of a symbol changes.

#include "artifact/linkable.h"

#include "artifact/views.h"
#include "bundle_layout.h"
#include "elf_symbols.h"

namespace adc::artifact {
namespace {

constexpr uint64_t kSectionBytes = 64, kSymbolBytes = 24, kLongestName = 4096;
constexpr uint32_t kSymbols = 2, kWideSectionNumbers = 18;
constexpr uint64_t kOffsetAt = 24, kSizeAt = 32;

class Renamer {
 public:
  Renamer(std::span<const uint8_t> object, std::string_view prefix, Vector<uint8_t>* written, Error* error)
      : object_(object), prefix_(prefix), written_(written), error_(error) {}

  bool Run(std::string_view alias, std::string_view alias_of) {
    ElfSymbols walk(object_);
    if (!walk.Walk(ElfSymbols::kLinking, kLongestName, [](const ElfSymbols::Symbol&) { return true; }))
      return Bad(walk.why());
    if (!FindTables()) return false;
    const uint8_t* symbols = object_.data() + Load<uint64_t>(Row(symbols_) + kOffsetAt);
    uint64_t count = Load<uint64_t>(Row(symbols_) + kSizeAt) / kSymbolBytes;
    for (uint64_t number = 0; number < count; ++number) {
      if (!AddSymbol(symbols + number * kSymbolBytes, alias_of)) return false;
    }
    if (aliased_ == nullptr) return Bad("has no function for the first entry");
    if (!Append(&table_, aliased_, kSymbolBytes) || !Name(&table_, "", alias)) return false;
    return Assemble();
  }

 private:
  bool Bad(std::string_view why) { return Fail(error_, Code::kMalformed, Rule::kH10, "the object ", why); }
  bool NoMemory() { return Fail(error_, Code::kOutOfMemory, Rule::kNone, "out of memory for the object"); }
  const uint8_t* Row(uint64_t section) const { return object_.data() + section; }

  /// ElfSymbols has seen that sections, symbols and names lie inside.
  bool FindTables() {
    uint64_t sections = Load<uint64_t>(object_.data() + 40);
    uint64_t count = Load<uint16_t>(object_.data() + 60);
    for (uint64_t number = 0; number < count; ++number) {
      uint64_t at = sections + number * kSectionBytes;
      uint32_t type = Load<uint32_t>(Row(at) + 4);
      if (type == kWideSectionNumbers) return Bad("has too many sections");
      if (type == kSymbols) symbols_ = at;
    }
    if (symbols_ == 0) return Bad("has no symbols");
    names_ = sections + Load<uint32_t>(Row(symbols_) + 40) * kSectionBytes;
    const uint8_t* text = object_.data() + Load<uint64_t>(Row(names_) + kOffsetAt);
    uint64_t size = Load<uint64_t>(Row(names_) + kSizeAt);
    old_names_ = {reinterpret_cast<const char*>(text), size};
    constexpr uint8_t kEnd = 0;
    return Append(&new_names_, text, size) && Append(&new_names_, &kEnd, 1);
  }

  bool Append(Vector<uint8_t>* to, const void* bytes, uint64_t size) {
    uint64_t before = to->size();
    // Names may overlap in the file, so that all of them are more than its bytes.
    if (before + size > object_.size() * 16 + (uint64_t{1} << 20)) return Bad("has names that are too long");
    if (!to->TryResize(before + size)) return NoMemory();
    if (size > 0) std::memcpy(to->data() + before, bytes, size);
    return true;
  }

  /// The name of the last symbol of `table`.
  bool Name(Vector<uint8_t>* table, std::string_view prefix, std::string_view name) {
    Store<uint32_t>(table->data() + table->size() - kSymbolBytes, static_cast<uint32_t>(new_names_.size()));
    constexpr uint8_t kEnd = 0;
    return Append(&new_names_, prefix.data(), prefix.size()) &&
           Append(&new_names_, name.data(), name.size()) && Append(&new_names_, &kEnd, 1);
  }

  bool AddSymbol(const uint8_t* symbol, std::string_view alias_of) {
    if (!Append(&table_, symbol, kSymbolBytes)) return false;
    bool is_local = symbol[4] >> 4 == 0, is_defined = Load<uint16_t>(symbol + 6) != 0;
    uint64_t begin = Load<uint32_t>(symbol);
    if (is_local || !is_defined) return true;
    std::string_view name = Piece(old_names_, begin, kLongestName);
    size_t end = name.find('\0');
    if (end == std::string_view::npos) return Bad("has names that are too long");
    name = Piece(name, 0, end);
    if (name == alias_of) aliased_ = symbol;
    return Name(&table_, prefix_, name);
  }

  bool Assemble() {
    uint64_t table_at = AlignUp(object_.size(), 8), names_at = table_at + table_.size();
    if (names_at + new_names_.size() > UINT32_MAX) return Bad("is too large");
    if (!written_->TryResize(names_at + new_names_.size())) return NoMemory();
    uint8_t* bytes = written_->data();
    std::memset(bytes, 0, written_->size());
    std::memcpy(bytes, object_.data(), object_.size());
    std::memcpy(bytes + table_at, table_.data(), table_.size());
    std::memcpy(bytes + names_at, new_names_.data(), new_names_.size());
    Store<uint64_t>(bytes + symbols_ + kOffsetAt, table_at);
    Store<uint64_t>(bytes + symbols_ + kSizeAt, table_.size());
    Store<uint64_t>(bytes + names_ + kOffsetAt, names_at);
    Store<uint64_t>(bytes + names_ + kSizeAt, new_names_.size());
    return true;
  }

  std::span<const uint8_t> object_;
  std::string_view prefix_, old_names_;
  Vector<uint8_t>* written_;
  Error* error_;
  uint64_t symbols_ = 0, names_ = 0;  ///< rows of the two sections
  const uint8_t* aliased_ = nullptr;
  Vector<uint8_t> table_, new_names_;
};

}  // namespace

bool WithPrefix(std::span<const uint8_t> object, std::string_view prefix, std::string_view alias,
                std::string_view alias_of, Vector<uint8_t>* written, Error* error) {
  return Renamer(object, prefix, written, error).Run(alias, alias_of);
}

}  // namespace adc::artifact
