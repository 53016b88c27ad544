#include "programs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "../support/random_kernel.h"
#include "operations.h"
#include "target/target.h"

namespace adc::farm {

namespace {

/// Targets whose code runs here.
const std::vector<std::string>& Targets() {
  static const std::vector<std::string> kTargets = [] {
    std::vector<std::string> names;
#if defined(__x86_64__)
    const bool levels[] = {true, static_cast<bool>(__builtin_cpu_supports("x86-64-v2")),
                           static_cast<bool>(__builtin_cpu_supports("x86-64-v3")),
                           static_cast<bool>(__builtin_cpu_supports("x86-64-v4"))};
    for (const target::Target& target : target::AllTargets()) {
      if (target.arch == target::Arch::X86_64 && levels[target.level - 1]) names.push_back(target.name);
    }
#else
    names.push_back("cpu:aarch64");
#endif
    return names;
  }();
  return kTargets;
}

/// Numbers that have nothing to do with each other, of one seed.
class Choices {
 public:
  explicit Choices(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15ull;
    uint64_t word = state_;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ull;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBull;
    return word ^ (word >> 31);
  }
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>((Next() >> 33) % bound); }
  bool OneIn(uint32_t n) { return Below(n) == 0; }

 private:
  uint64_t state_;
};

/// One batch in sixteen is optimised: that takes seven times as long.
void Choose(Batch& batch, Choices& choices, bool smooth) {
  driver::CompileOptions& options = batch.options;
  const std::vector<std::string>& targets = Targets();
  options.targets = {targets[choices.Below(static_cast<uint32_t>(targets.size()))]};
  options.optimisation = choices.OneIn(16) ? 1 + choices.Below(3) : 0;
  // A rounding decides nothing where nothing but an integer decides.
  options.float_mode = smooth && choices.OneIn(2) ? driver::FloatMode::Contract : driver::FloatMode::Strict;
  options.deterministic = choices.OneIn(12);
  options.check_bounds = choices.OneIn(12);
  if (choices.OneIn(6))
    options.checkpoint = choices.OneIn(3) ? driver::kCheckpointAtLaunch : 1 + choices.Below(3);
  if (choices.OneIn(8)) options.simd = choices.OneIn(2) ? 4 : driver::kSimdAuto;
  options.derive.tangent = choices.OneIn(4);
  options.error_limit = 1;
  batch.workers = choices.OneIn(12) ? 3 : 1;
}

Program RandomProgram(Choices& choices, bool differentiable, bool smooth) {
  test::RandomKernelConfig config;
  config.scalar = choices.OneIn(3) ? "f32" : "f64";
  config.statements = 2 + choices.Below(4);
  config.depth = 1 + choices.Below(3);
  config.tasks = choices.OneIn(6) ? 2 + choices.Below(2) : 1;
  config.differentiable = differentiable;
  config.while_loops = !choices.OneIn(3);
  config.arrays = !choices.OneIn(3);
  config.vectors = choices.OneIn(4);
  config.smooth = smooth;
  if (!choices.OneIn(4)) {
    config.operation = [&](const test::RandomSource& source) {
      return RandomOperation(config.scalar, smooth, source);
    };
  }
  Program program;
  program.arguments = choices.Next() % 1'000'000;
  program.text = test::RandomKernel(choices.Next(), config);
  return program;
}

}  // namespace

std::string Batch::Words() const {
  std::string words = "--target=" + options.targets[0] + " -O" + std::to_string(options.optimisation) +
                      (options.float_mode == driver::FloatMode::Strict ? " --fp=strict" : " --fp=contract");
  if (options.deterministic) words += " --deterministic";
  if (options.check_bounds) words += " --check-bounds";
  if (options.checkpoint == driver::kCheckpointAtLaunch) {
    words += " --checkpoint=auto";
  } else if (options.checkpoint != 0) {
    words += " --checkpoint=" + std::to_string(options.checkpoint);
  }
  if (options.simd != 0)
    words += options.simd == driver::kSimdAuto ? " --simd=auto" : " --simd=" + std::to_string(options.simd);
  if (options.derive.tangent) words += " --derive=grad,jvp";
  return words + ", " + std::to_string(workers) + (workers == 1 ? " worker" : " workers");
}

std::vector<std::string> CorpusFiles(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".ir") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Batch OfCorpus(const std::string& path, uint64_t turn) {
  std::ifstream file(path);
  Batch batch;
  Choices choices(turn);
  Choose(batch, choices, false);
  batch.options.optimisation = turn % 2 == 0 ? 0 : 2;
  batch.options.derive.tangent = turn / 2 % 2 == 0;
  Program program;
  program.name = std::filesystem::path(path).stem().string() + "-" + std::to_string(turn);
  program.text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  program.arguments = turn;
  batch.programs.push_back(std::move(program));
  return batch;
}

Batch OfNumber(uint64_t seed, uint64_t number) {
  Choices choices(Choices(seed).Next() + number);
  bool differentiable = !choices.OneIn(8), smooth = choices.OneIn(4);
  Batch batch;
  Choose(batch, choices, smooth);
  batch.options.derive.gradient = differentiable;
  batch.options.derive.tangent &= differentiable;
  for (uint64_t n = number * kBatch; n < (number + 1) * kBatch; ++n) {
    Program program = RandomProgram(choices, differentiable, smooth);
    program.name = std::to_string(seed) + "-" + std::to_string(n);
    // Kernels of one module have different names.
    const std::string head = "kernel @random(";
    program.text.replace(0, head.size(), "kernel @random" + std::to_string(n) + "(");
    batch.programs.push_back(std::move(program));
  }
  return batch;
}

}  // namespace adc::farm
