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
      {"iterations",
       [](Metadata& m) {
         for (KernelMeta& kernel : m.kernels) kernel.tasks[0].extents.push_back(kernel.tasks[0].extents[0]);
       }},
  };
  return lies;
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && std::string(words[1]) == "--list") {
    for (const auto& [name, lie] : Lies()) std::printf("%s\n", name.c_str());
    return 0;
  }
  bool mutes = count == 5 && std::string(words[4]) == "mute";
  if (!(count == 4 || mutes) || !Lies().contains(words[3])) return 2;
  std::ifstream in(words[1], std::ios::binary);
  std::vector<uint8_t> file{std::istreambuf_iterator<char>(in), {}};
  BundleIndex index;
  Metadata metadata;
  Error error;
  if (!ReadBundle(file, Limits(), nullptr, &index, &metadata, &error)) return 3;
  Lies().at(words[3])(metadata);
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
    if (is_metadata &&
        std::equal(content.begin(), content.end(), json.view().begin(), json.view().end(),
                   [](uint8_t byte, char letter) { return byte == static_cast<uint8_t>(letter); })) {
      return 7;
    }
    if (is_metadata) content = {reinterpret_cast<const uint8_t*>(json.data()), json.size()};
    if (mutes && !is_metadata) {
      // As long as it was: SPIR-V has counted its words.
      std::string_view mark = "adc facts: ";
      auto at = std::search(bytes.begin(), bytes.end(), mark.begin(), mark.end());
      if (at != bytes.end()) *at = 'x';
    }
    sections.push_back({section.kind, section.target, (section.flags & kSectionRequired) != 0,
                        (section.flags & kSectionZstd) != 0, section.alignment, content});
  }
  Vector<uint8_t> written;
  if (!WriteBundle(sections, &written, &error)) return 4;
  std::ofstream out(words[2], std::ios::binary);
  out.write(reinterpret_cast<const char*>(written.data()), static_cast<std::streamsize>(written.size()));
  return out.good() ? 0 : 5;
}
