#include "adstack/address_counted.h"

#include <algorithm>
#include <vector>

#include "analysis/loops.h"
#include "analysis/walk.h"

namespace adc::adstack {
namespace {

using analysis::ForEachInst;
using ir::Function, ir::Inst, ir::Op, ir::Value;

/// Puts what `emit` builds right before `place` and returns its value.
template <class Emit>
Value InsertBefore(ir::Module& module, Function& function, Inst place, Emit&& emit) {
  ir::Block block = function[place].parent;
  std::vector<Inst>& insts = function[block].insts;
  auto found = std::find(insts.begin(), insts.end(), place);
  std::vector<Inst> rest(found, insts.end());
  insts.erase(found, insts.end());
  ir::Builder builder(module, function, block);
  builder.SetSpan(function[place].span);
  Value made = emit(builder);
  std::vector<Inst>& grown = function[block].insts;
  grown.insert(grown.end(), rest.begin(), rest.end());
  return made;
}

/// Number of the current iteration of the `for` around `access`, whose block is the loop's body.
Value IterationNumber(ir::Module& module, Function& function, Inst loop, Inst access) {
  Value index = function[function[loop].regions[0]].params[0];
  Value low = function.Operand(loop, 0), step = function.Operand(loop, 2);
  return InsertBefore(module, function, access, [&](ir::Builder& builder) {
    return analysis::IterationNumber(builder, index, low, step);
  });
}

void GiveSlot(Function& function, Inst access, Value slot) {
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
    for (Inst access : {stack.push, stack.pop}) {
      Inst loop = kernel[kernel[access].parent].owner;
      GiveSlot(kernel, access, IterationNumber(module, kernel, loop, access));
    }
    ++changed;
  }
  return changed;
}

}  // namespace adc::adstack
