// The mutator of targets whose input is IR text.

#include <cstring>

#include "seeds.h"
#include "text_mutator.h"

namespace {

size_t Give(const std::string& text, uint8_t* bytes, size_t most) {
  size_t size = text.size() < most ? text.size() : most;
  std::memcpy(bytes, text.data(), size);
  return size;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t most, unsigned int seed) {
  static const std::vector<std::string> kSeeds = FuzzSeeds();
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  return Give(adc::fuzz::MutateText(size == 0 ? kSeeds[0] : text, kSeeds, seed), bytes, most);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t first_size, const uint8_t* second,
                                            size_t second_size, uint8_t* out, size_t most,
                                            unsigned int seed) {
  std::vector<std::string> others = {std::string(reinterpret_cast<const char*>(second), second_size)};
  std::string_view text(reinterpret_cast<const char*>(first), first_size);
  return Give(adc::fuzz::MutateText(text, others, seed), out, most);
}
