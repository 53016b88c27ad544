#include "copy_sections.h"

namespace adc::artifact {

bool CopySections(std::span<const uint8_t> file, const BundleIndex& index, bool (*leaves_out)(uint32_t kind),
                  bool over_budget, SectionCopies* copies, Error* error) {
  if (index.major != kFormatMajor || index.minor != kFormatMinor) {
    return Fail(error, Code::kVersion, Rule::kNone, "the bundle has format version ", uint32_t{index.major},
                ".", uint32_t{index.minor}, "; bundles of ", uint32_t{kFormatMajor}, ".",
                uint32_t{kFormatMinor}, " can be written: compile it again");
  }
  Vector<Vector<uint8_t>>& contents = copies->contents;
  if (!contents.TryResize(index.sections.size())) {
    return Fail(error, Code::kOutOfMemory, Rule::kNone, "out of memory for the sections of the bundle");
  }
  for (uint32_t number = 0; number < index.sections.size(); ++number) {
    const Section& item = index.sections[number];
    if (leaves_out(item.kind)) continue;
    if (!ReadSection(file, index, number, Limits(), &contents[number], error)) return false;
    copies->sections.push_back({item.kind,
                                item.target,
                                (item.flags & kSectionRequired) != 0,
                                (item.flags & kSectionZstd) != 0,
                                item.alignment,
                                {contents[number].data(), contents[number].size()},
                                over_budget});
  }
  return true;
}

}  // namespace adc::artifact
