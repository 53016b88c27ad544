"""What names and expressions stand for while a function is read."""

from __future__ import annotations

import math
import struct
import typing

from ._types import Scalar, Type

# Types of numbers that the source has not determined: they take that of what stands beside them.
WEAK_INT, WEAK_FLOAT = Scalar("integer", "int", 64), Scalar("float", "float", 64)
# That of a variable which no statement has assigned: it takes any type, and is zero.
UNSET = Scalar("unset", "int", 64)
OPEN = (WEAK_INT, WEAK_FLOAT, UNSET)

# Names that no source has: what a function returned in a loop, and whether it did.
RESULT, RETURNED = "the result", "whether it returned"

# A variable that a loop carries or a branch changes: its name, or with indices a value in the tuples that it stands for.
Key = typing.Union[str, "tuple[str | int, ...]"]


class Guess(typing.NamedTuple):
    """A place where literals alone determine a type, so that it is a guess. What `told` says of the key is the type from then on."""

    told: Told
    key: tuple
    counts: bool  #: whether the value may grow in a loop, so that only a wider type holds it


class Told(dict):
    """The types of guesses that were wrong, by key; one for each reading of a function."""

    __hash__ = object.__hash__


class Again(Exception):
    """A guess was wrong: the function is read again, with what is known now."""

    def __init__(self, guesses: frozenset[Guess], type: Scalar):
        super().__init__()
        self.guesses, self.type = guesses, type

    def learn(self, told: Told) -> None:
        """Notes the type of the guesses that belong to `told`; without one, the exception goes on to who made them."""
        own = [guess for guess in self.guesses if guess.told is told and told.get(guess.key) is not self.type]
        if not own:
            raise self
        told.update({guess.key: self.type for guess in own})


class Value:
    """A value of the kernel: the IR's name of it, or a number that is known."""

    __slots__ = ("type", "text", "const", "guesses")

    def __init__(self, type: Type, text: str = "", const: float | int | bool | None = None, guesses: frozenset[Guess] = frozenset()):
        self.type, self.text, self.const, self.guesses = type, text, const, guesses

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

    def replaced(self, path: tuple[int, ...], value) -> Several:
        """The same with another value at these indices."""
        at, *deeper = path
        new = self.values[at].replaced(tuple(deeper), value) if deeper else value
        return Several([*self.values[:at], new, *self.values[at + 1:]])


def leaves(read, path: Key) -> list[tuple[Key, typing.Any]]:
    """What a thing holds in nested tuples, each with its key; anything else is its own only leaf."""
    if not isinstance(read, Several):
        return [(path, read)]
    path = path if isinstance(path, tuple) else (path,)
    return [leaf for at, one in enumerate(read.values) for leaf in leaves(one, (*path, at))]


def name_of(key: Key) -> str:
    """The variable of a key."""
    return key[0] if isinstance(key, tuple) else key  # type: ignore[return-value]


def held(env: dict, key: Key):
    """What is held under a key that `leaves` gave; None where nothing is."""
    found = env.get(name_of(key))
    for at in key[1:] if isinstance(key, tuple) else ():
        found = found.values[at] if isinstance(found, Several) and at < len(found.values) else None  # type: ignore[operator]
    return found


def hold(env: dict, key: Key, value) -> None:
    """Puts a value under a key that `leaves` gave."""
    env[name_of(key)] = env[key[0]].replaced(key[1:], value) if isinstance(key, tuple) else value


def form_of(read) -> tuple | None:
    """How tuples nest; None of what is no tuple."""
    return tuple(map(form_of, read.values)) if isinstance(read, Several) else None


def nested(form, values):
    """Values in tuples of this form."""
    return next(values) if form is None else Several([nested(one, values) for one in form])


class Static:
    """A thing of Python's that is known when the kernel is read: a module, a function, a type, an enumeration."""

    def __init__(self, thing):
        self.thing = thing


class Unknown:
    """A name that cannot be read here, and why; `again` where another guess of a type would help."""

    def __init__(self, why: str, remedy: str, again: Again | None = None):
        self.why, self.remedy, self.again = why, remedy, again


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
