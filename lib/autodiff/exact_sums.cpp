// Float addition is not associative, so a sum in order of arrival has other last bits in every run. Sums of
// integers have none of that. So the cell of a sum gets an accumulator of fixed point that holds every float
// without rounding (exact_sums.ir), and the one rounding is done when all summands are in. The result is the
// float next to the true sum, so that it does not depend on the partition of work either: workers, waves, the
// length of segments between checkpoints.
//
// Reproducible sums by pre-rounding (Demmel and Nguyen, Parallel Reproducible Summation, 2015) need a bound
// on the summands before the first is added, that is, a second run of the loop; accumulators do not. They
// are those of Kulisch; here with words that iterations add to at once.
//
// Where all iterations meet in one cell (a loss, the adjoint of a number), they would queue for two words of
// memory. Such a cell has kCopies accumulators. The sum does not depend on the choice of each iteration;
// neighbouring iterations take different ones, since they run side by side on a device, and iterations far
// apart mostly do, since they run on different workers.

#include "autodiff/exact_sums.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "analysis/access.h"
#include "analysis/uses.h"
#include "autodiff/accumulate.h"
#include "autodiff/exact_functions.h"
#include "diag/errors/autodiff.h"
#include "ir/clone.h"
#include "ir/module.h"
#include "support/check.h"
#include "transform/isolate_tasks.h"
#include "transform/rewriter.h"
#include "transform/simplify.h"

namespace adc::autodiff {

using ir::Function, ir::Inst, ir::InstData, ir::Op, ir::Type, ir::Value;

namespace {

constexpr Type kWord = Type::Of(ir::Scalar::U32);
constexpr int64_t kNearCopies = 32, kFarCopies = 16, kCopies = kNearCopies * kFarCopies;
constexpr int64_t kFarApart = 1024;
constexpr uint32_t kMostAxes = 7;

/// Memory that has accumulators: a parameter, and the field of a layout.
using Place = std::pair<uint32_t, uint32_t>;

uint32_t RankOf(const ir::Module& module, Type type, uint32_t field) {
  if (!type.IsLayout()) return type.count;
  return static_cast<uint32_t>(module.layouts[type.count].fields[field].axes.size());
}

/// The parallel loop around `inst`; invalid outside of all.
Inst LoopAround(const Function& function, Inst inst) {
  for (Inst owner = function[function[inst].parent].owner; owner.Valid();
       owner = function[function[owner].parent].owner)
    if (analysis::IsParallel(function[owner].op)) return owner;
  return {};
}

bool OfParameter(const Function& function, Inst inst) {
  if (!ir::IsAccess(function[inst].op)) return false;
  return function.IsParameter(function.Operand(inst, 0));
}

Place PlaceOf(const Function& function, Inst inst) {
  return {function[function.Operand(inst, 0)].number, function[inst].attr};
}

ir::Scalar ScalarOf(const ir::Module& module, const Function& function, Inst inst) {
  return module.ElementType(function, function.Operand(inst, 0), function[inst].attr).scalar;
}

bool IsFloatSum(const ir::Module& module, const Function& function, Inst inst) {
  Op op = function[inst].op;
  return (op == Op::AtomicAdd || op == Op::AtomicSub || op == Op::AddTo) && OfParameter(function, inst) &&
         ir::IsFloat(ScalarOf(module, function, inst));
}

/// Sums of floats whose old value is not used become `add_to`, so that accumulate.h decides about them as
/// about those of adjoints.
class SumsRewriter final : public transform::Rewriter {
 public:
  SumsRewriter(ir::Module& module, const Function& from, const transform::FoldConfig& fold)
      : Rewriter(module, from, fold), uses_(from) {}

 private:
  void Visit(Inst inst) override {
    const InstData& data = from_[inst];
    bool old_used = data.result_count > 0 && uses_.IsUsed(from_.Result(inst));
    if (data.op == Op::AddTo || old_used || !IsFloatSum(module_, from_, inst)) return Copy(inst);
    builder_.SetSpan(data.span);
    Value v = Map(from_.AccessValues(inst)[0]);
    if (data.op == Op::AtomicSub) v = Negated(v);
    builder_.Access(Op::AddTo, Map(from_.Operand(inst, 0)), MapAll(from_.Indices(inst)), {&v, 1}, data.attr,
                    data.component);
  }

  /// By the sign's bit: a device may take a subnormal number for zero where it computes with it.
  Value Negated(Value v) {
    Type type = into_->TypeOf(v);
    if (type.scalar == ir::Scalar::F16) return builder_.Make(Op::Neg, {v});
    bool wide = type.scalar == ir::Scalar::F64;
    Type word = Type::Of(wide ? ir::Scalar::U64 : ir::Scalar::U32);
    Value sign = builder_.Int(word, wide ? INT64_MIN : INT64_C(0x80000000));
    Value turned = builder_.Make(Op::Xor, {builder_.Bitcast(v, word), sign});
    return builder_.Bitcast(turned, type);
  }

  analysis::Uses uses_;
};

/// Places that messages have named: derived kernels repeat them.
using Reported = std::set<std::pair<uint32_t, uint32_t>>;

/// Finds the results in one kernel that depend on the order of iterations.
class Order {
 public:
  Order(const ir::Module& module, const Function& kernel, Reported* reported, diag::Diagnostics& diagnostics)
      : module_(module),
        kernel_(kernel),
        reported_(reported),
        diagnostics_(diagnostics),
        facts_(module, kernel),
        uses_(kernel) {
    for (Inst inst : facts_.structure().Order()) {
      if (!OfParameter(kernel, inst) || !LoopAround(kernel, inst).Valid()) continue;
      accesses_.push_back(inst);
      if (kernel[inst].op == Op::AddTo && !kernel[inst].Has(ir::Word::Plain)) sums_.push_back(inst);
    }
  }

  /// The sums that need accumulators.
  const std::vector<Inst>& sums() const { return sums_; }

  /// False after errors.
  bool Check() {
    for (Inst inst : accesses_) {
      if (ir::IsAtomic(kernel_[inst].op)) CheckAtomic(inst);
    }
    std::map<std::pair<Inst, uint32_t>, Inst> summed;  // by loop and memory class
    for (Inst sum : sums_) {
      summed.try_emplace({LoopAround(kernel_, sum), facts_.memory().ClassOf(sum)}, sum);
      CheckAxes(sum);
    }
    for (Inst inst : accesses_) {
      if (kernel_[inst].op == Op::AddTo) continue;
      auto found = summed.find({LoopAround(kernel_, inst), facts_.memory().ClassOf(inst)});
      if (found != summed.end()) CheckBeside(inst, found->second);
    }
    return good_;
  }

  /// True when no other iteration touches what `inst` touches.
  bool Alone(Inst inst) {
    Inst loop = LoopAround(kernel_, inst);
    uint32_t memory_class = facts_.memory().ClassOf(inst);
    for (Inst other : accesses_) {
      if (LoopAround(kernel_, other) != loop || facts_.memory().ClassOf(other) != memory_class) continue;
      if (!facts_.DistinctAcross(loop, inst, other)) return false;
    }
    return true;
  }

 private:
  void CheckAtomic(Inst inst) {
    Op op = kernel_[inst].op;
    bool old_used = kernel_[inst].result_count > 0 && uses_.IsUsed(kernel_.Result(inst));
    bool replaces = op == Op::AtomicExchange || op == Op::AtomicCompareExchange;
    if (!ir::IsFloat(ScalarOf(module_, kernel_, inst))) {
      bool written = kernel_.role == ir::KernelRole::Primal || kernel_.role == ir::KernelRole::Tangent;
      if (!written || (!old_used && !replaces) || Alone(inst) || !Fresh(inst)) return;
      diagnostics_
          .Warning(diag::W0460, kernel_[inst].span,
                   replaces ? "which iteration replaces the element last depends on their order"
                            : "the value before depends on the order of iterations")
          .AddHelp(replaces ? "if all of them write one value, the order does not matter"
                            : "rows that are assigned like this have another order in each run; sums over "
                              "them do not change");
      return;
    }
    bool extremum = op == Op::AtomicMin || op == Op::AtomicMax;
    bool sum = op == Op::AtomicAdd || op == Op::AtomicSub;
    if ((extremum || sum) && !old_used) return;
    if (Alone(inst)) return;
    ir::ParamRole role = kernel_.params[PlaceOf(kernel_, inst).first].role;
    bool companion = role == ir::ParamRole::Adjoint || role == ir::ParamRole::Tangent;
    if (replaces && companion) {
      if (Fresh(inst))
        diagnostics_
            .Warning(diag::W0461, kernel_[inst].span,
                     "of iterations that tie here, the first to arrive gets the derivative")
            .AddHelp("if no two iterations give the same extreme value, the order does not matter");
      return;
    }
    good_ = false;
    if (!Fresh(inst)) return;
    diagnostics_
        .Error(diag::E0460, kernel_[inst].span,
               old_used
                   ? "the value before depends on the order of iterations, and --deterministic allows none"
                   : "'" + std::string(ir::InfoOf(op).spelling) +
                         "' of floats depends on the order of iterations, and --deterministic allows none")
        .AddHelp(old_used ? "leave the old value unused, or make the loop a serial 'for'"
                 : op == Op::AtomicMul
                     ? "make the loop a serial 'for', or add logarithms of positive factors"
                     : "let each iteration store to an element of its own, or make the loop a serial 'for'");
  }

  void CheckBeside(Inst inst, Inst sum) {
    bool same_element = kernel_[inst].component == ir::kNoAttr || kernel_[sum].component == ir::kNoAttr ||
                        kernel_[inst].component == kernel_[sum].component;
    if (!same_element) return;
    good_ = false;
    if (!Fresh(inst)) return;
    diagnostics_
        .Error(diag::E0461, kernel_[inst].span,
               "this accesses memory into which iterations of the same loop sum, and sees a partial sum that "
               "depends on their order")
        .AddNote(kernel_[sum].span, "the sum")
        .AddHelp("sum in a loop of its own, or into another buffer");
  }

  void CheckAxes(Inst sum) {
    auto [param, field] = PlaceOf(kernel_, sum);
    if (RankOf(module_, kernel_.TypeOf(kernel_.Params()[param]), field) <= kMostAxes) return;
    good_ = false;
    if (Fresh(sum))
      diagnostics_
          .Error(diag::E0462, kernel_[sum].span,
                 "--deterministic sums into memory of at most " + std::to_string(kMostAxes) + " axes")
          .AddHelp("make two of the axes one, or a vector");
  }

  bool Fresh(Inst inst) {
    return reported_->insert({kernel_[inst].span.begin, kernel_[inst].span.end}).second;
  }

  const ir::Module& module_;
  const Function& kernel_;
  Reported* reported_;
  diag::Diagnostics& diagnostics_;
  analysis::AccessFacts facts_;
  analysis::Uses uses_;
  std::vector<Inst> accesses_, sums_;
  bool good_ = true;
};

class ExactRewriter final : public transform::Rewriter {
 public:
  ExactRewriter(ir::Module& module, const Function& from, std::span<const Inst> sums,
                ExactFunctions& functions, const transform::FoldConfig& fold)
      : Rewriter(module, from, fold), functions_(functions) {
    for (Inst sum : sums) {
      Place place = PlaceOf(from_, sum);
      if (!accumulators_.contains(place)) accumulators_[place] = AddAccumulators(place);
      auto [summed, fresh] =
          summed_in_[LoopAround(from_, sum)].try_emplace(place, Summed{from_[sum].span, {}});
      summed->second.components.insert(ComponentOf(sum));
      sums_.Insert(sum);
    }
  }

 private:
  struct Accumulators {
    Value buffer;
    Type element;
    uint32_t rank = 0;  ///< of the memory they belong to
    uint32_t axes = 1;  ///< indices of an accumulator among the others
    int64_t words = 0;  ///< without the flags
  };
  struct Summed {
    diag::SourceSpan span;
    std::set<uint32_t> components;
  };

  uint32_t ComponentOf(Inst sum) const {
    return from_[sum].component == ir::kNoAttr ? 0 : from_[sum].component;
  }

  Accumulators AddAccumulators(const Place& place) {
    Value param = from_.Params()[place.first];
    Type type = from_.TypeOf(param);
    Accumulators made;
    made.element = module_.ElementType(from_, param, place.second);
    made.rank = RankOf(module_, type, place.second);
    made.axes = std::max(made.rank, 1u);
    made.words = ExactWords(made.element.scalar);
    std::string name(module_.Text(from_[param].name));
    if (type.IsLayout())
      name += "." + std::string(module_.Text(module_.layouts[type.count].fields[place.second].name));
    ir::ParamInfo info;
    info.role = ir::ParamRole::Scratch;
    info.companion_of = place.first;
    info.companion_field = place.second;
    info.span = from_.params[place.first].span;
    made.buffer =
        into_->AddParameter(Type::Buffer(kWord, made.axes + 1), module_.Intern(name + ".exact"), info);
    return made;
  }

  /// A copy of the body of a function of exact_sums.ir; its results.
  std::vector<Value> Paste(std::string_view name, const Accumulators& at, std::span<const Value> arguments) {
    const Function& callee = functions_.Get(name, at.axes);
    ir::ValueMap map;
    ADC_CHECK(callee.Params().size() == arguments.size(), "a call that fits the function");
    for (size_t n = 0; n < arguments.size(); ++n) map[callee.Params()[n]] = arguments[n];
    // Spellings of literals and names are of the other module.
    for (uint32_t n = 0; n < callee.ValueCount(); ++n) {
      if (!callee.IsConstant(Value(n))) continue;
      const ir::ConstantData& constant = callee.ConstantOf(Value(n));
      map[Value(n)] = into_->Constant(constant.type, constant.bits);
    }
    uint32_t first = into_->InstCount();
    ir::Cloner cloner(callee, builder_, map);
    for (Inst inst : callee[callee.Body()].insts) {
      if (!ir::IsTerminator(callee[inst].op)) cloner.CloneInst(inst, false);
    }
    for (uint32_t n = first; n < into_->InstCount(); ++n) (*into_)[Inst(n)].span = builder_.span();
    Inst exit = callee.Terminator(callee.Body());
    std::vector<Value> results;
    for (Value result : callee.Operands(exit)) results.push_back(cloner.Map(result));
    return results;
  }

  static std::string NameFor(std::string_view what, const Accumulators& at) {
    return std::string(what) + "." + std::string(ir::Spelling(at.element.scalar));
  }

  Value FirstWord(const Accumulators& at, uint32_t component) {
    return builder_.I64((at.words + 1) * component);
  }

  /// Which of the copies an iteration of `loop` adds to.
  Value CopyFor(Inst loop) {
    Value mixed;
    for (Value index : from_[from_[loop].regions[0]].params) {
      Value own = builder_.Cast(Map(index), kWord);
      mixed = mixed.Valid()
                  ? builder_.Make(Op::Add, {builder_.Make(Op::Mul, {mixed, builder_.Int(kWord, 31)}), own})
                  : own;
    }
    Value near = builder_.Make(Op::Rem, {mixed, builder_.Int(kWord, kNearCopies)});
    Value far = builder_.Make(Op::Rem, {builder_.Make(Op::Div, {mixed, builder_.Int(kWord, kFarApart)}),
                                        builder_.Int(kWord, kFarCopies)});
    Value copy =
        builder_.Make(Op::Add, {builder_.Make(Op::Mul, {far, builder_.Int(kWord, kNearCopies)}), near});
    return builder_.Cast(copy, ir::kI64);
  }

  void AddExactly(Inst sum) {
    const Accumulators& at = accumulators_.at(PlaceOf(from_, sum));
    builder_.SetSpan(from_[sum].span);
    std::vector<Value> arguments{at.buffer};
    if (at.rank == 0) arguments.push_back(CopyFor(LoopAround(from_, sum)));
    for (Value index : from_.Indices(sum)) arguments.push_back(builder_.Cast(Map(index), ir::kI64));
    arguments.push_back(FirstWord(at, ComponentOf(sum)));
    arguments.push_back(Map(from_.AccessValues(sum)[0]));
    Paste(NameFor("add", at), at, arguments);
  }

  /// Opens a parallel loop over lo..hi of each axis and enters it; its indices.
  std::span<const Value> OpenLoop(std::span<const Value> bounds) {
    Inst loop = builder_.Parallel(bounds, 0);
    builder_.SetBlock((*into_)[loop].regions[0]);
    return (*into_)[builder_.block()].params;
  }

  void CloseLoop(ir::Block around) {
    builder_.Yield({});
    builder_.SetBlock(around);
  }

  /// After a loop: adds the sums to the cells.
  void Settle(const Place& place, const Summed& summed) {
    const Accumulators& at = accumulators_.at(place);
    builder_.SetSpan(summed.span);
    ir::Block around = builder_.block();
    Value zero = builder_.I64(0);
    if (at.rank == 0) {
      Value bounds[] = {builder_.I64(1), builder_.I64(kCopies)};
      Value copy = OpenLoop(bounds)[0];
      for (uint32_t component : summed.components) {
        Value arguments[] = {at.buffer, copy, zero, FirstWord(at, component), builder_.I64(at.words)};
        Paste("merge", at, arguments);
      }
      CloseLoop(around);
      for (uint32_t component : summed.components) SettleCell(place, at, {&zero, 1}, {}, component);
      return;
    }
    Value base = Map(from_.Params()[place.first]);
    std::vector<Value> bounds;
    for (uint32_t axis = 0; axis < at.rank; ++axis) {
      bounds.push_back(zero);
      Type type = from_.TypeOf(from_.Params()[place.first]);
      bounds.push_back(type.IsLayout()
                           ? builder_.I64(static_cast<int64_t>(
                                 module_.layouts[type.count].fields[place.second].axes[axis].extent))
                           : builder_.Shape(base, axis, ir::kI64));
    }
    std::span<const Value> opened = OpenLoop(bounds);
    std::vector<Value> cell(opened.begin(), opened.end());
    for (uint32_t component : summed.components) SettleCell(place, at, cell, cell, component);
    CloseLoop(around);
  }

  /// `accumulator`: the indices among the accumulators, `cell`: those of the memory.
  void SettleCell(const Place& place, const Accumulators& at, std::span<const Value> accumulator,
                  std::span<const Value> cell, uint32_t component) {
    Value base = Map(from_.Params()[place.first]);
    std::vector<Value> arguments{at.buffer};
    arguments.insert(arguments.end(), accumulator.begin(), accumulator.end());
    arguments.push_back(FirstWord(at, component));
    arguments.push_back(builder_.I64(at.words));
    Value used = Paste("used", at, arguments)[0];
    builder_.Where(used, [&] {
      uint32_t own = at.element.IsScalar() ? ir::kNoAttr : component;
      arguments.back() = builder_.Load(base, cell, place.second, own);
      Value settled = Paste(NameFor("settle", at), at, arguments)[0];
      builder_.Access(Op::Store, base, cell, {&settled, 1}, place.second, own);
    });
  }

  /// Of two zeros that meet in a minimum or maximum the last to arrive stays, so that all come as +0.
  void CopyExtremum(Inst inst) {
    builder_.SetSpan(from_[inst].span);
    std::vector<Value> operands = MapAll(from_.Operands(inst));
    Value v = operands.back(), zero = builder_.Zero(into_->TypeOf(v));
    operands.back() = builder_.Make(Op::Select, {builder_.Make(Op::Eq, {v, zero}), zero, v});
    CopyShell(inst, operands);
  }

  void Visit(Inst inst) override {
    if (sums_.Has(inst)) return AddExactly(inst);
    Op op = from_[inst].op;
    bool extremum = op == Op::AtomicMin || op == Op::AtomicMax;
    if (extremum && OfParameter(from_, inst) && ir::IsFloat(ScalarOf(module_, from_, inst)))
      return CopyExtremum(inst);
    Copy(inst);
    auto found = summed_in_.find(inst);
    if (found == summed_in_.end()) return;
    for (const auto& [place, summed] : found->second) Settle(place, summed);
  }

  ExactFunctions& functions_;
  std::map<Place, Accumulators> accumulators_;
  std::map<Inst, std::map<Place, Summed>> summed_in_;
  IndexSet<Inst> sums_;
};

}  // namespace

bool MakeSumsExact(ir::Module& module, const transform::FoldConfig& fold, diag::Diagnostics& diagnostics) {
  ExactFunctions functions;
  Reported reported;
  bool good = true;
  for (const auto& function : module.functions) {
    if (!function->IsKernel()) continue;
    *function = std::move(*SumsRewriter(module, *function, fold).Run());
    DecideAccumulation(module, *function);
    Order order(module, *function, &reported, diagnostics);
    if (!order.Check()) {
      good = false;
      continue;
    }
    *function = std::move(*ExactRewriter(module, *function, order.sums(), functions, fold).Run());
  }
  return good && transform::IsolateTasks(module, {}, diagnostics) &&
         transform::Simplify(module, {fold}, diagnostics);
}

std::optional<int64_t> ExactExtent(const ir::Module& module, const ir::Function& kernel, uint32_t position,
                                   uint32_t axis) {
  const ir::ParamInfo& info = kernel.params[position];
  if (info.role != ir::ParamRole::Scratch || info.companion_of == ir::kNoAttr) return std::nullopt;
  Value param = kernel.Params()[info.companion_of];
  uint32_t own = RankOf(module, kernel.TypeOf(param), info.companion_field);
  uint32_t rank = kernel.TypeOf(kernel.Params()[position]).count;
  if (axis < own) return std::nullopt;
  if (axis + 1 < rank) return kCopies;
  Type element = module.ElementType(kernel, param, info.companion_field);
  return (ExactWords(element.scalar) + 1) * element.Components();
}

}  // namespace adc::autodiff
