#pragma once
// What every kind needs when it loads a module: the target's section, and its entries one by one.

#include "core/handles.h"

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

/// What a module is made of.
struct ModuleParts {
  adrt_device* device;
  adrt_bundle* bundle;
  uint32_t target;
  bool confined;
  void* code;  ///< where `load` finds it in adrt_module::code; null: in the bundle, which must hold it
  bool (*load)(adrt_module& module, adrt_error* error);
};
/// The module, if the device can run the target and `load` takes the code.
adrt_status MakeModule(const ModuleParts& parts, adrt_module** module, adrt_error* error);

}  // namespace adrt
