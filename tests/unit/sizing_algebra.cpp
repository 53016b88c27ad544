// Size expressions: the normal form, direction of growth, maxima over loops.

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "sizing/compact_pool.h"
#include "sizing/range_algebra.h"
#include "sizing/size_algebra.h"

using namespace adc::sizing;
namespace artifact = adc::artifact;

namespace {

std::string Text(const SizeExprPool& pool, NodeId expr) {
  artifact::String text;
  std::string_view names[] = {"n", "m", "x"};
  artifact::FormatSizeExpr(pool, expr, names, &text);
  return std::string(text.view());
}

/// Parameters: scalars n and m, and a buffer x of one axis.
struct Launch {
  int64_t n = 0, m = 0;
  std::vector<int64_t> x;
};

artifact::EvalResult Value(const SizeExprPool& pool, NodeId expr, const Launch& launch) {
  artifact::SizeParam params[3];
  params[0] = {true, launch.n, nullptr, 0};
  params[1] = {true, launch.m, nullptr, 0};
  int64_t extent = static_cast<int64_t>(launch.x.size());
  params[2] = {false, 0, &extent, 1};
  artifact::SizeEnv env;
  env.params = params;
  env.user = const_cast<Launch*>(&launch);
  env.read = [](void* user, uint32_t, std::span<const int64_t> indices, int64_t* value) {
    const auto& x = static_cast<const Launch*>(user)->x;
    if (indices[0] < 0 || indices[0] >= static_cast<int64_t>(x.size())) return false;
    *value = x[static_cast<size_t>(indices[0])];
    return true;
  };
  return Evaluate(pool, expr, env);
}

/// A random expression of n, m, index(0) and constants.
NodeId RandomExpr(SizeAlgebra& algebra, std::mt19937& random, int depth) {
  SizeExprPool& pool = algebra.pool();
  switch (depth == 0 ? random() % 4 : random() % 12) {
    case 0:
      return pool.Arg(0);
    case 1:
      return pool.Arg(1);
    case 2:
      return pool.Index(0);
    case 3:
      return algebra.Const(static_cast<int64_t>(random() % 9) - 4);
    case 4:
      return algebra.Add(RandomExpr(algebra, random, depth - 1), RandomExpr(algebra, random, depth - 1));
    case 5:
      return algebra.Sub(RandomExpr(algebra, random, depth - 1), RandomExpr(algebra, random, depth - 1));
    case 6:
      return algebra.Mul(RandomExpr(algebra, random, depth - 1), RandomExpr(algebra, random, depth - 1));
    case 7:
      return algebra.Min(RandomExpr(algebra, random, depth - 1), RandomExpr(algebra, random, depth - 1));
    case 8:
      return algebra.Max(RandomExpr(algebra, random, depth - 1), RandomExpr(algebra, random, depth - 1));
    case 9:
      return algebra.Divide(SizeOp::kDiv, RandomExpr(algebra, random, depth - 1),
                            algebra.Const(1 + static_cast<int64_t>(random() % 4)));
    case 10:
      return pool.Binary(SizeOp::kMod, RandomExpr(algebra, random, depth - 1),
                         algebra.Const(1 + static_cast<int64_t>(random() % 5)));
    default:
      return algebra.Clamp0(RandomExpr(algebra, random, depth - 1));
  }
}

}  // namespace

TEST_CASE("sums meet in one normal form", "[sizing]") {
  SizeExprPool pool;
  SizeAlgebra algebra(pool);
  NodeId n = pool.Arg(0), i = pool.Index(0);
  CHECK(algebra.Sub(algebra.Add(i, n), i) == n);
  CHECK(algebra.Add(algebra.Mul(n, algebra.Const(3)), algebra.Neg(algebra.Add(n, n))) == n);
  CHECK(Text(pool, algebra.Sub(n, algebra.Add(i, algebra.Const(2)))) == "(n - i0) - 2");
  CHECK(algebra.Divide(SizeOp::kDiv, algebra.Add(algebra.Mul(i, algebra.Const(4)), algebra.Const(8)),
                       algebra.Const(4)) == algebra.Add(i, algebra.Const(2)));
  CHECK(algebra.Min(n, algebra.Add(n, algebra.Const(1))) == n);
  CHECK(algebra.Clamp0(i) == i);
  CHECK(algebra.Add(kNoNode, n) == kNoNode);
}

TEST_CASE("a maximum needs no loop where the expression only grows or only falls", "[sizing]") {
  SizeExprPool pool;
  SizeAlgebra algebra(pool);
  NodeId n = pool.Arg(0), i = pool.Index(0), trips = algebra.Clamp0(n);
  CHECK(algebra.MaxOver(0, trips, algebra.Sub(n, i), false) == n);
  CHECK(Text(pool, algebra.MaxOver(0, trips, i, false)) == "max(n, 0) - 1");
  CHECK(algebra.MaxOver(0, trips, algebra.Add(i, algebra.Const(1)), true) == trips);
  // Neither grows nor falls: a loop stays.
  NodeId product = algebra.Mul(i, algebra.Sub(n, i));
  CHECK(pool[algebra.MaxOver(0, trips, product, false)].op == SizeOp::kMaxOver);
  // Periodic: the loop covers one period.
  NodeId periodic = algebra.MaxOver(0, trips, pool.Binary(SizeOp::kMod, i, algebra.Const(8)), false);
  CHECK(Text(pool, periodic) == "max(i0 in 0..min(max(n, 0), 8): mod(i0, 8))");
  // Unknown trips are enough where the largest value comes first.
  CHECK(algebra.MaxOver(0, kNoNode, algebra.Sub(n, i), false) == n);
  CHECK(algebra.MaxOver(0, kNoNode, i, false) == kNoNode);
}

TEST_CASE("partial sums have a closed form where the body is linear", "[sizing]") {
  SizeExprPool pool;
  SizeAlgebra algebra(pool);
  NodeId i = pool.Index(0);
  NodeId sum = algebra.SumBelow(0, algebra.Clamp0(pool.Arg(0)),
                                algebra.Add(algebra.Mul(i, algebra.Const(3)), pool.Arg(1)));
  for (int64_t n : {0, 1, 2, 7}) {
    int64_t expected = 0;
    for (int64_t k = 0; k < n; ++k) expected += 3 * k + 5;
    CHECK(Value(pool, sum, {n, 5, {}}).value == expected);
  }
  NodeId square = algebra.SumBelow(0, i, algebra.Mul(i, i));  // below the loop's own index
  NodeId largest = algebra.MaxOver(0, algebra.Const(5), square, true);
  CHECK(Value(pool, largest, {}).value == 0 + 1 + 4 + 9);
}

TEST_CASE("maxima, minima and constant ranges of random expressions", "[sizing]") {
  std::mt19937 random(7);
  uint32_t compared = 0;
  for (int round = 0; round < 3000; ++round) {
    SizeExprPool pool;
    SizeAlgebra algebra(pool);
    NodeId body = RandomExpr(algebra, random, 4);
    NodeId trips = algebra.Clamp0(pool.Arg(1));
    NodeId largest = algebra.MaxOver(0, trips, body, true);
    NodeId smallest = algebra.MinOver(0, trips, body);
    ConstantRange range = algebra.RangeOf(body);
    for (Launch launch : {Launch{3, 4, {}}, Launch{-2, 6, {}}, Launch{5, 1, {}}, Launch{0, 0, {}}}) {
      int64_t best = 0, worst = 0;
      bool fits = true;
      for (int64_t k = 0; k < launch.m && fits; ++k) {
        NodeId at = algebra.Substitute(body, 0, algebra.Const(k));
        artifact::EvalResult value = Value(pool, at, launch);
        fits = value.ok();
        if (!fits) break;
        REQUIRE(value.value >= range.low);
        REQUIRE(value.value <= range.high);
        best = k == 0 ? value.value : std::max(best, value.value);
        worst = k == 0 ? value.value : std::min(worst, value.value);
      }
      if (!fits) continue;
      artifact::EvalResult high = Value(pool, largest, launch), low = Value(pool, smallest, launch);
      if (!high.ok() || !low.ok()) continue;
      ++compared;
      INFO(Text(pool, body) << " -> " << Text(pool, largest));
      REQUIRE(high.value == best);
      if (launch.m > 0) REQUIRE(low.value == worst);
    }
  }
  CHECK(compared > 8000);
}

TEST_CASE("a compact pool keeps what its roots mean", "[sizing]") {
  SizeExprPool pool, small;
  SizeAlgebra algebra(pool);
  NodeId waste = algebra.Mul(pool.Arg(0), pool.Arg(1));
  NodeId index[] = {pool.Index(3)};
  NodeId root = pool.MaxOver(3, algebra.Const(0), pool.Shape(2, 0), pool.Read(2, index));
  NodeId unknown = kNoNode, copy = root;
  NodeId* roots[] = {&copy, &unknown};
  CompactPool(pool, small, roots);
  CHECK(small.size() < pool.size());
  CHECK(waste != root);
  CHECK(unknown == kNoNode);
  Launch launch{0, 0, {3, 9, 4}};
  CHECK(Value(small, copy, launch).value == 9);
  CHECK(Value(pool, root, launch).value == 9);
}

TEST_CASE("the length of a loop holds at the ends of its type", "[sizing]") {
  constexpr int64_t kLeast = INT64_MIN, kMost = INT64_MAX;
  SizeExprPool pool;
  SizeAlgebra algebra(pool);
  RangeAlgebra ranges(algebra);
  NodeId n = pool.Arg(0), m = pool.Arg(1), five = algebra.Const(5), far_end = algebra.Const(kMost - 2);
  using adc::ir::Scalar;

  // Far below is empty, and further above than 64 bits say is an error.
  NodeId between = ranges.Length(n, m, Scalar::I64, true);
  CHECK(Value(pool, between, {3, 10, {}}).value == 7);
  CHECK(Value(pool, between, {5, kLeast, {}}).value == 0);
  CHECK(Value(pool, between, {kMost, kLeast, {}}).value == 0);
  CHECK(Value(pool, between, {kLeast, 0, {}}).status == artifact::EvalStatus::kOverflow);
  NodeId from_five = ranges.Length(five, n, Scalar::I64, false);
  CHECK(Value(pool, from_five, {kLeast + 1, 0, {}}).value == 0);
  CHECK(Value(pool, from_five, {9, 0, {}}).value == 4);

  // Ends that wrap in the kernel do not cancel: it runs no iteration there.
  NodeId moved = ranges.Length(far_end, algebra.Add(n, far_end), Scalar::I64, true);
  CHECK(Value(pool, moved, {2, 0, {}}).value == 2);
  CHECK(Value(pool, moved, {3, 0, {}}).status == artifact::EvalStatus::kOverflow);
  NodeId narrow = ranges.Length(n, algebra.Add(n, five), Scalar::I32, true);
  CHECK(Value(pool, narrow, {45, 0, {}}).value == 5);
  CHECK(Value(pool, narrow, {INT32_MAX - 2, 0, {}}).value == 0);

  // What only needs space, and what begins at a constant, stays a sum.
  CHECK(Text(pool, ranges.Length(n, algebra.Add(n, five), Scalar::I32, false)) == "5");
  CHECK(Text(pool, ranges.Length(algebra.Const(1), algebra.Add(n, algebra.Const(1)), Scalar::I32, true)) ==
        "max(n, 0)");
}

TEST_CASE("a comparison is decided where constants bound both sides apart", "[sizing]") {
  SizeExprPool pool;
  SizeAlgebra algebra(pool);
  RangeAlgebra ranges(algebra);
  auto between = [&](int64_t low, int64_t high) { return Range{algebra.Const(low), algebra.Const(high)}; };
  Range small = between(-2, 5), large = between(5, 9), unknown = {}, n = Range::Exactly(pool.Arg(0));
  auto text = [&](SizeOp op, Range a, Range b) {
    Range result = ranges.Compared(op, a, b);
    return result.Exact() ? Text(pool, result.lower) : "?";
  };
  CHECK(text(SizeOp::kLe, small, large) == "1");
  CHECK(text(SizeOp::kGt, small, large) == "0");
  CHECK(text(SizeOp::kLt, small, large) == "?");
  CHECK(text(SizeOp::kGe, large, small) == "1");
  CHECK(text(SizeOp::kLt, large, small) == "0");
  CHECK(text(SizeOp::kEq, small, between(6, 7)) == "0");
  CHECK(text(SizeOp::kNe, small, between(6, 7)) == "1");
  CHECK(text(SizeOp::kNe, small, large) == "?");
  // An end of int64 is no bound: a u64 may lie beyond.
  CHECK(text(SizeOp::kLe, n, Range::Exactly(algebra.Const(INT64_MAX))) == "n <= 9223372036854775807");
  CHECK(text(SizeOp::kGe, Range::Exactly(algebra.Const(INT64_MAX)), unknown) == "?");
  CHECK(text(SizeOp::kGt, between(7, 8), unknown) == "?");
}
