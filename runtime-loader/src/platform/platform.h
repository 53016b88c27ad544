#pragma once
// The operating system, as far as the loader asks anything of it. The other folders include no header of a
// system: the functions that they need stand here, and are written once for POSIX systems (posix/) and once
// for Windows (windows/).
//
// native.h of each has the types that hold something of the system, with the same members:
//   Mutex       Lock, Unlock, Destroy; also before main
//   Condition   Wait(mutex), WakeOne, WakeAll, Destroy
//   Thread      with StartThread(main, argument, &thread) and JoinThread
//   FaultStack  while it lives, a handler of faults that the process has can run on this thread although its
//               stack is used up
//   WritesCode  while it lives, this thread may write to pages that are to hold code
// No destructor calls Destroy: a forked child destroys nothing that a thread of its parent may hold.

#include <cstddef>
#include <cstdint>

#if defined(_WIN32)
#include "platform/windows/native.h"
#else
#include "platform/posix/native.h"
#endif

namespace adrt::platform {

/// Holds a mutex as long as it lives.
class Lock {
 public:
  explicit Lock(Mutex& mutex) : mutex_(mutex) { mutex_.Lock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { mutex_.Unlock(); }

 private:
  Mutex& mutex_;
};

/// Nanoseconds of a clock that never goes back.
uint64_t MonotonicNanoseconds();
/// Processors that threads of this process may run on; at least 1.
uint32_t ProcessorCount();
/// Another number in a forked child.
uint32_t ProcessNumber();

// Pages of memory. Functions that the system may refuse say whether it did; LastError then has its code.
/// errno, or GetLastError: kErrorName says which.
int32_t LastError();
uint64_t PageBytes();
enum class PageUse : uint8_t { Read, ReadWrite, ReadExecute };
/// Addresses without memory; null where they are refused.
unsigned char* ReservePages(uint64_t bytes);
/// Zeros, to be written.
bool CommitPages(unsigned char* begin, uint64_t bytes);
/// After Allow with ReadExecute the code in these pages may be run, on every thread.
bool Allow(unsigned char* begin, uint64_t bytes, PageUse use);
/// All that one ReservePages gave.
void ReleasePages(unsigned char* begin, uint64_t bytes);

/// Opens a library of a driver; null where it does not open. LibraryReason then says why.
void* OpenLibrary(const char* name);
const char* LibraryReason();
void* FindInLibrary(void* library, const char* name);

}  // namespace adrt::platform
