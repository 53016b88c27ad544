#include "codegen/spirv/function_builder.h"

#include <bit>

#include "support/check.h"

namespace adc::codegen::spirv {

FunctionBuilder::FunctionBuilder(ModuleBuilder& module, Id result_type, std::span<const Id> parameter_types)
    : module_(module),
      result_type_(result_type),
      parameter_types_(parameter_types.begin(), parameter_types.end()) {
  type_ = module.types.Function(result_type, parameter_types);
  id_ = module.NewId();
  for (size_t n = 0; n < parameter_types_.size(); ++n) parameters_.push_back(module.NewId());
  entry_ = block_ = module.NewId();
}

Id FunctionBuilder::Emit(spv::Op op, Id type, std::span<const uint32_t> operands) {
  Id id = module_.NewId();
  Words& stream = Stream();
  stream.push_back(static_cast<uint32_t>(operands.size() + 3) << spv::WordCountShift |
                   static_cast<uint32_t>(op));
  stream.push_back(type);
  stream.push_back(id);
  stream.insert(stream.end(), operands.begin(), operands.end());
  return id;
}

Id FunctionBuilder::Glsl(GLSLstd450 function, Id type, std::initializer_list<Id> operands) {
  Words all{module_.GlslSet(), static_cast<uint32_t>(function)};
  all.insert(all.end(), operands.begin(), operands.end());
  return Emit(spv::OpExtInst, type, all);
}

Id FunctionBuilder::Variable(Id pointee) {
  Id type = module_.types.Pointer(spv::StorageClassFunction, pointee);
  Id id = module_.NewId();
  AppendInstruction(variables_, spv::OpVariable,
                    Words{type, id, static_cast<uint32_t>(spv::StorageClassFunction)});
  return id;
}

void FunctionBuilder::SetPlace(Words place, const Words& code) {
  body_.insert(body_.end(), code.begin(), code.end());
  place_ = std::move(place);
}

void FunctionBuilder::Start(Id label) {
  ADC_CHECK(!in_head_, "the head is one block");
  AppendInstruction(body_, spv::OpLabel, Words{label});
  block_ = label;
  place_.clear();
}

void FunctionBuilder::Select(Id condition, Id yes, Id no, Id merge) {
  Do(spv::OpSelectionMerge, {merge, static_cast<uint32_t>(spv::SelectionControlMaskNone)});
  BranchIf(condition, yes, no);
}

LoopLabels FunctionBuilder::BeginLoop() {
  LoopLabels loop{module_.NewId(), module_.NewId(), module_.NewId(), module_.NewId(), block_};
  has_loops_ = true;
  Branch(loop.header);
  Start(loop.header);
  return loop;
}

OpenPhi FunctionBuilder::LoopPhi(const LoopLabels& loop, Id type, Id initial) {
  Id id = Emit(spv::OpPhi, type, {initial, loop.before, 0, loop.next});
  return {id, body_.size() - 2};
}

void FunctionBuilder::EndHeader(const LoopLabels& loop, Id more) {
  Do(spv::OpLoopMerge, {loop.merge, loop.next, static_cast<uint32_t>(spv::LoopControlMaskNone)});
  if (more != 0) {
    BranchIf(more, loop.body, loop.merge);
  } else {
    Branch(loop.body);
  }
  Start(loop.body);
}

void FunctionBuilder::BeginNext(const LoopLabels& loop) {
  Branch(loop.next);
  Start(loop.next);
}

void FunctionBuilder::Close(const LoopLabels& loop, const OpenPhi& phi, Id value) {
  ADC_CHECK(block_ == loop.next, "a phi is closed where its loop leads back");
  body_[phi.place] = value;
}

void FunctionBuilder::EndLoop(const LoopLabels& loop) {
  Branch(loop.header);
  Start(loop.merge);
}

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

/// Translators take no constant that is infinite or NaN, and WGSL none whose bits are: it is read from a
/// variable.
Id FunctionBuilder::Float(uint32_t width, uint64_t bits) {
  uint64_t exponent = width == 64 ? uint64_t{0x7FF} << 52 : uint64_t{0xFF} << 23;
  if (!module_.IsForTranslators() || (bits & exponent) != exponent)
    return module_.constants.Float(width, bits);
  Id& known = by_bits_[{width, bits}];
  if (known != 0) return known;
  Head head(*this);
  Id word = module_.types.Int(width), variable = Variable(word);
  Store(variable, Int(width, bits), 0);
  return known = Emit(spv::OpBitcast, module_.types.Float(width), {Load(word, variable, 0)});
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

Id FunctionBuilder::ShortIndex(Id index) {
  std::optional<uint64_t> known = module_.constants.IntegerOf(index);
  return known && *known <= INT32_MAX ? Int(32, *known) : index;
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

void FunctionBuilder::Finish() {
  Words code;
  AppendInstruction(code, spv::OpFunction,
                    Words{result_type_, id_, static_cast<uint32_t>(spv::FunctionControlMaskNone), type_});
  for (size_t n = 0; n < parameters_.size(); ++n)
    AppendInstruction(code, spv::OpFunctionParameter, Words{parameter_types_[n], parameters_[n]});
  AppendInstruction(code, spv::OpLabel, Words{entry_});
  for (const Words* part : {&variables_, &head_, &body_}) code.insert(code.end(), part->begin(), part->end());
  AppendInstruction(code, spv::OpFunctionEnd, {});
  module_.AddFunction(code);
}

}  // namespace adc::codegen::spirv
