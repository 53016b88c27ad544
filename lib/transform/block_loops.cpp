// Blocking that wraps nowhere.
//
// Both new loops count iterations from 0, so that trip counts, and with them the capacities of tapes, are
// expressions that sizing can see through: the loop over segments runs `ceildiv n, S` times, that over steps
// max(min(S, n - %k * S), 1) times, which is largest for the first segment, and 1 at least, said where it is
// known already, so that sizing knows it too. The iteration count n is computed in i32
// where the loop starts at a constant that is not negative, and in i64 elsewhere, since `hi - lo` of an i32
// loop may leave i32. A loop that runs the other way has both new loops run the other way.
//
// The trips of a `while` are known when it has ended: a segment is the loop itself with at most S iterations,
// and counts them, and a segment of fewer is the last. The test runs as often as before, since a `while` at
// its bound ends without one. A loop of one segment, as a launch may choose, has no bound but the largest
// number: `max %n or none` says to sizing that its iterations must be counted.

#include "transform/block_loops.h"

#include "analysis/loops.h"
#include "analysis/structure.h"
#include "ir/module.h"
#include "transform/rewriter.h"

namespace adc::transform {
namespace {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Type, ir::Value;

class BlockRewriter final : public Rewriter {
 public:
  BlockRewriter(ir::Module& module, const Function& from, const std::function<uint32_t(Inst)>& length_of,
                FoldConfig fold)
      : Rewriter(module, from, fold), length_of_(length_of) {
    for (uint32_t n = 0; n < from.InstCount() && !at_launch_.Valid(); ++n) {
      if (analysis::IsSerialLoop(from[Inst(n)].op) && length_of(Inst(n)) == kSegmentAtLaunch) AddParameter();
    }
  }

 private:
  void AddParameter() {
    std::string name = "segment";
    auto taken = [&] {
      for (Value param : into_->Params()) {
        if (module_.Text((*into_)[param].name) == name) return true;
      }
      return false;
    };
    while (taken()) name += '_';
    ir::ParamInfo info;
    info.role = ir::ParamRole::Segment;
    info.span = from_.span;
    at_launch_ = into_->AddParameter(ir::kI32, module_.Intern(name), info);
  }

  void Visit(Inst inst) override {
    Op op = from_[inst].op;
    if (!analysis::IsSerialLoop(op)) return Copy(inst);
    if (uint32_t length = length_of_(inst); length != 0)
      return op == Op::For ? BlockFor(inst, length) : BlockWhile(inst, length);
    Inst copy = CopyShell(inst, MapAll(from_.Operands(inst)));
    if (!analysis::StepsOf(from_, inst).Valid()) {
      (*into_)[copy].words.Remove(ir::Word::Checkpoint);
      (*into_)[copy].attr = ir::kNoAttr;
    }
    CopyRegions(inst, copy);
  }

  Value Wide(Value v, Type type) { return into_->TypeOf(v) == type ? v : builder_.Cast(v, type); }

  /// The number of iterations.
  Value Iterations(Value lo, Value hi, Value step, Type type) {
    std::optional<int64_t> low = into_->IntegerConstant(lo);
    int64_t stride = *into_->IntegerConstant(step);
    Value wide_lo = Wide(lo, type);
    Value count = builder_.Make(Op::Max, {Wide(hi, type), wide_lo});
    if (low != 0) count = builder_.Make(Op::Sub, {count, wide_lo});
    return stride == 1 ? count : builder_.Make(Op::CeilDiv, {count, builder_.Int(type, stride)});
  }

  void BlockFor(Inst inst, uint32_t length) {
    const ir::InstData& data = from_[inst];
    ir::Words direction = data.words.Of({ir::Word::Reversed});
    Block source = data.regions[0];
    builder_.SetSpan(data.span);
    Value lo = Map(from_.Operand(inst, 0)), hi = Map(from_.Operand(inst, 1)),
          step = Map(from_.Operand(inst, 2));
    Type index_type = into_->TypeOf(lo);
    bool narrow = index_type == ir::kI32 && into_->IntegerConstant(lo).value_or(-1) >= 0;
    Type type = narrow ? ir::kI32 : ir::kI64;
    Value zero = builder_.Zero(type), one = builder_.Int(type, 1);
    Value count = Iterations(lo, hi, step, type);
    Value segment;
    if (length != kSegmentAtLaunch) {
      segment = builder_.Int(type, length);
    } else {
      Value is_chosen = builder_.Make(Op::Gt, {at_launch_, builder_.I32(0)});
      Value chosen = builder_.Make(Op::Max, {Wide(at_launch_, type), one});
      segment = builder_.Make(Op::Select, {is_chosen, chosen, builder_.Make(Op::Max, {count, one})});
    }
    Value segments = builder_.Make(Op::CeilDiv, {count, segment});

    std::vector<Value> initial = MapAll(from_.Operands(inst).subspan(3));
    Inst outer = builder_.For(zero, segments, one, initial, direction.With(ir::Word::Checkpoint));
    if (length != kSegmentAtLaunch) (*into_)[outer].attr = length;
    std::vector<Value> carried = (*into_)[(*into_)[outer].regions[0]].params;
    InBlock((*into_)[outer].regions[0], [&] {
      Value begin = builder_.Make(Op::Mul, {carried[0], segment});
      Value steps = builder_.Make(Op::Min, {segment, builder_.Make(Op::Sub, {count, begin})});
      steps = builder_.Make(Op::Max, {steps, one});
      Inst inner = builder_.For(zero, steps, one, std::span<const Value>(carried).subspan(1),
                                direction.With(ir::Word::Steps));
      InBlock((*into_)[inner].regions[0], [&] {
        std::vector<Value> params = (*into_)[builder_.block()].params;
        MapNamed(from_[source].params[0], Index(params[0], begin, lo, step, index_type));
        for (size_t n = 1; n < params.size(); ++n) {
          Value param = from_[source].params[n];
          (*into_)[params[n]].name = (*into_)[carried[n]].name = from_[param].name;
          SetMapped(param, params[n]);
        }
        for (Inst inner_inst : from_[source].insts) Visit(inner_inst);
      });
      builder_.SetSpan(data.span);
      builder_.Yield(ResultsOf(inner));
    });
    MapResults(inst, ResultsOf(outer));
  }

  // The carried values of the loop over segments: those of the loop, the iterations of the segment before,
  // and where there is a bound the iterations of all before.
  void BlockWhile(Inst inst, uint32_t length) {
    const ir::InstData& data = from_[inst];
    bool has_max = data.Has(ir::Word::HasMax);
    builder_.SetSpan(data.span);
    Type type = has_max ? from_.TypeOf(from_.Operand(inst, 0)) : ir::kI32;
    Value zero = builder_.Zero(type), one = builder_.Int(type, 1);
    Value count = has_max ? builder_.Make(Op::Max, {Map(from_.Operand(inst, 0)), zero}) : Value();
    Value whole = has_max ? builder_.Make(Op::Max, {count, one}) : builder_.I32(INT32_MAX), segment;
    if (length != kSegmentAtLaunch) {
      segment = builder_.Int(type, length);
    } else {
      Value is_chosen = builder_.Make(Op::Gt, {at_launch_, builder_.I32(0)});
      segment = builder_.Make(Op::Select, {is_chosen, Wide(at_launch_, type), whole});
    }
    // Once the loop runs backwards, sizing does not know the rest of the bound.
    if (has_max) segment = builder_.Make(Op::Min, {segment, whole});
    std::vector<Value> initial = MapAll(from_.Operands(inst).subspan(has_max ? 1 : 0));
    size_t own = initial.size();
    initial.push_back(segment);
    if (has_max) initial.push_back(zero);
    ir::Words or_none = data.words.Of({ir::Word::OrNone});
    Inst outer = builder_.While(has_max ? builder_.Make(Op::CeilDiv, {count, segment}) : Value(), initial,
                                or_none.With(ir::Word::Checkpoint));
    if (length != kSegmentAtLaunch) (*into_)[outer].attr = length;
    Block outer_test = (*into_)[outer].regions[0], outer_body = (*into_)[outer].regions[1];
    Block around = builder_.block();
    std::vector<Value> carried = (*into_)[outer_test].params;
    InBlock(outer_test, [&] {
      Value is_full = builder_.Make(Op::Ge, {carried[own], segment});
      builder_.Terminate(Op::ContinueIf, {&is_full, 1});
    });

    builder_.SetBlock(outer_body);
    Value most = segment;
    if (has_max) most = builder_.Make(Op::Min, {segment, builder_.Make(Op::Sub, {count, carried[own + 1]})});
    std::vector<Value> start(carried.begin(), carried.begin() + static_cast<std::ptrdiff_t>(own));
    start.push_back(zero);
    bool whole_is_endless = length == kSegmentAtLaunch && (!has_max || !or_none.IsEmpty());
    ir::Words words = {ir::Word::Steps};
    if (whole_is_endless) words.Add(ir::Word::OrNone);
    Inst inner = builder_.While(most, start, words);
    Block test = (*into_)[inner].regions[0], body = (*into_)[inner].regions[1];
    MapParams(data.regions[0], carried);
    MapParams(data.regions[0], (*into_)[test].params);
    Value steps = (*into_)[test].params[own];
    VisitBlock(data.regions[0], test);
    InBlock(body, [&] {
      VisitContents(data.regions[1]);
      std::vector<Value> yields = MapAll(from_.Operands(from_.Terminator(data.regions[1])));
      yields.push_back(builder_.Make(Op::Add, {steps, one}));
      builder_.Yield(yields);
    });

    builder_.SetSpan(data.span);
    std::vector<Value> results = ResultsOf(inner);
    if (has_max) results.push_back(builder_.Make(Op::Add, {carried[own + 1], segment}));
    builder_.Yield(results);
    builder_.SetBlock(around);
    MapResults(inst, ResultsOf(outer));
  }

  /// The loop's own index. It fits its type however wide the numbers of iterations are.
  Value Index(Value number, Value begin, Value lo, Value step, Type index_type) {
    Type type = into_->TypeOf(number);
    Value moved = builder_.Make(Op::Add, {begin, number});
    moved = builder_.Make(Op::Mul, {moved, Wide(step, type)});
    return Wide(builder_.Make(Op::Add, {moved, Wide(lo, type)}), index_type);
  }

  const std::function<uint32_t(Inst)>& length_of_;
  Value at_launch_;
};

}  // namespace

std::unique_ptr<Function> BlockLoops(ir::Module& module, const Function& function,
                                     const std::function<uint32_t(Inst)>& length_of, FoldConfig fold) {
  return BlockRewriter(module, function, length_of, fold).Run();
}

}  // namespace adc::transform
