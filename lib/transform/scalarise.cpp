// Every value of vector or matrix type is replaced by a list of scalars, its *parts*, in row-major order. The
// walk keeps the parts of each source value and writes scalar code only:
//
//   %v = load %x[%i]            ->  %v.0 = load %x[%i].0   %v.1 = load %x[%i].1
//   %d = dot %v, %v             ->  %t = mul %v.0, %v.0    %u = mul %v.1, %v.1    %d = add %t, %u
//   store %y[%i], (mul %v, %d)  ->  store %y[%i].0, (mul %v.0, %d)   ...

#include "transform/scalarise.h"

#include "analysis/structure.h"
#include "ir/module.h"
#include "support/check.h"
#include "transform/composed.h"
#include "transform/matrix_expansion.h"
#include "transform/random_expansion.h"
#include "transform/rewriter.h"

namespace adc::transform {
namespace {

using ir::Block, ir::Function, ir::Inst, ir::InstData, ir::Op, ir::Type, ir::Value, ir::VectorOp;

bool IsCompound(Type type) {
  return type.IsVec() || type.IsMat();
}

class ScalariseRewriter final : public Rewriter {
 public:
  ScalariseRewriter(ir::Module& module, const Function& from, FoldConfig fold)
      : Rewriter(module, from, fold) {
    for (Value param : from.Params()) {
      if (!IsCompound(from.TypeOf(param))) continue;
      Unpack(param, map_[param]);
    }
  }

 private:
  void Visit(Inst inst) override {
    const InstData& data = from_[inst];
    builder_.SetSpan(data.span);
    if (ir::IsAccess(data.op)) return VisitAccess(inst);
    if (data.op == Op::Alloca) return VisitAlloca(inst);
    if (analysis::IsSerialLoop(data.op) || data.op == Op::If) return VisitControl(inst);
    if (ir::IsTerminator(data.op)) {
      bool leaves = data.op == Op::Return;
      builder_.Terminate(data.op, leaves ? PackAll(from_.Operands(inst)) : PartsOfAll(from_.Operands(inst)));
      return;
    }
    if (data.op == Op::Call) return VisitCall(inst);
    if (data.op == Op::Random) {
      Value result = from_.Result(inst);
      return SetParts(result, ExpandRandom(builder_, MapAll(from_.Operands(inst)), from_.TypeOf(result)));
    }
    bool compound = data.result_count == 1 && IsCompound(from_.TypeOf(from_.Result(inst)));
    for (Value v : from_.Operands(inst)) compound = compound || IsCompound(from_.TypeOf(v));
    if (!compound && ir::ClassOf(data.op) == ir::OpClass::Composed)
      return Define(inst, ExpandComposed(builder_, data.op, MapAll(from_.Operands(inst))));
    if (!compound) return Copy(inst);
    if (data.op == Op::Print) return VisitPrint(inst);
    SetParts(from_.Result(inst), Expand(inst));
  }

  /// The scalars that make up a source value; of a scalar, itself.
  std::vector<Value> Parts(Value v) {
    if (!IsCompound(from_.TypeOf(v))) return {Map(v)};
    uint32_t first = first_part_.Get(v);
    ADC_CHECK(first != 0, "a vector has no parts");
    auto begin = parts_.begin() + (first - 1);
    return {begin, begin + from_.TypeOf(v).Components()};
  }

  std::vector<Value> PartsOfAll(std::span<const Value> values) {
    std::vector<Value> all;
    for (Value v : values) {
      std::vector<Value> parts = Parts(v);
      all.insert(all.end(), parts.begin(), parts.end());
    }
    return all;
  }

  void SetParts(Value v, std::span<const Value> parts) {
    if (!IsCompound(from_.TypeOf(v))) {
      MapNamed(v, parts[0]);
      return;
    }
    ADC_CHECK(parts.size() == from_.TypeOf(v).Components(), "a vector has as many parts as components");
    first_part_[v] = static_cast<uint32_t>(parts_.size()) + 1;
    parts_.insert(parts_.end(), parts.begin(), parts.end());
    StringId name = from_[v].name;
    if (!name.Valid()) return;
    for (uint32_t k = 0; k < parts.size(); ++k) {
      ir::ValueData& part = (*into_)[parts[k]];
      bool nameable = part.kind == ir::ValueKind::Result || part.kind == ir::ValueKind::BlockParam;
      if (nameable && !part.name.Valid()) part.name = PartName(name, k);
    }
  }

  StringId PartName(StringId name, uint32_t k) {
    return module_.Intern(std::string(module_.Text(name)) + "." + std::to_string(k));
  }

  /// Reads the components of a whole vector or matrix of the new function.
  void Unpack(Value v, Value whole) {
    Type type = from_.TypeOf(v);
    std::vector<Value> parts;
    for (uint32_t k = 0; k < type.Components(); ++k) parts.push_back(Component(whole, k));
    SetParts(v, parts);
  }

  Value Pack(Value v) {
    Type type = from_.TypeOf(v);
    if (!IsCompound(type)) return Map(v);
    std::vector<Value> parts = Parts(v);
    Op make = type.IsVec() ? Op::VecMake : Op::MatMake;
    if (Value whole = builder_.Fold(make, parts); whole.Valid()) return whole;
    return Whole(type, parts);
  }

  std::vector<Value> PackAll(std::span<const Value> values) {
    std::vector<Value> all;
    for (Value v : values) all.push_back(Pack(v));
    return all;
  }

  void VisitCall(Inst inst) {
    std::vector<Value> arguments = PackAll(from_.Operands(inst));
    Inst copy = CopyShell(inst, arguments);
    CopyRegions(inst, copy);
    for (uint32_t n = 0; n < from_[inst].result_count; ++n) {
      Value result = from_.Result(inst, n);
      if (IsCompound(from_.TypeOf(result))) Unpack(result, Map(result));
    }
  }

  void VisitAlloca(Inst inst) {
    Type type = from_.TypeOf(from_.Result(inst));
    Type flat = Type::Array(type.ScalarType(), type.count * type.Components());
    Define(inst, builder_.Alloca(flat, from_[inst].words));
  }

  void VisitAccess(Inst inst) {
    const InstData& data = from_[inst];
    Value base = from_.Operand(inst, 0);
    Type element = module_.ElementType(from_, base, data.attr);
    if (!IsCompound(element) || data.op == Op::StoreTexel) return Copy(inst);
    bool flat = from_.TypeOf(base).IsArray();
    std::vector<Value> indices = MapAll(from_.Indices(inst));
    std::vector<std::vector<Value>> values;
    for (Value v : from_.AccessValues(inst)) values.push_back(Parts(v));
    uint32_t first = 0, count = element.Components();
    if (data.component != ir::kNoAttr) {
      first = data.component;
      count = 1;
    }
    Value flat_base_index;
    if (flat) {
      Type index_type = into_->TypeOf(indices[0]);
      flat_base_index = builder_.Make(Op::Mul, {indices[0], builder_.Int(index_type, element.Components())});
    }
    std::vector<Value> results;
    for (uint32_t n = 0; n < count; ++n) {
      uint32_t component = first + n;
      if (flat) {
        Type index_type = into_->TypeOf(flat_base_index);
        indices[0] = builder_.Make(Op::Add, {flat_base_index, builder_.Int(index_type, component)});
        component = ir::kNoAttr;
      }
      if (data.op == Op::Load) {
        results.push_back(builder_.Load(Map(base), indices, data.attr, component));
        continue;
      }
      std::vector<Value> part;
      for (const std::vector<Value>& parts : values) part.push_back(parts[n]);
      results.push_back(builder_.Access(data.op, Map(base), indices, part, data.attr, component, data.words));
    }
    if (data.result_count == 1) SetParts(from_.Result(inst), results);
  }

  void VisitControl(Inst inst) {
    const InstData& data = from_[inst];
    std::vector<Type> types;
    for (uint32_t n = 0; n < data.result_count; ++n) {
      Type type = from_.TypeOf(from_.Result(inst, n));
      types.insert(types.end(), type.Components(), type.ScalarType());
    }
    Inst copy = CopyAs(inst, PartsOfAll(from_.Operands(inst)), types);
    for (uint32_t r = 0; r < from_.RegionCount(inst); ++r) {
      Block source = data.regions[r], region = into_->NewBlock(copy);
      (*into_)[copy].regions[r] = region;
      for (Value param : from_[source].params) {
        Type type = from_.TypeOf(param);
        std::vector<Value> parts;
        for (uint32_t k = 0; k < type.Components(); ++k)
          parts.push_back(into_->AddParam(region, type.ScalarType()));
        SetParts(param, parts);
        if (!IsCompound(type)) (*into_)[parts[0]].name = from_[param].name;
      }
      VisitBlock(source, region);
    }
    uint32_t next = 0;
    for (uint32_t n = 0; n < data.result_count; ++n) {
      Value result = from_.Result(inst, n);
      std::vector<Value> parts;
      for (uint32_t k = 0; k < from_.TypeOf(result).Components(); ++k)
        parts.push_back(into_->Result(copy, next++));
      SetParts(result, parts);
    }
  }

  /// `print "v = {}", %v` prints the parts in parentheses.
  void VisitPrint(Inst inst) {
    std::string_view text = module_.Text(from_[inst].symbol);
    std::string expanded;
    uint32_t next = 0;
    for (size_t n = 0; n < text.size(); ++n) {
      bool hole = text[n] == '{' && n + 1 < text.size() && text[n + 1] == '}';
      if (!hole || next == from_[inst].operand_count) {
        expanded += text[n];
        continue;
      }
      Type type = from_.TypeOf(from_.Operand(inst, next++));
      ++n;
      if (!IsCompound(type)) {
        expanded += "{}";
        continue;
      }
      expanded += "(";
      for (uint32_t k = 0; k < type.Components(); ++k) expanded += k == 0 ? "{}" : ", {}";
      expanded += ")";
    }
    Inst copy = CopyShell(inst, PartsOfAll(from_.Operands(inst)));
    (*into_)[copy].symbol = module_.Intern(expanded);
  }

  /// The component at a position that is not constant.
  Value Choose(std::span<const Value> candidates, Value index) {
    Type type = into_->TypeOf(index);
    Value chosen = candidates.back();
    for (size_t k = candidates.size() - 1; k-- > 0;) {
      Value here = builder_.Make(Op::Eq, {index, builder_.Int(type, static_cast<int64_t>(k))});
      chosen = builder_.Make(Op::Select, {here, candidates[k], chosen});
    }
    return chosen;
  }

  Value GetPart(std::span<const Value> candidates, Value index) {
    if (std::optional<int64_t> constant = into_->IntegerConstant(index)) {
      auto last = static_cast<int64_t>(candidates.size()) - 1;
      return candidates[static_cast<size_t>(*constant < 0 || *constant > last ? last : *constant)];
    }
    return Choose(candidates, index);
  }

  /// A component of a parameter that is known when compiling is in its final form.
  bool IsComponentOfParameter(Inst inst) const {
    std::span<const Value> operands = from_.Operands(inst);
    if (!from_.IsParameter(operands[0])) return false;
    Type type = from_.TypeOf(operands[0]);
    for (size_t n = 1; n < operands.size(); ++n) {
      std::optional<int64_t> index = from_.IntegerConstant(operands[n]);
      if (!index || *index < 0 || *index >= (n == 1 ? type.rows : type.columns)) return false;
    }
    return true;
  }

  /// Such a component where it is asked for: the values of one task are not to be read by another, and those
  /// made where the function begins belong to its first task.
  Value ReadComponent(Inst inst) { return builder_.Make(from_[inst].op, MapAll(from_.Operands(inst))); }

  /// The parts of the result of an arithmetic instruction with a vector or matrix among its operands or as
  /// its result.
  std::vector<Value> Expand(Inst inst) {
    const InstData& data = from_[inst];
    std::span<const Value> operands = from_.Operands(inst);
    Type result = from_.TypeOf(from_.Result(inst));
    if (ir::IsElementwise(data.op)) return ElementWise(inst);
    MatrixExpansion expand(builder_);
    auto type_of = [&](uint32_t n) { return from_.TypeOf(operands[n]); };
    auto parts = [&](uint32_t n) { return Parts(operands[n]); };
    ADC_CHECK(ir::ClassOf(data.op) == ir::OpClass::Vector,
              "an operation without vector form has a vector operand");
    switch (ir::In<VectorOp>(data.op)) {
      case VectorOp::VecMake:
      case VectorOp::MatMake:
        return PartsOfAll(operands);
      case VectorOp::VecGet:
        if (IsComponentOfParameter(inst)) return {ReadComponent(inst)};
        return {GetPart(parts(0), Map(operands[1]))};
      case VectorOp::MatGet: {
        if (IsComponentOfParameter(inst)) return {ReadComponent(inst)};
        std::vector<Value> all = parts(0);
        std::vector<Value> row;
        Value row_index = Map(operands[1]);
        uint32_t columns = type_of(0).columns;
        for (uint32_t c = 0; c < columns; ++c) {
          std::vector<Value> column;
          for (uint32_t k = c; k < all.size(); k += columns) column.push_back(all[k]);
          row.push_back(GetPart(column, row_index));
        }
        return {GetPart(row, Map(operands[2]))};
      }
      case VectorOp::VecSet: {
        std::vector<Value> all = parts(0);
        Value index = Map(operands[1]), value = Map(operands[2]);
        for (size_t k = 0; k < all.size(); ++k) {
          Value here =
              builder_.Make(Op::Eq, {index, builder_.Int(into_->TypeOf(index), static_cast<int64_t>(k))});
          all[k] = builder_.Make(Op::Select, {here, value, all[k]});
        }
        return all;
      }
      case VectorOp::Dot:
        return {expand.Dot(parts(0), parts(1))};
      case VectorOp::Cross:
        return expand.Cross(parts(0), parts(1));
      case VectorOp::Norm:
        return {expand.Norm(parts(0))};
      case VectorOp::Normalize:
        return expand.Normalize(parts(0));
      case VectorOp::MatMul: {
        bool row_vector = type_of(0).IsVec();
        uint32_t inner = type_of(1).rows;
        uint32_t rows = row_vector ? 1 : type_of(0).rows;
        uint32_t columns = type_of(1).IsVec() ? 1 : type_of(1).columns;
        return expand.Product(parts(0), parts(1), rows, inner, columns);
      }
      case VectorOp::Transpose:
        return expand.Transpose(parts(0), type_of(0).rows, type_of(0).columns);
      case VectorOp::Det:
        return {expand.Determinant(parts(0), type_of(0).rows)};
      case VectorOp::Inverse:
        return expand.Inverse(parts(0), type_of(0).rows);
      case VectorOp::Outer:
        return expand.Outer(parts(0), parts(1));
      case VectorOp::Identity: {
        std::vector<Value> all;
        for (uint32_t k = 0; k < result.Components(); ++k) {
          bool one = k / result.columns == k % result.columns;
          all.push_back(result.IsFloat() ? builder_.Float(result.ScalarType(), one ? 1.0 : 0.0)
                                         : builder_.Int(result.ScalarType(), one ? 1 : 0));
        }
        return all;
      }
    }
    ADC_UNREACHABLE("operation of vectors");
  }

  std::vector<Value> ElementWise(Inst inst) {
    const InstData& data = from_[inst];
    Type result = from_.TypeOf(from_.Result(inst));
    std::vector<std::vector<Value>> parts;
    for (Value v : from_.Operands(inst)) parts.push_back(Parts(v));
    std::vector<Value> all;
    for (uint32_t k = 0; k < result.Components(); ++k) {
      // A scalar among vectors (a factor, a condition) counts for every component.
      std::vector<Value> operands;
      for (const std::vector<Value>& part : parts) operands.push_back(part.size() == 1 ? part[0] : part[k]);
      if (ir::ClassOf(data.op) == ir::OpClass::Composed) {
        all.push_back(ExpandComposed(builder_, data.op, operands));
      } else if (data.op == Op::Cast) {
        all.push_back(builder_.Cast(operands[0], result.ScalarType()));
      } else if (data.op == Op::Bitcast) {
        all.push_back(builder_.Bitcast(operands[0], result.ScalarType()));
      } else {
        all.push_back(builder_.Make(data.op, operands));
      }
    }
    return all;
  }

  std::vector<Value> parts_;
  SideTable<Value, uint32_t> first_part_;  ///< position in parts_ plus one
};

/// True when anything in the function is a vector or matrix, a random number, or composed.
bool HasCompound(const ir::Module& module, const Function& function) {
  for (uint32_t n = 0; n < function.ValueCount(); ++n) {
    Type type = function.TypeOf(Value(n));
    if (IsCompound(type) || (type.IsArray() && type.rows != 0)) return true;
  }
  for (uint32_t n = 0; n < function.InstCount(); ++n) {
    Inst inst(n);
    if (function[inst].op == Op::Random) return true;
    if (ir::ClassOf(function[inst].op) == ir::OpClass::Composed) return true;
    if (!ir::IsAccess(function[inst].op)) continue;
    if (IsCompound(module.ElementType(function, function.Operand(inst, 0), function[inst].attr))) return true;
  }
  return false;
}

}  // namespace

bool Scalarise(ir::Module& module, const ScalariseConfig& config, diag::Diagnostics&) {
  for (size_t n = 0; n < module.functions.size(); ++n) {
    if (!HasCompound(module, *module.functions[n])) continue;
    ScalariseRewriter rewriter(module, *module.functions[n], config.fold);
    *module.functions[n] = std::move(*rewriter.Run());
  }
  return true;
}

}  // namespace adc::transform
