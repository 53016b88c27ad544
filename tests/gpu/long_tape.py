#!/usr/bin/env python3
"""A gradient whose whole tapes take 64 GB and more, within a budget that is a fraction of that, on a device: every
element against the closed form, and what both ways take and cost where whole tapes fit on the device.

Usage: long_tape.py [--iterations N] [--steps N] [--budget BYTES] [--whole BYTES] ADC BUNDLE DEVICE

BUNDLE is tests/e2e/budget/long_tape.ir, compiled. --whole: what whole tapes must take at least. Prints OK or FAILED.
"""

import argparse
import os
import re
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from batch import Batch

RATE = 1e-7
TOLERANCE = 1e-10


def write_npy(path, numbers):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }" % len(numbers)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        file.write(struct.pack("<%dd" % len(numbers), *numbers))


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    return struct.unpack("<%dd" % ((len(data) - begin) // 8), data[begin:])


def measured(options, words):
    """Heap bytes, segment length (0: none) and microseconds of a launch; a text where it fails."""
    command = ["bench", options.bundle, "--kernel", "uniform.grad", "--device", options.device, "--launches", "1",
               "--turns", "3", *words]
    done = options.adc.call(command, 900)
    if done.returncode != 0:
        return done.stderr.strip()
    heap = re.search(r"heap ([0-9,]+) bytes(?:, checkpoints every ([0-9,]+))?", done.stdout)
    time = re.search(r"device +([0-9.]+) us", done.stdout)
    return [int((heap.group(1)).replace(",", "")), int((heap.group(2) or "0").replace(",", "")), float(time.group(1))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=1 << 18)
    parser.add_argument("--steps", type=int, default=1 << 18)
    parser.add_argument("--budget", type=int, default=2_000_000_000)
    parser.add_argument("--whole", type=int, default=64_000_000_000)
    parser.add_argument("adc")
    parser.add_argument("bundle")
    parser.add_argument("device")
    options = parser.parse_args()
    options.adc = Batch(os.path.abspath(options.adc))
    good = True
    with tempfile.TemporaryDirectory() as folder:
        inputs = [0.25 + 0.5 * k / options.iterations for k in range(options.iterations)]
        seeds = [1.0 + (k % 16) for k in range(options.iterations)]
        for name, numbers in (("x", inputs), ("seed", seeds)):
            write_npy(os.path.join(folder, name + ".npy"), numbers)
        words = [f"--arg=x=@{folder}/x.npy", f"--arg=y.adj=@{folder}/seed.npy", f"--shape=y={options.iterations}",
                 f"--arg=n={options.steps}", f"--arg=c={RATE}"]
        whole = measured(options, words)
        if isinstance(whole, str):
            # It does not fit: what it would take is in the refusal, or in the plan for as many threads.
            print("whole tapes: " + whole)
            taken = max([int(number.replace(",", "")) for number in re.findall(r"([0-9,]{9,})", whole)] or [0])
        else:
            taken = whole[0]
            print(f"whole tapes:        {taken:16,} bytes  {whole[2] * 1e-3:12.2f} ms")
        good = good and taken >= options.whole
        cut = measured(options, [*words, f"--heap-budget={options.budget}"])
        if isinstance(cut, str):
            print("within the budget: " + cut)
            good = False
        else:
            print(f"checkpoints:        {cut[0]:16,} bytes  {cut[2] * 1e-3:12.2f} ms   every {cut[1]:,} iterations")
            if not isinstance(whole, str):
                print(f"  {taken / max(cut[0], 1):.0f} times less memory, {cut[2] / whole[2]:.2f} times the time")
            good = good and 0 < cut[0] <= options.budget and cut[1] > 0
        output = os.path.join(folder, "out.npy")
        done = options.adc.call(["run", options.bundle, "--kernel", "uniform.grad", "--device", options.device,
                                 *[word for word in words if not word.startswith("--shape")],
                                 f"--arg=y=@{folder}/x.npy", f"--heap-budget={options.budget}", "--out",
                                 f"x.adj=@{output}"], 900)
        if done.returncode != 0:
            print(done.stderr)
            good = False
        else:
            worst = 0.0
            for got, x, seed in zip(read_npy(output), inputs, seeds):
                scale = 1 + RATE * options.steps * x
                want = seed / (scale * scale)
                worst = max(worst, abs(got - want) / want)
            print(f"{options.iterations:,} elements against the closed form: {worst:.1e}")
            good = good and worst <= TOLERANCE
    if wrong := options.adc.end():
        print(wrong)
        good = False
    print("OK" if good else "FAILED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
