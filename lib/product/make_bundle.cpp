#include "product/make_bundle.h"

#include "artifact/bundle.h"
#include "diag/errors/driver.h"
#include "product/fact_note.h"
#include "support/check.h"

namespace adc::product {

namespace {

/// Turns an error of the artifact format, which only a kernel beyond the format's limits can cause, into one
/// of ours.
diag::Diagnostic CannotBundle(const artifact::Error& error) {
  return diag::Fail(diag::E0706, {}, "the bundle cannot be made: " + std::string(error.message()));
}

uint32_t SectionOf(codegen::PayloadKind kind) {
  switch (kind) {
    case codegen::PayloadKind::Object:
      return artifact::section::kObject;
    case codegen::PayloadKind::Image:
      return artifact::section::kImage;
    case codegen::PayloadKind::Ptx:
      return artifact::section::kPtx;
    case codegen::PayloadKind::Hsaco:
      return artifact::section::kHsaco;
    case codegen::PayloadKind::Spirv:
      return artifact::section::kSpirv;
    case codegen::PayloadKind::Msl:
      return artifact::section::kMsl;
  }
  ADC_UNREACHABLE("a payload without a section");
}

}  // namespace

diag::Result<std::string> MetadataText(const artifact::Metadata& metadata) {
  artifact::String json;
  artifact::Error error;
  if (!artifact::CheckMetadata(metadata, artifact::Limits(), &error) ||
      !artifact::WriteMetadata(metadata, &json, &error)) {
    return CannotBundle(error);
  }
  return std::string(json.view());
}

diag::Result<std::vector<uint8_t>> BundleBytes(const artifact::Metadata& metadata,
                                               std::span<const MadeTarget> targets,
                                               const std::string& prints) {
  diag::Result<std::string> json = MetadataText(metadata);
  if (!json) return json.Failure();
  std::vector<artifact::SectionInput> sections;
  std::vector<std::vector<uint8_t>> noted;  // inner vectors stay where they are when it grows
  auto add = [&](uint32_t kind, uint32_t target, std::span<const uint8_t> bytes) {
    if (bytes.empty()) return;
    sections.push_back(
        {.kind = kind, .target = target, .required = kind == artifact::section::kMeta, .bytes = bytes});
  };
  auto add_text = [&](uint32_t kind, const std::string& text) {
    add(kind, artifact::kNoTarget, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  };
  add_text(artifact::section::kMeta, *json);
  add_text(artifact::section::kPrints, prints);
  for (uint32_t target = 0; target < targets.size(); ++target) {
    for (const codegen::Payload& payload : targets[target].code.payloads) {
      if (payload.bytes.empty()) continue;
      noted.push_back(WithFactNote(metadata, target, payload));
      add(SectionOf(payload.kind), target, noted.back());
    }
  }
  artifact::Vector<uint8_t> file;
  artifact::Error error;
  if (!artifact::WriteBundle(sections, &file, &error)) return CannotBundle(error);
  return std::vector<uint8_t>(file.begin(), file.end());
}

}  // namespace adc::product
