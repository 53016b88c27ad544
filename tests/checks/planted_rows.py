#!/usr/bin/env python3
"""Plants rows without a meaning in a copy of lib/ir/ops.def: compilation fails at each place that gives rows one.

One row for each kind of operation. The files that hold the switches are parsed with the commands that build them, and
every switch of the list below has to be reported with the rows that it lacks, and no other error. A switch that takes
an unknown row for the last one it knows would compile.

  planted_rows.py --root SOURCE --commands compile_commands.json --work FOLDER
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROWS = """
ADC_OP(NewFunction, "new_function", Function, Unary, SameFloat, Pure, Plain, Partials, "")
ADC_OP(NewOwnText, "new_own_text", Function, Unary, SameFloat, Pure, OwnText, Partials, "")
ADC_OP(NewUnary, "new_unary", Arithmetic, Unary, SameNumber, Pure, Exact, Partials, "")
ADC_OP(NewBinary, "new_binary", Arithmetic, Binary, SameNumber, Pure, Exact, Partials, "")
ADC_OP(NewTernary, "new_ternary", Arithmetic, Ternary, SameFloat, Pure, Exact, Partials, "")
ADC_OP(NewFlip, "new_flip", Bits, Unary, SameBits, Pure, Plain, None, "")
ADC_OP(NewBits, "new_bits", Bits, Binary, SameBits, Pure, Plain, None, "")
ADC_OP(NewClass, "new_class", Composed, Unary, Classify, Pure, Exact, None, "")
ADC_OP(NewCompare, "new_compare", Compare, Binary, Compare, Pure, Plain, None, "")
ADC_OP(NewVector, "new_vector", Vector, Binary, DotRule, Pure, Plain, Partials, "")
ADC_OP(NewAtomic, "atomic new", Atomic, Access, AtomicRule, Atomic, Plain, Memory, "")
ADC_OP(NewControl, "new_control", Control, Control, ControlRule, Control, Plain, Control, "")
ADC_OP(NewStack, "stack.new_one", Stack, StackForm, StackPopRule, StackOp, Plain, Memory, "")
ADC_OP(NewRow, "row.new_one", Row, RowForm, RowClaimRule, Pure, Plain, None, "")
"""

FUNCTIONS = {"NewFunction", "NewOwnText"}
# By file the sets that it switches over, and the rows that each lacks.
PLACES = {
    "lib/ir/scalar_math.h": {
        "FloatUnaryOp": FUNCTIONS | {"NewUnary"}, "FloatBinaryOp": {"NewBinary"}, "IntegerUnaryOp": {"NewUnary", "NewFlip"},
        "IntegerBinaryOp": {"NewBinary", "NewBits"}, "BoolUnaryOp": {"NewFlip"}, "BoolBinaryOp": {"NewBits"},
        "Classification": {"NewClass"}, "CompareOp": {"NewCompare"}},
    "lib/ir/op.cpp": {"CompareOp": {"NewCompare"}},
    "lib/ir/eval.cpp": {"ScalarTernaryOp": {"NewTernary"}},
    "lib/ir/reduction.h": {"UpdateOp": {"NewAtomic"}},
    "lib/interp/tangent_rules.h": {"FloatUnaryOp": FUNCTIONS | {"NewUnary"}, "FloatBinaryOp": {"NewBinary"}},
    "lib/interp/memory.cpp": {"UpdateOp": {"NewAtomic"}, "RowOp": {"NewRow"}},
    "lib/interp/lower.cpp": {"ControlOp": {"NewControl"}},
    "lib/interp/lower_memory.cpp": {"StackOp": {"NewStack"}},
    "lib/interp/lower_vector.cpp": {"VectorOp": {"NewVector"}},
    "lib/autodiff/forward_rules.cpp": {"AccessOp": {"NewAtomic"}},
    "lib/transform/scalarise.cpp": {"VectorOp": {"NewVector"}},
    "lib/sizing/bounds.cpp": {
        "ArithmeticOp": {"NewUnary", "NewBinary", "NewTernary"}, "BitsOp": {"NewFlip", "NewBits"}, "ControlOp": {"NewControl"},
        "CompareOp": {"NewCompare"}},
    "lib/codegen/common/math_names.cpp": {"LibraryFunction": {"NewFunction"}},
    "lib/codegen/llvm/scalars.cpp": {
        "FloatUnaryInstruction": {"NewUnary"}, "FloatBinaryInstruction": {"NewBinary"},
        "IntegerUnaryInstruction": {"NewUnary", "NewFlip"}, "IntegerBinaryInstruction": {"NewBinary", "NewBits"},
        "CompareOp": {"NewCompare"}},
    "lib/codegen/llvm/memory.cpp": {"UpdateOp": {"NewAtomic"}},
    "lib/codegen/spirv/scalars.cpp": {
        "FloatUnaryInstruction": {"NewUnary"}, "FloatBinaryInstruction": {"NewBinary"},
        "IntegerUnaryInstruction": {"NewUnary", "NewFlip"}, "IntegerBinaryInstruction": {"NewBinary", "NewBits"},
        "BoolBinaryOp": {"NewBits"}, "LibraryFunction": {"NewFunction"}, "CompareOp": {"NewCompare"}},
    "lib/codegen/spirv/atomics.cpp": {"UpdateOp": {"NewAtomic"}},
}
# Headers are parsed with the files that include them.
FILES = sorted({{"lib/interp/tangent_rules.h": "lib/interp/arithmetic.cpp"}.get(file, file) for file in PLACES} - {
    "lib/ir/scalar_math.h", "lib/ir/reduction.h"})
SWITCH = re.compile(r"^(\S+?):(\d+):\d+: error: (?:(\d+) )?enumeration values? .*not handled in switch(?::| )?", re.M)


def parse(entry, planted):
    words, skip = [], 0
    command = shlex.split(entry["command"])
    for number, word in enumerate(command):
        if skip:
            skip -= 1
        elif word == "-Xclang" and command[number + 1] in ("-include", "-include-pch"):
            skip = 3  # of the precompiled header, which holds none of ours
        elif word in ("-o", "-c"):
            skip = int(word == "-o")
        elif not word.startswith("-ffile-prefix-map"):
            words.append(word)
    compiler = next(n for n, word in enumerate(words) if re.search(r"(clang|g)\+\+[-\d.]*$", word))
    words = [*words[compiler:compiler + 1], f"-I{planted}", *words[compiler + 1:], "-fsyntax-only", "-ferror-limit=0"]
    return subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option in ("--root", "--commands", "--work"):
        parser.add_argument(option, type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    planted = arguments.work.resolve() / "planted"
    (planted / "ir").mkdir(parents=True, exist_ok=True)
    (planted / "ir/ops.def").write_text((root / "lib/ir/ops.def").read_text() + ROWS)
    commands = {os.path.relpath(entry["file"], root): entry for entry in json.loads(arguments.commands.read_text())}
    faults, found = [], {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = dict(zip(FILES, pool.map(lambda file: parse(commands[file], planted), FILES)))
    for file, run in runs.items():
        for place in re.finditer(r"^(\S+?):(\d+):\d+: error: (.*)$", run.stderr, re.M):
            at, text = os.path.relpath(os.path.join(commands[file]["directory"], place[1]), root), place[3]
            line = (root / at).read_text().splitlines()[int(place[2]) - 1]
            switched = re.search(r"switch \(.*?(\w+)>\(", line)
            if "not handled in switch" not in text:
                faults.append(f"{at}:{place[2]}: another error: {text}")
            else:
                name = switched[1] if switched else line.strip()
                found.setdefault(at, {}).setdefault(name, set()).update(re.findall(r"'(\w+)'", text))
    for file in sorted(PLACES.keys() | found.keys()):
        for name in sorted(PLACES.get(file, {}).keys() | found.get(file, {}).keys()):
            wanted, got = PLACES.get(file, {}).get(name, set()), found.get(file, {}).get(name, set())
            if wanted != got:
                faults.append(f"{file}: the switch over {name} lacks {sorted(wanted)}, the compiler says {sorted(got)}")
    print("\n".join(faults) or f"{sum(len(names) for names in PLACES.values())} switches in {len(PLACES)} files want the new rows")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
