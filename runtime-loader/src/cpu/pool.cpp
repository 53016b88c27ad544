#include "cpu/pool.h"

#include "core/errors.h"

namespace adrt {

bool Pool::Start(uint32_t thread_count, const artifact::Allocator* allocator, adrt_error* error) {
  threads_.Bind(allocator);
  process_ = platform::ProcessNumber();
  if (!threads_.TryReserve(thread_count)) return OutOfMemory(error) == ADRT_OK;
  for (uint32_t index = 0; index < thread_count; ++index) {
    platform::Thread thread = 0;
    int32_t code = platform::StartThread(ThreadMain, this, &thread);
    if (code != 0) {
      Refuse(error, ADRT_ERROR_DRIVER, "the system refused thread ", index + 1, " of ", thread_count);
      if (error && error->struct_size >= sizeof(adrt_error)) error->native_code = code;
      return false;
    }
    if (!threads_.TryPush(thread))
      return OutOfMemory(error) == ADRT_OK;  // reserved above, so it does not happen
  }
  return true;
}

Pool::~Pool() {
  // In a forked child the threads are not there to be joined, and the lock may be one of theirs.
  if (!threads_.empty() && !IsHere()) return;
  mutex_.Lock();
  stopping_ = true;
  started_.WakeAll();
  mutex_.Unlock();
  for (platform::Thread thread : threads_) platform::JoinThread(thread);
  started_.Destroy();
  finished_.Destroy();
  mutex_.Destroy();
  turn_.Destroy();
}

platform::ThreadResult Pool::ThreadMain(void* pool) {
  platform::FaultStack stack;
  static_cast<Pool*>(pool)->Serve();
  return {};
}

void Pool::Serve() {
  uint64_t seen = 0;
  mutex_.Lock();
  while (true) {
    while (round_ == seen && !stopping_) started_.Wait(mutex_);
    if (stopping_) break;
    seen = round_;
    mutex_.Unlock();
    Work();
    mutex_.Lock();
    if (--busy_ == 0) finished_.WakeOne();
  }
  mutex_.Unlock();
}

void Pool::Work() {
  for (uint32_t index = next_.fetch_add(1, std::memory_order_relaxed); index < count_;
       index = next_.fetch_add(1, std::memory_order_relaxed)) {
    job_(context_, index);
  }
}

void Pool::Run(uint32_t count, void (*job)(void* context, uint32_t index), void* context) {
  if (count <= 1 || threads_.empty()) {
    for (uint32_t index = 0; index < count; ++index) job(context, index);
    return;
  }
  turn_.Lock();
  mutex_.Lock();
  job_ = job;
  context_ = context;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  busy_ = static_cast<uint32_t>(threads_.size());
  ++round_;
  started_.WakeAll();
  mutex_.Unlock();
  Work();
  mutex_.Lock();
  while (busy_ > 0) finished_.Wait(mutex_);
  mutex_.Unlock();
  turn_.Unlock();
}

}  // namespace adrt
