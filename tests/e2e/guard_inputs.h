#pragma once
// What the tests of the guard give to kernels.

#include <filesystem>
#include <fstream>

#include "../support/folders.h"
#include "../support/on_device.h"
#include "../support/program.h"

namespace adc::test {

/// The kernels of guard/waves.ir; who runs elsewhere says where they are.
inline std::string waves_file = adc::test::TestsFolder() + "/guard/waves.ir";

/// A file that goes with the object.
struct PassingFile {
  std::filesystem::path path;
  explicit PassingFile(const std::string& text) {
    static int number = 0;
    path = std::filesystem::temp_directory_path() /
           ("adc-guard-" + std::to_string(getpid()) + "-" + std::to_string(number++) + ".ir");
    std::ofstream(path) << text;
  }
  ~PassingFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

inline std::vector<double> Many(int64_t count, double value) {
  return std::vector<double>(static_cast<size_t>(count), value);
}

/// Arguments of a gradient from those of its kernel: the adjoints of parameters `x` and `y`, zeros and ones.
inline interp::Arguments Seeded(interp::Arguments arguments, int64_t count) {
  for (double seed : {0.0, 1.0}) {
    interp::Argument companion;
    companion.tensor = interp::Tensor::Zeros(ir::kF32, {count});
    for (int64_t i = 0; i < count; ++i) companion.tensor.Set(i, seed);
    arguments.list.push_back(companion);
  }
  return arguments;
}

/// Arguments of the gradient of a kernel of guard/waves.ir: %x, the buffer that decides, zeros in %y.
inline interp::Arguments GradientOf(const std::string& kernel, int64_t count, double x,
                                    const std::vector<double>& decides) {
  auto program = Program::OfFile(waves_file, kernel);
  program->Buffer("x", {count}, Many(count, x));
  program->Zeros("y", {count});
  program->Buffer(kernel == "waves" ? "n" : kernel == "gated" ? "open" : "low", {count}, decides);
  if (kernel == "gated") program->Number("n", 5);
  return Seeded(program->arguments(), count);
}

/// Gates of which so many are open.
inline std::vector<double> Gates(int64_t count, int64_t open) {
  std::vector<double> gates = Many(count, 0);
  for (int64_t i = 0; i < open; ++i) gates[static_cast<size_t>(i * 7 % count)] = 1;
  return gates;
}

/// What sizing reads, brought to the host and handed to the plan; counts are recorded by nobody and missing.
inline void Resolve(OnDevice& device, OnDevice::Launch& launch, const interp::Arguments& contents) {
  adrt_readback_report piece = {};
  piece.struct_size = sizeof piece;
  device.Must(adrt_plan_readback(launch.plan(), 0, &piece, device.Error()));
  std::vector<std::byte> readback(piece.total_bytes);
  for (uint32_t index = 0; index < piece.count; ++index) {
    device.Must(adrt_plan_readback(launch.plan(), index, &piece, device.Error()));
    if (piece.param == ADRT_READBACK_COUNTS) {
      readback.resize(piece.offset);
      continue;
    }
    std::memcpy(readback.data() + piece.offset, contents[piece.param].tensor.data.data(), piece.bytes);
  }
  device.Must(adrt_plan_resolve(launch.plan(), readback.empty() ? nullptr : readback.data(), readback.size(),
                                device.Error()));
}

}  // namespace adc::test
