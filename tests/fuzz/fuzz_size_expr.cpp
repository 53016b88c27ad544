// Builds a pool from any bytes, node by node through the reader's door, and evaluates every root under a
// small budget.

#include <algorithm>
#include <cstdlib>

#include "artifact/budget.h"
#include "artifact/size_expr.h"
#include "seeds.h"
#include "size_ops.h"

using namespace adc::artifact;

namespace {

constexpr size_t kNodeBytes = 8;
constexpr uint64_t kSteps = 40000;

bool ReadData(void*, uint32_t param, std::span<const int64_t> indices, int64_t* value) {
  if (param != 1 || indices.size() != 1 || indices[0] < 0 || indices[0] >= 16) return false;
  *value = indices[0] * 3 - 7;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  SizeExprPool pool;
  for (size_t at = 0; at + kNodeBytes <= size; at += kNodeBytes) {
    const uint8_t* bytes = data + at;
    SizeNode node;
    node.op = static_cast<SizeOp>(bytes[0] % (kSizeOps + 7));
    node.param = bytes[1] % 3;
    node.axis = bytes[2] % 20;
    node.value = static_cast<int8_t>(bytes[3]);
    if (bytes[3] == 0x80) node.value = INT64_MIN;
    if (bytes[3] == 0x7F) node.value = INT64_MAX;
    uint32_t operands = static_cast<uint32_t>(node.op) < kSizeOps ? SizeOpOperands(node.op) : bytes[7] % 4;
    uint32_t count = static_cast<uint32_t>(pool.size());
    // Operands count back from the end, so that mutated bytes still build deep graphs; a few point nowhere.
    for (uint32_t index = 0; index < operands; ++index) {
      uint8_t back = bytes[4 + index];
      node.operands[index] = back == 0xFF ? count : back < count ? count - 1 - back : 0;
    }
    NodeId read_index = count > 0 ? (bytes[4] % count) : 0;
    std::span<const NodeId> reads;
    if (node.op == SizeOp::kRead) reads = {&read_index, 1};
    Error error;
    if (!pool.AppendChecked(node, reads, &error) && error.message().empty()) std::abort();
  }
  int64_t extents[2] = {5, 16};
  SizeParam params[3];
  params[0].has_scalar = true;
  params[0].scalar = 9;
  params[1].extents = extents + 1;
  params[1].rank = 1;
  params[2].extents = extents;
  params[2].rank = 2;
  SizeEnv env;
  env.params = params;
  env.read = ReadData;
  env.budget = 1000;
  // Of all roots together: an input of many deep ones takes no longer than another.
  uint64_t left = kSteps;
  for (NodeId id = 0; id < pool.size() && left > 0; ++id) {
    Steps steps(std::min<uint64_t>(left, 10000));
    EvalResult result = Evaluate(pool, id, env, &steps);
    EvalResult again = Evaluate(pool, id, env);
    if (steps.taken() > steps.limit()) std::abort();
    left -= std::min(left, 1 + steps.taken());
    if (!steps.exceeded() && (again.status != result.status || again.value != result.value)) std::abort();
    if (result.ok() && pool.FreeLevels(id) != 0) std::abort();
    String text;
    if (id % 16 == 0 && !FormatSizeExpr(pool, id, {}, &text)) std::abort();
  }
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  auto node = [](SizeOp op, int a = 0, int b = 0, int c = 0, int x = 0, int y = 0, int z = 0) {
    char bytes[kNodeBytes] = {
        static_cast<char>(op), static_cast<char>(a), static_cast<char>(b), static_cast<char>(c),
        static_cast<char>(x),  static_cast<char>(y), static_cast<char>(z), 0};
    return std::string(bytes, kNodeBytes);
  };
  // The longest row of a ragged array, and a triangular sum in a select.
  std::string ragged = node(SizeOp::kArg, 0) + node(SizeOp::kConst, 0, 0, 0) + node(SizeOp::kIndex, 0, 0) +
                       node(SizeOp::kRead, 1, 0, 0, 2) + node(SizeOp::kSub, 0, 0, 0, 0, 1) +
                       node(SizeOp::kMaxOver, 0, 0, 0, 3, 4, 0);
  std::string triangle = node(SizeOp::kConst, 0, 0, 0) + node(SizeOp::kArg, 0) + node(SizeOp::kIndex, 0, 1) +
                         node(SizeOp::kIndex, 0, 2) + node(SizeOp::kMul, 0, 0, 0, 0, 1) +
                         node(SizeOp::kSumOver, 0, 2, 0, 4, 2, 0) + node(SizeOp::kSumOver, 0, 1, 0, 5, 4, 0) +
                         node(SizeOp::kLt, 0, 0, 0, 0, 5) + node(SizeOp::kSelect, 0, 0, 0, 0, 1, 6);
  std::string deep = ragged;
  for (int index = 0; index < 200; ++index) deep += node(SizeOp::kAdd, 0, 0, 0, 0, index % 7);
  return {ragged, triangle, deep};
}
