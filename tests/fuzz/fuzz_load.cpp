// Any bytes as the shared image of a trusted bundle: mapping, relocation and the search for entries must be
// safe whatever they are, and a failure says why. Nothing of the image is run.

#include <adrt/adrt.h>

#include <cstdio>
#include <cstdlib>

#include "../support/hostile_bundles.h"
#include "cpu/image.h"
#include "fixture.h"
#include "host_memory.h"
#include "seeds.h"

namespace {

using namespace adc::artifact;

void Demand(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_load: %s\n", what);
  std::abort();
}

// Few kernels, so that most of a run is the image's; their functions are in the fixture's image.
Metadata FewKernels() {
  Metadata metadata = fixture::MakeMetadata();
  Vector<KernelMeta> few;
  for (KernelMeta& kernel : metadata.kernels) {
    if (kernel.name == "saxpy" || kernel.name == "mean") few.push_back(kernel);
  }
  metadata.kernels = few;
  return metadata;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string json = hostile::JsonOf(FewKernels());
  if (size == 0) return 0;
  SectionInput image;
  image.kind = section::kImage;
  image.target = 0;
  image.compress = false;
  image.bytes = {data, size};
  std::vector<uint8_t> file = hostile::Pack(json, {image});
  fuzz::HostMemory memory;
  adrt_host host = memory.Host();
  host.flags = ADRT_HOST_TRUST;
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  adrt_error error = {};
  error.struct_size = sizeof error;
  adrt_status status = adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_BORROW, &bundle, &error);
  if (status == ADRT_OK) {
    Demand(adrt_device_wrap_cpu(&host, nullptr, &device, &error) == ADRT_OK, error.text);
    status = adrt_module_load(device, bundle, &module, &error);
  }
  // Opening refuses most of what the mapper has to stand as well.
  adrt::Image mapped;
  adrt_error other = {};
  other.struct_size = sizeof other;
  bool maps = mapped.Map({data, size}, &other);
  Demand(maps || other.text[0] != 0, "an image that is refused without a reason");
  Demand(maps || status != ADRT_OK, "an image that loads and does not map");
  Demand(status == ADRT_OK || (error.status == status && error.text[0] != 0), "a failure without details");
  adrt_module_release(module);
  adrt_device_release(device);
  adrt_bundle_release(bundle);
  Demand(memory.live == 0, "memory is left");
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  std::vector<uint8_t> image = fixture::ReadImage();
  return {std::string(image.begin(), image.end()), std::string(image.begin(), image.begin() + 200)};
}
