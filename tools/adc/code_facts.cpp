#include "code_facts.h"

#include <algorithm>
#include <map>
#include <optional>

#include "artifact/gpu_abi.h"
#include "code_note.h"
#include "code_text.h"

// Launchers go by metadata: by its words, bindings, block sizes. Code has to say some of the same things in
// its own words, for the driver. Each form of code is read into the same facts, facts that it cannot state
// stay empty, and one comparison serves all.

namespace adc::tool {

namespace {

namespace kinds = artifact::section;
using artifact::EntryMeta, artifact::KernelMeta, artifact::TaskMeta;

struct BindingFact {
  char kind = '?';  ///< 'i' or 'f'
  uint32_t bits = 0;
  bool writable = true;
};

struct EntryFacts {
  std::optional<uint64_t> block_size, shared_bytes;
  bool shares_more = false;  ///< the processor's back end puts arrays of threads there as well
  std::optional<std::map<uint32_t, BindingFact>> bindings;
  std::optional<std::vector<std::string>> words;
};
using Facts = std::map<std::string, EntryFacts, std::less<>>;

/// SPIR-V: execution modes, and the variables of each entry point's interface. Its validator has seen the
/// module before, so that ids exist and are of the kind that their use wants.
class SpirvFacts {
 public:
  explicit SpirvFacts(const std::vector<uint32_t>& words) : words_(words) {}

  Facts Read() {
    for (size_t at = 5; at < words_.size();) {
      size_t length = words_[at] >> 16;
      if (length == 0 || length > words_.size() - at) break;
      Instruction(words_[at] & 0xFFFF, {words_.data() + at + 1, length - 1});
      at += length;
    }
    Facts facts;
    for (const Entry& entry : entries_) {
      EntryFacts& own = facts[entry.name];
      own.bindings.emplace();
      own.shared_bytes = 0;
      auto size = block_sizes_.find(entry.function);
      if (size != block_sizes_.end()) own.block_size = size->second;
      for (uint32_t id : entry.interface) {
        auto variable = variables_.find(id);
        if (variable == variables_.end()) continue;
        if (variable->second.storage == kWorkgroup) own.shared_bytes = 1;  // how much is not counted here
        auto binding = bindings_.find(id);
        if (binding != bindings_.end()) own.bindings->emplace(binding->second, Behind(variable->second));
      }
    }
    return facts;
  }

 private:
  static constexpr uint32_t kWorkgroup = 4;
  struct Entry {
    uint32_t function;
    std::string name;
    std::vector<uint32_t> interface;
  };
  struct Variable {
    uint32_t pointer, storage;
  };

  static std::string Text(std::span<const uint32_t> words, size_t* used) {
    std::string text;
    for (*used = 0; *used < words.size();) {
      uint32_t word = words[(*used)++];
      for (int byte = 0; byte < 4; ++byte, word >>= 8) {
        if ((word & 0xFF) == 0) return text;
        text += static_cast<char>(word & 0xFF);
      }
    }
    return text;
  }

  void Instruction(uint32_t opcode, std::span<const uint32_t> operands) {
    enum : uint32_t {
      kEntryPoint = 15,
      kExecutionMode = 16,
      kTypeInt = 21,
      kTypeFloat = 22,
      kTypeRuntimeArray = 29,
      kTypeStruct = 30,
      kTypePointer = 32,
      kVariable = 59,
      kDecorate = 71,
      kMemberDecorate = 72,
      kLocalSize = 17,
      kBinding = 33,
      kNonWritable = 24
    };
    auto has = [&](size_t count) { return operands.size() >= count; };
    if (opcode == kEntryPoint && has(3)) {
      size_t used = 0;
      std::string name = Text(operands.subspan(2), &used);
      entries_.push_back(
          {operands[1], name, {operands.begin() + 2 + static_cast<long>(used), operands.end()}});
    } else if (opcode == kExecutionMode && has(5) && operands[1] == kLocalSize) {
      block_sizes_[operands[0]] = uint64_t{operands[2]} * operands[3] * operands[4];
    } else if ((opcode == kTypeInt || opcode == kTypeFloat) && has(2)) {
      scalars_[operands[0]] = {opcode == kTypeInt ? 'i' : 'f', operands[1], true};
    } else if ((opcode == kTypeRuntimeArray || opcode == kTypeStruct) && has(2)) {
      inner_[operands[0]] = operands[1];
    } else if (opcode == kTypePointer && has(3)) {
      inner_[operands[0]] = operands[2];
    } else if (opcode == kVariable && has(3)) {
      variables_[operands[1]] = {operands[0], operands[2]};
    } else if (opcode == kDecorate && has(3) && operands[1] == kBinding) {
      bindings_[operands[0]] = operands[2];
    } else if (opcode == kMemberDecorate && has(3) && operands[2] == kNonWritable) {
      read_only_[operands[0]] = true;
    }
  }

  /// The numbers that a variable's block is an array of.
  BindingFact Behind(const Variable& variable) const {
    bool writable = true;
    uint32_t type = variable.pointer;
    for (int depth = 0; depth < 8; ++depth) {
      writable = writable && !read_only_.contains(type);
      if (auto scalar = scalars_.find(type); scalar != scalars_.end())
        return {scalar->second.kind, scalar->second.bits, writable};
      auto next = inner_.find(type);
      if (next == inner_.end()) break;
      type = next->second;
    }
    return {};
  }

  const std::vector<uint32_t>& words_;
  std::vector<Entry> entries_;
  std::map<uint32_t, uint64_t> block_sizes_;
  std::map<uint32_t, BindingFact> scalars_;
  std::map<uint32_t, uint32_t> inner_, bindings_;
  std::map<uint32_t, Variable> variables_;
  std::map<uint32_t, bool> read_only_;
};

/// The number at `at`, and where it ends.
uint64_t NumberAt(std::string_view text, size_t* at) {
  uint64_t number = 0;
  while (*at < text.size() && text[*at] >= '0' && text[*at] <= '9' && number < uint64_t{1} << 40) {
    number = number * 10 + static_cast<uint64_t>(text[(*at)++] - '0');
  }
  return number;
}

/// PTX: `.reqntid` after the parameters, `.shared` declarations in the body.
EntryFacts PtxFacts(std::string_view text, const EntryMeta& entry) {
  EntryFacts facts;
  size_t begin = FindEntry(text, ".entry", entry.symbol.view());
  if (begin == std::string_view::npos) return facts;
  size_t body = text.find("\n{", begin), end = text.find("\n}", begin);
  if (body == std::string_view::npos || end == std::string_view::npos || body > end) return facts;
  constexpr std::string_view kThreads = ".reqntid";
  std::string_view head = text.substr(begin, body - begin);
  if (size_t at = head.find(kThreads); at != std::string_view::npos) {
    uint64_t product = 1;
    at += kThreads.size();
    do {
      while (at < head.size() && (head[at] == ' ' || head[at] == ',')) ++at;
      product *= NumberAt(head, &at);
    } while (at < head.size() && head[at] == ',' && product < uint64_t{1} << 20);
    facts.block_size = product;
  }
  uint64_t shared = 0;
  std::string_view inside = text.substr(body, end - body);
  constexpr std::string_view kShared = "\n\t.shared ";
  for (size_t at = inside.find(kShared); at != std::string_view::npos; at = inside.find(kShared, at + 1)) {
    size_t line = inside.find('\n', at + 1), open = inside.find('[', at);
    if (open == std::string_view::npos || open > line) continue;
    ++open;
    shared += NumberAt(inside, &open);
  }
  facts.shared_bytes = shared;
  return facts;
}

/// HSACO: the facts that the note of the code object states of each kernel.
Facts HsacoFacts(std::span<const uint8_t> bytes) {
  Facts facts;
  for (const NoteKernel& kernel : KernelsOfNote(bytes)) {
    EntryFacts& own = facts[kernel.name];
    own.block_size = kernel.block_size;
    own.shared_bytes = kernel.shared_bytes;
    own.shares_more = true;
    own.words = kernel.words;
  }
  return facts;
}

/// The words of a launch by the names that the compiler gives them (artifact/gpu_abi.h has their order).
std::vector<std::string> WordsOf(const KernelMeta& kernel, const TaskMeta& task, const EntryMeta& entry) {
  std::vector<std::string> names;
  for (const artifact::ParamMeta& param : kernel.params) {
    std::string name(param.name.view());
    bool memory = param.kind != artifact::ParamKind::kScalar && param.kind != artifact::ParamKind::kSegment &&
                  param.kind != artifact::ParamKind::kTrips;
    uint32_t cells = artifact::CellCount(param), numbered = memory ? cells - 1 : cells > 1 ? cells : 0;
    if (cells > numbered) names.push_back(name);
    for (uint32_t part = 0; part < numbered; ++part) names.push_back(name + "." + std::to_string(part));
  }
  if (entry.plan != artifact::kNoIndex) {
    const artifact::AdstackPlanMeta& plan = task.plans[entry.plan];
    for (size_t group = 0; group < plan.groups.size(); ++group) {
      for (const char* word : {".offset", ".stride", ".rows", ".counter"})
        names.push_back("group" + std::to_string(group) + word);
    }
    for (size_t stack = 0; stack < plan.stacks.size(); ++stack) {
      if (plan.stacks[stack].storage != artifact::Storage::kRow) continue;
      for (const char* word : {".offset", ".capacity"})
        names.push_back("stack" + std::to_string(stack) + word);
    }
  }
  for (const char* word : {"heap", "status", "iterations", "threads"}) names.emplace_back(word);
  return names;
}

/// Those of them that are parameters of the entry.
std::vector<std::string> ParametersOf(const KernelMeta& kernel, const TaskMeta& task,
                                      const EntryMeta& entry) {
  std::vector<std::string> names = WordsOf(kernel, task, entry);
  if (names.size() <= ADRT_GPU_MAX_WORDS) return names;
  names[ADRT_GPU_DIRECT_WORDS] = "adc.table";
  names.erase(names.begin() + ADRT_GPU_DIRECT_WORDS + 1, names.end() - ADRT_GPU_TAIL_WORDS);
  return names;
}

std::string Named(const EntryMeta& entry, const std::string& what) {
  return "'" + std::string(entry.symbol.view()) + "' " + what;
}

std::string CompareWords(const EntryMeta& entry, const std::vector<std::string>& code,
                         const std::vector<std::string>& stated) {
  for (size_t word = 0; word < std::max(code.size(), stated.size()); ++word) {
    std::string has = word < code.size() ? "'" + code[word] + "'" : "nothing",
                says = word < stated.size() ? "'" + stated[word] + "'" : "nothing";
    if (has != says) {
      return Named(entry, "takes " + has + " as word " + std::to_string(word) + ", its launch gives " + says);
    }
  }
  return {};
}

std::string CompareBindings(const KernelMeta& kernel, const EntryMeta& entry,
                            const std::map<uint32_t, BindingFact>& code) {
  std::map<uint32_t, const artifact::BindingMeta*> stated;
  for (const artifact::BindingMeta& binding : entry.bindings) stated[binding.number] = &binding;
  for (const auto& [number, fact] : code) {
    std::string title = "binding " + std::to_string(number);
    auto found = stated.find(number);
    if (found == stated.end()) return Named(entry, "has " + title + ", which the metadata does not state");
    const artifact::BindingMeta& binding = *found->second;
    std::string type(artifact::ScalarTypeName(binding.type));
    char kind = type.starts_with('f') ? 'f' : 'i';
    uint32_t bits = 8 * artifact::ScalarTypeSize(binding.type);
    if (fact.kind != kind || fact.bits != bits) {
      return Named(entry, "sees " + std::string(1, fact.kind) + std::to_string(fact.bits) + " behind " +
                              title + ", which the metadata states as " + type);
    }
    bool of_param = binding.of == artifact::BindingOf::kParam;
    if (of_param && fact.writable && kernel.params[binding.param].access == artifact::Access::kRead) {
      return Named(entry, "may write to " + title + ", '" +
                              std::string(kernel.params[binding.param].name.view()) +
                              "', which the metadata states as read");
    }
    stated.erase(found);
  }
  if (stated.empty()) return {};
  return Named(entry,
               "has no binding " + std::to_string(stated.begin()->first) + ", which the metadata states");
}

std::string Compare(const KernelMeta& kernel, const TaskMeta& task, const EntryMeta& entry,
                    const EntryFacts& facts) {
  if (facts.block_size && *facts.block_size != entry.block_size) {
    return Named(entry, "is made for blocks of " + std::to_string(*facts.block_size) +
                            " threads, the metadata says " + std::to_string(entry.block_size));
  }
  bool shares_some = facts.bindings.has_value();  // SPIR-V says that, not how much
  uint64_t stated = shares_some ? uint64_t{entry.shared_bytes != 0} : entry.shared_bytes;
  bool shares_as_stated = !facts.shared_bytes ||
                          (facts.shares_more ? *facts.shared_bytes >= stated : *facts.shared_bytes == stated);
  if (!shares_as_stated) {
    return Named(entry, "shares " + (shares_some ? "" : std::to_string(*facts.shared_bytes) + " bytes of ") +
                            "memory in a block otherwise than the metadata says");
  }
  if (facts.bindings) {
    if (std::string wrong = CompareBindings(kernel, entry, *facts.bindings); !wrong.empty()) return wrong;
  }
  return facts.words ? CompareWords(entry, *facts.words, ParametersOf(kernel, task, entry)) : "";
}

}  // namespace

std::string CompareFacts(const artifact::Metadata& metadata, const artifact::Section& section,
                         std::span<const uint8_t> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Facts facts;
  if (section.kind == kinds::kSpirv) {
    std::vector<uint32_t> words = SpirvWords(bytes);
    facts = SpirvFacts(words).Read();
  } else if (section.kind == kinds::kHsaco) {
    facts = HsacoFacts(bytes);
  } else if (section.kind != kinds::kPtx) {
    return {};
  }
  for (const KernelMeta& kernel : metadata.kernels) {
    for (const TaskMeta& task : kernel.tasks) {
      for (const EntryMeta& entry : task.entries) {
        if (entry.target != section.target) continue;
        auto known = facts.find(entry.symbol.view());
        EntryFacts own = section.kind == kinds::kPtx ? PtxFacts(text, entry)
                         : known != facts.end()      ? known->second
                                                     : EntryFacts();
        if (std::string wrong = Compare(kernel, task, entry, own); !wrong.empty()) return wrong;
        auto far = facts.find(entry.far_symbol.view());
        if (far != facts.end() && far->second.block_size && *far->second.block_size != entry.block_size) {
          return "'" + std::string(entry.far_symbol.view()) + "' is made for blocks of " +
                 std::to_string(*far->second.block_size) + " threads, the metadata says " +
                 std::to_string(entry.block_size);
        }
      }
    }
  }
  return {};
}

}  // namespace adc::tool
