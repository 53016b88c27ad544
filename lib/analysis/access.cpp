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

#include "analysis/access.h"

#include <algorithm>

namespace adc::analysis {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Value;
using ir::ValueKind;

namespace {

__extension__ using Wide = __int128;

/// One digit: an index of a loop, from `lo`, `extent` values, each worth `stride` cells.
struct Digit {
  Value index;  ///< of the loop asked about; invalid: of a loop further in
  AffineForm stride, lo, extent;
  uint32_t seen = 0;  ///< bit 0: occurs in a, bit 1: in b
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
    } else if (difference->constant != 0) {
      return Relation::Distinct;
    }
  }
  return same ? Relation::Same : Relation::Unknown;
}

/// Reads one axis. False: nothing can be said. `decoded` gets the loop's indices that the axis determines; it
/// gets every index of the loop when the axis alone tells the two accesses apart.
bool AccessFacts::Decodes(Inst loop, Value index_a, Value index_b, std::vector<Value>& decoded) {
  const Function& f = *function_;
  std::span<const Value> own = f[f[loop].regions[0]].params;
  if (f[loop].op == Op::For) own = own.first(1);
  AffineForm uniform[2];
  std::vector<Digit> digits;
  for (uint32_t side = 0; side < 2; ++side) {
    const AffineForm& form = forms_.Of(side == 0 ? index_a : index_b);
    uniform[side].constant = 0;
    for (const AffineTerm& term : form.terms) {
      Value moving;
      for (uint32_t n = 0; n < term.monomial.degree; ++n) {
        Value atom = term.monomial.atoms[n];
        if (structure_.DefinedOutside(atom, loop)) continue;
        if (moving.Valid()) return false;
        moving = atom;
      }
      if (!moving.Valid()) {
        uniform[side].terms.push_back(term);
        continue;
      }
      bool is_own = std::find(own.begin(), own.end(), moving) != own.end();
      AffineForm stride;
      Monomial rest = term.monomial.Without(moving);
      if (rest.degree == 0) {
        stride.constant = term.coefficient;
      } else {
        stride.terms.push_back({rest, term.coefficient});
      }
      Digit digit;
      digit.index = moving;
      digit.stride = std::move(stride);
      // The bounds of the digit.
      if (f[moving].kind != ValueKind::BlockParam) return false;
      Inst owner = f[ir::Block(f[moving].owner)].owner;
      uint32_t number = f[moving].number;
      if (!owner.Valid()) return false;
      if (f[owner].op == Op::ParallelOver) {
        uint32_t layout = f.TypeOf(f.Operand(owner, 0)).count;
        digit.extent = Constant(
            static_cast<int64_t>(module_->layouts[layout].fields[f[owner].attr].axes[number].extent));
      } else {
        bool counts = (f[owner].op == Op::For && number == 0) || f[owner].op == Op::Parallel;
        if (!counts) return false;
        Value lo = f.Operand(owner, 2 * number), hi = f.Operand(owner, 2 * number + 1);
        if (!structure_.DefinedOutside(lo, loop) || !structure_.DefinedOutside(hi, loop)) return false;
        digit.lo = forms_.Of(lo);
        std::optional<AffineForm> extent = Add(forms_.Of(hi), digit.lo, -1);
        if (!extent) return false;
        digit.extent = std::move(*extent);
      }
      digit.seen = 1u << side;
      if (!is_own) digit.index = Value();
      // One digit per own index; digits of inner loops of one stride and range are one digit.
      auto same = std::find_if(digits.begin(), digits.end(), [&](const Digit& other) {
        if (is_own || other.index.Valid()) return other.index == digit.index;
        return (other.seen & digit.seen) == 0 && other.stride == digit.stride && other.lo == digit.lo;
      });
      if (same == digits.end()) {
        digits.push_back(std::move(digit));
      } else if (is_own) {
        if ((same->seen & digit.seen) != 0) {
          std::optional<AffineForm> sum = Add(same->stride, digit.stride);
          if (!sum || (side == 1 && (same->seen & 1u) != 0)) return false;
          same->stride = std::move(*sum);
        } else if (!(same->stride == digit.stride)) {
          return false;
        }
        same->seen |= digit.seen;
      } else {
        std::optional<AffineForm> wider = Add(digit.extent, same->extent, -1);
        if (!wider || !wider->IsConstant()) return false;
        if (wider->constant > 0) same->extent = digit.extent;
        same->seen |= digit.seen;
      }
    }
  }
  if (!(uniform[0] == uniform[1])) return false;
  int64_t offset_a = forms_.Of(index_a).constant, offset_b = forms_.Of(index_b).constant;
  if (digits.empty()) {
    if (offset_a != offset_b) decoded.insert(decoded.end(), own.begin(), own.end());
    return true;
  }
  for (Digit& digit : digits) {
    bool in_both = digit.seen == 3;
    if (digit.index.Valid() && !in_both) return false;
    if (!in_both && !(digit.lo == AffineForm{})) return false;
    if (AllNegative(digit.stride)) {
      if (!in_both) return false;
      digit.stride = *Add(AffineForm{}, digit.stride, -1);
    }
  }
  int64_t spread = offset_a > offset_b ? offset_a - offset_b : offset_b - offset_a;
  AffineForm window = Constant(1 + spread);
  std::vector<Value> found;
  while (!digits.empty()) {
    size_t best = digits.size();
    int64_t best_slack = 0;
    for (size_t n = 0; n < digits.size(); ++n) {
      std::optional<AffineForm> slack = Add(digits[n].stride, window, -1);
      if (!slack || !slack->IsConstant() || slack->constant < 0) continue;
      if (best != digits.size() && slack->constant >= best_slack) continue;
      best = n;
      best_slack = slack->constant;
    }
    if (best == digits.size()) return false;
    if (digits[best].index.Valid()) found.push_back(digits[best].index);
    std::optional<AffineForm> filled = Multiply(digits[best].stride, digits[best].extent);
    digits.erase(digits.begin() + static_cast<std::ptrdiff_t>(best));
    if (!filled && !digits.empty()) return false;
    if (filled) window = std::move(*filled);
  }
  decoded.insert(decoded.end(), found.begin(), found.end());
  return true;
}

bool AccessFacts::TuplesDistinct(Inst loop, std::span<const Value> a, std::span<const Value> b) {
  const Function& f = *function_;
  if (f[loop].op == Op::While || !IsLoop(f[loop].op)) return false;
  std::vector<Value> decoded;
  for (size_t axis = 0; axis < a.size(); ++axis) Decodes(loop, a[axis], b[axis], decoded);
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
  return TuplesDistinct(loop, f.Indices(a), f.Indices(b));
}

bool AccessFacts::InjectiveTuple(Inst loop, std::span<const Value> indices) {
  return TuplesDistinct(loop, indices, indices);
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
    } else if (IsLoop(f[control].op) && !DistinctAcross(control, read, write)) {
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
