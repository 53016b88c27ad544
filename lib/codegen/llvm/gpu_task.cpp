#include "codegen/llvm/gpu_task.h"

#include "codegen/common/math_functions.h"
#include "codegen/llvm/blocks.h"
#include "codegen/llvm/half.h"
#include "codegen/llvm/status.h"
#include "ir/module.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

// A row is named by a token: the byte offset of its block of W rows, a multiple of 64, plus its lane in the
// low six bits. An element of s bytes at byte o of the row lies at
//
//   heap + block + lane * s  +  o * W
//
// whose first part does not change in a loop over slots, and whose second grows by W * s bytes per slot.

namespace adc::codegen {

using ir::Op, ir::Scalar;
using llvm::Value;

namespace {

constexpr uint64_t kLaneBits = 63;

}  // namespace

GpuTask::GpuTask(llvm::Module& module, llvm::IRBuilder<>& builder, const ir::Function& kernel,
                 const CodeConfig& config, const GpuDialect& dialect, const MathLibrary& library,
                 OwnMath& math, const TaskRows* rows, const AliasScopes& aliases, const GpuEntry& what)
    : module_(module),
      builder_(builder),
      kernel_(kernel),
      config_(config),
      dialect_(dialect),
      library_(library),
      math_(math),
      words_(module, kernel, config, dialect, rows, what),
      rows_(rows),
      aliases_(aliases),
      what_(what),
      scope_(module.getContext().getOrInsertSyncScopeID(dialect.AtomicScope())),
      head_(module.getContext()) {
  llvm::LLVMContext& context = module.getContext();
  auto* head = llvm::BasicBlock::Create(context, "entry", Entry());
  auto* work = llvm::BasicBlock::Create(context, "work", Entry());
  head_.SetInsertPoint(head);
  head_.SetInsertPoint(head_.CreateBr(work));
  llvm::Type* word = head_.getInt64Ty();
  block_ = head_.CreateZExt(dialect_.BlockNumber(head_), word);
  in_block_ = dialect_.ThreadInBlock(head_, what_.block_size);
  if (what_.team) {
    first_ = thread_ = block_;
  } else {
    first_ = head_.CreateMul(block_, head_.getInt64(what_.block_size), "", true, true);
    thread_ = head_.CreateAdd(first_, head_.CreateZExt(in_block_, word), "thread", true, true);
  }
  builder_.SetInsertPoint(work);
  components_.resize(words_.PositionOf(static_cast<uint32_t>(kernel.Params().size())));
  if (rows_ != nullptr) {
    ungated_.resize(rows_->groups);
    claimed_.resize(rows_->groups);
  }
}

Value* GpuTask::WaveInBlock() {
  return builder_.CreateUDiv(in_block_, builder_.getInt32(dialect_.Lanes()));
}

Value* GpuTask::BufferAddress(uint32_t param) {
  return words_.Get(builder_, words_.PositionOf(param));
}

Value* GpuTask::Extent(uint32_t param, uint32_t axis) {
  return words_.NotNegative(builder_, words_.PositionOf(param) + 1 + axis);
}

Value* GpuTask::ParameterComponent(uint32_t param, uint32_t component) {
  uint32_t position = words_.PositionOf(param) + component;
  Value*& known = components_[position];
  if (known != nullptr) return known;
  Scalar scalar = kernel_.TypeOf(kernel_.Params()[param]).scalar;
  uint32_t width = 8 * ir::ByteSize(scalar);
  Value* bits = head_.CreateTrunc(words_.Get(head_, position), head_.getIntNTy(width));
  return known = scalar == Scalar::I1
                     ? head_.CreateICmpNE(bits, head_.getInt8(0))
                     : head_.CreateBitCast(bits, RegisterTypeOf(head_, config_.target, scalar));
}

/// The token of row `row`, i64, made by `b`.
Value* GpuTask::RowToken(llvm::IRBuilder<>& b, uint32_t group, Value* row) {
  uint64_t lanes = config_.target.row_lanes;
  Value* lane = b.CreateAnd(row, b.getInt64(lanes - 1));
  Value* first = b.CreateAnd(row, b.getInt64(~(lanes - 1)));
  Value *offset = words_.OfRows(b, group, GroupWord::Offset),
        *stride = words_.OfRows(b, group, GroupWord::Stride);
  Value* block = b.CreateAdd(offset, b.CreateMul(first, stride, "", true, true), "", true, true);
  Value* token = b.CreateOr(block, lane, "row");
  parts_[token] = {block, lane};
  return token;
}

Value* GpuTask::Row(uint32_t group) {
  CheckGroup(rows_, group);
  if (rows_->IsGated(group)) return GatedRow(group);
  Value*& known = ungated_[group];
  if (known == nullptr) known = RowToken(head_, group, what_.serial ? head_.getInt64(0) : thread_);
  return known;
}

Value* GpuTask::GatedRow(uint32_t group) {
  llvm::Type* word = builder_.getInt64Ty();
  Value* none = builder_.getInt64(~uint64_t{0});
  if (claimed_[group] == nullptr) {
    claimed_[group] = Local(word, "claimed");
    head_.CreateStore(none, claimed_[group]);
  }
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  Value *mine = builder_.CreateLoad(word, claimed_[group]), *token = nullptr;
  llvm::BasicBlock* end = EmitWhen(builder_, builder_.CreateICmpEQ(mine, none), "claim", "claimed", [&] {
    token = RowToken(builder_, group, TakeRow(group));
    builder_.CreateStore(token, claimed_[group]);
  });
  return EmitPhi(builder_, mine, before, token, end, "row");
}

Value* GpuTask::TakeRow(uint32_t group) {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* small = builder_.getInt32Ty();
  Value* active = dialect_.ActiveLanes(builder_);
  Value* leader = dialect_.FirstLane(builder_, active);
  Value* rank = dialect_.CountBelow(builder_, active);
  Value* count =
      builder_.CreateZExtOrTrunc(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, active), small);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::AtomicRMWInst* update = nullptr;
  Value* leads = builder_.CreateICmpEQ(dialect_.Lane(builder_), leader);
  llvm::BasicBlock* lead = EmitWhen(builder_, leads, "claim_lead", "claim_join", [&] {
    Value* counter = builder_.CreateInBoundsGEP(builder_.getInt8Ty(), words_.Heap(),
                                                words_.OfRows(builder_, group, GroupWord::Counter));
    update = builder_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, counter, count, llvm::Align(4),
                                      llvm::AtomicOrdering::Monotonic, scope_);
    aliases_.MarkStatus(update);
  });
  llvm::BasicBlock *beyond = NewBlock(builder_, "claim_beyond"), *taken = NewBlock(builder_, "claim_taken");
  Value* first = EmitPhi(builder_, builder_.getInt32(0), before, update, lead);
  Value* number = builder_.CreateAdd(dialect_.ReadOne(builder_, active, first, leader), rank);
  Value* row = builder_.CreateZExt(number, builder_.getInt64Ty());
  Value* rows = words_.OfRows(builder_, group, GroupWord::Rows);
  llvm::BasicBlock* join_end = builder_.GetInsertBlock();
  builder_.CreateCondBr(builder_.CreateICmpULT(row, rows), taken, beyond,
                        llvm::MDBuilder(context).createBranchWeights(1000, 1));
  builder_.SetInsertPoint(beyond);
  Value* one = builder_.getInt64(1);
  Raise(StatusCode::RowsExhausted, group, builder_.CreateAdd(row, one));
  Value* last = builder_.CreateSub(rows, one);
  llvm::BasicBlock* beyond_end = builder_.GetInsertBlock();
  GoOnIn(builder_, taken);
  return EmitPhi(builder_, row, join_end, last, beyond_end);
}

Value* GpuTask::StackOffset(uint32_t stack) {
  return words_.OfRows(builder_, stack, StackWord::Offset);
}

Value* GpuTask::StackCapacity(uint32_t stack) {
  return words_.OfRows(builder_, stack, StackWord::Capacity);
}

Value* GpuTask::RowAddress(Value* row, Value* byte, uint32_t size) {
  auto known = parts_.find(row);
  RowParts parts = known != parts_.end() ? known->second
                                         : RowParts{builder_.CreateAnd(row, builder_.getInt64(~kLaneBits)),
                                                    builder_.CreateAnd(row, builder_.getInt64(kLaneBits))};
  llvm::Type* bytes = builder_.getInt8Ty();
  Value* start = builder_.CreateInBoundsGEP(bytes, words_.Heap(), parts.block);
  start = builder_.CreateInBoundsGEP(bytes, start,
                                     builder_.CreateMul(parts.lane, builder_.getInt64(size), "", true, true));
  return builder_.CreateInBoundsGEP(
      bytes, start, builder_.CreateMul(byte, builder_.getInt64(config_.target.row_lanes), "", true, true));
}

void GpuTask::Raise(StatusCode code, uint32_t index, Value* needed) {
  llvm::CallInst* call =
      CallRaise(builder_, words_.Status(), scope_, {code, what_.task, index, needed, iteration_});
  dialect_.MakeFunction(*call->getCalledFunction());
  aliases_.MarkStatus(call);
}

llvm::AllocaInst* GpuTask::Local(llvm::Type* type, const llvm::Twine& name) {
  return head_.CreateAlloca(type, nullptr, name);
}

Value* GpuTask::CallMath(Op op, Scalar scalar, llvm::ArrayRef<Value*> operands, ir::Words) {
  if (builder_.getFastMathFlags().approxFunc()) {
    if (Value* known = dialect_.ApproximateMath(builder_, op, scalar, operands)) return known;
  }
  if (HasOwnMath(op, scalar))
    return math_.Call(builder_, *this, {.fuses = true, .outlines = true}, op, scalar, operands);
  return EmitMath(builder_, library_, op, scalar, operands);
}

bool GpuTask::HasOwnMath(Op op, Scalar scalar) const {
  bool calls = config_.target.arch == target::Arch::Nvptx;
  return calls && library_.names != MathLibrary::Names::Libdevice && scalar == Scalar::F32 &&
         MathFunctions::Get().Find(op, scalar) != nullptr;
}

std::pair<Value*, Value*> GpuTask::CallSinCos(Scalar scalar, Value* operand, ir::Words words) {
  if (config_.float_mode == FloatMode::Fast) {
    Value* sine = dialect_.ApproximateMath(builder_, Op::Sin, scalar, {operand});
    if (sine != nullptr) return {sine, CallMath(Op::Cos, scalar, {operand}, words)};
  }
  if (HasOwnMath(Op::Sin, scalar))
    return {CallMath(Op::Sin, scalar, {operand}, words), CallMath(Op::Cos, scalar, {operand}, words)};
  return EmitSinCos(builder_, *this, library_, scalar, operand);
}

}  // namespace adc::codegen
