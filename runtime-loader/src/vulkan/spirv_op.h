#pragma once
// The parts of SPIR-V's form that the check and the bounds of unverified modules name. The loader reads it
// without headers of SPIR-V, which are no part of it.

#include <cstdint>

namespace adrt::vulkan {

constexpr uint32_t kHeader = 5;  ///< words before the first instruction

/// Numbers of instructions.
enum Op : uint32_t {
  kOpExtension = 10,
  kOpExtInstImport = 11,
  kOpExtInst = 12,
  kOpMemoryModel = 14,
  kOpEntryPoint = 15,
  kOpExecutionMode = 16,
  kOpCapability = 17,
  kOpTypeBool = 20,
  kOpTypeInt = 21,
  kOpTypeFloat = 22,
  kOpTypeVector = 23,
  kOpTypeArray = 28,
  kOpTypeRuntimeArray = 29,
  kOpTypeStruct = 30,
  kOpTypePointer = 32,
  kOpTypeFunction = 33,
  kOpConstant = 43,
  kOpConstantNull = 46,
  kOpFunctionBegin = 54,
  kOpFunctionEnd = 56,
  kOpFunctionCall = 57,
  kOpVariable = 59,
  kOpLoad = 61,
  kOpStore = 62,
  kOpAccessChain = 65,
  kOpArrayLength = 68,
  kOpDecorate = 71,
  kOpMemberDecorate = 72,
  kOpCompositeExtract = 81,
  kOpUConvert = 113,
  kOpSConvert = 114,
  kOpBitcast = 124,
  kOpISub = 130,
  kOpAtomicLoad = 227,
  kOpAtomicXor = 242,
  kOpReturnValue = 254,
  kOpAtomicFAdd = 6035,
};

}  // namespace adrt::vulkan
