#pragma once
// The slope of a noisy function from differences at several steps, with what it is worth.

#include <span>
#include <vector>

namespace adc::tool {

/// (f(h) - f(-h)) / 2h.
struct Difference {
  double step = 0;    ///< h, above 0
  double slope = 0;   ///< not finite where the function has no value there
  double noise = 0;   ///< how far rounding may have moved `slope`
  double jitter = 0;  ///< how far it does as a rule: a smaller step that is off by more contradicts
};

/// A slope, and how far it may be off.
struct SlopeEstimate {
  double slope = 0;
  double uncertainty = 0;  ///< infinite: nothing is known
};

/// All estimates that differences at steps h, h/c, h/c^2, ... give (largest first, one ratio c): each by
/// itself, and extrapolated to h = 0 as if f were smooth (Ridders, 1982). The uncertainty is the most of: how
/// far an estimate lies from those of which it was made; the effect of rounding after the extrapolation; how
/// far smaller steps contradict it. Those without a neighbour to compare with are left out.
std::vector<SlopeEstimate> Extrapolate(std::span<const Difference> differences);

/// The rounding noise (one standard deviation) of a function from its values at five or more points in a row,
/// so near to each other that it is a straight line but for noise (More and Wild, 2011: the differences of
/// order k of independent errors are (2k)! / (k!)^2 times their variance). The largest of the orders 2 to 4.
double NoiseOf(std::span<const double> values);

enum class Agreement {
  Agrees,       ///< some estimate, certain to within the tolerance, is the expected slope to within it
  Differs,      ///< the best estimate is further off than the tolerance and than its uncertainty explain
  SaysNothing,  ///< no estimate is certain enough to tell
};

struct Judgement {
  Agreement agreement = Agreement::SaysNothing;
  SlopeEstimate estimate;  ///< the one that decided
};

/// Whether `expected` is the slope. `tolerance` is relative to `size` or to the estimate, whichever is more.
Judgement Judge(std::span<const SlopeEstimate> estimates, double expected, double size, double tolerance);

/// The steps, relative to the size of what moves, that are worth trying with numbers of this precision
/// (`epsilon`: the distance between 1 and the next number), largest first, one ratio. `*first` is the
/// position of the step with the best chance.
std::vector<double> StepLadder(double epsilon, size_t* first);

}  // namespace adc::tool
