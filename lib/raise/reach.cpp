#include "raise/reach.h"

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/walk.h"

namespace adc::raise {
namespace {

using ir::Op, ir::Value;

/// The constant that is added to `counter` to make `index`; empty where it is made in another way.
std::optional<int64_t> OffsetFrom(const ir::Function& kernel, Value counter, Value index) {
  constexpr int kMostSteps = 8;
  int64_t offset = 0;
  for (int step = 0; step < kMostSteps; ++step) {
    if (index == counter) return offset;
    ir::Inst made = kernel.DefiningInst(index);
    if (!made.Valid()) return std::nullopt;
    std::span<const Value> operands = kernel.Operands(made);
    Op op = kernel[made].op;
    if (op == Op::Cast && kernel.TypeOf(operands[0]).Is(ir::Scalar::I32) &&
        kernel.TypeOf(index).Is(ir::Scalar::I64)) {
      index = operands[0];
      continue;
    }
    if (op != Op::Add && op != Op::Sub) return std::nullopt;
    std::optional<int64_t> first = kernel.IntegerConstant(operands[0]);
    std::optional<int64_t> second = kernel.IntegerConstant(operands[1]);
    std::optional<int64_t> constant = op == Op::Add && first ? first : second;
    if (!constant || std::abs(*constant) > kLongestReach) return std::nullopt;
    offset += op == Op::Add ? *constant : -*constant;
    index = op == Op::Add && first ? operands[1] : operands[0];
  }
  return std::nullopt;
}

/// How one axis of the loop goes into the indices of a place.
struct Along {
  size_t position = 0;  ///< of the index
  int64_t low = 0, high = 0;
};

class Finder {
 public:
  Finder(const ir::Function& kernel, ir::Inst parallel)
      : kernel_(kernel), counters_(kernel[kernel[parallel].regions[0]].params) {}

  void Note(ir::Inst update) {
    uint32_t param = kernel_[kernel_.Operand(update, 0)].number;
    auto [found, fresh] = places_.try_emplace({param, kernel_[update].attr});
    std::vector<Along>& place = found->second;
    place.resize(counters_.size());
    known_ = known_ && !kernel_.params[param].alias;
    for (size_t axis = 0; axis < counters_.size() && known_; ++axis)
      known_ = NoteAlong(counters_[axis], kernel_.Indices(update), fresh, place[axis]);
  }

  std::vector<uint32_t> Reach() const {
    if (!known_) return {};
    std::vector<uint32_t> reach(counters_.size());
    for (const auto& [key, place] : places_) {
      for (size_t axis = 0; axis < place.size(); ++axis) {
        int64_t distance = place[axis].high - place[axis].low;
        if (distance > kLongestReach) return {};
        reach[axis] = std::max(reach[axis], static_cast<uint32_t>(distance));
      }
    }
    return reach;
  }

 private:
  bool NoteAlong(Value counter, std::span<const Value> indices, bool fresh, Along& along) const {
    for (size_t position = 0; position < indices.size(); ++position) {
      if (!fresh && position != along.position) continue;
      std::optional<int64_t> offset = OffsetFrom(kernel_, counter, indices[position]);
      if (!offset) continue;
      along = {position, fresh ? *offset : std::min(along.low, *offset),
               fresh ? *offset : std::max(along.high, *offset)};
      return true;
    }
    return false;
  }

  const ir::Function& kernel_;
  const std::vector<Value>& counters_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Along>> places_;  ///< by parameter and field
  bool known_ = true;
};

}  // namespace

bool UpdatesTogether(const ir::Function& kernel, ir::Inst inst) {
  const ir::InstData& data = kernel[inst];
  bool is_sum = data.op == ir::Op::AddTo && !data.Has(ir::Word::Plain);
  if (!is_sum && !ir::IsAtomic(data.op)) return false;
  bool is_memory = kernel[kernel.Operand(inst, 0)].kind == ir::ValueKind::BlockParam;
  return is_memory && !data.Has(ir::Word::Private);
}

std::vector<uint32_t> ReachOf(const ir::Function& kernel, ir::Inst parallel) {
  Finder finder(kernel, parallel);
  analysis::ForEachInst(kernel, kernel[parallel].regions[0], [&](ir::Inst inst) {
    if (UpdatesTogether(kernel, inst)) finder.Note(inst);
  });
  return finder.Reach();
}

}  // namespace adc::raise
