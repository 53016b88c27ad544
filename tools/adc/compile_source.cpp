#include "compile_source.h"

#include "driver/compile.h"
#include "target/target.h"

namespace adc::tool {

int CompileSource(const std::string& path, const OpenOptions& options, std::vector<uint8_t>* bytes) {
  driver::CompileOptions compile;
  compile.derive.tangent = options.derive_tangents;
  compile.derive.tangent_where_named = options.tangent_where_named;
  compile.include_dirs = options.include_dirs;
  compile.targets = options.targets;
  if (compile.targets.empty()) compile.targets = {target::HostTarget()};
  compile.check_bounds = options.check_bounds;
  compile.check_writes = options.check_writes;
  compile.save_overwritten = options.save_overwritten;
  compile.keep_going = options.keep_going;
  compile.bounds_record = options.bounds_record;
  compile.want_plans = options.plans != nullptr;
  driver::Product product;
  driver::ExitCode code = driver::CompileInputs({path}, compile, &product);
  if (code != driver::kExitOk) return code;
  *bytes = std::move(product.bytes);
  for (const driver::PlanDump& plan : product.plans) {
    if (options.plans != nullptr) *options.plans += plan.text + "\n";
  }
  return driver::kExitOk;
}

}  // namespace adc::tool
