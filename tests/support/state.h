#pragma once
// Hands the state of a sample to a program that runs its kernel.

#include <cstring>

#include "mpm_state.h"
#include "program.h"

namespace adc::test {

/// Sets every argument of a program (f32 or f64) that runs the sample's kernel or one derived from it.
inline void SetArguments(Program& program, const std::vector<samples::StateArray>& state) {
  for (const samples::StateArray& array : state) {
    size_t n = program.Index(array.name);
    ir::Type type = program.TypeOf(n);
    if (array.is_number) {
      program.Number(array.name, 0);
      for (size_t k = 0; k < array.values.size(); ++k)
        program.arguments()[n].bits[k] = interp::NumberArgument(type.ScalarType(), array.values[k]).bits[0];
      continue;
    }
    std::vector<int64_t> extents(array.extents.begin(), array.extents.begin() + type.count);
    interp::Tensor& tensor = program.arguments()[n].tensor;
    tensor = interp::Tensor::Zeros(type.Element(), extents);
    std::string bytes = samples::ArrayBytes(array, type.scalar == ir::Scalar::F64);
    REQUIRE(bytes.size() == tensor.data.size());
    std::memcpy(tensor.data.data(), bytes.data(), bytes.size());
  }
}

}  // namespace adc::test
