// Runs springs.comp's kernel and its gradient in a Vulkan program that knows no loader and no header: which
// set, binding and offset belongs to which name is read from the module by SPIRV-Cross, as an engine does
// with every shader that it loads. The gradient is compared with central differences of the kernel.
//
//   adc_shader_reflection springs.spv
//
// Names: the adjoint of `points` is `points.adj`.

#include <spirv_cross/spirv_cross_c.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "vulkan_device.h"

namespace {

/// What one entry point of a module binds, by name.
struct Layout {
  struct Place {
    uint32_t set = 0, binding = 0;
    VkDescriptorType type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  };
  std::map<std::string, Place> places;
  std::map<std::string, uint32_t> offsets;  ///< of values in uniform blocks and push constants
  uint32_t push_bytes = 0;
  uint32_t local_size[3] = {1, 1, 1};
};

void Check(spvc_result result, const char* call) {
  if (result != SPVC_SUCCESS) shaders::Fail(std::string(call) + " failed");
}

class Module {
 public:
  explicit Module(const std::vector<uint32_t>& code) : code_(code) {
    Check(spvc_context_create(&context_), "spvc_context_create");
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module() { spvc_context_destroy(context_); }

  /// The entry points: a kernel's `adc_NAME_t0`, its gradient's `adc_NAME_2Egrad_t0`.
  std::vector<std::string> Entries() {
    const spvc_entry_point* entries = nullptr;
    size_t count = 0;
    Check(spvc_compiler_get_entry_points(Compiler(), &entries, &count), "spvc_compiler_get_entry_points");
    std::vector<std::string> names;
    for (size_t n = 0; n < count; ++n) names.emplace_back(entries[n].name);
    return names;
  }

  Layout LayoutOf(const std::string& entry) {
    spvc_compiler compiler = Compiler();
    Check(spvc_compiler_set_entry_point(compiler, entry.c_str(), SpvExecutionModelGLCompute), entry.c_str());
    spvc_set active = nullptr;
    spvc_resources resources = nullptr;
    Check(spvc_compiler_get_active_interface_variables(compiler, &active), "active variables");
    Check(spvc_compiler_create_shader_resources_for_active_variables(compiler, &resources, active),
          "resources");
    Layout layout;
    for (spvc_resource_type type : {SPVC_RESOURCE_TYPE_STORAGE_BUFFER, SPVC_RESOURCE_TYPE_UNIFORM_BUFFER,
                                    SPVC_RESOURCE_TYPE_PUSH_CONSTANT}) {
      const spvc_reflected_resource* list = nullptr;
      size_t count = 0;
      Check(spvc_resources_get_resource_list_for_type(resources, type, &list, &count), "resources");
      for (size_t n = 0; n < count; ++n) Take(compiler, type, list[n], &layout);
    }
    for (uint32_t axis = 0; axis < 3; ++axis) {
      layout.local_size[axis] =
          spvc_compiler_get_execution_mode_argument_by_index(compiler, SpvExecutionModeLocalSize, axis);
    }
    return layout;
  }

 private:
  spvc_compiler Compiler() {
    spvc_parsed_ir parsed = nullptr;
    spvc_compiler compiler = nullptr;
    Check(spvc_context_parse_spirv(context_, code_.data(), code_.size(), &parsed),
          "spvc_context_parse_spirv");
    Check(spvc_context_create_compiler(context_, SPVC_BACKEND_NONE, parsed, SPVC_CAPTURE_MODE_TAKE_OWNERSHIP,
                                       &compiler),
          "spvc_context_create_compiler");
    return compiler;
  }

  static void Take(spvc_compiler compiler, spvc_resource_type type, const spvc_reflected_resource& resource,
                   Layout* layout) {
    if (type != SPVC_RESOURCE_TYPE_PUSH_CONSTANT) {
      Layout::Place place;
      place.set = spvc_compiler_get_decoration(compiler, resource.id, SpvDecorationDescriptorSet);
      place.binding = spvc_compiler_get_decoration(compiler, resource.id, SpvDecorationBinding);
      if (type == SPVC_RESOURCE_TYPE_UNIFORM_BUFFER) place.type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
      layout->places[spvc_compiler_get_name(compiler, resource.id)] = place;
    }
    if (type == SPVC_RESOURCE_TYPE_STORAGE_BUFFER) return;
    spvc_type block = spvc_compiler_get_type_handle(compiler, resource.base_type_id);
    for (unsigned member = 0; member < spvc_type_get_num_member_types(block); ++member) {
      const char* name = spvc_compiler_get_member_name(compiler, resource.base_type_id, member);
      unsigned offset = 0;
      size_t bytes = 0;
      Check(spvc_compiler_type_struct_member_offset(compiler, block, member, &offset), name);
      Check(spvc_compiler_get_declared_struct_member_size(compiler, block, member, &bytes), name);
      layout->offsets[name] = offset;
      if (type == SPVC_RESOURCE_TYPE_PUSH_CONSTANT)
        layout->push_bytes = std::max(layout->push_bytes, offset + static_cast<uint32_t>(bytes));
    }
  }

  const std::vector<uint32_t>& code_;
  spvc_context context_ = nullptr;
};

template <class Map>
const auto& Find(const Map& map, const std::string& name) {
  auto found = map.find(name);
  if (found == map.end()) shaders::Fail("the module has no '" + name + "'");
  return found->second;
}

constexpr int32_t kColumns = 13, kRows = 7, kPoints = kColumns * kRows;
constexpr uint32_t kPointFloats = 8, kForceFloats = 4;  // as std430 lays out the shader's structures

float* Floats(const shaders::Buffer& buffer) {
  return static_cast<float*>(buffer.mapped);
}

/// A dispatch of `entry` with all of `buffers` that it binds.
shaders::Dispatch DispatchOf(const std::vector<uint32_t>& code, const std::string& entry,
                             const Layout& layout,
                             const std::map<std::string, const shaders::Buffer*>& buffers) {
  shaders::Dispatch dispatch;
  dispatch.code = code;
  dispatch.entry = entry;
  dispatch.groups[0] = (kColumns + layout.local_size[0] - 1) / layout.local_size[0];
  dispatch.groups[1] = (kRows + layout.local_size[1] - 1) / layout.local_size[1];
  dispatch.push_constants.resize(layout.push_bytes);
  std::memcpy(dispatch.push_constants.data() + Find(layout.offsets, "columns"), &kColumns, 4);
  std::memcpy(dispatch.push_constants.data() + Find(layout.offsets, "rows"), &kRows, 4);
  for (const auto& [name, place] : layout.places) {
    shaders::Descriptor descriptor;
    descriptor.set = place.set;
    descriptor.binding = place.binding;
    descriptor.type = place.type;
    descriptor.buffer = Find(buffers, name);
    dispatch.descriptors.push_back(descriptor);
  }
  return dispatch;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) shaders::Fail("usage: adc_shader_reflection springs.spv");
  std::vector<uint32_t> code = shaders::ReadCode(arguments[1]);
  Module module(code);
  const std::string primal_entry = "adc_springs_t0", gradient_entry = "adc_springs_2Egrad_t0";
  for (const std::string& wanted : {primal_entry, gradient_entry}) {
    std::vector<std::string> entries = module.Entries();
    if (std::find(entries.begin(), entries.end(), wanted) == entries.end())
      shaders::Fail("the module has no entry '" + wanted + "'");
  }
  Layout primal_layout = module.LayoutOf(primal_entry), gradient_layout = module.LayoutOf(gradient_entry);

  shaders::Device device;
  shaders::Buffer points = device.MakeBuffer(4 * kPointFloats * kPoints);
  shaders::Buffer forces = device.MakeBuffer(4 * kForceFloats * kPoints);
  shaders::Buffer points_adj = device.MakeBuffer(points.bytes), forces_adj = device.MakeBuffer(forces.bytes);
  shaders::Buffer stiffness_adj = device.MakeBuffer(4), spring = device.MakeBuffer(32);
  std::map<std::string, const shaders::Buffer*> buffers = {{"points", &points},
                                                           {"forces", &forces},
                                                           {"points.adj", &points_adj},
                                                           {"forces.adj", &forces_adj},
                                                           {"stiffness.adj", &stiffness_adj},
                                                           {"Spring", &spring}};
  for (uint32_t n = 0; n < kPointFloats * kPoints; ++n) {
    auto at = static_cast<float>(n);
    Floats(points)[n] = 0.1f * std::sin(7.3f * at);
  }
  for (int32_t n = 0; n < kPoints; ++n) {
    float* position = Floats(points) + kPointFloats * static_cast<uint32_t>(n);
    int32_t row = n / kColumns, column = n % kColumns;
    position[0] += static_cast<float>(column);
    position[1] += static_cast<float>(row);
  }
  auto set = [&](const char* name, std::initializer_list<float> values) {
    std::copy(values.begin(), values.end(), Floats(spring) + Find(primal_layout.offsets, name) / 4);
  };
  set("stiffness", {3.0f});
  set("damping", {0.25f});
  set("rest", {0.9f});
  set("gravity", {0.0f, -9.81f, 0.0f});

  shaders::Dispatch primal = DispatchOf(code, primal_entry, primal_layout, buffers);
  shaders::Dispatch gradient = DispatchOf(code, gradient_entry, gradient_layout, buffers);
  auto loss = [&] {  // of weights that differ from force to force
    device.Run(primal);
    double sum = 0;
    for (uint32_t n = 0; n < kForceFloats * kPoints; ++n)
      sum += n % kForceFloats == 3 ? 0 : std::cos(0.7 * n) * static_cast<double>(Floats(forces)[n]);
    return sum;
  };
  for (uint32_t n = 0; n < kForceFloats * kPoints; ++n)
    Floats(forces_adj)[n] = n % kForceFloats == 3 ? 0 : std::cos(0.7f * static_cast<float>(n));
  device.Run(gradient);

  double worst = 0, largest = 0;
  auto compare = [&](float* at, float found) {
    constexpr float kMove = 1e-2f;
    float start = *at;
    *at = start + kMove;
    double high = loss();
    *at = start - kMove;
    double low = loss();
    *at = start;
    double difference = (high - low) / (2 * static_cast<double>(kMove));
    worst = std::max(worst, std::fabs(difference - static_cast<double>(found)));
    largest = std::max(largest, std::fabs(difference));
  };
  compare(Floats(spring) + Find(primal_layout.offsets, "stiffness") / 4, Floats(stiffness_adj)[0]);
  for (uint32_t n = 0; n < kPointFloats * kPoints; n += 37) {
    if (n % 4 != 3) compare(Floats(points) + n, Floats(points_adj)[n]);
  }
  std::printf("%s: %d points, bindings by reflection: gradient up to %g, off central differences by %g\n",
              device.name().c_str(), kPoints, largest, worst);
  for (shaders::Buffer* buffer : {&points, &forces, &points_adj, &forces_adj, &stiffness_adj, &spring})
    device.Destroy(*buffer);
  return worst < 5e-3 * largest && largest > 1e-2 ? 0 : 1;
}
