"""adrt: runs kernels that adc has compiled, and their gradients, on NumPy arrays and tensors, without copies.

    import adrt, numpy
    kernels = adrt.load("relax.adcb")
    x = numpy.linspace(0, 1, 1000, dtype="float32")
    loss, = kernels["relax"](x=x, n=4)
    gradient, = kernels["relax"].grad(x=x, loss=loss, n=4, loss_adj=1.0)

adrt.torch, adrt.jax and adrt.tvm_ffi, which are imported by their names, make kernels functions of PyTorch, of JAX and of
TVM-FFI.

The same bundle runs in an engine, by the loader's C interface. docs/python.md of the project is the guide.
"""

import os

from ._adrt import (ArgumentError, Bundle, Error, Kernel, NoTargetError, NotFoundError, OutOfMemoryError, Parameter, Size,
                    UntrustedError, _forget_devices, devices, load)

__all__ = ["ArgumentError", "Bundle", "Error", "Kernel", "NoTargetError", "NotFoundError", "OutOfMemoryError", "Parameter",
           "Size", "UntrustedError", "devices", "load"]
__version__ = "0.1.0"

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_devices)
del os
