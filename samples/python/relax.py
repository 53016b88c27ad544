"""Gradient descent in Python on a kernel that adc has compiled: finds x for which the recurrence of relax ends at a target.

    adc relax.ir && python relax.py relax.adcb

    a(0) = x,   a(t+1) = sin(a(t)) + 0.1,   n steps;   error = sum over i of (a(n) - target)^2

The kernel sums a(n) over all elements, so that its gradient with the seed 1 is the derivative of each a(n) by its own
x. The outer loss, and its chain rule, are NumPy's: each element is a launch's own sum.
"""

import sys

import adrt
import numpy as np


def main(path):
    relax = adrt.load(path)["relax"]
    targets, n = np.linspace(0.3, 0.8, 5, dtype=np.float32), 3
    x = np.full(5, 0.5, np.float32)
    for step in range(60):
        error, gradient = 0.0, np.zeros_like(x)
        for i in range(len(x)):
            ends = relax(x=x[i : i + 1], n=n).loss
            miss = ends - targets[i]
            error += float(miss) ** 2
            # The seed is the derivative of the error by what the kernel wrote; the gradient adds to its part of the array.
            relax.grad(x=x[i : i + 1], loss=ends, n=n, x_adj=gradient[i : i + 1], loss_adj=2 * miss)
        if step % 10 == 0:
            print(f"step {step:2}: error {error:.3e}")
        x -= 0.4 * gradient
    print("x:", np.array2string(x, precision=4))
    print(f"step {step:2}: error {error:.3e}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: relax.py BUNDLE (adc relax.ir makes one)")
    main(sys.argv[1])
