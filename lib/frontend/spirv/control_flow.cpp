// Control flow of SPIR-V to regions of the IR.
//
// Blocks are followed from the first on. A selection names the block where its arms meet, a loop the blocks
// where it ends and where its next iteration begins; between these, branches may only leave for the meeting
// block of a construct around. So a region of the IR is emitted from a block on until `end` is reached, the
// block where the region's own construct meets (loops: loops.cpp):
//
//   %m: OpSelectionMerge %e                if %c {
//       OpBranchConditional %c %t %f         blocks from %t to %e
//                                    =>    } else {
//                                            blocks from %f to %e
//                                          }
//                                          blocks from %e on
//
// Leaving a loop is the IR's `break`. The end of a `switch` from inside an `if`, a `return`, and a `continue`
// after which something is still to do leave a scope: around the cases, the body of the function, the body
// of the loop. A scope that nothing leaves is taken out again.
//
// Phis are local variables: each edge stores, the block loads. So is a value that is used where the region
// that computes it is not seen (values.h).

#include "frontend/spirv/control_flow.h"

#include <ranges>

#include "diag/errors/shader.h"
#include "ir/module.h"

namespace adc::frontend::spirv {

using ir::Op;

const Block& ControlFlow::BlockAt(Id label) {
  const Function& function = *inlined().function;
  auto found = function.block_of.find(label);
  if (found == function.block_of.end())
    Refuse(diag::E0857, b_.span(), "a branch leads to a block that its function does not have");
  return function.blocks[found->second];
}

const std::vector<ir::Value>& ControlFlow::SlotsOf(const Instruction& phi) {
  std::vector<ir::Value>& slots = frame().stored[phi.result];
  if (slots.empty()) slots = Slots(phi.type);
  return slots;
}

/// The phis of `to` take what they take from `from`.
void ControlFlow::StoreEdge(Id from, Id to) {
  if (from == 0) return;
  const Block& block = BlockAt(to);
  std::vector<std::pair<ir::Value, ir::Value>> stores;
  for (const Instruction* phi : block.phis) {
    for (size_t n = 0; n + 1 < phi->operands.size(); n += 2) {
      if (phi->At(n + 1) != from) continue;
      Value value = Get(phi->At(n));
      for (uint32_t part = 0; part < value.parts.size(); ++part)
        stores.emplace_back(SlotsOf(*phi)[part], value.parts[part]);
      break;
    }
  }
  for (const auto& [slot, value] : stores) StoreSlot(slot, value);
}

void ControlFlow::EmitBlock(const Block& block) {
  if (!inlined().emitted.insert(block.label).second)
    Refuse(diag::E0857, block.terminator != nullptr ? block.terminator->span : b_.span(),
           "a block is reached in two ways that do not nest", "compile the shader without jump threading");
  if (block.terminator == nullptr) Refuse(diag::E0852, b_.span(), "a block does not end");
  for (const Instruction* phi : block.phis) {
    Spend(1, *phi);
    if (types_.KindOf(phi->type) == spv::OpTypePointer) RefuseChosen(*phi);
    Set(*phi, LoadSlots(SlotsOf(*phi)));
  }
  for (const Instruction* inst : block.body) Emit(*inst);
  b_.SetSpan(block.terminator->span);
}

void ControlFlow::Nest() {
  if (++depth_ > kDeepestRegion)
    Refuse(diag::E0857, b_.span(), "branches and loops nest deeper than 200 levels",
           "move inner parts into loops of their own");
}

void ControlFlow::OpenScope(Scope& scope) {
  Nest();
  scope.inst = b_.Scope({});
  b_.SetBlock(kernel_[scope.inst].regions[0]);
}

void ControlFlow::CloseScope(const Scope& scope) {
  --depth_;
  ir::Block region = kernel_[scope.inst].regions[0], around = kernel_[scope.inst].parent;
  b_.SetBlock(around);
  if (scope.is_left) return b_.Close(region);
  std::vector<ir::Inst> insts = std::move(kernel_[region].insts);
  kernel_[region].insts.clear();
  kernel_[around].insts.pop_back();
  for (ir::Inst inst : insts) kernel_.Append(around, inst);
  Move(region, around);
}

ControlFlow::Scope* ControlFlow::ScopeOf(Id target) {
  for (Scope& scope : inlined().scopes | std::views::reverse) {
    if (scope.kind == Scope::Kind::Function) return nullptr;
    bool is_loop = scope.kind == Scope::Kind::Loop;
    if (target == scope.merge || (is_loop && target == scope.next)) return &scope;
    if (is_loop) return nullptr;
  }
  return nullptr;
}

void ControlFlow::Exit(Scope& scope) {
  scope.is_left = true;
  b_.Terminate(Op::Exit, {{kernel_[kernel_[scope.inst].regions[0]].params[0]}});
}

/// Takes the way out that `target` is; false where it is none.
bool ControlFlow::Leave(Id from, Id target) {
  Scope* scope = ScopeOf(target);
  if (scope == nullptr) return false;
  StoreEdge(from, target);
  if (scope->kind == Scope::Kind::Loop && target == scope->merge) {
    b_.Terminate(Op::Break, {});
  } else {
    Exit(*scope);
  }
  return true;
}

void ControlFlow::Return(const Instruction& last) {
  Scope& function = inlined().scopes.front();
  if (last.op == spv::OpReturnValue) {
    Value result = Get(last.At(0));
    Require(result.parts.size() == function.results.size(), last, "a value of another type is returned");
    for (size_t n = 0; n < result.parts.size(); ++n) StoreSlot(function.results[n], result.parts[n]);
  }
  // At the end of the function there is nothing left to pass over.
  if (b_.block() != kernel_[function.inst].regions[0]) Exit(function);
}

bool ControlFlow::EmitArms(const Block& block, ir::Value condition, Id first, Id second, Id end) {
  Nest();
  ir::Inst branch = b_.If(condition, {});
  ir::Block back = b_.block();
  bool falls = false;
  for (uint32_t arm = 0; arm < 2; ++arm) {
    b_.SetBlock(kernel_[branch].regions[arm]);
    // Two arms that lead to one block would emit it twice.
    falls = EmitFrom(block.label, arm == 0 ? first : second, end) || falls;
  }
  b_.SetBlock(back);
  b_.CloseArms(branch);
  --depth_;
  return falls;
}

/// A branch of a block that is no selection: one arm at least leaves. The blocks of the other one follow,
/// and is given back; 0 where the region ends with the branch.
Id ControlFlow::EmitWayOut(const Block& block, ir::Value condition, Id end, bool* falls) {
  const Instruction& last = *block.terminator;
  Id first = last.At(1), second = last.At(2);
  bool first_leaves = IsExit(first, end), second_leaves = IsExit(second, end);
  if (!first_leaves && !second_leaves)
    Refuse(diag::E0857, last.span, "a branch does not say where its arms meet");
  Id leaving = first_leaves ? first : second;
  if (leaving == end || (first_leaves && second_leaves)) {
    *falls = EmitArms(block, condition, first, second, end);
    return 0;
  }
  Nest();
  b_.When(condition, [&] { Leave(block.label, leaving); }, first_leaves);
  --depth_;
  return first_leaves ? second : first;
}

/// Emits from `label` to `end`; whether control may get there.
bool ControlFlow::EmitFrom(Id from, Id label, Id end) {
  for (;;) {
    if (label == end && end != 0) {
      StoreEdge(from, label);
      return true;
    }
    if (Leave(from, label)) return false;
    StoreEdge(from, label);
    const Block& block = BlockAt(label);
    from = 0;
    if (block.merge != nullptr && block.merge->op == spv::OpLoopMerge &&
        inlined().open_header != block.label) {
      EmitLoop(block);
      label = block.merge->At(0);
      continue;
    }
    inlined().open_header = 0;
    EmitBlock(block);
    const Instruction& last = *block.terminator;
    switch (static_cast<uint32_t>(last.op)) {
      case spv::OpBranch:
        from = block.label;
        label = last.At(0);
        continue;
      case spv::OpReturn:
      case spv::OpReturnValue:
        Return(last);
        return false;
      case spv::OpUnreachable:
        return false;
      case spv::OpSwitch:
        Require(block.merge != nullptr, last, "a switch does not say where it ends");
        if (!EmitSwitch(block)) return false;
        label = block.merge->At(0);
        continue;
      case spv::OpBranchConditional: {
        ir::Value condition = GetOne(last.At(0));
        if (last.At(1) == last.At(2)) {
          from = block.label;
          label = last.At(1);
        } else if (block.merge != nullptr && block.merge->op == spv::OpSelectionMerge) {
          label = block.merge->At(0);
          if (!EmitArms(block, condition, last.At(1), last.At(2), label)) return false;
        } else {
          bool falls = false;
          from = block.label;
          label = EmitWayOut(block, condition, end, &falls);
          if (label == 0) return falls;
        }
        continue;
      }
      default:
        Refuse(diag::E0854, last.span, "a block ends in a way that kernels do not have");
    }
  }
}

void ControlFlow::Enter(const Function& function, std::unique_ptr<Frame> made,
                        std::vector<ir::Value> results) {
  frames_.push_back(std::move(made));
  inlined_.push_back({&function, {}, {}});
  Scope scope;
  scope.results = std::move(results);
  OpenScope(scope);
  inlined().scopes.push_back(std::move(scope));
}

void ControlFlow::EmitFunction() {
  EmitFrom(0, inlined().function->blocks[0].label, 0);
  CloseScope(inlined().scopes.front());
}

Value ControlFlow::Call(const Instruction& inst) {
  auto callee = binary_.functions().find(inst.At(0));
  Require(callee != binary_.functions().end() && !callee->second.blocks.empty(), inst,
          "a function without a body is called");
  if (frames_.size() > kDeepest)
    Refuse(diag::E0861, inst.span, "functions call each other more than 64 levels deep",
           "kernels have no recursion: write a loop");
  const Function& function = callee->second;
  Require(function.parameters.size() + 1 == inst.operands.size(), inst,
          "a function is called with another number of arguments");
  auto made = std::make_unique<Frame>();
  for (size_t n = 0; n < function.parameters.size(); ++n) {
    const Instruction& parameter = *function.parameters[n];
    if (types_.KindOf(parameter.type) == spv::OpTypePointer && !types_.IsAddress(parameter.type)) {
      made->pointers[parameter.result] = GetPointer(inst.At(n + 1), inst);
    } else {
      made->values[parameter.result] = Get(inst.At(n + 1));
    }
  }
  Id type = function.definition->type;
  Enter(function, std::move(made),
        types_.KindOf(type) == spv::OpTypeVoid ? std::vector<ir::Value>() : Slots(type));
  EmitFunction();
  b_.SetSpan(inst.span);
  Value result = LoadSlots(inlined().scopes.front().results);
  // Locals of the callee end here; pointers to them cannot have left it.
  frames_.pop_back();
  inlined_.pop_back();
  return result;
}

void ControlFlow::EmitKernel() {
  const Function& function = survey_.body();
  AddParameters();
  b_.SetSpan(function.definition->span);
  ir::Block home = kernel_[MakeLoop()].regions[0];
  SetHome(home);
  b_.SetBlock(home);
  Enter(function, std::make_unique<Frame>(), {});
  for (Id variable : survey_.privates()) MakeLocal(*binary_.Find(variable));
  for (Id variable : survey_.shared()) MakeLocal(*binary_.Find(variable), {ir::Word::Shared});
  EmitFunction();
  b_.Close(home);
  PlaceSlots();
  b_.SetBlock(kernel_.Body());
  b_.Terminate(Op::Return, {});
}

void LowerEntry(const Request& request, ir::Module& module, const std::string& name,
                std::vector<std::string>* names) {
  Survey survey(request);
  ir::Function& kernel = module.AddFunction(ir::FunctionKind::Kernel, module.Intern(name));
  kernel.span = survey.body().definition->span;
  Resources resources(request, module, kernel);
  resources.Add(survey.resources(), survey.pointed());
  names->insert(names->end(), resources.names().begin(), resources.names().end());
  survey.FindOrder(resources.all());
  ControlFlow(request, survey, module, kernel, resources).EmitKernel();
}

}  // namespace adc::frontend::spirv
