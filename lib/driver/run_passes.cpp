#include "driver/run_passes.h"

#include <algorithm>

#include "diag/errors/driver.h"
#include "driver/file_errors.h"
#include "driver/pass_runner.h"
#include "driver/pipeline.h"
#include "driver/read_cpp.h"
#include "driver/read_shader.h"
#include "driver/report.h"
#include "driver/reproduction.h"
#include "driver/targets.h"
#include "host/files.h"
#include "host/input_kind.h"
#include "host/output_places.h"
#include "host/terminal.h"
#include "ir/module.h"
#include "parse/parser.h"
#include "product/version.h"
#include "verify/form.h"

namespace adc::driver {

namespace {

std::string Quoted(std::string_view name) {
  return "'" + std::string(name) + "'";
}

std::string PhasesOf(const Pass& pass) {
  std::string text(PhaseName(pass.first));
  if (pass.last != pass.first) text += " to " + std::string(PhaseName(pass.last));
  return text;
}

/// The row that the name stands for in a phase: where there are several, the first that runs in it.
const Pass* RowFor(std::string_view name, ir::Phase phase) {
  const Pass* found = nullptr;
  for (const Pass& pass : Pipeline()) {
    if (pass.name != name || pass.run == nullptr) continue;
    if (pass.RunsIn(phase)) return &pass;
    found = &pass;
  }
  return found;
}

diag::Diagnostic WrongPhase(const Pass& pass, ir::Phase phase) {
  std::string text = Quoted(pass.name) + " runs in phase " + PhasesOf(pass) +
                     ", and the module is in phase " + std::string(PhaseName(phase)) + " by then";
  if (phase > pass.last) return diag::Fail(diag::E0709, {}, text, "run it earlier");
  std::string help;
  for (const Pass& other : Pipeline()) {
    if (other.gives == pass.first) help = "run " + Quoted(other.name) + " before it, or ";
  }
  help += "give --phase=" + std::string(PhaseName(pass.first)) + " where the text is in that phase";
  return diag::Fail(diag::E0709, {}, text, help);
}

/// The rows of `names`, or why they cannot run in this order.
diag::Result<std::vector<const Pass*>> Order(const std::vector<std::string>& names, ir::Phase phase) {
  std::vector<const Pass*> order;
  for (const std::string& name : names) {
    const Pass* pass = RowFor(name, phase);
    if (pass == nullptr)
      return diag::Fail(diag::E0709, {}, Quoted(name) + " is no pass over a module",
                        "adc opt --list-passes shows them");
    if (!pass->RunsIn(phase)) return WrongPhase(*pass, phase);
    const Pass* before = order.empty() ? nullptr : order.back();
    if (before != nullptr && !before->hands_to.empty() && before->hands_to != pass->name)
      return diag::Fail(diag::E0709, {},
                        Quoted(pass->name) + " cannot run between " + Quoted(before->name) + " and " +
                            Quoted(before->hands_to),
                        "what " + Quoted(before->name) + " makes lasts until the next pass alone");
    if (!pass->needs.empty() && (before == nullptr || before->name != pass->needs))
      return diag::Fail(diag::E0709, {},
                        Quoted(pass->name) + " needs " + Quoted(pass->needs) + " right before it",
                        "run '" + std::string(pass->needs) + "," + name + "'");
    order.push_back(pass);
    phase = pass->gives.value_or(phase);
  }
  return order;
}

class Run {
 public:
  Run(const TextPasses& asked, const CompileOptions& options)
      : asked_(asked),
        options_(options),
        diagnostics_(options.error_limit),
        passes_(options.watch, diagnostics_, PrintToStandardError),
        reproduction_(options, product::ProducerName(), sources_) {}

  ExitCode All() {
    ExitCode code = Steps();
    passes_.End();
    bool errors = ReportDiagnostics(diagnostics_, sources_, options_);
    passes_.PrintTimes();
    return code == kExitOk && errors ? kExitFailed : code;
  }

 private:
  ExitCode Steps() {
    diag::Result<std::vector<const Pass*>> order = Order(asked_.passes, asked_.phase);
    if (!order) return Fail(order.Failure(), kExitUsage);
    std::vector<target::Target> targets;
    bool raises = std::any_of(order->begin(), order->end(),
                              [](const Pass* pass) { return pass->stage == Stage::Raise; });
    std::vector<std::string> names = options_.targets;
    if (names.empty() && raises) names = {"cpu"};
    for (const std::string& name : names) {
      diag::Result<target::Target> found = ResolveTarget(name);
      if (!found) return Fail(found.Failure(), kExitUsage);
      targets.push_back(*found);
    }
    if (!passes_.Observe("parse", [&] { return Read(); })) return kExitFailed;
    if (passes_.Takes("parse")) passes_.PrintDump("after parse", ir::Print(*module_));
    module_->phase = asked_.phase;
    PipelineState state{*module_, options_, diagnostics_, targets};
    if (!passes_.Run(*FindPass("verify"), state)) return kExitFailed;
    for (const Pass* pass : *order) {
      bool ready = module_->phase != ir::Phase::Parsed || IsReadyFor(*pass);
      if (!ready || !passes_.Run(*pass, state)) return kExitFailed;
    }
    if (!passes_.Run(*FindPass("verify"), state)) return kExitFailed;
    return Write(state.First());
  }

  bool Read() {
    parse::ParseConfig config;
    config.include_dirs = options_.include_dirs;
    config.import_dirs = options_.import_dirs;
    config.defines = options_.defines;
    config.text_limit = options_.limits.text_mebibytes << 20;
    InputKind kind = InputKindOf(asked_.input);
    if (kind == InputKind::Cpp || IsShader(kind)) {
      if (asked_.phase != ir::Phase::Parsed) {
        diagnostics_
            .Error(diag::E0709, {},
                   Quoted(asked_.input) + " is in phase parsed: it is no text that adc has printed")
            .AddHelp("leave --phase out");
        return false;
      }
      module_ = kind == InputKind::Cpp
                    ? ReadCpp({asked_.input}, options_, sources_, diagnostics_, &read_, nullptr)
                    : ReadShader(asked_.input, options_, sources_, diagnostics_, &read_);
      return module_ != nullptr && !diagnostics_.HasErrors();
    }
    if (asked_.input != "-") {
      module_ = parse::ParseFiles({asked_.input}, config, sources_, diagnostics_, &read_);
      return module_ != nullptr;
    }
    FileResult<std::string> text = ReadWholeText("-", config.text_limit);
    if (!text) return Fail(CannotRead(text.Failure()), kExitFailed) == kExitOk;
    module_ = parse::ParseText("<stdin>", std::move(*text), config, sources_, diagnostics_, &read_);
    return module_ != nullptr;
  }

  bool IsReadyFor(const Pass& pass) {
    if (verify::CheckForm(*module_, pass.form, diagnostics_)) return true;
    diagnostics_.Error(diag::E0709, {}, Quoted(pass.name) + " cannot run on this module yet")
        .AddHelp("run the passes before it that stand before it in adc opt --list-passes");
    return false;
  }

  ExitCode Write(const ir::Module& module) {
    std::string output = options_.output.empty() ? "-" : options_.output;
    if (FileStatus safe = KeepSources({output}, read_); !safe)
      return Fail(WouldReplace(safe.Failure()), kExitUsage);
    FileStatus written = WriteWhole(output, ir::Print(module));
    return written ? kExitOk : Fail(CannotWrite(written.Failure()), kExitFailed);
  }

  ExitCode Fail(const diag::Diagnostic& failure, ExitCode code) {
    diagnostics_.Error(failure.id, failure.span, failure.text).AddHelp(failure.help);
    return code;
  }

  const TextPasses& asked_;
  const CompileOptions& options_;
  diag::SourceManager sources_;
  diag::Diagnostics diagnostics_;
  PassRunner passes_;
  Reproduction reproduction_;
  std::unique_ptr<ir::Module> module_;
  std::vector<std::string> read_;
};

}  // namespace

ExitCode RunPassesOnText(const TextPasses& asked, const CompileOptions& options) {
  return Run(asked, options).All();
}

std::string PassList() {
  std::string text;
  auto column = [](std::string word, size_t width) {
    word.resize(std::max(width, word.size() + 2), ' ');
    return word;
  };
  for (std::string_view name : PassNames()) {
    const Pass* pass = FindPass(name);
    if (pass->run == nullptr) continue;
    std::string phases = PhasesOf(*pass);
    if (pass->gives) phases += ", then " + std::string(PhaseName(*pass->gives));
    text += column(std::string(name), 18) + column(phases, 30) + std::string(pass->summary) + "\n";
  }
  return text;
}

}  // namespace adc::driver
