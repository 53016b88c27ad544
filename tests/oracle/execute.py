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
CRASH = re.compile(r"internal error|while a kernel ran|fault of adc|the process ended|no end after|terminate called|Assertion|LLVM ERROR")


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

    def __init__(self, text, inputs, seed=0, how=None):
        self.text, self.inputs, self.how = text, inputs, how or {}
        self.module = ir_text.read(text)
        self.kernel = self.module.functions["k"]
        if "active" in self.how:
            self.make_others_constant(self.how["active"])
        self.run, _ = evaluate.compiled(self.module, self.kernel)
        self.result = evaluate.launch(self.module, self.kernel, inputs, run=self.run)
        rng = random.Random(zlib.crc32(repr(seed).encode()))
        self.weights, self.directions, self.more = {}, {}, [{} for _ in range(self.how.get("directions", 0))]
        for name, nodes in self.result.leaves.items():
            scalar = self.result.memory[name].scalar
            self.weights[name] = [self.coarse(rng, scalar) for _ in nodes]
            self.directions[name] = [self.coarse(rng, scalar) for _ in nodes]
            for directions in self.more:
                directions[name] = [self.coarse(rng, scalar) for _ in nodes]
        self.adjoints, self.adjoint_sizes = evaluate.gradients(self.result, self.weights)
        self.tangents, self.tangent_sizes = evaluate.directional(self.result, self.directions)
        self.pushed = [evaluate.directional(self.result, directions) for directions in self.more]
        for lists in (self.adjoints, self.tangents, *(tangents for tangents, _ in self.pushed)):
            if not all(map(finite, lists.values())):
                raise Unfit("a derivative is not finite")
        for name, buffer in self.result.memory.items():
            if buffer.scalar in FLOATS and repr(buffer.values) != repr(list(inputs[name][1])) and not (finite(buffer.values) and max(map(abs, buffer.values), default=0) < 1e4):
                raise Unfit("a value is not finite, or large")
        if max((abs(number) for numbers in self.adjoint_sizes.values() for number in numbers), default=0) > 1e6:
            raise Unfit("a derivative is large")
        self.lowest = lowest(text)
        self.has_ties = evaluate.has_ties(self.result, self.directions)
        self.near = self.result.trace.margin < EDGE[self.lowest] or self.has_ties

    def make_others_constant(self, active):
        """`--active`: of the parameters that are `diff`, what is not named is differentiated nowhere."""
        for param in self.kernel.params:
            if param.name in active:
                continue
            param.attrs = [attr for attr in param.attrs if attr != "diff"]
            if param.type[0] == "layout":
                members = self.module.layouts[param.type[1]]
                name = param.type[1] + ".constant"
                self.module.layouts[name] = without_diff(members)
                param.type = ("layout", name)

    def second(self, step):
        """Derivatives of the adjoints along the directions, by differences of sixth order; Unfit where a decision is near."""
        sums = {name: [0.0] * len(numbers) for name, numbers in self.adjoints.items()}
        for turn, weight in ((1, 45.0), (2, -9.0), (3, 1.0)):
            for sign in (1, -1):
                inputs = {}
                for name, (extents, numbers) in self.inputs.items():
                    moves = self.directions.get(name)
                    inputs[name] = (extents, [x + sign * turn * step * d for x, d in zip(numbers, moves)] if moves else numbers)
                result = evaluate.launch(self.module, self.kernel, inputs, run=self.run)
                if result.trace.path()[1] != self.result.trace.path()[1]:
                    raise Unfit("a second derivative across a decision")
                adjoints, _ = evaluate.gradients(result, self.weights)
                for name, numbers in adjoints.items():
                    for at, number in enumerate(numbers):
                        sums[name][at] += sign * weight * number / (60 * step)
        return sums

    @staticmethod
    def coarse(rng, scalar):
        """Numbers that every float type holds."""
        return rng.choice((-1, 1)) * rng.randint(1, 16) / 8

    def central(self, step=1e-6):
        """How far the oracle's tangents are from central differences of its values, relative; None across a decision."""
        states = []
        for sign in (1, -1):
            inputs = {}
            for name, (extents, numbers) in self.inputs.items():
                direction = self.directions.get(name)
                inputs[name] = (extents, [x + sign * step * d for x, d in zip(numbers, direction)] if direction else numbers)
            result = evaluate.launch(self.module, self.kernel, inputs, run=self.run)
            if result.trace.path() != self.result.trace.path():
                return None
            states.append(result.memory)
        worst = 0.0
        for name, tangents in self.tangents.items():
            for plus, minus, tangent, size in zip(states[0][name].values, states[1][name].values, tangents, self.tangent_sizes[name]):
                worst = max(worst, abs((plus - minus) / (2 * step) - tangent) / max(1.0, size))
        return worst

    def lists_of(self, result):
        """Everything that is compared, of a run of the kernel: (kind, name) -> numbers and magnitudes."""
        lists = {}
        for name, buffer in result.memory.items():
            lists["value", name] = lists["forward value", name] = buffer.values, [max(1.0, abs(value)) for value in buffer.values]
        adjoints, sizes = evaluate.gradients(result, self.weights)
        lists.update({("adjoint", name): (adjoints[name], sizes[name]) for name in adjoints})
        for at, directions in enumerate([self.directions] + self.more):
            tangents, sizes = evaluate.directional(result, directions)
            lists.update({(tangent_of(at), name): (tangents[name], sizes[name]) for name in tangents})
        return lists

    def blurred(self, units, turns=32):
        """Runs of the kernel with random errors where the specification leaves errors open: lists, and whether they decide otherwise."""
        run, _ = evaluate.compiled(self.module, self.kernel, blurred=True)
        path = self.result.trace.path()
        for turn in range(turns):
            try:
                result = evaluate.launch(self.module, self.kernel, self.inputs, run=run, rng=random.Random(turn), units=units)
            except (evaluate.Race, evaluate.OutOfRange, evaluate.TooLong):
                continue
            yield self.lists_of(result), result.trace.path() != path


def tangent_of(at):
    """What a mistake in a tangent is called: of k.jvp, or of one direction of several."""
    return "tangent" if at == 0 else f"tangent{at - 1}"


def without_diff(members):
    return [("dense", member[1], without_diff(member[2])) if member[0] == "dense" else member[:3] + (False,) for member in members]


def options_of(how, executor):
    """What `adc` gets for a case besides its target: what forward mode gets too, and what the gradient alone does."""
    words = ["--active=" + ",".join(how["active"])] if "active" in how else []
    # The accumulators of exact sums have extents that the loader knows, which the interpreter is not told.
    if how.get("deterministic") and executor.fp != "fast" and executor.device not in ("interpret", "read"):
        words.append("--deterministic")
    return words, ["--save-overwritten"] if how.get("save") else []


def quiet(options):
    """With what is saved a warning tells what is not, and has to be seen."""
    return [] if "--save-overwritten" in options else ["-w"]


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

    def compile(self, text, derive, options=()):
        with open(self.path("k.ir"), "w", encoding="utf-8") as file:
            file.write(text)
        words = [*quiet(options), *options, f"--derive={derive}", f"--target={self.target}", f"--fp={self.fp}", f"-O{self.level}", "-o",
                 self.path("k.adcb"), self.path("k.ir")]
        return self.call(words)

    def saved(self):
        """Parameters of the compiled kernel that hold what it saves for its gradient."""
        outcome = self.call(["inspect", self.path("k.adcb")])
        return sorted(set(re.findall(r"%(saved\.[\w.]+): buffer<", outcome.stdout)))

    def launch_alike(self, kernel, params, values, wanted):
        """What other numbers of threads leave has the same bits: the first difference, or None."""
        first, before = None, self.threads
        for self.threads in (1, 4):
            results = self.launch(kernel, params, values, wanted)
            for name, numbers in results.items():
                if first is not None and repr(first.get(name)) != repr(numbers):
                    first = f"{kernel} {name} is {first.get(name)} with one thread, {numbers} with {self.threads}"
                    break
            if isinstance(first, str):
                break
            first = results
        self.threads = before
        return first if isinstance(first, str) else None

    def written(self):
        """Parameters that the compiled kernel writes: what never runs is not there any more."""
        outcome = self.call(["inspect", self.path("k.adcb")])
        own = re.search(r"^  @k,.*\n((?:    .*\n)*)", outcome.stdout, re.M).group(1)
        return set(re.findall(r"^    %([\w.]+): .*\bwritten\b", own, re.M))

    def launch(self, kernel, params, values, wanted, saving=(), saved=(), step=0):
        """Runs a kernel: params name -> (type, extents), values name -> numbers or bytes. Name -> numbers or bytes.

        `saving`: buffers that the loader makes and that stay in files, `saved`: those that are given from there. Each `step`
        has files of its own.
        """
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
        words += [word for name in saving for word in ("--out", f"{name}=@{self.path(f'{name}.{step}.npy')}")]
        words += [word for name in saved for word in ("--arg", f"{name}=@{self.path(f'{name}.{step}.npy')}")]
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

    def compile(self, text, derive, options=()):
        with open(self.path("k.ir"), "w", encoding="utf-8") as file:
            file.write(text)
        words = [*quiet(options), *options, f"--derive={derive}", "--emit=ir", "-o", self.path("all.ir"), self.path("k.ir")]
        outcome = self.call(words)
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


class Reader(Interpreter):
    """The oracle's own evaluator, on what `adc` prints of derived kernels: races of "plain" sums, indices out of range and slots of
    adstacks that are read before they are written show themselves on every run, and not by luck."""

    SAVED = 1 << 15  # scalars: what a kernel saves for its gradient has as many as the loader computes

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.kernels, self.saved_values = {}, {}

    def compile(self, text, derive, options=()):
        self.kernels, self.saved_values = {}, {}
        outcome = super().compile(text, derive, options)
        if outcome.returncode == 0 and "--save-overwritten" in options:
            with open(self.path("all.ir"), encoding="utf-8") as file:
                derived = file.read()
            for match in KERNEL.finditer(derived):
                if match.group(1) == "k":
                    self.kernels["k"] = KERNEL.sub("", derived) + match.group(0)
        return outcome

    def write(self, kernel, text):
        self.kernels[kernel] = text

    def saved(self):
        return sorted(set(re.findall(r"%(saved\.[\w.]+): buffer<", self.kernels["k"])))

    def written(self):
        return set(re.findall(r"(?:store|atomic \w+) %([\w.]+)", self.kernels["k"]))

    def launch(self, kernel, params, values, wanted, saving=(), saved=(), step=0):
        module = ir_text.read(self.kernels[kernel])
        function, inputs = module.functions[kernel], {}
        for param in function.params:
            if param.type[0] == "layout":
                fields = unpack_layout(module.layouts[param.type[1]], values[param.name])
                for name, _, extents, _, _ in fields_of(module.layouts[param.type[1]]):
                    inputs[f"{param.name}::{name}"] = (extents, fields[name])
            elif "segment" in param.attrs:
                inputs[param.name] = ([], [zlib.crc32(self.kernels[kernel].encode()) % 4])
            elif "saved" in param.attrs:
                inputs[param.name] = ([self.SAVED], list(self.saved_values[param.name, step]) if param.name in saved else [0] * self.SAVED)
            elif "scratch" in param.attrs and param.type[0] == "buffer" and param.type[2] <= 2:
                # What crosses from task to task: the loader makes it large enough, whatever it holds.
                extents = [64] * param.type[2]
                inputs[param.name] = (extents, [0] * (math.prod(extents) * evaluate.count_of(param.type[1])))
            elif param.name in values:
                inputs[param.name] = (params[param.name][1], values[param.name])
            else:
                raise Unsupported(f"a parameter that the loader fills: {' '.join(param.attrs) or param.name}")
        run, _ = evaluate.compiled(module, function, derivatives=False, derived=True)
        memory = evaluate.launch(module, function, inputs, derivatives=False, run=run).memory
        results = {}
        self.saved_values.update({(name, step): memory[name].values for name in saving})
        for param in function.params:
            if param.name in wanted and param.type[0] == "layout":
                results[param.name] = pack_layout(module.layouts[param.type[1]], lambda field: memory[f"{param.name}::{field}"].values)
            elif param.name in wanted:
                results[param.name] = memory[param.name].values
        return results


class Unsupported(Exception):
    pass


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
        self.got = {}  # (kind, name): all that came

    def floats(self, kind, name, got, want, sizes):
        self.got[kind, name] = got
        if len(got) != len(want):
            self.mistakes.append(f"{kind} {name}: {len(got)} numbers, not {len(want)}")
            return
        for at, (g, w, size) in enumerate(zip(got, want, sizes)):
            error = abs(g - w) / max(size, abs(w), 1e-2) if math.isfinite(g) else 0.0 if repr(g) == repr(w) else math.inf
            if error > self.tolerance:
                self.off.append((kind, name, at, g, w, size))
                self.mistakes.append(f"{kind} {name}[{at}] is {g!r}, oracle {w!r} (magnitudes {size:.3g})")
            self.worst = max(self.worst, error)

    def is_like(self, lists, reverse=None):
        """Whether all that came is what one run of the oracle gives; `reverse`: only what reverse mode gave, or all the rest."""
        for (kind, name), got in self.got.items():
            if reverse is not None and reverse != (kind == "adjoint"):
                continue
            numbers, sizes = lists[kind, name]
            if self.expected.result.memory[name].scalar not in FLOATS:
                if list(map(int, got)) != list(map(int, numbers)):
                    return False
            elif len(got) != len(numbers) or not all(abs(g - n) <= self.tolerance * max(size, abs(n), 1e-2) for g, n, size in zip(got, numbers, sizes)):
                return False
        return True

    def integers(self, kind, name, got, want):
        self.got[kind, name] = got
        if list(map(int, got)) != list(map(int, want)):
            self.off.append((kind, name, -1, got, want, 1))
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


def written_in(module, body, name_of):
    """What stores and atomics of a body touch: parameters, and fields as layout::field. `name_of`: of the names of the body."""
    written = set()
    for node in body:
        if node.op == "store" or node.op.startswith("atomic"):
            place = node.attrs["place"]
            if place.base.name in name_of:
                written.add(name_of[place.base.name] + (f"::{place.field}" if place.field else ""))
        if node.op == "call":
            callee = module.functions[node.attrs["function"]]
            inner = {param.name: name_of[arg.name] for param, arg in zip(callee.params, node.args)
                     if isinstance(arg, ir_text.Name) and arg.name in name_of}
            written |= written_in(module, callee.body, inner)
        for region in node.regions:
            written |= written_in(module, region, name_of)
    return written


def spoiled(expected, executor, state):
    """A later state of the buffers: numbers that no kernel left, wherever the kernel writes."""
    written = written_in(expected.module, expected.kernel.body, {param.name: param.name for param in expected.kernel.params})
    of_code = executor.written()
    written = {name for name in written if name.partition("::")[0] in of_code}
    return {name: [math.nan if expected.result.memory[name].scalar in FLOATS else 1] * len(numbers) if name in written else numbers
            for name, numbers in state.items()}


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
    except Unsupported as reason:
        return Verdict("unsupported", str(reason))
    except (evaluate.Race, evaluate.OutOfRange, evaluate.TooLong) as fault:  # of what Reader reads
        return Verdict("wrong", type(fault).__name__, repr(fault))
    except (evaluate.Untyped, ir_text.ReadError) as fault:
        return Verdict("failed", type(fault).__name__, repr(fault))


def crash_signature(text):
    lines = [line for line in text.splitlines() if CRASH.search(line)]
    line = re.sub(r"'[^']*'|%\S+|\d+", "_", lines[0])[:90] if lines else "?"
    return line


def ids_of(text):
    return sorted(set(re.findall(r"error: [^\n]*\[(E\d+)\]", text)))


def compiled(expected, executor):
    """The error ids of what only the gradient refuses (or None), whether the gradient reads what is saved alone, and a verdict where
    nothing is left to run."""
    if executor.device == "interpret" and expected.how.get("save"):
        return None, False, Verdict("unsupported", "saved values, whose extent the loader knows")
    how, forward = expected.how, "jvp" + (f",jvp:{len(expected.more)}" if expected.more else "")
    options, more = options_of(how, executor)
    outcome = executor.compile(expected.text, "grad," + forward + (",jvp(grad)" if how.get("second") else ""), options + more)
    if outcome.returncode == 0:
        return None, bool(how.get("save")) and "[W0462]" not in outcome.stderr, None
    if outcome.returncode == 5:
        return None, False, Verdict("unsupported", ",".join(ids_of(outcome.stderr)), outcome.stderr)
    refused = ids_of(outcome.stderr)
    if outcome.returncode != 1 or not refused:
        return None, False, Verdict("failed", f"exit {outcome.returncode}", outcome.stderr)
    # The kernel and forward mode need no old values: what only the gradient refuses goes on here.
    if not all(error.startswith("E04") for error in refused) or executor.compile(expected.text, forward, options).returncode:
        return None, False, Verdict("refused", ",".join(refused), outcome.stderr)
    return refused, False, None


def checked(expected, executor):
    refused, in_later_states, verdict = compiled(expected, executor)
    if verdict:
        return verdict
    comparison = Comparison(expected, executor)
    memory, params = expected.result.memory, parameters_of(expected)
    buffers = [param.name for param in expected.kernel.params if param.type[0] in ("buffer", "layout")]
    saved = executor.saved() if expected.how.get("save") and not refused else []

    def compare_values(kind, lists):
        for name, numbers in lists.items():
            buffer = memory[name]
            if buffer.scalar in FLOATS:
                comparison.floats(kind, name, numbers, buffer.values, [max(1.0, abs(value)) for value in buffer.values])
            else:
                comparison.integers(kind, name, numbers, buffer.values)

    def companions_of(numbers, suffix):
        """Arguments out of numbers by scalar place; zeros where a layout's field has none."""
        return values_of(expected, lambda name: numbers.get(name, [0] * len(memory[name].values) if "::" in name else None), suffix)

    def compare_threads(kernel, params, given, wanted):
        """With --deterministic the number of threads decides nothing. Of several equal winners the first has the derivative."""
        if expected.how.get("deterministic") and executor.device == "cpu" and executor.fp != "fast" and not saved and \
                not expected.result.trace.ties:
            if different := executor.launch_alike(kernel, params, given, wanted):
                comparison.mistakes.append(different)
                comparison.off.append(("threads", "", 0, math.inf, 0, 1))

    start = values_of(expected, lambda name: expected.inputs[name][1])
    compare_threads("k", params, start, buffers)
    after = spread_out(expected, executor.launch("k", params, start, buffers, saving=saved))
    compare_values("value", after)
    state = {name: after.get(name, expected.inputs[name][1]) for name in expected.inputs}

    if not refused:
        all_params = with_companions(expected, params, ".adj")
        companions = [name for name in all_params if name not in params]
        # What is saved is read where it was saved: what became of the buffers does not matter.
        later = spoiled(expected, executor, state) if in_later_states else state
        given = {**values_of(expected, lambda name: later[name]), **companions_of(expected.weights, ".adj")}
        given = {name: numbers for name, numbers in given.items() if name in all_params}
        compare_threads("k.grad", all_params, given, companions)
        results = spread_out(expected, executor.launch("k.grad", all_params, given, companions, saved=saved), ".adj")
        for name, want in expected.adjoints.items():
            # What a gradient leaves alone is not printed: the adjoint is what it was.
            comparison.floats("adjoint", name, results.get(name, expected.weights[name]), want, expected.adjoint_sizes[name])
        if in_later_states and not comparison.mistakes:
            check_steps(expected, executor, comparison, params, companions_of, saved, state)

    def push(kernel, suffixes, directions, pushed, first=0):
        """Runs a kernel of forward mode; what it leaves, by suffix."""
        all_params, given = dict(params), dict(start)
        for suffix, numbers in zip(suffixes, directions):
            more = with_companions(expected, params, suffix)
            all_params.update(more)
            given.update({name: number for name, number in companions_of(numbers, suffix).items() if name in more})
        companions = [name for name in all_params if name not in params]
        outputs = executor.launch(kernel, all_params, given, buffers + companions, saving=saved)
        compare_values("forward value", spread_out(expected, outputs))
        for at, (suffix, numbers, (tangents, sizes)) in enumerate(zip(suffixes, directions, pushed)):
            got = spread_out(expected, outputs, suffix)
            for name, want in tangents.items():
                comparison.floats(tangent_of(first + at), name, got.get(name, numbers[name]), want, sizes[name])
        return outputs

    outputs = push("k.jvp", [".tan"], [expected.directions], [(expected.tangents, expected.tangent_sizes)])
    if expected.more:
        push(f"k.jvp{len(expected.more)}", [f".tan{at}" for at in range(len(expected.more))], expected.more, expected.pushed, 1)
    if expected.how.get("second") and not refused and not comparison.mistakes:
        check_second(expected, executor, comparison, params, companions_of, outputs)

    if not comparison.mistakes:
        return Verdict("refused", ",".join(refused)) if refused else Verdict("right")
    text = "\n".join(comparison.mistakes)
    what = "+".join(sorted({off[0] for off in comparison.off}))
    if reason := excuse(expected, executor, comparison):
        return Verdict("rounding" if reason == "rounding" else "near", f"{reason}: {what}", text)
    return Verdict("wrong", what, text)


def check_steps(expected, executor, comparison, params, companions_of, saved, state):
    """Launches on the same buffers, and then their gradients, last to first, in the last state: the product of the Jacobians."""
    buffers = [param.name for param in expected.kernel.params if param.type[0] in ("buffer", "layout")]
    steps = [expected.result]
    for step in range(1, 2 + zlib.crc32(expected.text.encode()) % 3):
        try:
            inputs = {name: (extents, state[name]) for name, (extents, _) in expected.inputs.items()}
            result = evaluate.launch(expected.module, expected.kernel, inputs, run=expected.run)
        except (evaluate.Race, evaluate.OutOfRange, evaluate.TooLong):
            break
        values = [buffer.values for buffer in result.memory.values() if buffer.scalar in FLOATS]
        # Where an error of rounding decides, or grows, nothing is to be learnt.
        if not all(finite(numbers) and max(map(abs, numbers), default=0) < 1e4 for numbers in values) or \
                result.trace.margin < 16 * EDGE[expected.lowest] or result.trace.ties:
            break
        given = values_of(expected, lambda name: state[name])
        after = spread_out(expected, executor.launch("k", params, given, buffers, saving=saved, step=step))
        steps.append(result)
        state = {name: after.get(name, numbers) for name, numbers in state.items()}
    if len(steps) < 2:
        return
    all_params, state = with_companions(expected, params, ".adj"), spoiled(expected, executor, state)
    companions = [name for name in all_params if name not in params]
    wanted, got = expected.weights, expected.weights
    sizes = {name: [1.0] * len(numbers) for name, numbers in wanted.items()}
    for step in reversed(range(len(steps))):
        wanted, grown = evaluate.gradients(steps[step], wanted)
        sizes = {name: [max(old, new) for old, new in zip(sizes[name], grown[name])] for name in wanted}
        given = {**values_of(expected, lambda name: state[name]), **companions_of(got, ".adj")}
        given = {name: numbers for name, numbers in given.items() if name in all_params}
        results = spread_out(expected, executor.launch("k.grad", all_params, given, companions, saved=saved, step=step), ".adj")
        got = {name: results.get(name, got[name]) for name in got}
    largest = max((size for numbers in sizes.values() for size in numbers), default=1.0)
    if not math.isfinite(largest) or largest > 1e5:
        return
    before, comparison.tolerance = comparison.tolerance, 64 * comparison.tolerance
    for name, want in wanted.items():
        comparison.floats("step", name, got[name], want, [largest] * len(want))
    comparison.tolerance = before


def check_second(expected, executor, comparison, params, companions_of, outputs):
    """Forward over reverse, behind forward mode, against differences of the oracle's adjoints."""
    try:
        want, again = expected.second(1e-3), expected.second(4e-4)
    except (Unfit, evaluate.Race, evaluate.OutOfRange, evaluate.TooLong):
        return
    largest = max([1.0] + [abs(number) for numbers in want.values() for number in numbers])
    # Differences that do not agree with each other judge nobody.
    apart = max([abs(a - b) for name in want for a, b in zip(want[name], again[name])], default=0.0)
    if not all(map(finite, want.values())) or largest > 1e5 or expected.near or not apart < 2e-6 * largest:
        return
    all_params, given = dict(params), {}
    for suffix in (".adj", ".tan", ".adj.tan"):
        all_params.update(with_companions(expected, params, suffix))
    after, tangents = spread_out(expected, outputs), spread_out(expected, outputs, ".tan")
    state = {name: after.get(name, numbers) for name, (_, numbers) in expected.inputs.items()}
    given.update(values_of(expected, lambda name: state[name]))
    given.update(companions_of(expected.weights, ".adj"))
    given.update(companions_of({name: tangents.get(name, numbers) for name, numbers in expected.directions.items()}, ".tan"))
    given.update(companions_of({name: [0] * len(numbers) for name, numbers in expected.weights.items()}, ".adj.tan"))
    given = {name: numbers for name, numbers in given.items() if name in all_params}
    wanted = [name for name in all_params if name.endswith(".adj.tan")]
    results = spread_out(expected, executor.launch("k.grad.jvp", all_params, given, wanted), ".adj.tan")
    before, comparison.tolerance = comparison.tolerance, 1e-5
    for name, numbers in want.items():
        comparison.floats("second", name, results.get(name, [0.0] * len(numbers)), numbers, [largest] * len(numbers))
    comparison.tolerance = before


def excuse(expected, executor, comparison):
    """Why a right execution may give what was got: "decision", "tie", "rounding", "sign of zero", or None.

    Excused is what a run of the oracle with errors of a few units in the last place gives, all of it; and numbers where such runs
    that decide alike differ by a quarter as much. --fp=fast has four times the errors.
    """
    if executor.fp == "fast" and expected.result.trace.sign_of_zero:
        return "sign of zero"
    if any(off[0] in ("second", "threads", "step") for off in comparison.off) or len(comparison.off) != len(comparison.mistakes):
        return None
    open_, moved = {off[:3]: off[3:] for off in comparison.off}, {}
    # Of equal winners reverse mode takes the first and forward mode the last: two runs give what came.
    ties = bool(expected.result.trace.ties)
    like = {False, True} - {off[0] == "adjoint" for off in comparison.off}
    for lists, otherwise in expected.blurred(4.0 if executor.fp == "fast" else 1.0):
        if otherwise:
            if comparison.is_like(lists):
                return "tie" if ties else "decision"
            like.update(reverse for reverse in (False, True) if ties and comparison.is_like(lists, reverse))
            if len(like) == 2:
                return "tie"
            continue
        for (kind, name, at), (got, want, _) in list(open_.items()):
            if at < 0:
                continue
            moved[kind, name, at] = max(moved.get((kind, name, at), 0.0), abs(lists[kind, name][0][at] - want))
            if abs(got - want) <= 4 * moved[kind, name, at]:
                del open_[kind, name, at]
        if not open_:
            return "rounding"
    return None


def host_target():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return "cpu:x86-64-v3" if " avx2 " in file.read() else "cpu:x86-64"


def executors(names, adc, metal, folder, level=1):
    """Of names as 'cpu-strict', 'vulkan', 'metal-fast', 'interpret'; 'metal-source' says that no GPU runs it."""
    batches, made = {}, []
    targets = {"cpu": host_target(), "vulkan": "vulkan:1.2", "metal": "metal:2.4", "interpret": "", "read": ""}
    for name in names:
        device, _, fp = name.partition("-")
        tool = metal if device == "metal" else adc
        if device == "metal":
            os.environ.setdefault("ADC_MSL_HOST_LEVEL", "0")  # each text runs a few times: clang takes most of the time
        if tool not in batches:
            batches[tool] = Batch([tool])
        kind = {"interpret": Interpreter, "read": Reader}.get(device, Executor)
        made.append(kind(name, batches[tool], folder, targets[device], fp.replace("source", "") or "contract", level, device))
    return made, list(batches.values())
