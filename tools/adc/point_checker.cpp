#include "point_checker.h"

#include <algorithm>
#include <cmath>

#include "host/exit_code.h"

namespace adc::tool {

namespace {

/// Elements that are looked at one by one where a direction differs.
constexpr uint64_t kMostElements = 48;
constexpr int kJitters = 24;
/// Other points for parameters that were not tested.
constexpr int kMostTries = 6;
/// Samples between two draws, those of the intervals between them that are looked into, and points around
/// each edge that is found.
constexpr int kSamples = 8;
constexpr size_t kMostEdges = 3;
constexpr int kAroundEdge = 24;
/// Halvings of an interval, and those after which a jump is told from a slope.
constexpr int kHalvings = 60, kHalvingsOfSlope = 12;

/// The interpreter's place of the derivative of a float.
size_t EntryOf(const Param& param, const Place& place) {
  return param.IsLayout() ? place.offset / 2 : place.offset / adrt_type_size(place.type);
}

/// Whether a number of `type` can be this one: neither beyond its range nor lost below it.
bool Fits(uint32_t type, double number) {
  double size = std::fabs(number);
  if (type == ADRT_TYPE_F16) return size < 65504 && (size == 0 || size > 1e-4);
  if (type == ADRT_TYPE_F32) return size < 3e38 && (size == 0 || size > 1e-37);
  return std::isfinite(number) && (size == 0 || size > 1e-300);
}

bool Same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

double PointChecker::Tolerance(const Param& param) const {
  if (tolerance_ > 0) return tolerance_;
  double limit = 1e-6;
  auto look = [&](const Param& one) {
    for (const Place& place : checker_.Places(one))
      limit = std::max(limit, place.type == ADRT_TYPE_F16 ? 5e-2 : place.type == ADRT_TYPE_F32 ? 1e-2 : 0);
  };
  look(param);
  for (const auto& [name, weights] : checker_.weights()) look(*primal_.Find(name));
  return limit;
}

std::optional<double> PointChecker::Dual(const Values& inputs, const Numbers& direction, bool reversed,
                                         Values* after) {
  Values values = inputs;
  Numbers tangents;
  for (const auto& [name, numbers] : direction) {
    const Param& param = *primal_.Find(name);
    const std::vector<Place>& places = checker_.Places(param);
    std::vector<double>& entries = tangents[name];
    for (uint64_t at = 0; at < numbers.size(); ++at) {
      size_t entry = EntryOf(param, places[at]);
      if (entries.size() <= entry) entries.resize(entry + 1);
      entries[entry] = numbers[at];
    }
  }
  bool good = dual_.Run(values, tangents, reversed);
  spent_ += dual_.Steps();
  if (!good) return std::nullopt;
  double sum = 0;
  for (const auto& [name, weights] : checker_.weights()) {
    const Param& param = *primal_.Find(name);
    for (uint64_t at = 0; at < weights.size(); ++at)
      sum += weights[at] * tangents[name][EntryOf(param, checker_.Places(param)[at])];
  }
  if (after != nullptr) *after = std::move(values);
  return sum;
}

PointChecker::Numbers PointChecker::Along(const Element& element) const {
  Numbers direction;
  std::vector<double>& numbers = direction[element.param->name];
  numbers.resize(checker_.Places(*element.param).size());
  numbers[element.index] = 1;
  return direction;
}

PointChecker::Numbers PointChecker::Draw(const Values& inputs) {
  Numbers direction;
  for (const Param& param : primal_.params) {
    if (!inputs.contains(param.name) || !checker_.Differentiable(param)) continue;
    for (size_t at = 0; at < checker_.Places(param).size(); ++at)
      direction[param.name].push_back(2 * random_.Uniform() - 1);
  }
  return direction;
}

bool PointChecker::CanRun(const EdgePoint& point) {
  if (point.moves_indices && dual_.Promises()) return false;
  Numbers direction = Draw(point.inputs);
  Values after[2];
  std::optional<double> sums[2];
  for (int way = 0; way < (point.moves_indices ? 2 : 1); ++way) {
    sums[way] = Dual(point.inputs, direction, way == 1, &after[way]);
    if (!sums[way]) return false;
  }
  if (!point.moves_indices) return true;
  // Sums come out differently rounded; anything beyond that is a race.
  if (!Same(*sums[0], *sums[1]) && !(std::fabs(*sums[0] - *sums[1]) <= 1e-4 * std::fabs(*sums[0])))
    return false;
  for (const Param& param : primal_.params) {
    if (param.IsScalar() || param.report.access == ADRT_ACCESS_READ || !after[0].contains(param.name))
      continue;
    double most = 0;
    std::vector<Place> places = PlacesOf(bundle_, param, after[0][param.name], false);
    for (const Place& place : places) {
      double number = std::fabs(Read(after[0][param.name], place));
      if (std::isfinite(number)) most = std::max(most, number);
    }
    for (const Place& place : places) {
      double a = Read(after[0][param.name], place), b = Read(after[1][param.name], place);
      if (!Same(a, b) && !(std::fabs(a - b) <= 1e-3 * most)) return false;
    }
  }
  return true;
}

bool PointChecker::IsNearby(const Values& inputs, const Numbers& direction, const Element* alone,
                            double reverse, double dual, double limit) {
  double low = dual, high = dual;
  for (int turn = 0; turn < kJitters; ++turn) {
    Values moved = inputs;
    if (alone != nullptr && turn < 2) {
      const Place& place = checker_.Places(*alone->param)[alone->index];
      ArgValue& value = moved[alone->param->name];
      double now = Read(value, place), size = 8 * EpsilonOf(place.type) * (now == 0 ? 1 : std::fabs(now));
      Write(value, place, turn == 0 ? now + size : now - size);
    } else {
      moved = Jittered(bundle_, primal_, inputs, random_);
    }
    std::optional<double> slope = Dual(moved, direction, false, nullptr);
    if (!slope || !std::isfinite(*slope)) return true;  // the edge of the domain
    low = std::min(low, *slope);
    high = std::max(high, *slope);
  }
  // No number at all is right where the derivative jumps (a norm at zero), and nowhere else.
  if (!std::isfinite(reverse)) return high - low > limit;
  // Rounding is drawn, so that its bounds are not met; a kink has two slopes, and half of one more is no
  // third.
  double slack = 0.4 * (high - low) + limit;
  return reverse >= low - slack && reverse <= high + slack;
}

bool PointChecker::SumIsNearby(const Values& inputs, const Numbers& adjoints, double tolerance) {
  Numbers ones;
  double reverse = 0, size = 0;
  for (const auto& [name, numbers] : adjoints) {
    ones[name].assign(numbers.size(), 1);
    for (double number : numbers) {
      reverse += number;
      size += std::fabs(number);
    }
  }
  std::optional<double> dual = Dual(inputs, ones, false, nullptr);
  if (!dual || !std::isfinite(*dual) || !std::isfinite(reverse)) return true;
  double limit = tolerance * std::max(size, std::fabs(*dual));
  return std::fabs(reverse - *dual) <= limit || IsNearby(inputs, ones, nullptr, reverse, *dual, limit);
}

double PointChecker::MagnitudeOf(const Values& after) const {
  double sum = 0;
  for (const auto& [name, weights] : checker_.weights()) {
    const std::vector<Place>& places = checker_.Places(*primal_.Find(name));
    for (uint64_t at = 0; at < weights.size(); ++at) {
      double term = std::fabs(weights[at] * Read(after.at(name), places[at]));
      if (std::isfinite(term)) sum += term;
    }
  }
  return sum;
}

int PointChecker::Compare(const EdgePoint& point, uint32_t workers,
                          std::optional<PointDifference>* difference, bool* kink) {
  const Values& inputs = point.inputs;
  // Compiled code runs where the interpreter has found every access in range.
  Numbers adjoints, direction = Draw(inputs);
  Values after;
  std::optional<double> dual = Dual(inputs, direction, false, &after);
  if (!dual) return kExitOk;
  bool left = false;
  if (int code = checker_.AdjointsAt(inputs, workers, &adjoints, &left); code != kExitOk || left) return code;
  double reverse = 0, size = 0, tolerance = 0;
  for (const auto& [param, numbers] : direction) {
    tolerance = std::max(tolerance, Tolerance(*primal_.Find(param)));
    for (size_t at = 0; at < numbers.size(); ++at) {
      double term = adjoints[param][at] * numbers[at];
      reverse += term;
      size += std::fabs(term);
    }
  }
  if (std::isfinite(reverse) && std::fabs(*dual - reverse) <= tolerance * std::max(size, std::fabs(*dual)))
    return kExitOk;
  // No numbers first: they are what most likely differs.
  std::vector<Element> elements;
  for (const auto& [param, numbers] : adjoints) {
    for (uint64_t at = 0; at < numbers.size(); ++at)
      if (!std::isfinite(numbers[at])) elements.push_back({primal_.Find(param), at});
  }
  size_t strange = std::min<size_t>(elements.size(), kMostElements / 2);
  elements.resize(strange);
  for (const auto& [param, numbers] : adjoints) {
    uint64_t stride = 1 + numbers.size() / (kMostElements / 2);
    for (uint64_t at = 0; at < numbers.size(); at += stride)
      if (std::isfinite(numbers[at])) elements.push_back({primal_.Find(param), at});
  }
  double magnitude = MagnitudeOf(after);
  for (const Element& element : elements) {
    if (spent_ > 2 * budget_) break;
    Numbers along = Along(element);
    std::optional<double> of_element = Dual(inputs, along, false, nullptr);
    double adjoint = adjoints[element.param->name][element.index];
    uint32_t type = checker_.Places(*element.param)[element.index].type;
    if (!of_element || !Fits(type, *of_element)) continue;
    // On the way to a small product of large factors, or of small ones, an infinity is no mistake.
    if (point.is_extreme && !std::isfinite(adjoint)) continue;
    double most = std::fabs(*of_element);
    for (double number : adjoints[element.param->name])
      if (std::isfinite(number)) most = std::max(most, std::fabs(number));
    // A derivative that is what is left of large terms (that of a direction, along it) has their rounding:
    // terms of the loss over the input.
    const Place& place = checker_.Places(*element.param)[element.index];
    double input = std::fabs(Read(inputs.at(element.param->name), place));
    double rounding = input > 0 ? 64 * EpsilonOf(type) * magnitude / input : 0;
    double limit = std::max(Tolerance(*element.param) * most, rounding);
    if (std::fabs(adjoint - *of_element) <= limit) continue;
    if ((point.is_tied || point.is_extreme) && dual_.TakesExtrema()) {
      *kink = true;
      continue;
    }
    if (IsNearby(inputs, along, &element, adjoint, *of_element, limit)) {
      if (*kink) continue;
      *kink = true;
      if (SumIsNearby(inputs, adjoints, tolerance)) continue;
    }
    *difference =
        PointDifference{point.name, element.param->name, element.index, adjoint, *of_element, workers};
    return kExitOk;
  }
  return kExitOk;
}

std::vector<std::pair<Values, Values>> PointChecker::JumpsBetween(const Values& from, const Values& to) {
  Numbers direction = Draw(from);
  auto slope_at = [&](double at) {
    std::optional<double> slope = Dual(Between(bundle_, primal_, from, to, at), direction, false, nullptr);
    return slope && std::isfinite(*slope) ? slope : std::nullopt;
  };
  struct Interval {
    double low, high, at_low, at_high;
    double Change() const { return std::fabs(at_high - at_low); }
  };
  std::vector<Interval> intervals;
  double most = 0;
  std::optional<double> before;
  for (int n = 0; n <= kSamples && spent_ <= budget_; ++n) {
    std::optional<double> slope = slope_at(double(n) / kSamples);
    if (slope) most = std::max(most, std::fabs(*slope));
    if (slope && before) intervals.push_back({(n - 1.0) / kSamples, double(n) / kSamples, *before, *slope});
    before = slope;
  }
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.Change() > b.Change(); });
  std::vector<std::pair<Values, Values>> jumps;
  for (Interval& interval : intervals) {
    if (jumps.size() == kMostEdges || spent_ > budget_) break;
    double first = interval.Change();
    bool jumps_here = first > 1e-6 * most;
    for (int n = 0; n < kHalvings && jumps_here && spent_ <= budget_; ++n) {
      double middle = (interval.low + interval.high) / 2;
      if (middle == interval.low || middle == interval.high) break;
      std::optional<double> slope = slope_at(middle);
      if (!slope) break;
      bool left = std::fabs(*slope - interval.at_low) >= std::fabs(interval.at_high - *slope);
      (left ? interval.high : interval.low) = middle;
      (left ? interval.at_high : interval.at_low) = *slope;
      if (n == kHalvingsOfSlope) jumps_here = interval.Change() > 1e-2 * first;
    }
    if (!jumps_here || interval.Change() <= 1e-6 * most) continue;
    jumps.emplace_back(Between(bundle_, primal_, from, to, interval.low),
                       Between(bundle_, primal_, from, to, interval.high));
  }
  return jumps;
}

int PointChecker::CompareOnEdge(const Values& inputs, std::optional<PointDifference>* difference) {
  Numbers adjoints, direction = Draw(inputs);
  std::optional<double> dual = Dual(inputs, direction, false, nullptr);
  if (!dual) return kExitOk;
  bool left = false;
  if (int code = checker_.AdjointsAt(inputs, 0, &adjoints, &left); code != kExitOk || left) return code;
  double forward = 0, reverse = 0, size = 0, tolerance = 0;
  if (int code = checker_.ForwardAt(inputs, direction, &forward); code != kExitOk) return code;
  for (const auto& [name, numbers] : direction) {
    tolerance = std::max(tolerance, Tolerance(*primal_.Find(name)));
    for (size_t at = 0; at < numbers.size(); ++at) {
      double term = adjoints[name][at] * numbers[at];
      reverse += term;
      size += std::fabs(term);
    }
  }
  if (!std::isfinite(*dual) || !std::isfinite(reverse)) return kExitOk;
  double limit = tolerance * std::max(size, std::fabs(*dual));
  // Where rounding decides about many digits, no two results agree.
  if (std::fabs(forward - *dual) > 0.1 * limit || std::fabs(reverse - *dual) <= 10 * limit) return kExitOk;
  for (const auto& [name, numbers] : adjoints) {
    const Param& param = *primal_.Find(name);
    for (uint64_t at = 0; at < std::min<uint64_t>(numbers.size(), kMostElements); ++at) {
      std::optional<double> of_element = Dual(inputs, Along({&param, at}), false, nullptr);
      if (!of_element || std::fabs(numbers[at] - *of_element) <= 10 * limit) continue;
      *difference = PointDifference{"on the edge of a decision", name, at, numbers[at], *of_element, 0};
      return kExitOk;
    }
  }
  return kExitOk;
}

int PointChecker::RunOnEdges(const Values& from, const Values& to, uint64_t count, PointsOutcome* outcome) {
  if (!checker_.HasForward() || dual_.TakesExtrema()) return kExitOk;
  uint64_t made = 0;
  for (const auto& [low, high] : JumpsBetween(from, to)) {
    if (made++ >= count || spent_ > budget_) break;
    ++outcome->points;
    std::optional<PointDifference> difference;
    for (int n = 0; n < kAroundEdge && !difference; ++n) {
      const Values& side = n % 2 == 0 ? low : high;
      Values moved = n < 2 ? side : Jittered(bundle_, primal_, side, random_, 1);
      if (int code = CompareOnEdge(moved, &difference); code != kExitOk) return code;
    }
    if (difference) outcome->differences.push_back(*difference);
  }
  return kExitOk;
}

bool PointChecker::Prepare(EdgePoint* point) {
  // How much the kernel saves for its gradient depends on its arguments. Where they do not say it, there is
  // only what was given.
  Values given;
  for (const Param& param : primal_.params)
    if (param.IsSaved()) given.insert(point->inputs.extract(param.name));
  if (!FillCompanions(primal_, &point->inputs)) return false;
  point->inputs.merge(given);
  return true;
}

int PointChecker::TestElsewhere(const Values& inputs, uint64_t seed,
                                std::vector<std::pair<const Param*, CheckedGradient>>* rows) {
  int tries = 0;
  for (EdgePoint& point : EdgePoints(bundle_, primal_, inputs, seed)) {
    if (point.is_extreme || point.is_tied) continue;
    if (tries == kMostTries || spent_ > budget_ || !checker_.HasUntested(*rows)) break;
    if (!Prepare(&point)) return kExitUsage;
    if (!CanRun(point)) continue;
    ++tries;
    if (int code = checker_.RunAgain(point.inputs, point.name, rows); code != kExitOk) return code;
  }
  return kExitOk;
}

int PointChecker::Run(const Values& inputs, uint64_t seed, uint64_t count,
                      const std::vector<uint32_t>& workers, PointsOutcome* outcome) {
  auto compare = [&](const EdgePoint& point, uint32_t by, bool again) {
    std::optional<PointDifference> difference;
    bool kink = false;
    if (int code = Compare(point, by, &difference, &kink); code != kExitOk) return code;
    outcome->points += again ? 0 : 1;
    outcome->near_kink += kink && !difference && !again;
    if (difference) outcome->differences.push_back(*difference);
    return int{kExitOk};
  };
  // A kernel that the interpreter does not take, or that no order of iterations decides, has no oracle.
  EdgePoint drawn{"the drawn point", inputs};
  if (!CanRun(drawn)) return kExitOk;
  for (uint32_t by : workers) {
    if (spent_ > budget_) break;
    if (int code = compare(drawn, by, false); code != kExitOk) return code;
  }
  std::optional<uint32_t> done;  // the group that has its point
  std::optional<Values> second;  // another draw
  uint64_t made = 0;
  for (EdgePoint& point : EdgePoints(bundle_, primal_, inputs, seed)) {
    if (made >= count) break;
    if (done == point.group) continue;
    if (spent_ > budget_) {
      outcome->cut_short = true;
      break;
    }
    if (!Prepare(&point)) return kExitUsage;
    if (!CanRun(point)) {
      ++outcome->left_out;
      continue;
    }
    done = point.group;
    ++made;
    if (!second) second = point.inputs;
    // Updates that meet in one element by chance are lost by chance: run more than once, by as many workers
    // as there are.
    for (int turn = 0; turn < (point.moves_indices ? 4 : 1); ++turn) {
      size_t before = outcome->differences.size();
      if (int code = compare(point, 0, turn > 0); code != kExitOk) return code;
      if (outcome->differences.size() > before) break;
    }
  }
  return second && made < count ? RunOnEdges(inputs, *second, count - made, outcome) : int{kExitOk};
}

}  // namespace adc::tool
