// Runs a fuzz target without libFuzzer, so that the plain test run exercises it: every seed, then a fixed
// number of mutations of seeds by a fixed generator, so that a failure comes back. With a file name, runs
// that one input; with --seeds, writes the seeds to a folder, as a corpus for libFuzzer.
//   fuzz_x [ITERATIONS | FILE | --seeds FOLDER]
//   fuzz_x ITERATIONS FOLDER START    mutations of the folder's files as well; START is the generator's

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "seeds.h"

/// One mutation of any bytes, for the mutators of targets, as libFuzzer has it.
extern "C" size_t LLVMFuzzerMutate(uint8_t* bytes, size_t size, size_t most);

/// A target's own mutations, where it has some.
extern "C" [[gnu::weak]] size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t most,
                                                        unsigned int seed);

namespace {

class Mutator {
 public:
  Mutator(const std::vector<std::string>& seeds, uint64_t start) : seeds_(seeds), random_(start) {}

  std::string Next() {
    std::string text = seeds_[Below(seeds_.size())];
    if (LLVMFuzzerCustomMutator != nullptr && Below(8) != 0) return ChangeAsTargetDoes(std::move(text));
    for (size_t count = 1 + Below(4); count > 0; --count) Change(text);
    return text;
  }

  /// One mutation of bytes.
  void Change(std::string& text) {
    static constexpr uint64_t kNumbers[] = {0,      1,          0x7F,       0xFF,         0x7FFF,
                                            0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, ~uint64_t{0}, uint64_t{1} << 63};
    size_t at = Below(text.size());
    switch (Below(8)) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << Below(8)));
        break;
      case 1:
        if (!text.empty()) text[at] = static_cast<char>(random_());
        break;
      case 2:
        text.insert(at, 1, static_cast<char>(random_()));
        break;
      case 3:
        text.erase(at, 1 + Below(16));
        break;
      case 4:  // a piece stands twice
        text.insert(at, text.substr(Below(text.size()), 1 + Below(32)));
        break;
      case 5: {  // a number that sizes trip over
        uint64_t number = kNumbers[Below(std::size(kNumbers))];
        size_t size = size_t{1} << Below(4);
        if (at + size <= text.size()) std::memcpy(text.data() + at, &number, size);
        break;
      }
      case 6: {  // a piece of another seed
        const std::string& other = seeds_[Below(seeds_.size())];
        size_t from = Below(other.size());
        text.replace(at, Below(64), other, from, Below(64));
        break;
      }
      case 7:
        text.resize(at);
        break;
    }
  }

 private:
  std::string ChangeAsTargetDoes(std::string text) {
    for (size_t count = 1 + Below(4); count > 0; --count) {
      size_t size = text.size(), most = 2 * size + 4096;
      text.resize(most);
      auto seed = static_cast<unsigned int>(random_());
      text.resize(LLVMFuzzerCustomMutator(reinterpret_cast<uint8_t*>(text.data()), size, most, seed));
    }
    return text;
  }

  size_t Below(size_t count) { return count == 0 ? 0 : random_() % count; }

  const std::vector<std::string>& seeds_;
  std::mt19937_64 random_;
};

const std::vector<std::string> kNoSeeds = {std::string(64, '\0')};

/// The input that runs, for a failure: with FUZZ_LEFT set, it is written there before it runs.
void Run(const std::string& text) {
  static const char* const kLeft = std::getenv("FUZZ_LEFT");
  if (kLeft != nullptr) std::ofstream(kLeft, std::ios::binary) << text;
  // A copy of exactly this size, so that a sanitizer sees a read past its end.
  std::vector<uint8_t> exact(text.begin(), text.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

}  // namespace

size_t LLVMFuzzerMutate(uint8_t* bytes, size_t size, size_t most) {
  static Mutator mutator(kNoSeeds, 0x5EED);
  std::string text(reinterpret_cast<const char*>(bytes), size);
  mutator.Change(text);
  size = std::min(text.size(), most);
  std::memcpy(bytes, text.data(), size);
  return size;
}

int main(int argc, char** argv) {
  long iterations = 20000;
  if (argc == 3 && std::string(argv[1]) == "--seeds") {
    size_t number = 0;
    for (const std::string& seed : FuzzSeeds())
      std::ofstream(std::string(argv[2]) + "/seed" + std::to_string(number++), std::ios::binary) << seed;
    return 0;
  }
  if (argc == 2) {
    char* end = nullptr;
    iterations = std::strtol(argv[1], &end, 10);
    if (*end != 0) {
      std::ifstream file(argv[1], std::ios::binary);
      if (!file) {
        std::fprintf(stderr, "cannot read %s\n", argv[1]);
        return 2;
      }
      Run({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
      return 0;
    }
  }
  std::vector<std::string> seeds = FuzzSeeds();
  uint64_t start = 0x5EED;
  if (argc == 4) {
    iterations = std::strtol(argv[1], nullptr, 10);
    start = std::strtoull(argv[3], nullptr, 10);
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
      if (entry.is_regular_file()) names.push_back(entry.path());
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      std::ifstream file(name, std::ios::binary);
      seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  for (const std::string& seed : seeds) Run(seed);
  Mutator mutator(seeds, start);
  for (long iteration = 0; iteration < iterations; ++iteration) Run(mutator.Next());
  // Not to standard output, which a target may have closed.
  std::fprintf(stderr, "%zu seeds and %ld mutations of them: no failure\n", seeds.size(), iterations);
  return 0;
}
