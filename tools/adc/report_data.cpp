#include "report_data.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "driver/compile.h"
#include "launch_sizes_json.h"
#include "provision_json.h"
#include "report_names.h"
#include "report_stacks.h"
#include "support/printable.h"

namespace adc::tool {

namespace {

/// Numbers that JavaScript does not hold exactly become texts.
constexpr int64_t kMostExact = (int64_t{1} << 53) - 1;

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// All files that the page may name: the sources of the metadata, and the files that the compiler has read.
std::vector<std::string> FilesOf(const Json& metadata, const product::Product* product) {
  std::set<std::string> files;
  for (const Json& source : metadata["sources"]) files.insert(source.get<std::string>());
  if (product != nullptr) {
    for (const std::unique_ptr<diag::SourceFile>& file : product->sources.Files()) files.insert(file->name);
  }
  return {files.begin(), files.end()};
}

/// Names of files become those of the page, hidden characters visible, and large numbers texts.
void MakeShowable(Json& value, const PageNames& names) {
  if (value.is_string()) {
    value = Printable(names.Place(value.get<std::string>()));
  } else if (value.is_number_integer()) {
    bool large = value.is_number_unsigned()
                     ? value.get<uint64_t>() > uint64_t{kMostExact}
                     : value.get<int64_t>() > kMostExact || value.get<int64_t>() < -kMostExact;
    if (large) value = value.dump();
  } else if (value.is_structured()) {
    for (Json& inner : value) MakeShowable(inner, names);
  }
}

/// The provisions of gradients for values, and the texts in whose lines these stand.
class SourceFacts {
 public:
  explicit SourceFacts(const product::Product& product) : product_(product) {
    if (!product.sources.Files().empty()) Use(*product.sources.Files().front());
    for (const auto& [gradient, record] : product.provisions) {
      for (const autodiff::ProvisionNote& note : autodiff::NotesOf(record)) {
        // Loads have no cost that a margin would show.
        if (note.way != autodiff::ProvisionNote::Way::Loaded) Add(gradient, note);
      }
    }
  }

  Json files = Json::array(), notes = Json::array();

 private:
  void Add(const std::string& gradient, const autodiff::ProvisionNote& note) {
    const diag::SourceFile* file = product_.sources.FileOf(note.place);
    if (file == nullptr) return;
    notes.push_back(ProvisionJson(gradient, note, Use(*file), product_.sources));
  }

  /// The number of a file that the page shows.
  size_t Use(const diag::SourceFile& file) {
    for (size_t at = 0; at < shown_.size(); ++at) {
      if (shown_[at] == &file) return at;
    }
    shown_.push_back(&file);
    files.push_back({{"name", file.name}, {"text", PrintableLines(file.text)}});
    return shown_.size() - 1;
  }

  const product::Product& product_;
  std::vector<const diag::SourceFile*> shown_;
};

/// The formulas of a kernel's launches, as `adc size` prints them: of each task the extents, and of each plan
/// the capacities, with the parts that they share.
Json FormulasOf(const artifact::KernelMeta& kernel) {
  Json tasks = Json::array();
  for (const artifact::TaskMeta& task : kernel.tasks) {
    Json extents = Json::array(), plans = Json::array();
    for (artifact::NodeId extent : task.extents) extents.push_back(FormulaText(kernel, extent));
    for (const artifact::AdstackPlanMeta& plan : task.plans) {
      formulas::Formulas formulas = CapacityFormulas(kernel, plan);
      Json capacities = Json::array();
      for (const artifact::StackMeta& stack : plan.stacks) {
        bool known = stack.capacity != artifact::kNoNode;
        capacities.push_back(known ? Json(formulas.Text(stack.capacity)) : Json(nullptr));
      }
      plans.push_back({{"terms", formulas.Terms()}, {"capacities", std::move(capacities)}});
    }
    tasks.push_back({{"extents", std::move(extents)}, {"plans", std::move(plans)}});
  }
  return tasks;
}

Json CodeOf(const adrt_bundle* bundle, const adrt_bundle_report& report) {
  Json list = Json::array();
  for (uint32_t index = 0; index < report.section_count; ++index) {
    auto section = Sized<adrt_section_report>();
    adrt_bundle_section(bundle, index, &section, nullptr);
    if (section.target >= report.target_count) continue;
    list.push_back({{"target", section.target},
                    {"kind", section.kind},
                    {"raw", section.raw_bytes},
                    {"stored", section.stored_bytes}});
  }
  return list;
}

/// Whether the command line says of the parameter, or of the primal that it is a companion of, what `options`
/// (--shape or --arg) say: "x=4".
bool IsGiven(const std::vector<std::string>& options, std::string_view name) {
  return std::any_of(options.begin(), options.end(), [&](const std::string& option) {
    return std::string_view(option).substr(0, option.find('=')) == name;
  });
}

/// The value of a scalar that holds an integer; null of others.
Json IntegerOf(const adrt_arg& argument) {
  if (argument.type >= ADRT_TYPE_F16 || argument.rows * argument.columns != 1) return nullptr;
  bool is_signed = argument.type <= ADRT_TYPE_I64;
  uint64_t bits = 0;
  uint32_t size = artifact::kScalarTypeSizes[argument.type - 1];
  std::memcpy(&bits, argument.data, size);
  if (!is_signed) return bits;
  uint32_t above = 64 - 8 * size;
  return static_cast<int64_t>(bits << above) >> above;
}

/// The command line's values for a kernel's arguments, by name: extents, or a number.
Json ArgumentsOf(const LaunchSizes& launch, const SizeRequest& request) {
  Json given = Json::object();
  for (const adrt_arg& argument : launch.arguments()) {
    bool has_value = IsGiven(request.texts.args, argument.name);
    if (argument.kind == ADRT_PARAM_SCALAR && has_value)
      given[argument.name] = {{"value", IntegerOf(argument)}};
    if (argument.kind != ADRT_PARAM_BUFFER || !(has_value || IsGiven(request.texts.shapes, argument.name)))
      continue;
    std::vector<int64_t> extents(argument.extents, argument.extents + argument.rank);
    given[argument.name] = {{"extents", extents}};
  }
  return given;
}

/// A file that gives contents is named without its folder.
std::string GivenArgument(const std::string& text) {
  size_t at = text.find("=@");
  return at == std::string::npos ? text : text.substr(0, at + 2) + FileName(text.substr(at + 2));
}

/// The word of --checkpoint; empty where it was not given.
std::string CheckpointText(uint32_t checkpoint) {
  if (checkpoint == driver::kCheckpointAtLaunch) return "auto";
  return checkpoint == 0 ? "" : std::to_string(checkpoint);
}

Json GivenOptions(const SizeRequest& request) {
  Json words = Json::array();
  if (!request.kernel.empty()) words.push_back("--kernel " + request.kernel);
  for (const std::string& shape : request.texts.shapes) words.push_back("--shape " + shape);
  for (const std::string& argument : request.texts.args) words.push_back("--arg " + GivenArgument(argument));
  if (request.workers != 0) words.push_back("--threads " + std::to_string(request.workers));
  if (request.budget != 0) words.push_back("--budget " + std::to_string(request.budget));
  if (request.checkpoint != 0) words.push_back("--checkpoint " + CheckpointText(request.checkpoint));
  for (const PassShare& pass : request.passes) {
    char share[32];
    std::snprintf(share, sizeof share, "%g", pass.share);
    words.push_back("--pass " + (pass.gate.empty() ? "" : pass.gate + "=") + share);
  }
  return words;
}

Json BundleOf(const adrt_bundle_report& report) {
  std::string content;
  for (uint8_t byte : report.content_id) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    content += digits;
  }
  return {{"bytes", report.file_bytes},
          {"content", content},
          {"producer", report.producer},
          {"targets", report.target_count}};
}

}  // namespace

Json ReportData(const ReportInput& input) {
  auto report = Sized<adrt_bundle_report>();
  adrt_bundle_info(input.bundle, &report, nullptr);
  Json metadata = Json::parse(MetadataText(input.bundle));
  const PageNames names(FilesOf(metadata, input.product));
  Json stack_notes = Json::array();
  std::optional<bool> is_text;
  if (!input.source.empty()) {
    stack_notes = StackNotes(metadata, input.source);
    is_text = IsTextOf(metadata, input.source, *input.text);
  }
  Json sizes = Json::array(), formulas = Json::object(), arguments = Json::object(), passes = Json::array();
  for (const LaunchSizes& launch : input.sizes.launches()) {
    sizes.push_back(LaunchSizesJson(launch));
    const char* kernel = launch.kernel().report.name;
    if (formulas.contains(kernel)) continue;
    formulas[kernel] = FormulasOf(launch.meta());
    arguments[kernel] = ArgumentsOf(launch, input.request);
  }
  for (const PassShare& pass : input.request.passes)
    passes.push_back({{"gate", pass.gate}, {"share", pass.share}});
  Json data = {{"title", FileName(input.file)},
               {"bundle", BundleOf(report)},
               {"given", GivenOptions(input.request)},
               {"arguments", std::move(arguments)},
               {"threads", input.request.workers},
               {"budget", input.request.budget},
               {"checkpoint", CheckpointText(input.request.checkpoint)},
               {"passes", std::move(passes)},
               {"is_source", input.product != nullptr},
               {"metadata", std::move(metadata)},
               {"formulas", std::move(formulas)},
               {"sizes", std::move(sizes)},
               {"code", CodeOf(input.bundle, report)}};
  MakeShowable(data, names);
  data["sources"] = Json::array();
  data["notes"] = Json::array();
  if (!input.source.empty()) {
    MakeShowable(stack_notes, names);
    data["sources"].push_back({{"name", Printable(names.File(input.source))},
                               {"text", PrintableLines(*input.text)},
                               {"is_text", is_text ? Json(*is_text) : Json()}});
    data["notes"] = std::move(stack_notes);
  }
  if (input.product == nullptr) return data;
  SourceFacts facts(*input.product);
  MakeShowable(facts.notes, names);
  if (input.text != nullptr) facts.files[0]["text"] = PrintableLines(*input.text);
  for (Json& file : facts.files) file["name"] = Printable(names.File(file["name"].get<std::string>()));
  data["sources"] = std::move(facts.files);
  data["notes"] = std::move(facts.notes);
  return data;
}

}  // namespace adc::tool
