"""What a kernel looks like as a function without side effects: of its inputs, to its outputs. For automatic differentiation.

Buffers that the kernel only writes are outputs; those that it reads and writes are both, and are copied first. Saved
values (adc --save-overwritten) pass from the kernel to its gradient, and callers do not see them.
"""

from ._adrt import ArgumentError


class Functional:
    """A kernel, its gradient or its forward mode (role "tangent"), and which of their parameters belong together.

    `batch` are the parameters that have an axis of the batch, and which it is, those of the derivative too. Callers give and
    get arrays without it: one element of a batch, of which vmap makes the whole. A sequence of names is their first axis.
    """

    def __init__(self, kernel, role="adjoint", batch=None):
        if kernel.role != "primal":
            raise ValueError(f"kernel '{kernel.name}' is derived from '{kernel.of}': make a function of that one")
        self.kernel = kernel
        self.derivative = kernel.grad if role == "adjoint" else kernel.jvp
        self.params = {param.name: param for param in kernel.params}
        self.companion_of = {param.primal: param.name for param in self.derivative.params if param.role == role}
        self.written_by_derivative = {param.name for param in self.derivative.params if param.writes}
        self.outputs = [param.name for param in kernel.params if param.writes and param.role != "saved"]
        self.saved = [param.name for param in kernel.params if param.role == "saved"]
        layouts = [param.name for param in kernel.params if param.kind == "layout"]
        if layouts:
            raise ValueError(f"kernel '{kernel.name}' has layouts ({', '.join(layouts)}): call it and its gradient yourself")
        self.batch = self._batch(batch) if batch else {}

    def _batch(self, batch):
        axes = dict(batch) if isinstance(batch, dict) else dict.fromkeys(batch, 0)
        kernel = self.kernel.name
        for name, axis in axes.items():
            param = self.params.get(name)
            if param is None or param.kind != "buffer" or not 0 <= axis < param.ndim:
                raise ValueError(f"batch: kernel '{kernel}' has no buffer '{name}' with an axis {axis}")
        shared = [name for name in self.outputs if name not in axes]
        if shared:
            raise ValueError(f"batch: kernel '{kernel}' writes '{shared[0]}', which has no axis of the batch: all elements would "
                             "write the same")
        if self.saved:
            raise ValueError(f"batch: kernel '{kernel}' saves values for its gradient ({', '.join(self.saved)}), which have no "
                             "axis of the batch: compile it without --save-overwritten")
        companions = {param.name: axes[param.primal] for param in self.derivative.params if param.primal in axes}
        return {**axes, **companions}

    def of_one_element(self, arguments, expand, full):
        """Arguments with an axis of length 1 where the kernel has one of the batch: `expand` adds it to an array, and `full`
        makes an array of a number."""
        given = dict(arguments)
        for name, axis in self.batch.items():
            param, value = self.params.get(name), arguments.get(name, ())
            if param is None:  # of the derivative
                continue
            if hasattr(value, "dtype"):
                given[name] = expand(value, axis)
            elif self.is_shape(name, value) and (name in arguments or param.ndim == 1):
                axes = value if isinstance(value, tuple) else (value,)
                if len(axes) != param.ndim - 1:
                    raise self.wrong(name, value, f"a shape of {param.ndim - 1} axes")
                given[name] = (*axes[:axis], 1, *axes[axis:])
            elif name in arguments and param.ndim == 1 and not param.element_shape:
                given[name] = full(value, param.dtype)
        return given

    def of_all(self, name, shape, size):
        """The shape for so many times as many elements."""
        axis = self.batch[name]
        return (*shape[:axis], size * shape[axis], *shape[axis + 1:])

    def not_of_one_element(self, name, is_adjoint):
        """The error for an array of vmap's that has no axis of the batch, or for an adjoint that all elements add to."""
        if is_adjoint:
            name = next(param.primal for param in self.derivative.params if param.name == name)
            return self.wrong(name, "one array for the whole batch", "one with an axis of the batch: the gradient adds up its "
                              "adjoint over all elements (adc --active leaves it out of the gradient)")
        return self.wrong(name, "an array that vmap maps over", "one for the whole batch: it is not in 'batch'")

    def second_derivatives(self):
        """Names of the tangents of parameters, in the kernel's forward mode, and of those of their adjoints, in the forward
        mode of the gradient."""
        of_kernel = {param.primal: param.name for param in self.kernel.jvp.params if param.role == "tangent"}
        tangents = [param.name for param in self.derivative.jvp.params if param.role == "tangent"]
        of_adjoints = {name: f"{adjoint}_tan" for name, adjoint in self.companion_of.items() if f"{adjoint}_tan" in tangents}
        return of_kernel, of_adjoints

    def is_shape(self, name, value):
        """Whether `value` is the shape of an output that is to be made."""
        param = self.params[name]
        return param.writes and param.kind == "buffer" and (isinstance(value, (tuple, int)) and not isinstance(value, bool))

    def check(self, arguments):
        """Names that the kernel does not have, and values for what it makes itself."""
        for name, value in arguments.items():
            if name not in self.params:
                self.kernel(**{name: value})  # raises what a call raises
            param = self.params[name]
            if param.role == "saved":
                raise self.wrong(name, type(value).__name__, "nothing: it is made for each call")
            if param.writes and not param.reads and not self.is_shape(name, value):
                raise self.wrong(name, type(value).__name__, "its shape, or nothing: the output is a new array")

    def wrong(self, name, given, wanted):
        error = ArgumentError(f"kernel '{self.kernel.name}', parameter '{name}': given {given}, wanted {wanted}")
        error.parameter, error.given, error.wanted = name, given, wanted
        return error

    def needs_adjoint(self, name):
        """The name of the adjoint of a parameter by which somebody differentiates."""
        adjoint = self.companion_of.get(name)
        if adjoint is None:
            reason = "is not among those that it was compiled for" if self.params[name].diff else "is not marked 'diff'"
            raise self.wrong(name, "an argument that requires a gradient",
                             f"one that does not: '{self.derivative.name}' has no adjoint for it, which {reason}")
        return adjoint
