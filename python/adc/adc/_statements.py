"""Statements of a kernel: assignments, branches, loops, assertions."""

from __future__ import annotations

import ast
import builtins

from . import _host as host
from . import _types as types
from ._calls import ATOMICS, Calls
from ._compile import CompileError
from ._expressions import known
from ._text import Piece
from ._values import Buffer, LocalArray, Several, Shape, Static, Value

UNROLLED_TRIPS, UNROLLED_INSTRUCTIONS, UNROLLED_FOR_VECTORS = 16, 512, 128
LARGEST_ARRAY = 1 << 16


class Statements(Calls):
    """Reads statements of a kernel or function."""

    is_kernel = False

    def block(self, statements: list[ast.stmt]) -> list[Value]:
        """Reads statements up to one that leaves; gives what they return."""
        for at, statement in enumerate(statements):
            if isinstance(statement, ast.Return):
                return self.returned(statement)
            if isinstance(statement, ast.If) and self.returns(statement):
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
        if self.is_kernel:
            raise self.refuse(node, "a kernel returns nothing, and ends at its end",
                              "write 'continue' to end an iteration, or put the rest into the branch")
        if self.loops:
            raise self.refuse(node, "'return' cannot stand in a loop", "assign to a variable, 'break', and return behind the loop")
        if node.value is None:
            return []
        read = self.read(node.value)
        return [self.to_value(node.value, one) for one in (read.values if isinstance(read, Several) else [read])]

    def if_returns(self, node: ast.If, rest: list[ast.stmt]) -> list[Value]:
        """A branch that returns: what follows the `if` belongs to the branches that go on."""
        if self.loops or self.is_kernel:
            self.returned(next(one for one in ast.walk(node) if isinstance(one, ast.Return)))
        return self.branch(node, self.condition(node.test), lambda: self.block([*node.body, *rest]),
                           lambda: self.block([*node.orelse, *rest]))

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
        if not isinstance(wanted, Static) or not isinstance(wanted.thing, types.Type):
            raise self.refuse(node.annotation, "this is no type of values", "write adc.f32, adc.i32, adc.vec[adc.f32, 3], ...")
        value = self.as_type(node.value, self.value(node.value), wanted.thing)
        self.assign(node.target, value, node.value)

    def assign(self, target: ast.expr, read, at: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            return self.unpack(target, read, at)
        if isinstance(target, ast.Name):
            if isinstance(read, (Several, Shape)):
                raise self.refuse(at, f"'{target.id}' would stand for several values", "unpack them: a, b = ...")
            if isinstance(read, Value):
                self.rename(read, target.id)
            self.env[target.id] = read
            return None
        if isinstance(target, ast.Subscript):
            return self.store(target, self.to_value(at, read), at)
        if isinstance(target, ast.Attribute):
            raise self.refuse(target, "a component cannot be assigned: vectors do not change",
                              "make a new vector: v = adc.vec3(1.0, v.y, v.z)")
        raise self.refuse(target, "this cannot be assigned in a kernel")

    def unpack(self, target: ast.Tuple | ast.List, read, at: ast.expr) -> None:
        if isinstance(read, Shape):
            rank = read.of.rank if isinstance(read.of, Buffer) else len(read.of.extents)
            read = Several([self.extent(at, read.of, axis) for axis in range(rank)])
        if isinstance(read, Value) and len(read.type.shape) == 1:
            read = Several([self.component(at, read, [known(axis)]) for axis in range(read.type.shape[0])])
        if not isinstance(read, Several):
            raise self.refuse(at, "one value is given to several names", "give as many values as names")
        if len(read.values) != len(target.elts):
            raise self.refuse(target, f"{len(read.values)} values are given to {len(target.elts)} names")
        for one, value in zip(target.elts, read.values):
            self.assign(one, value, at)

    def store(self, target: ast.Subscript, value: Value, at: ast.expr) -> None:
        whole = self.read(target.value)
        if not isinstance(whole, (Buffer, LocalArray)):
            raise self.not_stored(target, whole)
        if isinstance(whole, Buffer) and "readonly" in whole.attributes:
            raise self.refuse(target, f"'{whole.text[1:]}' is readonly", "take adc.readonly out of its annotation")
        place = self.element(target, whole)
        self.put(target, place, self.as_type(at, value, whole.element, "the value"))

    def not_stored(self, target: ast.expr, whole) -> CompileError:
        if isinstance(whole, Value):
            return self.refuse(target, "a component cannot be assigned: vectors do not change",
                               "make a new vector: v = adc.vec3(1.0, v.y, v.z)")
        return self.refuse(target, "this cannot be assigned in a kernel", "kernels write to buffers")

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
            raise self.not_stored(node.target, whole)
        if isinstance(node.target, ast.Name):
            old = self.to_value(node.target, self.read_name(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)))
            return self.assign(node.target, self.arithmetic(node, node.op, old, self.value(node.value)), node.value)
        return self.assign(node.target, None, node.value)

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
        condition = self.condition(node.test)
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

        self.branch(node, self.condition(node.test), read(node.body), read(node.orelse))

    def do_break(self, node: ast.Break) -> None:
        if self.loops[-1].kind == "parallel":
            raise self.refuse(node, "iterations of a parallel have no order, and 'break' cannot end them",
                              "write 'continue', which ends this iteration, or adc.serial")
        if self.loops[-1].kind == "serial":
            raise self.refuse(node, "'break' cannot end adc.serial", "write loops over range")
        self.leave(node, "break")

    def do_continue(self, node: ast.Continue) -> None:
        self.leave(node, "continue")


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
