#include "metadata_rules.h"

// Which parameters the sizes of a task read: one walk over the kernel's expressions from the last to the
// first, along which a node that is reached reaches its operands. Tasks may share expressions, so that a
// bundle can ask for many nodes in each of many tasks: each node that is reached is charged what it takes,
// and this file is built for speed.

namespace adc::artifact {

bool TaskSizeReads(const KernelMeta& kernel, const TaskMeta& task, Steps* steps, Vector<uint32_t>* params) {
  params->clear();
  const SizeExprPool& pool = kernel.exprs;
  // A node that reads nothing is of a lower class, and so are all of its operands.
  NodeId end = 0;
  auto is_reading = [&](NodeId id) { return id < pool.size() && pool.ClassOf(id) == SizeClass::kS2; };
  auto extend = [&](NodeId id) {
    if (is_reading(id) && id >= end) end = id + 1;
  };
  for (NodeId extent : task.extents) extend(extent);
  for (const AdstackPlanMeta& plan : task.plans) {
    for (const StackMeta& stack : plan.stacks) extend(stack.capacity);
  }
  if (end == 0) return true;
  if (!steps->Spend(uint64_t{end} + kernel.params.size())) return false;
  Vector<uint8_t> reached(params->allocator());
  if (!reached.TryResize(end)) return false;
  auto mark = [&](NodeId id) {
    if (is_reading(id)) reached[id] = 1;
  };
  for (NodeId extent : task.extents) mark(extent);
  for (const AdstackPlanMeta& plan : task.plans) {
    for (const StackMeta& stack : plan.stacks) mark(stack.capacity);
  }
  Vector<uint8_t> read(params->allocator());
  if (!read.TryResize(kernel.params.size())) return false;
  for (NodeId id = end; id-- > 0;) {
    if (!reached[id]) continue;
    const SizeNode& node = pool[id];
    // Operands and indices are looked up twice each.
    std::span<const NodeId> indices = pool.ReadIndices(node);
    if (!steps->Spend(8 + 4 * indices.size())) return false;
    for (NodeId operand : node.operands) mark(operand);
    for (NodeId operand : indices) mark(operand);
    if (node.op == SizeOp::kRead && node.param < read.size()) read[node.param] = 1;
  }
  for (uint32_t param = 0; param < read.size(); ++param) {
    if (read[param] && !params->TryPush(param)) return false;
  }
  return true;
}

}  // namespace adc::artifact
