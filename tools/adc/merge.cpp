// `adc merge`: one bundle of several that were compiled from the same source for different targets.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bundle_file.h"
#include "command_line.h"
#include "commands.h"
#include "json_output.h"
#include "print.h"
#include "support/exit_code.h"
#include "support/files.h"
#include "support/output_places.h"

namespace adc::tool {

namespace {

using artifact::Metadata;

/// Metadata as its text has it, so that no field can be forgotten in comparing.
int ReadText(const BundleFile& file, Json* text) {
  std::vector<uint8_t> bytes;
  if (int code = ReadSectionBytes(file, 0, &bytes); code != kExitOk) return code;
  *text = Json::parse(bytes);  // it was read as metadata before
  return kExitOk;
}

/// What does not depend on targets, without kernels.
Json HeadOf(Json text) {
  text.erase("kernels");
  text.erase("targets");
  return text;
}

/// A kernel without what depends on targets.
Json KernelOf(Json kernel) {
  for (Json& task : kernel["tasks"]) {
    task.erase("plans");
    task.erase("entries");
  }
  return kernel;
}

bool Has(const Metadata& metadata, std::string_view name) {
  return std::any_of(metadata.kernels.begin(), metadata.kernels.end(),
                     [&](const artifact::KernelMeta& kernel) { return kernel.name == name; });
}

class Merger {
 public:
  /// Takes the first bundle, or adds another. kExitOk, or the exit code after the reason was printed.
  int Add(const std::string& path) {
    files_.emplace_back();
    if (int code = ReadBundleFile(path, &files_.back()); code != kExitOk) return code;
    const BundleFile& file = files_.back();
    if (file.index.major != artifact::kFormatMajor || file.index.minor != artifact::kFormatMinor) {
      PrintError("'" + path + "' has format version " + std::to_string(file.index.major) + "." +
                     std::to_string(file.index.minor) + "; bundles of " +
                     std::to_string(artifact::kFormatMajor) + "." + std::to_string(artifact::kFormatMinor) +
                     " can be written",
                 "compile it again");
      return kExitBadBundle;
    }
    Json text;
    if (int code = ReadText(file, &text); code != kExitOk) return code;
    if (files_.size() == 1) {
      first_ = path;
      whole_ = file.metadata;
      text_ = text;
    } else if (int code = Join(path, file.metadata, text); code != kExitOk) {
      return code;
    }
    return TakeSections(path, file);
  }

  /// The merged bundle; false with the reason.
  bool Write(artifact::Vector<uint8_t>* written, artifact::Error* error) {
    artifact::FinishMetadata(&whole_);
    artifact::String json;
    if (!artifact::CheckMetadata(whole_, artifact::Limits(), error) ||
        !artifact::WriteMetadata(whole_, &json, error))
      return false;
    artifact::SectionInput meta;
    meta.kind = artifact::section::kMeta;
    meta.required = true;
    meta.bytes = {reinterpret_cast<const uint8_t*>(json.data()), json.size()};
    std::vector<artifact::SectionInput> sections = {meta};
    for (const Taken& one : taken_) {
      sections.push_back(one.input);
      sections.back().bytes = one.bytes;
    }
    constexpr const artifact::Allocator* kNoAllocator = nullptr;
    artifact::BundleIndex index;
    Metadata again;
    return artifact::WriteBundle(sections, written, error) &&
           artifact::ReadBundle({written->data(), written->size()}, artifact::Limits(), kNoAllocator, &index,
                                &again, error);
  }

  bool dropped_signatures() const { return dropped_signatures_; }

 private:
  struct Taken {
    artifact::SectionInput input;
    std::vector<uint8_t> bytes;
  };

  int Conflict(const std::string& path, const std::string& what, const std::string& help) {
    PrintError("'" + first_ + "' and '" + path + "' " + what, help);
    return kExitFailed;
  }

  // All but targets and code must be the same; targets must not.
  int Join(const std::string& path, const Metadata& other, const Json& text) {
    const char* together = "compile them with the same adc, the same sources and the same options";
    if (!(whole_.producer == other.producer)) {
      return Conflict(path,
                      "were made by different versions: '" + std::string(whole_.producer.view()) + "' and '" +
                          std::string(other.producer.view()) + "'",
                      together);
    }
    for (const artifact::TargetMeta& target : other.targets) {
      for (const artifact::TargetMeta& here : whole_.targets) {
        if (!(here.name == target.name)) continue;
        return Conflict(path, "both have code for " + std::string(target.name.view()),
                        "the code of a target is one whole: compile the sources together");
      }
    }
    if (int code = CompareKernels(path, other, text, together); code != kExitOk) return code;
    if (HeadOf(text_) != HeadOf(text))
      return Conflict(path, "differ in sources, layouts or recorded bounds", together);
    TakeEntries(other, text);
    return kExitOk;
  }

  int CompareKernels(const std::string& path, const Metadata& other, const Json& text, const char* together) {
    for (const Metadata* side : {&other, static_cast<const Metadata*>(&whole_)}) {
      const Metadata& opposite = side == &whole_ ? other : whole_;
      for (const artifact::KernelMeta& kernel : side->kernels) {
        if (Has(opposite, kernel.name)) continue;
        bool counts = kernel.role == artifact::KernelRole::kSize;
        return Conflict(path,
                        "have different kernels: '" + std::string(kernel.name.view()) + "' is only in '" +
                            (side == &whole_ ? first_ : path) + "'",
                        counts ? "it counts rows, which is compiled where a target of the run asks for it: "
                                 "give adc both targets at once"
                               : "the code of a target is one whole: compile the sources together");
      }
    }
    // They are the same ones, and in both in the order of their names.
    for (size_t index = 0; index < whole_.kernels.size(); ++index) {
      const artifact::KernelMeta &here = whole_.kernels[index], &there = other.kernels[index];
      std::string name(here.name.view());
      if (here.interface_hash != there.interface_hash)
        return Conflict(path, "have different parameters for kernel '" + name + "'", together);
      if (KernelOf(text_["kernels"][index]) == KernelOf(text["kernels"][index])) continue;
      return Conflict(path, "differ in tasks, sizes or places of kernel '" + name + "'", together);
    }
    return kExitOk;
  }

  // Targets go behind those that are there, as if adc had got them in that order.
  void TakeEntries(const Metadata& other, const Json& text) {
    auto shift = static_cast<uint32_t>(whole_.targets.size());
    for (const artifact::TargetMeta& target : other.targets) whole_.targets.push_back(target);
    for (size_t kernel = 0; kernel < whole_.kernels.size(); ++kernel) {
      for (size_t task = 0; task < whole_.kernels[kernel].tasks.size(); ++task) {
        TakeTask(other.kernels[kernel].tasks[task], text["kernels"][kernel]["tasks"][task]["plans"], shift,
                 whole_.kernels[kernel].tasks[task], text_["kernels"][kernel]["tasks"][task]["plans"]);
      }
    }
  }

  // Targets with equal plans share one, as they do where adc gets them together.
  static void TakeTask(const artifact::TaskMeta& from, const Json& from_plans, uint32_t shift,
                       artifact::TaskMeta& task, Json& plans) {
    std::vector<uint32_t> moved;
    for (size_t plan = 0; plan < from.plans.size(); ++plan) {
      auto found = std::find(plans.begin(), plans.end(), from_plans[plan]);
      moved.push_back(static_cast<uint32_t>(found - plans.begin()));
      if (found != plans.end()) continue;
      plans.push_back(from_plans[plan]);
      task.plans.push_back(from.plans[plan]);
    }
    for (artifact::EntryMeta entry : from.entries) {
      entry.target += shift;
      if (entry.plan != artifact::kNoIndex) entry.plan = moved[entry.plan];
      task.entries.push_back(entry);
    }
  }

  int TakeSections(const std::string& path, const BundleFile& file) {
    auto shift = static_cast<uint32_t>(whole_.targets.size() - file.metadata.targets.size());
    for (uint32_t number = 0; number < file.index.sections.size(); ++number) {
      const artifact::Section& section = file.index.sections[number];
      if (section.kind == artifact::section::kMeta) continue;
      if (section.kind == artifact::section::kSignature) {
        dropped_signatures_ = true;
        continue;
      }
      if (section.target == artifact::kNoTarget) {
        PrintError("'" + path + "' has a section " + SectionTitle(file, section) +
                       " that belongs to no target, so that it cannot be merged",
                   "adc strip takes source maps and debug information out");
        return kExitFailed;
      }
      Taken taken;
      taken.input.kind = section.kind;
      taken.input.target = section.target + shift;
      taken.input.required = (section.flags & artifact::kSectionRequired) != 0;
      taken.input.compress = true;
      taken.input.alignment = section.alignment;
      if (int code = ReadSectionBytes(file, number, &taken.bytes); code != kExitOk) return code;
      taken_.push_back(std::move(taken));
    }
    return kExitOk;
  }

  std::vector<BundleFile> files_;
  std::string first_;
  Metadata whole_;
  Json text_;  ///< of the first, with plans of all
  std::vector<Taken> taken_;
  bool dropped_signatures_ = false;
};

}  // namespace

int Merge(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  std::string out;
  CommandLine line(
      "adc merge -o FILE first.adcb second.adcb...",
      "Makes one bundle of several that were compiled from the same sources, with the same options,\n"
      "for different targets: what adc writes where it gets all targets at once, in the order of the\n"
      "bundles. Signatures are dropped, since they are of other content. Bundles that differ in\n"
      "anything but targets, or share one, are refused.");
  line.Text("-o", "FILE", "write to FILE; required", &out);
  line.Example("adc merge -o relax.adcb linux.adcb gpu.adcb", "one bundle with the targets of both");
  line.Positional("bundle", 2, SIZE_MAX, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  if (out.empty()) {
    PrintError("-o says where the merged bundle goes", "adc merge -o FILE first.adcb second.adcb");
    return kExitUsage;
  }
  if (FileStatus safe = KeepSources({out}, files); !safe) {
    PrintError(safe.Failure().text, safe.Failure().help);
    return kExitUsage;
  }
  Merger merger;
  for (const std::string& path : files) {
    if (int code = merger.Add(path); code != kExitOk) return code;
  }
  artifact::Vector<uint8_t> written;
  artifact::Error error;
  if (!merger.Write(&written, &error)) {
    PrintError("the merged bundle cannot be made: " + std::string(error.message()));
    return kExitBadBundle;
  }
  std::span<const uint8_t> bytes(written.data(), written.size());
  if (FileStatus done = WriteWhole(out, bytes); !done) {
    PrintError(done.Failure().text, done.Failure().help);
    return kExitFailed;
  }
  if (merger.dropped_signatures())
    PrintAside(
        "note: signatures were dropped: they are of other content. adc sign signs the merged bundle\n");
  return kExitOk;
}

}  // namespace adc::tool
