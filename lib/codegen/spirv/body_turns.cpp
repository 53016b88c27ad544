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
// Where the threads of a workgroup share the turns (BodyEmitter::Shares), a share takes 32 neighbouring
// turns, then the 32 after those of the other shares. Of the turns that are left each takes one after the
// other, and the last ones may take none: all threads come to every sum.

#include <algorithm>

#include "codegen/common/private_sums.h"
#include "codegen/common/turn_cells.h"
#include "codegen/spirv/body.h"

namespace adc::codegen::spirv {

namespace {

/// A value that a loop carries.
struct Held {
  Id type = 0;
  Id now = 0;
  OpenPhi phi;
};

}  // namespace

/// The state of a loop that threads hold between its turns.
struct BodyEmitter::HeldTurns {
  /// Sums into neighbouring components of one element.
  struct Element {
    std::vector<ir::Inst> sums;
    std::vector<Held> totals;
    Held has;  ///< whether some thread has added in the turn of this thread
  };
  ir::Inst loop;
  uint32_t width = 0;      ///< bits of the counter
  Id low = 0, turns = 0;   ///< the first index, and how many there are
  Id lane = 0, lanes = 0;  ///< the thread's number in its subgroup, and how many there are
  Id any = 0;              ///< whether one of them takes part
  Held filled;             ///< threads that hold a turn
  Held turn;               ///< the counter in the turn of this thread
  std::vector<Element> elements;
  std::vector<Held> carried;

  ir::Block Body(const ir::Function& function) const { return function[loop].regions[0]; }
  template <class Visit>
  void ForEachSum(Visit visit) {
    for (Element& element : elements) {
      for (size_t n = 0; n < element.sums.size(); ++n) visit(element.sums[n], element.totals[n]);
    }
  }
  template <class Visit>
  void ForEach(Visit visit) {
    visit(filled);
    visit(turn);
    for (Element& element : elements) {
      visit(element.has);
      for (Held& total : element.totals) visit(total);
    }
    for (Held& value : carried) visit(value);
  }
};

/// Threads of a team are not in step, in the other form of the code.
bool BodyEmitter::HoldsTurns(ir::Inst loop) const {
  return active_ != 0 && CanHoldTurns(loop);
}

bool BodyEmitter::CanHoldTurns(ir::Inst loop) const {
  if (!IsInStep() || !kernel_->in_step.Has(loop) || m_.IsForTranslators() ||
      kernel_->environment.entry.addressing == Addressing::Metal)
    return false;
  std::vector<ir::Inst> sums = TurnCellsOf(function_, loop).sums;
  // Where the device has an instruction for an update, holding alone takes as long as it saves.
  bool merges = CopiesOf(loop) != 1;
  return !sums.empty() && std::ranges::all_of(sums, [&](ir::Inst sum) {
    ir::Scalar scalar = function_.TypeOf(function_.AccessValues(sum)[0]).scalar;
    bool exchanges = WayOf(ir::Op::AtomicAdd, scalar, false, kernel_->environment.entry.context.ability) ==
                     AtomicWay::Loop;
    return (exchanges || merges) && kernel_->in_step.Has(sum) && kernel_->in_step.IntoOneCell(sum);
  });
}

/// How many turns of a loop stand one after the other.
uint32_t BodyEmitter::CopiesOf(ir::Inst loop) const {
  constexpr uint32_t kMost = 8, kMostInstructions = 512;
  if (!changes_.Get(loop).empty()) return 1;
  const std::vector<ir::Inst>& insts = function_[function_[loop].regions[0]].insts;
  bool fits = std::ranges::all_of(insts, [&](ir::Inst inst) {
    if (IsOfTurn(function_, inst))
      return SumEmitter::CanExchange(function_.TypeOf(function_.AccessValues(inst)[0]).scalar);
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
void BodyEmitter::CountThreads(HeldTurns& held) {
  m_.AddCapability(spv::CapabilityGroupNonUniform);
  m_.AddCapability(spv::CapabilityGroupNonUniformArithmetic);
  auto count = [&](spv::GroupOperation how) {
    return f_.Emit(spv::OpGroupNonUniformIAdd, m_.IntType(32),
                   {f_.Int(32, spv::ScopeSubgroup), static_cast<uint32_t>(how), f_.Int(32, 1)});
  };
  held.lane = count(spv::GroupOperationExclusiveScan);
  held.lanes = count(spv::GroupOperationReduce);
}

/// Whether the subgroup is whole, and has at least `copies` threads.
Id BodyEmitter::MayExchange(const HeldTurns& held, uint32_t copies) {
  Environment& environment = kernel_->environment;
  auto both = [&](Id a, Id b) { return f_.Emit(spv::OpLogicalAnd, m_.BoolType(), {a, b}); };
  Id in_order = f_.Compare(spv::OpIEqual, held.lane, environment.invocations.PlaceInSubgroup());
  Id whole = f_.Compare(spv::OpIEqual, held.lanes, environment.invocations.SubgroupSize());
  Id enough = f_.Compare(spv::OpUGreaterThanEqual, held.lanes, f_.Int(32, copies));
  return kernel_->sums.AllOf(both(in_order, both(whole, enough)));
}

void BodyEmitter::FindElements(HeldTurns& held) {
  ir::Block body = held.Body(function_);
  const std::vector<ir::Inst>& insts = function_[body].insts;
  for (uint32_t position = 0; position < insts.size(); ++position) {
    if (!IsOfTurn(function_, insts[position])) continue;
    HeldTurns::Element& element = held.elements.emplace_back();
    element.sums = SumsFrom(body, position, static_cast<uint32_t>(insts.size()));
    element.has = {m_.BoolType(), m_.ConstantBool(false), {}};
    for (ir::Inst sum : element.sums) {
      Id type = TypeOf(function_.AccessValues(sum)[0]);
      element.totals.push_back({type, m_.ConstantNull(type), {}});
    }
    position += static_cast<uint32_t>(element.sums.size()) - 1;
  }
}

/// The loop's counter in turn `number`.
Id BodyEmitter::CounterAt(const HeldTurns& held, Id number) {
  if (function_[held.loop].Has(ir::Word::Reversed))
    number = f_.Sub(held.width, f_.Sub(held.width, held.turns, f_.Int(held.width, 1)), number);
  auto step = static_cast<uint64_t>(*function_.IntegerConstant(function_.Operand(held.loop, 2)));
  return f_.Add(held.width, held.low, f_.Mul(held.width, number, f_.Int(held.width, step)));
}

void BodyEmitter::EmitForByTurns(ir::Inst loop) {
  std::vector<Id> starts;
  for (uint32_t n = 0; n < function_[loop].result_count; ++n)
    starts.push_back(values_.Get(function_.Operand(loop, 3 + n)));
  std::vector<Id> carried = EmitByTurns(loop, starts);
  for (uint32_t n = 0; n < carried.size(); ++n) values_.Bind(function_.Result(loop, n), carried[n]);
}

/// The turns of a loop, or this share's of them. `starts`: the values with which they begin. Gives the values
/// that they carry.
std::vector<Id> BodyEmitter::EmitByTurns(ir::Inst loop, std::span<const Id> starts) {
  const std::vector<ir::Value>& params = function_[function_[loop].regions[0]].params;
  HeldTurns held;
  held.loop = loop;
  held.width = ir::BitWidth(function_.TypeOf(function_.Operand(loop, 0)).scalar);
  held.low = values_.Get(function_.Operand(loop, 0));
  held.turns = TripsOf(loop);
  CountThreads(held);
  Id type = m_.IntType(held.width), word = m_.IntType(32), zero = f_.Int(held.width, 0);
  held.filled = {word, f_.Int(32, 0), {}};
  held.turn = {type, zero, {}};
  FindElements(held);
  for (uint32_t n = 0; n < starts.size(); ++n) held.carried.push_back({TypeOf(params[n + 1]), starts[n], {}});
  uint32_t copies = CopiesOf(loop), count = shares_ != nullptr ? shares_->count : 1;
  auto number = [&](uint32_t value) { return f_.Int(held.width, value); };
  Id first = zero;
  if (copies != 1) {
    uint32_t neighbours = shares_ != nullptr ? shares_->lanes : copies;
    Id rounds = f_.Div(held.width, held.turns, number(neighbours * count));
    Id whole = f_.Mul(held.width, rounds, number(neighbours));
    first = f_.Choose(type, MayExchange(held, copies), whole, zero);
    held.any = kernel_->sums.AnyOf(active_);
    EmitRounds(held, zero, first, copies);
  }
  Id most = f_.Div(held.width, f_.Add(held.width, held.turns, number(count - 1)), number(count));
  EmitRounds(held, first, most, 1);
  FlushTurns(held, f_.Compare(spv::OpULessThan, held.lane, held.filled.now));
  std::vector<Id> carried;
  for (const Held& value : held.carried) carried.push_back(value.now);
  return carried;
}

/// The turn of the loop that is turn `number` of a share: of its turns in rounds, or of all, one by one.
Id BodyEmitter::TurnOf(const HeldTurns& held, Id number, uint32_t copies) {
  if (shares_ == nullptr) return number;
  uint32_t width = held.width, lanes = shares_->lanes;
  Id share = f_.Resize(shares_->number, 32, width, false);
  if (copies == 1) return f_.Add(width, f_.Mul(width, number, f_.Int(width, shares_->count)), share);
  Id before = f_.And(width, number, f_.Int(width, ~uint64_t{lanes - 1}));
  Id others = f_.Add(width, f_.Mul(width, before, f_.Int(width, shares_->count - 1)),
                     f_.Mul(width, share, f_.Int(width, lanes)));
  return f_.Add(width, number, others);
}

/// The turns from `first` up to `end`, `copies` in each round; those of a share, as it counts them.
void BodyEmitter::EmitRounds(HeldTurns& held, Id first, Id end, uint32_t copies) {
  LoopLabels loop = f_.BeginLoop();
  OpenPhi number = f_.LoopPhi(loop, m_.IntType(held.width), first);
  held.ForEach([&](Held& value) {
    value.phi = f_.LoopPhi(loop, value.type, value.now);
    value.now = value.phi.id;
  });
  std::vector<OpenPhi> open = OpenStates(held.loop, loop);
  f_.EndHeader(loop, f_.Compare(spv::OpULessThan, number.id, end));
  Id turn = TurnOf(held, number.id, copies);
  if (copies == 1) {
    EmitOneTurn(held, turn);
  } else {
    EmitCopies(held, turn, copies);
  }
  Id filled = f_.Add(32, held.filled.now, f_.Int(32, copies));
  Id full = f_.Compare(spv::OpIEqual, filled, held.lanes);
  FlushTurns(held, full);
  held.filled.now = f_.Choose(m_.IntType(32), full, f_.Int(32, 0), filled);
  f_.BeginNext(loop);
  f_.Close(loop, number, f_.Add(held.width, number.id, f_.Int(held.width, copies)));
  held.ForEach([&](Held& value) {
    f_.Close(loop, value.phi, value.now);
    value.now = value.phi.id;  // the value with which the loop leaves
  });
  CloseStates(held.loop, loop, open);
  f_.EndLoop(loop);
}

void BodyEmitter::EmitOneTurn(HeldTurns& held, Id number) {
  ir::Block body = held.Body(function_);
  const std::vector<ir::Value>& params = function_[body].params;
  Id counter = CounterAt(held, number);
  values_.Bind(params[0], counter);
  for (uint32_t n = 0; n < held.carried.size(); ++n) values_.Bind(params[n + 1], held.carried[n].now);
  Id active = active_;
  if (shares_ != nullptr)
    active_ =
        f_.Emit(spv::OpLogicalAnd, m_.BoolType(), {active, f_.Compare(spv::OpULessThan, number, held.turns)});
  HeldTurns* around = std::exchange(held_, &held);
  EmitBlock(body);
  held_ = around;
  std::vector<Id> yielded = Yielded(body);
  for (uint32_t n = 0; n < held.carried.size(); ++n) {
    Held& value = held.carried[n];
    // A share whose turn is not there keeps what it has.
    value.now = shares_ != nullptr ? f_.Choose(value.type, active_, yielded[n], value.now) : yielded[n];
  }
  active_ = active;
  Id mine = f_.Compare(spv::OpIEqual, held.lane, held.filled.now);
  held.turn.now = f_.Choose(held.turn.type, mine, counter, held.turn.now);
}

void BodyEmitter::HoldSums(std::span<const ir::Inst> sums) {
  auto element =
      std::ranges::find_if(held_->elements, [&](const auto& held) { return held.sums[0] == sums[0]; });
  Id mine = f_.Compare(spv::OpIEqual, held_->lane, held_->filled.now);
  for (size_t n = 0; n < sums.size(); ++n) {
    Held& held = element->totals[n];
    held.now = f_.Choose(held.type, mine, kernel_->sums.TotalOf(sums[n], active_), held.now);
  }
  element->has.now = f_.Choose(m_.BoolType(), mine, kernel_->sums.AnyOf(active_), element->has.now);
}

/// Turns one after the other: their loads do not wait for one another.
void BodyEmitter::EmitCopies(HeldTurns& held, Id number, uint32_t copies) {
  // Of each sum what the turns add; threads that do not take part add nothing.
  std::vector<std::vector<Id>> runs;
  std::vector<Id> carried;
  for (const Held& value : held.carried) carried.push_back(value.now);
  Id active = std::exchange(active_, 0), some = m_.NewId(), all = m_.NewId(), before = f_.Block();
  f_.Select(active, some, all, all);
  f_.Start(some);
  for (uint32_t copy = 0; copy < copies; ++copy)
    EmitCopy(held, f_.Add(held.width, number, f_.Int(held.width, copy)), runs, carried);
  Id end = f_.Block();
  f_.Branch(all);
  f_.Start(all);
  active_ = active;
  for (uint32_t n = 0; n < carried.size(); ++n)
    held.carried[n].now = f_.Phi(held.carried[n].type, carried[n], end, held.carried[n].now, before);
  std::vector<ir::Scalar> scalars;
  held.ForEachSum([&](ir::Inst sum, Held& total) {
    std::vector<Id>& own = runs[scalars.size()];
    scalars.push_back(function_.TypeOf(function_.AccessValues(sum)[0]).scalar);
    Id nothing = scalars_.Constant(scalars.back(), StartOf(ir::Reduction::Add, scalars.back()));
    for (Id& value : own) value = f_.Phi(total.type, value, end, nothing, before);
  });
  Id place = f_.And(32, held.lane, f_.Int(32, copies - 1));
  Id mine = f_.Compare(spv::OpULessThan, f_.Sub(32, held.lane, held.filled.now), f_.Int(32, copies));
  Id counter = CounterAt(held, f_.Add(held.width, number, f_.Resize(place, 32, held.width, false)));
  held.turn.now = f_.Choose(held.turn.type, mine, counter, held.turn.now);
  size_t n = 0;
  held.ForEachSum([&](ir::Inst, Held& total) {
    Id of_turn = kernel_->sums.TotalOfRuns(scalars[n], runs[n], held.lane,
                                           kernel_->environment.invocations.SubgroupSize());
    total.now = f_.Choose(total.type, mine, of_turn, total.now);
    ++n;
  });
  for (HeldTurns::Element& element : held.elements)
    element.has.now = f_.Choose(m_.BoolType(), mine, held.any, element.has.now);
}

/// One of them: adds to `runs`, and changes `carried`.
void BodyEmitter::EmitCopy(HeldTurns& held, Id number, std::vector<std::vector<Id>>& runs,
                           std::vector<Id>& carried) {
  ir::Block body = held.Body(function_);
  const std::vector<ir::Value>& params = function_[body].params;
  values_.Bind(params[0], CounterAt(held, number));
  for (uint32_t n = 0; n < carried.size(); ++n) values_.Bind(params[n + 1], carried[n]);
  for (ir::Inst inst : function_[body].insts) {
    if (!IsOfTurn(function_, inst) && !ir::IsTerminator(function_[inst].op)) EmitInst(inst);
  }
  size_t n = 0;
  held.ForEachSum([&](ir::Inst sum, Held&) {
    if (runs.size() == n) runs.emplace_back();
    runs[n++].push_back(kernel_->sums.ValueOf(sum));
  });
  carried = Yielded(body);
}

/// Threads with `may` update the cells of which they hold a total.
void BodyEmitter::FlushTurns(HeldTurns& held, Id may) {
  ir::Value counter = function_[held.Body(function_)].params[0];
  auto begin = [&](Id condition) {
    Id yes = m_.NewId(), join = m_.NewId();
    f_.Select(condition, yes, join, join);
    f_.Start(yes);
    return join;
  };
  auto end = [&](Id join) {
    f_.Branch(join);
    f_.Start(join);
  };
  Id join = begin(may);
  values_.Bind(counter, held.turn.now);
  std::vector<ir::Inst> sums;
  for (const HeldTurns::Element& element : held.elements)
    sums.insert(sums.end(), element.sums.begin(), element.sums.end());
  for (ir::Inst inst : SliceOf(function_, held.loop, sums)) EmitInst(inst);
  for (const HeldTurns::Element& element : held.elements) {
    Id one = begin(element.has.now);
    for (size_t n = 0; n < element.sums.size(); ++n)
      kernel_->memory.EmitAtomic(element.sums[n], ir::Op::AtomicAdd, element.totals[n].now);
    end(one);
  }
  end(join);
}

}  // namespace adc::codegen::spirv
