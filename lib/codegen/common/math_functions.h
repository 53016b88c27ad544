#pragma once
// Elementary functions written in the IR itself, for targets whose own are missing or too coarse.
//
// What it does: holds scalar functions for sin cos tan asin acos atan sinh cosh tanh exp exp2 log log2 erf
// pow atan2 rem in f32 and f64. A printer writes those that a kernel uses as functions of its target and
// calls them; f16 computes in f32.
//
// Guarantees: bodies of pure scalar arithmetic (+ - * / fma sqrt round trunc abs min max select clz,
// compares, casts, bit operations) and structured `if` and `while`; no calls, no memory. f32 functions use
// types of at most 32 bits, f64 functions of at most 64. Results lie within 2 ulp (f32) or 4 ulp (f64) of the
// exact ones over all finite inputs where + - * / and sqrt round correctly and subnormals are preserved;
// special values are those of C99, annex F; rem is exact. The same functions in the same order in every run.
//
// Requires: their arithmetic is done as written: a product and a sum are not fused, nothing is reassociated.
// Where fusing does no harm the functions say `fma` themselves.

#include <array>
#include <memory>

#include "ir/module.h"

namespace adc::codegen {

class MathFunctions {
 public:
  /// The functions, parsed and simplified at the first call. Safe to call from several threads.
  static const MathFunctions& Get();

  /// The function that computes `op` on `scalar` (one parameter or two, one result), or null where there is
  /// none. Its name is "<spelling of op>.<spelling of scalar>".
  const ir::Function* Find(ir::Op op, ir::Scalar scalar) const;
  /// The function of which sin and cos of f32 or f64 are made: (x, quarters : i32) to the sine of x +
  /// quarters * pi/2. Most of it is the reduction of x, which a target that has functions writes once for
  /// both.
  const ir::Function& TurnedSine(ir::Scalar scalar) const;
  const ir::Module& module() const { return *module_; }

 private:
  MathFunctions();

  std::unique_ptr<ir::Module> module_;
  std::array<const ir::Function*, 2 * ir::kOpCount> functions_{};  ///< f32 of each operation, then f64
};

}  // namespace adc::codegen
