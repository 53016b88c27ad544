#pragma once
// The fixture's kernels as a device would run them, by artifact/gpu_abi.h: one thread at a time, on host
// memory. For tests that put a driver of their own in place of the system's.

#include <cstdint>
#include <string>
#include <vector>

#include "artifact/metadata.h"

namespace fixture {

inline constexpr uint32_t kDeviceLanes = 32;
inline constexpr uint32_t kDeviceBlock = 64;
/// Codes from here on make @check fill the status block with nonsense.
inline constexpr uint32_t kNonsense = 1000;

/// Runs one thread of a task. `words` are those of the launch.
using DeviceKernel = void (*)(const uint64_t* words, uint64_t thread);

/// The kernel of an entry symbol; null where there is none. `word_count` is what it takes.
DeviceKernel FindDeviceKernel(const std::string& symbol, uint32_t* word_count);

/// Code of every task for one more target, with rows in blocks of kDeviceLanes and blocks of kDeviceBlock
/// threads. The group of `collatz` is gated: its rows are claimed.
void AddDeviceTarget(adc::artifact::Metadata* metadata, const adc::artifact::TargetMeta& target);

/// Text that passes for PTX with these entries, and with the writer of tables where the target's features ask
/// for it.
std::string MakePtx(const adc::artifact::Metadata& metadata, uint32_t target, const char* version = "6.0");

/// Bytes that pass for a code object with these entries, for the processor of that number (EF_AMDGPU_MACH).
std::vector<uint8_t> MakeHsaco(const adc::artifact::Metadata& metadata, uint32_t target, uint32_t processor);

/// A bundle of `metadata` with one section of code, for the last target.
std::vector<uint8_t> MakeDeviceBundle(const adc::artifact::Metadata& metadata, uint32_t section_kind,
                                      const std::vector<uint8_t>& code);

}  // namespace fixture
