"""Pushes a lump of jelly at the floor so that it bounces onto a mark, by the gradient of its simulation through all time steps.

    python push.py push.svg              # 392 points, 300 steps
    python push.py push.svg --side=6     # 72 points

The physics are samples/mpm_step.ir (material points, MLS-MPM), in f64: a slice of jelly between two panes, two points thick, each of
which gets a velocity at the start. Steps run in segments: points have a frame for each step of one segment, and the state at the start
of each segment is copied. The gradient goes through the segments backwards, and runs each again from its copy.
"""

import argparse
import pathlib
import sys
import tempfile
import time

import adc
import adrt
import numpy as np

SAMPLES = pathlib.Path(__file__).resolve().parents[2]
DX, DT = 0.05, 0.002  # of a cell, of a step
CELLS, STEPS, SEGMENT = (48, 7, 28), 300, 20
START, MARK = (0.4, 3 * DX, 0.9), (1.75, 3 * DX, 0.95)  # of its centre; the third axis points up
SQUEEZED = np.diag((1.0, 0.97, 1.0))  # so that it touches both panes: the loss has a kink where it leaves one
OF_A_POINT = {"x": (3,), "v": (3,), "affine": (3, 3), "deformation": (3, 3)}
OF_A_CELL = {"mass": (), "momentum": (3,), "velocity": (3,)}


def compiled():
    """The kernels of mpm_step.ir, with numbers of 64 bits, so that differences of a loss can be compared with its gradient."""
    with tempfile.TemporaryDirectory() as folder:
        for name in "mpm_step.ir", "svd3.ir":
            (pathlib.Path(folder) / name).write_text((SAMPLES / name).read_text().replace("f32", "f64"))
        return adrt.load(adc.compile(pathlib.Path(folder) / "mpm_step.ir", targets="cpu", derive="grad,jvp"))


class Jelly:
    def __init__(self, kernels, side, segment):
        self.kernels, self.segment, self.copies, self.arrays = kernels, segment, [], {}
        at = np.stack(np.meshgrid(np.arange(side), np.arange(2), np.arange(side), indexing="ij"), -1).reshape(-1, 3)
        self.start = START + DX / 2 * (at - at.mean(0))
        mass = (DX / 2) ** 3  # as large as the volume: a density of 1
        self.numbers = dict(dx=DX, dt=DT, volume=mass, particle_mass=mass, gravity=-9.8, mu=np.array(40.0), lambda_=np.array(60.0),
                            mu_tan=np.array(0.0), lambda_tan=np.array(0.0))
        for suffix in "", "_adj", "_tan":
            for name, shape in OF_A_POINT.items():
                self.arrays[name + suffix] = np.zeros((segment + 1, len(at), *shape))
            for name, shape in OF_A_CELL.items():
                self.arrays[name + suffix] = np.zeros((*CELLS, *shape))

    def memory(self):
        """Bytes of what the gradient has of points: frames, their adjoints, and copies."""
        frame = sum(self.arrays[name][0].nbytes for name in OF_A_POINT)
        return frame * (2 * (self.segment + 1) + STEPS // self.segment)

    def launch(self, f, *names):
        """Kernels of step `f` of the segment, each with what it takes."""
        known = {**self.numbers, **self.arrays, "f": f}
        for name in names:
            kernel = self.kernels[name.partition(".")[0]].on(threads=1)
            kernel = getattr(kernel, name.partition(".")[2], kernel)
            kernel(**{param.name: known[param.name] for param in kernel.params if param.name in known})

    def frame(self, f, suffix=""):
        return {name: self.arrays[name + suffix][f] for name in OF_A_POINT}

    def set_frame(self, f, values, suffix=""):
        for name in OF_A_POINT:
            self.arrays[name + suffix][f] = values[name]

    def run(self, push, direction=None, seen=None):
        """All steps, with forward mode along a direction of the push if there is one. Gives where points are in the end."""
        self.set_frame(0, {"x": self.start, "v": push, "affine": 0, "deformation": SQUEEZED})
        if direction is not None:
            self.set_frame(0, {**dict.fromkeys(OF_A_POINT, 0), "v": direction}, "_tan")
        steps = [name + ("" if direction is None else ".jvp") for name in ("clear_grid", "p2g", "grid", "g2p")]
        self.copies = []
        for _ in range(STEPS // self.segment):
            if self.copies:
                self.set_frame(0, self.frame(-1))
                self.set_frame(0, self.frame(-1, "_tan"), "_tan")
            self.copies.append({name: values.copy() for name, values in self.frame(0).items()})
            for f in range(self.segment):
                self.launch(f, *steps)
                if seen is not None:
                    seen.append(self.arrays["x"][f + 1].copy())
        return self.arrays["x"][-1]

    def gradient(self, adjoint):
        """From the adjoint of where points are in the end to that of the push. The last segment has just run."""
        self.set_frame(0, {**dict.fromkeys(OF_A_POINT, 0), "x": adjoint}, "_adj")
        for number, copy in reversed(list(enumerate(self.copies))):
            if number + 1 < len(self.copies):
                self.set_frame(0, copy)
                for f in range(self.segment):
                    self.launch(f, "clear_grid", "p2g", "grid", "g2p")
            self.set_frame(-1, self.frame(0, "_adj"), "_adj")
            for name in OF_A_POINT:
                self.arrays[name + "_adj"][:-1] = 0
            for f in reversed(range(self.segment)):
                for name in OF_A_CELL:
                    self.arrays[name + "_adj"][...] = 0
                self.launch(f, "clear_grid", "p2g", "grid", "g2p.grad", "grid.grad", "p2g.grad")
        return self.arrays["v_adj"][0]


def miss(x):
    """The square of the distance of the centre to its mark, and its adjoint of each point."""
    away = (x.mean(0) - MARK) * (1, 0, 1)
    return float(away @ away), np.broadcast_to(2 * away / len(x), x.shape)


def check(jelly, whole, push):
    """Compares reverse mode, in segments and with all frames in memory, with forward mode and central differences."""
    direction = np.random.default_rng(1).standard_normal(push.shape) * (1, 0, 1)
    found = []
    for one in whole, jelly:
        started = time.perf_counter()
        _, adjoint = miss(one.run(push))
        gradient = one.gradient(adjoint).copy()
        print(f"segments of {one.segment} steps: {one.memory() / 1e6:.1f} MB, the gradient takes {time.perf_counter() - started:.2f} s")
        found.append(gradient)
    reverse = float((gradient * direction).sum())
    _, adjoint = miss(jelly.run(push, direction))
    forward = float((jelly.arrays["x_tan"][-1] * adjoint).sum())
    step = 2.0 ** -18
    central = (miss(jelly.run(push + step * direction))[0] - miss(jelly.run(push - step * direction))[0]) / (2 * step)
    print(f"d loss: reverse mode {reverse:.9f}, forward mode {forward:.9f}, central differences {central:.9f}")
    if not np.array_equal(*found) or abs(reverse - forward) > 1e-9 * abs(forward) or abs(central - forward) > 1e-4 * abs(forward):
        sys.exit("push.py: the derivatives differ")


PAPER = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 400" role="img" aria-labelledby="title desc">
<title id="title">A lump of jelly bounces onto a mark</title>
<desc id="desc">Grey: the push at the start, and the lump passes below the mark. Green: the push that the gradient has found.</desc>
<style>
  text { fill: #667; font: 15px system-ui, sans-serif; } .line { fill: none; stroke: #aab; stroke-width: 20; }
  .floor { stroke: #889; stroke-width: 40; } .mark { fill: none; stroke: #d40; stroke-width: 30; }
  .before { fill: #aab; fill-opacity: 0.35; stroke: #889; stroke-width: 10; }
  .after { fill: #2a7; fill-opacity: 0.6; stroke: #063; stroke-width: 10; }
  @media (prefers-color-scheme: dark) { text { fill: #aab; } .after { stroke: #bfd; } }
</style>
"""


def draw(file, side, before, after):
    """An SVG file in which both bodies move: a mesh of each, every tenth step, in tenths of a pixel."""
    def place(point):
        return round(3200 * point[0] - 200), round(3900 - 3200 * (point[2] - 2 * DX))

    def mesh(points):
        corners = points.reshape(side, 2, side, 3)[:, 0]
        stride, path = max(1, (side - 1) // 6), []
        for a in range(0, side - stride, stride):
            for b in range(0, side - stride, stride):
                around = [place(corners[a + i * stride, b + k * stride]) for i, k in ((0, 0), (1, 0), (1, 1), (0, 1))]
                path.append("M{} {}".format(*around[0]))
                path += ["l{} {}".format(x - u, y - v) for (u, v), (x, y) in zip(around, around[1:])] + ["z"]
        return "".join(path)

    def body(kind, seen):
        shown = [mesh(points) for points in seen[9::10]]
        times = ";".join(f"{0.6 * n / (len(shown) - 1):.3f}" for n in range(len(shown)))
        centres = " ".join("{},{}".format(*place(points.mean(0))) for points in seen[4::5])
        return (f'<polyline class="line" points="{centres}"/><path class="{kind}" d="{shown[-1]}"><animate attributeName="d" dur="4s" '
                f'repeatCount="indefinite" keyTimes="{times};1" values="{";".join([*shown, shown[-1]])}"/></path>')

    x, y = place(MARK)
    lines = [PAPER + '<g transform="scale(0.1)"><path class="floor" d="M0 3900H7200"/>', body("before", before), body("after", after),
             f'<path class="mark" d="M{x - 200} {y}H{x + 200}M{x} {y - 200}V{y + 200}"/></g>',
             '<text x="20" y="30">grey: the push at the start, green: the push that was found</text></svg>\n']
    pathlib.Path(file).write_text("\n".join(lines), encoding="utf-8")


def main(options):
    kernels = compiled()
    jelly, whole = (Jelly(kernels, options.side, segment) for segment in (SEGMENT, STEPS))
    push = np.tile((1.2, 0.0, 0.0), (len(jelly.start), 1))
    print(f"{len(push)} points, {STEPS} steps")
    check(jelly, whole, push)
    before, after = [], []
    jelly.run(push, seen=before)
    for turn in range(options.turns + 1):
        loss, adjoint = miss(jelly.run(push))
        if turn % 6 == 0 or loss < 1e-6:
            print(f"after {turn:2d} turns the centre is {100 * loss ** 0.5:.2f} cm beside the mark", flush=True)
        if loss < 1e-6:
            break
        gradient = jelly.gradient(adjoint)
        push = push - 1.5 * loss / (gradient * gradient).sum() * gradient  # as far as Newton's method would go, or almost
    jelly.run(push, seen=after)
    draw(options.picture, options.side, before, after)
    print("the push: ({:.2f}, {:.2f}) m/s in the mean".format(push.mean(0)[0], push.mean(0)[2]))
    if loss >= 1e-6:
        sys.exit("push.py: it does not reach the mark")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", help="the file to write, in the format SVG")
    parser.add_argument("--side", type=int, default=14, help="points along an edge of the lump")
    parser.add_argument("--turns", type=int, default=30, help="at most, of the descent")
    main(parser.parse_args())
