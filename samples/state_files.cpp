#include "state_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "npy/npy.h"

namespace adc::samples {
namespace {

bool WriteFile(const std::string& path, const std::string& bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool written = file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed) std::fprintf(stderr, "'%s': %s\n", path.c_str(), std::strerror(errno));
  return written && closed;
}

/// How the command line takes a number, or the components of a vector.
std::string NumberText(const StateArray& array) {
  std::string text;
  for (double value : array.values) {
    char digits[40];
    std::snprintf(digits, sizeof digits, array.is_float ? "%.17g" : "%.0f", value);
    text += (text.empty() ? "" : ",") + std::string(digits);
  }
  return array.extents.empty() ? text : "[" + text + "]";
}

}  // namespace

bool ReadNumber(const char* text, double low, double high, double* value) {
  char* end = nullptr;
  *value = std::strtod(text, &end);
  return end != text && *end == '\0' && *value >= low && *value <= high;
}

bool WriteState(const std::string& folder, const std::vector<StateArray>& state, bool f64) {
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
    std::fprintf(stderr, "'%s': %s\n", folder.c_str(), std::strerror(errno));
    return false;
  }
  std::string arguments;
  for (const StateArray& array : state) {
    if (array.is_number) {
      arguments += "--arg=" + array.name + "=" + NumberText(array) + "\n";
      continue;
    }
    tool::NpyArray file;
    file.type = !array.is_float ? "i32" : f64 ? "f64" : "f32";
    file.extents = array.extents;
    file.bytes = ArrayBytes(array, f64);
    std::string path = folder + "/" + array.name + ".npy";
    if (!WriteFile(path, tool::NpyText(file))) return false;
    arguments += "--arg=" + array.name + "=@" + path + "\n";
  }
  return WriteFile(folder + "/arguments", arguments);
}

}  // namespace adc::samples
