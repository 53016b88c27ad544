#pragma once
// The text of a header for a host program that binds the SPIR-V of a shader's kernel without the loader.

#include <string>

#include "artifact/metadata.h"
#include "ir/function.h"

namespace adc::product {

/// The plan of a task's adstacks for Vulkan; null where it has none in a heap.
const artifact::AdstackPlanMeta* PlanInHeap(const artifact::Metadata& metadata,
                                            const artifact::TaskMeta& task);
/// Words that the adstacks of a plan take.
uint32_t PlanWords(const artifact::AdstackPlanMeta& plan);

/// Sets and bindings of buffers, offsets of values in their blocks, numbers of specialisation constants,
/// entry points and sizes of workgroups, and for a task that tapes in a heap a C function that fills the
/// words of its adstacks. `word` is what all names begin with.
std::string ShaderHeaderText(const ir::Module& module, const ir::Function& kernel,
                             const artifact::Metadata& metadata, const artifact::KernelMeta& meta,
                             uint32_t adjoint_set, const std::string& word);

}  // namespace adc::product
