#include "gradient_checker.h"

#include <algorithm>
#include <cmath>

#include "command_line.h"
#include "host/exit_code.h"

namespace adc::tool {

namespace {

/// The results by rank, of which the worst is shown: a difference, then an agreement, then a result that says
/// nothing.
int Rank(Agreement agreement) {
  switch (agreement) {
    case Agreement::Differs:
      return 2;
    case Agreement::Agrees:
      return 1;
    case Agreement::SaysNothing:
      return 0;
  }
  return 0;
}

/// Parameters of at most this many floats are compared element by element.
constexpr uint64_t kMostElements = 16;

/// Whether another point may test what this row did not.
bool MayTest(const CheckedGradient& row) {
  bool depends = row.untested == Untested::Zero || row.untested == Untested::Nan;
  return depends && row.agreement != Agreement::Differs;
}

LaunchOptions MayLeave(LaunchOptions launch) {
  launch.may_leave = true;
  return launch;
}

}  // namespace

const Param* GradientChecker::Companion(const Kernel& kernel, const Param& param) const {
  for (const Param& candidate : kernel.params) {
    bool belongs = candidate.report.primal < kernel.params.size() &&
                   kernel.params[candidate.report.primal].name == param.name;
    if (belongs) return &candidate;
  }
  return nullptr;
}

int GradientChecker::Loss(const Values& values, LossValue* loss) {
  Values after = values;
  LaunchReport report;
  int code = machine_.Launch(primal_, after, MayLeave(settings_.launch), &report);
  *loss = {};
  if (report.left) loss->loss = NAN;
  double squares = 0;
  for (const auto& [name, weights] : weights_) {
    const Param* param = primal_.Find(name);
    for (uint64_t at = 0; at < weights.size(); ++at) {
      double term = weights[at] * Read(after[name], Places(*param)[at]);
      loss->loss += term;
      loss->magnitude += std::fabs(term);
      squares += term * term;
    }
  }
  loss->spread = std::sqrt(squares);
  return code;
}

int GradientChecker::RunAndSeed(const LaunchOptions& launch, LaunchReport* report, Values* values) {
  if (int code = machine_.Launch(primal_, *values, launch, report); code != kExitOk) return code;
  if (!FillCompanions(gradient_, values)) return kExitUsage;
  for (const auto& [name, weights] : weights_) {
    const Param* adjoint = Companion(gradient_, *primal_.Find(name));
    if (adjoint == nullptr) continue;
    for (uint64_t at = 0; at < weights.size(); ++at)
      Write((*values)[adjoint->name], places_[name][at], weights[at]);
  }
  return kExitOk;
}

int GradientChecker::Seeded(Values* values) {
  *values = inputs_;
  LaunchReport report;
  return RunAndSeed(settings_.launch, &report, values);
}

bool GradientChecker::HasSpecialAdjoint(const Param& param) const {
  auto adjoint = adjoints_.find(param.name);
  return adjoint != adjoints_.end() &&
         std::ranges::any_of(adjoint->second, [](double number) { return !std::isfinite(number); });
}

int GradientChecker::AdjointsAt(const Values& inputs, uint32_t workers,
                                std::map<std::string, std::vector<double>>* adjoints, bool* left) {
  Values values = inputs;
  LaunchOptions launch = left != nullptr ? MayLeave(settings_.launch) : settings_.launch;
  if (workers != 0) launch.workers = workers;
  LaunchReport report;
  int code = RunAndSeed(launch, &report, &values);
  if (left != nullptr) *left = *left || report.left;
  if (code != kExitOk) return code;
  code = machine_.Launch(gradient_, values, launch, &report);
  if (left != nullptr) *left = *left || report.left;
  if (code != kExitOk) return code;
  for (const Param& param : primal_.params) {
    const Param* adjoint = Differentiable(param) ? Companion(gradient_, param) : nullptr;
    if (adjoint == nullptr) continue;
    const ArgValue& value = values[adjoint->name];
    std::vector<double>& numbers = (*adjoints)[param.name];
    numbers.clear();
    for (const Place& place : Places(param)) numbers.push_back(Read(value, place));
  }
  return kExitOk;
}

int GradientChecker::Forward(const Param& param, const std::vector<double>& direction, double* result) {
  if (Companion(*tangent_, param) == nullptr) return kExitOk;
  return ForwardAt(inputs_, {{param.name, direction}}, result);
}

int GradientChecker::ForwardAt(const Values& inputs,
                               const std::map<std::string, std::vector<double>>& direction, double* result) {
  Values values = inputs;
  if (!FillCompanions(*tangent_, &values)) return kExitUsage;
  for (const auto& [name, numbers] : direction) {
    const Param& param = *primal_.Find(name);
    const Param* own = Companion(*tangent_, param);
    if (own == nullptr) continue;
    for (uint64_t at = 0; at < numbers.size(); ++at) Write(values[own->name], Places(param)[at], numbers[at]);
  }
  LaunchReport report;
  int code = machine_.Launch(*tangent_, values, MayLeave(settings_.launch), &report);
  if (code != kExitOk) return code;
  *result = report.left ? NAN : 0;
  for (const auto& [name, weights] : weights_) {
    const Param* tangent = Companion(*tangent_, *primal_.Find(name));
    if (tangent == nullptr) continue;
    for (uint64_t at = 0; at < weights.size(); ++at) {
      *result += weights[at] * Read(values[tangent->name], places_[name][at]);
    }
  }
  return kExitOk;
}

int GradientChecker::LossAt(const Param& param, const std::vector<double>& direction, double step,
                            LossValue* loss, double* predicted) {
  // A step is rounded to the parameter's type, so the prediction of reverse mode is taken for the step as it
  // was.
  const std::vector<double>& adjoint = adjoints_[param.name];
  Values values = inputs_;
  ArgValue& value = values[param.name];
  *predicted = 0;
  for (uint64_t at = 0; at < direction.size(); ++at) {
    const Place& place = Places(param)[at];
    double before = Read(value, place);
    if (direction[at] == 0) continue;
    Write(value, place, before + step * direction[at]);
    *predicted += adjoint[at] * (Read(value, place) - before);
  }
  return Loss(values, loss);
}

int GradientChecker::MeasureNoise(const Param& param, const std::vector<double>& direction, double* noise) {
  // Steps of a few of the type's: the loss is a straight line there, but for noise.
  double step = 8 * EpsilonOf(Coarsest(param));
  std::vector<double> residuals;
  double spread = 0;
  for (int at = -3; at <= 3; ++at) {
    LossValue loss;
    double predicted = 0;
    if (int code = LossAt(param, direction, at * step, &loss, &predicted); code != kExitOk) return code;
    residuals.push_back(loss.loss - predicted);
    spread = loss.spread;
  }
  for (double residual : residuals) {
    if (std::isfinite(residual)) continue;
    *noise = INFINITY;
    return kExitOk;
  }
  // Terms that do not move show no noise, and have that of their last digit.
  *noise = std::max(NoiseOf(residuals), EpsilonOf(Coarsest(param)) * spread);
  return kExitOk;
}

int GradientChecker::Central(const Param& param, const std::vector<double>& direction, double expected,
                             double size, double tolerance, Judgement* judgement) {
  double epsilon = EpsilonOf(Coarsest(param));
  size_t first = 0;
  std::vector<double> steps = StepLadder(epsilon, &first);
  std::vector<Difference> differences(steps.size());
  bool is_constant = true;
  auto measure = [&](size_t at) {
    double step = steps[at], predicted[2];
    LossValue losses[2];
    for (int side = 0; side < 2; ++side) {
      int code = LossAt(param, direction, side == 0 ? step : -step, &losses[side], &predicted[side]);
      if (code != kExitOk) return code;
    }
    double off = losses[0].loss - losses[1].loss - (predicted[0] - predicted[1]);
    double noise = 2 * epsilon * losses[0].magnitude / step;
    differences[at] = {step, expected + off / (2 * step), noise, noise};
    is_constant = is_constant && losses[0].loss == losses[1].loss;
    return int{kExitOk};
  };
  if (size == 0) {
    // A loss that does not depend on the parameter does not move by a bit, at the largest step either.
    if (int code = measure(0); code != kExitOk) return code;
    if (int code = measure(first); code != kExitOk) return code;
    if (is_constant) {
      *judgement = {Agreement::Agrees, {expected, 0}};
      return kExitOk;
    }
  }
  // The step with the best chance, then smaller and larger ones in turn, until some of them agree.
  size_t low = first, high = first + 1;
  auto judge = [&] {
    std::span<const Difference> known(differences.data() + low, high - low);
    *judgement = Judge(Extrapolate(known), expected, size, tolerance);
    return judgement->agreement == Agreement::Agrees;
  };
  if (int code = measure(low); code != kExitOk) return code;
  for (bool smaller = true; low > 0 || high < steps.size(); smaller = !smaller) {
    bool down = high < steps.size() && (smaller || low == 0);
    size_t next = down ? high++ : --low;
    if (int code = measure(next); code != kExitOk) return code;
    if (judge()) return kExitOk;
  }
  // The effect of rounding inside of the kernel is measured: it may be far more than that of the results, or,
  // as errors of many elements cancel, far less.
  constexpr double kDeviations = 3;
  double noise = 0;
  if (int code = MeasureNoise(param, direction, &noise); code != kExitOk) return code;
  std::vector<Difference> bounded = differences;
  for (Difference& difference : differences)
    difference.noise = difference.jitter = kDeviations * noise / difference.step;
  if (judge()) return kExitOk;
  // To call a gradient wrong takes both: the bound, where a loss that does not move at all shows no noise,
  // and no contradiction from steps that hardly jitter.
  for (size_t at = 0; at < steps.size(); ++at)
    differences[at].noise = std::max(differences[at].noise, bounded[at].noise);
  judge();
  return kExitOk;
}

uint32_t GradientChecker::Coarsest(const Param& param) const {
  uint32_t type = ADRT_TYPE_F64;
  for (const Place& place : Places(param)) type = std::min(type, place.type);
  for (const auto& [name, weights] : weights_) {
    for (const Place& place : places_.at(name)) type = std::min(type, place.type);
  }
  return type;
}

std::vector<double> GradientChecker::ScaleOf(const Param& param) const {
  const ArgValue& value = inputs_.at(param.name);
  const std::vector<double>& adjoint = adjoints_.at(param.name);
  std::vector<double> scale(Places(param).size());
  bool all_zero = true;
  for (uint64_t at = 0; at < scale.size(); ++at) {
    scale[at] = std::fabs(Read(value, Places(param)[at]));
    all_zero = all_zero && scale[at] == 0;
  }
  if (all_zero) std::fill(scale.begin(), scale.end(), 1.0);
  // One adjoint that is no number would hide all others: CompareElements looks at it.
  for (uint64_t at = 0; at < scale.size(); ++at)
    if (!std::isfinite(scale[at]) || !std::isfinite(adjoint[at])) scale[at] = 0;
  return scale;
}

Untested GradientChecker::WhyUntested(const Param& param) const {
  const std::vector<double>& adjoint = adjoints_.at(param.name);
  if (adjoint.empty()) return Untested::NoFloats;
  auto seeds = weights_.find(param.name);
  if (seeds != weights_.end() && seeds->second == adjoint) return Untested::Seed;
  bool no_number = true, all_zero = true;
  for (double number : adjoint) {
    no_number = no_number && std::isnan(number);
    all_zero = all_zero && (number == 0 || std::isnan(number));
  }
  if (no_number) return Untested::Nan;
  if (!all_zero) return Untested::No;
  return param.report.access == ADRT_ACCESS_WRITE ? Untested::Written : Untested::Zero;
}

int GradientChecker::Compare(const Param& param, CheckedGradient* row) {
  if (!adjoints_.contains(param.name)) {
    row->untested = Untested::NoAdjoint;
    return kExitOk;
  }
  const std::vector<double>& adjoint = adjoints_[param.name];
  bool is_f64 = Coarsest(param) == ADRT_TYPE_F64;
  double forward_limit = settings_.tolerance_forward > 0 ? settings_.tolerance_forward
                         : is_f64                        ? 1e-10
                                                         : 1e-3;
  double central_limit = settings_.tolerance_central > 0 ? settings_.tolerance_central : is_f64 ? 1e-6 : 2e-2;
  for (uint64_t turn = 0; turn < settings_.directions; ++turn) {
    progress_.Show(param.name + ": direction " + std::to_string(turn + 1) + " of " +
                   std::to_string(settings_.directions));
    std::vector<double> direction(adjoint.size());
    double reverse = 0, size = 0;
    std::vector<double> scale = ScaleOf(param);
    bool moves = false;
    for (uint64_t at = 0; at < direction.size(); ++at) {
      direction[at] = (2 * random_.Uniform() - 1) * scale[at];
      if (direction[at] == 0) continue;
      moves = true;
      reverse += adjoint[at] * direction[at];
      size += std::fabs(adjoint[at] * direction[at]);
    }
    if (!moves) break;  // no adjoint is a number, or there is none
    // Errors are relative to the sum without cancellation, so that a direction across the gradient is no
    // trap.
    double forward = 0, forward_error = -1;
    bool by_forward = tangent_ != nullptr && Companion(*tangent_, param) != nullptr;
    if (by_forward) {
      if (int code = Forward(param, direction, &forward); code != kExitOk) return code;
      forward_error = std::fabs(forward - reverse) / std::max({size, std::fabs(forward), 1e-300});
    }
    Judgement central;
    if (int code = Central(param, direction, reverse, size, central_limit, &central); code != kExitOk)
      return code;
    double central_size = std::max({size, std::fabs(central.estimate.slope), 1e-300});
    CheckedGradient turned = {reverse, forward, central.estimate.slope};
    turned.forward_error = forward_error;
    turned.central_error = std::fabs(central.estimate.slope - reverse) / central_size;
    turned.uncertainty = central.estimate.uncertainty / central_size;
    turned.agreement = central.agreement;
    bool forward_agrees = forward_error >= 0 && forward_error <= forward_limit;
    if (turned.agreement == Agreement::Differs && forward_agrees) {
      if (int code = LookForKink(param, direction, size, central_limit, &turned); code != kExitOk)
        return code;
    }
    if (forward_error > forward_limit || std::isnan(forward_error)) turned.agreement = Agreement::Differs;
    int rank = Rank(turned.agreement), shown = Rank(row->agreement);
    bool worse = turn == 0 || rank > shown || (rank == shown && turned.central_error > row->central_error);
    double most = std::max(forward_error, row->forward_error);
    if (worse) *row = turned;
    row->forward_error = most;
  }
  row->untested = WhyUntested(param);
  return CompareElements(param, forward_limit, row);
}

int GradientChecker::LookForKink(const Param& param, const std::vector<double>& direction, double size,
                                 double tolerance, CheckedGradient* row) {
  size_t first = 0;
  std::vector<double> steps = StepLadder(EpsilonOf(Coarsest(param)), &first);
  // The two sides of a smooth function come together as the step shrinks, those of a kink do not.
  double below[2], above[2];
  for (int turn = 0; turn < 2; ++turn) {
    double step = turn == 0 ? steps[first] : steps[first] / 4, predicted = 0;
    LossValue losses[3];
    for (int side = -1; side <= 1; ++side) {
      int code = LossAt(param, direction, side * step, &losses[side + 1], &predicted);
      if (code != kExitOk) return code;
    }
    below[turn] = (losses[1].loss - losses[0].loss) / step;
    above[turn] = (losses[2].loss - losses[1].loss) / step;
  }
  double gap = std::fabs(above[1] - below[1]);
  double most = std::max({size, std::fabs(above[1]), std::fabs(below[1])});
  bool stays = gap > 0.5 * std::fabs(above[0] - below[0]) && gap > 4 * tolerance * most;
  double low = std::min(below[1], above[1]), high = std::max(below[1], above[1]), slack = tolerance * most;
  if (!stays || row->reverse < low - slack || row->reverse > high + slack) return kExitOk;
  row->agreement = Agreement::SaysNothing;
  row->at_kink = true;
  row->slope_below = below[1];
  row->slope_above = above[1];
  return kExitOk;
}

int GradientChecker::CompareElements(const Param& param, double limit, CheckedGradient* row) {
  const std::vector<double>& adjoint = adjoints_[param.name];
  if (tangent_ == nullptr || Companion(*tangent_, param) == nullptr) return kExitOk;
  // An adjoint is a sum over outputs, which may cancel: it is right to within the rounding of its largest
  // terms, of which the largest adjoint of the parameter is a measure.
  double size = 0, worst = -1;
  std::vector<uint64_t> elements;
  for (uint64_t at = 0; at < adjoint.size(); ++at) {
    if (std::isfinite(adjoint[at])) size = std::max(size, std::fabs(adjoint[at]));
    bool strange = !std::isfinite(adjoint[at]) && elements.size() < kMostElements;
    if (adjoint.size() <= kMostElements || strange) elements.push_back(at);
  }
  for (uint64_t at : elements) {
    std::vector<double> direction(adjoint.size());
    direction[at] = 1;
    double forward = 0;
    if (int code = Forward(param, direction, &forward); code != kExitOk) return code;
    double off = std::fabs(forward - adjoint[at]);
    bool same = forward == adjoint[at] || (std::isnan(forward) && std::isnan(adjoint[at]));
    double error = same ? 0 : off / std::max({size, std::fabs(forward), 1e-300});
    bool differs = !(error <= limit);
    bool known_differs = row->element && row->element->differs;
    if (error > worst || (differs && !known_differs)) {
      worst = std::isnan(error) ? worst : error;
      row->element = {at, adjoint[at], forward, differs};
    }
  }
  if (row->element && row->element->differs) row->agreement = Agreement::Differs;
  return kExitOk;
}

int GradientChecker::Run(std::vector<std::pair<const Param*, CheckedGradient>>* rows) {
  for (const Param& param : primal_.params) {
    if (param.IsSaved()) continue;
    places_[param.name] = PlacesOf(bundle_, param, inputs_[param.name], true);
    if (!Differentiable(param) || param.IsScalar() || param.report.access == ADRT_ACCESS_READ) continue;
    std::vector<double>& weights = weights_[param.name];
    weights.resize(Places(param).size());
    // The weights are values of the parameter's type, so that seeding the adjoint rounds nothing.
    for (double& weight : weights)
      weight = static_cast<float>(std::floor(random_.Uniform() * 1024) / 512 - 1);
  }
  if (weights_.empty()) {
    PrintError("kernel '" + std::string(primal_.report.name) + "' writes no differentiable buffer");
    return kExitUsage;
  }
  if (int code = AdjointsAt(inputs_, 0, &adjoints_); code != kExitOk) return code;
  for (const Param& param : primal_.params) {
    if (!Differentiable(param)) continue;
    CheckedGradient row;
    if (int code = Compare(param, &row); code != kExitOk) return code;
    rows->emplace_back(&param, row);
  }
  progress_.Clear();
  return kExitOk;
}

bool GradientChecker::HasUntested(const std::vector<std::pair<const Param*, CheckedGradient>>& rows) const {
  return std::ranges::any_of(rows, [](const auto& row) { return MayTest(row.second); });
}

int GradientChecker::RunAgain(const Values& inputs, const std::string& point,
                              std::vector<std::pair<const Param*, CheckedGradient>>* rows) {
  inputs_ = inputs;
  bool left = false;
  if (int code = AdjointsAt(inputs_, 0, &adjoints_, &left); code != kExitOk || left) return code;
  for (auto& [param, row] : *rows) {
    if (!MayTest(row) || WhyUntested(*param) != Untested::No) continue;
    CheckedGradient here;
    if (int code = Compare(*param, &here); code != kExitOk) return code;
    // Beyond the domain of some operation nothing is compared.
    if (std::isnan(here.reverse) || std::isnan(here.forward)) continue;
    here.point = point;
    row = here;
  }
  progress_.Clear();
  return kExitOk;
}

}  // namespace adc::tool
