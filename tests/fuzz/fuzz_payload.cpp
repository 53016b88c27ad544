// Reads any bytes as code of every kind of device: no form of them may be read past its end, and a failure
// says why.

#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "../../artifact-format/src/payload.h"
#include "../support/payloads.h"
#include "seeds.h"

using namespace adc::artifact;

namespace {

constexpr uint32_t kKinds[] = {section::kSpirv, section::kHsaco, section::kPtx, section::kMsl};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Metadata metadata[] = {payloads::For("vulkan", "1.2", {"shaderFloat64"}),
                                      payloads::For("hip", "gfx1100"), payloads::For("cuda", "sm_80"),
                                      payloads::For("metal", "2.4")};
  for (size_t form = 0; form < std::size(kKinds); ++form) {
    Section item;
    item.kind = kKinds[form];
    item.target = 0;
    item.known = true;
    // A copy of exactly the length, so that a sanitizer sees a read beyond it.
    std::vector<uint8_t> bytes(data, data + size);
    OpenBudget budget(nullptr, {}, size);
    Error error;
    if (!CheckPayload(item, bytes, metadata[form], &budget, &error) && error.message().empty()) {
      std::fprintf(stderr, "fuzz_payload: refused without a reason\n");
      std::abort();
    }
  }
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  auto text = [](const payloads::Bytes& bytes) { return std::string(bytes.begin(), bytes.end()); };
  return {
      text(payloads::Spirv().Capability(1).Capability(10).Inst(14, {5348, 1}).Both().bytes),
      text(payloads::Hsaco({"adc_k_t0", "adc_k_t0.kd"})),
      ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry adc_k_t0(\n.param .u64 "
      "a\n)\n{\nret;\n}\n",
      "kernel [[max_total_threads_per_threadgroup(128)]] void adc_k_t0(device float* a [[buffer(0)]]) {}\n"};
}
