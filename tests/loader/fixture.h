#pragma once
// A bundle made by hand, for tests of the loader: nine kernels over the image that fixture_kernels.c
// compiles to.

#include <cstdint>
#include <string>
#include <vector>

#include "artifact/bundle.h"
#include "artifact/metadata.h"

namespace fixture {

/// Bytes of the compiled image; empty where the file cannot be read.
std::vector<uint8_t> ReadImage();

/// Metadata of the kernels, finished, for the targets "cpu:x86-64" (the processor that the tests run on) and,
/// object only, "cpu:other".
adc::artifact::Metadata MakeMetadata();

/// The same with a layout and with a kernel's code for Vulkan: one of everything that metadata can say.
adc::artifact::Metadata MakeFullMetadata();

/// A kernel whose launch on a GPU has `words` words, for code of devices alone: @wideN has a buffer of u64,
/// the number of words, and further numbers, of which it writes a weighted sum.
adc::artifact::KernelMeta WideKernel(uint32_t words);

/// A bundle of `metadata` with `image` as the code of target 0.
std::vector<uint8_t> MakeBundle(const adc::artifact::Metadata& metadata, const std::vector<uint8_t>& image);

/// MakeBundle(MakeMetadata(), ReadImage()).
std::vector<uint8_t> MakeBundle();

}  // namespace fixture
