"""A quadrotor flies a figure of eight in wind that it does not know: model predictive control, by the gradient of a simulation.

    python quadrotor.py quadrotor.svg                # 6 seconds of flight
    python quadrotor.py quadrotor.svg --seconds=0.6

In each step of 20 milliseconds the controller simulates the next half second, asks the gradient how the 4 rotors should have
pushed in each of its 25 steps, improves the plan a few times, and flies the first step of it. `fly` is the model and the world:
the controller runs it without wind, the world with gusts.
"""

import argparse
import math
import sys

import adc
import numpy as np

STEP, HORIZON, ROTORS = 0.02, 25, 4
MASS, ARM, GRAVITY, MOST = 0.8, 0.17, 9.81, 5.0  # kg, m, m/s², N of one rotor
INERTIA, DRAG, TWIST = (0.006, 0.006, 0.011), 0.25, 0.016  # kg m², kg/s, m: torque about the axis for each N
HOVER = math.log(MASS * GRAVITY / ROTORS / (MOST - MASS * GRAVITY / ROTORS))  # what a rotor is told in order to carry its share


@adc.kernel(derive="grad,jvp")
def fly(start: adc.buffer[adc.f64, 1], told: adc.buffer[adc.f64, 2, adc.diff], wanted: adc.buffer[adc.f64, 2],
        wind: adc.buffer[adc.f64, 1], states: adc.buffer[adc.f64, 2], loss: adc.buffer[adc.f64, 0, adc.diff]):
    # A state: position, velocity, attitude as a quaternion (w, x, y, z), and turning rates of the body.
    for run in adc.parallel(1):
        px, py, pz, vx, vy, vz = start[0], start[1], start[2], start[3], start[4], start[5]
        qw, qx, qy, qz, wx, wy, wz = start[6], start[7], start[8], start[9], start[10], start[11], start[12]
        cost = 0.0
        for t in range(told.shape[0]):
            a = MOST / (1.0 + math.exp(-told[t, 0]))  # front left, and on clockwise
            b = MOST / (1.0 + math.exp(-told[t, 1]))
            c = MOST / (1.0 + math.exp(-told[t, 2]))
            d = MOST / (1.0 + math.exp(-told[t, 3]))
            push = (a + b + c + d) / MASS
            vx += STEP * (push * 2.0 * (qx * qz + qw * qy) - DRAG / MASS * (vx - wind[0]))
            vy += STEP * (push * 2.0 * (qy * qz - qw * qx) - DRAG / MASS * (vy - wind[1]))
            vz += STEP * (push * (1.0 - 2.0 * (qx * qx + qy * qy)) - GRAVITY - DRAG / MASS * (vz - wind[2]))
            px += STEP * vx
            py += STEP * vy
            pz += STEP * vz
            turn_x = (ARM * (a + d - b - c) - (INERTIA[2] - INERTIA[1]) * wy * wz) / INERTIA[0]
            turn_y = (ARM * (c + d - a - b) - (INERTIA[0] - INERTIA[2]) * wz * wx) / INERTIA[1]
            turn_z = (TWIST * (a + c - b - d) - (INERTIA[1] - INERTIA[0]) * wx * wy) / INERTIA[2]
            wx += STEP * turn_x
            wy += STEP * turn_y
            wz += STEP * turn_z
            nw = qw - 0.5 * STEP * (qx * wx + qy * wy + qz * wz)
            nx = qx + 0.5 * STEP * (qw * wx + qy * wz - qz * wy)
            ny = qy + 0.5 * STEP * (qw * wy + qz * wx - qx * wz)
            nz = qz + 0.5 * STEP * (qw * wz + qx * wy - qy * wx)
            size = math.sqrt(nw * nw + nx * nx + ny * ny + nz * nz)
            qw, qx, qy, qz = nw / size, nx / size, ny / size, nz / size
            ex, ey, ez = px - wanted[t, 0], py - wanted[t, 1], pz - wanted[t, 2]
            cost += 10.0 * (ex * ex + ey * ey + ez * ez) + 0.02 * (wx * wx + wy * wy + wz * wz)
            for r in range(ROTORS):
                off = told[t, r] - HOVER
                cost += 0.003 * off * off
            states[t, 0], states[t, 1], states[t, 2], states[t, 3], states[t, 4], states[t, 5] = px, py, pz, vx, vy, vz
            states[t, 6], states[t, 7], states[t, 8], states[t, 9] = qw, qx, qy, qz
            states[t, 10], states[t, 11], states[t, 12] = wx, wy, wz
        loss[()] = cost


def path(times):
    """Where it shall be: a figure of eight, flown once in three seconds, that rises and falls."""
    turn = 2 * np.pi * times / 3
    return np.stack([2.0 * np.sin(turn), 1.0 * np.sin(2 * turn), 1.5 + 0.4 * np.cos(turn)], -1)


def check(kernel, start, told, wanted, wind):
    """Compares reverse mode with forward mode and with central differences, along a direction that moves all that is told."""
    direction = np.random.default_rng(3).standard_normal(told.shape)
    given = dict(start=start, wanted=wanted, wind=wind)
    shape = (len(told), 13)

    def loss(at):
        return float(kernel(told=at, states=shape, **given).loss)

    left = kernel(told=told, states=shape, **given)
    gradient = kernel.grad(told=told, states=left.states, loss=left.loss, loss_adj=1.0, **given).told_adj
    reverse = float((gradient * direction).sum())
    forward = float(kernel.jvp(told=told, told_tan=direction, states=shape, **given).loss_tan)
    step = 2.0 ** -15
    central = (loss(told + step * direction) - loss(told - step * direction)) / (2 * step)
    print(f"d loss: reverse mode {reverse:.9f}, forward mode {forward:.9f}, central differences {central:.9f}")
    if abs(reverse - forward) > 1e-9 * abs(forward) or abs(central - forward) > 1e-4 * abs(forward):
        sys.exit("quadrotor.py: the derivatives differ")


class Controller:
    """Improves a plan by Adam, and hands out its first step. What it found out last time is where it begins."""

    def __init__(self, kernel, improvements):
        self.kernel, self.improvements = kernel, improvements
        self.plan = np.full((HORIZON, ROTORS), HOVER)
        self.mean, self.square = np.zeros_like(self.plan), np.zeros_like(self.plan)
        self.rounds, self.no_wind = 0, np.zeros(3)

    def step(self, state, wanted):
        given = dict(start=state, wanted=wanted, wind=self.no_wind)
        for _ in range(self.improvements):
            left = self.kernel(told=self.plan, states=(HORIZON, 13), **given)
            gradient = self.kernel.grad(told=self.plan, states=left.states, loss=left.loss, loss_adj=1.0, **given).told_adj
            self.rounds += 1
            self.mean = 0.8 * self.mean + 0.2 * gradient
            self.square = 0.95 * self.square + 0.05 * gradient * gradient
            scale = np.sqrt(self.square / (1 - 0.95 ** self.rounds)) + 1e-9
            self.plan -= 0.08 * self.mean / (1 - 0.8 ** self.rounds) / scale
        first = self.plan[:1].copy()
        for steps in self.plan, self.mean, self.square:  # the next step begins one later
            steps[:-1] = steps[1:]
        return first


def draw(file, flown, wanted):
    """What was flown and what was wanted, from above and from the side, as an SVG file."""
    def line(points, axes, top, colour, width):
        text = " ".join(f"{260 + 100 * p[axes[0]]:.1f},{top - 100 * p[axes[1]]:.1f}" for p in points)
        return f'<polyline points="{text}" fill="none" stroke="{colour}" stroke-width="{width}"/>'

    body = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 520 375" font-family="sans-serif" font-size="13" fill="#888">']
    for name, axes, top in ("from above", (0, 1), 130), ("from the side", (0, 2), 460):
        body += [line(wanted, axes, top, "#bbb", 5), line(flown, axes, top, "#2a7", 2),
                 f'<text x="10" y="{20 if top < 200 else 270}">{name}</text>']
    body.append('<text x="330" y="20">grey: wanted, green: flown</text></svg>\n')
    with open(file, "w", encoding="utf-8") as out:
        out.write("\n".join(body))


def main(options):
    kernel = fly.loaded
    steps = max(1, round(options.seconds / STEP))
    wanted = path(STEP * np.arange(1, steps + HORIZON + 1))
    rng, gust = np.random.default_rng(1), np.zeros(3)
    state = np.concatenate([path(np.zeros(1))[0], [0, 0, 0], [1, 0, 0, 0], [0, 0, 0]]).astype("f8")
    check(kernel, state, HOVER + 0.3 * rng.standard_normal((HORIZON, ROTORS)), wanted[:HORIZON], np.array([1.0, 0.5, 0.0]))
    controller, flown = Controller(kernel, options.improvements), []
    for step in range(steps):
        gust = 0.98 * gust + 0.2 * rng.standard_normal(3) * (1.0, 1.0, 0.3)
        told = controller.step(state, wanted[step:step + HORIZON])
        wind = np.array([1.5, -1.0, 0.0]) + gust
        state = kernel(start=state, told=told, wanted=wanted[step:step + 1], wind=wind, states=(1, 13)).states[0]
        flown.append(state[:3])
        if (step + 1) % 50 == 0:
            away = np.linalg.norm(np.array(flown[-50:]) - wanted[step - 49:step + 1], axis=1)
            print(f"second {(step + 1) * STEP:.0f}: {100 * away.mean():.0f} cm beside the path, {100 * away.max():.0f} at most")
    draw(options.picture, flown, wanted[:steps])
    away = np.linalg.norm(np.array(flown) - wanted[:steps], axis=1)
    print(f"{steps} steps: {100 * away.mean():.0f} cm beside the path in the mean, {100 * away[-25:].mean():.0f} in the last half second")
    if away[-25:].mean() > 0.3:
        sys.exit("quadrotor.py: it is not on its path")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", help="the file to write, in the format SVG")
    parser.add_argument("--seconds", type=float, default=6.0, help="of flight")
    parser.add_argument("--improvements", type=int, default=12, help="of the plan in each step")
    main(parser.parse_args())
