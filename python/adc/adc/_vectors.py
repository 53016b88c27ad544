"""Vectors and matrices on the host, with the arithmetic that they have in kernels."""

from __future__ import annotations

import operator


class _Arithmetic(list):
    """Operators with another one of the shape, or with a number. They make new ones: v += w leaves the old v as it is."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other):
        return self._with(other, operator.add)

    def __sub__(self, other):
        return self._with(other, operator.sub)

    def __mul__(self, other):
        return self._with(other, operator.mul)

    def __truediv__(self, other):
        return self._with(other, operator.truediv)

    def __floordiv__(self, other):
        return self._with(other, operator.floordiv)

    def __mod__(self, other):
        return self._with(other, operator.mod)

    def __pow__(self, exponent):
        return self._with(exponent, operator.pow)

    def __pos__(self):
        return copied(self)

    __iadd__, __imul__, __radd__, __rmul__ = __add__, __mul__, __add__, __mul__

    def __rsub__(self, other):
        return -self + other

    def __rtruediv__(self, other):
        return self._with(other, lambda one, by: by / one)


class Vector(_Arithmetic):
    """Components of a vector: v.x, v[0], v + w, 2 * v."""

    __slots__ = ()
    x, y, z, w = (property(lambda self, at=at: self[at], lambda self, value, at=at: self.__setitem__(at, value)) for at in range(4))

    def _with(self, other, function):
        if isinstance(other, Vector):
            return Vector(map(function, self, other))
        return Vector(function(one, other) for one in self)

    def __neg__(self):
        return Vector(-one for one in self)

    def __matmul__(self, other):
        """A row times a matrix."""
        return Vector(dot(self, column) for column in zip(*other))


class Matrix(_Arithmetic):
    """Rows of a matrix: m[r, c], m @ v, m @ n."""

    __slots__ = ()

    def __getitem__(self, at):
        return list.__getitem__(self, at[0])[at[1]] if isinstance(at, tuple) else Vector(list.__getitem__(self, at))

    def __setitem__(self, at, value):
        if isinstance(at, tuple):
            list.__getitem__(self, at[0])[at[1]] = value
        else:
            list.__setitem__(self, at, Vector(value))

    def _with(self, other, function):
        if isinstance(other, Matrix):
            return Matrix(function(one, two) for one, two in zip(self, other))
        return Matrix(function(one, other) for one in self)

    def __neg__(self):
        return Matrix(-row for row in self)

    def __matmul__(self, other):
        if isinstance(other, Matrix):
            return Matrix(Vector(dot(row, column) for column in zip(*other)) for row in self)
        return Vector(dot(row, other) for row in self)


def copied(value):
    """A value with vectors and matrices of its own."""
    if isinstance(value, Matrix):
        return Matrix(map(Vector, value))
    return Vector(value) if isinstance(value, Vector) else tuple(map(copied, value)) if isinstance(value, tuple) else value


def dot(a, b):
    """The inner product of two vectors."""
    return sum(one * two for one, two in zip(a, b))


def cross(a, b):
    """The cross product of two vectors of three components."""
    return Vector((a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]))


def transpose(m):
    """The transpose of a matrix."""
    return Matrix(Vector(column) for column in zip(*m))


def outer(a, b):
    """The matrix of the products of two vectors' components."""
    return Matrix(Vector(one * two for two in b) for one in a)


def det(m):
    """The determinant of a square matrix up to 4 by 4."""
    rows = [list(row) for row in m]
    if len(rows) == 1:
        return rows[0][0]
    return sum((-1) ** column * rows[0][column] * det([row[:column] + row[column + 1:] for row in rows[1:]])
               for column in range(len(rows)))


def inverse(m):
    """The inverse of a square matrix up to 4 by 4."""
    rows, count = [list(row) for row in m], len(m)

    def minor(r, c):
        return [row[:c] + row[c + 1:] for k, row in enumerate(rows) if k != r]

    whole = det(m)
    return Matrix(Vector((-1) ** (r + c) * det(minor(c, r)) / whole for c in range(count)) for r in range(count))
