#pragma once
// Libraries of drivers, found at run time: the loader links none of them.

#include <adrt/adrt.h>

#include <cstddef>
#include <span>

namespace adrt {

/// Opens the first library of `names` that there is; null with the system's reason where none opens. It stays
/// open as long as the process: drivers start threads and keep state, and do not bear being unloaded.
void* OpenLibrary(std::span<const char* const> names, adrt_error* error);

/// A function that finds entry points by name, as callers of the wrap functions give it.
using FindEntry = void* (*)(void* user, const char* name);
/// The same for an opened library, which is `user`.
void* FindInLibrary(void* library, const char* name);

/// Fills a table of function pointers: `names[i]` goes to `table[i]`. False where one is missing: `what` says
/// of which driver.
bool FillTable(FindEntry find, void* user, std::span<const char* const> names, void** table, const char* what,
               adrt_error* error);

}  // namespace adrt
