#!/usr/bin/env python3
"""Masked singularities: random programs in IR, C++, GLSL and HLSL against dual numbers under the strong zero.

Usage: masked.py ADC [--seed N] [--count N] [--first N] [--doors ir,vjp,cpp,glsl,hlsl] [--jobs N] [--vulkan] [--stay FOLDER]

What is not selected contributes nothing to a derivative, whatever its partials are: of each program the value, the
gradient, the tangent and the tangent of the gradient are compared at points on the edges of domains, at zeros of both
signs, infinities and NaN. masked_programs.py writes the programs, dual_tape.py says what they mean.

The seed is printed; --seed and --first with --count 1 make one program again, and --stay keeps its file.
"""

import argparse
import math
import multiprocessing
import os
import random
import re
import sys
import tempfile

import dual_tape
import masked_programs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from batch import Batch  # noqa: E402
from directives import read_npy, write_npy  # noqa: E402

POINTS = 16
SHARES = {"ir": (10, 16), "vjp": (1, 1), "cpp": (3, 24), "glsl": (4, 6), "hlsl": (3, 6)}  # weight, and programs in a file
ORDINARY = (0.0, 0.0, -0.0, 1.0, 1.0, -1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 0.25, 3.0, 0.75)
UNUSUAL = (math.inf, -math.inf, math.nan)
EXACT = {"add", "sub", "mul", "div", "neg", "abs", "sqrt", "rcp", "copysign", "half", "floor", "rem", "hypot", "unit"}


class Near(Exception):
    """A rounding could decide."""


class Runner:
    """Evaluates a program at a point on a tape."""

    def __init__(self, program, tape, blur=0.0):
        self.program, self.tape, self.blur, self.vars = program, tape, blur, {}
        self.rng = random.Random(7)

    def run(self, point, tangents):
        self.inputs = [self.tape.leaf(v, t) for v, t in zip(point, tangents)]
        for item in self.program.items:
            if item[0] == "let":
                self.vars[item[1]] = self.expr(item[2])
            elif item[0] == "return":
                if self.condition(item[1]):
                    return self.expr(item[2])
            else:
                return self.expr(item[1])
        raise AssertionError("a program without a result")

    def expr(self, e):
        if e[0] == "in":
            return self.inputs[e[1]]
        if e[0] == "var":
            return self.vars[e[1]]
        if e[0] == "const":
            return self.tape.constant(e[1])
        if e[0] == "choose":
            return self.expr(e[3] if self.condition(e[2]) else e[4])
        if e[0] == "loop":
            return self.loop(*e[1:])
        return self.operation(e[1], e[2:])

    def loop(self, form, trips, name, first, step, condition, other):
        self.vars[name] = self.expr(first)
        for turn in range(trips):
            if self.condition(condition) and turn > 0:
                self.vars[name] = self.expr(other)
                if form == "break":
                    break
            else:
                self.vars[name] = self.expr(step)
        return self.vars[name]

    def operation(self, op, sources):
        args = [self.expr(x) for x in sources]
        if op in ("min", "max"):
            return self.extremum(op, args, sources)
        if op == "clamp":
            inner = self.extremum("max", args[:2], sources[:2])
            return self.extremum("min", [inner, args[2]], [sources[0] if inner is args[0] else sources[1], sources[2]])
        op = masked_programs.MEANING.get(op, op)
        if op == "rem" and self.program.door == "hlsl":
            op = "mod"  # glslang makes OpFMod of fmod
        if op.endswith("copysign") and any(math.isnan(x.value.v) for x in args):
            raise Near  # the sign of a NaN is nobody's
        if op == "bits.copysign" and args[0].value.v == 0:
            raise Near  # of one number twice it is the number, and otherwise begins with `abs`
        numbers = [x.value.v for x in args]
        if op in ("hypot", "unit") and any(map(math.isnan, numbers)) and any(map(math.isinf, numbers)):
            raise Near  # infinite or NaN, as a length is computed
        if op in ("sin", "cos", "tan") and 100 < abs(numbers[0]) < math.inf:
            raise Near
        if op == "bits.copysign":
            op, args[0] = "copysign", self.tape.apply("abs", args[0])
        if op == "floor" and not self.is_given(sources[0]):
            self.apart(args[0].value.v, round(args[0].value.v) if math.isfinite(args[0].value.v) else 0.0)
        if op in ("rem", "mod"):
            q = dual_tape.divided(args[0].value.v, args[1].value.v)
            if math.isfinite(q) and not all(map(self.is_given, sources)):
                self.apart(q, round(q))
        result = self.tape.apply(op, *args)
        if self.blur and op not in EXACT and not float(result.value.v).is_integer():
            result.value.v *= 1.0 + self.rng.choice((-1, 1)) * self.blur
        return result

    def extremum(self, op, args, sources):
        a, b = (x.value.v for x in args)
        self.decide(sources[0], sources[1], a, b)
        if self.program.door in ("glsl", "hlsl") and not abs(a - b) > 0:
            raise Near  # which one is the device's affair
        if self.program.door == "cpp":
            return args[1] if (b < a if op == "min" else a < b) else args[0]
        return args[0] if (a < b if op == "min" else a > b) else args[1]

    def condition(self, c):
        if c[0] == "not":
            return not self.condition(c[1])
        if c[0] == "and":
            return all([self.condition(c[1]), self.condition(c[2])])
        if c[0] == "nan":
            return math.isnan(self.expr(c[1]).value.v)
        a, b = self.expr(c[2]).value.v, self.expr(c[3]).value.v
        self.decide(c[2], c[3], a, b)
        return {">": a > b, "<": a < b, ">=": a >= b, "<=": a <= b, "==": a == b, "!=": a != b}[c[1]]

    @staticmethod
    def is_given(e):
        return e[0] in ("in", "const")

    def decide(self, first, second, a, b):
        if not (self.is_given(first) and self.is_given(second)):
            self.apart(a, b)

    @staticmethod
    def apart(a, b):
        if abs(a - b) <= 1e-4 * max(1.0, abs(a)) if math.isfinite(a - b) else a == b:
            raise Near


class Expectation:
    """Value, tangent, adjoints and their tangents at a point, as one kind of tape has them."""

    def __init__(self, program, point, tangents, seed, rounding, strong_tangents=False, strong_adjoints=False, blur=0.0):
        self.tape = dual_tape.Tape(rounding, strong_tangents, strong_adjoints)
        runner = Runner(program, self.tape, blur)
        result = runner.run(point, tangents)
        value, tangent = result.value.v, result.value.t
        self.value, self.tangent = value, tangent or 0.0 if tangent == tangent else tangent
        self.tape.sweep(result, seed)
        adjoints = [x.adjoint for x in runner.inputs]
        self.adjoints = [0.0 if s is None else s.v for s in adjoints]
        self.second = [0.0 if s is None or s.t is None else s.t for s in adjoints]

    def read(self):
        """Values of what the sweep reads, and all numbers that it and forward mode make there."""
        entries = [entry for entry in self.tape.entries if entry.adjoint is not None]
        values = [entry.value.v for entry in entries]
        return values, values + [x for entry in entries for x in (entry.value.t or 0.0, entry.adjoint.v, entry.adjoint.t or 0.0)]


def are_finite(numbers):
    return all(map(math.isfinite, numbers))


class Wanted:
    """What may come out at a point: of each kind, lists of numbers of which the first is meant where it is finite."""

    def __init__(self, program, point, tangents, seed, real):
        rounding = dual_tape.single if real in ("f32", "float") else float
        finite = are_finite(point)
        still = [None if t == 0 and finite else t for t in tangents]
        base = Expectation(program, point, still, seed, rounding)
        blur = Expectation(program, point, still, seed, float, blur=2e-7 if rounding is not float else 1e-14)
        self.lists = {"value": [[base.value]], "tangent": [[base.tangent]], "adjoint": [base.adjoints], "second": [base.second]}
        self.blurred = {"value": [blur.value], "tangent": [blur.tangent], "adjoint": blur.adjoints, "second": blur.second}
        values, numbers = base.read()
        self.numbers = numbers
        # A second derivative at a kink, or of what is infinite on the way, is what the formulas make of it.
        self.has_second = are_finite(numbers) and not base.tape.has_kink
        if not are_finite([base.tangent, *base.adjoints, *base.second]):
            for motion in [still] if finite else [still, [None if t == 0 else t for t in tangents]]:
                for strong_tangents, strong_adjoints in ((False, False), (True, False), (False, True), (True, True)):
                    other = Expectation(program, point, motion, seed, rounding, strong_tangents, strong_adjoints)
                    self.lists["tangent"].append([other.tangent])
                    self.lists["second"].append(other.second)
            other = Expectation(program, point, [None] * 3, seed, rounding, strong_adjoints=True)
            self.lists["adjoint"].append(other.adjoints)
        # What is undefined and read may be undefined in its derivatives, and what is infinite is what the formulas make of it.
        self.has_endless_length = base.tape.has_endless_length
        self.undefined = any(map(math.isnan, values)) or not math.isfinite(base.value)
        # A length has the derivative 0 at 0, and what is infinite behind it may make NaN of that.
        self.undefined |= base.tape.has_kink and not are_finite(numbers) or base.tape.has_wild_kink
        # The adjoint in front of `abs` of 0 is a 0 of arithmetic: nothing is masked there.
        self.undefined |= base.tape.has_flat
        self.endless = not are_finite(values) or base.tape.has_sums

    def is_right(self, kind, part, got, units):
        """None: the oracle does not say."""
        want, blurred = self.lists[kind][0][part], self.blurred[kind][part]
        if math.isfinite(want) != math.isfinite(blurred):
            return None
        if kind != "value" and (self.has_endless_length or math.isnan(got) and self.undefined or not math.isfinite(want) and self.endless):
            return None
        if math.isfinite(want):
            return abs(got - want) <= units * max(1.0, abs(want)) + 64 * abs(want - blurred)
        # Infinities that cancel may be of equal expressions, which a compiler computes once: of their derivatives it makes one
        # infinity, or a 0 that masks it.
        if kind != "value" and math.isnan(want) and (math.isinf(got) or got == 0 and any(map(math.isinf, self.numbers))):
            return None
        same = lambda a, b: a == b or (a != a and b != b) or abs(a - b) <= 4 * units * max(1.0, abs(b))
        return any(same(got, other[part]) for other in self.lists[kind])


class File:
    """Programs of one door in one file, and the points at which they run."""

    def __init__(self, seed, door, first, count):
        self.door, self.first = door, first
        write = masked_programs.Named if door == "vjp" else masked_programs.Program
        self.programs = [write(f"{seed} {door} {first + n}", door) for n in range(count)]
        self.rng = random.Random(f"{seed} {door} {first}")
        kinds = {"ir": ("f64", "f64", "f32"), "vjp": ("f64", "f32"), "cpp": ("double", "float")}
        self.real = random.Random(f"{seed} {door} real {first // 48}").choice(kinds.get(door, ("float",)))
        self.text = masked_programs.file_of(self.programs, door, self.real, POINTS, self.rng)
        self.points, self.tangents, self.seeds = [], [], []
        for n in range(count):
            rng = random.Random(f"{seed} {door} points {first + n}")
            for _ in range(POINTS):
                self.points.append([rng.choice(UNUSUAL if rng.random() < 0.08 else ORDINARY) for _ in range(3)])
                self.tangents.append([rng.choice((1.0, -0.5, 2.0, 0.0)) for _ in range(3)])
                self.seeds.append(rng.choice((1.0, -2.0, 0.5)))

    def scalar(self):
        return "f32" if self.real in ("f32", "float") else "f64"


class Machine:
    """An `adc` that stays, and a folder for what it reads and writes."""

    def __init__(self, adc, folder):
        self.batch, self.folder = Batch([adc]), folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, words):
        outcome = self.batch.call(words, 300)
        if outcome.returncode:
            raise RuntimeError(f"adc {' '.join(words)}\n{outcome.stderr[:3000]}")
        return outcome

    def compile(self, file, fp, level, target):
        source = self.path("k." + {"ir": "ir", "vjp": "ir", "cpp": "cpp", "glsl": "comp", "hlsl": "hlsl"}[file.door])
        with open(source, "w", encoding="utf-8") as out:
            out.write(file.text)
        outcome = self.call(["--derive=grad,jvp,jvp(grad)", f"--target={target}", f"--fp={fp}", f"-O{level}", "-o", self.path("k.adcb"), source])
        return source, sorted(set(re.findall(r"\[(W0417|W0418)\]", outcome.stderr)))

    def run(self, file, words):
        """Numbers by kind, as the tapes have them."""
        count, scalar = len(file.points), file.scalar()
        flat = lambda rows: [number for row in rows for number in row]
        given = {"x": flat(file.points), "x.tan": flat(file.tangents), "y.adj": file.seeds, "y.adj.tan": [0.0] * count}
        for name, numbers in given.items():
            write_npy(self.path(name + ".npy"), scalar, numbers)
        found = {}
        for kernel, names, wanted in (("k", ["x"], {"y": "value"}), ("k.jvp", ["x", "x.tan"], {"y.tan": "tangent"}),
                                      ("k.grad", ["x", "y.adj"], {"x.adj": "adjoint"}),
                                      ("k.grad.jvp", ["x", "x.tan", "y.adj", "y.adj.tan"], {"x.adj.tan": "second"})):
            call = ["run"] + words + ["--kernel", kernel]
            if file.door in ("glsl", "hlsl"):
                call += [f"--arg=invocations_x={POINTS}"]
            call += [f"--arg={name}=@{self.path(name + '.npy')}" for name in names]
            own = {"k": ["y"], "k.jvp": ["y", "y.tan"], "k.grad": ["y", "x.adj"], "k.grad.jvp": ["y", "y.tan", "x.adj", "x.adj.tan"]}[kernel]
            call += [f"--shape={name}={count if name[0] == 'y' else 3 * count}" for name in own]
            call += [f"--out={name}=@{self.path('out.npy')}" for name in wanted]
            self.call(call)
            numbers = read_npy(self.path("out.npy"))
            width = len(numbers) // count
            found[next(iter(wanted.values()))] = [numbers[width * n:width * n + width] for n in range(count)]
        return found


def judge(file, found, where, report):
    for number, program in enumerate(file.programs):
        wrong, halves = 0, "'half'" in repr(program.items)
        units = 4e-3 if halves else {"f32": 2e-5, "f64": 1e-9}[file.scalar()]
        for at in range(number * POINTS, number * POINTS + POINTS):
            if at not in file.expected:
                continue
            wanted = file.expected[at]
            for kind in ("value", "tangent", "adjoint", "second"):
                if kind == "second" and not wanted.has_second:
                    continue
                if halves and kind != "value" and any(abs(x) > 3e4 or 0 < abs(x) < 1e-3 for x in wanted.numbers):
                    continue  # f16 has no such numbers
                for part, got in enumerate(found[kind][at]):
                    right = wanted.is_right(kind, part, got, units)
                    report["compared"] += right is not None
                    if right is False and not wrong:
                        wrong += 1
                        report["wrong"].append(
                            f"{file.door} {file.first + number} {where} {kind}[{part}]: {got!r}, not {wanted.lists[kind][0][part]!r}, at "
                            f"{file.points[at]} tangents {file.tangents[at]} adjoint {file.seeds[at]}")


def host_target():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return "cpu:x86-64-v3" if " avx2 " in file.read() else "cpu:x86-64"


def prepare(file):
    """What is right at each point; a point at which a rounding could decide has none."""
    file.expected = {}
    for at, (point, tangents, seed) in enumerate(zip(file.points, file.tangents, file.seeds)):
        try:
            file.expected[at] = Wanted(file.programs[at // POINTS], point, tangents, seed, file.real)
        except Near:
            pass


def check(task):
    words, door, first, count = task
    report = {"programs": count, "compared": 0, "wrong": []}
    file = File(words.seed, door, first, count)
    prepare(file)
    with tempfile.TemporaryDirectory(prefix="adc-masked-") as folder:
        machine = Machine(words.adc, words.stay or folder)
        try:
            modes, turn = words.fp.split(","), first // SHARES[door][1]
            fp = modes[turn % len(modes)]
            source, warnings = machine.compile(file, fp, words.level if words.level >= 0 else (0, 0, 0, 1, 0, 0, 0, 2)[turn // 2 % 8], host_target())
            report["wrong"] += [f"{door} {first} to {first + count - 1} {fp}: {warning}" for warning in warnings]
            judge(file, machine.run(file, [machine.path("k.adcb"), "--trust"]), fp, report)
            if door in ("ir", "vjp") and turn % 4 == 0:
                judge(file, machine.run(file, [source, "--interpret"]), "interpreter", report)
            if words.vulkan and file.scalar() == "f32":
                machine.compile(file, "contract", 2, "vulkan:1.2")
                judge(file, machine.run(file, [machine.path("k.adcb"), "--trust", "--device=vulkan"]), "vulkan", report)
        except RuntimeError as error:
            report["wrong"].append(f"{door} {first} to {first + count - 1}: {error}")
        machine.batch.close()
    return report


def main():
    words = argparse.ArgumentParser()
    words.add_argument("adc")
    words.add_argument("--seed", type=int, default=int(os.environ.get("ADC_SEED", 1)))
    words.add_argument("--count", type=int, default=200)
    words.add_argument("--first", type=int, default=0)
    words.add_argument("--doors", default="ir,vjp,cpp,glsl,hlsl")
    words.add_argument("--fp", default="strict,contract")
    words.add_argument("--level", type=int, default=-1, help="of optimisation; by default files take turns, as they do with --fp")
    words.add_argument("--jobs", type=int, default=1)
    words.add_argument("--vulkan", action="store_true")
    words.add_argument("--stay", help="a folder for the files, which stay; with --jobs 1")
    words = words.parse_args()
    doors, tasks = words.doors.split(","), []
    total = sum(SHARES[door][0] for door in doors)
    for door in doors:
        share, most = SHARES[door]
        count = max(1, words.count * share // total)
        tasks += [(words, door, first, min(most, words.first + count - first)) for first in range(words.first, words.first + count, most)]
    tasks.sort(key=lambda task: (task[2], task[1]))
    print(f"seed {words.seed}, {sum(task[3] for task in tasks)} programs", flush=True)
    programs = compared = wrong = 0
    with multiprocessing.Pool(words.jobs) as pool:
        for report in pool.imap_unordered(check, tasks):
            programs, compared, wrong = programs + report["programs"], compared + report["compared"], wrong + len(report["wrong"])
            for line in report["wrong"]:
                print(line, flush=True)
    print(f"seed {words.seed}: {programs} programs, {compared} numbers compared, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
