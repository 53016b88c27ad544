// adc_mpm_state DIR [options]: writes the state of mpm_grid_op.ir as .npy files, and the file `arguments`,
// whose lines are the --arg options that hand them to `adc run` and `adc gradcheck`.

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mpm_state.h"
#include "support/npy.h"

namespace {

constexpr const char* kUsage =
    "usage: adc_mpm_state DIR [--scale S] [--environments B] [--geoms N] [--pass-fraction F] [--seed K] "
    "[--f64]\n";

/// The whole text as a number in [low, high].
bool ReadNumber(const char* text, double low, double high, double* value) {
  char* end = nullptr;
  *value = std::strtod(text, &end);
  return end != text && *end == '\0' && *value >= low && *value <= high;
}

bool WriteFile(const std::string& path, const std::string& bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool written = file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed)
    std::fprintf(stderr, "adc_mpm_state: '%s': %s\n", path.c_str(), std::strerror(errno));
  return written && closed;
}

/// How the command line takes a number, or the components of a vector.
std::string NumberText(const adc::samples::StateArray& array) {
  std::string text;
  for (double value : array.values) {
    char digits[40];
    std::snprintf(digits, sizeof digits, array.is_float ? "%.17g" : "%.0f", value);
    text += (text.empty() ? "" : ",") + std::string(digits);
  }
  return array.extents.empty() ? text : "[" + text + "]";
}

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
      return ReadNumber(argv[n], low, high, &value);
    };
    bool good = true;
    if (option == "--f64") {
      f64 = true;
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
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
    std::fprintf(stderr, "adc_mpm_state: '%s': %s\n", folder.c_str(), std::strerror(errno));
    return 1;
  }
  std::vector<adc::samples::StateArray> state = adc::samples::MakeMpmState(config);
  std::string arguments;
  for (const adc::samples::StateArray& array : state) {
    if (array.is_number) {
      arguments += "--arg=" + array.name + "=" + NumberText(array) + "\n";
      continue;
    }
    adc::support::NpyArray file;
    file.type = !array.is_float ? "i32" : f64 ? "f64" : "f32";
    file.extents = array.extents;
    file.bytes = adc::samples::ArrayBytes(array, f64);
    std::string path = folder + "/" + array.name + ".npy";
    if (!WriteFile(path, adc::support::NpyText(file))) return 1;
    arguments += "--arg=" + array.name + "=@" + path + "\n";
  }
  if (!WriteFile(folder + "/arguments", arguments)) return 1;
  const std::vector<int64_t>& e = adc::samples::FindArray(state, "mass").extents;
  std::printf("%lld x %lld x %lld cells, %lld environments: %llu of %zu iterations pass the gate\n",
              static_cast<long long>(e[1]), static_cast<long long>(e[2]), static_cast<long long>(e[3]),
              static_cast<long long>(e[4]),
              static_cast<unsigned long long>(adc::samples::CountPassing(state)),
              adc::samples::FindArray(state, "mass").values.size());
  return 0;
}
