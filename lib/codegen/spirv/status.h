#pragma once
// Reports to the status block: the first thread that has something to report wins it with a compare-exchange
// and fills it, later ones that report the same say what they need.

#include "codegen/common/status_code.h"
#include "codegen/spirv/environment.h"

namespace adc::codegen::spirv {

class StatusReporter {
 public:
  StatusReporter(ModuleContext& context, Environment& environment, FunctionBuilder& builder, uint32_t task)
      : context_(context), environment_(environment), f_(builder), task_(task) {}

  /// The flat iteration at hand in 64 bits; 0: none.
  void SetIteration(Id iteration) { iteration_ = iteration; }
  /// `needed` in 64 bits; 0: nothing to say.
  void Raise(StatusCode code, uint32_t index, Id needed = 0);

 private:
  Id MakeFunction();
  /// The reporting itself. `word`: the place of a word of the block.
  template <class WordPlace>
  void Fill(FunctionBuilder& f, WordPlace word, Id source, Id code, Id task, Id index, Id needed,
            Id iteration, bool has_need);

  ModuleContext& context_;
  Environment& environment_;
  FunctionBuilder& f_;
  uint32_t task_;
  Id iteration_ = 0;
};

}  // namespace adc::codegen::spirv
