#pragma once
// A block, or a member of one, of which the source or the command line says more than the shader does.

#include <string>

#include "diag/source.h"
#include "ir/param_words.h"

namespace adc::frontend::spirv {

struct MarkedName {
  std::string name;
  ir::ParamInfo marks = {};    ///< its attributes
  diag::SourceSpan span = {};  ///< invalid: --diff
};

}  // namespace adc::frontend::spirv
