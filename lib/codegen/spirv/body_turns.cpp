// Sums into cells of a loop's turn, of threads that are in step.
//
//   for %j in 0..%n {                    turn j: the subgroup adds up, and the thread whose number is j
//   modulo
//     add_to %w.adj[%j], %v        ->    the subgroup's size holds the total. When all threads hold one, and
//   }                                    after the last turn, each adds it to the cell of its turn
//
// So one update of memory serves as many turns as a subgroup has threads. Where a turn is short, several
// stand one after the other, and their sums merge (SumEmitter::TotalOfRuns):
//
//   for %k in 0..%n / 8 * 8 step 8 {     some:   v0 = ..., v1 = ..., to v7, one branch for all of them
//     turns %k to %k + 7           ->    all:    t = total of runs v0 to v7, of turn k + thread mod 8
//   }                                            threads k mod size to k mod size + 7 hold t
//   for %j in %n / 8 * 8..%n { ... }     the turns that are left, one by one
//
// Where the threads of a workgroup share the turns (Shares), a share takes 32 neighbouring
// turns, then the 32 after those of the other shares. Of the turns that are left each takes one after the
// other, and the last ones may take none: all threads come to every sum.

#include "codegen/spirv/body_turns.h"

#include <algorithm>

#include "codegen/common/private_sums.h"
#include "codegen/common/questions.h"
#include "codegen/common/turn_cells.h"
#include "codegen/spirv/body.h"

namespace adc::codegen::spirv {

bool HeldTurns::IsPossible() const {
  if (!kernel_->in_step.Has(loop_) || m_.IsForTranslators() ||
      kernel_->environment.entry.addressing == Addressing::Metal)
    return false;
  std::vector<ir::Inst> sums = TurnCellsOf(function_, loop_).sums;
  // Where the device has an instruction for an update, holding alone takes as long as it saves.
  bool merges = Copies() != 1;
  return !sums.empty() && std::ranges::all_of(sums, [&](ir::Inst sum) {
    bool exchanges = WayOf(ir::Op::AtomicAdd, UpdateScalar(function_, sum), false,
                           kernel_->environment.entry.context.ability) == AtomicWay::Loop;
    return (exchanges || merges) && kernel_->in_step.Has(sum) && kernel_->in_step.IntoOneCell(sum);
  });
}

/// How many turns of a loop stand one after the other.
uint32_t HeldTurns::Copies() const {
  constexpr uint32_t kMost = 8, kMostInstructions = 512;
  if (!states_.Of(loop_).empty()) return 1;
  const std::vector<ir::Inst>& insts = function_[Body()].insts;
  bool fits = std::ranges::all_of(insts, [&](ir::Inst inst) {
    if (IsOfTurn(function_, inst)) return SumEmitter::CanExchange(UpdateScalar(function_, inst));
    bool is_access = ir::ClassOf(function_[inst].op) == ir::OpClass::Access;
    bool is_simple = InStep::IsFree(function_[inst].op) || ir::IsTerminator(function_[inst].op) ||
                     ir::ClassOf(function_[inst].op) == ir::OpClass::Function;
    return (is_access || is_simple) && !kernel_->in_step.Has(inst);
  });
  uint32_t copies = fits ? kMost : 1;
  while (copies > 1 && copies * insts.size() > kMostInstructions) copies /= 2;
  return copies;
}

/// The size that the device states may be larger than a subgroup is.
void HeldTurns::CountThreads() {
  m_.AddCapability(spv::CapabilityGroupNonUniform);
  m_.AddCapability(spv::CapabilityGroupNonUniformArithmetic);
  auto count = [&](spv::GroupOperation how) {
    return f_.Emit(spv::OpGroupNonUniformIAdd, m_.types.Int(32),
                   {f_.Int(32, spv::ScopeSubgroup), static_cast<uint32_t>(how), f_.Int(32, 1)});
  };
  lane_ = count(spv::GroupOperationExclusiveScan);
  lanes_ = count(spv::GroupOperationReduce);
}

/// Whether the subgroup is whole, and has at least `copies` threads.
Id HeldTurns::MayExchange(uint32_t copies) {
  Environment& environment = kernel_->environment;
  Id in_order = f_.Compare(spv::OpIEqual, lane_, environment.invocations.PlaceInSubgroup());
  Id whole = f_.Compare(spv::OpIEqual, lanes_, environment.invocations.SubgroupSize());
  Id enough = f_.Compare(spv::OpUGreaterThanEqual, lanes_, f_.Int(32, copies));
  return kernel_->sums.AllOf(f_.Both(in_order, f_.Both(whole, enough)));
}

void HeldTurns::FindElements() {
  ir::Block body = Body();
  const std::vector<ir::Inst>& insts = function_[body].insts;
  for (uint32_t position = 0; position < insts.size(); ++position) {
    if (!IsOfTurn(function_, insts[position])) continue;
    Element& element = elements_.emplace_back();
    element.sums = kernel_->in_step.SumsFrom(body, position, static_cast<uint32_t>(insts.size()));
    element.has = {m_.types.Bool(), m_.constants.Bool(false), {}};
    for (ir::Inst sum : element.sums) {
      Id type = TypeOf(function_.AccessValues(sum)[0]);
      element.totals.push_back({type, m_.constants.Null(type), {}});
    }
    position += static_cast<uint32_t>(element.sums.size()) - 1;
  }
}

/// The loop's counter in turn `number`.
Id HeldTurns::CounterAt(Id number) {
  if (function_[loop_].Has(ir::Word::Reversed))
    number = f_.Sub(width_, f_.Sub(width_, turns_, f_.Int(width_, 1)), number);
  auto step = static_cast<uint64_t>(*function_.IntegerConstant(function_.Operand(loop_, 2)));
  return f_.Add(width_, low_, f_.Mul(width_, number, f_.Int(width_, step)));
}

std::vector<Id> HeldTurns::Emit(std::span<const Id> starts) {
  const std::vector<ir::Value>& params = function_[Body()].params;
  width_ = ir::BitWidth(function_.TypeOf(function_.Operand(loop_, 0)).scalar);
  low_ = values_.Get(function_.Operand(loop_, 0));
  turns_ = body_.TripsOf(loop_);
  CountThreads();
  Id type = m_.types.Int(width_), word = m_.types.Int(32), zero = f_.Int(width_, 0);
  filled_ = {word, f_.Int(32, 0), {}};
  turn_ = {type, zero, {}};
  FindElements();
  for (uint32_t n = 0; n < starts.size(); ++n) carried_.push_back({TypeOf(params[n + 1]), starts[n], {}});
  uint32_t copies = Copies(), count = mode_.shares != nullptr ? mode_.shares->count : 1;
  auto number = [&](uint32_t value) { return f_.Int(width_, value); };
  Id first = zero;
  if (copies != 1) {
    uint32_t neighbours = mode_.shares != nullptr ? mode_.shares->lanes : copies;
    Id rounds = f_.Div(width_, turns_, number(neighbours * count));
    Id whole = f_.Mul(width_, rounds, number(neighbours));
    first = f_.Choose(type, MayExchange(copies), whole, zero);
    any_ = kernel_->sums.AnyOf(mode_.active);
    EmitRounds(zero, first, copies);
  }
  Id most = f_.Div(width_, f_.Add(width_, turns_, number(count - 1)), number(count));
  EmitRounds(first, most, 1);
  Flush(f_.Compare(spv::OpULessThan, lane_, filled_.now));
  std::vector<Id> carried;
  for (const Held& value : carried_) carried.push_back(value.now);
  return carried;
}

/// The turn of the loop that is turn `number` of a share: of its turns in rounds, or of all, one by one.
Id HeldTurns::TurnOf(Id number, uint32_t copies) {
  if (mode_.shares == nullptr) return number;
  uint32_t width = width_, lanes = mode_.shares->lanes;
  Id share = f_.Resize(mode_.shares->number, 32, width, false);
  if (copies == 1) return f_.Add(width, f_.Mul(width, number, f_.Int(width, mode_.shares->count)), share);
  Id before = f_.And(width, number, f_.Int(width, ~uint64_t{lanes - 1}));
  Id others = f_.Add(width, f_.Mul(width, before, f_.Int(width, mode_.shares->count - 1)),
                     f_.Mul(width, share, f_.Int(width, lanes)));
  return f_.Add(width, number, others);
}

/// The turns from `first` up to `end`, `copies` in each round; those of a share, as it counts them.
void HeldTurns::EmitRounds(Id first, Id end, uint32_t copies) {
  Loop loop(f_);
  OpenPhi number = loop.Phi(m_.types.Int(width_), first);
  ForEach([&](Held& value) {
    value.phi = loop.Phi(value.type, value.now);
    value.now = value.phi.id;
  });
  std::vector<OpenPhi> open = states_.Open(loop_, loop);
  loop.EndHeader(f_.Compare(spv::OpULessThan, number.id, end));
  Id turn = TurnOf(number.id, copies);
  if (copies == 1) {
    EmitOneTurn(turn);
  } else {
    EmitCopies(turn, copies);
  }
  Id filled = f_.Add(32, filled_.now, f_.Int(32, copies));
  Id full = f_.Compare(spv::OpIEqual, filled, lanes_);
  Flush(full);
  filled_.now = f_.Choose(m_.types.Int(32), full, f_.Int(32, 0), filled);
  loop.BeginNext();
  loop.Close(number, f_.Add(width_, number.id, f_.Int(width_, copies)));
  ForEach([&](Held& value) {
    loop.Close(value.phi, value.now);
    value.now = value.phi.id;  // the value with which the loop leaves
  });
  states_.Close(loop_, loop, open);
  loop.End();
}

void HeldTurns::EmitOneTurn(Id number) {
  ir::Block body = Body();
  const std::vector<ir::Value>& params = function_[body].params;
  Id counter = CounterAt(number);
  values_.Bind(params[0], counter);
  for (uint32_t n = 0; n < carried_.size(); ++n) values_.Bind(params[n + 1], carried_[n].now);
  Id active = mode_.active;
  if (mode_.shares != nullptr) mode_.active = f_.Both(active, f_.Compare(spv::OpULessThan, number, turns_));
  HeldTurns* around = std::exchange(mode_.held, this);
  body_.EmitBlock(body);
  mode_.held = around;
  std::vector<Id> yielded = body_.Yielded(body);
  for (uint32_t n = 0; n < carried_.size(); ++n) {
    Held& value = carried_[n];
    // A share whose turn is not there keeps what it has.
    value.now =
        mode_.shares != nullptr ? f_.Choose(value.type, mode_.active, yielded[n], value.now) : yielded[n];
  }
  mode_.active = active;
  Id mine = f_.Compare(spv::OpIEqual, lane_, filled_.now);
  turn_.now = f_.Choose(turn_.type, mine, counter, turn_.now);
}

void HeldTurns::Hold(std::span<const ir::Inst> sums) {
  auto element = std::ranges::find_if(elements_, [&](const auto& held) { return held.sums[0] == sums[0]; });
  Id mine = f_.Compare(spv::OpIEqual, lane_, filled_.now);
  for (size_t n = 0; n < sums.size(); ++n) {
    Held& held = element->totals[n];
    held.now = f_.Choose(held.type, mine, kernel_->sums.TotalOf(sums[n], mode_.active), held.now);
  }
  element->has.now = f_.Choose(m_.types.Bool(), mine, kernel_->sums.AnyOf(mode_.active), element->has.now);
}

/// Turns one after the other: their loads do not wait for one another.
void HeldTurns::EmitCopies(Id number, uint32_t copies) {
  // Of each sum what the turns add; threads that do not take part add nothing.
  std::vector<std::vector<Id>> runs;
  std::vector<Id> carried;
  for (const Held& value : carried_) carried.push_back(value.now);
  Id active = std::exchange(mode_.active, 0), before = f_.Block();
  Id end = f_.When(active, [&] {
    for (uint32_t copy = 0; copy < copies; ++copy)
      EmitCopy(f_.Add(width_, number, f_.Int(width_, copy)), runs, carried);
  });
  mode_.active = active;
  for (uint32_t n = 0; n < carried.size(); ++n)
    carried_[n].now = f_.Phi(carried_[n].type, carried[n], end, carried_[n].now, before);
  std::vector<ir::Scalar> scalars;
  ForEachSum([&](ir::Inst sum, Held& total) {
    std::vector<Id>& own = runs[scalars.size()];
    scalars.push_back(UpdateScalar(function_, sum));
    Id nothing = scalars_.Constant(scalars.back(), StartOf(ir::Reduction::Add, scalars.back()));
    for (Id& value : own) value = f_.Phi(total.type, value, end, nothing, before);
  });
  Id place = f_.And(32, lane_, f_.Int(32, copies - 1));
  Id mine = f_.Compare(spv::OpULessThan, f_.Sub(32, lane_, filled_.now), f_.Int(32, copies));
  Id counter = CounterAt(f_.Add(width_, number, f_.Resize(place, 32, width_, false)));
  turn_.now = f_.Choose(turn_.type, mine, counter, turn_.now);
  size_t n = 0;
  ForEachSum([&](ir::Inst, Held& total) {
    Id of_turn = kernel_->sums.TotalOfRuns(scalars[n], runs[n], lane_,
                                           kernel_->environment.invocations.SubgroupSize());
    total.now = f_.Choose(total.type, mine, of_turn, total.now);
    ++n;
  });
  for (Element& element : elements_)
    element.has.now = f_.Choose(m_.types.Bool(), mine, any_, element.has.now);
}

/// One of them: adds to `runs`, and changes `carried`.
void HeldTurns::EmitCopy(Id number, std::vector<std::vector<Id>>& runs, std::vector<Id>& carried) {
  ir::Block body = Body();
  const std::vector<ir::Value>& params = function_[body].params;
  values_.Bind(params[0], CounterAt(number));
  for (uint32_t n = 0; n < carried.size(); ++n) values_.Bind(params[n + 1], carried[n]);
  for (ir::Inst inst : function_[body].insts) {
    if (!IsOfTurn(function_, inst) && !ir::IsTerminator(function_[inst].op)) body_.EmitInst(inst);
  }
  size_t n = 0;
  ForEachSum([&](ir::Inst sum, Held&) {
    if (runs.size() == n) runs.emplace_back();
    runs[n++].push_back(kernel_->sums.ValueOf(sum));
  });
  carried = body_.Yielded(body);
}

/// Threads with `may` update the cells of which they hold a total.
void HeldTurns::Flush(Id may) {
  ir::Value counter = function_[Body()].params[0];
  f_.When(may, [&] {
    values_.Bind(counter, turn_.now);
    std::vector<ir::Inst> sums;
    for (const Element& element : elements_)
      sums.insert(sums.end(), element.sums.begin(), element.sums.end());
    for (ir::Inst inst : SliceOf(function_, loop_, sums)) body_.EmitInst(inst);
    for (const Element& element : elements_) {
      f_.When(element.has.now, [&] {
        for (size_t n = 0; n < element.sums.size(); ++n)
          kernel_->memory.EmitAtomic(element.sums[n], ir::Op::AtomicAdd, element.totals[n].now);
      });
    }
  });
}

}  // namespace adc::codegen::spirv
