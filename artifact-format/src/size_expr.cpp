#include "artifact/size_expr.h"

// Building and checking pools. A node's facts (its class, the levels that it uses and binds, whether it can
// be negative) are computed once, when it is appended, from those of its operands.
//
// Levels. A loop at level L may not contain, in its body, another loop at level L: then the nodes of one body
// that depend on index(L) all mean the same loop, and nesting is never deeper than the number of levels.

namespace adc::artifact {
namespace {

struct OpRow {
  std::string_view name;
  uint32_t operands;
};
constexpr OpRow kOps[] = {
#define ADC_SIZE_OP(name, spelling, operands) {spelling, operands},
#include "artifact/size_ops.def"
#undef ADC_SIZE_OP
};
constexpr uint32_t kOpCount = sizeof kOps / sizeof kOps[0];

bool IsLoop(SizeOp op) {
  return op == SizeOp::kMaxOver || op == SizeOp::kSumOver;
}

bool IsCommutative(SizeOp op) {
  return op == SizeOp::kAdd || op == SizeOp::kMul || op == SizeOp::kMin || op == SizeOp::kMax ||
         op == SizeOp::kEq || op == SizeOp::kNe;
}

uint64_t Mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

uint64_t HashNode(const SizeNode& node, std::span<const NodeId> read_indices) {
  uint64_t hash = Mix(static_cast<uint64_t>(node.op), node.param);
  hash = Mix(hash, node.axis);
  hash = Mix(hash, static_cast<uint64_t>(node.value));
  for (NodeId operand : node.operands) hash = Mix(hash, operand);
  for (NodeId index : read_indices) hash = Mix(hash, index);
  return hash;
}

bool SameFields(const SizeNode& left, const SizeNode& right) {
  return left.op == right.op && left.param == right.param && left.axis == right.axis &&
         left.value == right.value && left.operands[0] == right.operands[0] &&
         left.operands[1] == right.operands[1] && left.operands[2] == right.operands[2] &&
         left.read_count == right.read_count;
}

}  // namespace

std::string_view SizeOpName(SizeOp op) {
  return kOps[static_cast<size_t>(op)].name;
}

bool SizeOpFromName(std::string_view name, SizeOp* op) {
  for (uint32_t index = 0; index < kOpCount; ++index) {
    if (kOps[index].name == name) {
      *op = static_cast<SizeOp>(index);
      return true;
    }
  }
  return false;
}

uint32_t SizeOpOperands(SizeOp op) {
  return kOps[static_cast<size_t>(op)].operands;
}

SizeExprPool::SizeExprPool(const Allocator* allocator) {
  Bind(allocator);
}

void SizeExprPool::Bind(const Allocator* allocator) {
  nodes_.Bind(allocator);
  facts_.Bind(allocator);
  read_operands_.Bind(allocator);
  table_.Bind(allocator);
}

bool operator==(const SizeExprPool& left, const SizeExprPool& right) {
  if (left.size() != right.size()) return false;
  for (NodeId id = 0; id < left.size(); ++id) {
    if (!right.Same(id, left[id], left.ReadIndices(left[id]))) return false;
  }
  return true;
}

bool SizeExprPool::Same(NodeId id, const SizeNode& node, std::span<const NodeId> read_indices) const {
  if (!SameFields(nodes_[id], node)) return false;
  std::span<const NodeId> own = ReadIndices(nodes_[id]);
  for (size_t index = 0; index < own.size(); ++index) {
    if (own[index] != read_indices[index]) return false;
  }
  return true;
}

bool SizeExprPool::AppendChecked(const SizeNode& node, std::span<const NodeId> read_indices, Error* error) {
  uint32_t id = static_cast<uint32_t>(nodes_.size());
  if (id >= kMaxSizeNodes) {
    return Fail(error, Code::kOverLimit, Rule::kH9, "more than ", kMaxSizeNodes, " size expression nodes");
  }
  if (static_cast<uint32_t>(node.op) >= kOpCount) {
    return Fail(error, Code::kMalformed, Rule::kH9, "size expression ", id, ": unknown operation");
  }
  uint32_t arity = SizeOpOperands(node.op);
  for (uint32_t index = 0; index < 3; ++index) {
    bool present = node.operands[index] != kNoNode;
    if (present != (index < arity) || (present && node.operands[index] >= id)) {
      return Fail(error, Code::kMalformed, Rule::kH9, "size expression ", id, " (", SizeOpName(node.op),
                  "): operands must be ", arity, " earlier nodes");
    }
  }
  for (NodeId index : read_indices) {
    if (node.op != SizeOp::kRead || index >= id) {
      return Fail(error, Code::kMalformed, Rule::kH9, "size expression ", id,
                  ": index operands must be earlier nodes");
    }
  }
  if (read_indices.size() > 8) {
    return Fail(error, Code::kMalformed, Rule::kH9, "size expression ", id, ": more than 8 indices");
  }
  if (node.op == SizeOp::kIndex || IsLoop(node.op)) {
    if (node.axis >= kMaxSizeLevels) {
      return Fail(error, Code::kMalformed, Rule::kH9, "size expression ", id, ": level ", node.axis,
                  " is over ", kMaxSizeLevels - 1);
    }
    if (IsLoop(node.op) && (facts_[node.operands[2]].bound_levels >> node.axis & 1)) {
      return Fail(error, Code::kMalformed, Rule::kH9, "size expression ", id, ": level ", node.axis,
                  " is bound again inside its body");
    }
  }
  return Append(node, read_indices, error);
}

bool SizeExprPool::Append(const SizeNode& node, std::span<const NodeId> read_indices, Error* error) {
  SizeNode added = node;
  added.read_begin = static_cast<uint32_t>(read_operands_.size());
  added.read_count = static_cast<uint32_t>(read_indices.size());
  Facts facts;
  if (node.op == SizeOp::kArg || node.op == SizeOp::kShape) facts.size_class = SizeClass::kS1;
  if (node.op == SizeOp::kRead) facts.size_class = SizeClass::kS2;
  if (node.op == SizeOp::kIndex) facts.free_levels = static_cast<uint16_t>(1u << node.axis);

  auto take = [&](NodeId operand) {
    const Facts& from = facts_[operand];
    facts.free_levels |= from.free_levels;
    facts.bound_levels |= from.bound_levels;
    if (from.size_class > facts.size_class) facts.size_class = from.size_class;
  };
  if (IsLoop(node.op)) {
    uint16_t own = static_cast<uint16_t>(1u << node.axis);
    take(node.operands[2]);
    facts.free_levels &= static_cast<uint16_t>(~own);
    facts.bound_levels |= own;
    take(node.operands[0]);
    take(node.operands[1]);
  } else {
    for (NodeId operand : node.operands) {
      if (operand != kNoNode) take(operand);
    }
  }
  for (NodeId index : read_indices) take(index);

  auto non_negative = [&](NodeId operand) { return operand != kNoNode && facts_[operand].non_negative; };
  switch (node.op) {
    case SizeOp::kConst:
      facts.non_negative = node.value >= 0;
      break;
    case SizeOp::kShape:
    case SizeOp::kClamp0:
    case SizeOp::kEq:
    case SizeOp::kNe:
    case SizeOp::kLt:
    case SizeOp::kLe:
    case SizeOp::kGt:
    case SizeOp::kGe:
      facts.non_negative = true;
      break;
    case SizeOp::kAdd:
    case SizeOp::kMul:
    case SizeOp::kDiv:
    case SizeOp::kMod:
    case SizeOp::kFloorDiv:
    case SizeOp::kCeilDiv:
    case SizeOp::kMin:
      facts.non_negative = non_negative(node.operands[0]) && non_negative(node.operands[1]);
      break;
    case SizeOp::kMax:
      facts.non_negative = non_negative(node.operands[0]) || non_negative(node.operands[1]);
      break;
    case SizeOp::kSelect:
      facts.non_negative = non_negative(node.operands[1]) && non_negative(node.operands[2]);
      break;
    case SizeOp::kMaxOver:
    case SizeOp::kSumOver:
      facts.non_negative = non_negative(node.operands[2]);
      break;
    case SizeOp::kIndex:  // its range belongs to the loop, which comes later
    case SizeOp::kArg:
    case SizeOp::kRead:
    case SizeOp::kSub:
    case SizeOp::kNeg:
      break;
  }

  bool reserved = nodes_.TryReserve(nodes_.size() + 1) && facts_.TryReserve(facts_.size() + 1);
  for (NodeId index : read_indices) reserved = reserved && read_operands_.TryPush(index);
  if (!reserved || !nodes_.TryPush(added) || !facts_.TryPush(facts)) {
    return Fail(error, Code::kOutOfMemory, Rule::kNone, "out of memory for size expressions");
  }
  return true;
}

void SizeExprPool::GrowTable() {
  // The table may be missing beside any number of nodes: those of a bundle were appended, and copies begin
  // without.
  size_t capacity = 64;
  while (capacity < 4 * (nodes_.size() + 1)) capacity *= 2;
  table_.clear();
  table_.resize(capacity);
  for (NodeId& entry : table_) entry = kNoNode;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    size_t slot = HashNode(nodes_[id], ReadIndices(nodes_[id])) & (capacity - 1);
    while (table_[slot] != kNoNode) slot = (slot + 1) & (capacity - 1);
    table_[slot] = id;
  }
}

NodeId SizeExprPool::Intern(const SizeNode& node, std::span<const NodeId> read_indices) {
  for (NodeId operand : read_indices) {
    if (operand == kNoNode) return kNoNode;
  }
  SizeNode wanted = node;
  wanted.read_count = static_cast<uint32_t>(read_indices.size());
  if (table_.size() < 2 * (nodes_.size() + 1)) GrowTable();
  size_t mask = table_.size() - 1;
  size_t slot = HashNode(wanted, read_indices) & mask;
  for (; table_[slot] != kNoNode; slot = (slot + 1) & mask) {
    if (Same(table_[slot], wanted, read_indices)) return table_[slot];
  }
  NodeId id = static_cast<NodeId>(nodes_.size());
  if (!AppendChecked(wanted, read_indices, nullptr)) return kNoNode;
  table_[slot] = id;
  return id;
}

bool SizeExprPool::IsConst(NodeId id, int64_t* value) const {
  if (id >= nodes_.size() || nodes_[id].op != SizeOp::kConst) return false;
  if (value) *value = nodes_[id].value;
  return true;
}

bool SizeExprPool::DependsOn(NodeId id, uint32_t param) const {
  if (id >= nodes_.size()) return false;
  constexpr size_t kFew = 512;  // asked at launches: few nodes take no memory
  uint8_t few[kFew] = {};
  Vector<uint8_t> many;
  if (id >= kFew) many.resize(id + 1);
  uint8_t* reached = id >= kFew ? many.data() : few;
  reached[id] = 1;
  for (NodeId current = id + 1; current-- > 0;) {
    if (!reached[current]) continue;
    const SizeNode& node = nodes_[current];
    bool names_param = node.op == SizeOp::kArg || node.op == SizeOp::kShape || node.op == SizeOp::kRead;
    if (names_param && node.param == param) return true;
    for (NodeId operand : node.operands) {
      if (operand != kNoNode) reached[operand] = 1;
    }
    for (NodeId operand : ReadIndices(node)) reached[operand] = 1;
  }
  return false;
}

NodeId SizeExprPool::Const(int64_t value) {
  SizeNode node;
  node.value = value;
  return Intern(node, {});
}

NodeId SizeExprPool::Arg(uint32_t param) {
  SizeNode node;
  node.op = SizeOp::kArg;
  node.param = param;
  return Intern(node, {});
}

NodeId SizeExprPool::Shape(uint32_t param, uint32_t axis) {
  SizeNode node;
  node.op = SizeOp::kShape;
  node.param = param;
  node.axis = axis;
  return Intern(node, {});
}

NodeId SizeExprPool::Read(uint32_t param, std::span<const NodeId> indices) {
  SizeNode node;
  node.op = SizeOp::kRead;
  node.param = param;
  return Intern(node, indices);
}

NodeId SizeExprPool::Index(uint32_t level) {
  SizeNode node;
  node.op = SizeOp::kIndex;
  node.axis = level;
  return Intern(node, {});
}

NodeId SizeExprPool::Binary(SizeOp op, NodeId left, NodeId right) {
  if (left == kNoNode || right == kNoNode) return kNoNode;
  int64_t left_value = 0, right_value = 0, folded = 0;
  bool left_const = IsConst(left, &left_value), right_const = IsConst(right, &right_value);
  if (left_const && right_const && EvaluateBinary(op, left_value, right_value, &folded)) return Const(folded);
  if (IsCommutative(op) && left > right) {
    std::swap(left, right);
    std::swap(left_value, right_value);
    std::swap(left_const, right_const);
  }
  bool left_is_zero = left_const && left_value == 0, right_is_zero = right_const && right_value == 0;
  bool left_is_one = left_const && left_value == 1, right_is_one = right_const && right_value == 1;
  if (op == SizeOp::kAdd && right_is_zero) return left;
  if (op == SizeOp::kAdd && left_is_zero) return right;
  if (op == SizeOp::kSub && right_is_zero) return left;
  if (op == SizeOp::kSub && left == right) return Const(0);
  if (op == SizeOp::kMul && (left_is_zero || right_is_zero)) return Const(0);
  if (op == SizeOp::kMul && right_is_one) return left;
  if (op == SizeOp::kMul && left_is_one) return right;
  if ((op == SizeOp::kDiv || op == SizeOp::kFloorDiv) && right_is_one) return left;
  if (op == SizeOp::kCeilDiv && right_is_one) return left;
  if ((op == SizeOp::kMin || op == SizeOp::kMax) && left == right) return left;
  if (op == SizeOp::kMax && right_is_zero) return Clamp0(left);
  if (op == SizeOp::kMax && left_is_zero) return Clamp0(right);
  SizeNode node;
  node.op = op;
  node.operands[0] = left;
  node.operands[1] = right;
  return Intern(node, {});
}

NodeId SizeExprPool::Add(NodeId left, NodeId right) {
  return Binary(SizeOp::kAdd, left, right);
}
NodeId SizeExprPool::Sub(NodeId left, NodeId right) {
  return Binary(SizeOp::kSub, left, right);
}
NodeId SizeExprPool::Mul(NodeId left, NodeId right) {
  return Binary(SizeOp::kMul, left, right);
}
NodeId SizeExprPool::Div(NodeId left, NodeId right) {
  return Binary(SizeOp::kDiv, left, right);
}
NodeId SizeExprPool::Mod(NodeId left, NodeId right) {
  return Binary(SizeOp::kMod, left, right);
}
NodeId SizeExprPool::FloorDiv(NodeId left, NodeId right) {
  return Binary(SizeOp::kFloorDiv, left, right);
}
NodeId SizeExprPool::CeilDiv(NodeId left, NodeId right) {
  return Binary(SizeOp::kCeilDiv, left, right);
}
NodeId SizeExprPool::Min(NodeId left, NodeId right) {
  return Binary(SizeOp::kMin, left, right);
}
NodeId SizeExprPool::Max(NodeId left, NodeId right) {
  return Binary(SizeOp::kMax, left, right);
}

NodeId SizeExprPool::Neg(NodeId operand) {
  if (operand == kNoNode) return kNoNode;
  int64_t value = 0;
  if (IsConst(operand, &value) && value != INT64_MIN) return Const(-value);
  SizeNode node;
  node.op = SizeOp::kNeg;
  node.operands[0] = operand;
  return Intern(node, {});
}

NodeId SizeExprPool::Clamp0(NodeId operand) {
  if (operand == kNoNode) return kNoNode;
  if (facts_[operand].non_negative) return operand;
  if (IsConst(operand)) return Const(0);
  SizeNode node;
  node.op = SizeOp::kClamp0;
  node.operands[0] = operand;
  return Intern(node, {});
}

NodeId SizeExprPool::Select(NodeId condition, NodeId if_true, NodeId if_false) {
  if (condition == kNoNode || if_true == kNoNode || if_false == kNoNode) return kNoNode;
  int64_t value = 0;
  if (IsConst(condition, &value)) return value != 0 ? if_true : if_false;
  if (if_true == if_false) return if_true;
  SizeNode node;
  node.op = SizeOp::kSelect;
  node.operands[0] = condition;
  node.operands[1] = if_true;
  node.operands[2] = if_false;
  return Intern(node, {});
}

NodeId SizeExprPool::MaxOver(uint32_t level, NodeId low, NodeId high, NodeId body) {
  if (low == kNoNode || high == kNoNode || body == kNoNode || level >= kMaxSizeLevels) return kNoNode;
  if (!(facts_[body].free_levels >> level & 1)) return Select(Binary(SizeOp::kLt, low, high), body, Const(0));
  SizeNode node;
  node.op = SizeOp::kMaxOver;
  node.axis = level;
  node.operands[0] = low;
  node.operands[1] = high;
  node.operands[2] = body;
  return Intern(node, {});
}

NodeId SizeExprPool::SumOver(uint32_t level, NodeId low, NodeId high, NodeId body) {
  if (low == kNoNode || high == kNoNode || body == kNoNode || level >= kMaxSizeLevels) return kNoNode;
  if (!(facts_[body].free_levels >> level & 1)) {
    return Select(Binary(SizeOp::kLt, low, high), Mul(Sub(high, low), body), Const(0));
  }
  SizeNode node;
  node.op = SizeOp::kSumOver;
  node.axis = level;
  node.operands[0] = low;
  node.operands[1] = high;
  node.operands[2] = body;
  return Intern(node, {});
}

namespace {

// Infix for people. Depth and length are bounded, since sharing may make the text far longer than the graph.
class SizePrinter {
 public:
  SizePrinter(const SizeExprPool& pool, std::span<const std::string_view> names,
              std::span<const uint32_t> terms, String* text)
      : pool_(pool), names_(names), terms_(terms), text_(text) {}

  bool ok() const { return ok_; }

  void Print(NodeId id, uint32_t depth) {
    if (id == kNoNode || id >= pool_.size()) {
      Put("unknown");
      return;
    }
    if (depth > kMaxDepth || text_->size() > kMaxText) {
      Put("...");
      return;
    }
    if (depth > 0 && id < terms_.size() && terms_[id] != 0) {
      Put("e");
      PutNumber(terms_[id]);
      return;
    }
    const SizeNode& node = pool_[id];
    switch (node.op) {
      case SizeOp::kConst:
        PutNumber(node.value);
        return;
      case SizeOp::kArg:
        PutParam(node.param);
        return;
      case SizeOp::kShape:
        Put("shape(");
        PutParam(node.param);
        Put(", ");
        PutNumber(node.axis);
        Put(")");
        return;
      case SizeOp::kRead: {
        PutParam(node.param);
        Put("[");
        bool first = true;
        for (NodeId index : pool_.ReadIndices(node)) {
          if (!first) Put(", ");
          first = false;
          Print(index, depth + 1);
        }
        Put("]");
        return;
      }
      case SizeOp::kIndex:
        Put("i");
        PutNumber(node.axis);
        return;
      case SizeOp::kMaxOver:
      case SizeOp::kSumOver:
        Put(node.op == SizeOp::kMaxOver ? "max(i" : "sum(i");
        PutNumber(node.axis);
        Put(" in ");
        Print(node.operands[0], depth + 1);
        Put("..");
        Print(node.operands[1], depth + 1);
        Put(": ");
        Print(node.operands[2], depth + 1);
        Put(")");
        return;
      case SizeOp::kAdd:
        return Infix(node, " + ", depth);
      case SizeOp::kSub:
        return Infix(node, " - ", depth);
      case SizeOp::kMul:
        return Infix(node, " * ", depth);
      case SizeOp::kDiv:
        return Infix(node, " / ", depth);
      case SizeOp::kEq:
        return Infix(node, " == ", depth);
      case SizeOp::kNe:
        return Infix(node, " != ", depth);
      case SizeOp::kLt:
        return Infix(node, " < ", depth);
      case SizeOp::kLe:
        return Infix(node, " <= ", depth);
      case SizeOp::kGt:
        return Infix(node, " > ", depth);
      case SizeOp::kGe:
        return Infix(node, " >= ", depth);
      case SizeOp::kClamp0:
        Put("max(");
        Print(node.operands[0], depth + 1);
        Put(", 0)");
        return;
      case SizeOp::kMod:
      case SizeOp::kFloorDiv:
      case SizeOp::kCeilDiv:
      case SizeOp::kMin:
      case SizeOp::kMax:
      case SizeOp::kNeg:
      case SizeOp::kSelect:
        break;
    }
    Put(SizeOpName(node.op));
    Put("(");
    for (uint32_t index = 0; index < SizeOpOperands(node.op); ++index) {
      if (index > 0) Put(", ");
      Print(node.operands[index], depth + 1);
    }
    Put(")");
  }

 private:
  static constexpr uint32_t kMaxDepth = 48;
  static constexpr size_t kMaxText = 400;

  void Put(std::string_view part) { ok_ = text_->TryAppend(part) && ok_; }
  void PutNumber(int64_t number) {
    char digits[24];
    TextWriter writer(digits, sizeof digits);
    writer << number;
    Put(digits);
  }
  void PutParam(uint32_t param) {
    if (param < names_.size()) {
      Put(names_[param]);
    } else {
      Put("%");
      PutNumber(param);
    }
  }
  void Infix(const SizeNode& node, std::string_view sign, uint32_t depth) {
    // The whole is bracketed except at the top, so that no table of precedences is needed.
    if (depth > 0) Put("(");
    Print(node.operands[0], depth + 1);
    Put(sign);
    Print(node.operands[1], depth + 1);
    if (depth > 0) Put(")");
  }

  const SizeExprPool& pool_;
  std::span<const std::string_view> names_;
  std::span<const uint32_t> terms_;
  String* text_;
  bool ok_ = true;
};

}  // namespace

bool FormatSizeExpr(const SizeExprPool& pool, NodeId root, std::span<const std::string_view> param_names,
                    String* text, std::span<const uint32_t> terms) {
  SizePrinter printer(pool, param_names, terms, text);
  printer.Print(root, 0);
  return printer.ok();
}

}  // namespace adc::artifact
