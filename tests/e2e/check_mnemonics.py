#!/usr/bin/env python3
"""The interpreter of RDNA3 has every instruction that is emitted for the samples.

Usage: check_mnemonics.py ADC LISTER FOLDER...

Compiles each program of the folders for gfx1100, with its derivatives, and has LISTER count the instructions.
"""

import os
import subprocess
import sys
import tempfile


def main():
    adc, lister, *folders = sys.argv[1:]
    programs = [(folder, name) for folder in folders for name in sorted(os.listdir(folder)) if name.endswith(".ir")]
    with tempfile.TemporaryDirectory() as scratch:
        images = []
        for number, (folder, name) in enumerate(programs):
            path, image = os.path.join(folder, name), os.path.join(scratch, f"{number}.hsaco")
            with open(path, encoding="utf-8") as file:
                if "kernel @" not in file.read():  # a file of functions
                    continue
            subprocess.run([adc, "--derive=grad,jvp", "--target=hip:gfx1100", "--emit=hsaco", path, "-o", image],
                           check=True)
            images.append(image)
        done = subprocess.run([lister, *images], capture_output=True, text=True, check=False)
    if done.returncode != 0 or not images:
        print(done.stdout + done.stderr)
        return 1
    print(f"{len(images)} code objects: {done.stdout.splitlines()[-1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
