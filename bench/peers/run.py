#!/usr/bin/env python3
"""What other systems make of three gradients that need a tape, on this machine's CPU: the table of docs/compare.md.

    bench/peers/run.py --install FOLDER [SYSTEM...]     fetches the versions stated below from Python's registry, a virtual
                                                        environment for each in FOLDER, and runs them there
    bench/peers/run.py [SYSTEM...]                      runs those that this Python has

`right` is a gradient within 1e-4 of central differences, WRONG another one without a message, `refused` one that ends in
an error. Enzyme and Slang have no arrays of their own here: their kernels are functions of one number, C++ that Enzyme's wheel compiles, and
Slang that its compiler makes a library of, for which it needs g++.
"""

import ctypes
import importlib
import importlib.metadata
import importlib.util
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import venv

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


ENZYME = r"""
extern "C" double sin(double);
extern "C" double cos(double);
template<std::size_t N>
void loop(enzyme::tensor<double, N>& y, const enzyme::tensor<double, N>& x, const enzyme::tensor<double, 1>& n) {
  double a = x[0];
  for (int t = 0; t < (int)n[0]; ++t) a = sin(a) + 0.1;
  y[0] = a;
}
template<std::size_t N>
void place(enzyme::tensor<double, N>& y, const enzyme::tensor<double, N>& x) {
  y[0] = x[0];
  y[0] = sin(y[0]);
}
template<std::size_t N>
void until(enzyme::tensor<double, N>& y, const enzyme::tensor<double, N>& x) {
  double a = x[0];
  while (a > 0.2) a = a * cos(a);
  y[0] = a;
}
"""


def try_enzyme():
    import jax
    import jax.numpy as jnp
    from enzyme_ad.jax import cpp_call
    jax.config.update("jax_enable_x64", True)
    shapes = [jax.core.ShapedArray([1], jnp.float64)]

    def gradient(name, *more):
        def run(at):
            _, pull = jax.vjp(jax.jit(lambda x: cpp_call(x, *more, out_shapes=shapes, source=ENZYME, fn=name)[0]), jnp.array([at]))
            return pull(jnp.ones(1))[0][0]
        return run

    report("loop", gradient("loop", jnp.array([float(STEPS)])))
    report("in place", gradient("place"))
    report("while", gradient("until"))


SLANG = """
[Differentiable] double loop_(double x, no_diff int n) {
  double a = x;
  BOUND for (int t = 0; t < n; ++t) a = sin(a) + 0.1;
  return a;
}
[Differentiable] void place_(inout double x) { x = sin(x); }
[Differentiable] double until_(double x) {
  double a = x;
  BOUND while (a > 0.2) a = a * cos(a);
  return a;
}
export __extern_cpp double loop(double at, int n) { var p = diffPair(at); bwd_diff(loop_)(p, n, 1.0); return p.d; }
export __extern_cpp double place(double at, int n) { var p = diffPair(at, 1.0); bwd_diff(place_)(p); return p.d; }
export __extern_cpp double until(double at, int n) { var p = diffPair(at); bwd_diff(until_)(p, 1.0); return p.d; }
"""


def slangc():
    return pathlib.Path(importlib.util.find_spec("slangtorch").submodule_search_locations[0]) / "bin/slangc"


def try_slang():
    """The kernels without a bound of the loops, and with one."""
    slangc().chmod(0o755)
    with tempfile.TemporaryDirectory() as folder:
        def gradient(name, bound):
            source = pathlib.Path(folder) / f"kernels_{bool(bound)}.slang"
            source.write_text(SLANG.replace("BOUND ", bound), encoding="utf-8")

            def run(at):
                library = source.with_suffix(".so")
                if not library.is_file():  # what is loaded must stay as it is
                    made = subprocess.run([slangc(), source, "-target", "shader-sharedlib", "-o", library], text=True, check=False,
                                          capture_output=True)
                if not library.is_file():
                    raise RuntimeError(next(line for line in made.stderr.splitlines() if "error" in line))
                function = getattr(ctypes.CDLL(str(library)), name)
                function.restype = ctypes.c_double
                return function(ctypes.c_double(at), STEPS)
            return run

        report("loop", gradient("loop", ""))
        report("in place", gradient("place", "[MaxIters(64)] "))
        report("while", gradient("until", ""))
        print("  with [MaxIters(64)]:")
        report("loop", gradient("loop", "[MaxIters(64)] "))
        report("while", gradient("until", "[MaxIters(64)] "))


# The name, what of Python's registry it is, and what runs it.
SYSTEMS = {
    "jax": (["jax==0.10.2"], try_jax),
    "warp": (["warp-lang==1.19.0"], try_warp),
    "taichi": (["taichi==1.7.4"], try_taichi),
    "quadrants": (["quadrants==1.3.3"], try_quadrants),
    "enzyme": (["enzyme-ad==0.0.16", "jax==0.10.2"], try_enzyme),
    "slang": (["--no-deps", "slangtorch==1.3.22"], try_slang),
}


def installed(folder, name):
    """The Python of a virtual environment with the packages of a system."""
    place = pathlib.Path(folder) / name
    if not (place / "ready").exists():
        venv.create(place, with_pip=True)
        subprocess.run([place / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", *SYSTEMS[name][0]], check=True)
        (place / "ready").touch()
    return place / "bin/python"


def main():
    words = sys.argv[1:]
    if words[:1] == ["--one"]:
        packages, function = SYSTEMS[words[1]]
        package = next(word for word in packages if not word.startswith("-")).split("==", maxsplit=1)[0]
        print(f"{package} {importlib.metadata.version(package)}")
        function()
        return 0
    folder = None
    if words[:1] == ["--install"]:
        folder, words = words[1], words[2:]
    for name in words or SYSTEMS:
        python = installed(folder, name) if folder else sys.executable
        ran = subprocess.run([python, __file__, "--one", name], text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        shown = re.compile(r"[\w-]+ \d+(\.\d+)+|  (loop|in place|while|with) .*")
        lines = [line for line in ran.stdout.splitlines() if shown.fullmatch(line)]
        print("\n".join(lines) if lines else f"{name}: not tried: {ran.stderr.strip().splitlines()[-1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
