// The elementary functions in IR text: their errors against the host's long double functions over all
// exponents, and the special values of C99. They run as compiled code and, on fewer values, in the
// interpreter.

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <regex>

#include "codegen/common/math_functions.h"
#include "codegen_support.h"
#include "interp/interpreter.h"
#include "ir/module.h"
#include "ir/number.h"
#include "parse/parser.h"
#include "transform/inline.h"
#include "transform/simplify.h"
#include "verify/verify.h"

namespace {

using namespace adc;
using namespace adc::codegen_tests;
using ir::Op, ir::Scalar;

using Reference1 = long double (*)(long double);
using Reference2 = long double (*)(long double, long double);

struct Unary {
  Op op;
  Reference1 reference;
};
struct Binary {
  Op op;
  Reference2 reference;
};

const Unary kUnary[] = {
    {Op::Sin, std::sin},   {Op::Cos, std::cos},   {Op::Tan, std::tan},   {Op::Asin, std::asin},
    {Op::Acos, std::acos}, {Op::Atan, std::atan}, {Op::Sinh, std::sinh}, {Op::Cosh, std::cosh},
    {Op::Tanh, std::tanh}, {Op::Exp, std::exp},   {Op::Exp2, std::exp2}, {Op::Log, std::log},
    {Op::Log2, std::log2}, {Op::Erf, std::erf},
};
const Binary kBinary[] = {{Op::Pow, std::pow}, {Op::Atan2, std::atan2}, {Op::Rem, std::fmod}};

std::string NameOf(Op op, Scalar scalar) {
  return std::string(ir::InfoOf(op).spelling) + "." + std::string(ir::Spelling(scalar));
}

/// Every function as a kernel over buffers, compiled once.
class Compiled {
 public:
  explicit Compiled(bool fused) {
    std::string text = ir::Print(codegen::MathFunctions::Get().module());
    // Printed flat, every fma is a line of its own.
    if (!fused)
      text = std::regex_replace(text, std::regex("= fma ([^,]*), ([^,]*), "), "= add (mul $1, $2), ");
    REQUIRE((text.find(" fma ") != std::string::npos) == fused);
    auto add = [&](Op op, bool two) {
      for (Scalar scalar : {Scalar::F32, Scalar::F64}) {
        std::string type(ir::Spelling(scalar)), buffer = ": buffer<" + type + ", 1>";
        std::string name = NameOf(op, scalar);
        text += "kernel @k." + name + "(%x" + buffer + (two ? ", %w" + buffer : "") + ", %y" + buffer +
                ") {\n  parallel %i in 0..shape(%y, 0) {\n    store %y[%i], (call @" + name +
                "((load %x[%i])" + (two ? ", (load %w[%i])" : "") + "))\n  }\n}\n";
      }
    };
    for (const Unary& f : kUnary) add(f.op, false);
    for (const Binary& f : kBinary) add(f.op, true);
    diag::SourceManager sources;
    diag::Diagnostics diagnostics;
    module_ = parse::ParseText("math", text, {}, sources, diagnostics);
    INFO(diag::PrintDiagnostics(diagnostics, sources, false));
    REQUIRE(!diagnostics.HasErrors());
    REQUIRE(verify::Verify(*module_, diagnostics));
    REQUIRE(transform::Inline(*module_, {}, diagnostics));
    REQUIRE(transform::Simplify(*module_, {}, diagnostics));
    module_->phase = ir::Phase::Lowered;
    std::vector<codegen::KernelToEmit> kernels;
    for (const auto& function : module_->functions) kernels.push_back({function.get(), {}});
    auto code = test::EmitRaised(codegen::EmitCpu, *module_, kernels, ConfigFor(RunnableTargets().back()));
    REQUIRE(code.Ok());
    image_ = std::make_unique<LoadedImage>(ImageOf(*code));
    REQUIRE(image_->Ok());
    for (size_t n = 0; n < kernels.size(); ++n)
      symbols_[std::string(module_->Text(kernels[n].kernel->name))] = code->entries[n][0].symbol;
  }

  template <class T>
  std::vector<T> Run(Op op, std::vector<T>& x, std::vector<T>* w = nullptr) const {
    std::vector<T> y(x.size());
    Launch launch;
    auto count = static_cast<int64_t>(x.size());
    launch.Buffer(x.data(), {count});
    if (w != nullptr) launch.Buffer(w->data(), {count});
    launch.Buffer(y.data(), {count});
    Scalar scalar = sizeof(T) == 4 ? Scalar::F32 : Scalar::F64;
    launch.Run(image_->Entry(symbols_.at("k." + NameOf(op, scalar))), 0, x.size());
    return y;
  }

 private:
  std::unique_ptr<ir::Module> module_;
  std::unique_ptr<LoadedImage> image_;
  std::map<std::string, std::string> symbols_;
};

const Compiled& Fused() {
  static const Compiled compiled(true);
  return compiled;
}

/// Distance of `got` from the exact result in units of the last place of T there; 0 where both are NaN or the
/// same infinity.
template <class T>
double Ulps(T got, long double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : 1e30;
  using Limits = std::numeric_limits<T>;
  if (std::isinf(static_cast<T>(want)) && std::isinf(got)) return (want > 0) == (got > 0) ? 0 : 1e30;
  int exponent = want == 0 ? Limits::min_exponent : std::ilogb(want) + 1;
  exponent = std::max(exponent, Limits::min_exponent);
  long double bounded =
      std::isinf(got) ? std::copysign(std::ldexp(1.0L, Limits::max_exponent), static_cast<long double>(got))
                      : got;
  return static_cast<double>(std::fabs(bounded - want) / std::ldexp(1.0L, exponent - Limits::digits));
}

template <class T>
T FromBits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Numbers of every exponent and both signs: `per_binade` of each, evenly spread fractions with a random
/// offset.
template <class T>
std::vector<T> EveryExponent(uint32_t per_binade) {
  std::mt19937_64 random(7);
  constexpr int kFraction = std::numeric_limits<T>::digits - 1;
  constexpr uint64_t kExponents = sizeof(T) == 4 ? 255 : 2047;
  std::vector<T> values;
  uint64_t step = (uint64_t{1} << kFraction) / per_binade;
  for (uint64_t sign : {0, 1}) {
    for (uint64_t exponent = 0; exponent < kExponents; ++exponent) {
      for (uint64_t n = 0; n < per_binade; ++n) {
        uint64_t fraction = n * step + random() % step;
        values.push_back(FromBits<T>((sign << (sizeof(T) * 8 - 1)) | (exponent << kFraction) | fraction));
      }
    }
  }
  return values;
}

/// Evenly spread numbers of [lo, hi].
template <class T>
void AddEven(std::vector<T>& values, double lo, double hi, size_t count) {
  for (size_t n = 0; n < count; ++n)
    values.push_back(
        static_cast<T>(lo + (hi - lo) * (static_cast<double>(n) + 0.37) / static_cast<double>(count)));
}

template <class T>
struct Worst {
  double ulps = 0;
  T x = 0, w = 0, got = 0;
  void Take(double error, T x_, T w_, T got_) {
    if (!(error > ulps)) return;
    ulps = error;
    x = x_, w = w_, got = got_;
  }
  void Print(Op op, size_t count) const {
    std::printf("%-6s %s  %9zu values  worst %.3f ulp at %.17g %.17g (%a %a) gives %.17g\n",
                std::string(ir::InfoOf(op).spelling).c_str(), sizeof(T) == 4 ? "f32" : "f64", count, ulps,
                static_cast<double>(x), static_cast<double>(w), static_cast<double>(x),
                static_cast<double>(w), static_cast<double>(got));
  }
};

template <class T>
void SweepUnary(const Compiled& compiled, uint32_t per_binade, double limit) {
  for (const Unary& f : kUnary) {
    std::vector<T> x = EveryExponent<T>(per_binade);
    AddEven(x, -2, 2, 400'000);
    AddEven(x, -110, 110, 200'000);
    if (sizeof(T) == 8) AddEven(x, -750, 750, 100'000);
    // Near multiples of pi/2, where reduction cancels.
    for (int n = 1; n < 40'000; ++n) x.push_back(static_cast<T>(n * 1.5707963267948966));
    std::vector<T> y = compiled.Run(f.op, x);
    Worst<T> worst;
    for (size_t n = 0; n < x.size(); ++n) worst.Take(Ulps(y[n], f.reference(x[n])), x[n], 0, y[n]);
    worst.Print(f.op, x.size());
    CHECK(worst.ulps <= limit);
  }
}

template <class T>
void SweepBinary(const Compiled& compiled, size_t count, double limit) {
  std::mt19937_64 random(3);
  for (const Binary& f : kBinary) {
    std::vector<T> x, w;
    std::uniform_real_distribution<double> unit(-1, 1);
    auto any = [&] {
      int range = f.op == Op::Pow ? 20 : std::numeric_limits<T>::max_exponent - 1;
      return static_cast<T>(std::ldexp(unit(random), static_cast<int>(unit(random) * range)));
    };
    for (size_t n = 0; n < count; ++n) {
      T a = any(), b = any();
      if (f.op == Op::Pow) {
        a = std::fabs(a);
        // Results across the whole range, and bases close to 1 with large exponents.
        if (n % 2 == 1) a = static_cast<T>(1 + std::ldexp(unit(random), -static_cast<int>(random() % 20)));
        if (n % 4 < 2)
          b = static_cast<T>(unit(random) * std::numeric_limits<T>::max_exponent / std::log2(double(a)));
      }
      if (n % 3 == 0 && f.op != Op::Pow) b = static_cast<T>(double(a) * unit(random));
      x.push_back(a);
      w.push_back(b);
    }
    std::vector<T> y = compiled.Run(f.op, x, &w);
    Worst<T> worst;
    for (size_t n = 0; n < x.size(); ++n) {
      double error = Ulps(y[n], f.reference(x[n], w[n]));
      worst.Take(error, x[n], w[n], y[n]);
    }
    worst.Print(f.op, x.size());
    CHECK(worst.ulps <= (f.op == Op::Rem ? 0 : limit));
  }
}

/// Same value, same sign of zero, or both NaN.
template <class T>
bool Same(T got, T want) {
  if (std::isnan(want)) return std::isnan(got);
  return got == want && std::signbit(got) == std::signbit(want);
}

template <class T>
void CheckSpecials() {
  constexpr T kInf = std::numeric_limits<T>::infinity(), kNan = std::numeric_limits<T>::quiet_NaN();
  constexpr T kTiny = std::numeric_limits<T>::denorm_min(), kMax = std::numeric_limits<T>::max();
  std::vector<T> base = {T(0.0),  kTiny,  std::numeric_limits<T>::min(),
                         T(0.5),  T(1),   T(1.5),
                         T(2),    T(3),   T(4),
                         T(5),    T(2.5), T(1e10),
                         T(1e30), kMax,   kInf,
                         kNan};
  std::vector<T> values;
  for (T v : base) values.insert(values.end(), {v, -v});
  auto check = [](Op op, T x, T w, T got, long double want) {
    // Where the exact result is not a special value, being close is what the sweeps check.
    INFO(NameOf(op, sizeof(T) == 4 ? Scalar::F32 : Scalar::F64)
         << " of " << x << " " << w << " gives " << got << " instead of " << static_cast<double>(want));
    T rounded = static_cast<T>(want);
    bool special = std::isnan(rounded) || std::isinf(rounded) || rounded == 0 || op == Op::Rem;
    if (special) {
      CHECK(Same(got, rounded));
    } else {
      CHECK(Ulps(got, want) <= 4);
      CHECK(std::signbit(got) == std::signbit(rounded));
    }
  };
  for (const Unary& f : kUnary) {
    std::vector<T> y = Fused().Run(f.op, values);
    for (size_t n = 0; n < values.size(); ++n) check(f.op, values[n], 0, y[n], f.reference(values[n]));
  }
  for (const Binary& f : kBinary) {
    std::vector<T> x, w;
    for (T a : values) {
      for (T b : values) x.push_back(a), w.push_back(b);
    }
    std::vector<T> y = Fused().Run(f.op, x, &w);
    for (size_t n = 0; n < x.size(); ++n) check(f.op, x[n], w[n], y[n], f.reference(x[n], w[n]));
  }
}

/// The interpreter on the functions themselves gives the bits of the compiled code.
template <class T>
void CheckInterpreter() {
  Scalar scalar = sizeof(T) == 4 ? Scalar::F32 : Scalar::F64;
  std::vector<T> x = EveryExponent<T>(sizeof(T) == 4 ? 3 : 1), w = x;
  std::reverse(w.begin(), w.end());
  auto check = [&](Op op, bool two) {
    std::vector<T> y = Fused().Run(op, x, two ? &w : nullptr);
    const ir::Function* function = codegen::MathFunctions::Get().Find(op, scalar);
    REQUIRE(function != nullptr);
    interp::Interpreter interpreter(codegen::MathFunctions::Get().module(), *function);
    size_t wrong = 0;
    for (size_t n = 0; n < x.size(); ++n) {
      interp::Arguments arguments;
      arguments.list.resize(two ? 2 : 1);
      arguments[0].bits = {ir::FloatToBits(scalar, x[n])};
      if (two) arguments[1].bits = {ir::FloatToBits(scalar, w[n])};
      interp::RunResult result = interpreter.Run(arguments);
      REQUIRE(result.Ok());
      T got = static_cast<T>(ir::FloatFromBits(scalar, result.results[0][0]));
      wrong += Same(got, y[n]) ? 0 : 1;
    }
    INFO(NameOf(op, scalar));
    CHECK(wrong == 0);
  };
  for (const Unary& f : kUnary) check(f.op, false);
  for (const Binary& f : kBinary) check(f.op, true);
}

}  // namespace

TEST_CASE("math functions in f32 are within two units of the last place") {
  SweepUnary<float>(Fused(), 2048, 2.0);
  SweepBinary<float>(Fused(), 1'000'000, 2.0);
}

TEST_CASE("math functions in f64 are within four units of the last place") {
  SweepUnary<double>(Fused(), 256, 4.0);
  SweepBinary<double>(Fused(), 500'000, 4.0);
}

TEST_CASE("math functions are as good where fma rounds twice") {
  const Compiled unfused(false);
  SweepUnary<float>(unfused, 64, 2.0);
  SweepBinary<float>(unfused, 100'000, 2.0);
  SweepUnary<double>(unfused, 16, 4.0);
  SweepBinary<double>(unfused, 100'000, 4.0);
}

TEST_CASE("math functions have the special values of C99") {
  CheckSpecials<float>();
  CheckSpecials<double>();
}

TEST_CASE("math functions give the same bits interpreted and compiled") {
  CheckInterpreter<float>();
  CheckInterpreter<double>();
}

TEST_CASE("every math function is there, without calls and memory") {
  const codegen::MathFunctions& functions = codegen::MathFunctions::Get();
  CHECK(functions.Find(Op::Add, Scalar::F32) == nullptr);
  CHECK(functions.Find(Op::Sin, Scalar::F16) == nullptr);
  for (const auto& function : functions.module().functions) {
    for (uint32_t n = 0; n < function->InstCount(); ++n) {
      const ir::InstData& inst = (*function)[ir::Inst(n)];
      INFO(functions.module().Text(function->name));
      CHECK(inst.op != Op::Call);
      CHECK(ir::InfoOf(inst.op).effect != ir::Effect::Read);
      // An f32 function may run where nothing is wider than 32 bits.
      if (!functions.module().Text(function->name).ends_with("f32")) continue;
      for (uint32_t r = 0; r < inst.result_count; ++r)
        CHECK(ir::BitWidth(function->TypeOf(function->Result(ir::Inst(n), r)).scalar) <= 32);
    }
  }
}
