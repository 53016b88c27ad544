// Liveness from the end: what has an effect lives, and so does what it reads. A carried value lives where the
// loop's result or the parameter in its body is read. A `break` or `continue` has its effect on its loop
// alone: the branches that hold one live if the loop does.

#include "frontend/cpp/tidy.h"

#include "ir/clone.h"

namespace adc::frontend {

using ir::Block;
using ir::Function;
using ir::Inst;
using ir::InstData;
using ir::Op;
using ir::Value;
using ir::ValueKind;

namespace {

/// Whether the results are what its regions yield.
bool GivesYielded(Op op) {
  return op == Op::If || op == Op::Scope;
}

bool IsLoop(Op op) {
  return op == Op::For || op == Op::While;
}

class Liveness {
 public:
  explicit Liveness(const Function& function)
      : function_(function),
        inst_(function.InstCount(), 0),
        value_(function.ValueCount(), 0),
        leaves_(function.InstCount()) {
    Scan(function.Body());
    while (!pending_.empty()) {
      Value v = pending_.back();
      pending_.pop_back();
      Follow(v);
    }
  }

  bool Lives(Inst inst) const { return inst_[inst.raw] != 0; }
  bool Lives(Value v) const { return value_[v.raw] != 0; }
  /// How many operands of a loop stand before its initial values.
  uint32_t LeadingOperands(Inst loop) const {
    const InstData& data = function_[loop];
    return data.op == Op::For ? 3 : data.Has(ir::Word::HasMax) ? 1 : 0;
  }
  uint32_t LeadingParams(Inst loop) const { return function_[loop].op == Op::For ? 1 : 0; }
  Value Param(Inst loop, uint32_t carried) const {
    return function_[function_[loop].regions[0]].params[LeadingParams(loop) + carried];
  }
  bool CarryLives(Inst loop, uint32_t carried) const {
    return Lives(function_.Result(loop, carried)) || Lives(Param(loop, carried));
  }

 private:
  /// Finds what has an effect, and the exits of each loop.
  void Scan(Block block) {
    for (Inst inst : function_[block].insts) {
      const InstData& data = function_[inst];
      for (Block region : data.regions) {
        if (region.Valid()) Scan(region);
      }
      if (ir::IsLeave(data.op)) {
        Inst loop = function_.TargetOf(inst);
        leaves_[loop.raw].push_back(inst);
        if (Lives(loop)) Keep(inst);
      }
      bool effect = data.op == Op::Store || ir::IsAtomic(data.op) || data.op == Op::Call ||
                    data.op == Op::Assert || data.op == Op::Print || data.op == Op::Return ||
                    data.op == Op::Parallel || data.op == Op::Barrier;
      if (effect) Keep(inst);
    }
  }

  void Mark(Value v) {
    if (value_[v.raw] != 0) return;
    value_[v.raw] = 1;
    pending_.push_back(v);
  }

  void Follow(Value v) {
    const ir::ValueData& data = function_[v];
    if (data.kind == ValueKind::Result) {
      Inst inst(data.owner);
      Keep(inst);
      if (IsLoop(function_[inst].op)) Carry(inst, data.number);
      if (GivesYielded(function_[inst].op)) {
        for (Block region : function_[inst].regions) {
          Inst end = region.Valid() ? function_.Terminator(region) : Inst();
          if (end.Valid() && function_[end].op == Op::Yield) Mark(function_.Operand(end, data.number));
        }
        for (Inst leave : leaves_[inst.raw]) Mark(function_.LeavingValues(leave)[data.number]);
      }
    } else if (data.kind == ValueKind::BlockParam) {
      Inst owner = function_[Block(data.owner)].owner;
      if (owner.Valid() && IsLoop(function_[owner].op) && data.number >= LeadingParams(owner))
        Carry(owner, data.number - LeadingParams(owner));
    }
  }

  void Carry(Inst loop, uint32_t carried) {
    Mark(function_.Operand(loop, LeadingOperands(loop) + carried));
    Inst end = function_.Terminator(function_[loop].regions[function_[loop].op == Op::While ? 1 : 0]);
    if (function_[end].op == Op::Yield) Mark(function_.Operand(end, carried));
    for (Inst leave : leaves_[loop.raw]) Mark(function_.Operand(leave, carried));
  }

  void Keep(Inst inst) {
    if (inst_[inst.raw] != 0) return;
    inst_[inst.raw] = 1;
    const InstData& data = function_[inst];
    uint32_t operands = data.operand_count;
    if (IsLoop(data.op)) operands = LeadingOperands(inst);
    if (ir::IsTerminator(data.op) && data.op != Op::ContinueIf && data.op != Op::Return) operands = 0;
    for (uint32_t n = 0; n < operands; ++n) Mark(function_.Operand(inst, n));
    for (Block region : data.regions) {
      if (!region.Valid()) continue;
      Inst end = function_.Terminator(region);
      if (!ir::IsLeave(function_[end].op)) Keep(end);
    }
    for (Inst leave : leaves_[inst.raw]) Keep(leave);
    Inst owner = function_[data.parent].owner;
    if (owner.Valid()) Keep(owner);
  }

  const Function& function_;
  std::vector<unsigned char> inst_, value_;
  std::vector<std::vector<Inst>> leaves_;
  std::vector<Value> pending_;
};

class Copier {
 public:
  Copier(ir::Module& module, const Function& from)
      : from_(from),
        live_(from),
        into_(ir::CloneSignature(from, from.name, map_)),
        builder_(module, *into_, into_->Body()),
        cloner_(from, builder_, map_) {}

  std::unique_ptr<Function> Run() {
    CopyBlock(from_.Body(), into_->Body(), Inst());
    return std::move(into_);
  }

 private:
  void CopyBlock(Block block, Block to, Inst owner) {
    builder_.SetBlock(to);
    for (Inst inst : from_[block].insts) {
      if (!live_.Lives(inst)) continue;
      Copy(inst, owner);
      builder_.SetBlock(to);
    }
    Inst end = from_.Terminator(block);
    if (!live_.Lives(end)) builder_.Yield({});
  }

  bool Stays(Inst owner, uint32_t value) const {
    if (IsLoop(from_[owner].op)) return live_.CarryLives(owner, value);
    return live_.Lives(from_.Result(owner, value));
  }

  void Copy(Inst inst, Inst owner) {
    const InstData& data = from_[inst];
    std::vector<Value> operands;
    std::vector<ir::Type> types;
    std::vector<uint32_t> results;
    uint32_t leading = data.operand_count;
    if (IsLoop(data.op)) leading = live_.LeadingOperands(inst);
    bool ends = ir::IsTerminator(data.op) && data.op != Op::ContinueIf && data.op != Op::Return;
    Inst target = !ends ? Inst() : ir::IsLeave(data.op) ? from_.TargetOf(inst) : owner;
    for (uint32_t n = 0; n < data.operand_count; ++n) {
      if (data.op == Op::Exit && n == 0) {
        operands.push_back(cloner_.Map(from_.Operand(inst, 0)));
        continue;
      }
      bool stays = ends ? Stays(target, n - (data.op == Op::Exit ? 1 : 0))
                        : n < leading || live_.CarryLives(inst, n - leading);
      if (stays) operands.push_back(cloner_.Map(from_.Operand(inst, n)));
    }
    for (uint32_t n = 0; n < data.result_count; ++n) {
      bool stays = IsLoop(data.op) ? live_.CarryLives(inst, n)
                                   : !GivesYielded(data.op) || live_.Lives(from_.Result(inst, n));
      if (!stays) continue;
      results.push_back(n);
      types.push_back(from_.TypeOf(from_.Result(inst, n)));
    }
    Inst copy = into_->NewInst(data.op, operands, types, data.span);
    ir::CopyAttributes(data, (*into_)[copy]);
    into_->Append(builder_.block(), copy);
    for (uint32_t n = 0; n < results.size(); ++n) {
      Value result = from_.Result(inst, results[n]);
      map_[result] = into_->Result(copy, n);
      (*into_)[into_->Result(copy, n)].name = from_[result].name;
    }
    for (uint32_t r = 0; r < from_.RegionCount(inst); ++r) CopyRegion(inst, copy, r);
  }

  void CopyRegion(Inst inst, Inst copy, uint32_t number) {
    Block region = from_[inst].regions[number];
    Block to = into_->NewBlock(copy);
    (*into_)[copy].regions[number] = to;
    uint32_t leading = IsLoop(from_[inst].op) ? live_.LeadingParams(inst) : UINT32_MAX;
    for (uint32_t n = 0; n < from_[region].params.size(); ++n) {
      Value param = from_[region].params[n];
      if (n < leading || live_.CarryLives(inst, n - leading))
        map_[param] = into_->AddParam(to, from_.TypeOf(param), from_[param].name);
    }
    CopyBlock(region, to, inst);
  }

  const Function& from_;
  Liveness live_;
  ir::ValueMap map_;
  std::unique_ptr<Function> into_;
  ir::Builder builder_;
  ir::Cloner cloner_;
};

}  // namespace

std::unique_ptr<Function> Tidy(ir::Module& module, const Function& function) {
  return Copier(module, function).Run();
}

}  // namespace adc::frontend
