// An AMD code object: an ELF shared object whose dynamic symbols name a kernel descriptor of 64 bytes for
// each kernel. The driver reads headers, sections and symbols, so each of these must lie inside the bytes.

#include "artifact/views.h"
#include "bundle_layout.h"
#include "payload_forms.h"

namespace adc::artifact {
namespace {

constexpr uint16_t kElfShared = 3, kElfAmdgpu = 224;
constexpr uint8_t kAbiHsa = 64;
constexpr uint32_t kDynamicSymbols = 11, kStringTable = 3;
constexpr uint64_t kHeaderBytes = 64, kSectionBytes = 64, kSymbolBytes = 24, kDescriptorBytes = 64;
constexpr std::string_view kDescriptorSuffix = ".kd";

struct Processor {
  std::string_view name;
  uint32_t machine;  ///< EF_AMDGPU_MACH_*, the low byte of e_flags
};
constexpr Processor kProcessors[] = {
    {"gfx1030", 0x36}, {"gfx1100", 0x41}, {"gfx1200", 0x48}, {"gfx90a", 0x3F}, {"gfx942", 0x4C}};

class HsacoReader {
 public:
  HsacoReader(std::span<const uint8_t> bytes, const TargetMeta& target, WantedNames* names, Error* error)
      : bytes_(bytes), target_(target), names_(names), error_(error) {}

  bool Run() {
    constexpr uint8_t kIdent[] = {0x7F, 'E', 'L', 'F', 2, 1, 1, kAbiHsa};
    if (bytes_.size() < kHeaderBytes || std::memcmp(bytes_.data(), kIdent, sizeof kIdent) != 0 ||
        At<uint16_t>(16) != kElfShared || At<uint16_t>(18) != kElfAmdgpu) {
      return Bad(0, "is no AMD code object");
    }
    for (const Processor& known : kProcessors) {
      if (target_.arch == known.name && (At<uint32_t>(48) & 0xFF) != known.machine) {
        return Bad(48, "is for another processor");
      }
    }
    sections_ = At<uint64_t>(40);
    section_count_ = At<uint16_t>(60);
    if (At<uint16_t>(58) != kSectionBytes || !Inside(sections_, section_count_ * kSectionBytes)) {
      return Bad(40, "has sections outside of its bytes");
    }
    for (uint64_t number = 0; number < section_count_; ++number) {
      uint64_t at = sections_ + number * kSectionBytes;
      if (At<uint32_t>(at + 4) != kDynamicSymbols) continue;
      // ELF allows one table, and each further one would have all symbols looked at again.
      if (std::exchange(has_symbols_, true)) return Bad(at, "has two tables of dynamic symbols");
      if (!Symbols(at)) return false;
    }
    return true;
  }

 private:
  template <class N>
  N At(uint64_t offset) const {
    return Load<N>(bytes_.data() + offset);
  }
  bool Inside(uint64_t offset, uint64_t length) const {
    return offset <= bytes_.size() && length <= bytes_.size() - offset;
  }
  bool Bad(uint64_t at, std::string_view why) {
    if (error_) error_->offset = at;
    return Fail(error_, Code::kMalformed, Rule::kH10, "code for target '", target_.name.view(), "' ", why);
  }

  bool Symbols(uint64_t section) {
    uint64_t at = At<uint64_t>(section + 24), size = At<uint64_t>(section + 32);
    uint64_t link = At<uint32_t>(section + 40);
    if (!Inside(at, size) || link >= section_count_) return Bad(section, "has symbols outside of its bytes");
    uint64_t table = sections_ + link * kSectionBytes;
    uint64_t text = At<uint64_t>(table + 24), text_size = At<uint64_t>(table + 32);
    if (At<uint32_t>(table + 4) != kStringTable || !Inside(text, text_size)) {
      return Bad(table, "has names outside of its bytes");
    }
    std::string_view names(reinterpret_cast<const char*>(bytes_.data()) + text, text_size);
    for (uint64_t symbol = at; size >= kSymbolBytes; symbol += kSymbolBytes, size -= kSymbolBytes) {
      uint64_t begin = At<uint32_t>(symbol);
      if (begin >= text_size) return Bad(symbol, "has a symbol whose name lies outside of its bytes");
      // Symbols may overlap in the table of names: what is longer than any entry point is not followed.
      std::string_view name = Piece(names, begin, names_->longest() + kDescriptorSuffix.size() + 1);
      size_t end = name.find('\0');
      if (end == std::string_view::npos) continue;
      name = Piece(name, 0, end);
      if (!name.ends_with(kDescriptorSuffix)) continue;
      if (At<uint64_t>(symbol + 16) != kDescriptorBytes) {
        return Bad(symbol, "has a kernel descriptor of a wrong size");
      }
      name.remove_suffix(kDescriptorSuffix.size());
      names_->Found(name);
    }
    return true;
  }

  std::span<const uint8_t> bytes_;
  const TargetMeta& target_;
  WantedNames* names_;
  Error* error_;
  uint64_t sections_ = 0, section_count_ = 0;
  bool has_symbols_ = false;
};

}  // namespace

bool CheckHsaco(std::span<const uint8_t> bytes, const TargetMeta& target, WantedNames* names, Error* error) {
  return HsacoReader(bytes, target, names, error).Run();
}

}  // namespace adc::artifact
