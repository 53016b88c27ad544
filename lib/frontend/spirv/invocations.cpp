#include "frontend/spirv/invocations.h"

#include "diag/errors/shader.h"
#include "ir/module.h"

namespace adc::frontend::spirv {

void Invocations::AddParameters() {
  constexpr const char* kNames[] = {"invocations_x", "invocations_y", "invocations_z"};
  for (uint32_t axis = 0; axis < 3; ++axis) {
    ir::ShaderBinding binding;
    binding.kind = ir::ShaderBinding::Kind::Invocations;
    binding.number = axis;
    binding.offset = local_size_[axis];
    // The invocations of a workgroup of several all run; an axis of single ones may be no matter to the
    // shader.
    bool if_read = axis != 0 && local_size_[axis] == 1;
    invocations_[axis] = resources_.AddScalar(kNames[axis], ir::kI32, binding, {.if_read = if_read});
  }
}

ir::Inst Invocations::MakeLoop() {
  constexpr const char* kNames[2][3] = {{"gx", "gy", "gz"}, {"wx", "wy", "wz"}};
  std::vector<ir::Value> bounds;
  std::vector<std::pair<ir::Value*, const char*>> indices;
  for (uint32_t axis = 3; axis-- > 0;) {
    bounds.insert(bounds.end(), {b_.I32(0), by_workgroups_ ? GroupsAlong(axis) : invocations_[axis]});
    indices.emplace_back(&index_[axis], kNames[by_workgroups_ ? 1 : 0][axis]);
  }
  uint64_t block = uint64_t{local_size_[0]} * local_size_[1] * local_size_[2];
  bool good_block = !by_workgroups_ && block >= 32 && block <= 1024 && block % 32 == 0;
  if (by_workgroups_) {
    if (block > 65536) Refuse(diag::E0853, {}, "a workgroup has more than 65536 invocations");
    bounds.insert(bounds.end(), {b_.I32(0), b_.I32(static_cast<int32_t>(block))});
    indices.emplace_back(&local_index_, "l");
  }
  ir::Inst loop = b_.Parallel(bounds, good_block ? static_cast<uint32_t>(block) : 0);
  if (by_workgroups_) kernel_[loop].words.Add(ir::Word::Workgroup);
  for (size_t n = 0; n < indices.size(); ++n) {
    *indices[n].first = kernel_[kernel_[loop].regions[0]].params[n];
    kernel_[*indices[n].first].name = module_.Intern(indices[n].second);
  }
  return loop;
}

ir::Value Invocations::GroupsAlong(uint32_t axis) {
  if (local_size_[axis] == 1) return invocations_[axis];
  return b_.Make(ir::Op::CeilDiv, {invocations_[axis], b_.I32(local_size_[axis])});
}

// Indices are not negative, so that signed division is right and says more about the quotient.

ir::Value Invocations::GroupAxis(uint32_t axis) {
  if (by_workgroups_ || local_size_[axis] == 1) return index_[axis];
  return b_.Make(ir::Op::Div, {index_[axis], b_.I32(local_size_[axis])});
}

ir::Value Invocations::LocalAxis(uint32_t axis) {
  if (local_size_[axis] == 1) return b_.I32(0);
  ir::Value size = b_.I32(local_size_[axis]);
  if (!by_workgroups_) return b_.Make(ir::Op::Rem, {index_[axis], size});
  uint32_t before = 1, behind = 1;
  for (uint32_t other = 0; other < 3; ++other)
    (other < axis ? before : behind) *= other == axis ? 1 : local_size_[other];
  ir::Value local = local_index_;
  if (before != 1) local = b_.Make(ir::Op::Div, {local, b_.I32(before)});
  return behind == 1 ? local : b_.Make(ir::Op::Rem, {local, size});
}

ir::Value Invocations::InvocationAxis(uint32_t axis) {
  if (!by_workgroups_ || local_size_[axis] == 1) return index_[axis];
  ir::Value first = b_.Make(ir::Op::Mul, {index_[axis], b_.I32(local_size_[axis])});
  return b_.Make(ir::Op::Add, {first, LocalAxis(axis)});
}

ir::Value Invocations::Builtin(uint32_t builtin, const Instruction& inst) {
  auto size = [&](uint32_t axis) { return b_.I32(local_size_[axis]); };
  switch (builtin) {
    case spv::BuiltInGlobalInvocationId:
      return b_.VectorOf(3, [&](uint32_t axis) { return InvocationAxis(axis); });
    case spv::BuiltInWorkgroupId:
      return b_.VectorOf(3, [&](uint32_t axis) { return GroupAxis(axis); });
    case spv::BuiltInLocalInvocationId:
      return b_.VectorOf(3, [&](uint32_t axis) { return LocalAxis(axis); });
    case spv::BuiltInWorkgroupSize:
      return b_.VectorOf(3, size);
    case spv::BuiltInNumWorkgroups:
      return b_.VectorOf(3, [&](uint32_t axis) { return GroupsAlong(axis); });
    case spv::BuiltInLocalInvocationIndex: {
      if (by_workgroups_) return local_index_;
      ir::Value rows = b_.Make(ir::Op::Add, {b_.Make(ir::Op::Mul, {LocalAxis(2), size(1)}), LocalAxis(1)});
      return b_.Make(ir::Op::Add, {b_.Make(ir::Op::Mul, {rows, size(0)}), LocalAxis(0)});
    }
    default:
      if (std::optional<ir::Value> of_subgroup = SubgroupBuiltin(builtin)) return *of_subgroup;
      Refuse(diag::E0854, inst.span, "a built-in input that kernels do not have",
             "those that number invocations, workgroups and subgroups are taken");
  }
}

}  // namespace adc::frontend::spirv
