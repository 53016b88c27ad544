#include "platform/platform.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

namespace adrt::platform {
namespace {

// A pointer is an SRWLOCK, and a CONDITION_VARIABLE, of native.h.
static_assert(sizeof(SRWLOCK) == sizeof(void*) && sizeof(CONDITION_VARIABLE) == sizeof(void*));

SRWLOCK* LockIn(void*& native) {
  return reinterpret_cast<SRWLOCK*>(&native);
}
CONDITION_VARIABLE* VariableIn(void*& native) {
  return reinterpret_cast<CONDITION_VARIABLE*>(&native);
}

SYSTEM_INFO SystemInfo() {
  SYSTEM_INFO info = {};
  GetSystemInfo(&info);
  return info;
}

}  // namespace

void Mutex::Lock() {
  AcquireSRWLockExclusive(LockIn(native_));
}
void Mutex::Unlock() {
  ReleaseSRWLockExclusive(LockIn(native_));
}

void Condition::Wait(Mutex& mutex) {
  SleepConditionVariableSRW(VariableIn(native_), LockIn(mutex.native_), INFINITE, 0);
}
void Condition::WakeOne() {
  WakeConditionVariable(VariableIn(native_));
}
void Condition::WakeAll() {
  WakeAllConditionVariable(VariableIn(native_));
}

int32_t StartThread(ThreadResult (*main)(void*), void* argument, Thread* thread) {
  HANDLE handle = CreateThread(nullptr, 0, main, argument, 0, nullptr);
  *thread = reinterpret_cast<uintptr_t>(handle);
  return handle ? 0 : LastError();
}
void JoinThread(Thread thread) {
  HANDLE handle = reinterpret_cast<HANDLE>(static_cast<uintptr_t>(thread));
  WaitForSingleObject(handle, INFINITE);
  CloseHandle(handle);
}

// Windows runs handlers on the stack of the thread that failed: this much of it is set aside.
FaultStack::FaultStack() {
  ULONG bytes = ULONG{32} << 10;
  SetThreadStackGuarantee(&bytes);
}

uint64_t MonotonicNanoseconds() {
  constexpr uint64_t kSecond = 1000000000;
  LARGE_INTEGER ticks, rate;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&rate);
  auto count = static_cast<uint64_t>(ticks.QuadPart), per_second = static_cast<uint64_t>(rate.QuadPart);
  return count / per_second * kSecond + count % per_second * kSecond / per_second;
}

uint32_t ProcessorCount() {
  return SystemInfo().dwNumberOfProcessors;
}

uint32_t ProcessNumber() {
  return GetCurrentProcessId();
}

int32_t LastError() {
  return static_cast<int32_t>(GetLastError());
}

uint64_t PageBytes() {
  return SystemInfo().dwPageSize;
}

unsigned char* ReservePages(uint64_t bytes) {
  return static_cast<unsigned char*>(VirtualAlloc(nullptr, bytes, MEM_RESERVE, PAGE_NOACCESS));
}

bool CommitPages(unsigned char* begin, uint64_t bytes) {
  return VirtualAlloc(begin, bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr;
}

bool Allow(unsigned char* begin, uint64_t bytes, PageUse use) {
  DWORD before = 0;
  DWORD wanted = use == PageUse::ReadExecute ? PAGE_EXECUTE_READ
                 : use == PageUse::ReadWrite ? PAGE_READWRITE
                                             : PAGE_READONLY;
  if (!VirtualProtect(begin, bytes, wanted, &before)) return false;
  return use != PageUse::ReadExecute || FlushInstructionCache(GetCurrentProcess(), begin, bytes);
}

void ReleasePages(unsigned char* begin, uint64_t) {
  VirtualFree(begin, 0, MEM_RELEASE);
}

// Drivers put their libraries into the system's folder. No other place is looked at: a library of that name
// beside the program, or in the folder that it runs in, may come from any source.
void* OpenLibrary(const char* name) {
  return LoadLibraryExA(name, nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
}

const char* LibraryReason() {
  return "it is not in the system's folder, or one that it depends on is not";
}

void* FindInLibrary(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

}  // namespace adrt::platform
