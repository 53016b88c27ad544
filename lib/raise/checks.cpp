#include "raise/checks.h"

#include <algorithm>
#include <optional>

#include "analysis/loops.h"
#include "analysis/memory.h"
#include "analysis/structure.h"
#include "analysis/uses.h"
#include "analysis/walk.h"
#include "ir/module.h"
#include "raise/access_groups.h"
#include "raise/check_stretches.h"
#include "transform/rewriter.h"

namespace adc::raise {
namespace {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Type, ir::Value;

constexpr Type kExtent = Type::Of(ir::Scalar::U64);

class CheckRewriter final : public transform::Rewriter {
 public:
  CheckRewriter(ir::Module& module, const Function& from, const RaiseConfig& config)
      : Rewriter(module, from),
        config_(config),
        checks_(NumberChecks(from)),
        uses_(from),
        groups_(from),
        stretches_(module, from, groups_, uses_,
                   [&](Inst access, uint32_t axis) { return Needs(access, axis); }) {}

  /// Whether the kernel has any.
  bool Any() const {
    bool promises = false;
    for (Inst inst : checks_.accesses) promises = promises || from_[inst].op == Op::Assert;
    return promises || !checks_.asserts.empty() || (config_.check_bounds && !checks_.accesses.empty());
  }

 private:
  void VisitBlock(Block source, Block into) override {
    Inst owner = from_[source].owner;
    bool was_parallel = in_parallel_;
    in_parallel_ = was_parallel || (owner.Valid() && analysis::IsParallel(from_[owner].op));
    const std::vector<Inst>& insts = from_[source].insts;
    InBlock(into, [&] {
      for (size_t n = 0; n < insts.size();) {
        std::optional<Stretch> stretch;
        if (config_.check_bounds && in_parallel_ && !is_slow_) stretch = stretches_.From(source, n, sure_);
        if (stretch) {
          VisitTwice(std::span(insts).subspan(n, stretch->end - n), *stretch);
          n = stretch->end;
        } else {
          Visit(insts[n++]);
        }
      }
    });
    in_parallel_ = was_parallel;
  }

  /// Without its checks where the accesses are in range; with all of them elsewhere.
  void VisitTwice(std::span<const Inst> insts, const Stretch& stretch) {
    std::vector<Type> types;
    for (Value v : stretch.given) types.push_back(from_.TypeOf(v));
    builder_.SetSpan(from_[insts.front()].span);
    auto write = [&] {
      for (Inst inst : insts) Visit(inst);
      builder_.Yield(MapAll(stretch.given));
    };
    auto unchecked = [&] {
      for (Inst access : stretch.accesses) sure_.Insert(access);
      write();
      for (Inst access : stretch.accesses) sure_.Erase(access);
    };
    auto checked = [&] {
      is_slow_ = true;
      write();
      is_slow_ = false;
    };
    Inst branch = builder_.Branch(AreInside(stretch), types, unchecked, checked);
    for (uint32_t n = 0; n < types.size(); ++n) SetMapped(stretch.given[n], into_->Result(branch, n));
  }

  Value AreInside(const Stretch& stretch) {
    Value all = builder_.Bits(Type::Of(ir::Scalar::I1), 1);
    for (const IndexBounds& bounds : stretch.bounds) all = builder_.Make(Op::And, {all, IsInside(bounds)});
    return all;
  }

  Value IsInside(const IndexBounds& bounds) {
    Value index = from_.Indices(bounds.access)[bounds.axis];
    if (bounds.low.terms.size() == 1 && bounds.low.terms[0].first == index && bounds.low.constant == 0 &&
        bounds.high.terms == bounds.low.terms && bounds.high.constant == 0)
      return IsInside(bounds.access, bounds.axis);
    // From 2^31 on an index of i32 is negative.
    constexpr uint64_t kIndices = uint64_t{1} << 31;
    uint64_t fixed = ExtentOf(bounds.access, bounds.axis);
    Value extent = builder_.Bits(ir::kI64, std::min(fixed, kIndices));
    if (fixed == 0) {
      Value shape = builder_.Shape(Map(from_.Operand(bounds.access, 0)), bounds.axis, ir::kI64);
      extent = builder_.Make(Op::Min, {shape, builder_.Bits(ir::kI64, kIndices)});
    }
    Value low = Sum(bounds.low), high = Sum(bounds.high);
    Value not_negative = builder_.Make(Op::Ge, {low, builder_.Zero(ir::kI64)});
    return builder_.Make(Op::And, {not_negative, builder_.Make(Op::Lt, {high, extent})});
  }

  Value Sum(const IndexSum& sum) {
    Value whole = builder_.Zero(ir::kI64);
    for (const auto& [value, coefficient] : sum.terms) {
      Value factor = builder_.Int(ir::kI64, coefficient);
      whole = builder_.Make(Op::Add,
                            {whole, builder_.Make(Op::Mul, {builder_.Cast(Map(value), ir::kI64), factor})});
    }
    return builder_.Make(Op::Add, {whole, builder_.Int(ir::kI64, sum.constant)});
  }

  void Visit(Inst inst) override {
    const ir::InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    if (data.op == Op::Assert) return VisitAssert(inst);
    bool checked = config_.check_bounds && ir::IsAccess(data.op) && data.index_count != 0;
    if (!checked) return Copy(inst);
    std::span<const Inst> accesses = groups_.At(inst);
    if (accesses.empty()) return;
    Value inside = sure_.Has(inst) ? Value() : InRange(inst);
    if (!inside.Valid()) {
      for (Inst access : accesses) Copy(access);
      return;
    }
    std::vector<Value> given;
    std::vector<Type> types;
    for (Inst access : accesses) {
      if (from_[access].result_count == 0 || !uses_.IsUsed(from_.Result(access))) continue;
      given.push_back(from_.Result(access));
      types.push_back(from_.TypeOf(given.back()));
    }
    auto access = [&] {
      for (Inst one : accesses) {
        builder_.SetSpan(from_[one].span);
        Copy(one);
      }
      builder_.Yield(MapAll(given));
      builder_.SetSpan(data.span);
    };
    auto report = [&] {
      Raise(ir::Word::Access, checks_.number_of[accesses.front()]);
      builder_.Yield(ZerosOf(types));
    };
    Inst branch = builder_.Branch(inside, types, access, report);
    (*into_)[branch].words = {ir::Word::Guard};
    for (uint32_t n = 0; n < given.size(); ++n) SetMapped(given[n], into_->Result(branch, n));
  }

  void VisitAssert(Inst inst) {
    bool promise = from_[inst].Has(ir::Word::Promise);
    if (!promise && !config_.assertions) return;
    builder_.Where(builder_.Make(Op::Not, {Map(from_.Operand(inst, 0))}), [&] {
      bool names_other = from_[inst].operand_count > 1;
      Raise(promise ? ir::Word::Promise : ir::Word::Assertion, checks_.number_of[inst],
            names_other ? Map(from_.Operand(inst, 1)) : Value());
    });
  }

  void Raise(ir::Word check, uint32_t number, Value other = {}) {
    Inst raise = builder_.Create(Op::StatusRaise, {&other, other.Valid() ? 1u : 0u}, {});
    (*into_)[raise].words = {check};
    (*into_)[raise].component = number;
  }

  /// That every index is in range; invalid where loops say so. Not negative is what a
  /// comparison without sign says along with the rest.
  Value InRange(Inst access) {
    Value all;
    for (uint32_t axis = 0; axis < from_[access].index_count; ++axis) {
      if (!Needs(access, axis)) continue;
      Value inside = IsInside(access, axis);
      all = all.Valid() ? builder_.Make(Op::And, {all, inside}) : inside;
    }
    return all;
  }

  Value IsInside(Inst access, uint32_t axis) {
    Value base = from_.Operand(access, 0);
    Value extent = from_.TypeOf(base).IsBuffer()
                       ? builder_.Cast(builder_.Shape(Map(base), axis, ir::kI64), kExtent)
                       : builder_.Bits(kExtent, ExtentOf(access, axis));
    return builder_.Make(Op::Lt, {builder_.Cast(Map(from_.Indices(access)[axis]), kExtent), extent});
  }

  uint64_t ExtentOf(Inst access, uint32_t axis) const { return FixedExtent(module_, from_, access, axis); }

  bool Needs(Inst access, uint32_t axis) const {
    Value index = from_.Indices(access)[axis];
    uint64_t fixed = ExtentOf(access, axis);
    std::optional<int64_t> constant = from_.IntegerConstant(index);
    if (constant && *constant >= 0 && static_cast<uint64_t>(*constant) < fixed) return false;
    return !CountsWithin(index, from_.Operand(access, 0), axis, fixed);
  }

  /// Whether `index` is the counter of a loop that begins at zero or above and ends at the extent. (A count
  /// that is cut off to fewer bits is smaller, or negative.)
  bool CountsWithin(Value index, Value base, uint32_t axis, uint64_t fixed) const {
    Inst loop = analysis::LoopOfIndex(from_, index);
    if (!loop.Valid() || from_[loop].op == Op::ParallelOver) return false;
    uint32_t number = from_[index].number;
    std::optional<int64_t> begin = from_.IntegerConstant(from_.Operand(loop, 2 * number));
    if (!begin || *begin < 0) return false;
    Value end = from_.Operand(loop, 2 * number + 1);
    std::optional<int64_t> last = from_.IntegerConstant(end);
    if (fixed != 0) return last && *last >= 0 && static_cast<uint64_t>(*last) <= fixed;
    Inst shape = from_.DefiningInst(end);
    if (!shape.Valid() || from_[shape].op != Op::Shape || from_[shape].attr != axis) return false;
    Value of = from_.Operand(shape, 0);
    return from_.TypeOf(of).IsBuffer() && analysis::PrimalOf(from_, of) == analysis::PrimalOf(from_, base);
  }

  const RaiseConfig& config_;
  KernelChecks checks_;
  analysis::Uses uses_;
  AccessGroups groups_;
  CheckStretches stretches_;
  IndexSet<Inst> sure_;       ///< accesses that are in range where the writer stands
  bool in_parallel_ = false;  ///< code outside may be the prologue of a task
  bool is_slow_ = false;      ///< in a copy in which everything is checked
};

}  // namespace

KernelChecks NumberChecks(const Function& kernel) {
  KernelChecks checks;
  analysis::ForEachInst(kernel, [&](Inst inst) {
    Op op = kernel[inst].op;
    bool promise = kernel[inst].Has(ir::Word::Promise);
    if (op != Op::Assert && !ir::IsAccess(op)) return;
    std::vector<Inst>& list = op == Op::Assert && !promise ? checks.asserts : checks.accesses;
    checks.number_of[inst] = static_cast<uint32_t>(list.size());
    list.push_back(inst);
  });
  return checks;
}

void RaiseChecks(ir::Module& module, Function& kernel, const RaiseConfig& config) {
  CheckRewriter rewriter(module, kernel, config);
  if (rewriter.Any()) kernel = std::move(*rewriter.Run());
}

}  // namespace adc::raise
