#!/usr/bin/env python3
"""What batch.py makes of a process that answers, crashes, hangs, or says that it is the last one, and that what a
process says when it ends is heard. The tool is this file itself: `check_batch.py batch -`.
"""

import os
import signal
import sys
import time

from batch import Batches


def tool():
    for line in sys.stdin:
        word = line.split()[0]
        print(f"{word} in {os.getpid()}")
        print(f"{word} said", file=sys.stderr, flush=True)
        if word == "crash":
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGSEGV)
        if word == "hang":
            time.sleep(600)
        code = 4 if word in ("last", "fails") else 0
        print(f"batch: line 1: exit {code}, 0.001 s{', the last one' if word == 'last' else ''}", flush=True)
        if word == "last":
            return 4
    print("still held", file=sys.stderr)
    return 4


def main():
    batches, seen, failed = Batches(os.path.abspath(__file__)), [], 0
    wanted = [("good", 0), ("fails", 4), ("crash", -signal.SIGSEGV), ("good", 0), ("last", 4), ("good", 0),
              ("hang", -signal.SIGKILL), ("good", 0)]
    for word, code in wanted:
        done = batches.call([word, "with words"], timeout=60 if word != "hang" else 0.5)
        seen.append(done.stdout.split()[-1])
        why = {"crash": "the process ended in this command line\n", "hang": "no end after 0.5 seconds in this command line\n"}
        good = done.returncode == code and done.stdout == f"{word} in {seen[-1]}\n"
        good = good and done.stderr == f"{word} said\n" + why.get(word, "")
        failed += not good
        if not good:
            print(f"{word}: {done}")
    # A process is left where it ended, and nowhere else.
    same = [one == other for one, other in zip(seen, seen[1:])]
    ends = batches.end()
    good = same == [True, True, False, True, False, True, False] and len(ends) == 1 and "still held" in ends[0]
    if not good:
        print(seen, ends)
    print("ok" if good and not failed else "FAILED")
    return 0 if good and not failed else 1


if __name__ == "__main__":
    sys.exit(tool() if sys.argv[1:] == ["batch", "-"] else main())
