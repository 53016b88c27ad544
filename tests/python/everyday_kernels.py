"""Kernels of everyday work: particles, robots, cloth, rays, grids. test_kernel.py runs them with these arguments."""

import math

import numpy as np

import adc

F64, Integers = adc.f64, adc.buffer[adc.i32, 1]
Pairs = adc.buffer[adc.i32, 2]
X, X2 = adc.buffer[adc.f64, 1, adc.diff], adc.buffer[adc.f64, 2, adc.diff]
Points = adc.buffer[adc.vec[adc.f64, 3], 1, adc.diff]
Loss = adc.buffer[adc.f64, 0, adc.diff]
GRAVITY, STEP, COUNT = 9.81, 0.01, 9
random = np.random.default_rng(0)
numbers = random.uniform(0.3, 1.7, COUNT)
CASES = []


def case(**arguments):
    """Notes a kernel and arguments for it."""
    def noted(kernel):
        CASES.append((kernel, arguments))
        return kernel

    return noted


@adc.function
def W(q, h):
    """The cubic spline of SPH."""
    s = 8.0 / np.pi / h**3
    if q < 0.5:
        return s * (6.0 * (q**3 - q**2) + 1.0)
    if q < 1.0:
        return s * 2.0 * (1.0 - q) ** 3
    return 0.0


@case(p=random.uniform(0, 1, (COUNT, 3)), rho=np.zeros(COUNT), h=0.8, mass=1.0)
@adc.kernel
def sph_density(p: Points, rho: X, h: F64, mass: F64):
    for i in adc.parallel(len(p)):
        total = 0.0
        for j in range(len(p)):
            d = p[i] - p[j]
            q = np.sqrt(adc.dot(d, d) + 1e-12) / h
            total += mass * W(q, h)
        rho[i] = total


@case(values=random.normal(size=12), cols=np.array([0, 3, 1, 2, 4, 0, 5, 5, 2, 1, 3, 4], "i4"), rows=np.array([0, 2, 3, 6, 8, 8, 12], "i4"), x=numbers[:6].copy(), y=np.zeros(6))
@adc.kernel
def csr(values: X, cols: Integers, rows: Integers, x: X, y: X):
    for i in adc.parallel(y.shape[0]):
        s = 0.0
        for k in range(rows[i], rows[i+1]):
            s += values[k] * x[cols[k]]
        y[i] = s


@adc.function
def rot_z(a):
    c, s = math.cos(a), math.sin(a)
    return adc.mat3(c, -s, 0, s, c, 0, 0, 0, 1)


@case(q=random.normal(size=(4, 5)), lengths=random.uniform(0.5, 1, 5), tip=np.zeros((4, 3)))
@adc.kernel
def fk(q: X2, lengths: X, tip: Points):
    for i in adc.parallel(q.shape[0]):
        R = adc.mat3(1, 0, 0, 0, 1, 0, 0, 0, 1)
        pos = adc.vec3(0.0, 0.0, 0.0)
        for j in range(q.shape[1]):
            R = R @ rot_z(q[i, j])
            pos += R @ adc.vec3(lengths[j], 0.0, 0.0)
        tip[i] = pos


@case(state=0.1 * random.normal(size=(4, 12)), u=random.uniform(0, 1, (4, 4)), out=np.zeros((4, 12)), steps=5)
@adc.kernel
def quadrotor(state: X2, u: X2, out: X2, steps: adc.i32):
    m, Ixx, Iyy, Izz, L, kd = 0.5, 0.01, 0.01, 0.02, 0.2, 0.1
    for b in adc.parallel(state.shape[0]):
        s = adc.array(adc.f64, 12)
        for k in range(12):
            s[k] = state[b, k]
        for t in range(steps):
            phi, theta, psi = s[3], s[4], s[5]
            thrust = u[b, 0] + u[b, 1] + u[b, 2] + u[b, 3]
            ax = thrust / m * (np.cos(phi)*np.sin(theta)*np.cos(psi) + np.sin(phi)*np.sin(psi)) - kd * s[6]
            ay = thrust / m * (np.cos(phi)*np.sin(theta)*np.sin(psi) - np.sin(phi)*np.cos(psi)) - kd * s[7]
            az = thrust / m * np.cos(phi)*np.cos(theta) - GRAVITY - kd * s[8]
            p, q, rr = s[9], s[10], s[11]
            dp = (L * (u[b, 1] - u[b, 3]) + (Iyy - Izz) * q * rr) / Ixx
            dq = (L * (u[b, 2] - u[b, 0]) + (Izz - Ixx) * p * rr) / Iyy
            dr = (0.01 * (u[b, 0] - u[b, 1] + u[b, 2] - u[b, 3]) + (Ixx - Iyy) * p * q) / Izz
            for k in range(3):
                s[k] += STEP * s[k + 6]
            s[3] += STEP * (p + np.tan(theta) * (q * np.sin(phi) + rr * np.cos(phi)))
            s[4] += STEP * (q * np.cos(phi) - rr * np.sin(phi))
            s[5] += STEP * (q * np.sin(phi) + rr * np.cos(phi)) / np.cos(theta)
            for k, rate in enumerate((ax, ay, az, dp, dq, dr)):
                s[6 + k] += STEP * rate
        for k in range(12):
            out[b, k] = s[k]


@adc.function
def contact_force(pos, vel, k=1e3, d=10.0, mu=0.5):
    if pos.y > 0:
        return adc.vec3(0.0)
    fn = max(-k * pos.y - d * vel.y, 0.0)
    vt = math.hypot(vel.x, vel.z) + 1e-6
    ft = min(mu * fn, 5.0 * vt)
    return adc.vec3(-ft * vel.x / vt, fn, -ft * vel.z / vt)


@case(p=random.uniform(-.2, .5, (COUNT, 3)), v=random.normal(size=(COUNT, 3)), q=np.zeros((COUNT, 3)), steps=20)
@adc.kernel
def contact(p: Points, v: Points, q: Points, steps: adc.i32):
    for i in adc.parallel(p.shape[0]):
        pos, vel = p[i], v[i]
        for t in range(steps):
            f = contact_force(pos, vel, mu=0.3)
            f.y -= GRAVITY
            vel += STEP * f
            pos += STEP * vel
        q[i] = pos


@adc.function
def sdf(p):
    return min(adc.norm(p) - 1.0, p.y + 1.0)


@adc.function
def march(o, d, n=64):
    t = 0.0
    for _ in range(n):
        p = o + t * d
        h = sdf(p)
        if abs(h) < 1e-4:
            return True, t, p
        t += h
        if t > 20.0:
            break
    return False, t, o


@case(d=0.2 * random.normal(size=(COUNT, 3)), img=np.zeros(COUNT))
@adc.kernel
def raymarch(d: Points, img: X):
    for i in adc.parallel(d.shape[0]):
        ray = adc.normalize(d[i] + adc.vec3(0.0, 0.0, 1.0))
        hit, t, p = march(adc.vec3(0.0, 0.2, -3.0), ray)
        img[i] = adc.dot(p, adc.vec3(1.0, 2.0, 3.0)) / t if hit else t * 0.1


@case(x=random.uniform(0, 1, (COUNT, 3)), springs=np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [0, 8], [6, 7]], "i4"), rest=np.full(7, 0.3), e=np.zeros(()), k=10.0)
@adc.kernel
def cloth_energy(x: Points, springs: Pairs, rest: X, e: Loss, k: F64):
    for s in adc.parallel(springs.shape[0]):
        i, j = springs[s, 0], springs[s, 1]
        l = adc.norm(x[i] - x[j])
        adc.atomic_add(e, (), 0.5 * k * (l / rest[s] - 1) ** 2)


@case(u=random.normal(size=(6, 7)), v=np.zeros((6, 7)), c=0.1)
@adc.kernel
def heat(u: X2, v: X2, c: F64):
    n, m = u.shape
    for i, j in adc.parallel(n, m):
        if i == 0 or j == 0 or i == n - 1 or j == m - 1:
            v[i, j] = u[i, j]
            continue
        v[i, j] = u[i, j] + c * (u[i - 1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] - 4 * u[i, j])


@case(x=numbers, y=np.zeros(COUNT), n=8)
@adc.kernel
def basis(x: X, y: X, n: adc.i32):
    for i in adc.parallel(len(x)):
        t = i / len(x)
        s = 0
        for k in range(1, n + 1):
            s += x[i] ** k / k + np.cos(k * x[i]) * t
        y[i] = s


@case(x=numbers, y=np.zeros(COUNT), n=8)
@adc.kernel
def horner(x: X, y: X, n: adc.i32):
    coeffs = (1.0, -0.5, 0.25, 2)
    for i in adc.parallel(len(x)):
        acc = 0
        for c in coeffs:
            acc = acc * x[i] + c
        y[i] = acc


@adc.function
def bisect(a, lo=0.0, hi=4.0, tol=1e-10, iters=60):
    for it in range(iters):
        mid = (lo + hi) / 2
        f = mid * mid - a
        if abs(f) < tol:
            return mid, it
        if f > 0:
            hi = mid
        else:
            lo = mid
    return (lo + hi) / 2, iters


@case(x=random.normal(size=(5, 4)), y=np.zeros((5, 4)))
@adc.kernel
def softmax(x: X2, y: X2):
    for i in adc.parallel(x.shape[0]):
        m = -math.inf
        for j in range(x.shape[1]):
            m = max(m, x[i, j])
        z = 0.0
        for j in range(x.shape[1]):
            z += math.exp(x[i, j] - m)
        for j in range(x.shape[1]):
            y[i, j] = math.exp(x[i, j] - m) / z


@case(x=numbers, y=np.zeros(COUNT))
@adc.kernel
def argmin_nn(x: X, y: X):
    for i in adc.parallel(len(x)):
        best, at = 1e9, -1
        for j in range(len(x)):
            d = abs(x[i] - x[j])
            if j != i and d < best:
                best, at = d, j
        y[i] = best * x[at] if at >= 0 else 0.0


@case(p=random.uniform(0, 1, (COUNT, 3)), f=np.zeros((COUNT, 3)), cutoff=0.6)
@adc.kernel
def lj(p: Points, f: Points, cutoff: F64):
    for i in adc.parallel(len(p)):
        acc = adc.vec3(0.0)
        for j in range(len(p)):
            if i == j:
                continue
            d = p[i] - p[j]
            r2 = adc.dot(d, d)
            if r2 > cutoff**2:
                continue
            inv = 0.01 / r2
            acc += d * (24 * (2 * inv**6 - inv**3) / r2)
        f[i] = acc


@adc.function
def deriv(s, u):
    x, v = s
    return v, u - 0.1 * v - x


@adc.function
def axpy(a, k, s):
    return s[0] + a * k[0], s[1] + a * k[1]


@case(x=numbers, y=np.zeros(COUNT), n=4)
@adc.kernel
def rk2_tuples(x: X, y: X, n: adc.i32):
    for i in adc.parallel(len(x)):
        s = (x[i], 0.0)
        for t in range(n):
            k = deriv(s, 1.0)
            mid = axpy(0.5 * 0.1, k, s)
            s = axpy(0.1, deriv(mid, 1.0), s)
        y[i] = s[0] - s[1]


@case(x=numbers, y=np.zeros(COUNT))
@adc.kernel
def huber(x: X, y: X):
    delta = 0.7
    for i in adc.parallel(len(x)):
        e = x[i] - 1
        y[i] = 0.5 * e * e if abs(e) <= delta else delta * (abs(e) - 0.5 * delta)


@case(grid=random.normal(size=(6, 6)), p=random.uniform(0.5, 4.5, (COUNT, 2)), y=np.zeros(COUNT))
@adc.kernel
def bilinear(grid: X2, p: adc.buffer[adc.vec[F64, 2], 1, adc.diff], y: X):
    for k in adc.parallel(len(p)):
        i, j = math.floor(p[k].x), math.floor(p[k].y)
        fx, fy = p[k].x - i, p[k].y - j
        y[k] = (1-fx)*((1-fy)*grid[i, j] + fy*grid[i, j+1]) + fx*((1-fy)*grid[i+1, j] + fy*grid[i+1, j+1])


@case(grid=np.zeros((6, 6)), p=random.uniform(0.5, 3.5, (COUNT, 2)), m=numbers)
@adc.kernel
def p2g(grid: X2, p: adc.buffer[adc.vec[F64, 2], 1, adc.diff], m: X):
    for k in adc.parallel(len(p)):
        base = (int(p[k].x - 0.5), int(p[k].y - 0.5))
        fx = p[k] - adc.vec2(base[0], base[1])
        w = (0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2)
        for a in range(3):
            for b in range(3):
                adc.atomic_add(grid, (base[0] + a, base[1] + b), w[a].x * w[b].y * m[k])


@case(x=numbers, y=np.zeros(COUNT))
@adc.kernel
def done_flag(x: X, y: X):
    for i in adc.parallel(len(x)):
        v, done, n = x[i], False, 0
        while not done and n < 20:
            v = v * 1.2
            n += 1
            done = v > 3 or n == 15
        y[i] = v * n


@case(x=numbers, y=np.zeros(COUNT))
@adc.kernel
def relu_mask(x: X, y: X):
    for i in adc.parallel(len(x)):
        y[i] = (x[i] > 1) * x[i] + (x[i] <= 1) * 0.1 * x[i] + sum((x[j] for j in range(3)))


@case(x=numbers, y=np.zeros(COUNT))
@adc.kernel
def conv(x: X, y: X):
    n = len(x)
    w = (0.25, 0.5, 0.25)
    for i in adc.parallel(n):
        y[i] = sum(w[k] * x[min(max(i + k - 1, 0), n - 1)] for k in range(3))


@case(x=numbers, y=np.zeros(COUNT))
@adc.kernel
def ifelse_chain(x: X, y: X):
    for i in adc.parallel(len(x)):
        v = x[i]
        if v < 0.6:
            kind, w = 0, v
        elif 0.6 <= v < 1.0:
            kind, w = 1, v * v
        else:
            kind, w = 2, 1 / v
        y[i] = w * (kind + 1)


@adc.function
def clampf(v, lo=0.0, hi=1.0):
    return max(lo, min(v, hi))


@adc.function
def smoothstep(a, b, v):
    t = clampf((v - a) / (b - a))
    return t * t * (3 - 2 * t)


@case(x=numbers, y=np.zeros(COUNT))
@adc.kernel
def smooth(x: X, y: X):
    for i in adc.parallel(len(x)):
        y[i] = smoothstep(0.5, 1.5, x[i]) + smoothstep(0, 2, v=x[i]) + clampf(x[i], hi=0.9)


@case(F=np.eye(2) + 0.2 * random.normal(size=(4, 2, 2)), e=np.zeros(()), mu=1.5, lam=0.7)
@adc.kernel
def neo_hookean(F: adc.buffer[adc.mat[F64, 2, 2], 1, adc.diff], e: Loss, mu: F64, lam: F64):
    for i in adc.parallel(len(F)):
        f = F[i]
        J = adc.det(f)
        C = adc.transpose(f) @ f
        lJ = math.log(abs(J))
        adc.atomic_add(e, (), mu / 2 * (C[0, 0] + C[1, 1] - 2) - mu * lJ + lam / 2 * lJ**2)


@case(img=random.normal(size=(5, 6)), out=np.zeros((5, 6)))
@adc.kernel
def blur(img: X2, out: X2):
    h, w = img.shape
    for y, x in adc.parallel(h, w):
        acc, n = 0.0, 0
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                yy, xx = y + dy, x + dx
                if 0 <= yy < h and 0 <= xx < w:
                    acc += img[yy, xx]
                    n += 1
        out[y, x] = acc / n


@case(x=numbers, y=np.zeros(COUNT))
@adc.kernel
def swap_tuple(x: X, y: X):
    for i in adc.parallel(len(x)):
        a, b = x[i], 1.0
        for k in range(6):
            a, b = b, a + b * 0.3
            if a > b:
                a, b = b, a
        y[i] = a - 2 * b


@case(theta=random.normal(size=(3, 4)), y=np.zeros((3, 4)))
@adc.kernel
def pendulum(theta: X2, y: X2):
    for i, j in adc.parallel(*theta.shape):
        th, om = theta[i, j], 0.0
        for _ in range(10):
            om -= 0.1 * np.sin(th)
            th += 0.1 * om
        y[i, j] = th


@case(x=numbers, y=np.zeros(COUNT))
@adc.kernel
def vec_bcast(x: X, y: X):
    for i in adc.parallel(len(x)):
        v = adc.vec3(x[i], i, 1)
        w = 1 - v + 2 / (v + 3) + v / 2 - 0.5
        y[i] = w.x + w.y * w.z


@case(x=numbers, y=np.zeros(COUNT), n=3)
@adc.kernel
def int_flow(x: X, y: X, n: adc.i32):
    for i in adc.parallel(len(x)):
        h = 1.0 / n
        t = 0.0
        for k in range(n):
            t = k * h
            y[i] += math.sin(t * x[i]) * h
        y[i] += n
