#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "artifact/size_expr.h"

using namespace adc::artifact;

namespace {

// What the parameters of these tests hold: 0 an i64 scalar, 1 a buffer of extents {5, 3}, 2 an integer
// buffer.
struct World {
  int64_t scalar = 7;
  int64_t extents[2] = {5, 3};
  std::vector<int64_t> data = {0, 2, 2, 7, 12};
  int64_t data_extent = 5;
  SizeParam params[3];
  SizeEnv env;

  World() {
    params[0].has_scalar = true;
    params[0].scalar = scalar;
    params[1].extents = extents;
    params[1].rank = 2;
    params[2].extents = &data_extent;
    params[2].rank = 1;
    env.params = {params, 3};
    env.user = this;
    env.read = [](void* user, uint32_t param, std::span<const int64_t> indices, int64_t* value) {
      const std::vector<int64_t>& data = static_cast<World*>(user)->data;
      if (param != 2 || indices.size() != 1 || indices[0] < 0 || indices[0] >= int64_t(data.size()))
        return false;
      *value = data[static_cast<size_t>(indices[0])];
      return true;
    };
  }
};

// The evaluator's oracle: straight recursion, one environment of indices, no sharing.
bool Recurse(const SizeExprPool& pool, NodeId id, const World& world, int64_t (&index)[kMaxSizeLevels],
             int64_t* value) {
  const SizeNode& node = pool[id];
  int64_t a = 0, b = 0;
  switch (node.op) {
    case SizeOp::kConst:
      *value = node.value;
      return true;
    case SizeOp::kArg:
      *value = world.scalar;
      return true;
    case SizeOp::kShape:
      *value = world.extents[node.axis];
      return true;
    case SizeOp::kIndex:
      *value = index[node.axis];
      return true;
    case SizeOp::kRead:
      return Recurse(pool, pool.ReadIndices(node)[0], world, index, &a) &&
             world.env.read(world.env.user, node.param, {&a, 1}, value);
    case SizeOp::kNeg:
      return Recurse(pool, node.operands[0], world, index, &a) &&
             !__builtin_sub_overflow(int64_t{0}, a, value);
    case SizeOp::kClamp0:
      if (!Recurse(pool, node.operands[0], world, index, &a)) return false;
      *value = std::max<int64_t>(a, 0);
      return true;
    case SizeOp::kSelect:
      return Recurse(pool, node.operands[0], world, index, &a) &&
             Recurse(pool, node.operands[a != 0 ? 1 : 2], world, index, value);
    case SizeOp::kMaxOver:
    case SizeOp::kSumOver: {
      if (!Recurse(pool, node.operands[0], world, index, &a) ||
          !Recurse(pool, node.operands[1], world, index, &b)) {
        return false;
      }
      int64_t total = 0, outer = index[node.axis];
      for (int64_t at = a; at < b; ++at) {
        int64_t body = 0;
        index[node.axis] = at;
        if (!Recurse(pool, node.operands[2], world, index, &body)) return false;
        if (node.op == SizeOp::kMaxOver) {
          total = at == a ? body : std::max(total, body);
        } else if (__builtin_add_overflow(total, body, &total)) {
          return false;
        }
      }
      index[node.axis] = outer;
      *value = total;
      return true;
    }
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
    case SizeOp::kGe:
      return Recurse(pool, node.operands[0], world, index, &a) &&
             Recurse(pool, node.operands[1], world, index, &b) && EvaluateBinary(node.op, a, b, value);
  }
}

int64_t Value(const SizeExprPool& pool, NodeId id, const SizeEnv& env) {
  EvalResult result = Evaluate(pool, id, env);
  REQUIRE(result.ok());
  return result.value;
}

}  // namespace

TEST_CASE("integer division follows the IR", "[size_expr]") {
  struct Row {
    SizeOp op;
    int64_t left, right, expected;
  };
  constexpr int64_t kMin = INT64_MIN;
  for (const Row& row : {Row{SizeOp::kDiv, 7, 2, 3},
                         {SizeOp::kDiv, -7, 2, -3},
                         {SizeOp::kDiv, 7, 0, 0},
                         {SizeOp::kMod, 7, 3, 1},
                         {SizeOp::kMod, -7, 3, 2},
                         {SizeOp::kMod, 7, -3, -2},
                         {SizeOp::kMod, -7, -3, -1},
                         {SizeOp::kMod, 1, INT64_MIN, INT64_MIN + 1},
                         {SizeOp::kMod, INT64_MIN, INT64_MAX, INT64_MAX - 1},
                         {SizeOp::kMod, 5, 0, 0},
                         {SizeOp::kMod, kMin, -1, 0},
                         {SizeOp::kFloorDiv, -7, 2, -4},
                         {SizeOp::kFloorDiv, 7, -2, -4},
                         {SizeOp::kFloorDiv, 6, -2, -3},
                         {SizeOp::kFloorDiv, 1, 0, 0},
                         {SizeOp::kCeilDiv, 7, 2, 4},
                         {SizeOp::kCeilDiv, -7, 2, -3},
                         {SizeOp::kCeilDiv, 6, 2, 3},
                         {SizeOp::kCeilDiv, 6, 0, 0},
                         {SizeOp::kCeilDiv, 6, -2, 0}}) {
    INFO(SizeOpName(row.op) << " " << row.left << " " << row.right);
    int64_t result = 99;
    CHECK(EvaluateBinary(row.op, row.left, row.right, &result));
    CHECK(result == row.expected);
  }
  int64_t result = 0;
  CHECK_FALSE(EvaluateBinary(SizeOp::kDiv, kMin, -1, &result));
  CHECK_FALSE(EvaluateBinary(SizeOp::kFloorDiv, kMin, -1, &result));
  CHECK_FALSE(EvaluateBinary(SizeOp::kAdd, INT64_MAX, 1, &result));
  CHECK_FALSE(EvaluateBinary(SizeOp::kMul, INT64_MAX, 2, &result));
}

TEST_CASE("equal expressions are one node and trivial cases fold", "[size_expr]") {
  SizeExprPool pool;
  NodeId n = pool.Arg(0), x = pool.Shape(1, 0);
  CHECK(pool.Arg(0) == n);
  CHECK(pool.Add(n, x) == pool.Add(x, n));
  CHECK(pool.Sub(n, x) != pool.Sub(x, n));
  CHECK(pool.Add(n, pool.Const(0)) == n);
  CHECK(pool.Mul(pool.Const(1), n) == n);
  CHECK(pool.IsConst(pool.Mul(n, pool.Const(0))));
  CHECK(pool.Clamp0(x) == x);
  CHECK(pool.Clamp0(n) != n);
  CHECK(pool.Clamp0(pool.Clamp0(n)) == pool.Clamp0(n));
  CHECK(pool.Max(n, pool.Const(0)) == pool.Clamp0(n));
  int64_t folded = 0;
  CHECK(pool.IsConst(pool.Mul(pool.Const(6), pool.Const(7)), &folded));
  CHECK(folded == 42);
  // What would overflow stays, so that evaluation reports it.
  NodeId large = pool.Mul(pool.Const(INT64_MAX), pool.Const(2));
  CHECK_FALSE(pool.IsConst(large));
  CHECK(Evaluate(pool, large, SizeEnv{}).status == EvalStatus::kOverflow);
  // Unknown stays unknown.
  CHECK(pool.Add(n, kNoNode) == kNoNode);
  CHECK(pool.MaxOver(0, n, kNoNode, n) == kNoNode);
  CHECK(pool.DependsOn(pool.Add(n, x), 0));
  CHECK_FALSE(pool.DependsOn(x, 0));
}

TEST_CASE("a copied pool takes further nodes", "[size_expr]") {
  SizeExprPool pool;
  for (int64_t value = 0; value < 200; ++value) CHECK(pool.Const(value) == static_cast<NodeId>(value));
  SizeExprPool copy = pool;
  CHECK(copy.Const(77) == 77);
  CHECK(copy.Const(1000) == 200);
}

TEST_CASE("classes say what an expression needs", "[size_expr]") {
  SizeExprPool pool;
  NodeId c = pool.Const(3), n = pool.Arg(0), index = pool.Index(0);
  NodeId read = pool.Read(2, {&index, 1});
  CHECK(pool.ClassOf(c) == SizeClass::kS0);
  CHECK(pool.ClassOf(pool.Add(n, c)) == SizeClass::kS1);
  CHECK(pool.ClassOf(pool.MaxOver(0, c, n, read)) == SizeClass::kS2);
  CHECK(pool.ClassOf(kNoNode) == SizeClass::kS2);
  CHECK(pool.FreeLevels(read) == 1);
  CHECK(pool.FreeLevels(pool.MaxOver(0, c, n, read)) == 0);
}

TEST_CASE("loops evaluate as they say", "[size_expr]") {
  SizeExprPool pool;
  World world;
  NodeId zero = pool.Const(0), n = pool.Arg(0), i = pool.Index(0), j = pool.Index(1);
  NodeId next = pool.Add(i, pool.Const(1));
  NodeId row = pool.Sub(pool.Read(2, {&next, 1}), pool.Read(2, {&i, 1}));
  CHECK(Value(pool, pool.MaxOver(0, zero, pool.Const(4), row), world.env) == 5);
  CHECK(Value(pool, pool.SumOver(0, zero, pool.Const(4), row), world.env) == 12);
  // Triangular: sum over i < n of sum over j < i of 1 is n (n - 1) / 2.
  NodeId inner = pool.SumOver(1, zero, i, pool.Add(pool.Mul(j, zero), pool.Const(1)));
  CHECK(Value(pool, pool.SumOver(0, zero, n, inner), world.env) == 21);
  NodeId shrinking = pool.MaxOver(0, zero, n, pool.Sub(n, i));
  CHECK(Value(pool, shrinking, world.env) == 7);
  // A maximum over an empty range is 0, and over a range of negative values negative.
  CHECK(Value(pool, pool.MaxOver(0, n, zero, i), world.env) == 0);
  CHECK(Value(pool, pool.MaxOver(0, pool.Const(-5), pool.Const(-2), i), world.env) == -3);
}

TEST_CASE("only what is taken can fail", "[size_expr]") {
  SizeExprPool pool;
  World world;
  NodeId zero = pool.Const(0), far = pool.Const(99), n = pool.Arg(0);
  NodeId bad = pool.Read(2, {&far, 1});
  NodeId condition = pool.Binary(SizeOp::kGt, n, pool.Const(100));
  CHECK(Value(pool, pool.Select(condition, bad, zero), world.env) == 0);
  EvalResult taken = Evaluate(pool, pool.Select(condition, zero, bad), world.env);
  CHECK(taken.status == EvalStatus::kBadOperand);
  CHECK(taken.where == bad);
  NodeId i = pool.Index(0), out = pool.Add(i, far);
  NodeId body = pool.Read(2, {&out, 1});
  CHECK(Value(pool, pool.MaxOver(0, n, zero, body), world.env) == 0);
  CHECK(Evaluate(pool, pool.MaxOver(0, zero, n, body), world.env).status == EvalStatus::kBadOperand);
}

TEST_CASE("evaluation says what is missing", "[size_expr]") {
  SizeExprPool pool;
  World world;
  NodeId zero = pool.Const(0);
  NodeId read = pool.Read(2, {&zero, 1});
  SizeEnv blind = world.env;
  blind.read = nullptr;
  CHECK(Evaluate(pool, read, blind).status == EvalStatus::kNeedsDeviceData);
  CHECK(Evaluate(pool, pool.Arg(1), world.env).status == EvalStatus::kBadOperand);
  CHECK(Evaluate(pool, pool.Arg(9), world.env).status == EvalStatus::kBadOperand);
  CHECK(Evaluate(pool, pool.Shape(1, 2), world.env).status == EvalStatus::kBadOperand);
  CHECK(Evaluate(pool, pool.Index(0), world.env).status == EvalStatus::kBadOperand);
  CHECK(Evaluate(pool, kNoNode, world.env).status == EvalStatus::kBadOperand);
  SizeEnv poor = world.env;
  poor.budget = 1000;
  NodeId large = pool.SumOver(0, zero, pool.Const(1000000), pool.Index(0));
  CHECK(Evaluate(pool, large, poor).status == EvalStatus::kBudget);
  CHECK(Evaluate(pool, large, world.env).value == 499999500000);
}

TEST_CASE("a graph as deep as the limit neither recurses nor takes long", "[size_expr]") {
  SizeExprPool pool;
  Error error;
  SizeNode node;
  node.op = SizeOp::kArg;
  REQUIRE(pool.AppendChecked(node, {}, &error));
  node.op = SizeOp::kAdd;
  for (NodeId id = 1; id < kMaxSizeNodes; ++id) {
    node.operands[0] = node.operands[1] = id - 1;
    if (id >= 60) node.operands[1] = 0;
    if (id >= 40) node.operands[0] = id - 1, node.operands[1] = 0;
    REQUIRE(pool.AppendChecked(node, {}, &error));
  }
  CHECK_FALSE(pool.AppendChecked(node, {}, &error));
  CHECK(error.code == Code::kOverLimit);
  World world;
  world.params[0].scalar = 1;
  int64_t expected = (int64_t{1} << 39) + (kMaxSizeNodes - 40);
  CHECK(Value(pool, kMaxSizeNodes - 1, world.env) == expected);
  String text;
  FormatSizeExpr(pool, kMaxSizeNodes - 1, {}, &text);
  CHECK(text.size() < 1000);
}

TEST_CASE("nodes that break a rule are refused", "[size_expr]") {
  SizeExprPool pool;
  NodeId index = pool.Index(0), zero = pool.Const(0), n = pool.Arg(0);
  NodeId loop = pool.MaxOver(0, zero, n, index);
  auto refuses = [&](const SizeNode& node, std::span<const NodeId> reads = {}) {
    Error error;
    bool refused = !pool.AppendChecked(node, reads, &error);
    return refused && error.code == Code::kMalformed && error.rule == Rule::kH9 && !error.message().empty();
  };
  SizeNode node;
  node.op = SizeOp::kAdd;
  node.operands[0] = zero;
  CHECK(refuses(node));  // one operand short
  node.operands[1] = static_cast<NodeId>(pool.size());
  CHECK(refuses(node));  // names itself
  node.operands[1] = zero;
  node.operands[2] = zero;
  CHECK(refuses(node));  // one too many
  node = {};
  node.op = static_cast<SizeOp>(200);
  CHECK(refuses(node));
  node = {};
  node.op = SizeOp::kIndex;
  node.axis = kMaxSizeLevels;
  CHECK(refuses(node));
  node = {};
  node.op = SizeOp::kSumOver;
  node.operands[0] = zero;
  node.operands[1] = n;
  node.operands[2] = loop;
  CHECK(refuses(node));  // binds level 0 twice
  node = {};
  NodeId late = static_cast<NodeId>(pool.size());
  node.op = SizeOp::kRead;
  CHECK(refuses(node, {&late, 1}));
  node.op = SizeOp::kConst;
  CHECK(refuses(node, {&zero, 1}));
}

TEST_CASE("random graphs evaluate as straight recursion does", "[size_expr]") {
  std::mt19937 random(20240607);
  World world;
  int evaluated = 0;
  for (int round = 0; round < 4000; ++round) {
    SizeExprPool pool;
    Error error;
    auto pick = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
    for (int count = 0; count < 24; ++count) {
      SizeNode node;
      node.op = static_cast<SizeOp>(pick(static_cast<uint32_t>(SizeOp::kSumOver) + 1));
      if (pool.size() < 4) node.op = static_cast<SizeOp>(pick(3));
      uint32_t size = static_cast<uint32_t>(pool.size());
      for (uint32_t operand = 0; operand < SizeOpOperands(node.op); ++operand)
        node.operands[operand] = pick(size);
      NodeId read_index = kNoNode;
      std::span<const NodeId> reads;
      if (node.op == SizeOp::kConst) node.value = static_cast<int64_t>(pick(9)) - 2;
      if (node.op == SizeOp::kShape) node.param = 1, node.axis = pick(2);
      if (node.op == SizeOp::kRead) {
        node.param = 2;
        read_index = pick(size);
        reads = {&read_index, 1};
      }
      bool loop = node.op == SizeOp::kMaxOver || node.op == SizeOp::kSumOver;
      if (loop || node.op == SizeOp::kIndex) node.axis = pick(3);
      pool.AppendChecked(node, reads, &error);  // some bind a level twice and are refused
      error = {};
    }
    for (NodeId id = 0; id < pool.size(); ++id) {
      if (pool.FreeLevels(id) != 0) continue;
      SizeEnv env = world.env;
      env.budget = 200000;
      EvalResult result = Evaluate(pool, id, env);
      if (result.status == EvalStatus::kBudget) continue;
      int64_t index[kMaxSizeLevels] = {}, expected = 0;
      bool ok = Recurse(pool, id, world, index, &expected);
      INFO("round " << round << ", node " << id);
      REQUIRE(result.ok() == ok);
      if (ok) REQUIRE(result.value == expected);
      ++evaluated;
    }
  }
  CHECK(evaluated > 20000);
}

TEST_CASE("expressions print for people", "[size_expr]") {
  SizeExprPool pool;
  NodeId i = pool.Index(0);
  NodeId root =
      pool.MaxOver(0, pool.Const(0), pool.Arg(0), pool.Mul(pool.Sub(pool.Shape(1, 0), i), pool.Const(2)));
  std::string_view names[] = {"n", "x"};
  String text;
  FormatSizeExpr(pool, root, names, &text);
  CHECK(text == "max(i0 in 0..n: ((shape(x, 0) - i0) * 2))");
  String unknown;
  FormatSizeExpr(pool, kNoNode, names, &unknown);
  CHECK(unknown == "unknown");
}
