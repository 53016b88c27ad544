#!/usr/bin/env python3
"""Bounds records: kernels and their gradients through the command line, with something changed in between.

usage: run_bounds_record.py [--device DEVICE] [--bundles FOLDER] ADC
       run_bounds_record.py --compile-to FOLDER --target TARGET... ADC

Each case runs a kernel with --bounds-record, then its gradient with the same file: unchanged, which must run, and
changed, which must be refused with the place of the loop and both sums of trips, or run where the change is none. The
second form only compiles, for a machine without the compiler, which runs what is in the folder with --bundles. Rows: [row:C1] [row:C2] [row:C3].
"""

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass

from batch import Batch


@dataclass
class Change:
    args: dict  # what the gradient is given in place of the kernel's arguments
    says: str = None  # what the refusal says; None: the gradient runs


@dataclass
class Case:
    name: str
    text: str
    args: dict
    changes: list
    outs: tuple = ()  # buffers that the kernel writes and the gradient reads: handed on as the kernel left them
    bytes: int = None  # of the record


NEST = """
kernel @k(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %n: buffer<i32, 1>) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = for %t in 0..(load %n[%i]) carry(%a = %v0) {
      yield (add (mul %a, 0.95), (sin %a))
    }
    store %y[%i], %v
  }
}
"""

CASES = [
    Case("C1: a bound of the host's is grown", """
kernel @k(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %n: buffer<i32, 0>) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = for %t in 0..(load %n[]) carry(%a = %v0) { yield (sin %a) }
    store %y[%i], %v
  }
}
""", {"x": "random[5]", "y": "zeros[5]", "n": "8"},
         [Change({"n": "16"}, "the for at k.ir:5:10 made 8 trips in 'k' and would make 16 now"),
          Change({"n": "8"})]),
    Case("C2: the kernel writes its own bound, and the host clears it", """
kernel @k(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %n: buffer<i32, 0>) {
  store %n[], 10
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = for %t in 0..(load %n[]) carry(%a = %v0) { yield (sin %a) }
    store %y[%i], %v
  }
}
""", {"x": "random[5]", "y": "zeros[5]", "n": "3"},
         [Change({"n": "0"}, "the for at k.ir:6:10 made 10 trips in 'k' and would make 0 now"),
          Change({"n": "10"})]),
    Case("C3: another kernel moves the bound", """
kernel @k(%x: buffer<f32, 1> diff, %loss: buffer<f32, 0> diff, %n: buffer<i32, 0>) {
  for %t in 0..(load %n[]) {
    %v = load %x[%t]
    atomic add %loss[], (mul %v, %v)
  }
}
kernel @other(%n: buffer<i32, 0>) {
  store %n[], 10
}
""", {"x": "random[16]", "n": "5"},
         [Change({"n": "10"}, "the for at k.ir:3:3 made 5 trips in 'k' and would make 10 now"), Change({"n": "5"})]),
    Case("rows of a ragged buffer change places", NEST,
         {"x": "random[6]", "y": "zeros[6]", "n": "[3, 0, 7, 1, 2, 5]"},
         [Change({"n": "[3, 0, 7, 1, 5, 2]"}, "the for at k.ir:5:10 made 18 trips in 'k' and would make 18 now, from "
                                              "elsewhere or in other iterations"),
          Change({"n": "[3, 0, 7, 1, 2, 6]"}, "made 18 trips in 'k' and would make 19 now"),
          # A negative bound is none.
          Change({"n": "[3, -4, 7, 1, 2, 5]"})], bytes=40),
    Case("segments of a fixed length: as many as before, of more steps",
         NEST.replace(") {\n      yield", ") checkpoint 4 {\n      yield"),
         {"x": "random[2]", "y": "zeros[2]", "n": "[5, 2]"},
         [Change({"n": "[6, 2]"}, "the for at k.ir:5:10 made 7 trips in 'k' and would make 8 now"),
          Change({"n": "[5, 1]"}, "the for at k.ir:5:10 made 7 trips in 'k' and would make 6 now"),
          Change({"n": "[5, 2]"})]),
    Case("segments of a while, of a fixed length", """
kernel @k(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %n: buffer<i32, 1>) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v, %j9 = while carry(%a = %v0, %j = 0) checkpoint 4 { continue_if (gt (sub (load %n[%i]), %j), 0) } do {
      yield (mul %a, (cos %a)), (add %j, 1)
    }
    store %y[%i], %v
  }
}
""", {"x": "random[2]", "y": "zeros[2]", "n": "[5, 2]"},
         [Change({"n": "[6, 2]"}, "the while at k.ir:5:15 made"), Change({"n": "[5, 2]"})]),
    Case("a range moves without getting longer", """
kernel @k(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %s: buffer<i32, 1>, %e: buffer<i32, 1>) {
  parallel %i in 0..shape(%y, 0) {
    %v = for %t in (load %s[%i])..(load %e[%i]) carry(%a = 1.0) { yield (mul %a, (load %x[%t])) }
    store %y[%i], %v
  }
}
""", {"x": "random[9]", "y": "zeros[2]", "s": "[0, 3]", "e": "[3, 7]"},
         [Change({"s": "[1, 3]", "e": "[4, 7]"}, "the for at k.ir:4:10 made 7 trips in 'k' and would make 7 now, from")]),
    Case("a while ends elsewhere", """
kernel @k(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %end: buffer<f32, 1>) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %e = load %end[%i]
    %v = while carry(%a = %v0) { continue_if (gt %a, %e) } do { yield (mul %a, (cos %a)) }
    store %y[%i], %v
  }
}
""", {"x": "full:1.2[4]", "y": "zeros[4]", "end": "[0.5, 0.1, 0.3, 1.3]"},
         [Change({"end": "[0.5, 0.3, 0.1, 1.3]"}, "the while at k.ir:6:10 made"),
          Change({"end": "[0.5, 0.1, 0.3, 1.1]"}, "the while at k.ir:6:10 made"),
          # It ends in the same iteration.
          Change({"end": "[0.5, 0.1, 0.3, 1.25]"})]),
    Case("a scalar is another", """
kernel @k(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = for %t in 0..%n carry(%a = %v0) { yield (sin %a) }
    store %y[%i], %v
  }
}
""", {"x": "random[5]", "y": "zeros[5]", "n": "4"},
         [Change({"n": "5"}, "the for at k.ir:5:10 made 4 trips in 'k' and would make 5 now"),
          Change({"n": "0"}, "made 4 trips in 'k' and would make 0 now"), Change({"n": "4"})]),
    Case("a shape is another", NEST, {"x": "random[6]", "y": "zeros[6]", "n": "[3, 0, 7, 1, 2, 5]"},
         [Change({"x": "random[5]", "y": "zeros[5]"}, "the parallel at k.ir:3:3 made 6 trips in 'k' and would make 5"
                                                      " now")]),
    Case("a gate opens for another iteration", """
kernel @k(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %gate: buffer<i32, 1>, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %open = gt (load %gate[%i]), 0
    if %open {
      %v = for %t in 0..%n carry(%a = %v0) { yield (sin %a) }
      store %y[%i], %v
    }
  }
}
""", {"x": "random[4]", "y": "zeros[4]", "gate": "[1, 0, 0, 1]", "n": "6"},
         [Change({"gate": "[0, 1, 0, 1]"}, "the for at k.ir:7:12 made 12 trips in 'k' and would make 12 now, from "
                                           "elsewhere or in other iterations"),
          Change({"gate": "[1, 1, 0, 1]"}, "made 12 trips in 'k' and would make 18 now"),
          Change({"gate": "[2, 0, -1, 7]"})]),
    Case("inner loops of one iteration change places", """
kernel @k(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %n: buffer<i32, 2>) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = for %t in 0..3 carry(%a = %v0) {
      %w = for %u in 0..(load %n[%i, %t]) carry(%b = %a) { yield (sin %b) }
      yield (mul %w, %w)
    }
    store %y[%i], %v
  }
}
""", {"x": "random[2]", "y": "zeros[2]", "n": "iota[2,3]"},
         [Change({"n": "@swapped"}, "the for at k.ir:6:12 made 15 trips in 'k' and would make 15 now, from")]),
    Case("the bound of a loop is what a loop computed", """
kernel @k(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %n: i32) {
  parallel %i in 0..shape(%y, 0) {
    %v0 = load %x[%i]
    %v = for %t in 0..%n carry(%a = %v0) {
      %m = cast (mul %a, 4.0) to i32
      for %u in 0..%m { atomic add %y[%i], (mul %a, %a) }
      yield (add (sin %a), 0.3)
    }
  }
}
""", {"x": "[0.2, 0.9, 0.4]", "y": "zeros[3]", "n": "5"},
         [Change({"x": "[0.2, 0.4, 0.9]"}, "the for at k.ir:7:7 made 45 trips"), Change({"x": "[0.2, 0.9, 0.4]"})]),
    Case("nothing can change", """
kernel @k(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff) {
  parallel %i in 0..8 {
    %v0 = load %x[%i]
    %v = for %t in 0..4 carry(%a = %v0) { yield (sin %a) }
    store %y[%i], %v
  }
}
""", {"x": "random[8]", "y": "zeros[8]"}, [Change({"x": "random:7[8]"})], bytes=0),
]


# A case of its own: two kernels with records, and the same without.
WRONG = NEST + NEST.replace("@k(", "@l(")


class Runner:
    """`targets`: to compile for; none: there are bundles in `bundles`, 0.adcb and so on by case."""

    def __init__(self, adc, device, folder, targets, bundles):
        self.adc, self.device, self.folder, self.targets, self.bundles = Batch(adc), device, folder, targets, bundles
        self.failures = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, words):
        return self.adc.call(words, 300)

    def bundle(self, name):
        return os.path.join(self.bundles, f"{name}.adcb")

    def compile(self, name, text, options):
        """Leaves bundle `name` of a file k.ir with this text."""
        if not self.targets:
            return
        with open(self.path("k.ir"), "w", encoding="utf-8") as file:
            file.write(text)
        targets = [f"--target={target}" for target in self.targets]
        made = self.call([self.path("k.ir"), "-o", self.bundle(name), *options, *targets])
        if made.returncode != 0:
            self.failures += 1
            print(f"FAILED: {name} does not compile\n{made.stdout}{made.stderr}")

    def compile_all(self):
        for number, case in enumerate(CASES):
            self.compile(number, case.text, ["--bounds-record"])
        self.compile("wrong", WRONG, ["--bounds-record"])
        self.compile("without", WRONG, [])

    def launch(self, bundle, kernel, args, outs, record):
        words = ["run", self.bundle(bundle), "--kernel", kernel, "--bounds-record", record]
        if self.device:
            words += ["--device", self.device]
        for name, value in args.items():
            words += ["--arg", f"{name}={value}"]
        for name, path in outs.items():
            words += ["--out", f"{name}=@{path}"]
        return self.call(words)

    def expect(self, condition, case, what, run):
        if condition:
            return
        self.failures += 1
        print(f"FAILED: {case.name}: {what}\n{run.stdout}{run.stderr}")

    def case(self, number, case):
        record = self.path("record")
        run = self.launch(number, "k", case.args, {}, record)
        self.expect(run.returncode == 0, case, "the kernel runs", run)
        if run.returncode != 0:
            return
        if case.bytes is not None:
            self.expect(os.path.getsize(record) == case.bytes, case, f"the record has {case.bytes} bytes", run)
        seed = {"loss.adj": "1"} if "%loss" in case.text else {}
        for change in case.changes:
            args = {**case.args, **change.args, **seed}
            args = {name: self.swapped() if value == "@swapped" else value for name, value in args.items()}
            run = self.launch(number, "k.grad", args, {}, record)
            if change.says is None:
                self.expect(run.returncode == 0, case, f"runs with {change.args}", run)
            else:
                good = run.returncode == 4 and change.says in run.stderr and "run 'k' again" in run.stderr
                self.expect(good, case, f"refuses {change.args}: {change.says}", run)
                self.expect("x.adj" not in run.stdout, case, "no gradient is printed", run)

    def swapped(self):
        """iota[2,3] with two neighbours in the other order."""
        path = self.path("swapped.npy")
        header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        body = b"".join(number.to_bytes(4, "little") for number in (0, 2, 1, 3, 4, 5))
        with open(path, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + body)
        return "@" + path

    def wrong_records(self):
        """Records that are none, or another kernel's."""
        case = Case("wrong records", NEST, {"x": "random[6]", "y": "zeros[6]", "n": "[3, 0, 7, 1, 2, 5]"}, [])
        record = self.path("record")
        run = self.launch("wrong", "k", case.args, {}, record)
        self.expect(run.returncode == 0, case, "the kernel runs", run)
        run = self.launch("wrong", "l.grad", case.args, {}, record)
        says = "the bounds record was not written by a launch of 'l'"
        self.expect(run.returncode != 0 and says in run.stderr, case, says, run)
        with open(record, "wb") as file:
            file.write(bytes(32))
        run = self.launch("wrong", "k.grad", case.args, {}, record)
        says = "it takes 40 bytes at a multiple of 8, given 32"
        self.expect(run.returncode != 0 and says in run.stderr, case, says, run)
        with open(record, "wb") as file:
            file.write(bytes(40))
        run = self.launch("wrong", "k.grad", case.args, {}, record)
        says = "the bounds record was not written by a launch of 'k'"
        self.expect(run.returncode != 0 and says in run.stderr, case, says, run)
        run = self.launch("wrong", "k.bounds", case.args, {}, record)
        self.expect(run.returncode != 0, case, "a kernel without a gradient takes no record", run)
        run = self.launch("without", "k", case.args, {}, record)
        says = "has no bounds record: compile it with --bounds-record"
        self.expect(run.returncode == 5 and says in run.stderr, case, says, run)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="")
    parser.add_argument("--compile-to")
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--bundles")
    parser.add_argument("adc")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        targets = [] if options.bundles else options.target or [options.device or "cpu"]
        bundles = options.bundles or options.compile_to or folder
        runner = Runner(os.path.abspath(options.adc), options.device, folder, targets, bundles)
        runner.compile_all()
        if not options.compile_to:
            for number, case in enumerate(CASES):
                runner.case(number, case)
            runner.wrong_records()
        if wrong := runner.adc.end():
            runner.failures += 1
            print(wrong)
    print(f"{len(CASES)} kernels, {runner.failures} failures")
    return 1 if runner.failures else 0


if __name__ == "__main__":
    sys.exit(main())
