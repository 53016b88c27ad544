#!/usr/bin/env python3
"""Kills compilations at random moments: each leaves a whole bundle, the one before or the new one, and nothing else.

usage: kill_compiler.py ADC FILE.ir [COUNT [SEED]]
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

adc, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
count = int(sys.argv[3]) if len(sys.argv) > 3 else 200
seed = int(sys.argv[4]) if len(sys.argv) > 4 else 20261122
print(f"{count} kills, seed {seed}")
random.seed(seed)

with tempfile.TemporaryDirectory() as folder:
    out, temporary = os.path.join(folder, "out"), os.path.join(folder, "tmp")
    os.mkdir(out)
    os.mkdir(temporary)
    bundle = os.path.join(out, "k.adcb")

    def command(level):
        return [adc, "--target=cpu", "--derive=grad", f"-O{level}", source, "-o", bundle]

    environment = dict(os.environ, TMPDIR=temporary)
    whole, longest = [], 0
    for level in (0, 1):
        begin = time.monotonic()
        subprocess.run(command(level), check=True, env=environment)
        longest = max(longest, time.monotonic() - begin)
        with open(bundle, "rb") as file:
            whole.append(file.read())
    os.remove(bundle)
    killed = finished = 0
    for number in range(count):
        process = subprocess.Popen(command(number % 2), env=environment)
        try:
            # Half of them near the end, where files are written.
            process.wait(longest * random.choice((random.random(), 0.8 + 0.4 * random.random())))
            finished += 1
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
        left = sorted(os.listdir(out))
        assert set(left) <= {"k.adcb", ".k.adcb.adc-new"}, f"kill {number}: left {left}"
        for name in left:
            with open(os.path.join(out, name), "rb") as file:
                assert file.read() in whole, f"kill {number}: '{name}' is neither bundle"
        assert os.listdir(temporary) == [], f"kill {number}: left {os.listdir(temporary)} in the temporary folder"
    assert killed >= count // 10, f"only {killed} of {count} were killed in time"
    subprocess.run(command(0), check=True, env=environment)
    assert os.listdir(out) == ["k.adcb"], f"the run after the kills left {os.listdir(out)}"
    print(f"{killed} killed, {finished} finished before: whole files or none, nothing temporary")
