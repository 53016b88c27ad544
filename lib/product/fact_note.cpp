#include "product/fact_note.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "artifact/bundle.h"
#include "codegen/spirv/module_builder.h"

namespace adc::product {

namespace {

using artifact::NodeId, artifact::SizeNode;

constexpr std::string_view kMark = "adc facts: ", kNeeds = "adc needs: ";
constexpr const char* kFacts[] = {"parameters", "iterations", "stacks", "entry points"};
constexpr size_t kDigits = 8, kCount = std::size(kFacts);

/// Everything of one kind, one after the other; texts with their lengths, so that none runs into the next.
class Facts {
 public:
  void Add(uint64_t number) { bytes_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  template <class E>
    requires std::is_enum_v<E>
  void Add(E value) {
    Add(static_cast<uint64_t>(value));
  }
  void Add(const artifact::String& text) {
    Add(text.size());
    bytes_ += text.view();
  }
  template <class T>
  void AddAll(const artifact::Vector<T>& numbers) {
    Add(numbers.size());
    for (const T& number : numbers) Add(static_cast<uint64_t>(number));
  }
  uint64_t Digest() const {
    return artifact::Hash64({reinterpret_cast<const uint8_t*>(bytes_.data()), bytes_.size()});
  }

 private:
  std::string bytes_;
};

/// A digest for each node of the kernel's size expressions, operands included: they come before their users.
class Expressions {
 public:
  explicit Expressions(const artifact::SizeExprPool& pool) {
    for (NodeId id = 0; id < pool.size(); ++id) {
      const SizeNode& node = pool[id];
      Facts facts;
      facts.Add(node.op);
      for (uint64_t part : {uint64_t{node.param}, uint64_t{node.axis}, static_cast<uint64_t>(node.value)})
        facts.Add(part);
      for (NodeId operand : node.operands) facts.Add(Of(operand));
      for (NodeId operand : pool.ReadIndices(node)) facts.Add(Of(operand));
      digests_.push_back(facts.Digest());
    }
  }
  uint64_t Of(NodeId id) const { return id < digests_.size() ? digests_[id] : 0; }

 private:
  std::vector<uint64_t> digests_;
};

const artifact::EntryMeta* EntryFor(const artifact::TaskMeta& task, uint32_t target) {
  for (const artifact::EntryMeta& entry : task.entries) {
    if (entry.target == target) return &entry;
  }
  return nullptr;
}

Facts ParametersOf(const artifact::KernelMeta& kernel, const Expressions& expressions) {
  Facts facts;
  facts.Add(kernel.name);
  for (const artifact::ParamMeta& param : kernel.params) {
    facts.Add(param.name);
    facts.Add(param.kind);
    facts.Add(param.type);
    facts.Add(param.access);
    facts.Add(param.role);
    for (uint32_t number : {param.rows, param.columns, param.rank, param.layout, param.primal, param.cell,
                            param.shape_i32_axes, uint32_t{param.alias}, uint32_t{param.write_once}})
      facts.Add(uint64_t{number});
    for (NodeId extent : param.extents) facts.Add(expressions.Of(extent));
  }
  return facts;
}

Facts IterationsOf(const artifact::KernelMeta& kernel, const Expressions& expressions) {
  Facts facts;
  for (const artifact::TaskMeta& task : kernel.tasks) {
    facts.Add(task.kind);
    facts.Add(task.extents.size());
    for (NodeId extent : task.extents) facts.Add(expressions.Of(extent));
    facts.Add(task.size_kernel);
    facts.Add(task.trip_kernel);
    facts.AddAll(task.count_reads);
    facts.AddAll(task.trip_reads);
  }
  return facts;
}

Facts StacksOf(const artifact::KernelMeta& kernel, uint32_t target, const Expressions& expressions) {
  Facts facts;
  for (const artifact::TaskMeta& task : kernel.tasks) {
    const artifact::EntryMeta* entry = EntryFor(task, target);
    bool has_plan = entry != nullptr && entry->plan < task.plans.size();
    facts.Add(uint64_t{has_plan});
    if (!has_plan) continue;
    const artifact::AdstackPlanMeta& plan = task.plans[entry->plan];
    facts.Add(uint64_t{plan.lanes});
    for (const artifact::GroupMeta& group : plan.groups) {
      facts.Add(group.gate);
      facts.Add(uint64_t{group.counted});
    }
    for (const artifact::StackMeta& stack : plan.stacks) {
      facts.Add(stack.type);
      facts.Add(stack.addressing);
      facts.Add(stack.storage);
      facts.Add(expressions.Of(stack.capacity));
      for (uint32_t number : {stack.id, stack.group, stack.share, uint32_t{stack.bits},
                              uint32_t{stack.counted}, uint32_t{stack.loose}})
        facts.Add(uint64_t{number});
    }
  }
  return facts;
}

Facts EntriesOf(const artifact::KernelMeta& kernel, uint32_t target) {
  Facts facts;
  for (const artifact::TaskMeta& task : kernel.tasks) {
    const artifact::EntryMeta* entry = EntryFor(task, target);
    facts.Add(uint64_t{entry != nullptr});
    if (entry == nullptr) continue;
    facts.Add(entry->symbol);
    facts.Add(entry->far_symbol);
    facts.Add(uint64_t{entry->block_size});
    facts.Add(uint64_t{entry->shared_bytes});
    for (const artifact::BindingMeta& binding : entry->bindings) {
      facts.Add(uint64_t{binding.number});
      facts.Add(binding.of);
      facts.Add(uint64_t{binding.param});
      facts.Add(binding.type);
    }
  }
  return facts;
}

std::string HexOf(uint64_t digest) {
  std::string text;
  uint32_t bits = static_cast<uint32_t>(digest ^ digest >> 32);
  for (size_t digit = kDigits; digit-- > 0;) text += "0123456789abcdef"[bits >> (4 * digit) & 15];
  return text;
}

bool HasCode(const artifact::KernelMeta& kernel, uint32_t target) {
  return std::any_of(kernel.tasks.begin(), kernel.tasks.end(),
                     [&](const artifact::TaskMeta& task) { return EntryFor(task, target) != nullptr; });
}

/// The digests of a kernel, one kind after the other.
std::string DigestsOf(const artifact::KernelMeta& kernel, uint32_t target) {
  Expressions expressions(kernel.exprs);
  return HexOf(ParametersOf(kernel, expressions).Digest()) +
         HexOf(IterationsOf(kernel, expressions).Digest()) +
         HexOf(StacksOf(kernel, target, expressions).Digest()) + HexOf(EntriesOf(kernel, target).Digest());
}

std::string NoteFor(const artifact::Metadata& metadata, uint32_t target) {
  std::string note(kMark);
  for (const artifact::KernelMeta& kernel : metadata.kernels) {
    if (!HasCode(kernel, target)) continue;
    if (note.size() > kMark.size()) note += ',';
    note += DigestsOf(kernel, target);
  }
  return note;
}

bool IsProcessor(const artifact::Metadata& metadata, uint32_t target) {
  return metadata.targets[target].kind == "cpu";
}

/// The needs that an ELF file for processors does not state by itself. Devices' code does: PTX and code
/// objects name their processor, and SPIR-V its capabilities.
std::string NeedsOf(const artifact::Metadata& metadata, uint32_t target) {
  std::string needs(kNeeds);
  for (const artifact::String& feature : metadata.targets[target].features) {
    if (needs.size() > kNeeds.size()) needs += ',';
    needs += feature.view();
  }
  return needs;
}

/// "the processor's features" where what the code's note says of them is not what the metadata says.
std::string CompareNeeds(const artifact::Metadata& metadata, uint32_t target, std::string_view text) {
  if (!IsProcessor(metadata, target)) return {};
  size_t at = text.rfind(kNeeds);
  if (at == std::string_view::npos) return {};
  text = text.substr(at, text.find('\n', at) - at);
  return text == NeedsOf(metadata, target)
             ? ""
             : "the processor's features (" + std::string(text.substr(kNeeds.size())) + ")";
}

/// Where a SPIR-V module takes OpModuleProcessed: after names, before decorations.
size_t PlaceInSpirv(const std::vector<uint8_t>& bytes) {
  constexpr uint32_t kBefore[] = {2, 3, 4, 5, 6, 7, 10, 11, 14, 15, 16, 17, 330, 331};
  size_t at = 20;
  while (at + 4 <= bytes.size()) {
    uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (std::find(std::begin(kBefore), std::end(kBefore), word & 0xFFFF) == std::end(kBefore)) break;
    at += size_t{4} * (word >> 16);
  }
  return at;
}

}  // namespace

std::vector<uint8_t> WithFactNote(const artifact::Metadata& metadata, uint32_t target,
                                  const codegen::Payload& payload) {
  std::vector<uint8_t> bytes = payload.bytes;
  std::string note = NoteFor(metadata, target);
  if (payload.kind == codegen::PayloadKind::Spirv) {
    codegen::spirv::Words instruction;
    codegen::spirv::AppendInstruction(instruction, spv::OpModuleProcessed,
                                      codegen::spirv::WithText({}, note));
    std::vector<uint8_t> added(instruction.size() * sizeof(uint32_t));
    std::memcpy(added.data(), instruction.data(), added.size());
    bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(PlaceInSpirv(bytes)), added.begin(), added.end());
    return bytes;
  }
  bool is_text = payload.kind == codegen::PayloadKind::Ptx || payload.kind == codegen::PayloadKind::Msl;
  if (IsProcessor(metadata, target)) note = NeedsOf(metadata, target) + "\n" + note;
  note = (is_text ? "// " : "") + note + "\n";
  if (!is_text || (!bytes.empty() && bytes.back() != '\n')) note.insert(0, 1, '\n');
  bytes.insert(bytes.end(), note.begin(), note.end());
  return bytes;
}

std::optional<std::string> CompareFactNote(const artifact::Metadata& metadata, uint32_t target,
                                           std::span<const uint8_t> payload) {
  std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
  size_t at = text.rfind(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  if (std::string other = CompareNeeds(metadata, target, text); !other.empty()) return other;
  at += kMark.size();
  text = text.substr(at, text.find_first_not_of("0123456789abcdef,", at) - at);
  for (const artifact::KernelMeta& kernel : metadata.kernels) {
    if (!HasCode(kernel, target)) continue;
    std::string stated = DigestsOf(kernel, target), name(kernel.name.view());
    if (text.size() < stated.size()) return "the number of kernels (@" + name + ")";
    for (size_t kind = 0; kind < kCount; ++kind) {
      if (text.compare(kind * kDigits, kDigits, stated, kind * kDigits, kDigits) != 0)
        return std::string("the ") + kFacts[kind] + " of @" + name;
    }
    text.remove_prefix(std::min(text.size(), stated.size() + 1));
  }
  return text.empty() ? "" : "the number of kernels";
}

}  // namespace adc::product
