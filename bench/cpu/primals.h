#pragma once
// The kernels of this folder as a person writes them in C++: the baselines, compiled by the C++ compiler at
// -O3 for the machine. Arrays are those of the kernels' parameters.

#include <cstdint>

namespace adc::bench {

struct Gmm {
  int points, dimensions, mixtures;
  const double *alphas, *means, *icf, *x;
  double* diagonals;  ///< of every mixture, exponentiated
  double* sums;       ///< of every mixture's logarithms
};
double GmmPrimal(const Gmm& gmm);

/// `x` and `a`: three numbers a body.
void NbodyPrimal(int bodies, const double* x, const double* mass, double* a);

/// `table` and `features`: two numbers an entry. `entries`, of a level, is a power of two.
void HashGridPrimal(int points, int levels, uint32_t entries, const double* at, const double* table,
                    double* features);

/// `grid`: two numbers a cell, `size` cells along each of three axes.
void RayMarchPrimal(int rays, int steps, int64_t size, const double* grid, const double* origin,
                    const double* direction, double* light);

void SpringsPrimal(int springs, const double* x, const int32_t* one, const int32_t* other, const double* rest,
                   double stiffness, double* force);

/// `size` points along both axes.
void WavePrimal(int64_t size, const double* now, const double* before, double c, double* next);

/// Which compiler made them.
const char* PrimalsCompiler();

}  // namespace adc::bench
