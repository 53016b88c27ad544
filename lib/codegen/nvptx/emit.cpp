#include "codegen/nvptx/emit.h"

#include "codegen/llvm/blocks.h"
#include "codegen/llvm/gpu_module.h"
#include "codegen/llvm/machine.h"
#include "codegen/nvptx/text.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "support/check.h"

namespace adc::codegen {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

namespace {

constexpr uint32_t kLastLane = 31;
constexpr uint32_t kLargestGrid = 0x7FFFFFFF;

/// A special register with a value in [0, end).
Value* Register(llvm::IRBuilder<>& b, Intrinsic::ID id, uint32_t end) {
  llvm::CallInst* value = b.CreateIntrinsic(id, {}, {});
  SetRange(value, llvm::APInt(32, end));
  return value;
}

/// Says something of a function to LLVM's back end.
void Note(llvm::Function& function, const char* what, uint32_t value) {
  llvm::LLVMContext& context = function.getContext();
  llvm::Metadata* row[] = {
      llvm::ValueAsMetadata::get(&function), llvm::MDString::get(context, what),
      llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value))};
  function.getParent()
      ->getOrInsertNamedMetadata("nvvm.annotations")
      ->addOperand(llvm::MDNode::get(context, row));
}

/// NVIDIA's GPUs: special registers, shuffles and ballots that name their lanes.
class NvptxDialect final : public GpuDialect {
 public:
  explicit NvptxDialect(const target::Target& target) : target_(target) {}

  void MakeEntry(llvm::Function& function, uint32_t block_size) const override {
    Note(function, "kernel", 1);
    Note(function, "reqntidx", block_size);
  }

  void RaiseOccupancy(llvm::Function& function, uint32_t block_size, uint32_t threads) const override {
    if (block_size < threads) Note(function, "minctasm", threads / block_size);
  }

  void MakeFunction(llvm::Function& function) const override {
    function.addFnAttr("target-cpu", target_.processor);
    function.addFnAttr("target-features", target_.features);
  }

  const char* AtomicScope() const override { return ""; }

  Value* ThreadInBlock(Builder& b, uint32_t block_size) const override {
    return Register(b, Intrinsic::nvvm_read_ptx_sreg_tid_x, block_size);
  }

  Value* BlockNumber(Builder& b) const override {
    return Register(b, Intrinsic::nvvm_read_ptx_sreg_ctaid_x, kLargestGrid);
  }

  void MeetBlock(Builder& b) const override { b.CreateIntrinsic(Intrinsic::nvvm_barrier0, {}, {}); }

  uint32_t Lanes() const override { return 32; }

  Value* Lane(Builder& b) const override {
    return Register(b, Intrinsic::nvvm_read_ptx_sreg_laneid, Lanes());
  }

  Value* ActiveLanes(Builder& b) const override {
    return b.CreateIntrinsic(Intrinsic::nvvm_activemask, {}, {});
  }

  Value* LanesWhere(Builder& b, Value* mask, Value* condition) const override {
    return b.CreateIntrinsic(Intrinsic::nvvm_vote_ballot_sync, {}, {mask, condition});
  }

  Value* CountBelow(Builder& b, Value* mask) const override {
    Value* below = b.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_lanemask_lt, {}, {});
    return b.CreateUnaryIntrinsic(Intrinsic::ctpop, b.CreateAnd(mask, below));
  }

  Value* Read(Builder& b, Value* mask, Value* value, Value* lane) const override {
    return b.CreateIntrinsic(Intrinsic::nvvm_shfl_sync_idx_i32, {},
                             {mask, value, lane, b.getInt32(kLastLane)});
  }

  Value* ReadAcross(Builder& b, Value* value, uint32_t distance) const override {
    return b.CreateIntrinsic(Intrinsic::nvvm_shfl_sync_bfly_i32, {},
                             {EveryLane(b), value, b.getInt32(distance), b.getInt32(kLastLane)});
  }

  /// Off by a relative 2^-22.9 at most (PTX ISA, rsqrt), also where the operand is subnormal.
  Value* ReciprocalRoot(Builder& b, ir::Scalar scalar, Value* value) const override {
    if (scalar != ir::Scalar::F32) return nullptr;
    return b.CreateIntrinsic(Intrinsic::nvvm_rsqrt_approx_f, {}, {value});
  }

  Value* Peers(Builder& b, Value* mask, Value* value) const override {
    return b.CreateIntrinsic(Intrinsic::nvvm_match_any_sync_i64, {}, {mask, value});
  }

  bool AddsAtOnce() const override { return target_.level >= 80; }

  Value* AddOverWave(Builder& b, Value* value) const override {
    return b.CreateIntrinsic(Intrinsic::nvvm_redux_sync_add, {}, {value, EveryLane(b)});
  }

  /// From sm_90 and PTX 8.1 on.
  bool AddsVectors() const override {
    constexpr std::string_view kFirst = "+ptx81";
    return target_.level >= 90 && target_.features >= kFirst;
  }

  /// LLVM 19 has no intrinsic for it. The scope is that of LLVM's own updates: where none is named, the
  /// device's.
  void AddVector(Builder& b, Value* address, llvm::ArrayRef<Value*> values) const override {
    std::string text = "red.global.add.v" + std::to_string(values.size()) + ".f32 [$0], {", constraints = "l";
    llvm::SmallVector<llvm::Type*> types{b.getInt64Ty()};
    llvm::SmallVector<Value*> operands{b.CreatePtrToInt(address, b.getInt64Ty())};
    for (Value* value : values) {
      text += (types.size() == 1 ? "$" : ", $") + std::to_string(types.size());
      constraints += ",f";
      types.push_back(value->getType());
      operands.push_back(value);
    }
    auto* type = llvm::FunctionType::get(b.getVoidTy(), types, false);
    b.CreateCall(llvm::InlineAsm::get(type, text + "};", constraints + ",~{memory}", true), operands);
  }

  /// exp, exp2, log, log2, sin and cos of f32.
  /// The hardware knows powers and logarithms of two, and sine and cosine near 0. An angle loses its whole
  /// turns first, in two steps so that angles up to some thousands keep their last bits.
  Value* ApproximateMath(Builder& b, ir::Op op, ir::Scalar scalar,
                         llvm::ArrayRef<Value*> operands) const override {
    if (scalar != ir::Scalar::F32 || operands.size() != 1) return nullptr;
    Value* x = operands[0];
    auto number = [&](double value) { return llvm::ConstantFP::get(x->getType(), value); };
    auto instruction = [&](Intrinsic::ID id, Value* operand) { return b.CreateIntrinsic(id, {}, {operand}); };
    if (op == ir::Op::Exp2) return instruction(Intrinsic::nvvm_ex2_approx_f, x);
    if (op == ir::Op::Exp)
      return instruction(Intrinsic::nvvm_ex2_approx_f, b.CreateFMul(x, number(1.4426950408889634)));
    if (op == ir::Op::Log2) return instruction(Intrinsic::nvvm_lg2_approx_f, x);
    if (op == ir::Op::Log)
      return b.CreateFMul(instruction(Intrinsic::nvvm_lg2_approx_f, x), number(0.6931471805599453));
    if (op != ir::Op::Sin && op != ir::Op::Cos) return nullptr;
    constexpr double kTurn = 6.283185307179586, kTurnHigh = 6.28125;
    Value* turns = b.CreateUnaryIntrinsic(Intrinsic::roundeven, b.CreateFMul(x, number(1 / kTurn)));
    auto less = [&](Value* from, double turn) {
      return b.CreateIntrinsic(Intrinsic::fma, {x->getType()}, {turns, number(-turn), from});
    };
    Value* rest = less(less(x, kTurnHigh), kTurn - kTurnHigh);
    return instruction(op == ir::Op::Sin ? Intrinsic::nvvm_sin_approx_f : Intrinsic::nvvm_cos_approx_f, rest);
  }

 private:
  const target::Target& target_;
};

/// Quotients and roots whose flags allow it, as the machine's approximations. LLVM would take them for whole
/// functions only, and contract everything there, what decides about control flow as well.
void Approximate(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (!instruction.getType()->isFloatTy()) continue;
      Intrinsic::ID approximate = Intrinsic::not_intrinsic;
      if (instruction.getOpcode() == llvm::Instruction::FDiv && instruction.hasAllowReciprocal())
        approximate = Intrinsic::nvvm_div_approx_f;
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call != nullptr && call->getIntrinsicID() == Intrinsic::sqrt && call->hasApproxFunc())
        approximate = Intrinsic::nvvm_sqrt_approx_f;
      if (approximate == Intrinsic::not_intrinsic) continue;
      llvm::IRBuilder<> builder(&instruction);
      llvm::SmallVector<llvm::Value*, 2> operands{instruction.getOperand(0)};
      if (call == nullptr) operands.push_back(instruction.getOperand(1));
      instruction.replaceAllUsesWith(builder.CreateIntrinsic(approximate, {}, operands));
      instruction.eraseFromParent();
    }
  }
}

}  // namespace

diag::Result<TargetCode> EmitNvptx(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                   const CodeConfig& config) {
  ADC_CHECK(config.target.arch == target::Arch::Nvptx, "an NVIDIA target");
  auto write = [&config](llvm::Module& output, llvm::TargetMachine& machine,
                         Stopwatch& watch) -> diag::Result<Payload> {
    if (config.float_mode == FloatMode::Fast) Approximate(output);
    Payload ptx{PayloadKind::Ptx, MakePtx(output, machine)};
    watch.Lap("select");
    return ptx;
  };
  return EmitGpu(module, kernels, config, NvptxDialect(config.target), write);
}

}  // namespace adc::codegen
