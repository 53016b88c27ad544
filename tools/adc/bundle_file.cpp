#include "bundle_file.h"

#include <cstring>

#include "artifact/bundle_length.h"
#include "command_line.h"
#include "host/exit_code.h"
#include "host/files.h"
#include "loader.h"
#include "support/printable.h"

namespace adc::tool {

namespace {

/// Memory of this process, without a budget for it.
constexpr const artifact::Allocator* kOwnMemory = nullptr;
/// Parts of the longest text of an extent (artifact/size_expr.h cuts it), and how many looks are a step.
constexpr uint64_t kExtentParts = 200, kLooks = 64;

std::vector<std::string_view> ParamNames(const artifact::KernelMeta& kernel) {
  std::vector<std::string_view> names;
  for (const artifact::ParamMeta& param : kernel.params) names.push_back(param.name.view());
  return names;
}

int Report(const std::string& path, const artifact::Error& error) {
  std::string text = "'" + path + "': " + Printable(error.message());
  if (error.section != artifact::kNoSection) text += " (section " + std::to_string(error.section) + ")";
  PrintError(text);
  return error.code == artifact::Code::kUnsupported ? kExitUnsupported : kExitBadBundle;
}

}  // namespace

FileResult<std::string> ReadBundleBytes(const std::string& path) {
  if (FileStatus file = CheckNoNamedPipe(path); !file) return file.Failure();
  return ReadWhole(path, artifact::Limits().file_bytes, [](std::string_view begin) {
    uint64_t length = artifact::BundleLength({reinterpret_cast<const uint8_t*>(begin.data()), begin.size()});
    return length == 0 || length == UINT64_MAX ? length : length + 1;
  });
}

int ReadBundleFile(const std::string& path, BundleFile* file) {
  FileResult<std::string> bytes = ReadBundleBytes(path);
  if (!bytes) {
    PrintError(bytes.Failure().text, bytes.Failure().help);
    return kExitFailed;
  }
  return TakeBundle(path, {bytes->begin(), bytes->end()}, file);
}

int TakeBundle(const std::string& path, std::vector<uint8_t> bytes, BundleFile* file) {
  file->bytes = std::move(bytes);
  artifact::Error error;
  bool good = artifact::ReadBundle(file->bytes, artifact::Limits(), kOwnMemory, &file->index, &file->metadata,
                                   &error);
  return good ? kExitOk : Report(path, error);
}

std::string MetadataText(const adrt_bundle* bundle) {
  auto report = Sized<adrt_bundle_report>();
  adrt_bundle_info(bundle, &report, nullptr);
  for (uint32_t index = 0; index < report.section_count; ++index) {
    auto section = Sized<adrt_section_report>();
    adrt_bundle_section(bundle, index, &section, nullptr);
    if (std::string_view(section.kind) != "META") continue;
    std::string json(section.raw_bytes, 0);
    size_t size = 0;
    adrt_bundle_section_data(bundle, index, json.data(), json.size(), &size, nullptr);
    return json;
  }
  return {};
}

std::optional<artifact::Metadata> MetadataOf(const adrt_bundle* bundle) {
  auto report = Sized<adrt_bundle_report>();
  adrt_bundle_info(bundle, &report, nullptr);
  artifact::Metadata metadata;
  artifact::Error error;
  const artifact::Allocator* own_memory = nullptr;
  if (artifact::ReadMetadata(MetadataText(bundle), report.minor, artifact::Limits(), own_memory, &metadata,
                             &error))
    return metadata;
  PrintError("the metadata cannot be read: " + std::string(error.message()));
  return std::nullopt;
}

int ReadSectionBytes(const BundleFile& file, uint32_t section, std::vector<uint8_t>* bytes) {
  artifact::Vector<uint8_t> raw;
  artifact::Error error;
  if (!artifact::ReadSection(file.bytes, file.index, section, artifact::Limits(), &raw, &error)) {
    return Report("section " + std::to_string(section), error);
  }
  bytes->assign(raw.begin(), raw.end());
  return kExitOk;
}

int ReadSignatureRows(const BundleFile& file, std::vector<artifact::Signature>* rows) {
  rows->clear();
  const artifact::Section* section = file.index.Find(artifact::section::kSignature);
  if (section == nullptr) return kExitOk;
  std::vector<uint8_t> bytes;
  uint32_t number = static_cast<uint32_t>(section - file.index.sections.begin());
  if (int code = ReadSectionBytes(file, number, &bytes); code != kExitOk) return code;
  artifact::Vector<artifact::Signature> read;
  artifact::Error error;
  if (!artifact::ReadSignatures(bytes, &read, &error)) return Report("section SIGN", error);
  rows->assign(read.begin(), read.end());
  return kExitOk;
}

std::string SectionTitle(const BundleFile& file, const artifact::Section& section) {
  char kind[5];
  artifact::SectionKindName(section.kind, kind);
  std::string title = kind;
  if (section.target < file.metadata.targets.size()) {
    title += " " + std::string(file.metadata.targets[section.target].name.view());
  }
  return title;
}

std::string ValueText(const artifact::StackMeta& stack) {
  return stack.value.empty() ? "" : "%" + Printable(stack.value.view());
}

std::string ElementText(const artifact::StackMeta& stack) {
  return stack.bits ? "i1 bits" : std::string(artifact::ScalarTypeName(stack.type));
}

bool IsCopy(const artifact::StackMeta& stack) {
  return stack.storage == artifact::Storage::kRow && stack.param != artifact::kNoIndex;
}

std::string PromiseText(const artifact::KernelMeta& kernel, const artifact::StackMeta& stack) {
  return "promise of %" + Printable(kernel.params[stack.param].name.view()) +
         ", checked before the launch  (" + Printable(stack.place.view()) + ")";
}

std::string WhereText(const artifact::KernelMeta& kernel, const artifact::StackMeta& stack) {
  if (stack.storage == artifact::Storage::kSaved)
    return "in %" + Printable(kernel.params[stack.param].name.view());
  if (stack.storage == artifact::Storage::kPrivate) return "in private memory";
  return IsCopy(stack) ? "in the row, a copy of %" + Printable(kernel.params[stack.param].name.view())
                       : "in the row";
}

std::string FormulaText(const artifact::KernelMeta& kernel, artifact::NodeId node) {
  if (node == artifact::kNoNode) return "?";
  artifact::String text;
  artifact::FormatSizeExpr(kernel.exprs, node, ParamNames(kernel), &text);
  return std::string(text.view());
}

formulas::Formulas CapacityFormulas(const artifact::KernelMeta& kernel,
                                    const artifact::AdstackPlanMeta& plan) {
  std::vector<artifact::NodeId> shown;
  for (const artifact::StackMeta& stack : plan.stacks) shown.push_back(stack.capacity);
  return {kernel.exprs, ParamNames(kernel), shown};
}

bool SpendFormulas(const artifact::KernelMeta& kernel, uint64_t times, artifact::Steps* steps) {
  bool good = true;
  auto spend = [&](uint64_t parts) {
    good = good && parts <= steps->left() / times && steps->Spend(times * parts);
  };
  for (const artifact::TaskMeta& task : kernel.tasks) {
    // Extents are written one by one, and cut where they are long.
    spend(task.extents.size() * (kernel.params.size() + kExtentParts));
    for (const artifact::AdstackPlanMeta& plan : task.plans) {
      // Of a part that no stack uses a look at it is all.
      spend(kernel.params.size() + kernel.exprs.size() / kLooks + plan.stacks.size());
      if (good) spend(CapacityFormulas(kernel, plan).parts());
      if (!good) break;
    }
    if (!good) break;
  }
  if (good) return true;
  PrintError(
      "kernel '" + std::string(kernel.name.view()) +
          "': with it the formulas of this bundle have more than " + std::to_string(steps->limit()) +
          " parts, which is what one command may write",
      "--kernel=NAME of adc size writes those of one kernel, adc inspect --json the metadata as it is");
  return false;
}

std::string_view SizeClassText(artifact::SizeClass size_class) {
  switch (size_class) {
    case artifact::SizeClass::kS0:
      return "S0";
    case artifact::SizeClass::kS1:
      return "S1";
    case artifact::SizeClass::kS2:
      return "S2";
  }
  return "?";
}

std::string EntryText(const artifact::KernelMeta& kernel, const artifact::TaskMeta& task,
                      const artifact::EntryMeta& entry) {
  std::string text(entry.symbol.view());
  if (entry.block_size != 0) text += ", blocks of " + std::to_string(entry.block_size);
  uint32_t lanes = entry.plan == artifact::kNoIndex ? 1 : task.plans[entry.plan].lanes;
  if (lanes > 1) text += ", rows by " + std::to_string(lanes);
  if (entry.shared_bytes != 0) text += ", " + Grouped(entry.shared_bytes) + " shared bytes";
  if (!entry.far_symbol.empty()) text += ", far " + std::string(entry.far_symbol.view());
  constexpr const char* kHolds[] = {"", "words", "heap", "status"};
  const char* separator = ", bindings ";
  for (const artifact::BindingMeta& binding : entry.bindings) {
    bool of_param = binding.of == artifact::BindingOf::kParam;
    text += separator + std::to_string(binding.number) + " " +
            (of_param ? "%" + std::string(kernel.params[binding.param].name.view())
                      : kHolds[static_cast<size_t>(binding.of)]) +
            " " + std::string(artifact::ScalarTypeName(binding.type));
    separator = ", ";
  }
  return text;
}

std::string Grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace adc::tool
