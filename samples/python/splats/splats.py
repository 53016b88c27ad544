"""Fits splats, which are ellipses that fade out, to a picture: positions, sizes, angles, colours and opacities, by gradient.

    python splats.py splats.svg                     # 96 splats, 64 x 64 pixels, 400 steps: a minute
    python splats.py splats.svg --splats=12 --size=16 --steps=40

The kernel `paint` is a function of Python that `adc` compiles. A pixel goes through all splats, from the front to the back,
and each takes a part of the light that the ones before have left. The gradient goes the same way backwards, and needs from each turn how
much light was left: `adc` finds that out, and tapes it.
"""

import argparse
import base64
import math
import struct
import sys
import zlib

import adc

import numpy as np

# Of a splat: its centre, the logarithms of its two radii, its angle, red, green, blue, and how opaque it is.
NUMBERS = 9


@adc.function
def squashed(v):
    return 1.0 / (1.0 + math.exp(-v))


@adc.kernel(derive="grad,jvp")
def paint(splats: adc.buffer[adc.f64, 2, adc.diff], wanted: adc.buffer[adc.f64, 2], size: adc.i32,
          picture: adc.buffer[adc.f64, 2], loss: adc.buffer[adc.f64, 0, adc.diff]):
    for p in adc.parallel(wanted.shape[0]):
        px = (adc.f64(p % size) + 0.5) / adc.f64(size)
        py = (adc.f64(p // size) + 0.5) / adc.f64(size)
        light, red, green, blue = 1.0, 0.0, 0.0, 0.0
        for k in range(splats.shape[0]):
            dx, dy = px - splats[k, 0], py - splats[k, 1]
            c, s = math.cos(splats[k, 4]), math.sin(splats[k, 4])
            u = (c * dx + s * dy) * math.exp(-splats[k, 2])
            v = (c * dy - s * dx) * math.exp(-splats[k, 3])
            alpha = squashed(splats[k, 8]) * math.exp(-0.5 * (u * u + v * v))
            red += light * alpha * squashed(splats[k, 5])
            green += light * alpha * squashed(splats[k, 6])
            blue += light * alpha * squashed(splats[k, 7])
            light *= 1.0 - alpha
        picture[p, 0], picture[p, 1], picture[p, 2] = red, green, blue
        dr, dg, db = red - wanted[p, 0], green - wanted[p, 1], blue - wanted[p, 2]
        adc.atomic_add(loss, (), (dr * dr + dg * dg + db * db) / adc.f64(wanted.shape[0]))


def scene(size):
    """The picture that the splats shall show: a ball with a shadow, on a striped floor, before a sky. Rows of pixels."""
    y, x = (np.mgrid[0:size, 0:size] + 0.5) / size
    floor = y > 0.62
    stripe = (np.floor(6 * (x - 0.5) / np.maximum(y - 0.45, 0.05) * 0.35) % 2)[..., None]
    sky = np.stack([0.35 + 0.5 * y, 0.55 + 0.3 * y, 0.9 - 0.1 * y], -1)
    rgb = np.where(floor[..., None], 0.35 + 0.3 * stripe * np.array([1.0, 0.8, 0.5]), sky)
    shadow = np.exp(-(((x - 0.56) / 0.2) ** 2 + ((y - 0.83) / 0.05) ** 2) ** 2)
    rgb *= 1 - 0.6 * (shadow * floor)[..., None]
    nx, ny = (x - 0.5) / 0.27, (y - 0.56) / 0.27
    nz = np.sqrt(np.maximum(1 - nx * nx - ny * ny, 0))
    lit = np.maximum(-0.5 * nx - 0.6 * ny + 0.62 * nz, 0)
    ball = np.stack([0.12 + 0.8 * lit, 0.06 + 0.25 * lit, 0.1 + 0.2 * lit], -1) + 0.7 * (lit ** 24)[..., None]
    return np.clip(np.where((nz > 0)[..., None], ball, rgb), 0, 1).reshape(-1, 3).astype("f8")


def png(pixels, size):
    """Pixels as the bytes of a picture in the format PNG."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (np.clip(pixels, 0, 1) * 255 + 0.5).astype("u1").reshape(size, 3 * size)
    data = b"".join(b"\0" + row.tobytes() for row in rows)
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b"")


def draw(path, panels, size):
    """An SVG file with pictures side by side, each with a line of text."""
    body = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {170 * len(panels)} 190" font-family="sans-serif" font-size="11" '
            'fill="#888">']
    for at, (text, pixels) in enumerate(panels):
        data = base64.b64encode(png(pixels, size)).decode()
        body.append(f'<image x="{170 * at + 5}" y="5" width="160" height="160" style="image-rendering:pixelated" '
                    f'href="data:image/png;base64,{data}"/><text x="{170 * at + 5}" y="181">{text}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*body, "</svg>\n"]))


def evaluate(kernel, splats, wanted, size):
    """What the kernel leaves, and the gradient of its loss."""
    left = kernel(splats=splats, wanted=wanted, size=size, picture=wanted.shape)
    gradient = kernel.grad(splats=splats, wanted=wanted, size=size, picture=left.picture, loss=left.loss, loss_adj=1.0)
    return left, gradient.splats_adj


def check(kernel, splats, wanted, size):
    """Compares reverse mode with forward mode and with central differences, along a direction that moves all numbers."""
    rng = np.random.default_rng(2)
    direction = rng.standard_normal(splats.shape)

    def loss(at):
        return float(kernel(splats=at, wanted=wanted, size=size, picture=wanted.shape).loss)

    left, gradient = evaluate(kernel, splats, wanted, size)
    reverse = float((gradient * direction).sum())
    pushed = kernel.jvp(splats=splats, splats_tan=direction, wanted=wanted, size=size, picture=wanted.shape)
    forward = float(pushed.loss_tan)
    step = 2.0 ** -16
    central = (loss(splats + step * direction) - loss(splats - step * direction)) / (2 * step)
    print(f"d loss: reverse mode {reverse:.9f}, forward mode {forward:.9f}, central differences {central:.9f}")
    if abs(reverse - forward) > 1e-9 * abs(forward) or abs(central - forward) > 1e-5 * abs(forward):
        sys.exit("splats.py: the derivatives differ")


def fit(options):
    kernel = paint.loaded
    rng = np.random.default_rng(1)
    size, count, wanted = options.size, options.splats, scene(options.size)
    splats = np.zeros((count, NUMBERS), "f8")
    splats[:, :2] = rng.random((count, 2))
    splats[:, 2:4] = np.log(0.5 / np.sqrt(count))
    splats[:, 4] = rng.random(count) * np.pi
    check(kernel, splats, wanted, size)
    rates = np.array([0.004, 0.004, 0.02, 0.02, 0.04, 0.05, 0.05, 0.05, 0.05], "f8")
    mean, square = np.zeros_like(splats), np.zeros_like(splats)
    panels, first = [("wanted", wanted)], None
    for step in range(1, options.steps + 1):
        left, gradient = evaluate(kernel, splats, wanted, size)
        loss = float(left.loss)
        if first is None:
            first = loss
            panels.append((f"{count} splats, loss {loss:.3f}", left.picture))
        if step == 1 or step % max(1, options.steps // 8) == 0:
            print(f"step {step:4d}: loss {loss:.6f}", flush=True)
        mean = 0.9 * mean + 0.1 * gradient  # Adam
        square = 0.99 * square + 0.01 * gradient * gradient
        scaled = mean / (1 - 0.9 ** step) / (np.sqrt(square / (1 - 0.99 ** step)) + 1e-12)
        splats -= (rates * min(1.0, 2.0 * (1 - step / (options.steps + 1))) * scaled).astype("f8")
    left = kernel(splats=splats, wanted=wanted, size=size, picture=wanted.shape)
    panels.append((f"{options.steps} steps later, loss {float(left.loss):.4f}", left.picture))
    draw(options.picture, panels, size)
    if float(left.loss) > first / 4:
        sys.exit("splats.py: the loss did not fall to a quarter")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", help="the file to write, in the format SVG")
    parser.add_argument("--splats", type=int, default=96)
    parser.add_argument("--size", type=int, default=64, help="pixels along an edge")
    parser.add_argument("--steps", type=int, default=400)
    fit(parser.parse_args())
