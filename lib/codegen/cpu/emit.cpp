// A task becomes one function. A parallel task runs the flat range [begin, end) of its iterations, which is
// cut into rows of the innermost axis so that the inner loop is a plain counted loop:
//
//   parallel %i, %j in 0..%n, 0..%m          position = begin; i = begin / m; j = begin % m
//                                            while position < end:
//                                              stop = min(m, j + (end - position))
//                                              position += stop - j
//                                              for j in j..stop: body
//                                              i += 1; j = 0
//
// The prologue of the task (bounds, uniform values) runs once per call, sums into one cell are added once per
// call.

#include "codegen/cpu/emit.h"

#include "analysis/structure.h"
#include "analysis/tasks.h"
#include "codegen/common/can_generate.h"
#include "codegen/common/mangle.h"
#include "codegen/cpu/exclusive_stores.h"
#include "codegen/cpu/lanes.h"
#include "codegen/cpu/link.h"
#include "codegen/cpu/task.h"
#include "codegen/llvm/axes.h"
#include "codegen/llvm/body.h"
#include "codegen/llvm/machine.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Verifier.h"

namespace adc::codegen {
namespace {

using llvm::Value;

constexpr const char* kImports[] = {
#define ADC_MATH_IMPORT(symbol) #symbol,
#include "artifact/math_imports.def"
#undef ADC_MATH_IMPORT
};

class TaskEmitter {
 public:
  TaskEmitter(const ir::Module& module, const ir::Function& kernel, llvm::IRBuilder<>& builder,
              CpuTask& hooks, BodyEmitter& body, const CodeConfig& config, const AliasScopes& aliases,
              DebugLines* lines)
      : module_(module),
        kernel_(kernel),
        builder_(builder),
        hooks_(hooks),
        body_(body),
        config_(config),
        aliases_(aliases),
        lines_(lines) {}

  void EmitSerial(const analysis::Task& task) {
    body_.EmitRange(kernel_.Body(), task.first, task.last);
    builder_.CreateRetVoid();
  }

  void EmitParallel(const analysis::Task& task) {
    body_.EmitRange(kernel_.Body(), task.first, task.last - 1);
    if (lines_ != nullptr) builder_.SetCurrentDebugLocation(lines_->At(kernel_[task.parallel].span));
    std::vector<Axis> axes = AxesOf(module_, kernel_, task.parallel, builder_, body_.values());
    if ((kernel_[task.parallel].flags & ir::kFlagRecheck) != 0) EmitGuard(axes);
    PrivateSums sums = SumsOf(kernel_, task.parallel);
    body_.sums().Begin(sums);
    body_.memory().SetInLoop(true);
    if (axes.size() <= 1) {
      // A field outside of every `dense` has one cell and no index.
      EmitRow(task.parallel, axes.empty() ? Axis() : axes[0], hooks_.Begin(), hooks_.End(),
              builder_.getInt64(0));
    } else {
      EmitRows(task.parallel, axes);
    }
    body_.memory().SetInLoop(false);
    body_.sums().End();
    builder_.CreateRetVoid();
  }

 private:
  /// Runs nothing where the bounds give fewer iterations than were dealt. That they give more is for the
  /// launcher to see, which knows all of them.
  void EmitGuard(const std::vector<Axis>& axes) {
    Value* total = builder_.getInt64(1);
    for (const Axis& axis : axes) total = builder_.CreateMul(total, axis.extent);
    llvm::BasicBlock* moved = NewBlock("bounds_moved");
    llvm::BasicBlock* run = NewBlock("run");
    builder_.CreateCondBr(builder_.CreateICmpUGT(hooks_.End(), total), moved, run,
                          llvm::MDBuilder(builder_.getContext()).createBranchWeights(1, 1000));
    builder_.SetInsertPoint(moved);
    hooks_.Raise(StatusCode::BoundsMoved, 0, total);
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(run);
  }

  void EmitRows(ir::Inst loop, const std::vector<Axis>& axes) {
    // The first position splits into indices by division; from row to row they go on like an odometer. An
    // axis without cells leaves nothing to run, and must not divide.
    const Axis& inner = axes.back();
    size_t outer_count = axes.size() - 1;
    Value* one = builder_.getInt64(1);
    Value* zero = builder_.getInt64(0);
    Value* divisor = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, inner.extent, one);
    Value* row = builder_.CreateUDiv(hooks_.Begin(), divisor);
    Value* first_start = builder_.CreateURem(hooks_.Begin(), divisor);
    std::vector<Value*> first_digits(outer_count);
    for (size_t n = outer_count; n-- > 0;) {
      Value* size = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, axes[n].extent, one);
      first_digits[n] = n == 0 ? row : builder_.CreateURem(row, size);
      if (n != 0) row = builder_.CreateUDiv(row, size);
    }
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* rows = NewBlock("rows");
    llvm::BasicBlock* exit = NewBlock("rows_end");
    builder_.CreateBr(rows);
    builder_.SetInsertPoint(rows);
    llvm::Type* word = builder_.getInt64Ty();
    llvm::PHINode* position = builder_.CreatePHI(word, 2, "position");
    llvm::PHINode* start = builder_.CreatePHI(word, 2, "start");
    position->addIncoming(hooks_.Begin(), before);
    start->addIncoming(first_start, before);
    std::vector<llvm::PHINode*> digits;
    for (size_t n = 0; n < outer_count; ++n) {
      digits.push_back(builder_.CreatePHI(word, 2, "digit"));
      digits[n]->addIncoming(first_digits[n], before);
    }
    for (size_t n = 0; n < outer_count; ++n)
      body_.values().BindCounter(axes[n].counter, builder_.CreateNSWAdd(axes[n].low, digits[n]),
                                 axes[n].bounds);
    Value* wanted = builder_.CreateAdd(start, builder_.CreateSub(hooks_.End(), position));
    Value* stop = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, divisor, wanted);
    EmitRow(loop, inner, start, stop, builder_.CreateSub(position, start));
    Value* next = builder_.CreateAdd(position, builder_.CreateSub(stop, start));
    Value* carry = one;
    llvm::BasicBlock* latch = builder_.GetInsertBlock();
    position->addIncoming(next, latch);
    start->addIncoming(zero, latch);
    for (size_t n = outer_count; n-- > 0;) {
      Value* moved = builder_.CreateAdd(digits[n], carry);
      Value* wraps = builder_.CreateICmpUGE(moved, axes[n].extent);
      digits[n]->addIncoming(n == 0 ? moved : builder_.CreateSelect(wraps, zero, moved), latch);
      carry = builder_.CreateZExt(wraps, word);
    }
    builder_.CreateCondBr(builder_.CreateICmpULT(next, hooks_.End()), rows, exit);
    builder_.SetInsertPoint(exit);
  }

  /// Runs cells [start, stop) of one axis, at least one of them; `first` is the flat iteration of cell 0.
  void EmitRow(ir::Inst loop, const Axis& axis, Value* start, Value* stop, Value* first) {
    llvm::BasicBlock* iterate = NewBlock("iterate");
    llvm::BasicBlock* exit = NewBlock("iterate_end");
    LaneLoops in_lanes = LaneLoopsOf(kernel_, loop);
    if (in_lanes.places.empty()) {
      builder_.CreateBr(iterate);
    } else {
      start = EmitGroups(loop, axis, start, stop, first, in_lanes);
      builder_.CreateCondBr(builder_.CreateICmpULT(start, stop), iterate, exit);
    }
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    builder_.SetInsertPoint(iterate);
    llvm::PHINode* cell = builder_.CreatePHI(builder_.getInt64Ty(), 2, "cell");
    cell->addIncoming(start, before);
    BeginCell(axis, first, cell);
    body_.EmitBlock(kernel_[loop].regions[0]);
    if (lines_ != nullptr) builder_.SetCurrentDebugLocation(lines_->At(kernel_[loop].span));
    Value* next = builder_.CreateAdd(cell, builder_.getInt64(1), "", true, true);
    cell->addIncoming(next, builder_.GetInsertBlock());
    llvm::BranchInst* latch = builder_.CreateCondBr(builder_.CreateICmpULT(next, stop), iterate, exit);
    latch->setMetadata(llvm::LLVMContext::MD_loop, ParallelLoop());
    builder_.SetInsertPoint(exit);
    hooks_.SetIteration(nullptr);
  }

  void BeginCell(const Axis& axis, Value* first, Value* cell) {
    hooks_.SetIteration(builder_.CreateAdd(first, cell));
    if (axis.counter.Valid())
      body_.values().BindCounter(axis.counter, builder_.CreateNSWAdd(axis.low, cell), axis.bounds);
  }

  /// Runs as many cells from `start` on as groups of lanes hold, and gives the first of those that are left.
  Value* EmitGroups(ir::Inst loop, const Axis& axis, Value* start, Value* stop, Value* first,
                    const LaneLoops& in_lanes) {
    LaneEmitter lanes(module_, kernel_, builder_, hooks_, body_, config_.float_mode, loop, axis.counter,
                      in_lanes);
    Value* count = builder_.getInt64(in_lanes.lanes);
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* groups = NewBlock("groups");
    llvm::BasicBlock* group = NewBlock("group");
    llvm::BasicBlock* rest = NewBlock("groups_end");
    builder_.CreateBr(groups);
    builder_.SetInsertPoint(groups);
    llvm::PHINode* cell = builder_.CreatePHI(builder_.getInt64Ty(), 2, "cells");
    cell->addIncoming(start, before);
    builder_.CreateCondBr(builder_.CreateICmpUGE(builder_.CreateSub(stop, cell), count), group, rest);
    builder_.SetInsertPoint(group);
    lanes.EmitGroup(
        [&](Value* lane) { BeginCell(axis, first, builder_.CreateAdd(cell, lane, "", true, true)); });
    cell->addIncoming(builder_.CreateAdd(cell, count, "", true, true), builder_.GetInsertBlock());
    builder_.CreateBr(groups);
    builder_.SetInsertPoint(rest);
    return cell;
  }

  /// Says of a loop that the accesses of the task's group do not depend on one another across iterations.
  llvm::MDNode* ParallelLoop() {
    llvm::LLVMContext& context = builder_.getContext();
    llvm::MDNode* accesses = llvm::MDNode::get(
        context, {llvm::MDString::get(context, "llvm.loop.parallel_accesses"), aliases_.Group()});
    llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, accesses});
    loop->replaceOperandWith(0, loop);
    return loop;
  }

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(builder_.getContext(), name, hooks_.Entry());
  }

  const ir::Module& module_;
  const ir::Function& kernel_;
  llvm::IRBuilder<>& builder_;
  CpuTask& hooks_;
  BodyEmitter& body_;
  const CodeConfig& config_;
  const AliasScopes& aliases_;
  DebugLines* lines_;
};

std::vector<EntryCode> EmitKernel(llvm::Module& output, const ir::Module& module, const KernelToEmit& what,
                                  const CodeConfig& config, DebugLines* lines) {
  const ir::Function& kernel = *what.kernel;
  std::string name(module.Text(kernel.name));
  std::vector<analysis::Task> tasks = analysis::TasksOf(kernel);
  analysis::Decisions decisions(kernel);
  std::vector<EntryCode> entries;
  for (uint32_t number = 0; number < tasks.size(); ++number) {
    const analysis::Task& task = tasks[number];
    entries.emplace_back().symbol = EntrySymbol(name, number);
    llvm::IRBuilder<> builder(output.getContext());
    AliasScopes aliases(output.getContext(), kernel, task.first, task.last);
    const TaskRows* rows = number < what.tasks.size() ? &what.tasks[number] : nullptr;
    CpuTask hooks(output, builder, kernel, config, rows, aliases, entries.back().symbol, number);
    if (lines != nullptr) {
      diag::SourceSpan place = task.parallel.Valid() ? kernel[task.parallel].span : kernel.span;
      lines->Begin(*hooks.Entry(), name, place.Valid() ? place : kernel.span);
      builder.SetCurrentDebugLocation(lines->At({}));
    }
    BodyEmitter body(module, kernel, builder, hooks, config.float_mode, aliases, decisions, lines);
    PiecePlan plan(kernel, task, config.optimise != 0 ? config.largest_function : UINT64_MAX);
    std::vector<Piece> pieces;
    if (plan.Cuts()) body.SetPieces(&plan, &pieces);
    TaskEmitter emitter(module, kernel, builder, hooks, body, config, aliases, lines);
    if (task.kind == analysis::TaskKind::Parallel) {
      emitter.EmitParallel(task);
    } else {
      emitter.EmitSerial(task);
    }
    SplitFunction(*hooks.Entry(), pieces);
  }
  return entries;
}

/// Internal check: an image that imports anything else would be refused by every loader.
void CheckImports(std::span<const uint8_t> object) {
  for (const std::string& symbol : UndefinedSymbols(object)) {
    bool known = symbol == "_GLOBAL_OFFSET_TABLE_";
    for (const char* import_name : kImports) known = known || symbol == import_name;
    std::string problem = "the object needs '" + symbol + "', which is not in artifact/math_imports.def";
    ADC_CHECK(known, problem.c_str());
  }
}

/// Internal check: every loop around an exclusive store looks at whether it failed (atomic_update.cpp).
void CheckExclusiveStores(std::span<const uint8_t> object, const target::Target& target) {
  if (target.arch != target::Arch::AArch64) return;
  ADC_CHECK(CountUnseenExclusiveStores(object) == 0, "the status of an exclusive store is thrown away");
}

}  // namespace

diag::Result<TargetCode> EmitCpu(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                 const CodeConfig& config) {
  ADC_CHECK(module.phase == ir::Phase::Raised, "code generation needs a raised module");
  ADC_CHECK(!config.debug_lines || config.sources != nullptr, "line tables need the sources");
  TargetCode code;
  for (const KernelToEmit& what : kernels) {
    diag::Status possible = CanGenerate(module, *what.kernel, config.target, code.warnings);
    if (!possible) return possible.Failure();
  }
  Stopwatch watch(code.steps);
  std::unique_ptr<llvm::TargetMachine> machine =
      MakeMachine(config.target, config.optimise, config.float_mode);
  llvm::LLVMContext context;
  llvm::Module output("adc", context);
  output.setSourceFileName("adc");
  output.setTargetTriple(config.target.triple);
  output.setDataLayout(machine->createDataLayout());
  output.setPICLevel(llvm::PICLevel::BigPIC);
  std::unique_ptr<DebugLines> lines;
  if (config.debug_lines)
    lines = std::make_unique<DebugLines>(output, *config.sources, config.directory, config.producer,
                                         config.optimise != 0);
  for (const KernelToEmit& what : kernels)
    code.entries.push_back(EmitKernel(output, module, what, config, lines.get()));
  if (lines) lines->Finish();
  std::string problem;
  llvm::raw_string_ostream problem_stream(problem);
  bool broken = llvm::verifyModule(output, &problem_stream);
  ADC_CHECK(!broken, problem_stream.str().c_str());
  watch.Lap("emit");
  Optimise(output, *machine, config.optimise, kImports);
  watch.Lap("optimise");
  if (config.want_llvm_text) {
    llvm::raw_string_ostream stream(code.llvm_text);
    output.print(stream, nullptr);
  }
  if (!config.want_object && !config.want_image) return code;
  diag::Result<std::vector<uint8_t>> object = MakeObject(output, *machine, kImports);
  if (!object) return object.Failure();
  CheckImports(*object);
  CheckExclusiveStores(*object, config.target);
  watch.Lap("select");
  const std::vector<uint8_t>& linked =
      code.payloads.emplace_back(PayloadKind::Object, std::move(*object)).bytes;
  if (!config.want_image) return code;
  diag::Result<std::vector<uint8_t>> image = LinkImage(linked, config.target, config.debug_lines);
  if (!image) return image.Failure();
  code.payloads.emplace_back(PayloadKind::Image, std::move(*image));
  watch.Lap("link");
  return code;
}

}  // namespace adc::codegen
