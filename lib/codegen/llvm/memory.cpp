#include "codegen/llvm/memory.h"

#include "codegen/llvm/meeting_sums.h"
#include "ir/layout.h"
#include "ir/module.h"
#include "ir/reduction.h"
#include "ir/words.h"
#include "llvm/IR/Module.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op, ir::Scalar;
using llvm::Value;
using Kind = llvm::AtomicRMWInst::BinOp;

namespace {

/// The instruction that updates memory; BAD_BINOP: a loop does. No machine multiplies in memory. Minima of
/// floats follow `a < b ? a : b`, which no instruction does; f16 sums round through f32.
Kind InstructionOf(Op update, Scalar scalar) {
  bool is_float = ir::IsFloat(scalar), is_half = scalar == Scalar::F16, is_signed = ir::IsSigned(scalar);
  bool truth = scalar == Scalar::I1;
  // clang-format off
  switch (ir::In<ir::UpdateOp>(update)) {
    using enum ir::UpdateOp;
    case AtomicAdd: case AddTo:
      return truth ? Kind::Xor : is_half ? Kind::BAD_BINOP : is_float ? Kind::FAdd : Kind::Add;
    case AtomicSub: return truth ? Kind::Xor : is_half ? Kind::BAD_BINOP : is_float ? Kind::FSub : Kind::Sub;
    case AtomicMul: return truth ? Kind::And : Kind::BAD_BINOP;
    case AtomicMin: return is_float ? Kind::BAD_BINOP : is_signed ? Kind::Min : Kind::UMin;
    case AtomicMax: return is_float ? Kind::BAD_BINOP : is_signed ? Kind::Max : Kind::UMax;
    case AtomicAnd: return Kind::And;
    case AtomicOr: return Kind::Or;
    case AtomicXor: return Kind::Xor;
    case AtomicExchange: return Kind::Xchg;
    case AtomicCompareExchange: case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("update of memory by one value");
}

}  // namespace

void MemoryEmitter::EmitAlloca(ir::Inst inst) {
  ir::Value result = kernel_.Result(inst);
  ir::Type type = kernel_.TypeOf(result);
  bool own = kernel_[inst].Has(ir::Word::Own);
  uint64_t length = own ? 1 : uint64_t{type.count} * type.Components();
  llvm::AllocaInst* memory =
      hooks_.Local(llvm::ArrayType::get(scalars_.MemoryType(type.scalar), length), "local");
  if (!kernel_[inst].Has(ir::Word::Unset))
    builder_.CreateMemSet(memory, builder_.getInt8(0), length * ir::ByteSize(type.scalar),
                          memory->getAlign());
  arrays_.Set(result) = memory;
}

uint32_t MemoryEmitter::LengthOf(ir::Inst array) const {
  ir::Type type = kernel_.TypeOf(kernel_.Result(array));
  return type.count * type.Components();
}

uint32_t MemoryEmitter::BytesOf(ir::Inst array) const {
  return LengthOf(array) * ir::ByteSize(kernel_.TypeOf(kernel_.Result(array)).scalar);
}

Value* MemoryEmitter::EmitCommonArray(ir::Inst inst, Value* memory) {
  arrays_.Set(kernel_.Result(inst)) = memory;
  return memory;
}

void MemoryEmitter::ClearElement(ir::Inst array, Value* memory, Value* turn) {
  Scalar scalar = kernel_.TypeOf(kernel_.Result(array)).scalar;
  llvm::Type* type = scalars_.MemoryType(scalar);
  builder_.CreateAlignedStore(llvm::Constant::getNullValue(type),
                              builder_.CreateInBoundsGEP(type, memory, turn),
                              llvm::Align(ir::ByteSize(scalar)));
}

Value* MemoryEmitter::ArrayAddress(ir::Value base) {
  const ir::ValueData& data = kernel_[base];
  if (data.kind != ir::ValueKind::Global) return arrays_.Get(base);
  std::string name = "adc.const." + std::to_string(data.owner);
  llvm::Module* module = builder_.GetInsertBlock()->getModule();
  if (llvm::GlobalVariable* known = module->getGlobalVariable(name, true)) return known;
  const ir::ModuleConstant& constant = module_.constants[data.owner];
  std::vector<llvm::Constant*> elements;
  elements.reserve(constant.elements.size());
  for (uint64_t bits : constant.elements) elements.push_back(scalars_.MemoryConstant(data.type.scalar, bits));
  auto* type = llvm::ArrayType::get(scalars_.MemoryType(data.type.scalar), elements.size());
  auto* table = new llvm::GlobalVariable(
      *module, type, true, llvm::GlobalValue::InternalLinkage, llvm::ConstantArray::get(type, elements), name,
      nullptr, llvm::GlobalValue::NotThreadLocal, hooks_.Description().spaces.constant);
  table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return table;
}

Value* MemoryEmitter::LayoutOffset(const ir::LayoutField& field, ir::Inst inst) {
  Value* offset = builder_.getInt64(field.offset);
  uint32_t axis_number = 0;
  for (ir::Value index : kernel_.Indices(inst)) {
    Value* whole = values_.Index(index);
    for (const ir::LayoutDigit& of : ir::DigitsOf(field.axes[axis_number++])) {
      Value* digit = of.divisor > 1 ? builder_.CreateUDiv(whole, builder_.getInt64(of.divisor)) : whole;
      if (of.modulus != 0) digit = builder_.CreateURem(digit, builder_.getInt64(of.modulus));
      offset = builder_.CreateNSWAdd(offset, builder_.CreateNSWMul(digit, builder_.getInt64(of.stride)));
    }
  }
  return offset;
}

Value* MemoryEmitter::ElementOf(ir::Inst inst) {
  uint32_t param = kernel_[kernel_.Operand(inst, 0)].number;
  std::span<const ir::Value> indices = kernel_.Indices(inst);
  size_t flat = indices.size();  // the indices from here on are the flat iteration
  if (kernel_[inst].Has(ir::Word::Flat)) flat -= kernel_[kernel_[loop_].regions[0]].params.size();
  Value* position = nullptr;
  for (uint32_t axis = 0; axis < indices.size(); ++axis) {
    if (position != nullptr) position = builder_.CreateNSWMul(position, hooks_.Extent(param, axis));
    if (axis >= flat) continue;
    Value* index = values_.Index(indices[axis]);
    position = position != nullptr ? builder_.CreateNSWAdd(position, index) : index;
  }
  if (flat < indices.size())
    position = position != nullptr ? builder_.CreateNSWAdd(position, iteration_) : iteration_;
  return position != nullptr ? position : builder_.getInt64(0);
}

MemoryEmitter::Cell MemoryEmitter::CellOf(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  ir::Value base = kernel_.Operand(inst, 0);
  const ir::ValueData& base_data = kernel_[base];
  ir::Type element = module_.ElementType(kernel_, base, data.attr);
  ADC_CHECK(element.IsScalar() || data.component != ir::kNoAttr,
            "an access of a whole vector reaches code generation");
  uint32_t component = ComponentOf(data);
  Cell cell{BaseOf(kernel_, inst), nullptr, element.scalar};
  llvm::Type* type = scalars_.MemoryType(element.scalar);
  if (cell.kind == BaseKind::Layout) {
    const ir::LayoutField& field = module_.layouts[base_data.type.count].fields[data.attr];
    Value* offset = LayoutOffset(field, inst);
    offset =
        builder_.CreateNSWAdd(offset, builder_.getInt64(uint64_t{component} * ir::ByteSize(element.scalar)));
    cell.address =
        builder_.CreateInBoundsGEP(builder_.getInt8Ty(), hooks_.BufferAddress(base_data.number), offset);
    return cell;
  }
  ir::Inst made = cell.kind == BaseKind::Local ? kernel_.DefiningInst(base) : ir::Inst();
  ir::Words of_team = made.Valid() ? kernel_[made].words : ir::Words();
  cell.common = of_team.Has(ir::Word::Common);
  Value* position = of_team.Has(ir::Word::Own) ? builder_.getInt64(0) : ElementOf(inst);
  if (element.Components() > 1) {
    position = builder_.CreateNSWMul(position, builder_.getInt64(element.Components()));
    position = builder_.CreateNSWAdd(position, builder_.getInt64(component));
  }
  Value* start = cell.kind == BaseKind::Buffer ? hooks_.BufferAddress(base_data.number) : ArrayAddress(base);
  cell.address = builder_.CreateInBoundsGEP(type, start, position);
  return cell;
}

void MemoryEmitter::EmitAccess(ir::Inst inst) {
  Value* result = Access(inst);
  if (result != nullptr && kernel_[inst].result_count != 0) values_.Bind(kernel_.Result(inst), result);
}

Value* MemoryEmitter::Access(ir::Inst inst) {
  Cell cell = CellOf(inst);
  const ir::InstData& data = kernel_[inst];
  if (data.op == Op::Load) return Load(inst, cell, in_loop_);
  llvm::SmallVector<Value*, 2> operands;
  for (ir::Value v : kernel_.AccessValues(inst)) operands.push_back(values_.Get(v));
  if (data.op == Op::Store) {
    Store(inst, cell, operands[0], in_loop_);
    return nullptr;
  }
  Op op = data.op == Op::AddTo ? Op::AtomicAdd : data.op;
  if (cell.common && data.op == Op::AddTo) return AtomicUpdate(inst, cell, op, operands);
  bool own = cell.kind == BaseKind::Local || (data.op == Op::AddTo && data.Has(ir::Word::Plain));
  if (!own && !alone_) return AtomicUpdate(inst, cell, op, operands);
  return PlainUpdate(inst, cell, op, operands, own && in_loop_);
}

void MemoryEmitter::EmitAtomic(ir::Inst access, Op op, Scalar scalar, Value* value) {
  Cell cell = CellOf(access);
  if (scalar == cell.scalar) {
    AtomicUpdate(access, cell, op, {value});
    return;
  }
  EmitUpdateLoop(builder_, Atomic(cell), MarkOf(access), [&](Value* old) {
    Value* wide = scalars_.Emit(Op::Cast, cell.scalar, scalar, {old});
    return scalars_.Emit(Op::Cast, scalar, cell.scalar, {Combine(op, scalar, wide, {value})});
  });
}

Value* MemoryEmitter::Load(ir::Inst inst, const Cell& cell, bool in_loop) {
  auto* load = builder_.CreateAlignedLoad(scalars_.MemoryType(cell.scalar), cell.address, AlignOf(cell));
  aliases_.Mark(load, inst, in_loop);
  return scalars_.FromMemory(cell.scalar, load);
}

void MemoryEmitter::Store(ir::Inst inst, const Cell& cell, Value* value, bool in_loop) {
  auto* store =
      builder_.CreateAlignedStore(scalars_.ToMemory(cell.scalar, value), cell.address, AlignOf(cell));
  aliases_.Mark(store, inst, in_loop);
}

Value* MemoryEmitter::Combine(Op op, Scalar scalar, Value* old, llvm::ArrayRef<Value*> operands) {
  if (std::optional<Op> combined = ir::CombinedBy(op, scalar))
    return scalars_.Emit(*combined, scalar, scalar, {old, operands[0]});
  if (op != Op::AtomicCompareExchange) return operands[0];
  llvm::Type* bits_type = builder_.getIntNTy(ir::BitWidth(scalar));
  Value* equal = builder_.CreateICmpEQ(builder_.CreateBitCast(old, bits_type),
                                       builder_.CreateBitCast(operands[0], bits_type));
  return builder_.CreateSelect(equal, operands[1], old);
}

/// `in_loop`: the cell is that of one iteration, so that the iterations of the parallel loop may run at once.
Value* MemoryEmitter::PlainUpdate(ir::Inst inst, const Cell& cell, Op op, llvm::ArrayRef<Value*> operands,
                                  bool in_loop) {
  Value* old = Load(inst, cell, in_loop);
  Store(inst, cell, Combine(op, cell.scalar, old, operands), in_loop);
  return old;
}

Value* MemoryEmitter::AtomicUpdate(ir::Inst inst, const Cell& cell, Op op, llvm::ArrayRef<Value*> operands) {
  if (op == Op::AtomicCompareExchange) return CompareExchange(inst, cell, operands[0], operands[1]);
  Kind kind = InstructionOf(op, cell.scalar);
  if (kind == Kind::BAD_BINOP) return UpdateLoop(inst, cell, op, operands[0]);
  Value* operand = scalars_.ToMemory(cell.scalar, operands[0]);
  if (kind == Kind::FSub && hooks_.Wave() != nullptr) {
    // Adding is an instruction there, subtracting a loop.
    kind = Kind::FAdd;
    operand = builder_.CreateFNeg(operand);
  }
  Value* old = EmitAtomicUpdate(builder_, hooks_.Description(), kind, Atomic(cell), operand, MarkOf(inst));
  return scalars_.FromMemory(cell.scalar, old);
}

/// Of an operation that is no instruction anywhere.
Value* MemoryEmitter::UpdateLoop(ir::Inst inst, const Cell& cell, Op op, Value* operand) {
  return EmitUpdateLoop(builder_, Atomic(cell), MarkOf(inst),
                        [&](Value* old) { return Combine(op, cell.scalar, old, {operand}); });
}

AtomicCell MemoryEmitter::Atomic(const Cell& cell) const {
  return {cell.address, scalars_.MemoryType(cell.scalar), AlignOf(cell), hooks_.AtomicScope()};
}

MarkAccess MemoryEmitter::MarkOf(ir::Inst inst) const {
  return [this, inst](llvm::Instruction* access) {
    aliases_.Mark(access, inst, in_loop_);
    if (kernel_[inst].Has(ir::Word::MayMeet) && hooks_.Wave() != nullptr) MarkMayMeet(access);
  };
}

/// Floats are compared by their bits, as in hardware: the zeros differ, and a NaN equals itself.
Value* MemoryEmitter::CompareExchange(ir::Inst inst, const Cell& cell, Value* expected, Value* desired) {
  llvm::Type* bits_type = builder_.getIntNTy(8 * ir::ByteSize(cell.scalar));
  auto* exchange = builder_.CreateAtomicCmpXchg(
      cell.address, builder_.CreateBitCast(scalars_.ToMemory(cell.scalar, expected), bits_type),
      builder_.CreateBitCast(scalars_.ToMemory(cell.scalar, desired), bits_type), AlignOf(cell),
      llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic, hooks_.AtomicScope());
  aliases_.Mark(exchange, inst, in_loop_);
  Value* old =
      builder_.CreateBitCast(builder_.CreateExtractValue(exchange, 0), scalars_.MemoryType(cell.scalar));
  return scalars_.FromMemory(cell.scalar, old);
}

void MemoryEmitter::EmitRowAccess(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  bool is_load = data.op == Op::RowLoad;
  ir::Value typed = is_load ? kernel_.Result(inst) : kernel_.Operand(inst, 2);
  Scalar scalar = kernel_.TypeOf(typed).scalar;
  uint32_t size = ir::ByteSize(scalar);
  Value* byte = values_.Index(kernel_.Operand(inst, 1));
  if (size > 1) byte = builder_.CreateMul(byte, builder_.getInt64(size));
  byte = builder_.CreateAdd(hooks_.StackOffset(data.attr), byte);
  Value* address = hooks_.RowAddress(values_.Index(kernel_.Operand(inst, 0)), byte, size);
  llvm::Align alignment(size);
  if (is_load) {
    auto* load = builder_.CreateAlignedLoad(scalars_.MemoryType(scalar), address, alignment);
    aliases_.MarkRow(load);
    values_.Bind(typed, scalars_.FromMemory(scalar, load));
    return;
  }
  Value* stored = scalars_.ToMemory(scalar, values_.Get(typed));
  aliases_.MarkRow(builder_.CreateAlignedStore(stored, address, alignment));
}

}  // namespace adc::codegen
