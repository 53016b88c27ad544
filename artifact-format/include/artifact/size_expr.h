#pragma once
// SizeExpr: how much memory a launch needs, and how many iterations it has, as an integer expression over
// what is known at the launch: scalar arguments, shapes, and (class S2) the content of buffers. The compiler
// builds it, the bundle carries it, the loader evaluates it: one implementation serves all three, so that
// they cannot disagree.
//
// A pool is a directed acyclic graph in one array, operands before users. `max_over(L, lo, hi, body)` and
// `sum_over(L, lo, hi, body)` bind level L: inside the body, `index(L)` is the loop's current value.
//
//   longest row of a CSR matrix: max over i in [0, n) of row[i+1] - row[i]
//     0: arg 2            1: const 0          2: index 0         3: const 1
//     4: add 2 3          5: read p [4]       6: read p [2]      7: sub 5 6
//     8: max_over 0 1 0 7

#include <cstdint>
#include <span>
#include <string_view>

#include "artifact/error.h"
#include "artifact/memory.h"

namespace adc::artifact {

/// Position of a node in its pool.
using NodeId = uint32_t;
inline constexpr NodeId kNoNode = 0xFFFFFFFFu;

/// Loops may bind levels 0 to 15.
inline constexpr uint32_t kMaxSizeLevels = 16;
/// More nodes than this in one pool are refused by the reader.
inline constexpr uint32_t kMaxSizeNodes = 1u << 16;
/// Node evaluations that one Evaluate may take unless the caller says otherwise.
inline constexpr uint64_t kDefaultSizeBudget = 1ull << 28;

enum class SizeOp : uint8_t {
#define ADC_SIZE_OP(name, spelling, operands) k##name,
#include "artifact/size_ops.def"
#undef ADC_SIZE_OP
};

/// Spelling in the metadata: "const", "max_over".
std::string_view SizeOpName(SizeOp op);
/// False where no operation is spelled so.
bool SizeOpFromName(std::string_view name, SizeOp* op);
/// Operand nodes that an operation takes, without the indices of a read.
uint32_t SizeOpOperands(SizeOp op);

/// The facts that are needed to evaluate an expression.
enum class SizeClass : uint8_t {
  kS0,  ///< nothing
  kS1,  ///< scalar arguments and shapes
  kS2,  ///< the content of buffers
};

struct SizeNode {
  SizeOp op = SizeOp::kConst;
  uint32_t param = 0;  ///< arg, shape, read: index of the kernel's parameter
  uint32_t axis = 0;   ///< shape: the axis; index, max_over, sum_over: the level
  int64_t value = 0;   ///< const
  NodeId operands[3] = {kNoNode, kNoNode, kNoNode};
  uint32_t read_begin =
      0;  ///< read: its index nodes are read_operands()[read_begin, read_begin + read_count)
  uint32_t read_count = 0;
};

/// A graph of size expressions. Equal nodes are made once, and trivial cases fold, so that equal builders
/// give equal pools. Builders take nodes of the same pool; with kNoNode as an operand they give kNoNode:
/// unknown stays unknown.
class SizeExprPool {
 public:
  SizeExprPool() = default;
  explicit SizeExprPool(const Allocator* allocator);

  NodeId Const(int64_t value);
  /// The integer scalar argument at parameter index `param`.
  NodeId Arg(uint32_t param);
  /// Extent of `axis` of the buffer at parameter index `param`, in elements.
  NodeId Shape(uint32_t param, uint32_t axis);
  /// Element of an integer buffer, one index per axis (none for rank 0).
  NodeId Read(uint32_t param, std::span<const NodeId> indices);
  /// Current value of the enclosing max_over or sum_over that binds `level`.
  NodeId Index(uint32_t level);
  NodeId Add(NodeId left, NodeId right);
  NodeId Sub(NodeId left, NodeId right);
  NodeId Mul(NodeId left, NodeId right);
  NodeId Div(NodeId left, NodeId right);       ///< towards zero; by zero gives 0
  NodeId Mod(NodeId left, NodeId right);       ///< sign of the divisor; by zero gives 0
  NodeId FloorDiv(NodeId left, NodeId right);  ///< towards minus infinity; by zero gives 0
  NodeId CeilDiv(NodeId left, NodeId right);   ///< towards plus infinity, for a positive divisor; else 0
  NodeId Min(NodeId left, NodeId right);
  NodeId Max(NodeId left, NodeId right);
  NodeId Neg(NodeId operand);
  NodeId Clamp0(NodeId operand);  ///< max(operand, 0)
  NodeId Select(NodeId condition, NodeId if_true, NodeId if_false);
  /// Eq Ne Lt Le Gt Ge: 0 or 1. Any other two-operand operation works as well.
  NodeId Binary(SizeOp op, NodeId left, NodeId right);
  /// Maximum of `body` over index(level) in [low, high); 0 where the range is empty.
  NodeId MaxOver(uint32_t level, NodeId low, NodeId high, NodeId body);
  NodeId SumOver(uint32_t level, NodeId low, NodeId high, NodeId body);

  size_t size() const { return nodes_.size(); }
  const SizeNode& operator[](NodeId id) const { return nodes_[id]; }
  /// The value, where the node is a constant.
  bool IsConst(NodeId id, int64_t* value = nullptr) const;
  std::span<const NodeId> ReadIndices(const SizeNode& node) const {
    return {read_operands_.data() + node.read_begin, node.read_count};
  }
  SizeClass ClassOf(NodeId id) const { return id < facts_.size() ? facts_[id].size_class : SizeClass::kS2; }
  /// Bit L set: the node depends on index(L) without binding it. Roots must have none.
  uint32_t FreeLevels(NodeId id) const { return facts_[id].free_levels; }
  bool DependsOn(NodeId id, uint32_t param) const;
  /// Whether evaluating takes more than a step per node: a max_over or sum_over is in it.
  bool HasLoops(NodeId id) const { return id < facts_.size() && facts_[id].bound_levels != 0; }

  /// Appends one node as it stands, checked by the rules of H9 but neither folded nor merged: the reader's
  /// way in. False with `error` set when a rule is broken or memory is refused.
  bool AppendChecked(const SizeNode& node, std::span<const NodeId> read_indices, Error* error);
  void Bind(const Allocator* allocator);

  friend bool operator==(const SizeExprPool& left, const SizeExprPool& right);

 private:
  struct Facts {
    uint16_t free_levels = 0;
    uint16_t bound_levels = 0;
    SizeClass size_class = SizeClass::kS0;
    bool non_negative = false;
  };
  NodeId Intern(const SizeNode& node, std::span<const NodeId> read_indices);
  bool Same(NodeId id, const SizeNode& node, std::span<const NodeId> read_indices) const;
  bool Append(const SizeNode& node, std::span<const NodeId> read_indices, Error* error);
  void GrowTable();

  Vector<SizeNode> nodes_;
  Vector<Facts> facts_;
  Vector<NodeId> read_operands_;
  Vector<NodeId> table_;  ///< open addressing over nodes_, for Intern alone
};

/// The known facts about one parameter at a launch.
struct SizeParam {
  bool has_scalar = false;
  int64_t scalar = 0;
  const int64_t* extents = nullptr;
  uint32_t rank = 0;
};

/// The launch for which an expression is evaluated. `read` may be null: expressions of class S2 then give
/// kNeedsDeviceData. It returns false if the index is out of range or the buffer cannot be read.
struct SizeEnv {
  std::span<const SizeParam> params;
  bool (*read)(void* user, uint32_t param, std::span<const int64_t> indices, int64_t* value) = nullptr;
  void* user = nullptr;
  uint64_t budget = kDefaultSizeBudget;
  const Allocator* allocator = nullptr;
};

enum class EvalStatus : uint8_t {
  kOk,
  kOverflow,         ///< a step left the range of int64
  kBudget,           ///< more node evaluations than the budget
  kNeedsDeviceData,  ///< class S2 and no reader
  kBadOperand,       ///< a parameter without value, an axis that is not there, a read out of range
  kOutOfMemory,
};

struct EvalResult {
  EvalStatus status = EvalStatus::kOk;
  int64_t value = 0;
  NodeId where = kNoNode;  ///< the node that failed
  bool ok() const { return status == EvalStatus::kOk; }
};

/// Evaluates one root. Branches of `select` that are not taken, and bodies of empty ranges, cannot fail.
EvalResult Evaluate(const SizeExprPool& pool, NodeId root, const SizeEnv& env);

/// One operation on numbers, as Evaluate does it; false on overflow.
bool EvaluateBinary(SizeOp op, int64_t left, int64_t right, int64_t* result);

/// Appends the text of an expression, "max(i0 in 0..n: shape(x, 0) - i0)", with the parameters' names if
/// given, truncated if it is long. Below the root, a node whose entry in `terms` is n > 0 is written as
/// "en". False when memory is refused.
bool FormatSizeExpr(const SizeExprPool& pool, NodeId root, std::span<const std::string_view> param_names,
                    String* text, std::span<const uint32_t> terms = {});

}  // namespace adc::artifact
