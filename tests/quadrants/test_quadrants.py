"""Kernels in the language of Quadrants: adc compiles what Quadrants prints of them. Values and gradients of both stand
beside the same kernels as plain Python with a complex step, and the table says where either is wrong.

The test fails where adc is wrong or where the translation does not work; where Quadrants is wrong, the table says so."""

import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]
from support import WORK, fetched, main, skip_unless_built, skip_without  # noqa: E402

skip_unless_built()
fetched("quadrants==1.3.3")
skip_without("quadrants")
import adc  # noqa: E402
import adrt  # noqa: E402
import numpy as np  # noqa: E402
import plain  # noqa: E402

sys.modules["quadrants"] = plain  # which runs the kernels as plain Python
from kernels import CASES  # noqa: E402
from translate import Field, NotTranslated, translated  # noqa: E402

STEP = 1e-30
NEAR = 1e-9


class Case:
    """A kernel, numbers for its fields, and what plain Python says of values and gradient."""

    def __init__(self, name, fields, function):
        random = np.random.default_rng(zlib.crc32(name.encode()))
        self.name, self.fields, self.function = name, fields, function
        self.start = {}
        for key, field in fields.items():
            shape = (*field["shape"], *field["of"])
            self.start[key] = (random.uniform(field["low"], field["high"], shape) if field["diff"]
                               else np.array(field["values"], "int32"))
        self.diff = [key for key, field in fields.items() if field["diff"]]
        self.values = self.run(self.start)
        self.written = [key for key in self.diff if not np.array_equal(self.values[key], self.start[key])]
        self.weights = {key: random.uniform(0.5, 1.5, self.start[key].shape) for key in self.written}
        self.gradient = {key: self.steps(key) for key in self.diff}

    def run(self, start):
        """The fields after the kernel, as plain Python: complex where they have a gradient."""
        arrays = {key: array.astype(complex) if self.fields[key]["diff"] else array.copy() for key, array in start.items()}
        self.function(*(plain.Field(array, len(self.fields[key]["shape"])) for key, array in arrays.items()))
        return arrays

    def loss(self, values):
        return sum(np.sum(weights * values[key]) for key, weights in self.weights.items())

    def adjoints(self):
        """Where the gradient starts: the weights of what the kernel writes, and zeros."""
        return {f"{key}_adj": self.weights.get(key, np.zeros(self.start[key].shape)) for key in self.diff}

    def steps(self, key):
        """The derivative of the loss by each element, by a complex step."""
        gradient = np.zeros(self.start[key].shape)
        for at in np.ndindex(gradient.shape):
            moved = dict(self.start, **{key: self.start[key].astype(complex)})
            moved[key][at] += 1j * STEP
            gradient[at] = self.loss(self.run(moved)).imag / STEP
        return gradient

    def difference(self, key, at, step=1e-6):
        """The same of one element by central differences."""
        sides = []
        for by in step, -step:
            moved = dict(self.start, **{key: self.start[key].copy()})
            moved[key][at] += by
            sides.append(self.loss(self.run(moved)).real)
        return (sides[0] - sides[1]) / (2 * step)


def error(found, wanted):
    """The largest difference of two dictionaries of arrays, relative to the largest number where that is above one."""
    worst = 0.0
    for key, array in wanted.items():
        scale = max(1.0, np.max(np.abs(array), initial=0.0))
        far = np.max(np.abs(found[key] - array.real), initial=0.0) / scale
        worst = max(worst, far if np.isfinite(far) else np.inf)
    return worst


class InQuadrants:
    """What Quadrants makes of a case: values, the gradient or why there is none, and the kernel as text of adc."""

    def __init__(self, case):
        folder = WORK / case.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        np.savez(folder / f"{case.name}.start.npz", **case.start, **case.adjoints())
        ran = subprocess.run([sys.executable, "-W", "ignore", str(HERE / "in_quadrants.py"), case.name, str(folder)],
                             env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True)
        if not (folder / f"{case.name}.places.json").exists():
            raise AssertionError(f"Quadrants does not run the kernel:\n{ran.stdout}{ran.stderr}")
        self.values = np.load(folder / f"{case.name}.values.npz")
        self.gradient, self.refusal = None, None
        if ran.returncode == 0:
            self.gradient = np.load(folder / f"{case.name}.gradient.npz")
        else:
            self.refusal = "ends the process" if ran.returncode < 0 else (ran.stderr.strip().splitlines() or [""])[-1][:60]
        self.text = self.translated(case, folder)
        (folder / f"{case.name}.ir").write_text(self.text, encoding="utf-8")

    @staticmethod
    def translated(case, folder):
        dump, = (path for path in (folder / "dumps").iterdir()
                 if re.fullmatch(rf"{case.name}_c\d+_0_before_simplify_I\.ll", path.name))
        places, cells = {}, {}
        for key, (place, dense) in json.loads((folder / f"{case.name}.places.json").read_text(encoding="utf-8")).items():
            about = case.fields[key]
            field = Field(key, "f64" if about["diff"] else "i32", len(about["shape"]), int(np.prod(about["of"], dtype=int)),
                          about["attributes"])
            places[f"S{place}place<{field.scalar}>"] = cells[f"S{dense}dense"] = field
        return translated(dump.read_text(encoding="utf-8"), case.name, places, cells)


def by_adc(case, text, saved):
    """Values and gradient of the kernel as adc compiles it."""
    options = ["--save-overwritten"] if saved else []
    kernel = adrt.load(adc.compile(text, targets=["cpu"], derive=["grad"], options=options))[case.name]
    flat = {key: array.reshape(array.shape[:len(about["shape"])] + ((-1,) if about["of"] else ())).copy()
            for (key, about), array in zip(case.fields.items(), case.start.values(), strict=True)}
    result = kernel(**flat)
    adjoints = {key: array.reshape(flat[key.removesuffix("_adj")].shape).copy() for key, array in case.adjoints().items()}
    arguments = {**flat, **adjoints}
    for parameter in kernel.grad.params:
        if parameter.name not in arguments:  # what the kernel has saved for its gradient
            arguments[parameter.name] = getattr(result, parameter.name)
    kernel.grad(**arguments)
    return ({key: array.reshape(case.start[key].shape) for key, array in flat.items()},
            {key: adjoints[f"{key}_adj"].reshape(case.start[key].shape) for key in case.diff})


class Quadrants(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = []

    @classmethod
    def tearDownClass(cls):
        version = importlib.metadata.version("quadrants")
        print(f"\n{'kernel':22} {'adc: value':>11} {'gradient':>9} {f'Quadrants {version}: value':>23} {'gradient':>9}  verdict")
        for row in cls.rows:
            print(row)

    def compare(self, name):
        function, fields, saved = CASES[name]
        case = Case(name, fields, function)
        self.check_the_step(case)
        theirs = InQuadrants(case)
        values, gradient = by_adc(case, theirs.text, saved)
        ours = error(values, case.values), error(gradient, case.gradient)
        self.rows.append(f"{name:22} {ours[0]:11.1e} {ours[1]:9.1e} {self.of_quadrants(case, theirs)}")
        self.assertLessEqual(ours[0], NEAR)
        self.assertLessEqual(ours[1], NEAR)

    def check_the_step(self, case):
        """Complex steps against central differences: an element of five."""
        self.assertTrue(case.written)
        for key in case.diff:
            for at in list(np.ndindex(case.start[key].shape))[::5]:
                np.testing.assert_allclose(case.difference(key, at), case.gradient[key][at], rtol=1e-5, atol=1e-5)

    @staticmethod
    def of_quadrants(case, theirs):
        value = error(theirs.values, case.values)
        if theirs.gradient is None:
            return f"{value:23.1e} {'-':>9}  Quadrants has no gradient: {theirs.refusal}"
        # The adjoint of a field that is only written is of no use to a caller: the two systems leave different things in it.
        read = {key: case.gradient[key] for key in case.diff if case.fields[key]["high"] > case.fields[key]["low"]}
        slope = error(theirs.gradient, read)
        return f"{value:23.1e} {slope:9.1e}  {'both right' if max(value, slope) <= NEAR else 'QUADRANTS IS WRONG'}"

    def test_a_line_that_is_not_known_is_refused(self):
        with self.assertRaisesRegex(NotTranslated, "print"):
            translated("kernel {\n  <i32> $1 = const 1\n  print $1\n}\n", "k", {}, {})


def add_tests():
    for name in CASES:
        setattr(Quadrants, f"test_{name}", lambda self, name=name: self.compare(name))


add_tests()
if __name__ == "__main__":
    main()
