"""Runs the program adc, and makes exceptions of what it says."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import typing
import warnings
from collections.abc import Iterable, Iterator, Mapping

SUFFIXES = {"ir": ".ir", "cpp": ".cpp", "glsl": ".comp", "hlsl": ".hlsl", "spirv": ".spv"}
BUNDLE = b"\x89ADC"

Kind = typing.Literal["ir", "cpp", "glsl", "hlsl", "spirv"]
Source = typing.Union[str, bytes, os.PathLike]


class Diagnostic(typing.NamedTuple):
    """A message of the compiler's; places count from 1."""

    severity: str  #: "error", "warning"
    id: str  #: "E0106"; `adc explain E0106` says more
    message: str
    file: str | None
    line: int | None
    column: int | None
    help: str | None


class CompileError(Exception):
    """A source that adc refuses. The text is adc's own, with the line and a caret; `diagnostics` has it in pieces, and
    `exit_code` is adc's: 1 an error in the source, 2 in the options, 5 a target cannot express it."""

    def __init__(self, text: str, diagnostics: list[Diagnostic], exit_code: int):
        super().__init__(text)
        self.diagnostics, self.exit_code = diagnostics, exit_code


class CompileWarning(UserWarning):
    """What adc warns of, as adc prints it."""


def own_program() -> str | None:
    """The program that a wheel brings; None where the package lies in a build tree."""
    own = pathlib.Path(__file__).parent / "bin/adc"
    return str(own) if own.exists() else None


def program() -> str:
    """The program that is run. FileNotFoundError where there is none."""
    named = os.environ.get("ADC")
    found = shutil.which(named) if named else own_program() or shutil.which("adc")
    if found is None:
        where = f"ADC names '{named}', which is no program" if named else "it is not on PATH, and ADC does not name it"
        raise FileNotFoundError(f"the compiler adc cannot be found: {where}")
    return found


def compile(source: Source, *, kind: Kind | None = None, targets: Iterable[str] | str | None = None,
            derive: Iterable[str] | str | None = None, defines: Mapping[str, object] | None = None,
            include: Iterable[str | os.PathLike] = (), options: Iterable[str] = (), name: str = "kernel") -> bytes:
    """Compiles a source to a bundle, and gives its bytes, which adrt.load takes.

    source: a path (pathlib.Path) of a file, or the text of one (str), or, of SPIR-V, its bytes. kind: of a text, "ir" where
    it is left out; a file's suffix says it. targets: "cpu", "cuda:sm_80", or several; None: adc's default. derive: "grad"
    (the default), "jvp", "jvp(grad)", "none", or several. defines: constants and types of a text of IR, macros of C++ and
    shaders. include: folders of imports. options: what else adc takes. name: of a text, in messages.

    Raises CompileError with adc's messages; warns with CompileWarning.
    """
    words = [f"--target={target}" for target in _several(targets)]
    if derive is not None:
        words.append("--derive=" + ",".join(_several(derive)))
    words += [f"-D{key}={value}" for key, value in (defines or {}).items()]
    for folder in include:
        words += ["-I", os.fspath(folder)]
    with _file_of(source, kind, name) as (path, folder):
        made = folder / "made.adcb"
        said = _run([*words, *options, str(path), "-o", str(made)], path, folder)
        if said:
            warnings.warn(said, CompileWarning, stacklevel=2)
        return made.read_bytes()


def size(source: Source, *, kernel: str | None = None, shapes: Mapping[str, object] | None = None,
         arguments: Mapping[str, object] | None = None, kind: Kind | None = None, options: Iterable[str] = ()) -> list[dict]:
    """What launches take, of a bundle's bytes, a file, a text or an adc.Kernel: what `adc size --json` prints, a dict for each kernel and
    target. shapes: of buffers, a number or several; arguments: of scalars. What is not given is under "missing"."""
    return _asked("size", source, kind, kernel, shapes, arguments, options)


def gradcheck(source: Source, *, kernel: str | None = None, shapes: Mapping[str, object] | None = None,
              arguments: Mapping[str, object] | None = None, kind: Kind | None = None, options: Iterable[str] = ()) -> dict:
    """Compares a kernel's gradient with forward mode, with central differences, and with the interpreter's derivatives: what
    `adc gradcheck --json` prints. "differ" counts the parameters that differ, "parameters" has each with its "verdict".
    A source is as for size. The kernel's code runs in a process of its own."""
    return _asked("gradcheck", source, kind, kernel, shapes, arguments, options)


def sign_bundle(bundle: bytes | os.PathLike, key: str | os.PathLike) -> bytes:
    """A bundle, signed by a secret key: the path of a file that `adc sign --new-key=NAME` makes. adrt.load(..., keys=[...])
    takes it for the public key, NAME.pub."""
    with _file_of(bundle, None, "kernel") as (path, folder):
        made = folder / "signed.adcb"
        done = _call(["sign", f"--key={os.fspath(key)}", "-o", str(made), str(path)])
        if done.returncode != 0:
            raise CompileError(done.stderr.strip(), [], done.returncode)
        return made.read_bytes()


def _several(words: Iterable[str] | str | None) -> list[str]:
    return [words] if isinstance(words, str) else list(words or ())


@contextlib.contextmanager
def _file_of(source: Source, kind: Kind | None, name: str) -> Iterator[tuple[pathlib.Path, pathlib.Path]]:
    """A file with the source, and a folder for what is made."""
    with tempfile.TemporaryDirectory(prefix="adc-") as scratch:
        folder = pathlib.Path(scratch)
        if isinstance(source, os.PathLike):
            if kind is not None and pathlib.Path(source).suffix != SUFFIXES.get(kind):
                raise ValueError(f"kind: given {kind!r} for '{os.fspath(source)}', whose suffix says what it is")
            yield pathlib.Path(source), folder
            return
        if isinstance(source, (bytes, bytearray)):
            is_bundle = bytes(source[:4]) == BUNDLE
            if not is_bundle and kind != "spirv":
                raise ValueError("bytes are SPIR-V (kind='spirv') or a bundle; a text is a str, a file a pathlib.Path")
            path = folder / f"{name}{'.adcb' if is_bundle else '.spv'}"
            path.write_bytes(source)
        elif isinstance(source, str):
            if kind == "spirv" or kind not in (None, *SUFFIXES):
                raise ValueError(f"kind: given {kind!r} for a text, wanted one of ir, cpp, glsl, hlsl")
            path = folder / f"{name}{SUFFIXES[kind or 'ir']}"
            path.write_text(source, encoding="utf-8")
        else:
            raise TypeError(f"source: given {type(source).__name__}, wanted a pathlib.Path, a str of text, or bytes")
        yield path, folder


def _call(words: list[str]) -> subprocess.CompletedProcess:
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run([program(), *words], capture_output=True, text=True, env=environment, check=False)


def _run(words: list[str], path: pathlib.Path, folder: pathlib.Path) -> str:
    """What adc says of a compilation that is good. Messages name a text without the folder that it lay in."""
    words = [*words, f"--file-prefix-map={folder}/="]
    done = _call(words)
    if done.returncode == 0:
        return done.stderr.strip()
    lines = _call([*words, "--error-format=json"]).stderr.splitlines()
    raise CompileError(done.stderr.strip() or f"adc ended with {done.returncode}", _diagnostics(lines), done.returncode)


def _diagnostics(lines: list[str]) -> list[Diagnostic]:
    found = []
    for line in lines:
        with contextlib.suppress(ValueError):
            told = json.loads(line)
            found.append(Diagnostic(told["severity"], told["id"], told["message"], told.get("file"), told.get("line"),
                                    told.get("column"), told.get("help")))
    return found


def _launch_words(kernel, shapes, arguments) -> list[str]:
    words = [] if kernel is None else [f"--kernel={kernel}"]
    for name, shape in (shapes or {}).items():
        extents = [shape] if isinstance(shape, int) else shape
        words.append(f"--shape={name}={','.join(str(extent) for extent in extents)}")
    return words + [f"--arg={name}={value}" for name, value in (arguments or {}).items()]


def _asked(command, source, kind, kernel, shapes, arguments, options):
    words = [command, "--json", *_launch_words(kernel, shapes, arguments)]
    with _file_of(getattr(source, "ir", source), kind, "kernel") as (path, folder):
        if command == "gradcheck" and path.suffix == ".adcb":
            words.append("--trust")
        done = _call([*words, *options, str(path)])
        differs = command == "gradcheck" and done.returncode == 1 and done.stdout
        if done.returncode != 0 and not differs:
            raise CompileError(done.stderr.strip().replace(f"{folder}/", ""), [], done.returncode)
        return json.loads(done.stdout)
