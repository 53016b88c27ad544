// Typed calls in C++23: memory and extents of buffers with several axes from std::mdspan.
#include <cstdio>
#include <mdspan>

#include "kernels.h"

int main() {
  float x[12] = {}, b[4] = {}, y[12] = {}, vectors[2 * 5 * 3] = {};
  adc::calls::broadcast::args args{.x = {}, .x_shape = {}, .b = b, .y = {}, .y_shape = {}, .n = 1};
  args.set_x(std::mdspan(static_cast<const float*>(x), 3, 4));
  args.set_y(std::mdspan<float, std::dextents<int, 2>>(y, 3, 4));
  const adc::calls::broadcast::call call(args);
  const adrt_arg& first = call.table[adc_broadcast_param_x];
  bool good = first.data == x && first.size == sizeof x && first.extents[0] == 3 && first.extents[1] == 4 &&
              call.table[adc_broadcast_param_y].extents[1] == 4;
  // The components of an element are the last axis.
  adc::calls::int_::args other{};
  other.set_x(std::mdspan<const float, std::extents<size_t, 2, 5, 3>>(vectors));
  good = good && other.x.size() == 30 && other.x_shape_3[0] == 2 && other.x_shape_3[1] == 5;
  if (!good) std::puts("an argument is another one than the view says");
  return good ? 0 : 1;
}
