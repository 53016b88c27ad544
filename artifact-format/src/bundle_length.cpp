#include "artifact/bundle_length.h"

#include <cstring>

#include "bundle_layout.h"

namespace adc::artifact {

uint64_t BundleLength(std::span<const uint8_t> head) {
  bool begins = head.size() >= kHeaderSize && std::memcmp(head.data(), kMagic, sizeof kMagic) == 0;
  if (!begins || Load<uint16_t>(head.data() + header::kMajor) != kFormatMajor) return 0;
  return Load<uint64_t>(head.data() + header::kFileSize);
}

}  // namespace adc::artifact
