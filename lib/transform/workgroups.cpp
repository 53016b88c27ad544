//   parallel %g, %l in 0..%n, 0..64 workgroup {     parallel %g in 0..%n {
//     %s = alloca array<f32, 64> shared                %s = alloca array<f32, 64>
//     %v = load %x[%g, %l]                             %v.each = alloca array<f32, 64>
//     store %s[%l], %v                                 for %l in 0..64 {
//     barrier                                            %v = load %x[%g, %l]
//     %w = load %s[63 - %l]                    =>        store %s[%l], %v
//     store %x[%g, %l], (mul %v, %w)                     store %v.each[%l], %v
//   }                                                  }
//                                                      for %l in 0..64 { ... load %v.each[%l] ... }
//                                                    }

#include "transform/workgroups.h"

#include "analysis/uses.h"
#include "diag/errors/transform.h"
#include "ir/module.h"
#include "ir/reduction.h"
#include "transform/rewriter.h"
#include "transform/workgroup_facts.h"
#include "transform/workgroup_races.h"

namespace adc::transform {
namespace {

using ir::Block, ir::Function, ir::Inst, ir::InstData, ir::Op, ir::Type, ir::Value;

bool IsWorkgroup(const InstData& data) {
  return data.op == Op::Parallel && data.Has(ir::Word::Workgroup);
}

class Splitter final : public Rewriter {
 public:
  Splitter(ir::Module& module, const Function& from, FoldConfig fold, diag::Diagnostics& diagnostics)
      : Rewriter(module, from, fold), structure_(from), uses_(from), diagnostics_(diagnostics) {}

  bool good() const { return good_; }

 private:
  /// A value that varies, and the array that gets it.
  struct Assignment {
    Value array, value;
  };
  /// A condition that an invocation must have to take part, or must not have.
  struct Guard {
    Value condition;
    bool wanted = true;
  };

  void Visit(Inst inst) override {
    const InstData& data = from_[inst];
    if (IsWorkgroup(data)) return Split(inst);
    if (data.op == Op::Alloca && facts_ != nullptr) return PlaceArray(inst);
    if (ir::IsAccess(data.op) && facts_ != nullptr && own_arrays_.Has(from_.Operand(inst, 0)))
      return VisitOwn(inst);
    if (ir::IsAtomic(data.op) && from_.TypeOf(from_.Operand(inst, 0)).IsArray()) return VisitAtomic(inst);
    Copy(inst);
  }

  void Split(Inst inst) {
    WorkgroupFacts facts(from_, inst, diagnostics_);
    good_ = good_ && facts.good();
    if (!facts.good()) return;
    CheckWorkgroupRaces(module_, from_, inst, facts, diagnostics_);
    facts_ = &facts;
    std::span<const Value> bounds = from_.Operands(inst);
    builder_.SetSpan(from_[inst].span);
    Inst loop = builder_.Parallel(MapAll(bounds.first(bounds.size() - 2)), 0);
    Block source = from_[inst].regions[0];
    home_ = (*into_)[loop].regions[0];
    for (size_t n = 0; n < (*into_)[home_].params.size(); ++n) {
      Value param = (*into_)[home_].params[n];
      SetMapped(from_[source].params[n], param);
      (*into_)[param].name = from_[from_[source].params[n]].name;
    }
    arrays_.clear();
    InBlock(home_, [&] {
      SplitBlock(source, {}, {});
      builder_.Yield({});
    });
    std::vector<Inst>& insts = (*into_)[home_].insts;
    insts.insert(insts.begin(), arrays_.begin(), arrays_.end());
    facts_ = nullptr;
  }

  /// The pieces of a block, after `first`, which belongs to its first piece. The last piece makes the
  /// assignments.
  void SplitBlock(Block source, std::vector<Inst> first, std::span<const Assignment> last) {
    std::vector<Inst> piece = std::move(first);
    for (Inst inst : from_[source].insts) {
      if (ir::IsTerminator(from_[inst].op)) {
        EmitPiece(piece, last);
      } else if (from_[inst].op == Op::Barrier) {
        EmitPiece(piece, {});
        piece.clear();
      } else if (facts_->HasBarrier(inst)) {
        SplitControl(inst, piece);
        piece.clear();
      } else {
        piece.push_back(inst);
      }
    }
  }

  // ---- Control around barriers

  void SplitControl(Inst inst, const std::vector<Inst>& before) {
    if (from_[inst].op == Op::If) return SplitIf(inst, before);
    SplitLoop(inst, before);
  }

  void SplitIf(Inst inst, const std::vector<Inst>& before) {
    EmitPiece(before, {});
    Value condition = from_.Operand(inst, 0);
    if (facts_->Varies(condition)) {
      for (uint32_t r = 0; r < 2; ++r) {
        guards_.push_back({condition, r == 0});
        SplitBlock(from_[inst].regions[r], {}, {});
        guards_.pop_back();
      }
      return;
    }
    std::vector<Type> types;
    for (uint32_t n = 0; n < from_[inst].result_count; ++n) {
      Value result = from_.Result(inst, n);
      if (facts_->Varies(result)) {
        MakeArray(result);
      } else {
        types.push_back(from_.TypeOf(result));
      }
    }
    builder_.SetSpan(from_[inst].span);
    Inst made = builder_.If(Map(condition), types);
    for (uint32_t r = 0; r < 2; ++r) {
      Block source = from_[inst].regions[r];
      std::span<const Value> yields = from_.Operands(from_.Terminator(source));
      std::vector<Assignment> assignments = ToArrays(inst, yields);
      FillRegion((*into_)[made].regions[r], source, {}, assignments, inst, yields);
    }
    MapAlike(inst, made);
  }

  void SplitLoop(Inst inst, const std::vector<Inst>& before) {
    const InstData& data = from_[inst];
    std::span<const Value> operands = from_.Operands(inst);
    size_t head = operands.size() - data.result_count;
    Block first = data.regions[0];
    size_t skip = from_[first].params.size() - data.result_count;
    for (uint32_t n = 0; n < data.result_count; ++n) {
      Value result = from_.Result(inst, n);
      if (!facts_->Varies(result)) continue;
      MakeArray(result);
      Value array = array_of_.Get(result);
      array_of_[from_[first].params[skip + n]] = array;
    }
    EmitPiece(before, ToArrays(inst, operands.subspan(head)));
    std::vector<Value> mapped = MapAll(operands.first(head));
    std::vector<Type> types;
    for (uint32_t n = 0; n < data.result_count; ++n) {
      if (facts_->Varies(from_.Result(inst, n))) continue;
      mapped.push_back(Map(operands[head + n]));
      types.push_back(from_.TypeOf(operands[head + n]));
    }
    Inst made = CopyAs(inst, mapped, types);
    Block region = NewLoopRegion(inst, made, skip);
    std::vector<Inst> left;
    if (data.op == Op::While) left = FillTest(first, region);
    Block body = data.op == Op::While ? data.regions[1] : first;
    if (data.op == Op::While) {
      region = into_->NewBlock(made);
      (*into_)[made].regions[1] = region;
    }
    std::span<const Value> yields = from_.Operands(from_.Terminator(body));
    FillRegion(region, body, std::move(left), ToArrays(inst, yields), inst, yields);
    MapAlike(inst, made);
  }

  /// The first region of a loop, with the index of a `for` and those carried values that do not vary.
  Block NewLoopRegion(Inst inst, Inst made, size_t skip) {
    Block region = into_->NewBlock(made), source = from_[inst].regions[0];
    (*into_)[made].regions[0] = region;
    for (size_t n = 0; n < from_[source].params.size(); ++n) {
      Value param = from_[source].params[n];
      if (n >= skip && facts_->Varies(param)) continue;
      SetMapped(param, into_->AddParam(region, from_.TypeOf(param), from_[param].name));
    }
    return region;
  }

  /// The condition of a `while`. Returns the instructions in it that vary, which belong to the first piece of
  /// the body.
  std::vector<Inst> FillTest(Block source, Block region) {
    std::vector<Inst> left;
    InBlock(region, [&] {
      for (Inst inst : from_[source].insts) {
        if (ir::IsTerminator(from_[inst].op)) {
          builder_.Terminate(from_[inst].op, MapAll(from_.Operands(inst)));
        } else if (facts_->RunsOnce(inst)) {
          Copy(inst);
        } else {
          left.push_back(inst);
        }
      }
    });
    return left;
  }

  void FillRegion(Block region, Block source, std::vector<Inst> first,
                  std::span<const Assignment> assignments, Inst owner, std::span<const Value> yields) {
    InBlock(region, [&] {
      SplitBlock(source, std::move(first), assignments);
      std::vector<Value> alike;
      for (uint32_t n = 0; n < yields.size(); ++n) {
        if (!facts_->Varies(from_.Result(owner, n))) alike.push_back(Map(yields[n]));
      }
      builder_.SetSpan(from_[from_.Terminator(source)].span);
      builder_.Yield(alike);
    });
  }

  /// Maps the results that do not vary.
  void MapAlike(Inst inst, Inst made) {
    uint32_t at = 0;
    for (uint32_t n = 0; n < from_[inst].result_count; ++n) {
      Value result = from_.Result(inst, n);
      if (!facts_->Varies(result)) MapNamed(result, into_->Result(made, at++));
    }
  }

  /// The assignments to the results of `owner` that vary.
  std::vector<Assignment> ToArrays(Inst owner, std::span<const Value> values) {
    std::vector<Assignment> assignments;
    for (uint32_t n = 0; n < values.size(); ++n) {
      Value result = from_.Result(owner, n);
      if (facts_->Varies(result)) assignments.push_back({array_of_.Get(result), values[n]});
    }
    return assignments;
  }

  // ---- Pieces

  bool Acts(Inst inst) const {
    if (facts_->RunsOnce(inst) || from_[inst].op == Op::Alloca) return false;
    for (uint32_t n = 0; n < from_[inst].result_count; ++n) {
      if (facts_->Crosses(from_.Result(inst, n))) return true;
    }
    for (Inst inner : structure_.Within(inst)) {
      Op op = from_[inner].op;
      ir::Effect effect = ir::InfoOf(op).effect;
      if (analysis::WritesMemory(op) || effect == ir::Effect::Report || op == Op::Call || op == Op::While)
        return true;
    }
    return false;
  }

  void EmitPiece(const std::vector<Inst>& piece, std::span<const Assignment> assignments) {
    bool acts = !assignments.empty();
    for (Inst inst : piece) {
      if (from_[inst].op == Op::Alloca) {
        PlaceArray(inst);
      } else if (facts_->RunsOnce(inst)) {
        Copy(inst);
      } else {
        Choose(inst);
      }
      acts = acts || Acts(inst);
    }
    if (acts) EmitLoop(piece, assignments);
    for (const auto& [result, value] : chosen_) SetMapped(result, value);
    chosen_.clear();
  }

  /// Computes results of a branch that do not vary, although other results of it do.
  void Choose(Inst inst) {
    if (from_[inst].op != Op::If) return;
    for (uint32_t n = 0; n < from_[inst].result_count; ++n) {
      Value result = from_.Result(inst, n);
      if (facts_->Varies(result)) continue;
      SetMapped(result, Before(result, inst));
      chosen_.emplace_back(result, Map(result));
    }
  }

  /// The value of `v`, which stands in `control`, before it.
  Value Before(Value v, Inst control) {
    Inst made = from_.DefiningInst(v);
    bool is_result = made == control && made.Valid();
    if (!is_result && structure_.DefinedOutside(v, control)) return Map(v);
    if (from_[made].op == Op::If) {
      uint32_t n = v.raw - from_.Result(made).raw;
      std::vector<Value> values = {Before(from_.Operand(made, 0), control)};
      for (Block region : from_[made].regions)
        values.push_back(Before(from_.Operand(from_.Terminator(region), n), control));
      return builder_.Make(Op::Select, values);
    }
    for (Value operand : from_.Operands(made)) SetMapped(operand, Before(operand, control));
    Copy(made);
    return Map(v);
  }

  /// Whether an invocation goes on with what another one has left: it uses the old value of an atomic, or its
  /// derivative does.
  bool IsInOrder(const std::vector<Inst>& piece) const {
    for (Inst inst : piece) {
      for (Inst inner : structure_.Within(inst)) {
        const InstData& data = from_[inner];
        if (!ir::IsAtomic(data.op) || !from_.TypeOf(from_.Operand(inner, 0)).IsArray()) continue;
        bool sums = data.op == Op::AtomicAdd || data.op == Op::AtomicSub;
        bool is_float = from_.TypeOf(from_.AccessValues(inner)[0]).IsFloat();
        bool used = data.result_count != 0 && uses_.IsUsed(from_.Result(inner));
        if (used || (is_float && !sums)) return true;
      }
    }
    return false;
  }

  /// The loop over the invocations.
  void EmitLoop(const std::vector<Inst>& piece, std::span<const Assignment> assignments) {
    Block outer = builder_.block();
    Inst loop = builder_.For(builder_.I32(0), builder_.I32(static_cast<int32_t>(facts_->Size())),
                             builder_.I32(1), {});
    if (!IsInOrder(piece)) {
      (*into_)[loop].words.Add(ir::Word::Apart);
      (*into_)[loop].attr = facts_->Size();
    }
    Block region = (*into_)[loop].regions[0];
    number_ = (*into_)[region].params[0];
    (*into_)[number_].name = from_[facts_->Invocation()].name;
    SetMapped(facts_->Invocation(), number_);
    std::vector<Block> open = {region};
    builder_.SetBlock(region);
    Fetch(piece, assignments);
    for (const Guard& guard : guards_) open.push_back(OpenGuard(guard));
    for (Inst inst : piece) {
      if (!facts_->RunsOnce(inst) && from_[inst].op != Op::Alloca) Visit(inst);
    }
    for (Inst inst : piece) Spill(inst);
    Assign(assignments);
    for (size_t n = open.size(); n-- > 0;) {
      builder_.SetBlock(open[n]);
      builder_.Yield({});
    }
    builder_.SetBlock(outer);
  }

  Block OpenGuard(const Guard& guard) {
    Inst branch = builder_.If(Map(guard.condition), {});
    Block taken = (*into_)[branch].regions[guard.wanted ? 0 : 1];
    builder_.SetBlock((*into_)[branch].regions[guard.wanted ? 1 : 0]);
    builder_.Yield({});
    builder_.SetBlock(taken);
    return taken;
  }

  /// Loads or computes what a piece reads of earlier pieces, where its loop begins.
  void Fetch(const std::vector<Inst>& piece, std::span<const Assignment> assignments) {
    std::set<uint32_t> made, known;
    auto need = [&](Value v) {
      if (facts_->Varies(v) && v != facts_->Invocation() && !from_.TypeOf(v).IsArray() &&
          made.count(v.raw) == 0 && known.insert(v.raw).second)
        SetMapped(v, Again(v, known));
    };
    for (const Guard& guard : guards_) need(guard.condition);
    for (Inst inst : piece) {
      for (Inst inner : structure_.Within(inst)) {
        for (Value v : from_.Operands(inner)) need(v);
        for (uint32_t n = 0; n < from_[inner].result_count; ++n) made.insert(from_.Result(inner, n).raw);
        for (uint32_t r = 0; r < from_.RegionCount(inner); ++r) {
          for (Value param : from_[from_[inner].regions[r]].params) made.insert(param.raw);
        }
      }
    }
    for (const Assignment& assignment : assignments) need(assignment.value);
  }

  /// The value that `v` had in an earlier piece.
  Value Again(Value v, std::set<uint32_t>& known) {
    if (!facts_->IsRecomputed(v)) return builder_.Load(ArrayOf(v), {&number_, 1});
    Inst made = from_.DefiningInst(v);
    for (Value operand : from_.Operands(made)) {
      bool fresh =
          facts_->Varies(operand) && operand != facts_->Invocation() && known.insert(operand.raw).second;
      if (fresh) SetMapped(operand, Again(operand, known));
    }
    Copy(made);
    return Map(v);
  }

  void Spill(Inst inst) {
    for (uint32_t n = 0; n < from_[inst].result_count; ++n) {
      Value result = from_.Result(inst, n);
      if (!facts_->Crosses(result)) continue;
      Value value = Map(result);
      builder_.Access(Op::Store, ArrayOf(result), {&number_, 1}, {&value, 1});
    }
  }

  void Assign(std::span<const Assignment> assignments) {
    std::vector<Value> values;
    for (const Assignment& assignment : assignments) values.push_back(Map(assignment.value));
    for (size_t n = 0; n < values.size(); ++n)
      builder_.Access(Op::Store, assignments[n].array, {&number_, 1}, {&values[n], 1});
  }

  // ---- Arrays

  Value NewArray(Type type, StringId name) {
    Inst inst = into_->NewInst(Op::Alloca, {}, {&type, 1}, builder_.span());
    (*into_)[inst].parent = home_;
    arrays_.push_back(inst);
    (*into_)[into_->Result(inst)].name = name;
    return into_->Result(inst);
  }

  void MakeArray(Value v) {
    array_of_[v] = NewArray(Type::Array(from_.TypeOf(v), facts_->Size()), from_[v].name);
  }

  Value ArrayOf(Value v) {
    if (!array_of_.Get(v).Valid()) MakeArray(v);
    return array_of_.Get(v);
  }

  /// Shared arrays are those of the workgroup, all others have a row for each invocation.
  void PlaceArray(Inst inst) {
    Value array = from_.Result(inst);
    Type type = from_.TypeOf(array);
    bool is_shared = from_[inst].Has(ir::Word::Shared);
    if (!is_shared) own_arrays_.Insert(array);
    uint32_t rows = is_shared ? 1 : facts_->Size();
    SetMapped(array, NewArray(Type::Array(type.Element(), type.count * rows), from_[array].name));
  }

  void VisitOwn(Inst inst) {
    uint32_t count = from_.TypeOf(from_.Operand(inst, 0)).count;
    Value row = builder_.Make(Op::Mul, {number_, builder_.I32(static_cast<int32_t>(count))});
    Value index = builder_.Cast(Map(from_.Indices(inst)[0]), ir::kI32);
    std::vector<Value> operands = MapAll(from_.Operands(inst));
    operands[1] = builder_.Make(Op::Add, {row, index});
    CopyShell(inst, operands);
  }

  /// One thread runs the workgroup: an atomic on its memory is a load and a store.
  void VisitAtomic(Inst inst) {
    builder_.SetSpan(from_[inst].span);
    std::vector<Value> indices = MapAll(from_.Indices(inst));
    Value array = Map(from_.Operand(inst, 0));
    std::vector<Value> values = MapAll(from_.AccessValues(inst));
    Value old = builder_.Load(array, indices);
    Value fresh = Updated(from_[inst].op, old, values);
    builder_.Access(Op::Store, array, indices, {&fresh, 1});
    Define(inst, old);
  }

  Value Updated(Op op, Value old, const std::vector<Value>& values) {
    if (op == Op::AtomicCompareExchange)
      return builder_.Make(Op::Select, {HasBitsOf(old, values[0]), values[1], old});
    std::optional<Op> combined = ir::CombinedBy(op, into_->TypeOf(old).scalar);
    return combined ? builder_.Make(*combined, {old, values[0]}) : values[0];
  }

  Value HasBitsOf(Value a, Value b) {
    Type type = into_->TypeOf(a);
    if (type.IsFloat()) {
      uint32_t width = ir::BitWidth(type.scalar);
      Type bits = type.WithScalar(width == 64   ? ir::Scalar::I64
                                  : width == 32 ? ir::Scalar::I32
                                                : ir::Scalar::I16);
      a = builder_.Bitcast(a, bits);
      b = builder_.Bitcast(b, bits);
    }
    return builder_.Make(Op::Eq, {a, b});
  }

  analysis::Structure structure_;
  analysis::Uses uses_;
  diag::Diagnostics& diagnostics_;
  const WorkgroupFacts* facts_ = nullptr;
  std::vector<Guard> guards_;
  std::vector<std::pair<Value, Value>> chosen_;  ///< results of branches, computed before them
  Block home_;                                   ///< body of the loop over workgroups
  std::vector<Inst> arrays_;                     ///< the arrays that are to stand at its begin
  SideTable<Value, Value> array_of_;             ///< of values that cross, an element for each invocation
  IndexSet<Value> own_arrays_;
  Value number_;  ///< of the invocation, in the piece that is written
  bool good_ = true;
};

bool HoldsWorkgroup(const Function& function) {
  for (Inst inst : function[function.Body()].insts) {
    if (IsWorkgroup(function[inst])) return true;
  }
  return false;
}

/// A function with a barrier may have been called where there is no workgroup, or stays a function.
bool RefuseLeftBarriers(const ir::Module& module, diag::Diagnostics& diagnostics) {
  for (const std::unique_ptr<Function>& function : module.functions) {
    if (!function->IsKernel() && !function->vjp.Valid() && !function->jvp.Valid()) continue;
    analysis::Structure structure(*function);
    for (Inst inst : structure.Order()) {
      if ((*function)[inst].op != Op::Barrier) continue;
      diagnostics
          .Error(diag::E0306, (*function)[inst].span, "there is no workgroup whose invocations wait here")
          .AddHelp(
              "call the function in a 'parallel' that is marked 'workgroup', and let it name no derivatives");
      return false;
    }
  }
  return true;
}

}  // namespace

bool SplitWorkgroups(ir::Module& module, FoldConfig fold, diag::Diagnostics& diagnostics) {
  bool good = true;
  for (size_t n = 0; n < module.functions.size(); ++n) {
    const Function& function = *module.functions[n];
    if (!function.IsKernel() || !HoldsWorkgroup(function)) continue;
    Splitter splitter(module, function, fold, diagnostics);
    std::unique_ptr<Function> split = splitter.Run();
    good = good && splitter.good();
    if (splitter.good()) module.Replace(std::move(split));
  }
  return good && RefuseLeftBarriers(module, diagnostics);
}

}  // namespace adc::transform
