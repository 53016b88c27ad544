// Loops of SPIR-V as loops of the IR.
//
// Each is a `while`, whose condition region is the block that decides where that block does nothing else.
// Which of them count is found later (transform/count_loops.h).

#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>

#include "diag/errors/shader.h"
#include "frontend/spirv/control_flow.h"

namespace adc::frontend::spirv {

using ir::Op;

namespace {

/// Whether nothing but the result of an instruction tells that it has run.
bool IsPure(const Instruction& inst) {
  bool by_pointer =
      inst.op == spv::OpExtInst && (inst.At(1) == GLSLstd450Modf || inst.At(1) == GLSLstd450Frexp);
  return !by_pointer && !Writes(inst) && !IsAtomic(inst) && inst.op != spv::OpFunctionCall &&
         inst.op != spv::OpControlBarrier && inst.op != spv::OpMemoryBarrier && inst.op != spv::OpVariable;
}

/// Whether a phi of `block` has a value for the edge from `label`.
bool TakesFrom(const Block& block, Id label) {
  return std::any_of(block.phis.begin(), block.phis.end(), [&](const Instruction* phi) {
    for (size_t n = 1; n < phi->operands.size(); n += 2) {
      if (phi->At(n) == label) return true;
    }
    return false;
  });
}

}  // namespace

void ControlFlow::EmitLoop(const Block& header) {
  Nest();
  if (header.terminator == nullptr) Refuse(diag::E0852, b_.span(), "a block does not end");
  Spend(1, *header.merge);
  Scope scope;
  scope.kind = Scope::Kind::Loop;
  scope.merge = header.merge->At(0);
  scope.next = header.merge->At(1);
  inlined().scopes.push_back(scope);
  ir::Inst loop = b_.While({}, {});
  ir::Block back = b_.block(), condition = kernel_[loop].regions[0], region = kernel_[loop].regions[1];
  const Block* test = TestOf(header);
  ir::Value goes_on = b_.Int(ir::kI1, 1);
  b_.SetBlock(condition);
  if (test != nullptr) {
    EmitBlock(header);
    if (test != &header) EmitBlock(*test);
    goes_on = GetOne(test->terminator->At(0));
    if (test->terminator->At(1) == scope.merge) goes_on = b_.Make(Op::Not, {goes_on});
  }
  b_.Terminate(Op::ContinueIf, {{goes_on}});
  b_.SetBlock(region);
  if (test != nullptr) {
    Id start = test->terminator->At(test->terminator->At(1) == scope.merge ? 2 : 1);
    StoreEdge(test->label, start);
    EmitBody(header, start);
  } else if (scope.next == header.label) {
    EmitOneBlock(header);
  } else {
    inlined().open_header = header.label;
    EmitBody(header, header.label);
  }
  b_.Close(region);
  b_.SetBlock(back);
  inlined().scopes.pop_back();
  --depth_;
}

/// The iteration from `label` on, in a scope that `continue` leaves, and then the continue construct.
void ControlFlow::EmitBody(const Block& header, Id label) {
  size_t own = inlined().scopes.size() - 1;
  Id next = inlined().scopes[own].next;
  OpenScope(inlined().scopes[own]);
  bool falls = EmitFrom(0, label, next);
  CloseScope(inlined().scopes[own]);
  if (!falls && !inlined().scopes[own].is_left) return;
  inlined().scopes[own].next = 0;
  EmitFrom(0, next, header.label);
  inlined().scopes[own].next = next;
}

/// The block that only decides whether the loop goes on, the header or the one after it; null where none
/// does.
const Block* ControlFlow::TestOf(const Block& header) {
  Id merge = header.merge->At(0), next = header.merge->At(1);
  if (next == header.label) return nullptr;
  const Block* test = &header;
  if (header.terminator->op == spv::OpBranch) {
    test = &BlockAt(header.terminator->At(0));
    if (test->merge != nullptr || !test->phis.empty() || test->label == next) return nullptr;
  }
  if (test->terminator == nullptr || test->terminator->op != spv::OpBranchConditional) return nullptr;
  bool leaves = (test->terminator->At(1) == merge) != (test->terminator->At(2) == merge);
  if (!leaves || TakesFrom(BlockAt(merge), test->label)) return nullptr;
  for (const Block* block : {&header, test}) {
    for (const Instruction* inst : block->body) {
      if (!IsPure(*inst) || survey_.LeavesLoop(inst->result)) return nullptr;
    }
  }
  return test;
}

/// The header is the whole loop, and branches back to itself.
void ControlFlow::EmitOneBlock(const Block& header) {
  EmitBlock(header);
  const Instruction& last = *header.terminator;
  if (last.op != spv::OpBranchConditional) return StoreEdge(header.label, header.label);
  bool negated = last.At(2) == header.label;
  Require((last.At(1) == header.label) != negated, last, "a loop of one block does not repeat itself");
  ir::Value again = GetOne(last.At(0));
  if (negated) again = b_.Make(Op::Not, {again});
  EmitArms(header, again, header.label, last.At(negated ? 1 : 2), header.label);
}

}  // namespace adc::frontend::spirv
