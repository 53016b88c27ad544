// `adc size`: what a launch takes, from the bundle alone: no device, no code run, no buffer read.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "bundle_file.h"
#include "command_line.h"
#include "commands.h"
#include "driver/options.h"
#include "driver/targets.h"
#include "reference_layout.h"
#include "values.h"

namespace adc::tool {

namespace {

constexpr uint32_t kDeviceThreads = 65536;

/// Arguments for a plan without a device: shapes and numbers, and behind a buffer its contents where --arg
/// gives them, in host memory.
std::vector<adrt_arg> SizeArguments(const Kernel& kernel, std::map<std::string, ArgValue>& values,
                                    const std::map<std::string, std::vector<int64_t>>& shapes) {
  std::vector<adrt_arg> arguments;
  for (const Param& param : kernel.params) {
    if (!param.IsGiven()) continue;
    auto value = values.find(param.name);
    ArgValue none;
    ArgValue& memory = param.IsScalar() || value != values.end() ? values[param.name] : none;
    if (param.IsScalar() && value == values.end()) memory = ZeroValue(param, {});
    adrt_arg argument = ToArgument(param, memory);
    if (param.IsBuffer()) {
      // A companion has its primal's shape unless its own is given; an axis that nothing names is empty.
      auto shape = shapes.find(param.name);
      if (shape == shapes.end() && param.report.primal < kernel.params.size()) {
        shape = shapes.find(kernel.params[param.report.primal].name);
      }
      argument.rank = param.report.rank;
      for (size_t axis = 0; axis < param.report.rank; ++axis) {
        bool known = shape != shapes.end() && axis < shape->second.size();
        argument.extents[axis] = known ? shape->second[axis] : 0;
      }
    }
    if (!param.IsScalar() && value == values.end()) argument.data = nullptr;
    if (param.IsLayout()) argument.size = param.layout_bytes;
    arguments.push_back(argument);
  }
  return arguments;
}

void PrintStacks(const adrt_launch_plan* plan, uint32_t task, const adrt_task_report& report,
                 bool can_count) {
  for (uint32_t index = 0; index < report.stack_count; ++index) {
    auto stack = Sized<adrt_stack_report>();
    if (adrt_plan_stack(plan, task, index, &stack, nullptr) != ADRT_OK) continue;
    const char* bits = stack.bits != 0 ? " bits" : "";
    if (stack.known == 0) {
      std::printf("      %s%s x ?, no expression gives its capacity: the launch %s  (%s)\n",
                  adrt_type_name(stack.type), bits, can_count ? "runs code that counts it" : "needs a cap",
                  stack.place);
    } else if (stack.in_row == 0) {
      std::printf("      %s%s x %s = %llu in private memory  (%s)\n", adrt_type_name(stack.type), bits,
                  stack.formula, static_cast<unsigned long long>(stack.capacity), stack.place);
    } else {
      std::printf("      %s%s x %s = %s bytes a row%s  (%s)\n", adrt_type_name(stack.type), bits,
                  stack.formula, report.resolved ? Grouped(stack.bytes).c_str() : "?",
                  stack.gate[0] != 0 ? ", gated" : "", stack.place);
    }
  }
}

/// Which share of a group's iterations passes its gate.
struct PassShare {
  std::string gate;  ///< the end of its place ("grid.ir:194:5", "194:5"); empty: of every group
  double share = 1;
};

/// "0.008" or "grid.ir:194:5=0.008". What is wrong, or empty.
std::string TakePass(std::string_view text, std::vector<PassShare>* shares) {
  size_t equals = text.rfind('=');
  PassShare pass;
  if (equals != std::string_view::npos) pass.gate = text.substr(0, equals);
  std::string number(text.substr(equals == std::string_view::npos ? 0 : equals + 1));
  char* end = nullptr;
  pass.share = std::strtod(number.c_str(), &end);
  bool good = !number.empty() && *end == 0 && pass.share >= 0 && pass.share <= 1;
  if (!good || equals == 0)
    return "wants a share from 0 to 1, as in 0.01, or PLACE=SHARE with a gate's place";
  shares->push_back(pass);
  return {};
}

/// Whether `gate`, a place, ends with the words of `end`.
bool EndsWithPlace(std::string_view gate, std::string_view end) {
  if (!gate.ends_with(end)) return false;
  size_t before = gate.size() - end.size();
  return before == 0 || gate[before - 1] == ':' || gate[before - 1] == '/';
}

struct SizeOptions {
  uint32_t workers = 0;
  uint64_t budget = 0;
  std::vector<PassShare> passes;
  bool json = false;
};

/// The sizes of one kernel on one target.
class SizeReport {
 public:
  SizeReport(const Kernel& kernel, const artifact::KernelMeta& meta, const std::vector<adrt_arg>& arguments,
             const adrt_target_info& target, const SizeOptions& options)
      : kernel_(kernel), meta_(meta), arguments_(arguments), target_(target), options_(options) {}

  /// Makes the plan that is reported. An exit code.
  int Plan(uint32_t target, std::vector<bool>* used_passes);
  void PrintText() const;
  std::string Json() const;

 private:
  bool IsCpu() const { return std::string_view(target_.kind) == "cpu"; }
  /// Whether the contents of every buffer that sizes depend on are given.
  bool HasContents() const;
  /// Settles what they decide.
  adrt_status TakeContents(adrt_error* error);
  adrt_task_report TaskOf(uint32_t task) const {
    auto report = Sized<adrt_task_report>();
    adrt_plan_task(plan_.get(), task, &report, nullptr);
    return report;
  }
  std::optional<ReferenceLayout> ReferenceOf(uint32_t task, const adrt_task_report& report) const {
    // The most threads that it starts on a device.
    constexpr uint64_t kMostThreads = 131072;
    uint64_t most = IsCpu() ? total_.workers : kMostThreads;
    return LayOutReference(meta_, meta_.tasks[task], kernel_, arguments_, std::min(report.iterations, most));
  }

  const Kernel& kernel_;
  const artifact::KernelMeta& meta_;
  const std::vector<adrt_arg>& arguments_;
  adrt_target_info target_;
  const SizeOptions& options_;
  LaunchPlan plan_;
  adrt_plan_report total_ = Sized<adrt_plan_report>();
};

bool SizeReport::HasContents() const {
  bool any = false;
  for (const artifact::TaskMeta& task : meta_.tasks) {
    for (uint32_t param : task.size_reads) {
      any = true;
      if (!kernel_.params[param].IsBuffer()) return false;
      for (const adrt_arg& argument : arguments_) {
        if (kernel_.params[param].name == argument.name && argument.data == nullptr) return false;
      }
    }
  }
  return any;
}

adrt_status SizeReport::TakeContents(adrt_error* error) {
  if (IsCpu()) return adrt_plan_resolve(plan_.get(), nullptr, 0, error);
  std::vector<uint8_t> readback;
  auto piece = Sized<adrt_readback_report>();
  for (uint32_t index = 0; adrt_plan_readback(plan_.get(), index, &piece, nullptr) == ADRT_OK; ++index) {
    // The counts, which come last, are left out: nothing runs here that counts.
    if (piece.count == 0 || piece.param == ADRT_READBACK_COUNTS) break;
    readback.resize(piece.offset);
    for (const adrt_arg& argument : arguments_) {
      if (std::string_view(piece.name) != argument.name) continue;
      const auto* bytes = static_cast<const uint8_t*>(argument.data);
      readback.insert(readback.end(), bytes, bytes + piece.bytes);
    }
    readback.resize((readback.size() + 15) / 16 * 16);
  }
  return adrt_plan_resolve(plan_.get(), readback.data(), readback.size(), error);
}

int SizeReport::Plan(uint32_t target, std::vector<bool>* used_passes) {
  auto desc = Sized<adrt_plan_desc>();
  std::vector<adrt_arg> arguments = arguments_;
  for (adrt_arg& argument : arguments) {
    // What a device's arguments point to is memory of the device.
    if (argument.kind != ADRT_PARAM_SCALAR && !IsCpu()) argument.data = nullptr;
  }
  desc.args = arguments.data();
  desc.arg_count = static_cast<uint32_t>(arguments.size());
  desc.target = target;
  desc.workers = options_.workers;
  if (desc.workers == 0) desc.workers = IsCpu() ? 1 : kDeviceThreads;
  desc.heap_budget = options_.budget;
  auto error = Sized<adrt_error>();
  adrt_status status = adrt_plan(kernel_.handle, &desc, plan_.Out(), &error);
  if (status == ADRT_OK && HasContents()) status = TakeContents(&error);
  if (status == ADRT_OK) adrt_plan_info(plan_.get(), &total_, nullptr);
  for (uint32_t task = 0; status == ADRT_OK && task < total_.task_count; ++task) {
    adrt_task_report report = TaskOf(task);
    for (uint32_t number = 0; status == ADRT_OK && number < report.group_count; ++number) {
      auto group = Sized<adrt_group_report>();
      adrt_plan_group(plan_.get(), task, number, &group, nullptr);
      for (size_t pass = 0; pass < options_.passes.size(); ++pass) {
        const PassShare& share = options_.passes[pass];
        bool meant = group.gate[0] != 0 && (share.gate.empty() || EndsWithPlace(group.gate, share.gate));
        if (!meant) continue;
        (*used_passes)[pass] = true;
        double iterations = std::ceil(static_cast<double>(report.iterations) * share.share);
        status = adrt_plan_assume(plan_.get(), task, number, static_cast<uint64_t>(iterations), &error);
      }
    }
  }
  if (status != ADRT_OK)
    return ReportFailure("kernel '" + std::string(kernel_.report.name) + "'", status, error);
  adrt_plan_info(plan_.get(), &total_, nullptr);
  return driver::kExitOk;
}

void PrintReference(const ReferenceLayout& layout, const adrt_task_report& report) {
  std::printf("      reference layout: %s%s bytes (%s float, %s integer stacks, %s threads), adc: ",
              layout.open_stacks > 0 ? "more than " : "", Grouped(layout.bytes).c_str(),
              Grouped(layout.float_stacks).c_str(), Grouped(layout.integer_stacks).c_str(),
              Grouped(layout.threads).c_str());
  if (!report.resolved) {
    std::printf("what depends on buffer contents\n");
    return;
  }
  std::printf("%s bytes", Grouped(report.heap_bytes).c_str());
  double adc = static_cast<double>(report.heap_bytes), other = static_cast<double>(layout.bytes);
  if (adc > 0 && other >= adc) std::printf(", %.4g times less", other / adc);
  if (other > 0 && other < adc) std::printf(", %.4g times more", adc / other);
  std::printf("\n");
}

void SizeReport::PrintText() const {
  std::printf("@%s on %s: heap %s bytes%s, scratch %s of them, %u %s\n", kernel_.report.name, target_.name,
              Grouped(total_.heap_bytes).c_str(),
              total_.resolved ? "" : " and what depends on buffer contents (class S2)",
              Grouped(total_.scratch_bytes).c_str(), total_.workers, IsCpu() ? "workers" : "threads at once");
  for (uint32_t task = 0; task < total_.task_count; ++task) {
    adrt_task_report report = TaskOf(task);
    bool counted = report.counted_axes != 0;
    std::printf("    task %u: %s iterations, %s rows of %s bytes = %s bytes  (%s)\n", task,
                counted ? "?" : Grouped(report.iterations).c_str(),
                counted ? "?" : Grouped(report.rows).c_str(),
                report.resolved ? Grouped(report.row_bytes).c_str() : "?",
                report.resolved ? Grouped(report.heap_bytes).c_str() : "?", report.place);
    if (counted)
      std::printf("      no expression gives its iterations: the launch runs code that counts them\n");
    if (report.segment > 0)
      std::printf("      checkpoints every %s iterations, and one more forward run\n",
                  Grouped(report.segment).c_str());
    for (uint32_t number = 0; number < report.group_count; ++number) {
      auto group = Sized<adrt_group_report>();
      adrt_plan_group(plan_.get(), task, number, &group, nullptr);
      if (group.counted == 0) continue;
      std::printf("      %s iterations pass the gate: %s rows of %s bytes  (%s)\n",
                  Grouped(group.iterations).c_str(), Grouped(group.rows).c_str(),
                  Grouped(group.row_bytes).c_str(), group.gate);
    }
    PrintStacks(plan_.get(), task, report, !meta_.tasks[task].size_kernel.empty());
    std::optional<ReferenceLayout> reference = counted ? std::nullopt : ReferenceOf(task, report);
    if (reference) PrintReference(*reference, report);
  }
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (char letter : text) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
  }
  return quoted + '"';
}

/// `"name":value`, separated by commas.
class JsonObject {
 public:
  void Add(std::string_view name, std::string_view value) {
    text_ += (text_.empty() ? "{" : ",") + Quoted(name) + ":" + std::string(value);
  }
  void Add(std::string_view name, uint64_t number) { Add(name, std::to_string(number)); }
  void AddText(std::string_view name, std::string_view text) { Add(name, Quoted(text)); }
  void AddList(std::string_view name, const std::vector<std::string>& list) {
    std::string all;
    for (const std::string& one : list) all += (all.empty() ? "" : ",") + one;
    Add(name, "[" + all + "]");
  }
  std::string Text() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  std::string text_;
};

std::string SizeReport::Json() const {
  std::vector<std::string> tasks;
  for (uint32_t number = 0; number < total_.task_count; ++number) {
    adrt_task_report report = TaskOf(number);
    std::vector<std::string> groups, stacks;
    for (uint32_t index = 0; index < report.group_count; ++index) {
      auto group = Sized<adrt_group_report>();
      adrt_plan_group(plan_.get(), number, index, &group, nullptr);
      JsonObject object;
      object.AddText("gate", group.gate);
      object.Add("rows", group.rows);
      object.Add("row_bytes", group.row_bytes);
      if (group.counted != 0) object.Add("pass", group.iterations);
      groups.push_back(object.Text());
    }
    for (uint32_t index = 0; index < report.stack_count; ++index) {
      auto stack = Sized<adrt_stack_report>();
      if (adrt_plan_stack(plan_.get(), number, index, &stack, nullptr) != ADRT_OK) continue;
      JsonObject object;
      object.AddText("type", adrt_type_name(stack.type));
      object.Add("bits", stack.bits);
      object.Add("in_row", stack.in_row);
      object.Add("known", stack.known);
      object.Add("capacity", stack.capacity);
      object.AddText("formula", stack.formula);
      object.AddText("place", stack.place);
      stacks.push_back(object.Text());
    }
    JsonObject task;
    task.Add("iterations", report.iterations);
    task.Add("resolved", report.resolved);
    task.Add("counted_axes", report.counted_axes);
    task.Add("rows", report.rows);
    task.Add("row_bytes", report.row_bytes);
    task.Add("heap_bytes", report.heap_bytes);
    task.Add("segment", report.segment);
    task.AddText("place", report.place);
    task.AddList("groups", groups);
    task.AddList("stacks", stacks);
    std::optional<ReferenceLayout> reference;
    if (report.counted_axes == 0) reference = ReferenceOf(number, report);
    if (reference) {
      JsonObject object;
      object.Add("bytes", reference->bytes);
      object.Add("float_stacks", reference->float_stacks);
      object.Add("integer_stacks", reference->integer_stacks);
      object.Add("open_stacks", reference->open_stacks);
      object.Add("threads", reference->threads);
      task.Add("reference", object.Text());
    }
    tasks.push_back(task.Text());
  }
  JsonObject object;
  object.AddText("kernel", kernel_.report.name);
  object.AddText("target", target_.name);
  object.Add("heap_bytes", total_.heap_bytes);
  object.Add("scratch_bytes", total_.scratch_bytes);
  object.Add("resolved", total_.resolved);
  object.Add("threads", total_.workers);
  object.AddList("tasks", tasks);
  return object.Text();
}

}  // namespace

int Size(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  std::string kernel_name;
  ArgTexts texts;
  uint64_t workers = 0;
  SizeOptions size;
  CommandLine line(
      "adc size [options] bundle.adcb|kernel.ir",
      "Says how many heap bytes a launch takes per task and target, with the formula. Extents that no\n"
      "--shape names count as 0, numbers that no --arg names as 0; a companion has its primal's shape.\n\n"
      "'reference layout' is what a layout with one stack per value takes for the same gradient: each\n"
      "value that an adjoint reads, made inside of a loop or a branch, has a stack as long as the loops\n"
      "around it run at most, and one slot more; a float's slot holds value and adjoint, an integer's or\n"
      "a condition's four bytes; every thread that is started has a row of all stacks, on a device one\n"
      "per iteration up to 131,072, on a CPU one per worker. Loop indices, arguments and what stands\n"
      "outside of loops and branches count as nothing.");
  line.Text("--kernel", "NAME", "this kernel only; default: all", &kernel_name);
  line.List("--shape", "NAME=N,M", "extents of a buffer", &texts.shapes);
  line.List(
      "--arg", "NAME=VALUE",
      "value of a scalar; contents of a buffer, as for adc run: what depends on them is sized where all of\n"
      "those that it depends on are given",
      &texts.args);
  line.Number("--threads", "N",
              "CPU: workers at once, default 1; other devices: threads at once, default 65536,\n"
              "which is about what a large GPU runs",
              &workers, 1u << 20);
  line.Number("--budget", "BYTES",
              "what a launch with this heap budget takes: fewer rows, and checkpoints where the kernel\n"
              "was compiled with --checkpoint=auto",
              &size.budget, UINT64_MAX);
  line.Value("--pass", "[PLACE=]SHARE",
             "devices: which share of the iterations passes the gates, 0 to 1, of all gates or of the one\n"
             "whose place ends so (194:5). Default: rows for all, which is what a launch takes that does\n"
             "not count. May be given several times, the last that fits counts",
             [&](std::string_view text) { return TakePass(text, &size.passes); });
  line.Flag("--json", "one JSON object per kernel and target, in a list", &size.json);
  line.Example("adc size relax.adcb --kernel relax.grad --shape x=1000000 --arg n=64 --threads 8",
               "bytes of a launch");
  line.Example("adc size grid.adcb --kernel step.grad --shape mass=1,65,129,36,2 --pass 0.008",
               "the same where 0.8 % of the iterations pass the gates");
  line.Positional("bundle", 1, 1, &files);
  switch (line.Parse(words)) {
    case CommandLine::Outcome::Done:
      return driver::kExitOk;
    case CommandLine::Outcome::Error:
      return driver::kExitUsage;
    case CommandLine::Outcome::Run:
      break;
  }
  OpenOptions options;
  options.trust = false;
  options.targets = driver::DefaultTargets();
  options.keep_going = true;
  Bundle bundle;
  if (int code = OpenBundle(files[0], options, &bundle); code != driver::kExitOk) return code;
  std::vector<Kernel> kernels;
  if (kernel_name.empty()) {
    kernels = AllKernels(bundle.get());
  } else {
    Kernel kernel;
    if (int code = FindKernel(bundle.get(), kernel_name, &kernel); code != driver::kExitOk) return code;
    kernels.push_back(std::move(kernel));
  }
  auto report = Sized<adrt_bundle_report>();
  adrt_bundle_info(bundle.get(), &report, nullptr);
  std::optional<artifact::Metadata> metadata = MetadataOf(bundle.get());
  if (!metadata) return driver::kExitBadBundle;
  size.workers = static_cast<uint32_t>(workers);
  std::vector<bool> used_passes(size.passes.size(), false);
  // Without --kernel the options are for all kernels: each takes those that name one of its parameters.
  for (const std::vector<std::string>* list : {&texts.args, &texts.shapes}) {
    for (const std::string& text : *list) {
      std::string name = text.substr(0, text.find('='));
      bool known = !kernel_name.empty();
      for (const Kernel& kernel : kernels) known = known || kernel.Find(name) != nullptr;
      if (known) continue;
      PrintError("no kernel of the bundle has a parameter '" + name + "'",
                 "adc inspect lists kernels and their parameters");
      return driver::kExitUsage;
    }
  }
  // Everything is planned before the first word is printed.
  struct Arguments {
    std::map<std::string, ArgValue> values;
    std::vector<adrt_arg> list;
  };
  std::deque<Arguments> all_arguments;
  std::deque<SizeReport> reports;
  for (const Kernel& kernel : kernels) {
    ArgTexts own;
    own.shapes_alone = true;
    auto mine = [&](const std::string& text) {
      return !kernel_name.empty() || kernel.Find(text.substr(0, text.find('='))) != nullptr;
    };
    for (const std::string& text : texts.args) {
      if (mine(text)) own.args.push_back(text);
    }
    for (const std::string& text : texts.shapes) {
      if (mine(text)) own.shapes.push_back(text);
    }
    Arguments& arguments = all_arguments.emplace_back();
    std::map<std::string, std::vector<int64_t>> shapes;
    if (!ParseArguments(bundle.get(), kernel, own, &arguments.values, &shapes)) return driver::kExitUsage;
    arguments.list = SizeArguments(kernel, arguments.values, shapes);
    const artifact::KernelMeta& meta = metadata->kernels[kernel.report.index];
    for (uint32_t target = 0; target < report.target_count; ++target) {
      auto info = Sized<adrt_target_info>();
      adrt_bundle_target(bundle.get(), target, &info, nullptr);
      SizeReport& sizes = reports.emplace_back(kernel, meta, arguments.list, info, size);
      if (int code = sizes.Plan(target, &used_passes); code != driver::kExitOk) return code;
    }
  }
  for (size_t pass = 0; pass < used_passes.size(); ++pass) {
    if (used_passes[pass]) continue;
    std::string gate = size.passes[pass].gate;
    PrintError(gate.empty() ? "--pass: no stack lies behind a gate" : "--pass: no gate at '" + gate + "'",
               "a gate's place stands behind the stacks and in adc inspect");
    return driver::kExitUsage;
  }
  std::string listed;
  for (const SizeReport& sizes : reports) {
    if (size.json) {
      listed += (listed.empty() ? "[" : ",\n") + sizes.Json();
    } else {
      sizes.PrintText();
    }
  }
  if (size.json) std::printf("%s]\n", listed.empty() ? "[" : listed.c_str());
  return driver::kExitOk;
}

}  // namespace adc::tool
