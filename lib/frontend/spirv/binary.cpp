#define SPV_ENABLE_UTILITY_CODE
#include "frontend/spirv/binary.h"

#include <algorithm>

namespace adc::frontend::spirv {

std::string TextIn(std::span<const uint32_t> words, size_t* used) {
  std::string text;
  size_t at = 0;
  for (bool ended = false; at < words.size() && !ended; ++at) {
    for (uint32_t byte = 0; byte < 4; ++byte) {
      char letter = static_cast<char>(words[at] >> (8 * byte));
      if (letter == 0) {
        ended = true;
        break;
      }
      text += letter;
    }
  }
  if (used != nullptr) *used = at;
  return text;
}

Binary::Binary(const Words& words) {
  Scan(words);
  TakeAnnotations();
  TakeFunctions();
}

void Binary::Scan(const Words& words) {
  constexpr size_t kHeader = 5;
  if (words.size() < kHeader) return;
  // An id needs a word to be defined, so that no honest bound exceeds the words.
  definitions_.assign(std::min<size_t>(words[3], words.size()) + 1, nullptr);
  for (size_t at = kHeader; at < words.size();) {
    uint32_t count = words[at] >> spv::WordCountShift;
    if (count == 0 || at + count > words.size()) return;
    Instruction inst;
    inst.op = static_cast<spv::Op>(words[at] & spv::OpCodeMask);
    inst.position = static_cast<uint32_t>(instructions_.size());
    bool has_result = false, has_type = false;
    spv::HasResultAndType(inst.op, &has_result, &has_type);
    uint32_t next = 1;
    if (has_type && next < count) inst.type = words[at + next++];
    if (has_result && next < count) inst.result = words[at + next++];
    inst.operands = std::span<const uint32_t>(words).subspan(at + next, count - next);
    instructions_.push_back(inst);
    at += count;
  }
  for (const Instruction& inst : instructions_) {
    if (inst.result == 0) continue;
    // Ids may be sparse; those that no table of this size holds are stored at its end.
    if (inst.result >= definitions_.size()) definitions_.resize(size_t{inst.result} + 1, nullptr);
    definitions_[inst.result] = &inst;
  }
}

void Binary::TakeAnnotations() {
  Id source_file = 0;
  for (const Instruction& inst : instructions_) {
    switch (static_cast<uint32_t>(inst.op)) {
      case spv::OpName:
        names_[inst.At(0)] = TextIn(inst.operands.subspan(1));
        break;
      case spv::OpMemberName:
        member_names_[{inst.At(0), inst.At(1)}] = TextIn(inst.operands.subspan(2));
        break;
      case spv::OpString:
        strings_[inst.result] = TextIn(inst.operands);
        break;
      case spv::OpSource:
        source_file = inst.At(2);
        if (inst.operands.size() > 3) sources_[source_file] += TextIn(inst.operands.subspan(3));
        break;
      case spv::OpSourceContinued:
        if (source_file != 0) sources_[source_file] += TextIn(inst.operands);
        break;
      case spv::OpModuleProcessed:
        printed_ = printed_ || TextIn(inst.operands).starts_with("adc ");
        break;
      case spv::OpDecorate:
        decorations_[inst.At(0)].push_back({static_cast<spv::Decoration>(inst.At(1)), inst.At(2)});
        break;
      case spv::OpMemberDecorate:
        member_decorations_[{inst.At(0), inst.At(1)}].push_back(
            {static_cast<spv::Decoration>(inst.At(2)), inst.At(3)});
        break;
      case spv::OpGroupDecorate:
        for (size_t n = 1; n < inst.operands.size(); ++n) {
          const std::vector<Decoration> group = decorations_[inst.At(0)];
          std::vector<Decoration>& own = decorations_[inst.At(n)];
          own.insert(own.end(), group.begin(), group.end());
        }
        break;
      case spv::OpGroupMemberDecorate:
        for (size_t n = 1; n + 1 < inst.operands.size(); n += 2) {
          const std::vector<Decoration> group = decorations_[inst.At(0)];
          std::vector<Decoration>& own = member_decorations_[{inst.At(n), inst.At(n + 1)}];
          own.insert(own.end(), group.begin(), group.end());
        }
        break;
      case spv::OpEntryPoint:
        entries_.push_back(
            {inst.At(1), static_cast<spv::ExecutionModel>(inst.At(0)), TextIn(inst.operands.subspan(2))});
        break;
      case spv::OpExecutionMode:
      case spv::OpExecutionModeId: {
        bool ids = inst.At(1) == spv::ExecutionModeLocalSizeId;
        if (!ids && inst.At(1) != spv::ExecutionModeLocalSize) break;
        LocalSize size;
        size.ids = ids;
        for (uint32_t axis = 0; axis < 3; ++axis) size.values[axis] = inst.At(2 + axis);
        local_sizes_[inst.At(0)] = size;
        break;
      }
      default:
        break;
    }
  }
}

void Binary::TakeFunctions() {
  Function* function = nullptr;
  Block* block = nullptr;
  for (const Instruction& inst : instructions_) {
    switch (static_cast<uint32_t>(inst.op)) {
      case spv::OpFunction:
        function = &functions_[inst.result];
        function->definition = &inst;
        block = nullptr;
        continue;
      case spv::OpFunctionEnd:
        function = nullptr;
        block = nullptr;
        continue;
      case spv::OpFunctionParameter:
        if (function != nullptr) function->parameters.push_back(&inst);
        continue;
      case spv::OpLabel:
        if (function == nullptr) continue;
        function->block_of[inst.result] = static_cast<uint32_t>(function->blocks.size());
        block = &function->blocks.emplace_back();
        block->label = inst.result;
        continue;
      default:
        break;
    }
    if (block == nullptr) continue;
    switch (static_cast<uint32_t>(inst.op)) {
      case spv::OpPhi:
        block->phis.push_back(&inst);
        break;
      case spv::OpSelectionMerge:
      case spv::OpLoopMerge:
        block->merge = &inst;
        break;
      case spv::OpBranch:
      case spv::OpBranchConditional:
      case spv::OpSwitch:
      case spv::OpReturn:
      case spv::OpReturnValue:
      case spv::OpKill:
      case spv::OpTerminateInvocation:
      case spv::OpUnreachable:
        block->terminator = &inst;
        break;
      case spv::OpLine:
      case spv::OpNoLine:
      case spv::OpNop:
        break;
      default:
        block->body.push_back(&inst);
        break;
    }
  }
}

namespace {

int64_t Among(const std::vector<Decoration>* decorations, spv::Decoration kind) {
  if (decorations == nullptr) return -1;
  for (const Decoration& decoration : *decorations) {
    if (decoration.kind == kind) return decoration.value;
  }
  return -1;
}

template <class Map, class Key>
auto* Under(Map& map, const Key& key) {
  auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

std::string_view Binary::NameOf(Id id) const {
  const std::string* name = Under(names_, id);
  return name == nullptr ? std::string_view() : *name;
}

std::string_view Binary::MemberName(Id type, uint32_t member) const {
  const std::string* name = Under(member_names_, std::pair(type, member));
  return name == nullptr ? std::string_view() : *name;
}

int64_t Binary::Decorated(Id id, spv::Decoration kind) const {
  return Among(Under(decorations_, id), kind);
}

int64_t Binary::MemberDecorated(Id type, uint32_t member, spv::Decoration kind) const {
  return Among(Under(member_decorations_, std::pair(type, member)), kind);
}

const Binary::LocalSize* Binary::LocalSizeOf(Id function) const {
  return Under(local_sizes_, function);
}

std::vector<Id> Binary::Successors(const Block& block) const {
  std::vector<Id> labels;
  if (block.terminator == nullptr) return labels;
  const Instruction& last = *block.terminator;
  switch (static_cast<uint32_t>(last.op)) {
    case spv::OpBranch:
      labels.push_back(last.At(0));
      break;
    case spv::OpBranchConditional:
      labels = {last.At(1), last.At(2)};
      break;
    case spv::OpSwitch: {
      const Instruction* selector = Find(last.At(0));
      const Instruction* type = selector == nullptr ? nullptr : Find(selector->type);
      uint32_t words = type != nullptr && type->At(0) == 64 ? 2 : 1;
      labels.push_back(last.At(1));
      for (size_t n = 2 + words; n < last.operands.size(); n += words + 1) labels.push_back(last.At(n));
      break;
    }
    default:
      break;
  }
  return labels;
}

std::set<Id> Binary::LoopBlocks(const Function& function, const Block& header) const {
  std::set<Id> blocks{header.label};
  std::vector<Id> pending{header.label};
  while (!pending.empty()) {
    auto found = function.block_of.find(pending.back());
    pending.pop_back();
    if (found == function.block_of.end()) continue;
    for (Id next : Successors(function.blocks[found->second])) {
      if (next != header.merge->At(0) && blocks.insert(next).second) pending.push_back(next);
    }
  }
  return blocks;
}

std::string_view Binary::TextOf(Id string) const {
  const std::string* text = Under(strings_, string);
  return text == nullptr ? std::string_view() : *text;
}

}  // namespace adc::frontend::spirv
