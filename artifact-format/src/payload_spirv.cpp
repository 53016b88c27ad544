// A SPIR-V module as far as it can be judged without its own tools: header, the stream of instructions, its
// declarations and its entry points. Drivers trust the length of every instruction, so that is checked to the
// last word.

#include <iterator>

#include "artifact/views.h"
#include "bundle_layout.h"
#include "payload_forms.h"

namespace adc::artifact {
namespace {

constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr uint64_t kSpirvHeader = 20;
enum Opcode : uint32_t { kOpMemoryModel = 14, kOpEntryPoint = 15, kOpCapability = 17 };
constexpr uint32_t kGlCompute = 5;
constexpr uint32_t kLogical = 0, kPhysicalStorageBuffer64 = 5348;

struct Capability {
  uint32_t number;
  std::string_view name;
  std::string_view feature;
};
constexpr Capability kCapabilities[] = {
#define ADC_SPIRV_CAPABILITY(number, name, feature) {number, #name, feature},
#include "artifact/spirv_capabilities.def"
#undef ADC_SPIRV_CAPABILITY
};

// Features are sorted: features that begin with a prefix stand at the place of the prefix.
bool States(const TargetMeta& target, std::string_view feature) {
  bool prefix = feature.ends_with('*');
  if (prefix) feature.remove_suffix(1);
  if (feature.empty()) return true;
  size_t low = 0, high = target.features.size();
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (target.features[middle].view() < feature) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == target.features.size()) return false;
  std::string_view stated = target.features[low];
  return prefix ? BeginsWith(stated, feature) : stated == feature;
}

class SpirvReader {
 public:
  SpirvReader(std::span<const uint8_t> bytes, const TargetMeta& target, WantedNames* names, Error* error)
      : bytes_(bytes), target_(target), names_(names), error_(error) {}

  bool Run() {
    if (bytes_.size() < kSpirvHeader || bytes_.size() % 4 != 0 || Word(0) != kSpirvMagic) {
      return Bad(0, "is no SPIR-V module");
    }
    // 0 | major | minor | 0; each Vulkan reads up to a version.
    uint32_t version = Word(4), highest = HighestVersion();
    if ((version & 0xFF0000FFu) != 0 || version < 0x10000 || version > highest) {
      return Bad(4, "is of a version of SPIR-V that the target does not read");
    }
    if (Word(16) != 0) return Bad(16, "uses an unknown schema of instructions");
    uint64_t at = kSpirvHeader;
    while (at < bytes_.size()) {
      uint64_t length = uint64_t{Word(at) >> 16} * 4;
      if (length == 0 || length > bytes_.size() - at) return Bad(at, "has an instruction without an end");
      if (!Instruction(at, length)) return false;
      at += length;
    }
    return true;
  }

 private:
  uint32_t Word(uint64_t at) const { return Load<uint32_t>(bytes_.data() + at); }

  template <class... Parts>
  bool Bad(uint64_t at, const Parts&... parts) {
    if (error_) error_->offset = at;
    return Fail(error_, Code::kMalformed, Rule::kH10, "code for target '", target_.name.view(), "' ",
                parts...);
  }

  uint32_t HighestVersion() const {
    if (target_.arch == "1.2") return 0x10500;
    if (target_.arch == "1.3") return 0x10600;
    return 0x1FFFF;
  }

  bool Instruction(uint64_t at, uint64_t length) {
    switch (Word(at) & 0xFFFF) {
      case kOpCapability:
        return length == 8 ? TakeCapability(at, Word(at + 4)) : Bad(at, "declares no capability");
      case kOpMemoryModel:
        if (length != 12 || (Word(at + 4) != kLogical && Word(at + 4) != kPhysicalStorageBuffer64)) {
          return Bad(at, "has a memory model that Vulkan has not");
        }
        return true;
      case kOpEntryPoint:
        return EntryPoint(at, length);
      default:
        return true;
    }
  }

  bool TakeCapability(uint64_t at, uint32_t number) {
    for (const Capability& known : kCapabilities) {
      if (known.number != number) continue;
      bool& seen = seen_[&known - kCapabilities];
      if (std::exchange(seen, true)) return true;
      if (States(target_, known.feature)) return true;
      return Bad(at, "needs ", known.name, ", and the target does not state '", known.feature, "'");
    }
    return Bad(at, "needs capability ", number, ", which this reader does not know");
  }

  bool EntryPoint(uint64_t at, uint64_t length) {
    if (length < 16 || Word(at + 4) != kGlCompute) return Bad(at, "has an entry point that is no kernel");
    const char* text = reinterpret_cast<const char*>(bytes_.data()) + at + 12;
    std::string_view name(text, length - 12);
    size_t end = name.find('\0');
    if (end == std::string_view::npos) return Bad(at, "has an entry point whose name has no end");
    names_->Found(Piece(name, 0, end));
    return true;
  }

  std::span<const uint8_t> bytes_;
  const TargetMeta& target_;
  WantedNames* names_;
  Error* error_;
  bool seen_[std::size(kCapabilities)] = {};
};

}  // namespace

bool CheckSpirv(std::span<const uint8_t> bytes, const TargetMeta& target, WantedNames* names, Error* error) {
  return SpirvReader(bytes, target, names, error).Run();
}

}  // namespace adc::artifact
