#include "support/program_identity.h"

#include <link.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "support/files.h"
#include "support/hash.h"

namespace adc {

namespace {

std::string Hex(const uint8_t* bytes, size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t at = 0; at < size; ++at) {
    text += kDigits[bytes[at] >> 4];
    text += kDigits[bytes[at] & 15];
  }
  return text;
}

/// The description of a note of type NT_GNU_BUILD_ID in [bytes, bytes + size); empty where there is none.
std::string BuildIdIn(const uint8_t* bytes, size_t size) {
  auto rounded = [](uint64_t length) { return (length + 3) & ~uint64_t{3}; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, bytes, sizeof note);
    uint64_t name = sizeof note, content = name + rounded(note.n_namesz);
    uint64_t end = content + rounded(note.n_descsz);
    if (end > size) return {};
    bool gnu = note.n_namesz == 4 && std::memcmp(bytes + name, "GNU", 4) == 0;
    if (gnu && note.n_type == NT_GNU_BUILD_ID) return Hex(bytes + content, note.n_descsz);
    bytes += end;
    size -= end;
  }
  return {};
}

std::string ContentOf(const std::string& file) {
  constexpr uint64_t kMost = uint64_t{1} << 31;
  FileResult<std::string> bytes = ReadWhole(file, kMost);
  if (!bytes) return "unreadable";
  uint64_t hash = bytes->size();
  for (size_t at = 0; at < bytes->size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes->data() + at, std::min<size_t>(8, bytes->size() - at));
    hash = HashMix(hash, word);
  }
  return std::to_string(bytes->size()) + "-" + std::to_string(hash);
}

int Visit(dl_phdr_info* object, size_t, void* user) {
  bool program = object->dlpi_name == nullptr || *object->dlpi_name == 0;
  std::string file = program ? "/proc/self/exe" : object->dlpi_name;
  // The kernel's own page of functions is no file, and makes no code.
  if (!program && file.find('/') == std::string::npos) return 0;
  std::string id;
  for (int at = 0; at < object->dlpi_phnum && id.empty(); ++at) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[at];
    if (segment.p_type != PT_NOTE) continue;
    id = BuildIdIn(reinterpret_cast<const uint8_t*>(object->dlpi_addr + segment.p_vaddr), segment.p_memsz);
  }
  std::string name = program ? "program" : std::filesystem::path(file).filename().string();
  static_cast<std::set<std::string>*>(user)->insert(name + " " + (id.empty() ? ContentOf(file) : id));
  return 0;
}

}  // namespace

std::string ProgramIdentity() {
  std::set<std::string> lines;
  dl_iterate_phdr(Visit, &lines);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace adc
