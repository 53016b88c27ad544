// An AMD code object: an ELF shared object whose dynamic symbols name a kernel descriptor of 64 bytes for
// each kernel.

#include "bundle_layout.h"
#include "elf_symbols.h"
#include "payload_forms.h"

namespace adc::artifact {
namespace {

constexpr uint16_t kElfShared = 3, kElfAmdgpu = 224;
constexpr uint8_t kAbiHsa = 64;
constexpr uint64_t kDescriptorBytes = 64;
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
    if (bytes_.size() < ElfSymbols::kHeaderBytes || std::memcmp(bytes_.data(), kIdent, sizeof kIdent) != 0 ||
        At<uint16_t>(16) != kElfShared || At<uint16_t>(18) != kElfAmdgpu) {
      return Bad(0, "is no AMD code object");
    }
    for (const Processor& known : kProcessors) {
      if (target_.arch == known.name && (At<uint32_t>(48) & 0xFF) != known.machine) {
        return Bad(48, "is for another processor");
      }
    }
    ElfSymbols symbols(bytes_);
    bool good = symbols.Walk(ElfSymbols::kDynamic, names_->longest() + kDescriptorSuffix.size(),
                             [&](const ElfSymbols::Symbol& symbol) { return Descriptor(symbol); });
    return good_ && (good || Bad(symbols.where(), symbols.why()));
  }

 private:
  template <class N>
  N At(uint64_t offset) const {
    return Load<N>(bytes_.data() + offset);
  }
  bool Bad(uint64_t at, std::string_view why) {
    if (error_) error_->offset = at;
    return Fail(error_, Code::kMalformed, Rule::kH10, "code for target '", target_.name.view(), "' ", why);
  }

  bool Descriptor(const ElfSymbols::Symbol& symbol) {
    std::string_view name = symbol.name;
    if (!name.ends_with(kDescriptorSuffix)) return true;
    if (symbol.size != kDescriptorBytes) {
      return good_ = Bad(symbol.at, "has a kernel descriptor of a wrong size");
    }
    name.remove_suffix(kDescriptorSuffix.size());
    names_->Found(name);
    return true;
  }

  std::span<const uint8_t> bytes_;
  const TargetMeta& target_;
  WantedNames* names_;
  Error* error_;
  bool good_ = true;
};

}  // namespace

bool CheckHsaco(std::span<const uint8_t> bytes, const TargetMeta& target, WantedNames* names, Error* error) {
  return HsacoReader(bytes, target, names, error).Run();
}

}  // namespace adc::artifact
