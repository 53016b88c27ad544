#!/usr/bin/env python3
"""Holds the kernels and gradients of the samples on a device against the CPU, f64 within 1e-12, f32 within 1e-5 or
within what f32 itself loses there: a kernel that takes the difference of two near numbers gives no two processors the
same digits, so a value may differ by twice what the CPU's f32 differs from its f64: both sides lose as much.

Usage: agree.py [--jobs N] ADC FOLDER DEVICE

FOLDER is what tests/gpu/run prepares: bundles NAME.f32.adcb and NAME.f64.adcb, and states NAME.SCENE.f32/arguments with
the arguments of a launch. Every buffer that a launch writes is compared. A gradient is launched behind its kernel, with
the kernel's results as the adjoints of what it wrote. Where ROWS says so, rows are counted, and their bytes have a
limit. Prints a line per launch, and how many failed. Scenes are held against each other at once, one per job.
"""

import argparse
import ast
import concurrent.futures
import math
import operator
import os
import re
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from batch import Batch

TOLERANCE = {"f64": 1e-12, "f32": 1e-5}
CODES = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q",
         "u8": "Q", "b1": "?"}
RANDOM = ["--arg=x=random[20000]", "--arg=n=33"]
# Kernel, scenes (a folder of a state each; none: the arguments given), what it writes.
LAUNCHES = [
    ("relax", {"": RANDOM}, ["loss"], ["x"]),
    ("recurrence", {"": ["--arg=x=random[20000]", "--shape=y=20000", "--arg=c=0.7", "--arg=n=64"]}, ["y"], ["x"]),
    ("mpm_grid_op", dict.fromkeys(("push", "none", "some", "all", "geoms8")), ["vel_out", "link_force", "link_torque"],
     ["mass", "vel_in", "tool_pos", "tool_quat", "geom_pos", "geom_quat", "link_pos", "link_vel", "link_ang"]),
    ("update_cartesian_space", {"body": None, "arm": None, "tree": None},
     ["pos", "quat", "anchor", "axis", "com", "mass_sum", "i_pos", "i_quat", "cinr_inertia", "cinr_pos", "cinr_mass",
      "frame_pos", "frame_quat", "cdof_ang", "cdof_vel", "cdofvel_ang", "cdofvel_vel", "geom_pos", "geom_quat"],
     ["qpos", "dof_vel", "mass_shift", "com_shift"]),
]
# Of gradients in f32: bytes of a row, and of the whole heap, 0 for what the rows take. Twice that in f64.
ROWS = {("mpm_grid_op", "push"): (64, 1 << 20), ("mpm_grid_op", "none"): (64, 4096), ("mpm_grid_op", "some"): (64, 0),
        ("mpm_grid_op", "all"): (64, 0), ("mpm_grid_op", "geoms8"): (128, 1 << 20)}


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    code = CODES[ast.literal_eval(data[10:begin].decode())["descr"][1:]]
    return struct.unpack(f"<{(len(data) - begin) // struct.calcsize(code)}{code}", data[begin:])


def difference(got, want):
    """The largest difference, relative to the largest value."""
    if len(got) != len(want) or not all(map(math.isfinite, got)):
        return math.inf
    scale = max(map(abs, want), default=0) or 1
    return max(map(abs, map(operator.sub, got, want)), default=0) / scale


def run(batch, device, bundle, kernel, arguments, wanted, folder, options=()):
    """What the launch wrote: a list of numbers per name; and what it said."""
    outputs = {name: os.path.join(folder, name + ".npy") for name in wanted}
    takes = [word for name, path in outputs.items() for word in ("--out", f"{name}=@{path}")]
    done = batch.call(["run", bundle, "--kernel", kernel, "--device", device, *arguments, *options, *takes], 300)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit {done.returncode}")
    return {name: read_npy(path) for name, path in outputs.items()}, done.stderr


def memory(report, row_limit, heap_limit):
    """What `adc run --time` says of a gradient's rows, and whether they keep to their limits."""
    passing, rows, row_bytes = map(int, re.search(r"(\d+) iterations pass .*, (\d+) rows of (\d+) bytes", report).groups())
    heap = int(re.search(r"heap (\d+) bytes", report).group(1))
    good = row_bytes <= row_limit and heap <= rows * row_bytes + 4096 and (heap_limit == 0 or heap <= heap_limit)
    good = good and rows <= max(32, passing + 31)
    return f"  {passing} pass: {rows} rows of {row_bytes} bytes, heap {heap}{'' if good else ', TOO MUCH'}", good


def compare(adc, folder, device, kernel, scene, arguments, writes, reads):
    """One scene in f64 and in f32: the lines to print, and how many failed."""
    batch, exact, lines, failed = Batch(adc), {}, [], 0
    for scalar in ("f64", "f32"):
        title = f"  {kernel:24} {scene:6} {scalar}"
        bundle = os.path.join(folder, f"{kernel}.{scalar}.adcb")
        if arguments is None:
            with open(os.path.join(folder, f"{kernel}.{scene}.{scalar}", "arguments"), encoding="utf-8") as file:
                given = file.read().split()
        else:
            given = arguments
        with tempfile.TemporaryDirectory() as scratch:
            try:
                limits = [limit * (2 if scalar == "f64" else 1) for limit in ROWS.get((kernel, scene), ())]
                options = {device: ["--time", "--size-threshold=1"] if limits else [], "cpu": ["--threads=4"]}
                forward = {d: run(batch, d, bundle, kernel, given, writes, scratch, options[d] if d == "cpu" else ())[0]
                           for d in (device, "cpu")}
                seeds = [f"--arg={name}.adj=@{os.path.join(scratch, name)}.npy" for name in writes
                         if not (kernel == "mpm_grid_op" and name != "vel_out")]
                wanted = [name + ".adj" for name in reads]
                reports = {d: run(batch, d, bundle, kernel + ".grad", given + seeds, wanted, scratch, options[d])
                           for d in (device, "cpu")}
                backward = {d: report[0] for d, report in reports.items()}
                said, small = memory(reports[device][1], *limits) if limits else ("", True)
            except RuntimeError as failure:
                lines.append(f"{title}  FAILED: {failure}")
                failed += 1
                continue
        worst, good = [], small
        for results, names in ((forward, writes), (backward, wanted)):
            gaps = {name: difference(results[device][name], results["cpu"][name]) for name in names}
            lost = {name: difference(results["cpu"][name], exact[name]) if exact else 0 for name in names}
            good = good and all(gaps[name] <= max(TOLERANCE[scalar], 2 * lost[name]) for name in names)
            worst.append(max(gaps.values()))
        if scalar == "f64":
            exact = {**forward["cpu"], **backward["cpu"]}
        failed += not good
        lines.append(f"{title}  kernel {worst[0]:.1e}  gradient {worst[1]:.1e}  {'ok' if good else 'DIFFER'}{said}")
    if wrong := batch.end():
        lines.append(f"  {kernel:24} {scene:6} FAILED: {wrong}")
        failed += 1
    return lines, failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    parser.add_argument("adc")
    parser.add_argument("folder")
    parser.add_argument("device")
    options = parser.parse_args()
    adc, failed, launches = os.path.abspath(options.adc), 0, 0
    # Numbers are compared in Python, so that each scene takes a process; the largest begin first.
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        scenes = [(kernel, scene, arguments, writes, reads) for kernel, scenes, writes, reads in LAUNCHES
                  for scene, arguments in scenes.items()]
        scenes.sort(key=lambda scene: scene[0] != "mpm_grid_op")
        for lines, bad in pool.map(compare, *zip(*[(adc, options.folder, options.device, *scene) for scene in scenes])):
            print("\n".join(lines), flush=True)
            failed += bad
            launches += 4
    print(f"samples on {options.device} against cpu: {launches} launches, {failed} failed")
    return 1 if failed or not launches else 0


if __name__ == "__main__":
    sys.exit(main())
