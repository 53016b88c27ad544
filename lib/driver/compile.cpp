// The whole way, a call and a sentence each:
//
//   text -> parse -> verify                         a module that is well formed
//        -> inline, unroll, scalarise, mem2reg,
//           simplify, isolate tasks                 only scalars and structured control: shaped for
//           differentiation
//        -> reverse / forward                       derived kernels beside their primals
//        -> simplify -> plan adstacks               beyond this point every adstack has a capacity and a row
//        -> lower adstacks                          plain loads, stores, atomics
//        -> per target: emit, optimise, link        object and image, PTX, code object, SPIR-V, MSL
//        -> bundle                                  metadata and payloads

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
#include "artifact/bundle.h"
#include "autodiff/accumulate.h"
#include "autodiff/forward.h"
#include "autodiff/reverse.h"
#include "driver/depfile.h"
#include "driver/files.h"
#include "driver/generate.h"
#include "driver/header.h"
#include "driver/lowered.h"
#include "driver/metadata.h"
#include "driver/pass_runner.h"
#include "driver/report.h"
#include "driver/targets.h"
#include "parse/parser.h"
#include "support/check.h"
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

using diag::ErrorId;

/// Why targets get no code. Several targets may refuse for one reason.
struct Refusal {
  diag::Diagnostic failure;             ///< as the first target gave it
  std::vector<target::Target> targets;  ///< in the order asked for
};

/// One compilation of one module, from text to product. Each step returns false where the way ends.
class Compilation {
 public:
  Compilation(const std::vector<std::string>& inputs, const CompileOptions& options, Product* product)
      : inputs_(inputs),
        options_(options),
        product_(product),
        diagnostics_(options.error_limit),
        passes_(options.watch, diagnostics_, PrintToStandardError) {}

  ExitCode Run() {
    bool finished = TakeTargets() && Read() && Shape() && Derive();
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
    if (unsupported_) return kExitUnsupported;
    if (usage_) return kExitUsage;
    return errors || passes_.Failed() ? kExitFailed : kExitOk;
  }

 private:
  bool TakeTargets();
  bool Read();
  bool Shape();
  bool Derive();
  bool SimplifyDerived();
  bool Lower();
  void DumpPlans();
  void PlanBounds(const ir::Function& gradient, const adstack::AdstackPlan& plan,
                  std::vector<PlannedKernel>* plans);
  bool Generate();
  bool GenerateCode();
  std::vector<codegen::KernelToEmit> KernelsToEmit(const LoweredModule& lowered) const;
  bool LeaveOut(const Refusal& refusal, std::span<const codegen::KernelToEmit> kernels);
  /// Gives the source files these names, in order.
  void NameFiles(const std::vector<std::string>& names);
  codegen::CodeConfig ConfigFor(const target::Target& target) const;
  bool MakeProduct();
  bool MakeBundle();
  bool TakePayload(codegen::PayloadKind kind);
  void TakeText(std::string_view text) { product_->bytes.assign(text.begin(), text.end()); }
  std::vector<ir::Function*> Kernels() const;
  transform::FoldConfig Folding() const {
    return {options_.float_mode == FloatMode::Fast ? transform::FloatRules::Fast
                                                   : transform::FloatRules::Ieee};
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
      bool one_place = found.id == ErrorId::E0504;  // a derived kernel may keep more values there
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
  std::vector<target::Target> targets_;
  std::unique_ptr<ir::Module> module_;
  std::vector<ir::Function*> derived_;
  std::map<std::string, autodiff::KeptRecord> kept_;  ///< by the name of the gradient
  std::vector<LoweredModule> lowered_;                ///< the first is module_ itself
  std::vector<MadeTarget> made_;                      ///< those of the targets whose code there is
  artifact::Metadata metadata_;
  std::vector<std::string> given_names_;  ///< of the source files, as messages show them
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
    unsupported_ = chosen.Failure().id == ErrorId::E0704;
    usage_ = !unsupported_;
    return Fail(chosen.Failure());
  }
  targets_ = std::move(*chosen);
  if (options_.libdevice.empty()) return true;
  diag::Status readable = CheckReadable(options_.libdevice);
  return readable || Fail(readable.Failure());
}

bool Compilation::Read() {
  parse::ParseConfig config;
  config.include_dirs = options_.include_dirs;
  for (const std::string& input : inputs_) {
    if (input == "-") continue;
    if (diag::Status readable = CheckReadable(input); !readable) Fail(readable.Failure());
  }
  if (diagnostics_.HasErrors()) return passes_.Fail();
  bool read = passes_.Observe("parse", [&] {
    if (inputs_.size() == 1 && inputs_[0] == "-") {
      diag::Result<std::string> text = ReadWhole("-");
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

bool Compilation::Shape() {
  transform::ShapeConfig config;
  config.fold = Folding();
  config.observer = passes_.Observer();
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

bool Compilation::Derive() {
  // Only kernels with differentiable parameters have derivatives; the others are simply compiled.
  std::vector<ir::Function*> primals;
  for (ir::Function* kernel : Kernels()) {
    bool differentiable = false;
    for (const ir::ParamInfo& info : kernel->params) differentiable = differentiable || info.diff;
    for (ir::Value param : kernel->Params()) {
      ir::Type type = kernel->TypeOf(param);
      if (!type.IsLayout()) continue;
      for (const ir::LayoutField& field : module_->layouts[type.count].fields) {
        differentiable = differentiable || field.diff;
      }
    }
    if (differentiable) primals.push_back(kernel);
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
  bool reverse = !options_.derive.gradient || passes_.Run("reverse", *module_, [&] {
    return for_each(primals, [&](ir::Function& kernel) {
      autodiff::ReverseConfig config;
      config.reread_stored = !options_.derive.gradient_tangent;
      config.checkpoint = CheckpointsOf(options_);
      config.fold = Folding();
      return autodiff::DeriveReverse(*module_, kernel, config, diagnostics_,
                                     &kept_[std::string(module_->Text(kernel.name)) + ".grad"]);
    });
  });
  if (!reverse) return false;
  if (options_.derive.gradient_tangent) {
    // The derivatives that functions name are called by the gradients now, and are differentiated through.
    bool opened = passes_.Run("open-derivatives", *module_, [&] {
      transform::InlineConfig inlining;
      inlining.fold = Folding();
      return transform::Inline(*module_, inlining, diagnostics_) &&
             transform::Scalarise(*module_, {Folding()}, diagnostics_);
    });
    if (!opened) return false;
  }
  std::vector<ir::Function*> forward_of;
  if (options_.derive.tangent) forward_of = primals;
  if (options_.derive.gradient_tangent) forward_of.insert(forward_of.end(), derived_.begin(), derived_.end());
  bool forward = forward_of.empty() || passes_.Run("forward", *module_, [&] {
    return for_each(forward_of, [&](ir::Function& kernel) {
      return autodiff::DeriveForward(*module_, kernel, {}, diagnostics_);
    });
  });
  return forward && SimplifyDerived();
}

bool Compilation::SimplifyDerived() {
  module_->phase = ir::Phase::Differentiated;
  // Calls that were kept for their own derivatives are inlined now, and what differentiation wrote is
  // cleaned.
  transform::InlineConfig inlining;
  inlining.keep_custom_derivatives = false;
  inlining.fold = Folding();
  bool clean = passes_.Run("derived", *module_, [&] {
    return transform::Inline(*module_, inlining, diagnostics_) &&
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
  if (!decided || !options_.check_writes) return decided;
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

/// "1 (cpu:x86-64), 32 (cuda:sm_80, vulkan:1.2)": by how many lanes rows interleave, and where.
std::string LanesText(const std::vector<target::Target>& targets) {
  std::map<uint32_t, std::string> by_lanes;
  for (const target::Target& target : targets) {
    std::string& names = by_lanes[target.row_lanes];
    names += (names.empty() ? "" : ", ") + target.name;
  }
  std::string text;
  for (const auto& [lanes, names] : by_lanes)
    text += (text.empty() ? "" : ", ") + std::to_string(lanes) + " (" + names + ")";
  return text;
}

/// The kernel with which `gradient` finds out that bounds have changed since its primal ran.
void Compilation::PlanBounds(const ir::Function& gradient, const adstack::AdstackPlan& plan,
                             std::vector<PlannedKernel>* plans) {
  adstack::BoundsKernel bounds = adstack::AddBoundsKernel(*module_, gradient, plan, diagnostics_);
  for (diag::SourceSpan place : bounds.missed) {
    diagnostics_.Warning(
        ErrorId::W0501, place,
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
  if (passes_.Wants("adstack")) DumpPlans();
  adstack::LowerConfig config;
  config.guards = !options_.leave_out_guards;
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

/// Each kernel's plan, and where small tapes live differently on some targets, the plan for these.
void Compilation::DumpPlans() {
  for (size_t n = 0; n < lowered_.front().kernels.size(); ++n) {
    const adstack::AdstackPlan& first = lowered_.front().kernels[n].plan;
    std::vector<std::vector<target::Target>> alike;
    for (const LoweredModule& lowered : lowered_) {
      bool same = !alike.empty() && adstack::SameStorage(lowered.kernels[n].plan, first);
      std::vector<target::Target>& list = same ? alike.front() : alike.emplace_back();
      list.insert(list.end(), lowered.targets.begin(), lowered.targets.end());
    }
    for (const LoweredModule& lowered : lowered_) {
      const auto& [kernel, plan, loops] = lowered.kernels[n];
      bool is_first = &lowered == &lowered_.front();
      if (!is_first && adstack::SameStorage(plan, first)) continue;
      std::string title = "adstack";
      const std::vector<target::Target>& targets = is_first ? alike.front() : lowered.targets;
      for (const target::Target& target : targets) {
        if (alike.size() > 1) title += (title == "adstack" ? " of " : ", ") + target.name;
      }
      passes_.PrintDump(title,
                        adstack::PrintPlan(*lowered.module, *kernel, plan, sources_, LanesText(targets)));
      auto kept = kept_.find(std::string(module_->Text(kernel->name)));
      if (is_first && kept != kept_.end() && !kept->second.units.empty())
        passes_.PrintDump("adstack", autodiff::PrintKept(kept->first, kept->second, sources_));
    }
  }
}

/// Where the stacks of each task lie among its cells, for the code generator.
std::vector<codegen::TaskRows> RowsOf(const adstack::AdstackPlan& plan) {
  std::vector<codegen::TaskRows> tasks;
  for (const adstack::TaskPlan& task : plan.tasks) {
    codegen::TaskRows rows;
    rows.groups = static_cast<uint32_t>(task.groups.size());
    for (const adstack::PlannedGroup& group : task.groups) rows.gated.push_back(group.gated);
    uint32_t position = 0;
    for (const adstack::PlannedStack& stack : task.stacks) {
      bool in_row = stack.storage == artifact::Storage::kRow;
      rows.row_position.push_back(in_row ? position++ : ir::kNoAttr);
    }
    tasks.push_back(std::move(rows));
  }
  return tasks;
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
  config.optimise = options_.optimisation;
  config.float_mode = FloatModeOf(options_.float_mode);
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

/// What a product calls a source file: its path from the folder of an input or of -I, or what
/// --file-prefix-map makes of it. So the bytes do not depend on where the sources lie or where the compiler
/// runs.
std::string ProductName(const std::string& name, const std::vector<std::string>& inputs,
                        const CompileOptions& options) {
  for (const auto& [before, after] : options.prefix_map) {
    if (!after.empty() && name.starts_with(after)) return name;
  }
  std::vector<std::string> folders;
  for (const std::string& input : inputs) {
    folders.push_back(MapPrefix(options, std::filesystem::path(input).parent_path().string()));
    folders.push_back(std::filesystem::absolute(input).parent_path().string());
  }
  folders.insert(folders.end(), options.include_dirs.begin(), options.include_dirs.end());
  for (const std::string& folder : folders) {
    std::string head = folder.ends_with('/') || folder.empty() ? folder : folder + "/";
    bool relative = !name.starts_with('/') || !head.empty();
    if (relative && name.starts_with(head)) return name.substr(head.size());
  }
  return std::filesystem::path(name).filename().string();
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

/// A block that a device can run, near what a kernel or the command line asks for; 0 where nobody asks.
uint32_t DeviceBlock(uint32_t asked) {
  constexpr uint32_t kLanes = 32, kMost = 1024;
  return std::min(kMost, (asked + kLanes - 1) / kLanes * kLanes);
}

/// Adds why `target` gets no code, to what another target has given as the same reason where one has.
void AddRefusal(const target::Target& target, const diag::Diagnostic& failure,
                std::vector<Refusal>* refusals) {
  auto without_name = [](std::string text, const std::string& name) {
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at))
      text.erase(at, name.size());
    return text;
  };
  for (Refusal& known : *refusals) {
    bool same = known.failure.id == failure.id && known.failure.span == failure.span &&
                without_name(known.failure.text, known.targets.front().name) ==
                    without_name(failure.text, target.name);
    if (!same) continue;
    known.targets.push_back(target);
    return;
  }
  refusals->push_back({failure, {target}});
}

std::vector<codegen::KernelToEmit> Compilation::KernelsToEmit(const LoweredModule& lowered) const {
  std::vector<codegen::KernelToEmit> kernels;
  for (const PlannedKernel& planned : lowered.kernels) {
    codegen::KernelToEmit& kernel = kernels.emplace_back(planned.kernel, RowsOf(planned.plan));
    for (const adstack::TaskPlan& task : planned.plan.tasks) {
      kernel.block_size.push_back(DeviceBlock(task.block_size != 0 ? task.block_size : options_.block_size));
    }
  }
  return kernels;
}

bool Compilation::GenerateCode() {
  std::vector<std::vector<codegen::KernelToEmit>> kernels;
  for (const LoweredModule& lowered : lowered_) kernels.push_back(KernelsToEmit(lowered));
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

/// What becomes of targets whose back end failed. Where others are written and these may be missing,
/// because nobody asked for them or because of --keep-going, that is said and the compilation goes on.
bool Compilation::LeaveOut(const Refusal& refusal, std::span<const codegen::KernelToEmit> kernels) {
  diag::Diagnostic told = refusal.failure;
  const target::Target& target = refusal.targets.front();
  std::string refused = target.name;
  for (size_t at = 1; at < refusal.targets.size(); ++at) {
    refused += ", " + refusal.targets[at].name;
    told.AddNote({}, "the same holds for " + refusal.targets[at].name);
  }
  if (!IsInexpressible(told.id)) return Fail(told);
  std::vector<std::string> able;
  for (const MadeTarget& made : made_) able.push_back(made.target.name);
  if (able.empty()) able = TargetsThatCan(*module_, kernels, target.kind);
  std::string list;
  for (const std::string& name : able) list += (list.empty() ? "" : ", ") + name;
  if (!list.empty()) told.AddNote({}, "targets that can: " + list);
  bool asked_for = !options_.targets.empty();
  // A warning that -Werror makes an error ends the compilation: nothing is written then.
  bool is_error = asked_for && (!options_.keep_going || BecomesError(told.id, options_));
  if (made_.empty() || is_error) {
    if (!made_.empty() && told.help.empty()) {
      told.AddHelp(options_.keep_going ? "without -Werror the other targets are written"
                                       : "--keep-going writes the other targets");
    }
    unsupported_ = true;
    return Fail(told);
  }
  told.severity = asked_for ? diag::Severity::Warning : diag::Severity::Remark;
  told.AddNote({}, "what is written has no code for " + refused);
  Fail(told);
  return true;
}

/// Turns an error of the artifact format, which only a kernel beyond the format's limits can cause, into one
/// of ours.
diag::Diagnostic CannotBundle(const artifact::Error& error) {
  return diag::Fail(ErrorId::E0706, {}, "the bundle cannot be made: " + std::string(error.message()));
}

uint32_t SectionOf(codegen::PayloadKind kind) {
  switch (kind) {
    case codegen::PayloadKind::Object:
      return artifact::section::kObject;
    case codegen::PayloadKind::Image:
      return artifact::section::kImage;
    case codegen::PayloadKind::Ptx:
      return artifact::section::kPtx;
    case codegen::PayloadKind::Hsaco:
      return artifact::section::kHsaco;
    case codegen::PayloadKind::Spirv:
      return artifact::section::kSpirv;
    case codegen::PayloadKind::Msl:
      return artifact::section::kMsl;
  }
  ADC_UNREACHABLE("a payload without a section");
}

bool Compilation::MakeBundle() {
  artifact::String json;
  artifact::Error error;
  if (!artifact::CheckMetadata(metadata_, artifact::Limits(), &error) ||
      !artifact::WriteMetadata(metadata_, &json, &error)) {
    return Fail(CannotBundle(error));
  }
  if (options_.emit == Emit::Json) {
    TakeText(json.view());
    product_->bytes.push_back('\n');
    return true;
  }
  std::vector<artifact::SectionInput> sections;
  auto add = [&](uint32_t kind, uint32_t target, std::span<const uint8_t> bytes) {
    if (bytes.empty()) return;
    sections.push_back(
        {.kind = kind, .target = target, .required = kind == artifact::section::kMeta, .bytes = bytes});
  };
  add(artifact::section::kMeta, artifact::kNoTarget,
      {reinterpret_cast<const uint8_t*>(json.data()), json.size()});
  for (uint32_t target = 0; target < made_.size(); ++target) {
    for (const codegen::Payload& payload : made_[target].code.payloads)
      add(SectionOf(payload.kind), target, payload.bytes);
  }
  artifact::Vector<uint8_t> file;
  if (!artifact::WriteBundle(sections, &file, &error)) return Fail(CannotBundle(error));
  product_->bytes.assign(file.begin(), file.end());
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
    return Fail(diag::Fail(ErrorId::E0707, {}, "no kernel in " + inputs_[0],
                           "a file of functions alone is imported by one that has kernels"));
  }
  switch (options_.emit) {
    case Emit::Bundle:
    case Emit::Json:
      return passes_.Observe("bundle", [&] { return MakeBundle(); });
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

/// The name of the depfile of `output`.
std::string DepfileName(const CompileOptions& options, const std::string& output) {
  return options.depfile.empty() ? output + ".d" : options.depfile;
}

void ReportOne(const diag::Diagnostic& failure, const CompileOptions& options) {
  diag::Diagnostics diagnostics;
  diagnostics.Error(failure.id, {}, failure.text).AddHelp(failure.help);
  ReportDiagnostics(diagnostics, diag::SourceManager(), options);
}

/// That no output would replace a file that was read.
diag::Status KeepSources(const std::vector<std::string>& outputs, const std::vector<std::string>& read) {
  for (const std::string& output : outputs) {
    for (const std::string& source : read) {
      std::error_code missing;
      if (output == "-" || !std::filesystem::equivalent(output, source, missing)) continue;
      return diag::Fail(ErrorId::E0705, {},
                        "the output '" + output + "' would replace the input '" + source + "'",
                        "name another file");
    }
  }
  return diag::Unit{};
}

ExitCode WriteOutputs(const std::vector<std::string>& inputs, const CompileOptions& options,
                      const std::string& output) {
  Product product;
  ExitCode code = CompileInputs(inputs, options, &product);
  if (code != kExitOk) return code;
  if (!options.watch.stop_after.empty() && product.bytes.empty()) return kExitOk;
  bool depfile = options.write_depfile || !options.depfile.empty();
  // What goes to standard output is made for the bundle, as far as a build system is concerned.
  std::string made = output == "-" ? DefaultOutput(inputs[0], Emit::Bundle) : output;
  std::vector<std::string> outputs = {output};
  if (depfile) outputs.push_back(DepfileName(options, made));
  if (diag::Status safe = KeepSources(outputs, product.dependencies); !safe) {
    ReportOne(safe.Failure(), options);
    return kExitUsage;
  }
  diag::Status written = WriteWhole(output, product.bytes);
  if (written && depfile) {
    std::string target = options.depfile_target.empty() ? made : options.depfile_target;
    written = WriteWhole(outputs.back(), DepfileText(target, product.dependencies));
  }
  if (written) return kExitOk;
  ReportOne(written.Failure(), options);
  return kExitFailed;
}

}  // namespace

std::string ProducerName() {
  return "adc 0.1.0";
}

std::string MapPrefix(const CompileOptions& options, std::string name) {
  for (auto entry = options.prefix_map.rbegin(); entry != options.prefix_map.rend(); ++entry) {
    if (name.starts_with(entry->first)) return entry->second + name.substr(entry->first.size());
  }
  return name;
}

std::string DefaultOutput(const std::string& input, Emit emit) {
  const char* extension;
  switch (emit) {
    case Emit::Bundle:
      extension = ".adcb";
      break;
    case Emit::Object:
      extension = ".o";
      break;
    case Emit::Ptx:
      extension = ".ptx";
      break;
    case Emit::Hsaco:
      extension = ".hsaco";
      break;
    case Emit::Spirv:
      extension = ".spv";
      break;
    case Emit::Msl:
      extension = ".metal";
      break;
    case Emit::Header:
      extension = ".h";
      break;
    case Emit::Ir:
    case Emit::Llvm:
    case Emit::Json:
      return "-";
  }
  std::string stem = std::filesystem::path(input).stem().string();
  return (stem.empty() || stem == "-" ? "out" : stem) + extension;
}

ExitCode CompileInputs(const std::vector<std::string>& inputs, const CompileOptions& options,
                       Product* product) {
  return Compilation(inputs, options, product).Run();
}

ExitCode CompileToFiles(const CompileOptions& options) {
  if (!options.output.empty() || options.inputs.size() == 1) {
    std::string output =
        options.output.empty() ? DefaultOutput(options.inputs[0], options.emit) : options.output;
    return WriteOutputs(options.inputs, options, output);
  }
  std::map<std::string, std::string> written_for;
  for (const std::string& input : options.inputs) {
    std::string output = DefaultOutput(input, options.emit);
    auto [first, is_new] = written_for.emplace(output, input);
    if (is_new || output == "-") continue;
    ReportOne(
        diag::Fail(ErrorId::E0705, {},
                   "'" + first->second + "' and '" + input + "' would both be written to '" + output + "'",
                   "compile one at a time with -o, or both into one file with -o"),
        options);
    return kExitUsage;
  }
  ExitCode worst = kExitOk;
  for (const std::string& input : options.inputs) {
    ExitCode code = WriteOutputs({input}, options, DefaultOutput(input, options.emit));
    if (worst == kExitOk) worst = code;
  }
  return worst;
}

}  // namespace adc::driver
