// Make's job server on Windows is a semaphore with a name.

#include "host/job_server.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <string>

namespace adc {

JobServer::JobServer(std::string_view make_flags) {
  constexpr std::string_view kOption = "--jobserver-auth=";
  size_t at = make_flags.rfind(kOption);
  if (at == std::string_view::npos) return;
  std::string_view value = make_flags.substr(at + kOption.size());
  std::string name(value.substr(0, value.find(' ')));
  semaphore_ = OpenSemaphoreA(SEMAPHORE_MODIFY_STATE | SYNCHRONIZE, FALSE, name.c_str());
}

JobServer::~JobServer() {
  while (!taken_.empty()) Give();
  if (semaphore_ != nullptr) CloseHandle(semaphore_);
}

bool JobServer::Take() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (semaphore_ == nullptr || WaitForSingleObject(semaphore_, 0) != WAIT_OBJECT_0) return false;
  taken_.push_back(0);
  return true;
}

void JobServer::Give() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (taken_.empty()) return;
  taken_.pop_back();
  ReleaseSemaphore(semaphore_, 1, nullptr);
}

}  // namespace adc
