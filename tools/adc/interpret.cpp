// The interpreter takes a module, the command line gives values for the parameters that a bundle describes.
// Both have them in memory as C has it, so that a buffer is moved and not converted; a number becomes the
// bits of a constant.

#include "interpret.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "autodiff/exact_sums.h"
#include "command_line.h"
#include "compile_source.h"
#include "driver/compile.h"
#include "driver/read_as_written.h"
#include "driver/report.h"
#include "integer_words.h"
#include "interp/find_nan.h"
#include "interp/interpreter.h"
#include "ir/module.h"
#include "ir/number.h"
#include "nan_report.h"
#include "parse/parser.h"
#include "print.h"
#include "target/target.h"
#include "transform/float_bits.h"
#include "verify/verify.h"

namespace adc::tool {

namespace {

/// The module of a text with the sources that its places are in.
struct Parsed {
  diag::SourceManager sources;
  std::unique_ptr<ir::Module> module;
};

parse::ParseConfig ParsingFor(const OpenOptions& options) {
  return {
      .include_dirs = options.include_dirs, .import_dirs = options.import_dirs, .defines = options.defines};
}

/// The file as it was written; the compilation has reported its errors before.
bool ParseAsWritten(const std::string& path, const OpenOptions& options, Parsed* parsed) {
  diag::Diagnostics diagnostics(1);
  driver::CompileOptions compile;
  ApplySource(options, &compile);
  parsed->module = driver::ReadAsWritten(path, compile, parsed->sources, diagnostics);
  return parsed->module != nullptr && !diagnostics.HasErrors() &&
         verify::Verify(*parsed->module, diagnostics);
}

/// The file as it is after the pass `last`. Places are those of the printed text.
bool ParsePrinted(const std::string& path, const OpenOptions& options, const char* last, Parsed* parsed) {
  driver::CompileOptions compile;
  compile.emit = driver::Emit::Ir;
  compile.watch.stop_after = last;
  ApplyDerivations(options, &compile);
  ApplySource(options, &compile);
  compile.quiet_warnings = true;
  product::Product product;
  if (driver::CompileInputs({path}, compile, &product) != kExitOk) return false;
  diag::Diagnostics diagnostics(1);
  parse::ParseConfig config = ParsingFor(options);
  config.unused_defines = true;  // printed text has no names of types
  parsed->module =
      parse::ParseText(path + " (derived)", std::string(product.bytes.begin(), product.bytes.end()), config,
                       parsed->sources, diagnostics);
  return parsed->module != nullptr && !diagnostics.HasErrors();
}

/// The file with its derived kernels, whose operations have the places of what they were made of; and with
/// what text does not say: the shapes of scratch.
bool CompileDerived(const std::string& path, const OpenOptions& options, Parsed* parsed) {
  driver::CompileOptions compile;
  compile.emit = driver::Emit::Ir;
  ApplyDerivations(options, &compile);
  ApplySource(options, &compile);
  compile.deterministic = options.deterministic;
  compile.save_overwritten = options.save_overwritten;
  compile.quiet_warnings = true;
  product::Product product;
  if (driver::CompileInputs({path}, compile, &product) != kExitOk) return false;
  parsed->module = std::move(product.module);
  parsed->sources = std::move(product.sources);
  return true;
}

/// Extents of scratch in the shape of what it belongs to, with further axes where it holds exact sums.
std::vector<int64_t> ScratchExtents(const ir::Module& module, const ir::Function& function, uint32_t position,
                                    const interp::Arguments& arguments) {
  ir::Type type = function.TypeOf(function.Params()[position]);
  const ir::ParamInfo& info = function.params[position];
  ir::Type of = function.TypeOf(function.Params()[info.companion_of]);
  std::vector<int64_t> extents;
  for (uint32_t axis = 0; axis < type.count; ++axis) {
    std::optional<int64_t> fixed = autodiff::ExactExtent(module, function, position, axis);
    if (!fixed && of.IsLayout())
      fixed = static_cast<int64_t>(module.layouts[of.count].fields[info.companion_field].axes[axis].extent);
    extents.push_back(fixed ? *fixed : arguments[info.companion_of].tensor.extents[axis]);
  }
  return extents;
}

/// The bits of the components of a number of `type`.
std::vector<uint64_t> BitsOf(ir::Type type, const std::vector<uint8_t>& bytes) {
  std::vector<uint64_t> bits(type.Components());
  uint32_t size = ir::ByteSize(type.scalar);
  for (size_t n = 0; n < bits.size() && (n + 1) * size <= bytes.size(); ++n) {
    std::memcpy(&bits[n], &bytes[n * size], size);
    if (!ir::IsFloat(type.scalar)) bits[n] = ir::WrapInteger(type.scalar, bits[n]);
  }
  return bits;
}

/// The interpreter's arguments with the memory of `values`. A parameter without one gets scratch; or, along
/// an axis that the kernel has lost (transform/axes.h), one iteration.
interp::Arguments Bind(const ir::Module& module, const ir::Function& function,
                       const std::map<std::string, ArgValue>& values) {
  interp::Arguments arguments = interp::MakeArguments(module, function);
  for (uint32_t n = 0; n < function.Params().size(); ++n) {
    ir::Value param = function.Params()[n];
    ir::Type type = function.TypeOf(param);
    interp::Argument& argument = arguments[n];
    auto value = values.find(std::string(module.Text(function[param].name)));
    uint32_t like = function.params[n].companion_of;
    if (value == values.end()) {
      // Scratch, which the loader would have made: zeros, in the shape of what it belongs to.
      if (type.IsBuffer() && type.count != 0 && like < n)
        argument.tensor =
            interp::Tensor::Zeros(type.Element(), ScratchExtents(module, function, n, arguments));
      if (function.params[n].if_read) argument.bits = {1};
      continue;
    }
    const ArgValue& given = value->second;
    if (type.IsRegister()) {
      argument.bits = BitsOf(type, given.bytes);
      continue;
    }
    if (type.IsBuffer()) argument.tensor.extents = given.extents;
    argument.tensor.data.resize(given.bytes.size());
    if (!given.bytes.empty())
      std::memcpy(argument.tensor.data.data(), given.bytes.data(), given.bytes.size());
  }
  return arguments;
}

/// Copies what a run left in `arguments` to `values`.
void TakeBack(const ir::Module& module, const ir::Function& function, const interp::Arguments& arguments,
              std::map<std::string, ArgValue>& values) {
  for (uint32_t n = 0; n < function.Params().size(); ++n) {
    ir::Value param = function.Params()[n];
    auto value = values.find(std::string(module.Text(function[param].name)));
    if (value == values.end() || function.TypeOf(param).IsRegister()) continue;
    const std::vector<std::byte>& data = arguments[n].tensor.data;
    value->second.bytes.resize(data.size());
    if (!data.empty()) std::memcpy(value->second.bytes.data(), data.data(), data.size());
  }
}

/// The kernel called `name`; null where there is none.
const ir::Function* FindSource(const ir::Module& module, std::string_view name) {
  for (const auto& one : module.functions)
    if (one->IsKernel() && module.Text(one->name) == name) return one.get();
  return nullptr;
}

/// Whether `type`, of a parameter of a text, is what a bundle says of it.
bool IsType(const ir::Module& module, ir::Type type, const adrt_bundle* bundle, const Param& param) {
  if (type.IsLayout() || param.IsLayout()) {
    auto layout = Sized<adrt_layout_report>();
    if (!type.IsLayout() || adrt_bundle_layout(bundle, param.report.layout, &layout, nullptr) != ADRT_OK)
      return false;
    const ir::Layout& own = module.layouts[type.count];
    return module.Text(own.name) == layout.name && own.byte_size == layout.bytes;
  }
  if (type.IsBuffer() != param.IsBuffer() || (type.IsBuffer() && type.count != param.report.rank))
    return false;
  bool same_scalar = static_cast<uint32_t>(type.scalar) + ADRT_TYPE_I1 == param.report.type;
  return same_scalar && std::max<uint32_t>(type.rows, 1) == std::max<uint32_t>(param.report.rows, 1) &&
         std::max<uint32_t>(type.columns, 1) == std::max<uint32_t>(param.report.columns, 1);
}

/// How the parameters of a text's kernel differ from those of the bundle's; empty: they do not.
std::string ParameterDifference(const ir::Module& module, const ir::Function& function,
                                const adrt_bundle* bundle, const Kernel& kernel) {
  int64_t more = 0;
  for (ir::Value value : function.Params()) {
    std::string name(module.Text(function[value].name));
    const Param* param = kernel.Find(name);
    if (param == nullptr && function.params[function[value].number].if_read) continue;
    if (param == nullptr) return "the bundle's has no parameter '" + name + "'";
    if (!IsType(module, function.TypeOf(value), bundle, *param))
      return "'" + name + "' has type " + param->TypeText(bundle) + " in the bundle, and another one there";
    ++more;
  }
  for (const Param& param : kernel.params) more -= param.IsGiven() && !param.IsSaved() && !param.takes_prints;
  return more == 0 ? "" : "the bundle's has parameters that it has not";
}

int ReportEnd(const interp::RunResult& result, const Kernel& kernel, const diag::SourceManager& sources) {
  std::string name = "kernel '" + std::string(kernel.report.name) + "': ";
  if (!result.Ok()) {
    PrintError(name + interp::Describe(result.error, sources));
    return kExitRunTime;
  }
  if (result.status.code == 0) return kExitOk;
  std::string what = result.status.text.empty() ? "status " + std::to_string(result.status.code)
                                                : "assertion failed: " + result.status.text;
  PrintError(name + sources.Describe(result.status.span) + ": " + what);
  return kExitRunTime;
}

}  // namespace

int CompileForInterpreter(const std::string& path, const OpenOptions& options, std::vector<uint8_t>* bytes) {
  driver::CompileOptions compile;
  ApplyDerivations(options, &compile);
  ApplySource(options, &compile);
  compile.deterministic = options.deterministic;
  // Of the bundle its description is read, whatever the target.
  std::string target = target::HostTarget();
  if (!WritesCodeFor(*target::FindTarget(target))) target = "vulkan:1.2";
  compile.targets = {std::move(target)};
  compile.optimisation = 0;
  compile.silenced.push_back("W0601");
  product::Product product;
  ExitCode code = driver::CompileInputs({path}, compile, &product);
  if (code == kExitOk) *bytes = std::move(product.bytes);
  return code;
}

int CheckSource(const std::string& path, const OpenOptions& options, const adrt_bundle* bundle,
                const Kernel& kernel) {
  Parsed parsed;
  diag::Diagnostics diagnostics;
  driver::CompileOptions compile;
  ApplySource(options, &compile);
  parsed.module = driver::ReadAsWritten(path, compile, parsed.sources, diagnostics);
  if (parsed.module != nullptr && !diagnostics.HasErrors()) verify::Verify(*parsed.module, diagnostics);
  driver::CompileOptions quiet;
  quiet.quiet_warnings = true;
  if (driver::ReportDiagnostics(diagnostics, parsed.sources, quiet) || parsed.module == nullptr)
    return kExitFailed;
  std::string name = kernel.report.name;
  const ir::Function* function = FindSource(*parsed.module, name);
  std::string different =
      function == nullptr ? "no such kernel" : ParameterDifference(*parsed.module, *function, bundle, kernel);
  if (different.empty()) return kExitOk;
  PrintError("'" + path + "' is not what the bundle's kernel '" + name + "' was compiled from: " + different,
             "give the text that the bundle was made of, or none");
  return kExitFailed;
}

namespace {

/// A kernel of the text as it was written, a derived one as it was derived. kExitOk, or the exit code after
/// the reason was printed.
int ReadKernel(const std::string& path, const OpenOptions& options, const Kernel& kernel, Parsed* parsed,
               const ir::Function** function) {
  std::string_view name = kernel.report.name;
  bool read =
      options.deterministic ? CompileDerived(path, options, parsed) : ParseAsWritten(path, options, parsed);
  if (!read) return kExitFailed;
  *function = FindSource(*parsed->module, name);
  if (*function == nullptr && !options.deterministic) {
    *parsed = Parsed();
    if (CompileDerived(path, options, parsed)) *function = FindSource(*parsed->module, name);
  }
  if (*function != nullptr) return kExitOk;
  PrintError("kernel '" + std::string(name) + "' has no form that the interpreter takes");
  return kExitUnsupported;
}

}  // namespace

int InterpretSource(const std::string& path, const OpenOptions& options, const Kernel& kernel,
                    std::map<std::string, ArgValue>& values, const InterpretOptions& how) {
  Parsed parsed;
  const ir::Function* function = nullptr;
  if (int code = ReadKernel(path, options, kernel, &parsed, &function); code != kExitOk) return code;
  const ir::Module& module = *parsed.module;
  interp::Arguments arguments = Bind(module, *function, values);
  interp::RunOptions run;
  if (how.reversed) run.order = interp::Order::Reversed;
  if (how.step_budget != 0) run.step_budget = how.step_budget;
  interp::NanSearch search;
  if (how.find == Sought::Nothing) {
    search.run = interp::Run(module, *function, arguments, run);
  } else {
    search = interp::FindNan(module, *function, arguments, {how.find == Sought::Infinities}, run);
  }
  const interp::RunResult& result = search.run;
  if (how.quiet && (!result.Ok() || result.status.code != 0)) return kExitRunTime;
  if (!how.quiet && how.aside) PrintAside("%s", result.printed.c_str());
  if (!how.quiet && !how.aside) PrintLines(result.printed);
  // An assertion may have failed for the NaN: both are said.
  bool finds = how.find != Sought::Nothing && result.Ok();
  int found = finds ? ReportNan(search, how.find, kernel, parsed.sources) : int{kExitOk};
  if (int code = ReportEnd(result, kernel, parsed.sources); code != kExitOk) return code;
  if (found != kExitOk) return found;
  TakeBack(module, *function, arguments, values);
  return kExitOk;
}

std::vector<std::string> FirstNanTexts(const std::string& path, const OpenOptions& options,
                                       const Kernel& kernel, const std::vector<std::string>& parameters,
                                       const std::map<std::string, ArgValue>& values, uint64_t step_budget) {
  std::vector<std::string> texts(parameters.size());
  Parsed parsed;
  const ir::Function* function = nullptr;
  if (parameters.empty() || ReadKernel(path, options, kernel, &parsed, &function) != kExitOk) return texts;
  const ir::Module& module = *parsed.module;
  for (size_t n = 0; n < parameters.size(); ++n) {
    interp::NanQuestion question;
    if (!parameters[n].empty()) question.parameter = interp::ParameterIndex(module, *function, parameters[n]);
    for (Sought sought : {Sought::Nan, Sought::Infinities}) {
      interp::Arguments arguments = Bind(module, *function, values);
      question.infinities = sought == Sought::Infinities;
      interp::NanSearch search =
          interp::FindNan(module, *function, arguments, question, {.step_budget = step_budget});
      if (!search.run.Ok()) return texts;
      if (!search.first || search.first->reaches.empty()) continue;
      texts[n] = LineOf(*search.first, sought, parsed.sources);
      break;
    }
  }
  return texts;
}

struct DualKernel::Ready {
  Parsed parsed;
  const ir::Function* function = nullptr;
  std::optional<interp::Interpreter> ways[2];  ///< iterations first to last, and last to first
  uint64_t steps = 0;
};

DualKernel::DualKernel() = default;
DualKernel::~DualKernel() = default;
DualKernel::DualKernel(DualKernel&&) noexcept = default;
DualKernel& DualKernel::operator=(DualKernel&&) noexcept = default;

bool DualKernel::Open(const std::string& path, const OpenOptions& options, const std::string& name,
                      uint64_t step_budget) {
  auto ready = std::make_unique<Ready>();
  if (!ParseAsWritten(path, options, &ready->parsed)) return false;
  ready->function = FindSource(*ready->parsed.module, name);
  // Integers have no derivative there: operations on the bits of floats are taken as the floats that they
  // make.
  if (ready->function != nullptr && transform::TakesBits(*ready->function)) {
    ready->parsed = Parsed();
    if (!ParsePrinted(path, options, "float-bits", &ready->parsed)) return false;
    ready->function = FindSource(*ready->parsed.module, name);
  }
  if (ready->function == nullptr) return false;
  for (int way = 0; way < 2; ++way) {
    interp::RunOptions run;
    run.step_budget = step_budget;
    run.order = way == 0 ? interp::Order::Forward : interp::Order::Reversed;
    ready->ways[way].emplace(*ready->parsed.module, *ready->function, run);
  }
  ready_ = std::move(ready);
  return true;
}

bool DualKernel::Run(std::map<std::string, ArgValue>& values,
                     std::map<std::string, std::vector<double>>& tangents, bool reversed) {
  const ir::Module& module = *ready_->parsed.module;
  const ir::Function& function = *ready_->function;
  interp::Arguments arguments = Bind(module, function, values);
  interp::Tangents dual;
  auto name_of = [&](uint32_t n) { return std::string(module.Text(function[function.Params()[n]].name)); };
  for (uint32_t n = 0; n < function.Params().size(); ++n) {
    auto given = tangents.find(name_of(n));
    size_t count = interp::TangentCount(module, function.TypeOf(function.Params()[n]), arguments[n]);
    dual.list.push_back(given == tangents.end() ? std::vector<double>() : given->second);
    dual.list.back().resize(count);
  }
  interp::RunResult result = ready_->ways[reversed ? 1 : 0]->RunDual(arguments, dual);
  ready_->steps = result.steps;
  if (!result.Ok() || result.status.code != 0) return false;
  TakeBack(module, function, arguments, values);
  for (uint32_t n = 0; n < function.Params().size(); ++n) tangents[name_of(n)] = std::move(dual[n]);
  return true;
}

std::map<std::string, std::vector<uint32_t>> DualKernel::IntegerWords() const {
  return tool::IntegerWords(*ready_->parsed.module, *ready_->function);
}

uint64_t DualKernel::Steps() const {
  return ready_->steps;
}

bool DualKernel::TakesExtrema() const {
  for (const auto& function : ready_->parsed.module->functions) {
    for (uint32_t block = 0; block < function->BlockCount(); ++block) {
      for (ir::Inst inst : (*function)[ir::Block(block)].insts) {
        ir::Op op = (*function)[inst].op;
        if (op == ir::Op::AtomicMin || op == ir::Op::AtomicMax) return true;
      }
    }
  }
  return false;
}

bool DualKernel::Promises() const {
  for (const ir::ParamInfo& info : ready_->function->params)
    if (info.IsDisjoint()) return true;
  return false;
}

}  // namespace adc::tool
