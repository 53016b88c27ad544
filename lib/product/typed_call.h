#pragma once
// The part of a header for typed calls: a kernel's arguments as a struct, and the table of adrt_arg that is
// made of it.

#include <string>
#include <vector>

#include "artifact/metadata.h"

namespace adc::product {

/// How the struct of a kernel's arguments names a parameter; empty where it has no such member.
struct CallMember {
  std::string name;
  std::string shape;    ///< of a buffer with axes; of a companion that of its primal, whose shape it has
  std::string version;  ///< of the content that sizes are read from
  uint32_t axes = 0;    ///< of a buffer: how many extents `shape` has
  std::string element;  ///< the struct of its elements, whose words are the last axis ...
  uint32_t words = 0;   ///< ... so many of them
  std::string setter;   ///< takes memory and extents of a buffer with several axes from an mdspan
};

/// The struct of the elements of a parameter: its name and its bytes; empty where it has none.
struct CallElement {
  std::string type;
  uint64_t bytes = 0;
};

/// Whether it is a buffer with the shape of its primal.
bool IsCompanion(const artifact::KernelMeta& kernel, const artifact::ParamMeta& param);

/// Whether programs launch the kernel: those that count for a launch are the loader's.
bool IsCalled(const artifact::KernelMeta& kernel);

/// A scalar type in C: "float"; uint16_t for the bits of an f16.
std::string CallScalar(artifact::ScalarType type);

/// The text after the name of a by-value element: "", "[3]" of a vector, "[3][3]" of a matrix.
std::string CallExtents(uint32_t rows, uint32_t columns);

/// The struct `word`_args, the function `word`_bind and, for C++20, the same with spans in the namespace
/// adc::calls::`space`. `layouts` are the names of the structs of metadata.layouts, `elements` the structs of
/// elements of the kernel's parameters.
std::string CallText(const artifact::KernelMeta& kernel, const artifact::Metadata& metadata,
                     const std::vector<std::string>& layouts, const std::vector<CallElement>& elements,
                     const std::string& word, const std::string& space);

}  // namespace adc::product
