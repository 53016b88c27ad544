// Integers that are partly known.

#include "frontend/spirv/pointers.h"

namespace adc::frontend::spirv {

Index Pointers::IndexOf(Id id) {
  if (std::optional<int64_t> known = types_.Integer(id); known && binary_.Find(id)->op == spv::OpConstant)
    return {*known, {}};
  return {0, b_.Cast(GetOne(id), ir::kI32)};
}

Index Pointers::Scale(Index index, int64_t factor) {
  index.constant *= factor;
  if (index.dynamic.Valid() && factor != 1)
    index.dynamic = b_.Make(ir::Op::Mul, {index.dynamic, b_.I32(static_cast<int32_t>(factor))});
  return index;
}

Index Pointers::Sum(Index a, Index b) {
  a.constant += b.constant;
  if (!a.dynamic.Valid()) {
    a.dynamic = b.dynamic;
  } else if (b.dynamic.Valid()) {
    a.dynamic = b_.Make(ir::Op::Add, {a.dynamic, b.dynamic});
  }
  return a;
}

ir::Value Pointers::ValueOf(const Index& index) {
  if (index.constant < INT32_MIN || index.constant > INT32_MAX)
    Refuse(diag::E0853, b_.span(), "an index leaves 32 bits");
  ir::Value constant = b_.I32(static_cast<int32_t>(index.constant));
  if (!index.dynamic.Valid()) return constant;
  return index.constant == 0 ? index.dynamic : b_.Make(ir::Op::Add, {index.dynamic, constant});
}

}  // namespace adc::frontend::spirv
