// A record is an id, the indices of the iteration and the values, in words of 32 bits. Records of different
// iterations lie as they come, so that a reader has to sort them by the indices; those of one iteration lie
// in order, since one thread takes space for them one after the other.
//
// Space is taken by one atomic addition. A thread looks first whether there is any left: the sum of what is
// taken stays below 2^32, however much is printed. A record that does not fit ends the buffer, with 0 in the
// place of its id if there is a word for it.

#include "counting/record_prints.h"

#include "analysis/structure.h"
#include "analysis/walk.h"
#include "artifact/print_record.h"
#include "ir/module.h"
#include "transform/rewriter.h"

namespace adc::counting {
namespace {

using ir::Function, ir::Inst, ir::Op, ir::Scalar, ir::Type, ir::Value;

constexpr Type kWord = Type::Of(Scalar::U32);

class PrintRecorder final : public transform::Rewriter {
 public:
  PrintRecorder(ir::Module& module, const Function& from, transform::FoldConfig fold)
      : Rewriter(module, from, fold) {
    ir::ParamInfo info;
    info.span = from.span;
    made_.kernel = module.Text(from.name);
    buffer_ = into_->AddParameter(Type::Buffer(kWord, 1), module.Intern("prints"), info);
  }

  /// Returns the facts that Run has found.
  KernelPrints Take(const Function& made) {
    made_.buffer = module_.Text(made[buffer_].name);
    return std::move(made_);
  }

 private:
  Value Word(uint32_t value) { return builder_.Int(kWord, value); }
  Value AtWord(uint32_t position) { return builder_.I32(static_cast<int32_t>(position)); }

  Value Atomic(Op op, uint32_t position, uint32_t operand) {
    Value at = AtWord(position), value = Word(operand);
    return builder_.Access(op, buffer_, {&at, 1}, {&value, 1});
  }

  /// The words of a scalar, the low one first.
  void AddWords(Value value, std::vector<Value>& words) {
    Type type = into_->TypeOf(value);
    uint32_t bits = ir::BitWidth(type.scalar);
    if (bits == 64) {
      constexpr Type kWide = Type::Of(Scalar::U64);
      Value wide = type.Is(Scalar::U64) ? value : builder_.Bitcast(value, kWide);
      words.push_back(builder_.Cast(wide, kWord));
      words.push_back(builder_.Cast(builder_.Make(Op::Shr, {wide, builder_.Int(kWide, 32)}), kWord));
      return;
    }
    if (ir::IsFloat(type.scalar) && bits < 32) value = builder_.Cast(value, Type::Of(Scalar::F32));
    bool as_bits = ir::IsFloat(type.scalar) || type.Is(Scalar::I32);
    words.push_back(as_bits ? builder_.Bitcast(value, kWord) : builder_.Cast(value, kWord));
  }

  void Visit(Inst inst) override {
    if (analysis::IsParallel(from_[inst].op)) {
      ++part_;
      loop_ = inst;
      Copy(inst);
      loop_ = {};
      ++part_;
      return;
    }
    if (from_[inst].op != Op::Print) return Copy(inst);
    builder_.SetSpan(from_[inst].span);
    Record(AddStatement(inst));
  }

  /// Enters the statement in the list. The words of its record.
  std::vector<Value> AddStatement(Inst inst) {
    PrintStatement& statement = made_.statements.emplace_back();
    statement.text = module_.Text(from_[inst].symbol);
    statement.part = part_;
    statement.place = from_[inst].span;
    std::vector<Value> words = {Word(static_cast<uint32_t>(made_.statements.size()))};
    if (loop_.Valid()) {
      for (Value index : from_[from_[loop_].regions[0]].params) {
        statement.indices.push_back(from_.TypeOf(index).scalar);
        AddWords(Map(index), words);
      }
    }
    for (Value value : from_.Operands(inst)) {
      statement.values.push_back(from_.TypeOf(value).scalar);
      AddWords(Map(value), words);
    }
    return words;
  }

  void Record(const std::vector<Value>& words) {
    Value extent = builder_.Shape(buffer_, 0), first = AtWord(ADRT_PRINT_RECORDS);
    builder_.Where(builder_.Make(Op::Gt, {extent, first}),
                   [&] { RecordInto(builder_.Cast(builder_.Make(Op::Sub, {extent, first}), kWord), words); });
  }

  /// `space`: the words for records.
  void RecordInto(Value space, const std::vector<Value>& words) {
    auto size = static_cast<uint32_t>(words.size());
    Value taken = Atomic(Op::AtomicOr, ADRT_PRINT_TAKEN, 0);
    auto give = [&](Value value) { builder_.Yield({&value, 1}); };
    Inst takes = builder_.Branch(
        builder_.Make(Op::Lt, {taken, space}), {&kWord, 1},
        [&] { give(Atomic(Op::AtomicAdd, ADRT_PRINT_TAKEN, size)); }, [&] { give(space); });
    Value at = into_->Result(takes);
    Value fits = builder_.Make(Op::Le, {builder_.Make(Op::Add, {at, Word(size)}), space});
    auto store = [&] {
      for (uint32_t n = 0; n < size; ++n) StoreWord(at, n, words[n]);
      builder_.Yield({});
    };
    auto lose = [&] {
      CountLost();
      builder_.Where(builder_.Make(Op::Lt, {at, space}), [&] { StoreWord(at, 0, Word(0)); });
      builder_.Yield({});
    };
    builder_.Branch(fits, {}, store, lose);
  }

  void StoreWord(Value at, uint32_t offset, Value word) {
    Value first = builder_.Cast(at, ir::kI32);
    Value index = builder_.Make(Op::Add, {first, AtWord(ADRT_PRINT_RECORDS + offset)});
    builder_.Access(Op::Store, buffer_, {&index, 1}, {&word, 1});
  }

  /// In 64 bits, which not every target adds atomically.
  void CountLost() {
    Value before = Atomic(Op::AtomicAdd, ADRT_PRINT_LOST, 1);
    builder_.Where(builder_.Make(Op::Eq, {before, Word(UINT32_MAX)}),
                   [&] { Atomic(Op::AtomicAdd, ADRT_PRINT_LOST + 1, 1); });
  }

  KernelPrints made_;
  Value buffer_;
  Inst loop_;  ///< the parallel loop around; invalid outside of all
  uint32_t part_ = 0;
};

bool Prints(const Function& kernel) {
  bool prints = false;
  analysis::ForEachInst(kernel, kernel.Body(),
                        [&](Inst inst) { prints = prints || kernel[inst].op == Op::Print; });
  return prints;
}

/// The threads of a block would share the turns of such a loop, and print them in any order.
void RunInOrder(Function& kernel) {
  ir::Value buffer = kernel.Params().back();
  analysis::ForEachInst(kernel, kernel.Body(), [&](Inst loop) {
    if (kernel[loop].op != Op::For || !kernel[loop].Has(ir::Word::Apart)) return;
    bool prints = false;
    analysis::ForEachInst(kernel, kernel[loop].regions[0], [&](Inst inst) {
      prints = prints || (ir::IsAccess(kernel[inst].op) && kernel.Operand(inst, 0) == buffer);
    });
    if (!prints) return;
    kernel[loop].words.Remove(ir::Word::Apart);
    kernel[loop].attr = ir::kNoAttr;
  });
}

}  // namespace

std::vector<KernelPrints> RecordPrints(ir::Module& module, transform::FoldConfig fold) {
  std::vector<KernelPrints> all;
  for (auto& function : module.functions) {
    if (!function->IsKernel() || !Prints(*function)) continue;
    PrintRecorder recorder(module, *function, fold);
    std::unique_ptr<Function> made = recorder.Run();
    *function = std::move(*made);
    all.push_back(recorder.Take(*function));
    RunInOrder(*function);
  }
  return all;
}

}  // namespace adc::counting
