// Reads any words as SPIR-V: what the validator accepts of mutated shaders is lowered, and what comes out is
// verified. The mutator changes words and not bytes, so that one module in a few is still valid.

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "../support/folders.h"
#include "frontend/glsl/compile.h"
#include "frontend/spirv/read.h"
#include "ir/module.h"
#include "seeds.h"
#include "verify/verify.h"

using namespace adc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint32_t> words = frontend::spirv::WordsOf({reinterpret_cast<const char*>(data), size});
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  frontend::spirv::ReadConfig config;
  config.operation_limit = 20'000;
  ir::Module module;
  bool read = frontend::spirv::ReadSpirv("fuzz.spv", words, config, sources, diagnostics, &module);
  if (!read && !diagnostics.HasErrors()) {
    std::fprintf(stderr, "fuzz_spirv: refused without a reason\n");
    std::abort();
  }
  if (read) verify::Verify(module, diagnostics);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t most, unsigned int seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> words(size / 4);
  std::memcpy(words.data(), bytes, words.size() * 4);
  constexpr size_t kHeader = 5;
  if (words.size() <= kHeader + 1) return size;
  std::vector<std::pair<size_t, size_t>> instructions;  // begin, words
  for (size_t at = kHeader; at < words.size();) {
    size_t count = std::max<size_t>(words[at] >> 16, 1);
    instructions.emplace_back(at, std::min(count, words.size() - at));
    at += count;
  }
  auto [begin, count] = instructions[random() % instructions.size()];
  size_t operand = count > 1 ? begin + 1 + random() % (count - 1) : begin;
  switch (random() % 6) {
    case 0:
      words[operand] = random() % std::max<uint32_t>(words[3], 1);
      break;
    case 1:
      words[operand] += random() % 2 == 0 ? 1 : ~uint32_t{0};
      break;
    case 2:
      words[operand] = words[kHeader + random() % (words.size() - kHeader)];
      break;
    case 3:
      // Another opcode with as many words.
      words[begin] = (words[begin] & 0xFFFF0000) | (random() % 400);
      break;
    case 4: {
      auto first = words.begin() + static_cast<std::ptrdiff_t>(begin);
      words.erase(first, first + static_cast<std::ptrdiff_t>(count));
      break;
    }
    default: {
      auto other = instructions[random() % instructions.size()];
      std::vector<uint32_t> copy(words.begin() + static_cast<std::ptrdiff_t>(other.first),
                                 words.begin() + static_cast<std::ptrdiff_t>(other.first + other.second));
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(begin), copy.begin(), copy.end());
      break;
    }
  }
  size_t result = std::min(words.size() * 4, most / 4 * 4);
  std::memcpy(bytes, words.data(), result);
  return result;
}

std::vector<std::string> FuzzSeeds() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(adc::test::TestsFolder() + "/shaders"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  for (const std::filesystem::path& file : files) {
    std::ifstream stream(file);
    std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    frontend::glsl::CompileConfig config;
    if (file.extension() == ".hlsl") config.language = frontend::glsl::Language::Hlsl;
    diag::SourceManager sources;
    diag::Diagnostics diagnostics;
    frontend::glsl::Compiled compiled =
        frontend::glsl::Compile(file.string(), text, config, sources, diagnostics, nullptr);
    seeds.emplace_back(reinterpret_cast<const char*>(compiled.words.data()), compiled.words.size() * 4);
  }
  return seeds;
}
