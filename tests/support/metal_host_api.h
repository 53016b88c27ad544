#pragma once
// The loader's table of Metal functions, on the host: a library is compiled by clang behind the host's
// metal_stdlib, a dispatch is a loop over threads. So the loader's whole Metal part runs without Metal, and
// each call can be made to fail.
//
// Guarantees: work happens at commit_and_wait, in the order of encoding. What Metal forbids (two encoders
// open at once, a dispatch without a pipeline, a missing buffer, a write past the end of a buffer) fails the
// command buffer with a text that names it.

#include <memory>
#include <string>

#include "metal/api.h"

namespace adc::msl_host {

class MetalHost {
 public:
  MetalHost();
  MetalHost(const MetalHost&) = delete;
  MetalHost& operator=(const MetalHost&) = delete;
  ~MetalHost();

  const adrt_metal_api* api() const;

  /// Newest version of the language that the device claims; 30 at first.
  void SetLanguage(uint32_t language);
  /// Bytes that all buffers may take together; without a limit at first.
  void SetMemory(uint64_t bytes);
  /// Threads of a threadgroup that pipelines claim; 1024 at first.
  void SetMostThreads(uint32_t threads);
  /// Tier of argument buffers that the device claims; 2 at first.
  void SetTableTier(uint32_t tier);
  /// As a system before macOS 13: buffers do not tell their device addresses.
  void HideAddresses();
  /// The n-th call from now on that can fail does, n from 1; 0: none.
  void FailCall(uint32_t n);
  /// Calls that can fail, so far.
  uint32_t CallsThatCanFail() const;
  /// Objects that nobody has released.
  uint32_t LiveObjects() const;

  // What an engine has of its own. Retained objects, for `release` of the table.
  void* NewDevice();
  void* NewQueue(void* device);
  /// A buffer that the host does not see through `contents`, as private storage is.
  void* NewPrivateBuffer(void* device, uint64_t bytes);
  /// The bytes of any buffer.
  static unsigned char* BytesOf(void* buffer);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace adc::msl_host
