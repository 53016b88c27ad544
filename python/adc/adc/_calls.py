"""Calls in a kernel: of operations, conversions, atomics, and other functions of kernels."""

from __future__ import annotations

import ast
import builtins
import math

from . import _host as host
from . import _types as types
from ._expressions import Expressions, known
from ._values import WEAK_FLOAT, WEAK_INT, Buffer, LocalArray, Several, Static, Value

# Functions of floats, by Python's function: the operation, and how many operands.
FLOATS = {math.sqrt: ("sqrt", 1), math.sin: ("sin", 1), math.cos: ("cos", 1), math.tan: ("tan", 1), math.asin: ("asin", 1),
          math.acos: ("acos", 1), math.atan: ("atan", 1), math.sinh: ("sinh", 1), math.cosh: ("cosh", 1), math.tanh: ("tanh", 1),
          math.asinh: ("asinh", 1), math.acosh: ("acosh", 1), math.atanh: ("atanh", 1), math.exp: ("exp", 1),
          math.exp2: ("exp2", 1), math.expm1: ("expm1", 1), math.log: ("log", 1), math.log2: ("log2", 1),
          math.log10: ("log10", 1), math.log1p: ("log1p", 1), math.erf: ("erf", 1), math.erfc: ("erfc", 1),
          math.cbrt: ("cbrt", 1), math.fabs: ("abs", 1), math.atan2: ("atan2", 2), math.pow: ("pow", 2),
          math.hypot: ("hypot", 2), math.copysign: ("copysign", 2), math.fmod: ("rem", 2)}
PREDICATES = {math.isnan: "isnan", math.isinf: "isinf", math.isfinite: "isfinite"}
ROUNDED = {math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc", builtins.round: "round"}
# The package's own, of vectors as well.
COMPONENTWISE = {host.floor: ("floor", 1), host.ceil: ("ceil", 1), host.trunc: ("trunc", 1), host.rint: ("round", 1),
                 host.rsqrt: ("rsqrt", 1), host.sign: ("sgn", 1), host.minimum: ("min", 2), host.maximum: ("max", 2),
                 host.clamp: ("clamp", 3), host.fma: ("fma", 3)}
OF_INTEGERS = {"min", "max", "clamp", "sgn"}
ATOMICS = {host.atomic_add: "add", host.atomic_sub: "sub", host.atomic_min: "min", host.atomic_max: "max",
           host.atomic_exchange: "exchange"}
MADE_VECTORS = {host.vec2: 2, host.vec3: 3, host.vec4: 4}
MADE_MATRICES = {host.mat2: 2, host.mat3: 3, host.mat4: 4}
LOOPS = {host.parallel: "adc.parallel", host.serial: "adc.serial", host.unroll: "adc.unroll", host.checkpoint: "adc.checkpoint",
         builtins.range: "range"}
LOOPS_OVER_TUPLES = {builtins.enumerate: "enumerate", builtins.zip: "zip", builtins.reversed: "reversed"}


def _square(v):
    return v * v


# Functions of NumPy that give for numbers what those of Python give, by name.
NUMPY = {**{one.__name__: one for one in (math.sqrt, math.sin, math.cos, math.tan, math.sinh, math.cosh, math.tanh, math.exp, math.exp2,
                                          math.expm1, math.log, math.log2, math.log10, math.log1p, math.cbrt, math.hypot, math.fabs,
                                          math.copysign, math.fmod, math.isnan, math.isinf, math.isfinite, host.floor, host.ceil,
                                          host.trunc, host.rint, host.minimum, host.maximum, host.sign, math.radians, math.degrees)},
         **{"arc" + one.__name__[1:]: one for one in (math.asin, math.acos, math.atan, math.atan2, math.asinh, math.acosh, math.atanh)},
         "power": math.pow, "absolute": builtins.abs, "deg2rad": math.radians, "rad2deg": math.degrees, "clip": host.clamp,
         "where": host.select, "square": _square}
NUMPY_TYPES = {"bool": types.boolean, "bool_": types.boolean,
               **{f"{name}{bits}": getattr(types, f"{name[0]}{bits}") for name in ("int", "uint") for bits in (8, 16, 32, 64)},
               **{f"float{bits}": getattr(types, f"f{bits}") for bits in (16, 32, 64)}}


def _is_numpy(function) -> bool:
    return type(function).__name__ == "ufunc" or callable(function) and getattr(function, "__module__", None) == "numpy"


def python_of(function):
    """The function or type of a kernel that one of NumPy stands for; others as they are."""
    if isinstance(function, type) and function.__module__ == "numpy":
        return NUMPY_TYPES.get(function.__name__, function)
    if _is_numpy(function):
        return NUMPY.get(function.__name__, function)
    return function


class Calls(Expressions):
    """Reads calls; a subclass gives `call_function`."""

    def read_call(self, node: ast.Call):
        called = self.read(node.func)
        if not isinstance(called, Static):
            raise self.refuse(node.func, f"'{self.source.text(node.func)}' is no function")
        function = python_of(called.thing)
        if isinstance(function, types.Type):
            return self.convert(node, function, self.plain_arguments(node))
        if hasattr(function, "is_adc_function"):
            return self.call_function(node, function)
        for table, read in ((FLOATS, self.call_floats), (COMPONENTWISE, self.call_componentwise), (ATOMICS, self.call_atomic),
                            (MADE_VECTORS, self.call_vector), (MADE_MATRICES, self.call_matrix), (OTHERS, self.call_other)):
            try:
                found = table.get(function)
            except TypeError:
                found = None
            if found is not None:
                return read(node, found)
        if function in PREDICATES:
            value, = self.floats(node, 1)
            return self.apply(node, PREDICATES[function], value, type=types.boolean)
        if function in ROUNDED:
            return self.call_rounded(node, ROUNDED[function])
        raise self.unknown_function(node, function)

    def unknown_function(self, node: ast.Call, function):
        text = self.source.text(node.func)
        if function in LOOPS:
            return self.refuse(node, f"'{LOOPS[function]}' stands in a 'for' alone", f"write for i in {LOOPS[function]}(...):")
        if function in (host.array,):
            return self.refuse(node, "an array is made in an assignment", "write a = adc.array(adc.f32, 9)")
        if function is builtins.print:
            return self.refuse(node, "'print' gives no value", "write it as a statement")
        if function in LOOPS_OVER_TUPLES:
            return self.refuse(node, f"'{text}' stands in a 'for' alone", f"write for a in {text}(...):")
        if _is_numpy(function):
            return self.refuse(node, f"'{text}' cannot be called in a kernel", f"of NumPy there are {', '.join(sorted(NUMPY))}")
        if getattr(function, "__module__", "") == "math":
            names = ", ".join(sorted(one.__name__ for one in (*FLOATS, *PREDICATES, *list(ROUNDED)[:3])))
            return self.refuse(node, f"'{text}' has no counterpart in a kernel", f"of math there are {names}")
        if hasattr(function, "__code__"):
            return self.refuse(node, f"'{text}' is a plain function", "mark it with @adc.function")
        return self.refuse(node, f"'{text}' cannot be called in a kernel", "see docs/python.md for what a kernel may use")

    # ---- operands

    def plain_arguments(self, node: ast.Call) -> list[ast.expr]:
        if node.keywords:
            raise self.refuse(node, "arguments of this are given by position", "leave the names out")
        for one in node.args:
            if isinstance(one, ast.Starred):
                raise self.refuse(one, "'*' cannot stand in a kernel", "write the arguments one by one")
        return node.args

    def counted(self, node: ast.Call, count: int) -> list[ast.expr]:
        arguments = self.plain_arguments(node)
        if len(arguments) != count:
            raise self.refuse(node, f"'{self.source.text(node.func)}' is given {len(arguments)} arguments, and takes {count}")
        return arguments

    def alike(self, node: ast.AST, values: list[Value]) -> list[Value]:
        """Operands of one type; a number beside a vector becomes one of equal components."""
        shaped = next((value.type for value in values if value.type.shape), None)
        if shaped is not None:
            return [value if value.type.shape else self.splat(node, value, shaped) for value in values]
        first = values[0]
        for other in values[1:]:
            first = other if first.type.scalar.is_integer and other.type.scalar.is_float else self.agreed(node, first, other)[0]
        return [self.agreed(node, value, first)[0] for value in values]

    def splat(self, node: ast.AST, value: Value, type: types.Type) -> Value:
        if len(type.shape) != 1:
            raise self.refuse(node, f"a number beside {type.ir}", "give both one shape")
        part = self.as_type(node, value, type.scalar)
        return self.emit(node, "vec.make", ", ".join([part.operand()] * type.shape[0]), type)

    def floats(self, node: ast.Call, count: int) -> list[Value]:
        values = [self.value(one) for one in self.counted(node, count)]
        values = self.alike(node, values)
        if values[0].type.scalar is WEAK_INT:
            values = [Value(WEAK_FLOAT, value.text, None if value.const is None else float(value.const)) for value in values]
        if values[0].type.scalar.is_integer and not values[0].type.shape:
            values = [self.to_float(node, value) for value in values]
        if not values[0].type.scalar.is_float:
            raise self.refuse(node, f"'{self.source.text(node.func)}' takes floats, not {self.named(values[0].type)}",
                              f"convert it, as in adc.{self.default_float.ir}(i)")
        return values

    # ---- operations

    def call_floats(self, node: ast.Call, found: tuple[str, int]) -> Value:
        op, count = found
        if op == "log" and len(node.args) == 2:
            raise self.refuse(node, "'math.log' takes one argument in a kernel", "write math.log(a) / math.log(b)")
        values = self.floats(node, count)
        if values[0].type.shape:
            raise self.refuse(node, "functions of math take numbers, not vectors", "call it for each component")
        if all(value.const is not None and value.is_weak for value in values):
            function = next(one for one, known_op in FLOATS.items() if known_op == found)
            return self.folded(node, function, *(value.const for value in values))
        return self.apply(node, op, *values)

    def call_componentwise(self, node: ast.Call, found: tuple[str, int]) -> Value:
        op, count = found
        values = self.alike(node, [self.value(one) for one in self.counted(node, count)])
        if op not in OF_INTEGERS and values[0].type.scalar.is_integer:
            raise self.refuse(node, f"'{self.source.text(node.func)}' takes floats", f"convert it, as in adc.{self.default_float.ir}(i)")
        return self.apply(node, op, *(self.determined(node, value) for value in values))

    def call_rounded(self, node: ast.Call, op: str) -> Value:
        """math.floor, ceil and trunc, and round of one argument, which are integers in Python."""
        value = self.value(self.counted(node, 1)[0])
        if value.type.scalar.is_integer:
            return value
        value, = self.floats(node, 1) if value.const is not None else (value,)
        return self.emit(node, "cast", self.apply(node, op, self.determined(node, value)).text + " to i32", types.i32)

    def call_atomic(self, node: ast.Call, op: str) -> Value:
        name, index, amount = self.counted(node, 3)
        whole = self.read(name)
        if not isinstance(whole, Buffer):
            raise self.refuse(name, "an atomic works on a buffer", "write adc.atomic_add(x, i, v)")
        place = self.element_at(node, whole, self.indices(index))
        value = self.as_element(amount, self.value(amount), whole.element)
        return self.emit(node, f"atomic {op}", f"{place}, {value.plain()}", whole.element)

    def call_vector(self, node: ast.Call, count: int) -> Value:
        parts = [self.value(one) for one in self.plain_arguments(node)]
        if len(parts) not in (1, count) or any(part.type.shape for part in parts):
            raise self.refuse(node, f"a vector of {count} is made of {count} numbers, or of one",
                              "write adc.vec3(a, b, c); adc.vec[adc.f32, 3](v) takes the front part of a vector")
        return self.make_vector(node, parts, count)

    def make_vector(self, node: ast.AST, parts: list[Value], count: int) -> Value:
        parts, guesses = self.literals(node, self.alike(node, parts), "vector")
        parts = parts * count if len(parts) == 1 else parts
        made = self.emit(node, "vec.make", ", ".join(part.operand() for part in parts), types.vec_type(parts[0].type.scalar, count))
        made.guesses = guesses
        return made

    def call_matrix(self, node: ast.Call, count: int) -> Value:
        parts = self.alike(node, [self.value(one) for one in self.plain_arguments(node)])
        rows = [part.type.shape == (count,) for part in parts]
        if not (len(parts) == count and all(rows) or len(parts) == count * count and not any(rows)):
            raise self.refuse(node, f"a matrix of {count} rows is made of {count} vectors, or of {count * count} numbers")
        parts, guesses = self.literals(node, parts, "matrix")
        made = self.emit(node, "mat.make", ", ".join(part.operand() for part in parts), types.mat_type(parts[0].type.scalar, count, count))
        made.guesses = guesses
        return made

    # ---- conversions

    def convert(self, node: ast.Call, type: types.Type, arguments: list[ast.expr]) -> Value:
        values = [self.value(one) for one in arguments]
        if isinstance(type, types.Scalar):
            if len(values) != 1 or values[0].type.shape:
                raise self.refuse(node, f"adc.{type.ir} converts one number")
            return self.to_scalar(node, values[0], type)
        if len(type.shape) == 2:
            return self.convert_matrix(node, type, values)
        count, = type.shape
        if len(values) == 1 and values[0].type.shape:
            whole = values[0]
            if len(whole.type.shape) != 1 or whole.type.shape[0] < count:
                raise self.refuse(node, f"{self.named(whole.type)} has no {count} components to take")
            values = [self.component(node, whole, [known(at)]) for at in range(count)]
        parts = [self.to_scalar(node, value, type.scalar) for value in values]
        if len(parts) not in (1, count):
            raise self.refuse(node, f"{len(parts)} components are given, and {type.ir} has {count}")
        return self.make_vector(node, parts, count)

    def convert_matrix(self, node: ast.Call, type: types.Type, values: list[Value]) -> Value:
        rows, columns = type.shape
        if len(values) == 1 and len(values[0].type.shape) == 2:
            whole = values[0]
            values = [self.component(node, whole, [known(row), known(column)]) for row in range(rows) for column in range(columns)]
        parts = [self.to_scalar(node, value, type.scalar) for value in values]
        parts = parts * (rows * columns) if len(parts) == 1 else parts
        if len(parts) != rows * columns:
            raise self.refuse(node, f"{len(parts)} components are given, and {type.ir} has {rows * columns}")
        return self.emit(node, "mat.make", ", ".join(part.operand() for part in parts) + f" : {type.ir}", type)

    def to_scalar(self, node: ast.AST, value: Value, type: types.Scalar) -> Value:
        if value.type is type:
            return value
        if value.const is not None and value.is_weak:
            if type.is_float:
                return self.as_type(node, value, type)
            if type.kind == "bool":
                return known(bool(value.const))
            number = math.trunc(value.const) if math.isfinite(value.const) else value.const
            return Value(type, const=self.literal(node, number, type))
        if value.is_weak:
            return Value(type, value.text)
        if type.kind == "bool":
            return self.apply(node, "ne", value, Value(value.type, const=0), type=types.boolean)
        return self.emit(node, "cast", f"{value.operand()} to {type.ir}", type)

    # ---- others

    def call_other(self, node: ast.Call, read) -> Value | Several:
        return read(self, node)

    def call_abs(self, node: ast.Call) -> Value:
        value = self.value(self.counted(node, 1)[0])
        if value.type is types.boolean or value.type.shape:
            raise self.refuse(node, f"'abs' takes a number, not {self.named(value.type)}", "call it for each component")
        return known(abs(value.const)) if value.const is not None and value.is_weak else self.apply(node, "abs", value)

    def call_least(self, node: ast.Call, op: str, function) -> Value:
        """min and max of Python: the first operand on a tie, as in Python; the IR's give the second."""
        given = self.plain_arguments(node)
        values = [self.value(one) for one in given] if len(given) != 1 else self.numbers_of(given[0], op)
        if not values:
            raise self.refuse(node, f"'{op}' takes a number or more", "write a loop over the elements")
        if any(value.type.shape for value in values):
            raise self.refuse(node, f"'{op}' takes numbers, not vectors", f"write adc.{op}imum(a, b)")
        if all(value.const is not None and value.is_weak for value in values):
            return self.folded(node, function, *(value.const for value in values))
        values = self.alike(node, values)
        result = values[0]
        for value in values[1:]:
            result = self.apply(node, op, value, result)
        return result

    def numbers_of(self, node: ast.expr, what: str) -> list[Value]:
        return [self.to_value(node, one) for one in self.items_of(node, f"'{what}' of one argument")]

    def call_sum(self, node: ast.Call) -> Value:
        given = self.plain_arguments(node)
        if not 1 <= len(given) <= 2:
            raise self.refuse(node, "'sum' takes a tuple, and a number", "write sum((a, b))")
        numbers = self.numbers_of(given[0], "sum")
        total = self.value(given[1]) if len(given) == 2 else known(0)
        for number in numbers:
            literal_zero = total.const is not None and total.const == 0 and total.is_weak
            total = number if literal_zero and number.const is None else self.arithmetic(node, ast.Add(), total, number)
        return total

    def call_any(self, node: ast.Call, join, start: bool) -> Value:
        result, (given,) = known(start), self.counted(node, 1)
        if isinstance(given, ast.GeneratorExp):  # computes no more elements than decide
            tests = self.comprehended(given)
        else:
            tests = [lambda one=one: one for one in self.items_of(given, "'all'" if start else "'any'")]
        for one in tests:
            result = join(node, result, lambda one=one: self.check_condition(given, self.to_value(given, one())))
        return result

    def call_pow(self, node: ast.Call) -> Value:
        base, exponent = self.counted(node, 2)
        return self.arithmetic(node, ast.Pow(), self.value(base), self.value(exponent))

    def call_tuple(self, node: ast.Call) -> Several:
        return Several(self.items_of(self.counted(node, 1)[0], "'tuple'"))

    def call_square(self, node: ast.Call) -> Value:
        value, = (self.value(one) for one in self.counted(node, 1))
        return self.arithmetic(node, ast.Mult(), value, value)

    def call_divmod(self, node: ast.Call) -> Several:
        left, right = (self.value(one) for one in self.counted(node, 2))
        return Several([self.arithmetic(node, op, left, right) for op in (ast.FloorDiv(), ast.Mod())])

    def call_scaled(self, node: ast.Call, by: float) -> Value:
        value, = self.floats(node, 1)
        return self.arithmetic(node, ast.Mult(), value, known(by))

    def call_float(self, node: ast.Call) -> Value:
        """float(i): the type is guessed, as that of a literal; a float is what it is."""
        given, = self.counted(node, 1)
        if isinstance(given, ast.Constant) and given.value in ("inf", "-inf", "nan"):
            return known(float(given.value))
        return self.to_float(node, self.value(given))

    def to_float(self, node: ast.AST, value: Value) -> Value:
        if value.type.shape:
            raise self.refuse(node, f"'float' takes a number, not {self.named(value.type)}", "call it for each component")
        if value.const is not None and (value.is_weak or value.type is types.boolean):
            return known(float(value.const))
        if value.type.scalar.is_float:
            return value
        type, guesses = self.guessed(node, "float", WEAK_FLOAT)
        made = self.to_scalar(node, value, type)
        return Value(made.type, made.text, made.const, guesses)

    def call_int(self, node: ast.Call) -> Value:
        value = self.value(self.counted(node, 1)[0])
        return value if value.type.scalar.is_integer else self.to_scalar(node, value, types.i32)

    def call_bool(self, node: ast.Call) -> Value:
        return self.to_scalar(node, self.value(self.counted(node, 1)[0]), types.boolean)

    def call_len(self, node: ast.Call) -> Value:
        whole = self.read(self.counted(node, 1)[0])
        if isinstance(whole, (Buffer, LocalArray)):
            return self.extent(node, whole, 0)
        held = self.items(node, whole)
        if held is not None:
            return known(len(held))
        if isinstance(whole, Value) and whole.type.shape:
            return known(whole.type.shape[0])
        raise self.refuse(node, "this has no length in a kernel")

    def call_select(self, node: ast.Call) -> Value:
        test, a, b = self.counted(node, 3)
        condition = self.condition(test)
        one, two = self.alike(node, [self.value(a), self.value(b)])
        if condition.const is not None:
            return one if condition.const else two
        (one, two), guesses = self.literals(node, [one, two], "select")
        made = self.emit(node, "select", f"{condition.text}, {one.operand()}, {two.operand()}", one.type)
        made.guesses = guesses
        return made

    def call_stop(self, node: ast.Call) -> Value:
        value = self.determined(node, self.value(self.counted(node, 1)[0]))
        return self.apply(node, "stop_gradient", value)

    def vectors(self, node: ast.Call, count: int, axes: int = 1) -> list[Value]:
        values = [self.value(one) for one in self.counted(node, count)]
        for value in values:
            if len(value.type.shape) != axes:
                raise self.refuse(node, f"'{self.source.text(node.func)}' takes {'vectors' if axes == 1 else 'a matrix'}, "
                                        f"not {self.named(value.type)}")
        return values

    def call_dot(self, node: ast.Call) -> Value:
        a, b = self.agreed(node, *self.vectors(node, 2))
        return self.apply(node, "dot", a, b, type=a.type.scalar)

    def call_cross(self, node: ast.Call) -> Value:
        a, b = self.agreed(node, *self.vectors(node, 2))
        if a.type.shape != (3,):
            raise self.refuse(node, "'cross' takes vectors of 3 components")
        return self.apply(node, "cross", a, b)

    def call_outer(self, node: ast.Call) -> Value:
        a, b = self.vectors(node, 2)
        if a.type.scalar is not b.type.scalar:
            raise self.refuse(node, f"{a.type.ir} beside {b.type.ir}", "convert one of them")
        return self.apply(node, "outer", a, b, type=types.mat_type(a.type.scalar, *a.type.shape, *b.type.shape))

    def call_norm(self, node: ast.Call) -> Value:
        value, = self.vectors(node, 1)
        return self.apply(node, "norm", value, type=value.type.scalar)

    def call_normalize(self, node: ast.Call) -> Value:
        return self.apply(node, "normalize", *self.vectors(node, 1))

    def call_transpose(self, node: ast.Call) -> Value:
        value, = self.vectors(node, 1, 2)
        return self.apply(node, "transpose", value, type=types.mat_type(value.type.scalar, *reversed(value.type.shape)))

    def call_inverse(self, node: ast.Call) -> Value:
        return self.apply(node, "inverse", self.square(node))

    def call_det(self, node: ast.Call) -> Value:
        value = self.square(node)
        return self.apply(node, "det", value, type=value.type.scalar)

    def square(self, node: ast.Call) -> Value:
        value, = self.vectors(node, 1, 2)
        if len(set(value.type.shape)) != 1 or value.type.shape[0] > 4:
            raise self.refuse(node, f"this takes a square matrix up to 4 by 4, not {value.type.ir}")
        return value

    def call_random(self, node: ast.Call) -> Value:
        given = dict(zip(("seed", "counter", "stream", "type"), node.args))
        given.update({one.arg: one.value for one in node.keywords})
        if not {"seed", "counter"} <= set(given) <= {"seed", "counter", "stream", "type"}:
            raise self.refuse(node, "'adc.random' takes seed, counter, stream and type")
        made = self.read(given.pop("type")) if "type" in given else Static(types.f32)
        if not isinstance(made, Static) or made.thing not in (types.f16, types.f32, types.f64, types.u32, types.u64):
            raise self.refuse(node, "random numbers are f16, f32, f64, u32 or u64")
        values = []
        for name in ("seed", "counter", "stream"):
            if name in given:
                value = self.determined(given[name], self.value(given[name]))
                if not value.type.scalar.is_integer or value.type.bits < 32:
                    raise self.refuse(given[name], "seed, counter and stream are integers of 32 or 64 bits")
                values.append(value.operand())
        return self.emit(node, "random", f"{', '.join(values)} : {made.thing.ir}", made.thing)


OTHERS = {builtins.abs: Calls.call_abs, builtins.min: lambda self, node: self.call_least(node, "min", min),
          builtins.max: lambda self, node: self.call_least(node, "max", max), builtins.int: Calls.call_int,
          builtins.bool: Calls.call_bool, builtins.float: Calls.call_float, builtins.sum: Calls.call_sum, builtins.tuple: Calls.call_tuple,
          builtins.pow: Calls.call_pow, builtins.divmod: Calls.call_divmod, _square: Calls.call_square,
          builtins.any: lambda self, node: self.call_any(node, self.either, False),
          builtins.all: lambda self, node: self.call_any(node, self.both, True),
          math.radians: lambda self, node: self.call_scaled(node, math.pi / 180.0),
          math.degrees: lambda self, node: self.call_scaled(node, 180.0 / math.pi), builtins.len: Calls.call_len, host.select: Calls.call_select,
          host.stop_gradient: Calls.call_stop, host.dot: Calls.call_dot, host.cross: Calls.call_cross, host.outer: Calls.call_outer,
          host.norm: Calls.call_norm, host.normalize: Calls.call_normalize, host.transpose: Calls.call_transpose,
          host.inverse: Calls.call_inverse, host.det: Calls.call_det, host.random: Calls.call_random}
