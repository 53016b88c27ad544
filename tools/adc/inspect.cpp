// `adc inspect`: what a bundle holds, for people, or its metadata as JSON.

#include <cstdio>

#include "bundle_file.h"
#include "command_line.h"
#include "commands.h"
#include "driver/options.h"

namespace adc::tool {

namespace {

using artifact::KernelMeta;
using artifact::Metadata;
using artifact::ParamMeta;
using artifact::TaskMeta;

std::string Element(artifact::ScalarType type, uint32_t rows, uint32_t columns) {
  std::string scalar(artifact::ScalarTypeName(type));
  if (columns > 1)
    return "mat<" + scalar + ", " + std::to_string(rows) + ", " + std::to_string(columns) + ">";
  return rows > 1 ? "vec<" + scalar + ", " + std::to_string(rows) + ">" : scalar;
}

std::string ParamLine(const Metadata& metadata, const KernelMeta& kernel, const ParamMeta& param) {
  std::string text = "%" + std::string(param.name.view()) + ": ";
  std::string element = Element(param.type, param.rows, param.columns);
  if (param.kind == artifact::ParamKind::kLayout) {
    text += "@" + std::string(metadata.layouts[param.layout].name.view());
  } else if (param.kind == artifact::ParamKind::kScalar) {
    text += element;
  } else {
    text += "buffer<" + element + ", " + std::to_string(param.rank) + ">";
  }
  if (param.diff) text += " diff";
  if (param.alias) text += " alias";
  if (param.write_once) text += " writeonce";
  if (param.kind == artifact::ParamKind::kScratch) {
    text += " scratch, made for the launch:";
    for (artifact::NodeId extent : param.extents) text += " [" + FormulaText(kernel, extent) + "]";
    return text;
  }
  if (param.kind != artifact::ParamKind::kScalar) {
    constexpr const char* kAccess[] = {"read", "written", "read and written"};
    text += std::string(", ") + kAccess[static_cast<size_t>(param.access)];
  }
  if (param.primal != artifact::kNoIndex) {
    text += std::string(param.role == artifact::ParamRole::kAdjoint ? ", adjoint of %" : ", tangent of %") +
            std::string(kernel.params[param.primal].name.view());
  }
  return text;
}

bool SameStacks(const artifact::AdstackPlanMeta& left, const artifact::AdstackPlanMeta& right) {
  if (left.stacks.size() != right.stacks.size()) return false;
  for (size_t at = 0; at < left.stacks.size(); ++at) {
    const artifact::StackMeta &a = left.stacks[at], &b = right.stacks[at];
    bool same = a.id == b.id && a.type == b.type && a.capacity == b.capacity && a.storage == b.storage &&
                a.addressing == b.addressing && a.group == b.group && a.share == b.share;
    if (!same) return false;
  }
  return true;
}

/// "adc_k_t0, blocks of 128, rows by 32, far adc_k_t0_far, bindings 0 %x f32, 1 heap f32"
std::string EntryText(const KernelMeta& kernel, const TaskMeta& task, const artifact::EntryMeta& entry) {
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

void PrintTask(const Metadata& metadata, const KernelMeta& kernel, uint32_t number, const TaskMeta& task) {
  std::string head = "    task " + std::to_string(number) + ": ";
  if (task.kind == artifact::TaskKind::kSerial) {
    head += "serial";
  } else {
    head += "parallel over ";
    for (size_t axis = 0; axis < task.extents.size(); ++axis) {
      head += (axis == 0 ? "" : " x ") + FormulaText(kernel, task.extents[axis]);
    }
  }
  std::printf("%s, %s, class %s\n", head.c_str(), std::string(task.place.view()).c_str(),
              std::string(SizeClassText(task.size_class)).c_str());
  for (size_t index = 0; index < task.plans.size(); ++index) {
    const artifact::AdstackPlanMeta& plan = task.plans[index];
    // Plans differ in how rows lie, and in nothing else that is printed.
    if (index > 0 && SameStacks(plan, task.plans[0])) continue;
    if (index > 0) std::printf("      for %u lanes:\n", plan.lanes);
    for (const artifact::StackMeta& stack : plan.stacks) {
      std::string gate;
      if (stack.group < plan.groups.size()) gate = std::string(plan.groups[stack.group].gate.view());
      std::printf("      stack %u: %s x %s, %s, %s%s%s, pushed at %s\n", stack.id,
                  std::string(artifact::ScalarTypeName(stack.type)).c_str(),
                  FormulaText(kernel, stack.capacity).c_str(),
                  stack.storage == artifact::Storage::kRow ? "in the row" : "in private memory",
                  stack.addressing == artifact::Addressing::kIndexed ? "indexed" : "counted",
                  gate.empty() ? "" : ", behind the gate at ", gate.c_str(),
                  std::string(stack.place.view()).c_str());
    }
  }
  for (const artifact::EntryMeta& entry : task.entries) {
    std::printf("      %s: %s\n", std::string(metadata.targets[entry.target].name.view()).c_str(),
                EntryText(kernel, task, entry).c_str());
  }
}

/// What a target's code needs, and how much there is of it.
void PrintTargets(const BundleFile& file) {
  std::printf("\ntargets:\n");
  for (uint32_t target = 0; target < file.metadata.targets.size(); ++target) {
    const artifact::TargetMeta& meta = file.metadata.targets[target];
    uint64_t raw = 0, stored = 0;
    for (const artifact::Section& section : file.index.sections) {
      if (section.target != target) continue;
      raw += section.raw_size;
      stored += section.stored_size;
    }
    std::string features;
    for (const artifact::String& feature : meta.features) features += " " + std::string(feature.view());
    std::printf("  %-18s %s bytes of code, %s stored, needs%s\n", std::string(meta.name.view()).c_str(),
                Grouped(raw).c_str(), Grouped(stored).c_str(),
                features.empty() ? " no feature" : features.c_str());
  }
}

void PrintBundle(const std::string& path, const BundleFile& file) {
  const Metadata& metadata = file.metadata;
  std::printf("%s: %s bytes, format %u.%u, made by %s\ncontent ", path.c_str(),
              Grouped(file.bytes.size()).c_str(), file.index.major, file.index.minor,
              std::string(metadata.producer.view()).c_str());
  for (uint8_t byte : file.index.content_id) std::printf("%02x", byte);
  std::printf("\n\nsections:\n");
  for (const artifact::Section& section : file.index.sections) {
    std::printf(
        "  %-24s %12s bytes%s\n", SectionTitle(file, section).c_str(), Grouped(section.raw_size).c_str(),
        section.flags & artifact::kSectionZstd ? (", " + Grouped(section.stored_size) + " stored").c_str()
                                               : "");
  }
  PrintTargets(file);
  if (!metadata.layouts.empty()) std::printf("\nlayouts:\n");
  for (const artifact::LayoutMeta& layout : metadata.layouts) {
    std::printf("  @%s: %s bytes\n", std::string(layout.name.view()).c_str(),
                Grouped(static_cast<uint64_t>(layout.size)).c_str());
    for (const artifact::FieldMeta& field : layout.fields) {
      std::printf("    %s: %s%s at byte %lld\n", std::string(field.name.view()).c_str(),
                  Element(field.type, field.rows, field.columns).c_str(), field.diff ? " diff" : "",
                  static_cast<long long>(field.offset));
    }
  }
  std::printf("\nkernels:\n");
  for (const KernelMeta& kernel : metadata.kernels) {
    std::string origin;
    if (kernel.role == artifact::KernelRole::kGrad)
      origin = ", gradient of @" + std::string(kernel.of.view());
    if (kernel.role == artifact::KernelRole::kJvp) origin = ", tangent of @" + std::string(kernel.of.view());
    std::printf("  @%s%s, interface 0x%016llx\n", std::string(kernel.name.view()).c_str(), origin.c_str(),
                static_cast<unsigned long long>(kernel.interface_hash));
    for (const ParamMeta& param : kernel.params)
      std::printf("    %s\n", ParamLine(metadata, kernel, param).c_str());
    for (uint32_t task = 0; task < kernel.tasks.size(); ++task) {
      PrintTask(metadata, kernel, task, kernel.tasks[task]);
    }
  }
}

}  // namespace

int Inspect(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  bool json = false;
  CommandLine line("adc inspect [options] bundle.adcb",
                   "Shows sections, kernels, tasks and the adstack plan of a bundle.");
  line.Flag("--json", "print the metadata as it lies in the bundle", &json);
  line.Example("adc inspect relax.adcb", "sections, kernels, tasks, stacks");
  line.Example("adc inspect --json relax.adcb", "the same for programs");
  line.Positional("bundle", 1, 1, &files);
  switch (line.Parse(words)) {
    case CommandLine::Outcome::Done:
      return driver::kExitOk;
    case CommandLine::Outcome::Error:
      return driver::kExitUsage;
    case CommandLine::Outcome::Run:
      break;
  }
  BundleFile file;
  if (int code = ReadBundleFile(files[0], &file); code != driver::kExitOk) return code;
  if (!json) {
    PrintBundle(files[0], file);
    return driver::kExitOk;
  }
  std::vector<uint8_t> bytes;
  if (int code = ReadSectionBytes(file, 0, &bytes); code != driver::kExitOk) return code;
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  if (bytes.empty() || bytes.back() != '\n') std::fputc('\n', stdout);
  return driver::kExitOk;
}

}  // namespace adc::tool
