#!/usr/bin/env python3
"""Plants faults in the compiler, one at a time, and says which suite sees each.

Usage: mutants.py [--build FOLDER] [--only NAME,...] [--pass PASS,...] [--list]
                  [--kernels [--seed N] [--count N] [--seconds N] [--features FEATURE,...] [--on cpu-contract,...]]

Each fault is a change of one pass: an operator swapped, a guard dropped. It is built into `adc`, and the suites that own
the pass run until one fails: folders of tests/files by their name, the programs of tests/e2e/gradients (`gradients`) or
one of them (`gradients/NAME.ir`), the grid of operations (`grid`), sums with --deterministic (`deterministic`). A fault that no suite sees lacks a test.
--kernels counts instead how many random kernels it takes until the oracle sees each: what nobody sees shows what
generator or oracle lack.

The checkout is changed and put back while this runs: use one of its own, with a build folder (build/release) in it. Not
part of the tests: each fault costs a file and a link. Exits with 1 where a fault was not seen or not planted.
"""

import argparse
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIT = "/usr/lib/llvm-19/build/utils/lit/lit.py"

# Pass, name, file under lib/, the suites that must catch it, the text that stands there once, what stands there instead.
MUTANTS = [
    ("exits", "break-goes-on", "transform/exits.cpp", "opt/exits",
     "from_[inst].op == Op::Continue ? 1 : 0",
     "from_[inst].op == Op::Continue ? 1 : 1"),
    ("exits", "way-of-another-scope", "transform/exits.cpp", "opt/exits",
     "return one.target == target;",
     "return one.target != form.inst;"),
    ("exits", "end-of-branch-leaves", "transform/exits.cpp", "opt/exits",
     "return WithZeros(std::move(values), form);\n  }\n\n  /// Whether control",
     "for (const Way& way : form.ways) {\n      if (way.taken != kNowhere) values[way.taken] = builder_.Int(ir::kI1, 1);\n    }\n"
     "    return WithZeros(std::move(values), form);\n  }\n\n  /// Whether control"),
    ("inline", "first-result-for-all", "transform/inline.cpp", "opt/inline",
     "Value value = cloner.Map(callee.Operand(exit, n));",
     "Value value = cloner.Map(callee.Operand(exit, 0));"),
    ("unroll", "unroll-rounds-down", "analysis/loops.cpp", "opt/unroll",
     "return (distance - 1) / static_cast<uint64_t>(step) + 1;",
     "return distance / static_cast<uint64_t>(step);"),
    ("unroll", "unroll-forwards", "transform/unroll.cpp", "opt/unroll",
     "? trips - 1 - trip : trip;",
     "? trip : trip;"),
    ("guard-tasks", "else-runs-too", "transform/guard_tasks.cpp", "opt/guard-tasks",
     "Value guard = r == 0 ? condition : builder_.Make(Op::Not, {condition});",
     "Value guard = condition;"),
    ("guard-tasks", "outer-guard-dropped", "transform/guard_tasks.cpp", "opt/guard-tasks",
     "      if (outer.Valid()) guard = builder_.Make(Op::And, {outer, guard});\n",
     "      (void)outer;\n"),
    ("scalarise", "determinant-sign", "transform/matrix_expansion.cpp", "opt/scalarise",
     "sum = Sub(sum, Mul(a[1], Minor(a[3], a[5], a[6], a[8])));",
     "sum = Add(sum, Mul(a[1], Minor(a[3], a[5], a[6], a[8])));"),
    ("mem2reg", "else-sees-then", "transform/memory_to_registers.cpp", "opt/mem2reg",
     "n < stored.size() && data.op == Op::If; ++n)",
     "n < stored.size() && false; ++n)"),
    ("mem2reg", "index-at-the-end", "transform/memory_to_registers.cpp", "opt/mem2reg",
     "*index >= static_cast<int64_t>(count)",
     "*index > static_cast<int64_t>(count)"),
    ("locals", "way-of-a-branch-is-its-value", "transform/memory_to_registers.cpp", "opt/locals",
     "      if (ends) Add(cell, given_by_[owner]);",
     "      Add(cell, given_by_[owner]);"),
    ("locals", "read-outside-is-inside", "transform/memory_to_registers.cpp", "opt/locals",
     "one.first_load < structure_.Position(control) || one.last_load >= structure_.End(control);",
     "one.first_load < structure_.Position(control);"),
    ("sink-singular", "singular-stays", "transform/sink_singular.cpp", "opt/sink-singular",
     "if (!by_literal && ir::Has(data.op, ir::Singular)) return true;",
     "if (!by_literal && data.op == Op::Div) return true;"),
    ("simplify", "known-cell-overwritten", "transform/memory_state.cpp", "opt/simplify",
     "if (facts_.SameIteration(known.from, from) != Relation::Distinct) continue;",
     "if (facts_.SameIteration(known.from, from) == Relation::Same) continue;"),
    ("simplify", "loop-writes-forgotten", "transform/memory_state.cpp", "opt/simplify",
     "for (uint32_t memory_class : facts_.memory().WrittenIn(control)) Clobber(memory_class);",
     "(void)control;"),
    ("isolate-tasks", "overwritten-is-repeated", "transform/isolate_tasks.cpp", "opt/isolate-tasks",
     "      if (memory_.IsWrittenBetween(memory_.ClassOf(inst), structure_.Position(inst), end)) return false;\n",
     "      (void)end;\n"),
    ("check-primals", "one-iteration-races", "autodiff/write_races.cpp", "autodiff",
     "if (!dependence.On(axis) && !facts_.RunsOnce(loop, axis)) return axis;",
     "if (!dependence.On(axis)) return axis;"),
    ("check-primals", "even-steps-count", "autodiff/write_races.cpp", "autodiff",
     "if (!step || *step % 2 == 0) continue;",
     "if (!step) continue;"),
    ("save-overwritten", "only-written-are-saved", "autodiff/save_overwritten.cpp", "autodiff",
     "!(config.overwritten && memory.IsWritten(memory.ClassOf(buffer, field)));",
     "!(config.overwritten && !memory.IsWritten(memory.ClassOf(buffer, field)));"),
    ("checkpoint", "segments-all-whole", "transform/block_loops.cpp", "opt/checkpoint",
     "Value steps = builder_.Make(Op::Min, {segment, builder_.Make(Op::Sub, {count, begin})});",
     "Value steps = segment;"),
    ("reverse", "store-of-constant", "autodiff/adjoint_sweep_memory.cpp", "gradients/memory_sum_then_use.ir",
     "    } else {\n      store(builder_.Zero(type));\n    }",
     "    }"),
    ("reverse", "two-winners", "autodiff/adjoint_sweep_memory.cpp", "gradients/atomic_minmax_grad.ir",
     "builder_.Access(Op::AtomicExchange, memory, indices, {&zero, 1}, data.attr, data.component)",
     "builder_.Load(memory, indices, data.attr, data.component)"),
    ("reverse", "undo-of-difference", "autodiff/adjoint_sweep.cpp", "gradients/undone_state.ir",
     "return first ? builder_.Make(Op::Add, {state, other}) : builder_.Make(Op::Sub, {other, state});",
     "return builder_.Make(Op::Add, {state, other});"),
    ("reverse", "array-undo-order", "autodiff/adjoint_sweep_arrays.cpp", "gradients/array_twice.ir",
     "for (size_t n = tape.undo.stores.size(); n-- > 0;) {",
     "for (size_t n = 0; n < tape.undo.stores.size(); ++n) {"),
    ("reverse", "last-checkpoint-of-reversed", "autodiff/sweep.cpp", "gradients/undone_state.ir",
     "Value last = reversed ? built_.Operand(loop, 0)",
     "Value last = reversed && false ? built_.Operand(loop, 0)"),
    ("reverse", "trips-of-last-segment", "autodiff/primal_sweep_loop.cpp", "gradients/undone_state.ir",
     "if (after.Valid()) result",
     "if (after.Valid() && n > 0) result"),
    ("reverse", "quotient-of-mod", "autodiff/partials.ir", "gradients/mod_quotient.ir",
     "func @mod.b(%s: real, %a: real, %b: real, %r: real) -> real {\n  %multiple = sub %a, %r\n  %ratio = div %multiple, %b\n  %quotient = round %ratio",
     "func @mod.b(%s: real, %a: real, %b: real, %r: real) -> real {\n  %multiple = sub %a, %r\n  %ratio = div %multiple, %b\n  %quotient = trunc %ratio"),
    ("reverse", "overwritten-is-taken", "autodiff/clobber.cpp", "gradients/refuse_bound_overwritten.ir",
     "if (repeated && facts_.MayOverwriteLater(load, write)) {",
     "if (repeated && facts_.MayOverwriteLater(load, write) && facts_.TaskOf(load) == facts_.TaskOf(write)) {"),
    ("reverse", "extremum-read-between", "autodiff/clobber.cpp", "autodiff",
     "  CheckReadsBetween(atomic);\n}",
     "}"),
    ("reverse", "used-through-branch", "autodiff/activity.cpp", "opt/reverse",
     "for (ir::Block region : data.regions) mark(function_.Operand(function_.Terminator(region), k));",
     "mark(function_.Operand(function_.Terminator(data.regions[0]), k));"),
    ("reverse", "cut-too-early", "autodiff/cut.cpp", "opt/reverse",
     "if (reaches[from] || edges_[e ^ 1].capacity == 0) continue;",
     "if (reaches[from]) continue;"),
    ("reverse", "undo-reads-the-loop", "autodiff/restore.cpp", "gradients/undone_state.ir",
     "source && AvailableAtEntry(function, tree, loop, b))",
     "source)"),
    ("reverse", "held-over-writes", "autodiff/held_updates.cpp", "gradients/memory_forms.ir",
     "      if (memory_class != analysis::kNoClass && memory.IsWrittenIn(memory_class, loop)) break;\n",
     "      (void)memory_class;\n"),
    ("reverse", "empty-loop-flushes", "autodiff/adjoint_sweep_memory.cpp", "autodiff",
     "if (built_.IsConstant(ran)) {",
     "if (true) {"),
    ("reverse", "partials-unguarded", "autodiff/structural_zeros.cpp", "gradients/selected.ir",
     "if (seed.Valid() || begins) into_.seed_of_[inst] = seed.Valid() ? seed : inst;",
     "if (seed.Valid() && begins) into_.seed_of_[inst] = seed.Valid() ? seed : inst;"),
    ("reverse", "side-unmasked", "autodiff/adjoint_sweep_rules.cpp", "gradients/selected.ir",
     "  if (from == to) return g;\n",
     "  if (from == to || zeros_.Side(from).depth == 2) return g;\n"),
    ("forward", "tangent-of-constant-stays", "autodiff/forward_rules.cpp", "gradients/memory_sum_then_use.ir",
     "if (sums && !Tangent(v).Valid() && !result_varied) return;",
     "if ((sums || data.op == Op::Store) && !Tangent(v).Valid() && !result_varied) return;"),
    ("derived", "arrays-stay", "driver/pipeline.cpp", "opt/derived",
     "MemoryToRegisters(state) && transform::Simplify(state.module, {Folding(state)}, state.diagnostics);",
     "transform::Simplify(state.module, {Folding(state)}, state.diagnostics);"),
    ("accumulate", "taken-for-distinct", "autodiff/accumulate.cpp", "opt/accumulate",
     "if (!facts.DistinctAcross(loop, one, other)) return false;",
     "if (!facts.DistinctAcross(loop, one, other) && one == other) return true;"),
    ("accumulate", "sum-passes-reads", "transform/sink_sums.cpp", "opt/accumulate",
     "    if (!CanPass(block, branch, position)) return false;\n",
     ""),
    ("exact-sums", "differences-are-added", "autodiff/exact_sums.cpp", "deterministic",
     "    if (data.op == Op::AtomicSub) v = Negated(v);\n",
     ""),
    ("check-writes", "written-twice", "transform/check_writes.cpp", "driver",
     "Value others = builder_.Make(Op::And, {here, builder_.Make(Op::Ne, {last, stamp})});",
     "Value others = builder_.Make(Op::And, {here, builder_.Make(Op::Eq, {last, stamp})});"),
    ("functions", "log1p-rest", "transform/composed.ir", "grid",
     "  %y = add (log %u), %rest",
     "  %y = add (log %u), (mul %rest, 0.0)"),
    ("trips", "array-not-filled", "counting/trip_kernel.cpp", "adstack",
     "        if (from_.TypeOf(operand).IsArray()) NeedWrites(operand);\n",
     ""),
    ("plan", "bound-of-difference", "sizing/bounds.cpp", "gradients/checkpoint.ir",
     "ranges_.Length(low.lower, high.upper,",
     "ranges_.Length(low.lower, high.lower,"),
    ("plan", "last-slot-forgotten", "adstack/plan.cpp", "adstack",
     "NodeId slots = algebra_.Add(slot.upper, algebra_.Const(1));",
     "NodeId slots = slot.upper;"),
    ("plan", "peak-without-fill", "adstack/depth.cpp", "adstack",
     "sum.peak = algebra_.Max(sum.peak, algebra_.Add(sum.net.upper, next.peak));",
     "sum.peak = algebra_.Max(sum.peak, next.peak);"),
    ("plan", "all-share-bytes", "adstack/group_stacks.cpp", "adstack",
     "        if (!NeverLiveTogether(kernel_, structure_, *facts_[one], *facts_[other])) return false;",
     "        if (one == other) return false;"),
    ("plan", "counted-with-all", "counting/size_kernel.cpp", "adstack",
     "    bool once = points.size() == 1;",
     "    bool once = true;"),
    ("lower", "trips-floor", "sizing/trip_count.cpp", "gradients/serial_bounds.ir",
     "return *step == 1 ? length : builder.Make(Op::CeilDiv, {length, builder.I64(*step)});",
     "return *step == 1 ? length : builder.Make(Op::Div, {length, builder.I64(*step)});"),
    ("lower", "flag-bits", "adstack/flag_words.cpp", "gradients/carried_small_ints.ir",
     "builder.Int(type, kFlagsPerWord - 1)",
     "builder.Int(type, kFlagsPerWord / 4 - 1)"),
    ("lower", "guard-at-capacity", "adstack/lower.cpp", "opt/lower",
     "Value own = IsBeyond(Op::Gt, trips, stacks_[position], is_short ? kI64 : index);",
     "Value own = IsBeyond(Op::Ge, trips, stacks_[position], is_short ? kI64 : index);"),
    ("lower", "negative-slot", "adstack/lower.cpp", "opt/lower",
     "return builder_.Make(Op::And, {above, builder_.Make(Op::Lt, {slot, stack.capacity})});",
     "(void)above;\n    return builder_.Make(Op::Lt, {slot, stack.capacity});"),
    ("checks", "one-axis-checked", "raise/checks.cpp", "opt/checks",
     "all = all.Valid() ? builder_.Make(Op::And, {all, inside}) : inside;",
     "all = inside;"),
    ("worker-loop", "bounds-never-move", "raise/worker_loop.cpp", "opt/worker-loop",
     "if (ir::InfoOf(kernel[made].op).effect != ir::Effect::Pure) return true;",
     ""),
    ("worker-loop", "both-arms-idle", "raise/worker_loop.cpp", "opt/worker-loop",
     "return IsIdle(kernel, kernel[gate].regions[0]) != IsIdle(kernel, kernel[gate].regions[1]);",
     "return IsIdle(kernel, kernel[gate].regions[0]) || IsIdle(kernel, kernel[gate].regions[1]);"),
    ("flat-access", "any-extent-is-flat", "raise/flat_access.cpp", "opt/flat-access",
     "if (n > 0 && !IsExtentOf(kernel, kernel.Operand(loop, 2 * n + 1), buffer, outer + n)) return false;",
     "if (n > 1 && !IsExtentOf(kernel, kernel.Operand(loop, 2 * n + 1), buffer, outer + n)) return false;"),
    ("unroll-and-jam", "units-in-any-order", "raise/unroll_and_jam.cpp", "opt/unroll-and-jam",
     "return MeetInOneTurn(loop, a, b) || facts_.DistinctAcross(loop, a, b);",
     "return true;"),
    ("unroll-and-jam", "units-past-the-end", "raise/unroll_and_jam.cpp", "opt/unroll-and-jam",
     "facts_.AllInRange(inst) : IsAccessedAnyway(branch, inst)",
     "facts_.AllInRange(inst) : true"),
    ("private-sums", "mixed-sums", "raise/private_sums.cpp", "opt/private-sums",
     "      if (UseOf(a)->mixed) continue;\n",
     ""),
    ("private-sums", "plain-sums-wait", "raise/private_sums.cpp", "opt/private-sums",
     "if (std::optional<uint32_t> place = Note(inst, reduction); place && reduction && !plain)",
     "(void)plain;\n        if (std::optional<uint32_t> place = Note(inst, reduction); place && reduction)"),
    ("body-lanes", "lanes-divide", "raise/body_lanes.cpp", "codegen",
     "!is_function &&\n           (!divides || kernel_.TypeOf(kernel_.Operand(inst, 0)).IsFloat());",
     "!is_function;\n    (void)divides;"),
    ("early-loads", "load-passes-store", "raise/early_loads.cpp", "opt/early-loads",
     "IsMadeBefore(inst, passed) &&\n                   !written.contains(memory_.ClassOf(inst));",
     "IsMadeBefore(inst, passed);"),
    ("late-prologue", "prologue-in-loop", "raise/late_prologue.cpp", "opt/late-prologue",
     "if (analysis::IsSerialLoop(kernel_[kernel_[block].owner].op)) result = Parent(block);",
     ""),
    ("late-clears", "clear-passes-access", "raise/late_clears.cpp", "opt/late-clears",
     "touch->position <= place; ++touch) {",
     "touch->position <= place && compared > 0; ++touch) {"),
    ("codegen", "nothing-decides", "raise/decisions.cpp", "codegen",
     "while (!pending_.empty()) {\n      Value value",
     "while (!pending_.empty() && aliased_.size() == SIZE_MAX) {\n      Value value"),
    ("codegen", "kink-decisions", "raise/decisions.cpp", "codegen",
     "data.op == Op::Rem || data.op == Op::Mod || data.op == Op::Min || data.op == Op::Max ||",
     "data.op == Op::Rem || data.op == Op::Mod ||"),
    ("codegen", "sums-subtract", "codegen/llvm/sums.cpp", "gradients/store_mat.ir",
     "memory_.Combine(kernel_[inst].op, scalar, old,",
     "memory_.Combine(sum.what->update, scalar, old,"),
    ("codegen", "shift-modulo", "codegen/llvm/scalars.cpp", "gradients/shift_amounts.ir",
     "if (op == Op::Shl) return builder_.CreateShl(a, amount);",
     "if (op == Op::Shl) return builder_.CreateShl(a, b);"),
]


def said(command, **more):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **more)


def seen_by_suites(options, suites):
    """The first suite that fails and what in it; None where all pass."""
    adc = os.path.join(options.build, "tools/adc/adc")
    script = {"gradients": ["tests/e2e/run_gradients.py", "--one-type", adc, "tests/e2e/gradients"],
              "grid": ["tests/e2e/run_grid.py", adc, "f32"],
              "deterministic": ["tests/e2e/run_deterministic.py", adc]}
    for suite in suites.split():
        if suite.startswith("gradients/"):
            script[suite] = ["tests/e2e/run_gradients.py", adc, "tests/e2e/gradients", suite.split("/")[1]]
        command = [sys.executable, *script.get(suite, [LIT, "-q", "-j", "2", "--param", "adc=" + adc,
                   "--param", "strip_bundle=" + os.path.join(options.build, "tests/support/adc_strip_bundle"),
                   "--param", "lie_bundle=" + os.path.join(options.build, "tests/support/adc_lie_bundle"),
                   "--param", "out=" + os.path.join(options.build, "mutants"), "tests/files/" + suite])]
        try:
            outcome = said(command, timeout=options.seconds)
        except subprocess.TimeoutExpired:
            return f"{suite}: runs without end"
        if "did not discover any tests" in outcome.stdout + outcome.stderr:
            sys.exit(f"there is no suite {suite}")
        if outcome.returncode:
            first = re.search(r"^  adc :: (\S+)|^(\S+\.ir in \S+): ", outcome.stdout, re.M)
            what = (first[1] or first[2]) if first else (outcome.stdout + outcome.stderr).strip().split("\n")[-1]
            return f"{suite}: {what[:90]}"
    return None


def seen_by_kernels(options, level):
    """Number of kernels until something is not right and what it is, or None and how many were right."""
    adc = os.path.join(options.build, "tools/adc/adc")
    outcome = said([sys.executable, os.path.join(ROOT, "tests/oracle/fuzz.py"), "--seed", str(options.seed), "--count", str(options.count),
                    "--seconds", str(options.seconds), "--stop", "--rotate", "--level", str(level), "--on", options.on, *(["--only", options.features] if options.features else []), adc])
    done = re.search(r"^(\d+) kernels in", outcome.stdout, re.M)
    first = re.search(r"^\d+ on (.*)", outcome.stdout, re.M)
    if not done:
        return None, outcome.stdout[-300:] + outcome.stderr[-300:]
    return int(done.group(1)), first.group(1)[:90] if outcome.returncode and first else None


def verdict(options, owner, suites):
    built = said(["cmake", "--build", options.build, "-j2", "--target", "adc"])
    if built.returncode:
        return False, "does not build\n" + built.stdout[-600:]
    if not options.kernels:
        what = seen_by_suites(options, suites)
        return what is not None, what or "seen by none of " + suites
    # Without optimisation LLVM contracts nothing, whatever it may.
    count, what = seen_by_kernels(options, 1 if owner in ("codegen", "simplify", "sink-singular") else 0)
    return bool(what), f"seen by kernel {count}: {what}" if what else f"not seen in {count} kernels"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--only", default="", help="names of faults")
    parser.add_argument("--pass", dest="passes", default="", help="names of passes")
    parser.add_argument("--list", action="store_true", help="name them, and check that each place is there")
    parser.add_argument("--kernels", action="store_true", help="by random kernels")
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seconds", type=int, default=150, help="for one suite, or for the kernels")
    parser.add_argument("--on", default="cpu-contract,cpu-strict,cpu-fast")
    parser.add_argument("--features", default="", help="what the kernels are made of, as fuzz.py --only")
    options = parser.parse_args()
    unseen = 0
    for owner, name, path, suites, old, new in MUTANTS:
        if (options.only and name not in options.only.split(",")) or (options.passes and owner not in options.passes.split(",")):
            continue
        path = os.path.join(ROOT, "lib", path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.count(old) != 1:
            print(f"{owner} {name}: the text stands {text.count(old)} times in {path}", flush=True)
            unseen += 1
            continue
        if options.list:
            print(f"{owner} {name}: {suites}")
            continue
        begin = time.monotonic()
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(old, new))
            seen, what = verdict(options, owner, suites)
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        unseen += not seen
        print(f"{owner} {name}: {'' if seen else 'NOT SEEN: '}{what} ({time.monotonic() - begin:.0f} s)", flush=True)
    return 1 if unseen else 0


if __name__ == "__main__":
    sys.exit(main())
