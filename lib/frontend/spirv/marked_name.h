#pragma once
// A block, or a member of one, of which the source or the command line says more than the shader does.

#include <string>

#include "diag/source.h"

namespace adc::frontend::spirv {

struct MarkedName {
  std::string name;
  bool diff = false;       ///< its floats have adjoints
  bool writeonce = false;  ///< the promises of these attributes
  bool settled = false;
  diag::SourceSpan span = {};  ///< invalid: --diff
};

}  // namespace adc::frontend::spirv
