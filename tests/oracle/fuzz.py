#!/usr/bin/env python3
"""Holds random kernels against the oracle.

Usage: fuzz.py [--seed N] [--first N] [--count N] [--seconds N] [--jobs N] [--rotate] [--stop] [--real f64] [--only FEATURE,...]
               [--on cpu-strict,cpu-contract,cpu-fast,read,interpret,vulkan,metal-source] [--metal ADC_ON_METAL_HOST] [--keep FOLDER] ADC

Kernel number S of seed N is the same wherever it is run. --first: the number of the first kernel, for a run in parts.
read: the oracle's evaluator, on derived kernels as they are printed. metal-source: what clang makes of Metal's text, in a tool that --metal names. --rotate: each kernel runs on one device of --on, in turn. What
is wrong, and what makes the compiler fail, is written to the folder of --keep, and is the exit code's business. The
counts by class and device stand at the end.
"""

import argparse
import collections
import concurrent.futures
import glob
import os
import sys
import tempfile
import time

import evaluate
import execute
import generate


def save(folder, name, case, executor, verdict):
    """A file that run_gradients.py and reduce.py read."""
    path = os.path.join(folder, name + ".ir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"// seed {case.seed} on {executor.name} -O{executor.level}: {verdict}\n")
        for line in verdict.text.splitlines()[:12]:
            file.write(f"//   {line}\n")
        for key, (extents, numbers) in case.inputs.items():
            file.write(f"// set: {key} = {execute.nested(numbers, extents) if extents else numbers}\n")
        if case.how:
            file.write(f"// how: {case.how}\n")
        file.write(case.text)
    return path


class Tally:
    def __init__(self):
        self.counts, self.causes = collections.Counter(), collections.Counter()
        self.bad = self.done = 0

    def add(self, other):
        self.counts.update(other.counts)
        self.causes.update(other.causes)
        self.bad += other.bad
        self.done += other.done


def level_of(number):
    """Mostly none: what a gradient says hardly hangs on LLVM's, and it takes most of the time."""
    return (0, 0, 0, 0, 1, 2)[number // 3 % 6]


def run(options, first, last):
    """Kernels first .. last of the seed. A Tally."""
    tally, begin = Tally(), time.monotonic()
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    chances = dict.fromkeys((options.without or "").split(","), 0.0)
    chances.pop("", None)
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        machines, batches = execute.executors(options.on.split(","), os.path.abspath(options.adc),
                                              os.path.abspath(options.metal or options.adc), folder)
        for turn in range(first, last):
            if options.seconds and time.monotonic() - begin > options.seconds:
                break
            number = options.seed * 1000003 + turn
            case = generate.generate(number, options.real, chances, options.only.split(",") if options.only is not None else None)
            tally.done += 1
            try:
                expected = execute.Expected(case.text, case.inputs, number, case.how)
            except execute.Unfit as reason:
                tally.counts["all", "unfit"] += 1
                tally.causes["all", "unfit", str(reason)] += 1
                continue
            except (evaluate.Race, evaluate.OutOfRange, evaluate.TooLong, evaluate.Untyped) as reason:
                # A fault of the generator: nobody would see that it tests nothing.
                tally.bad += 1
                tally.counts["all", "no program"] += 1
                print(f"{number}: the generator made no program: {reason!r}", flush=True)
                continue
            for machine in [machines[turn % len(machines)]] if options.rotate else machines:
                judge(options, tally, number, case, expected, machine)
            if options.stop and tally.bad:
                break
        for batch in batches:
            if said := batch.end():
                tally.bad += 1
                print(said)
    return tally


def judge(options, tally, number, case, expected, machine):
    machine.level = options.level if options.level is not None else level_of(number)
    if machine.device == "metal" and "f64" in case.text:
        tally.counts[machine.name, "unsupported"] += 1
        return
    verdict = execute.check(expected, machine)
    tally.counts[machine.name, verdict.kind] += 1
    if verdict.kind == "refused":
        unseen = [error for error in verdict.what.split(",") if not expected.result.is_due(error)]
        tally.causes[machine.name, "refused for nothing this launch does", ",".join(unseen)] += bool(unseen)
    if verdict.kind != "right":
        tally.causes[machine.name, verdict.kind, verdict.what] += 1
    if verdict.kind in ("wrong", "crash", "failed"):
        tally.bad += 1
        head = "\n    ".join(verdict.text.splitlines()[:3])
        print(f"{number} on {machine.name} -O{machine.level}: {verdict}\n    {head}", flush=True)
        if options.keep:
            save(options.keep, f"{verdict.kind}-{machine.name}-{number}", case, machine, verdict)
    elif options.verbose:
        print(f"{number} on {machine.name}: {verdict}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("adc")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first kernel")
    parser.add_argument("--seconds", type=float, default=0, help="stop after so long")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--on", default="cpu-strict,cpu-contract,cpu-fast")
    parser.add_argument("--rotate", action="store_true")
    parser.add_argument("--level", type=int, default=None, help="of optimisation; default: by the kernel's number")
    parser.add_argument("--real", help="float type of all kernels")
    parser.add_argument("--only", help="features that kernels have, and no others")
    parser.add_argument("--without", help="features that no kernel has")
    parser.add_argument("--metal", default="", help="the tool with the Metal host in it")
    parser.add_argument("--keep", help="a folder for what is not right")
    parser.add_argument("--stop", action="store_true", help="at the first that is not right")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    icd = glob.glob("/usr/share/vulkan/icd.d/lvp_icd.*.json")
    if icd:
        os.environ.setdefault("VK_ICD_FILENAMES", icd[0])
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    print(f"seed {options.seed}", flush=True)
    begin, tally = time.monotonic(), Tally()
    if options.jobs > 1:
        edges = [options.first + options.count * job // options.jobs for job in range(options.jobs + 1)]
        with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
            for part in pool.map(run, [options] * options.jobs, edges, edges[1:]):
                tally.add(part)
    else:
        tally = run(options, options.first, options.first + options.count)
    seconds = time.monotonic() - begin
    print(f"{tally.done} kernels in {seconds:.0f} s, {tally.done / max(seconds, 1e-9):.1f} a second, seed {options.seed}")
    for machine in ["all"] + options.on.split(","):
        kinds = {kind: count for (name, kind), count in tally.counts.items() if name == machine}
        if kinds:
            print(f"  {machine}: " + ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
    for (machine, kind, what), count in sorted(tally.causes.items(), key=lambda item: -item[1])[:60]:
        if not count:
            continue
        print(f"    {count:5} {machine} {kind} {what}")
    return 1 if tally.bad else 0


if __name__ == "__main__":
    sys.exit(main())
