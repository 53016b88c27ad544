#!/usr/bin/env python3
"""Samples in C++ against the same kernels by hand in the IR: no more stacks, no more heap bytes, on any target.

Usage: compare_samples.py ADC SAMPLES ADC_MPM_STATE [--speed]
With --speed it prints what the gradients of both take on this machine's CPU, and compares nothing.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

KERNELS = {
    "relax": ["--arg=x=random[200000]", "--arg=n=48"],
    "csr_reduce": ["--arg=start=[0,2,5,5,9]", "--arg=column=[0,1,2,0,3,1,2,3,0]", "--arg=value=random[9]", "--arg=x=random[4]",
                   "--shape=y=4"],
    "cholesky": ["--arg=a=ones[2000,8,8]", "--shape=l=2000,8,8"],
    "mpm_grid_op": None,
}


def said(words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words[:3])}: {done.stdout}{done.stderr}")
    return done.stdout


def main():
    adc, samples, state = sys.argv[1:4]
    speed = "--speed" in sys.argv
    worse = 0
    with tempfile.TemporaryDirectory() as folder:
        said([state, folder + "/state", "--scale", "0.5" if speed else "0.2", "--pass-fraction", "0.1"])
        for kernel, arguments in KERNELS.items():
            if arguments is None:
                arguments = open(folder + "/state/arguments").read().split()
            listed = []
            for source in (f"{samples}/{kernel}.ir", f"{samples}/cpp/{kernel}.cpp"):
                if speed:
                    bundle = os.path.join(folder, "k.adcb")
                    said([adc, "--target=cpu", "-o", bundle, source])
                    text = said([adc, "bench", "--trust", bundle, f"--kernel={kernel}.grad", "--threads=1", *arguments])
                    device = re.search(r"device .* from ([\d.]+)", text)
                    if not device:
                        sys.exit(f"{kernel}: no time in what adc bench prints:\n{text}")
                    listed.append(float(device.group(1)))
                    continue
                entries = json.loads(said([adc, "size", "--json", source, f"--kernel={kernel}.grad", *arguments]))
                listed.append({entry["target"]: (sum(len(task["stacks"]) for task in entry["tasks"]), entry["heap_bytes"],
                                                 entry["scratch_bytes"]) for entry in entries})
            if speed:
                print(f"{kernel}.grad: the fastest of 7 turns takes {listed[0]:g} us by hand, {listed[1]:g} us in C++, "
                      f"{100 * (listed[1] / listed[0] - 1):+.1f} %")
                continue
            by_hand, cpp = listed
            if not by_hand or set(by_hand) != set(cpp):
                sys.exit(f"{kernel}: the targets differ")
            for target, sizes in by_hand.items():
                good = all(a <= b for a, b in zip(cpp[target], sizes))
                worse += not good
                if not good:
                    print(f"{kernel}.grad on {target}: (stacks, heap, scratch) of C++ {cpp[target]}, of the IR {sizes}")
            print(f"{kernel}.grad: {len(by_hand)} targets, on the first {next(iter(cpp.values()))} stacks, heap and scratch bytes; "
                  f"by hand {next(iter(by_hand.values()))}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
