"""Kernels in Python and the same ones in C++: equal in values, gradients, stacks and heaps."""

import re
import unittest

from support import ROOT, main, skip_unless_built, skip_without

skip_unless_built()
np = skip_without("numpy")

import adc  # noqa: E402
import adrt  # noqa: E402
import twins  # noqa: E402
from kernel_support import agree  # noqa: E402

OWN = ROOT / "tests/python/twins.cpp"
SAMPLES = {name: ROOT / f"samples/cpp/{name}.cpp" for name in ("relax", "csr_reduce", "sph_density", "cloth_springs",
                                                               "forward_kinematics")}
RANDOM = np.random.default_rng(7)
CSR = {"start": np.array([0, 3, 3, 7, 9], "i"), "column": np.array([0, 2, 4, 1, 1, 3, 0, 4, 2], "i")}


def reals(*shape, low=0.2, high=1.4, kind="d"):
    return RANDOM.uniform(low, high, shape).astype(kind)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def zeros(*shape, kind="d"):
    return np.zeros(shape, kind)


def copied(arguments):
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in arguments.items()}


CASES = {
    "relax": {"x": reals(9, kind="f"), "loss": zeros(kind="f"), "n": 12},
    "csr_reduce": {**CSR, "value": reals(9, kind="f"), "x": reals(5, kind="f"), "y": zeros(4, kind="f")},
    "sph_density": {"start": CSR["start"], "neighbour": np.array([1, 2, 3, 0, 1, 3, 0, 1, 2], "i"),
                    "position": reals(4, 3, kind="f"), "density": zeros(4, kind="f"), "loss": zeros(kind="f"), "mass": 0.5, "h": 1.1,
                    "at_rest": 2.0},
    "cloth_springs": {"position": reals(4, 5, 3, kind="f"), "velocity": reals(4, 5, 3, kind="f"), "force": zeros(4, 5, 3, kind="f"),
                      "spring_stiffness": 30.0, "spring_damping": 0.5, "stiffness": 2.0, "rest": 0.4, "gravity": [0.0, -9.81, 0.0]},
    "forward_kinematics": {"parent": np.array([-1, 0, 1, 1, 3], "i"), "axis": unit(reals(5, 3)).astype("f"),
                           "offset": reals(5, 3, kind="f"), "angle": reals(3, 5, kind="f"), "position": zeros(3, 5, 3, kind="f"),
                           "rotation": zeros(3, 5, 4, kind="f")},
    "quadrotor": {"start": reals(3, 3), "thrust": reals(3, 20, 4, low=2.0, high=3.0), "goal": reals(3, 3), "loss": zeros(),
                  "mass": 1.1, "arm": 0.2, "dt": 0.02},
    "mpm_grid": {"mass": np.where(reals(5, 4, 6) > 0.5, reals(5, 4, 6), -1.0),  # no mass, also of a step beside it
                 "momentum": reals(5, 4, 6, 3, low=-1.0), "velocity": zeros(5, 4, 6, 3),
                 "gravity": [0.0, 0.0, -9.81], "dt": 0.01, "friction": 0.4, "wall": 2},
    "bundle_adjustment": {"camera_of": np.array([0, 1, 0, 1, 1, 2], "i"), "point_of": np.array([0, 0, 1, 2, 3, 3], "i"),
                          "seen": reals(6, 2), "camera": np.concatenate([reals(3, 9, low=-0.3, high=0.3)[:, :3] *
                                                                         np.array([[1.0], [1.0], [0.0]]), reals(3, 6)], 1),
                          "point": reals(4, 3, high=3.0), "loss": zeros(), "width": 0.5},
    "contact": {"pair": np.array([[0, 1], [1, 2], [0, 3], [2, 3]], "i"), "position": reals(4, 3), "velocity": reals(4, 3, low=-1.0),
                "radius": reals(4), "force": zeros(4, 3), "stiffness": 50.0, "damping": 2.0, "friction": 0.3},
    "attention": {"query": reals(3, 4), "key": reals(5, 4), "value": reals(5, 4), "out": zeros(3, 4)},
    "ray_march": {"direction": unit(reals(6, 3, low=-0.4, high=0.4) + np.array([0.0, 0.0, -1.5])), "eye": [0.0, 0.0, 3.0],
                  "radius": 0.9, "depth": zeros(6), "most": 40},
    "delay_line": {"input": reals(2, 40), "output": zeros(2, 40), "feedback": 0.7, "damp": 0.4, "delay": 7},
}
DERIVE = ["grad", "jvp"]


class Twins(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.own = adc.compile(OWN, targets="cpu", derive=DERIVE, options=["-w"])

    def both(self, name):
        """The bundles of the Python kernel and of the C++ kernel, and the arguments of each."""
        kernel = getattr(twins, name)
        twin = adc.compile(SAMPLES[name], targets="cpu", derive=DERIVE, options=["-w"]) if name in SAMPLES else self.own
        bundles = [kernel.compile(targets="cpu", derive=DERIVE, options=["-w"]), twin]
        spelled = {"spring_stiffness": "spring.stiffness", "spring_damping": "spring.damping"}
        arguments = [CASES[name], {spelled.get(one, one): value for one, value in CASES[name].items()}]
        return bundles, arguments

    def results(self, bundle, name, arguments):
        """All that the kernel, its gradient and its forward mode write."""
        kernel = adrt.load(bundle)[name]
        given = copied(arguments)
        found = list(kernel(**given))
        random = np.random.default_rng(3)
        weights = {one.name[:-4]: np.array(random.uniform(-1, 1, np.shape(arguments[one.primal])), one.dtype)
                   for one in kernel.grad.params if one.role == "adjoint"}
        adjoints = {f"{one}_adj": value.copy() for one, value in weights.items()}
        kernel.grad(**given, **adjoints)
        tangents = {f"{one}_tan": value.copy() for one, value in weights.items()}
        kernel.jvp(**copied(arguments), **tangents)
        self.assertTrue(any(np.any(adjoints[f"{one}_adj"] != value) for one, value in weights.items()), name)
        return [np.asarray(one) for one in (*found, *adjoints.values(), *tangents.values())]

    def sizes(self, kernel, bundle, arguments):
        """What the gradient takes: tasks, stacks and their formulas, bytes; without places, and names, which languages make."""
        shapes = {one: np.shape(arguments[one])[:type.rank] for one, type in kernel.parameters.items() if type.rank}
        scalars = {one: value for one, value in arguments.items() if isinstance(value, (int, float))}
        entry, = adc.size(bundle, kernel=f"{kernel.__name__}.grad", shapes=shapes, arguments=scalars, options=["--threads=4"])
        for task in entry["tasks"]:
            for one in (task, *task["stacks"]):
                del one["place"]
            for stack in task["stacks"]:
                del stack["value"]
                # An estimate of an iteration's work, in which C++ may have a `not` more.
                stack["formula"] = re.sub(r", \d+\) <=", ", work) <=", stack["formula"])
        return entry

    def test_values(self):
        for name in CASES:
            with self.subTest(name):
                bundles, arguments = self.both(name)
                got, wanted = (self.results(bundle, name, given) for bundle, given in zip(bundles, arguments))
                self.assertEqual(len(got), len(wanted))
                self.assertTrue(any(np.any(one) for one in got))
                for one, other in zip(got, wanted):
                    tolerance = 2e-5 if one.dtype == np.float32 else 1e-12
                    np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)

    def test_by_python(self):
        """Those of f64 against the Python function itself, and central differences of it."""
        count = 0
        for name, arguments in CASES.items():
            if not any(isinstance(value, np.ndarray) and value.dtype == np.float32 for value in arguments.values()):
                with self.subTest(name):
                    agree(self, getattr(twins, name), slope_tolerance=2e-5, **copied(arguments))
                    count += 1
        self.assertEqual(count, 7)

    def test_sizes(self):
        stacks = 0
        for name in CASES:
            with self.subTest(name):
                bundles, arguments = self.both(name)
                got, wanted = (self.sizes(getattr(twins, name), bundle, given) for bundle, given in zip(bundles, arguments))
                self.assertEqual(got, wanted)
                stacks += sum(len(task["stacks"]) for task in got["tasks"])
        self.assertGreater(stacks, 5)


if __name__ == "__main__":
    main()
