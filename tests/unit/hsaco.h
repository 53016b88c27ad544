#pragma once
// An HSACO read back: what the code object says of its kernels, and the descriptors that the hardware gets.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/AMDHSAKernelDescriptor.h"

namespace adc::test {

struct HsacoArgument {
  std::string name, kind;
  uint64_t offset = 0, size = 0;
};

struct HsacoKernel {
  std::string symbol;  ///< of the descriptor
  uint64_t kernarg_bytes = 0, kernarg_alignment = 0;
  uint64_t private_bytes = 0, shared_bytes = 0;
  uint64_t wave = 0, largest_block = 0, vgpr_spills = 0;
  bool dynamic_stack = false;
  std::vector<HsacoArgument> arguments;
  llvm::amdhsa::kernel_descriptor_t descriptor = {};
  uint64_t code_bytes = 0;  ///< of the function that the descriptor points at; 0 where it points at none
};

struct Hsaco {
  uint8_t system = 0, version = 0;  ///< EI_OSABI, EI_ABIVERSION
  uint32_t processor = 0;           ///< EF_AMDGPU_MACH
  std::string target;               ///< "amdgcn-amd-amdhsa--gfx1100"
  std::vector<uint64_t> metadata_version;
  std::map<std::string, HsacoKernel> kernels;  ///< by name
  bool has_symbol_table = false, has_lines = false;
};

namespace detail {

/// Metadata of the kernels, out of the note.
inline void ReadNote(llvm::StringRef text, Hsaco& hsaco) {
  llvm::msgpack::Document document;
  REQUIRE(document.readFromBlob(text, false));
  llvm::msgpack::MapDocNode root = document.getRoot().getMap(true);
  hsaco.target = root["amdhsa.target"].getString().str();
  for (llvm::msgpack::DocNode part : root["amdhsa.version"].getArray(true))
    hsaco.metadata_version.push_back(part.getUInt());
  for (llvm::msgpack::DocNode node : root["amdhsa.kernels"].getArray(true)) {
    llvm::msgpack::MapDocNode map = node.getMap(true);
    HsacoKernel& kernel = hsaco.kernels[map[".name"].getString().str()];
    kernel.symbol = map[".symbol"].getString().str();
    kernel.kernarg_bytes = map[".kernarg_segment_size"].getUInt();
    kernel.kernarg_alignment = map[".kernarg_segment_align"].getUInt();
    kernel.private_bytes = map[".private_segment_fixed_size"].getUInt();
    kernel.shared_bytes = map[".group_segment_fixed_size"].getUInt();
    kernel.wave = map[".wavefront_size"].getUInt();
    kernel.largest_block = map[".max_flat_workgroup_size"].getUInt();
    kernel.vgpr_spills = map[".vgpr_spill_count"].getUInt();
    kernel.dynamic_stack = map[".uses_dynamic_stack"].getBool();
    for (llvm::msgpack::DocNode argument : map[".args"].getArray(true)) {
      llvm::msgpack::MapDocNode of = argument.getMap(true);
      kernel.arguments.push_back({of[".name"].isString() ? of[".name"].getString().str() : "",
                                  of[".value_kind"].getString().str(), of[".offset"].getUInt(),
                                  of[".size"].getUInt()});
    }
  }
}

}  // namespace detail

inline Hsaco ReadHsaco(std::span<const uint8_t> bytes) {
  Hsaco hsaco;
  llvm::StringRef text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto object = llvm::cantFail(llvm::object::ELF64LEObjectFile::create(llvm::MemoryBufferRef(text, "hsaco")));
  const auto& file = object.getELFFile();
  hsaco.system = file.getHeader().e_ident[llvm::ELF::EI_OSABI];
  hsaco.version = file.getHeader().e_ident[llvm::ELF::EI_ABIVERSION];
  hsaco.processor = file.getHeader().e_flags & llvm::ELF::EF_AMDGPU_MACH;
  auto sections = llvm::cantFail(file.sections());
  for (const auto& section : sections) {
    hsaco.has_symbol_table = hsaco.has_symbol_table || section.sh_type == llvm::ELF::SHT_SYMTAB;
    hsaco.has_lines = hsaco.has_lines || llvm::cantFail(file.getSectionName(section)) == ".debug_line";
    if (section.sh_type != llvm::ELF::SHT_NOTE) continue;
    llvm::Error error = llvm::Error::success();
    for (const auto& note : file.notes(section, error)) {
      if (note.getType() == llvm::ELF::NT_AMDGPU_METADATA)
        detail::ReadNote(note.getDescAsStringRef(section.sh_addralign), hsaco);
    }
    llvm::cantFail(std::move(error));
  }
  struct Symbol {
    uint64_t address = 0, size = 0;
    llvm::ArrayRef<uint8_t> contents;
  };
  std::map<std::string, Symbol> exported;
  for (const llvm::object::ELFSymbolRef& symbol : object.getDynamicSymbolIterators()) {
    auto section = llvm::cantFail(symbol.getSection());
    if (section == object.section_end()) continue;
    uint64_t address = llvm::cantFail(symbol.getAddress());
    llvm::StringRef contents = llvm::cantFail(section->getContents());
    llvm::StringRef own = contents.substr(address - section->getAddress(), symbol.getSize());
    exported[llvm::cantFail(symbol.getName()).str()] = {
        address, symbol.getSize(), {own.bytes_begin(), own.bytes_end()}};
  }
  for (auto& [name, kernel] : hsaco.kernels) {
    INFO(name);
    const Symbol& descriptor = exported[kernel.symbol];
    REQUIRE(descriptor.contents.size() == sizeof kernel.descriptor);
    std::memcpy(&kernel.descriptor, descriptor.contents.data(), sizeof kernel.descriptor);
    uint64_t entry =
        descriptor.address + static_cast<uint64_t>(kernel.descriptor.kernel_code_entry_byte_offset);
    if (exported[name].address == entry) kernel.code_bytes = exported[name].size;
  }
  return hsaco;
}

}  // namespace adc::test
