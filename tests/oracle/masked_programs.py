"""Random programs in which singular operations are masked, each written as IR, C++, GLSL or HLSL.

A program is a list of lets and early returns over three numbers a, b and c, and a result. Expressions are tuples:
  ("in", 0..2), ("const", x), ("var", name), ("op", name, args...), ("choose", form, condition, taken, other),
  ("loop", form, trips, name, first, next, condition, other)
and conditions ("cmp", operator, x, y), ("nan", x), ("not", condition), ("and", condition, condition). `form` is how a door
says the choice; its meaning is always the same. A loop carries `name`, which begins as `first` and becomes `next`, an expression
of itself, in each iteration; from the second iteration on it becomes `other` where the condition holds, and with `break` the
loop ends there.
"""

import random

DOORS = ("ir", "cpp", "glsl", "hlsl")
NAMES = "abc"

# What is singular somewhere: the operation, the comparison that keeps away from the edge, and the edge.
SINGULAR = [("sqrt", ">", 0.0), ("rsqrt", ">", 0.0), ("rcp", "!=", 0.0), ("log", ">", 0.0), ("log2", ">", 0.0),
            ("asin", "<", 1.0), ("asin", ">", -1.0), ("acos", "<", 1.0), ("acos", ">", -1.0), ("log10", ">", 0.0),
            ("log1p", ">", -1.0), ("cbrt", "!=", 0.0), ("acosh", ">", 1.0), ("atanh", "<", 1.0), ("atanh", ">", -1.0)]
SMOOTH = ["sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "exp", "exp2", "abs", "neg", "erf", "expm1", "asinh", "floor"]
BINARY = ["add", "sub", "mul", "add", "sub", "mul"]
SINGULAR_BINARY = ["div", "div", "pow", "atan2", "hypot", "unit", "rem", "mod"]
BITS = ["bits.abs", "bits.neg", "bits.copysign", "copysign", "half"]
MEANING = {"bits.abs": "abs", "bits.neg": "neg", "norm": "hypot", "root": "hypot"}

LACKS = {
    "ir": set(), "cpp": {"rsqrt", "rcp", "mod", "half"},
    "glsl": {"log10", "log1p", "cbrt", "erf", "expm1", "rem", "copysign"},
    "hlsl": {"log1p", "cbrt", "erf", "expm1", "asinh", "acosh", "atanh", "mod", "copysign", "log10"},
}
FORMS = {
    "ir": ["select", "select", "if", "if", "bits", "swap", "trip", "array", "over", "continue", "break", "last", "two"],
    "cpp": ["?:", "?:", "if", "if", "bits", "swap", "trip", "array", "over", "continue", "break", "last", "two", "lambda"],
    "glsl": ["?:", "?:", "mix", "mix", "if", "bits", "swap", "trip", "array", "over", "continue", "break", "last", "two", "function"],
    "hlsl": ["?:", "?:", "if", "if", "bits", "swap", "trip", "array", "over", "continue", "break", "last", "two"],
}


class Program:
    def __init__(self, seed, door):
        self.rng, self.door, self.count = random.Random(seed), door, 0
        self.items, self.vars = [], []
        for _ in range(self.rng.choice((0, 1, 1, 2, 2, 3))):
            if self.chance(0.2):
                self.items.append(("return", *self.guarded_return()))
            else:
                self.count += 1
                # The expression first: a name is known behind its let.
                e = self.singular(1) if self.chance(0.7) else self.expr(2)
                self.items.append(("let", f"v{self.count}", e))
                self.vars.append(f"v{self.count}")
        self.items.append(("result", self.masked(2)))

    def chance(self, p):
        return self.rng.random() < p

    def has(self, op):
        return op not in LACKS[self.door]

    # ---- expressions

    def leaf(self):
        if self.vars and self.chance(0.6):
            return ("var", self.rng.choice(self.vars))
        return self.input()

    def input(self):
        return ("in", self.rng.randrange(3))

    def constant(self):
        return ("const", self.rng.choice((0.0, 1.0, -1.0, 0.5, 2.0, 0.25, 3.0)))

    def expr(self, depth):
        roll = self.rng.random()
        if depth <= 0 or roll < 0.15:
            return self.leaf()
        if roll < 0.35:
            op = self.rng.choice(BINARY)
            other = self.constant() if self.chance(0.3) else self.expr(depth - 1)
            return ("op", op, self.expr(depth - 1), other)
        if roll < 0.45:
            return ("op", self.pick(SMOOTH), self.expr(depth - 1))
        if roll < 0.55:
            return self.bits(depth)
        if roll < 0.75:
            return self.singular(depth)
        if roll < 0.8:
            return ("op", self.rng.choice(("min", "max")), self.expr(depth - 1), self.expr(depth - 1))
        if roll < 0.86 and self.door == "ir":
            return ("op", "clamp", self.expr(depth - 1), self.constant(), self.leaf())
        if roll < 0.93:
            return self.loop(depth - 1)
        return self.masked(depth - 1)

    def loop(self, depth):
        """A loop that carries what may be no number, and may drop it later."""
        self.count += 1
        name, first = f"l{self.count}", self.expr(depth)
        outside, self.vars = self.vars, self.vars + [name]
        carried = ("var", name)
        step = ("op", self.rng.choice([row[0] for row in SINGULAR if self.has(row[0])]), carried) if self.chance(0.5) else self.singular(1)
        if self.chance(0.6):
            step = ("op", self.rng.choice(BINARY), step, self.rng.choice((carried, self.leaf())))
        condition = self.rng.choice((self.condition(), self.compare(carried, self.constant()), ("nan", carried),
                                     ("not", self.compare(carried, self.constant()))))
        self.vars = outside
        form = self.rng.choice(("break", "continue", "if"))
        return ("loop", form, self.rng.choice((2, 2, 3)), name, first, step, condition, self.expr(depth))

    def pick(self, ops):
        return self.rng.choice([op for op in ops if self.has(op)])

    def bits(self, depth):
        op = self.pick(BITS)
        if "copysign" not in op:
            return ("op", op, self.expr(depth - 1))
        if op == "copysign":
            return ("op", op, self.expr(depth - 1), self.expr(depth - 1))
        # Of different inputs: the sign of a number itself, or on a constant, is no idiom, and W0418 says so.
        first = self.rng.randrange(3)
        return ("op", op, ("in", first), ("in", (first + self.rng.choice((1, 2))) % 3))

    def singular(self, depth):
        """A singular operation, of what is not computed from constants alone."""
        if self.chance(0.35):
            op = self.pick(SINGULAR_BINARY)
            a, b = self.expr(depth - 1), self.expr(depth - 1)
            if op == "hypot":
                return ("op", self.rng.choice(("hypot", "norm", "root") if self.door in ("ir", "cpp") else ("norm", "root")), self.input(), self.input())
            if op == "unit":
                return ("op", op, self.input(), self.input())
            if op == "div":
                a = self.constant() if self.chance(0.3) else a
                return ("op", op, a, self.own(b))
            if op == "pow" and self.chance(0.6):
                b = ("const", self.rng.choice((0.5, -1.0, 1.5, 0.25, 2.5, 3.0)))
                return ("op", op, self.own(a), b)
            return ("op", op, a, b)
        op = self.rng.choice([row for row in SINGULAR if self.has(row[0])])[0]
        return ("op", op, self.own(self.expr(depth - 1)))

    def own(self, e):
        """e, unless its root or quotient has a rule of its own: of sums of squares, of lengths."""
        return e if e[0] in ("in", "const") else self.input() if self.is_special(e) else e

    def is_special(self, e):
        if e[0] == "var":
            return self.is_special(self.value_of(e[1]))
        if e[0] == "choose":
            return self.is_special(e[3]) or self.is_special(e[4])
        if e[0] == "loop":
            return True
        return e[0] == "op" and e[1] in ("add", "mul", "pow", "hypot", "norm", "root", "abs", "bits.abs", "sub", "neg", "bits.neg", "sqrt", "min", "max")

    def value_of(self, name):
        return next((item[2] for item in self.items if item[0] == "let" and item[1] == name), ("loop",))

    # ---- what is masked

    def compare(self, x, y):
        return ("cmp", self.rng.choice((">", "<", ">=", "<=", "==", "!=")), x, y)

    def condition(self):
        roll = self.rng.random()
        if roll < 0.6:
            return self.compare(self.input(), self.constant())
        if roll < 0.7:
            return ("not", self.condition())
        if roll < 0.8:
            return ("and", self.condition(), self.condition())
        if roll < 0.9:
            return self.compare(self.input(), self.input())
        return self.compare(self.leaf(), self.constant())

    def masked(self, depth):
        """A choice; most of them keep a singular operation away from its edge."""
        form = self.rng.choice(FORMS[self.door])
        roll = self.rng.random()
        other = self.constant() if self.chance(0.35) else self.expr(depth - 1)
        if roll < 0.5:
            op, sign, edge = self.rng.choice([row for row in SINGULAR if self.has(row[0])])
            x = self.own(self.leaf())
            taken = ("op", op, x)
            for _ in range(self.rng.choice((0, 0, 1, 2))):
                taken = ("op", self.pick(SMOOTH), taken) if self.chance(0.5) else ("op", self.rng.choice(BINARY), taken, self.leaf())
            condition = ("cmp", sign, x, ("const", edge))
        elif roll < 0.6:
            x = self.leaf()
            return ("choose", form, ("nan", x), other, x)
        elif roll < 0.75 and self.vars:
            taken, condition = ("var", self.rng.choice(self.vars)), self.condition()
        else:
            taken, condition = self.expr(depth), self.condition()
        if self.chance(0.25):
            return ("choose", form, ("not", condition), other, taken)
        return ("choose", form, condition, taken, other)

    def guarded_return(self):
        return self.condition(), self.expr(1)


class Named:
    """A function over buffers with a vjp of its own, which gets one buffer for two of its parameters."""

    # What it computes of a number, and its derivative, written over `%p` and the result `%r`.
    SLOPES = {"sqrt": "div 0.5, %r", "log": "div 1.0, %p", "rcp": "neg (mul %r, %r)", "rsqrt": "mul -0.5, (mul %r, (mul %r, %r))",
              "sin": "cos %p", "exp": "add %r, 0.0"}

    def __init__(self, seed, door):
        rng = random.Random(seed)
        self.door, self.op = door, rng.choice(sorted(self.SLOPES))
        self.first, self.second = rng.randrange(3), rng.randrange(3)
        self.swapped, self.product = rng.random() < 0.5, rng.random() < 0.6
        self.sign, self.edge = rng.choice((">", "<", ">=", "!=")), rng.choice((0.0, 1.0, -1.0))
        p, q = ("in", self.first), ("in", self.second)
        taken = ("op", "mul" if self.product else "add", ("op", self.op, p), q)
        self.items = [("result", ("choose", "if", ("cmp", self.sign, p, ("const", self.edge)), taken, q))]

    def lines(self, k, real):
        a, b, ga, gb = ("%b", "%a", "%gb", "%ga") if self.swapped else ("%a", "%b", "%ga", "%gb")
        buffer, at, of = f"buffer<{real}, 1>", f"(add %j, {self.first})", f"(add %j, {self.second})"
        reads = [f"  %p = load {a}[{at}]", f"  %q = load {b}[{of}]", f"  %c = {IR.COMPARE[self.sign]} %p, {self.edge!r}"]
        out = [f"func @f{k}(%a: {buffer}, %b: {buffer}, %y: {buffer}, %j: i32, %i: i32) vjp @g{k} {{"] + reads
        out += [f"  %v = if %c {{ %r = {self.op} %p  %s = {'mul' if self.product else 'add'} %r, %q  yield %s }} else {{ yield %q }}"]
        out += ["  store %y[%i], %v", "}"]
        out += [f"func @g{k}(%a: {buffer}, %b: {buffer}, %y: {buffer}, %j: i32, %i: i32, %ga: {buffer}, %gb: {buffer}, %gy: {buffer}) {{"] + reads
        out += ["  %g = load %gy[%i]", "  if %c {", f"    %r = {self.op} %p", f"    %slope = {self.SLOPES[self.op]}"]
        scaled = "(mul %g, %q)" if self.product else "%g"
        out += [f"    add_to {ga}[{at}], (mul {scaled}, %slope)", f"    add_to {gb}[{of}], {'(mul %g, %r)' if self.product else '%g'}"]
        return out + [f"  }} else {{ add_to {gb}[{of}], %g }}", "  store %gy[%i], 0.0", "}"]


# ---- printing


class Writer:
    """Lines of one program in one door. An expression may need lines in front of it."""

    def __init__(self, program, real, indent):
        self.program, self.real, self.lines, self.indent, self.count = program, real, [], indent, 0
        self.f32 = real in ("f32", "float")

    def say(self, line):
        self.lines.append("  " * self.indent + line)

    def fresh(self):
        self.count += 1
        return f"s{self.count}"

    def write(self):
        self.items(self.program.items)
        return self.lines

    def expr(self, e):
        if e[0] == "in":
            return self.named(NAMES[e[1]])
        if e[0] == "var":
            return self.named(e[1])
        if e[0] == "const":
            return self.literal(e[1])
        if e[0] == "choose":
            return self.choose(e[1], self.condition(e[2]), e[3], e[4])
        if e[0] == "loop":
            return self.loop(*e[1:])
        return self.operation(e[1], [self.expr(x) for x in e[2:]])


class Text(Writer):
    """C++, GLSL and HLSL."""

    BITS = {"cpp": None, "glsl": ("floatBitsToUint", "uintBitsToFloat"), "hlsl": ("asuint", "asfloat")}
    CALLS = {
        "cpp": {"abs": "std::abs", "norm": "adc::length", "rem": "std::fmod", "floor": "std::floor"},
        "glsl": {"rsqrt": "inversesqrt", "atan2": "atan", "rem": "mod"},
        "hlsl": {"rem": "fmod"},
    }

    def __init__(self, program, real, indent):
        super().__init__(program, real, indent)
        self.door = program.door
        self.word = "uint" if self.door != "cpp" else "unsigned" if self.f32 else "unsigned long long"

    def named(self, name):
        return name

    def literal(self, x):
        return f"({x!r}{'f' if self.f32 else ''})" if x < 0 else f"{x!r}{'f' if self.f32 else ''}"

    def condition(self, c):
        if c[0] == "cmp":
            return f"({self.expr(c[2])} {c[1]} {self.expr(c[3])})"
        if c[0] == "nan":
            x = self.expr(c[1])
            return f"std::isnan({x})" if self.door == "cpp" else f"isnan({x})"
        if c[0] == "not":
            return f"!{self.condition(c[1])}"
        return f"({self.condition(c[1])} && {self.condition(c[2])})"

    def to_bits(self, x):
        return f"std::bit_cast<{self.word}>({x})" if self.door == "cpp" else f"{self.BITS[self.door][0]}({x})"

    def from_bits(self, x):
        return f"std::bit_cast<{self.real}>({x})" if self.door == "cpp" else f"{self.BITS[self.door][1]}({x})"

    def masks(self):
        sign, suffix = 1 << (31 if self.f32 else 63), "u" if self.f32 else "ull"
        return f"{sign:#x}{suffix}", f"{sign - 1:#x}{suffix}"

    def operation(self, op, args):
        sign, rest = self.masks()
        if op in ("add", "sub", "mul", "div"):
            return f"({args[0]} {dict(add='+', sub='-', mul='*', div='/')[op]} {args[1]})"
        if op == "neg":
            return f"(-{args[0]})"
        if op == "rcp":
            return f"({self.literal(1.0)} / {args[0]})"
        if op == "bits.abs":
            return self.from_bits(f"{self.to_bits(args[0])} & {rest}")
        if op == "bits.neg":
            return self.from_bits(f"{self.to_bits(args[0])} ^ {sign}")
        if op == "bits.copysign":
            return self.from_bits(f"({self.to_bits(args[0])} & {rest}) | ({self.to_bits(args[1])} & {sign})")
        if op == "half":
            return f"unpackHalf2x16(packHalf2x16(vec2({args[0]}, 0.5))).x" if self.door == "glsl" else f"f16tof32(f32tof16({args[0]}))"
        vector = {"cpp": f"adc::vec<{self.real}, 2>{{{', '.join(args)}}}", "glsl": f"vec2({', '.join(args)})",
                  "hlsl": f"float2({', '.join(args)})"}[self.door]
        if op == "norm":
            return f"{'adc::' if self.door == 'cpp' else ''}length({vector})"
        if op == "unit":
            return f"{'adc::' if self.door == 'cpp' else ''}normalize({vector}){'[0]' if self.door == 'cpp' else '.x'}"
        if op == "root":
            a, b = args
            return f"{'std::' if self.door == 'cpp' else ''}sqrt({a} * {a} + {b} * {b})"
        call = self.CALLS[self.door].get(op, ("std::" if self.door == "cpp" else "") + ("pow" if op == "pow" else op))
        return f"{call}({', '.join(args)})"

    def block(self, head, body):
        self.say(head.replace("((", "(", 1)[:-1] + " {" if head.startswith("if ((") and head.count("(") == 2 else head + " {")
        self.indent += 1
        body()
        self.indent -= 1
        self.say("}")

    def set(self, name, e):
        value = self.expr(e)
        self.say(f"{name} = {value};")

    def choose(self, form, c, taken, other):
        if form in ("?:", "mix", "bits", "swap", "function"):
            a, b = self.expr(taken), self.expr(other)
            if form == "mix":
                return f"mix({b}, {a}, {c})"
            if form == "?:":
                return f"({c} ? {a} : {b})"
            if form == "function":
                return f"chosen({c}, {a}, {b})"
            m, x, y = self.fresh(), self.fresh(), self.fresh()
            self.say(f"{self.word} {m} = 0u - {self.word}({c});" if self.door != "cpp" else f"{self.word} {m} = static_cast<{self.word}>(0) - static_cast<{self.word}>({c});")
            self.say(f"{self.word} {x} = {self.to_bits(a)}, {y} = {self.to_bits(b)};")
            return self.from_bits(f"({x} & {m}) | ({y} & ~{m})" if form == "bits" else f"{y} ^ (({x} ^ {y}) & {m})")
        r, t, one = self.fresh(), self.fresh(), self.literal(0.0)
        number = f"int({c})" if self.door != "cpp" else f"static_cast<int>({c})"
        if form == "lambda":
            a, b = self.expr(taken), self.expr(other)
            return f"[&] {{ if ({c}) return {self.real}({a}); return {self.real}({b}); }}()"
        if form == "array":
            self.say(f"{self.real} {r}[2];")
            self.set(f"{r}[0]", other)
            self.set(f"{r}[1]", taken)
            return f"{r}[{number}]"
        self.say(f"{self.real} {r} = {one};")
        if form == "if":
            self.block(f"if ({c})", lambda: self.set(r, taken))
            self.block("else", lambda: self.set(r, other))
        elif form == "two":
            self.set(r, other)
            self.block(f"if ({c})", lambda: self.set(r, taken))
        elif form == "over":
            self.set(r, taken)
            self.block(f"if (!{c})", lambda: self.set(r, other))
        elif form == "trip":
            self.set(r, other)
            self.block(f"for (int {t} = 0; {t} < {number}; ++{t})", lambda: self.set(r, taken))
        elif form == "last":
            def turn():
                self.block(f"if ({t} > 0)", lambda: self.set(r, taken))
                self.block("else", lambda: self.set(r, other))
            self.block(f"for (int {t} = 0; {t} < 1 + {number}; ++{t})", turn)
        else:
            def body():
                self.set(r, other)
                self.say(f"if (!{c}) {form};")
                self.set(r, taken)
            self.block(f"for (int {t} = 0; {t} < 2; ++{t})", body)
        return r

    def loop(self, form, trips, name, first, step, condition, other):
        t, value = self.fresh(), self.expr(first)
        self.say(f"{self.real} {name} = {value};")

        def drop():
            self.set(name, other)
            if form != "if":
                self.say(f"{form};")

        def body():
            c = self.condition(condition)
            self.block(f"if ({t} > 0 && {c})", drop)
            self.block("else", lambda: self.set(name, step)) if form == "if" else self.set(name, step)
        self.block(f"for (int {t} = 0; {t} < {trips}; ++{t})", body)
        return name

    def items(self, items):
        for item in items:
            if item[0] == "let":
                value = self.expr(item[2])
                self.say(f"{self.real} {item[1]} = {value};")
            elif item[0] == "return":
                c = self.condition(item[1])
                def body(e=item[2]):
                    value = self.expr(e)
                    self.say(f"return {value};")
                self.block(f"if ({c})", body)
            else:
                value = self.expr(item[1])
                self.say(f"return {value};")


class IR(Writer):
    COMPARE = {">": "gt", "<": "lt", ">=": "ge", "<=": "le", "==": "eq", "!=": "ne"}

    def named(self, name):
        return "%" + name

    def literal(self, x):
        return f"{x!r}:{self.real}"

    def made(self, text):
        name = "%" + self.fresh()
        self.say(f"{name} = {text}")
        return name

    def condition(self, c):
        if c[0] == "cmp":
            return self.made(f"{self.COMPARE[c[1]]} {self.expr(c[2])}, {self.expr(c[3])}")
        if c[0] == "nan":
            return self.made(f"isnan {self.expr(c[1])}")
        if c[0] == "not":
            return self.made(f"not {self.condition(c[1])}")
        return self.made(f"and {self.condition(c[1])}, {self.condition(c[2])}")

    def operation(self, op, args):
        word, sign = ("u32", 1 << 31) if self.f32 else ("u64", 1 << 63)
        bits = lambda x: f"(bitcast {x} to {word})"
        if op.startswith("bits."):
            text = {"abs": lambda: f"(and {bits(args[0])}, {sign - 1:#x})", "neg": lambda: f"(xor {bits(args[0])}, {sign:#x})",
                    "copysign": lambda: f"(or (and {bits(args[0])}, {sign - 1:#x}), (and {bits(args[1])}, {sign:#x}))"}[op[5:]]()
            return self.made(f"bitcast {text} to {self.real}")
        if op == "half":
            return self.made(f"cast (cast {args[0]} to f16) to {self.real}")
        if op == "norm":
            return self.made(f"norm (vec.make {', '.join(args)})")
        if op == "unit":
            return self.made(f"vec.get (normalize (vec.make {', '.join(args)})), 0")
        if op == "root":
            a, b = args
            return self.made(f"sqrt (add (mul {a}, {a}), (mul {b}, {b}))")
        return self.made(f"{op} {', '.join(args)}")

    def region(self, e, ends="yield"):
        self.indent += 1
        value = self.expr(e)
        self.say(f"{ends} {value}")
        self.indent -= 1

    def branch(self, c, taken, other):
        name = "%" + self.fresh()
        self.say(f"{name} = if {c} {{")
        self.region(taken)
        self.say("} else {")
        self.region(other)
        self.say("}")
        return name

    def choose(self, form, c, taken, other):
        word = "u32" if self.f32 else "u64"
        if form == "if":
            return self.branch(c, taken, other)
        if form in ("select", "bits", "swap", "array", "over", "two"):
            a, b = self.expr(taken), self.expr(other)
            if form == "select":
                return self.made(f"select {c}, {a}, {b}")
            if form in ("bits", "swap"):
                m = self.made(f"sub 0, (cast {c} to {word})")
                x, y = self.made(f"bitcast {a} to {word}"), self.made(f"bitcast {b} to {word}")
                text = f"or (and {x}, {m}), (and {y}, (not {m}))" if form == "bits" else f"xor {y}, (and (xor {x}, {y}), {m})"
                return self.made(f"bitcast ({text}) to {self.real}")
            cells = self.made(f"alloca array<{self.real}, 2>")
            if form == "array":
                self.say(f"store {cells}[0], {b}")
                self.say(f"store {cells}[1], {a}")
                return self.made(f"load {cells}[(cast {c} to i32)]")
            first, second, when = (a, b, self.made(f"not {c}")) if form == "over" else (b, a, c)
            self.say(f"store {cells}[0], {first}")
            self.say(f"if {when} {{ store {cells}[0], {second} }}")
            return self.made(f"load {cells}[0]")
        if form == "last":
            return self.last(c, taken, other)
        b = self.expr(other)
        r, t, carried = "%" + self.fresh(), "%" + self.fresh(), "%" + self.fresh()
        if form == "trip":
            n = self.made(f"cast {c} to i32")
            self.say(f"{r} = for {t} in 0..{n} carry({carried} = {b}) {{")
            self.region(taken)
        else:
            self.say(f"{r} = for {t} in 0..2 carry({carried} = {self.literal(0.0)}) {{")
            self.indent += 1
            self.say(f"if (not {c}) {{ {form} {b} }}")
            self.indent -= 1
            self.region(taken)
        self.say("}")
        return r

    def loop(self, form, trips, name, first, step, condition, other):
        r, t = "%" + self.fresh(), "%" + self.fresh()
        value = self.expr(first)
        self.say(f"{r} = for {t} in 0..{trips} carry(%{name} = {value}) {{")
        self.indent += 1
        c = self.made(f"and (gt {t}, 0), {self.condition(condition)}")
        if form == "if":
            value = self.branch(c, other, step)
            self.say(f"yield {value}")
        else:
            self.say(f"if {c} {{")
            self.region(other, form)
            self.say("}")
            value = self.expr(step)
            self.say(f"yield {value}")
        self.indent -= 1
        self.say("}")
        return r

    def last(self, c, taken, other):
        """A loop whose second iteration, if there is one, overwrites what the first one made."""
        r, t = "%" + self.fresh(), "%" + self.fresh()
        trips = self.made(f"add 1, (cast {c} to i32)")
        self.say(f"{r} = for {t} in 0..{trips} carry(%{self.fresh()} = {self.literal(0.0)}) {{")
        self.indent += 1
        value = self.branch(self.made(f"gt {t}, 0"), taken, other)
        self.say(f"yield {value}")
        self.indent -= 1
        self.say("}")
        return r

    def items(self, items):
        self.say(f"return {self.rest(items)}")

    def rest(self, items):
        item = items[0]
        if item[0] == "result":
            return self.expr(item[1])
        if item[0] == "let":
            value = self.expr(item[2])
            self.say(f"%{item[1]} = mul {value}, 1.0" if not value.startswith("%") else f"%{item[1]} = select true, {value}, {value}")
            return self.rest(items[1:])
        c, name = self.condition(item[1]), "%" + self.fresh()
        self.say(f"{name} = if {c} {{")
        self.region(item[2])
        self.say("} else {")
        self.indent += 1
        value = self.rest(items[1:])
        self.say(f"yield {value}")
        self.indent -= 1
        self.say("}")
        return name


def file_of(programs, door, real, points, rng):
    """The text of one file that runs all programs at `points` points each."""
    writer = IR if door == "ir" else Text
    n, out = points, []
    if door == "vjp":
        for k, program in enumerate(programs):
            out += program.lines(k, real)
        out.append(f"kernel @k(%x: buffer<{real}, 1> diff, %y: buffer<{real}, 1> diff) {{")
        for k in range(len(programs)):
            out.append(f"  parallel %i in 0..{n} {{ call @f{k}(%x, %x, %y, (add (mul %i, 3), {3 * n * k}), (add %i, {n * k})) }}")
        return "\n".join(out + ["}"]) + "\n"
    bodies = [writer(p, real, 1).write() for p in programs]
    if door == "ir":
        for k, lines in enumerate(bodies):
            out += [f"func @f{k}(%a: {real}, %b: {real}, %c: {real}) -> {real} {{"] + lines + ["}"]
        out.append(f"kernel @k(%x: buffer<{real}, 1> diff readonly, %y: buffer<{real}, 1> diff) {{")
        for k in range(len(bodies)):
            out += [f"  parallel %i in 0..{n} {{", f"    %j = add (mul %i, 3), {3 * n * k}"]
            out.append(f"    %v = call @f{k}((load %x[%j]), (load %x[(add %j, 1)]), (load %x[(add %j, 2)]))")
            out += [f"    store %y[(add %i, {n * k})], %v", "  }"]
        return "\n".join(out + ["}"]) + "\n"
    for k, lines in enumerate(bodies):
        head = "inline " if door == "cpp" else ""
        out += [f"{head}{real} f{k}({real} a, {real} b, {real} c) {{"] + lines + ["}"]
    calls = [f"y[i + {n * k}] = f{k}(x[3 * i + {3 * n * k}], x[3 * i + {3 * n * k + 1}], x[3 * i + {3 * n * k + 2}]);" for k in range(len(bodies))]
    if door == "cpp":
        head = ["#include <adc/kernel.hpp>", "#include <algorithm>", "#include <bit>", "#include <cmath>"]
        tail = [f"ADC_KERNEL void k(adc::readonly<adc::diff<adc::buffer<{real}, 1>>> x, adc::diff<adc::buffer<{real}, 1>> y) {{"]
        tail += [f"  adc::parallel({n}, [&](int i) {{ {call} }});" for call in calls]
    elif door == "glsl":
        x, y = rng.choice(MARKERS)
        head = ["#version 460", f"layout(local_size_x = {n}) in;", f"layout(std430, binding = 0) readonly buffer X {x}",
                f"layout(std430, binding = 1) buffer Y {y}", "float chosen(bool c, float a, float b) { if (c) return a; return b; }"]
        tail = ["void main() {", "  uint i = gl_GlobalInvocationID.x;"] + ["  " + call for call in calls]
    else:
        y = rng.choice(("[[adc::diff]]", "[[adc::diff, adc::writeonce]]"))
        head = ["[[vk::binding(0)]] [[adc::diff]] StructuredBuffer<float> x;", f"[[vk::binding(1)]] {y} RWStructuredBuffer<float> y;"]
        tail = [f"[numthreads({n}, 1, 1)]", "void main(uint3 id : SV_DispatchThreadID) {", "  uint i = id.x;"] + ["  " + call for call in calls]
    return "\n".join(head + out + tail + ["}"]) + "\n"


# The forms of a marker: behind a member, behind the brace of its block, with more words, with other spaces.
MARKERS = [("{ float x[]; };  // adc: diff", "{ float y[]; };  // adc: diff"),
           ("{\n  float x[];  // adc: diff\n};", "{\n  float y[];  // adc: diff\n};"),
           ("{ float x[]; };  // adc: diff", "{ float y[]; };// adc: diff writeonce"),
           ("{\n  float x[];\n};  //  adc:  diff", "{\n  float y[];\n};  // adc: diff"),
           ("{ float x[]; };  // adc: diff", "{\n  float y[];  // adc: diff settled\n};")]
