"""adrt.jax on CUDA: kernels in compiled programs, in JAX's memory and stream, against closed forms, forward mode and the CPU.
Bundles may be compiled elsewhere: ADC_TEST_FOLDER has them then."""

import os
import sys
import time
import unittest

from support import HERE, SKIPPED, compiled, compiled_text, main, sample, skip_unless_built, skip_without

SCALED = """
kernel @scaled(%x: buffer<f32, 1> diff, %s: f64 diff, %n: i64, %o: vec<i16, 2>, %c: buffer<f32, 0>, %y: buffer<f32, 1> diff) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %k = load %c[]
    %good = gt %v, 0.0
    assert %good, "x is positive"
    %y[%i] = f32(f64(%v) * %s + f64(%n)) + %k
  }
}
"""
BOTH = ("--target=cpu", "--target=cuda")
BUNDLES = {"kernels": lambda: compiled(HERE / "kernels.ir", *BOTH, "--derive=grad,jvp"),
           "relax": lambda: sample("relax", *BOTH, "--derive=grad,jvp"),
           "scaled": lambda: compiled_text("scaled", SCALED, *BOTH, "--derive=grad,jvp", "--asserts"),
           "on_cpu": lambda: sample("relax", "--target=cpu"), "on_cuda": lambda: sample("relax", "--target=cuda")}
if "--prepare" in sys.argv:  # for a machine without a compiler
    print(*[make() for make in BUNDLES.values()])
    sys.exit(0)

skip_unless_built()
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
jax = skip_without("jax")
if jax.default_backend() != "gpu":
    print("NOTHING IS TESTED: JAX sees no CUDA device", file=sys.stderr)
    sys.exit(SKIPPED)
jax.config.update("jax_enable_x64", True)
import adrt  # noqa: E402
import adrt.jax  # noqa: E402
import numpy as np  # noqa: E402
from jax import numpy as jnp  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402
from jax.test_util import check_grads  # noqa: E402


class JaxOnCuda(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernels, cls.relax, cls.scaled, cls.on_cpu, cls.on_cuda = (adrt.load(make()) for make in BUNDLES.values())

    def test_gradients(self):
        relax, scale = adrt.jax.function(self.relax["relax"]), adrt.jax.function(self.kernels["scale"])
        step = jax.jit(jax.value_and_grad(lambda x, n: relax(x=x, n=n).loss))
        x = jnp.linspace(-1, 1, 1000, dtype="float32")
        for n in 0, 1, 30:  # a traced number; a tape that XLA's memory holds
            value, gradient = step(x, n)
            self.assertEqual(gradient.devices(), x.devices())
            at, slope = np.asarray(x, "f8"), np.ones(1000)
            for _ in range(n):
                at, slope = np.sin(at) + 0.1, slope * np.cos(at)
            np.testing.assert_allclose(value, np.sum(at), rtol=1e-4, atol=1e-3)
            np.testing.assert_allclose(gradient, slope, rtol=1e-4, atol=1e-6)
        check_grads(lambda x, s: scale(x=x, s=s, y=6).y, (jnp.linspace(0.1, 1.4, 6), jnp.asarray(1.5)), order=1, modes=["rev"])
        text = step.lower(x, 3).as_text()
        self.assertIn("adrt.kernel", text)
        self.assertNotIn("callback", text)

    def test_forward_mode(self):
        scale = adrt.jax.function(self.kernels["scale"], mode="forward")
        check_grads(lambda x, s: scale(x=x, s=s, y=6).y, (jnp.linspace(0.1, 1.4, 6), jnp.asarray(1.5)), order=1, modes=["fwd"])

    def test_sizes_that_data_decides(self):
        halve = adrt.jax.function(self.kernels["halve"])
        x = jnp.asarray([0.5, 3.0, 50.0])
        check_grads(lambda x: halve(x=x, y=3).y, (x,), order=1, modes=["rev"])
        on_host = np.asarray(x)
        got = jax.jit(jax.grad(lambda x: jnp.sum(halve(x=x, y=3).y)))(x)
        wanted = self.kernels["halve"].grad(x=on_host, y=on_host, y_adj=np.ones(3)).x_adj
        np.testing.assert_allclose(got, wanted)

    def test_numbers_and_reports(self):
        scaled = adrt.jax.function(self.scaled["scaled"])
        x = jnp.asarray([1, 2, 3], "float32")
        step = jax.jit(lambda x, s, n, o: scaled(x=x, s=s, n=n, o=o, c=0.5, y=3).y)
        for s in 2, 2.0, np.float32(2), np.uint8(2):
            for n in 1, True, np.uint64(1):
                np.testing.assert_allclose(step(x, s, n, jnp.asarray([0, 300])), [3.5, 5.5, 7.5])
        np.testing.assert_allclose(jax.jit(lambda x: scaled(x=x, s=2.0, n=1, o=(0, 0), c=x[0], y=3).y)(x), [4, 6, 8])
        for words, given in (("'o'.* a number that vec<i16, 2> does not have", (x, 2.0, 1, jnp.asarray([0, 40000]))),
                             ("x is positive", (-x, 2.0, 1, jnp.asarray([0, 0])))):
            with self.assertRaisesRegex(Exception, words):
                step(*given).block_until_ready()
        np.testing.assert_allclose(step(x, 2.0, 1, jnp.asarray([0, 0])), [3.5, 5.5, 7.5])

    def test_in_place_is_a_copy(self):
        twice = adrt.jax.function(self.kernels["twice"])
        x = jnp.arange(4, dtype="float32")
        np.testing.assert_allclose(jax.grad(lambda x: jnp.sum(twice(x=x).x ** 2))(x), 8 * np.arange(4))
        np.testing.assert_array_equal(x, np.arange(4))
        np.testing.assert_allclose(jax.jit(lambda x: x + twice(x=x).x)(x), 3 * np.arange(4))
        np.testing.assert_allclose(jax.jit(lambda x: twice(x=x).x, donate_argnums=0)(x), 2 * np.arange(4))

    def test_loops_and_vmap(self):
        relax = adrt.jax.function(self.relax["relax"])
        x = jnp.reshape(jnp.linspace(-1, 1, 12, dtype="float32"), (3, 4))
        np.testing.assert_allclose(jax.vmap(jax.grad(lambda x: relax(x=x, n=1).loss))(x), np.cos(x), rtol=1e-5)

        def turn(x, _):
            return x - 0.1 * jax.grad(lambda x: relax(x=x, n=1).loss)(x), None

        got, _ = jax.jit(lambda x: jax.lax.scan(turn, x, length=50))(x[0])
        wanted = np.asarray(x[0])
        for _ in range(50):
            wanted = wanted - np.float32(0.1) * np.cos(wanted)
        np.testing.assert_allclose(got, wanted, rtol=1e-4)

    def test_many_devices(self):
        count = jax.device_count()
        if count == 1:
            self.skipTest("ONE DEVICE: SHARD_MAP IS NOT TESTED")
        relax = adrt.jax.function(self.relax["relax"])
        mesh = jax.make_mesh((count,), ("i",))
        part = jax.shard_map(lambda x: jax.value_and_grad(lambda x: relax(x=x, n=5).loss)(x)[1], mesh=mesh,
                             in_specs=P("i"), out_specs=P("i"))
        x = jnp.linspace(-1, 1, 1024 * count, dtype="float32")
        alone = jax.grad(lambda x: relax(x=x, n=5).loss)(x)
        spread = jax.jit(part)(jax.device_put(x, jax.NamedSharding(mesh, P("i"))))
        self.assertEqual(len(spread.devices()), count)
        np.testing.assert_array_equal(spread, alone)

    def test_bundles_of_one_target(self):
        x = np.linspace(-1, 1, 10, dtype="float32")
        for bundle, word in (self.on_cpu, "callback"), (self.on_cuda, "adrt.kernel"):
            relax = adrt.jax.function(bundle["relax"])
            step = jax.jit(jax.grad(lambda x: relax(x=x, n=1).loss))
            np.testing.assert_allclose(step(x), np.cos(x), rtol=1e-5)
            self.assertIn(word, step.lower(x).as_text())
        on_host = jax.devices("cpu")[0]
        got = jax.jit(jax.grad(lambda x: adrt.jax.function(self.relax["relax"])(x=x, n=1).loss))(jax.device_put(x, on_host))
        self.assertEqual(got.devices(), {on_host})
        np.testing.assert_allclose(got, np.cos(x), rtol=1e-5)

    def test_cost_of_a_turn(self):
        relax, x = adrt.jax.function(self.relax["relax"]), jnp.full(1, 0.5, "float32")
        turns = {"nothing": lambda x: x * 1.5 + 1, "a launch": lambda x: x + relax(x=x, n=1).loss}
        for name, step in turns.items():
            run = jax.jit(lambda x: jax.lax.scan(lambda x, _: (step(x), None), x, length=1000)[0])
            run(x).block_until_ready()
            begin = time.perf_counter()
            run(x).block_until_ready()
            print(f"a turn of a scan with {name}: {1e3 * (time.perf_counter() - begin):.2f} us")


if __name__ == "__main__":
    main()
