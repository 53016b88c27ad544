// Reads any text as metadata; what is accepted must come out of the writer byte for byte.

#include <cstdio>
#include <cstdlib>

#include "artifact/bundle.h"
#include "artifact/metadata.h"
#include "fixture.h"
#include "seeds.h"

using namespace adc::artifact;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (uint32_t minor : {0u, uint32_t{kFormatMinor}, kFormatMinor + 1u}) {
    Metadata metadata;
    Error error;
    if (!ReadMetadata(text, minor, Limits{}, nullptr, &metadata, &error)) {
      if (error.message().empty()) std::abort();
      continue;
    }
    String again;
    if (!WriteMetadata(metadata, &again, &error) || (minor == kFormatMinor && again.view() != text)) {
      std::fprintf(stderr, "fuzz_metadata: accepted text does not come back: %s\n", error.text);
      std::abort();
    }
  }
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  Metadata metadata = fixture::MakeFullMetadata();
  String json;
  Error error;
  if (!WriteMetadata(metadata, &json, &error)) std::abort();
  return {std::string(json.view()),
          "{\"kernels\":[],\"layouts\":[],\"producer\":\"p\",\"sources\":[],\"targets\":[]}"};
}
