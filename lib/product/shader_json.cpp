#include "product/shader_json.h"

#include <nlohmann/json.hpp>

#include "codegen/common/mangle.h"
#include "codegen/common/shader_layout.h"
#include "ir/module.h"
#include "product/shader_header.h"
#include "support/check.h"

namespace adc::product {

namespace {

using Json = nlohmann::json;
using Kind = ir::ShaderBinding::Kind;

Json PlaceOf(const codegen::DescriptorPlace& place) {
  return {{"set", place.set}, {"binding", place.binding}};
}

const char* DescriptorOf(const ir::ShaderImage& image) {
  if (!image.is_sampled) return image.is_buffer ? "storage_texel_buffer" : "storage_image";
  if (image.is_buffer) return "uniform_texel_buffer";
  return image.has_sampler ? "combined_image_sampler" : "sampled_image";
}

void AddType(ir::Type type, Json* row) {
  (*row)["type"] = ir::Spelling(type.scalar);
  (*row)["rows"] = type.rows == 0 ? 1 : type.rows;
  (*row)["columns"] = type.columns == 0 ? 1 : type.columns;
}

/// The memory of the adstacks of the tasks; null where no task has one in a heap.
Json TapeOf(const artifact::Metadata& metadata, const artifact::KernelMeta& meta,
            const codegen::ShaderLayout& layout) {
  std::vector<std::string_view> params;
  for (const artifact::ParamMeta& param : meta.params) params.push_back(param.name.view());
  Json tasks = Json::array();
  for (uint32_t number = 0; number < meta.tasks.size(); ++number) {
    const artifact::AdstackPlanMeta* plan = PlanInHeap(metadata, meta.tasks[number]);
    if (plan == nullptr) continue;
    Json stacks = Json::array();
    for (const artifact::StackMeta& stack : plan->stacks) {
      artifact::String formula;
      bool known = stack.capacity != artifact::kNoNode &&
                   artifact::FormatSizeExpr(meta.exprs, stack.capacity, params, &formula);
      stacks.push_back({{"capacity", known ? std::string(formula.view()) : std::string()},
                        {"in_heap", stack.storage == artifact::Storage::kRow},
                        {"place", std::string(stack.place.view())}});
    }
    tasks.push_back({{"task", number}, {"word_count", PlanWords(*plan)}, {"stacks", std::move(stacks)}});
  }
  if (tasks.empty()) return nullptr;
  return {{"words", PlaceOf(layout.words)},
          {"heap", PlaceOf(layout.heap)},
          {"status", PlaceOf(layout.status)},
          {"tasks", std::move(tasks)}};
}

Json KernelOf(const ir::Module& module, const ir::Function& kernel, const artifact::Metadata& metadata,
              const artifact::KernelMeta& meta, uint32_t adjoint_set) {
  codegen::ShaderLayout layout = codegen::ShaderLayoutOf(module, kernel, adjoint_set);
  Json buffers = Json::array(), values = Json::array(), constants = Json::array(), axes = Json::array();
  for (uint32_t n = 0; n < kernel.params.size(); ++n) {
    ir::Value param = kernel.Params()[n];
    ir::Type type = kernel.TypeOf(param);
    uint32_t at = kernel.params[n].shader_binding;
    const ir::ShaderBinding* binding = at == ir::kNoAttr ? nullptr : &module.shader_bindings[at];
    Json row = {{"name", std::string(module.Text(kernel[param].name))}, {"param", n}};
    if (binding != nullptr && binding->kind == Kind::Invocations) {
      axes.push_back({{"axis", binding->number}, {"param", n}});
    } else if (binding != nullptr && binding->kind == Kind::SpecConstant) {
      AddType(type, &row);
      row["constant_id"] = binding->number;
      row["default_bits"] = binding->default_bits;
      constants.push_back(std::move(row));
    } else if (type.IsBuffer() || type.IsLayout()) {
      bool uniform = binding != nullptr && binding->kind == Kind::UniformBuffer;
      bool image = binding != nullptr && binding->image;
      row["descriptor"] = image ? DescriptorOf(*binding->image) : uniform ? "uniform" : "storage";
      row.update(PlaceOf(layout.params[n]));
      row["block"] = binding == nullptr ? std::string() : binding->block;
      row["fixed_bytes"] = binding == nullptr ? 0 : binding->fixed_bytes;
      row["element_stride"] = binding == nullptr ? 0 : binding->element_stride;
      buffers.push_back(std::move(row));
    } else {
      ADC_CHECK(binding != nullptr, "a value that no block of the shader has");
      AddType(type, &row);
      row["block"] = binding->block;
      row["offset"] = binding->offset;
      row["matrix_stride"] = type.IsMat() ? binding->matrix_stride : 0;
      row["row_major"] = type.IsMat() && binding->row_major;
      row["push_constant"] = binding->kind == Kind::PushConstant;
      if (binding->kind != Kind::PushConstant) row.update(PlaceOf(layout.params[n]));
      values.push_back(std::move(row));
    }
  }
  Json entries = Json::array();
  for (uint32_t number = 0; number < meta.tasks.size(); ++number)
    entries.push_back(codegen::EntrySymbol(module.Text(kernel.name), number));
  return {{"kernel", std::string(module.Text(kernel.name))},
          {"entries", std::move(entries)},
          {"local_size", {layout.local_size[0], layout.local_size[1], layout.local_size[2]}},
          {"adjoint_set", adjoint_set},
          {"buffers", std::move(buffers)},
          {"values", std::move(values)},
          {"constants", std::move(constants)},
          {"invocations", std::move(axes)},
          {"push_constant_bytes", codegen::PushConstantBytes(module, kernel)},
          {"tape", TapeOf(metadata, meta, layout)}};
}

}  // namespace

std::string WithShaderBindings(const std::string& json, const ir::Module& module,
                               const artifact::Metadata& metadata, uint32_t adjoint_set) {
  bool vulkan = false;
  for (const artifact::TargetMeta& target : metadata.targets) vulkan = vulkan || target.kind == "vulkan";
  if (!vulkan) return json;
  Json document = Json::parse(json, nullptr, false);
  ADC_CHECK(!document.is_discarded(), "the metadata is no JSON");
  Json shader = Json::array();
  for (const artifact::KernelMeta& meta : metadata.kernels) {
    const ir::Function* kernel = module.Find(meta.name.view());
    ADC_CHECK(kernel != nullptr, "metadata of a kernel that is not there");
    if (ir::IsCounting(kernel->role) || !codegen::CanKeepBindings(module, *kernel, adjoint_set)) continue;
    shader.push_back(KernelOf(module, *kernel, metadata, meta, adjoint_set));
  }
  document["shader"] = std::move(shader);
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace adc::product
