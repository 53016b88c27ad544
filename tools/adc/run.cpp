// `adc run`: one launch through the loader, with arguments from the command line.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "command_line.h"
#include "commands.h"
#include "host/exit_code.h"
#include "host/input_kind.h"
#include "host/output_places.h"
#include "interpret.h"
#include "json_output.h"
#include "launch.h"
#include "print.h"
#include "prints.h"
#include "trust.h"

namespace adc::tool {

namespace {

/// "loss: buffer<f32, 0> = 3.25", or shape, range and the first values of a larger one.
void PrintValue(const adrt_bundle* bundle, const Param& param, const ArgValue& value) {
  constexpr uint64_t kShown = 8;
  std::string text = param.name + ": " + param.TypeText(bundle);
  if (param.IsLayout()) {
    Print("%s, %zu bytes\n", text.c_str(), value.bytes.size());
    return;
  }
  uint32_t type = param.report.type;
  uint64_t count = value.bytes.size() / adrt_type_size(type);
  if (!value.extents.empty()) {
    text += " [";
    for (size_t axis = 0; axis < value.extents.size(); ++axis) {
      text += (axis == 0 ? "" : ", ") + std::to_string(value.extents[axis]);
    }
    text += "]";
  }
  text += " =";
  for (uint64_t at = 0; at < std::min(count, kShown); ++at)
    text += " " + NumberText(type, value.bytes.data(), at);
  if (count > kShown) {
    double low = ReadNumber(type, value.bytes.data(), 0), high = low, sum = 0;
    for (uint64_t at = 0; at < count; ++at) {
      double number = ReadNumber(type, value.bytes.data(), at);
      low = std::min(low, number);
      high = std::max(high, number);
      sum += number;
    }
    char range[96];
    std::snprintf(range, sizeof range, " ... (min %.9g, max %.9g, sum %.9g)", low, high, sum);
    text += range;
  }
  Print("%s\n", text.c_str());
}

/// JSON has no number for what is not finite: its text.
Json NumberJson(uint32_t type, const uint8_t* bytes, uint64_t at) {
  bool is_float = type >= ADRT_TYPE_F16;
  if (!is_float && type == ADRT_TYPE_U64) return static_cast<uint64_t>(ReadInteger(type, bytes, at));
  if (!is_float) return ReadInteger(type, bytes, at);
  double number = ReadNumber(type, bytes, at);
  return std::isfinite(number) ? Json(number) : Json(NumberText(type, bytes, at));
}

/// All of its numbers; of a layout how many bytes it has.
Json AsJson(const adrt_bundle* bundle, const Param& param, const ArgValue& value) {
  Json object = {{"name", param.name}, {"type", param.TypeText(bundle)}};
  if (param.IsLayout()) {
    object["bytes"] = value.bytes.size();
    return object;
  }
  object["shape"] = value.extents;
  Json numbers = Json::array();
  uint64_t count = value.bytes.size() / adrt_type_size(param.report.type);
  for (uint64_t at = 0; at < count; ++at)
    numbers.push_back(NumberJson(param.report.type, value.bytes.data(), at));
  object["values"] = std::move(numbers);
  return object;
}

/// That no output replaces another, or the bundle or source at `input`. An exit code.
int CheckOutputs(const std::string& input, const std::map<std::string, std::string>& outs,
                 const std::string& bounds_record) {
  std::vector<std::string> outputs;
  for (const auto& [name, path] : outs) outputs.push_back(path);
  if (!bounds_record.empty()) outputs.push_back(bounds_record);
  FileStatus safe = KeepApart(outputs);
  if (safe) safe = KeepSources(outputs, {input});
  if (safe) return kExitOk;
  PrintError(safe.Failure().text, safe.Failure().help);
  return kExitUsage;
}

int OpenForInterpreter(const std::string& path, const OpenOptions& options, Bundle* bundle) {
  std::vector<uint8_t> bytes;
  if (int code = CompileForInterpreter(path, options, &bytes); code != kExitOk) return code;
  auto error = Sized<adrt_error>();
  adrt_status status = OpenBytes(bytes, TrustFor(path, options), bundle, &error);
  return status == ADRT_OK ? int{kExitOk} : ReportFailure("'" + path + "'", status, error);
}

/// The prints of the kernel of a launch.
class PrintLog {
 public:
  /// Space for it, where no argument gives another one.
  PrintLog(const Kernel& kernel, uint64_t bytes, bool aside, std::map<std::string, ArgValue>* values)
      : prints_(kernel.prints.get()), aside_(aside), values_(values) {
    if (prints_ == nullptr) return;
    auto words = static_cast<int64_t>(std::max<uint64_t>(bytes / sizeof(uint32_t), 1));
    if (bytes != 0)
      values->emplace(prints_->buffer,
                      ZeroValue(*kernel.Find(prints_->buffer),
                                {static_cast<int64_t>(adrt_prints_bytes(0) / sizeof(uint32_t)) + words}));
  }

  /// Before a launch.
  void Clear() {
    auto value = prints_ == nullptr ? values_->end() : values_->find(prints_->buffer);
    if (value != values_->end()) std::fill(value->second.bytes.begin(), value->second.bytes.end(), 0);
  }

  /// After it.
  void Show() const {
    if (prints_ == nullptr) return;
    PrintedLines lines = LinesOf(*prints_, values_->at(prints_->buffer).bytes);
    if (aside_) {
      PrintAside("%s", lines.text.c_str());
    } else {
      PrintLines(lines.text);
      std::fflush(stdout);  // in front of what is said of the launch
    }
    if (lines.seen.shown == lines.seen.all) return;
    PrintAside("adc: %llu of %llu prints shown: there is no space for more; give it with --print-bytes=N\n",
               static_cast<unsigned long long>(lines.seen.shown),
               static_cast<unsigned long long>(lines.seen.all));
  }

 private:
  const KernelPrints* prints_;
  bool aside_;
  std::map<std::string, ArgValue>* values_;
};

}  // namespace

int Run(const std::vector<std::string>& words, Session& session) {
  std::vector<std::string> files, outs;
  std::string kernel_name;
  ArgTexts texts;
  LaunchOptions launch;
  OpenOptions open;
  DeviceChoice device;
  uint64_t repeat = 1, print_bytes = 1 << 20;
  bool time = false, interpret = false, find_nan = false, find_infinity = false;
  CommandLine line(
      "adc run [options] bundle.adcb|kernel.ir",
      "Runs a kernel on a device of this machine through the loader, and prints what its `print` says. "
      "Values\n"
      "of parameters that the kernel writes are printed, or written where --out names a file. Adjoints and\n"
      "tangents that are not given begin as zeros. Code of a bundle runs with all\n"
      "rights of this account, and so only with --trust or --key; what an .ir file says is compiled here.\n"
      "With ADRT_TRACE=heap in the environment, each launch logs its memory to standard error.");
  line.Section("What to run");
  line.Text("--kernel", "NAME", "the kernel; may be left out where the bundle holds one that is not derived",
            &kernel_name);
  line.List("--arg", "NAME=VALUE",
            "a number, [1, 2, 3], @FILE.npy, or a pattern: zeros, ones, iota, full:NUMBER, random,\n"
            "random:SEED, with extents: zeros[4,5]",
            &texts.args);
  line.List("--shape", "NAME=N,M", "extents for a pattern that has none, and zeros where there is no --arg",
            &texts.shapes);
  line.List("--out", "NAME=@FILE", "write the parameter to FILE as .npy after the run", &outs);
  line.Section("How");
  AddTrustOptions(line, &open.trust);
  AddDeviceOptions(line, &device);
  line.Number("--threads", "N", "workers; default: one per processor", &launch.workers, 4096);
  line.Number("--heap-budget", "BYTES", "run fewer workers rather than take more memory", &launch.heap_budget,
              UINT64_MAX);
  line.Number("--adstack-cap", "BYTES", "memory for stacks whose size no expression gives",
              &launch.adstack_cap, UINT64_MAX);
  line.Number("--size-threshold", "BYTES",
              "devices: do not count the rows of gates if they take at most BYTES; default 1 MiB",
              &launch.size_threshold, UINT64_MAX);
  line.Text("--bounds-record", "FILE",
            "the bounds of the kernel's loops: written after a kernel, compared before its gradient, which\n"
            "does not run where they have changed in between. Compile the bundle with --bounds-record",
            &launch.bounds_record);
  line.Number("--repeat", "N", "launch N times (in-place results accumulate)", &repeat, 1000000, 1);
  line.Flag(
      "--interpret",
      "for an .ir file: run the kernel in the reference interpreter, as it is written (a derived one as\n"
      "it was derived): every access is checked",
      &interpret);
  line.WantsSource("--interpret", "a bundle holds compiled code, which runs without it");
  line.Flag("--find-nan",
            "as --interpret, whatever --device says: name the first operation whose NaN comes out of the\n"
            "kernel, with its place, iteration and operands; exit code 1 where there is one",
            &find_nan);
  line.Flag("--find-inf", "as --find-nan, for infinities too", &find_infinity);
  for (const char* name : {"--find-nan", "--find-inf"})
    line.WantsSource(name, "a bundle holds compiled code, in which operations have no names");
  line.Number(
      "--print-bytes", "BYTES",
      "space for what the kernel prints; default 1 MiB, 0: leave `print` out. More than fits is counted",
      &print_bytes, uint64_t{1} << 32);
  line.Flag("--time", "print wall time, workers and heap bytes to standard error", &time);
  open.SourceOptions::AddTo(line);
  bool json = false;
  line.Flag("--json",
            "print a list of objects with all values: name, type, shape, values (of a layout: bytes)", &json);
  BoundsOption bounds;
  bounds.AddTo(line);
  AddSimdOption(line, &open.simd);
  line.SourceFlag("--save-overwritten", "save what the gradient reads of buffers that are written",
                  &open.save_overwritten);
  line.SourceFlag("--check-writes",
                  "report stores that meet, and what `disjoint`, `settled`, `writeonce` promise",
                  &open.check_writes);
  line.SourceFlag("--deterministic", "sums of floats that are the same in every run, bit for bit",
                  &open.deterministic);
  line.Example("adc run --trust relax.adcb --kernel relax --arg x=random[1000] --arg n=64", "prints loss");
  line.Example(
      "adc run --trust relax.adcb --kernel relax.grad --arg x=@x.npy --arg n=64 --arg loss.adj=1 --out "
      "x.adj=@g.npy",
      "writes the gradient");
  line.Example("adc run debug.ir --arg x=random[4]", "prints what the kernel prints");
  line.Example(
      "adc run relax.ir --find-nan --kernel relax.grad --arg x=random[4] --arg n=64 --arg loss.adj=1",
      "says that no adjoint is NaN, or where the first one comes from");
  line.Positional("bundle", 1, 1, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  if (int code = bounds.Take(&open); code != kExitOk) return code;
  InterpretOptions how;
  how.aside = json;
  how.find = find_infinity ? Sought::Infinities : find_nan ? Sought::Nan : Sought::Nothing;
  std::string interpreting = find_infinity ? "--find-inf" : find_nan ? "--find-nan" : "--interpret";
  bool finds = how.find != Sought::Nothing;
  if (finds && (json || open.deterministic)) {
    PrintError(interpreting + " with " +
                   (json ? "--json: what is found is text"
                         : "--deterministic: sums in fixed point do not say which of their terms was NaN"),
               "remove one of the two");
    return kExitUsage;
  }
  interpret = interpret || finds;
  bool no_form = open.check_writes || open.save_overwritten;
  if (interpret && no_form) {
    PrintError(interpreting + " with " + (open.check_writes ? "--check-writes" : "--save-overwritten") +
                   ": the interpreter runs the kernel as it is written",
               "remove one of the two");
    return kExitUsage;
  }
  if (interpret && (time || !launch.bounds_record.empty())) {
    PrintError(interpreting + " with " + (time ? "--time" : "--bounds-record") +
                   ": the interpreter launches nothing",
               "remove one of the two");
    return kExitUsage;
  }
  Machine machine(session);
  device.confined = open.trust.confined;
  if (int code = machine.Open(device, launch.workers); code != kExitOk) return code;
  open.targets = machine.device().Targets();
  Bundle bundle;
  Kernel kernel;
  open.derive_for = kernel_name;
  open.bounds_record = !launch.bounds_record.empty();
  open.prints = print_bytes != 0;
  if (int code = interpret ? OpenForInterpreter(files[0], open, &bundle)
                           : machine.OpenBundle(files[0], open, &bundle);
      code != kExitOk) {
    return code;
  }
  if (int code = FindKernel(bundle.get(), kernel_name, &kernel, open.compile_ir && IsSourceFile(files[0]));
      code != kExitOk)
    return code;

  std::map<std::string, ArgValue> values;
  std::map<std::string, std::vector<int64_t>> shapes;
  if (!ParseArguments(bundle.get(), kernel, texts, &values, &shapes)) return kExitUsage;
  FillShapes(kernel, shapes, &values);
  std::map<std::string, std::string> out_paths;
  for (const std::string& out : outs) {
    size_t equals = out.find("=@");
    std::string name = out.substr(0, equals);
    if (equals == std::string::npos || equals + 2 == out.size() || kernel.Find(name) == nullptr ||
        kernel.Find(name)->IsScalar()) {
      PrintError("'" + out + "' after --out: expects NAME=@FILE with a buffer or layout parameter");
      return kExitUsage;
    }
    if (!out_paths.emplace(name, out.substr(equals + 2)).second) {
      PrintError("parameter '" + name + "' has two --out");
      return kExitUsage;
    }
  }
  if (int code = CheckOutputs(files[0], out_paths, launch.bounds_record); code != kExitOk) return code;
  PrintLog log(kernel, print_bytes, json, &values);
  if (!FillCompanions(kernel, &values)) return kExitUsage;

  if (int code = interpret ? int{kExitOk} : machine.Load(bundle); code != kExitOk) return code;
  for (uint64_t turn = 0; turn < repeat && interpret; ++turn) {
    if (int code = InterpretSource(files[0], open, kernel, values, how); code != kExitOk) return code;
  }
  LaunchReport report;
  if (kernel.prints != nullptr) launch.ran = [&log] { log.Show(); };
  for (uint64_t turn = 0; turn < repeat && !interpret; ++turn) {
    log.Clear();
    auto begin = std::chrono::steady_clock::now();
    if (int code = machine.Launch(kernel, values, launch, &report); code != kExitOk) return code;
    std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (time) {
      PrintAside("%s: %.3f ms, %u workers, heap %llu bytes\n", kernel.report.name, taken.count() * 1e3,
                 report.plan.workers, static_cast<unsigned long long>(report.plan.heap_bytes));
      for (const std::string& rows : report.rows) PrintAside("  %s\n", rows.c_str());
    }
  }
  Json list = Json::array();
  for (const Param& param : kernel.params) {
    auto value = values.find(param.name);
    if (value == values.end()) continue;
    auto path = out_paths.find(param.name);
    if (path != out_paths.end()) {
      if (int code = WriteValue(path->second, param, value->second); code != kExitOk) return code;
    } else if (!param.IsScalar() && !param.takes_prints && param.report.access != ADRT_ACCESS_READ) {
      if (json) {
        list.push_back(AsJson(bundle.get(), param, value->second));
      } else {
        PrintValue(bundle.get(), param, value->second);
      }
    }
  }
  if (json) PrintJson(list);
  return machine.Finish(kExitOk);
}

}  // namespace adc::tool
