#include "codegen/llvm/wide_division.h"

#include <vector>

#include "llvm/ADT/APInt.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/IntegerDivision.h"

namespace adc::codegen {
namespace {

using llvm::BinaryOperator, llvm::Instruction, llvm::Value;

constexpr unsigned kDigit = 32;

bool IsWideDivision(const Instruction& instruction) {
  return llvm::isa<BinaryOperator>(instruction) && instruction.isIntDivRem() &&
         instruction.getType()->getScalarSizeInBits() > 2 * kDigit;
}

/// A division of a vector as divisions of its elements, which `divisions` receives.
void Scalarise(BinaryOperator& division, std::vector<BinaryOperator*>& divisions) {
  llvm::IRBuilder<> builder(&division);
  auto* type = llvm::cast<llvm::FixedVectorType>(division.getType());
  Value* result = llvm::PoisonValue::get(type);
  for (unsigned n = 0; n < type->getNumElements(); ++n) {
    Value* quotient =
        builder.CreateBinOp(division.getOpcode(), builder.CreateExtractElement(division.getOperand(0), n),
                            builder.CreateExtractElement(division.getOperand(1), n));
    if (auto* made = llvm::dyn_cast<BinaryOperator>(quotient)) divisions.push_back(made);
    result = builder.CreateInsertElement(result, quotient, n);
  }
  division.replaceAllUsesWith(result);
  division.eraseFromParent();
}

/// An unsigned division by a constant of one digit, as it is done by hand: from the highest digit down, the
/// remainder of one stands in front of the next.
void DivideByDigit(BinaryOperator& division, const llvm::APInt& divisor) {
  llvm::IRBuilder<> builder(&division);
  llvm::Type* word = builder.getInt64Ty();
  Value* dividend = division.getOperand(0);
  llvm::Type* type = dividend->getType();
  Value* by = builder.getInt64(divisor.getZExtValue());
  Value* rest = builder.getInt64(0);
  Value* quotient = llvm::ConstantInt::get(type, 0);
  for (unsigned low = (type->getIntegerBitWidth() - 1) / kDigit * kDigit;; low -= kDigit) {
    Value* digit = builder.CreateAnd(builder.CreateTrunc(builder.CreateLShr(dividend, low), word),
                                     builder.getInt64(UINT32_MAX));
    Value* part = builder.CreateOr(builder.CreateShl(rest, kDigit), digit);
    Value* own = builder.CreateZExt(builder.CreateUDiv(part, by), type);
    quotient = builder.CreateOr(quotient, builder.CreateShl(own, low));
    rest = builder.CreateURem(part, by);
    if (low == 0) break;
  }
  bool is_quotient = division.getOpcode() == Instruction::UDiv;
  division.replaceAllUsesWith(is_quotient ? quotient : builder.CreateZExt(rest, type));
  division.eraseFromParent();
}

void Expand(BinaryOperator& division) {
  bool is_signed = division.getOpcode() == Instruction::SDiv || division.getOpcode() == Instruction::SRem;
  bool is_quotient = division.getOpcode() == Instruction::UDiv || division.getOpcode() == Instruction::SDiv;
  auto* divisor = llvm::dyn_cast<llvm::ConstantInt>(division.getOperand(1));
  bool is_digit = divisor != nullptr && !divisor->isZero() && divisor->getValue().isIntN(kDigit);
  if (!is_signed && is_digit) {
    DivideByDigit(division, divisor->getValue());
  } else if (is_quotient) {
    llvm::expandDivision(&division);
  } else {
    llvm::expandRemainder(&division);
  }
}

}  // namespace

llvm::PreservedAnalyses WideDivision::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  std::vector<BinaryOperator*> found, divisions;
  for (Instruction& instruction : llvm::instructions(function)) {
    if (IsWideDivision(instruction)) found.push_back(llvm::cast<BinaryOperator>(&instruction));
  }
  for (BinaryOperator* division : found) {
    if (division->getType()->isVectorTy()) {
      Scalarise(*division, divisions);
    } else {
      divisions.push_back(division);
    }
  }
  for (BinaryOperator* division : divisions) Expand(*division);
  return found.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace adc::codegen
