#!/usr/bin/env python3
"""Compile time for devices grows with a kernel's body: prints the table for large bodies, and judges its growth.

  device_growth.py ADC TABLE

TABLE (bench/compile/table.py) compiles bodies four times as large as the ones before. The time per piece may grow by a
few times, since LLVM's analyses are not linear. It grew by 40 where each call on an AMD device handed on inputs that
the function called does not read. A thousand branches for Metal need more stack than a thread usually has. On CUDA LLVM
looked through the whole function for each call, so that the time per piece grew by 5 from 1,000 to 4,000."""

import subprocess
import sys

RUNS = [("line,branches", "cuda,hip,vulkan:1.2", "--derive=none", "250,1000", 8.0),
        ("line", "cuda,hip,vulkan:1.2", "--derive=grad", "250,1000", 8.0),
        ("line,branches", "metal", "--derive=grad", "250,1000", 8.0),
        ("branches", "cuda", "--derive=none", "1000,4000", 3.0)]


def main():
    adc, table = sys.argv[1:]
    for kinds, targets, option, counts, most in RUNS:
        print(option)
        outcome = subprocess.run([sys.executable, table, adc, f"--kinds={kinds}", f"--counts={counts}",
                                  f"--targets={targets}", f"--options={option}", "--limit=300"], capture_output=True, text=True)
        print(outcome.stdout, outcome.stderr, flush=True)
        rows = [line.split() for line in outcome.stdout.splitlines()[1:]]
        wanted = 2 * len(kinds.split(",")) * len(targets.split(","))
        if outcome.returncode != 0 or "stopped after" in outcome.stdout or " exit " in outcome.stdout or len(rows) != wanted:
            sys.exit("not compiled")
        for row in rows[1::2]:
            if float(row[-1]) > most:
                sys.exit(f"{row[0]} for {row[1]}: the time per piece grows by {row[-1]}, at most {most}")


if __name__ == "__main__":
    main()
