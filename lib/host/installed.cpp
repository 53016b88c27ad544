#include "host/installed.h"

#include <link.h>

namespace adc {

namespace {

namespace fs = std::filesystem;

/// The place of this code: the object file that the system has loaded it from.
struct Own {
  uintptr_t address = 0;
  fs::path file;
  bool is_program = true;
};

int Visit(dl_phdr_info* object, size_t, void* user) {
  Own& own = *static_cast<Own*>(user);
  for (int at = 0; at < object->dlpi_phnum; ++at) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[at];
    uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || own.address < begin || own.address - begin >= segment.p_memsz) continue;
    own.is_program = object->dlpi_name == nullptr || *object->dlpi_name == 0;
    if (!own.is_program) own.file = object->dlpi_name;
    return 1;
  }
  return 0;
}

Own Find() {
  Own own;
  own.address = reinterpret_cast<uintptr_t>(&Visit);
  dl_iterate_phdr(Visit, &own);
  // The program itself has no name in that list.
  std::error_code failure;
  own.file = own.is_program ? fs::read_symlink("/proc/self/exe", failure) : fs::canonical(own.file, failure);
  if (failure) own.file.clear();
  return own;
}

}  // namespace

fs::path OwnFolder() {
  return Find().file.parent_path();
}

fs::path InstalledFile(std::string_view name) {
  Own own = Find();
  if (own.file.empty()) return {};
  fs::path folder = own.file.parent_path(), above = folder.parent_path();
  std::error_code failure;
  auto there = [&](const fs::path& place) { return fs::exists(place / name, failure); };
  if (own.is_program) return there(above / "lib" / "adc") ? above / "lib" / "adc" / name : fs::path();
  for (const fs::path& place : {folder, folder / "adc", above / "adc"}) {
    if (there(place)) return place / name;
  }
  return {};
}

}  // namespace adc
