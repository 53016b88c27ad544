"""IR as a tree of pieces with places; printed for people with an instruction a line, and on sheets for the compiler."""

from __future__ import annotations

from ._places import Place, Sheet


class Piece:
    """Text of an instruction; of one with regions, what stands before, between and behind them."""

    __slots__ = ("op", "parts", "place", "cheap")

    def __init__(self, op: str, parts: list, place: Place | None, cheap: bool = False):
        self.op, self.parts, self.place, self.cheap = op, parts, place, cheap


class Function:
    """A kernel or function: what it is called with, and its pieces."""

    def __init__(self, head: str, body: list[Piece], place: Place):
        self.head, self.body, self.place = head, body, place

    def text(self) -> str:
        lines = [self.head + " {"]
        _print(self.body, 1, lines)
        return "\n".join([*lines, "}"]) + "\n"

    def lay(self, sheet: Sheet) -> None:
        sheet.add(self.head + " {", self.place)
        _lay(self.body, sheet)
        sheet.add("}", None)


def _print(pieces: list[Piece], depth: int, lines: list[str]) -> None:
    for piece in pieces:
        for part in piece.parts:
            if isinstance(part, str):
                lines.append("  " * depth + part)
            else:
                _print(part, depth + 1, lines)


def _lay(pieces: list[Piece], sheet: Sheet) -> None:
    for piece in pieces:
        for part in piece.parts:
            if isinstance(part, str):
                sheet.add(part, piece.place)
            else:
                _lay(part, sheet)


def sheets_of(functions: list[Function]) -> list[Sheet]:
    """The functions on as few sheets as keep each on its own lines: one for each file, and more for instances of one function."""
    sheets: list[Sheet] = []
    for function in sorted(functions, key=lambda one: (one.place.file, one.place.line)):
        sheet = next((one for one in sheets if one.file == function.place.file and one.fits(function.place.line)), None)
        if sheet is None:
            sheet = Sheet(function.place.file)
            sheets.append(sheet)
        function.lay(sheet)
    return sheets


def count(pieces: list[Piece]) -> int:
    """Instructions, with those in regions."""
    return sum(1 + sum(count(part) for part in piece.parts if not isinstance(part, str)) for piece in pieces)


def any_of(pieces: list[Piece], test) -> bool:
    return any(test(piece) or any(any_of(part, test) for part in piece.parts if not isinstance(part, str)) for piece in pieces)
