#include "product/shader_header.h"

#include <algorithm>

#include "artifact/adstack_layout.h"
#include "codegen/common/mangle.h"
#include "codegen/common/shader_layout.h"
#include "ir/module.h"
#include "product/header_names.h"

namespace adc::product {

namespace {

using Kind = ir::ShaderBinding::Kind;

std::string Define(const std::string& name, uint64_t value) {
  return "#define " + name + " " + std::to_string(value) + "\n";
}

std::string PlaceText(const std::string& name, const codegen::DescriptorPlace& place) {
  return Define(name + "_set", place.set) + Define(name + "_binding", place.binding);
}

/// The arithmetic of artifact/adstack_layout.h, written out for one plan.
std::string WordsFunction(const artifact::KernelMeta& meta, const artifact::AdstackPlanMeta& plan,
                          const std::string& name) {
  std::vector<std::string_view> params;
  for (const artifact::ParamMeta& param : meta.params) params.push_back(param.name.view());
  std::string stacks;
  for (uint32_t n = 0; n < plan.stacks.size(); ++n) {
    const artifact::StackMeta& stack = plan.stacks[n];
    artifact::String formula;
    bool known = stack.capacity != artifact::kNoNode &&
                 artifact::FormatSizeExpr(meta.exprs, stack.capacity, params, &formula);
    stacks +=
        " *   capacity[" + std::to_string(n) +
        "]: " + std::string(known ? formula.view() : "as many as the launch needs") + ", for " +
        std::string(stack.place.view()) +
        (stack.storage == artifact::Storage::kRow       ? ""
         : stack.storage == artifact::Storage::kPrivate ? " (in private memory: its capacity is not read)"
                                                        : " (saved: its capacity is not read)") +
        "\n";
  }
  auto groups = static_cast<uint32_t>(plan.groups.size());
  artifact::RowRules rules = artifact::RowRulesOf("vulkan", plan.lanes);
  std::string text =
      Define(name + "_word_count", PlanWords(plan)) + Define(name + "_stack_count", plan.stacks.size());
  text += "/* Fills the words of the adstacks; the bytes of the heap, which begins with zeros. Elements:\n" +
          stacks +
          " * An adstack that overflows all the same writes nothing out of bounds, and the status block is "
          "not 0. */\n";
  text += "static inline uint64_t " + name +
          "_words(const uint64_t* capacity, uint64_t invocations, uint64_t* words) {\n";
  text += "  uint64_t heap = " + std::to_string(artifact::CounterBytes(plan, rules)) + ", at, bytes, rows;\n";
  auto number = [](uint64_t value) { return std::to_string(value) + "u"; };
  auto bytes_of = [&](uint32_t n) {
    const artifact::StackMeta& stack = plan.stacks[n];
    std::string capacity = "capacity[" + std::to_string(n) + "]";
    if (stack.bits) capacity = "((" + capacity + " + 31u) / 32u)";
    return capacity + " * " + number(artifact::ScalarTypeSize(stack.type));
  };
  uint32_t counter = 0;
  for (uint32_t group = 0; group < groups; ++group) {
    text += "  at = 0;\n";
    uint32_t row = 0;
    for (uint32_t n = 0; n < plan.stacks.size(); ++n) {
      const artifact::StackMeta& stack = plan.stacks[n];
      if (stack.storage != artifact::Storage::kRow) continue;
      uint32_t place = 4 * groups + 2 * row++;
      if (stack.group != group) continue;
      auto shares = [&](const artifact::StackMeta& other) {
        return stack.share != artifact::kNoIndex && other.share == stack.share &&
               other.group == stack.group && other.storage == stack.storage;
      };
      std::string at_word = "words[" + std::to_string(place) + "]";
      uint32_t earlier = 0, earlier_row = 0;
      while (earlier < n && !shares(plan.stacks[earlier])) {
        earlier_row += plan.stacks[earlier].storage == artifact::Storage::kRow ? 1 : 0;
        ++earlier;
      }
      if (earlier < n) {
        text += "  " + at_word + " = words[" + std::to_string(4 * groups + 2 * earlier_row) + "];\n";
      } else {
        uint32_t alignment = artifact::ScalarTypeSize(stack.type);
        text += "  bytes = " + bytes_of(n) + ";\n";
        for (uint32_t other = n + 1; other < plan.stacks.size(); ++other) {
          if (!shares(plan.stacks[other])) continue;
          text += "  if (bytes < " + bytes_of(other) + ") bytes = " + bytes_of(other) + ";\n";
          alignment = std::max(alignment, artifact::ScalarTypeSize(plan.stacks[other].type));
        }
        std::string unit = number(alignment);
        text += "  at = (at + " + unit + " - 1u) / " + unit + " * " + unit + ";\n";
        text += "  " + at_word + " = at;\n  at += bytes;\n";
      }
      text += "  words[" + std::to_string(place + 1) + "] = capacity[" + std::to_string(n) + "];\n";
    }
    std::string first = std::to_string(4 * group);
    text += "  at = (at + 7u) / 8u * 8u;\n";
    text += "  rows = (invocations + " + number(plan.lanes - 1) + ") / " + number(plan.lanes) + " * " +
            number(plan.lanes) + ";\n";
    text += "  words[" + first + "] = heap;\n  words[" + std::to_string(4 * group + 1) + "] = at;\n";
    text += "  words[" + std::to_string(4 * group + 2) + "] = rows;\n";
    bool claimed = artifact::IsClaimed(plan.groups[group], rules);
    text += "  words[" + std::to_string(4 * group + 3) + "] = " + number(claimed ? 4 * counter : 0) + ";\n";
    counter += claimed ? 1 : 0;
    text += "  heap = (heap + at * rows + 255u) / 256u * 256u;\n";
  }
  return text + "  return heap;\n}\n";
}

}  // namespace

const artifact::AdstackPlanMeta* PlanInHeap(const artifact::Metadata& metadata,
                                            const artifact::TaskMeta& task) {
  for (const artifact::EntryMeta& entry : task.entries) {
    if (metadata.targets[entry.target].kind != "vulkan" || entry.plan == artifact::kNoIndex) continue;
    const artifact::AdstackPlanMeta& plan = task.plans[entry.plan];
    return plan.groups.empty() ? nullptr : &plan;
  }
  return nullptr;
}

uint32_t PlanWords(const artifact::AdstackPlanMeta& plan) {
  auto words = static_cast<uint32_t>(4 * plan.groups.size());
  for (const artifact::StackMeta& stack : plan.stacks)
    words += stack.storage == artifact::Storage::kRow ? 2 : 0;
  return words;
}

std::string ShaderHeaderText(const ir::Module& module, const ir::Function& kernel,
                             const artifact::Metadata& metadata, const artifact::KernelMeta& meta,
                             uint32_t adjoint_set, const std::string& word) {
  codegen::ShaderLayout layout = codegen::ShaderLayoutOf(module, kernel, adjoint_set);
  if (!codegen::CanKeepBindings(module, kernel, adjoint_set) || ir::IsCounting(kernel.role)) return {};
  std::string text = "/* with --emit=spirv */\n";
  bool heap = false;
  for (uint32_t number = 0; number < meta.tasks.size(); ++number) {
    std::string task = word + "_t" + std::to_string(number);
    text += "#define " + task + "_entry \"" + codegen::EntrySymbol(module.Text(kernel.name), number) + "\"\n";
    if (const artifact::AdstackPlanMeta* plan = PlanInHeap(metadata, meta.tasks[number])) {
      heap = true;
      text += WordsFunction(meta, *plan, task);
    }
  }
  for (uint32_t axis = 0; axis < 3; ++axis)
    text += Define(word + "_local_size_" + std::string(1, "xyz"[axis]), layout.local_size[axis]);
  if (uint32_t bytes = codegen::PushConstantBytes(module, kernel); bytes != 0)
    text += Define(word + "_push_bytes", bytes);
  for (uint32_t n = 0; n < kernel.params.size(); ++n) {
    ir::Value param = kernel.Params()[n];
    std::string name = word + "_" + HeaderIdentifier(module.Text(kernel[param].name));
    uint32_t at = kernel.params[n].shader_binding;
    const ir::ShaderBinding* binding = at == ir::kNoAttr ? nullptr : &module.shader_bindings[at];
    if (binding != nullptr && binding->kind == Kind::Invocations) continue;
    if (binding != nullptr && binding->kind == Kind::SpecConstant) {
      text += Define(name + "_constant_id", binding->number);
      continue;
    }
    if (kernel.TypeOf(param).IsMat()) text += Define(name + "_matrix_stride", binding->matrix_stride);
    bool push = binding != nullptr && binding->kind == Kind::PushConstant;
    if (push) {
      text += Define(name + "_push_offset", binding->offset);
      continue;
    }
    text += PlaceText(name, layout.params[n]);
    bool value = !kernel.TypeOf(param).IsBuffer() && !kernel.TypeOf(param).IsLayout();
    if (value) text += Define(name + "_offset", binding->offset);
  }
  if (heap) text += PlaceText(word + "_words", layout.words) + PlaceText(word + "_heap", layout.heap);
  if (heap) text += PlaceText(word + "_status", layout.status);
  return text;
}

}  // namespace adc::product
