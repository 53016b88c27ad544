// Atomic operations: on numbers of storage buffers, of memory that a workgroup shares, and of images.

#include <algorithm>

#include "diag/errors/shader.h"
#include "frontend/spirv/operations.h"

namespace adc::frontend::spirv {

namespace {

/// An operation of SPIR-V whose operand 3 is the value, and the atomic of the IR that it is.
struct Update {
  spv::Op operation;
  ir::Op op;
  enum class Order : uint8_t { Any, Signed, Unsigned } order = Order::Any;  ///< how it compares integers
};

constexpr Update kUpdates[] = {
    {spv::OpAtomicStore, ir::Op::AtomicExchange},
    {spv::OpAtomicExchange, ir::Op::AtomicExchange},
    {spv::OpAtomicIAdd, ir::Op::AtomicAdd},
    {spv::OpAtomicFAddEXT, ir::Op::AtomicAdd},
    {spv::OpAtomicISub, ir::Op::AtomicSub},
    {spv::OpAtomicSMin, ir::Op::AtomicMin, Update::Order::Signed},
    {spv::OpAtomicUMin, ir::Op::AtomicMin, Update::Order::Unsigned},
    {spv::OpAtomicFMinEXT, ir::Op::AtomicMin},
    {spv::OpAtomicSMax, ir::Op::AtomicMax, Update::Order::Signed},
    {spv::OpAtomicUMax, ir::Op::AtomicMax, Update::Order::Unsigned},
    {spv::OpAtomicFMaxEXT, ir::Op::AtomicMax},
    {spv::OpAtomicAnd, ir::Op::AtomicAnd},
    {spv::OpAtomicOr, ir::Op::AtomicOr},
    {spv::OpAtomicXor, ir::Op::AtomicXor},
};

}  // namespace

/// The object of an atomic operation: a number of a storage buffer, or of memory that a workgroup shares.
Operations::Place Operations::AtomicPlace(const Instruction& inst) {
  Pointer p = GetPointer(inst.At(0), inst);
  if (p.kind == Pointer::Kind::Handle) return TexelPlace(p, inst);
  bool in_buffer =
      p.kind == Pointer::Kind::Memory && p.resource->kind == ir::ShaderBinding::Kind::StorageBuffer;
  if (!in_buffer && p.kind != Pointer::Kind::Local)
    Refuse(diag::E0855, inst.span, "an atomic operation on memory other than a storage buffer");
  Require(types_.IsRegister(p.pointee) && types_.Register(p.pointee).IsScalar(), inst,
          "an atomic operation on something other than a number");
  if (in_buffer) return NumberAt(p, inst);
  if (p.column || p.component)
    Refuse(diag::E0855, inst.span, "an atomic operation on a component of a local vector",
           "declare an array of numbers");
  Place place;
  place.array = p.local->leaves[p.leaf].array;
  place.scalar = types_.Register(p.pointee).scalar;
  place.indices = {ValueOf(p.element)};
  return place;
}

/// The result of `access`, which is left out and gives 0 if the place lies outside of its image.
ir::Value Operations::Inside(const Place& place, const std::function<ir::Value()>& access) {
  if (!place.inside.Valid()) return access();
  ir::Type type = ir::Type::Of(place.Scalar());
  return b_.Choose(place.inside, type, access, [&] { return b_.Zero(type); });
}

void Operations::Atomic(const Instruction& inst) {
  Place place = AtomicPlace(inst);
  if (place.unit != nullptr && place.unit->float_words)
    Refuse(diag::E0854, inst.span, "an atomic operation on words whose adjoint as floats is asked for",
           "declare a buffer of floats, or another one for these words");
  ir::Type type = types_.Register(GetPointer(inst.At(0), inst).pointee);
  ir::Scalar element = place.Scalar();
  auto access = [&](ir::Op op, std::initializer_list<ir::Value> values) {
    std::vector<ir::Value> memory;
    for (ir::Value value : values) memory.push_back(ToMemory(value, element));
    ir::Value old = Inside(place, [&] {
      return b_.Access(op, place.Base(), place.indices, memory, ir::kNoAttr, place.component);
    });
    if (inst.result != 0) SetOne(inst, FromMemory(old));
  };
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpAtomicLoad:
      SetOne(inst, FromMemory(Inside(place, [&] {
               return b_.Load(place.Base(), place.indices, ir::kNoAttr, place.component);
             })));
      return;
    case spv::OpAtomicCompareExchange:
      access(ir::Op::AtomicCompareExchange, {GetOne(inst.At(5)), GetOne(inst.At(4))});
      return;
    case spv::OpAtomicIIncrement:
      access(ir::Op::AtomicAdd, {b_.Int(type, 1)});
      return;
    case spv::OpAtomicIDecrement:
      access(ir::Op::AtomicSub, {b_.Int(type, 1)});
      return;
    default:
      break;
  }
  const Update* update = std::ranges::find(kUpdates, inst.op, &Update::operation);
  if (update == std::end(kUpdates))
    Refuse(diag::E0854, inst.span, "an atomic operation that kernels do not have");
  // min and max compare as the element's type does, whatever the opcode says.
  bool fits = update->order == Update::Order::Any || ir::IsFloat(element) ||
              ir::IsSigned(element) == (update->order == Update::Order::Signed);
  if (!fits)
    Refuse(diag::E0854, inst.span, "an atomic minimum or maximum of another signedness than the buffer's",
           "declare the buffer with the type that is compared");
  access(update->op, {GetOne(inst.At(3))});
}

}  // namespace adc::frontend::spirv
