#!/usr/bin/env python3
"""Kills compilations at random moments: each leaves a whole bundle, the one before or the new one, and nothing else.

usage: kill_compiler.py ADC FILE.ir [COUNT [SEED]]

COUNT compilations are killed, $ADC_KILLS or 50 by default; those that end first are told and not counted.
docs/security.md has the result of 1,000.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

adc, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
count = int(sys.argv[3]) if len(sys.argv) > 3 else int(os.environ.get("ADC_KILLS", "50"))
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
    killed = finished = named = 0
    while killed < count:
        begin = time.monotonic()
        # In a session of its own: a process that it has started would be left in it.
        process = subprocess.Popen(command(killed % 2), env=environment, start_new_session=True)
        # Half of them near the end, where files are written.
        moment = random.choice((random.random(), 0.8 + 0.4 * random.random()))
        try:
            process.wait(longest * moment)
            assert process.returncode == 0, f"kill {killed}: the compiler ended with {process.returncode} by itself"
            finished += 1
            # As long as the others on this machine let it take: moments go by that.
            longest += 0.2 * (time.monotonic() - begin - longest)
            assert finished < 10 * count + 100, f"{finished} compilations ended before they were killed"
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            # It may have ended in between: what the signal did not end is no kill.
            if process.returncode == -signal.SIGKILL:
                killed += 1
            else:
                assert process.returncode == 0, f"kill {killed}: the compiler ended with {process.returncode} by itself"
                finished += 1
            if moment > 1:
                longest *= 1.1
        try:
            os.killpg(process.pid, 0)
            raise AssertionError(f"kill {killed}: a process that the compiler started is left")
        except ProcessLookupError:
            pass
        left = sorted(os.listdir(out))
        assert set(left) <= {"k.adcb", ".k.adcb.adc-new"}, f"kill {killed}: left {left}"
        for name in left:
            with open(os.path.join(out, name), "rb") as file:
                assert file.read() in whole, f"kill {killed}: '{name}' is neither bundle"
        named += ".k.adcb.adc-new" in left
        assert os.listdir(temporary) == [], f"kill {killed}: left {os.listdir(temporary)} in the temporary folder"
    subprocess.run(command(0), check=True, env=environment)
    assert os.listdir(out) == ["k.adcb"], f"the run after the kills left {os.listdir(out)}"
    print(f"{killed} killed, {named} of them found a whole file that waited for its name, {finished} finished before: "
          "whole files or none, nothing temporary, no process left")
