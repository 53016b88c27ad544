"""Kernels as functions of PyTorch, through which its gradients pass.

    relax = adrt.torch.function(bundle["relax"])
    relax(x=x, n=4).loss.backward()
"""

import collections

import torch

from . import _torch_operator
from ._functional import Functional

__all__ = ["function"]


def _with_plain(function):
    """Adds `plain`, the function whose forward is given the context. It is all that versions before PyTorch 2 know. Transforms
    (vmap, torch.func) take only the other form, for which PyTorch inspects the signature of forward at each call."""
    def forward(ctx, *inputs):
        made = function.forward(*inputs)
        function.setup_context(ctx, inputs, made)
        return made

    function.plain = type(function.__name__, (torch.autograd.Function,),
                          {"forward": staticmethod(forward), "backward": staticmethod(function.backward)})
    return function


# Whether vmap or torch.func is under way. PyTorch 2 has a name for it that is not public: without it, it always may be.
_is_transformed = getattr(torch._C, "_are_functorch_transforms_active", lambda: hasattr(torch, "vmap"))


def _is_forward_mode():
    """Whether tensors may have tangents, which no function here passes on: PyTorch says so, if it is asked."""
    return getattr(torch.autograd.forward_ad, "_current_level", 0) >= 0


def _apply(function, *inputs):
    return (function if _is_transformed() else function.plain).apply(*inputs)


# The current stream of a device, a number. PyTorch's quick way to it is not public.
_stream_of = getattr(torch._C, "_cuda_getCurrentRawStream", lambda index: torch.cuda.current_stream(index).cuda_stream)


def _launch(kernel, values):
    """Calls the kernel; on CUDA in PyTorch's stream, where it waits only if sizes or reports have to be read."""
    for value in values.values() if torch.version.cuda else ():
        if isinstance(value, torch.Tensor) and value.is_cuda:
            kernel = kernel._in_stream(_stream_of(value.device.index))
            break
    return kernel(**values)


_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)


def _of_batch(function, functional, size, in_dims, names, fixed, tensors, outputs, rest=()):
    """What the function gives for each of `size` elements: by one launch of all, along the axes that the batch declares, or,
    without a batch, by one after the other, along the first axis."""
    if not functional.batch:
        made = [_apply(function, functional, *rest, fixed, *(tensor if dim is None else tensor.select(dim, at)
                                                           for tensor, dim in zip(tensors, in_dims))) for at in range(size)]
        return tuple(torch.stack(of_output) for of_output in zip(*made)), (0,) * len(outputs)
    whole = []
    for name, tensor, dim in zip(names, tensors, in_dims):
        if name in functional.batch:
            axis = functional.batch[name]
            tensor = tensor.expand(size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
            tensor = tensor.movedim(0, axis).flatten(axis, axis + 1)
        elif dim is not None:
            raise functional.not_of_one_element(name, False)
        whole.append(tensor)
    for name in outputs:
        if name not in functional.batch:
            raise functional.not_of_one_element(name, True)
    grown = {name: functional.of_all(name, value, size) if name in functional.batch and functional.is_shape(name, value)
             else value for name, value in fixed.items()}
    made = _apply(function, functional, *rest, grown, *whole)
    return (tuple(tensor.unflatten(functional.batch[name], (size, -1)) for name, tensor in zip(outputs, made)),
            tuple(functional.batch[name] for name in outputs))


class _Function(Functional):
    """And what a call asks of each parameter, in PyTorch's words, since it asks at each call."""

    def __init__(self, kernel, batch=None):
        super().__init__(kernel, batch=batch)
        self.dtypes = {name: getattr(torch, param.dtype) for name, param in self.params.items()}
        self.scalars = {name for name, param in self.params.items() if param.kind == "scalar"}
        self.written = {name for name, param in self.params.items() if param.writes}
        self.left = self.outputs + self.saved
        self.seeded = [name for name in self.outputs if name in self.companion_of]
        # For torch.compile, where the shapes of all that a call gives are known before it.
        self.key = _torch_operator.key_of(self) if _torch_operator.IS_KNOWN and not self.saved and not self.batch else None

    def launch(self, names, fixed, *tensors):
        return _Launch.forward(self, names, fixed, *tensors)

    def differentiate(self, left, needed, of_inputs, fixed, tensors):
        for name in needed:
            self.needs_adjoint(name)
        return _Gradient.forward(self, (left, self.seeded, needed, of_inputs), fixed, *tensors)


@_with_plain
class _Launch(torch.autograd.Function):
    """One call. Tensors come as positions, since autograd sees nothing else. Gives outputs and saved values."""

    @staticmethod
    def forward(functional, names, fixed, *tensors):
        values = dict(fixed)
        for name, tensor in zip(names, tensors):
            values[name] = _as_argument(functional, name, tensor)
        written = _launch(functional.kernel, values)
        return tuple([_as_tensor(getattr(written, name)) for name in functional.left])

    @staticmethod
    def setup_context(ctx, inputs, made):
        functional, names, fixed, *tensors = inputs
        ctx.functional, ctx.names, ctx.fixed = functional, names, fixed
        ctx.of_inputs = {name: (tensor.dtype, tensor.device) for name, tensor in zip(names, tensors)}
        left = functional.left
        ctx.inputs = [name for name in names if name not in left]
        ctx.save_for_backward(*[tensor for name, tensor in zip(names, tensors) if name not in left], *made)
        if len(functional.seeded) < len(left):
            ctx.mark_non_differentiable(*(tensor for name, tensor in zip(left, made) if name not in functional.companion_of))

    @staticmethod
    def vmap(info, in_dims, functional, names, fixed, *tensors):
        return _of_batch(_Launch, functional, info.batch_size, in_dims[3:], names, fixed, tensors,
                         functional.left, (names,))

    @staticmethod
    def backward(ctx, *seeds):
        functional, names = ctx.functional, ctx.names
        left = [*ctx.inputs, *functional.left]
        given = [seed for name, seed in zip(functional.outputs, seeds) if name in functional.companion_of]
        needed = [name for name, is_needed in zip(names, ctx.needs_input_grad[3:]) if is_needed]
        for name in needed:
            functional.needs_adjoint(name)
        inputs = functional, (left, functional.seeded, needed, ctx.of_inputs), ctx.fixed, *ctx.saved_tensors, *given
        once = not torch.is_grad_enabled() and not _is_transformed()  # nothing differentiates the gradient
        found = dict(zip(needed, _Gradient.forward(*inputs) if once else _apply(_Gradient, *inputs)))
        return None, None, None, *map(found.get, names)


@_with_plain
class _Gradient(torch.autograd.Function):
    """One call of the gradient, which forward mode of kernel and gradient differentiates once more.

    The gradient is J' s of the Jacobian J and the seed s. Its derivative by the inputs, applied to v, is that of
    s' J by the inputs in the direction v, since second derivatives are symmetric: what the gradient's forward mode gives.
    Its derivative by s, applied to v, is J v: what the kernel's gives.
    """

    @staticmethod
    def forward(functional, roles, fixed, *tensors):
        left, seeded, needed, of_inputs = roles
        values = _values_of_gradient(functional, left, seeded, fixed, tensors)
        adjoints = _launch(functional.derivative, values)
        return tuple([_as_tensor(getattr(adjoints, functional.companion_of[name])).to(
            dtype=of_inputs[name][0], device=of_inputs[name][1]) for name in needed])

    @staticmethod
    def setup_context(ctx, inputs, made):
        ctx.functional, ctx.roles, ctx.fixed, *tensors = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def vmap(info, in_dims, functional, roles, fixed, *tensors):
        left, seeded, needed, _ = roles
        names = [*left, *(functional.companion_of[name] for name in seeded)]
        adjoints = [functional.companion_of[name] for name in needed]
        return _of_batch(_Gradient, functional, info.batch_size, in_dims[3:], names, fixed, tensors, adjoints, (roles,))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *directions):
        functional, fixed, tensors = ctx.functional, ctx.fixed, ctx.saved_tensors
        left, seeded, needed, of_inputs = ctx.roles
        kernel, gradient = functional.second_derivatives()
        inputs = dict(zip(left, tensors))
        if any(name in of_inputs for name in functional.outputs):
            raise RuntimeError(f"kernel '{functional.kernel.name}' overwrites an input, and is differentiated twice: call it "
                               "and its derivatives yourself")
        directed = dict(zip(needed, directions))
        tangents, device = {}, inputs[functional.outputs[0]].device
        for name, tangent in kernel.items():
            if name not in functional.outputs:
                shape = inputs[name].shape if name in inputs else functional.params[name].element_shape
                direction = directed[name] if name in directed else torch.zeros(shape)
                kind = getattr(torch, functional.params[name].dtype)
                tangents[tangent] = direction.to(device=device, dtype=kind).contiguous()
        values = {name: _as_argument(functional, name, tensor) for name, tensor in inputs.items() if name in of_inputs}
        pushed = _launch(functional.kernel.jvp, {**values, **fixed, **tangents})
        moved = {name: _as_tensor(getattr(pushed, kernel[name])) for name in functional.outputs if name in kernel}

        values = _values_of_gradient(functional, left, seeded, fixed, tensors)
        tangents.update((kernel[name], tensor) for name, tensor in moved.items())
        for name, tangent in gradient.items():  # of the adjoints: at first zero
            shape = inputs[name].shape if name in inputs else functional.params[name].element_shape
            tangents[tangent] = torch.zeros(shape, dtype=getattr(torch, functional.params[name].dtype), device=device)
        second = _launch(functional.derivative.jvp, {**values, **tangents})
        of_left = [_as_tensor(getattr(second, gradient[name])).to(tensor) if name in needed else None
                   for name, tensor in inputs.items()]
        return None, None, None, *of_left, *(moved[name] for name in seeded)


def _values_of_gradient(functional, left, seeded, fixed, tensors):
    """Arguments of the gradient: what the kernel got and left, and the seeds: copies of those that the gradient consumes,
    which are the adjoints of what the kernel overwrites."""
    values = {name: value for name, value in fixed.items() if not functional.is_shape(name, value)}
    for name, tensor in zip(left, tensors):
        values[name] = _as_argument(functional, name, tensor, copies=False)
    for name, seed in zip(seeded, tensors[len(left):]):
        adjoint = functional.companion_of[name]
        values[adjoint] = _memory(seed, functional.dtypes[name], adjoint in functional.written_by_derivative)
    return values


def _has_numpy():
    try:
        torch.empty(0).numpy()
    except RuntimeError:  # PyTorch without NumPy
        return False
    return True


_HAS_NUMPY = _has_numpy()


def _full(value, dtype):
    return torch.full((1,), value, dtype=getattr(torch, dtype))


def _as_tensor(array):
    return array if isinstance(array, torch.Tensor) else torch.from_numpy(array)


def _as_argument(functional, name, tensor, copies=True):
    """What a call takes of a tensor: of a scalar its value, of a buffer that is written a copy."""
    if name in functional.scalars:
        return tensor.tolist()
    return _memory(tensor, functional.dtypes[name], copies and name in functional.written)


def _memory(tensor, dtype, is_written):
    """The tensor's memory, or a copy's, as a call takes it soonest: on the CPU as an array of NumPy's. Other types stay, for the
    call to refuse."""
    tensor = tensor.detach()
    tensor = tensor.clone(memory_format=torch.contiguous_format) if is_written else tensor.contiguous()
    return tensor.numpy() if _HAS_NUMPY and tensor.is_cpu and tensor.dtype is dtype else tensor


def function(kernel, batch=None):
    """The kernel as a function of tensors, which autograd differentiates by the kernel's gradient.

    Arguments are given by name, as in a call of the kernel, and the result is a named tuple of all outputs, which are new
    tensors. Buffers that the kernel reads and writes are copied first; those that it only writes are given as shapes, or
    left out where a call may leave them out. Scalars that are `diff` may be tensors.

    Raises adrt.NotFoundError where the bundle has no gradient of the kernel; the function raises adrt.ArgumentError for a
    tensor that requires a gradient and for whose parameter the gradient has no adjoint. The function can be differentiated
    twice if the bundle has the kernel's forward mode and its gradient's (adc --derive='grad,jvp,jvp(grad)').

    torch.vmap, of PyTorch 2, runs one launch after the other, unless `batch` names the parameters that have an axis for the
    elements of a batch: ("x", "loss") their first axis, {"x": 1, "loss": 0} these. All that the kernel writes must be among
    them. The function then is that of one element, whose tensors and shapes have no such axis, and vmap makes one launch of
    all elements.
    """
    functional = _Function(kernel, batch)
    outputs = collections.namedtuple("Outputs", functional.outputs, rename=True)
    key, shapes = functional.key, frozenset(functional.written)

    def call(**arguments):
        if key and _is_compiling() and not _is_transformed():
            made = _torch_operator.call(key, arguments, shapes)
            if made is not None:
                return outputs(*made)
        functional.check(arguments)
        if functional.batch:
            arguments = functional.of_one_element(arguments, torch.unsqueeze, _full)
        tensors = {name: value for name, value in arguments.items() if isinstance(value, torch.Tensor)}
        differentiated = [name for name, tensor in tensors.items() if tensor.requires_grad] if torch.is_grad_enabled() else ()
        for name in differentiated:
            functional.needs_adjoint(name)
        fixed = {name: value for name, value in arguments.items() if name not in tensors}
        inputs = functional, tuple(tensors), fixed, *tensors.values()
        is_tracked = differentiated or _is_transformed() or _is_forward_mode()
        made = _apply(_Launch, *inputs) if is_tracked else _Launch.forward(*inputs)
        return outputs(*[tensor.squeeze(functional.batch[name]) if name in functional.batch else tensor
                         for name, tensor in zip(functional.outputs, made)])

    call.__name__ = kernel.name
    call.__doc__ = f"The kernel {kernel!r} as a function of tensors."
    return call
