#include "raise/checks.h"

#include "analysis/uses.h"
#include "analysis/walk.h"
#include "ir/module.h"
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
      : Rewriter(module, from), config_(config), checks_(NumberChecks(from)), uses_(from) {}

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
    Value inside = InRange(inst);
    if (into_->IsConstant(inside) && into_->ConstantOf(inside).bits != 0) return Copy(inst);
    bool gives = data.result_count != 0 && uses_.IsUsed(from_.Result(inst));
    Type type = gives ? from_.TypeOf(from_.Result(inst)) : Type();
    Inst branch = builder_.If(inside, {&type, gives ? 1u : 0u});
    (*into_)[branch].flags = ir::kFlagGuard;
    InRegion(branch, 0, [&] {
      Copy(inst);
      Value result = gives ? Map(from_.Result(inst)) : Value();
      builder_.Yield({&result, gives ? 1u : 0u});
    });
    InRegion(branch, 1, [&] {
      Raise(ir::kFlagAccess, checks_.number_of[inst]);
      Value zero = gives ? builder_.Zero(type) : Value();
      builder_.Yield({&zero, gives ? 1u : 0u});
    });
    if (gives) SetMapped(from_.Result(inst), into_->Result(branch));
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

  /// That every index is in range: not negative is what a comparison without sign says along with the rest.
  Value InRange(Inst access) {
    Value base = from_.Operand(access, 0);
    Type type = from_.TypeOf(base);
    Value all;
    uint32_t axis = 0;
    for (Value index : from_.Indices(access)) {
      Value extent;
      if (type.IsBuffer()) {
        extent = builder_.Cast(builder_.Shape(Map(base), axis, ir::kI64), kExtent);
      } else if (type.IsLayout()) {
        const ir::LayoutField& field = module_.layouts[type.count].fields[from_[access].attr];
        extent = builder_.Bits(kExtent, field.axes[axis].extent);
      } else {
        extent = builder_.Bits(kExtent, type.count);
      }
      Value inside = builder_.Make(Op::Lt, {builder_.Cast(Map(index), kExtent), extent});
      all = all.Valid() ? builder_.Make(Op::And, {all, inside}) : inside;
      ++axis;
    }
    return all;
  }

  const RaiseConfig& config_;
  KernelChecks checks_;
  analysis::Uses uses_;
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
