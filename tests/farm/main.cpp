// adc_farm: random kernels, each compiled for a processor and compared with the interpreter.

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "programs.h"
#include "workers.h"

using namespace adc::farm;

namespace {

constexpr const char* kUsage =
    "adc_farm [--seed N] [--first N] [--count N] [--seconds N] [--jobs N] [--state FILE] [--found FOLDER]\n"
    "         [--corpus FOLDER] [--show]\n"
    "Batches FIRST to FIRST + COUNT of SEED (ADC_SEED where nothing is said, else 1), 16 programs each, "
    "after\n"
    "the corpus.\n"
    "  --seconds  ends the run after so long\n"
    "  --state    a file that says how far a run came: a later one with the same file goes on behind it\n"
    "  --found     where programs that differ are written\n"
    "  --show     prints the texts of batch FIRST, and runs nothing\n"
    "Exit code 1: a difference.\n";

/// What an earlier run left, where there is one. False: it is of another seed.
bool ReadState(const std::string& path, RunOptions* options, Tally* before) {
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (text.empty()) return true;
  std::istringstream head(text);
  std::string seed_word, next_word;
  uint64_t seed = 0, next = 0;
  head >> seed_word >> seed >> next_word >> next;
  if (!head || seed_word != "seed" || next_word != "next" || seed != options->seed) return false;
  uint64_t end = options->first + options->count;
  options->first = next;
  options->count = end > next ? end - next : 0;
  before->Read(text);
  std::printf("going on at batch %lu\n", next);
  return true;
}

int Usage() {
  std::fputs(kUsage, stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  RunOptions options;
  if (const char* seed = std::getenv("ADC_SEED")) options.seed = std::strtoull(seed, nullptr, 10);
  std::string corpus = ADC_FARM_CORPUS;
  bool show = false;
  for (int n = 1; n < argc; ++n) {
    std::string word = argv[n];
    if (word == "--show") {
      show = true;
      continue;
    }
    if (n + 1 == argc) return Usage();
    const char* value = argv[++n];
    char* end = nullptr;
    uint64_t number = std::strtoull(value, &end, 10);
    bool is_number = *value >= '0' && *value <= '9' && *end == '\0';
    if (word == "--state") {
      options.state = value;
    } else if (word == "--found") {
      options.found = value;
    } else if (word == "--corpus") {
      corpus = value;
    } else if (!is_number) {
      return Usage();
    } else if (word == "--seed") {
      options.seed = number;
    } else if (word == "--first") {
      options.first = number;
    } else if (word == "--count") {
      options.count = number;
    } else if (word == "--seconds") {
      options.seconds = static_cast<double>(number);
    } else if (word == "--jobs" && number > 0 && number <= 256) {
      options.jobs = static_cast<uint32_t>(number);
    } else {
      return Usage();
    }
  }
  if (show) {
    Batch batch = OfNumber(options.seed, options.first);
    std::printf("// %s\n", batch.Words().c_str());
    for (const Program& program : batch.programs)
      std::printf("// arguments of seed %lu\n%s", program.arguments, program.text.c_str());
    return 0;
  }
  if (!std::filesystem::is_directory(corpus)) {
    std::fprintf(stderr, "%s: no folder, which --corpus names\n", corpus.c_str());
    return 2;
  }
  options.corpus = CorpusFiles(corpus);
  Tally before;
  if (!options.state.empty() && !ReadState(options.state, &options, &before)) {
    std::fprintf(stderr, "%s: not the state of a run of seed %lu\n", options.state.c_str(), options.seed);
    return 2;
  }
  std::printf("seed %lu, batches %lu to %lu, %zu files of the corpus\n", options.seed, options.first,
              options.first + options.count, options.corpus.size());
  RunEnd end = RunPrograms(options, before);
  // Of processors alone: other processes of the machine do not count.
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  double seconds = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  std::printf("%s%.0f programs a second of one processor; the next is --first %lu\n",
              end.tally.Report().c_str(), static_cast<double>(end.tally.programs - before.programs) / seconds,
              end.next);
  return end.tally.wrong == 0 ? 0 : 1;
}
