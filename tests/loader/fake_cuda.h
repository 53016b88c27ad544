#pragma once
// A CUDA driver that runs on the host: it keeps the rules of the real one (a current context, live handles,
// addresses inside of allocations), executes the fixture's kernels, counts what is alive, and fails the call
// that it is told to.

#include <adrt/adrt_cuda.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace fixture {

struct FakeCuda {
  // What the device is.
  int driver_version = 12040, device_count = 1, major = 8, minor = 0, processors = 2,
      blocks_per_processor = 2;
  size_t memory_bytes = size_t{1} << 30;
  std::string compile_log;  ///< not empty: compiling fails with it
  int compile_error = 218;  ///< CUDA_ERROR_INVALID_PTX
  std::string missing;      ///< a function that `find` does not find

  // Which call fails, counted from 1 over all calls but those that name errors; 0: none.
  long fail_at = 0;
  int fail_with = 1;  ///< CUDA_ERROR_INVALID_VALUE

  // What happened.
  struct Launched {
    std::string symbol;
    unsigned blocks, block_size;
    std::vector<uint64_t> words;
  };
  std::vector<Launched> launches;
  long calls = 0, allocations = 0, copies = 0;
  std::string failed;                ///< name of the call that was made to fail
  std::string broken;                ///< a rule that the loader broke; must stay empty
  std::vector<void*> context_stack;  ///< of the calling thread: there is one
  std::map<uint64_t, size_t> memory;
  std::set<void*> streams, modules;
  std::vector<std::pair<void*, std::string>> functions;  ///< module and name; handle: index + 1
  long primary = 0;
  size_t used = 0;

  FakeCuda();
  ~FakeCuda();
  FakeCuda(const FakeCuda&) = delete;
  FakeCuda& operator=(const FakeCuda&) = delete;

  void* context() { return &primary; }
  adrt_cuda_desc Desc();
  /// Nothing that the loader made is alive.
  bool IsClean() const {
    return memory.empty() && streams.empty() && modules.empty() && primary == 0 && context_stack.empty();
  }
};

}  // namespace fixture
