"""The decorators that make a kernel of a Python function, and what it can be asked."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import tempfile
import types
import typing
import warnings
from collections.abc import Iterable, Mapping

from . import _compile as compiler
from ._compile import CompileError, CompileWarning, Diagnostic
from ._host import HostBuffer
from ._lowering import Module
from ._places import Place, Told, error_of, store_source, printed, short_name
from ._text import sheets_of
from ._types import Parameter
from ._vectors import copied

DERIVED = ("grad", "jvp")


def checked(function):
    """The function, if it is one that can be read, with its source."""
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"a kernel is made of a function that is written with 'def', not of {function!r}"
                        + (": put the decorator below 'staticmethod'" if isinstance(function, (staticmethod, classmethod)) else ""))
    store_source(function)
    return function


class Function:
    """A function that kernels call; called from Python, it is the Python function."""

    is_adc_function = "function"

    def __init__(self, function):
        self.python_function = checked(function)
        functools.update_wrapper(self, function)

    def __call__(self, *arguments, **named):
        return copied(self.python_function(*map(copied, arguments), **{name: copied(value) for name, value in named.items()}))


class Kernel:
    """A kernel that is written in Python. Its function is read when it is first asked for something, and never run;
    called, the kernel runs what was compiled of it, by adrt."""

    is_adc_function = "kernel"

    def __init__(self, function, **settings):
        self.python_function, self.settings = checked(function), settings
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"<adc.Kernel {self.__name__}>"

    @functools.cached_property
    def module(self) -> Module:
        try:
            return Module(self.python_function)
        except RecursionError as error:
            raise CompileError(f"an expression or block of '{self.__name__}' nests too deeply for Python's stack: cut a long sum into "
                               "several statements", [], 1) from error

    @property
    def ir(self) -> str:
        """The kernel and the functions that it calls as text of the IR (docs/ir.md)."""
        return self.module.text()

    def compile(self, *, targets: Iterable[str] | str | None = None, derive: Iterable[str] | str | None = None,
                options: Iterable[str] = ()) -> bytes:
        """Compiles the kernel to a bundle, and gives its bytes, as adc.compile does. What is left out is as the decorator
        says, and else adc's default. Lines in the bundle are those of the Python file."""
        settings = self.settings
        targets = settings.get("targets") if targets is None else targets
        derive = settings.get("derive") if derive is None else derive
        words = [f"--target={target}" for target in compiler._several(targets)]
        if derive is not None:
            words.append("--derive=" + ",".join(compiler._several(derive)))
        return compiled(self.module, [*words, *settings.get("options", ()), *options])

    def save(self, path: str | os.PathLike, **settings) -> None:
        """Compiles the kernel to a file, which ships; the arguments are those of compile."""
        pathlib.Path(path).write_bytes(self.compile(**settings))

    def report(self, path: str | os.PathLike, *, shapes: Mapping[str, object] | None = None, arguments: Mapping[str, object] | None = None,
               options: Iterable[str] = ()) -> None:
        """Writes the page of `adc report`: the Python file, beside each line what gradients store and compute again there, and what
        launches take. Arguments are those of adc.size; options: what else `adc report` takes."""
        sheets = sheets_of(self.module.functions())
        if len(sheets) > 1:
            files = ", ".join(dict.fromkeys(short_name(sheet.file) for sheet in sheets))
            raise CompileError(f"a page shows one file, and the functions of '{self.__name__}' lie in several, or not in the order of their "
                               f"calls ({files}): kernel.save and `adc report` show the rest", [], 2)
        with tempfile.TemporaryDirectory(prefix="adc-") as scratch:
            source = pathlib.Path(scratch) / "kernel.ir"
            source.write_text(sheets[0].text(), encoding="utf-8")
            words = ["report", *compiler._launch_words(None, shapes, arguments), f"--show-source={sheets[0].file}", *options, str(source)]
            done = compiler._call([*words, "-o", os.fspath(path)])
            if done.returncode != 0:
                raise CompileError(done.stderr.strip(), [], done.returncode)

    @functools.cached_property
    def loaded(self):
        """The kernel of adrt that calls run: compiled with the gradient and forward mode for this machine's processor, unless
        the decorator says otherwise."""
        import adrt

        active = any("diff" in parameter.attributes for parameter in self.parameters.values())
        settings = {"targets": self.settings.get("targets", "cpu"), "derive": self.settings.get("derive", DERIVED if active else "none")}
        return adrt.load(self.compile(**settings))[self.__name__]

    def __call__(self, **arguments):
        """Runs the kernel; arguments and results are those of adrt's kernels."""
        return self.loaded(**arguments)

    @property
    def grad(self):
        """The gradient: adrt's kernel."""
        return self.loaded.grad

    @property
    def jvp(self):
        """The forward mode: adrt's kernel."""
        return self.loaded.jvp

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters and their types."""
        return self.module.parameters

    @property
    def python(self) -> typing.Callable[..., None]:
        """The function as plain Python, on arrays of NumPy: it shares no code with the compiled kernel."""
        def run(**arguments) -> None:
            types = self.parameters
            given = {name: _on_host(types[name], value) for name, value in arguments.items()}
            self.python_function(**given)

        return run


def _on_host(type: Parameter, value):
    """An argument as a kernel's function sees it."""
    if type.rank is not None:
        return HostBuffer(value, type.element)
    if len(type.element.shape) == 2:
        value = [number for row in value for number in row]
    return type.element(*value) if type.element.shape else value


def kernel(function=None, *, targets: Iterable[str] | str | None = None, derive: Iterable[str] | str | None = None,
           options: Iterable[str] = ()):
    """Makes a kernel of a function whose parameters are annotated:

        @adc.kernel
        def relax(x: adc.buffer[adc.f32, 1, adc.diff], loss: adc.buffer[adc.f32, 0, adc.diff], n: adc.i32):
            for i in adc.parallel(x.shape[0]):
                v = x[i]
                for t in range(n):
                    v = math.sin(v) + 0.1
                adc.atomic_add(loss, (), v)

    The function is read from its source, once, and not run. targets, derive, options: of its compilation, as in adc.compile.
    """
    given = {"targets": targets, "derive": derive, "options": options}
    settings = {name: value for name, value in given.items() if value is not None}
    return Kernel(function, **settings) if function is not None else lambda one: Kernel(one, **settings)


def function(python_function):
    """Makes a function that kernels may call. Types of its parameters that are not annotated are those of the arguments; numbers
    that are known there are known inside."""
    return Function(python_function)


# ---- compiling


def compiled(module: Module, words: list[str]) -> bytes:
    """The bundle of a module. The compiler's messages are given with the places of the Python files."""
    sheets = sheets_of(module.functions())
    with tempfile.TemporaryDirectory(prefix="adc-") as scratch:
        folder = pathlib.Path(scratch)
        paths, named = [], []
        for number, sheet in enumerate(sheets):
            path = folder / f"{number}.ir"
            path.write_text(sheet.text(), encoding="utf-8")
            paths.append(str(path))
            named.append(f"--file-prefix-map={path}={short_name(sheet.file)}")
        made = folder / "made.adcb"
        done = compiler._call([*words, *named, *paths, "-o", str(made)])
        said = done.stderr.strip()
        if said or done.returncode != 0:
            lines = compiler._call([*words, "--error-format=json", *paths, "-o", str(made)]).stderr.splitlines()
            told = [one for one in (_told(line, dict(zip(paths, sheets))) for line in lines) if one is not None]
            if done.returncode != 0:
                raise error_of(told, done.returncode) if told else CompileError(said, [], done.returncode)
            warnings.warn("\n".join(map(printed, told)) or said, CompileWarning, stacklevel=3)
        return made.read_bytes()


def _told(line: str, sheets: dict) -> Told | None:
    """A message of the compiler's, with its places in Python."""
    try:
        said = json.loads(line)
    except ValueError:
        return None

    def place(one: dict) -> Place | None:
        sheet = sheets.get(one.get("file"))
        return sheet.find(one["line"], one["column"]) if sheet is not None and one.get("line") else None

    at = place(said)
    note = Diagnostic(said["severity"], said["id"], said["message"], at.file if at else said.get("file"),
                      at.line if at else None, at.column if at else None, said.get("help"))
    return Told(note, at, [(one["message"], place(one)) for one in said.get("notes", ())])
