"""Places in Python files: of refusals, and of the compiler's messages about IR that was made of them."""

from __future__ import annotations

import ast
import inspect
import pathlib
import typing

from ._compile import CompileError, Diagnostic


class Place(typing.NamedTuple):
    """A stretch of a Python file; lines and columns count from 1, the end is behind."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


def store_source(function) -> None:
    """Stores the source as it is now, when the function is defined: the file may change before a kernel is compiled."""
    try:
        found = inspect.getsourcelines(function)
    except (OSError, TypeError, SyntaxError) as error:
        found = error
    try:
        function.__adc_source__ = found
    except AttributeError as error:
        raise TypeError(f"a kernel is made of a function that is written with 'def', not of {function!r}") from error


class Source:
    """The text of a function, and its syntax tree with places in the file."""

    def __init__(self, function):
        if not hasattr(function, "__adc_source__"):
            store_source(function)
        found = function.__adc_source__
        if isinstance(found, Exception):
            raise CompileError(f"the source of '{function.__qualname__}' cannot be read ({found}): a kernel stands in a file or "
                               "in a cell of a notebook", [], 1) from found
        lines, first = found
        self.file = inspect.getsourcefile(function) or function.__code__.co_filename
        self.first, text = first, "".join(lines)
        if lines[0][:1].isspace():  # inside of a function or class
            self.first, text = first - 1, "if True:\n" + text
        self.lines = text.splitlines()
        tree = ast.parse(text)
        body = tree.body[0].body if isinstance(tree.body[0], ast.If) else tree.body  # type: ignore[attr-defined]
        if not isinstance(body[0], ast.FunctionDef):
            raise CompileError(f"{self.file}:{first}:1: error: a kernel is written with 'def'", [], 1)
        self.definition: ast.FunctionDef = body[0]

    def place(self, node: ast.AST) -> Place:
        def column(line: int, offset: int) -> int:
            return len(self.lines[line - 1].encode("utf-8")[:offset].decode("utf-8")) + 1

        above = self.first - 1
        if isinstance(node, ast.Match) or hasattr(node, "body") and isinstance(node, ast.stmt):  # its first line alone
            at = Place(self.file, node.lineno + above, column(node.lineno, node.col_offset), node.lineno + above, 0)
            last = getattr(node, "test", None) or getattr(node, "iter", None) or getattr(node, "subject", None)
            if last is not None:
                return at._replace(end_line=self.place(last).end_line, end_column=self.place(last).end_column)
            return at._replace(end_column=at.column + len(self.text(node).split(maxsplit=1)[0].rstrip(":")))
        line, end = node.lineno, node.end_lineno or node.lineno  # type: ignore[attr-defined]
        return Place(self.file, line + above, column(line, node.col_offset), end + above,  # type: ignore[attr-defined]
                     column(end, node.end_col_offset or 0))  # type: ignore[attr-defined]

    def name_place(self) -> Place:
        """The function's name in its definition."""
        line = self.definition.lineno
        at = self.lines[line - 1].find(self.definition.name, self.definition.col_offset) + 1
        return Place(self.file, line + self.first - 1, at, line + self.first - 1, at + len(self.definition.name))

    def text(self, node: ast.AST) -> str:
        return ast.get_source_segment("\n".join(self.lines), node) or ast.unparse(node)


def refusal(place: Place, message: str, remedy: str | None = None) -> CompileError:
    """The exception of a construct that a kernel cannot have."""
    return error_of([Told(Diagnostic("error", "", message, place.file, place.line, place.column, remedy), place, [])])


class Told(typing.NamedTuple):
    """A message, the stretch that it marks, and its notes."""

    diagnostic: Diagnostic
    place: Place | None
    notes: list[tuple[str, Place | None]]


def error_of(told: list[Told], exit_code: int = 1) -> CompileError:
    return CompileError("\n".join(map(printed, told)), [one.diagnostic for one in told], exit_code)


def printed(told: Told) -> str:
    """A message as adc prints it."""
    note = told.diagnostic
    mark = f" [{note.id}]" if note.id else ""
    lines = _marked(note.severity, note.message + mark, told.place)
    for message, place in told.notes:
        lines += _marked("note", message, place)
    if note.help:
        lines.append(f"help: {note.help}")
    return "\n".join(lines)


def _marked(severity: str, message: str, place: Place | None) -> list[str]:
    if place is None:
        return [f"{severity}: {message}"]
    lines = [f"{place.file}:{place.line}:{place.column}: {severity}: {message}"]
    text = line_of(place.file, place.line)
    if text is not None:
        end = place.end_column if place.end_line == place.line else len(text) + 1
        indent = "".join("\t" if letter == "\t" else " " for letter in text[:place.column - 1])
        lines += [text, indent + "^" + "~" * (max(1, end - place.column) - 1)]
    return lines


def line_of(file: str, number: int) -> str | None:
    import linecache

    linecache.checkcache(file)
    text = linecache.getline(file, number)
    return text.rstrip("\n") if text else None


class Sheet:
    """IR whose lines are those of a Python file, so that what a bundle and the loader say of lines holds in that file. The
    columns are the IR's: a table gives the Python file's."""

    def __init__(self, file: str):
        self.file, self.lines, self.starts = file, [""], []  # starts: (line, column, Place), in order

    def fits(self, first: int) -> bool:
        """Whether a function that begins in this line may be added."""
        return len(self.lines) < first or self.lines == [""]

    def add(self, text: str, place: Place | None) -> None:
        if place is not None and place.file == self.file:
            while len(self.lines) < place.line:
                self.lines.append("")
        current = self.lines[-1] + (" " if self.lines[-1] else "")
        self.lines[-1] = current + text
        if place is not None:
            self.starts.append((len(self.lines), len(current) + 1, place))

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def find(self, line: int, column: int) -> Place | None:
        """The Python stretch of a place of the IR."""
        found = None
        for at_line, at_column, place in self.starts:
            if (at_line, at_column) > (line, column):
                break
            found = place
        return found


def short_name(file: str) -> str:
    return pathlib.PurePath(file).name
