#include "reference_layout.h"

#include <cstring>

#include "command_line.h"
#include "values.h"

namespace adc::tool {

std::optional<artifact::Metadata> MetadataOf(const adrt_bundle* bundle) {
  auto report = Sized<adrt_bundle_report>();
  adrt_bundle_info(bundle, &report, nullptr);
  for (uint32_t index = 0; index < report.section_count; ++index) {
    auto section = Sized<adrt_section_report>();
    adrt_bundle_section(bundle, index, &section, nullptr);
    if (std::strcmp(section.kind, "META") != 0) continue;
    std::string json(section.raw_bytes, 0);
    size_t size = 0;
    adrt_bundle_section_data(bundle, index, json.data(), json.size(), &size, nullptr);
    artifact::Metadata metadata;
    artifact::Error error;
    if (artifact::ReadMetadata(json, report.minor, artifact::Limits(), nullptr, &metadata, &error))
      return metadata;
    PrintError("the metadata cannot be read: " + std::string(error.message()));
  }
  return std::nullopt;
}

namespace {

/// What is known of the kernel's parameters at the launch.
std::vector<artifact::SizeParam> SizeParamsOf(const Kernel& kernel, std::span<const adrt_arg> arguments) {
  std::vector<artifact::SizeParam> params(kernel.params.size());
  size_t next = 0;
  for (size_t at = 0; at < kernel.params.size(); ++at) {
    const Param& param = kernel.params[at];
    if (!param.IsGiven()) {
      params[at].has_scalar = true;  // a segment: 0, whole tapes
      continue;
    }
    const adrt_arg& argument = arguments[next++];
    if (param.IsBuffer()) {
      params[at].extents = argument.extents;
      params[at].rank = argument.rank;
    } else if (param.IsScalar() && !param.IsFloat() && param.Components() == 1) {
      params[at].has_scalar = true;
      params[at].scalar = ReadInteger(param.report.type, static_cast<const uint8_t*>(argument.data), 0);
    }
  }
  return params;
}

/// Where sizes read contents of buffers: the arguments that have some.
struct Contents {
  const Kernel* kernel;
  std::span<const adrt_arg> arguments;
};

/// One element of an integer buffer; false where there is none.
bool ReadContents(void* user, uint32_t param, std::span<const int64_t> indices, int64_t* value) {
  const Contents& contents = *static_cast<const Contents*>(user);
  const Param& described = contents.kernel->params[param];
  for (const adrt_arg& argument : contents.arguments) {
    if (described.name != argument.name) continue;
    if (argument.data == nullptr || described.IsFloat() || indices.size() != argument.rank) return false;
    uint64_t position = 0;
    for (size_t axis = 0; axis < indices.size(); ++axis) {
      if (indices[axis] < 0 || indices[axis] >= argument.extents[axis]) return false;
      position =
          position * static_cast<uint64_t>(argument.extents[axis]) + static_cast<uint64_t>(indices[axis]);
    }
    *value = ReadInteger(described.report.type, static_cast<const uint8_t*>(argument.data), position);
    return true;
  }
  return false;
}

}  // namespace

std::optional<ReferenceLayout> LayOutReference(const artifact::KernelMeta& kernel,
                                               const artifact::TaskMeta& task, const Kernel& described,
                                               std::span<const adrt_arg> arguments, uint64_t threads) {
  if (task.reference.empty()) return std::nullopt;
  std::vector<artifact::SizeParam> params = SizeParamsOf(described, arguments);
  artifact::SizeEnv env;
  env.params = params;
  Contents contents = {&described, arguments};
  env.read = ReadContents;
  env.user = &contents;
  ReferenceLayout layout;
  layout.threads = threads;
  uint64_t row = 0;
  for (const artifact::ReferenceMeta& stacks : task.reference) {
    uint64_t floats = uint64_t{stacks.floats_4} + stacks.floats_8;
    layout.float_stacks += floats;
    layout.integer_stacks += stacks.integers;
    artifact::EvalResult capacity;
    if (stacks.capacity != artifact::kNoNode)
      capacity = artifact::Evaluate(kernel.exprs, stacks.capacity, env);
    if (stacks.capacity == artifact::kNoNode || !capacity.ok()) {
      layout.open_stacks += floats + stacks.integers;
      continue;
    }
    // Value and adjoint of a float; four bytes of anything else.
    uint64_t slot = 8ull * stacks.floats_4 + 16ull * stacks.floats_8 + 4ull * stacks.integers, bytes = 0;
    if (__builtin_mul_overflow(slot, static_cast<uint64_t>(capacity.value), &bytes) ||
        __builtin_add_overflow(row, bytes, &row)) {
      return std::nullopt;
    }
  }
  if (__builtin_mul_overflow(row, threads, &layout.bytes)) return std::nullopt;
  return layout;
}

}  // namespace adc::tool
