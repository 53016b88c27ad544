"""The log of launches' memory (ADRT_TRACE=heap): its lines, and that its figures are those of `adc size`.

    check_trace.py ADC DEVICE SAMPLES

DEVICE is cpu or vulkan. Each case is a kernel with its arguments: it is launched by `adc run`, which logs, and sized by
`adc size`, which computes from the bundle alone.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

NUMBER = r"(\d{1,3}(?:,\d{3})*)"
TASK = re.compile(rf"heap: @(\S+) task (\d+): {NUMBER} iterations, {NUMBER} rows of {NUMBER} bytes = {NUMBER} bytes, "
                  r"(by formula|counted|cached|capped|open), (.*)  \((.*)\)$")
LAUNCH = re.compile(rf"heap: @(\S+) on (\S+): heap {NUMBER} bytes, scratch {NUMBER} of them, "
                    rf"(no budget|budget {NUMBER})(.*)  \((.*)\)$")

GATED = """kernel @gated(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %sel: buffer<f32, 1> readonly, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    if (gt (load %sel[%i]), 0.5) {
      %v = for %t in 0..%n carry(%a = %v0) { yield (mul %a, (add 0.5, (sin %a))) }
      store %y[%i], %v
    }
  }
}
"""
WALK = """kernel @walk(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %limit: f32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = while carry(%a = %v0) {
      continue_if (lt %a, %limit)
    } do {
      yield (add (mul %a, 1.5), (mul 0.01, (sin %a)))
    }
    store %y[%i], %v
  }
}
"""


def number(text):
    return int(text.replace(",", ""))


class Check:
    def __init__(self, adc, device, folder):
        self.adc, self.device, self.folder = adc, device, folder
        self.wrong = []

    def fails(self, condition, what):
        if not condition:
            self.wrong.append(what)

    def call(self, words, trace="heap", code=0):
        environment = dict(os.environ, NO_COLOR="1")
        environment.pop("ADRT_TRACE", None)
        if trace is not None:
            environment["ADRT_TRACE"] = trace
        ran = subprocess.run([self.adc, *words], cwd=self.folder, env=environment, text=True, check=False,
                             capture_output=True)
        self.fails(ran.returncode == code, f"{words} ends with {ran.returncode}: {ran.stderr}")
        return ran

    def compile(self, name, *options):
        target = "cpu" if self.device == "cpu" else "vulkan:1.2"
        bundle = f"{name}{''.join(options)}.adcb"
        self.call([f"{name}.ir", f"--target={target}", *options, "-o", bundle], trace=None)
        return bundle

    def log(self, words, code=0):
        """The task lines and the launch lines of `adc run` or `adc bench`."""
        tasks, launches = [], []
        for line in self.call([words[0], "--trust", "--device", self.device, *words[1:]], code=code).stderr.splitlines():
            if not line.startswith("heap: "):
                continue
            task, launch = TASK.match(line), LAUNCH.match(line)
            self.fails(task or launch, f"not a line of the log: {line}")
            if task:
                tasks.append({"line": line, "iterations": number(task[3]), "rows": number(task[4]),
                              "row_bytes": number(task[5]), "heap_bytes": number(task[6]), "source": task[7],
                              "rest": task[8], "place": task[9], "number": int(task[2])})
            if launch:
                launches.append({"line": line, "heap_bytes": number(launch[3]), "scratch_bytes": number(launch[4]),
                                 "target": launch[2], "budget": launch[5], "rest": launch[7]})
        return tasks, launches

    def compare(self, what, tasks, launches, sizes):
        """One launch, against one object of `adc size --json`."""
        self.fails(len(launches) == 1 and len(tasks) == len(sizes["tasks"]), f"{what}: {len(tasks)} tasks are logged")
        for task in tasks:
            size = sizes["tasks"][task["number"]]
            for figure in ("iterations", "rows", "row_bytes", "heap_bytes", "place"):
                self.fails(task[figure] == size[figure], f"{what}: {figure} is not {size[figure]}: {task['line']}")
        for figure in ("heap_bytes", "scratch_bytes", "target"):
            self.fails(launches[0][figure] == sizes[figure], f"{what}: {figure} is not {sizes[figure]}: {launches[0]['line']}")
        self.fails(f"grown from 0 to {sizes['heap_bytes']:,} bytes" in launches[0]["rest"],
                   f"{what}: the memory is not told: {launches[0]['line']}")

    def case(self, what, bundle, kernel, arguments, source, run_options=(), size_options=()):
        given = [word for text in arguments for word in ("--arg", text)]
        threads = ["--threads", "2" if self.device == "cpu" else "256"]
        tasks, launches = self.log(["run", bundle, "--kernel", kernel, *given, *threads, *run_options])
        shapes = [word for text in arguments if (match := re.match(r"([\w.]+)=(?:random|zeros|ones|full:[\d.]+)\[(\d+)\]$", text))
                  for word in ("--shape", f"{match[1]}={match[2]}")]
        printed = self.call(["size", bundle, "--kernel", kernel, *given, *shapes, *threads, "--json", *size_options])
        self.fails("heap: " not in printed.stderr, f"{what}: adc size launches nothing, and logs")
        self.compare(what, tasks, launches, json.loads(printed.stdout)[0])
        for task in tasks:
            self.fails(task["source"] == source, f"{what}: not {source}: {task['line']}")
        return tasks, launches

    def formulas(self):
        relax = self.compile("relax")
        arguments = ["x=random[1000]", "n=64", "loss.adj=1"]
        self.case("relax", relax, "relax.grad", arguments, "by formula")
        # Half of the memory: half of the threads.
        half = 300 if self.device == "cpu" else 8 * 32 * 256 // 2 + 256
        tasks, launches = self.case("relax in a budget", relax, "relax.grad", arguments, "by formula",
                                    ["--heap-budget", str(half)], ["--budget", str(half)])
        self.fails(f"{1 if self.device == 'cpu' else 128} of {2 if self.device == 'cpu' else 256} threads within the budget"
                   in tasks[0]["rest"], f"half the budget is not half the threads: {tasks[0]['line']}")
        self.fails(launches[0]["budget"] == f"budget {half:,}", f"the budget is not told: {launches[0]['line']}")
        checkpointed = self.compile("relax", "--checkpoint=auto")
        small = 20000 if self.device == "cpu" else 1 << 20
        tasks, _ = self.case("checkpoints", checkpointed, "relax.grad", ["x=random[200]", "n=10000", "loss.adj=1"],
                             "by formula", ["--heap-budget", str(small)], ["--budget", str(small)])
        self.fails(re.search(r"checkpoints every [\d,]+ iterations", tasks[0]["rest"]), f"no checkpoints: {tasks[0]['line']}")
        # What lies in a buffer is read.
        csr = self.compile("csr_reduce")
        self.case("csr_reduce", csr, "csr_reduce.grad",
                  ["start=[0,2,2,40,50]", "column=zeros[50]", "value=random[50]", "x=random[8]", "y=zeros[4]", "y.adj=ones[4]"],
                  "by formula")
        # Without the variable nothing is logged, and a word that means nothing is an error.
        words = ["run", "--trust", "--device", self.device, relax, "--kernel", "relax.grad", "--arg", "x=ones[2]", "--arg", "n=3"]
        for trace in (None, ""):
            self.fails(self.call(words, trace).stderr == "", "it logs what nobody asked for")
        self.fails("ADRT_TRACE=heaps" in self.call(words, "heaps", 2).stderr, "a wrong word is not named")

    def counts(self):
        (self.folder / "gated.ir").write_text(GATED, encoding="utf-8")
        (self.folder / "walk.ir").write_text(WALK, encoding="utf-8")
        gated = self.compile("gated")
        open_gates = [1 if i % 10 == 0 else 0 for i in range(1000)]
        arguments = ["x=random[1000]", "y=zeros[1000]", "n=9", "y.adj=ones[1000]", f"sel={open_gates}".replace(" ", "")]
        counted = self.device != "cpu"  # there a worker has a row, whatever it meets
        tasks, _ = self.case("gates", gated, "gated.grad", arguments, "counted" if counted else "by formula",
                             ["--size-threshold", "1"], ["--pass", "0.1"])
        if counted:
            self.fails(", 100 pass the gate at gated.ir:4:5: 128 rows of 40 bytes" in tasks[0]["rest"],
                       f"the gate is not told: {tasks[0]['line']}")
        # What no formula says: 0.5 * 1.5^k passes 1000 after 19 steps or fewer; the tape holds each of them.
        walk = self.compile("walk")
        given = ["--kernel", "walk.grad", "--arg", "x=full:0.5[100]", "--arg", "y=zeros[100]", "--arg", "limit=1000",
                 "--arg", "y.adj=ones[100]"]
        tasks, launches = self.log(["run", walk, *given, "--threads", "2"])
        self.fails(len(tasks) == 1 and tasks[0]["source"] == "counted", f"walk.grad does not count: {tasks}")
        self.fails(19 * 4 <= tasks[0]["row_bytes"] <= 128, f"not a tape of 19 steps: {tasks[0]['line']}")
        fixed = launches[0]["heap_bytes"] - tasks[0]["heap_bytes"]
        self.fails(0 <= fixed <= 512, f"the heap is not its rows: {launches[0]['line']}")
        tasks, _ = self.log(["run", walk, *given, "--threads", "2", "--adstack-cap", "65536"])
        self.fails([task["source"] for task in tasks] == ["capped"], f"no cap: {tasks}")

    def repeated(self):
        """A plan that is launched again takes what it knows."""
        relax = self.compile("relax")
        tasks, launches = self.log(["bench", relax, "--kernel", "relax.grad", "--arg", "x=random[1000]", "--arg", "n=64"])
        self.fails(tasks and len(tasks) == len(launches), "adc bench does not log each launch")
        sources = [task["source"] for task in tasks]
        self.fails(sources.count("by formula") < len(sources) and "cached" in sources, f"nothing is kept: {sources}")
        self.fails(len({task["heap_bytes"] for task in tasks}) == 1, "what is kept differs from what was computed")


def main():
    adc, device, samples = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for sample in ("relax.ir", "csr_reduce.ir"):
            (folder / sample).write_bytes((pathlib.Path(samples) / sample).read_bytes())
        check = Check(adc, device, folder)
        check.formulas()
        check.counts()
        check.repeated()
    print("\n".join(check.wrong) or "the log is as adc size says")
    return 1 if check.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
