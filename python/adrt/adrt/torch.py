"""Kernels as functions of PyTorch, through which its gradients pass.

    relax = adrt.torch.function(bundle["relax"])
    relax(x=x, n=4).loss.backward()
"""

import collections

import torch

from ._functional import Functional

__all__ = ["function"]


class _Launch(torch.autograd.Function):
    """One call. Tensors come as positions, since autograd sees nothing else."""

    @staticmethod
    def forward(ctx, functional, names, fixed, *tensors):
        values = dict(fixed)
        for name, tensor in zip(names, tensors):
            values[name] = _as_argument(functional, name, tensor)
        written = functional.kernel(**values)
        ctx.functional, ctx.names, ctx.fixed = functional, names, fixed
        ctx.of_inputs = {name: (tensor.dtype, tensor.device) for name, tensor in zip(names, tensors)}
        left = {name: getattr(written, name) for name in functional.outputs + functional.saved}
        outputs = tuple(_as_tensor(left[name]) for name in functional.outputs)
        saved = tuple(_as_tensor(left[name]) for name in functional.saved)
        inputs = [tensor for name, tensor in zip(names, tensors) if name not in left]
        ctx.inputs = [name for name in names if name not in left]
        ctx.save_for_backward(*inputs, *outputs, *saved)
        ctx.mark_non_differentiable(*(tensor for name, tensor in zip(functional.outputs, outputs)
                                      if name not in functional.companion_of))
        return outputs

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *seeds):
        functional, names = ctx.functional, ctx.names
        tensors = dict(zip([*ctx.inputs, *functional.outputs, *functional.saved], ctx.saved_tensors))
        values = {name: value for name, value in ctx.fixed.items() if not functional.is_shape(name, value)}
        values.update((name, _as_argument(functional, name, tensor, copies=False)) for name, tensor in tensors.items())
        for name, seed in zip(functional.outputs, seeds):
            if name in functional.companion_of:
                # The gradient may write it: the kernel consumes the adjoint of what it overwrites.
                values[functional.companion_of[name]] = seed.clone(memory_format=torch.contiguous_format)
        adjoints = functional.derivative(**values)
        gradients = []
        for name, needed in zip(names, ctx.needs_input_grad[3:]):
            adjoint = getattr(adjoints, functional.needs_adjoint(name)) if needed else None
            kind, device = ctx.of_inputs[name]
            gradients.append(None if adjoint is None else _as_tensor(adjoint).to(device=device, dtype=kind))
        return None, None, None, *gradients


def _as_tensor(array):
    return array if isinstance(array, torch.Tensor) else torch.from_numpy(array)


def _as_argument(functional, name, tensor, copies=True):
    """What a call takes of a tensor: of a scalar its value, of a buffer that is written a copy."""
    param = functional.params[name]
    if param.kind == "scalar":
        return tensor.tolist()
    tensor = tensor.detach()
    return tensor.clone(memory_format=torch.contiguous_format) if copies and param.writes else tensor.contiguous()


def function(kernel):
    """The kernel as a function of tensors, which autograd differentiates by the kernel's gradient.

    Arguments are given by name, as in a call of the kernel, and the result is a named tuple of all outputs, which are new
    tensors. Buffers that the kernel reads and writes are copied first; those that it only writes are given as shapes, or
    left out where a call may leave them out. Scalars that are `diff` may be tensors.

    Raises adrt.NotFoundError where the bundle has no gradient of the kernel; the function raises adrt.ArgumentError for a
    tensor that requires a gradient and for whose parameter the gradient has no adjoint.
    """
    functional = Functional(kernel)
    outputs = collections.namedtuple("Outputs", functional.outputs, rename=True)

    def call(**arguments):
        functional.check(arguments)
        tensors = {name: value for name, value in arguments.items() if isinstance(value, torch.Tensor)}
        for name, tensor in tensors.items():
            if tensor.requires_grad and torch.is_grad_enabled():
                functional.needs_adjoint(name)
        fixed = {name: value for name, value in arguments.items() if name not in tensors}
        return outputs(*_Launch.apply(functional, tuple(tensors), fixed, *tensors.values()))

    call.__name__ = kernel.name
    call.__doc__ = f"The kernel {kernel!r} as a function of tensors."
    return call
