#!/usr/bin/env python3
"""Dispatches shaders and what adc made of them, by a program that knows neither, and compares memory.

  run_shaders.py --adc ADC --dispatch PROGRAM --translate PROGRAM --work FOLDER SHADER...

A shader says in comments how it is run:
  // DISPATCH: 2 1 1 | 0.1 f32 64 random | 0.2u f32 8 random | push i32 10 u32 7 | 3:5
    workgroups, buffers (set.binding, `u` for a uniform one, type, length, content: random, bits, zeros), push constants,
    specialisation constants
  // TOLERANCE: 3e-4, relative, of f32: where the device's own functions are less exact than the kernel's
  // GRADCHECK: arguments of `adc gradcheck`
  // PY: a line of Python. All of them together compute `after`, lists by set.binding, from `before`, the same, and `push`:
    what the kernel must leave, computed in another way than the shader does
  // PHONES: none, or kernel, gradient: what needs no more of a device than a compute shader of OpenGL ES 3.1 or of Direct3D 11
    has, and what their translators take
  // SAME-AS: FILE.ir arguments: kernel and gradient print the numbers that the sample's do, with the arguments of HERE for
  the shader and those of ADJOINT for both gradients
"""

import argparse
import json
import math
import pathlib
import random
import re
import struct
import subprocess
import sys

# The kernel; that of the module when another compiler has optimised it; and that of the kernel's own code.
LABELS = ("kernel", "inlined", "again")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GROUP_OPERATIONS = 61  # of capabilities
ENTRY_POINT = 15  # of instructions
FORMATS = {"f32": "f", "f64": "d", "i32": "i", "u32": "I"}


def content(kind, length, what, seed):
    source = random.Random(seed)
    if what == "tree":
        values = [0, 1, 2, 2]
    elif what == "rows":
        values = [4 * n for n in range(length)]
    elif what == "columns":
        values = [source.randrange(16) for _ in range(length)]
    elif what == "definite":
        # 4 by 4, diagonally dominant.
        values = [4 + source.random() if n // 4 % 4 == n % 4 else 0.25 for n in range(length)]
    elif what == "zeros":
        values = [0] * length
    elif kind in ("f32", "f64"):
        values = [0.1 + 0.8 * source.random() for _ in range(length)]
    elif what == "bits":
        values = [source.getrandbits(32) if n % 3 else source.randrange(50) for n in range(length)]
    else:
        values = [source.randrange(100) for _ in range(length)]
    return struct.pack(f"<{length}{FORMATS[kind]}", *values)


class Shader:
    def __init__(self, path):
        self.path = path
        text = path.read_text(encoding="utf-8")
        self.dispatch = re.search(r"// DISPATCH: (.*)", text).group(1).split("|")
        check = re.search(r"// GRADCHECK: (.*)", text)
        self.gradcheck = check.group(1).split() if check else None
        # What adc prints of some is not what it reads.
        self.closed_form = "\n".join(re.findall(r"^// PY: (.*)$", text, re.MULTILINE))
        self.labels = LABELS[:-1] if "// NOT-AGAIN" in text else LABELS
        def words_of(directive):
            line = re.search(rf"// {directive}: (.*)", text)
            return line.group(1).split() if line else []

        self.is_read_back = False
        self.phones = words_of("PHONES")
        self.sample, self.here, self.adjoint = (words_of(name) for name in ("SAME-AS", "HERE", "ADJOINT"))
        loose = re.search(r"// TOLERANCE: (\S+)", text)
        self.tolerance = float(loose.group(1)) if loose else 4e-6
        self.groups = self.dispatch[0].split()
        self.buffers, self.push, self.constants, self.pushed = [], b"", [], []
        for part in self.dispatch[1:]:
            words = part.split()
            if words[0] == "push":
                for kind, value in zip(words[1::2], words[2::2]):
                    self.pushed.append(float(value) if kind == "f32" else int(value))
                    self.push += struct.pack("<" + FORMATS[kind], float(value) if kind == "f32" else int(value))
            elif ":" in words[0]:
                self.constants.append(words[0])
            else:
                self.buffers.append((words[0], words[1], int(words[2]), words[3]))

    def files(self, folder, label):
        """Command-line words of one dispatch, with fresh files."""
        words = []
        for number, (place, kind, length, what) in enumerate(self.buffers):
            file = folder / f"{self.path.stem}.{label}.{number}"
            file.write_bytes(content(kind, length, what, f"{self.path.stem}{number}"))
            words.append(f"{place}={file}")
        if self.push:
            file = folder / f"{self.path.stem}.{label}.push"
            file.write_bytes(self.push)
            words.append(f"push={file}")
        return words + self.constants

    def compare(self, folder, other):
        """The first difference between the two runs; empty where there is none."""
        for number, (place, kind, length, _) in enumerate(self.buffers):
            first, second = (
                (folder / f"{self.path.stem}.{label}.{number}").read_bytes() for label in ("shader", other)
            )
            form = f"<{length}{FORMATS[kind]}"
            for at, (a, b) in enumerate(zip(struct.unpack(form, first), struct.unpack(form, second))):
                if a == b or (a != a and b != b):
                    continue
                tolerance = {"f32": self.tolerance, "f64": 1e-13}.get(kind, 0)
                if abs(a - b) <= tolerance * max(1.0, abs(a), abs(b)):
                    continue
                return f"{place}[{at}]: the shader gives {a}, the kernel ({other}) {b}"
        return ""

    def expect(self, folder):
        """The first difference between what the kernel left and the closed form; empty where there is none."""
        def read(label):
            rows = {}
            for number, (place, kind, length, what) in enumerate(self.buffers):
                if label:
                    data = (folder / f"{self.path.stem}.{label}.{number}").read_bytes()
                else:
                    data = content(kind, length, what, f"{self.path.stem}{number}")
                rows[place.rstrip("u")] = list(struct.unpack(f"<{length}{FORMATS[kind]}", data))
            return rows

        names = {"before": read(""), "push": self.pushed, "after": {}}
        exec(self.closed_form, names)
        left = read("kernel")
        for place, wanted in names["after"].items():
            if len(wanted) > len(left[place]):
                return f"{place}: the closed form has {len(wanted)} elements, the buffer {len(left[place])}"
            for at, (a, b) in enumerate(zip(left[place], wanted)):
                tolerance = 0 if isinstance(a, int) else 10 * self.tolerance
                if not abs(a - b) <= tolerance * max(1.0, abs(a), abs(b)):
                    return f"{place}[{at}]: the kernel gives {a}, the closed form {b}"
        return "" if names["after"] else "the closed form says nothing"

    def changed(self, folder):
        for number, (_, kind, length, what) in enumerate(self.buffers):
            if (folder / f"{self.path.stem}.kernel.{number}").read_bytes() != content(
                kind, length, what, f"{self.path.stem}{number}"
            ):
                return True
        return False


def run(words, what, **more):
    result = subprocess.run(words, capture_output=True, text=True, **more)
    if result.returncode != 0:
        return f"{what} failed ({result.returncode}): {result.stdout[-1500:]}{result.stderr[-1500:]}"
    return ""


def numbers(text):
    """What `adc run` printed, by parameter, without shapes."""
    rows = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {left.split(":")[0]: right.replace("[", " ").replace("]", " ").split() for left, right in rows}


def alike(left, right):
    """Whether two outputs are equal, up to the order in which workers add to one cell."""
    if left.keys() != right.keys():
        return False
    for words, others in ((left[name], right[name]) for name in left):
        if len(words) != len(others):
            return False
        for a, b in zip(words, others):
            try:
                a, b = float(a.rstrip(",)")), float(b.rstrip(",)"))
            except ValueError:
                pass
            if a != b and (isinstance(a, str) or isinstance(b, str) or not math.isclose(a, b, rel_tol=1e-6)):
                return False
    return True


def same_as(adc, shader):
    sample = ROOT / "samples" / shader.sample[0]
    for ending, more in (("", []), (".grad", shader.adjoint)):
        kernel = f"--kernel={shader.path.stem}{ending}"
        outputs = []
        for file, own in ((sample, []), (shader.path, shader.here)):
            words = [adc, "run", str(file), kernel, *shader.sample[1:], *own, *more]
            result = subprocess.run(words, capture_output=True, text=True)
            if result.returncode != 0:
                return f"{' '.join(words)}: {result.stderr[-800:]}"
            outputs.append(numbers(result.stdout))
        if not outputs[0] or not alike(outputs[0], outputs[1]):
            return f"{kernel}: the sample gives {outputs[0]}, the shader {outputs[1]}"
    return ""


def translated(given, shader, emit):
    """What translators to HLSL and GLSL for phones say against the kernel and the gradient."""
    folder = given.work / f"{shader.path.stem}.translated"
    folder.mkdir(exist_ok=True)
    for what in shader.phones:
        module = folder / f"{what}.spv"
        words = [word for word in emit if what == "kernel" or word != "--derive=none"]
        found = run([*words, str(shader.path), "-o", str(module)], "adc")
        if found:
            return found
        result = subprocess.run([given.translate, str(module), str(folder)], capture_output=True, text=True)
        if result.returncode != 0:
            return f"the {what} is not for phones ({result.returncode}): {result.stderr}"
        for entry in range(int(result.stdout)):
            hlsl, glsl = folder / f"{entry}.hlsl", folder / f"{entry}.comp"
            found = run(["glslangValidator", "-V", "-D", "-S", "comp", "-e", "main", str(hlsl), "-o", str(module)], "HLSL")
            found = found or run(["glslangValidator", str(glsl)], "GLSL")
            if found:
                return f"the {what}: {found}"
    return ""


def capabilities(module):
    data = module.read_bytes()
    words = struct.unpack(f"<{len(data) // 4}I", data)
    return {words[at + 1] for at in range(5, len(words) - 1) if words[at] == 2 << 16 | 17}


def entries_of(module):
    """The names of a module's entry points, in their order."""
    data = module.read_bytes()
    words = struct.unpack(f"<{len(data) // 4}I", data)
    names, at = [], 5
    while at < len(words):
        if words[at] & 0xFFFF == ENTRY_POINT:
            names.append(data[4 * at + 12 : 4 * (at + (words[at] >> 16))].split(b"\0", 1)[0].decode())
        at += words[at] >> 16
    return names


def read_back(given, shader, emit):
    """What differs between the gradient and what adc makes of the gradient that it has printed, where it has no tape, whose
    words a loader fills (run_read_back.py has those)."""
    if shader.gradcheck is None or "again" not in shader.labels:
        return ""
    stem = shader.path.stem
    module, again, text = (given.work / f"{stem}.grad.{ending}" for ending in ("spv", "again.spv", "json"))
    emit = [word for word in emit if word != "--derive=none"]
    found = run([*emit, str(shader.path), "-o", str(module)], "adc")
    as_json = ["--emit=json" if word == "--emit=spirv" else word for word in emit]
    found = found or run([*as_json, str(shader.path), "-o", str(text)], "adc")
    if found:
        return found
    said = json.loads(text.read_text(encoding="utf-8"))
    params = next(kernel["params"] for kernel in said["kernels"] if kernel["name"] == stem + ".grad")
    layout = next(kernel for kernel in said["shader"] if kernel["kernel"] == stem + ".grad")
    if layout["tape"]:
        return ""
    # Sums within subgroups add up in another order than one invocation after the other.
    tolerance = 4e-6 if GROUP_OPERATIONS in capabilities(module) else 0
    found = run([*emit, "--derive=none", str(module), "-o", str(again)], "adc of the gradient that adc made")
    if found:
        return found
    shader.is_read_back = True
    given_at = {place.rstrip("u"): (place, kind, length, what) for place, kind, length, what in shader.buffers}
    place_of = {row["param"]: f"{row['set']}.{row['binding']}" for row in layout["buffers"]}
    buffers = dict(given_at)
    for param, place in place_of.items():
        primal = params[param]["primal"]
        if primal < 0:
            continue
        length = given_at[place_of[primal]][2] if primal in place_of else 16
        buffers[place] = (place, "f32", length, "random")
    # What the kernel has left, which a gradient may read, and adjoints.
    start = {place: content(kind, length, what, stem + place) for place, kind, length, what in buffers.values()}
    for number, (place, *_) in enumerate(shader.buffers):
        start[place] = (given.work / f"{stem}.kernel.{number}").read_bytes()
    dispatches, files = [], {}
    # What adc reads becomes a kernel by entry point, in their order.
    entry_again = entries_of(again)[entries_of(module).index(layout["entries"][0])]
    for label, code, entry in (("grad", module, layout["entries"][0]), ("again", again, entry_again)):
        words = []
        for place, data in start.items():
            file = files[label, place] = given.work / f"{stem}.{label}.{place}"
            file.write_bytes(data)
            words.append(f"{place}={file}")
        if shader.push:
            words.append(f"push={given.work / f'{stem}.kernel.push'}")
        dispatches += ["--", str(code), entry, *shader.groups, *words, *shader.constants]
    found = run([given.dispatch, *dispatches], "dispatch of the gradient")
    if found:
        return found
    changed = False
    for place, kind, length, _ in buffers.values():
        form = f"<{length}{FORMATS[kind]}"
        first, second = (struct.unpack(form, files[label, place].read_bytes()) for label in ("grad", "again"))
        finite = any(a == a and a != b for a, b in zip(first, struct.unpack(form, start[place])))
        changed = changed or (place.rstrip("u") not in given_at and finite)
        if any(not (abs(a - b) <= tolerance * max(1, abs(a)) or a == b) and (a == a or b == b) for a, b in zip(first, second)):
            return f"{place}: the gradient and what adc makes of its code differ"
    return "" if changed else "the gradient changed no adjoint"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--adc", required=True)
    parser.add_argument("--dispatch", required=True)
    parser.add_argument("--translate", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("shaders", type=pathlib.Path, nargs="+")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    problems, read_backs = [], 0
    for path in given.shaders:
        shader = Shader(path)
        at = {label: given.work / f"{path.stem}.{label}.spv" for label in ("shader", "optimised", *LABELS)}
        hlsl = ["-D", "-S", "comp", "-e", "main"] if path.suffix == ".hlsl" else []
        version = "vulkan1.1" if hlsl else "vulkan1.2"
        emit = [given.adc, "--emit=spirv", "--target=vulkan:1.2", "--fp=strict", "-w", "--derive=none"]
        # Of modules the kernel has the name of its entry, or, where that is main, of the file.
        entries = {
            "shader": "main",
            "kernel": f"adc_{path.stem}_t0",
            "inlined": f"adc_{path.stem}_optimised_t0",
            "again": f"adc_adc_{path.stem}_t0_t0",
        }
        dispatches = []
        for label in ("shader", *shader.labels):
            files = shader.files(given.work, label)
            dispatches += ["--", str(at[label]), entries[label], *shader.groups, *files]
        steps = [
            (["glslangValidator", "-V", "--target-env", version, *hlsl, str(path), "-o", str(at["shader"])], "glslang"),
            (["spirv-opt", "-O", "--scalar-block-layout", str(at["shader"]), "-o", str(at["optimised"])], "spirv-opt"),
            ([*emit, str(path), "-o", str(at["kernel"])], "adc"),
            ([*emit, str(at["optimised"]), "-o", str(at["inlined"])], "adc of what spirv-opt made"),
            (["spirv-val", "--target-env", "vulkan1.2", "--scalar-block-layout", str(at["kernel"])], "spirv-val"),
            ([given.dispatch, *dispatches], "dispatch"),
        ]
        if "again" in shader.labels:
            steps.insert(-1, ([*emit, str(at["kernel"]), "-o", str(at["again"])], "adc of what adc made"))
        found = ""
        for words, what in steps:
            found = found or run(words, what)
        for label in shader.labels:
            found = found or shader.compare(given.work, label)
        if not found and shader.closed_form:
            found = shader.expect(given.work)
        if not found and not shader.changed(given.work):
            found = "the kernel changed nothing"
        if not found and shader.gradcheck is not None:
            found = run([given.adc, "gradcheck", str(path), *shader.gradcheck], "gradcheck")
        if not found and shader.sample:
            found = same_as(given.adc, shader)
        if not found:
            found = translated(given, shader, emit) or read_back(given, shader, emit)
        read_backs += shader.is_read_back
        print(f"{path.name}: {found or 'equal'}{', its gradient read back too' if shader.is_read_back else ''}")
        if found:
            problems.append(path.name)
    print(f"{len(given.shaders)} shaders, {len(problems)} differ, {read_backs} gradients read back")
    return 1 if problems else 0


sys.exit(main())
