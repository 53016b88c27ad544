#include "code_note.h"

#include <cstring>
#include <functional>

namespace adc::tool {

namespace {

/// Reads MessagePack that may be anything: every step checks what is left, and depth is bounded.
class Packed {
 public:
  explicit Packed(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool good() const { return good_; }

  std::string Text() {
    uint8_t head = Byte();
    uint64_t length = (head & 0xE0) == 0xA0 ? head & 0x1Fu
                      : head == 0xD9        ? Number(1)
                      : head == 0xDA        ? Number(2)
                      : head == 0xDB        ? Number(4)
                                            : Wrong();
    if (!Take(length)) return {};
    return {reinterpret_cast<const char*>(bytes_.data() + at_ - length), static_cast<size_t>(length)};
  }

  uint64_t Integer() {
    uint8_t head = Byte();
    if (head < 0x80) return head;
    if (head >= 0xCC && head <= 0xCF) return Number(size_t{1} << (head - 0xCC));
    return Wrong();
  }

  void List(const std::function<void()>& element) {
    uint8_t head = Byte();
    uint64_t count = (head & 0xF0) == 0x90 ? head & 0x0Fu
                     : head == 0xDC        ? Number(2)
                     : head == 0xDD        ? Number(4)
                                           : Wrong();
    for (uint64_t index = 0; index < count && good_; ++index) element();
  }

  /// `value` reads what belongs to the key, or leaves it and returns false.
  void Map(const std::function<bool(const std::string& key)>& value) {
    uint8_t head = Byte();
    uint64_t count = (head & 0xF0) == 0x80 ? head & 0x0Fu
                     : head == 0xDE        ? Number(2)
                     : head == 0xDF        ? Number(4)
                                           : Wrong();
    for (uint64_t index = 0; index < count && good_; ++index) {
      std::string key = Text();
      if (good_ && !value(key)) Skip(0);
    }
  }

 private:
  void Skip(int depth) {
    if (depth > 16) Wrong();
    if (!good_) return;
    uint8_t head = at_ < bytes_.size() ? bytes_[at_] : 0xC1;
    if ((head & 0xE0) == 0xA0 || (head >= 0xD9 && head <= 0xDB)) {
      Text();
    } else if ((head & 0xF0) == 0x90 || head == 0xDC || head == 0xDD) {
      List([&] { Skip(depth + 1); });
    } else if ((head & 0xF0) == 0x80 || head == 0xDE || head == 0xDF) {
      Map([&](const std::string&) {
        Skip(depth + 1);
        return true;
      });
    } else if (head == 0xC0 || head == 0xC2 || head == 0xC3 || head >= 0xE0) {
      Byte();
    } else {
      Integer();
    }
  }

  bool Take(uint64_t count) {
    if (!good_ || count > bytes_.size() - at_) return Wrong() != 0;
    at_ += count;
    return true;
  }
  uint8_t Byte() { return Take(1) ? bytes_[at_ - 1] : 0xC1; }
  uint64_t Number(size_t size) {
    uint64_t number = 0;
    if (!Take(size)) return 0;
    for (size_t index = at_ - size; index < at_; ++index) number = number << 8 | bytes_[index];
    return number;
  }
  uint64_t Wrong() {
    good_ = false;
    return 0;
  }

  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  bool good_ = true;
};

template <class N>
N Load(std::span<const uint8_t> bytes, uint64_t at) {
  N number = 0;
  if (at <= bytes.size() && sizeof number <= bytes.size() - at)
    std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

/// The description of the first note of AMD's metadata, among the sections of notes of an ELF file.
std::span<const uint8_t> AmdNote(std::span<const uint8_t> elf) {
  constexpr uint32_t kSectionOfNotes = 7, kAmdMetadata = 32;
  uint64_t table = Load<uint64_t>(elf, 0x28), count = Load<uint16_t>(elf, 0x3C);
  for (uint64_t row = 0; row < count && table < elf.size(); ++row) {
    uint64_t at = table + row * 64;
    if (Load<uint32_t>(elf, at + 4) != kSectionOfNotes) continue;
    uint64_t begin = Load<uint64_t>(elf, at + 24), size = Load<uint64_t>(elf, at + 32);
    if (begin > elf.size() || size > elf.size() - begin) continue;
    std::span<const uint8_t> notes = elf.subspan(begin, size);
    while (notes.size() >= 12) {
      uint64_t name = (uint64_t{Load<uint32_t>(notes, 0)} + 3) & ~uint64_t{3},
               description = Load<uint32_t>(notes, 4), whole = 12 + name + ((description + 3) & ~uint64_t{3});
      if (12 + name + description > notes.size()) break;
      if (Load<uint32_t>(notes, 8) == kAmdMetadata) return notes.subspan(12 + name, description);
      if (whole > notes.size()) break;
      notes = notes.subspan(whole);
    }
  }
  return {};
}

}  // namespace

std::vector<NoteKernel> KernelsOfNote(std::span<const uint8_t> elf) {
  std::vector<NoteKernel> kernels;
  Packed note(AmdNote(elf));
  auto argument = [&](NoteKernel& kernel) {
    std::string name = "?";
    uint64_t bytes = 0;
    note.Map([&](const std::string& key) {
      if (key == ".name") name = note.Text();
      if (key == ".size") bytes = note.Integer();
      return key == ".name" || key == ".size";
    });
    kernel.words.push_back(bytes == 8 ? name : "?");
  };
  auto kernel_row = [&] {
    NoteKernel kernel;
    note.Map([&](const std::string& key) {
      if (key == ".name") {
        kernel.name = note.Text();
      } else if (key == ".max_flat_workgroup_size") {
        kernel.block_size = note.Integer();
      } else if (key == ".group_segment_fixed_size") {
        kernel.shared_bytes = note.Integer();
      } else if (key == ".vgpr_count") {
        kernel.registers = note.Integer();
      } else if (key == ".args") {
        note.List([&] { argument(kernel); });
      } else {
        return false;
      }
      return true;
    });
    if (note.good()) kernels.push_back(std::move(kernel));
  };
  note.Map([&](const std::string& key) {
    if (key != "amdhsa.kernels") return false;
    note.List(kernel_row);
    return true;
  });
  return kernels;
}

}  // namespace adc::tool
