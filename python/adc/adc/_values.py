"""What names and expressions stand for while a function is read."""

from __future__ import annotations

import math
import struct

from ._types import Scalar, Type

# Types of numbers that the source has not determined: they take that of what stands beside them.
WEAK_INT, WEAK_FLOAT = Scalar("integer", "int", 64), Scalar("float", "float", 64)


class Value:
    """A value of the kernel: the IR's name of it, or a number that is known."""

    __slots__ = ("type", "text", "const")

    def __init__(self, type: Type, text: str = "", const: float | int | bool | None = None):
        self.type, self.text, self.const = type, text, const

    @property
    def is_weak(self) -> bool:
        return self.type in (WEAK_INT, WEAK_FLOAT)

    def same(self, other) -> bool:
        return self is other or (isinstance(other, Value) and self.type is other.type and self.text == other.text and
                                 same_number(self.const, other.const))

    def operand(self, type: Type | None = None) -> str:
        """As an operand; literals state their type, or the one given."""
        if self.const is None:
            return self.text
        return f"{spelled(self.const, type or self.type)}:{(type or self.type).ir}" if self.type.ir != "i1" else self.plain()

    def plain(self, type: Type | None = None) -> str:
        """As an operand beside another one of its type."""
        return self.text if self.const is None else spelled(self.const, type or self.type)


class Buffer:
    """A parameter that is a buffer."""

    def __init__(self, text: str, element: Type, rank: int, attributes: tuple[str, ...]):
        self.text, self.element, self.rank, self.attributes = text, element, rank, attributes


class LocalArray:
    """An array of the kernel's own."""

    def __init__(self, text: str, element: Scalar, extents: tuple[int, ...]):
        self.text, self.element, self.extents = text, element, extents


class Shape:
    """x.shape, before it is indexed or unpacked."""

    def __init__(self, of: Buffer | LocalArray):
        self.of = of


class Several:
    """Values side by side, which are unpacked at once."""

    def __init__(self, values: list):
        self.values = values


class Static:
    """A thing of Python's that is known when the kernel is read: a module, a function, a type, an enumeration."""

    def __init__(self, thing):
        self.thing = thing


class Unknown:
    """A name that cannot be read here, and why."""

    def __init__(self, why: str, remedy: str):
        self.why, self.remedy = why, remedy


def same_number(a, b) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return struct.pack("d", a) == struct.pack("d", b)
    return a == b and type(a) is type(b)


def spelled(number, type: Type) -> str:
    if isinstance(number, bool):
        return "true" if number else "false"
    if not type.scalar.is_float:
        return str(int(number))
    number = float(number)
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    text = repr(number)
    if "e" in text:
        digits, exponent = text.split("e")
        return f"{digits if '.' in digits else digits + '.0'}e{int(exponent)}"
    return text
