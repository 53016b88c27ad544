"""Images of shaders as arrays: what is loaded, stored, sampled and gathered, and derivatives to texels and coordinates."""

import itertools
import math
import unittest

import adc
import adrt
import numpy as np
from support import main

HEAD = "#version 460\n"
SIZE = "layout(local_size_x = 8, local_size_y = 8) in;\n"


def kernel(body, *options):
    bundle = adrt.load(adc.compile(HEAD + body.replace("layout", SIZE + "layout", 1), kind="glsl", targets="cpu", derive=["grad", "jvp"], options=[*options, "-w"]))
    return bundle[next(iter(bundle))]


def wrapped(index, extent, wrap):
    if wrap == "clamp":
        return min(max(index, 0), extent - 1)
    if wrap == "repeat":
        return index % extent
    if wrap == "mirror":
        return extent - 1 - abs(index % (2 * extent) - extent) if index % (2 * extent) >= extent else index % (2 * extent)
    return index


def sampled(texels, place, linear=True, wrap="clamp", offset=None):
    """A texture of any number of axes at a place, x first, in double precision."""
    axes = len(place)
    at = [place[n] * texels.shape[axes - 1 - n] - (0.5 if linear else 0) for n in range(axes)]
    low = [math.floor(v) for v in at]
    total = 0.0
    for corner in itertools.product((0, 1), repeat=axes) if linear else [(0,) * axes]:
        weight = math.prod((v - b if up else 1 - (v - b)) if linear else 1 for v, b, up in zip(at, low, corner))
        index = [wrapped(b + up + (offset[n] if offset else 0), texels.shape[axes - 1 - n], wrap)
                 for n, (b, up) in enumerate(zip(low, corner))]
        inside = all(0 <= i < texels.shape[axes - 1 - n] for n, i in enumerate(index))
        total = total + weight * (texels[tuple(reversed(index))] if inside else 0 * texels[(0,) * axes])
    return total


def differences(function, value, step=1e-6):
    found = np.zeros_like(value)
    for index in np.ndindex(value.shape):
        ahead, behind = value.copy(), value.copy()
        ahead[index] += step
        behind[index] -= step
        found[index] = (function(ahead) - function(behind)) / (2 * step)
    return found


class Storage(unittest.TestCase):
    def test_blur(self):
        blur = kernel("""layout(binding = 0, r32f) uniform readonly image2D src;  // adc: diff
layout(binding = 1, r32f) uniform writeonly image2D dst;  // adc: diff
void main() {
  ivec2 p = ivec2(gl_GlobalInvocationID.xy);
  float sum = 0.0;
  for (int j = -1; j <= 1; ++j) for (int i = -1; i <= 1; ++i) sum += imageLoad(src, p + ivec2(i, j)).r;
  imageStore(dst, p, vec4(sin(sum)));
}""")
        source = np.random.default_rng(1).random((7, 10), "float32")
        wide = lambda x: sum(np.pad(x, 1)[j:j + 7, i:i + 10] for j in range(3) for i in range(3))
        sizes = {"invocations_x": 16, "invocations_y": 8}
        out = np.zeros_like(source)
        blur(src=source, dst=out, **sizes)
        np.testing.assert_allclose(out, np.sin(wide(source)), rtol=1e-5)
        seed = np.random.default_rng(2).random((7, 10), "float32")
        adjoint = np.zeros_like(source)
        blur.grad(src=source, dst=out, src_adj=adjoint, dst_adj=seed.copy(), **sizes)
        np.testing.assert_allclose(adjoint, wide(seed * np.cos(wide(source))), rtol=1e-4, atol=1e-5)

    def test_formats(self):
        kinds = (("r32f", "float32", 1, 1.0), ("rgba32f", "float32", 4, 1.0), ("rg16f", "float16", 2, 1.0), ("rgba8", "uint8", 4, 255.0),
                 ("r16", "uint16", 1, 65535.0), ("rg8_snorm", "int8", 2, 127.0))
        for name, dtype, components, scale in kinds:
            halved = kernel(f"""layout(binding = 0, {name}) uniform image2D image;
void main() {{
  ivec2 p = ivec2(gl_GlobalInvocationID.xy);
  imageStore(image, p, imageLoad(image, p) * 0.5);
}}""")
            shape = (5, 6) if components == 1 else (5, 6, components)
            before = np.arange(np.prod(shape)).reshape(shape) % 100 / (1 if scale != 1 else 64)
            image = before.astype(dtype)
            halved(image=image, invocations_x=8, invocations_y=8)
            wanted = np.rint(before / scale * 0.5 * scale) if scale != 1 else before * 0.5
            np.testing.assert_allclose(image.astype("float64"), wanted, atol=0 if scale != 1 else 1e-3, err_msg=name)

    def test_integers_and_atomics(self):
        count = kernel("""layout(binding = 0, r8ui) uniform readonly uimage2D levels;
layout(binding = 1, r32ui) uniform uimage1D sums;
void main() {
  ivec2 p = ivec2(gl_GlobalInvocationID.xy);
  if (all(lessThan(p, imageSize(levels)))) imageAtomicAdd(sums, int(imageLoad(levels, p).r) & 7, 1u);
}""")
        levels = np.random.default_rng(3).integers(0, 256, (9, 5), "uint8")
        sums = np.zeros(8, "uint32")
        count(levels=levels, sums=sums, invocations_x=8, invocations_y=16)
        np.testing.assert_array_equal(sums, np.bincount(levels.ravel() & 7, minlength=8))

    def test_outside(self):
        shifted = kernel("""layout(binding = 0, r32f) uniform readonly image2D src;
layout(binding = 1, r32f) uniform writeonly image2D dst;
void main() { ivec2 p = ivec2(gl_GlobalInvocationID.xy); imageStore(dst, p - 3, imageLoad(src, p - 2)); }""")
        source, out = np.ones((4, 4), "float32"), np.full((4, 4), 7, "float32")
        shifted(src=source, dst=out, invocations_x=8, invocations_y=8)
        wanted = np.ones((4, 4))
        wanted[3, :] = wanted[:, 3] = 0  # p - 2 is 4 there; what lies outside of dst is left out
        wanted[:3, :3] = 1
        np.testing.assert_array_equal(out, wanted)


    def test_atomics_outside(self):
        made = kernel("""layout(binding = 0, r32ui) uniform uimage2D image;
layout(std430, binding = 1) writeonly buffer O { uint old[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= 4u || gl_GlobalInvocationID.y != 0u) return;
  ivec2 p = ivec2(i == 0u ? -1 : i == 1u ? 4 : 1, i == 2u ? 2 : 0);
  old[i] = imageAtomicExchange(image, p, 5u) + imageAtomicCompSwap(image, p, 5u, 9u);
}""")
        memory = np.full(24, 7, "uint32")
        old = np.zeros(4, "uint32")
        made(image=memory[8:16].reshape(2, 4), old=old, invocations_x=8, invocations_y=8)
        np.testing.assert_array_equal(old, [0, 0, 0, 12])
        np.testing.assert_array_equal(np.nonzero(memory != 7)[0], [9])


class Textures(unittest.TestCase):
    BODY = """layout(binding = 0) uniform {sampler} tex;  // adc: diff
layout(std430, binding = 1) readonly buffer P {{ float p[]; }};  // adc: diff
layout(std430, binding = 2) writeonly buffer C {{ float c[]; }};  // adc: diff
void main() {{
  uint i = gl_GlobalInvocationID.x;
  if (i >= c.length() || gl_GlobalInvocationID.y != 0u) return;
  c[i] = dot({call}, vec4(1.0, -0.5, 2.0, 0.25));
}}"""
    WEIGHTS = np.array([1.0, -0.5, 2.0, 0.25])

    def check(self, sampler, call, axes, linear=True, wrap="clamp", offset=None, options=()):
        made = kernel(self.BODY.format(sampler=sampler, call=call), *options)
        random = np.random.default_rng(4)
        texels = random.random((5, 4, 6)[-axes:] + (4,), "float32")
        # A little off the places where a texel ends, at which the derivative jumps.
        places = (np.floor(random.uniform(-9, 15, (7, axes))) + random.uniform(0.6, 0.9, (7, axes))) / texels.shape[:axes][::-1]
        places = places.astype("float32")
        value = lambda t, p: np.array([sampled(t, place, linear, wrap, offset) @ self.WEIGHTS for place in p])
        out = np.zeros(7, "float32")
        sizes = {"invocations_x": 8, "invocations_y": 8}
        made(tex=texels, p=places.ravel(), c=out, **sizes)
        wide, at = texels.astype("float64"), places.astype("float64")
        np.testing.assert_allclose(out, value(wide, at), rtol=2e-4, atol=2e-4)
        seed = random.random(7, "float32")
        of_texels, of_places = np.zeros_like(texels), np.zeros(places.size, "float32")
        made.grad(tex=texels, p=places.ravel(), c=out, c_adj=seed.copy(), tex_adj=of_texels, p_adj=of_places, **sizes)
        np.testing.assert_allclose(of_texels, differences(lambda t: value(t, at) @ seed, wide), rtol=1e-3, atol=1e-3)
        wanted = differences(lambda p: value(wide, p) @ seed, at)
        np.testing.assert_allclose(of_places.reshape(places.shape), wanted, rtol=1e-3, atol=1e-3)
        moved = random.random(texels.shape, "float32"), random.random(places.size, "float32")
        pushed = np.zeros(7, "float32")
        made.jvp(tex=texels, p=places.ravel(), c=out, tex_tan=moved[0], p_tan=moved[1], c_tan=pushed, **sizes)
        np.testing.assert_allclose(pushed @ seed, (of_texels * moved[0]).sum() + of_places @ moved[1], rtol=1e-3, atol=1e-3)

    def test_bilinear(self):
        self.check("sampler2D", "textureLod(tex, vec2(p[2 * i], p[2 * i + 1]), 0.0)", 2)

    def test_wraps(self):
        for wrap in ("repeat", "mirror", "border"):
            self.check("sampler2D", "textureLod(tex, vec2(p[2 * i], p[2 * i + 1]), 0.0)", 2, wrap=wrap,
                       options=[f"--sampler=tex={wrap}"])

    def test_nearest(self):
        self.check("sampler2D", "texture(tex, vec2(p[2 * i], p[2 * i + 1]))", 2, linear=False, wrap="repeat",
                   options=["--sampler=nearest,repeat"])

    def test_volume(self):
        self.check("sampler3D", "textureLod(tex, vec3(p[3 * i], p[3 * i + 1], p[3 * i + 2]), 0.0)", 3)

    def test_line(self):
        self.check("sampler1D", "textureLod(tex, p[i], 0.0)", 1, wrap="mirror", options=["--sampler=mirror"])

    def test_offset(self):
        self.check("sampler2D", "textureLodOffset(tex, vec2(p[2 * i], p[2 * i + 1]), 0.0, ivec2(1, -2))", 2, offset=(1, -2))

    def test_layers_fetch_and_gather(self):
        made = kernel("""#extension GL_EXT_samplerless_texture_functions : require
layout(binding = 0) uniform texture2DArray layers;
layout(binding = 1) uniform sampler point;
layout(std430, binding = 2) writeonly buffer C { vec4 c[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= 4u || gl_GlobalInvocationID.y != 0u) return;
  c[3 * i] = texelFetch(layers, ivec3(i, 1, 2), 0);
  c[3 * i + 1] = textureGather(sampler2DArray(layers, point), vec3(0.25 * float(i) + 0.05, 0.4, 1.0), 1);
  c[3 * i + 2] = vec4(textureSize(layers, 0), textureQueryLevels(layers));
}""")
        layers = np.random.default_rng(5).random((3, 5, 4, 4), "float32")
        out = np.zeros((12, 4), "float32")
        made(layers=layers, c=out, invocations_x=8, invocations_y=8)
        for i in range(4):
            np.testing.assert_array_equal(out[3 * i], layers[2, 1, i])
            x, y = math.floor((0.25 * i + 0.05) * 4 - 0.5), math.floor(0.4 * 5 - 0.5)
            at = lambda dx, dy, x=x, y=y: layers[1, min(max(y + dy, 0), 4), min(max(x + dx, 0), 3), 1]
            np.testing.assert_array_equal(out[3 * i + 1], [at(0, 1), at(1, 1), at(1, 0), at(0, 0)])
            np.testing.assert_array_equal(out[3 * i + 2], [4, 5, 3, 1])


if __name__ == "__main__":
    main()
