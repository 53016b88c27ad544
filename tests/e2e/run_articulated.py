#!/usr/bin/env python3
"""update_cartesian_space through the command line: `adc gradcheck` on a body, an arm and a tree, and the promise of
`writeonce` checked on each.

Usage: run_articulated.py ADC STATE_TOOL F64_SAMPLES
"""

import pathlib
import subprocess
import sys
import tempfile

KERNEL = "update_cartesian_space"


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(part) for part in command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    adc, tool, samples = sys.argv[1:]
    source = pathlib.Path(samples) / (KERNEL + ".ir")
    with tempfile.TemporaryDirectory() as folder:
        checked = pathlib.Path(folder) / "checked.adcb"
        run(adc, source, "--check-writes", "--derive=none", "--target=cpu", "-o", checked)
        for scene in (["--body"], ["--arm", "--environments", "3"], ["--tree", "40"], ["--tree", "40", "--seed", "2"]):
            state = pathlib.Path(folder) / "state"
            run(tool, state, "--f64", *scene)
            arguments = (state / "arguments").read_text().splitlines()
            # A body alone at its state only: with zeros for its quaternion nothing has a derivative, and with large numbers
            # its position has two contributions that cancel and are 1e16 times what is left.
            points = ["--points=0"] if "--body" in scene else []
            said = run(adc, "gradcheck", source, *points, *arguments)
            if "24 parameters, 0 differ" not in said:
                sys.exit(said)
            run(adc, "run", "--trust", checked, *arguments)
            print(" ".join(scene) + ": " + said.splitlines()[-2])


if __name__ == "__main__":
    main()
