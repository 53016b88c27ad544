// `adc report`: one page, for a browser, that needs nothing else: what launches take per task and target,
// what is stored and why, how much code there is. Equal inputs give equal pages.

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "bundle_file.h"
#include "command_line.h"
#include "commands.h"
#include "driver/targets.h"
#include "launch_sizes.h"
#include "support/exit_code.h"
#include "support/files.h"
#include "support/output_places.h"
#include "support/printable.h"

namespace adc::tool {

namespace {

constexpr std::string_view kStyle = R"(
body { font: 15px/1.45 system-ui, sans-serif; color: #1b1f24; max-width: 68em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.2em; margin-top: 2em; border-bottom: 1px solid #d0d7de; }
h3 { font-size: 1em; margin-bottom: .3em; }
table { border-collapse: collapse; margin: .5em 0; } td, th { padding: .15em .9em .15em 0; text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
code, pre { font: 13px/1.4 ui-monospace, monospace; } pre { background: #f6f8fa; padding: .8em; overflow-x: auto; }
.bar { fill: #0969da; } text { font: 13px system-ui, sans-serif; fill: #1b1f24; }
.key { color: #57606a; }
)";

std::string EscapedLines(std::string_view text) {
  std::string escaped;
  for (char letter : PrintableLines(text)) {
    if (letter == '&') {
      escaped += "&amp;";
    } else if (letter == '<') {
      escaped += "&lt;";
    } else if (letter == '>') {
      escaped += "&gt;";
    } else if (letter == '"') {
      escaped += "&quot;";
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

std::string Escaped(std::string_view text) {
  return EscapedLines(Printable(text));
}

std::string Cell(std::string_view text) {
  return "<td>" + Escaped(text) + "</td>";
}
std::string NumberCell(const std::string& text) {
  return "<td class=n>" + Escaped(text) + "</td>";
}

/// Horizontal bars on one scale.
class Chart {
 public:
  /// The label stands after the bar.
  void Add(std::string name, uint64_t number, std::string label) {
    rows_.push_back({std::move(name), number, std::move(label)});
    largest_ = std::max(largest_, number);
  }
  std::string Svg() const {
    constexpr uint64_t kNames = 150, kBars = 480, kLabels = 330, kBar = 14, kGap = 10;
    std::string bars;
    uint64_t top = 2;
    for (const Row& row : rows_) {
      bars += Text(0, top + kBar - 2, row.name);
      uint64_t width = Width(row.number, kBars);
      bars += "<rect class=bar x=" + std::to_string(kNames) + " y=" + std::to_string(top) +
              " width=" + std::to_string(width) + " height=" + std::to_string(kBar) + " />";
      bars += Text(kNames + width + 6, top + kBar - 2, row.label);
      top += kBar + kGap;
    }
    return "<svg width=" + std::to_string(kNames + kBars + kLabels) + " height=" + std::to_string(top) +
           " role=img>" + bars + "</svg>\n";
  }

 private:
  struct Row {
    std::string name;
    uint64_t number;
    std::string label;
  };
  static std::string Text(uint64_t x, uint64_t y, const std::string& text) {
    return "<text x=" + std::to_string(x) + " y=" + std::to_string(y) + ">" + Escaped(text) + "</text>";
  }
  uint64_t Width(uint64_t number, uint64_t most) const {
    if (largest_ == 0 || number == 0) return 0;
    double share = static_cast<double>(number) / static_cast<double>(largest_);
    return std::max<uint64_t>(1, static_cast<uint64_t>(share * static_cast<double>(most)));
  }
  std::vector<Row> rows_;
  uint64_t largest_ = 0;
};

/// The stacks of a task, which but for their bytes are alike on all targets whose rows are.
std::string StackTable(const LaunchSizes& launch, uint32_t task) {
  adrt_task_report report = launch.Task(task);
  if (report.stack_count == 0) return "<p>no stacks</p>\n";
  std::string rows, terms;
  const artifact::AdstackPlanMeta& stacks = launch.Stacks(task);
  formulas::Formulas formulas = CapacityFormulas(launch.meta(), stacks);
  for (const std::string& term : formulas.Terms()) terms += (terms.empty() ? "" : "<br>") + Escaped(term);
  for (uint32_t index = 0; index < report.stack_count; ++index) {
    if (stacks.stacks[index].storage == artifact::Storage::kPromise) {
      rows += "<tr><td colspan=6>" + Escaped(PromiseText(launch.meta(), stacks.stacks[index])) + "</tr>\n";
      continue;
    }
    adrt_stack_report stack = launch.Stack(task, index);
    std::string type = adrt_type_name(stack.type);
    if (stack.bits != 0) type += " bits";
    const char* counted =
        launch.meta().tasks[task].size_kernel.empty() ? "a cap" : "counted before the launch";
    rows += "<tr>" + Cell(stack.place) + Cell(type) +
            Cell(stack.known != 0 ? formulas.Text(stacks.stacks[index].capacity) : counted) +
            NumberCell(stack.known != 0 && report.resolved != 0 && launch.missing().empty()
                           ? Grouped(stack.capacity)
                           : "?") +
            Cell(stack.in_row != 0 ? "row" : "private memory") +
            Cell(stack.gate[0] != 0 ? "behind " + std::string(stack.gate) : "always") + "</tr>\n";
  }
  return "<table><tr><th>stored at<th>type<th>elements<th class=n>here<th>in<th>when</tr>\n" + rows +
         "</table>\n" + (terms.empty() ? "" : "<p class=key>" + terms + "</p>\n");
}

/// "parallel over [shape(x, 0)]"
std::string TaskText(const LaunchSizes& launch, uint32_t task) {
  const artifact::TaskMeta& meta = launch.meta().tasks[task];
  if (meta.kind == artifact::TaskKind::kSerial) return "serial";
  std::string text = "parallel over ";
  for (size_t axis = 0; axis < meta.extents.size(); ++axis)
    text += (axis == 0 ? "" : " x ") + FormulaText(launch.meta(), meta.extents[axis]);
  return text;
}

std::string Bytes(uint64_t bytes) {
  return Grouped(bytes) + " bytes";
}

/// One kernel: `launches` is that kernel on every target.
std::string KernelPart(const std::vector<const LaunchSizes*>& launches) {
  const LaunchSizes& first = *launches[0];
  std::string page = "<h2>@" + Escaped(first.kernel().report.name) + "</h2>\n";
  if (!first.missing().empty()) {
    page += "<p>Not given: <code>" + Escaped(first.MissingText()) + "</code>. " +
            (first.IsKnown() ? "Bytes do not depend on them." : "Sizes are unknown without.") + "</p>\n";
  }
  Chart whole;
  for (const LaunchSizes* launch : launches) {
    const adrt_plan_report& total = launch->total();
    bool known = launch->IsKnown();
    std::string bytes = known ? Bytes(total.heap_bytes) : "unknown";
    if (known && total.resolved == 0) bytes += " and what depends on contents";
    whole.Add(launch->target().name, known ? total.heap_bytes : 0, bytes);
  }
  page += "<h3>heap of a launch</h3>\n" + whole.Svg();
  for (uint32_t task = 0; task < first.total().task_count; ++task) {
    page += "<h3>task " + std::to_string(task) + ": " + Escaped(TaskText(first, task)) + ", <code>" +
            Escaped(first.Task(task).place) + "</code></h3>\n";
    page += StackTable(first, task);
    if (first.Task(task).stack_count == 0 || !first.missing().empty()) continue;
    Chart chart;
    for (const LaunchSizes* launch : launches) {
      adrt_task_report report = launch->Task(task);
      std::string own = report.resolved == 0 ? "depends on contents"
                                             : Bytes(report.heap_bytes) + ", " + Grouped(report.rows) +
                                                   " rows of " + Grouped(report.row_bytes);
      if (report.segment > 0) own += ", checkpoints every " + Grouped(report.segment);
      if (launch->MayKeepCheckpoints(task))
        own += ", with checkpoints where a device caches less than a third";
      chart.Add(launch->target().name, report.heap_bytes, own);
    }
    page += chart.Svg();
  }
  return page;
}

std::string CodePart(const adrt_bundle* bundle, uint32_t target_count, uint32_t section_count) {
  Chart chart;
  for (uint32_t target = 0; target < target_count; ++target) {
    auto info = Sized<adrt_target_info>();
    adrt_bundle_target(bundle, target, &info, nullptr);
    for (uint32_t index = 0; index < section_count; ++index) {
      auto section = Sized<adrt_section_report>();
      adrt_bundle_section(bundle, index, &section, nullptr);
      if (section.target != target) continue;
      chart.Add(std::string(info.name) + " " + section.kind, section.raw_bytes,
                Bytes(section.raw_bytes) + ", " + Grouped(section.stored_bytes) + " stored");
    }
  }
  return "<h2>Code</h2>\n" + chart.Svg();
}

std::string Given(const SizeRequest& request) {
  std::string text;
  auto add = [&](const std::string& option, const std::string& value) {
    text += (text.empty() ? "" : " ") + option + "=" + value;
  };
  if (!request.kernel.empty()) add("--kernel", request.kernel);
  for (const std::string& shape : request.texts.shapes) add("--shape", shape);
  for (const std::string& argument : request.texts.args) add("--arg", argument);
  if (request.workers != 0) add("--threads", std::to_string(request.workers));
  if (request.budget != 0) add("--budget", std::to_string(request.budget));
  for (const PassShare& pass : request.passes) {
    char share[32];
    std::snprintf(share, sizeof share, "%g", pass.share);
    add("--pass", (pass.gate.empty() ? "" : pass.gate + "=") + share);
  }
  return text;
}

std::string Page(const std::string& name, const adrt_bundle* bundle, const AllSizes& sizes,
                 const SizeRequest& request, const std::string& plans) {
  auto report = Sized<adrt_bundle_report>();
  adrt_bundle_info(bundle, &report, nullptr);
  std::string title = Escaped(name);
  std::string page = "<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>" + title +
                     "</title><style>" + std::string(kStyle) + "</style></head><body>\n<h1>" + title +
                     "</h1>\n";
  char id[2 * sizeof report.content_id + 1];
  for (size_t at = 0; at < sizeof report.content_id; ++at)
    std::snprintf(id + 2 * at, 3, "%02x", report.content_id[at]);
  page += "<p>" + Bytes(report.file_bytes) + ", " + std::to_string(report.kernel_count) + " kernels, " +
          std::to_string(report.target_count) + " targets, made by " + Escaped(report.producer) +
          "<br><span class=key>content " + id + "</span></p>\n";
  std::string given = Given(request);
  page += "<p>Launches " +
          (given.empty() ? "of any shape: <code>--shape</code> and <code>--arg</code> say which"
                         : "with <code>" + Escaped(given) + "</code>") +
          ".</p>\n";
  std::vector<const LaunchSizes*> launches;
  for (size_t at = 0; at < sizes.launches().size(); ++at) {
    launches.push_back(&sizes.launches()[at]);
    bool last =
        at + 1 == sizes.launches().size() || &sizes.launches()[at + 1].kernel() != &launches.back()->kernel();
    if (!last) continue;
    // What counts for another kernel's launch is not launched by anybody.
    std::string_view role = launches[0]->kernel().report.role;
    bool serves = role == "size" || role == "bounds";
    if (!serves || !request.kernel.empty()) page += KernelPart(launches);
    launches.clear();
  }
  page += CodePart(bundle, report.target_count, report.section_count);
  page += "<h2>What is stored, what is computed again, and why</h2>\n";
  page += plans.empty()
              ? "<p>A bundle says what is stored, above. What is computed again instead, and from what, its "
                "source says: <code>adc report kernel.ir</code>.</p>\n"
              : "<pre>" + EscapedLines(plans) + "</pre>\n";
  return page + "</body></html>\n";
}

}  // namespace

int Report(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  SizeRequest request;
  std::string output;
  CommandLine line(
      "adc report [options] bundle.adcb|kernel.ir",
      "Writes a page for a browser, whole in one file: the memory that launches take, per task and\n"
      "target, as charts; what is stored, where and when; the size of the code. Of an .ir file it\n"
      "also says what each gradient computes again instead of storing it. Sizes that depend on a\n"
      "shape or number that was not given are unknown, and the page says which it was.");
  line.Text("-o", "FILE",
            "write to FILE; '-' is standard output. Default: named after the input, in the current folder",
            &output);
  request.AddTo(line);
  line.Example("adc report relax.ir --shape x=1000000 --arg n=64 -o relax.html",
               "a page about relax.ir's kernels");
  line.Positional("bundle", 1, 1, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  namespace fs = std::filesystem;
  if (output.empty()) output = fs::path(files[0]).stem().string() + ".html";
  if (FileStatus safe = KeepSources({output}, files); !safe) {
    PrintError(safe.Failure().text, "name another file with -o");
    return kExitUsage;
  }
  std::string plans;
  OpenOptions options;
  options.targets = driver::DefaultTargets();
  options.keep_going = true;
  options.SourceOptions::operator=(request.source);
  options.plans = &plans;
  Bundle bundle;
  if (int code = OpenBundle(files[0], options, &bundle); code != kExitOk) return code;
  AllSizes sizes;
  if (int code = sizes.Plan(bundle, request); code != kExitOk) return code;
  std::string name = fs::path(files[0]).filename().string();
  FileStatus written = WriteWhole(output, Page(name, bundle.get(), sizes, request, plans));
  if (written) return kExitOk;
  PrintError(written.Failure().text, written.Failure().help);
  return kExitFailed;
}

}  // namespace adc::tool
