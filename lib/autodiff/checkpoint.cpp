// Blocking is checkpointing.
//
// The tape of a loop is filled by one level of nesting and used again by the next run of the loop, and inner
// loops run forward again at each level (to_be_recorded.cpp), so memory is the sum over the levels of what
// each keeps per iteration times its trip count. A loop of n iterations as n / S segments of S steps
// therefore keeps n / S states, the checkpoints, and S tape entries of one segment: of order sqrt(n) for S =
// sqrt(n), for one more forward run. Reverse mode does not know of checkpoints, but for the last segment,
// which runs forward once (primal_sweep_loop.cpp): where the loop's results are not read, the run that
// computes checkpoints leaves it out; where they are, that run fills the tape of the segment, and it is used
// as it is. So a loop of one segment costs what the plain loop does, and one piece of code serves every
// length.

#include "autodiff/checkpoint.h"

#include "analysis/loops.h"
#include "autodiff/reverse_analyses.h"
#include "autodiff/write_races.h"
#include "diag/errors/autodiff.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::autodiff {

using ir::Function, ir::Inst, ir::Op;

namespace {

/// A constant that the loop's trip count never exceeds.
std::optional<uint64_t> MostTrips(const Function& kernel, Inst loop) {
  if (kernel[loop].op == Op::For) return analysis::ConstantTrips(kernel, loop);
  if (!kernel[loop].Has(ir::Word::HasMax)) return std::nullopt;
  std::optional<int64_t> most = kernel.IntegerConstant(kernel.Operand(loop, 0));
  return most ? std::optional<uint64_t>(*most > 0 ? *most : 0) : std::nullopt;
}

/// How many iterations of `loop` would make a segment, whatever it keeps; 0: it stays as it is.
uint32_t LengthAsked(const Function& kernel, Inst loop, const CheckpointConfig& config) {
  using Which = CheckpointConfig::Which;
  const ir::InstData& data = kernel[loop];
  // A loop over segments is one already, and so are its steps.
  if (analysis::StepsOf(kernel, loop).Valid() || data.Has(ir::Word::Steps)) return 0;
  bool marked = data.Has(ir::Word::Checkpoint);
  if (data.op == ir::Op::For && data.Has(ir::Word::Apart)) return 0;
  if (!IsSerialLoop(data.op) || (!marked && config.which == Which::Marked)) return 0;
  uint32_t length = config.which == Which::All ? config.length : transform::kSegmentAtLaunch;
  if (marked && data.attr != ir::kNoAttr) length = data.attr;
  std::optional<uint64_t> trips = MostTrips(kernel, loop);
  uint32_t few = length == transform::kSegmentAtLaunch ? config.few_trips : length;
  return trips && *trips <= few ? 0 : length;
}

bool AnyLoop(const Function& kernel, const std::function<uint32_t(Inst)>& length_of) {
  for (uint32_t n = 0; n < kernel.InstCount(); ++n) {
    if (kernel[Inst(n)].parent.Valid() && length_of(Inst(n)) != 0) return true;
  }
  return false;
}

/// That the proofs which the gradient rests on do not go through with indices counted by segments.
void WarnPlain(const Function& primal, const diag::Diagnostics& refused, diag::Diagnostics& diagnostics) {
  const diag::Diagnostic& first = refused.All().front();
  diagnostics
      .Warning(diag::W0402, first.span,
               "the gradient keeps whole tapes instead of checkpoints: " + first.text)
      .AddNote(primal.span, "the kernel is here")
      .AddHelp("the indices of this access cannot be followed through a loop of segments");
}

/// A name for the copy that no function of the module has.
StringId NameOfCopy(ir::Module& module, const Function& primal) {
  std::string name = std::string(module.Text(primal.name)) + ".segmented";
  while (module.Find(name) != nullptr) name += '_';
  return module.Intern(name);
}

}  // namespace

std::optional<SegmentedKernel> SegmentForCheckpoints(ir::Module& module, Function& primal,
                                                     const CheckpointConfig& config, bool reread_stored,
                                                     transform::FoldConfig fold,
                                                     diag::Diagnostics& diagnostics) {
  ADC_CHECK(module.phase == ir::Phase::Scalar, "checkpoints are for shaped kernels");
  auto asked = [&](Inst loop) { return LengthAsked(primal, loop, config); };
  if (primal.grad.Valid() || !AnyLoop(primal, asked)) return std::nullopt;
  // Reverse mode reports the errors of the primal.
  diag::Diagnostics refused;
  ReverseAnalyses whole(module, primal, reread_stored);
  if (!CheckWriteRaces(module, primal, &whole.activity, refused) || !whole.Check(module, refused))
    return std::nullopt;
  auto length_of = [&](Inst loop) -> uint32_t {
    uint32_t length = asked(loop);
    if (length == 0) return 0;
    UndoPlan undo = PlanUndo(primal, whole.tree, whole.plan, loop);
    bool keeps = !whole.plan.Tape(loop).empty() || !undo.Empty();
    return keeps ? length : 0;
  };
  if (!AnyLoop(primal, length_of)) return std::nullopt;
  std::unique_ptr<Function> blocked = transform::BlockLoops(module, primal, length_of, fold);
  diag::Diagnostics unproved;
  if (!ReverseAnalyses(module, *blocked, reread_stored).Check(module, unproved)) {
    WarnPlain(primal, unproved, diagnostics);
    return std::nullopt;
  }
  blocked->name = NameOfCopy(module, primal);
  blocked->derived_from = primal.name;
  return SegmentedKernel{&primal, &module.AddFunction(std::move(blocked))};
}

}  // namespace adc::autodiff
