#include "codegen/llvm/lane_vectors.h"

namespace adc::codegen {

using llvm::Value;

llvm::Type* LaneVectors::InLanes(llvm::Type* type) const {
  return shape_.count > 0 ? llvm::FixedVectorType::get(type, shape_.count) : type;
}

Value* LaneVectors::Splat(Value* number) {
  return shape_.count > 0 ? builder_.CreateVectorSplat(shape_.count, number) : number;
}

Value* LaneVectors::LaneNumbers(llvm::Type* type) {
  llvm::SmallVector<llvm::Constant*, 16> numbers;
  for (uint32_t lane = 0; lane < shape_.count; ++lane) numbers.push_back(llvm::ConstantInt::get(type, lane));
  return llvm::ConstantVector::get(numbers);
}

Value* LaneVectors::Any(Value* mask) {
  if (shape_.count == 0) return mask;
  Value* all = builder_.CreateOrReduce(mask);
  return all->getType()->isIntegerTy(1) ? all : builder_.CreateIsNotNull(all);
}

Value* LaneVectors::Greatest(Value* lanes) {
  return shape_.count > 0 ? builder_.CreateIntMaxReduce(lanes, true) : lanes;
}

Value* LaneVectors::ToNumbers(Value* mask, uint32_t bits) {
  bool has_masks = shape_.has_masks || shape_.count == 0;
  return has_masks ? mask : builder_.CreateSExt(mask, InLanes(builder_.getIntNTy(bits)));
}

Value* LaneVectors::FromNumbers(Value* mask) {
  if (mask->getType()->isIntOrIntVectorTy(1)) return mask;
  return builder_.CreateICmpSLT(mask, llvm::Constant::getNullValue(mask->getType()));
}

}  // namespace adc::codegen
