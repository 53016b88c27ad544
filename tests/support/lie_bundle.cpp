// lie_bundle IN OUT LIE [mute]: a bundle whose metadata says something else of its code than is so, in all
// that belongs together, and otherwise as it should be: hashes, content id, the metadata's own rules. For
// tests of what `adc verify` sees. With `mute` the code loses its note of what it was compiled with. Exit
// code 6: the metadata's rules already refuse it; 7: it says nothing of that about this code.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "artifact/bundle.h"

using namespace adc::artifact;

namespace {

void ForEachEntry(Metadata& metadata, const std::function<void(KernelMeta&, TaskMeta&, EntryMeta&)>& change) {
  for (KernelMeta& kernel : metadata.kernels) {
    for (TaskMeta& task : kernel.tasks) {
      for (EntryMeta& entry : task.entries) change(kernel, task, entry);
    }
  }
}

void ForEachStack(Metadata& metadata,
                  const std::function<void(KernelMeta&, AdstackPlanMeta&, StackMeta&)>& change) {
  for (KernelMeta& kernel : metadata.kernels) {
    for (TaskMeta& task : kernel.tasks) {
      for (AdstackPlanMeta& plan : task.plans) {
        for (StackMeta& stack : plan.stacks) change(kernel, plan, stack);
      }
    }
  }
}

using Lie = std::function<void(Metadata&)>;

const std::map<std::string, Lie>& Lies() {
  static const std::map<std::string, Lie> lies = {
      {"block-size",
       [](Metadata& m) { ForEachEntry(m, [](auto&, auto&, EntryMeta& entry) { entry.block_size *= 2; }); }},
      {"shared-memory",
       [](Metadata& m) { ForEachEntry(m, [](auto&, auto&, EntryMeta& entry) { entry.shared_bytes += 8; }); }},
      {"parameter-order",
       [](Metadata& m) {
         for (KernelMeta& kernel : m.kernels) std::swap(kernel.params[0].name, kernel.params[1].name);
       }},
      {"parameter-rank", [](Metadata& m) { m.kernels[0].params[0].rank += 1; }},
      {"parameter-access",
       [](Metadata& m) {
         for (KernelMeta& kernel : m.kernels) {
           for (ParamMeta& param : kernel.params) param.access = Access::kRead;
         }
       }},
      {"binding-number",
       [](Metadata& m) {
         ForEachEntry(m, [](auto&, auto&, EntryMeta& entry) {
           if (!entry.bindings.empty()) entry.bindings.back().number += 1;
         });
       }},
      {"binding-type",
       [](Metadata& m) {
         ForEachEntry(m, [](auto&, auto&, EntryMeta& entry) {
           if (!entry.bindings.empty()) entry.bindings[0].type = ScalarType::kI32;
         });
       }},
      {"binding-missing",
       [](Metadata& m) {
         ForEachEntry(m, [](auto&, auto&, EntryMeta& entry) {
           if (!entry.bindings.empty()) entry.bindings.pop_back();
         });
       }},
      {"binding-order",
       [](Metadata& m) {
         ForEachEntry(m, [](auto&, auto&, EntryMeta& entry) {
           if (entry.bindings.size() > 1) std::swap(entry.bindings[0].param, entry.bindings[1].param);
         });
       }},
      {"entry-of-another-kernel",
       [](Metadata& m) {
         EntryMeta &first = m.kernels[0].tasks[0].entries[0], &second = m.kernels[1].tasks[0].entries[0];
         std::swap(first.symbol, second.symbol);
         std::swap(first.far_symbol, second.far_symbol);
       }},
      {"stack-storage",
       [](Metadata& m) {
         ForEachStack(m, [](auto&, auto&, StackMeta& stack) {
           stack.storage = stack.storage == Storage::kRow ? Storage::kPrivate : Storage::kRow;
         });
       }},
      {"stack-type",
       [](Metadata& m) {
         ForEachStack(m, [](auto&, auto&, StackMeta& stack) { stack.type = ScalarType::kF16; });
       }},
      {"stack-size",
       [](Metadata& m) {
         ForEachStack(m, [](KernelMeta& kernel, auto&, StackMeta& stack) {
           stack.capacity = kernel.tasks[0].extents[0];
         });
       }},
      {"row-lanes",
       [](Metadata& m) {
         ForEachStack(m, [](auto&, AdstackPlanMeta& plan, auto&) { plan.lanes = plan.lanes == 1 ? 1 : 64; });
       }},
      {"processor-features",
       [](Metadata& m) {
         for (TargetMeta& target : m.targets) {
           if (target.kind == "cpu") target.features.clear();
         }
       }},
      {"entry-that-is-not-there",
       [](Metadata& m) {
         for (EntryMeta& entry : m.kernels[0].tasks[0].entries) entry.symbol = "adc_nothing";
       }},
      {"no-entries",
       [](Metadata& m) {
         for (KernelMeta& kernel : m.kernels) {
           for (TaskMeta& task : kernel.tasks) task.entries.clear();
         }
       }},
      {"iterations",
       [](Metadata& m) {
         for (KernelMeta& kernel : m.kernels) kernel.tasks[0].extents.push_back(kernel.tasks[0].extents[0]);
       }},
  };
  return lies;
}

/// What is no lie and may still hurt: texts that drive a terminal, and metadata that is long to write out or
/// to evaluate. Not in the list.
constexpr std::string_view kHostile =
    "\x1B]0;own\x07\x1B[2J\xC2\x9B"
    "31m\xE2\x80\xAE"
    "ri.x\xE2\x81\xA6\nx.adcb: good (1 kernels)\r\x7F";

void HostileTexts(Metadata& metadata) {
  for (String& source : metadata.sources) source = kHostile;
  ForEachStack(metadata, [](auto&, AdstackPlanMeta& plan, StackMeta& stack) {
    stack.place = kHostile;
    for (GroupMeta& group : plan.groups) group.gate = kHostile;
  });
  for (KernelMeta& kernel : metadata.kernels) {
    kernel.place = kHostile;
    for (TaskMeta& task : kernel.tasks) task.place = kHostile;
    for (Vector<CheckMeta>* checks : {&kernel.asserts, &kernel.accesses}) {
      for (CheckMeta& check : *checks) check.place = check.text = kHostile;
    }
  }
}

/// Code that is text, with escapes where its lines are indented.
void HostileCode(const Section& section, Vector<uint8_t>* bytes) {
  if (section.kind != section::kPtx && section.kind != section::kMsl) return;
  for (size_t at = 1; at < bytes->size(); ++at) {
    uint8_t& byte = (*bytes)[at];
    if ((*bytes)[at - 1] == '\n' && (byte == '\t' || byte == ' ')) byte = 0x1B;
  }
}

void ManyTasks(Metadata& metadata) {
  ForEachStack(metadata, [](KernelMeta& kernel, auto&, StackMeta& stack) {
    NodeId value = stack.capacity;
    for (int index = 0; index < 2000; ++index)
      value = kernel.exprs.Max(kernel.exprs.Sub(value, kernel.exprs.Const(1)), kernel.exprs.Const(7));
    stack.capacity = value;
  });
  for (KernelMeta& kernel : metadata.kernels) {
    if (kernel.tasks.empty() || kernel.tasks[0].plans.empty()) continue;
    for (int index = 0; index < 1500; ++index) kernel.tasks.push_back(kernel.tasks[0]);
  }
}

void LongLoops(Metadata& metadata) {
  ForEachStack(metadata, [](KernelMeta& kernel, auto&, StackMeta& stack) {
    SizeExprPool& pool = kernel.exprs;
    stack.capacity = pool.MaxOver(0, pool.Const(0), pool.Const(20000000),
                                  pool.Max(pool.Min(pool.Index(0), pool.Const(9)), stack.capacity));
  });
}

const std::map<std::string, Lie>& Hurts() {
  static const std::map<std::string, Lie> hurts = {
      {"hostile-texts", HostileTexts}, {"many-tasks", ManyTasks}, {"long-loops", LongLoops}};
  return hurts;
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && std::string(words[1]) == "--list") {
    for (const auto& [name, lie] : Lies()) std::printf("%s\n", name.c_str());
    return 0;
  }
  bool mutes = count == 5 && std::string(words[4]) == "mute";
  bool hurts = count == 4 && Hurts().contains(words[3]);
  if (!(count == 4 || mutes) || (!hurts && !Lies().contains(words[3]))) return 2;
  std::ifstream in(words[1], std::ios::binary);
  std::vector<uint8_t> file{std::istreambuf_iterator<char>(in), {}};
  BundleIndex index;
  Metadata metadata;
  Error error;
  if (!ReadBundle(file, Limits(), nullptr, &index, &metadata, &error)) return 3;
  (hurts ? Hurts() : Lies()).at(words[3])(metadata);
  FinishMetadata(&metadata);
  String json;
  if (!WriteMetadata(metadata, &json, &error)) {
    std::fprintf(stderr, "%s\n", error.text);
    return 6;
  }
  std::vector<std::unique_ptr<Vector<uint8_t>>> contents;
  std::vector<SectionInput> sections;
  for (uint32_t number = 0; number < index.sections.size(); ++number) {
    const Section& section = index.sections[number];
    Vector<uint8_t>& bytes = *contents.emplace_back(std::make_unique<Vector<uint8_t>>());
    if (!ReadSection(file, index, number, Limits(), &bytes, &error)) return 3;
    std::span<const uint8_t> content(bytes.data(), bytes.size());
    bool is_metadata = section.kind == section::kMeta;
    // Code has an entry for each task.
    if (!is_metadata && std::string_view(words[3]) == "many-tasks") continue;
    if (hurts && std::string_view(words[3]) == "hostile-texts") HostileCode(section, &bytes);
    if (is_metadata &&
        std::equal(content.begin(), content.end(), json.view().begin(), json.view().end(),
                   [](uint8_t byte, char letter) { return byte == static_cast<uint8_t>(letter); })) {
      return 7;
    }
    if (is_metadata) content = {reinterpret_cast<const uint8_t*>(json.data()), json.size()};
    if (mutes && !is_metadata) {
      // As long as it was: SPIR-V has counted its words.
      for (std::string_view mark : {"adc facts: ", "adc needs: "}) {
        auto at = std::search(bytes.begin(), bytes.end(), mark.begin(), mark.end());
        if (at != bytes.end()) *at = 'x';
      }
    }
    sections.push_back({section.kind, section.target, (section.flags & kSectionRequired) != 0,
                        (section.flags & kSectionZstd) != 0 && !hurts, section.alignment, content});
  }
  Vector<uint8_t> written;
  if (!WriteBundle(sections, &written, &error)) return 4;
  std::ofstream out(words[2], std::ios::binary);
  out.write(reinterpret_cast<const char*>(written.data()), static_cast<std::streamsize>(written.size()));
  return out.good() ? 0 : 5;
}
