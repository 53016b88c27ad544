#pragma once
// The job server of make: how many things may run at once in a build, told by tokens that all its processes
// share.

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

namespace adc {

/// Tokens of the make that runs this process. A process has one job of its own; each further one needs a
/// token, which it gives back. All of them go back when the object ends. Any thread.
class JobServer {
 public:
  /// From the value of MAKEFLAGS: the last `--jobserver-auth=` in it, a pipe's two files or `fifo:PATH`, or
  /// on Windows the name of a semaphore. Where there is none, or make has not passed its pipe on, there are
  /// no tokens: one job.
  explicit JobServer(std::string_view make_flags);
  ~JobServer();
  JobServer(const JobServer&) = delete;
  JobServer& operator=(const JobServer&) = delete;
  /// Takes a token, without waiting for one. False where there is none.
  bool Take();
  void Give();

 private:
  std::mutex mutex_;
  int read_ = -1, write_ = -1;
  void* semaphore_ = nullptr;  ///< on Windows, in place of both
  std::vector<char> taken_;    ///< tokens are bytes, and go back as they came
};

}  // namespace adc
