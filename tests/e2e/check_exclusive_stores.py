#!/usr/bin/env python3
"""No code for AArch64 throws the status of an exclusive store away (`stxr wzr`, `stlxr wzr`): its loop would not see
that another thread came in between, and an atomic update would be lost.

Compiles every program of a folder that has derivatives, with them, and looks at what LLVM's disassembler says of the
objects. The levels -O0 to -O3 take turns; with ADC_FULL=1 in the environment each program takes all of them.

Usage: check_exclusive_stores.py ADC LLVM-OBJDUMP FOLDER
"""

import os
import re
import subprocess
import sys
import tempfile

from batch import Batches
from run_gradients import turn_of

LEVELS = range(4)
# A store that is not exclusive has no status in front of what it stores.
STORE = re.compile(r"\b(stl?x[rp][bh]?)\s+(w\w+),")


def main():
    adc, objdump, folder = sys.argv[1:]
    batches, mistakes, stores, objects = Batches(os.path.abspath(adc)), [], 0, []
    with tempfile.TemporaryDirectory() as scratch:
        for name in sorted(os.listdir(folder)):
            path = os.path.join(os.path.abspath(folder), name)
            if not name.endswith(".ir"):
                continue
            with open(path, encoding="utf-8") as file:
                text = file.read()
            options = " ".join(re.findall(r"^// compiled with: (.*)$", text, re.M)).split()
            if re.search(r"^// refuses: ", text, re.M) or " diff" not in text:
                continue
            for level in LEVELS if os.environ.get("ADC_FULL") else [LEVELS[turn_of(name, 1, len(LEVELS))]]:
                output = os.path.join(scratch, f"{name}.O{level}.o")
                outcome = batches.call(["-I", os.path.dirname(path), *options, "--emit=obj", "--target=cpu:aarch64",
                                        f"-O{level}", "--derive=grad,jvp", path, "-o", output])
                if outcome.returncode != 0:
                    mistakes.append(f"{name} at -O{level}: {outcome.stderr}")
                else:
                    objects.append(output)
        mistakes += batches.end()
        said = subprocess.run([objdump, "-d", "--no-show-raw-insn", *objects], capture_output=True, text=True, check=True)
        place = ""
        for line in said.stdout.splitlines():
            if line.endswith("file format elf64-littleaarch64"):
                place = os.path.basename(line.partition(":")[0])
            found = STORE.search(line)
            if found:
                stores += 1
                if found.group(2) == "wzr":
                    mistakes.append(f"{place}: {line.strip()}")
    print(*mistakes, sep="\n")
    print(f"{len(objects)} objects, {stores} exclusive stores, {len(mistakes)} mistakes")
    return 1 if mistakes or stores == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
