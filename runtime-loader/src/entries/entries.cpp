#include <adrt/adrt_static.h>

#include <cstring>

#include "core/code.h"
#include "core/errors.h"

// Modules of linked code. The content id decides whether a table belongs to a bundle: it covers metadata and
// code, so that entries cannot be called with words or rows of another plan. Further comparisons say why a
// table is wrong that adc did not write.

using adrt::Fail;

namespace adrt {
namespace {

/// A content id in messages: its first eight bytes.
struct ShortId {
  explicit ShortId(const uint8_t* id) {
    constexpr char kDigits[] = "0123456789abcdef";
    for (uint32_t index = 0; index < 16; ++index)
      text[index] = kDigits[id[index / 2] >> (index % 2 ? 0 : 4) & 15];
  }
  char text[17] = {};
};

bool IsOf(const adrt_entries& entries, const adrt_bundle& bundle) {
  for (const uint8_t(&id)[artifact::kContentIdSize] : entries.content_ids) {
    if (std::memcmp(id, bundle.index.content_id, sizeof id) == 0) return true;
  }
  return false;
}

void* Find(const adrt_entries& entries, std::string_view name) {
  uint32_t low = 0, high = entries.entry_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const adrt_entry& entry = entries.entries[middle];
    int order = entry.name ? name.compare(entry.name) : 1;
    if (order == 0) return reinterpret_cast<void*>(entry.function);
    if (order < 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return nullptr;
}

bool TakeEntries(adrt_module& module, const adrt_entries& entries, adrt_error* error) {
  for (EntryWalk walk; NextEntry(module, &walk);) {
    module.entries[walk.slot] = Find(entries, walk.meta->symbol);
    if (module.entries[walk.slot]) continue;
    return Refuse(error, ADRT_ERROR_ARGUMENT, "the table of '", entries.bundle, "' has no entry '",
                  walk.meta->symbol.view(), "' for kernel '", walk.kernel_meta->name.view(), "'");
  }
  return true;
}

const artifact::TargetMeta* FindTarget(const artifact::Metadata& metadata, const char* name,
                                       uint32_t* target) {
  for (*target = 0; *target < metadata.targets.size(); ++*target) {
    if (metadata.targets[*target].name == name) return &metadata.targets[*target];
  }
  return nullptr;
}

}  // namespace
}  // namespace adrt

adrt_status adrt_module_from_entries(adrt_device* device, adrt_bundle* bundle, const adrt_entries* entries,
                                     adrt_module** module, adrt_error* error) {
  adrt::Alive(__func__, device, bundle);
  if (!device || !bundle || !entries || !module)
    return Fail(error, ADRT_ERROR_ARGUMENT, "module_from_entries: null argument");
  adrt_entries table = {};
  if (!adrt::CopyDescriptor(entries, &table) || table.reserved0 != 0)
    return Fail(error, ADRT_ERROR_ARGUMENT, "module_from_entries: ", adrt::kNotSet);
  if (!table.bundle || !table.target || (!table.entries && table.entry_count > 0))
    return Fail(error, ADRT_ERROR_ARGUMENT, "module_from_entries: a null pointer in the table");
  if (table.abi != ADRT_ENTRIES_ABI) {
    return Fail(error, ADRT_ERROR_VERSION, "the entries of '", table.bundle, "' are called by convention ",
                table.abi, ", this loader has convention ", ADRT_ENTRIES_ABI,
                ": take adc and loader of one version");
  }
  const adc::artifact::Metadata& metadata = bundle->metadata;
  if (!adrt::IsOf(table, *bundle)) {
    return Fail(error, ADRT_ERROR_INTERFACE_MISMATCH, "the program is linked with the code of bundle '",
                table.bundle, "' (content id ", adrt::ShortId(table.content_ids[0]).text,
                "), this is another bundle, of ",
                metadata.sources.empty() ? "no source" : metadata.sources[0].c_str(), " (content id ",
                adrt::ShortId(bundle->index.content_id).text,
                "): extract object and table from the bundle that is opened (adc extract --static)");
  }
  uint32_t target = 0;
  const adc::artifact::TargetMeta* meta = adrt::FindTarget(metadata, table.target, &target);
  if (!meta || meta->kind != device->kind->name || !device->kind->host_memory) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "module_from_entries: the code is for '", table.target,
                "', the device is of kind '", device->kind->name, "'");
  }
  adrt::LinkedCode linked = {&table, adrt::TakeEntries};
  return adrt::MakeModule(device, bundle, target, &linked, module, error);
}
