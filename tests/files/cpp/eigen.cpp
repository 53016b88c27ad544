// Eigen as the distribution has it: vectors, matrices and quaternions of fixed sizes.

// clang-format off
// REQUIRES: eigen
// RUN: adc gradcheck %s --kernel strain --arg x=random[4,12] --arg energy=zeros[4] -- -isystem /usr/include/eigen3 -DEIGEN_NO_DEBUG | FileCheck %s
// RUN: adc gradcheck %s --kernel turned --arg x=random[4,12] --arg y=zeros[4] -- -isystem /usr/include/eigen3 -DEIGEN_NO_DEBUG | FileCheck %s
// RUN: not adc %s -o %t -- -isystem /usr/include/eigen3 -DEIGEN_NO_DEBUG -DLISTED 2>&1 | FileCheck %s --check-prefix=LISTED
// CHECK: {{^}}{{[0-9]+}} parameters, 0 differ

#include <adc/kernel.hpp>
#include <Eigen/Dense>
// clang-format on

ADC_KERNEL void strain(adc::diff<adc::buffer<double, 2>> x, adc::diff<adc::buffer<double, 1>> energy) {
  adc::parallel(x.extent(0), [&](int i) {
    Eigen::Matrix3d f = Eigen::Matrix3d::Identity() * 2.0;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) f(r, c) += 0.5 * x(i, 3 * r + c);
    Eigen::Matrix3d e = 0.5 * (f.transpose() * f - Eigen::Matrix3d::Identity());
    Eigen::Vector3d b(x(i, 9), x(i, 10), x(i, 11));
    energy[i] = e.trace() * e.trace() + e.array().square().sum() + std::log(f.determinant()) +
                (f.inverse() * b).squaredNorm() + f.block<2, 2>(0, 1).determinant() + e.col(1).dot(b);
  });
}
ADC_KERNEL void turned(adc::diff<adc::buffer<double, 2>> x, adc::diff<adc::buffer<double, 1>> y) {
  adc::parallel(x.extent(0), [&](int i) {
    Eigen::Quaterniond q(2.0 + x(i, 0), x(i, 1), x(i, 2), x(i, 3));
    q.normalize();
    Eigen::Vector3d a(x(i, 4), x(i, 5), x(i, 6)), b(x(i, 7), x(i, 8), x(i, 9));
    Eigen::Vector3d p = q.toRotationMatrix() * a.cwiseProduct(b) + a.cross(b);
    y[i] = p.dot(q * b) + (a - p).norm() + a.normalized().x();
#if defined(LISTED)
    Eigen::Vector2d two;
    // LISTED: error: 'CommaInitializer' has a destructor that runs code [E0802]
    two << y[i], y[i];
#endif
  });
}
