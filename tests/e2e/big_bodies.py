#!/usr/bin/env python3
"""Gradients of kernels with large bodies, which code generation cuts into functions.

  big_bodies.py ADC GENERATOR

Each kind of body of GENERATOR (bench/compile/generate.py) is compiled with a limit that it exceeds several times, and
its gradient is compared with central differences, with forward mode, and with the interpreter's derivatives."""

import os
import subprocess
import sys
import tempfile

COUNTS = {"line": 400, "branches": 60, "nested-branches": 96, "loops": 40, "array-stores": 60, "constant-stores": 100,
          "stores": 60, "calls": 60, "tasks": 20, "parameters": 20, "stacks": 40, "loop-nest": 5}
LIMIT = 100  # operations of one function
CUT = {kind for kind in COUNTS if kind != "tasks"}  # of one task, with more operations


def call(*words):
    outcome = subprocess.run(words, capture_output=True, text=True)
    if outcome.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit {outcome.returncode}\n{outcome.stdout}{outcome.stderr}")
    return outcome.stdout


def main():
    adc, generator = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        source, bundle = os.path.join(folder, "big.ir"), os.path.join(folder, "big.adcb")
        for kind, count in COUNTS.items():
            with open(source, "w") as file:
                file.write(call(sys.executable, generator, kind, str(count)))
            target = ["--target=cpu", f"--limit-optimised={LIMIT}"]
            code = call(adc, source, *target, "--emit=llvm", "-o", "-")
            if (".piece1(" in code) != (kind in CUT):
                sys.exit(f"{kind}: {'not ' if kind in CUT else ''}cut into functions")
            call(adc, source, *target, "--derive=grad,jvp", "-o", bundle)
            shapes = ["--shape=x=3,4"]
            if kind == "stores":
                shapes += [f"--shape=c=3,{count + 3}", f"--shape=y=3,{count}"]
            if kind == "parameters":
                shapes += [f"--shape=p{n}=3" for n in range(count)]
            print(kind, count, flush=True)
            print(call(adc, "gradcheck", bundle, "--trust", f"--source={source}", *shapes, "--arg=n=3", "--points=6",
                       "--directions=2"), flush=True)


if __name__ == "__main__":
    main()
