#pragma once
// The numbers that a launch hands over (artifact/gpu_abi.h): words of parameters, adstacks, heap and status
// block. With bindings of a shader extents, iterations and values follow from what the shader has.

#include "codegen/common/launch_words.h"
#include "codegen/spirv/blocks.h"
#include "codegen/spirv/images.h"
#include "codegen/spirv/invocations.h"

namespace adc::codegen::spirv {

class LaunchWords {
 public:
  LaunchWords(Entry& entry, const TaskRows* rows, Invocations& invocations, Blocks& blocks, Images& images);

  /// Extent of an axis of a buffer parameter, in Wide() bits.
  Id Extent(uint32_t param, uint32_t axis) {
    return entry_.KeepsBindings() ? ShaderExtent(param, axis) : Word(first_word_[param] + 1 + axis);
  }
  /// A component of a by-value parameter, row-major, in its register.
  Id ParameterComponent(uint32_t param, uint32_t component);
  /// With device addresses: that of a parameter.
  Id Address(uint32_t param) { return Word(first_word_[param]); }
  /// A word of a claim group or of a stack that lives in a row.
  template <class RowWord>
  Id OfRows(uint32_t number, RowWord word) {
    return Word(first_word_.back() + PositionOf(rows_, number, word));
  }
  bool IsGated(uint32_t group) const { return rows_ != nullptr && rows_->IsGated(group); }
  /// With device addresses: those of the heap and of the status block.
  Id HeapAddress() { return Word(tail_); }
  Id StatusAddress() { return Word(tail_ + 1); }
  Id Iterations() { return entry_.KeepsBindings() ? ShaderIterations() : Word(tail_ + 2); }
  Id Threads() { return entry_.KeepsBindings() ? ShaderIterations() : Word(tail_ + 3); }

 private:
  Id Word(uint32_t position);
  /// Of a word that is seen by halves: `position` counts these.
  Id HalfWord(uint32_t position);
  Id ShaderIterations();
  /// A component of a value (shader_values.cpp).
  Id ShaderValue(uint32_t param, uint32_t component);
  Id ShaderExtent(uint32_t param, uint32_t axis);

  Entry& entry_;
  ModuleBuilder& m_;
  FunctionBuilder& f_;
  const TaskRows* rows_;
  Invocations& invocations_;
  Blocks& blocks_;
  Images& images_;
  std::vector<uint32_t> first_word_;  ///< by parameter, and after the last one
  uint32_t tail_ = 0;
  Id words_ = 0;  ///< pointer to their block
  Id iterations_ = 0;
  std::map<uint32_t, Id> loaded_;
  std::map<std::pair<uint32_t, uint32_t>, Id> components_, extents_;
};

}  // namespace adc::codegen::spirv
