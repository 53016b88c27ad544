#pragma once
// The marks of checks of writes: a word for each scalar of the memory that they watch.

#include <string>
#include <utility>

#include "ir/builder.h"
#include "ir/module.h"

namespace adc::transform {

using MarkedPlace = std::pair<uint32_t, uint32_t>;  ///< position of the parameter, field

/// Adds to `into` a scratch parameter with the shape of `place`, a parameter of `from`: u32 components, zero
/// at launch.
ir::Value AddMarkWords(ir::Module& module, const ir::Function& from, const MarkedPlace& place,
                       const char* suffix, ir::Function& into);

/// The number of the iteration of `loop`, a parallel loop of `from`, modulo 2^32: u32, the last axis fastest.
/// `map` gives the builder's value for a value of `from`.
template <class Builder, class Map>
ir::Value IterationNumber(Builder& builder, const ir::Module& module, const ir::Function& from, ir::Inst loop,
                          const Map& map) {
  constexpr ir::Type kWord = ir::Type::Of(ir::Scalar::U32);
  const std::vector<ir::Value>& own = from[from[loop].regions[0]].params;
  ir::Value number;
  for (uint32_t axis = 0; axis < own.size(); ++axis) {
    ir::Value index = builder.Cast(map(own[axis]), kWord), extent;
    if (from[loop].op == ir::Op::ParallelOver) {
      uint32_t layout = from.TypeOf(from.Operand(loop, 0)).count;
      const ir::LayoutField& field = module.layouts[layout].fields[from[loop].attr];
      extent = builder.Int(kWord, static_cast<uint32_t>(field.axes[axis].extent));
    } else {
      ir::Value lo = builder.Cast(map(from.Operand(loop, 2 * axis)), kWord);
      index = builder.Make(ir::Op::Sub, {index, lo});
      if (axis > 0)
        extent = builder.Make(ir::Op::Sub, {builder.Cast(map(from.Operand(loop, 2 * axis + 1)), kWord), lo});
    }
    number = number.Valid() ? builder.Make(ir::Op::Add, {builder.Make(ir::Op::Mul, {number, extent}), index})
                            : index;
  }
  return number;
}

}  // namespace adc::transform
