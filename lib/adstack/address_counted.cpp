#include "adstack/address_counted.h"

#include <algorithm>
#include <vector>

#include "analysis/loops.h"
#include "analysis/walk.h"

namespace adc::adstack {
namespace {

using analysis::ForEachInst;
using ir::Function, ir::Inst, ir::Op, ir::Value;

/// Gives an access, which stands in the body of a `for`, the number of the iteration as its slot.
void GiveSlot(ir::Module& module, Function& function, Inst access) {
  ir::Block block = function[access].parent;
  Inst loop = function[block].owner;
  auto before = static_cast<ptrdiff_t>(function[block].insts.size());
  ir::Builder builder(module, function, block);
  builder.SetSpan(function[access].span);
  Value slot = analysis::IterationNumber(builder, function[block].params[0], function.Operand(loop, 0),
                                         function.Operand(loop, 2));
  std::vector<Inst>& insts = function[block].insts;
  std::rotate(std::find(insts.begin(), insts.end(), access), insts.begin() + before, insts.end());
  std::vector<Value> operands(function.Operands(access).begin(), function.Operands(access).end());
  operands.push_back(slot);
  function.SetOperands(access, operands);
  function[access].words.Add(ir::Word::HasSlot);
}

bool Matches(const Function& function, Inst maker, Inst push, Inst pop) {
  Inst filling = function[function[push].parent].owner, emptying = function[function[pop].parent].owner;
  if (!filling.Valid() || !emptying.Valid() || filling == emptying) return false;
  if (function[filling].op != Op::For || function[emptying].op != Op::For) return false;
  ir::Block home = function[maker].parent;
  if (function[filling].parent != home || function[emptying].parent != home) return false;
  for (uint32_t n = 0; n < 3; ++n) {
    if (function.Operand(filling, n) != function.Operand(emptying, n)) return false;
  }
  bool same_order =
      (function[filling].Has(ir::Word::Reversed)) == (function[emptying].Has(ir::Word::Reversed));
  const std::vector<Inst>& insts = function[home].insts;
  return !same_order &&
         std::find(insts.begin(), insts.end(), filling) < std::find(insts.begin(), insts.end(), emptying);
}

}  // namespace

uint32_t AddressCounted(ir::Module& module, Function& kernel) {
  struct Accesses {
    Inst maker, push, pop;
    bool fits = true;
  };
  std::vector<Accesses> stacks;
  SideTable<Value, uint32_t> position(0, UINT32_MAX);
  ForEachInst(kernel, [&](Inst inst) {
    const ir::InstData& data = kernel[inst];
    if (data.op == Op::StackNew) {
      position[kernel.Result(inst)] = static_cast<uint32_t>(stacks.size());
      stacks.push_back({inst, {}, {}, true});
      return;
    }
    if (data.op != Op::StackPush && data.op != Op::StackPop && data.op != Op::StackTop) return;
    uint32_t found = position.Get(kernel.Operand(inst, 0));
    if (found == UINT32_MAX) return;
    Accesses& stack = stacks[found];
    Inst& place = data.op == Op::StackPush ? stack.push : stack.pop;
    if (place.Valid() || data.op == Op::StackTop || data.Has(ir::Word::HasSlot)) stack.fits = false;
    place = inst;
  });
  uint32_t changed = 0;
  for (const Accesses& stack : stacks) {
    if (!stack.fits || !stack.push.Valid() || !stack.pop.Valid()) continue;
    if (!Matches(kernel, stack.maker, stack.push, stack.pop)) continue;
    for (Inst access : {stack.push, stack.pop}) GiveSlot(module, kernel, access);
    ++changed;
  }
  return changed;
}

}  // namespace adc::adstack
