#!/usr/bin/env python3
"""Compilations that share a cache folder, several at a time, of which some are killed: whatever is left in the folder, the
next ones write the bytes that they write without it.

usage: kill_cache.py ADC FILE.ir [COUNT [SEED]]
"""

import os
import random
import subprocess
import sys
import tempfile
import time

adc, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
count = int(sys.argv[3]) if len(sys.argv) > 3 else 60
seed = int(sys.argv[4]) if len(sys.argv) > 4 else 20261123
print(f"{count} compilations, seed {seed}")
random.seed(seed)
AT_ONCE, LEVELS = 4, (0, 1, 2)
# Another entry, and on a processor the same bytes.
BLOCKS = [32 * number for number in range(1, 9)]


def command(level, output, *more):
    return [adc, "--target=cpu", "--jobs=1", f"-O{level}", source, "-o", output, *more]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    whole, longest = {}, 0
    for level in LEVELS:
        subprocess.run(command(level, "plain.adcb"), check=True)
        begin = time.monotonic()
        subprocess.run(command(level, "timed.adcb", "--cache-dir=timed"), check=True)
        longest = max(longest, time.monotonic() - begin)
        with open("plain.adcb", "rb") as file:
            whole[level] = file.read()
    killed = finished = 0
    running = []
    for number in range(count):
        level = random.choice(LEVELS)
        output = f"out{number}.adcb"
        words = command(level, output, "--cache-dir=cache", f"--block-size={random.choice(BLOCKS)}")
        process = subprocess.Popen(words, stderr=subprocess.PIPE)
        running.append((process, level, output, time.monotonic() + longest * random.uniform(0.2, 2)))
        while len(running) >= AT_ONCE or (number == count - 1 and running):
            process, level, output, end = running.pop(0)
            try:
                said = process.communicate(timeout=max(0, end - time.monotonic()))[1]
            except subprocess.TimeoutExpired:
                process.kill()
                said = process.communicate()[1]
            if process.returncode == -9:
                killed += 1
            else:
                finished += 1
                assert process.returncode == 0 and not said, f"{output}: {process.returncode}, {said.decode()}"
            if process.returncode == 0 or os.path.exists(output):
                with open(output, "rb") as file:
                    assert file.read() == whole[level], f"{output} is not what -O{level} writes"
    left = [os.path.join(place, name) for place, _, names in os.walk("cache") for name in names]
    for level in LEVELS:
        for block in BLOCKS:
            subprocess.run(command(level, "again.adcb", "--cache-dir=cache", f"--block-size={block}"), check=True)
            with open("again.adcb", "rb") as file:
                assert file.read() == whole[level], f"with the cache -O{level} writes other bytes"
    entries = [os.path.join(place, name) for place, _, names in os.walk("cache") for name in names
               if not name.startswith(".")]
    assert len(entries) == len(LEVELS) * len(BLOCKS), f"the cache holds {entries}"
    assert killed > 0 and finished > 0, f"{killed} killed, {finished} finished"
    print(f"{killed} killed, {finished} finished, {len(left)} files in the cache then: the same bytes each time")
