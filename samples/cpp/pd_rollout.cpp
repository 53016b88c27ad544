// pd_rollout.cpp: pendulums that a PD controller swings to a target, many steps each; the gradient tunes the
// gains.

#include <adc/kernel.hpp>
#include <algorithm>

template <class T>
struct Pendulum {
  T angle{}, rate{};

  void Step(T torque, T dt) {
    rate += dt * (torque - T(9.81) * std::sin(angle));
    angle += dt * rate;
  }
};

template <class T>
struct Gains {
  adc::diff<T> proportional, derivative;
  T limit;

  T Torque(const Pendulum<T>& p, T target) const {
    T wanted = proportional * (target - p.angle) - derivative * p.rate;
    return std::clamp(wanted, -limit, limit);
  }
};

template <class T>
ADC_KERNEL void pd_rollout(adc::readonly<adc::diff<adc::buffer<T, 1>>> start,
                           adc::readonly<adc::buffer<T, 1>> target, adc::diff<adc::buffer<T, 0>> loss,
                           Gains<T> gains, int steps, T dt) {
  adc::parallel(start.extent(0), [&](int i) {
    Pendulum<T> p{start[i]};
    for (int t = 0; t < steps; ++t) {
      adc::checkpoint(32);
      p.Step(gains.Torque(p, target[i]), dt);
    }
    T miss = p.angle - target[i];
    adc::atomic_add(loss(), miss * miss + T(0.1) * p.rate * p.rate);
  });
}
template void pd_rollout<float>(adc::readonly<adc::diff<adc::buffer<float, 1>>>,
                                adc::readonly<adc::buffer<float, 1>>, adc::diff<adc::buffer<float, 0>>,
                                Gains<float>, int, float);
template void pd_rollout<double>(adc::readonly<adc::diff<adc::buffer<double, 1>>>,
                                 adc::readonly<adc::buffer<double, 1>>, adc::diff<adc::buffer<double, 0>>,
                                 Gains<double>, int, double);
