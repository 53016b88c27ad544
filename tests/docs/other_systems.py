#!/usr/bin/env python3
"""What other systems make of three gradients that need a tape, on this machine's CPU: the table of docs/compare.md.

    tests/docs/other_systems.py [SYSTEM...]

Each system is tried in a process of its own, where it is installed:
    pip install jax==0.10.2 warp-lang==1.19.0 taichi==1.7.4 quadrants==1.3.3
`right` is a gradient within 1e-4 of central differences, WRONG another one without a message, `refused` one that ends in
an error.
"""

import importlib
import math
import subprocess
import sys

STEPS, START, LARGE = 4, 0.3, 0.9


def loop(x):
    for _ in range(STEPS):
        x = math.sin(x) + 0.1
    return x


def until(x):
    while x > 0.2:
        x = x * math.cos(x)
    return x


KERNELS = {"loop": (loop, START), "in place": (math.sin, START), "while": (until, LARGE)}


def report(name, gradient):
    function, at = KERNELS[name]
    wanted = (function(at + 1e-6) - function(at - 1e-6)) / 2e-6
    try:
        found = float(gradient(at))
    except Exception as error:  # pylint: disable=broad-except
        text = " ".join(str(error).split())
        print(f"  {name:9} refused: {text[:100]}")
        return
    print(f"  {name:9} {'right' if abs(found - wanted) < 1e-4 else 'WRONG'}: {found:.6f}, and {wanted:.6f} by differences")


def try_jax():
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)
    report("loop", lambda x: jax.grad(jax.jit(lambda a, n: jax.lax.fori_loop(0, n, lambda t, b: jnp.sin(b) + 0.1, a)))(x, STEPS))
    report("in place", jax.grad(jnp.sin))  # arrays do not change
    report("while", jax.grad(lambda a: jax.lax.while_loop(lambda b: b > 0.2, lambda b: b * jnp.cos(b), a)))


def try_warp():
    import warp as wp
    wp.config.quiet = True

    @wp.kernel
    def loop_kernel(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64), n: int):
        a = x[wp.tid()]
        for _ in range(n):
            a = wp.sin(a) + wp.float64(0.1)
        y[wp.tid()] = a

    @wp.kernel
    def place_kernel(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64), n: int):
        x[wp.tid()] = wp.sin(x[wp.tid()])

    @wp.kernel
    def while_kernel(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64), n: int):
        a = x[wp.tid()]
        while a > wp.float64(0.2):
            a = a * wp.cos(a)
        y[wp.tid()] = a

    def gradient(kernel, out):
        def run(at):
            arrays = [wp.array([value], dtype=wp.float64, requires_grad=True, device="cpu") for value in (at, 0.0)]
            tape = wp.Tape()
            with tape:
                wp.launch(kernel, 1, inputs=[*arrays, STEPS], device="cpu")
            tape.backward(grads={arrays[out]: wp.ones(1, dtype=wp.float64, device="cpu")})
            return arrays[0].grad.numpy()[0]
        return run

    report("loop", gradient(loop_kernel, 1))
    report("in place", gradient(place_kernel, 0))
    report("while", gradient(while_kernel, 1))


def try_taichi(module="taichi", **options):
    ti = importlib.import_module(module)
    ti.init(arch=ti.cpu, default_fp=ti.f64, **options)
    x, y = (ti.field(ti.f64, shape=(1,), needs_grad=True) for _ in range(2))
    n = ti.field(ti.i32, shape=())
    n[None] = STEPS

    @ti.kernel
    def loop_kernel():
        for i in x:
            a = x[i]
            for _ in range(n[None]):
                a = ti.sin(a) + 0.1
            y[i] = a

    @ti.kernel
    def place_kernel():
        for i in x:
            x[i] = ti.sin(x[i])

    @ti.kernel
    def while_kernel():
        for i in x:
            a = x[i]
            while a > 0.2:
                a = a * ti.cos(a)
            y[i] = a

    def gradient(kernel, out):
        def run(at):
            x[0], x.grad[0], y.grad[0] = at, 0, 0
            kernel()
            out.grad[0] = 1
            kernel.grad()
            return x.grad[0]
        return run

    report("loop", gradient(loop_kernel, y))
    report("in place", gradient(place_kernel, x))
    report("while", gradient(while_kernel, y))


def try_quadrants():
    try_taichi("quadrants", ad_stack_experimental_enabled=True)


SYSTEMS = {"jax": ("jax", try_jax), "warp": ("warp", try_warp), "taichi": ("taichi", try_taichi), "quadrants": ("quadrants", try_quadrants)}


def main():
    if sys.argv[1:2] == ["--one"]:
        module, function = SYSTEMS[sys.argv[2]]
        version = importlib.import_module(module).__version__
        print(f"{sys.argv[2]} {version if isinstance(version, str) else '.'.join(map(str, version))}")
        function()
        return 0
    for name in sys.argv[1:] or SYSTEMS:
        ran = subprocess.run([sys.executable, __file__, "--one", name], text=True, check=False, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        lines = [line for line in ran.stdout.splitlines() if line.startswith((name + " ", *("  " + kernel for kernel in KERNELS)))]
        print("\n".join(lines) if lines else f"{name}: not tried: {ran.stderr.strip().splitlines()[-1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
