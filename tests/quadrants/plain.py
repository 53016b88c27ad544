"""Stands in for the package Quadrants, and runs its kernels as plain Python on complex numbers: what a kernel means, with
no compiler, and by a complex step its derivatives. Decisions look at the real part."""

import numpy as np


class Number(complex):
    """A complex number that compares by its real part."""

    def __lt__(self, other):
        return self.real < other.real

    def __le__(self, other):
        return self.real <= other.real

    def __gt__(self, other):
        return self.real > other.real

    def __ge__(self, other):
        return self.real >= other.real


def _closed(name):
    def method(self, *others):
        value = getattr(complex, name)(self, *others)
        return value if value is NotImplemented else Number(value)
    return method


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow", "neg"):
    setattr(Number, f"__{_name}__", _closed(f"__{_name}__"))


_numbers = np.frompyfunc(lambda value: Number(value) if isinstance(value, complex) else value, 1, 1)


class Vector(np.ndarray):
    """Vectors and matrices: arrays of Number."""

    def __new__(cls, values):
        return np.asarray(_numbers(np.array(values, dtype=object)), dtype=object).view(cls)

    def __matmul__(self, other):
        return Vector(np.dot(self, other))

    def dot(self, other):
        return sum(a * b for a, b in zip(self, other, strict=True))

    def cross(self, other):
        (a, b, c), (x, y, z) = self, other
        return Vector([b * z - c * y, c * x - a * z, a * y - b * x])

    def outer_product(self, other):
        return Vector([[a * b for b in other] for a in self])

    def norm_sqr(self):
        return self.dot(self)

    def norm(self, eps=0.0):
        return sqrt(self.norm_sqr() + eps)

    def normalized(self):
        return self / self.norm()

    def transpose(self):
        return Vector(np.asarray(self).T)

    def trace(self):
        return sum(self[i, i] for i in range(len(self)))

    def determinant(self):
        if len(self) == 1:
            return self[0, 0]
        rest = np.asarray(self)[1:]
        return sum((-1) ** c * self[0, c] * Vector(np.delete(rest, c, 1)).determinant() for c in range(len(self)))


class Whole(int):
    """An integer that was read, and where from: what an atomic operation changes."""

    def __new__(cls, value, array, at):
        self = super().__new__(cls, value)
        self.array, self.at = array, at
        return self


class Field:
    """An array whose elements are read as copies, and `None` is the index of an array without axes."""

    def __init__(self, array, axes):
        self.array, self.axes = array, axes
        self.shape = array.shape[:axes]

    def __getitem__(self, at):
        value = self.array[() if at is None else at]
        if isinstance(value, np.ndarray):
            return Vector(value)
        return Number(value) if isinstance(value, complex) else Whole(value, self.array, () if at is None else at)

    def __setitem__(self, at, value):
        self.array[() if at is None else at] = value

    def __iter__(self):
        indices = np.ndindex(self.shape)
        return (index[0] for index in indices) if self.axes == 1 else iter(indices)


def _of(function):
    def apply(value):
        return Number(function(complex(value)))
    return apply


sqrt, exp, log, sin, cos, tan, asin, acos, tanh = (
    _of(f) for f in (np.sqrt, np.exp, np.log, np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.tanh))


def atan2(y, x):
    turn = np.arctan2(y.real, x.real) - np.arctan(y.real / x.real)
    return Number(np.arctan(complex(y) / complex(x)) + turn)


def pow(a, b):  # noqa: A001
    return a ** b


def floor(v, kind=None):
    return np.floor(v.real) if kind is None else int(np.floor(v.real))


def abs(v):  # noqa: A001
    return -v if v.real < 0 else v


def max(a, b):  # noqa: A001
    return a if a.real > b.real else b


def min(a, b):  # noqa: A001
    return a if a.real < b.real else b


def select(c, a, b):
    return a if c else b


def cast(v, kind):
    return int(v.real) if kind == i32 else v


def static(v):
    return v


def template():
    return None


def atomic_add(element, value):
    element.array[element.at] += value
    return int(element)


def kernel(function):
    return function


func = kernel
Matrix = Vector
i32, f64 = "i32", "f64"
