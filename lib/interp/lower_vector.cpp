// Arithmetic on vectors and matrices, taken apart into scalars. Sums of products run from the first component
// to the last: a0*b0 + a1*b1 + ...; a normalised vector is divided by its length; an inverse is the adjugate
// times 1/det.

#include "interp/arithmetic.h"
#include "interp/control.h"
#include "interp/lower.h"
#include "interp/memory.h"
#include "interp/origins.h"
#include "ir/number.h"
#include "support/check.h"

namespace adc::interp {

using ir::Inst, ir::InstData, ir::Op, ir::Scalar, ir::Type, ir::Value;

void FunctionLowering::LowerValue(Inst inst) {
  Op op = function_[inst].op;
  if (op == Op::Cast || op == Op::Bitcast) return LowerCast(inst);
  if (op == Op::Random) return LowerRandom(inst);
  if (ir::IsElementwise(op)) return LowerElementwise(inst);
  if (op == Op::VecGet || op == Op::VecSet || op == Op::MatGet) return LowerComponent(inst);
  Define(inst, MatrixCells(inst));
}

/// A scalar operand goes with every component.
void FunctionLowering::LowerElementwise(Inst inst) {
  const InstData& data = function_[inst];
  Type result = function_.TypeOf(function_.Result(inst));
  uint32_t first = CellOf(function_.Result(inst));
  uint32_t operand[3] = {0, 0, 0}, stride[3] = {0, 0, 0};
  for (uint32_t n = 0; n < data.operand_count; ++n) {
    Value v = function_.Operand(inst, n);
    operand[n] = CellOf(v);
    stride[n] = CellCount(function_.TypeOf(v)) > 1 ? 1 : 0;
  }
  Scalar scalar = function_.TypeOf(function_.Operand(inst, data.op == Op::Select ? 1 : 0)).scalar;
  // A dual select passes tangents of anything, integers too, whose tangents are not read.
  if (ArithmeticStep(data.op, Register(scalar), options_.dual) == nullptr)
    return Unsupported("'" + std::string(ir::InfoOf(data.op).spelling) + "' of this type");
  WatchInfo types{scalar, result.scalar, data.operand_count, data.op == Op::Select};
  for (uint32_t k = 0; k < CellCount(result); ++k) {
    EmitArithmetic(data.op, types, first + k, operand[0] + k * stride[0], operand[1] + k * stride[1],
                   operand[2] + k * stride[2]);
  }
}

void FunctionLowering::LowerCast(Inst inst) {
  const InstData& data = function_[inst];
  Value operand = function_.Operand(inst, 0), result = function_.Result(inst);
  Scalar from = function_.TypeOf(operand).scalar, to = function_.TypeOf(result).scalar;
  if (CellCount(function_.TypeOf(operand)) != CellCount(function_.TypeOf(result)))
    return Unsupported("a conversion between types of different numbers of components");
  for (uint32_t k = 0; k < CellCount(function_.TypeOf(result)); ++k) {
    uint32_t source = CellOf(operand) + k, target = CellOf(result) + k;
    if (data.op == Op::Cast) {
      EmitCast(from, to, target, source);
      continue;
    }
    // The bits are those of the stated types, whatever registers hold.
    if (IsPromoted(from)) {
      uint32_t narrow = NewCells(1);
      Emit(CastStep(Scalar::F64, from, false), narrow, source);
      source = narrow;
    }
    uint32_t bits = IsPromoted(to) ? NewCells(1) : target;
    Emit(BitcastStep(options_.dual), bits, source, static_cast<uint32_t>(from), static_cast<uint32_t>(to));
    EmitWatch({from, to, 1}, bits, source);
    if (IsPromoted(to)) Emit(CastStep(to, Scalar::F64, options_.dual), target, bits);
  }
}

void FunctionLowering::LowerRandom(Inst inst) {
  Value result = function_.Result(inst);
  Type type = function_.TypeOf(result);
  RandomInfo info;
  info.scalar = type.scalar;
  info.holds = Register(type.scalar);
  info.count = CellCount(type);
  uint32_t cells[3] = {0, 0, ConstantCell(0)};
  for (uint32_t n = 0; n < function_.Operands(inst).size(); ++n) {
    Value operand = function_.Operand(inst, n);
    cells[n] = CellOf(operand);
    info.widths[n] = ir::BitWidth(function_.TypeOf(operand).scalar);
  }
  Emit(RandomStep, CellOf(result), cells[0], cells[1], cells[2], AddRow(program_.randoms, info));
}

void FunctionLowering::LowerComponent(Inst inst) {
  const InstData& data = function_[inst];
  Value whole = function_.Operand(inst, 0), result = function_.Result(inst);
  Type type = function_.TypeOf(whole);
  uint32_t count = CellCount(type);
  if (data.op == Op::VecGet) {
    EmitPick(CellOf(result), CellOf(whole), CellOf(function_.Operand(inst, 1)), count);
  } else if (data.op == Op::VecSet) {
    for (uint32_t k = 0; k < count; ++k) EmitMove(CellOf(result) + k, CellOf(whole) + k);
    uint32_t index = CellOf(function_.Operand(inst, 1)), part = CellOf(function_.Operand(inst, 2));
    Emit(PlaceStep, CellOf(result), 0, index, part, count);
    if (options_.origins) Emit(WatchPlaceStep, CellOf(result), 0, index, part, count);
  } else {
    // The row first, then the component of the row: each index is checked against its own extent.
    uint32_t row = NewCells(type.columns);
    for (uint32_t k = 0; k < type.columns; ++k) {
      Cells column;
      uint32_t gathered = NewCells(type.rows);
      for (uint32_t r = 0; r < type.rows; ++r) EmitMove(gathered + r, CellOf(whole) + r * type.columns + k);
      EmitPick(row + k, gathered, CellOf(function_.Operand(inst, 1)), type.rows);
    }
    EmitPick(CellOf(result), row, CellOf(function_.Operand(inst, 2)), type.columns);
  }
}

FunctionLowering::Cells FunctionLowering::MatrixCells(Inst inst) {
  Type type = function_.TypeOf(function_.Result(inst));
  std::vector<Cells> operands;
  for (Value v : function_.Operands(inst)) operands.push_back(CellsOf(v));
  Type a_type = operands.empty() ? type : function_.TypeOf(function_.Operand(inst, 0));
  Scalar scalar = a_type.scalar;
  Cells result;
  switch (ir::In<ir::VectorOp>(function_[inst].op)) {
    case ir::VectorOp::VecMake:
    case ir::VectorOp::MatMake:
      for (const Cells& part : operands) result.insert(result.end(), part.begin(), part.end());
      return result;
    case ir::VectorOp::Dot:
      return {SumOfProducts(scalar, operands[0], operands[1])};
    case ir::VectorOp::Norm:
      return {Length(scalar, operands[0])};
    case ir::VectorOp::Normalize: {
      uint32_t length = Length(scalar, operands[0]);
      for (uint32_t part : operands[0]) {
        result.push_back(Arithmetic(Op::Div, scalar, part, length));
        if (options_.dual) Emit(StillAtZeroStep, result.back(), length);
      }
      return result;
    }
    case ir::VectorOp::Cross:
      for (uint32_t k = 0; k < 3; ++k) {
        uint32_t i = (k + 1) % 3, j = (k + 2) % 3;
        result.push_back(Arithmetic(Op::Sub, scalar,
                                    Arithmetic(Op::Mul, scalar, operands[0][i], operands[1][j]),
                                    Arithmetic(Op::Mul, scalar, operands[0][j], operands[1][i])));
      }
      return result;
    case ir::VectorOp::Outer:
      for (uint32_t left : operands[0]) {
        for (uint32_t right : operands[1]) result.push_back(Arithmetic(Op::Mul, scalar, left, right));
      }
      return result;
    case ir::VectorOp::Transpose:
      for (uint32_t c = 0; c < a_type.columns; ++c) {
        for (uint32_t r = 0; r < a_type.rows; ++r) result.push_back(operands[0][r * a_type.columns + c]);
      }
      return result;
    case ir::VectorOp::MatMul:
      return Product(scalar, operands[0], a_type, operands[1], function_.TypeOf(function_.Operand(inst, 1)));
    case ir::VectorOp::Det:
      return {Determinant(scalar, operands[0], a_type.rows)};
    case ir::VectorOp::Inverse:
      return Inverse(scalar, operands[0], a_type.rows);
    case ir::VectorOp::Identity: {
      uint64_t one = IsFloat(scalar) ? ir::FloatToBits(Register(scalar), 1.0) : 1;
      for (uint32_t k = 0; k < type.Components(); ++k)
        result.push_back(ConstantCell(k / type.columns == k % type.columns ? one : 0));
      return result;
    }
    case ir::VectorOp::VecGet:
    case ir::VectorOp::VecSet:
    case ir::VectorOp::MatGet:
      break;
  }
  ADC_UNREACHABLE("operation on whole vectors and matrices");
}

uint32_t FunctionLowering::Length(Scalar scalar, const Cells& a) {
  return Arithmetic(Op::Sqrt, scalar, SumOfProducts(scalar, a, a));
}

/// A vector is a row on the left, a column on the right.
FunctionLowering::Cells FunctionLowering::Product(Scalar scalar, const Cells& a, Type a_type, const Cells& b,
                                                  Type b_type) {
  uint32_t rows = a_type.IsMat() ? a_type.rows : 1, inner = a_type.IsMat() ? a_type.columns : a_type.rows;
  uint32_t columns = b_type.IsMat() ? b_type.columns : 1;
  Cells result;
  for (uint32_t r = 0; r < rows; ++r) {
    for (uint32_t c = 0; c < columns; ++c) {
      Cells left, right;
      for (uint32_t k = 0; k < inner; ++k) {
        left.push_back(a[r * inner + k]);
        right.push_back(b[k * columns + c]);
      }
      result.push_back(SumOfProducts(scalar, left, right));
    }
  }
  return result;
}

uint32_t FunctionLowering::Arithmetic(Op op, Scalar scalar, uint32_t a, uint32_t b) {
  uint32_t result = NewCells(1);
  uint32_t operands = ir::InfoOf(op).form == ir::OpForm::Unary ? 1 : 2;
  EmitArithmetic(op, {scalar, scalar, operands}, result, a, b, 0);
  return result;
}

uint32_t FunctionLowering::SumOfProducts(Scalar scalar, const Cells& a, const Cells& b) {
  uint32_t sum = Arithmetic(Op::Mul, scalar, a[0], b[0]);
  for (size_t k = 1; k < a.size(); ++k)
    sum = Arithmetic(Op::Add, scalar, sum, Arithmetic(Op::Mul, scalar, a[k], b[k]));
  return sum;
}

namespace {

/// The matrix without a row and a column.
std::vector<uint32_t> Without(const std::vector<uint32_t>& m, uint32_t n, uint32_t row, uint32_t column) {
  std::vector<uint32_t> rest;
  for (uint32_t k = 0; k < n * n; ++k) {
    if (k / n != row && k % n != column) rest.push_back(m[k]);
  }
  return rest;
}

}  // namespace

/// Laplace's expansion along the first row.
uint32_t FunctionLowering::Determinant(Scalar scalar, const Cells& m, uint32_t n) {
  if (n == 1) return m[0];
  if (n == 2) {
    return Arithmetic(Op::Sub, scalar, Arithmetic(Op::Mul, scalar, m[0], m[3]),
                      Arithmetic(Op::Mul, scalar, m[1], m[2]));
  }
  uint32_t sum = Arithmetic(Op::Mul, scalar, m[0], Determinant(scalar, Without(m, n, 0, 0), n - 1));
  for (uint32_t c = 1; c < n; ++c) {
    uint32_t term = Arithmetic(Op::Mul, scalar, m[c], Determinant(scalar, Without(m, n, 0, c), n - 1));
    sum = Arithmetic(c % 2 == 0 ? Op::Add : Op::Sub, scalar, sum, term);
  }
  return sum;
}

FunctionLowering::Cells FunctionLowering::Inverse(Scalar scalar, const Cells& m, uint32_t n) {
  uint32_t one = ConstantCell(ir::FloatToBits(Register(scalar), 1.0));
  uint32_t scale = Arithmetic(Op::Div, scalar, one, Determinant(scalar, m, n));
  Cells inverse;
  for (uint32_t r = 0; r < n; ++r) {
    for (uint32_t c = 0; c < n; ++c) {
      uint32_t minor = Determinant(scalar, Without(m, n, c, r), n - 1);
      if ((r + c) % 2 != 0) minor = Arithmetic(Op::Neg, scalar, minor);
      inverse.push_back(Arithmetic(Op::Mul, scalar, minor, scale));
    }
  }
  return inverse;
}

void FunctionLowering::Define(Inst inst, const Cells& cells) {
  uint32_t first = CellOf(function_.Result(inst));
  for (size_t k = 0; k < cells.size(); ++k) EmitMove(first + static_cast<uint32_t>(k), cells[k]);
}

}  // namespace adc::interp
