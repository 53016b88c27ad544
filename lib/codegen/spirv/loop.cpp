#include "codegen/spirv/loop.h"

#include "support/check.h"

namespace adc::codegen::spirv {

Loop::Loop(FunctionBuilder& builder)
    : f_(builder),
      header_(builder.module().NewId()),
      body_(builder.module().NewId()),
      next_(builder.module().NewId()),
      merge_(builder.module().NewId()),
      before_(builder.Block()) {
  f_.has_loops_ = true;
  f_.Branch(header_);
  f_.Start(header_);
}

Loop::Loop(FunctionBuilder& builder, Id turn, Id merge)
    : f_(builder), header_(turn), body_(turn), next_(turn), merge_(merge), before_(builder.Block()) {
  f_.Branch(turn);
  f_.Start(turn);
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
