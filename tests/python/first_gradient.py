"""What tests/python/test_wheel.py runs in a fresh environment with both wheels and nothing else, NumPy neither: compiles
relax from each source that the command line names, and holds its gradient against the closed form. Prints JSON.

    first_gradient.py RELAX...
"""

import array
import json
import math
import pathlib
import sys
import time

began = time.perf_counter()
import adrt  # noqa: E402

imported = time.perf_counter() - began
import adc  # noqa: E402


def difference(path):
    """How far the gradient of two steps is from cos(x) * cos(sin(x) + 0.1)."""
    kernel = adrt.load(adc.compile(path, targets="cpu"))["relax"]
    x = array.array("f", [-1.5, -0.25, 0.0, 0.75, 2.0])
    got, zeros, ones = (array.array("f", [value] * len(x)) for value in (0.0, 0.0, 1.0))
    if path.suffix == ".comp":
        kernel.grad(x=x, y=zeros, n=2, count=len(x), invocations_x=len(x), x_adj=got, y_adj=ones)
    else:
        kernel.grad(x=x, loss=0.0, n=2, x_adj=got, loss_adj=1.0)
    return max(abs(math.cos(v) * math.cos(math.sin(v) + 0.1) - g) for v, g in zip(x, got, strict=True))


if __name__ == "__main__":
    found = {path: difference(pathlib.Path(path)) for path in sys.argv[1:]}
    print(json.dumps({"import": imported, "adrt": adrt.__file__, "program": adc.program(), "differences": found}))
