#include "raise/early_loads.h"

#include <set>

namespace adc::raise {
namespace {

using ir::Block, ir::Inst, ir::Op, ir::Value;

constexpr size_t kMostLoads = 16;

/// A buffer, or a field of a layout.
struct Place {
  uint32_t param = ir::kNoAttr;
  uint32_t field = ir::kNoAttr;
  friend auto operator<=>(const Place&, const Place&) = default;
};

class Mover {
 public:
  explicit Mover(ir::Function& kernel) : kernel_(kernel) {}

  void Walk(Block block) {
    for (size_t position = 0; position < kernel_[block].insts.size(); ++position) {
      Inst inst = kernel_[block].insts[position];
      Op op = kernel_[inst].op;
      if ((op == Op::For || op == Op::While) && StoresRows(inst)) position += MoveBefore(block, position);
      for (uint32_t region = 0; region < kernel_.RegionCount(inst); ++region)
        Walk(kernel_[inst].regions[region]);
    }
  }

 private:
  bool StoresRows(Inst inst) const {
    if (kernel_[inst].op == Op::RowStore) return true;
    for (uint32_t region = 0; region < kernel_.RegionCount(inst); ++region) {
      for (Inst inner : kernel_[kernel_[inst].regions[region]].insts) {
        if (StoresRows(inner)) return true;
      }
    }
    return false;
  }

  /// How many instructions are before the loop that were not.
  size_t MoveBefore(Block block, size_t loop) {
    std::set<Inst> passed;  // the instructions that a load would pass
    std::set<Place> written;
    bool alias_written = false;
    std::vector<Inst> early, left;
    const std::vector<Inst> insts = kernel_[block].insts;
    for (size_t position = loop; position < insts.size(); ++position) {
      Inst inst = insts[position];
      bool moves = early.size() < kMostLoads && IsCandidate(inst) && IsMadeBefore(inst, passed) &&
                   !IsWritten(inst, written, alias_written);
      if (moves && kernel_[inst].op == Op::Load) {
        early.push_back(inst);
        moved_.Insert(inst);
        continue;  // its result is there from now on
      }
      passed.insert(inst);
      NoteWrites(inst, written, alias_written);
      if (moves) {
        early.push_back(TakeApart(inst, &left));
      } else {
        left.push_back(inst);
      }
    }
    std::vector<Inst>& list = kernel_[block].insts;
    list.resize(loop);
    list.insert(list.end(), early.begin(), early.end());
    list.insert(list.end(), left.begin(), left.end());
    for (Inst inst : list) kernel_[inst].parent = block;
    return early.size();
  }

  /// Makes a load of the plain update `inst`, and appends the rest of it to `rest`.
  Inst TakeApart(Inst inst, std::vector<Inst>* rest) {
    std::span<const Value> operands = kernel_.Operands(inst);
    std::vector<Value> cell(operands.begin(), operands.end() - 1);
    Value value = operands.back();
    ir::Type type = kernel_.TypeOf(value);
    diag::SourceSpan span = kernel_[inst].span;
    Inst load = kernel_.NewInst(Op::Load, cell, {&type, 1}, span);
    Value terms[] = {kernel_.Result(load), value};
    Inst sum = kernel_.NewInst(Op::Add, terms, {&type, 1}, span);
    cell.push_back(kernel_.Result(sum));
    Inst store = kernel_.NewInst(Op::Store, cell, {}, span);
    for (Inst access : {load, store}) {
      kernel_[access].index_count = kernel_[inst].index_count;
      kernel_[access].words = kernel_[inst].words.Of({ir::Word::Flat});
      kernel_[access].attr = kernel_[inst].attr;
      kernel_[access].component = kernel_[inst].component;
    }
    moved_.Insert(load);
    rest->push_back(sum);
    rest->push_back(store);
    return load;
  }

  bool IsCandidate(Inst inst) const {
    const ir::InstData& data = kernel_[inst];
    bool plain = data.op == Op::AddTo && data.Has(ir::Word::Plain);
    return (data.op == Op::Load || plain) && PlaceOf(inst).param != ir::kNoAttr && !moved_.Has(inst);
  }

  bool IsMadeBefore(Inst inst, const std::set<Inst>& passed) const {
    for (Value index : kernel_.Indices(inst)) {
      Inst made = kernel_.DefiningInst(index);
      if (made.Valid() && passed.contains(made)) return false;
    }
    return true;
  }

  Place PlaceOf(Inst access) const {
    const ir::ValueData& base = kernel_[kernel_.Operand(access, 0)];
    bool is_parameter = kernel_.IsParameter(kernel_.Operand(access, 0));
    return is_parameter ? Place{base.number, kernel_[access].attr} : Place();
  }

  bool IsWritten(Inst inst, const std::set<Place>& written, bool alias_written) const {
    Place place = PlaceOf(inst);
    return written.contains(place) || (alias_written && kernel_.params[place.param].alias);
  }

  void NoteWrites(Inst inst, std::set<Place>& written, bool& alias_written) const {
    const ir::InstData& data = kernel_[inst];
    ir::Effect effect = ir::InfoOf(data.op).effect;
    if (effect == ir::Effect::Write || effect == ir::Effect::Atomic) {
      Place place = PlaceOf(inst);
      written.insert(place);
      if (place.param != ir::kNoAttr && kernel_.params[place.param].alias) alias_written = true;
    }
    for (uint32_t region = 0; region < kernel_.RegionCount(inst); ++region) {
      for (Inst inner : kernel_[data.regions[region]].insts) NoteWrites(inner, written, alias_written);
    }
  }

  ir::Function& kernel_;
  IndexSet<Inst> moved_;
};

}  // namespace

void LoadEarly(ir::Module&, ir::Function& kernel, const RaiseConfig& config) {
  if (!config.device) return;
  Mover mover(kernel);
  for (Inst inst : std::vector<Inst>(kernel[kernel.Body()].insts)) {
    bool parallel = kernel[inst].op == Op::Parallel || kernel[inst].op == Op::ParallelOver;
    if (parallel) mover.Walk(kernel[inst].regions[0]);
  }
}

}  // namespace adc::raise
