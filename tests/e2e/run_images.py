#!/usr/bin/env python3
"""Dispatches shaders with images, and what adc --images=native made of them, on images of the device; and compares both
with each other, with what adc makes of that code again, and with the kernel that has buffers of texels, on the CPU.

  run_images.py --adc ADC --dispatch PROGRAM --work FOLDER SHADER...

A shader says in comments how it is run:
  // DISPATCH: 2 1 1    workgroups
  // IMAGE: NAME SET.BINDING @|% FORMAT WIDTHxHEIGHTxDEPTH [written [TOLERANCE]]
    % is a texture; what is written must change, and may differ so from what the CPU writes
  // PUSH: NAME VALUE   a push constant, f32
"""

import argparse
import math
import pathlib
import random
import re
import struct
import subprocess
import sys

from directives import FORMATS, CODES, read_npy

# By format: the type of a number in memory, how many a texel has, and what may differ between device and CPU. What lies
# between two numbers of a narrow format may be rounded to either. On one device integers are equal.
TEXELS = {"rgba32f": ("f32", 4, 4e-6), "r32f": ("f32", 1, 4e-6), "rgba16f": ("f16", 4, 1e-3), "rgba8": ("u8", 4, 1),
          "r8": ("u8", 1, 1), "rg8_snorm": ("i8", 2, 1), "r32i": ("i32", 1, 0), "rgba8ui": ("u8", 4, 0)}
LABELS = ("shader", "kernel", "again")


class Image:
    def __init__(self, shader, words):
        self.name, self.place, self.kind, self.format, extent = words[:5]
        self.written = words[5:6] == ["written"]
        self.scalar, self.components, self.tolerance = TEXELS[self.format]
        self.tolerance = float(words[6]) if len(words) > 6 else self.tolerance
        self.extent = [int(word) for word in extent.split("x")]
        self.word = f"{self.place}{self.kind}{self.format}@{extent}"
        source = random.Random(shader + self.name)
        count = math.prod(self.extent) * self.components
        if self.scalar in ("f32", "f16"):
            self.start = [0.1 + 0.8 * source.random() for _ in range(count)]
        else:
            low, high = {"u8": (0, 255), "i8": (-128, 127), "i32": (-1000, 1000)}[self.scalar]
            self.start = [source.randint(low, high) for _ in range(count)]
        self.form = f"<{count}{FORMATS[CODES[self.scalar][1:]]}"
        self.bytes = struct.pack(self.form, *self.start)

    def npy(self):
        width, height, depth = self.extent
        shape = [depth] * (depth > 1) + [height, width] + [self.components] * (self.components > 1)
        header = f"{{'descr': '{CODES[self.scalar]}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + self.bytes

    def differs(self, found, wanted, label):
        tolerance = self.tolerance if label not in LABELS else 4e-6 if self.scalar in ("f32", "f16") else 0
        for at, (a, b) in enumerate(zip(found, wanted)):
            if not abs(a - b) <= tolerance * (max(1.0, abs(a), abs(b)) if tolerance < 1 else 1):
                return f"{self.name}[{at}]: the shader gives {b}, {label} {a}"
        return "" if len(found) == len(wanted) else f"{self.name}: {label} has {len(found)} numbers"


def run(words, what):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    return "" if result.returncode == 0 else f"{what} failed ({result.returncode}): {result.stdout[-800:]}{result.stderr[-1500:]}"


def check(given, path):
    text = path.read_text(encoding="utf-8")
    groups = re.search(r"// DISPATCH: (.*)", text).group(1).split()
    images = [Image(path.stem, words.split()) for words in re.findall(r"// IMAGE: (.*)", text)]
    push = [words.split() for words in re.findall(r"// PUSH: (.*)", text)]
    folder = given.work / path.stem
    folder.mkdir(parents=True, exist_ok=True)
    code = {label: folder / f"{label}.spv" for label in LABELS}
    entries = {"shader": "main", "kernel": f"adc_{path.stem}_t0", "again": f"adc_adc_{path.stem}_t0_t0"}
    emit = [given.adc, "--emit=spirv", "--images=native", "--target=vulkan:1.2", "--fp=strict"]
    dispatches = []
    for label in LABELS:
        dispatches += ["--", code[label], entries[label], *groups]
        for image in images:
            (folder / f"{label}.{image.name}").write_bytes(image.bytes)
            dispatches.append(f"{image.word}={folder / f'{label}.{image.name}'}")
        if push:
            (folder / "push").write_bytes(struct.pack(f"<{len(push)}f", *(float(value) for _, value in push)))
            dispatches.append(f"push={folder / 'push'}")
    on_cpu = [given.adc, "run", path, f"--kernel={path.stem}"] + [f"--arg={name}={value}" for name, value in push]
    for image in images:
        (folder / f"{image.name}.npy").write_bytes(image.npy())
        on_cpu.append(f"--arg={image.name}=@{folder / image.name}.npy")
        if image.written:
            on_cpu.append(f"--out={image.name}=@{folder / image.name}.out.npy")
    local = dict(re.findall(r"local_size_([xyz]) = (\d+)", text))
    for axis, count in zip("xyz", groups):
        if axis in local or count != "1":
            on_cpu.append(f"--arg=invocations_{axis}={int(count) * int(local.get(axis, 1))}")
    found = ""
    for words, what in (
        (["glslangValidator", "-V", "--target-env", "vulkan1.2", path, "-o", code["shader"]], "glslang"),
        ([*emit, path, "-o", code["kernel"]], "adc"),
        (["spirv-val", "--target-env", "vulkan1.2", code["kernel"]], "spirv-val"),
        ([*emit, code["kernel"], "-o", code["again"]], "adc of what adc made"),
        ([given.dispatch, *dispatches], "dispatch"),
        (on_cpu, "adc run"),
    ):
        found = found or run(words, what)
    for image in images:
        if found:
            break
        left = {label: struct.unpack(image.form, (folder / f"{label}.{image.name}").read_bytes()) for label in LABELS}
        if image.written:
            left["the kernel with buffers"] = read_npy(folder / f"{image.name}.out.npy")
        for label, numbers in left.items():
            found = found or image.differs(numbers, left["shader"], label)
        if not found and image.written != (left["shader"] != struct.unpack(image.form, image.bytes)):
            found = f"{image.name} " + ("has not changed" if image.written else "has changed")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--adc", required=True)
    parser.add_argument("--dispatch", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("shaders", type=pathlib.Path, nargs="+")
    given = parser.parse_args()
    problems = 0
    for path in given.shaders:
        found = check(given, path)
        problems += bool(found)
        print(f"{path.name}: {found or 'equal'}")
    return 1 if problems else 0


sys.exit(main())
