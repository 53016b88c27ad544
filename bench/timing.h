#pragma once
// Timing shared by the benchmarks: the best of several runs, and options of the form --name=NUMBER.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace adc::bench {

/// Milliseconds of the fastest of `repeats` calls.
template <class Work>
double BestOf(int repeats, Work work) {
  double best = std::numeric_limits<double>::infinity();
  for (int n = 0; n < repeats; ++n) {
    auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

/// The number of --`name`=N, or `otherwise`. Ends the process where it is no number.
inline double Option(int argc, char** argv, const char* name, double otherwise) {
  std::string head = std::string("--") + name + "=";
  for (int n = 1; n < argc; ++n) {
    if (std::strncmp(argv[n], head.c_str(), head.size()) != 0) continue;
    char* end = nullptr;
    double value = std::strtod(argv[n] + head.size(), &end);
    if (*end == '\0' && end != argv[n] + head.size()) return value;
    std::fprintf(stderr, "'%s' is not --%s=NUMBER\n", argv[n], name);
    std::exit(2);
  }
  return otherwise;
}

/// "gradient / primal   1.42   (goal: at most 2.50)". True where the goal is met.
inline bool PrintRatio(const char* what, double ratio, double goal) {
  std::printf("%-44s %7.2f   goal: at most %.2f%s\n", what, ratio, goal, ratio <= goal ? "" : "   MISSED");
  return ratio <= goal;
}

}  // namespace adc::bench
