"""adc: compiles differentiable parallel kernels, and their gradients, from Python.

    import adc, adrt
    kernel = adrt.load(adc.compile(pathlib.Path("relax.ir"), targets=["cpu"]))["relax"]

The package runs the program `adc`: the one that the environment variable ADC names, one in the package's own folder, or
the first one on PATH. docs/python.md of the project is the guide.
"""

from ._compile import CompileError, CompileWarning, Diagnostic, compile, gradcheck, program, size

__all__ = ["CompileError", "CompileWarning", "Diagnostic", "compile", "gradcheck", "program", "size"]
__version__ = "0.1.0"
