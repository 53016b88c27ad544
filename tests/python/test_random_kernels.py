"""Random kernels in Python: what the compiled kernel computes is what Python does, bit for bit in integers."""

import importlib.util
import os
import random
import unittest

from support import WORK, main, skip_unless_built, skip_without

skip_unless_built()
np = skip_without("numpy")

import adrt  # noqa: E402
from adc._kernel import compiled  # noqa: E402
from adc._lowering import Module  # noqa: E402

PROGRAMS = 400 if os.environ.get("ADC_FULL") else 40
FLOATS, WHOLES = ("a", "b", "c"), ("k", "m")
ELEMENTS = 6


class Writer:
    """Writes the body of a kernel. Floats stay in [-8, 8], and integers in [-50, 50], so that nothing overflows."""

    def __init__(self, seed):
        self.random, self.lines, self.depth, self.loops, self.indices = random.Random(seed), [], 2, 0, []

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def real(self, depth=0):
        choice = self.random.randrange(16 if depth < 3 else 3)
        if choice == 13:
            return f"({self.whole(depth + 1)} {self.random.choice('+-*')} x[i])"
        if choice == 14:
            sides = [f"({self.real(depth + 1)}, ({self.real(depth + 1)}, {self.random.choice(FLOATS)}))" for _ in range(2)]
            return f"({sides[0]} if {self.test(depth + 1)} else {sides[1]})[1][{self.random.randint(0, 1)}]"
        if choice == 15:
            return f"found(x, {self.real(depth + 1)}, {self.whole(depth + 1)} % 4)[{self.random.randint(0, 1)}]"
        if choice == 10:
            return f"({self.random.randint(-2, 3)} if {self.test(depth + 1)} else {self.random.choice(('0', '1.5', '2'))})"
        if choice == 11:
            return f"(0.5, 1, -2.25)[{self.whole(depth + 1)} % 3]"
        if choice == 12:
            return f"parts({self.real(depth + 1)}, (2, {self.real(depth + 1)}))[{self.random.randint(0, 1)}]"
        if choice == 0:
            return f"{self.random.uniform(-3, 3):.3f}"
        if choice == 1 or depth >= 3:
            return self.random.choice(FLOATS)
        if choice == 2:
            return "x[i]"
        if choice == 3:
            return f"math.sin({self.real(depth + 1)})"
        if choice == 4:
            return f"adc.f64({self.whole(depth + 1)})"
        if choice == 5:
            return f"({self.real(depth + 1)} if {self.test(depth + 1)} else {self.real(depth + 1)})"
        if choice == 6:
            return f"{self.random.choice(('min', 'max'))}({self.real(depth + 1)}, {self.real(depth + 1)})"
        if choice == 7:
            return f"bound({self.real(depth + 1)}, {self.random.choice(('2.0', '0.5', self.real(depth + 1)))})"
        return f"({self.real(depth + 1)} {self.random.choice('+-*')} {self.real(depth + 1)})"

    def whole(self, depth=0):
        choice = self.random.randrange(7 if depth < 3 else 2)
        if choice == 0:
            return str(self.random.randint(-5, 9))
        if choice == 1 or depth >= 3:
            return self.random.choice((*WHOLES, *self.indices, "i"))
        if choice == 2:
            return f"({self.whole(depth + 1)} {self.random.choice(('//', '%'))} {self.random.choice((-3, 2, 5))})"
        if choice == 3:
            return f"({self.whole(depth + 1)} {self.random.choice('&|^')} {self.whole(depth + 1)})"
        if choice == 4:
            return f"abs({self.whole(depth + 1)})"
        if choice == 5:
            return f"math.floor({self.random.choice(FLOATS)})"
        return f"({self.whole(depth + 1)} {self.random.choice('+-')} {self.whole(depth + 1)})"

    def test(self, depth=0):
        choice = self.random.randrange(6 if depth < 3 else 2)
        if choice == 0:
            return f"{self.real(depth + 1)} {self.random.choice(('<', '>='))} {self.real(depth + 1)}"
        if choice < 3:
            return f"{self.whole(depth + 1)} {self.random.choice(('<', '<=', '==', '!=', '>'))} {self.whole(depth + 1)}"
        if choice == 3:
            return f"({self.test(depth + 1)} {self.random.choice(('and', 'or'))} {self.test(depth + 1)})"
        if choice == 4:
            return f"not ({self.test(depth + 1)})"
        return f"{self.whole(depth + 1)} < {self.whole(depth + 1)} <= {self.whole(depth + 1)}"

    def statement(self, depth):
        choice = self.random.randrange(12 if depth < 3 else 5)
        if choice < 2:
            self.line(f"{self.random.choice(FLOATS)} = bound({self.real()}, 8.0)")
        elif choice == 2:
            self.line(f"{self.random.choice(WHOLES)} = ({self.whole()}) % 50")
        elif choice == 3:
            one, two = self.random.sample(FLOATS, 2)
            self.line(f"{one}, {two} = {two}, bound({self.real()}, 8.0)")
        elif choice == 4:
            if self.loops and self.random.random() < 0.5:
                self.line(f"if {self.test()}:")
                self.depth += 1
                self.line(self.random.choice(("break", "continue")))
                self.depth -= 1
            else:
                self.line(f"y[i] += {self.random.choice(FLOATS)}")
        elif choice < 8:
            self.branch(depth)
        elif choice < 11:
            self.count(depth)
        else:
            self.wait(depth)

    def block(self, depth):
        self.depth += 1
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth + 1)
        self.depth -= 1

    def branch(self, depth):
        self.line(f"if {self.test()}:")
        self.block(depth)
        while self.random.random() < 0.3:
            self.line(f"elif {self.test()}:")
            self.block(depth)
        if self.random.random() < 0.6:
            self.line("else:")
            self.block(depth)

    def count(self, depth):
        index = f"t{len(self.indices)}"
        bounds = self.random.choice(("4", "1, 5", "5, 0, -1", "7, -2, -3", "0, 9, 4", "k % 5", "m % 3, 4", "k % 4, -1, -1"))
        kinds = ("adc.serial(k % 4)", "(k, 2, m)", "adc.unroll((3, -1))", "reversed(range(m % 4))")
        self.line(f"for {index} in {self.random.choice((f'range({bounds})', *kinds) if self.random.random() < 0.5 else (f'range({bounds})',))}:")
        self.loops += 1
        self.indices.append(index)
        self.block(depth)
        self.indices.pop()
        self.loops -= 1

    def wait(self, depth):
        """A `while` ends, since its counter counts; its name is its own."""
        counter = f"w{len(self.lines)}"
        self.line(f"{counter} = 0")
        self.line(f"while {counter} < 4 and {self.test()}:")
        self.loops += 1
        self.depth += 1
        self.line(f"{counter} += 1")
        self.depth -= 1
        self.block(depth)
        self.loops -= 1


HEAD = """import math

import adc


@adc.function
def bound(v, most):
    if v > most:
        return most
    if v < -most:
        return -most
    return v


@adc.function
def parts(v, pair):
    if v > 1.0:
        return 1, v
    return pair


@adc.function
def found(x, v, n):
    for j in range(n):
        for k in (1, 2.5, -0.5):
            if x[j] * k > v:
                return x[j], 0
            if k + v > 3.0:
                break
            v -= 0.25
        if j + v > 2.0:
            return v, j * 0.5
    return 1, v
"""


def program(seed):
    writer = Writer(seed)
    for _ in range(5):
        writer.statement(0)
    body = "\n".join(writer.lines)
    return (f"\n\n@adc.kernel\ndef k{seed}(x: adc.buffer[adc.f64, 1], y: adc.buffer[adc.f64, 1], z: adc.buffer[adc.i32, 2]):\n"
            "    for i in adc.parallel(x.shape[0]):\n        a, b, c = x[i], 0.5, 1.0\n        k, m = i, 3\n"
            f"{body}\n        y[i] += a + 2.0 * b + 3.0 * c\n        z[i, 0], z[i, 1] = k, m\n")


class Programs(unittest.TestCase):
    def test_programs(self):
        path = WORK / "random_programs.py"
        path.write_text(HEAD + "".join(map(program, range(PROGRAMS))), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("random_programs", path)
        programs = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(programs)
        x = np.random.default_rng(5).uniform(-2, 2, ELEMENTS)
        for seed in range(PROGRAMS):
            with self.subTest(seed):
                kernel = getattr(programs, f"k{seed}")
                got, wanted = ({"x": x, "y": np.zeros(ELEMENTS), "z": np.zeros((ELEMENTS, 2), "i")} for _ in range(2))
                kernel.python(**wanted)
                made = compiled(Module(kernel.python_function), ["--target=cpu", "--derive=none", "--fp=strict", "-w"])
                adrt.load(made)[kernel.__name__](**got)
                np.testing.assert_array_equal(got["z"], wanted["z"])
                np.testing.assert_allclose(got["y"], wanted["y"], rtol=1e-9, atol=1e-9)


if __name__ == "__main__":
    main()
