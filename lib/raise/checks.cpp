#include "raise/checks.h"

#include <optional>

#include "analysis/uses.h"
#include "analysis/walk.h"
#include "ir/module.h"
#include "raise/access_groups.h"
#include "transform/rewriter.h"

namespace adc::raise {
namespace {

using ir::Block;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

constexpr Type kExtent = Type::Of(ir::Scalar::U64);

class CheckRewriter final : public transform::Rewriter {
 public:
  CheckRewriter(ir::Module& module, const Function& from, const RaiseConfig& config)
      : Rewriter(module, from), config_(config), checks_(NumberChecks(from)), uses_(from), groups_(from) {}

  /// Whether the kernel has any.
  bool Any() const {
    bool promises = false;
    for (Inst inst : checks_.accesses) promises = promises || from_[inst].op == Op::Assert;
    return promises || !checks_.asserts.empty() || (config_.check_bounds && !checks_.accesses.empty());
  }

 private:
  void Visit(Inst inst) override {
    const ir::InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    if (data.op == Op::Assert) return VisitAssert(inst);
    bool checked = config_.check_bounds && ir::IsAccess(data.op) && data.index_count != 0;
    if (!checked) return Copy(inst);
    std::span<const Inst> accesses = groups_.At(inst);
    if (accesses.empty()) return;
    Value inside = InRange(inst);
    if (!inside.Valid() || (into_->IsConstant(inside) && into_->ConstantOf(inside).bits != 0)) {
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
    Inst branch = builder_.If(inside, types);
    (*into_)[branch].flags = ir::kFlagGuard;
    InRegion(branch, 0, [&] {
      for (Inst access : accesses) {
        builder_.SetSpan(from_[access].span);
        Copy(access);
      }
      builder_.Yield(MapAll(given));
    });
    builder_.SetSpan(data.span);
    InRegion(branch, 1, [&] {
      Raise(ir::kFlagAccess, checks_.number_of[accesses.front()]);
      std::vector<Value> zeros;
      for (Type type : types) zeros.push_back(builder_.Zero(type));
      builder_.Yield(zeros);
    });
    for (uint32_t n = 0; n < given.size(); ++n) SetMapped(given[n], into_->Result(branch, n));
  }

  void VisitAssert(Inst inst) {
    bool promise = (from_[inst].flags & ir::kFlagPromise) != 0;
    if (!promise && !config_.assertions) return;
    Inst branch = builder_.If(builder_.Make(Op::Not, {Map(from_.Operand(inst, 0))}), {});
    InRegion(branch, 0, [&] {
      bool names_other = from_[inst].operand_count > 1;
      Raise(promise ? ir::kFlagPromise : ir::kFlagAssertion, checks_.number_of[inst],
            names_other ? Map(from_.Operand(inst, 1)) : Value());
      builder_.Yield({});
    });
    InRegion(branch, 1, [&] { builder_.Yield({}); });
  }

  template <class Write>
  void InRegion(Inst branch, uint32_t number, const Write& write) {
    Block outer = builder_.block();
    builder_.SetBlock((*into_)[branch].regions[number]);
    write();
    builder_.SetBlock(outer);
  }

  void Raise(uint8_t check, uint32_t number, Value other = {}) {
    Inst raise = builder_.Create(Op::StatusRaise, {&other, other.Valid() ? 1u : 0u}, {});
    (*into_)[raise].flags = check;
    (*into_)[raise].component = number;
  }

  /// That every index is in range; invalid where loops say so. Not negative is what a
  /// comparison without sign says along with the rest.
  Value InRange(Inst access) {
    Value base = from_.Operand(access, 0);
    Type type = from_.TypeOf(base);
    Value all;
    for (uint32_t axis = 0; axis < from_[access].index_count; ++axis) {
      Value index = from_.Indices(access)[axis];
      if (CountsWithin(index, base, axis, FixedExtent(access, axis))) continue;
      Value extent;
      if (type.IsBuffer()) {
        extent = builder_.Cast(builder_.Shape(Map(base), axis, ir::kI64), kExtent);
      } else {
        extent = builder_.Bits(kExtent, FixedExtent(access, axis));
      }
      Value inside = builder_.Make(Op::Lt, {builder_.Cast(Map(index), kExtent), extent});
      all = all.Valid() ? builder_.Make(Op::And, {all, inside}) : inside;
    }
    return all;
  }

  /// The extent of an axis that the type says; 0: of a buffer, which each launch says.
  uint64_t FixedExtent(Inst access, uint32_t axis) const {
    Type type = from_.TypeOf(from_.Operand(access, 0));
    if (type.IsBuffer()) return 0;
    return type.IsLayout() ? module_.layouts[type.count].fields[from_[access].attr].axes[axis].extent
                           : type.count;
  }

  /// Whether `index` is the counter of a loop that begins at zero or above and ends at the extent. (A count
  /// that is cut off to fewer bits is smaller, or negative.)
  bool CountsWithin(Value index, Value base, uint32_t axis, uint64_t fixed) const {
    const ir::ValueData& data = from_[index];
    if (data.kind != ir::ValueKind::BlockParam) return false;
    Inst loop = from_[Block(data.owner)].owner;
    if (!loop.Valid()) return false;
    bool is_parallel = from_[loop].op == Op::Parallel;
    if (!is_parallel && (from_[loop].op != Op::For || data.number != 0)) return false;
    std::optional<int64_t> begin = from_.IntegerConstant(from_.Operand(loop, 2 * data.number));
    if (!begin || *begin < 0) return false;
    Value end = from_.Operand(loop, 2 * data.number + 1);
    std::optional<int64_t> last = from_.IntegerConstant(end);
    if (fixed != 0) return last && *last >= 0 && static_cast<uint64_t>(*last) <= fixed;
    Inst shape = from_.DefiningInst(end);
    if (!shape.Valid() || from_[shape].op != Op::Shape || from_[shape].attr != axis) return false;
    Value of = from_.Operand(shape, 0);
    return from_.TypeOf(of).IsBuffer() && PrimalOf(of) == PrimalOf(base);
  }

  /// The buffer whose extents the loader demands of `buffer`: of an adjoint or a tangent its primal.
  Value PrimalOf(Value buffer) const {
    for (uint32_t steps = 0; steps < 3; ++steps) {
      const ir::ParamInfo& info = from_.params[from_[buffer].number];
      bool is_companion = info.role == ir::ParamRole::Adjoint || info.role == ir::ParamRole::Tangent;
      if (!is_companion || info.companion_of == ir::kNoAttr) break;
      buffer = from_.Params()[info.companion_of];
    }
    return buffer;
  }

  const RaiseConfig& config_;
  KernelChecks checks_;
  analysis::Uses uses_;
  AccessGroups groups_;
};

}  // namespace

KernelChecks NumberChecks(const Function& kernel) {
  KernelChecks checks;
  analysis::ForEachInst(kernel, [&](Inst inst) {
    Op op = kernel[inst].op;
    bool promise = (kernel[inst].flags & ir::kFlagPromise) != 0;
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
