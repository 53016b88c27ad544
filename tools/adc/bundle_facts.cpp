#include "bundle_facts.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "host/exit_code.h"
#include "support/printable.h"

namespace adc::tool {

namespace {

using artifact::KernelMeta, artifact::TaskMeta;

std::string Hex(uint64_t word) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(word));
  return text;
}

std::string Text(const artifact::String& text) {
  return std::string(text.view());
}

void AddPlan(const KernelMeta& kernel, const artifact::AdstackPlanMeta& plan, const std::string& task,
             Facts* facts) {
  // Plans are told apart by the width of their rows and by how many stacks have none, so that a target more
  // or less changes no other's.
  std::string title = task + ", " + std::to_string(plan.lanes) + " lanes";
  auto private_stacks = std::count_if(
      plan.stacks.begin(), plan.stacks.end(),
      [](const artifact::StackMeta& stack) { return stack.storage == artifact::Storage::kPrivate; });
  if (private_stacks > 0) title += ", " + std::to_string(private_stacks) + " private";
  (*facts)[title + ", number of stacks"] = {FactGroup::Sizes, std::to_string(plan.stacks.size())};
  for (size_t number = 0; number < plan.stacks.size(); ++number) {
    const artifact::StackMeta& stack = plan.stacks[number];
    std::string name = title + ", stack " + std::to_string(number);
    if (stack.storage == artifact::Storage::kPromise) {
      (*facts)[name] = {FactGroup::Sizes, PromiseText(kernel, stack)};
      continue;
    }
    std::string formula = FormulaText(kernel, stack.capacity);
    (*facts)[name] = {FactGroup::Sizes,
                      ElementText(stack) + " x " + formula + ", " + WhereText(kernel, stack) +
                          (stack.addressing == artifact::Addressing::kIndexed ? ", indexed" : ", counted") +
                          ", group " + std::to_string(stack.group),
                      {formula}};
    (*facts)[name + ", pushed at"] = {FactGroup::Places, Printable(stack.place.view())};
    if (!stack.value.empty()) (*facts)[name + ", holds"] = {FactGroup::Places, ValueText(stack)};
  }
}

void AddKernel(const artifact::Metadata& metadata, const KernelMeta& kernel, Facts* facts) {
  std::string head = "kernel @" + Text(kernel.name);
  (*facts)[head] = {FactGroup::Interface, "interface " + Hex(kernel.interface_hash)};
  (*facts)[head + ", number of tasks"] = {FactGroup::Tasks, std::to_string(kernel.tasks.size())};
  (*facts)[head + ", place"] = {FactGroup::Places, Printable(kernel.place.view())};
  for (const artifact::ParamMeta& param : kernel.params) {
    for (size_t axis = 0; axis < param.extents.size(); ++axis) {
      std::string formula = FormulaText(kernel, param.extents[axis]);
      (*facts)[head + ", scratch %" + Text(param.name) + ", axis " + std::to_string(axis)] = {
          FactGroup::Sizes, formula, {formula}};
    }
  }
  for (size_t number = 0; number < kernel.tasks.size(); ++number) {
    const TaskMeta& task = kernel.tasks[number];
    std::string title = TaskTitle(kernel, number);
    std::string extents;
    std::vector<std::string> formulas;
    for (artifact::NodeId extent : task.extents)
      extents += "[" + formulas.emplace_back(FormulaText(kernel, extent)) + "]";
    (*facts)[title] = {FactGroup::Tasks,
                       (task.extents.empty() ? "serial" : "parallel over " + extents) + ", class " +
                           std::string(SizeClassText(task.size_class)),
                       formulas};
    (*facts)[title + ", place"] = {FactGroup::Places, Printable(task.place.view())};
    for (const artifact::EntryMeta& entry : task.entries) {
      (*facts)[title + ", on " + Text(metadata.targets[entry.target].name)] = {
          FactGroup::Tasks, EntryText(kernel, task, entry)};
    }
    for (const artifact::AdstackPlanMeta& plan : task.plans) AddPlan(kernel, plan, title, facts);
  }
}

/// Takes places, names of sources and values, and the producer out: the rest decides about launches.
void EraseGroups(nlohmann::json& value) {
  if (value.is_object()) {
    for (const char* key : {"place", "value", "sources", "source_digests", "producer"}) value.erase(key);
    // Whether a group of stacks has a gate is more than its place.
    if (auto gate = value.find("gate"); gate != value.end()) *gate = gate->is_string() && *gate != "";
  }
  if (!value.is_structured()) return;
  for (nlohmann::json& inner : value) EraseGroups(inner);
}

/// The digits with which `text` begins, without leading zeros, and what follows them.
std::pair<std::string_view, std::string_view> SplitNumber(std::string_view text) {
  size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  size_t begin = std::min(text.find_first_not_of('0'), end);
  return {text.substr(begin, end - begin), text.substr(end)};
}

bool IsDigit(char letter) {
  return letter >= '0' && letter <= '9';
}

}  // namespace

bool TitleOrder::operator()(std::string_view a, std::string_view b) const {
  std::string_view left = a, right = b;
  while (!left.empty() && !right.empty()) {
    if (IsDigit(left[0]) && IsDigit(right[0])) {
      auto [number, rest] = SplitNumber(left);
      auto [other, other_rest] = SplitNumber(right);
      if (number.size() != other.size()) return number.size() < other.size();
      if (number != other) return number < other;
      left = rest;
      right = other_rest;
    } else if (left[0] != right[0]) {
      return static_cast<unsigned char>(left[0]) < static_cast<unsigned char>(right[0]);
    } else {
      left.remove_prefix(1);
      right.remove_prefix(1);
    }
  }
  if (left.empty() != right.empty()) return left.empty();
  return a < b;  // "x1" and "x01"
}

std::string TaskTitle(const KernelMeta& kernel, size_t task) {
  return "kernel @" + Text(kernel.name) + ", task " + std::to_string(task);
}

int FactsOf(const BundleFile& file, Facts* facts) {
  const artifact::Metadata& metadata = file.metadata;
  (*facts)["producer"] = {FactGroup::Producer, Printable(metadata.producer.view())};
  for (size_t number = 0; number < metadata.sources.size(); ++number)
    (*facts)["source " + std::to_string(number)] = {FactGroup::Places,
                                                    Printable(metadata.sources[number].view())};
  for (size_t number = 0; number < metadata.source_digests.size(); ++number) {
    (*facts)["source " + std::to_string(number) + ", text"] = {
        FactGroup::Places, "SHA-256 " + Text(metadata.source_digests[number])};
  }
  for (const artifact::TargetMeta& target : metadata.targets) {
    std::string features;
    for (const artifact::String& feature : target.features) features += " " + Text(feature);
    (*facts)["target " + Text(target.name)] = {FactGroup::Targets, "features" + features};
  }
  for (const artifact::LayoutMeta& layout : metadata.layouts)
    (*facts)["layout @" + Text(layout.name)] = {FactGroup::Sizes, std::to_string(layout.size) + " bytes"};
  for (const KernelMeta& kernel : metadata.kernels) AddKernel(metadata, kernel, facts);
  for (const artifact::Section& section : file.index.sections) {
    // The metadata's meaning is above; code is compared by its functions.
    bool code = section.target != artifact::kNoTarget;
    if (code || section.kind == artifact::section::kMeta) continue;
    FactGroup group = section.kind == artifact::section::kSourceMap ? FactGroup::Places : FactGroup::Other;
    (*facts)["section " + SectionTitle(file, section)] = {
        group, Grouped(section.raw_size) + " bytes, content " + Hex(section.raw_hash)};
  }
  std::vector<uint8_t> bytes;
  if (int code = ReadSectionBytes(file, 0, &bytes); code != kExitOk) return code;
  nlohmann::json rest = nlohmann::json::parse(bytes.begin(), bytes.end(), nullptr, false);
  EraseGroups(rest);
  std::string text = rest.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  uint64_t content = artifact::Hash64({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  (*facts)[std::string(kRestOfMetadata)] = {FactGroup::Other, "content " + Hex(content)};
  return kExitOk;
}

}  // namespace adc::tool
