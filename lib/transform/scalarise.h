#pragma once
// Takes vectors and matrices apart into scalars.

#include "transform/pass.h"

namespace adc::transform {

struct ScalariseConfig {
  FoldConfig fold = {};
};

/// Expands every operation on vectors and matrices. Components count row by row: component k of a matrix with
/// C columns is (k / C, k % C). A vector `%v` becomes `%v.0`, `%v.1`, ...
///
/// - Accesses of buffers and layout fields of vectors become one access per component (`load %x[%i].2`).
///   An atomic on a vector is atomic per component.
/// - A local array of vectors becomes an array of scalars, C components per element, at index `i*C + k`.
/// - Carried values, results of `if`, `for` and `while` become one per component.
/// - An index that is not constant becomes a chain of selects; out of range it gives the last component.
/// - Operations of the class Composed are written in others (composed.h).
/// - `norm` is `sqrt(dot)`, `normalize` divides by it; their derivatives at zero are those of the formula.
/// - `det` and `inverse` expand by cofactors of 2 by 2 minors, up to 4 by 4.
///
/// Requires: calls are inlined but those of functions with derivatives of their own.
/// Guarantees: registers hold scalars, except for by-value vector and matrix parameters, which only `vec.get`
/// and `mat.get` with constant indices read, and for the arguments, results and returned values of the calls
/// that are left, made by `vec.make` and `mat.make` and read in the same way.
/// Breaks: nothing.
bool Scalarise(ir::Module& module, const ScalariseConfig& config, diag::Diagnostics& diagnostics);

}  // namespace adc::transform
