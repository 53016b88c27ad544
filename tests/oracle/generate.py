"""Random kernels, as text with their inputs. The same seed gives the same kernel.

Every kernel is a program that means something: indices stay in range, iterations do not race, loops end, floats stay
small, singular expressions are where no iteration gets. What decides about a branch or an index is either smooth data,
far from an edge as a rule, or stands exactly on one where rounding once in place of twice falls off it (`edge`).

Race freedom is by modes: in one task a buffer is read anywhere ("read"), or touched at the iteration's own place alone
("own"), or one kind of atomic goes anywhere. A later task may choose anew.
"""

import math
import random
import struct

ALL = {
    # Feature: how likely it is that a kernel has it.
    "checkpoint": 0.35, "while": 0.4, "while_max": 0.3, "edge": 0.35, "extrema": 0.35, "components": 0.3, "zero_trip": 0.2,
    "arrays": 0.35, "tasks": 0.35, "serial": 0.3, "ragged": 0.5, "vectors": 0.3, "matrices": 0.2, "layout": 0.12,
    "custom": 0.2, "functions": 0.2, "flags": 0.3, "half": 0.2, "mixed": 0.15, "reversed": 0.3, "steps": 0.3,
    "integers": 0.5, "overwrite": 0.2, "writeonce": 0.15, "two_axes": 0.2, "chain": 0.08, "wide_index": 0.1, "steps_ops": 0.4,
    "plain": 0.15, "memory_loop": 0.15, "unroll": 0.1, "fma": 0.3, "bounds": 0.4, "wide_arrays": 0.1, "values": 0.15,
    "leave": 0.25, "random": 0.15, "muls": 0.12, "kernel_if": 0.15, "in_place": 0.12, "active": 0.08, "directions": 0.08, "second": 0.08,
    "save": 0.5, "again": 0.08, "more_functions": 0.35, "bits": 0.25, "special": 0.12, "deterministic": 0.06,
    "long": 0.3, "scopes": 0.25,
}
WIDTHS = {"i8": 8, "u8": 8, "i16": 16, "u16": 16, "i32": 32, "u32": 32, "i64": 64, "u64": 64}


class Buffer:
    def __init__(self, name, element, extents, attrs, numbers):
        self.name, self.element, self.extents, self.attrs, self.numbers = name, element, extents, attrs, numbers
        self.mode, self.field = None, None

    def path(self):
        return f"%{self.name}" + (f"::{self.field}" if self.field else "")

    def scalar(self):
        return self.element.split("<")[1].split(",")[0] if "<" in self.element else self.element

    def width(self):
        if "<" not in self.element:
            return 1
        sizes = self.element.rstrip(">").split(",")[1:]
        count = 1
        for size in sizes:
            count *= int(size)
        return count


def rounded(number, type):
    if type == "f64":
        return number
    code = {"f32": "f", "f16": "e"}[type]
    return struct.unpack(code, struct.pack(code, number))[0]


class Case:
    """A kernel and its inputs: name -> (extents, numbers).

    `how`: what is asked beside k.grad and k.jvp: "active": names, "directions": a number, "second": True, "save": True,
    "deterministic": True.
    """

    def __init__(self, seed, text, inputs, features, real, how):
        self.seed, self.text, self.inputs, self.features, self.real, self.how = seed, text, inputs, features, real, how


class Generator:
    def __init__(self, seed, real=None, chances=None, only=None):
        self.seed, self.rng = seed, random.Random(seed)
        self.data = random.Random(seed * 7919 + 1)
        chances = dict(ALL, **(chances or {}))
        self.features = {name for name, chance in chances.items() if self.rng.random() < chance}
        if only is not None:
            self.features = set(only)
        drawn = self.rng.choices(["f64", "f32", "f16"], [0.7, 0.25, 0.05])[0]
        self.real = real or drawn
        self.buffers, self.scalars, self.globals_text, self.layouts = {}, [], "", ""
        self.lines, self.indent, self.count = [], 1, 0
        self.floats, self.ints, self.bools, self.vectors, self.matrices = [], [], [], [], []
        self.size, self.wide = self.rng.randint(3, 6), self.rng.randint(2, 4)
        self.own, self.in_parallel, self.budget, self.depth, self.loops = [], False, 0, 0, 1
        self.arrays, self.stored, self.was_read = [], set(), set()
        self.settled = set()  # buffers that an extremum of an earlier task wrote: another write is refused (E0403)
        self.leavable, self.skippable, self.exitable = [], False, []
        self.functions, self.how = [], {}

    # ---------------------------------------------------------------------------------------------------------- helpers

    def has(self, feature, chance=1.0):
        return feature in self.features and self.rng.random() < chance

    def chance(self, p):
        return self.rng.random() < p

    def fresh(self, head="v"):
        self.count += 1
        return f"%{head}{self.count}"

    def say(self, text):
        self.lines.append("  " * self.indent + text)

    def assign(self, text, head="v"):
        name = self.fresh(head)
        self.say(f"{name} = {text}")
        return name

    def number(self, low=-1.5, high=1.5):
        return repr(round(self.rng.uniform(low, high), 3) or 0.5)

    def typed(self, type, low=-1.5, high=1.5):
        return f"{self.number(low, high)}:{type}"

    def mark(self):
        return [len(part) for part in (self.floats, self.ints, self.bools, self.vectors, self.matrices, self.arrays)]

    def restore(self, mark):
        for part, length in zip((self.floats, self.ints, self.bools, self.vectors, self.matrices, self.arrays), mark):
            del part[length:]

    # ------------------------------------------------------------------------------------------------------- parameters

    def buffer(self, name, element, extents, attrs="diff", low=-1.5, high=1.5, numbers=None):
        if name in self.buffers:
            return self.buffers[name]
        made = Buffer(name, element, extents, attrs, None)
        count = made.width()
        for extent in extents:
            count *= extent
        scalar = made.scalar()
        if numbers is None:
            if scalar[0] == "f":
                numbers = [rounded(self.data.uniform(low, high), scalar) for _ in range(count)]
            elif scalar == "i1":
                numbers = [self.data.randint(0, 1) for _ in range(count)]
            else:
                numbers = [self.data.randint(int(low), int(high)) for _ in range(count)]
        made.numbers = numbers
        self.buffers[name] = made
        return made

    def scalar(self, name, type, value, attrs=""):
        if name not in [entry[0] for entry in self.scalars]:
            self.scalars.append((name, type, attrs, value))
        return "%" + name

    def diff(self):
        return "" if self.has("plain", 0.3) else "diff"

    def float_buffers(self):
        n, t = self.size, self.real
        self.buffer("x", t, [n])
        self.buffer("w", t, [n], self.diff())
        self.buffer("y", t, [n])
        self.buffer("loss", t, [])
        if self.chance(0.5):
            self.buffer("z", t, [n], self.diff())
        if self.chance(0.4):
            self.buffer("acc", t, [n])
        if self.has("two_axes"):
            self.buffer("m", t, [n, self.wide])
            self.buffer("y2", t, [n, self.wide])
        if self.has("extrema"):
            self.buffer("lo", t, [self.rng.randint(1, 3)], low=-0.5, high=0.5)
            self.buffer("hi", t, [self.rng.randint(1, 3)], low=-0.5, high=0.5)
        if self.has("components"):
            self.buffer("pv", f"vec<{t}, 3>", [n])
        if self.has("vectors"):
            self.buffer("u", f"vec<{t}, {self.rng.choice((2, 3))}>", [n])
        if self.has("matrices"):
            self.buffer("q", f"mat<{t}, 2, 2>", [n])
        if self.has("half") and t != "f16":
            self.buffer("h", "f16", [n])
            if self.chance(0.3):
                self.buffer("hs", "f16", [n])
        if self.has("mixed"):
            other = "f32" if t == "f64" else "f64"
            self.buffer("o", other, [n])
            self.buffer("os", other, [n])
        if self.has("memory_loop"):
            self.buffer("s", t, [n, 5], "diff writeonce" if self.has("writeonce") else "diff")
        if self.has("layout"):
            self.layout()

    def layout(self):
        t, n = self.real, self.size
        self.layouts = f"layout @cells {{ dense[{n}] {{ mass: {t} diff  vel: vec<{t}, 2> diff  tag: i32 }} total: {t} diff }}\n"
        for field, element, extents in (("mass", t, [n]), ("vel", f"vec<{t}, 2>", [n]), ("tag", "i32", [n]), ("total", t, [])):
            made = self.buffer("g::" + field, element, extents, "diff" if element != "i32" else "", low=0 if element == "i32" else -1.5, high=self.size - 1 if element == "i32" else 1.5)
            made.name, made.field = "g", field

    def indices_buffer(self):
        return self.buffer("ix", "i32", [self.size], "readonly", 0, self.size - 1)

    def counts_buffer(self):
        return self.buffer("cnt", "i32", [self.size], "readonly", 0, 4)

    def edge_buffers(self):
        """a*b + c is 0 as it is written, and not quite where the product is not rounded."""
        if "ka" not in self.buffers:
            t, a, b, c = self.real, [], [], []
            for _ in range(self.size):
                a.append(rounded(self.data.uniform(0.5, 1.5), t))
                b.append(rounded(self.data.uniform(-1.5, 1.5), t))
                c.append(-rounded(a[-1] * b[-1], t))
            self.buffer("ka", t, [self.size], "diff", numbers=a)
            self.buffer("kb", t, [self.size], "diff", numbers=b)
            self.buffer("kc", t, [self.size], "diff", numbers=c)
        return self.buffers["ka"], self.buffers["kb"], self.buffers["kc"]

    # ------------------------------------------------------------------------------------------------------------ values

    def index(self, extent):
        """An i32 in [0, extent): a name or a literal."""
        fitting = [name for name, low, high in self.ints if low >= 0 and high < extent]
        roll = self.rng.random()
        if fitting and roll < 0.55:
            return self.rng.choice(fitting)
        if self.in_parallel and extent >= self.size and roll < 0.75:
            return self.load(self.indices_buffer(), [self.index(self.size)])
        if self.has("edge", 0.3) and extent >= 2 and self.in_parallel:
            return self.edge_index()
        if self.has("integers", 0.5) and self.ints:
            return self.assign(f"mod {self.rng.choice(self.ints)[0]}, {extent}", "j")
        if self.has("steps_ops", 0.3) and self.floats:
            return self.float_index(extent)
        return str(self.rng.randrange(extent))

    def special_number(self):
        """A number that may be no number: only what asks whether it is one, and signs, may read it."""
        t, n = self.real, self.size
        tiny, large = {"f64": (1e-310, 1.5e308), "f32": (1e-40, 3e38), "f16": (1e-6, 65504.0)}[t]
        all_of_them = [math.inf, -math.inf, math.nan, 0.0, -0.0, tiny, -tiny, large, -large, 1.0, -2.5]
        buffer = self.buffer("ev", t, [n], "readonly", numbers=[rounded(self.data.choice(all_of_them), t) for _ in range(n)])
        return self.assign(f"load %ev[{self.own[0] if self.own and self.chance(0.7) else self.index(n)}]", "e") if buffer else None

    def edge_value(self):
        a, b, c = self.edge_buffers()
        at = self.own[0] if self.own and self.chance(0.8) else self.index(self.size)
        ra, rb, rc = (self.load(buffer, [at]) for buffer in (a, b, c))
        if self.chance(0.15):
            return self.assign(f"add (mul {ra}, {rb}), {rc}", "e")
        product = self.assign(f"mul {ra}, {rb}", "e")
        return self.assign(f"add {product}, {rc}" if self.chance(0.7) else f"add {rc}, {product}", "e")

    def edge_index(self):
        value = self.edge_value()
        if self.chance(0.5):
            whole = self.assign(f"cast ({self.rng.choice(('floor', 'floor', 'ceil'))} {value}) to i32", "j")
        else:
            whole = self.assign(f"cast (mul {value}, 1.0e30) to i32" if self.real != "f16" else f"cast (floor {value}) to i32", "j")
            whole = self.assign(f"clamp {whole}, -1, 0", "j")
        name = self.assign(f"clamp (add {whole}, 1), 0, 1", "j")
        if self.chance(0.4):
            self.ints.append((name, 0, 1))  # a number as well as an address
        return name

    def float_index(self, extent):
        value = self.float()
        value = self.assign(f"mul (abs {value}), {self.number(1, 3)}", "f")
        return self.assign(f"clamp (cast {value} to i32), 0, {extent - 1}", "j")

    def int(self):
        if self.ints and self.chance(0.8):
            return self.rng.choice(self.ints)[0]
        return str(self.rng.randint(-3, 5))

    def trip_bound(self):
        """Text of an upper bound of a loop that starts at 0, and the largest it can be."""
        roll = self.rng.random()
        if self.has("bounds", 0.25):
            return self.odd_bound()
        small = [(name, high) for name, low, high in self.ints if 0 <= low and high <= 5]
        if self.has("ragged") and roll < 0.3 and self.in_parallel:
            return self.load(self.counts_buffer(), [self.index(self.size)]), 4
        if self.has("ragged") and roll < 0.5 and small:
            name, high = self.rng.choice(small)
            return self.assign(f"add {name}, {self.rng.randint(-1, 1)}", "n"), high + 1
        if roll < 0.75:
            return self.scalar("n", "i32", self.data.randint(0, 4)), 4
        count = self.rng.randint(0 if self.chance(0.15) else 1, 4)
        return str(count), count

    def odd_bound(self):
        """A bound that hangs on flags, floats, or what a contraction decides."""
        roll = self.rng.random()
        if roll < 0.4 and (self.has("flags") or self.bools):
            most = self.rng.randint(1, 3)
            return self.assign(f"select {self.condition()}, {self.rng.randint(0, 2)}:i32, {most}", "n"), max(2, most)
        if roll < 0.5 and self.has("flags"):
            return self.assign(f"add (cast {self.condition()} to i32), 1", "n"), 2
        if roll < 0.7 and self.has("edge") and self.in_parallel:
            return self.assign(f"add {self.edge_index()}, {self.rng.randint(0, 2)}", "n"), 3
        if self.floats and roll < 0.9:
            return self.float_index(4), 3
        return self.scalar("n", "i32", self.data.randint(0, 4)), 4

    def load(self, buffer, indices):
        self.was_read.add(buffer.path())
        if buffer.mode is None:
            buffer.mode = "read"
        name = self.assign(f"load {buffer.path()}[{', '.join(indices)}]", "r")
        if buffer.element == "i32":
            high = max(buffer.numbers)
            if "readonly" in buffer.attrs:
                self.ints.append((name, min(buffer.numbers), high))
        return name

    def readable(self, width=1):
        """Float buffers that may be read now, and whether only at the own place."""
        chosen = []
        for buffer in self.buffers.values():
            if buffer.scalar()[0] != "f" or (buffer.width() != 1) != (width != 1) or buffer.name in ("ka", "kb", "kc", "ev"):
                continue
            if buffer.name == "fb" and buffer.name not in self.stored:
                continue
            if buffer.name == "s" or buffer.name in ("loss", "total") and not self.has("overwrite", 0.1):
                continue
            if not self.in_parallel and len(buffer.extents) > 1:
                continue
            if buffer.mode in (None, "read") or (buffer.mode == "own" and self.fits_own(buffer) and self.chance(0.5)):
                if buffer.mode is None and buffer.name in ("y", "z", "acc", "lo", "hi", "loss", "y2", "pv", "hs", "os", "ch") and self.in_parallel:
                    # Leaves some to be written, unless an earlier task wrote them.
                    if buffer.name not in self.stored or self.chance(0.4):
                        continue
                chosen.append(buffer)
        return chosen

    def place(self, buffer):
        if buffer.mode == "own":
            return self.own_place(buffer)
        indices = []
        for axis, extent in enumerate(buffer.extents):
            indices.append(self.own[0] if axis == 0 and self.own and extent == self.size and self.chance(0.6) else self.index(extent))
        return self.widened(indices)

    def widened(self, indices):
        if self.has("wide_index", 0.3) and indices and indices[0].startswith("%"):
            return [self.assign(f"cast {index} to i64", "l") if index.startswith("%") else index for index in indices]
        return indices

    def fits_own(self, buffer):
        """Whether each iteration has places of its own in the buffer."""
        if not self.own or not buffer.extents or buffer.extents[0] != self.size or len(buffer.extents) < len(self.own):
            return False
        return len(self.own) == 1 or buffer.extents[1] == self.wide

    def own_place(self, buffer):
        return [self.own[0]] + [self.own[1] if len(self.own) > 1 and extent == self.wide else self.index(extent)
                                for extent in buffer.extents[1:]] if buffer.extents else []

    def load_float(self):
        """Loads a scalar float. Name, type."""
        wide = [buffer for buffer in self.readable(3)]
        if wide and self.chance(0.25):
            buffer = self.rng.choice(wide)
            if buffer.mode is None:
                buffer.mode = "read"
                self.was_read.add(buffer.path())
            name = self.assign(f"load {buffer.path()}[{', '.join(self.place(buffer))}].{self.rng.randrange(buffer.width())}", "r")
            return name, buffer.scalar()
        buffers = self.readable()
        if not buffers:
            return self.typed(self.real), self.real
        buffer = self.rng.choice(buffers)
        if buffer.mode is None:
            buffer.mode = "read"
        return self.load(buffer, self.place(buffer)), buffer.scalar()

    def remember(self, name, type=None, bound=1.5):
        self.floats.append((name, type or self.real, bound))
        return name

    def to_real(self, name, type, bound=1.5):
        if type == self.real:
            return name
        cast = self.assign(f"cast {name} to {self.real}", "c")
        return cast

    def leaf(self):
        """A float of the kernel's type, and a bound of its magnitude."""
        roll = self.rng.random()
        if self.floats and roll < 0.6:
            # The newest are the likeliest, so that chains get long.
            at = max(self.rng.randrange(len(self.floats)), self.rng.randrange(len(self.floats)))
            name, type, bound = self.floats[at]
            return self.to_real(name, type), bound
        if roll < 0.85:
            name, type = self.load_float()
            return self.to_real(name, type), 1.5 if name.startswith("%r") else 1.5
        if self.ints and roll < 0.92 and self.has("integers"):
            name, low, high = self.rng.choice(self.ints)
            if max(abs(low), abs(high)) <= 8:
                cast = self.assign(f"cast {name} to {self.real}", "c")
                return self.assign(f"mul {cast}, {self.number(0.05, 0.3)}", "c"), 2.4
        if self.has("random", 0.4):
            return self.random_number(), 1.0
        if self.has("special", 0.4):
            number = self.special_number()
            if self.chance(0.4):
                return self.assign(f"copysign {self.typed(self.real, 0.2, 1.5)}, {number}", "c"), 1.5
            return self.assign(f"clamp (select (isfinite {number}), {number}, {self.number()}), -1.5, 1.5", "c"), 1.5
        if roll < 0.97:
            return self.scalar("c", self.real, rounded(self.data.uniform(-1.2, 1.2), self.real), "diff"), 1.2
        return self.assign(f"add {self.typed(self.real)}, 0.25", "c"), 1.75

    def random_number(self):
        """A number in [0, 1) of the stream that an iteration names."""
        wide = self.chance(0.3)
        seed = self.scalar("key64", "i64", self.data.randint(-2**62, 2**62)) if wide else self.scalar("key", "i32", self.data.randint(-2**31, 2**31 - 1))
        count = self.rng.choice(self.ints)[0] if self.ints else str(self.rng.randrange(9))
        stream = f", {self.int()}" if self.chance(0.5) else ""
        if self.chance(0.15) and self.real != "f16":
            most = 4 if self.real == "f32" else 2
            whole = self.assign(f"random {seed}, {count}{stream} : vec<{self.real}, {self.rng.randint(2, most)}>", "u")
            return self.assign(f"vec.get {whole}, {self.rng.randrange(2)}", "c")
        if self.chance(0.15):
            word = self.assign(f"random {seed}, {count}{stream} : {self.rng.choice(('u32', 'u64'))}", "l")
            return self.assign(f"mul (cast (shr {word}, {self.rng.randint(20, 24)}) to {self.real}), 1.0e-4", "c") if self.real == "f64" else \
                self.assign(f"cast (and (shr {word}, 5), 1) to {self.real}", "c")
        return self.assign(f"random {seed}, {count}{stream} : {self.real}", "c")

    def float(self, depth=2):
        """Name of a float of the kernel's type of magnitude at most 2.5."""
        name, bound = self.expression(depth)
        if bound > 2.5:
            name = self.assign(f"{self.rng.choice(('sin', 'tanh', 'sin', 'cos', 'atan'))} {name}")
            bound = 1.6
        self.remember(name, self.real, bound)
        return name

    def positive(self, name, low=0.3):
        return self.assign(f"add (mul {name}, {name}), {self.number(low, low + 0.6)}")

    def more_function(self, a, bound):
        """One of the functions that no back end knows, of `a` of magnitude `bound`: a name and its bound."""
        op = self.rng.choice(("expm1", "log1p", "cbrt", "erfc", "asinh", "acosh", "atanh", "exp10", "log10", "sinpi", "cospi"))
        if op in ("expm1", "log1p", "asinh", "atanh") and self.real != "f16" and self.chance(0.3):
            # Near 0 it is its argument, if it is made for that.
            small, large = ("1.0e-9", "1.0e9") if self.real == "f64" else ("1.0e-5", "1.0e5")
            value = self.assign(f"{op} (mul {a}, {small})")
            return self.assign(f"mul {value}, {large}"), bound
        if op == "erfc":
            return self.assign(f"erfc {a}"), 2.0
        if op in ("sinpi", "cospi"):
            if self.chance(0.3):
                a = self.assign(f"add {a}, {self.rng.choice(('8.0', '-5.0', '0.5'))}")
            return self.assign(f"{op} {a}"), 1.0
        if op == "asinh":
            if self.chance(0.3):
                return self.assign(f"mul (asinh (mul {a}, 20.0)), 0.3"), 1.5
            return self.assign(f"asinh {a}"), bound
        if op in ("log1p", "log10", "cbrt", "acosh"):
            s = self.positive(a)
            if op == "acosh":
                s = self.assign(f"add {s}, 1.0")
            elif op == "cbrt" and self.chance(0.5):
                s = self.assign(f"neg {s}")
            elif op == "log1p" and self.chance(0.5):
                s = self.assign(f"mul (sin {a}), {self.number(0.4, 0.8)}")
            return self.assign(f"{op} {s}"), {"log1p": 2.1, "log10": 0.9, "cbrt": 2.0, "acosh": 2.8}[op]
        if op == "atanh":
            return self.assign(f"atanh (mul (sin {a}), {self.number(0.5, 0.85)})"), 1.3
        return self.assign(f"{op} (mul {a}, {self.number(-0.5, 0.5) if op == 'expm1' else self.number(-0.2, 0.2)})"), 3.5

    def expression(self, depth):
        if depth <= 0 or self.chance(0.15):
            return self.leaf()
        a, x = self.expression(depth - 1)
        roll = self.rng.random()
        if x > 2.5:
            return self.assign(f"{self.rng.choice(('sin', 'tanh', 'cos'))} {a}"), 1.0
        if roll < 0.30:
            if self.has("more_functions", 0.4):
                return self.more_function(a, x)
            op = self.rng.choice(("sin", "cos", "tanh", "neg", "atan", "erf", "sqrt", "rsqrt", "log", "rcp", "asin", "acos", "exp",
                                  "sinh", "cosh", "tan", "exp2", "log2", "abs", "rcp", "sqrt"))
            if op in ("sin", "cos", "tanh", "erf", "atan"):
                return self.assign(f"{op} {a}"), 1.6
            if op in ("neg", "abs"):
                return self.assign(f"{op} {a}"), x
            if op in ("sqrt", "rsqrt", "log", "rcp", "log2"):
                return self.assign(f"{op} {self.positive(a)}"), {"sqrt": 2.7, "rsqrt": 1.9, "log": 2.0, "rcp": 3.4, "log2": 3.0}[op]
            if op in ("asin", "acos", "tan", "sinh", "cosh"):
                s = self.assign(f"mul (sin {a}), {self.number(0.5, 0.85)}")
                return self.assign(f"{op} {s}"), {"asin": 1.1, "acos": 2.6, "tan": 1.2, "sinh": 1.0, "cosh": 1.5}[op]
            s = self.assign(f"mul {a}, {self.number(-0.5, 0.5)}")
            return self.assign(f"{op} {s}"), 3.5
        b, y = self.expression(depth - 1)
        if y > 2.5:
            b, y = self.assign(f"sin {b}"), 1.0
        if self.has("more_functions", 0.15):
            op = self.rng.choice(("hypot", "hypot", "copysign", "fdim"))
            if op == "hypot":
                if self.chance(0.25) and self.real != "f16":
                    # Squares overflow, or vanish.
                    up, down = self.rng.choice((("1.0e25", "1.0e-25"), ("1.0e-25", "1.0e25")) if self.real == "f32" else
                                               (("1.0e200", "1.0e-200"), ("1.0e-200", "1.0e200")))
                    return self.assign(f"mul (hypot (mul {a}, {up}), (mul {self.positive(b)}, {up})), {down}"), x + y * y + 1
                return self.assign(f"hypot {a}, {self.positive(b) if self.chance(0.7) else b}"), x + y * y + 1
            return self.assign(f"{op} {a}, {b}"), x if op == "copysign" else x + y
        if roll < 0.50:
            return self.assign(f"{self.rng.choice(('add', 'sub'))} {a}, {b}"), x + y
        if roll < 0.62:
            return self.assign(f"mul {a}, {b}"), x * y
        if roll < 0.72:
            # Contracted in most modes.
            c, z = self.leaf()
            if self.has("fma", 0.3):
                return self.assign(f"fma {a}, {b}, {c}"), x * y + z
            product = self.assign(f"mul {a}, {b}")
            return self.assign(f"{self.rng.choice(('add', 'sub'))} {product}, {c}"), x * y + z
        if roll < 0.78:
            return self.assign(f"div {a}, {self.positive(b, 0.5)}"), 2 * x
        if roll < 0.81:
            return self.assign(f"pow {self.positive(a)}, (mul {b}, 0.5)"), 6
        if roll < 0.84:
            return self.assign(f"atan2 {a}, {self.positive(b)}"), 1.6
        if roll < 0.91:
            op = self.rng.choice(("min", "max"))
            if self.chance(0.3):
                return self.assign(f"{op} {a}, {self.number()}"), max(x, 1.5)
            return self.assign(f"{op} {a}, {b}"), max(x, y)
        if roll < 0.94 and self.has("steps_ops"):
            if self.chance(0.5):
                return self.assign(f"{self.rng.choice(('rem', 'mod'))} {a}, {self.positive(b, 0.3)}"), 3.5
            s = self.assign(f"{self.rng.choice(('floor', 'ceil', 'round', 'trunc', 'sgn'))} (mul {b}, 2.1)")
            return self.assign(f"mul {a}, (add (mul {s}, 0.2), 0.3)"), 2 * x
        if roll < 0.96:
            return self.assign(f"clamp {a}, {self.number(-1, -0.2)}, {self.number(0.2, 1)}"), 1.0
        condition = self.condition()
        return self.assign(f"select {condition}, {a}, {b}"), max(x, y)

    def condition(self):
        roll = self.rng.random()
        if self.bools and roll < 0.25:
            return self.rng.choice(self.bools)
        if self.has("flags") and roll < 0.4:
            if self.in_parallel and self.chance(0.6):
                flags = self.buffer("fl", "i1", [self.size], "readonly")
                name = self.load(flags, [self.index(self.size)])
                self.bools.append(name)
                return name
            name = self.scalar("flag", "i1", self.data.randint(0, 1))
            return self.assign(f"not {name}", "b") if self.chance(0.3) else name
        if self.has("special", 0.4) and self.in_parallel:
            name = self.assign(f"{self.rng.choice(('isnan', 'isinf', 'isfinite'))} {self.special_number()}", "b")
        elif self.has("edge", 0.5) and self.in_parallel and roll < 0.65:
            name = self.assign(f"{self.rng.choice(('gt', 'lt', 'ge', 'le', 'eq', 'ne'))} {self.edge_value()}, 0.0", "b")
        elif self.ints and roll < 0.8:
            name = self.assign(f"{self.rng.choice(('gt', 'lt', 'eq', 'ne', 'ge'))} {self.rng.choice(self.ints)[0]}, {self.rng.randint(0, 3)}", "b")
        else:
            value, _ = self.leaf()
            other = self.number(-0.8, 0.8) if self.chance(0.6) else self.leaf()[0]
            name = self.assign(f"{self.rng.choice(('gt', 'lt', 'ge', 'le'))} {value}, {other}", "b")
        if self.bools and self.chance(0.2):
            name = self.assign(f"{self.rng.choice(('and', 'or', 'xor'))} {name}, {self.rng.choice(self.bools)}", "b")
        self.bools.append(name)
        return name

    # -------------------------------------------------------------------------------------------------------- statements

    def block(self, statements):
        for _ in range(statements):
            if self.budget <= 0:
                return
            self.budget -= 1
            self.statement()

    def statement(self):
        kinds = [("float", 5), ("int", 1.5 if self.has("integers") or self.has("bits") else 0), ("for", 2.4), ("if", 2), ("write", 3.0 if self.in_parallel else 0)]
        kinds.append(("while", 1.5 if self.has("while") else 0))
        kinds.append(("array", 2.2 if self.has("arrays") and self.in_parallel else 0))
        kinds.append(("vector", 1.5 if self.has("vectors") or self.has("components") else 0))
        kinds.append(("matrix", 1.5 if self.has("matrices") else 0))
        kinds.append(("call", 1.5 if self.functions else 0))
        kinds.append(("memory_loop", 1.0 if self.has("memory_loop") and self.in_parallel and len(self.own) == 1 and "s" not in self.stored and self.depth == 0 else 0))
        kinds.append(("zero_trip", 1.0 if self.has("zero_trip") and self.in_parallel and len(self.own) == 1 else 0))
        leaves = self.has("leave") and (self.leavable and self.leavable[-1] or not self.leavable and self.skippable)
        kinds.append(("leave", 2.5 if leaves or self.exits() else 0))
        kinds.append(("scope", 2.0 if self.has("scopes") and self.in_parallel else 0))
        kinds.append(("mul", 1.5 if self.has("muls") and self.in_parallel else 0))
        kinds.append(("long", 2.0 if self.has("long") and self.depth == 0 else 0))
        kinds.append(("nest", 1.5 if self.has("checkpoint") and self.depth == 0 else 0))
        kinds.append(("edge_if", 1.0 if self.has("edge") and self.in_parallel else 0))
        names, weights = zip(*kinds)
        kind = self.rng.choices(names, weights)[0]
        if kind in ("nest", "long", "for", "if", "while", "scope", "memory_loop", "zero_trip", "edge_if") and (self.depth >= 3 or self.loops > 40):
            kind = "float"
        getattr(self, "make_" + kind)()

    def make_float(self):
        self.float(self.rng.randint(1, 3))

    def exits(self):
        """Whether a scope may be left here."""
        return self.exitable and (not self.leavable or self.leavable[-1] is not None)

    def make_scope(self):
        """Values that a region gives at its end, or where branches in it leave it, from any depth."""
        parts = [(kind, init if init.startswith("%") or kind != "float" else self.float(1)) for _, kind, init in self.carry_list()]
        label, names = self.fresh("s"), [self.fresh("v") for _ in parts]
        types = [{"float": self.real, "int": "i32", "bool": "i1"}.get(kind) or f"vec<{self.real}, {kind[1]}>" for kind, _ in parts]
        self.say(f"{', '.join(names)} = scope {label} -> {', '.join(types)} {{")
        mark = self.mark()
        self.indent, self.depth = self.indent + 1, self.depth + 1
        self.exitable.append((label, [(init, kind) for kind, init in parts]))
        self.block(self.rng.randint(2, 4))
        self.exitable.pop()
        self.say("yield " + ", ".join([self.next_of(init, kind) for kind, init in parts]))
        self.indent, self.depth = self.indent - 1, self.depth - 1
        self.restore(mark)
        self.say("}")
        for name, (kind, _) in zip(names, parts):
            self.know(name, kind)

    def make_leave(self):
        """A branch that ends the loop around it, the iteration, or a scope."""
        carry = self.leavable[-1] if self.leavable else []
        word = self.rng.choice(("break", "continue")) if self.leavable else "continue"
        may_leave = self.leavable[-1] if self.leavable else self.skippable
        if self.exits() and (not may_leave or not self.has("leave") or self.chance(0.6)):
            label, carry = self.rng.choice(self.exitable)
            word = f"exit {label}," if carry else f"exit {label}"
        condition = self.condition()
        mark = self.mark()
        result = self.fresh() if self.chance(0.25) else None
        self.say(f"{result + ' = ' if result else ''}if {condition} {{")
        self.indent, self.depth = self.indent + 1, self.depth + 1
        if self.chance(0.3):
            self.make_float()
        ends = []
        for name, kind in carry:
            # A counter that stands still would not end.
            ends.append(self.assign(f"add {name}, 1", "k") if kind == "counter" else self.assign(f"mul {name}, 0.6") if kind == "down" else
                        name if self.chance(0.4) else self.next_of(name, kind))
        self.say(f"{word} {', '.join(ends)}".rstrip())
        self.restore(mark)
        if result:
            self.indent -= 1
            self.say("} else {")
            self.indent += 1
            self.say(f"yield {self.float(1)}")
            self.restore(mark)
        self.indent, self.depth = self.indent - 1, self.depth - 1
        self.say("}")
        if result:
            self.remember(result, self.real, 2.5)

    def make_mul(self):
        """Products that iterations make of a cell: integers, or floats without a derivative."""
        buffer = self.buffer("im", "i32", [2], "", 1, 3) if self.chance(0.5) else self.buffer("pm", self.real, [2], "", 0.5, 1.5)
        if buffer.mode not in (None, "mul"):
            return
        buffer.mode = "mul"
        value = self.rng.choice(("1", "2", "3", "-1")) if buffer.name == "im" else self.number(0.7, 1.3)
        if buffer.name == "pm" and self.chance(0.5):
            value = self.assign(f"add (mul (sin {self.float(1)}), 0.3), 1.0")
        self.stored.add(buffer.name)
        self.say(f"atomic mul {buffer.path()}[{self.index(2)}], {value}")

    def make_bits(self):
        """Bits, upper halves and quotients, in all widths, of any numbers and of those at the ends of their range."""
        type = self.rng.choice(list(WIDTHS) + ["i32"] * 4)
        bits, signed = WIDTHS[type], type[0] == "i"

        def one():
            if self.chance(0.25):
                low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
                return f"{self.rng.choice((low, high, high, 0, 1, -1 if signed else high - 1, 1 << bits // 2))}:{type}"
            value = self.int()
            value = value if value.startswith("%") else f"{value}:i32"
            return value if type == "i32" else f"(cast {value} to {type})"
        op = self.rng.choice(("ctz", "clz", "popcount", "bitreverse", "mulhi", "mulhi", "ceildiv", "ceildiv"))
        a = one()
        if op in ("mulhi", "ceildiv"):
            a, b = (f"(bitreverse {a})" if op == "mulhi" and self.chance(0.5) else a), one()
            if op == "ceildiv" and self.chance(0.4):
                b = f"{self.rng.choice((2, 3, 7, -2 if signed else 5, -1 if signed else 1))}:{type}"
            a = f"{a}, {b}"
        name = self.assign(f"{op} {a}", "k")
        if type != "i32":
            name = self.assign(f"cast {name} to i32", "k")
        self.ints.append((name, -10**9, 10**9))

    def make_int(self):
        if self.has("bits", 0.5):
            return self.make_bits()
        name = self.fresh("k")
        a = self.int()
        if not a.startswith("%"):
            a = f"{a}:i32"
        op = self.rng.choice(("add", "sub", "mul", "xor", "and", "or", "div", "rem", "mod", "floordiv", "min", "max", "shl", "shr"))
        b = self.rng.choice((0, 1, 2, 3, 31, 33, -1)) if op in ("shl", "shr") else self.rng.choice((1, 2, 3, -2, 5, 7)) if self.chance(0.6) else self.int()
        self.say(f"{name} = {op} {a}, {b}")
        self.ints.append((name, -10**6, 10**6))

    def checkpoint(self):
        if not self.has("checkpoint", 0.6):
            return ""
        return " checkpoint" + (f" {self.rng.randint(1, 4)}" if self.chance(0.75) else "")

    def carry_list(self):
        """Initial values, names and kinds of what a loop carries."""
        parts = []
        for _ in range(self.rng.randint(1, 3)):
            roll = self.rng.random()
            if roll < 0.65 or not parts:
                init = self.leaf()[0] if self.chance(0.85) else self.typed(self.real)
                if self.chance(0.5):
                    init = self.assign(f"sin {init}") if init.startswith("%") else init
                else:
                    init = self.assign(f"mul (tanh {init}), 1.1") if init.startswith("%") else init
                parts.append((self.fresh("a"), "float", init))
            elif roll < 0.8 and self.has("integers"):
                parts.append((self.fresh("k"), "int", self.int()))
            elif roll < 0.9 and self.has("flags"):
                parts.append((self.fresh("b"), "bool", self.rng.choice(("true", "false"))))
            elif self.vectors:
                name, size = self.rng.choice(self.vectors)
                parts.append((self.fresh("u"), ("vector", size), name))
            else:
                parts.append((self.fresh("a"), "float", self.leaf()[0]))
        return parts

    def know(self, name, kind):
        if kind == "float":
            self.remember(name, self.real, 2.5)
        elif kind == "int":
            self.ints.append((name, -10**9, 10**9))
        elif kind == "bool":
            self.bools.append(name)
        else:
            self.vectors.append((name, kind[1]))

    def next_of(self, name, kind):
        """What a loop hands on in place of `name`."""
        if kind == "float":
            value = self.float(self.rng.randint(1, 2))
            roll = self.rng.random()
            if roll < 0.3:
                return self.assign(f"mul (sin (add {name}, {value})), {self.number(0.6, 1.2)}")
            if roll < 0.5:
                product = self.assign(f"mul {name}, {self.number(0.3, 0.6)}")
                return self.assign(f"add {product}, (mul (sin {value}), 0.7)")
            if roll < 0.65:
                return self.assign(f"tanh (mul {name}, {value})")
            if roll < 0.8:
                half = self.assign(f"mul {name}, 0.5")
                return self.assign(f"sub {half}, (tanh {value})")
            return self.assign(f"sin {value}")
        if kind == "int":
            op = self.rng.choice(("add", "mul", "xor", "sub", "sub", "mod", "div"))
            if op == "sub" and self.chance(0.5):
                return self.assign(f"sub {self.rng.randint(1, 9)}, {name}", "k")
            if op == "mul":
                return self.assign(f"add (mul {name}, {self.rng.choice((2, 3, -1))}), {self.rng.randint(0, 2)}", "k")
            return self.assign(f"{op} {name}, {self.rng.choice((1, 2, 3, 5))}", "k")
        if kind == "bool":
            return self.assign(f"xor {name}, {self.condition()}", "b")
        other = self.float(1)
        turned = self.assign(f"mul {name}, {self.number(0.3, 0.6)}", "u")
        size = kind[1]
        filled = self.assign("vec.make " + ", ".join([self.assign(f"mul (sin {other}), {self.number(0.2, 0.6)}") for _ in range(size)]), "u")
        return self.assign(f"add {turned}, {filled}", "u")

    def make_for(self, singular=False):
        bound, most = self.trip_bound()
        carry = self.carry_list() if self.chance(0.9) else []
        low = "0"
        if self.has("ragged", 0.2):
            low = str(self.rng.randint(-1, 2))
        step = self.rng.choice((2, 3)) if self.has("steps", 0.4) else 1
        index, names = self.fresh("t"), [self.fresh({"float": "v", "int": "k", "bool": "b"}.get(kind, "u")) for _, kind, _ in carry]
        attrs = [f" step {step}" if step > 1 else "", " reversed" if self.has("reversed", 0.5) else "",
                 f" carry({', '.join(f'{name} = {init}' for name, _, init in carry)})" if carry else "", self.checkpoint()]
        if self.has("unroll", 0.5) and not bound.startswith("%") and "checkpoint" not in attrs[3]:
            attrs.append(" unroll")
        head = f"{', '.join(names)} = " if carry else ""
        self.say(f"{head}for {index} in {low}..{bound}{''.join(attrs)} {{")
        mark, loops = self.mark(), self.loops
        self.loops *= max(1, most)
        self.indent, self.depth = self.indent + 1, self.depth + 1
        self.ints.append((index, int(low), most + 1))
        if int(low) < 0:
            self.ints[-1] = (index, -1, most + 1)
        for name, kind, _ in carry:
            self.know(name, kind)
        self.leavable.append([(name, kind) for name, kind, _ in carry])
        self.block(self.rng.randint(1, 3))
        self.leavable.pop()
        if carry:
            self.say("yield " + ", ".join([self.next_of(name, kind) for name, kind, _ in carry]))
        self.indent, self.depth, self.loops = self.indent - 1, self.depth - 1, loops
        self.restore(mark)
        self.say("}")
        for name, (_, kind, _) in zip(names, carry):
            self.know(name, kind)

    def below(self, turn, bound):
        """A test of two forms: the pass count-loops makes a `for` of the first alone."""
        return f"lt {turn}, {bound}" if len(self.lines) % 2 == 0 else f"gt (sub {bound}, {turn}), 0"

    def make_while(self):
        carry = self.carry_list()
        counter = self.fresh("k")
        bounded = self.has("while_max", 0.6)
        counting = not bounded or self.chance(0.5)
        most, most_most = self.trip_bound()
        limit, limit_most = self.trip_bound()
        limit_most = max(limit_most, most_most, 1)
        down = None
        if self.chance(0.5):
            down = self.fresh("a")
            start = self.assign(f"add (abs {self.leaf()[0]}), 0.6")
            carry.append((down, "down", start))
        if counting or not down:
            counting = True
            carry.append((counter, "counter", "0"))
        names = [self.fresh({"float": "v", "int": "k", "bool": "b", "down": "v", "counter": "k"}.get(kind, "u")) for _, kind, _ in carry]
        self.say(f"{', '.join(names)} = while{f' max {most}' if bounded else ''} carry({', '.join(f'{name} = {init}' for name, _, init in carry)})"
                 f"{self.checkpoint()} {{")
        mark, loops = self.mark(), self.loops
        self.loops *= 4
        self.indent, self.depth = self.indent + 1, self.depth + 1
        for name, kind, _ in carry:
            if kind == "down":
                self.remember(name, self.real, 2.2)
            elif kind == "counter":
                self.ints.append((name, 0, limit_most))
            else:
                self.know(name, kind)
        tests = []
        if counting:
            tests.append(self.assign(f"lt {counter}, {limit}", "b"))
        if down:
            tests.append(self.assign(f"gt {down}, {self.number(0.35, 0.6)}", "b"))
        if bounded and self.chance(0.15):
            tests = ["true"]
        if self.bools and self.chance(0.1) and tests != ["true"]:
            tests.append(self.condition())
        while len(tests) > 1:
            tests = [self.assign(f"and {tests[0]}, {tests[1]}", "b")] + tests[2:]
        if self.chance(0.3):
            self.float(1)
        self.say(f"continue_if {tests[0]}")
        self.indent -= 1
        self.say("} do {")
        self.indent += 1
        self.leavable.append([(name, kind) for name, kind, _ in carry])
        self.block(self.rng.randint(1, 3))
        self.leavable.pop()
        ends = []
        for name, kind, _ in carry:
            if kind == "down":
                ends.append(self.assign(f"mul {name}, {self.number(0.5, 0.75)}"))
            elif kind == "counter":
                ends.append(self.assign(f"add {name}, 1", "k"))
            else:
                ends.append(self.next_of(name, kind))
        self.say("yield " + ", ".join(ends))
        self.indent, self.depth, self.loops = self.indent - 1, self.depth - 1, loops
        self.restore(mark)
        self.say("}")
        for name, (_, kind, _) in zip(names, carry):
            if kind == "down":
                self.remember(name, self.real, 2.2)
            elif kind == "counter":
                self.ints.append((name, 0, limit_most))
            else:
                self.know(name, kind)

    def recurrence(self, depth, value):
        """A loop around loops around a recurrence that needs its old values: what tapes and checkpoints are for."""
        carry, turn, result, last = self.fresh("a"), self.fresh("k"), self.fresh("v"), self.fresh("k")
        trips = str(self.rng.randint(2, 5)) if self.chance(0.3) else self.trip_bound()[0]
        kind = self.rng.choice(("for", "for", "while", "while", "max"))
        if depth > 0 and self.in_parallel and self.buffers["loss"].mode in (None, "add") and self.chance(0.3):
            return self.counted_sum(depth, value)
        mark = self.mark()
        if kind == "for":
            reverse = " reversed" if self.has("reversed", 0.3) else ""
            self.say(f"{result} = for {turn} in 0..{trips}{reverse} carry({carry} = {value}){self.checkpoint()} {{")
        else:
            most = f" max {self.rng.randint(2, 5)}" if kind == "max" else ""
            self.say(f"{result}, {last} = while{most} carry({carry} = {value}, {turn} = 0){self.checkpoint()} {{")
            self.indent += 1
            tests = [self.assign(self.below(turn, trips), "b")]
            if self.chance(0.3):
                tests.append(self.assign(f"lt (abs {carry}), {self.number(0.9, 1.3)}", "b"))
                tests = [self.assign(f"and {tests[0]}, {tests[1]}", "b")]
            self.say(f"continue_if {tests[0]}")
            self.indent -= 1
            self.say("} do {")
        self.indent, self.depth = self.indent + 1, self.depth + 1
        self.loops *= 3
        self.ints.append((turn, 0, 5))
        self.remember(carry, self.real, 1.6)
        inner = carry
        if depth > 0 and self.chance(0.85):
            guarded = self.has("ragged", 0.25)
            if guarded:
                name = self.fresh("v")
                self.say(f"{name} = if {self.condition()} {{")
                self.indent += 1
                inside = self.mark()
                inner = self.recurrence(depth - 1, carry)
                self.say(f"yield {inner}")
                self.restore(inside)
                self.indent -= 1
                self.say(f"}} else {{ yield {carry} }}")
                inner = name
            else:
                inner = self.recurrence(depth - 1, carry if self.chance(0.6) else self.leaf()[0])
        roll = self.rng.random()
        if inner != carry and self.in_parallel and self.chance(0.45):
            # What the inner loop gives goes out and not on: the next turn does not need it.
            self.remember(inner, self.real, 1.6)
            buffer = self.buffers["loss"]
            if buffer.mode in (None, "add"):
                buffer.mode = "add"
                self.stored.add("loss")
                self.say(f"atomic add %loss[], {inner}")
                inner = carry
        if roll < 0.2:
            grown = carry
        elif roll < 0.3:
            grown = self.assign(f"mul (sin (add {inner}, {carry})), {self.number(0.7, 1.3)}")
        elif roll < 0.5:
            grown = self.assign(f"sin (mul {inner}, (cos {carry}))")
        elif roll < 0.7:
            grown = self.assign(f"mul {inner}, (sin (add {inner}, {self.float(1)}))")
            grown = self.assign(f"tanh {grown}")
        else:
            grown = self.assign(f"sub (mul 0.5, {inner}), (sin {self.float(1)})")
        if self.in_parallel and self.chance(0.25):
            self.budget += 1
            self.make_write()
        more = "" if kind == "for" else f", {self.assign(f'add {turn}, 1', 'k')}"
        self.say(f"yield {grown}{more}")
        self.indent, self.depth = self.indent - 1, self.depth - 1
        self.loops //= 3
        self.restore(mark)
        self.say("}")
        return result

    def counted_sum(self, depth, value):
        """A loop that hands nothing on but its counter: each turn sums what a recurrence gives."""
        turn, limit = self.fresh("k"), self.rng.randint(2, 5) if self.chance(0.5) else self.trip_bound()[0]
        mark = self.mark()
        self.buffers["loss"].mode = "add"
        self.stored.add("loss")
        if self.chance(0.3):
            self.say(f"for {turn} in 0..{limit}{self.checkpoint()} {{")
        else:
            self.say(f"while{' max 4' if self.chance(0.3) else ''} carry({turn} = 0){self.checkpoint()} {{ continue_if ({self.below(turn, limit)}) }} do {{")
        counted = self.lines[-1].lstrip().startswith("while")
        self.indent, self.depth = self.indent + 1, self.depth + 1
        self.ints.append((turn, 0, 5))
        inner = self.recurrence(depth - 1, value if self.chance(0.6) else self.leaf()[0])
        self.say(f"atomic add %loss[], {inner}")
        if counted:
            self.say(f"yield (add {turn}, 1)")
        self.indent, self.depth = self.indent - 1, self.depth - 1
        self.restore(mark)
        self.say("}")
        return value

    def make_nest(self):
        start = self.assign(f"sin {self.float(1)}")
        self.leavable.append(None)
        self.remember(self.recurrence(self.rng.randint(1, 2), start), self.real, 1.6)
        self.leavable.pop()

    def make_long(self):
        """A loop of many iterations whose state is of all kinds: segments with checkpoints, words of flags, integers that the
        adjoint sweep runs back, an array that is written over and over."""
        most = self.rng.choice((7, 12, 20, 40))
        trips = self.scalar("nl", "i32", self.data.randint(5, 40)) if self.chance(0.4) else str(self.rng.randint(3, most))
        loop = self.rng.choice(("for", "for", "for", "while", "max"))
        value, whole, flag = self.fresh("a"), self.fresh("k"), self.fresh("b")
        turn, size, array = self.fresh("t"), self.rng.randint(2, 3), None
        if self.in_parallel and self.chance(0.5):
            array = self.assign(f"alloca array<{self.real}, {size}>", "s")
            self.say(f"store {array}[0], {self.float(1)}")
        ints, flags = self.chance(0.6), self.chance(0.6)
        carry = [(value, self.assign(f"sin {self.leaf()[0]}"), self.fresh("v"))]
        if ints:
            carry.append((whole, str(self.rng.randint(0, 9)), self.fresh("k")))
        if flags:
            carry.append((flag, self.rng.choice(("true", "false")), self.fresh("b")))
        checkpoint = f" checkpoint{self.rng.choice((' 1', ' 2', ' 3', ' 5', ' 7', ''))}" if self.chance(0.6) else ""
        if loop == "for":
            step = f" step {self.rng.randint(2, 3)}" if self.chance(0.3) else ""
            reverse = " reversed" if self.chance(0.4) else ""
            carried = ", ".join(f"{name} = {start}" for name, start, _ in carry)
            self.say(f"{', '.join(end for _, _, end in carry)} = for {turn} in {self.rng.choice((0, 0, 1, -2))}..{trips}{step}{reverse} "
                     f"carry({carried}){checkpoint} {{")
        else:
            carry.append((turn, "0", self.fresh("k")))
            carried = ", ".join(f"{name} = {start}" for name, start, _ in carry)
            bound = f" max {most}" if loop == "max" else ""
            self.say(f"{', '.join(end for _, _, end in carry)} = while{bound} carry({carried}){checkpoint} {{ continue_if ({self.below(turn, trips)}) }} do {{")
        mark, loops = self.mark(), self.loops
        self.indent, self.depth, self.loops = self.indent + 1, self.depth + 1, self.loops * 20
        self.leavable.append(None)
        self.remember(value, self.real, 1.6)

        def cell():
            source = self.rng.choice([turn] + ([whole] if ints else []))
            return self.assign(f"mod {source}, {size}", "j") if self.chance(0.6) else str(self.rng.randrange(size))
        if array:
            # Cells that are read, written, and written again before the iteration is over.
            first = cell()
            old = self.assign(f"load {array}[{first}]")
            self.say(f"store {array}[{first}], (sin (add {old}, {value}))")
            if self.chance(0.7):
                second = first if self.chance(0.5) else cell()
                self.say(f"store {array}[{second}], (mul (load {array}[{cell()}]), (cos {value}))")
            self.remember(self.assign(f"load {array}[{cell()}]"), self.real, 1.6)
        if ints and self.chance(0.85):
            at = self.assign(f"mod {whole}, {self.size}", "j")
            if self.buffers["x"].mode in (None, "read"):
                self.remember(self.load(self.buffers["x"], [at]), self.real, 1.5)
            if self.chance(0.4):
                small = self.assign(f"cast (mod {whole}, 4) to {self.real}", "c")
                self.remember(self.assign(f"mul {small}, {self.number(0.1, 0.4)}"), self.real, 1.2)
        if flags:
            chosen, mine = self.fresh(), self.mark()
            self.say(f"{chosen} = if {flag} {{ yield (sin (mul {value}, {self.number(0.8, 1.6)})) }} else {{ yield (mul {value}, (cos {value})) }}")
            self.restore(mine)
            self.remember(chosen, self.real, 1.6)
        if self.in_parallel and self.buffers["loss"].mode in (None, "add") and self.chance(0.3):
            self.buffers["loss"].mode = "add"
            self.stored.add("loss")
            self.say(f"atomic add %loss[], (mul 0.1, (mul {value}, {self.float(1)}))")
        elif self.in_parallel and self.chance(0.2):
            self.budget += 1
            self.make_write()
        ends = [self.assign(self.rng.choice((f"sin (add (mul {value}, 0.7), {self.float(1)})", f"mul (tanh {self.float(1)}), (cos {value})",
                                             f"sub (mul 0.5, {value}), (mul 0.4, (sin {self.float(1)}))")))]
        if ints:
            ends.append(self.assign(self.rng.choice((f"sub {self.rng.randint(1, 9)}, {whole}", f"sub {whole}, {self.rng.randint(1, 5)}",
                                                     f"xor {whole}, {self.rng.randint(1, 7)}", f"add {whole}, {self.rng.randint(1, 5)}",
                                                     f"sub {turn}, {whole}")), "k"))
        if flags:
            ends.append(self.assign(f"xor {flag}, (gt {value}, {self.number(-0.5, 0.5)})", "b"))
        if loop != "for":
            ends.append(self.assign(f"add {turn}, 1", "k"))
        self.say("yield " + ", ".join(ends))
        self.leavable.pop()
        self.indent, self.depth, self.loops = self.indent - 1, self.depth - 1, loops
        self.restore(mark)
        self.say("}")
        result = carry[0][2]
        if self.in_parallel and self.buffers["loss"].mode in (None, "add") and self.chance(0.4):
            # Nothing reads it but a sum: the adjoint sweep does without it.
            self.buffers["loss"].mode = "add"
            self.stored.add("loss")
            self.say(f"atomic add %loss[], {result}")
            return
        if self.chance(0.5):
            result = self.assign(f"mul {result}, (sin {result})")
        self.remember(result, self.real, 1.6)
        if array:
            self.arrays.append((array, "float", size))

    def make_if(self, condition=None):
        condition = condition or self.condition()
        results = self.rng.randint(0, 2)
        kinds = [self.rng.choice(("float", "float", "float", "int") if self.has("integers") else ("float",)) for _ in range(results)]
        names = [self.fresh("v" if kind == "float" else "k") for kind in kinds]
        self.say((f"{', '.join(names)} = " if names else "") + f"if {condition} {{")
        for branch in range(2 if results or self.chance(0.5) else 1):
            if branch:
                self.say("} else {")
            mark = self.mark()
            self.indent, self.depth = self.indent + 1, self.depth + 1
            self.block(self.rng.randint(0 if results else 1, 3))
            if results:
                ends = []
                for kind in kinds:
                    if kind == "float":
                        ends.append(self.float(1))
                    else:
                        ends.append(self.assign(f"add {self.int()}, {self.rng.randint(0, 3)}" if self.ints else "add 1:i32, 2", "k"))
                self.say("yield " + ", ".join(ends))
            self.indent, self.depth = self.indent - 1, self.depth - 1
            self.restore(mark)
        self.say("}")
        for name, kind in zip(names, kinds):
            self.know(name, kind)

    def make_edge_if(self):
        self.make_if(self.assign(f"{self.rng.choice(('gt', 'lt', 'ge', 'ne'))} {self.edge_value()}, 0.0", "b"))

    def make_zero_trip(self):
        """A loop that runs no iteration, or a branch not taken, where what stands in it would be singular."""
        n = self.size
        if "zx" not in self.buffers:
            zeros = [self.data.randint(0, 1) for _ in range(n)]
            self.buffer("zx", self.real, [n], numbers=[0.0 if zero else rounded(self.data.uniform(0.5, 1.5), self.real) for zero in zeros])
            self.buffer("zn", "i32", [n], "readonly", numbers=[0 if zero else self.data.randint(1, 3) for zero in zeros])
        value = self.load(self.buffers["zx"], [self.own[0]])
        count = self.load(self.buffers["zn"], [self.own[0]])
        bad = [f"rcp {value}", f"log {value}", f"sqrt {value}", f"rsqrt {value}", f"div 0.7, {value}", f"log2 {value}", f"pow {value}, 0.4"]
        roll = self.rng.random()
        if roll < 0.5:
            carry, result, index = self.fresh("a"), self.fresh("v"), self.fresh("t")
            self.say(f"{result} = for {index} in 0..{count} carry({carry} = {self.typed(self.real)}){self.checkpoint()} {{")
            end = lambda: self.assign(f"add (mul {carry}, 0.4), (sin {self.assign(self.rng.choice(bad))})")
        elif roll < 0.75:
            condition = self.assign(f"gt {count}, 0", "b")
            # In front of the branch that alone reads it, it counts as if it stood there.
            ahead = self.assign(self.rng.choice(bad)) if self.chance(0.5) else None
            result = self.fresh("v")
            self.say(f"{result} = if {condition} {{")
            end = lambda: self.assign(f"sin {ahead or self.assign(self.rng.choice(bad))}")
        else:
            carry, result, turn = self.fresh("a"), self.fresh("v"), self.fresh("k")
            last = self.fresh("k")
            self.say(f"{result}, {last} = while carry({carry} = {self.typed(self.real)}, {turn} = 0){self.checkpoint()} {{ "
                     f"continue_if ({self.below(turn, count)}) }} do {{")
            end = lambda: self.assign(f"add (mul {carry}, 0.4), (sin {self.assign(self.rng.choice(bad))})")
        mark = self.mark()
        self.indent += 1
        more = f", {self.assign(f'add {turn}, 1', 'k')}" if roll >= 0.75 else ""
        self.say(f"yield {end()}{more}")
        self.indent -= 1
        self.restore(mark)
        self.say("} else { yield 0.25 }" if 0.5 <= roll < 0.75 else "}")
        self.remember(result, self.real, 2)

    def make_array(self):
        if self.has("wide_arrays", 0.3) and self.vectors:
            return self.make_wide_array()
        if not self.arrays or self.chance(0.3):
            size = self.rng.randint(2, 4)
            kind = "int" if self.has("integers", 0.3) else "float"
            name = self.assign(f"alloca array<{'i32' if kind == 'int' else self.real}, {size}>", "s")
            self.arrays.append((name, kind, size))
            if self.chance(0.7):
                index = self.fresh("t")
                mark = self.mark()
                self.say(f"for {index} in 0..{size} {{")
                self.indent += 1
                if kind == "float":
                    self.say(f"store {name}[{index}], {self.float(1)}")
                else:
                    self.say(f"store {name}[{index}], (add (mul {index}, {self.rng.randint(1, 3)}), {self.rng.randint(0, 2)})")
                self.indent -= 1
                self.restore(mark)
                self.say("}")
            return
        name, kind, size = self.rng.choice(self.arrays)
        roll = self.rng.random()
        if kind == "int":
            if roll < 0.5:
                value = self.assign(f"load {name}[{self.index(size)}]", "k")
                self.ints.append((value, -10**9, 10**9))
            else:
                self.say(f"store {name}[{self.index(size)}], {self.int() if self.ints else 1}")
        elif roll < 0.45:
            self.remember(self.assign(f"load {name}[{self.index(size)}]"), self.real, 2.5)
        elif roll < 0.8:
            self.say(f"store {name}[{self.index(size)}], {self.float(1)}")
        else:
            # Read by its own contents: where the largest so far lies.
            at = self.index(size)
            old = self.assign(f"load {name}[{at}]")
            test = self.assign(f"gt {old}, {self.number(-0.5, 0.5)}", "b")
            self.say(f"if {test} {{")
            mark = self.mark()
            self.indent += 1
            self.say(f"store {name}[{self.index(size)}], (sin (add {old}, {self.float(1)}))")
            self.indent -= 1
            self.restore(mark)
            self.say("}")

    def make_wide_array(self):
        """Vectors in a local array, stored whole and by component."""
        vector, width = self.rng.choice(self.vectors)
        size = self.rng.randint(2, 3)
        name = self.assign(f"alloca array<vec<{self.real}, {width}>, {size}>", "s")
        self.say(f"store {name}[{self.index(size)}], {vector}")
        self.say(f"store {name}[{self.index(size)}].{self.rng.randrange(width)}, {self.float(1)}")
        self.vectors.append((self.assign(f"load {name}[{self.index(size)}]", "u"), width))
        self.remember(self.assign(f"load {name}[{self.index(size)}].{self.rng.randrange(width)}"), self.real, 2.5)

    def writable(self):
        chosen = []
        for buffer in self.buffers.values():
            if buffer.scalar()[0] != "f" or buffer.name in ("ka", "kb", "kc", "zx", "s", "pm", "fb", "ev"):
                continue
            # What was read before is as a rule needed as it was.
            if buffer.path() in self.was_read and not self.has("overwrite", 0.15):
                continue
            if buffer.name in self.settled and not self.has("again"):
                continue
            if buffer.mode == "read" or buffer.name in ("x", "w", "h", "o", "m", "u", "q") and not self.has("overwrite", 0.1):
                continue
            chosen.append(buffer)
        return chosen

    def value_for(self, buffer, width=None):
        """A value of the buffer's element, or of its scalar."""
        value = self.float(self.rng.randint(1, 2)) if self.chance(0.94) else self.typed(self.real)
        scalar = buffer.scalar()
        if scalar != self.real:
            value = self.assign(f"cast {value} to {scalar}", "c")
        if buffer.width() == 1 or width == 1:
            return value
        parts = [value] + [self.assign(f"mul {value}, {self.number()}") for _ in range(buffer.width() - 1)]
        if "mat" in buffer.element:
            return self.assign("mat.make " + ", ".join(parts), "q")
        return self.assign("vec.make " + ", ".join(parts), "u")

    def make_write(self):
        buffers = self.writable()
        if not buffers:
            return self.make_float()
        buffer = self.rng.choice(buffers)
        if buffer.name in ("lo", "hi") and buffer.mode is None:
            mode = self.rng.choice(("min", "max"))
        elif buffer.mode is None:
            modes = ["add", "add"]
            if self.fits_own(buffer):
                modes += ["own", "own", "own"]
            if buffer.name == "loss" or buffer.field == "total":
                modes = ["add"]
            if buffer.scalar() != "f16" and self.has("extrema", 0.15):
                modes.append(self.rng.choice(("min", "max")))
            mode = self.rng.choice(modes)
        else:
            mode = buffer.mode
        if mode == "own" and not self.fits_own(buffer):
            return self.make_float()
        component = f".{self.rng.randrange(buffer.width())}" if buffer.width() > 1 and self.chance(0.6) else ""
        value = self.value_for(buffer, 1 if component else None)
        if buffer.mode is not None and buffer.mode != mode:
            return self.make_float()  # the value read it
        buffer.mode = mode
        self.stored.add(buffer.name)
        if mode == "own":
            place = f"{buffer.path()}[{', '.join(self.own_place(buffer))}]{component}"
            self.say(f"store {place}, {value}" if self.chance(0.8) else f"atomic {self.rng.choice(('add', 'sub'))} {place}, {value}")
        else:
            indices = [self.index(extent) for extent in buffer.extents]
            op = self.rng.choice(("add", "add", "sub")) if mode == "add" else mode
            self.say(f"atomic {op} {buffer.path()}[{', '.join(indices)}]{component}, {value}")

    def make_vector(self):
        wide = [buffer for buffer in self.readable(3) if "vec" in buffer.element]
        roll = self.rng.random()
        if self.has("values", 0.5):
            size = self.rng.choice((2, 3))
            numbers = [rounded(self.data.uniform(-1, 1), self.real) for _ in range(size)]
            self.vectors.append((self.scalar(f"cv{size}", f"vec<{self.real}, {size}>", numbers, "diff"), size))
        if not self.vectors or roll < 0.3:
            if wide and self.chance(0.7):
                buffer = self.rng.choice(wide)
                if buffer.mode is None:
                    buffer.mode = "read"
                    self.was_read.add(buffer.path())
                name = self.assign(f"load {buffer.path()}[{', '.join(self.place(buffer))}]", "u")
                if buffer.scalar() == self.real:
                    self.vectors.append((name, buffer.width()))
                return
            size = self.rng.choice((2, 3, 3, 4))
            name = self.assign("vec.make " + ", ".join([self.float(1) for _ in range(size)]), "u")
            self.vectors.append((name, size))
            return
        name, size = self.rng.choice(self.vectors)
        same = [other for other, count in self.vectors if count == size]
        other = self.rng.choice(same)
        roll = self.rng.random()
        if roll < 0.2:
            self.remember(self.assign(f"mul (tanh (dot {name}, {other})), 1.2"), self.real, 1.2)
        elif roll < 0.35:
            index = str(self.rng.randrange(size)) if self.chance(0.5) else self.index(size)
            self.remember(self.assign(f"vec.get {name}, {index}"), self.real, 2.5)
        elif roll < 0.5:
            index = str(self.rng.randrange(size)) if self.chance(0.5) else self.index(size)
            self.vectors.append((self.assign(f"vec.set {name}, {index}, {self.float(1)}", "u"), size))
        elif roll < 0.6 and size == 3:
            self.vectors.append((self.assign(f"mul (cross {name}, {other}), 0.3", "u"), 3))
        elif roll < 0.7:
            shifted = self.assign("vec.make " + ", ".join(self.typed(self.real, 1.5, 2.5) for _ in range(size)), "u")
            moved = self.assign(f"add (mul {name}, 0.3), {shifted}", "u")
            if self.chance(0.5):
                self.vectors.append((self.assign(f"normalize {moved}", "u"), size))
            else:
                self.remember(self.assign(f"mul (norm {moved}), 0.3"), self.real, 2)
        elif roll < 0.85:
            if self.has("more_functions", 0.5):
                text = self.rng.choice((f"erfc (add {name}, {other})", f"asinh (add {name}, {other})", f"sinpi (mul {name}, 0.4)",
                                        f"cospi (sub {name}, {other})", f"mul (hypot {name}, {other}), 0.5", f"mul (fdim {name}, {other}), 0.5",
                                        f"copysign {name}, {other}", f"select (isfinite {name}), {name}, {other}", f"expm1 (sin {name})"))
                self.vectors.append((self.assign(text, "u"), size))
                return
            self.vectors.append((self.assign(f"{self.rng.choice(('sin', 'tanh', 'cos'))} (add {name}, {other})", "u"), size))
        else:
            self.vectors.append((self.assign(f"mul {name}, (sin {self.float(1)})", "u"), size))

    def make_matrix(self):
        if not self.matrices or self.chance(0.3):
            readable = [buffer for buffer in self.readable(4) if "mat" in buffer.element]
            if readable and self.chance(0.6):
                buffer = self.rng.choice(readable)
                if buffer.mode is None:
                    buffer.mode = "read"
                    self.was_read.add(buffer.path())
                self.matrices.append((self.assign(f"load {buffer.path()}[{', '.join(self.place(buffer))}]", "q"), 2))
                return
            size = self.rng.choice((2, 2, 3))
            parts = [self.assign(f"mul (sin {self.float(1)}), 0.4") for _ in range(size * size)]
            for k in range(size):
                parts[k * (size + 1)] = self.assign(f"add {parts[k * (size + 1)]}, 1.5")
            self.matrices.append((self.assign("mat.make " + ", ".join(parts), "q"), -size))
            return
        name, size = self.rng.choice(self.matrices)
        regular, size = size < 0, abs(size)
        roll = self.rng.random()
        if roll < 0.25:
            self.remember(self.assign(f"mul (tanh (det {name})), 1.1"), self.real, 1.2)
        elif roll < 0.45 and regular:
            self.matrices.append((self.assign(f"inverse {name}", "q"), size))
        elif roll < 0.6:
            self.matrices.append((self.assign(f"sin (mat.mul {name}, (transpose {name}))", "q"), size))
        elif roll < 0.8:
            at = [str(self.rng.randrange(size)) if self.chance(0.6) else self.index(size) for _ in range(2)]
            self.remember(self.assign(f"sin (mat.get {name}, {at[0]}, {at[1]})"), self.real, 1)
        else:
            vectors = [vector for vector, count in self.vectors if count == size]
            if vectors:
                self.vectors.append((self.assign(f"sin (mat.mul {name}, {self.rng.choice(vectors)})", "u"), size))
            else:
                self.matrices.append((self.assign(f"add {name}, (identity mat<{self.real}, {size}, {size}>)", "q"), size))

    def make_call(self):
        function, count = self.rng.choice(self.functions)
        args = [self.float(1) for _ in range(count)]
        self.remember(self.assign(f"call @{function}({', '.join(args)})"), self.real, 2.5)

    def make_in_place(self):
        """A function that works on a buffer, whose derivative the program states; once, since nothing may write it behind that."""
        buffer = self.buffer("fb", self.real, [self.size])
        if buffer.mode is not None or "fb" in self.was_read:
            return
        buffer.mode = "own"
        if self.chance(0.4):
            self.say(f"store %fb[{self.own[0]}], {self.float(1)}")
        self.say(f"call @in_place(%fb, {self.own[0]}, {self.float(1)})")
        self.stored.add("fb")

    def overwrite_in_place(self):
        """What the rule of a call reads is written again: the kernel has to keep it."""
        self.settle()
        self.say(f"parallel %fo in 0..{self.size} {{ store %fb[%fo], (sin (mul (load %fb[%fo]), {self.number()})) }}")

    def make_memory_loop(self):
        """A row of %s, written element by element from the one before."""
        s = self.buffers["s"]
        self.leavable.append(None)
        s.mode = "own"
        self.stored.add("s")
        self.say(f"store %s[{self.own[0]}, 0], {self.float(1)}")
        bound, _ = self.trip_bound()
        bound = self.assign(f"min {bound}, 4", "n") if bound.startswith("%") else bound
        index = self.fresh("t")
        self.say(f"for {index} in 0..{bound}{self.checkpoint()} {{")
        mark = self.mark()
        self.indent, self.depth = self.indent + 1, self.depth + 1
        self.ints.append((index, 0, 3))
        before = self.assign(f"load %s[{self.own[0]}, {index}]")
        self.remember(before, self.real, 2.5)
        if self.chance(0.4):
            self.block(1)
        self.say(f"store %s[{self.own[0]}, (add {index}, 1)], (sin (add {before}, {self.float(1)}))")
        self.indent, self.depth = self.indent - 1, self.depth - 1
        self.restore(mark)
        self.say("}")
        self.leavable.pop()
        self.remember(self.assign(f"load %s[{self.own[0]}, {self.rng.randrange(3)}]"), self.real, 2.5)

    # ---------------------------------------------------------------------------------------------------------- functions

    def write_functions(self):
        t = self.real
        if self.has("in_place"):
            # The rule reads what the function left, and is deliberately not that of the body.
            self.globals_text += (
                f"func @in_place(%a: buffer<{t}, 1>, %i: i32, %s: {t}) vjp @in_place_vjp {{ %v = load %a[%i] "
                f"store %a[%i], (sin (add (mul %v, 0.5), %s)) }}\n"
                f"func @in_place_vjp(%a: buffer<{t}, 1>, %i: i32, %s: {t}, %g: buffer<{t}, 1>) -> {t} {{ %r = load %a[%i] %q = load %g[%i] "
                f"store %g[%i], (mul %q, (add %r, 0.7)) return (mul %q, (mul %s, %r)) }}\n")
        if self.has("functions"):
            self.globals_text += (f"func @plain(%a: {t}, %b: {t}) -> {t} {{ %c = mul (sin %a), %b %d = add %c, (cos (mul %a, 0.5)) "
                                  f"return %d }}\n")
            self.functions.append(("plain", 2))
        if self.has("custom"):
            # The rules are deliberately not those of the body: 2 by the first, a*b by the second.
            self.globals_text += (
                f"func @own(%a: {t}, %b: {t}) -> {t} vjp @own_vjp jvp @own_jvp {{ return (sin (mul %a, %b)) }}\n"
                f"func @own_vjp(%a: {t}, %b: {t}, %g: {t}) -> {t}, {t} {{ return (mul %g, 0.5), (mul %g, (mul %a, (tanh %b))) }}\n"
                f"func @own_jvp(%a: {t}, %b: {t}, %da: {t}, %db: {t}) -> {t} "
                f"{{ return (add (mul %da, 0.5), (mul %db, (mul %a, (tanh %b)))) }}\n")
            self.functions.append(("own", 2))

    # ------------------------------------------------------------------------------------------------------------ kernel

    def settle(self):
        """What was written is as it is: a task may take up each buffer anew."""
        for buffer in self.buffers.values():
            if buffer.mode in ("min", "max"):
                self.settled.add(buffer.name)
            buffer.mode = None

    def serial_part(self):
        self.own, self.in_parallel = [], False
        self.settle()
        self.budget = self.rng.randint(2, 4)
        # Statements between tasks read anything, and write nothing but a sum.
        self.block(3)
        if self.chance(0.5):
            self.say(f"atomic add %loss[], {self.float(1)}")
            self.stored.add("loss")

    def task(self):
        self.settle()
        self.in_parallel, self.skippable = True, True
        mark = self.mark()
        two = self.has("two_axes", 0.5)
        over = "g::mass" in self.buffers and self.chance(0.5)
        index = self.fresh("i")
        if over:
            self.say(f"parallel {index} over %g::mass {{")
            self.own = [index]
        elif two:
            second = self.fresh("i")
            self.say(f"parallel {index}, {second} in 0..{self.rng.choice((str(self.size), 'shape(%x, 0)'))}, 0..{self.wide} {{")
            self.own = [index, second]
            self.ints.append((second, 0, self.wide - 1))
        else:
            self.say(f"parallel {index} in 0..{self.rng.choice((str(self.size), 'shape(%x, 0)', 'shape(%x, 0)'))} {{")
            self.own = [index]
        self.ints.append((index, 0, self.size - 1))
        self.indent += 1
        self.budget = self.rng.randint(4, 14)
        if self.has("long", 0.7):
            self.make_long()
        self.block(self.rng.randint(3, 8))
        self.skippable = False
        if "in_place" in self.features and len(self.own) == 1 and "fb" not in self.stored:
            self.make_in_place()
        if len(self.own) == 1 and self.buffers["y"].mode in (None, "own") and "%y" not in self.was_read:
            self.buffers["y"].mode = "own"
            value = self.float(2)
            if self.buffers["y"].mode == "own":
                self.say(f"store %y[{index}], {value}")
                self.stored.add("y")
        elif self.buffers["loss"].mode in (None, "add"):
            self.buffers["loss"].mode = "add"
            self.say(f"atomic add %loss[], {self.float(2)}")
            self.stored.add("loss")
        self.indent -= 1
        self.say("}")
        self.restore(mark)
        self.own, self.in_parallel = [], False

    def chain_task(self):
        """Extrema of one cell, a read, extrema again: in one serial piece, or over tasks."""
        self.in_parallel = False
        self.settle()
        lo = self.buffers["lo"] if "lo" in self.buffers and self.chance(0.3) else self.buffer("ch", self.real, [2], low=-0.5, high=0.5)
        op = self.rng.choice(("min", "max"))
        cell = self.rng.randrange(lo.extents[0])
        if self.chance(0.5):
            self.say(f"parallel %ct in 0..{self.size} {{ atomic {op} %{lo.name}[{cell}], (sin (mul (load %x[%ct]), {self.number()})) }}")
        else:
            self.say(f"%cv1 = load %x[{self.rng.randrange(self.size)}]")
            self.say(f"atomic {op} %{lo.name}[{cell}], (sin %cv1)")
        read = self.assign(f"load %{lo.name}[{cell}]", "r")
        self.say(f"atomic add %loss[], (mul {read}, {self.number()})")
        self.stored |= {lo.name, "loss"}
        if not self.has("again", 4):
            return
        if self.chance(0.3):
            op = "min" if op == "max" else "max"
        if self.chance(0.5):
            self.say(f"parallel %cg in 0..{self.size} {{ atomic {op} %{lo.name}[{cell}], (sub (cos (load %w[%cg])), {self.number(0.2, 1.5)}) }}")
        else:
            other = read if self.has("overwrite", 0.3) else self.assign(f"load %x[{self.rng.randrange(self.size)}]", "r")
            self.say(f"atomic {op} %{lo.name}[{cell}], (sub (mul {other}, 0.5), {self.number(0.1, 0.9)})")
        if self.chance(0.6):
            self.say(f"atomic add %loss[], (sin (load %{lo.name}[{cell}]))")
        self.stored |= {lo.name, "loss"}

    def guarded_task(self):
        """A task, or two of them, that a condition of the kernel lets run."""
        self.in_parallel, self.own = False, []
        self.settle()
        condition = self.condition()
        # What one branch reads or writes the other one does as well, as far as the rest of the kernel is concerned.
        self.say(f"if {condition} {{")
        self.indent += 1
        mark = self.mark()
        if self.chance(0.3):
            self.budget = 2
            self.block(1)
        self.task()
        self.restore(mark)
        if self.chance(0.3):
            self.indent -= 1
            self.say("} else {")
            self.indent += 1
            self.task()
            self.restore(mark)
        self.indent -= 1
        self.say("}")

    def generate(self):
        self.write_functions()
        self.float_buffers()
        if self.has("serial", 0.5):
            self.serial_part()
        tasks = self.rng.randint(2, 3) if self.has("tasks") else 1
        for at in range(tasks):
            self.guarded_task() if self.has("kernel_if", 0.7) else self.task()
            if at + 1 < tasks and self.has("serial", 0.6):
                self.serial_part()
        if "fb" in self.stored and {"overwrite", "save"} <= self.features and self.chance(0.7):
            self.overwrite_in_place()
        if self.has("chain"):
            self.chain_task()
        elif self.has("serial", 0.3):
            self.serial_part()
        return self.finish()

    def ask(self):
        """What is to be derived beside the gradient and forward mode, and how."""
        differentiated = list(dict.fromkeys([buffer.name for buffer in self.buffers.values() if "diff" in buffer.attrs] +
                                            [name for name, _, attrs, _ in self.scalars if "diff" in attrs]))
        if "active" in self.features and len(differentiated) > 1:
            # Every buffer of floats that a function with a vjp gets is differentiated (E0441).
            self.how["active"] = [name for name in differentiated if self.chance(0.5) or name == "fb"] or differentiated[:1]
        if "directions" in self.features:
            self.how["directions"] = self.rng.randint(2, 4)
        if "deterministic" in self.features:
            self.how["deterministic"] = True
        if "overwrite" in self.features and "save" in self.features:
            self.how["save"] = True
        elif "second" in self.features and self.real == "f64" and not self.features & {"half", "mixed", "custom", "in_place"}:
            self.how["second"] = True

    def finish(self):
        params, inputs, seen = [], {}, set()
        for key, buffer in self.buffers.items():
            if buffer.field:
                inputs[key] = (buffer.extents, buffer.numbers)
                if "g" not in seen:
                    seen.add("g")
                    params.append("%g: @cells")
                continue
            attrs = buffer.attrs
            if "readonly" in attrs and self.chance(0.5):
                attrs = ""
            if buffer.scalar()[0] == "f" and "writeonce" in self.features and buffer.name == "y" and False:
                attrs += " writeonce"
            params.append(f"%{buffer.name}: buffer<{buffer.element}, {len(buffer.extents)}>" + (f" {attrs}" if attrs else ""))
            inputs[buffer.name] = (buffer.extents, buffer.numbers)
        for name, type, attrs, value in self.scalars:
            params.append(f"%{name}: {type}" + (f" {attrs}" if attrs else ""))
            inputs[name] = ([], value if isinstance(value, list) else [value])
        self.ask()
        body = "\n".join(self.lines)
        text = f"{self.layouts}{self.globals_text}kernel @k({', '.join(params)}) {{\n{body}\n}}\n"
        return Case(self.seed, text, inputs, self.features, self.real, self.how)


def generate(seed, real=None, chances=None, only=None):
    return Generator(seed, real, chances, only).generate()


if __name__ == "__main__":
    import sys
    made = generate(int(sys.argv[1]))
    print(made.text)
    print(made.inputs)
