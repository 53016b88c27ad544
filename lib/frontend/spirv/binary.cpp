#define SPV_ENABLE_UTILITY_CODE
#include "frontend/spirv/binary.h"

#include <algorithm>

namespace adc::frontend::spirv {

std::string TextIn(std::span<const uint32_t> words) {
  std::string text;
  for (uint32_t word : words) {
    for (uint32_t byte = 0; byte < 4; ++byte) {
      char letter = static_cast<char>(word >> (8 * byte));
      if (letter == 0) return text;
      text += letter;
    }
  }
  return text;
}

Binary::Binary(const Words& words) {
  Scan(words);
  TakeAnnotations();
  TakeFunctions();
}

void Binary::Scan(const Words& words) {
  if (words.size() < kHeaderWords) return;
  // An id needs a word to be defined, so that no honest bound exceeds the words.
  definitions_.assign(std::min<size_t>(words[3], words.size()) + 1, nullptr);
  ForEachInstruction(words, [&](spv::Op op, std::span<const uint32_t> whole) {
    Instruction inst;
    inst.op = op;
    bool has_result = false, has_type = false;
    spv::HasResultAndType(op, &has_result, &has_type);
    size_t next = 1;
    if (has_type && next < whole.size()) inst.type = whole[next++];
    if (has_result && next < whole.size()) inst.result = whole[next++];
    inst.operands = whole.subspan(next);
    instructions_.push_back(inst);
  });
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
        names_[{inst.At(0), kWhole}] = TextIn(inst.operands.subspan(1));
        break;
      case spv::OpMemberName:
        names_[{inst.At(0), inst.At(1)}] = TextIn(inst.operands.subspan(2));
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
        decorations_[{inst.At(0), kWhole}].emplace(static_cast<spv::Decoration>(inst.At(1)), inst.At(2));
        break;
      case spv::OpMemberDecorate:
        decorations_[{inst.At(0), inst.At(1)}].emplace(static_cast<spv::Decoration>(inst.At(2)), inst.At(3));
        break;
      case spv::OpGroupDecorate:
      case spv::OpGroupMemberDecorate: {
        bool whole = inst.op == spv::OpGroupDecorate;
        const std::map<spv::Decoration, uint32_t> group = decorations_[{inst.At(0), kWhole}];
        for (size_t n = 1; n < inst.operands.size(); n += whole ? 1 : 2)
          decorations_[{inst.At(n), whole ? kWhole : inst.At(n + 1)}].insert(group.begin(), group.end());
        break;
      }
      case spv::OpEntryPoint:
        entries_.push_back(
            {inst.At(1), static_cast<spv::ExecutionModel>(inst.At(0)), TextIn(inst.operands.subspan(2))});
        break;
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

std::string_view Binary::MemberName(Id type, uint32_t member) const {
  auto name = names_.find({type, member});
  return name == names_.end() ? std::string_view() : name->second;
}

int64_t Binary::MemberDecorated(Id type, uint32_t member, spv::Decoration kind) const {
  auto all = decorations_.find({type, member});
  if (all == decorations_.end()) return -1;
  auto found = all->second.find(kind);
  return found == all->second.end() ? -1 : int64_t{found->second};
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

std::string Binary::TextOf(Id string) const {
  const Instruction* inst = Find(string);
  return inst != nullptr && inst->op == spv::OpString ? TextIn(inst->operands) : std::string();
}

}  // namespace adc::frontend::spirv
