#!/usr/bin/env python3
"""naga reads what adc writes for translators: check_naga.py ADC CACHE FOLDER...

Every program of the folders that has a kernel becomes a module for vulkan:1.2-near, with its gradients (f64 or f32 in
turn, both with ADC_FULL=1 in the environment), and every shader one with its bindings. naga, of the wheel wgpu, unpacked
below CACHE, must read and validate each of them, but for those that ask for what it does not have (LACKS): these it must
refuse for that reason. Exit code 77: the wheel cannot be had, or does not run here, and nothing was read.
"""

import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

from batch import Batches
from run_gradients import turn_of

WHEEL = "wgpu==0.32.0"  # naga 29
# What naga does not have, and what it says of a module with it.
BYTES = "unsupported capability StorageBuffer8BitAccess"
ONE_BINDING = "conflict with other resource"  # an entry that sees one buffer by two variables, as numbers of two kinds
HERE = os.path.dirname(os.path.abspath(__file__))
FULL = bool(os.environ.get("ADC_FULL"))
SEED = int(os.environ.get("ADC_SEED", "1"))
JOBS = int(os.environ.get("ADC_JOBS", "0")) or os.cpu_count()


def skip(text):
    print(text.upper() + ": NAGA HAS READ NOTHING", file=sys.stderr)
    sys.exit(77)


def unpacked(cache):
    """The folder of the wheel and what it needs, fetched where it is not there yet."""
    folder = os.path.join(cache, WHEEL)
    if not os.path.exists(folder):
        os.makedirs(cache, exist_ok=True)
        partial = folder + ".partial"
        shutil.rmtree(partial, ignore_errors=True)
        words = [sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:", "--disable-pip-version-check",
                 "--retries=1", "--timeout=20", "--target", partial, WHEEL]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            skip(f"{WHEEL} cannot be had: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
        os.rename(partial, folder)
    return folder


def sources(folders, scratch):
    """Names, paths and folders of imports of what is compiled."""
    for at, folder in enumerate(folders):
        own = os.path.join(scratch, str(at))
        os.makedirs(own)
        for path in sorted(glob.glob(os.path.join(folder, "*.ir"))):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if not re.search(r"^kernel @", text, re.M) or re.search(r"^// refuses: ", text, re.M):
                continue
            name = os.path.basename(path)[:-3]
            scalars = ["f64", "f32"]
            if re.search(r"^// (f64 only|as it stands): ", text, re.M) or " f64" not in text:
                scalars = ["f64"]
            elif not FULL:
                scalars = [scalars[turn_of(name, SEED, 2)]]
            for scalar in scalars:
                into = os.path.join(own, f"{name}.{scalar}.ir")
                with open(into, "w", encoding="utf-8") as file:
                    file.write(text if scalar == "f64" else text.replace("f64", "f32"))
                options = " ".join(re.findall(r"^// compiled with: (.*)$", text, re.M)).split()
                yield into, ["-I", folder, "--target=vulkan:1.2-near", *options]
        for path in sorted(glob.glob(os.path.join(folder, "*.comp"))):
            into = os.path.join(own, os.path.basename(path))
            shutil.copy(path, into)
            yield into, ["-I", folder, "--target=vulkan:1.2"]


def read(paths, folder):
    """What naga says of each module: OK, a refusal, or how it ended."""
    answers, rest = {}, list(paths)
    environment = {**os.environ, "PYTHONPATH": folder, "RUST_BACKTRACE": "0"}
    while rest:
        done = subprocess.run([sys.executable, os.path.join(HERE, "naga_reader.py")], input="\n".join(rest) + "\n",
                              env=environment, capture_output=True, text=True, timeout=1200)
        lines = [line.split("\t", 1) for line in done.stdout.splitlines()]
        if not lines:
            skip(f"{WHEEL} does not run here: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
        answers.update((path, json.loads(answer)) for path, answer in lines if answer)
        if len(answers) == len(paths):
            break
        panic = re.search(r"panicked at .*?\n.*", done.stderr)
        answers[lines[-1][0]] = f"it ends, exit {done.returncode}: {panic.group() if panic else done.stderr[-1000:]}"
        rest = [path for path in paths if path not in answers]
    return answers


def lacking(path):
    """What a module has that naga does not."""
    with open(path, "rb") as file:
        code = file.read()
    words = memoryview(code).cast("I")
    at, found, places, interfaces = 5, set(), {}, []
    while at < len(words):
        op, count = words[at] & 0xFFFF, words[at] >> 16
        operands = words[at + 1:at + count].tolist()
        if op == 17 and operands[0] == 4448:
            found.add(BYTES)
        elif op == 15:  # an entry: model, function, name, interface
            name = code[4 * (at + 3):].index(b"\0") // 4 + 1
            interfaces.append(operands[2 + name:])
        elif op == 71 and operands[1] in (33, 34):  # binding, set
            places.setdefault(operands[0], {})[operands[1]] = operands[2]
        at += count
    for interface in interfaces:
        bound = [tuple(sorted(places[variable].items())) for variable in interface if variable in places]
        if len(bound) != len(set(bound)):
            found.add(ONE_BINDING)
    return found


def main(adc, cache, *folders):
    folder, batches = unpacked(cache), Batches(os.path.abspath(adc))
    with tempfile.TemporaryDirectory() as scratch:
        def make(task):
            path, options = task
            done = batches.call(["-w", "--emit=spirv", *options, path, "-o", path + ".spv"])
            return path + ".spv" if done.returncode == 0 else None, f"{path}: {done.stderr}"

        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            made = list(pool.map(make, sources(folders, scratch)))
        batches.end()
        modules, unmade = [path for path, _ in made if path], [said for path, said in made if not path]
        failures, refused = list(unmade), Counter()
        for path, answer in read(modules, folder).items():
            lacks = lacking(path)
            if any(reason in answer for reason in lacks):
                refused.update(lacks)
            elif lacks or answer != "OK":
                expected = f", it should be refused: {' or '.join(sorted(lacks))}" if lacks else ""
                failures.append(f"{os.path.basename(path)}: {answer}{expected}")
    for failure in failures:
        print(failure)
    if len(modules) < 100 or len(refused) < 2:
        failures.append(f"{len(modules)} modules alone, refused for {len(refused)} reasons")
        print(failures[-1])
    taken = len(modules) - sum(refused.values())
    print(f"naga of {WHEEL} reads {taken} of {len(modules)} modules, {len(failures)} failed")
    for reason, count in refused.items():
        print(f"{count} refused: {reason}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
