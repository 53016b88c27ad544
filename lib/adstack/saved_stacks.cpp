#include "adstack/saved_stacks.h"

#include <algorithm>
#include <map>

#include "adstack/stacks.h"

namespace adc::adstack {

using artifact::kNoNode, artifact::NodeId, artifact::SizeClass;
using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

/// A stack.new for the parameter, where all iterations of the task of `access` begin.
Value NewStack(ir::Module& module, Function& kernel, uint32_t param, Inst access) {
  Inst top = analysis::TopLevelOf(kernel, access);
  bool parallel = analysis::IsParallel(kernel[top].op);
  Block block = parallel ? kernel[top].regions[0] : kernel.Body();
  ir::Builder builder(module, kernel, block);
  builder.SetSpan(kernel[access].span);
  Value stack = builder.StackNew(kernel.TypeOf(kernel.Params()[param]).scalar);
  kernel[kernel.DefiningInst(stack)].component = param;
  std::vector<Inst>& insts = kernel[block].insts;
  auto place = parallel ? insts.begin() : std::find(insts.begin(), insts.end(), top);
  std::rotate(place, insts.end() - 1, insts.end());
  return stack;
}

void Replace(Function& kernel, Inst access, Value stack) {
  bool is_store = kernel[access].op == Op::Store;
  std::vector<Value> operands{stack};
  if (is_store) operands.push_back(kernel.AccessValues(access)[0]);
  operands.push_back(kernel.Indices(access)[0]);
  kernel.SetOperands(access, operands);
  ir::InstData& data = kernel[access];
  data.op = is_store ? Op::StackPush : Op::StackPop;
  data.words = {ir::Word::HasSlot};
  data.index_count = 0;
  data.attr = data.component = ir::kNoAttr;
}

}  // namespace

uint32_t SavedParam(const Function& kernel, Inst inst) {
  if (!ir::IsAccess(kernel[inst].op) || !kernel.IsParameter(kernel.Operand(inst, 0))) return ir::kNoAttr;
  uint32_t number = kernel[kernel.Operand(inst, 0)].number;
  return kernel.params[number].role == ir::ParamRole::Saved ? number : ir::kNoAttr;
}

NodeId SavedElements(const Function& kernel, sizing::Bounds& bounds, Inst access) {
  sizing::SizeAlgebra& algebra = bounds.algebra();
  sizing::Range slot = bounds.Of(kernel.Indices(access)[0]);
  if (kernel[access].op == Op::Load && !slot.Exact()) return kNoNode;
  NodeId slots = algebra.Add(slot.upper, algebra.Const(1));
  NodeId most = bounds.LargestIn(kernel[access].parent, slots);
  return most == kNoNode || algebra.pool().ClassOf(most) == SizeClass::kS2 ? kNoNode : most;
}

void MakeSavedStacks(ir::Module& module, Function& kernel) {
  bool saves = std::ranges::any_of(
      kernel.params, [](const ir::ParamInfo& info) { return info.role == ir::ParamRole::Saved; });
  if (!saves) return;
  artifact::SizeExprPool pool;
  sizing::SizeAlgebra algebra(pool);
  sizing::Bounds bounds(module, kernel, algebra, sizing::Bounds::Known::Arguments);
  analysis::Structure structure(kernel);
  std::vector<analysis::Task> tasks = analysis::TasksOf(kernel);
  std::vector<std::pair<Inst, uint32_t>> open;  // with its task
  for (Inst inst : structure.Order()) {
    if (SavedParam(kernel, inst) != ir::kNoAttr && SavedElements(kernel, bounds, inst) == kNoNode)
      open.push_back({inst, TaskOf(kernel, structure, tasks, inst)});
  }
  std::map<std::pair<uint32_t, uint32_t>, Value> stacks;  // by task and parameter
  for (auto [access, task] : open) {
    uint32_t param = SavedParam(kernel, access);
    Value& stack = stacks[{task, param}];
    if (!stack.Valid()) stack = NewStack(module, kernel, param, access);
    Replace(kernel, access, stack);
  }
}

}  // namespace adc::adstack
