// Lists the instructions of code objects, how often each is there, and whether the interpreter has it. Exit
// code 1 where it does not have one of them.
//
// Usage: adc_rdna3_mnemonics FILE...

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>

#include "code_object.h"

int main(int count, char** words) {
  using namespace adc::rdna3;
  struct Found {
    uint64_t count = 0;
    bool missing = false;
  };
  std::map<std::string, Found> found;
  Decoder decoder("gfx1100");
  for (int number = 1; number < count; ++number) {
    std::ifstream file(words[number], std::ios::binary);
    std::string image((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (image.empty()) {
      std::fprintf(stderr, "%s: cannot be read\n", words[number]);
      return 2;
    }
    try {
      Memory memory;
      CodeObject code(memory, decoder, image.data());
      code.code().ForEach([&found](const std::string& mnemonic, bool implemented) {
        ++found[mnemonic].count;
        found[mnemonic].missing = !implemented;
      });
    } catch (const std::runtime_error& error) {
      std::fprintf(stderr, "%s: %s\n", words[number], error.what());
      return 2;
    }
  }
  size_t missing = 0;
  for (const auto& [mnemonic, of] : found) {
    missing += of.missing;
    std::printf("%-32s %9llu%s\n", mnemonic.c_str(), static_cast<unsigned long long>(of.count),
                of.missing ? "  NOT IMPLEMENTED" : "");
  }
  std::printf("%zu mnemonics, %zu of them not implemented\n", found.size(), missing);
  return missing == 0 ? 0 : 1;
}
