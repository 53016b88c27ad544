#include "sizing/bounds.h"

#include <algorithm>

#include "analysis/conditions.h"
#include "analysis/loops.h"
#include "analysis/memory.h"
#include "analysis/structure.h"
#include "analysis/tasks.h"
#include "analysis/walk.h"
#include "ir/module.h"
#include "ir/number.h"
#include "sizing/trips_param.h"
#include "support/check.h"

// Points before intervals. Every value is translated as a function of the indices of its enclosing loops, and
// the indices are eliminated only at the end, from the inside out, over the path of the push. So `end[i] -
// start[i]` stays one function of i, and its maximum is the longest row, not the largest end minus the
// smallest start. Intervals take over only where a value is not a function of what is known before the
// launch: of a minimum one known side is enough, the upper bound of `a - b` uses the lower bound of `b`, a
// branch on something unknown gives the hull of both sides.
//
// Loop indices count iterations: in `for %i in lo..hi step s`, the value %i is `lo + s * index(level)`, with
// the index in [0, ceil(max(0, hi - lo) / s)). A reversed loop takes the same indices in another order, so
// that the slot of a push and of its pop are the same expression. The level of a loop is the number of loops
// around it.
//
// Carried integers. `carry(%k = %k0)` whose body yields `%k + d` has the value k0 + (sum of d over earlier
// iterations); d may depend on the index and may be a range (a counter under a condition grows by 0 to 1).

namespace adc::sizing {

using analysis::CarriedInit, analysis::CarriedParam, analysis::CarriedYield, analysis::GivenBy;
using ir::ArithmeticOp, ir::BitsOp, ir::Block, ir::CompareOp, ir::ControlOp, ir::Inst, ir::Op, ir::OpClass;
using ir::Type, ir::Value, ir::ValueKind;

namespace {

/// Chains of operands longer than this are not followed.
constexpr uint32_t kMaxDepth = 400;
/// A slot of a nest of eight loops.
constexpr uint32_t kMaxSlotDepth = 16;
constexpr uint32_t kNoLevel = artifact::kMaxSizeLevels;

SizeOp SizeOpOf(Op op) {
  switch (ir::In<CompareOp>(op)) {
    case CompareOp::Eq:
      return SizeOp::kEq;
    case CompareOp::Ne:
      return SizeOp::kNe;
    case CompareOp::Lt:
      return SizeOp::kLt;
    case CompareOp::Le:
      return SizeOp::kLe;
    case CompareOp::Gt:
      return SizeOp::kGt;
    case CompareOp::Ge:
      return SizeOp::kGe;
  }
  ADC_UNREACHABLE("comparison");
}

}  // namespace

Bounds::Bounds(const ir::Module& module, const ir::Function& function, SizeAlgebra& algebra, Known known)
    : module_(module),
      function_(function),
      algebra_(algebra),
      ranges_(algebra),
      given_(known),
      task_of_(0, UINT32_MAX) {
  std::vector<analysis::Task> tasks = analysis::TasksOf(function);
  const std::vector<Inst>& body = function[function.Body()].insts;
  for (uint32_t task = 0; task < tasks.size(); ++task) {
    for (uint32_t place = tasks[task].first; place < tasks[task].last; ++place) task_of_[body[place]] = task;
  }
  written_.assign(tasks.size(), std::vector<bool>(function.params.size(), false));
  analysis::ForEachInst(function, [&](Inst inst) {
    const ir::InstData& data = function_[inst];
    if (data.op == Op::StackPush) pushes_[function_.Operand(inst, 0)].push_back(inst);
    if (!analysis::WritesMemory(data.op)) return;
    const ir::ValueData& base = function_[function_.Operand(inst, 0)];
    if (base.kind != ValueKind::BlockParam || Block(base.owner) != function_.Body()) return;
    std::vector<bool>& written = written_[TaskOf(inst)];
    written[base.number] = true;
    if (!function_.params[base.number].alias) return;
    for (size_t n = 0; n < written.size(); ++n) written[n] = written[n] || function_.params[n].alias;
  });
}

uint32_t Bounds::TaskOf(Inst inst) const {
  return task_of_.Get(analysis::TopLevelOf(function_, inst));
}

uint32_t Bounds::DepthOf(Block block) const {
  uint32_t depth = 0;
  for (Inst owner = function_[block].owner; owner.Valid(); owner = function_[function_[owner].parent].owner) {
    Op op = function_[owner].op;
    if (analysis::IsSerialLoop(op)) ++depth;
    if (op == Op::Parallel || op == Op::ParallelOver)
      depth += static_cast<uint32_t>(function_[function_[owner].regions[0]].params.size());
  }
  return depth;
}

uint32_t Bounds::LevelOf(Inst loop, uint32_t axis) const {
  return std::min(DepthOf(function_[loop].parent) + axis, kNoLevel);
}

Trips Bounds::TripsOf(Inst loop, uint32_t axis) {
  const ir::InstData& data = function_[loop];
  if (data.op == Op::ParallelOver) {
    const ir::Layout& layout = module_.layouts[function_.TypeOf(function_.Operand(loop, 0)).count];
    return {algebra_.Const(static_cast<int64_t>(layout.fields[data.attr].axes[axis].extent)), true};
  }
  if (data.op == Op::While) {
    if (!data.Has(ir::Word::HasMax) || data.Has(ir::Word::OrNone)) return {};
    NodeId most = Of(function_.Operand(loop, 0)).upper;
    // What is never smaller than the largest number bounds nothing: better counted.
    return {algebra_.RangeOf(most).low >= INT32_MAX ? kNoNode : algebra_.Clamp0(most), false};
  }
  if (Value trips = TripsParam(function_, loop, axis); trips.Valid() && given_ == Known::AtLaunch)
    return {algebra_.pool().Arg(function_[trips].number), true};
  uint32_t first = data.op == Op::Parallel ? 2 * axis : 0;
  Range low = Of(function_.Operand(loop, first)), high = Of(function_.Operand(loop, first + 1));
  ir::Scalar scalar = function_.TypeOf(function_.Operand(loop, first)).scalar;
  NodeId length = ranges_.Length(low.lower, high.upper, scalar, data.op == Op::Parallel);
  if (data.op == Op::For) {
    NodeId step = Of(function_.Operand(loop, 2)).lower;
    length = algebra_.Divide(SizeOp::kCeilDiv, length, step);
  }
  return {length, length != kNoNode && low.Exact() && high.Exact()};
}

Range Bounds::Of(Value value) {
  Type type = function_.TypeOf(value);
  if (!type.IsScalar() || ir::IsFloat(type.scalar)) return {};
  Entry& entry = known_[value];
  if (entry.state == Entry::Done) return entry.range;
  if (entry.state == Entry::Busy || depth_ >= kMaxDepth) return ranges_.FitType(type, {}, false);
  entry.state = Entry::Busy;
  ++depth_;
  Range range = ranges_.FitType(type, Compute(value), MayWrap(value));
  --depth_;
  known_[value] = {Entry::Done, range};
  return range;
}

Range Bounds::OfSlot(Value slot, uint32_t depth) {
  Inst inst = function_.DefiningInst(slot);
  if (!inst.Valid() || depth == kMaxSlotDepth) return Of(slot);
  Op op = function_[inst].op;
  if (op != Op::Add && op != Op::Sub && op != Op::Mul) return Of(slot);
  Range left = OfSlot(function_.Operand(inst, 0), depth + 1);
  Range right = OfSlot(function_.Operand(inst, 1), depth + 1);
  if (op == Op::Add) return ranges_.Sum(left, right);
  return op == Op::Sub ? ranges_.Difference(left, right, function_.TypeOf(slot).scalar)
                       : ranges_.Product(left, right);
}

bool Bounds::MayWrap(Value value) const {
  Inst inst = function_.DefiningInst(value);
  if (!inst.Valid()) return false;
  Op op = function_[inst].op;
  if (op != Op::Mul && op != Op::Shl) return false;
  int64_t far = int64_t{1} << (ir::BitWidth(function_.TypeOf(value).scalar) / 2);
  std::optional<int64_t> right = function_.IntegerConstant(function_.Operand(inst, 1));
  if (op == Op::Shl) return !right || *right >= ir::BitWidth(function_.TypeOf(value).scalar) / 2;
  std::optional<int64_t> left = function_.IntegerConstant(function_.Operand(inst, 0));
  auto is_small = [&](std::optional<int64_t> factor) { return factor && *factor > -far && *factor < far; };
  if (is_small(left) || is_small(right)) return false;
  // Of 64 bits only what looks like a hash: any other product is of sizes, and the evaluator checks it.
  if (BitWidth(function_.TypeOf(value).scalar) == 64) return left || right;
  // Where the parts begin that a loop goes through, as many as a quotient by their length: within what was
  // divided.
  for (uint32_t n : {0u, 1u}) {
    const ir::ValueData& index = function_[function_.Operand(inst, n)];
    if (index.kind != ValueKind::BlockParam || index.number != 0) continue;
    Inst loop = function_[Block(index.owner)].owner;
    if (!loop.Valid() || function_[loop].op != Op::For) continue;
    Inst parts = function_.DefiningInst(function_.Operand(loop, 1));
    bool divides = parts.Valid() && (function_[parts].op == Op::CeilDiv || function_[parts].op == Op::Div);
    if (divides && function_.Operand(parts, 1) == function_.Operand(inst, 1 - n)) return false;
  }
  return true;
}

Range Bounds::Compute(Value value) {
  const ir::ValueData& data = function_[value];
  switch (data.kind) {
    case ValueKind::Constant: {
      std::optional<int64_t> constant = function_.IntegerConstant(value);
      if (!constant && data.type.Is(ir::Scalar::I1))
        constant = static_cast<int64_t>(function_.ConstantOf(value).bits);
      return constant ? Range::Exactly(algebra_.Const(*constant)) : Range{};
    }
    case ValueKind::Global: {
      const ir::ModuleConstant& constant = module_.constants[data.owner];
      if (!constant.type.IsScalar() || constant.elements.empty()) return {};
      return Range::Exactly(algebra_.Const(static_cast<int64_t>(constant.elements[0])));
    }
    case ValueKind::BlockParam:
      return OfParam(Block(data.owner), data.number, data.type);
    case ValueKind::Result:
      return OfInst(Inst(data.owner), data.number);
  }
  ADC_UNREACHABLE("kind of a value");
}

Range Bounds::OfParam(Block block, uint32_t number, Type type) {
  if (block == function_.Body()) {
    if (!type.IsScalar()) return {};
    if (given_ == Known::Arguments && function_.params[number].role == ir::ParamRole::Trips) return {};
    bool is_whole = given_ == Known::Arguments && function_.params[number].role == ir::ParamRole::Segment;
    return Range::Exactly(is_whole ? algebra_.Const(0) : algebra_.pool().Arg(number));
  }
  Inst owner = function_[block].owner;
  Op op = function_[owner].op;
  bool is_index = op == Op::Parallel || op == Op::ParallelOver || (op == Op::For && number == 0);
  if (!is_index) return OfCarried(owner, op == Op::For ? number - 1 : number);
  uint32_t axis = op == Op::For ? 0 : number;
  Range low = Range::Exactly(algebra_.Const(0));
  NodeId step = algebra_.Const(1);
  if (op == Op::Parallel) low = Of(function_.Operand(owner, 2 * axis));
  if (op == Op::For) {
    low = Of(function_.Operand(owner, 0));
    step = Of(function_.Operand(owner, 2)).lower;
  }
  // The user of an index bounds it where no trips are counted yet.
  if (given_ == Known::Arguments && TripsOf(owner, axis).upper == kNoNode) return {low.lower, kNoNode};
  uint32_t level = LevelOf(owner, axis);
  if (level < kNoLevel) {
    NodeId moved = algebra_.Mul(step, algebra_.pool().Index(level));
    return ranges_.Sum(low, Range::Exactly(moved));
  }
  NodeId last = algebra_.Mul(step, algebra_.Sub(TripsOf(owner, axis).upper, algebra_.Const(1)));
  return {low.lower, algebra_.Add(low.upper, last)};
}

NodeId Bounds::SumOfEarlier(Inst loop, NodeId body) {
  uint32_t level = LevelOf(loop);
  if (level >= kNoLevel) return kNoNode;
  return algebra_.SumBelow(level, algebra_.pool().Index(level), body);
}

Range Bounds::OfCarried(Inst loop, uint32_t number) {
  Range initial = Of(CarriedInit(function_, loop, number));
  Value yield = CarriedYield(function_, loop, number);
  if (std::optional<Range> step = Increment(yield, CarriedParam(function_, loop, number), 0)) {
    NodeId lower = algebra_.Add(initial.lower, SumOfEarlier(loop, step->lower));
    if (step->Exact() && initial.Exact()) return Range::Exactly(lower);
    return {lower, algebra_.Add(initial.upper, SumOfEarlier(loop, step->upper))};
  }
  return WhereItRuns(loop, ranges_.Union(initial, Closed(loop, Of(yield))), initial);
}

Range Bounds::OfLoopResult(Inst loop, uint32_t number) {
  Range initial = Of(CarriedInit(function_, loop, number));
  Value yield = CarriedYield(function_, loop, number);
  Trips trips = TripsOf(loop);
  if (std::optional<Range> step = Increment(yield, CarriedParam(function_, loop, number), 0)) {
    uint32_t level = LevelOf(loop);
    if (trips.exact && step->Exact() && initial.Exact())
      return WhereItRuns(
          loop,
          Range::Exactly(algebra_.Add(initial.lower, algebra_.SumBelow(level, trips.upper, step->lower))),
          initial);
    Range change = ChangeOfSome(trips, *step);
    NodeId zero = algebra_.Const(0);
    // A value that never grows, or never shrinks, needs no trip count on that side.
    NodeId fall = change.lower == zero ? zero : algebra_.SumBelow(level, trips.upper, change.lower);
    NodeId rise = change.upper == zero ? zero : algebra_.SumBelow(level, trips.upper, change.upper);
    return WhereItRuns(loop, {algebra_.Add(initial.lower, fall), algebra_.Add(initial.upper, rise)}, initial);
  }
  return WhereItRuns(loop, ranges_.Union(initial, Closed(loop, Of(yield))), initial);
}

Range Bounds::ChangeOfSome(Trips trips, Range step) {
  return trips.exact ? step : Range{algebra_.Min(step.lower, algebra_.Const(0)), algebra_.Clamp0(step.upper)};
}

Range Bounds::WhereItRuns(Inst loop, Range left, Range initial) {
  auto reads = [&](NodeId end) {
    return end != kNoNode && algebra_.pool().ClassOf(end) == artifact::SizeClass::kS2;
  };
  if (!reads(left.lower) && !reads(left.upper)) return left;
  Trips trips = TripsOf(loop);
  if (!trips.exact) return {};
  return ranges_.Choose(
      ranges_.Compared(SizeOp::kGt, Range::Exactly(trips.upper), Range::Exactly(algebra_.Const(0))), left,
      initial);
}

Range Bounds::Closed(Inst loop, Range range) {
  uint32_t level = LevelOf(loop);
  NodeId trips = TripsOf(loop).upper;
  return {algebra_.MinOver(level, trips, range.lower), algebra_.MaxOver(level, trips, range.upper, false)};
}

std::optional<Range> Bounds::Increment(Value value, Value param, uint32_t depth) {
  if (value == param) return Range::Exactly(algebra_.Const(0));
  if (depth > 16 || function_[value].kind != ValueKind::Result) return std::nullopt;
  Inst inst(function_[value].owner);
  const ir::InstData& data = function_[inst];
  uint32_t number = function_[value].number;
  auto both = [&](Value a, Value b) -> std::optional<Range> {
    std::optional<Range> left = Increment(a, param, depth + 1);
    if (!left) return std::nullopt;
    std::optional<Range> right = Increment(b, param, depth + 1);
    if (!right) return std::nullopt;
    return ranges_.Union(*left, *right);
  };
  if (data.op == Op::Add || data.op == Op::Sub) {
    Value a = function_.Operand(inst, 0), b = function_.Operand(inst, 1);
    std::optional<Range> base = Increment(a, param, depth + 1);
    if (!base && data.op == Op::Add) {
      std::swap(a, b);
      base = Increment(a, param, depth + 1);
    }
    if (!base) return std::nullopt;
    if (data.op == Op::Add) return ranges_.Sum(*base, Of(b));
    return ranges_.Difference(*base, Of(b), ir::Scalar::I64);
  }
  if (analysis::IsChoice(data.op))
    return both(GivenBy(function_, inst, 0, value), GivenBy(function_, inst, 1, value));
  if (data.op == Op::For) {  // an inner loop that goes on counting
    std::optional<Range> start = Increment(CarriedInit(function_, inst, number), param, depth + 1);
    if (!start) return std::nullopt;
    Value inner = CarriedParam(function_, inst, number);
    std::optional<Range> step = Increment(CarriedYield(function_, inst, number), inner, depth + 1);
    if (!step) return std::nullopt;
    Trips trips = TripsOf(inst);
    auto [down, up] = ChangeOfSome(trips, *step);
    NodeId fall = algebra_.SumBelow(LevelOf(inst), trips.upper, down);
    NodeId rise = up == down ? fall : algebra_.SumBelow(LevelOf(inst), trips.upper, up);
    return ranges_.Sum(*start, {fall, rise});
  }
  return std::nullopt;
}

Range Bounds::Parts(Value count, Value part) {
  Range all = Of(count);
  auto by = [&](Value one) {
    Inst made = function_.DefiningInst(one);
    bool is_all = made.Valid() && function_[made].op == Op::Max && function_.Operand(made, 0) == count &&
                  function_.IntegerConstant(function_.Operand(made, 1)) == 1;
    if (is_all && algebra_.RangeOf(all.lower).low >= 0)
      return ranges_.Smaller(all, Range::Exactly(algebra_.Const(1)));
    return ranges_.RoundedUp(all, Of(one));
  };
  Inst choice = function_.DefiningInst(part);
  if (!choice.Valid() || function_[choice].op != Op::Select) return by(part);
  return ranges_.Choose(Of(function_.Operand(choice, 0)), by(function_.Operand(choice, 1)),
                        by(function_.Operand(choice, 2)));
}

Range Bounds::OfInst(Inst inst, uint32_t result) {
  const ir::InstData& data = function_[inst];
  auto operand = [&](uint32_t n) { return Of(function_.Operand(inst, n)); };
  ir::Scalar scalar = function_.TypeOf(function_.Result(inst, result)).scalar;
  switch (ir::ClassOf(data.op)) {
    case OpClass::Arithmetic:
      return OfArithmetic(inst, scalar);
    case OpClass::Bits:
      return OfBits(inst, scalar);
    case OpClass::Compare:
      return ranges_.Compared(SizeOpOf(data.op), operand(0), operand(1));
    case OpClass::Convert:
      if (data.op == Op::StopGradient) return operand(0);
      if (data.op == Op::Cast)
        return ranges_.Converted(operand(0), function_.TypeOf(function_.Operand(inst, 0)), scalar);
      return {};
    case OpClass::Shape: {
      const ir::ValueData& base = function_[function_.Operand(inst, 0)];
      return Range::Exactly(algebra_.pool().Shape(base.number, data.attr));
    }
    case OpClass::Access:
      return data.op == Op::Load ? OfLoad(inst) : Range{};
    case OpClass::Stack:
      return data.op == Op::StackPop || data.op == Op::StackTop ? OfPop(inst) : Range{};
    case OpClass::Control:
      return OfControl(inst, result);
    case OpClass::Function:
    case OpClass::Composed:
    case OpClass::Vector:
    case OpClass::Random:
    case OpClass::Atomic:
    case OpClass::Local:
    case OpClass::Terminator:
    case OpClass::Check:
    case OpClass::Row:
      return {};  // floats, vectors and memory say nothing of integers
  }
  ADC_UNREACHABLE("class of an operation");
}

Range Bounds::OfControl(Inst inst, uint32_t result) {
  switch (ir::In<ControlOp>(function_[inst].op)) {
    case ControlOp::If: {
      Value value = function_.Result(inst, result);
      return ranges_.Choose(Of(function_.Operand(inst, 0)), Of(GivenBy(function_, inst, 0, value)),
                            Of(GivenBy(function_, inst, 1, value)));
    }
    case ControlOp::For:
    case ControlOp::While:
      return OfLoopResult(inst, result);
    case ControlOp::Scope:
    case ControlOp::Parallel:
    case ControlOp::ParallelOver:
    case ControlOp::Call:
      return {};
  }
  ADC_UNREACHABLE("operation of control");
}

Range Bounds::OfArithmetic(Inst inst, ir::Scalar scalar) {
  Op op = function_[inst].op;
  auto operand = [&](uint32_t n) { return Of(function_.Operand(inst, n)); };
  switch (ir::In<ArithmeticOp>(op)) {
    case ArithmeticOp::Neg:
      return ranges_.Difference(Range::Exactly(algebra_.Const(0)), operand(0), scalar);
    case ArithmeticOp::Abs:
      return ranges_.Magnitude(operand(0));
    case ArithmeticOp::Sgn:
      return {algebra_.Const(-1), algebra_.Const(1)};
    case ArithmeticOp::Add:
      return ranges_.Sum(operand(0), operand(1));
    case ArithmeticOp::Sub:
      return ranges_.Difference(operand(0), operand(1), scalar);
    case ArithmeticOp::Mul:
      return ranges_.Product(operand(0), operand(1));
    case ArithmeticOp::Div:
      return ranges_.Quotient(SizeOp::kDiv, operand(0), operand(1));
    case ArithmeticOp::FloorDiv:
      return ranges_.Quotient(SizeOp::kFloorDiv, operand(0), operand(1));
    case ArithmeticOp::CeilDiv:
      return Parts(function_.Operand(inst, 0), function_.Operand(inst, 1));
    case ArithmeticOp::Rem:
    case ArithmeticOp::Mod:
      return ranges_.Remainder(op, operand(0), operand(1));
    case ArithmeticOp::Min:
      return ranges_.Smaller(operand(0), operand(1));
    case ArithmeticOp::Max:
      return ranges_.Larger(operand(0), operand(1));
    case ArithmeticOp::Select:
      return ranges_.Choose(operand(0), operand(1), operand(2));
    case ArithmeticOp::Clamp:
      return ranges_.Smaller(ranges_.Larger(operand(0), operand(1)), operand(2));
    case ArithmeticOp::Floor:
    case ArithmeticOp::Ceil:
    case ArithmeticOp::Round:
    case ArithmeticOp::Trunc:
    case ArithmeticOp::Sqrt:
    case ArithmeticOp::Rsqrt:
    case ArithmeticOp::Rcp:
    case ArithmeticOp::Fma:
      return {};  // of floats
  }
  ADC_UNREACHABLE("operation of arithmetic");
}

Range Bounds::OfBits(Inst inst, ir::Scalar scalar) {
  Op op = function_[inst].op;
  auto operand = [&](uint32_t n) { return Of(function_.Operand(inst, n)); };
  switch (ir::In<BitsOp>(op)) {
    case BitsOp::Not:
      return scalar == ir::Scalar::I1
                 ? ranges_.Difference(Range::Exactly(algebra_.Const(1)), operand(0), scalar)
                 : Range{};
    case BitsOp::Popcount:
    case BitsOp::Clz:
      return {algebra_.Const(0), algebra_.Const(ir::BitWidth(scalar))};
    case BitsOp::And:
    case BitsOp::Or:
    case BitsOp::Xor:
      return ranges_.Bits(op, operand(0), operand(1), scalar);
    case BitsOp::Shl:
    case BitsOp::Shr:
      return ranges_.Shifted(op, operand(0), operand(1), scalar);
  }
  ADC_UNREACHABLE("operation of bits");
}

Range Bounds::OfLoad(Inst inst) {
  const ir::InstData& data = function_[inst];
  Value base = function_.Operand(inst, 0);
  const ir::ValueData& base_data = function_[base];
  Type type = base_data.type;
  if (base_data.kind == ValueKind::Global && type.IsArray()) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (uint64_t bits : module_.constants[base_data.owner].elements) {
      low = std::min(low, static_cast<int64_t>(bits));
      high = std::max(high, static_cast<int64_t>(bits));
    }
    return low > high ? Range{} : Range{algebra_.Const(low), algebra_.Const(high)};
  }
  if (base_data.kind != ValueKind::BlockParam || Block(base_data.owner) != function_.Body()) return {};
  if (!type.IsBuffer() || type.rows != 0) return {};
  if (given_ == Known::Arguments) return {};
  if (type.scalar == ir::Scalar::I1) return {};  // expressions read numbers
  uint32_t task = TaskOf(inst);
  if (task >= written_.size() || written_[task][base_data.number]) return {};
  std::vector<NodeId> indices;
  for (Value index : function_.Indices(inst)) {
    Range range = Of(index);
    if (!range.Exact()) return {};
    indices.push_back(range.lower);
  }
  NodeId element = algebra_.pool().Read(base_data.number, indices);
  // Where the kernel reads under a condition, sizing must not read elsewhere: the index may be out of range
  // there.
  for (Block block = data.parent; block != function_.Body();
       block = function_[function_[block].owner].parent) {
    Inst owner = function_[block].owner;
    if (function_[owner].op != Op::If) continue;
    Range condition = Of(function_.Operand(owner, 0));
    if (!condition.Exact()) continue;
    NodeId zero = algebra_.Const(0);
    bool is_then = function_[owner].regions[0] == block;
    element = algebra_.pool().Select(condition.lower, is_then ? element : zero, is_then ? zero : element);
  }
  return Range::Exactly(element);
}

Range Bounds::OfPop(Inst inst) {
  const std::vector<Inst> pushes = pushes_.Get(function_.Operand(inst, 0));
  Range range;
  bool first = true;
  for (Inst push : pushes) {
    Range pushed = Of(function_.Operand(push, 1));
    Block block = function_[push].parent;
    Range closed{SmallestIn(block, pushed.lower), LargestIn(block, pushed.upper)};
    range = first ? closed : ranges_.Union(range, closed);
    first = false;
  }
  return range;
}

NodeId Bounds::UniformCondition(Value condition) {
  Range range = Of(condition);
  if (!range.Exact() || algebra_.pool().FreeLevels(range.lower) != 0) return kNoNode;
  return algebra_.pool().ClassOf(range.lower) == artifact::SizeClass::kS2 ? kNoNode : range.lower;
}

NodeId Bounds::LargestIn(Block block, NodeId expr, Block outer, bool* loose) {
  auto found_loose = [&](bool is_loose) {
    if (loose != nullptr && is_loose) *loose = true;
  };
  for (; block != outer && block != function_.Body() && expr != kNoNode;) {
    Inst owner = function_[block].owner;
    const ir::InstData& data = function_[owner];
    if (data.op == Op::If) {
      NodeId condition = UniformCondition(function_.Operand(owner, 0)), zero = algebra_.Const(0);
      bool is_then = data.regions[0] == block;
      if (condition != kNoNode)
        expr = algebra_.pool().Select(condition, is_then ? expr : zero, is_then ? zero : expr);
      found_loose(condition == kNoNode && algebra_.pool().FreeLevels(expr) != 0);
    } else if (data.op == Op::For) {
      found_loose(!TripsOf(owner).exact && algebra_.pool().FreeLevels(expr) != 0);
      expr = algebra_.MaxOver(LevelOf(owner), TripsOf(owner).upper, expr, true);
    } else if (data.op == Op::While) {
      NodeId trips = TripsOf(owner).upper;
      found_loose(algebra_.pool().FreeLevels(expr) != 0);
      bool is_test = data.regions[0] == block;  // runs once more than the body
      if (is_test) trips = algebra_.Add(trips, algebra_.Const(1));
      expr = algebra_.MaxOver(LevelOf(owner), trips, expr, !is_test);
    } else {
      auto axes = static_cast<uint32_t>(function_[data.regions[0]].params.size());
      for (uint32_t axis = axes; axis-- > 0;) {
        NodeId trips = TripsOf(owner, axis).upper;
        bool is_free = trips == kNoNode && given_ == Known::Arguments;
        if (!is_free) expr = algebra_.MaxOver(LevelOf(owner, axis), trips, expr, false);
      }
    }
    block = data.parent;
  }
  return expr;
}

NodeId Bounds::SmallestIn(Block block, NodeId expr, Block outer) {
  return algebra_.Neg(LargestIn(block, algebra_.Neg(expr), outer));
}

}  // namespace adc::sizing
