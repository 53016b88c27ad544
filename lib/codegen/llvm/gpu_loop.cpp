// A parallel task as a loop over the iterations of one thread:
//
//   parallel %i in 0..%n      prologue
//                             t = thread; do { body(t); t += threads } while (t < total)
//                             all threads of the block meet: sums
//
// The counters are digits of t. Where only a branch with a gate uses them for more than flat accesses
// (raise/flat_access.h), they are told apart in there, since most iterations end at the gate. A
// short body that only counts takes four iterations at a time.

#include "codegen/llvm/gpu_loop.h"

#include <algorithm>
#include <optional>

#include "analysis/tasks.h"
#include "codegen/common/mangle.h"
#include "codegen/common/team_steps.h"
#include "codegen/common/wave_teams.h"
#include "codegen/llvm/axes.h"
#include "codegen/llvm/blocks.h"
#include "codegen/llvm/body.h"
#include "codegen/llvm/gpu_digits.h"
#include "codegen/llvm/gpu_task.h"
#include "codegen/llvm/word_names.h"
#include "ir/module.h"
#include "llvm/IR/MDBuilder.h"

namespace adc::codegen {
namespace {

using llvm::Value;

constexpr uint32_t kLargestBlock = 1024;

class LoopEmitter {
 public:
  LoopEmitter(const ir::Module& module, const ir::Function& kernel, llvm::IRBuilder<>& builder,
              GpuTask& hooks, BodyEmitter& body, uint32_t team)
      : module_(module),
        kernel_(kernel),
        builder_(builder),
        hooks_(hooks),
        words_(hooks.words()),
        body_(body),
        team_(team) {}

  void EmitSerial(const analysis::Task& task) {
    EmitWhen(builder_, builder_.CreateICmpEQ(hooks_.Thread(), builder_.getInt64(0)), "run", "done",
             [&] { body_.EmitRange(kernel_.Body(), task.first, task.last); });
    builder_.CreateRetVoid();
  }

  void EmitParallel(const analysis::Task& task) {
    PrivateSums sums = SumsOf(kernel_, task.parallel);
    if (MayBeInTeams(kernel_[task.parallel])) EmitInTeams(task, nullptr);
    if (MayShareWaves(kernel_, task.parallel)) EmitInTeams(task, &sums);
    Value* limit =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, words_.Iterations(), words_.Threads());
    llvm::BasicBlock* some = NewBlock(builder_, "some");
    llvm::BasicBlock* done = NewBlock(builder_, "done");
    // Where a block sums up together, all of it goes on if it has any work.
    Value* first = hooks_.Thread();
    bool together = !sums.sums.empty();
    if (together) first = hooks_.FirstOfBlock();
    // Bounds that have grown from no iteration at all are seen by who comes in first.
    bool guarded = kernel_[task.parallel].Has(ir::Word::Recheck);
    Value* least = builder_.getInt64(1);
    Value* looking = guarded ? builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, limit, least) : limit;
    builder_.CreateCondBr(builder_.CreateICmpULT(first, looking), some, done);
    builder_.SetInsertPoint(some);
    body_.EmitRange(kernel_.Body(), task.first, task.last - 1);
    body_.SetPlace(task.parallel);
    std::vector<Axis> axes = AxesOf(module_, kernel_, task.parallel, builder_, body_.values());
    if (guarded) EmitGuard(axes, builder_.CreateICmpULT(first, limit), done);
    body_.sums().Begin(sums);
    body_.memory().SetInLoop(true);
    llvm::BasicBlock* meet = NewBlock(builder_, "meet");
    if (together) {
      llvm::BasicBlock* mine = NewBlock(builder_, "mine");
      builder_.CreateCondBr(builder_.CreateICmpULT(hooks_.Thread(), limit), mine, meet);
      builder_.SetInsertPoint(mine);
    }
    EmitIterations(task.parallel, axes, meet);
    builder_.SetInsertPoint(meet);
    body_.memory().SetInLoop(false);
    body_.sums().End();
    GoOnIn(builder_, done);
    builder_.CreateRetVoid();
  }

 private:
  /// The form of the task in which a block runs an iteration, for a launch with a block for each; or, where
  /// waves share the turns and sum up so, as many as a wave has lanes, for a launch with blocks for these.
  /// Leaves the builder where other launches go on.
  void EmitInTeams(const analysis::Task& task, const PrivateSums* sums_of_waves) {
    bool by_waves = sums_of_waves != nullptr;
    llvm::BasicBlock *teams = NewBlock(builder_, "teams"), *alone = NewBlock(builder_, "alone"),
                     *run = NewBlock(builder_, "team"), *done = NewBlock(builder_, "team_done");
    Value* in_block = builder_.getInt64(by_waves ? hooks_.Wave()->Lanes() : 1);
    Value* blocks = builder_.CreateUDiv(words_.Threads(), builder_.getInt64(team_));
    Value* reached = builder_.CreateMul(blocks, in_block, "", true, true);
    builder_.CreateCondBr(builder_.CreateICmpUGE(reached, words_.Iterations()), teams, alone);
    builder_.SetInsertPoint(teams);
    Value* first = builder_.CreateMul(hooks_.BlockNumber(), in_block, "", true, true);
    builder_.CreateCondBr(builder_.CreateICmpULT(first, words_.Iterations()), run, done);
    builder_.SetInsertPoint(run);
    body_.EmitRange(kernel_.Body(), task.first, task.last - 1);
    body_.SetPlace(task.parallel);
    std::vector<Axis> axes = AxesOf(module_, kernel_, task.parallel, builder_, body_.values());
    if (by_waves) {
      EmitLanesOfTeam(task.parallel, axes, first, *sums_of_waves);
    } else {
      EmitTeam(task.parallel, axes, first, nullptr);
    }
    GoOnIn(builder_, done);
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(alone);
  }

  /// Lanes without an iteration compute the last one too, and do nothing with what they have.
  void EmitLanesOfTeam(ir::Inst loop, const std::vector<Axis>& axes, Value* first, const PrivateSums& sums) {
    Value* lane = builder_.CreateZExt(hooks_.Wave()->Lane(builder_), builder_.getInt64Ty());
    Value* iteration = builder_.CreateAdd(first, lane, "", true, true);
    Value* has = builder_.CreateICmpULT(iteration, words_.Iterations());
    Value* last = builder_.CreateSub(words_.Iterations(), builder_.getInt64(1), "", true, true);
    body_.sums().Begin(sums);
    EmitTeam(loop, axes, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, iteration, last), has);
    body_.sums().End();
  }

  void EmitTeam(ir::Inst loop, const std::vector<Axis>& axes, Value* iteration, Value* has) {
    if (axes.size() == 1) BindCounter(axes[0], iteration);
    if (axes.size() > 1) BindCounters(axes, iteration);
    body_.SetTellCounters([] {});
    body_.memory().SetInLoop(true);
    EmitIteration(loop, iteration, [&](ir::Block block) {
      if (has != nullptr) return body_.team().EmitBlockOfWaves(block, team_, has);
      body_.team().EmitBlock(block, team_);
    });
    body_.memory().SetInLoop(false);
    body_.SetTellCounters(nullptr);
  }

  /// Goes to `done` where the bounds do not give the iterations that were launched, all threads alike, and
  /// where the thread has none of them.
  void EmitGuard(const std::vector<Axis>& axes, Value* has_some, llvm::BasicBlock* done) {
    Value* total = TotalOf(axes, builder_);
    llvm::BasicBlock* moved = NewBlock(builder_, "bounds_moved");
    llvm::BasicBlock* run = NewBlock(builder_, "launched");
    builder_.CreateCondBr(builder_.CreateICmpNE(words_.Iterations(), total), moved, run,
                          llvm::MDBuilder(builder_.getContext()).createBranchWeights(1, 1000));
    builder_.SetInsertPoint(moved);
    hooks_.Raise(StatusCode::BoundsMoved, 0, total);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(run);
    llvm::BasicBlock* has_work = NewBlock(builder_, "has_work");
    builder_.CreateCondBr(has_some, has_work, done);
    builder_.SetInsertPoint(has_work);
  }

  void EmitIterations(ir::Inst loop, const std::vector<Axis>& axes, llvm::BasicBlock* exit) {
    bool flat = kernel_[loop].Has(ir::Word::Flat);
    if (kernel_[loop].Has(ir::Word::Fours) && (flat || axes.size() <= 1)) {
      EmitInFours(loop, axes, flat, exit);
      return;
    }
    std::optional<IterationDigits> digits;
    if (axes.size() > 1 && !flat) {
      digits.emplace(builder_, axes);
      digits->Start(hooks_.Thread(), words_.Threads(), words_.Iterations());
    }
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* iterate = NewBlock(builder_, "iterate");
    GoOnIn(builder_, iterate);
    llvm::PHINode* iteration = BeginPhi(builder_, hooks_.Thread(), before, "iteration");
    if (digits) digits->Enter(before);
    for (size_t n = 0; n < axes.size() && !flat; ++n)
      BindCounter(axes[n], digits ? digits->Digit(n) : iteration);
    body_.SetTellCounters([&] { BindCounters(axes, iteration); });
    EmitIteration(loop, iteration, [&](ir::Block block) {
      if (IsInTeams(kernel_[loop])) return body_.team().EmitBlock(block, team_);
      body_.EmitBlock(block);
    });
    body_.SetTellCounters(nullptr);
    Value* next = builder_.CreateAdd(iteration, words_.Threads(), "", true, true);
    iteration->addIncoming(next, builder_.GetInsertBlock());
    if (digits) digits->Advance();
    llvm::BranchInst* again =
        builder_.CreateCondBr(builder_.CreateICmpULT(next, words_.Iterations()), iterate, exit);
    again->setMetadata(llvm::LLVMContext::MD_loop, LeftAsItIs());
  }

  /// A short body that only counts or sums waits for what it reads, and for nothing else: four iterations at
  /// a time read at the same time.
  void EmitInFours(ir::Inst loop, const std::vector<Axis>& axes, bool flat, llvm::BasicBlock* exit) {
    auto emit = [&](Value* iteration) {
      if (!flat && !axes.empty()) BindCounter(axes[0], iteration);
      EmitIteration(loop, iteration, [&](ir::Block block) { body_.EmitBlock(block); });
    };
    auto later = [&](Value* iteration, uint64_t rounds) {
      Value* distance = builder_.CreateMul(words_.Threads(), builder_.getInt64(rounds), "", true, true);
      return builder_.CreateAdd(iteration, distance, "", true, true);
    };
    auto begin_loop = [&](llvm::BasicBlock* head, Value* first) {
      llvm::BasicBlock* before = builder_.GetInsertBlock();
      GoOnIn(builder_, head);
      return BeginPhi(builder_, first, before, "iteration");
    };
    auto end_loop = [&](llvm::PHINode* iteration, Value* next) {
      iteration->addIncoming(next, builder_.GetInsertBlock());
      builder_.CreateBr(iteration->getParent())->setMetadata(llvm::LLVMContext::MD_loop, LeftAsItIs());
    };
    llvm::BasicBlock* four = NewBlock(builder_, "four");
    llvm::BasicBlock* rest = NewBlock(builder_, "rest");
    llvm::BasicBlock* one = NewBlock(builder_, "one");
    llvm::PHINode* iteration = begin_loop(NewBlock(builder_, "fours"), hooks_.Thread());
    builder_.CreateCondBr(builder_.CreateICmpULT(later(iteration, 3), words_.Iterations()), four, rest);
    builder_.SetInsertPoint(four);
    for (uint64_t round = 0; round < 4; ++round) emit(later(iteration, round));
    end_loop(iteration, later(iteration, 4));
    builder_.SetInsertPoint(rest);
    iteration = begin_loop(NewBlock(builder_, "rests"), iteration);
    builder_.CreateCondBr(builder_.CreateICmpULT(iteration, words_.Iterations()), one, exit);
    builder_.SetInsertPoint(one);
    emit(iteration);
    end_loop(iteration, later(iteration, 1));
  }

  void BindCounter(const Axis& axis, Value* digit) {
    body_.values().BindCounter(axis.counter, builder_.CreateNSWAdd(axis.low, digit));
  }

  /// Those of several axes.
  void BindCounters(const std::vector<Axis>& axes, Value* iteration) {
    IterationDigits here(builder_, axes);
    here.SplitHere(iteration);
    for (size_t n = 0; n < axes.size(); ++n) BindCounter(axes[n], here.Digit(n));
  }

  /// The body, whose counters are bound, as `emit` writes a block.
  template <class Emit>
  void EmitIteration(ir::Inst loop, Value* iteration, Emit emit) {
    hooks_.SetIteration(iteration);
    body_.memory().SetIteration(loop, iteration);
    emit(kernel_[loop].regions[0]);
    body_.SetPlace(loop);
    hooks_.SetIteration(nullptr);
    body_.memory().SetIteration({}, nullptr);
  }

  /// Threads run this loop once or a few times, and there are many of them: copies of the body, or registers
  /// that hold what does not change, would cost more than they save.
  llvm::MDNode* LeftAsItIs() {
    llvm::LLVMContext& context = builder_.getContext();
    auto wish = [&](const char* name) {
      return llvm::MDNode::get(context, llvm::MDString::get(context, name));
    };
    return LoopNode(context, {wish("llvm.loop.unroll.disable"), wish("llvm.licm.disable")});
  }

  const ir::Module& module_;
  const ir::Function& kernel_;
  llvm::IRBuilder<>& builder_;
  GpuTask& hooks_;
  GpuWords& words_;
  BodyEmitter& body_;
  uint32_t team_;  ///< threads of a block that run an iteration together
};

/// The size of the blocks of a task: its team's, the one that was asked for, or the target's, in whole waves.
uint32_t BlockSize(const KernelToEmit& what, uint32_t task, uint32_t team, const target::Target& target) {
  uint32_t asked = team != 0 ? team : what.BlockSizeOf(task);
  if (asked == 0) asked = ir::IsCounting(what.kernel->role) ? target.counting_block_size : target.block_size;
  uint32_t wave = target.wave;
  return std::min((std::min(asked, kLargestBlock) + wave - 1) / wave * wave, kLargestBlock);
}

}  // namespace

std::vector<std::vector<EntryCode>> EmitGpuKernels(llvm::Module& output, const ir::Module& module,
                                                   std::span<const KernelToEmit> kernels,
                                                   const CodeConfig& config, const GpuDialect& dialect,
                                                   DebugLines* lines) {
  std::vector<std::vector<EntryCode>> entries;
  MathLibrary library = MathLibraryOf(config.target, config.libdevice);
  OwnMath math(output);
  for (const KernelToEmit& what : kernels) {
    const ir::Function& kernel = *what.kernel;
    std::string name(module.Text(kernel.name));
    std::vector<analysis::Task> tasks = analysis::TasksOf(kernel);
    std::vector<EntryCode>& of_kernel = entries.emplace_back();
    for (uint32_t number = 0; number < tasks.size(); ++number) {
      const analysis::Task& task = tasks[number];
      const TaskRows* rows = what.RowsOf(number);
      bool serial = task.kind != analysis::TaskKind::Parallel;
      EntryCode& entry = of_kernel.emplace_back();
      entry.symbol = EntrySymbol(name, number);
      entry.team = !serial && IsInTeams(kernel[task.parallel]);
      uint32_t team = entry.team ? kernel[task.parallel].component : 0;
      entry.kernel = &kernel;
      if (!serial) entry.spread = SpreadLoopsOf(kernel, task.parallel);
      if (!serial && MayShareWaves(kernel, task.parallel)) entry.team_lanes = dialect.Lanes();
      entry.block_size = serial ? config.target.wave : BlockSize(what, number, team, config.target);
      llvm::IRBuilder<> builder(output.getContext());
      AliasScopes aliases(output.getContext(), kernel, task.first, task.last);
      GpuTask hooks(output, builder, kernel, config, dialect, library, math, rows, aliases,
                    {entry.symbol, number, entry.block_size, serial, entry.team});
      hooks.words().NameParameters(WordNames(module, kernel, rows));
      if (lines != nullptr) {
        diag::SourceSpan place = task.parallel.Valid() ? kernel[task.parallel].span : kernel.span;
        lines->Begin(*hooks.Entry(), name, place.Valid() ? place : kernel.span);
        builder.SetCurrentDebugLocation(lines->At({}));
      }
      BodyEmitter body(module, kernel, builder, hooks, config.float_mode, aliases, lines);
      LoopEmitter emitter(module, kernel, builder, hooks, body, entry.block_size);
      if (serial) {
        emitter.EmitSerial(task);
      } else {
        // Of a sparse loop most threads only look whether there is work for them. Of three forms of the code
        // each would get the registers of the largest.
        constexpr uint32_t kSparse = 512, kThreeForms = 1024;
        if (kernel[task.parallel].Has(ir::Word::Sparse))
          dialect.RaiseOccupancy(*hooks.Entry(), entry.block_size, kSparse);
        if (entry.team_lanes != 0) dialect.RaiseOccupancy(*hooks.Entry(), entry.block_size, kThreeForms);
        emitter.EmitParallel(task);
        entry.shared_bytes = body.sums().SharedBytes() + body.team().SharedBytes();
      }
    }
  }
  for (llvm::Function* function : math.functions()) dialect.MakeFunction(*function);
  math.FinishOnDevice();
  return entries;
}

}  // namespace adc::codegen
