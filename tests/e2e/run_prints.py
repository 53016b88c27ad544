#!/usr/bin/env python3
"""What compiled code prints is what the interpreter prints, in its order: of programs that say `// run: KERNEL ARGS`.

Usage: run_prints.py [--device DEVICE] [--program PROGRAM] ADC FOLDER

--program: what an engine does (prints_program.c) shows the lines of the first run of branches.ir too.
Where there is little space, some of these lines are shown, and it is said how many.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

# On a CPU: workers, iterations in vectors, checked and unchecked.
WAYS = {
    "cpu": ["--threads=1", "--threads=2", "--threads=7", "--simd=auto", "--simd=8", "--no-check-bounds"],
}
UNSUPPORTED = 5


def run(adc, words):
    done = subprocess.run([adc, "run", *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def check_little_space(adc, words, lines, said):
    """Errors of a run that has space for some lines only."""
    code, out, aside = run(adc, [*words, "--print-bytes=64"])
    told = re.search(r"adc: (\d+) of (\d+) prints shown", aside)
    if code != 0 or told is None:
        return f"{said}: with little space exit code {code}, {aside!r}"
    shown, total = int(told[1]), int(told[2])
    extra = collections.Counter(out.splitlines()[:shown]) - collections.Counter(lines)
    if total != len(lines) or shown >= total or extra:
        return f"{said}: {shown} of {total} prints shown, of {len(lines)}; not among them: {list(extra)}"
    return None


def check_program(adc, device, program, path, lines):
    """What is wrong with the lines that a program shows of a bundle."""
    with tempfile.TemporaryDirectory() as scratch:
        bundle = f"{scratch}/prints.adcb"
        made = subprocess.run([adc, "--prints", "--derive=none", f"--target={device}", "-o", bundle, path], check=False)
        done = subprocess.run([program, bundle, device], capture_output=True, text=True, check=False)
    if made.returncode == 0 and done.returncode == 0 and done.stdout.splitlines() == lines:
        return []
    return [f"{program}: exit codes {made.returncode}, {done.returncode}: {done.stderr}\n{done.stdout}"]


def check(adc, device, path, kernel, arguments):
    words = [str(path), "--kernel", kernel, *arguments]
    said = f"{path.name} {kernel}"
    code, wanted, aside = run(adc, [*words, "--interpret"])
    if code != 0:
        return [f"{said}: the interpreter ends with {code}: {aside}"]
    mistakes = []
    for way in WAYS.get(device, [""]):
        code, out, aside = run(adc, [*words, "--device", device, *way.split()])
        if code == UNSUPPORTED and device == "metal" and "f64" in path.read_text(encoding="utf-8"):
            return [None]
        if code != 0 or aside or out != wanted:
            mistakes.append(f"{said} {device} {way}: exit code {code}, {aside}\n--- printed\n{out}--- wanted\n{wanted}")
    code, silent, _ = run(adc, [*words, "--print-bytes=0"])
    lines = wanted.splitlines()[: wanted.count("\n") - silent.count("\n")]
    if code != 0 or wanted != "".join(line + "\n" for line in lines) + silent or not lines:
        mistakes.append(f"{said}: what is printed without prints is not the end of what is printed with them")
    if len(lines) > 6:
        mistakes += filter(None, [check_little_space(adc, [*words, "--device", device], lines, said)])
    return mistakes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--program")
    parser.add_argument("adc")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    runs, left, mistakes = 0, 0, []
    for path in sorted(options.folder.glob("*.ir")):
        for line in re.findall(r"^// run: (.*)", path.read_text(encoding="utf-8"), re.M):
            kernel, *arguments = line.split()
            found = check(options.adc, options.device, path, kernel, arguments)
            runs += 1
            left += found == [None]
            mistakes += filter(None, found)
    if options.program:
        path = options.folder / "branches.ir"
        words = re.search(r"^// run: (.*)", path.read_text(encoding="utf-8"), re.M)[1].split()
        wanted = run(options.adc, [str(path), "--interpret", "--kernel", *words])[1].splitlines()
        mistakes += check_program(options.adc, options.device, options.program, path, wanted[:-1])
    print("\n".join(mistakes))
    print(f"{runs} runs on {options.device}, {left} of them left out, {len(mistakes)} mistakes")
    return 0 if runs > left and not mistakes else 1


if __name__ == "__main__":
    sys.exit(main())
