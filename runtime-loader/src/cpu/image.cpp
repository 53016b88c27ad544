#include "cpu/image.h"

#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "core/errors.h"
#include "cpu/imports.h"

// Mapping a hostile file. Nothing is read through a number of the file before it was checked against the file
// or the image: segments lie in the file and in the image, in order and on pages of their own; tables lie
// inside one segment's bytes, those of names, symbols and relocations in one that is read-only, so that no
// relocation changes what has been checked; relocations only write inside writable segments, and only
// addresses inside the image or of the import table. What the loader does not need (dependencies,
// initialisers, thread-local storage, an interpreter) is refused, since code that asks for it would not work
// without it.

namespace adrt {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
constexpr uint32_t kRelative = R_X86_64_RELATIVE, kGlobal = R_X86_64_GLOB_DAT, kJump = R_X86_64_JUMP_SLOT,
                   kAbsolute = R_X86_64_64, kNothing = R_X86_64_NONE;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
constexpr uint32_t kRelative = R_AARCH64_RELATIVE, kGlobal = R_AARCH64_GLOB_DAT, kJump = R_AARCH64_JUMP_SLOT,
                   kAbsolute = R_AARCH64_ABS64, kNothing = R_AARCH64_NONE;
#else
#error "no shared images for this architecture: build the loader for x86-64 or AArch64"
#endif

namespace {

constexpr uint64_t kMaxImage = uint64_t{1} << 30;
constexpr uint32_t kMaxSegments = 16;

bool Inside(uint64_t size, uint64_t offset, uint64_t length) {
  return offset <= size && length <= size - offset;
}

}  // namespace

/// One attempt to map a file into an Image.
class ImageMapper {
 public:
  ImageMapper(std::span<const uint8_t> file, Image& image, adrt_error* error)
      : file_(file), image_(image), error_(error), page_(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) {}

  bool Run() {
    return ReadHeader() && ReadSegments() && Copy() && ReadDynamic() && CountSymbols() &&
           Relocate(rela_, rela_size_) && Relocate(jump_, jump_size_) && Protect();
  }

 private:
  struct Segment {
    uint64_t begin = 0, end = 0;  ///< in the image
    uint64_t offset = 0, stored = 0;
    uint32_t flags = 0;
  };

  template <class... Parts>
  [[gnu::always_inline]] bool Bad(const Parts&... parts) {
    const artifact::MessagePart list[] = {artifact::MessagePart(parts)...};
    return BadWith(list);
  }
  bool BadWith(artifact::Message message) {
    const artifact::MessagePart prefix[] = {"shared image: "};
    RefuseWith(error_, ADRT_ERROR_MALFORMED, prefix, message);
    error_->rule = static_cast<uint32_t>(artifact::Rule::kH10);
    return false;
  }
  bool System(const char* what) {
    int code = errno;
    Fail(error_, ADRT_ERROR_DRIVER, "shared image: the system refused to ", what, " (errno ", int32_t{code},
         ")");
    error_->native_code = code;
    return false;
  }
  template <class T>
  T At(uint64_t offset) const {
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof value);
    return value;
  }
  uint64_t PageDown(uint64_t value) const { return value & ~(page_ - 1); }
  uint64_t PageUp(uint64_t value) const { return (value + page_ - 1) & ~(page_ - 1); }

  bool ReadHeader() {
    if (file_.size() < sizeof(Elf64_Ehdr)) return Bad("shorter than an ELF header");
    header_ = At<Elf64_Ehdr>(0);
    bool known = std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
                 header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_ident[EI_DATA] == ELFDATA2LSB &&
                 header_.e_version == EV_CURRENT && header_.e_type == ET_DYN && header_.e_machine == kMachine;
    if (!known) return Bad("not an ELF64 shared object for this processor");
    if (header_.e_phentsize != sizeof(Elf64_Phdr) || header_.e_phnum == 0 || header_.e_phnum > 64 ||
        !Inside(file_.size(), header_.e_phoff, uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr))) {
      return Bad("its program headers are not inside");
    }
    return true;
  }

  bool ReadSegments() {
    for (uint32_t index = 0; index < header_.e_phnum; ++index) {
      Elf64_Phdr segment = At<Elf64_Phdr>(header_.e_phoff + index * sizeof(Elf64_Phdr));
      switch (segment.p_type) {
        case PT_LOAD:
          if (!AddLoad(segment)) return false;
          break;
        case PT_DYNAMIC:
          if (dynamic_size_ != 0) return Bad("two dynamic segments");
          dynamic_ = segment.p_vaddr;
          dynamic_size_ = segment.p_memsz;
          break;
        case PT_GNU_RELRO:
          relro_ = segment.p_vaddr;
          relro_size_ = segment.p_memsz;
          break;
        case PT_GNU_STACK:
          if (segment.p_flags & PF_X) return Bad("asks for an executable stack");
          break;
        case PT_TLS:
          return Bad("has thread-local storage");
        case PT_INTERP:
          return Bad("names an interpreter");
        default:
          break;
      }
    }
    if (load_count_ == 0 || dynamic_size_ == 0) return Bad("has nothing to load or no dynamic section");
    return true;
  }

  bool AddLoad(const Elf64_Phdr& segment) {
    if (load_count_ == kMaxSegments) return Bad("more than ", kMaxSegments, " segments");
    if ((segment.p_flags & PF_W) && (segment.p_flags & PF_X))
      return Bad("a segment is writable and executable");
    if (segment.p_filesz > segment.p_memsz || !Inside(kMaxImage, segment.p_vaddr, segment.p_memsz) ||
        !Inside(file_.size(), segment.p_offset, segment.p_filesz)) {
      return Bad("a segment is not inside");
    }
    if (segment.p_memsz == 0) return true;
    Segment& added = loads_[load_count_];
    added = {segment.p_vaddr, segment.p_vaddr + segment.p_memsz, segment.p_offset, segment.p_filesz,
             segment.p_flags};
    if (load_count_ > 0 && PageDown(added.begin) < PageUp(loads_[load_count_ - 1].end)) {
      return Bad("segments share a page or are out of order");
    }
    ++load_count_;
    return true;
  }

  bool Copy() {
    image_.size_ = PageUp(loads_[load_count_ - 1].end);
    void* memory = mmap(nullptr, image_.size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      image_.size_ = 0;
      return System("reserve memory");
    }
    image_.base_ = static_cast<unsigned char*>(memory);
    for (uint32_t index = 0; index < load_count_; ++index) {
      const Segment& segment = loads_[index];
      uint64_t begin = PageDown(segment.begin), end = PageUp(segment.end);
      if (mprotect(image_.base_ + begin, end - begin, PROT_READ | PROT_WRITE) != 0)
        return System("give memory");
      if (segment.stored > 0) {
        std::memcpy(image_.base_ + segment.begin, file_.data() + segment.offset, segment.stored);
      }
    }
    return true;
  }

  // Whether [begin, begin + size) lies in the bytes of one segment that has all of `flags`.
  bool Mapped(uint64_t begin, uint64_t size, uint32_t flags) const {
    for (uint32_t index = 0; index < load_count_; ++index) {
      const Segment& segment = loads_[index];
      if ((segment.flags & flags) == flags && begin >= segment.begin &&
          Inside(segment.end - segment.begin, begin - segment.begin, size)) {
        return true;
      }
    }
    return false;
  }

  // The same for a table that is read while relocations write: they cannot reach it.
  bool MappedForGood(uint64_t begin, uint64_t size) const {
    return Mapped(begin, size, 0) && !Mapped(begin, size, PF_W);
  }

  bool ReadDynamic() {
    if (!Mapped(dynamic_, dynamic_size_, 0)) return Bad("its dynamic section is not inside");
    uint64_t symbols = 0, strings = 0, strings_size = 0, symbol_size = sizeof(Elf64_Sym);
    uint64_t rela_entry = sizeof(Elf64_Rela), jump_kind = DT_RELA;
    bool ended = false;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic_size_ && !ended; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, image_.base_ + dynamic_ + at, sizeof entry);
      uint64_t value = entry.d_un.d_val;
      switch (entry.d_tag) {
        case DT_NULL:
          ended = true;
          break;
        case DT_SYMTAB:
          symbols = value;
          break;
        case DT_STRTAB:
          strings = value;
          break;
        case DT_STRSZ:
          strings_size = value;
          break;
        case DT_SYMENT:
          symbol_size = value;
          break;
        case DT_RELA:
          rela_ = value;
          break;
        case DT_RELASZ:
          rela_size_ = value;
          break;
        case DT_RELAENT:
          rela_entry = value;
          break;
        case DT_JMPREL:
          jump_ = value;
          break;
        case DT_PLTRELSZ:
          jump_size_ = value;
          break;
        case DT_PLTREL:
          jump_kind = value;
          break;
        case DT_HASH:
          hash_ = value;
          break;
        case DT_GNU_HASH:
          gnu_hash_ = value;
          break;
        case DT_NEEDED:
          return Bad("depends on another library");
        case DT_INIT:
        case DT_FINI:
        case DT_INIT_ARRAY:
        case DT_FINI_ARRAY:
        case DT_PREINIT_ARRAY:
          return Bad("wants code to run at loading");
        case DT_REL:
        case DT_RELR:
        case DT_TEXTREL:
          return Bad("has relocations of an unknown form");
        default:
          break;
      }
    }
    if (!ended) return Bad("its dynamic section has no end");
    if (symbol_size != sizeof(Elf64_Sym) || rela_entry != sizeof(Elf64_Rela) || jump_kind != DT_RELA) {
      return Bad("its tables have entries of an unknown size");
    }
    if (strings_size == 0 || !MappedForGood(strings, strings_size) ||
        image_.base_[strings + strings_size - 1] != 0) {
      return Bad("its names are not inside");
    }
    image_.strings_ = reinterpret_cast<const char*>(image_.base_ + strings);
    image_.strings_size_ = strings_size;
    symbols_at_ = symbols;
    return true;
  }

  bool Word(uint64_t at, uint32_t* word) const {
    if (!Mapped(at, sizeof *word, 0)) return false;
    std::memcpy(word, image_.base_ + at, sizeof *word);
    return true;
  }

  // The number of symbols stands in no header: DT_HASH states it, DT_GNU_HASH has it after the last chain.
  bool CountSymbols() {
    uint64_t count = 0;
    if (hash_ != 0) {
      uint32_t chains = 0;
      if (!Word(hash_ + 4, &chains)) return Bad("its hash table is not inside");
      count = chains;
    } else if (gnu_hash_ != 0) {
      uint32_t buckets = 0, first = 0, blooms = 0, last = 0;
      if (!Word(gnu_hash_, &buckets) || !Word(gnu_hash_ + 4, &first) || !Word(gnu_hash_ + 8, &blooms)) {
        return Bad("its hash table is not inside");
      }
      uint64_t bucket_at = gnu_hash_ + 16 + uint64_t{blooms} * 8,
               chain_at = bucket_at + uint64_t{buckets} * 4;
      for (uint32_t index = 0; index < buckets; ++index) {
        uint32_t bucket = 0;
        if (!Word(bucket_at + uint64_t{index} * 4, &bucket)) return Bad("its hash table is not inside");
        if (bucket > last) last = bucket;
      }
      count = first;
      if (last >= first && last != 0) {
        uint32_t link = 0;
        for (count = last;; ++count) {
          if (!Word(chain_at + (count - first) * 4, &link)) return Bad("its hash table is not inside");
          if (link & 1) break;
        }
        ++count;
      }
    } else {
      return Bad("has no hash table");
    }
    if (count > kMaxImage / sizeof(Elf64_Sym) || !MappedForGood(symbols_at_, count * sizeof(Elf64_Sym))) {
      return Bad("its symbols are not inside");
    }
    image_.symbols_ = image_.base_ + symbols_at_;
    image_.symbol_count_ = count;
    return true;
  }

  // The address that a symbol stands for: inside the image, or an import.
  bool Resolve(uint64_t index, uint64_t* address) {
    if (index >= image_.symbol_count_) return Bad("a relocation names no symbol");
    Elf64_Sym symbol;
    std::memcpy(&symbol, image_.symbols_ + index * sizeof symbol, sizeof symbol);
    if (symbol.st_name >= image_.strings_size_) return Bad("a symbol's name is not inside");
    std::string_view name = image_.NameAt(symbol.st_name);
    if (symbol.st_shndx != SHN_UNDEF) {
      if (symbol.st_value >= image_.size_) return Bad("symbol '", name, "' is not inside");
      *address = reinterpret_cast<uintptr_t>(image_.base_) + symbol.st_value;
      return true;
    }
    for (const adrt_import* import = adrt_math_import_table(); import->name; ++import) {
      if (name == import->name) {
        *address = reinterpret_cast<uintptr_t>(import->function);
        return true;
      }
    }
    return Bad("imports '", name, "', which is none of the functions that an image may use");
  }

  // Adds to the address of a symbol: inside the image it stays inside, and to an import nothing is added.
  bool AddInside(uint64_t addend, uint64_t* address) const {
    if (addend == 0) return true;
    uint64_t begin = reinterpret_cast<uintptr_t>(image_.base_);
    if (*address - begin >= image_.size_ || *address + addend - begin >= image_.size_) return false;
    *address += addend;
    return true;
  }

  bool Relocate(uint64_t table, uint64_t size) {
    if (size == 0) return true;
    if (size % sizeof(Elf64_Rela) != 0 || !MappedForGood(table, size))
      return Bad("its relocations are not inside");
    for (uint64_t at = 0; at < size; at += sizeof(Elf64_Rela)) {
      Elf64_Rela rela;
      std::memcpy(&rela, image_.base_ + table + at, sizeof rela);
      uint32_t type = ELF64_R_TYPE(rela.r_info);
      if (type == kNothing) continue;
      uint64_t value = 0;
      if (type == kRelative) {
        if (static_cast<uint64_t>(rela.r_addend) >= image_.size_) return Bad("a relocation points outside");
        value = reinterpret_cast<uintptr_t>(image_.base_) + static_cast<uint64_t>(rela.r_addend);
      } else if (type == kGlobal || type == kJump || type == kAbsolute) {
        if (!Resolve(ELF64_R_SYM(rela.r_info), &value)) return false;
        if (type == kAbsolute && !AddInside(static_cast<uint64_t>(rela.r_addend), &value))
          return Bad("a relocation points outside");
      } else {
        return Bad("a relocation has the unknown type ", type);
      }
      if (!Mapped(rela.r_offset, sizeof value, PF_W)) return Bad("a relocation writes where it must not");
      std::memcpy(image_.base_ + rela.r_offset, &value, sizeof value);
    }
    return true;
  }

  bool Protect() {
    for (uint32_t index = 0; index < load_count_; ++index) {
      const Segment& segment = loads_[index];
      uint64_t begin = PageDown(segment.begin), end = PageUp(segment.end);
      int protection = PROT_READ;
      if (segment.flags & PF_W) protection |= PROT_WRITE;
      if (segment.flags & PF_X) {
        protection |= PROT_EXEC;
        __builtin___clear_cache(reinterpret_cast<char*>(image_.base_ + segment.begin),
                                reinterpret_cast<char*>(image_.base_ + segment.end));
        image_.code_begin_[image_.code_count_] = segment.begin;
        image_.code_end_[image_.code_count_++] = segment.end;
      }
      if (mprotect(image_.base_ + begin, end - begin, protection) != 0) return System("protect memory");
    }
    // What is written by relocation alone becomes read-only; whole pages of one writable segment only.
    uint64_t begin = PageDown(relro_), end = relro_size_ <= kMaxImage ? PageUp(relro_ + relro_size_) : 0;
    if (relro_size_ > 0 && relro_ < image_.size_ && begin < end && Mapped(relro_, 1, PF_W)) {
      for (uint32_t index = 0; index < load_count_; ++index) {
        const Segment& segment = loads_[index];
        if (relro_ < segment.begin || relro_ >= segment.end) continue;
        if (end > PageUp(segment.end)) return Bad("its read-only part is not inside a segment");
        if (mprotect(image_.base_ + begin, end - begin, PROT_READ) != 0) return System("protect memory");
      }
    }
    return true;
  }

  std::span<const uint8_t> file_;
  Image& image_;
  adrt_error* error_;
  uint64_t page_;
  Elf64_Ehdr header_ = {};
  Segment loads_[kMaxSegments];
  uint32_t load_count_ = 0;
  uint64_t dynamic_ = 0, dynamic_size_ = 0, relro_ = 0, relro_size_ = 0;
  uint64_t rela_ = 0, rela_size_ = 0, jump_ = 0, jump_size_ = 0, hash_ = 0, gnu_hash_ = 0, symbols_at_ = 0;
};

Image::~Image() {
  if (base_) munmap(base_, size_);
}

bool Image::Map(std::span<const uint8_t> file, adrt_error* error) {
  return ImageMapper(file, *this, error).Run();
}

void Image::FindAll(std::span<Wanted> wanted) const {
  auto is_before = [](const Wanted& one, std::string_view name) { return one.name < name; };
  for (uint64_t index = 0; index < symbol_count_; ++index) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, symbols_ + index * sizeof symbol, sizeof symbol);
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    if (symbol.st_name >= strings_size_) continue;
    std::string_view name = NameAt(symbol.st_name);
    auto found = std::lower_bound(wanted.begin(), wanted.end(), name, is_before);
    if (found == wanted.end() || found->name != name || found->address) continue;
    for (uint32_t range = 0; range < code_count_; ++range) {
      if (symbol.st_value >= code_begin_[range] && symbol.st_value < code_end_[range])
        found->address = base_ + symbol.st_value;
    }
  }
}

void* Image::Find(std::string_view name) const {
  Wanted one{name};
  FindAll({&one, 1});
  return one.address;
}

}  // namespace adrt
