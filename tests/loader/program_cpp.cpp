// The public header from C++: an engine's view. Its own allocator, which counts; its own job function over
// std::thread; the plan's sizes asked first, the heap given by the engine; a wrong argument explained.

#include <adrt/adrt.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

namespace {

struct Engine {
  std::atomic<long> allocations{0};
  std::atomic<long> bytes{0};
};

void* Allocate(void* user, size_t size, size_t alignment) {
  Engine& engine = *static_cast<Engine*>(user);
  ++engine.allocations;
  engine.bytes += static_cast<long>(size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void Release(void* user, void* memory, size_t size, size_t) {
  static_cast<Engine*>(user)->bytes -= static_cast<long>(size);
  std::free(memory);
}

void ParallelFor(void*, uint32_t count, void (*job)(void*, uint32_t), void* context) {
  std::vector<std::thread> threads;
  for (uint32_t index = 0; index < count; ++index) threads.emplace_back(job, context, index);
  for (std::thread& thread : threads) thread.join();
}

adrt_error error = {};

void Check(adrt_status status, const char* what) {
  if (status == ADRT_OK) return;
  std::fprintf(stderr, "%s: %s: %s\n", what, adrt_status_text(status), error.text);
  std::exit(1);
}

adrt_arg BufferArg(const char* name, uint32_t type, void* data, int64_t extent) {
  adrt_arg arg = {};
  arg.struct_size = sizeof arg;
  arg.kind = ADRT_PARAM_BUFFER;
  arg.name = name;
  arg.type = type;
  arg.rank = 1;
  arg.data = data;
  arg.extents[0] = extent;
  return arg;
}

int Run(const std::vector<char>& file, Engine& engine) {
  adrt_host host = {};
  host.struct_size = sizeof host;
  host.flags = ADRT_HOST_TRUST;
  host.user = &engine;
  host.allocate = Allocate;
  host.release = Release;
  adrt_cpu_jobs jobs = {};
  jobs.struct_size = sizeof jobs;
  jobs.worker_count = 3;
  jobs.parallel_for = ParallelFor;

  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  const adrt_kernel* kernel = nullptr;
  Check(adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_BORROW, &bundle, &error), "open");
  Check(adrt_device_wrap_cpu(&host, &jobs, &device, &error), "device");
  Check(adrt_module_load(device, bundle, &module, &error), "load");
  Check(adrt_bundle_find_kernel(bundle, "rows", 0, &kernel, &error), "find");

  constexpr int kRows = 500;
  std::vector<int32_t> start(kRows + 1);
  for (int row = 0; row < kRows; ++row) start[row + 1] = start[row] + row % 7;
  std::vector<float> x(static_cast<size_t>(start[kRows]), 1.0f), y(kRows, -1.0f);
  adrt_arg args[] = {BufferArg("start", ADRT_TYPE_I32, start.data(), kRows + 1),
                     BufferArg("x", ADRT_TYPE_F32, x.data(), static_cast<int64_t>(x.size())),
                     BufferArg("y", ADRT_TYPE_F64, y.data(), kRows)};
  adrt_plan_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.args = args;
  desc.arg_count = 3;
  desc.module = module;
  adrt_launch_plan* plan = nullptr;
  if (adrt_plan(kernel, &desc, &plan, &error) != ADRT_ERROR_ARGUMENT) return 1;
  std::printf("refused as it should be: %s\n", error.text);
  args[2].type = ADRT_TYPE_F32;
  Check(adrt_plan(kernel, &desc, &plan, &error), "plan");
  Check(adrt_plan_resolve(plan, nullptr, 0, &error), "resolve");
  adrt_plan_report report = {};
  report.struct_size = sizeof report;
  Check(adrt_plan_info(plan, &report, &error), "info");

  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> heap(std::aligned_alloc(ADRT_HEAP_ALIGNMENT, report.heap_bytes));
  adrt_run_desc run = {};
  run.struct_size = sizeof run;
  run.memory = heap.get();
  run.memory_size = report.heap_bytes;
  Check(adrt_run(plan, &run, &error), "run");
  int wrong = 0;
  for (int row = 0; row < kRows; ++row) wrong += y[static_cast<size_t>(row)] != static_cast<float>(row % 7);
  std::printf("rows: %d rows, %llu heap bytes on %u workers, %d wrong\n", kRows,
              static_cast<unsigned long long>(report.heap_bytes), report.workers, wrong);
  adrt_plan_release(plan);
  adrt_module_release(module);
  adrt_device_release(device);
  adrt_bundle_release(bundle);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: program_cpp BUNDLE\n");
    return 2;
  }
  error.struct_size = sizeof error;
  std::ifstream stream(argv[1], std::ios::binary);
  std::vector<char> file{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  Engine engine;
  int result = Run(file, engine);
  std::printf("%ld allocations, %ld bytes still held\n", engine.allocations.load(), engine.bytes.load());
  return result != 0 ? result : engine.bytes.load() == 0 ? 0 : 1;
}
