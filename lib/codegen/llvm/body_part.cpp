#include "codegen/llvm/body_part.h"

namespace adc::codegen {

using llvm::Value;

BodyTables::BodyTables(const ir::Module& module, const ir::Function& kernel, llvm::IRBuilder<>& builder,
                       TargetHooks& hooks, FloatMode float_mode, const AliasScopes& aliases)
    : scalars(builder, hooks, float_mode),
      values(module, kernel, builder, hooks, scalars),
      memory(module, kernel, builder, hooks, scalars, values, aliases),
      part(kernel, builder, hooks, scalars, values, memory, aliases) {
  sums = hooks.Wave() != nullptr ? MakeLaneSums(part) : MakeGatherTables(part);
}

void BodyPart::SetPlace(ir::Inst inst) {
  if (lines_ != nullptr) builder_.SetCurrentDebugLocation(lines_->At(kernel_[inst].span));
}

llvm::SmallVector<Value*> BodyPart::Yielded(ir::Block block) {
  return values_.GetAll(kernel_.Operands(kernel_.Terminator(block)));
}

llvm::SmallVector<llvm::PHINode*> BodyPart::Phis(llvm::ArrayRef<Value*> values, llvm::BasicBlock* block) {
  llvm::SmallVector<llvm::PHINode*> phis;
  for (Value* v : values) phis.push_back(BeginPhi(builder_, v, block));
  return phis;
}

llvm::SmallVector<Value*> BodyPart::Join(llvm::ArrayRef<Value*> values, llvm::BasicBlock* block,
                                         llvm::ArrayRef<Value*> others, llvm::BasicBlock* other_block) {
  llvm::SmallVector<llvm::PHINode*> phis = Phis(values, block);
  AddIncoming(phis, others, other_block);
  return {phis.begin(), phis.end()};
}

void BodyPart::AddIncoming(llvm::ArrayRef<llvm::PHINode*> phis, llvm::ArrayRef<Value*> values,
                           llvm::BasicBlock* block) {
  for (size_t n = 0; n < phis.size(); ++n) phis[n]->addIncoming(values[n], block);
}

}  // namespace adc::codegen
