// The distance of an adjoint from zero by structure is the greatest solution of equations over the uses of
// its value: everything counts as read until a use says less, and a value that falls takes its operands
// along.

#include "autodiff/structural_zeros.h"

#include <algorithm>
#include <deque>
#include <map>

#include "analysis/uses.h"
#include "autodiff/adjoint_work.h"
#include "autodiff/overwritten_stores.h"
#include "autodiff/region_tree.h"
#include "autodiff/rules.h"
#include "autodiff/singular.h"
#include "autodiff/sources.h"
#include "ir/op.h"

namespace adc::autodiff {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

/// The operand that is the first arm of a selection with two arms.
constexpr uint32_t FirstArm(Op op) {
  return op == Op::Select ? 1 : 0;
}

constexpr bool IsSelection(Op op) {
  return op == Op::Select || op == Op::Min || op == Op::Max;
}

/// A partial of it is a product with a number that is not known.
bool ReadsValues(const Function& function, const Activity& activity, Inst inst) {
  Op op = function[inst].op;
  if (IsSelection(op) || op == Op::Clamp) return false;
  PartialReads reads = ReadsOfPartials(function, inst, ActiveOperandMask(function, activity, inst));
  if (reads.result) return true;
  for (uint32_t n = 0; n < function[inst].operand_count; ++n)
    if ((reads.operands & (1u << n)) != 0 && !function.IsConstant(function.Operand(inst, n))) return true;
  return false;
}

/// An operation that makes one active float of its operands alone.
bool IsActivePure(const Function& function, const Activity& activity, Inst inst) {
  const ir::InstData& data = function[inst];
  return data.result_count == 1 && ir::InfoOf(data.op).effect == ir::Effect::Pure &&
         activity.ActiveResult(inst);
}

}  // namespace

/// The data that both finders read, and fill.
class StructuralZeros::Finder {
 public:
  Finder(const Function& function, const Activity& activity, const analysis::Structure& structure,
         const analysis::Uses& uses, StructuralZeros& into)
      : function_(function), activity_(activity), structure_(structure), uses_(uses), into_(into) {}

 protected:
  /// The side in its own block.
  uint32_t SideOfUse(const analysis::Use& use) const {
    if (IsSerialLoop(function_[use.inst].op)) return into_.SideOf(use.inst);
    if (!IsActivePure(function_, activity_, use.inst)) return 0;
    if (IsSelection(function_[use.inst].op)) return into_.SideOfArm(use.inst, use.number);
    return into_.SideOf(function_.Result(use.inst));
  }

  /// The side in `home` of a use that may be in a block inside of it.
  uint32_t SideOfUse(const analysis::Use& use, Block home) const {
    Block block = function_[use.inst].parent;
    if (block == home) return SideOfUse(use);
    for (;;) {
      Inst owner = function_[block].owner;
      if (!owner.Valid()) return 0;
      if (function_[owner].parent == home) return SideOfRegion(owner, block);
      block = function_[owner].parent;
    }
  }

  uint32_t SideOfRegion(Inst owner, Block region) const {
    const ir::InstData& data = function_[owner];
    if (data.op == Op::If) return into_.SideOfArm(owner, region == data.regions[0] ? 0 : 1);
    return IsSerialLoop(data.op) ? into_.SideOf(owner) : 0;
  }

  const Function& function_;
  const Activity& activity_;
  const analysis::Structure& structure_;
  const analysis::Uses& uses_;
  StructuralZeros& into_;
};

/// Finds the sides, from the last instruction to the first, so that the readers of a value are seen before
/// it.
class StructuralZeros::SideFinder : Finder {
 public:
  using Finder::Finder;

  void Find() {
    into_.sides_.push_back({});
    for (Inst inst : structure_.Order()) {
      Op op = function_[inst].op;
      if (!analysis::WritesMemory(op) && op != Op::Call) continue;
      for (Inst around : structure_.Enclosing(inst)) changes_memory_.Insert(around);
    }
    for (Inst inst : structure_.Order())
      if (IsHot(inst)) hot_.Insert(inst);
    const std::vector<Inst>& order = structure_.Order();
    for (size_t n = order.size(); n-- > 0;) Visit(order[n]);
  }

 private:
  void Visit(Inst inst) {
    const ir::InstData& data = function_[inst];
    bool is_load = data.op == Op::Load && activity_.ActiveResult(inst);
    if (is_load || hot_.Has(inst)) {
      uint32_t side = CommonSide(inst);
      for (uint32_t n = 0; n < data.result_count; ++n) into_.side_of_[function_.Result(inst, n)] = side;
      if (IsStructure(inst)) into_.side_of_inst_[inst] = side;
    }
    bool selects = IsSelection(data.op) && IsActivePure(function_, activity_, inst);
    if (!selects && data.op != Op::If) return;
    uint32_t first = FirstArm(data.op);
    for (uint32_t arm : {first, first + 1}) into_.sides_of_arms_[inst][arm] = MakeSide(inst, arm);
  }

  bool IsStructure(Inst inst) const {
    Op op = function_[inst].op;
    return op == Op::If || IsSerialLoop(op);
  }

  /// A factor in its computation is not known: a mask after it is stronger than one before it.
  bool IsHot(Inst inst) const {
    const ir::InstData& data = function_[inst];
    if (IsStructure(inst)) return data.result_count > 0 && !changes_memory_.Has(inst);
    if (!IsActivePure(function_, activity_, inst)) return false;
    ir::OpClass op_class = ir::ClassOf(data.op);
    if (op_class != ir::OpClass::Arithmetic && op_class != ir::OpClass::Function && data.op != Op::Cast)
      return false;
    if (ReadsValues(function_, activity_, inst)) return true;
    return std::ranges::any_of(function_.Operands(inst), [&](Value operand) {
      Inst source = function_.DefiningInst(operand);
      return source.Valid() && hot_.Has(source) && function_[source].parent == data.parent;
    });
  }

  /// The innermost side on which all lies that takes the adjoint of a result.
  uint32_t CommonSide(Inst inst) const {
    Block home = function_[inst].parent;
    bool any = false;
    uint32_t common = 0;
    for (uint32_t n = 0; n < function_[inst].result_count; ++n) {
      if (!activity_.ActiveResult(inst, n)) continue;
      for (const analysis::Use& use : uses_.Of(function_.Result(inst, n))) {
        bool is_pure = ir::InfoOf(function_[use.inst].op).effect == ir::Effect::Pure;
        if (is_pure && !IsActivePure(function_, activity_, use.inst)) continue;
        uint32_t side = SideOfUse(use, home);
        common = any ? Common(common, side) : side;
        any = true;
        if (common == 0) return 0;
      }
    }
    return common;
  }

  uint32_t Common(uint32_t a, uint32_t b) const {
    while (a != b) {
      uint32_t& deeper = into_.sides_[a].depth >= into_.sides_[b].depth ? a : b;
      deeper = into_.sides_[deeper].around;
    }
    return a;
  }

  uint32_t MakeSide(Inst selection, uint32_t arm) {
    const ir::InstData& data = function_[selection];
    uint32_t around = data.op == Op::If ? into_.SideOf(selection) : into_.SideOf(function_.Result(selection));
    bool by_condition = data.op == Op::Select || data.op == Op::If;
    uint32_t key = by_condition ? function_.Operand(selection, 0).raw : selection.raw;
    auto number = static_cast<uint32_t>(into_.sides_.size());
    auto [known, fresh] =
        numbers_.try_emplace({around, by_condition ? 1u : 0u, key, arm - FirstArm(data.op)}, number);
    if (fresh) into_.sides_.push_back({around, into_.sides_[around].depth + 1, selection, arm});
    return known->second;
  }

  IndexSet<Inst> hot_;
  IndexSet<Inst> changes_memory_;  ///< it, or what it holds
  std::map<std::array<uint32_t, 4>, uint32_t> numbers_;
};

namespace {

/// Whether something takes the adjoint of a value whenever the block runs that makes the value, and its side
/// counts.
enum class Read : uint8_t {
  Perhaps,  ///< it may be 0 by structure
  Weakly,   ///< it may be 0 by a convention (abs at 0), or in memory that the kernel reads again
  Always,
};

/// Where the adjoint of a value is taken: blocks, those further in last, and sides.
struct Reading {
  std::vector<std::pair<Block, Read>> blocks;
  std::vector<std::pair<uint32_t, Read>> sides;
  bool operator==(const Reading&) const = default;
};
constexpr size_t kMostBlocks = 16;
constexpr size_t kMostSides = 16;
/// Loads of one memory that a store asks for what takes its adjoint.
constexpr size_t kMostLoads = 64;

}  // namespace

class StructuralZeros::GuardFinder : Finder {
 public:
  using Finder::Finder;

  void Find() {
    FindMemory();
    Solve();
    const std::vector<Inst>& order = structure_.Order();
    for (size_t n = order.size(); n-- > 0;) {
      Inst inst = order[n];
      if (!IsActivePure(function_, activity_, inst) || IsSelection(function_[inst].op)) continue;
      Read read = ReadOf(function_.Result(inst));
      if (read == Read::Always) continue;
      Inst seed = read == Read::Perhaps ? CommonSeed(inst) : Inst();
      bool begins = ReadsValues(function_, activity_, inst) &&
                    (read == Read::Perhaps || MayBeSingular(function_, inst));
      if (seed.Valid() || begins) into_.seed_of_[inst] = seed.Valid() ? seed : inst;
    }
  }

 private:
  /// That of all operations which take the adjoint of the result, where they stand beside `inst` and no
  /// convention makes a 0 on the way; else invalid.
  Inst CommonSeed(Inst inst) const {
    Value v = function_.Result(inst);
    Inst common;
    for (const analysis::Use& use : uses_.Of(v)) {
      const ir::InstData& user = function_[use.inst];
      if (!IsActivePure(function_, activity_, use.inst)) {
        if (ir::InfoOf(user.op).effect == ir::Effect::Pure) continue;
        return {};
      }
      Value result = function_.Result(use.inst);
      Inst seed = into_.SeedOf(use.inst);
      bool passes = seed.Valid() && user.parent == function_[inst].parent &&
                    ReadOf(result) == Read::Perhaps && Passed(use.inst, Read::Always) == Read::Always &&
                    into_.SideOf(result) == into_.SideOf(v);
      if (!passes || (common.Valid() && seed != common)) return {};
      common = seed;
    }
    return common;
  }

  void FindMemory() {
    overwritten_ = FindOverwrittenStores(structure_);
    for (Inst inst : structure_.Order()) {
      if (function_[inst].op != Op::Load) continue;
      Loads& loads = loads_[function_.Operand(inst, 0)];
      loads.count++;
      if (loads.count <= kMostLoads) {
        loads.asked.push_back(inst);
      } else {
        unasked_.Insert(inst);
      }
    }
  }

  /// An index, or the bound of one, that runs through memory: made of literals, parameters, shapes and loops'
  /// indices. Any other selects.
  bool IsCounted(Value v, int most_steps = 8) const {
    const ir::ValueData& data = function_[v];
    if (data.kind == ir::ValueKind::Constant) return true;
    if (data.kind == ir::ValueKind::BlockParam) {
      Inst owner = function_[Block(data.owner)].owner;
      return !owner.Valid() || function_[owner].op == Op::Parallel ||
             (function_[owner].op == Op::For && data.number == 0);
    }
    Inst inst = function_.DefiningInst(v);
    if (!inst.Valid() || most_steps == 0) return false;
    Op op = function_[inst].op;
    if (op == Op::Shape) return true;
    bool is_affine = op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Cast;
    return is_affine && std::ranges::all_of(function_.Operands(inst),
                                            [&](Value w) { return IsCounted(w, most_steps - 1); });
  }

  /// Whether a load reads what a store has left in its memory, in all iterations of loops around it and all
  /// elements that they name.
  bool ReadsThrough(Inst load, Inst store) const {
    if (!activity_.ActiveResult(load) || into_.SideOf(function_.Result(load)) != 0) return false;
    std::span<const Value> indices = function_.Indices(load);
    if (!std::ranges::all_of(indices, [&](Value v) { return IsCounted(v); })) return false;
    bool is_array = function_.TypeOf(function_.Operand(load, 0)).IsArray();
    for (Block block = function_[load].parent; !structure_.Contains(block, store);) {
      Inst owner = function_[block].owner;
      if (!owner.Valid()) return false;
      Op op = function_[owner].op;
      if (op == Op::If || op == Op::While || into_.SideOf(owner) != 0) return false;
      if (op == Op::For) {
        // An array has no elements but those that the iteration makes.
        if (is_array && !analysis::RunsAtLeastOnce(function_, owner)) return false;
        if (!IsCounted(function_.Operand(owner, 0)) || !IsCounted(function_.Operand(owner, 1))) return false;
      }
      block = function_[owner].parent;
    }
    return true;
  }

  void Solve() {
    // First come, first served: many loads change before the stores of their memory ask them again.
    std::deque<Value> work;
    IndexSet<Value> waits;
    auto add = [&](Value v) {
      if (activity_.Active(v) && waits.Insert(v)) work.push_back(v);
    };
    for (uint32_t n = function_.ValueCount(); n-- > 0;) add(Value(n));
    while (!work.empty()) {
      Value v = work.front();
      work.pop_front();
      waits.Erase(v);
      Reading reading = Compute(v);
      if (reading == ReadingOf(v)) continue;
      readings_.push_back(std::move(reading));
      reading_number_[v] = static_cast<uint32_t>(readings_.size());
      if (Inst inst = function_.DefiningInst(v); inst.Valid() && unasked_.Has(inst)) continue;
      for (Value source : sources_.Of(v)) add(source);
    }
  }

  Reading ReadingOf(Value v) const {
    if (!activity_.Active(v)) return {};
    uint32_t number = reading_number_.Get(v);
    if (number != 0) return readings_[number - 1];
    return {{{function_.DefiningBlock(v), Read::Always}}, {}};
  }

  Read ReadOf(Value v) const {
    Block home = function_.DefiningBlock(v);
    for (auto [block, read] : ReadingOf(v).blocks)
      if (block == home) return read;
    return Read::Perhaps;
  }

  /// The read of `block` that follows from the reads of blocks around it.
  Read Covers(const Reading& reading, Block block) const {
    Read best = Read::Perhaps;
    for (;;) {
      for (auto [known, read] : reading.blocks)
        if (known == block) best = std::max(best, read);
      Inst owner = function_[block].owner;
      if (!owner.Valid()) return best;
      block = function_[owner].parent;
    }
  }

  static Read OnSide(const Reading& reading, uint32_t side) {
    for (auto [known, read] : reading.sides)
      if (known == side) return read;
    return Read::Perhaps;
  }

  Reading Compute(Value v) const {
    Block home = function_.DefiningBlock(v);
    std::map<std::pair<uint32_t, Block>, Read, std::greater<>> blocks;  // the innermost first
    std::map<uint32_t, Read> arms;                                      // of selections on the side
    auto reads = [&](Block block, Read read) {
      if (read == Read::Perhaps) return;
      Read& known = blocks[{structure_.Depth(block), block}];
      known = std::max(known, read);
    };
    // A value that is read on both sides of a decision is read in any case.
    auto reads_on = [&](uint32_t side, Read read) {
      Block block = BlockOf(side);
      if (read == Read::Perhaps || into_.Side(side).around != (block == home ? into_.SideOf(v) : 0)) return;
      Read& known = arms[side];
      known = std::max(known, read);
      auto other = arms.find(Other(side));
      if (other != arms.end()) reads(block, std::min(known, other->second));
    };
    for (const analysis::Use& use : uses_.Of(v)) {
      Block block = function_[use.inst].parent;
      uint32_t side = SideOfUse(use);
      if (side == (block == home ? into_.SideOf(v) : 0)) {
        Reading reading = ReadingBy(use);
        for (auto [at, read] : reading.blocks) reads(at, read);
        for (auto [arm, read] : reading.sides) reads_on(arm, read);
      } else if (IsActivePure(function_, activity_, use.inst)) {
        reads_on(side, Passed(use.inst, ReadOf(function_.Result(use.inst))));
      }
    }
    for (auto at = blocks.begin(); at != blocks.end() && at->first.second != home; ++at) {
      auto [block, read] = *at;
      if (uint32_t side = SideOfBranch(block.second); side != 0) reads_on(side, read);
      if (Block around = ReadAround(v, block.second); around.Valid()) reads(around, read);
      auto other = blocks.find({block.first, OtherBranch(v, block.second)});
      if (other != blocks.end()) reads(ParentOf(block.second), std::min(read, other->second));
    }
    // A sound part of it is enough: the outer blocks say most.
    Reading before = ReadingOf(v), reading;
    for (auto at = blocks.rbegin(); at != blocks.rend() && reading.blocks.size() < kMostBlocks; ++at) {
      Block block = at->first.second;
      Read read = std::min(at->second, Covers(before, block));
      if (read > Covers(reading, block)) reading.blocks.emplace_back(block, read);
    }
    for (auto at = arms.begin(); at != arms.end() && reading.sides.size() < kMostSides; ++at) {
      Block block = BlockOf(at->first);
      Read read = std::min(at->second, std::max(Covers(before, block), OnSide(before, at->first)));
      if (read > Covers(reading, block)) reading.sides.emplace_back(at->first, read);
    }
    return reading;
  }

  /// The block around `block` that reads what `block` reads, since one runs whenever the other does; invalid
  /// where there is none.
  Block ReadAround(Value v, Block block) const {
    Inst owner = function_[block].owner;
    if (!owner.Valid()) return {};
    const ir::InstData& data = function_[owner];
    if (SelectedApart(v, owner)) return {};
    uint32_t side = into_.SideOf(v);
    if (side != 0 && data.op == Op::If && SideOfRegion(owner, block) == side) return data.parent;
    if (data.op == Op::For) return analysis::RunsAtLeastOnce(function_, owner) ? data.parent : Block();
    if (data.op != Op::While) return {};
    if (block == data.regions[0]) return data.parent;
    // Another iteration hands a carried value an adjoint beside that of the result.
    bool carried =
        function_[v].kind == ir::ValueKind::BlockParam && function_.DefiningBlock(v) == data.regions[0];
    return carried ? data.regions[0] : Block();
  }

  Block OtherBranch(Value v, Block block) const {
    Inst owner = function_[block].owner;
    if (!owner.Valid() || function_[owner].op != Op::If || SelectedApart(v, owner)) return {};
    const ir::InstData& data = function_[owner];
    return data.regions[block == data.regions[0] ? 1 : 0];
  }

  /// A branch or loop lies on a side on which `v` does not.
  bool SelectedApart(Value v, Inst structure) const {
    uint32_t around = function_[structure].parent == function_.DefiningBlock(v) ? into_.SideOf(v) : 0;
    return into_.SideOf(structure) != around && into_.SideOf(structure) != 0;
  }

  /// The side that a branch stands for; 0 of any other block.
  uint32_t SideOfBranch(Block block) const {
    Inst owner = function_[block].owner;
    return owner.Valid() && function_[owner].op == Op::If ? SideOfRegion(owner, block) : 0;
  }

  /// The block of the selection whose side it is.
  Block BlockOf(uint32_t side) const { return function_[into_.Side(side).selection].parent; }

  Block ParentOf(Block block) const { return function_[function_[block].owner].parent; }

  uint32_t Other(uint32_t side) const {
    const SelectedSide& arm = into_.Side(side);
    uint32_t first = FirstArm(function_[arm.selection].op);
    return into_.SideOfArm(arm.selection, arm.arm == first ? first + 1 : first);
  }

  /// How an operation hands on to its operands what takes its result.
  Read Passed(Inst inst, Read read) const {
    Op op = function_[inst].op;
    if (op == Op::Clamp) return Read::Perhaps;
    bool by_convention = op == Op::Abs || op == Op::Hypot ||
                         (op == Op::Pow && !function_.IsConstant(function_.Operand(inst, 1))) ||
                         FormOfPartials(function_, inst) == PartialForm::Norm;
    return by_convention ? std::min(Read::Weakly, read) : read;
  }

  /// The reading of an operand's adjoint that a use gives: an operation passes on the places that read its
  /// result.
  Reading ReadingBy(const analysis::Use& use) const {
    if (!IsActivePure(function_, activity_, use.inst))
      return {{{function_[use.inst].parent, ReadBy(use)}}, {}};
    Reading reading = ReadingOf(function_.Result(use.inst));
    for (auto& [block, read] : reading.blocks) read = Passed(use.inst, read);
    for (auto& [side, read] : reading.sides) read = Passed(use.inst, read);
    return reading;
  }

  /// The same of what is not pure, in its block.
  Read ReadBy(const analysis::Use& use) const {
    const ir::InstData& data = function_[use.inst];
    if (data.op == Op::Yield) {
      Inst owner = function_[data.parent].owner;
      if (function_[owner].op == Op::If) return ReadOf(function_.Result(owner, use.number));
      if (IsSerialLoop(function_[owner].op)) return ReadOfCarried(owner, use.number);
      return Read::Perhaps;
    }
    if (IsSerialLoop(data.op)) {
      uint32_t first = data.operand_count - data.result_count;
      return use.number < first ? Read::Perhaps : ReadOfCarried(use.inst, use.number - first);
    }
    if (analysis::WritesMemory(data.op)) return ReadByMemory(use.inst);
    if (data.op == Op::Call) return Read::Always;
    return Read::Perhaps;
  }

  /// The adjoint of a carried value is that of the next iteration, or of the result.
  Read ReadOfCarried(Inst loop, uint32_t k) const {
    return std::min(ReadOf(function_.Result(loop, k)), ReadOf(CarriedParam(function_, loop, k)));
  }

  Read ReadByMemory(Inst inst) const {
    Op op = function_[inst].op;
    if (op == Op::AtomicMin || op == Op::AtomicMax) return Read::Perhaps;
    if (op == Op::Store && overwritten_.Has(inst)) return Read::Perhaps;
    Value memory = function_.Operand(inst, 0);
    auto loads = loads_.find(memory);
    bool is_array = function_.TypeOf(memory).IsArray();
    if (loads == loads_.end()) return is_array ? Read::Perhaps : Read::Always;
    // Of an array one load through all of it is enough. Memory that has adjoints of its own is read where
    // nothing selects.
    Read best = is_array ? Read::Perhaps : Read::Always;
    for (Inst load : loads->second.asked) {
      Read read = ReadsThrough(load, inst) ? ReadOf(function_.Result(load)) : Read::Perhaps;
      best = is_array ? std::max(best, std::min(Read::Weakly, read))
                      : std::min(best, std::max(Read::Weakly, read));
    }
    if (!is_array && loads->second.count > kMostLoads) best = std::min(best, Read::Weakly);
    return best;
  }

  Sources sources_{structure_};
  struct Loads {
    size_t count = 0;
    std::vector<Inst> asked;  ///< the first of them
  };
  std::map<Value, Loads> loads_;  ///< by memory
  IndexSet<Inst> unasked_;        ///< loads beyond the first ones
  IndexSet<Inst> overwritten_;
  std::vector<Reading> readings_;
  SideTable<Value, uint32_t> reading_number_;  ///< plus one; 0 where nothing is known to be missing
};

StructuralZeros::StructuralZeros(const Function& function, const Activity& activity) {
  analysis::Structure structure(function);
  analysis::Uses uses(function);
  SideFinder(function, activity, structure, uses, *this).Find();
  GuardFinder(function, activity, structure, uses, *this).Find();
}

}  // namespace adc::autodiff
