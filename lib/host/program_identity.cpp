#include "host/program_identity.h"

#include <link.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "host/installed.h"
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
  std::ifstream bytes(file, std::ios::binary);
  if (!bytes) return "unreadable";
  uint64_t hash = 0, size = 0;
  std::array<uint64_t, 8192> words;
  while (bytes) {
    bytes.read(reinterpret_cast<char*>(words.data()), sizeof words);
    auto got = static_cast<size_t>(bytes.gcount());
    std::memset(reinterpret_cast<char*>(words.data()) + got, 0, sizeof words - got);
    for (size_t at = 0; at < (got + 7) / 8; ++at) hash = HashMix(hash, words[at]);
    size += got;
  }
  return std::to_string(size) + "-" + std::to_string(hash);
}

struct Seen {
  std::filesystem::path own_folder;  ///< of the program
  std::set<std::string> lines = {};
};

/// Whether the file is a part of adc, whose bytes count: a build id stays as it is when they are changed.
bool IsOwn(const std::filesystem::path& file, const std::filesystem::path& own_folder) {
  std::error_code failure;
  std::filesystem::path folder = std::filesystem::weakly_canonical(file, failure).parent_path();
  return folder == own_folder || folder == own_folder.parent_path() / "lib" / "adc";
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
  Seen& seen = *static_cast<Seen*>(user);
  std::string line = name + " " + id;
  if (id.empty() || program || IsOwn(file, seen.own_folder)) line += " " + ContentOf(file);
  seen.lines.insert(line);
  return 0;
}

}  // namespace

std::string ProgramIdentity() {
  Seen seen{.own_folder = OwnFolder()};
  dl_iterate_phdr(Visit, &seen);
  std::string text;
  for (const std::string& line : seen.lines) text += line + "\n";
  return text;
}

}  // namespace adc
