#pragma once
// Makes a kernel check its promises about writes: no two iterations of one parallel loop store to one
// element, and the promises of `disjoint`, `settled` and `writeonce` hold.

#include "transform/pass.h"

namespace adc::transform {

/// Gives each buffer, and each field of a layout, that a primal kernel stores to a scratch parameter of
/// words: same shape, u32 components, zero at launch. A word says which iteration of which loop wrote its
/// component last, and whether it was read:
///
///   word = 2 * stamp + was read        stamp = 1 + number of the loop + loops * number of the iteration
///
/// where loop 0 is everything outside of parallel loops. A write replaces the word, a read sets its lowest
/// bit, and both look at what was there before:
///
///   %v = load %x[%j]                          %w = atomic or %x.writes[%j], 1
///   store %x[%i], %v                  ->      assert (written by no other iteration), disjoint "x", other
///                                             %v = load %x[%j]
///                                             store %x[%i], %v
///                                             %old = atomic exchange %x.writes[%i], 2 * stamp
///                                             assert (written by no other iteration), disjoint "x", other
///                                             assert (eq (and %old, 1), 0), settled "x"
///
/// `writeonce` asks in place of the last that %old is 0, and a buffer without a promise of its stores alone
/// that they are disjoint. For `disjoint` alone a write after a read is no fault if one iteration did both,
/// so that reads have words of their own, `%x.reads`: the stamp of the last one, and a bit that another
/// iteration of the loop has read as well:
///
///   %old = atomic exchange %x.reads[%j], 2 * stamp
///   atomic or %x.reads[%j], (another iteration of this loop in %old, or its bit)
///
/// A mark is made before a read and after a write, so that a write that another iteration does not wait for
/// is found when the read began first; and since iterations are told apart by number, one worker finds what
/// many would. Components count by themselves: they are what the kernel accesses. Atomics on a buffer without
/// a promise are checked against stores in front of them. Memory in which all stores put one literal needs no
/// check.
///
/// Requires: scalars in registers (Scalarise); derivatives made, since derived kernels read final values and
/// must not be made from the words.
/// Guarantees: derived kernels stay as they are; the results of a kernel stay the same; tasks stand on their
/// own (a prologue that marks becomes a task). Parameters marked `alias` are checked each by itself. Numbers
/// of iterations are taken modulo 2^31 / loops, so that two as far apart count as one. Breaks: the launch
/// needs memory for the words. False after errors (E0305).
bool CheckWrites(ir::Module& module, diag::Diagnostics& diagnostics);

}  // namespace adc::transform
