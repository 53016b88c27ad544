#include "codegen/spirv/sums.h"

#include "codegen/common/questions.h"
#include "support/check.h"

namespace adc::codegen::spirv {

using ir::Op, ir::Scalar;

namespace {

/// More would allow one workgroup at a time on devices that have the least that Vulkan asks for.
constexpr uint32_t kMostShared = 8u << 10;
/// Elements of which each is added up over the subgroup, where threads come to several: more of elements that
/// are parts of a word, whose threads wait for one another.
constexpr uint32_t kElements = 2, kElementsInWords = 4;

}  // namespace

Id SumEmitter::Accumulate(ir::Inst inst, Id total) {
  Id value = values_.Get(kernel_.AccessValues(inst)[0]);
  return memory_.atomics().Combine(kernel_[inst].op, sums_.sums[SumOf(inst)].scalar, total,
                                   std::span<const Id>(&value, 1));
}

spv::Op SumEmitter::Reduce(Reduction reduction, Scalar scalar) const {
  // Integers of 64 bits go by halves, and devices reduce no f16.
  if (environment_.entry.addressing == Addressing::Metal || scalar == Scalar::F16) return spv::OpNop;
  bool is_float = ir::IsFloat(scalar), is_signed = ir::IsSigned(scalar), truth = scalar == Scalar::I1;
  if (!is_float && RegisterWidth(scalar) == 64) return spv::OpNop;
  // clang-format off
  switch (reduction) {
    case Reduction::Add:
      if (truth) return spv::OpGroupNonUniformLogicalXor;
      return is_float ? spv::OpGroupNonUniformFAdd : spv::OpGroupNonUniformIAdd;
    case Reduction::Min:
      if (truth) return spv::OpGroupNonUniformLogicalAnd;
      if (is_float) return spv::OpGroupNonUniformFMin;
      return is_signed ? spv::OpGroupNonUniformSMin : spv::OpGroupNonUniformUMin;
    case Reduction::Max:
      if (truth) return spv::OpGroupNonUniformLogicalOr;
      if (is_float) return spv::OpGroupNonUniformFMax;
      return is_signed ? spv::OpGroupNonUniformSMax : spv::OpGroupNonUniformUMax;
    case Reduction::And: return truth ? spv::OpGroupNonUniformLogicalAnd : spv::OpGroupNonUniformBitwiseAnd;
    case Reduction::Or: return truth ? spv::OpGroupNonUniformLogicalOr : spv::OpGroupNonUniformBitwiseOr;
    case Reduction::Xor: return truth ? spv::OpGroupNonUniformLogicalXor : spv::OpGroupNonUniformBitwiseXor;
  }
  // clang-format on
  ADC_UNREACHABLE("kind of a reduction");
}

Id SumEmitter::Together(spv::Op how, Id type, Id value) {
  m_.AddCapability(spv::CapabilityGroupNonUniform);
  m_.AddCapability(spv::CapabilityGroupNonUniformArithmetic);
  return f_.Emit(how, type,
                 {f_.Int(32, spv::ScopeSubgroup), static_cast<uint32_t>(spv::GroupOperationReduce), value});
}

/// For translators as numbers 0 and 1: WGSL reduces no truths.
Id SumEmitter::TruthTogether(spv::Op how, Id truth) {
  if (!m_.IsForTranslators()) return Together(how, m_.types.Bool(), truth);
  spv::Op of_bits = how == spv::OpGroupNonUniformLogicalAnd  ? spv::OpGroupNonUniformBitwiseAnd
                    : how == spv::OpGroupNonUniformLogicalOr ? spv::OpGroupNonUniformBitwiseOr
                                                             : spv::OpGroupNonUniformBitwiseXor;
  Id bit = f_.Choose(m_.types.Int(32), truth, f_.Int(32, 1), f_.Int(32, 0));
  return f_.Compare(spv::OpINotEqual, WordTogether(of_bits, bit), f_.Int(32, 0));
}

/// A sum in three parts of which none can overflow but the last, where it does not matter: bits 0 to 15, 16
/// to 31, and the upper half. An extremum in two steps: of the upper halves, then of the lower halves that go
/// with that one.
Id SumEmitter::ReduceWide(Reduction reduction, Scalar scalar, Id total) {
  if (environment_.entry.addressing == Addressing::Metal) return 0;
  Id low = f_.Resize(total, 64, 32, false);
  Id high = f_.Resize(f_.ShiftRight(64, total, f_.Int(32, 32)), 64, 32, false);
  auto at = [&](Id word, uint32_t bit) {
    return f_.ShiftLeft(64, f_.Resize(word, 32, 64, false), f_.Int(32, bit));
  };
  if (reduction == Reduction::Add) {
    Id first = WordTogether(spv::OpGroupNonUniformIAdd, f_.And(32, low, f_.Int(32, 0xFFFF)));
    Id second = WordTogether(spv::OpGroupNonUniformIAdd, f_.ShiftRight(32, low, f_.Int(32, 16)));
    Id third = WordTogether(spv::OpGroupNonUniformIAdd, high);
    Id lower = f_.Resize(first, 32, 64, false);
    lower = f_.Add(64, lower, at(second, 16));
    return f_.Add(64, lower, at(third, 32));
  }
  bool is_max = reduction == Reduction::Max, is_signed = ir::IsSigned(scalar);
  if (!is_max && reduction != Reduction::Min) return 0;
  spv::Op bits = is_max ? spv::OpGroupNonUniformUMax : spv::OpGroupNonUniformUMin;
  spv::Op sign = is_max ? spv::OpGroupNonUniformSMax : spv::OpGroupNonUniformSMin;
  Id best = WordTogether(is_signed ? sign : bits, high);
  Id other = f_.Int(32, is_max ? 0 : UINT32_MAX);
  low = f_.Choose(m_.types.Int(32), f_.Compare(spv::OpIEqual, high, best), low, other);
  low = f_.Resize(WordTogether(bits, low), 32, 64, false);
  return f_.Add(64, low, at(best, 32));
}

/// In code that is to be translated: whether its number is the lowest one, since translators do not know
/// how one is elected.
Id SumEmitter::Leads() {
  if (!m_.IsForTranslators()) return Elected();
  Id own = environment_.invocations.NumberInSubgroup();
  return f_.Compare(spv::OpIEqual, own, WordTogether(spv::OpGroupNonUniformUMin, own));
}

SumEmitter::Partial SumEmitter::OverSubgroup(uint32_t sum, Partial own) {
  const PrivateSum& what = sums_.sums[sum];
  Scalar scalar = what.scalar;
  spv::Op reduce = Reduce(what.reduction, scalar);
  Id wide =
      !ir::IsFloat(scalar) && ir::BitWidth(scalar) == 64 ? ReduceWide(what.reduction, scalar, own.total) : 0;
  if (reduce == spv::OpNop && wide == 0) return own;
  Partial all;
  if (wide != 0) {
    all.total = wide;
  } else if (scalar == Scalar::I1) {
    all.total = TruthTogether(reduce, own.total);
  } else {
    Id type = scalars_.RegisterType(scalar);
    all.total = Together(reduce, type, f_.Here(type, own.total));
  }
  if (ir::BitWidth(scalar) < 32 && scalar != Scalar::I1) all.total = scalars_.Normalise(scalar, all.total);
  all.leads = Leads();
  if (own.touched != 0) all.touched = TruthTogether(spv::OpGroupNonUniformLogicalOr, own.touched);
  return all;
}

Id SumEmitter::AddOver(Scalar scalar, Id has, Id value) {
  Id type = scalars_.RegisterType(scalar);
  Id nothing = scalars_.Constant(scalar, StartOf(ir::Reduction::Add, scalar));
  value = f_.Choose(type, has, value, nothing);
  if (!ir::IsFloat(scalar) && ir::BitWidth(scalar) == 64) return ReduceWide(Reduction::Add, scalar, value);
  Id total = Together(Reduce(Reduction::Add, scalar), type, value);
  return ir::BitWidth(scalar) < 32 ? scalars_.Normalise(scalar, total) : total;
}

Id SumEmitter::PeersOf(std::pair<Id, uint32_t> element, Id left) {
  auto [number, width] = element;
  Id peers = left, word = m_.types.Int(32);
  for (uint32_t shift = 0; shift < width; shift += 32) {
    Id part = f_.Resize(f_.ShiftRight(width, number, f_.Int(32, shift)), width, 32, false);
    Id least = WordTogether(spv::OpGroupNonUniformUMin, f_.Choose(word, peers, part, f_.Int(32, UINT32_MAX)));
    peers = f_.Both(peers, f_.Compare(spv::OpIEqual, part, least));
  }
  return peers;
}

Id SumEmitter::ValueOf(ir::Inst sum) {
  Scalar scalar = UpdateScalar(kernel_, sum);
  Id value = values_.Get(kernel_.AccessValues(sum)[0]);
  return kernel_[sum].op == Op::AtomicSub ? scalars_.Emit(Op::Neg, scalar, scalar, {value}) : value;
}

Id SumEmitter::TotalOf(ir::Inst sum, Id active) {
  return AddOver(UpdateScalar(kernel_, sum), active, ValueOf(sum));
}

// At level k two runs of 2^k threads become one: threads whose bit k is 0 give the later run away, their
// partners the earlier one.
Id SumEmitter::TotalOfRuns(Scalar scalar, std::vector<Id> runs, Id place, Id size) {
  constexpr uint32_t kMostThreads = 128;  // of a subgroup
  m_.AddCapability(spv::CapabilityGroupNonUniformShuffle);
  Id type = scalars_.RegisterType(scalar);
  auto across = [&](Id value, uint32_t distance) {
    return f_.Emit(spv::OpGroupNonUniformShuffleXor, type,
                   {f_.Int(32, spv::ScopeSubgroup), value, f_.Int(32, distance)});
  };
  auto sum = [&](Id a, Id b) { return scalars_.Emit(Op::Add, scalar, scalar, {a, b}); };
  uint32_t distance = 1;
  for (; runs.size() != 1; distance *= 2) {
    Id takes_later = f_.Compare(spv::OpINotEqual, f_.And(32, place, f_.Int(32, distance)), f_.Int(32, 0));
    for (size_t n = 0; n < runs.size() / 2; ++n) {
      Id earlier = runs[2 * n], later = runs[2 * n + 1];
      Id given = f_.Choose(type, takes_later, earlier, later);
      runs[n] = sum(f_.Choose(type, takes_later, later, earlier), across(given, distance));
    }
    runs.resize(runs.size() / 2);
  }
  Id nothing = scalars_.Constant(scalar, StartOf(Reduction::Add, scalar));
  for (; distance < kMostThreads; distance *= 2) {
    Id is_there = f_.Compare(spv::OpULessThan, f_.Int(32, distance), size);
    runs[0] = sum(runs[0], f_.Choose(type, is_there, across(runs[0], distance), nothing));
  }
  return runs[0];
}

void SumEmitter::AddTogether(std::span<const ir::Inst> sums, Id active, bool one_cell) {
  Scalar scalar = UpdateScalar(kernel_, sums[0]);
  std::vector<Id> values;
  for (ir::Inst sum : sums) values.push_back(ValueOf(sum));
  uint32_t rounds = one_cell ? 1 : ir::ByteSize(scalar) < 4 ? kElementsInWords : kElements;
  // Registers of f16 are those of f32: the update rounds once.
  if (scalar == Scalar::F16) scalar = Scalar::F32;
  auto update = [&](Id condition, std::span<const Id> by) {
    f_.When(condition, [&] {
      for (size_t n = 0; n < sums.size(); ++n) memory_.EmitAtomic(sums[n], Op::AtomicAdd, by[n]);
    });
  };
  Id number = environment_.invocations.NumberInSubgroup(), none = f_.Int(32, UINT32_MAX);
  Id left = active;
  for (uint32_t round = 0; round < rounds; ++round) {
    Id peers = one_cell ? active : PeersOf(memory_.NumberOf(sums[0]), left);
    Id own = f_.Choose(m_.types.Int(32), peers, number, none);
    Id first = WordTogether(spv::OpGroupNonUniformUMin, own);
    std::vector<Id> totals;
    for (Id value : values) totals.push_back(AddOver(scalar, peers, value));
    update(f_.Compare(spv::OpIEqual, number, first), totals);
    left = f_.Both(left, f_.Not(peers));
  }
  if (!one_cell) update(left, values);
}

std::vector<SumEmitter::Left> SumEmitter::LeftOf(std::vector<Partial>& partials, bool by_subgroup) {
  std::vector<Left> left;
  for (uint32_t sum = 0; sum < partials.size(); ++sum) {
    Partial& partial = partials[sum];
    if ((partial.leads != 0) != by_subgroup) continue;
    Scalar scalar = sums_.sums[sum].scalar;
    Op op = sums_.sums[sum].update;
    left.push_back({&partial.total, scalars_.RegisterType(scalar), [this, op, scalar](Id a, Id b) {
                      return memory_.atomics().Combine(op, scalar, a, std::span<const Id>(&b, 1));
                    }});
    if (partial.touched == 0) continue;
    left.push_back({&partial.touched, m_.types.Bool(),
                    [this](Id a, Id b) { return f_.Emit(spv::OpLogicalOr, m_.types.Bool(), {a, b}); }});
  }
  return left;
}

void SumEmitter::Collect(std::span<const Left> left, std::span<const Id> variables, Id count) {
  Id one = f_.Int(32, 1);
  auto at = [&](size_t n, Id place) {
    Id type = left[n].type;
    return f_.Load(type, f_.Element(spv::StorageClassWorkgroup, type, variables[n], place), 0);
  };
  std::vector<Id> first;
  for (size_t n = 0; n < left.size(); ++n) first.push_back(at(n, f_.Int(32, 0)));
  Loop loop(f_);
  OpenPhi place = loop.Phi(m_.types.Int(32), one);
  std::vector<OpenPhi> totals;
  for (size_t n = 0; n < left.size(); ++n) totals.push_back(loop.Phi(left[n].type, first[n]));
  loop.EndHeader(f_.Compare(spv::OpULessThan, place.id, count));
  std::vector<Id> next;
  for (size_t n = 0; n < left.size(); ++n) next.push_back(left[n].combine(totals[n].id, at(n, place.id)));
  loop.BeginNext();
  loop.Close(place, f_.Add(32, place.id, one));
  for (size_t n = 0; n < left.size(); ++n) loop.Close(totals[n], next[n]);
  loop.End();
  for (size_t n = 0; n < left.size(); ++n) *left[n].value = totals[n].id;
}

void SumEmitter::UpdateOverBlock(std::vector<Partial>& partials) {
  Id invocation = environment_.invocations.InvocationInBlock();
  std::vector<Id> variables[2];
  std::vector<Left> left[2] = {LeftOf(partials, false), LeftOf(partials, true)};
  for (bool by_subgroup : {false, true}) {
    if (left[by_subgroup].empty()) continue;
    Id place = by_subgroup ? environment_.invocations.SubgroupInBlock() : invocation;
    auto leave = [&] {
      for (const Left& what : left[by_subgroup]) {
        Id variable = environment_.entry.Shared(what.type, block_size_);
        variables[by_subgroup].push_back(variable);
        f_.Store(f_.Element(spv::StorageClassWorkgroup, what.type, variable, place), *what.value, 0);
      }
    };
    if (by_subgroup) {
      f_.When(Elected(), leave);
    } else {
      leave();
    }
  }
  f_.Do(spv::OpControlBarrier,
        {f_.Int(32, spv::ScopeWorkgroup), f_.Int(32, spv::ScopeWorkgroup),
         f_.Int(32, spv::MemorySemanticsAcquireReleaseMask | spv::MemorySemanticsWorkgroupMemoryMask)});
  f_.When(f_.Compare(spv::OpIEqual, invocation, f_.Int(32, 0)), [&] {
    if (!left[false].empty()) Collect(left[false], variables[false], f_.Int(32, block_size_));
    if (!left[true].empty())
      Collect(left[true], variables[true], environment_.invocations.SubgroupsOfBlock());
    for (Partial& partial : partials) partial.leads = 0;
    UpdateCells(partials);
  });
}

void SumEmitter::UpdateCells(std::span<const Partial> partials) {
  for (uint32_t sum = 0; sum < partials.size(); ++sum) {
    const Partial& partial = partials[sum];
    auto update = [&] { memory_.EmitAtomic(sums_.sums[sum].first, sums_.sums[sum].update, partial.total); };
    bool both = partial.leads != 0 && partial.touched != 0;
    Id one = partial.leads != 0 ? partial.leads : partial.touched;
    Id updates = both ? f_.Both(partial.leads, partial.touched) : one;
    if (updates != 0) {
      f_.When(updates, update);
    } else {
      update();
    }
  }
}

void SumEmitter::UpdateAll(std::span<const Id> totals, std::span<const Id> touched) {
  std::vector<Partial> partials;
  uint32_t bytes = 0;
  for (uint32_t sum = 0; sum < totals.size(); ++sum) {
    partials.push_back(OverSubgroup(sum, {totals[sum], touched[sum]}));
    bytes +=
        block_size_ * ((ir::BitWidth(sums_.sums[sum].scalar) == 64 ? 8 : 4) + (touched[sum] != 0 ? 4 : 0));
  }
  bool over_block = environment_.entry.context.HasAddresses() && !partials.empty() && bytes <= kMostShared;
  if (!over_block) return UpdateCells(partials);
  shared_bytes_ = bytes;
  UpdateOverBlock(partials);
}

}  // namespace adc::codegen::spirv
