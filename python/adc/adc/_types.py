"""Types of kernels: f32, vec[f32, 3], buffer[f32, 1, diff]. Called, a type makes a value on the host."""

from __future__ import annotations

import math
import struct
import typing

from ._vectors import Matrix, Vector

ATTRIBUTES = ("diff", "readonly", "alias", "disjoint", "checked", "settled", "writeonce", "save")


class Attribute:
    """What a parameter promises or has: diff, readonly, alias, disjoint, checked, settled, writeonce, save (docs/ir.md)."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"adc.{self.name}"


class Type:
    """A type of values: a number, a vector or a matrix."""

    ir: str  #: as the IR spells it
    scalar: Scalar  #: of a number, itself
    shape: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return self.ir

    def __getitem__(self, attributes) -> Parameter:
        """f32[diff]: a parameter of this type with attributes."""
        return Parameter(self, None, _attributes(attributes))


class Scalar(Type):
    """A number: f32(x) converts x, in a kernel and on the host."""

    def __init__(self, ir: str, kind: str, bits: int):
        self.ir, self.kind, self.bits, self.scalar = ir, kind, bits, self

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        return self.kind in ("int", "uint")

    def __call__(self, value) -> float | int | bool:
        if self.kind == "bool":
            return bool(value)
        if self.is_float:
            code = {16: "e", 32: "f", 64: "d"}[self.bits]
            try:
                return struct.unpack(code, struct.pack(code, float(value)))[0]
            except OverflowError:
                return math.inf if value > 0 else -math.inf
        low, high = self.limits()
        if isinstance(value, float) or hasattr(value, "is_integer"):
            return 0 if math.isnan(value) else int(max(low, min(high, value)))
        return (int(value) - low) % (1 << self.bits) + low

    def limits(self) -> tuple[int, int]:
        half = 1 << (self.bits - 1)
        return (-half, half - 1) if self.kind == "int" else (0, 2 * half - 1)


class Vec(Type):
    """vec[f32, 3]; called, it makes a vector of components, or of equal ones."""

    def __init__(self, scalar: Scalar, count: int):
        self.scalar, self.shape, self.ir = scalar, (count,), f"vec<{scalar.ir}, {count}>"

    def __call__(self, *parts) -> Vector:
        count, = self.shape
        if len(parts) == 1:
            parts = tuple(parts[0]) if isinstance(parts[0], Vector) else parts * count
        return Vector(self.scalar(part) for part in parts[:count])


class Mat(Type):
    """mat[f32, 3, 3]; called, it makes a matrix of components, row by row."""

    def __init__(self, scalar: Scalar, rows: int, columns: int):
        self.scalar, self.shape = scalar, (rows, columns)
        self.ir = f"mat<{scalar.ir}, {rows}, {columns}>"

    def __call__(self, *parts) -> Matrix:
        rows, columns = self.shape
        if isinstance(parts[0], Matrix):
            parts = tuple(number for row in parts[0] for number in row)
        numbers = [self.scalar(part) for part in (parts * (rows * columns) if len(parts) == 1 else parts)]
        return Matrix([Vector(numbers[row * columns:(row + 1) * columns]) for row in range(rows)])


class Parameter:
    """The type of a parameter: a buffer of `rank` axes, or a value (rank None), and its attributes."""

    def __init__(self, element: Type, rank: int | None, attributes: tuple[str, ...]):
        self.element, self.rank, self.attributes = element, rank, attributes

    @property
    def ir(self) -> str:
        base = self.element.ir if self.rank is None else f"buffer<{self.element.ir}, {self.rank}>"
        return " ".join([base, *self.attributes])

    def __repr__(self) -> str:
        return self.ir


def _attributes(given) -> tuple[str, ...]:
    given = given if isinstance(given, tuple) else (given,)
    for one in given:
        if not isinstance(one, Attribute):
            raise TypeError(f"{one!r} is no attribute; there are {', '.join('adc.' + name for name in ATTRIBUTES)}")
    return tuple(one.name for one in given)


def _scalar(given) -> Scalar:
    if not isinstance(given, Scalar):
        raise TypeError(f"{given!r} is no type of numbers; write adc.f32, adc.f64, adc.i32, ...")
    return given


def _extent(given) -> int:
    if not isinstance(given, int) or not 2 <= given <= 16:
        raise TypeError(f"{given!r}: a vector or matrix has 2 to 16 components an axis")
    return given


class _Buffers:
    """buffer[f32, 1] or buffer[vec[f32, 3], 2, diff, readonly]: dense memory of a rank, in C order."""

    def __getitem__(self, what) -> Parameter:
        element, rank, *attributes = what if isinstance(what, tuple) and len(what) > 1 else (what, None)
        if not isinstance(element, Type) or not isinstance(rank, int) or not 0 <= rank <= 8:
            raise TypeError("a buffer is adc.buffer[TYPE, RANK] or adc.buffer[TYPE, RANK, ATTRIBUTE, ...]")
        return Parameter(element, rank, _attributes(tuple(attributes)))


class _Vectors:
    """vec[f32, 3]: the type of vectors of 2 to 16 numbers."""

    def __getitem__(self, what) -> Vec:
        scalar, count = what
        return _known(Vec, _scalar(scalar), _extent(count))


class _Matrices:
    """mat[f32, 3, 3]: the type of matrices of rows and columns."""

    def __getitem__(self, what) -> Mat:
        scalar, rows, columns = what
        return _known(Mat, _scalar(scalar), _extent(rows), _extent(columns))


_made: dict[tuple, typing.Any] = {}


def _known(kind, *parts):
    """The one object of a type, so that types are compared by identity."""
    key = (kind, *parts)
    if key not in _made:
        _made[key] = kind(*parts)
    return _made[key]


diff, readonly, alias, disjoint, checked, settled, writeonce, save = (Attribute(name) for name in ATTRIBUTES)
boolean = Scalar("i1", "bool", 8)
i8, i16, i32, i64 = (Scalar(f"i{bits}", "int", bits) for bits in (8, 16, 32, 64))
u8, u16, u32, u64 = (Scalar(f"u{bits}", "uint", bits) for bits in (8, 16, 32, 64))
f16, f32, f64 = (Scalar(f"f{bits}", "float", bits) for bits in (16, 32, 64))
if typing.TYPE_CHECKING:  # what stands in annotations is checked when the kernel is read
    buffer: typing.Any
    vec: typing.Any
    mat: typing.Any
else:
    buffer, vec, mat = _Buffers(), _Vectors(), _Matrices()


def vec_type(scalar: Scalar, count: int) -> Vec:
    return _known(Vec, scalar, count)


def of_shape(scalar: Scalar, shape: tuple[int, ...]) -> Type:
    """The type of numbers, vectors or matrices of this shape."""
    return scalar if not shape else vec_type(scalar, *shape) if len(shape) == 1 else mat_type(scalar, *shape)


def mat_type(scalar: Scalar, rows: int, columns: int) -> Mat:
    return _known(Mat, scalar, rows, columns)
