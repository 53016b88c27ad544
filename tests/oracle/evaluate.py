"""What a kernel means, after docs/ir.md: values, and derivatives of the whole state behind it after that before it.

A kernel becomes one Python function, every vector and matrix taken apart into scalars. Each float that depends on a
parameter with `diff` has beside its value the number of an entry of a trace, which holds up to two earlier entries with
the partial derivatives. One sweep over the trace from its beginning gives tangents, one from its end adjoints; the two
share their partials, so that the test of a gradient against both is one of the compiler's sweeps, not of the oracle's.

Floats are rounded to their type after each operation. Integers wrap. Iterations of a `parallel` run one after the
other, and every access to a buffer is looked at: one out of range is OutOfRange, one that another iteration of the same
task can race with is Race. A kernel for which either is raised is not a program that means anything.

With `blurred`, the same kernel is written with a random error in what the specification leaves open: a unit in the last place
of sums, products and what is stored, four of functions, and any of equal values as the winner of an extremum. Such runs are what
right executions may differ by, and no more (execute.excuse).

Decisions. Comparisons, floors, casts to integers and the like stand on an edge where a rounding more or less decides.
`margin` is how near the kernel came to one, relative: where it is small, two right executions may differ. Values that
are "exact", sums, products, quotients and square roots of what nobody writes, have no such edge: the specification
fixes each bit of them, and what they decide about control flow and addresses has to come out as it is written.
"""

import ctypes
import math
import struct
import sys
from fractions import Fraction

import ir_text
from ir_text import Literal, Name, Node, Symbol

FLOATS = {"f16": 11, "f32": 24, "f64": 53}
INTEGERS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
CODES = {"f16": "e", "f32": "f", "f64": "d", "i1": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B",
         "u16": "H", "u32": "I", "u64": "Q"}


class OutOfRange(Exception):
    pass


class Left(Exception):
    """An `exit` in the text; its scope."""


class Race(Exception):
    pass


class TooLong(Exception):
    pass


class Untyped(Exception):
    """The module breaks a rule of types, or has something that this evaluator does not know."""


def is_float(type):
    return type in FLOATS


def shape_of(type):
    """Scalar, and the extents of a value's components: () of a scalar, (3,) of a vector, (2, 2) of a matrix."""
    return (type, ()) if isinstance(type, str) else (type[1], type[2:])


def count_of(type):
    return math.prod(shape_of(type)[1])


def with_scalar(type, scalar):
    return scalar if isinstance(type, str) else (type[0], scalar) + type[2:]


# ------------------------------------------------------------------------------------------------- arithmetic at run time


def r32(x, _c=ctypes.c_float):
    return _c(x).value


def r16(x):
    try:
        return struct.unpack("e", struct.pack("e", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def wrap(x, type):
    bits = INTEGERS[type]
    x &= (1 << bits) - 1
    return x - (1 << bits) if type[0] == "i" and bits > 1 and x >> (bits - 1) else x


def guarded(function):
    def call(*args):
        try:
            return function(*args)
        except ZeroDivisionError:
            return math.nan
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf
    return call


def f_div(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def f_sqrt(x):
    return math.sqrt(x) if x >= 0 else math.nan


def f_log(x):
    return math.log(x) if x > 0 else (-math.inf if x == 0 else math.nan)


def f_log2(x):
    return math.log2(x) if x > 0 else (-math.inf if x == 0 else math.nan)


def f_log10(x):
    return math.log10(x) if x > 0 else (-math.inf if x == 0 else math.nan)


def f_log1p(x):
    return math.log1p(x) if x > -1 else (-math.inf if x == -1 else math.nan)


def f_acosh(x):
    return math.acosh(x) if x >= 1 else math.nan


def f_atanh(x):
    return math.copysign(math.inf, x) if abs(x) == 1 else math.atanh(x) if abs(x) < 1 else math.nan


def f_sinpi(x):
    """sin(pi x), the half turns taken off without a rounding."""
    if not math.isfinite(x):
        return math.nan
    half = round(2 * math.fmod(x, 2.0))  # a double's fraction of 2 is exact, and so is what is left of it
    angle = math.pi * (math.fmod(x, 2.0) - half / 2)
    value = (math.sin(angle), math.cos(angle), -math.sin(angle), -math.cos(angle))[half % 4]
    return value if value else math.copysign(0.0, x)


def f_cospi(x):
    if not math.isfinite(x):
        return math.nan
    rest = math.fmod(abs(x), 2.0)
    half = round(2 * rest)
    angle = math.pi * (rest - half / 2)
    value = (math.cos(angle), -math.sin(angle), -math.cos(angle), math.sin(angle))[half % 4]
    return value if value else 0.0


def d_hypot(a, b):
    """a / hypot(a, b); 0 at (0, 0)."""
    length = math.hypot(a, b)
    return f_div(a, length) if length else 0.0


def f_fdim(a, b):
    return 0.0 if a <= b else a - b


def f_floor(x):
    return float(math.floor(x)) if math.isfinite(x) else x


def f_round(x):
    return math.copysign(float(round(x)), x) if math.isfinite(x) else x


def f_ceil(x):
    return float(math.ceil(x)) if math.isfinite(x) else x


def f_trunc(x):
    return float(math.trunc(x)) if math.isfinite(x) else x


def f_sgn(x):
    return x if x != x else float((x > 0) - (x < 0))


def f_rem(a, b):
    try:
        return math.fmod(a, b)
    except ValueError:
        return math.nan


def quotient(a, b, whole):
    """a / b made whole, without a rounding on the way."""
    if not (math.isfinite(a) and math.isfinite(b) and b):
        return whole(f_div(a, b)) if math.isfinite(f_div(a, b)) else math.nan
    return float(whole(Fraction(a) / Fraction(b)))


def f_mod(a, b):
    try:
        return a % b
    except ZeroDivisionError:
        return math.nan


def d_atan2(a, b):
    """a / (a^2 + b^2), wherever it can be represented."""
    length = math.hypot(a, b)
    return f_div(f_div(a, length), length)


def f_pow(a, b):
    try:
        return math.pow(a, b)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.inf if a == 0 else math.nan


def d_pow(a, b):
    """Partial derivatives of a^b."""
    by_a = b * f_pow(a, b - 1.0) if b else 0.0
    value = f_pow(a, b)
    return by_a, value * f_log(a) if value or a < 0 else 0.0


def f_fma(a, b, c):
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return float(exact) if exact else a * b + c


def i_div(a, b):
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def i_rem(a, b):
    return 0 if b == 0 else a - b * i_div(a, b)


def i_mod(a, b):
    return 0 if b == 0 else a % b


def i_floordiv(a, b):
    return 0 if b == 0 else a // b


def i_ceildiv(a, b):
    return 0 if b == 0 else -(-a // b)


def i_ctz(a, bits):
    return (a & -a).bit_length() - 1 if a & (1 << bits) - 1 else bits


def i_bitreverse(a, bits):
    return int(format(a & (1 << bits) - 1, f"0{bits}b")[::-1], 2)


def to_integer(x, type):
    if x != x:
        return 0
    bits = INTEGERS[type]
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if type[0] == "i" and bits > 1 else (0, (1 << bits) - 1)
    return low if x <= low else high if x >= high else math.trunc(x)


def cofactors(m, n):
    """The matrix of cofactors of n*n numbers, row by row."""
    def minor(rows, columns):
        if not rows:
            return 1.0
        first, rest = rows[0], rows[1:]
        return sum((-1) ** k * m[first * n + c] * minor(rest, columns[:k] + columns[k + 1:]) for k, c in enumerate(columns))
    every = list(range(n))
    return [(-1) ** (i + j) * minor([r for r in every if r != i], [c for c in every if c != j]) for i in every for j in every]


def determinant(m, n):
    c = cofactors(m, n)
    return sum(m[j] * c[j] for j in range(n)), c


def inverse(m, n):
    det, c = determinant(m, n)
    return [f_div(c[j * n + i], det) for i in range(n) for j in range(n)]


def philox(seed, counter, stream):
    """The four words of Philox4x32-10 (Salmon and others, 2011)."""
    word = 0xFFFFFFFF
    c, k = [counter & word, counter >> 32, stream & word, stream >> 32], [seed & word, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & word, a >> 32 ^ c[3] ^ k[1], a & word]
        k = [k[0] + 0x9E3779B9 & word, k[1] + 0xBB67AE85 & word]
    return c


def random_numbers(scalar, count, *operands):
    """Components of a random number; `operands`: (integer, bits) of seed, counter and stream."""
    words = philox(*(number & (1 << bits) - 1 for number, bits in (*operands, (0, 64))[:3]))
    pairs = [words[0] | words[1] << 32, words[2] | words[3] << 32]
    made = {"u32": lambda k: words[k], "u64": lambda k: pairs[k], "f32": lambda k: (words[k] >> 8) / 2.0 ** 24,
            "f16": lambda k: (words[k] >> 21) / 2.0 ** 11, "f64": lambda k: (pairs[k] >> 11) / 2.0 ** 53}
    return [made[scalar](k) for k in range(count)]


class Buffer:
    """Scalars of a buffer, or of a field of a layout, in C order; `nodes` are their entries in the trace."""
    __slots__ = ("name", "type", "scalar", "width", "extents", "values", "nodes", "diff", "reads", "writes", "sums",
                 "ever_read", "extrema", "overwritten", "outbid")

    def __init__(self, name, type, extents, values, diff):
        self.name, self.type, self.extents, self.values, self.diff = name, type, list(extents), list(values), diff
        self.scalar, self.width = shape_of(type)[0], count_of(type)
        self.nodes = [0] * len(self.values)
        self.reads, self.writes, self.sums = {}, {}, {}
        # Cells that were read, and whether one of them was written behind that; cells with extrema, and whether something
        # but the same extremum within one task came behind.
        self.ever_read, self.extrema, self.overwritten, self.outbid = set(), {}, False, False

    def at(self, *indices):
        offset = 0
        for index, extent in zip(indices, self.extents):
            if not 0 <= index < extent:
                raise OutOfRange(f"{self.name}{list(indices)} of {self.extents}")
            offset = offset * extent + index
        return offset * self.width

    def read(self, cell, turn):
        if self.writes.get(cell, turn) != turn or self.sums.get(cell, (turn,))[0] != turn:
            raise Race(f"{self.name} scalar {cell} is read")
        if self.reads.get(cell, turn) != turn:
            turn = -2
        self.reads[cell] = turn
        self.ever_read.add(cell)

    def write(self, cell, turn):
        if (self.writes.get(cell, turn) != turn or self.reads.get(cell, turn) != turn or
                self.sums.get(cell, (turn,))[0] != turn):
            raise Race(f"{self.name} scalar {cell} is written")
        self.writes[cell] = turn
        self.changed(cell, None)

    def sum(self, cell, turn, kind):
        if self.writes.get(cell, turn) != turn or self.reads.get(cell, turn) != turn:
            raise Race(f"{self.name} scalar {cell} is summed into")
        self.changed(cell, kind)
        owner, before = self.sums.get(cell, (turn, kind))
        if owner != turn:
            if before != kind:
                raise Race(f"{self.name} scalar {cell} sees atomics of two kinds")
            owner = -2
        self.sums[cell] = (owner, kind if before == kind else "mixed")

    def changed(self, cell, kind):
        self.overwritten |= cell in self.ever_read
        if cell in self.extrema:
            self.outbid |= self.extrema[cell] != kind or cell in self.ever_read
        if kind in ("min", "max"):
            self.extrema[cell] = kind

    def fresh(self):
        self.reads, self.writes, self.sums = {}, {}, {}
        self.extrema = {cell: "settled" for cell in self.extrema}


class Adjoints:
    """What a function's own vjp sees of a buffer: numbers that it reads and writes, by nobody watched."""

    def __init__(self, buffer, values):
        self.extents, self.width, self.values, self.diff = buffer.extents, buffer.width, values, False
        self.nodes = [0] * len(values)

    at = Buffer.at

    def read(self, cell, turn):
        pass

    write = read

    def sum(self, cell, turn, kind):
        pass


def extremum(is_min, old, old_node, value, node, trace):
    # Equal values are as a rule the same one again, which may win once or twice but counts once. Where they are not, the
    # order of the iterations decides; whether that matters only their derivatives tell.
    if node != old_node:
        if old != value:
            trace.near(old, value)
        else:
            trace.ties.append((old_node, node))
            other = trace.rng is not None and trace.rng.random() < 0.5
            trace.decided.append(other)
            if other:
                return value, node
    if is_min:
        return (value, node) if value < old else (old, old_node)
    return (value, node) if value > old else (old, old_node)


class Trace:
    """Entries (a, partial by a, b, partial by b) of earlier entries; entry 0 is what does not count."""

    def __init__(self, rng=None, units=1.0):
        self.entries = [(0, 0.0, 0, 0.0)]
        self.rng, self.units = rng, units  # of a blurred run
        self.decided = []  # outcomes of decisions that are not exact
        self.margin, self.ties = math.inf, []
        self.sign_of_zero = False  # somebody asked for it, which --fp=fast leaves open
        self.calls, self.gates = {}, set()  # of functions over buffers with a vjp of their own

    def blur(self, x, error):
        return x * (1.0 + self.rng.uniform(-1.0, 1.0) * error * self.units)

    def leaf(self):
        self.entries.append((0, 0.0, 0, 0.0))
        return len(self.entries) - 1

    def one(self, a, pa):
        if not a:
            return 0
        self.entries.append((a, pa, 0, 0.0))
        return len(self.entries) - 1

    def two(self, a, pa, b, pb):
        if not a and not b:
            return 0
        self.entries.append((a, pa if a else 0.0, b, pb if b else 0.0))
        return len(self.entries) - 1

    def many(self, pairs):
        node = 0
        for parent, partial in pairs:
            node = self.two(node, 1.0, parent, partial)
        return node

    def open(self, buffers):
        """A call of a function with its own vjp begins: the arguments of its derivative, read before it."""
        return [(buffer, list(buffer.nodes)) for buffer in buffers]

    def close(self, before, rule, scalars):
        """The call ends. Each element of its buffers gets an entry of its own: tangents pass it, the first one has the rule.

        `rule`: from the buffers' adjoints, which it changes, to those of `scalars`.
        """
        if not before:
            return
        first, gates = len(self.entries), []
        for buffer, _ in before:
            for cell, node in enumerate(buffer.nodes):
                gates.append(len(self.entries))
                self.entries.append((node, 1.0, 0, 0.0))
                buffer.nodes[cell] = gates[-1]
        self.gates.update(gates)
        self.calls[first] = (before, gates, rule, scalars)

    def pull(self, call, numbers, absolute):
        """Takes adjoints, or magnitudes, of what a call left to what it found."""
        before, gates, rule, scalars = call
        at, lists = 0, []
        for buffer, nodes in before:
            lists.append(Adjoints(buffer, [numbers[gate] for gate in gates[at:at + len(nodes)]]))
            at += len(nodes)
        given = rule(*lists)
        made = [(node, number) for (_, nodes), adjoints in zip(before, lists) for node, number in zip(nodes, adjoints.values)]
        for gate in gates:
            numbers[gate] = 0.0
        for node, number in made + list(zip(scalars, given)):
            numbers[node] += abs(number) if absolute else number

    def near(self, a, b):
        """Somebody compares `a` with `b`, and they are not exact. Zeros of both are, by what they are made of."""
        self.decided.append((a > b) - (a < b))
        if a == 0 and b == 0:
            return
        distance = abs(a - b) / max(abs(a), abs(b), 1e-2) if a != b else 0.0
        if distance < self.margin:
            self.margin = distance

    def near_integer(self, a):
        if math.isfinite(a):
            self.decided.append(math.floor(a))
            self.near(a, round(a))

    def sign(self, a, exact):
        """Somebody asks for the sign of `a`."""
        if a == 0:
            self.sign_of_zero = True
        if not exact:
            self.near(a, 0.0)

    def near_half(self, a):
        if math.isfinite(a):
            self.decided.append(math.floor(a + 0.5))
            self.near(a, math.floor(a) + 0.5)

    def path(self):
        """Equal of two runs that decided everything alike."""
        return self.decided, [entry[::2] for entry in self.entries]

    def adjoints(self, seeds):
        """Adjoints of all entries, and sums of magnitudes over all paths, from (entry, weight) pairs."""
        entries = self.entries
        adjoints, sizes = [0.0] * len(entries), [0.0] * len(entries)
        for node, weight in seeds:
            adjoints[node] += weight
            sizes[node] += abs(weight)
        for at in range(len(entries) - 1, 0, -1):
            size = sizes[at]
            if at in self.gates:
                if at in self.calls:
                    self.pull(self.calls[at], adjoints, False)
                    self.pull(self.calls[at], sizes, True)
            elif size:
                a, pa, b, pb = entries[at]
                g = adjoints[at]
                adjoints[a] += g * pa
                sizes[a] += size * abs(pa)
                if b:
                    adjoints[b] += g * pb
                    sizes[b] += size * abs(pb)
        return adjoints, sizes

    def tangents(self, seeds):
        entries = self.entries
        tangents, sizes = [0.0] * len(entries), [0.0] * len(entries)
        for node, weight in seeds:
            tangents[node], sizes[node] = weight, abs(weight)
        for at in range(1, len(entries)):
            a, pa, b, pb = entries[at]
            if a or b:
                tangents[at] = tangents[a] * pa + tangents[b] * pb
                sizes[at] = sizes[a] * abs(pa) + sizes[b] * abs(pb)
        tangents[0] = sizes[0] = 0.0
        return tangents, sizes


class Still(Adjoints):
    """A buffer as its function left it, for a rule that reads the elements of its own iteration."""

    def __init__(self, buffer):
        super().__init__(buffer, list(buffer.values))


RUN_TIME = {name: value for name, value in globals().items() if name[:2] in ("f_", "i_", "d_", "r1", "r3")}
RUN_TIME.update(wrap=wrap, Still=Still, to_integer=to_integer, math=math, inf=math.inf, nan=math.nan, Buffer=Buffer, Race=Race, TooLong=TooLong,
                extremum=extremum, random_numbers=random_numbers, determinant=determinant, inverse=inverse, cofactors=cofactors, quotient=quotient, struct=struct,
                x_exp=guarded(math.exp), x_exp2=guarded(lambda x: math.pow(2.0, x)), x_asin=guarded(math.asin),
                x_acos=guarded(math.acos), x_sinh=guarded(lambda x: math.sinh(x) if abs(x) < 700 else math.copysign(math.inf, x)), x_cosh=guarded(math.cosh), x_sin=guarded(math.sin),
                x_cos=guarded(math.cos), x_tan=guarded(math.tan), x_hypot=math.hypot, x_exp10=guarded(lambda x: math.pow(10.0, x)), x_expm1=guarded(math.expm1))

# Value and partial derivative of x. Partials are made of operands alone, in double precision: a result that was rounded to
# f16 would make them coarser than those that they judge.
UNARY = {
    "neg": ("-{x}", "-1.0"), "abs": ("abs({x})", "f_sgn({x})"), "sqrt": ("f_sqrt({x})", "f_div(0.5, f_sqrt({x}))"),
    "rsqrt": ("f_div(1.0, f_sqrt({x}))", "f_div(f_div(-0.5, f_sqrt({x})), {x})"),
    "rcp": ("f_div(1.0, {x})", "-f_div(f_div(1.0, {x}), {x})"),
    "sin": ("x_sin({x})", "x_cos({x})"), "cos": ("x_cos({x})", "-x_sin({x})"), "tan": ("x_tan({x})", "1.0 + x_tan({x}) ** 2"),
    "asin": ("x_asin({x})", "f_div(1.0, f_sqrt((1.0 - {x}) * (1.0 + {x})))"),
    "acos": ("x_acos({x})", "-f_div(1.0, f_sqrt((1.0 - {x}) * (1.0 + {x})))"),
    "atan": ("math.atan({x})", "1.0 / (1.0 + {x} * {x})"), "sinh": ("x_sinh({x})", "x_cosh({x})"),
    "cosh": ("x_cosh({x})", "x_sinh({x})"), "tanh": ("math.tanh({x})", "(1.0 / x_cosh({x})) ** 2"), "exp": ("x_exp({x})", "x_exp({x})"),
    "exp2": ("x_exp2({x})", "x_exp2({x}) * 0.6931471805599453"), "log": ("f_log({x})", "f_div(1.0, {x})"),
    "log2": ("f_log2({x})", "f_div(1.4426950408889634, {x})"),
    "erf": ("math.erf({x})", "1.1283791670955126 * x_exp(-{x} * {x})"),
    "erfc": ("math.erfc({x})", "-1.1283791670955126 * x_exp(-{x} * {x})"),
    "expm1": ("x_expm1({x})", "x_exp({x})"), "log1p": ("f_log1p({x})", "f_div(1.0, 1.0 + {x})"),
    "exp10": ("x_exp10({x})", "x_exp10({x}) * 2.302585092994046"), "log10": ("f_log10({x})", "f_div(0.4342944819032518, {x})"),
    "cbrt": ("math.cbrt({x})", "f_div(1.0, 3.0 * math.cbrt({x}) ** 2)"),
    "asinh": ("math.asinh({x})", "1.0 / math.hypot(1.0, {x})"),
    "acosh": ("f_acosh({x})", "f_div(1.0, f_sqrt({x} - 1.0) * f_sqrt({x} + 1.0))"),
    "atanh": ("f_atanh({x})", "f_div(1.0, (1.0 - {x}) * (1.0 + {x}))"),
    "sinpi": ("f_sinpi({x})", "math.pi * f_cospi({x})"), "cospi": ("f_cospi({x})", "-math.pi * f_sinpi({x})"),
}
PREDICATES = {"isnan": "{x} != {x}", "isinf": "abs({x}) == inf", "isfinite": "abs({x}) < inf"}
STEPS = {"sgn": "f_sgn({x})", "floor": "f_floor({x})", "ceil": "f_ceil({x})", "round": "f_round({x})", "trunc": "f_trunc({x})"}
BINARY = {
    "add": ("{a} + {b}", "1.0", "1.0"), "sub": ("{a} - {b}", "1.0", "-1.0"), "mul": ("{a} * {b}", "{b}", "{a}"),
    "div": ("f_div({a}, {b})", "f_div(1.0, {b})", "-f_div(f_div({a}, {b}), {b})"),
    "rem": ("f_rem({a}, {b})", "1.0", "-quotient({a}, {b}, math.trunc)"),
    "mod": ("f_mod({a}, {b})", "1.0", "-quotient({a}, {b}, math.floor)"),
    "pow": ("f_pow({a}, {b})", "d_pow({a}, {b})[0]", "d_pow({a}, {b})[1]"),
    "atan2": ("math.atan2({a}, {b})", "d_atan2({b}, {a})", "-d_atan2({a}, {b})"),
    "hypot": ("x_hypot({a}, {b})", "d_hypot({a}, {b})", "d_hypot({b}, {a})"),
    "copysign": ("math.copysign({a}, {b})", "math.copysign(1.0, {a}) * math.copysign(1.0, {b})", "0.0"),
    "fdim": ("f_fdim({a}, {b})", "0.0 if {a} <= {b} else 1.0", "0.0 if {a} <= {b} else -1.0"),
}
EXACT = {"neg", "abs", "sqrt", "rcp", "add", "sub", "mul", "div", "min", "max", "clamp", "select", "floor", "ceil", "round",
         "trunc", "sgn", "fma", "stop_gradient", "copysign", "fdim"}
ARITHMETIC = {"sqrt", "rcp", "add", "sub", "mul", "div", "fma"}  # one rounding each, where nobody contracts them
LEAVES = ("break", "continue", "exit")  # what ends more than the region around it
ROUGH = {"expm1", "log1p", "exp10", "log10", "cbrt", "erfc", "asinh", "acosh", "atanh", "sinpi", "cospi", "hypot",
         "rsqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "exp2", "log", "log2", "erf", "pow",
         "atan2", "rem", "mod", "floordiv", "dot", "cross", "norm", "normalize", "mat.mul", "det", "inverse", "call"}
COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
INTEGER = {"add": "{a} + {b}", "sub": "{a} - {b}", "mul": "{a} * {b}", "div": "i_div({a}, {b})", "rem": "i_rem({a}, {b})",
           "mod": "i_mod({a}, {b})", "floordiv": "i_floordiv({a}, {b})", "ceildiv": "i_ceildiv({a}, {b})", "mulhi": "{a} * {b} >> {bits}", "min": "({a} if {a} < {b} else {b})",
           "max": "({a} if {a} > {b} else {b})", "and": "{a} & {b}", "or": "{a} | {b}", "xor": "{a} ^ {b}",
           "shl": "{a} << ({b} % {bits})", "shr": "{a} >> ({b} % {bits})"}


class Value:
    """Of the program that is being written: the Python names of its components and of their entries in the trace."""
    __slots__ = ("type", "parts", "nodes", "exact")

    def __init__(self, type, parts, nodes=None, exact=True):
        self.type, self.parts, self.exact = type, parts, exact
        self.nodes = nodes or ["0"] * len(parts)


class Stack:
    """An adstack: the Python name of its slots, or of the list of what was pushed."""
    __slots__ = ("type", "name")

    def __init__(self, type, name):
        self.type, self.name = type, name


class Memory:
    """A buffer, an array or a constant: the Python name of its object."""
    __slots__ = ("type", "name", "array")

    def __init__(self, type, name, array=False):
        self.type, self.name, self.array = type, name, array


class Writer:
    def __init__(self, module, kernel, derivatives, steps, blurred=False, derived=False):
        self.derived = derived  # by the compiler: which iteration comes first is its business
        self.module, self.kernel, self.derivatives, self.steps, self.blurred = module, kernel, derivatives, steps, blurred
        self.lines, self.indent, self.count, self.depth = [], 1, 0, 0
        self.scopes, self.loops, self.open_scopes, self.rules = [{}], [], [], 0
        self.written = set()
        self.find_written(kernel.body)
        for function in module.functions.values():
            if function.kind == "func":
                self.find_written(function.body)

    def find_written(self, body):
        for node in body:
            if node.op == "store" or node.op.startswith("atomic"):
                self.written.add(node.attrs["place"].base.name)
            for region in node.regions:
                self.find_written(region)

    # --------------------------------------------------------------------------------------------------------- helpers

    def say(self, line):
        self.lines.append("  " * self.indent + line)

    def fresh(self, head="v"):
        self.count += 1
        return f"{head}{self.count}"

    def find(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        raise Untyped(f"%{name} is not known here")

    def define(self, name, value):
        self.scopes[-1][name] = value

    def rounded(self, scalar, text):
        return {"f64": text, "f32": f"r32({text})", "f16": f"r16({text})"}[scalar]

    def wrapped(self, scalar, text):
        if scalar == "i1":
            return f"({text}) & 1"
        if scalar == "i32":
            return f"(({text}) + 2147483648 & 4294967295) - 2147483648"
        return f"wrap({text}, {scalar!r})"

    def say_near(self, a, b):
        if a != b:
            self.say(f"near({a}, {b})")

    def node(self, *pairs):
        """The name of a new entry with these (parent, partial) pairs, or "0"."""
        pairs = [(parent, partial) for parent, partial in pairs if parent != "0"]
        if not pairs or not self.derivatives:
            return "0"
        name = self.fresh("n")
        if len(pairs) == 1:
            self.say(f"{name} = one({pairs[0][0]}, {pairs[0][1]}) if {pairs[0][0]} else 0")
        elif len(pairs) == 2:
            (a, pa), (b, pb) = pairs
            self.say(f"{name} = two({a}, {pa}, {b}, {pb}) if {a} or {b} else 0")
        else:
            self.say(f"{name} = many([{', '.join(f'({a}, {p})' for a, p in pairs)}])")
        return name

    def scalar_op(self, scalar, op, args, exact):
        """Name and entry of the result of a scalar operation on (text, node) pairs."""
        name, texts, nodes = self.fresh(), [arg[0] for arg in args], [arg[1] for arg in args]
        if not is_float(scalar):
            return self.integer_op(scalar, op, texts, name), "0"
        if op in UNARY:
            value, partial = UNARY[op]
            if op == "abs" and not exact:
                self.say(f"near({texts[0]}, 0.0)")
            self.say(f"{name} = {self.rounded(scalar, value.format(x=texts[0]))}")
            return name, self.node((nodes[0], partial.format(x=texts[0])))
        if op in STEPS:
            if not exact:
                self.say(f"near_{'half' if op == 'round' else 'integer'}({texts[0]})" if op != "sgn" else f"near({texts[0]}, 0.0)")
            self.say(f"{name} = {STEPS[op].format(x=texts[0])}")
            return name, "0"
        if op in BINARY:
            value, by_a, by_b = BINARY[op]
            a, b = texts
            if op in ("rem", "mod"):
                self.say(f"near_integer(f_div({a}, {b}))")
            if op == "copysign":
                self.say(f"T.sign({a}, {exact})")
                self.say(f"T.sign({b}, {exact})")
            if op == "fdim" and not exact:
                self.say_near(a, b)
            self.say(f"{name} = {self.rounded(scalar, value.format(a=a, b=b))}")
            return name, self.node((nodes[0], by_a.format(a=a, b=b)), (nodes[1], by_b.format(a=a, b=b)))
        if op == "floordiv":
            self.say(f"near_integer(f_div({texts[0]}, {texts[1]}))")
            self.say(f"{name} = f_floor({self.rounded(scalar, f'f_div({texts[0]}, {texts[1]})')})")
            return name, "0"
        if op in ("min", "max"):
            if not exact:
                self.say_near(texts[0], texts[1])
            sign, node = "<" if op == "min" else ">", self.fresh("n")
            self.say(f"{name}, {node} = ({texts[0]}, {nodes[0]}) if {texts[0]} {sign} {texts[1]} else ({texts[1]}, {nodes[1]})")
            return name, node
        if op == "clamp":
            low = self.scalar_op(scalar, "max", args[:2], exact)
            return self.scalar_op(scalar, "min", [low, args[2]], exact)
        if op == "fma":
            a, b, c = texts
            self.say(f"{name} = {f'f_fma({a}, {b}, {c})' if scalar == 'f64' else self.rounded(scalar, f'{a} * {b} + {c}')}")
            return name, self.node((nodes[0], b), (nodes[1], a), (nodes[2], "1.0"))
        if op == "stop_gradient":
            return texts[0], "0"
        raise Untyped(f"{op} on {scalar}")

    def integer_op(self, scalar, op, texts, name):
        bits = INTEGERS[scalar]
        if op in INTEGER:
            text = INTEGER[op].format(a=texts[0], b=texts[1], bits=bits)
        elif op == "neg":
            text = f"-{texts[0]}"
        elif op == "abs":
            text = f"abs({texts[0]})"
        elif op == "sgn":
            text = f"({texts[0]} > 0) - ({texts[0]} < 0)"
        elif op == "not":
            text = f"~{texts[0]}"
        elif op == "popcount":
            text = f"bin({texts[0]} & {(1 << bits) - 1}).count('1')"
        elif op in ("ctz", "bitreverse"):
            text = f"i_{op}({texts[0]}, {bits})"
        elif op == "clz":
            text = f"{bits} - ({texts[0]} & {(1 << bits) - 1}).bit_length()"
        elif op == "clamp":
            low = self.integer_op(scalar, "max", texts[:2], self.fresh())
            return self.integer_op(scalar, "min", [low, texts[2]], name)
        elif op == "stop_gradient":
            text = texts[0]
        else:
            raise Untyped(f"{op} on {scalar}")
        self.say(f"{name} = {self.wrapped(scalar, text)}")
        return name

    def blur(self, scalar, pairs, units=1):
        """The components with an error of so many units in the last place, where such errors are wanted."""
        if not self.blurred or not is_float(scalar):
            return pairs
        made = []
        for part, node in pairs:
            name = self.fresh()
            self.say(f"{name} = {self.rounded(scalar, f'T.blur({part}, {units * 2.0 ** (1 - FLOATS[scalar])!r})')}")
            made.append((name, node))
        return made

    def scalars(self, value):
        return list(zip(value.parts, value.nodes))

    def pack(self, type, pairs, exact=True):
        return Value(type, [pair[0] for pair in pairs], [pair[1] for pair in pairs], exact)

    # -------------------------------------------------------------------------------------------------------- operands

    def literal(self, literal, type):
        type = literal.type or type
        text = literal.text
        if type is None:
            type = "i1" if text in ("true", "false") else "i32" if self.is_integer(text) else "f32"
        scalar = shape_of(type)[0]
        if text in ("true", "false"):
            return Value("i1", ["1" if text == "true" else "0"])
        if is_float(scalar):
            number = self.number(text)
            number = {"f64": float, "f32": r32, "f16": r16}[scalar](float(number))
            return Value(scalar, [repr(number) if number >= 0 or number != number else f"({number!r})"])
        if not self.is_integer(text):
            raise Untyped(f"{text} as {scalar}")
        return Value(scalar, [f"({int(text, 0)})"])

    @staticmethod
    def is_integer(text):
        return "." not in text and text.lstrip("-") not in ("inf", "nan") and (text.lstrip("-")[:2] in ("0x", "0X") or "e" not in text.lower())

    def number(self, text):
        if text.lstrip("-")[:2] in ("0x", "0X"):
            return float.fromhex(text) if "." in text or "p" in text.lower() else int(text, 16)
        return float(text) if not self.is_integer(text) else int(text)

    def operand(self, operand, type=None):
        if isinstance(operand, Literal):
            return self.literal(operand, type)
        if isinstance(operand, Name):
            return self.find(operand.name)
        if isinstance(operand, Symbol):
            declared, number = self.module.constants[operand.name]
            return self.literal(Literal(number), declared)
        results = self.instruction(operand)
        if len(results) != 1:
            raise Untyped(f"{operand.op} as an operand")
        return results[0]

    def operands(self, args, skip=()):
        """Values of the operands, literals typed by the others."""
        values = [None if isinstance(arg, Literal) and not arg.type else self.operand(arg) for arg in args]
        known = [value.type for at, value in enumerate(values) if value is not None and at not in skip]
        asked = shape_of(known[0])[0] if known else None
        if asked is None and any(isinstance(arg, Literal) and arg.text not in NUMERALS and not self.is_integer(arg.text)
                                 for arg in args):
            asked = "f32"
        return [self.literal(arg, asked) if value is None else value for arg, value in zip(args, values)]

    def components_of(self, memory):
        """Names of the places' first scalar."""
        return count_of(memory.type[1]) if memory.type[0] != "array" else count_of(memory.type[1])

    def place(self, place):
        """Memory, type of what is named, name of the offset, and whether the address is exact."""
        if isinstance(place.base, Symbol):
            memory = Memory(self.module.constants[place.base.name][0], f"C_{place.base.name}", True)
        else:
            memory = self.find(place.base.name + ("::" + place.field if place.field else ""))
        indices = [self.operand(index).parts[0] for index in place.indices]
        offset, element = self.fresh("o"), memory.type[1]
        if memory.array:
            width = count_of(element)
            self.say(f"{offset} = {indices[0]}")
            self.say(f"if not 0 <= {offset} < {memory.type[2]}: raise OutOfRange('array')")
            if width > 1:
                self.say(f"{offset} *= {width}")
        else:
            self.say(f"{offset} = {memory.name}.at({', '.join(indices)})")
        if place.component is not None:
            if place.component >= count_of(element):
                raise Untyped("component")
            self.say(f"{offset} += {place.component}")
            element = shape_of(element)[0]
        return memory, element, offset

    # ---------------------------------------------------------------------------------------------------- instructions

    def body(self, body):
        """Writes the statements; the values of the last one, where it ends the region."""
        for node in body:
            if node.op in ("yield", "continue_if", "return") + LEAVES:
                return node
            values = self.instruction(node)
            if node.results:
                if len(values) != len(node.results):
                    raise Untyped(f"results of {node.op}")
                for name, value in zip(node.results, values):
                    self.define(name, value)
        return Node("yield")

    def instruction(self, node):
        method = getattr(self, "do_" + node.op.replace(".", "_").split()[0], None)
        if node.op.startswith("stack."):
            method = self.do_stack
        return method(node) if method else self.elementwise(node)

    def elementwise(self, node):
        op, args = node.op, self.operands(node.args, (0,) if node.op == "select" else ())
        if op in COMPARE:
            return [self.compare(op, *args)]
        if op in PREDICATES:
            return [self.predicate(op, args[0])]
        if op == "select":
            return [self.select(*args)]
        types = [arg.type for arg in args if not isinstance(arg.type, str)] or [args[0].type]
        scalar, exact = shape_of(types[0])[0], op in EXACT and all(arg.exact for arg in args)
        if any(shape_of(arg.type)[0] != scalar for arg in args):
            raise Untyped(f"{op} of {[arg.type for arg in args]}")
        lists = [self.scalars(arg) * (1 if len(arg.parts) > 1 or isinstance(types[0], str) else count_of(types[0])) for arg in args]
        pairs = [self.scalar_op(scalar, op, parts, exact) for parts in zip(*lists)]
        if not exact and (op in ROUGH or op in ARITHMETIC):
            pairs = self.blur(scalar, pairs, 4 if op in ROUGH else 1)
        return [self.pack(types[0], pairs, exact)]

    def compare(self, op, a, b):
        parts = []
        for at in range(max(len(a.parts), len(b.parts))):
            x, y = a.parts[at % len(a.parts)], b.parts[at % len(b.parts)]
            if is_float(shape_of(a.type)[0]) and not (a.exact and b.exact):
                self.say_near(x, y)
            name = self.fresh()
            self.say(f"{name} = 1 if {x} {COMPARE[op]} {y} else 0")
            parts.append(name)
        return Value(with_scalar(a.type if len(a.parts) > 1 else b.type, "i1"), parts)

    def predicate(self, op, value):
        names = [self.fresh() for _ in value.parts]
        for name, part in zip(names, value.parts):
            self.say(f"{name} = 1 if {PREDICATES[op].format(x=part)} else 0")
        return Value(with_scalar(value.type, "i1"), names, None, value.exact)

    def select(self, c, a, b):
        wide = a.type if not isinstance(a.type, str) else b.type
        pairs, count = [], count_of(wide)
        for at in range(count):
            name, node, test = self.fresh(), self.fresh("n"), c.parts[at % len(c.parts)]
            x, y = at % len(a.parts), at % len(b.parts)
            self.say(f"{name}, {node} = ({a.parts[x]}, {a.nodes[x]}) if {test} else ({b.parts[y]}, {b.nodes[y]})")
            pairs.append((name, node if is_float(shape_of(wide)[0]) else "0"))
        return self.pack(wide, pairs, a.exact and b.exact)

    def do_cast(self, node):
        value, type = self.operand(node.args[0]), node.attrs["type"]
        source, target = shape_of(value.type)[0], shape_of(type)[0]
        pairs = []
        for part, entry in self.scalars(value):
            name = self.fresh()
            if is_float(target):
                self.say(f"{name} = {self.rounded(target, part if is_float(source) else f'float({part})')}")
                pairs.append((name, entry if is_float(source) else "0"))
                continue
            if is_float(source):
                if not value.exact:
                    self.say(f"near_integer({part})")
                self.say(f"{name} = to_integer({part}, {target!r})")
            else:
                self.say(f"{name} = {self.wrapped(target, part)}")
            pairs.append((name, "0"))
        return [self.pack(with_scalar(value.type, target), pairs, value.exact)]

    def do_bitcast(self, node):
        value, target = self.operand(node.args[0]), shape_of(node.attrs["type"])[0]
        source, pairs = shape_of(value.type)[0], []
        for part, _ in self.scalars(value):
            name = self.fresh()
            self.say(f"{name} = struct.unpack({CODES[target]!r}, struct.pack({CODES[source]!r}, {part}))[0]")
            pairs.append((name, "0"))
        return [self.pack(with_scalar(value.type, target), pairs, value.exact)]

    def do_random(self, node):
        args, type = [self.operand(arg, "i32") for arg in node.args], node.attrs["type"]
        names = [self.fresh() for _ in range(count_of(type))]
        operands = "".join(f", ({arg.parts[0]}, {INTEGERS[arg.type]})" for arg in args)
        self.say(f"{', '.join(names)}, = random_numbers({shape_of(type)[0]!r}, {len(names)}{operands})")
        return [Value(type, names, None, all(arg.exact for arg in args))]

    def do_shape(self, node):
        field = node.attrs["field"]
        memory = self.find(node.attrs["of"].name + ("::" + field if field else ""))
        return [Value(node.attrs["type"], [f"{memory.name}.extents[{node.attrs['axis']}]"])]

    # vectors and matrices

    def do_vec_make(self, node):
        args = self.operands(node.args)
        return [self.pack(("vec", args[0].type, len(args)), [self.scalars(arg)[0] for arg in args], all(arg.exact for arg in args))]

    def do_mat_make(self, node):
        args = self.operands(node.args)
        pairs = [pair for arg in args for pair in self.scalars(arg)]
        scalar = shape_of(args[0].type)[0]
        if "type" in node.attrs:
            type = node.attrs["type"]
        elif isinstance(args[0].type, str):
            side = math.isqrt(len(pairs))
            type = ("mat", scalar, side, side)
        else:
            type = ("mat", scalar, len(args), count_of(args[0].type))
        return [self.pack(type, pairs)]

    def component(self, value, indices):
        extents = shape_of(value.type)[1]
        scalar = shape_of(value.type)[0]
        if all(isinstance(index, Literal) for index in indices):
            at = 0
            for index, extent in zip(indices, extents):
                if not 0 <= int(index.text, 0) < extent:
                    raise Untyped("component")
                at = at * extent + int(index.text, 0)
            return at, None, scalar
        parts, at = [self.operand(index).parts[0] for index in indices], self.fresh("o")
        self.say(f"{at} = {parts[0]}")
        self.say(f"if not 0 <= {parts[0]} < {extents[0]}: raise OutOfRange('component')")
        if len(parts) > 1:
            self.say(f"if not 0 <= {parts[1]} < {extents[1]}: raise OutOfRange('component')")
            self.say(f"{at} = {at} * {extents[1]} + {parts[1]}")
        return None, at, scalar

    def do_vec_get(self, node):
        value = self.operand(node.args[0])
        known, at, scalar = self.component(value, node.args[1:])
        if known is not None:
            return [Value(scalar, [value.parts[known]], [value.nodes[known]], value.exact)]
        name, entry = self.fresh(), self.fresh("n")
        self.say(f"{name} = ({', '.join(value.parts)})[{at}]")
        self.say(f"{entry} = ({', '.join(value.nodes)})[{at}]")
        return [Value(scalar, [name], [entry if is_float(scalar) else "0"], value.exact)]

    do_mat_get = do_vec_get

    def do_vec_set(self, node):
        value = self.operand(node.args[0])
        known, at, scalar = self.component(value, node.args[1:2])
        new = self.operand(node.args[2], scalar)
        parts, nodes = list(value.parts), list(value.nodes)
        if known is not None:
            parts[known], nodes[known] = new.parts[0], new.nodes[0]
            return [Value(value.type, parts, nodes, value.exact and new.exact)]
        for k in range(len(parts)):
            name, entry = self.fresh(), self.fresh("n")
            self.say(f"{name}, {entry} = ({new.parts[0]}, {new.nodes[0]}) if {at} == {k} else ({parts[k]}, {nodes[k]})")
            parts[k], nodes[k] = name, entry if is_float(scalar) else "0"
        return [Value(value.type, parts, nodes, value.exact and new.exact)]

    def sum_of_products(self, scalar, xs, ys):
        total = None
        for x, y in zip(xs, ys):
            product = self.scalar_op(scalar, "mul", [x, y], True)
            total = product if total is None else self.scalar_op(scalar, "add", [total, product], True)
        return total

    def do_dot(self, node):
        a, b = self.operands(node.args)
        scalar = shape_of(a.type)[0]
        return [self.pack(scalar, self.blur(scalar, [self.sum_of_products(scalar, self.scalars(a), self.scalars(b))]), False)]

    def do_cross(self, node):
        a, b = self.operands(node.args)
        scalar, x, y, pairs = shape_of(a.type)[0], self.scalars(a), self.scalars(b), []
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            pairs.append(self.scalar_op(scalar, "sub", [self.scalar_op(scalar, "mul", [x[i], y[j]], True),
                                                        self.scalar_op(scalar, "mul", [x[j], y[i]], True)], True))
        return [self.pack(a.type, self.blur(scalar, pairs), False)]

    def length(self, value):
        scalar, parts = shape_of(value.type)[0], self.scalars(value)
        return self.scalar_op(scalar, "sqrt", [self.sum_of_products(scalar, parts, parts)], True)

    def do_norm(self, node):
        value = self.operand(node.args[0])
        scalar = shape_of(value.type)[0]
        return [self.pack(scalar, self.blur(scalar, [self.length(value)]), False)]

    def do_normalize(self, node):
        value = self.operand(node.args[0])
        length, scalar = self.length(value), shape_of(value.type)[0]
        pairs = [self.scalar_op(scalar, "div", [part, length], True) for part in self.scalars(value)]
        return [self.pack(value.type, self.blur(scalar, pairs), False)]

    def do_mat_mul(self, node):
        a, b = self.operands(node.args)
        scalar = shape_of(a.type)[0]
        rows, inner = a.type[2:] if a.type[0] == "mat" else (1, a.type[2])
        columns = b.type[3] if b.type[0] == "mat" else 1
        x, y = self.scalars(a), self.scalars(b)
        pairs = [self.sum_of_products(scalar, x[i * inner:(i + 1) * inner], y[j::columns]) for i in range(rows) for j in range(columns)]
        pairs = self.blur(scalar, pairs)
        if a.type[0] == "mat" and b.type[0] == "mat":
            return [self.pack(("mat", scalar, rows, columns), pairs, False)]
        return [self.pack(("vec", scalar, len(pairs)), pairs, False)]

    def do_transpose(self, node):
        value = self.operand(node.args[0])
        _, scalar, rows, columns = value.type
        parts = self.scalars(value)
        return [self.pack(("mat", scalar, columns, rows), [parts[i * columns + j] for j in range(columns) for i in range(rows)], value.exact)]

    def do_det(self, node):
        value = self.operand(node.args[0])
        side, scalar, name, parts = value.type[2], value.type[1], self.fresh(), self.fresh("c")
        self.say(f"{name}, {parts} = determinant([{', '.join(value.parts)}], {side})")
        self.say(f"{name} = {self.rounded(scalar, name)}")
        name = self.blur(scalar, [(name, "0")], 4)[0][0]
        return [Value(scalar, [name], [self.node(*((entry, f"{parts}[{k}]") for k, entry in enumerate(value.nodes)))], False)]

    def do_inverse(self, node):
        value = self.operand(node.args[0])
        side, scalar, whole, pairs = value.type[2], value.type[1], self.fresh("c"), []
        self.say(f"{whole} = inverse([{', '.join(value.parts)}], {side})")
        for i in range(side):
            for j in range(side):
                name = self.fresh()
                self.say(f"{name} = {self.rounded(scalar, f'{whole}[{i * side + j}]')}")
                pairs.append((name, self.node(*((value.nodes[k * side + l], f"-{whole}[{i * side + k}] * {whole}[{l * side + j}]")
                                                for k in range(side) for l in range(side)))))
        return [self.pack(value.type, self.blur(scalar, pairs, 4), False)]

    def do_outer(self, node):
        a, b = self.operands(node.args)
        scalar = shape_of(a.type)[0]
        pairs = [self.scalar_op(scalar, "mul", [x, y], True) for x in self.scalars(a) for y in self.scalars(b)]
        return [self.pack(("mat", scalar, len(a.parts), len(b.parts)), pairs, a.exact and b.exact)]

    def do_identity(self, node):
        type = node.attrs["type"]
        type = ("mat", "f32", type, type) if isinstance(type, int) else type
        one, zero = ("1.0", "0.0") if is_float(type[1]) else ("1", "0")
        return [Value(type, [one if i == j else zero for i in range(type[2]) for j in range(type[3])])]

    # memory

    def do_load(self, node):
        memory, type, offset = self.place(node.attrs["place"])
        scalar, width = shape_of(type)[0], count_of(type)
        pairs = []
        for k in range(width):
            at, name = f"{offset} + {k}" if k else offset, self.fresh()
            if memory.array:
                self.say(f"{name} = {memory.name}[0][{at}]")
                source = f"{memory.name}[1]"
            else:
                if memory.name[2:] in self.written_names:
                    self.say(f"{memory.name}.read({at}, turn)")
                self.say(f"{name} = {memory.name}.values[{at}]")
                source = f"{memory.name}.nodes"
            entry = "0"
            if is_float(scalar) and not memory.name.startswith("C_"):
                entry = self.fresh("n")
                self.say(f"{entry} = {source}[{at}]")
            pairs.append((name, entry))
        base = node.attrs["place"].base
        return [self.pack(type, pairs, isinstance(base, Symbol) or not (memory.array or base.name in self.written))]

    def do_store(self, node):
        memory, type, offset = self.place(node.attrs["place"])
        value = self.operand(node.args[0], type)
        if value.type != type:
            raise Untyped(f"store of {value.type} to {type}")
        pairs = self.scalars(value)
        if value.exact:  # as a decision; what is stored may be contracted
            pairs = self.blur(shape_of(type)[0], pairs)
        for k, (part, entry) in enumerate(pairs):
            at = f"{offset} + {k}" if k else offset
            if memory.array:
                self.say(f"{memory.name}[0][{at}] = {part}")
                if is_float(shape_of(type)[0]):
                    self.say(f"{memory.name}[1][{at}] = {entry}")
            else:
                self.say(f"{memory.name}.write({at}, turn)")
                self.say(f"{memory.name}.values[{at}] = {part}")
                if is_float(shape_of(type)[0]):
                    self.say(f"{memory.name}.nodes[{at}] = {entry} if {memory.name}.diff else 0")
        return []

    def do_atomic(self, node):
        memory, type, offset = self.place(node.attrs["place"])
        kind, scalar = node.op.split()[1], shape_of(type)[0]
        values, results = [self.operand(arg, type) for arg in node.args], []
        if values[0].type != type:
            raise Untyped(f"atomic of {values[0].type} to {type}")
        for k, (part, entry) in enumerate(self.scalars(values[0])):
            at, old, old_node = self.fresh("o"), self.fresh(), self.fresh("n")
            self.say(f"{at} = {offset} + {k}")
            if not self.derived and (node.results or kind in ("exchange", "compare_exchange")):
                self.say(f"{memory.name}.write({at}, turn)")
            else:
                same = "add" if kind == "sub" else kind
                self.say(f"{memory.name}.sum({at}, turn, {same!r})")
            self.say(f"{old} = {memory.name}.values[{at}]")
            self.say(f"{old_node} = {memory.name}.nodes[{at}]")
            entry = f"({entry} if {memory.name}.diff else 0)"
            if kind in ("add", "sub", "mul") and is_float(scalar):
                new = self.blur(scalar, [self.scalar_op(scalar, kind, [(old, old_node), (part, entry)], True)])[0]
            elif kind in ("min", "max") and is_float(scalar):
                new = (self.fresh(), self.fresh("n"))
                self.say(f"{new[0]}, {new[1]} = extremum({kind == 'min'}, {old}, {old_node}, {part}, {entry}, T)")
            elif kind == "exchange":
                new = (part, entry)
            elif kind == "compare_exchange":
                new = (self.fresh(), "0")
                self.say(f"{new[0]} = {values[1].parts[0]} if {old} == {part} else {old}")
            else:
                new = (self.integer_op(scalar, kind, [old, part], self.fresh()), "0")
            self.say(f"{memory.name}.values[{at}] = {new[0]}")
            if is_float(scalar):
                self.say(f"{memory.name}.nodes[{at}] = {new[1]}")
            results.append((old, old_node if is_float(scalar) else "0"))
        return [self.pack(type, results, False)]

    def do_alloca(self, node):
        type, name = node.attrs["type"], self.fresh("A")
        size = type[2] * count_of(type[1])
        zero = "0.0" if is_float(shape_of(type[1])[0]) else "0"
        self.say(f"{name} = ([{zero}] * {size}, [0] * {size})")
        return [Memory(type, name, True)]

    # What differentiation adds: adstacks without bounds, sums into adjoints.

    def do_add_to(self, node):
        memory, type, offset = self.place(node.attrs["place"])
        (part, _), = self.scalars(self.operand(node.args[0], type))
        if memory.array:
            self.say(f"{memory.name}[0][{offset}] = {self.rounded(type, f'{memory.name}[0][{offset}] + {part}')}")
            return []
        # A plain sum reads and writes: nobody else may touch the element.
        self.say(f"{memory.name}.write({offset}, turn)" if node.attrs["plain"] else f"{memory.name}.sum({offset}, turn, 'add')")
        self.say(f"{memory.name}.values[{offset}] = {self.rounded(type, f'{memory.name}.values[{offset}] + {part}')}")
        return []

    def do_stack(self, node):
        if node.op == "stack.new":
            name = self.fresh("S")
            self.say(f"{name} = {{}}")
            return [Stack(node.attrs["type"], name)]
        stack, slot = self.operand(node.args[0]), None
        if "slot" in node.attrs:
            slot = self.operand(node.attrs["slot"]).parts[0]
        if node.op == "stack.push":
            self.say(f"{stack.name}[{slot or f'len({stack.name})'}] = {self.operand(node.args[1], stack.type).parts[0]}")
            return []
        name = self.fresh()
        take = "pop" if node.op == "stack.pop" and slot is None else "get"
        slot = slot or f"len({stack.name}) - 1"
        self.say(f"if {slot} not in {stack.name}: raise OutOfRange('a slot of a stack that nothing was pushed into')")
        self.say(f"{name} = {stack.name}.{take}({slot})")
        return [Value(stack.type, [name])]

    # structure

    def step(self):
        self.say("steps -= 1")
        self.say("if steps < 0: raise TooLong()")

    def bounds(self, low, high):
        low, high = self.operands([low, high])
        if low.type != high.type or low.type not in ("i32", "i64"):
            raise Untyped("bounds of a loop")
        return low, high

    def begin_carry(self, carry, exact):
        """Python variables that hold carried values, set to their initial values."""
        inits = [self.operand(init) for _, init in carry]
        values = []
        for init in inits:
            floats = is_float(shape_of(init.type)[0])
            value = Value(init.type, [self.fresh() for _ in init.parts],
                          [self.fresh("n") if floats else "0" for _ in init.parts], exact and init.exact)
            self.assign(value, init)
            values.append(value)
        return values

    def assign(self, to, value):
        left, right = [], []
        for name, part in zip(to.parts + to.nodes, value.parts + value.nodes):
            if name != "0":
                left.append(name)
                right.append(part)
        if left:
            self.say(f"{', '.join(left)} = {', '.join(right)}")

    def yield_to(self, targets, end):
        values = [self.operand(arg, target.type) for arg, target in zip(end.args, targets)]
        if len(end.args) != len(targets) or any(a.type != b.type for a, b in zip(values, targets)):
            raise Untyped("yield")
        names = [name for target in targets for name in target.parts + target.nodes if name != "0"]
        parts = [part for target, value in zip(targets, values)
                 for name, part in zip(target.parts + target.nodes, value.parts + value.nodes) if name != "0"]
        if names:
            self.say(f"{', '.join(names)} = {', '.join(parts)}")
        return all(value.exact for value in values)

    def end_of_body(self, end):
        """Ends an iteration with what its last statement hands on."""
        if end.op in LEAVES:
            return self.leave(end)
        targets, _ = self.loops[-1]
        self.loops[-1][1] &= self.yield_to(targets, end)
        return None

    def leave(self, end):
        """`break` or `continue` of the innermost loop, which carries what stands there, or `exit` of a scope."""
        if end.op == "exit":
            scope = next(scope for scope in reversed(self.open_scopes) if scope[0] == end.args[0].name)
            scope[3] &= self.yield_to(scope[2], Node("yield", (), end.args[1:]))
            return self.say(f"raise Left('{scope[1]}')")
        if self.loops[-1] is not None:
            targets, _ = self.loops[-1]
            self.loops[-1][1] &= self.yield_to(targets, end)
        self.say(end.op)

    def twice(self, write, exact):
        """Writes a loop by write(exact) -> (values, whether they are); anew where what it hands on is not exact after all."""
        before = len(self.lines)
        values, still = write(exact)
        if exact and not still:
            del self.lines[before:]
            values, _ = write(False)
        return values

    def all_exact(self, body):
        """Whether nothing in the body rounds in a way that the specification leaves open."""
        for node in body:
            if node.op in ROUGH or node.op == "load" and node.attrs["place"].base.name in self.written or \
                    any(isinstance(arg, Node) and not self.all_exact([arg]) for arg in node.args) or \
                    not all(map(self.all_exact, node.regions)):
                return False
        return True

    def do_for(self, node):
        def write(exact):
            low, high = self.bounds(*node.args)
            carry, step = node.attrs.get("carry", []), node.attrs.get("step", 1)
            values, index = self.begin_carry(carry, exact), self.fresh("i")
            span = f"range({low.parts[0]}, {high.parts[0]}, {step})"
            self.say(f"for {index} in {f'reversed({span})' if 'reversed' in node.attrs else span}:")
            self.indent += 1
            self.step()
            self.scopes.append({})
            self.define(node.attrs["index"], Value(low.type, [index], None, low.exact))
            for (name, _), value in zip(carry, values):
                self.define(name, value)
            self.loops.append([values, True])
            self.end_of_body(self.body(node.regions[0]))
            self.scopes.pop()
            self.indent -= 1
            return values, self.loops.pop()[1]
        return self.twice(write, self.all_exact(node.regions[0]))

    def do_while(self, node):
        def write(exact):
            carry = node.attrs.get("carry", [])
            values = self.begin_carry(carry, exact)
            if node.args:
                most, turn = self.fresh(), self.fresh("i")
                self.say(f"{most} = {self.operand(node.args[0]).parts[0]}")
                self.say(f"for {turn} in range({most}):")
            else:
                self.say("while True:")
            self.indent += 1
            self.step()
            self.scopes.append({})
            for (name, _), value in zip(carry, values):
                self.define(name, value)
            test = self.body(node.regions[0])
            if test.op != "continue_if":
                raise Untyped("a while without a test")
            self.say(f"if not {self.operand(test.args[0], 'i1').parts[0]}: break")
            self.loops.append([values, True])
            self.end_of_body(self.body(node.regions[1]))
            self.scopes.pop()
            self.indent -= 1
            return values, self.loops.pop()[1]
        return self.twice(write, all(map(self.all_exact, node.regions)))

    def do_scope(self, node):
        def write(exact):
            values = []
            for type in node.attrs["types"]:
                shape, floats = range(count_of(type)), is_float(shape_of(type)[0])
                values.append(Value(type, [self.fresh() for _ in shape], [self.fresh("n") if floats else "0" for _ in shape], exact))
            scope = [node.attrs["label"], self.fresh("s"), values, True]
            self.say("try:")
            self.indent += 1
            self.open_scopes.append(scope)
            self.scopes.append({})
            end = self.body(node.regions[0])
            if end.op in LEAVES:
                self.leave(end)
            else:
                scope[3] &= self.yield_to(values, end)
            self.say("pass")
            self.scopes.pop()
            self.open_scopes.pop()
            self.indent -= 1
            self.say("except Left as left:")
            self.say(f"  if left.args[0] != '{scope[1]}': raise")
            return values, scope[3]
        return self.twice(write, self.all_exact(node.regions[0]))

    def do_if(self, node):
        test = self.operand(node.args[0], "i1")
        ends, places, exact = [], [], True
        for at, region in enumerate(node.regions):
            self.say(f"if {test.parts[0]}:" if at == 0 else "else:")
            self.indent += 1
            self.scopes.append({})
            end = self.body(region)
            left = end.op in LEAVES
            if left:
                self.leave(end)
            # The types of the results are those of the branch that does not yield a literal.
            if not left:
                ends.append([arg if isinstance(arg, Literal) and not arg.type else self.operand(arg) for arg in end.args])
                places.append(len(self.lines))
            self.scopes.pop()
            self.indent -= 1
        results = []
        for both in zip(*ends):
            type = next((value.type for value in both if isinstance(value, Value)), None)
            if type is None:
                texts = [end.text for end in both]
                type = "i1" if texts[0] in ("true", "false") else "i32" if all(map(self.is_integer, texts)) else "f32"
            both = [self.literal(value, type) if isinstance(value, Literal) else value for value in both]
            if any(value.type != type for value in both):
                raise Untyped("results of if")
            floats = is_float(shape_of(type)[0])
            results.append(Value(type, [self.fresh() for _ in range(count_of(type))],
                                 [self.fresh("n") if floats else "0" for _ in range(count_of(type))],
                                 all(value.exact for value in both)))
        for at in reversed(range(len(ends))):
            values = [self.literal(value, result.type) if isinstance(value, Literal) else value
                      for value, result in zip(ends[at], results)]
            pairs = [(name, part) for result, value in zip(results, values)
                     for name, part in zip(result.parts + result.nodes, value.parts + value.nodes) if name != "0"]
            line = f"{', '.join(pair[0] for pair in pairs)} = {', '.join(pair[1] for pair in pairs)}" if pairs else "pass"
            self.lines.insert(places[at], "  " * (self.indent + 1) + line)
        return results

    def do_parallel(self, node):
        if "over" in node.attrs:
            memory = self.find(node.attrs["over"][0].name + "::" + node.attrs["over"][1])
            ranges = [f"range({memory.name}.extents[{axis}])" for axis in range(len(node.attrs["indices"]))]
            types = ["i32"] * len(ranges)
        else:
            pairs = [self.bounds(low, high) for low, high in zip(node.args[::2], node.args[1::2])]
            ranges = [f"range({low.parts[0]}, {high.parts[0]})" for low, high in pairs]
            types = [low.type for low, _ in pairs]
        self.task()
        indent = self.indent
        self.scopes.append({})
        for name, span, type in zip(node.attrs["indices"], ranges, types):
            index = self.fresh("i")
            self.say(f"for {index} in {span}:")
            self.indent += 1
            self.define(name, Value(type, [index]))
        self.say("turn += 1")
        self.step()
        self.loops.append(None)
        end = self.body(node.regions[0])
        if end.op in LEAVES:
            self.leave(end)
        self.loops.pop()
        self.scopes.pop()
        self.indent = indent
        self.task()
        return []

    def task(self):
        """A barrier: what another task did is settled."""
        self.say("turn += 1")
        for name in self.buffers:
            self.say(f"{name}.fresh()")

    def do_assert(self, node):
        self.operands(node.args)
        return []

    do_print = do_assert

    def do_call(self, node):
        function = self.module.functions[node.attrs["function"]]
        args = []
        for arg, param in zip(node.args, function.params):
            args.append(self.operand(arg, param.type if isinstance(param.type, str) else None))
        if "vjp" in function.attrs and any(isinstance(arg, Memory) for arg in args):
            return self.custom_in_place(function, args)
        if "vjp" in function.attrs or "jvp" in function.attrs:
            return self.custom(function, args)
        return self.inline(function, args)

    def inline(self, function, args):
        self.depth += 1
        if self.depth > 16:
            raise Untyped("recursion")
        scopes, self.scopes = self.scopes, [{}]
        for param, arg in zip(function.params, args):
            if not isinstance(arg, Memory) and arg.type != param.type:
                raise Untyped(f"argument %{param.name}")
            self.define(param.name, arg)
        end = self.body(function.body)
        results = [self.operand(arg, type) for arg, type in zip(end.args, function.results)]
        self.scopes = scopes
        self.depth -= 1
        return results

    def custom(self, function, args):
        """A call whose derivatives the program states: its partials are what its rule gives for unit adjoints."""
        still = [Value(arg.type, arg.parts, None, arg.exact) for arg in args]
        results = self.inline(function, still)
        if not self.derivatives:
            return results
        floats = [arg for arg in args if is_float(shape_of(arg.type)[0])]
        inputs = [node for arg in floats for node in arg.nodes]
        partials = [[[] for _ in result.parts] for result in results]  # by result, its component: per input
        if "vjp" in function.attrs:
            rule = self.module.functions[function.attrs["vjp"]]
            for r, result in enumerate(results):
                for c in range(len(result.parts)):
                    seeds = [Value(other.type, ["1.0" if (o, k) == (r, c) else "0.0" for k in range(len(other.parts))])
                             for o, other in enumerate(results) if is_float(shape_of(other.type)[0])]
                    if is_float(shape_of(result.type)[0]):
                        partials[r][c] = [part for value in self.inline(rule, still + seeds) for part in value.parts]
        else:
            rule = self.module.functions[function.attrs["jvp"]]
            at = 0
            for f in floats:
                for k in range(len(f.parts)):
                    seeds = [Value(other.type, ["1.0" if other is f and j == k else "0.0" for j in range(len(other.parts))])
                             for other in floats]
                    tangents = self.inline(rule, still + seeds)
                    at += 1
                    float_results = [r for r, result in enumerate(results) if is_float(shape_of(result.type)[0])]
                    for r, tangent in zip(float_results, tangents):
                        for c, part in enumerate(tangent.parts):
                            partials[r][c].append(part)
        return [Value(result.type, result.parts,
                      [self.node(*zip(inputs, partials[r][c])) if partials[r][c] else "0" for c in range(len(result.parts))], False)
                for r, result in enumerate(results)]

    def custom_in_place(self, function, args):
        """A call that works on buffers, with its own vjp: tangents are its body's, adjoints those that the rule makes."""
        if not self.derivatives:
            return self.inline(function, args)
        floats = [arg for arg in args if isinstance(arg, Memory) and is_float(shape_of(arg.type[1])[0])]
        before = self.fresh("B")
        self.say(f"{before} = T.open([buffer for buffer in ({''.join(arg.name + ', ' for arg in floats)}) if buffer.diff])")
        self.inline(function, args)
        # The rule runs in the adjoint sweep, on the buffers and numbers as they are now.
        self.rules += 1
        rule, still, bound, adjoints = f"rule{self.rules}", [], [], []
        for arg in args:
            if isinstance(arg, Memory):
                bound.append(f"Q_{self.fresh('q')}")
                still.append(Memory(arg.type, bound[-1]))
                bound[-1] += f"=Still({arg.name})"
            else:
                still.append(Value(arg.type, arg.parts, None, arg.exact))
                bound += [f"{part}={part}" for part in arg.parts if part.isidentifier()]
        for arg in floats:
            adjoints.append(Memory(arg.type, f"Q_{self.fresh('q')}"))
        self.say(f"def {rule}({', '.join([arg.name for arg in adjoints] + list(dict.fromkeys(bound)))}):")
        self.indent, self.derivatives, loops, self.loops = self.indent + 1, False, self.loops, []
        self.say("turn, steps = 0, 100000")
        given = self.inline(self.module.functions[function.attrs["vjp"]], still + adjoints)
        self.say(f"return [{', '.join(part for value in given for part in value.parts)}]")
        self.indent, self.derivatives, self.loops = self.indent - 1, True, loops
        nodes = [node for arg in args if not isinstance(arg, Memory) and is_float(shape_of(arg.type)[0]) for node in arg.nodes]
        self.say(f"T.close({before}, {rule}, [{', '.join(nodes)}])")
        return []

    # ---------------------------------------------------------------------------------------------------------- kernel

    def write(self):
        self.buffers, self.written_names = [], set()
        for param in self.kernel.params:
            type = param.type
            if type[0] == "buffer":
                name = "B_" + re_name(param.name)
                self.buffers.append(name)
                self.say(f"{name} = P[{param.name!r}]")
                self.define(param.name, Memory(type, name))
                self.written_names.add(name[2:])
            elif type[0] == "layout":
                for field in fields_of(self.module.layouts[type[1]]):
                    name = f"B_{re_name(param.name)}_{field[0]}"
                    self.buffers.append(name)
                    self.written_names.add(name[2:])
                    self.say(f"{name} = P[{param.name + '::' + field[0]!r}]")
                    self.define(f"{param.name}::{field[0]}", Memory(("buffer", field[1], len(field[2])), name))
            else:
                scalar, count = shape_of(type)[0], count_of(type)
                base = "p_" + re_name(param.name)
                parts = [f"{base}_{k}" for k in range(count)]
                nodes = [f"n{base}_{k}" for k in range(count)] if "diff" in param.attrs else None
                self.say(f"({', '.join(parts)},) = P[{param.name!r}].values")
                if nodes:
                    self.say(f"({', '.join(nodes)},) = P[{param.name!r}].nodes")
                self.define(param.name, Value(type, parts, nodes))
        for name, (type, numbers) in self.module.constants.items():
            if type[0] == "array":
                parts = [self.literal(Literal(text), type[1]).parts[0] for text in numbers]
                self.say(f"C_{re_name(name)} = ([{', '.join(parts)}], None)")
        self.say("turn = 0")
        self.say(f"steps = {self.steps}")
        self.body(self.kernel.body)
        head = "def run(P, T, OutOfRange, Left):\n  one, two, many, near, near_integer, near_half = " \
               "T.one, T.two, T.many, T.near, T.near_integer, T.near_half\n"
        return head + "\n".join(self.lines)


NUMERALS = {"true", "false"}


def re_name(name):
    return name.replace(".", "_d_")


def fields_of(members, extents=()):
    """Name, type, extents along each axis per level, diff."""
    fields = []
    for member in members:
        if member[0] == "dense":
            fields += fields_of(member[2], extents + (tuple(member[1]),))
        else:
            rank = max((len(level) for level in extents), default=0)
            total = [math.prod(level[axis] if axis < len(level) else 1 for level in extents) for axis in range(rank)]
            fields.append((member[1], member[2], total, member[3], extents))
    return fields


def compiled(module, kernel, derivatives=True, steps=200000, blurred=False, derived=False):
    text = Writer(module, kernel, derivatives, steps, blurred, derived).write()
    names = dict(RUN_TIME)
    exec(compile(text, "<kernel>", "exec"), names)
    return names["run"], text


class Result:
    """State of a launch, and its derivatives: by (parameter, scalar) lists in C order."""

    def __init__(self, trace, memory):
        self.trace, self.memory = trace, memory
        self.leaves = {}

    def is_due(self, error):
        """Whether the launch does what the compiler refuses for fear of it; of errors that it cannot tell, yes."""
        if error == "E0401":
            return any(buffer.overwritten for buffer in self.memory.values())
        if error == "E0403":
            return any(buffer.outbid for buffer in self.memory.values())
        return True


def launch(module, kernel, inputs, derivatives=True, run=None, rng=None, units=1.0):
    """Runs the kernel on `inputs`: name -> (extents, numbers); scalars, vectors and matrices have extents ().

    `rng`, `units`: where `run` was compiled as blurred, its random numbers and a factor of its errors.
    """
    trace, memory = Trace(rng, units), {}
    if run is None:
        run, _ = compiled(module, kernel, derivatives)
    for param in kernel.params:
        if param.type[0] == "layout":
            for name, type, extents, diff, _ in fields_of(module.layouts[param.type[1]]):
                key = f"{param.name}::{name}"
                memory[key] = Buffer(key, type, extents, inputs[key][1], diff)
        else:
            type = param.type[1] if param.type[0] == "buffer" else param.type
            memory[param.name] = Buffer(param.name, type, inputs[param.name][0], inputs[param.name][1], "diff" in param.attrs)
    result = Result(trace, memory)
    for name, buffer in memory.items():
        if buffer.diff and derivatives:
            buffer.nodes = [trace.leaf() for _ in buffer.values]
            result.leaves[name] = list(buffer.nodes)
    run(memory, trace, OutOfRange, Left)
    return result


def gradients(result, weights):
    """Adjoints behind the gradient for adjoints `weights` before it, and magnitudes; name -> list."""
    seeds = [(node, weight) for name in result.leaves
             for node, weight in zip(result.memory[name].nodes, weights[name])]
    # A scalar parameter has no state behind the kernel: its adjoint is only added to.
    adjoints, sizes = result.trace.adjoints(seeds)
    return ({name: [adjoints[node] for node in nodes] for name, nodes in result.leaves.items()},
            {name: [sizes[node] for node in nodes] for name, nodes in result.leaves.items()})


def has_ties(result, directions):
    """Whether equal values met in a cell's extremum whose derivatives differ."""
    tangents, _ = result.trace.tangents([(node, weight) for name, nodes in result.leaves.items()
                                         for node, weight in zip(nodes, directions[name])])
    return any(abs(tangents[a] - tangents[b]) > 1e-9 * (abs(tangents[a]) + abs(tangents[b])) for a, b in result.trace.ties)


def directional(result, directions):
    seeds = [(node, weight) for name, nodes in result.leaves.items() for node, weight in zip(nodes, directions[name])]
    tangents, sizes = result.trace.tangents(seeds)
    return ({name: [tangents[node] for node in result.memory[name].nodes] for name in result.leaves},
            {name: [sizes[node] for node in result.memory[name].nodes] for name in result.leaves})


if __name__ == "__main__":
    module = ir_text.read(open(sys.argv[1], encoding="utf-8").read())
    for kernel in module.kernels():
        print(compiled(module, kernel)[1])
