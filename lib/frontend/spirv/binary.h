#pragma once
// A SPIR-V module as tables: instructions in order, what defines each id, names and decorations.
//
// Built of a module that spirv-val has accepted, so that every instruction is whole and every id is defined;
// an id that is not there is still an answer (a null pointer) and never an access out of range.

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <spirv/unified1/spirv.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "diag/source.h"

namespace adc::frontend::spirv {

using Id = uint32_t;
using Words = std::vector<uint32_t>;

struct Instruction {
  spv::Op op = spv::OpNop;
  Id type = 0;                         ///< of the result; 0: none
  Id result = 0;                       ///< 0: none
  std::span<const uint32_t> operands;  ///< the words after type and result
  diag::SourceSpan span;

  uint32_t At(size_t n) const { return n < operands.size() ? operands[n] : 0; }
  /// Operand `n`, of two words where it is wide.
  uint64_t Number(size_t n, bool wide) const { return At(n) | (wide ? uint64_t{At(n + 1)} << 32 : 0); }
};

/// Whether it leads from a pointer, operand 0, to another one.
inline bool IsChain(const Instruction& inst) {
  return inst.op == spv::OpAccessChain || inst.op == spv::OpInBoundsAccessChain ||
         inst.op == spv::OpCopyObject;
}

/// A specialisation constant that is a number.
inline bool IsSpecNumber(const Instruction& inst) {
  return inst.op == spv::OpSpecConstant || inst.op == spv::OpSpecConstantTrue ||
         inst.op == spv::OpSpecConstantFalse;
}

struct Block {
  Id label = 0;
  std::vector<const Instruction*> phis;
  std::vector<const Instruction*> body;  ///< neither phis, merges nor terminator
  const Instruction* merge = nullptr;    ///< OpSelectionMerge or OpLoopMerge
  const Instruction* terminator = nullptr;
};

struct Function {
  const Instruction* definition = nullptr;
  std::vector<const Instruction*> parameters;
  std::vector<Block> blocks;  ///< in order; the first is the entry
  std::map<Id, uint32_t> block_of;
};

struct EntryPoint {
  Id function = 0;
  spv::ExecutionModel model = spv::ExecutionModelMax;
  std::string name;
};

class Binary {
 public:
  /// `words` must outlive this.
  explicit Binary(const Words& words);

  const std::vector<Instruction>& instructions() const { return instructions_; }
  std::vector<Instruction>& instructions() { return instructions_; }
  /// The instruction that defines `id`; null where none does.
  const Instruction* Find(Id id) const { return id < definitions_.size() ? definitions_[id] : nullptr; }
  std::string_view NameOf(Id id) const { return MemberName(id, kWhole); }
  /// The name of `id`, or else of `type`.
  std::string NameOf(Id id, Id type) const { return std::string(NameOf(NameOf(id).empty() ? type : id)); }
  std::string_view MemberName(Id type, uint32_t member) const;
  /// The first literal of a decoration (0 for those without); -1 where `id` does not have it.
  int64_t Decorated(Id id, spv::Decoration kind) const { return MemberDecorated(id, kWhole, kind); }
  int64_t MemberDecorated(Id type, uint32_t member, spv::Decoration kind) const;
  /// Whether it is the constant that says the size of a workgroup.
  bool IsWorkgroupSize(const Instruction& inst) const {
    bool composite = inst.op == spv::OpConstantComposite || inst.op == spv::OpSpecConstantComposite;
    return composite && Decorated(inst.result, spv::DecorationBuiltIn) == spv::BuiltInWorkgroupSize;
  }
  const std::vector<EntryPoint>& entries() const { return entries_; }
  const std::map<Id, Function>& functions() const { return functions_; }
  /// The blocks that a branch at the end of `block` names.
  std::vector<Id> Successors(const Block& block) const;
  /// The blocks of the loop that begins at `header`.
  std::set<Id> LoopBlocks(const Function& function, const Block& header) const;
  std::string TextOf(Id string) const;
  /// Whether the module says that adc has printed it.
  bool IsPrinted() const { return printed_; }
  /// The text of the sources that the module carries, by the id of their name.
  const std::map<Id, std::string>& sources() const { return sources_; }

 private:
  void Scan(const Words& words);
  void TakeAnnotations();
  void TakeFunctions();

  std::vector<Instruction> instructions_;
  std::vector<const Instruction*> definitions_;
  std::map<Id, std::string> sources_;
  static constexpr uint32_t kWhole = UINT32_MAX;  ///< in the place of a member
  std::map<std::pair<Id, uint32_t>, std::string> names_;
  std::map<std::pair<Id, uint32_t>, std::map<spv::Decoration, uint32_t>> decorations_;
  std::vector<EntryPoint> entries_;
  std::map<Id, Function> functions_;
  bool printed_ = false;
};

/// Text packed into words, ended by a zero byte.
std::string TextIn(std::span<const uint32_t> words);

inline constexpr size_t kHeaderWords = 5;

/// Calls `visit` with each whole instruction; what is left begins at the result.
template <class Visit>
size_t ForEachInstruction(const Words& words, Visit&& visit) {
  size_t at = std::min(kHeaderWords, words.size());
  while (at < words.size()) {
    size_t count = words[at] >> spv::WordCountShift;
    if (count == 0 || count > words.size() - at) break;
    visit(static_cast<spv::Op>(words[at] & spv::OpCodeMask), std::span(words).subspan(at, count));
    at += count;
  }
  return at;
}

}  // namespace adc::frontend::spirv
