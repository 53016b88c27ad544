"""What a kernel in a program that JAX compiled takes beyond the same launch in C (no test: it prints).

    measure_jax.py MICROSECONDS    # what measure_call.py prints of C

PYTHONPATH has the package and JAX, ADC names adc. A call: Python calls the program. A turn: of a lax.scan, in which the
program calls the kernel.
"""

import os
import sys
from unittest import mock

from measure_call import python_time
from support import sample, skip_unless_built, skip_without

skip_unless_built()
os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = skip_without("jax")
import adrt  # noqa: E402
import adrt.jax  # noqa: E402
from jax import numpy as jnp  # noqa: E402

TURNS = 1000


def measure(what, kernel, in_c):
    relax, x = adrt.jax.function(kernel), jnp.full(1, 0.5)

    def loss(x):
        return relax(x=x, n=1).loss

    def turns(step):
        return jax.jit(lambda x: jax.lax.scan(lambda x, _: (step(x), None), x, length=TURNS)[0])

    calls = {"nothing": (jax.jit(lambda x: (jnp.sum(x), x + 1)), 0), "kernel": (jax.jit(loss), 1),
             "kernel and gradient": (jax.jit(jax.value_and_grad(loss)), 2)}
    loops = {"nothing": (turns(lambda x: x + 1), 0), "kernel": (turns(lambda x: x + loss(x)), 1),
             "kernel and gradient": (turns(lambda x: x + sum(map(jnp.sum, jax.value_and_grad(loss)(x)))), 2)}
    for kind, programs in ("call", calls), ("turn", loops):
        times = {}
        for name, (program, launches) in programs.items():
            each = python_time(lambda: program(x).block_until_ready() if kind == "turn" else jax.block_until_ready(program(x)),
                               count=5 if kind == "turn" else 2000, rounds=5)
            times[name] = each / (TURNS if kind == "turn" else 1)
            print(f"{what}: a {kind} with {name}: {times[name]:.2f} us", end="")
            print(f", {times[name] - launches * in_c:.2f} more than {launches} launches in C, "
                  f"{times[name] - times['nothing'] - launches * in_c:.2f} more than these and a {kind} with nothing"
                  if launches else "")


def main(in_c):
    kernel = adrt.load(sample("relax", "--derive=grad"))["relax"]
    measure("jax.ffi", kernel, in_c)
    with mock.patch.object(adrt.jax, "ffi", None):
        measure("jax.pure_callback", kernel, in_c)


if __name__ == "__main__":
    main(float(sys.argv[1]))
