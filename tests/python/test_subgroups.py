"""Operations of subgroups in shaders: what each invocation gets, and derivatives that pass through them."""

import unittest

import adc
import adrt
import numpy as np
from support import main

SIZE = 48  # a whole subgroup, and a half one
GROUPS = [range(0, 32), range(32, 48)]
HEAD = f"""#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_clustered : require
layout(local_size_x = {SIZE}) in;
layout(std430, binding = 0) readonly buffer X {{ float x[]; }};  // adc: diff
layout(std430, binding = 1) writeonly buffer Y {{ float y[]; }};  // adc: diff
layout(std430, binding = 2) readonly buffer N {{ int n[]; }};
layout(std430, binding = 3) writeonly buffer M {{ int m[]; }};
"""


def kernel(body, before=""):
    text = HEAD + f"void main() {{\n  uint i = gl_GlobalInvocationID.x;\n  float v = x[i]; int k = n[i];\n  {before}\n  {body}\n}}\n"
    bundle = adrt.load(adc.compile(text, kind="glsl", targets="cpu", derive=["grad", "jvp"], options=["-w"]))
    return bundle[next(iter(bundle))]


class Subgroups(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(7)
        self.x = random.uniform(0.5, 2.0, 2 * SIZE).astype("float32")
        self.n = random.integers(-40, 40, 2 * SIZE, "int32")

    def each(self, values, function):
        """What function(values of a subgroup, own place) gives, for every invocation of both workgroups."""
        found = []
        for first in (0, SIZE):
            for group in GROUPS:
                part = values[first + group[0]:first + group[-1] + 1]
                found += [function(part, lane) for lane in range(len(part))]
        return np.array(found)

    def launch(self, made, name="", **more):
        y, m = np.zeros(2 * SIZE, "float32"), np.zeros(2 * SIZE, "int32")
        given = {"x": self.x, "n": self.n, "y": y, "m": m, "invocations_x": 2 * SIZE, **more}
        called = getattr(made, name) if name else made
        names = [parameter.name for parameter in called.params]
        called(**{key: value for key, value in given.items() if key in names})
        return y, m

    def check_floats(self, call, function):
        made = kernel(f"y[i] = {call};")
        y, _ = self.launch(made)
        np.testing.assert_allclose(y, self.each(self.x, function), rtol=2e-5, err_msg=call)
        seed, direction = np.random.default_rng(8).random((2, 2 * SIZE), "float32")
        adjoint, tangent = np.zeros(2 * SIZE, "float32"), np.zeros(2 * SIZE, "float32")
        self.launch(made, "grad", y=y, x_adj=adjoint, y_adj=seed.copy())
        self.launch(made, "jvp", x_tan=direction, y_tan=tangent)
        wide, step = self.x.astype("float64"), 1e-5
        ahead, behind = (self.each(wide + sign * step * direction, function) for sign in (1, -1))
        np.testing.assert_allclose(tangent, (ahead - behind) / (2 * step), rtol=1e-3, atol=1e-3, err_msg=call)
        np.testing.assert_allclose(adjoint @ direction, seed @ tangent, rtol=1e-4, err_msg=call)

    def check_integers(self, call, function, values=None):
        _, m = self.launch(kernel(f"m[i] = int({call}); y[i] = v;"))
        np.testing.assert_array_equal(m, self.each(self.n if values is None else values, function), err_msg=call)

    def test_reductions(self):
        self.check_floats("subgroupAdd(v * v)", lambda p, i: (p * p).sum())
        self.check_floats("subgroupMul(v)", lambda p, i: p.prod())
        self.check_floats("subgroupMin(v)", lambda p, i: p.min())
        self.check_floats("subgroupMax(v)", lambda p, i: p.max())
        self.check_floats("subgroupClusteredAdd(v, 8)", lambda p, i: p[i // 8 * 8:i // 8 * 8 + 8].sum())
        self.check_floats("dot(subgroupAdd(vec2(v, 2.0)), vec2(1.0, 0.5))", lambda p, i: p.sum() + len(p))
        self.check_integers("subgroupMin(k)", lambda p, i: p.min())
        self.check_integers("subgroupMax(uint(k))", lambda p, i: p.astype("uint32").max().astype("int32"))
        self.check_integers("subgroupXor(k)", lambda p, i: np.bitwise_xor.reduce(p))
        self.check_integers("subgroupAnd(k | 3)", lambda p, i: np.bitwise_and.reduce(p | 3))

    def test_scans(self):
        self.check_floats("subgroupInclusiveAdd(v)", lambda p, i: p[:i + 1].sum())
        self.check_floats("subgroupExclusiveMul(v)", lambda p, i: p[:i].prod())
        self.check_integers("subgroupExclusiveAdd(k)", lambda p, i: p[:i].sum())

    def test_votes_and_ballots(self):
        bits = lambda p: sum(1 << i for i, k in enumerate(p) if k > 0)
        wrap = lambda b: b - (1 << 32) if b >= 1 << 31 else b
        self.check_integers("subgroupAll(k > -41)", lambda p, i: 1)
        self.check_integers("subgroupAny(k == 39)", lambda p, i: 39 in p)
        self.check_integers("subgroupAllEqual(k)", lambda p, i: 0)
        self.check_integers("subgroupBallot(k > 0).x", lambda p, i: wrap(bits(p)))
        self.check_integers("subgroupBallotBitCount(subgroupBallot(k > 0))", lambda p, i: bits(p).bit_count())
        self.check_integers("subgroupBallotExclusiveBitCount(subgroupBallot(k > 0))", lambda p, i: sum(k > 0 for k in p[:i]))
        self.check_integers("subgroupInverseBallot(subgroupBallot(k > 0))", lambda p, i: p[i] > 0)
        self.check_integers("subgroupBallotFindLSB(subgroupBallot(k > 0))", lambda p, i: next(n for n, k in enumerate(p) if k > 0))
        self.check_integers("subgroupElect()", lambda p, i: i == 0)

    def test_shuffles(self):
        self.check_floats("subgroupBroadcast(v, 3) * v", lambda p, i: p[3] * p[i])
        self.check_floats("subgroupBroadcastFirst(v) * v", lambda p, i: p[0] * p[i])
        self.check_floats("v * subgroupShuffleXor(v, 5)", lambda p, i: p[i] * p[i ^ 5])
        self.check_floats("v * subgroupShuffle(v, (gl_SubgroupInvocationID + 1) % 16)", lambda p, i: p[i] * p[(i + 1) % 16])
        self.check_floats("mix(v, subgroupShuffleUp(v, 1), float(min(gl_SubgroupInvocationID, 1u)))", lambda p, i: p[max(i - 1, 0)])

    def test_numbers(self):
        self.check_integers("gl_SubgroupInvocationID + 100 * gl_SubgroupID + 1000 * gl_NumSubgroups + 10000 * gl_SubgroupSize",
                            lambda p, i: i + 100 * (len(p) == 16) + 2000 + 320000)
        self.check_integers("bitCount(gl_SubgroupLtMask.x) + 100 * bitCount(gl_SubgroupGeMask.x)", lambda p, i: i + 100 * (32 - i))

    def test_ended(self):
        """Invocations that have returned take no part, in a loop either."""
        made = kernel("for (int t = 0; t < 3; ++t) { float s = subgroupAdd(v); if (t == 2) y[i] = s; }", "if (k < 0) return;")
        y, _ = self.launch(made)
        for first in (0, SIZE):
            for group in GROUPS:
                here = np.arange(first + group[0], first + group[-1] + 1)
                alive = here[self.n[here] >= 0]
                np.testing.assert_allclose(y[alive], self.x[alive].sum(), rtol=1e-5)

    def test_hlsl(self):
        """The scans of HLSL leave the own value out."""
        text = """RWStructuredBuffer<float> x, y;
[numthreads(48, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) { y[id.x] = WavePrefixSum(x[id.x]) + 100 * WavePrefixProduct(x[id.x]) + WaveActiveMax(x[id.x]); }
"""
        bundle = adrt.load(adc.compile(text, kind="hlsl", targets="cpu", derive="none", options=["-w"]))
        y, _ = self.launch(bundle[next(iter(bundle))])
        wanted = self.each(self.x, lambda p, i: p[:i].sum() + 100 * p[:i].prod() + p.max())
        np.testing.assert_allclose(y, wanted, rtol=2e-5)

    def test_divergence(self):
        with self.assertRaisesRegex(adc.CompileError, "E0306"):
            kernel("if (k > 0) { y[i] = subgroupAdd(v); m[i] = 1; } y[i] += 1.0;")


if __name__ == "__main__":
    main()
