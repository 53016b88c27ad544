#pragma once
// The parts that every kind needs when it loads a module: the target's section, and its entries one by one.

#include "core/handles.h"

struct adrt_entries;

namespace adrt {

/// The target's code, uncompressed and checked against its hash. `section` is its number, for errors.
bool ReadCode(const adrt_module& module, Vector<uint8_t>* bytes, uint32_t* section, adrt_error* error);

/// A walk over the tasks that have code for the module's target.
///   for (EntryWalk walk; NextEntry(module, &walk);) module.entries[walk.slot] = ... walk.meta->symbol ...
struct EntryWalk {
  const artifact::KernelMeta* kernel_meta = nullptr;
  const artifact::EntryMeta* meta = nullptr;
  uint32_t kernel = 0;
  uint32_t task = 0;
  uint32_t slot = 0;  ///< index in adrt_module::entries and entry_threads
  uint32_t next_task = 0;
};
bool NextEntry(const adrt_module& module, EntryWalk* walk);

/// Threads of a block of an entry on a GPU.
inline uint32_t BlockSize(const artifact::EntryMeta& meta) {
  constexpr uint32_t kDefault = 128;
  return meta.block_size > 0 ? meta.block_size : kDefault;
}

/// Code that is in the program already.
struct LinkedCode {
  const adrt_entries* entries;
  /// Fills adrt_module::entries.
  bool (*take)(adrt_module& module, const adrt_entries& entries, adrt_error* error);
};
/// A module of one of the bundle's targets, if the device can run it: of linked code, which is trusted, or,
/// where `linked` is null, of the code in the bundle, if that is.
adrt_status MakeModule(adrt_device* device, adrt_bundle* bundle, uint32_t target, const LinkedCode* linked,
                       adrt_module** module, adrt_error* error);

}  // namespace adrt
