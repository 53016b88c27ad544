#pragma once
// Timing shared by the benchmarks: the best of several runs, and options of the form --name=NUMBER.

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace adc::bench {

/// What a piece of work took, in milliseconds.
struct Time {
  double wall = std::numeric_limits<double>::infinity();
  double processor = std::numeric_limits<double>::infinity();  ///< of all threads together

  void Keep(Time other) {
    wall = std::min(wall, other.wall);
    processor = std::min(processor, other.processor);
  }
};

inline double Milliseconds(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/// The fastest of `repeats` calls of `work`; `prepare` runs before each and is not timed. On a machine that
/// others use too, processor time is the steadier of the two.
template <class Prepare, class Work>
Time BestOf(int repeats, Prepare prepare, Work work) {
  Time best;
  for (int n = 0; n < repeats; ++n) {
    prepare();
    double wall = Milliseconds(CLOCK_MONOTONIC), processor = Milliseconds(CLOCK_PROCESS_CPUTIME_ID);
    work();
    best.Keep({Milliseconds(CLOCK_MONOTONIC) - wall, Milliseconds(CLOCK_PROCESS_CPUTIME_ID) - processor});
  }
  return best;
}
template <class Work>
Time BestOf(int repeats, Work work) {
  return BestOf(repeats, [] {}, work);
}

inline void PrintTime(const char* what, Time time) {
  std::printf("%-28s %10.3f ms   processor %10.3f ms\n", what, time.wall, time.processor);
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

/// One line with the ratio of two times. True where that of the wall times is at most `goal`.
inline bool PrintRatio(const char* what, Time time, Time base, double goal) {
  double wall = time.wall / base.wall, processor = time.processor / base.processor;
  std::printf("%-28s %10.2f      processor %10.2f      goal: at most %.2f%s\n", what, wall, processor, goal,
              wall <= goal ? "" : ", MISSED");
  return wall <= goal;
}

}  // namespace adc::bench
