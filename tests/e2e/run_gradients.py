#!/usr/bin/env python3
"""Runs the programs of a folder through `adc`, each as it stands (f64) and once more with every f64 an f32.

A program says in comments what must come out:
  // row: ROWS               it is the test of these rows of behaviours/rows.txt (check_rows.py)
  // set: NAME = PYTHON      an argument of the launches below, where their kernel has such a parameter: a number, or
                             lists of numbers, nested as deep as the buffer has axes; bytes for a layout. Where no kernel
                             has one, a name for expressions below. An expression sees what was set before it, and
                             what directives.Names gives
  // gradcheck: ARGS         `adc gradcheck ARGS` agrees: reverse, forward mode, central differences
  // zero: ARGS              ... and says that it tested nothing, since every derivative is 0
  // run: KERNEL ARGS        `adc run --kernel KERNEL ARGS` succeeds
  // gives: NAME = NUMBERS   ... and leaves these numbers in parameter NAME
  // gives: NAME[i] = PYTHON ... and leaves this in element i of it, its elements counted in C order
  // heap: PYTHON            ... and this holds of its heap: bytes in all; tape(N), or tape(N, PASSING): rows of N floats
                             each and no more, for so many iterations at most (32 where nothing is said);
                             counted(PASSING, ...): so many iterations pass the gates on a device, one group each, and
                             each has as many rows in whole blocks of lanes, or one per thread
  // fails: CODE PATTERN     ... does not succeed, but exits with this code and prints one error, in which the regular
                             expression is found
  // steps: KERNEL N CHANGED SAVED
                             N launches of KERNEL, each on the buffers that the last one left, of which it changes CHANGED
                             (a,b,c), and saving in buffers SAVED of its own; then their gradients, last to first, with NaN in
                             CHANGED. What is given of adjoints is those of the last state, what `gives` says those of the first
  // refuses: EID PLACES     compiling is an error with this id that names so many places of the file
  // f64 only: WHY           the program is not run in f32
  // compiled with: OPTIONS  ... which `adc` gets
  // as it stands: WHY       the program's types are the test: f64 stays f64, and it is run once
  // tolerance: SCALAR LIMIT ... of what `gives` says, relative; f64 1e-12, f32 2e-5 where nothing is said
  // not on DEVICE: WHY      ... a kind of device, which does not run it
  // large: WHY              only the CPU runs it, and devices with --large: those that the host imitates take too long

Usage: run_gradients.py [--device DEVICE [--validate] [--confined] [--large]]
                        [--compile-to FOLDER --target TARGET... [--compiled-with OPTIONS]] [--bundles FOLDER]
                        [--through COMMAND] [--workers N] [--times] [--share N] [--one-type] [--seed N]
                        ADC FOLDER [PROGRAM...]

--device runs them on cpu (the default), cuda, vulkan, hip or metal. A program that a device cannot do for a reason that
it gives (exit code 5) is reported as skipped. --validate: Vulkan's validation layer watches, and must be silent.
--confined: the code is unverified, and has no device addresses.
--compile-to only compiles, for the targets given, into a folder of bundles, and --bundles runs these: so that a
machine without the compiler can run them (adc-runtime in place of ADC). Of targets that are given as A|B each program
takes one in turn, or all with ADC_FULL=1 in the environment, and one of the options of --compiled-with alike.
--through runs bundles that ADC compiles by this command, for the target that --target names: an adc-runtime of another
processor in its emulator, with --large where ADC_FULL=1. --workers: how many of the CPU; two where memory is looked at,
and where nothing is said one per processor.
--share N: one program in N. --one-type: each program in one of its two types. Both are for executors that take long,
and choose by the program's name and --seed, which is printed (where nothing is said, ADC_SEED of the environment, or 1), so that a new program changes
nothing about the others; with ADC_FULL=1, or for programs that are named, everything runs.
"""

import argparse
import concurrent.futures
import itertools
import math
import os
import platform
import re
import shlex
import sys
import tempfile
import time
import zlib

from batch import Batches
from directives import Names, parameters, read_npy, rounded, spoil_npy, write_npy



def target_of_host():
    """What the CPU of this machine runs."""
    if platform.machine() != "x86_64":
        return "cpu:" + platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return "cpu:x86-64-v3" if " avx2 " in file.read() else "cpu:x86-64"


TOLERANCE = {"f64": 1e-12, "f32": 2e-5}
BYTES = {"f64": 8, "f32": 4}
LANES = 32  # rows lie in blocks of so many
LITTLE = 4096  # bytes of a heap that are no rows: words of the launch, claim counters
TARGETS = {"cpu": target_of_host(), "cuda": "cuda:sm_80", "vulkan": "vulkan:1.2", "hip": "hip:gfx1100",
           "metal": "metal:2.4"}
CONFINED = "vulkan:1.2-near"
OF_A_RUN = ("gives", "heap", "fails")
DIRECTIVES = "set|gradcheck|zero|run|steps|gives|heap|fails|refuses"


def number(word):
    return int(word) if re.fullmatch(r"-?\d+", word) else float(word)


def same(got, want, tolerance):
    if isinstance(want, float) and math.isnan(want):
        return math.isnan(got)
    return got == want or abs(got - want) <= tolerance * max(1, abs(want))


def up(number, step):
    return -(-number // step) * step


def some(numbers):
    return str(numbers) if len(numbers) <= 64 else f"{str(numbers[:64])[:-1]}, ... {len(numbers)} in all]"


def in_turn(words, at, every=False):
    """Of alternatives, separated by |, the one whose turn it is at this number, without those that are empty."""
    words = words.split("|")
    return [word for word in (dict.fromkeys(words) if every else [words[at % len(words)]]) if word]


def turn_of(name, seed, count):
    """Which of `count` turns a program takes."""
    return zlib.crc32(f"{seed} {name}".encode()) % count


class Skipped(Exception):
    """The device cannot do it, and says why."""


class Heap:
    """What `adc run --time` says of a launch's memory."""

    def __init__(self, device, scalar, report):
        self.device, self.scalar = device, scalar
        self.bytes = int(re.search(r"heap (\d+) bytes", report).group(1))
        self.groups = [tuple(map(int, group)) for group in re.findall(
            r": (\d+) iterations pass the gate at \S+, (\d+) rows of (\d+) bytes, (\d+) threads", report)]

    def tape(self, count, iterations=LANES):
        row, rows = count * self.scalar, max(LANES, up(iterations, LANES))
        if self.device == "cpu":  # two workers with a row each, in cache lines of their own
            return self.bytes == 2 * up(row, 64)
        return LANES * row <= self.bytes <= rows * up(row, 8) + LITTLE

    def counted(self, *passing):
        if self.device == "cpu":  # a row for each worker, whatever passes
            return True
        rows = [max(LANES, up(min(count, threads), LANES)) for count, (_, _, _, threads) in zip(passing, self.groups)]
        return passing == tuple(group[0] for group in self.groups) and rows == [group[1] for group in self.groups]


class Program:
    def __init__(self, options, path, scalar, folder):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.tolerance = dict(TOLERANCE)
        for kind, limit in re.findall(r"^// tolerance: (\w+) (\S+)", self.text, re.M):
            self.tolerance[kind] = float(limit)
        stands = re.search(r"^// as it stands: ", self.text, re.M)
        if scalar == "f32" and not stands:
            self.text = self.text.replace("f64", "f32")
        self.options, self.scalar, self.folder = options, scalar, folder
        self.name = os.path.splitext(os.path.basename(path))[0] + "." + scalar
        self.includes = ["-I", os.path.dirname(path)]
        self.device = ["--device", options.device] if options.device != "cpu" else []
        if options.validate:
            self.device.append("--validate")
        if options.confined:
            self.device.append("--confined")
        self.mistakes = []
        self.oracle = []  # the text, for the interpreter
        self.kernels, self.names, self.given = parameters(self.text), Names(), {}
        large = re.search(r"^// large: (.*)$", self.text, re.M)
        imitated = options.device != "cpu" or options.through
        self.too_large = large and imitated and not options.large and "TOO LARGE HERE: " + large.group(1)
        by_wine = options.through and options.through[0].endswith("/wine")
        here = f"{options.device}|windows" if by_wine else options.device
        elsewhere = re.search(rf"^// not on ({here}): (.*)$", self.text, re.M)
        self.not_here = elsewhere and f"NOT ON {elsewhere.group(1)}: {elsewhere.group(2)}"
        self.workers = [f"--threads={options.workers}"] if options.workers and options.device == "cpu" else []
        if options.bundles:
            self.source, self.includes = os.path.join(options.bundles, self.name + ".adcb"), []
        else:
            self.source = os.path.join(folder, "program.ir")
            with open(self.source, "w", encoding="utf-8") as file:
                file.write(self.text)

    def call(self, *words):
        """What compiles."""
        return self.options.adc.call(words)

    def launch(self, *words):
        """What runs: the same tool, or another one that takes bundles."""
        return self.options.runner.call(words)

    def expect(self, good, title, outcome):
        if not good and outcome.returncode == 5 and self.device:
            raise Skipped(outcome.stderr.strip().partition("\n")[0])
        if not good:
            self.mistakes.append(f"{title}: exit {outcome.returncode}\n{outcome.stdout}{outcome.stderr}")

    def compile(self, folder, targets, options=()):
        """Leaves a bundle, unless the program is one that is refused. Returns its path, where there is one."""
        if re.search(r"^// refuses: ", self.text, re.M):
            return None
        path = os.path.join(folder, self.name + ".adcb")
        targets = [f"--target={target}" for target in targets]
        options = [*options] + (" ".join(re.findall(r"^// compiled with: (.*)$", self.text, re.M)).split())
        outcome = self.call(*self.includes, "--derive=grad,jvp", *options, *targets, self.source, "-o", path)
        self.expect(outcome.returncode == 0, "compile", outcome)
        return path if outcome.returncode == 0 else None

    def set(self, name, expression):
        """An argument of all kernels that have a parameter `name`, or a companion, which has one type in all of them."""
        value = self.names.evaluate(expression)
        everything = [self.types(kernel + way) for kernel in self.kernels for way in ("", ".grad", ".jvp", ".grad.jvp")]
        scalar, is_buffer = next((types[name] for types in everything if name in types), (None, False))
        if scalar is None and not isinstance(value, bytes):
            self.names[name] = value
            return
        if isinstance(value, bytes):
            path = os.path.join(self.folder, name + ".bytes")
            with open(path, "wb") as file:
                file.write(value)
            self.given[name] = "@" + path
            return
        value = rounded(scalar, value)
        self.names[name] = value
        if not is_buffer or isinstance(value, (int, float)):
            self.given[name] = str(value)
            return
        path = os.path.join(self.folder, name + ".npy")
        write_npy(path, scalar, value)
        self.given[name] = "@" + path

    def arguments(self, kernel, words):
        """Those that were set, of a kernel or of what a kernel's derivative takes of it."""
        types = self.types(kernel)
        stated = {word.partition("=")[0] for option, word in zip(words, words[1:]) if option in ("--arg", "--shape")}
        return [word for name, value in self.given.items() if name in types and name not in stated
                for word in ("--arg", f"{name}={value}")]

    def types(self, kernel):
        """The parameters of a kernel; of a derived one, with its companions."""
        if kernel in self.kernels:
            return self.kernels[kernel]
        name, _, derived = kernel.rpartition(".")
        own = self.types(name) if name else {}
        companion = {"grad": ".adj", "jvp": ".tan"}.get(derived, "")
        return {**own, **{parameter + companion: (scalar, True) for parameter, (scalar, _) in own.items()}}

    def gradcheck(self, words, is_zero=False):
        kernel = words[words.index("--kernel") + 1] if "--kernel" in words else next(iter(self.kernels))
        given = self.arguments(kernel, words)
        title = "gradcheck " + " ".join(words)
        outcome = self.launch("gradcheck", *self.includes, *self.device, *self.workers, *self.oracle, *words, *given, self.source)
        if is_zero:
            said = ", 0 differ, " in outcome.stdout and "nothing was tested: every derivative is 0" in outcome.stderr
            self.expect(outcome.returncode == 1 and said, title, outcome)
            return
        # A bundle without its source is compared at the given point alone: where all derivatives are 0 there, the run that
        # has the source tests others.
        sourceless = self.options.bundles or self.options.through
        zero_here = sourceless and ", 0 differ, " in outcome.stdout and "nothing was tested" in outcome.stderr
        self.expect(outcome.returncode == 0 or zero_here, title, outcome)
        # A device that ends loops early (Mesa's on the CPU, after 65,535 iterations of a thread) agrees with itself.
        if self.options.device == "vulkan" and self.oracle and outcome.returncode == 0 and " further points, 0 differ" not in outcome.stdout:
            self.mistakes.append(f"{title}: nothing but the device itself says what is right\n{outcome.stdout}")

    def run(self, words, wanted, conditions, failure):
        """`wanted`: by name a list of numbers, or an expression."""
        outputs = {name: os.path.join(self.folder, name + ".out.npy") for name in wanted}
        takes = [word for name, path in outputs.items() for word in ("--out", f"{name}=@{path}")]
        given = self.arguments(words[0], words)
        if conditions:
            takes += ["--time", "--threads=2" if self.options.device == "cpu" else "--size-threshold=1"]
        else:
            takes += self.workers
        outcome = self.launch("run", *self.includes, *self.device, self.source, "--kernel", *words, *given, *takes)
        title = "run " + " ".join(words)
        if failure:
            code, pattern = failure.split(" ", 1)
            good = outcome.returncode == int(code) and outcome.stderr.count("error: ") == 1
            self.expect(good and re.search(pattern, outcome.stderr), title + " fails", outcome)
            return
        self.expect(outcome.returncode == 0, title, outcome)
        if outcome.returncode != 0:
            return
        self.compare(title, outputs, wanted)
        for condition in conditions:
            self.heap(title, condition, outcome.stderr)

    def steps(self, words, wanted):
        """A run of several launches and of their gradients in the last state."""
        kernel, changed, saved = words[0], words[2].split(","), words[3].split(",")
        title, state = "steps " + " ".join(words), dict(self.given)

        def launch(name, step, given, outputs):
            types = self.types(name)
            takes = [word for one, value in given.items() if one in types or one in saved for word in ("--arg", f"{one}={value}")]
            takes += [word for one, path in outputs.items() for word in ("--out", f"{one}={path}")]
            outcome = self.launch("run", *self.includes, *self.device, *self.workers, self.source, "--kernel", name, *takes)
            self.expect(outcome.returncode == 0, f"{title}, {name} of step {step}", outcome)
            return outcome.returncode == 0

        def files(names, step):
            return {name: "@" + os.path.join(self.folder, f"{name}.step{step}.npy") for name in names}

        for step in range(int(words[1])):
            if not launch(kernel, step, state, {**files(changed, step), **files(saved, step)}):
                return
            state.update(files(changed, step))
        for name in changed:
            spoil_npy(state[name][1:])
        for step in reversed(range(int(words[1]))):
            outputs = files(wanted, step)
            if not launch(kernel + ".grad", step, {**state, **files(saved, step)}, outputs):
                return
            state.update(outputs)
        self.compare(title, {name: path[1:] for name, path in outputs.items()}, wanted)

    def compare(self, title, outputs, wanted):
        for name, numbers in wanted.items():
            got = read_npy(outputs[name])
            if isinstance(numbers, str):
                numbers = self.names.element_wise(numbers, len(got))
            wrong = [at for at, (g, w) in enumerate(zip(got, numbers)) if not same(g, w, self.tolerance[self.scalar])]
            if wrong or len(got) != len(numbers):
                self.mistakes.append(f"{title}: {name} is {some(got)}, it should be {some(numbers)}; " +
                                     (f"first at {wrong[0]}, {len(wrong)} in all" if wrong else "other lengths"))

    def heap(self, title, condition, report):
        heap = Heap(self.options.device, BYTES[self.scalar], report)
        if not self.names.evaluate(condition, bytes=heap.bytes, tape=heap.tape, counted=heap.counted):
            self.mistakes.append(f"{title}: not so: {condition}, where\n{report}")

    def refuses(self, error, places):
        outcome = self.call(*self.includes, self.source, "-o", os.path.join(self.folder, "refused.adcb"))
        good = outcome.returncode == 1 and f"[{error}]" in outcome.stderr
        self.expect(good and outcome.stderr.count("program.ir:") >= places, "refuses " + error, outcome)

    def check(self):
        """Leaves the mistakes found, one text each."""
        if self.too_large:
            raise Skipped(self.too_large)
        if self.not_here:
            raise Skipped(self.not_here)
        comments = re.findall(rf"^// ({DIRECTIVES}): (.*)$", self.text, re.M)
        # What is launched more than once is compiled once, and so is what another tool runs or what has options.
        launches = sum(2 if kind == "steps" else kind in ("run", "gradcheck", "zero") for kind, _ in comments)
        alone = self.options.through or re.search(r"^// compiled with: ", self.text, re.M)
        if not self.options.bundles and launches > (0 if alone else 1):
            bundle = self.compile(self.folder, self.options.target or
                                  [CONFINED if self.options.confined else TARGETS[self.options.device]])
            if bundle is None:
                return
            if not self.options.through:
                self.oracle = [*self.includes, "--source", self.source]
            self.source, self.includes = bundle, []
        elif not self.options.bundles:
            self.oracle = ["--source", self.source]
        for at, (kind, rest) in enumerate(comments):
            if kind == "set":
                self.set(*rest.split(" = ", 1))
            elif kind in ("gradcheck", "zero"):
                self.gradcheck(shlex.split(rest), kind == "zero")
            elif kind == "refuses" and not self.options.bundles:
                error, places = rest.split()
                self.refuses(error, int(places))
            elif kind in ("run", "steps"):
                wanted, conditions, failure = {}, [], None
                for about, line in itertools.takewhile(lambda comment: comment[0] in OF_A_RUN, comments[at + 1:]):
                    if about == "heap":
                        conditions.append(line)
                    elif about == "fails":
                        failure = line
                    else:
                        name, numbers = line.split(" = ", 1)
                        each = name.endswith("[i]")
                        wanted[name.removesuffix("[i]")] = numbers if each else [number(word) for word in numbers.split()]
                if kind == "steps":
                    self.steps(rest.split(), wanted)
                else:
                    self.run(shlex.split(rest), wanted, conditions, failure)
        if not comments:
            self.mistakes.append("the program says nothing to check")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--validate", action="store_true")
    parser.add_argument("--confined", action="store_true")
    parser.add_argument("--compile-to")
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--compiled-with", default="")
    parser.add_argument("--bundles")
    parser.add_argument("--through", type=shlex.split, help="the command that runs what ADC compiles")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--jobs", type=int, default=1, help="programs at once")
    parser.add_argument("--times", action="store_true", help="print the seconds that each program took")
    parser.add_argument("--share", type=int, default=1, help="run one program in so many")
    parser.add_argument("--one-type", action="store_true", help="run each program in one of its types")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("ADC_SEED", 1)), help="which share")
    parser.add_argument("adc")
    parser.add_argument("programs")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.adc = Batches(os.path.abspath(options.adc))
    options.large |= bool(options.through and os.environ.get("ADC_FULL"))
    options.runner = Batches(options.through) if options.through else options.adc
    folder = os.path.abspath(options.programs)
    names = options.names or sorted(name for name in os.listdir(folder) if name.endswith(".ir"))
    in_part = not options.names and not os.environ.get("ADC_FULL")
    if options.share > 1 and in_part:
        names = [name for name in names if turn_of(name, options.seed, options.share) == 0]
    tasks, scalars = [], ["f64", "f32"]
    for name in names:
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        only_f64 = re.search(r"^// (f64 only|as it stands): ", text, re.M)
        large = re.search(r"^// large: ", text, re.M)
        own = [scalars[turn_of(name, options.seed, 2)]] if options.one_type and in_part else scalars
        tasks += [(name, path, scalar, not large) for scalar in (["f64"] if only_f64 else own)]
    # What takes long begins first, so that no job is left with it at the end.
    tasks.sort(key=lambda task: task[3])

    def examine(task):
        """What is to be said of one program in one type: seconds, mistakes, and why it was skipped, if it was."""
        at, (_, path, scalar, _) = task
        begin, why_skipped = time.monotonic(), None
        with tempfile.TemporaryDirectory() as scratch:
            program = Program(options, path, scalar, scratch)
            try:
                if options.compile_to:
                    targets = [name for words in options.target for name in in_turn(words, at, bool(os.environ.get("ADC_FULL")))]
                    program.compile(options.compile_to, targets, ["--keep-going", *in_turn(options.compiled_with, at)])
                else:
                    program.check()
            except Skipped as reason:
                why_skipped = str(reason)
        return time.monotonic() - begin, program.mistakes, why_skipped

    failed = 0
    skipped, slowest = [], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (name, _, scalar, _), (seconds, mistakes, why_skipped) in zip(tasks, pool.map(examine, enumerate(tasks))):
            failed += bool(mistakes)
            slowest.append((seconds, f"{name} in {scalar} {seconds:.1f} s"))
            for mistake in mistakes:
                print(f"{name} in {scalar}: {mistake}")
            if why_skipped:
                skipped.append(f"{name} in {scalar}: skipped: {why_skipped}")
            if options.times:
                print(f"{name} in {scalar}: {seconds:.2f} s", flush=True)
    for line in skipped:
        print(line)
    for mistake in options.adc.end() + (options.runner.end() if options.through else []):
        failed += 1
        print(mistake)
    print("slowest: " + ", ".join(text for _, text in sorted(slowest, reverse=True)[:5]))
    if in_part and (options.share > 1 or options.one_type):
        print(f"a share of seed {options.seed}: one program in {options.share}, in {'one type' if options.one_type else 'both types'}; "
              "ADC_FULL=1 runs all")
    on = f"{options.target[0]} through {options.through[0]}" if options.through else options.device
    print(f"{len(tasks)} programs on {on}, {failed} failed, {len(skipped)} skipped")
    return 1 if failed or len(skipped) == len(tasks) else 0


if __name__ == "__main__":
    sys.exit(main())
