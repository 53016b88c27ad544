// Operations on values, one by one.

#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>
#include <numbers>

#include "diag/errors/shader.h"
#include "frontend/spirv/lowering.h"

namespace adc::frontend::spirv {

using ir::Op;

ir::Value Lowering::Unsigned(ir::Value value) {
  ir::Type type = kernel_->TypeOf(value);
  if (!ir::IsSigned(type.scalar)) return value;
  auto same = static_cast<ir::Scalar>(static_cast<uint8_t>(type.scalar) + 4);
  return b_->Cast(value, type.WithScalar(same));
}

ir::Value Lowering::Signed(ir::Value value, ir::Type like) {
  return b_->Cast(value, like);
}

ir::Value Lowering::ComponentOf(ir::Value vector, uint32_t n) {
  if (kernel_->TypeOf(vector).IsScalar()) return vector;
  return b_->Make(Op::VecGet, {vector, b_->I32(static_cast<int32_t>(n))});
}

ir::Value Lowering::MakeVector(std::span<const ir::Value> parts) {
  return parts.size() == 1 ? parts[0] : b_->Make(Op::VecMake, parts);
}

ir::Value Lowering::Column(ir::Value matrix, uint32_t column) {
  std::vector<ir::Value> parts;
  for (uint32_t row = 0; row < kernel_->TypeOf(matrix).rows; ++row)
    parts.push_back(b_->Make(
        Op::MatGet, {matrix, b_->I32(static_cast<int32_t>(row)), b_->I32(static_cast<int32_t>(column))}));
  return MakeVector(parts);
}

ir::Value Lowering::MatrixOf(ir::Type type, std::span<const ir::Value> columns) {
  if (columns.size() != type.columns)
    Refuse(diag::E0852, b_->span(), "a matrix has another number of columns");
  std::vector<ir::Value> parts;
  for (uint32_t row = 0; row < type.rows; ++row) {
    for (uint32_t column = 0; column < type.columns; ++column)
      parts.push_back(ComponentOf(columns[column], row));
  }
  return kernel_->Result(b_->Create(Op::MatMake, parts, {&type, 1}));
}

ir::Value Lowering::Splat(ir::Value scalar, ir::Type like) {
  if (like.IsScalar()) return scalar;
  std::vector<ir::Value> parts(like.Components(), scalar);
  return kernel_->Result(b_->Create(like.IsVec() ? Op::VecMake : Op::MatMake, parts, {&like, 1}));
}

ir::Value Lowering::FloatLike(ir::Value like, double value) {
  ir::Type type = kernel_->TypeOf(like);
  return Splat(b_->Float(type.ScalarType(), value), type);
}

// --- composites ---

void Lowering::Composite(const Instruction& inst) {
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpCompositeConstruct: {
      std::vector<ir::Value> parts;
      for (size_t n = 0; n < inst.operands.size(); ++n) {
        Value part = Get(inst.At(n));
        parts.insert(parts.end(), part.parts.begin(), part.parts.end());
      }
      if (!types_.IsRegister(inst.type)) {
        Set(inst, {std::move(parts)});
        return;
      }
      ir::Type type = types_.Register(inst.type);
      if (type.IsMat()) {
        SetOne(inst, MatrixOf(type, parts));
        return;
      }
      std::vector<ir::Value> scalars;
      for (ir::Value part : parts) {
        for (uint32_t n = 0; n < kernel_->TypeOf(part).Components(); ++n)
          scalars.push_back(ComponentOf(part, n));
      }
      Require(scalars.size() == type.Components(), inst, "a vector has another number of components");
      SetOne(inst, MakeVector(scalars));
      return;
    }
    case spv::OpCompositeExtract:
    case spv::OpCompositeInsert: {
      bool insert = inst.op == spv::OpCompositeInsert;
      Id whole_id = inst.At(insert ? 1 : 0);
      Value whole = Get(whole_id);
      const Instruction* definition = binary_.Find(whole_id);
      Id type = definition->type;
      size_t begin = 0, at = insert ? 2 : 1;
      while (at < inst.operands.size() && !types_.IsRegister(type)) {
        uint32_t part = inst.At(at++);
        Require(part < types_.Count(type), inst, "a part is named that a value does not have");
        if (types_.KindOf(type) == spv::OpTypeStruct) {
          for (uint32_t n = 0; n < part; ++n) begin += types_.LeafCount(types_.Member(type, n));
        } else {
          begin += size_t{part} * types_.LeafCount(types_.Element(type));
        }
        type = types_.Part(type, part);
      }
      size_t count = types_.LeafCount(type);
      Require(begin + count <= whole.parts.size(), inst, "a part is named that a value does not have");
      if (at == inst.operands.size()) {
        auto first = whole.parts.begin() + static_cast<std::ptrdiff_t>(begin);
        if (!insert) {
          Set(inst, {{first, first + static_cast<std::ptrdiff_t>(count)}});
          return;
        }
        Value part = Get(inst.At(0));
        Require(part.parts.size() == count, inst, "a part of another type is inserted");
        std::copy(part.parts.begin(), part.parts.end(), first);
        Set(inst, std::move(whole));
        return;
      }
      // Inside a vector or matrix.
      ir::Value reg = whole.parts[begin];
      ir::Type reg_type = kernel_->TypeOf(reg);
      bool element = inst.operands.size() - at == 2;
      uint32_t first = inst.At(at), second = inst.At(at + 1);
      uint32_t most = reg_type.IsMat() ? reg_type.columns : reg_type.rows;
      Require(
          !reg_type.IsScalar() && first < most && (!element || (reg_type.IsMat() && second < reg_type.rows)),
          inst, "a component is named that a value does not have");
      if (!insert) {
        ir::Value part = reg_type.IsMat() ? Column(reg, first) : ComponentOf(reg, first);
        SetOne(inst, element ? ComponentOf(part, second) : part);
        return;
      }
      ir::Value now = GetOne(inst.At(0));
      if (reg_type.IsVec()) {
        whole.parts[begin] = b_->Make(Op::VecSet, {reg, b_->I32(static_cast<int32_t>(first)), now});
      } else {
        std::vector<ir::Value> columns;
        for (uint32_t n = 0; n < reg_type.columns; ++n) columns.push_back(Column(reg, n));
        columns[first] =
            element ? b_->Make(Op::VecSet, {columns[first], b_->I32(static_cast<int32_t>(second)), now})
                    : now;
        whole.parts[begin] = MatrixOf(reg_type, columns);
      }
      Set(inst, std::move(whole));
      return;
    }
    case spv::OpVectorShuffle: {
      ir::Value a = GetOne(inst.At(0)), b = GetOne(inst.At(1));
      uint32_t count = kernel_->TypeOf(a).Components(), all = count + kernel_->TypeOf(b).Components();
      std::vector<ir::Value> parts;
      for (size_t n = 2; n < inst.operands.size(); ++n) {
        uint32_t from = inst.At(n);
        if (from == UINT32_MAX) from = 0;  // undefined
        Require(from < all, inst, "a component is named that a value does not have");
        parts.push_back(from < count ? ComponentOf(a, from) : ComponentOf(b, from - count));
      }
      SetOne(inst, MakeVector(parts));
      return;
    }
    default:
      Refuse(diag::E0854, inst.span, "an operation on composite values that kernels do not have");
  }
}

// --- arithmetic ---

/// False where the operation is none of arithmetic.
bool Lowering::Arithmetic(const Instruction& inst) {
  auto a = [&] { return GetOne(inst.At(0)); };
  auto b = [&] { return GetOne(inst.At(1)); };
  auto type = [&] { return types_.Register(inst.type); };
  auto binary = [&](Op op) {
    ir::Value left = a(), right = b();
    // Signedness lies in the opcode, so that both have one type here but where SPIR-V mixes widths.
    SetOne(inst,
           b_->Make(op, {left, b_->Cast(right, kernel_->TypeOf(right).IsFloat() ? kernel_->TypeOf(right)
                                                                                : kernel_->TypeOf(left))}));
    return true;
  };
  auto unsigned_binary = [&](Op op) {
    ir::Value left = Unsigned(a()), right = Unsigned(b());
    SetOne(inst, Signed(b_->Make(op, {left, right}), type()));
    return true;
  };
  auto compare = [&](Op op, bool is_unsigned = false) {
    ir::Value left = a(), right = b();
    if (is_unsigned) {
      left = Unsigned(left);
      right = Unsigned(right);
    }
    SetOne(inst, b_->Make(op, {left, right}));
    return true;
  };
  auto not_of = [&](Op op) {
    SetOne(inst, b_->Make(Op::Not, {b_->Make(op, {a(), b()})}));
    return true;
  };
  auto unary = [&](Op op) {
    SetOne(inst, b_->Make(op, {a()}));
    return true;
  };
  auto shift_amount = [&](ir::Value amount, ir::Type like) { return b_->Cast(amount, like); };
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpSNegate:
    case spv::OpFNegate:
      return unary(Op::Neg);
    case spv::OpIAdd:
    case spv::OpFAdd:
      return binary(Op::Add);
    case spv::OpISub:
    case spv::OpFSub:
      return binary(Op::Sub);
    case spv::OpIMul:
    case spv::OpFMul:
      return binary(Op::Mul);
    case spv::OpUDiv:
      return unsigned_binary(Op::Div);
    case spv::OpSDiv:
    case spv::OpFDiv:
      return binary(Op::Div);
    case spv::OpUMod:
      return unsigned_binary(Op::Rem);
    case spv::OpSRem:
    case spv::OpFRem:
      return binary(Op::Rem);
    case spv::OpSMod:
    case spv::OpFMod:
      return binary(Op::Mod);
    case spv::OpVectorTimesScalar:
    case spv::OpMatrixTimesScalar:
      return binary(Op::Mul);
    case spv::OpVectorTimesMatrix:
    case spv::OpMatrixTimesVector:
    case spv::OpMatrixTimesMatrix:
      return binary(Op::MatMul);
    case spv::OpOuterProduct:
      return binary(Op::Outer);
    case spv::OpDot:
      return binary(Op::Dot);
    case spv::OpTranspose:
      return unary(Op::Transpose);
    case spv::OpIAddCarry: {
      ir::Value left = a(), right = b(), sum = b_->Make(Op::Add, {left, right});
      ir::Value carry = b_->Make(Op::Lt, {Unsigned(sum), Unsigned(left)});
      Set(inst, {{sum, b_->Cast(carry, kernel_->TypeOf(sum))}});
      return true;
    }
    case spv::OpISubBorrow: {
      ir::Value left = a(), right = b();
      ir::Value borrow = b_->Make(Op::Lt, {Unsigned(left), Unsigned(right)});
      Set(inst, {{b_->Make(Op::Sub, {left, right}), b_->Cast(borrow, kernel_->TypeOf(left))}});
      return true;
    }
    case spv::OpUMulExtended:
    case spv::OpSMulExtended: {
      ir::Value left = a(), right = b();
      ir::Value low = b_->Make(Op::Mul, {left, right});
      bool is_signed = inst.op == spv::OpSMulExtended;
      ir::Value high = is_signed ? b_->Make(Op::MulHi, {left, right})
                                 : b_->Make(Op::MulHi, {Unsigned(left), Unsigned(right)});
      Set(inst, {{low, Signed(high, kernel_->TypeOf(low))}});
      return true;
    }
    case spv::OpShiftLeftLogical: {
      ir::Value left = a();
      SetOne(inst, b_->Make(Op::Shl, {left, shift_amount(b(), kernel_->TypeOf(left))}));
      return true;
    }
    case spv::OpShiftRightArithmetic: {
      ir::Value left = a();
      SetOne(inst, b_->Make(Op::Shr, {left, shift_amount(b(), kernel_->TypeOf(left))}));
      return true;
    }
    case spv::OpShiftRightLogical: {
      ir::Value left = Unsigned(a());
      SetOne(inst, Signed(b_->Make(Op::Shr, {left, shift_amount(b(), kernel_->TypeOf(left))}), type()));
      return true;
    }
    case spv::OpBitwiseAnd:
    case spv::OpLogicalAnd:
      return binary(Op::And);
    case spv::OpBitwiseOr:
    case spv::OpLogicalOr:
      return binary(Op::Or);
    case spv::OpBitwiseXor:
      return binary(Op::Xor);
    case spv::OpNot:
    case spv::OpLogicalNot:
      return unary(Op::Not);
    case spv::OpBitReverse:
      return unary(Op::BitReverse);
    case spv::OpBitCount: {
      SetOne(inst, b_->Cast(b_->Make(Op::Popcount, {a()}), type()));
      return true;
    }
    case spv::OpBitFieldSExtract:
    case spv::OpBitFieldUExtract: {
      // (a << (w - offset - count)) >> (w - count); a count of 0 gives 0.
      ir::Value base = a();
      ir::Type t = kernel_->TypeOf(base);
      ir::Value width = Splat(b_->Int(t.ScalarType(), ir::BitWidth(t.scalar)), t),
                zero = Splat(b_->Zero(t.ScalarType()), t);
      ir::Value offset = Splat(b_->Cast(b(), t.ScalarType()), t),
                count = Splat(b_->Cast(GetOne(inst.At(2)), t.ScalarType()), t);
      ir::Value right = b_->Make(Op::Sub, {width, count});
      ir::Value left = b_->Make(Op::Sub, {right, offset});
      ir::Value high = b_->Make(Op::Shl, {base, left});
      ir::Value low = inst.op == spv::OpBitFieldSExtract
                          ? b_->Make(Op::Shr, {high, right})
                          : Signed(b_->Make(Op::Shr, {Unsigned(high), Unsigned(right)}), t);
      SetOne(inst, b_->Make(Op::Select, {b_->Make(Op::Eq, {count, zero}), zero, low}));
      return true;
    }
    case spv::OpBitFieldInsert: {
      ir::Value base = a(), what = b();
      ir::Type t = kernel_->TypeOf(base);
      ir::Value one = Splat(b_->Int(t.ScalarType(), 1), t),
                width = Splat(b_->Int(t.ScalarType(), ir::BitWidth(t.scalar)), t);
      ir::Value offset = Splat(b_->Cast(GetOne(inst.At(2)), t.ScalarType()), t),
                count = Splat(b_->Cast(GetOne(inst.At(3)), t.ScalarType()), t);
      ir::Value some = b_->Make(Op::Sub, {b_->Make(Op::Shl, {one, count}), one});
      ir::Value ones = b_->Make(
          Op::Select, {b_->Make(Op::Eq, {count, width}), Splat(b_->Int(t.ScalarType(), -1), t), some});
      ir::Value mask = b_->Make(Op::Shl, {ones, offset});
      ir::Value other_bits = b_->Make(Op::And, {base, b_->Make(Op::Not, {mask})});
      SetOne(inst,
             b_->Make(Op::Or, {other_bits, b_->Make(Op::And, {b_->Make(Op::Shl, {what, offset}), mask})}));
      return true;
    }
    case spv::OpIEqual:
    case spv::OpFOrdEqual:
    case spv::OpLogicalEqual:
      return compare(Op::Eq);
    case spv::OpINotEqual:
    case spv::OpFUnordNotEqual:
    case spv::OpLogicalNotEqual:
      return compare(Op::Ne);
    case spv::OpFOrdNotEqual:
    case spv::OpFUnordEqual: {
      ir::Value left = a(), right = b();
      ir::Value apart = b_->Make(Op::Or, {b_->Make(Op::Lt, {left, right}), b_->Make(Op::Gt, {left, right})});
      SetOne(inst, inst.op == spv::OpFOrdNotEqual ? apart : b_->Make(Op::Not, {apart}));
      return true;
    }
    case spv::OpSLessThan:
    case spv::OpFOrdLessThan:
      return compare(Op::Lt);
    case spv::OpSLessThanEqual:
    case spv::OpFOrdLessThanEqual:
      return compare(Op::Le);
    case spv::OpSGreaterThan:
    case spv::OpFOrdGreaterThan:
      return compare(Op::Gt);
    case spv::OpSGreaterThanEqual:
    case spv::OpFOrdGreaterThanEqual:
      return compare(Op::Ge);
    case spv::OpULessThan:
      return compare(Op::Lt, true);
    case spv::OpULessThanEqual:
      return compare(Op::Le, true);
    case spv::OpUGreaterThan:
      return compare(Op::Gt, true);
    case spv::OpUGreaterThanEqual:
      return compare(Op::Ge, true);
    case spv::OpFUnordLessThan:
      return not_of(Op::Ge);
    case spv::OpFUnordLessThanEqual:
      return not_of(Op::Gt);
    case spv::OpFUnordGreaterThan:
      return not_of(Op::Le);
    case spv::OpFUnordGreaterThanEqual:
      return not_of(Op::Lt);
    case spv::OpIsNan:
      return unary(Op::IsNan);
    case spv::OpIsInf:
      return unary(Op::IsInf);
    case spv::OpAny:
    case spv::OpAll: {
      ir::Value vector = a(), result = ComponentOf(vector, 0);
      for (uint32_t n = 1; n < kernel_->TypeOf(vector).Components(); ++n)
        result = b_->Make(inst.op == spv::OpAny ? Op::Or : Op::And, {result, ComponentOf(vector, n)});
      SetOne(inst, result);
      return true;
    }
    case spv::OpSelect: {
      ir::Value condition = a();
      Value first = Get(inst.At(1)), second = Get(inst.At(2));
      Require(first.parts.size() == second.parts.size(), inst, "a selection of two types");
      Value result;
      for (size_t n = 0; n < first.parts.size(); ++n)
        result.parts.push_back(b_->Make(Op::Select, {condition, first.parts[n], second.parts[n]}));
      Set(inst, std::move(result));
      return true;
    }
    case spv::OpConvertFToS:
    case spv::OpConvertSToF:
    case spv::OpFConvert:
    case spv::OpSConvert:
      SetOne(inst, b_->Cast(a(), type()));
      return true;
    case spv::OpConvertUToF:
      SetOne(inst, b_->Cast(Unsigned(a()), type()));
      return true;
    case spv::OpUConvert:
      SetOne(inst, b_->Cast(Unsigned(a()), type()));
      return true;
    case spv::OpConvertFToU: {
      ir::Type to = type();
      auto same = static_cast<ir::Scalar>(static_cast<uint8_t>(to.scalar) + 4);
      SetOne(inst, b_->Cast(b_->Cast(a(), to.WithScalar(same)), to));
      return true;
    }
    case spv::OpBitcast:
      SetOne(inst, BitsAs(a(), type(), inst));
      return true;
    case spv::OpVectorExtractDynamic:
      SetOne(inst, b_->Make(Op::VecGet, {a(), b_->Cast(b(), ir::kI32)}));
      return true;
    case spv::OpVectorInsertDynamic:
      SetOne(inst, b_->Make(Op::VecSet, {a(), b_->Cast(GetOne(inst.At(2)), ir::kI32), b()}));
      return true;
    default:
      return false;
  }
}

// --- GLSL.std.450 ---

void Lowering::Extended(const Instruction& inst) {
  const Instruction* set = binary_.Find(inst.At(0));
  std::string name = set == nullptr ? "" : TextIn(set->operands);
  if (name.starts_with("NonSemantic.")) return;
  if (name != "GLSL.std.450")
    Refuse(diag::E0854, inst.span, "the instruction set '" + name + "' is not known",
           "GLSL.std.450 is taken");
  auto x = [&](size_t n) { return GetOne(inst.At(2 + n)); };
  auto make = [&](Op op, std::initializer_list<ir::Value> operands) { return b_->Make(op, operands); };
  auto type = [&] { return types_.Register(inst.type); };
  auto set_to = [&](ir::Value value) { SetOne(inst, value); };
  auto unary = [&](Op op) { set_to(make(op, {x(0)})); };
  auto unsigned_pair = [&](Op op) { set_to(Signed(make(op, {Unsigned(x(1)), Unsigned(x(0))}), type())); };
  // min(x, y) of GLSL is y where y < x, else x.
  auto pair = [&](Op op) { set_to(make(op, {x(1), x(0)})); };
  auto length = [&](ir::Value v) {
    return kernel_->TypeOf(v).IsScalar() ? make(Op::Abs, {v}) : make(Op::Norm, {v});
  };
  auto dot = [&](ir::Value p, ir::Value q) {
    return kernel_->TypeOf(p).IsScalar() ? make(Op::Mul, {p, q}) : make(Op::Dot, {p, q});
  };
  auto scaled = [&](ir::Value v, double factor) { return make(Op::Mul, {v, FloatLike(v, factor)}); };
  // The highest bit that is set; -1 for none.
  auto highest = [&](ir::Value v) {
    ir::Type t = kernel_->TypeOf(v);
    ir::Value most = Splat(b_->Int(t.ScalarType(), ir::BitWidth(t.scalar) - 1), t);
    return make(Op::Sub, {most, make(Op::Clz, {v})});
  };
  switch (inst.At(1)) {
    case GLSLstd450Round:
    case GLSLstd450RoundEven:
      return unary(Op::Round);
    case GLSLstd450Trunc:
      return unary(Op::Trunc);
    case GLSLstd450FAbs:
    case GLSLstd450SAbs:
      return unary(Op::Abs);
    case GLSLstd450FSign:
    case GLSLstd450SSign:
      return unary(Op::Sgn);
    case GLSLstd450Floor:
      return unary(Op::Floor);
    case GLSLstd450Ceil:
      return unary(Op::Ceil);
    case GLSLstd450Fract: {
      ir::Value v = x(0);
      return set_to(make(Op::Sub, {v, make(Op::Floor, {v})}));
    }
    case GLSLstd450Radians:
      return set_to(scaled(x(0), std::numbers::pi / 180));
    case GLSLstd450Degrees:
      return set_to(scaled(x(0), 180 / std::numbers::pi));
    case GLSLstd450Sin:
      return unary(Op::Sin);
    case GLSLstd450Cos:
      return unary(Op::Cos);
    case GLSLstd450Tan:
      return unary(Op::Tan);
    case GLSLstd450Asin:
      return unary(Op::Asin);
    case GLSLstd450Acos:
      return unary(Op::Acos);
    case GLSLstd450Atan:
      return unary(Op::Atan);
    case GLSLstd450Sinh:
      return unary(Op::Sinh);
    case GLSLstd450Cosh:
      return unary(Op::Cosh);
    case GLSLstd450Tanh:
      return unary(Op::Tanh);
    case GLSLstd450Asinh:
      return unary(Op::Asinh);
    case GLSLstd450Acosh:
      return unary(Op::Acosh);
    case GLSLstd450Atanh:
      return unary(Op::Atanh);
    case GLSLstd450Atan2:
      return set_to(make(Op::Atan2, {x(0), x(1)}));
    case GLSLstd450Pow:
      return set_to(make(Op::Pow, {x(0), x(1)}));
    case GLSLstd450Exp:
      return unary(Op::Exp);
    case GLSLstd450Log:
      return unary(Op::Log);
    case GLSLstd450Exp2:
      return unary(Op::Exp2);
    case GLSLstd450Log2:
      return unary(Op::Log2);
    case GLSLstd450Sqrt:
      return unary(Op::Sqrt);
    case GLSLstd450InverseSqrt:
      return unary(Op::Rsqrt);
    case GLSLstd450Determinant:
      return unary(Op::Det);
    case GLSLstd450MatrixInverse:
      return unary(Op::Inverse);
    case GLSLstd450Modf: {
      ir::Value v = x(0), whole = make(Op::Trunc, {v});
      Store(GetPointer(inst.At(3), inst), {{whole}}, inst);
      return set_to(make(Op::Sub, {v, whole}));
    }
    case GLSLstd450ModfStruct: {
      ir::Value v = x(0), whole = make(Op::Trunc, {v});
      return Set(inst, {{make(Op::Sub, {v, whole}), whole}});
    }
    case GLSLstd450FMin:
    case GLSLstd450SMin:
      return pair(Op::Min);
    case GLSLstd450FMax:
    case GLSLstd450SMax:
      return pair(Op::Max);
    case GLSLstd450UMin:
      return unsigned_pair(Op::Min);
    case GLSLstd450UMax:
      return unsigned_pair(Op::Max);
    case GLSLstd450NMin:
    case GLSLstd450NMax: {
      ir::Value p = x(0), q = x(1);
      ir::Value chosen = make(inst.At(1) == GLSLstd450NMin ? Op::Min : Op::Max, {q, p});
      return set_to(make(Op::Select, {make(Op::IsNan, {p}), q, chosen}));
    }
    case GLSLstd450FClamp:
    case GLSLstd450SClamp:
      return set_to(make(Op::Clamp, {x(0), x(1), x(2)}));
    case GLSLstd450NClamp: {
      ir::Value v = x(0), low = x(1), clamped = make(Op::Clamp, {v, low, x(2)});
      return set_to(make(Op::Select, {make(Op::IsNan, {v}), low, clamped}));
    }
    case GLSLstd450UClamp:
      return set_to(Signed(make(Op::Clamp, {Unsigned(x(0)), Unsigned(x(1)), Unsigned(x(2))}), type()));
    case GLSLstd450FMix: {
      ir::Value a = x(0), b = x(1), t = x(2);
      ir::Value rest = make(Op::Sub, {FloatLike(t, 1), t});
      return set_to(make(Op::Add, {make(Op::Mul, {a, rest}), make(Op::Mul, {b, t})}));
    }
    case GLSLstd450Step: {
      ir::Value edge = x(0), v = x(1);
      return set_to(make(Op::Select, {make(Op::Lt, {v, edge}), FloatLike(v, 0), FloatLike(v, 1)}));
    }
    case GLSLstd450SmoothStep: {
      ir::Value low = x(0), high = x(1), v = x(2);
      ir::Value t = make(Op::Div, {make(Op::Sub, {v, low}), make(Op::Sub, {high, low})});
      t = make(Op::Clamp, {t, FloatLike(t, 0), FloatLike(t, 1)});
      ir::Value slope = make(Op::Sub, {FloatLike(t, 3), scaled(t, 2)});
      return set_to(make(Op::Mul, {make(Op::Mul, {t, t}), slope}));
    }
    case GLSLstd450Fma:
      return set_to(make(Op::Fma, {x(0), x(1), x(2)}));
    case GLSLstd450Length:
      return set_to(length(x(0)));
    case GLSLstd450Distance:
      return set_to(length(make(Op::Sub, {x(0), x(1)})));
    case GLSLstd450Cross:
      return set_to(make(Op::Cross, {x(0), x(1)}));
    case GLSLstd450Normalize: {
      ir::Value v = x(0);
      return kernel_->TypeOf(v).IsScalar() ? set_to(make(Op::Div, {v, make(Op::Abs, {v})}))
                                           : unary(Op::Normalize);
    }
    case GLSLstd450FaceForward: {
      ir::Value n = x(0), inward = dot(x(2), x(1));
      ir::Value facing = make(Op::Lt, {inward, FloatLike(inward, 0)});
      return set_to(make(Op::Select, {facing, n, make(Op::Neg, {n})}));
    }
    case GLSLstd450Reflect: {
      ir::Value v = x(0), n = x(1);
      return set_to(make(Op::Sub, {v, make(Op::Mul, {n, scaled(dot(n, v), 2)})}));
    }
    case GLSLstd450Refract: {
      ir::Value v = x(0), n = x(1), eta = x(2), d = dot(n, v);
      ir::Value one = FloatLike(eta, 1), zero = FloatLike(eta, 0);
      ir::Value sine =
          make(Op::Mul, {make(Op::Mul, {eta, eta}), make(Op::Sub, {one, make(Op::Mul, {d, d})})});
      ir::Value k = make(Op::Sub, {one, sine}), none = make(Op::Lt, {k, zero});
      // The root of a negative number would reach the derivative of the other branch.
      ir::Value root = make(Op::Sqrt, {make(Op::Select, {none, one, k})});
      ir::Value along = make(Op::Add, {make(Op::Mul, {eta, d}), root});
      ir::Value bent = make(Op::Sub, {make(Op::Mul, {v, eta}), make(Op::Mul, {n, along})});
      return set_to(make(Op::Select, {none, FloatLike(bent, 0), bent}));
    }
    case GLSLstd450FindILsb: {
      ir::Value v = x(0);
      ir::Type t = kernel_->TypeOf(v);
      ir::Value none = make(Op::Eq, {v, Splat(b_->Zero(t.ScalarType()), t)});
      return set_to(b_->Cast(
          make(Op::Select, {none, Splat(b_->Int(t.ScalarType(), -1), t), make(Op::Ctz, {v})}), type()));
    }
    case GLSLstd450FindUMsb:
      return set_to(b_->Cast(highest(x(0)), type()));
    case GLSLstd450FindSMsb: {
      ir::Value v = x(0);
      ir::Type t = kernel_->TypeOf(v);
      ir::Value negative = make(Op::Lt, {v, Splat(b_->Zero(t.ScalarType()), t)});
      return set_to(b_->Cast(highest(make(Op::Select, {negative, make(Op::Not, {v}), v})), type()));
    }
    default:
      if (Packing(inst)) return;
      Refuse(diag::E0854, inst.span,
             "instruction " + std::to_string(inst.At(1)) + " of GLSL.std.450 has no counterpart in a kernel",
             "docs/shaders.md lists what is taken");
  }
}

// --- one instruction ---

void Lowering::Emit(const Instruction& inst) {
  b_->SetSpan(inst.span);
  Spend(1, inst);
  if (address_parts_.count(inst.result) != 0) return;
  if (addresses_.count(inst.result) != 0) {
    MakePointer(inst);
    return;
  }
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpVariable:
      MakeLocal(inst);
      return;
    case spv::OpLoad: {
      uint32_t memory = inst.operands.size() > 1 ? inst.At(1) : 0;
      if ((memory & spv::MemoryAccessVolatileMask) != 0)
        Refuse(diag::E0856, inst.span, "a volatile read sees what others write while the kernel runs",
               "kernels do not wait for each other: dispatch twice");
      auto counter = frame().counters.find(inst.At(0));
      if (counter != frame().counters.end()) {
        SetOne(inst, counter->second);
        return;
      }
      if (!LoadHandle(inst)) Set(inst, Load(GetPointer(inst.At(0), inst), inst));
      return;
    }
    case spv::OpStore: {
      if (frame().skipped.count(&inst) != 0) return;
      uint32_t memory = inst.operands.size() > 2 ? inst.At(2) : 0;
      if ((memory & spv::MemoryAccessVolatileMask) != 0)
        Refuse(diag::E0856, inst.span, "a volatile write means something to those that wait for it",
               "kernels do not wait for each other: dispatch twice");
      Pointer to = GetPointer(inst.At(0), inst);
      bool to_table = to.kind == Pointer::Kind::Local && to.local->leaves[to.leaf].is_table;
      if (!to_table) Store(to, Get(inst.At(1)), inst);
      return;
    }
    case spv::OpCopyMemory: {
      Pointer from = GetPointer(inst.At(1), inst);
      Store(GetPointer(inst.At(0), inst), Load(from, inst), inst);
      return;
    }
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain:
      AccessChain(inst);
      return;
    case spv::OpArrayLength:
      ArrayLength(inst);
      return;
    case spv::OpCopyObject:
    case spv::OpCopyLogical: {
      if (types_.KindOf(inst.type) == spv::OpTypePointer && !types_.IsAddress(inst.type)) {
        frame().pointers[inst.result] = GetPointer(inst.At(0), inst);
        return;
      }
      Set(inst, Get(inst.At(0)));
      return;
    }
    case spv::OpUndef:
      Set(inst, ZeroOf(inst.type));
      return;
    case spv::OpCompositeConstruct:
    case spv::OpCompositeExtract:
    case spv::OpCompositeInsert:
    case spv::OpVectorShuffle:
      Composite(inst);
      return;
    case spv::OpExtInst:
      Extended(inst);
      return;
    case spv::OpFunctionCall: {
      Value result = Call(inst);
      if (!result.parts.empty()) Set(inst, std::move(result));
      return;
    }
    case spv::OpControlBarrier:
      if (by_workgroups_) b_->Create(ir::Op::Barrier, {}, {});
      return;
    case spv::OpMemoryBarrier:
      return;  // CheckOrder has seen that it has no meaning here, or a barrier gives it one
    case spv::OpAtomicLoad:
    case spv::OpAtomicStore:
    case spv::OpAtomicExchange:
    case spv::OpAtomicCompareExchange:
    case spv::OpAtomicIIncrement:
    case spv::OpAtomicIDecrement:
    case spv::OpAtomicIAdd:
    case spv::OpAtomicISub:
    case spv::OpAtomicSMin:
    case spv::OpAtomicUMin:
    case spv::OpAtomicSMax:
    case spv::OpAtomicUMax:
    case spv::OpAtomicAnd:
    case spv::OpAtomicOr:
    case spv::OpAtomicXor:
    case spv::OpAtomicFAddEXT:
    case spv::OpAtomicFMinEXT:
    case spv::OpAtomicFMaxEXT:
      Atomic(inst);
      return;
    default:
      break;
  }
  if (ImageOperation(inst) || SubgroupOperation(inst)) return;
  bool pointer = inst.type != 0 && types_.KindOf(inst.type) == spv::OpTypePointer;
  if (pointer)
    Refuse(diag::E0854, inst.span, "a pointer that is computed or chosen at run time",
           "index one buffer, or branch on what chooses");
  if (Arithmetic(inst)) return;
  auto opcode = static_cast<uint32_t>(inst.op);
  std::string what = "operation " + std::to_string(opcode) + " of SPIR-V";
  std::string remedy = "docs/shaders.md lists what is taken";
  if (opcode >= spv::OpSampledImage && opcode <= spv::OpImageQuerySamples) {
    what = "this operation on an image";
    remedy = "docs/shaders.md lists what is taken of images";
  } else if (opcode >= spv::OpGroupAll && opcode <= spv::OpGroupSMax) {
    what = "an operation of a workgroup";
  } else if (opcode >= spv::OpGroupNonUniformElect && opcode <= spv::OpGroupNonUniformQuadSwap) {
    what = "an operation of a subgroup";
    remedy = "docs/shaders.md lists the operations of subgroups that are taken";
  } else if (opcode >= spv::OpDPdx && opcode <= spv::OpFwidthCoarse) {
    what = "a derivative between neighbouring fragments";
  }
  Refuse(diag::E0854, inst.span, what + " has no counterpart in a kernel", remedy);
}

}  // namespace adc::frontend::spirv
