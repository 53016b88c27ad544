#pragma once
// Which invocation runs the code: its number in the launch, in its workgroup, its subgroup and its team.

#include "codegen/spirv/entry.h"

namespace adc::codegen::spirv {

/// The name of the variable that says which invocation of all this is.
inline constexpr const char* kInvocation = "adc.invocation";

class Invocations {
 public:
  explicit Invocations(Entry& entry) : entry_(entry), m_(entry.context.module), f_(entry.f) {}

  /// The number of this thread in Wide() bits.
  Id Thread();
  /// With bindings of a shader: this invocation's number along an axis, and how many there are; in Wide()
  /// bits.
  Id Invocation(uint32_t axis) { return InputWord(spv::BuiltInGlobalInvocationId, kInvocation, axis); }
  Id Along(uint32_t axis);

  /// This invocation's number in its workgroup, its subgroup's, and how many subgroups there are; 32 bits.
  Id InvocationInBlock() { return InputNumber(spv::BuiltInLocalInvocationIndex, "adc.in_block"); }
  Id SubgroupInBlock() { return InputNumber(spv::BuiltInSubgroupId, "adc.subgroup"); }
  Id SubgroupsOfBlock() { return InputNumber(spv::BuiltInNumSubgroups, "adc.subgroups"); }
  /// The number of the first thread of this one's workgroup, of `size` threads, in Wide() bits.
  Id FirstOfBlock(uint32_t size);

  /// Vulkan: a number that no other invocation of the subgroup has; 32 bits.
  Id NumberInSubgroup() {
    return entry_.KeepsBindings() ? InvocationInBlock() : f_.Resize(Thread(), entry_.Wide(), 32, false);
  }
  /// By which exchanges name an invocation; 32 bits.
  Id PlaceInSubgroup() { return InputNumber(spv::BuiltInSubgroupLocalInvocationId, "adc.place"); }
  /// As the device states it: a subgroup may have fewer invocations.
  Id SubgroupSize() { return InputNumber(spv::BuiltInSubgroupSize, "adc.subgroup_size"); }
  /// Whether the invocations of a workgroup of `block_size` fill its subgroups, each of which is a part of
  /// `lanes`, a power of two: then InSubgroups numbers them from 0 on.
  Id FillsSubgroups(uint32_t block_size, uint32_t lanes);
  /// The invocation's number, those of a subgroup one after the other; 32 bits.
  Id InSubgroups();

  /// The number of this invocation in a team; 32 bits.
  Id InTeam();
  /// The number of its team.
  Id TeamNumber();

 private:
  Id ShaderThread();
  /// Component `axis` of an input, 32 bits.
  Id InputComponent(spv::BuiltIn builtin, const char* name, uint32_t axis);
  /// The same in Wide() bits.
  Id InputWord(spv::BuiltIn builtin, const char* name, uint32_t axis);
  Id GroupNumber() { return InputWord(spv::BuiltInWorkgroupId, "adc.group", 0); }
  Id InputNumber(spv::BuiltIn builtin, const char* name);

  Entry& entry_;
  ModuleBuilder& m_;
  FunctionBuilder& f_;
  Id thread_ = 0, in_team_ = 0, team_number_ = 0;
};

}  // namespace adc::codegen::spirv
