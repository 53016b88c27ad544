"""Kernels in the language of Quadrants, each with the fields that it takes. test_quadrants.py loads this file twice: with
the package, which compiles the kernels, and with a stand-in (plain.py) that runs them as plain Python."""

import quadrants as qd

CASES = {}


def case(saved=False, **fields):
    """Marks a kernel. `saved`: it overwrites what its gradient reads, which adc saves on request."""
    def mark(kernel):
        CASES[kernel.__name__] = (kernel, fields, saved)
        return kernel
    return mark


def real(*shape, of=(), low=-1.0, high=1.0, promise=""):
    """A field of f64 that has a gradient, with random numbers; `of` is the shape of a vector or matrix element, `promise`
    what adc has to be told of the order of accesses."""
    return {"shape": shape, "of": of, "low": low, "high": high, "diff": True, "attributes": f"diff {promise}"}


def zero(*shape, of=(), promise=""):
    return real(*shape, of=of, low=0.0, high=0.0, promise=promise)


def ints(*values):
    """A field of i32 along one axis."""
    return {"shape": (len(values),), "of": (), "values": values, "diff": False, "attributes": ""}


def counts(length):
    return ints(*[0] * length)


# ---- Sums and scatter


@case(x=real(9), y=zero(9))
@qd.kernel
def scale(x: qd.template(), y: qd.template()):
    for i in x:
        y[i] = 2.718281828459045 * x[i] + qd.sin(x[i])


@case(x=real(9), loss=zero())
@qd.kernel
def sum_of_squares(x: qd.template(), loss: qd.template()):
    for i in x:
        loss[None] += x[i] * x[i]


@case(x=real(8), to=ints(3, 1, 3, 0, 2, 3, 1, 0), y=zero(4))
@qd.kernel
def scatter(x: qd.template(), to: qd.template(), y: qd.template()):
    for i in x:
        y[to[i]] += qd.exp(x[i]) * x[i]


@case(x=real(4), of=ints(3, 1, 3, 0, 2, 3, 1, 0), y=zero(8))
@qd.kernel
def gather(x: qd.template(), of: qd.template(), y: qd.template()):
    for i in y:
        v = x[of[i]]
        y[i] = v * v * (i + 1)


@case(start=ints(0, 3, 3, 7), column=ints(0, 2, 4, 1, 2, 3, 4), a=real(7), x=real(5), y=zero(3))
@qd.kernel
def sparse_rows(start: qd.template(), column: qd.template(), a: qd.template(), x: qd.template(), y: qd.template()):
    for i in y:
        s = 0.0
        for e in range(start[i], start[i + 1]):
            s += a[e] * qd.tanh(x[column[e]])
        y[i] = s


@case(a=real(3, 4), b=real(4, 2), c=zero(3, 2))
@qd.kernel
def product(a: qd.template(), b: qd.template(), c: qd.template()):
    for i, j in c:
        s = 0.0
        for k in range(4):
            s += a[i, k] * b[k, j]
        c[i, j] = s


# ---- Loops and branches


@case(x=real(6), loss=zero())
@qd.kernel
def recurrence(x: qd.template(), loss: qd.template()):
    for i in x:
        v = x[i]
        for t in range(5):
            v = qd.sin(v) * 1.1 + 0.1
        loss[None] += v


@case(x=real(8), y=zero(8))
@qd.kernel
def branches(x: qd.template(), y: qd.template()):
    for i in range(8):
        v = x[i]
        if v > 0.3:
            v = v * v
        elif v > -0.2 and i % 2 == 0:
            v = qd.exp(v)
        else:
            v = 3.0 * v
        y[i] = v + x[i]


@case(x=real(6, low=0.5, high=9.0), y=zero(6))
@qd.kernel
def newton(x: qd.template(), y: qd.template()):
    for i in x:
        r = x[i]
        while qd.abs(r * r - x[i]) > 1e-3:
            r = 0.5 * (r + x[i] / r)
        y[i] = r


@case(x=real(6, 5), limit=ints(2, 5, 0, 3, 4, 1), y=zero(6))
@qd.kernel
def early_exit(x: qd.template(), limit: qd.template(), y: qd.template()):
    for i in y:
        s = 1.0
        for j in range(5):
            if x[i, j] < -0.5:
                continue
            if j >= limit[i]:
                break
            s = s * (1.0 + x[i, j] * s)
        y[i] = s


@case(mass=real(5), q=real(2, 5), p=zero(2, 5, promise="writeonce"), parent=ints(-1, 0, 1, 1, 0), tip=zero(2))
@qd.kernel
def tree_down(mass: qd.template(), q: qd.template(), p: qd.template(), parent: qd.template(), tip: qd.template()):
    for e in range(2):
        for k in range(5):
            up = 0.0
            if parent[k] >= 0:
                up = p[e, parent[k]]
            p[e, k] = up + qd.sin(q[e, k] + up)
    for e, k in p:
        tip[e] += p[e, k] * mass[k]


@case(a=real(2, 3, 3, low=0.1, high=0.4), l=zero(2, 3, 3, promise="writeonce"))
@qd.kernel
def cholesky(a: qd.template(), l: qd.template()):
    for e in range(2):
        for i in range(3):
            for j in range(i + 1):
                s = a[e, i, j]
                if i == j:
                    s = s + 2.0
                for k in range(j):
                    s -= l[e, i, k] * l[e, j, k]
                if i == j:
                    l[e, i, j] = qd.sqrt(s)
                else:
                    l[e, i, j] = s / l[e, j, j]


@case(q=real(4, of=(4,)), v=real(4, of=(3,)), r=zero(4, of=(3,)))
@qd.kernel
def quaternion_rotate(q: qd.template(), v: qd.template(), r: qd.template()):
    for i in q:
        u = qd.Vector([q[i][1], q[i][2], q[i][3]])
        t = 2.0 * u.cross(v[i])
        r[i] = v[i] + q[i][0] * t + u.cross(t)


# ---- Chains and trees


@case(f=real(2, 6), total=zero(2, 6), parent=ints(-1, 0, 0, 1, 3, 1))
@qd.kernel
def tree_up(f: qd.template(), total: qd.template(), parent: qd.template()):
    for e in range(2):
        for k in range(6):
            total[e, k] += f[e, k] * f[e, k]
        for back in range(6):
            k = 5 - back
            if parent[k] >= 0:
                total[e, parent[k]] += 0.5 * total[e, k]


@case(angle=real(2, 5), length=real(5, low=0.5), parent=ints(-1, 0, 1, 1, 3), turn=zero(2, 5, promise="writeonce"),
      at=zero(2, 5, of=(2,), promise="writeonce"))
@qd.kernel
def kinematics(angle: qd.template(), length: qd.template(), parent: qd.template(), turn: qd.template(), at: qd.template()):
    for e in range(2):
        for k in range(5):
            t = angle[e, k]
            p = qd.Vector([0.0, 0.0])
            if parent[k] >= 0:
                t += turn[e, parent[k]]
                p = at[e, parent[k]]
            turn[e, k] = t
            at[e, k] = p + length[k] * qd.Vector([qd.cos(t), qd.sin(t)])


# ---- Rigid bodies


@qd.func
def quaternion_times(a, b):
    return qd.Vector([a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                      a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                      a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                      a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]])


@case(a=real(3, of=(4,)), b=real(3, of=(4,)), c=zero(3, of=(4,)))
@qd.kernel
def quaternion_product(a: qd.template(), b: qd.template(), c: qd.template()):
    for i in a:
        c[i] = quaternion_times(quaternion_times(a[i], b[i]), a[i])


@case(q=real(3, of=(4,), low=0.2), w=real(3, of=(3,)), out=zero(3, of=(4,)))
@qd.kernel
def quaternion_steps(q: qd.template(), w: qd.template(), out: qd.template()):
    for i in q:
        r = q[i]
        for t in range(4):
            r = r + 0.05 * quaternion_times(r, qd.Vector([0.0, w[i][0], w[i][1], w[i][2]]))
            r = r / r.norm()
        out[i] = r


@case(q=real(3, of=(4,)), m=zero(3, of=(3, 3)))
@qd.kernel
def quaternion_matrix(q: qd.template(), m: qd.template()):
    for i in q:
        s = 2.0 / (q[i][0] ** 2 + q[i][1] ** 2 + q[i][2] ** 2 + q[i][3] ** 2)
        w, x, y, z = q[i][0], q[i][1], q[i][2], q[i][3]
        m[i] = qd.Matrix([[1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
                          [s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)],
                          [s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)]])


@case(saved=True, p=real(5, of=(2,), low=0.0), radius=real(5, low=0.2, high=0.5), count=counts(1), pair=counts(40),
      depth=zero(20))
@qd.kernel
def contact_counter(p: qd.template(), radius: qd.template(), count: qd.template(), pair: qd.template(), depth: qd.template()):
    for e in range(1):
        for i in range(5):
            for j in range(i + 1, 5):
                gap = (p[i] - p[j]).norm() - radius[i] - radius[j]
                if gap < 0.0:
                    slot = qd.atomic_add(count[e], 1)
                    pair[2 * slot] = i
                    pair[2 * slot + 1] = j
                    depth[slot] = gap * gap


@case(p=real(5, of=(2,), low=0.0), count=ints(3), pair=ints(0, 1, 3, 2, 4, 1, 0, 0), force=zero(5, of=(2,)))
@qd.kernel
def contact_forces(p: qd.template(), count: qd.template(), pair: qd.template(), force: qd.template()):
    for c in range(4):
        if c < count[0]:
            i, j = pair[2 * c], pair[2 * c + 1]
            d = p[i] - p[j]
            push = qd.exp(-d.norm_sqr()) * d
            force[i] += push
            force[j] -= push


@case(x=real(6, of=(3,)), rest=real(5, low=0.5), energy=zero())
@qd.kernel
def springs(x: qd.template(), rest: qd.template(), energy: qd.template()):
    for i in range(5):
        stretch = (x[i + 1] - x[i]).norm() - rest[i]
        energy[None] += 0.5 * stretch * stretch


@case(x=real(4, low=0.2), y=real(4, low=0.2), out=zero(4))
@qd.kernel
def unit_steps(x: qd.template(), y: qd.template(), out: qd.template()):
    for i in x:
        a, b = x[i], y[i]
        for t in range(3):
            a = a + 0.3 * b
            length = qd.sqrt(a * a + b * b)
            a = a / length
            b = b / length
        out[i] = a - 2.0 * b


# ---- Linear algebra


@case(saved=True, a=real(2, 4, 4, low=0.1, high=0.4))
@qd.kernel
def cholesky_in_place(a: qd.template()):
    for e in range(2):
        for j in range(4):
            d = a[e, j, j] + 2.0
            for k in range(j):
                d -= a[e, j, k] * a[e, j, k]
            d = qd.sqrt(d)
            a[e, j, j] = d
            for i in range(j + 1, 4):
                s = a[e, i, j]
                for k in range(j):
                    s -= a[e, i, k] * a[e, j, k]
                a[e, i, j] = s / d


@case(l=real(2, 4, 4, low=0.5), b=real(2, 4), x=zero(2, 4, promise="writeonce"))
@qd.kernel
def solve_lower(l: qd.template(), b: qd.template(), x: qd.template()):
    for e in range(2):
        for i in range(4):
            s = b[e, i]
            for j in range(i):
                s -= l[e, i, j] * x[e, j]
            x[e, i] = s / l[e, i, i]


@case(saved=True, l=real(2, 4, 4, low=0.5), b=real(2, 4))
@qd.kernel
def solve_upper_in_place(l: qd.template(), b: qd.template()):
    for e in range(2):
        for back in range(4):
            i = 3 - back
            for j in range(i + 1, 4):
                b[e, i] -= l[e, j, i] * b[e, j]
            b[e, i] = b[e, i] / l[e, i, i]


@case(a=real(3, of=(3, 3)), b=real(3, of=(3,)), d=zero(3), y=zero(3, of=(3,)))
@qd.kernel
def matrices(a: qd.template(), b: qd.template(), d: qd.template(), y: qd.template()):
    for i in a:
        m = a[i] @ a[i].transpose() + qd.Matrix([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        d[i] = m.determinant() + a[i].trace()
        y[i] = m @ b[i]


# ---- Material points, in two dimensions, on a grid of 8 by 8 cells


@case(x=real(6, of=(2,), low=2.1, high=5.4), v=real(6, of=(2,)), c=real(6, of=(2, 2)), m=zero(8, 8), p=zero(8, 8, of=(2,)))
@qd.kernel
def particles_to_grid(x: qd.template(), v: qd.template(), c: qd.template(), m: qd.template(), p: qd.template()):
    for i in x:
        bx = qd.cast(x[i][0] - 0.5, qd.i32)
        by = qd.cast(x[i][1] - 0.5, qd.i32)
        fx = x[i] - qd.Vector([qd.cast(bx, qd.f64), qd.cast(by, qd.f64)])
        w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]
        for a in qd.static(range(3)):
            for b in qd.static(range(3)):
                weight = w[a][0] * w[b][1]
                far = qd.Vector([a * 1.0, b * 1.0]) - fx
                p[bx + a, by + b] += weight * (v[i] + c[i] @ far)
                m[bx + a, by + b] += weight


@case(x=real(6, of=(2,), low=2.1, high=5.4), g=real(8, 8, of=(2,)), v=zero(6, of=(2,)), c=zero(6, of=(2, 2)))
@qd.kernel
def grid_to_particles(x: qd.template(), g: qd.template(), v: qd.template(), c: qd.template()):
    for i in x:
        bx = qd.cast(x[i][0] - 0.5, qd.i32)
        by = qd.cast(x[i][1] - 0.5, qd.i32)
        fx = x[i] - qd.Vector([qd.cast(bx, qd.f64), qd.cast(by, qd.f64)])
        w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]
        new_v = qd.Vector([0.0, 0.0])
        new_c = qd.Matrix([[0.0, 0.0], [0.0, 0.0]])
        for a in qd.static(range(3)):
            for b in qd.static(range(3)):
                weight = w[a][0] * w[b][1]
                far = qd.Vector([a * 1.0, b * 1.0]) - fx
                new_v += weight * g[bx + a, by + b]
                new_c += 4.0 * weight * g[bx + a, by + b].outer_product(far)
        v[i] = new_v
        c[i] = new_c


@case(m=real(5, 5, low=-0.5), p=real(5, 5, of=(2,)), v=zero(5, 5, of=(2,)))
@qd.kernel
def grid_step(m: qd.template(), p: qd.template(), v: qd.template()):
    for i, j in m:
        if m[i, j] > 0.0:
            u = p[i, j] / (m[i, j] + 0.1)
            ux, uy = u[0], u[1] - 0.098
            if i < 2 and ux < 0.0:
                ux = 0.0
            if j >= 3 and uy > 0.0:
                uy = 0.5 * uy
            v[i, j] = qd.Vector([ux, uy])


@case(f=real(5, of=(2, 2), low=0.1), c=real(5, of=(2, 2)), stress=zero(5, of=(2, 2)))
@qd.kernel
def particle_stress(f: qd.template(), c: qd.template(), stress: qd.template()):
    for i in f:
        one = qd.Matrix([[1.0, 0.0], [0.0, 1.0]])
        g = (one + 0.1 * c[i]) @ (f[i] + one)
        s = g @ g.transpose() - one
        stress[i] = 2.0 * s + qd.log(g.determinant() ** 2) * one


# ---- Grids and time


@case(u=real(6, 7), w=zero(6, 7))
@qd.kernel
def stencil(u: qd.template(), w: qd.template()):
    for i, j in u:
        if 0 < i < 5 and 0 < j < 6:
            w[i, j] = u[i, j] + 0.2 * u[i, j] * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j])


@case(u=real(8, 5))
@qd.kernel
def time_steps(u: qd.template()):
    for k in range(5):
        for t in range(7):
            u[t + 1, k] += qd.sin(u[t, k]) * 0.5


@case(saved=True, x=real(4), v=real(4))
@qd.kernel
def pendulum_in_place(x: qd.template(), v: qd.template()):
    for i in x:
        for t in range(6):
            v[i] -= 0.1 * qd.sin(x[i])
            x[i] += 0.1 * v[i]


@case(x=real(4), v=real(4), y=zero(4))
@qd.kernel
def pendulum(x: qd.template(), v: qd.template(), y: qd.template()):
    for i in x:
        a, s = x[i], v[i]
        for t in range(6):
            s -= 0.1 * qd.sin(a)
            a += 0.1 * s
        y[i] = a * s


@case(u=real(5, 5), at=real(6, of=(2,), low=0.2, high=3.8), y=zero(6))
@qd.kernel
def bilinear(u: qd.template(), at: qd.template(), y: qd.template()):
    for i in at:
        ix = qd.floor(at[i][0], qd.i32)
        iy = qd.floor(at[i][1], qd.i32)
        fx = at[i][0] - ix
        fy = at[i][1] - iy
        y[i] = ((u[ix, iy] * (1.0 - fx) + u[ix + 1, iy] * fx) * (1.0 - fy)
                + (u[ix, iy + 1] * (1.0 - fx) + u[ix + 1, iy + 1] * fx) * fy)


# ---- Functions, local arrays, several loops


@case(x=real(8, low=0.2, high=1.8), y=zero(8))
@qd.kernel
def functions(x: qd.template(), y: qd.template()):
    for i in x:
        v = x[i]
        y[i] = qd.exp(v) + qd.log(v) * qd.tanh(v) + qd.pow(v, 1.7) + qd.sqrt(v) / (1.0 + v ** 3) + qd.abs(v - 1.0)


@case(x=real(8, low=-0.9, high=0.9), z=real(8), y=zero(8))
@qd.kernel
def angles(x: qd.template(), z: qd.template(), y: qd.template()):
    for i in x:
        y[i] = qd.atan2(x[i], z[i]) + qd.asin(x[i]) * qd.tan(z[i]) + qd.acos(x[i]) * qd.cos(z[i])


@case(x=real(9), z=real(9), y=zero(9))
@qd.kernel
def extrema(x: qd.template(), z: qd.template(), y: qd.template()):
    for i in x:
        a = qd.max(x[i], z[i]) * qd.min(x[i], 0.25)
        y[i] = qd.select(a > 0.05, a * x[i], qd.max(qd.min(z[i], 0.5), -0.5))


@case(x=real(4, 6), y=zero(4, 6))
@qd.kernel
def softmax(x: qd.template(), y: qd.template()):
    for i in range(4):
        top = x[i, 0]
        for j in range(1, 6):
            top = qd.max(top, x[i, j])
        total = 0.0
        for j in range(6):
            total += qd.exp(x[i, j] - top)
        for j in range(6):
            y[i, j] = qd.exp(x[i, j] - top) / total


@case(x=real(4, of=(3,)), which=ints(2, 0, 1, 1), y=zero(4))
@qd.kernel
def chosen_component(x: qd.template(), which: qd.template(), y: qd.template()):
    for i in x:
        v = x[i] * 2.0
        for t in range(3):
            v[which[i]] = v[(which[i] + t) % 3] * v[t] + 1.0
        y[i] = v[0] + v[1] * v[2] + x[i][which[i]]


@case(x=real(6), y=zero())
@qd.kernel
def ragged(x: qd.template(), y: qd.template()):
    for i in range(6):
        s = 0.5
        for j in range(i):
            p = x[j]
            for k in range(j, i):
                p = p * x[k] + s
            s += p
        y[None] += s * x[i]


@case(x=real(7), y=zero(7), z=zero())
@qd.kernel
def two_loops(x: qd.template(), y: qd.template(), z: qd.template()):
    for i in x:
        y[i] = x[i] * qd.sin(x[i])
    for i in range(6):
        z[None] += y[i] * y[i + 1]
