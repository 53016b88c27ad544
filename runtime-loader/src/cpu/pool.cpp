#include "cpu/pool.h"

#include <signal.h>

#include "core/errors.h"

namespace adrt {

constexpr size_t kAlternateStack = size_t{32} << 10;

bool Pool::Start(uint32_t thread_count, const artifact::Allocator* allocator, adrt_error* error) {
  threads_.Bind(allocator);
  process_ = getpid();
  if (!threads_.TryReserve(thread_count)) return OutOfMemory(error) == ADRT_OK;
  for (uint32_t index = 0; index < thread_count; ++index) {
    pthread_t thread;
    int code = pthread_create(&thread, nullptr, ThreadMain, this);
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
  pthread_mutex_lock(&mutex_);
  stopping_ = true;
  pthread_cond_broadcast(&started_);
  pthread_mutex_unlock(&mutex_);
  for (pthread_t thread : threads_) pthread_join(thread, nullptr);
  pthread_cond_destroy(&started_);
  pthread_cond_destroy(&finished_);
  pthread_mutex_destroy(&mutex_);
  pthread_mutex_destroy(&turn_);
}

namespace {

/// Whether the process handles invalid accesses on alternate stacks, which each thread has to give for
/// itself.
bool HandlesFaultsElsewhere() {
  struct sigaction action = {};
  return sigaction(SIGSEGV, nullptr, &action) == 0 && (action.sa_flags & SA_ONSTACK) != 0;
}

}  // namespace

void* Pool::ThreadMain(void* pool) {
  // No handler is installed here. But one that the process has, to say which crash it was, could not run on a
  // stack that is used up: the process would end without a word. Overflow happens at the other end of the
  // stack that these bytes lie on.
  alignas(16) char memory[kAlternateStack];
  stack_t given = {}, none = {};
  none.ss_flags = SS_DISABLE;
  bool gives =
      HandlesFaultsElsewhere() && sigaltstack(nullptr, &given) == 0 && (given.ss_flags & SS_DISABLE) != 0;
  given = {};
  given.ss_sp = memory;
  given.ss_size = sizeof memory;
  gives = gives && sigaltstack(&given, nullptr) == 0;
  static_cast<Pool*>(pool)->Serve();
  if (gives) sigaltstack(&none, nullptr);
  return nullptr;
}

void Pool::Serve() {
  uint64_t seen = 0;
  pthread_mutex_lock(&mutex_);
  while (true) {
    while (round_ == seen && !stopping_) pthread_cond_wait(&started_, &mutex_);
    if (stopping_) break;
    seen = round_;
    pthread_mutex_unlock(&mutex_);
    Work();
    pthread_mutex_lock(&mutex_);
    if (--busy_ == 0) pthread_cond_signal(&finished_);
  }
  pthread_mutex_unlock(&mutex_);
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
  pthread_mutex_lock(&turn_);
  pthread_mutex_lock(&mutex_);
  job_ = job;
  context_ = context;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  busy_ = static_cast<uint32_t>(threads_.size());
  ++round_;
  pthread_cond_broadcast(&started_);
  pthread_mutex_unlock(&mutex_);
  Work();
  pthread_mutex_lock(&mutex_);
  while (busy_ > 0) pthread_cond_wait(&finished_, &mutex_);
  pthread_mutex_unlock(&mutex_);
  pthread_mutex_unlock(&turn_);
}

}  // namespace adrt
