#include "codegen/spirv/memory.h"

#include <bit>

#include "ir/layout.h"
#include "ir/module.h"
#include "ir/reduction.h"
#include "support/check.h"

namespace adc::codegen::spirv {

using ir::Op, ir::Scalar;

namespace {

/// The words of an array that a team shares, each as wide as a register.
Storage WordOfArray(Scalar scalar) {
  return RegisterWidth(scalar) == 64 ? Storage::U64 : Storage::U32;
}

}  // namespace

void MemoryEmitter::EmitAlloca(ir::Inst inst) {
  ir::Value result = kernel_.Result(inst);
  ir::Type type = kernel_.TypeOf(result);
  bool own = kernel_[inst].Has(ir::Word::Own);
  Id array = m_.types.Array(scalars_.RegisterType(type.scalar), own ? 1 : type.count * type.Components());
  Id variable = f_.Variable(array);
  m_.Name(variable, context_.ir.Text(kernel_[result].name));
  if (!kernel_[inst].Has(ir::Word::Unset)) f_.Store(variable, m_.constants.Null(array), 0);
  arrays_.Set(result) = variable;
}

uint32_t MemoryEmitter::EmitCommonArray(ir::Inst inst) {
  ir::Value result = kernel_.Result(inst);
  ir::Type type = kernel_.TypeOf(result);
  uint32_t length = type.count * type.Components();
  Storage word = WordOfArray(type.scalar);
  arrays_.Set(result) = environment_.entry.Shared(TypeOf(m_, word), length);
  shared_bytes_ += length * BytesOf(word);
  return length;
}

void MemoryEmitter::ClearCommon(ir::Inst inst, Id element) {
  Storage word = WordOfArray(kernel_.TypeOf(kernel_.Result(inst)).scalar);
  Id type = TypeOf(m_, word), array = arrays_.Get(kernel_.Result(inst));
  f_.Store(f_.Element(spv::StorageClassWorkgroup, type, array, element), m_.constants.Null(type), 0);
}

Id MemoryEmitter::ConstantArray(ir::Value base) {
  const ir::ValueData& data = kernel_[base];
  Id& known = context_.constants[data.owner];
  if (known == 0) {
    const ir::ModuleConstant& constant = context_.ir.constants[data.owner];
    std::vector<Id> elements;
    for (uint64_t bits : constant.elements)
      elements.push_back(scalars_.ElementConstant(data.type.scalar, bits));
    Id type = m_.types.Array(scalars_.RegisterType(data.type.scalar), static_cast<uint32_t>(elements.size()));
    known = m_.GlobalVariable(spv::StorageClassPrivate, type, m_.constants.Composite(type, elements));
    m_.Name(known, context_.ir.Text(constant.name));
  }
  environment_.entry.Uses(known);
  return known;
}

Id MemoryEmitter::LayoutPosition(const ir::LayoutField& field, ir::Inst inst, uint32_t width) {
  uint64_t unit = ir::ByteSize(field.type.scalar);
  ADC_CHECK(field.offset % unit == 0, "a field that is not aligned to its scalar");
  Id position = f_.Int(width, field.offset / unit);
  uint32_t axis_number = 0;
  for (ir::Value index : kernel_.Indices(inst)) {
    Id whole = values_.Position(index, width);
    for (const ir::LayoutDigit& of : ir::DigitsOf(field.axes[axis_number++])) {
      Id digit = f_.Div(width, whole, f_.Int(width, of.divisor));
      if (of.modulus != 0) digit = f_.Mod(width, digit, f_.Int(width, of.modulus));
      ADC_CHECK(of.stride % unit == 0, "a stride that is not a multiple of the field's scalar");
      position = f_.Add(width, position, f_.Mul(width, digit, f_.Int(width, of.stride / unit)));
    }
  }
  return position;
}

MemoryEmitter::Cell MemoryEmitter::CellOf(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  ir::Value base = kernel_.Operand(inst, 0);
  const ir::ValueData& base_data = kernel_[base];
  ir::Type element = context_.ir.ElementType(kernel_, base, data.attr);
  ADC_CHECK(element.IsScalar() || data.component != ir::kNoAttr,
            "an access of a whole vector reaches code generation");
  uint32_t component = ComponentOf(data);
  Cell cell;
  cell.kind = BaseOf(kernel_, inst);
  cell.scalar = element.scalar;
  cell.param = base_data.number;
  if (cell.InArray()) {
    cell.array = cell.kind == BaseKind::Local ? arrays_.Get(base) : ConstantArray(base);
    cell.length = base_data.type.count * base_data.type.Components();
  }
  ir::Words of_team = cell.kind == BaseKind::Local ? kernel_[kernel_.DefiningInst(base)].words : ir::Words();
  cell.common = of_team.Has(ir::Word::Common);
  if (of_team.Has(ir::Word::Own)) {
    cell.index = f_.Int(32, 0);
    cell.width = 32;
    return cell;
  }
  // A place of sums has one of the words; memory that parameters share may hold sums of other types.
  cell.summed = ir::ReductionOf(data.op) == ir::Reduction::Add &&
                !data.words.Of({ir::Word::Private, ir::Word::Gathered}).IsEmpty() &&
                !kernel_.params[cell.param].alias;
  uint32_t width = cell.width = cell.InArray() ? 32 : environment_.entry.IndexWidth();
  if (cell.kind == BaseKind::Layout) {
    const ir::LayoutField& field = context_.ir.layouts[base_data.type.count].fields[data.attr];
    cell.index = f_.Add(width, LayoutPosition(field, inst, width), f_.Int(width, component));
    return cell;
  }
  std::span<const ir::Value> indices = kernel_.Indices(inst);
  if (indices.size() == 1 && element.IsScalar()) {
    // An index of an access is signed and may have any width.
    std::tie(cell.index, cell.width) = values_.ElementIndex(indices[0]);
    return cell;
  }
  size_t flat = indices.size();  // the indices from here on are the flat iteration
  if (kernel_[inst].Has(ir::Word::Flat)) flat -= kernel_[kernel_[loop_].regions[0]].params.size();
  cell.index = f_.Int(width, 0);
  for (uint32_t axis = 0; axis < indices.size(); ++axis) {
    if (axis != 0) {
      Id extent =
          f_.Resize(environment_.words.Extent(cell.param, axis), environment_.entry.Wide(), width, false);
      cell.index = f_.Mul(width, cell.index, extent);
    }
    if (axis < flat) cell.index = f_.Add(width, cell.index, values_.Position(indices[axis], width));
  }
  if (flat < indices.size())
    cell.index = f_.Add(width, cell.index, f_.Resize(iteration_, environment_.entry.Wide(), width, false));
  if (!element.IsScalar()) {
    cell.index = f_.Mul(width, cell.index, f_.Int(width, element.Components()));
    cell.index = f_.Add(width, cell.index, f_.Int(width, component));
  }
  return cell;
}

void MemoryEmitter::EmitAccess(ir::Inst inst) {
  Id result = Access(inst);
  if (result != 0 && kernel_[inst].result_count != 0) values_.Bind(kernel_.Result(inst), result);
}

Id MemoryEmitter::Access(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  if (data.op != Op::Load) texel_of_ = ir::Inst();
  if (BaseOf(kernel_, inst) == BaseKind::Buffer &&
      environment_.entry.ImageOf(kernel_[kernel_.Operand(inst, 0)].number) != nullptr)
    return TexelAccess(inst);
  Cell cell = CellOf(inst);
  if (data.op == Op::Load) return Load(cell);
  std::vector<Id> operands = values_.GetAll(kernel_.AccessValues(inst));
  if (data.op == Op::Store) {
    Store(cell, operands[0]);
    return 0;
  }
  Op op = data.op == Op::AddTo ? Op::AtomicAdd : data.op;
  if (IsAtomicUpdate(kernel_, inst)) return AtomicUpdate(cell, op, operands);
  if (cell.common && data.op == Op::AddTo) {
    AtomicWay way = WayOf(op, cell.scalar, false, AtomicAbility());
    return atomics_.Update(way, {InArray(cell), 0, WordOfArray(cell.scalar)}, cell.scalar, op, operands);
  }
  Id old = Load(cell);
  Store(cell, atomics_.Combine(op, cell.scalar, old, operands));
  return old;
}

void MemoryEmitter::EmitAtomic(ir::Inst access, Op op, Id value) {
  AtomicUpdate(CellOf(access), op, std::span<const Id>(&value, 1));
}

Id MemoryEmitter::Read(const Place& place, Scalar scalar) {
  Id loaded = f_.Load(TypeOf(m_, place.storage), place.pointer, place.alignment);
  bool is_narrow = BytesOf(place.storage) < 4;
  if (IsFloat(place.storage))
    return is_narrow ? f_.Emit(spv::OpFConvert, m_.types.Float(32), {loaded}) : loaded;
  if (!is_narrow) return scalars_.FromBits(scalar, loaded);
  spv::Op widen = ir::IsSigned(scalar) ? spv::OpSConvert : spv::OpUConvert;
  Id wide = f_.Emit(widen, m_.types.Int(32), {loaded});
  return scalar == Scalar::I1 ? scalars_.FromBits(scalar, wide) : wide;
}

void MemoryEmitter::Write(const Place& place, Scalar scalar, Id value) {
  bool is_float = IsFloat(place.storage);
  if (!is_float) value = scalars_.ToBits(scalar, value);
  if (BytesOf(place.storage) < 4)
    value = f_.Emit(is_float ? spv::OpFConvert : spv::OpUConvert, TypeOf(m_, place.storage), {value});
  f_.Store(place.pointer, value, place.alignment);
}

/// An index of an access is signed; only of bytes can near memory have more than 2^31.
Place MemoryEmitter::PlaceOf(const Cell& cell, Storage storage) {
  bool many = storage == Storage::U8 && environment_.entry.ReachesByDescriptor();
  Id index = many ? f_.Resize(cell.index, cell.width, 64, false) : cell.index;
  return environment_.Element(cell.param, storage, index);
}

/// No device bounds accesses of such arrays. Code that is to run untrusted bounds them itself, in a form that
/// the loader looks for: the index is a constant, or the smaller of something and a constant.
Id MemoryEmitter::InArray(const Cell& cell) {
  Id index = cell.index;
  if (environment_.entry.addressing == Addressing::Alone && !m_.constants.IntegerOf(index)) {
    index = f_.Glsl(GLSLstd450UMin, m_.types.Int(32),
                    {f_.Resize(index, cell.width, 32, false), f_.Int(32, cell.length - 1)});
  }
  if (cell.common)
    return f_.Element(spv::StorageClassWorkgroup, TypeOf(m_, WordOfArray(cell.scalar)), cell.array, index);
  bool local = cell.kind == BaseKind::Local;
  return f_.Element(local ? spv::StorageClassFunction : spv::StorageClassPrivate,
                    scalars_.RegisterType(cell.scalar), cell.array, index);
}

Id MemoryEmitter::Load(const Cell& cell) {
  if (cell.common)
    return scalars_.FromBits(cell.scalar, f_.Load(TypeOf(m_, WordOfArray(cell.scalar)), InArray(cell), 0));
  if (cell.InArray()) return f_.Load(scalars_.RegisterType(cell.scalar), InArray(cell), 0);
  Storage storage = environment_.entry.StorageFor(cell.param, cell.scalar);
  return Read(PlaceOf(cell, storage), cell.scalar);
}

void MemoryEmitter::Store(const Cell& cell, Id value) {
  if (cell.common) return f_.Store(InArray(cell), scalars_.ToBits(cell.scalar, value), 0);
  if (cell.InArray()) return f_.Store(InArray(cell), value, 0);
  Storage storage = environment_.entry.StorageFor(cell.param, cell.scalar);
  Write(PlaceOf(cell, storage), cell.scalar, value);
}

Id MemoryEmitter::AtomicUpdate(const Cell& cell, Op op, std::span<const Id> operands) {
  AtomicWay way = WayOf(op, cell.scalar, IsCounts(kernel_, cell.param), context_.ability);
  switch (way) {
    case AtomicWay::Loop:
      if (cell.summed && op != Op::AtomicMul) {
        atomics_.Add(PlaceOf(cell, WordStorage(cell.scalar)), cell.scalar, op, operands[0],
                     environment_.entry.KeepsBindings());
        return 0;
      }
      [[fallthrough]];
    case AtomicWay::Word:
      return atomics_.Update(way, PlaceOf(cell, WordStorage(cell.scalar)), cell.scalar, op, operands);
    case AtomicWay::FloatAdd:
      return atomics_.Update(way, PlaceOf(cell, NaturalStorage(cell.scalar)), cell.scalar, op, operands);
    case AtomicWay::SubWord:
      return SubWordUpdate(cell, op, operands);
    case AtomicWay::Count: {
      Id low = f_.ShiftLeft(cell.width, cell.index, f_.Int(32, 1));
      Id high = f_.Add(cell.width, low, f_.Int(cell.width, 1));
      Place at_low = environment_.Element(cell.param, Storage::U32, low);
      Place at_high = environment_.Element(cell.param, Storage::U32, high);
      atomics_.UpdateCount(at_low, at_high, op, operands[0]);
      return 0;
    }
  }
  ADC_UNREACHABLE("a way of updating without an emission");
}

Id MemoryEmitter::SubWordUpdate(const Cell& cell, Op op, std::span<const Id> operands) {
  Id offset = AddressOf(cell);
  bool bound = !HasAddresses(environment_.entry.addressing);
  Place word =
      bound ? environment_.Element(cell.param, Storage::U32, f_.ShiftRight(64, offset, f_.Int(32, 2)))
            : environment_.blocks.AtAddress(Storage::U32, f_.And(64, offset, f_.Int(64, ~uint64_t{3})));
  Id byte = f_.And(32, f_.Resize(offset, 64, 32, false), f_.Int(32, 3));
  return atomics_.UpdateInWord(word, f_.Mul(32, byte, f_.Int(32, 8)), cell.scalar, op, operands);
}

Id MemoryEmitter::AddressOf(const Cell& cell) {
  Id offset = f_.Mul(64, f_.Resize(cell.index, cell.width, 64, false), f_.Int(64, ir::ByteSize(cell.scalar)));
  bool bound = !HasAddresses(environment_.entry.addressing);
  return bound ? offset : f_.Add(64, environment_.words.Address(cell.param), offset);
}

}  // namespace adc::codegen::spirv
