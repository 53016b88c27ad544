#pragma once
// An argument for a parameter of any bundle.

#include <adrt/adrt.h>

namespace adc::test {

/// Of the parameter's kind, type and shape, without data and extents; `index`: its number in the kernel.
inline adrt_arg BareArgument(const adrt_param_report& param, uint32_t index) {
  adrt_arg arg = {};
  arg.struct_size = sizeof arg;
  arg.kind = param.kind;
  arg.index = index;
  arg.type = param.type;
  arg.rows = param.rows;
  arg.columns = param.columns;
  arg.rank = param.rank;
  return arg;
}

}  // namespace adc::test
