#include "codegen/msl/keep_order.h"

#define SPV_ENABLE_UTILITY_CODE
#include <map>
#include <set>
#include <span>
#include <spirv/unified1/spirv.hpp>

#include "support/check.h"

// SPIRV-Cross writes a load at the place of its use, and gives it a variable where the text reads it after a
// store to the same memory. It compares places in the text, and a loop goes back in the text:
//
//   %z = load %x[%i]                       for (...) {
//   for %j in 0..4 {                           x.at[i] = float(j) + x.at[i];    wrong from the second round
//   on
//     store %x[%i], (add %j, %z)           }
//   }
//
// A use after the loop is after the store in the text too, so that SPIRV-Cross sees what happens and writes
// `float z = x.at[i];` before the loop. The use is a negation whose result no instruction reads: SPIRV-Cross
// writes such a value nowhere. Loads that no store of the loop touches stay where they are.
//
// An atomic is a store to SPIRV-Cross only where the buffer may be aliased, and buffers are unless they are
// decorated `Restrict`. Buffers that atomics change lose the decoration.

namespace adc::codegen::msl {
namespace {

using Id = uint32_t;

struct Instruction {
  spv::Op op;
  std::span<const uint32_t> words;
};

struct Block {
  std::vector<Id> successors;
  Id merge = 0;           ///< of a loop's header
  std::vector<Id> loads;  ///< values loaded here
  std::vector<Id> reads;  ///< values read here; those of a phi are read where it takes them from
  size_t after_phis = 0;  ///< where in the module its first instruction but for phis stands
};

/// Blocks in the order of their ids, which is as good as any.
using Blocks = std::map<Id, Block>;

/// Ids that an instruction of a function reads, but for labels; literals where they do no harm.
std::span<const uint32_t> ReadsOf(const Instruction& instruction) {
  std::span<const uint32_t> words = instruction.words;
  bool has_result = false, has_type = false;
  spv::HasResultAndType(instruction.op, &has_result, &has_type);
  size_t first = 1 + (has_result ? 1 : 0) + (has_type ? 1 : 0);
  switch (static_cast<uint32_t>(instruction.op)) {
    case spv::OpLabel:
    case spv::OpPhi:
    case spv::OpBranch:
    case spv::OpLoopMerge:
    case spv::OpSelectionMerge:
      return {};
    case spv::OpBranchConditional:
    case spv::OpSwitch:
    case spv::OpLoad:
    case spv::OpCompositeExtract:
      return words.subspan(first, 1);
    case spv::OpStore:
      return words.subspan(first, 2);
    case spv::OpExtInst:
      return words.subspan(first + 2);
    default:
      return words.subspan(first);
  }
}

/// Whether it changes memory as an atomic.
bool IsAtomic(spv::Op op) {
  return (op >= spv::OpAtomicStore && op <= spv::OpAtomicXor) || op == spv::OpAtomicFAddEXT ||
         op == spv::OpAtomicFMinEXT || op == spv::OpAtomicFMaxEXT;
}

/// Labels where a block goes on.
std::vector<Id> SuccessorsOf(const Instruction& terminator) {
  std::span<const uint32_t> words = terminator.words;
  switch (static_cast<uint32_t>(terminator.op)) {
    case spv::OpBranch:
      return {words[1]};
    case spv::OpBranchConditional:
      return {words[2], words[3]};
    case spv::OpSwitch: {
      // The default, then pairs of a literal and a label: selectors have 32 bits.
      std::vector<Id> labels;
      for (size_t n = 2; n < words.size(); n += 2) labels.push_back(words[n]);
      return labels;
    }
    default:
      return {};
  }
}

/// The blocks of the loop: those that its header reaches before its merge block.
std::set<Id> LoopOf(const Blocks& blocks, Id header) {
  Id merge = blocks.at(header).merge;
  std::set<Id> loop;
  std::vector<Id> open = {header};
  while (!open.empty()) {
    Id block = open.back();
    open.pop_back();
    if (block == merge || !blocks.contains(block) || !loop.insert(block).second) continue;
    const std::vector<Id>& successors = blocks.at(block).successors;
    open.insert(open.end(), successors.begin(), successors.end());
  }
  return loop;
}

class Order {
 public:
  explicit Order(const std::vector<uint32_t>& words) : words_(words) {}

  std::vector<uint32_t> Run() {
    for (size_t at = kHeaderWords; at < words_.size();) {
      size_t count = words_[at] >> spv::WordCountShift;
      ADC_CHECK(count > 0 && count <= words_.size() - at, "an instruction of no length or beyond the module");
      Take({static_cast<spv::Op>(words_[at] & spv::OpCodeMask), std::span(words_).subspan(at, count)}, at);
      at += count;
    }
    return Rewritten();
  }

 private:
  static constexpr size_t kHeaderWords = 5, kBoundWord = 3;

  void Take(const Instruction& instruction, size_t at) {
    std::span<const uint32_t> words = instruction.words;
    Block* block = label_ == 0 ? nullptr : &blocks_[label_];
    if (block && block->after_phis == 0 && instruction.op != spv::OpPhi && instruction.op != spv::OpLine &&
        instruction.op != spv::OpNoLine) {
      block->after_phis = at;
    }
    switch (static_cast<uint32_t>(instruction.op)) {
      case spv::OpTypeBool:
      case spv::OpTypeInt:
      case spv::OpTypeFloat:
        scalars_[words[1]] = instruction.op;
        return;
      case spv::OpDecorate:
        if (words[2] == spv::DecorationRestrict) restrict_at_[words[1]].push_back(at);
        return;
      case spv::OpAccessChain:
      case spv::OpInBoundsAccessChain:
        bases_[words[2]] = words[3];
        break;
      case spv::OpLabel:
        label_ = words[1];
        blocks_[label_];
        return;
      case spv::OpFunctionEnd:
        FindPins();
        blocks_.clear();
        label_ = 0;
        return;
      default:
        break;
    }
    if (!block) return;
    if (IsAtomic(instruction.op)) {
      auto base = bases_.find(words[instruction.op == spv::OpAtomicStore ? 1 : 3]);
      if (base != bases_.end()) atomics_.insert(base->second);
    }
    if (instruction.op == spv::OpLoopMerge) block->merge = words[1];
    if (instruction.op == spv::OpLoad && scalars_.contains(words[1])) {
      block->loads.push_back(words[2]);
      types_[words[2]] = words[1];
    }
    if (instruction.op == spv::OpPhi) {
      for (size_t n = 3; n + 1 < words.size(); n += 2) blocks_[words[n + 1]].reads.push_back(words[n]);
    }
    std::span<const uint32_t> reads = ReadsOf(instruction);
    block->reads.insert(block->reads.end(), reads.begin(), reads.end());
    std::vector<Id> successors = SuccessorsOf(instruction);
    block->successors.insert(block->successors.end(), successors.begin(), successors.end());
  }

  void FindPins() {
    for (const auto& [header, block] : blocks_) {
      if (block.merge == 0) continue;
      std::set<Id> loop = LoopOf(blocks_, header), read;
      for (Id inside : loop) read.insert(blocks_[inside].reads.begin(), blocks_[inside].reads.end());
      for (const auto& [label, outside] : blocks_) {
        if (loop.contains(label)) continue;
        for (Id load : outside.loads) {
          if (read.contains(load)) pins_[blocks_[block.merge].after_phis].push_back(load);
        }
      }
    }
  }

  /// The module with the pins, without decorations that are no longer true.
  std::vector<uint32_t> Rewritten() const {
    std::map<size_t, size_t> dropped;  // places of words to leave out, and how many
    for (Id variable : atomics_) {
      auto places = restrict_at_.find(variable);
      if (places == restrict_at_.end()) continue;
      for (size_t at : places->second) dropped[at] = words_[at] >> spv::WordCountShift;
    }
    std::vector<uint32_t> words;
    for (size_t at = 0; at < words_.size();) {
      if (auto drop = dropped.find(at); drop != dropped.end()) {
        at += drop->second;
        continue;
      }
      if (auto pins = pins_.find(at); pins != pins_.end()) {
        for (Id load : pins->second) Pin(load, words);
      }
      words.push_back(words_[at++]);
    }
    return words;
  }

  void Pin(Id load, std::vector<uint32_t>& words) const {
    Id type = types_.at(load), result = words[kBoundWord]++;
    spv::Op scalar = scalars_.at(type);
    spv::Op negation = scalar == spv::OpTypeFloat  ? spv::OpFNegate
                       : scalar == spv::OpTypeBool ? spv::OpLogicalNot
                                                   : spv::OpNot;
    words.insert(words.end(), {4u << spv::WordCountShift | negation, type, result, load});
  }

  const std::vector<uint32_t>& words_;
  std::map<Id, spv::Op> scalars_;                  ///< scalar types
  std::map<Id, Id> types_;                         ///< of loaded values
  std::map<Id, Id> bases_;                         ///< of pointers: the variable they point into
  std::set<Id> atomics_;                           ///< variables that atomics change
  std::map<Id, std::vector<size_t>> restrict_at_;  ///< where variables are decorated so
  std::map<size_t, std::vector<Id>> pins_;         ///< before which place which values are read
  Blocks blocks_;                                  ///< of the function that is being read
  Id label_ = 0;                                   ///< of the block that is being read
};

}  // namespace

std::vector<uint32_t> KeepOrder(const std::vector<uint32_t>& words) {
  return Order(words).Run();
}

}  // namespace adc::codegen::msl
