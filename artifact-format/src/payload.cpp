#include "payload.h"

#include "bundle_layout.h"
#include "json.h"

namespace adc::artifact {
namespace {

constexpr uint16_t kElfRelocatable = 1, kElfShared = 3;
constexpr uint16_t kElfX86 = 62, kElfAarch64 = 183, kElfAmdgpu = 224;
constexpr uint32_t kSpirvMagic = 0x07230203;

// ELF64, little-endian, version 1, of the given type and machine.
bool IsElf(std::span<const uint8_t> bytes, uint16_t type, uint16_t machine) {
  constexpr uint8_t kIdent[] = {0x7F, 'E', 'L', 'F', 2, 1, 1};
  if (bytes.size() < 64 || std::memcmp(bytes.data(), kIdent, sizeof kIdent) != 0) return false;
  return Load<uint16_t>(bytes.data() + 16) == type && Load<uint16_t>(bytes.data() + 18) == machine;
}

bool IsText(std::span<const uint8_t> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty()) {
    size_t length = Utf8Length(text);
    if (length == 0 || text[0] == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool Contains(std::span<const uint8_t> bytes, std::string_view word) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.find(word) != std::string_view::npos;
}

uint16_t CpuMachine(std::string_view arch) {
  return arch == "aarch64" ? kElfAarch64 : arch == "x86-64" ? kElfX86 : 0;
}

bool IsPayload(uint32_t kind, std::span<const uint8_t> bytes, const TargetMeta& target) {
  switch (kind) {
    case section::kObject:
      return target.kind == "cpu" && IsElf(bytes, kElfRelocatable, CpuMachine(target.arch));
    case section::kImage:
      return target.kind == "cpu" && IsElf(bytes, kElfShared, CpuMachine(target.arch));
    case section::kHsaco:
      return target.kind == "hip" && IsElf(bytes, kElfShared, kElfAmdgpu);
    case section::kPtx:
      return target.kind == "cuda" && IsText(bytes) && Contains(bytes, ".version") &&
             Contains(bytes, ".target");
    case section::kSpirv:
      return target.kind == "vulkan" && bytes.size() >= 20 && bytes.size() % 4 == 0 &&
             Load<uint32_t>(bytes.data()) == kSpirvMagic;
    case section::kMsl:
      return target.kind == "metal" && IsText(bytes);
    default:
      return true;
  }
}

bool IsTargetPayload(uint32_t kind) {
  return kind == section::kObject || kind == section::kImage || kind == section::kHsaco ||
         kind == section::kPtx || kind == section::kSpirv || kind == section::kMsl;
}

}  // namespace

bool CheckPayload(const Section& item, std::span<const uint8_t> bytes, const Metadata& metadata,
                  Error* error) {
  char name[5];
  SectionKindName(item.kind, name);
  std::string_view kind(name, 4);
  if (item.target != kNoTarget && item.target >= metadata.targets.size()) {
    return Fail(error, Code::kMalformed, Rule::kH10, "section ", kind, " names target ", item.target, " of ",
                uint64_t{metadata.targets.size()});
  }
  if (IsTargetPayload(item.kind)) {
    if (item.target == kNoTarget) {
      return Fail(error, Code::kMalformed, Rule::kH10, "section ", kind, " belongs to no target");
    }
    if (!IsPayload(item.kind, bytes, metadata.targets[item.target])) {
      return Fail(error, Code::kMalformed, Rule::kH10, "section ", kind, " does not hold code for target '",
                  metadata.targets[item.target].name.view(), "'");
    }
  } else if (item.known && item.target != kNoTarget && item.kind != section::kDebugInfo) {
    return Fail(error, Code::kMalformed, Rule::kH3, "section ", kind, " belongs to no target, yet names one");
  }
  return true;
}

}  // namespace adc::artifact
