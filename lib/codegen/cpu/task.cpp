#include "codegen/cpu/task.h"

#include <algorithm>

#include "artifact/cpu_abi.h"
#include "codegen/common/launch_words.h"
#include "codegen/common/math_names.h"
#include "codegen/llvm/blocks.h"
#include "codegen/llvm/half.h"
#include "codegen/llvm/status.h"
#include "llvm/IR/Module.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op, ir::Scalar;
using llvm::Value;

void CallForm(llvm::IRBuilder<>& builder, llvm::Function* form, llvm::ArrayRef<Value*> arguments,
              bool among_others) {
  llvm::SmallVector<Value*, 4> all(arguments);
  if (form->arg_size() > all.size()) all.push_back(builder.getInt1(!among_others));
  builder.CreateCall(form, all);
}

CpuTask::CpuTask(llvm::Module& module, llvm::IRBuilder<>& builder, const ir::Function& kernel,
                 const CodeConfig& config, const TaskRows* rows, const AliasScopes& aliases, OwnMath& math,
                 const std::string& symbol, uint32_t task, TaskForm form)
    : module_(module),
      builder_(builder),
      kernel_(kernel),
      config_(config),
      rows_(rows),
      aliases_(aliases),
      own_math_(math),
      task_(task),
      head_(module.getContext()),
      first_cell_(ParameterCells(kernel)) {
  llvm::Type* pointer = builder.getPtrTy();
  llvm::Type* word = builder.getInt64Ty();
  llvm::SmallVector<llvm::Type*, 4> arguments{pointer, word, word};
  if (form == TaskForm::Asks) arguments.push_back(builder.getInt1Ty());
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), arguments, false);
  auto linkage =
      form == TaskForm::Entry ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage;
  entry_ = llvm::Function::Create(type, linkage, symbol, module);
  entry_->setDoesNotThrow();
  entry_->addFnAttr("target-cpu", config.target.processor);
  // Estimates of 1 / sqrt(x) and of quotients, refined by Newton's step, make NaN of 0 and of infinities, and
  // minus infinity of subnormal numbers.
  entry_->addFnAttr("reciprocal-estimates", "none");
  if (!config.target.features.empty()) entry_->addFnAttr("target-features", config.target.features);
  // A frame is asked for page by page: one that is larger than what is left of a stack ends in the page below
  // it.
  entry_->addFnAttr("probe-stack", "inline-asm");
  entry_->addParamAttr(0, llvm::Attribute::NoAlias);
  entry_->addParamAttr(0, llvm::Attribute::NoCapture);
  entry_->addParamAttr(0, llvm::Attribute::ReadOnly);
  entry_->addParamAttr(
      0, llvm::Attribute::getWithDereferenceableBytes(module.getContext(), sizeof(adrt_cpu_frame)));
  entry_->getArg(0)->setName("frame");
  entry_->getArg(1)->setName("begin");
  entry_->getArg(2)->setName("end");
  if (form == TaskForm::Asks) RunsAll()->setName("runs_all");
  // Other forms take it that the frame does not change, which their callers may make.
  if (form != TaskForm::Entry) entry_->addFnAttr(llvm::Attribute::NoInline);
  auto* head = llvm::BasicBlock::Create(module.getContext(), "entry", entry_);
  auto* work = llvm::BasicBlock::Create(module.getContext(), "work", entry_);
  auto* done = llvm::BasicBlock::Create(module.getContext(), "nothing", entry_);
  llvm::IRBuilder<> head_end(head);
  head_end.CreateCondBr(head_end.CreateICmpULT(Begin(), End()), work, done);
  llvm::IRBuilder<>(done).CreateRetVoid();
  head_.SetInsertPoint(head, head->begin());
  head_.SetInsertPoint(&head->front());
  builder_.SetInsertPoint(work);
  cells_.resize(first_cell_.back());
  if (rows != nullptr) {
    uint32_t cells = 2 * rows->groups;
    for (uint32_t position : rows->row_position) cells += position == ir::kNoAttr ? 0 : 2;
    adstack_cells_.resize(cells);
  }
}

llvm::LoadInst* CpuTask::InvariantLoad(llvm::IRBuilder<>& builder, llvm::Type* type, Value* address,
                                       uint32_t alignment) {
  llvm::LoadInst* load = builder.CreateAlignedLoad(type, address, llvm::Align(alignment));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module_.getContext(), {}));
  return load;
}

Value* CpuTask::Frame(FrameField field) {
  static constexpr uint64_t kOffsets[] = {offsetof(adrt_cpu_frame, cells), offsetof(adrt_cpu_frame, adstack),
                                          offsetof(adrt_cpu_frame, heap), offsetof(adrt_cpu_frame, status),
                                          offsetof(adrt_cpu_frame, row)};
  auto position = static_cast<uint8_t>(field);
  Value*& known = frame_fields_[position];
  if (known == nullptr) {
    Value* address =
        head_.CreateConstInBoundsGEP1_64(head_.getInt8Ty(), entry_->getArg(0), kOffsets[position]);
    known = InvariantLoad(
        head_, field == FrameField::Row ? static_cast<llvm::Type*>(head_.getInt64Ty()) : head_.getPtrTy(),
        address, 8);
  }
  return known;
}

Value* CpuTask::Cell(FrameField array, uint32_t position, llvm::Type* type) {
  std::vector<Value*>& known = array == FrameField::Cells ? cells_ : adstack_cells_;
  ADC_CHECK(position < known.size(), "a cell that the frame does not have");
  if (known[position] == nullptr) {
    Value* address = head_.CreateConstInBoundsGEP1_64(head_.getInt64Ty(), Frame(array), position);
    known[position] = InvariantLoad(head_, type, address, 8);
  }
  return known[position];
}

Value* CpuTask::BufferAddress(uint32_t param) {
  return Cell(FrameField::Cells, first_cell_[param], head_.getPtrTy());
}

Value* CpuTask::Extent(uint32_t param, uint32_t axis) {
  uint32_t position = first_cell_[param] + 1 + axis;
  bool fresh = cells_[position] == nullptr;
  Value* extent = Cell(FrameField::Cells, position, head_.getInt64Ty());
  if (fresh) SetRange(llvm::cast<llvm::LoadInst>(extent), llvm::APInt::getSignedMinValue(64));
  return extent;
}

Value* CpuTask::ParameterComponent(uint32_t param, uint32_t component) {
  Scalar scalar = kernel_.TypeOf(kernel_.Params()[param]).scalar;
  uint32_t position = first_cell_[param] + component;
  if (scalar == Scalar::I1) {
    bool fresh = cells_[position] == nullptr;
    Value* byte = Cell(FrameField::Cells, position, head_.getInt8Ty());
    if (fresh) cells_[position] = head_.CreateICmpNE(byte, head_.getInt8(0));
    return cells_[position];
  }
  return Cell(FrameField::Cells, position, RegisterTypeOf(head_, config_.target, scalar));
}

Value* CpuTask::Row(uint32_t group) {
  CheckGroup(rows_, group);
  return RowStart();
}

Value* CpuTask::RowStart() {
  Value* start = Cell(FrameField::Adstack, 0, head_.getInt64Ty());
  Value* stride = Cell(FrameField::Adstack, 1, head_.getInt64Ty());
  return builder_.CreateAdd(start, builder_.CreateMul(stride, Frame(FrameField::Row)));
}

uint32_t CpuTask::StackCell(uint32_t stack) const {
  uint32_t position = RowPositionOf(rows_, stack);
  return 2 * rows_->groups + 2 * position;
}

Value* CpuTask::StackOffset(uint32_t stack) {
  return Cell(FrameField::Adstack, StackCell(stack), head_.getInt64Ty());
}

Value* CpuTask::StackCapacity(uint32_t stack) {
  return Cell(FrameField::Adstack, StackCell(stack) + 1, head_.getInt64Ty());
}

void CpuTask::AddCopies(uint32_t count) {
  // A task without stacks has a group for its copies.
  first_copy_ = std::max(static_cast<uint32_t>(adstack_cells_.size()), 2u);
  adstack_cells_.resize(first_copy_ + 2 * size_t{count});
}

Value* CpuTask::CopyAddress(uint32_t copy) {
  Value* offset = Cell(FrameField::Adstack, first_copy_ + 2 * copy, head_.getInt64Ty());
  return RowAddress(RowStart(), offset, 0);
}

Value* CpuTask::CopyCapacity(uint32_t copy) {
  return Cell(FrameField::Adstack, first_copy_ + 2 * copy + 1, head_.getInt64Ty());
}

Value* CpuTask::RowAddress(Value* row, Value* byte, uint32_t) {
  Value* start = builder_.CreateInBoundsGEP(builder_.getInt8Ty(), Frame(FrameField::Heap), row);
  return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), start, byte);
}

Value* CpuTask::FrameWith(std::span<const std::pair<uint32_t, Value*>> buffers) {
  llvm::Type* word = builder_.getInt64Ty();
  llvm::Align alignment(sizeof(uint64_t));
  uint64_t count = first_cell_.back();
  Value* cells = Local(llvm::ArrayType::get(word, count), "cells");
  builder_.CreateMemCpy(cells, alignment, Frame(FrameField::Cells), alignment, count * sizeof(uint64_t));
  for (const auto& [param, address] : buffers)
    builder_.CreateStore(address, builder_.CreateConstInBoundsGEP1_64(word, cells, first_cell_[param]));
  Value* frame = Local(llvm::ArrayType::get(word, sizeof(adrt_cpu_frame) / sizeof(uint64_t)), "frame");
  builder_.CreateMemCpy(frame, alignment, entry_->getArg(0), alignment, sizeof(adrt_cpu_frame));
  builder_.CreateStore(cells, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), frame,
                                                                  offsetof(adrt_cpu_frame, cells)));
  return frame;
}

llvm::AllocaInst* CpuTask::Local(llvm::Type* type, const llvm::Twine& name) {
  return head_.CreateAlloca(type, nullptr, name);
}

void CpuTask::Raise(StatusCode code, uint32_t index, Value* needed) {
  llvm::CallInst* call = CallRaise(builder_, Frame(FrameField::Status), llvm::SyncScope::System,
                                   {code, task_, index, needed, iteration_});
  call->getCalledFunction()->addFnAttr("target-cpu", config_.target.processor);
  aliases_.MarkStatus(call);
}

namespace {

/// A library function as LLVM is to see it: it touches no memory but that of its arguments, ends, and is
/// never turned into another function, which the loader might not have.
llvm::FunctionCallee Library(llvm::Module& module, const std::string& name, llvm::FunctionType* type,
                             bool pure) {
  llvm::FunctionCallee callee = module.getOrInsertFunction(name, type);
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setWillReturn();
  function->addFnAttr(llvm::Attribute::NoSync);
  function->addFnAttr(llvm::Attribute::NoCallback);
  function->addFnAttr(llvm::Attribute::NoBuiltin);
  function->addFnAttr(llvm::Attribute::NonLazyBind);
  if (pure) {
    function->setDoesNotAccessMemory();
  } else {
    function->setOnlyAccessesArgMemory();
  }
  return callee;
}

}  // namespace

LaneShape CpuTask::ScalarShape() const {
  return {.count = 0, .fuses = HasFma(config_.target), .has_masks = true};
}

Value* CpuTask::CallMath(Op op, Scalar scalar, llvm::ArrayRef<Value*> operands, ir::Words words) {
  if (words.Has(ir::Word::OwnMath))
    return own_math_.Call(builder_, *this, ScalarShape(), op, scalar, operands);
  llvm::Type* type = operands[0]->getType();
  std::string name = MathName(op);
  if (scalar == Scalar::F32) name += 'f';
  llvm::SmallVector<llvm::Type*, 2> parameters(operands.size(), type);
  llvm::FunctionCallee callee =
      Library(module_, name, llvm::FunctionType::get(type, parameters, false), true);
  return builder_.CreateCall(callee, operands);
}

std::pair<Value*, Value*> CpuTask::CallSinCos(Scalar scalar, Value* operand, ir::Words words) {
  if (words.Has(ir::Word::OwnMath))
    return {CallMath(Op::Sin, scalar, {operand}, words), CallMath(Op::Cos, scalar, {operand}, words)};
  bool wide = scalar == Scalar::F64;
  llvm::Type* type = operand->getType();
  if (sine_[wide] == nullptr) {
    sine_[wide] = Local(type, "sine");
    cosine_[wide] = Local(type, "cosine");
  }
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::FunctionCallee callee =
      Library(module_, wide ? "sincos" : "sincosf",
              llvm::FunctionType::get(builder_.getVoidTy(), {type, pointer, pointer}, false), false);
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  for (uint32_t out : {1u, 2u}) {
    function->addParamAttr(out, llvm::Attribute::NoCapture);
    function->addParamAttr(out, llvm::Attribute::WriteOnly);
  }
  builder_.CreateCall(callee, {operand, sine_[wide], cosine_[wide]});
  return {builder_.CreateLoad(type, sine_[wide]), builder_.CreateLoad(type, cosine_[wide])};
}

}  // namespace adc::codegen
