#pragma once
// The facts that LLVM is told of the memory that a task touches.
//
// Distinct buffers do not overlap unless both carry `alias`, and neither do the fields of a layout or the
// rows of adstacks. Each place that the task writes gets an alias scope of its own; all places that it only
// reads share one, since reads need no telling apart, and their loads are marked invariant as well. Accesses
// of a parallel loop carry its access group: its iterations may run at once by the meaning of the loop.

#include <map>
#include <vector>

#include "ir/function.h"
#include "llvm/IR/Instruction.h"

namespace adc::codegen {

class AliasScopes {
 public:
  /// Looks at the instructions [first, last) of the kernel's body and their regions.
  AliasScopes(llvm::LLVMContext& context, const ir::Function& kernel, uint32_t first, uint32_t last);

  /// Marks an instruction that touches what `access` touches. `in_loop`: it runs once per parallel iteration.
  void Mark(llvm::Instruction* instruction, ir::Inst access, bool in_loop) const;
  /// Marks a touch of a row.
  void MarkRow(llvm::Instruction* instruction) const;
  /// Marks a touch of the status block.
  void MarkStatus(llvm::Instruction* instruction) const;
  /// The access group of the task's parallel loop.
  llvm::MDNode* Group() const { return group_; }

 private:
  struct Place {
    uint32_t param = ir::kNoAttr;
    uint32_t field = ir::kNoAttr;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Scope {
    bool written = false;
    llvm::MDNode* own = nullptr;     ///< the list that holds its scope
    llvm::MDNode* others = nullptr;  ///< the list that holds every other scope
  };

  Place PlaceOf(ir::Inst access) const;
  void Collect(ir::Block block, uint32_t first, uint32_t last);
  void SetScope(llvm::Instruction* instruction, const Scope& scope) const;

  llvm::LLVMContext& context_;
  const ir::Function& kernel_;
  std::map<Place, Scope> places_;
  Scope row_;
  Scope status_;
  llvm::MDNode* group_ = nullptr;
};

}  // namespace adc::codegen
