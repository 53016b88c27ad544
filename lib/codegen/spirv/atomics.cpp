#include "codegen/spirv/atomics.h"

#include "artifact/gpu_abi.h"
#include "ir/number.h"
#include "ir/reduction.h"
#include "support/check.h"

namespace adc::codegen::spirv {

using ir::Op, ir::Scalar;

namespace {

/// The instruction that updates an integer of the width of a word by one value.
spv::Op WordInstruction(Op update, bool is_signed) {
  // clang-format off
  switch (ir::In<ir::UpdateOp>(update)) {
    using enum ir::UpdateOp;
    case AtomicAdd: case AddTo: return spv::OpAtomicIAdd;
    case AtomicSub: return spv::OpAtomicISub;
    case AtomicMin: return is_signed ? spv::OpAtomicSMin : spv::OpAtomicUMin;
    case AtomicMax: return is_signed ? spv::OpAtomicSMax : spv::OpAtomicUMax;
    case AtomicAnd: return spv::OpAtomicAnd;
    case AtomicOr: return spv::OpAtomicOr;
    case AtomicXor: return spv::OpAtomicXor;
    case AtomicExchange: return spv::OpAtomicExchange;
    case AtomicMul: case AtomicCompareExchange: case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("update of a word");
}

}  // namespace

Id AtomicEmitter::Combine(Op op, Scalar scalar, Id old, std::span<const Id> operands) {
  if (std::optional<Op> combined = ir::CombinedBy(op, scalar))
    return scalars_.Emit(*combined, scalar, scalar, {old, operands[0]});
  if (op != Op::AtomicCompareExchange) return operands[0];
  Id before = scalars_.ToBits(scalar, old), expected = scalars_.ToBits(scalar, operands[0]);
  Id equal = f_.Compare(spv::OpIEqual, before, expected);
  return f_.Choose(scalars_.RegisterType(scalar), equal, operands[1], old);
}

Id AtomicEmitter::Update(AtomicWay way, const Place& place, Scalar scalar, Op op,
                         std::span<const Id> operands) {
  if (way == AtomicWay::FloatAdd) return FloatAdd(place, scalar, op, operands[0]);
  if (place.storage == Storage::U64) m_.AddCapability(spv::CapabilityInt64Atomics);
  if (way == AtomicWay::Word) return WordUpdate(place, scalar, op, operands);
  ADC_CHECK(way == AtomicWay::Loop, "an update that is made on a part of a word");
  // The bits are compared, so that a NaN in the element cannot keep the loop going.
  Id seen = Retry(place, [&](Id word) {
    return scalars_.ToBits(scalar, Combine(op, scalar, scalars_.FromBits(scalar, word), operands));
  });
  return scalars_.FromBits(scalar, seen);
}

void AtomicEmitter::Add(const Place& place, Scalar scalar, Op op, Id value, bool keep_bindings) {
  if (place.storage == Storage::U64) m_.AddCapability(spv::CapabilityInt64Atomics);
  if (op == Op::AtomicSub) value = f_.Emit(spv::OpFNegate, scalars_.RegisterType(scalar), {value});
  // In vectors of 256 bits without AVX-512 the LLVM of llvmpipe has no instruction for what exchanges of 64
  // bits become, and ends the process.
  if (scalar != Scalar::F64 || keep_bindings) return AddByExchange(place, scalar, value);
  f_.Either(
      m_.constants.SpecializedBool(ADRT_VULKAN_LLVMPIPE),
      [&] { Retry(place, [&](Id word) { return SumWith(scalar, word, value); }); },
      [&] { AddByExchange(place, scalar, value); });
}

Id AtomicEmitter::SumWith(Scalar scalar, Id word, Id value) {
  Id old = scalars_.FromBits(scalar, word);
  return scalars_.ToBits(scalar, scalars_.Emit(Op::Add, scalar, scalar, {old, value}));
}

/// One compare-exchange, which is enough where threads seldom meet. Where it fails, a thread takes what is in
/// the element and leaves the zero that adds nothing, puts the sum there, and goes on with what another
/// thread has put there in between:
///
///   do value = exchange(cell, exchange(cell, -0.0) + value); while (value is not -0.0);
///
/// Nothing is lost, since each step replaces what it takes away. With a compare-exchange one of all threads
/// at a cell succeeds in a turn, and all others have to come again; here about half of them are done after
/// each turn.
void AtomicEmitter::AddByExchange(const Place& place, Scalar scalar, Id value) {
  Id type = TypeOf(m_, place.storage), scope = f_.Int(32, spv::ScopeDevice), relaxed = f_.Int(32, 0);
  auto exchange = [&](Id word) {
    return f_.Emit(spv::OpAtomicExchange, type, {place.pointer, scope, relaxed, word});
  };
  Id seen = f_.Emit(spv::OpAtomicLoad, type, {place.pointer, scope, relaxed});
  Id got = f_.Emit(spv::OpAtomicCompareExchange, type,
                   {place.pointer, scope, relaxed, relaxed, SumWith(scalar, seen, value), seen});
  f_.When(f_.Compare(spv::OpINotEqual, got, seen), [&] {
    Id nothing = f_.Int(ir::BitWidth(scalar), ir::FloatToBits(scalar, -0.0));
    Id first = scalars_.ToBits(scalar, value);
    Loop loop(f_, /*one_block=*/true);
    OpenPhi left = loop.Phi(type, first);
    Id taken = exchange(nothing);
    Id other = exchange(SumWith(scalar, taken, scalars_.FromBits(scalar, left.id)));
    Id put = f_.Compare(spv::OpIEqual, other, nothing);
    loop.Close(left, f_.Here(type, other));
    loop.EndTurn(put);
  });
}

Id AtomicEmitter::WordUpdate(const Place& place, Scalar scalar, Op op, std::span<const Id> operands) {
  Id type = TypeOf(m_, place.storage), scope = f_.Int(32, spv::ScopeDevice), relaxed = f_.Int(32, 0);
  // Floats are exchanged and compared by their bits, as in hardware: the zeros differ, a NaN equals itself.
  Id value = scalars_.ToBits(scalar, operands[0]);
  if (op == Op::AtomicCompareExchange) {
    Id desired = scalars_.ToBits(scalar, operands[1]);
    return scalars_.FromBits(scalar, f_.Emit(spv::OpAtomicCompareExchange, type,
                                             {place.pointer, scope, relaxed, relaxed, desired, value}));
  }
  spv::Op instruction = WordInstruction(op, ir::IsSigned(scalar));
  return scalars_.FromBits(scalar, f_.Emit(instruction, type, {place.pointer, scope, relaxed, value}));
}

Id AtomicEmitter::FloatAdd(const Place& place, Scalar scalar, Op op, Id value) {
  m_.AddExtension("SPV_EXT_shader_atomic_float_add");
  m_.AddCapability(scalar == Scalar::F64 ? spv::CapabilityAtomicFloat64AddEXT
                                         : spv::CapabilityAtomicFloat32AddEXT);
  Id type = scalars_.RegisterType(scalar);
  if (op == Op::AtomicSub) value = f_.Emit(spv::OpFNegate, type, {value});
  return f_.Emit(spv::OpAtomicFAddEXT, type,
                 {place.pointer, f_.Int(32, spv::ScopeDevice), f_.Int(32, 0), value});
}

template <class Next>
Id AtomicEmitter::Retry(const Place& place, Next next) {
  Id type = TypeOf(m_, place.storage), scope = f_.Int(32, spv::ScopeDevice), relaxed = f_.Int(32, 0);
  Id first = f_.Emit(spv::OpAtomicLoad, type, {place.pointer, scope, relaxed});
  Loop loop(f_, /*one_block=*/true);
  OpenPhi seen = loop.Phi(type, first);
  Id desired = next(seen.id);
  Id got =
      f_.Emit(spv::OpAtomicCompareExchange, type, {place.pointer, scope, relaxed, relaxed, desired, seen.id});
  Id replaced = f_.Compare(spv::OpIEqual, got, seen.id);
  loop.Close(seen, f_.Here(type, got));
  loop.EndTurn(replaced);
  return seen.id;
}

Id AtomicEmitter::UpdateInWord(const Place& place, Id shift, Scalar scalar, Op op,
                               std::span<const Id> operands) {
  Id word = m_.types.Int(32);
  Id mask = f_.Int(32, (1u << (8 * ir::ByteSize(scalar))) - 1);
  auto element_of = [&](Id seen) {
    return scalars_.FromBits(scalar, f_.And(32, f_.ShiftRight(32, seen, shift), mask));
  };
  Id seen = Retry(place, [&](Id old_word) {
    Id value = Combine(op, scalar, element_of(old_word), operands);
    Id bits = f_.And(32, scalars_.ToBits(scalar, value), mask);
    Id others = f_.Emit(spv::OpNot, word, {f_.ShiftLeft(32, mask, shift)});
    return f_.Emit(spv::OpBitwiseOr, word, {f_.And(32, old_word, others), f_.ShiftLeft(32, bits, shift)});
  });
  return element_of(seen);
}

/// A sum carries from the lower half to the upper one: the thread that makes the lower half wrap adds the
/// one, in any order. The largest of several counts is taken half by half: that is exact below 2^32, and
/// never too small above. Most threads find a largest count high enough, and only read.
void AtomicEmitter::UpdateCount(const Place& low_half, const Place& high_half, Op op, Id value) {
  ADC_CHECK(op == Op::AtomicAdd || op == Op::AtomicMax, "counts are added to and raised");
  Id word = m_.types.Int(32), zero = f_.Int(32, 0);
  Id scope = f_.Int(32, spv::ScopeDevice), relaxed = f_.Int(32, 0);
  Id low = f_.Resize(value, 64, 32, false);
  Id high = f_.Resize(f_.ShiftRight(64, value, f_.Int(32, 32)), 64, 32, false);
  auto update = [&](spv::Op how, const Place& place, Id by) {
    return f_.Emit(how, word, {place.pointer, scope, relaxed, by});
  };
  if (op == Op::AtomicAdd) {
    Id before = update(spv::OpAtomicIAdd, low_half, low);
    Id carries = f_.Compare(spv::OpULessThan, f_.Add(32, before, low), before);
    Id more = f_.Add(32, high, f_.Choose(word, carries, f_.Int(32, 1), zero));
    f_.When(f_.Compare(spv::OpINotEqual, more, zero), [&] { update(spv::OpAtomicIAdd, high_half, more); });
    return;
  }
  f_.When(f_.Compare(spv::OpSGreaterThan, value, f_.Int(64, 0)), [&] {
    Id known = f_.Emit(spv::OpAtomicLoad, word, {low_half.pointer, scope, relaxed});
    f_.When(f_.Compare(spv::OpUGreaterThan, low, known), [&] { update(spv::OpAtomicUMax, low_half, low); });
    f_.When(f_.Compare(spv::OpINotEqual, high, zero), [&] { update(spv::OpAtomicUMax, high_half, high); });
  });
}

}  // namespace adc::codegen::spirv
