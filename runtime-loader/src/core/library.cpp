#include "core/library.h"

#include "core/errors.h"
#include "platform/platform.h"

namespace adrt {

void* OpenLibrary(std::span<const char* const> names, adrt_error* error) {
  for (const char* name : names) {
    if (void* library = platform::OpenLibrary(name)) return library;
  }
  Fail(error, ADRT_ERROR_NOT_FOUND, "the driver's library '", names[0],
       "' cannot be opened: ", platform::LibraryReason());
  return nullptr;
}

void* FindInLibrary(void* library, const char* name) {
  return platform::FindInLibrary(library, name);
}

bool FillTable(FindEntry find, void* user, std::span<const char* const> names, void** table, const char* what,
               adrt_error* error) {
  for (size_t index = 0; index < names.size(); ++index) {
    table[index] = find(user, names[index]);
    if (table[index]) continue;
    return Refuse(error, ADRT_ERROR_DRIVER, what, " has no function '", names[index], "'");
  }
  return true;
}

}  // namespace adrt
