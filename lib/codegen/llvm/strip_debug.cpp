#include "codegen/llvm/strip_debug.h"

#include <algorithm>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ObjCopy/CommonConfig.h"
#include "llvm/ObjCopy/ELF/ELFConfig.h"
#include "llvm/ObjCopy/ELF/ELFObjcopy.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/raw_ostream.h"

namespace adc::codegen {
namespace {

/// The bytes after the ELF file: the note of the bundle's writer.
llvm::StringRef AfterElf(llvm::StringRef bytes, const llvm::object::ELF64LEObjectFile& object) {
  const auto& header = object.getELFFile().getHeader();
  uint64_t end = header.e_shoff + uint64_t{header.e_shnum} * header.e_shentsize;
  auto sections = object.getELFFile().sections();
  if (!sections) {
    llvm::consumeError(sections.takeError());
    return {};
  }
  for (const auto& section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_NOBITS)
      end = std::max<uint64_t>(end, section.sh_offset + section.sh_size);
  }
  return bytes.substr(std::min<uint64_t>(end, bytes.size()));
}

}  // namespace

std::optional<std::vector<uint8_t>> WithoutDebugSections(std::span<const uint8_t> elf) {
  llvm::StringRef bytes(reinterpret_cast<const char*>(elf.data()), elf.size());
  auto file = llvm::object::ObjectFile::createELFObjectFile({bytes, "code"});
  if (!file) {
    llvm::consumeError(file.takeError());
    return std::nullopt;
  }
  auto* object = llvm::dyn_cast<llvm::object::ELF64LEObjectFile>(file->get());
  if (object == nullptr) return std::nullopt;
  llvm::objcopy::CommonConfig config;
  bool linked = object->getELFFile().getHeader().e_type == llvm::ELF::ET_DYN;
  config.StripAllGNU = linked;
  config.StripDebug = !linked;
  llvm::SmallVector<char, 0> written;
  llvm::raw_svector_ostream stream(written);
  if (llvm::Error error = llvm::objcopy::elf::executeObjcopyOnBinary(config, {}, *object, stream)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  stream << AfterElf(bytes, *object);
  return std::vector<uint8_t>(written.begin(), written.end());
}

}  // namespace adc::codegen
