// Size kernels that run several iterations at once count what they count one after the other, to the trip,
// and their gradients find the memory that they need. Most loops are chaotic, so that no step may differ in a
// bit.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "../support/folders.h"
#include "../support/native.h"
#include "target/target.h"

using namespace adc;
using namespace adc::test;

namespace {

using Random = std::mt19937;

const std::string kPath = adc::test::TestsFolder() + "/lanes/lanes.ir";

interp::Argument Numbers(ir::Scalar scalar, std::vector<int64_t> extents,
                         const std::vector<double>& numbers) {
  interp::Argument argument;
  argument.tensor = interp::Tensor::Filled(scalar, std::move(extents), numbers);
  return argument;
}

/// Starts of loops: `lively` of a hundred run some time, some of those that do not are no numbers.
std::vector<double> Starts(Random& random, int64_t count, double idle, uint32_t lively) {
  constexpr double kOdd[] = {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(), -0.0, 1e-42, -3.0};
  std::vector<double> starts;
  for (int64_t k = 0; k < count; ++k) {
    if (random() % 100 < lively) {
      starts.push_back(std::ldexp(static_cast<double>(random() % (1u << 24)), -24));
    } else {
      starts.push_back(random() % 50 == 0 ? kOdd[random() % 5] : idle);
    }
  }
  return starts;
}

std::vector<double> Whole(Random& random, int64_t count, int64_t low, int64_t high) {
  std::vector<double> numbers;
  for (int64_t k = 0; k < count; ++k)
    numbers.push_back(
        static_cast<double>(low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low))));
  return numbers;
}

interp::Arguments ArgumentsOf(const std::string& name, Random& random, int64_t count, uint32_t lively) {
  interp::Arguments made;
  auto zeros = [&](ir::Scalar scalar) {
    return Numbers(scalar, {count}, std::vector<double>(static_cast<size_t>(count)));
  };
  if (name == "chase") {
    // Chains that go down end, and do so outside of everything.
    std::vector<double> next;
    for (int64_t k = 0; k < count; ++k) {
      bool ends = random() % 100 >= lively || k == 0;
      next.push_back(
          ends ? -1.0 - static_cast<double>(random() % (1u << 30))
               : static_cast<double>(k - 1 - static_cast<int64_t>(random() % static_cast<uint64_t>(k))));
    }
    made.list = {Numbers(ir::Scalar::I32, {count}, next),
                 Numbers(ir::Scalar::F32, {count}, Starts(random, count, 0.5, 100)), zeros(ir::Scalar::F32)};
    return made;
  }
  bool is_wide = name == "newton" || name == "stubborn";
  ir::Scalar scalar = is_wide ? ir::Scalar::F64 : ir::Scalar::F32;
  double idle = name == "twice" ? 0.125 : name == "bounded" ? 5.0 : 0.99;
  made.list = {Numbers(scalar, {count}, Starts(random, count, idle, lively)), zeros(scalar)};
  if (name == "bounded") {
    made.list.insert(made.list.begin() + 1, Numbers(ir::Scalar::I32, {count}, Whole(random, count, -3, 60)));
  }
  if (name == "twice") {
    for (interp::Argument& argument : made.list) argument.tensor.extents = {1, count};
  }
  return made;
}

/// A kernel with a loop of random arithmetic on a float and an integer, which decide together when it ends.
class RandomLoop {
 public:
  RandomLoop(uint32_t seed, const char* type) : random_(seed), type_(type) {}

  std::string Kernel(const std::string& name) {
    std::string text = "kernel @" + name + "(%x: buffer<" + type_ +
                       ", 1> diff, %k: buffer<i32, 1>, %y: buffer<" + type_ +
                       ", 1> diff) {\n  parallel %i in 0..shape(%x, 0) {\n" +
                       "    %v0 = load %x[%i]\n    %k0 = load %k[%i]\n" + "    %v, %n = while max " +
                       std::to_string(100 + random_() % 50) + " carry(%a = %v0, %b = %k0) {\n";
    floats_ = {"%a"};
    integers_ = {"%b"};
    text += Lines(random_() % 3);
    std::string goes_on =
        random_() % 2 ? "(lt " + Float() + ", 1.125)" : "(ne (and " + Integer() + ", 7), 3)";
    text += "      continue_if (" + std::string(random_() % 3 ? "or" : "and") + " (lt (abs %a), 1.75), " +
            goes_on + ")\n    } do {\n" + Lines(2 + random_() % 6);
    return text + "      yield (sub (mul %a, " + Float() + "), 0.4375), " + Integer() +
           "\n    }\n    store %y[%i], %v\n  }\n}\n";
  }

 private:
  template <size_t N>
  const char* OneOf(const char* const (&words)[N]) {
    return words[random_() % N];
  }
  const std::string& Float() { return floats_[random_() % floats_.size()]; }
  const std::string& Integer() { return integers_[random_() % integers_.size()]; }

  std::string Lines(uint32_t count) {
    std::string text;
    for (uint32_t n = 0; n < count; ++n) {
      std::string name = "%t" + std::to_string(made_++), value;
      bool is_float = random_() % 3 != 0;
      if (is_float) {
        uint32_t kind = random_() % 8;
        if (kind < 4) {
          value = OneOf({"add", "sub", "mul", "div", "min", "max"}) + (" " + Float()) + ", " + Float();
        } else if (kind == 4) {
          value = OneOf({"abs", "neg", "sqrt", "floor", "round", "trunc", "rcp"}) + (" " + Float());
        } else if (kind == 5) {
          value = "select (gt " + Float() + ", " + Float() + "), " + Float() + ", " + Float();
        } else if (kind == 6) {
          value = "mul 0.0625, (cast (and " + Integer() + ", 31) to " + type_ + ")";
        } else {
          value = OneOf({"add", "sub", "mul"}) + (" " + Float()) + OneOf({", 1.25", ", -0.5", ", 0.8125"});
        }
      } else if (random_() % 4 == 0) {
        value = "cast (mul " + Float() + ", 64.0) to i32";
      } else {
        value = OneOf({"add", "sub", "mul", "and", "or", "xor", "min", "max", "shl", "shr"}) +
                (" " + Integer()) + (random_() % 2 ? ", 3" : ", " + Integer());
      }
      text += "      " + name + " = " + value + "\n";
      (is_float ? floats_ : integers_).push_back(name);
    }
    return text;
  }

  Random random_;
  std::string type_;
  std::vector<std::string> floats_, integers_;
  uint32_t made_ = 0;
};

/// What the size kernel of a gradient counts.
std::vector<int64_t> Counts(Native& native, const std::string& name, const interp::Arguments& primal) {
  std::string kernel = name + ".grad.size0";
  interp::Arguments arguments = native.DerivedArguments(name + ".grad", primal);
  arguments.list.emplace_back();
  interp::Tensor& sizes = arguments.list.back().tensor;
  sizes = interp::Tensor::Zeros(ir::kI64, {4});
  native.Run(kernel, arguments);
  std::span<const int64_t> counts = std::as_const(sizes).As<int64_t>();
  return {counts.begin(), counts.end()};
}

}  // namespace

TEST_CASE("iterations that run at once are counted as they are one by one") {
  Native single(kPath, 1, false, 1);
  for (const std::string& target : {std::string("cpu"), target::HostTarget()}) {
    Native lanes(kPath, 1, false, 2, false, 0, target);
    for (const char* name : {"logistic", "stubborn", "bounded", "chase", "twice", "newton"}) {
      Random random(20);
      int64_t longest = 0;
      for (int64_t count : {1, 9, 127, 500, 1000, 2049, 3000}) {
        // With few of them alive, each is the longest of its group at some time.
        for (uint32_t lively : {0u, 1u, 30u, 100u}) {
          for (int repeat = 0; repeat < 8; ++repeat) {
            interp::Arguments primal = ArgumentsOf(name, random, count, lively);
            std::vector<int64_t> expected = Counts(single, name, primal);
            INFO(target << ", " << name << ", " << count << " iterations, " << lively << " of a hundred");
            CHECK(Counts(lanes, name, primal) == expected);
            longest = std::max(longest, expected[0]);
          }
        }
      }
      CHECK(longest >= 10);
    }
  }
}

TEST_CASE("loops of random arithmetic are counted alike") {
  constexpr uint32_t kKernels = 32;
  char path[] = "/tmp/adc-lanes-XXXXXX.ir";
  int file = mkstemps(path, 3);
  REQUIRE(file >= 0);
  std::string text;
  for (uint32_t n = 0; n < kKernels; ++n)
    text += RandomLoop(n, n % 3 == 2 ? "f64" : "f32").Kernel("loop" + std::to_string(n));
  INFO(text);
  REQUIRE(write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  close(file);
  Native single(path, 1, false, 1);
  for (const std::string& target : {std::string("cpu"), target::HostTarget()}) {
    Native lanes(path, 1, false, 2, false, 0, target);
    Random random(22);
    std::set<int64_t> seen;
    uint32_t counted = 0;
    for (uint32_t n = 0; n < kKernels; ++n) {
      std::string name = "loop" + std::to_string(n);
      // Some need no tape, or turn out to run for no number.
      if (!single.Has(name + ".grad.size0")) continue;
      ++counted;
      ir::Scalar scalar = n % 3 == 2 ? ir::Scalar::F64 : ir::Scalar::F32;
      for (int repeat = 0; repeat < 16; ++repeat) {
        // Whole groups of one start, or of two that take turns: nothing hides what a lane counts.
        constexpr int64_t kCount = 256;
        std::vector<double> starts = Starts(random, 2, 9.0, 95), numbers = Whole(random, 2, -1000, 1000);
        std::vector<double> x, k;
        for (int64_t at = 0; at < kCount; ++at) {
          x.push_back(starts[static_cast<size_t>(at % (1 + repeat % 2))]);
          k.push_back(numbers[static_cast<size_t>(at % (1 + repeat % 2))]);
        }
        interp::Arguments primal;
        primal.list = {Numbers(scalar, {kCount}, x), Numbers(ir::Scalar::I32, {kCount}, k),
                       Numbers(scalar, {kCount}, std::vector<double>(kCount))};
        std::vector<int64_t> expected = Counts(single, name, primal);
        CHECK(Counts(lanes, name, primal) == expected);
        seen.insert(expected[0]);
      }
    }
    CHECK(counted > kKernels / 2);
    CHECK(seen.size() > 10);
  }
  unlink(path);
}

TEST_CASE("gradients find the memory that was counted for them") {
  Native lanes(kPath, 2, false, 2, false, 0, target::HostTarget()), single(kPath, 2, false, 1);
  Random random(21);
  for (const char* name : {"logistic", "stubborn", "bounded", "chase", "twice", "newton"}) {
    interp::Arguments primal = ArgumentsOf(name, random, 3000, 60);
    std::string gradient = std::string(name) + ".grad";
    size_t result = primal.list.size() - 1;
    interp::Arguments one = lanes.DerivedArguments(gradient, primal);
    interp::Tensor& seed = one[lanes.Companion(gradient, result)].tensor;
    for (int64_t k = 0; k < seed.ScalarCount(); ++k) seed.Set(k, 1);
    interp::Arguments other = one;
    lanes.Run(gradient, one);
    single.Run(gradient, other);
    // Both kernels are the same but for what an optimiser may do to values that decide nothing.
    size_t x = std::string(name) == "chase" ? 1 : 0, adjoint = lanes.Companion(gradient, x);
    for (int64_t k = 0; k < seed.ScalarCount(); ++k) {
      double left = one[adjoint].tensor.Get(k), right = other[adjoint].tensor.Get(k);
      if (!std::isfinite(left) || !std::isfinite(right) || std::abs(right) > 1e6) continue;
      REQUIRE(left == Approx(right).epsilon(1e-3).margin(1e-3));
    }
  }
}
