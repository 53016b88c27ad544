#pragma once
// A SPIR-V module as tables: instructions in order, what defines each id, names and decorations.
//
// Built of a module that spirv-val has accepted, so that every instruction is whole and every id is defined;
// an id that is not there is still an answer (a null pointer) and never an access out of range.

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
  uint32_t position = 0;               ///< in the module
  std::span<const uint32_t> operands;  ///< the words after type and result
  diag::SourceSpan span;

  uint32_t At(size_t n) const { return n < operands.size() ? operands[n] : 0; }
};

struct Decoration {
  spv::Decoration kind = spv::DecorationMax;
  uint32_t value = 0;  ///< its first literal, where it has one
};

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
  std::string_view NameOf(Id id) const;
  std::string_view MemberName(Id type, uint32_t member) const;
  /// The first literal of a decoration (0 for those without); -1 where `id` does not have it.
  int64_t Decorated(Id id, spv::Decoration kind) const;
  int64_t MemberDecorated(Id type, uint32_t member, spv::Decoration kind) const;
  const std::vector<EntryPoint>& entries() const { return entries_; }
  const std::map<Id, Function>& functions() const { return functions_; }
  /// Local size by entry function: of LocalSize (values) or LocalSizeId (ids, second is true).
  struct LocalSize {
    uint32_t values[3] = {1, 1, 1};
    bool ids = false;
  };
  const LocalSize* LocalSizeOf(Id function) const;
  /// The blocks that a branch at the end of `block` names.
  std::vector<Id> Successors(const Block& block) const;
  /// The blocks of the loop that begins at `header`.
  std::set<Id> LoopBlocks(const Function& function, const Block& header) const;
  std::string_view TextOf(Id string) const;
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
  std::map<Id, std::string> names_, strings_, sources_;
  std::map<std::pair<Id, uint32_t>, std::string> member_names_;
  std::map<Id, std::vector<Decoration>> decorations_;
  std::map<std::pair<Id, uint32_t>, std::vector<Decoration>> member_decorations_;
  std::vector<EntryPoint> entries_;
  std::map<Id, Function> functions_;
  std::map<Id, LocalSize> local_sizes_;
  bool printed_ = false;
};

/// Text packed into words, ended by a zero byte; `used` gets the number of words.
std::string TextIn(std::span<const uint32_t> words, size_t* used = nullptr);

}  // namespace adc::frontend::spirv
