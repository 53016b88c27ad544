#!/usr/bin/env python3
"""Random kernels, each printed as C++ and as IR: both have to give the same values, bit for bit, and the same
gradients and tangents.

Usage: cpp_kernels.py ADC [--seed N] [--count N] [--per-file N] [--stay FOLDER]
The C++ assigns variables and leaves loops where it likes; the IR carries the same values by hand, so that what the
C++ front end does (variables, branches, loops, jumps, conversions) is done a second time, in another way.
"""

import argparse
import os
import random
import struct
import subprocess
import sys
import tempfile

CELLS, INPUTS = 6, 9
TYPES = {"f64": "double", "i32": "int", "u32": "unsigned", "i64": "long long", "u8": "unsigned char", "i1": "bool"}


class Leaf:
    """An expression as C++ and as what writes its IR: `emit(printer)` gives a name or a literal."""

    def __init__(self, type, cpp, emit):
        self.type, self.cpp, self.emit = type, cpp, emit


class Kernel:
    """Statements as tuples; `vars` are (name, type) in scope."""

    def __init__(self, seed, name):
        self.rng, self.name, self.count, self.loops = random.Random(seed), name, 0, 0
        self.jumps = 0
        body = []
        vars = [("v", "f64"), ("k", "i32")]
        body.append(("let", "v", "f64", self.load([])))
        body.append(("let", "k", "i32", self.literal("i32")))
        self.budget = self.rng.randint(6, 16)
        self.block(body, vars, 0)
        self.body, self.result = body, self.expr("f64", [("v", "f64"), ("k", "i32")], 2)

    def chance(self, p):
        return self.rng.random() < p

    def fresh(self, head):
        self.count += 1
        return f"{head}{self.count}"

    # ---- Expressions

    def literal(self, type):
        if type == "f64":
            value = repr(round(self.rng.uniform(-1.5, 1.5), 2) or 0.5)
            return ("literal", type, value)
        if type == "i1":
            return ("literal", type, self.rng.choice(("true", "false")))
        return ("literal", type, str(self.rng.randint(0, 200 if type == "u8" else 9)))

    def load(self, vars):
        return ("load", "f64", self.index(vars, INPUTS))

    def index(self, vars, extent):
        ints = [name for name, type in vars if type == "i32"]
        if ints and self.chance(0.6):
            # Never negative: of the lowest bits.
            return ("wrapped", self.rng.choice(ints), extent)
        return ("literal", "i32", str(self.rng.randrange(extent)))

    def expr(self, type, vars, depth):
        rng = self.rng
        own = [name for name, kind in vars if kind == type]
        if depth <= 0 or self.chance(0.15):
            if own and self.chance(0.7):
                return ("var", type, rng.choice(own))
            return self.load(vars) if type == "f64" and self.chance(0.6) else self.literal(type)
        down = lambda t: self.expr(t, vars, depth - 1)
        if type == "i1":
            roll = rng.random()
            if roll < 0.6:
                of = rng.choice(("f64", "i32", "i32", "u32", "i64"))
                return ("compare", "i1", rng.choice(("<", ">", "<=", ">=", "==", "!=")), down(of), down(of))
            if roll < 0.85:
                return ("logic", "i1", rng.choice(("&&", "||")), down("i1"), down("i1"))
            return ("not", "i1", down("i1"))
        if type == "f64":
            roll = rng.random()
            if roll < 0.45:
                return ("binary", type, rng.choice("++--**"), down(type), down(type))
            if roll < 0.6:
                return ("call", type, rng.choice(("sin", "cos", "tanh", "abs", "floor")), [down(type)])
            if roll < 0.68:
                return ("call", type, rng.choice(("min", "max")), [down(type), down(type)])
            if roll < 0.78:
                return ("choose", type, down("i1"), down(type), down(type))
            if roll < 0.9:
                return ("cast", type, down(rng.choice(("i32", "u32", "i64", "u8", "i1"))))
            return ("divide", type, down(type), down(type))
        roll = rng.random()
        if type == "u8" or roll < 0.2:
            return ("cast", type, down(rng.choice([t for t in ("i32", "u32", "i64", "u8", "i1") if t != type])))
        if roll < 0.65:
            return ("binary", type, rng.choice(("+", "-", "*", "&", "|", "^")), down(type), down(type))
        if roll < 0.75:
            return ("shift", type, rng.choice(("<<", ">>")), down(type), rng.randrange(0, 9))
        if roll < 0.85:
            return ("quotient", type, rng.choice("/%"), down(type), rng.randint(1, 7))
        return ("choose", type, down("i1"), down(type), down(type))

    # ---- Statements

    def block(self, body, vars, depth):
        for _ in range(self.rng.randint(1, 4)):
            if self.budget <= 0:
                return
            self.budget -= 1
            self.statement(body, vars, depth)

    def statement(self, body, vars, depth):
        rng, roll = self.rng, self.rng.random()
        if roll < 0.2:
            type = rng.choice(("f64", "f64", "i32", "u32", "i64", "u8", "i1"))
            name = self.fresh("w")
            body.append(("let", name, type, self.expr(type, vars, 2)))
            vars.append((name, type))
        elif roll < 0.5 or depth > 2:
            name, type = rng.choice([(n, t) for n, t in vars if not n.startswith("t")])
            operator = rng.choice(("=", "+=", "-=", "*=")) if type not in ("i1", "u8") else "="
            body.append(("assign", name, type, operator, self.expr(type, vars, 2)))
        elif roll < 0.72:
            then, other = [], []
            self.block(then, list(vars), depth + 1)
            if self.chance(0.5):
                self.block(other, list(vars), depth + 1)
            if self.loops and self.chance(0.35):
                then.append((rng.choice(("break", "continue")),))
                self.jumps += 1
            body.append(("if", self.expr("i1", vars, 2), then, other))
        elif roll < 0.82:
            arms = []
            for _ in range(rng.randint(1, 3)):
                arm = []
                self.block(arm, list(vars), depth + 1)
                arms.append(arm)
            body.append(("switch", self.expr("i32", vars, 1), arms))
        elif self.loops < 2:
            self.loops += 1
            index, inner = self.fresh("t"), []
            form = rng.choice(("up", "up", "down", "step", "while", "do"))
            trips = rng.choice(("n", str(rng.randint(0, 4)), "small"))
            self.block(inner, vars + ([(index, "i32")] if form in ("up", "down", "step") else []), depth + 1)
            if not inner:
                inner.append(("assign", "v", "f64", "+=", ("literal", "f64", "0.25")))
            body.append(("loop", form, index, trips, rng.choice([n for n, t in vars if t == "i32"]), inner))
            self.loops -= 1


def assigned(body, outer):
    """Which of the names in `outer` the statements assign."""
    found = set()
    for s in body:
        if s[0] == "assign" and s[1] in outer:
            found.add(s[1])
        elif s[0] == "if":
            found |= assigned(s[2], outer) | assigned(s[3], outer)
        elif s[0] == "switch":
            for arm in s[2]:
                found |= assigned(arm, outer)
        elif s[0] == "loop":
            found |= assigned(s[5], outer)
    return found


# ---- C++


def cpp_expr(e):
    kind = e[0]
    if kind == "literal":
        suffix = {"u32": "u", "i64": "ll"}.get(e[1], "")
        return f"static_cast<unsigned char>({e[2]})" if e[1] == "u8" else f"({e[2]}{suffix})"
    if kind == "wrapped":
        return f"static_cast<int>(static_cast<unsigned>({e[1]}) % {e[2]}u)"
    if kind == "load":
        return f"x[{cpp_expr(e[2])}]"
    if kind == "var":
        return e[2]
    if kind in ("compare", "logic"):
        return f"({cpp_expr(e[3])} {e[2]} {cpp_expr(e[4])})"
    if kind == "binary":
        # What C++ leaves undefined wraps in the IR: of signed numbers by way of unsigned ones.
        wide = {"i32": ("int", "unsigned"), "i64": ("long long", "unsigned long long")}.get(e[1])
        a, b = cpp_expr(e[3]), cpp_expr(e[4])
        if wide:
            return f"static_cast<{wide[0]}>(static_cast<{wide[1]}>({a}) {e[2]} static_cast<{wide[1]}>({b}))"
        return f"({a} {e[2]} {b})"
    if kind == "shift":
        return f"({cpp_expr(e[3])} {e[2]} {e[4]})"
    if kind == "quotient":
        return f"({cpp_expr(e[3])} {e[2]} {e[4]})"
    if kind == "divide":
        return f"({cpp_expr(e[2])} / (2.0 + std::abs({cpp_expr(e[3])})))"
    if kind == "not":
        return f"!({cpp_expr(e[2])})"
    if kind == "call":
        return f"std::{e[2]}({', '.join('double(' + cpp_expr(a) + ')' for a in e[3])})"
    if kind == "choose":
        return f"({cpp_expr(e[2])} ? {cpp_expr(e[3])} : {cpp_expr(e[4])})"
    if kind == "cast":
        return f"static_cast<{TYPES[e[1]]}>({cpp_expr(e[2])})"
    raise ValueError(kind)


def cpp_block(body, indent, out):
    pad = "  " * indent
    for s in body:
        if s[0] == "let":
            out.append(f"{pad}[[maybe_unused]] {TYPES[s[2]]} {s[1]} = {cpp_expr(s[3])};")
        elif s[0] == "assign":
            if s[3] == "=" or s[2] in ("f64", "u32"):
                out.append(f"{pad}{s[1]} {s[3]} {cpp_expr(s[4])};")
            else:
                out.append(f"{pad}{s[1]} = {cpp_expr(('binary', s[2], s[3][0], ('var', s[2], s[1]), s[4]))};")
        elif s[0] == "if":
            out.append(f"{pad}if ({cpp_expr(s[1])}) {{")
            cpp_block(s[2], indent + 1, out)
            if s[3]:
                out.append(f"{pad}}} else {{")
                cpp_block(s[3], indent + 1, out)
            out.append(pad + "}")
        elif s[0] == "switch":
            out.append(f"{pad}switch ({cpp_expr(s[1])} & 3) {{")
            for n, arm in enumerate(s[2]):
                out.append(f"{pad}  {'default' if n == len(s[2]) - 1 else f'case {n}'}: {{")
                cpp_block(arm, indent + 2, out)
                out.append(f"{pad}    break;\n{pad}  }}")
            out.append(pad + "}")
        elif s[0] == "loop":
            _, form, index, trips, small, inner = s
            bound = f"static_cast<int>(static_cast<unsigned>({small}) % 4u)" if trips == "small" else trips
            if trips == "small":
                out.append(f"{pad}const int {index}_end = {bound};")
                bound = f"{index}_end"
            if form == "up":
                out.append(f"{pad}for (int {index} = 0; {index} < {bound}; ++{index}) {{")
            elif form == "down":
                out.append(f"{pad}for (int {index} = {bound} - 1; {index} >= 0; --{index}) {{")
            elif form == "step":
                out.append(f"{pad}for (int {index} = 1; {index} <= {bound}; {index} += 2) {{")
            elif form == "while":
                out.append(f"{pad}int {index} = {bound};\n{pad}while ({index}-- > 0) {{")
            else:
                out.append(f"{pad}int {index} = 0;\n{pad}do {{")
            cpp_block(inner, indent + 1, out)
            out.append(f"{pad}}} while (++{index} < {bound});" if form == "do" else pad + "}")
        else:
            out.append(f"{pad}{s[0]};")


def cpp_text(kernel):
    out = [f"ADC_KERNEL void {kernel.name}(In x, Out y, [[maybe_unused]] int n) {{",
           "  adc::parallel(y.extent(0), [&](int i) {"]
    lines = []
    cpp_block(kernel.body, 2, lines)
    out += [lines[0].replace("double v =", "double v = x[i] *")] + lines[1:]
    out.append(f"    y[i] = {cpp_expr(kernel.result)};\n  }});\n}}")
    return "\n".join(out)


# ---- IR

BINARY = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor", "/": "div", "%": "rem"}
COMPARE = {"<": "lt", ">": "gt", "<=": "le", ">=": "ge", "==": "eq", "!=": "ne"}


class Printer:
    def __init__(self, kernel):
        self.lines, self.count, self.indent, self.kernel = [], 0, 2, kernel
        self.types = {}

    def say(self, text):
        self.lines.append("  " * self.indent + text)

    def made(self, text):
        self.count += 1
        self.say(f"%s{self.count} = {text}")
        return f"%s{self.count}"

    def expr(self, e, env):
        kind = e[0]
        if kind == "literal":
            return f"{e[2]}:{e[1]}" if e[1] != "i1" else e[2]
        if kind == "wrapped":
            u = self.made(f"rem (cast {env[e[1]]} to u32), {e[2]}")
            return self.made(f"cast {u} to i32")
        if kind == "load":
            return self.made(f"load %x[{self.expr(e[2], env).split(':')[0]}]")
        if kind == "var":
            return env[e[2]]
        if kind == "compare":
            a, b = self.expr(e[3], env), self.expr(e[4], env)
            return self.made(f"{COMPARE[e[2]]} {a}, {b}")
        if kind == "logic":
            # Nothing of it has an effect.
            a, b = self.expr(e[3], env), self.expr(e[4], env)
            return self.made(f"{'and' if e[2] == '&&' else 'or'} {a}, {b}")
        if kind == "binary":
            a, b = self.expr(e[3], env), self.expr(e[4], env)
            return self.made(f"{BINARY[e[2]]} {a}, {b}")
        if kind == "shift":
            return self.made(f"{'shl' if e[2] == '<<' else 'shr'} {self.expr(e[3], env)}, {e[4]}")
        if kind == "quotient":
            return self.made(f"{BINARY[e[2]]} {self.expr(e[3], env)}, {e[4]}")
        if kind == "divide":
            a, b = self.expr(e[2], env), self.expr(e[3], env)
            return self.made(f"div {a}, (add 2.0, (abs {b}))")
        if kind == "not":
            return self.made(f"not {self.expr(e[2], env)}")
        if kind == "call":
            a = [self.expr(one, env) for one in e[3]]
            # The library gives the first on a tie.
            return self.made(f"{e[2]} {', '.join(reversed(a))}")
        if kind == "choose":
            c, a, b = (self.expr(one, env) for one in e[2:5])
            return self.made(f"select {c}, {a}, {b}")
        if kind == "cast":
            of = e[2]
            a = self.expr(of, env)
            return self.made(f"cast {a} to {e[1]}") if of[1] != e[1] else a
        raise ValueError(kind)

    def block(self, body, env, leaves):
        """`leaves(env)`: what a jump hands on. True where the end is reached."""
        for s in body:
            if s[0] == "let":
                env[s[1]] = self.expr(s[3], env)
                self.types[s[1]] = s[2]
            elif s[0] == "assign":
                right = self.expr(s[4], env)
                env[s[1]] = right if s[3] == "=" else self.made(f"{BINARY[s[3][0]]} {env[s[1]]}, {right}")
            elif s[0] == "if":
                self.branch(self.expr(s[1], env), s[2], s[3], env, leaves)
            elif s[0] == "switch":
                value = self.made(f"and {self.expr(s[1], env)}, 3")
                self.arms(value, s[2], 0, env, leaves)
            elif s[0] == "loop":
                self.loop(s, env)
            else:
                self.say(f"{s[0]} {', '.join(leaves(env))}".rstrip())
                return False
        return True

    def arms(self, value, arms, n, env, leaves):
        if n == len(arms) - 1:
            inner = dict(env)
            self.block(arms[n], inner, leaves)
            for name in env:
                env[name] = inner[name]
            return
        names = sorted(set().union(*(assigned(arm, env) for arm in arms[n:])))
        condition = self.made(f"eq {value}, {n}")
        self.both(condition, names, env,
                  lambda e: self.block(arms[n], e, leaves), lambda e: (self.arms(value, arms, n + 1, e, leaves), True)[1])

    def branch(self, condition, then, other, env, leaves):
        names = sorted(assigned(then, env) | assigned(other, env))
        self.both(condition, names, env, lambda e: self.block(then, e, leaves), lambda e: self.block(other, e, leaves))

    def typed(self, value, name):
        return value if value.startswith("%") or ":" in value or value in ("true", "false") else f"{value}:{self.types[name]}"

    def both(self, condition, names, env, yes, no):
        results = []
        for name in names:
            self.count += 1
            results.append(f"%s{self.count}")
        head = f"{', '.join(results)} = " if results else ""
        self.say(f"{head}if {condition} {{")
        for side, build in enumerate((yes, no)):
            if side == 1:
                self.say("} else {")
            self.indent += 1
            inner = dict(env)
            if build(inner):
                if names:
                    self.say(f"yield {', '.join(inner[name] for name in names)}")
            self.indent -= 1
        self.say("}")
        for name, result in zip(names, results):
            env[name] = result

    def loop(self, s, env):
        _, form, index, trips, small, inner = s
        names = sorted(assigned(inner, env))
        bound = "%n" if trips == "n" else f"{trips}:i32"
        if trips == "small":
            bound = self.made(f"cast (rem (cast {env[small]} to u32), 4) to i32")
        bound_text = bound
        if form == "do":
            bound_text = self.made(f"max {bound}, 1")
        results, carried, body_env = [], [], dict(env)
        for name in names:
            self.count += 2
            results.append(f"%s{self.count - 1}")
            carried.append(f"%c{self.count}")
            body_env[name] = carried[-1]
        self.count += 1
        at = f"%t{self.count}"
        low, extra = "0", ""
        if form == "down":
            extra = " reversed"
        if form == "step":
            low, extra = "1", " step 2"
            bound_text = self.made(f"add {bound}, 1")
        carry = f" carry({', '.join(f'{c} = {env[name]}' for c, name in zip(carried, names))})" if names else ""
        head = f"{', '.join(results)} = " if results else ""
        low = low if bound_text.startswith("%") else low + ":i32"
        self.say(f"{head}for {at} in {low}..{bound_text}{extra}{carry} {{")
        self.indent += 1
        if form in ("up", "down", "step"):
            body_env[index] = at
        hand_on = lambda e: [e[name] for name in names]
        if self.block(inner, body_env, hand_on) and names:
            self.say(f"yield {', '.join(hand_on(body_env))}")
        self.indent -= 1
        self.say("}")
        for name, result in zip(names, results):
            env[name] = result


def ir_text(kernel):
    printer = Printer(kernel)
    env = {}
    first, rest = kernel.body[0], kernel.body[1:]
    start = printer.expr(first[3], env)
    own = printer.made("load %x[%i]")
    env["v"] = printer.made(f"mul {own}, {start}")
    printer.types["v"] = "f64"
    printer.block(rest, env, None)
    result = printer.expr(kernel.result, env)
    return "\n".join([f"kernel @{kernel.name}(%x: buffer<f64, 1> diff readonly, %y: buffer<f64, 1> diff, %n: i32) {{",
                      "  parallel %i in 0..shape(%y, 0) {"] + printer.lines +
                     [f"    store %y[%i], {result}", "  }", "}"])


# ---- The comparison

HEAD = """#include <adc/kernel.hpp>
#include <algorithm>
using In = adc::readonly<adc::diff<adc::buffer<double, 1>>>;
using Out = adc::diff<adc::buffer<double, 1>>;
"""


def numbers_of(path):
    data = open(path, "rb").read()
    at = 10 + struct.unpack("<H", data[8:10])[0]
    return struct.unpack(f"<{(len(data) - at) // 8}d", data[at:])


def near(a, b):
    if a != a or b != b or a in (float("inf"), -float("inf")):
        return (a != a) == (b != b) and (a != a or a == b)
    return abs(a - b) <= 1e-13 + 1e-9 * max(abs(a), abs(b))


def main():
    with tempfile.TemporaryDirectory(prefix="adc-cpp-kernels-") as scratch:
        return check(scratch)


def check(scratch):
    words = argparse.ArgumentParser()
    words.add_argument("adc")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--count", type=int, default=100)
    words.add_argument("--per-file", type=int, default=25)
    words.add_argument("--stay", help="a folder for the kernels, which stays; their number and seed make them again")
    words = words.parse_args()
    folder = words.stay or scratch
    os.makedirs(folder, exist_ok=True)
    data = random.Random(words.seed)
    x = [round(data.uniform(-1.6, 1.6), 3) for _ in range(INPUTS)]
    seeds = [round(data.uniform(0.3, 2), 3) for _ in range(CELLS)]
    tangents = [round(data.uniform(-1, 1), 3) for _ in range(INPUTS)]
    shown = lambda values: "[" + ",".join(map(str, values)) + "]"
    common = [f"--arg=x={shown(x)}", "--arg=n=3", f"--shape=y={CELLS}", "--threads=1", "--trust"]
    failed = compared = moving = 0

    def run(bundle, kernel, extra, out):
        path = os.path.join(folder, out)
        done = subprocess.run([words.adc, "run", bundle, f"--kernel={kernel}", *common, *extra, f"--out={extra[-1]}"][:-1] +
                              [f"--out={OUTS[kernel.split('.')[-1] if '.' in kernel else '']}=@{path}"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return numbers_of(path)

    OUTS = {"": "y", "grad": "x.adj", "jvp": "y.tan"}
    for first in range(0, words.count, words.per_file):
        kernels = [Kernel(words.seed * 1000003 + n, f"k{n}") for n in range(first, min(first + words.per_file, words.count))]
        bundles = []
        for suffix, text in (("cpp", HEAD + "\n".join(map(cpp_text, kernels))), ("ir", "\n".join(map(ir_text, kernels)))):
            path = os.path.join(folder, f"kernels_{first}.{suffix}")
            open(path, "w").write(text + "\n")
            bundles.append(path + ".adcb")
            done = subprocess.run([words.adc, "--target=cpu", "--fp=strict", "--derive=grad,jvp", "-o", bundles[-1], path],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                print(f"seed {words.seed}: {path} does not compile:\n{done.stderr}")
                return 1
        for kernel in kernels:
            compared += 1
            for derived, extra in (("", ["--trust"]),
                                   (".grad", [f"--arg=y.adj={shown(seeds)}", "--trust"]),
                                   (".jvp", [f"--arg=x.tan={shown(tangents)}", "--trust"])):
                a, b = (run(bundle, kernel.name + derived, extra, f"{n}.npy") for n, bundle in enumerate(bundles))
                same = all(struct.pack("<d", p) == struct.pack("<d", q) or (p != p and q != q) if not derived else near(p, q)
                           for p, q in zip(a, b))
                moving += derived == ".grad" and any(a)
                if not same:
                    failed += 1
                    print(f"seed {words.seed}, {kernel.name}{derived} in {folder}/kernels_{first}.cpp and .ir:\n  C++ {a}\n  IR  {b}")
    if failed and not words.stay:
        print("--stay FOLDER leaves the files there")
    print(f"seed {words.seed}: {compared} kernels as C++ and as IR, {moving} with a gradient, {failed} differences")
    return 1 if failed or moving * 2 < compared else 0


if __name__ == "__main__":
    sys.exit(main())
