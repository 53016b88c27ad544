#include "codegen/cpu/exclusive_stores.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "support/check.h"

namespace adc::codegen {
namespace {

// Exclusive stores of one register or a pair: size[31:30] 001000 0 L=0 pair[21] status[20:16] ordered[15] ...
constexpr uint32_t kFixedBits = 0x3FC00000;
constexpr uint32_t kExclusiveStore = 0x08000000;
constexpr uint32_t kStatusShift = 16;
constexpr uint32_t kZeroRegister = 31;

}  // namespace

uint32_t CountUnseenExclusiveStores(std::span<const uint8_t> object) {
  llvm::StringRef text(reinterpret_cast<const char*>(object.data()), object.size());
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(text, "object"));
  ADC_CHECK(static_cast<bool>(file), "an object file that was just written");
  uint32_t count = 0;
  for (const llvm::object::SectionRef& section : (*file)->sections()) {
    if (!section.isText()) continue;
    auto contents = section.getContents();
    ADC_CHECK(static_cast<bool>(contents), "a section of an object file that was just written");
    for (size_t at = 0; at + 4 <= contents->size(); at += 4) {
      uint32_t word = llvm::support::endian::read32le(contents->data() + at);
      bool unseen = ((word >> kStatusShift) & kZeroRegister) == kZeroRegister;
      if ((word & kFixedBits) == kExclusiveStore && unseen) ++count;
    }
  }
  return count;
}

}  // namespace adc::codegen
