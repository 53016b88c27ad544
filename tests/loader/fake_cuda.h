#pragma once
// A CUDA driver that runs on the host: contexts and PTX; the rest is in fake_streams.h.

#include <adrt/adrt_cuda.h>

#include <functional>
#include <string>
#include <vector>

#include "fake_streams.h"

namespace fixture {

struct FakeCuda : FakeStreams {
  int driver_version = 12040, major = 8, minor = 0;
  std::string compile_log;  ///< not empty: compiling what contains `faulty` fails with it
  std::string faulty;
  int compile_error = 218;  ///< CUDA_ERROR_INVALID_PTX

  std::function<void()> while_compiling;  ///< called by each compilation, of several threads at once
  std::vector<std::string> compiled;      ///< texts that the compiler got, those with an error too

  static thread_local std::vector<void*> context_stack;
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
