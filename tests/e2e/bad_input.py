#!/usr/bin/env python3
"""Every command on every kind of bad input and bad place: one error that says what, the documented exit code, nothing
half-written, no signal, no wait.

usage: bad_input.py ADC ADC_RUNTIME SAMPLES

Root reads everything, so that files without permission are tried as another user, where this one may become it.
"""

import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

adc, runtime, samples = (os.path.abspath(word) for word in sys.argv[1:4])
SECONDS = 60  # far beyond what any of them takes: that a command waits is what is found
OTHER_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
LAUNCH = ["--trust", "--kernel=relax", "--arg=x=ones[8]", "--arg=n=3"]

# What takes a bundle, with IN in its place.
BUNDLE = [
    ["run", *LAUNCH, "IN"],
    ["gradcheck", *LAUNCH, "IN"],
    ["bench", "--turns=1", *LAUNCH, "IN"],
    ["devices", "IN"],
    ["devices", "--json", "IN"],
]
BUNDLE_ADC = [
    ["inspect", "IN"],
    ["inspect", "--json", "IN"],
    ["inspect", "--disasm=relax", "IN"],
    ["verify", "IN"],
    ["verify", "--json", "IN"],
    ["sign", "--key=key", "-o", "out/new", "IN"],
    ["sign", "--remove", "-o", "out/new", "IN"],
    ["merge", "-o", "out/new", "IN", "cpu.adcb"],
    ["merge", "-o", "out/new", "cpu.adcb", "IN"],
    ["strip", "-o", "out/new", "IN"],
    ["stats", "IN"],
    ["diff", "IN", "cpu.adcb"],
    ["diff", "--text", "cpu.adcb", "IN"],
    ["size", "IN"],
    ["size", "--json", "IN"],
    ["report", "-o", "out/new", "IN"],
    ["extract", "-o", "out", "IN"],
]
# What takes text.
SOURCE = [
    ["--target=cpu", "-o", "out/new", "IN.ir"],
    ["--target=cpu", "-o", "out/new", "IN.cpp"],
    ["--target=cpu", "-o", "out/new", "IN.comp"],
    ["--target=cpu", "-o", "out/new", "IN.spv"],
    ["--target=cpu", "--emit=header", "-o", "out/new", "IN.ir"],
    ["fmt", "IN.ir"],
    ["opt", "--passes=simplify", "-o", "out/new", "IN.ir"],
    ["run", *LAUNCH, "IN.ir"],
    ["size", "IN.ir"],
    ["report", "-o", "out/new", "IN.ir"],
]
# Other files that commands read: words, and the exit code where the file is bad.
OTHER = [
    (["sign", "--key=IN", "-o", "out/new", "cpu.adcb"], {1, 2}),
    (["verify", "--key=IN", "cpu.adcb"], {2}),
    (["run", *LAUNCH[:2], "--arg=x=@IN", "--arg=n=3", "cpu.adcb"], {2}),
    (["--target=cpu", "@IN"], {1, 2}),
    (["--target=cuda", "--libdevice=IN", "-o", "out/new", "relax.ir"], {1}),
]
# Words that are wrong whatever the files are.
USAGE = [["new"], ["explain", "E9999"], ["explain"], ["completion", "csh"], ["man", "runn"], ["batch"], ["merge", "cpu.adcb"],
         ["diff", "cpu.adcb"], ["sign", "cpu.adcb"], ["--emit=ptx", "--emit=ir", "relax.ir"], ["inpsect", "cpu.adcb"],
         ["run", "--trsut", "cpu.adcb"], ["opt", "--passes=nothing", "relax.ir"], ["stats", "--nothing", "cpu.adcb"]]
# What writes a file: OUT is its place.
WRITES = [
    ["--target=cpu", "-o", "OUT", "relax.ir"],
    ["--target=cpu", "-o", "out/k.adcb", "--header=OUT", "relax.ir"],
    ["--target=cpu", "-o", "out/k.adcb", "--json=OUT", "relax.ir"],
    ["--target=cpu", "-o", "out/k.adcb", "-MD", "-MF", "OUT", "relax.ir"],
    ["--emit=ir", "-o", "OUT", "relax.ir"],
    ["sign", "--key=key", "-o", "OUT", "cpu.adcb"],
    ["sign", "--new-key=OUT"],
    ["merge", "-o", "OUT", "cpu.adcb", "cuda.adcb"],
    ["strip", "-o", "OUT", "cpu.adcb"],
    ["report", "-o", "OUT", "cpu.adcb"],
    ["opt", "--passes=simplify", "-o", "OUT", "relax.ir"],
    ["run", *LAUNCH, "--out=loss=@OUT", "cpu.adcb"],
    ["extract", "-o", "OUT/in", "cpu.adcb"],
    ["new", "OUT/project"],
]
# What prints.
PRINTS = [["--help"], ["--version"], ["--emit=ir", "relax.ir"], ["inspect", "cpu.adcb"], ["inspect", "--json", "cpu.adcb"],
          ["verify", "cpu.adcb"], ["stats", "cpu.adcb"], ["diff", "--text", "cpu.adcb", "other.adcb"],
          ["diff", "--json", "cpu.adcb", "other.adcb"], ["size", "cpu.adcb"], ["size", "--json", "cpu.adcb"],
          ["report", "-o", "-", "cpu.adcb"], ["fmt", "-"], ["opt", "--passes=simplify", "relax.ir"], ["devices"],
          ["devices", "--json"], ["explain", "E0401"], ["explain", "--list"], ["completion", "zsh"], ["man", "run"],
          ["run", *LAUNCH, "cpu.adcb"], ["run", "--json", *LAUNCH, "cpu.adcb"], ["strip", "-o", "-", "cpu.adcb"],
          ["gradcheck", *LAUNCH, "cpu.adcb"], ["bench", "--turns=1", "--launches=1", *LAUNCH, "cpu.adcb"]]
ENDINGS = (".ir", ".cpp", ".comp", ".spv")
RUNTIME = ("run", "gradcheck", "bench", "devices", "batch")

failures, tried = [], 0


def outputs():
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk("out") for name in names)


def fail(said, text=""):
    failures.append(said)
    print(f"{said}: {text.strip()[:400]}" if text else said, flush=True)


def judge(said, code, codes, text):
    """What one command said on standard error, and how it ended."""
    errors = re.findall(r"^(?:.*: )?error: .+$", text, re.MULTILINE)
    if code not in codes:
        fail(f"{said}: ends with {code} and not with {sorted(codes)}", text)
    elif code != 0 and not errors:
        fail(f"{said}: ends with {code} and says no error", text)
    elif len(errors) > 3 or "internal error" in text or "defect" in text:
        fail(f"{said}: {len(errors)} errors", text)
    if any(ord(letter) < 32 and letter != "\n" for letter in text):
        fail(f"{said}: what it says holds control characters", text)


class Lines:
    """Commands that run one after the other in one process, which has to live through all of them."""

    def __init__(self, program, user=()):
        self.program, self.user, self.rows = program, user, []

    def add(self, words, codes, what):
        self.rows.append((words, codes, what))

    def run(self, makes=()):
        """`makes`: outputs that may be left, whole, beside those that cannot be made."""
        global tried
        tried += len(self.rows)
        text = "\n".join(" ".join(words) for words, _, _ in self.rows) + "\n"
        name = os.path.basename(self.program)
        try:
            ran = subprocess.run([*self.user, self.program, "batch", "-"], input=text.encode(), stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, timeout=SECONDS + len(self.rows), check=False,
                                 env=dict(os.environ, NO_COLOR="1"))
            said = ran.stdout.decode("utf-8", "replace")
        except subprocess.TimeoutExpired as waits:
            said = (waits.stdout or b"").decode("utf-8", "replace")
        begin = ends = 0
        for report in re.finditer(r"^batch: line (\d+): exit (\d+).*\n", said, re.MULTILINE):
            words, codes, what = self.rows[int(report[1]) - 1]
            judge(f"{name} {' '.join(words)}: {what}", int(report[2]), codes, said[begin:report.start()])
            begin, ends = report.end(), int(report[1])
        if ends != len(self.rows):
            fail(f"{name} {' '.join(self.rows[ends][0])}: ends the process or waits", said[begin:])
        left = [path for path in outputs() if path not in makes]
        if left:
            fail(f"{name}: left {left}")
        for path in outputs():
            os.remove(path)


def attempt(program, words, codes, what, user=(), **streams):
    """A command in a process of its own."""
    global tried
    tried += 1
    streams.setdefault("stdin", subprocess.DEVNULL)
    streams.setdefault("stdout", subprocess.DEVNULL)
    said = f"{os.path.basename(program)} {' '.join(words)}: {what}"
    try:
        ran = subprocess.run([*user, program, *words], stderr=subprocess.PIPE, timeout=SECONDS, check=False,
                             env=dict(os.environ, NO_COLOR="1"), **streams)
    except subprocess.TimeoutExpired:
        fail(f"{said}: waits")
        return
    judge(said, ran.returncode, codes, ran.stderr.decode("utf-8", "replace"))


def programs(words):
    return [adc, runtime] if words[0] in RUNTIME and not any(word.endswith(".ir") for word in words) else [adc]


def fill(words, **names):
    for name, path in names.items():
        words = [re.sub(rf"\b{name}\b", lambda _: path, word) for word in words]
    return words


def bad_files():
    """Name, kind, and exit codes for who wants a bundle and for who wants text."""
    with open("cpu.adcb", "rb") as file:
        good = file.read()
    rng = random.Random(1)
    files = {"empty": b"", "garbage": bytes(rng.randrange(256) for _ in range(4096)), "text": b"x" * 1000,
             "major": good[:8] + struct.pack("<HH", 9, 0) + good[12:],
             "minor": good[:8] + struct.pack("<HH", 1, 999) + good[12:],
             "feature": good[:8] + struct.pack("<HH", 1, 999) + good[12:44] + struct.pack("<I", 1) + good[48:],
             "longer": good + b"x"}
    for length in (1, 7, 8, 127, 128, 200, len(good) // 2, len(good) - 1):
        files[f"cut{length}"] = good[:length]
    for name, content in files.items():
        for ending in ("", *ENDINGS):
            with open(name + ending, "wb") as file:
                file.write(content)
    for ending in ("", *ENDINGS):
        os.mkdir("folder" + ending)
        os.mkfifo("pipe" + ending)
        shutil.copy("cpu.adcb", "denied" + ending)
        os.chmod("denied" + ending, 0)
    return list(files)


def sweep_inputs(others):
    lines = {adc: Lines(adc), runtime: Lines(runtime)}
    for name in bad_files():
        for words in BUNDLE + BUNDLE_ADC:
            for program in programs(words):
                lines[program].add(fill(words, IN=name), {3}, "a bad bundle")
        for words, codes in OTHER:
            lines[adc].add(fill(words, IN=name), codes, "a bad file")
        for words in SOURCE:
            # No text is a compilation without kernels, and words are formatted as they stand.
            codes = {0, 1, 2, 3} if name == "empty" else {0, 1} if words[0] == "fmt" else {1}
            lines[adc].add(fill(words, IN=name), codes, "bad text")
    for each in lines.values():
        each.run(makes=("out/new",))
    for name, user in (("folder", ()), ("absent", ()), ("pipe", ()), ("denied", others)):
        if name == "denied" and not user:
            continue
        lines = {adc: Lines(adc, user), runtime: Lines(runtime, user)}
        for words in BUNDLE + BUNDLE_ADC:
            for program in programs(words):
                lines[program].add(fill(words, IN=name), {1}, "unreadable")
        # Text and arrays are read from pipes, as `adc <(generate)` needs, and so waited for.
        for words, codes in OTHER:
            if name != "pipe" or "@IN" not in " ".join(words):
                lines[adc].add(fill(words, IN=name), codes | {1, 2}, "unreadable")
        for words in SOURCE:
            if name != "pipe":
                lines[adc].add(fill(words, IN=name), {1}, "unreadable")
        for program, each in lines.items():
            each.run()
            if name != "pipe":
                attempt(program, ["batch", name], {1}, "unreadable", user)
    for name in ("garbage", "cpu.adcb"):
        for program in (adc, runtime):
            attempt(program, ["batch", name], {1}, "no text")


def sweep_outputs(others):
    os.mkdir("taken")
    lines, locked = Lines(adc), Lines(adc, others)
    for words in WRITES:
        makes_folders = words[0] in ("extract", "new")
        if not makes_folders:
            lines.add(fill(words, OUT="none/deep"), {1}, "no such folder")
            lines.add(fill(words, OUT="taken"), {1}, "a folder")
            lines.add(fill(words, OUT="/dev/full"), {1}, "a full disk")
        lines.add(fill(words, OUT="cpu.adcb/x"), {1}, "below a file")
        locked.add(fill(words, OUT="locked/new"), {1}, "a folder without permission")
    beside = ("out/k.adcb", "out/k.h", "out/k.json")
    lines.run(beside)
    if others:
        locked.run(beside)
    for folder in ("taken", "locked"):
        if os.listdir(folder):
            fail(f"{folder} holds {os.listdir(folder)}")


def sweep_prints():
    for words in PRINTS:
        for program in programs(words):
            with open("/dev/full", "wb") as full, open("relax.ir", "rb") as text:
                attempt(program, words, {1}, "standard output is full", stdin=text, stdout=full)
            reader, writer = os.pipe()
            os.close(reader)
            with open("relax.ir", "rb") as text:
                attempt(program, words, {1}, "the reader has gone", stdin=text, stdout=writer, restore_signals=False)
            os.close(writer)


def sweep_words():
    lines = {adc: Lines(adc), runtime: Lines(runtime)}
    for words in USAGE:
        lines[adc].add(words, {2}, "wrong words")
    for words in (["batch"], ["rnu"], ["run"], ["bench", "--nothing"], ["verify", "cpu.adcb"]):
        lines[runtime].add(words, {2}, "wrong words")
    for each in lines.values():
        each.run()


def every_length():
    """A bundle cut at many lengths."""
    with open("cpu.adcb", "rb") as file:
        good = file.read()
    rng = random.Random(2)
    lengths = sorted({*range(0, 200, 3), *(rng.randrange(len(good)) for _ in range(100)), *range(len(good) - 20, len(good))})
    lines = Lines(adc)
    for length in lengths:
        name = f"length{length}"
        with open(name, "wb") as file:
            file.write(good[:length])
        command = rng.choice(["verify", "inspect", "stats", "size", "diff cpu.adcb", "extract -o out", "strip -o out/new"])
        lines.add([*command.split(), name], {3}, "cut short")
    lines.run()


def prepare():
    shutil.copy(os.path.join(samples, "relax.ir"), "relax.ir")
    os.mkdir("out")
    for words in (["--target=cpu", "-o", "cpu.adcb", "relax.ir"], ["--target=cuda", "-o", "cuda.adcb", "relax.ir"],
                  ["--target=cpu", "-O0", "-o", "other.adcb", "relax.ir"]):
        subprocess.run([adc, *words], check=True)
    signs = subprocess.run([adc, "sign", "--new-key=key"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if signs.returncode != 0:  # built without libsodium
        for table in (BUNDLE_ADC, WRITES):
            table[:] = [words for words in table if words[0] != "sign"]
        OTHER[:] = [row for row in OTHER if not any("key" in word for word in row[0])]
    os.chmod(".", 0o755)
    os.chmod("out", 0o777)
    if os.path.exists("key"):
        os.chmod("key", 0o644)
    os.mkdir("locked", 0o755)
    if os.geteuid() == 0 and shutil.which("setpriv"):
        if subprocess.run([*OTHER_USER, adc, "inspect", "cpu.adcb"], capture_output=True, check=False).returncode == 0:
            return OTHER_USER
    print("NO OTHER USER CAN BE BECOME HERE: FILES WITHOUT PERMISSION ARE NOT TRIED")
    return []


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    other_user = prepare()
    sweep_inputs(other_user)
    sweep_outputs(other_user)
    sweep_prints()
    sweep_words()
    every_length()
    os.chdir("/")
print(f"{tried} commands on bad input or places, {len(failures)} not as they have to be")
sys.exit(1 if failures else 0)
