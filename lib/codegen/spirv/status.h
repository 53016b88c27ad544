#pragma once
// Reports to the status block: the first thread that has something to report wins it with a compare-exchange
// and fills it, later ones that report the same say what they need. All that is a function that the places
// call: it is long, and never taken where the sizes are right.

#include "codegen/common/status_code.h"
#include "codegen/spirv/environment.h"

namespace adc::codegen::spirv {

class StatusReporter {
 public:
  StatusReporter(Environment& environment, uint32_t task)
      : context_(environment.entry.context),
        environment_(environment),
        f_(environment.entry.f),
        task_(task) {}

  /// The current flat iteration in 64 bits; 0: none.
  void SetIteration(Id iteration) { iteration_ = iteration; }
  /// `needed` in 64 bits; 0: nothing to say.
  void Raise(StatusCode code, uint32_t index, Id needed = 0);

 private:
  struct Report {
    Id source, code, task, index;  ///< 32 bits
    Id needed, iteration;          ///< 64 bits
  };
  Id MakeFunction();
  /// The reporting itself. `word`: the place of a word of the block.
  template <class WordPlace>
  void Fill(FunctionBuilder& f, WordPlace word, const Report& report);

  ModuleContext& context_;
  Environment& environment_;
  FunctionBuilder& f_;
  uint32_t task_;
  Id iteration_ = 0;
  Id raise_ = 0;  ///< without device addresses: the function that reports, of this entry
};

}  // namespace adc::codegen::spirv
