#pragma once
// What a launch would take in a layout with one stack per value, as the comparison of `adc size` has it.
//
// The layout: each value that an adjoint reads, made inside of a loop or a branch, is pushed onto a stack of
// its own, whose length is the product of the largest trip counts of the loops around it and one. A float's
// slot holds the value and its adjoint, an integer's or a condition's takes four bytes. Every thread that is
// started has a row of all stacks: on a device one per iteration up to 131,072, on a CPU one per worker.

#include <adrt/adrt.h>

#include <optional>
#include <span>

#include "artifact/metadata.h"
#include "loader.h"

namespace adc::tool {

struct ReferenceLayout {
  uint64_t float_stacks = 0, integer_stacks = 0;
  uint64_t threads = 0;
  /// Of all threads; without those stacks whose length only device data says.
  uint64_t bytes = 0;
  uint64_t open_stacks = 0;  ///< these
};

/// The metadata of an opened bundle; empty after an error was printed.
std::optional<artifact::Metadata> MetadataOf(const adrt_bundle* bundle);

/// Of one task of a launch with these arguments (those that are given, in order). `threads` is what is
/// started. Empty where the task says nothing of it, or a size does not fit 64 bits.
std::optional<ReferenceLayout> LayOutReference(const artifact::KernelMeta& kernel,
                                               const artifact::TaskMeta& task, const Kernel& described,
                                               std::span<const adrt_arg> arguments, uint64_t threads);

}  // namespace adc::tool
