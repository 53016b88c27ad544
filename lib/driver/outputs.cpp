#include "driver/outputs.h"

#include <filesystem>
#include <map>
#include <optional>

#include "diag/errors/driver.h"
#include "driver/compile.h"
#include "driver/file_errors.h"
#include "driver/report.h"
#include "host/files.h"
#include "host/output_places.h"
#include "host/terminal.h"
#include "product/depfile.h"
#include "product/embedded_bundle.h"

namespace adc::driver {

namespace {

/// The name of the depfile of `output`.
std::string DepfileName(const CompileOptions& options, const std::string& output) {
  return options.depfile.empty() ? output + ".d" : options.depfile;
}

void ReportOne(const diag::Diagnostic& failure, const CompileOptions& options) {
  diag::Diagnostics diagnostics;
  diagnostics.Error(failure.id, {}, failure.text).AddHelp(failure.help);
  ReportDiagnostics(diagnostics, diag::SourceManager(), options);
}

/// The file of the output for `input` when -o does not say: "dir/kernel.ir" gives "kernel.adcb", ".o", ".h"
/// in the current folder; "-" for the kinds that are text for people.
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
    case Emit::C:
      extension = "_adcb.c";
      break;
    case Emit::Ir:
    case Emit::Llvm:
    case Emit::Json:
      return "-";
  }
  std::string stem = std::filesystem::path(input).stem().string();
  return (stem.empty() || stem == "-" ? "out" : stem) + extension;
}

/// The file that `output` is, as far as a build system is concerned: an output on standard output counts as
/// the bundle of `input`.
std::string NameForBuilds(const std::string& output, const std::string& input) {
  return output == "-" ? DefaultOutput(input, Emit::Bundle) : output;
}

/// That the outputs of several inputs, of which each has its own, are different places.
FileStatus KeepInputsApart(const CompileOptions& options) {
  std::vector<std::string> outputs;
  for (const std::string& input : options.inputs) {
    std::string output = DefaultOutput(input, options.emit);
    if (output != "-") outputs.push_back(output);
    if (options.write_depfile) outputs.push_back(DepfileName(options, NameForBuilds(output, input)));
  }
  return KeepApart(outputs);
}

/// That --header and --json have one product to describe.
std::optional<diag::Diagnostic> CheckBeside(const CompileOptions& options) {
  std::string option = !options.header.empty() ? "--header" : !options.json.empty() ? "--json" : "";
  if (option.empty()) return std::nullopt;
  if (options.emit == Emit::Ir || !options.watch.stop_after.empty())
    return diag::Fail(diag::E0705, {}, "'" + option + "' describes code, and none is made",
                      "leave it out, or --emit=ir and --stop-after");
  if (!options.output.empty() || options.inputs.size() == 1) return std::nullopt;
  return diag::Fail(diag::E0705, {},
                    "what '" + option + "' writes of '" + options.inputs[0] + "' and '" + options.inputs[1] +
                        "' has one name",
                    "compile one at a time, or both into one file with -o");
}

/// The same as CompileInputs, for the file `output` that --emit=c names the bundle after.
ExitCode CompileFor(const std::string& output, const std::vector<std::string>& inputs,
                    const CompileOptions& options, product::Product* product) {
  if (options.emit != Emit::C) return CompileInputs(inputs, options, product);
  CompileOptions bundled = options;
  bundled.emit = Emit::Bundle;
  ExitCode code = CompileInputs(inputs, bundled, product);
  if (code != kExitOk || product->bytes.empty()) return code;
  std::string text = product::EmbeddedText(
      product->bytes, product::EmbeddedName(output == "-" ? DefaultOutput(inputs[0], Emit::C) : output));
  product->bytes.assign(text.begin(), text.end());
  return code;
}

ExitCode WriteOutputs(const std::vector<std::string>& inputs, const CompileOptions& options,
                      const std::string& output) {
  product::Product product;
  ExitCode code = CompileFor(output, inputs, options, &product);
  if (code != kExitOk) return code;
  if (!options.watch.stop_after.empty() && product.bytes.empty()) return kExitOk;
  bool depfile = options.write_depfile || !options.depfile.empty();
  std::string made = NameForBuilds(output, inputs[0]);
  std::vector<std::string> outputs = {output};
  for (const std::string& beside : {options.header, options.json}) {
    if (!beside.empty()) outputs.push_back(beside);
  }
  if (depfile) outputs.push_back(DepfileName(options, made));
  FileStatus safe = KeepApart(outputs);
  if (safe) safe = KeepSources(outputs, product.dependencies);
  if (!safe) {
    ReportOne(WouldReplace(safe.Failure()), options);
    return kExitUsage;
  }
  // The product last: where it is there, so is all that belongs to it.
  FileStatus written = FileDone{};
  if (depfile) {
    std::string target = options.depfile_target.empty() ? made : options.depfile_target;
    written = WriteWhole(outputs.back(), product::DepfileText(target, product.dependencies));
  }
  // Files that have not changed stay untouched, so that nothing is built again for their sake.
  if (written && !options.header.empty()) written = WriteIfDifferent(options.header, product.header);
  if (written && !options.json.empty()) written = WriteIfDifferent(options.json, product.json);
  if (written) written = WriteWhole(output, product.bytes);
  if (written) return kExitOk;
  ReportOne(CannotWrite(written.Failure()), options);
  return kExitFailed;
}

ExitCode CompileEach(const CompileOptions& options) {
  if (std::optional<diag::Diagnostic> wrong = CheckBeside(options)) {
    ReportOne(*wrong, options);
    return kExitUsage;
  }
  if (!options.output.empty() || options.inputs.size() == 1) {
    std::string output =
        options.output.empty() ? DefaultOutput(options.inputs[0], options.emit) : options.output;
    return WriteOutputs(options.inputs, options, output);
  }
  if (!options.depfile.empty() && options.inputs.size() > 1) {
    ReportOne(diag::Fail(diag::E0705, {},
                         "the dependencies of '" + options.inputs[0] + "' and '" + options.inputs[1] +
                             "' would both be written to '" + options.depfile + "'",
                         "compile one at a time with -MF, or write a depfile next to each with -MD"),
              options);
    return kExitUsage;
  }
  std::map<std::string, std::string> written_for;
  for (const std::string& input : options.inputs) {
    std::string output = DefaultOutput(input, options.emit);
    auto [first, is_new] = written_for.emplace(output, input);
    if (is_new || output == "-") continue;
    ReportOne(
        diag::Fail(diag::E0705, {},
                   "'" + first->second + "' and '" + input + "' would both be written to '" + output + "'",
                   "compile one at a time with -o, or both into one file with -o"),
        options);
    return kExitUsage;
  }
  if (FileStatus apart = KeepInputsApart(options); !apart) {
    ReportOne(WouldReplace(apart.Failure()), options);
    return kExitUsage;
  }
  ExitCode worst = kExitOk;
  for (const std::string& input : options.inputs) {
    ExitCode code = WriteOutputs({input}, options, DefaultOutput(input, options.emit));
    if (worst == kExitOk) worst = code;
  }
  return worst;
}

}  // namespace

ExitCode CompileToFiles(const CompileOptions& options) {
  if (options.message_form != MessageForm::Sarif) return CompileEach(options);
  CompileOptions gathered = options;
  std::vector<std::string> logs;
  gathered.logs = &logs;
  ExitCode code = CompileEach(gathered);
  if (!logs.empty()) PrintToStandardError(diag::JoinSarif(logs));
  return code;
}

}  // namespace adc::driver
