#include <cstring>

#include "artifact/metadata.h"
#include "core/bounds_record.h"
#include "core/errors.h"
#include "core/handles.h"

// The answers for tools: everything that a bundle says, as it was verified.

using adrt::Fail;

namespace {

template <class Report>
adrt_status Give(const Report& made, Report* report, adrt_error* error) {
  if (adrt::CopyReport(made, report)) return ADRT_OK;
  return Fail(error, ADRT_ERROR_ARGUMENT, "report: struct_size is not set");
}

adrt_status NoSuch(const char* what, uint64_t index, uint64_t count, adrt_error* error) {
  return Fail(error, ADRT_ERROR_ARGUMENT, what, " ", index, " does not exist, there are ", count);
}

adrt_status NullArgument(adrt_error* error) {
  return Fail(error, ADRT_ERROR_ARGUMENT, "null argument");
}

}  // namespace

adrt_status adrt_bundle_info(const adrt_bundle* bundle, adrt_bundle_report* report, adrt_error* error) {
  adrt::Alive(__func__, bundle);
  if (!bundle || !report) return NullArgument(error);
  adrt_bundle_report made = {};
  made.major = bundle->index.major;
  made.minor = bundle->index.minor;
  std::memcpy(made.content_id, bundle->index.content_id, sizeof made.content_id);
  made.file_bytes = bundle->index.file_size;
  made.section_count = static_cast<uint32_t>(bundle->index.sections.size());
  made.target_count = static_cast<uint32_t>(bundle->metadata.targets.size());
  made.kernel_count = static_cast<uint32_t>(bundle->metadata.kernels.size());
  made.layout_count = static_cast<uint32_t>(bundle->metadata.layouts.size());
  made.source_count = static_cast<uint32_t>(bundle->metadata.sources.size());
  made.producer = bundle->metadata.producer.c_str();
  made.open_memory_bytes = bundle->budget.peak_bytes();
  made.open_raw_bytes = bundle->budget.raw_bytes();
  made.open_steps = bundle->budget.steps();
  made.signature = bundle->signature;
  std::memcpy(made.signer, bundle->signer, sizeof made.signer);
  return Give(made, report, error);
}

adrt_status adrt_bundle_section(const adrt_bundle* bundle, uint32_t index, adrt_section_report* report,
                                adrt_error* error) {
  adrt::Alive(__func__, bundle);
  if (!bundle || !report) return NullArgument(error);
  const adrt::Vector<adc::artifact::Section>& sections = bundle->index.sections;
  if (index >= sections.size()) return NoSuch("section", index, sections.size(), error);
  const adc::artifact::Section& section = sections[index];
  adrt_section_report made = {};
  char kind[5];
  adc::artifact::SectionKindName(section.kind, kind);
  std::memcpy(made.kind, kind, sizeof kind);
  made.target = section.target;
  made.offset = section.offset;
  made.stored_bytes = section.stored_size;
  made.raw_bytes = section.raw_size;
  made.required = (section.flags & adc::artifact::kSectionRequired) != 0;
  made.compressed = (section.flags & adc::artifact::kSectionZstd) != 0;
  made.alignment = section.alignment;
  return Give(made, report, error);
}

adrt_status adrt_bundle_section_data(const adrt_bundle* bundle, uint32_t index, void* bytes, size_t capacity,
                                     size_t* size, adrt_error* error) {
  adrt::Alive(__func__, bundle);
  if (!bundle || !size) return NullArgument(error);
  const adrt::Vector<adc::artifact::Section>& sections = bundle->index.sections;
  if (index >= sections.size()) return NoSuch("section", index, sections.size(), error);
  uint64_t raw_size = sections[index].raw_size;
  if (bytes) {
    if (capacity < raw_size) {
      return Fail(error, ADRT_ERROR_ARGUMENT, "section ", index, " has ", raw_size,
                  " bytes, and the capacity is ", uint64_t{capacity});
    }
    adrt::Vector<uint8_t> content(&bundle->host.allocator);
    adc::artifact::Error reason;
    if (!adc::artifact::ReadSection(bundle->file, bundle->index, index, bundle->host.limits, &content,
                                    &reason)) {
      return adrt::FromArtifact(reason, error);
    }
    std::memcpy(bytes, content.data(), content.size());
  }
  *size = raw_size;
  return ADRT_OK;
}

adrt_status adrt_bundle_target(const adrt_bundle* bundle, uint32_t index, adrt_target_info* info,
                               adrt_error* error) {
  adrt::Alive(__func__, bundle);
  if (!bundle || !info) return NullArgument(error);
  const adrt::Vector<adc::artifact::TargetMeta>& targets = bundle->metadata.targets;
  if (index >= targets.size()) return NoSuch("target", index, targets.size(), error);
  adrt_target_info made = {};
  made.feature_count = static_cast<uint32_t>(targets[index].features.size());
  made.name = targets[index].name.c_str();
  made.kind = targets[index].kind.c_str();
  made.arch = targets[index].arch.c_str();
  made.abi = targets[index].abi.c_str();
  return Give(made, info, error);
}

const char* adrt_bundle_target_feature(const adrt_bundle* bundle, uint32_t target, uint32_t index) {
  adrt::Alive(__func__, bundle);
  if (!bundle || target >= bundle->metadata.targets.size()) return nullptr;
  const adrt::Vector<adrt::String>& features = bundle->metadata.targets[target].features;
  return index < features.size() ? features[index].c_str() : nullptr;
}

const char* adrt_bundle_source(const adrt_bundle* bundle, uint32_t index) {
  adrt::Alive(__func__, bundle);
  if (!bundle || index >= bundle->metadata.sources.size()) return nullptr;
  return bundle->metadata.sources[index].c_str();
}

adrt_status adrt_bundle_kernel(const adrt_bundle* bundle, uint32_t index, const adrt_kernel** kernel,
                               adrt_error* error) {
  adrt::Alive(__func__, bundle);
  if (!bundle || !kernel) return NullArgument(error);
  if (index >= bundle->kernels.size()) return NoSuch("kernel", index, bundle->kernels.size(), error);
  *kernel = &bundle->kernels[index];
  return ADRT_OK;
}

adrt_status adrt_bundle_layout(const adrt_bundle* bundle, uint32_t index, adrt_layout_report* report,
                               adrt_error* error) {
  adrt::Alive(__func__, bundle);
  if (!bundle || !report) return NullArgument(error);
  const adrt::Vector<adc::artifact::LayoutMeta>& layouts = bundle->metadata.layouts;
  if (index >= layouts.size()) return NoSuch("layout", index, layouts.size(), error);
  adrt_layout_report made = {};
  made.field_count = static_cast<uint32_t>(layouts[index].fields.size());
  made.name = layouts[index].name.c_str();
  made.bytes = static_cast<uint64_t>(layouts[index].size);
  made.alignment = layouts[index].alignment;
  return Give(made, report, error);
}

adrt_status adrt_bundle_field(const adrt_bundle* bundle, uint32_t layout, uint32_t index,
                              adrt_field_report* report, adrt_error* error) {
  adrt::Alive(__func__, bundle);
  if (!bundle || !report) return NullArgument(error);
  const adrt::Vector<adc::artifact::LayoutMeta>& layouts = bundle->metadata.layouts;
  if (layout >= layouts.size()) return NoSuch("layout", layout, layouts.size(), error);
  const adrt::Vector<adc::artifact::FieldMeta>& fields = layouts[layout].fields;
  if (index >= fields.size()) return NoSuch("field", index, fields.size(), error);
  const adc::artifact::FieldMeta& field = fields[index];
  adrt_field_report made = {};
  made.type = static_cast<uint32_t>(field.type) + 1;
  made.name = field.name.c_str();
  made.rows = field.rows;
  made.columns = field.columns;
  made.diff = field.diff;
  made.level_count = static_cast<uint32_t>(field.levels.size());
  made.offset = static_cast<uint64_t>(field.offset);
  for (size_t level = 0; level < field.levels.size() && level < 8; ++level) {
    const adc::artifact::LevelMeta& meta = field.levels[level];
    made.axis_count[level] = static_cast<uint32_t>(meta.extents.size());
    for (size_t axis = 0; axis < meta.extents.size() && axis < 8; ++axis) {
      made.extents[level][axis] = meta.extents[axis];
      made.strides[level][axis] = meta.strides[axis];
    }
  }
  return Give(made, report, error);
}

adrt_status adrt_kernel_info(const adrt_kernel* kernel, adrt_kernel_report* report, adrt_error* error) {
  adrt::Alive(__func__, kernel);
  if (!kernel || !report) return NullArgument(error);
  constexpr const char* kRoles[] = {"primal", "grad", "jvp", "size", "bounds"};
  const adc::artifact::KernelMeta& meta = *kernel->meta;
  adrt_kernel_report made = {};
  made.index = kernel->index;
  made.name = meta.name.c_str();
  made.role = kRoles[static_cast<size_t>(meta.role)];
  made.of = meta.of.c_str();
  made.place = meta.place.c_str();
  made.interface_hash = meta.interface_hash;
  made.param_count = static_cast<uint32_t>(meta.params.size());
  made.task_count = static_cast<uint32_t>(meta.tasks.size());
  for (const adc::artifact::TaskMeta& task : meta.tasks) {
    uint32_t own = static_cast<uint32_t>(task.size_class);
    if (own > made.size_class) made.size_class = own;
  }
#ifdef ADRT_DEVICES
  made.checks = static_cast<uint32_t>(meta.asserts.size() + meta.accesses.size());
#endif
  made.bounds_bytes = adrt::BoundsBytes(*kernel);
  return Give(made, report, error);
}

adrt_status adrt_kernel_param(const adrt_kernel* kernel, uint32_t index, adrt_param_report* report,
                              adrt_error* error) {
  adrt::Alive(__func__, kernel);
  if (!kernel || !report) return NullArgument(error);
  const adrt::Vector<adc::artifact::ParamMeta>& params = kernel->meta->params;
  if (index >= params.size()) return NoSuch("parameter", index, params.size(), error);
  const adc::artifact::ParamMeta& param = params[index];
  adrt_param_report made = {};
  made.kind = static_cast<uint32_t>(param.kind) + 1;
  made.name = param.name.c_str();
  made.type = param.kind == adc::artifact::ParamKind::kLayout ? uint32_t{ADRT_TYPE_NONE}
                                                              : static_cast<uint32_t>(param.type) + 1;
  made.rows = param.rows;
  made.columns = param.columns;
  made.rank = param.rank;
  made.access = static_cast<uint32_t>(param.access) + 1;
  made.role = static_cast<uint32_t>(param.role);
  made.primal = param.primal;
  made.layout = param.layout;
  made.diff = param.diff;
  made.alias = param.alias;
  made.write_once = param.write_once;
  return Give(made, report, error);
}
