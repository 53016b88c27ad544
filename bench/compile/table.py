#!/usr/bin/env python3
"""Prints how compile time and memory grow with a kernel's body.

  table.py ADC [--kinds line,branches] [--counts 1000,10000,50000] [--targets cpu,cuda] [--options=-O1] [--passes]

Each row is one compilation of a kernel of generate.py with its gradient: seconds of processor time, peak memory, bytes of
code before they are compressed (the PTX, the HSACO, and so on), the time of our passes, of LLVM's optimiser and of its code generators, and the time per piece against the row above it
(1.0: time grows as the body does). --passes lists the slowest passes too. --limit ends a compilation, and the
larger ones of its kind."""

import argparse
import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile

import generate



def compile_once(adc, source, target, options, limit):
    """Processor seconds, peak MiB, bytes of code and the rows of --time-passes; a text instead where it failed."""
    with tempfile.TemporaryDirectory() as folder:
        command = [adc, source, f"--target={target}", "--time-passes", "--limit-operations=4000000", "-o", f"{folder}/out.adcb", *options]
        with open(f"{folder}/log", "w+") as log:
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT,
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)))
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            log.seek(0)
            text = log.read()
        code = 0
        if process.returncode == 0:
            told = subprocess.run([adc, "inspect", f"{folder}/out.adcb"], capture_output=True, text=True, check=True).stdout
            code = sum(int(size.replace(",", "")) for size in re.findall(r"([\d,]+) bytes of code", told))
    seconds = usage.ru_utime + usage.ru_stime
    if process.returncode != 0:
        if process.returncode == -signal.SIGXCPU:
            return f"stopped after {limit} s"
        return f"exit {process.returncode}: {text.strip().splitlines()[0] if text.strip() else ''}"
    rows, inside = [], False
    for line in text.splitlines():
        if line.startswith("pass   "):
            inside = True
        elif inside and len(line.split()) >= 3:
            name, milliseconds, _ = line.rsplit(None, 2)
            rows.append((name, float(milliseconds) / 1e3))
    return seconds, usage.ru_maxrss / 1024, code, rows


def parts(rows):
    """Seconds of our passes, of LLVM's optimiser, of code generators."""
    optimise = sum(s for name, s in rows if name.startswith("  optimise"))
    select = sum(s for name, s in rows if name.startswith("  ") and not name.startswith("  optimise"))
    total = sum(s for name, s in rows if name == "total")
    return total - optimise - select, optimise, select


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adc")
    parser.add_argument("--kinds", default=",".join(kind for kind in generate.KINDS if kind not in generate.NESTS))
    parser.add_argument("--counts", default="500,5000,50000")
    parser.add_argument("--targets", default="cpu")
    parser.add_argument("--options", default="")
    parser.add_argument("--passes", action="store_true")
    parser.add_argument("--limit", type=int, default=60)
    options = parser.parse_args()
    print(f"{'kind':16}{'target':8}{'pieces':>8}{'s':>8}{'MiB':>7}{'code':>12}{'ours':>8}{'optim.':>8}{'select':>8}{'growth':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds.split(","):
            for target in options.targets.split(","):
                last = None
                for count in (int(word) for word in options.counts.split(",")):
                    source = pathlib.Path(folder) / f"{kind}_{count}.ir"
                    if not source.exists():
                        source.write_text(generate.KINDS[kind](count, "f32" if target == "metal" else "f64"))
                    found = compile_once(options.adc, str(source), target, options.options.split(), options.limit)
                    head = f"{kind:16}{target:8}{count:8}"
                    if isinstance(found, str):
                        print(head + "  " + found, flush=True)
                        break
                    seconds, memory, code, rows = found
                    growth = "" if last is None else f"{seconds / last[1] / (count / last[0]):8.2f}"
                    print(head + f"{seconds:8.2f}{memory:7.0f}{code:12,}" + "".join(f"{s:8.2f}" for s in parts(rows)) + growth,
                          flush=True)
                    if options.passes:
                        slow = sorted((row for row in rows if row[0] != "total"), key=lambda row: -row[1])[:8]
                        print("    " + ", ".join(f"{name.strip()} {s:.2f}" for name, s in slow), flush=True)
                    last = count, seconds


if __name__ == "__main__":
    main()
