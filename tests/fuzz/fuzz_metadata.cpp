// Reads any text as metadata; what is accepted must come out of the writer byte for byte.

#include <cstdio>
#include <cstdlib>

#include "artifact/metadata.h"
#include "fixture.h"
#include "seeds.h"

using namespace adc::artifact;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (uint32_t minor : {0u, 1u}) {
    Metadata metadata;
    Error error;
    if (!ReadMetadata(text, minor, Limits{}, nullptr, &metadata, &error)) {
      if (error.message().empty()) std::abort();
      continue;
    }
    String again;
    if (!WriteMetadata(metadata, &again, &error) || (minor == 0 && again.view() != text)) {
      std::fprintf(stderr, "fuzz_metadata: accepted text does not come back: %s\n", error.text);
      std::abort();
    }
  }
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  Metadata metadata = fixture::MakeMetadata();
  LayoutMeta layout;
  layout.name = "grid";
  layout.size = 64;
  layout.alignment = 4;
  FieldMeta field;
  field.name = "m";
  field.levels = {{{4}, {16}}};
  layout.fields = {field};
  metadata.layouts = {layout};
  String json;
  Error error;
  if (!WriteMetadata(metadata, &json, &error)) std::abort();
  return {std::string(json.view()),
          "{\"kernels\":[],\"layouts\":[],\"producer\":\"p\",\"sources\":[],\"targets\":[]}"};
}
