"""Kernels as functions of JAX, which jit, grad and vmap transform.

    relax = adrt.jax.function(bundle["relax"])
    jax.grad(lambda x: relax(x=x, n=4).loss)(x)

A kernel is a call back to the host (jax.pure_callback): JAX gives the CPU's arrays without a copy, and copies those of
other devices.
"""

import collections

import jax
import numpy as np

from ._functional import Functional

__all__ = ["function"]


def function(kernel, mode="reverse"):
    """The kernel as a function of JAX's arrays. mode="reverse" differentiates it by the kernel's gradient (custom_vjp, for
    jax.grad and jax.vjp), "forward" by its forward mode (custom_jvp, for jax.jvp).

    Arguments are given by name, as in a call of the kernel, and the result is a named tuple of all outputs, which are new
    arrays. Buffers that the kernel only writes are given as shapes, or left out where a call may leave them out. Python's
    numbers are constants; arrays are traced, those of integers included. vmap runs one launch after the other.

    Raises adrt.NotFoundError where the bundle has no such derivative. A derivative by an argument for whose parameter there
    is no adjoint, or no tangent, is zero, as JAX has it for integers.
    """
    if mode not in ("reverse", "forward"):
        raise ValueError(f"mode: given {mode!r}, wanted 'reverse' or 'forward'")
    functional = Functional(kernel, "adjoint" if mode == "reverse" else "tangent")
    outputs = collections.namedtuple("Outputs", functional.outputs, rename=True)

    def call(**arguments):
        functional.check(arguments)
        traced = {name: value for name, value in arguments.items() if hasattr(value, "shape") and hasattr(value, "dtype")}
        for name, array in traced.items():
            _check(functional, name, array)
        constants = {name: value for name, value in arguments.items() if name not in traced}
        run = _with_gradient if mode == "reverse" else _with_tangent
        return outputs(*run(functional, constants, tuple(traced))(*traced.values()))

    call.__name__ = kernel.name
    call.__doc__ = f"The kernel {kernel!r} as a function of JAX's arrays."
    return call


def _check(functional, name, array):
    """Before the kernel is part of a traced program, in which an exception ends the program."""
    param = functional.params[name]
    axes = param.ndim + len(param.element_shape)
    if param.kind == "buffer" and (array.dtype != param.dtype or array.ndim != axes):
        raise functional.wrong(name, f"{array.dtype} of shape {array.shape}", f"{param.dtype} of {axes} axes")


def _launch(kernel, wanted, constants, shapes, names, values):
    """A call back that runs the kernel on `values`, and gives the parameters `wanted`, of these shapes."""
    params = {param.name: param for param in kernel.params}

    def argument(name, array):
        if params[name].kind == "scalar":
            return np.asarray(array).tolist()
        # JAX's arrays are not written. ascontiguousarray adds an axis to those that have none.
        return np.array(array, order="C") if params[name].writes else np.ascontiguousarray(array).reshape(array.shape)

    def host(*arrays):
        written = kernel(**constants, **{name: argument(name, array) for name, array in zip(names, arrays)})
        return tuple(np.asarray(getattr(written, name), shape.dtype) for name, shape in zip(wanted, shapes))

    return jax.pure_callback(host, shapes, *values, vmap_method="sequential")


def _shape_of(functional, name, constants, traced):
    """Shape and type of an output: as given, or of a single element."""
    param = functional.params[name]
    if jax.dtypes.canonicalize_dtype(param.dtype) != param.dtype:
        raise functional.wrong(name, "JAX without 64 bits", f"{param.dtype}: set jax_enable_x64")
    if name in traced:
        return jax.ShapeDtypeStruct(traced[name].shape, param.dtype)
    given = constants.get(name, ())
    axes = () if param.ndim == 0 else given if isinstance(given, tuple) else (given,)
    if len(axes) != param.ndim:
        raise functional.wrong(name, given, f"a shape of {param.ndim} axes")
    return jax.ShapeDtypeStruct((*axes, *param.element_shape), param.dtype)


def _primal(functional, constants, names, values):
    traced = dict(zip(names, values))
    shapes = tuple(_shape_of(functional, name, constants, traced) for name in functional.outputs)
    return _launch(functional.kernel, functional.outputs, constants, shapes, names, values)


def _with_gradient(functional, constants, names):
    @jax.custom_vjp
    def run(*values):
        return _primal(functional, constants, names, values)

    def forward(*values):
        outputs = run(*values)
        return outputs, (values, outputs)

    def backward(left, seeds):
        values, outputs = left
        given = dict(zip(names, values))
        given.update(zip(functional.outputs, outputs))  # the gradient reads what the kernel left
        for name, seed in zip(functional.outputs, seeds):
            if name in functional.companion_of:
                given[functional.companion_of[name]] = seed
        wanted = [name for name in names if name in functional.companion_of]
        shapes = tuple(jax.ShapeDtypeStruct(value.shape, value.dtype) for name, value in zip(names, values) if name in wanted)
        rest = {name: value for name, value in constants.items() if name not in given}
        adjoints = _launch(functional.derivative, [functional.companion_of[name] for name in wanted], rest, shapes,
                           tuple(given), tuple(given.values()))
        found = dict(zip(wanted, adjoints))
        return tuple(found.get(name) for name in names)  # None: zero

    run.defvjp(forward, backward)
    return run


def _with_tangent(functional, constants, names):
    @jax.custom_jvp
    def run(*values):
        return _primal(functional, constants, names, values)

    @run.defjvp
    def push(values, tangents):
        traced = dict(zip(names, values))
        shapes = {name: _shape_of(functional, name, constants, traced) for name in functional.outputs}
        given = dict(traced)
        for name, tangent in functional.companion_of.items():
            param = functional.params[name]
            if name in traced:
                given[tangent] = tangents[names.index(name)].astype(param.dtype)
            else:
                given[tangent] = np.zeros(shapes[name].shape if name in shapes else param.element_shape, param.dtype)
        moved = [name for name in functional.outputs if name in functional.companion_of]
        done = _launch(functional.derivative, [*functional.outputs, *map(functional.companion_of.get, moved)], constants,
                       (*shapes.values(), *map(shapes.get, moved)), tuple(given), tuple(given.values()))
        pushed = dict(zip(moved, done[len(shapes):]))
        outputs = done[:len(shapes)]
        return outputs, tuple(pushed[name] if name in pushed else _no_tangent(output)
                              for name, output in zip(functional.outputs, outputs))

    return run


def _no_tangent(output):
    if jax.numpy.issubdtype(output.dtype, jax.numpy.inexact):
        return jax.numpy.zeros_like(output)
    return np.zeros(output.shape, jax.dtypes.float0)
