// Blocks: invocations that share arrays and wait for each other. On the host each is a thread.

#include <cmath>

#include "feature.h"

namespace blocks {

struct Pair {
  double a, b;
};

/// The first two rows of the product of x, four by four, with itself, in tiles of two by two.
ADC_KERNEL void tiled_product(In x, Out y, [[maybe_unused]] int n) {
  adc::blocks<2, 2>(1, 2, [&](adc::block<2, 2> b) {
    adc::shared<double, 2, 2> left(b), right(b);
    int row = b.index(0), column = b.index(1);
    double sum = 0;
    for (int k = 0; k < 4; k += 2) {
      left(b.thread(0), b.thread(1)) = x[row * 4 + k + b.thread(1)];
      right(b.thread(0), b.thread(1)) = x[(k + b.thread(0)) * 4 + column];
      b.barrier();
      for (int j = 0; j < 2; ++j) sum += left(b.thread(0), j) * right(j, b.thread(1));
      b.barrier();
    }
    y[row * 4 + column] = sum;
  });
}

ADC_KERNEL void block_sum(In x, Out y, [[maybe_unused]] int n) {
  adc::blocks<8>(2, [&](adc::block<8> b) {
    adc::shared<double, 8> part(b);
    part[b.thread()] = x[b.index()] * x[(b.index() + 1) % 16];
    b.barrier();
    for (int stride = 4; stride > 0; stride /= 2) {
      if (b.thread() < stride) part[b.thread()] += part[b.thread() + stride];
      b.barrier();
    }
    if (b.thread() == 0) y[b.group()] = part[0] * x[b.group()];
  });
}

inline void Scan(const adc::block<8>& b, const adc::shared<double, 2, 8>& rows, int* from) {
  for (int step = 1; step < adc::block<8>::size; step *= 2) {
    int to = 1 - *from;
    rows(to, b.thread()) = rows(*from, b.thread());
    if (b.thread() >= step) rows(to, b.thread()) += rows(*from, b.thread() - step);
    *from = to;
    b.barrier();
  }
}
ADC_KERNEL void block_scan(In x, Out y, [[maybe_unused]] int n) {
  adc::blocks<8>(1, [&](auto b) {
    adc::shared<double, 2, 8> rows(b);
    int from = 0;
    rows(0, b.thread()) = x[b.thread()] * x[b.thread() + 8];
    b.barrier();
    Scan(b, rows, &from);
    y[b.index()] = rows(from, b.thread());
  });
}

/// A tile with its neighbours; invocations behind the end have left before the barrier.
ADC_KERNEL void stencil_tile(In x, Out y, int n) {
  adc::blocks<4>((n + 6) / 4, [&](adc::block<4> b) {
    adc::shared<double, 6> tile(b);
    int at = b.index(), l = b.thread() + 1;
    if (at >= n + 2) return;
    tile[l] = x[at + 1];
    if (b.thread() == 0) tile[0] = x[at];
    if (b.thread() == b.size - 1 || at == n + 1) tile[l + 1] = x[at + 2];
    for (int t = 0; t < 3; ++t) {
      b.barrier();
      double next = 0.5 * tile[l] + 0.25 * (tile[l - 1] + tile[l + 1]) * std::sin(tile[l]);
      b.barrier();
      tile[l] = next;
    }
    y[at] = tile[l];
  });
}

ADC_KERNEL void shared_kinds(In x, Out y, [[maybe_unused]] int n) {
  adc::blocks<2, 2, 2>(1, 1, 1, [&](adc::block<2, 2, 2> b) {
    adc::shared<V3, 8> points(b);
    adc::shared<adc::mat<double, 2, 2>, 2, 2> turns(b);
    adc::shared<Pair, 8> pairs(b);
    adc::shared<double, 1> sum(b);
    adc::shared<int, 2> counts(b);
    int l = b.thread(), other = 7 - l;
    points[l] = V3(x[l], x[l + 1], x[l + 8]);
    if (b.thread(2) == 0) turns(b.thread(0), b.thread(1)) = {x[l], x[l + 1], 2.0, x[l + 2]};
    pairs[l] = {x[l], x[l + 8]};
    adc::atomic_add(sum[0], x[l] * x[l + 4]);
    adc::atomic_max(counts[l % 2], l * 3);
    b.barrier();
    adc::vec<double, 2> turned = turns(b.thread(1), b.thread(2)) * adc::vec<double, 2>(x[l], pairs[other].b);
    y[l] = adc::dot(points[l], points[other]) + turned.x * turned.y + pairs[other].a * counts[0] +
           sum[0] * l + counts[1] * points[other].z + b.index(0) + b.group(2);
  });
}

/// Several sets of blocks; local variables and arrays outlive a barrier.
ADC_KERNEL void blocks_in_turn(In x, Out y, int n) {
  adc::blocks<4>(1, [&](adc::block<4> b) {
    adc::shared<double, 4> s(b);
    double own[2] = {x[b.index()], x[b.index() + 8]};
    double first = own[0] * own[1];
    for (int t = 0; t < n; ++t) {
      s[b.thread()] = own[t % 2];
      b.barrier();
      own[(t + 1) % 2] += 0.3 * s[3 - b.thread()];
      b.barrier();
    }
    y[b.index()] = own[0] * first;
  });
  if (n > 2) {
    adc::blocks<2>(2, [&](const adc::block<2>& b) {
      adc::shared<double, 2> s(b);
      s[b.thread()] = std::exp(x[b.index()]);
      b.barrier();
      adc::atomic_add(y[2 * b.index()], s[1 - b.thread()] * x[b.index() + 4]);
    });
  }
}

}  // namespace blocks

#define ADC_BLOCKS(F) \
  F(tiled_product) F(block_sum) F(block_scan) F(stencil_tile) F(shared_kinds) F(blocks_in_turn)
