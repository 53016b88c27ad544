"""Expressions of a kernel: numbers, operators, elements, components, and what is known when the kernel is read."""

from __future__ import annotations

import ast
import builtins
import functools
import operator
import types as python
from collections.abc import Callable

from . import _types as types
from ._emitter import Emitter
from ._text import Piece
from ._values import WEAK_FLOAT, WEAK_INT, Buffer, LocalArray, Several, Shape, Static, Unknown, Value, nested

ARITHMETIC = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "mod"}
BITS = {ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "shr"}
FOLDED = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
          ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitAnd: operator.and_,
          ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift}
COMPARISONS = {ast.Eq: ("eq", operator.eq), ast.NotEq: ("ne", operator.ne), ast.Lt: ("lt", operator.lt), ast.LtE: ("le", operator.le),
               ast.Gt: ("gt", operator.gt), ast.GtE: ("ge", operator.ge)}
COMPONENTS = {"x": 0, "y": 1, "z": 2, "w": 3}
LARGEST_POWER = 64
LARGEST_CHOICE = 16  # elements of a tuple that is indexed by a number that is computed


class Expressions(Emitter):
    """Reads expressions; a subclass gives `scope` and calls."""

    scope: Callable[[str, ast.AST], object]
    elements: Callable[[ast.expr], list]
    assign: Callable[[ast.expr, object, ast.expr], None]
    splat: Callable[[ast.AST, Value, types.Type], Value]
    to_scalar: Callable[[ast.AST, Value, types.Scalar], Value]
    to_float: Callable[[ast.AST, Value], Value]

    # ---- what an expression stands for

    def value(self, node: ast.expr) -> Value:
        """The expression as a value."""
        return self.to_value(node, self.read(node))

    def to_value(self, node: ast.AST, read) -> Value:
        if isinstance(read, Value):
            return read
        if isinstance(read, Static):
            raise self.refuse(node, f"'{self.source.text(node)}' is no value of the kernel, but {_sort_of(read.thing)}",
                              "captured are numbers, bools, and members of enumerations")
        what, remedy = {Buffer: ("a buffer", "read an element, as in x[i]"), Several: ("several values", "unpack them: a, b = ..."),
                        LocalArray: ("an array", "read an element, as in a[0]"),
                        Shape: ("a shape", "read an extent, as in x.shape[0]")}[type(read)]
        raise self.refuse(node, f"'{self.source.text(node)}' is {what}, where a value is wanted", remedy)

    def read(self, node: ast.expr):
        """What the expression stands for: a value, a buffer, several values, or a thing that is known."""
        read = getattr(self, "read_" + type(node).__name__.lower(), None)
        if read is None:
            what, remedy = NOT_READ.get(type(node), (f"'{self.source.text(node)}'", "see docs/python.md for what a kernel may use"))
            raise self.refuse(node, f"{what} cannot stand in a kernel", remedy)
        return read(node)

    def read_constant(self, node: ast.Constant):
        if isinstance(node.value, (bool, int, float)):
            return known(node.value)
        if node.value is None:
            return Static(None)
        raise self.refuse(node, f"{self.source.text(node)} is no number, and cannot stand here")

    def read_name(self, node: ast.Name):
        found = self.env.get(node.id)
        if found is None:
            found = self.scope(node.id, node)
        if isinstance(found, Unknown):
            if found.again is not None:
                raise found.again
            raise self.refuse(node, f"'{node.id}' {found.why}", found.remedy)
        return found

    def read_tuple(self, node: ast.Tuple):
        return Several([self.read(one) for one in node.elts])

    def read_attribute(self, node: ast.Attribute):
        whole = self.read(node.value)
        if isinstance(whole, Static):
            try:
                return static(getattr(whole.thing, node.attr))
            except AttributeError:
                raise self.refuse(node, f"'{self.source.text(node.value)}' has no '{node.attr}'") from None
        if node.attr == "value" and isinstance(whole, Value) and whole.const is not None:
            return whole  # of a member of an enumeration that is a number itself
        if node.attr == "shape" and isinstance(whole, (Buffer, LocalArray)):
            return Shape(whole)
        if isinstance(whole, Value) and len(whole.type.shape) == 1:
            at = COMPONENTS.get(node.attr)
            if at is not None and at < whole.type.shape[0]:
                return self.component(node, whole, [known(at)])
            raise self.refuse(node, f"a vector of {whole.type.shape[0]} components has no '{node.attr}'",
                              "components are .x, .y, .z, .w, and v[0] to v[15]")
        what = self.named(whole.type) if isinstance(whole, Value) else "this"
        raise self.refuse(node, f"{what} has no '{node.attr}' in a kernel",
                          "buffers have .shape, vectors .x, .y, .z and .w")

    # ---- elements

    def read_subscript(self, node: ast.Subscript):
        whole = self.read(node.value)
        if isinstance(whole, Static):
            return self.read_static_item(node, whole.thing)
        if isinstance(whole, Shape):
            at = self.read(node.slice)
            if not isinstance(at, Value) or not isinstance(at.const, int):
                raise self.refuse(node.slice, "the axis of a shape is known when the kernel is read", "write a number")
            return self.extent(node, whole.of, at.const)
        if isinstance(whole, Several):
            return self.item(node, whole.values, self.value(node.slice))
        if isinstance(whole, Buffer):
            return self.emit(node, "load", self.element(node, whole), whole.element)
        if isinstance(whole, LocalArray):
            return self.emit(node, "load", self.element(node, whole), whole.element)
        if isinstance(whole, Value) and whole.type.shape:
            return self.component(node, whole, self.indices(node.slice))
        self.to_value(node.value, whole)
        raise self.refuse(node, f"{self.named(whole.type)} has no components", "only buffers, arrays, vectors and matrices have")

    def read_static_item(self, node: ast.Subscript, thing):
        if isinstance(thing, (types._Buffers, types._Vectors, types._Matrices, types.Type)):
            return static(self.evaluated(node))
        if not isinstance(thing, (tuple, list)):
            raise self.refuse(node, f"an element of {_sort_of(thing)} is no value of the kernel", "pass it as a buffer")
        return self.item(node, [static(one) for one in thing], self.value(node.slice))

    def items(self, node: ast.AST, read) -> list | None:
        """What a tuple, a shape, a vector or a constant sequence holds; None of anything else."""
        if isinstance(read, Shape):
            rank = read.of.rank if isinstance(read.of, Buffer) else len(read.of.extents)
            return [self.extent(node, read.of, axis) for axis in range(rank)]
        if isinstance(read, Value) and len(read.type.shape) == 1:
            return [self.component(node, read, [known(at)]) for at in range(read.type.shape[0])]
        if isinstance(read, Static) and isinstance(read.thing, (tuple, list)):
            return [static(one) for one in read.thing]
        return read.values if isinstance(read, Several) else None

    def items_of(self, node: ast.expr, what: str) -> list:
        """What the expression holds, where several values are wanted; brackets of a list are as those of a tuple."""
        if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
            return [one() for one in self.comprehended(node)]
        read = self.read_tuple(node) if isinstance(node, ast.List) else self.read(node)  # type: ignore[arg-type]
        found = self.items(node, read)
        if found is None:
            raise self.refuse(node, f"{what} takes a tuple, a shape or a vector", "write the values, as in (a, b)")
        return found

    def comprehended(self, node: ast.GeneratorExp | ast.ListComp) -> list[Callable]:
        """What reads the elements of `f(a) for a in t`, where t is a tuple or a range of numbers."""
        over = node.generators[0]
        if len(node.generators) != 1 or over.ifs:
            raise self.refuse(node, "a generator with 'if' or with several 'for' cannot stand in a kernel", "write a loop")

        def element(one):
            before = self.env
            self.env = dict(before)
            self.assign(over.target, one, over.iter)
            read = self.read(node.elt)
            self.env = before
            return read

        return [functools.partial(element, one) for one in self.elements(over.iter)]

    def item(self, node: ast.Subscript, items: list, at: Value):
        """An element of a tuple. Where the index is computed, it is chosen among the elements."""
        if isinstance(at.const, int) and not isinstance(at.const, bool):
            if not -len(items) <= at.const < len(items):
                raise self.refuse(node, f"{at.const} is no index of {len(items)} elements")
            return items[at.const]
        if not at.type.scalar.is_integer or at.type.shape:
            raise self.refuse(node.slice, f"an index is an integer, not {self.named(at.type)}", "convert it, as in adc.i32(a)")
        if len(items) > LARGEST_CHOICE:
            raise self.refuse(node, f"a tuple of {len(items)} elements is indexed by a number that is computed",
                              f"pass it as a buffer; up to {LARGEST_CHOICE} elements are chosen among")
        if at.type.scalar.kind != "uint":  # counted from the end, as in Python
            below = self.compared(node, ast.Lt(), at, known(0))
            at = self.chosen_of(node, below, self.arithmetic(node, ast.Add(), at, known(len(items))), at)
        return self.choice(node, items, at)

    def choice(self, node: ast.Subscript, items: list, at: Value, path: str = ""):
        """The element of a computed index, of nested tuples each part."""
        if all(isinstance(one, (Several, Static)) for one in items):
            parts = [self.items(node, one) for one in items]
            if all(part is not None and len(part) == len(parts[0]) for part in parts):
                return Several([self.choice(node, list(column), at, f"{path}.{k}") for k, column in enumerate(zip(*parts))])
        values, guesses = self.literals(node, self.alike(node, [self.to_value(node, one) for one in items]), f"choice{path}")
        result = values[-1]
        for number in range(len(values) - 2, -1, -1):
            result = self.chosen_of(node, self.compared(node, ast.Eq(), at, known(number)), values[number], result)
        return Value(result.type, result.text, result.const, guesses)

    def evaluated(self, node: ast.expr):
        """A type that stands in the code, made by Python."""
        code = compile(ast.Expression(node), self.source.file, "eval")
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        known_names = {}
        for name in names:
            found = self.scope(name, node)
            known_names[name] = found.thing if isinstance(found, Static) else getattr(found, "const", None)
        try:
            return eval(code, {"__builtins__": builtins}, known_names)
        except Exception as error:
            raise self.refuse(node, str(error)) from error

    def indices(self, node: ast.expr) -> list[Value]:
        """The values of an index, which are integers."""
        values = []
        for one in node.elts if isinstance(node, ast.Tuple) else [node]:
            if isinstance(one, ast.Slice):
                raise self.refuse(node, "a slice cannot stand in a kernel", "write a loop over the elements")
            value = self.value(one)
            if not value.type.scalar.is_integer or value.type.shape:
                raise self.refuse(one, f"an index is an integer, not {self.named(value.type)}", "convert it, as in adc.i32(a)")
            if value.const is not None and value.const < 0:
                raise self.refuse(one, f"the index {value.const} would count from the end in Python, and is out of range here",
                                  "write x.shape[0] - 1, and so on")
            if not value.is_weak and value.type not in (types.i32, types.i64):
                value = self.to_scalar(one, value, types.i32 if value.type.scalar.bits < 32 else types.i64)
            values.append(value)
        return values

    def element(self, node: ast.Subscript, whole: Buffer | LocalArray) -> str:
        return self.element_at(node, whole, self.indices(node.slice))

    def element_at(self, node: ast.AST, whole: Buffer | LocalArray, at: list[Value]) -> str:
        """The IR's spelling of an element."""
        rank = whole.rank if isinstance(whole, Buffer) else len(whole.extents)
        if len(at) != rank:
            spelled = {0: "x[()]", 1: "x[i]", 2: "x[i, j]"}.get(rank, "x[i, j, ...]")
            raise self.refuse(node, f"{len(at)} indices, where there are {rank} axes", f"write {spelled}")
        if isinstance(whole, LocalArray) and rank > 1:
            flat = at[0]
            for extent, one in zip(whole.extents[1:], at[1:]):
                flat = self.arithmetic(node, ast.Add(), self.arithmetic(node, ast.Mult(), flat, known(extent)), one)
            at = [flat]
        return f"{whole.text}[{', '.join(value.plain() for value in at)}]"

    def extent(self, node: ast.AST, whole: Buffer | LocalArray, axis: int) -> Value:
        rank = whole.rank if isinstance(whole, Buffer) else len(whole.extents)
        if not 0 <= axis < rank:
            raise self.refuse(node, f"there is no axis {axis} of {rank}")
        if isinstance(whole, LocalArray):
            return known(whole.extents[axis])
        return self.emit(node, "shape", f"{whole.text}, {axis}", types.i32)

    def component(self, node: ast.AST, whole: Value, at: list[Value]) -> Value:
        shape = whole.type.shape
        if len(shape) == 2 and len(at) == 1:
            parts = [self.component(node, whole, [at[0], known(column)]) for column in range(shape[1])]
            return self.emit(node, "vec.make", ", ".join(part.text for part in parts), types.vec_type(whole.type.scalar, shape[1]))
        self.check_component(node, whole, at)
        op = "vec.get" if len(shape) == 1 else "mat.get"
        cheap = op == "vec.get" and at[0].const is not None
        made = self.emit(node, op, ", ".join([whole.operand(), *(one.plain() for one in at)]), whole.type.scalar, cheap)
        made.guesses = whole.guesses
        return made

    def check_component(self, node: ast.AST, whole: Value, at: list[Value]) -> None:
        shape = whole.type.shape
        if len(at) != len(shape) and (len(at), len(shape)) != (1, 2):
            raise self.refuse(node, f"{len(at)} indices of {self.named(whole.type)}", "write v[0] of a vector, m[0, 1] of a matrix")
        for one, extent in zip(at, shape):
            if one.const is not None and one.const >= extent:
                raise self.refuse(node, f"there is no component {one.const} of {extent}")

    # ---- operators

    def read_binop(self, node: ast.BinOp):
        left = self.value(node.left)
        return self.arithmetic(node, node.op, left, self.value(node.right))

    def arithmetic(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        if left.is_weak and right.is_weak and left.const is not None and right.const is not None:
            return self.folded(node, FOLDED.get(type(op)), left.const, right.const)
        if isinstance(op, ast.MatMult):
            return self.matrix_product(node, left, right)
        if type(op) not in (ast.BitAnd, ast.BitOr, ast.BitXor):
            left, right = self.counted_as(node, left), self.counted_as(node, right)
        if isinstance(op, ast.Pow):
            return self.power(node, left, right)
        spread = type(op) in (ast.Add, ast.Sub, ast.Div) and 1 in (len(left.type.shape), len(right.type.shape))
        left, right = self.agreed(node, left, right, scaling=spread or type(op) in (ast.Mult, ast.Div, ast.Mod, ast.FloorDiv))
        if spread and not left.type.shape:
            left = self.splat(node, left, right.type)
        elif spread and not right.type.shape and not isinstance(op, ast.Div):
            right = self.splat(node, right, left.type)
        scalar = left.type.scalar
        if type(op) in BITS:
            if scalar.is_float:
                raise self.refuse(node, "this operator takes integers, not floats", "convert the operands, as in adc.i32(a)")
            if type(op) in (ast.LShift, ast.RShift) and right.const is not None and not 0 <= right.const < scalar.bits:
                raise self.refuse(node, f"{self.named(left.type)} is shifted by {right.const}", f"shift by 0 to {scalar.bits - 1}")
            return self.apply(node, BITS[type(op)], left, right)
        if isinstance(op, ast.Div) and scalar.is_integer:
            if left.type.shape or right.type.shape:
                raise self.refuse(node, "'/' of vectors of integers", "write '//' for the whole quotients, or convert the vectors")
            return self.arithmetic(node, op, self.to_float(node, left), self.to_float(node, right))
        shaped = left.type if left.type.shape else right.type
        if not isinstance(op, ast.Mult) and right.type.shape and not left.type.shape:
            raise self.refuse(node, "a number is divided by a matrix, or its remainder by a vector is wanted",
                              "call it for each component")
        if type(op) in (ast.Mod, ast.FloorDiv) and shaped.shape:
            return self.quotients(node, op, left, right)
        if type(op) in (ast.Mod, ast.FloorDiv) and scalar.is_float:
            return self.float_quotient(node, op, left, right)
        return self.apply(node, ARITHMETIC[type(op)], left, right, type=shaped)

    def counted_as(self, node: ast.AST, value: Value) -> Value:
        """A bool as the number that it is in Python, 0 or 1."""
        if value.type is not types.boolean:
            return value
        return known(int(value.const)) if value.const is not None else self.to_scalar(node, value, types.i32)

    def quotients(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """a % b and a // b of a vector's components."""
        if len(left.type.shape) != 1:
            raise self.refuse(node, "'%' and '//' take numbers and vectors, not matrices", "call it for each component")
        parts = []
        for at in range(left.type.shape[0]):
            one, two = (self.component(node, value, [known(at)]) if value.type.shape else value for value in (left, right))
            parts.append(self.arithmetic(node, op, one, two))
        return self.emit(node, "vec.make", ", ".join(part.operand() for part in parts), left.type)

    def float_quotient(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """a % b and a // b as Python has them, of the exact remainder: 1.0 // 0.1 is 9.0, though 1.0 / 0.1 rounds to 10.0."""
        zero, one, half = (Value(left.type, const=number) for number in (0.0, 1.0, 0.5))

        def compare(name: str, a: Value, b: Value) -> Value:
            return self.apply(node, name, a, b, type=types.boolean)

        rest = self.apply(node, "rem", left, right)
        signs_differ = compare("ne", compare("lt", rest, zero), compare("lt", right, zero))
        moved = compare("and", compare("ne", rest, zero), signs_differ)
        modulo = self.chosen_of(node, moved, self.apply(node, "add", rest, right), rest)
        if isinstance(op, ast.Mod):
            return modulo
        quotient = self.apply(node, "div", self.apply(node, "sub", left, modulo), right)
        whole = self.apply(node, "floor", quotient)
        rounded_down = compare("gt", self.apply(node, "sub", quotient, whole), half)
        return self.chosen_of(node, rounded_down, self.apply(node, "add", whole, one), whole)

    def chosen_of(self, node: ast.AST, condition: Value, a: Value, b: Value) -> Value:
        return self.emit(node, "select", f"{condition.text}, {a.operand()}, {b.operand()}", a.type)

    def folded(self, node: ast.AST, function, *numbers) -> Value:
        try:
            if function in (operator.pow, operator.lshift) and _is_huge(function, *numbers):
                raise OverflowError("the result has more than 1,024 bits")
            number = function(*numbers)
            if isinstance(number, complex):
                raise ValueError("the result is complex")
            if isinstance(number, int) and number.bit_length() > 1024:
                raise OverflowError("the result has more than 1,024 bits")
            return known(number)
        except (ArithmeticError, ValueError, TypeError) as error:
            raise self.refuse(node, f"Python says of these numbers: {error}") from error

    def agreed(self, node: ast.AST, left: Value, right: Value, scaling: bool = False) -> tuple[Value, Value]:
        """Both operands with types that fit: a literal takes the other one's type."""
        if left.type.shape != right.type.shape and (left.type.shape and right.type.shape or not scaling):
            weak = left.is_weak or right.is_weak
            one = right.type if right.type.shape else left.type
            raise self.refuse(node, f"{self.named(left.type)} beside {self.named(right.type)}",
                              f"write adc.vec{one.shape[0]}(a), a vector of equal components" if weak or not scaling else "give both one shape")
        a, b = left.type.scalar, right.type.scalar
        if a is b:
            return left, right
        if a.is_integer and b.is_float and not left.is_weak:
            return self.agreed(node, self.beside_float(node, left, b), right, scaling)
        if b.is_integer and a.is_float and not right.is_weak:
            return self.agreed(node, left, self.beside_float(node, right, a), scaling)
        for one, other in ((left, right), (right, left)):
            if not other.is_weak or other.type is WEAK_FLOAT:
                self.reconsider(one, other.type)
        if left.is_weak and not right.is_weak or left.is_weak and right.type is WEAK_FLOAT:
            return self.as_type_beside(node, left, b), right
        if right.is_weak:
            return left, self.as_type_beside(node, right, a)
        wider = max((a, b), key=lambda one: (one.is_float, one.bits))
        raise self.refuse(node, f"{a.ir} beside {b.ir}: a kernel converts nothing by itself",
                          f"convert one of them, as in adc.{wider.ir}({self.source.text(node.left if a is not wider else node.right)})"
                          if isinstance(node, ast.BinOp) else f"convert one of them by adc.{wider.ir}(...)")

    def beside_float(self, node: ast.AST, value: Value, type: types.Scalar) -> Value:
        """An integer where a float is wanted, or a vector of them: the nearest floats of that type; beside a literal, as float(i)."""
        if value.type.shape:
            self.reconsider(value, type)
        if type is WEAK_FLOAT:
            return self.to_float(node, value)
        if type is types.f16 and value.type.scalar.bits > 8:
            self.reconsider(value, type)
            raise self.refuse(node, f"{self.named(value.type)} beside f16, which ends at 65504 and has whole numbers up to 2048 alone",
                              "convert it, as in adc.f16(i)")
        if value.type.shape:
            made = types.of_shape(type, value.type.shape)
            return self.emit(node, "cast", f"{value.text} to {made.ir}", made)
        return self.to_scalar(node, value, type)

    def as_element(self, node: ast.AST, value: Value, type: types.Type) -> Value:
        """A value that is stored: a type of floats takes integers."""
        if type.scalar.is_float and value.type.scalar.is_integer and type.shape == value.type.shape and not value.is_weak:
            return self.beside_float(node, value, type.scalar)
        return self.as_type(node, value, type, "the value")

    def as_type_beside(self, node: ast.AST, value: Value, type: types.Scalar) -> Value:
        if type in (WEAK_INT, WEAK_FLOAT):
            return Value(type, value.text, None if value.const is None else float(value.const))
        return self.as_type(node, value, type)

    def power(self, node: ast.AST, base: Value, exponent: Value) -> Value:
        whole = exponent.const
        if isinstance(whole, int) and 1 <= whole <= LARGEST_POWER and exponent.is_weak:
            result = None
            while whole:
                if whole & 1:
                    result = base if result is None else self.apply(node, "mul", result, base)
                whole >>= 1
                if whole:
                    base = self.apply(node, "mul", base, base)
            return result
        if base.type.scalar.is_integer and not (base.is_weak and exponent.type.scalar.is_float):
            raise self.refuse(node, "a power of integers has an exponent from 1 to 64 that is known", "write adc.f32(a) ** b")
        if base.type.shape or exponent.type.shape:
            raise self.refuse(node, "a power of a vector has a whole number from 1 to 64 as its exponent, that is known",
                              "call it for each component")
        base, exponent = self.agreed(node, base, exponent)
        return self.apply(node, "pow", base, exponent)

    def matrix_product(self, node: ast.AST, left: Value, right: Value) -> Value:
        a, b = left.type.shape, right.type.shape
        if a and b and left.type.scalar.is_integer and right.type.scalar.is_float:
            left = self.beside_float(node, left, right.type.scalar)
        if a and b and right.type.scalar.is_integer and left.type.scalar.is_float:
            right = self.beside_float(node, right, left.type.scalar)
        if not a or not b or len(a) + len(b) < 3 or a[-1] != b[0] or left.type.scalar is not right.type.scalar:
            raise self.refuse(node, f"'@' of {self.named(left.type)} and {self.named(right.type)}",
                              "'@' takes matrices, or a matrix and a vector, that fit; of two vectors write adc.dot(a, b)")
        shape = a[:-1] + b[1:]
        make = types.vec_type if len(shape) == 1 else types.mat_type
        return self.emit(node, "mat.mul", f"{left.text}, {right.text}", make(left.type.scalar, *shape))

    def read_unaryop(self, node: ast.UnaryOp):
        value = self.truth(node.operand) if isinstance(node.op, ast.Not) else self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return known(not value.const) if value.const is not None else self.emit(node, "not", value.text, types.boolean)
        if value.type is types.boolean:
            raise self.refuse(node, "a bool is no number in a kernel", "write 'not b'")
        if isinstance(node.op, ast.UAdd):
            return value
        if isinstance(node.op, ast.Invert):
            if value.type.scalar.is_float:
                raise self.refuse(node, "'~' takes an integer, not a float", "convert it, as in adc.i32(a)")
            return known(~value.const) if value.is_weak and value.const is not None else self.apply(node, "not", value)
        if value.const is not None:
            return Value(value.type, const=-value.const)
        return self.apply(node, "neg", value)

    # ---- conditions

    def condition(self, node: ast.expr) -> Value:
        return self.check_condition(node, self.value(node))

    def check_condition(self, node: ast.AST, value: Value) -> Value:
        if value.type is not types.boolean:
            raise self.refuse(node, f"a condition is a bool, not {self.named(value.type)}", "compare it, as in 'a != 0'")
        return value

    def truth(self, node: ast.expr) -> Value:
        """A condition of a branch or loop, where a number stands for whether it is not 0."""
        if isinstance(node, ast.BoolOp):
            return self.read_boolop(node, self.truth)
        value = self.value(node)
        if value.type is types.boolean or value.type.shape:
            return self.check_condition(node, value)
        return self.compared(node, ast.NotEq(), value, known(0))

    def read_compare(self, node: ast.Compare):
        """a < b < c is a < b and b < c, with b computed once."""
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)) and isinstance(node.comparators[0], ast.Constant) and len(node.ops) == 1:
            read = self.read(node.left)
            if node.comparators[0].value is None:
                return known((isinstance(read, Static) and read.thing is None) == isinstance(node.ops[0], ast.Is))
        left = self.value(node.left)
        return self.compare_rest(node, left, list(zip(node.ops, node.comparators)))

    def compare_rest(self, node: ast.Compare, left: Value, rest: list) -> Value:
        (op, right_node), *more = rest
        if isinstance(op, (ast.In, ast.NotIn)) and not more:
            return self.among(node, op, left, self.items_of(right_node, "'in'"))
        right = self.value(right_node)
        first = self.compared(node, op, left, right)
        if not more:
            return first
        return self.both(node, first, lambda: self.compare_rest(node, right, more))

    def compared(self, node: ast.AST, op: ast.cmpop, left: Value, right: Value) -> Value:
        if type(op) not in COMPARISONS:
            raise self.refuse(node, "'is' compares with None alone, and 'in' stands at the end of a comparison", "compare by == and !=")
        name, function = COMPARISONS[type(op)]
        if left.const is not None and right.const is not None and (left.type is right.type or left.is_weak and right.is_weak) and \
                not (left.type.scalar.is_float and not left.is_weak):
            return known(function(left.const, right.const))
        if left.type.shape or right.type.shape:
            raise self.refuse(node, "vectors cannot be compared in a kernel", "compare components")
        if types.boolean in (left.type, right.type) and name not in ("eq", "ne"):
            raise self.refuse(node, "bools have no order in a kernel", "write adc.i32(b)")
        if types.boolean in (left.type, right.type) and left.type is not right.type:
            raise self.refuse(node, "a bool is compared with a number", "write adc.i32(b)")
        left, right = self.agreed(node, left, right)
        return self.apply(node, name, left, right, type=types.boolean)

    def among(self, node: ast.AST, op: ast.cmpop, left: Value, items: list) -> Value:
        """Whether a number is one of a tuple's."""
        found = known(False)
        for item in items:
            equal = self.compared(node, ast.Eq(), left, self.to_value(node, item))
            found = self.either(node, found, lambda equal=equal: equal)
        if isinstance(op, ast.In):
            return found
        return known(not found.const) if found.const is not None else self.emit(node, "not", found.text, types.boolean)

    def read_boolop(self, node: ast.BoolOp, operand: Callable[[ast.expr], Value] | None = None):
        """Operands from left to right, as far as they decide."""
        def from_operand(at: int) -> Value:
            first = (operand or self.condition)(node.values[at])
            if at + 1 == len(node.values):
                return first
            join = self.both if isinstance(node.op, ast.And) else self.either
            return join(node, first, lambda: from_operand(at + 1))

        return from_operand(0)

    def both(self, node: ast.AST, first: Value, second: Callable[[], Value]) -> Value:
        return self.decided(node, first, second, "and", False)

    def either(self, node: ast.AST, first: Value, second: Callable[[], Value]) -> Value:
        return self.decided(node, first, second, "or", True)

    def decided(self, node: ast.AST, first: Value, second: Callable[[], Value], op: str, decides: bool) -> Value:
        """`and` or `or`: the second operand is computed where the first does not decide, or anywhere if that is cheap."""
        if first.const is not None:
            return known(decides) if first.const is decides else second()
        region = self.region(lambda: [second()])
        right, = region.results
        cheap = all(piece.cheap or piece.op in CHEAP_IN_CONDITIONS for piece in region.pieces)
        if cheap:
            self.pieces += region.pieces
            if right.const is not None:
                return known(decides) if right.const is decides else first
            return self.apply(node, op, first, right, type=types.boolean)
        name = self.fresh()
        region.pieces.append(Piece("yield", [f"yield {right.operand()}"], None))
        literal = [Piece("yield", [f"yield {'true' if decides else 'false'}"], None)]
        yes, no = (literal, region.pieces) if decides else (region.pieces, literal)
        self.if_piece(node, first, [name], yes, no)
        return Value(types.boolean, name)

    def read_ifexp(self, node: ast.IfExp):
        """a if c else b, also of tuples."""
        forms: list = []

        def side(one: ast.expr) -> list[Value]:
            values: list[Value] = []
            forms.append(self.flat(one, self.read(one), values))
            if forms[-1] != forms[0]:
                raise self.refuse(one, "one side is a tuple of another form than the other", "give both sides the same number of values")
            return values

        results = self.branch(node, self.truth(node.test), lambda: side(node.body), lambda: side(node.orelse))
        return nested(forms[0], iter(results))

    def flat(self, node: ast.expr, read, values: list[Value]) -> tuple | None:
        """Adds the values in nested tuples to a list; gives how they are nested."""
        if isinstance(read, (Several, Shape)):
            return tuple(self.flat(node, one, values) for one in self.items(node, read))  # type: ignore[union-attr]
        values.append(self.to_value(node, read))
        return None


CHEAP_IN_CONDITIONS = {"mul", "min", "max", "abs", "isnan", "isinf", "isfinite", "floor", "mat.get"}
NOT_READ = {
    ast.Lambda: ("a lambda", "write a function with @adc.function"),
    ast.ListComp: ("a list", "write a loop, or adc.array(adc.f32, n)"),
    ast.List: ("a list", "write adc.vec3(...), or adc.array(adc.f32, n)"),
    ast.Dict: ("a dict", "pass buffers"), ast.Set: ("a set", "pass buffers"),
    ast.GeneratorExp: ("a generator", "write a loop, or tuple(f(a) for a in t)"),
    ast.NamedExpr: ("':='", "assign in a statement of its own"),
    ast.JoinedStr: ("an f-string", "print takes values: print('v =', v)"),
    ast.Await: ("'await'", "a kernel is a plain function"), ast.Yield: ("'yield'", "a kernel is a plain function"),
    ast.Starred: ("'*'", "write the values one by one"),
}


def _is_huge(function, number, by) -> bool:
    """Whether a power or a shift of integers would take long and much memory."""
    if not isinstance(number, int) or not isinstance(by, int) or abs(number) < 2:
        return False
    return by > 1024 if function is operator.lshift else by * (abs(number).bit_length() - 1) > 1024


def known(number) -> Value:
    """A number of Python's as a value, whose type the place determines."""
    if isinstance(number, bool):
        return Value(types.boolean, const=number)
    return Value(WEAK_INT if isinstance(number, int) else WEAK_FLOAT, const=number)


def static(thing):
    """A thing of Python's: a number as a value, anything else as what is known."""
    if type(thing).__module__ == "numpy" and hasattr(thing, "item") and getattr(thing, "shape", None) == ():
        thing = thing.item()
    if isinstance(thing, bool) or type(thing) in (int, float):
        return known(thing)
    if isinstance(thing, (int, float)):  # members of IntEnum
        return known(int(thing) if isinstance(thing, int) else float(thing))
    return Static(thing)


def _sort_of(thing) -> str:
    if isinstance(thing, python.ModuleType):
        return f"the module '{thing.__name__}'"
    if isinstance(thing, type):
        return f"the type '{thing.__name__}'"
    if callable(thing):
        return f"the function '{getattr(thing, '__name__', thing)}'"
    return f"a {type(thing).__name__} of Python's"
