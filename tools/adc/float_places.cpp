#include "float_places.h"

#include <algorithm>

namespace adc::tool {

namespace {

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

}  // namespace

double Read(const ArgValue& value, const Place& place) {
  return ReadNumber(place.type, value.bytes.data() + place.offset, 0);
}
void Write(ArgValue& value, const Place& place, double number) {
  WriteNumber(place.type, value.bytes.data() + place.offset, 0, number);
}

std::vector<Place> PlacesOf(const adrt_bundle* bundle, const Param& param, const ArgValue& value,
                            bool diff_only) {
  std::vector<Place> places;
  if (!param.IsLayout()) {
    uint64_t bytes = adrt_type_size(param.report.type);
    auto words =
        static_cast<uint64_t>(value.extents.empty() ? 1 : std::max<int64_t>(1, value.extents.back()));
    for (uint64_t at = 0; param.IsFloat() && at < value.bytes.size() / bytes; ++at) {
      if (std::ranges::find(param.integer_words, at % words) != param.integer_words.end()) continue;
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

}  // namespace adc::tool
