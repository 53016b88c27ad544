#pragma once
// The inputs that AMD's hardware and runtime can give a function besides its arguments, as LLVM names the
// lack of it.

#include <array>

namespace adc::codegen {

/// Kernels use the first two. A call hands on every input that its callee is not marked to do without, in
/// scalar registers, and the time that LLVM takes for these copies grows faster than with the square of their
/// number.
inline constexpr std::array kAmdInputs = {
    "amdgpu-no-workgroup-id-x",    "amdgpu-no-workitem-id-x",  "amdgpu-no-dispatch-ptr",
    "amdgpu-no-queue-ptr",         "amdgpu-no-dispatch-id",    "amdgpu-no-implicitarg-ptr",
    "amdgpu-no-workgroup-id-y",    "amdgpu-no-workgroup-id-z", "amdgpu-no-workitem-id-y",
    "amdgpu-no-workitem-id-z",     "amdgpu-no-lds-kernel-id",  "amdgpu-no-hostcall-ptr",
    "amdgpu-no-heap-ptr",          "amdgpu-no-default-queue",  "amdgpu-no-completion-action",
    "amdgpu-no-multigrid-sync-arg"};
inline constexpr unsigned kAmdKernelInputs = 2;

}  // namespace adc::codegen
