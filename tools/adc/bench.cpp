// `adc bench`: how long a launch takes, apart: planning and recording, which are host time, and the device.
//
// Device time is that of many launches recorded into one queue, from the first call to the end of the last
// one, divided by their number: the cost of a launch in an engine that has more to do than to wait. Bytes
// moved are those that the kernel cannot do without: each buffer that it reads or writes once, and each
// element of an adstack once in and once out, at the capacity that the plan gives it. Copies of buffers are
// none.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bundle_file.h"
#include "command_line.h"
#include "commands.h"
#include "host/exit_code.h"
#include "host/input_kind.h"
#include "json_output.h"
#include "launch.h"
#include "print.h"
#include "trust.h"

namespace adc::tool {

namespace {

using Values = std::map<std::string, ArgValue>;

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

double Median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers.empty() ? 0 : numbers[numbers.size() / 2];
}

/// Microseconds with three digits that count: "0.512", "12.3", "4570".
std::string Micro(double seconds) {
  char text[32];
  double micro = seconds * 1e6;
  std::snprintf(text, sizeof text, micro >= 1000 ? "%.0f" : micro >= 10 ? "%.1f" : "%.3f", micro);
  return text;
}

struct Moved {
  uint64_t read = 0, written = 0, tape = 0;
};

/// Whether the stack is no tape but the copy of a buffer, which only plans for a CPU have.
bool IsCopyIn(const artifact::TaskMeta& task, const adrt_task_report& report, uint32_t stack) {
  for (const artifact::AdstackPlanMeta& plan : task.plans) {
    if (plan.stacks.size() == report.stack_count && IsCopy(plan.stacks[stack])) return true;
  }
  return false;
}

Moved BytesMoved(const Kernel& kernel, const artifact::KernelMeta& meta, const Values& values,
                 const adrt_launch_plan* plan) {
  Moved moved;
  for (const Param& param : kernel.params) {
    auto value = values.find(param.name);
    if (param.IsScalar() || value == values.end()) continue;
    uint64_t bytes = value->second.bytes.size();
    if (param.report.access != ADRT_ACCESS_WRITE) moved.read += bytes;
    if (param.report.access != ADRT_ACCESS_READ) moved.written += bytes;
  }
  auto total = Sized<adrt_plan_report>();
  adrt_plan_info(plan, &total, nullptr);
  for (uint32_t task = 0; task < total.task_count; ++task) {
    auto report = Sized<adrt_task_report>();
    if (adrt_plan_task(plan, task, &report, nullptr) != ADRT_OK) continue;
    for (uint32_t index = 0; index < report.stack_count; ++index) {
      auto stack = Sized<adrt_stack_report>();
      if (adrt_plan_stack(plan, task, index, &stack, nullptr) != ADRT_OK || stack.in_row == 0) continue;
      if (!IsCopyIn(meta.tasks[task], report, index)) moved.tape += 2 * report.iterations * stack.bytes;
    }
  }
  return moved;
}

/// How far apart checkpoints lie, where a task keeps some.
std::string Checkpoints(const adrt_launch_plan* plan, uint32_t task_count) {
  uint64_t longest = 0;
  for (uint32_t task = 0; task < task_count; ++task) {
    auto report = Sized<adrt_task_report>();
    if (adrt_plan_task(plan, task, &report, nullptr) == ADRT_OK) longest = std::max(longest, report.segment);
  }
  return longest > 0 ? ", checkpoints every " + Grouped(longest) + " iterations" : std::string();
}

constexpr double kTurnSeconds = 0.1;
constexpr uint64_t kMostLaunches = 1000, kPlans = 100;

struct Settings {
  LaunchOptions launch;
  uint64_t launches = 0;  ///< 0: as many as take about kTurnSeconds
  uint64_t turns = 7;
  bool json = false;
};

/// The measured figures; times in seconds, of one launch.
struct Figures {
  adrt_plan_report plan_report = Sized<adrt_plan_report>();
  Moved moved;
  uint64_t launches = 0;
  double plan = 0, record = 0, device = 0, low = 0, high = 0, copy = 0;

  double BytesPerSecond() const {
    uint64_t bytes = moved.read + moved.written + moved.tape;
    return device > 0 ? static_cast<double>(bytes) / device : 0;
  }
};

void Say(const Machine& machine, const Kernel& kernel, const Settings& settings, const Figures& figures,
         const std::string& checkpoints) {
  const adrt_device_report& about = machine.device().report();
  bool is_cpu = machine.device().IsCpu();
  Print("@%s on %s %s%s%s%s, %llu turns of %llu launches, %u %s, heap %s bytes%s\n", kernel.report.name,
        about.kind, about.arch, about.name[0] != 0 ? " (" : "", about.name, about.name[0] != 0 ? ")" : "",
        static_cast<unsigned long long>(settings.turns), static_cast<unsigned long long>(figures.launches),
        figures.plan_report.workers, is_cpu ? "workers" : "threads",
        Grouped(figures.plan_report.heap_bytes).c_str(), checkpoints.c_str());
  Print("  plan    %10s us\n", Micro(figures.plan).c_str());
  if (!is_cpu) Print("  record  %10s us\n", Micro(figures.record).c_str());
  Print("  device  %10s us, from %s to %s\n", Micro(figures.device).c_str(), Micro(figures.low).c_str(),
        Micro(figures.high).c_str());
  if (!is_cpu) Print("  copy in %10s us, once\n", Micro(figures.copy).c_str());
  Print("  moved   %10s bytes read, %s written, %s on the tape: %.4g GB/s\n",
        Grouped(figures.moved.read).c_str(), Grouped(figures.moved.written).c_str(),
        Grouped(figures.moved.tape).c_str(), figures.BytesPerSecond() * 1e-9);
}

Json AsJson(const Machine& machine, const Kernel& kernel, const Settings& settings, const Figures& figures) {
  const adrt_device_report& about = machine.device().report();
  return {{"kernel", kernel.report.name},
          {"device", about.kind},
          {"arch", about.arch},
          {"name", about.name},
          {"turns", settings.turns},
          {"launches", figures.launches},
          {"threads", figures.plan_report.workers},
          {"heap_bytes", figures.plan_report.heap_bytes},
          {"plan_seconds", figures.plan},
          {"record_seconds", figures.record},
          {"device_seconds", figures.device},
          {"device_seconds_low", figures.low},
          {"device_seconds_high", figures.high},
          {"copy_seconds", figures.copy},
          {"bytes_read", figures.moved.read},
          {"bytes_written", figures.moved.written},
          {"bytes_tape", figures.moved.tape}};
}

/// Measures, and prints unless that is to be JSON. An exit code. `device_seconds`: of one launch.
int Measure(Machine& machine, const Kernel& kernel, const artifact::KernelMeta& meta, Values& values,
            const Settings& settings, double* device_seconds, Json* as_json) {
  Arguments arguments;
  auto begin = std::chrono::steady_clock::now();
  if (int code = arguments.Write(machine.device(), kernel, values); code != kExitOk) return code;
  double copy = Seconds(begin);
  std::vector<double> plans, records, totals;
  LaunchPlan plan;
  for (uint64_t turn = 0; turn < kPlans; ++turn) {
    LaunchPlan made;
    begin = std::chrono::steady_clock::now();
    if (int code = machine.Plan(kernel, arguments.list(), settings.launch, &made); code != kExitOk)
      return code;
    plans.push_back(Seconds(begin));
    plan = std::move(made);
  }
  auto error = Sized<adrt_error>();
  Handle<adrt_heap, adrt_heap_release> heap;
  adrt_status status = adrt_heap_create_on(machine.device().get(), heap.Out(), &error);
  // The first two turns, of one launch, make memory, warm up and say how many launches make a turn.
  uint64_t launches = 1;
  for (uint64_t turn = 0; turn < settings.turns + 2 && status == ADRT_OK; ++turn) {
    auto times = Sized<adrt_run_times>();
    auto desc = Sized<adrt_run_desc>();
    desc.heap = heap.get();
    desc.repeat = static_cast<uint32_t>(launches);
    desc.times = &times;
    status = RunPlan(plan.get(), &desc, &error);
    double record = static_cast<double>(times.record_nanoseconds) * 1e-9;
    double total = record + static_cast<double>(times.wait_nanoseconds) * 1e-9;
    if (turn == 1) {
      auto fitting = static_cast<uint64_t>(kTurnSeconds / std::max(total, 1e-9));
      launches = settings.launches != 0 ? settings.launches : std::clamp<uint64_t>(fitting, 1, kMostLaunches);
    }
    if (turn < 2) continue;
    records.push_back(record / static_cast<double>(launches));
    totals.push_back(total / static_cast<double>(launches));
  }
  if (status != ADRT_OK)
    return ReportFailure("kernel '" + std::string(kernel.report.name) + "'", status, error);
  Figures figures;
  adrt_plan_info(plan.get(), &figures.plan_report, nullptr);
  figures.moved = BytesMoved(kernel, meta, values, plan.get());
  figures.launches = launches;
  figures.plan = Median(plans);
  figures.record = Median(records);
  figures.device = Median(totals);
  auto [low, high] = std::minmax_element(totals.begin(), totals.end());
  figures.low = *low;
  figures.high = *high;
  figures.copy = copy;
  *device_seconds = figures.device;
  if (settings.json) {
    *as_json = AsJson(machine, kernel, settings, figures);
  } else {
    Say(machine, kernel, settings, figures, Checkpoints(plan.get(), figures.plan_report.task_count));
  }
  return kExitOk;
}

}  // namespace

int Bench(const std::vector<std::string>& words, Session& session) {
  std::vector<std::string> files;
  std::string kernel_name;
  ArgTexts texts;
  Settings settings;
  OpenOptions open;
  DeviceChoice device;
  CommandLine line(
      "adc bench [options] bundle.adcb|kernel.ir",
      "Measures a launch: planning and recording on the host, the device, and the bytes that it moves.\n"
      "Adjoints and tangents that are not given begin as zeros; launches run one after the other on the\n"
      "same memory. Code of a bundle runs with all\n"
      "rights of this account, and so only with --trust or --key; what an .ir file says is compiled here.");
  line.Section("What to measure");
  line.Text("--kernel", "NAME", "the kernel; may be left out where the bundle holds one that is not derived",
            &kernel_name);
  line.List("--arg", "NAME=VALUE", "as for adc run", &texts.args);
  line.List("--shape", "NAME=N,M", "extents for a pattern that has none, and zeros where there is no --arg",
            &texts.shapes);
  line.Section("How");
  AddTrustOptions(line, &open.trust);
  AddDeviceOptions(line, &device);
  line.Number("--launches", "N",
              "that are recorded before the first is waited for; default: as many as take 0.1 s",
              &settings.launches, 1000000);
  line.Number("--turns", "N", "of so many launches; the median counts; default 7", &settings.turns, 100000,
              1);
  line.Number("--threads", "N", "CPU: workers; default: one per processor", &settings.launch.workers, 4096);
  line.Number("--heap-budget", "BYTES", "run fewer workers rather than take more memory",
              &settings.launch.heap_budget, UINT64_MAX);
  line.Number("--adstack-cap", "BYTES", "memory for stacks whose size no expression gives",
              &settings.launch.adstack_cap, UINT64_MAX);
  line.Flag("--deterministic",
            "for an .ir file: compile it with --deterministic and without, and print what the one costs",
            &open.deterministic);
  line.Flag("--json", "print a list of objects, one for each way that was measured", &settings.json);
  line.WantsSource("--deterministic", "it is compiled both ways, and a bundle is compiled already");
  open.SourceOptions::AddTo(line);
  line.Example(
      "adc bench --trust relax.adcb --kernel relax.grad --arg x=random[1000000] --arg n=64 --device cuda",
      "microseconds and GB/s");
  line.Positional("bundle", 1, 1, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  open.derive_for = kernel_name;
  device.confined = open.trust.confined;
  double exact = 0, plain = 0;
  Json measured = Json::array();
  auto bench = [&](double* device_seconds) {
    Machine machine(session);
    if (int code = machine.Open(device, settings.launch.workers); code != kExitOk) return code;
    open.targets = machine.device().Targets();
    Bundle bundle;
    Kernel kernel;
    if (int code = machine.OpenBundle(files[0], open, &bundle); code != kExitOk) return code;
    if (int code = FindKernel(bundle.get(), kernel_name, &kernel, open.compile_ir && IsSourceFile(files[0]));
        code != kExitOk)
      return code;
    Values values;
    std::map<std::string, std::vector<int64_t>> shapes;
    if (!ParseArguments(bundle.get(), kernel, texts, &values, &shapes)) return int{kExitUsage};
    FillShapes(kernel, shapes, &values);
    if (!FillCompanions(kernel, &values)) return int{kExitUsage};
    if (int code = machine.Load(bundle); code != kExitOk) return code;
    if (int code = machine.FillSaved(kernel, values, settings.launch); code != kExitOk) return code;
    std::optional<artifact::Metadata> metadata = MetadataOf(bundle.get());
    if (!metadata) return int{kExitBadBundle};
    const artifact::KernelMeta& meta = metadata->kernels[kernel.report.index];
    Json object;
    int code = machine.Finish(Measure(machine, kernel, meta, values, settings, device_seconds, &object));
    object["deterministic"] = open.deterministic;
    measured.push_back(std::move(object));
    return code;
  };
  bool both = open.deterministic;
  if (both) {
    if (int code = bench(&exact); code != kExitOk) return code;
    open.deterministic = false;
  }
  if (int code = bench(&plain); code != kExitOk) return code;
  if (settings.json) {
    PrintJson(measured);
    return kExitOk;
  }
  if (!both) return kExitOk;
  Print("deterministic: %.2f times the plain kernel\n", plain > 0 ? exact / plain : 0);
  return kExitOk;
}

}  // namespace adc::tool
