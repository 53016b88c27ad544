#pragma once
// NumPy's .npy files, versions 1 to 3: read with suspicion, written in C order and little-endian.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace adc::tool {

/// A dense array in C order, little-endian.
struct NpyArray {
  std::string type;              ///< i1 i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64
  std::vector<int64_t> extents;  ///< none: a single element
  std::string bytes;             ///< i1: one byte each, 0 or 1
};

/// Bytes of a .npy file that begins with `begin`, and one more where something follows its end; as many as
/// `begin` where that is no .npy file, or one that cannot be read.
uint64_t NpyWanted(std::string_view begin);

/// Reads the bytes of a .npy file. Big-endian numbers and Fortran order are converted. Returns what is wrong
/// with the file, empty where nothing is.
std::string ParseNpy(std::string_view file, NpyArray* array);

/// The bytes of a .npy file (version 1.0, or 2.0 where the header does not fit). `array.bytes` must have the
/// size that type and extents say.
std::string NpyText(const NpyArray& array);

}  // namespace adc::tool
