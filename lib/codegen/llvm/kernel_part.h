#pragma once
// What the emitters of a kernel's code share.

#include "codegen/llvm/blocks.h"
#include "codegen/llvm/memory.h"
#include "llvm/IR/Module.h"

namespace adc::codegen {

class KernelPart {
 public:
  KernelPart(const ir::Function& kernel, llvm::IRBuilder<>& builder, TargetHooks& hooks,
             ScalarEmitter& scalars, ValueTable& values, MemoryEmitter& memory, const AliasScopes& aliases)
      : kernel_(kernel),
        builder_(builder),
        hooks_(hooks),
        scalars_(scalars),
        values_(values),
        memory_(memory),
        aliases_(aliases) {}

 protected:
  static constexpr uint32_t kSharedAlignment = 8;
  /// Memory of the block of threads, in units of that many bytes.
  llvm::Value* SharedWords(uint32_t count) {
    auto* array = llvm::ArrayType::get(builder_.getInt64Ty(), count);
    auto* memory = new llvm::GlobalVariable(*builder_.GetInsertBlock()->getModule(), array, false,
                                            llvm::GlobalValue::InternalLinkage, llvm::UndefValue::get(array),
                                            "adc.shared", nullptr, llvm::GlobalValue::NotThreadLocal,
                                            hooks_.Description().spaces.shared);
    memory->setAlignment(llvm::Align(kSharedAlignment));
    return memory;
  }

  const ir::Function& kernel_;
  llvm::IRBuilder<>& builder_;
  TargetHooks& hooks_;
  ScalarEmitter& scalars_;
  ValueTable& values_;
  MemoryEmitter& memory_;
  const AliasScopes& aliases_;
};

}  // namespace adc::codegen
