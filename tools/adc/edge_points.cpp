// Points at which gradients go wrong unseen, and the errors that they bring out:
//
//   a loop that does not run             code that was moved out of it ran all the same, and gave 1/0
//   few iterations, and more             the tape of the last one, or of all but the first
//   zeros                                the edge of a domain, a branch that guards it
//   equal numbers                        the choice of one, and whether exactly one wins
//   numbers whose squares overflow       formulas that leave the range where the value does not
//   equal indices                        sums that were taken for sums over different elements

#include "edge_points.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace adc::tool {

namespace {

using FloatOf = std::function<double(uint32_t type, double now)>;
using IntegerOf = std::function<int64_t(int64_t now)>;

bool IsInput(const Param& param) {
  return param.IsGiven() && param.report.access != ADRT_ACCESS_WRITE;
}

/// Whether a number is most likely the bits of a small integer, in a place that no constant tells
/// (integer_words.h).
bool IsIntegerBits(const Param& param, uint32_t type, double number) {
  if (param.report.diff != 0 || type == ADRT_TYPE_F16 || number == 0) return false;
  return std::isnan(number) || std::fabs(number) < (type == ADRT_TYPE_F32 ? 0x1p-126 : 0x1p-1022);
}

void ChangeFloats(const adrt_bundle* bundle, const Kernel& kernel, Values& values, const FloatOf& change) {
  for (const Param& param : kernel.params) {
    auto value = values.find(param.name);
    if (!IsInput(param) || value == values.end()) continue;
    for (const Place& place : PlacesOf(bundle, param, value->second, false)) {
      double now = Read(value->second, place);
      if (!IsIntegerBits(param, place.type, now)) Write(value->second, place, change(place.type, now));
    }
  }
}

/// Integers of scalars, or of buffers. True where one is another one then.
bool ChangeIntegers(const Kernel& kernel, Values& values, bool scalars, const IntegerOf& change) {
  bool changed = false;
  for (const Param& param : kernel.params) {
    auto value = values.find(param.name);
    bool integer = !param.IsFloat() && !param.IsLayout() && param.report.type != ADRT_TYPE_I1;
    if (!IsInput(param) || value == values.end() || !integer || param.IsScalar() != scalars) continue;
    std::vector<uint8_t>& bytes = value->second.bytes;
    uint64_t size = adrt_type_size(param.report.type);
    for (uint64_t at = 0; at < bytes.size() / size; ++at) {
      int64_t now = ReadInteger(param.report.type, bytes.data(), at), then = change(now);
      if (now == then) continue;
      WriteNumber(param.report.type, bytes.data(), at, static_cast<double>(then));
      changed = true;
    }
  }
  return changed;
}

/// A number whose square is beyond the type.
double Large(uint32_t type) {
  return type == ADRT_TYPE_F16 ? 2000 : type == ADRT_TYPE_F32 ? 1e21 : 1e156;
}

}  // namespace

double EpsilonOf(uint32_t type) {
  return type == ADRT_TYPE_F16 ? 0x1p-10 : type == ADRT_TYPE_F32 ? 0x1p-23 : 0x1p-52;
}

std::vector<EdgePoint> EdgePoints(const adrt_bundle* bundle, const Kernel& kernel, const Values& inputs,
                                  uint64_t seed) {
  std::vector<EdgePoint> points;
  Random random(seed ^ 0xED6E);
  uint32_t group = 0;
  auto floats = [&](std::string name, const FloatOf& change, bool extreme = false, bool tied = false) {
    EdgePoint point{std::move(name), inputs, false, extreme, tied, group++};
    ChangeFloats(bundle, kernel, point.inputs, change);
    points.push_back(std::move(point));
  };
  auto zeros = [](uint32_t, double) { return 0.0; };
  auto draw = [&](uint32_t, double now) {
    // Given numbers may have a meaning (a mass, a norm of 1), and move a little.
    bool drawn = now >= 0.1 && now <= 0.9;
    return drawn ? 0.1 + 0.8 * random.Uniform() : now * (0.9 + 0.2 * random.Uniform());
  };
  auto counts = [&](int64_t count, const std::string& more, const FloatOf* change) {
    // Nothing says which integers are counts: change all of them, and where that cannot run, those of one
    // kind.
    for (int which = 0; which < 3; ++which) {
      EdgePoint point{
          "counts of " + std::to_string(count) + more, inputs, false, false, change != nullptr, group};
      auto to_count = [&](int64_t) { return count; };
      bool changed = false;
      if (which != 2) changed = ChangeIntegers(kernel, point.inputs, true, to_count);
      if (which != 1 && ChangeIntegers(kernel, point.inputs, false, to_count))
        changed = point.moves_indices = true;
      if (change != nullptr) ChangeFloats(bundle, kernel, point.inputs, *change);
      if (changed) points.push_back(std::move(point));
    }
    ++group;
  };
  auto indices = [&](std::string name, const IntegerOf& change) {
    EdgePoint point{std::move(name), inputs, true, false, true, group++};
    if (ChangeIntegers(kernel, point.inputs, false, change)) points.push_back(std::move(point));
  };

  floats("a second draw", draw);
  FloatOf zero = zeros;
  counts(0, "", nullptr);
  counts(0, " at zeros", &zero);
  floats("zeros", zeros, false, true);
  counts(2, "", nullptr);
  counts(3, "", nullptr);
  counts(1, "", nullptr);
  int64_t first = 0;
  bool known = false;
  indices("equal indices", [&](int64_t now) {
    if (!known) first = now;
    known = true;
    return first;
  });
  int64_t before = 0;
  uint64_t turn = 0;
  indices("repeated indices", [&](int64_t now) {
    if (turn++ % 2 == 0) before = now;
    return before;
  });
  floats("ties", [](uint32_t, double) { return 0.5; }, false, true);
  floats("some zeros", [&](uint32_t, double now) { return random.Uniform() < 0.5 ? 0.0 : now; }, false, true);
  floats("both signs", [&](uint32_t, double) { return 6 * random.Uniform() - 3; });
  floats(
      "large numbers", [&](uint32_t type, double) { return Large(type) * (2 * random.Uniform() - 1); }, true);
  floats(
      "small numbers", [&](uint32_t type, double) { return (2 * random.Uniform() - 1) / Large(type); }, true);
  floats("a third draw", draw);
  return points;
}

Values Between(const adrt_bundle* bundle, const Kernel& kernel, const Values& from, const Values& to,
               double at) {
  Values values = from;
  for (const Param& param : kernel.params) {
    auto value = values.find(param.name);
    if (!IsInput(param) || value == values.end()) continue;
    for (const Place& place : PlacesOf(bundle, param, value->second, false)) {
      double low = Read(value->second, place), high = Read(to.at(param.name), place);
      if (IsIntegerBits(param, place.type, low)) continue;
      Write(value->second, place, low + at * (high - low));
    }
  }
  return values;
}

Values Jittered(const adrt_bundle* bundle, const Kernel& kernel, const Values& inputs, Random& random,
                double roundings) {
  Values values = inputs;
  ChangeFloats(bundle, kernel, values, [&](uint32_t type, double now) {
    double size = now == 0 ? 1 : std::fabs(now);
    return now + roundings * (2 * random.Uniform() - 1) * EpsilonOf(type) * size;
  });
  return values;
}

}  // namespace adc::tool
