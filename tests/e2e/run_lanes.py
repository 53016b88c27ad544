#!/usr/bin/env python3
"""Iterations side by side in lanes (--simd): the same results as one after the other, wherever an iteration lies.

Usage: run_lanes.py ADC

Bodies: the kernels of lanes/bodies.ir and their derivatives, for lengths around multiples of the lanes. With --fp=strict
and without functions of the library every width leaves the same bits. What --simd=off leaves, whose functions are the
library's, is equal within a few units of the last place; and so is each mode of --fp.
Places: element i of a longer launch has the bits that it has in a launch that ends elsewhere, on any number of threads.
Functions: every function of vectors against that of numbers, bit by bit, and against Python's within 4 units of the last
place, over ordinary and odd numbers.
"""

import math
import os
import platform
import random
import re
import struct
import sys
import tempfile

from batch import Batch, trusting
from directives import read_npy, write_npy

HERE = os.path.dirname(os.path.abspath(__file__))
BODIES = os.path.join(HERE, "lanes", "bodies.ir")
WIDTHS = ("2", "4", "16", "auto")
LENGTHS = (0, 1, 3, 4, 5, 17)
FUNCTIONS = {  # of Python, where it has one that rounds well
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan,
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "exp": math.exp, "exp2": lambda x: 2.0 ** x, "log": math.log,
    "log2": math.log2, "erf": math.erf}
ODD = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, math.inf, -math.inf, math.nan, 5e-324, -1e-310, 1e-8, 1e22, -1e300, 709.0, -745.0,
       1048575.9, 1048577.0, 3e5, 2.0, -0.75)


def targets():
    """The CPU targets that this machine runs."""
    if platform.machine() != "x86_64":
        return ["cpu:" + platform.machine()]
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = file.read().split()
    names = ["cpu:x86-64", "cpu:x86-64-v2"]
    if "avx2" in flags:
        names.append("cpu:x86-64-v3")
    if "avx512vl" in flags:
        names.append("cpu:x86-64-v4")
    return names


class Tests:
    def __init__(self, adc, folder):
        self.batch, self.folder, self.mistakes, self.checks = Batch(adc), folder, [], 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, *words):
        done = self.batch.call(trusting(list(words)), 600)
        if done.returncode != 0:
            raise RuntimeError(f"adc {' '.join(words)}: exit {done.returncode}\n{done.stderr}")

    def compile(self, source, target, *options):
        bundle = self.path(re.sub(r"\W", "_", target + "".join(options)) + ".adcb")
        self.call("-w", f"--target={target}", "--derive=grad,jvp", *options, source, "-o", bundle)
        return bundle

    def run(self, bundle, kernel, arguments, outputs, threads=1):
        words = []
        for name, value in arguments.items():
            if isinstance(value, tuple):
                scalar, numbers = value
                write_npy(self.path(name + ".npy"), scalar, numbers)
                value = "@" + self.path(name + ".npy")
            words += ["--arg", f"{name}={value}"]
        for name in outputs:
            words += ["--out", f"{name}=@{self.path('out.' + name + '.npy')}"]
        self.call("run", bundle, "--kernel", kernel, f"--threads={threads}", *words)
        return {name: read_npy(self.path("out." + name + ".npy")) for name in outputs}

    def expect(self, good, text):
        self.checks += 1
        if not good:
            self.mistakes.append(text)


def bits(numbers):
    return [struct.pack("<d", n) for n in numbers]


def close(a, b, tolerance=1e-12):
    return all((math.isnan(p) and math.isnan(q)) or p == q or abs(p - q) <= tolerance * max(1.0, abs(p), abs(q))
               for p, q in zip(a, b)) and len(a) == len(b)


def kernels_of(text):
    """Kernel -> its parameters."""
    found = {}
    for name, params in re.findall(r"^kernel @(\w+)\((.*)\) \{$", text, re.M):
        found[name] = re.findall(r"%(\w+): ([^%]*?)(?:,\s*(?=%)|$)", params)
    return found


def arguments_of(parameters, length, generator):
    """Arguments and outputs of a kernel; gradients take companions as well."""
    given, outputs = {}, []
    for name, type_name in parameters:
        diff = "diff" in type_name
        extra = 9 if name == "y" else 0
        if type_name.startswith("@"):
            continue
        if type_name.startswith("i32"):
            given[name] = "5"
            continue
        if "i32" in type_name:
            given[name] = ("i32", [generator.randrange(0, 8) for _ in range(length)])
            continue
        if "i64" in type_name:
            given[name] = ("i64", [0] * 9)
        elif ", 2>" in type_name:
            given[name] = ("f64", [[generator.uniform(-2, 2) for _ in range(max(1, length - 1))] for _ in range(length)])
        elif ", 0>" in type_name:
            given[name] = "0"
        else:
            given[name] = ("f64", [generator.uniform(-2, 2) for _ in range(length + extra)])
        outputs.append(name)
        if diff:
            kind, numbers = given[name] if isinstance(given[name], tuple) else ("f64", 1.0)
            one = lambda n: [one(e) for e in n] if isinstance(n, list) else generator.uniform(0.5, 1.5)
            given[name + ".adj"] = (kind, one(numbers)) if isinstance(numbers, list) else "1"
    return given, outputs


def check_bodies(tests, target):
    with open(BODIES, encoding="utf-8") as file:
        kernels = kernels_of(file.read())
    for floats in ("strict", "contract"):
        off = tests.compile(BODIES, target, f"--fp={floats}", "--simd=off")
        made = {width: tests.compile(BODIES, target, f"--fp={floats}", f"--simd={width}") for width in WIDTHS}
        for kernel, parameters in kernels.items():
            for length in LENGTHS if floats == "strict" else (17,):
                generator = random.Random(length)
                given, outputs = arguments_of(parameters, length, generator)
                if length == 0 and any(", 2>" in t for _, t in parameters):
                    continue
                for derived in ("", ".grad"):
                    if derived and kernel == "layouts":
                        continue
                    names = [n for n in given if derived or not n.endswith(".adj")]
                    own = {n: given[n] for n in names}
                    wanted = outputs if not derived else [n for n in names if n.endswith(".adj")]
                    one = tests.run(off, kernel + derived, own, wanted)
                    for width, bundle in made.items():
                        # Old counts that atomics give differ with the order, and count nothing in the end.
                        got = tests.run(bundle, kernel + derived, own, wanted)
                        where = f"{target} {floats} --simd={width} {kernel}{derived} of {length}"
                        for name in wanted:
                            tests.expect(close(got[name], one[name]), f"{where}: {name} is {got[name]}, alone {one[name]}")


def check_places(tests, target):
    """Bits of an element, in launches of other lengths and on other numbers of threads."""
    with open(BODIES, encoding="utf-8") as file:
        kernels = kernels_of(file.read())
    for width in ("4", "auto"):
        bundle = tests.compile(BODIES, target, f"--simd={width}")
        for kernel in ("branches", "bounds", "whiles"):
            given, _ = arguments_of(kernels[kernel], 40, random.Random(3))
            given = {n: v for n, v in given.items() if not n.endswith(".adj")}
            whole = tests.run(bundle, kernel, given, ["y"])["y"]
            for begin, end, threads in ((0, 40, 3), (0, 39, 1), (0, 13, 2), (1, 40, 1), (3, 22, 1), (7, 8, 1)):
                part = {n: (v[0], v[1][begin:end]) if isinstance(v, tuple) else v for n, v in given.items()}
                got = tests.run(bundle, kernel, part, ["y"], threads)["y"]
                tests.expect(bits(got) == bits(whole[begin:end]),
                             f"{target} --simd={width} {kernel}: elements {begin} to {end} on {threads} threads have other bits")


def ulps(got, want):
    if math.isnan(want) or math.isnan(got):
        return 0 if math.isnan(want) == math.isnan(got) else math.inf
    if math.isinf(want) or math.isinf(got):
        return 0 if want == got else math.inf
    return abs(got - want) / math.ulp(want)


def reference(function, x):
    try:
        return function(x)
    except ValueError:
        return math.nan if not (x == 0.0 and function in (math.log, math.log2)) else -math.inf
    except OverflowError:
        return math.copysign(math.inf, x) if function is math.sinh else math.inf


def check_functions(tests, target):
    """A body in lanes, and a serial task of the same module, which computes with numbers."""
    generator = random.Random(7)
    xs = list(ODD) + [generator.uniform(-1, 1) for _ in range(60)] + [generator.uniform(-30, 30) for _ in range(60)]
    xs += [math.ldexp(generator.uniform(-1, 1), generator.randrange(-200, 200)) for _ in range(60)]
    text = ""
    for name in list(FUNCTIONS) + ["pow", "atan2", "rem"]:
        second = ", (load %k[%i])" if name in ("pow", "atan2", "rem") else ""
        for scalar in ("f64", "f32"):
            load = "(load %x[%i])" if not second else f"(load %x[%i]){second}"
            text += f"""
kernel @{name}_{scalar}(%x: buffer<{scalar}, 1>, %k: buffer<{scalar}, 1>, %lanes: buffer<{scalar}, 1>, %one: buffer<{scalar}, 1>) {{
  parallel %i in 0..shape(%x, 0) {{ store %lanes[%i], ({name} {load}) }}
  for %i in 0..shape(%x, 0) {{ store %one[%i], ({name} {load}) }}
}}
"""
    source = tests.path("functions.ir")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    ks = [generator.choice((0.0, 1.0, -1.0, 2.0, 0.5, -3.0, math.inf, math.nan, generator.uniform(-5, 5))) for _ in xs]
    for width in ("4", "8"):
        bundle = tests.path("functions.adcb")
        tests.call("-w", f"--target={target}", "--derive=none", f"--simd={width}", source, "-o", bundle)
        for name in list(FUNCTIONS) + ["pow", "atan2", "rem"]:
            for scalar in ("f64", "f32"):
                numbers = [struct.unpack("<f", struct.pack("<f", x))[0] if abs(x) < 3e38 or x != x or math.isinf(x) else 0.0
                           for x in xs] if scalar == "f32" else xs
                got = tests.run(bundle, f"{name}_{scalar}",
                                {"x": (scalar, numbers), "k": (scalar, ks), "lanes": (scalar, [0.0] * len(xs)),
                                 "one": (scalar, [0.0] * len(xs))}, ["lanes", "one"])
                alike = [a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(got["lanes"], got["one"])]
                signs = [math.copysign(1, a) == math.copysign(1, b) or math.isnan(a) for a, b in zip(got["lanes"], got["one"])]
                where = f"{target} --simd={width} {name} {scalar}"
                tests.expect(all(alike) and all(signs) and len(alike) == len(xs), f"{where}: lanes differ from numbers")
                if name not in FUNCTIONS or scalar != "f64":
                    continue
                # Python's functions are within a unit themselves.
                worst = max((ulps(g, reference(FUNCTIONS[name], x)), x, g) for g, x in zip(got["lanes"], numbers))
                tests.expect(worst[0] <= 5, f"{where}: {worst[2]} at {worst[1]}, wrong by {worst[0]} units")


def main():
    adc = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        tests = Tests(adc, folder)
        # The newest target, whose masks have registers, and one of the others in all lengths; functions on each.
        chosen = targets()
        for target in dict.fromkeys([chosen[-1], chosen[max(0, len(chosen) - 2)], chosen[0]]):
            check_bodies(tests, target)
        for target in chosen:
            check_places(tests, target)
            check_functions(tests, target)
        for mistake in tests.mistakes[:20]:
            print(mistake)
        print(f"{tests.checks} checks, {len(tests.mistakes)} mistakes")
        tests.batch.close()
        return 1 if tests.mistakes or tests.checks == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
