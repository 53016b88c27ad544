"""Makes outputs by the library that the arguments are from."""


def zeros(example, shape, dtype):
    """An array of zeros on the device of `example`, of its library; `dtype` is NumPy's name of the type."""
    library = type(example).__module__.partition(".")[0]
    if library == "torch":
        import torch

        return torch.zeros(shape, dtype=getattr(torch, dtype), device=example.device)
    if library == "cupy":
        import cupy

        with example.device:
            return cupy.zeros(shape, dtype)
    if library in ("jax", "jaxlib"):  # its arrays cannot be written
        import numpy

        return numpy.zeros(shape, dtype)
    if hasattr(example, "__array_namespace__"):
        names = example.__array_namespace__()
        return names.zeros(shape, dtype=getattr(names, dtype), device=example.device)
    raise TypeError(f"adrt makes no outputs of the library '{library}': give arrays for them")
