"""Kernels as packed functions of TVM-FFI, which its other languages, and libraries that take such functions, call.

    scale = adrt.tvm_ffi.functions(bundle)["scale"]
    scale(x, 2.0, y)

The wheel is apache-tvm-ffi.
"""

import tvm_ffi

from ._adrt import ArgumentError

__all__ = ["functions", "register"]


def functions(bundle):
    """The bundle's kernels, those of derivatives included, as packed functions by their names.

    Arguments are given by position, all of them, in the order of kernel.params: buffers as tensors, which the kernel writes in
    place, scalars as numbers, vectors and matrices as arrays of numbers. A function gives nothing. A call takes Python's lock,
    and the launch runs without it.

    What a call refuses, and what a launch reports, is TVM-FFI's RuntimeError, with adrt's text.
    """
    return {name: tvm_ffi.convert(_by_position(bundle[name])) for name in bundle}


def register(bundle, prefix="adrt.", override=False):
    """Puts the functions into TVM-FFI's registry, each under the prefix and its name: "adrt.scale.grad". Gives these names.

    override: whether functions that are there already are replaced; elsewhere they are tvm_ffi's RuntimeError.
    """
    packed = {prefix + name: function for name, function in functions(bundle).items()}
    for name, function in packed.items():
        tvm_ffi.register_global_func(name, function, override=override)
    return list(packed)


def _by_position(kernel):
    names = [param.name for param in kernel.params]

    def call(*arguments):
        if len(arguments) != len(names):
            raise ArgumentError(f"kernel '{kernel.name}': given {len(arguments)} arguments, wanted {len(names)}: {', '.join(names)}")
        kernel(**dict(zip(names, arguments)))

    return call
