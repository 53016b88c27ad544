#pragma once
// Loops become nests: a loop over segments around a loop over the steps of one.
//
// Copies a function and blocks the serial loops that are asked for,
//
//   %r = for %t in lo..hi carry(%a = %x) { B; yield %b }
//     =>  %r = for %k in 0..segments carry(%a0 = %x) checkpoint {
//           %s = for %j in 0..length carry(%a = %a0) steps { %t = lo + (%k * S + %j) * step; B; yield %b }
//           yield %s
//         }
//   %r = while carry(%a = %x) { H; continue_if %c } do { B; yield %b }
//     =>  %r = while carry(%a0 = %x, %last = S) checkpoint { continue_if %last >= S } do {
//           %s, %n = while max S carry(%a = %a0, %m = 0) steps { H; continue_if %c } do { B; yield %b, %m + 1
//           } yield %s, %n
//         }
//
// so that reverse mode, which keeps a tape per level of nesting, keeps segments + S states instead of one per
// iteration. Requires: Phase::Scalar. Guarantees: the same iterations in the same order with the same values,
// for all bounds; `checkpoint` stands on loops over segments and nowhere else, with the length where it is
// not chosen at launch, and `steps` on the loop over the steps of each (analysis::StepsOf); the function that
// is copied is not touched. Where a length is chosen at launch the copy has one more parameter, of
// ParamRole::Segment. Breaks: nothing.

#include <functional>
#include <memory>

#include "ir/function.h"
#include "transform/pass.h"

namespace adc::transform {

/// The length of a segment that a launch chooses.
inline constexpr uint32_t kSegmentAtLaunch = UINT32_MAX;

/// `length_of` says for each `for` and `while` how many iterations make a segment: 0 leaves the loop as it
/// is.
std::unique_ptr<ir::Function> BlockLoops(ir::Module& module, const ir::Function& function,
                                         const std::function<uint32_t(ir::Inst)>& length_of,
                                         FoldConfig fold = {});

}  // namespace adc::transform
