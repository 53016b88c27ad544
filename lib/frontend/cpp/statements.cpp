// Statements. A jump forward (a `return`, the `break` of a switch) has no counterpart in structured control:
// what follows it is built into the branch that does not jump. Where a statement may or may not jump, it sets
// a flag, and what follows is built behind a test of the flag.
//
//   if (a) return 1;        if a { 1 } else { rest }
//   rest
//
// What stands between a jump and its target is a stack of boundaries: a branch whose end is not the target's
// end, or a loop, which the jump leaves with `break`.

#include <algorithm>

#include "diag/errors/cpp.h"
#include "frontend/cpp/lowering.h"

namespace adc::frontend {

using clang::SourceRange;
using ir::Op;
using ir::Type;
using ir::Value;

namespace {

constexpr size_t kMostNesting = 200;

bool IsLoop(const clang::Stmt* s) {
  return llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt>(s);
}

bool HasReturn(const clang::Stmt* s) {
  if (s == nullptr || llvm::isa<clang::LambdaExpr>(s)) return false;
  if (llvm::isa<clang::ReturnStmt>(s)) return true;
  for (const clang::Stmt* child : s->children()) {
    if (HasReturn(child)) return true;
  }
  return false;
}

/// A `break` that belongs to a switch around `s`.
bool HasSwitchBreak(const clang::Stmt* s) {
  if (s == nullptr || IsLoop(s) || llvm::isa<clang::SwitchStmt>(s) || llvm::isa<clang::Expr>(s)) return false;
  if (llvm::isa<clang::BreakStmt>(s)) return true;
  for (const clang::Stmt* child : s->children()) {
    if (HasSwitchBreak(child)) return true;
  }
  return false;
}

const clang::Stmt* Bare(const clang::Stmt* s) {
  while (const auto* attributed = llvm::dyn_cast_or_null<clang::AttributedStmt>(s))
    s = attributed->getSubStmt();
  return s;
}

/// Whether control never goes on behind `s`.
bool AlwaysLeaves(const clang::Stmt* s) {
  s = Bare(s);
  if (s == nullptr) return false;
  if (llvm::isa<clang::ReturnStmt, clang::BreakStmt, clang::ContinueStmt>(s)) return true;
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(s)) {
    for (const clang::Stmt* child : block->body()) {
      if (AlwaysLeaves(child)) return true;
    }
    return false;
  }
  if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(s)) {
    if (branch->isConstexpr()) return false;
    return branch->getElse() != nullptr && AlwaysLeaves(branch->getThen()) && AlwaysLeaves(branch->getElse());
  }
  if (const auto* choice = llvm::dyn_cast<clang::SwitchStmt>(s)) {
    const auto* body = llvm::dyn_cast<clang::CompoundStmt>(choice->getBody());
    if (body == nullptr || body->body_empty() || HasSwitchBreak(body)) return false;
    bool has_default = false;
    for (const clang::SwitchCase* one = choice->getSwitchCaseList(); one != nullptr;
         one = one->getNextSwitchCase())
      has_default = has_default || llvm::isa<clang::DefaultStmt>(one);
    const clang::Stmt* last = body->body_back();
    while (const auto* label = llvm::dyn_cast<clang::SwitchCase>(last)) last = label->getSubStmt();
    return has_default && AlwaysLeaves(last);
  }
  return false;
}

}  // namespace

bool Lowering::ReturnIsForward() const {
  for (size_t n = frame_->first_boundary; n < boundaries_.size(); ++n) {
    if (boundaries_[n].is_loop) return false;
  }
  return true;
}

bool Lowering::BreaksSwitch() const {
  return !switches_.empty() && switches_.back().loops == loops_.size();
}

bool Lowering::MayJump(const clang::Stmt* s) const {
  return (HasReturn(s) && ReturnIsForward()) || (BreaksSwitch() && HasSwitchBreak(s));
}

void Lowering::Run(const Rest* first) {
  if (first == nullptr) return;
  Rest rest = *first;
  for (;;) {
    while (rest.statements.empty()) {
      if (rest.next == nullptr) return;
      rest = *rest.next;
    }
    if (!ssa_.Reachable()) return;
    const clang::Stmt* s = Bare(rest.statements.front());
    Rest tail{rest.statements.drop_front(), rest.next};
    SetPlace(s->getSourceRange());
    if (ssa_.Depth() > kMostNesting)
      Refuse(s, "control flow nests more than 200 deep", "split the function, or return less often");
    if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(s)) {
      std::vector<const clang::Stmt*> body(block->body_begin(), block->body_end());
      Rest inner{body, &tail};
      return Run(&inner);
    }
    if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(s)) return RunIf(branch, &tail);
    if (const auto* choice = llvm::dyn_cast<clang::SwitchStmt>(s)) return RunSwitch(choice, &tail);
    if (IsLoop(s)) {
      return RunAcross(true, [&] { Loop(s); }, &tail);
    }
    if (const auto* end = llvm::dyn_cast<clang::ReturnStmt>(s)) return Return(end);
    if (llvm::isa<clang::BreakStmt>(s)) {
      if (!BreaksSwitch()) return LeaveLoop(true, s);
      return Jump(switches_.back().left, switches_.back().first_boundary);
    }
    if (llvm::isa<clang::ContinueStmt>(s)) return LeaveLoop(false, s);
    Statement(s);
    rest = tail;
  }
}

/// Ends a path: control goes on at a target, whose flag says so where boundaries stand between.
void Lowering::Jump(Slot flag, size_t first_boundary) {
  if (first_boundary == boundaries_.size()) return;
  ssa_.Set(flag, ssa_.builder().Int(ir::kI1, 1));
  for (size_t n = first_boundary; n < boundaries_.size(); ++n) boundaries_[n].jumped.insert(flag);
}

void Lowering::Return(const clang::ReturnStmt* statement) {
  if (const clang::Expr* value = statement->getRetValue()) {
    if (frame_->gives_reference) {
      ReturnReference(statement);
    } else if (frame_->result != nullptr) {
      Initialise(frame_->result, value);
    } else {
      Effect(value);
    }
  }
  SetPlace(statement->getSourceRange());
  for (size_t n = boundaries_.size(); n > frame_->first_boundary; --n) {
    if (!boundaries_[n - 1].is_loop) continue;
    ssa_.Set(frame_->returned, ssa_.builder().Int(ir::kI1, 1));
    boundaries_[n - 1].jumped.insert(frame_->returned);
    if (loops_.back().at_break) loops_.back().at_break();
    ssa_.Break();
    return;
  }
  Jump(frame_->returned, frame_->first_boundary);
}

/// Which of several objects a reference is to is an ordinary value, where all of them were there before.
void Lowering::ReturnReference(const clang::ReturnStmt* statement) {
  ObjectPtr place = Place(statement->getRetValue());
  std::vector<ObjectPtr>& places = frame_->places;
  auto known = std::find(places.begin(), places.end(), place);
  auto number = static_cast<int32_t>(known - places.begin());
  if (known == places.end()) places.push_back(place);
  bool old = std::all_of(places.begin(), places.end(),
                         [&](const ObjectPtr& one) { return Outlives(*one, frame_->born); });
  if (places.size() > 1 && !old)
    Refuse(statement, "a reference to one of several objects that is chosen at run time",
           "give a value, or choose outside of the function");
  ssa_.Set(frame_->chosen, ssa_.builder().I32(number));
}

ObjectPtr Lowering::ChosenPlace(const Frame& frame, SourceRange range) {
  if (frame.places.empty()) return nullptr;
  ObjectPtr chosen = frame.places[0];
  Value which = ssa_.Get(frame.chosen);
  for (size_t n = 1; chosen != nullptr && n < frame.places.size(); ++n) {
    Value here = ssa_.Make(Op::Eq, {which, ssa_.builder().I32(static_cast<int32_t>(n))});
    chosen = ChoiceOf(here, frame.places[n], chosen);
  }
  if (chosen == nullptr)
    Refuse(range, "a reference to one of several objects that is chosen at run time",
           "give a value, or choose outside of the function");
  return chosen;
}

/// Builds what jumps may leave, then what follows it where none did.
void Lowering::RunAcross(bool is_loop, const std::function<void()>& inner, const Rest* tail) {
  boundaries_.push_back({is_loop, {}});
  inner();
  Boundary crossed = std::move(boundaries_.back());
  boundaries_.pop_back();
  if (!ssa_.Reachable()) return;
  if (crossed.jumped.empty()) return Run(tail);
  ir::Value left;
  for (Slot flag : crossed.jumped)
    left = left.Valid() ? ssa_.Make(Op::Or, {left, ssa_.Get(flag)}) : ssa_.Get(flag);
  if (is_loop) {
    // Only a `return` leaves a loop with a flag.
    for (size_t n = boundaries_.size(); n > frame_->first_boundary; --n) {
      if (!boundaries_[n - 1].is_loop) continue;
      boundaries_[n - 1].jumped.insert(frame_->returned);
      ssa_.If(
          left,
          [&] {
            if (loops_.back().at_break) loops_.back().at_break();
            ssa_.Break();
          },
          [] {});
      return Run(tail);
    }
    for (size_t n = frame_->first_boundary; n < boundaries_.size(); ++n)
      boundaries_[n].jumped.insert(frame_->returned);
  }
  const Rest* next = tail;
  while (next != nullptr && next->statements.empty()) next = next->next;
  if (next == nullptr) return;
  ssa_.If(left, [] {}, [&] { Run(next); });
}

void Lowering::RunIf(const clang::IfStmt* branch, const Rest* tail) {
  if (branch->isConsteval()) Refuse(branch, "'if consteval' in a kernel");
  if (branch->getInit() != nullptr) Statement(branch->getInit());
  if (branch->getConditionVariable() != nullptr) DeclareVariable(branch->getConditionVariable());
  ir::Value condition;
  if (branch->isConstexpr()) {
    std::optional<ir::Value> known = TryConstant(branch->getCond());
    condition = known ? Convert(*known, ir::kI1) : Condition(branch->getCond());
  } else {
    condition = ssa_.Resolve(Condition(branch->getCond()));
  }
  SetPlace(SourceRange(branch->getBeginLoc(), branch->getCond()->getEndLoc()));
  const clang::Stmt* then = branch->getThen();
  const clang::Stmt* otherwise = branch->getElse();
  llvm::ArrayRef<const clang::Stmt*> yes(then), no;
  if (otherwise != nullptr) no = otherwise;
  auto run = [&](llvm::ArrayRef<const clang::Stmt*> statements, const Rest* next) {
    Rest inner{statements, next};
    Run(&inner);
  };
  if (function_.IsConstant(condition)) return run(function_.ConstantOf(condition).bits != 0 ? yes : no, tail);
  auto both = [&] { ssa_.If(condition, [&] { run(yes, nullptr); }, [&] { run(no, nullptr); }); };
  if (!MayJump(branch)) {
    both();
    return Run(tail);
  }
  bool yes_leaves = AlwaysLeaves(then), no_leaves = otherwise != nullptr && AlwaysLeaves(otherwise);
  if (yes_leaves && no_leaves) return both();
  if (!yes_leaves && !no_leaves) return RunAcross(false, both, tail);
  ssa_.If(
      condition, [&] { run(yes, yes_leaves ? nullptr : tail); },
      [&] { run(no, no_leaves ? nullptr : tail); });
}

void Lowering::RunSwitch(const clang::SwitchStmt* choice, const Rest* tail) {
  struct Arm {
    std::vector<const clang::CaseStmt*> labels;
    bool is_default = false;
    size_t first = 0;
  };
  if (choice->getInit() != nullptr) Statement(choice->getInit());
  if (choice->getConditionVariable() != nullptr) DeclareVariable(choice->getConditionVariable());
  ir::Value value = ValueOf(choice->getCond());
  const auto* body = llvm::dyn_cast<clang::CompoundStmt>(choice->getBody());
  if (body == nullptr) Refuse(choice, "a switch has its cases in braces");
  std::vector<const clang::Stmt*> statements;
  std::vector<Arm> arms;
  size_t labels = 0;
  for (const clang::Stmt* s : body->body()) {
    s = Bare(s);
    if (llvm::isa<clang::SwitchCase>(s)) arms.push_back({{}, false, statements.size()});
    while (const auto* label = llvm::dyn_cast<clang::SwitchCase>(s)) {
      ++labels;
      if (const auto* one = llvm::dyn_cast<clang::CaseStmt>(label)) {
        if (one->getRHS() != nullptr) Refuse(one, "a range of cases");
        arms.back().labels.push_back(one);
      } else {
        arms.back().is_default = true;
      }
      s = Bare(label->getSubStmt());
    }
    if (arms.empty()) {
      // Declarations in front of the first case.
      if (!llvm::isa<clang::DeclStmt>(s)) Refuse(s, "a statement in front of the first case never runs");
      Statement(s);
      continue;
    }
    statements.push_back(s);
  }
  for (const clang::SwitchCase* one = choice->getSwitchCaseList(); one != nullptr;
       one = one->getNextSwitchCase())
    --labels;
  if (labels != 0) Refuse(choice, "a case stands inside of another statement of the switch");
  // What one arm declares without a value another one may assign.
  for (const clang::Stmt* s : statements) {
    const auto* declared = llvm::dyn_cast<clang::DeclStmt>(s);
    if (declared == nullptr) continue;
    for (const clang::Decl* one : declared->decls()) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(one);
      if (variable != nullptr && variable->getInit() == nullptr && !variable->hasGlobalStorage())
        DeclareVariable(variable);
    }
  }
  Slot left = ssa_.NewSlot(ir::kI1, {});
  ssa_.Set(left, ssa_.builder().Int(ir::kI1, 0));
  auto run_arm = [&](const Arm& arm) {
    size_t end = arm.first;
    while (end < statements.size() && !AlwaysLeaves(statements[end])) ++end;
    if (end < statements.size()) ++end;
    std::map<const clang::ValueDecl*, ObjectPtr> variables = frame_->variables;
    Rest inner{llvm::ArrayRef(statements).slice(arm.first, end - arm.first)};
    Run(&inner);
    frame_->variables = std::move(variables);
  };
  std::function<void(size_t)> chain = [&](size_t n) {
    while (n < arms.size() && arms[n].labels.empty()) ++n;
    if (n == arms.size()) {
      for (const Arm& arm : arms) {
        if (arm.is_default) run_arm(arm);
      }
      return;
    }
    if (arms[n].is_default) return chain(n + 1);  // its labels are among what is left
    ir::Value met;
    for (const clang::CaseStmt* label : arms[n].labels) {
      std::optional<ir::Value> number = TryConstant(label->getLHS());
      if (!number) Refuse(label, "a case that cannot be evaluated");
      SetPlace(label->getLHS()->getSourceRange());
      ir::Value same = ssa_.Make(Op::Eq, {value, Convert(*number, ssa_.TypeOf(value))});
      met = met.Valid() ? ssa_.Make(Op::Or, {met, same}) : same;
    }
    ssa_.If(met, [&] { run_arm(arms[n]); }, [&] { chain(n + 1); });
  };
  RunAcross(
      false,
      [&] {
        switches_.push_back({left, boundaries_.size(), loops_.size()});
        chain(0);
        switches_.pop_back();
      },
      tail);
}

void Lowering::Statement(const clang::Stmt* s) {
  using clang::Stmt;
  SetPlace(s->getSourceRange());
  if (const auto* expression = llvm::dyn_cast<clang::Expr>(s)) return Effect(expression);
  switch (s->getStmtClass()) {
    case Stmt::NullStmtClass:
      return;
    case Stmt::DeclStmtClass:
      for (const clang::Decl* one : llvm::cast<clang::DeclStmt>(s)->decls()) Declare(one);
      return;
    case Stmt::GotoStmtClass:
    case Stmt::IndirectGotoStmtClass:
      Refuse(s, "a kernel has no goto", "use a loop with break and continue, or return");
    case Stmt::LabelStmtClass:
      Refuse(s, "a kernel has no labels", "use loops, break and continue");
    case Stmt::CXXTryStmtClass:
      Refuse(s, "a kernel has no exceptions", "use assert, or store what went wrong in a buffer");
    case Stmt::GCCAsmStmtClass:
    case Stmt::MSAsmStmtClass:
      Refuse(s, "a kernel has no assembly");
    default:
      Refuse(s, "kernels do not have this kind of statement (" + std::string(s->getStmtClassName()) + ")",
             "docs/cpp.md says what a kernel may use");
  }
}

void Lowering::Declare(const clang::Decl* declaration) {
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) return DeclareVariable(variable);
  bool nothing =
      llvm::isa<clang::TypeDecl, clang::UsingDecl, clang::UsingDirectiveDecl, clang::StaticAssertDecl,
                clang::EmptyDecl, clang::NamespaceAliasDecl, clang::UsingEnumDecl, clang::UsingShadowDecl>(
          declaration);
  if (!nothing) Refuse(declaration->getSourceRange(), "kernels do not have this kind of declaration");
}

void Lowering::DeclareVariable(const clang::VarDecl* variable) {
  SourceRange range = variable->getSourceRange();
  clang::QualType type = variable->getType();
  std::string name = variable->getNameAsString();
  SetPlace(range);
  if (variable->hasGlobalStorage()) {
    if (!IsConstant(variable))
      Refuse(range, "'" + name + "' keeps its value from call to call", "use a buffer, or make it constexpr");
    return;
  }
  if (type.isVolatileQualified()) Refuse(range, "a kernel has no volatile variables");
  const clang::Expr* init = variable->getInit();
  if (type->isReferenceType() || BufferOf(type)) {
    if (init == nullptr) Refuse(range, "'" + name + "' is not bound to anything");
    frame_->variables[variable] = Place(init);
    return;
  }
  if (type->isAnyPointerType() && init != nullptr) {
    frame_->variables[variable] = PointerTo(type, AddressOf(init), range, variable);
    return;
  }
  if (std::optional<Type> leaf = RegisterType(type)) {
    std::optional<ir::Value> value;
    if (init != nullptr) value = ValueOf(init);
    SetPlace(range);
    ObjectPtr slot = NewSlot(*leaf, type, name);
    if (value) Store(slot, *value, range);
    frame_->variables[variable] = slot;
    return;
  }
  bool constant = variable->isConstexpr() || type.isConstQualified();
  bool numbers = context_.getAsConstantArrayType(type) != nullptr;
  if (const clang::CXXRecordDecl* record = RecordOf(type))
    numbers = record->isInStdNamespace() && record->getName() == "array";
  if (constant && numbers && init != nullptr && !init->isValueDependent() &&
      variable->evaluateValue() != nullptr) {
    frame_->variables[variable] = PlaceOfGlobal(variable, range);
    return;
  }
  const clang::CXXRecordDecl* record = RecordOf(type);
  bool closure = record != nullptr && record->isLambda();
  ObjectPtr object = NewObject(type, closure ? std::string() : name, range);
  if (init != nullptr) Initialise(object, init);
  NameCells(variable, object);
  frame_->variables[variable] = object;
}

}  // namespace adc::frontend
