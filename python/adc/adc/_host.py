"""What a kernel calls, as plain Python: `kernel.python` runs with these. A lowering knows them by identity."""

from __future__ import annotations

import itertools
import math

from ._types import Scalar, f32
from ._vectors import Matrix, Vector, copied, cross, det, dot, inverse, outer, transpose  # noqa: F401


def parallel(*counts: int, block: int | None = None):
    """`for i in parallel(n)`, `for i, j in parallel(n, m)`: iterations in any order, at once. At the top level of a kernel."""
    return range(counts[0]) if len(counts) == 1 else itertools.product(*map(range, counts))


def serial(*counts: int):
    """`for i, j in serial(n, m)`: iterations in order, the last index fastest, by one thread also on devices."""
    return parallel(*counts)


def unroll(indices: range) -> range:
    """`for k in unroll(range(4))`: the loop becomes copies of its body; its bounds are constants."""
    return indices


def checkpoint(indices: range, every: int | None = None) -> range:
    """`for t in checkpoint(range(n), 64)`: the gradient tapes the state at every 64th iteration and computes the rest again.
    Without a number the loader chooses."""
    return indices


def array(scalar: Scalar, *extents: int):
    """A local array of numbers, zeros at first: array(f32, 9), array(f32, 3, 3)."""
    return Array(scalar, extents)


class Array:
    def __init__(self, scalar, extents):
        self._scalar, self.shape, self._cells = scalar, extents, {}

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, at):
        return self._cells.get(at if isinstance(at, tuple) else (at,), self._scalar(0))

    def __setitem__(self, at, value):
        self._cells[at if isinstance(at, tuple) else (at,)] = self._scalar(value)


def _update(buffer, at, value):
    old = buffer[at]
    buffer[at] = value
    return old


def atomic_add(buffer, index, value):
    """Adds to an element of a buffer, which other iterations may meet; gives the old value. The index is as in brackets:
    atomic_add(x, i, v), atomic_add(x, (i, j), v), and atomic_add(loss, (), v) of a buffer without axes."""
    return _update(buffer, index, buffer[index] + value)


def atomic_sub(buffer, index, value):
    """Subtracts from an element of a buffer; as atomic_add."""
    return _update(buffer, index, buffer[index] - value)


def atomic_min(buffer, index, value):
    """Lowers an element of a buffer; as atomic_add."""
    return _update(buffer, index, min(buffer[index], value))


def atomic_max(buffer, index, value):
    """Raises an element of a buffer; as atomic_add."""
    return _update(buffer, index, max(buffer[index], value))


def atomic_exchange(buffer, index, value):
    """Replaces an element of a buffer; as atomic_add."""
    return _update(buffer, index, value)


def _each(function):
    """A function of floats, also of each component of vectors."""
    def apply(*operands):
        if any(isinstance(one, Vector) for one in operands):
            count = next(len(one) for one in operands if isinstance(one, Vector))
            spread = [one if isinstance(one, Vector) else (one,) * count for one in operands]
            return Vector(map(function, *spread))
        return function(*operands)

    apply.__doc__, apply.__name__ = function.__doc__, function.__name__
    return apply


@_each
def floor(x: float) -> float:
    """The largest whole number not above x, as a float (math.floor gives an integer)."""
    return float(math.floor(x)) if math.isfinite(x) else x


@_each
def ceil(x: float) -> float:
    """The smallest whole number not below x, as a float."""
    return float(math.ceil(x)) if math.isfinite(x) else x


@_each
def trunc(x: float) -> float:
    """The whole part of x, as a float."""
    return float(math.trunc(x)) if math.isfinite(x) else x


@_each
def rint(x: float) -> float:
    """The nearest whole number, halves to even, as a float."""
    return float(round(x)) if math.isfinite(x) else x


@_each
def rsqrt(x: float) -> float:
    """1 / sqrt(x)."""
    return math.inf if x == 0 else 1 / math.sqrt(x)


@_each
def sign(x):
    """-1, 0 or 1 after the sign of x, of x's type."""
    return x if x != x else type(x)((x > 0) - (x < 0))


@_each
def minimum(a, b):
    """The smaller one, of vectors too; b on a tie."""
    return a if a < b else b


@_each
def maximum(a, b):
    """The larger one, of vectors too; b on a tie."""
    return a if a > b else b


@_each
def clamp(x, low, high):
    """x, not below low and not above high."""
    return minimum(maximum(x, low), high)


@_each
def fma(a: float, b: float, c: float) -> float:
    """a * b + c."""
    return a * b + c


def select(condition, a, b):
    """a where the condition holds, else b; both are computed."""
    return copied(a if condition else b)


def norm(v) -> float:
    """The Euclidean length of a vector; its derivative at 0 is 0."""
    return math.sqrt(dot(v, v))


def normalize(v):
    """v / norm(v)."""
    return v / norm(v)


def stop_gradient(value):
    """The value without its derivative."""
    return copied(value)


def vec2(*parts):
    """A vector of 2 components, or of one number twice; the operands say its type."""
    return _vector(2, parts)


def vec3(*parts):
    """A vector of 3 components, or of one number three times."""
    return _vector(3, parts)


def vec4(*parts):
    """A vector of 4 components, or of one number four times."""
    return _vector(4, parts)


def _vector(count, parts):
    return Vector(parts * count if len(parts) == 1 else parts)


def mat2(*rows):
    """A matrix of 2 rows, which are vectors, or of 4 numbers."""
    return _matrix(2, rows)


def mat3(*rows):
    """A matrix of 3 rows, which are vectors, or of 9 numbers."""
    return _matrix(3, rows)


def mat4(*rows):
    """A matrix of 4 rows, which are vectors, or of 16 numbers."""
    return _matrix(4, rows)


def _matrix(count, parts):
    if len(parts) == count:
        return Matrix(parts)
    return Matrix(Vector(parts[row * count:(row + 1) * count]) for row in range(count))


def random(seed: int, counter: int, stream: int = 0, type: Scalar = f32):
    """A random number that seed, counter and stream determine (Philox4x32-10, docs/ir.md): f32 and f64 in [0, 1), u32, u64."""
    low = 0xFFFFFFFF
    words = [counter & low, counter >> 32 & low, stream & low, stream >> 32 & low]
    keys = [seed & low, seed >> 32 & low]
    for _ in range(10):
        first, second = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [second >> 32 ^ words[1] ^ keys[0], second & low, first >> 32 ^ words[3] ^ keys[1], first & low]
        keys = [keys[0] + 0x9E3779B9 & low, keys[1] + 0xBB67AE85 & low]
    both = words[0] | words[1] << 32
    return {"f16": (words[0] >> 21) / 2**11, "f32": (words[0] >> 8) / 2**24, "f64": (both >> 11) / 2**53,
            "u32": words[0], "u64": both}[type.ir]


class HostBuffer:
    """An array of NumPy's as a kernel sees it: elements are numbers, vectors or matrices, and copies."""

    def __init__(self, array, element):
        self._array, self._element = array, element
        self.shape = array.shape[:array.ndim - len(element.shape)]

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, at):
        at = at if isinstance(at, tuple) else (at,)
        if any(not 0 <= one < extent for one, extent in zip(at, self.shape)):
            raise IndexError(f"{at} of a buffer of the shape {self.shape}")
        cell = self._array[at].tolist()
        if len(self._element.shape) == 2:
            return Matrix(map(Vector, cell))
        return Vector(cell) if self._element.shape else cell

    def __setitem__(self, at, value):
        self._array[at] = value
