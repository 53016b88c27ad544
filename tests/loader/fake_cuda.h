#pragma once
// A CUDA driver that runs on the host: contexts and PTX; the rest is in fake_streams.h.

#include <adrt/adrt_cuda.h>

#include <string>
#include <vector>

#include "fake_streams.h"

namespace fixture {

struct FakeCuda : FakeStreams {
  int driver_version = 12040, major = 8, minor = 0;
  std::string compile_log;  ///< not empty: compiling fails with it
  int compile_error = 218;  ///< CUDA_ERROR_INVALID_PTX

  std::vector<void*> context_stack;  ///< of the calling thread: there is one
  long primary = 0;

  FakeCuda();
  ~FakeCuda() override;

  bool IsCurrent() const override { return !context_stack.empty() && context_stack.back() == &primary; }
  void* context() { return &primary; }
  adrt_cuda_desc Desc();
  /// Nothing that the loader made is alive.
  bool IsClean() const { return NothingAlive() && primary == 0 && context_stack.empty(); }
};

}  // namespace fixture
