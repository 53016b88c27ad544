// The pipeline, a row each. The declaration of a pass says what it does; this file says what a compilation
// asks of it. A row runs where the module is in one of its phases, in Phase::Parsed where it has the row's
// form as well, and a phase is given once, by the row that says so.

#include "driver/pipeline.h"

#include <algorithm>

#include "adstack/lower.h"
#include "autodiff/accumulate.h"
#include "autodiff/check_saved.h"
#include "autodiff/exact_sums.h"
#include "autodiff/forward.h"
#include "autodiff/reverse.h"
#include "autodiff/save_overwritten.h"
#include "autodiff/stopped.h"
#include "autodiff/write_races.h"
#include "counting/bounds_record.h"
#include "counting/record_prints.h"
#include "counting/size_kernel.h"
#include "counting/trip_kernel.h"
#include "diag/errors/adstack.h"
#include "diag/errors/autodiff.h"
#include "driver/check_limits.h"
#include "driver/report.h"
#include "ir/module.h"
#include "ir/wording.h"
#include "raise/body_lanes.h"
#include "raise/checks.h"
#include "raise/cuts.h"
#include "raise/decisions.h"
#include "raise/early_loads.h"
#include "raise/flat_access.h"
#include "raise/late_clears.h"
#include "raise/late_prologue.h"
#include "raise/one_worker.h"
#include "raise/own_math.h"
#include "raise/pairs.h"
#include "raise/private_sums.h"
#include "raise/products.h"
#include "raise/ranges.h"
#include "raise/spread.h"
#include "raise/teams.h"
#include "raise/turns.h"
#include "raise/unroll_and_jam.h"
#include "raise/worker_loop.h"
#include "support/check.h"
#include "transform/axes.h"
#include "transform/check_writes.h"
#include "transform/composed.h"
#include "transform/count_loops.h"
#include "transform/exits.h"
#include "transform/float_bits.h"
#include "transform/guard_tasks.h"
#include "transform/inline.h"
#include "transform/isolate_tasks.h"
#include "transform/memory_to_registers.h"
#include "transform/scalarise.h"
#include "transform/simplify.h"
#include "transform/sink_singular.h"
#include "transform/sink_sums.h"
#include "transform/unroll.h"
#include "transform/workgroups.h"
#include "verify/verify.h"

namespace adc::driver {

namespace {

using ir::Function, ir::Phase;
using verify::Form;

transform::FoldConfig Folding(const PipelineState& state) {
  bool fast = state.options.float_mode == FloatMode::Fast && !state.options.deterministic;
  return {fast ? transform::FloatRules::Fast : transform::FloatRules::Ieee};
}

/// The largest size of one function after calls are inlined and loops unrolled: the limit for all of them.
uint32_t InstructionLimit(const PipelineState& state) {
  return static_cast<uint32_t>(std::min<uint64_t>(state.options.limits.operations, UINT32_MAX / 2));
}

bool WithinLimits(PipelineState& state, const char* when) {
  return CheckOperations(state.module, state.options.limits, when, state.diagnostics);
}

std::vector<Function*> Kernels(const ir::Module& module) {
  std::vector<Function*> kernels;
  for (const std::unique_ptr<Function>& function : module.functions) {
    if (function->IsKernel()) kernels.push_back(function.get());
  }
  return kernels;
}

bool IsDifferentiable(const ir::Module& module, const Function& kernel) {
  for (uint32_t n = 0; n < kernel.params.size(); ++n) {
    const ir::ParamInfo& info = kernel.params[n];
    if (info.inactive) continue;
    if (info.diff) return true;
    ir::Type type = kernel.TypeOf(kernel.Params()[n]);
    if (!type.IsLayout()) continue;
    const std::vector<ir::LayoutField>& fields = module.layouts[type.count].fields;
    if (std::any_of(fields.begin(), fields.end(), [](const ir::LayoutField& field) { return field.diff; }))
      return true;
  }
  return false;
}

bool IsDerivedFrom(const Derivations& derive, const ir::Module& module, const Function& kernel) {
  return derive.only.empty() || module.Text(kernel.name) == derive.only;
}

/// Only kernels with differentiable parameters have derivatives; the others are simply compiled.
const std::vector<Function*>& Primals(PipelineState& state) {
  if (!state.primals) {
    state.primals.emplace();
    for (Function* kernel : Kernels(state.module)) {
      bool derived = IsDerivedFrom(state.options.derive, state.module, *kernel);
      if (derived && IsDifferentiable(state.module, *kernel)) state.primals->push_back(kernel);
    }
  }
  return *state.primals;
}

/// Gradients are differentiated in turn.
bool DerivesAgain(const CompileOptions& options) {
  return options.derive.gradient_tangent || !options.derive.gradient_directions.empty();
}

bool DerivesGradients(const CompileOptions& options) {
  return options.derive.gradient;
}

bool SavesValues(const CompileOptions& options) {
  return DerivesGradients(options) || options.derive.saves_alone;
}

bool DerivesForward(const CompileOptions& options) {
  return options.derive.tangent || !options.derive.directions.empty() || DerivesAgain(options);
}

// ---- Normalise

bool Verify(PipelineState& state) {
  for (const PipelineState::Version& version : state.Modules()) {
    if (!verify::Verify(*version.module, state.diagnostics)) return false;
  }
  return true;
}

bool Locals(PipelineState& state) {
  return transform::MemoryToRegisters(state.module, {.fold = Folding(state), .scalars_alone = true},
                                      state.diagnostics);
}

bool Exits(PipelineState& state) {
  return transform::LowerExits(state.module, Folding(state), state.diagnostics);
}

bool Inline(PipelineState& state) {
  transform::InlineConfig config{.instruction_limit = InstructionLimit(state), .fold = Folding(state)};
  return transform::Inline(state.module, config, state.diagnostics);
}

bool Unroll(PipelineState& state) {
  // In the text of the IR, the author marks the loops to unroll.
  transform::UnrollConfig config{.instruction_limit = InstructionLimit(state),
                                 .fold = Folding(state),
                                 .small = state.module.door == ir::Door::Cpp};
  return transform::Unroll(state.module, config, state.diagnostics);
}

bool GuardTasks(PipelineState& state) {
  transform::GuardTasks(state.module, Folding(state));
  // The operations multiply when vectors and matrices become scalars: they are counted before that.
  return WithinLimits(state, "as scalars");
}

bool Scalarise(PipelineState& state) {
  return transform::Scalarise(state.module, {Folding(state)}, state.diagnostics);
}

bool MemoryToRegisters(PipelineState& state) {
  return transform::MemoryToRegisters(state.module, {.fold = Folding(state)}, state.diagnostics);
}

bool Workgroups(PipelineState& state) {
  return transform::SplitWorkgroups(state.module, Folding(state), state.diagnostics);
}

bool SinkSingular(PipelineState& state) {
  transform::SinkSingular(state.module);
  return true;
}

bool Simplify(PipelineState& state) {
  bool before_reverse = state.module.phase < Phase::Differentiated;
  return transform::Simplify(state.module, {.fold = Folding(state), .before_reverse = before_reverse},
                             state.diagnostics);
}

bool Axes(PipelineState& state) {
  for (Function* kernel : Kernels(state.module)) transform::DropAxes(*kernel);
  return true;
}

bool CountLoops(PipelineState& state) {
  transform::CountLoops(state.module, {Folding(state)});
  return true;
}

bool FloatBits(PipelineState& state) {
  transform::FloatBits(state.module, Folding(state));
  return true;
}

bool IsolateTasks(PipelineState& state) {
  return transform::IsolateTasks(state.module, {}, state.diagnostics);
}

// ---- Differentiate

bool SavesOverwritten(const PipelineState& state, const Function& kernel) {
  return state.options.save_overwritten && !state.left_unsaved.contains(kernel.name);
}

/// Whether the gradient of a kernel may run in a later state of its buffers.
bool RunsLater(const PipelineState& state, const Function& kernel) {
  return SavesOverwritten(state, kernel) ||
         std::any_of(kernel.params.begin(), kernel.params.end(), [](const ir::ParamInfo& info) {
           return info.save || info.role == ir::ParamRole::Saved;
         });
}

bool RereadsStored(const PipelineState& state, const Function& kernel) {
  return !DerivesAgain(state.options) && !RunsLater(state, kernel);
}

/// Whether forward mode has no rule for a call: the derivative that the function names is for reverse mode
/// only.
bool CallsWithoutTangent(const ir::Module& module, const Function& kernel) {
  for (uint32_t block = 0; block < kernel.BlockCount(); ++block) {
    for (ir::Inst inst : kernel[ir::Block(block)].insts) {
      if (kernel[inst].op != ir::Op::Call || kernel.RegionCount(inst) != 0) continue;
      const Function* callee = module.Find(kernel[inst].symbol);
      if (callee != nullptr && !callee->jvp.Valid()) return true;
    }
  }
  return false;
}

/// A kernel of another language may lack its marks by mistake; the author of a text in the IR knows them.
void TellOfNothing(PipelineState& state) {
  std::vector<Function*> kernels = Kernels(state.module);
  bool is_asked =
      state.options.derive.gradient && state.options.derive.only.empty() && !state.options.native_images;
  if (!is_asked || kernels.empty() || !Primals(state).empty() || state.module.door == ir::Door::Text) return;
  diag::Diagnostic remark{
      diag::Severity::Remark, diag::W0463, kernels[0]->span,
      "nothing is marked " + ir::AttributeText(state.module, "diff") + ": what is written has no gradient"};
  state.diagnostics.Add(remark.AddHelp("mark what is differentiated, or ask for none with --derive=none"));
}

bool CheckPrimals(PipelineState& state) {
  const std::vector<Function*>& primals = Primals(state);
  const Derivations& derive = state.options.derive;
  // Reverse mode looks at what it derives; any other kernel may store where iterations meet as well.
  for (Function* kernel : Kernels(state.module)) {
    bool derived = derive.gradient && !kernel->grad.Valid() &&
                   std::find(primals.begin(), primals.end(), kernel) != primals.end();
    if (kernel->role == ir::KernelRole::Primal && !derived)
      autodiff::CheckWriteRaces(state.module, *kernel, nullptr, state.diagnostics);
  }
  for (const Function* kernel : primals) {
    bool derived = derive.tangent || (derive.gradient && !kernel->grad.Valid());
    if (derived) autodiff::WarnOfStoppedDerivatives(state.module, *kernel, state.diagnostics);
  }
  TellOfNothing(state);
  return true;
}

bool SaveOverwritten(PipelineState& state) {
  autodiff::SaveConfig config;
  config.overwritten = state.options.save_overwritten;
  config.left = [&](const Function& kernel) { state.left_unsaved.insert(kernel.name); };
  config.differentiated_again = DerivesAgain(state.options);
  // An attribute asks to save the reads of a gradient; where none is made, a value that cannot be saved is
  // not missed.
  config.optional = !DerivesGradients(state.options) && !state.options.save_overwritten;
  config.fold = Folding(state);
  config.saves = [&](const Function& kernel) {
    return IsDerivedFrom(state.options.derive, state.module, kernel);
  };
  return autodiff::SaveOverwritten(state.module, config, state.diagnostics);
}

autodiff::CheckpointConfig CheckpointsOf(const CompileOptions& options) {
  using Which = autodiff::CheckpointConfig::Which;
  if (options.checkpoint == 0) return {Which::Marked, 0};
  if (options.checkpoint == kCheckpointAtLaunch) return {Which::AtLaunch, 0};
  return {Which::All, options.checkpoint};
}

bool Checkpoint(PipelineState& state) {
  for (Function* kernel : Primals(state)) {
    std::optional<autodiff::SegmentedKernel> made =
        autodiff::SegmentForCheckpoints(state.module, *kernel, CheckpointsOf(state.options),
                                        RereadsStored(state, *kernel), Folding(state), state.diagnostics);
    if (made) state.segmented.push_back(*made);
  }
  return true;
}

bool Reverse(PipelineState& state) {
  bool good = true;
  // Every kernel is tried, so that one run reports what stands in the way of each.
  for (Function* kernel : Primals(state)) {
    autodiff::ReverseConfig config;
    config.reread_stored = RereadsStored(state, *kernel);
    auto segmented =
        std::find_if(state.segmented.begin(), state.segmented.end(),
                     [&](const autodiff::SegmentedKernel& made) { return made.primal == kernel; });
    Function* gradient =
        autodiff::DeriveReverse(state.module, *kernel, config, state.diagnostics,
                                &state.provisions[std::string(state.module.Text(kernel->name)) + ".grad"],
                                segmented == state.segmented.end() ? nullptr : &*segmented);
    good = good && gradient != nullptr;
    if (gradient != nullptr) state.gradients.push_back(gradient);
  }
  return good;
}

/// The derivatives that functions name are called by the gradients now, and are differentiated through.
bool OpenDerivatives(PipelineState& state) {
  return WithinLimits(state, "with the gradients") && Inline(state) &&
         WithinLimits(state, "with the derivatives that the gradients call") && Scalarise(state);
}

bool Forward(PipelineState& state) {
  const Derivations& derive = state.options.derive;
  std::vector<Function*> primals;
  for (Function* kernel : Primals(state)) {
    bool left_out = derive.tangent_where_named && CallsWithoutTangent(state.module, *kernel);
    if (!left_out) primals.push_back(kernel);
  }
  bool good = true;
  auto derive_all = [&](const std::vector<Function*>& kernels, uint32_t directions) {
    for (Function* kernel : kernels) {
      good =
          autodiff::DeriveForward(state.module, *kernel, {directions}, state.diagnostics) != nullptr && good;
    }
  };
  if (derive.tangent) derive_all(primals, 1);
  for (uint32_t directions : derive.directions) derive_all(primals, directions);
  if (derive.gradient_tangent) derive_all(state.gradients, 1);
  for (uint32_t directions : derive.gradient_directions) derive_all(state.gradients, directions);
  return good;
}

/// Calls that stayed for their own derivatives are inlined now, and the derived kernels are simplified.
bool Derived(PipelineState& state) {
  transform::InlineConfig inlining;
  inlining.keep_custom_derivatives = false;
  inlining.fold = Folding(state);
  inlining.instruction_limit = InstructionLimit(state);
  return WithinLimits(state, "with the derived kernels") &&
         transform::Inline(state.module, inlining, state.diagnostics) && Scalarise(state) &&
         MemoryToRegisters(state) && transform::Simplify(state.module, {Folding(state)}, state.diagnostics);
}

bool CheckSaved(PipelineState& state) {
  return autodiff::CheckSaved(
      state.module, [&](const Function& primal) { return SavesOverwritten(state, primal); },
      state.diagnostics);
}

bool Accumulate(PipelineState& state) {
  for (Function* kernel : Kernels(state.module)) {
    autodiff::DecideAccumulation(state.module, *kernel);
    transform::SinkSums(*kernel);
  }
  return true;
}

bool ExactSums(PipelineState& state) {
  return autodiff::MakeSumsExact(state.module, Folding(state), state.diagnostics);
}

bool CheckWrites(PipelineState& state) {
  return transform::CheckWrites(state.module, state.diagnostics);
}

bool Prints(PipelineState& state) {
  state.prints = counting::RecordPrints(state.module, Folding(state));
  return WithinLimits(state, "with records of what is printed");
}

// ---- Plan

/// Takes out the assertions of `block`, which no option asks for. One that stands alone between loops would
/// count as a task, and there is no code for it.
void DropAssertions(Function& kernel, ir::Block block) {
  std::erase_if(kernel[block].insts, [&](ir::Inst inst) {
    return kernel[inst].op == ir::Op::Assert && !kernel[inst].Has(ir::Word::Promise);
  });
  for (ir::Inst inst : kernel[block].insts) {
    for (uint32_t region = 0; region < kernel.RegionCount(inst); ++region)
      DropAssertions(kernel, kernel[inst].regions[region]);
  }
}

bool Functions(PipelineState& state) {
  if (!state.options.keep_asserts) {
    for (Function* kernel : Kernels(state.module)) DropAssertions(*kernel, kernel->Body());
  }
  transform::ExpandFunctions(state.module, Folding(state));
  return CheckOperations(state.module, state.options.limits, "with functions written out", state.diagnostics);
}

bool Trips(PipelineState& state) {
  for (Function* kernel : Kernels(state.module)) counting::AddTripKernels(state.module, *kernel);
  return true;
}

/// The kernel with which `gradient` finds out that bounds have changed since its primal ran.
void PlanBounds(PipelineState& state, const Function& gradient, const adstack::AdstackPlan& plan,
                std::vector<product::PlannedKernel>* plans) {
  counting::BoundsKernel bounds = counting::AddBoundsKernel(state.module, gradient, plan, state.diagnostics);
  for (diag::SourceSpan place : bounds.missed) {
    state.diagnostics.Warning(
        diag::W0501, place,
        "a change of this loop's bounds between the kernel and its gradient is not detected");
  }
  if (bounds.function != nullptr)
    plans->push_back({bounds.function, std::move(bounds.plan), std::move(bounds.loops)});
}

/// Code that leaves the compiler without a loader is launched by the user's own program, which checks
/// nothing.
void WarnOfTrust(PipelineState& state, const adstack::AdstackPlan& plan) {
  Emit emit = state.options.emit;
  if (emit < Emit::Object || emit > Emit::Msl) return;
  for (const adstack::TaskPlan& task : plan.tasks) {
    for (const adstack::PlannedPromise& promise : task.promises) {
      diag::Diagnostic warning{
          diag::Severity::Warning, diag::W0502, promise.place,
          "what is promised of this is checked by the loader of bundles, and not by this code"};
      AddOnce(warning, state.diagnostics);
    }
  }
}

bool Plan(PipelineState& state) {
  const CompileOptions& options = state.options;
  counting::SizeKernelConfig size_config;
  // Without counting, rows behind gates are those of the worst case: no launch has to look at data.
  size_config.count_rows =
      !options.forbid_s2 && std::any_of(state.targets.begin(), state.targets.end(),
                                        [](const target::Target& target) { return !target.IsCpu(); });
  size_config.count_elements = !options.forbid_s2;
  adstack::PlanConfig plan_config;
  plan_config.forbid_s2 = options.forbid_s2;
  plan_config.private_bytes = SmallestTapeBytes(state.targets);
  std::vector<product::PlannedKernel> plans;
  for (Function* kernel : Kernels(state.module)) {
    diag::Diagnostics found(0);
    adstack::AdstackPlan plan = adstack::PlanAdstacks(state.module, *kernel, plan_config, found);
    // An error in a loop occurs in every kernel derived from it.
    for (const diag::Diagnostic& one : found.All()) AddOnce(one, state.diagnostics);
    if (found.HasErrors()) continue;
    // A size that no expression gives is counted by a kernel of its own, which is compiled like the rest.
    for (counting::SizeKernel& size :
         counting::AddSizeKernels(state.module, *kernel, plan, size_config, state.diagnostics)) {
      plans.push_back({size.function, std::move(size.plan)});
    }
    WarnOfTrust(state, plan);
    if (options.bounds_record && kernel->role == ir::KernelRole::Gradient)
      PlanBounds(state, *kernel, plan, &plans);
    plans.push_back({kernel, std::move(plan)});
  }
  if (state.diagnostics.HasErrors()) return false;
  // Checked accesses and assertions are numbered, once for all targets, in the code that they are in.
  bool alike = options.check_bounds || options.check_writes || options.keep_asserts;
  state.lowered = DivideTargets(state.module, std::move(plans), state.targets, alike);
  return true;
}

bool Lower(PipelineState& state) {
  adstack::LowerConfig config;
  config.guards = !state.options.leave_out_guards;
  for (LoweredModule& lowered : state.lowered) {
    for (product::PlannedKernel& kernel : lowered.kernels) {
      if (!adstack::LowerAdstacks(*lowered.module, *kernel.kernel, kernel.plan, state.diagnostics, config))
        return false;
    }
    if (!transform::Simplify(*lowered.module, {Folding(state)}, state.diagnostics)) return false;
  }
  return true;
}

// ---- Raise

bool Raise(PipelineState& state) {
  // A text that passes run on by themselves has no plan: its targets share one module.
  std::vector<LoweredModule> whole(1);
  whole[0].module = &state.module;
  if (state.lowered.empty()) whole[0].targets.assign(state.targets.begin(), state.targets.end());
  state.raised = CopyForTargets(state.lowered.empty() ? whole : state.lowered, state.options);
  return true;
}

/// One of lib/raise over every kernel of every raised module.
template <auto kPass>
bool OverRaised(PipelineState& state) {
  if (state.raised.empty()) Raise(state);
  for (RaisedModule& raised : state.raised) {
    for (Function* kernel : Kernels(*raised.module)) kPass(*raised.module, *kernel, raised.config);
  }
  return true;
}

constexpr auto kParsed = Phase::Parsed, kScalar = Phase::Scalar, kDerived = Phase::Differentiated,
               kLowered = Phase::Lowered, kRaised = Phase::Raised;
constexpr std::optional<Phase> kSame;

// clang-format off
constexpr Pass kPasses[] = {
    {"parse", Stage::Read, nullptr, kParsed, kParsed, Form::Any, kSame,
     "text becomes a module, imports included"},
    {"verify", Stage::Read, Verify, kParsed, kRaised, Form::Any, kSame,
     "the rules of docs/ir.md hold, or errors say where they do not"},

    {"locals", Stage::Normalise, Locals, kParsed, kParsed, Form::Any, kSame,
     "replaces the variables of a program, arrays of one element, by values"},
    // Beyond this point every region comes to its end.
    {"exits", Stage::Normalise, Exits, kParsed, kParsed, Form::Any, kSame,
     "takes `break`, `continue` and scopes out"},
    // Beyond this point only calls of functions with derivatives of their own are left.
    {"inline", Stage::Normalise, Inline, kParsed, kParsed, Form::NoExits, kSame,
     "replaces calls by bodies, except of functions with derivatives of their own"},
    {"count-loops", Stage::Normalise, CountLoops, kParsed, kScalar, Form::NoExits, kSame,
     "makes `for` of each `while` that counts to a bound which it does not change, or gives it the bound"},
    {"unroll", Stage::Normalise, Unroll, kParsed, kParsed, Form::Inlined, kSame,
     "replaces loops marked `unroll` by copies of their bodies, and small ones of C++ over local arrays"},
    // Beyond this point parallel loops stand at the top level.
    {"guard-tasks", Stage::Normalise, GuardTasks, kParsed, kParsed, Form::Unrolled, kSame,
     "takes `parallel` out of branches"},
    // Beyond this point registers hold scalars.
    {"scalarise", Stage::Normalise, Scalarise, kParsed, kParsed, Form::Flat, kSame,
     "takes vectors, matrices and random numbers apart into scalars"},
    {"mem2reg", Stage::Normalise, MemoryToRegisters, kParsed, kScalar, Form::Scalars, kSame,
     "replaces local arrays by values where all indices are constants"},
    // Beyond this point no invocation waits for another one.
    {"workgroups", Stage::Normalise, Workgroups, kParsed, kParsed, Form::Scalars, kSame,
     "runs the invocations of a workgroup one after the other, from barrier to barrier"},
    // Before values are hoisted out of loops, and once more after dead code is dropped.
    {"sink-singular", Stage::Normalise, SinkSingular, kParsed, kScalar, Form::Scalars, kSame,
     "moves a value into the only branch that reads it, if its derivative may be infinite"},
    {"simplify", Stage::Normalise, Simplify, kParsed, kLowered, Form::NoExits, kSame,
     "folds, shares, hoists and forwards values, and drops dead code"},
    // What is not needed is not read any more.
    {"axes", Stage::Normalise, Axes, kParsed, kParsed, Form::Scalars, kSame,
     "leaves out the axes of loops whose bounds are `if_read`, if nothing reads bound and index"},
    // Counters and bounds in memory are values by now.
    {"count-loops", Stage::Normalise, CountLoops, kParsed, kScalar, Form::Scalars, kSame,
     "once more, after counters in memory have become values"},
    {"float-bits", Stage::Normalise, FloatBits, kParsed, kScalar, Form::Scalars, kSame,
     "makes signs, choices and swaps of floats of arithmetic on their bits, through which derivatives pass"},
    // Beyond this point no value crosses from task to task.
    {"isolate-tasks", Stage::Normalise, IsolateTasks, kParsed, kParsed, Form::Narrowed, kScalar,
     "passes values from task to task: computes them again, or stores them in scratch memory"},
    {"sink-singular", Stage::Normalise, SinkSingular, kParsed, kScalar, Form::Scalars, kSame,
     "once more, after dead code is dropped"},
    {"simplify", Stage::Normalise, Simplify, kParsed, kLowered, Form::NoExits, kSame,
     "once more"},

    {"check-primals", Stage::Differentiate, CheckPrimals, kScalar, kScalar, Form::Any, kSame,
     "refuses stores of two iterations to one element, and warns of derivatives that stop in memory"},
    {"save-overwritten", Stage::Differentiate, SaveOverwritten, kScalar, kScalar, Form::Any, kSame,
     "stores values that are overwritten and that gradients read, where an option or attribute says so",
     SavesValues},
    {"checkpoint", Stage::Differentiate, Checkpoint, kScalar, kScalar, Form::Any, kSame,
     "adds `k.segmented`, with loops over segments, for gradients with checkpoints",
     DerivesGradients, "reverse"},
    {"reverse", Stage::Differentiate, Reverse, kScalar, kScalar, Form::Any, kSame,
     "adds gradients, `k.grad`, in the place of `k.segmented`", DerivesGradients},
    {"open-derivatives", Stage::Differentiate, OpenDerivatives, kScalar, kScalar, Form::Any, kSame,
     "inlines the derivatives that functions name, so that gradients can be differentiated",
     DerivesAgain},
    {"forward", Stage::Differentiate, Forward, kScalar, kScalar, Form::Any, kSame,
     "adds forward mode, `k.jvp`, and forward over reverse, `k.grad.jvp`", DerivesForward},
    // Beyond this point no call is left.
    {"derived", Stage::Differentiate, Derived, kScalar, kScalar, Form::Any, kDerived,
     "inlines the remaining calls and simplifies derived kernels"},
    {"check-saved", Stage::Differentiate, CheckSaved, kDerived, kDerived, Form::Any, kSame,
     "refuses gradients that read what their kernels should have saved", DerivesGradients},
    {"accumulate", Stage::Differentiate, Accumulate, kDerived, kDerived, Form::Any, kSame,
     "decides which sums into adjoints need no atomic, and moves sums into branches"},
    {"exact-sums", Stage::Differentiate, ExactSums, kDerived, kDerived, Form::Any, kSame,
     "makes sums of floats exact where several iterations sum into one cell",
     [](const CompileOptions& options) { return options.deterministic; }},
    // Derivatives exist by now, so that none is made from the checks.
    {"check-writes", Stage::Differentiate, CheckWrites, kDerived, kDerived, Form::Any, kSame,
     "adds checks to primals: of their promises about writes",
     [](const CompileOptions& options) { return options.check_writes; }},
    {"prints", Stage::Differentiate, Prints, kDerived, kDerived, Form::Any, kSame,
     "makes records in a buffer of the caller of what is printed",
     [](const CompileOptions& options) { return options.prints; }},

    // Beyond this point back ends know all functions that are left.
    {"functions", Stage::Plan, Functions, kDerived, kDerived, Form::Any, kSame,
     "writes functions such as expm1 in other operations"},
    {"trips", Stage::Plan, Trips, kDerived, kDerived, Form::Any, kSame,
     "adds kernels that count iterations which no size expression bounds"},
    // Beyond this point every adstack has a capacity and a row.
    {"plan", Stage::Plan, Plan, kDerived, kDerived, Form::Any, kSame,
     "gives adstacks capacities and places, and adds size and bounds kernels",
     nullptr, "lower", "trips"},
    // Beyond this point memory is plain.
    {"lower", Stage::Plan, Lower, kDerived, kDerived, Form::Any, kLowered,
     "replaces adstacks by loads and stores, with a guard before every tape", nullptr, {}, "plan"},

    // Beyond this point there is a module for each kind of target.
    {"raise", Stage::Raise, Raise, kLowered, kLowered, Form::Any, kRaised,
     "copies the module for each group of targets that the passes after this one treat alike"},
    // Beyond this point every report has its number: code may move.
    {"checks", Stage::Raise, OverRaised<raise::RaiseChecks>, kRaised, kRaised, Form::Any, kSame,
     "makes branches and reports of assertions, and of accesses with --check-bounds"},
    {"teams", Stage::Raise, OverRaised<raise::MakeTeams>, kRaised, kRaised, Form::Any, kSame,
     "devices: marks parallel loops whose iterations the threads of a block run together, as workgroups do"},
    {"unroll-and-jam", Stage::Raise, OverRaised<raise::UnrollAndJam>, kRaised, kRaised, Form::Any, kSame,
     "devices: runs the units of a layer side by side, so that they share what they load"},
    {"private-sums", Stage::Raise, OverRaised<raise::MarkPrivateSums>, kRaised, kRaised, Form::Any, kSame,
     "marks sums into cells where iterations meet, for each thread to make in a copy of its own"},
    {"worker-loop", Stage::Raise, OverRaised<raise::MarkWorkerLoops>, kRaised, kRaised, Form::Any, kSame,
     "marks parallel loops whose bounds may have moved, and those with little work in most or all iterations"},
    {"flat-access", Stage::Raise, OverRaised<raise::MarkFlatAccesses>, kRaised, kRaised, Form::Any, kSame,
     "devices: marks accesses that follow the iteration, so that no division tells its counters apart"},
    {"body-lanes", Stage::Raise, OverRaised<raise::MarkBodyLanes>, kRaised, kRaised, Form::Any, kSame,
     "processors: marks parallel loops whose iterations run side by side in vectors"},
    {"early-loads", Stage::Raise, OverRaised<raise::LoadEarly>, kRaised, kRaised, Form::Any, kSame,
     "devices: moves loads in front of loops that fill tapes"},
    {"late-prologue", Stage::Raise, OverRaised<raise::DelayPrologue>, kRaised, kRaised, Form::Any, kSame,
     "devices: moves what a task computes before its loop into the branch that alone reads it"},
    {"late-clears", Stage::Raise, OverRaised<raise::DelayClears>, kRaised, kRaised, Form::Any, kSame,
     "moves stores of constants behind the last use of what was loaded from their cells"},
    // Beyond this point no pass makes or moves arithmetic.
    {"decisions", Stage::Raise, OverRaised<raise::MarkDecisions>, kRaised, kRaised, Form::Any, kSame,
     "marks what decides about branches, addresses and kinks, which is computed as it is written"},
    {"products", Stage::Raise, OverRaised<raise::MarkProducts>, kRaised, kRaised, Form::Any, kSame,
     "marks products that the sum that reads them may take in, as one operation"},
    {"pairs", Stage::Raise, OverRaised<raise::MarkPairs>, kRaised, kRaised, Form::Any, kSame,
     "marks sines and cosines of one angle, which one call gives"},
    {"ranges", Stage::Raise, OverRaised<raise::MarkRanges>, kRaised, kRaised, Form::Any, kSame,
     "marks arithmetic of i32 that cannot wrap"},
    {"turns", Stage::Raise, OverRaised<raise::MarkTurns>, kRaised, kRaised, Form::Any, kSame,
     "devices: marks loops over slots of rows of which several turns run at once"},
    {"spread", Stage::Raise, OverRaised<raise::SpreadLoops>, kRaised, kRaised, Form::Any, kSame,
     "devices: marks tasks with long loops whose turns the threads of a block may share in launches of few iterations"},
    {"own-math", Stage::Raise, OverRaised<raise::MarkOwnMath>, kRaised, kRaised, Form::Any, kSame,
     "processors: marks functions for which code has functions of its own, which run in lanes too"},
    {"one-worker", Stage::Raise, OverRaised<raise::MarkOneWorker>, kRaised, kRaised, Form::Any, kSame,
     "processors: marks loops with a form for one worker, sums for copies, and how far apart iterations meet"},
    {"cuts", Stage::Raise, OverRaised<raise::MarkCuts>, kRaised, kRaised, Form::Any, kSame,
     "processors: marks where large tasks are cut into several functions"},

    {"codegen", Stage::Write, nullptr, kRaised, kRaised, Form::Any, kSame,
     "per target: object and image, PTX, a code object, SPIR-V, or Metal's source"},
    {"bundle", Stage::Write, nullptr, kRaised, kRaised, Form::Any, kSame,
     "metadata and payloads in one canonical file"},
};
// clang-format on

}  // namespace

std::vector<PipelineState::Version> PipelineState::Modules() const {
  std::vector<Version> versions;
  auto names = [](const std::vector<target::Target>& of) {
    std::string list;
    for (const target::Target& target : of) list += (list.empty() ? "" : ", ") + target.name;
    return list;
  };
  for (const RaisedModule& one : raised) versions.push_back({one.module.get(), names(one.targets)});
  if (versions.empty() && module.phase == Phase::Lowered) {
    for (const LoweredModule& one : lowered) versions.push_back({one.module, names(one.targets)});
  }
  if (versions.empty()) versions.push_back({&module, {}});
  if (versions.size() == 1) versions[0].targets.clear();
  return versions;
}

const ir::Module& PipelineState::First() const {
  return raised.empty() ? module : *ModuleOf(raised, targets.front()).module;
}

std::span<const Pass> Pipeline() {
  return kPasses;
}

const Pass* FindPass(std::string_view name) {
  for (const Pass& pass : kPasses) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

std::vector<std::string_view> PassNames() {
  std::vector<std::string_view> names;
  for (const Pass& pass : kPasses) {
    if (std::find(names.begin(), names.end(), pass.name) == names.end()) names.push_back(pass.name);
  }
  return names;
}

std::vector<std::string_view> DumpNames() {
  std::vector<std::string_view> names = PassNames();
  std::erase_if(names, [](std::string_view name) { return FindPass(name)->stage == Stage::Write; });
  return names;
}

std::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::Parsed:
      return "parsed";
    case Phase::Scalar:
      return "scalar";
    case Phase::Differentiated:
      return "differentiated";
    case Phase::Lowered:
      return "lowered";
    case Phase::Raised:
      return "raised";
  }
  ADC_UNREACHABLE("a phase without a name");
}

bool RunPass(const Pass& pass, PipelineState& state) {
  ADC_CHECK(pass.RunsIn(state.module.phase), "a pass runs in a phase that it is not for");
  if (!pass.run(state) || state.diagnostics.HasErrors()) return false;
  if (pass.gives) {
    for (const LoweredModule& lowered : state.lowered) lowered.module->phase = *pass.gives;
    for (const RaisedModule& raised : state.raised) raised.module->phase = *pass.gives;
    state.module.phase = *pass.gives;
  }
  return true;
}

bool RunStage(Stage stage, PipelineState& state) {
  for (const Pass& pass : kPasses) {
    bool runs =
        pass.stage == stage && pass.run != nullptr && (pass.wanted == nullptr || pass.wanted(state.options));
    if (runs && !RunPass(pass, state)) return false;
  }
  return true;
}

bool Normalise(ir::Module& module, diag::Diagnostics& diagnostics, const CompileOptions& options) {
  PipelineState state{module, options, diagnostics};
  return RunStage(Stage::Normalise, state);
}

}  // namespace adc::driver
