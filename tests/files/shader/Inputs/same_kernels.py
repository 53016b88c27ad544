"""Fails where two texts of the IR differ in more than the names of values. same_kernels.py FIRST SECOND

A text gives names to values that a shader has none for: a result of an atomic that nothing reads is printed if it has one.
"""

import pathlib
import re
import sys

VALUE = r"%[\w.]*\w"


def kernels(path):
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("//"))
    count = {}
    for name in re.findall(VALUE, text):
        count[name] = count.get(name, 0) + 1
    text = re.sub(rf"({VALUE}) = (?=atomic )", lambda found: found[0] if count[found[1]] > 1 else "", text)
    numbers = {}
    return re.sub(VALUE, lambda found: "%" + str(numbers.setdefault(found[0], len(numbers))), text).splitlines()


first, second = (kernels(path) for path in sys.argv[1:])
if not any(line.startswith("kernel ") for line in first):
    sys.exit(sys.argv[1] + " has no kernel")
for number, (one, other) in enumerate(zip(first + ["the end"], second + ["the end"]), 1):
    if one != other:
        sys.exit(f"{number}: {one}\n{number}: {other}")
