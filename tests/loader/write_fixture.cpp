// Writes the fixture bundle to a file, for test programs that take one by path.

#include <cstdio>
#include <fstream>

#include "fixture.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_fixture FILE\n");
    return 2;
  }
  std::vector<uint8_t> bundle = fixture::MakeBundle();
  std::ofstream file(argv[1], std::ios::binary);
  file.write(reinterpret_cast<const char*>(bundle.data()), static_cast<std::streamsize>(bundle.size()));
  file.close();
  return file ? 0 : 1;
}
