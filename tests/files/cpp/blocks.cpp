// Blocks and their shared arrays, and what is refused of them.
// clang-format off
// RUN: adc %s --emit=ir --derive=none -o - -- -DGOOD | FileCheck %s
// RUN: adc gradcheck %s --kernel in_turn --arg x=random[8] --arg t=zeros[8] --arg y=zeros[8] -- -DGOOD
// RUN: not adc %s --error-limit=0 -o %t 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not adc %s -o %t -- -DRACE 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: not adc %s -o %t -- -DWAIT 2>&1 | FileCheck %s --check-prefix=WAIT
// RUN: not adc %s -o %t -- -DSIZE 2>&1 | FileCheck %s --check-prefix=SIZE
#include <adc/kernel.hpp>
using Buffer = adc::diff<adc::buffer<double, 1>>;

#if defined(GOOD)
// What one set of blocks wrote, the next one reads.
// CHECK: kernel @in_turn(
// CHECK: parallel
// CHECK: parallel
ADC_KERNEL void in_turn(Buffer x, Buffer t, Buffer y) {
  adc::blocks<4>(2, [&](adc::block<4> b) {
    adc::shared<double, 4> s(b);
    s[b.thread()] = x[b.index()];
    b.barrier();
    t[b.index()] = s[b.thread()] * s[3 - b.thread()];
  });
  adc::blocks<2, 4>(1, 1, [&](adc::block<2, 4> b) {
    adc::shared<double, 4, 2> s(b);
    s(b.thread(1), b.thread(0)) = t[b.thread()];
    b.barrier();
    y[b.thread()] = s(b.thread() / 2, b.thread() % 2) * x[b.thread()];
  });
}
#elif defined(RACE)
ADC_KERNEL void races(Buffer x) {
  adc::blocks<4>(2, [&](adc::block<4> b) {
    adc::shared<double, 4> s(b);
    // RACE: blocks.cpp:[[#@LINE+1]]:5: error: invocation 0 of a workgroup stores to an element of '%s' that invocation 3
    s[b.thread()] = x[b.index()];
    // RACE: blocks.cpp:[[#@LINE+1]]:21: note: it is accessed here
    x[b.index()] *= s[(b.thread() + 1) % 4];
  });
}
#elif defined(WAIT)
ADC_KERNEL void waits(Buffer x) {
  adc::blocks<4>(2, [&](adc::block<4> b) {
    // WAIT: blocks.cpp:[[#@LINE+1]]:25: error: invocations may take different branches, {{.*}} [E0306]
    if (b.thread() > 1) b.barrier();
    x[b.index()] = 1.0;
  });
}
#elif defined(SIZE)
ADC_KERNEL void sizes(Buffer x) {
  // SIZE: blocks.cpp:[[#@LINE+2]]:3: error: no matching function for call to 'blocks' [E0801]
  // SIZE: (262144 <= 65536) evaluated to false
  adc::blocks<512, 512>(2, 2, [&](auto b) { x[b.thread()] = 1.0; });
}
#else
ADC_KERNEL void behind_branch(Buffer x) {
  adc::blocks<4>(2, [&](adc::block<4> b) {
    if (x[0] > 0) {
      // BAD: blocks.cpp:[[#@LINE+3]]:32: error: a shared array is declared behind a branch or in a loop [E0802]
      // BAD: blocks.cpp:[[#@LINE+2]]:30: note: in 'shared', called here
      // BAD: help: declare it where the lambda of adc::blocks begins
      adc::shared<double, 4> s(b);
      s[b.thread()] = 1.0;
    }
  });
}
ADC_KERNEL void axis_of_run_time(Buffer x, int n) {
  adc::blocks<4, 4>(2, 2, [&](adc::block<4, 4> b) {
    // BAD: blocks.cpp:[[#@LINE+1]]:7: error: the axis of thread() is a constant below the block's number of axes
    x[b.thread(n)] = 1.0;
  });
}
ADC_KERNEL void one_in_another(Buffer x) {
  adc::blocks<4>(2, [&](adc::block<4> b) {
    // BAD: blocks.cpp:[[#@LINE+2]]:5: error: adc::parallel stands inside of adc::blocks
    // BAD: help: let each invocation take its share of the iterations in a loop
    adc::parallel(4, [&](int i) { x[b.thread() * 4 + i] = 1.0; });
  });
}
ADC_KERNEL void assigned_by_all(Buffer x) {
  double v = 0;
  adc::blocks<4>(2, [&](adc::block<4> b) {
    // BAD: blocks.cpp:[[#@LINE+1]]:5: error: a variable that is declared outside of adc::blocks is assigned by all
    v = x[b.index()];
  });
  x[0] = v;
}
// BAD: blocks.cpp:[[#@LINE+1]]:{{[0-9]+}}: error: a kernel has no parameters of type 'adc::block<4>'
ADC_KERNEL void from_outside(Buffer x, adc::block<4> b) {
  x[0] = b.thread();
}
#endif
