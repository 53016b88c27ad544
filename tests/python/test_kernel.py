"""Kernels that are written in Python: each construct against the same function run by Python."""

import contextlib
import enum
import importlib.util
import inspect
import io
import json
import math
import pathlib
import re
import subprocess
import unittest
from types import SimpleNamespace

from support import WORK, main, skip_unless_built, skip_without

skip_unless_built()
np = skip_without("numpy")

import adc  # noqa: E402
import adrt  # noqa: E402
import everyday_kernels as everyday  # noqa: E402
import natural_kernels as natural  # noqa: E402
import refused_kernels  # noqa: E402
from kernel_support import agree  # noqa: E402

X = adc.buffer[adc.f64, 1, adc.diff]
Loss = adc.buffer[adc.f64, 0, adc.diff]
Whole = adc.buffer[adc.i32, 1]
Points = adc.buffer[adc.vec[adc.f64, 3], 1, adc.diff]
GAIN, TABLE = 0.75, (0.5, 1.5, 2.5)
engine = SimpleNamespace(gravity=9.81)


class Mode(enum.IntEnum):
    SOFT = 1
    HARD = 2


class Side(enum.Enum):
    LEFT = -1.0


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).uniform(0.2, 1.8, shape)


@adc.kernel
def loops(x: X, y: X, n: adc.i32):
    for i in adc.parallel(x.shape[0]):
        total = 0.0
        for a in range(n):
            total += x[i] * a_float(a)
        for b in range(1, n, 2):
            total = total + math.sin(x[i] * a_float(b))
        for c in range(n, 0, -1):
            total = 0.5 * total + a_float(c) * x[i]
        for d in range(n, -2, -3):
            total = math.cos(total) + a_float(d)
        for e in range(3, 3):
            total = 100.0
        y[i] = total


@adc.function
def a_float(a):
    return adc.f64(a)


@adc.kernel
def leaves(x: X, y: X, n: adc.i32):
    for i in adc.parallel(x.shape[0]):
        v = x[i]
        count = 0
        for t in range(n):
            if t == 2:
                continue
            for u in range(t):
                if v > 3.0:
                    break
                v = v * 1.25
            if v > 5.0:
                v -= 0.5
                break
            elif v > 2.0 and t % 2 == 0:
                v += 0.125 * x[i]
                continue
            else:
                v *= 1.5
            count += 1
        y[i] = v + adc.f64(count)


@adc.kernel
def whiles(x: X, y: X):
    for i in adc.parallel(x.shape[0]):
        v, steps = x[i], 0
        while v < 20.0:
            v = v * v + 0.5
            steps += 1
            if steps > 12:
                break
        while True:
            v = math.sqrt(v)
            if v < 1.5:
                break
        while not (steps <= 0):
            steps -= 1
            v += 0.01
        y[i] = v


@adc.kernel
def branches(x: X, y: X):
    for i in adc.parallel(x.shape[0]):
        v = x[i]
        if v < 0.5:
            w = v * v
        elif v < 1.0:
            w = math.exp(v)
        elif v < 1.2 or v > 1.6:
            w = 2.0 - v
        else:
            w = 3.0
        flip = -1.0 if i % 2 == 0 else 1.0
        small = 0.25 <= v < 0.9
        bonus = math.log(v) if small else v / 3.0
        if small and not v > 0.8:
            bonus += 1.0
        y[i] = w * flip + bonus


@adc.kernel
def guards(start: Whole, x: X, y: X):
    """The second operand reads out of range where the first one decides."""
    for i in adc.parallel(y.shape[0]):
        k = start[i]
        if k >= 0 and x[k] > 0.5:
            y[i] = x[k] * x[k]
        if k < 0 or x[k] < 0.25:
            y[i] = y[i] * 3.0


@adc.kernel
def integers(a: Whole, b: Whole, c: adc.buffer[adc.i32, 2]):
    for i in adc.parallel(a.shape[0]):
        p, q = a[i], b[i]
        c[i, 0] = p // q
        c[i, 1] = p % q
        c[i, 2] = (p & q) | (p ^ 12)
        c[i, 3] = (p << 2) >> 1
        c[i, 4] = ~p
        c[i, 5] = -p + +q
        c[i, 6] = abs(p) ** 2
        c[i, 7] = min(p, q, 3)
        c[i, 8] = max(p, q) - 7 // 2 + -7 // 2 + -7 % 3
        c[i, 9] = int(adc.f64(p) / 2.0)
        c[i, 10] = math.floor(adc.f64(p) / 2.0)
        c[i, 11] = math.ceil(adc.f64(p) / 2.0) + round(adc.f64(p) / 2.0) + math.trunc(adc.f64(p) / 2.0)
        c[i, 12] = adc.i32(p > q) + adc.i32(adc.boolean(p) and adc.boolean(q))
        c[i, 13] = adc.i32(adc.i64(p) * adc.i64(3) - 2)
        c[i, 14] = adc.i32(2.9) + adc.i32(-2.9)


@adc.kernel
def long_ranges(bounds: Whole, y: adc.buffer[adc.i64, 1]):
    for i in range(bounds[0], bounds[1], -1000000000):
        y[0] = y[0] * 7 + adc.i64(i)
    for i in range(2147483647, -2147483648, -1000000000):
        y[1] = y[1] * 7 + adc.i64(i)
    for i in range(bounds[1], bounds[0], -1000000000):
        y[2] = 1
    for i in range(bounds[1], bounds[0], 1000000000):
        y[3] = y[3] * 7 + adc.i64(i)
    for i in range(adc.i64(bounds[0]) * 2, adc.i64(bounds[1]), -1500000000):
        y[4] = y[4] * 7 + i
    for i in range(adc.i64(3000000000), adc.i64(3000000004)):
        y[5] = y[5] * 7 + i


@adc.kernel
def float_operators(x: X, y: X):
    for i in adc.parallel(x.shape[0]):
        v = x[i] - 1.0
        y[i] = (v // 0.3) + v % 0.3 + v ** 3 + x[i] ** 1.5 + x[i] ** -1 + 2 ** x[i] + -v * 2 + 1 / x[i] + abs(v)
        y[i] += 1.0 / 3.0 * min(v, 0.25) + max(v, x[i] * x[i], 1)


@adc.kernel
def float_quotients(x: X, d: X, y: adc.buffer[adc.f64, 2]):
    for i in adc.parallel(x.shape[0]):
        y[i, 0] = x[i] // d[i]
        y[i, 1] = x[i] % d[i]
        y[i, 2] = math.fmod(x[i], d[i])


@adc.kernel
def functions(x: X, y: X):
    for i in adc.parallel(x.shape[0]):
        v = x[i] / 2.0
        a = math.sin(v) + math.cos(v) * math.tan(v) + math.asin(v) - math.acos(v) + math.atan(v) + math.atan2(v, 0.5)
        b = math.sinh(v) + math.cosh(v) + math.tanh(v) + math.asinh(v) + math.acosh(1.0 + v) + math.atanh(v)
        c = math.exp(v) + math.exp2(v) + math.expm1(v) + math.log(v) + math.log2(v) + math.log10(v) + math.log1p(v)
        d = math.sqrt(v) + math.cbrt(v) + math.erf(v) + math.erfc(v) + math.pow(v, 0.7) + math.hypot(v, 2.0)
        e = math.copysign(v, -1.0) + math.fabs(v - 0.5) + math.fmod(v, 0.3) + adc.rsqrt(v) + adc.clamp(v, 0.2, 0.4)
        f = adc.floor(3.0 * v) + adc.ceil(v) + adc.trunc(5.0 * v) + adc.rint(7.0 * v) + adc.sign(v - 0.5) + adc.fma(v, v, 2.0)
        g = 1.0 if math.isfinite(v) and not math.isnan(v) and not math.isinf(v) else 0.0
        y[i] = a * b + c * d + e * f * g + adc.minimum(v, 0.5) + adc.maximum(v, 0.25) + math.sin(1) + math.pi


@adc.kernel
def captured(x: X, y: X, mode: adc.i32):
    for i in adc.parallel(len(x)):
        v = GAIN * x[i] + engine.gravity + TABLE[1] * TABLE[2] + Side.LEFT.value
        if mode == Mode.HARD:
            v = v * v
        if GAIN > 0.5:
            v += math.tau
        if Mode.SOFT == 2:
            v = undefined_name  # noqa: F821 - a branch that is never taken is not read
        y[i] = v


@adc.kernel
def updates(x: X, y: X, count: Whole, least: adc.buffer[adc.f64, 1], loss: Loss):
    for i in adc.parallel(x.shape[0]):
        y[i] += 2.0 * x[i]
        y[i] *= x[i]
        adc.atomic_add(loss, (), x[i] * y[i])
        adc.atomic_add(count, i % 2, 1)
        adc.atomic_sub(count, 2, i)
        adc.atomic_min(least, 0, x[i])
        adc.atomic_max(least, 1, x[i])


@adc.kernel
def axes(a: adc.buffer[adc.f64, 2, adc.diff], b: adc.buffer[adc.f64, 3, adc.diff]):
    n, m = a.shape
    for i, j in adc.parallel(n, m, block=64):
        for k in range(b.shape[2]):
            b[i, j, k] = a[i, j] * a[i, k] + adc.f64(k)


@adc.kernel
def arrays(x: X, y: X, n: adc.i32):
    for i in adc.parallel(x.shape[0]):
        a = adc.array(adc.f64, 4)
        m = adc.array(adc.f64, 2, 3)
        for k in range(4):
            a[k] = x[i] * adc.f64(k + 1)
        for r in range(2):
            for c in adc.unroll(range(3)):
                m[r, c] = a[r] * a[c]
        for t in range(n):
            a[t % 4] += math.sin(a[(t + 1) % 4])
        total = 0.0
        for k in range(len(a)):
            total += a[k]
        y[i] = total + m[1, 2] + m[0, 1] + adc.f64(m.shape[1])


@adc.kernel
def vectors(p: Points, q: Points, r: Points, m: adc.mat[adc.f64, 3, 3], y: X):
    for i in adc.parallel(p.shape[0]):
        v, w = p[i], q[i]
        u = adc.cross(v, w) * 0.5 + 2.0 * v - w / 3.0 + -v * w + m @ w + v @ m
        if u.x > 0.5:
            u = adc.vec3(1.0, u.y, u[2])
        k = adc.transpose(m) * 2.0 + adc.outer(v, w) + adc.inverse(m) @ m
        for step in range(2):
            u += adc.minimum(u, v) * adc.vec3(0.25)
        total = adc.dot(u, w) + adc.norm(u) + adc.normalize(v).y + adc.det(m) + k[0, 1] + p[i].z
        for c in range(3):
            total += u[c] * adc.f64(c)
        a, b, c = u
        front = adc.vec[adc.f64, 2](v)
        r[i] = adc.vec3(a, b + front.x, c + adc.vec2(front.y, 2.0).y)
        y[i] = total + adc.mat2(1.0, 2.0, 3.0, v.x)[1, 1]


@adc.function
def first_above(x, limit: adc.f64) -> adc.f64:
    found = -1.0
    for k in range(x.shape[0]):
        if x[k] > limit:
            found = x[k]
            break
    return found


@adc.function
def pieces(v, low, high=1.25):
    if v < low:
        return 0.0, v
    if v > high:
        w = v * v
        return w, 1.0
    return v - low, v * low


@adc.function
def twice(f, v):
    return f(f(v))


@adc.function
def half_sine(v):
    return math.sin(v) * 0.5


@adc.function
def put(y, i, v):
    if i % 2 == 0:
        y[i] = v
        return
    y[i] = 2.0 * v


@adc.kernel
def calls(x: X, y: X):
    for i in adc.parallel(x.shape[0]):
        a, b = pieces(x[i], 0.5)
        c, d = pieces(v=x[i], high=adc.f64(1.5), low=0.25)
        put(y, i, a * b + c * d + twice(half_sine, x[i]) + first_above(x, 1.0))


@adc.kernel
def tasks(x: X, y: X, loss: Loss, twice_as_often: adc.boolean):
    scale = 2.0 + x[0]
    for i in adc.parallel(x.shape[0]):
        y[i] = x[i] * scale
    if twice_as_often:
        for i in adc.parallel(x.shape[0]):
            adc.atomic_add(loss, (), y[i] * y[i])
    for round_ in adc.unroll(range(2)):
        for i in adc.parallel(x.shape[0]):
            adc.atomic_add(loss, (), math.sin(y[i]))


@adc.kernel
def serials(x: X, y: X, z: X, n: adc.i32):
    for i in adc.serial(x.shape[0] - 1):
        if i == 2:
            continue
        y[i + 1] = y[i] * x[i] + 0.5
    for _, j in adc.serial(2, x.shape[0]):
        z[j] *= 1.5
    for i in adc.parallel(x.shape[0]):
        v = x[i]
        for t in adc.checkpoint(range(n), 4):
            v = math.sin(v) + 0.1
        for t in adc.checkpoint(range(n)):
            v = math.cos(v)
        adc.atomic_add(z, i, v * v + adc.floor(adc.stop_gradient(v)))


@adc.kernel
def types_of_literals(x: X, n: adc.i32, y: X):
    for i in adc.parallel(x.shape[0]):
        whole = 0
        far: adc.i64 = 1
        best = 0
        for t in range(n):
            for u in range(2):
                whole = whole + t
                best = best + x[i] * adc.f64(u)
            far = far * 3
        sign = 1 if whole > 3 else -1
        y[i] = best * adc.f64(sign) + adc.f64(far % 5)


@adc.kernel
def draws(seed: adc.i64, y: adc.buffer[adc.f64, 1], z: adc.buffer[adc.f32, 1], w: adc.buffer[adc.u32, 1]):
    for i in adc.parallel(y.shape[0]):
        y[i] = adc.random(seed, i, type=adc.f64) + adc.select(i % 2 == 0, adc.f64(1.0), 2.0)
        z[i] = adc.random(seed, i, 7)
        w[i] = adc.random(1, i, stream=seed, type=adc.u32)


class Constructs(unittest.TestCase):
    def test_loops(self):
        agree(self, loops, x=numbers(7), y=np.zeros(7), n=5)
        agree(self, loops, x=numbers(3), y=np.zeros(3), n=0)
        agree(self, leaves, x=numbers(9), y=np.zeros(9), n=7)
        agree(self, whiles, x=numbers(9), y=np.zeros(9))

    def test_loops_stay_loops(self):
        self.assertEqual(loops.ir.count(" = for "), 5)
        self.assertIn("reversed", loops.ir)
        self.assertIn("while", whiles.ir)

    def test_branches(self):
        agree(self, branches, x=np.linspace(0.21, 1.79, 20), y=np.zeros(20))
        agree(self, guards, start=np.array([3, -1, 0, -1], "i"), x=numbers(4), y=numbers(4, seed=1))
        self.assertIn("select", branches.ir)

    def test_integers(self):
        signs = np.array([[7, -7, 7, -7, 0, 5], [2, 2, -2, -2, 3, 5]], "i")
        agree(self, integers, a=signs[0].copy(), b=signs[1].copy(), c=np.zeros((6, 15), "i"))

    def test_floats(self):
        agree(self, float_operators, x=numbers(20), y=np.zeros(20))
        agree(self, functions, x=numbers(20), y=np.zeros(20))

    def test_float_quotients(self):
        """Rounded quotients would give 1.0 // 0.1 as 10.0, and 1.0 % 0.1 as 0."""
        x = np.array([1.0, -1.0, 1.0, -1.0, 0.3, 0.6, -0.6, 7.5, -7.5, 0.0, 1e10])
        d = np.array([0.1, 0.1, -0.1, -0.1, 0.1, 0.2, 0.2, 2.0, 2.0, 3.0, 0.3])
        got, wanted = np.zeros((11, 3)), np.zeros((11, 3))
        adc.kernel(float_quotients.python_function, derive="none")(x=x, d=d, y=got)
        float_quotients.python(x=x, d=d, y=wanted)
        np.testing.assert_array_equal(got, wanted)
        self.assertEqual(got[0, 0], 9.0)

    def test_captured(self):
        for mode in Mode:
            agree(self, captured, x=numbers(4), y=np.zeros(4), mode=int(mode))

    def test_memory(self):
        agree(self, axes, a=numbers(4, 3), b=np.zeros((4, 3, 2)))
        agree(self, arrays, x=numbers(5), y=np.zeros(5), n=6)
        updates_by_gradient = {"x": numbers(6), "y": numbers(6, seed=1), "loss": np.zeros(())}
        whole = {"count": np.zeros(3, "i"), "least": np.ones(2)}
        got = {name: value.copy() for name, value in {**updates_by_gradient, **whole}.items()}
        wanted = {name: value.copy() for name, value in got.items()}
        primal = adc.kernel(updates.python_function, derive="none")
        primal(**got)
        updates.python(**wanted)
        for name, value in wanted.items():
            np.testing.assert_allclose(got[name], value, rtol=1e-12, err_msg=name)

    def test_vectors(self):
        m = np.eye(3) + 0.25 * numbers(3, 3, seed=4)
        agree(self, vectors, m=m.tolist(), p=numbers(5, 3), q=numbers(5, 3, seed=2), r=np.zeros((5, 3)), y=np.zeros(5))

    def test_calls(self):
        agree(self, calls, x=numbers(9), y=np.zeros(9))

    def test_tasks(self):
        for often in True, False:
            agree(self, tasks, x=numbers(5), y=np.zeros(5), loss=np.zeros(()), twice_as_often=often)
        agree(self, serials, x=numbers(5), y=np.zeros(5), z=numbers(5, seed=3), n=9)

    def test_literals(self):
        agree(self, types_of_literals, x=numbers(4), y=np.zeros(4), n=4)

    def test_long_ranges(self):
        """Of more numbers than the type of the index counts."""
        agree(self, long_ranges, bounds=np.array([2000000000, -2000000000], "i"), y=np.zeros(6, "i8"))

    def test_random(self):
        got, wanted = ({"y": np.zeros(9), "z": np.zeros(9, "f"), "w": np.zeros(9, "u4")} for _ in range(2))
        draws(seed=2**40 + 3, **got)
        draws.python(seed=2**40 + 3, **wanted)
        for name in got:
            np.testing.assert_array_equal(got[name], wanted[name])


class Natural(unittest.TestCase):
    """natural_kernels.py: values, forward mode and gradient against the same functions run by Python."""

    def test_literals(self):
        agree(self, natural.literals, x=np.linspace(0.3, 1.7, 12), y=np.zeros(12), single=1.0)

    def test_literals_of_other_types(self):
        given = {"h": np.array([0.5, 1.5, 2.5, 4], "e"), "s": np.array([0.5, 1.5, 2.5, 4], "f"), "w": np.array([1, -2, 2**40, 4]),
                 "u": np.array([1, 2, 3000000000, 4], "u4")}
        got = {name: value.copy() for name, value in given.items()}
        natural.other_literals(**got)
        self.assertEqual(got["h"].tolist(), [2.5, 2.0, 5.5, 8.5])
        self.assertEqual(got["s"].tolist(), [1.75, 5.25, 12.5, 20.0])
        self.assertEqual(got["w"].tolist(), [343 + 57, 343 - 114, 343 + 57 * 2**40 + 5 * 2**40, 343 + 57 * 4 + 20])
        self.assertEqual(got["u"].tolist(), [5, 8, 3 * 3000000000 % 2**32, 12])

    def test_sequences(self):
        agree(self, natural.sequences, x=numbers(9), y=np.zeros(9))
        agree(self, natural.over_tasks, x=numbers(5), y=np.zeros(5))
        agree(self, natural.serial_inside, x=numbers(6), y=np.zeros(6), n=5)
        agree(self, natural.small_ranges, x=numbers(4), y=np.zeros(4), a=5, b=2**32 - 1, c=7, d=-2)
        agree(self, natural.small_ranges, x=numbers(4), y=np.zeros(4), a=255, b=2**31 + 1, c=0, d=3)

    def test_references(self):
        agree(self, natural.by_reference, x=numbers(9), y=np.zeros(9))
        self.assertNotIn("@rotate", natural.by_reference.ir)

    def test_components(self):
        agree(self, natural.components, p=numbers(9, 3), q=np.zeros((9, 3)), y=np.zeros(9))
        a = np.array([[7, -7], [-7, 8], [0, -1], [-9, 5]], "i")
        b = np.array([[2, 2], [-2, 3], [5, -4], [4, -5]], "i")
        agree(self, natural.remainders, a=a, b=b, c=np.zeros((4, 6), "i"))

    def test_ordinary(self):
        agree(self, natural.ordinary, x=numbers(6), y=np.zeros(6))
        agree(self, natural.closures, x=numbers(6), y=np.zeros(6))

    def test_returns(self):
        agree(self, natural.returns, x=numbers(9), y=np.zeros(9))
        for n in 1, 3, 9:
            agree(self, natural.returned_vectors, p=numbers(9, 3), y=np.zeros(9), n=n)
        for scale in 1, 0.1:
            agree(self, natural.ends_early, x=scale * numbers(9), y=np.zeros(9), n=9)
        y = np.ones(9)
        natural.ends_early(x=numbers(9), y=y, n=0)
        self.assertEqual(y.tolist(), [1] * 9)

    def test_tuples(self):
        for n in 0, 3, 9:
            agree(self, natural.tuples, x=numbers(9), y=np.zeros(9), n=n)

    def test_mixed_numbers(self):
        agree(self, natural.mixed_numbers, x=numbers(9), y=np.zeros(9), p=numbers(9, 3), n=4, wide=2**40 + 1)
        agree(self, natural.names_of_numpy, x=numbers(9), y=np.zeros(9))

    def test_integers_beside_f32(self):
        """Integers that f32 does not hold become the nearest float, as they do in NumPy's own conversion."""
        @adc.kernel(derive="none")
        def rounds(x: adc.buffer[adc.f32, 1], n: adc.i32, w: adc.i64, y: adc.buffer[adc.f32, 1]):
            y[0], y[1], y[2] = x[0] * n, x[0] + w, n
            y[3] = 1.0 if x[1] < n else 0.0

        y = np.zeros(4, "f")
        rounds(x=np.array([1, 2**24], "f"), n=2**24 + 1, w=-2**40 - 3, y=y)
        wanted = [np.float32(2**24 + 1), np.float32(1) + np.float32(-2**40 - 3), np.float32(2**24 + 1), 0]
        np.testing.assert_array_equal(y, np.array(wanted, "f"))

    def test_everyday(self):
        for kernel, arguments in everyday.CASES:
            with self.subTest(kernel.__name__):
                agree(self, kernel, slope_tolerance=1e-5, **arguments)

    def test_vectors_on_the_host(self):
        """Operators make new vectors, and functions of kernels get vectors of their own."""
        v = w = adc.vec3(1.0, 2.0, 3.0)
        w += adc.vec3(1.0)
        w *= 2
        self.assertEqual((v, w, +v is v), (adc.vec3(1.0, 2.0, 3.0), adc.vec3(4.0, 6.0, 8.0), False))
        self.assertEqual(natural.stretched(v, 2.0), adc.vec3(1.0, 4.0, 1.0))
        self.assertEqual(v.y, 2.0)


class Refusals(unittest.TestCase):
    def test_every_line(self):
        """Each marked line of refused_kernels.py is refused there, with a caret under what the mark names."""
        path = pathlib.Path(refused_kernels.__file__)
        lines = path.read_text(encoding="utf-8").splitlines()
        marked = {at + 1: match for at, line in enumerate(lines) if (match := re.search(r"# refused `(.*)`: (.*)", line))}
        told = {}
        for name, kernel in vars(refused_kernels).items():
            if isinstance(kernel, adc.Kernel):
                with self.assertRaises(adc.CompileError, msg=name) as raised:
                    kernel.compile(targets="cpu")
                told[raised.exception.diagnostics[0].line] = raised.exception
        self.assertEqual(sorted(told), sorted(marked))
        for number, match in marked.items():
            text, line = str(told[number]), lines[number - 1]
            stretch = match.group(1)
            column = line[:line.index("  # ")].rindex(stretch) + 1
            self.assertIn(f"{path}:{number}:{column}: error: ", text)
            self.assertIn("\n" + line + "\n" + " " * (column - 1) + "^" + "~" * (len(stretch) - 1) + "\n", text + "\n", text)
            for words in match.group(2).split(": "):
                self.assertIn(words, text)

    def test_the_compiler_s_messages(self):
        """What the compiler says of the IR is told of the Python file, notes too."""
        @adc.kernel
        def overwrites(x: X, n: adc.i32):
            for i in adc.parallel(x.shape[0]):
                for t in range(n):
                    x[i] = math.sin(x[i]) * x[i]

        with self.assertRaises(adc.CompileError) as raised:
            overwrites.compile(targets="cpu")
        text, (first, *_) = str(raised.exception), raised.exception.diagnostics
        line = overwrites.python_function.__code__.co_firstlineno + 4
        self.assertEqual((first.id, first.file, first.line, first.column), ("E0401", __file__, line, 37))
        self.assertIn("x[i] = math.sin(x[i]) * x[i]\n" + " " * 36 + "^~~~\n", text)
        self.assertIn(f"{__file__}:{line}:21: note: ", text)
        self.assertEqual(raised.exception.exit_code, 1)
        with self.assertRaises(adc.CompileError) as raised:
            overwrites.compile(targets="abacus")
        self.assertIn("unknown target", str(raised.exception))

    def test_warnings(self):
        @adc.kernel
        def stops(x: X, y: adc.buffer[adc.f64, 1]):
            for i in adc.parallel(x.shape[0]):
                y[i] = x[i] * x[i]

        with self.assertWarnsRegex(adc.CompileWarning, r"test_kernel.py:\d+:13: warning: .*W0401"):
            stops.compile(targets="cpu")

    def test_places_in_the_bundle(self):
        """A failed assertion names the Python file's line, in a function and its second instance too."""
        @adc.function
        def checked(v, limit):
            assert v < limit, "below the limit"
            return v

        @adc.kernel(options=["--asserts"])
        def asserts(x: X, y: X, n: adc.i32):
            for i in adc.parallel(x.shape[0]):
                assert n > 0
                y[i] = checked(x[i], 2.0) * checked(x[i], adc.f64(n))

        line = checked.python_function.__code__.co_firstlineno + 2
        for value, n, words in ((3.0, 9, f"test_kernel.py:{line}:"), (1.5, 1, f"test_kernel.py:{line}:"),
                                (1.5, 0, f"test_kernel.py:{line + 6}:")):
            with self.assertRaises(adrt.Error) as raised:
                asserts(x=np.full(1, value), y=1, n=n)
            self.assertIn(words, str(raised.exception))
        self.assertIn("n > 0", str(raised.exception))
        asserts(x=np.full(1, 1.5), y=1, n=2)


    def test_lines_for_debuggers(self):
        """-g names the Python file's lines, and shows no other text under its name."""
        @adc.kernel
        def roots(x: X):
            for i in adc.parallel(x.shape[0]):
                x[i] = math.sqrt(x[i])

        path, line = WORK / "lines.adcb", roots.python_function.__code__.co_firstlineno + 3
        path.write_bytes(roots.compile(targets=["cuda:sm_80", "vulkan:1.3"], derive="none", options=["-g"]))
        subprocess.run([adc._compile.program(), "extract", "-o", WORK / "lines", path], check=True, capture_output=True)
        ptx = (WORK / "lines/cuda-sm_80.ptx").read_text(encoding="utf-8")
        self.assertRegex(ptx, rf"\.loc\t1 {line} 0\n(?s:.)*sqrt")
        self.assertRegex(ptx, r'\.file\t1 "[^"]*test_kernel\.py"')
        spirv = (WORK / "lines/vulkan-1.3.spv").read_bytes()
        self.assertIn(b"test_kernel.py", spirv)
        self.assertNotIn(b"parallel", spirv)

    def test_prints_in_a_bundle(self):
        """With --prints compiled code prints what the function prints in Python, numbers in the IR's text."""
        @adc.kernel
        def says(x: X, n: adc.i32):
            print("n is", n)
            for i in adc.parallel(x.shape[0]):
                for t in range(n):
                    print("x of", i, "is", x[i], "in turn", t)
                    x[i] = x[i] * 0.5

        path = WORK / "says.adcb"
        says.save(path, targets="cpu", derive="none", options=["--prints"])
        words = ["run", "--trust", path, "--arg", "x=[1,3]", "--arg", "n=2"]
        done = subprocess.run([adc._compile.program(), *words], check=True, capture_output=True, text=True)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            says.python(x=np.array([1.0, 3.0]), n=2)
        self.assertEqual(done.stdout.splitlines()[:-1], out.getvalue().splitlines())
        self.assertEqual(len(out.getvalue().splitlines()), 5)

    def test_functions_of_other_files(self):
        path = WORK / "helpers.py"
        path.write_text("import adc\n\n\n@adc.function\ndef halve(x, i):\n    x[i] = x[i] * x[i]\n    return x[i] * 0.5\n", encoding="utf-8")
        spec = importlib.util.spec_from_file_location("helpers", path)
        helpers = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(helpers)

        @adc.kernel
        def user(x: X):
            for i in adc.parallel(x.shape[0]):
                x[i] = helpers.halve(x, i)

        with self.assertRaises(adc.CompileError) as raised:
            user.compile(targets="cpu")
        self.assertEqual((raised.exception.diagnostics[0].file, raised.exception.diagnostics[0].line), (str(path), 6))
        self.assertIn("    x[i] = x[i] * x[i]\n           ^~~~\n", str(raised.exception))


class Objects(unittest.TestCase):
    def test_what_ships(self):
        path = WORK / "loops.adcb"
        loops.save(path, targets="cpu", derive="none")
        got, wanted = np.zeros(4), np.zeros(4)
        adrt.load(path)["loops"](x=numbers(4), y=got, n=3)
        loops(x=numbers(4), y=wanted, n=3)
        np.testing.assert_array_equal(got, wanted)
        self.assertEqual(path.read_bytes(), loops.compile(targets="cpu", derive="none"))
        self.assertEqual(adc.size(path, shapes={"x": 4, "y": 4}, arguments={"n": 3})[0]["kernel"], "loops")

    def test_size_and_gradcheck(self):
        report = adc.gradcheck(leaves, shapes={"x": 5, "y": 5}, arguments={"n": 6})
        self.assertEqual((report["kernel"], report["differ"]), ("leaves", 0))
        self.assertEqual([one["verdict"] for one in report["parameters"]], ["agrees", "agrees"])
        entry = adc.size(leaves, kernel="leaves.grad", shapes={"x": 5, "y": 5}, arguments={"n": 6})[0]
        self.assertGreater(entry["heap_bytes"], 0)

    def test_report(self):
        """The page shows this file, and what is stored in lines of it."""
        page = WORK / "leaves.html"
        leaves.report(page, shapes={"x": 5, "y": 5}, arguments={"n": 6})
        text = page.read_text(encoding="utf-8")
        data = json.loads(re.search('<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])
        own = pathlib.Path(__file__)
        source, = data["sources"]
        self.assertEqual((data["title"], source["name"], source["text"]), (own.name, own.name, own.read_text(encoding="utf-8")))
        self.assertNotIn(str(own.parent), text)
        lines, first = inspect.getsourcelines(leaves.python_function)
        stored = [note for note in data["notes"] if note["way"] == "taped"]
        self.assertTrue(stored)
        for note in stored:
            self.assertEqual(note["file"], 0)
            self.assertIn(note["line"], range(first, first + len(lines)))
            self.assertTrue(note["unit_place"].startswith(own.name + ":"))

    def test_the_text_is_the_kernel(self):
        """The IR that people read computes what the bundle does."""
        for kernel in branches, whiles:
            got, wanted = np.zeros(5), np.zeros(5)
            adrt.load(adc.compile(kernel.ir, targets="cpu"))[kernel.__name__](x=numbers(5), y=got)
            kernel(x=numbers(5), y=wanted)
            np.testing.assert_array_equal(got, wanted)

    def test_annotations_as_text(self):
        scope = {}
        path = WORK / "later.py"
        path.write_text("from __future__ import annotations\nimport adc\n\n@adc.kernel\n"
                        "def later(x: adc.buffer[adc.f64, 1, adc.diff], n: int):\n    x[n] = x[n] * 2.0\n", encoding="utf-8")
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
        self.assertIn("kernel @later(%x: buffer<f64, 1> diff, %n: i32)", scope["later"].ir)

    def test_the_source_at_the_definition(self):
        """What a file says later is not what its kernels are."""
        path = WORK / "edited.py"
        text = ("import adc\n\n@adc.function\ndef f(v):\n    return v * 2.0\n\n"
                "@adc.kernel\ndef edited(x: adc.buffer[adc.f64, 1, adc.diff]):\n    x[0] = f(x[0])\n")
        path.write_text(text, encoding="utf-8")
        scope = {}
        exec(compile(text, str(path), "exec"), scope)
        path.write_text("\n" + text.replace("2.0", "3.0"), encoding="utf-8")
        x = np.array([5.0])
        scope["edited"](x=x)
        self.assertEqual(x[0], 10.0)

    def test_no_function(self):
        for thing in 3, math.sin, staticmethod(a_float):
            with self.assertRaisesRegex(TypeError, "written with 'def'"):
                adc.kernel(thing)
            with self.assertRaisesRegex(TypeError, "written with 'def'"):
                adc.function(thing)

    def test_too_deep(self):
        path = WORK / "deep.py"
        path.write_text("import adc\n\n@adc.kernel\ndef deep(x: adc.buffer[adc.f64, 1]):\n    x[0] = "
                        + " + ".join(["x[0]"] * 900) + "\n", encoding="utf-8")
        scope = {}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
        with self.assertRaisesRegex(adc.CompileError, "'deep' nests too deeply"):
            scope["deep"].ir

    def test_no_source(self):
        scope = {"adc": adc}
        exec("@adc.kernel\ndef nowhere(x: adc.i32):\n    pass\n", scope)
        with self.assertRaisesRegex(adc.CompileError, "nowhere.*cannot be read"):
            scope["nowhere"].ir  # noqa: B018

    def test_docstrings(self):
        for name in adc.__all__:
            if callable(getattr(adc, name)):
                self.assertTrue(getattr(adc, name).__doc__, name)


if __name__ == "__main__":
    main()
