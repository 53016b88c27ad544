#pragma once
// How much memory a launch takes, as functions of C over the struct of its arguments.

#include <string>
#include <vector>

#include "product/typed_call.h"

namespace adc::product {

/// `word`_scratch_bytes where the kernel has scratch, and `word`_heap_bytes, of a launch on a CPU: the sizes
/// that the loader computes, where arguments and extents alone decide. Else a comment that says why there is
/// none.
std::string SizesText(const artifact::Metadata& metadata, const artifact::KernelMeta& kernel,
                      const std::vector<CallMember>& members, const std::string& word);

}  // namespace adc::product
