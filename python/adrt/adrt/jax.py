"""Kernels as functions of JAX, which jit, grad, vmap and shard_map transform, in lax.scan and lax.while_loop too.

    relax = adrt.jax.function(bundle["relax"])
    jax.grad(lambda x: relax(x=x, n=4).loss)(x)

On the CPU and on CUDA the compiled program calls the kernel itself (jax.ffi), in JAX's own memory, on CUDA in its stream, and
without Python. Elsewhere it calls back to the host (jax.pure_callback), to which JAX copies the arrays, and the kernel runs
there: programs for other devices or for one that the bundle has no code for, versions of JAX before 0.5, kernels that have saved
values, and kernel.on(heap=...).
"""

import collections
import functools

import jax
import numpy as np
from jax import custom_batching

try:
    from jax import ffi
except ImportError:
    ffi = None

from ._adrt import _xla_handlers
from ._functional import Functional

__all__ = ["function"]


def function(kernel, mode="reverse", batch=None):
    """The kernel as a function of JAX's arrays. mode="reverse" differentiates it by the kernel's gradient (custom_vjp, for
    jax.grad and jax.vjp), "forward" by its forward mode (custom_jvp, for jax.jvp).

    Arguments are given by name, as in a call of the kernel, and the result is a named tuple of all outputs, which are new
    arrays. Buffers that the kernel only writes are given as shapes, or left out where a call may leave them out. Python's
    numbers are constants; arrays are traced, those of integers included. Inside shard_map each device launches the kernel on
    its own part, and the outputs differ over all axes over which an argument does.

    vmap runs one launch after the other, unless `batch` names the parameters that have an axis for the elements of a batch:
    ("x", "loss") their first axis, {"x": 1, "loss": 0} these. All that the kernel writes must be among them. The function then
    is that of one element, whose arrays and shapes have no such axis, and vmap makes one launch of all elements. Arrays over
    which it does not map are repeated for these parameters, and are as they are for others.

    Raises adrt.NotFoundError where the bundle has no such derivative. A derivative by an argument for whose parameter there
    is no adjoint, or no tangent, is zero, as JAX has it for integers. What a launch reports is JAX's own exception, with
    adrt's text.
    """
    if mode not in ("reverse", "forward"):
        raise ValueError(f"mode: given {mode!r}, wanted 'reverse' or 'forward'")
    functional = Functional(kernel, "adjoint" if mode == "reverse" else "tangent", batch)
    outputs = collections.namedtuple("Outputs", functional.outputs, rename=True)

    def call(**arguments):
        functional.check(arguments)
        traced = {name: value for name, value in arguments.items() if _is_array(value)}
        for param in kernel.params:
            _check(functional, param, arguments, traced)
        arguments = functional.of_one_element(arguments, jax.numpy.expand_dims, lambda value, dtype: np.full(1, value, dtype))
        traced = {name: value for name, value in arguments.items() if _is_array(value)}
        constants = {name: value for name, value in arguments.items() if name not in traced}
        run = _with_gradient if mode == "reverse" else _with_tangent
        made = run(functional, constants, tuple(traced))(*_vary(traced.values(), _axes(traced.values())))
        return outputs(*(jax.numpy.squeeze(array, functional.batch[name]) if name in functional.batch else array
                         for name, array in zip(functional.outputs, made)))

    call.__name__ = kernel.name
    call.__doc__ = f"The kernel {kernel!r} as a function of JAX's arrays."
    return call


def _is_array(value):
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _is_inexact(value):
    return jax.numpy.issubdtype(value.dtype, jax.numpy.inexact)


def _check(functional, param, arguments, traced):
    """Before the kernel is part of a traced program, in which an exception ends the program."""
    if param.name in traced:
        array = traced[param.name]
        axes = param.ndim + len(param.element_shape) - (param.name in functional.batch)
        wanted = f"{param.dtype} of {axes} axes"
        bad = array.ndim != axes
        if param.kind == "buffer":
            _check_bits(functional, param)
            bad = bad or array.dtype != param.dtype
        elif not param.dtype.startswith("float"):
            bad = bad or _is_inexact(array)
        if bad:
            raise functional.wrong(param.name, f"{array.dtype} of shape {array.shape}", wanted)
    elif param.name not in arguments and not param.writes:
        raise functional.wrong(param.name, "nothing", "an array" if param.kind == "buffer" else f"a number of {param.dtype}")


def _check_bits(functional, param):
    if jax.dtypes.canonicalize_dtype(param.dtype) != param.dtype:
        raise functional.wrong(param.name, "JAX without 64 bits", f"{param.dtype}: set jax_enable_x64")


def _axes(values):
    """The axes of a mesh over which some of these arrays differ, inside jax.shard_map."""
    axes = frozenset()
    for value in values if hasattr(jax, "typeof") else ():
        kind = jax.typeof(value)
        axes |= getattr(getattr(kind, "manual_axis_type", None), "varying", frozenset()) | getattr(kind, "vma", frozenset())
    return axes


def _vary(values, axes):
    """The same arrays, as ones that differ over these axes. JAX adds up derivatives by those that did not differ before."""
    varied = []
    for value in values:
        missing = tuple(sorted(axes - _axes([value]), key=str)) if axes else ()
        if missing:
            lax = jax.lax
            value = lax.pcast(value, missing, to="varying") if hasattr(lax, "pcast") else lax.pvary(value, missing)
        varied.append(value)
    return varied


@functools.cache
def _register():
    for handler, platform in zip(_xla_handlers(), ("cpu", "CUDA")):
        ffi.register_ffi_target("adrt.kernel", handler, platform=platform)


def _operand(param, value):
    """A traced number with its type as the handler converts it: integers to integers in their range, all to f64, where JAX may
    have no 64 bits."""
    if param.kind == "buffer" or not param.dtype.startswith("float"):
        return value
    if jax.dtypes.canonicalize_dtype(param.dtype) == param.dtype:
        return jax.lax.convert_element_type(value, param.dtype)
    return jax.lax.convert_element_type(value, np.float32) if _is_inexact(value) else value


def _by_handler(kernel, name, arrays, numbers, shapes):
    """What _launch does, by XLA's handler (python/adrt/src/xla_call.cpp, which says what `places` are)."""
    operands, places, known, aliases, results = [], [], b"", {}, list(shapes)
    for param in kernel.params:
        place, result = -1, results.index(param.name) if param.name in shapes else -1
        if param.name in arrays:
            place = len(operands)
            operands.append(_operand(param, arrays[param.name]))
            if result >= 0:
                aliases[place] = result
        elif param.name in numbers:
            number = kernel._number(param.name, numbers[param.name])
            if param.kind == "scalar":
                place = -2 - len(known)
                known += number
            else:
                place = -2 - len(operands)
                operands.append(np.frombuffer(number, np.uint8))
        places += place, result
    _register()
    run = ffi.ffi_call("adrt.kernel", tuple(shapes.values()), vmap_method="sequential", input_output_aliases=aliases)
    made = run(*_vary(operands, _axes(arrays.values())), kernel=name, places=np.array(places, np.int32),
               numbers=np.frombuffer(known, np.uint8))
    return tuple(array.astype(jax.dtypes.canonicalize_dtype(array.dtype)) for array in made)


def _by_callback(kernel, arrays, numbers, shapes):
    """What _launch does, by a function of Python that JAX calls."""
    params = {param.name: param for param in kernel.params}
    made = {name: shape.shape[:params[name].ndim] for name, shape in shapes.items()
            if name not in arrays and name not in numbers and params[name].ndim > 0}

    def argument(name, array):
        if params[name].kind == "scalar":
            return np.asarray(array).tolist()
        # JAX's arrays are not written. ascontiguousarray adds an axis to those that have none.
        return np.array(array, order="C") if params[name].writes else np.ascontiguousarray(array).reshape(array.shape)

    def host(*values):
        written = kernel(**numbers, **made, **{name: argument(name, array) for name, array in zip(arrays, values)})
        return tuple(np.asarray(getattr(written, name), shape.dtype) for name, shape in results.items())

    results = {name: jax.ShapeDtypeStruct(shape.shape, jax.dtypes.canonicalize_dtype(shape.dtype))
               for name, shape in shapes.items()}
    return jax.pure_callback(host, tuple(results.values()), *arrays.values(), vmap_method="sequential")


def _launch(functional, kernel, given, shapes):
    """Runs the kernel on `given`, arrays and Python's numbers by name. Gives what it writes, of these shapes, by name. Under
    vmap that is one launch for each element, or, with axes of a batch, one of all."""
    if not functional.batch:
        return _launch_once(kernel, given, shapes)
    names = [name for name, value in given.items() if _is_array(value)]

    @custom_batching.custom_vmap
    def run(*values):
        return _launch_once(kernel, {**given, **dict(zip(names, values))}, shapes)

    @run.def_vmap
    def run_all(size, mapped, *values):
        whole = {name: _merged(functional, name, size, is_mapped, value) for name, is_mapped, value in
                 zip(names, mapped, values)}
        wanted = {}
        for name, shape in shapes.items():
            if name not in functional.batch:
                raise functional.not_of_one_element(name, True)
            wanted[name] = jax.ShapeDtypeStruct(functional.of_all(name, shape.shape, size), shape.dtype)
        written = _launch(functional, kernel, {**given, **whole}, wanted)
        apart = {name: _apart(functional.batch[name], size, shapes[name].shape, array)
                 for name, array in written.items()}
        return apart, dict.fromkeys(apart, True)

    return run(*(jax.numpy.asarray(given[name]) for name in names))


def _merged(functional, name, size, is_mapped, value):
    """An argument for all elements: what vmap maps over, its first axis, becomes part of the axis of the batch."""
    if name not in functional.batch:
        if is_mapped:
            raise functional.not_of_one_element(name, False)
        return value
    axis = functional.batch[name]
    if not is_mapped:
        value = jax.numpy.broadcast_to(value, (size, *value.shape))
    value = jax.numpy.moveaxis(value, 0, axis)
    return value.reshape(functional.of_all(name, (*value.shape[:axis], *value.shape[axis + 1:]), size))


def _apart(axis, size, shape, array):
    """What _merged does, undone: `size` arrays of this shape."""
    return jax.numpy.moveaxis(array.reshape(*shape[:axis], size, *shape[axis:]), axis, 0)


def _launch_once(kernel, given, shapes):
    numbers = {name: value for name, value in given.items() if not _is_array(value)}
    arrays = {name: value for name, value in given.items() if name not in numbers}
    axes = _axes(arrays.values())
    arrays = dict(zip(arrays, _vary(arrays.values(), axes)))
    saves = any(param.role == "saved" for param in kernel.params)
    others = _other_platforms()
    name = kernel._xla_name(not others) if ffi and not saves else None

    def by_handler(*values):
        return _by_handler(kernel, name, dict(zip(arrays, values)), numbers, shapes)

    def by_callback(*values):
        return _by_callback(kernel, dict(zip(arrays, values)), numbers, shapes)

    if name is None:
        results = by_callback(*arrays.values())
    elif others:
        targets = {target.split(":")[0] for target in kernel.bundle.targets}
        by_platform = {platform: by_handler for platform in ("cpu", "cuda") if platform in targets}
        results = jax.lax.platform_dependent(*arrays.values(), **by_platform, default=by_callback)
    else:
        results = by_handler(*arrays.values())
    return dict(zip(shapes, _vary(results, axes)))


def _other_platforms():
    """Whether programs of this process may run elsewhere than on the CPU."""
    from jax.extend import backend

    return set(backend.backends()) != {"cpu"}


def _given(functional, constants, names, values):
    """Arguments that have a value, not only a shape."""
    numbers = {name: value for name, value in constants.items()
               if not functional.is_shape(name, value) or (functional.params[name].ndim == 0 and value != ())}
    return {**numbers, **dict(zip(names, values))}


def _shapes(functional, kernel, given, constants):
    """Shapes and types of what the kernel writes: as given, as the primal's, or of a single element."""
    params = {param.name: param for param in kernel.params}

    def shape_of(param):
        if _is_array(given.get(param.name)):
            return given[param.name].shape
        if param.ndim == 0:
            return param.element_shape
        if param.primal is not None:
            return shape_of(params[param.primal])
        axes = constants.get(param.name, ())
        axes = axes if isinstance(axes, tuple) else (axes,)
        if len(axes) != param.ndim:
            raise functional.wrong(param.name, constants.get(param.name, "nothing"), f"a shape of {param.ndim - (param.name in functional.batch)} axes")
        return (*axes, *param.element_shape)

    return {param.name: jax.ShapeDtypeStruct(shape_of(param), param.dtype) for param in kernel.params
            if param.writes and param.role != "saved"}


def _primal(functional, constants, names, values):
    for name in functional.outputs:
        _check_bits(functional, functional.params[name])
    given = _given(functional, constants, names, values)
    written = _launch(functional, functional.kernel, given, _shapes(functional, functional.kernel, given, constants))
    return tuple(written[name] for name in functional.outputs)


def _with_gradient(functional, constants, names):
    @jax.custom_vjp
    def run(*values):
        return _primal(functional, constants, names, values)

    def forward(*values):
        if functional.saved:
            raise ValueError(f"kernel '{functional.kernel.name}' saves values for its gradient ({', '.join(functional.saved)}), "
                             "which JAX does not pass on: compile it without --save-overwritten")
        outputs = run(*values)
        return outputs, (values, outputs)

    def backward(left, seeds):
        values, outputs = left
        given = _given(functional, constants, names, values)
        given.update(zip(functional.outputs, outputs))  # the gradient reads what the kernel left
        for name, seed in zip(functional.outputs, seeds):
            if name in functional.companion_of:
                given[functional.companion_of[name]] = seed
        adjoints = _launch(functional, functional.derivative, given, _shapes(functional, functional.derivative, given, constants))
        return tuple(adjoints[functional.companion_of[name]].astype(value.dtype)
                     if name in functional.companion_of and _is_inexact(value) else None  # zero
                     for name, value in zip(names, values))

    run.defvjp(forward, backward)
    return run


def _with_tangent(functional, constants, names):
    @jax.custom_jvp
    def run(*values):
        return _primal(functional, constants, names, values)

    @run.defjvp
    def push(values, tangents):
        given = _given(functional, constants, names, values)
        moving = {name: tangent for name, value, tangent in zip(names, values, tangents) if _is_inexact(value)}
        shapes = _shapes(functional, functional.derivative, given, constants)
        for name, tangent in functional.companion_of.items():
            param = functional.params[name]
            if name in moving:
                given[tangent] = moving[name].astype(param.dtype)
            elif tangent not in shapes:
                given[tangent] = np.zeros(shapes[name].shape if name in shapes else param.element_shape, param.dtype)
        # The outputs by a launch of their own: vmap over tangents (jacfwd) wants outputs that it does not change.
        outputs, done = run(*values), _launch(functional, functional.derivative, given, shapes)
        pushed = {name: done[tangent] for name, tangent in functional.companion_of.items() if tangent in done}
        return outputs, tuple(pushed[name] if name in pushed else _no_tangent(output)
                              for name, output in zip(functional.outputs, outputs))

    return run


def _no_tangent(output):
    if _is_inexact(output):
        return jax.numpy.zeros_like(output)
    return np.zeros(output.shape, jax.dtypes.float0)
