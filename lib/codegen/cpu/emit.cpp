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
// call. A task whose iterations meet in memory has a second form for one worker (raise/one_worker.h).

#include "codegen/cpu/emit.h"

#include <algorithm>

#include "analysis/tasks.h"
#include "codegen/common/mangle.h"
#include "codegen/cpu/exclusive_stores.h"
#include "codegen/cpu/lane_body.h"
#include "codegen/cpu/own_copies.h"
#include "codegen/cpu/step_limit.h"
#include "codegen/cpu/task.h"
#include "codegen/llvm/axes.h"
#include "codegen/llvm/body.h"
#include "codegen/llvm/elf_link.h"
#include "codegen/llvm/output_module.h"
#include "diag/errors/codegen.h"
#include "ir/module.h"
#include "llvm/IR/MDBuilder.h"

namespace adc::codegen {
namespace {

using llvm::Value;

constexpr const char* kImports[] = {
#define ADC_MATH_IMPORT(symbol, form) #symbol,
#include "artifact/math_imports.def"
#undef ADC_MATH_IMPORT
};

class TaskEmitter {
 public:
  TaskEmitter(const ir::Module& module, const ir::Function& kernel, llvm::IRBuilder<>& builder,
              CpuTask& hooks, BodyEmitter& body, OwnMath& math, const CodeConfig& config,
              const AliasScopes& aliases)
      : module_(module),
        kernel_(kernel),
        builder_(builder),
        hooks_(hooks),
        body_(body),
        math_(math),
        config_(config),
        aliases_(aliases) {}

  void EmitSerial(const analysis::Task& task) {
    body_.EmitRange(kernel_.Body(), task.first, task.last);
    builder_.CreateRetVoid();
  }

  /// `alone`: the form for one worker, or for all of them, null where the task has none.
  void EmitParallel(const analysis::Task& task, llvm::Function* alone, const SumCopies& copies) {
    std::vector<Axis> axes = EmitBounds(task);
    if (kernel_[task.parallel].Has(ir::Word::Recheck)) EmitGuard(axes);
    if (alone != nullptr) {
      EmitAlone(axes, alone);
      const std::vector<uint32_t>& reach = kernel_.WorkersOf(task.parallel).reach;
      if (!reach.empty()) EmitBetween(axes, reach, alone);
      if (!copies.params.empty()) EmitOwnCopies(kernel_, copies, builder_, hooks_, alone);
    }
    if (kernel_[task.parallel].Has(ir::Word::AsksAlone)) {
      CallForm(builder_, alone, {hooks_.Entry()->getArg(0), hooks_.Begin(), hooks_.End()}, true);
      builder_.CreateRetVoid();
      return;
    }
    EmitIterations(task, axes, SumsOf(kernel_, task.parallel));
  }

  /// The form whose sums ask. Its caller has compared the bounds.
  void EmitParallelAsking(const analysis::Task& task) {
    std::vector<Axis> axes = EmitBounds(task);
    body_.SetRunsAll(hooks_.RunsAll());
    EmitIterations(task, axes, SumsOf(kernel_, task.parallel));
  }

  /// The form for one worker. Its caller has compared the bounds.
  void EmitParallelAlone(const analysis::Task& task) {
    std::vector<Axis> axes = EmitBounds(task);
    PrivateSums sums = SumsOf(kernel_, task.parallel);
    sums.gathered.clear();
    sums.gathered_of = SideTable<ir::Inst, uint32_t>(0, ir::kNoAttr);
    body_.memory().SetAlone(true);
    EmitIterations(task, axes, sums);
  }

 private:
  std::vector<Axis> EmitBounds(const analysis::Task& task) {
    body_.EmitRange(kernel_.Body(), task.first, task.last - 1);
    body_.SetPlace(task.parallel);
    return AxesOf(module_, kernel_, task.parallel, builder_, body_.values());
  }

  void EmitIterations(const analysis::Task& task, const std::vector<Axis>& axes, const PrivateSums& sums) {
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

  /// Ends a call for which `condition` holds with what `leave` emits.
  template <class Leave>
  void LeaveWhere(Value* condition, const char* name, const char* rest_name, Leave leave,
                  llvm::MDNode* weights = nullptr) {
    llvm::BasicBlock *inside = NewBlock(builder_, name), *rest = NewBlock(builder_, rest_name);
    builder_.CreateCondBr(condition, inside, rest, weights);
    builder_.SetInsertPoint(inside);
    leave();
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(rest);
  }

  /// Leaves a call that has every iteration to `alone`.
  void EmitAlone(const std::vector<Axis>& axes, llvm::Function* alone) {
    Value* from_first = builder_.CreateICmpEQ(hooks_.Begin(), builder_.getInt64(0));
    Value* to_last = builder_.CreateICmpEQ(hooks_.End(), TotalOf(axes, builder_));
    LeaveWhere(builder_.CreateAnd(from_first, to_last), "alone", "among_others",
               [&] { CallForm(builder_, alone, {hooks_.Entry()->getArg(0), hooks_.Begin(), hooks_.End()}); });
  }

  /// Leaves the iterations of a call that meet those of no other call to `alone`, and calls the entry for
  /// both ends of the range, which are too short for that.
  void EmitBetween(const std::vector<Axis>& axes, const std::vector<uint32_t>& reach, llvm::Function* alone) {
    // Neither products nor their sum leave 64 bits: strides are cut at a number of iterations that no call
    // reaches.
    constexpr uint64_t kMostIterations = uint64_t{1} << 42;
    Value* most = builder_.getInt64(kMostIterations);
    Value* stride = builder_.getInt64(1);
    Value* end = builder_.getInt64(0);
    for (size_t axis = axes.size(); axis-- > 0;) {
      Value* cut = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, stride, most);
      end = builder_.CreateAdd(end, builder_.CreateMul(cut, builder_.getInt64(reach[axis])));
      stride = builder_.CreateMul(stride, axes[axis].extent);
    }
    Value* length = builder_.CreateSub(hooks_.End(), hooks_.Begin());
    Value* has_between = builder_.CreateICmpUGT(length, builder_.CreateShl(end, 1));
    has_between = builder_.CreateAnd(has_between, builder_.CreateICmpULT(length, most));
    LeaveWhere(has_between, "between", "ends", [&] {
      llvm::Function* entry = hooks_.Entry();
      Value* first = builder_.CreateAdd(hooks_.Begin(), end);
      Value* last = builder_.CreateSub(hooks_.End(), end);
      builder_.CreateCall(entry, {entry->getArg(0), hooks_.Begin(), first});
      CallForm(builder_, alone, {entry->getArg(0), first, last});
      builder_.CreateCall(entry, {entry->getArg(0), last, hooks_.End()});
    });
  }

  /// Runs nothing where the bounds give fewer iterations than were dealt. That they give more is for the
  /// launcher to see, which knows all of them.
  void EmitGuard(const std::vector<Axis>& axes) {
    Value* total = TotalOf(axes, builder_);
    LeaveWhere(
        builder_.CreateICmpUGT(hooks_.End(), total), "bounds_moved", "run",
        [&] { hooks_.Raise(StatusCode::BoundsMoved, 0, total); },
        llvm::MDBuilder(builder_.getContext()).createBranchWeights(1, 1000));
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
    llvm::BasicBlock* rows = NewBlock(builder_, "rows");
    llvm::BasicBlock* exit = NewBlock(builder_, "rows_end");
    GoOnIn(builder_, rows);
    llvm::PHINode* position = BeginPhi(builder_, hooks_.Begin(), before, "position");
    llvm::PHINode* start = BeginPhi(builder_, first_start, before, "start");
    std::vector<llvm::PHINode*> digits;
    for (Value* digit : first_digits) digits.push_back(BeginPhi(builder_, digit, before, "digit"));
    for (size_t n = 0; n < outer_count; ++n)
      body_.values().BindCounter(axes[n].counter, builder_.CreateNSWAdd(axes[n].low, digits[n]));
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
      carry = builder_.CreateZExt(wraps, builder_.getInt64Ty());
    }
    builder_.CreateCondBr(builder_.CreateICmpULT(next, hooks_.End()), rows, exit);
    builder_.SetInsertPoint(exit);
  }

  /// Runs cells [start, stop) of one axis, at least one of them; `first` is the flat iteration of cell 0.
  void EmitRow(ir::Inst loop, const Axis& axis, Value* start, Value* stop, Value* first) {
    if (kernel_[loop].Has(ir::Word::LanesBody)) return EmitLaneRow(loop, axis, start, stop, first);
    llvm::BasicBlock *before = builder_.GetInsertBlock(), *iterate = NewBlock(builder_, "iterate"),
                     *exit = NewBlock(builder_, "iterate_end");
    GoOnIn(builder_, iterate);
    llvm::PHINode* cell = BeginPhi(builder_, start, before, "cell");
    BeginCell(axis, first, cell);
    body_.EmitBlock(kernel_[loop].regions[0]);
    body_.SetPlace(loop);
    Value* next = builder_.CreateAdd(cell, builder_.getInt64(1), "", true, true);
    cell->addIncoming(next, builder_.GetInsertBlock());
    llvm::BranchInst* latch = builder_.CreateCondBr(builder_.CreateICmpULT(next, stop), iterate, exit);
    latch->setMetadata(llvm::LLVMContext::MD_loop, ParallelLoop());
    builder_.SetInsertPoint(exit);
    hooks_.SetIteration(nullptr);
  }

  /// The same, in groups of lanes. The last group runs under a mask, through the same code where masks have
  /// registers; elsewhere accesses under masks are slow, and whole groups go without.
  void EmitLaneRow(ir::Inst loop, const Axis& axis, Value* start, Value* stop, Value* first) {
    uint32_t lanes = kernel_[loop].component;
    bool has_masks = config_.target.arch == target::Arch::X86_64 && config_.target.level >= 4;
    LaneContext context{.module = module_,
                        .kernel = kernel_,
                        .builder = builder_,
                        .hooks = hooks_,
                        .body = body_,
                        .math = math_,
                        .aliases = aliases_,
                        .float_mode = config_.float_mode,
                        .shape = {lanes, HasFma(config_.target), has_masks}};
    analysis::Uniform uniform(kernel_, loop);
    LaneBody body(context, loop, uniform);
    auto tell = [&](Value* cell) { hooks_.SetIteration(builder_.CreateAdd(first, cell)); };
    Value* count = builder_.getInt64(lanes);
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* look = NewBlock(builder_, "groups");
    llvm::BasicBlock* group = NewBlock(builder_, "group");
    llvm::BasicBlock* rest = NewBlock(builder_, "groups_rest");
    llvm::BasicBlock* exit = NewBlock(builder_, "groups_end");
    GoOnIn(builder_, look);
    llvm::PHINode* cell = BeginPhi(builder_, start, before, "cells");
    Value* left = builder_.CreateSub(stop, cell);
    auto mask = [&] {
      llvm::SmallVector<llvm::Constant*, 16> numbers;
      for (uint32_t lane = 0; lane < lanes; ++lane) numbers.push_back(builder_.getInt64(lane));
      return builder_.CreateICmpULT(llvm::ConstantVector::get(numbers),
                                    builder_.CreateVectorSplat(lanes, left));
    };
    Value* whole =
        has_masks ? builder_.CreateICmpSGT(left, builder_.getInt64(0)) : builder_.CreateICmpSGE(left, count);
    builder_.CreateCondBr(whole, group, rest);
    builder_.SetInsertPoint(group);
    body.EmitGroup(axis, cell, has_masks ? mask() : nullptr, tell);
    cell->addIncoming(builder_.CreateAdd(cell, count, "", true, true), builder_.GetInsertBlock());
    builder_.CreateBr(look);
    builder_.SetInsertPoint(rest);
    if (!has_masks) {
      llvm::BasicBlock* some = NewBlock(builder_, "group_last");
      builder_.CreateCondBr(builder_.CreateICmpSGT(left, builder_.getInt64(0)), some, exit);
      builder_.SetInsertPoint(some);
      body.EmitGroup(axis, cell, mask(), tell);
    }
    GoOnIn(builder_, exit);
    hooks_.SetIteration(nullptr);
  }

  void BeginCell(const Axis& axis, Value* first, Value* cell) {
    hooks_.SetIteration(builder_.CreateAdd(first, cell));
    if (axis.counter.Valid()) body_.values().BindCounter(axis.counter, builder_.CreateNSWAdd(axis.low, cell));
  }

  /// Says of a loop that the accesses of the task's group do not depend on one another across iterations.
  llvm::MDNode* ParallelLoop() {
    llvm::LLVMContext& context = builder_.getContext();
    llvm::Metadata* accesses[] = {llvm::MDString::get(context, "llvm.loop.parallel_accesses"),
                                  aliases_.Group()};
    return LoopNode(context, llvm::MDNode::get(context, accesses));
  }

  const ir::Module& module_;
  const ir::Function& kernel_;
  llvm::IRBuilder<>& builder_;
  CpuTask& hooks_;
  BodyEmitter& body_;
  OwnMath& math_;
  const CodeConfig& config_;
  const AliasScopes& aliases_;
};

class KernelEmitter {
 public:
  KernelEmitter(llvm::Module& output, const ir::Module& module, const KernelToEmit& what,
                const CodeConfig& config, OwnMath& math, DebugLines* lines)
      : output_(output),
        module_(module),
        what_(what),
        kernel_(*what.kernel),
        config_(config),
        math_(math),
        lines_(lines),
        name_(module.Text(kernel_.name)) {}

  std::vector<EntryCode> Emit() {
    std::vector<analysis::Task> tasks = analysis::TasksOf(kernel_);
    std::vector<EntryCode> entries;
    for (uint32_t number = 0; number < tasks.size(); ++number) {
      const analysis::Task& task = tasks[number];
      std::string symbol = EntrySymbol(name_, number);
      bool is_parallel = task.kind == analysis::TaskKind::Parallel;
      llvm::Function* alone = nullptr;
      EntryCode& entry = entries.emplace_back();
      entry.symbol = symbol;
      if (is_parallel) entry.block_size = kernel_.WorkersOf(task.parallel).waking;
      if (is_parallel && kernel_[task.parallel].Has(ir::Word::Alone)) {
        alone = EmitTask(task, number, symbol + ".alone", TaskForm::Alone,
                         [&](TaskEmitter& emitter) { emitter.EmitParallelAlone(task); });
        entry.copies = OwnCopies(kernel_, task.parallel);
      } else if (is_parallel && kernel_[task.parallel].Has(ir::Word::AsksAlone)) {
        alone = EmitTask(task, number, symbol + ".asks", TaskForm::Asks,
                         [&](TaskEmitter& emitter) { emitter.EmitParallelAsking(task); });
        entry.copies = OwnCopies(kernel_, task.parallel);
      }
      EmitTask(task, number, symbol, TaskForm::Entry, [&](TaskEmitter& emitter) {
        is_parallel ? emitter.EmitParallel(task, alone, entry.copies) : emitter.EmitSerial(task);
      });
    }
    return entries;
  }

 private:
  /// A function whose body `emit` writes.
  template <class Body>
  llvm::Function* EmitTask(const analysis::Task& task, uint32_t number, const std::string& symbol,
                           TaskForm form, const Body& emit) {
    llvm::IRBuilder<> builder(output_.getContext());
    AliasScopes aliases(output_.getContext(), kernel_, task.first, task.last);
    CpuTask hooks(output_, builder, kernel_, config_, what_.RowsOf(number), aliases, math_, symbol, number,
                  form);
    if (lines_ != nullptr) {
      diag::SourceSpan place = task.parallel.Valid() ? kernel_[task.parallel].span : kernel_.span;
      lines_->Begin(*hooks.Entry(), name_, place.Valid() ? place : kernel_.span);
      builder.SetCurrentDebugLocation(lines_->At({}));
    }
    BodyEmitter body(module_, kernel_, builder, hooks, config_.float_mode, aliases, lines_);
    std::vector<Piece> pieces;
    body.SetPieces(&pieces);
    TaskEmitter emitter(module_, kernel_, builder, hooks, body, math_, config_, aliases);
    emit(emitter);
    if (kernel_.role == ir::KernelRole::Size) LimitSteps(*hooks.Entry(), hooks.Status(), pieces, aliases);
    SplitFunction(*hooks.Entry(), pieces);
    return hooks.Entry();
  }

  llvm::Module& output_;
  const ir::Module& module_;
  const KernelToEmit& what_;
  const ir::Function& kernel_;
  const CodeConfig& config_;
  OwnMath& math_;
  DebugLines* lines_;
  std::string name_;
};

/// Further symbols that objects of other systems need: marks and functions of their compilers, which every
/// linker there has.
constexpr const char* kSystemImports[] = {"_fltused", "__chkstk",       "___chkstk_ms",   "bzero",
                                          "__bzero",  "__sincos_stret", "__sincosf_stret"};

template <size_t kCount>
bool Contains(const char* const (&names)[kCount], std::string_view symbol) {
  return std::find(std::begin(names), std::end(names), symbol) != std::end(names);
}

/// Links `object` into an ELF image without needs, initialisers or names of files.
diag::Result<std::vector<uint8_t>> LinkImage(std::span<const uint8_t> object, const target::Target& target,
                                             bool keep_debug) {
  const char* form = target.arch == target::Arch::X86_64 ? "elf_x86_64" : "aarch64linux";
  std::vector<const char*> arguments = {"-m", form, "--hash-style=sysv", "-Bsymbolic", "--gc-sections"};
  for (const char* word : {"separate-code", "norelro", "nognustack", "now"})
    arguments.insert(arguments.end(), {"-z", word});
  if (!keep_debug) arguments.push_back("-s");
  return LinkElf(object, arguments, "CPU image");
}

/// An image that imports anything else would be refused by every loader, which is an internal error. That of
/// another system is for its linker, and fails with E0606.
diag::Status CheckImports(std::span<const uint8_t> object, const llvm::Module& module,
                          const std::string& triple) {
  char first = module.getDataLayout().getGlobalPrefix();
  for (const std::string& symbol : UndefinedSymbols(object)) {
    std::string_view name = symbol;
    if (first != 0 && name.starts_with(first)) name.remove_prefix(1);
    if (Contains(kImports, name) || symbol == "_GLOBAL_OFFSET_TABLE_") continue;
    if (!triple.empty() && (Contains(kSystemImports, name) || Contains(kSystemImports, symbol))) continue;
    std::string problem = "the object needs '" + symbol + "', which is not in artifact/math_imports.def";
    ADC_CHECK(!triple.empty(), problem.c_str());
    return diag::Fail(diag::E0606, {}, "--triple=" + triple + ": " + problem,
                      "compile it for another system");
  }
  return diag::Unit{};
}

/// The system that the object is for, as LLVM names it.
diag::Result<std::string> TripleOf(const CodeConfig& config) {
  if (config.triple.empty()) return std::string(config.target.triple);
  llvm::Triple wanted(llvm::Triple::normalize(config.triple)), own(config.target.triple);
  std::string why;
  // Pointers carry signatures on the one, and functions are called as on x86-64 on the other.
  bool calls_otherwise = wanted.getSubArch() == llvm::Triple::AArch64SubArch_arm64e ||
                         wanted.getSubArch() == llvm::Triple::AArch64SubArch_arm64ec;
  if (wanted.getArch() != own.getArch() || calls_otherwise || wanted.isX32()) {
    why = "is not for " + config.target.ArchName() + " with pointers of 64 bits, which target '" +
          config.target.name + "' is for";
  } else if (wanted.getOS() == llvm::Triple::UnknownOS) {
    why = "names no system that LLVM knows";
  } else if (!wanted.isOSBinFormatELF() && !wanted.isOSBinFormatMachO() && !wanted.isOSBinFormatCOFF()) {
    why = "has objects of another form than ELF, Mach-O and COFF";
  }
  if (why.empty()) return wanted.str();
  return diag::Fail(diag::E0606, {}, "--triple=" + config.triple + " " + why,
                    "write it as LLVM does: " + std::string(own.getArchName()) + "-apple-ios14.0, " +
                        std::string(own.getArchName()) + "-pc-windows-msvc");
}

/// Internal check: every loop around an exclusive store looks at whether it failed (atomic_update.cpp).
void CheckExclusiveStores(std::span<const uint8_t> object, const target::Target& target) {
  if (target.arch != target::Arch::AArch64) return;
  ADC_CHECK(CountUnseenExclusiveStores(object) == 0, "the status of an exclusive store is thrown away");
}

/// Keeps code off resources that another system has for itself although the system that the code is compiled
/// for allows their use, so that one image runs on all of them.
///
/// x86-64: code of System V may use 128 bytes below its stack pointer. Windows, on which such code runs as
/// well, gives these bytes to no program: a handler of an exception that continues, or a call that the system
/// makes on a thread, writes there.
/// AArch64: the register x18 belongs to macOS and Windows.
void LeaveToOtherSystems(llvm::Module& module, const target::Target& target) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr(llvm::Attribute::NoRedZone);
    if (target.arch != target::Arch::AArch64) continue;
    std::string features = function.getFnAttribute("target-features").getValueAsString().str();
    function.addFnAttr("target-features", features + (features.empty() ? "" : ",") + "+reserve-x18");
  }
}

}  // namespace

diag::Result<TargetCode> EmitCpu(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                 const CodeConfig& config) {
  TargetCode code;
  diag::Status possible = CheckInput(module, kernels, config, code.warnings);
  if (!possible) return possible.Failure();
  Stopwatch watch(code.steps);
  diag::Result<std::string> triple = TripleOf(config);
  if (!triple) return triple.Failure();
  OutputModule output(config, *triple);
  output.module().setPICLevel(llvm::PICLevel::BigPIC);
  DebugLines* lines = output.BeginLines();
  OwnMath math(output.module());
  for (const KernelToEmit& what : kernels)
    code.entries.push_back(KernelEmitter(output.module(), module, what, config, math, lines).Emit());
  math.Finish();
  output.EndLines();
  for (llvm::Function& function : output.module()) {
    if (!config.prefix.empty() && !function.isDeclaration() && !function.hasLocalLinkage())
      function.setName(config.prefix + "_" + function.getName().str());
  }
  LeaveToOtherSystems(output.module(), config.target);
  output.Optimise(kImports, watch, &code);
  if (!config.want_object && !config.want_image) return code;
  diag::Result<std::vector<uint8_t>> object = MakeObject(output.module(), output.machine(), kImports);
  if (!object) return object.Failure();
  if (diag::Status known = CheckImports(*object, output.module(), config.triple); !known)
    return known.Failure();
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
