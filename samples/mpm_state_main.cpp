// adc_mpm_state DIR [options]: writes the state of mpm_grid_op.ir as .npy files, and the file `arguments`,
// whose lines are the --arg options that hand them to `adc run` and `adc gradcheck`.

#include <cstdio>

#include "state_files.h"

namespace {

constexpr const char* kUsage =
    "usage: adc_mpm_state DIR [--scale S] [--environments B] [--geoms N] [--pass-fraction F | --empty] "
    "[--seed K] [--f64]\n";

}  // namespace

int main(int argc, char** argv) {
  adc::samples::MpmStateConfig config;
  std::string folder;
  bool f64 = false;
  for (int n = 1; n < argc; ++n) {
    std::string option = argv[n];
    double value = 0;
    auto number = [&](double low, double high) {
      if (n + 1 >= argc) return false;
      ++n;
      return adc::samples::ReadNumber(argv[n], low, high, &value);
    };
    bool good = true;
    if (option == "--f64") {
      f64 = true;
    } else if (option == "--empty") {
      config.empty = true;
    } else if (option == "--scale") {
      good = number(0.05, 4);
      config.scale = value;
    } else if (option == "--environments") {
      good = number(1, 1024);
      config.environments = static_cast<uint32_t>(value);
    } else if (option == "--geoms") {
      good = number(0, 4096);
      config.geoms = static_cast<uint32_t>(value);
    } else if (option == "--pass-fraction") {
      good = number(0, 1);
      config.pass_fraction = value;
    } else if (option == "--seed") {
      good = number(0, 1e15);
      config.seed = static_cast<uint64_t>(value);
    } else {
      good = folder.empty() && option[0] != '-';
      folder = option;
    }
    if (!good) {
      std::fprintf(stderr, "adc_mpm_state: '%s' is not understood or its value is out of range\n%s",
                   option.c_str(), kUsage);
      return 2;
    }
  }
  if (folder.empty()) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::vector<adc::samples::StateArray> state = adc::samples::MakeMpmState(config);
  if (!adc::samples::WriteState(folder, state, f64)) return 1;
  const std::vector<int64_t>& e = adc::samples::FindArray(state, "mass").extents;
  std::printf("%lld x %lld x %lld cells, %lld environments: %llu of %zu iterations pass the gate\n",
              static_cast<long long>(e[1]), static_cast<long long>(e[2]), static_cast<long long>(e[3]),
              static_cast<long long>(e[4]),
              static_cast<unsigned long long>(adc::samples::CountPassing(state)),
              adc::samples::FindArray(state, "mass").values.size());
  return 0;
}
