// adc_articulated_state DIR [options]: writes a state of update_cartesian_space.ir as .npy files, and the
// file `arguments`, whose lines are the --arg options that hand them to `adc run` and `adc gradcheck`.

#include <cstdio>

#include "articulated_state.h"
#include "state_files.h"

namespace {

constexpr const char* kUsage =
    "usage: adc_articulated_state DIR [--body | --arm | --tree LINKS] [--environments B] [--seed K] "
    "[--f64]\n";

}  // namespace

int main(int argc, char** argv) {
  using adc::samples::ArticulatedConfig;
  ArticulatedConfig config;
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
    } else if (option == "--body") {
      config.scene = ArticulatedConfig::Scene::Body;
    } else if (option == "--arm") {
      config.scene = ArticulatedConfig::Scene::Arm;
    } else if (option == "--tree") {
      good = number(1, 100'000);
      config.scene = ArticulatedConfig::Scene::Tree;
      config.links = static_cast<uint32_t>(value);
    } else if (option == "--environments") {
      good = number(1, 1'000'000);
      config.environments = static_cast<uint32_t>(value);
    } else if (option == "--seed") {
      good = number(0, 1e15);
      config.seed = static_cast<uint64_t>(value);
    } else {
      good = folder.empty() && option[0] != '-';
      folder = option;
    }
    if (!good) {
      std::fprintf(stderr, "adc_articulated_state: '%s' is not understood or its value is out of range\n%s",
                   option.c_str(), kUsage);
      return 2;
    }
  }
  if (folder.empty()) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::vector<adc::samples::StateArray> state = adc::samples::MakeArticulatedState(config);
  if (!adc::samples::WriteState(folder, state, f64)) return 1;
  std::printf("%zu links, %zu joints, %u environments\n",
              adc::samples::FindArray(state, "parent").values.size(),
              adc::samples::FindArray(state, "joint_type").values.size(), config.environments);
  return 0;
}
