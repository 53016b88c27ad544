#include "compile_source.h"

#include <charconv>

#include "codegen/common/back_ends.h"
#include "driver/compile.h"
#include "target/target.h"

namespace adc::tool {

namespace {

/// Asks for what makes a kernel of this name (`k.grad`, `k.jvp`, `k.jvp4`, `k.grad.jvp`, `k.grad.jvp4`), and
/// for nothing else: a kernel of the text runs whatever its gradient, or another kernel's, does not allow.
void DeriveFor(std::string_view kernel, driver::Derivations* derive) {
  constexpr std::string_view kForward = "jvp", kReverse = ".grad";
  derive->gradient = derive->tangent = false;
  derive->saves_alone = true;
  derive->only = kernel;
  size_t reverse = (std::string(kernel) + ".").rfind(std::string(kReverse) + ".");
  if (reverse != std::string_view::npos) {
    derive->gradient = true;
    derive->only = kernel.substr(0, reverse);
  }
  size_t dot = kernel.rfind('.');
  if (dot == std::string_view::npos || !kernel.substr(dot + 1).starts_with(kForward)) return;
  std::string_view number = kernel.substr(dot + 1 + kForward.size());
  bool of_gradient = derive->gradient && kernel.substr(0, dot).ends_with(kReverse);
  uint32_t directions = 1;
  if (!number.empty()) {
    auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), directions);
    bool whole = failure == std::errc() && end == number.data() + number.size();
    if (!whole || directions < 2 || directions > 64) return;
  }
  if (!of_gradient) {
    derive->gradient = false;
    derive->only = kernel.substr(0, dot);
  }
  if (directions == 1) {
    (of_gradient ? derive->gradient_tangent : derive->tangent) = true;
  } else {
    (of_gradient ? derive->gradient_directions : derive->directions).push_back(directions);
  }
}

}  // namespace

void ApplySource(const SourceOptions& source, driver::CompileOptions* compile) {
  compile->include_dirs = source.include_dirs;
  compile->import_dirs = source.import_dirs;
  compile->defines = source.defines;
  compile->clang_arguments = source.clang_arguments;
  compile->diff = source.diff;
  compile->entry = source.entry;
}

void ApplyDerivations(const OpenOptions& options, driver::CompileOptions* compile) {
  driver::Derivations& derive = compile->derive;
  derive.tangent = options.derive_tangents;
  derive.tangent_where_named = options.tangent_where_named;
  if (!options.derive_for) return;
  DeriveFor(*options.derive_for, &derive);
  if (!options.bounds_record || derive.gradient) return;
  // The record holds the bounds by which the gradient's loops go.
  derive.gradient = true;
  derive.only = *options.derive_for;
}

std::string TakeSimd(std::string_view word, uint16_t* simd) {
  if (word == "off" || word == "auto") {
    *simd = word == "auto" ? driver::kSimdAuto : 0;
    return {};
  }
  for (uint16_t lanes = 2; lanes <= 64; lanes *= 2) {
    if (word == std::to_string(lanes)) {
      *simd = lanes;
      return {};
    }
  }
  return "expects off, auto, or 2, 4, 8, 16, 32 or 64 iterations";
}

std::string TakeCheckpoint(std::string_view word, uint32_t* checkpoint) {
  if (word == "auto") {
    *checkpoint = driver::kCheckpointAtLaunch;
    return {};
  }
  int32_t number = 0;
  auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (failure != std::errc() || end != word.data() + word.size() || number < 1)
    return "takes a number of iterations from 1 to 2147483647, or auto";
  *checkpoint = static_cast<uint32_t>(number);
  return {};
}

bool WritesCodeFor(const target::Target& target) {
  return !codegen::WhyNoBackEnd(target);
}

int CompileSource(const std::string& path, const OpenOptions& options, std::vector<uint8_t>* bytes) {
  driver::CompileOptions compile;
  ApplyDerivations(options, &compile);
  ApplySource(options, &compile);
  compile.targets = options.targets;
  if (compile.targets.empty()) compile.targets = {target::HostTarget()};
  compile.float_mode = options.float_mode == "strict" ? driver::FloatMode::Strict
                       : options.float_mode == "fast" ? driver::FloatMode::Fast
                                                      : driver::FloatMode::Contract;
  if (!options.simd.empty()) TakeSimd(options.simd, &compile.simd);
  compile.check_bounds = options.check_bounds;
  compile.check_writes = options.check_writes;
  compile.save_overwritten = options.save_overwritten;
  compile.deterministic = options.deterministic;
  compile.keep_going = options.keep_going;
  compile.bounds_record = options.bounds_record;
  compile.prints = options.prints;
  compile.checkpoint = options.checkpoint;
  compile.prefix_map = options.prefix_map;
  compile.want_provisions = options.product != nullptr;
  product::Product own;
  product::Product& product = options.product != nullptr ? *options.product : own;
  ExitCode code = driver::CompileInputs({path}, compile, &product);
  if (code != kExitOk) return code;
  *bytes = std::move(product.bytes);
  return kExitOk;
}

}  // namespace adc::tool
