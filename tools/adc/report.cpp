// `adc report`: one page, for a browser, that needs nothing else: the source with the values that its
// gradients store and compute again, and the needs of launches per task and target. Equal inputs give equal
// pages.

#include <filesystem>
#include <nlohmann/json.hpp>

#include "bundle_file.h"
#include "command_line.h"
#include "commands.h"
#include "driver/compile.h"
#include "driver/targets.h"
#include "host/exit_code.h"
#include "host/files.h"
#include "host/output_places.h"
#include "launch_sizes.h"
#include "print.h"
#include "report_data.h"
#include "report_page.h"
#include "report_stacks.h"

namespace adc::tool {

namespace {

constexpr uint64_t kMostShown = 64 << 20;

/// The data of one file. `shown`: the file whose text is shown in place of a source's, and whose name it has,
/// or as the source of a bundle; empty: none. An exit code.
int ReportOf(const std::string& file, const std::string& shown, const SizeRequest& request, Json* data) {
  product::Product product;
  OpenOptions options;
  options.targets = driver::DefaultTargets();
  options.keep_going = true;
  options.SourceOptions::operator=(request.source);
  options.checkpoint = request.checkpoint;
  options.product = &product;
  std::string text;
  if (!shown.empty()) {
    FileResult<std::string> read = ReadWhole(shown, kMostShown);
    if (!read) {
      PrintError(read.Failure().text, read.Failure().help);
      return kExitFailed;
    }
    text = std::move(*read);
    options.prefix_map.emplace_back(file, std::filesystem::path(shown).filename().string());
  }
  Bundle bundle;
  if (int code = OpenBundle(file, options, &bundle); code != kExitOk) return code;
  AllSizes sizes;
  if (int code = sizes.Plan(bundle, request); code != kExitOk) return code;
  bool is_source = !product.sources.Files().empty();
  ReportInput input{is_source && !shown.empty() ? shown : file,
                    bundle.get(),
                    sizes,
                    request,
                    is_source ? &product : nullptr,
                    shown.empty() ? nullptr : &text,
                    ""};
  if (!is_source && !shown.empty()) {
    std::string failure;
    Json metadata = Json::parse(MetadataText(bundle.get()));
    std::optional<std::string> name = SourceNamed(metadata, shown, &failure);
    if (name && IsTextOf(metadata, *name, text) == false)
      PrintAside("adc: warning: '%s' is not the text that the bundle was compiled from\n",
                 Printable(shown).c_str());
    if (!name) {
      PrintError(failure, "--show-source names the file that it was compiled from");
      return kExitUsage;
    }
    input.source = *name;
  }
  *data = ReportData(input);
  return kExitOk;
}

}  // namespace

int Report(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  SizeRequest request;
  std::string output, shown;
  CommandLine line(
      "adc report [options] [before.adcb] bundle.adcb|kernel.ir",
      "Writes a page for a browser, whole in one file: the memory that launches take, per task and\n"
      "target, as sliders for what it depends on move; what is stored, where and when; tasks and\n"
      "buffers; the size of the code. Of a source the page shows the text, and beside each line what\n"
      "gradients store and compute again there, and why. Of two files it shows the second, and what\n"
      "has changed since the first.");
  line.Text("-o", "FILE",
            "write to FILE; '-' is standard output. Default: named after the input, in the current folder",
            &output);
  line.Text(
      "--show-source", "FILE",
      "of a source: show the text of FILE in its place, whose lines are the source's: that of a Python\n"
      "file from which a kernel was made; of a bundle: show its source FILE, and beside each line what is\n"
      "stored there",
      &shown);
  request.AddTo(line);
  line.Example("adc report relax.ir --shape x=1000000 --arg n=64 -o relax.html",
               "a page about relax.ir's kernels");
  line.Example("adc report golden.adcb relax.adcb", "what has changed");
  line.Example("adc report relax.adcb --show-source relax.ir",
               "a page about a bundle and the text of its source");
  line.Positional("bundle", 1, 2, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  if (output.empty()) output = std::filesystem::path(files.back()).stem().string() + ".html";
  if (FileStatus safe = KeepSources({output}, files); !safe) {
    PrintError(safe.Failure().text, "name another file with -o");
    return kExitUsage;
  }
  Json data, before;
  if (int code = ReportOf(files.back(), shown, request, &data); code != kExitOk) return code;
  if (files.size() > 1) {
    if (int code = ReportOf(files.front(), "", request, &before); code != kExitOk) return code;
    data["before"] = std::move(before);
  }
  FileStatus written = WriteWhole(output, ReportPage(data));
  if (written) return kExitOk;
  PrintError(written.Failure().text, written.Failure().help);
  return kExitFailed;
}

}  // namespace adc::tool
