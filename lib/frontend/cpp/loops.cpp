// Loops. Each is the IR's `while`; which of them count is found later (transform/count_loops.h), and which
// are unrolled (transform/unroll.h). That signed numbers do not overflow in C++ goes with the loop:
//
//   for (int i = 0; i < n; ++i) ...          while carry(%i = 0) no_wrap { continue_if %i < %n } do { ... }
//
// A loop over an array, of a constant length, is a `for`.

#include "analysis/walk.h"
#include "frontend/cpp/statements.h"

namespace adc::frontend {

/// The body of the loop that was opened last, up to its next iteration.
void Statements::LoopBody(const clang::Stmt* body) {
  std::vector<const clang::Stmt*> statements{body};
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(body))
    statements.assign(block->body_begin(), block->body_end());
  if (!statements.empty()) {
    const auto* first = llvm::dyn_cast<clang::Expr>(statements[0]);
    const auto* call =
        llvm::dyn_cast_or_null<clang::CallExpr>(first == nullptr ? nullptr : first->IgnoreImplicit());
    const clang::FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
    if (callee != nullptr && NameOf(callee) == "checkpoint" && InNamespace(callee, "adc")) {
      std::optional<Value> length = TryConstant(call->getArg(0)->IgnoreParenImpCasts());
      std::optional<int64_t> number = length ? function_.IntegerConstant(*length) : std::nullopt;
      if (!number || *number < 0) Refuse(call, "adc::checkpoint takes a constant, 0 or more");
      frame_->loops.back().checkpoint = *number;
      statements.erase(statements.begin());
    }
  }
  for (const clang::Stmt* s : statements) Statement(s);
  if (writer_.Reachable() && frame_->loops.back().at_continue) frame_->loops.back().at_continue();
}

void Statements::LeaveLoop(bool breaks, const clang::Stmt* at) {
  if (frame_->loops.empty()) Refuse(at, "this stands in no loop");
  SetPlace(at->getSourceRange());
  if (breaks) return writer_.Break();
  if (frame_->loops.back().at_continue) frame_->loops.back().at_continue();
  writer_.Continue();
}

void Statements::CloseLoop() {
  int64_t checkpoint = frame_->loops.back().checkpoint;
  frame_->loops.pop_back();
  ir::Inst inst = writer_.Close();
  ir::InstData& data = function_[inst];
  if (data.op == Op::While && !context_.getLangOpts().isSignedOverflowDefined())
    data.words.Add(ir::Word::Unwrapped);
  if (checkpoint >= 0) {
    data.words.Add(ir::Word::Checkpoint);
    data.attr = checkpoint == 0 ? ir::kNoAttr : static_cast<uint32_t>(checkpoint);
  }
  // Tasks stand in loops that are unrolled.
  for (uint32_t n = 0; n < function_.RegionCount(inst); ++n) {
    analysis::ForEachInst(function_, data.regions[n], [&](ir::Inst one) {
      if (function_[one].op == Op::Parallel) data.words.Add(ir::Word::Unroll);
    });
  }
}

void Statements::ForLoop(const clang::ForStmt* loop) {
  if (loop->getInit() != nullptr) Statement(loop->getInit());
  SetPlace(SourceRange(loop->getForLoc(), loop->getRParenLoc()));
  WhileForm(loop->getConditionVariable(), loop->getCond(), loop->getInc(), loop->getBody());
}

/// Any loop that tests first.
void Statements::WhileForm(const clang::VarDecl* variable, const clang::Expr* condition,
                           const clang::Expr* step, const clang::Stmt* body, const clang::Stmt* first) {
  writer_.OpenWhile();
  OpenLoop open;
  if (step != nullptr) open.at_continue = [&] { Effect(step); };
  frame_->loops.push_back(std::move(open));
  if (variable != nullptr) DeclareVariable(variable);
  writer_.Test(condition == nullptr ? writer_.Int(ir::kI1, 1) : Condition(condition), variable != nullptr);
  if (first != nullptr) Statement(first);
  LoopBody(body);
  CloseLoop();
}

void Statements::DoLoop(const clang::DoStmt* loop) {
  Slot again = writer_.NewSlot(ir::kI1, {});
  writer_.Set(again, writer_.Int(ir::kI1, 1));
  writer_.OpenWhile();
  writer_.Test(writer_.Get(again));
  OpenLoop open;
  open.at_continue = [&] { writer_.Set(again, Condition(loop->getCond())); };
  frame_->loops.push_back(std::move(open));
  LoopBody(loop->getBody());
  CloseLoop();
}

void Statements::RangeLoop(const clang::CXXForRangeStmt* loop) {
  if (loop->getInit() != nullptr) Statement(loop->getInit());
  QualType type = loop->getRangeInit()->getType();
  if (RecordOf(type) != nullptr && !IsStandard(type, "array")) {
    // From its begin() to its end().
    Statement(loop->getRangeStmt());
    Statement(loop->getBeginStmt());
    Statement(loop->getEndStmt());
    return WhileForm(nullptr, loop->getCond(), loop->getInc(), loop->getBody(), loop->getLoopVarStmt());
  }
  ObjectPtr range = Place(loop->getRangeInit());
  if (range->kind == ObjectKind::Struct && range->members.size() == 1 && range->members[0] != nullptr)
    range = range->members[0];  // std::array
  if (range->kind != ObjectKind::Array)
    Refuse(loop->getRangeInit(), "a loop over something that is no array",
           "loop over indices: for (int i = 0; i < n; ++i)");
  SetPlace(loop->getSourceRange());
  Value index = OpenElements(*range);
  frame_->loops.push_back({});
  const clang::VarDecl* variable = loop->getLoopVariable();
  ObjectPtr element = Element(range, index, loop->getRangeInit()->getSourceRange());
  if (variable->getType()->isReferenceType()) {
    frame_->variables[variable] = element;
  } else {
    ObjectPtr copy = NewObject(variable->getType(), variable->getNameAsString(), variable->getSourceRange());
    Copy(copy, element, variable->getSourceRange());
    frame_->variables[variable] = copy;
  }
  LoopBody(loop->getBody());
  CloseLoop();
}

}  // namespace adc::frontend
