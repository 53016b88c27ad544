#!/usr/bin/env python3
"""Compile time for devices grows with a kernel's body: prints the table for large bodies, and judges its growth.

  device_growth.py ADC TABLE

TABLE (bench/compile/table.py) compiles bodies four times as large as the ones before. The time per piece may grow by a
few times, since LLVM's analyses are not linear. It grew by 40 where each call on an AMD device handed on inputs that
the function called does not read. A thousand branches for Metal need more stack than a thread usually has."""

import subprocess
import sys

MOST_GROWTH = 8.0
RUNS = [("line,branches", "cuda,hip,vulkan:1.2", "--derive=none"), ("line", "cuda,hip,vulkan:1.2", "--derive=grad"),
        ("line,branches", "metal", "--derive=grad")]


def main():
    adc, table = sys.argv[1:]
    for kinds, targets, option in RUNS:
        print(option)
        outcome = subprocess.run([sys.executable, table, adc, f"--kinds={kinds}", "--counts=250,1000",
                                  f"--targets={targets}", f"--options={option}", "--limit=300"], capture_output=True, text=True)
        print(outcome.stdout, outcome.stderr, flush=True)
        rows = [line.split() for line in outcome.stdout.splitlines()[1:]]
        wanted = 2 * len(kinds.split(",")) * len(targets.split(","))
        if outcome.returncode != 0 or "stopped after" in outcome.stdout or " exit " in outcome.stdout or len(rows) != wanted:
            sys.exit("not compiled")
        for row in rows[1::2]:
            if float(row[-1]) > MOST_GROWTH:
                sys.exit(f"{row[0]} for {row[1]}: the time per piece grows by {row[-1]}, at most {MOST_GROWTH}")


if __name__ == "__main__":
    main()
