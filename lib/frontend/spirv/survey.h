#pragma once
// Facts of the functions that an entry point calls, before anything of the kernel is written: which variables
// they access and how, and whether the invocations of a workgroup wait for each other.

#include <array>

#include "frontend/spirv/addresses.h"
#include "frontend/spirv/lowering.h"

namespace adc::frontend::spirv {

bool IsAtomic(const Instruction& inst);
/// Whether operand 0 is a pointer to memory that the instruction accesses, or names a part of.
bool Accesses(const Instruction& inst);
/// Whether operand 0 is a pointer to what the instruction writes.
bool Writes(const Instruction& inst);

class Survey {
 public:
  explicit Survey(const Request& request);

  /// Finds out whether invocations wait for each other, and refuses what orders memory without waiting where
  /// that has a meaning: the text of E0856 has the rule.
  void FindOrder(std::span<const Resource> resources);

  const Function& body() const { return *body_; }
  const std::array<uint32_t, 3>& local_size() const { return local_size_; }
  const std::vector<Resource>& resources() const { return resources_; }
  /// Variables outside of functions that are the kernel's locals.
  const std::vector<Id>& privates() const { return privates_; }
  /// Variables of a workgroup.
  const std::vector<Id>& shared() const { return shared_; }
  const Pointed& pointed() const { return pointed_; }
  const Addresses& addresses() const { return addresses_; }
  /// Invocations wait for each other, or share memory.
  bool by_workgroups() const { return by_workgroups_; }
  /// The only value that is stored in a local variable, as a whole; 0 where there are others, or none.
  Id TableOf(Id variable) const;
  /// Whether a value that a loop computes is used after the loop.
  bool LeavesLoop(Id value) const { return leaving_.count(value) != 0; }

 private:
  struct Access {
    const Instruction* inst;
    bool in_loop, in_entry;
  };
  /// The accesses of the functions, by the owner of the memory, and the ids that something uses.
  struct Uses {
    std::map<Id, std::vector<Access>> accesses;
    std::set<Id> operands;
  };
  void FindLocalSize();
  void SetLocalSize(uint32_t axis, std::optional<int64_t> given, diag::SourceSpan place);
  void FindVariables();
  void SeeUses(const Instruction& inst, std::set<Id>& used, std::vector<Id>& pending);
  void SeeTables(const Instruction& inst);
  void AddVariable(Id variable);
  void CheckBindings() const;
  void FindLeaving(const Function& function);
  const Instruction* FindBarrier() const;
  Uses FindUses() const;
  Id RootOf(Id pointer) const;
  Id OwnerOf(Id pointer) const;

  const Binary& binary_;
  const Types& types_;
  const EntryPoint& entry_;
  const ReadConfig& config_;
  const Function* body_ = nullptr;  ///< of the entry
  std::array<uint32_t, 3> local_size_{1, 1, 1};
  std::set<Id> called_;  ///< the entry, and the functions that it calls
  std::vector<const Function*> functions_;
  std::vector<const Instruction*> all_;  ///< of the functions: all but labels and merges
  std::set<Id> leaving_;                 ///< LeavesLoop
  std::set<Id> written_;                 ///< variables that something may write
  std::map<Id, Id> tables_;              ///< TableOf
  Pointed pointed_;
  Addresses addresses_;
  std::vector<Resource> resources_;
  std::vector<Id> privates_, shared_;
  bool by_workgroups_ = false, writes_images_ = false;
};

}  // namespace adc::frontend::spirv
