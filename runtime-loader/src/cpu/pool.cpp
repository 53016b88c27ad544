#include "cpu/pool.h"

#include "core/errors.h"

namespace adrt {

bool Pool::Start(uint32_t thread_count, const artifact::Allocator* allocator, adrt_error* error) {
  threads_.Bind(allocator);
  process_ = platform::ProcessNumber();
  spins_ = thread_count < platform::ProcessorCount();
  if (!threads_.TryReserve(thread_count)) return OutOfMemory(error) == ADRT_OK;
  for (uint32_t index = 0; index < thread_count; ++index) {
    platform::Thread thread = 0;
    int32_t code = platform::StartThread(ThreadMain, this, &thread);
    if (code != 0) {
      Refuse(error, ADRT_ERROR_DRIVER, "the system refused thread ", index + 1, " of ", thread_count);
      if (error && error->struct_size >= sizeof(adrt_error)) error->native_code = code;
      return false;
    }
    (void)threads_.TryPush(thread);  // reserved above
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

// Launches often follow each other at once, and a sleeping thread is slow to wake. No longer than a wake
// takes: a thread that waits in vain gives the processor back.
void Pool::Spin(const std::atomic<uint32_t>& word, bool until_zero) const {
  constexpr uint64_t kNanoseconds = 4000;
  if (!spins_) return;
  uint64_t begin = platform::MonotonicNanoseconds();
  while ((word.load(std::memory_order_relaxed) == 0) != until_zero &&
         platform::MonotonicNanoseconds() - begin < kNanoseconds) {
  }
}

// A call takes its caller long: a woken thread helps to wake the rest.
void Pool::WakeSome() {
  for (uint32_t calls = 0; calls < 2 && called_ < wanted_ && called_ < sleeping_; ++calls) {
    ++called_;
    started_.WakeOne();
  }
}

void Pool::Serve() {
  mutex_.Lock();
  while (!stopping_) {
    if (wanted_ == 0) {
      mutex_.Unlock();
      Spin(wanted_, false);
      mutex_.Lock();
    }
    while (wanted_ == 0 && !stopping_) {
      ++sleeping_;
      started_.Wait(mutex_);
      --sleeping_;
      if (called_ > 0) --called_;
    }
    if (stopping_) break;
    --wanted_;
    WakeSome();
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
  auto most = static_cast<uint32_t>(threads_.size());
  wanted_ = busy_ = count - 1 < most ? count - 1 : most;
  called_ = 0;
  WakeSome();
  mutex_.Unlock();
  Work();
  mutex_.Lock();
  // Every job is taken: a thread that has not joined need not.
  busy_ -= wanted_;
  wanted_ = 0;
  mutex_.Unlock();
  Spin(busy_, true);
  mutex_.Lock();
  while (busy_ > 0) finished_.Wait(mutex_);
  mutex_.Unlock();
  turn_.Unlock();
}

}  // namespace adrt
