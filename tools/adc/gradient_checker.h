#pragma once
// A gradient compared with forward mode and with central differences, parameter by parameter.
//
// The outputs of a kernel k are folded into one number, L = sum over the elements of what it writes of w *
// value, with random weights w. Then, for a direction d in the elements of one input:
//
//   reverse   sum of adjoint * d, where the adjoints begin as w and k.grad has run after k
//   forward   sum of w * tangent, where the tangents begin as d and k.jvp has run
//   central   (L(x + h d) - L(x - h d)) / 2h, at several steps h and extrapolated (central_difference.h)
//
// The three are one number where the gradient is right. Forward mode is exact but for rounding. Central
// differences know a slope to within an uncertainty alone: where that is larger than the tolerance, they say
// nothing, and forward mode decides.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "central_difference.h"
#include "edge_points.h"
#include "float_places.h"
#include "host/progress.h"
#include "launch.h"

namespace adc::tool {

struct CheckSettings {
  LaunchOptions launch;
  uint64_t seed = 1;
  uint64_t directions = 4;
  double tolerance_forward = 0;  ///< 0: after the type
  double tolerance_central = 0;
};

/// The loss, and the size of its terms without cancellation: their sum, and the root of the sum of their
/// squares. Rounding of every term moves the loss by the first at most and by the second as a rule, times the
/// type's epsilon.
struct LossValue {
  double loss = 0, magnitude = 0, spread = 0;
};

/// Why a comparison that found no difference has tested nothing.
enum class Untested : uint8_t {
  No,         ///< it has
  NoFloats,   ///< the parameter has no element
  NoAdjoint,  ///< the gradient has none of the parameter
  Zero,       ///< every derivative is 0
  Nan,        ///< no derivative is a number, in either mode
  Seed,       ///< the kernel only adds to the parameter: its adjoint is the seed, to the bit
  Written,    ///< the kernel only writes it: its adjoint becomes 0
};

/// The worst of the comparisons of one parameter.
struct CheckedGradient {
  double reverse = 0, forward = 0, central = 0;
  double forward_error = -1, central_error = -1;  ///< relative; below 0: not compared
  double uncertainty = 0;                         ///< of `central`, relative
  /// Differs: forward mode or central differences do.
  Agreement agreement = Agreement::SaysNothing;
  /// The inputs lie at a kink: the loss has these slopes on its two sides, and reverse mode's lies between
  /// them.
  bool at_kink = false;
  double slope_below = 0, slope_above = 0;
  Untested untested = Untested::No;
  std::string point = {};      ///< for people, where it was not the drawn point
  std::string first_nan = {};  ///< for people, which operation makes the first number that is none
  /// Of a small parameter: the element, in C order, at which forward mode and reverse mode are furthest
  /// apart.
  struct Element {
    uint64_t index = 0;
    double reverse = 0, forward = 0;
    bool differs = false;
  };
  std::optional<Element> element = {};
};

class GradientChecker {
 public:
  GradientChecker(const adrt_bundle* bundle, const Kernel& primal, const Kernel& gradient,
                  const Kernel* tangent, const CheckSettings& settings, Machine& machine, Values inputs)
      : bundle_(bundle),
        primal_(primal),
        gradient_(gradient),
        tangent_(tangent),
        settings_(settings),
        machine_(machine),
        inputs_(std::move(inputs)),
        random_(settings.seed) {}

  /// The gradient with other `inputs` of the same shapes, by `workers` (0: as always): by parameter, the
  /// adjoint of each of its floats. After Run. An exit code.
  /// `left`: an access out of range is no failure, and said there.
  int AdjointsAt(const Values& inputs, uint32_t workers, std::map<std::string, std::vector<double>>* adjoints,
                 bool* left = nullptr);
  /// The arguments of the gradient at the drawn point: the values that the kernel leaves, and the adjoints of
  /// its outputs. An exit code.
  int Seeded(Values* values);
  /// Whether the adjoint of some float of `param` is NaN or infinite; after Run.
  bool HasSpecialAdjoint(const Param& param) const;
  /// The parameter of the gradient that holds the adjoint of `param`; null: there is none.
  const Param* AdjointOf(const Param& param) const { return Companion(gradient_, param); }
  /// Whether forward mode can be run.
  bool HasForward() const { return tangent_ != nullptr; }
  /// The derivative of the loss by forward mode at other `inputs` of the same shapes, along `direction`: by
  /// parameter, per float. After Run. An exit code.
  int ForwardAt(const Values& inputs, const std::map<std::string, std::vector<double>>& direction,
                double* result);
  /// By parameter that the kernel writes: the weights of its floats in the loss.
  const std::map<std::string, std::vector<double>>& weights() const { return weights_; }
  /// The floats of `param` that are differentiated; after Run.
  const std::vector<Place>& Places(const Param& param) const { return places_.at(param.name); }
  /// Whether `param` has an adjoint.
  bool Differentiable(const Param& param) const {
    return param.IsLayout() ? !Places(param).empty() : param.report.diff != 0 && param.IsFloat();
  }

  /// Compares every differentiable input. An exit code.
  int Run(std::vector<std::pair<const Param*, CheckedGradient>>* rows);
  /// Whether some row has tested nothing, which another point may.
  bool HasUntested(const std::vector<std::pair<const Param*, CheckedGradient>>& rows) const;
  /// Compares the rows that were not tested once more at other `inputs`, which are called `point`: they are
  /// replaced where that tests them. An exit code.
  int RunAgain(const Values& inputs, const std::string& point,
               std::vector<std::pair<const Param*, CheckedGradient>>* rows);

 private:
  const Param* Companion(const Kernel& kernel, const Param& param) const;
  int Loss(const Values& values, LossValue* loss);
  /// Runs the kernel on `values`, and adds the adjoints of the gradient, which begin as the weights.
  int RunAndSeed(const LaunchOptions& launch, LaunchReport* report, Values* values);
  int Forward(const Param& param, const std::vector<double>& direction, double* result);
  /// The loss with the parameter moved by `step` times the direction, and the prediction of reverse mode for
  /// the move.
  int LossAt(const Param& param, const std::vector<double>& direction, double step, LossValue* loss,
             double* predicted);
  int Central(const Param& param, const std::vector<double>& direction, double expected, double size,
              double tolerance, Judgement* judgement);
  /// The noise of the loss around where the parameter is.
  int MeasureNoise(const Param& param, const std::vector<double>& direction, double* noise);
  /// The least precise type among the floats of the kernel that the comparison runs through.
  uint32_t Coarsest(const Param& param) const;
  /// How far each component moves: its own size. A zero often means "absent" (a cell without mass), and
  /// stays, unless there is nothing else.
  std::vector<double> ScaleOf(const Param& param) const;
  Untested WhyUntested(const Param& param) const;
  int Compare(const Param& param, CheckedGradient* row);
  /// Whether central differences differ for a kink at the inputs themselves; fills `row` then.
  int LookForKink(const Param& param, const std::vector<double>& direction, double size, double tolerance,
                  CheckedGradient* row);
  /// Each element of a small parameter against forward mode, so that no error is lost among the others; of a
  /// large one some of those whose adjoint is no finite number.
  int CompareElements(const Param& param, double limit, CheckedGradient* row);

  const adrt_bundle* bundle_;
  const Kernel& primal_;
  const Kernel& gradient_;
  const Kernel* tangent_;
  const CheckSettings& settings_;
  Machine& machine_;
  Values inputs_;
  Random random_;
  std::map<std::string, std::vector<Place>> places_;  ///< by parameter: its differentiable floats
  Progress progress_;
  std::map<std::string, std::vector<double>> weights_;   ///< by parameter, of what the kernel writes
  std::map<std::string, std::vector<double>> adjoints_;  ///< by parameter, after the reverse run
};

}  // namespace adc::tool
