#include "codegen/llvm/alias.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Metadata.h"

namespace adc::codegen {
namespace {

/// Base parameters have places; thread-local arrays and module constants need none.
bool HasPlace(const ir::Function& kernel, ir::Inst access) {
  return kernel[kernel.Operand(access, 0)].kind == ir::ValueKind::BlockParam;
}

/// Beyond this many written places the lists would grow with the square of the task.
constexpr size_t kMaxScopes = 64;

}  // namespace

AliasScopes::AliasScopes(llvm::LLVMContext& context, const ir::Function& kernel, uint32_t first,
                         uint32_t last)
    : context_(context), kernel_(kernel) {
  Collect(kernel.Body(), first, last);
  group_ = llvm::MDNode::getDistinct(context, {});
  llvm::MDBuilder builder(context);
  llvm::MDNode* domain = builder.createAnonymousAliasScopeDomain("task");
  std::vector<llvm::Metadata*> scopes;
  auto list_of = [&](llvm::Metadata* scope) { return llvm::MDNode::get(context, {scope}); };
  auto add = [&](const char* scope_name) -> llvm::MDNode* {
    scopes.push_back(builder.createAnonymousAliasScope(domain, scope_name));
    return list_of(scopes.back());
  };
  llvm::MDNode* read_only = add("read");
  llvm::MDNode* rest = nullptr;  // shared by the places beyond the limit
  for (auto& [place, scope] : places_) {
    if (!scope.written) {
      scope.own = read_only;
    } else if (scopes.size() < kMaxScopes) {
      scope.own = add("written");
    } else {
      if (rest == nullptr) rest = add("rest");
      scope.own = rest;
    }
  }
  row_.written = true;
  row_.own = add("row");
  status_.written = true;
  status_.own = add("status");
  std::map<llvm::Metadata*, llvm::MDNode*> others_of;
  for (llvm::Metadata* scope : scopes) {
    std::vector<llvm::Metadata*> others;
    for (llvm::Metadata* other : scopes) {
      if (other != scope) others.push_back(other);
    }
    others_of[list_of(scope)] = llvm::MDNode::get(context, others);
  }
  for (auto& [place, scope] : places_) scope.others = others_of[scope.own];
  row_.others = others_of[row_.own];
  status_.others = others_of[status_.own];
}

AliasScopes::Place AliasScopes::PlaceOf(ir::Inst access) const {
  uint32_t param = kernel_[kernel_.Operand(access, 0)].number;
  if (kernel_.params[param].alias) return {};
  return {param, kernel_[access].attr};
}

void AliasScopes::Collect(ir::Block block, uint32_t first, uint32_t last) {
  const std::vector<ir::Inst>& insts = kernel_[block].insts;
  for (uint32_t position = first; position < last; ++position) {
    ir::Inst inst = insts[position];
    if (ir::IsAccess(kernel_[inst].op) && HasPlace(kernel_, inst)) {
      Scope& scope = places_[PlaceOf(inst)];
      scope.written = scope.written || kernel_[inst].op != ir::Op::Load;
    }
    for (ir::Block region : kernel_[inst].regions) {
      if (region.Valid()) Collect(region, 0, static_cast<uint32_t>(kernel_[region].insts.size()));
    }
  }
}

void AliasScopes::SetScope(llvm::Instruction* instruction, const Scope& scope) const {
  instruction->setMetadata(llvm::LLVMContext::MD_alias_scope, scope.own);
  instruction->setMetadata(llvm::LLVMContext::MD_noalias, scope.others);
}

void AliasScopes::Mark(llvm::Instruction* instruction, ir::Inst access, bool in_loop) const {
  if (!HasPlace(kernel_, access)) return;
  const Scope& scope = places_.at(PlaceOf(access));
  SetScope(instruction, scope);
  if (!scope.written && llvm::isa<llvm::LoadInst>(instruction))
    instruction->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  if (in_loop) instruction->setMetadata(llvm::LLVMContext::MD_access_group, group_);
}

void AliasScopes::MarkRow(llvm::Instruction* instruction) const {
  SetScope(instruction, row_);
}

void AliasScopes::MarkStatus(llvm::Instruction* instruction) const {
  SetScope(instruction, status_);
}

}  // namespace adc::codegen
