#include "raise/body_lanes.h"

#include <algorithm>

#include "analysis/uniform.h"
#include "analysis/walk.h"
#include "ir/family.h"
#include "ir/module.h"

namespace adc::raise {
namespace {

using ir::Inst, ir::Op, ir::OpClass, ir::Scalar;

/// Bodies that are larger take long to compile, and have more values than registers.
constexpr size_t kMostInsts = 800;
/// Local arrays of all lanes of a worker.
constexpr uint64_t kMostLocalBytes = 32u << 10;

/// Counts the operations of the body, and finds out whether lanes can run it.
class Survey {
 public:
  Survey(const ir::Function& kernel, Inst parallel, bool fuses) : kernel_(kernel), fuses_(fuses) {
    ir::Block body = kernel[parallel].regions[0];
    if (kernel[body].params.empty()) possible_ = false;
    analysis::ForEachInst(kernel, body, [&](Inst inst) { Visit(inst); });
    possible_ = possible_ && count_ <= kMostInsts;
  }

  bool Possible(uint32_t lanes) const { return possible_ && local_bytes_ * lanes <= kMostLocalBytes; }
  bool HasWork() const { return has_function_ || has_loop_; }
  bool HasFunction() const { return has_function_; }
  /// Vectors that hold a value of all lanes: several of a small body hide what each operation waits for.
  uint32_t Vectors() const {
    if (count_ <= 48 && !has_function_) return 4;
    return count_ <= 160 ? 2 : 1;
  }
  /// Bytes of the floats that it computes with.
  uint32_t FloatBytes() const { return has_f64_ ? 8 : 4; }

 private:
  void Visit(Inst inst) {
    const ir::InstData& data = kernel_[inst];
    ++count_;
    for (uint32_t n = 0; n < data.result_count; ++n) Note(kernel_.TypeOf(kernel_.Result(inst, n)));
    for (ir::Value operand : kernel_.Operands(inst)) Note(kernel_.TypeOf(operand));
    has_loop_ = has_loop_ || data.op == Op::For || data.op == Op::While;
    has_function_ = has_function_ || ir::ClassOf(data.op) == OpClass::Function;
    if (data.op == Op::Fma && !fuses_) possible_ = false;
    if (ir::ClassOf(data.op) == OpClass::Row) possible_ = false;
    if (data.op == Op::Alloca) {
      ir::Type type = kernel_.TypeOf(kernel_.Result(inst));
      local_bytes_ += uint64_t{type.count} * type.Components() * ir::ByteSize(type.scalar);
    }
    if (ir::IsAccess(data.op)) VisitAccess(inst);
  }

  void VisitAccess(Inst inst) {
    const ir::ValueData& base = kernel_[kernel_.Operand(inst, 0)];
    Op op = kernel_[inst].op;
    bool is_local = base.kind == ir::ValueKind::Result;
    bool known = op == Op::Load || op == Op::Store || op == Op::AddTo || op == Op::AtomicAdd;
    if (is_local && (!known || kernel_.Indices(inst).size() != 1)) possible_ = false;
  }

  void Note(ir::Type type) {
    if (type.scalar == Scalar::F16) possible_ = false;
    if (type.Is(Scalar::F64)) has_f64_ = true;
  }

  const ir::Function& kernel_;
  bool fuses_;
  bool possible_ = true, has_function_ = false, has_loop_ = false, has_f64_ = false;
  size_t count_ = 0;
  uint64_t local_bytes_ = 0;
};

/// Estimates of what an iteration costs alone, and a group of them in lanes, in the time of an addition.
class Estimate {
 public:
  Estimate(const ir::Function& kernel, Inst parallel, double lanes)
      : kernel_(kernel), uniform_(kernel, parallel), lanes_(lanes) {
    counter_ = kernel[kernel[parallel].regions[0]].params.back();
    Visit(kernel[parallel].regions[0], 1, 1);
  }

  bool LanesWin() const { return in_lanes_ * kMargin < alone_ * lanes_; }

 private:
  static constexpr double kMargin = 1.3;
  static constexpr double kTrips = 8;  ///< of a loop whose bounds are no constants

  void Visit(ir::Block block, double alone, double together) {
    for (Inst inst : kernel_[block].insts) VisitInst(inst, alone, together);
  }

  void VisitInst(Inst inst, double alone, double together) {
    const ir::InstData& data = kernel_[inst];
    if (ir::IsTerminator(data.op)) return;
    if (data.op == Op::If) {
      // Lanes run both sides, where they differ.
      bool shared = uniform_.Has(kernel_.Operand(inst, 0));
      Add(alone, together, 1, shared ? 1 : 3);
      for (ir::Block region : data.regions) Visit(region, alone / 2, shared ? together / 2 : together);
      return;
    }
    if (data.op == Op::For || data.op == Op::While) {
      double trips = Trips(inst);
      double longest = uniform_.EndsTogether(inst) ? trips : 1.5 * trips;
      for (ir::Block region : data.regions) {
        if (region.Valid()) Visit(region, alone * trips, together * longest);
      }
      return Add(alone, together, trips, longest);
    }
    bool shared = data.result_count == 1 && uniform_.Has(kernel_.Result(inst));
    double cost = CostOf(inst);
    Add(alone, together, cost, shared ? cost : InLanes(inst, cost));
  }

  double Trips(Inst inst) const {
    if (kernel_[inst].op != Op::For) return kTrips;
    std::optional<int64_t> low = kernel_.IntegerConstant(kernel_.Operand(inst, 0));
    std::optional<int64_t> high = kernel_.IntegerConstant(kernel_.Operand(inst, 1));
    if (!low || !high) return kTrips;
    return static_cast<double>(std::clamp<int64_t>(*high - *low, 1, 64));
  }

  void Add(double alone, double together, double one, double group) {
    alone_ += alone * one;
    in_lanes_ += together * group;
  }

  double CostOf(Inst inst) const {
    const ir::InstData& data = kernel_[inst];
    if (ir::ClassOf(data.op) == OpClass::Function) return data.op == Op::Pow ? 60 : 25;
    if (IsDivision(data.op)) return 5;
    if (data.op == Op::Load || data.op == Op::Store || data.op == Op::AddTo) return 2;
    if (ir::IsAccess(data.op)) return 8;
    return 1;
  }

  static bool IsDivision(Op op) {
    return op == Op::Div || op == Op::Rem || op == Op::Mod || op == Op::FloorDiv || op == Op::CeilDiv ||
           op == Op::Sqrt || op == Op::Rsqrt || op == Op::Rcp;
  }

  double InLanes(Inst inst, double cost) const {
    const ir::InstData& data = kernel_[inst];
    if (ir::IsAccess(data.op)) {
      bool at_once =
          data.op == Op::Load || data.op == Op::Store || (data.op == Op::AddTo && data.Has(ir::Word::Plain));
      if (kernel_[kernel_.Operand(inst, 0)].kind == ir::ValueKind::Result) at_once = true;
      if (!at_once) return data.Has(ir::Word::Private) ? 2 * cost : 2 * lanes_ * cost;
      return Follows(inst) ? 1.5 * cost : lanes_ * cost;
    }
    bool is_integer = !kernel_.TypeOf(kernel_.Result(inst)).IsFloat();
    if (IsDivision(data.op)) return is_integer ? lanes_ * cost : cost * 3;
    return cost;
  }

  /// Whether lanes lie side by side: the last index is the counter, or that and a shared number.
  bool Follows(Inst inst) const {
    std::span<const ir::Value> indices = kernel_.Indices(inst);
    for (size_t axis = 0; axis < indices.size(); ++axis) {
      if (uniform_.Has(indices[axis])) continue;
      if (axis + 1 != indices.size() || !FollowsCounter(indices[axis])) return false;
    }
    return true;
  }

  bool FollowsCounter(ir::Value index) const {
    if (index == counter_) return true;
    Inst made = kernel_.DefiningInst(index);
    if (!made.Valid() || (kernel_[made].op != Op::Add && kernel_[made].op != Op::Sub)) return false;
    ir::Value a = kernel_.Operand(made, 0), b = kernel_.Operand(made, 1);
    return uniform_.Has(b) ? FollowsCounter(a) : uniform_.Has(a) && FollowsCounter(b);
  }

  const ir::Function& kernel_;
  analysis::Uniform uniform_;
  double lanes_;
  ir::Value counter_;
  double alone_ = 0, in_lanes_ = 0;
};

/// The loops of a body whose operations vectors have, all of them: what a size kernel that counts their trips
/// runs in lanes.
class CountedLoops {
 public:
  CountedLoops(const ir::Function& kernel, Inst parallel) : kernel_(kernel) {
    for (Inst inst : kernel[kernel[parallel].regions[0]].insts) {
      if (kernel[inst].op == Op::While && InVectors(inst)) widest_ = std::max(widest_, WidestOf(inst));
    }
  }

  /// Bytes of the widest value that one of them carries, at least 4; 0: there is no such loop.
  uint32_t Widest() const { return widest_; }

 private:
  bool InVectors(Inst loop) const {
    for (ir::Block region : kernel_[loop].regions) {
      for (Inst inst : kernel_[region].insts) {
        if (!ir::IsTerminator(kernel_[inst].op) && !InVector(inst)) return false;
      }
    }
    return true;
  }

  uint32_t WidestOf(Inst loop) const {
    uint32_t widest = 4;
    for (uint32_t n = 0; n < kernel_[loop].result_count; ++n)
      widest = std::max(widest, ir::ByteSize(kernel_.TypeOf(kernel_.Result(loop, n)).scalar));
    return widest;
  }

  /// Whether vectors have it: a function that is called for each lane, or a division of integers, which runs
  /// lane by lane, would run for lanes that have ended.
  bool InVector(Inst inst) const {
    Op op = kernel_[inst].op;
    if (op == Op::Load) {
      bool is_buffer = kernel_.TypeOf(kernel_.Operand(inst, 0)).IsBuffer();
      return is_buffer && ir::ByteSize(kernel_.TypeOf(kernel_.Result(inst)).scalar) >= 4;
    }
    bool divides = op == Op::Div || op == Op::Rem || op == Op::Mod || op == Op::FloorDiv || op == Op::CeilDiv;
    bool is_function = ir::ClassOf(op) == OpClass::Function || op == Op::Rem;
    return ir::InfoOf(op).effect == ir::Effect::Pure && !is_function &&
           (!divides || kernel_.TypeOf(kernel_.Operand(inst, 0)).IsFloat());
  }

  const ir::Function& kernel_;
  uint32_t widest_ = 0;
};

/// Lanes of a size kernel's body.
uint32_t CountingLanes(const ir::Function& kernel, Inst parallel, const RaiseConfig& config) {
  constexpr uint32_t kVectors = 4;
  uint32_t widest = CountedLoops(kernel, parallel).Widest();
  return widest == 0 ? 0 : kVectors * config.lane_bytes / widest;
}

/// Iterations of `parallel` that run side by side; 0: they run one after the other.
uint32_t LanesOf(const ir::Function& kernel, Inst parallel, const RaiseConfig& config) {
  Survey survey(kernel, parallel, config.lanes_fuse);
  bool counts = kernel.role == ir::KernelRole::Size, estimated = config.body_lanes == kAutomaticLanes;
  uint32_t lanes = counts      ? CountingLanes(kernel, parallel, config)
                   : estimated ? config.vector_bytes / survey.FloatBytes() * survey.Vectors()
                               : config.body_lanes;
  if (lanes == 0 || !survey.Possible(lanes)) return 0;
  if (counts || !estimated) return lanes;
  return survey.HasWork() && Estimate(kernel, parallel, lanes).LanesWin() ? lanes : 0;
}

/// Whether no kernel that is derived from the same one calls functions one iteration after the other: these
/// would be our own there too, which are slower for one number.
bool SuitsFamily(const ir::Module& module, const ir::Function& kernel, const RaiseConfig& config) {
  for (const std::unique_ptr<ir::Function>& other : module.functions) {
    if (!other->IsKernel() || ir::IsCounting(other->role)) continue;
    if (ir::FamilyOf(module, *other) != ir::FamilyOf(module, kernel)) continue;
    for (Inst loop : (*other)[other->Body()].insts) {
      if (!analysis::IsParallel((*other)[loop].op)) continue;
      Survey survey(*other, loop, config.lanes_fuse);
      if (survey.HasFunction() && LanesOf(*other, loop, config) == 0) return false;
    }
  }
  return true;
}

}  // namespace

void MarkBodyLanes(ir::Module& module, ir::Function& kernel, const RaiseConfig& config) {
  if (config.lane_bytes == 0 || kernel.role == ir::KernelRole::Bounds) return;
  bool counts = kernel.role == ir::KernelRole::Size, estimated = config.body_lanes == kAutomaticLanes;
  if (!counts && estimated && !SuitsFamily(module, kernel, config)) return;
  for (Inst loop : kernel[kernel.Body()].insts) {
    if (!analysis::IsParallel(kernel[loop].op)) continue;
    uint32_t lanes = LanesOf(kernel, loop, config);
    if (lanes == 0) continue;
    kernel[loop].words.Add(ir::Word::LanesBody);
    kernel[loop].component = lanes;
  }
}

}  // namespace adc::raise
