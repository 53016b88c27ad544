#pragma once
// A gradient at many points, held against the interpreter's dual numbers: reverse mode as it is compiled, and
// the rules of derivatives as the interpreter has them, on the text as it was written.
//
// The sum over all differentiable inputs of adjoint * d, against the sum over all outputs of w * tangent
// along d (gradient_checker.h says what w is). Where the two differ, or are no numbers, it goes on element by
// element. A difference there may be a kink, or rounding that the kernel makes large: the interpreter runs
// with inputs moved by a few roundings, and a gradient that lies among those derivatives is a derivative
// there.
//
// That forgives a gradient which decides otherwise than the kernel where a decision stands on its edge: it is
// the derivative a rounding away, and may belong to another element. Such points are looked for: between two
// draws the derivative jumps where a decision falls, which halving finds to a rounding. There reverse mode
// has to give what forward mode and the interpreter agree on.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "edge_points.h"
#include "gradient_checker.h"
#include "interpret.h"

namespace adc::tool {

/// An element at which the gradient is not the interpreter's derivative.
struct PointDifference {
  std::string point, parameter;
  uint64_t element = 0;  ///< in C order
  double reverse = 0, dual = 0;
  uint32_t workers = 0;  ///< 0: as always
};

struct PointsOutcome {
  uint32_t points = 0;                       ///< at which the two were compared
  uint32_t near_kink = 0;                    ///< of them, at which a kink or rounding decides
  uint32_t left_out = 0;                     ///< that the kernel cannot run, or that its promises exclude
  bool cut_short = false;                    ///< the budget ended before the points did
  std::vector<PointDifference> differences;  ///< the first of each point
};

class PointChecker {
 public:
  /// `budget`: steps of the interpreter in all. `tolerance`: relative; 0: after the type.
  PointChecker(const adrt_bundle* bundle, const Kernel& primal, GradientChecker& checker, DualKernel& dual,
               uint64_t budget, double tolerance, uint64_t seed)
      : bundle_(bundle),
        primal_(primal),
        checker_(checker),
        dual_(dual),
        budget_(budget),
        tolerance_(tolerance),
        random_(seed ^ 0x9017) {}

  /// Compares at `inputs` with other numbers of workers, and at up to `count` edge points. An exit code.
  int Run(const Values& inputs, uint64_t seed, uint64_t count, const std::vector<uint32_t>& workers,
          PointsOutcome* outcome);
  /// Compares the parameters of `rows` that were not tested at other points, until all are or some points
  /// have been tried. An exit code.
  int TestElsewhere(const Values& inputs, uint64_t seed,
                    std::vector<std::pair<const Param*, CheckedGradient>>* rows);

 private:
  using Numbers = std::map<std::string, std::vector<double>>;  ///< by parameter
  struct Element {
    const Param* param = nullptr;
    uint64_t index = 0;
  };
  /// Derivative of the loss along `direction` (per float of each parameter); empty where the run ends early.
  std::optional<double> Dual(const Values& inputs, const Numbers& direction, bool reversed, Values* after);
  /// The direction of one element.
  Numbers Along(const Element& element) const;
  /// True where the kernel runs at the point, and, where indices moved, in any order of its iterations.
  bool CanRun(const EdgePoint& point);
  /// Makes what the kernel saves fit the point. False after an error was printed.
  bool Prepare(EdgePoint* point);
  Numbers Draw(const Values& inputs);
  double Tolerance(const Param& param) const;
  /// The terms of the loss without cancellation.
  double MagnitudeOf(const Values& after) const;
  /// Inputs a rounding apart between which the derivative jumps, on the way from `from` to `to`: pairs.
  std::vector<std::pair<Values, Values>> JumpsBetween(const Values& from, const Values& to);
  /// Whether the gradient decides otherwise than the kernel at `inputs`, which lie on the edge of a decision:
  /// forward mode gives what the interpreter does, and reverse mode something else. An exit code.
  int CompareOnEdge(const Values& inputs, std::optional<PointDifference>* difference);
  /// Points on edges between `from` and `to`, the first `count` of them. An exit code.
  int RunOnEdges(const Values& from, const Values& to, uint64_t count, PointsOutcome* outcome);
  /// An exit code; `*difference` and `*kink` say what was found.
  int Compare(const EdgePoint& point, uint32_t workers, std::optional<PointDifference>* difference,
              bool* kink);
  /// Whether `reverse` lies among the derivatives at inputs nearby.
  /// `alone`: moved by itself as well, up and down, so that of equal ones it wins, and loses.
  bool IsNearby(const Values& inputs, const Numbers& direction, const Element* alone, double reverse,
                double dual, double limit);
  /// At equal numbers each element may lie between the slopes of its two sides, and their sum be no slope:
  /// the direction in which all move alike, which leaves them equal.
  bool SumIsNearby(const Values& inputs, const Numbers& adjoints, double tolerance);

  const adrt_bundle* bundle_;
  const Kernel& primal_;
  GradientChecker& checker_;
  DualKernel& dual_;
  uint64_t budget_;
  double tolerance_;
  Random random_;
  uint64_t spent_ = 0;
};

}  // namespace adc::tool
