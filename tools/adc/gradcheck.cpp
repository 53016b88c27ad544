// `adc gradcheck`: the reverse kernel against forward mode and against central differences, parameter by
// parameter (gradient_checker.h); then at other points against the interpreter (point_checker.h).

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "command_line.h"
#include "commands.h"
#include "gradient_checker.h"
#include "host/exit_code.h"
#include "host/input_kind.h"
#include "interpret.h"
#include "json_output.h"
#include "point_checker.h"
#include "print.h"
#include "trust.h"

namespace adc::tool {

namespace {

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

using Rows = std::vector<std::pair<const Param*, CheckedGradient>>;

/// Why a row tests nothing, for people; empty: it tests.
std::string UntestedText(Untested why) {
  switch (why) {
    case Untested::No:
      return "";
    case Untested::NoFloats:
      return "it has no floats";
    case Untested::NoAdjoint:
      return "the gradient has no adjoint of it";
    case Untested::Zero:
      return "every derivative is 0 at this point";
    case Untested::Nan:
      return "every derivative is NaN at this point";
    case Untested::Seed:
      return "the kernel only adds to it: its adjoint is the seed";
    case Untested::Written:
      return "the kernel only writes it: its adjoint becomes 0";
  }
  return "";
}

/// Whether forward mode alone vouches for the row.
bool IsByForward(const CheckedGradient& row) {
  return row.agreement == Agreement::SaysNothing && row.forward_error >= 0;
}

/// Whether the adjoint follows from the way in which the kernel writes the parameter.
bool IsTrivial(const CheckedGradient& row) {
  bool trivial = row.untested == Untested::Seed || row.untested == Untested::Written;
  return trivial && row.agreement != Agreement::Differs;
}

/// No difference was found where there was nothing to find.
bool IsUntested(const CheckedGradient& row) {
  return row.untested != Untested::No && row.agreement != Agreement::Differs && !IsTrivial(row);
}

/// Nothing was left to compare with.
bool IsUnknown(const CheckedGradient& row) {
  return row.agreement == Agreement::SaysNothing && row.forward_error < 0 && !IsUntested(row);
}

std::string VerdictText(const CheckedGradient& row) {
  std::string text;
  if (IsUntested(row)) return "not tested: " + UntestedText(row.untested);
  switch (row.agreement) {
    case Agreement::Agrees:
      text = "ok";
      break;
    case Agreement::Differs:
      text = "DIFFERS";
      break;
    case Agreement::SaysNothing:
      if (row.at_kink) {
        char slopes[128];
        std::snprintf(slopes, sizeof slopes,
                      "ok by forward mode: at a kink, with slopes %.7g below and %.7g above", row.slope_below,
                      row.slope_above);
        text = slopes;
        break;
      }
      text = (row.forward_error < 0 ? "not known: " : "ok by forward mode: ") +
             std::string("near a kink, or in rounding, central differences are uncertain by ") +
             ErrorText(row.uncertainty);
      break;
  }
  if (IsTrivial(row)) text += " (" + UntestedText(row.untested) + ")";
  if (!row.point.empty()) text += " (at " + row.point + ")";
  if (row.element && row.element->differs) {
    char element[96];
    std::snprintf(element, sizeof element, " at element %llu: reverse %.7g, forward %.7g",
                  static_cast<unsigned long long>(row.element->index), row.element->reverse,
                  row.element->forward);
    text += element;
  }
  return text;
}

/// An element that the order of the iterations decides.
struct OrderDependence {
  std::string parameter;
  uint64_t index = 0;
  double forward = 0, reversed = 0;
};

struct Outcome {
  uint32_t differ = 0, by_forward = 0, unknown = 0, untested = 0, tested = 0;
  double worst_forward = -1, worst_central = -1;
  explicit Outcome(const Rows& rows) {
    for (const auto& [param, row] : rows) {
      differ += row.agreement == Agreement::Differs;
      by_forward += IsByForward(row);
      unknown += IsUnknown(row);
      untested += IsUntested(row);
      tested += !IsUntested(row) && !IsTrivial(row);
      worst_forward = std::max(worst_forward, row.forward_error);
      if (row.agreement != Agreement::SaysNothing) worst_central = std::max(worst_central, row.central_error);
    }
  }
  /// Of what could have been tested nothing was.
  bool IsEmpty() const { return tested == 0 && differ == 0 && untested > 0; }
  int Code(const std::optional<OrderDependence>& order, const PointsOutcome& points) const {
    bool good = differ == 0 && unknown == 0 && !IsEmpty() && !order && points.differences.empty();
    return good ? kExitOk : kExitFailed;
  }
};

void PrintRows(const adrt_bundle* bundle, const Kernel& kernel, const Rows& rows, const Outcome& outcome) {
  Print("gradient of @%s\n%-20s %-22s %14s %14s %14s %9s %9s\n", kernel.report.name, "parameter", "type",
        "reverse", "forward", "central", "fwd err", "cd err");
  for (const auto& [param, row] : rows) {
    char forward[32] = "-";  // where nothing was compared
    if (row.forward_error >= 0) std::snprintf(forward, sizeof forward, "%.7g", row.forward);
    Print("%-20s %-22s %14.7g %14s %14.7g %9s %9s  %s\n", param->name.c_str(),
          param->TypeText(bundle).c_str(), row.reverse, forward, row.central,
          ErrorText(row.forward_error).c_str(), ErrorText(row.central_error).c_str(),
          VerdictText(row).c_str());
    if (!row.first_nan.empty()) Print("  %s\n", row.first_nan.c_str());
  }
  Print("worst: forward %s, central %s\n%zu parameters, %u differ", ErrorText(outcome.worst_forward).c_str(),
        ErrorText(outcome.worst_central).c_str(), rows.size(), outcome.differ);
  if (outcome.by_forward > 0) Print(", %u ok by forward mode alone", outcome.by_forward);
  if (outcome.unknown > 0) Print(", %u not known", outcome.unknown);
  if (outcome.untested > 0) Print(", %u not tested", outcome.untested);
  Print("\n");
}

void PrintPoints(const PointsOutcome& points) {
  if (points.points == 0) return;
  Print("%u further points, %zu differ from the interpreter's derivatives", points.points,
        points.differences.size());
  if (points.near_kink > 0) Print(", %u ok near a kink, or in rounding", points.near_kink);
  if (points.cut_short) Print(" (the interpreter takes long: --points=N for more)");
  Print("\n");
  for (const PointDifference& difference : points.differences) {
    std::string by = difference.workers == 0 ? "" : ", " + std::to_string(difference.workers) + " workers";
    Print("  %s%s: %s DIFFERS at element %llu: reverse %.7g, interpreter %.7g\n", difference.point.c_str(),
          by.c_str(), difference.parameter.c_str(), static_cast<unsigned long long>(difference.element),
          difference.reverse, difference.dual);
  }
}

/// A number of JSON, which has none for infinities; null for comparisons that were not made (`known`).
Json NumberOrNull(double number, bool known = true) {
  return known && std::isfinite(number) ? Json(number) : Json();
}

Json ToJson(const Param& param, const CheckedGradient& row, const adrt_bundle* bundle) {
  bool compared = row.forward_error >= 0;
  const char* verdict = row.agreement == Agreement::Differs  ? "differs"
                        : IsUntested(row)                    ? "not tested"
                        : row.agreement == Agreement::Agrees ? "agrees"
                        : compared                           ? "agrees with forward mode"
                                                             : "not known";
  Json object = {{"name", param.name},
                 {"type", param.TypeText(bundle)},
                 {"verdict", verdict},
                 {"reverse", NumberOrNull(row.reverse)},
                 {"forward", NumberOrNull(row.forward, compared)},
                 {"central", NumberOrNull(row.central)},
                 {"forward_error", NumberOrNull(row.forward_error, compared)},
                 {"central_error", NumberOrNull(row.central_error, row.central_error >= 0)},
                 {"central_uncertainty", NumberOrNull(row.uncertainty)},
                 {"at_kink", row.at_kink},
                 {"accumulates_only", row.untested == Untested::Seed && IsTrivial(row)},
                 {"not_tested", IsUntested(row) ? Json(UntestedText(row.untested)) : Json()},
                 {"point", row.point.empty() ? Json() : Json(row.point)},
                 {"first_nan", row.first_nan.empty() ? Json() : Json(row.first_nan)},
                 {"element", nullptr}};
  if (row.element) {
    object["element"] = {{"index", row.element->index},
                         {"reverse", NumberOrNull(row.element->reverse)},
                         {"forward", NumberOrNull(row.element->forward)}};
  }
  return object;
}

Json ToJson(const PointsOutcome& points) {
  Json differ = Json::array();
  for (const PointDifference& difference : points.differences) {
    differ.push_back({{"point", difference.point},
                      {"name", difference.parameter},
                      {"index", difference.element},
                      {"workers", difference.workers},
                      {"reverse", NumberOrNull(difference.reverse)},
                      {"interpreter", NumberOrNull(difference.dual)}});
  }
  return {{"compared", points.points},
          {"near_kink", points.near_kink},
          {"left_out", points.left_out},
          {"cut_short", points.cut_short},
          {"differ", std::move(differ)}};
}

void PrintResult(const adrt_bundle* bundle, const Kernel& kernel, const Rows& rows, const Outcome& outcome,
                 const std::optional<OrderDependence>& order, const PointsOutcome& points,
                 const std::string& fp) {
  Json parameters = Json::array();
  for (const auto& [param, row] : rows) parameters.push_back(ToJson(*param, row, bundle));
  Json object = {{"kernel", kernel.report.name}, {"parameters", std::move(parameters)}, {"order", nullptr}};
  if (order) {
    object["order"] = {{"name", order->parameter},
                       {"index", order->index},
                       {"first_to_last", NumberOrNull(order->forward)},
                       {"last_to_first", NumberOrNull(order->reversed)}};
  }
  object.update({{"differ", outcome.differ},
                 {"not_known", outcome.unknown},
                 {"tested", outcome.tested},
                 {"fp", fp},
                 {"points", ToJson(points)}});
  PrintJson(object);
}

/// Runs the kernel in the interpreter with the iterations of its parallel loops in two orders: a float that
/// is another one then, beyond what rounding of sums explains, is decided by a race. Nothing is said of what
/// the interpreter does not take, or takes too long for.
std::optional<OrderDependence> FindOrderDependence(const std::string& path, const OpenOptions& open,
                                                   const adrt_bundle* bundle, const Kernel& kernel,
                                                   const Values& inputs) {
  constexpr uint64_t kBudget = 20'000'000;
  Values forward = inputs, reversed = inputs;
  bool good = InterpretSource(path, open, kernel, forward, {false, kBudget, true}) == kExitOk &&
              InterpretSource(path, open, kernel, reversed, {true, kBudget, true}) == kExitOk;
  if (!good) return std::nullopt;
  for (const Param& param : kernel.params) {
    if (param.IsScalar() || !inputs.contains(param.name) || param.report.access == ADRT_ACCESS_READ) continue;
    std::vector<Place> places = PlacesOf(bundle, param, inputs.at(param.name), true);
    double most = 0;
    for (const Place& place : places) {
      double number = std::fabs(Read(forward[param.name], place));
      if (std::isfinite(number)) most = std::max(most, number);
    }
    for (uint64_t at = 0; at < places.size(); ++at) {
      double a = Read(forward[param.name], places[at]), b = Read(reversed[param.name], places[at]);
      double limit = places[at].type == ADRT_TYPE_F64 ? 1e-9 : places[at].type == ADRT_TYPE_F32 ? 1e-3 : 5e-2;
      bool same = a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= limit * most;
      if (!same) return OrderDependence{param.name, at, a, b};
    }
  }
  return std::nullopt;
}

int Report(const adrt_bundle* bundle, const Kernel& kernel, const Rows& rows,
           const std::optional<OrderDependence>& order, const PointsOutcome& points, const std::string& fp,
           bool json) {
  Outcome outcome(rows);
  if (json) {
    PrintResult(bundle, kernel, rows, outcome, order, points, fp);
  } else {
    PrintRows(bundle, kernel, rows, outcome);
    PrintPoints(points);
  }
  std::fflush(stdout);
  if (order && !json) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "element %llu of '%s' is %.9g, and %.9g with the iterations in reverse order",
                  static_cast<unsigned long long>(order->index), order->parameter.c_str(), order->forward,
                  order->reversed);
    PrintError("the kernel's result depends on the order of its iterations: " + std::string(text),
               "iterations of one parallel loop run in any order: let each write elements of its own, or use "
               "atomics (--any-order accepts that)");
  }
  if (outcome.unknown > 0 && !json) {
    PrintError(
        "nothing was left to compare with for " + std::to_string(outcome.unknown) + " of the parameters",
        "compile with --derive=grad,jvp: forward mode has no steps");
  }
  if (outcome.IsEmpty() && !json) {
    std::string why;
    for (const auto& [param, row] : rows)
      if (why.empty() && IsUntested(row)) why = UntestedText(row.untested);
    PrintError("nothing was tested: " + why,
               "give --arg values at which the derivative is a number other than 0");
  }
  return outcome.Code(order, points);
}

/// The number of further points where the caller gives none.
constexpr uint64_t kDefaultPoints = 20;

/// A number with a point: tolerances.
std::string TakeDouble(std::string_view text, double* target) {
  char* end = nullptr;
  std::string copy(text);
  *target = std::strtod(copy.c_str(), &end);
  return end == copy.c_str() + copy.size() && *target > 0 && std::isfinite(*target)
             ? ""
             : "expects a positive number";
}

/// The work of one run of the command.
struct Request {
  std::string file, kernel;
  std::string source;  ///< the text that the interpreter runs; empty: none
  ArgTexts texts;
  CheckSettings settings;
  OpenOptions open;
  DeviceChoice device;
  bool json = false, any_order = false;
  uint64_t points = kDefaultPoints;
  bool points_given = false;
};

/// Steps of the interpreter for further points.
uint64_t BudgetOf(const Request& request) {
  constexpr uint64_t kBudget = 20'000'000;
  return request.points_given ? 50 * kBudget : kBudget;
}

/// Other points for parameters that were not tested at the drawn one; then the drawn point, and on the CPU
/// (or where they are asked for) others, against the interpreter.
int CheckPoints(const Request& request, const adrt_bundle* bundle, const Kernel& primal, DualKernel& dual,
                const Machine& machine, const Values& inputs, GradientChecker& checker, Rows* rows,
                PointsOutcome* outcome) {
  const CheckSettings& settings = request.settings;
  if (request.points == 0 || request.source.empty() || request.any_order) return kExitOk;
  // A bound of the memory that the user has set may not hold elsewhere.
  bool bounded = settings.launch.adstack_cap != 0;
  PointChecker points(bundle, primal, checker, dual, BudgetOf(request), settings.tolerance_forward,
                      settings.seed);
  if (int code = bounded ? kExitOk : points.TestElsewhere(inputs, settings.seed, rows); code != kExitOk)
    return code;
  bool elsewhere = request.points_given || (machine.device().IsCpu() && !bounded);
  std::vector<uint32_t> workers = {0};
  if (settings.launch.workers == 0 && machine.device().IsCpu()) workers = {0, 1, 3};
  return points.Run(inputs, settings.seed, elsewhere ? request.points : 0, workers, outcome);
}

/// Without an interpreter that says where a kernel can run: floats that were not given are drawn again.
int DrawAgain(const Request& request, const adrt_bundle* bundle, const Kernel& primal,
              GradientChecker& checker, Rows* rows) {
  uint64_t most_tries = request.points == 0 ? 0 : 3;
  for (uint64_t turn = 1; turn <= most_tries && checker.HasUntested(*rows); ++turn) {
    Values inputs;
    std::map<std::string, std::vector<int64_t>> shapes;
    bool good = ParseArguments(bundle, primal, request.texts, &inputs, &shapes) &&
                FillInputs(bundle, primal, request.settings.seed + turn, shapes, &inputs);
    if (!good) return kExitUsage;
    int code = checker.RunAgain(inputs, "draw " + std::to_string(turn + 1), rows);
    if (code != kExitOk) return code;
  }
  return kExitOk;
}

/// Says of the rows whose adjoint or loss is no number which operation of the text makes the first one that
/// is none. An exit code.
int NameFirstNans(const Request& request, const OpenOptions& open, const Kernel& primal,
                  const Kernel& gradient, const Values& inputs, GradientChecker& checker, Rows* rows) {
  if (request.source.empty()) return kExitOk;
  uint64_t budget = BudgetOf(request) / 8;
  std::vector<CheckedGradient*> of_adjoints, of_losses;
  std::vector<std::string> adjoints;
  for (auto& [param, row] : *rows) {
    if (checker.HasSpecialAdjoint(*param)) {
      of_adjoints.push_back(&row);
      adjoints.push_back(checker.AdjointOf(*param)->name);
    } else if (!std::isfinite(row.central)) {
      of_losses.push_back(&row);
    }
  }
  if (!of_losses.empty()) {
    std::string text = FirstNanTexts(request.source, open, primal, {""}, inputs, budget)[0];
    for (CheckedGradient* row : of_losses) row->first_nan = text;
  }
  if (adjoints.empty()) return kExitOk;
  Values seeded;
  if (int code = checker.Seeded(&seeded); code != kExitOk) return code;
  std::vector<std::string> texts = FirstNanTexts(request.source, open, gradient, adjoints, seeded, budget);
  for (size_t n = 0; n < texts.size(); ++n) of_adjoints[n]->first_nan = texts[n];
  return kExitOk;
}

/// The whole check, with the kernel compiled as `request.open` says.
int CheckOnce(const Request& request, Session& session) {
  const CheckSettings& settings = request.settings;
  Machine machine(session);
  if (int code = machine.Open(request.device, settings.launch.workers); code != kExitOk) return code;
  OpenOptions open = request.open;
  open.targets = machine.device().Targets();
  open.derive_tangents = open.tangent_where_named = true;
  Bundle bundle;
  if (int code = machine.OpenBundle(request.file, open, &bundle); code != kExitOk) return code;
  Kernel primal, gradient, tangent;
  if (int code = FindKernel(bundle.get(), request.kernel, &primal); code != kExitOk) return code;
  std::string name = primal.report.name;
  bool has_gradient = false, has_tangent = false;
  for (const Kernel& kernel : AllKernels(bundle.get())) {
    has_gradient = has_gradient || kernel.report.name == name + ".grad";
    has_tangent = has_tangent || kernel.report.name == name + ".jvp";
  }
  if (!has_gradient) {
    PrintError(
        "kernel '" + name + "' has no gradient here",
        "one is derived where a parameter is 'diff' (adc::diff<...> in C++; '// adc: diff' or --diff=NAME "
        "in a shader), unless --derive says otherwise");
    return kExitUsage;
  }
  if (int code = FindKernel(bundle.get(), name + ".grad", &gradient); code != kExitOk) return code;
  if (has_tangent) FindKernel(bundle.get(), name + ".jvp", &tangent);

  if (!request.source.empty() && request.source != request.file) {
    int code = CheckSource(request.source, open, bundle.get(), primal);
    if (code != kExitOk) return code;
  }
  DualKernel dual;
  if (!request.source.empty()) {
    if (!dual.Open(request.source, open, name, BudgetOf(request) / 8)) {
      PrintError("the interpreter cannot read '" + request.source + "' again");
      return kExitFailed;
    }
    for (auto& [param, words] : dual.IntegerWords())
      for (Param& known : primal.params)
        if (known.name == param) known.integer_words = words;
  }
  Values inputs;
  std::map<std::string, std::vector<int64_t>> shapes;
  if (!ParseArguments(bundle.get(), primal, request.texts, &inputs, &shapes)) return kExitUsage;
  if (!FillInputs(bundle.get(), primal, settings.seed, shapes, &inputs)) return kExitUsage;
  if (int code = machine.Load(bundle); code != kExitOk) return code;
  std::optional<OrderDependence> order;
  if (!request.any_order && !request.source.empty())
    order = FindOrderDependence(request.source, open, bundle.get(), primal, inputs);
  GradientChecker checker(bundle.get(), primal, gradient, has_tangent ? &tangent : nullptr, settings, machine,
                          inputs);
  Rows rows;
  if (int code = checker.Run(&rows); code != kExitOk) return code;
  int code = NameFirstNans(request, open, primal, gradient, inputs, checker, &rows);
  if (code != kExitOk) return code;
  PointsOutcome points;
  code = CheckPoints(request, bundle.get(), primal, dual, machine, inputs, checker, &rows, &points);
  if (code != kExitOk) return code;
  if (code = DrawAgain(request, bundle.get(), primal, checker, &rows); code != kExitOk) return code;
  std::string fp = open.float_mode.empty() ? "contract" : open.float_mode;
  return machine.Finish(Report(bundle.get(), primal, rows, order, points, fp, request.json));
}

/// The number of --points.
std::string TakePoints(std::string_view text, Request* request) {
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), request->points);
  request->points_given = true;
  return failure == std::errc() && end == text.data() + text.size() ? "" : "expects a number";
}

/// The part of a request that cannot take place; empty: none.
std::string Contradiction(const Request& request) {
  bool points = request.points_given && request.points != 0;
  if (points && request.source.empty())
    return "--points of a bundle requires --source=FILE, the text for the interpreter";
  bool source = !request.source.empty() && request.source != request.file;
  if (request.any_order && (points || source))
    return std::string("--any-order compares nothing with the interpreter: remove it or ") +
           (points ? "--points" : "--source");
  return {};
}

/// "strict,fast"
std::string TakeModes(std::string_view text, std::vector<std::string>* modes) {
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string mode(text.substr(begin, end - begin));
    if (mode != "strict" && mode != "contract" && mode != "fast") return "takes strict, contract and fast";
    modes->push_back(std::move(mode));
    begin = end + 1;
  }
  return "";
}

}  // namespace

int Gradcheck(const std::vector<std::string>& words, Session& session) {
  std::vector<std::string> files;
  Request request;
  CheckSettings& settings = request.settings;
  OpenOptions& open = request.open;
  std::vector<std::string> modes;
  CommandLine line(
      "adc gradcheck [options] bundle.adcb|kernel.ir",
      "Compares a kernel's gradient with forward mode (where the bundle holds k.jvp; for an .ir file\n"
      "unless a function names a vjp and no jvp) and with central differences, per differentiable\n"
      "parameter. Float parameters without --arg are random in [0.1, 0.9]. Central differences are taken\n"
      "at several steps and extrapolated; where a kink or rounding leaves them less certain than the\n"
      "tolerance, forward mode decides. Parameters of up to 16 floats are compared element by element.\n"
      "The kernel of an .ir file is also run in the interpreter with its iterations first to last and\n"
      "last to first: results that differ show a race. Its gradient is compared with the interpreter's\n"
      "derivatives, on a CPU at further points too: with other numbers of workers; floats drawn again,\n"
      "zero, equal, of both signs, very large, very small; integers 0, 1, 2, 3 (they may count) and equal\n"
      "(they may be indices). Points at which an access is out of range, or iterations race, are left out.\n"
      "A parameter whose derivative is 0 at the drawn point is compared at others too. Exit code 1 where\n"
      "one differs, where no comparison can be made, or where nothing is tested.");
  line.Section("What to check");
  line.Text("--kernel", "NAME", "the kernel, not its gradient; may be left out where there is one",
            &request.kernel);
  line.List("--arg", "NAME=VALUE", "as for adc run", &request.texts.args);
  line.List("--shape", "NAME=N,M", "extents of a buffer without --arg", &request.texts.shapes);
  line.Number("--seed", "N", "of random inputs, weights and directions; default 1", &settings.seed,
              UINT64_MAX);
  line.Number("--directions", "N", "random directions per parameter; default 4", &settings.directions,
              100000);
  line.Value("--tolerance", "NUMBER", "relative, against central differences; default 1e-6 (f64), 2e-2 (f32)",
             [&](std::string_view text) { return TakeDouble(text, &settings.tolerance_central); });
  line.Value("--tolerance-forward", "NUMBER",
             "relative, against forward mode; default 1e-10 (f64), 1e-3 (f32)",
             [&](std::string_view text) { return TakeDouble(text, &settings.tolerance_forward); });
  line.Text("--source", "FILE", "of a bundle: the .ir file that it was compiled from, for the interpreter",
            &request.source);
  line.Value("--points", "N",
             "at most so many further points are compared with the interpreter's derivatives; 0: none.\n"
             "Default: 20 on a CPU, as far as 20 million steps of the interpreter go; elsewhere the random "
             "point alone",
             [&](std::string_view text) { return TakePoints(text, &request); });
  line.Value("--fp", "MODE,...",
             "for an .ir file: check what strict, contract or fast compiles to, in turn;\n"
             "default contract",
             [&](std::string_view text) { return TakeModes(text, &modes); });
  line.WantsSource("--fp", "a bundle has the mode that it was compiled with: adc --fp=MODE kernel.ir");
  line.Flag("--any-order",
            "do not check whether results depend on the order of iterations, and compare nothing with the\n"
            "interpreter",
            &request.any_order);
  line.Flag(
      "--json",
      "print one JSON object: \"kernel\"; \"parameters\", a list of objects with \"name\", \"type\",\n"
      "\"verdict\" (agrees, agrees with forward mode, not known, not tested, differs), \"reverse\",\n"
      "\"forward\", \"central\" (of the worst direction), \"forward_error\", \"central_error\",\n"
      "\"central_uncertainty\" (relative), \"at_kink\", \"accumulates_only\", \"not_tested\" (why),\n"
      "\"point\" (where it is not the drawn one), \"first_nan\" (which operation makes it, or an infinity)\n"
      "and \"element\" (index, reverse, forward of the worst one);\n"
      "\"order\" (name, index, first_to_last, last_to_first of a float that a race decides, or null);\n"
      "\"differ\", \"not_known\" and \"tested\" (counts); \"fp\"; \"points\" (compared, near_kink,\n"
      "left_out, cut_short, and in differ what differs: point, name, index, workers, reverse,\n"
      "interpreter). What is not known is null. With several modes of --fp an object for each",
      &request.json);
  line.Section("How");
  AddTrustOptions(line, &open.trust);
  AddDeviceOptions(line, &request.device);
  line.Number("--threads", "N", "workers; default: one per processor", &settings.launch.workers, 4096);
  line.Number("--adstack-cap", "BYTES", "memory for stacks whose size no expression gives",
              &settings.launch.adstack_cap, UINT64_MAX);
  open.SourceOptions::AddTo(line);
  BoundsOption bounds;
  bounds.AddTo(line);
  AddSimdOption(line, &open.simd);
  line.SourceFlag("--save-overwritten", "save what the gradient reads of buffers that are written",
                  &open.save_overwritten);
  line.Example("adc gradcheck relax.ir --shape x=100 --arg n=16", "checks relax.grad");
  line.Positional("bundle", 1, 1, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  if (int code = bounds.Take(&open); code != kExitOk) return code;
  request.file = files[0];
  request.device.confined = open.trust.confined;
  if (request.source.empty() && IsSourceFile(request.file)) request.source = request.file;
  if (std::string wrong = Contradiction(request); !wrong.empty()) {
    PrintError(wrong);
    return kExitUsage;
  }
  if (modes.size() < 2) {
    if (!modes.empty()) open.float_mode = modes[0];
    return CheckOnce(request, session);
  }
  int worst = kExitOk;
  for (const std::string& mode : modes) {
    open.float_mode = mode;
    if (!request.json) Print("--fp=%s: ", mode.c_str());
    int code = CheckOnce(request, session);
    if (code != kExitOk && code != kExitFailed) return code;
    worst = std::max(worst, code);
  }
  return worst;
}

}  // namespace adc::tool
