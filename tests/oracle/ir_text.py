"""The IR's text, read and printed after docs/ir.md alone: nothing here comes from the compiler, so that a mistake of its
parser cannot hide itself.

A file becomes a Module of plain Python objects. An operand is one of
    Name("x")           %x
    Literal("1.0", t)   a literal, with the type that was stated behind it, or None
    Symbol("eps")       @eps
    Node                an instruction in parentheses
It reads what `adc --emit=ir` prints of derived kernels too, section 8 of that page as far as adstacks go. A type is "f32" and its like, or a tuple: ("vec", "f32", 3), ("mat", "f32", 2, 2), ("array", "f32", 9),
("buffer", element, rank), ("layout", "grid").
"""

import re


class ReadError(Exception):
    """The text is no IR that this reader knows."""


class Name:
    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name


class Literal:
    __slots__ = ("text", "type")

    def __init__(self, text, type=None):
        self.text, self.type = text, type


class Symbol:
    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name


class Place:
    """%x[%i, 2].1, %g::mass[], @w[%i]: what loads, stores and atomics name."""
    __slots__ = ("base", "field", "indices", "component")

    def __init__(self, base, field, indices, component):
        self.base, self.field, self.indices, self.component = base, field, indices, component


class Node:
    """An instruction. `args` are its operands in order, `regions` its bodies, `attrs` all that is neither."""
    __slots__ = ("op", "results", "args", "regions", "attrs")

    def __init__(self, op, results=(), args=(), regions=(), attrs=None):
        self.op, self.results, self.args, self.regions = op, list(results), list(args), list(regions)
        self.attrs = attrs or {}


class Param:
    __slots__ = ("name", "type", "attrs")

    def __init__(self, name, type, attrs):
        self.name, self.type, self.attrs = name, type, attrs


class Function:
    """A func or a kernel; `kind` says which."""
    __slots__ = ("kind", "name", "params", "results", "attrs", "body")

    def __init__(self, kind, name, params, results, attrs, body):
        self.kind, self.name, self.params, self.results, self.attrs, self.body = kind, name, params, results, attrs, body


class Module:
    def __init__(self):
        self.comments, self.constants, self.layouts, self.functions = [], {}, {}, {}

    def kernels(self):
        return [function for function in self.functions.values() if function.kind == "kernel"]


WORD = r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*"
TOKEN = re.compile(rf"""
    (?P<space>\s+|//[^\n]*) | (?P<value>%{WORD}) | (?P<symbol>@{WORD}) | (?P<text>"(?:\\.|[^"\\])*")
  | (?P<number>-?(?:0[xX][0-9a-fA-F]+(?:\.[0-9a-fA-F]+)?(?:[pP][-+]?\d+)?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?))
  | (?P<word>-?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*) | (?P<mark>\.\.|->|::|[-(){{}}\[\]<>,=:.])
""", re.X)
NUMBERS = {"true", "false", "inf", "-inf", "nan", "-nan"}
BLOCKS = ("for", "while", "if", "scope", "parallel")


class Reader:
    def __init__(self, text):
        self.tokens, at = [], 0
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise ReadError(f"line {text.count(chr(10), 0, at) + 1}: {text[at:at + 20]!r}")
            if match.lastgroup != "space":
                self.tokens.append((match.lastgroup, match.group(), at))
            at = match.end()
        self.tokens.append(("end", "", len(text)))
        self.text, self.at = text, 0

    def fail(self, wanted):
        kind, text, at = self.tokens[self.at]
        raise ReadError(f"line {self.text.count(chr(10), 0, at) + 1}: {wanted} wanted, got {text!r}")

    def sees(self, *texts):
        return self.tokens[self.at][1] in texts and self.tokens[self.at][0] != "text"

    def takes(self, text):
        if not self.sees(text):
            return False
        self.at += 1
        return True

    def want(self, text):
        if not self.takes(text):
            self.fail(repr(text))

    def kind(self, kind):
        if self.tokens[self.at][0] != kind:
            self.fail(kind)
        self.at += 1
        return self.tokens[self.at - 1][1]

    def value(self):
        return self.kind("value")[1:]

    def symbol(self):
        return self.kind("symbol")[1:]

    def listed(self, read, end):
        """What stands between here and `end`, with commas between."""
        items = []
        while not self.takes(end):
            if items:
                self.want(",")
            items.append(read())
        return items

    def module(self):
        module = Module()
        while self.tokens[self.at][0] != "end":
            word = self.kind("word")
            if word == "const":
                self.constant(module)
            elif word == "layout":
                name = self.symbol()
                self.want("{")
                module.layouts[name] = self.members()
            elif word in ("func", "kernel"):
                function = self.function(word)
                module.functions[function.name] = function
            else:
                self.at -= 1
                self.fail("const, layout, func or kernel")
        return module

    def constant(self, module):
        name = self.symbol()
        self.want("=")
        numbers = self.listed(lambda: self.literal().text, "]") if self.takes("[") else self.literal(False).text
        self.want(":")
        module.constants[name] = (self.type(), numbers)

    def members(self):
        """Of a layout: ("dense", extents, members) and ("field", name, type, is diff)."""
        members = []
        while not self.takes("}"):
            if self.takes("dense"):
                self.want("[")
                extents = self.listed(lambda: int(self.kind("number")), "]")
                self.want("{")
                members.append(("dense", extents, self.members()))
            else:
                name = self.kind("word")
                self.want(":")
                members.append(("field", name, self.type(), self.takes("diff")))
        return members

    def function(self, kind):
        name, results, attrs = self.symbol(), [], {}
        self.want("(")
        params = self.listed(self.param, ")")
        if self.takes("->"):
            results.append(self.type())
            while self.takes(","):
                results.append(self.type())
        while self.sees("vjp", "jvp", "grad"):
            word = self.kind("word")
            attrs[word] = self.symbol()
        return Function(kind, name, params, results, attrs, self.region())

    def param(self):
        name = self.value()
        self.want(":")
        type, attrs = self.type(), []
        while self.tokens[self.at][0] == "word":
            attrs.append(self.kind("word"))
        return Param(name, type, attrs)

    def type(self):
        if self.tokens[self.at][0] == "symbol":
            return ("layout", self.symbol())
        word = self.kind("word")
        if word not in ("vec", "mat", "array", "buffer"):
            return word
        self.want("<")
        parts = [word, self.type()]
        while self.takes(","):
            parts.append(int(self.kind("number")))
        self.want(">")
        return tuple(parts)

    def region(self):
        self.want("{")
        body = []
        while not self.takes("}"):
            body.append(self.statement())
        return body

    def statement(self):
        results = []
        if self.tokens[self.at][0] == "value":
            results.append(self.value())
            while self.takes(","):
                results.append(self.value())
            self.want("=")
        node = self.instruction()
        node.results = results
        return node

    def literal(self, may_state_type=True):
        kind, text, _ = self.tokens[self.at]
        if kind != "number" and text not in NUMBERS:
            self.fail("a literal")
        self.at += 1
        return Literal(text, self.type() if may_state_type and self.takes(":") else None)

    def operand(self):
        kind, text, _ = self.tokens[self.at]
        if kind == "value":
            return Name(self.value())
        if kind == "symbol":
            return Symbol(self.symbol())
        if text == "shape":
            return self.instruction()
        if self.takes("("):
            node = self.instruction()
            self.want(")")
            return node
        return self.literal()

    def operands(self):
        kind, text, _ = self.tokens[self.at]
        if kind not in ("value", "symbol", "number") and text not in NUMBERS and text not in ("(", "shape"):
            return []
        # A statement that begins with %r = ... is no operand.
        if kind == "value" and self.tokens[self.at + 1][1] in ("=",):
            return []
        args = [self.operand()]
        while self.takes(","):
            args.append(self.operand())
        return args

    def place(self):
        if self.tokens[self.at][0] == "symbol":
            base, field = Symbol(self.symbol()), None
        else:
            base, field = Name(self.value()), None
            if self.takes("::"):
                field = self.kind("word")
        self.want("[")
        indices = self.listed(self.operand, "]")
        component = int(self.kind("number")) if self.takes(".") else None
        return Place(base, field, indices, component)

    def carry(self):
        if not self.takes("carry"):
            return []
        self.want("(")

        def one():
            name = self.value()
            self.want("=")
            return name, self.operand()
        return self.listed(one, ")")

    def instruction(self):
        op = self.kind("word")
        if op in BLOCKS:
            return getattr(self, op + "_")()
        if op in ("load", "store"):
            attrs = {"place": self.place()}
            args = [self.operand()] if op == "store" and (self.want(",") or True) else []
            return Node(op, (), args, (), attrs)
        if op == "atomic":
            kind, attrs = self.kind("word"), {}
            attrs["place"] = self.place()
            self.want(",")
            return Node("atomic " + kind, (), self.operands(), (), attrs)
        if op == "add_to":
            attrs = {"place": self.place()}
            self.want(",")
            args = [self.operand()]
            attrs["plain"] = self.takes("plain")
            return Node(op, (), args, (), attrs)
        if op == "stack.new":
            return Node(op, (), (), (), {"type": self.type()})
        if op in ("stack.push", "stack.pop", "stack.top"):
            args = self.operands()
            return Node(op, (), args, (), {"slot": self.operand()} if self.takes("at") else {})
        if op == "shape":
            closed = self.takes("(")
            attrs = {"of": Name(self.value())}
            attrs["field"] = self.kind("word") if self.takes("::") else None
            self.want(",")
            attrs["axis"] = int(self.kind("number"))
            if closed:
                self.want(")")
            attrs["type"] = self.type() if self.takes(":") else "i32"
            return Node(op, (), (), (), attrs)
        if op == "alloca":
            return Node(op, (), (), (), {"type": self.type()})
        if op in ("cast", "bitcast"):
            value = self.operand()
            self.want("to")
            return Node(op, (), [value], (), {"type": self.type()})
        if op == "identity":
            return Node(op, (), (), (), {"type": int(self.kind("number")) if self.tokens[self.at][0] == "number" else self.type()})
        if op == "call":
            name = self.symbol()
            self.want("(")
            return Node(op, (), self.listed(self.operand, ")"), (), {"function": name})
        if op in ("assert", "print"):
            args = self.operands() if op == "assert" else []
            if op == "assert":
                self.want(",")
            text = self.kind("text")
            if op == "print" and self.takes(","):
                args = self.operands()
            return Node(op, (), args, (), {"text": text})
        args = self.operands()
        self.takes("either")
        attrs = {"type": self.type()} if op in ("mat.make", "random") and self.takes(":") else {}
        if op == "random" and not attrs and isinstance(args[-1], Literal):
            attrs["type"], args[-1].type = args[-1].type, None  # what stands behind it all is the result's
        return Node(op, (), args, (), attrs)

    def for_(self):
        attrs = {"index": self.value()}
        self.want("in")
        low = self.operand()
        self.want("..")
        high = self.operand()
        while not self.sees("{"):
            word = self.tokens[self.at][1]
            if word == "carry":
                attrs["carry"] = self.carry()
                continue
            self.at += 1
            if word == "step":
                attrs["step"] = int(self.kind("number"))
            elif word == "checkpoint":
                attrs["checkpoint"] = int(self.kind("number")) if self.tokens[self.at][0] == "number" else 0
            elif word in ("reversed", "unroll"):
                attrs[word] = True
            elif word == "apart":  # says nothing of what the loop computes
                if self.tokens[self.at][0] == "number":
                    self.kind("number")
            else:
                self.at -= 1
                self.fail("an attribute of a loop")
        return Node("for", (), [low, high], [self.region()], attrs)

    def while_(self):
        attrs, args = {}, []
        while not self.sees("{"):
            word = self.tokens[self.at][1]
            if word == "carry":
                attrs["carry"] = self.carry()
                continue
            self.at += 1
            if word == "max":
                args = [self.operand()]
                if self.tokens[self.at][1] == "or":
                    self.at += 1
                    self.want("none")
                    attrs["or none"] = True
            elif word == "checkpoint":
                attrs["checkpoint"] = int(self.kind("number")) if self.tokens[self.at][0] == "number" else 0
            else:
                self.at -= 1
                self.fail("an attribute of a loop")
        test = self.region()
        self.want("do")
        return Node("while", (), args, [test, self.region()], attrs)

    def if_(self):
        args = [self.operand()]
        regions = [self.region()]
        if self.takes("else"):
            regions.append(self.region())
        return Node("if", (), args, regions, {})

    def scope_(self):
        attrs = {"label": self.value(), "types": []}
        while self.takes("->" if not attrs["types"] else ","):
            attrs["types"].append(self.type())
        return Node("scope", (), (), [self.region()], attrs)

    def parallel_(self):
        indices = [self.value()]
        while self.takes(","):
            indices.append(self.value())
        attrs, args = {"indices": indices}, []
        if self.takes("over"):
            base = Name(self.value())
            self.want("::")
            attrs["over"] = (base, self.kind("word"))
        else:
            self.want("in")
            for at in range(len(indices)):
                if at:
                    self.want(",")
                args.append(self.operand())
                self.want("..")
                args.append(self.operand())
        if self.takes("block"):
            attrs["block"] = int(self.kind("number"))
        return Node("parallel", (), args, [self.region()], attrs)


def read(text):
    return Reader(text).module()


# ------------------------------------------------------------------------------------------------------------ printing


def type_text(type):
    if isinstance(type, str):
        return type
    if type[0] == "layout":
        return "@" + type[1]
    return f"{type[0]}<{type_text(type[1])}{''.join(f', {part}' for part in type[2:])}>"


def operand_text(operand):
    if isinstance(operand, Name):
        return "%" + operand.name
    if isinstance(operand, Symbol):
        return "@" + operand.name
    if isinstance(operand, Literal):
        return operand.text + (":" + type_text(operand.type) if operand.type else "")
    return "(" + node_text(operand, "") + ")"


def place_text(place):
    return (operand_text(place.base) + (f"::{place.field}" if place.field else "") +
            f"[{', '.join(map(operand_text, place.indices))}]" +
            (f".{place.component}" if place.component is not None else ""))


def region_text(body, indent):
    return "{\n" + "".join(f"{indent}  {node_text(node, indent + '  ')}\n" for node in body) + indent + "}"


def carry_text(attrs):
    carry = ", ".join(f"%{name} = {operand_text(init)}" for name, init in attrs.get("carry", ()))
    return f" carry({carry})" if carry else ""


def checkpoint_text(attrs):
    return "" if "checkpoint" not in attrs else f" checkpoint {attrs['checkpoint']}".removesuffix(" 0")


def node_text(node, indent):
    head = ", ".join("%" + name for name in node.results) + " = " if node.results else ""
    args, attrs, op = list(map(operand_text, node.args)), node.attrs, node.op
    if op == "for":
        text = f"for %{attrs['index']} in {args[0]}..{args[1]}"
        text += f" step {attrs['step']}" if "step" in attrs else ""
        text += (" reversed" if "reversed" in attrs else "") + carry_text(attrs) + checkpoint_text(attrs)
        return head + text + (" unroll " if "unroll" in attrs else " ") + region_text(node.regions[0], indent)
    if op == "while":
        text = f"while{' max ' + args[0] if args else ''}{' or none' if 'or none' in attrs else ''}{carry_text(attrs)}{checkpoint_text(attrs)} "
        return head + text + region_text(node.regions[0], indent) + " do " + region_text(node.regions[1], indent)
    if op == "if":
        return head + f"if {args[0]} " + " else ".join(region_text(region, indent) for region in node.regions)
    if op == "scope":
        types = ", ".join(map(type_text, attrs["types"]))
        return head + f"scope %{attrs['label']}{' -> ' + types if types else ''} " + region_text(node.regions[0], indent)
    if op == "parallel":
        names = ", ".join("%" + name for name in attrs["indices"])
        ranges = (f"over %{attrs['over'][0].name}::{attrs['over'][1]}" if "over" in attrs else
                  "in " + ", ".join(f"{low}..{high}" for low, high in zip(args[::2], args[1::2])))
        block = f" block {attrs['block']}" if "block" in attrs else ""
        return f"parallel {names} {ranges}{block} {region_text(node.regions[0], indent)}"
    if op in ("load", "store") or op.startswith("atomic"):
        return head + ", ".join([f"{op} {place_text(attrs['place'])}"] + args)
    if op == "shape":
        field = f"::{attrs['field']}" if attrs["field"] else ""
        return head + f"shape %{attrs['of'].name}{field}, {attrs['axis']}" + (" : i64" if attrs["type"] == "i64" else "")
    if op in ("alloca", "identity"):
        return head + f"{op} {attrs['type'] if isinstance(attrs['type'], int) else type_text(attrs['type'])}"
    if op in ("cast", "bitcast"):
        return head + f"{op} {args[0]} to {type_text(attrs['type'])}"
    if op == "call":
        return head + f"call @{attrs['function']}({', '.join(args)})"
    if op == "assert":
        return f"assert {args[0]}, {attrs['text']}"
    if op == "print":
        return ", ".join([f"print {attrs['text']}"] + args)
    stated = " : " + type_text(attrs["type"]) if "type" in attrs else ""
    return (head + op + (" " + ", ".join(args) if args else "")) + stated


def members_text(members):
    texts = []
    for member in members:
        if member[0] == "dense":
            texts.append(f"dense[{', '.join(map(str, member[1]))}] {{ {members_text(member[2])} }}")
        else:
            texts.append(f"{member[1]}: {type_text(member[2])}" + (" diff" if member[3] else ""))
    return " ".join(texts)


def print_module(module):
    text = ""
    for name, (type, numbers) in module.constants.items():
        text += f"const @{name} = {'[' + ', '.join(numbers) + ']' if isinstance(numbers, list) else numbers} : {type_text(type)}\n"
    for name, members in module.layouts.items():
        text += f"layout @{name} {{ {members_text(members)} }}\n"
    for function in module.functions.values():
        params = ", ".join(" ".join([f"%{param.name}: {type_text(param.type)}"] + param.attrs) for param in function.params)
        text += f"{function.kind} @{function.name}({params}) "
        text += f"-> {', '.join(map(type_text, function.results))} " if function.results else ""
        text += "".join(f"{kind} @{name} " for kind, name in function.attrs.items())
        text += region_text(function.body, "") + "\n"
    return text
