#include "frontend/spirv/lowering.h"

#include <algorithm>

#include "diag/errors/shader.h"
#include "diag/result.h"
#include "ir/module.h"

namespace adc::frontend::spirv {

using Kind = ir::ShaderBinding::Kind;

namespace {

constexpr uint64_t kWorkPerOperation = 64;
constexpr uint32_t kDeepest = 64;

/// The operand that is a pointer to memory which the instruction accesses; -1: none.
int PointerOperand(const Instruction& inst) {
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpLoad:
    case spv::OpStore:
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain:
    case spv::OpCopyMemory:
    case spv::OpCopyObject:
    case spv::OpArrayLength:
    case spv::OpAtomicLoad:
    case spv::OpAtomicStore:
    case spv::OpImageTexelPointer:
      return 0;
    default:
      break;
  }
  bool atomic = inst.op >= spv::OpAtomicLoad && inst.op <= spv::OpAtomicXor;
  if (atomic || inst.op == spv::OpAtomicFAddEXT || inst.op == spv::OpAtomicFMinEXT ||
      inst.op == spv::OpAtomicFMaxEXT)
    return 0;
  return -1;
}

bool IsAtomic(const Instruction& inst) {
  return (inst.op >= spv::OpAtomicLoad && inst.op <= spv::OpAtomicXor) || inst.op == spv::OpAtomicFAddEXT ||
         inst.op == spv::OpAtomicFMinEXT || inst.op == spv::OpAtomicFMaxEXT;
}

bool IsConstant(const Instruction& inst) {
  return (inst.op >= spv::OpConstantTrue && inst.op <= spv::OpSpecConstantOp) || inst.op == spv::OpUndef;
}

/// Built-in inputs that number the invocations of a subgroup.
bool IsOfSubgroups(int64_t builtin) {
  return (builtin >= spv::BuiltInSubgroupSize && builtin <= spv::BuiltInSubgroupLocalInvocationId) ||
         (builtin >= spv::BuiltInSubgroupEqMask && builtin <= spv::BuiltInSubgroupLtMask);
}

}  // namespace

bool Writes(const Instruction& inst) {
  return inst.op == spv::OpStore || inst.op == spv::OpCopyMemory ||
         (IsAtomic(inst) && inst.op != spv::OpAtomicLoad);
}

void Lowering::Spend(uint64_t units, const Instruction& inst) {
  spent_ += units;
  if (spent_ > config_.operation_limit * kWorkPerOperation || kernel_->InstCount() > config_.operation_limit)
    Refuse(diag::E0861, inst.span,
           "with its functions inlined the shader has more than " + std::to_string(config_.operation_limit) +
               " operations",
           "use loops where code repeats, or allow more with --limit-operations=N");
}

Id Lowering::RootOf(Id pointer) const {
  for (uint32_t step = 0; step < kDeepest; ++step) {
    const Instruction* inst = binary_.Find(pointer);
    if (inst == nullptr) return 0;
    bool leads_on = inst->op == spv::OpAccessChain || inst->op == spv::OpInBoundsAccessChain ||
                    inst->op == spv::OpCopyObject || inst->op == spv::OpImageTexelPointer ||
                    (inst->op == spv::OpLoad && types_.KindOf(inst->type) == spv::OpTypeImage);
    if (!leads_on) return pointer;
    pointer = inst->At(0);
  }
  return 0;
}

/// What an instruction names, writes and calls.
void Lowering::SeeUses(const Instruction& inst, std::set<Id>& used, std::vector<Id>& functions) {
  auto see = [&](Id id) {
    const Instruction* named = binary_.Find(id);
    if (named != nullptr && named->op == spv::OpVariable && named->At(0) != spv::StorageClassFunction)
      used.insert(id);
  };
  FindTables(inst);
  if (PointerOperand(inst) == 0) see(inst.At(0));
  if (inst.op == spv::OpCopyMemory) see(inst.At(1));
  if (Writes(inst)) written_.insert(OwnerOf(inst.At(0)));
  bool of_subgroup = inst.op >= spv::OpGroupNonUniformElect && inst.op <= spv::OpGroupNonUniformQuadSwap;
  by_workgroups_ = by_workgroups_ || (of_subgroup && !binary_.IsPrinted());
  if (inst.op == spv::OpImageWrite) {
    written_.insert(RootOf(inst.At(0)));
    writes_images_ = true;
  }
  if (inst.op == spv::OpAtomicSMin || inst.op == spv::OpAtomicSMax)
    pointed_.blocks[OwnerOf(inst.At(0))].compares_signed = true;
  if (inst.op == spv::OpAtomicUMin || inst.op == spv::OpAtomicUMax)
    pointed_.blocks[OwnerOf(inst.At(0))].compares_unsigned = true;
  if (inst.op != spv::OpFunctionCall) return;
  if (functions_.insert(inst.At(0)).second) functions.push_back(inst.At(0));
  for (size_t n = 1; n < inst.operands.size(); ++n) {
    see(inst.At(n));
    written_.insert(OwnerOf(inst.At(n)));
  }
}

/// The variables that the entry and what it calls name, and which of them something writes.
void Lowering::FindVariables(std::vector<Resource>& resources) {
  std::set<Id> used;
  std::vector<Id> pending{entry_.function};
  functions_.insert(entry_.function);
  while (!pending.empty()) {
    auto found = binary_.functions().find(pending.back());
    pending.pop_back();
    if (found == binary_.functions().end()) continue;
    for (const Block& block : found->second.blocks) {
      for (const Instruction* inst : block.body) SeeUses(*inst, used, pending);
    }
  }
  FindPointers();
  for (Id block : written_) pointed_.blocks[block].written = true;
  for (Id variable : used) {
    if (std::optional<Resource> resource = ResourceOf(variable)) resources.push_back(std::move(*resource));
  }
}

/// Empty for a variable that is an input, or a local of the kernel.
std::optional<Resource> Lowering::ResourceOf(Id variable) {
  const Instruction& inst = *binary_.Find(variable);
  Resource resource;
  resource.variable = variable;
  resource.block = types_.Element(inst.type);
  auto number = [&](spv::Decoration kind) {
    return static_cast<uint32_t>(std::max<int64_t>(0, binary_.Decorated(variable, kind)));
  };
  resource.aliased = binary_.Decorated(variable, spv::DecorationAliased) >= 0;
  const Pointed::Use& uses = pointed_.blocks[variable];
  resource.compares_signed = uses.compares_signed;
  resource.compares_unsigned = uses.compares_unsigned;
  resource.set = number(spv::DecorationDescriptorSet);
  resource.binding = number(spv::DecorationBinding);
  std::string name(binary_.NameOf(variable));
  if (name.empty()) name = binary_.NameOf(resource.block);
  switch (inst.At(0)) {
    case spv::StorageClassInput:
      by_workgroups_ = by_workgroups_ || IsOfSubgroups(binary_.Decorated(variable, spv::DecorationBuiltIn));
      return std::nullopt;
    case spv::StorageClassPrivate:
      privates_.push_back(variable);
      return std::nullopt;
    case spv::StorageClassStorageBuffer:
      resource.kind = Kind::StorageBuffer;
      break;
    case spv::StorageClassUniform: {
      bool storage = binary_.Decorated(resource.block, spv::DecorationBufferBlock) >= 0;
      resource.kind = storage ? Kind::StorageBuffer : Kind::UniformBuffer;
      break;
    }
    case spv::StorageClassPushConstant:
      resource.kind = Kind::PushConstant;
      break;
    case spv::StorageClassWorkgroup:
      shared_.push_back(variable);
      by_workgroups_ = true;
      return std::nullopt;
    case spv::StorageClassUniformConstant:
      if (types_.KindOf(resource.block) == spv::OpTypeSampler) return std::nullopt;
      if (types_.KindOf(resource.block) != spv::OpTypeImage &&
          types_.KindOf(resource.block) != spv::OpTypeSampledImage)
        Refuse(diag::E0855, inst.span, "'" + name + "' is an array of images, or another opaque object",
               "declare each image by itself");
      resource.kind = Kind::StorageBuffer;
      break;
    case spv::StorageClassPhysicalStorageBuffer:
    default:
      Refuse(diag::E0855, inst.span, "'" + name + "' lies in a class of memory that kernels do not have",
             "use storage buffers, uniform blocks and push constants");
  }
  bool is_volatile = binary_.Decorated(variable, spv::DecorationVolatile) >= 0;
  for (uint32_t n = 0;
       types_.KindOf(resource.block) == spv::OpTypeStruct && n < types_.Members(resource.block); ++n)
    is_volatile = is_volatile || binary_.MemberDecorated(resource.block, n, spv::DecorationVolatile) >= 0;
  if (is_volatile)
    Refuse(diag::E0856, inst.span,
           "'" + name + "' is volatile: it means something to invocations that wait for others",
           "kernels do not wait for each other: dispatch twice");
  resource.read_only =
      binary_.Decorated(variable, spv::DecorationNonWritable) >= 0 || written_.count(variable) == 0;
  return resource;
}

/// Two variables at one binding are one memory, which accesses of kernels do not expect of buffers that do
/// not say so. HLSL counts the registers of read-only and other buffers apart, and means two.
void Lowering::CheckBindings(const std::vector<Resource>& resources) const {
  if (config_.bindings_may_meet) return;
  std::map<std::pair<uint32_t, uint32_t>, const Resource*> known;
  for (const Resource& resource : resources) {
    if (resource.kind != Kind::StorageBuffer) continue;
    auto [place, fresh] = known.try_emplace({resource.set, resource.binding}, &resource);
    if (fresh || (resource.read_only && place->second->read_only)) continue;
    if (resource.aliased && place->second->aliased) continue;
    std::string name(binary_.NameOf(resource.variable));
    if (name.empty()) name = binary_.NameOf(resource.block);
    Refuse(diag::E0855, binary_.Find(resource.variable)->span,
           "'" + name + "' has the binding of another buffer, " + std::to_string(resource.binding) +
               " of set " + std::to_string(resource.set) + ", and is the same memory",
           "declare one block, with all members that the shader accesses");
  }
}

/// Finds out whether invocations wait for each other, and refuses what orders memory without waiting where
/// that has a meaning: the text of E0856 has the rule.
void Lowering::CheckOrder() {
  if (by_workgroups_) return;
  const Instruction* barrier = nullptr;
  for (Id function : functions_) {
    auto found = binary_.functions().find(function);
    if (found == binary_.functions().end()) continue;
    for (const Block& block : found->second.blocks) {
      for (const Instruction* inst : block.body) {
        bool orders = inst->op == spv::OpControlBarrier || inst->op == spv::OpMemoryBarrier;
        if (IsAtomic(*inst)) {
          bool store = inst->op == spv::OpAtomicStore;
          std::optional<int64_t> semantics = types_.Integer(inst->At(2));
          (void)store;
          // Relaxed, whatever memory it names.
          constexpr int64_t kOrdering = 0x2 | 0x4 | 0x8 | 0x10;
          orders = !semantics || (*semantics & kOrdering) != 0;
        }
        if (orders && (barrier == nullptr || inst->op == spv::OpControlBarrier)) barrier = inst;
      }
    }
  }
  if (barrier == nullptr) return;
  by_workgroups_ = writes_images_ && barrier->op == spv::OpControlBarrier;
  if (by_workgroups_) return;
  struct Access {
    const Instruction* inst;
    bool in_loop, in_entry;
  };
  std::map<Id, std::vector<Access>> accesses;
  std::set<Id> operands;
  for (Id function : functions_) {
    auto found = binary_.functions().find(function);
    if (found == binary_.functions().end()) continue;
    std::set<Id> in_loops;
    for (const Block& block : found->second.blocks) {
      if (block.merge == nullptr || block.merge->op != spv::OpLoopMerge) continue;
      frames_.push_back(std::make_unique<Frame>());
      frame().function = &found->second;
      std::set<Id> blocks = LoopBlocks(block);
      frames_.pop_back();
      in_loops.insert(blocks.begin(), blocks.end());
    }
    for (const Block& block : found->second.blocks) {
      for (const Instruction* inst : block.body) {
        operands.insert(inst->operands.begin(), inst->operands.end());
        bool chain = inst->op == spv::OpAccessChain || inst->op == spv::OpInBoundsAccessChain ||
                     inst->op == spv::OpCopyObject || inst->op == spv::OpArrayLength;
        Access access{inst, in_loops.count(block.label) != 0, function == entry_.function};
        if (PointerOperand(*inst) == 0 && !chain) accesses[OwnerOf(inst->At(0))].push_back(access);
        if (inst->op == spv::OpCopyMemory) accesses[OwnerOf(inst->At(1))].push_back(access);
        if (inst->op == spv::OpFunctionCall) {
          for (size_t n = 1; n < inst->operands.size(); ++n) accesses[OwnerOf(inst->At(n))].push_back(access);
        }
      }
      if (block.terminator != nullptr)
        operands.insert(block.terminator->operands.begin(), block.terminator->operands.end());
      for (const Instruction* phi : block.phis) operands.insert(phi->operands.begin(), phi->operands.end());
    }
  }
  for (const Resource& resource : resources_->all()) {
    Id owner = resource.by_pointer ? resource.block : resource.variable;
    if (resource.kind != Kind::StorageBuffer || written_.count(owner) == 0) continue;
    const std::vector<Access>& own = accesses[owner];
    bool sums = std::all_of(own.begin(), own.end(), [&](const Access& access) {
      bool adds = access.inst->op == spv::OpAtomicIAdd || access.inst->op == spv::OpAtomicFAddEXT;
      return adds && access.inst->op == own[0].inst->op && operands.count(access.inst->result) == 0;
    });
    bool one_store = own.size() == 1 && own[0].inst->op == spv::OpStore && !own[0].in_loop && own[0].in_entry;
    if (sums || one_store) continue;
    by_workgroups_ = barrier->op == spv::OpControlBarrier;
    if (by_workgroups_) return;
    diag::Diagnostic reason =
        diag::Fail(diag::E0856, barrier->span,
                   "this orders what invocations write to '" + resource.name +
                       "' and what others read there; iterations of a kernel run in any order",
                   "dispatch the part before the barrier and the part after it as two shaders");
    if (!own.empty()) reason.AddNote(own[0].inst->span, "'" + resource.name + "' is accessed here");
    throw Refused{std::move(reason)};
  }
}

void Lowering::AddParameters() {
  std::vector<Resource> found;
  FindVariables(found);
  CheckBindings(found);
  resources_ = std::make_unique<Resources>(types_, module_, *kernel_, config_.parameters);
  resources_->Add(std::move(found), pointed_);
  constexpr const char* kNames[] = {"invocations_x", "invocations_y", "invocations_z"};
  for (uint32_t axis = 0; axis < 3; ++axis) {
    if (!config_.axes[axis]) continue;
    ir::ShaderBinding binding;
    binding.kind = Kind::Invocations;
    binding.number = axis;
    binding.offset = local_size_[axis];
    invocations_[axis] = resources_->AddScalar(kNames[axis], ir::kI32, binding);
  }
}

void Lowering::Run(const std::string& name, std::vector<std::string>* names) {
  const Binary::LocalSize* size = binary_.LocalSizeOf(entry_.function);
  for (uint32_t axis = 0; size != nullptr && axis < 3; ++axis) {
    std::optional<int64_t> given = size->ids ? types_.Integer(size->values[axis]) : size->values[axis];
    if (!given || *given < 1 || *given > 65536)
      Refuse(diag::E0853, {}, "the size of a workgroup is no constant from 1 to 65536");
    local_size_[axis] = static_cast<uint32_t>(*given);
  }
  // A constant that is decorated so takes the place of the execution mode.
  for (const Instruction& inst : binary_.instructions()) {
    if (inst.op != spv::OpConstantComposite && inst.op != spv::OpSpecConstantComposite) continue;
    if (binary_.Decorated(inst.result, spv::DecorationBuiltIn) != spv::BuiltInWorkgroupSize) continue;
    for (uint32_t axis = 0; axis < 3; ++axis) {
      std::optional<int64_t> given = types_.Integer(inst.At(axis));
      if (!given || *given < 1 || *given > 65536)
        Refuse(diag::E0853, inst.span, "the size of a workgroup is no constant from 1 to 65536");
      local_size_[axis] = static_cast<uint32_t>(*given);
    }
  }
  size_t bindings = module_.shader_bindings.size();
  StringId kernel_name = module_.Intern(name);
  for (bool first = true;; first = false) {
    module_.shader_bindings.resize(bindings);
    if (first) {
      kernel_ = &module_.AddFunction(ir::FunctionKind::Kernel, kernel_name);
    } else {
      auto again = std::make_unique<ir::Function>(ir::FunctionKind::Kernel, kernel_name);
      kernel_ = again.get();
      module_.Replace(std::move(again));
    }
    auto function = binary_.functions().find(entry_.function);
    if (function == binary_.functions().end() || function->second.blocks.empty())
      Refuse(diag::E0852, {}, "the entry point has no body");
    kernel_->span = function->second.definition->span;
    frames_.clear();
    retired_.clear();
    privates_.clear();
    shared_.clear();
    value_names_.clear();
    moved_.clear();
    spec_params_.clear();
    pointed_ = {};
    addresses_.clear();
    address_parts_.clear();
    places_.clear();
    functions_.clear();
    written_.clear();
    tables_.clear();
    leave_region_now_.clear();
    arrays_.clear();
    next_numbers_.clear();
    depth_ = 0;
    AddParameters();
    if (names != nullptr) *names = resources_->names();
    CheckOrder();
    EmitKernel();
    size_t before = leave_region_.size();
    leave_region_.insert(leave_region_now_.begin(), leave_region_now_.end());
    if (leave_region_.size() == before) return;
  }
}

/// The loop over the invocations; or over workgroups, with the invocations of one as its last axis.
ir::Inst Lowering::MakeLoop() {
  constexpr const char* kNames[2][3] = {{"gx", "gy", "gz"}, {"wx", "wy", "wz"}};
  std::vector<ir::Value> bounds;
  std::vector<std::pair<ir::Value*, const char*>> indices;
  for (uint32_t axis = 3; axis-- > 0;) {
    index_[axis] = ir::Value();
    if (!invocations_[axis].Valid()) continue;
    ir::Value count = invocations_[axis];
    if (by_workgroups_)
      count = b_->Make(ir::Op::CeilDiv, {count, b_->I32(static_cast<int32_t>(local_size_[axis]))});
    bounds.insert(bounds.end(), {b_->I32(0), count});
    indices.emplace_back(&index_[axis], kNames[by_workgroups_ ? 1 : 0][axis]);
  }
  uint64_t block = uint64_t{local_size_[0]} * local_size_[1] * local_size_[2];
  bool good_block = !by_workgroups_ && block >= 32 && block <= 1024 && block % 32 == 0;
  if (by_workgroups_) {
    if (block > 65536) Refuse(diag::E0853, {}, "a workgroup has more than 65536 invocations");
    bounds.insert(bounds.end(), {b_->I32(0), b_->I32(static_cast<int32_t>(block))});
    indices.emplace_back(&local_index_, "l");
  }
  ir::Inst loop = b_->Parallel(bounds, good_block ? static_cast<uint32_t>(block) : 0);
  if (by_workgroups_) (*kernel_)[loop].words.Add(ir::Word::Workgroup);
  for (size_t n = 0; n < indices.size(); ++n) {
    *indices[n].first = (*kernel_)[(*kernel_)[loop].regions[0]].params[n];
    (*kernel_)[*indices[n].first].name = module_.Intern(indices[n].second);
  }
  return loop;
}

void Lowering::EmitKernel() {
  const Function& function = binary_.functions().at(entry_.function);
  b_ = std::make_unique<CheckedBuilder>(module_, *kernel_, kernel_->Body());
  b_->SetSpan(function.definition->span);
  home_ = (*kernel_)[MakeLoop()].regions[0];
  b_->SetBlock(home_);
  frames_.push_back(std::make_unique<Frame>());
  frame().function = &function;
  Scope scope;
  OpenScope(scope);
  frame().scopes.push_back(scope);
  for (Id variable : privates_) MakeLocal(*binary_.Find(variable));
  for (Id variable : shared_) MakeLocal(*binary_.Find(variable), {ir::Word::Shared});
  EmitFrom(0, function.blocks[0].label, 0);
  CloseScope(frame().scopes.front());
  Close(home_);
  std::vector<ir::Inst>& insts = (*kernel_)[home_].insts;
  insts.insert(insts.begin(), arrays_.begin(), arrays_.end());
  b_->SetBlock(kernel_->Body());
  b_->Terminate(ir::Op::Return, {});
}

ir::Value Lowering::CheckedBuilder::Make(ir::Op op, std::span<const ir::Value> operands) {
  std::vector<ir::Type> types;
  for (ir::Value value : operands) types.push_back(function().TypeOf(value));
  if (!ir::ResultType(op, types))
    Refuse(diag::E0852, span(),
           "operands of '" + std::string(ir::InfoOf(op).spelling) + "' do not fit each other");
  return ir::Builder::Make(op, operands);
}

StringId Lowering::FreeName(const std::string& wanted) {
  if (value_names_.empty()) {
    for (ir::Value param : kernel_->Params()) value_names_.emplace(module_.Text((*kernel_)[param].name));
    for (const char* index : {"gx", "gy", "gz", "wx", "wy", "wz", "l"}) value_names_.emplace(index);
  }
  std::string name;
  for (char letter : wanted) {
    bool good = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_' ||
                (letter >= '0' && letter <= '9' && !name.empty());
    if (good) name += letter;
  }
  if (name.empty()) name = "v";
  std::string free = name;
  for (uint32_t& number = next_numbers_.try_emplace(name, 2).first->second; !value_names_.insert(free).second;
       ++number)
    free = name + "." + std::to_string(number);
  return module_.Intern(free);
}

// --- values ---

bool Lowering::Visible(ir::Block block) const {
  for (auto moved = moved_.find(block); moved != moved_.end(); moved = moved_.find(block))
    block = moved->second;
  for (ir::Block at = b_->block();;) {
    if (at == block) return true;
    ir::Inst owner = (*kernel_)[at].owner;
    if (!owner.Valid()) return false;
    if ((*kernel_)[owner].op == ir::Op::While && (*kernel_)[owner].regions[1] == at &&
        (*kernel_)[owner].regions[0] == block)
      return true;
    at = (*kernel_)[owner].parent;
  }
}

ir::Value Lowering::Slot(ir::Type type, uint32_t count) {
  ir::Type array = ir::Type::Array(type, count);
  ir::Inst inst = kernel_->NewInst(ir::Op::Alloca, {}, {&array, 1}, b_->span());
  (*kernel_)[inst].parent = home_;
  arrays_.push_back(inst);
  return kernel_->Result(inst);
}

void Lowering::StoreSlot(ir::Value slot, ir::Value value) {
  ir::Value zero = b_->I32(0);
  b_->Access(ir::Op::Store, slot, {&zero, 1}, {&value, 1});
}

ir::Value Lowering::LoadSlot(ir::Value slot) {
  ir::Value zero = b_->I32(0);
  return b_->Load(slot, {&zero, 1});
}

void Lowering::Set(const Instruction& inst, Value value) {
  Spend(value.parts.size(), inst);
  frame().defined_in[inst.result] = b_->block();
  if (leave_region_.count(inst.result) != 0 && inst.op != spv::OpPhi) {
    std::vector<ir::Value>& slots = frame().stored[inst.result];
    if (slots.empty()) {
      for (ir::Value part : value.parts) slots.push_back(Slot(kernel_->TypeOf(part)));
    }
    for (size_t n = 0; n < value.parts.size(); ++n) StoreSlot(slots[n], value.parts[n]);
  }
  frame().values[inst.result] = std::move(value);
}

Value Lowering::Get(Id id) {
  Frame& f = frame();
  const Instruction* inst = binary_.Find(id);
  if (inst == nullptr) Refuse(diag::E0852, b_->span(), "a value is used that nothing defines");
  auto found = f.values.find(id);
  bool seen = f.defined_in.count(id) == 0 || types_.IsAddress(inst->type) || Visible(f.defined_in[id]);
  if (found != f.values.end() && seen) return found->second;
  if (auto slots = f.stored.find(id); slots != f.stored.end()) {
    Value value;
    for (ir::Value slot : slots->second) value.parts.push_back(LoadSlot(slot));
    return value;
  }
  bool in_function = found != f.values.end() && !IsConstant(*inst);
  if (in_function) {
    // This attempt is given up: the next one has it in memory.
    leave_region_now_.insert(id);
    return ZeroOf(inst->type);
  }
  Value value = ConstantValue(*inst, 0);
  f.defined_in[id] = b_->block();
  return f.values[id] = std::move(value);
}

ir::Value Lowering::GetOne(Id id) {
  Value value = Get(id);
  if (value.parts.size() != 1) Refuse(diag::E0852, b_->span(), "a composite value stands for a number");
  return value.parts[0];
}

Value Lowering::ZeroOf(Id type) {
  std::vector<ir::Type> leaves;
  types_.Leaves(type, leaves);
  Value value;
  for (ir::Type leaf : leaves) {
    ir::Value zero = b_->Zero(leaf.ScalarType());
    if (leaf.IsScalar()) {
      value.parts.push_back(zero);
      continue;
    }
    std::vector<ir::Value> parts(leaf.Components(), zero);
    value.parts.push_back(
        kernel_->Result(b_->Create(leaf.IsVec() ? ir::Op::VecMake : ir::Op::MatMake, parts, {&leaf, 1})));
  }
  return value;
}

uint64_t Lowering::ConstantBits(const Instruction& inst) const {
  ir::Type type = types_.Register(inst.type);
  uint64_t bits = inst.At(0);
  if (ir::BitWidth(type.scalar) == 64) bits |= uint64_t{inst.At(1)} << 32;
  return bits;
}

/// A parameter of the kernel, where its value is that of no option.
Value Lowering::SpecValue(const Instruction& inst) {
  ir::Type type = types_.Register(inst.type);
  for (const SpecConstant& spec : specs_) {
    if (spec.id != inst.result || spec.given || spec.frozen) continue;
    ir::Value& param = spec_params_[inst.result];
    if (!param.Valid()) {
      ir::ShaderBinding binding;
      binding.kind = Kind::SpecConstant;
      binding.number = spec.number;
      binding.default_bits = inst.op == spv::OpSpecConstant       ? ConstantBits(inst)
                             : inst.op == spv::OpSpecConstantTrue ? 1
                                                                  : 0;
      param = resources_->AddScalar(spec.name.empty() ? "constant_" + std::to_string(spec.number) : spec.name,
                                    type, binding);
    }
    return {{param}};
  }
  if (type.IsFloat()) {
    auto given = types_.SpecBits(inst.result);
    return {{b_->Bits(type, given ? *given : ConstantBits(inst))}};
  }
  return {{b_->Int(type, types_.Integer(inst.result).value_or(0))}};
}

/// What SPIR-V computes of specialisation constants.
Value Lowering::ComputedConstant(const Instruction& inst) {
  if (std::optional<int64_t> known = types_.Integer(inst.result)) {
    bool depends = false;
    for (const SpecConstant& spec : specs_) depends = depends || (!spec.given && !spec.frozen);
    if (!depends) return {{b_->Int(types_.Register(inst.type), *known)}};
  }
  // The operation as an instruction of its own.
  Instruction operation = inst;
  operation.op = static_cast<spv::Op>(inst.At(0));
  operation.operands = inst.operands.subspan(1);
  if (!Composite(operation) && !Arithmetic(operation)) {
    Refuse(diag::E0854, inst.span, "an operation on specialisation constants that kernels do not have",
           "give them values with --spec");
  }
  Value value = frame().values[inst.result];
  frame().values.erase(inst.result);  // its place may not be seen from the next use
  frame().defined_in.erase(inst.result);
  return value;
}

Value Lowering::ConstantValue(const Instruction& inst, uint32_t depth) {
  if (depth > kDeepest) Refuse(diag::E0852, inst.span, "constants nest deeper than 64 levels");
  Spend(1, inst);
  auto of = [&](Id id) {
    const Instruction* part = binary_.Find(id);
    Require(part != nullptr, inst, "a constant names a part that nothing defines");
    return ConstantValue(*part, depth + 1);
  };
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpConstantTrue:
      return {{b_->Int(ir::kI1, 1)}};
    case spv::OpConstantFalse:
      return {{b_->Int(ir::kI1, 0)}};
    case spv::OpConstant: {
      ir::Type type = types_.Register(inst.type);
      uint64_t bits = ConstantBits(inst);
      if (type.IsFloat())
        return {{b_->Bits(type, bits & (ir::BitWidth(type.scalar) == 16 ? 0xFFFF : ~uint64_t{0}))}};
      return {{b_->Int(type, static_cast<int64_t>(bits))}};
    }
    case spv::OpConstantNull:
    case spv::OpUndef:
      return ZeroOf(inst.type);
    case spv::OpSpecConstantTrue:
    case spv::OpSpecConstantFalse:
    case spv::OpSpecConstant:
      return SpecValue(inst);
    case spv::OpConstantComposite:
    case spv::OpSpecConstantComposite: {
      Value value;
      std::vector<ir::Value> parts;
      for (size_t n = 0; n < inst.operands.size(); ++n) {
        Value part = of(inst.At(n));
        parts.insert(parts.end(), part.parts.begin(), part.parts.end());
      }
      if (!types_.IsRegister(inst.type)) return {std::move(parts)};
      ir::Type type = types_.Register(inst.type);
      if (type.IsMat()) return {{MatrixOf(type, parts)}};
      return {{MakeVector(parts)}};
    }
    case spv::OpSpecConstantOp:
      return ComputedConstant(inst);
    default:
      Refuse(diag::E0854, inst.span, "a value is used that kernels do not have",
             "docs/shaders.md lists what is taken");
  }
}

// --- built-in inputs ---

// Indices are not negative, so that signed division is right and says more about the quotient.

ir::Value Lowering::GroupAxis(uint32_t axis) {
  if (!index_[axis].Valid()) return b_->I32(0);
  if (by_workgroups_ || local_size_[axis] == 1) return index_[axis];
  return b_->Make(ir::Op::Div, {index_[axis], b_->I32(static_cast<int32_t>(local_size_[axis]))});
}

ir::Value Lowering::LocalAxis(uint32_t axis) {
  if (local_size_[axis] == 1) return b_->I32(0);
  ir::Value size = b_->I32(static_cast<int32_t>(local_size_[axis]));
  if (!by_workgroups_) return index_[axis].Valid() ? b_->Make(ir::Op::Rem, {index_[axis], size}) : b_->I32(0);
  uint32_t before = 1, behind = 1;
  for (uint32_t other = 0; other < 3; ++other)
    (other < axis ? before : behind) *= other == axis ? 1 : local_size_[other];
  ir::Value local = local_index_;
  if (before != 1) local = b_->Make(ir::Op::Div, {local, b_->I32(static_cast<int32_t>(before))});
  return behind == 1 ? local : b_->Make(ir::Op::Rem, {local, size});
}

ir::Value Lowering::InvocationAxis(uint32_t axis) {
  if (!by_workgroups_) return index_[axis].Valid() ? index_[axis] : b_->I32(0);
  if (!index_[axis].Valid()) return LocalAxis(axis);
  if (local_size_[axis] == 1) return index_[axis];
  ir::Value first = b_->Make(ir::Op::Mul, {index_[axis], b_->I32(static_cast<int32_t>(local_size_[axis]))});
  return b_->Make(ir::Op::Add, {first, LocalAxis(axis)});
}

ir::Value Lowering::Builtin(uint32_t builtin, Id type, const Instruction& inst) {
  auto size = [&](uint32_t axis) { return b_->I32(static_cast<int32_t>(local_size_[axis])); };
  auto all = [&](auto&& of) {
    std::vector<ir::Value> parts;
    for (uint32_t axis = 0; axis < 3; ++axis) parts.push_back(of(axis));
    return MakeVector(parts);
  };
  (void)type;
  switch (builtin) {
    case spv::BuiltInGlobalInvocationId:
      return all([&](uint32_t axis) { return InvocationAxis(axis); });
    case spv::BuiltInWorkgroupId:
      return all([&](uint32_t axis) { return GroupAxis(axis); });
    case spv::BuiltInLocalInvocationId:
      return all([&](uint32_t axis) { return LocalAxis(axis); });
    case spv::BuiltInWorkgroupSize:
      return all(size);
    case spv::BuiltInNumWorkgroups:
      return all([&](uint32_t axis) {
        if (!invocations_[axis].Valid()) return b_->I32(1);
        return local_size_[axis] == 1 ? invocations_[axis]
                                      : b_->Make(ir::Op::CeilDiv, {invocations_[axis], size(axis)});
      });
    case spv::BuiltInLocalInvocationIndex: {
      if (by_workgroups_) return local_index_;
      ir::Value rows = b_->Make(ir::Op::Add, {b_->Make(ir::Op::Mul, {LocalAxis(2), size(1)}), LocalAxis(1)});
      return b_->Make(ir::Op::Add, {b_->Make(ir::Op::Mul, {rows, size(0)}), LocalAxis(0)});
    }
    default:
      if (std::optional<ir::Value> of_subgroup = SubgroupBuiltin(builtin)) return *of_subgroup;
      Refuse(diag::E0854, inst.span, "a built-in input that kernels do not have",
             "those that number invocations, workgroups and subgroups are taken");
  }
}

}  // namespace adc::frontend::spirv
