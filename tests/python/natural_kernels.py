"""Kernels in the Python that people write without a thought of a compiler. test_kernel.py runs them."""

import math

import numpy as np

import adc

X = adc.buffer[adc.f64, 1, adc.diff]
Points = adc.buffer[adc.vec[adc.f64, 3], 1, adc.diff]
WEIGHTS, PAIRS = (0.5, 1.5, 2.5), ((1, 0.25), (2, 1.5))


@adc.function
def product(a, b):
    return a * b


@adc.function
def sign_of(v):
    if v > 1.0:
        return 1
    return -1


@adc.function
def two():
    return 2


@adc.function
def alternating(g, v):
    total = 0
    for k in range(3):
        total += g * v
        g = -g
    return total


@adc.kernel
def literals(x: X, y: X, single: adc.f32):
    """`single` makes f32 the type of a literal that nothing says otherwise of."""
    for i in adc.parallel(x.shape[0]):
        v = x[i]
        a = (1 if v > 1.0 else 0) * v + max(0, v - 0.5) + max(0.0, v) + min(v, 1) + 2 * v ** 2 + 2 ** v
        step = 1 if v > 0.8 else -1
        a += (2 * step - 1) * v + v / step + step / 4
        level = 0
        if v > 1.2:
            level = 1
        elif v > 0.6:
            level = 2.5
        a += level * v + product(2, v) + product(v, 2) + product(3, 2) * v + product(step, v)
        a += sign_of(v) * v + two() * v + alternating(1 if v > 0.7 else -1, v) + adc.select(v > 1, 3, 4) * v
        if v > 1.0:
            mixed = 1 if v > 1.4 else 0
        else:
            mixed = v
        a += mixed + (adc.vec3(0, 1, 2) * adc.vec3(v)).z
        sums, scaled, counted = 0, 1.0, 0
        for k in range(4):
            sums += v * adc.f64(k)
            scaled *= 0.5
            if x[k] > 1.0:
                counted += 1
        while sums < 9:
            sums = sums * 2 + v
        y[i] = a + sums + scaled * v + counted * v


@adc.kernel
def other_literals(h: adc.buffer[adc.f16, 1], s: adc.buffer[adc.f32, 1], w: adc.buffer[adc.i64, 1], u: adc.buffer[adc.u32, 1]):
    for i in adc.parallel(h.shape[0]):
        up = 1 if i > 1 else 0
        h[i] = up * h[i] + (2 if i == 0 else 0.5) + max(0, h[i])
        up = 3 if i > 1 else 1.5
        s[i] = up * s[i] + product(2, s[i])
        n = 1
        for k in range(3):
            n = n * 7 + w[i]
        w[i] = n + (5 if i > 1 else 0) * w[i]
        count = 0
        for k in range(3):
            count += u[i]
        u[i] = max(count, 4) + (0 if i > 1 else u[i])


@adc.kernel
def sequences(x: X, y: X):
    for i in adc.parallel(x.shape[0]):
        s = 0.0
        for k in adc.unroll((1, 2, 4)):
            s = 0.5 * s + x[i] * k
        for w in WEIGHTS:
            s = 0.75 * s + x[i] * w
        for k, (a, b) in enumerate(PAIRS, 1):
            s += x[i] * a * b * k
        for a, b, c in zip(reversed(WEIGHTS), [3, 2, x[i]], range(5)):
            s += x[i] * a * b + c
        for k in adc.unroll(range(3, -1, -1)):
            s = 0.5 * s + x[i] * adc.f64(k)
        for k in reversed(range(1, 4)):
            s = 0.5 * s + x[i] * WEIGHTS[k % 3] * WEIGHTS[k - 3]
        for k, w in enumerate(WEIGHTS):
            if w < 1.0:
                continue
            s += x[i] * w * k
            if s > 6.0:
                break
        for component in adc.vec3(x[i], 2, 1):
            s += component * component
        y[i] = s


@adc.kernel
def over_tasks(x: X, y: X):
    for w in WEIGHTS:
        for i in adc.parallel(x.shape[0]):
            y[i] += x[i] * w


@adc.kernel
def serial_inside(x: X, y: X, n: adc.i32):
    total = 0
    for i in adc.serial(n):
        total += x[i]
        if total > 3.0:
            break
    for i in adc.parallel(x.shape[0]):
        v = x[i]
        for t in range(2):
            for j, k in adc.serial(n, 3):
                if j == k:
                    continue
                v += 0.1 * x[j] * adc.f64(k)
        for j in adc.serial(n):
            for k in adc.serial(2):
                v = math.sin(v) + 0.5
            if v < 0.9:
                break
        y[i] = v * total


@adc.kernel
def small_ranges(x: X, y: X, a: adc.u8, b: adc.u32, c: adc.i64, d: adc.i16):
    for i in adc.parallel(x.shape[0]):
        s = 0
        for k in range(a):
            s = 0.5 * s + x[i] * adc.f64(k) + x[k % 4]
        for k in range(a, -1, -1):
            s = 0.5 * s + x[i] * adc.f64(k)
        for k in range(b, b - 3, -1):
            s = 0.5 * s + x[i] * adc.f64(k % 5) + x[k % 4]
        for k in range(b - 4, b, 2):
            s = 0.5 * s + x[i] * adc.f64(k % 7)
        for k in range(c, 0, -2):
            s = 0.5 * s + x[i] * adc.f64(k)
        for k in range(d, 3):
            s = 0.5 * s + x[i] * adc.f64(k)
        y[i] = s


@adc.function
def fill(a, v):
    for k in range(len(a)):
        a[k] = v * adc.f64(k + 1)


@adc.function
def rotate(a, by):
    first = a[0]
    for k in range(len(a) - 1):
        a[k] = a[k + 1] * by
    a[2] = first
    if first > 2.0:
        a[1] += first
        return 1, a[0]
    return 0, a[1] * a[2]


@adc.function
def total_of(m, scale):
    s = 0
    for r in range(m.shape[0]):
        for c in range(m.shape[1]):
            s += m[r, c] * scale[c]
    return s


@adc.function
def parts(v):
    return (v, v * v), v + 1.0


@adc.function
def mixed_up(pair, third):
    a, b = pair
    return a * b + third


@adc.kernel
def by_reference(x: X, y: X):
    for i in adc.parallel(x.shape[0]):
        a = adc.array(adc.f64, 3)
        m = adc.array(adc.f64, 2, 3)
        fill(a, x[i])
        s = 0
        for k in range(3):
            moved, v = rotate(a, 1.25)
            s += moved * x[i] + v
        for r in range(2):
            for c in range(3):
                m[r, c] = a[c] * adc.f64(r + 1)
        (p, q), r = parts(x[i])
        pair = (p, 2)
        whole = parts(q)
        y[i] = s + total_of(m, (x[i], 2, 0.5)) + mixed_up(pair, r) + mixed_up(*whole) + pair[1] * whole[0][1]


@adc.function
def stretched(v, by):
    v.y *= by
    v[2] = 1.0
    return v


@adc.kernel
def components(p: Points, q: Points, y: X):
    for i in adc.parallel(p.shape[0]):
        v = p[i]
        old = +v
        v.x += 2.0
        v[1] *= v.x
        if v.z > 1.0:
            v.z = v.y - 3
        w = adc.vec3(0)
        for k in range(5):
            w[k % 3] += v[k % 3] * old.x
            if k == 3:
                break
        w += v
        w %= 1.5
        far = stretched(w, v.x)
        far += (w // 0.75) * w.y + v ** 2
        m = adc.mat2(1.0, v.x, 3.0, 4.0)
        m[0, 0] = w.x
        m[1] += m[0] * v.y
        m[1, 1] -= 0.5
        q[i] = far + v - old
        y[i] = adc.det(m) + m[1].x


@adc.kernel
def remainders(a: adc.buffer[adc.vec[adc.i32, 2], 1], b: adc.buffer[adc.vec[adc.i32, 2], 1], c: adc.buffer[adc.i32, 2]):
    for i in adc.parallel(a.shape[0]):
        c[i, 0], c[i, 1] = a[i] % b[i]
        c[i, 2], c[i, 3] = a[i] // b[i]
        c[i, 4], c[i, 5] = divmod(a[i].x, b[i].x)


@adc.function
def optional(v, by=None):
    """Without a factor, the value itself."""
    if by is None:
        return v
    return v * by


@adc.kernel
def ordinary(x: X, y: X):
    """Words at the top."""
    for i in adc.parallel(x.shape[0]):
        v, s, k, low = x[i], 0, 3, float("inf")
        s: adc.f64 = 0
        share: float = 1
        n: int = 7
        for j in range(6):
            low = min(low, x[j])
            if 0 <= j < 4 and not (j == i or j in (1, 3)):
                s += x[j]
            elif j % 2 and j not in (1, i):
                s += 2 * v
            else:
                pass
        while k:
            k -= 1
            s += share * v
        s += optional(v) + optional(v, 2) + optional(v, by=None) + low
        q, r = divmod(i - 3, 2)
        s += float(q) * v + float(r) + sum((v, 2, v * v)) + max(WEIGHTS) * min((v, 1)) + pow(v, 3)
        s += 1 if any((v > 1.0, i > 4)) else 0
        s += v if all((v > 0.5, i > 1)) and n else 0
        s += math.radians(v) + math.degrees(v) + np.sin(v) * np.float64(i) + np.arctan2(v, 2) + np.pi
        s += v if v < math.inf and bool(i) else 3 * v
        y[i] = s + adc.f64(round(3 * v)) + adc.f64(abs(i - 3)) + v * adc.f64(int(2 * v))


def scaled_by(gain, offsets):
    @adc.function
    def scaled(v):
        total = v
        for offset in offsets:
            total = total * gain + offset
        return total
    return scaled


enlarged = scaled_by(2.5, (1, 0.5))


@adc.kernel
def closures(x: X, y: X):
    for i in adc.parallel(x.shape[0]):
        y[i] = enlarged(x[i]) * x[i]


# ---- returns from loops


@adc.function
def first_above(x, limit):
    for k in range(len(x)):
        if x[k] > limit:
            return x[k] * 2.0
    return limit


@adc.function
def root(a, v=1):
    while True:
        following = 0.5 * (v + a / v)
        if abs(following - v) < 1e-9:
            return following
        v = following


@adc.function
def pair_in_loops(x, v):
    for i in range(3):
        for j in range(4):
            if x[(i + j) % 5] * v > 1.2:
                return x[j] * v, i + j
            if j > i + 1:
                break
        v = v * 1.1
    if v > 3.0:
        return v, -1
    return v * v, 100


@adc.function
def literal_in_loop(x, v):
    for k in range(len(x)):
        if x[k] > v:
            if x[k] > 1.5:
                return 0
            else:
                return 2
    return v


@adc.function
def vector_in_loop(p, n):
    k = 0
    while k < n:
        if p[k].x > 0.7:
            return p[k] * 2.0
        k += 1
    return adc.vec3(1.0, 2.0, 3.0) * p[0].x


@adc.function
def step_of(v):
    for limit, slope in ((0.5, 3.0), (0.9, 2.0), (1.3, 0.5)):
        if v < limit:
            return v * slope
    return 4 * v


@adc.function
def clip_from(a, most):
    """Ends early, and returns nothing."""
    for k in range(len(a)):
        if a[k] > most:
            return
        a[k] = 0.5 * most
    a[0] += 0.25


@adc.function
def searched(x, v):
    for j, k in adc.serial(len(x), 2):
        if x[j] * k > v:
            return True, x[j]
    return False, v


@adc.kernel
def returns(x: X, y: X):
    for i in adc.parallel(x.shape[0]):
        a = adc.array(adc.f64, 3)
        for k in range(3):
            a[k] = x[k + i % 3]
        clip_from(a, x[i])
        found, nearest = searched(x, x[i])
        v, n = pair_in_loops(x, x[i])
        y[i] = first_above(x, x[i]) + root(x[i]) + v + n * x[i] + literal_in_loop(x, x[i]) * x[i] + step_of(x[i])
        y[i] += a[0] + 2 * a[1] + 3 * a[2] + (nearest if found else -x[i])


@adc.kernel
def returned_vectors(p: Points, y: X, n: adc.i32):
    for i in adc.parallel(p.shape[0]):
        v = vector_in_loop(p, n)
        y[i] = v.x * p[i].y + v.z


@adc.kernel
def ends_early(x: X, y: X, n: adc.i32):
    """A kernel that returns: in a branch, and from a loop of its own."""
    if n == 0:
        return
    total = 0.0
    for i in range(n):
        total += x[i]
        y[i] = total
        if total > 2.0:
            return
    for i in adc.parallel(x.shape[0]):
        y[i] = x[i] * x[i]


# ---- tuples, mixed numbers, NumPy's names


@adc.kernel
def tuples(x: X, y: X, n: adc.i32):
    for i in adc.parallel(x.shape[0]):
        t = (x[i], 2.0) if x[i] > 0.8 else (1.0, x[i])
        a, b = t if x[i] < 1.2 else (product(x[i], x[i]), 3 * x[i])
        s, turns = (x[i], (0, x[i] * 2)), 0
        for k in range(n):
            u, (c, v) = s
            if u > v:
                s = (u * 0.9, (c + 1, v + 0.1))
            else:
                s = (v, (c, u))
            if k > 6:
                t = (s[0], t[0])
                break
            turns += 1
        if x[i] > 1.0:
            t = (a, t[1])
        elif x[i] > 0.5:
            t = (b, a * s[0])
        while turns > 3:
            t, turns = (t[1], t[0] * 0.5), turns - 1
        w, u = (adc.vec2(x[i], 1), x[i]) if x[i] > 0.9 else (adc.vec2(2, x[i]), 1)
        y[i] = t[0] * 2 + t[1] + s[1][1] * s[1][0] + w.x * w.y + u


@adc.function
def lowered(v, n):
    for _ in range(n):
        for _ in range(2):
            v -= 0.25
    return v


@adc.kernel
def mixed_numbers(x: X, y: X, p: Points, n: adc.i32, wide: adc.i64):
    """Integers beside floats, also beside those of vectors."""
    for i in adc.parallel(x.shape[0]):
        v, turns = x[i], 0
        while True:
            v *= 1.3
            turns += 1
            if v > 4:
                break
            if turns == 3:
                continue
            v += 0.1
        y[i] = x[i] * i + i / n + n / (i + 1) * v + turns * v + wide * x[i] - i % 3 * v
        y[i] += (x[i] > 1) * v + (i < x[i]) + v ** turns + v % n + math.sqrt(i + 1) * v + max(i, v) + (turns == 3) * (v > 2)
        half, share = n + 0.5, i * 0.5
        y[i] += half * v + adc.f64(share) + lowered(1 if v > 4.2 else 2, i) * v
        w = p[i] * i + 1 - 2 / (p[i] + 3) + adc.vec3(i, n, 1)
        w += 0.5
        w.x *= i
        w -= n
        y[i] += adc.dot(w, p[i] - adc.vec3(i, i, n))
        y[i] += n
        adc.atomic_add(y, i, i)


@adc.kernel
def names_of_numpy(x: X, y: X):
    for i in adc.parallel(*x.shape):
        v = x[i]
        s = np.maximum(v, 1) * 2 + np.minimum(v, 0.9) + np.clip(v, 0.5, 1.25) + np.where(v > 0.8, v * v, -v) + np.sign(v - 1) * v
        s += np.square(v) + np.abs(v - 1) + np.deg2rad(v) + np.rad2deg(v) + np.exp(-v) + np.hypot(v, i) + np.maximum(i, 2) * v
        y[i] = s + sum(w * v for w in WEIGHTS) + max(x[k] for k in range(3)) + sum(tuple(v * k for k in (1, 2)))
        y[i] += v if any(k + i < 6 and x[k + i] > 1 for k in range(1, 4)) else 0
