// `adc diff`: what differs between two bundles, by meaning first and by content where meaning is equal.
// Compression does not count: the bytes of zstd differ between its versions.

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "bundle_file.h"
#include "command_line.h"
#include "commands.h"
#include "print.h"
#include "support/exit_code.h"

namespace adc::tool {

namespace {

using artifact::KernelMeta;

/// Facts of a bundle as sorted key and value, so that comparing is one merge.
using Facts = std::map<std::string, std::string>;

std::string Hex(uint64_t word) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(word));
  return text;
}

/// Numbers in keys sort as numbers.
std::string Number(size_t number) {
  char text[16];
  std::snprintf(text, sizeof text, "%04zu", number);
  return text;
}

void AddKernel(const artifact::Metadata& metadata, const KernelMeta& kernel, Facts* facts) {
  std::string head = "kernel @" + std::string(kernel.name.view());
  (*facts)[head] = "interface " + Hex(kernel.interface_hash);
  (*facts)[head + ", number of tasks"] = std::to_string(kernel.tasks.size());
  for (const artifact::ParamMeta& param : kernel.params) {
    for (size_t axis = 0; axis < param.extents.size(); ++axis) {
      (*facts)[head + ", scratch %" + std::string(param.name.view()) + ", axis " + Number(axis)] =
          FormulaText(kernel, param.extents[axis]);
    }
  }
  for (size_t number = 0; number < kernel.tasks.size(); ++number) {
    const artifact::TaskMeta& task = kernel.tasks[number];
    std::string title = head + ", task " + Number(number);
    std::string extents;
    for (artifact::NodeId extent : task.extents) extents += "[" + FormulaText(kernel, extent) + "]";
    (*facts)[title] = (task.extents.empty() ? "serial" : "parallel over " + extents) + ", class " +
                      std::string(SizeClassText(task.size_class)) + ", " + Printable(task.place.view());
    for (const artifact::EntryMeta& entry : task.entries) {
      (*facts)[title + ", on " + std::string(metadata.targets[entry.target].name.view())] =
          EntryText(kernel, task, entry);
    }
    // Plans are told apart by the width of their rows and by how many stacks have none, so that a target more
    // or less changes no other's.
    for (size_t plan = 0; plan < task.plans.size(); ++plan) {
      std::string plan_title = title + ", " + std::to_string(task.plans[plan].lanes) + " lanes";
      auto private_stacks = std::count_if(
          task.plans[plan].stacks.begin(), task.plans[plan].stacks.end(),
          [](const artifact::StackMeta& stack) { return stack.storage == artifact::Storage::kPrivate; });
      if (private_stacks > 0) plan_title += ", " + std::to_string(private_stacks) + " private";
      (*facts)[plan_title + ", number of stacks"] = std::to_string(task.plans[plan].stacks.size());
      for (size_t index = 0; index < task.plans[plan].stacks.size(); ++index) {
        const artifact::StackMeta& stack = task.plans[plan].stacks[index];
        (*facts)[plan_title + ", stack " + Number(index)] =
            ElementText(stack) + " x " + FormulaText(kernel, stack.capacity) +
            (stack.storage == artifact::Storage::kRow ? ", row" : ", private") +
            (stack.addressing == artifact::Addressing::kIndexed ? ", indexed" : ", counted") + ", group " +
            std::to_string(stack.group) + ", " + Printable(stack.place.view());
      }
    }
  }
}

Facts FactsOf(const BundleFile& file) {
  Facts facts;
  facts["producer"] = std::string(file.metadata.producer.view());
  for (const artifact::TargetMeta& target : file.metadata.targets) {
    std::string features;
    for (const artifact::String& feature : target.features) features += " " + std::string(feature.view());
    facts["target " + std::string(target.name.view())] = "features" + features;
  }
  for (const artifact::LayoutMeta& layout : file.metadata.layouts) {
    facts["layout @" + std::string(layout.name.view())] = std::to_string(layout.size) + " bytes";
  }
  for (const KernelMeta& kernel : file.metadata.kernels) AddKernel(file.metadata, kernel, &facts);
  for (const artifact::Section& section : file.index.sections) {
    facts["section " + SectionTitle(file, section)] =
        Grouped(section.raw_size) + " bytes, content " + Hex(section.raw_hash);
  }
  return facts;
}

}  // namespace

int Diff(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  CommandLine line(
      "adc diff first.adcb second.adcb",
      "Says what differs between two bundles: targets, kernels, tasks, stacks, then the content of\n"
      "sections, uncompressed. Exit code 7 if they differ, 0 if not.");
  line.Example("adc diff golden.adcb relax.adcb", "nothing and exit code 0 where they hold the same");
  line.Positional("bundle", 2, 2, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  BundleFile first, second;
  if (int code = ReadBundleFile(files[0], &first); code != kExitOk) return code;
  if (int code = ReadBundleFile(files[1], &second); code != kExitOk) return code;
  Facts left = FactsOf(first), right = FactsOf(second);
  std::set<std::string> keys;
  for (const auto& [key, value] : left) keys.insert(key);
  for (const auto& [key, value] : right) keys.insert(key);
  uint32_t differences = 0;
  for (const std::string& key : keys) {
    auto in_left = left.find(key), in_right = right.find(key);
    if (in_left != left.end() && in_right != right.end() && in_left->second == in_right->second) continue;
    ++differences;
    Print("%s:\n", key.c_str());
    if (in_left != left.end()) Print("  - %s\n", in_left->second.c_str());
    if (in_right != right.end()) Print("  + %s\n", in_right->second.c_str());
  }
  if (differences == 0) return kExitOk;
  Print("%u differences\n", differences);
  return kExitDiffers;
}

}  // namespace adc::tool
