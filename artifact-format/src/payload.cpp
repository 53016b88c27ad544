#include "payload.h"

#include "artifact/signature.h"
#include "bundle_layout.h"
#include "payload_forms.h"

namespace adc::artifact {
namespace {

/// The kind of target that a kind of section holds code for.
std::string_view TargetKindOf(uint32_t kind) {
  switch (kind) {
    case section::kObject:
    case section::kImage:
      return "cpu";
    case section::kPtx:
      return "cuda";
    case section::kHsaco:
      return "hip";
    case section::kSpirv:
      return "vulkan";
    case section::kMsl:
      return "metal";
    default:
      return {};
  }
}

/// Entry points that the metadata states for a target. The walk over all tasks is short for each of the few
/// sections of code.
bool EntriesOf(const Metadata& metadata, uint32_t target, OpenBudget* budget, WantedNames* names) {
  uint64_t walked = 0, wanted = 0;
  for (const KernelMeta& kernel : metadata.kernels) {
    ++walked;
    for (const TaskMeta& task : kernel.tasks) {
      ++walked;
      for (const EntryMeta& entry : task.entries) {
        if (entry.target > target) break;  // they ascend
        ++walked;
        if (entry.target != target) continue;
        if (!names->TryAdd(entry.symbol)) return false;
        if (!entry.far_symbol.empty() && !names->TryAdd(entry.far_symbol)) return false;
        wanted += 2;
      }
    }
  }
  return budget->Spend(walked + StepsToSort(wanted)) && names->TrySeal();
}

bool HasTasks(const Metadata& metadata) {
  for (const KernelMeta& kernel : metadata.kernels) {
    if (!kernel.tasks.empty()) return true;
  }
  return false;
}

/// Code for the target that the section names, and of its kind.
bool CheckCode(const Section& item, std::span<const uint8_t> bytes, const Metadata& metadata,
               OpenBudget* budget, Error* error) {
  const TargetMeta& target = metadata.targets[item.target];
  char kind[5];
  SectionKindName(item.kind, kind);
  auto not_for_it = [&] {
    return Fail(error, Code::kMalformed, Rule::kH10, "section ", std::string_view(kind, 4),
                " does not hold code for target '", target.name.view(), "'");
  };
  if (target.kind != TargetKindOf(item.kind)) return not_for_it();
  WantedNames names(budget->allocator());
  if (!EntriesOf(metadata, item.target, budget, &names)) {
    return Fail(error, Code::kOutOfMemory, Rule::kNone, "out of memory for the names of entry points");
  }
  // One function cannot be the code of two tasks: each would be launched, and judged, by the other's facts.
  if (!names.twice().empty()) {
    return Fail(error, Code::kMalformed, Rule::kH10, "two entries for target '", target.name.view(),
                "' have the symbol '", names.twice(), "'");
  }
  // Code that no task launches: the entries were taken out.
  if (names.size() == 0 && HasTasks(metadata)) {
    return Fail(error, Code::kMalformed, Rule::kH10, "section ", std::string_view(kind, 4),
                " holds code for target '", target.name.view(),
                "', and the metadata states no entry point for it");
  }
  bool is_cpu = target.kind == "cpu";
  if (is_cpu && !IsCpuElf(item.kind, bytes, target)) return not_for_it();
  bool good = is_cpu                         ? CheckCpuElf(bytes, target, &names, error)
              : item.kind == section::kSpirv ? CheckSpirv(bytes, target, &names, error)
              : item.kind == section::kHsaco ? CheckHsaco(bytes, target, &names, error)
              : item.kind == section::kMsl   ? CheckMsl(bytes, &names, error)
                                             : CheckPtx(bytes, target, &names, error);
  std::string_view missing;
  if (!good || names.Complete(&missing)) return good;
  return Fail(error, Code::kMalformed, Rule::kH10, "code for target '", target.name.view(),
              "' has no entry point '", missing, "'");
}

}  // namespace

bool CheckPayload(const Section& item, std::span<const uint8_t> bytes, const Metadata& metadata,
                  OpenBudget* budget, Error* error) {
  char name[5];
  SectionKindName(item.kind, name);
  std::string_view kind(name, 4);
  if (item.target != kNoTarget && item.target >= metadata.targets.size()) {
    return Fail(error, Code::kMalformed, Rule::kH10, "section ", kind, " names target ", item.target, " of ",
                uint64_t{metadata.targets.size()});
  }
  if (!TargetKindOf(item.kind).empty()) {
    if (item.target == kNoTarget) {
      return Fail(error, Code::kMalformed, Rule::kH10, "section ", kind, " belongs to no target");
    }
    return CheckCode(item, bytes, metadata, budget, error);
  }
  if (item.kind == section::kSignature) {
    Vector<Signature> signatures(metadata.kernels.allocator());
    return ReadSignatures(bytes, &signatures, error);
  }
  if (item.known && item.target != kNoTarget && item.kind != section::kDebugInfo) {
    return Fail(error, Code::kMalformed, Rule::kH3, "section ", kind, " belongs to no target, yet names one");
  }
  return true;
}

}  // namespace adc::artifact
