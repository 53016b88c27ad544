#include "codegen/spirv/invocations.h"

namespace adc::codegen::spirv {

Id Invocations::Thread() {
  if (thread_ != 0) return thread_;
  FunctionBuilder::Head head(f_);
  if (entry_.KeepsBindings()) {
    thread_ = ShaderThread();
    return thread_;
  }
  Id number = InputComponent(spv::BuiltInGlobalInvocationId, kInvocation, 0);
  thread_ = f_.Resize(number, 32, entry_.Wide(), false);
  if (entry_.team != 0) {
    in_team_ = f_.Mod(32, number, f_.Int(32, entry_.team));
    team_number_ = entry_.addressing == Addressing::Alone
                       ? f_.Resize(f_.Div(32, number, f_.Int(32, entry_.team)), 32, entry_.Wide(), false)
                       : GroupNumber();
    if (entry_.always_team) thread_ = team_number_;
  }
  return thread_;
}

Id Invocations::InTeam() {
  Thread();
  return in_team_;
}

Id Invocations::TeamNumber() {
  Thread();
  return team_number_;
}

/// The loader knows no number of a workgroup in code that is to run unverified.
Id Invocations::FirstOfBlock(uint32_t size) {
  Id length = f_.Int(entry_.Wide(), size);
  if (entry_.addressing == Addressing::Alone) {
    Id thread = Thread();
    return f_.Sub(entry_.Wide(), thread, f_.Mod(entry_.Wide(), thread, length));
  }
  return f_.Mul(entry_.Wide(), GroupNumber(), length);
}

Id Invocations::FillsSubgroups(uint32_t block_size, uint32_t lanes) {
  Id size = SubgroupSize(), invocations = f_.Mul(32, size, SubgroupsOfBlock());
  Id fills = f_.Compare(spv::OpIEqual, invocations, f_.Int(32, block_size));
  Id beyond = f_.And(32, f_.Int(32, lanes), f_.Sub(32, size, f_.Int(32, 1)));
  Id divides = f_.Compare(spv::OpIEqual, beyond, f_.Int(32, 0));
  return f_.Both(fills, divides);
}

Id Invocations::InSubgroups() {
  return f_.Add(32, f_.Mul(32, SubgroupInBlock(), SubgroupSize()), PlaceInSubgroup());
}

Id Invocations::Along(uint32_t axis) {
  Id groups = InputWord(spv::BuiltInNumWorkgroups, "adc.groups", axis);
  return f_.Mul(entry_.Wide(), groups, f_.Int(entry_.Wide(), entry_.layout.local_size[axis]));
}

/// The axes of the loop are z, y, x, the last one fastest.
Id Invocations::ShaderThread() {
  Id thread = f_.Int(entry_.Wide(), 0);
  for (uint32_t axis = 3; axis-- > 0;) {
    if (!entry_.layout.axes[axis]) continue;
    thread = f_.Mul(entry_.Wide(), thread, Along(axis));
    thread = f_.Add(entry_.Wide(), thread, Invocation(axis));
  }
  return thread;
}

Id Invocations::InputComponent(spv::BuiltIn builtin, const char* name, uint32_t axis) {
  Id word = m_.types.Int(32), variable = entry_.context.Input(builtin, m_.types.Vector(word, 3), name);
  entry_.Uses(variable);
  Id type = m_.types.Pointer(spv::StorageClassInput, word);
  return f_.Load(word, f_.Emit(spv::OpAccessChain, type, {variable, f_.Int(32, axis)}), 0);
}

Id Invocations::InputWord(spv::BuiltIn builtin, const char* name, uint32_t axis) {
  return f_.Resize(InputComponent(builtin, name, axis), 32, entry_.Wide(), false);
}

Id Invocations::InputNumber(spv::BuiltIn builtin, const char* name) {
  if (builtin != spv::BuiltInLocalInvocationIndex) m_.AddCapability(spv::CapabilityGroupNonUniform);
  Id word = m_.types.Int(32), variable = entry_.context.Input(builtin, word, name);
  entry_.Uses(variable);
  return f_.Load(word, variable, 0);
}

}  // namespace adc::codegen::spirv
