// Gradients on an NVIDIA GPU, device time alone, each figure the best of several launches:
//
//   recurrence.grad, 4M elements of 64 steps, beside the same gradient by hand with thread-major rows of
//   pairs (pairs.cuh); the results are compared first mpm_grid_op.grad at the sizes of the push test
//
//   gradients recurrence.adcb mpm_grid_op.adcb
//
// Exit code 1 where results differ, 77 where there is no GPU; a goal that is missed is said.

#include <adrt/adrt_cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "../../samples/mpm_state.h"
#include "pairs.cuh"

namespace {

using adc::samples::StateArray;

[[noreturn]] void Die(const std::string& text) {
  std::fprintf(stderr, "gradients: %s\n", text.c_str());
  std::exit(1);
}

void Check(adrt_status status, const adrt_error& error, const char* call) {
  if (status != ADRT_OK) Die(std::string(call) + ": " + error.text);
}

void Check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) Die(std::string(call) + ": " + cudaGetErrorString(code));
}

adrt_error NewError() {
  adrt_error error = {};
  error.struct_size = sizeof error;
  return error;
}

/// Memory that lives until the program ends.
template <class T>
T* DeviceCopy(const std::vector<T>& values) {
  T* memory = nullptr;
  size_t bytes = std::max<size_t>(values.size() * sizeof(T), 16);
  Check(cudaMalloc(&memory, bytes), "cudaMalloc");
  if (!values.empty())
    Check(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyDefault), "cudaMemcpy");
  return memory;
}

/// Milliseconds of the fastest of `repeats` launches; `prepare` runs before each, untimed.
template <class Prepare, class Launch>
double BestOf(int repeats, Prepare prepare, Launch launch) {
  cudaEvent_t begin, end;
  Check(cudaEventCreate(&begin), "cudaEventCreate");
  Check(cudaEventCreate(&end), "cudaEventCreate");
  double best = std::numeric_limits<double>::infinity();
  for (int n = 0; n < repeats; ++n) {
    prepare();
    Check(cudaEventRecord(begin), "cudaEventRecord");
    launch();
    Check(cudaEventRecord(end), "cudaEventRecord");
    Check(cudaEventSynchronize(end), "a launch");
    float milliseconds = 0;
    Check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    best = std::min<double>(best, milliseconds);
  }
  return best;
}

__global__ void Wait(long long cycles) {
  for (long long begin = clock64(); clock64() - begin < cycles;) {
  }
}

/// Milliseconds that the device takes for the fastest of `repeats` launches, which wait behind a kernel until all of
/// one is queued: what the host takes to queue it is not in it, nor is what two events take by themselves.
template <class Launch>
double DeviceTime(int repeats, Launch launch) {
  constexpr long long kLongEnough = 200'000;  // clock cycles
  auto wait = [] { Wait<<<1, 1>>>(kLongEnough); };
  return BestOf(repeats, wait, launch) - BestOf(repeats, wait, [] {});
}

int Processors() {
  int count = 0;
  Check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0), "cudaDeviceGetAttribute");
  return count;
}

/// A bundle, loaded for the GPU.
class Program {
 public:
  Program(adrt_device* device, const char* path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (bytes.empty()) Die(std::string("cannot read ") + path);
    adrt_host host = {};
    host.struct_size = sizeof host;
    host.flags = ADRT_HOST_TRUST;
    adrt_error error = NewError();
    Check(adrt_bundle_open(&host, bytes.data(), bytes.size(), ADRT_BUNDLE_COPY, &bundle_, &error), error,
          path);
    Check(adrt_module_load(device, bundle_, &module_, &error), error, path);
  }

  const adrt_kernel* Kernel(const char* name) const {
    const adrt_kernel* kernel = nullptr;
    adrt_error error = NewError();
    Check(adrt_bundle_find_kernel(bundle_, name, 0, &kernel, &error), error, name);
    return kernel;
  }
  adrt_module* module() const { return module_; }

 private:
  adrt_bundle* bundle_ = nullptr;
  adrt_module* module_ = nullptr;
};

adrt_arg Buffer(const char* name, uint32_t type, void* data, std::vector<int64_t> extents, uint32_t rows = 1,
                uint32_t columns = 1) {
  adrt_arg arg = {};
  arg.struct_size = sizeof arg;
  arg.kind = ADRT_PARAM_BUFFER;
  arg.name = name;
  arg.type = type;
  arg.rows = rows;
  arg.columns = columns;
  arg.rank = static_cast<uint32_t>(extents.size());
  arg.data = data;
  std::copy(extents.begin(), extents.end(), arg.extents);
  return arg;
}

adrt_arg Number(const char* name, uint32_t type, void* value, uint32_t rows = 1, uint32_t columns = 1) {
  adrt_arg arg = {};
  arg.struct_size = sizeof arg;
  arg.kind = ADRT_PARAM_SCALAR;
  arg.name = name;
  arg.type = type;
  arg.rows = rows;
  arg.columns = columns;
  arg.data = value;
  return arg;
}

/// A planned launch with its memory.
class Launch {
 public:
  Launch(const Program& program, const char* kernel, const std::vector<adrt_arg>& args,
         uint32_t threads = 0) {
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args.data();
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.module = program.module();
    desc.workers = threads;
    adrt_error error = NewError();
    Check(adrt_plan(program.Kernel(kernel), &desc, &plan_, &error), error, kernel);
    // What sizing reads of buffers, and what is counted on the device, is brought to the host once.
    adrt_count_report counting = {};
    counting.struct_size = sizeof counting;
    Check(adrt_plan_counting(plan_, &counting, &error), error, "adrt_plan_counting");
    counts_ = DeviceCopy(std::vector<unsigned char>(counting.memory_bytes));
    counting_bytes_ = counting.counts_bytes > 0 ? counting.memory_bytes : 0;
    if (IsCounted()) Count();
    adrt_readback_report piece = {};
    piece.struct_size = sizeof piece;
    Check(adrt_plan_readback(plan_, 0, &piece, &error), error, "adrt_plan_readback");
    std::vector<unsigned char> readback(piece.total_bytes);
    for (uint32_t index = 0; index < piece.count; ++index) {
      Check(adrt_plan_readback(plan_, index, &piece, &error), error, "adrt_plan_readback");
      const void* from = piece.param == ADRT_READBACK_COUNTS ? counts_ : nullptr;
      for (const adrt_arg& arg : args) {
        if (from == nullptr && std::strcmp(arg.name, piece.name) == 0) from = arg.data;
      }
      Check(cudaMemcpy(readback.data() + piece.offset, from, piece.bytes, cudaMemcpyDefault), "cudaMemcpy");
    }
    if (!readback.empty())
      Check(adrt_plan_resolve(plan_, readback.data(), readback.size(), &error), error, "adrt_plan_resolve");
    report_.struct_size = sizeof report_;
    Check(adrt_plan_info(plan_, &report_, &error), error, "adrt_plan_info");
    heap_ = DeviceCopy(std::vector<unsigned char>(report_.heap_bytes));
    status_ = DeviceCopy(std::vector<unsigned char>(ADRT_STATUS_BYTES));
  }

  bool IsCounted() const { return counting_bytes_ > 0; }
  /// Records what counts rows and elements before the launch.
  void Count() {
    adrt_error error = NewError();
    Check(adrt_record_size_cuda(plan_, nullptr, counts_, counting_bytes_, &error), error,
          "adrt_record_size_cuda");
  }
  void Record() {
    adrt_error error = NewError();
    Check(adrt_record_cuda(plan_, nullptr, heap_, report_.heap_bytes, status_, &error), error,
          "adrt_record_cuda");
  }
  void CheckStatus() {
    unsigned char block[ADRT_STATUS_BYTES];
    Check(cudaMemcpy(block, status_, sizeof block, cudaMemcpyDefault), "cudaMemcpy");
    adrt_error error = NewError();
    Check(adrt_status_read(plan_, block, &error), error, "the launch");
  }
  const adrt_plan_report& report() const { return report_; }

 private:
  adrt_launch_plan* plan_ = nullptr;
  adrt_plan_report report_ = {};
  unsigned char* counts_ = nullptr;
  uint64_t counting_bytes_ = 0;
  void* heap_ = nullptr;
  void* status_ = nullptr;
};

void Goal(const char* what, double value, const char* unit, double goal, bool at_least) {
  bool met = at_least ? value >= goal : value <= goal;
  std::printf("  %-44s %10.3f %-3s goal: at %s %g%s\n", what, value, unit, at_least ? "least" : "most", goal,
              met ? "" : ", MISSED");
}

bool Recurrence(adrt_device* device, const char* bundle, int repeats) {
  const int64_t count = 4 << 20;
  int steps = 64;
  float c = 0.7f;
  std::vector<float> start(count), ones(count, 1.0f), zeros(count);
  for (int64_t i = 0; i < count; ++i) start[i] = 0.1f + 0.8f * static_cast<float>(i % 8191) / 8191.0f;
  float* x = DeviceCopy(start);
  float* y = DeviceCopy(zeros);
  float* x_adjoint = DeviceCopy(zeros);
  float* y_adjoint = DeviceCopy(ones);
  float* seed = DeviceCopy(ones);
  auto prepare = [&] {
    Check(cudaMemcpy(y_adjoint, seed, count * sizeof(float), cudaMemcpyDefault), "cudaMemcpy");
    Check(cudaMemset(x_adjoint, 0, count * sizeof(float)), "cudaMemset");
  };
  auto gradient = [&] {
    std::vector<float> result(count);
    Check(cudaMemcpy(result.data(), x_adjoint, count * sizeof(float), cudaMemcpyDefault), "cudaMemcpy");
    return result;
  };
  std::printf("recurrence: %lld elements, %d steps\n", static_cast<long long>(count), steps);

  Program program(device, bundle);
  Launch forward(program, "recurrence",
                 {Buffer("x", ADRT_TYPE_F32, x, {count}), Buffer("y", ADRT_TYPE_F32, y, {count}),
                  Number("c", ADRT_TYPE_F32, &c), Number("n", ADRT_TYPE_I32, &steps)});
  std::vector<adrt_arg> args = {Buffer("x", ADRT_TYPE_F32, x, {count}),
                                Buffer("y", ADRT_TYPE_F32, y, {count}),
                                Number("c", ADRT_TYPE_F32, &c),
                                Number("n", ADRT_TYPE_I32, &steps),
                                Buffer("x.adj", ADRT_TYPE_F32, x_adjoint, {count}),
                                Buffer("y.adj", ADRT_TYPE_F32, y_adjoint, {count})};
  Launch backward(program, "recurrence.grad", args);
  double primal = BestOf(repeats, [] {}, [&] { forward.Record(); });
  double ours = BestOf(repeats, prepare, [&] { backward.Record(); });
  backward.CheckStatus();
  std::vector<float> ours_result = gradient();

  for (int blocks : {2, 4, 6, 8, 12, 16, 64}) {
    auto threads = static_cast<uint32_t>(Processors() * blocks * 128);
    Launch limited(program, "recurrence.grad", args, threads);
    double time = BestOf(repeats, prepare, [&] { limited.Record(); });
    float* rows = nullptr;
    Check(cudaMalloc(&rows, threads * static_cast<size_t>(steps) * sizeof(float)), "cudaMalloc");
    double by_hand = BestOf(repeats, prepare, [&] {
      adc::bench::LanesGradient<<<threads / 128, 128>>>(x, x_adjoint, y_adjoint, rows, c, steps, count);
      Check(cudaGetLastError(), "LanesGradient");
    });
    Check(cudaFree(rows), "cudaFree");
    std::printf("    with %7u threads %34.3f ms   by hand %.3f ms   heap %.1f MB\n", threads, time, by_hand,
                1e-6 * static_cast<double>(limited.report().heap_bytes));
  }

  double best_pairs = std::numeric_limits<double>::infinity();
  bool same = true;
  std::printf("  %-44s %10.3f ms\n", "recurrence, forward", primal);
  std::printf("  %-44s %10.3f ms   heap %.1f MB\n", "recurrence.grad, rows in blocks of lanes", ours,
              1e-6 * static_cast<double>(backward.report().heap_bytes));
  for (int64_t threads : {count, int64_t{1} << 18, int64_t{1} << 16}) {
    float2* rows = nullptr;
    Check(cudaMalloc(&rows, threads * steps * sizeof(float2)), "cudaMalloc");
    double pairs = BestOf(repeats, prepare, [&] {
      adc::bench::PairsGradient<<<static_cast<unsigned>(threads / 128), 128>>>(x, x_adjoint, y_adjoint, rows,
                                                                               c, steps, count);
      Check(cudaGetLastError(), "PairsGradient");
    });
    Check(cudaFree(rows), "cudaFree");
    std::vector<float> wanted = gradient();
    for (int64_t i = 0; i < count; ++i) {
      float scale = std::max(1e-3f, std::abs(wanted[i]));
      same = same && std::abs(ours_result[i] - wanted[i]) <= 2e-4f * scale;
    }
    std::string name = "by hand, thread-major pairs, " + std::to_string(threads) + " rows";
    std::printf("  %-44s %10.3f ms   heap %.1f MB\n", name.c_str(), pairs,
                1e-6 * static_cast<double>(threads * steps * sizeof(float2)));
    best_pairs = std::min(best_pairs, pairs);
    if (threads == count) Goal("times faster than one row per element", pairs / ours, "", 20, true);
  }
  std::printf("  results %s\n", same ? "agree" : "DIFFER");
  Goal("times faster than the best of them", best_pairs / ours, "", 20, true);
  return same;
}

void Mpm(adrt_device* device, const char* bundle, int repeats) {
  std::vector<StateArray> state = adc::samples::MakeMpmState({});
  Program program(device, bundle);
  const adrt_kernel* kernel = program.Kernel("mpm_grid_op.grad");
  adrt_error error = NewError();
  adrt_kernel_report info = {};
  info.struct_size = sizeof info;
  Check(adrt_kernel_info(kernel, &info, &error), error, "adrt_kernel_info");
  std::vector<adrt_arg> args;
  std::map<std::string, std::vector<int64_t>> extents;
  std::vector<std::string> bytes(info.param_count);
  float* seed = nullptr;
  float* adjoint = nullptr;
  size_t adjoint_bytes = 0;
  for (uint32_t n = 0; n < info.param_count; ++n) {
    adrt_param_report param = {};
    param.struct_size = sizeof param;
    Check(adrt_kernel_param(kernel, n, &param, &error), error, "adrt_kernel_param");
    bool companion = param.primal != 0xFFFFFFFFu;
    const StateArray& array = state[companion ? param.primal : n];
    bytes[n] = adc::samples::ArrayBytes(array, false);
    if (array.is_number && !companion) {
      args.push_back(Number(param.name, param.type, bytes[n].data(), param.rows, param.columns));
      continue;
    }
    std::vector<int64_t> shape(array.extents.begin(), array.extents.begin() + param.rank);
    std::vector<float> values(bytes[n].size() / sizeof(float));
    if (!companion) std::memcpy(values.data(), bytes[n].data(), bytes[n].size());
    if (std::string(param.name) == "vel_out.adj") {
      values.assign(values.size(), 1.0f);
      seed = DeviceCopy(values);
      adjoint_bytes = values.size() * sizeof(float);
    }
    float* memory = DeviceCopy(values);
    if (std::string(param.name) == "vel_out.adj") adjoint = memory;
    args.push_back(Buffer(param.name, param.type, memory, shape, param.rows, param.columns));
  }
  Launch backward(program, "mpm_grid_op.grad", args);
  for (uint32_t threads : {67584u, 135168u, 150944u, 201280u, 301888u, 603720u}) {
    Launch limited(program, "mpm_grid_op.grad", args, threads);
    double time = BestOf(
        repeats, [&] { Check(cudaMemcpy(adjoint, seed, adjoint_bytes, cudaMemcpyDefault), "cudaMemcpy"); },
        [&] { limited.Record(); });
    std::printf("    with %7u threads %34.3f us\n", threads, 1e3 * time);
  }
  double ours = BestOf(
      repeats, [&] { Check(cudaMemcpy(adjoint, seed, adjoint_bytes, cudaMemcpyDefault), "cudaMemcpy"); },
      [&] { backward.Record(); });
  backward.CheckStatus();
  std::printf("mpm_grid_op.grad: %zu iterations, %llu pass the gate, heap %llu bytes\n",
              adc::samples::FindArray(state, "mass").values.size(),
              static_cast<unsigned long long>(adc::samples::CountPassing(state)),
              static_cast<unsigned long long>(backward.report().heap_bytes));
  Goal("mpm_grid_op.grad", 1e3 * ours, "us", 40, false);
  if (!backward.IsCounted()) return;
  double counting = DeviceTime(repeats, [&] { backward.Count(); });
  double gradient = DeviceTime(repeats, [&] { backward.Record(); });
  double both = DeviceTime(repeats, [&] {
    backward.Count();
    backward.Record();
  });
  std::printf("  %-44s %10.3f us of %.3f us, %.3f us together\n", "its size kernel, on the device", 1e3 * counting,
              1e3 * gradient, 1e3 * both);
  Goal("size kernel / gradient", counting / gradient, "", 0.1, false);
}

/// What the guard in front of tapes costs: the gradient of relax with it, and compiled without.
void GuardCost(adrt_device* device, const char* with_path, const char* without_path, int repeats) {
  Program with(device, with_path), without(device, without_path);
  for (int length : {1, 4, 16, 64}) {
    const int64_t count = (16 << 20) / length;
    float* x = DeviceCopy(std::vector<float>(count, 0.5f));
    float* x_adjoint = DeviceCopy(std::vector<float>(count));
    float* loss = DeviceCopy(std::vector<float>(1));
    float* loss_adjoint = DeviceCopy(std::vector<float>(1, 1.0f));
    std::vector<adrt_arg> args = {Buffer("x", ADRT_TYPE_F32, x, {count}), Buffer("loss", ADRT_TYPE_F32, loss, {}),
                                  Number("n", ADRT_TYPE_I32, &length),
                                  Buffer("x.adj", ADRT_TYPE_F32, x_adjoint, {count}),
                                  Buffer("loss.adj", ADRT_TYPE_F32, loss_adjoint, {})};
    Launch guarded(with, "relax.grad", args), bare(without, "relax.grad", args);
    double time = std::numeric_limits<double>::infinity(), base = time;
    for (int turn = 0; turn < 5; ++turn) {
      time = std::min(time, BestOf(repeats, [] {}, [&] { guarded.Record(); }));
      base = std::min(base, BestOf(repeats, [] {}, [&] { bare.Record(); }));
    }
    guarded.CheckStatus();
    std::printf("relax.grad, %lld elements, %d steps: %.3f ms, without the guard %.3f ms\n",
                static_cast<long long>(count), length, time, base);
    Goal("with the guard / without", time / base, "", 1.03, false);
    for (float* memory : {x, x_adjoint, loss, loss_adjoint}) Check(cudaFree(memory), "cudaFree");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) {
    Die("usage: gradients recurrence.adcb mpm_grid_op.adcb [relax.adcb relax.unguarded.adcb]");
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "gradients: no GPU here, SKIPPED\n");
    return 77;
  }
  Check(cudaFree(nullptr), "cudaFree");
  adrt_host host = {};
  host.struct_size = sizeof host;
  host.flags = ADRT_HOST_TRUST;
  adrt_device* device = nullptr;
  adrt_error error = NewError();
  Check(adrt_device_open_cuda(&host, nullptr, &device, &error), error, "adrt_device_open_cuda");
  const int repeats = 30;
  bool recurrence = Recurrence(device, argv[1], repeats);
  Mpm(device, argv[2], repeats);
  if (argc == 5) GuardCost(device, argv[3], argv[4], repeats);
  return recurrence ? 0 : 1;
}
