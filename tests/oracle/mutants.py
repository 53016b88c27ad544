#!/usr/bin/env python3
"""Plants faults in the compiler, one at a time, and counts how many random kernels it takes until the oracle sees each.

Usage: mutants.py [--build FOLDER] [--seed N] [--count N] [--seconds N] [--only NAME,...] [--features FEATURE,...] [--list] [--on cpu-contract,...]

The checkout is changed and put back while this runs: use one of its own, with a build folder (build/release) in it. What
nobody sees shows what generator or oracle lack. Not part of the tests: each fault costs a file and a link.
"""

import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Name, class, file under lib/, the text that stands there once, what stands there instead.
MUTANTS = [
    ("store-of-constant", "differentiation", "autodiff/reverse_memory.cpp", "    } else {\n      store(builder_.Zero(type));\n    }", "    }"),
    ("two-winners", "differentiation", "autodiff/reverse_memory.cpp",
     "builder_.Access(Op::AtomicExchange, memory, indices, {&zero, 1}, data.attr, data.component)",
     "builder_.Load(memory, indices, data.attr, data.component)"),
    ("undo-of-difference", "differentiation", "autodiff/reverse_control.cpp",
     "return first ? builder_.Make(Op::Add, {state, other}) : builder_.Make(Op::Sub, {other, state});",
     "return builder_.Make(Op::Add, {state, other});"),
    ("array-undo-order", "differentiation", "autodiff/reverse_arrays.cpp", "for (size_t n = tape.undo.stores.size(); n-- > 0;) {",
     "for (size_t n = 0; n < tape.undo.stores.size(); ++n) {"),
    ("last-checkpoint-of-reversed", "differentiation", "autodiff/reverse_forward_loop.cpp",
     "Value last = reversed ? built_.Operand(loop, 0)", "Value last = reversed && false ? built_.Operand(loop, 0)"),
    ("last-segment-results", "differentiation", "autodiff/reverse_forward_loop.cpp", "    if (!known) return false;\n", ""),
    ("trips-of-last-segment", "differentiation", "autodiff/reverse_forward_loop.cpp",
     "if (after.Valid()) result", "if (after.Valid() && n > 0) result"),
    ("tangent-of-constant-stays", "differentiation", "autodiff/forward_rules.cpp", "if (sums && !Tangent(v).Valid() && !result_varied) return;",
     "if ((sums || data.op == Op::Store) && !Tangent(v).Valid() && !result_varied) return;"),
    ("quotient-of-mod", "differentiation", "autodiff/partials.ir",
     "func @mod.b(%s: real, %a: real, %b: real, %r: real) -> real {\n  %multiple = sub %a, %r\n  %ratio = div %multiple, %b\n  %quotient = round %ratio",
     "func @mod.b(%s: real, %a: real, %b: real, %r: real) -> real {\n  %multiple = sub %a, %r\n  %ratio = div %multiple, %b\n  %quotient = trunc %ratio"),
    ("overwritten-is-taken", "differentiation", "autodiff/clobber.cpp", "if (repeated && facts_.MayOverwriteLater(load, write)) {",
     "if (repeated && facts_.MayOverwriteLater(load, write) && facts_.TaskOf(load) == facts_.TaskOf(write)) {"),
    ("extremum-read-between", "differentiation", "autodiff/clobber.cpp", "  CheckReadsBetween(atomic);\n}", "}"),
    ("trips-floor", "sizing", "sizing/trip_count.cpp",
     "builder.Make(Op::Div, {builder.Make(Op::Add, {length, builder.I64(*step - 1)}), builder.I64(*step)})",
     "builder.Make(Op::Div, {length, builder.I64(*step)})"),
    ("flag-bits", "sizing", "adstack/flag_words.cpp", "builder.Int(type, kFlagsPerWord - 1)", "builder.Int(type, kFlagsPerWord / 4 - 1)"),
    ("bound-of-difference", "sizing", "sizing/bounds.cpp", "algebra_.Clamp0(algebra_.Sub(high.upper, low.lower))",
     "algebra_.Clamp0(algebra_.Sub(high.lower, low.lower))"),
    ("taken-for-distinct", "races", "autodiff/accumulate.cpp", "if (!facts.DistinctAcross(loop, one, other)) return false;",
     "if (!facts.DistinctAcross(loop, one, other) && one == other) return true;"),
    ("nothing-decides", "codegen", "analysis/decisions.cpp", "  while (!pending_.empty()) {\n    Value value",
     "  while (!pending_.empty() && aliased_.size() == SIZE_MAX) {\n    Value value"),
    ("kink-decisions", "codegen", "analysis/decisions.cpp", "data.op == Op::Rem || data.op == Op::Mod || data.op == Op::Min || data.op == Op::Max ||",
     "data.op == Op::Rem || data.op == Op::Mod ||"),
    ("known-cell-overwritten", "codegen", "transform/memory_state.cpp",
     "if (facts_.SameIteration(known.from, from) != Relation::Distinct) continue;",
     "if (facts_.SameIteration(known.from, from) == Relation::Same) continue;"),
    ("loop-writes-forgotten", "codegen", "transform/memory_state.cpp",
     "for (uint32_t memory_class : facts_.memory().WrittenIn(control)) Clobber(memory_class);", "(void)control;"),
    ("singular-stays", "codegen", "transform/sink_singular.cpp", "if (!by_literal && ir::Has(data.op, ir::Singular)) return true;",
     "if (!by_literal && data.op == Op::Div) return true;"),
    ("log1p-rest", "codegen", "transform/composed.ir", "  %y = add (log %u), %rest", "  %y = add (log %u), (mul %rest, 0.0)"),
    ("sums-subtract", "codegen", "codegen/llvm/sums.cpp", "Combine(sum.what->reduction, kernel_[inst].op == Op::AtomicSub,",
     "Combine(sum.what->reduction, false,"),
    ("shift-modulo", "codegen", "codegen/llvm/scalars.cpp", "if (op == Op::Shl) return builder_.CreateShl(a, amount);",
     "if (op == Op::Shl) return builder_.CreateShl(a, b);"),
]


def said(command, **more):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **more)


def seen(options, build, level):
    """Number of kernels until something is not right and what it is, or None and how many were right."""
    adc = os.path.join(build, "tools/adc/adc")
    outcome = said([sys.executable, os.path.join(ROOT, "tests/oracle/fuzz.py"), "--seed", str(options.seed), "--count", str(options.count),
                    "--seconds", str(options.seconds), "--stop", "--rotate", "--level", str(level), "--on", options.on, *(["--only", options.features] if options.features else []), adc])
    done = re.search(r"^(\d+) kernels in", outcome.stdout, re.M)
    first = re.search(r"^\d+ on (.*)", outcome.stdout, re.M)
    if not done:
        return None, outcome.stdout[-300:] + outcome.stderr[-300:]
    return int(done.group(1)), first.group(1)[:90] if outcome.returncode and first else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seconds", type=int, default=90)
    parser.add_argument("--on", default="cpu-contract,cpu-strict,cpu-fast")
    parser.add_argument("--only", default="")
    parser.add_argument("--features", default="", help="what the kernels are made of, as fuzz.py --only")
    parser.add_argument("--list", action="store_true", help="name them, and check that each place is there")
    options = parser.parse_args()
    missing = 0
    for name, kind, path, old, new in MUTANTS:
        if options.only and name not in options.only.split(","):
            continue
        path = os.path.join(ROOT, "lib", path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.count(old) != 1:
            print(f"{name}: the text stands {text.count(old)} times in {path}", flush=True)
            missing += 1
            continue
        if options.list:
            print(f"{kind} {name}")
            continue
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(old, new))
            built = said(["cmake", "--build", options.build, "-j2", "--target", "adc"])
            if built.returncode:
                print(f"{kind} {name}: does not build\n{built.stdout[-600:]}", flush=True)
                missing += 1
                continue
            # Without optimisation LLVM contracts nothing, whatever it may.
            count, what = seen(options, options.build, 1 if kind == "codegen" else 0)
            print(f"{kind} {name}: " + (f"seen by kernel {count}: {what}" if what else f"not seen in {count} kernels"), flush=True)
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
