"""Compares a kernel that is written in Python with its own function run by Python: values, forward mode and gradient, the
derivatives by central differences of the Python function."""

import numpy as np

STEP = 1e-6


def agree(case, kernel, tolerance=1e-12, slope_tolerance=1e-6, seed=1, **arguments):
    """Buffers are arrays, of f64 where they are differentiated; scalars are numbers."""
    buffers = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
    scalars = {name: value for name, value in arguments.items() if name not in buffers}

    def by_python(by=0.0):
        """What the Python function leaves in the buffers, from arguments moved along the step."""
        moved = {name: value + by * step[name] if name in step else value for name, value in arguments.items()}
        copies = {name: np.array(moved[name]) for name in buffers}
        kernel.python(**{**moved, **copies})
        return copies

    active = [name for name in arguments if "diff" in kernel.parameters[name].attributes]
    random = np.random.default_rng(seed)
    step = {name: np.array(random.standard_normal(np.shape(arguments[name]))) for name in active}
    wanted = by_python()
    got = {name: value.copy() for name, value in buffers.items()}
    kernel(**got, **scalars)
    for name, value in wanted.items():
        np.testing.assert_allclose(got[name], value, rtol=tolerance, atol=tolerance, err_msg=f"{kernel.__name__}: {name}")
    case.assertTrue(any(not np.array_equal(wanted[name], buffers[name]) for name in buffers), f"{kernel.__name__} writes nothing")
    if not active:
        return
    weight = {name: np.array(random.standard_normal(step[name].shape) if name in buffers else 0.0) for name in active}
    ahead, back = by_python(STEP), by_python(-STEP)
    slope = sum(((ahead[name] - back[name]) / (2 * STEP) * weight[name]).sum() for name in active if name in buffers)

    tangents = {f"{name}_tan": step[name].copy() for name in active}
    kernel.jvp(**{name: value.copy() for name, value in buffers.items()}, **scalars, **tangents)
    forward = sum((tangents[f"{name}_tan"] * weight[name]).sum() for name in active)
    np.testing.assert_allclose(forward, slope, rtol=slope_tolerance, atol=slope_tolerance, err_msg=f"{kernel.__name__}: jvp")

    adjoints = {f"{name}_adj": weight[name].copy() for name in active}
    kernel.grad(**got, **scalars, **adjoints)
    reverse = sum((adjoints[f"{name}_adj"] * step[name]).sum() for name in active)
    np.testing.assert_allclose(reverse, forward, rtol=1e-10, atol=1e-10, err_msg=f"{kernel.__name__}: gradient")
    case.assertGreater(abs(slope), 1e-9, f"{kernel.__name__}: nothing depends on the inputs")
