#pragma once
// What the emitters of a body share.

#include <memory>

#include "codegen/llvm/debug_lines.h"
#include "codegen/llvm/sums.h"

namespace adc::codegen {

class BodyEmitter;

/// What belongs to one body.
struct BodyTables {
  BodyTables(const ir::Module& module, const ir::Function& kernel, llvm::IRBuilder<>& builder,
             TargetHooks& hooks, FloatMode float_mode, const AliasScopes& aliases);

  ScalarEmitter scalars;
  ValueTable values;
  MemoryEmitter memory;
  KernelPart part;
  std::unique_ptr<SumEmitter> sums;
};

class BodyPart : protected KernelPart {
 protected:
  BodyPart(BodyEmitter& body, const KernelPart& part, SumEmitter& sums, DebugLines* lines)
      : KernelPart(part), body_(body), sums_(sums), lines_(lines) {}

  void SetPlace(ir::Inst inst);
  /// The values that a block's terminator gives.
  llvm::SmallVector<llvm::Value*> Yielded(ir::Block block);
  /// A phi for each of `values`, which come from `block`.
  llvm::SmallVector<llvm::PHINode*> Phis(llvm::ArrayRef<llvm::Value*> values, llvm::BasicBlock* block);
  /// The same where two ways meet: of `values`, or of `others`, which come from `other_block`.
  llvm::SmallVector<llvm::Value*> Join(llvm::ArrayRef<llvm::Value*> values, llvm::BasicBlock* block,
                                       llvm::ArrayRef<llvm::Value*> others, llvm::BasicBlock* other_block);
  static void AddIncoming(llvm::ArrayRef<llvm::PHINode*> phis, llvm::ArrayRef<llvm::Value*> values,
                          llvm::BasicBlock* block);

  BodyEmitter& body_;
  SumEmitter& sums_;
  DebugLines* lines_;
};

}  // namespace adc::codegen
