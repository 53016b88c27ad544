// Writes the fixture bundle to a file, for test programs that take one by path, and metadata that has one of
// everything, for the check against the schema.

#include <cstdio>
#include <fstream>
#include <string_view>

#include "fixture.h"

namespace {

bool WriteFile(const char* path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return !file.fail();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: write_fixture BUNDLE METADATA\n");
    return 2;
  }
  std::vector<uint8_t> bundle = fixture::MakeBundle();
  adc::artifact::Metadata metadata = fixture::MakeFullMetadata();
  adc::artifact::String json;
  adc::artifact::Error error;
  if (!WriteMetadata(metadata, &json, &error)) {
    std::fprintf(stderr, "write_fixture: %s\n", error.text);
    return 1;
  }
  bool written = WriteFile(argv[1], {reinterpret_cast<const char*>(bundle.data()), bundle.size()}) &&
                 WriteFile(argv[2], json);
  return written ? 0 : 1;
}
