#include "counting/bounds_check.h"

#include "artifact/bounds_record.h"
#include "artifact/cpu_abi.h"

namespace adc::counting {
namespace {

using ir::Block, ir::Inst, ir::Op, ir::Value;

class CheckWriter {
 public:
  CheckWriter(BoundsBuilder& builder, const BoundsParameters& parameters)
      : builder_(builder), parameters_(parameters) {}

  void Write(uint64_t tag, size_t loops) {
    ir::Function& function = builder_.function();
    Block outer = builder_.block();
    Value bounds[] = {builder_.I32(0), builder_.I32(1)};
    Inst task = builder_.Parallel(bounds, 0);
    builder_.SetBlock(function[task].regions[0]);
    // Backwards: of several loops that differ the first is written last. No other code that could report runs
    // at the same time.
    Value last = builder_.I64(static_cast<int64_t>(loops));
    Inst loop = builder_.For(builder_.I64(0), last, builder_.I64(1), {}, {ir::Word::Reversed});
    Block after = builder_.block();
    builder_.SetBlock(function[loop].regions[0]);
    CompareLoop(function[function[loop].regions[0]].params[0]);
    builder_.Yield({});
    builder_.SetBlock(after);
    Value recorded = At(parameters_.record, builder_.I64(ADRT_BOUNDS_TAG));
    Value foreign = builder_.Two(Op::Ne, recorded, builder_.Word(tag));
    builder_.Where(foreign, [&] { Report(builder_.I32(-1), builder_.Word(0), builder_.Word(0)); });
    builder_.Yield({});
    builder_.SetBlock(outer);
  }

 private:
  void CompareLoop(Value number) {
    Value first = builder_.Two(Op::Add, builder_.Two(Op::Mul, number, builder_.I64(ADRT_BOUNDS_LOOP_SIZE)),
                               builder_.I64(ADRT_BOUNDS_LOOPS));
    Value second = builder_.Two(Op::Add, first, builder_.I64(1));
    Value then = At(parameters_.record, second), now = At(parameters_.sums, second);
    Value hashes = builder_.Two(Op::Ne, At(parameters_.record, first), At(parameters_.sums, first));
    Value differs = builder_.Two(Op::Or, hashes, builder_.Two(Op::Ne, then, now));
    builder_.Where(differs, [&] { Report(builder_.Cast(number, ir::kI32), now, then); });
  }

  Value At(Value buffer, Value index) { return builder_.Load(buffer, {&index, 1}); }

  void Report(Value loop, Value now, Value then) {
    Say(ADRT_CPU_STATUS_CODE, builder_.I32(ADRT_BOUNDS_CHANGED));
    Say(ADRT_BOUNDS_STATUS_CLOSED, builder_.I32(ADRT_BOUNDS_CHANGED));
    Say(ADRT_CPU_STATUS_INDEX, loop);
    SayWide(ADRT_BOUNDS_STATUS_NOW, now);
    SayWide(ADRT_BOUNDS_STATUS_THEN, then);
  }
  void Say(int64_t word, Value number) {
    Value index = builder_.I64(word);
    builder_.Access(Op::Store, parameters_.status, {&index, 1}, {&number, 1});
  }
  void SayWide(int64_t word, Value number) {
    Value high = builder_.Two(Op::Shr, number, builder_.Word(32)), mask = builder_.Word(UINT32_MAX);
    for (Value half : {builder_.Two(Op::And, number, mask), high})
      Say(word++, builder_.Bitcast(builder_.Cast(half, ir::kU32), ir::kI32));
  }

  BoundsBuilder& builder_;
  const BoundsParameters& parameters_;
};

}  // namespace

void AddBoundsCheck(BoundsBuilder& builder, const BoundsParameters& parameters, uint64_t tag, size_t loops) {
  CheckWriter(builder, parameters).Write(tag, loops);
}

}  // namespace adc::counting
