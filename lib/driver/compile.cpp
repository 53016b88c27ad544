// The whole way, a call and a sentence each:
//
//   text -> parse -> verify                    a module that is well formed
//        -> inline, unroll, scalarise, mem2reg,
//           simplify, isolate tasks            scalars and structured control: shaped for differentiation
//        -> reverse / forward                  derived kernels beside their primals
//        -> simplify -> plan adstacks          beyond this point every adstack has a capacity and a row
//        -> lower adstacks                     plain loads, stores, atomics
//        -> per target: emit, optimise, link   object and image, PTX, code object, SPIR-V, MSL
//        -> bundle                             metadata and payloads

#include "driver/compile.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "adstack/bounds_record.h"
#include "adstack/lower.h"
#include "adstack/plan.h"
#include "adstack/reference.h"
#include "adstack/size_kernel.h"
#include "adstack/trip_kernel.h"
#include "autodiff/accumulate.h"
#include "autodiff/exact_sums.h"
#include "autodiff/forward.h"
#include "autodiff/reverse.h"
#include "autodiff/save_overwritten.h"
#include "autodiff/stopped.h"
#include "autodiff/write_races.h"
#include "diag/errors/adstack.h"
#include "diag/errors/autodiff.h"
#include "diag/errors/driver.h"
#include "driver/check_limits.h"
#include "driver/files.h"
#include "driver/generate.h"
#include "driver/header.h"
#include "driver/lowered.h"
#include "driver/make_bundle.h"
#include "driver/metadata.h"
#include "driver/pass_runner.h"
#include "driver/plan_dump.h"
#include "driver/refusals.h"
#include "driver/report.h"
#include "driver/reproduction.h"
#include "driver/source_names.h"
#include "driver/targets.h"
#include "parse/parser.h"
#include "support/check.h"
#include "support/nearest.h"
#include "transform/check_writes.h"
#include "transform/inline.h"
#include "transform/memory_to_registers.h"
#include "transform/scalarise.h"
#include "transform/shape.h"
#include "transform/simplify.h"
#include "transform/sink_sums.h"
#include "verify/verify.h"

namespace adc::driver {

namespace {

/// One compilation of one module, from text to product. Each step returns false where the way ends.
class Compilation {
 public:
  Compilation(const std::vector<std::string>& inputs, const CompileOptions& options, Product* product)
      : inputs_(inputs),
        options_(options),
        product_(product),
        diagnostics_(options.error_limit),
        passes_(options.watch, diagnostics_, PrintToStandardError),
        reproduction_(options, ProducerName(), sources_) {}

  ExitCode Run() {
    bool finished = TakeTargets() && Read() && TakeActive() && Shape() && Derive();
    if (options_.emit == Emit::Ir) {
      // The module is what was asked for, however far --stop-after let it come.
      if (finished && !options_.watch.stop_after.empty()) finished = Lower();
      bool stopped = passes_.Stopped() && !passes_.Failed();
      if (finished || stopped) TakeText(ir::Print(*module_));
    } else if (finished) {
      // What fails has told the diagnostics, or the product's own failure.
      (void)(Lower() && Generate() && MakeProduct());
    }
    passes_.End();
    NameFiles(given_names_);
    bool errors = ReportDiagnostics(diagnostics_, sources_, options_);
    passes_.PrintTimes();
    if (options_.emit == Emit::Ir) {
      product_->module = std::move(module_);
      product_->sources = std::move(sources_);
    }
    if (unsupported_) return kExitUnsupported;
    if (usage_) return kExitUsage;
    return errors || passes_.Failed() ? kExitFailed : kExitOk;
  }

 private:
  bool TakeTargets();
  bool Read();
  bool Shape();
  bool TakeActive();
  bool Derive();
  bool SimplifyDerived();
  bool Lower();
  void PlanBounds(const ir::Function& gradient, const adstack::AdstackPlan& plan,
                  std::vector<PlannedKernel>* plans);
  bool Generate();
  bool GenerateCode();
  void LimitOptimisation();
  uint32_t InstructionLimit() const;
  bool LeaveOut(const Refusal& refusal, std::span<const codegen::KernelToEmit> kernels);
  /// Gives the source files these names, in order.
  void NameFiles(const std::vector<std::string>& names);
  codegen::CodeConfig ConfigFor(const target::Target& target) const;
  bool MakeProduct();
  bool TakeBytes(diag::Result<std::vector<uint8_t>> bytes);
  bool TakePayload(codegen::PayloadKind kind);
  void TakeText(std::string_view text) { product_->bytes.assign(text.begin(), text.end()); }
  std::vector<ir::Function*> Kernels() const;
  FloatMode Floats() const { return options_.deterministic ? FloatMode::Strict : options_.float_mode; }
  transform::FoldConfig Folding() const {
    return {Floats() == FloatMode::Fast ? transform::FloatRules::Fast : transform::FloatRules::Ieee};
  }
  /// Reports what a step returned. Always false.
  bool Fail(const diag::Diagnostic& failure) {
    diag::Diagnostic& copy = diagnostics_.Add(failure.severity, failure.id, failure.span, failure.text);
    copy.notes = failure.notes;
    copy.help = failure.help;
    return false;
  }

  /// What another target or kernel has given already is not repeated.
  void AddOnce(const diag::Diagnostic& found) {
    for (const diag::Diagnostic& given : diagnostics_.All()) {
      bool one_place = found.id == diag::E0504;  // a derived kernel may keep more values there
      if (given.id == found.id && given.span == found.span && (one_place || given.text == found.text)) return;
    }
    Fail(found);
  }

  const std::vector<std::string>& inputs_;
  const CompileOptions& options_;
  Product* product_;
  diag::SourceManager sources_;
  diag::Diagnostics diagnostics_;
  PassRunner passes_;
  Reproduction reproduction_;
  std::vector<target::Target> targets_;
  std::unique_ptr<ir::Module> module_;
  std::vector<ir::Function*> derived_;
  std::map<std::string, autodiff::KeptRecord> kept_;  ///< by the name of the gradient
  std::vector<LoweredModule> lowered_;                ///< the first is module_ itself
  std::vector<MadeTarget> made_;                      ///< those of the targets whose code there is
  artifact::Metadata metadata_;
  std::vector<std::string> given_names_;  ///< of the source files, as messages show them
  uint32_t optimisation_ = 0;             ///< that back ends use
  bool unsupported_ = false;
  bool usage_ = false;
};

std::vector<ir::Function*> Compilation::Kernels() const {
  std::vector<ir::Function*> kernels;
  for (const std::unique_ptr<ir::Function>& function : module_->functions) {
    if (function->IsKernel()) kernels.push_back(function.get());
  }
  return kernels;
}

bool Compilation::TakeTargets() {
  diag::Result<std::vector<target::Target>> chosen = ChooseTargets(options_);
  if (!chosen) {
    unsupported_ = chosen.Failure().id == diag::E0704;
    usage_ = !unsupported_;
    return Fail(chosen.Failure());
  }
  targets_ = std::move(*chosen);
  if (options_.deterministic && options_.float_mode == FloatMode::Fast) {
    usage_ = true;
    diagnostics_.Error(diag::E0463, {}, "--deterministic and --fp=fast exclude each other")
        .AddHelp("--deterministic computes as --fp=strict does: leave --fp=fast out");
    return false;
  }
  if (options_.libdevice.empty()) return true;
  diag::Status readable = CheckReadable(options_.libdevice);
  return readable || Fail(readable.Failure());
}

bool Compilation::Read() {
  parse::ParseConfig config;
  config.include_dirs = options_.include_dirs;
  config.import_dirs = options_.import_dirs;
  config.text_limit = options_.limits.text_mebibytes << 20;
  bool read = passes_.Observe("parse", [&] {
    if (inputs_.size() == 1 && inputs_[0] == "-") {
      diag::Result<std::string> text = ReadWhole("-", config.text_limit);
      if (!text) return Fail(text.Failure());
      module_ = parse::ParseText("<stdin>", std::move(*text), config, sources_, diagnostics_,
                                 &product_->dependencies);
    } else {
      module_ = parse::ParseFiles(inputs_, config, sources_, diagnostics_, &product_->dependencies);
    }
    return module_ != nullptr;
  });
  for (const std::unique_ptr<diag::SourceFile>& file : sources_.Files()) {
    file->name = MapPrefix(options_, file->name);
    given_names_.push_back(file->name);
  }
  // After errors in the text the rules are still checked, so that one run reports all that is wrong.
  if (module_ != nullptr && diagnostics_.HasErrors() && !diagnostics_.Full())
    verify::Verify(*module_, diagnostics_);
  if (!read) return false;
  if (passes_.Wants("parse")) passes_.PrintDump("after parse", ir::Print(*module_));
  return passes_.Run("verify", *module_, [&] { return verify::Verify(*module_, diagnostics_); });
}

/// What one function may grow to where calls are inlined and loops unrolled: no more than all may have.
uint32_t Compilation::InstructionLimit() const {
  return static_cast<uint32_t>(std::min<uint64_t>(options_.limits.operations, UINT32_MAX / 2));
}

bool Compilation::Shape() {
  transform::ShapeConfig config;
  config.fold = Folding();
  config.instruction_limit = InstructionLimit();
  config.observer = passes_.Observer();
  // Where vectors and matrices become scalars the operations multiply: they are counted before that is done.
  auto after = config.observer.after;
  config.observer.after = [&](std::string_view name, const ir::Module& module) {
    bool counted = name == "guard-tasks";
    return (!counted || CheckOperations(module, options_.limits, "as scalars", diagnostics_)) &&
           after(name, module);
  };
  if (!transform::ShapeForDifferentiation(*module_, config, diagnostics_) || diagnostics_.HasErrors()) {
    return passes_.Fail();
  }
  return !passes_.Stopped();
}

autodiff::CheckpointConfig CheckpointsOf(const CompileOptions& options) {
  using Which = autodiff::CheckpointConfig::Which;
  if (options.checkpoint == 0) return {Which::Marked, 0};
  if (options.checkpoint == kCheckpointAtLaunch) return {Which::AtLaunch, 0};
  return {Which::All, options.checkpoint};
}

/// Whether forward mode has no rule for a call: what the function names is for reverse mode only.
bool CallsWithoutTangent(const ir::Module& module, const ir::Function& kernel) {
  for (uint32_t block = 0; block < kernel.BlockCount(); ++block) {
    for (ir::Inst inst : kernel[ir::Block(block)].insts) {
      if (kernel[inst].op != ir::Op::Call || kernel.RegionCount(inst) != 0) continue;
      const ir::Function* callee = module.Find(kernel[inst].symbol);
      if (callee != nullptr && !callee->jvp.Valid()) return true;
    }
  }
  return false;
}

/// Whether a kernel saves values for a gradient that runs in a later state of its buffers.
bool Saves(const ir::Function& kernel) {
  return std::any_of(kernel.params.begin(), kernel.params.end(),
                     [](const ir::ParamInfo& info) { return info.role == ir::ParamRole::Saved; });
}

/// `--active`: the other `diff` parameters count as constants. Every name has to mean something in some
/// kernel. Before all passes: where a derivative stops must not depend on what they forward.
bool Compilation::TakeActive() {
  if (options_.active.empty()) return true;
  auto may_be_active = [&](const ir::Function& kernel, uint32_t n) {
    ir::Type type = kernel.TypeOf(kernel.Params()[n]);
    if (!type.IsLayout()) return kernel.params[n].diff;
    const std::vector<ir::LayoutField>& fields = module_->layouts[type.count].fields;
    return std::any_of(fields.begin(), fields.end(), [](const ir::LayoutField& field) { return field.diff; });
  };
  std::vector<std::string> candidates;
  for (ir::Function* kernel : Kernels()) {
    for (uint32_t n = 0; n < kernel->params.size(); ++n) {
      if (!may_be_active(*kernel, n)) continue;
      std::string name(module_->Text((*kernel)[kernel->Params()[n]].name));
      kernel->params[n].inactive =
          std::find(options_.active.begin(), options_.active.end(), name) == options_.active.end();
      candidates.push_back(std::move(name));
    }
  }
  bool good = true;
  for (const std::string& name : options_.active) {
    if (std::find(candidates.begin(), candidates.end(), name) != candidates.end()) continue;
    std::vector<std::string_view> names(candidates.begin(), candidates.end());
    std::string_view near = NearestName(name, names);
    diagnostics_
        .Error(diag::E0440, {},
               "--active names '" + name + "', and no kernel has a 'diff' parameter of that name")
        .AddHelp(near.empty() ? "it takes names of parameters without '%', a layout as a whole"
                              : "did you mean '" + std::string(near) + "'?");
    good = false;
  }
  return good || passes_.Fail();
}

bool Compilation::Derive() {
  // Only kernels with differentiable parameters have derivatives; the others are simply compiled.
  std::vector<ir::Function*> primals;
  for (ir::Function* kernel : Kernels()) {
    bool differentiable = false;
    for (uint32_t n = 0; n < kernel->params.size(); ++n) {
      const ir::ParamInfo& info = kernel->params[n];
      if (info.inactive) continue;
      differentiable = differentiable || info.diff;
      ir::Type type = kernel->TypeOf(kernel->Params()[n]);
      if (!type.IsLayout()) continue;
      for (const ir::LayoutField& field : module_->layouts[type.count].fields) {
        differentiable = differentiable || field.diff;
      }
    }
    if (differentiable) primals.push_back(kernel);
  }
  // Reverse mode looks at what it derives; any other kernel may store where iterations meet as well.
  for (ir::Function* kernel : Kernels()) {
    bool derived = options_.derive.gradient && !kernel->grad.Valid() &&
                   std::find(primals.begin(), primals.end(), kernel) != primals.end();
    if (kernel->role == ir::KernelRole::Primal && !derived)
      autodiff::CheckWriteRaces(*module_, *kernel, nullptr, diagnostics_);
  }
  // Every kernel is tried, so that one run reports what stands in the way of each.
  auto for_each = [&](const std::vector<ir::Function*>& kernels, auto derive) {
    bool good = true;
    for (ir::Function* kernel : kernels) {
      ir::Function* made = derive(*kernel);
      good = good && made != nullptr;
      if (made != nullptr) derived_.push_back(made);
    }
    return good;
  };
  for (const ir::Function* kernel : primals) {
    bool derived = options_.derive.tangent || (options_.derive.gradient && !kernel->grad.Valid());
    if (derived) autodiff::WarnOfStoppedDerivatives(*module_, *kernel, diagnostics_);
  }
  bool saved = !options_.derive.gradient || passes_.Run("save-overwritten", *module_, [&] {
    autodiff::SaveConfig config;
    config.overwritten = options_.save_overwritten;
    config.differentiated_again =
        options_.derive.gradient_tangent || !options_.derive.gradient_directions.empty();
    config.fold = Folding();
    return autodiff::SaveOverwritten(*module_, config, diagnostics_);
  });
  if (!saved) return false;
  bool reverse = !options_.derive.gradient || passes_.Run("reverse", *module_, [&] {
    return for_each(primals, [&](ir::Function& kernel) {
      autodiff::ReverseConfig config;
      config.reread_stored =
          !options_.derive.gradient_tangent && options_.derive.gradient_directions.empty() && !Saves(kernel);
      config.checkpoint = CheckpointsOf(options_);
      config.fold = Folding();
      return autodiff::DeriveReverse(*module_, kernel, config, diagnostics_,
                                     &kept_[std::string(module_->Text(kernel.name)) + ".grad"]);
    });
  });
  if (!reverse) return false;
  if (options_.derive.gradient_tangent || !options_.derive.gradient_directions.empty()) {
    // The derivatives that functions name are called by the gradients now, and are differentiated through.
    bool opened = passes_.Run("open-derivatives", *module_, [&] {
      transform::InlineConfig inlining;
      inlining.fold = Folding();
      inlining.instruction_limit = InstructionLimit();
      return CheckOperations(*module_, options_.limits, "with the gradients", diagnostics_) &&
             transform::Inline(*module_, inlining, diagnostics_) &&
             CheckOperations(*module_, options_.limits, "with the derivatives that the gradients call",
                             diagnostics_) &&
             transform::Scalarise(*module_, {Folding()}, diagnostics_);
    });
    if (!opened) return false;
  }
  std::vector<ir::Function*> forward_of, gradients = derived_;
  for (ir::Function* kernel : primals) {
    bool left_out = options_.derive.tangent_where_named && CallsWithoutTangent(*module_, *kernel);
    if (!left_out) forward_of.push_back(kernel);
  }
  // What is derived forward, and in how many directions at once.
  std::vector<std::pair<const std::vector<ir::Function*>*, uint32_t>> wanted;
  if (options_.derive.tangent) wanted.emplace_back(&forward_of, 1);
  for (uint32_t directions : options_.derive.directions) wanted.emplace_back(&forward_of, directions);
  if (options_.derive.gradient_tangent) wanted.emplace_back(&gradients, 1);
  for (uint32_t directions : options_.derive.gradient_directions) wanted.emplace_back(&gradients, directions);
  bool forward = wanted.empty() || passes_.Run("forward", *module_, [&] {
    bool good = true;
    for (const auto& [kernels, directions] : wanted) {
      good = for_each(*kernels,
                      [&](ir::Function& kernel) {
                        return autodiff::DeriveForward(*module_, kernel, {directions}, diagnostics_);
                      }) &&
             good;
    }
    return good;
  });
  return forward && SimplifyDerived();
}

bool Compilation::SimplifyDerived() {
  module_->phase = ir::Phase::Differentiated;
  // Calls that stayed for their own derivatives are inlined now, and what differentiation wrote is
  // cleaned.
  transform::InlineConfig inlining;
  inlining.keep_custom_derivatives = false;
  inlining.fold = Folding();
  inlining.instruction_limit = InstructionLimit();
  bool clean = passes_.Run("derived", *module_, [&] {
    return CheckOperations(*module_, options_.limits, "with the derived kernels", diagnostics_) &&
           transform::Inline(*module_, inlining, diagnostics_) &&
           transform::Scalarise(*module_, {Folding()}, diagnostics_) &&
           transform::MemoryToRegisters(*module_, {Folding()}, diagnostics_) &&
           transform::Simplify(*module_, {Folding()}, diagnostics_);
  });
  bool decided = clean && passes_.Run("accumulate", *module_, [&] {
    for (ir::Function* kernel : Kernels()) {
      autodiff::DecideAccumulation(*module_, *kernel);
      transform::SinkSums(*kernel);
    }
    return true;
  });
  bool exact = decided && (!options_.deterministic || passes_.Run("exact-sums", *module_, [&] {
                 return autodiff::MakeSumsExact(*module_, Folding(), diagnostics_);
               }));
  if (!exact || !options_.check_writes) return exact;
  // Derivatives exist by now, so that none is made from the checks.
  return passes_.Run("check-writes", *module_,
                     [&] { return transform::CheckWrites(*module_, diagnostics_); });
}

/// What adjoints read of the values that are made inside of loops and branches.
std::vector<adstack::NestReads> NestReadsOf(const autodiff::KeptRecord& record) {
  std::vector<adstack::NestReads> nests;
  for (const autodiff::KeptUnit& unit : record.units) {
    adstack::NestReads nest{unit.parallel, {}, unit.reads_4, unit.reads_8, unit.reads_integer};
    bool nested = unit.op == ir::Op::If;
    for (const autodiff::KeptUnit* at = &unit;; at = &record.units[at->around]) {
      if (at->op == ir::Op::For || at->op == ir::Op::While) nest.loops.insert(nest.loops.begin(), at->place);
      nested = nested || at->op == ir::Op::If;
      if (at->around == autodiff::KeptUnit::kNone) break;
    }
    bool reads = nest.floats_4 + nest.floats_8 + nest.integers > 0;
    if (reads && nest.parallel.Valid() && (nested || !nest.loops.empty())) nests.push_back(std::move(nest));
  }
  return nests;
}

/// The kernel with which `gradient` finds out that bounds have changed since its primal ran.
void Compilation::PlanBounds(const ir::Function& gradient, const adstack::AdstackPlan& plan,
                             std::vector<PlannedKernel>* plans) {
  adstack::BoundsKernel bounds = adstack::AddBoundsKernel(*module_, gradient, plan, diagnostics_);
  for (diag::SourceSpan place : bounds.missed) {
    diagnostics_.Warning(
        diag::W0501, place,
        "a change of this loop's bounds between the kernel and its gradient is not detected");
  }
  if (bounds.function != nullptr)
    plans->push_back({bounds.function, std::move(bounds.plan), std::move(bounds.loops)});
}

bool Compilation::Lower() {
  adstack::SizeKernelConfig size_config;
  // Without counting, rows behind gates are those of the worst case: no launch has to look at data.
  size_config.count_rows =
      !options_.forbid_s2 && std::any_of(targets_.begin(), targets_.end(),
                                         [](const target::Target& target) { return !target.IsCpu(); });
  size_config.count_elements = !options_.forbid_s2;
  adstack::PlanConfig plan_config;
  plan_config.forbid_s2 = options_.forbid_s2;
  plan_config.private_bytes = SmallestTapeBytes(targets_);
  bool bounded = passes_.Run("trips", *module_, [&] {
    for (ir::Function* kernel : Kernels()) adstack::AddTripKernels(*module_, *kernel);
    return true;
  });
  if (!bounded) return false;
  std::vector<PlannedKernel> plans;
  bool planned = passes_.Run("plan", *module_, [&] {
    for (ir::Function* kernel : Kernels()) {
      diag::Diagnostics found(0);
      adstack::AdstackPlan plan = adstack::PlanAdstacks(*module_, *kernel, plan_config, found);
      // What is wrong with a loop is wrong with it in every kernel derived from it.
      for (const diag::Diagnostic& one : found.All()) AddOnce(one);
      if (found.HasErrors()) continue;
      auto kept = kept_.find(std::string(module_->Text(kernel->name)));
      if (kept != kept_.end()) adstack::PlanReference(*module_, *kernel, NestReadsOf(kept->second), plan);
      // What no expression sizes is counted by a kernel of its own, which is compiled like the rest.
      for (adstack::SizeKernel& size :
           adstack::AddSizeKernels(*module_, *kernel, plan, size_config, diagnostics_)) {
        plans.push_back({size.function, std::move(size.plan)});
      }
      if (options_.bounds_record && kernel->role == ir::KernelRole::Gradient)
        PlanBounds(*kernel, plan, &plans);
      plans.push_back({kernel, std::move(plan)});
    }
    return true;
  });
  if (!planned) return false;
  // Checked accesses and assertions are numbered, once for all targets, in the code that they are in.
  bool alike = options_.check_bounds || options_.check_writes || options_.keep_asserts;
  lowered_ = DivideTargets(*module_, std::move(plans), targets_, alike);
  if (options_.want_plans) product_->plans = DumpPlans(lowered_, kept_, sources_);
  if (passes_.Wants("adstack")) {
    for (const PlanDump& dump : DumpPlans(lowered_, kept_, sources_))
      passes_.PrintDump(dump.title, dump.text);
  }
  adstack::LowerConfig config;
  config.guards = !options_.leave_out_guards;
  config.sets_phase_itself = true;
  for (LoweredModule& lowered : lowered_) {
    bool good = passes_.Run("lower", *lowered.module, [&] {
      for (PlannedKernel& kernel : lowered.kernels) {
        if (!adstack::LowerAdstacks(*lowered.module, *kernel.kernel, kernel.plan, diagnostics_, config))
          return false;
      }
      lowered.module->phase = ir::Phase::Lowered;
      return transform::Simplify(*lowered.module, {Folding()}, diagnostics_);
    });
    if (!good) return false;
  }
  return true;
}

codegen::FloatMode FloatModeOf(FloatMode mode) {
  switch (mode) {
    case FloatMode::Strict:
      return codegen::FloatMode::Strict;
    case FloatMode::Contract:
      return codegen::FloatMode::Contract;
    case FloatMode::Fast:
      return codegen::FloatMode::Fast;
  }
  ADC_UNREACHABLE("a float mode without a meaning");
}

codegen::CodeConfig Compilation::ConfigFor(const target::Target& target) const {
  codegen::CodeConfig config;
  config.target = target;
  config.optimise = optimisation_;
  config.float_mode = FloatModeOf(Floats());
  config.check_bounds = options_.check_bounds;
  config.assertions = options_.keep_asserts;
  config.debug_lines = options_.debug_info;
  config.sources = &sources_;
  config.producer = ProducerName();
  config.libdevice = options_.libdevice;
  config.want_object = options_.emit != Emit::Llvm && options_.emit != Emit::Json;
  config.want_image = options_.emit == Emit::Bundle;
  config.want_llvm_text = options_.emit == Emit::Llvm;
  return config;
}

void Compilation::NameFiles(const std::vector<std::string>& names) {
  for (size_t at = 0; at < names.size(); ++at) sources_.Files()[at]->name = names[at];
}

bool Compilation::Generate() {
  std::vector<std::string> names;
  for (const std::string& name : given_names_) names.push_back(ProductName(name, inputs_, options_));
  NameFiles(names);
  if (options_.emit == Emit::Header) {
    for (const target::Target& target : targets_)
      made_.push_back({target, ModuleOf(lowered_, target).kernels, {}});
  } else if (!passes_.Observe("codegen", [&] { return GenerateCode(); })) {
    return false;
  }
  metadata_ = BuildMetadata(*module_, lowered_.front().kernels, made_, sources_,
                            {.asserts = options_.keep_asserts,
                             .accesses = options_.check_bounds || options_.check_writes,
                             .bounds = options_.bounds_record});
  for (const auto& [target, kernels, code] : made_) {
    for (const codegen::StepTime& step : code.steps) {
      passes_.AddTime("  " + step.name + " " + target.name, step.seconds);
    }
  }
  return true;
}

/// A task that is too large is not optimised: LLVM would take minutes. The choice is one for all kernels of a
/// target, which share a module.
void Compilation::LimitOptimisation() {
  optimisation_ = options_.optimisation;
  if (optimisation_ == 0) return;
  for (const LoweredModule& lowered : lowered_) {
    for (const PlannedKernel& kernel : lowered.kernels) {
      uint64_t size = LargestTask(*kernel.kernel);
      if (size <= options_.limits.optimised || optimisation_ == 0) continue;
      optimisation_ = 0;
      diagnostics_
          .Warning(diag::W0701, kernel.kernel->span,
                   "a task of '@" + std::string(lowered.module->Text(kernel.kernel->name)) + "' has " +
                       std::to_string(size) + " operations, more than " +
                       std::to_string(options_.limits.optimised) + ": the code is made with -O0")
          .AddHelp(
              "use loops where code repeats, or allow more with --limit-optimised=N; the time grows with the "
              "square of a task's size");
    }
  }
}

bool Compilation::GenerateCode() {
  LimitOptimisation();
  std::vector<std::vector<codegen::KernelToEmit>> kernels;
  for (const LoweredModule& lowered : lowered_) {
    kernels.push_back(KernelsToEmit(lowered, options_.block_size));
  }
  std::vector<EmitJob> jobs;
  for (const target::Target& target : targets_) {
    const LoweredModule& lowered = ModuleOf(lowered_, target);
    jobs.push_back(
        {lowered.module, kernels[static_cast<size_t>(&lowered - lowered_.data())], ConfigFor(target)});
  }
  std::vector<diag::Result<codegen::TargetCode>> results = EmitAll(jobs);
  for (size_t at = 0; at < results.size(); ++at) {
    if (!results[at]) continue;
    for (const diag::Diagnostic& warning : results[at]->warnings) AddOnce(warning);
    made_.push_back({targets_[at], ModuleOf(lowered_, targets_[at]).kernels, std::move(*results[at])});
  }
  std::vector<Refusal> refusals;
  for (size_t at = 0; at < results.size(); ++at) {
    if (!results[at]) AddRefusal(targets_[at], results[at].Failure(), &refusals);
  }
  bool good = true;
  for (const Refusal& refusal : refusals) good = LeaveOut(refusal, kernels.front()) && good;
  return good;
}

/// Takes up what was refused: says so, and ends the compilation where nothing else is written.
bool Compilation::LeaveOut(const Refusal& refusal, std::span<const codegen::KernelToEmit> kernels) {
  bool inexpressible = IsInexpressible(refusal.failure.id);
  std::vector<std::string> able;
  for (const MadeTarget& made : made_) able.push_back(made.target.name);
  if (able.empty() && inexpressible) able = TargetsThatCan(*module_, kernels, refusal.targets.front().kind);
  diag::Diagnostic told = Tell(refusal, able, !made_.empty(), options_);
  bool ends = told.severity == diag::Severity::Error;
  unsupported_ = unsupported_ || (ends && inexpressible);
  Fail(told);
  return !ends;
}

bool Compilation::TakeBytes(diag::Result<std::vector<uint8_t>> bytes) {
  if (!bytes) return Fail(bytes.Failure());
  product_->bytes = std::move(*bytes);
  return true;
}

bool Compilation::TakePayload(codegen::PayloadKind kind) {
  const codegen::Payload* payload = made_[0].code.Find(kind);
  ADC_CHECK(payload != nullptr, "a back end made another form of code than its target's");
  product_->bytes = payload->bytes;
  return true;
}

bool Compilation::MakeProduct() {
  if (lowered_.front().kernels.empty()) {
    return Fail(diag::Fail(diag::E0707, {}, "no kernel in " + inputs_[0],
                           "a file of functions alone is imported by one that has kernels"));
  }
  switch (options_.emit) {
    case Emit::Bundle:
      return passes_.Observe("bundle", [&] { return TakeBytes(BundleBytes(metadata_, made_)); });
    case Emit::Json:
      return passes_.Observe("bundle", [&] {
        diag::Result<std::string> json = MetadataText(metadata_);
        if (!json) return Fail(json.Failure());
        TakeText(*json + "\n");
        return true;
      });
    case Emit::Object:
      return TakePayload(codegen::PayloadKind::Object);
    case Emit::Ptx:
      return TakePayload(codegen::PayloadKind::Ptx);
    case Emit::Hsaco:
      return TakePayload(codegen::PayloadKind::Hsaco);
    case Emit::Spirv:
      return TakePayload(codegen::PayloadKind::Spirv);
    case Emit::Msl:
      return TakePayload(codegen::PayloadKind::Msl);
    case Emit::Llvm:
      TakeText(made_[0].code.llvm_text);
      return true;
    case Emit::Header:
      TakeText(HeaderText(metadata_, std::filesystem::path(inputs_[0]).stem().string()));
      return true;
    case Emit::Ir:
      break;
  }
  ADC_UNREACHABLE("a kind of output without a way to make it");
}

}  // namespace

std::string ProducerName() {
  return "adc 0.1.0";
}

ExitCode CompileInputs(const std::vector<std::string>& inputs, const CompileOptions& options,
                       Product* product) {
  return Compilation(inputs, options, product).Run();
}

}  // namespace adc::driver
