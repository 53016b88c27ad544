"""Command lines of a tool, run one after the other in a process that stays: `adc batch -`.

A process that ends within a command line, or does not come to its end in time, is that line's failure, and another
one takes the lines behind it.
"""

import os
import re
import select
import shlex
import subprocess
import tempfile
import threading
import time

REPORT = re.compile(rb"^batch: line \d+: exit (\d+), [0-9.]+ s(, the last one)?\n\Z", re.M)


RUNS_CODE = ("run", "gradcheck", "bench")


def trusting(words):
    """The words of a command line that runs code, if it runs any: what tests run was compiled for them."""
    runs = words and words[0] in RUNS_CODE and "--confined" not in words
    return [words[0], "--trust", *words[1:]] if runs else words


class Batch:
    """One process, used by one thread. `tool`: a path, or the words that start it, without `batch -`."""

    def __init__(self, tool):
        self.tool = [tool] if isinstance(tool, str) else list(tool)
        self.process, self.errors = None, None

    def start(self):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([*self.tool, "batch", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, bufsize=0)

    def call(self, words, timeout):
        """As subprocess.run gives it: returncode, stdout and stderr of this command line alone."""
        if self.process is None:
            self.start()
        self.errors.seek(0, os.SEEK_END)
        before = self.errors.tell()
        output, late = self.read_report(words, time.monotonic() + timeout)
        report = REPORT.search(output)
        if report:
            code, output, more = int(report.group(1)), output[:report.start()], ""
        else:
            if late:
                self.process.kill()
            code = self.process.wait()
            more = f"{f'no end after {timeout} seconds' if late else 'the process ended'} in this command line\n"
        self.errors.seek(before)
        errors = self.errors.read().decode(errors="replace") + more
        if not report or report.group(2):
            self.close()
        return subprocess.CompletedProcess(words, code, output.decode(errors="replace"), errors)

    def read_report(self, words, deadline):
        """Gives the process a line. What it prints, up to its report or its end, and whether neither came in time."""
        output = b""
        try:
            self.process.stdin.write(shlex.join(trusting(words)).encode() + b"\n")
        except BrokenPipeError:
            return output, False
        while not REPORT.search(output):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                return output, True
            more = os.read(self.process.stdout.fileno(), 1 << 20)
            if not more:
                break
            output += more
        return output, False

    def close(self):
        """Ends the process. Its exit code, and what it printed to standard error in ending."""
        self.errors.seek(0, os.SEEK_END)
        before = self.errors.tell()
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.stdout.close()
        code = self.process.wait()
        self.errors.seek(before)
        said = self.errors.read().decode(errors="replace")
        self.errors.close()
        self.process = None
        return code, said

    def end(self):
        """What is wrong with how the process ends, as it closes its devices; exit code 1: some command line failed."""
        code, said = self.close() if self.process is not None else (0, "")
        return "" if code in (0, 1) else f"the process of many command lines ended with exit {code}\n{said}"


class Batches:
    """A process for each thread that calls. `tool`: a path, or the words that start it."""

    def __init__(self, tool):
        self.tool = tool
        self.own, self.all, self.lock = threading.local(), [], threading.Lock()

    def call(self, words, timeout=300):
        if not hasattr(self.own, "batch"):
            self.own.batch = Batch(self.tool)
            with self.lock:
                self.all.append(self.own.batch)
        return self.own.batch.call(words, timeout)

    def end(self):
        """Ends all. What was wrong, a text each."""
        return [said for said in (batch.end() for batch in self.all) if said]
