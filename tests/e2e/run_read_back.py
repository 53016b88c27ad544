#!/usr/bin/env python3
"""What adc printed as SPIR-V, read back: the programs of a folder, and samples, give on Vulkan what they say with code that
adc has made of the code that it had printed; gradients with tapes, claimed rows, counts and sums within subgroups among them.

Usage: run_read_back.py [--share N] [--seed N] --work FOLDER ADC READ_BACK PROGRAMS SAMPLES

READ_BACK (read_back.cpp) changes the code in bundles for 'vulkan:1.2-near'. --share N: one program in N, by its name and
--seed; with ADC_FULL=1 in the environment all of them.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

from directives import write_npy
from run_gradients import CONFINED, turn_of

HERE = pathlib.Path(__file__).resolve().parent
# Programs of which the code that was read back gives something else, and why that is right.
DIFFERENT = {
    "half_sum": "a sum of f16 is rounded once for each subgroup, which is one invocation for the reader",
    "half_cells": "so is one into cells that an index selects",
}
SAMPLES = {
    "relax": {"relax": ["--arg=x=random[300]", "--arg=n=12"]},
    "csr_reduce": {"csr_reduce": ["--arg=start=[0,2,5,5,9]", "--arg=column=[0,1,2,0,3,1,2,3,0]", "--arg=value=random[9]",
                                  "--arg=x=random[4]", "--shape=y=4"]},
    "cholesky": {"cholesky": ["--arg=a=@definite.npy", "--shape=l=2,3,3"]},
    "svd3": {"decompose": ["--arg=a=random[5]", "--shape=y=5", "--shape=z=5"]},
    "mpm_step": {"grid": ["--arg=mass=random[4,3,4]", "--arg=momentum=random[4,3,4]", "--shape=velocity=4,3,4", "--arg=dt=0.01",
                          "--arg=gravity=-9.81"],
                 "g2p": ["--arg=x=random[2,5]", "--arg=v=random[2,5]", "--shape=affine=2,5", "--arg=velocity=random[9,9,9]", "--arg=f=0",
                         "--arg=dt=0.01", "--arg=dx=0.2"],
                 "miss": ["--arg=x=random[2,9]", "--arg=target=random[]", "--arg=f=1"]},
    # Their gradients take 38 and 47 buffers, and Mesa's driver on the CPU has 32.
    "mpm_grid_op": {},
    "update_cartesian_space": {},
}
DEFINITE = [[[4, 1, 0.5], [1, 5, 0.25], [0.5, 0.25, 6]], [[5, 0.5, 0], [0.5, 4, 1], [0, 1, 7]]]


def said(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def numbers(text):
    """What `adc run` printed."""
    return [float(word) for word in re.findall(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)(?![\w.])", text)]


def same(first, second):
    close = all(a == b or (a != a and b != b) or abs(a - b) <= 2e-5 * max(1.0, abs(a)) for a, b in zip(first, second))
    return len(first) == len(second) > 0 and close


def check_samples(given, before, after):
    """Kernels of samples: the same numbers, and gradients that differences confirm."""
    count = 0
    write_npy(given.work / "definite.npy", "f32", DEFINITE)
    for name in SAMPLES:
        bundle = before / f"{name}.adcb"
        said(given.adc, given.samples / f"{name}.ir", "-w", f"--target={CONFINED}", "--derive=grad,jvp", "-o", bundle)
    entries = read_back(given, after, [before / f"{name}.adcb" for name in SAMPLES])
    for name, kernels in SAMPLES.items():
        for kernel, arguments in kernels.items():
            arguments = [word.replace("@definite", f"@{given.work}/definite") for word in arguments]
            words = ["--trust", "--device=vulkan", f"--kernel={kernel}", *arguments]
            texts = [said(given.adc, "run", *words, folder / f"{name}.adcb") for folder in (before, after)]
            if not same(*map(numbers, texts)):
                sys.exit(f"{name}: @{kernel} gives\n{texts[0][:2000]}\nand read back\n{texts[1][:2000]}")
            checks = [said(given.adc, "gradcheck", *words, folder / f"{name}.adcb") for folder in (before, after)]
            if not all(re.search(r"[1-9]\d* parameters?, 0 differ", text) for text in checks):
                sys.exit(f"{name}: @{kernel}\n{checks[0][:2000]}\nand read back\n{checks[1][:2000]}")
            count += 1
    return count, entries


def read_back(given, after, bundles):
    """Entries that were read back, by bundle, of those that the reader does not refuse."""
    words = [str(word) for word in (given.read_back, after, *bundles)]
    done = subprocess.run(words, capture_output=True, text=True)
    rows = dict(line.split("\t", 1) for line in done.stdout.splitlines())
    refused = {name for name, row in rows.items() if row.startswith("REFUSED")}
    if done.returncode != 0 or len(rows) != len(bundles) or refused:
        sys.exit(f"{given.read_back.name}: exit {done.returncode}, refused {sorted(refused)}\n{done.stderr[-4000:]}")
    return {name: int(row.split()[0]) for name, row in rows.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("ADC_SEED", 1)))
    parser.add_argument("--work", type=pathlib.Path, required=True)
    for name in ("adc", "read_back", "programs", "samples"):
        parser.add_argument(name, type=pathlib.Path)
    given = parser.parse_args()
    shutil.rmtree(given.work, ignore_errors=True)
    before, after = given.work / "before", given.work / "after"
    for folder in (before, after):
        folder.mkdir(parents=True)
    share = 1 if os.environ.get("ADC_FULL") else given.share
    programs = sorted(path.name for path in given.programs.glob("*.ir") if path.stem not in DIFFERENT)
    programs = [name for name in programs if turn_of(name, given.seed, share) == 0
                and not re.search(r"^// refuses: ", (given.programs / name).read_text(encoding="utf-8"), re.M)]
    runner = [sys.executable, HERE / "run_gradients.py"]
    said(*runner, "--compile-to", before, "--target", CONFINED, given.adc, given.programs, *programs)
    entries = read_back(given, after, sorted(before.glob("*.adcb")))
    read = [name for name in programs if any(f"{name[:-3]}.{scalar}" in entries for scalar in ("f64", "f32"))]
    text = said(*runner, "--bundles", after, "--device", "vulkan", given.adc, given.programs, *read)
    count, more = check_samples(given, before, after)
    entries.update(more)
    print(text.splitlines()[-1])
    print(f"a share of seed {given.seed}: one program in {share}; ADC_FULL=1 runs all" if share > 1 else "all programs")
    print(f"{len(entries)} bundles, {sum(entries.values())} entries read back, and {count} kernels of samples equal as well; "
          f"different: {', '.join(f'{name} ({why})' for name, why in DIFFERENT.items())}")


if __name__ == "__main__":
    main()
