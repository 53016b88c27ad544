#include "raise/check_stretches.h"

#include <algorithm>

#include "ir/module.h"

namespace adc::raise {
namespace {

using ir::Block, ir::Inst, ir::Op, ir::Value;

/// Instructions of a stretch, of which there are two copies then, and those between two of its accesses.
constexpr uint32_t kMostSize = 1024, kMostGap = 32;
/// Operations between an index and the values that it is a sum of, and the factors there.
constexpr uint32_t kMostDepth = 8;
constexpr int64_t kMostFactor = int64_t{1} << 20;
/// Numbers that an index may be for which no sum is known, so that the check does not fail for those that
/// never occur.
constexpr int64_t kMostSpread = 1024;

void AddTerm(IndexSum& sum, Value v, int64_t coefficient) {
  auto place = std::lower_bound(sum.terms.begin(), sum.terms.end(), v,
                                [](const auto& term, Value other) { return term.first < other; });
  if (place == sum.terms.end() || place->first != v) {
    sum.terms.insert(place, {v, coefficient});
    return;
  }
  place->second += coefficient;
  if (place->second == 0) sum.terms.erase(place);
}

}  // namespace

uint64_t FixedExtent(const ir::Module& module, const ir::Function& kernel, Inst access, uint32_t axis) {
  ir::Type type = kernel.TypeOf(kernel.Operand(access, 0));
  if (type.IsBuffer()) return 0;
  return type.IsLayout() ? module.layouts[type.count].fields[kernel[access].attr].axes[axis].extent
                         : type.count;
}

std::optional<Stretch> CheckStretches::From(Block block, size_t begin, const IndexSet<Inst>& sure) {
  const std::vector<Inst>& insts = kernel_[block].insts;
  bool is_loop = analysis::IsLoop(kernel_[insts[begin]].op);
  if (!is_loop && !ir::IsAccess(kernel_[insts[begin]].op)) return std::nullopt;
  block_ = block;
  begin_ = begin;
  sure_ = &sure;
  Stretch stretch;
  bool has_loop = false;
  uint32_t size = 0, gap = 0;
  for (size_t n = begin; n < insts.size(); ++n) {
    uint32_t length = structure_.End(insts[n]) - structure_.Position(insts[n]);
    size += length;
    gap += length;
    if (size > kMostSize || !MayHold(insts[n])) break;
    size_t before = stretch.accesses.size();
    if (!Gather(insts[n], true, stretch)) break;
    if (stretch.accesses.size() != before) {
      has_loop = has_loop || analysis::IsLoop(kernel_[insts[n]].op);
      stretch.end = n + 1;
      gap = 0;
    }
    if (stretch.end == 0 || gap > kMostGap) break;
  }
  bool is_shared = stretch.bounds.size() < stretch.indices;
  if (stretch.end == 0 || (!has_loop && !is_shared)) return std::nullopt;
  FindGiven(stretch);
  return stretch;
}

/// Not where a value would leave its scope, and not around loops that other passes look for where they are.
bool CheckStretches::MayHold(Inst inst) const {
  Op op = kernel_[inst].op;
  if (ir::IsTerminator(op) || op == Op::Alloca || op == Op::RowClaim || analysis::IsParallel(op))
    return false;
  if (analysis::IsSerialLoop(op) && kernel_[inst].Has(ir::Word::Steps)) return false;
  return std::ranges::none_of(structure_.Within(inst), [&](Inst inner) {
    return kernel_[inner].op == Op::For && kernel_[inner].Has(ir::Word::Apart);
  });
}

bool CheckStretches::NeedsCheck(Inst access) const {
  if (kernel_[access].index_count == 0 || groups_.At(access).empty() || sure_->Has(access)) return false;
  for (uint32_t axis = 0; axis < kernel_[access].index_count; ++axis) {
    if (needs_(access, axis)) return true;
  }
  return false;
}

/// Takes the accesses of an instruction that are made whenever it runs. False where the stretch ends before
/// it: an instruction that needs checks of its own stays outside.
bool CheckStretches::Gather(Inst inst, bool is_top, Stretch& stretch) const {
  Op op = kernel_[inst].op;
  if (ir::IsAccess(op)) {
    if (!NeedsCheck(inst) || AddBounds(inst, stretch)) return true;
    return false;
  }
  size_t before = stretch.accesses.size();
  bool all = true;
  for (uint32_t r = 0; r < kernel_.RegionCount(inst); ++r) {
    for (Inst inner : kernel_[kernel_[inst].regions[r]].insts) {
      if (analysis::IsLoop(op)) {
        all = Gather(inner, false, stretch) && all;
      } else if (ir::IsAccess(kernel_[inner].op)) {
        all = !NeedsCheck(inner) && all;
      } else if (kernel_.RegionCount(inner) != 0) {
        all = false;
      }
    }
  }
  return all || (is_top && stretch.accesses.size() != before);
}

bool CheckStretches::AddBounds(Inst access, Stretch& stretch) const {
  std::vector<IndexBounds> made;
  for (uint32_t axis = 0; axis < kernel_[access].index_count; ++axis) {
    if (!needs_(access, axis)) continue;
    IndexBounds bounds{access, axis, {}, {}};
    Value index = kernel_.Indices(access)[axis];
    if (!AddExtreme(index, 1, false, true, 0, bounds.low)) return false;
    if (!AddExtreme(index, 1, true, true, 0, bounds.high)) return false;
    uint64_t fixed = FixedExtent(module_, kernel_, access, axis);
    bool is_below = bounds.low.terms.empty() && bounds.low.constant < 0;
    bool is_above =
        fixed != 0 && bounds.high.terms.empty() && bounds.high.constant >= static_cast<int64_t>(fixed);
    if (is_below || is_above) return false;
    made.push_back(std::move(bounds));
  }
  stretch.indices += made.size();
  for (IndexBounds& bounds : made) {
    auto same = std::find_if(stretch.bounds.begin(), stretch.bounds.end(), [&](const IndexBounds& other) {
      return kernel_.Operand(other.access, 0) == kernel_.Operand(access, 0) &&
             kernel_[other.access].attr == kernel_[access].attr && other.axis == bounds.axis &&
             other.low.terms == bounds.low.terms && other.high.terms == bounds.high.terms;
    });
    if (same == stretch.bounds.end()) {
      stretch.bounds.push_back(std::move(bounds));
    } else {
      same->low.constant = std::min(same->low.constant, bounds.low.constant);
      same->high.constant = std::max(same->high.constant, bounds.high.constant);
    }
  }
  stretch.accesses.push_back(access);
  return true;
}

/// Adds the smallest or largest number that `v` times the coefficient is in the stretch; with `may_wrap` one
/// that is equal to it modulo 2^32. False where none is known.
bool CheckStretches::AddExtreme(Value v, int64_t coefficient, bool largest, bool may_wrap, uint32_t depth,
                                IndexSum& sum) const {
  bool is_narrow = kernel_.TypeOf(v).Is(ir::Scalar::I32);
  if (std::optional<int64_t> constant = kernel_.IntegerConstant(v)) {
    if (*constant < INT32_MIN || *constant > INT32_MAX) return false;
    sum.constant += coefficient * *constant;
    return true;
  }
  if (IsKnown(v)) {
    // A wider index is compared as it is.
    if (!is_narrow && (depth != 0 || coefficient != 1)) return false;
    // Neighbours are constants apart from one value.
    if (is_narrow && may_wrap && HasConstant(v) && AddOperands(v, coefficient, largest, depth, sum))
      return true;
    AddTerm(sum, v, coefficient);
    return true;
  }
  if (!is_narrow || depth == kMostDepth) return false;
  const ir::ValueData& data = kernel_[v];
  bool wants_most = largest == (coefficient > 0);
  if (data.kind == ir::ValueKind::BlockParam) {
    Inst loop = kernel_[Block(data.owner)].owner;
    if (kernel_[loop].op != Op::For || data.number != 0) return false;
    if (wants_most) sum.constant -= coefficient;
    return AddExtreme(kernel_.Operand(loop, wants_most ? 1 : 0), coefficient, largest, false, depth + 1, sum);
  }
  if (may_wrap && AddOperands(v, coefficient, largest, depth, sum)) return true;
  Interval interval = intervals_.Of(v);
  if (interval.high - interval.low > kMostSpread) return false;
  sum.constant += coefficient * (wants_most ? interval.high : interval.low);
  return true;
}

/// Whether `v` is a constant more or less than another value.
bool CheckStretches::HasConstant(Value v) const {
  Inst inst = kernel_.DefiningInst(v);
  if (!inst.Valid() || (kernel_[inst].op != Op::Add && kernel_[inst].op != Op::Sub)) return false;
  return kernel_.IntegerConstant(kernel_.Operand(inst, 1)).has_value();
}

/// The same of a sum, a difference or a product with a constant.
bool CheckStretches::AddOperands(Value v, int64_t coefficient, bool largest, uint32_t depth,
                                 IndexSum& sum) const {
  Inst inst = kernel_.DefiningInst(v);
  Op op = kernel_[inst].op;
  IndexSum whole = sum;
  if (op == Op::Add || op == Op::Sub) {
    int64_t second = op == Op::Add ? coefficient : -coefficient;
    if (!AddExtreme(kernel_.Operand(inst, 0), coefficient, largest, true, depth + 1, whole)) return false;
    if (!AddExtreme(kernel_.Operand(inst, 1), second, largest, true, depth + 1, whole)) return false;
  } else if (op == Op::Mul) {
    uint32_t constant = kernel_.IntegerConstant(kernel_.Operand(inst, 1)) ? 1 : 0;
    std::optional<int64_t> factor = kernel_.IntegerConstant(kernel_.Operand(inst, constant));
    if (!factor || *factor < -kMostFactor || *factor > kMostFactor) return false;
    int64_t product = coefficient * *factor;
    if (product < -kMostFactor || product > kMostFactor) return false;
    if (!AddExtreme(kernel_.Operand(inst, 1 - constant), product, largest, true, depth + 1, whole))
      return false;
  } else {
    return false;
  }
  sum = std::move(whole);
  return true;
}

/// The position at which an instruction of the block is made.
uint32_t CheckStretches::PlaceOf(Inst inst) const {
  return structure_.Position(ir::IsAccess(kernel_[inst].op) ? groups_.PlaceOf(inst) : inst);
}

/// Whether a value is there before the stretch.
bool CheckStretches::IsKnown(Value v) const {
  const ir::ValueData& data = kernel_[v];
  Inst made;
  if (data.kind == ir::ValueKind::Result) made = kernel_.DefiningInst(v);
  if (data.kind == ir::ValueKind::BlockParam) made = kernel_[Block(data.owner)].owner;
  Inst at = analysis::HolderIn(kernel_, block_, made);
  return !at.Valid() || PlaceOf(at) < structure_.Position(kernel_[block_].insts[begin_]);
}

void CheckStretches::FindGiven(Stretch& stretch) const {
  const std::vector<Inst>& insts = kernel_[block_].insts;
  uint32_t first = structure_.Position(insts[begin_]), end = structure_.End(insts[stretch.end - 1]);
  // The body of a `while` reads values of its condition, which is another block.
  auto is_within = [&](Inst inst) { return inst.Valid() && first <= PlaceOf(inst) && PlaceOf(inst) < end; };
  auto look = [&](Inst inst) {
    for (uint32_t r = 0; r < kernel_[inst].result_count; ++r) {
      Value result = kernel_.Result(inst, r);
      bool is_read = std::ranges::any_of(uses_.Of(result), [&](const analysis::Use& use) {
        return !is_within(analysis::HolderIn(kernel_, block_, use.inst));
      });
      if (is_read) stretch.given.push_back(result);
    }
  };
  for (size_t n = begin_; n < stretch.end; ++n) {
    if (!ir::IsAccess(kernel_[insts[n]].op) || kernel_[insts[n]].index_count == 0) {
      look(insts[n]);
    } else {
      for (Inst member : groups_.At(insts[n])) look(member);
    }
  }
}

}  // namespace adc::raise
