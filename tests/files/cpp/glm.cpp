// GLM as the distribution has it, without a define: vectors, matrices and quaternions.

// clang-format off
// REQUIRES: glm
// RUN: adc gradcheck %s --kernel skin --arg b=random[3,7] --arg rest=random[3,3] --arg loss=zeros[] | FileCheck %s
// RUN: adc gradcheck %s --kernel indices --arg v=random[4,3] --arg m=random[4,16] --arg y=zeros[4] --arg by.x=1 --arg by.y=2 --arg by.z=3 | FileCheck %s
// CHECK: {{^}}{{[0-9]+}} parameters, 0 differ

#include <adc/kernel.hpp>
#include <glm/glm.hpp>
#include <glm/gtc/matrix_transform.hpp>
#include <glm/gtc/quaternion.hpp>
#include <glm/gtc/type_ptr.hpp>
// clang-format on

struct Body {
  glm::dvec3 p;
  glm::dquat q;
};
ADC_KERNEL void skin(adc::diff<adc::buffer<Body, 1>> b, adc::readonly<adc::buffer<glm::dvec3, 1>> rest,
                     adc::diff<adc::buffer<double, 0>> loss) {
  adc::parallel(b.extent(0), [&](int i) {
    const Body& k = b[i];
    glm::dmat4 m = glm::translate(glm::dmat4(1.0), k.p) * glm::mat4_cast(glm::normalize(k.q));
    glm::dvec4 w = m * glm::dvec4(rest[i], 1.0);
    adc::atomic_add(loss(), glm::dot(glm::dvec3(w), glm::dvec3(1, 2, 3)));
  });
}

ADC_KERNEL void indices(adc::diff<adc::buffer<glm::dvec3, 1>> v, adc::diff<adc::buffer<glm::dmat4, 1>> m,
                        adc::diff<adc::buffer<double, 1>> y, adc::diff<glm::dvec3> by) {
  const glm::dvec3 axis = by;
  adc::parallel(v.extent(0), [&](int i) {
    glm::dvec3 a = glm::cross(v[i], axis) + glm::reflect(axis, glm::normalize(v[i]));
    a[i % 3] *= a.g;
    glm::dmat4 inverse = glm::inverse(m[i] + glm::dmat4(3.0));
    const double* flat = glm::value_ptr(inverse);
    double sum = glm::length(a) + glm::determinant(m[i]);
    for (int k = 0; k < 16; ++k) sum += flat[k] * k + m[i][k % 4][k / 4] * a[k % 3];
    y[i] = sum;
  });
}
