#!/usr/bin/env python3
"""Deep loop nests with bounds that depend on loops around them: prints how compile time grows, and checks gradients.

  loop_nests.py ADC GENERATOR TABLE

TABLE (bench/compile/table.py) compiles nests of GENERATOR (bench/compile/generate.py). No time is judged: if it doubled
with each loop, as LLVM's analysis did, the deepest nests would run into the test runner's limit."""

import os
import subprocess
import sys
import tempfile

KINDS = ("triangles", "reversed-triangles")
OPTIONS = ("-O1", "-O2", "-O3")
DEPTH, ROUNDS = 16, 18  # the innermost body runs 153 times


def call(*words):
    outcome = subprocess.run(words, capture_output=True, text=True)
    if outcome.returncode != 0 or "stopped after" in outcome.stdout or "  exit " in outcome.stdout:
        sys.exit(f"{' '.join(words)}: exit {outcome.returncode}\n{outcome.stdout}{outcome.stderr}")
    return outcome.stdout


def main():
    adc, generator, table = sys.argv[1:]
    for option in OPTIONS:
        print(option)
        print(call(sys.executable, table, adc, f"--kinds={','.join(KINDS)}", "--counts=4,8,12,16,24",
                   "--targets=cpu,cuda", f"--options={option}", "--limit=3600"), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        source, bundle = os.path.join(folder, "nest.ir"), os.path.join(folder, "nest.adcb")
        for kind in KINDS:
            with open(source, "w") as file:
                file.write(call(sys.executable, generator, kind, str(DEPTH)))
            for option in OPTIONS:
                call(adc, source, "--target=cpu", "--derive=grad,jvp", option, "-o", bundle)
                print(call(adc, "gradcheck", bundle, "--trust", f"--source={source}", "--shape=x=3,4",
                           f"--arg=n={ROUNDS}", "--points=2", "--directions=1"), flush=True)


if __name__ == "__main__":
    main()
