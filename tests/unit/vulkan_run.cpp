#include <cmath>

#include "vulkan_session.h"

// Kernels on a device of the loader's own, with the validation layer on: what comes out is right, and the
// layer has nothing to say.

using namespace fixture;

namespace {

/// The buffer from element `skip` on: at an offset that no descriptor can have, hence reached through its
/// address.
adrt_vk_buffer Shifted(const adrt_memory* memory, uint64_t bytes) {
  adrt_vk_buffer buffer = *static_cast<const adrt_vk_buffer*>(adrt_memory_data(memory));
  buffer.offset += bytes;
  buffer.address += bytes;
  buffer.size -= bytes;
  return buffer;
}

}  // namespace

TEST_CASE("near and far entries compute the same", "[vulkan]") {
  VulkanSession session;
  for (int64_t n : {1, 63, 64, 1000, 100000}) {
    std::vector<float> x(static_cast<size_t>(n) + 1), y(static_cast<size_t>(n) + 1);
    for (size_t index = 0; index < x.size(); ++index) {
      x[index] = static_cast<float>(index % 97);
      y[index] = static_cast<float>(index % 13);
    }
    float a = 0.5f;
    for (bool far : {false, true}) {
      adrt_memory *x_memory = session.Upload(x), *y_memory = session.Upload(y);
      adrt_vk_buffer x_part = Shifted(x_memory, far ? 4 : 0), y_part = Shifted(y_memory, far ? 4 : 0);
      session.Must(session.Run(
          "saxpy", {BufferArg("x", ADRT_TYPE_F32, &x_part, {n}), BufferArg("y", ADRT_TYPE_F32, &y_part, {n}),
                    ScalarArg("a", ADRT_TYPE_F32, &a)}));
      std::vector<float> got = session.Download<float>(y_memory);
      size_t first = far ? 1 : 0, last = first + static_cast<size_t>(n);
      for (size_t index = 0; index < got.size(); ++index) {
        bool inside = index >= first && index < last;
        REQUIRE(got[index] == y[index] + (inside ? a * x[index] : 0));
      }
    }
  }
}

TEST_CASE("rows of a heap, as many as there are threads or as the budget allows", "[vulkan]") {
  VulkanSession session;
  constexpr int64_t kCount = 3000;
  std::vector<double> x(kCount), y(kCount, -1);
  for (size_t index = 0; index < x.size(); ++index) x[index] = 0.0003 * static_cast<double>(index);
  int32_t n = 20;
  for (uint64_t budget : {uint64_t{0}, uint64_t{64} << 10, uint64_t{16} << 10}) {
    adrt_memory *x_memory = session.Upload(x), *y_memory = session.Upload(y);
    adrt_launch_plan* plan =
        session.Plan("tape",
                     {BufferArg("x", ADRT_TYPE_F64, adrt_memory_data(x_memory), {kCount}),
                      BufferArg("y", ADRT_TYPE_F64, adrt_memory_data(y_memory), {kCount}),
                      ScalarArg("n", ADRT_TYPE_I32, &n)},
                     budget);
    adrt_task_report task = {};
    task.struct_size = sizeof task;
    session.Must(adrt_plan_task(plan, 0, &task, &session.error));
    adrt_plan_report info = {};
    info.struct_size = sizeof info;
    session.Must(adrt_plan_info(plan, &info, &session.error));
    CHECK(task.rows % 32 == 0);
    CHECK(task.row_bytes == 240);
    CHECK((budget == 0 ? task.rows >= kCount : info.heap_bytes <= budget));
    for (int round = 0; round < 3; ++round) session.Must(adrt_run(plan, nullptr, &session.error));
    adrt_plan_release(plan);
    std::vector<double> got = session.Download<double>(y_memory);
    for (size_t index = 0; index < x.size(); ++index) {
      double expected = 0;
      for (int32_t t = 0; t < n; ++t) expected += t * std::pow(x[index], t);
      REQUIRE(got[index] == Approx(expected).epsilon(1e-12));
    }
  }
}

TEST_CASE("rows behind a gate are claimed by the threads that pass it", "[vulkan]") {
  VulkanSession session;
  constexpr int64_t kCount = 10000;
  std::vector<float> x(kCount), y(kCount, -1);
  for (size_t index = 0; index < x.size(); ++index) x[index] = index % 7 == 0 ? 1.0f : -2.0f;
  int32_t n = 10;
  for (uint64_t budget : {uint64_t{0}, uint64_t{32} << 10}) {
    adrt_memory *x_memory = session.Upload(x), *y_memory = session.Upload(y);
    session.Must(session.Run("pick",
                             {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(x_memory), {kCount}),
                              BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(y_memory), {kCount}),
                              ScalarArg("n", ADRT_TYPE_I32, &n)},
                             budget));
    std::vector<float> got = session.Download<float>(y_memory);
    for (size_t index = 0; index < x.size(); ++index) REQUIRE(got[index] == (x[index] > 0 ? 46.0f : -2.0f));
  }
}

TEST_CASE("tasks of a launch see each other's memory, and scratch begins as zeros", "[vulkan]") {
  VulkanSession session;
  std::vector<float> x(1000), y(5000);
  for (size_t index = 0; index < x.size(); ++index) x[index] = static_cast<float>(index);
  adrt_memory *x_memory = session.Upload(x), *y_memory = session.Upload(y);
  adrt_launch_plan* plan =
      session.Plan("mean", {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(x_memory), {1000}),
                            BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(y_memory), {5000})});
  for (int round = 0; round < 5; ++round) {
    session.Must(adrt_run(plan, nullptr, &session.error));
    std::vector<float> got = session.Download<float>(y_memory);
    for (float value : got) REQUIRE(value == 499.5f);
  }
  adrt_plan_release(plan);
}

TEST_CASE("what a kernel reports comes back with its place", "[vulkan]") {
  VulkanSession session;
  std::vector<float> x(5000, 1.0f);
  adrt_memory* memory = session.Upload(x);
  std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(memory), {5000})};
  session.Must(session.Run("stop", args));
  float negative = -1;
  session.Must(adrt_memory_write(memory, 4321 * sizeof(float), &negative, sizeof negative, &session.error));
  CHECK(session.Run("stop", args) == ADRT_ERROR_ASSERTION);
  CHECK(session.error.Says("iteration 4321"));
  CHECK(session.error.Says("x is not negative"));
}

TEST_CASE("the validation layer is there and is heard", "[vulkan]") {
  VulkanSession session;
  session.expects_validation = true;
  adrt_memory *x_memory = session.Upload(std::vector<float>(1)),
              *y_memory = session.Upload(std::vector<float>(1));
  // 65 elements are promised and 64 are there; only the first is read.
  adrt_vk_buffer x = Shifted(x_memory, 0);
  x.size = 65 * sizeof(float);
  float a = 1;
  session.Must(session.Run("saxpy", {BufferArg("x", ADRT_TYPE_F32, &x, {65}),
                                     BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(y_memory), {1}),
                                     ScalarArg("a", ADRT_TYPE_F32, &a)}));
}
