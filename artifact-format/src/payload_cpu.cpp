// Code of a processor: an object for linkers, or the same code as a shared image for the loader.

#include "artifact/bundle.h"
#include "bundle_layout.h"
#include "elf_symbols.h"
#include "payload_forms.h"

namespace adc::artifact {
namespace {

constexpr uint16_t kRelocatable = 1, kShared = 3;
constexpr uint16_t kX86 = 62, kAarch64 = 183;

uint16_t MachineOf(std::string_view arch) {
  return arch == "aarch64" ? kAarch64 : arch == "x86-64" ? kX86 : 0;
}

}  // namespace

bool IsCpuElf(uint32_t kind, std::span<const uint8_t> bytes, const TargetMeta& target) {
  constexpr uint8_t kIdent[] = {0x7F, 'E', 'L', 'F', 2, 1, 1};
  if (bytes.size() < ElfSymbols::kHeaderBytes || std::memcmp(bytes.data(), kIdent, sizeof kIdent) != 0) {
    return false;
  }
  uint16_t type = kind == section::kObject ? kRelocatable : kShared;
  return Load<uint16_t>(bytes.data() + 16) == type &&
         Load<uint16_t>(bytes.data() + 18) == MachineOf(target.arch);
}

bool CheckCpuElf(std::span<const uint8_t> bytes, const TargetMeta& target, WantedNames* names, Error* error) {
  bool is_object = Load<uint16_t>(bytes.data() + 16) == kRelocatable;
  ElfSymbols symbols(bytes);
  bool good = symbols.Walk(is_object ? ElfSymbols::kLinking : ElfSymbols::kDynamic, names->longest(),
                           [&](const ElfSymbols::Symbol& symbol) {
                             if (symbol.is_code) names->Found(symbol.name);
                             return true;
                           });
  if (good) return true;
  if (error) error->offset = symbols.where();
  return Fail(error, Code::kMalformed, Rule::kH10, "code for target '", target.name.view(), "' ",
              symbols.why());
}

}  // namespace adc::artifact
