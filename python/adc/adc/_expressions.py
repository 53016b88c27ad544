"""Expressions of a kernel: numbers, operators, elements, components, and what is known when the kernel is read."""

from __future__ import annotations

import ast
import builtins
import operator
import types as python
from collections.abc import Callable

from . import _types as types
from ._emitter import Emitter
from ._text import Piece
from ._values import WEAK_FLOAT, WEAK_INT, Buffer, LocalArray, Several, Shape, Static, Unknown, Value

ARITHMETIC = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "mod"}
BITS = {ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "shr"}
FOLDED = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
          ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitAnd: operator.and_,
          ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift}
COMPARISONS = {ast.Eq: ("eq", operator.eq), ast.NotEq: ("ne", operator.ne), ast.Lt: ("lt", operator.lt), ast.LtE: ("le", operator.le),
               ast.Gt: ("gt", operator.gt), ast.GtE: ("ge", operator.ge)}
COMPONENTS = {"x": 0, "y": 1, "z": 2, "w": 3}
LARGEST_POWER = 64


class Expressions(Emitter):
    """Reads expressions; a subclass gives `scope` and calls."""

    scope: Callable[[str, ast.AST], object]

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
        raise self.refuse(node, f"{self.source.text(node)} is no number, and cannot stand here")

    def read_name(self, node: ast.Name):
        found = self.env.get(node.id)
        if found is None:
            found = self.scope(node.id, node)
        if isinstance(found, Unknown):
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
        what = self.told(whole.type) if isinstance(whole, Value) else "this"
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
        if isinstance(whole, Buffer):
            return self.emit(node, "load", self.element(node, whole), whole.element)
        if isinstance(whole, LocalArray):
            return self.emit(node, "load", self.element(node, whole), whole.element)
        if isinstance(whole, Value) and whole.type.shape:
            return self.component(node, whole, self.indices(node.slice))
        self.to_value(node.value, whole)
        raise self.refuse(node, f"{self.told(whole.type)} has no components", "only buffers, arrays, vectors and matrices have")

    def read_static_item(self, node: ast.Subscript, thing):
        if isinstance(thing, (types._Buffers, types._Vectors, types._Matrices, types.Type)):
            return static(self.evaluated(node))
        at = self.read(node.slice) if isinstance(thing, (tuple, list)) else None
        if not isinstance(at, Value) or not isinstance(at.const, int):
            raise self.refuse(node, f"an element of {_sort_of(thing)} is no value of the kernel",
                              "pass it as a buffer, or index a tuple of numbers by a number")
        try:
            return static(thing[at.const])
        except IndexError:
            raise self.refuse(node, f"{at.const} is no index of {len(thing)} elements") from None

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
                raise self.refuse(one, f"an index is an integer, not {self.told(value.type)}", "convert it, as in adc.i32(a)")
            if value.const is not None and value.const < 0:
                raise self.refuse(one, f"the index {value.const} would count from the end in Python, and is out of range here",
                                  "write x.shape[0] - 1, and so on")
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
        if len(at) != len(shape):
            raise self.refuse(node, f"{len(at)} indices of {self.told(whole.type)}", "write v[0] of a vector, m[0, 1] of a matrix")
        for one, extent in zip(at, shape):
            if one.const is not None and one.const >= extent:
                raise self.refuse(node, f"there is no component {one.const} of {extent}")
        op = "vec.get" if len(shape) == 1 else "mat.get"
        cheap = op == "vec.get" and at[0].const is not None
        return self.emit(node, op, ", ".join([whole.operand(), *(one.plain() for one in at)]), whole.type.scalar, cheap)

    # ---- operators

    def read_binop(self, node: ast.BinOp):
        left = self.value(node.left)
        return self.arithmetic(node, node.op, left, self.value(node.right))

    def arithmetic(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        if left.is_weak and right.is_weak and left.const is not None and right.const is not None:
            return self.folded(node, FOLDED.get(type(op)), left.const, right.const)
        if isinstance(op, ast.MatMult):
            return self.matrix_product(node, left, right)
        for value in left, right:
            if value.type.scalar is types.boolean and type(op) not in (ast.BitAnd, ast.BitOr, ast.BitXor):
                raise self.refuse(node, "a bool is no number in a kernel", "write adc.i32(b), or 1.0 if b else 0.0")
        if isinstance(op, ast.Pow):
            return self.power(node, left, right)
        left, right = self.agreed(node, left, right, scaling=type(op) in (ast.Mult, ast.Div))
        scalar = left.type.scalar
        if type(op) in BITS:
            if scalar.is_float:
                raise self.refuse(node, "this operator takes integers, not floats", "convert the operands, as in adc.i32(a)")
            if type(op) in (ast.LShift, ast.RShift) and right.const is not None and not 0 <= right.const < scalar.bits:
                raise self.refuse(node, f"{self.told(left.type)} is shifted by {right.const}", f"shift by 0 to {scalar.bits - 1}")
            return self.apply(node, BITS[type(op)], left, right)
        if isinstance(op, ast.Div) and not scalar.is_float:
            raise self.refuse(node, "'/' of integers is a float in Python",
                              "write '//' for the whole quotient, or adc.f32(a) / adc.f32(b)")
        shaped = left.type if left.type.shape else right.type
        if isinstance(op, ast.Div) and right.type.shape and not left.type.shape:
            raise self.refuse(node, "a number cannot be divided by a vector", "write adc.vec3(1.0) / v")
        if type(op) in (ast.Mod, ast.FloorDiv) and scalar.is_float:
            return self.float_quotient(node, op, left, right)
        return self.apply(node, ARITHMETIC[type(op)], left, right, type=shaped)

    def float_quotient(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """a % b and a // b as Python has them, of the exact remainder: 1.0 // 0.1 is 9.0, though 1.0 / 0.1 rounds to 10.0."""
        if left.type.shape:
            raise self.refuse(node, "'%' and '//' take numbers, not vectors", "call it for each component")
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
            raise self.refuse(node, f"{self.told(left.type)} beside {self.told(right.type)}",
                              f"write adc.vec{one.shape[0]}(a), a vector of equal components" if weak or not scaling else "give both one shape")
        a, b = left.type.scalar, right.type.scalar
        if a is b:
            return left, right
        if left.is_weak and not right.is_weak or left.is_weak and right.type is WEAK_FLOAT:
            return self.as_type_beside(node, left, b), right
        if right.is_weak:
            return left, self.as_type_beside(node, right, a)
        wider = max((a, b), key=lambda one: (one.is_float, one.bits))
        raise self.refuse(node, f"{a.ir} beside {b.ir}: a kernel converts nothing by itself",
                          f"convert one of them, as in adc.{wider.ir}({self.source.text(node.left if a is not wider else node.right)})"
                          if isinstance(node, ast.BinOp) else f"convert one of them by adc.{wider.ir}(...)")

    def as_type_beside(self, node: ast.AST, value: Value, type: types.Scalar) -> Value:
        if value.type is WEAK_FLOAT and type.is_integer:
            raise self.refuse(node, f"a float beside {self.told(type)}: a kernel converts nothing by itself",
                              f"convert the integer, as in adc.{self.default_float.ir}(i)")
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
        base, exponent = self.agreed(node, base, exponent)
        return self.apply(node, "pow", base, exponent)

    def matrix_product(self, node: ast.AST, left: Value, right: Value) -> Value:
        a, b = left.type.shape, right.type.shape
        if not a or not b or len(a) + len(b) < 3 or a[-1] != b[0] or left.type.scalar is not right.type.scalar:
            raise self.refuse(node, f"'@' of {self.told(left.type)} and {self.told(right.type)}",
                              "'@' takes matrices, or a matrix and a vector, that fit; of two vectors write adc.dot(a, b)")
        shape = a[:-1] + b[1:]
        make = types.vec_type if len(shape) == 1 else types.mat_type
        return self.emit(node, "mat.mul", f"{left.text}, {right.text}", make(left.type.scalar, *shape))

    def read_unaryop(self, node: ast.UnaryOp):
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            self.check_condition(node.operand, value)
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
            raise self.refuse(node, f"a condition is a bool, not {self.told(value.type)}", "compare it, as in 'a != 0'")
        return value

    def read_compare(self, node: ast.Compare):
        """a < b < c is a < b and b < c, with b computed once."""
        left = self.value(node.left)
        return self.compare_rest(node, left, list(zip(node.ops, node.comparators)))

    def compare_rest(self, node: ast.Compare, left: Value, rest: list) -> Value:
        (op, right_node), *more = rest
        right = self.value(right_node)
        first = self.compared(node, op, left, right)
        if not more:
            return first
        return self.both(node, first, lambda: self.compare_rest(node, right, more))

    def compared(self, node: ast.AST, op: ast.cmpop, left: Value, right: Value) -> Value:
        if type(op) not in COMPARISONS:
            raise self.refuse(node, "'in' and 'is' cannot stand in a kernel", "compare by == and !=")
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

    def read_boolop(self, node: ast.BoolOp):
        """Operands from left to right, as far as they decide."""
        def from_operand(at: int) -> Value:
            first = self.condition(node.values[at])
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
        condition = self.condition(node.test)
        results = self.branch(node, condition, lambda: [self.value(node.body)], lambda: [self.value(node.orelse)])
        return results[0]


CHEAP_IN_CONDITIONS = {"mul", "min", "max", "abs", "isnan", "isinf", "isfinite", "floor", "mat.get"}
NOT_READ = {
    ast.Lambda: ("a lambda", "write a function with @adc.function"),
    ast.ListComp: ("a list", "write a loop, or adc.array(adc.f32, n)"),
    ast.List: ("a list", "write adc.vec3(...), or adc.array(adc.f32, n)"),
    ast.Dict: ("a dict", "pass buffers"), ast.Set: ("a set", "pass buffers"),
    ast.GeneratorExp: ("a generator", "write a loop"),
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
