#include "product/metadata.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "adstack/artifact_type.h"
#include "artifact/cpu_features.h"
#include "autodiff/exact_sums.h"
#include "codegen/common/mangle.h"
#include "ir/module.h"
#include "ir/promise.h"
#include "product/task_uses.h"
#include "product/text_digest.h"
#include "product/version.h"
#include "raise/checks.h"
#include "raise/spread.h"
#include "sizing/bounds.h"
#include "support/check.h"

namespace adc::product {

namespace {

artifact::ParamRole RoleOf(ir::ParamRole role) {
  switch (role) {
    case ir::ParamRole::Plain:
      return artifact::ParamRole::kPlain;
    case ir::ParamRole::Adjoint:
      return artifact::ParamRole::kAdjoint;
    case ir::ParamRole::Tangent:
      return artifact::ParamRole::kTangent;
    case ir::ParamRole::Scratch:
      return artifact::ParamRole::kScratch;
    case ir::ParamRole::Saved:
      return artifact::ParamRole::kSaved;
    case ir::ParamRole::Segment:
      return artifact::ParamRole::kSegment;
    case ir::ParamRole::Trips:
      return artifact::ParamRole::kTrips;
  }
  ADC_UNREACHABLE("a parameter role without a place in the metadata");
}

artifact::KernelRole RoleOf(ir::KernelRole role) {
  switch (role) {
    case ir::KernelRole::Primal:
      return artifact::KernelRole::kPrimal;
    case ir::KernelRole::Gradient:
      return artifact::KernelRole::kGrad;
    case ir::KernelRole::Tangent:
      return artifact::KernelRole::kJvp;
    case ir::KernelRole::Size:
      return artifact::KernelRole::kSize;
    case ir::KernelRole::Bounds:
      return artifact::KernelRole::kBounds;
  }
  ADC_UNREACHABLE("a kernel role without a place in the metadata");
}

/// A register type as rows and columns: a scalar is 1 x 1, a vector N x 1.
void SetElement(ir::Type type, artifact::ScalarType* scalar, uint32_t* rows, uint32_t* columns) {
  *scalar = adstack::ArtifactType(type.scalar);
  *rows = type.rows == 0 ? 1 : type.rows;
  *columns = type.columns == 0 ? 1 : type.columns;
}

artifact::Access AccessOf(const ParamUse& use) {
  if (!use.writes) return artifact::Access::kRead;
  return use.reads ? artifact::Access::kReadWrite : artifact::Access::kWrite;
}

/// The plain parameter that a companion belongs to: the tangent of an adjoint belongs to the adjoint's
/// primal.
uint32_t PlainPrimal(const ir::Function& kernel, uint32_t position) {
  if (kernel.params[position].role == ir::ParamRole::Scratch) return artifact::kNoIndex;
  uint32_t primal = kernel.params[position].companion_of;
  while (primal != ir::kNoAttr && kernel.params[primal].companion_of != ir::kNoAttr) {
    primal = kernel.params[primal].companion_of;
  }
  return primal == ir::kNoAttr ? artifact::kNoIndex : primal;
}

artifact::ParamMeta ParamMetaOf(const ir::Module& module, const ir::Function& kernel, uint32_t position,
                                const ParamUse& use) {
  ir::Value value = kernel.Params()[position];
  const ir::ParamInfo& info = kernel.params[position];
  ir::Type type = kernel.TypeOf(value);
  artifact::ParamMeta param;
  param.name = module.Text(kernel[value].name);
  param.access = AccessOf(use);
  param.diff = info.diff && !info.inactive;
  param.alias = info.alias || info.interleaved;
  param.write_once = info.writeonce;
  param.role = RoleOf(info.role);
  param.primal = PlainPrimal(kernel, position);
  if (type.IsBuffer()) {
    param.kind =
        info.role == ir::ParamRole::Scratch ? artifact::ParamKind::kScratch : artifact::ParamKind::kBuffer;
    param.rank = type.count;
    param.shape_i32 = use.shape_as_i32 != 0;
    param.shape_i32_axes = use.shape_as_i32;
    SetElement(type.Element(), &param.type, &param.rows, &param.columns);
  } else if (type.IsLayout()) {
    param.kind = artifact::ParamKind::kLayout;
    param.layout = type.count;
  } else {
    param.kind = info.role == ir::ParamRole::Segment ? artifact::ParamKind::kSegment
                 : info.role == ir::ParamRole::Trips ? artifact::ParamKind::kTrips
                                                     : artifact::ParamKind::kScalar;
    param.access = artifact::Access::kRead;
    SetElement(type, &param.type, &param.rows, &param.columns);
  }
  return param;
}

/// Extents of scratch that has the shape of another parameter, or of a layout's field, with further axes
/// where it holds exact sums.
void AddScratchExtents(const ir::Module& module, const ir::Function& kernel, uint32_t position,
                       artifact::KernelMeta* meta) {
  const ir::ParamInfo& info = kernel.params[position];
  if (info.role != ir::ParamRole::Scratch || info.companion_of == ir::kNoAttr) return;
  ir::Type of = kernel.TypeOf(kernel.Params()[info.companion_of]);
  artifact::ParamMeta& param = meta->params[position];
  for (uint32_t axis = 0; axis < param.rank; ++axis) {
    std::optional<int64_t> fixed = autodiff::ExactExtent(module, kernel, position, axis);
    if (!fixed && of.IsLayout())
      fixed = module.layouts[of.count].fields[info.companion_field].axes[axis].extent;
    param.extents.push_back(fixed ? meta->exprs.Const(*fixed) : meta->exprs.Shape(info.companion_of, axis));
  }
}

artifact::LayoutMeta LayoutMetaOf(const ir::Module& module, const ir::Layout& layout) {
  artifact::LayoutMeta meta;
  meta.name = module.Text(layout.name);
  meta.size = static_cast<int64_t>(layout.byte_size);
  meta.alignment = layout.alignment;
  for (const ir::LayoutField& field : layout.fields) {
    artifact::FieldMeta& row = meta.fields.emplace_back();
    row.name = module.Text(field.name);
    SetElement(field.type, &row.type, &row.rows, &row.columns);
    row.diff = field.diff;
    row.offset = static_cast<int64_t>(field.offset);
    size_t depth = 0;
    for (const ir::LayoutAxis& axis : field.axes) depth = std::max(depth, axis.levels.size());
    for (size_t level = 0; level < depth; ++level) {
      artifact::LevelMeta& digits = row.levels.emplace_back();
      for (const ir::LayoutAxis& axis : field.axes) {
        bool has = level < axis.levels.size();
        digits.extents.push_back(has ? static_cast<int64_t>(axis.levels[level].extent) : 1);
        digits.strides.push_back(has ? static_cast<int64_t>(axis.levels[level].stride) : 0);
      }
    }
  }
  return meta;
}

artifact::TargetMeta TargetMetaOf(const MadeTarget& made) {
  const target::Target& target = made.target;
  artifact::TargetMeta meta;
  meta.name = std::string_view(target.name);
  meta.kind = target.KindName();
  meta.arch = std::string_view(target.ArchName());
  meta.abi = target.AbiName();
  std::set<std::string_view> features(made.code.features.begin(), made.code.features.end());
  artifact::Vector<artifact::String> level;
  if (target.arch == target::Arch::X86_64) level = artifact::X86LevelFeatures(target.level);
  for (const artifact::String& feature : level) features.insert(feature);
  for (std::string_view feature : features) meta.features.push_back(feature);
  return meta;
}

artifact::BindingMeta BindingMetaOf(const codegen::Binding& binding) {
  artifact::BindingMeta meta;
  meta.number = binding.number;
  meta.type = adstack::ArtifactType(binding.scalar);
  switch (binding.of) {
    case codegen::BindingOf::Param:
      meta.of = artifact::BindingOf::kParam;
      meta.param = binding.param;
      return meta;
    case codegen::BindingOf::Words:
      meta.of = artifact::BindingOf::kWords;
      return meta;
    case codegen::BindingOf::Heap:
      meta.of = artifact::BindingOf::kHeap;
      return meta;
    case codegen::BindingOf::Status:
      meta.of = artifact::BindingOf::kStatus;
      return meta;
  }
  ADC_UNREACHABLE("a binding without a place in the metadata");
}

/// The user's name for the memory of an access: flags go by the name of the memory that they stand for.
std::string_view AccessedName(const ir::Module& module, const ir::Function& kernel, ir::Inst access) {
  const ir::ValueData& base = kernel[kernel.Operand(access, 0)];
  bool is_parameter = kernel.IsParameter(kernel.Operand(access, 0));
  if (is_parameter && kernel.params[base.number].role == ir::ParamRole::Scratch) {
    uint32_t of = kernel.params[base.number].companion_of;
    if (of != ir::kNoAttr) return module.Text(kernel[kernel.Params()[of]].name);
  }
  return module.Text(base.name);
}

void AddChecks(const ir::Module& module, const ir::Function& kernel, const diag::SourceManager& sources,
               const MetadataConfig& config, artifact::KernelMeta* meta) {
  raise::KernelChecks checks = raise::NumberChecks(kernel);
  if (!config.asserts) checks.asserts.clear();
  if (!config.accesses) checks.accesses.clear();
  for (ir::Inst inst : checks.asserts) {
    artifact::CheckMeta& row = meta->asserts.emplace_back();
    row.place = std::string_view(sources.Describe(kernel[inst].span));
    row.text = module.Text(kernel[inst].symbol);
  }
  for (ir::Inst inst : checks.accesses) {
    artifact::CheckMeta& row = meta->accesses.emplace_back();
    row.place = std::string_view(sources.Describe(kernel[inst].span));
    if (kernel[inst].op == ir::Op::Assert) {
      auto promise = static_cast<ir::Promise>(kernel[inst].attr);
      row.text = std::string_view(ir::BrokenPromise(promise, module.Text(kernel[inst].symbol)));
    } else {
      row.text = AccessedName(module, kernel, inst);
    }
  }
}

bool KeepAlike(const artifact::AdstackPlanMeta& left, const artifact::AdstackPlanMeta& right) {
  if (left.stacks.size() != right.stacks.size()) return false;
  for (size_t stack = 0; stack < left.stacks.size(); ++stack) {
    const artifact::StackMeta &a = left.stacks[stack], &b = right.stacks[stack];
    if (a.storage != b.storage || a.share != b.share || a.capacity != b.capacity) return false;
  }
  return true;
}

/// Takes stacks of different elements out of each other's bytes. Metal's source sees the heap through one
/// binding per type of element, its language is C++, and a store through one type may move over a load
/// through another: a byte of a row belongs to one binding alone. Integers of one width, signed or not, and
/// flags are one type there.
void SeparateElements(artifact::AdstackPlanMeta* plan) {
  using Element = std::pair<bool, uint32_t>;  // is a float, bytes
  std::map<std::tuple<uint32_t, uint32_t, Element>, std::vector<artifact::StackMeta*>> sets;
  for (artifact::StackMeta& stack : plan->stacks) {
    if (stack.share == artifact::kNoIndex) continue;
    bool is_float = stack.type == artifact::ScalarType::kF16 || stack.type == artifact::ScalarType::kF32 ||
                    stack.type == artifact::ScalarType::kF64;
    Element element(is_float, artifact::ScalarTypeSize(stack.type));
    sets[{stack.group, stack.share, element}].push_back(&stack);
  }
  std::map<uint32_t, uint32_t> next;  // by group
  for (auto& [key, stacks] : sets) {
    uint32_t share = stacks.size() > 1 ? next[std::get<0>(key)]++ : artifact::kNoIndex;
    for (artifact::StackMeta* stack : stacks) stack->share = share;
  }
}

/// A worker of a CPU claims nothing, and has one row for the stacks of all groups: that of the first group.
/// It has a gate where all of them have that one.
void JoinGroups(const adstack::TaskPlan& task, artifact::AdstackPlanMeta* plan) {
  bool others = false;
  for (size_t n = 0; n < task.stacks.size(); ++n) {
    if (task.stacks[n].storage != artifact::Storage::kRow) continue;
    others = others || task.stacks[n].group != 0;
    plan->stacks[n].group = 0;
    plan->stacks[n].share = task.stacks[n].cpu_share;
  }
  if (!others) return;
  for (artifact::GroupMeta& group : plan->groups) group = {};
}

/// Scalars of a parameter's buffer.
artifact::NodeId ScalarsOf(artifact::KernelMeta* kernel, uint32_t position) {
  const artifact::ParamMeta& param = kernel->params[position];
  artifact::SizeExprPool& pool = kernel->exprs;
  artifact::NodeId scalars = pool.Const(int64_t{param.rows} * param.columns);
  for (uint32_t axis = 0; axis < param.rank; ++axis) {
    bool is_own = param.kind == artifact::ParamKind::kScratch;
    scalars = pool.Mul(scalars, is_own ? param.extents[axis] : pool.Shape(position, axis));
  }
  return scalars;
}

/// Adds the copies of buffers that a CPU's worker sums into beside others. They have the buffers' sizes where
/// the launch has work enough for them. Where data says how often the task runs, they do if they are small.
void AddCopies(const codegen::SumCopies& copies, const artifact::TaskMeta& task,
               const diag::SourceManager& sources, artifact::KernelMeta* kernel,
               artifact::AdstackPlanMeta* plan) {
  constexpr int64_t kSmall = 32768;
  artifact::SizeExprPool& pool = kernel->exprs;
  artifact::NodeId iterations = pool.Const(1), bytes = pool.Const(0);
  for (artifact::NodeId extent : task.extents) iterations = pool.Mul(iterations, pool.Clamp0(extent));
  for (uint32_t param : copies.params) {
    int64_t size = artifact::ScalarTypeSize(kernel->params[param].type);
    bytes = pool.Add(bytes, pool.Mul(ScalarsOf(kernel, param), pool.Const(size)));
  }
  bool is_counted = pool.ClassOf(iterations) == artifact::SizeClass::kS2;
  artifact::NodeId per_iteration = pool.Const(static_cast<int64_t>(copies.bytes_per_iteration));
  artifact::NodeId is_worth =
      is_counted ? pool.Binary(artifact::SizeOp::kLe, bytes, pool.Const(kSmall))
                 : pool.Binary(artifact::SizeOp::kLe, pool.CeilDiv(bytes, per_iteration), iterations);
  uint32_t id = 0;
  for (const artifact::StackMeta& stack : plan->stacks) id = std::max(id, stack.id + 1);
  if (plan->groups.empty()) plan->groups.emplace_back();
  for (uint32_t param : copies.params) {
    artifact::StackMeta& copy = plan->stacks.emplace_back();
    copy.id = id++;
    copy.type = kernel->params[param].type;
    copy.capacity = pool.Mul(ScalarsOf(kernel, param), is_worth);
    copy.place = std::string_view(sources.Describe(copies.place));
    copy.param = param;
  }
}

/// The index of the plan for code of `target`; targets of one width whose private memory holds the same
/// stacks share it. Without rows in the heap the width does not matter.
uint32_t PlanFor(const adstack::AdstackPlan& plan, const adstack::TaskPlan& task,
                 const target::Target& target, const codegen::SumCopies& copies,
                 const diag::SourceManager& sources, artifact::KernelMeta* kernel, artifact::TaskMeta* meta) {
  if (task.stacks.empty() && task.promises.empty() && copies.params.empty()) return artifact::kNoIndex;
  artifact::AdstackPlanMeta made = adstack::PlanMeta(plan, task, sources);
  made.lanes = task.groups.empty() ? 1 : target.row_lanes;
  if (target.IsCpu()) JoinGroups(task, &made);
  if (!copies.params.empty()) AddCopies(copies, *meta, sources, kernel, &made);
  if (target.kind == target::Kind::Metal) SeparateElements(&made);
  for (uint32_t index = 0; index < meta->plans.size(); ++index) {
    if (meta->plans[index].lanes == made.lanes && KeepAlike(meta->plans[index], made)) return index;
  }
  meta->plans.push_back(made);
  return static_cast<uint32_t>(meta->plans.size() - 1);
}

/// The parameters of `kernel` whose content its size or trip kernel reads.
artifact::Vector<uint32_t> CountReads(const ir::Module& module, const ir::Function& kernel,
                                      const std::string& size_kernel) {
  const ir::Function* function = module.Find(size_kernel);
  ADC_CHECK(function != nullptr, "a size kernel that is not there");
  std::vector<ParamUse> uses = UsesOf(*function);
  artifact::Vector<uint32_t> reads;
  // Those after them are its own.
  for (uint32_t param = 0; param < kernel.params.size(); ++param) {
    if (uses[param].reads) reads.push_back(param);
  }
  return reads;
}

/// How many turns the threads of a block share: as many as the longest of the loops has, whatever the
/// iteration. kNoNode where a launch does not know it. `module` is the one that the back end was given.
/// None where waves sum up over iterations, and there are enough of these, unless the launch may have lanes
/// of waves run them: measured on an H200, the gradient of n bodies takes as long in both forms at 8,900.
artifact::NodeId TeamTurns(const ir::Module& module, const codegen::EntryCode& code,
                           const artifact::TaskMeta& task, artifact::SizeExprPool& pool) {
  constexpr int64_t kEnough = 8192;
  sizing::SizeAlgebra algebra(pool);
  sizing::Bounds bounds(module, *code.kernel, algebra, sizing::Bounds::Known::Arguments);
  artifact::NodeId turns = pool.Const(0);
  for (ir::Inst loop : code.spread) {
    ir::Block around = (*code.kernel)[loop].parent;
    turns = algebra.Max(turns, bounds.LargestIn(around, bounds.TripsOf(loop).upper));
  }
  auto meets = [&](ir::Inst loop) { return raise::MeetsInTurns(*code.kernel, loop); };
  if (code.team_lanes != 0 || std::ranges::none_of(code.spread, meets)) return turns;
  artifact::NodeId iterations = pool.Const(1);
  for (artifact::NodeId extent : task.extents) iterations = algebra.Mul(iterations, extent);
  return pool.Select(pool.Binary(artifact::SizeOp::kLe, iterations, pool.Const(kEnough)), turns,
                     pool.Const(0));
}

/// `kernel` is the kernel's position in what the back ends were given.
artifact::TaskMeta TaskMetaOf(const ir::Module& module, const PlannedKernel& planned, size_t kernel,
                              uint32_t number, std::span<const MadeTarget> targets,
                              const diag::SourceManager& sources, artifact::KernelMeta* meta) {
  const adstack::TaskPlan& plan = planned.plan.tasks[number];
  artifact::TaskMeta task;
  task.kind = plan.kind;
  task.place = std::string_view(sources.Describe(plan.place));
  for (artifact::NodeId extent : plan.extents) task.extents.push_back(extent);
  task.cheap_replay = plan.cheap_replay && plan.size_kernel.empty();
  task.size_kernel = std::string_view(plan.size_kernel);
  if (!plan.size_kernel.empty()) task.count_reads = CountReads(module, *planned.kernel, plan.size_kernel);
  task.trip_kernel = std::string_view(plan.trip_kernel);
  if (!plan.trip_kernel.empty()) task.trip_reads = CountReads(module, *planned.kernel, plan.trip_kernel);
  for (uint32_t index = 0; index < targets.size(); ++index) {
    const auto& [target, own_kernels, code, raised] = targets[index];
    const adstack::AdstackPlan& own = own_kernels[kernel].plan;
    artifact::EntryMeta& entry = task.entries.emplace_back();
    entry.target = index;
    static const codegen::SumCopies kNone;
    const codegen::SumCopies& copies = code.entries.empty() ? kNone : code.entries[kernel][number].copies;
    entry.plan = PlanFor(own, own.tasks[number], target, copies, sources, meta, &task);
    entry.block_size = plan.block_size;
    if (code.entries.empty()) {
      entry.symbol = std::string_view(codegen::EntrySymbol(module.Text(planned.kernel->name), number));
      continue;
    }
    const codegen::EntryCode& made = code.entries[kernel][number];
    entry.symbol = std::string_view(made.symbol);
    entry.far_symbol = std::string_view(made.far_symbol);
    // On a CPU `block` of the kernel is a hint and goes first; a device runs the block that its code is made
    // for.
    if (!target.IsCpu() || entry.block_size == 0) entry.block_size = made.block_size;
    entry.shared_bytes = made.shared_bytes;
    entry.team = made.team;
    entry.team_lanes = made.team_lanes;
    if (!made.spread.empty()) entry.team_turns = TeamTurns(*raised, made, task, meta->exprs);
    for (const codegen::Binding& binding : made.bindings) entry.bindings.push_back(BindingMetaOf(binding));
  }
  return task;
}

/// Which kernel records the bounds of each primal and its gradient.
void NameBoundsKernels(artifact::Metadata* metadata) {
  for (uint32_t index = 0; index < metadata->kernels.size(); ++index) {
    const artifact::KernelMeta& bounds = metadata->kernels[index];
    if (bounds.role != artifact::KernelRole::kBounds) continue;
    for (artifact::KernelMeta& kernel : metadata->kernels) {
      bool is_primal = kernel.role == artifact::KernelRole::kPrimal && kernel.name == bounds.of.view();
      bool is_gradient = kernel.role == artifact::KernelRole::kGrad && kernel.of == bounds.of.view();
      if (is_primal || is_gradient) kernel.bounds = index;
    }
  }
}

artifact::KernelMeta KernelMetaOf(const ir::Module& module, const PlannedKernel& planned, size_t index,
                                  std::span<const MadeTarget> targets, const diag::SourceManager& sources,
                                  const MetadataConfig& config) {
  const ir::Function& kernel = *planned.kernel;
  artifact::KernelMeta meta;
  meta.name = module.Text(kernel.name);
  meta.role = RoleOf(kernel.role);
  meta.of = module.Text(kernel.derived_from);
  meta.place = std::string_view(sources.Describe(kernel.span));
  std::vector<ParamUse> uses = UsesOf(kernel);
  for (uint32_t position = 0; position < kernel.params.size(); ++position) {
    meta.params.push_back(ParamMetaOf(module, kernel, position, uses[position]));
  }
  meta.exprs = planned.plan.exprs;
  for (uint32_t position = 0; position < kernel.params.size(); ++position) {
    AddScratchExtents(module, kernel, position, &meta);
  }
  for (uint32_t position = 0; position < planned.plan.saved.size(); ++position) {
    if (planned.plan.saved[position] != artifact::kNoNode)
      meta.params[position].extents.push_back(planned.plan.saved[position]);
  }
  std::vector<std::vector<ParamUse>> task_uses = TaskUsesOf(kernel);
  ADC_CHECK(task_uses.size() == planned.plan.tasks.size(), "a plan of other tasks than the kernel has");
  for (uint32_t number = 0; number < planned.plan.tasks.size(); ++number) {
    meta.tasks.push_back(TaskMetaOf(module, planned, index, number, targets, sources, &meta));
    for (uint32_t param = 0; param < kernel.params.size(); ++param) {
      if (task_uses[number][param].reads) meta.tasks.back().reads.push_back(param);
      if (task_uses[number][param].writes) meta.tasks.back().writes.push_back(param);
    }
  }
  AddChecks(module, kernel, sources, config, &meta);
  for (const counting::RecordedLoop& loop : planned.loops) {
    artifact::CheckMeta& row = meta.asserts.emplace_back();
    row.place = std::string_view(sources.Describe(loop.place));
    row.text = ir::InfoOf(loop.op).spelling;
  }
  return meta;
}

}  // namespace

artifact::Metadata BuildMetadata(const ir::Module& module, std::span<const PlannedKernel> kernels,
                                 std::span<const MadeTarget> targets, const diag::SourceManager& sources,
                                 const MetadataConfig& config) {
  artifact::Metadata metadata;
  metadata.producer = std::string_view(ProducerName());
  metadata.bounds_recorded = config.bounds;
  for (const std::unique_ptr<diag::SourceFile>& file : sources.Files()) {
    metadata.sources.push_back(std::string_view(file->name));
    // A stand-in for a file has its lines, and not its text.
    std::string digest = file->stands_in ? std::string() : TextDigest(file->text);
    metadata.source_digests.push_back(std::string_view(digest));
  }
  for (const MadeTarget& made : targets) metadata.targets.push_back(TargetMetaOf(made));
  for (const ir::Layout& layout : module.layouts) metadata.layouts.push_back(LayoutMetaOf(module, layout));
  std::vector<const PlannedKernel*> sorted;
  for (const PlannedKernel& planned : kernels) sorted.push_back(&planned);
  std::sort(sorted.begin(), sorted.end(), [&](const PlannedKernel* left, const PlannedKernel* right) {
    return module.Text(left->kernel->name) < module.Text(right->kernel->name);
  });
  for (const PlannedKernel* planned : sorted) {
    auto index = static_cast<size_t>(planned - kernels.data());
    metadata.kernels.push_back(KernelMetaOf(module, *planned, index, targets, sources, config));
  }
  NameBoundsKernels(&metadata);
  artifact::FinishMetadata(&metadata);
  return metadata;
}

}  // namespace adc::product
