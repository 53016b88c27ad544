#include "codegen/spirv/sums.h"

#include "support/check.h"

namespace adc::codegen::spirv {

using ir::Op;
using ir::Scalar;

Id SumEmitter::Accumulate(ir::Inst inst, Id total) {
  Op op = kernel_[inst].op == Op::AddTo ? Op::AtomicAdd : kernel_[inst].op;
  Id value = values_.Get(kernel_.AccessValues(inst)[0]);
  return memory_.atomics().Combine(op, sums_.sums[SumOf(inst)].scalar, total, std::span<const Id>(&value, 1));
}

spv::Op SumEmitter::Reduce(Reduction reduction, Scalar scalar) const {
  // Integers of 64 bits go by halves, and devices reduce no f16.
  if (environment_.addressing() == Addressing::Metal || scalar == Scalar::F16) return spv::OpNop;
  bool is_float = ir::IsFloat(scalar), is_signed = ir::IsSigned(scalar);
  if (!is_float && RegisterWidth(scalar) == 64) return spv::OpNop;
  bool truth = scalar == Scalar::I1;
  switch (reduction) {
    case Reduction::Add:
      return truth      ? spv::OpGroupNonUniformLogicalXor
             : is_float ? spv::OpGroupNonUniformFAdd
                        : spv::OpGroupNonUniformIAdd;
    case Reduction::Min:
      if (truth) return spv::OpGroupNonUniformLogicalAnd;
      return is_float    ? spv::OpGroupNonUniformFMin
             : is_signed ? spv::OpGroupNonUniformSMin
                         : spv::OpGroupNonUniformUMin;
    case Reduction::Max:
      if (truth) return spv::OpGroupNonUniformLogicalOr;
      return is_float    ? spv::OpGroupNonUniformFMax
             : is_signed ? spv::OpGroupNonUniformSMax
                         : spv::OpGroupNonUniformUMax;
    case Reduction::And:
      return truth ? spv::OpGroupNonUniformLogicalAnd : spv::OpGroupNonUniformBitwiseAnd;
    case Reduction::Or:
      return truth ? spv::OpGroupNonUniformLogicalOr : spv::OpGroupNonUniformBitwiseOr;
    case Reduction::Xor:
      return truth ? spv::OpGroupNonUniformLogicalXor : spv::OpGroupNonUniformBitwiseXor;
  }
  ADC_UNREACHABLE("kind of a reduction");
}

Id SumEmitter::Together(spv::Op how, uint32_t width, Id value) {
  return f_.Emit(how, m_.IntType(width),
                 {f_.Int(32, spv::ScopeSubgroup), static_cast<uint32_t>(spv::GroupOperationReduce), value});
}

/// A sum in three parts of which none can overflow but the last, where it does not matter: bits 0 to 15, 16
/// to 31, and the upper half. An extremum in two steps: of the upper halves, then of the lower halves that go
/// with that one.
Id SumEmitter::ReduceWide(Reduction reduction, Scalar scalar, Id total) {
  if (environment_.addressing() == Addressing::Metal) return 0;
  Id low = f_.Resize(total, 64, 32, false);
  Id high = f_.Resize(f_.ShiftRight(64, total, f_.Int(32, 32)), 64, 32, false);
  auto at = [&](Id word, uint32_t bit) {
    return f_.ShiftLeft(64, f_.Resize(word, 32, 64, false), f_.Int(32, bit));
  };
  if (reduction == Reduction::Add) {
    Id first = Together(spv::OpGroupNonUniformIAdd, 32, f_.And(32, low, f_.Int(32, 0xFFFF)));
    Id second = Together(spv::OpGroupNonUniformIAdd, 32, f_.ShiftRight(32, low, f_.Int(32, 16)));
    Id third = Together(spv::OpGroupNonUniformIAdd, 32, high);
    return f_.Add(64, f_.Add(64, f_.Resize(first, 32, 64, false), at(second, 16)), at(third, 32));
  }
  bool is_max = reduction == Reduction::Max, is_signed = ir::IsSigned(scalar);
  if (!is_max && reduction != Reduction::Min) return 0;
  spv::Op bits = is_max ? spv::OpGroupNonUniformUMax : spv::OpGroupNonUniformUMin;
  spv::Op sign = is_max ? spv::OpGroupNonUniformSMax : spv::OpGroupNonUniformSMin;
  Id best = Together(is_signed ? sign : bits, 32, high);
  Id other = f_.Int(32, is_max ? 0 : UINT32_MAX);
  low = f_.Choose(m_.IntType(32), f_.Compare(spv::OpIEqual, high, best), low, other);
  return f_.Add(64, f_.Resize(Together(bits, 32, low), 32, 64, false), at(best, 32));
}

void SumEmitter::Update(uint32_t sum, Id total, Id touched) {
  const PrivateSum& what = sums_.sums[sum];
  Scalar scalar = what.scalar;
  spv::Op reduce = Reduce(what.reduction, scalar);
  Id updates = touched;
  Id wide =
      !ir::IsFloat(scalar) && ir::BitWidth(scalar) == 64 ? ReduceWide(what.reduction, scalar, total) : 0;
  if (reduce != spv::OpNop || wide != 0) {
    m_.AddCapability(spv::CapabilityGroupNonUniform);
    m_.AddCapability(spv::CapabilityGroupNonUniformArithmetic);
    Id subgroup = f_.Int(32, spv::ScopeSubgroup);
    constexpr auto kReduce = static_cast<uint32_t>(spv::GroupOperationReduce);
    total = wide != 0 ? wide : f_.Emit(reduce, scalars_.RegisterType(scalar), {subgroup, kReduce, total});
    if (ir::BitWidth(scalar) < 32 && scalar != Scalar::I1) total = scalars_.Normalise(scalar, total);
    updates = f_.Emit(spv::OpGroupNonUniformElect, m_.BoolType(), {subgroup});
    if (touched != 0) {
      Id any = f_.Emit(spv::OpGroupNonUniformLogicalOr, m_.BoolType(), {subgroup, kReduce, touched});
      updates = f_.Emit(spv::OpLogicalAnd, m_.BoolType(), {updates, any});
    }
  }
  Id update = m_.NewId(), updated = m_.NewId();
  if (updates != 0) {
    f_.Select(updates, update, updated, updated);
    f_.Start(update);
  }
  memory_.EmitAtomic(what.first, what.Atomic(), total);
  if (updates != 0) {
    f_.Branch(updated);
    f_.Start(updated);
  }
}

}  // namespace adc::codegen::spirv
