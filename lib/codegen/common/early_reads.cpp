#include "codegen/common/early_reads.h"

#include <set>

namespace adc::codegen {
namespace {

using ir::Block;
using ir::Inst;
using ir::Op;
using ir::Value;

/// Each takes a register for as long as the loop runs.
constexpr size_t kMostReads = 16;

/// A buffer, or a field of a layout.
struct Place {
  uint32_t param = ir::kNoAttr;
  uint32_t field = ir::kNoAttr;
  friend auto operator<=>(const Place&, const Place&) = default;
};

class Finder {
 public:
  explicit Finder(const ir::Function& kernel) : kernel_(kernel) {}

  SideTable<Inst, std::vector<Inst>> Find() {
    Walk(kernel_.Body());
    return std::move(reads_);
  }

 private:
  void Walk(Block block) {
    const std::vector<Inst>& insts = kernel_[block].insts;
    for (size_t position = 0; position < insts.size(); ++position) {
      const ir::InstData& data = kernel_[insts[position]];
      bool loop = data.op == Op::For || data.op == Op::While;
      if (loop && StoresRows(insts[position])) Collect(insts, position);
      for (Block region : data.regions) {
        if (region.Valid()) Walk(region);
      }
    }
  }

  bool StoresRows(Inst inst) const {
    if (kernel_[inst].op == Op::RowStore) return true;
    for (Block region : kernel_[inst].regions) {
      if (!region.Valid()) continue;
      for (Inst inner : kernel_[region].insts) {
        if (StoresRows(inner)) return true;
      }
    }
    return false;
  }

  void Collect(const std::vector<Inst>& insts, size_t loop) {
    std::set<Inst> passed;  // what a read would go before
    std::set<Place> written;
    bool alias_written = false;
    std::vector<Inst> found;
    for (size_t position = loop; position < insts.size() && found.size() < kMostReads; ++position) {
      Inst inst = insts[position];
      if (IsCandidate(inst) && IsMadeBefore(inst, passed) && !IsWritten(inst, written, alias_written)) {
        found.push_back(inst);
        moved_.Insert(inst);
        // The value of a load is there from now on; that of an update is not.
        if (kernel_[inst].op == Op::Load) continue;
      }
      passed.insert(inst);
      NoteWrites(inst, written, alias_written);
    }
    if (!found.empty()) reads_.Set(insts[loop]) = std::move(found);
  }

  bool IsCandidate(Inst inst) const {
    const ir::InstData& data = kernel_[inst];
    bool plain = data.op == Op::AddTo && (data.flags & ir::kFlagPlain) != 0;
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
    bool is_parameter = base.kind == ir::ValueKind::BlockParam && Block(base.owner) == kernel_.Body();
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
    for (Block region : data.regions) {
      if (!region.Valid()) continue;
      for (Inst inner : kernel_[region].insts) NoteWrites(inner, written, alias_written);
    }
  }

  const ir::Function& kernel_;
  SideTable<Inst, std::vector<Inst>> reads_;
  IndexSet<Inst> moved_;
};

}  // namespace

SideTable<Inst, std::vector<Inst>> FindEarlyReads(const ir::Function& kernel) {
  return Finder(kernel).Find();
}

}  // namespace adc::codegen
