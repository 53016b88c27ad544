#include "transform/unroll.h"

#include "diag/errors/transform.h"
#include "ir/module.h"
#include "transform/rewriter.h"

namespace adc::transform {
namespace {

using ir::Block;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

class UnrollRewriter final : public Rewriter {
 public:
  UnrollRewriter(ir::Module& module, const Function& from, const UnrollConfig& config,
                 diag::Diagnostics& diagnostics)
      : Rewriter(module, from, config.fold), limit_(config.instruction_limit), diagnostics_(diagnostics) {}

  bool failed() const { return failed_; }

 private:
  void Visit(Inst inst) override {
    const ir::InstData& data = from_[inst];
    // After the limit the result is thrown away: what is still visited is copied as it stands.
    if (too_large_ || data.op != Op::For || !data.Has(ir::Word::Unroll)) return Copy(inst);
    std::optional<int64_t> lo = into_->IntegerConstant(Map(from_.Operand(inst, 0)));
    std::optional<int64_t> hi = into_->IntegerConstant(Map(from_.Operand(inst, 1)));
    std::optional<int64_t> step = into_->IntegerConstant(Map(from_.Operand(inst, 2)));
    if (!lo || !hi || !step) {
      failed_ = true;
      diag::Diagnostic& error =
          diagnostics_.Error(diag::E0303, data.span, "'unroll' needs bounds that are constants");
      for (uint32_t n = 0; n < 2; ++n) {
        Inst bound = from_.DefiningInst(from_.Operand(inst, n));
        if (bound.Valid() && !(n == 0 ? lo : hi))
          error.AddNote(from_[bound].span,
                        n == 0 ? "the lower bound comes from here" : "the upper bound comes from here");
      }
      error.AddHelp("remove 'unroll'; a loop with any bounds can be differentiated");
      return Copy(inst);
    }
    uint64_t distance = *hi > *lo ? static_cast<uint64_t>(*hi) - static_cast<uint64_t>(*lo) : 0;
    uint64_t stride = *step > 0 ? static_cast<uint64_t>(*step) : 1;
    uint64_t trips = distance / stride + (distance % stride != 0 ? 1 : 0);
    std::vector<Value> carried = MapAll(from_.Operands(inst).subspan(3));
    Block body = from_[inst].regions[0];
    Type type = from_.TypeOf(from_[body].params[0]);
    for (uint64_t trip = 0; trip < trips; ++trip) {
      if (++iterations_ > limit_ || into_->InstCount() > limit_) return ReportGrowth(inst);
      uint64_t number = data.Has(ir::Word::Reversed) ? trips - 1 - trip : trip;
      auto index = static_cast<int64_t>(static_cast<uint64_t>(*lo) + number * stride);
      SetMapped(from_[body].params[0], builder_.Int(type, index));
      for (size_t n = 0; n < carried.size(); ++n) SetMapped(from_[body].params[n + 1], carried[n]);
      for (Inst inner : from_[body].insts) {
        if (from_[inner].op == Op::Yield) {
          carried = MapAll(from_.Operands(inner));
        } else {
          Visit(inner);
        }
      }
      if (too_large_) break;
    }
    for (uint32_t n = 0; n < carried.size(); ++n) {
      SetMapped(from_.Result(inst, n), carried[n]);
      PassName(from_.Result(inst, n), carried[n]);
    }
  }

  void ReportGrowth(Inst inst) {
    failed_ = too_large_ = true;
    diagnostics_
        .Error(diag::E0304, from_[inst].span,
               "unrolling makes '" + std::string(module_.Text(from_.name)) + "' larger than " +
                   std::to_string(limit_) + " instructions or iterations")
        .AddHelp(
            "remove 'unroll' from this loop or from one around it, or allow more with --limit-operations=N");
    for (uint32_t n = 0; n < from_[inst].result_count; ++n)
      SetMapped(from_.Result(inst, n), Map(from_.Operand(inst, 3 + n)));
  }

  uint32_t limit_;
  uint64_t iterations_ = 0;
  bool failed_ = false;
  bool too_large_ = false;
  diag::Diagnostics& diagnostics_;
};

bool HasUnroll(const Function& function) {
  for (uint32_t n = 0; n < function.InstCount(); ++n) {
    if (function[Inst(n)].op == Op::For && function[Inst(n)].Has(ir::Word::Unroll)) return true;
  }
  return false;
}

}  // namespace

bool Unroll(ir::Module& module, const UnrollConfig& config, diag::Diagnostics& diagnostics) {
  bool failed = false;
  for (size_t n = 0; n < module.functions.size(); ++n) {
    if (!HasUnroll(*module.functions[n])) continue;
    UnrollRewriter rewriter(module, *module.functions[n], config, diagnostics);
    std::unique_ptr<Function> unrolled = rewriter.Run();
    failed = failed || rewriter.failed();
    if (!rewriter.failed()) *module.functions[n] = std::move(*unrolled);
  }
  return !failed;
}

}  // namespace adc::transform
