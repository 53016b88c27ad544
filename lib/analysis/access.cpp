// When do two accesses meet in one cell?
//
// An index is a polynomial (affine.h). Between two iterations of a loop, its terms fall into four groups:
// *uniform* terms, of values from outside of the loop, which are the same in both; terms in the loop's own
// indices, which differ; terms in indices of loops further in, which are free but bounded; and the rest, of
// which nothing is known. Two accesses with equal uniform terms and nothing unknown differ only by the digits
// of a mixed-radix number (digits.h). If the digits of all indices of the loop can be read back from the axes
// of the access, different iterations touch different cells.
//
// Indices wrap, and a number that went once round is in range again: i * 2^30 is 0 for every fourth i. The
// conclusion then depends on the iterations that execute the accesses: all of them, or those that a gate lets
// through (GateOf).

#include "analysis/access.h"

#include <algorithm>
#include <cstdlib>

#include "analysis/digits.h"
#include "analysis/loops.h"
#include "ir/module.h"

namespace adc::analysis {

using ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

bool IsNonzero(int64_t value, uint32_t bits) {
  return bits >= 63 ? value != 0 : (value & ((int64_t{1} << bits) - 1)) != 0;
}

}  // namespace

struct AccessFacts::Parts {
  AffineForm uniform;        ///< terms that are the same in every iteration; no constant
  std::vector<Digit> own;    ///< of the loop's indices, one each
  std::vector<Digit> inner;  ///< of loops further in
};

AccessFacts::AccessFacts(const ir::Module& module, const Function& function, IndexWidths widths)
    : module_(&module),
      function_(&function),
      structure_(function),
      memory_(structure_),
      forms_(function, widths),
      quotients_(forms_) {
  if (function.IsKernel()) tasks_ = TasksOf(function);
}

uint32_t AccessFacts::TaskOf(Inst inst) const {
  const Function& f = *function_;
  uint32_t position = structure_.Position(inst);
  const std::vector<Inst>& body = f[f.Body()].insts;
  auto after = std::partition_point(tasks_.begin(), tasks_.end(), [&](const Task& task) {
    return structure_.End(body[task.last - 1]) <= position;
  });
  if (after == tasks_.end() || structure_.Position(body[after->first]) > position) return ir::kNoAttr;
  return static_cast<uint32_t>(after - tasks_.begin());
}

Value AccessFacts::EndBehindGuard(Value lo, Value hi) {
  const Function& f = *function_;
  for (;;) {
    Inst inst = f.DefiningInst(hi);
    if (!inst.Valid() || f[inst].op != Op::Select) return hi;
    Value taken = f.Operand(inst, 1), other = f.Operand(inst, 2);
    if (forms_.Of(taken) == forms_.Of(lo) && forms_.IsNarrow(taken) == forms_.IsNarrow(lo)) {
      hi = other;
    } else if (forms_.Of(other) == forms_.Of(lo) && forms_.IsNarrow(other) == forms_.IsNarrow(lo)) {
      hi = taken;
    } else {
      return hi;
    }
  }
}

Value AccessFacts::Unwidened(Value index) const {
  const Function& f = *function_;
  for (;;) {
    Inst inst = f.DefiningInst(index);
    if (!inst.Valid() || f[inst].op != Op::Cast) return index;
    Value from = f.Operand(inst, 0);
    if (!f.TypeOf(from).IsIndex() || forms_.BitsOf(from) > forms_.BitsOf(index)) return index;
    index = from;
  }
}

bool AccessFacts::IsUniform(const AffineTerm& term, Inst loop) const {
  return std::ranges::all_of(term.monomial.Atoms(),
                             [&](Value atom) { return structure_.DefinedOutside(atom, loop); });
}

IndexWord AccessFacts::CommonWord(Value index_a, Value index_b) {
  const IndexWidths& widths = forms_.widths();
  // An index of 64 bits that is widened from one of 32 says no more than the narrow one.
  Value a = Unwidened(index_a), b = Unwidened(index_b);
  bool narrow_a = forms_.BitsOf(a) == widths.narrow, narrow_b = forms_.BitsOf(b) == widths.narrow;
  bool loose_a = forms_.IsNarrow(a), loose_b = forms_.IsNarrow(b);
  if (narrow_a && narrow_b) return {widths.narrow, true};
  if (!loose_a && !loose_b) return {widths.wide, true};
  // 32 bits that wrapped, and then arithmetic of 64 with what came out.
  return {widths.narrow, false};
}

Relation AccessFacts::SameIteration(Inst a, Inst b) {
  const Function& f = *function_;
  uint32_t class_a = memory_.ClassOf(a), class_b = memory_.ClassOf(b);
  if (class_a == kNoClass || class_a != class_b) return Relation::Distinct;
  if (f.Operand(a, 0) != f.Operand(b, 0) || f[a].attr != f[b].attr) return Relation::Unknown;
  if (f[a].component != f[b].component && f[a].component != ir::kNoAttr && f[b].component != ir::kNoAttr)
    return Relation::Distinct;
  std::span<const Value> indices_a = f.Indices(a), indices_b = f.Indices(b);
  bool same = f[a].component == f[b].component;
  for (size_t axis = 0; axis < indices_a.size(); ++axis) {
    if (indices_a[axis] == indices_b[axis]) continue;
    std::optional<AffineForm> difference = Add(forms_.Of(indices_a[axis]), forms_.Of(indices_b[axis]), -1);
    IndexWord word = CommonWord(indices_a[axis], indices_b[axis]);
    if (!difference || !difference->IsConstant()) {
      same = false;
    } else if (IsNonzero(difference->constant, word.bits)) {
      return Relation::Distinct;
    } else {
      same = same && word.whole && difference->constant == 0;
    }
  }
  return same ? Relation::Same : Relation::Unknown;
}

void AccessFacts::BoundByConstant(Digit& digit, int64_t count) const {
  digit.extent = {count, {}};
  digit.exact = digit.congruent = digit.contiguous = true;
  digit.most = std::max<int64_t>(count, 0);
}

bool AccessFacts::IsExact(Value v) {
  return !forms_.IsNarrow(v) && MagnitudeOf(forms_.Of(v), forms_) <= Wide{1} << (forms_.widths().wide - 1);
}

/// No more than `v`, which is no more than `most`, ever is: a quotient by a constant is smaller.
Wide AccessFacts::MostOf(Value v, Wide most) const {
  const Function& f = *function_;
  Inst made = f.DefiningInst(v);
  bool divides =
      made.Valid() && (f[made].op == Op::CeilDiv || f[made].op == Op::Div) && forms_.BitsOf(v) == 32;
  std::optional<int64_t> divisor = divides ? f.IntegerConstant(f.Operand(made, 1)) : std::nullopt;
  return divisor && *divisor > 0 ? (most + *divisor - 1) / *divisor : most;
}

bool AccessFacts::BoundDigit(Inst loop, uint32_t word_bits, Digit& digit) {
  const Function& f = *function_;
  Inst owner = LoopOfIndex(f, digit.index);
  uint32_t number = f[digit.index].number;
  if (!owner.Valid()) return false;
  digit.bits = forms_.BitsOf(digit.index);
  if (f[owner].op == Op::ParallelOver) {
    BoundByConstant(digit, CellsAlong(*module_, f, owner, number));
    return true;
  }
  Value lo = f.Operand(owner, 2 * number), hi = f.Operand(owner, 2 * number + 1);
  if (!structure_.DefinedOutside(lo, loop) || !structure_.DefinedOutside(hi, loop)) return false;
  hi = EndBehindGuard(lo, hi);
  digit.lo = forms_.Of(lo);
  std::optional<AffineForm> extent = Add(forms_.Of(hi), digit.lo, -1);
  if (!extent) return false;
  digit.extent = std::move(*extent);
  bool is_wide = digit.bits == forms_.widths().wide;
  bool agrees = !is_wide || (!forms_.IsNarrow(lo) && !forms_.IsNarrow(hi));  // modulo its own bits
  digit.exact = IsExact(lo) && IsExact(hi);
  Wide half = Wide{1} << (digit.bits - 1);
  bool is_known =
      digit.extent.IsConstant() && agrees && digit.extent.constant >= 1 && digit.extent.constant < 2 * half;
  digit.exact = digit.exact || is_known;
  digit.congruent = digit.exact || (agrees && digit.bits == word_bits);
  digit.contiguous = f[owner].op == Op::Parallel || f.IntegerConstant(f.Operand(owner, 2)) == 1;
  bool from_zero = digit.lo.IsConstant() && digit.lo.constant >= 0 && !forms_.IsNarrow(lo);
  digit.most = is_known ? Wide{digit.extent.constant} : from_zero ? MostOf(hi, half - 1) : 2 * half - 1;
  return true;
}

bool AccessFacts::TakeApart(Inst loop, uint32_t word_bits, std::span<const Value> own, const AffineForm& form,
                            Parts& parts) {
  for (const AffineTerm& term : form.terms) {
    Value moving;
    for (Value atom : term.monomial.Atoms()) {
      if (structure_.DefinedOutside(atom, loop)) continue;
      if (moving.Valid()) return false;
      moving = atom;
    }
    if (!moving.Valid()) {
      parts.uniform.terms.push_back(term);
      continue;
    }
    AffineForm stride = CoefficientOf(term, moving);
    bool is_own = std::find(own.begin(), own.end(), moving) != own.end();
    std::vector<Digit>& digits = is_own ? parts.own : parts.inner;
    auto known =
        std::find_if(digits.begin(), digits.end(), [&](const Digit& d) { return d.index == moving; });
    if (known != digits.end()) {
      std::optional<AffineForm> sum = Add(known->stride, stride);
      if (!sum) return false;
      known->stride = std::move(*sum);
      continue;
    }
    Digit digit;
    digit.index = moving;
    digit.stride = std::move(stride);
    if (!BoundDigit(loop, word_bits, digit)) return false;
    digits.push_back(std::move(digit));
  }
  return true;
}

namespace {

/// Makes `twin`, of a, stand for `digit`, of b, too. False where they cannot be compared.
bool Merge(Digit& twin, const Digit& digit, Difference& difference) {
  twin.in_b = true;
  if (twin.index == digit.index) return true;
  std::optional<AffineForm> wider = Add(digit.extent, twin.extent, -1);
  if (!wider || !wider->IsConstant()) return false;
  if (wider->constant != 0) {
    // Extents that may have wrapped compare as their polynomials do where neither fills half of the bits.
    Wide half = Wide{1} << (twin.bits - 1);
    bool exact = twin.exact && digit.exact;
    bool short_both = twin.congruent && digit.congruent && twin.most < half && digit.most < half &&
                      Wide{std::abs(wider->constant)} < half / 2;
    if (!exact && !short_both) return false;
    (wider->constant > 0 ? difference.a_holds_b : difference.b_holds_a) = false;
    if (wider->constant > 0) twin.extent = digit.extent;
  }
  twin.exact = twin.exact && digit.exact;
  twin.congruent = twin.congruent && digit.congruent;
  twin.contiguous = twin.contiguous && digit.contiguous;
  twin.most = std::max(twin.most, digit.most);
  return true;
}

/// The digits of two indices together: a digit of both once, with the larger range. Empty where they cannot
/// be compared.
template <class Parts>
std::optional<Difference> Together(const Parts& a, const Parts& b) {
  if (a.own.size() != b.own.size()) return std::nullopt;
  Difference difference;
  std::vector<Digit>& digits = difference.digits;
  digits = a.own;
  for (Digit& digit : digits) {
    auto other =
        std::find_if(b.own.begin(), b.own.end(), [&](const Digit& d) { return d.index == digit.index; });
    if (other == b.own.end() || !(other->stride == digit.stride)) return std::nullopt;
    digit.in_a = digit.in_b = true;
  }
  size_t first_inner = digits.size();
  digits.insert(digits.end(), a.inner.begin(), a.inner.end());
  for (size_t n = first_inner; n < digits.size(); ++n) digits[n].in_a = true;
  for (const Digit& digit : b.inner) {
    auto twin = std::find_if(
        digits.begin() + static_cast<std::ptrdiff_t>(first_inner), digits.end(), [&](const Digit& d) {
          return !d.in_b && d.bits == digit.bits && d.stride == digit.stride && d.lo == digit.lo;
        });
    if (twin == digits.end()) {
      digits.push_back(digit);
      digits.back().in_b = true;
      difference.a_holds_b = false;
    } else if (!Merge(*twin, digit, difference)) {
      return std::nullopt;
    }
  }
  for (Digit& digit : digits) {
    bool in_both = digit.in_a && digit.in_b;
    if (!digit.in_b) difference.b_holds_a = false;
    // A digit that one of the two does not have counts as zero there: zero must be one of its values.
    if (!in_both && !(digit.lo == AffineForm{})) return std::nullopt;
    if (!AllNegative(digit.stride)) continue;
    // Counted from its other end, the digit grows.
    if (!in_both) return std::nullopt;
    std::optional<AffineForm> positive = Add(AffineForm{}, digit.stride, -1);
    if (!positive) return std::nullopt;
    digit.stride = std::move(*positive);
  }
  return difference;
}

}  // namespace

/// Reads one axis. `decoded` gets the loop's indices that the axis determines, and every index of the loop
/// when the axis alone tells the two accesses apart.
void AccessFacts::Decode(Inst loop, Value index_a, Value index_b, const Gate& gate_a, const Gate& gate_b,
                         std::vector<Value>& decoded) {
  const Function& f = *function_;
  std::span<const Value> own = IndicesOf(f, loop);
  AffineForm form_a = forms_.Of(index_a), form_b = forms_.Of(index_b);
  IndexWord word = CommonWord(index_a, index_b);
  Parts a, b;
  if (!TakeApart(loop, word.bits, own, form_a, a) || !TakeApart(loop, word.bits, own, form_b, b)) return;
  if (!(a.uniform == b.uniform)) return;
  std::optional<Difference> difference = Together(a, b);
  if (!difference) return;
  if (__builtin_sub_overflow(form_a.constant, form_b.constant, &difference->constant)) return;
  // The access that holds the other one stands for both; a value that gates it must gate the other one too.
  Executed executed;
  if (difference->a_holds_b && gate_a.open && gate_a.IsPartOf(gate_b)) {
    executed = {true, gate_a.indices};
  } else if (difference->b_holds_a && gate_b.open && gate_b.IsPartOf(gate_a)) {
    executed = {true, gate_b.indices};
  } else if (gate_a.open && gate_b.open && gate_a.IsPartOf(gate_b) && gate_b.IsPartOf(gate_a)) {
    executed = {true, gate_a.indices};
  }
  for (Value found : EqualDigits(*difference, word, executed, own, forms_)) decoded.push_back(found);
}

bool AccessFacts::Gate::IsPartOf(const Gate& other) const {
  return std::all_of(branches.begin(), branches.end(), [&](const std::pair<Inst, uint32_t>& branch) {
    return std::find(other.branches.begin(), other.branches.end(), branch) != other.branches.end();
  });
}

void AccessFacts::CollectFixed(Inst loop, Value condition, bool holds, Gate& gate) const {
  const Function& f = *function_;
  Facts facts(f);
  facts.Add(condition, holds);
  for (const Fact& fact : facts.all()) {
    Inst inst = f.DefiningInst(fact.condition);
    if (!inst.Valid() || f[inst].op != (fact.truth ? Op::Eq : Op::Ne)) continue;
    Value left = f.Operand(inst, 0), right = f.Operand(inst, 1);
    if (structure_.DefinedOutside(left, loop)) std::swap(left, right);
    if (structure_.DefinedOutside(right, loop) && quotients_.IsCounted(left))
      gate.fixed.emplace_back(left, right);
  }
}

AccessFacts::Gate AccessFacts::GateOf(Inst loop, Inst access) {
  const Function& f = *function_;
  Gate gate;
  for (ir::Block block = f[access].parent; f[block].owner != loop; block = f[f[block].owner].parent) {
    Inst owner = f[block].owner;
    if (f[owner].op == Op::For && structure_.DefinedOutside(f.Operand(owner, 0), loop) &&
        structure_.DefinedOutside(f.Operand(owner, 1), loop))
      continue;
    uint32_t region = f[owner].regions[0] == block ? 0 : 1;
    bool interval = false;
    if (f[owner].op == Op::If) {
      std::vector<Order> orders;
      interval = CollectOrders(structure_, loop, f.Operand(owner, 0), region == 0, orders);
      for (const Order& order : orders) {
        interval = AddInterval(loop, order, gate) && interval;
        CollectZero(order, gate);
      }
      gate.orders.insert(gate.orders.end(), orders.begin(), orders.end());
      // A condition from outside lets all iterations through, or none.
      if (structure_.DefinedOutside(f.Operand(owner, 0), loop)) continue;
    }
    if (f[owner].op == Op::If) CollectFixed(loop, f.Operand(owner, 0), region == 0, gate);
    gate.open = gate.open && interval;
    gate.branches.emplace_back(owner, region);
  }
  return gate;
}

bool AccessFacts::RunsOnce(Inst loop, uint32_t axis) {
  const Function& f = *function_;
  if (f[loop].op == Op::ParallelOver) return CellsAlong(*module_, f, loop, axis) <= 1;
  Digit digit;
  digit.index = f[f[loop].regions[0]].params[axis];
  if (!BoundDigit(loop, forms_.BitsOf(digit.index), digit) || !digit.extent.IsConstant()) return false;
  return digit.congruent && (digit.extent.constant == 1 || digit.extent.constant == 0 ||
                             (digit.exact && digit.extent.constant < 0));
}

bool AccessFacts::TuplesDistinct(Inst loop, Inst a, Inst b) {
  const Function& f = *function_;
  if (f[loop].op == Op::While || !IsLoop(f[loop].op)) return false;
  std::vector<Value> decoded;
  Gate gate_a = GateOf(loop, a), gate_b = a == b ? gate_a : GateOf(loop, b);
  for (size_t axis = 0; axis < f.Indices(a).size(); ++axis)
    Decode(loop, f.Indices(a)[axis], f.Indices(b)[axis], gate_a, gate_b, decoded);
  std::span<const Value> own = IndicesOf(f, loop);
  DecodeTogether(loop, a, b, gate_a, gate_b, decoded);
  for (uint32_t n = 0; n < own.size(); ++n) {
    // An index that takes one value only cannot differ.
    if (std::find(decoded.begin(), decoded.end(), own[n]) == decoded.end() && !RunsOnce(loop, n))
      return false;
  }
  return true;
}

bool AccessFacts::MeetsElsewhere(Inst loop, Inst read, Inst write) {
  const Function& f = *function_;
  if (!IsParallel(f[loop].op) || !structure_.Contains(loop, read) || !structure_.Contains(loop, write))
    return false;
  if (!ir::IsAccess(f[write].op) || f.Operand(read, 0) != f.Operand(write, 0)) return false;
  if (f[read].attr != f[write].attr || f[read].component != f[write].component) return false;
  for (Inst access : {read, write}) {
    if (!GateOf(loop, access).open) return false;
    for (Inst around : structure_.Enclosing(access))
      if (around != loop && IsLoop(f[around].op)) return false;
  }
  std::span<const Value> own = f[f[loop].regions[0]].params;
  std::vector<int64_t> shifts(own.size(), 0);
  std::vector<bool> known(own.size(), false);
  for (size_t axis = 0; axis < f.Indices(read).size(); ++axis) {
    const AffineForm& form = forms_.Of(f.Indices(write)[axis]);
    std::optional<AffineForm> difference = Add(forms_.Of(f.Indices(read)[axis]), form, -1);
    if (!difference || !difference->IsConstant()) return false;
    // One index of the loop times a constant, and terms that are the same in all iterations.
    size_t moving = own.size();
    int64_t stride = 0;
    for (const AffineTerm& term : form.terms) {
      if (IsUniform(term, loop)) continue;
      auto index = std::find(own.begin(), own.end(), term.monomial.atoms[0]);
      if (term.monomial.degree != 1 || index == own.end() || moving != own.size()) return false;
      moving = static_cast<size_t>(index - own.begin());
      stride = term.coefficient;
    }
    if (moving == own.size()) {
      if (difference->constant != 0) return false;
      continue;
    }
    if (stride == 0 || difference->constant % stride != 0) return false;
    int64_t shift = difference->constant / stride;
    if (known[moving] && shifts[moving] != shift) return false;
    known[moving] = true;
    shifts[moving] = shift;
  }
  bool elsewhere = false;
  for (size_t n = 0; n < own.size(); ++n) {
    if (shifts[n] == 0) continue;
    elsewhere = true;
    Digit digit;
    digit.index = own[n];
    bool bounded = BoundDigit(loop, forms_.BitsOf(own[n]), digit);
    if (!bounded || digit.most <= Wide{std::abs(shifts[n])}) return false;
  }
  return elsewhere;
}

bool AccessFacts::IsPromised(Inst loop, Inst a, Inst b) const {
  const Function& f = *function_;
  Value base = f.Operand(a, 0);
  return IsParallel(f[loop].op) && f.IsParameter(base) && f.params[f[base].number].IsDisjoint() &&
         (WritesMemory(f[a].op) || WritesMemory(f[b].op));
}

bool AccessFacts::DistinctAcross(Inst loop, Inst a, Inst b) {
  const Function& f = *function_;
  uint32_t class_a = memory_.ClassOf(a), class_b = memory_.ClassOf(b);
  if (class_a == kNoClass || class_a != class_b) return true;
  if (f.Operand(a, 0) != f.Operand(b, 0) || f[a].attr != f[b].attr) return false;
  if (f[a].component != f[b].component && f[a].component != ir::kNoAttr && f[b].component != ir::kNoAttr)
    return true;
  // An array made inside the loop is a fresh one in every iteration.
  if (f.TypeOf(f.Operand(a, 0)).IsArray() && !structure_.DefinedOutside(f.Operand(a, 0), loop)) return true;
  return IsPromised(loop, a, b) || TuplesDistinct(loop, a, b);
}

bool AccessFacts::BehindLater(Inst loop, Inst read, Inst write) {
  const Function& f = *function_;
  if (f[loop].op != Op::For || f.Operand(read, 0) != f.Operand(write, 0) || f[read].attr != f[write].attr)
    return false;
  Value own = f[f[loop].regions[0]].params[0];
  int64_t step = f.IntegerConstant(f.Operand(loop, 2)).value_or(0);
  if (f[loop].Has(ir::Word::Reversed)) step = -step;
  for (size_t axis = 0; axis < f.Indices(read).size(); ++axis) {
    Value read_index = f.Indices(read)[axis], write_index = f.Indices(write)[axis];
    std::optional<AffineForm> ahead = Add(forms_.Of(write_index), forms_.Of(read_index), -1);
    if (!ahead || !ahead->IsConstant()) continue;
    // Equal terms, all of which are the same in every iteration but for the loop's own index.
    int64_t stride = 0;
    bool is_plain = true;
    for (const AffineTerm& term : forms_.Of(write_index).terms) {
      if (term.monomial.degree == 1 && term.monomial.atoms[0] == own) {
        stride = term.coefficient;
        continue;
      }
      is_plain = is_plain && IsUniform(term, loop);
    }
    // `ahead` is how far the write lies in front; each iteration moves it by `moves`. They meet where a
    // multiple of `moves` takes `ahead` to 0, or once round.
    int64_t moves = 0;
    if (!is_plain || __builtin_mul_overflow(stride, step, &moves) || moves == 0) continue;
    IndexWord word = CommonWord(write_index, read_index);
    std::optional<Wide> meeting = FirstMeeting(ahead->constant, moves, word.bits);
    Digit digit;
    digit.index = own;
    if (!BoundDigit(loop, word.bits, digit)) continue;
    Wide iterations = (digit.most + std::abs(step) - 1) / std::abs(step);
    if (!meeting || *meeting >= iterations) return true;
    // An access that every iteration executes is in range in every one, and moves by `moves` exactly.
    Wide half = Wide{1} << (word.bits - 1);
    Gate gate_read = GateOf(loop, read), gate_write = GateOf(loop, write);
    bool in_range = word.whole && (gate_read.Always() || gate_write.Always()) &&
                    Wide{std::abs(moves)} < half && Wide{std::abs(ahead->constant)} < half;
    bool meets = (ahead->constant < 0) == (moves > 0) && ahead->constant % moves == 0 && ahead->constant != 0;
    if (in_range && !meets) return true;
  }
  return false;
}

bool AccessFacts::MayOverwriteLater(Inst read, Inst write) {
  const Function& f = *function_;
  if (!ir::IsAccess(f[write].op)) {
    uint32_t memory_class = memory_.ClassOf(read);
    for (Inst other :
         memory_.IsWritten(memory_class) ? memory_.Writes(memory_class) : std::span<const Inst>())
      if (other == write) return true;
    return false;
  }
  if (memory_.ClassOf(read) != memory_.ClassOf(write) || memory_.ClassOf(read) == kNoClass) return false;
  if (f.IsKernel()) {
    uint32_t task_read = TaskOf(read), task_write = TaskOf(write);
    if (task_read != task_write) {
      if (task_write < task_read) return false;
      // Cells named by values of the whole kernel alone can be told apart in any iteration.
      if (SameIteration(read, write) != Relation::Distinct) return true;
      bool parts = f[read].component != ir::kNoAttr && f[write].component != ir::kNoAttr;
      if (parts && f[read].component != f[write].component) return false;
      for (std::span<const Value> indices : {f.Indices(read), f.Indices(write)}) {
        for (Value index : indices) {
          if (!forms_.Of(index).AllAtoms([&](Value atom) { return f.DefiningBlock(atom) == f.Body(); }))
            return true;
        }
      }
      return false;
    }
  }
  std::vector<Inst> around_read = structure_.Enclosing(read), around_write = structure_.Enclosing(write);
  bool exclusive = false;
  for (size_t n = 0; n < std::min(around_read.size(), around_write.size()); ++n) {
    if (around_read[n] != around_write[n]) break;
    Inst control = around_read[n];
    if (f[control].op == Op::If) {
      bool read_in_then = structure_.Contains(f[control].regions[0], read);
      bool write_in_then = structure_.Contains(f[control].regions[0], write);
      if (read_in_then != write_in_then) {
        exclusive = true;
        break;
      }
    } else if (IsLoop(f[control].op) && !DistinctAcross(control, read, write) &&
               !BehindLater(control, read, write)) {
      return true;
    }
  }
  if (exclusive || structure_.Position(write) < structure_.Position(read)) return false;
  return SameIteration(read, write) != Relation::Distinct;
}

bool AccessFacts::MayRace(Inst read, Inst write) {
  const Function& f = *function_;
  for (Inst around : structure_.Enclosing(read)) {
    if (!IsParallel(f[around].op)) continue;
    if (!structure_.Contains(around, write)) return false;
    if (!ir::IsAccess(f[write].op)) return MayOverwriteLater(read, write);
    return !DistinctAcross(around, read, write);
  }
  return false;
}

bool AccessFacts::InRange(Inst access, uint32_t axis) {
  const Function& f = *function_;
  Value base = f.Operand(access, 0);
  ir::Type type = f.TypeOf(base);
  Value index = Unwidened(f.Indices(access)[axis]);
  if (forms_.BitsOf(index) == forms_.widths().wide && forms_.IsNarrow(index)) return false;
  const AffineForm& form = forms_.Of(f.Indices(access)[axis]);
  // The range of the index over loops with constant bounds.
  int64_t low = form.constant, high = form.constant;
  for (const AffineTerm& term : form.terms) {
    Value atom = term.monomial.atoms[0];
    Inst owner = term.monomial.degree == 1 ? LoopOfIndex(f, atom) : Inst();
    if (!owner.Valid()) return false;
    uint32_t number = f[atom].number;
    int64_t first = 0, last = 0;
    if (f[owner].op == Op::ParallelOver) {
      last = CellsAlong(*module_, f, owner, number) - 1;
    } else {
      bool is_single = form.terms.size() == 1 && term.coefficient == 1;
      std::optional<int64_t> lo = f.IntegerConstant(f.Operand(owner, 2 * number));
      std::optional<int64_t> hi = f.IntegerConstant(f.Operand(owner, 2 * number + 1));
      if (!lo) return false;
      first = *lo;
      if (hi) {
        last = *hi - 1;
      } else if (is_single && type.IsBuffer() && first + form.constant >= 0) {
        // `i + c` with `i` below `shape(base, axis) - d`, d >= c.
        const AffineForm& bound = forms_.Of(f.Operand(owner, 2 * number + 1));
        Value extent = SingleAtom({0, bound.terms});
        Inst shape = extent.Valid() ? f.DefiningInst(extent) : Inst();
        return shape.Valid() && f[shape].op == Op::Shape && f.Operand(shape, 0) == base &&
               f[shape].attr == axis && bound.constant + form.constant <= 0;
      } else {
        return false;
      }
    }
    if (last < first) return true;
    Wide at_first = static_cast<Wide>(term.coefficient) * first;
    Wide at_last = static_cast<Wide>(term.coefficient) * last;
    Wide wide_low = low + std::min(at_first, at_last), wide_high = high + std::max(at_first, at_last);
    constexpr Wide kWide = Wide{1} << 62;
    if (wide_low < -kWide || wide_high > kWide) return false;
    low = static_cast<int64_t>(wide_low);
    high = static_cast<int64_t>(wide_high);
  }
  uint64_t extent = 0;
  if (type.IsArray()) extent = type.count;
  if (type.IsLayout()) extent = module_->layouts[type.count].fields[f[access].attr].axes[axis].extent;
  return low >= 0 && high >= 0 && static_cast<uint64_t>(high) < extent;
}

bool AccessFacts::AllInRange(Inst access) {
  for (uint32_t axis = 0; axis < (*function_)[access].index_count; ++axis) {
    if (!InRange(access, axis)) return false;
  }
  return true;
}

}  // namespace adc::analysis
