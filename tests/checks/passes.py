#!/usr/bin/env python3
"""Fails where a pass has no directive tests of its own.

Usage: passes.py --adc PROGRAM --files FOLDER

Each pass that `adc opt --list-passes` names has a folder in tests/files/opt, and each file there runs it
(`adc opt --passes=...`, or `adc --stop-after=...` where it takes an option that `adc opt` lacks). `verify` has tests/files/verify instead: its tests are messages, and every compilation runs it.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ELSEWHERE = {"verify"}


def passes_of(adc):
    text = subprocess.run([adc, "opt", "--list-passes"], check=True, capture_output=True, text=True).stdout
    return [line.split()[0] for line in text.splitlines()]


def passes_run(text):
    runs = " ".join(re.findall(r"^// RUN:(.*)", text, re.M))
    return {name for names in re.findall(r"--(?:passes|stop-after)=([\w,-]+)", runs) for name in names.split(",")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--adc", required=True)
    parser.add_argument("--files", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    passes = passes_of(arguments.adc)
    folders = {folder.name: sorted(folder.glob("*.ir")) for folder in (arguments.files / "opt").iterdir() if folder.is_dir()}
    mistakes = [] if len(passes) > 1 else ["adc opt --list-passes names no passes"]
    for name in passes:
        elsewhere = name in ELSEWHERE and any((arguments.files / name).glob("*.ir"))
        if not elsewhere and not folders.get(name):
            mistakes.append(f"the pass '{name}' has no tests in {arguments.files.name}/opt/{name}")
    for folder, files in folders.items():
        if folder not in passes:
            mistakes.append(f"{arguments.files.name}/opt/{folder} bears the name of no pass")
            continue
        for file in files:
            if folder not in passes_run(file.read_text(encoding="utf-8")):
                mistakes.append(f"{file.relative_to(arguments.files)} does not run '{folder}'")
    for mistake in mistakes:
        print(mistake)
    print(f"{len(passes)} passes, {sum(map(len, folders.values()))} files, {len(mistakes)} mistakes")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
