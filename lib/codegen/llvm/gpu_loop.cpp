// A parallel task as a loop over the iterations of one thread. The flat iteration splits into one digit per
// axis; divisions are dear, so that only the first one is split, and the stride where the thread goes on at
// all. After that the digits add up like those of a number:
//
//   parallel %i, %j in 0..%n, 0..%m      t = thread; (i, j) = split(t)
//                                        (si, sj) = t + threads < total ? split(threads) : (0, 0)
//                                        do { body; t += threads
//                                             j += sj; carry = j >= m; j -= carry ? m : 0; i += si + carry
//                                        } while (t < total)

#include "codegen/llvm/gpu_loop.h"

#include <algorithm>

#include "analysis/tasks.h"
#include "artifact/gpu_abi.h"
#include "codegen/common/mangle.h"
#include "codegen/llvm/axes.h"
#include "codegen/llvm/body.h"
#include "codegen/llvm/gpu_task.h"

namespace adc::codegen {
namespace {

using llvm::Value;

constexpr uint32_t kLargestBlock = 1024;

class LoopEmitter {
 public:
  LoopEmitter(const ir::Module& module, const ir::Function& kernel, llvm::IRBuilder<>& builder,
              GpuTask& hooks, BodyEmitter& body, DebugLines* lines)
      : module_(module), kernel_(kernel), builder_(builder), hooks_(hooks), body_(body), lines_(lines) {}

  void EmitSerial(const analysis::Task& task) {
    llvm::BasicBlock* run = NewBlock("run");
    llvm::BasicBlock* done = NewBlock("done");
    builder_.CreateCondBr(builder_.CreateICmpEQ(hooks_.Thread(), builder_.getInt64(0)), run, done);
    builder_.SetInsertPoint(run);
    body_.EmitRange(kernel_.Body(), task.first, task.last);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
    builder_.CreateRetVoid();
  }

  void EmitParallel(const analysis::Task& task, bool sum_in_waves) {
    ChunkSums sums;
    if (sum_in_waves) sums = FindChunkSums(kernel_, task.first, task.parallel);
    Value* limit =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, hooks_.Iterations(), hooks_.Threads());
    llvm::BasicBlock* some = NewBlock("some");
    llvm::BasicBlock* done = NewBlock("done");
    // Where lanes sum up together, all of a wave that has any work go on.
    Value* first = hooks_.Thread();
    bool together = !sums.sums.empty();
    if (together) first = builder_.CreateAnd(first, ~(uint64_t{hooks_.Wave()->Lanes()} - 1));
    builder_.CreateCondBr(builder_.CreateICmpULT(first, limit), some, done);
    builder_.SetInsertPoint(some);
    body_.EmitRange(kernel_.Body(), task.first, task.last - 1);
    SetPlace(task.parallel);
    std::vector<Axis> axes = AxesOf(module_, kernel_, task.parallel, builder_, body_.values());
    body_.sums().Begin(sums);
    body_.memory().SetInLoop(true);
    llvm::BasicBlock* meet = NewBlock("meet");
    if (together) {
      llvm::BasicBlock* mine = NewBlock("mine");
      builder_.CreateCondBr(builder_.CreateICmpULT(hooks_.Thread(), limit), mine, meet);
      builder_.SetInsertPoint(mine);
    }
    EmitIterations(task.parallel, axes, meet);
    builder_.SetInsertPoint(meet);
    body_.memory().SetInLoop(false);
    body_.sums().End();
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
    builder_.CreateRetVoid();
  }

 private:
  /// The digits of `number`, one per axis. Every axis has cells here.
  std::vector<Value*> Split(Value* number, const std::vector<Axis>& axes) {
    std::vector<Value*> digits(axes.size());
    for (size_t n = axes.size(); n-- > 0;) {
      digits[n] = n == 0 ? number : builder_.CreateURem(number, axes[n].extent);
      if (n != 0) number = builder_.CreateUDiv(number, axes[n].extent);
    }
    return digits;
  }

  void EmitIterations(ir::Inst loop, const std::vector<Axis>& axes, llvm::BasicBlock* exit) {
    llvm::Type* word = builder_.getInt64Ty();
    bool splits = axes.size() > 1;
    std::vector<Value*> start = splits ? Split(hooks_.Thread(), axes) : std::vector<Value*>();
    std::vector<Value*> stride;
    if (splits) {
      llvm::BasicBlock* before = builder_.GetInsertBlock();
      llvm::BasicBlock* goes_on = NewBlock("goes_on");
      llvm::BasicBlock* begin = NewBlock("begin");
      Value* second = builder_.CreateAdd(hooks_.Thread(), hooks_.Threads(), "", true, true);
      builder_.CreateCondBr(builder_.CreateICmpULT(second, hooks_.Iterations()), goes_on, begin);
      builder_.SetInsertPoint(goes_on);
      stride = Split(hooks_.Threads(), axes);
      llvm::BasicBlock* goes_on_end = builder_.GetInsertBlock();
      builder_.CreateBr(begin);
      builder_.SetInsertPoint(begin);
      for (Value*& digit : stride) {
        llvm::PHINode* either = builder_.CreatePHI(word, 2, "stride");
        either->addIncoming(digit, goes_on_end);
        either->addIncoming(builder_.getInt64(0), before);
        digit = either;
      }
    }
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* iterate = NewBlock("iterate");
    builder_.CreateBr(iterate);
    builder_.SetInsertPoint(iterate);
    llvm::PHINode* iteration = builder_.CreatePHI(word, 2, "iteration");
    iteration->addIncoming(hooks_.Thread(), before);
    std::vector<llvm::PHINode*> digits;
    for (Value* digit : start) {
      digits.push_back(builder_.CreatePHI(word, 2, "digit"));
      digits.back()->addIncoming(digit, before);
    }
    hooks_.SetIteration(iteration);
    for (size_t n = 0; n < axes.size(); ++n) {
      Value* digit = splits ? digits[n] : iteration;
      body_.values().BindCounter(axes[n].counter, builder_.CreateNSWAdd(axes[n].low, digit), axes[n].bounds);
    }
    body_.EmitBlock(kernel_[loop].regions[0]);
    SetPlace(loop);
    Value* next = builder_.CreateAdd(iteration, hooks_.Threads(), "", true, true);
    llvm::BasicBlock* latch = builder_.GetInsertBlock();
    iteration->addIncoming(next, latch);
    Value* carry = nullptr;
    for (size_t n = digits.size(); n-- > 0;) {
      Value* moved = builder_.CreateAdd(digits[n], stride[n], "", true, true);
      if (carry != nullptr) moved = builder_.CreateAdd(moved, carry, "", true, true);
      if (n != 0) {
        Value* wraps = builder_.CreateICmpUGE(moved, axes[n].extent);
        carry = builder_.CreateZExt(wraps, word);
        moved = builder_.CreateSelect(wraps, builder_.CreateSub(moved, axes[n].extent), moved);
      }
      digits[n]->addIncoming(moved, latch);
    }
    llvm::BranchInst* again =
        builder_.CreateCondBr(builder_.CreateICmpULT(next, hooks_.Iterations()), iterate, exit);
    again->setMetadata(llvm::LLVMContext::MD_loop, LeftAsItIs());
    hooks_.SetIteration(nullptr);
  }

  /// Threads run this loop once or a few times, and there are many of them: copies of the body, or registers
  /// that hold what does not change, would cost more than they save.
  llvm::MDNode* LeftAsItIs() {
    llvm::LLVMContext& context = builder_.getContext();
    llvm::SmallVector<llvm::Metadata*, 3> wishes{nullptr};
    for (const char* wish : {"llvm.loop.unroll.disable", "llvm.licm.disable"})
      wishes.push_back(llvm::MDNode::get(context, {llvm::MDString::get(context, wish)}));
    llvm::MDNode* loop = llvm::MDNode::getDistinct(context, wishes);
    loop->replaceOperandWith(0, loop);
    return loop;
  }

  void SetPlace(ir::Inst inst) {
    if (lines_ != nullptr) builder_.SetCurrentDebugLocation(lines_->At(kernel_[inst].span));
  }

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(builder_.getContext(), name, hooks_.Entry());
  }

  const ir::Module& module_;
  const ir::Function& kernel_;
  llvm::IRBuilder<>& builder_;
  GpuTask& hooks_;
  BodyEmitter& body_;
  DebugLines* lines_;
};

/// The size of the blocks of a task: what was asked for or the target's, in whole waves.
uint32_t BlockSize(const KernelToEmit& what, uint32_t task, const target::Target& target) {
  uint32_t asked = task < what.block_size.size() ? what.block_size[task] : 0;
  if (asked == 0) asked = target.block_size;
  uint32_t wave = target.wave;
  return std::min((std::min(asked, kLargestBlock) + wave - 1) / wave * wave, kLargestBlock);
}

diag::Status CheckWords(const ir::Module& module, const ir::Function& kernel, const TaskRows* rows,
                        const target::Target& target) {
  uint32_t words = GpuWordCount(kernel, rows);
  if (words <= ADRT_GPU_MAX_WORDS) return diag::Unit{};
  return diag::Fail(diag::ErrorId::E0604, kernel.span,
                    "a launch of '" + std::string(module.Text(kernel.name)) + "' takes " +
                        std::to_string(words) + " words of 64 bits; " + target.name + " has room for " +
                        std::to_string(ADRT_GPU_MAX_WORDS),
                    "pass small values in one buffer, or several buffers as fields of one layout");
}

}  // namespace

diag::Result<std::vector<std::vector<EntryCode>>> EmitGpuKernels(
    llvm::Module& output, const ir::Module& module, std::span<const KernelToEmit> kernels,
    const CodeConfig& config, const GpuDialect& dialect, DebugLines* lines) {
  std::vector<std::vector<EntryCode>> entries;
  MathLibrary library = MathLibraryOf(config.target, config.libdevice);
  for (const KernelToEmit& what : kernels) {
    const ir::Function& kernel = *what.kernel;
    std::string name(module.Text(kernel.name));
    KernelChecks checks = NumberChecks(kernel);
    std::vector<analysis::Task> tasks = analysis::TasksOf(kernel);
    std::vector<EntryCode>& of_kernel = entries.emplace_back();
    for (uint32_t number = 0; number < tasks.size(); ++number) {
      const analysis::Task& task = tasks[number];
      const TaskRows* rows = number < what.tasks.size() ? &what.tasks[number] : nullptr;
      if (diag::Status fits = CheckWords(module, kernel, rows, config.target); !fits) return fits.Failure();
      bool serial = task.kind != analysis::TaskKind::Parallel;
      EntryCode& entry = of_kernel.emplace_back();
      entry.symbol = EntrySymbol(name, number);
      entry.block_size = serial ? config.target.wave : BlockSize(what, number, config.target);
      llvm::IRBuilder<> builder(output.getContext());
      AliasScopes aliases(output.getContext(), kernel, task.first, task.last);
      GpuTask hooks(output, builder, kernel, config, dialect, library, rows, aliases,
                    {entry.symbol, number, entry.block_size, serial});
      if (lines != nullptr) {
        diag::SourceSpan place = task.parallel.Valid() ? kernel[task.parallel].span : kernel.span;
        lines->Begin(*hooks.Entry(), name, place.Valid() ? place : kernel.span);
        builder.SetCurrentDebugLocation(lines->At({}));
      }
      BodyEmitter body(module, kernel, builder, hooks, config.Body(), aliases, checks, lines);
      LoopEmitter emitter(module, kernel, builder, hooks, body, lines);
      if (serial) {
        emitter.EmitSerial(task);
      } else {
        emitter.EmitParallel(task, !config.check_bounds);
      }
    }
  }
  return entries;
}

}  // namespace adc::codegen
