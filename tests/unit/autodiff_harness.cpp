#include "autodiff_harness.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <functional>

#include "autodiff/accumulate.h"
#include "autodiff/forward.h"
#include "autodiff/reverse.h"
#include "checkpointed.h"
#include "driver/pipeline.h"
#include "ir/module.h"
#include "parse/parser.h"
#include "transform/inline.h"
#include "transform/simplify.h"
#include "verify/verify.h"

namespace adc::testing {
namespace {

std::string WithScalar(const std::string& text, const std::string& scalar) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    bool word = text.compare(at, 4, "real") == 0 && (at == 0 || !std::isalnum(text[at - 1])) &&
                (at + 4 == text.size() || !std::isalnum(text[at + 4]));
    result += word ? scalar : std::string(1, text[at]);
    at += word ? 4 : 1;
  }
  return result;
}

ir::Function* KernelOf(ir::Module& module, const std::string& name) {
  for (auto& function : module.functions)
    if (function->IsKernel() && (name.empty() || module.Text(function->name) == name)) return function.get();
  return nullptr;
}

Compiled Shaped(const std::string& text, const std::string& scalar, const std::string& kernel) {
  Compiled compiled = Parse(text, scalar);
  INFO(text << compiled.Errors());
  REQUIRE(!compiled.diagnostics->HasErrors());
  REQUIRE(verify::Verify(*compiled.module, *compiled.diagnostics));
  bool shaped = driver::Normalise(*compiled.module, *compiled.diagnostics);
  INFO(compiled.Errors());
  REQUIRE(shaped);
  compiled.primal = KernelOf(*compiled.module, kernel);
  return compiled;
}

void Finish(Compiled& compiled) {
  if (compiled.derived == nullptr) return;
  StringId name = compiled.derived->name;
  INFO(ir::Print(*compiled.module, *compiled.derived));
  bool verified = verify::Verify(*compiled.module, *compiled.diagnostics);
  INFO(compiled.Errors());
  REQUIRE(verified);
  transform::InlineConfig inline_config;
  inline_config.keep_custom_derivatives = false;
  REQUIRE(transform::Inline(*compiled.module, inline_config, *compiled.diagnostics));
  compiled.module->phase = ir::Phase::Differentiated;
  compiled.derived = compiled.module->Find(name);
  REQUIRE(compiled.derived != nullptr);
  transform::SimplifyFunction(*compiled.module, *compiled.derived, {});
  autodiff::DecideAccumulation(*compiled.module, *compiled.derived);
  INFO(ir::Print(*compiled.module, *compiled.derived));
  verified = verify::Verify(*compiled.module, *compiled.diagnostics);
  INFO(compiled.Errors());
  REQUIRE(verified);
}

/// The same numbers in every run and on every machine.
class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  double Next(double lo, double hi) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return lo + (hi - lo) * (static_cast<double>(state_ >> 11) / 9007199254740992.0);
  }

 private:
  uint64_t state_;
};

}  // namespace

interp::Arguments Bind(const ir::Module& module, const ir::Function& kernel,
                       const std::map<std::string, Input>& inputs) {
  interp::Arguments arguments = interp::MakeArguments(module, kernel);
  Generator random(7);
  for (size_t n = 0; n < kernel.params.size(); ++n) {
    ir::Value param = kernel.Params()[n];
    ir::Type type = kernel.TypeOf(param);
    std::string name(module.Text(kernel[param].name));
    auto found = inputs.find(name);
    if (found == inputs.end()) continue;
    const Input& input = found->second;
    if (type.IsRegister()) {
      arguments[n] = interp::NumberArgument(type, input.numbers.at(0));
      continue;
    }
    if (type.IsBuffer()) arguments[n].tensor = interp::Tensor::Zeros(type.Element(), input.extents);
    interp::Tensor& tensor = arguments[n].tensor;
    for (int64_t k = 0; k < tensor.ScalarCount(); ++k)
      tensor.Set(k, input.numbers.empty() ? random.Next(input.lo, input.hi)
                                          : input.numbers.at(static_cast<size_t>(k) % input.numbers.size()));
  }
  return arguments;
}

namespace {

void Execute(const Compiled& compiled, const ir::Function& function, interp::Arguments& arguments,
             interp::Tangents* tangents = nullptr, interp::Order order = interp::Order::Forward) {
  interp::RunOptions options;
  options.order = order;
  interp::RunResult result = tangents != nullptr
                                 ? interp::RunDual(*compiled.module, function, arguments, *tangents, options)
                                 : interp::Run(*compiled.module, function, arguments, options);
  INFO(ir::Print(*compiled.module, function));
  INFO(interp::Describe(result.error, *compiled.sources));
  REQUIRE(result.Ok());
}

bool IsDiff(const ir::Module& module, const ir::Function& kernel, size_t n) {
  ir::Type type = kernel.TypeOf(kernel.Params()[n]);
  if (!type.IsLayout()) return kernel.params[n].diff;
  for (const ir::LayoutField& field : module.layouts[type.count].fields)
    if (field.diff) return true;
  return false;
}

/// Numbers of a companion, in the order of the tangents of its primal.
double CompanionGet(const interp::Tensor& tensor, size_t k) {
  return tensor.Get(static_cast<int64_t>(k));
}

struct DiffParameter {
  size_t position = 0;
  bool number = false;
  size_t count = 0;
};

std::vector<DiffParameter> DiffParametersOf(const ir::Module& module, const ir::Function& kernel,
                                            const interp::Arguments& arguments) {
  std::vector<DiffParameter> result;
  for (size_t n = 0; n < kernel.params.size(); ++n) {
    ir::Type type = kernel.TypeOf(kernel.Params()[n]);
    if (!IsDiff(module, kernel, n) || type.IsLayout()) continue;
    result.push_back({n, type.IsRegister(), interp::TangentCount(module, type, arguments[n])});
  }
  return result;
}

double Dot(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b,
           double* scale = nullptr) {
  double sum = 0;
  double magnitude = 0;
  for (size_t p = 0; p < a.size(); ++p) {
    for (size_t k = 0; k < a[p].size() && k < b[p].size(); ++k) {
      sum += a[p][k] * b[p][k];
      magnitude += std::abs(a[p][k] * b[p][k]);
    }
  }
  if (scale != nullptr) *scale = std::max(*scale, magnitude);
  return sum;
}

void CheckScalar(const std::string& text, const std::map<std::string, Input>& inputs,
                 const std::string& scalar, double tolerance, const CheckOptions& options) {
  Compiled oracle = Parse(text, scalar);
  INFO(text << oracle.Errors());
  REQUIRE(!oracle.diagnostics->HasErrors());
  ir::Function* kernel = KernelOf(*oracle.module, "");
  REQUIRE(kernel != nullptr);
  Compiled gradient = Gradient(text, scalar, "", options.checkpoints);
  INFO(gradient.Errors());
  REQUIRE(gradient.derived != nullptr);
  INFO(ir::Print(*gradient.module, *gradient.derived));

  interp::Arguments start = Bind(*oracle.module, *kernel, inputs);
  std::vector<DiffParameter> diff = DiffParametersOf(*oracle.module, *kernel, start);
  interp::Arguments end = start;
  Execute(oracle, *kernel, end);

  Generator random(11);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::vector<double>> tangent(kernel->params.size()), weight(kernel->params.size());
    for (const DiffParameter& p : diff) {
      for (size_t k = 0; k < p.count; ++k) {
        tangent[p.position].push_back(random.Next(-1, 1));
        weight[p.position].push_back(round == 0 ? 1.0 : random.Next(-1, 1));
      }
    }
    interp::Tangents tangents;
    tangents.list = tangent;
    interp::Arguments dual = start;
    Execute(oracle, *kernel, dual, &tangents);
    double scale = 1e-3;
    double expected = Dot(weight, tangents.list, &scale);

    std::vector<std::vector<double>> result;
    interp::Order orders[] = {interp::Order::Forward, interp::Order::Reversed, interp::Order::Shuffled};
    interp::Arguments arguments = interp::MakeDerivedArguments(*gradient.module, *gradient.derived, end);
    SetSegment(*gradient.derived, options.segment, arguments);
    for (const DiffParameter& p : diff) {
      uint32_t companion = interp::CompanionIndex(*gradient.derived, ir::ParamRole::Adjoint,
                                                  static_cast<uint32_t>(p.position));
      REQUIRE(companion != ir::kNoAttr);
      for (size_t k = 0; k < p.count; ++k)
        arguments[companion].tensor.Set(static_cast<int64_t>(k), weight[p.position][k]);
    }
    Execute(gradient, *gradient.derived, arguments, nullptr, orders[round]);
    result.resize(kernel->params.size());
    for (const DiffParameter& p : diff) {
      uint32_t companion = interp::CompanionIndex(*gradient.derived, ir::ParamRole::Adjoint,
                                                  static_cast<uint32_t>(p.position));
      for (size_t k = 0; k < p.count; ++k)
        result[p.position].push_back(CompanionGet(arguments[companion].tensor, k));
    }
    double found = Dot(result, tangent, &scale);
    INFO("scalar " << scalar << " round " << round << ": reverse " << found << ", dual numbers " << expected);
    CHECK(std::abs(found - expected) <= tolerance * scale);
    // The gradient leaves every primal buffer alone.
    for (size_t n = 0; n < kernel->params.size(); ++n) CHECK(arguments[n].tensor.data == end[n].tensor.data);

    if (options.differences && scalar == "f64") {
      const double step = 1e-6;
      std::vector<std::vector<double>> slope(kernel->params.size());
      interp::Arguments sides[2] = {start, start};
      for (int side = 0; side < 2; ++side) {
        for (const DiffParameter& p : diff) {
          for (size_t k = 0; k < p.count; ++k) {
            double shift = (side == 0 ? -step : step) * tangent[p.position][k];
            if (p.number) {
              double number = 0;
              static_assert(sizeof(number) == sizeof(sides[side][p.position].bits[k]));
              std::memcpy(&number, &sides[side][p.position].bits[k], sizeof(number));
              number += shift;
              std::memcpy(&sides[side][p.position].bits[k], &number, sizeof(number));
            } else {
              interp::Tensor& tensor = sides[side][p.position].tensor;
              tensor.Set(static_cast<int64_t>(k), tensor.Get(static_cast<int64_t>(k)) + shift);
            }
          }
        }
        Execute(oracle, *kernel, sides[side]);
      }
      double difference = 0;
      for (const DiffParameter& p : diff) {
        for (size_t k = 0; k < p.count; ++k) {
          double d = p.number ? tangent[p.position][k]
                              : (sides[1][p.position].tensor.Get(static_cast<int64_t>(k)) -
                                 sides[0][p.position].tensor.Get(static_cast<int64_t>(k))) /
                                    (2 * step);
          difference += weight[p.position][k] * d;
        }
      }
      INFO("central differences " << difference);
      CHECK(std::abs(found - difference) <= options.difference_tolerance * std::max(scale, 1.0));
    }

    if (options.forward) {
      Compiled forward = Tangent(text, scalar);
      INFO(forward.Errors());
      REQUIRE(forward.derived != nullptr);
      interp::Arguments forward_arguments =
          interp::MakeDerivedArguments(*forward.module, *forward.derived, start);
      for (const DiffParameter& p : diff) {
        uint32_t companion = interp::CompanionIndex(*forward.derived, ir::ParamRole::Tangent,
                                                    static_cast<uint32_t>(p.position));
        REQUIRE(companion != ir::kNoAttr);
        for (size_t k = 0; k < p.count; ++k)
          forward_arguments[companion].tensor.Set(static_cast<int64_t>(k), tangent[p.position][k]);
      }
      Execute(forward, *forward.derived, forward_arguments);
      double pushed = 0;
      for (const DiffParameter& p : diff) {
        uint32_t companion = interp::CompanionIndex(*forward.derived, ir::ParamRole::Tangent,
                                                    static_cast<uint32_t>(p.position));
        for (size_t k = 0; k < p.count; ++k)
          pushed += weight[p.position][k] * CompanionGet(forward_arguments[companion].tensor, k);
      }
      INFO(ir::Print(*forward.module, *forward.derived));
      INFO("forward mode " << pushed);
      CHECK(std::abs(pushed - expected) <= tolerance * scale);
    }
    if (options.second && scalar == "f64" && round == 1) {
      // Forward over reverse against dual numbers of the reverse kernel.
      Compiled second = Tangent(text, scalar, "", true);
      INFO(second.Errors());
      REQUIRE(second.derived != nullptr);
      const ir::Function& reverse = *gradient.derived;
      interp::Arguments point = interp::MakeDerivedArguments(*gradient.module, reverse, end);
      interp::Arguments second_arguments =
          interp::MakeDerivedArguments(*second.module, *second.derived, point);
      interp::Tangents directions;
      directions.list.resize(reverse.params.size());
      std::vector<size_t> moved;
      for (const DiffParameter& p : diff) {
        uint32_t companion =
            interp::CompanionIndex(reverse, ir::ParamRole::Adjoint, static_cast<uint32_t>(p.position));
        for (size_t k = 0; k < p.count; ++k) {
          point[companion].tensor.Set(static_cast<int64_t>(k), weight[p.position][k]);
          second_arguments[companion].tensor.Set(static_cast<int64_t>(k), weight[p.position][k]);
        }
        moved.push_back(p.position);
        moved.push_back(companion);
      }
      for (size_t n : moved) {
        uint32_t companion =
            interp::CompanionIndex(*second.derived, ir::ParamRole::Tangent, static_cast<uint32_t>(n));
        REQUIRE(companion != ir::kNoAttr);
        size_t count = interp::TangentCount(*gradient.module, reverse.TypeOf(reverse.Params()[n]), point[n]);
        for (size_t k = 0; k < count; ++k) {
          double t = random.Next(-1, 1);
          directions[n].push_back(t);
          second_arguments[companion].tensor.Set(static_cast<int64_t>(k), t);
        }
      }
      Execute(gradient, reverse, point, &directions);
      INFO(ir::Print(*second.module, *second.derived));
      Execute(second, *second.derived, second_arguments);
      for (size_t n : moved) {
        uint32_t companion =
            interp::CompanionIndex(*second.derived, ir::ParamRole::Tangent, static_cast<uint32_t>(n));
        for (size_t k = 0; k < directions[n].size(); ++k)
          CHECK(CompanionGet(second_arguments[companion].tensor, k) ==
                Approx(directions[n][k]).epsilon(1e-9).margin(1e-9));
      }
    }
  }
}

}  // namespace

std::string Compiled::Errors() const {
  return diag::PrintDiagnostics(*diagnostics, *sources, false);
}

Compiled Parse(const std::string& text, const std::string& scalar) {
  Compiled compiled;
  compiled.sources = std::make_unique<diag::SourceManager>();
  compiled.diagnostics = std::make_unique<diag::Diagnostics>();
  compiled.module =
      parse::ParseText("test.ir", WithScalar(text, scalar), {}, *compiled.sources, *compiled.diagnostics);
  REQUIRE(compiled.module != nullptr);
  return compiled;
}

Compiled Gradient(const std::string& text, const std::string& scalar, const std::string& kernel,
                  const autodiff::CheckpointConfig& checkpoints) {
  Compiled compiled = Shaped(text, scalar, kernel);
  REQUIRE(compiled.primal != nullptr);
  compiled.derived =
      test::DeriveWithCheckpoints(*compiled.module, *compiled.primal, checkpoints, *compiled.diagnostics);
  Finish(compiled);
  return compiled;
}

bool SetSegment(const ir::Function& gradient, int32_t length, interp::Arguments& arguments) {
  for (size_t n = 0; n < gradient.params.size(); ++n) {
    if (gradient.params[n].role != ir::ParamRole::Segment) continue;
    arguments[n] = interp::NumberArgument(ir::kI32, length);
    return true;
  }
  return false;
}

Compiled Tangent(const std::string& text, const std::string& scalar, const std::string& kernel,
                 bool of_gradient) {
  Compiled compiled = of_gradient ? Gradient(text, scalar, kernel) : Shaped(text, scalar, kernel);
  ir::Function* source = of_gradient ? compiled.derived : compiled.primal;
  REQUIRE(source != nullptr);
  compiled.derived = autodiff::DeriveForward(*compiled.module, *source, {}, *compiled.diagnostics);
  Finish(compiled);
  return compiled;
}

void CheckDerivatives(const std::string& text, const std::map<std::string, Input>& inputs,
                      const CheckOptions& options) {
  CheckScalar(text, inputs, "f64", options.f64_tolerance, options);
  if (options.f32) CheckScalar(text, inputs, "f32", options.f32_tolerance, options);
}

std::vector<double> AdjointOf(const std::string& text, const std::map<std::string, Input>& inputs,
                              const std::string& input, const std::string& output,
                              const std::string& scalar) {
  Compiled gradient = Gradient(text, scalar);
  INFO(gradient.Errors());
  REQUIRE(gradient.derived != nullptr);
  Compiled oracle = Parse(text, scalar);
  const ir::Function& kernel = *KernelOf(*oracle.module, "");
  interp::Arguments arguments = Bind(*oracle.module, kernel, inputs);
  Execute(oracle, kernel, arguments);
  interp::Arguments derived = interp::MakeDerivedArguments(*gradient.module, *gradient.derived, arguments);
  uint32_t seed = interp::CompanionIndex(*gradient.derived, ir::ParamRole::Adjoint,
                                         interp::ParameterIndex(*oracle.module, kernel, output));
  uint32_t wanted = interp::CompanionIndex(*gradient.derived, ir::ParamRole::Adjoint,
                                           interp::ParameterIndex(*oracle.module, kernel, input));
  REQUIRE(seed != ir::kNoAttr);
  REQUIRE(wanted != ir::kNoAttr);
  for (int64_t k = 0; k < derived[seed].tensor.ScalarCount(); ++k) derived[seed].tensor.Set(k, 1);
  Execute(gradient, *gradient.derived, derived);
  std::vector<double> result;
  for (int64_t k = 0; k < derived[wanted].tensor.ScalarCount(); ++k)
    result.push_back(derived[wanted].tensor.Get(k));
  return result;
}

std::string RefusalOf(const std::string& text, const std::string& scalar) {
  Compiled compiled = Shaped(text, scalar, "");
  compiled.derived = autodiff::DeriveReverse(*compiled.module, *compiled.primal, {}, *compiled.diagnostics);
  CHECK((compiled.derived == nullptr) == compiled.diagnostics->HasErrors());
  return compiled.derived == nullptr ? compiled.Errors() : std::string();
}

uint32_t CountOps(const Compiled& compiled, ir::Op op) {
  std::function<uint32_t(ir::Block)> count = [&](ir::Block block) {
    uint32_t total = 0;
    for (ir::Inst inst : (*compiled.derived)[block].insts) {
      const ir::InstData& data = (*compiled.derived)[inst];
      if (data.op == op) ++total;
      for (ir::Block region : data.regions)
        if (region.Valid()) total += count(region);
    }
    return total;
  };
  return count(compiled.derived->Body());
}

}  // namespace adc::testing
