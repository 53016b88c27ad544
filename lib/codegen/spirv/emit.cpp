#include "codegen/spirv/emit.h"

#include <algorithm>

#include "artifact/gpu_abi.h"
#include "codegen/common/can_generate.h"
#include "codegen/common/mangle.h"
#include "codegen/common/shader_layout.h"
#include "codegen/common/team_steps.h"
#include "codegen/spirv/math.h"
#include "codegen/spirv/task.h"
#include "codegen/spirv/tools.h"
#include "diag/errors/codegen.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::codegen {

namespace spirv {
namespace {

constexpr uint32_t kVersion15 = 0x00010500, kVersion16 = 0x00010600;
constexpr uint32_t kLargestBlock = 1024;
constexpr uint32_t kMostIds = 0x3FFFFF;

/// The features that the capabilities of a module need.
std::vector<std::string> FeaturesOf(const ModuleBuilder& module) {
  struct Row {
    uint32_t capability;
    std::string_view feature;
  };
  static constexpr Row kRows[] = {
#define ADC_SPIRV_CAPABILITY(number, name, feature) {number, feature},
#include "artifact/spirv_capabilities.def"
#undef ADC_SPIRV_CAPABILITY
  };
  std::set<std::string> features;
  for (const Row& row : kRows) {
    // A star stands for widths of floats, each a property of its own.
    bool each = row.feature.ends_with('*');
    if (!row.feature.empty() && !each && module.Has(static_cast<spv::Capability>(row.capability)))
      features.emplace(row.feature);
  }
  for (uint32_t width : module.PreservedWidths())
    features.insert("shaderSignedZeroInfNanPreserveFloat" + std::to_string(width));
  return {features.begin(), features.end()};
}

class Emission {
 public:
  Emission(const ir::Module& module, const CodeConfig& config)
      : builder_(
            config.target.level >= 13 && config.target.kind == target::Kind::Vulkan ? kVersion16 : kVersion15,
            config.target.kind == target::Kind::Vulkan ? config.producer : std::string()),
        context_(builder_, module, config),
        math_(builder_) {
    if (config.debug_lines) {
      auto form = config.target.level < 13 ? DebugPlaces::Form::Core : DebugPlaces::Form::NonSemantic;
      if (context_.IsMetal()) form = DebugPlaces::Form::Translated;
      places_.emplace(builder_, *config.sources, form);
    }
    // Else a driver may take x * 0.0 for 0, for any x. Metal's compiler is told in other words; translators
    // to other languages, which near modules are for, know none.
    if (context_.HasAddresses() && config.float_mode != FloatMode::Fast) builder_.PreserveSpecialFloats();
    if (!context_.HasAddresses() && !context_.IsMetal()) builder_.SetForTranslators();
    builder_.AddCapability(spv::CapabilityShader);
    Id word = builder_.types.Int(32);
    context_.Input(spv::BuiltInGlobalInvocationId, builder_.types.Vector(word, 3), kInvocation);
    if (!context_.HasAddresses()) return;
    builder_.AddCapability(spv::CapabilityPhysicalStorageBufferAddresses);
    Id launch = builder_.types.BlockOfOne(builder_.types.Int(64), {"adc.Launch", "words"});
    context_.push_constants = builder_.GlobalVariable(spv::StorageClassPushConstant, launch);
    builder_.Name(context_.push_constants, "adc.launch");
  }

  std::vector<EntryCode> EmitKernel(const KernelToEmit& what) {
    const ir::Function& kernel = *what.kernel;
    std::string name(context_.ir.Text(kernel.name));
    std::vector<analysis::Task> tasks = analysis::TasksOf(kernel);
    std::vector<EntryCode> entries;
    for (uint32_t number = 0; number < tasks.size(); ++number) {
      EntryCode entry;
      entry.symbol = EntrySymbol(name, number);
      uint32_t asked = what.BlockSizeOf(number);
      bool serial = tasks[number].kind == analysis::TaskKind::Serial;
      if (asked == 0) asked = context_.config.target.block_size;
      entry.team = !serial && IsInTeams(kernel[tasks[number].parallel]);
      if (entry.team) asked = kernel[tasks[number].parallel].component;
      entry.kernel = &kernel;
      if (!serial) entry.spread = SpreadLoopsOf(kernel, tasks[number].parallel);
      entry.block_size = serial ? 1 : std::min(asked, kLargestBlock);
      auto emit = [&](const std::string& symbol, Addressing addressing) {
        return EmitEntry(kernel, tasks[number], number, what.RowsOf(number), symbol, addressing, entry);
      };
      if (!context_.HasAddresses()) {
        entry.bindings = emit(entry.symbol, context_.IsMetal() ? Addressing::Metal : Addressing::Alone);
      } else {
        entry.far_symbol = entry.symbol + std::string(kFarEnding);
        entry.bindings = emit(entry.symbol, Addressing::Near);
        emit(entry.far_symbol, Addressing::Far);
      }
      // Descriptors of the shader's sets are no bindings of the loader's.
      if (context_.config.keep_bindings) entry.bindings.clear();
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  /// A module must have an entry, so where no kernel does anything there is one that does nothing.
  void EmitNothing() {
    FunctionBuilder builder(builder_, builder_.types.Void(), {});
    builder.Do(spv::OpReturn, {});
    builder.Finish();
    builder_.AddEntryPoint(builder.id(), "adc_nothing", {}, 1);
  }

  uint32_t IdCount() const { return builder_.IdCount(); }
  Words Finish() const { return builder_.Finish(context_.HasAddresses()); }
  std::vector<std::string> Features() const {
    return context_.IsMetal() ? std::vector<std::string>() : FeaturesOf(builder_);
  }

 private:
  /// Whether a task needs no integers of 64 bits beyond those that its text has: it neither tapes nor
  /// reports, since rows of a tape and reported numbers have 64 bits, and with a shader's bindings it runs
  /// one iteration per invocation.
  bool IsNarrow(const ir::Function& kernel, const analysis::Task& task) const {
    for (uint32_t block = 0; block < kernel.BlockCount(); ++block) {
      for (ir::Inst inst : kernel[ir::Block(block)].insts) {
        ir::Op op = kernel[inst].op;
        bool rechecks =
            (op == ir::Op::Parallel || op == ir::Op::ParallelOver) && kernel[inst].Has(ir::Word::Recheck);
        if (op == ir::Op::StatusRaise || op == ir::Op::RowClaim || op == ir::Op::RowCapacity || rechecks)
          return false;
      }
    }
    if (!context_.config.keep_bindings) return true;
    return task.kind == analysis::TaskKind::Parallel &&
           !InvocationAxes(context_.ir, kernel, task.parallel).empty();
  }

  /// Its bindings. `of`: the parts that both ways of addressing share.
  std::vector<Binding> EmitEntry(const ir::Function& kernel, const analysis::Task& task, uint32_t number,
                                 const TaskRows* rows, const std::string& symbol, Addressing addressing,
                                 EntryCode& of) {
    bool parallel = task.kind == analysis::TaskKind::Parallel;
    PrivateSums sums;
    if (parallel) sums = SumsOf(kernel, task.parallel);
    InStep in_step;
    if (parallel && !context_.IsMetal()) in_step = InStep(kernel, task.parallel, sums, SumEmitter::CanAdd);
    FunctionBuilder builder(builder_, builder_.types.Void(), {});
    if (places_) {
      diag::SourceSpan place = parallel ? kernel[task.parallel].span : kernel.span;
      places_->Begin(builder, context_.ir.Text(kernel.name), symbol, place.Valid() ? place : kernel.span);
    }
    ScalarEmitter scalars(builder, math_, context_.config.float_mode);
    Entry entry{context_, builder,    scalars,
                kernel,   addressing, UsesOf(context_.ir, kernel, task.first, task.last, context_.ability)};
    if (entry.KeepsBindings())
      entry.layout = ShaderLayoutOf(context_.ir, kernel, context_.config.adjoint_set);
    entry.serial = !parallel;
    if (of.team || !of.spread.empty()) entry.team = of.block_size, entry.always_team = of.team;
    entry.narrow = addressing == Addressing::Alone && IsNarrow(kernel, task);
    Environment environment(entry, rows);
    ValueTable values(context_.ir, kernel, builder, scalars, &environment);
    StatusReporter status(environment, number);
    MemoryEmitter memory(environment, values);
    RowEmitter row_emitter(environment, values, memory, status);
    SumEmitter sum_emitter(environment, values, memory, std::move(sums), of.block_size);
    KernelParts parts{
        environment, memory, row_emitter, status, sum_emitter, in_step, places_ ? &*places_ : nullptr};
    BodyEmitter body(kernel, builder, scalars, values, &parts);
    of.team_lanes = EmitTask(task, environment, values, status, memory, body, of.block_size);
    of.shared_bytes = sum_emitter.SharedBytes() + memory.SharedBytes() + body.team().SharedBytes();
    std::vector<Id> interface(entry.interface.begin(), entry.interface.end());
    if (context_.config.keep_bindings && parallel) {
      builder_.AddEntryPoint(builder.id(), symbol, interface, entry.layout.local_size);
    } else {
      builder_.AddEntryPoint(builder.id(), symbol, interface, of.block_size);
    }
    builder_.Name(builder.id(), symbol);
    return environment.blocks.bindings();
  }

  ModuleBuilder builder_;
  ModuleContext context_;
  MathLibrary math_;
  std::optional<DebugPlaces> places_;
};

std::vector<uint8_t> PayloadOf(const Words& words) {
  std::vector<uint8_t> bytes;
  bytes.reserve(words.size() * 4);
  for (uint32_t word : words) {
    for (uint32_t n = 0; n < 4; ++n) bytes.push_back(static_cast<uint8_t>(word >> (8 * n)));
  }
  return bytes;
}

}  // namespace
}  // namespace spirv

diag::Result<TargetCode> EmitSpirv(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                   const CodeConfig& config) {
  ADC_CHECK(config.target.kind == target::Kind::Vulkan || config.target.kind == target::Kind::Metal,
            "SPIR-V is for Vulkan and Metal");
  TargetCode code;
  if (diag::Status possible = CheckInput(module, kernels, config, code.warnings); !possible)
    return possible.Failure();
  for (const KernelToEmit& what : kernels) {
    if (!config.keep_bindings) break;
    diag::Status can_keep = CanKeepBindings(module, *what.kernel, config.adjoint_set);
    if (!can_keep) return can_keep.Failure();
  }
  Stopwatch watch(code.steps);
  spirv::Emission emission(module, config);
  bool empty = true;
  for (const KernelToEmit& what : kernels) {
    code.entries.push_back(emission.EmitKernel(what));
    empty = empty && code.entries.back().empty();
  }
  if (empty) emission.EmitNothing();
  spirv::Words words = emission.Finish();
  if (emission.IdCount() > spirv::kMostIds)
    return diag::Fail(diag::E0605, kernels[0].kernel->span,
                      "the kernels take " + std::to_string(emission.IdCount()) + " values of SPIR-V; " +
                          config.target.name + " allows at most " + std::to_string(spirv::kMostIds),
                      "unroll less, or compile the kernels into several bundles");
  watch.Lap("emit");
  uint32_t level = config.target.kind == target::Kind::Vulkan ? config.target.level : 12;
  if (config.optimise != 0) {
    words = spirv::Optimise(words, level);
    watch.Lap("optimise");
  }
  if (config.validate) {
    std::string problem = spirv::Validate(words, level);
    ADC_CHECK(problem.empty(), problem.c_str());
    watch.Lap("validate");
  }
  code.features = emission.Features();
  if (code.HasTeams()) code.features.emplace_back(ADRT_GPU_TEAM_FEATURE);
  std::sort(code.features.begin(), code.features.end());
  code.payloads.push_back({PayloadKind::Spirv, spirv::PayloadOf(words)});
  return code;
}

}  // namespace adc::codegen
