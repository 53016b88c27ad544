"""Translates a kernel as Quadrants prints it (QD_DUMP_IR=1, the file *_before_simplify_I.ll) into the text of adc.

Only tests use this. What a line says that is not listed here is an error, with the line: nothing is left out. Dumps whose
names hold `reverse_grad` have the top-level loops in reverse order, and are not what this reads.

A field is a buffer; the components of its vectors and matrices are one more axis of the buffer. Tensors are tuples of
scalars here, and local variables are local arrays, so that control flow needs no carried values.
"""

import re

TYPES = {"u1": "i1", "i32": "i32", "f64": "f64"}
ZERO = {"i1": "false", "i32": "0:i32", "f64": "0.0:f64"}
UNARY = {name: name for name in ("neg", "sqrt", "sin", "cos", "tan", "asin", "acos", "tanh", "exp", "log", "floor", "abs")}
UNARY["logic_not"] = "not"
BINARY = {**{name: name for name in ("add", "sub", "mul", "div", "floordiv", "max", "min", "pow", "atan2")},
          **{f"cmp_{name}": name for name in ("lt", "le", "gt", "ge", "eq", "ne")}}


class NotTranslated(Exception):
    """A line that this script does not know."""


class Field:
    """What a kernel takes: the parameter's name, its element type, the axes of the field, the components of an element,
    and the attributes of the parameter."""

    def __init__(self, name, scalar, rank, components, attributes):
        self.name, self.scalar, self.rank, self.components, self.attributes = name, scalar, rank, components, attributes

    def parameter(self):
        rank = self.rank + (self.components > 1)
        return f"%{self.name}: buffer<{TYPES[self.scalar]}, {rank}> {self.attributes}".rstrip()


class Type:
    """<f64>, <*f64>, <[Tensor (3, 3) f64]>: the scalar, and how many of them."""

    def __init__(self, text):
        found = re.fullmatch(r"\*?(?:\[Tensor \(([\d, ]+)\) (\w+)\]|(\w+))", text)
        if not found or (found[2] or found[3]) not in TYPES:
            raise ValueError(f"type {text}")
        self.scalar = TYPES[found[2] or found[3]]
        self.tensor = found[1] is not None
        self.count = 1
        for extent in (found[1] or "").split(","):
            self.count *= int(extent) if extent.strip() else 1


class Place:
    """An address: a buffer or a local array, the indices, and the component at which it begins."""

    def __init__(self, array, indices, components, offset="0:i32", local=False, unit=1):
        self.array, self.indices, self.components, self.offset, self.local = array, indices, components, offset, local
        self.unit = unit  # of the offsets that are added: 1, or the bytes of a component

    def element(self, component, sums):
        if self.components == 1:
            at = "0" if self.local else None
        elif self.offset == "0:i32":
            at = str(component)
        elif component == 0:
            at = self.offset
        else:
            at = sums(self.offset, f"{component}:i32")
        return f"%{self.array}[{', '.join([*self.indices, *([at] if at is not None else [])])}]"


class Translation:
    def __init__(self, text, name, places, cells):
        """`places` has the Field of a place ("S2place<f64>"), `cells` that of a dense ("S1dense")."""
        self.name, self.places, self.cells = name, places, cells
        self.uses = {}
        for used in re.findall(r"\$\d+", text):
            self.uses[used] = self.uses.get(used, 0) + 1
        self.lines = [line.strip() for line in text.splitlines() if line.strip()]
        self.at, self.out, self.depth, self.loops, self.fresh = 0, [], 1, 0, 0
        self.values, self.types = {}, {}

    # ---- Writing

    def put(self, text):
        self.out.append("  " * self.depth + text)

    def name_of(self, text):
        self.fresh += 1
        name = f"%t{self.fresh}"
        self.put(f"{name} = {text}")
        return name

    def sum_of(self, a, b):
        return self.name_of(f"add {a}, {b}")

    def define(self, target, kind, values):
        """The values of a statement: a name for each component."""
        names = []
        for component, value in enumerate(values):
            name = f"%v{target[1:]}" + (f"_{component}" if len(values) > 1 else "")
            self.put(f"{name} = {value}")
            names.append(name)
        self.values[target], self.types[target] = tuple(names), kind

    # ---- Reading

    def whole(self):
        if self.lines[:1] != ["kernel {"]:
            raise NotTranslated("the dump does not begin with 'kernel {'")
        self.at = 1
        self.block()
        fields = {id(field): field for field in self.places.values()}
        parameters = [field.parameter() for field in fields.values()]
        return "\n".join([f"kernel @{self.name}({', '.join(parameters)}) {{", *self.out, "}", ""])

    def block(self):
        """Statements up to the line that closes the block; gives that line."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            if line in ("}", "} else {"):
                return line
            self.statement(line)
        raise NotTranslated("the dump ends inside of a block")

    def statement(self, line):
        for pattern, method in STATEMENTS:
            found = pattern.fullmatch(line)
            if found:
                try:
                    return method(self, *found.groups())
                except (KeyError, ValueError) as error:
                    raise NotTranslated(f"{error!r} in: {line}") from error
        raise NotTranslated(line)

    # ---- Control flow

    def body(self, head):
        self.put(head)
        self.depth += 1
        close = self.block()
        self.depth -= 1
        return close

    def loop(self, head):
        self.loops += 1
        if self.body(head) != "}":
            raise ValueError("a loop with else")
        self.put("}")
        self.loops -= 1

    def range_for(self, target, low, high):
        index = f"%i{target[1:]}_0"
        bounds = f"{index} in {self.one(low)}..{self.one(high)}"
        self.loop(f"{'for' if self.loops else 'parallel'} {bounds} {{")

    def struct_for(self, target, dense):
        field = self.cells[dense]
        if self.loops:
            raise ValueError("a loop over a field inside of a loop")
        indices = ", ".join(f"%i{target[1:]}_{axis}" for axis in range(field.rank))
        extents = ", ".join(f"0..shape(%{field.name}, {axis})" for axis in range(field.rank))
        self.loop(f"parallel {indices} in {extents} {{")

    def loop_index(self, _kind, target, loop, axis):
        self.values[target], self.types[target] = (f"%i{loop[1:]}_{axis}",), Type("i32")

    def while_true(self, _target):
        self.put("while {")
        self.put("  continue_if true")
        self.loop("} do {")

    def while_control(self, _target, condition):
        self.put(f"if {self.truth(condition, False)} {{")
        self.put("  break")
        self.put("}")

    def leave(self, _target):
        self.put("continue")

    def if_(self, _target, condition):
        close = self.body(f"if {self.truth(condition, True)} {{")
        if close == "} else {":
            close = self.body("} else {")
        self.put("}")

    def truth(self, value, wanted):
        """A value of any integer type as a condition, or its opposite."""
        name, kind = self.one(value), self.types[value]
        if kind.scalar != "i1":
            return self.name_of(f"{'ne' if wanted else 'eq'} {name}, {ZERO[kind.scalar]}")
        return name if wanted else self.name_of(f"not {name}")

    # ---- Values

    def one(self, value):
        only, = self.values[value]
        return only

    def constant(self, kind, target, number):
        kind = Type(kind)
        if kind.scalar == "i1":
            text = number
        elif kind.scalar[0] == "f":
            text = f"{float(number)!r}:{kind.scalar}"
        else:
            text = f"{int(number)}:{kind.scalar}"
        self.values[target], self.types[target] = (text,), kind

    def tensor(self, kind, target, parts):
        self.values[target] = tuple(self.one(part) for part in parts.split(", "))
        self.types[target] = Type(kind)

    def unary(self, kind, target, operation, a):
        if operation == "logic_not" and self.types[a].scalar != "i1":
            raise ValueError("logic_not of a number")
        self.define(target, Type(kind), [f"{UNARY[operation]} {value}" for value in self.values[a]])

    def cast(self, kind, target, a):
        kind, of = Type(kind), self.types[a]
        if of.scalar == kind.scalar:
            self.values[target], self.types[target] = self.values[a], kind
        elif kind.scalar == "i1":
            self.define(target, kind, [f"ne {value}, {ZERO[of.scalar]}" for value in self.values[a]])
        else:
            self.define(target, kind, [f"cast {value} to {kind.scalar}" for value in self.values[a]])

    def binary(self, kind, target, operation, a, b):
        pairs = self.spread(a, b)
        if operation == "pow" and self.types[a].scalar[0] == "f" and self.types[b].scalar[0] != "f":
            pairs = [(left, self.name_of(f"cast {right} to {self.types[a].scalar}")) for left, right in pairs]
        self.define(target, Type(kind), [f"{BINARY[operation]} {left}, {right}" for left, right in pairs])

    def select(self, kind, target, condition, a, b):
        chosen = self.spread(condition, a, b)
        self.define(target, Type(kind), [f"select {c}, {left}, {right}" for c, left, right in chosen])

    def spread(self, *operands):
        """The components of operands side by side; a scalar stands beside each component of a tensor."""
        count = max(len(self.values[operand]) for operand in operands)
        return list(zip(*(self.values[operand] if len(self.values[operand]) == count else self.values[operand] * count
                          for operand in operands), strict=True))

    # ---- Memory

    def alloca(self, kind, target):
        kind, name = Type(kind), f"a{target[1:]}"
        self.put(f"%{name} = alloca array<{kind.scalar}, {kind.count}>")
        for component in range(kind.count):
            self.put(f"store %{name}[{component}], {ZERO[kind.scalar]}")
        self.values[target] = Place(name, [], kind.count if kind.tensor else 1, local=True)

    def global_pointer(self, kind, target, place, indices):
        """Offsets to an address of a whole vector count components, those to an address of its first component bytes."""
        field, kind = self.places[place], Type(kind)
        unit = 1 if kind.tensor or field.components == 1 else int(kind.scalar[1:]) // 8
        at = [self.one(index) for index in indices.split(", ") if index]
        self.values[target] = Place(field.name, at, field.components, unit=unit)

    def shifted(self, _kind, target, base, offset):
        place, by = self.values[base], self.one(offset)
        if place.unit != 1:
            by = self.name_of(f"div {by}, {place.unit}:i32")
        if place.offset != "0:i32":
            by = self.sum_of(place.offset, by)
        self.values[target] = Place(place.array, place.indices, place.components, by, place.local, place.unit)

    def load(self, kind, target, _memory, pointer):
        kind, place = Type(kind), self.values[pointer]
        self.define(target, kind, [f"load {place.element(component, self.sum_of)}" for component in range(kind.count)])

    def store(self, _memory, pointer, value):
        place = self.values[pointer]
        for component, name in enumerate(self.values[value]):
            self.put(f"store {place.element(component, self.sum_of)}, {name}")

    def atomic_add(self, kind, target, pointer, value):
        kind, place = Type(kind), self.values[pointer]
        used, names = self.uses[target] > 1, []
        for component, name in enumerate(self.values[value]):
            element = place.element(component, self.sum_of)
            if place.local:
                old = self.name_of(f"load {element}")
                self.put(f"store {element}, {self.name_of(f'add {old}, {name}')}")
            elif used:
                old = self.name_of(f"atomic add {element}, {name}")
            else:
                old = None
                self.put(f"atomic add {element}, {name}")
            names.append(old)
        self.values[target], self.types[target] = tuple(names), kind


def one_of(names):
    return "|".join(sorted(names, key=len, reverse=True))


V = r"(\$\d+)"
TYPED = rf"<([^>]*)> {V}"
STATEMENTS = [(re.compile(pattern), method) for pattern, method in (
    (rf"{V} : for in range\({V}, {V}\) block_dim=\w+ {{", Translation.range_for),
    (rf"{V} : struct for in (\w+) noneblock_dim=\w+ {{", Translation.struct_for),
    (rf"{TYPED} = loop {V} index (\d+)", Translation.loop_index),
    (rf"{V} : while true {{", Translation.while_true),
    (rf"{V} : while control (?:\$\d+|nullptr), {V}", Translation.while_control),
    (rf"{V} continue", Translation.leave),
    (rf"{V} : if {V} {{", Translation.if_),
    (rf"{TYPED} = const (\S+)", Translation.constant),
    (rf"{TYPED} = \[([^\]]*)\]", Translation.tensor),
    (rf"{TYPED} = ({one_of(UNARY)}) {V}", Translation.unary),
    (rf"{TYPED} = cast_value<[^>]*> {V}", Translation.cast),
    (rf"{TYPED} = ({one_of(BINARY)}) {V} {V}", Translation.binary),
    (rf"{TYPED} = select\({V}, {V}, {V}\)", Translation.select),
    (rf"{TYPED} = alloca", Translation.alloca),
    (rf"{TYPED} = global ptr \[(\w+<\w+>)\], index \[([^\]]*)\] activate=\w+", Translation.global_pointer),
    (rf"{TYPED} = shift ptr \[{V} \+ {V}\]", Translation.shifted),
    (rf"{TYPED} = (global|local) load \[?{V}\]?", Translation.load),
    (rf"(?:<[^>]*> )?\$\d+ : (global|local) store \[{V} <- {V}\]", Translation.store),
    (rf"{TYPED} = atomic add\({V}, {V}\)", Translation.atomic_add),
)]


def translated(text, name, places, cells):
    """The kernel of a dump as text of adc."""
    return Translation(text, name, places, cells).whole()
