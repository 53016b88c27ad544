// Loops. A `for` that counts is the IR's `for` where its index and its bound stay as they are for the whole
// of an iteration. That shows when the body has been built; where it does not hold, the loop is built again
// as a `while`.
//
//   for (int i = 0; i < n; ++i) ...          for %i in 0..%n
//   for (int i = n - 1; i >= 0; --i) ...     for %i in 0..%n reversed
//   for (int i = 0; i < n && c; ++i) ...     for %i in 0..%n { if not c { break } ... }
//
// Bounds are computed where they cannot overflow: in 64 bits, unless an index of 32 bits is known to do.

#include <algorithm>

#include "diag/errors/cpp.h"
#include "frontend/cpp/lowering.h"
#include "ir/module.h"

namespace adc::frontend {

using clang::SourceRange;
using ir::Inst;
using ir::Op;
using ir::Scalar;
using ir::Type;
using ir::Value;

namespace {

constexpr int64_t kUnrolledTrips = 16;
constexpr size_t kUnrolledInstructions = 512;
constexpr size_t kUnrolledForVectors = 128;

const clang::Expr* Bare(const clang::Expr* e) {
  return e == nullptr ? nullptr : e->IgnoreParenImpCasts();
}

const clang::VarDecl* VariableOf(const clang::Expr* e) {
  const auto* reference = llvm::dyn_cast_or_null<clang::DeclRefExpr>(Bare(e));
  return reference == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
}

}  // namespace

/// `for (...; index REL bound [&& more]; index += step)`
struct Lowering::Counted {
  const clang::VarDecl* variable = nullptr;
  const clang::Expr* bound = nullptr;
  const clang::Expr* more = nullptr;
  clang::QualType compared;  ///< the type in which the comparison is made
  int64_t step = 1;
  bool inclusive = false;
  bool unequal = false;
};

bool Lowering::TryCounted(const clang::ForStmt* loop, Counted* counted) {
  if (uncounted_.contains(loop) || loop->getConditionVariable() != nullptr) return false;
  // The step.
  const clang::Expr* step = loop->getInc() == nullptr ? nullptr : loop->getInc()->IgnoreParens();
  if (const auto* full = llvm::dyn_cast_or_null<clang::FullExpr>(step))
    step = full->getSubExpr()->IgnoreParens();
  if (const auto* unary = llvm::dyn_cast_or_null<clang::UnaryOperator>(step)) {
    if (!unary->isIncrementDecrementOp()) return false;
    counted->variable = VariableOf(unary->getSubExpr());
    counted->step = unary->isIncrementOp() ? 1 : -1;
  } else if (const auto* compound = llvm::dyn_cast_or_null<clang::CompoundAssignOperator>(step)) {
    bool adds = compound->getOpcode() == clang::BO_AddAssign;
    if (!adds && compound->getOpcode() != clang::BO_SubAssign) return false;
    counted->variable = VariableOf(compound->getLHS());
    std::optional<ir::Value> known = TryConstant(compound->getRHS());
    std::optional<int64_t> number = known ? function_.IntegerConstant(*known) : std::nullopt;
    if (!number || *number == 0 || *number > INT32_MAX || *number < -INT32_MAX) return false;
    counted->step = adds ? *number : -*number;
  } else {
    return false;
  }
  if (counted->variable == nullptr) return false;
  auto known = frame_->variables.find(counted->variable);
  if (known == frame_->variables.end() || known->second->kind != ObjectKind::Slot) return false;
  // The condition.
  const clang::Expr* condition = loop->getCond() == nullptr ? nullptr : loop->getCond()->IgnoreParens();
  if (const auto* full = llvm::dyn_cast_or_null<clang::FullExpr>(condition))
    condition = full->getSubExpr()->IgnoreParens();
  const auto* test = llvm::dyn_cast_or_null<clang::BinaryOperator>(condition);
  if (test != nullptr && test->getOpcode() == clang::BO_LAnd) {
    counted->more = test->getRHS();
    test = llvm::dyn_cast<clang::BinaryOperator>(test->getLHS()->IgnoreParens());
  }
  if (test == nullptr || !test->isComparisonOp()) return false;
  clang::BinaryOperatorKind kind = test->getOpcode();
  const clang::Expr* index = test->getLHS();
  counted->bound = test->getRHS();
  if (VariableOf(index) != counted->variable) {
    std::swap(index, counted->bound);
    kind = clang::BinaryOperator::reverseComparisonOp(kind);
  }
  if (VariableOf(index) != counted->variable) return false;
  counted->compared = index->getType();
  bool up = counted->step > 0;
  switch (kind) {
    case clang::BO_LT:
    case clang::BO_LE:
      counted->inclusive = kind == clang::BO_LE;
      return up;
    case clang::BO_GT:
    case clang::BO_GE:
      counted->inclusive = kind == clang::BO_GE;
      return !up && counted->step == -1;
    case clang::BO_NE:
      counted->unequal = true;
      return counted->step == 1;
    default:
      return false;
  }
}

/// `v + 1` where that cannot overflow: of a constant, of `x - c`, of the index of a loop.
std::optional<Value> Lowering::OneMore(Value v) {
  v = ssa_.Resolve(v);
  Type type = ssa_.TypeOf(v);
  if (std::optional<int64_t> number = function_.IntegerConstant(v)) {
    int64_t most = type.scalar == Scalar::I32 ? INT32_MAX : INT64_MAX;
    if (*number >= most) return std::nullopt;
    return ssa_.builder().Int(type, *number + 1);
  }
  if (function_[v].kind == ir::ValueKind::BlockParam && indices_.contains(v))
    return ssa_.Make(Op::Add, {v, ssa_.builder().Int(type, 1)});
  Inst inst = function_.DefiningInst(v);
  if (!inst.Valid()) return std::nullopt;
  Op op = function_[inst].op;
  if (op != Op::Sub && op != Op::Add) return std::nullopt;
  std::optional<int64_t> less = function_.IntegerConstant(function_.Operand(inst, 1));
  if (!less || (op == Op::Sub ? *less < 1 : *less > -1)) return std::nullopt;
  int64_t left = op == Op::Sub ? *less - 1 : -*less - 1;
  Value x = ssa_.Resolve(function_.Operand(inst, 0));
  return left == 0 ? x : ssa_.Make(Op::Sub, {x, ssa_.builder().Int(type, left)});
}

/// An unsigned value as i64, where it is known to fit or is bounded so that no loop gets there.
std::optional<Value> Lowering::AsSigned(Value v, bool may_bound) {
  v = ssa_.Resolve(v);
  Type type = ssa_.TypeOf(v);
  if (type.scalar != Scalar::U64) return ssa_.Cast(v, ir::kI64);
  if (function_.IsConstant(v)) {
    uint64_t bits = function_.ConstantOf(v).bits;
    if (bits <= static_cast<uint64_t>(INT64_MAX)) return ssa_.builder().I64(static_cast<int64_t>(bits));
    return may_bound ? std::optional(ssa_.builder().I64(INT64_MAX)) : std::nullopt;
  }
  Inst inst = function_.DefiningInst(v);
  if (inst.Valid() && function_[inst].op == Op::Cast) {
    Value from = ssa_.Resolve(function_.Operand(inst, 0));
    Inst source = function_.DefiningInst(from);
    bool extent = source.Valid() && function_[source].op == Op::Shape;
    if (ir::IsUnsigned(ssa_.TypeOf(from).scalar) || extent) return ssa_.Cast(from, ir::kI64);
  }
  if (!may_bound) return std::nullopt;
  Value most = ssa_.builder().Int(type, INT64_MAX);
  return ssa_.Cast(ssa_.Make(Op::Min, {v, most}), ir::kI64);
}

/// False where the loop does not count after all; nothing of it is left then.
bool Lowering::RunCounted(const clang::ForStmt* loop, const Counted& counted) {
  const ObjectPtr& variable = frame_->variables.at(counted.variable);
  Slot slot = variable->slot;
  Type type = variable->register_type;
  std::optional<Type> compared = ScalarOf(counted.compared);
  bool wide = type.scalar == Scalar::I64 || type.scalar == Scalar::U64;
  bool narrow = type.scalar == Scalar::I32 || type.scalar == Scalar::U32;
  if (!compared || (!wide && !narrow)) return false;
  Ssa::Mark mark = ssa_.SetMark();
  auto give_up = [&] {
    ssa_.Rewind(mark);
    uncounted_.insert(loop);
    return false;
  };
  Value first = ssa_.Get(slot);
  ssa_.LogReads(true);
  Value bound = ValueOf(counted.bound);
  std::vector<Slot> read = ssa_.LogReads(false);
  std::vector<Value> memory;
  bool pure = true;
  ssa_.VisitSince(mark, [&](Inst inst) {
    Op op = function_[inst].op;
    if (op == Op::Load) memory.push_back(function_.Operand(inst, 0));
    if (op == Op::Store || op == Op::Call || op == Op::Print || op == Op::Assert || op == Op::Parallel ||
        ir::IsAtomic(op))
      pure = false;
  });
  bool reads_index = std::find(read.begin(), read.end(), slot) != read.end();
  if (!pure || reads_index || !ssa_.SameSlots(mark)) return give_up();
  SetPlace(SourceRange(loop->getForLoc(), loop->getRParenLoc()));
  bool up = counted.step > 0;
  bool signed_index = ir::IsSigned(type.scalar);
  Value lo, hi;
  if (signed_index && ir::IsSigned(compared->scalar)) {
    if (ssa_.TypeOf(bound) != *compared) return give_up();
    std::optional<int64_t> from = function_.IntegerConstant(first), to = function_.IntegerConstant(bound);
    if (counted.unequal) {
      Inst inst = function_.DefiningInst(ssa_.Resolve(bound));
      bool extent = inst.Valid() && function_[inst].op == Op::Shape;
      if (!from || !(to ? *from <= *to : *from == 0 && extent)) return give_up();
    }
    // In the index's own type, or in i64.
    Type in = *compared == type ? type : ir::kI64;
    for (int attempt = 0; attempt < 2; ++attempt, in = ir::kI64) {
      Value a = ssa_.Cast(first, in), b = ssa_.Cast(bound, in);
      std::optional<Value> low = a, high = b;
      if (up && counted.inclusive) high = OneMore(b);
      if (!up) {
        high = OneMore(a);
        low = counted.inclusive ? std::optional(b) : OneMore(b);
      }
      if ((!low || !high) && attempt == 1 && narrow && *compared == type) {
        // The numbers are of 32 bits: one more is one of 64.
        auto more = [&](Value v) { return ssa_.Make(Op::Add, {v, ssa_.builder().I64(1)}); };
        if (up) high = more(b);
        if (!up) high = more(a), low = counted.inclusive ? b : more(b);
      }
      if (low && high) {
        lo = *low, hi = *high;
        break;
      }
      if (in == ir::kI64) break;
    }
    // A step beyond the largest number would be undefined in C++.
  } else if (!signed_index || function_.IntegerConstant(first).value_or(-1) >= 0) {
    if (!up || counted.step != 1 || counted.inclusive || counted.unequal) return give_up();
    if (!ir::IsUnsigned(compared->scalar)) return give_up();
    // A comparison in 64 bits of an index of 32 bits goes on beyond its end.
    if (!signed_index && compared->scalar != type.scalar) return give_up();
    std::optional<Value> a = AsSigned(first, false), b = AsSigned(bound, true);
    if (a && b) lo = *a, hi = *b;
  }
  if (!lo.Valid() || !hi.Valid()) return give_up();
  bool outer = !llvm::isa_and_nonnull<clang::DeclStmt>(loop->getInit());
  bool counts = true;
  ir::Words words = up ? ir::Words() : ir::Words{ir::Word::Reversed};
  Value step = ssa_.builder().Int(ssa_.TypeOf(lo), up ? counted.step : 1);
  Value index = ssa_.OpenFor(lo, hi, step, words);
  Value entry = ssa_.Get(slot);
  function_[index].name = module_.Intern(std::string_view(counted.variable->getName()));
  indices_.insert(index);
  Value here = Convert(index, type);
  ssa_.SetQuietly(slot, here);
  OpenLoop open;
  open.statement = loop;
  auto restore = [&](bool next) {
    if (!ssa_.Unchanged(slot, here)) counts = false;
    if (!outer) return ssa_.SetQuietly(slot, entry);
    if (next) ssa_.SetQuietly(slot, ssa_.Make(Op::Add, {here, ssa_.builder().Int(type, counted.step)}));
  };
  open.at_continue = [&] { restore(true); };
  open.at_break = [&] { restore(false); };
  loops_.push_back(std::move(open));
  if (counted.more != nullptr) {
    Value go_on = Condition(counted.more);
    ssa_.If(
        go_on, [] {},
        [&] {
          restore(false);
          ssa_.Break();
        });
  }
  LoopBody(loop->getBody());
  int64_t checkpoint = loops_.back().checkpoint;
  loops_.pop_back();
  for (Slot one : read) counts = counts && !ssa_.ChangesInLoop(one);
  for (Value base : memory) counts = counts && !ssa_.WritesMemory(base);
  if (!counts) {
    ssa_.Abandon();
    return give_up();
  }
  FinishLoop(ssa_.Close(), checkpoint, loop);
  return true;
}

/// The body of the loop that was opened last, up to its next iteration.
void Lowering::LoopBody(const clang::Stmt* body) {
  std::vector<const clang::Stmt*> statements{body};
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(body))
    statements.assign(block->body_begin(), block->body_end());
  if (!statements.empty()) {
    const auto* first = llvm::dyn_cast<clang::Expr>(statements[0]);
    const auto* call =
        llvm::dyn_cast_or_null<clang::CallExpr>(first == nullptr ? nullptr : first->IgnoreImplicit());
    const clang::FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
    if (callee != nullptr && callee->getIdentifier() != nullptr && callee->getName() == "checkpoint" &&
        InNamespace(callee, "adc")) {
      std::optional<Value> length = TryConstant(call->getArg(0)->IgnoreParenImpCasts());
      if (const auto* absent = llvm::dyn_cast<clang::CXXDefaultArgExpr>(call->getArg(0)))
        length = TryConstant(absent->getExpr());
      std::optional<int64_t> number = length ? function_.IntegerConstant(*length) : std::nullopt;
      if (!number || *number < 0) Refuse(call, "adc::checkpoint takes a constant, 0 or more");
      loops_.back().checkpoint = *number;
      statements.erase(statements.begin());
    }
  }
  for (const clang::Stmt* s : statements) Statement(s);
  if (ssa_.Reachable() && loops_.back().at_continue) loops_.back().at_continue();
}

void Lowering::LeaveLoop(bool breaks, const clang::Stmt* at) {
  if (loops_.empty()) Refuse(at, "this stands in no loop");
  SetPlace(at->getSourceRange());
  const std::function<void()>& before = breaks ? loops_.back().at_break : loops_.back().at_continue;
  if (before) before();
  if (breaks) {
    ssa_.Break();
  } else {
    ssa_.Continue();
  }
}

void Lowering::FinishLoop(Inst inst, int64_t checkpoint, const clang::Stmt* at) {
  ir::InstData& data = function_[inst];
  if (checkpoint >= 0) {
    data.words.Add(ir::Word::Checkpoint);
    data.attr = checkpoint == 0 ? ir::kNoAttr : static_cast<uint32_t>(checkpoint);
  }
  size_t count = 0;
  bool arrays = false, vectors = false, parallel = false;
  ssa_.VisitInside(inst, [&](Inst one) {
    ++count;
    Op op = function_[one].op;
    auto varies = [&](uint32_t operand) {
      return !function_.IsConstant(ssa_.Resolve(function_.Operand(one, operand)));
    };
    if (op == Op::Parallel) parallel = true;
    if (op == Op::Load || op == Op::Store)
      arrays = arrays || (ssa_.TypeOf(function_.Operand(one, 0)).IsArray() && varies(1));
    if (op == Op::VecGet || op == Op::VecSet) vectors = vectors || varies(1);
    if (op == Op::MatGet) vectors = vectors || varies(1) || varies(2);
  });
  std::optional<int64_t> lo, hi, step;
  if (data.op == Op::For) {
    lo = function_.IntegerConstant(ssa_.Resolve(function_.Operand(inst, 0)));
    hi = function_.IntegerConstant(ssa_.Resolve(function_.Operand(inst, 1)));
    step = function_.IntegerConstant(function_.Operand(inst, 2));
  }
  bool constant = lo && hi && step;
  if (parallel && !constant)
    Refuse(at, "a loop around adc::parallel counts between constants",
           "launch the kernel as often as that, or move the loop inside");
  if (!constant) return;
  int64_t trips = *hi > *lo ? (*hi - *lo + *step - 1) / *step : 0;
  auto size = static_cast<size_t>(std::max<int64_t>(trips, 1)) * count;
  bool small = trips <= kUnrolledTrips && checkpoint < 0;
  if (parallel || (small && arrays && size <= kUnrolledInstructions) ||
      (small && vectors && size <= kUnrolledForVectors))
    data.words.Add(ir::Word::Unroll);
}

void Lowering::ForLoop(const clang::ForStmt* loop) {
  size_t before = ssa_.InstructionCount();
  if (loop->getInit() != nullptr) Statement(loop->getInit());
  SetPlace(SourceRange(loop->getForLoc(), loop->getRParenLoc()));
  Counted counted;
  if (TryCounted(loop, &counted)) {
    // The name is the index's, not that of what it starts from.
    ObjectPtr index = frame_->variables.at(counted.variable);
    Inst start = function_.DefiningInst(ssa_.Get(index->slot));
    if (start.Valid() && start.raw >= before) function_[function_.Result(start)].name = {};
    if (RunCounted(loop, counted)) return;
  }
  WhileForm(loop->getConditionVariable(), loop->getCond(), loop->getInc(), loop->getBody(), loop);
}

/// Any loop that tests first.
void Lowering::WhileForm(const clang::VarDecl* variable, const clang::Expr* condition,
                         const clang::Expr* step, const clang::Stmt* body, const clang::Stmt* at,
                         const clang::Stmt* first) {
  ssa_.OpenWhile();
  bool plain = variable == nullptr;
  Value go_on = ssa_.builder().Int(ir::kI1, 1);
  if (plain && condition != nullptr) {
    go_on = Condition(condition);
    ssa_.VisitInnermost([&](Inst inst) {
      Op op = function_[inst].op;
      if (op == Op::Store || op == Op::Call || op == Op::Print || op == Op::Assert || ir::IsAtomic(op))
        plain = false;
    });
  }
  if (!plain || !ssa_.Test(go_on)) {
    // The condition assigns: it becomes the first statement of the body.
    plain = false;
    ssa_.Abandon();
    ssa_.OpenWhile();
    ssa_.Test(ssa_.builder().Int(ir::kI1, 1));
  }
  OpenLoop open;
  open.statement = at;
  if (step != nullptr) open.at_continue = [&] { Effect(step); };
  loops_.push_back(std::move(open));
  if (!plain) {
    if (variable != nullptr) DeclareVariable(variable);
    Value c = Condition(condition);
    ssa_.If(c, [] {}, [&] { ssa_.Break(); });
  }
  if (first != nullptr) Statement(first);
  LoopBody(body);
  int64_t checkpoint = loops_.back().checkpoint;
  loops_.pop_back();
  FinishLoop(ssa_.Close(), checkpoint, at);
}

void Lowering::DoLoop(const clang::DoStmt* loop) {
  Slot again = ssa_.NewSlot(ir::kI1, {});
  ssa_.Set(again, ssa_.builder().Int(ir::kI1, 1));
  ssa_.OpenWhile();
  ssa_.Test(ssa_.Get(again));
  OpenLoop open;
  open.statement = loop;
  open.at_continue = [&] { ssa_.Set(again, Condition(loop->getCond())); };
  loops_.push_back(std::move(open));
  LoopBody(loop->getBody());
  int64_t checkpoint = loops_.back().checkpoint;
  loops_.pop_back();
  FinishLoop(ssa_.Close(), checkpoint, loop);
}

void Lowering::RangeLoop(const clang::CXXForRangeStmt* loop) {
  if (loop->getInit() != nullptr) Statement(loop->getInit());
  const clang::CXXRecordDecl* record = RecordOf(loop->getRangeInit()->getType());
  if (record != nullptr && !(record->isInStdNamespace() && record->getName() == "array")) {
    // From its begin() to its end().
    Statement(loop->getRangeStmt());
    Statement(loop->getBeginStmt());
    Statement(loop->getEndStmt());
    return WhileForm(nullptr, loop->getCond(), loop->getInc(), loop->getBody(), loop, loop->getLoopVarStmt());
  }
  ObjectPtr range = Place(loop->getRangeInit());
  if (range->kind == ObjectKind::Struct && range->members.size() == 1 && range->members[0] != nullptr)
    range = range->members[0];  // std::array
  if (range->kind != ObjectKind::Array)
    Refuse(loop->getRangeInit(), "a loop over something that is no array",
           "loop over indices: for (int i = 0; i < n; ++i)");
  SetPlace(loop->getSourceRange());
  Value index = ssa_.OpenFor(ssa_.builder().I32(0), ssa_.builder().I32(static_cast<int32_t>(range->count)),
                             ssa_.builder().I32(1), {});
  indices_.insert(index);
  loops_.push_back({});
  loops_.back().statement = loop;
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
  int64_t checkpoint = loops_.back().checkpoint;
  loops_.pop_back();
  FinishLoop(ssa_.Close(), checkpoint, loop);
}

void Lowering::Loop(const clang::Stmt* s) {
  if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(s)) return ForLoop(loop);
  if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(s))
    return WhileForm(loop->getConditionVariable(), loop->getCond(), nullptr, loop->getBody(), loop);
  if (const auto* loop = llvm::dyn_cast<clang::DoStmt>(s)) return DoLoop(loop);
  RangeLoop(llvm::cast<clang::CXXForRangeStmt>(s));
}

}  // namespace adc::frontend
