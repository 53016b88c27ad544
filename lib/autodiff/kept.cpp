#include "autodiff/kept.h"

#include <algorithm>
#include <map>

#include "analysis/memory.h"
#include "analysis/structure.h"

namespace adc::autodiff {
namespace {

using ir::Block;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Value;

class Describer {
 public:
  Describer(const ir::Module& module, const Function& function, const RegionTree& tree,
            const AdjointWork& work, const NeededPlan& plan, const transform::StepLoops& steps)
      : module_(module),
        function_(function),
        tree_(tree),
        work_(work),
        plan_(plan),
        steps_(steps),
        structure_(function) {}

  KeptRecord Run() {
    std::vector<Block> units = tree_.PostOrder();
    std::sort(units.begin(), units.end(), [&](Block left, Block right) {
      uint32_t a = structure_.Begin(left), b = structure_.Begin(right);
      return a != b ? a < b : tree_.Depth(left) < tree_.Depth(right);
    });
    for (Block unit : units) position_[unit.raw] = static_cast<uint32_t>(position_.size());
    for (Block unit : units) record_.units.push_back(Describe(unit));
    CountReads();
    for (const auto& [id, name] : names_) record_.names.emplace_back(id, name);
    return std::move(record_);
  }

 private:
  std::string NameOf(Value v) const { return std::string(module_.Text(function_[v].name)); }

  KeptValue ValueOf(Value v, diag::SourceSpan place) {
    KeptValue kept;
    kept.id = v.raw;
    kept.name = NameOf(v);
    kept.scalar = function_.TypeOf(v).scalar;
    kept.place = place;
    names_[v.raw] = kept.name;
    return kept;
  }

  KeptUnit Describe(Block block) {
    KeptUnit unit;
    Inst owner = function_[block].owner;
    if (owner.Valid()) {
      unit.op = function_[owner].op;
      unit.place = function_[owner].span;
      unit.segments = steps_.Get(owner).Valid();
      unit.around = position_.at(tree_.UnitOf(function_[owner].parent).raw);
      unit.parallel = analysis::IsParallel(unit.op) ? unit.place : record_.units[unit.around].parallel;
    } else {
      unit.place = function_.span;
    }
    std::vector<Value> tape;
    if (owner.Valid() && IsSerialLoop(unit.op)) {
      tape = plan_.Tape(owner);
      DescribeLoop(owner, tape, unit);
    }
    for (Inst inst : tree_.InstsOf(block)) DescribeInst(inst, tape, unit);
    return unit;
  }

  void DescribeLoop(Inst loop, const std::vector<Value>& tape, KeptUnit& unit) {
    for (Value v : tape) {
      Inst maker = function_.DefiningInst(v);
      KeptValue kept = ValueOf(v, maker.Valid() ? function_[maker].span : unit.place);
      kept.carried = !maker.Valid();
      unit.stored.push_back(std::move(kept));
    }
    UndoPlan undo = PlanUndo(function_, tree_, plan_, loop);
    std::vector<Value> arrays = undo.snapshots;
    for (Inst store : undo.stores) arrays.push_back(function_.Operand(store, 0));
    for (Value array : arrays) {
      std::string name = NameOf(array);
      if (std::find(unit.arrays.begin(), unit.arrays.end(), name) == unit.arrays.end())
        unit.arrays.push_back(name);
    }
    for (const Restore& restore : plan_.Restores(loop))
      unit.undone.push_back(ValueOf(CarriedParam(function_, loop, restore.param), unit.place));
  }

  void DescribeInst(Inst inst, const std::vector<Value>& tape, KeptUnit& unit) {
    const ir::InstData& data = function_[inst];
    for (uint32_t n = 0; n < data.result_count; ++n) {
      Value v = function_.Result(inst, n);
      if (!plan_.Needed(v) || std::find(tape.begin(), tape.end(), v) != tape.end()) continue;
      if (plan_.StoreOf(v).Valid()) {
        unit.left.push_back(ValueOf(v, data.span));
      } else if (analysis::ReadsMemory(data.op)) {
        ++unit.loads;
        names_[v.raw] = NameOf(v);
      } else if (data.op != Op::Alloca) {
        KeptValue kept = ValueOf(v, data.span);
        // Control that runs again makes all of its results at once.
        kept.operations = ir::HasRegions(data.op) ? (n == 0 ? OperationsIn(inst, inst) : 0) : 1;
        for (Value operand : function_.Operands(inst)) AddSource(operand, kept);
        unit.recomputed.push_back(std::move(kept));
      }
    }
  }

  void AddSource(Value operand, KeptValue& kept) {
    ir::ValueKind kind = function_[operand].kind;
    if (kind == ir::ValueKind::Constant || kind == ir::ValueKind::Global) return;
    names_.emplace(operand.raw, NameOf(operand));
    if (std::find(kept.from.begin(), kept.from.end(), operand.raw) == kept.from.end())
      kept.from.push_back(operand.raw);
  }

  /// Operations that a forward run of `root` takes, each counted once.
  uint32_t OperationsIn(Inst root, Inst inst) const {
    uint32_t count = 0;
    for (Block region : function_[inst].regions) {
      if (!region.Valid()) continue;
      for (Inst inner : function_[region].insts) {
        const ir::InstData& data = function_[inner];
        bool runs = false;
        for (uint32_t n = 0; n < data.result_count; ++n)
          runs = runs || plan_.Forward(root, function_.Result(inner, n));
        if (runs && !ir::HasRegions(data.op)) ++count;
        if (ir::HasRegions(data.op)) count += OperationsIn(root, inner);
      }
    }
    return count;
  }

  void CountReads() {
    IndexSet<Value> read;
    for (Inst inst : structure_.Order()) {
      work_.ForEachRead(inst, [&](Value v) {
        ir::Type type = function_.TypeOf(v);
        if (!type.IsScalar() || !IsMade(v) || !read.Insert(v)) return;
        KeptUnit& unit = record_.units[position_.at(tree_.UnitOf(v).raw)];
        if (!type.IsFloat()) {
          ++unit.reads_integer;
        } else {
          ++(ir::ByteSize(type.scalar) == 8 ? unit.reads_8 : unit.reads_4);
        }
      });
    }
  }

  /// Neither constant nor argument nor index of a loop.
  bool IsMade(Value v) const {
    if (function_[v].kind == ir::ValueKind::Result) return true;
    if (function_[v].kind != ir::ValueKind::BlockParam) return false;
    Inst owner = function_[Block(function_[v].owner)].owner;
    if (!owner.Valid() || !IsSerialLoop(function_[owner].op)) return false;
    return function_[owner].op == Op::While || function_[v].number > 0;
  }

  const ir::Module& module_;
  const Function& function_;
  const RegionTree& tree_;
  const AdjointWork& work_;
  const NeededPlan& plan_;
  const transform::StepLoops& steps_;
  analysis::Structure structure_;
  KeptRecord record_;
  std::map<uint32_t, uint32_t> position_;  ///< of a unit, by its block
  std::map<uint32_t, std::string> names_;
};

}  // namespace

KeptRecord DescribeKept(const ir::Module& module, const Function& function, const RegionTree& tree,
                        const AdjointWork& work, const NeededPlan& plan, const transform::StepLoops& steps) {
  return Describer(module, function, tree, work, plan, steps).Run();
}

}  // namespace adc::autodiff
