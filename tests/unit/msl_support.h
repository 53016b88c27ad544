#pragma once
// SPIR-V modules for the tests of the Metal translation, assembled from text.

#include <spirv-tools/libspirv.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "target/target.h"

namespace adc::msl_tests {

/// Assembles a module; the text's mistakes end the test.
inline std::vector<uint8_t> Assemble(const std::string& text) {
  spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_3);
  spv_binary binary = nullptr;
  spv_diagnostic diagnostic = nullptr;
  spv_result_t result = spvTextToBinary(context, text.data(), text.size(), &binary, &diagnostic);
  std::string message = diagnostic ? diagnostic->error : "";
  std::vector<uint8_t> bytes;
  if (result == SPV_SUCCESS) {
    bytes.resize(binary->wordCount * sizeof(uint32_t));
    std::memcpy(bytes.data(), binary->code, bytes.size());
  }
  spvBinaryDestroy(binary);
  spvDiagnosticDestroy(diagnostic);
  spvContextDestroy(context);
  INFO(message);
  REQUIRE(result == SPV_SUCCESS);
  return bytes;
}

/// What every module here begins with: the word types, and one storage buffer `%name` per given binding, with
/// elements of type `%element`.
struct Buffer {
  std::string name;
  std::string element;  ///< "f32", "u32", "u64", "u8"
  uint32_t binding;
};

inline std::string Preamble(const std::vector<std::pair<std::string, std::string>>& entries,
                            const std::vector<Buffer>& buffers, const std::string& capabilities = "") {
  std::string head = "OpCapability Shader\nOpCapability Int64\nOpCapability Int8\n" + capabilities +
                     "OpMemoryModel Logical GLSL450\n";
  std::string names, decorations, types, variables;
  for (const auto& [function, symbol] : entries) {
    head += "OpEntryPoint GLCompute %" + function + " \"" + symbol + "\" %gid\n";
    names += "OpExecutionMode %" + function + " LocalSize 64 1 1\n";
  }
  for (const char* element : {"f32", "u32", "u64", "u8"}) {
    std::string e = element;
    std::string bytes = e == "u64" ? "8" : e == "u8" ? "1" : "4";
    decorations += "OpDecorate %array_" + e + " ArrayStride " + bytes + "\nOpMemberDecorate %block_" + e +
                   " 0 Offset 0\nOpDecorate %block_" + e + " Block\n";
    types += "%array_" + e + " = OpTypeRuntimeArray %" + e + "\n%block_" + e + " = OpTypeStruct %array_" + e +
             "\n%pblock_" + e + " = OpTypePointer StorageBuffer %block_" + e + "\n%p" + e +
             " = OpTypePointer StorageBuffer %" + e + "\n";
  }
  for (const Buffer& buffer : buffers) {
    names += "OpName %" + buffer.name + " \"" + buffer.name + "\"\n";
    decorations += "OpDecorate %" + buffer.name + " DescriptorSet 0\nOpDecorate %" + buffer.name +
                   " Binding " + std::to_string(buffer.binding) + "\n";
    variables += "%" + buffer.name + " = OpVariable %pblock_" + buffer.element + " StorageBuffer\n";
  }
  return head + names + "OpName %helper \"polynomial\"\nOpDecorate %gid BuiltIn GlobalInvocationId\n" +
         decorations +
         "%void = OpTypeVoid\n%task = OpTypeFunction %void\n%bool = OpTypeBool\n%f32 = OpTypeFloat 32\n"
         "%u32 = OpTypeInt 32 0\n%u64 = OpTypeInt 64 0\n%u8 = OpTypeInt 8 0\n%uint3 = OpTypeVector %u32 3\n" +
         types +
         "%one_f32 = OpTypeFunction %f32 %f32\n"
         "%pgid = OpTypePointer Input %uint3\n%pgid_x = OpTypePointer Input %u32\n"
         "%gid = OpVariable %pgid Input\n%u32_0 = OpConstant %u32 0\n%u32_1 = OpConstant %u32 1\n"
         "%u64_0 = OpConstant %u64 0\n%u64_1 = OpConstant %u64 1\n%u64_2 = OpConstant %u64 2\n"
         "%u8_0 = OpConstant %u8 0\n%u8_1 = OpConstant %u8 1\n"
         "%f32_0 = OpConstant %f32 0\n%f32_tenth = OpConstant %f32 0.1\n" +
         variables;
}

inline target::Target Metal(const char* name = "metal:2.4") {
  return *target::FindTarget(name);
}

}  // namespace adc::msl_tests
