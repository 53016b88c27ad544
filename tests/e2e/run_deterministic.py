#!/usr/bin/env python3
"""--deterministic: sums of floats against exact ones, and kernels and gradients bit for bit.

Usage: run_deterministic.py [--device DEVICE...] [--cells N] [--bundles FOLDER] ADC
       run_deterministic.py --compile-to FOLDER [--device DEVICE...] ADC

Sums: random and adversarial numbers (cancellation, subnormal numbers, the largest, ties, zeros of both signs,
infinities, NaN) are added to cells in a random order, and every cell must hold the one float next to the exact sum of
what it held and what was added, as rational arithmetic says. Bits: each program runs with 1, 2, 3 and 7 threads, with
the iterations in other order, and with several heap budgets, and must leave the same bytes; a device that computes the
same summands must leave those of the CPU (--device may be given several times). The second form only compiles, for a
machine without the compiler, which runs what is in the folder with --bundles (adc-runtime in place of ADC).
"""

import argparse
import os
import random
import struct
import sys
import tempfile
from fractions import Fraction
from math import inf, isinf, isnan, nan

from batch import Batch
from directives import read_npy, rounded, write_npy

# Bits of the significand, exponent of the lowest bit and of the largest number, letter of struct.
FORMATS = {"f16": (11, -24, 15, "e"), "f32": (24, -149, 127, "f"), "f64": (53, -1074, 1023, "d")}
BUDGETS = (None, "2560", "4096")  # whole tapes, and segments of two lengths

SUMS = """
kernel @sum(%x: buffer<T, 1>, %to: buffer<i32, 1>, %y: buffer<T, 1>, %minus: buffer<vec<T, 2>, 2>, %all: buffer<T, 0>) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %j = load %to[%i]
    atomic add %y[%j], %v
    atomic sub %minus[0, %j].1, %v
    atomic add %all[], %v
  }
}
"""

# Name: text, arguments, outputs, whether a device computes the same summands as the CPU.
PROGRAMS = {
    "scatter": ("""
kernel @scatter(%x: buffer<f32, 1> diff, %to: buffer<i32, 1>, %y: buffer<f32, 1> diff, %loss: buffer<f32, 0> diff, %s: f32 diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %j = load %to[%i]
    %w = load %x[%j]
    %v = for %t in 0..%n carry(%a = %v0) {
      %b = mul (sub %a, (mul %a, %a)), %s
      %c = add %b, (mul 0.125, %w)
      yield %c
    }
    atomic add %y[%j], %v
    atomic add %loss[], (mul %v, %v)
  }
}
""", {"x": "random[5000]", "to": "TO", "y": "random[40]", "loss": "0.3", "s": "0.9", "n": "20",
      "y.adj": "random[40]", "loss.adj": "0.7"}, ("y", "loss", "x.adj", "s.adj"), True),
    "checkpointed": ("""
kernel @checkpointed(%x: buffer<f64, 1> diff, %loss: buffer<f64, 0> diff, %p: buffer<f64, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %k = rem %i, 3
    %v = for %t in 0..%n carry(%a = %v0) checkpoint {
      %q = load %p[%k]
      %b = mul %a, (sub %q, %a)
      yield %b
    }
    atomic add %loss[], %v
  }
}
""", {"x": "random[300]", "loss": "0", "p": "ones[3]", "n": "400", "loss.adj": "1"},
                     ("loss", "x.adj", "p.adj"), True),
    # Vulkan lets a device round square roots as it likes.
    "fields": ("""
layout @grid { dense[6, 6] { mass: f32 diff  velocity: vec<f32, 3> diff } total: f32 diff }
kernel @fields(%g: @grid, %x: buffer<vec<f32, 3>, 1> diff, %to: buffer<i32, 1>) {
  parallel %i, %k in 0..shape(%x, 0), 0..4 {
    %j = rem (load %to[%i]), 6
    %v = load %x[%i]
    %c = add %k, 1
    %m = mul (norm %v), 0.5
    atomic add %g::mass[%j, %c], %m
    atomic add %g::velocity[%j, %c], (mul %v, %m)
    atomic add %g::total[], %m
  }
}
""", {"x": "random[700]", "to": "TO[700]", "g": "zeros", "g.adj": "FIELDS"}, ("g", "x.adj"), False),
    "extremes": ("""
kernel @extremes(%x: buffer<f32, 1>, %to: buffer<i32, 1>, %low: buffer<f32, 1>, %high: buffer<f32, 1>) {
  parallel %i in 0..shape(%x, 0) {
    %j = load %to[%i]
    %v = load %x[%i]
    %w = floor (mul %v, 2.0)
    %s = if (lt (rem %i, 2), 1) { yield %w } else { yield (neg %w) }
    atomic min %low[%j], %s
    atomic max %high[%j], %s
  }
}
""", {"x": "random[5000]", "to": "TO", "low": "zeros[40]", "high": "full:-0.0[40]"}, ("low", "high"), True),
    "relax": (None, {"x": "random[20000]", "n": "8", "loss": "0", "loss.adj": "1"}, ("loss", "x.adj"), False),
}


def nearest(exact, scalar):
    """The float next to a rational number that is not zero, ties to even."""
    bits, low, high, _ = FORMATS[scalar]
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - bits + 1, low)
    whole, rest = divmod(size, unit)
    if 2 * rest > unit or (2 * rest == unit and whole % 2 == 1):
        whole += 1
    if whole * unit >= Fraction(2) ** (high + 1):
        return inf if exact > 0 else -inf
    return float(whole * unit) * (1 if exact > 0 else -1)


def exact_sum(old, summands, scalar):
    """What the cell holds afterwards. A sum that is zero leaves it alone."""
    all_of_them = [old, *summands]
    if not summands:
        return old
    if any(isnan(v) for v in all_of_them) or (inf in all_of_them and -inf in all_of_them):
        return nan
    for infinity in (inf, -inf):
        if infinity in all_of_them:
            return infinity
    total = sum(map(Fraction, summands))
    if total == 0:
        return old
    total += Fraction(old)
    return nearest(total, scalar) if total != 0 else 0.0


def number(rng, scalar, kind):
    bits, low, high, _ = FORMATS[scalar]
    sign = rng.choice([-1, 1])
    if kind == "ordinary":
        return rounded(scalar, rng.gauss(0, 1))
    if kind == "any":
        whole = rng.getrandbits(bits)
        return float(Fraction(sign * whole) * Fraction(2) ** rng.randrange(low, high - bits + 2))
    if kind == "subnormal":
        return float(sign * rng.randrange(1, 1 << bits - 1) * Fraction(2) ** low)
    if kind == "power":
        return float(sign * Fraction(2) ** rng.randrange(low, high + 1))
    if kind == "zero":
        return sign * 0.0
    if kind == "largest":
        return float(sign * (2 - Fraction(2) ** (1 - bits)) * Fraction(2) ** high)
    if kind == "tie":
        return float(sign * Fraction(2) ** rng.choice([0, bits - 1, bits, -bits, 1 - bits, min(high, 32 - bits)]))
    return rng.choice([inf, -inf, nan])


KINDS = [["ordinary"], ["any"], ["subnormal"], ["power"], ["tie"], ["tie", "ordinary"], ["zero"],
         ["largest", "largest", "any"], ["subnormal", "power"], ["ordinary", "any", "subnormal", "zero"],
         ["ordinary", "special"]]
# Of these everything in one cell is a number too.
SMALL = [["ordinary"], ["tie"], ["subnormal"], ["tie", "ordinary"], ["zero"]]


def bits_of(values, scalar):
    return struct.pack("<%d%s" % (len(values), FORMATS[scalar][3]), *values)


class Runner:
    def __init__(self, adc, folder, bundles, only_compiles):
        self.batch, self.folder = Batch(adc), folder
        self.bundles, self.only_compiles = bundles, only_compiles

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, *words):
        done = self.batch.call([str(word) for word in words], 600)
        if done.returncode != 0:
            sys.exit(" ".join(map(str, words)) + "\n" + done.stdout + done.stderr)
        return done.stdout

    def compile(self, name, text, devices):
        """The bundle; it may have been made before."""
        if self.bundles and not self.only_compiles:
            return os.path.join(self.bundles, name + ".adcb")
        source = self.path(name + ".ir")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        targets = {"cpu": "cpu", "vulkan": "vulkan:1.2", "cuda": "cuda:sm_80", "metal": "metal:2.4",
                   "hip": "hip:gfx1100"}
        bundle = os.path.join(self.bundles or self.folder, name + ".adcb")
        self.call(source, "--deterministic", "-o", bundle, *("--target=" + targets[device] for device in devices))
        return bundle


def check_sums(runner, devices, cells, scalar, all_kinds):
    rng = random.Random(scalar)
    summands, old = [], []
    for _ in range(cells):
        kinds = rng.choice(all_kinds)
        own = [number(rng, scalar, rng.choice(kinds)) for _ in range(rng.randrange(30))]
        if rng.random() < 0.3:
            own += [-v for v in own[:rng.randrange(len(own) + 1)]]
        summands.append(own)
        old.append(number(rng, scalar, rng.choice(kinds)) if rng.random() < 0.7 else -0.0)
    # Ends of carries: full words, one more, one less, and back.
    unit = 2.0 ** FORMATS[scalar][1]
    summands[0] = [unit] * 3 + [-unit] * 5 + [2 * unit]
    order = [(v, cell) for cell in range(cells) for v in summands[cell]]
    rng.shuffle(order)
    write_npy(runner.path("x.npy"), scalar, [v for v, _ in order])
    write_npy(runner.path("to.npy"), "i32", [cell for _, cell in order])
    write_npy(runner.path("y.npy"), scalar, old)
    wrong = 0
    expected = [exact_sum(o, own, scalar) for o, own in zip(old, summands)]
    minus = [exact_sum(0.0, [-v for v in own], scalar) for own in summands]
    everything = exact_sum(0.0, [v for v, _ in order], scalar)
    bundle = runner.compile("sum_" + scalar, SUMS.replace("<T,", f"<{scalar},"), devices)
    if runner.only_compiles:
        return 0
    for device in devices:
        for threads in (1, 3) if device == "cpu" else (0,):
            runner.call("run", bundle, "--kernel", "sum", "--device", device,
                        *(["--threads", threads] if threads else []), "--arg", "x=@" + runner.path("x.npy"),
                        "--arg", "to=@" + runner.path("to.npy"), "--arg", "y=@" + runner.path("y.npy"),
                        "--arg", f"minus=zeros[1,{cells}]", "--arg", "all=0",
                        "--out", "y=@" + runner.path("y2.npy"), "--out", "minus=@" + runner.path("m2.npy"),
                        "--out", "all=@" + runner.path("all.npy"))
            got = read_npy(runner.path("y2.npy"))
            got_minus = read_npy(runner.path("m2.npy"))[1::2]
            got_all = read_npy(runner.path("all.npy"))
            for what, has, wants in (("y", got, expected), ("minus", got_minus, minus), ("all", got_all, [everything])):
                for cell, (h, w) in enumerate(zip(has, wants, strict=True)):
                    if bits_of([h], scalar) == bits_of([w], scalar) or (isnan(h) and isnan(w)):
                        continue
                    wrong += 1
                    if wrong < 10:
                        print(f"{scalar} on {device}: {what}[{cell}] is {h!r}, exact is {w!r}")
    return wrong


def arguments_of(runner, kernel, given):
    """Those that the kernel has."""
    words = []
    for name, value in given.items():
        primal = name.removesuffix(".adj")
        if primal != name and not kernel.endswith(".grad"):
            continue
        words += ["--arg", f"{name}={value}"]
    return words


def check_program(runner, devices, name, samples):
    text, given, outs, same_summands = PROGRAMS[name]
    if text is None:
        with open(os.path.join(samples, name + ".ir"), encoding="utf-8") as file:
            text = file.read()
    rng = random.Random(name)
    given = dict(given)
    count = 700 if name == "fields" else 5000
    if "to" in given:
        write_npy(runner.path("to.npy"), "i32", [rng.randrange(40) for _ in range(count)])
        given["to"] = "@" + runner.path("to.npy")
    layouts = {key: value for key, value in given.items() if key in ("g", "g.adj")}
    for key in layouts:
        numbers = [rng.random() if key == "g.adj" else 0.0 for _ in range(6 * 6 * 4 + 1)]
        with open(runner.path(key + ".bytes"), "wb") as file:
            file.write(struct.pack(f"<{len(numbers)}f", *numbers))
        given[key] = "@" + runner.path(key + ".bytes")
    bundle = runner.compile(name, text, devices)
    if runner.only_compiles:
        return 0
    wrong = 0
    kernels = [name] if name == "extremes" else [name, name + ".grad"]
    for kernel in kernels:
        of_cpu = None
        own = [out for out in outs if out.endswith(".adj") == kernel.endswith(".grad")]
        for device in devices:
            first = None
            runs = [(threads, budget) for threads in (1, 2, 3, 7) for budget in BUDGETS] if device == "cpu" else \
                [(0, None)] * 3
            for threads, budget in runs:
                if budget and kernel != "checkpointed.grad":
                    continue
                words = ["run", bundle, "--kernel", kernel, "--device", device,
                         *arguments_of(runner, kernel, given)]
                words += (["--threads", threads] if threads else []) + (["--heap-budget", budget] if budget else [])
                for out in own:
                    words += ["--out", f"{out}=@{runner.path(out + '.out.npy')}"]
                runner.call(*words)
                left = b""
                for out in own:
                    with open(runner.path(out + ".out.npy"), "rb") as file:
                        left += file.read()
                first = first or left
                if left != first:
                    wrong += 1
                    print(f"{kernel} on {device}, {threads} threads, budget {budget}: other bytes than in its first run")
            of_cpu = of_cpu or first
            if same_summands and first != of_cpu:
                wrong += 1
                print(f"{kernel} on {device}: other bytes than on the CPU")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", action="append")
    parser.add_argument("--cells", type=int, default=300)
    parser.add_argument("--compile-to", dest="compile_to")
    parser.add_argument("--bundles")
    parser.add_argument("adc")
    options = parser.parse_args()
    devices = options.device or ["cpu"]
    samples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options.adc, folder, options.bundles or options.compile_to, bool(options.compile_to))
        for scalar in FORMATS:
            own = [device for device in devices if device != "metal" or scalar != "f64"]
            wrong += check_sums(runner, own, options.cells, scalar, KINDS)
            wrong += check_sums(runner, own, options.cells, scalar, SMALL)
        for name in PROGRAMS:
            wrong += check_program(runner, devices, name, samples)
        runner.batch.end()
    if options.compile_to:
        return
    print("deterministic: " + ("the same bits" if wrong == 0 else f"{wrong} wrong"))
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
