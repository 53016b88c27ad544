#!/usr/bin/env python3
"""What the oracle says is held against closed forms and central differences, with no compiler in sight.

Usage: check_oracle.py [COUNT]: so many random kernels are differentiated by differences too.
"""

import math
import sys

import evaluate
import execute
import generate
import ir_text

FAILED = []


def expect(condition, what):
    if not condition:
        FAILED.append(what)
        print("not so: " + what)


def launched(text, inputs, kernel="k"):
    module = ir_text.read(text)
    return evaluate.launch(module, module.functions[kernel], inputs)


def derivative(expression, numbers, params="%a: f64 diff, %b: f64 diff"):
    """Value of an expression of %a and %b and its partial derivatives there."""
    text = f"kernel @k(%y: buffer<f64, 0> diff, {params}) {{ %r = {expression} store %y[], %r }}"
    inputs = {"y": ([], [0.0])}
    for name, number in zip("ab", numbers):
        inputs[name] = ([], [number])
    result = launched(text, inputs)
    adjoints, _ = evaluate.gradients(result, {"y": [1.0], "a": [0.0], "b": [0.0]})
    return (result.memory["y"].values[0], adjoints["a"][0], adjoints["b"][0])


def conventions():
    for expression, numbers, wanted in [
            ("abs %a", (0.0, 0.0), (0.0, 0.0, 0.0)), ("abs %a", (-2.0, 0.0), (2.0, -1.0, 0.0)),
            ("min %a, %b", (1.0, 1.0), (1.0, 0.0, 1.0)), ("max %a, %b", (1.0, 1.0), (1.0, 0.0, 1.0)),
            ("min %a, %b", (math.inf, 2.0), (2.0, 0.0, 1.0)), ("max %a, %b", (3.0, 2.0), (3.0, 1.0, 0.0)),
            ("clamp %a, %b, 5.0", (1.0, 1.0), (1.0, 0.0, 1.0)), ("clamp %a, 0.0, %b", (4.0, 3.0), (3.0, 0.0, 1.0)),
            ("rem %a, %b", (7.5, 2.0), (1.5, 1.0, -3.0)), ("rem %a, %b", (-7.5, 2.0), (-1.5, 1.0, 3.0)),
            ("mod %a, %b", (-7.5, 2.0), (0.5, 1.0, 4.0)),
            # Quotients that the division rounds to another whole number, and squares that overflow.
            ("rem %a, %b", (1.5, 0.3), (math.fmod(1.5, 0.3), 1.0, -5.0)), ("rem %a, %b", (6.0, 0.1), (math.fmod(6.0, 0.1), 1.0, -59.0)),
            ("mod %a, %b", (6.0, 0.1), (math.fmod(6.0, 0.1), 1.0, -59.0)), ("mod %a, %b", (-1e-20, 1.0), (1.0, 1.0, 1.0)),
            ("atan2 %a, %b", (3e200, 4e200), (math.atan2(3, 4), 1.6e-201, -1.2e-201)), ("tanh %a", (30.0, 0.0), (1.0, 4 * math.exp(-60), 0.0)), ("pow %a, %b", (0.0, 2.0), (0.0, 0.0, 0.0)),
            ("log %a", (-2.0, 0.0), (None, -0.5, 0.0)), ("fma %a, %b, %a", (3.0, 2.0), (9.0, 3.0, 3.0)),
            ("select (gt %a, %b), %a, %b", (1.0, 2.0), (2.0, 0.0, 1.0)),
            ("cast (cast %a to i32) to f64", (2.7, 0.0), (2.0, 0.0, 0.0)), ("floor %a", (2.7, 0.0), (2.0, 0.0, 0.0)),
            ("mul (stop_gradient %a), %b", (3.0, 2.0), (6.0, 0.0, 3.0)),
            # Exact near 0, and where squares or the other operand would hide them.
            ("expm1 %a", (1e-20, 0.0), (1e-20, 1.0, 0.0)), ("log1p %a", (1e-20, 0.0), (1e-20, 1.0, 0.0)),
            ("expm1 %a", (math.log(3), 0.0), (2.0, 3.0, 0.0)), ("log1p %a", (3.0, 0.0), (math.log(4), 0.25, 0.0)),
            ("log1p %a", (-1.0, 0.0), (-math.inf, math.inf, 0.0)), ("exp10 %a", (2.0, 0.0), (100.0, 100 * math.log(10), 0.0)),
            ("log10 %a", (100.0, 0.0), (2.0, 0.01 / math.log(10), 0.0)), ("cbrt %a", (-8.0, 0.0), (-2.0, 1 / 12, 0.0)),
            ("cbrt %a", (0.0, 0.0), (0.0, math.inf, 0.0)), ("erfc %a", (0.0, 0.0), (1.0, -2 / math.sqrt(math.pi), 0.0)),
            ("asinh %a", (0.75, 0.0), (math.log(2), 0.8, 0.0)), ("asinh %a", (1e200, 0.0), (None, 1e-200, 0.0)),
            ("acosh %a", (1.25, 0.0), (math.log(2), 4 / 3, 0.0)), ("acosh %a", (1.0, 0.0), (0.0, math.inf, 0.0)),
            ("atanh %a", (0.6, 0.0), (math.log(2), 1.5625, 0.0)), ("atanh %a", (-1.0, 0.0), (-math.inf, math.inf, 0.0)),
            ("sinpi %a", (7.0, 0.0), (0.0, -math.pi, 0.0)), ("sinpi %a", (1e6 + 0.5, 0.0), (1.0, 0.0, 0.0)),
            ("sinpi %a", (-0.25, 0.0), (-math.sqrt(0.5), math.pi * math.sqrt(0.5), 0.0)), ("cospi %a", (2.5, 0.0), (0.0, -math.pi, 0.0)),
            ("cospi %a", (-1e15, 0.0), (1.0, 0.0, 0.0)), ("cospi %a", (0.25, 0.0), (math.sqrt(0.5), -math.pi * math.sqrt(0.5), 0.0)),
            ("hypot %a, %b", (3e200, 4e200), (5e200, 0.6, 0.8)), ("hypot %a, %b", (0.0, 0.0), (0.0, 0.0, 0.0)),
            ("copysign %a, %b", (3.0, -2.0), (-3.0, -1.0, 0.0)), ("copysign %a, %b", (-3.0, -0.0), (-3.0, 1.0, 0.0)),
            ("fdim %a, %b", (3.0, 2.0), (1.0, 1.0, -1.0)), ("fdim %a, %b", (2.0, 2.0), (0.0, 0.0, 0.0)), ("fdim %a, %b", (math.inf, math.inf), (0.0, 0.0, 0.0)),
            ("select (isnan %a), %b, 5.0", (math.nan, 2.0), (2.0, 0.0, 1.0)), ("select (isinf %a), %b, 5.0", (-math.inf, 2.0), (2.0, 0.0, 1.0)),
            ("select (isfinite %a), %b, 5.0", (1e308, 2.0), (2.0, 0.0, 1.0)), ("select (isfinite %a), %b, 5.0", (math.nan, 2.0), (5.0, 0.0, 0.0)),
            ("atan2 %a, %b", (1.0, 1.0), (math.pi / 4, 0.5, -0.5)), ("div %a, %b", (3.0, 2.0), (1.5, 0.5, -0.75))]:
        got = derivative(expression, numbers)
        for g, w in zip(got, wanted):
            expect(w is None or g == w or abs(g - w) <= 1e-12 * (abs(w) if w and ("tan" in expression or abs(w) < 1e-9) else max(1, abs(w))), f"{expression} at {numbers} gives {got}, not {wanted}")


def integers():
    def value(expression, type="i32"):
        text = f"kernel @k(%y: buffer<{type}, 0>) {{ %r = {expression} store %y[], %r }}"
        return launched(text, {"y": ([], [0])}).memory["y"].values[0]
    for expression, type, wanted in [
            ("add 2147483647:i32, 1", "i32", -2147483648), ("div -7:i32, 2", "i32", -3), ("div 7:i32, 0", "i32", 0),
            ("div -2147483648:i32, -1", "i32", -2147483648), ("rem -7:i32, 2", "i32", -1), ("mod -7:i32, 2", "i32", 1),
            ("floordiv -7:i32, 2", "i32", -4), ("shl 1:i32, 33", "i32", 2), ("shr -8:i32, 1", "i32", -4), ("shr 248:u8, 1", "u8", 124),
            ("popcount -1:i32", "i32", 32), ("clz 1:i32", "i32", 31), ("cast 300:i32 to u8", "u8", 44),
            ("cast 1.0e20:f64 to i32", "i32", 2147483647), ("cast nan:f64 to i32", "i32", 0), ("cast -3.7:f64 to u8", "u8", 0),
            ("ctz 40:u8", "u8", 3), ("ctz 0:i16", "i16", 16), ("ctz -2147483648:i32", "i32", 31), ("bitreverse 1:u8", "u8", 128),
            ("bitreverse -2:i8", "i8", 127), ("bitreverse 5:i64", "i64", -6917529027641081856), ("mulhi -1:i32, -1", "i32", 0),
            ("mulhi -1:i32, 1", "i32", -1), ("mulhi 4294967295:u32, 4294967295", "u32", 4294967294), ("mulhi -128:i8, -128", "i8", 64),
            ("ceildiv 7:i32, 2", "i32", 4), ("ceildiv -7:i32, 2", "i32", -3), ("ceildiv 7:i32, 0", "i32", 0), ("ceildiv 7:i32, -2", "i32", -3),
            ("ceildiv -2147483648:i32, -1", "i32", -2147483648), ("ceildiv 255:u8, 2", "u8", 128),
            ("sub 0:u32, 1", "u32", 4294967295), ("neg -128:i8", "i8", -128), ("bitcast 1.0:f32 to i32", "i32", 0x3F800000)]:
        got = value(expression, type)
        expect(got == wanted, f"{expression} is {got}, not {wanted}")


def memory():
    # A store clears; an atomic adds; the state before keeps what nobody overwrites.
    text = """kernel @k(%x: buffer<f64, 1> diff, %y: buffer<f64, 1> diff, %l: buffer<f64, 0> diff, %p: buffer<f64, 0>) {
      parallel %i in 0..2 { %v = load %x[%i] store %y[%i], (mul %v, %v) atomic add %l[], (mul %v, 3.0) }
      %w = load %x[0] store %p[], %w %q = load %p[] atomic add %l[], %q }"""
    result = launched(text, {"x": ([3], [2.0, 5.0, 7.0]), "y": ([3], [1.0, 1.0, 1.0]), "l": ([], [0.5]), "p": ([], [0.0])})
    adjoints, _ = evaluate.gradients(result, {"x": [0.25, 0.0, 0.5], "y": [1.0, 10.0, 100.0], "l": [1000.0]})
    expect(result.memory["y"].values == [4.0, 25.0, 1.0] and result.memory["l"].values == [23.5], "values of stores and sums")
    # What goes through a buffer without `diff` has no derivative.
    expect(adjoints == {"x": [0.25 + 4 + 3000, 100.0 + 3000, 0.5], "y": [0.0, 0.0, 100.0], "l": [1000.0]}, f"adjoints {adjoints}")
    # The winner of a chain of minima.
    text = """kernel @k(%x: buffer<f64, 1> diff, %c: buffer<f64, 0> diff, %l: buffer<f64, 0> diff) {
      parallel %i in 0..2 { atomic min %c[], (load %x[%i]) }
      %a = load %c[] atomic add %l[], (mul %a, %a)
      parallel %j in 2..4 { atomic min %c[], (load %x[%j]) } }"""
    result = launched(text, {"x": ([4], [3.0, 2.0, 1.0, 5.0]), "c": ([], [9.0]), "l": ([], [0.0])})
    adjoints, _ = evaluate.gradients(result, {"x": [0.0] * 4, "c": [10.0], "l": [1.0]})
    expect(adjoints["x"] == [0.0, 4.0, 10.0, 0.0] and adjoints["c"] == [0.0], f"winners {adjoints}")
    for text, error in [
            ("kernel @k(%x: buffer<f64, 1>) { parallel %i in 0..2 { store %x[0], 1.0 } }", evaluate.Race),
            ("kernel @k(%x: buffer<f64, 1>) { parallel %i in 0..2 { %a = load %x[0] store %x[%i], %a } }", evaluate.Race),
            ("kernel @k(%x: buffer<f64, 1>) { parallel %i in 0..2 { atomic add %x[0], 1.0 atomic min %x[1], 1.0 } }", None),
            ("kernel @k(%x: buffer<f64, 1>) { parallel %i in 0..2 { atomic add %x[0], 1.0 atomic min %x[0], 1.0 } }", evaluate.Race),
            ("kernel @k(%x: buffer<f64, 1>) { parallel %i in 0..2 { store %x[%i], 1.0 } %a = load %x[0] store %x[1], %a }", None),
            ("kernel @k(%x: buffer<f64, 1>) { parallel %i in 0..3 { store %x[%i], 1.0 } }", evaluate.OutOfRange),
            ("kernel @k(%x: buffer<f64, 1>) { %a = while carry(%b = 1.0:f64) { continue_if true } do { yield %b } }", evaluate.TooLong)]:
        try:
            launched(text, {"x": ([2], [0.0, 0.0])})
            got = None
        except (evaluate.Race, evaluate.OutOfRange, evaluate.TooLong) as raised:
            got = type(raised)
        expect(got is error, f"{text}: {got}")


def structure():
    text = """kernel @k(%y: buffer<i32, 1>) {
      %a = for %i in 0..7 step 3 carry(%s = 0) { yield (add (mul %s, 10), %i) }
      %b = for %i2 in 0..7 step 3 reversed carry(%s2 = 0) { yield (add (mul %s2, 10), %i2) }
      %c, %d = while max 2 or none carry(%s3 = 1, %t = 0) { continue_if (lt %s3, 100) } do { yield (mul %s3, 3), (add %t, 1) }
      %e, %f = while carry(%s4 = 1, %t4 = 0) { %z = lt %s4, 20 continue_if %z } do { yield (mul %s4, 3), (add %t4, 1) }
      store %y[0], %a store %y[1], %b store %y[2], %c store %y[3], %d store %y[4], %e store %y[5], %f }"""
    got = launched(text, {"y": ([6], [0] * 6)}).memory["y"].values
    expect(got == [36, 630, 9, 2, 27, 3], f"loops give {got}")
    members = ir_text.read("layout @g { dense[2, 3] { a: f32 diff  dense[2, 2] { b: vec<f64, 2> } } c: i8 }").layouts["g"]
    lists = {"a": [1.0, 2, 3, 4, 5, 6], "b": list(map(float, range(48))), "c": [7]}
    packed = execute.pack_layout(members, lambda name: lists[name])
    # A cell takes 4 bytes, 4 of padding and 4 vectors of 16; %b[1, 2] lies in cell (0, 1) at (1, 0).
    expect(len(packed) == 6 * 72 + 8 and execute.unpack_layout(members, packed) == lists, "a layout packed and unpacked")
    expect(execute.struct.unpack_from("<d", packed, 72 + 8 + 2 * 16)[0] == lists["b"][(1 * 6 + 2) * 2], "the place of a cell")


def leaving():
    """`break` and `continue`, random numbers, extrema that are equal, functions over buffers with a vjp of their own."""
    text = """kernel @k(%y: buffer<i32, 1>) {
      parallel %i in 0..3 {
        if (eq %i, 1) { continue }
        %a = for %t in 0..6 carry(%b = 0) {
          if (gt %t, 3) { break %b }
          %z = if (eq %t, 1) { continue (add %b, 100) } else { yield 1 }
          yield (add %b, %z) }
        store %y[%i], %a }
      %m = while carry(%n = 0) { continue_if (lt %n, 10) } do { if (gt %n, 4) { break 99 } yield (add %n, 1) }
      store %y[3], %m }"""
    got = launched(text, {"y": ([4], [7] * 4)}).memory["y"].values
    expect(got == [103, 7, 103, 99], f"loops that are left give {got}")
    # The vectors that come with the authors' library.
    for operands, words in [((0, 0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"), ((2**64 - 1,) * 3, "408f276d 41c83b0e a20bc7c6 6d5451fd")]:
        got = " ".join(f"{word:08x}" for word in evaluate.philox(*operands))
        expect(got == words, f"Philox of {operands} is {got}")
    expect(evaluate.random_numbers("f16", 1, (0, 32), (0, 32)) == [(0x6627e8d5 >> 21) / 2048], "a random f16")
    text = """kernel @k(%x: buffer<f64, 1> diff, %c: buffer<f64, 0> diff) { parallel %i in 0..2 { atomic min %c[], (load %x[%i]) } }"""
    for numbers, tied in [([1.0, 2.0], False), ([1.0, 1.0], True)]:
        result = launched(text, {"x": ([2], numbers), "c": ([], [5.0])})
        expect(evaluate.has_ties(result, {"x": [1.0, 2.0], "c": [0.0]}) == tied, f"a tie of {numbers}")
    text = """func @e(%a: buffer<f64, 1>, %i: i32, %s: f64) vjp @e_vjp { %v = load %a[%i] store %a[%i], (mul %s, (exp %v)) }
    func @e_vjp(%a: buffer<f64, 1>, %i: i32, %s: f64, %g: buffer<f64, 1>) -> f64 {
      %r = load %a[%i] %q = load %g[%i] store %g[%i], (mul %q, (mul %r, FACTOR)) return (div (mul %q, %r), %s) }
    kernel @k(%x: buffer<f64, 1> diff, %s: f64 diff) { parallel %i in 0..2 { call @e(%x, %i, %s) } }"""
    inputs, values = {"x": ([2], [0.5, 0.25]), "s": ([], [2.0])}, [2 * math.exp(0.5), 2 * math.exp(0.25)]
    for factor in (1.0, 3.0):
        result = launched(text.replace("FACTOR", str(factor)), inputs)
        adjoints, _ = evaluate.gradients(result, {"x": [1.0, 10.0], "s": [0.5]})
        wanted = [factor * values[0], factor * 10 * values[1], 0.5 + values[0] / 2 + 10 * values[1] / 2]
        expect(all(abs(g - w) < 1e-12 for g, w in zip(adjoints["x"] + adjoints["s"], wanted)), f"a rule over buffers gives {adjoints}")
        tangents, _ = evaluate.directional(result, {"x": [1.0, 0.0], "s": [0.0]})
        expect(abs(tangents["x"][0] - values[0]) < 1e-12, "tangents are the body's")


def exact_edges():
    """Of what is summed, multiplied and loaded alone the margin says nothing; of a sine it does."""
    inputs = {"x": ([3], [0.5, 0.25, -0.125]), "y": ([], [0.0])}
    head = "kernel @k(%x: buffer<f64, 1> diff, %y: buffer<f64, 0> diff) { %a = load %x[0] %b = load %x[1] %c = load %x[2] "
    exact = launched(head + "%s = add (mul %a, %b), %c %r = if (gt %s, 0.0) { yield %a } else { yield %b } store %y[], %r }", inputs)
    rough = launched(head + "%s = sin %a %r = if (gt %s, %s) { yield %a } else { yield %b } %t = floor (mul %s, 1.0e-12) "
                     "store %y[], (add %t, %r) }", inputs)
    expect(exact.trace.margin == math.inf and exact.memory["y"].values == [0.25], "an edge that is exact")
    expect(rough.trace.margin < 1e-9, "an edge that is not")


def derived_text():
    """What `adc` prints of derived kernels: adstacks, and sums into adjoints that nobody else may touch."""
    head, inputs = "kernel @k(%x: buffer<f64, 1>) { parallel %i in 0..2 { ", {"x": ([2], [1.0, 2.0])}
    pushes = "%s = stack.new f64 for %t in 0..3 { stack.push %s, (add (load %x[%i]), (cast %t to f64)) at %t } "
    for body, wanted in [
            ("add_to %x[0], 1.0 } }", [3.0, 2.0]), ("add_to %x[0], 1.0 plain } }", evaluate.Race), ("add_to %x[%i], 1.0 plain } }", [2.0, 3.0]),
            ("add_to %x[%i], 1.0 plain %a = load %x[0] store %x[%i], %a } }", evaluate.Race),
            ("%p = atomic exchange %x[0], 0.0 } }", [0.0, 2.0]),
            (pushes + "%p = stack.pop %s at 2 store %x[%i], %p } }", [3.0, 4.0]), (pushes + "%p = stack.pop %s at 3 store %x[%i], %p } }", evaluate.OutOfRange),
            ("%s = stack.new i1 stack.push %s, true stack.push %s, false %p = stack.pop %s %q = stack.top %s "
             "store %x[%i], (select (xor %p, %q), 5.0:f64, 6.0) } }", [5.0, 5.0])]:
        module = ir_text.read(head + body)
        run, _ = evaluate.compiled(module, module.functions["k"], derivatives=False, derived=True)
        try:
            got = evaluate.launch(module, module.functions["k"], inputs, derivatives=False, run=run).memory["x"].values
        except (evaluate.Race, evaluate.OutOfRange) as raised:
            got = type(raised)
        expect(got == wanted, f"{body} gives {got}")


class Got:
    """What an execution that nobody saw is said to have given."""

    def __init__(self, expected, numbers, fp="contract"):
        self.fp, self.device = fp, "cpu"
        self.comparison = execute.Comparison(expected, self)
        for (kind, name), got in numbers.items():
            want, sizes = expected.lists_of(expected.result)[kind, name]
            self.comparison.floats(kind, name, got, want, sizes)


def excuses():
    """What a decision on an edge, a tie or roundings explain is forgiven, and nothing beside it."""
    def excuse(text, inputs, numbers, fp="contract"):
        expected = execute.Expected(text, inputs)
        got = Got(expected, numbers, fp)
        expect(got.comparison.off, f"{text}: {numbers} is off")
        return execute.excuse(expected, got, got.comparison)
    head = "kernel @k(%x: buffer<f64, 1> diff, %y: buffer<f64, 0> diff) { %a = load %x[0] %b = load %x[1] "
    edge = head + "%s = sub (sin %a), %b %r = if (gt %s, 0.0) { yield (mul %a, 2.0) } else { yield (mul %a, 3.0) } store %y[], %r }"
    inputs = {"x": ([2], [0.5, math.sin(0.5)]), "y": ([], [0.0])}
    far = {"x": ([2], [0.5, math.sin(0.5) - 1e-6]), "y": ([], [0.0])}
    expect(excuse(edge, inputs, {("value", "y"): [1.0]}) == "decision", "the other side of an edge")
    expect(excuse(edge, inputs, {("value", "y"): [1.25]}) is None, "neither side of an edge")
    expect(excuse(edge, far, {("value", "y"): [1.5]}) is None, "the other side of what is no edge")
    rough = (head + "%s = mul (sub (sin %a), %b), 1.0e5 store %y[], %s }").replace("f64", "f32")
    inputs = {"x": ([2], [0.5, evaluate.r32(math.sin(0.5))]), "y": ([], [0.0])}
    expect(excuse(rough, inputs, {("value", "y"): [0.006]}) == "rounding", "what cancels")
    expect(excuse(rough, inputs, {("value", "y"): [0.6]}) is None, "more than what cancels")
    expect(excuse(rough, inputs, {("value", "y"): [math.nan]}) is None, "no number")
    text = head + "%t = mul %a, 1.0 atomic min %y[], %t atomic min %y[], %b }"
    tied = {"x": ([2], [0.5, 0.5]), "y": ([], [9.0])}
    weight = execute.Expected(text, tied).weights["y"][0]
    before = execute.Expected(text, tied).weights["x"]
    expect(excuse(text, tied, {("adjoint", "x"): [before[0], before[1] + weight]}) == "tie", "the other winner")
    expect(excuse(text, tied, {("adjoint", "x"): [before[0] + weight, before[1] + weight]}) is None, "two winners")
    text, tied = text.replace("mul %a, 1.0", "mul %a, 2.0"), {"x": ([2], [0.25, 0.5]), "y": ([], [9.0])}
    last = execute.Expected(text, tied).directions["x"][1]
    expect(excuse(text, tied, {("tangent", "y"): [last]}) == "tie", "the last winner in forward mode alone")


def random_kernels(count):
    checked, worst, unfit = 0, 0.0, 0
    for seed in range(4 * count):
        case = generate.generate(seed, "f64", {"half": 0, "mixed": 0, "custom": 0, "in_place": 0, "edge": 0})
        again = generate.generate(seed, "f64", {"half": 0, "mixed": 0, "custom": 0, "in_place": 0, "edge": 0})
        expect(case.text == again.text and case.inputs == again.inputs, f"kernel {seed} is the same twice")
        printed = ir_text.print_module(ir_text.read(case.text))
        expect(ir_text.print_module(ir_text.read(printed)) == printed, f"kernel {seed} prints as it is read")
        try:
            expected = execute.Expected(case.text, case.inputs, seed, case.how)
        except execute.Unfit:
            unfit += 1
            continue
        except (evaluate.Race, evaluate.OutOfRange, evaluate.TooLong, evaluate.Untyped) as reason:
            expect(False, f"kernel {seed} is a program: {reason!r}")
            continue
        if expected.result.trace.margin > 1e-4:
            distance = expected.central()
            if distance is None:
                continue
            expect(distance < 1e-6, f"kernel {seed} is {distance} from central differences")
            worst, checked = max(worst, distance), checked + 1
            # The two sweeps agree: weights * (J * directions) = (weights * J) * directions.
            forward = sum(w * t for name in expected.weights for w, t in zip(expected.weights[name], expected.tangents[name])
                          if name in expected.tangents)
            reverse = sum(a * d for name in expected.adjoints for a, d in zip(expected.adjoints[name], expected.directions[name]))
            expect(abs(forward - reverse) < 1e-8 * (1 + abs(forward)), f"kernel {seed}: sweeps give {forward} and {reverse}")
        if checked == count:
            break
    print(f"{checked} kernels against central differences, worst {worst:.2g}; {unfit} without finite numbers")
    expect(checked == count, f"only {checked} kernels were far enough from an edge")


def main():
    conventions()
    integers()
    memory()
    structure()
    leaving()
    exact_edges()
    excuses()
    derived_text()
    random_kernels(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
    print(f"{len(FAILED)} mistakes")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
