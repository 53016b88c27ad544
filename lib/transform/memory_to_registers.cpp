// With structured control there is no need for dominance frontiers: the places where versions of a cell meet
// are the ends of the regions that store to it. A cell stored inside a branch becomes a result of the `if`;
// stored inside a loop, a carried value:
//
//   %a = alloca array<f32, 2>          %r = for %i in 0..%n carry(%a.1 = 0.0) {
//   for %i in 0..%n {                     %s = add %a.1, 1.0
//     %v = load %a[1]            ->       yield %s
//     store %a[1], (add %v, 1.0)       }
//   }
//   %r = load %a[1]

#include "transform/memory_to_registers.h"

#include <algorithm>

#include "analysis/structure.h"
#include "ir/module.h"
#include "transform/rewriter.h"
#include "transform/selects.h"

namespace adc::transform {
namespace {

using ir::Block, ir::Function, ir::Inst, ir::InstData, ir::Op, ir::Type, ir::Value;

/// A cell of a promoted array.
struct Cell {
  Value array;
  uint32_t index = 0;
  uint32_t first_load = UINT32_MAX, last_load = 0;  ///< positions in textual order, if there are any
};

/// Which arrays are promoted, their cells, and which control instructions each cell is stored in.
class Promotion {
 public:
  Promotion(const Function& function, bool scalars_alone) : function_(function), structure_(function) {
    for (Inst inst : structure_.Order()) {
      if (function[inst].op != Op::Alloca || function[inst].Has(ir::Word::Shared)) continue;
      Value array = function.Result(inst);
      if (!scalars_alone || function.TypeOf(array).count == 1) arrays_.Insert(array);
    }
    for (Inst inst : structure_.Order()) Reject(inst);
    for (Inst inst : structure_.Order()) Number(inst);
    for (Inst inst : structure_.Order()) {
      if (function.RegionCount(inst) == 0) continue;
      for (SideTable<Inst, std::vector<uint32_t>>* table : {&stored_in_, &given_by_}) {
        if (inst.raw >= table->Size()) continue;
        std::vector<uint32_t>& stored = (*table)[inst];
        std::sort(stored.begin(), stored.end(), [&](uint32_t a, uint32_t b) {
          return std::pair(cells_[a].array, cells_[a].index) < std::pair(cells_[b].array, cells_[b].index);
        });
        stored.erase(std::unique(stored.begin(), stored.end()), stored.end());
      }
      if (analysis::IsSerialLoop(function[inst].op) || inst.raw >= given_by_.Size()) continue;
      std::erase_if(given_by_[inst], [&](uint32_t cell) { return !IsReadAfter(inst, cell); });
    }
  }

  bool Any() const { return !cells_.empty(); }
  bool IsPromoted(Value array) const { return arrays_.Has(array); }
  const std::vector<Cell>& Cells() const { return cells_; }
  uint32_t CellOf(Inst access) const { return cell_of_.Get(access); }
  const std::vector<uint32_t>& CellsOfArray(Value array) const { return cells_of_array_.Get(array); }
  /// Cells of arrays from outside of `control` that are stored inside of it, by array and index.
  const std::vector<uint32_t>& StoredIn(Inst control) const { return stored_in_.Get(control); }
  /// Those that are its results: of a loop all, else what is read after it, and of an `if` what is stored in
  /// a branch that comes to its end.
  const std::vector<uint32_t>& GivenBy(Inst control) const { return given_by_.Get(control); }
  /// False where the cell is read inside of `control` alone, and is a new one when control comes there again.
  bool IsReadAfter(Inst control, uint32_t cell) const {
    Block home = function_.DefiningBlock(cells_[cell].array);
    for (Block block = function_[control].parent; block != home;) {
      Inst owner = function_[block].owner;
      if (analysis::IsSerialLoop(function_[owner].op)) return true;
      block = function_[owner].parent;
    }
    const Cell& one = cells_[cell];
    return one.first_load < structure_.Position(control) || one.last_load >= structure_.End(control);
  }

 private:
  std::optional<uint32_t> ConstantCell(Inst access) const {
    if (function_[access].component != ir::kNoAttr) return std::nullopt;
    std::optional<int64_t> index = function_.IntegerConstant(function_.Indices(access)[0]);
    uint32_t count = function_.TypeOf(function_.Operand(access, 0)).count;
    if (!index || *index < 0 || *index >= static_cast<int64_t>(count)) return std::nullopt;
    return static_cast<uint32_t>(*index);
  }

  /// Takes the arrays that `inst` uses in another way out of the set.
  void Reject(Inst inst) {
    const InstData& data = function_[inst];
    for (uint32_t n = 0; n < data.operand_count; ++n) {
      Value array = function_.Operand(inst, n);
      if (!arrays_.Has(array)) continue;
      bool plain = n == 0 && (data.op == Op::Load || data.op == Op::Store) && ConstantCell(inst);
      if (plain && (data.op == Op::Load || !Crosses(inst, array))) continue;
      arrays_.Erase(array);
    }
  }

  /// True when a parallel or the condition of a while lies between the array and a store to it.
  bool Crosses(Inst store, Value array) const {
    Block home = function_.DefiningBlock(array);
    for (Block block = function_[store].parent; block != home;) {
      Inst owner = function_[block].owner;
      if (analysis::IsParallel(function_[owner].op)) return true;
      if (function_[owner].op == Op::While && function_[owner].regions[0] == block) return true;
      block = function_[owner].parent;
    }
    return false;
  }

  void Number(Inst inst) {
    const InstData& data = function_[inst];
    if (data.op != Op::Load && data.op != Op::Store) return;
    Value array = function_.Operand(inst, 0);
    if (!arrays_.Has(array)) return;
    uint32_t index = *ConstantCell(inst);
    auto [place, fresh] = ids_.try_emplace((uint64_t{array.raw} << 32) | index, cells_.size());
    auto cell = static_cast<uint32_t>(place->second);
    if (fresh) {
      cells_.push_back({array, index});
      cells_of_array_[array].push_back(cell);
    }
    cell_of_[inst] = cell;
    if (data.op == Op::Load) {
      cells_[cell].first_load = std::min(cells_[cell].first_load, structure_.Position(inst));
      cells_[cell].last_load = structure_.Position(inst);
      return;
    }
    Block home = function_.DefiningBlock(array);
    for (Block block = data.parent; block != home;) {
      Inst owner = function_[block].owner;
      bool ends = function_[owner].op != Op::If || function_[function_.Terminator(block)].op == Op::Yield;
      Add(cell, stored_in_[owner]);
      if (ends) Add(cell, given_by_[owner]);
      block = function_[owner].parent;
    }
  }

  static void Add(uint32_t cell, std::vector<uint32_t>& cells) {
    if (cells.empty() || cells.back() != cell) cells.push_back(cell);
  }

  const Function& function_;
  analysis::Structure structure_;
  IndexSet<Value> arrays_;
  std::vector<Cell> cells_;
  std::unordered_map<uint64_t, size_t> ids_;
  SideTable<Inst, uint32_t> cell_of_;
  SideTable<Value, std::vector<uint32_t>> cells_of_array_;
  SideTable<Inst, std::vector<uint32_t>> stored_in_, given_by_;
};

class PromoteRewriter final : public Rewriter {
 public:
  PromoteRewriter(ir::Module& module, const Function& from, const Promotion& promotion,
                  const MemoryToRegistersConfig& config)
      : Rewriter(module, from, config.fold),
        promotion_(promotion),
        selects_(config.scalars_alone),
        current_(promotion.Cells().size()) {}

 private:
  void Visit(Inst inst) override {
    const InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    if (data.op == Op::Alloca && promotion_.IsPromoted(from_.Result(inst))) {
      for (uint32_t cell : promotion_.CellsOfArray(from_.Result(inst))) current_[cell] = Value();
      return;
    }
    bool access = data.op == Op::Load || data.op == Op::Store;
    if (access && promotion_.IsPromoted(from_.Operand(inst, 0))) {
      uint32_t cell = promotion_.CellOf(inst);
      if (data.op == Op::Load) {
        SetMapped(from_.Result(inst), Current(cell));
      } else {
        current_[cell] = Map(from_.AccessValues(inst)[0]);
        NameCell(current_[cell], cell);
      }
      return;
    }
    bool yields = data.op == Op::Yield && from_.OwnerOf(inst).Valid();
    if (yields || (ir::IsLeave(data.op) && !from_.IsUnreached(inst))) {
      std::vector<Value> values = MapAll(from_.Operands(inst));
      Inst target = yields ? from_.OwnerOf(inst) : from_.TargetOf(inst);
      if (!analysis::IsParallel(from_[target].op)) {
        for (uint32_t cell : promotion_.GivenBy(target)) values.push_back(Current(cell));
      }
      builder_.Terminate(data.op, values);
      return;
    }
    bool control = analysis::IsSerialLoop(data.op) || data.op == Op::If || data.op == Op::Scope;
    if (control && !promotion_.StoredIn(inst).empty()) return VisitControl(inst);
    Copy(inst);
  }

  Value Current(uint32_t cell) {
    if (current_[cell].Valid()) return current_[cell];
    return ZeroOf(from_.TypeOf(promotion_.Cells()[cell].array).Element());
  }

  void NameCell(Value v, uint32_t cell) {
    ir::ValueData& data = (*into_)[v];
    bool nameable = data.kind == ir::ValueKind::Result || data.kind == ir::ValueKind::BlockParam;
    StringId array_name = from_[promotion_.Cells()[cell].array].name;
    if (!nameable || data.name.Valid() || !array_name.Valid()) return;
    data.name = array_name;
    if (from_.TypeOf(promotion_.Cells()[cell].array).count == 1) return;
    data.name = module_.Intern(std::string(module_.Text(array_name)) + "." +
                               std::to_string(promotion_.Cells()[cell].index));
  }

  /// The same instruction, with what is stored in it among its results, and not its regions yet.
  Inst WriteControl(Inst inst, std::span<const Value> before) {
    std::vector<Value> operands = MapAll(from_.Operands(inst));
    std::vector<Type> types;
    for (uint32_t n = 0; n < from_[inst].result_count; ++n)
      types.push_back(from_.TypeOf(from_.Result(inst, n)));
    for (Value v : before) types.push_back(into_->TypeOf(v));
    if (analysis::IsSerialLoop(from_[inst].op)) operands.insert(operands.end(), before.begin(), before.end());
    return CopyAs(inst, operands, types);
  }

  void VisitControl(Inst inst) {
    const InstData& data = from_[inst];
    const std::vector<uint32_t>&stored = promotion_.StoredIn(inst), &given = promotion_.GivenBy(inst);
    std::vector<Value> before, initial;
    for (uint32_t cell : stored) before.push_back(Current(cell));
    for (size_t n = 0; n < stored.size(); ++n) {
      if (std::find(given.begin(), given.end(), stored[n]) != given.end()) initial.push_back(before[n]);
    }
    Inst copy = WriteControl(inst, initial);
    for (uint32_t r = 0; r < from_.RegionCount(inst); ++r) {
      Block region = NewRegion(data.regions[r], copy, r);
      // The second region of a while goes on from the first; a loop carries what is stored in it.
      for (size_t n = 0; n < stored.size() && data.op == Op::If; ++n) current_[stored[n]] = before[n];
      bool carries = r == 0 && analysis::IsSerialLoop(data.op);
      for (size_t n = 0; n < given.size() && carries; ++n) {
        current_[given[n]] = into_->AddParam(region, into_->TypeOf(initial[n]));
        NameCell(current_[given[n]], given[n]);
      }
      VisitBlock(data.regions[r], region);
    }
    for (size_t n = 0; n < stored.size(); ++n) current_[stored[n]] = before[n];
    std::vector<Value> results = ResultsOf(copy);
    builder_.SetSpan(data.span);
    if (selects_ && data.op == Op::If && data.result_count == 0 && EndsBoth(copy))
      results = TakeAsSelects(builder_, copy).value_or(results);
    MapResults(inst, results);
    for (size_t n = 0; n < given.size(); ++n) {
      current_[given[n]] = results[data.result_count + n];
      if (promotion_.IsReadAfter(inst, given[n])) NameCell(current_[given[n]], given[n]);
    }
  }

  bool EndsBoth(Inst choice) const {
    return std::all_of(std::begin((*into_)[choice].regions), std::end((*into_)[choice].regions),
                       [&](Block region) { return (*into_)[into_->Terminator(region)].op == Op::Yield; });
  }

  const Promotion& promotion_;
  bool selects_;
  std::vector<Value> current_;  ///< the newest version of each cell; invalid: still zero
};

}  // namespace

std::unique_ptr<Function> PromoteArrays(ir::Module& module, const Function& function,
                                        const MemoryToRegistersConfig& config) {
  Promotion promotion(function, config.scalars_alone);
  if (!promotion.Any()) return nullptr;
  return PromoteRewriter(module, function, promotion, config).Run();
}

bool MemoryToRegisters(ir::Module& module, const MemoryToRegistersConfig& config, diag::Diagnostics&) {
  for (size_t n = 0; n < module.functions.size(); ++n) {
    if (std::unique_ptr<Function> made = PromoteArrays(module, *module.functions[n], config))
      *module.functions[n] = std::move(*made);
  }
  return true;
}

}  // namespace adc::transform
