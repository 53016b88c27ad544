// ELF64, shared, of AMDGPU. The segments lie in one allocation at the distances that the file states, so that
// what code computes relative to the program counter is right without relocations; one that has any is
// refused.

#include "code_object.h"

#include <elf.h>

#include <cstring>

#include "llvm/Support/AMDHSAKernelDescriptor.h"

namespace adc::rdna3 {
namespace {

using Descriptor = llvm::amdhsa::kernel_descriptor_t;

constexpr uint32_t kMachine = 224, kGfx1100 = 0x41, kMachMask = 0xFF;

[[noreturn]] void Refuse(const std::string& why) {
  throw std::runtime_error("the code object " + why);
}

template <class T>
T At(const uint8_t* image, uint64_t offset) {
  T value;
  std::memcpy(&value, image + offset, sizeof value);
  return value;
}

#define FIELD(word, name) AMDHSA_BITS_GET(word, llvm::amdhsa::name)

Kernel ReadDescriptor(const Descriptor& d, uint64_t address, const std::string& name) {
  Kernel kernel;
  kernel.name = name;
  kernel.entry = address + static_cast<uint64_t>(d.kernel_code_entry_byte_offset);
  kernel.shared_bytes = d.group_segment_fixed_size;
  kernel.private_bytes = d.private_segment_fixed_size;
  kernel.argument_bytes = d.kernarg_size;
  uint32_t one = d.compute_pgm_rsrc1, two = d.compute_pgm_rsrc2;
  uint16_t properties = d.kernel_code_properties;
  if (!FIELD(properties, KERNEL_CODE_PROPERTY_ENABLE_WAVEFRONT_SIZE32)) Refuse("is for waves of 64: " + name);
  if (FIELD(properties, KERNEL_CODE_PROPERTY_USES_DYNAMIC_STACK)) Refuse("wants a dynamic stack: " + name);
  constexpr uint32_t kGranule = 8;
  kernel.vector_registers = (FIELD(one, COMPUTE_PGM_RSRC1_GRANULATED_WORKITEM_VGPR_COUNT) + 1) * kGranule;
  kernel.mode = FIELD(one, COMPUTE_PGM_RSRC1_FLOAT_ROUND_MODE_32) |
                FIELD(one, COMPUTE_PGM_RSRC1_FLOAT_ROUND_MODE_16_64) << 2 |
                FIELD(one, COMPUTE_PGM_RSRC1_FLOAT_DENORM_MODE_32) << 4 |
                FIELD(one, COMPUTE_PGM_RSRC1_FLOAT_DENORM_MODE_16_64) << 6 |
                FIELD(one, COMPUTE_PGM_RSRC1_GFX6_GFX11_ENABLE_DX10_CLAMP) << 8 |
                FIELD(one, COMPUTE_PGM_RSRC1_GFX6_GFX11_ENABLE_IEEE_MODE) << 9;
  kernel.user_registers = FIELD(two, COMPUTE_PGM_RSRC2_USER_SGPR_COUNT);
  kernel.wants_group[0] = FIELD(two, COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_ID_X);
  kernel.wants_group[1] = FIELD(two, COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_ID_Y);
  kernel.wants_group[2] = FIELD(two, COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_ID_Z);
  kernel.item_ids = FIELD(two, COMPUTE_PGM_RSRC2_ENABLE_VGPR_WORKITEM_ID);
  if (FIELD(two, COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_INFO))
    Refuse("wants work-group information: " + name);
  kernel.wants_dispatch = FIELD(properties, KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_PTR);
  kernel.wants_arguments = FIELD(properties, KERNEL_CODE_PROPERTY_ENABLE_SGPR_KERNARG_SEGMENT_PTR);
  kernel.wants_private_size = FIELD(properties, KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_SIZE);
  if (FIELD(properties, KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER) ||
      FIELD(properties, KERNEL_CODE_PROPERTY_ENABLE_SGPR_QUEUE_PTR) ||
      FIELD(properties, KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_ID) ||
      FIELD(properties, KERNEL_CODE_PROPERTY_ENABLE_SGPR_FLAT_SCRATCH_INIT) || d.kernarg_preload != 0) {
    Refuse("wants registers that are not set up: " + name);
  }
  return kernel;
}

}  // namespace

CodeObject::CodeObject(Memory& memory, Decoder& decoder, const void* image) : memory_(memory) {
  const auto* bytes = static_cast<const uint8_t*>(image);
  auto header = At<Elf64_Ehdr>(bytes, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != kMachine ||
      header.e_type != ET_DYN) {
    Refuse("is no shared ELF file of AMDGPU");
  }
  if ((header.e_flags & kMachMask) != kGfx1100) Refuse("is for another processor than gfx1100");

  std::span<const uint8_t> all(bytes, header.e_shoff + uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  uint64_t code_begin = 0, code_end = 0;
  for (uint32_t number = 0; number < header.e_phnum; ++number) {
    auto segment = At<Elf64_Phdr>(bytes, header.e_phoff + number * sizeof(Elf64_Phdr));
    if (segment.p_type == PT_LOAD) bytes_ = std::max(bytes_, segment.p_vaddr + segment.p_memsz);
  }
  if (bytes_ == 0) Refuse("has nothing to load");
  address_ = memory_.Allocate(bytes_, "the code object", true);
  uint8_t* image_bytes = memory_.ForHost(address_, bytes_);
  for (uint32_t number = 0; number < header.e_phnum; ++number) {
    auto segment = At<Elf64_Phdr>(bytes, header.e_phoff + number * sizeof(Elf64_Phdr));
    if (segment.p_type != PT_LOAD) continue;
    std::memset(image_bytes + segment.p_vaddr, 0, segment.p_memsz);
    std::memcpy(image_bytes + segment.p_vaddr, bytes + segment.p_offset, segment.p_filesz);
    if (segment.p_flags & PF_X) {
      code_begin = segment.p_vaddr;
      code_end = segment.p_vaddr + segment.p_filesz;
    }
  }
  code_ = std::make_unique<Code>(decoder, std::span(image_bytes + code_begin, code_end - code_begin),
                                 address_ + code_begin);
  ReadKernels(all);
}

CodeObject::~CodeObject() {
  memory_.Free(address_);
}

void CodeObject::ReadKernels(std::span<const uint8_t> image) {
  auto header = At<Elf64_Ehdr>(image.data(), 0);
  auto section = [&](uint32_t number) {
    return At<Elf64_Shdr>(image.data(), header.e_shoff + number * sizeof(Elf64_Shdr));
  };
  for (uint32_t number = 0; number < header.e_shnum; ++number) {
    Elf64_Shdr symbols = section(number);
    if (symbols.sh_type == SHT_RELA || symbols.sh_type == SHT_REL) {
      if (symbols.sh_size > 0) Refuse("has relocations, which are not implemented");
    }
    if (symbols.sh_type != SHT_DYNSYM) continue;
    Elf64_Shdr names = section(symbols.sh_link);
    for (uint64_t at = 0; at < symbols.sh_size; at += sizeof(Elf64_Sym)) {
      auto symbol = At<Elf64_Sym>(image.data(), symbols.sh_offset + at);
      std::string name = reinterpret_cast<const char*>(image.data()) + names.sh_offset + symbol.st_name;
      if (!name.ends_with(".kd")) continue;
      name.resize(name.size() - 3);
      Descriptor descriptor;
      const uint8_t* place = memory_.ForHost(address_ + symbol.st_value, sizeof descriptor);
      if (!place) Refuse("has a descriptor outside of its segments: " + name);
      std::memcpy(&descriptor, place, sizeof descriptor);
      kernels_[name] = ReadDescriptor(descriptor, address_ + symbol.st_value, name);
    }
  }
}

const Kernel* CodeObject::Find(const std::string& name) const {
  auto found = kernels_.find(name);
  return found == kernels_.end() ? nullptr : &found->second;
}

}  // namespace adc::rdna3
