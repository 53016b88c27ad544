#include "frontend/spirv/unvalidated.h"

#include <algorithm>

namespace adc::frontend::spirv {

std::optional<NamedLine> FindDeeper(const Words& words, size_t most) {
  std::set<Id> open;  // merge blocks that are still to come
  std::map<Id, std::string> files;
  NamedLine line;
  std::optional<NamedLine> deep;
  ForEachInstruction(words, [&](spv::Op op, std::span<const uint32_t> inst) {
    auto word = [&](size_t n) { return n < inst.size() ? inst[n] : 0; };
    if (op == spv::OpString) files[word(1)] = TextIn(inst.subspan(std::min<size_t>(inst.size(), 2)));
    if (op == spv::OpNoLine) line = {};
    if (op == spv::OpLine) line = {files[word(1)], word(2), word(3)};
    if (op == spv::OpFunction) open.clear();
    if (op == spv::OpLabel) open.erase(word(1));
    if (op != spv::OpSelectionMerge && op != spv::OpLoopMerge) return;
    open.insert(word(1));
    if (open.size() > most && !deep) deep = line;
  });
  return deep;
}

Words WithoutNews(const Words& words) {
  std::set<Id> gone;  // sets of non-semantic instructions, and results of these
  size_t end = ForEachInstruction(words, [&](spv::Op op, std::span<const uint32_t> inst) {
    bool is_set =
        op == spv::OpExtInstImport && inst.size() > 2 && TextIn(inst.subspan(2)).starts_with("NonSemantic.");
    if (is_set) gone.insert(inst[1]);
    if (op == spv::OpExtInst && inst.size() > 4 && gone.contains(inst[3])) gone.insert(inst[2]);
  });
  Words rest(words.begin(), words.begin() + static_cast<ptrdiff_t>(std::min(kHeaderWords, words.size())));
  ForEachInstruction(words, [&](spv::Op op, std::span<const uint32_t> inst) {
    size_t names = op == spv::OpExtInst ? 2 : op == spv::OpExtInstImport || op == spv::OpName ? 1 : 0;
    if (names > 0 && inst.size() > names && gone.contains(inst[names])) return;
    rest.insert(rest.end(), inst.begin(), inst.end());
    if (op == spv::OpSource && inst.size() > 1)
      rest[rest.size() - inst.size() + 1] = spv::SourceLanguageUnknown;
  });
  rest.insert(rest.end(), words.begin() + static_cast<ptrdiff_t>(end), words.end());
  return rest;
}

Words WithFittingAtomics(const Words& words) {
  Binary binary(words);
  Words fitting(words.begin(), words.begin() + static_cast<ptrdiff_t>(std::min(kHeaderWords, words.size())));
  size_t number = 0;
  ForEachInstruction(words, [&](spv::Op, std::span<const uint32_t> whole) {
    const Instruction& inst = binary.instructions()[number++];
    bool changes = inst.op >= spv::OpAtomicExchange && inst.op <= spv::OpAtomicXor && inst.result != 0;
    std::vector<uint32_t> operands(inst.operands.begin(), inst.operands.end());
    size_t first = inst.op == spv::OpAtomicCompareExchange ? 4 : 3;
    for (size_t n = first; changes && n < operands.size(); ++n) {
      const Instruction *value = binary.Find(operands[n]), *type = binary.Find(inst.type);
      const Instruction* have = value == nullptr ? nullptr : binary.Find(value->type);
      bool differs = have != nullptr && type != nullptr && have != type && have->op == spv::OpTypeInt &&
                     type->op == spv::OpTypeInt && have->At(0) == type->At(0);
      if (!differs) continue;
      uint32_t fresh = fitting[3]++;  // the bound of the ids
      fitting.insert(fitting.end(), {uint32_t{4} << 16 | spv::OpBitcast, inst.type, fresh, operands[n]});
      operands[n] = fresh;
    }
    std::span<const uint32_t> head = whole.first(whole.size() - operands.size());
    fitting.insert(fitting.end(), head.begin(), head.end());
    fitting.insert(fitting.end(), operands.begin(), operands.end());
  });
  return fitting;
}

}  // namespace adc::frontend::spirv
