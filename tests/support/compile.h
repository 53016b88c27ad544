#pragma once
// Where tests get bundles from: the compiler, in memory; or, in a program that is linked without it
// (ADC_TEST_ON_PREPARED), a folder of bundles that were compiled elsewhere.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "driver/compile.h"

namespace adc::test {

#if defined(ADC_TEST_ON_PREPARED)

/// Bundles for all targets, named after a file and its folder: that of guard/waves.ir is guard-waves.adcb.
inline std::string prepared_folder;

inline bool Compile(const driver::CompileOptions& options, std::vector<uint8_t>* bytes) {
  std::filesystem::path path = options.inputs[0];
  std::string name = path.parent_path().filename().string() + "-" + path.stem().string() + ".adcb";
  std::ifstream file(prepared_folder + "/" + name, std::ios::binary);
  bytes->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return !bytes->empty();
}

#else

/// The bundle that these options make. False after errors were printed.
inline bool Compile(const driver::CompileOptions& options, std::vector<uint8_t>* bytes) {
  product::Product product;
  bool good = driver::CompileInputs(options.inputs, options, &product) == kExitOk;
  *bytes = std::move(product.bytes);
  return good;
}

#endif

}  // namespace adc::test
