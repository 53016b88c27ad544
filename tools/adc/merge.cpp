// `adc merge`: one bundle of several: of the same kernels for different targets, of different kernels, or of
// both. The code of a target is one whole, an image or a module, and is not linked with another one: the code
// of another bundle for the same target lies under a name of its own, "cpu:x86-64#2", and the loader takes
// the code for which each kernel asks (runtime-loader/src/core/parts.h).

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "bundle_file.h"
#include "command_line.h"
#include "commands.h"
#include "host/exit_code.h"
#include "host/files.h"
#include "host/output_places.h"
#include "json_output.h"
#include "print.h"

namespace adc::tool {

namespace {

using artifact::Metadata;

constexpr const char* kTogether = "compile them with the same adc, the same sources and the same options";

/// The metadata's text of every kernel, so that no field can be forgotten in comparing: by name, with names
/// in place of positions in the bundle, and without what depends on targets.
int ReadKernels(const BundleFile& file, std::map<std::string, Json>* kernels) {
  std::vector<uint8_t> bytes;
  if (int code = ReadSectionBytes(file, 0, &bytes); code != kExitOk) return code;
  Json text = Json::parse(bytes);  // it was read as metadata before
  const Metadata& metadata = file.metadata;
  for (size_t index = 0; index < metadata.kernels.size(); ++index) {
    const artifact::KernelMeta& meta = metadata.kernels[index];
    Json& kernel = text["kernels"][index];
    if (meta.bounds != artifact::kNoIndex)
      kernel["bounds"] = std::string(metadata.kernels[meta.bounds].name.view());
    for (size_t param = 0; param < meta.params.size(); ++param) {
      uint32_t layout = meta.params[param].layout;
      if (layout == artifact::kNoIndex) continue;
      kernel["params"][param]["layout"] = text["layouts"][layout];
    }
    (*kernels)[std::string(meta.name.view())] = std::move(kernel);
  }
  return kExitOk;
}

/// A kernel without what depends on targets.
Json KernelOf(Json kernel) {
  for (Json& task : kernel["tasks"]) {
    task.erase("plans");
    task.erase("entries");
  }
  return kernel;
}

/// "cpu:x86-64" of "cpu:x86-64#2", which is another bundle's code for the same target.
std::string_view WithoutNumber(std::string_view target) {
  return target.substr(0, target.find('#'));
}

template <class List>
uint32_t Position(const List& list, std::string_view name) {
  for (uint32_t index = 0; index < list.size(); ++index) {
    if (list[index].name == name) return index;
  }
  return artifact::kNoIndex;
}

/// Where the kernel is, or would be, in the order of names.
uint32_t PlaceOf(const Metadata& metadata, std::string_view name) {
  auto found = std::lower_bound(metadata.kernels.begin(), metadata.kernels.end(), name,
                                [](const artifact::KernelMeta& kernel, std::string_view wanted) {
                                  return kernel.name.view() < wanted;
                                });
  return static_cast<uint32_t>(found - metadata.kernels.begin());
}

uint32_t KernelPosition(const Metadata& metadata, std::string_view name) {
  uint32_t place = PlaceOf(metadata, name);
  bool found = place < metadata.kernels.size() && metadata.kernels[place].name == name;
  return found ? place : artifact::kNoIndex;
}

/// A kernel of `one` that counts rows for a kernel of both, and that `other` has not; empty where there is
/// none.
std::string LackingCounter(const Metadata& one, const Metadata& other) {
  for (const artifact::KernelMeta& kernel : one.kernels) {
    if (KernelPosition(other, kernel.name.view()) == artifact::kNoIndex) continue;
    for (const artifact::TaskMeta& task : kernel.tasks) {
      for (const artifact::String* counter : {&task.size_kernel, &task.trip_kernel}) {
        if (!counter->empty() && KernelPosition(other, counter->view()) == artifact::kNoIndex)
          return std::string(counter->view());
      }
    }
  }
  return {};
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
    std::map<std::string, Json> kernels;
    if (int code = ReadKernels(file, &kernels); code != kExitOk) return code;
    if (files_.size() == 1) {
      first_ = path;
      whole_ = file.metadata;
      kernels_ = std::move(kernels);
    } else if (int code = Join(path, file.metadata, kernels); code != kExitOk) {
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
    std::string prints = Json{{"kernels", prints_}}.dump(-1, ' ', false, Json::error_handler_t::replace);
    artifact::SectionInput printing;
    printing.kind = artifact::section::kPrints;
    printing.bytes = {reinterpret_cast<const uint8_t*>(prints.data()), prints.size()};
    if (!prints_.empty()) sections.push_back(printing);
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
  size_t target_count() const { return whole_.targets.size(); }

 private:
  struct Taken {
    artifact::SectionInput input;
    std::vector<uint8_t> bytes;
  };
  using Kernels = std::map<std::string, Json>;

  int Conflict(const std::string& path, const std::string& what, const std::string& help) {
    PrintError("'" + first_ + "' and '" + path + "' " + what, help);
    return kExitFailed;
  }

  // A kernel of both must be the same but for its targets, which must be others. The rest is added.
  int Join(const std::string& path, const Metadata& other, Kernels& kernels) {
    if (!(whole_.producer == other.producer)) {
      return Conflict(path,
                      "were made by different versions: '" + std::string(whole_.producer.view()) + "' and '" +
                          std::string(other.producer.view()) + "'",
                      kTogether);
    }
    if (whole_.bounds_recorded != other.bounds_recorded)
      return Conflict(path, "differ in --bounds-record", "compile both with it, or both without");
    if (int code = CompareKernels(path, other, kernels); code != kExitOk) return code;
    if (int code = TakeLayouts(path, other); code != kExitOk) return code;
    TakeSources(other);
    auto shift = static_cast<uint32_t>(whole_.targets.size());
    TakeTargets(other);
    for (size_t kernel = 0; kernel < other.kernels.size(); ++kernel) {
      std::string name(other.kernels[kernel].name.view());
      uint32_t here = KernelPosition(whole_, name);
      if (here == artifact::kNoIndex) {
        TakeKernel(other, other.kernels[kernel], shift);
        kernels_[name] = std::move(kernels[name]);
      } else {
        TakeEntries(other.kernels[kernel], kernels[name], shift, whole_.kernels[here], kernels_[name]);
      }
    }
    TakeBounds(other);
    return kExitOk;
  }

  /// A name has two rows where the texts differ.
  void TakeSources(const Metadata& other) {
    auto digest_of = [](const Metadata& metadata, size_t source) {
      return metadata.source_digests.empty() ? artifact::String() : metadata.source_digests[source];
    };
    artifact::Vector<artifact::String> digests;
    for (size_t here = 0; here < whole_.sources.size(); ++here) digests.push_back(digest_of(whole_, here));
    for (size_t there = 0; there < other.sources.size(); ++there) {
      artifact::String digest = digest_of(other, there);
      bool known = false;
      for (size_t here = 0; here < digests.size(); ++here)
        known = known || (whole_.sources[here] == other.sources[there] && digests[here] == digest);
      if (known) continue;
      whole_.sources.push_back(other.sources[there]);
      digests.push_back(digest);
    }
    whole_.source_digests = std::move(digests);
  }

  int CompareKernels(const std::string& path, const Metadata& other, const Kernels& kernels) {
    std::string lacking_here = LackingCounter(other, whole_), lacking_there = LackingCounter(whole_, other);
    if (!lacking_here.empty() || !lacking_there.empty()) {
      bool here = !lacking_here.empty();
      return Conflict(path,
                      "have different kernels: '" + (here ? lacking_here : lacking_there) + "' is only in '" +
                          (here ? path : first_) + "'",
                      "it counts rows, which is compiled where a target of the run asks for it: "
                      "give adc both targets at once");
    }
    for (const artifact::KernelMeta& there : other.kernels) {
      uint32_t index = KernelPosition(whole_, there.name.view());
      if (index == artifact::kNoIndex) continue;
      const artifact::KernelMeta& here = whole_.kernels[index];
      std::string name(here.name.view());
      if (std::string target = SharedTarget(here, other, there); !target.empty()) {
        return Conflict(path, "both have code for " + target + " of kernel '" + name + "'",
                        "the code of a target is one whole: compile the sources together");
      }
      if (here.interface_hash != there.interface_hash)
        return Conflict(path, "have different parameters for kernel '" + name + "'", kTogether);
      if (KernelOf(kernels_.at(name)) == KernelOf(kernels.at(name))) continue;
      return Conflict(path, "differ in tasks, sizes, layouts or places of kernel '" + name + "'", kTogether);
    }
    return kExitOk;
  }

  /// A target for which both have code for a kernel; empty where there is none.
  std::string SharedTarget(const artifact::KernelMeta& here, const Metadata& other,
                           const artifact::KernelMeta& there) const {
    if (here.tasks.empty() || there.tasks.empty()) return {};
    for (const artifact::EntryMeta& one : here.tasks[0].entries) {
      for (const artifact::EntryMeta& two : there.tasks[0].entries) {
        std::string_view name = WithoutNumber(whole_.targets[one.target].name.view());
        if (name == WithoutNumber(other.targets[two.target].name.view())) return std::string(name);
      }
    }
    return {};
  }

  int TakeLayouts(const std::string& path, const Metadata& other) {
    for (const artifact::LayoutMeta& layout : other.layouts) {
      uint32_t here = Position(whole_.layouts, layout.name.view());
      if (here == artifact::kNoIndex) {
        whole_.layouts.push_back(layout);
      } else if (!SameLayout(whole_.layouts[here], layout)) {
        return Conflict(path, "have different layouts named '@" + std::string(layout.name.view()) + "'",
                        "give one of them another name in its source");
      }
    }
    return kExitOk;
  }

  static bool SameLayout(const artifact::LayoutMeta& one, const artifact::LayoutMeta& two) {
    auto same_level = [](const artifact::LevelMeta& a, const artifact::LevelMeta& b) {
      return std::ranges::equal(a.extents, b.extents) && std::ranges::equal(a.strides, b.strides);
    };
    auto same_field = [&](const artifact::FieldMeta& a, const artifact::FieldMeta& b) {
      return a.name == b.name && a.type == b.type && a.rows == b.rows && a.columns == b.columns &&
             a.diff == b.diff && a.offset == b.offset && std::ranges::equal(a.levels, b.levels, same_level);
    };
    return one.size == two.size && one.alignment == two.alignment &&
           std::ranges::equal(one.fields, two.fields, same_field);
  }

  // Targets go after the present ones, as if adc had got them in that order. Code of another bundle for a
  // target that is there is under a name of its own.
  void TakeTargets(const Metadata& other) {
    for (artifact::TargetMeta target : other.targets) {
      std::string base(WithoutNumber(target.name.view())), name = base;
      for (uint32_t number = 2; Position(whole_.targets, name) != artifact::kNoIndex; ++number)
        name = base + "#" + std::to_string(number);
      target.name = artifact::String(name);
      whole_.targets.push_back(std::move(target));
    }
  }

  // At its place in the order of names.
  void TakeKernel(const Metadata& other, artifact::KernelMeta kernel, uint32_t shift) {
    for (artifact::ParamMeta& param : kernel.params) {
      if (param.layout != artifact::kNoIndex)
        param.layout = Position(whole_.layouts, other.layouts[param.layout].name.view());
    }
    for (artifact::TaskMeta& task : kernel.tasks) {
      for (artifact::EntryMeta& entry : task.entries) entry.target += shift;
    }
    kernel.bounds = artifact::kNoIndex;  // TakeBounds
    uint32_t place = PlaceOf(whole_, kernel.name.view());
    for (artifact::KernelMeta& here : whole_.kernels) {
      if (here.bounds != artifact::kNoIndex && here.bounds >= place) ++here.bounds;
    }
    whole_.kernels.push_back(std::move(kernel));
    std::rotate(whole_.kernels.begin() + place, whole_.kernels.end() - 1, whole_.kernels.end());
  }

  void TakeBounds(const Metadata& other) {
    for (const artifact::KernelMeta& kernel : other.kernels) {
      if (kernel.bounds == artifact::kNoIndex) continue;
      whole_.kernels[KernelPosition(whole_, kernel.name.view())].bounds =
          KernelPosition(whole_, other.kernels[kernel.bounds].name.view());
    }
  }

  static void TakeEntries(const artifact::KernelMeta& from, const Json& from_text, uint32_t shift,
                          artifact::KernelMeta& kernel, Json& text) {
    for (size_t task = 0; task < kernel.tasks.size(); ++task)
      TakeTask(from.tasks[task], from_text["tasks"][task]["plans"], shift, kernel.tasks[task],
               text["tasks"][task]["plans"]);
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
      if (section.kind == artifact::section::kPrints) {
        if (int code = TakePrints(path, file, number); code != kExitOk) return code;
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

  // The prints of each kernel; a kernel of both must print the same.
  int TakePrints(const std::string& path, const BundleFile& file, uint32_t section) {
    std::vector<uint8_t> bytes;
    if (int code = ReadSectionBytes(file, section, &bytes); code != kExitOk) return code;
    Json text = Json::parse(bytes, nullptr, false);
    auto kernels = text.is_object() ? text.find("kernels") : text.end();
    if (kernels == text.end() || !kernels->is_array()) {
      PrintError("'" + path + "' has a section PRNT that is no list of what kernels print");
      return kExitBadBundle;
    }
    for (Json& kernel : *kernels) {
      if (!kernel.is_object()) continue;
      auto same = std::find_if(prints_.begin(), prints_.end(), [&](const Json& here) {
        return here.value("kernel", Json()) == kernel.value("kernel", Json());
      });
      if (same == prints_.end()) {
        prints_.push_back(std::move(kernel));
      } else if (*same != kernel) {
        return Conflict(path, "print different things in a kernel of both", kTogether);
      }
    }
    return kExitOk;
  }

  std::vector<BundleFile> files_;
  std::string first_;
  Metadata whole_;
  Kernels kernels_;  ///< the text of each of its kernels, with plans of all targets
  std::vector<Taken> taken_;
  std::vector<Json> prints_;  ///< of each kernel that prints, as the section has it
  bool dropped_signatures_ = false;
};

}  // namespace

int Merge(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  std::string out;
  CommandLine line(
      "adc merge -o FILE first.adcb second.adcb...",
      "Makes one bundle of several. Where they hold the same kernels for different targets, it is what\n"
      "adc writes where it gets all targets at once, in the order of the bundles. Other kernels are\n"
      "added; code for a target that is there already lies under a name with a number, cpu:x86-64#2.\n"
      "All must be of the same adc. Signatures are dropped, since they are of other content. A kernel\n"
      "that two of them have for one target is refused, and so is one that differs.");
  line.Text("-o", "FILE", "write to FILE; required", &out);
  line.Example("adc merge -o relax.adcb linux.adcb gpu.adcb", "one bundle with the targets of both");
  line.Example("adc merge -o game.adcb relax.adcb cloth.adcb", "one bundle with the kernels of both");
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
    bool many = merger.target_count() > artifact::Limits().targets;
    PrintError(
        "the merged bundle cannot be made: " + std::string(error.message()),
        many ? "the targets of all bundles count: compile the sources together, or for fewer targets" : "");
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
