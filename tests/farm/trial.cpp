// The gradient is the adjoint of the tangent: for any direction t that goes in, and any adjoints a that come
// from behind, <a, J t> = <J* a, t>. Dual numbers give J t, the gradient kernel gives J* a, over all memory
// that has a derivative. A wrong element of J* a shows in every direction that is not zero there.

#include "trial.h"

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <span>

#include "../support/native.h"
#include "../support/random_arguments.h"
#include "driver/compile.h"
#include "interp/interpreter.h"
#include "ir/module.h"
#include "parse/parser.h"
#include "verify/verify.h"

namespace adc::farm {

namespace {

constexpr int64_t kExtent = 5;
constexpr uint32_t kDirections = 3;

class Timed {
 public:
  Timed(Tally& tally, Step step) : total_(tally.seconds[static_cast<size_t>(step)]) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() { total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  double& total_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed * 2 + 1) {}
  /// Between -1 and 1, with few bits, so that f16 holds it.
  double Next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(static_cast<int64_t>(state_ >> 40) % 255 - 127) / 128.0;
  }

 private:
  uint64_t state_;
};

bool IsFloatMemory(const interp::Tensor& tensor) {
  return !tensor.data.empty() && tensor.element.IsFloat();
}

/// One program of a bundle.
class Comparison {
 public:
  Comparison(const Program& program, test::Native& native, Tally& tally)
      : program_(program), native_(native), tally_(tally) {}

  std::string Run() {
    if (!Read()) return "the compiler takes what the interpreter's reader refuses";
    tally_.CountOperations(*module_);
    name_ = std::string(module_->Text(kernel_->name));
    before_ = test::RandomArguments(*module_, *kernel_, program_.arguments, kExtent);
    std::string difference = CompareValues();
    // Without a parameter marked 'diff' there is no gradient, and that of what is no number is open.
    bool finite = AllFinite();
    if (!finite) ++tally_.not_finite;
    if (difference.empty() && finite && native_.Has(name_ + ".grad")) difference = CompareGradient();
    if (difference.empty() && native_.Has(name_ + ".jvp")) difference = CompareTangent();
    return difference;
  }

 private:
  bool Read() {
    Timed timed(tally_, Step::Read);
    diag::Diagnostics diagnostics(1);
    module_ = parse::ParseText("program.ir", program_.text, {}, sources_, diagnostics);
    if (module_ == nullptr || !verify::Verify(*module_, diagnostics)) return false;
    kernel_ = module_->functions.back().get();
    return true;
  }

  std::string CompareValues() {
    interp::Arguments want = before_;
    interp::RunResult result;
    {
      Timed timed(tally_, Step::Values);
      result = interp::Run(*module_, *kernel_, want);
    }
    if (!result.Ok()) return "the interpreter ends: " + interp::Describe(result.error, sources_);
    after_ = before_;
    {
      Timed timed(tally_, Step::Native);
      native_.Run(name_, after_);
    }
    for (size_t n = 0; n < want.list.size(); ++n) {
      const interp::Tensor &expected = want[n].tensor, &got = after_[n].tensor;
      if (expected.data.empty()) continue;
      bool real = IsFloatMemory(expected);
      for (int64_t k = 0; k < expected.ScalarCount(); ++k) {
        ++tally_.values;
        double a = expected.Get(k), b = got.Get(k);
        if (a == b || (std::isnan(a) && std::isnan(b))) continue;
        if (real && std::fabs(a - b) <= Tolerance(expected) * std::max(1.0, std::fabs(a))) continue;
        return "value of " + Place(n, k, *kernel_) + ": " + Text(a) + " interpreted, " + Text(b) +
               " compiled";
      }
    }
    return "";
  }

  /// Whether the kernel left numbers wherever there are derivatives.
  bool AllFinite() const {
    for (size_t n = 0; n < after_.list.size(); ++n) {
      const interp::Tensor& tensor = after_[n].tensor;
      if (!IsFloatMemory(tensor)) continue;
      for (int64_t k = 0; k < tensor.ScalarCount(); ++k)
        if (!std::isfinite(tensor.Get(k))) return false;
    }
    return true;
  }

  std::string CompareGradient() {
    interp::Arguments derived = native_.DerivedArguments(name_ + ".grad", after_);
    std::vector<size_t> companion = Companions(name_ + ".grad");
    Numbers numbers(program_.arguments + 1);
    for (size_t at : companion) {
      if (at != 0) Fill(derived[at].tensor, numbers);
    }
    interp::Arguments behind = derived;
    {
      Timed timed(tally_, Step::Native);
      native_.Run(name_ + ".grad", derived);
    }
    for (uint32_t direction = 0; direction < kDirections; ++direction) {
      interp::Tangents in = Direction(companion, numbers), out = in;
      if (std::string error = RunDual(&out); !error.empty()) return error;
      auto along = [&](const interp::Tangents& tangents) {
        double sum = 0;
        for (size_t n = 0; n < companion.size(); ++n) {
          for (size_t k = 0; companion[n] != 0 && k < tangents[n].size(); ++k)
            sum += behind[companion[n]].tensor.Get(static_cast<int64_t>(k)) * tangents[n][k];
        }
        return sum;
      };
      double forward = 0, reverse = 0, scale = 1, tolerance = 0;
      for (size_t n = 0; n < companion.size(); ++n) {
        if (companion[n] == 0) continue;
        const interp::Tensor &before = behind[companion[n]].tensor, &after = derived[companion[n]].tensor;
        tolerance = std::max(tolerance, Tolerance(before));
        for (size_t k = 0; k < in[n].size(); ++k) {
          double a = before.Get(static_cast<int64_t>(k)) * out[n][k],
                 b = after.Get(static_cast<int64_t>(k)) * in[n][k];
          forward += a;
          reverse += b;
          scale += std::fabs(a) + std::fabs(b);
        }
      }
      ++tally_.gradients;
      if (std::isnan(forward) && std::isnan(reverse)) continue;
      if (std::fabs(forward - reverse) <= 100 * tolerance * scale || IsRounding(in, along, reverse)) continue;
      return "direction " + std::to_string(direction) + " of the gradient: " + Text(forward) +
             " by dual numbers, " + Text(reverse) + " compiled, of terms of " + Text(scale);
    }
    return "";
  }

  std::string CompareTangent() {
    const std::string name = name_ + ".jvp";
    interp::Arguments derived = native_.DerivedArguments(name, before_);
    std::vector<size_t> companion = Companions(name);
    Numbers numbers(program_.arguments + 2);
    const interp::Tangents direction = Direction(companion, numbers);
    interp::Tangents want = direction;
    for (size_t n = 0; n < companion.size(); ++n) {
      for (size_t k = 0; companion[n] != 0 && k < want[n].size(); ++k)
        derived[companion[n]].tensor.Set(static_cast<int64_t>(k), want[n][k]);
    }
    if (std::string error = RunDual(&want); !error.empty()) return error;
    {
      Timed timed(tally_, Step::Native);
      native_.Run(name, derived);
    }
    for (size_t n = 0; n < companion.size(); ++n) {
      if (companion[n] == 0) continue;
      const interp::Tensor& got = derived[companion[n]].tensor;
      for (size_t k = 0; k < want[n].size(); ++k) {
        const interp::Tensor& result = after_[n].tensor;
        if (!result.data.empty() && !std::isfinite(result.Get(static_cast<int64_t>(k)))) continue;
        ++tally_.tangents;
        double a = want[n][k], b = got.Get(static_cast<int64_t>(k));
        if (a == b || (std::isnan(a) && std::isnan(b))) continue;
        auto number = [&](const interp::Tangents& tangents) { return tangents[n][k]; };
        if (std::fabs(a - b) <= 100 * Tolerance(got) * std::max(1.0, std::fabs(a))) continue;
        if (IsRounding(direction, number, b)) continue;
        return "tangent of " + Place(n, static_cast<int64_t>(k), *kernel_) + ": " + Text(a) +
               " by dual numbers, " + Text(b) + " compiled";
      }
    }
    return "";
  }

  /// By parameter of the kernel, the position of its companion; 0: none.
  std::vector<size_t> Companions(const std::string& name) {
    std::vector<size_t> companion(before_.list.size());
    std::vector<adrt_param_report> params = native_.Params(name);
    for (size_t n = before_.list.size(); n < params.size(); ++n) {
      if (params[n].kind == ADRT_PARAM_BUFFER && params[n].primal < companion.size())
        companion[params[n].primal] = n;
    }
    return companion;
  }
  interp::Tangents Direction(const std::vector<size_t>& companion, Numbers& numbers) const {
    interp::Tangents direction;
    direction.list.resize(before_.list.size());
    for (size_t n = 0; n < companion.size(); ++n) {
      direction[n].resize(interp::TangentCount(*module_, kernel_->TypeOf(kernel_->Params()[n]), before_[n]));
      for (double& number : direction[n]) number = companion[n] != 0 ? numbers.Next() : 0;
    }
    return direction;
  }
  std::string RunDual(interp::Tangents* tangents) {
    Timed timed(tally_, Step::Duals);
    if (!dual_) dual_.emplace(*module_, *kernel_);
    interp::Arguments arguments = before_;
    interp::RunResult result = dual_->RunDual(arguments, *tangents);
    return result.Ok() ? "" : "the interpreter ends: " + interp::Describe(result.error, sources_);
  }

  /// Whether the kernel is so ill-conditioned that errors of some units in the last place of its arguments
  /// explain the difference between dual numbers and `compiled`.
  bool IsRounding(const interp::Tangents& direction,
                  const std::function<double(const interp::Tangents&)>& number, double compiled) {
    double least = INFINITY, most = -INFINITY;
    for (int places : {0, 1, -1, 2, -2, 4, -4}) {
      interp::Arguments arguments = before_;
      for (auto& argument : arguments.list) {
        interp::Tensor& tensor = argument.tensor;
        if (!IsFloatMemory(tensor)) continue;
        double unit = tensor.element.scalar == ir::Scalar::F64 ? 0x1p-52 : 0x1p-23;
        for (int64_t k = 0; k < tensor.ScalarCount(); ++k) tensor.Set(k, tensor.Get(k) * (1 + places * unit));
      }
      interp::Tangents out = direction;
      if (!dual_->RunDual(arguments, out).Ok()) return false;
      least = std::min(least, number(out));
      most = std::max(most, number(out));
    }
    double spread = most - least;
    bool explains = compiled >= least - 4 * spread && compiled <= most + 4 * spread;
    if (explains) ++tally_.rounding;
    return explains;
  }

  static void Fill(interp::Tensor& tensor, Numbers& numbers) {
    for (int64_t k = 0; k < tensor.ScalarCount(); ++k) tensor.Set(k, numbers.Next());
  }
  static double Tolerance(const interp::Tensor& tensor) {
    return tensor.element.scalar == ir::Scalar::F64   ? 1e-11
           : tensor.element.scalar == ir::Scalar::F32 ? 2e-5
                                                      : 2e-2;
  }
  static std::string Text(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", number);
    return text;
  }
  std::string Place(size_t parameter, int64_t position, const ir::Function& kernel) const {
    return "%" + std::string(module_->Text(kernel[kernel.Params()[parameter]].name)) + ", number " +
           std::to_string(position);
  }

  const Program& program_;
  test::Native& native_;
  Tally& tally_;
  diag::SourceManager sources_;
  std::unique_ptr<ir::Module> module_;
  const ir::Function* kernel_ = nullptr;
  std::optional<interp::Interpreter> dual_;
  std::string name_;
  interp::Arguments before_, after_;
};

class Trial {
 public:
  Trial(const Batch& batch, Tally& tally) : batch_(batch), tally_(tally) {}

  /// False: not all of these programs can be compiled with these derivatives.
  bool Run(std::span<const Program> programs, const driver::Derivations& derive, bool count_refusals,
           const std::function<void(const Program&, test::Native&)>& each) {
    std::vector<uint8_t> bundle;
    if (!Compile(programs, derive, count_refusals, &bundle)) return false;
    std::optional<test::Native> native;
    {
      Timed timed(tally_, Step::Load);
      native.emplace(bundle, batch_.workers);
    }
    for (const Program& program : programs) each(program, *native);
    return true;
  }
  std::string Compare(const Program& program, test::Native& native) {
    tally_.optimised += batch_.options.optimisation != 0 ? 1 : 0;
    return Comparison(program, native, tally_).Run();
  }

 private:
  bool Compile(std::span<const Program> programs, const driver::Derivations& derive, bool count_refusals,
               std::vector<uint8_t>* bundle) {
    Timed timed(tally_, Step::Compile);
    driver::CompileOptions options = batch_.options;
    options.derive = derive;
    driver::MemoryRequest request;
    for (const Program& program : programs) request.texts.push_back({program.name + ".ir", program.text});
    request.report = [&](const diag::Diagnostic& one, const diag::SourceManager&) {
      if (count_refusals && one.severity == diag::Severity::Error) tally_.CountRefusal(one.id);
    };
    product::Product product;
    bool good = driver::CompileTexts(request, options, &product) == kExitOk;
    *bundle = std::move(product.bytes);
    return good;
  }

  const Batch& batch_;
  Tally& tally_;
};

}  // namespace

void Try(const Batch& batch, Tally& tally, const std::function<void(size_t program)>& at,
         const std::function<void(const Program&, const std::string& what)>& differs) {
  Trial trial(batch, tally);
  uint64_t* count = &tally.accepted;
  auto each = [&](const Program& program, test::Native& native) {
    at(static_cast<size_t>(&program - batch.programs.data()));
    ++tally.programs;
    ++*count;
    std::string what = trial.Compare(program, native);
    if (!what.empty()) differs(program, what);
  };
  bool alone = batch.programs.size() == 1;
  if (!alone && trial.Run(batch.programs, batch.options.derive, false, each)) return;
  driver::Derivations none;
  none.gradient = false;
  for (const Program& program : batch.programs) {
    at(static_cast<size_t>(&program - batch.programs.data()));
    count = &tally.accepted;
    if (trial.Run({&program, 1}, batch.options.derive, true, each)) continue;
    count = &tally.without_gradient;
    if (batch.options.derive.gradient && trial.Run({&program, 1}, none, true, each)) continue;
    ++tally.programs;
    ++tally.refused;
  }
}

}  // namespace adc::farm
