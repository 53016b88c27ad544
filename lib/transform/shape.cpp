#include "transform/shape.h"

#include "support/check.h"
#include "transform/guard_tasks.h"
#include "transform/inline.h"
#include "transform/isolate_tasks.h"
#include "transform/loop_exits.h"
#include "transform/memory_to_registers.h"
#include "transform/scalarise.h"
#include "transform/simplify.h"
#include "transform/sink_singular.h"
#include "transform/unroll.h"

namespace adc::transform {

bool ShapeForDifferentiation(ir::Module& module, const ShapeConfig& config, diag::Diagnostics& diagnostics) {
  ADC_CHECK(module.phase == ir::Phase::Parsed, "a module is shaped once, right after it is verified");
  struct Step {
    const char* name;
    std::function<bool()> run;
  };
  InlineConfig inlining{.instruction_limit = config.instruction_limit, .fold = config.fold};
  UnrollConfig unrolling{.instruction_limit = config.instruction_limit, .fold = config.fold};
  auto simplify = [&] {
    return Simplify(module, {.fold = config.fold, .before_reverse = true}, diagnostics);
  };
  auto exits = [&] { return LowerLoopExits(module, config.fold, diagnostics); };
  auto guard = [&] {
    GuardTasks(module, config.fold);
    return true;
  };
  auto sink = [&] {
    SinkSingular(module);
    return true;
  };
  const Step steps[] = {
      // Beyond this point every region comes to its end.
      {"exits", exits},
      // Beyond this point only calls of functions with derivatives of their own are left.
      {"inline", [&] { return Inline(module, inlining, diagnostics); }},
      {"unroll", [&] { return Unroll(module, unrolling, diagnostics); }},
      // Beyond this point parallel loops stand at the top level.
      {"guard-tasks", guard},
      // Beyond this point registers hold scalars.
      {"scalarise", [&] { return Scalarise(module, {config.fold}, diagnostics); }},
      {"mem2reg", [&] { return MemoryToRegisters(module, {config.fold}, diagnostics); }},
      // Before anything leaves a loop, and once more where dead code does not read any longer.
      {"sink-singular", sink},
      {"simplify", simplify},
      // Beyond this point no value crosses from task to task.
      {"isolate-tasks", [&] { return IsolateTasks(module, {}, diagnostics); }},
      {"sink-singular", sink},
      {"simplify", simplify},
  };
  constexpr size_t kLast = std::size(steps) - 1;
  for (size_t n = 0; n <= kLast; ++n) {
    PassEnd end = RunPass(config.observer, steps[n].name, module, [&] {
      bool done = steps[n].run();
      if (done && n == kLast) module.phase = ir::Phase::Scalar;
      return done;
    });
    if (end != PassEnd::Done) return end == PassEnd::Stopped;
  }
  return true;
}

}  // namespace adc::transform
