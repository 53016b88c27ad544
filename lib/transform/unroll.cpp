#include "transform/unroll.h"

#include <algorithm>

#include "analysis/loops.h"
#include "analysis/structure.h"
#include "diag/errors/transform.h"
#include "ir/module.h"
#include "ir/wording.h"
#include "transform/rewriter.h"

namespace adc::transform {
namespace {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Type, ir::Value;

constexpr uint64_t kSmallTrips = 16;
/// Instructions that all copies of a small loop have, over local arrays and over vectors.
constexpr uint64_t kSmallOverArrays = 512;
constexpr uint64_t kSmallOverVectors = 128;
/// Copies that stand in one another.
constexpr uint32_t kDeepest = 200;

bool IsMarked(const ir::InstData& data) {
  return analysis::IsSerialLoop(data.op) && data.Has(ir::Word::Unroll);
}

class UnrollRewriter final : public Rewriter {
 public:
  UnrollRewriter(ir::Module& module, const Function& from, const UnrollConfig& config,
                 diag::Diagnostics& diagnostics)
      : Rewriter(module, from, config.fold), config_(config), structure_(from), diagnostics_(diagnostics) {}

  bool failed() const { return failed_; }

 private:
  void Visit(Inst inst) override {
    const ir::InstData& data = from_[inst];
    // After the limit the result is thrown away: instructions that are still visited are copied as they
    // stand.
    bool is_chosen = !too_large_ && (IsMarked(data) || (config_.small && IsSmall(inst)));
    if (!is_chosen) return Copy(inst);
    std::vector<std::optional<int64_t>> bounds;
    for (Value bound : BoundsOf(inst)) bounds.push_back(into_->IntegerConstant(Map(bound)));
    if (bounds.empty() ||
        !std::all_of(bounds.begin(), bounds.end(), [](auto one) { return one.has_value(); })) {
      failed_ = true;
      ReportBounds(inst, bounds);
      return Copy(inst);
    }
    std::vector<Value> carried = MapAll(from_.Operands(inst).subspan(bounds.size()));
    if (data.op == Op::While) {
      carried = CopyWhile(inst, *bounds[0], std::move(carried), 0);
    } else {
      CopyFor(inst, *bounds[0], *bounds[1], *bounds[2], carried);
    }
    MapResults(inst, carried);
  }

  /// The operands that say how often a loop runs: none of a `while` without `max`.
  std::span<const Value> BoundsOf(Inst loop) const {
    const ir::InstData& data = from_[loop];
    if (data.op == Op::For) return from_.Operands(loop).subspan(0, 3);
    return from_.Operands(loop).subspan(0, data.Has(ir::Word::HasMax) ? 1 : 0);
  }

  // ---- Which loops

  /// Few iterations between constants, over elements of a local array or components of a vector, which become
  /// registers.
  bool IsSmall(Inst loop) const {
    const ir::InstData& data = from_[loop];
    bool may_be = data.op == Op::For || (data.op == Op::While && data.Has(ir::Word::HasMax));
    if (!may_be || data.Has(ir::Word::Checkpoint)) return false;
    std::vector<int64_t> bounds;
    for (Value bound : BoundsOf(loop)) {
      std::optional<int64_t> number = from_.IntegerConstant(bound);
      if (!number) return false;
      bounds.push_back(*number);
    }
    uint64_t trips = data.op == Op::For ? analysis::TripsBetween(bounds[0], bounds[1], bounds[2])
                                        : static_cast<uint64_t>(std::max<int64_t>(bounds[0], 0));
    uint64_t size = std::max<uint64_t>(trips, 1) * (structure_.End(loop) - structure_.Position(loop) - 1);
    if (trips > kSmallTrips || size > kSmallOverArrays) return false;
    bool arrays = false, vectors = false;
    for (Inst inst : structure_.Within(loop).subspan(1)) {
      Op op = from_[inst].op;
      auto varies = [&](uint32_t n) { return !from_.IsConstant(from_.Operand(inst, n)); };
      if (op == Op::Load || op == Op::Store)
        arrays = arrays || (from_.TypeOf(from_.Operand(inst, 0)).IsArray() && varies(1));
      if (op == Op::VecGet || op == Op::VecSet) vectors = vectors || varies(1);
      if (op == Op::MatGet) vectors = vectors || varies(1) || varies(2);
    }
    return arrays || (vectors && size <= kSmallOverVectors);
  }

  bool HoldsTasks(Inst loop) const {
    return std::ranges::any_of(structure_.Within(loop),
                               [&](Inst inst) { return analysis::IsParallel(from_[inst].op); });
  }

  void ReportBounds(Inst loop, const std::vector<std::optional<int64_t>>& bounds) {
    bool is_while = from_[loop].op == Op::While;
    diag::Diagnostic& error =
        diagnostics_.Error(diag::E0303, from_[loop].span, ir::UnrolledLoop(module_, is_while));
    for (uint32_t n = 0; n < bounds.size() && n < 2; ++n) {
      Inst bound = from_.DefiningInst(from_.Operand(loop, n));
      if (bound.Valid() && !bounds[n])
        error.AddNote(from_[bound].span, is_while ? "the bound comes from here"
                                         : n == 0 ? "the lower bound comes from here"
                                                  : "the upper bound comes from here");
    }
    error.AddHelp(HoldsTasks(loop) ? "launch the kernel as often as that, or move the loop inside"
                                   : "remove 'unroll'; a loop with any bounds can be differentiated");
  }

  // ---- Copies

  /// Whether one more iteration is too much, which is reported.
  bool IsTooMuch(Inst inst, uint32_t depth) {
    if (too_large_) return true;
    if (++iterations_ <= config_.instruction_limit && into_->InstCount() <= config_.instruction_limit &&
        depth < kDeepest)
      return false;
    failed_ = too_large_ = true;
    std::string limit = depth < kDeepest ? "larger than " + std::to_string(config_.instruction_limit) +
                                               " instructions or iterations"
                                         : "nest deeper than " + std::to_string(kDeepest) + " branches";
    std::string name(module_.Text(from_.name));
    diagnostics_.Error(diag::E0304, from_[inst].span, "unrolling makes '" + name + "' " + limit)
        .AddHelp(
            "remove 'unroll' from this loop or from one around it, or allow more with --limit-operations=N");
    return true;
  }

  /// Writes the body once more, whose parameters are mapped; `carried` becomes what it yields.
  void CopyBody(Block body, std::vector<Value>& carried) {
    VisitContents(body);
    carried = MapAll(from_.Operands(from_.Terminator(body)));
  }

  void CopyFor(Inst inst, int64_t lo, int64_t hi, int64_t step, std::vector<Value>& carried) {
    Block body = from_[inst].regions[0];
    Type type = from_.TypeOf(from_[body].params[0]);
    uint64_t trips = analysis::TripsBetween(lo, hi, step);
    bool is_reversed = from_[inst].Has(ir::Word::Reversed);
    for (uint64_t trip = 0; trip < trips && !IsTooMuch(inst, 0); ++trip) {
      uint64_t number = is_reversed ? trips - 1 - trip : trip;
      auto index = static_cast<int64_t>(static_cast<uint64_t>(lo) + number * static_cast<uint64_t>(step));
      SetMapped(from_[body].params[0], builder_.Int(type, index));
      for (size_t n = 0; n < carried.size(); ++n) SetMapped(from_[body].params[n + 1], carried[n]);
      CopyBody(body, carried);
    }
  }

  /// The carried values of a `while` after at most `left` iterations. An iteration behind an unknown
  /// condition stands in a branch, and those after it stand in there with it: a value that it computes from
  /// constants stays one.
  std::vector<Value> CopyWhile(Inst inst, int64_t left, std::vector<Value> carried, uint32_t depth) {
    Block test = from_[inst].regions[0], body = from_[inst].regions[1];
    for (; left > 0 && !IsTooMuch(inst, depth); --left) {
      for (size_t n = 0; n < carried.size(); ++n) SetMapped(from_[test].params[n], carried[n]);
      VisitContents(test);
      Value condition = Map(from_.Operand(from_.Terminator(test), 0));
      if (into_->IsConstant(condition)) {
        if (into_->ConstantOf(condition).bits == 0) return carried;
        CopyBody(body, carried);
        continue;
      }
      builder_.SetSpan(from_[inst].span);
      std::vector<Value> after = carried;
      auto go_on = [&] {
        CopyBody(body, after);
        builder_.Yield(CopyWhile(inst, left - 1, std::move(after), depth + 1));
      };
      return ResultsOf(builder_.Branch(condition, TypesOf(carried), go_on, [&] { builder_.Yield(carried); }));
    }
    return carried;
  }

  UnrollConfig config_;
  analysis::Structure structure_;
  uint64_t iterations_ = 0;
  bool failed_ = false;
  bool too_large_ = false;
  diag::Diagnostics& diagnostics_;
};

}  // namespace

bool Unroll(ir::Module& module, const UnrollConfig& config, diag::Diagnostics& diagnostics) {
  bool failed = false;
  for (const std::unique_ptr<Function>& function : module.functions) {
    bool may = AnyInst(*function, [&](const ir::InstData& data) {
      return IsMarked(data) || (config.small && analysis::IsSerialLoop(data.op));
    });
    if (!may) continue;
    UnrollRewriter rewriter(module, *function, config, diagnostics);
    std::unique_ptr<Function> unrolled = rewriter.Run();
    failed = failed || rewriter.failed();
    if (!rewriter.failed()) *function = std::move(*unrolled);
  }
  return !failed;
}

}  // namespace adc::transform
