#include "codegen/llvm/table_writer.h"

#include "analysis/tasks.h"
#include "artifact/gpu_abi.h"
#include "codegen/common/launch_words.h"
#include "llvm/IR/Module.h"

namespace adc::codegen {

bool NeedsTable(std::span<const KernelToEmit> kernels) {
  for (const KernelToEmit& what : kernels) {
    size_t tasks = analysis::TasksOf(*what.kernel).size();
    for (size_t task = 0; task < tasks; ++task) {
      if (GpuWordCount(*what.kernel, what.RowsOf(task)) > ADRT_GPU_MAX_WORDS) return true;
    }
  }
  return false;
}

void EmitTableWriter(llvm::Module& module, const target::Target& target, const GpuDialect& dialect) {
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type* word = builder.getInt64Ty();
  llvm::SmallVector<llvm::Type*> types(1 + ADRT_GPU_TABLE_CHUNK, word);
  types[0] = builder.getPtrTy(target.spaces.global);
  auto* writer = llvm::Function::Create(llvm::FunctionType::get(builder.getVoidTy(), types, false),
                                        llvm::GlobalValue::ExternalLinkage, ADRT_GPU_TABLE_WRITER, module);
  writer->setDoesNotThrow();
  dialect.MakeFunction(*writer);
  dialect.MakeEntry(*writer, /*block_size=*/1);
  llvm::Argument* table = writer->getArg(0);
  table->addAttr(llvm::Attribute::NoAlias);
  table->addAttr(llvm::Attribute::NoUndef);
  builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", writer));
  for (uint32_t position = 0; position < ADRT_GPU_TABLE_CHUNK; ++position) {
    builder.CreateAlignedStore(writer->getArg(1 + position),
                               builder.CreateConstInBoundsGEP1_64(word, table, position),
                               llvm::Align(sizeof(uint64_t)));
  }
  builder.CreateRetVoid();
}

}  // namespace adc::codegen
