"""Statements of a kernel: assignments, branches, loops, assertions."""

from __future__ import annotations

import ast
import builtins
import itertools

from . import _host as host
from . import _types as types
from ._calls import ATOMICS, Calls
from ._expressions import COMPONENTS, known
from ._text import Piece
from ._values import RESULT, RETURNED, UNSET, Buffer, LocalArray, Several, Shape, Static, Value, form_of, leaves, nested

UNROLLED_TRIPS, UNROLLED_INSTRUCTIONS, UNROLLED_FOR_VECTORS = 16, 512, 128
LARGEST_ARRAY = 1 << 16


class Statements(Calls):
    """Reads statements of a kernel or function."""

    is_kernel = False
    locals: set[str]  # the names that the function assigns, and its parameters
    changed: set[str]  # those of which it assigns components or elements
    forms_wanted = 0  # how many searches for the form of what is returned are under way
    form: tuple | None = ()  # of what the function returns: None is a value, a tuple several

    def block(self, statements: list[ast.stmt]) -> list[Value]:
        """Reads statements up to one that leaves; gives what they return."""
        for at, statement in enumerate(statements):
            if isinstance(statement, ast.Return):
                return self.returned(statement)
            if self.returns(statement):
                if isinstance(statement, (ast.For, ast.While)):
                    return self.loop_returns(statement, statements[at + 1:])
                if isinstance(statement, ast.If) and not self.loops:
                    return self.if_returns(statement, statements[at + 1:])
            self.statement(statement)
            if not self.reachable:
                break
        return []

    def statement(self, node: ast.stmt) -> None:
        read = getattr(self, "do_" + type(node).__name__.lower(), None)
        if read is None:
            what, remedy = NOT_DONE.get(type(node), (f"'{self.source.text(node).split()[0]}'", "see docs/python.md for what a kernel may use"))
            raise self.refuse(node, f"{what} cannot stand in a kernel", remedy)
        read(node)

    def do_pass(self, node: ast.Pass) -> None:
        pass

    # ---- returns

    @staticmethod
    def returns(node: ast.AST) -> bool:
        return any(isinstance(one, ast.Return) for one in ast.walk(node))

    def returned(self, node: ast.Return) -> list[Value]:
        if self.is_kernel and node.value is not None:
            raise self.refuse(node, "a kernel returns nothing", "store the value in a buffer")
        if any(loop.kind in ("parallel", "serial") for loop in self.loops):
            raise self.refuse(node, "'return' would end all iterations of the loop, which have no order",
                              "write 'continue' to end this iteration, or 'break' out of the loops inside of it")
        values: list[Value] = []
        form = () if node.value is None else self.flat(node.value, self.read(node.value), values)
        if self.forms_wanted:
            raise FormFound(form)
        if self.form not in ((), form) and len(values) == sum(1 for _ in _leaves(self.form)):
            raise self.refuse(node, "tuples are returned that hold their values in another way than before", "return the same on every way")
        self.form = form
        if not self.loops:
            return values
        if form != form_of(self.env[RESULT]):
            raise self.refuse(node, "one 'return' gives another number of values than another one", "return the same on every way")
        self.env[RETURNED], self.env[RESULT] = known(True), nested(form, iter(values))
        self.leave(node, "break")
        return []

    def if_returns(self, node: ast.If, rest: list[ast.stmt]) -> list[Value]:
        """A branch that returns: what follows the `if` belongs to the branches that go on."""
        return self.branch(node, self.truth(node.test), lambda: self.block([*node.body, *rest]),
                           lambda: self.block([*node.orelse, *rest]))

    def loop_returns(self, node: ast.For | ast.While, rest: list[ast.stmt]) -> list[Value]:
        """A loop with a `return` inside: it carries what is returned and whether it is, breaks there, and so do the loops around it."""
        if self.loops:
            self.statement(node)
            if self.reachable:
                self.branch(node, self.env[RETURNED], lambda: self.leave(node, "break") or [], lambda: self.block(rest))
            return []
        form = self.form_in(node)
        self.env[RETURNED], self.env[RESULT] = known(False), nested(form, itertools.repeat(Value(UNSET, const=0)))
        self.statement(node)
        returned, result = self.env.pop(RETURNED), self.env.pop(RESULT)
        values = [value for _, value in leaves(result, RESULT)] if form != () else []
        if isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value and not leaving(node.body, (ast.Break,)):
            return values  # nothing else ends the loop
        return self.branch(node, returned, lambda: values, lambda: self.block(rest))

    def form_in(self, node: ast.stmt) -> tuple | None:
        """The form of what a statement returns; the instructions of this reading are dropped."""
        self.forms_wanted += 1
        try:
            with self.trial():
                self.statement(node)
        except FormFound as found:
            return found.form
        finally:
            self.forms_wanted -= 1
        return ()

    # ---- assignments

    def do_assign(self, node: ast.Assign) -> None:
        if self.makes_array(node.value):
            return self.make_array(node)
        read = self.read(node.value)
        for target in node.targets:
            self.assign(target, read, node.value)

    def do_annassign(self, node: ast.AnnAssign) -> None:
        """v: f32 = 0.0 says the type of a number."""
        if node.value is None:
            raise self.refuse(node, "a variable is declared and not assigned", "assign it: v: adc.f32 = 0.0")
        wanted = self.read(node.annotation)
        if isinstance(wanted, Static) and wanted.thing is builtins.float:
            value = self.to_float(node, self.value(node.value))
            return self.assign(node.target, value, node.value)
        if isinstance(wanted, Static) and wanted.thing in (int, bool):
            wanted = Static(types.i32 if wanted.thing is int else types.boolean)
        if not isinstance(wanted, Static) or not isinstance(wanted.thing, types.Type):
            raise self.refuse(node.annotation, "this is no type of values", "write adc.f32, adc.i32, adc.vec[adc.f32, 3], ...")
        value = self.as_type(node.value, self.value(node.value), wanted.thing)
        self.assign(node.target, value, node.value)

    def assign(self, target: ast.expr, read, at: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            return self.unpack(target, read, at)
        if isinstance(target, ast.Name):
            if isinstance(read, Shape):
                read = Several(self.items(at, read))
            self.check_sharing(target.id, at)
            if isinstance(read, Value):
                self.rename(read, target.id)
            self.env[target.id] = read
            return None
        if isinstance(target, ast.Subscript):
            return self.store(target, self.to_value(at, read), at)
        if isinstance(target, ast.Attribute):
            whole, index = self.component_of(target)
            return self.set_component(target, whole, index, self.to_value(at, read), at)
        raise self.refuse(target, "this cannot be assigned in a kernel")

    def check_sharing(self, name: str, at: ast.expr) -> None:
        """In Python two names may be one vector. Where components are assigned, each name has a vector of its own."""
        if not self.changed:
            return
        for one in _sources(at):
            named = one.value if isinstance(one, ast.Subscript) else one
            held = self.env.get(named.id) if isinstance(named, ast.Name) and (named is one or name in self.changed) else None
            held = held.values if isinstance(held, Several) else [held] if named is one else []
            vectors = any(isinstance(whole, Value) and whole.type.shape for whole in held)
            if vectors and {name, named.id} & self.changed and name != named.id:  # type: ignore[attr-defined]
                text = self.source.text(one)
                raise self.refuse(one, f"'{name}' and '{text}' would be one vector in Python, of which components are assigned",
                                  f"copy it: {name} = +{text}" if isinstance(held[0], Value) and len(held) == 1 else "copy it: w = +v")

    def unpack(self, target: ast.Tuple | ast.List, read, at: ast.expr) -> None:
        values = self.items(at, read)
        if values is None:
            raise self.refuse(at, "one value is given to several names", "give as many values as names")
        if len(values) != len(target.elts):
            raise self.refuse(target, f"{len(values)} values are given to {len(target.elts)} names")
        parts = at.elts if isinstance(at, (ast.Tuple, ast.List)) and len(at.elts) == len(values) else [at] * len(values)
        for one, value, part in zip(target.elts, values, parts):
            self.assign(one, value, part)

    def store(self, target: ast.Subscript, value: Value, at: ast.expr) -> None:
        whole = self.read(target.value)
        if isinstance(whole, Value):
            whole, index = self.component_of(target)
            return self.set_component(target, whole, index, value, at)
        if not isinstance(whole, (Buffer, LocalArray)):
            raise self.refuse(target, "this cannot be assigned in a kernel", "kernels write to buffers")
        if isinstance(whole, Buffer) and "readonly" in whole.attributes:
            raise self.refuse(target, f"'{whole.text[1:]}' is readonly", "take adc.readonly out of its annotation")
        place = self.element(target, whole)
        self.put(target, place, self.as_element(at, value, whole.element))

    # ---- components

    def component_of(self, target: ast.Attribute | ast.Subscript) -> tuple[Value, list[Value]]:
        """The vector or matrix of which a component is assigned, and the index."""
        whole = self.read(target.value)
        if not isinstance(whole, Value) or not whole.type.shape:
            raise self.refuse(target, "this cannot be assigned in a kernel", "kernels write to buffers")
        if not isinstance(target.value, ast.Name) or target.value.id not in self.locals:
            raise self.refuse(target, "a component is assigned of a variable alone",
                              "read the vector, change it, and store it: v = p[i]; v.x = 1.0; p[i] = v")
        if isinstance(target, ast.Subscript):
            return whole, self.indices(target.slice)
        self.read_attribute(ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target))  # is there such a one?
        return whole, [known(COMPONENTS[target.attr])]

    def set_component(self, target, whole: Value, index: list[Value], value: Value, at: ast.expr) -> None:
        """v.x = a, v[i] = a, m[r, c] = a, m[r] = v: the variable stands for a new vector."""
        shape = whole.type.shape
        part = types.vec_type(whole.type.scalar, shape[1]) if len(shape) > len(index) else whole.type.scalar
        if whole.guesses:
            self.reconsider(whole, value.type)
        value = self.as_element(at, value, part)
        self.check_component(target, whole, index)
        if len(shape) == 1:
            made = self.emit(target, "vec.set", f"{whole.operand()}, {index[0].plain()}, {value.operand()}", whole.type)
        else:
            made = self.set_in_matrix(target, whole, index, value)
        made.guesses = whole.guesses
        self.rename(made, target.value.id)
        self.env[target.value.id] = made

    def set_in_matrix(self, target, whole: Value, index: list[Value], value: Value) -> Value:
        rows, columns = whole.type.shape
        if any(one.const is None for one in index):
            raise self.refuse(target, "a component of a matrix is assigned at an index that is computed", "write numbers, or use adc.array")
        parts = []
        for row in range(rows):
            for column in range(columns):
                at = [known(row), known(column)]
                if row != index[0].const or len(index) == 2 and column != index[1].const:
                    parts.append(self.component(target, whole, at))
                else:
                    parts.append(value if len(index) == 2 else self.component(target, value, at[1:]))
        return self.emit(target, "mat.make", ", ".join(one.operand() for one in parts) + f" : {whole.type.ir}", whole.type)

    def put(self, node: ast.AST, place: str, value: Value) -> None:
        self.effect(node, "store", f"store {place}, {value.plain()}")

    def do_augassign(self, node: ast.AugAssign) -> None:
        """x[i] += v loads, adds and stores, as any other assignment does; the index is computed once."""
        if isinstance(node.target, ast.Subscript):
            whole = self.read(node.target.value)
            if isinstance(whole, (Buffer, LocalArray)):
                if isinstance(whole, Buffer) and "readonly" in whole.attributes:
                    raise self.refuse(node.target, f"'{whole.text[1:]}' is readonly", "take adc.readonly out of its annotation")
                place = self.element(node.target, whole)
                old = self.emit(node.target, "load", place, whole.element)
                new = self.arithmetic(node, node.op, old, self.value(node.value))
                return self.put(node, place, self.as_type(node, new, whole.element, "the value"))
        if isinstance(node.target, (ast.Attribute, ast.Subscript)):
            whole, index = self.component_of(node.target)
            old = self.component(node.target, whole, index)
            return self.set_component(node.target, whole, index, self.arithmetic(node, node.op, old, self.value(node.value)), node.value)
        if isinstance(node.target, ast.Name):
            old = self.to_value(node.target, self.read_name(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)))
            made = self.arithmetic(node, node.op, old, self.value(node.value))
            self.rename(made, node.target.id)
            self.env[node.target.id] = made
            return None
        raise self.refuse(node.target, "this cannot be assigned in a kernel")

    # ---- arrays

    def makes_array(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
            return False
        called = self.read(node.func)
        return isinstance(called, Static) and called.thing is host.array

    def make_array(self, node: ast.Assign) -> None:
        call, target = node.value, node.targets[0]
        if len(node.targets) != 1 or not isinstance(target, ast.Name):
            raise self.refuse(node, "an array has one name", "write a = adc.array(adc.f32, 9)")
        kind, *sizes = self.plain_arguments(call)  # type: ignore[arg-type]
        element = self.read(kind)
        extents = [self.value(size).const for size in sizes]
        if not isinstance(element, Static) or not isinstance(element.thing, types.Scalar):
            raise self.refuse(kind, "an array has elements of a type of numbers", "write adc.array(adc.f32, 9)")
        total = 1
        for extent, size in zip(extents, sizes):
            if not isinstance(extent, int) or isinstance(extent, bool) or extent < 1:
                raise self.refuse(size, "the extent of an array is known when the kernel is read", "write a positive number")
            total *= extent
        if not sizes or total > LARGEST_ARRAY:
            raise self.refuse(call, f"an array has from 1 to {LARGEST_ARRAY} elements")
        name = self.fresh(target.id)
        self.pieces.append(Piece("alloca", [f"{name} = alloca array<{element.thing.ir}, {total}>"], self.place(node)))
        self.env[target.id] = LocalArray(name, element.thing, tuple(extents))

    # ---- statements of other kinds

    def do_expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return  # a docstring
        if isinstance(node.value, ast.Call):
            called = self.read(node.value.func)
            if isinstance(called, Static):
                if called.thing is builtins.print:
                    return self.do_print(node.value)
                if called.thing in ATOMICS or hasattr(called.thing, "is_adc_function"):
                    self.read(node.value)
                    last = self.pieces[-1]
                    if last.op.startswith("atomic") and isinstance(last.parts[0], str):
                        last.parts[0] = last.parts[0].split(" = ", 1)[1]
                    return
        self.read(node.value)
        raise self.refuse(node, "the value of this statement is dropped", "assign it to a variable")

    def do_print(self, node: ast.Call) -> None:
        words, values = [], []
        for one in self.plain_arguments(node):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                words.append(one.value)
            else:
                words.append("{}")
                values.append(self.determined(one, self.value(one)).operand())
        self.effect(node, "print", ", ".join([f"print {quoted(' '.join(words))}", *values]))

    def do_assert(self, node: ast.Assert) -> None:
        condition = self.truth(node.test)
        if node.msg is not None and not (isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str)):
            raise self.refuse(node.msg, "the text of an assertion is known when the kernel is read", "write a string")
        text = node.msg.value if isinstance(node.msg, ast.Constant) else " ".join(self.source.text(node.test).split())
        self.effect(node, "assert", f"assert {condition.plain()}, {quoted(str(text))}")

    def do_if(self, node: ast.If) -> None:
        def read(statements):
            def run():
                self.block(statements)
                return []
            return run

        self.branch(node, self.truth(node.test), read(node.body), read(node.orelse))

    def do_break(self, node: ast.Break) -> None:
        if self.loops[-1].kind == "parallel":
            raise self.refuse(node, "iterations of a parallel have no order, and 'break' cannot end them",
                              "write 'continue', which ends this iteration, or adc.serial")
        if self.loops[-1].kind == "serial":
            raise self.refuse(node, "'break' cannot end adc.serial", "write loops over range")
        self.leave(node, "break")

    def do_continue(self, node: ast.Continue) -> None:
        self.leave(node, "continue")


class FormFound(Exception):
    """A 'return' was reached, and gives tuples of this form."""

    def __init__(self, form: tuple | None):
        super().__init__()
        self.form = form


def changed(nodes: list) -> dict[str, ast.AST]:
    """The names of which statements assign components or elements, each with its first place."""
    found: dict[str, ast.AST] = {}
    for one in (one for node in nodes for one in ast.walk(node)):
        if isinstance(one, (ast.Attribute, ast.Subscript)) and isinstance(one.ctx, ast.Store) and isinstance(one.value, ast.Name):
            found.setdefault(one.value.id, one)
    return found


def leaving(nodes: list, kinds: tuple = (ast.Break, ast.Continue), inner: bool = False) -> ast.stmt | None:
    """The first of the statements that leaves their loop; `inner`: also in loops inside of it."""
    for node in nodes:
        if isinstance(node, kinds):
            return node
        within = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
        inside = [] if isinstance(node, (ast.For, ast.While)) and not inner else within
        found = leaving(inside, kinds, inner)
        if found is not None:
            return found
    return None


def _sources(node: ast.expr) -> list[ast.expr]:
    """The expressions of which one, or several side by side, are the value."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return [one for part in node.elts for one in _sources(part)]
    return _sources(node.body) + _sources(node.orelse) if isinstance(node, ast.IfExp) else [node]


def _leaves(form):
    return (leaf for one in form for leaf in _leaves(one)) if form is not None else (None,)


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return '"' + "".join(letter if letter.isprintable() else "?" for letter in escaped) + '"'


NOT_DONE = {
    ast.Try: ("'try'", "a kernel raises nothing; 'assert' checks"), ast.Raise: ("'raise'", "'assert' checks a condition"),
    ast.With: ("'with'", "a kernel holds no resources"), ast.Import: ("'import'", "import outside of the kernel"),
    ast.ImportFrom: ("'import'", "import outside of the kernel"), ast.Global: ("'global'", "pass a buffer"),
    ast.Nonlocal: ("'nonlocal'", "pass a buffer"), ast.FunctionDef: ("a function", "define it outside, with @adc.function"),
    ast.ClassDef: ("a class", "pass numbers and buffers"), ast.Delete: ("'del'", "use another name"),
    ast.Match: ("'match'", "write if and elif"), ast.AsyncFor: ("'async'", "write a plain loop"),
}
