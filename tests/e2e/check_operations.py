#!/usr/bin/env python3
"""Every operation in every float type: a kernel around it compiles, with its derivatives, for every kind of target,
and leaves on the devices here what the interpreter leaves.

A target may refuse what it cannot express (an error with an id and a place); an internal error is a failure.

Usage: check_operations.py [--device DEVICE]... [--types f16,f32,f64] [--only TEXT] [--compile-only] ADC
"""

import argparse
import os
import re
import sys
import tempfile

from batch import Batches
from directives import read_npy
from run_gradients import in_turn

# Of the levels of x86-64 each program takes one, in turn; with ADC_FULL=1 in the environment all of them.
TARGETS = ["cpu:x86-64|cpu:x86-64-v3|cpu:x86-64-v4", "cpu:aarch64", "cuda:sm_80", "hip:gfx1100", "vulkan:1.2", "metal:3.0"]
# Relative; a sum or a product may be contracted, and functions differ in their last digits.
TOLERANCE = {"f16": 4e-3, "f32": 2e-5, "f64": 1e-11}
UNARY = """neg abs sgn floor ceil round trunc sqrt rsqrt rcp sin cos tan asin acos atan sinh cosh tanh exp exp2 log log2
erf expm1 log1p cbrt erfc asinh acosh atanh exp10 log10 sinpi cospi""".split()
BINARY = "add sub mul div rem mod floordiv pow atan2 min max hypot copysign fdim".split()
TERNARY = {"fma": "fma %a, %d, 0.5", "clamp": "clamp %a, 0.25, %d", "select": "select (lt %a, %d), %a, 0.5"}
ATOMIC = "add sub min max".split()
CLASSIFY = "isnan isinf isfinite".split()
INTEGER = {"ctz": "ctz %p", "bitreverse": "bitreverse %p", "mulhi": "mulhi %p, %q", "ceildiv": "ceildiv %p, %q",
           "clz": "clz %p", "popcount": "popcount %p"}
INTEGERS = "i8 u8 i16 u16 i32 u32 i64 u64".split()
COMPARE = "eq ne lt le gt ge".split()
CASTS = "f16 f32 f64 i1 i8 u8 i16 u16 i32 u32 i64 u64".split()

HEAD = """kernel @k(%x: buffer<T, 1> diff, %z: buffer<T, 1> diff, %y: buffer<T, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %a = load %x[%i]
    %d = load %z[%i]
"""
TAIL = """    store %y[%i], %r
  }
}
"""


def programs(scalar):
    """Name and text of every program in one type."""
    def whole(body, tail=TAIL):
        return (HEAD + body + tail).replace("<T", "<" + scalar).replace(" T\n", f" {scalar}\n")

    for op in UNARY:
        yield op, whole(f"    %b = {op} %a\n    %r = mul %b, %d\n")
    for op in BINARY:  # with values, and with constants on either side
        yield op, whole(f"    %b = {op} %a, %d\n    %c = {op} %b, 0.5\n    %e = {op} 0.25, %d\n    %f = mul %e, %a\n"
                        "    %r = add %c, %f\n")
    for op, text in TERNARY.items():
        yield op, whole(f"    %b = {text}\n    %r = mul %b, %a\n")
    for op in COMPARE:
        yield op, whole(f"    %c = {op} %a, %d\n    %r = if %c {{ yield (mul %a, %d) }} else {{ yield (add %a, %d) }}\n")
    for op in CLASSIFY:
        yield op, whole(f"    %b = div %a, %d\n    %c = {op} %b\n"
                        "    %r = if %c { yield (mul %a, %d) } else { yield (add %a, %d) }\n")
    if scalar == "f32":  # of the integers alone, once
        for op, text in INTEGER.items():
            for to in INTEGERS:
                yield f"{op}-{to}", whole(f"    %p = cast (mul %a, 100.0) to {to}\n    %q = cast (mul %d, 7.0) to {to}\n"
                                          f"    %o = {text}\n    %c = cast %o to T\n    %r = mul %c, %d\n")
    for to in CASTS:
        if to != scalar:
            yield "cast-" + to, whole(f"    %b = cast %a to {to}\n    %c = cast %b to T\n    %r = mul %c, %d\n")
    yield "relu", whole("    %b = mul %a, %d\n    %r = max %b, 0.0\n")
    yield "loop", whole("    %r = for %t in 0..%n carry(%v = %a) {\n      %s = sin %v\n      %m = max %s, 0.125\n"
                        "      %q = add %m, %d\n      yield %q\n    }\n")
    for op in ATOMIC:
        yield "atomic-" + op, whole(f"    %b = mul %a, %a\n    atomic {op} %y[0], %b\n    atomic {op} %y[%i], %d\n",
                                    "  }\n}\n")
        yield "while-atomic-" + op, whole(
            "    while max %n carry(%v = %a, %t = 0) {\n      continue_if (lt %t, %n)\n    } do {\n"
            f"      %b = mul %v, 0.5\n      atomic {op} %y[%i], %b\n      yield %b, (add %t, 1)\n    }}\n", "  }\n}\n")


def differs(scalar, got, want):
    most = max([1.0] + [abs(number) for number in want if abs(number) < float("inf")])
    return [at for at, (g, w) in enumerate(zip(got, want))
            if not (g == w or (g != g and w != w) or abs(g - w) <= TOLERANCE[scalar] * most)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", action="append", default=[])
    parser.add_argument("--types", default="f16,f32,f64")
    parser.add_argument("--only", default="")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("adc")
    options = parser.parse_args()
    batches, mistakes, count = Batches(os.path.abspath(options.adc)), [], 0
    with tempfile.TemporaryDirectory() as folder:
        for scalar in options.types.split(","):
            for name, text in programs(scalar):
                if options.only not in name:
                    continue
                count += 1
                title, path = f"{name} in {scalar}", os.path.join(folder, f"{name}-{scalar}.ir")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                targets = [f"--target={t}" for words in TARGETS
                           for t in in_turn(words, count, bool(os.environ.get("ADC_FULL")))]
                outcome = batches.call(["--derive=grad,jvp", "--keep-going", *targets, path,
                                        "-o", os.path.join(folder, "all.adcb")])
                refused = outcome.returncode == 1 and re.search(r"error: .*\[E\d{4}\]", outcome.stderr)
                if outcome.returncode != 0 and not refused:
                    mistakes.append(f"{title}: exit {outcome.returncode}\n{outcome.stderr}")
                if outcome.returncode != 0 or options.compile_only:
                    continue
                results = {}
                for where in ["--interpret"] + [f"--device={device}" for device in options.device or ["cpu"]]:
                    result = os.path.join(folder, "y.npy")
                    outcome = batches.call(["run", path, where, "--arg", "x=[0.25,0.5,0.875,0.25]", "--arg",
                                            "z=[0.5,0.5,0.25,0.75]", "--arg", "y=[0.5,0.25,0.125,0.5]", "--arg", "n=3",
                                            "--kernel", "k", "--out", f"y=@{result}"])
                    if outcome.returncode != 0:
                        mistakes.append(f"{title} {where}: exit {outcome.returncode}\n{outcome.stderr}")
                        continue
                    results[where] = read_npy(result)
                for where, got in results.items():
                    want = results.get("--interpret", got)
                    if differs(scalar, got, want) or len(got) != 4:
                        mistakes.append(f"{title} {where}: {got}, the interpreter says {want}")
        mistakes += batches.end()
    print(*mistakes, sep="\n")
    print(f"{count} programs, {len(mistakes)} mistakes")
    return 1 if mistakes or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
