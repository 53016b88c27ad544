#include "transform/check_writes.h"

#include <array>
#include <map>
#include <utility>

#include "analysis/memory.h"
#include "ir/module.h"
#include "ir/promise.h"
#include "support/check.h"
#include "transform/isolate_tasks.h"
#include "transform/mark_words.h"
#include "transform/rewriter.h"

namespace adc::transform {
namespace {

using ir::Function, ir::Inst, ir::InstData, ir::Op, ir::Type, ir::Value;

constexpr Type kWord = Type::Of(ir::Scalar::U32);
constexpr uint32_t kStamps = (1u << 31) - 2;  ///< a stamp has 31 bits and is not 0

class CheckWritesRewriter final : public Rewriter {
 public:
  CheckWritesRewriter(ir::Module& module, const Function& from) : Rewriter(module, from) {}

  /// False when there is nothing to check.
  bool Plan() {
    std::map<Place, Stores> stores;
    for (uint32_t block = 0; block < from_.BlockCount(); ++block) {
      for (Inst inst : from_[ir::Block(block)].insts) {
        if (!OfParameter(inst) || !analysis::WritesMemory(from_[inst].op)) continue;
        const ir::ParamInfo& info = from_.params[PlaceOf(inst).first];
        bool promised = info.IsDisjoint();
        if (from_[inst].op != Op::Store && !promised) continue;
        Stores& of_place = stores[PlaceOf(inst)];
        Value v = from_.AccessValues(inst)[0];
        bool literal = from_.IsConstant(v) && !promised;
        of_place.one_literal =
            of_place.one_literal && literal && (!of_place.value.Valid() || of_place.value == v);
        of_place.value = v;
      }
    }
    for (const auto& [place, of_place] : stores)
      if (!of_place.one_literal) words_[place] = WordsOf(place);
    if (words_.empty()) return false;
    for (uint32_t block = 0; block < from_.BlockCount(); ++block) {
      for (Inst inst : from_[ir::Block(block)].insts)
        if (analysis::IsParallel(from_[inst].op)) number_of_[inst] = loops_++;
    }
    return true;
  }

 private:
  using Place = MarkedPlace;
  struct Stores {
    Value value;
    bool one_literal = true;
  };
  struct Words {
    Value writes;
    Value reads;    ///< where `disjoint` is all that is promised
    StringId name;  ///< of what they stand for, as messages say it
  };

  bool OfParameter(Inst inst) const {
    if (!ir::IsAccess(from_[inst].op)) return false;
    const ir::ValueData& base = from_[from_.Operand(inst, 0)];
    bool is_parameter = from_.IsParameter(from_.Operand(inst, 0));
    return is_parameter && from_.params[base.number].role == ir::ParamRole::Plain;
  }

  Place PlaceOf(Inst inst) const { return {from_[from_.Operand(inst, 0)].number, from_[inst].attr}; }

  std::string NameOf(const Place& place) const {
    Value param = from_.Params()[place.first];
    std::string name(module_.Text(from_[param].name));
    Type type = from_.TypeOf(param);
    if (!type.IsLayout()) return name;
    return name + "::" + std::string(module_.Text(module_.layouts[type.count].fields[place.second].name));
  }

  Words WordsOf(const Place& place) {
    const ir::ParamInfo& info = from_.params[place.first];
    bool reads = info.IsDisjoint() && !info.settled && !info.writeonce;
    return {AddMarkWords(module_, from_, place, ".writes", *into_),
            reads ? AddMarkWords(module_, from_, place, ".reads", *into_) : Value(),
            module_.Intern(NameOf(place))};
  }

  /// The parallel loop around `inst`; invalid outside of all.
  Inst LoopAround(Inst inst) const {
    for (Inst owner = from_[from_[inst].parent].owner; owner.Valid();
         owner = from_[from_[owner].parent].owner)
      if (analysis::IsParallel(from_[owner].op)) return owner;
    return {};
  }

  Value Word(uint32_t value) { return builder_.Int(kWord, value); }

  /// The stamp of the iteration that executes `inst`.
  Value Stamp(Inst loop) {
    if (!loop.Valid()) return Word(1);
    Value number = IterationNumber(builder_, module_, from_, loop, [&](Value value) { return Map(value); });
    Value few = builder_.Make(Op::Rem, {number, Word(kStamps / loops_)});
    return builder_.Make(Op::Add,
                         {builder_.Make(Op::Mul, {few, Word(loops_)}), Word(1 + number_of_.at(loop))});
  }

  /// An atomic on the word in `words` of what `access` touches. The word before.
  Value Mark(Inst access, Value words, Op op, Value operand) {
    const InstData& data = from_[access];
    Type element = from_.TypeOf(from_.Operand(access, 0)).IsLayout()
                       ? into_->TypeOf(words).Element()
                       : from_.TypeOf(from_.Operand(access, 0)).Element();
    ADC_CHECK(element.IsScalar() || data.component != ir::kNoAttr,
              "an access of a whole vector reaches the check of writes");
    return builder_.Access(op, words, MapAll(from_.Indices(access)), {&operand, 1}, ir::kNoAttr,
                           data.component);
  }

  Value IsOdd(Value word) {
    return builder_.Make(Op::Ne, {builder_.Make(Op::And, {word, Word(1)}), Word(0)});
  }

  /// The word of an earlier access, as an iteration of `loop` reads it.
  struct Earlier {
    Value here;    ///< an iteration of this loop made the mark
    Value others;  ///< another one than this
    Value number;  ///< i64: 1 + the number of the iteration that made it
  };
  Earlier Look(Inst loop, Value before, Value stamp) {
    Value last = builder_.Make(Op::Shr, {before, Word(1)});
    Value from_zero = builder_.Make(Op::Sub, {last, Word(1)});
    Value of_loop =
        builder_.Make(Op::Eq, {builder_.Make(Op::Rem, {from_zero, Word(loops_)}), Word(number_of_.at(loop))});
    Value here = builder_.Make(Op::And, {builder_.Make(Op::Ne, {last, Word(0)}), of_loop});
    Value others = builder_.Make(Op::And, {here, builder_.Make(Op::Ne, {last, stamp})});
    Value number = builder_.Make(Op::Add, {builder_.Make(Op::Div, {from_zero, Word(loops_)}), Word(1)});
    return {here, others, builder_.Cast(number, ir::kI64)};
  }

  void Demand(ir::Promise promise, Value condition, const Words& words, Value other = {}) {
    std::array<Value, 2> operands = {condition, other};
    Inst check = builder_.Create(Op::Assert, {operands.data(), other.Valid() ? 2u : 1u}, {});
    (*into_)[check].words = {ir::Word::Promise};
    (*into_)[check].attr = static_cast<uint32_t>(promise);
    (*into_)[check].symbol = words.name;
  }

  /// That no other iteration of `loop` made the mark `before`. Outside of parallel loops there is none.
  void DemandDisjoint(Inst loop, Value before, Value stamp, const Words& words) {
    if (!loop.Valid()) return;
    Earlier earlier = Look(loop, before, stamp);
    Demand(ir::Promise::Disjoint, builder_.Make(Op::Not, {earlier.others}), words, earlier.number);
  }

  void MarkRead(Inst load, Inst loop, const Words& words) {
    Value stamp = Stamp(loop);
    if (!words.reads.Valid())
      return DemandDisjoint(loop, Mark(load, words.writes, Op::AtomicOr, Word(1)), stamp, words);
    if (!loop.Valid()) return;
    DemandDisjoint(loop, Mark(load, words.writes, Op::AtomicOr, Word(0)), stamp, words);
    Value before = Mark(load, words.reads, Op::AtomicExchange, builder_.Make(Op::Mul, {stamp, Word(2)}));
    Earlier earlier = Look(loop, before, stamp);
    Value several = builder_.Make(Op::And, {earlier.here, IsOdd(before)});
    Value bit = builder_.Cast(builder_.Make(Op::Or, {earlier.others, several}), kWord);
    Mark(load, words.reads, Op::AtomicOr, bit);
  }

  /// That no other iteration of `loop` has read what `write` wrote.
  void DemandUnread(Inst write, Inst loop, Value stamp, const Words& words) {
    if (!loop.Valid()) return;
    Value before = Mark(write, words.reads, Op::AtomicOr, Word(0));
    Earlier earlier = Look(loop, before, stamp);
    Value several = builder_.Make(Op::And, {earlier.here, IsOdd(before)});
    Value number = builder_.Make(Op::Select, {earlier.others, earlier.number, builder_.I64(0)});
    Demand(ir::Promise::Disjoint, builder_.Make(Op::Not, {builder_.Make(Op::Or, {earlier.others, several})}),
           words, number);
  }

  void Visit(Inst inst) override {
    auto found = OfParameter(inst) ? words_.find(PlaceOf(inst)) : words_.end();
    if (found == words_.end()) return Copy(inst);
    const Words& words = found->second;
    const ir::ParamInfo& info = from_.params[found->first.first];
    bool promised = info.IsDisjoint();
    bool writes = analysis::WritesMemory(from_[inst].op);
    if (!writes && !promised) return Copy(inst);
    Inst loop = LoopAround(inst);
    builder_.SetSpan(from_[inst].span);
    if (!writes) {
      MarkRead(inst, loop, words);
      return Copy(inst);
    }
    Copy(inst);
    builder_.SetSpan(from_[inst].span);
    Value stamp = Stamp(loop);
    if (from_[inst].op != Op::Store && !promised)
      return DemandDisjoint(loop, Mark(inst, words.writes, Op::AtomicOr, Word(0)), stamp, words);
    Value before = Mark(inst, words.writes, Op::AtomicExchange, builder_.Make(Op::Mul, {stamp, Word(2)}));
    DemandDisjoint(loop, before, stamp, words);
    if (info.writeonce) {
      Demand(ir::Promise::WriteOnce, builder_.Make(Op::Eq, {before, Word(0)}), words);
    } else if (info.settled) {
      Demand(ir::Promise::Settled, builder_.Make(Op::Not, {IsOdd(before)}), words);
    } else if (words.reads.Valid()) {
      DemandUnread(inst, loop, stamp, words);
    }
  }

  std::map<Place, Words> words_;
  std::map<Inst, uint32_t> number_of_;
  uint32_t loops_ = 1;  ///< parallel loops, and what stands outside of them
};

}  // namespace

bool CheckWrites(ir::Module& module, diag::Diagnostics& diagnostics) {
  bool any = false;
  for (auto& function : module.functions) {
    if (!function->IsKernel() || function->role != ir::KernelRole::Primal) continue;
    CheckWritesRewriter rewriter(module, *function);
    if (!rewriter.Plan()) continue;
    std::unique_ptr<Function> checked = rewriter.Run();
    *function = std::move(*checked);
    any = true;
  }
  return !any || IsolateTasks(module, {}, diagnostics);
}

}  // namespace adc::transform
