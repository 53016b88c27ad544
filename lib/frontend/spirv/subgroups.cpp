#include "frontend/spirv/subgroups.h"

#include <algorithm>

namespace adc::frontend::spirv {

using ir::Op, ir::Type, ir::Value;

Value SubgroupBuilder::FirstOf(uint32_t cluster) {
  return b_.Make(Op::Sub, {invocation_, With(Op::Rem, invocation_, cluster)});
}

Value SubgroupBuilder::EndOf(Value first, uint32_t cluster) {
  Value end = With(Op::Add, first, cluster);
  return size_ % cluster == 0 ? end : With(Op::Min, end, size_);
}

void SubgroupBuilder::PutDown(Value value) {
  values_ = make_(b_.TypeOf(value));
  present_ = make_(ir::kI1);
  Value yes = b_.Int(ir::kI1, 1);
  b_.Access(Op::Store, values_, {&invocation_, 1}, {&value, 1});
  b_.Access(Op::Store, present_, {&invocation_, 1}, {&yes, 1});
  b_.Create(Op::Barrier, {}, {});
}

/// After all have read: the next time the same operation runs, those that have ended are not there.
void SubgroupBuilder::TakeUp() {
  b_.Create(Op::Barrier, {}, {});
  Value no = b_.Int(ir::kI1, 0);
  b_.Access(Op::Store, present_, {&invocation_, 1}, {&no, 1});
}

Value SubgroupBuilder::Fold(Value value, Value begin, Value first, Value end,
                            const std::function<Value(Value at, Value carried)>& with) {
  PutDown(value);
  ir::Block outer = b_.block();
  ir::Inst loop = b_.For(first, end, b_.I32(1), {&begin, 1});
  ir::Block body = b_.function()[loop].regions[0];
  b_.SetBlock(body);
  Value at = b_.function()[body].params[0], carried = b_.function()[body].params[1];
  Value takes_part = b_.Load(present_, {&at, 1});
  Value folded =
      b_.Choose(takes_part, b_.TypeOf(begin), [&] { return with(at, carried); }, [&] { return carried; });
  b_.Yield({&folded, 1});
  b_.SetBlock(outer);
  TakeUp();
  return b_.function().Result(loop);
}

Value SubgroupBuilder::Reduce(Op op, Value value, Value identity, Over over, uint32_t cluster) {
  Value first = FirstOf(cluster);
  Value end = over == Over::UpToOwn     ? With(Op::Add, invocation_, 1)
              : over == Over::BeforeOwn ? invocation_
                                        : EndOf(first, cluster);
  return Fold(value, identity, first, end,
              [&](Value at, Value carried) { return b_.Make(op, {carried, b_.Load(values_, {&at, 1})}); });
}

Value SubgroupBuilder::AllEqual(Value value) {
  Value first = FirstOf(kSubgroupSize);
  return Fold(value, b_.Int(ir::kI1, 1), first, EndOf(first, kSubgroupSize), [&](Value at, Value carried) {
    Value same = b_.Make(Op::Eq, {b_.Load(values_, {&at, 1}), value});
    Type type = b_.TypeOf(same);
    for (uint32_t n = 0; type.IsVec() && n < type.Components(); ++n)
      carried = b_.Make(Op::And, {carried, b_.ComponentOf(same, n)});
    return type.IsVec() ? carried : b_.Make(Op::And, {carried, same});
  });
}

Value SubgroupBuilder::Elect() {
  Value yes = b_.Int(ir::kI1, 1);
  return Fold(yes, yes, FirstOf(kSubgroupSize), invocation_,
              [&](Value, Value) { return b_.Int(ir::kI1, 0); });
}

Value SubgroupBuilder::First(Value value) {
  Value first = FirstOf(kSubgroupSize);
  Value number = Fold(value, b_.I32(-1), first, EndOf(first, kSubgroupSize), [&](Value at, Value carried) {
    return b_.Make(Op::Select, {b_.Make(Op::Lt, {carried, b_.I32(0)}), at, carried});
  });
  return From(value, b_.Make(Op::Sub, {number, first}));
}

Value SubgroupBuilder::From(Value value, Value lane) {
  Value first = FirstOf(kSubgroupSize), end = EndOf(first, kSubgroupSize);
  Value at = b_.Make(Op::Add, {first, lane});
  Value inside = b_.Make(Op::And, {b_.Make(Op::Ge, {at, first}), b_.Make(Op::Lt, {at, end})});
  PutDown(value);
  at = b_.Make(Op::Select, {inside, at, invocation_});
  Value read = b_.Load(values_, {&at, 1});
  TakeUp();
  return read;
}

Value SubgroupBuilder::Ballot(Value value) {
  Value first = FirstOf(kSubgroupSize);
  return Fold(value, b_.I32(0), first, EndOf(first, kSubgroupSize), [&](Value at, Value carried) {
    Value bit = b_.Make(Op::Shl, {b_.I32(1), b_.Make(Op::Sub, {at, first})});
    Value with = b_.Make(Op::Or, {carried, bit});
    return b_.Make(Op::Select, {b_.Load(values_, {&at, 1}), with, carried});
  });
}

}  // namespace adc::frontend::spirv
