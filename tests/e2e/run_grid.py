#!/usr/bin/env python3
"""Derivatives of every float operation on a grid of ordinary and edge values, and values of those that are written in
others, against 60 digits.

Usage: run_grid.py [--device DEVICE] [--show] ADC [SCALAR...]

For each of f16, f32, f64 one bundle holds a kernel of all unary and one of all binary operations, a row of a buffer for
each. Reverse mode and forward mode must give the derivative that mpmath gives for the very operands, to a few roundings
wherever it can be represented, and forward over reverse the second derivative. What is not a number, infinite, or at the
edge of the domain is stated by hand (EDGES), after the conventions of docs/ir.md. A device may take subnormal numbers
for zero, as Vulkan allows; a CPU may not.
"""

import argparse
import math
import os
import struct
import sys
import tempfile

import mpmath
from mpmath import mp, mpf

from batch import Batches
from directives import read_npy, rounded, write_npy

mp.dps = 60
INF, NAN = math.inf, math.nan
# Of the format: last place of 1, greatest, least normal, least subnormal number.
FORMATS = {"f16": (2.0**-10, 65504.0, 2.0**-14, 2.0**-24),
           "f32": (2.0**-23, float.fromhex("0x1.fffffep127"), 2.0**-126, 2.0**-149),
           "f64": (2.0**-52, sys.float_info.max, 2.0**-1022, 2.0**-1074)}
TARGETS = {"cpu": "cpu", "vulkan": "vulkan:1.2", "metal": "metal:2.4", "cuda": "cuda:sm_80", "hip": "hip:gfx1100"}
# Roundings of the format that a derivative may be off: the functions in it are right to a few themselves.
ROUNDINGS, SECOND_ROUNDINGS = 12, 64


def sech2(x):
    return 1 / mpmath.cosh(x) ** 2


# Name: derivative, second derivative.
UNARY = {
    "neg": (lambda x: mpf(-1), lambda x: mpf(0)),
    "abs": (lambda x: mpmath.sign(x), lambda x: mpf(0)),
    "sqrt": (lambda x: 1 / (2 * mpmath.sqrt(x)), lambda x: -1 / (4 * x * mpmath.sqrt(x))),
    "rsqrt": (lambda x: -1 / (2 * x * mpmath.sqrt(x)), lambda x: 3 / (4 * x * x * mpmath.sqrt(x))),
    "rcp": (lambda x: -1 / x ** 2, lambda x: 2 / x ** 3),
    "sin": (mpmath.cos, lambda x: -mpmath.sin(x)),
    "cos": (lambda x: -mpmath.sin(x), lambda x: -mpmath.cos(x)),
    "tan": (lambda x: 1 + mpmath.tan(x) ** 2, lambda x: 2 * mpmath.tan(x) * (1 + mpmath.tan(x) ** 2)),
    "asin": (lambda x: 1 / mpmath.sqrt(1 - x * x), lambda x: x / mpmath.sqrt(1 - x * x) ** 3),
    "acos": (lambda x: -1 / mpmath.sqrt(1 - x * x), lambda x: -x / mpmath.sqrt(1 - x * x) ** 3),
    "atan": (lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2),
    "sinh": (mpmath.cosh, mpmath.sinh),
    "cosh": (mpmath.sinh, mpmath.cosh),
    "tanh": (sech2, lambda x: -2 * mpmath.tanh(x) * sech2(x)),
    "exp": (mpmath.exp, mpmath.exp),
    "exp2": (lambda x: mpmath.log(2) * mpf(2) ** x, lambda x: mpmath.log(2) ** 2 * mpf(2) ** x),
    "log": (lambda x: 1 / x, lambda x: -1 / x ** 2),
    "log2": (lambda x: 1 / (x * mpmath.log(2)), lambda x: -1 / (x * x * mpmath.log(2))),
    "erf": (lambda x: 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x),
            lambda x: -4 * x / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x)),
    "expm1": (mpmath.exp, mpmath.exp),
    "log1p": (lambda x: 1 / (1 + x), lambda x: -1 / (1 + x) ** 2),
    "cbrt": (lambda x: 1 / (3 * mpmath.cbrt(abs(x)) ** 2), lambda x: -2 / (9 * x * mpmath.cbrt(abs(x)) ** 2)),
    "erfc": (lambda x: -2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x),
             lambda x: 4 * x / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x)),
    "asinh": (lambda x: 1 / mpmath.sqrt(1 + x * x), lambda x: -x / mpmath.sqrt(1 + x * x) ** 3),
    "acosh": (lambda x: 1 / mpmath.sqrt(x * x - 1), lambda x: -x / mpmath.sqrt(x * x - 1) ** 3),
    "atanh": (lambda x: 1 / (1 - x * x), lambda x: 2 * x / (1 - x * x) ** 2),
    "exp10": (lambda x: mpmath.log(10) * mpf(10) ** x, lambda x: mpmath.log(10) ** 2 * mpf(10) ** x),
    "log10": (lambda x: 1 / (x * mpmath.log(10)), lambda x: -1 / (x * x * mpmath.log(10))),
    "sinpi": (lambda x: mpmath.pi * mpmath.cospi(x), lambda x: -mpmath.pi ** 2 * mpmath.sinpi(x)),
    "cospi": (lambda x: -mpmath.pi * mpmath.sinpi(x), lambda x: -mpmath.pi ** 2 * mpmath.cospi(x)),
    "floor": (lambda x: mpf(0), lambda x: mpf(0)), "ceil": (lambda x: mpf(0), lambda x: mpf(0)),
    "round": (lambda x: mpf(0), lambda x: mpf(0)), "trunc": (lambda x: mpf(0), lambda x: mpf(0)),
    "sgn": (lambda x: mpf(0), lambda x: mpf(0)),
}

# The values of the operations that are written in others (lib/transform/composed.ir), and how many halves of a last place
# they may be off: no other test holds them against anything on every device.
VALUES = {
    "expm1": mpmath.expm1, "log1p": mpmath.log1p, "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "erfc": lambda x: mpmath.erfc(min(x, mpf(100))) if x > -100 else mpf(2), "asinh": mpmath.asinh, "acosh": mpmath.acosh, "atanh": mpmath.atanh,
    "exp10": lambda x: mpf(10) ** x, "log10": mpmath.log10, "sinpi": mpmath.sinpi, "cospi": mpmath.cospi,
}
BINARY_VALUES = {"hypot": mpmath.hypot, "copysign": lambda a, b: mpf(math.copysign(float(a), float(b))),
                 "fdim": lambda a, b: max(a - b, mpf(0))}
VALUE_ROUNDINGS = 8


def value_edge(name, x):
    """The value where mpmath has none or another one, or None."""
    if math.isnan(x):
        return NAN
    if name == "log1p" and x <= -1:
        return -INF if x == -1 else NAN
    if name == "log10" and x <= 0:
        return -INF if x == 0 else NAN
    if name == "acosh" and x < 1 or name == "atanh" and abs(x) > 1:
        return NAN
    if name == "atanh" and abs(x) == 1:
        return math.copysign(INF, x)
    if math.isinf(x):
        return {"expm1": x if x > 0 else -1.0, "exp10": x if x > 0 else 0.0, "erfc": 0.0 if x > 0 else 2.0,
                "sinpi": NAN, "cospi": NAN}.get(name, x)
    return None


def binary_value_edge(name, a, b):
    if name == "hypot" and (math.isinf(a) or math.isinf(b)):
        return INF
    if name == "copysign":
        return NAN if math.isnan(a) else "any" if math.isnan(b) else math.copysign(a, b)
    if math.isnan(a) or math.isnan(b):
        return NAN
    if name == "fdim" and (math.isinf(a) or math.isinf(b)):
        return 0.0 if a <= b else INF
    return None


ZERO_EVERYWHERE = ("floor", "ceil", "round", "trunc", "sgn")


def unary_edge(name, x):
    """The derivative where the formula has none, or None. `either` says that the sign is open."""
    if name in ZERO_EVERYWHERE:
        return 0.0
    if name == "neg":
        return -1.0
    if math.isnan(x):
        return NAN
    if name == "abs":
        return 0.0 if x == 0 else math.copysign(1.0, x)
    if name in ("sqrt", "rsqrt") and x < 0:
        return NAN
    if name in ("asin", "acos") and abs(x) > 1:
        return NAN
    if name == "acosh" and x < 1:
        return NAN
    if name == "atanh" and abs(x) > 1:
        return "any"  # as the logarithm of a negative number, which has a derivative and no value
    if name == "acosh" and x == 1:
        return INF
    if name == "log1p" and x == -1 or name == "atanh" and abs(x) == 1:
        return ("either", INF)
    if name in ("asin", "acos") and abs(x) == 1:
        return INF if name == "asin" else -INF
    if x == 0:
        infinite = {"sqrt": INF, "rsqrt": -INF, "rcp": -INF, "log": INF, "log2": INF, "log10": INF, "cbrt": INF}
        if name in infinite:
            return ("either", INF) if math.copysign(1.0, x) < 0 else infinite[name]
    if math.isinf(x):
        far = {"sqrt": 0.0, "rsqrt": 0.0, "rcp": 0.0, "sin": NAN, "cos": NAN, "tan": NAN, "atan": 0.0, "sinh": INF,
               "cosh": x, "tanh": 0.0, "exp": INF if x > 0 else 0.0, "exp2": INF if x > 0 else 0.0, "log": 0.0,
               "log2": 0.0, "erf": 0.0, "expm1": INF if x > 0 else 0.0, "log1p": 0.0, "cbrt": 0.0, "erfc": 0.0,
               "asinh": 0.0, "acosh": 0.0, "atanh": 0.0, "exp10": INF if x > 0 else 0.0, "log10": 0.0, "sinpi": NAN,
               "cospi": NAN}
        return far[name]
    return None


def quotient(a, b, floors):
    q = mpf(a) / mpf(b)
    return mpmath.floor(q) if floors else mpmath.sign(q) * mpmath.floor(abs(q))


# Name: derivative by the first, by the second operand.
BINARY = {
    "div": (lambda a, b: 1 / b, lambda a, b: -a / b ** 2),
    "rem": (lambda a, b: mpf(1), lambda a, b: -quotient(a, b, False)),
    "mod": (lambda a, b: mpf(1), lambda a, b: -quotient(a, b, True)),
    "pow": (lambda a, b: b * a ** (b - 1), lambda a, b: a ** b * mpmath.log(a)),
    "atan2": (lambda a, b: b / (a * a + b * b), lambda a, b: -a / (a * a + b * b)),
    "hypot": (lambda a, b: a / mpmath.hypot(a, b), lambda a, b: b / mpmath.hypot(a, b)),
    "copysign": (lambda a, b: mpf(math.copysign(1, float(a)) * math.copysign(1, float(b))), lambda a, b: mpf(0)),
    "fdim": (lambda a, b: mpf(a > b), lambda a, b: -mpf(a > b)),
    "min": (lambda a, b: mpf(a < b), lambda a, b: mpf(not a < b)),
    "max": (lambda a, b: mpf(a > b), lambda a, b: mpf(not a > b)),
    "mul": (lambda a, b: b, lambda a, b: a),
    "sub": (lambda a, b: mpf(1), lambda a, b: mpf(-1)),
}


def binary_edge(name, n, a, b):
    """As unary_edge; "any" where nothing is promised."""
    if name in ("min", "max"):
        first = a < b if name == "min" else a > b
        return 1.0 if first == (n == 0) else 0.0
    if name == "sub":
        return 1.0 if n == 0 else -1.0
    if name == "copysign":
        return "any" if math.isnan(a) or math.isnan(b) else math.copysign(1.0, a) * math.copysign(1.0, b) if n == 0 else 0.0
    if name == "fdim":
        return (1.0 if n == 0 else -1.0) if not a <= b else 0.0
    if name == "hypot":
        if math.isnan(a) or math.isnan(b) or math.isinf(a) or math.isinf(b):
            return "any"
        return 0.0 if a == 0 and b == 0 else None
    if name == "mul":
        return b if n == 0 else a
    if math.isnan(a) or math.isnan(b):
        unread = name in ("rem", "mod", "div") and n == 0 and not math.isnan(b)
        return 1.0 if name in ("rem", "mod") and n == 0 else "any" if name == "pow" or unread else NAN
    if name == "atan2":
        if a == 0 and b == 0 or math.isinf(a) and math.isinf(b):
            return NAN
        return 0.0 if math.isinf(a) or math.isinf(b) else None
    if name in ("rem", "mod"):
        if n == 0:
            return 1.0
        return "any" if math.isinf(a) or math.isinf(b) or b == 0 else None
    if name == "div":
        return "any" if math.isinf(a) or math.isinf(b) or b == 0 else None
    if name == "pow":
        if n == 0 and b == 0:
            return 0.0
        if n == 1 and a == 0 and b > 0:
            return 0.0
        return "any" if a <= 0 or math.isinf(a) or math.isinf(b) else None
    return None


def unary_grid(scalar):
    eps, greatest, normal, subnormal = FORMATS[scalar]
    grid = [0.0, subnormal, 3 * subnormal, normal / 2, normal, 1e-3, 0.01, 0.1, 0.25, 0.5, 0.7, 0.75, 0.9, 1 - eps, 1.0,
            1 + eps, 1.3, 1.5, 2.0, 2.7, 3.0, 4.0, 5.0, 6.5, 8.0, 9.5, 11.0, 12.5, 20.0, 30.0, 50.0, 87.0, 100.0, 256.0,
            300.0, 1e3, 1e4, greatest / 3, greatest, INF, NAN]
    if scalar != "f16":
        grid += [1e-30, 1e-23, 1e-15, 1e-8, 1e8, 1e15, 1e20, 3e37]
    if scalar == "f64":
        grid += [1e-300, 1e-200, 1e-100, 26.0, 300.5, 700.0, 1e100, 1e155, 1e200, 1e300]
    grid = [rounded(scalar, value) for value in grid]
    return grid + [-value for value in grid]


def binary_grid(scalar):
    eps, greatest, normal, subnormal = FORMATS[scalar]
    some = [0.0, 1.0, 0.3, 1.5, 2.0, 3.0, 7.5, 20.0, 300.0, 6e4 if scalar == "f16" else 1e6, 1e-3, normal, INF, NAN]
    if scalar == "f32":
        some += [1e20, 1e-23, 1e30, 1e-30]
    if scalar == "f64":
        some += [1e200, 1e-200]
    some = [rounded(scalar, value) for value in some]
    some += [-value for value in some]
    return [(a, b) for a in some for b in some]


def program(scalar):
    def kernel(name, operands, rows):
        reads = "\n".join(f"    %{o}{n} = load %{o}[{n}, %i]" for n in range(len(rows)) for o in operands)
        writes = "\n".join(f"    store %y[{n}, %i], ({op} {', '.join(f'%{o}{n}' for o in operands)})"
                           for n, op in enumerate(rows))
        buffers = ", ".join(f"%{o}: buffer<{scalar}, 2> diff" for o in list(operands) + ["y"])
        return f"kernel @{name}({buffers}) {{\n  parallel %i in 0..shape(%{operands[0]}, 1) {{\n{reads}\n{writes}\n  }}\n}}\n"
    return kernel("unary", ["x"], UNARY) + kernel("binary", ["a", "b"], BINARY)


class Grid:
    def __init__(self, options, adc, scalar, folder):
        self.options, self.adc, self.scalar, self.folder = options, adc, scalar, folder
        self.eps, self.greatest, self.normal, self.subnormal = FORMATS[scalar]
        self.mistakes, self.counted = [], 0
        self.bundle = os.path.join(folder, scalar + ".adcb")

    def call(self, *words):
        outcome = self.adc.call(list(words))
        if outcome.returncode != 0:
            raise SystemExit(f"{' '.join(words)}: exit {outcome.returncode}\n{outcome.stdout}{outcome.stderr}")

    def run(self, kernel, arguments, output):
        words = ["run"] + (["--device", self.options.device] if self.options.device != "cpu" else [])
        words += [self.bundle, "--kernel", kernel]
        for name, value in arguments.items():
            path = os.path.join(self.folder, name + ".npy")
            write_npy(path, self.scalar, value)
            words += ["--arg", f"{name}=@{path}"]
        path = os.path.join(self.folder, "out.npy")
        self.call(*words, "--out", f"{output}=@{path}")
        return read_npy(path)

    def wanted(self, exact):
        """A number of 60 digits as the format would hold it, all but the rounding."""
        if abs(exact) > mpf(self.greatest) * (1 + mpf(self.eps) / 2):
            return INF if exact > 0 else -INF
        return exact

    def agrees(self, got, want, roundings, sum_of=0):
        if want == "any":
            return True
        if isinstance(want, tuple):
            return math.isinf(got)
        if isinstance(want, float) and (math.isnan(want) or math.isinf(want)):
            close = math.isinf(want) and abs(got) >= self.greatest * (1 - roundings * self.eps)
            return math.isnan(got) if math.isnan(want) else got == want or close and (got > 0) == (want > 0)
        if math.isnan(got):
            return False
        if math.isinf(got):
            return abs(want) >= mpf(self.greatest) * (1 - mpf(roundings * self.eps)) and (got > 0) == (want > 0)
        least = (2 if roundings == ROUNDINGS else 8) * self.subnormal if self.options.device == "cpu" else self.normal
        return abs(mpf(got) - want) <= roundings * mpf(self.eps) / 2 * (abs(want) + sum_of) + mpf(least)

    def check(self, what, operands, got, want, roundings, sum_of=0):
        self.counted += 1
        flushes = self.options.device != "cpu" and any(0 < abs(v) < self.normal for v in operands)
        if not flushes and not self.agrees(got, want, roundings, sum_of):
            shown = want if isinstance(want, (str, tuple, float)) else mpmath.nstr(want, 12)
            self.mistakes.append(f"{self.scalar} {what} at {', '.join(map(repr, operands))}: {got!r}, should be {shown}")

    def unary(self):
        grid, names = unary_grid(self.scalar), list(UNARY)
        rows = [grid] * len(names)
        ones, zeros = [[1.0] * len(grid)] * len(names), [[0.0] * len(grid)] * len(names)
        values = self.run("unary", {"x": rows, "y": zeros}, "y")
        reverse = self.run("unary.grad", {"x": rows, "y": zeros, "x.adj": zeros, "y.adj": ones}, "x.adj")
        forward = self.run("unary.jvp", {"x": rows, "y": zeros, "x.tan": ones, "y.tan": zeros}, "y.tan")
        second = self.run("unary.grad.jvp", {"x": rows, "y": zeros, "x.adj": zeros, "y.adj": ones, "x.tan": ones,
                                             "y.tan": zeros, "x.adj.tan": zeros, "y.adj.tan": zeros}, "x.adj.tan")
        for row, name in enumerate(names):
            for column, x in enumerate(grid):
                at = row * len(grid) + column
                if name in VALUES:
                    edge = value_edge(name, x)
                    want = edge if edge is not None else self.wanted(VALUES[name](mpf(x)))
                    self.check(name, [x], values[at], want, VALUE_ROUNDINGS)
                edge = unary_edge(name, x)
                want = edge if edge is not None else self.wanted(UNARY[name][0](mpf(x)))
                # The value that some derivatives are made of has roundings of its own, which its scale magnifies.
                self.check(f"{name}' (reverse)", [x], reverse[at], want, ROUNDINGS)
                self.check(f"{name}' (forward)", [x], forward[at], want, ROUNDINGS)
                if edge is None or name in ZERO_EVERYWHERE:
                    want = self.wanted(UNARY[name][1](mpf(x)))
                    # What doubles on the way overflows where the operand is the greatest number.
                    if not (isinstance(want, float) and math.isinf(want)) and abs(x) < self.greatest / 2:
                        self.check(f"{name}'' (forward over reverse)", [x], second[at], want, SECOND_ROUNDINGS,
                                   abs(UNARY[name][0](mpf(x))) * self.eps)

    def binary(self):
        grid, names = binary_grid(self.scalar), list(BINARY)
        columns = [[pair[n] for pair in grid] for n in range(2)]
        rows = [[column] * len(names) for column in columns]
        ones, zeros = [[1.0] * len(grid)] * len(names), [[0.0] * len(grid)] * len(names)
        given = {"a": rows[0], "b": rows[1], "y": zeros}
        values = self.run("binary", given, "y")
        for row, name in enumerate(names):
            for column, (a, b) in enumerate(grid):
                if name in BINARY_VALUES:
                    edge = binary_value_edge(name, a, b)
                    want = edge if edge is not None else self.wanted(BINARY_VALUES[name](mpf(a), mpf(b)))
                    self.check(name, [a, b], values[row * len(grid) + column], want, VALUE_ROUNDINGS)
        for n, operand in enumerate("ab"):
            reverse = self.run("binary.grad", {**given, "a.adj": zeros, "b.adj": zeros, "y.adj": ones}, operand + ".adj")
            tangents = {"a.tan": ones if n == 0 else zeros, "b.tan": ones if n == 1 else zeros}
            forward = self.run("binary.jvp", {**given, **tangents, "y.tan": zeros}, "y.tan")
            for row, name in enumerate(names):
                for column, (a, b) in enumerate(grid):
                    at = row * len(grid) + column
                    edge = binary_edge(name, n, a, b)
                    want = edge
                    if edge is None:
                        want = self.wanted(BINARY[name][n](mpf(a), mpf(b)))
                    if name in ("rem", "mod") and edge is None and abs(want) * self.eps > 0.1:
                        continue  # the quotient has more digits than the format
                    if name == "mod" and edge is None and not self.whole(a, b):
                        continue  # the quotient is that of the rounded division: remainders.ir
                    if name == "pow" and edge is None and not self.normal <= mpf(a) ** mpf(b) <= self.greatest:
                        continue  # no value to be as accurate as
                    if name == "hypot" and edge is None and mpmath.hypot(mpf(a), mpf(b)) > self.greatest:
                        continue  # the same
                    self.check(f"d {name}/d{operand} (reverse)", [a, b], reverse[at], want, ROUNDINGS)
                    # The other operand's tangent is 0, times an infinite slope not a number.
                    other = binary_edge(name, 1 - n, a, b)
                    plain = other is None and math.isfinite(float(self.wanted(BINARY[name][1 - n](mpf(a), mpf(b)))))
                    if plain:
                        self.check(f"d {name}/d{operand} (forward)", [a, b], forward[at], want, ROUNDINGS)

    def whole(self, a, b):
        return math.floor(rounded(self.scalar, a / b)) == int(mpmath.floor(mpf(a) / mpf(b)))

    def examine(self):
        source = os.path.join(self.folder, self.scalar + ".ir")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program(self.scalar))
        self.call(f"--target={self.options.target}", "--derive=grad,jvp,jvp(grad)", source, "-o", self.bundle)
        self.unary()
        self.binary()
        return self.mistakes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--target")
    parser.add_argument("--show", type=int, default=20, help="mistakes that are printed of each format")
    parser.add_argument("adc")
    parser.add_argument("scalars", nargs="*")
    options = parser.parse_args()
    options.target = options.target or TARGETS[options.device]
    adc, failed, counted = Batches(os.path.abspath(options.adc)), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for scalar in options.scalars or FORMATS:
            grid = Grid(options, adc, scalar, folder)
            mistakes = grid.examine()
            failed += len(mistakes)
            counted += grid.counted
            for mistake in mistakes[:options.show]:
                print(mistake)
            print(f"{scalar} on {options.device}: {grid.counted} derivatives, {len(mistakes)} wrong")
    failed += len([print(mistake) for mistake in adc.end()])
    return 1 if failed or counted == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
