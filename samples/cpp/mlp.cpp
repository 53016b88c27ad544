// mlp.cpp: a small network, two hidden layers of a width that the type states, a sample per iteration.

#include <adc/kernel.hpp>
#include <array>

using Weights = adc::readonly<adc::diff<adc::buffer<float, 2>>>;

template <std::size_t In, std::size_t Out>
std::array<float, Out> Layer(const Weights& w, const std::array<float, In>& x, bool last) {
  std::array<float, Out> y{};
  for (std::size_t o = 0; o < Out; ++o) {
    float sum = w(o, In);  // the bias
    for (std::size_t i = 0; i < In; ++i) sum += w(o, i) * x[i];
    y[o] = last ? sum : std::tanh(sum);
  }
  return y;
}

ADC_KERNEL void mlp(adc::readonly<adc::buffer<float, 2>> input, adc::readonly<adc::buffer<float, 1>> wanted,
                    Weights w1, Weights w2, Weights w3, adc::diff<adc::buffer<float, 0>> loss) {
  adc::parallel(input.extent(0), [&](int s) {
    std::array<float, 2> x = {input(s, 0), input(s, 1)};
    auto [y] = Layer<6, 1>(w3, Layer<6, 6>(w2, Layer<2, 6>(w1, x, false), false), true);
    float miss = y - wanted[s];
    adc::atomic_add(loss(), miss * miss);
  });
}
