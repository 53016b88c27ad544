"""Runs a case through `adc` on a device, and says how what comes out stands to what the oracle says.

Kernel, gradient and forward mode are launched: the gradient on the state that the kernel left, with random adjoints of
everything that has one (what is only read included: the gradient adds to it), forward mode with random tangents. All
three are the derivatives of one map, state before to state behind, so that each has one right answer.
"""

import math
import os
import random
import re
import struct
import sys
import zlib

import evaluate
import ir_text
from evaluate import CODES, FLOATS, fields_of, shape_of

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from batch import Batch  # noqa: E402
from directives import read_npy, write_npy  # noqa: E402

TOLERANCE = {"f64": 1e-9, "f32": 4e-4, "f16": 3e-2}
EDGE = {"f64": 1e-9, "f32": 1e-4, "f16": 2e-2}  # nearer than this to a decision, roundings may decide it
KERNEL = re.compile(r"^kernel @([\w.]+)\(.*?^}\n", re.M | re.S)
SHOWN = 8  # `adc run` prints so many numbers of a parameter
CRASH = re.compile(r"internal error|fault of adc|the process ended|no end after|terminate called|Assertion|LLVM ERROR")


class Unfit(Exception):
    """The case says nothing: it is no program, or its numbers are not finite."""


class Verdict:
    """`kind`: right, refused, unsupported, near, rounding, wrong, crash, failed. `what` tells causes apart."""

    def __init__(self, kind, what="", text=""):
        self.kind, self.what, self.text = kind, what, text

    def __repr__(self):
        return f"{self.kind} {self.what}".strip()


def lowest(text):
    """The coarsest float type of a kernel."""
    return next((type for type in ("f16", "f32", "f64") if re.search(rf"\b{type}\b", text)), "f64")


def finite(numbers):
    return all(map(math.isfinite, numbers))


class Expected:
    """What the oracle says of a case."""

    def __init__(self, text, inputs, seed=0, kernel="k"):
        self.text, self.inputs = text, inputs
        self.module = ir_text.read(text)
        self.kernel = self.module.functions[kernel]
        self.run, _ = evaluate.compiled(self.module, self.kernel)
        self.result = evaluate.launch(self.module, self.kernel, inputs, run=self.run)
        rng = random.Random(zlib.crc32(repr(seed).encode()))
        self.weights, self.directions = {}, {}
        for name, nodes in self.result.leaves.items():
            scalar = self.result.memory[name].scalar
            self.weights[name] = [self.coarse(rng, scalar) for _ in nodes]
            self.directions[name] = [self.coarse(rng, scalar) for _ in nodes]
        self.adjoints, self.adjoint_sizes = evaluate.gradients(self.result, self.weights)
        self.tangents, self.tangent_sizes = evaluate.directional(self.result, self.directions)
        for lists in (self.adjoints, self.tangents):
            if not all(map(finite, lists.values())):
                raise Unfit("a derivative is not finite")
        for name, buffer in self.result.memory.items():
            if buffer.scalar in FLOATS and not (finite(buffer.values) and max(map(abs, buffer.values), default=0) < 1e4):
                raise Unfit("a value is not finite, or large")
        if max((abs(number) for numbers in self.adjoint_sizes.values() for number in numbers), default=0) > 1e6:
            raise Unfit("a derivative is large")
        self.lowest = lowest(text)
        self.near = self.result.trace.margin < EDGE[self.lowest]

    @staticmethod
    def coarse(rng, scalar):
        """Numbers that every float type holds."""
        return rng.choice((-1, 1)) * rng.randint(1, 16) / 8

    def central(self, step=1e-6):
        """How far the oracle's tangents are from central differences of its values, relative."""
        states = []
        for sign in (1, -1):
            inputs = {}
            for name, (extents, numbers) in self.inputs.items():
                direction = self.directions.get(name)
                inputs[name] = (extents, [x + sign * step * d for x, d in zip(numbers, direction)] if direction else numbers)
            states.append(evaluate.launch(self.module, self.kernel, inputs, run=self.run).memory)
        worst = 0.0
        for name, tangents in self.tangents.items():
            for plus, minus, tangent, size in zip(states[0][name].values, states[1][name].values, tangents, self.tangent_sizes[name]):
                worst = max(worst, abs((plus - minus) / (2 * step) - tangent) / max(1.0, size))
        return worst

    def spread(self, turns=3):
        """How much adjoints and tangents move where inputs move by a rounding or two, by (kind, name) lists."""
        unit, widths = 2.0 ** -evaluate.FLOATS[self.lowest], {}
        for turn in range(turns):
            rng, inputs = random.Random(turn), {}
            for name, (extents, numbers) in self.inputs.items():
                moved = name in self.directions
                inputs[name] = (extents, [x * (1 + unit * rng.uniform(-2, 2)) for x in numbers] if moved else numbers)
            result = evaluate.launch(self.module, self.kernel, inputs, run=self.run)
            adjoints, _ = evaluate.gradients(result, self.weights)
            tangents, _ = evaluate.directional(result, self.directions)
            values = {name: buffer.values for name, buffer in result.memory.items() if buffer.scalar in FLOATS}
            mine = {name: buffer.values for name, buffer in self.result.memory.items()}
            for kind, moved, still in (("adjoint", adjoints, self.adjoints), ("tangent", tangents, self.tangents), ("value", values, mine)):
                for name, numbers in moved.items():
                    width = widths.setdefault((kind, name), [0.0] * len(numbers))
                    for at, (a, b) in enumerate(zip(numbers, still[name])):
                        width[at] = max(width[at], abs(a - b))
        return widths


class Executor:
    """One device in one mode of floats; `adc` is the tool that runs there."""

    def __init__(self, name, batch, folder, target, fp="contract", level=1, device="cpu", threads=2):
        self.name, self.batch, self.folder, self.target, self.fp = name, batch, folder, target, fp
        self.level, self.device, self.threads = level, device, threads

    def call(self, words, timeout=120):
        outcome = self.batch.call(words, timeout)
        if outcome.returncode < 0 or CRASH.search(outcome.stderr):
            raise Crash(outcome.stderr)
        return outcome

    def path(self, name):
        return os.path.join(self.folder, name)

    def source_of(self, kernel):
        """What is run for the kernel, with the options that run it where this executor runs."""
        words = [self.path("k.adcb"), "--device", self.device]
        return words + ["--threads", str(self.threads)] if self.device == "cpu" else words

    def compile(self, text, derive):
        with open(self.path("k.ir"), "w", encoding="utf-8") as file:
            file.write(text)
        words = ["-w", f"--derive={derive}", f"--target={self.target}", f"--fp={self.fp}", f"-O{self.level}", "-o", self.path("k.adcb"),
                 self.path("k.ir")]
        return self.call(words)

    def launch(self, kernel, params, values, wanted):
        """Runs a kernel: params name -> (type, extents), values name -> numbers or bytes. Name -> numbers or bytes."""
        words, files = ["run", *self.source_of(kernel), "--kernel", kernel], {}
        for name, (type, extents) in params.items():
            if type[0] == "layout":
                with open(self.path(name + ".in"), "wb") as file:
                    file.write(values[name])
                words += ["--arg", f"{name}=@{self.path(name + '.in')}"]
                files[name] = None
            else:
                numbers, scalar = values[name], shape_of(type)[0]
                if len(extents) > 1 or not numbers:
                    write_npy(self.path(name + ".npy"), scalar, nested(numbers, list(extents) + list(shape_of(type)[1])))
                    words += ["--arg", f"{name}=@{self.path(name + '.npy')}"]
                else:
                    text = ",".join(map(str, numbers) if scalar in FLOATS else map(str, map(int, numbers)))
                    listed = len(extents) == 1 or shape_of(type)[1]
                    words += ["--arg", f"{name}=[{text}]" if listed else f"{name}={text}"]
                if name in wanted and len(numbers) > SHOWN:
                    files[name] = None
        for name in files:
            if name in wanted:
                words += ["--out", f"{name}=@{self.path(name + '.out')}"]
        outcome = self.call(words)
        if outcome.returncode:
            raise Failed(outcome.stderr)
        results = {}
        for name in wanted:
            if name in files:
                if params[name][0][0] == "layout":
                    with open(self.path(name + ".out"), "rb") as file:
                        results[name] = file.read()
                else:
                    results[name] = read_npy(self.path(name + ".out"))
                continue
            match = re.search(rf"^{re.escape(name)}: [^=]*= ?(.*)$", outcome.stdout, re.M)
            if match:
                results[name] = [number(word) for word in match.group(1).split()]
        return results


class Interpreter(Executor):
    """The reference interpreter: the kernel as it is written, and what is derived of it as `adc` prints it.

    Each of them is a file of its own without anything to derive, so that reading it is all that a run has to do.
    """

    def compile(self, text, derive):
        with open(self.path("k.ir"), "w", encoding="utf-8") as file:
            file.write(text)
        outcome = self.call(["-w", f"--derive={derive}", "--emit=ir", "-o", self.path("all.ir"), self.path("k.ir")])
        if outcome.returncode:
            return outcome
        with open(self.path("all.ir"), encoding="utf-8") as file:
            derived = file.read()
        rest = KERNEL.sub("", derived)
        for match in KERNEL.finditer(derived):
            if match.group(1) != "k":
                self.write(match.group(1), rest + match.group(0))
        self.write("k", re.sub(r" grad @[\w.]+(?= \{)", "", text))
        return outcome

    def write(self, kernel, text):
        with open(self.path(kernel + ".only.ir"), "w", encoding="utf-8") as file:
            file.write(re.sub(r" diff\b", "", text))

    def source_of(self, kernel):
        return [self.path(kernel + ".only.ir"), "--interpret"]


class Crash(Exception):
    pass


class Failed(Exception):
    pass


def number(word):
    if word in ("true", "false"):
        return int(word == "true")
    try:
        return int(word)
    except ValueError:
        return float(word) if not word.lstrip("-").startswith("0x") else float.fromhex(word)


def nested(numbers, extents):
    if len(extents) <= 1:
        return list(numbers)
    step = len(numbers) // extents[0] if extents[0] else 0
    return [nested(numbers[at * step:(at + 1) * step], extents[1:]) for at in range(extents[0])]


# --------------------------------------------------------------------------------------------------------------- layouts


def size_and_alignment(type):
    size = struct.calcsize("<" + CODES[shape_of(type)[0]])
    return size * evaluate.count_of(type), size


def laid_out(members):
    """Members with their offsets, size and alignment of a cell: C's rules."""
    offset, most, placed = 0, 1, []
    for member in members:
        if member[0] == "dense":
            inner, cell, alignment = laid_out(member[2])
            offset = -(-offset // alignment) * alignment
            placed.append((offset, member, inner, cell))
            offset += cell * math.prod(member[1])
        else:
            size, alignment = size_and_alignment(member[2])
            offset = -(-offset // alignment) * alignment
            placed.append((offset, member, None, size))
            offset += size
        most = max(most, alignment)
    return placed, -(-offset // most) * most, most


def addresses(placed, base=0, levels=()):
    """Field name -> (type, byte address of each cell in C order of its axes)."""
    fields = {}
    for offset, member, inner, cell in placed:
        if member[0] == "field":
            fields[member[1]] = (member[2], levels, base + offset)
        else:
            fields.update(addresses(inner, base + offset, levels + ((tuple(member[1]), cell),)))
    return fields


def cell_addresses(levels, base):
    rank = max((len(extents) for extents, _ in levels), default=0)
    totals = [math.prod(extents[axis] if axis < len(extents) else 1 for extents, _ in levels) for axis in range(rank)]
    result = []
    for flat in range(math.prod(totals)):
        indices, rest = [0] * rank, flat
        for axis in reversed(range(rank)):
            indices[axis], rest = rest % totals[axis], rest // totals[axis]
        address = base
        for extents, cell in reversed(levels):
            digits = []
            for axis, extent in enumerate(extents):
                digits.append(indices[axis] % extent)
                indices[axis] //= extent
            linear = 0
            for digit, extent in zip(digits, extents):
                linear = linear * extent + digit
            address += linear * cell
        result.append(address)
    return result


def pack_layout(members, read):
    placed, size, _ = laid_out(members)
    data = bytearray(size)
    for name, (type, levels, base) in addresses(placed).items():
        scalar, count = shape_of(type)[0], evaluate.count_of(type)
        numbers = read(name)
        for at, address in enumerate(cell_addresses(levels, base)):
            struct.pack_into(f"<{count}{CODES[scalar]}", data, address, *numbers[at * count:(at + 1) * count])
    return bytes(data)


def unpack_layout(members, data):
    placed, _, _ = laid_out(members)
    fields = {}
    for name, (type, levels, base) in addresses(placed).items():
        scalar, count = shape_of(type)[0], evaluate.count_of(type)
        fields[name] = [value for address in cell_addresses(levels, base)
                        for value in struct.unpack_from(f"<{count}{CODES[scalar]}", data, address)]
    return fields


# ------------------------------------------------------------------------------------------------------------ comparison


class Comparison:
    def __init__(self, expected, executor):
        self.expected, self.executor, self.mistakes = expected, executor, []
        self.tolerance = TOLERANCE[expected.lowest] * (10 if executor.fp == "fast" else 1)
        self.worst, self.off = 0.0, []  # (kind, name, index, got, want, size)

    def floats(self, kind, name, got, want, sizes):
        if len(got) != len(want):
            self.mistakes.append(f"{kind} {name}: {len(got)} numbers, not {len(want)}")
            return
        for at, (g, w, size) in enumerate(zip(got, want, sizes)):
            error = abs(g - w) / max(size, abs(w), 1e-2) if math.isfinite(g) else math.inf
            if error > self.tolerance:
                self.off.append((kind, name, at, g, w, size))
                self.mistakes.append(f"{kind} {name}[{at}] is {g!r}, oracle {w!r} (magnitudes {size:.3g})")
            self.worst = max(self.worst, error)

    def integers(self, kind, name, got, want):
        if list(map(int, got)) != list(map(int, want)):
            self.off.append((kind, name, 0, math.inf, 0, 1))
            self.mistakes.append(f"{kind} {name} is {got}, oracle {want}")


def parameters_of(expected):
    """Of a launch of the kernel: name -> (type, extents), without companions."""
    params = {}
    for param in expected.kernel.params:
        if param.type[0] == "layout":
            params[param.name] = (param.type, [])
        elif param.type[0] == "buffer":
            params[param.name] = (param.type[1], expected.inputs[param.name][0])
        else:
            params[param.name] = (param.type, [])
    return params


def with_companions(expected, params, suffix, layout_type=True):
    more = dict(params)
    for param in expected.kernel.params:
        if param.type[0] == "layout":
            if any(field[3] for field in fields_of(expected.module.layouts[param.type[1]])):
                more[param.name + suffix] = params[param.name]
        elif "diff" in param.attrs:
            more[param.name + suffix] = params[param.name]
    return more


def values_of(expected, read, suffix=""):
    """Arguments out of lists by scalar place: name -> numbers or bytes."""
    values = {}
    for param in expected.kernel.params:
        if param.type[0] == "layout":
            values[param.name + suffix] = pack_layout(expected.module.layouts[param.type[1]],
                                                      lambda field: read(f"{param.name}::{field}"))
        else:
            numbers = read(param.name)
            if numbers is not None:
                values[param.name + suffix] = numbers
    return values


def spread_out(expected, results, suffix=""):
    """Results by scalar place: layouts taken apart."""
    lists = {}
    for param in expected.kernel.params:
        name = param.name + suffix
        if name not in results:
            continue
        if param.type[0] == "layout":
            for field, numbers in unpack_layout(expected.module.layouts[param.type[1]], results[name]).items():
                lists[f"{param.name}::{field}"] = numbers
        else:
            lists[param.name] = results[name]
    return lists


def check(expected, executor):
    """A Verdict."""
    try:
        return checked(expected, executor)
    except Crash as crash:
        return Verdict("crash", crash_signature(str(crash)), str(crash))
    except Failed as failed:
        text = str(failed)
        if "no target" in text or "does not offer" in text:
            return Verdict("unsupported", "", text)
        return Verdict("failed", (re.findall(r"error: ([^\n]{0,60})", text) or ["?"])[0], text)


def crash_signature(text):
    lines = [line for line in text.splitlines() if CRASH.search(line)]
    line = re.sub(r"'[^']*'|%\S+|\d+", "_", lines[0])[:90] if lines else "?"
    return line


def ids_of(text):
    return sorted(set(re.findall(r"error: [^\n]*\[(E\d+)\]", text)))


def checked(expected, executor):
    outcome, refused = executor.compile(expected.text, "grad,jvp"), None
    if outcome.returncode == 5:
        return Verdict("unsupported", ",".join(ids_of(outcome.stderr)), outcome.stderr)
    if outcome.returncode:
        refused = ids_of(outcome.stderr)
        if outcome.returncode != 1 or not refused:
            return Verdict("failed", f"exit {outcome.returncode}", outcome.stderr)
        text = outcome.stderr
        # The kernel and forward mode need no old values: what only the gradient refuses goes on here.
        if not all(error.startswith("E04") for error in refused) or executor.compile(expected.text, "jvp").returncode:
            return Verdict("refused", ",".join(refused), text)
    comparison = Comparison(expected, executor)
    memory, params = expected.result.memory, parameters_of(expected)
    buffers = [param.name for param in expected.kernel.params if param.type[0] in ("buffer", "layout")]

    def compare_values(kind, lists):
        for name, numbers in lists.items():
            buffer = memory[name]
            if buffer.scalar in FLOATS:
                comparison.floats(kind, name, numbers, buffer.values, [max(1.0, abs(value)) for value in buffer.values])
            else:
                comparison.integers(kind, name, numbers, buffer.values)

    start = values_of(expected, lambda name: expected.inputs[name][1])
    after = spread_out(expected, executor.launch("k", params, start, buffers))
    compare_values("value", after)

    state = {name: after.get(name, expected.inputs[name][1]) for name in expected.inputs}
    if not refused:
        all_params = with_companions(expected, params, ".adj")
        seeds = values_of(expected, lambda name: expected.weights.get(name, [0] * len(memory[name].values)
                                                                     if "::" in name else None), ".adj")
        companions = [name for name in all_params if name not in params]
        given = {**values_of(expected, lambda name: state[name]), **{name: seeds[name] for name in companions}}
        results = spread_out(expected, executor.launch("k.grad", all_params, given, companions), ".adj")
        for name, want in expected.adjoints.items():
            # What nobody writes may be left out of what is printed.
            # The kernel may leave a parameter's adjoint alone: then nothing is printed of it.
            got = results.get(name, expected.weights[name])
            start_of = expected.weights[name] if memory[name].extents == [] and name not in buffers and "::" not in name else None
            if start_of is not None:
                pass
            comparison.floats("adjoint", name, got, want, expected.adjoint_sizes[name])
    all_params = with_companions(expected, params, ".tan")
    companions = [name for name in all_params if name not in params]
    seeds = values_of(expected, lambda name: expected.directions.get(name, [0] * len(memory[name].values)
                                                                    if "::" in name else None), ".tan")
    given = {**start, **{name: seeds[name] for name in companions}}
    outputs = executor.launch("k.jvp", all_params, given, buffers + companions)
    compare_values("forward value", spread_out(expected, outputs))
    tangents = spread_out(expected, outputs, ".tan")
    for name, want in expected.tangents.items():
        comparison.floats("tangent", name, tangents.get(name, expected.directions[name]), want, expected.tangent_sizes[name])

    if not comparison.mistakes:
        return Verdict("refused", ",".join(refused)) if refused else Verdict("right")
    text = "\n".join(comparison.mistakes)
    what = "+".join(sorted({off[0] for off in comparison.off}))
    if expected.near:
        return Verdict("near", what, text)
    if rounding_explains(expected, comparison):
        return Verdict("rounding", what, text)
    return Verdict("wrong", what, text)


def rounding_explains(expected, comparison):
    """Whether moving the inputs by a rounding moves the results as far as they are off."""
    try:
        widths = expected.spread()
    except (evaluate.Race, evaluate.OutOfRange, evaluate.TooLong):
        return False
    for kind, name, at, got, want, _ in comparison.off:
        width = widths.get((kind.replace("forward ", ""), name))
        if width is None or not abs(got - want) <= 40 * width[at]:
            return False
    return True


def host_target():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return "cpu:x86-64-v3" if " avx2 " in file.read() else "cpu:x86-64"


def executors(names, adc, metal, folder, level=1):
    """Of names as 'cpu-strict', 'vulkan', 'metal-fast', 'interpret'; 'metal-source' says that no GPU runs it."""
    batches, made = {}, []
    targets = {"cpu": host_target(), "vulkan": "vulkan:1.2", "metal": "metal:2.4", "interpret": ""}
    for name in names:
        device, _, fp = name.partition("-")
        tool = metal if device == "metal" else adc
        if tool not in batches:
            batches[tool] = Batch([tool])
        kind = Interpreter if device == "interpret" else Executor
        made.append(kind(name, batches[tool], folder, targets[device], fp.replace("source", "") or "contract", level, device))
    return made, list(batches.values())
