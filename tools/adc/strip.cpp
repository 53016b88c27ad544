// `adc strip`: takes signatures, source maps and debug information out of bundles.

#include "artifact/strip.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "bundle_file.h"
#include "command_line.h"
#include "commands.h"
#include "debug_parts.h"
#include "host/exit_code.h"
#include "host/files.h"
#include "json_output.h"
#include "print.h"

namespace adc::tool {

namespace {

struct Removed {
  std::string title;  ///< "SIGN", "debug information of PTX_ cuda:sm_80"
  uint64_t bytes;
};

/// The removed parts: sections as the bundle holds them, and the parts without which code is shorter in
/// `again`, not compressed.
std::vector<Removed> RemovedOf(const BundleFile& file, const artifact::BundleIndex& again) {
  std::vector<Removed> removed;
  for (const artifact::Section& section : file.index.sections) {
    const artifact::Section* left = again.Find(section.kind, section.target);
    if (left == nullptr) {
      removed.push_back({SectionTitle(file, section), section.stored_size});
    } else if (left->raw_hash != section.raw_hash) {
      removed.push_back(
          {"debug information of " + SectionTitle(file, section), section.raw_size - left->raw_size});
    }
  }
  return removed;
}

Json AsJson(const std::string& path, const std::vector<Removed>& removed, bool same_id, uint64_t before,
            uint64_t after) {
  Json entry;
  entry["bundle"] = path;
  entry["removed"] = Json::array();
  for (const Removed& one : removed)
    entry["removed"].push_back({{"section", one.title}, {"bytes", one.bytes}});
  entry["content_id_changed"] = !same_id;
  entry["bytes_before"] = before;
  entry["bytes_after"] = after;
  return entry;
}

/// Says what was removed, aside where the bundle itself goes to standard output.
void Say(const std::string& path, const std::vector<Removed>& removed, bool same_id, bool aside) {
  std::string text;
  for (const Removed& one : removed)
    text += path + ": removed " + one.title + ", " + Grouped(one.bytes) + " bytes\n";
  if (removed.empty()) text = path + ": nothing to remove\n";
  if (!same_id) text += path + ": the content id is another one: earlier signatures do not hold for it\n";
  if (aside) {
    PrintAside("%s", text.c_str());
  } else {
    PrintLines(text);
  }
}

}  // namespace

int Strip(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  std::string out;
  bool json = false;
  CommandLine line(
      "adc strip [-o FILE] [--json] bundle.adcb...",
      "Takes out of bundles what running them does not take: signatures, source maps and debug\n"
      "information, and says what that was. Without signatures the content id stays; it is another\n"
      "one where a source map or debug information goes. Sections of kinds that this version does\n"
      "not know stay.");
  line.Text("-o", "FILE", "write there, not in place", &out);
  line.Flag("--json", "print a list of objects", &json);
  line.Example("adc strip relax.adcb", "in place");
  line.Example("adc strip -o shipped.adcb relax.adcb", "leaves relax.adcb as it is");
  line.Positional("bundle", 1, SIZE_MAX, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  if (!out.empty() && files.size() != 1) {
    PrintError("-o requires one bundle");
    return kExitUsage;
  }
  bool aside = out == "-" || (out.empty() && files.size() == 1 && files[0] == "-");
  if (aside && json) {
    PrintError("the bundle goes to standard output, and so would --json", "write it with -o FILE");
    return kExitUsage;
  }
  Json list = Json::array();
  for (const std::string& path : files) {
    BundleFile file;
    if (int code = ReadBundleFile(path, &file); code != kExitOk) return code;
    artifact::Vector<uint8_t> written;
    artifact::Error error;
    artifact::BundleIndex again;
    artifact::Metadata metadata;
    if (!artifact::WithoutStrippable(file.bytes, file.index, TakeDebugOut, &written, &error) ||
        !artifact::ReadBundle({written.data(), written.size()}, artifact::Limits(),
                              static_cast<const artifact::Allocator*>(nullptr), &again, &metadata, &error)) {
      PrintError("'" + path + "': " + std::string(error.message()));
      return kExitBadBundle;
    }
    std::span<const uint8_t> bytes(written.data(), written.size());
    if (FileStatus done = WriteWhole(out.empty() ? path : out, bytes); !done) {
      PrintError(done.Failure().text, done.Failure().help);
      return kExitFailed;
    }
    std::vector<Removed> removed = RemovedOf(file, again);
    bool same_id = std::memcmp(again.content_id, file.index.content_id, sizeof again.content_id) == 0;
    if (json) {
      list.push_back(AsJson(path, removed, same_id, file.bytes.size(), written.size()));
    } else {
      Say(path, removed, same_id, aside);
    }
  }
  if (json) PrintJson(list);
  return kExitOk;
}

}  // namespace adc::tool
