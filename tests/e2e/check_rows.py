#!/usr/bin/env python3
"""Holds the table of what must come out right against the tests that say which rows they prove.

Usage: check_rows.py TESTS_FOLDER

Reads e2e/behaviours/rows.txt: a name and a line of meaning per row. A program (*.ir) says `// row: NAMES`, a Catch2 test
has [row:NAME] among its tags, a script has it in a comment. Fails on a row without a test, on a test of a row that is
not in the table, and on a program of e2e/behaviours that names no row.
"""

import os
import re
import sys


def files(folder, *ends):
    for path, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith(ends) and name != os.path.basename(__file__):
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    yield os.path.relpath(os.path.join(path, name), folder), file.read()


def main():
    tests = sys.argv[1]
    with open(os.path.join(tests, "e2e/behaviours/rows.txt"), encoding="utf-8") as file:
        table = [line for line in file if line.strip() and not line.startswith("#")]
    lines = [line.removeprefix("? ").split(None, 1) for line in table]
    awaited = {name for line, (name, _) in zip(table, lines) if line.startswith("? ")}
    rows = {name: [] for name, _ in lines}
    mistakes = [] if len(rows) == len(lines) else ["rows.txt has a row twice"]
    for path, text in files(tests, ".ir", ".cpp", ".h", ".py"):
        named = [name for line in re.findall(r"^// row: (.*)$", text, re.M) for name in line.split()]
        if not path.endswith(".ir"):
            named = re.findall(r"\[row:(\w+)\]", text)
        elif not named and path.startswith(os.path.join("e2e", "behaviours")):
            mistakes.append(f"{path} names no row")
        for name in named:
            if name in rows:
                rows[name].append(path)
            else:
                mistakes.append(f"{path}: rows.txt has no row '{name}'")
    for name, meaning in lines:
        if name in awaited and not rows[name]:
            print(f"row {name} AWAITS ITS TEST: {meaning.strip()}")
        elif name in awaited:
            mistakes.append(f"row {name} has a test, and rows.txt still says that it has none")
        elif not rows[name]:
            mistakes.append(f"row {name} ({meaning.strip()}) has no test")
    for mistake in mistakes:
        print(mistake)
    print(f"{len(rows)} rows, {sum(map(len, rows.values()))} mentions in tests, {len(mistakes)} mistakes")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
