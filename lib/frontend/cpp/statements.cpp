// Statements. A `return`, and the `break` of a switch, leave a scope of the IR: around the function's body or
// around the switch.

#include "frontend/cpp/statements.h"

#include <algorithm>

namespace adc::frontend {

namespace {

constexpr size_t kMostNesting = 200;

const clang::Stmt* Bare(const clang::Stmt* s) {
  while (const auto* attributed = llvm::dyn_cast_or_null<clang::AttributedStmt>(s))
    s = attributed->getSubStmt();
  return s;
}

}  // namespace

void Statements::Return(const clang::ReturnStmt* statement) {
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
  writer_.Leave(frame_->scope);
}

void Statements::RefuseReference(SourceRange range) {
  Refuse(range, "a reference to one of several objects that is chosen at run time",
         "give a value, or choose outside of the function");
}

/// Which of several objects a reference is to is an ordinary value, where all of them were there before.
void Statements::ReturnReference(const clang::ReturnStmt* statement) {
  ObjectPtr place = Place(statement->getRetValue());
  std::vector<ObjectPtr>& places = frame_->places;
  auto known = std::find(places.begin(), places.end(), place);
  auto number = static_cast<uint64_t>(known - places.begin());
  if (known == places.end()) places.push_back(place);
  bool old = llvm::all_of(places, [&](const ObjectPtr& one) { return Outlives(*one, frame_->born); });
  if (places.size() > 1 && !old) RefuseReference(statement->getSourceRange());
  writer_.Set(frame_->chosen, Number(number));
}

ObjectPtr Statements::ChosenPlace(const Frame& frame, SourceRange range) {
  if (frame.places.empty()) return nullptr;
  ObjectPtr chosen = frame.places[0];
  Value which = writer_.Get(frame.chosen);
  for (size_t n = 1; chosen != nullptr && n < frame.places.size(); ++n) {
    Value here = Make(Op::Eq, {which, Number(n)});
    chosen = ChoiceOf(here, frame.places[n], chosen);
  }
  if (chosen == nullptr) RefuseReference(range);
  return chosen;
}

void Statements::RunIf(const clang::IfStmt* branch) {
  if (branch->isConsteval()) Refuse(branch, "'if consteval' in a kernel");
  if (branch->getInit() != nullptr) Statement(branch->getInit());
  if (branch->getConditionVariable() != nullptr) DeclareVariable(branch->getConditionVariable());
  Value condition = Condition(branch->getCond());
  SetPlace(SourceRange(branch->getBeginLoc(), branch->getCond()->getEndLoc()));
  auto otherwise = [&] {
    if (branch->getElse() != nullptr) Statement(branch->getElse());
  };
  writer_.If(condition, [&] { Statement(branch->getThen()); }, otherwise);
}

void Statements::RunSwitch(const clang::SwitchStmt* choice) {
  struct Arm {
    std::vector<const clang::CaseStmt*> labels;
    bool is_default = false;
    size_t first = 0;
  };
  if (choice->getInit() != nullptr) Statement(choice->getInit());
  if (choice->getConditionVariable() != nullptr) DeclareVariable(choice->getConditionVariable());
  Value value = ValueOf(choice->getCond());
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
  // Another arm may assign a variable that one arm declares without a value.
  for (const clang::Stmt* s : statements) {
    const auto* declared = llvm::dyn_cast<clang::DeclStmt>(s);
    if (declared == nullptr) continue;
    for (const clang::Decl* one : declared->decls()) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(one);
      if (variable != nullptr && variable->getInit() == nullptr && !variable->hasGlobalStorage())
        DeclareVariable(variable);
    }
  }
  auto run_arm = [&](const Arm& arm) {
    std::map<const clang::ValueDecl*, ObjectPtr> variables = frame_->variables;
    for (size_t n = arm.first; n < statements.size(); ++n) Statement(statements[n]);
    frame_->variables = std::move(variables);
  };
  std::function<void(size_t)> chain = [&](size_t n) {
    // The labels of the default are among what is left.
    while (n < arms.size() && (arms[n].labels.empty() || arms[n].is_default)) ++n;
    if (n == arms.size()) {
      for (const Arm& arm : arms) {
        if (arm.is_default) run_arm(arm);
      }
      return;
    }
    Value met;
    for (const clang::CaseStmt* label : arms[n].labels) {
      std::optional<Value> number = TryConstant(label->getLHS());
      if (!number) Refuse(label, "a case that cannot be evaluated");
      SetPlace(label->getLHS()->getSourceRange());
      Value same = Make(Op::Eq, {value, Convert(*number, TypeOf(value))});
      met = met.Valid() ? Make(Op::Or, {met, same}) : same;
    }
    writer_.If(met, [&] { run_arm(arms[n]); }, [&] { chain(n + 1); });
  };
  frame_->switches.push_back({writer_.OpenScope(), frame_->loops.size()});
  chain(0);
  frame_->switches.pop_back();
  writer_.CloseScope();
}

void Statements::Statement(const clang::Stmt* s) {
  using clang::Stmt;
  if (!writer_.Reachable()) return;
  s = Bare(s);
  SetPlace(s->getSourceRange());
  if (writer_.Depth() > kMostNesting)
    Refuse(s, "control flow nests more than 200 deep", "split the function");
  if (const auto* expression = llvm::dyn_cast<clang::Expr>(s)) return Effect(expression);
  switch (s->getStmtClass()) {
    case Stmt::NullStmtClass:
      return;
    case Stmt::DeclStmtClass:
      for (const clang::Decl* one : llvm::cast<clang::DeclStmt>(s)->decls()) Declare(one);
      return;
    case Stmt::CompoundStmtClass:
      for (const Stmt* one : llvm::cast<clang::CompoundStmt>(s)->body()) Statement(one);
      return;
    case Stmt::IfStmtClass:
      return RunIf(llvm::cast<clang::IfStmt>(s));
    case Stmt::SwitchStmtClass:
      return RunSwitch(llvm::cast<clang::SwitchStmt>(s));
    case Stmt::ForStmtClass:
      return ForLoop(llvm::cast<clang::ForStmt>(s));
    case Stmt::WhileStmtClass: {
      const auto* loop = llvm::cast<clang::WhileStmt>(s);
      return WhileForm(loop->getConditionVariable(), loop->getCond(), nullptr, loop->getBody());
    }
    case Stmt::DoStmtClass:
      return DoLoop(llvm::cast<clang::DoStmt>(s));
    case Stmt::CXXForRangeStmtClass:
      return RangeLoop(llvm::cast<clang::CXXForRangeStmt>(s));
    case Stmt::ReturnStmtClass:
      return Return(llvm::cast<clang::ReturnStmt>(s));
    case Stmt::BreakStmtClass:
      if (frame_->switches.empty() || frame_->switches.back().loops != frame_->loops.size())
        return LeaveLoop(true, s);
      return writer_.Leave(frame_->switches.back().scope);
    case Stmt::ContinueStmtClass:
      return LeaveLoop(false, s);
    case Stmt::GotoStmtClass:
    case Stmt::IndirectGotoStmtClass:
      Refuse(s, "a kernel has no goto", "use a loop with break and continue, or return");
    case Stmt::LabelStmtClass:
      Refuse(s, "a kernel has no labels", "use loops, break and continue");
    case Stmt::CXXTryStmtClass:
      RefuseException(s);
    case Stmt::GCCAsmStmtClass:
    case Stmt::MSAsmStmtClass:
      Refuse(s, "a kernel has no assembly");
    default:
      RefuseKind(s);
  }
}

void Statements::Declare(const clang::Decl* declaration) {
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) return DeclareVariable(variable);
  bool nothing =
      llvm::isa<clang::TypeDecl, clang::UsingDecl, clang::UsingDirectiveDecl, clang::StaticAssertDecl,
                clang::EmptyDecl, clang::NamespaceAliasDecl, clang::UsingEnumDecl, clang::UsingShadowDecl>(
          declaration);
  if (!nothing) Refuse(declaration->getSourceRange(), "kernels do not have this kind of declaration");
}

/// What a variable or a parameter is from its beginning. Null of one of a class or an array, which exists
/// before it is initialised.
ObjectPtr Statements::FromInitial(const clang::VarDecl* variable, const clang::Expr* init,
                                  SourceRange range) {
  QualType type = variable->getType();
  if (type->isReferenceType() || BufferOf(type)) return Place(init);
  if (type->isAnyPointerType()) return PointerTo(type, AddressOf(init), range, variable);
  std::optional<Type> leaf = RegisterType(type);
  if (!leaf) return nullptr;
  Value value = ValueOf(init);
  SetPlace(range);
  ObjectPtr slot = NewSlot(*leaf, type, variable->getNameAsString());
  Store(slot, value, range);
  return slot;
}

void Statements::DeclareVariable(const clang::VarDecl* variable) {
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
  if (init == nullptr && (type->isReferenceType() || BufferOf(type)))
    Refuse(range, "'" + name + "' is not bound to anything");
  if (ObjectPtr made = init == nullptr ? nullptr : FromInitial(variable, init, range)) {
    frame_->variables[variable] = made;
    return;
  }
  bool constant = variable->isConstexpr() || type.isConstQualified();
  bool numbers = context_.getAsConstantArrayType(type) != nullptr || IsStandard(type, "array");
  if (constant && numbers && init != nullptr && !init->isValueDependent() &&
      variable->evaluateValue() != nullptr) {
    frame_->variables[variable] = PlaceOfGlobal(variable, range);
    return;
  }
  const clang::CXXRecordDecl* record = RecordOf(type);
  bool closure = record != nullptr && record->isLambda();
  ObjectPtr object = NewObject(type, closure ? std::string() : name, range);
  if (init != nullptr) Initialise(object, init);
  if (ContractTemplate(type, "shared") != nullptr) {
    for (const ObjectPtr& cells : object->members) {
      for (Value base : cells->storage.bases) writer_.Name(base, name);
    }
  }
  frame_->variables[variable] = object;
}

}  // namespace adc::frontend
