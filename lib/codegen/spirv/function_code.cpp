#include "codegen/spirv/function_code.h"

#include "support/check.h"

namespace adc::codegen::spirv {

FunctionCode::FunctionCode(ModuleBuilder& module, Id result_type, std::span<const Id> parameter_types)
    : module_(module),
      result_type_(result_type),
      parameter_types_(parameter_types.begin(), parameter_types.end()) {
  type_ = module.types.Function(result_type, parameter_types);
  id_ = module.NewId();
  for (size_t n = 0; n < parameter_types_.size(); ++n) parameters_.push_back(module.NewId());
  entry_ = block_ = module.NewId();
}

Id FunctionCode::Emit(spv::Op op, Id type, std::span<const uint32_t> operands) {
  Id id = module_.NewId();
  Words& stream = Stream();
  stream.push_back(static_cast<uint32_t>(operands.size() + 3) << spv::WordCountShift |
                   static_cast<uint32_t>(op));
  stream.push_back(type);
  stream.push_back(id);
  stream.insert(stream.end(), operands.begin(), operands.end());
  return id;
}

Id FunctionCode::Glsl(GLSLstd450 function, Id type, std::initializer_list<Id> operands) {
  return Emit(spv::OpExtInst, type, Joined({module_.GlslSet(), static_cast<uint32_t>(function)}, operands));
}

Id FunctionCode::Variable(Id pointee) {
  Id type = module_.types.Pointer(spv::StorageClassFunction, pointee);
  Id id = module_.NewId();
  AppendInstruction(variables_, spv::OpVariable,
                    Words{type, id, static_cast<uint32_t>(spv::StorageClassFunction)});
  return id;
}

void FunctionCode::SetPlace(Words place, const Words& code) {
  body_.insert(body_.end(), code.begin(), code.end());
  place_ = std::move(place);
}

void FunctionCode::Start(Id label) {
  ADC_CHECK(!in_head_, "the head is one block");
  AppendInstruction(body_, spv::OpLabel, Words{label});
  block_ = label;
  place_.clear();
}

void FunctionCode::Select(Id condition, Id yes, Id no, Id merge) {
  Do(spv::OpSelectionMerge, {merge, static_cast<uint32_t>(spv::SelectionControlMaskNone)});
  BranchIf(condition, yes, no);
}

void FunctionCode::Finish() {
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

Loop::Loop(FunctionCode& builder, bool one_block)
    : f_(builder),
      header_(builder.module().NewId()),
      body_(one_block ? header_ : builder.module().NewId()),
      next_(one_block ? header_ : builder.module().NewId()),
      merge_(builder.module().NewId()),
      before_(builder.Block()) {
  f_.has_loops_ = f_.has_loops_ || !one_block;
  f_.Branch(header_);
  f_.Start(header_);
}

OpenPhi Loop::Phi(Id type, Id initial) {
  Id id = f_.Emit(spv::OpPhi, type, {initial, before_, 0, next_});
  return {id, f_.body_.size() - 2};
}

void Loop::EndHeader(Id more) {
  f_.Do(spv::OpLoopMerge, {merge_, next_, static_cast<uint32_t>(spv::LoopControlMaskNone)});
  if (more != 0) {
    f_.BranchIf(more, body_, merge_);
  } else {
    f_.Branch(body_);
  }
  f_.Start(body_);
}

void Loop::BeginNext() {
  f_.Branch(next_);
  f_.Start(next_);
}

void Loop::Close(const OpenPhi& phi, Id value) {
  ADC_CHECK(f_.Block() == next_, "a phi is closed where its loop leads back");
  f_.body_[phi.place] = value;
}

void Loop::End() {
  f_.Branch(header_);
  f_.Start(merge_);
}

void Loop::EndTurn(Id done) {
  f_.Do(spv::OpLoopMerge, {merge_, header_, static_cast<uint32_t>(spv::LoopControlMaskNone)});
  f_.BranchIf(done, merge_, header_);
  f_.Start(merge_);
}

}  // namespace adc::codegen::spirv
