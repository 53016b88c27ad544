// From text to product: the work of the driver around the passes. Their table is pipeline.cpp.

#include "driver/compile.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "codegen/common/math_file.h"
#include "codegen/common/shader_layout.h"
#include "diag/errors/autodiff.h"
#include "diag/errors/cpp.h"
#include "diag/errors/driver.h"
#include "diag/errors/shader.h"
#include "driver/check_limits.h"
#include "driver/file_errors.h"
#include "driver/generate.h"
#include "driver/lowered.h"
#include "driver/pass_runner.h"
#include "driver/pipeline.h"
#include "driver/plan_dump.h"
#include "driver/read_cpp.h"
#include "driver/read_shader.h"
#include "driver/refusals.h"
#include "driver/report.h"
#include "driver/reproduction.h"
#include "driver/source_names.h"
#include "driver/targets.h"
#include "host/files.h"
#include "host/input_kind.h"
#include "host/program_identity.h"
#include "host/terminal.h"
#include "ir/module.h"
#include "parse/parser.h"
#include "product/header.h"
#include "product/make_bundle.h"
#include "product/metadata.h"
#include "product/prints_text.h"
#include "product/product_cache.h"
#include "product/shader_header.h"
#include "product/shader_json.h"
#include "product/version.h"
#include "support/check.h"
#include "support/nearest.h"
#include "verify/verify.h"

namespace adc::driver {

namespace {

/// One compilation of one module, from text to product. Each step returns false where the way ends.
class Compilation {
 public:
  Compilation(const std::vector<std::string>& inputs, const CompileOptions& options,
              product::Product* product)
      : inputs_(inputs),
        options_(options),
        product_(product),
        diagnostics_(options.error_limit),
        passes_(options.watch, diagnostics_, PrintToStandardError) {
    reproduction_.emplace(options, product::ProducerName(), sources_);
  }
  /// In memory. `options` has what `request` says of watching.
  Compilation(const MemoryRequest& request, const std::vector<std::string>& names,
              const CompileOptions& options, product::Product* product)
      : inputs_(names),
        options_(options),
        product_(product),
        memory_(&request),
        diagnostics_(options.error_limit),
        passes_(options.watch, diagnostics_, [](std::string_view) {}) {}

  ExitCode Run() {
    bool finished = TakeTargets() && CheckOwnCache() && Read() && TakeActive();
    bool checked_alone = memory_ != nullptr && memory_->check_alone;
    bool cached = finished && TakeCached();
    finished = finished && (checked_alone || cached || RunPasses());
    if (options_.emit == Emit::Ir) {
      // The module is what was asked for, however far --stop-after let it come.
      bool stopped = passes_.Stopped() && !passes_.Failed();
      // Of several modules, the one for the first target.
      if (finished || stopped) TakeText(ir::Print(state_ ? state_->First() : *module_));
    } else if (finished && !cached) {
      // A step that fails has reported to the diagnostics, or has set the product's own failure.
      (void)(Generate() && MakeProduct(options_.emit) &&
             MakeBeside(Emit::Header, options_.header, &product_->header) &&
             MakeBeside(Emit::Json, options_.json, &product_->json) && StoreCached());
    }
    passes_.End();
    NameFiles(given_names_);
    bool errors = Report();
    passes_.PrintTimes();
    product_->cancelled = passes_.Cancelled();
    if (options_.emit == Emit::Ir) product_->module = std::move(module_);
    if (options_.emit == Emit::Ir || options_.want_provisions) product_->sources = std::move(sources_);
    if (unsupported_) return kExitUnsupported;
    if (usage_) return kExitUsage;
    return errors || passes_.Failed() ? kExitFailed : kExitOk;
  }

 private:
  bool TakeTargets();
  bool CheckNativeImages();
  bool Read();
  bool ReadFiles(const parse::ParseConfig& config);
  bool ReadMemory(parse::ParseConfig& config);
  static bool IsCpp(const std::string& input) { return InputKindOf(input) == InputKind::Cpp; }
  bool IsAnyCpp() const { return std::any_of(inputs_.begin(), inputs_.end(), IsCpp); }
  bool Report();
  bool TakeActive();
  product::Cache OwnCache() const { return {options_.cache_dir, options_.trust_cache}; }
  bool CheckOwnCache();
  bool TakeCached();
  bool StoreCached();
  bool RunPasses();
  void ShowPlans();
  bool Generate();
  bool GenerateCode();
  void LimitOptimisation();
  bool LeaveOut(const Refusal& refusal, std::span<const codegen::KernelToEmit> kernels);
  /// Gives the source files these names, in order.
  void NameFiles(const std::vector<std::string>& names);
  codegen::CodeConfig ConfigFor(const target::Target& target) const;
  bool MakeProduct(Emit emit);
  bool MakeBeside(Emit emit, const std::string& file, std::vector<uint8_t>* bytes);
  product::KernelText ShaderKernelText() const;
  const ir::StructMember* StructOfParam(const artifact::KernelMeta& meta, uint32_t param) const;
  uint32_t AdjointSet() const {
    return options_.adjoint_set ? *options_.adjoint_set : codegen::DefaultAdjointSet(*module_);
  }
  bool TakeBytes(diag::Result<std::vector<uint8_t>> bytes);
  bool TakePayload(codegen::PayloadKind kind);
  void TakeText(std::string_view text) { product_->bytes.assign(text.begin(), text.end()); }
  FloatMode Floats() const { return options_.deterministic ? FloatMode::Strict : options_.float_mode; }
  /// Reports what a step returned. Always false.
  bool Fail(const diag::Diagnostic& failure) {
    diagnostics_.Add(failure);
    return false;
  }

  const std::vector<std::string>& inputs_;
  const CompileOptions& options_;
  product::Product* product_;
  const MemoryRequest* memory_ = nullptr;  ///< null: inputs are files
  diag::SourceManager sources_;
  diag::Diagnostics diagnostics_;
  PassRunner passes_;
  std::optional<Reproduction> reproduction_;  ///< not in memory: it is the whole process's
  std::vector<target::Target> targets_;
  std::unique_ptr<ir::Module> module_;
  std::optional<PipelineState> state_;     ///< of module_, once it is read
  std::vector<product::MadeTarget> made_;  ///< those of the targets whose code there is
  artifact::Metadata metadata_;
  std::vector<std::string> given_names_;  ///< of the source files, as messages show them
  std::optional<std::string> cache_key_;  ///< where the product is to be stored
  uint32_t device_optimisation_ = 0;      ///< that back ends of devices use
  bool unsupported_ = false;
  bool usage_ = false;
};

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
  if (options_.native_images && !CheckNativeImages()) return false;
  if (options_.libdevice.empty()) return true;
  FileStatus readable = CheckRegularFile(options_.libdevice);
  return readable || Fail(CannotRead(readable.Failure()));
}

/// `--images=native`: one kernel, in the only form of code that binds images.
bool Compilation::CheckNativeImages() {
  const Derivations& derive = options_.derive;
  bool derives = derive.tangent || derive.gradient_tangent || !derive.directions.empty() ||
                 !derive.gradient_directions.empty();
  usage_ = options_.emit != Emit::Spirv || derives;
  if (options_.emit != Emit::Spirv) {
    diagnostics_
        .Error(diag::E0865, {},
               "--images=native is for --emit=spirv: what else adc writes binds buffers alone")
        .AddHelp(
            "write --emit=spirv --target=vulkan:1.2, with --header or --json for the bindings, or leave "
            "--images=native out");
  } else if (derives) {
    diagnostics_
        .Error(diag::E0865, {}, "--images=native is for the forward kernel: derived ones read buffers")
        .AddHelp("leave --derive out, and write a bundle without --images=native for the derived kernels");
  }
  return !usage_;
}

std::string ExtensionOf(const std::string& name) {
  return std::filesystem::path(name).extension().string();
}

bool Compilation::Read() {
  parse::ParseConfig config;
  config.include_dirs = options_.include_dirs;
  config.import_dirs = options_.import_dirs;
  config.defines = options_.defines;
  config.text_limit = options_.limits.text_mebibytes << 20;
  bool read =
      passes_.Observe("parse", [&] { return memory_ != nullptr ? ReadMemory(config) : ReadFiles(config); });
  for (const std::unique_ptr<diag::SourceFile>& file : sources_.Files()) {
    std::string name = MapPrefix(options_, file->name);
    // A front end has printed text of another language, line by line for the file that it names.
    file->stands_in = file->stands_in || ExtensionOf(name) != ExtensionOf(file->name);
    file->name = std::move(name);
    given_names_.push_back(file->name);
  }
  // After errors in the text the rules are still checked, so that one run reports all that is wrong.
  // Of C++ its front end has reported all that Clang and it found.
  if (module_ != nullptr && !IsAnyCpp() && diagnostics_.HasErrors() && !diagnostics_.Full())
    verify::Verify(*module_, diagnostics_);
  if (!passes_.Failed() && passes_.Takes("parse")) passes_.PrintDump("after parse", ir::Print(*module_));
  if (!read) return false;
  state_.emplace(PipelineState{*module_, options_, diagnostics_, targets_});
  return passes_.Run(*FindPass("verify"), *state_);
}

bool Compilation::ReadFiles(const parse::ParseConfig& config) {
  auto is_shader = [](const std::string& input) { return IsShader(InputKindOf(input)); };
  bool shader = std::any_of(inputs_.begin(), inputs_.end(), is_shader);
  const char* of_shaders = !options_.diff.empty()       ? "--diff"
                           : !options_.entry.empty()    ? "--entry"
                           : !options_.spec.empty()     ? "--spec"
                           : !options_.samplers.empty() ? "--sampler"
                           : options_.native_images     ? "--images"
                                                        : nullptr;
  if (!shader && of_shaders != nullptr) {
    diagnostics_
        .Error(diag::E0864, {},
               "'" + std::string(of_shaders) + "' is an option for shaders, and '" + inputs_[0] + "' is none")
        .AddHelp(IsAnyCpp()
                     ? "adc::diff marks a parameter of C++, and adc compiles every ADC_KERNEL"
                     : "'diff' behind the type of a parameter marks it, and adc compiles every kernel");
  } else if (shader && !std::all_of(inputs_.begin(), inputs_.end(), is_shader)) {
    diagnostics_.Error(diag::E0862, {}, "a shader and other inputs are compiled together")
        .AddHelp("run adc for each of them");
  } else if (shader && inputs_.size() != 1 && !(options_.entry.empty() && options_.spec.empty())) {
    diagnostics_
        .Error(diag::E0862, {},
               std::string(options_.entry.empty() ? "--spec" : "--entry") +
                   " is about one shader, and several are compiled together")
        .AddHelp("run adc for each of them");
  } else if (IsAnyCpp() && !std::all_of(inputs_.begin(), inputs_.end(), IsCpp)) {
    diagnostics_.Error(diag::E0804, {}, "C++ and other inputs are compiled together")
        .AddHelp("run adc for each language");
  } else if (IsAnyCpp()) {
    module_ = ReadCpp(inputs_, options_, sources_, diagnostics_, &product_->dependencies, &passes_);
  } else if (shader) {
    module_ = ReadShaders(inputs_, options_, sources_, diagnostics_, &product_->dependencies);
  } else if (inputs_.size() == 1 && inputs_[0] == "-") {
    FileResult<std::string> text = ReadWholeText("-", config.text_limit);
    if (!text) return Fail(CannotRead(text.Failure()));
    module_ = parse::ParseText("<stdin>", std::move(*text), config, sources_, diagnostics_,
                               &product_->dependencies);
  } else {
    module_ = parse::ParseFiles(inputs_, config, sources_, diagnostics_, &product_->dependencies);
  }
  return module_ != nullptr;
}

bool Compilation::ReadMemory(parse::ParseConfig& config) {
  config.import_text =
      memory_->import ? memory_->import : [](const std::string&, std::string*) { return false; };
  config.places = memory_->places;
  std::vector<std::pair<std::string, std::string>> texts;
  for (const MemoryRequest::Text& text : memory_->texts) texts.emplace_back(text.name, text.text);
  if (memory_->imports_are_files) {
    config.import_text = {};
    ADC_CHECK(texts.size() == 1, "imports are looked for beside one text");
    if (IsShader(InputKindOf(texts[0].first))) {
      module_ = ReadShader(texts[0].first, options_, sources_, diagnostics_, &product_->dependencies,
                           &texts[0].second);
      return module_ != nullptr;
    }
    module_ = parse::ParseText(texts[0].first, texts[0].second, config, sources_, diagnostics_,
                               &product_->dependencies);
  } else {
    module_ = parse::ParseTexts(texts, config, sources_, diagnostics_);
  }
  if (memory_->read) memory_->read(module_.get(), sources_);
  return module_ != nullptr;
}

/// True where there are errors.
bool Compilation::Report() {
  if (memory_ == nullptr) return ReportDiagnostics(diagnostics_, sources_, options_);
  diag::Diagnostics shown = ShownDiagnostics(diagnostics_, options_);
  for (const diag::Diagnostic& one : shown.All()) {
    if (memory_->report) memory_->report(one, sources_);
  }
  return shown.HasErrors();
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
  for (const std::unique_ptr<ir::Function>& kernel : module_->functions) {
    if (!kernel->IsKernel()) continue;
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

/// Refuses a cache that others can write: they would decide what comes out.
bool Compilation::CheckOwnCache() {
  if (options_.cache_dir.empty() || memory_ != nullptr) return true;
  FileStatus own = product::CheckCache(OwnCache());
  return own || Fail(diag::Fail(diag::E0711, {}, own.Failure().text, own.Failure().help));
}

/// Whether the cache has the product of these texts and options.
bool Compilation::TakeCached() {
  const WatchOptions& watch = options_.watch;
  bool watched = watch.time_passes || !watch.dumps.empty() || !watch.stop_after.empty();
  if (options_.cache_dir.empty() || memory_ != nullptr || options_.emit == Emit::Ir ||
      options_.want_provisions || watched || !diagnostics_.All().empty())
    return false;
  product::CacheKey key;
  key.Add(product::ProducerName());
  key.Add(ProgramIdentity());
  key.Add(options_.cache_words);
  key.Add((options_.header.empty() ? "" : "header ") + std::string(options_.json.empty() ? "" : "json"));
  for (const target::Target& target : targets_) {
    std::string file = codegen::MathFileOf(target, options_.libdevice);
    key.Add(target.name);
    if (file.empty()) continue;
    constexpr uint64_t kMost = uint64_t{1} << 30;
    FileResult<std::string> bytes = ReadWhole(file, kMost);
    if (!bytes) return false;  // where it matters, linking says so
    key.Add(*bytes);
  }
  key.Add(std::filesystem::path(inputs_[0]).stem().string());
  for (const std::unique_ptr<diag::SourceFile>& file : sources_.Files()) {
    key.Add(ProductName(file->name, inputs_, options_));
    key.Add(file->text);
  }
  // The meaning of texts in other languages depends on headers and on options that their front ends read.
  key.Add(ir::Print(*module_));
  cache_key_ = key.Text();
  return product::FindInCache(OwnCache(), *cache_key_, product_);
}

/// A product that came with messages is not stored: they are shown each time.
bool Compilation::StoreCached() {
  if (!cache_key_ || !diagnostics_.All().empty()) return true;
  FileStatus stored = product::StoreInCache(OwnCache(), *cache_key_, *product_);
  if (!stored)
    diagnostics_.Warning(diag::W0702, {}, stored.Failure().text)
        .AddHelp(stored.Failure().help.empty() ? "name another folder with --cache-dir"
                                               : stored.Failure().help);
  return true;
}

/// Everything between the verifier and code generation. A compilation to IR ends before adstacks are planned,
/// unless --stop-after has it go on.
bool Compilation::RunPasses() {
  for (const Pass& pass : Pipeline()) {
    if (pass.stage == Stage::Read || pass.run == nullptr) continue;
    if (pass.stage >= Stage::Plan && options_.emit == Emit::Ir && options_.watch.stop_after.empty()) break;
    if (pass.stage == Stage::Raise && state_->raised.empty()) {
      LeaveOutTwins(options_, state_->lowered, &targets_);
      state_->targets = targets_;
    }
    bool wanted = pass.wanted == nullptr || pass.wanted(options_);
    bool goes_on = wanted ? passes_.Run(pass, *state_) : passes_.Skip(pass);
    if (pass.name == "plan" && !passes_.Failed()) ShowPlans();
    if (!goes_on) return false;
  }
  return true;
}

void Compilation::ShowPlans() {
  if (options_.want_provisions) product_->provisions = state_->provisions;
  if (!passes_.Takes("adstack")) return;
  for (const PlanDump& dump : DumpPlans(state_->lowered, state_->provisions, sources_))
    passes_.PrintDump(dump.title, dump.text);
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
  config.optimise = target.IsCpu() ? options_.optimisation : device_optimisation_;
  config.validate = device_optimisation_ == options_.optimisation;
  config.float_mode = FloatModeOf(Floats());
  config.debug_lines = options_.debug_info;
  config.sources = &sources_;
  config.producer = product::ProducerName();
  config.libdevice = options_.libdevice;
  config.want_object =
      options_.emit != Emit::Llvm && options_.emit != Emit::Json && options_.emit != Emit::Header;
  config.triple = options_.triple;
  config.prefix = options_.prefix;
  config.want_image = options_.emit == Emit::Bundle;
  config.keep_bindings = options_.emit == Emit::Spirv && !module_->shader_bindings.empty();
  config.adjoint_set = AdjointSet();
  config.want_llvm_text = options_.emit == Emit::Llvm;
  return config;
}

void Compilation::NameFiles(const std::vector<std::string>& names) {
  for (size_t at = 0; at < names.size(); ++at) sources_.Files()[at]->name = names[at];
}

bool Compilation::Generate() {
  if (!CheckNames(*state_->lowered.front().module, options_.keep_asserts, diagnostics_))
    return passes_.Fail();
  std::vector<std::string> names;
  for (const std::string& name : given_names_) names.push_back(ProductName(name, inputs_, options_));
  NameFiles(names);
  if (!passes_.Observe("codegen", [&] { return GenerateCode(); })) return false;
  metadata_ = product::BuildMetadata(*module_, state_->lowered.front().kernels, made_, sources_,
                                     {.asserts = options_.keep_asserts,
                                      .accesses = options_.check_bounds || options_.check_writes,
                                      .bounds = options_.bounds_record});
  for (const product::MadeTarget& made : made_) {
    for (const codegen::StepTime& step : made.code.steps) {
      passes_.AddTime("  " + step.name + " " + made.target.name, step.seconds);
    }
  }
  return true;
}

/// A task that is too large for a device is not optimised: LLVM would take minutes, as would SPIRV-Tools to
/// validate it. The choice is one for all
/// kernels of a target, which share a module. For processors such a task becomes several functions instead.
void Compilation::LimitOptimisation() {
  device_optimisation_ = options_.optimisation;
  bool devices = std::any_of(targets_.begin(), targets_.end(),
                             [](const target::Target& target) { return !target.IsCpu(); });
  if (device_optimisation_ == 0 || !devices) return;
  for (const LoweredModule& lowered : state_->lowered) {
    for (const product::PlannedKernel& kernel : lowered.kernels) {
      uint64_t size = LargestTask(*kernel.kernel);
      if (size <= options_.limits.optimised || device_optimisation_ == 0) continue;
      device_optimisation_ = 0;
      diagnostics_
          .Warning(diag::W0701, kernel.kernel->span,
                   "a task of '@" + std::string(lowered.module->Text(kernel.kernel->name)) + "' has " +
                       std::to_string(size) + " operations, more than " +
                       std::to_string(options_.limits.optimised) +
                       ": the code for devices is made with -O0, and SPIR-V is not validated")
          .AddHelp(
              "use loops where code repeats, or allow more with --limit-optimised=N; the time grows with the "
              "square of a task's size");
    }
  }
}

bool Compilation::GenerateCode() {
  LimitOptimisation();
  std::vector<std::vector<codegen::KernelToEmit>> kernels;
  for (const LoweredModule& lowered : state_->lowered) {
    kernels.push_back(KernelsToEmit(lowered, options_.block_size));
  }
  std::vector<std::vector<codegen::KernelToEmit>> raised_kernels;
  for (const RaisedModule& raised : state_->raised) {
    raised_kernels.push_back(
        TwinsOf(*state_->lowered[raised.lowered].module, *raised.module, kernels[raised.lowered]));
  }
  std::vector<EmitJob> jobs;
  for (const target::Target& target : targets_) {
    const RaisedModule& raised = ModuleOf(state_->raised, target);
    jobs.push_back({raised.module.get(), raised_kernels[static_cast<size_t>(&raised - state_->raised.data())],
                    ConfigFor(target)});
  }
  std::optional<JobServer> tokens;
  if (options_.make_flags) tokens.emplace(*options_.make_flags);
  std::vector<diag::Result<codegen::TargetCode>> results =
      EmitAll(jobs, memory_ != nullptr ? memory_->threads : options_.jobs, tokens ? &*tokens : nullptr);
  for (size_t at = 0; at < results.size(); ++at) {
    if (!results[at]) continue;
    for (const diag::Diagnostic& warning : results[at]->warnings) AddOnce(warning, diagnostics_);
    made_.push_back({targets_[at], ModuleOf(state_->lowered, targets_[at]).kernels, std::move(*results[at]),
                     jobs[at].module});
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
  for (const product::MadeTarget& made : made_) able.push_back(made.target.name);
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

/// The text of a header for kernels that were read from shaders; empty where there are none.
product::KernelText Compilation::ShaderKernelText() const {
  if (module_->shader_bindings.empty()) return {};
  return [this](const artifact::KernelMeta& kernel, const std::string& word) {
    const ir::Function* function = state_->lowered.front().module->Find(kernel.name.view());
    ADC_CHECK(function != nullptr, "metadata of a kernel that is not there");
    return product::ShaderHeaderText(*state_->lowered.front().module, *function, metadata_, kernel,
                                     AdjointSet(), word);
  };
}

/// What a parameter's words are in the kernel's source, for headers.
const ir::StructMember* Compilation::StructOfParam(const artifact::KernelMeta& meta, uint32_t param) const {
  const ir::Module& lowered = *state_->lowered.front().module;
  const ir::Function* kernel = lowered.Find(meta.name.view());
  ADC_CHECK(kernel != nullptr, "metadata of a kernel that is not there");
  uint32_t position = kernel->params[param].struct_words;
  return position == ir::kNoAttr ? nullptr : &lowered.structs[position];
}

/// Another form of the product, where a file is named for it: the same bytes as `--emit` makes alone.
bool Compilation::MakeBeside(Emit emit, const std::string& file, std::vector<uint8_t>* bytes) {
  if (file.empty()) return true;
  std::swap(product_->bytes, *bytes);
  bool made = MakeProduct(emit);
  std::swap(product_->bytes, *bytes);
  return made;
}

bool Compilation::MakeProduct(Emit emit) {
  if (state_->lowered.front().kernels.empty()) {
    bool cpp = InputKindOf(inputs_[0]) == InputKind::Cpp;
    return Fail(diag::Fail(diag::E0707, {}, "no kernel in " + inputs_[0],
                           cpp ? "write ADC_KERNEL before the function that is to be one"
                               : "a file of functions alone is imported by one that has kernels"));
  }
  switch (emit) {
    case Emit::Bundle:
      return passes_.Observe("bundle", [&] {
        return TakeBytes(
            product::BundleBytes(metadata_, made_, product::PrintsText(state_->prints, sources_)));
      });
    case Emit::Json:
      return passes_.Observe("bundle", [&] {
        diag::Result<std::string> json = product::MetadataText(metadata_);
        if (!json) return Fail(json.Failure());
        bool bindings = !module_->shader_bindings.empty();
        const ir::Module& lowered = *state_->lowered.front().module;
        TakeText((bindings ? product::WithShaderBindings(*json, lowered, metadata_, AdjointSet()) : *json) +
                 "\n");
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
      TakeText(product::HeaderText(metadata_, std::filesystem::path(inputs_[0]).stem().string(),
                                   ShaderKernelText(),
                                   [this](const artifact::KernelMeta& kernel, uint32_t param) {
                                     return StructOfParam(kernel, param);
                                   }));
      return true;
    case Emit::C:  // CompileToFiles makes it of a bundle, when it knows the name
    case Emit::Ir:
      break;
  }
  ADC_UNREACHABLE("a kind of output without a way to make it");
}

}  // namespace

ExitCode CompileTexts(const MemoryRequest& request, const CompileOptions& options,
                      product::Product* product) {
  CompileOptions watched = options;
  watched.watch = {};
  watched.watch.progress = false;
  watched.watch.stop_after = request.stop_after;
  watched.watch.cancelled = request.cancelled;
  std::vector<std::string> names;
  for (const MemoryRequest::Text& text : request.texts) names.push_back(text.name);
  return Compilation(request, names, watched, product).Run();
}

ExitCode CompileInputs(const std::vector<std::string>& inputs, const CompileOptions& options,
                       product::Product* product) {
  return Compilation(inputs, options, product).Run();
}

}  // namespace adc::driver
