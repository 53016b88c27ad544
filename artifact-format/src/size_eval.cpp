#include "artifact/budget.h"
#include "artifact/size_expr.h"

// Evaluation. Every node is computed eagerly, in array order, which has operands first; a node that fails
// holds the failure as its value, and only a user that really takes it fails in turn. So `select` and empty
// ranges are lazy in what they report, without a walk that recurses over a graph of hostile depth.
//
// Each loop node has a program: the nodes of its body that depend on its own level, in order. A node that
// does not depend on it belongs to the program of an enclosing loop or of the root, and is computed once
// there. Loops nest at most kMaxSizeLevels deep (a body may not bind its own level again), and so does the
// recursion here.
//
// Two counts bound its work. The caller's budget counts values that are computed; the steps of a plan, where
// one is evaluated for a plan, count the passes over the pool as well, so that the cost of many roots over
// one large pool is counted.
//
// Most expressions have no loop, and need no programs; many are a shape or an argument alone, and need no
// memory.

namespace adc::artifact {
namespace {

struct Slot {
  int64_t value = 0;
  NodeId where = kNoNode;
  EvalStatus status = EvalStatus::kOk;
};

bool IsLoop(SizeOp op) {
  return op == SizeOp::kMaxOver || op == SizeOp::kSumOver;
}

int64_t FloorDivide(int64_t left, int64_t right) {
  int64_t quotient = left / right;
  return left % right != 0 && (left < 0) != (right < 0) ? quotient - 1 : quotient;
}

// Of the sign of the divisor. The product of quotient and divisor may be one that 64 bits do not hold.
int64_t FloorModulo(int64_t left, int64_t right) {
  int64_t rest = left % right;
  return rest != 0 && (rest < 0) != (right < 0) ? rest + right : rest;
}

// The value of a node without operands that says all by itself; false where it is another one, or where what
// it names is not there.
bool Leaf(const SizeNode& node, const SizeEnv& env, int64_t* value) {
  if (node.op == SizeOp::kConst) {
    *value = node.value;
    return true;
  }
  if (node.param >= env.params.size()) return false;
  const SizeParam& param = env.params[node.param];
  if (node.op == SizeOp::kArg) {
    *value = param.scalar;
    return param.has_scalar;
  }
  if (node.op != SizeOp::kShape || node.axis >= param.rank) return false;
  *value = param.extents[node.axis];
  return true;
}

class Evaluator {
 public:
  Evaluator(const SizeExprPool& pool, const SizeEnv& env, Steps* steps)
      : pool_(pool),
        env_(env),
        budget_(env.budget),
        steps_(steps),
        slots_(env.allocator),
        marks_(env.allocator),
        programs_(env.allocator),
        ranges_(env.allocator) {}

  EvalResult Run(NodeId root) {
    if (root >= pool_.size() || pool_.FreeLevels(root) != 0) return {EvalStatus::kBadOperand, 0, root};
    if (!Spend(1)) return {stopped_, 0, root};
    size_t count = size_t{root} + 1;
    bool loops = pool_.HasLoops(root);
    if (!SpendPasses(2 * count)) return {stopped_, 0, root};
    if (!slots_.TryResize(count) || !marks_.TryResize(count) || (loops && !ranges_.TryResize(count))) {
      return {EvalStatus::kOutOfMemory, 0, root};
    }
    if (!loops) return RunStraight(root);
    if (!Plan(root)) return {stopped_, 0, root};
    if (!RunProgram(root_range_)) return {stopped_, 0, root};
    const Slot& result = slots_[root];
    return {result.status, result.value, result.where};
  }

 private:
  struct Range {
    uint32_t begin = 0, end = 0;
  };

  bool Stop(EvalStatus status) {
    stopped_ = status;
    return false;
  }
  bool Spend(uint64_t steps) {
    if (budget_ < steps) return Stop(EvalStatus::kBudget);
    budget_ -= steps;
    return SpendPasses(steps);
  }
  bool SpendPasses(uint64_t steps) { return !steps_ || steps_->Spend(steps) || Stop(EvalStatus::kBudget); }

  // Sets `bit` in the marks of everything that `top` reaches.
  void MarkReachable(NodeId top, uint8_t bit) {
    marks_[top] |= bit;
    for (NodeId id = top + 1; id-- > 0;) {
      if (!(marks_[id] & bit)) continue;
      const SizeNode& node = pool_[id];
      for (NodeId operand : node.operands) {
        if (operand != kNoNode) marks_[operand] |= bit;
      }
      for (NodeId operand : pool_.ReadIndices(node)) marks_[operand] |= bit;
    }
  }

  // Lists, in order, the nodes that `top` reaches with free levels that lie in `levels` and hold all of
  // `must`.
  bool ListProgram(NodeId top, uint32_t levels, uint32_t must, Range* range) {
    if (!Spend(uint64_t{top} + 1) || !SpendPasses(2 * (uint64_t{top} + 1))) return false;
    range->begin = static_cast<uint32_t>(programs_.size());
    for (NodeId id = 0; id <= top; ++id) marks_[id] &= kFromRoot;
    MarkReachable(top, kFromHere);
    for (NodeId id = 0; id <= top; ++id) {
      uint32_t free = pool_.FreeLevels(id);
      if (!(marks_[id] & kFromHere) || (free & ~levels) != 0 || (free & must) != must) continue;
      if (programs_.size() >= kMaxProgram) return Stop(EvalStatus::kBudget);
      if (!programs_.TryPush(id)) return Stop(EvalStatus::kOutOfMemory);
    }
    range->end = static_cast<uint32_t>(programs_.size());
    return true;
  }

  // Without loops: everything that the root reaches, once.
  EvalResult RunStraight(NodeId root) {
    MarkReachable(root, kFromRoot);
    for (NodeId id = 0; id <= root; ++id) {
      if (!(marks_[id] & kFromRoot)) continue;
      if (!Spend(1)) return {stopped_, 0, root};
      slots_[id] = Compute(id, pool_[id]);
    }
    const Slot& result = slots_[root];
    return {result.status, result.value, result.where};
  }

  bool Plan(NodeId root) {
    MarkReachable(root, kFromRoot);
    for (NodeId id = 0; id <= root; ++id) {
      const SizeNode& node = pool_[id];
      if (!(marks_[id] & kFromRoot) || !IsLoop(node.op)) continue;
      uint32_t own = 1u << node.axis;
      if (!ListProgram(node.operands[2], pool_.FreeLevels(id) | own, own, &ranges_[id])) return false;
    }
    return ListProgram(root, 0, 0, &root_range_);
  }

  bool RunProgram(Range range) {
    if (!Spend(range.end - range.begin)) return false;
    for (uint32_t position = range.begin; position < range.end; ++position) {
      NodeId id = programs_[position];
      const SizeNode& node = pool_[id];
      if (IsLoop(node.op)) {
        if (!RunLoop(id, node)) return false;
      } else {
        slots_[id] = Compute(id, node);
      }
    }
    return true;
  }

  bool RunLoop(NodeId id, const SizeNode& node) {
    Slot low = slots_[node.operands[0]], high = slots_[node.operands[1]];
    Slot& result = slots_[id];
    result = low.status != EvalStatus::kOk ? low : high;
    if (result.status != EvalStatus::kOk) return true;
    Slot total;
    for (int64_t index = low.value; index < high.value; ++index) {
      // The program may be empty (a body that does not use the level): the iteration still counts.
      if (!Spend(1)) return false;
      indices_[node.axis] = index;
      if (!RunProgram(ranges_[id])) return false;
      const Slot& body = slots_[node.operands[2]];
      if (body.status != EvalStatus::kOk) {
        result = body;
        return true;
      }
      if (node.op == SizeOp::kMaxOver) {
        if (index == low.value || body.value > total.value) total.value = body.value;
      } else if (AddOverflows(total.value, body.value, &total.value)) {
        result = {0, id, EvalStatus::kOverflow};
        return true;
      }
    }
    result = total;
    return true;
  }

  Slot Compute(NodeId id, const SizeNode& node) {
    switch (node.op) {
      case SizeOp::kConst:
      case SizeOp::kArg:
      case SizeOp::kShape: {
        Slot result;
        if (!Leaf(node, env_, &result.value)) break;
        return result;
      }
      case SizeOp::kRead:
        return Read(id, node);
      case SizeOp::kIndex:
        return {indices_[node.axis], kNoNode, EvalStatus::kOk};
      case SizeOp::kNeg:
      case SizeOp::kClamp0: {
        Slot operand = slots_[node.operands[0]];
        if (operand.status != EvalStatus::kOk) return operand;
        if (node.op == SizeOp::kClamp0)
          return {operand.value > 0 ? operand.value : 0, kNoNode, EvalStatus::kOk};
        if (operand.value == INT64_MIN) return {0, id, EvalStatus::kOverflow};
        return {-operand.value, kNoNode, EvalStatus::kOk};
      }
      case SizeOp::kSelect: {
        const Slot& condition = slots_[node.operands[0]];
        if (condition.status != EvalStatus::kOk) return condition;
        return slots_[node.operands[condition.value != 0 ? 1 : 2]];
      }
      case SizeOp::kMaxOver:
      case SizeOp::kSumOver:
        break;
      case SizeOp::kAdd:
      case SizeOp::kSub:
      case SizeOp::kMul:
      case SizeOp::kDiv:
      case SizeOp::kMod:
      case SizeOp::kFloorDiv:
      case SizeOp::kCeilDiv:
      case SizeOp::kMin:
      case SizeOp::kMax:
      case SizeOp::kEq:
      case SizeOp::kNe:
      case SizeOp::kLt:
      case SizeOp::kLe:
      case SizeOp::kGt:
      case SizeOp::kGe: {
        Slot left = slots_[node.operands[0]], right = slots_[node.operands[1]];
        if (left.status != EvalStatus::kOk) return left;
        if (right.status != EvalStatus::kOk) return right;
        Slot result;
        if (!EvaluateBinary(node.op, left.value, right.value, &result.value))
          return {0, id, EvalStatus::kOverflow};
        return result;
      }
    }
    return {0, id, EvalStatus::kBadOperand};
  }

  Slot Read(NodeId id, const SizeNode& node) {
    if (!env_.read) return {0, id, EvalStatus::kNeedsDeviceData};
    int64_t indices[8];
    uint32_t count = 0;
    for (NodeId operand : pool_.ReadIndices(node)) {
      if (slots_[operand].status != EvalStatus::kOk) return slots_[operand];
      indices[count++] = slots_[operand].value;
    }
    Slot result;
    if (!env_.read(env_.user, node.param, {indices, count}, &result.value))
      return {0, id, EvalStatus::kBadOperand};
    return result;
  }

  static constexpr size_t kMaxProgram = 1u << 22;
  static constexpr uint8_t kFromRoot = 1, kFromHere = 2;

  const SizeExprPool& pool_;
  const SizeEnv& env_;
  uint64_t budget_;
  Steps* steps_;
  EvalStatus stopped_ = EvalStatus::kOk;
  Vector<Slot> slots_;
  Vector<uint8_t> marks_;
  Vector<NodeId> programs_;
  Vector<Range> ranges_;
  Range root_range_;
  int64_t indices_[kMaxSizeLevels] = {};
};

}  // namespace

bool EvaluateBinary(SizeOp op, int64_t left, int64_t right, int64_t* result) {
  switch (op) {
    case SizeOp::kAdd:
      return !AddOverflows(left, right, result);
    case SizeOp::kSub:
      return !SubtractOverflows(left, right, result);
    case SizeOp::kMul:
      return !MultiplyOverflows(left, right, result);
    case SizeOp::kDiv:
    case SizeOp::kFloorDiv:
    case SizeOp::kCeilDiv:
    case SizeOp::kMod:
      if (right == 0 || (op == SizeOp::kCeilDiv && right < 0)) {
        *result = 0;
        return true;
      }
      if (right == -1) {  // the one division that may overflow
        if (op == SizeOp::kMod) {
          *result = 0;
          return true;
        }
        return !SubtractOverflows(int64_t{0}, left, result);
      }
      if (op == SizeOp::kDiv) *result = left / right;
      if (op == SizeOp::kFloorDiv) *result = FloorDivide(left, right);
      if (op == SizeOp::kMod) *result = FloorModulo(left, right);
      if (op == SizeOp::kCeilDiv) *result = left / right + (left % right > 0 ? 1 : 0);
      return true;
    case SizeOp::kMin:
      *result = left < right ? left : right;
      return true;
    case SizeOp::kMax:
      *result = left > right ? left : right;
      return true;
    case SizeOp::kEq:
      *result = left == right;
      return true;
    case SizeOp::kNe:
      *result = left != right;
      return true;
    case SizeOp::kLt:
      *result = left < right;
      return true;
    case SizeOp::kLe:
      *result = left <= right;
      return true;
    case SizeOp::kGt:
      *result = left > right;
      return true;
    case SizeOp::kGe:
      *result = left >= right;
      return true;
    case SizeOp::kConst:
    case SizeOp::kArg:
    case SizeOp::kShape:
    case SizeOp::kRead:
    case SizeOp::kIndex:
    case SizeOp::kNeg:
    case SizeOp::kClamp0:
    case SizeOp::kSelect:
    case SizeOp::kMaxOver:
    case SizeOp::kSumOver:
      return false;
  }
  return false;
}

EvalResult Evaluate(const SizeExprPool& pool, NodeId root, const SizeEnv& env, Steps* steps) {
  constexpr uint64_t kLeafSteps = 2;
  EvalResult result;
  bool leaf = root < pool.size() && env.budget >= kLeafSteps && Leaf(pool[root], env, &result.value);
  if (leaf && (!steps || steps->Spend(kLeafSteps))) return result;
  return Evaluator(pool, env, steps).Run(root);
}

EvalResult Evaluate(const SizeExprPool& pool, NodeId root, const SizeEnv& env) {
  return Evaluate(pool, root, env, nullptr);
}

}  // namespace adc::artifact
