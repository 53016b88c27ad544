// The host's metal_stdlib and the runner: what kernels are run behind must itself mean what Metal says.

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "msl_host/runner.h"

namespace {

using namespace adc::msl_host;

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

std::unique_ptr<Library> Compile(const std::string& body) {
  std::string error;
  auto library = Library::Compile(kHead + body, error);
  INFO(error);
  REQUIRE(library);
  return library;
}

std::string ErrorOf(const std::string& body) {
  std::string error;
  CHECK(!Library::Compile(kHead + body, error));
  return error;
}

uint32_t Bits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

}  // namespace

TEST_CASE("the host's functions of integers mean what Metal's do") {
  auto library = Compile(R"(
kernel void run(device long* y [[buffer(0)]])
{
    y[0] = long(clz(1u)); y[1] = long(clz(0u)); y[2] = long(clz(1ul)); y[3] = long(ctz(0u));
    y[4] = long(popcount(0xF0F0u)); y[5] = long(popcount(uchar(255)));
    y[6] = long(min(-3, 2)); y[7] = long(max(3u, 0xFFFFFFFFu)); y[8] = long(clamp(7, 1, 5));
    y[9] = long(abs(-2147483647 - 1)); y[10] = long(mulhi(0xFFFFFFFFu, 0xFFFFFFFFu));
    y[11] = mulhi(-1l, 5l); y[12] = long(as_type<uint>(1.0)); y[13] = long(uchar(300)); y[14] = long(char(200));
    y[15] = long(ulong(uint(-1))); y[16] = long(select(1, 2, true)); y[17] = long(half(1.5) * half(2.0));
    y[18] = long(sizeof(0.1)); y[19] = long(extract_bits(0xABCDu, 4u, 8u)); y[20] = long(extract_bits(int(0xF0), 4u, 4u));
})");
  long y[21] = {};
  void* buffers[kBuffers] = {y};
  REQUIRE(library->Find("run")(buffers, 1, 1) == 0);
  const long want[] = {31, 32,         63, 32,  8,          8, -3, 0xFFFFFFFF, 5,    2147483648, 0xFFFFFFFE,
                       -1, 0x3F800000, 44, -56, 0xFFFFFFFF, 2, 3,  4,          0xBC, -1};
  for (int n = 0; n < 21; ++n) {
    INFO(n);
    CHECK(y[n] == want[n]);
  }
}

TEST_CASE("the host's functions of floats mean what Metal's do") {
  auto library = Compile(R"(
kernel void run(device float* y [[buffer(0)]], const device float* x [[buffer(1)]])
{
    float nan = x[0], h = x[1];
    y[0] = precise::min(nan, 1.0); y[1] = precise::max(1.0, nan); y[2] = fast::min(1.0, 2.0);
    y[3] = rint(h); y[4] = rint(h + 1.0); y[5] = trunc(-h); y[6] = floor(-h);
    y[7] = isnan(nan) ? 1.0 : 0.0; y[8] = isunordered(nan, 1.0) ? 1.0 : 0.0; y[9] = sign(-h);
    y[10] = fma(h, h, -h); y[11] = precise::sqrt(h + 1.75); y[12] = rsqrt(0.25); y[13] = pow(2.0, h + 1.5);
    uint two = as_type<uint>(half2(float2(h, 3.0))); y[18] = float2(as_type<half2>(two)).y;
    y[14] = ldexp(h, 3); y[15] = copysign(h, -1.0); y[16] = float(half(h) + half(1.0)); y[17] = 0.1 * 3.0;
})");
  float x[] = {std::numeric_limits<float>::quiet_NaN(), 0.5f}, y[19] = {};
  void* buffers[kBuffers] = {y, x};
  REQUIRE(library->Find("run")(buffers, 1, 1) == 0);
  // Literals without a suffix are 32-bit floats: 0.1 * 3.0 rounds as such.
  const float want[] = {1,      1,    1, 0, 2, -0.0f, -1,   1,           1, -1,
                        -0.25f, 1.5f, 2, 4, 4, -0.5f, 1.5f, 0.1f * 3.0f, 3};
  for (int n = 0; n < 19; ++n) {
    INFO(n);
    CHECK(Bits(y[n]) == Bits(want[n]));
  }
}

TEST_CASE("atomics of the host compare, exchange and give the old value") {
  auto library = Compile(R"(
struct Ints { int at[1]; };
kernel void run(device uint* __restrict y [[buffer(0)]], device Ints& __restrict ints [[buffer(1)]])
{
    device int* z = ints.at;
    device atomic_uint* a = (device atomic_uint*)&y[0];
    y[1] = atomic_fetch_add_explicit(a, 5u, memory_order_relaxed);
    y[2] = atomic_fetch_max_explicit(a, 100u, memory_order_relaxed);
    uint expected = 7u;
    y[3] = atomic_compare_exchange_weak_explicit(a, &expected, 1u, memory_order_relaxed, memory_order_relaxed);
    y[4] = expected;
    do expected = 100u;
    while (!atomic_compare_exchange_weak_explicit(a, &expected, 1u, memory_order_relaxed, memory_order_relaxed) && expected == 100u);
    y[5] = atomic_exchange_explicit(a, 9u, memory_order_relaxed);
    z[1] = atomic_fetch_min_explicit((device atomic_int*)&z[0], -4, memory_order_relaxed);
    z[2] = atomic_load_explicit((device atomic_int*)&z[0], memory_order_relaxed);
})");
  uint32_t y[6] = {10};
  int32_t z[3] = {3};
  void* buffers[kBuffers] = {y, z};
  REQUIRE(library->Find("run")(buffers, 1, 1) == 0);
  const uint32_t want[] = {9, 10, 15, 0, 100, 1};
  for (int n = 0; n < 6; ++n) CHECK(y[n] == want[n]);
  CHECK(z[1] == 3);
  CHECK(z[2] == -4);
}

TEST_CASE("threads get their indices, and a missing buffer is told") {
  auto library = Compile(R"(
kernel void run(device uint4* y [[buffer(2)]], uint3 grid [[thread_position_in_grid]], uint block [[threadgroup_position_in_grid]], uint lane [[thread_index_in_threadgroup]], uint3 size [[threads_per_threadgroup]])
{
    y[grid.x] = uint4{grid.x + grid.y, block, lane, size.x * size.y};
})");
  std::vector<uint32_t> y(6 * 4);
  void* buffers[kBuffers] = {};
  CHECK(library->Find("run")(buffers, 2, 3) == 3);
  buffers[2] = y.data();
  REQUIRE(library->Find("run")(buffers, 2, 3) == 0);
  for (uint32_t thread = 0; thread < 6; ++thread) {
    CHECK(y[thread * 4] == thread);
    CHECK(y[thread * 4 + 1] == thread / 3);
    CHECK(y[thread * 4 + 2] == thread % 3);
    CHECK(y[thread * 4 + 3] == 3);
  }
  CHECK(library->Find("walk") == nullptr);
}

TEST_CASE("what the host cannot run as Metal would does not compile") {
  struct Row {
    const char* text;
    const char* says;
  };
  const Row rows[] = {
      {"kernel void run(device double* y [[buffer(0)]])\n{\n    y[0] = 1.0;\n}\n", "metal_has_no_double"},
      {"kernel void run(device float* y [[buffer(0)]])\n{\n    "
       "threadgroup_barrier(mem_flags::mem_device);\n}\n",
       "threadgroup_barrier"},
      {"kernel void run(device ulong* y [[buffer(0)]])\n{\n    atomic_ulong* a = (atomic_ulong*)y;\n}\n",
       "atomic_ulong"},
      {"kernel void run(texture2d<float> t [[texture(0)]])\n{\n}\n", "'texture2d<float> t [[texture(0)]]'"},
      {"kernel void run(device float* y)\n{\n}\n", "parameter 'device float* y' is not understood"},
  };
  for (const Row& row : rows) {
    std::string error = ErrorOf(row.text);
    INFO(error);
    CHECK(error.find(row.says) != std::string::npos);
  }
}
