/* The primals of kernels.ir in C, as a baseline: `primals KERNEL ELEMENTS REPEATS` prints the best time in
 * milliseconds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void recurrence(const double* restrict x, double* restrict y, long n) {
  for (long i = 0; i < n; ++i) {
    double a = x[i];
    for (int t = 0; t < 32; ++t) a = sin(a) + 0.1;
    y[i] = a;
  }
}

static void logistic(const double* restrict x, double* restrict y, long n) {
  for (long i = 0; i < n; ++i) {
    double a = x[i];
    for (int t = 0; t < 32; ++t) a = 3.7 * a * (1.0 - a);
    y[i] = a;
  }
}

static void newton(const double* restrict x, double* restrict y, long n) {
  for (long i = 0; i < n; ++i) {
    double c = x[i], a = c, step = 1.0;
    for (int k = 0; k < 50 && fabs(step) > 1e-9; ++k) {
      double e = exp(a);
      step = (a * e - c) / (e * (a + 1.0));
      a -= step;
    }
    y[i] = a;
  }
}

static void options(const double* restrict x, double* restrict y, long n) {
  for (long i = 0; i < n; ++i) {
    double d1 = (log(x[i] / 100.0) + 0.07) / 0.2828427124746190;
    double d2 = d1 - 0.2828427124746190;
    double n1 = 0.5 * (1.0 + erf(d1 * 0.7071067811865476));
    double n2 = 0.5 * (1.0 + erf(d2 * 0.7071067811865476));
    y[i] = x[i] * n1 - 100.0 * exp(-0.06) * n2;
  }
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  static const struct {
    const char* name;
    void (*run)(const double*, double*, long);
    double scale, start;
  } kernels[] = {{"recurrence", recurrence, 3.0, -1.5},
                 {"logistic", logistic, 0.8, 0.1},
                 {"newton", newton, 4.0, 0.1},
                 {"options", options, 100.0, 50.0}};
  long n = atol(argv[2]);
  double* x = malloc(sizeof(double) * (size_t)n);
  double* y = malloc(sizeof(double) * (size_t)n);
  if (x == NULL || y == NULL) return 1;
  for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); ++k) {
    if (strcmp(kernels[k].name, argv[1]) != 0) continue;
    for (long i = 0; i < n; ++i)
      x[i] = kernels[k].start + kernels[k].scale * (double)(i * 7919 % n) / (double)n;
    double best = 1e30;
    for (int r = atoi(argv[3]); r > 0; --r) {
      struct timespec a, b;
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
      kernels[k].run(x, y, n);
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
      double took = 1e3 * (double)(b.tv_sec - a.tv_sec) + 1e-6 * (double)(b.tv_nsec - a.tv_nsec);
      if (took < best) best = took;
    }
    printf("%.4f %.17g\n", best, y[n / 3]);
    return 0;
  }
  return 2;
}
