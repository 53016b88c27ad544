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

namespace adc::transform {
namespace {

using ir::Block;
using ir::Function;
using ir::Inst;
using ir::InstData;
using ir::Op;
using ir::Type;
using ir::Value;

/// A cell of a promoted array.
struct Cell {
  Value array;
  uint32_t index = 0;
};

/// Which arrays are promoted, their cells, and which control instructions each cell is stored in.
class Promotion {
 public:
  explicit Promotion(const Function& function) : function_(function), structure_(function) {
    for (Inst inst : structure_.Order()) {
      bool own = function[inst].op == Op::Alloca && !function[inst].Has(ir::Word::Shared);
      if (own) arrays_.Insert(function.Result(inst));
    }
    for (Inst inst : structure_.Order()) Reject(inst);
    for (Inst inst : structure_.Order()) Number(inst);
    for (Inst inst : structure_.Order()) {
      if (function.RegionCount(inst) == 0 || inst.raw >= stored_in_.Size()) continue;
      std::vector<uint32_t>& stored = stored_in_[inst];
      std::sort(stored.begin(), stored.end(), [&](uint32_t a, uint32_t b) {
        return std::pair(cells_[a].array, cells_[a].index) < std::pair(cells_[b].array, cells_[b].index);
      });
      stored.erase(std::unique(stored.begin(), stored.end()), stored.end());
    }
  }

  bool Any() const { return !cells_.empty(); }
  bool IsPromoted(Value array) const { return arrays_.Has(array); }
  const std::vector<Cell>& Cells() const { return cells_; }
  uint32_t CellOf(Inst access) const { return cell_of_.Get(access); }
  const std::vector<uint32_t>& CellsOfArray(Value array) const { return cells_of_array_.Get(array); }
  /// Cells of arrays from outside of `control` that are stored inside of it, by array and index.
  const std::vector<uint32_t>& StoredIn(Inst control) const { return stored_in_.Get(control); }

 private:
  std::optional<uint32_t> ConstantCell(Inst access) const {
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
      if (plain && data.op == Op::Load && !Crosses(inst, array, false)) continue;
      if (plain && data.op == Op::Store && !Crosses(inst, array, true)) continue;
      arrays_.Erase(array);
    }
  }

  /// True when a parallel, or for a store the condition of a while, lies between the array and its use.
  bool Crosses(Inst inst, Value array, bool is_store) const {
    Block home = function_.DefiningBlock(array);
    for (Block block = function_[inst].parent; block != home;) {
      Inst owner = function_[block].owner;
      if (analysis::IsParallel(function_[owner].op)) return true;
      if (is_store && function_[owner].op == Op::While && function_[owner].regions[0] == block) return true;
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
    if (data.op != Op::Store) return;
    Block home = function_.DefiningBlock(array);
    for (Block block = data.parent; block != home;) {
      Inst owner = function_[block].owner;
      std::vector<uint32_t>& stored = stored_in_[owner];
      if (stored.empty() || stored.back() != cell) stored.push_back(cell);
      block = function_[owner].parent;
    }
  }

  const Function& function_;
  analysis::Structure structure_;
  IndexSet<Value> arrays_;
  std::vector<Cell> cells_;
  std::unordered_map<uint64_t, size_t> ids_;
  SideTable<Inst, uint32_t> cell_of_;
  SideTable<Value, std::vector<uint32_t>> cells_of_array_;
  SideTable<Inst, std::vector<uint32_t>> stored_in_;
};

class PromoteRewriter final : public Rewriter {
 public:
  PromoteRewriter(ir::Module& module, const Function& from, const Promotion& promotion, FoldConfig fold)
      : Rewriter(module, from, fold), promotion_(promotion), current_(promotion.Cells().size()) {}

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
    if (data.op == Op::Yield && from_[data.parent].owner.Valid()) {
      std::vector<Value> values = MapAll(from_.Operands(inst));
      Inst owner = from_[data.parent].owner;
      if (!analysis::IsParallel(from_[owner].op)) {
        for (uint32_t cell : promotion_.StoredIn(owner)) values.push_back(Current(cell));
      }
      builder_.Yield(values);
      return;
    }
    bool control = data.op == Op::For || data.op == Op::While || data.op == Op::If;
    if (control && !promotion_.StoredIn(inst).empty()) return VisitControl(inst);
    Copy(inst);
  }

  Value Current(uint32_t cell) {
    if (!current_[cell].Valid()) {
      Type type = from_.TypeOf(promotion_.Cells()[cell].array).Element();
      current_[cell] = builder_.Zero(type);
    }
    return current_[cell];
  }

  void NameCell(Value v, uint32_t cell) {
    ir::ValueData& data = (*into_)[v];
    bool nameable = data.kind == ir::ValueKind::Result || data.kind == ir::ValueKind::BlockParam;
    StringId array_name = from_[promotion_.Cells()[cell].array].name;
    if (!nameable || data.name.Valid() || !array_name.Valid()) return;
    data.name = module_.Intern(std::string(module_.Text(array_name)) + "." +
                               std::to_string(promotion_.Cells()[cell].index));
  }

  void VisitControl(Inst inst) {
    const InstData& data = from_[inst];
    const std::vector<uint32_t>& stored = promotion_.StoredIn(inst);
    std::vector<Value> before;
    for (uint32_t cell : stored) before.push_back(Current(cell));
    Inst copy;
    uint32_t leading = 0;
    if (data.op == Op::If) {
      std::vector<Type> types;
      for (uint32_t n = 0; n < data.result_count; ++n) types.push_back(from_.TypeOf(from_.Result(inst, n)));
      for (Value v : before) types.push_back(into_->TypeOf(v));
      copy = builder_.If(Map(from_.Operand(inst, 0)), types);
    } else {
      bool has_max = data.Has(ir::Word::HasMax);
      uint32_t fixed = data.op == Op::For ? 3 : has_max ? 1 : 0;
      std::vector<Value> initial = MapAll(from_.Operands(inst).subspan(fixed));
      initial.insert(initial.end(), before.begin(), before.end());
      leading = data.op == Op::For ? 1 : 0;
      if (data.op == Op::For) {
        copy = builder_.For(Map(from_.Operand(inst, 0)), Map(from_.Operand(inst, 1)),
                            Map(from_.Operand(inst, 2)), initial, data.words);
        (*into_)[copy].attr = data.attr;
      } else {
        copy = builder_.While(has_max ? Map(from_.Operand(inst, 0)) : Value(), initial, data.words);
        (*into_)[copy].attr = data.attr;
      }
    }
    for (uint32_t r = 0; r < from_.RegionCount(inst); ++r) {
      Block source = data.regions[r], region = (*into_)[copy].regions[r];
      for (size_t n = 0; n < from_[source].params.size(); ++n) {
        Value param = (*into_)[region].params[n];
        SetMapped(from_[source].params[n], param);
        (*into_)[param].name = from_[from_[source].params[n]].name;
      }
      // The second region of a while goes on from the first; every other region starts with its own versions.
      bool carried = data.op != Op::If && r == 0;
      for (size_t n = 0; n < stored.size(); ++n) {
        if (carried) {
          current_[stored[n]] = (*into_)[region].params[leading + data.result_count + n];
          NameCell(current_[stored[n]], stored[n]);
        } else if (data.op == Op::If) {
          current_[stored[n]] = before[n];
        }
      }
      VisitBlock(source, region);
    }
    for (uint32_t n = 0; n < data.result_count; ++n) {
      SetMapped(from_.Result(inst, n), into_->Result(copy, n));
      PassName(from_.Result(inst, n), into_->Result(copy, n));
    }
    for (uint32_t n = 0; n < stored.size(); ++n) {
      current_[stored[n]] = into_->Result(copy, data.result_count + n);
      NameCell(current_[stored[n]], stored[n]);
    }
  }

  const Promotion& promotion_;
  std::vector<Value> current_;  ///< the newest version of each cell; invalid: still zero
};

}  // namespace

std::unique_ptr<Function> PromoteArrays(ir::Module& module, const Function& function,
                                        const MemoryToRegistersConfig& config) {
  Promotion promotion(function);
  if (!promotion.Any()) return nullptr;
  return PromoteRewriter(module, function, promotion, config.fold).Run();
}

bool MemoryToRegisters(ir::Module& module, const MemoryToRegistersConfig& config, diag::Diagnostics&) {
  for (size_t n = 0; n < module.functions.size(); ++n) {
    if (std::unique_ptr<Function> made = PromoteArrays(module, *module.functions[n], config))
      *module.functions[n] = std::move(*made);
  }
  return true;
}

}  // namespace adc::transform
