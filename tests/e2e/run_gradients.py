#!/usr/bin/env python3
"""Runs the programs of a folder through `adc`, each as it stands (f64) and once more with every f64 an f32.

A program says in comments what must come out:
  // gradcheck: ARGS         `adc gradcheck ARGS` agrees: reverse, forward mode, central differences
  // run: KERNEL ARGS        `adc run --kernel KERNEL ARGS` succeeds
  // gives: NAME = NUMBERS   ... and leaves these numbers in parameter NAME
  // refuses: EID PLACES     compiling is an error with this id that names so many places of the file
  // f64 only: WHY           the program is not run in f32

Usage: run_gradients.py [--device DEVICE [--validate]] [--compile-to FOLDER --target TARGET...] [--bundles FOLDER]
                        ADC FOLDER [PROGRAM...]

--device runs them on cpu (the default), cuda, vulkan or hip. A program that a device cannot do for a reason that it
gives (exit code 5) is reported as skipped. --validate: Vulkan's validation layer watches, and must be silent.
--compile-to only compiles, for the targets given, into a folder of bundles, and --bundles runs these: so that a
machine without the compiler can run them (adc-runtime in place of ADC).
"""

import argparse
import ast
import math
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile

TOLERANCE = {"f64": 1e-12, "f32": 2e-5}
FORMATS = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I",
           "i8": "q", "u8": "Q", "b1": "?"}


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    code = FORMATS[ast.literal_eval(data[10:begin].decode())["descr"][1:]]
    count = (len(data) - begin) // struct.calcsize(code)
    return list(struct.unpack("<%d%s" % (count, code), data[begin:]))


def number(word):
    return int(word) if re.fullmatch(r"-?\d+", word) else float(word)


def same(got, want, tolerance):
    if isinstance(want, float) and math.isnan(want):
        return math.isnan(got)
    return got == want or abs(got - want) <= tolerance * max(1, abs(want))


class Skipped(Exception):
    """The device cannot do it, and says why."""


class Program:
    def __init__(self, options, path, scalar, folder):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        if scalar == "f32":
            self.text = self.text.replace("f64", "f32")
        self.options, self.scalar, self.folder = options, scalar, folder
        self.name = os.path.splitext(os.path.basename(path))[0] + "." + scalar
        self.includes = ["-I", os.path.dirname(path)]
        self.device = ["--device", options.device] if options.device != "cpu" else []
        if options.validate:
            self.device.append("--validate")
        self.mistakes = []
        if options.bundles:
            self.source, self.includes = os.path.join(options.bundles, self.name + ".adcb"), []
        else:
            self.source = os.path.join(folder, "program.ir")
            with open(self.source, "w", encoding="utf-8") as file:
                file.write(self.text)

    def call(self, *words):
        return subprocess.run([self.options.adc, *words], capture_output=True, text=True, timeout=120, check=False)

    def expect(self, good, title, outcome):
        if not good and outcome.returncode == 5 and self.device:
            raise Skipped(outcome.stderr.strip())
        if not good:
            self.mistakes.append(f"{title}: exit {outcome.returncode}\n{outcome.stdout}{outcome.stderr}")

    def compile(self):
        """Leaves a bundle, unless the program is one that is refused."""
        if re.search(r"^// refuses: ", self.text, re.M):
            return
        targets = [f"--target={target}" for target in self.options.target]
        path = os.path.join(self.options.compile_to, self.name + ".adcb")
        outcome = self.call(*self.includes, "--derive=grad,jvp", "--keep-going", *targets, self.source, "-o", path)
        self.expect(outcome.returncode == 0, "compile", outcome)

    def gradcheck(self, words):
        outcome = self.call("gradcheck", *self.includes, *self.device, *words, self.source)
        self.expect(outcome.returncode == 0, "gradcheck " + " ".join(words), outcome)

    def run(self, words, wanted):
        outputs = {name: os.path.join(self.folder, name + ".npy") for name in wanted}
        takes = [word for name, path in outputs.items() for word in ("--out", f"{name}=@{path}")]
        outcome = self.call("run", *self.includes, *self.device, self.source, "--kernel", *words, *takes)
        self.expect(outcome.returncode == 0, "run " + " ".join(words), outcome)
        if outcome.returncode != 0:
            return
        for name, numbers in wanted.items():
            got = read_npy(outputs[name])
            good = len(got) == len(numbers) and all(
                same(g, w, TOLERANCE[self.scalar]) for g, w in zip(got, numbers))
            if not good:
                self.mistakes.append(f"run {' '.join(words)}: {name} is {got}, it should be {numbers}")

    def refuses(self, error, places):
        outcome = self.call(*self.includes, self.source, "-o", os.path.join(self.folder, "refused.adcb"))
        good = outcome.returncode == 1 and f"[{error}]" in outcome.stderr
        self.expect(good and outcome.stderr.count("program.ir:") >= places, "refuses " + error, outcome)

    def check(self):
        """Leaves the mistakes found, one text each."""
        comments = re.findall(r"^// (gradcheck|run|gives|refuses): (.*)$", self.text, re.M)
        for at, (kind, rest) in enumerate(comments):
            if kind == "gradcheck":
                self.gradcheck(rest.split())
            elif kind == "refuses" and not self.options.bundles:
                error, places = rest.split()
                self.refuses(error, int(places))
            elif kind == "run":
                wanted = {}
                for _, line in comments[at + 1:]:
                    if _ != "gives":
                        break
                    name, numbers = line.split(" = ")
                    wanted[name] = [number(word) for word in numbers.split()]
                self.run(shlex.split(rest), wanted)
        if not comments:
            self.mistakes.append("the program says nothing to check")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--validate", action="store_true")
    parser.add_argument("--compile-to")
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--bundles")
    parser.add_argument("adc")
    parser.add_argument("programs")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.adc = os.path.abspath(options.adc)
    folder = os.path.abspath(options.programs)
    names = options.names or sorted(name for name in os.listdir(folder) if name.endswith(".ir"))
    checked = failed = 0
    skipped = []
    for name in names:
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            only_f64 = re.search(r"^// f64 only: ", file.read(), re.M)
        for scalar in ["f64"] if only_f64 else ["f64", "f32"]:
            with tempfile.TemporaryDirectory() as scratch:
                program = Program(options, path, scalar, scratch)
                try:
                    if options.compile_to:
                        program.compile()
                    else:
                        program.check()
                except Skipped as reason:
                    skipped.append(f"{name} in {scalar}: skipped: {reason}")
            checked += 1
            failed += bool(program.mistakes)
            for mistake in program.mistakes:
                print(f"{name} in {scalar}: {mistake}")
    for line in skipped:
        print(line)
    print(f"{checked} programs on {options.device}, {failed} failed, {len(skipped)} skipped")
    return 1 if failed or len(skipped) == checked else 0


if __name__ == "__main__":
    sys.exit(main())
