#!/usr/bin/env python3
"""What a change of each header costs: the units that include it, and the processor-seconds that compile them again.

Usage: rebuilds.py [--build FOLDER] [--rows N] [FILE...]

Reads Ninja's dependencies and its log in FOLDER (build/release where nothing is said). A unit counts with the time of its
last compilation in the log: seconds of one job, so that a compiler cache or a busy machine shows in it. Headers of the
project alone, the most expensive first; the last row is the whole build. FILE: rows of these alone.
"""

import argparse
import os
import subprocess
import sys


def times_of(folder):
    """Seconds by output, of the last run of each."""
    times = {}
    with open(os.path.join(folder, ".ninja_log"), encoding="utf-8") as log:
        for line in log:
            parts = line.rstrip("\n").split("\t")
            if len(parts) == 5:
                times[parts[3]] = (int(parts[1]) - int(parts[0])) / 1000
    return times


def dependencies_of(folder):
    """Pairs of an output and the files that it was made of."""
    text = subprocess.run(["ninja", "-C", folder, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    for part in text.split("\n\n"):
        lines = part.strip("\n").split("\n")
        if len(lines) > 1 and "#deps" in lines[0]:
            yield lines[0].split(":")[0], [line.strip() for line in lines[1:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="folder of the build")
    parser.add_argument("--rows", type=int, default=25, help="how many headers")
    parser.add_argument("files", nargs="*", metavar="FILE", help="of the project, as git names it")
    given = parser.parse_args()
    root = subprocess.run(["git", "rev-parse", "--show-toplevel"], check=True, capture_output=True, text=True).stdout.strip()
    ours = set(subprocess.run(["git", "ls-files", "*.h", "*.hpp", "*.def", "*.inc"], cwd=root, check=True, capture_output=True,
                              text=True).stdout.split("\n"))
    times, units, seconds = times_of(given.build), {}, {}
    count, total = 0, 0.0
    for output, files in dependencies_of(given.build):
        time = times.get(output, 0.0)
        count, total = count + 1, total + time
        for name in {os.path.relpath(os.path.join(given.build, file), root) for file in files}:
            if name in ours:
                units[name] = units.get(name, 0) + 1
                seconds[name] = seconds.get(name, 0.0) + time
    if count == 0:
        sys.exit(f"rebuilds: {given.build} has no dependencies: build first (scripts/build)")
    for name in given.files:
        if name not in units:
            sys.exit(f"rebuilds: nothing that was built in {given.build} includes '{name}'")
    rows = given.files or sorted(units, key=lambda name: (-seconds[name], name))[:given.rows]
    print(f"{'header':<44} {'units':>6} {'seconds':>9}")
    for name in rows:
        print(f"{name:<44} {units[name]:>6} {seconds[name]:>9.1f}")
    print(f"{'(everything)':<44} {count:>6} {total:>9.1f}")


if __name__ == "__main__":
    main()
