"""Derivatives of expressions under the strong zero: a tape of dual numbers, which shares nothing with the compiler.

A number is a value and a tangent in one direction; a tangent of None says that nothing that moves reaches the number.
The tape holds what was evaluated, with partial derivatives that are such numbers, so that one sweep from its end gives
adjoints and their tangents, forward over reverse. What is not selected is never an entry that is read: its adjoint is
None, and None contributes nothing, whatever the partial is.

A tangent or adjoint that is a 0 of arithmetic is another matter: where it meets an infinite partial, an implementation
may take the product as 0 or as NaN. `strong_tangents` and `strong_adjoints` choose.
"""

import math
import struct

INF, NAN = math.inf, math.nan


def single(x):
    """x, rounded to f32."""
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(INF, x)


def half(x):
    try:
        return struct.unpack("e", struct.pack("e", x))[0]
    except OverflowError:
        return math.copysign(INF, x)


def divided(a, b):
    if b == 0:
        return NAN if a == 0 or a != a else math.copysign(INF, a) * math.copysign(1.0, b)
    return a / b


def power(a, b):
    try:
        return math.pow(a, b)
    except ValueError:
        if a != 0:
            return NAN
        return math.copysign(INF, a) if b % 2 == 1 else INF
    except OverflowError:
        return -INF if a < 0 and b % 2 == 1 else INF


def guarded(function, at_edges=(), odd=False):
    """`function`, with NaN out of its domain, infinities beyond the range, and its limits at edges."""
    edges = dict(at_edges)

    def call(x):
        if x in edges:
            return edges[x]
        try:
            return function(x)
        except ValueError:
            return NAN
        except OverflowError:
            return math.copysign(INF, x) if odd else INF
    return call


def remainder(a, b):
    try:
        return math.fmod(a, b)
    except ValueError:
        return NAN


def floored(a, b):
    """a - b * floor(a / b)"""
    q = divided(a, b)
    return a - b * (math.floor(q) if math.isfinite(q) else q)


def whole(x):
    return float(round(x)) if math.isfinite(x) else x


def hypotenuse(a, b):
    return math.hypot(a, b)


def unit(a, b):
    return divided(a, math.hypot(a, b))


VALUES = {
    "neg": lambda a: -a, "abs": abs, "sqrt": guarded(math.sqrt), "rsqrt": lambda a: divided(1.0, VALUES["sqrt"](a)),
    "rcp": lambda a: divided(1.0, a), "sin": guarded(math.sin), "cos": guarded(math.cos), "tan": guarded(math.tan),
    "asin": guarded(math.asin), "acos": guarded(math.acos), "atan": math.atan, "sinh": guarded(math.sinh, odd=True),
    "cosh": guarded(math.cosh), "tanh": math.tanh, "exp": guarded(math.exp), "exp2": guarded(math.exp2),
    "log": guarded(math.log, [(0.0, -INF)]), "log2": guarded(math.log2, [(0.0, -INF)]),
    "log10": guarded(math.log10, [(0.0, -INF)]), "erf": math.erf, "expm1": guarded(math.expm1),
    "log1p": guarded(math.log1p, [(-1.0, -INF)]), "cbrt": math.cbrt, "asinh": math.asinh, "acosh": guarded(math.acosh),
    "atanh": guarded(math.atanh, [(1.0, INF), (-1.0, -INF)]), "floor": lambda a: float(math.floor(a)) if math.isfinite(a) else a,
    "half": half, "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": divided,
    "rem": remainder, "mod": floored, "pow": power, "atan2": math.atan2, "hypot": hypotenuse, "unit": unit,
    "copysign": math.copysign,
}


class Plain:
    """Arithmetic of floats, for the partial derivatives that make tangents."""

    def __init__(self, rounding):
        self.rounding = rounding

    def value(self, x):
        return x

    def apply(self, name, *args):
        return self.rounding(VALUES[name](*args))


class Dual:
    __slots__ = ("v", "t")

    def __init__(self, v, t=None):
        self.v, self.t = v, t


class Duals:
    """Arithmetic of dual numbers in one direction."""

    def __init__(self, rounding, strong=False):
        self.rounding, self.strong, self.plain = rounding, strong, Plain(rounding)

    def value(self, x):
        return x.v if isinstance(x, Dual) else x

    def scaled(self, partial, tangent):
        if partial is None or tangent is None:
            return None
        if self.strong and tangent == 0:
            return 0.0
        return self.rounding(partial * tangent)

    def summed(self, a, b):
        return b if a is None else a if b is None else self.rounding(a + b)

    def apply(self, name, *args):
        args = [x if isinstance(x, Dual) else Dual(x) for x in args]
        value = self.plain.apply(name, *[x.v for x in args])
        if all(x.t is None for x in args):
            return Dual(value)
        tangent = None
        for x, partial in zip(args, partials(self.plain, name, [x.v for x in args], value, [x.t is not None for x in args])):
            tangent = self.summed(tangent, self.scaled(partial, x.t))
        return Dual(value, tangent)


def partials(n, name, args, r, wanted):
    """The partial derivatives as `n` computes; None is a zero that holds whatever it is multiplied by."""
    f, v = n.apply, n.value
    a, b = args[0], args[1] if len(args) > 1 else None

    def rest(x):
        return f("mul", f("sub", 1.0, x), f("add", 1.0, x))

    if name in ("add", "sub"):
        return [1.0, 1.0 if name == "add" else -1.0]
    if name == "mul":
        return [b, a]
    if name == "div":
        return [f("rcp", b), f("neg", f("div", r, b))]
    if name in ("rem", "mod"):
        return [1.0, -whole(divided(v(a) - v(r), v(b)))]
    if name == "copysign":
        return [math.copysign(1.0, v(a)) * math.copysign(1.0, v(b)), None]
    if name == "hypot":
        return [None, None] if v(r) == 0 else [f("div", a, r), f("div", b, r)]
    if name == "unit":
        length = f("hypot", a, b)
        if v(length) == 0:
            return [None, None]
        other = f("div", b, length)
        return [f("div", f("mul", other, other), length), f("neg", f("div", f("mul", r, other), length))]
    if name == "atan2":
        by_b = abs(v(b)) >= abs(v(a))
        p, q = (b, a) if by_b else (a, b)
        ratio = f("div", q, p)
        share = f("rcp", f("add", p, f("mul", q, ratio)))
        other = f("mul", share, ratio)
        return [share, f("neg", other)] if by_b else [other, f("neg", share)]
    if name == "pow":
        return [power_by_base(n, a, b, r) if wanted[0] else None, power_by_exponent(n, a, r) if wanted[1] else None]
    if name == "abs":
        return [None if v(a) == 0 else v(a) if v(a) != v(a) else math.copysign(1.0, v(a))]
    if name == "floor":
        return [None]
    return [{
        "neg": lambda: -1.0, "half": lambda: 1.0, "sqrt": lambda: f("div", 0.5, r),
        "rsqrt": lambda: f("mul", -0.5, f("mul", r, f("mul", r, r))), "rcp": lambda: f("neg", f("mul", r, r)),
        "sin": lambda: f("cos", a), "cos": lambda: f("neg", f("sin", a)), "tan": lambda: f("add", 1.0, f("mul", r, r)),
        "asin": lambda: f("rsqrt", rest(a)), "acos": lambda: f("neg", f("rsqrt", rest(a))),
        "atan": lambda: f("rcp", f("add", 1.0, f("mul", a, a))), "sinh": lambda: f("cosh", a), "cosh": lambda: f("sinh", a),
        "tanh": lambda: rest(r), "exp": lambda: r, "exp2": lambda: f("mul", math.log(2), r), "log": lambda: f("rcp", a),
        "log2": lambda: f("div", 1 / math.log(2), a), "log10": lambda: f("div", 1 / math.log(10), a),
        "erf": lambda: f("mul", 2 / math.sqrt(math.pi), f("exp", f("neg", f("mul", a, a)))), "expm1": lambda: f("exp", a),
        "log1p": lambda: f("rcp", f("add", 1.0, a)), "cbrt": lambda: f("rcp", f("mul", 3.0, f("mul", r, r))),
        "asinh": lambda: f("rcp", f("hypot", 1.0, a)),
        "acosh": lambda: f("rcp", f("mul", f("sqrt", f("sub", a, 1.0)), f("sqrt", f("add", a, 1.0)))),
        "atanh": lambda: f("rcp", rest(a)),
    }[name]()]


def power_by_base(n, a, b, r):
    f, base, exponent = n.apply, n.value(a), n.value(b)
    if exponent == 0 and not abs(base) > 0:
        return 0.0
    if exponent >= 0.5:
        return f("mul", b, f("pow", a, f("sub", b, 1.0)))
    if base == INF:
        return 0.0
    return f("mul", b, INF) if base == 0 else f("div", f("mul", b, r), a)


def power_by_exponent(n, a, r):
    return 0.0 if n.value(r) == 0 and n.value(a) >= 0 else n.apply("mul", r, n.apply("log", a))


class Entry:
    __slots__ = ("value", "edges", "adjoint", "is_kink")

    def __init__(self, value, edges=(), is_kink=False):
        self.value, self.edges, self.adjoint, self.is_kink = value, edges, None, is_kink  # is_kink: made of one, and a constant


class Tape:
    """Entries in the order in which they were computed."""

    def __init__(self, rounding, strong_tangents=False, strong_adjoints=False):
        self.duals, self.strong, self.entries = Duals(rounding, strong_tangents), strong_adjoints, []
        self.has_kink = self.has_wild_kink = self.has_endless_length = self.has_sums = self.has_flat = False

    def leaf(self, value, tangent):
        entry = Entry(Dual(value, tangent), (None,))
        self.entries.append(entry)
        return entry

    def constant(self, value):
        return Entry(Dual(value))

    def apply(self, name, *args):
        values = [x.value for x in args]
        result = self.duals.apply(name, *values)
        numbers = [x.v for x in values]
        if not any(x.edges for x in args):
            if any(x.is_kink for x in args):
                behind = partials(self.duals, name, values, result, [True] * len(args))
                self.has_wild_kink |= not all(math.isfinite(self.duals.value(p)) for p in behind if p is not None)
            return Entry(result, (), any(x.is_kink for x in args))
        self.has_kink |= name in ("hypot", "unit", "abs") and not any(numbers)
        self.has_flat |= name == "abs" and not any(numbers)
        self.has_endless_length |= name in ("hypot", "unit") and any(map(math.isinf, numbers))
        # Rules that are sums: an infinite adjoint may make them undefined.
        self.has_sums |= name in ("tan", "unit")
        found = partials(self.duals, name, values, result, [bool(x.edges) for x in args])
        entry = Entry(result, [(x, p) for x, p in zip(args, found) if x.edges and p is not None] or ())
        entry.is_kink = not entry.edges
        if entry.edges:
            self.entries.append(entry)
        return entry

    def sweep(self, result, seed):
        """Adjoints of everything, from that of the result."""
        result.adjoint = Dual(seed)
        for entry in reversed(self.entries):
            s = entry.adjoint
            if s is None or entry.edges == (None,):
                continue
            for source, partial in entry.edges:
                if self.strong and s.v == 0 and not s.t:
                    part = Dual(0.0)
                else:
                    part = self.duals.apply("mul", s, partial)
                source.adjoint = part if source.adjoint is None else self.duals.apply("add", source.adjoint, part)
