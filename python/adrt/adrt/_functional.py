"""What a kernel looks like as a function without side effects: of its inputs, to its outputs. For automatic differentiation.

Buffers that the kernel only writes are outputs; those that it reads and writes are both, and are copied first. Saved
values (adc --save-overwritten) pass from the kernel to its gradient, and callers do not see them.
"""

from ._adrt import ArgumentError


class Functional:
    """A kernel, its gradient or its forward mode (role "tangent"), and which of their parameters belong together."""

    def __init__(self, kernel, role="adjoint"):
        if kernel.role != "primal":
            raise ValueError(f"kernel '{kernel.name}' is derived from '{kernel.of}': make a function of that one")
        self.kernel = kernel
        self.derivative = kernel.grad if role == "adjoint" else kernel.jvp
        self.params = {param.name: param for param in kernel.params}
        self.companion_of = {param.primal: param.name for param in self.derivative.params if param.role == role}
        self.outputs = [param.name for param in kernel.params if param.writes and param.role != "saved"]
        self.saved = [param.name for param in kernel.params if param.role == "saved"]
        layouts = [param.name for param in kernel.params if param.kind == "layout"]
        if layouts:
            raise ValueError(f"kernel '{kernel.name}' has layouts ({', '.join(layouts)}): call it and its gradient yourself")

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
