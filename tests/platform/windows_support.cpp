// What lib/support does on Windows for the compiler: one check by name, run by run_windows.
//   windows_support CHECK FILE

#define WIN32_LEAN_AND_MEAN
#include <io.h>
#include <windows.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "host/bounded_run.h"
#include "host/crash.h"
#include "host/files.h"
#include "host/job_server.h"
#include "host/machine.h"

namespace {

/// As deep as no stack is.
int Deep(volatile char* above, int left) {
  volatile char frame[4096];
  frame[0] = above[0];
  return left == 0 ? frame[0] : Deep(frame, left - 1) + frame[0];
}

int DeepBy(int frames) {
  volatile char first = 0;
  return Deep(&first, frames);
}

adc::RunBounds Bounds() {
  return {.seconds = 1,
          .mebibytes = 512,
          .too_long = "too long\n",
          .too_large = "too large\n",
          .too_deep = "too deep\n"};
}

void RunsToItsEnd() {
  bool ran = false;
  // 400 MB, of a stack of a gibibyte.
  adc::RunBounded(Bounds(), [&] { ran = DeepBy(100'000) == 0; });
  std::printf("ran: %d\n", ran);
}

void TakesTime() {
  adc::RunBounded(Bounds(), [] {
    volatile bool over = false;
    while (!over) {
    }
  });
}

void TakesMemory() {
  adc::RunBounded(Bounds(), [] {
    for (std::vector<std::vector<char>> all;;) all.emplace_back(size_t{16} << 20, 'x');
  });
}

/// Of two tokens of make's semaphore two are taken, and come back.
void TakesTokens() {
  HANDLE semaphore = CreateSemaphoreA(nullptr, 2, 2, "adc_test_tokens");
  {
    adc::JobServer server(" -j3 --jobserver-auth=adc_test_tokens -- A=1");
    bool first = server.Take(), second = server.Take(), third = server.Take();
    std::printf("taken: %d %d %d\n", first, second, third);
    server.Give();
    std::printf("again: %d\n", server.Take());
  }
  LONG there = 0;
  ReleaseSemaphore(semaphore, 0, &there);
  int back = 0;
  while (WaitForSingleObject(semaphore, 0) == WAIT_OBJECT_0) ++back;
  adc::JobServer none("--jobserver-auth=adc_test_no_tokens");
  std::printf("back: %d, of another name: %d\n", back, none.Take());
}

void Fails(const char* file) {
  adc::InstallCrashHandler();
  const std::string text = "the input\n";
  auto write = [](int open, const void* context) {
    const auto& what = *static_cast<const std::string*>(context);
    return adc::WriteToReproduction(open, what.data(), what.size());
  };
  adc::ReproductionScope scope(file, "the head\n", write, &text);
  *reinterpret_cast<volatile int*>(uintptr_t{16}) = 1;
}

void SaysWhatIsThere() {
  int ends[2];
  if (_pipe(ends, 256, 0) != 0) return;
  bool before = adc::IsReadable(ends[0]);
  _write(ends[1], "x", 1);
  bool after = adc::IsReadable(ends[0]);
  char byte;
  _read(ends[0], &byte, 1);
  _close(ends[1]);
  std::printf("readable: %d %d, at the end: %d\n", before, after, adc::IsReadable(ends[0]));
}

void GrowsItsPeak() {
  uint64_t before = adc::PeakBytes();
  std::vector<char> much(size_t{64} << 20, 'x');
  std::printf("peak grows: %d\n", much[1] == 'x' && before != 0 && adc::PeakBytes() > before + (48u << 20));
}

}  // namespace

int main(int count, char** words) {
  std::string check = count > 1 ? words[1] : "";
  if (check == "ends") RunsToItsEnd();
  if (check == "time") TakesTime();
  if (check == "memory") TakesMemory();
  if (check == "deep") {
    adc::InstallCrashHandler();
    adc::RunBounds bounds = Bounds();
    bounds.seconds = 60;
    bounds.mebibytes = 8192;
    adc::RunBounded(bounds, [] { DeepBy(1'000'000); });
  }
  if (check == "tokens") TakesTokens();
  if (check == "fails" && count > 2) Fails(words[2]);
  if (check == "pipe") SaysWhatIsThere();
  if (check == "peak") GrowsItsPeak();
  return 0;
}
