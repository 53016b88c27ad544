#include "transform/rewriter.h"

#include <unordered_map>

#include "analysis/structure.h"
#include "ir/clone.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::transform {

using ir::Block, ir::Function, ir::Inst, ir::InstData, ir::Op, ir::Type, ir::Value, ir::ValueKind;

Rewriter::Rewriter(ir::Module& module, const Function& from, FoldConfig config)
    : module_(module),
      from_(from),
      into_(ir::CloneSignature(from, from.name, map_)),
      builder_(module, *into_, into_->Body(), config) {}

std::unique_ptr<Function> Rewriter::Run() {
  VisitBlock(from_.Body(), into_->Body());
  MakeNamesUnique(module_, *into_);
  return std::move(into_);
}

Value Rewriter::Map(Value v) {
  Value mapped = map_.Get(v);
  if (mapped.Valid()) return mapped;
  const ir::ValueData& data = from_[v];
  if (data.kind == ValueKind::Constant) {
    const ir::ConstantData& constant = from_.ConstantOf(v);
    return map_[v] = into_->Constant(constant.type, constant.bits, constant.spelling);
  }
  ADC_CHECK(data.kind == ValueKind::Global, "a rewritten operand has no counterpart");
  const ir::ModuleConstant& constant = module_.constants[data.owner];
  if (constant.type.IsScalar())
    return map_[v] = into_->Constant(constant.type, constant.elements[0], constant.spellings[0]);
  return map_[v] = into_->Global(data.owner, data.type);
}

std::vector<Value> Rewriter::MapAll(std::span<const Value> values) {
  std::vector<Value> mapped;
  mapped.reserve(values.size());
  for (Value v : values) mapped.push_back(Map(v));
  return mapped;
}

bool Rewriter::IsArithmetic(Op op) {
  return ir::IsElementwise(op) || (ir::ClassOf(op) == ir::OpClass::Vector && op != Op::Identity);
}

bool Rewriter::IsFieldExtent(Inst inst) const {
  return from_[inst].op == Op::Shape && from_.TypeOf(from_.Operand(inst, 0)).IsLayout();
}

void Rewriter::PassName(Value from, Value to) {
  ir::ValueData& data = (*into_)[to];
  if (data.kind == ValueKind::Result && !data.name.Valid()) data.name = from_[from].name;
}

void Rewriter::MapNamed(Value from, Value to) {
  map_[from] = to;
  PassName(from, to);
}

void Rewriter::MapResults(Inst inst, std::span<const Value> values) {
  for (uint32_t n = 0; n < from_[inst].result_count; ++n) MapNamed(from_.Result(inst, n), values[n]);
}

void Rewriter::MapParams(Block source, std::span<const Value> params) {
  for (size_t n = 0; n < from_[source].params.size(); ++n) {
    Value param = from_[source].params[n];
    map_[param] = params[n];
    (*into_)[params[n]].name = from_[param].name;
  }
}

std::vector<Value> Rewriter::ResultsOf(Inst inst) const {
  std::vector<Value> results;
  for (uint32_t n = 0; n < (*into_)[inst].result_count; ++n) results.push_back(into_->Result(inst, n));
  return results;
}

std::vector<Type> Rewriter::TypesOf(std::span<const Value> values) const {
  std::vector<Type> types;
  for (Value v : values) types.push_back(into_->TypeOf(v));
  return types;
}

Inst Rewriter::CopyAs(Inst inst, std::span<const Value> operands, std::span<const Type> types) {
  builder_.SetSpan(from_[inst].span);
  Inst copy = builder_.Create(from_[inst].op, operands, types);
  ir::CopyAttributes(from_[inst], (*into_)[copy]);
  return copy;
}

Inst Rewriter::CopyShell(Inst inst, std::span<const Value> operands) {
  std::vector<Type> types;
  for (uint32_t n = 0; n < from_[inst].result_count; ++n)
    types.push_back(from_.TypeOf(from_.Result(inst, n)));
  Inst copy = CopyAs(inst, operands, types);
  MapResults(inst, ResultsOf(copy));
  return copy;
}

Block Rewriter::NewRegion(Block source, Inst owner, uint32_t number) {
  Block region = into_->NewBlock(owner);
  (*into_)[owner].regions[number] = region;
  for (Value param : from_[source].params)
    map_[param] = into_->AddParam(region, from_.TypeOf(param), from_[param].name);
  return region;
}

void Rewriter::CopyRegions(Inst from, Inst to) {
  for (uint32_t r = 0; r < from_.RegionCount(from); ++r) {
    Block source = from_[from].regions[r];
    VisitBlock(source, NewRegion(source, to, r));
  }
}

void Rewriter::VisitBlock(Block source, Block into) {
  InBlock(into, [&] {
    for (Inst inst : from_[source].insts) Visit(inst);
  });
}

void Rewriter::Copy(Inst inst) {
  const InstData& data = from_[inst];
  std::vector<Value> operands = MapAll(from_.Operands(inst));
  builder_.SetSpan(data.span);
  if (data.op == Op::Cast) {
    Define(inst, builder_.Cast(operands[0], from_.TypeOf(from_.Result(inst))));
  } else if (data.op == Op::Bitcast) {
    Define(inst, builder_.MakePure(data.op, operands, from_.TypeOf(from_.Result(inst)), data.attr));
  } else if (data.op == Op::MatMake) {
    // A matrix may state its type, which its operands alone do not give: components in order are the matrix
    // that they are taken from only where its shape is the same.
    Value whole = builder_.Fold(Op::MatMake, operands);
    if (whole.Valid() && into_->TypeOf(whole) == from_.TypeOf(from_.Result(inst))) {
      Define(inst, whole);
    } else {
      CopyShell(inst, operands);
    }
  } else if (IsFieldExtent(inst)) {
    const ir::Layout& layout = module_.layouts[from_.TypeOf(from_.Operand(inst, 0)).count];
    Define(inst, into_->Constant(from_.TypeOf(from_.Result(inst)),
                                 layout.fields[data.component].axes[data.attr].extent));
  } else if (IsArithmetic(data.op)) {
    bool is_plain = data.attr == ir::kNoAttr;
    Value known = is_plain ? builder_.Make(data.op, operands) : builder_.Fold(data.op, operands);
    if (!known.Valid())
      known = builder_.MakePure(data.op, operands, from_.TypeOf(from_.Result(inst)), data.attr);
    Define(inst, known);
  } else {
    CopyRegions(inst, CopyShell(inst, operands));
  }
}

Value Rewriter::Trips(Value lo, Value hi, int64_t step) {
  bool wide = into_->TypeOf(lo) == ir::kI64;
  Value low = wide ? lo : builder_.Cast(lo, ir::kI64), high = wide ? hi : builder_.Cast(hi, ir::kI64);
  Value count = builder_.Make(Op::Sub, {builder_.Make(Op::Max, {high, low}), low});
  if (wide && into_->IntegerConstant(lo).value_or(-1) < 0) {
    Value wraps = builder_.Make(Op::Lt, {count, builder_.I64(0)});
    count = builder_.Make(Op::Select, {wraps, builder_.I64(INT64_MAX), count});
  }
  if (step == 1) return count;
  return builder_.Make(Op::CeilDiv, {count, builder_.I64(step)});
}

Value Rewriter::ZeroOf(Type type) {
  if (type.IsScalar()) return builder_.Zero(type);
  return Whole(type, std::vector<Value>(type.Components(), builder_.Zero(type.ScalarType())));
}

std::vector<Value> Rewriter::ZerosOf(std::span<const Type> types) {
  std::vector<Value> zeros;
  for (Type type : types) zeros.push_back(ZeroOf(type));
  return zeros;
}

Value Rewriter::Whole(Type type, std::span<const Value> components) {
  return into_->Result(builder_.Create(type.IsVec() ? Op::VecMake : Op::MatMake, components, {&type, 1}));
}

Value Rewriter::Component(Value whole, uint32_t k) {
  Type type = into_->TypeOf(whole);
  if (type.IsVec()) return builder_.Make(Op::VecGet, {whole, builder_.I32(static_cast<int32_t>(k))});
  Value row = builder_.I32(static_cast<int32_t>(k / type.columns));
  Value column = builder_.I32(static_cast<int32_t>(k % type.columns));
  return builder_.Make(Op::MatGet, {whole, row, column});
}

void Rewriter::VisitContents(Block source) {
  for (Inst inst : from_[source].insts) {
    if (!ir::IsTerminator(from_[inst].op)) Visit(inst);
  }
}

void MakeNamesUnique(ir::Module& module, Function& function) {
  std::unordered_map<StringId, uint32_t> taken;  // name -> next number to try
  auto claim = [&](Value v) {
    StringId name = function[v].name;
    if (!name.Valid()) return;
    auto [place, fresh] = taken.try_emplace(name, 1);
    if (fresh) return;
    std::string text(module.Text(name));
    uint32_t number = place->second;
    StringId numbered;
    do {
      numbered = module.Intern(text + "." + std::to_string(number++));
    } while (!taken.try_emplace(numbered, 1).second);
    taken[name] = number;
    function[v].name = numbered;
  };
  for (Value param : function.Params()) claim(param);
  analysis::Structure structure(function);
  for (Inst inst : structure.Order()) {
    for (uint32_t n = 0; n < function[inst].result_count; ++n) claim(function.Result(inst, n));
    for (uint32_t r = 0; r < function.RegionCount(inst); ++r) {
      for (Value param : function[function[inst].regions[r]].params) claim(param);
    }
  }
}

}  // namespace adc::transform
