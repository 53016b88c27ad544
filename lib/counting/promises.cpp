#include "counting/promises.h"

#include <algorithm>
#include <tuple>

#include "analysis/access.h"
#include "analysis/memory.h"
#include "analysis/walk.h"

namespace adc::counting {
namespace {

using adstack::PlannedPromise;
using ir::Function, ir::Inst, ir::Op, ir::Type, ir::Value;

constexpr Type kWord = Type::Of(ir::Scalar::U32);
constexpr uint32_t kNumbers = (1u << 30) - 2;  ///< with one more they have 30 bits
constexpr uint32_t kWrites = 1, kSeveral = 2, kBits = 3;

/// Whether the access is one of memory of which something is promised and checked.
bool IsWatched(const Function& kernel, Inst inst) {
  if (!ir::IsAccess(kernel[inst].op) || !kernel.IsParameter(kernel.Operand(inst, 0))) return false;
  return kernel.params[kernel[kernel.Operand(inst, 0)].number].checked;
}

/// Whether each index lies inside its extent; invalid without indices.
Value Inside(ir::Builder& builder, Value buffer, const std::vector<Value>& indices) {
  Value all;
  for (uint32_t axis = 0; axis < indices.size(); ++axis) {
    bool wide = ir::ByteSize(builder.function().TypeOf(indices[axis]).scalar) == 8;
    Type own = Type::Of(wide ? ir::Scalar::I64 : ir::Scalar::I32),
         compared = wide ? Type::Of(ir::Scalar::U64) : kWord;
    Value index = builder.Cast(builder.Cast(indices[axis], own), compared);
    Value one = builder.Make(Op::Lt, {index, builder.Cast(builder.Shape(buffer, axis, own), compared)});
    all = all.Valid() ? builder.Make(Op::And, {all, one}) : one;
  }
  return all;
}

/// The loads in `loop` of what another iteration of it may write.
IndexSet<Inst> RacingLoads(const ir::Module& module, const Function& kernel, Inst loop) {
  analysis::AccessFacts facts(module, kernel);
  IndexSet<Inst> racing;
  analysis::ForEachInst(kernel, kernel[loop].regions[0], [&](Inst load) {
    if (kernel[load].op != Op::Load || analysis::IsLocalAccess(kernel, load)) return;
    uint32_t memory = facts.memory().ClassOf(load);
    if (!facts.memory().IsWrittenIn(memory, loop)) return;
    std::span<const Inst> writes = facts.memory().Writes(memory);
    bool races = std::any_of(writes.begin(), writes.end(), [&](Inst write) {
      return facts.structure().Contains(loop, write) && facts.MayRace(load, write);
    });
    if (races) racing.Insert(load);
  });
  return racing;
}

}  // namespace

std::vector<PlannedPromise> PromisesOf(const Function& kernel, const analysis::Task& task) {
  std::vector<PlannedPromise> promises;
  if (task.kind != analysis::TaskKind::Parallel) return promises;
  analysis::ForEachInst(kernel, kernel[task.parallel].regions[0], [&](Inst inst) {
    if (!IsWatched(kernel, inst) || !analysis::WritesMemory(kernel[inst].op)) return;
    uint32_t param = kernel[kernel.Operand(inst, 0)].number;
    bool known = std::any_of(promises.begin(), promises.end(),
                             [&](const PlannedPromise& one) { return one.param == param; });
    if (!known) promises.push_back({param, kernel[inst].span});
  });
  std::sort(promises.begin(), promises.end(),
            [](const PlannedPromise& left, const PlannedPromise& right) { return left.param < right.param; });
  return promises;
}

PromiseMarks::PromiseMarks(ir::Module& module, const Function& from, const analysis::Task& task,
                           const std::vector<PlannedPromise>& promises)
    : module_(module), from_(from), parallel_(task.parallel) {
  if (promises.empty()) return;
  using Key = std::tuple<ir::Block, transform::MarkedPlace, uint32_t, std::vector<Value>>;
  std::map<Key, Inst> first;  // in each block
  analysis::ForEachInst(from, from[task.parallel].regions[0], [&](Inst inst) {
    if (!IsWatched(from, inst)) return;
    auto promise = std::find_if(promises.begin(), promises.end(),
                                [&](const PlannedPromise& one) { return one.param == PlaceOf(inst).first; });
    if (promise == promises.end()) return;
    std::span<const Value> indices = from.Indices(inst);
    Key key{from[inst].parent, PlaceOf(inst), from[inst].component, {indices.begin(), indices.end()}};
    Marked& marked = marks_[first.emplace(std::move(key), inst).first->second];
    marked.promise = static_cast<uint32_t>(promise - promises.begin());
    marked.writes = marked.writes || analysis::WritesMemory(from[inst].op);
  });
}

Inst PromiseMarks::FirstUnknown(const analysis::Structure& structure, const analysis::Task& task,
                                const adstack::TaskPlan& plan, bool keeps_rows) const {
  if (marks_.empty()) return {};
  Repeatable repeatable(structure, task, plan, keeps_rows, {}, RacingLoads(module_, from_, parallel_));
  for (const auto& [access, marked] : marks_) {
    Inst around = from_[from_[access].parent].owner;
    std::span<const Value> indices = from_.Indices(access);
    bool unknown =
        repeatable.LostControl(around) ||
        std::any_of(indices.begin(), indices.end(), [&](Value index) { return repeatable.Lost(index); });
    if (unknown) return access;
  }
  return {};
}

void PromiseMarks::AddWords(Function& into) {
  for (const auto& [access, marked] : marks_) {
    Value& words = words_[PlaceOf(access)];
    if (!words.Valid()) words = transform::AddMarkWords(module_, from_, PlaceOf(access), ".marks", into);
  }
}

void PromiseMarks::MarkAt(ir::Builder& builder, Inst access, const std::vector<Value>& indices, Value number,
                          Value sizes, size_t first) const {
  const Marked& marked = marks_.at(access);
  Value words = words_.at(PlaceOf(access));
  auto word = [&](uint32_t value) { return builder.Int(kWord, value); };
  auto has = [&](Value bits, uint32_t bit) {
    return builder.Make(Op::Ne, {builder.Make(Op::And, {bits, word(bit)}), word(0)});
  };
  auto update = [&](Op op, Value operand) {
    return builder.Access(op, words, indices, {&operand, 1}, ir::kNoAttr, from_[access].component);
  };
  auto mark_element = [&] {
    Value own = builder.Make(Op::Add, {builder.Make(Op::Rem, {number, word(kNumbers)}), word(1)});
    Value mark = builder.Make(Op::Shl, {own, word(2)});
    Value old =
        update(Op::AtomicExchange, marked.writes ? builder.Make(Op::Or, {mark, word(kWrites)}) : mark);
    auto is_other = [&](Value seen) {
      Value holder = builder.Make(Op::Shr, {seen, word(2)});
      return builder.Make(Op::Ne, {holder, own});
    };
    Value others = builder.Make(Op::And, {is_other(old), builder.Make(Op::Ne, {old, word(0)})});
    Value several = builder.Make(Op::Select, {others, word(kSeveral), word(0)});
    Value bits = builder.Make(Op::And, {old, word(kBits)});
    Value seen = builder.Make(Op::Or, {bits, several});
    builder.Where(builder.Make(Op::Ne, {seen, word(0)}), [&] {
      Value now = update(Op::AtomicOr, seen);
      Value before =
          marked.writes ? has(seen, kSeveral) : builder.Make(Op::And, {others, has(bits, kWrites)});
      Value between = builder.Make(Op::And, {is_other(now), has(seen, kWrites)});
      builder.Where(builder.Make(Op::Or, {before, between}), [&] {
        Value index = builder.I64(static_cast<int64_t>(first + marked.promise));
        Value count = builder.Make(Op::Add, {builder.Cast(number, ir::kI64), builder.I64(1)});
        builder.Access(Op::AtomicMax, sizes, {&index, 1}, {&count, 1});
      });
    });
  };
  Value inside = Inside(builder, words, indices);
  if (inside.Valid()) {
    builder.Where(inside, mark_element);
  } else {
    mark_element();
  }
}

}  // namespace adc::counting
