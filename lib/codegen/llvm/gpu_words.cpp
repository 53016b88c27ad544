#include "codegen/llvm/gpu_words.h"

#include "codegen/common/cells.h"
#include "codegen/llvm/blocks.h"
#include "codegen/llvm/gpu_dialect.h"
#include "ir/module.h"
#include "llvm/IR/Module.h"
#include "support/check.h"

namespace adc::codegen {

using llvm::Value;

GpuWords::GpuWords(llvm::Module& module, const ir::Function& kernel, const CodeConfig& config,
                   const GpuDialect& dialect, const TaskRows* rows, const GpuEntry& what)
    : rows_(rows), first_cell_(ParameterCells(kernel)), tail_(first_cell_.back() + GpuRowWords(rows)) {
  llvm::LLVMContext& context = module.getContext();
  types_.assign(WordCount(), llvm::Type::getInt64Ty(context));
  llvm::Type* pointer = llvm::PointerType::get(context, config.target.spaces.global);
  for (uint32_t n = 0; n < kernel.Params().size(); ++n) {
    ir::Type type = kernel.TypeOf(kernel.Params()[n]);
    if (type.IsBuffer() || type.IsLayout()) types_[first_cell_[n]] = pointer;
  }
  types_[tail_] = types_[tail_ + 1] = pointer;
  llvm::SmallVector<llvm::Type*> parameters;
  for (uint32_t position = 0; position < WordCount(); ++position) {
    if (HasTable() && position == ADRT_GPU_DIRECT_WORDS) parameters.push_back(pointer);
    if (!InTable(position)) parameters.push_back(types_[position]);
  }
  entry_ = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), parameters, false),
                                  llvm::GlobalValue::ExternalLinkage, what.symbol, module);
  entry_->setDoesNotThrow();
  entry_->setConvergent();
  dialect.MakeFunction(*entry_);
  dialect.MakeEntry(*entry_, what.block_size);
  Describe(kernel, what.team);
}

void GpuWords::Describe(const ir::Function& kernel, bool team) {
  llvm::LLVMContext& context = entry_->getContext();
  auto not_negative = [&](uint32_t position) {
    if (InTable(position)) return;
    llvm::ConstantRange range(llvm::APInt(64, 0), llvm::APInt::getSignedMinValue(64));
    Parameter(position)->addAttr(llvm::Attribute::get(context, llvm::Attribute::Range, range));
  };
  // A thread of a team may read memory that another one has written: a barrier is no access of memory that
  // has no alias.
  auto describe_address = [team](llvm::Argument* address, bool may_overlap) {
    if (!may_overlap && !team) address->addAttr(llvm::Attribute::NoAlias);
    address->addAttr(llvm::Attribute::NoUndef);
  };
  for (uint32_t n = 0; n < kernel.Params().size(); ++n) {
    ir::Type type = kernel.TypeOf(kernel.Params()[n]);
    if (!type.IsBuffer() && !type.IsLayout()) continue;
    if (!InTable(first_cell_[n])) describe_address(Parameter(first_cell_[n]), kernel.params[n].alias);
    for (uint32_t position = first_cell_[n] + 1; position < first_cell_[n + 1]; ++position)
      not_negative(position);
  }
  for (uint32_t position = first_cell_.back(); position < tail_; ++position) not_negative(position);
  if (HasTable()) describe_address(entry_->getArg(ADRT_GPU_DIRECT_WORDS), false);
  describe_address(Parameter(tail_), false);
  describe_address(Parameter(tail_ + 1), false);
  not_negative(tail_ + 2);
  not_negative(tail_ + 3);
}

void GpuWords::NameParameters(const std::vector<std::string>& words) {
  if (HasTable()) entry_->getArg(ADRT_GPU_DIRECT_WORDS)->setName("adc.table");
  for (uint32_t position = 0; position < WordCount(); ++position) {
    if (!InTable(position)) Parameter(position)->setName(words[position]);
  }
}

llvm::Argument* GpuWords::Parameter(uint32_t position) const {
  ADC_CHECK(!InTable(position), "a word of the table is no parameter");
  bool behind = HasTable() && position >= tail_;
  return entry_->getArg(behind ? position - tail_ + ADRT_GPU_DIRECT_WORDS + 1 : position);
}

Value* GpuWords::Get(llvm::IRBuilder<>& b, uint32_t position) const {
  if (!InTable(position)) return Parameter(position);
  llvm::LLVMContext& context = entry_->getContext();
  Value* address = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), entry_->getArg(ADRT_GPU_DIRECT_WORDS),
                                                position - ADRT_GPU_DIRECT_WORDS);
  llvm::LoadInst* word = b.CreateAlignedLoad(types_[position], address, llvm::Align(sizeof(uint64_t)));
  llvm::MDNode* none = llvm::MDNode::get(context, {});
  word->setMetadata(llvm::LLVMContext::MD_invariant_load, none);
  word->setMetadata(llvm::LLVMContext::MD_noundef, none);
  return word;
}

Value* GpuWords::NotNegative(llvm::IRBuilder<>& b, uint32_t position) const {
  Value* word = Get(b, position);
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(word)) SetRange(load, llvm::APInt::getSignedMinValue(64));
  return word;
}

}  // namespace adc::codegen
