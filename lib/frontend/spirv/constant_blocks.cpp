// Uniform blocks and push constants: their members are parameters by value, or pointers to buffers.

#include <algorithm>

#include "diag/errors/shader.h"
#include "frontend/spirv/memory.h"
#include "ir/module.h"

namespace adc::frontend::spirv {

namespace {

/// Bytes from the block on, but for what is no constant.
uint64_t FixedOffset(const Pointer& p) {
  uint64_t at = p.member_offset + p.offset;
  if (!p.has_outer || p.outer.dynamic.Valid()) return at;
  return at + static_cast<uint64_t>(std::max<int64_t>(p.outer.constant, 0)) * p.outer_stride;
}

}  // namespace

/// A register value of a block whose members are parameters by value.
ir::Value Memory::LoadByValue(const Pointer& p, Id type, const Instruction& inst) {
  uint64_t base = FixedOffset(p);
  std::vector<std::pair<ir::Value, uint32_t>> terms = p.terms;
  if (p.has_outer && p.outer.dynamic.Valid()) terms.emplace_back(p.outer.dynamic, p.outer_stride);
  Index at;
  for (const auto& [index, stride] : terms) at = Sum(at, Scale({0, index}, stride));
  // What lies at the place; where an index names it, one of several values, each at its offset.
  ir::Type want = types_.Register(type);
  ir::Value result;
  auto consider = [&](uint64_t offset, const std::function<ir::Value()>& make) {
    if (terms.empty() && offset != base) return;
    ir::Value value = make();
    if (!terms.empty() && result.Valid()) {
      ir::Value here = b_.Make(ir::Op::Eq, {at.dynamic, b_.I32(static_cast<uint32_t>(offset - base))});
      value = b_.Make(ir::Op::Select, {here, value, result});
    }
    result = value;
  };
  for (Unit& unit : p.resource->units) {
    if (unit.view != View::Value || unit.member != p.member ||
        !SameKind(unit.scalar, types_.MemoryScalar(type)))
      continue;
    ir::Type have = types_.Register(unit.type);
    if (have == want) {
      consider(unit.offset, [&] { return FromMemory(unit.param); });
    } else if (have.IsMat() && want == ir::Type::Vec(have.scalar, have.rows)) {
      const ir::ShaderBinding& binding =
          module_.shader_bindings[kernel_.params[kernel_[unit.param].number].shader_binding];
      uint32_t step = binding.row_major ? ir::ByteSize(have.scalar) : binding.matrix_stride;
      for (uint32_t column = 0; column < have.columns; ++column)
        consider(unit.offset + uint64_t{step} * column,
                 [&] { return b_.Column(FromMemory(unit.param), column); });
    }
  }
  if (!result.Valid() && resources_.FindPointed(p.resource->variable, base) != nullptr)
    Refuse(diag::E0854, inst.span, "an address is used as a number",
           "make a pointer of it where it is read, and nothing else");
  Require(result.Valid(), inst, "a member of a block of constants is not where it should be");
  return result;
}

/// The pointer that lies in memory: of a fixed place in a block that is no pointer's.
ir::Value Memory::LoadAddress(const Pointer& p, const Instruction& inst) {
  bool fixed = p.terms.empty() && !p.outer.dynamic.Valid() && !p.resource->by_pointer;
  Resource* found = fixed ? resources_.FindPointed(p.resource->variable, FixedOffset(p)) : nullptr;
  if (found != nullptr) return AddressOf(found, {});
  // A structure may have one that nothing asks for.
  if (!types_.IsAddress(p.pointee) || !types_.IsAddress(inst.type)) return b_.Int(ir::kI64, 0);
  if (p.resource->by_pointer)
    Refuse(diag::E0854, inst.span, "a pointer that lies behind another pointer",
           "pass what it leads to in push constants or a uniform block; instead of a list pass an array");
  Refuse(diag::E0854, inst.span, "a pointer that lies in an element of a buffer or is chosen by an index",
         "pass one pointer per buffer in push constants or a uniform block, or all of it as one buffer");
}

}  // namespace adc::frontend::spirv
