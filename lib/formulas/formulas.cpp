// Which parts of expressions get names.
//
// Expressions are graphs, and written out a graph of ten nodes may fill a page: a bound that is used by four
// stacks, and in it a condition that guards each of its loads. A node gets a name where that makes the text
// shorter by more than it costs the reader to look the name up, and where an expression would not fit on a
// line or two without. Operands come before their users in a pool, so that one walk upwards sees every
// operand decided.

#include "formulas/formulas.h"

#include <set>
#include <string>

namespace adc::formulas {
namespace {

using artifact::kNoNode, artifact::NodeId, artifact::SizeNode, artifact::SizeOp;

constexpr size_t kWorthSaving = 80;  ///< letters that a name saves in the whole text
constexpr size_t kLongestLine = 200;
constexpr size_t kShortestPart = 40;  ///< of a long expression that gets a name
constexpr size_t kNameLength = 3;

std::vector<NodeId> OperandsOf(const artifact::SizeExprPool& pool, const SizeNode& node) {
  std::vector<NodeId> operands;
  for (uint32_t index = 0; index < artifact::SizeOpOperands(node.op); ++index)
    operands.push_back(node.operands[index]);
  if (node.op == SizeOp::kRead) {
    for (NodeId index : pool.ReadIndices(node)) operands.push_back(index);
  }
  return operands;
}

/// Letters of a node without its operands; about, which is enough.
size_t OwnLength(const SizeNode& node, std::span<const std::string_view> names) {
  size_t name = node.param < names.size() ? names[node.param].size() : 4;
  if (node.op == SizeOp::kConst) return std::to_string(node.value).size();
  if (node.op == SizeOp::kArg) return name;
  if (node.op == SizeOp::kShape) return name + 10;
  if (node.op == SizeOp::kRead) return name + 2 * (size_t{1} + node.read_count);
  if (node.op == SizeOp::kIndex) return 2;
  if (node.op == SizeOp::kMaxOver || node.op == SizeOp::kSumOver) return 15;
  return 2 * size_t{artifact::SizeOpOperands(node.op)} + artifact::SizeOpName(node.op).size();
}

}  // namespace

Formulas::Formulas(const artifact::SizeExprPool& pool, std::vector<std::string_view> names,
                   std::span<const NodeId> roots)
    : pool_(pool), names_(std::move(names)), terms_(pool.size(), 0) {
  std::vector<size_t> uses(pool.size(), 0), lengths(pool.size(), 0);
  std::vector<bool> named(pool.size(), false);
  for (NodeId root : roots) {
    if (root < pool.size()) ++uses[root];
  }
  for (size_t id = pool.size(); id-- > 0;) {
    if (uses[id] == 0) continue;
    ++parts_;
    for (NodeId operand : OperandsOf(pool, pool[static_cast<NodeId>(id)])) ++uses[operand];
  }
  auto shown = [&](NodeId id) { return named[id] ? kNameLength : lengths[id]; };
  for (NodeId id = 0; id < pool.size(); ++id) {
    if (uses[id] == 0) continue;
    std::vector<NodeId> operands = OperandsOf(pool, pool[id]);
    for (;;) {
      lengths[id] = OwnLength(pool[id], names_);
      NodeId longest = kNoNode;
      for (NodeId operand : operands) {
        lengths[id] += shown(operand);
        if (longest == kNoNode || shown(operand) > shown(longest)) longest = operand;
      }
      if (lengths[id] <= kLongestLine || shown(longest) < kShortestPart) break;
      named[longest] = true;
    }
    named[id] = uses[id] > 1 && (uses[id] - 1) * lengths[id] >= kWorthSaving && lengths[id] > 4 * kNameLength;
  }
  // A parameter may be called e1.
  std::set<std::string_view> taken;
  for (std::string_view name : names_) {
    if (name.starts_with('e')) taken.insert(name);
  }
  uint32_t number = 0;
  for (NodeId id = 0; id < pool.size(); ++id) {
    if (!named[id]) continue;
    do {
      ++number;
    } while (taken.contains("e" + std::to_string(number)));
    terms_[id] = number;
  }
}

std::string Formulas::Text(NodeId root) const {
  bool is_term = root < terms_.size() && terms_[root] != 0;
  return is_term ? "e" + std::to_string(terms_[root]) : Written(root);
}

std::vector<std::string> Formulas::Terms() const {
  std::vector<std::string> lines;
  for (NodeId id = 0; id < terms_.size(); ++id) {
    if (terms_[id] != 0) lines.push_back("e" + std::to_string(terms_[id]) + " = " + Written(id));
  }
  return lines;
}

std::string Formulas::Written(NodeId expr) const {
  artifact::String text;
  artifact::FormatSizeExpr(pool_, expr, names_, &text, terms_);
  return std::string(text.view());
}

}  // namespace adc::formulas
