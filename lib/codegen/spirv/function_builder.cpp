#include "codegen/spirv/function_builder.h"

#include <bit>

namespace adc::codegen::spirv {

Id FunctionBuilder::Integer(spv::Op op, uint32_t width, Id a, Id b) {
  std::optional<uint64_t> x = module_.constants.IntegerOf(a), y = module_.constants.IntegerOf(b);
  bool commutes = op == spv::OpIAdd || op == spv::OpIMul || op == spv::OpBitwiseAnd;
  if (commutes && x && !y) {
    std::swap(a, b);
    std::swap(x, y);
  }
  if (x && y) {
    if (op == spv::OpIAdd) return Int(width, *x + *y);
    if (op == spv::OpISub) return Int(width, *x - *y);
    if (op == spv::OpIMul) return Int(width, *x * *y);
    if (op == spv::OpBitwiseAnd) return Int(width, *x & *y);
    if (op == spv::OpShiftLeftLogical) return Int(width, *x << *y);
    if (op == spv::OpShiftRightLogical) return Int(width, *x >> *y);
    if (op == spv::OpUDiv) return Int(width, *x / *y);
    if (op == spv::OpUMod) return Int(width, *x % *y);
  }
  Id type = module_.types.Int(width);
  if (!y) return Emit(op, type, {a, b});
  bool zero_is_neutral = op == spv::OpIAdd || op == spv::OpISub || op == spv::OpShiftLeftLogical ||
                         op == spv::OpShiftRightLogical;
  if (zero_is_neutral && *y == 0) return a;
  if ((op == spv::OpIMul || op == spv::OpBitwiseAnd) && *y == 0) return b;
  if ((op == spv::OpIMul || op == spv::OpUDiv) && *y == 1) return a;
  if (op == spv::OpUMod && *y == 1) return Int(width, 0);
  if (std::has_single_bit(*y)) {
    auto bits = static_cast<uint64_t>(std::countr_zero(*y));
    if (op == spv::OpIMul) return Emit(spv::OpShiftLeftLogical, type, {a, Int(32, bits)});
    if (op == spv::OpUDiv) return Emit(spv::OpShiftRightLogical, type, {a, Int(32, bits)});
    if (op == spv::OpUMod) return Emit(spv::OpBitwiseAnd, type, {a, Int(width, *y - 1)});
  }
  return Emit(op, type, {a, b});
}

Id FunctionBuilder::Here(Id type, Id value) {
  if (!module_.IsForTranslators()) return value;
  return Emit(spv::OpSelect, type, {module_.constants.Bool(true), value, value});
}

Id FunctionBuilder::Choose(Id type, Id condition, Id a, Id b) {
  if (std::optional<uint64_t> known = module_.constants.IntegerOf(condition)) return *known != 0 ? a : b;
  return a == b ? a : Emit(spv::OpSelect, type, {condition, a, b});
}

Id FunctionBuilder::Resize(Id a, uint32_t from, uint32_t to, bool is_signed) {
  if (from == to) return a;
  if (std::optional<uint64_t> known = module_.constants.IntegerOf(a)) {
    bool extend = is_signed && from == 32;
    return Int(to,
               extend ? static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(*known))) : *known);
  }
  bool widens = is_signed && to > from;
  Id resized = Emit(widens ? spv::OpSConvert : spv::OpUConvert, module_.types.Int(to), {a});
  if (widens) widened_[resized] = a;
  return resized;
}

Id FunctionBuilder::NarrowOf(Id wide) {
  if (auto place = widened_.find(wide); place != widened_.end()) return place->second;
  std::optional<uint64_t> known = module_.constants.IntegerOf(wide);
  if (!known) return 0;
  auto narrow = static_cast<int32_t>(*known);
  return static_cast<uint64_t>(int64_t{narrow}) == *known ? Int(32, *known) : 0;
}

Id FunctionBuilder::Compare(spv::Op op, Id a, Id b) {
  bool is_signed = op == spv::OpSLessThan || op == spv::OpSLessThanEqual || op == spv::OpSGreaterThan ||
                   op == spv::OpSGreaterThanEqual || op == spv::OpIEqual || op == spv::OpINotEqual;
  bool widened = widened_.count(a) != 0 || widened_.count(b) != 0;
  if (is_signed && widened) {
    Id x = NarrowOf(a), y = NarrowOf(b);
    if (x != 0 && y != 0) return Emit(op, module_.types.Bool(), {x, y});
    // Where one of them is a constant beyond 32 bits its sign decides.
    if (std::optional<uint64_t> far = module_.constants.IntegerOf(x == 0 ? a : b)) {
      if (op == spv::OpIEqual || op == spv::OpINotEqual)
        return module_.constants.Bool(op == spv::OpINotEqual);
      bool a_is_less = (static_cast<int64_t>(*far) < 0) == (x == 0);
      return module_.constants.Bool(a_is_less == (op == spv::OpSLessThan || op == spv::OpSLessThanEqual));
    }
  }
  return Emit(op, module_.types.Bool(), {a, b});
}

Id FunctionBuilder::Load(Id type, Id pointer, uint32_t alignment) {
  if (alignment == 0) return Emit(spv::OpLoad, type, {pointer});
  return Emit(spv::OpLoad, type, {pointer, static_cast<uint32_t>(spv::MemoryAccessAlignedMask), alignment});
}

void FunctionBuilder::Store(Id pointer, Id value, uint32_t alignment) {
  if (alignment == 0) {
    Do(spv::OpStore, {pointer, value});
  } else {
    Do(spv::OpStore, {pointer, value, static_cast<uint32_t>(spv::MemoryAccessAlignedMask), alignment});
  }
}

}  // namespace adc::codegen::spirv
