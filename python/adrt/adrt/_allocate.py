"""Makes outputs by the library that the arguments are from."""


def filled(example, shape, dtype, number):
    """An array of one number on the device of `example`, of its library; `dtype` is NumPy's name of the type."""
    library = type(example).__module__.partition(".")[0]
    if library == "torch":
        import torch

        kind = getattr(torch, dtype)
        return example.new_full(shape, number, dtype=kind) if number else example.new_zeros(shape, dtype=kind)
    if library == "cupy":
        import cupy

        with example.device:
            return cupy.full(shape, number, dtype)
    if library in ("jax", "jaxlib"):  # its arrays cannot be written
        import numpy

        return numpy.full(shape, number, dtype)
    if hasattr(example, "__array_namespace__"):
        names = example.__array_namespace__()
        return names.full(shape, number, dtype=getattr(names, dtype), device=example.device)
    raise TypeError(f"adrt makes no arrays of the library '{library}': give arrays for outputs, and for numbers in buffers")
