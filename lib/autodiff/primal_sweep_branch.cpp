// A branch whose results are needed runs forward in the primal sweep, and its own unit will be reversed
// later, inside a branch of the adjoint sweep. So that it is not computed twice, the forward branch is
// *widened*: its own primal sweep is emitted along with it, and the values that the adjoint sweep will read
// are handed out as further results (zero on the side that was not taken; results of the two sides share a
// place where their types agree):
//
//   %v = if %c { %e = exp %x  %f = mul %e, %y  yield %f } ...
//     =>  %v, %e = if %c { ... yield %f, %e } else { yield ..., 0.0 }
//
// A value that a few operations make again from memory and from available values is not handed out. Widening
// goes through a bounded number of branches inside each other, so that the size of the output stays linear in
// that of the input.

#include <algorithm>

#include "autodiff/primal_sweep.h"

namespace adc::autodiff {

using ir::Block, ir::Inst, ir::Op, ir::Type, ir::Value;

namespace {

/// Operations and loads that making a value again may take, rather than handing it out of its branch.
constexpr uint32_t kRecomputeLimit = 8;
/// Branches inside each other that hand values out; deeper ones compute them again.
constexpr uint32_t kWidenedLevels = 8;
constexpr uint32_t kTooDear = UINT32_MAX;

}  // namespace

bool PrimalSweep::Widens(Inst branch, const Mode& mode) const {
  if (!mode.own_unit || !plan_.RunsForward(branch)) return false;
  if (!work_.Has(branch) && !plan_.WritesReplayedArray(branch)) return false;
  // An array's stores are taken back one by one only if the branch's primal sweep ran here.
  return mode.widened < kWidenedLevels || plan_.WritesReplayedArray(branch);
}

void PrimalSweep::CollectExports(Block unit, const Mode& mode, std::vector<uint32_t>& keys) const {
  for (Inst inst : tree_.InstsOf(unit)) {
    const ir::InstData& data = primal_[inst];
    for (uint32_t n = 0; n < data.result_count; ++n) {
      Value v = primal_.Result(inst, n);
      if (plan_.Direct(v) && plan_.ToBeRecorded(v) && !primal_.TypeOf(v).IsArray()) keys.push_back(v.raw);
    }
    if (!ir::HasRegions(data.op) && plan_.WritesReplayedArray(inst)) keys.push_back(AuxKey(inst));
    if (data.op == Op::While && (work_.Has(inst) || plan_.WritesReplayedArray(inst)))
      keys.push_back(AuxKey(inst));
    if (data.op == Op::If && Widens(inst, mode)) {
      Mode inner = mode;
      ++inner.widened;
      CollectExports(data.regions[0], inner, keys);
      CollectExports(data.regions[1], inner, keys);
    }
  }
}

uint32_t PrimalSweep::RecomputeCost(Value v, Inst branch, const std::unordered_set<uint32_t>& handed_out,
                                    uint32_t limit) const {
  Inst inst = primal_.DefiningInst(v);
  if (!inst.Valid() || limit == 0) return kTooDear;
  Inst store = plan_.LastingStoreOf(v);
  Op op = primal_[inst].op;
  bool cheap = op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Neg || op == Op::Select ||
               op == Op::Min || op == Op::Max || op == Op::Cast || op == Op::And || op == Op::Or ||
               op == Op::Not || ir::IsCompare(op) || Reloadable(inst) || store.Valid();
  if (!cheap) return kTooDear;
  uint32_t cost = 1;
  for (Value operand : store.Valid() ? primal_.Indices(store) : primal_.Operands(inst)) {
    if (!tree_.Inside(operand, branch)) {
      if (!IsAvailable(operand)) return kTooDear;
      continue;
    }
    if (handed_out.contains(operand.raw)) continue;
    uint32_t more = RecomputeCost(operand, branch, handed_out, limit - cost);
    if (more > limit - cost) return kTooDear;
    cost += more;
  }
  return cost;
}

void PrimalSweep::HoistStorage(Block unit, const Mode& mode) {
  for (Inst inst : tree_.InstsOf(unit)) {
    const ir::InstData& data = primal_[inst];
    if (data.op == Op::Alloca && plan_.ToBeRecorded(primal_.Result(inst))) {
      builder_.SetSpan(data.span);
      Recompute(inst);
    } else if (IsSerialLoop(data.op) && plan_.RunsForward(inst)) {
      MakeTape(inst);
    } else if (data.op == Op::If && Widens(inst, mode)) {
      Mode inner = mode;
      ++inner.widened;
      HoistStorage(data.regions[0], inner);
      HoistStorage(data.regions[1], inner);
    }
  }
}

PrimalSweep::HandedOut PrimalSweep::PlanHandedOut(Inst branch, const Mode& inner,
                                                  const std::vector<uint32_t>& wanted,
                                                  std::vector<Type>& types) const {
  const ir::InstData& data = primal_[branch];
  auto type_of = [&](uint32_t key) {
    if (key < primal_.ValueCount()) return primal_.TypeOf(Value(key));
    Inst source{static_cast<uint32_t>(key - primal_.ValueCount())};
    return primal_[source].op == Op::While ? ir::kI32 : primal_.TypeOf(primal_.AccessValues(source)[0]);
  };
  // Places of the first side that the second may share, by type.
  std::vector<std::pair<Type, std::vector<uint32_t>>> free_places;
  auto places_of = [&](Type type) -> std::vector<uint32_t>& {
    for (auto& [known, places] : free_places)
      if (known == type) return places;
    free_places.emplace_back(type, std::vector<uint32_t>());
    return free_places.back().second;
  };
  HandedOut out;
  for (uint32_t side = 0; side < 2; ++side) {
    out.keys[side] = KeysToHandOut(data.regions[side], branch, inner);
    if (side == 1)
      for (auto& [type, places] : free_places) std::reverse(places.begin(), places.end());
    for (uint32_t key : out.keys[side]) {
      // A value that the branch yields anyway is not handed out twice.
      size_t same = 0;
      while (same < wanted.size() &&
             primal_.Operand(primal_.Terminator(data.regions[side]), wanted[same]).raw != key)
        ++same;
      if (same < wanted.size()) {
        out.results[side].push_back(static_cast<uint32_t>(same));
        continue;
      }
      std::vector<uint32_t>& places = places_of(type_of(key));
      auto place = static_cast<uint32_t>(types.size());
      if (side == 1 && !places.empty()) {
        place = places.back();
        places.pop_back();
      } else {
        types.push_back(type_of(key));
        if (side == 0) places.push_back(place);
      }
      out.results[side].push_back(place);
    }
  }
  return out;
}

std::vector<uint32_t> PrimalSweep::KeysToHandOut(Block side, Inst branch, const Mode& inner) const {
  std::vector<uint32_t> candidates, keys;
  CollectExports(side, inner, candidates);
  std::unordered_set<uint32_t> handed_out;
  for (uint32_t key : candidates) {
    bool is_value = key < primal_.ValueCount();
    if (is_value && RecomputeCost(Value(key), branch, handed_out, kRecomputeLimit) <= kRecomputeLimit)
      continue;
    handed_out.insert(key);
    keys.push_back(key);
  }
  return keys;
}

void PrimalSweep::EmitIf(Inst inst, const Mode& mode) {
  bool widen = Widens(inst, mode);
  bool as_root = mode.own_unit && plan_.RunsForward(inst);
  Mode inner;
  inner.own_unit = widen;
  inner.roots = mode.roots;
  inner.widened = mode.widened + 1;
  if (as_root) inner.roots.push_back(inst);
  if (widen) widened_.Insert(inst);

  const ir::InstData data = primal_[inst];
  std::vector<uint32_t> wanted;
  std::vector<Type> types;
  for (uint32_t n = 0; n < data.result_count; ++n) {
    if (!Wanted(mode, primal_.Result(inst, n)) || IsReread(mode, primal_.Result(inst, n))) continue;
    wanted.push_back(n);
    types.push_back(primal_.TypeOf(primal_.Result(inst, n)));
  }
  if (widen && mode.widened == 0) {
    for (Block region : data.regions) HoistStorage(region, inner);
  }
  HandedOut out;
  if (widen) out = PlanHandedOut(inst, inner, wanted, types);

  Value condition = At(primal_.Operand(inst, 0));
  Inst branch = builder_.If(condition, types);
  Block outer = builder_.block();
  for (uint32_t side = 0; side < 2; ++side) {
    Block region = data.regions[side];
    builder_.SetBlock(built_[branch].regions[side]);
    size_t mark = values_.Mark();
    Emit(primal_[region].insts, inner);
    std::vector<Value> yields;
    for (uint32_t n : wanted) yields.push_back(At(primal_.Operand(primal_.Terminator(region), n)));
    yields.resize(types.size());
    for (size_t n = 0; n < out.keys[side].size(); ++n) {
      uint32_t key = out.keys[side][n];
      Value v = key < primal_.ValueCount() ? At(Value(key)) : values_.Get(key);
      if (!v.Valid()) v = Unavailable(data.span, "a value", types[out.results[side][n]]);
      yields[out.results[side][n]] = v;
    }
    for (size_t n = 0; n < yields.size(); ++n)
      // A constant is a scalar; a value that is handed out may be an operand of a call, a vector.
      if (!yields[n].Valid())
        yields[n] = Assemble(types[n],
                             std::vector<Value>(types[n].Components(), builder_.Zero(types[n].ScalarType())));
    builder_.SetSpan(data.span);
    builder_.Yield(yields);
    values_.Rollback(mark);
  }
  builder_.SetBlock(outer);
  for (uint32_t n = 0; n < wanted.size(); ++n)
    Bind(primal_.Result(inst, wanted[n]), built_.Result(branch, n));
  for (uint32_t side = 0; side < 2; ++side) {
    for (size_t n = 0; n < out.keys[side].size(); ++n) {
      uint32_t key = out.keys[side][n];
      Value result = built_.Result(branch, out.results[side][n]);
      values_.Set(key, result);
      if (key < primal_.ValueCount()) names_.Name(result, "", primal_, Value(key));
    }
  }
}

}  // namespace adc::autodiff
