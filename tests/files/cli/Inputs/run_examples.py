#!/usr/bin/env python3
"""Runs every example of `adc --help` and `adc COMMAND --help` in the current folder, in their order, and says which fails.

What an example says that it writes must be there afterwards. An example for a device runs on the CPU instead. A command without
an example is a failure.
"""

import os
import re
import shutil
import subprocess
import sys


def help_of(command):
    return subprocess.run(["adc"] + command + ["--help"], check=True, capture_output=True, text=True).stdout


def examples(text):
    """(command, what it does) of each."""
    part = text.partition("\nExamples:\n")[2].split("\n\n")[0].splitlines()
    return list(zip([line.strip() for line in part[::2]], [line.strip() for line in part[1::2]]))


def main():
    text = help_of([])
    listed = re.findall(r"^  (\S+) ", text.split("Other commands (adc COMMAND --help):\n")[1].split("\n\n")[0], re.M)
    # Keys are made before they are used.
    listed.sort(key=lambda command: command != "sign")
    count, failed = 0, 0
    for command in [[]] + [[name] for name in listed]:
        found = examples(help_of(command))
        if not found:
            print(f"adc {' '.join(command)} --help has no example")
            failed += 1
        for line, what in found:
            if command == ["diff"]:
                shutil.copy("golden.adcb", "relax.adcb")
            runs = re.sub(r" --device \S+", "", line)
            result = subprocess.run(["sh", "-c", runs], capture_output=True, text=True)
            written = re.findall(r"[\w./-]+\.\w+", what) if what.startswith("writes ") else []
            missing = [name for name in written if not os.path.exists(name.rstrip(":,"))]
            count += 1
            if result.returncode != 0 or missing:
                print(f"{line}: exit {result.returncode}, not written: {missing}\n{result.stderr}")
                failed += 1
    print(f"{count} examples, {failed} fail")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
