// When do two accesses meet in one cell?
//
// An index is a polynomial (affine.h). Between two iterations of a loop, its terms fall into four groups:
// *uniform* terms, of values from outside of the loop, which are the same in both; terms in the loop's own
// indices, which differ; terms in indices of loops further in, which are free but bounded; and the rest, of
// which nothing is known. Two accesses with equal uniform terms and nothing unknown differ only by the digits
// of a mixed-radix number, as in
//
//   x[(i*R + r)*C + c]      r in 0..R, c in 0..C      strides: c 1, r C, i R*C
//
// and such a number can be read back: digit k is determined when its stride is at least the size of the
// window that all lower digits fill. Window and stride are compared as polynomials, so that symbolic extents
// work: window 1 -> stride 1 of c -> window C -> stride C of r -> window R*C -> stride R*C of i. Constant
// offsets between the two accesses widen the first window. If the digits of all indices of the loop can be
// read back from the axes of the access, different iterations touch different cells.
//
// Indices of 32 bits wrap, and a number that went once round is in range again: i * 2^30 is 0 for every
// fourth i. Where all digits are known, the last window says whether they can come round. Where they are not,
// a number that comes round passes through what is out of range on its way, in steps of the highest stride. A
// gate may leave that out; then nothing is proved of strides that come round after few iterations
// (ComesRoundSoon).

#include "analysis/access.h"

#include <algorithm>
#include <cstdlib>

namespace adc::analysis {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Value;
using ir::ValueKind;

namespace {

__extension__ using Wide = __int128;

constexpr int64_t kRound = int64_t{1} << 32;  ///< after so many an index of 32 bits is where it was

/// One digit: an index of a loop, from `lo`, `extent` values, each worth `stride` cells.
struct Digit {
  Value index;
  AffineForm stride, lo, extent;
  bool in_both = false;
};

/// An index taken apart, as seen from one loop.
struct Parts {
  AffineForm uniform;        ///< terms that are the same in every iteration; no constant
  std::vector<Digit> own;    ///< of the loop's indices, one each
  std::vector<Digit> inner;  ///< of loops further in
};

bool AllNegative(const AffineForm& form) {
  bool any = form.constant != 0;
  if (form.constant > 0) return false;
  for (const AffineTerm& term : form.terms) {
    if (term.coefficient > 0) return false;
    any = true;
  }
  return any;
}

AffineForm Constant(int64_t value) {
  return {value, {}};
}

/// Whether multiples of `stride`, with lower digits or without, may meet modulo 2^32 in a loop that is not
/// very long: 2^10 iterations with lower digits between, 2^20 without.
bool ComesRoundSoon(const AffineForm& stride, bool is_lowest) {
  if (!stride.IsConstant()) return false;
  return is_lowest ? stride.constant % (1 << 12) == 0 : stride.constant >= int64_t{1} << 22;
}

/// Some of the arithmetic of an index is of 32 bits.
bool MayComeRound(const Function& f, Value index, const AffineForm& form) {
  if (BitWidth(f.TypeOf(index).scalar) < 64) return true;
  for (const AffineTerm& term : form.terms) {
    for (uint32_t n = 0; n < term.monomial.degree; ++n) {
      if (BitWidth(f.TypeOf(term.monomial.atoms[n]).scalar) < 64) return true;
    }
  }
  return false;
}

}  // namespace

AccessFacts::AccessFacts(const ir::Module& module, const Function& function)
    : module_(&module), function_(&function), structure_(function), memory_(structure_), forms_(function) {
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
    if (!difference || !difference->IsConstant()) {
      same = false;
    } else if (difference->constant % kRound != 0) {
      return Relation::Distinct;
    } else {
      same = same && difference->constant == 0;
    }
  }
  return same ? Relation::Same : Relation::Unknown;
}

namespace {

/// Where the values of a digit lie: false where its bounds are not those of a counting loop, or are not the
/// same in every iteration of `loop`.
bool BoundDigit(const ir::Module& module, const Structure& structure, AffineForms& forms, Inst loop,
                Digit& digit) {
  const Function& f = structure.function();
  if (f[digit.index].kind != ValueKind::BlockParam) return false;
  Inst owner = f[ir::Block(f[digit.index].owner)].owner;
  uint32_t number = f[digit.index].number;
  if (!owner.Valid()) return false;
  if (f[owner].op == Op::ParallelOver) {
    uint32_t layout = f.TypeOf(f.Operand(owner, 0)).count;
    const ir::LayoutField& field = module.layouts[layout].fields[f[owner].attr];
    digit.extent = Constant(static_cast<int64_t>(field.axes[number].extent));
    return true;
  }
  bool counts = (f[owner].op == Op::For && number == 0) || f[owner].op == Op::Parallel;
  if (!counts) return false;
  Value lo = f.Operand(owner, 2 * number), hi = f.Operand(owner, 2 * number + 1);
  if (!structure.DefinedOutside(lo, loop) || !structure.DefinedOutside(hi, loop)) return false;
  digit.lo = forms.Of(lo);
  std::optional<AffineForm> extent = Add(forms.Of(hi), digit.lo, -1);
  if (extent) digit.extent = std::move(*extent);
  return extent.has_value();
}

bool TakeApart(const ir::Module& module, const Structure& structure, AffineForms& forms, Inst loop,
               std::span<const Value> own, const AffineForm& form, Parts& parts) {
  for (const AffineTerm& term : form.terms) {
    Value moving;
    for (uint32_t n = 0; n < term.monomial.degree; ++n) {
      if (structure.DefinedOutside(term.monomial.atoms[n], loop)) continue;
      if (moving.Valid()) return false;
      moving = term.monomial.atoms[n];
    }
    if (!moving.Valid()) {
      parts.uniform.terms.push_back(term);
      continue;
    }
    AffineForm stride;
    Monomial rest = term.monomial.Without(moving);
    if (rest.degree == 0) {
      stride.constant = term.coefficient;
    } else {
      stride.terms.push_back({rest, term.coefficient});
    }
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
    Digit digit{moving, std::move(stride), {}, {}};
    if (!BoundDigit(module, structure, forms, loop, digit)) return false;
    digits.push_back(std::move(digit));
  }
  return true;
}

/// The digits of two indices together: a digit of both once, with the larger range. Empty where they cannot
/// be compared.
std::optional<std::vector<Digit>> Together(const Parts& a, const Parts& b) {
  if (a.own.size() != b.own.size()) return std::nullopt;
  std::vector<Digit> digits = a.own;
  for (Digit& digit : digits) {
    auto other =
        std::find_if(b.own.begin(), b.own.end(), [&](const Digit& d) { return d.index == digit.index; });
    if (other == b.own.end() || !(other->stride == digit.stride)) return std::nullopt;
    digit.in_both = true;
  }
  size_t first_inner = digits.size();
  digits.insert(digits.end(), a.inner.begin(), a.inner.end());
  for (const Digit& digit : b.inner) {
    auto twin = std::find_if(
        digits.begin() + static_cast<std::ptrdiff_t>(first_inner), digits.end(),
        [&](const Digit& d) { return !d.in_both && d.stride == digit.stride && d.lo == digit.lo; });
    if (twin == digits.end()) {
      digits.push_back(digit);
      continue;
    }
    std::optional<AffineForm> wider = Add(digit.extent, twin->extent, -1);
    if (!wider || !wider->IsConstant()) return std::nullopt;
    if (wider->constant > 0) twin->extent = digit.extent;
    twin->in_both = true;
  }
  for (Digit& digit : digits) {
    // A digit that one of the two does not have counts as zero there: zero must be one of its values.
    if (!digit.in_both && !(digit.lo == AffineForm{})) return std::nullopt;
    if (!AllNegative(digit.stride)) continue;
    // Counted from its other end, the digit grows.
    if (!digit.in_both) return std::nullopt;
    digit.stride = *Add(AffineForm{}, digit.stride, -1);
  }
  return digits;
}

}  // namespace

/// Reads one axis. `decoded` gets the loop's indices that the axis determines, and every index of the loop
/// when the axis alone tells the two accesses apart.
void AccessFacts::Decode(Inst loop, Value index_a, Value index_b, bool gated, std::vector<Value>& decoded) {
  const Function& f = *function_;
  std::span<const Value> own = f[f[loop].regions[0]].params;
  if (f[loop].op == Op::For) own = own.first(1);
  AffineForm form_a = forms_.Of(index_a), form_b = forms_.Of(index_b);
  Parts a, b;
  if (!TakeApart(*module_, structure_, forms_, loop, own, form_a, a)) return;
  if (!TakeApart(*module_, structure_, forms_, loop, own, form_b, b)) return;
  if (!(a.uniform == b.uniform)) return;
  if (a.own.empty() && b.own.empty() && a.inner.empty() && b.inner.empty()) {
    if ((form_a.constant - form_b.constant) % kRound != 0)
      decoded.insert(decoded.end(), own.begin(), own.end());
    return;
  }
  std::optional<std::vector<Digit>> digits = Together(a, b);
  if (!digits) return;
  bool may_come_round = MayComeRound(f, index_a, form_a) || MayComeRound(f, index_b, form_b);
  AffineForm window = Constant(1 + std::abs(form_a.constant - form_b.constant));
  std::vector<Value> found;
  while (!digits->empty()) {
    // The lowest digit whose stride is known to clear the window of those below it.
    auto best = digits->end();
    int64_t best_slack = 0;
    for (auto digit = digits->begin(); digit != digits->end(); ++digit) {
      std::optional<AffineForm> slack = Add(digit->stride, window, -1);
      if (!slack || !slack->IsConstant() || slack->constant < 0) continue;
      if (best != digits->end() && slack->constant >= best_slack) continue;
      best = digit;
      best_slack = slack->constant;
    }
    if (best == digits->end()) return;
    if (std::find(own.begin(), own.end(), best->index) != own.end()) found.push_back(best->index);
    std::optional<AffineForm> filled = Multiply(best->stride, best->extent);
    bool is_soon = gated && ComesRoundSoon(best->stride, window == Constant(1));
    digits->erase(best);
    if (!filled && !digits->empty()) return;
    if (filled) window = std::move(*filled);
    bool is_known = filled && window.IsConstant();
    if (may_come_round && (is_known ? window.constant > kRound : is_soon)) return;
  }
  decoded.insert(decoded.end(), found.begin(), found.end());
}

bool AccessFacts::IsGated(Inst loop, Inst access) const {
  const Function& f = *function_;
  for (ir::Block block = f[access].parent; f[block].owner != loop; block = f[f[block].owner].parent) {
    Inst owner = f[block].owner;
    if (f[owner].op != Op::For || !structure_.DefinedOutside(f.Operand(owner, 0), loop) ||
        !structure_.DefinedOutside(f.Operand(owner, 1), loop))
      return true;
  }
  return false;
}

bool AccessFacts::TuplesDistinct(Inst loop, std::span<const Value> a, std::span<const Value> b, bool gated) {
  const Function& f = *function_;
  if (f[loop].op == Op::While || !IsLoop(f[loop].op)) return false;
  std::vector<Value> decoded;
  for (size_t axis = 0; axis < a.size(); ++axis) Decode(loop, a[axis], b[axis], gated, decoded);
  std::span<const Value> own = f[f[loop].regions[0]].params;
  if (f[loop].op == Op::For) own = own.first(1);
  for (uint32_t n = 0; n < own.size(); ++n) {
    if (std::find(decoded.begin(), decoded.end(), own[n]) != decoded.end()) continue;
    // An index that takes one value only cannot differ.
    bool single = false;
    if (f[loop].op == Op::ParallelOver) {
      uint32_t layout = f.TypeOf(f.Operand(loop, 0)).count;
      single = module_->layouts[layout].fields[f[loop].attr].axes[n].extent == 1;
    } else {
      std::optional<AffineForm> extent =
          Add(forms_.Of(f.Operand(loop, 2 * n + 1)), forms_.Of(f.Operand(loop, 2 * n)), -1);
      single = extent && extent->IsConstant() && extent->constant <= 1;
    }
    if (!single) return false;
  }
  return true;
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
  return TuplesDistinct(loop, f.Indices(a), f.Indices(b), IsGated(loop, a) || IsGated(loop, b));
}

bool AccessFacts::BehindLater(Inst loop, Inst read, Inst write) {
  const Function& f = *function_;
  if (f[loop].op != Op::For || f.Operand(read, 0) != f.Operand(write, 0) || f[read].attr != f[write].attr)
    return false;
  Value own = f[f[loop].regions[0]].params[0];
  int64_t step = f.IntegerConstant(f.Operand(loop, 2)).value_or(0);
  if ((f[loop].flags & ir::kFlagReversed) != 0) step = -step;
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
      for (uint32_t n = 0; n < term.monomial.degree; ++n)
        is_plain = is_plain && structure_.DefinedOutside(term.monomial.atoms[n], loop);
    }
    // `ahead` is how far the write lies in front; each iteration moves it by `moves`. They meet where a
    // multiple of `moves` takes `ahead` to 0, or once round.
    int64_t moves = 0;
    if (!is_plain || __builtin_mul_overflow(stride, step, &moves) || moves == 0) continue;
    if (moves % (1 << 12) == 0 || std::abs(moves) >= kRound / (1 << 10)) continue;
    if (std::abs(ahead->constant) >= kRound / (1 << 10)) continue;
    bool meets = (ahead->constant < 0) == (moves > 0) && ahead->constant % moves == 0 && ahead->constant != 0;
    if (!meets) return true;
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
      if (f[read].component != f[write].component) return false;
      for (std::span<const Value> indices : {f.Indices(read), f.Indices(write)}) {
        for (Value index : indices) {
          for (const AffineTerm& term : forms_.Of(index).terms) {
            for (uint32_t n = 0; n < term.monomial.degree; ++n) {
              if (f.DefiningBlock(term.monomial.atoms[n]) != f.Body()) return true;
            }
          }
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
  std::vector<Inst> around = structure_.Enclosing(read);
  if (around.empty() || !IsParallel(f[around[0]].op) || !structure_.Contains(around[0], write)) return false;
  if (!ir::IsAccess(f[write].op)) return MayOverwriteLater(read, write);
  return !DistinctAcross(around[0], read, write);
}

bool AccessFacts::InRange(Inst access, uint32_t axis) {
  const Function& f = *function_;
  Value base = f.Operand(access, 0);
  ir::Type type = f.TypeOf(base);
  const AffineForm& form = forms_.Of(f.Indices(access)[axis]);
  // The range of the index over loops with constant bounds.
  int64_t low = form.constant, high = form.constant;
  bool bounded = true;
  Inst single_loop;
  for (const AffineTerm& term : form.terms) {
    Value atom = term.monomial.atoms[0];
    bounded = bounded && term.monomial.degree == 1 && f[atom].kind == ValueKind::BlockParam;
    Inst owner = bounded ? f[ir::Block(f[atom].owner)].owner : Inst();
    if (!owner.Valid()) return false;
    uint32_t number = f[atom].number;
    int64_t first = 0, last = 0;
    if (f[owner].op == Op::ParallelOver) {
      uint32_t layout = f.TypeOf(f.Operand(owner, 0)).count;
      last = static_cast<int64_t>(module_->layouts[layout].fields[f[owner].attr].axes[number].extent) - 1;
    } else if (f[owner].op == Op::Parallel || (f[owner].op == Op::For && number == 0)) {
      single_loop = form.terms.size() == 1 && term.coefficient == 1 ? owner : Inst();
      std::optional<int64_t> lo = f.IntegerConstant(f.Operand(owner, 2 * number));
      std::optional<int64_t> hi = f.IntegerConstant(f.Operand(owner, 2 * number + 1));
      if (!lo) return false;
      first = *lo;
      if (hi) {
        last = *hi - 1;
      } else if (single_loop.Valid() && type.IsBuffer() && first + form.constant >= 0) {
        // `i + c` with `i` below `shape(base, axis) - d`, d >= c.
        const AffineForm& bound = forms_.Of(f.Operand(owner, 2 * number + 1));
        if (bound.terms.size() != 1 || bound.terms[0].coefficient != 1) return false;
        if (bound.terms[0].monomial.degree != 1) return false;
        Inst shape = f.DefiningInst(bound.terms[0].monomial.atoms[0]);
        return shape.Valid() && f[shape].op == Op::Shape && f.Operand(shape, 0) == base &&
               f[shape].attr == axis && bound.constant + form.constant <= 0;
      } else {
        return false;
      }
    } else {
      return false;
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
