#include "host/job_server.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>

namespace adc {

namespace {

/// A file of our own for the pipe that is open as `number`: not to wait for tokens is a property of the file,
/// and make's has to stay as it is.
int OpenAgain(std::string_view number, int way) {
  int file = -1;
  auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), file);
  struct stat facts = {};
  if (failure != std::errc() || end != number.data() + number.size() || file < 0 ||
      fstat(file, &facts) != 0 || !S_ISFIFO(facts.st_mode))
    return -1;
  return open(("/proc/self/fd/" + std::to_string(file)).c_str(), way | O_NONBLOCK | O_CLOEXEC);
}

}  // namespace

JobServer::JobServer(std::string_view make_flags) {
  constexpr std::string_view kOption = "--jobserver-auth=", kFifo = "fifo:";
  size_t at = make_flags.rfind(kOption);
  if (at == std::string_view::npos) return;
  std::string_view value = make_flags.substr(at + kOption.size());
  value = value.substr(0, value.find(' '));
  if (value.starts_with(kFifo)) {
    std::string path(value.substr(kFifo.size()));
    read_ = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    write_ = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  } else if (size_t comma = value.find(','); comma != std::string_view::npos) {
    read_ = OpenAgain(value.substr(0, comma), O_RDONLY);
    write_ = OpenAgain(value.substr(comma + 1), O_WRONLY);
  }
}

JobServer::~JobServer() {
  while (!taken_.empty()) Give();
  if (read_ >= 0) close(read_);
  if (write_ >= 0) close(write_);
}

bool JobServer::Take() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (read_ < 0 || write_ < 0) return false;
  char token = 0;
  ssize_t got = 0;
  do {
    got = read(read_, &token, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) return false;
  taken_.push_back(token);
  return true;
}

void JobServer::Give() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (taken_.empty()) return;
  char token = taken_.back();
  taken_.pop_back();
  while (write(write_, &token, 1) < 0 && errno == EINTR) {
  }
}

}  // namespace adc
