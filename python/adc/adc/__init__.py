"""adc: compiles differentiable parallel kernels, and their gradients, from Python.

    import adc, adrt
    kernel = adrt.load(adc.compile(pathlib.Path("relax.ir"), targets=["cpu"]))["relax"]

Kernels are files of the IR, C++ or shaders, or Python functions that are marked with `adc.kernel`.

The package runs the program `adc`: the one that the environment variable ADC names, one in the package's own folder, or
the first one on PATH. docs/python.md of the project is the guide.
"""

from ._compile import CompileError, CompileWarning, Diagnostic, compile, gradcheck, program, sign_bundle, size
from ._host import (array, atomic_add, atomic_exchange, atomic_max, atomic_min, atomic_sub, ceil, checkpoint, clamp, cross, det,
                    dot, floor, fma, inverse, mat2, mat3, mat4, maximum, minimum, norm, normalize, outer, parallel, random, rint,
                    rsqrt, select, serial, sign, stop_gradient, transpose, trunc, unroll, vec2, vec3, vec4)
from ._kernel import Function, Kernel, function, kernel
from ._types import (alias, boolean, buffer, checked, diff, disjoint, f16, f32, f64, i8, i16, i32, i64, mat, readonly, save,
                     settled, u8, u16, u32, u64, vec, writeonce)

__all__ = ["CompileError", "CompileWarning", "Diagnostic", "Function", "Kernel", "alias", "array", "atomic_add", "atomic_exchange",
           "atomic_max", "atomic_min", "atomic_sub", "boolean", "buffer", "ceil", "checked", "checkpoint", "clamp", "compile",
           "cross", "det", "diff", "disjoint", "dot", "f16", "f32", "f64", "floor", "fma", "function", "gradcheck", "i16", "i32",
           "i64", "i8", "inverse", "kernel", "mat", "mat2", "mat3", "mat4", "maximum", "minimum", "norm", "normalize", "outer",
           "parallel", "program", "random", "readonly", "rint", "rsqrt", "save", "select", "serial", "settled", "sign",
           "sign_bundle", "size", "stop_gradient", "transpose", "trunc", "u16", "u32", "u64", "u8", "unroll", "vec", "vec2", "vec3", "vec4", "writeonce"]
__version__ = "0.1.0"
