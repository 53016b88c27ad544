#include "cpu/image.h"

#include <algorithm>
#include <cstring>

#include "artifact/processor.h"
#include "core/errors.h"
#include "cpu/elf.h"
#include "cpu/imports.h"
#include "platform/platform.h"

// Mapping a hostile file. Nothing is read through a number of the file before it was checked against the file
// or the image: segments lie in the file and in the image, in order and on pages of their own; tables lie
// inside one segment's bytes, those of names, symbols and relocations in one that is read-only, so that no
// relocation changes what has been checked; relocations only write inside writable segments, and only
// addresses inside the image or of the import table. Requests that the loader does not support (dependencies,
// initialisers, thread-local storage, an interpreter) are refused, since code that asks for them would not
// work without them.

namespace adrt {

// Kinds of relocations of this processor.
#if defined(ADC_X86_64)
constexpr uint16_t kMachine = elf::kX86;
constexpr uint32_t kNothing = 0, kAbsolute = 1, kGlobal = 6, kJump = 7, kRelative = 8;
#elif defined(ADC_AARCH64)
constexpr uint16_t kMachine = elf::kAarch64;
constexpr uint32_t kNothing = 0, kAbsolute = 257, kGlobal = 1025, kJump = 1026, kRelative = 1027;
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
      : file_(file), image_(image), error_(error), page_(platform::PageBytes()) {}

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
  ADC_ALWAYS_INLINE bool Bad(const Parts&... parts) {
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
    int32_t code = platform::LastError();
    Fail(error_, ADRT_ERROR_DRIVER, "shared image: the system refused to ", what, platform::kErrorName, code,
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
    if (file_.size() < sizeof(elf::Header)) return Bad("shorter than an ELF header");
    header_ = At<elf::Header>(0);
    bool known = std::memcmp(header_.ident, elf::kMagic, sizeof elf::kMagic) == 0 &&
                 header_.ident[elf::kClassAt] == elf::kClass64 &&
                 header_.ident[elf::kOrderAt] == elf::kLittleEndian && header_.version == elf::kVersion &&
                 header_.type == elf::kShared && header_.machine == kMachine;
    if (!known) return Bad("not an ELF64 shared object for this processor");
    if (header_.segment_bytes != sizeof(elf::Segment) || header_.segment_count == 0 ||
        header_.segment_count > 64 ||
        !Inside(file_.size(), header_.segments, uint64_t{header_.segment_count} * sizeof(elf::Segment))) {
      return Bad("its program headers are not inside");
    }
    return true;
  }

  bool ReadSegments() {
    for (uint32_t index = 0; index < header_.segment_count; ++index) {
      elf::Segment segment = At<elf::Segment>(header_.segments + index * sizeof(elf::Segment));
      switch (segment.type) {
        case elf::kLoad:
          if (!AddLoad(segment)) return false;
          break;
        case elf::kDynamic:
          if (dynamic_size_ != 0) return Bad("two dynamic segments");
          dynamic_ = segment.address;
          dynamic_size_ = segment.bytes;
          break;
        case elf::kReadOnlyLater:
          relro_ = segment.address;
          relro_size_ = segment.bytes;
          break;
        case elf::kStack:
          if (segment.flags & elf::kExecutable) return Bad("asks for an executable stack");
          break;
        case elf::kThreadLocal:
          return Bad("has thread-local storage");
        case elf::kInterpreter:
          return Bad("names an interpreter");
        default:
          break;
      }
    }
    if (load_count_ == 0 || dynamic_size_ == 0) return Bad("has nothing to load or no dynamic section");
    return true;
  }

  bool AddLoad(const elf::Segment& segment) {
    if (load_count_ == kMaxSegments) return Bad("more than ", kMaxSegments, " segments");
    if ((segment.flags & elf::kWritable) && (segment.flags & elf::kExecutable))
      return Bad("a segment is writable and executable");
    if (segment.stored > segment.bytes || !Inside(kMaxImage, segment.address, segment.bytes) ||
        !Inside(file_.size(), segment.offset, segment.stored)) {
      return Bad("a segment is not inside");
    }
    if (segment.bytes == 0) return true;
    Segment& added = loads_[load_count_];
    added = {segment.address, segment.address + segment.bytes, segment.offset, segment.stored, segment.flags};
    if (load_count_ > 0 && PageDown(added.begin) < PageUp(loads_[load_count_ - 1].end)) {
      return Bad("segments share a page or are out of order");
    }
    ++load_count_;
    return true;
  }

  bool Copy() {
    image_.size_ = PageUp(loads_[load_count_ - 1].end);
    image_.base_ = platform::ReservePages(image_.size_);
    if (!image_.base_) {
      image_.size_ = 0;
      return System("reserve memory");
    }
    for (uint32_t index = 0; index < load_count_; ++index) {
      const Segment& segment = loads_[index];
      uint64_t begin = PageDown(segment.begin), end = PageUp(segment.end);
      if (!platform::CommitPages(image_.base_ + begin, end - begin)) return System("give memory");
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
    return Mapped(begin, size, 0) && !Mapped(begin, size, elf::kWritable);
  }

  bool ReadDynamic() {
    if (!Mapped(dynamic_, dynamic_size_, 0)) return Bad("its dynamic section is not inside");
    constexpr uint32_t kTags = elf::kPackedRelocations + 1;
    uint64_t values[kTags] = {}, seen = 0;
    values[elf::kSymbolEntry] = sizeof(elf::Symbol);
    values[elf::kRelocationEntry] = sizeof(elf::Relocation);
    values[elf::kJumpKind] = elf::kRelocations;
    bool ended = false;
    for (uint64_t at = 0; at + sizeof(elf::Entry) <= dynamic_size_ && !ended; at += sizeof(elf::Entry)) {
      elf::Entry entry;
      std::memcpy(&entry, image_.base_ + dynamic_ + at, sizeof entry);
      ended = entry.tag == elf::kEnd;
      if (entry.tag == elf::kGnuHash) gnu_hash_ = entry.value;
      if (entry.tag >= kTags) continue;
      values[entry.tag] = entry.value;
      seen |= uint64_t{1} << entry.tag;
    }
    if (seen & elf::Tags(elf::kDependsOn)) return Bad("depends on another library");
    if (seen & elf::Tags(elf::kInit, elf::kFini, elf::kInitArray, elf::kFiniArray, elf::kPreinitArray))
      return Bad("wants code to run at loading");
    if (seen & elf::Tags(elf::kShortRelocations, elf::kPackedRelocations, elf::kTextRelocations))
      return Bad("has relocations of an unknown form");
    if (!ended) return Bad("its dynamic section has no end");
    if (values[elf::kSymbolEntry] != sizeof(elf::Symbol) ||
        values[elf::kRelocationEntry] != sizeof(elf::Relocation) ||
        values[elf::kJumpKind] != elf::kRelocations) {
      return Bad("its tables have entries of an unknown size");
    }
    rela_ = values[elf::kRelocations];
    rela_size_ = values[elf::kRelocationBytes];
    jump_ = values[elf::kJumpRelocations];
    jump_size_ = values[elf::kJumpBytes];
    hash_ = values[elf::kHash];
    symbols_at_ = values[elf::kSymbols];
    uint64_t strings = values[elf::kStrings], strings_size = values[elf::kStringBytes];
    if (strings_size == 0 || !MappedForGood(strings, strings_size) ||
        image_.base_[strings + strings_size - 1] != 0) {
      return Bad("its names are not inside");
    }
    image_.strings_ = reinterpret_cast<const char*>(image_.base_ + strings);
    image_.strings_size_ = strings_size;
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
    if (count > kMaxImage / sizeof(elf::Symbol) || !MappedForGood(symbols_at_, count * sizeof(elf::Symbol))) {
      return Bad("its symbols are not inside");
    }
    image_.symbols_ = image_.base_ + symbols_at_;
    image_.symbol_count_ = count;
    return true;
  }

  // The address that a symbol stands for: inside the image, or an import.
  bool Resolve(uint64_t index, uint64_t* address) {
    if (index >= image_.symbol_count_) return Bad("a relocation names no symbol");
    elf::Symbol symbol;
    std::memcpy(&symbol, image_.symbols_ + index * sizeof symbol, sizeof symbol);
    if (symbol.name >= image_.strings_size_) return Bad("a symbol's name is not inside");
    std::string_view name = image_.NameAt(symbol.name);
    if (symbol.section != elf::kUndefined) {
      if (symbol.value >= image_.size_) return Bad("symbol '", name, "' is not inside");
      *address = reinterpret_cast<uintptr_t>(image_.base_) + symbol.value;
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
    if (size % sizeof(elf::Relocation) != 0 || !MappedForGood(table, size))
      return Bad("its relocations are not inside");
    for (uint64_t at = 0; at < size; at += sizeof(elf::Relocation)) {
      elf::Relocation rela;
      std::memcpy(&rela, image_.base_ + table + at, sizeof rela);
      uint32_t type = elf::TypeOf(rela);
      if (type == kNothing) continue;
      uint64_t value = 0;
      if (type == kRelative) {
        if (static_cast<uint64_t>(rela.addend) >= image_.size_) return Bad("a relocation points outside");
        value = reinterpret_cast<uintptr_t>(image_.base_) + static_cast<uint64_t>(rela.addend);
      } else if (type == kGlobal || type == kJump || type == kAbsolute) {
        if (!Resolve(elf::SymbolOf(rela), &value)) return false;
        if (type == kAbsolute && !AddInside(static_cast<uint64_t>(rela.addend), &value))
          return Bad("a relocation points outside");
      } else {
        return Bad("a relocation has the unknown type ", type);
      }
      if (!Mapped(rela.offset, sizeof value, elf::kWritable))
        return Bad("a relocation writes where it must not");
      std::memcpy(image_.base_ + rela.offset, &value, sizeof value);
    }
    return true;
  }

  // The pages of all segments can be written until here.
  bool Protect() {
    for (uint32_t index = 0; index < load_count_; ++index) {
      const Segment& segment = loads_[index];
      if (segment.flags & elf::kWritable) continue;
      bool runs = segment.flags & elf::kExecutable;
      if (runs) {
        image_.code_begin_[image_.code_count_] = segment.begin;
        image_.code_end_[image_.code_count_++] = segment.end;
      }
      uint64_t begin = PageDown(segment.begin), end = PageUp(segment.end);
      if (!Allow(begin, end, runs ? platform::PageUse::ReadExecute : platform::PageUse::Read)) return false;
    }
    return ProtectRelocated();
  }

  // Memory that only relocations write becomes read-only; whole pages of one writable segment only.
  ADC_ALWAYS_INLINE bool ProtectRelocated() {
    uint64_t begin = PageDown(relro_), end = relro_size_ <= kMaxImage ? PageUp(relro_ + relro_size_) : 0;
    if (relro_size_ == 0 || relro_ >= image_.size_ || begin >= end) return true;
    for (uint32_t index = 0; index < load_count_; ++index) {
      const Segment& segment = loads_[index];
      if (!(segment.flags & elf::kWritable) || relro_ < segment.begin || relro_ >= segment.end) continue;
      if (end > PageUp(segment.end)) return Bad("its read-only part is not inside a segment");
      if (!Allow(begin, end, platform::PageUse::Read)) return false;
    }
    return true;
  }

  bool Allow(uint64_t begin, uint64_t end, platform::PageUse use) {
    return platform::Allow(image_.base_ + begin, end - begin, use) || System("protect memory");
  }

  std::span<const uint8_t> file_;
  Image& image_;
  adrt_error* error_;
  uint64_t page_;
  elf::Header header_ = {};
  Segment loads_[kMaxSegments];
  uint32_t load_count_ = 0;
  uint64_t dynamic_ = 0, dynamic_size_ = 0, relro_ = 0, relro_size_ = 0;
  uint64_t rela_ = 0, rela_size_ = 0, jump_ = 0, jump_size_ = 0, hash_ = 0, gnu_hash_ = 0, symbols_at_ = 0;
};

Image::~Image() {
  if (base_) platform::ReleasePages(base_, size_);
}

bool Image::Map(std::span<const uint8_t> file, adrt_error* error) {
  platform::WritesCode scope;
  return ImageMapper(file, *this, error).Run();
}

void Image::FindAll(std::span<Wanted> wanted) const {
  auto is_before = [](const Wanted& one, std::string_view name) { return one.name < name; };
  for (uint64_t index = 0; index < symbol_count_; ++index) {
    elf::Symbol symbol;
    std::memcpy(&symbol, symbols_ + index * sizeof symbol, sizeof symbol);
    if (symbol.section == elf::kUndefined || elf::TypeOf(symbol) != elf::kFunction) continue;
    if (symbol.name >= strings_size_) continue;
    std::string_view name = NameAt(symbol.name);
    auto found = std::lower_bound(wanted.begin(), wanted.end(), name, is_before);
    if (found == wanted.end() || found->name != name || found->address) continue;
    for (uint32_t range = 0; range < code_count_; ++range) {
      if (symbol.value >= code_begin_[range] && symbol.value < code_end_[range])
        found->address = base_ + symbol.value;
    }
  }
}

void* Image::Find(std::string_view name) const {
  Wanted one{name};
  FindAll({&one, 1});
  return one.address;
}

}  // namespace adrt
