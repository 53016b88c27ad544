from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, TypedDict

class Error(RuntimeError):
    """What the loader refuses, or what a launch reports. Attributes are None where nothing is known."""

    status: int
    status_text: str
    native_code: int | None
    section: int | None
    offset: int | None
    rule: int | None
    needed_bytes: int | None
    parameter: str | None
    given: str | None
    wanted: str | None

class ArgumentError(Error, TypeError, ValueError):
    """An argument is wrong: `parameter` names it, `given` and `wanted` say what differs."""

class NotFoundError(Error, LookupError, AttributeError):
    """No kernel, no derivative, or no device of that name."""

class NoTargetError(Error):
    """The bundle has no code for the device on which the arguments lie."""

class OutOfMemoryError(Error, MemoryError):
    """Memory of the host or of the device is used up: `needed_bytes`."""

class UntrustedError(Error):
    """The bundle's code may not run: it is not trusted, and none of the keys has signed it."""

class Parameter(NamedTuple):
    """A parameter of a kernel."""

    name: str
    bundle_name: str
    kind: Literal["buffer", "scalar", "layout"]
    dtype: str
    ndim: int
    element_shape: tuple[int, ...]
    reads: bool
    writes: bool
    role: Literal["plain", "adjoint", "tangent", "saved"]
    primal: str | None
    diff: bool
    is_seed: bool

class Size(NamedTuple):
    """What a launch of a kernel takes, in bytes."""

    heap_bytes: int
    scratch_bytes: int
    status_bytes: int
    saved_bytes: int
    bounds_bytes: int
    workers: int
    resolved: bool
    target: str
    saved: dict[str, int]

class Kernel:
    """A kernel of a bundle. A call runs it and waits; arguments are given by name.

    Buffers are contiguous arrays of exactly the parameter's type, on one device, and are not copied. Scalars are numbers.
    Returns a named tuple of all parameters that the kernel writes, given or made; None where it writes none.
    ArgumentError names the parameter that is wrong.
    """

    @property
    def name(self) -> str: ...
    @property
    def role(self) -> str: ...
    @property
    def of(self) -> str | None: ...
    @property
    def bundle(self) -> Bundle: ...
    @property
    def params(self) -> tuple[Parameter, ...]: ...
    @property
    def grad(self) -> Kernel: ...
    @property
    def jvp(self) -> Kernel: ...
    def __call__(self, **arguments: Any) -> Any: ...
    def on(self, *, threads: int = 0, budget: int = 0, heap: Callable[[int], Any] | None = None,
           stream: Any = None) -> Kernel:
        """The same kernel with other options of its launches; those that are not given stay.

        threads: how many run at once at most. budget: bytes that the memory of a launch may take; 0: what it needs. heap: called with the bytes that a launch takes, it gives an array of at least
        as many on the device of the arguments; None: the kernel has memory of its own. stream: of CUDA or HIP, in which
        launches are recorded without waiting: of PyTorch or CuPy, or its number; None: calls wait.
        """

    def check(self) -> None:
        """Raises what launches in this kernel's stream have reported since the last check. Call it once the stream is idle."""

    def size(self, **shapes_and_numbers: Any) -> Size:
        """What a launch takes, without a device: buffers as shapes or arrays, numbers as in a call; threads, budget, target."""

    def _xla_name(self, on_cpu: bool, /) -> str | None: ...
    def _in_stream(self, stream: int, /) -> Kernel: ...
    def _number(self, name: str, value: Any, /) -> bytes: ...

class Bundle:
    """An opened bundle: bundle['relax'] is a kernel, iteration gives the kernels' names."""

    @property
    def kernels(self) -> list[str]: ...
    @property
    def targets(self) -> list[str]: ...
    @property
    def content_id(self) -> str: ...
    def __getitem__(self, name: str) -> Kernel: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def __contains__(self, name: object) -> bool: ...

class Device(TypedDict, total=False):
    device: str
    kind: str
    name: str
    arch: str
    threads: int
    features: str
    absent: str

def load(source: str | PathLike[str] | bytes | bytearray | memoryview, /, *, trust: bool = True,
         keys: Sequence[str | PathLike[str] | bytes] | None = None) -> Bundle:
    """Opens a bundle: a path, or the bytes of one, which are copied. With keys: one that a key has signed."""

def devices() -> list[Device]:
    """This machine's devices; a kind without one has an entry with the reason."""

def _forget_devices() -> None: ...
def _xla_handlers() -> tuple[object, object]: ...
