// `adc gradcheck`: the reverse kernel against forward mode and against central differences, parameter by
// parameter.
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

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "central_difference.h"
#include "command_line.h"
#include "commands.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "launch.h"

namespace adc::tool {

namespace {

using Values = std::map<std::string, ArgValue>;

struct Settings {
  LaunchOptions launch;
  uint64_t seed = 1;
  uint64_t directions = 4;
  double tolerance_forward = 0;  ///< 0: after the type
  double tolerance_central = 0;
};

/// Where one float of an argument lies. A companion has its floats where its primal has them.
struct Place {
  uint32_t type;
  uint64_t offset;  ///< bytes
};

double Read(const ArgValue& value, const Place& place) {
  return ReadNumber(place.type, value.bytes.data() + place.offset, 0);
}
void Write(ArgValue& value, const Place& place, double number) {
  WriteNumber(place.type, value.bytes.data() + place.offset, 0, number);
}

/// Every component of a field in every cell: the digits of all levels and axes count like one odometer.
void AddFieldPlaces(const adrt_field_report& field, std::vector<Place>* places) {
  std::vector<std::pair<int64_t, int64_t>> axes;  // extent and stride
  for (uint32_t level = 0; level < field.level_count; ++level) {
    for (uint32_t axis = 0; axis < field.axis_count[level]; ++axis) {
      axes.emplace_back(field.extents[level][axis], field.strides[level][axis]);
    }
  }
  std::vector<int64_t> digits(axes.size());
  for (const auto& [extent, stride] : axes) {
    if (extent == 0) return;
  }
  uint64_t bytes = adrt_type_size(field.type);
  for (;;) {
    uint64_t offset = field.offset;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      offset += static_cast<uint64_t>(digits[axis] * axes[axis].second);
    }
    for (uint32_t component = 0; component < field.rows * field.columns; ++component) {
      places->push_back({field.type, offset + component * bytes});
    }
    size_t axis = axes.size();
    while (axis > 0 && ++digits[axis - 1] == axes[axis - 1].first) digits[--axis] = 0;
    if (axis == 0) return;
  }
}

/// The floats of an argument; of a layout those of fields that are `diff`, or of all float fields.
std::vector<Place> PlacesOf(const adrt_bundle* bundle, const Param& param, const ArgValue& value,
                            bool diff_only) {
  std::vector<Place> places;
  if (!param.IsLayout()) {
    uint64_t bytes = adrt_type_size(param.report.type);
    for (uint64_t at = 0; param.IsFloat() && at < value.bytes.size() / bytes; ++at) {
      places.push_back({param.report.type, at * bytes});
    }
    return places;
  }
  auto layout = Sized<adrt_layout_report>();
  adrt_bundle_layout(bundle, param.report.layout, &layout, nullptr);
  for (uint32_t index = 0; index < layout.field_count; ++index) {
    auto field = Sized<adrt_field_report>();
    adrt_bundle_field(bundle, param.report.layout, index, &field, nullptr);
    bool is_float = field.type >= ADRT_TYPE_F16;
    if (is_float && (field.diff != 0 || !diff_only)) AddFieldPlaces(field, &places);
  }
  return places;
}

/// The loss, and what its terms are worth without cancellation: their sum, and the root of the sum of their
/// squares. Rounding of every term moves the loss by the first at most and by the second as a rule, times the
/// type's epsilon.
struct LossValue {
  double loss = 0, magnitude = 0, spread = 0;
};

/// The worst of the comparisons of one parameter.
struct Row {
  double reverse = 0, forward = 0, central = 0;
  double forward_error = -1, central_error = -1;  ///< relative; below 0: not compared
  double uncertainty = 0;                         ///< of `central`, relative
  /// Differs: forward mode or central differences do.
  Agreement agreement = Agreement::SaysNothing;
};

/// What is worse, and so shown: a difference, then what was compared, then what said nothing.
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

class Checker {
 public:
  Checker(const adrt_bundle* bundle, const Kernel& primal, const Kernel& gradient, const Kernel* tangent,
          const Settings& settings, Machine& machine, Values inputs)
      : bundle_(bundle),
        primal_(primal),
        gradient_(gradient),
        tangent_(tangent),
        settings_(settings),
        machine_(machine),
        inputs_(std::move(inputs)),
        random_(settings.seed) {}

  /// Compares every differentiable input. An exit code.
  int Run(std::vector<std::pair<const Param*, Row>>* rows);

 private:
  bool Differentiable(const Param& param) const {
    return param.IsLayout() ? !Places(param).empty() : param.report.diff != 0 && param.IsFloat();
  }
  const std::vector<Place>& Places(const Param& param) const { return places_.at(param.name); }
  const Param* Companion(const Kernel& kernel, const Param& param) const;
  int Loss(const Values& values, LossValue* loss);
  int Reverse();
  int Forward(const Param& param, const std::vector<double>& direction, double* result);
  /// The loss with the parameter moved by `step` times the direction, and what reverse mode predicts of the
  /// move.
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
  int Compare(const Param& param, Row* row);

  const adrt_bundle* bundle_;
  const Kernel& primal_;
  const Kernel& gradient_;
  const Kernel* tangent_;
  const Settings& settings_;
  Machine& machine_;
  Values inputs_;
  Random random_;
  std::map<std::string, std::vector<Place>> places_;  ///< by parameter: its differentiable floats
  driver::Progress progress_;
  std::map<std::string, std::vector<double>> weights_;   ///< by parameter, of what the kernel writes
  std::map<std::string, std::vector<double>> adjoints_;  ///< by parameter, after the reverse run
};

const Param* Checker::Companion(const Kernel& kernel, const Param& param) const {
  for (const Param& candidate : kernel.params) {
    bool belongs = candidate.report.primal < kernel.params.size() &&
                   kernel.params[candidate.report.primal].name == param.name;
    if (belongs) return &candidate;
  }
  return nullptr;
}

int Checker::Loss(const Values& values, LossValue* loss) {
  Values after = values;
  int code = machine_.Launch(primal_, after, settings_.launch);
  *loss = {};
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

int Checker::Reverse() {
  Values values = inputs_;
  if (int code = machine_.Launch(primal_, values, settings_.launch); code != driver::kExitOk) return code;
  if (!FillCompanions(gradient_, &values)) return driver::kExitUsage;
  for (const auto& [name, weights] : weights_) {
    const Param* adjoint = Companion(gradient_, *primal_.Find(name));
    if (adjoint == nullptr) continue;
    for (uint64_t at = 0; at < weights.size(); ++at) {
      Write(values[adjoint->name], places_[name][at], weights[at]);
    }
  }
  if (int code = machine_.Launch(gradient_, values, settings_.launch); code != driver::kExitOk) return code;
  for (const Param& param : primal_.params) {
    const Param* adjoint = Differentiable(param) ? Companion(gradient_, param) : nullptr;
    if (adjoint == nullptr) continue;
    const ArgValue& value = values[adjoint->name];
    std::vector<double>& numbers = adjoints_[param.name];
    for (const Place& place : Places(param)) numbers.push_back(Read(value, place));
  }
  return driver::kExitOk;
}

int Checker::Forward(const Param& param, const std::vector<double>& direction, double* result) {
  Values values = inputs_;
  if (!FillCompanions(*tangent_, &values)) return driver::kExitUsage;
  const Param* own = Companion(*tangent_, param);
  if (own == nullptr) return driver::kExitOk;
  for (uint64_t at = 0; at < direction.size(); ++at) {
    Write(values[own->name], Places(param)[at], direction[at]);
  }
  if (int code = machine_.Launch(*tangent_, values, settings_.launch); code != driver::kExitOk) return code;
  *result = 0;
  for (const auto& [name, weights] : weights_) {
    const Param* tangent = Companion(*tangent_, *primal_.Find(name));
    if (tangent == nullptr) continue;
    for (uint64_t at = 0; at < weights.size(); ++at) {
      *result += weights[at] * Read(values[tangent->name], places_[name][at]);
    }
  }
  return driver::kExitOk;
}

/// The distance between a value of this type near 1 and the next.
double Epsilon(uint32_t type) {
  if (type == ADRT_TYPE_F16) return 0x1p-10;
  return type == ADRT_TYPE_F32 ? 0x1p-23 : 0x1p-52;
}

int Checker::LossAt(const Param& param, const std::vector<double>& direction, double step, LossValue* loss,
                    double* predicted) {
  // A step is rounded to the parameter's type, so what reverse mode predicts is taken for the step as it was.
  const std::vector<double>& adjoint = adjoints_[param.name];
  Values values = inputs_;
  ArgValue& value = values[param.name];
  *predicted = 0;
  for (uint64_t at = 0; at < direction.size(); ++at) {
    const Place& place = Places(param)[at];
    double before = Read(value, place);
    Write(value, place, before + step * direction[at]);
    *predicted += adjoint[at] * (Read(value, place) - before);
  }
  return Loss(values, loss);
}

int Checker::MeasureNoise(const Param& param, const std::vector<double>& direction, double* noise) {
  // Steps of a few of the type's: the loss is a straight line there, but for noise.
  double step = 8 * Epsilon(Coarsest(param));
  std::vector<double> residuals;
  double spread = 0;
  for (int at = -3; at <= 3; ++at) {
    LossValue loss;
    double predicted = 0;
    if (int code = LossAt(param, direction, at * step, &loss, &predicted); code != driver::kExitOk)
      return code;
    residuals.push_back(loss.loss - predicted);
    spread = loss.spread;
  }
  // Terms that do not move show no noise, and have that of their last digit.
  *noise = std::max(NoiseOf(residuals), Epsilon(Coarsest(param)) * spread);
  return driver::kExitOk;
}

int Checker::Central(const Param& param, const std::vector<double>& direction, double expected, double size,
                     double tolerance, Judgement* judgement) {
  double epsilon = Epsilon(Coarsest(param));
  size_t first = 0;
  std::vector<double> steps = StepLadder(epsilon, &first);
  std::vector<Difference> differences(steps.size());
  bool is_constant = true;
  auto measure = [&](size_t at) {
    double step = steps[at], predicted[2];
    LossValue losses[2];
    for (int side = 0; side < 2; ++side) {
      int code = LossAt(param, direction, side == 0 ? step : -step, &losses[side], &predicted[side]);
      if (code != driver::kExitOk) return code;
    }
    double off = losses[0].loss - losses[1].loss - (predicted[0] - predicted[1]);
    double noise = 2 * epsilon * losses[0].magnitude / step;
    differences[at] = {step, expected + off / (2 * step), noise, noise};
    is_constant = is_constant && losses[0].loss == losses[1].loss;
    return int{driver::kExitOk};
  };
  if (size == 0) {
    // What does not depend on the parameter does not move by a bit, at the largest step either.
    if (int code = measure(0); code != driver::kExitOk) return code;
    if (int code = measure(first); code != driver::kExitOk) return code;
    if (is_constant) {
      *judgement = {Agreement::Agrees, {expected, 0}};
      return driver::kExitOk;
    }
  }
  // The step with the best chance, then smaller and larger ones in turn, until some of them agree.
  size_t low = first, high = first + 1;
  auto judge = [&] {
    std::span<const Difference> known(differences.data() + low, high - low);
    *judgement = Judge(Extrapolate(known), expected, size, tolerance);
    return judgement->agreement == Agreement::Agrees;
  };
  if (int code = measure(low); code != driver::kExitOk) return code;
  for (bool smaller = true; low > 0 || high < steps.size(); smaller = !smaller) {
    bool down = high < steps.size() && (smaller || low == 0);
    size_t next = down ? high++ : --low;
    if (int code = measure(next); code != driver::kExitOk) return code;
    if (judge()) return driver::kExitOk;
  }
  // What rounding inside of the kernel does is measured: it may be far more than that of what comes out, or,
  // as errors of many elements cancel, far less.
  constexpr double kDeviations = 3;
  double noise = 0;
  if (int code = MeasureNoise(param, direction, &noise); code != driver::kExitOk) return code;
  std::vector<Difference> bounded = differences;
  for (Difference& difference : differences)
    difference.noise = difference.jitter = kDeviations * noise / difference.step;
  if (judge()) return driver::kExitOk;
  // To call a gradient wrong takes both: the bound, where a loss that does not move at all shows no noise,
  // and no contradiction from steps that hardly jitter.
  for (size_t at = 0; at < steps.size(); ++at)
    differences[at].noise = std::max(differences[at].noise, bounded[at].noise);
  judge();
  return driver::kExitOk;
}

uint32_t Checker::Coarsest(const Param& param) const {
  uint32_t type = ADRT_TYPE_F64;
  for (const Place& place : Places(param)) type = std::min(type, place.type);
  for (const auto& [name, weights] : weights_) {
    for (const Place& place : places_.at(name)) type = std::min(type, place.type);
  }
  return type;
}

std::vector<double> Checker::ScaleOf(const Param& param) const {
  const ArgValue& value = inputs_.at(param.name);
  std::vector<double> scale(Places(param).size());
  bool all_zero = true;
  for (uint64_t at = 0; at < scale.size(); ++at) {
    scale[at] = std::fabs(Read(value, Places(param)[at]));
    all_zero = all_zero && scale[at] == 0;
  }
  if (all_zero) std::fill(scale.begin(), scale.end(), 1.0);
  return scale;
}

int Checker::Compare(const Param& param, Row* row) {
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
    for (uint64_t at = 0; at < direction.size(); ++at) {
      direction[at] = (2 * random_.Uniform() - 1) * scale[at];
      reverse += adjoint[at] * direction[at];
      size += std::fabs(adjoint[at] * direction[at]);
    }
    // Errors are relative to the sum without cancellation, so that a direction across the gradient is no
    // trap.
    double forward = 0, forward_error = -1;
    if (tangent_ != nullptr) {
      if (int code = Forward(param, direction, &forward); code != driver::kExitOk) return code;
      forward_error = std::fabs(forward - reverse) / std::max({size, std::fabs(forward), 1e-300});
    }
    Judgement central;
    if (int code = Central(param, direction, reverse, size, central_limit, &central); code != driver::kExitOk)
      return code;
    double central_size = std::max({size, std::fabs(central.estimate.slope), 1e-300});
    Row turned = {reverse, forward, central.estimate.slope};
    turned.forward_error = forward_error;
    turned.central_error = std::fabs(central.estimate.slope - reverse) / central_size;
    turned.uncertainty = central.estimate.uncertainty / central_size;
    turned.agreement = central.agreement;
    if (forward_error > forward_limit || std::isnan(forward_error)) turned.agreement = Agreement::Differs;
    int rank = Rank(turned.agreement), shown = Rank(row->agreement);
    bool worse = turn == 0 || rank > shown || (rank == shown && turned.central_error > row->central_error);
    double most = std::max(forward_error, row->forward_error);
    if (worse) *row = turned;
    row->forward_error = most;
  }
  return driver::kExitOk;
}

int Checker::Run(std::vector<std::pair<const Param*, Row>>* rows) {
  for (const Param& param : primal_.params) {
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
    return driver::kExitUsage;
  }
  if (int code = Reverse(); code != driver::kExitOk) return code;
  for (const Param& param : primal_.params) {
    if (!Differentiable(param)) continue;
    Row row;
    if (int code = Compare(param, &row); code != driver::kExitOk) return code;
    rows->emplace_back(&param, row);
  }
  progress_.Clear();
  return driver::kExitOk;
}

/// "1.2e-07", or "-" for a comparison that was not made.
std::string ErrorText(double error) {
  if (error < 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", error);
  return text;
}

/// Random values in [0.1, 0.9] for float parameters without one; kernels keep integers and undefined shapes
/// to the caller.
bool FillInputs(const adrt_bundle* bundle, const Kernel& kernel, uint64_t seed,
                const std::map<std::string, std::vector<int64_t>>& shapes, Values* values) {
  Random random(seed ^ 0x5DEECE66Dull);
  for (const Param& param : kernel.params) {
    if (!param.IsGiven() || values->contains(param.name)) continue;
    auto shape = shapes.find(param.name);
    bool known = param.IsBuffer() ? shape != shapes.end() || param.report.rank == 0 : param.IsScalar();
    if (!param.IsLayout() && (!known || !param.IsFloat())) continue;
    ArgValue value = ZeroValue(param, shape == shapes.end() ? std::vector<int64_t>() : shape->second);
    bool only_written = param.report.access == ADRT_ACCESS_WRITE;
    for (const Place& place : PlacesOf(bundle, param, value, false)) {
      if (!only_written) Write(value, place, 0.1 + 0.8 * random.Uniform());
    }
    values->emplace(param.name, std::move(value));
  }
  FillShapes(kernel, shapes, values);
  return FillCompanions(kernel, values);
}

int PrintRows(const adrt_bundle* bundle, const Kernel& kernel,
              const std::vector<std::pair<const Param*, Row>>& rows) {
  std::printf("gradient of @%s\n%-20s %-22s %14s %14s %14s %9s %9s\n", kernel.report.name, "parameter",
              "type", "reverse", "forward", "central", "fwd err", "cd err");
  uint32_t bad = 0, silent = 0, unknown = 0;
  double worst_forward = -1, worst_central = -1;
  for (const auto& [param, row] : rows) {
    std::string verdict;
    switch (row.agreement) {
      case Agreement::Agrees:
        verdict = "ok";
        break;
      case Agreement::Differs:
        verdict = "DIFFERS";
        ++bad;
        break;
      case Agreement::SaysNothing:
        verdict = "central differences say nothing here: uncertain by " + ErrorText(row.uncertainty);
        ++silent;
        unknown += row.forward_error < 0;
        break;
    }
    worst_forward = std::max(worst_forward, row.forward_error);
    if (row.agreement != Agreement::SaysNothing) worst_central = std::max(worst_central, row.central_error);
    char forward[32] = "-";  // where nothing was compared
    if (row.forward_error >= 0) std::snprintf(forward, sizeof forward, "%.7g", row.forward);
    std::printf("%-20s %-22s %14.7g %14s %14.7g %9s %9s  %s\n", param->name.c_str(),
                param->TypeText(bundle).c_str(), row.reverse, forward, row.central,
                ErrorText(row.forward_error).c_str(), ErrorText(row.central_error).c_str(), verdict.c_str());
  }
  std::printf("worst: forward %s, central %s\n%zu parameters, %u differ", ErrorText(worst_forward).c_str(),
              ErrorText(worst_central).c_str(), rows.size(), bad);
  if (silent > 0) std::printf(", %u where central differences say nothing", silent);
  std::printf("\n");
  std::fflush(stdout);
  if (unknown > 0) {
    PrintError("nothing was left to compare with for " + std::to_string(unknown) + " of the parameters",
               "compile with --derive=grad,jvp: forward mode has no steps");
  }
  return bad == 0 && unknown == 0 ? driver::kExitOk : driver::kExitFailed;
}

/// A number with a point: tolerances.
std::string TakeDouble(std::string_view text, double* target) {
  char* end = nullptr;
  std::string copy(text);
  *target = std::strtod(copy.c_str(), &end);
  return end == copy.c_str() + copy.size() && *target > 0 ? "" : "wants a positive number";
}

}  // namespace

int Gradcheck(const std::vector<std::string>& words, Session& session) {
  std::vector<std::string> files;
  std::string kernel_name;
  ArgTexts texts;
  Settings settings;
  OpenOptions open;
  DeviceChoice device;
  uint64_t workers = 0;
  CommandLine line(
      "adc gradcheck [options] bundle.adcb|kernel.ir",
      "Compares a kernel's gradient with forward mode (where the bundle holds k.jvp; always for an .ir\n"
      "file) and with central differences, per differentiable parameter. Float parameters without --arg\n"
      "are random in [0.1, 0.9]. Central differences are taken at several steps and extrapolated; where\n"
      "rounding leaves them less certain than the tolerance, they say nothing, and forward mode decides.\n"
      "Exit code 1 where one differs, or where nothing says that it does not.");
  line.Section("What to check");
  line.Text("--kernel", "NAME", "the kernel, not its gradient; may be left out where there is one",
            &kernel_name);
  line.List("--arg", "NAME=VALUE", "as for adc run", &texts.args);
  line.List("--shape", "NAME=N,M", "extents of a buffer without --arg", &texts.shapes);
  line.Number("--seed", "N", "of random inputs, weights and directions; default 1", &settings.seed,
              UINT64_MAX);
  line.Number("--directions", "N", "random directions per parameter; default 4", &settings.directions,
              100000);
  line.Value("--tolerance", "NUMBER", "relative, against central differences; default 1e-6 (f64), 2e-2 (f32)",
             [&](std::string_view text) { return TakeDouble(text, &settings.tolerance_central); });
  line.Value("--tolerance-forward", "NUMBER",
             "relative, against forward mode; default 1e-10 (f64), 1e-3 (f32)",
             [&](std::string_view text) { return TakeDouble(text, &settings.tolerance_forward); });
  line.Section("How");
  AddDeviceOptions(line, &device);
  line.Number("--threads", "N", "workers; default: one per processor", &workers, 4096);
  line.Number("--adstack-cap", "BYTES", "memory for stacks whose size nothing says",
              &settings.launch.adstack_cap, UINT64_MAX);
  line.List("-I", "DIR", "for an .ir file: where imports are looked for", &open.include_dirs);
  line.Example("adc gradcheck relax.ir --shape x=100 --arg n=16", "checks relax.grad");
  line.Positional("bundle", 1, 1, &files);
  switch (line.Parse(words)) {
    case CommandLine::Outcome::Done:
      return driver::kExitOk;
    case CommandLine::Outcome::Error:
      return driver::kExitUsage;
    case CommandLine::Outcome::Run:
      break;
  }
  Machine machine(session);
  settings.launch.workers = static_cast<uint32_t>(workers);
  if (int code = machine.Open(device, settings.launch.workers); code != driver::kExitOk) return code;
  open.targets = machine.device().Targets();
  open.derive_tangents = true;
  Bundle bundle;
  if (int code = machine.OpenBundle(files[0], open, &bundle); code != driver::kExitOk) return code;
  Kernel primal, gradient, tangent;
  if (int code = FindKernel(bundle.get(), kernel_name, &primal); code != driver::kExitOk) return code;
  std::string name = primal.report.name;
  bool has_gradient = false, has_tangent = false;
  for (const Kernel& kernel : AllKernels(bundle.get())) {
    has_gradient = has_gradient || kernel.report.name == name + ".grad";
    has_tangent = has_tangent || kernel.report.name == name + ".jvp";
  }
  if (!has_gradient) {
    PrintError("kernel '" + name + "' has no gradient here",
               "one is derived where a parameter is 'diff', unless --derive says otherwise");
    return driver::kExitUsage;
  }
  if (int code = FindKernel(bundle.get(), name + ".grad", &gradient); code != driver::kExitOk) return code;
  if (has_tangent) FindKernel(bundle.get(), name + ".jvp", &tangent);

  Values inputs;
  std::map<std::string, std::vector<int64_t>> shapes;
  if (!ParseArguments(bundle.get(), primal, texts, &inputs, &shapes)) return driver::kExitUsage;
  if (!FillInputs(bundle.get(), primal, settings.seed, shapes, &inputs)) return driver::kExitUsage;
  if (int code = machine.Load(bundle); code != driver::kExitOk) return code;
  Checker checker(bundle.get(), primal, gradient, has_tangent ? &tangent : nullptr, settings, machine,
                  std::move(inputs));
  std::vector<std::pair<const Param*, Row>> rows;
  if (int code = checker.Run(&rows); code != driver::kExitOk) return code;
  return machine.Finish(PrintRows(bundle.get(), primal, rows));
}

}  // namespace adc::tool
