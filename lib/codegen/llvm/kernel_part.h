#pragma once
// What the emitters of a kernel's code share.

#include "codegen/llvm/blocks.h"
#include "codegen/llvm/memory.h"

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
  const ir::Function& kernel_;
  llvm::IRBuilder<>& builder_;
  TargetHooks& hooks_;
  ScalarEmitter& scalars_;
  ValueTable& values_;
  MemoryEmitter& memory_;
  const AliasScopes& aliases_;
};

}  // namespace adc::codegen
