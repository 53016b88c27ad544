"""Twelve kernels in Python, each the same as a kernel in C++: samples/cpp has the first five, twins.cpp the others."""

import math

import adc
from adc import f32, f64, i32

V3, V4 = adc.vec[f32, 3], adc.vec[f32, 4]
D2, D3, D4 = adc.vec[f64, 2], adc.vec[f64, 3], adc.vec[f64, 4]


def given(element, rank):
    return adc.buffer[element, rank, adc.readonly]


def active(element, rank):
    return adc.buffer[element, rank, adc.diff, adc.readonly]


def out(element, rank, *more):
    return adc.buffer[(element, rank, adc.diff, *more)]


@adc.kernel
def relax(x: out(f32, 1), loss: out(f32, 0), n: i32):
    for i in adc.parallel(x.shape[0]):
        v = x[i]
        for t in range(n):
            v = math.sin(v) + 0.1
        adc.atomic_add(loss, (), v)


@adc.kernel
def csr_reduce(start: given(i32, 1), column: given(i32, 1), value: active(f32, 1), x: active(f32, 1), y: out(f32, 1)):
    for r in adc.parallel(y.shape[0]):
        s = 0.0
        for k in range(start[r], start[r + 1]):
            s = math.tanh(s + value[k] * x[column[k]])
        y[r] = s


@adc.function
def poly6(distance_squared, h):
    rest = h * h - distance_squared
    if rest <= 0:
        return 0.0
    h3 = h * h * h
    return 315.0 / (64.0 * math.pi * h3 * h3 * h3) * rest * rest * rest


@adc.kernel
def sph_density(start: given(i32, 1), neighbour: given(i32, 1), position: active(V3, 1), density: out(f32, 1), loss: out(f32, 0),
                mass: f32[adc.diff], h: f32, at_rest: f32):
    for i in adc.parallel(position.shape[0]):
        here = position[i]
        total = 0.0
        for k in range(start[i], start[i + 1]):
            apart = here - position[neighbour[k]]
            total += mass * poly6(adc.dot(apart, apart), h)
        density[i] = total
        adc.atomic_add(loss, (), (total - at_rest) * (total - at_rest))


@adc.function
def spring_force(stiffness, damping, apart, relative, rest):
    now = adc.norm(apart)
    along = apart / now
    return along * (stiffness * (now - rest) + damping * adc.dot(relative, along))


@adc.kernel
def cloth_springs(position: active(V3, 2), velocity: active(V3, 2), force: out(V3, 2), spring_stiffness: f32, spring_damping: f32,
                  stiffness: f32[adc.diff], rest: f32, gravity: V3):
    rows, columns = position.shape
    for r, c in adc.parallel(rows, columns):
        own = spring_stiffness + stiffness
        total = gravity
        for dr in range(-1, 2):
            for dc in range(-1, 2):
                r2, c2 = r + dr, c + dc
                itself = dr == 0 and dc == 0
                if itself or r2 < 0 or r2 >= rows or c2 < 0 or c2 >= columns:
                    continue
                far = math.sqrt(2.0) * rest if dr != 0 and dc != 0 else rest
                total += spring_force(own, spring_damping, position[r2, c2] - position[r, c], velocity[r2, c2] - velocity[r, c], far)
        force[r, c] = total


@adc.function
def multiply(a, b):
    u, v = adc.vec3(a.x, a.y, a.z), adc.vec3(b.x, b.y, b.z)
    w = a.w * v + b.w * u + adc.cross(u, v)
    return adc.vec4(w.x, w.y, w.z, a.w * b.w - adc.dot(u, v))


@adc.function
def rotate(q, v):
    u = adc.vec3(q.x, q.y, q.z)
    t = 2.0 * adc.cross(u, v)
    return v + q.w * t + adc.cross(u, t)


@adc.function
def about(axis, angle):
    v = axis * math.sin(0.5 * angle)
    return adc.vec4(v.x, v.y, v.z, math.cos(0.5 * angle))


@adc.kernel
def forward_kinematics(parent: given(i32, 1), axis: given(V3, 1), offset: given(V3, 1), angle: active(f32, 2),
                       position: out(V3, 2, adc.writeonce), rotation: out(V4, 2, adc.writeonce)):
    for robot in adc.parallel(angle.shape[0]):
        for link in range(parent.shape[0]):
            at = offset[link]
            turn = about(axis[link], angle[robot, link])
            above = parent[link]
            if above >= 0:
                q = rotation[robot, above]
                at = position[robot, above] + rotate(q, at)
                turn = multiply(q, turn)
            position[robot, link] = at
            rotation[robot, link] = turn


@adc.function
def turned(q, rate, dt):
    u = adc.vec3(q.x, q.y, q.z)
    change = (q.w * rate + adc.cross(u, rate)) * (0.5 * dt)
    scalar = -0.5 * dt * adc.dot(u, rate)
    following = adc.vec4(q.x + change.x, q.y + change.y, q.z + change.z, q.w + scalar)
    return following / adc.norm(following)


@adc.kernel
def quadrotor(start: active(D3, 1), thrust: active(f64, 3), goal: given(D3, 1), loss: out(f64, 0), mass: f64[adc.diff], arm: f64,
              dt: f64):
    steps = thrust.shape[1]
    for i in adc.parallel(start.shape[0]):
        position, velocity, rate = start[i], adc.vec3(0.0), adc.vec3(0.0)
        turn = adc.vec4(0.0, 0.0, 0.0, 1.0)
        for t in range(steps):
            a, b, c, d = thrust[i, t, 0], thrust[i, t, 1], thrust[i, t, 2], thrust[i, t, 3]
            lift = rotate(turn, adc.vec3(0.0, 0.0, (a + b + c + d) / mass))
            velocity = velocity + (lift - adc.vec3(0.0, 0.0, 9.81) - 0.1 * velocity) * dt
            position = position + velocity * dt
            torque = adc.vec3(arm * (b - d), arm * (c - a), 0.01 * (a - b + c - d))
            rate = rate + (torque - adc.cross(rate, rate * 0.5)) * dt
            turn = turned(turn, rate, dt)
        miss = position - goal[i]
        adc.atomic_add(loss, (), adc.dot(miss, miss))


@adc.kernel
def mpm_grid(mass: active(f64, 3), momentum: active(D3, 3), velocity: out(D3, 3), gravity: D3, dt: f64, friction: f64, wall: i32):
    nx, ny, nz = mass.shape
    for i, j, k in adc.parallel(nx, ny, nz):
        m = mass[i, j, k]
        if not m > 1e-10:
            continue
        v = momentum[i, j, k] / m + gravity * dt
        if k < wall and v.z < 0.0:
            along = math.sqrt(v.x * v.x + v.y * v.y + 1e-12)
            left = max(along + friction * v.z, 0.0) / along
            v = adc.vec3(v.x * left, v.y * left, 0.0)
        if (i < wall and v.x < 0.0) or (i >= nx - wall and v.x > 0.0):
            v = adc.vec3(0.0, v.y, v.z)
        if (j < wall and v.y < 0.0) or (j >= ny - wall and v.y > 0.0):
            v = adc.vec3(v.x, 0.0, v.z)
        velocity[i, j, k] = v


@adc.kernel
def bundle_adjustment(camera_of: given(i32, 1), point_of: given(i32, 1), seen: given(D2, 1), camera: active(f64, 2),
                      point: active(D3, 1), loss: out(f64, 0), width: f64):
    for o in adc.parallel(seen.shape[0]):
        c = camera_of[o]
        axis, p = adc.vec3(camera[c, 0], camera[c, 1], camera[c, 2]), point[point_of[o]]
        angle_squared = adc.dot(axis, axis)
        if angle_squared > 1e-12:
            angle = math.sqrt(angle_squared)
            w = axis / angle
            q = p * math.cos(angle) + adc.cross(w, p) * math.sin(angle) + w * (adc.dot(w, p) * (1.0 - math.cos(angle)))
        else:
            q = p + adc.cross(axis, p)
        q = q + adc.vec3(camera[c, 3], camera[c, 4], camera[c, 5])
        x, y = -q.x / q.z, -q.y / q.z
        r = x * x + y * y
        scale = camera[c, 6] * (1.0 + r * (camera[c, 7] + camera[c, 8] * r))
        dx, dy = scale * x - seen[o].x, scale * y - seen[o].y
        e = dx * dx + dy * dy
        adc.atomic_add(loss, (), e if e <= width * width else 2.0 * width * math.sqrt(e) - width * width)


@adc.kernel
def contact(pair: given(i32, 2), position: active(D3, 1), velocity: active(D3, 1), radius: active(f64, 1), force: out(D3, 1),
            stiffness: f64, damping: f64, friction: f64):
    for n in adc.parallel(pair.shape[0]):
        a, b = pair[n, 0], pair[n, 1]
        apart = position[b] - position[a]
        distance = adc.norm(apart)
        depth = radius[a] + radius[b] - distance
        if depth <= 0.0:
            continue
        normal, relative = apart / distance, velocity[b] - velocity[a]
        inward = adc.dot(relative, normal)
        push = max(stiffness * depth - damping * inward, 0.0)
        along = relative - normal * inward
        slide = math.sqrt(adc.dot(along, along) + 1e-8)
        pull = normal * push - along * (friction * push / slide)
        adc.atomic_add(force, b, pull)
        adc.atomic_sub(force, a, pull)


@adc.function
def score(query, key, i, j):
    width = query.shape[1]
    total = 0.0
    for k in range(width):
        total += query[i, k] * key[j, k]
    return total / math.sqrt(f64(width))


@adc.kernel
def attention(query: active(f64, 2), key: active(f64, 2), value: active(f64, 2), out: out(f64, 2)):
    length, width = key.shape[0], query.shape[1]
    for i in adc.parallel(query.shape[0]):
        largest, total = -1e30, 0.0
        for j in range(length):
            largest = max(largest, score(query, key, i, j))
        for j in range(length):
            total += math.exp(score(query, key, i, j) - largest)
        for j in range(length):
            weight = math.exp(score(query, key, i, j) - largest) / total
            for k in range(width):
                out[i, k] += weight * value[j, k]


@adc.function
def scene(p, radius):
    ball, floor = adc.norm(p) - radius, p.y + 1.0
    h = max(0.3 - abs(ball - floor), 0.0) / 0.3
    return min(ball, floor) - h * h * 0.075


@adc.kernel
def ray_march(direction: given(D3, 1), eye: D3, radius: f64[adc.diff], depth: out(f64, 1), most: i32):
    for i in adc.parallel(direction.shape[0]):
        along = direction[i]
        t = 0.0
        for step in range(most):
            near = scene(eye + along * t, radius)
            if near < 1e-3 or t > 8.0:
                break
            t += near
        depth[i] = t


@adc.kernel
def delay_line(input: active(f64, 2), output: out(f64, 2, adc.settled), feedback: f64[adc.diff], damp: f64[adc.diff], delay: i32):
    samples = input.shape[1]
    for c in adc.parallel(input.shape[0]):
        low = 0.0
        for t in range(samples):
            back = 0.0
            if t >= delay:
                back = output[c, t - delay]
            low = low + (back - low) * damp
            output[c, t] = input[c, t] + math.tanh(feedback * low)
