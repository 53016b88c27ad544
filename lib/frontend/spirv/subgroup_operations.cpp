// The operations of subgroups, and the built-in inputs that number their invocations.

#include <algorithm>
#include <limits>

#include "diag/errors/shader.h"
#include "frontend/spirv/invocations.h"

namespace adc::frontend::spirv {

namespace {

/// How an operation of SPIR-V combines values, and of which values it makes no difference.
struct Combination {
  spv::Op from;
  ir::Op op;
  enum class Identity : uint8_t { Zero, One, AllBits, Least, Most } identity;
  bool is_unsigned = false;
};

constexpr Combination kCombinations[] = {
    {spv::OpGroupNonUniformIAdd, ir::Op::Add, Combination::Identity::Zero},
    {spv::OpGroupNonUniformFAdd, ir::Op::Add, Combination::Identity::Zero},
    {spv::OpGroupNonUniformIMul, ir::Op::Mul, Combination::Identity::One},
    {spv::OpGroupNonUniformFMul, ir::Op::Mul, Combination::Identity::One},
    {spv::OpGroupNonUniformSMin, ir::Op::Min, Combination::Identity::Most},
    {spv::OpGroupNonUniformFMin, ir::Op::Min, Combination::Identity::Most},
    {spv::OpGroupNonUniformUMin, ir::Op::Min, Combination::Identity::Most, true},
    {spv::OpGroupNonUniformSMax, ir::Op::Max, Combination::Identity::Least},
    {spv::OpGroupNonUniformFMax, ir::Op::Max, Combination::Identity::Least},
    {spv::OpGroupNonUniformUMax, ir::Op::Max, Combination::Identity::Least, true},
    {spv::OpGroupNonUniformBitwiseAnd, ir::Op::And, Combination::Identity::AllBits},
    {spv::OpGroupNonUniformLogicalAnd, ir::Op::And, Combination::Identity::AllBits},
    {spv::OpGroupNonUniformBitwiseOr, ir::Op::Or, Combination::Identity::Zero},
    {spv::OpGroupNonUniformLogicalOr, ir::Op::Or, Combination::Identity::Zero},
    {spv::OpGroupNonUniformBitwiseXor, ir::Op::Xor, Combination::Identity::Zero},
    {spv::OpGroupNonUniformLogicalXor, ir::Op::Xor, Combination::Identity::Zero},
};

ir::Value IdentityOf(ir::Builder& b, ir::Type scalar, Combination::Identity identity) {
  using Identity = Combination::Identity;
  bool is_float = scalar.IsFloat();
  switch (identity) {
    case Identity::Zero:
      return b.Zero(scalar);
    case Identity::One:
      return is_float ? b.Float(scalar, 1.0) : b.Int(scalar, 1);
    case Identity::AllBits:
      return b.Int(scalar, -1);
    case Identity::Least:
    case Identity::Most:
      break;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  bool least = identity == Identity::Least;
  if (is_float) return b.Float(scalar, least ? -kInfinity : kInfinity);
  uint64_t most = ~uint64_t{0} >> (ir::IsSigned(scalar.scalar) ? 65 - ir::BitWidth(scalar.scalar) : 0);
  return b.Int(scalar, static_cast<int64_t>(least ? ~most : most));
}

}  // namespace

SubgroupBuilder Invocations::Subgroup() {
  uint32_t size = local_size_[0] * local_size_[1] * local_size_[2];
  return {b_, local_index_, size,
          [this, size](ir::Type type) { return Slot(type, size, {ir::Word::Shared}); }};
}

/// The bits of the lanes that stand in a relation to the own one, as a ballot.
ir::Value Invocations::LaneMask(uint32_t builtin) {
  ir::Value lane = Subgroup().Lane();
  ir::Value own = b_.Make(ir::Op::Shl, {b_.I32(1), lane});
  ir::Value below = b_.Make(ir::Op::Sub, {own, b_.I32(1)});
  ir::Value bits = builtin == spv::BuiltInSubgroupEqMask   ? own
                   : builtin == spv::BuiltInSubgroupLtMask ? below
                   : builtin == spv::BuiltInSubgroupLeMask ? b_.Make(ir::Op::Or, {own, below})
                   : builtin == spv::BuiltInSubgroupGeMask
                       ? b_.Make(ir::Op::Not, {below})
                       : b_.Make(ir::Op::Not, {b_.Make(ir::Op::Or, {own, below})});
  return BallotOf(bits);
}

ir::Value Invocations::BallotOf(ir::Value bits) {
  ir::Value zero = b_.I32(0);
  return b_.MakeVector(std::array{bits, zero, zero, zero});
}

std::optional<ir::Value> Invocations::SubgroupBuiltin(uint32_t builtin) {
  switch (builtin) {
    case spv::BuiltInSubgroupSize:
      return b_.I32(kSubgroupSize);
    case spv::BuiltInSubgroupLocalInvocationId:
      return Subgroup().Lane();
    case spv::BuiltInSubgroupId:
      return Subgroup().Number();
    case spv::BuiltInNumSubgroups:
      return Subgroup().Count();
    case spv::BuiltInSubgroupEqMask:
    case spv::BuiltInSubgroupGeMask:
    case spv::BuiltInSubgroupGtMask:
    case spv::BuiltInSubgroupLeMask:
    case spv::BuiltInSubgroupLtMask:
      return LaneMask(builtin);
    default:
      return std::nullopt;
  }
}

/// A sum, minimum and the like: over all, over clusters, or over those before.
std::optional<Value> Invocations::SubgroupReduction(const Instruction& inst) {
  const Combination* combination = std::ranges::find(kCombinations, inst.op, &Combination::from);
  if (combination == std::end(kCombinations)) return std::nullopt;
  ir::Value given = GetOne(inst.At(2));
  ir::Value value = combination->is_unsigned ? b_.Unsigned(given) : given;
  ir::Type type = kernel_.TypeOf(value);
  ir::Value identity = b_.Splat(IdentityOf(b_, type.ScalarType(), combination->identity), type);
  uint32_t cluster = kSubgroupSize;
  Over over = Over::All;
  switch (inst.At(1)) {
    case spv::GroupOperationReduce:
      break;
    case spv::GroupOperationInclusiveScan:
      over = config_.before_legalization ? Over::BeforeOwn : Over::UpToOwn;
      break;
    case spv::GroupOperationExclusiveScan:
      over = Over::BeforeOwn;
      break;
    case spv::GroupOperationClusteredReduce: {
      std::optional<int64_t> given_size =
          inst.operands.size() > 3 ? types_.Integer(inst.At(3)) : std::nullopt;
      Require(given_size && *given_size >= 1 && *given_size <= kSubgroupSize &&
                  (*given_size & (*given_size - 1)) == 0,
              inst, "a cluster is no power of two up to 32");
      cluster = static_cast<uint32_t>(*given_size);
      break;
    }
    default:
      Refuse(diag::E0854, inst.span, "a reduction over a part of a subgroup that kernels do not have");
  }
  ir::Value sum = Subgroup().Reduce(combination->op, value, identity, over, cluster);
  return Value{{combination->is_unsigned ? b_.Cast(sum, kernel_.TypeOf(given)) : sum}};
}

/// A question about the bits of a ballot.
std::optional<Value> Invocations::BallotOperation(const Instruction& inst) {
  auto bits = [&](size_t n) { return b_.ComponentOf(GetOne(inst.At(n)), 0); };
  auto bit_at = [&](ir::Value of, ir::Value lane) {
    ir::Value bit = b_.Make(
        ir::Op::And, {b_.Make(ir::Op::Shr, {b_.Unsigned(of), b_.Unsigned(lane)}), b_.Unsigned(b_.I32(1))});
    return b_.Make(ir::Op::Ne, {bit, b_.Unsigned(b_.I32(0))});
  };
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpGroupNonUniformInverseBallot:
      return Value{{bit_at(bits(1), Subgroup().Lane())}};
    case spv::OpGroupNonUniformBallotBitExtract:
      return Value{{bit_at(bits(1), GetOne(inst.At(2)))}};
    case spv::OpGroupNonUniformBallotFindLSB:
      return Value{{b_.Make(ir::Op::Ctz, {bits(1)})}};
    case spv::OpGroupNonUniformBallotFindMSB:
      return Value{{b_.Make(ir::Op::Sub, {b_.I32(31), b_.Make(ir::Op::Clz, {bits(1)})})}};
    case spv::OpGroupNonUniformBallotBitCount: {
      ir::Value counted = bits(2);
      if (inst.At(1) != spv::GroupOperationReduce) {
        uint32_t mask = inst.At(1) == spv::GroupOperationInclusiveScan ? spv::BuiltInSubgroupLeMask
                                                                       : spv::BuiltInSubgroupLtMask;
        counted = b_.Make(ir::Op::And, {counted, b_.ComponentOf(LaneMask(mask), 0)});
      }
      return Value{{b_.Make(ir::Op::Popcount, {counted})}};
    }
    default:
      return std::nullopt;
  }
}

/// An operation that reads the value of another lane.
std::optional<Value> Invocations::ShuffleOperation(const Instruction& inst) {
  auto lane_by = [&](ir::Op op, ir::Value by) { return b_.Make(op, {Subgroup().Lane(), by}); };
  ir::Value lane;
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpGroupNonUniformBroadcast:
    case spv::OpGroupNonUniformShuffle:
      lane = GetOne(inst.At(2));
      break;
    case spv::OpGroupNonUniformShuffleXor:
      lane = lane_by(ir::Op::Xor, GetOne(inst.At(2)));
      break;
    case spv::OpGroupNonUniformShuffleUp:
      lane = lane_by(ir::Op::Sub, GetOne(inst.At(2)));
      break;
    case spv::OpGroupNonUniformShuffleDown:
      lane = lane_by(ir::Op::Add, GetOne(inst.At(2)));
      break;
    case spv::OpGroupNonUniformQuadBroadcast:
      lane = b_.Make(ir::Op::Or, {lane_by(ir::Op::And, b_.I32(~3)), GetOne(inst.At(2))});
      break;
    case spv::OpGroupNonUniformQuadSwap:
      // Direction 0, 1, 2: across a column, across a row, across both.
      lane = lane_by(ir::Op::Xor, b_.Make(ir::Op::Add, {GetOne(inst.At(2)), b_.I32(1)}));
      break;
    default:
      return std::nullopt;
  }
  return Value{{Subgroup().From(GetOne(inst.At(1)), lane)}};
}

/// Code that adc has printed adds up within a subgroup and lets one invocation of it update memory, whatever
/// the size of the subgroup is: that of one invocation gives the same updates. Other modules may count on
/// more of them.
std::optional<Value> Invocations::OfOneInvocation(const Instruction& inst) {
  if (inst.op == spv::OpGroupNonUniformElect) return Value{{b_.Int(ir::kI1, 1)}};
  bool reduces = (inst.op >= spv::OpGroupNonUniformIAdd && inst.op <= spv::OpGroupNonUniformLogicalXor) &&
                 inst.At(1) == spv::GroupOperationReduce;
  return reduces ? std::optional(Get(inst.At(2))) : std::nullopt;
}

std::optional<Value> Invocations::SubgroupOperation(const Instruction& inst) {
  if (binary_.IsPrinted()) return OfOneInvocation(inst);
  if (!by_workgroups_ || inst.op < spv::OpGroupNonUniformElect || inst.op > spv::OpGroupNonUniformQuadSwap)
    return std::nullopt;
  if (std::optional<Value> sum = SubgroupReduction(inst)) return sum;
  if (std::optional<Value> bits = BallotOperation(inst)) return bits;
  if (std::optional<Value> moved = ShuffleOperation(inst)) return moved;
  ir::Value yes = b_.Int(ir::kI1, 1), no = b_.Int(ir::kI1, 0);
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpGroupNonUniformElect:
      return Value{{Subgroup().Elect()}};
    case spv::OpGroupNonUniformAll:
      return Value{{Subgroup().Reduce(ir::Op::And, GetOne(inst.At(1)), yes, Over::All)}};
    case spv::OpGroupNonUniformAny:
      return Value{{Subgroup().Reduce(ir::Op::Or, GetOne(inst.At(1)), no, Over::All)}};
    case spv::OpGroupNonUniformAllEqual:
      return Value{{Subgroup().AllEqual(GetOne(inst.At(1)))}};
    case spv::OpGroupNonUniformBroadcastFirst:
      return Value{{Subgroup().First(GetOne(inst.At(1)))}};
    case spv::OpGroupNonUniformBallot:
      return Value{{BallotOf(Subgroup().Ballot(GetOne(inst.At(1))))}};
    default:
      return std::nullopt;
  }
}

}  // namespace adc::frontend::spirv
