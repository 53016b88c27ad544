#include "autodiff/provisions.h"

#include <algorithm>
#include <map>

#include "analysis/loops.h"
#include "analysis/memory.h"
#include "analysis/structure.h"
#include "analysis/walk.h"
#include "autodiff/adjoint_work.h"
#include "autodiff/to_be_recorded.h"
#include "ir/module.h"

namespace adc::autodiff {
namespace {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Value;

class Describer {
 public:
  Describer(const ir::Module& module, const Function& function, const RegionTree& tree,
            const AdjointWork& work, const RecordingPlan& plan)
      : module_(module), function_(function), tree_(tree), plan_(plan), structure_(function) {
    analysis::ForEachInst(function, [&](Inst inst) {
      for (Value v : work.ReadsOf(inst)) AddReader(v, inst);
    });
  }

  ProvisionRecord Run() {
    std::vector<Block> units = tree_.PostOrder();
    std::sort(units.begin(), units.end(), [&](Block left, Block right) {
      uint32_t a = structure_.Begin(left), b = structure_.Begin(right);
      return a != b ? a < b : tree_.Depth(left) < tree_.Depth(right);
    });
    for (Block unit : units) position_[unit.raw] = static_cast<uint32_t>(position_.size());
    for (Block unit : units) record_.units.push_back(Describe(unit));
    for (const auto& [id, name] : names_) record_.names.emplace_back(id, name);
    return std::move(record_);
  }

 private:
  /// An operation that reads a value twice is one reader.
  void AddReader(Value v, Inst inst) {
    std::vector<ProvisionReader>& readers = readers_[v.raw];
    diag::SourceSpan place = function_[inst].span;
    if (readers.empty() || readers.back().place != place) readers.push_back({function_[inst].op, place});
  }

  std::string NameOf(Value v) const { return std::string(module_.Text(function_[v].name)); }

  Provision ValueOf(Value v, diag::SourceSpan place) {
    Provision provision;
    provision.id = v.raw;
    provision.name = NameOf(v);
    provision.scalar = function_.TypeOf(v).scalar;
    provision.place = place;
    auto readers = readers_.find(v.raw);
    if (readers != readers_.end()) provision.readers = readers->second;
    names_[v.raw] = provision.name;
    return provision;
  }

  UnitProvisions Describe(Block block) {
    UnitProvisions unit;
    Inst owner = function_[block].owner;
    if (owner.Valid()) {
      unit.op = function_[owner].op;
      unit.place = function_[owner].span;
      unit.segments = analysis::StepsOf(function_, owner).Valid();
      unit.around = position_.at(tree_.UnitOf(function_[owner].parent).raw);
    } else {
      unit.place = function_.span;
    }
    IndexSet<Value> tape;
    if (owner.Valid() && IsSerialLoop(unit.op)) {
      for (Value v : plan_.Tape(owner)) tape.Insert(v);
      DescribeLoop(owner, plan_.Tape(owner), unit);
    }
    for (Inst inst : tree_.InstsOf(block)) DescribeInst(inst, tape, unit);
    return unit;
  }

  void DescribeLoop(Inst loop, const std::vector<Value>& tape, UnitProvisions& unit) {
    for (Value v : tape) {
      Inst maker = function_.DefiningInst(v);
      Provision provision = ValueOf(v, maker.Valid() ? function_[maker].span : unit.place);
      provision.carried = !maker.Valid();
      unit.stored.push_back(std::move(provision));
    }
    UndoPlan undo = PlanUndo(function_, tree_, plan_, loop);
    std::vector<Value> arrays = undo.snapshots;
    arrays.insert(arrays.end(), undo.before.begin(), undo.before.end());
    for (Inst store : undo.stores) arrays.push_back(function_.Operand(store, 0));
    for (Value array : arrays) {
      std::string name = NameOf(array);
      if (std::find(unit.arrays.begin(), unit.arrays.end(), name) == unit.arrays.end())
        unit.arrays.push_back(name);
    }
    for (const Restore& restore : plan_.Restores(loop))
      unit.undone.push_back(ValueOf(CarriedParam(function_, loop, restore.param), unit.place));
  }

  void DescribeInst(Inst inst, const IndexSet<Value>& tape, UnitProvisions& unit) {
    const ir::InstData& data = function_[inst];
    for (uint32_t n = 0; n < data.result_count; ++n) {
      Value v = function_.Result(inst, n);
      if (!plan_.ToBeRecorded(v) || tape.Has(v)) continue;
      if (plan_.StoreOf(v).Valid()) {
        unit.left.push_back(ValueOf(v, data.span));
      } else if (analysis::ReadsMemory(data.op)) {
        unit.loaded.push_back(ValueOf(v, data.span));
      } else if (data.op != Op::Alloca) {
        Provision provision = ValueOf(v, data.span);
        // Control that runs again makes all of its results at once.
        provision.operations = ir::HasRegions(data.op) ? (n == 0 ? OperationsIn(inst) : 0) : 1;
        for (Value operand : function_.Operands(inst)) AddSource(operand, provision);
        unit.recomputed.push_back(std::move(provision));
      }
    }
  }

  void AddSource(Value operand, Provision& provision) {
    ir::ValueKind kind = function_[operand].kind;
    if (kind == ir::ValueKind::Constant || kind == ir::ValueKind::Global) return;
    names_.emplace(operand.raw, NameOf(operand));
    if (std::find(provision.from.begin(), provision.from.end(), operand.raw) == provision.from.end())
      provision.from.push_back(operand.raw);
  }

  /// Operations that a forward run of `root` takes, each counted once.
  uint32_t OperationsIn(Inst root) const {
    uint32_t count = 0;
    for (uint32_t region = 0; region < function_.RegionCount(root); ++region) {
      analysis::ForEachInst(function_, function_[root].regions[region], [&](Inst inner) {
        bool runs = false;
        for (uint32_t n = 0; n < function_[inner].result_count; ++n)
          runs = runs || plan_.Forward(root, function_.Result(inner, n));
        if (runs && !ir::HasRegions(function_[inner].op)) ++count;
      });
    }
    return count;
  }

  const ir::Module& module_;
  const Function& function_;
  const RegionTree& tree_;
  const RecordingPlan& plan_;
  analysis::Structure structure_;
  ProvisionRecord record_;
  std::map<uint32_t, uint32_t> position_;  ///< of a unit, by its block
  std::map<uint32_t, std::string> names_;
  std::map<uint32_t, std::vector<ProvisionReader>> readers_;  ///< by the value that they read
};

}  // namespace

ProvisionRecord DescribeProvisions(const ir::Module& module, const Function& function, const RegionTree& tree,
                                   const AdjointWork& work, const RecordingPlan& plan) {
  return Describer(module, function, tree, work, plan).Run();
}

}  // namespace adc::autodiff
