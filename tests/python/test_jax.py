"""adrt.jax: grad, jit, vmap and jvp of kernels, against closed forms, differences and forward mode."""

import os
import unittest

from support import HERE, Raises, compiled, fetched, main, run_snippets, sample, skip_unless_built, skip_without

skip_unless_built()
fetched("jax==0.10.2")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = skip_without("jax")
jax.config.update("jax_enable_x64", True)
import adrt  # noqa: E402
import adrt.jax  # noqa: E402
import numpy as np  # noqa: E402
from jax import numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402


class Jax(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernels = adrt.load(compiled(HERE / "kernels.ir", "--derive=grad,jvp"))
        cls.relax = adrt.load(sample("relax", "--derive=grad,jvp"))["relax"]

    def test_arrays_in_calls(self):
        x, y = jnp.linspace(0, 1, 5), np.zeros(5)
        self.kernels["scale"](x=x, s=2.0, y=y)
        np.testing.assert_allclose(y, 2 * np.sin(x), rtol=1e-12)
        before = np.array(x)
        with Raises(self, adrt.ArgumentError, "x", "read-only"):  # JAX's arrays are not written
            self.kernels["twice"](x=jnp.zeros(3, "float32"))
        np.testing.assert_array_equal(x, before)
        self.assertIsInstance(self.kernels["scale"](x=x, s=2.0, y=5).y, np.ndarray)
        gone = jnp.zeros(5)
        gone.delete()
        with Raises(self, adrt.ArgumentError, "x") as raised:
            self.kernels["scale"](x=gone, s=2.0, y=y)
        self.assertIsNotNone(raised.exception.__cause__)

    def test_gradients(self):
        scale, halve, relax = (adrt.jax.function(kernel) for kernel in
                               (self.kernels["scale"], self.kernels["halve"], self.relax))
        x = jnp.linspace(0.1, 1.4, 6)
        check_grads(lambda x, s: scale(x=x, s=s, y=6).y, (x, jnp.asarray(1.5)), order=1, modes=["rev"])
        check_grads(lambda x: halve(x=x, y=3).y, (jnp.asarray([0.5, 3.0, 50.0]),), order=1, modes=["rev"])
        x = jnp.linspace(-1, 1, 100, dtype="float32")
        gradient = jax.grad(lambda x: relax(x=2 * x, n=1).loss ** 2)(x)
        loss = np.sum(np.sin(2 * x) + 0.1)
        np.testing.assert_allclose(gradient, 4 * loss * np.cos(2 * x), rtol=1e-4)
        tangent = self.relax.jvp(x=2 * x, n=1, x_tan=jnp.cos(x)).loss_tan
        np.testing.assert_allclose(np.dot(gradient, jnp.cos(x)), 4 * loss * tangent, rtol=1e-4)

    def test_forward_mode(self):
        scale, relax = (adrt.jax.function(kernel, mode="forward") for kernel in (self.kernels["scale"], self.relax))
        x = jnp.linspace(0.1, 1.4, 6)
        check_grads(lambda x, s: scale(x=x, s=s, y=6).y, (x, jnp.asarray(1.5)), order=1, modes=["fwd"])
        check_grads(lambda x: scale(x=x, s=2.0, y=6).y, (x,), order=1, modes=["fwd"])
        x = jnp.linspace(-1, 1, 10, dtype="float32")
        value, tangent = jax.jvp(lambda x: relax(x=x, n=1).loss, (x,), (jnp.ones_like(x),))
        np.testing.assert_allclose(value, np.sum(np.sin(x) + 0.1), rtol=1e-5)
        np.testing.assert_allclose(tangent, np.sum(np.cos(x)), rtol=1e-5)
        twice = adrt.jax.function(self.kernels["twice"], mode="forward")
        value, tangent = jax.jvp(lambda x: twice(x=x).x, (x,), (x,))
        np.testing.assert_allclose(tangent, 2 * x)

    def test_jit_and_traced_integers(self):
        relax = adrt.jax.function(self.relax)
        step = jax.jit(jax.value_and_grad(lambda x, n: relax(x=x, n=n).loss))
        x = jnp.linspace(-1, 1, 10, dtype="float32")
        for n in 0, 1:
            value, gradient = step(x, n)
            at, slope = np.asarray(x), np.ones(10)
            for _ in range(n):
                at, slope = np.sin(at) + 0.1, slope * np.cos(at)
            np.testing.assert_allclose(value, np.sum(at), rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(gradient, slope, rtol=1e-5)
        self.assertEqual(step._cache_size(), 1)

    def test_vmap(self):
        relax = adrt.jax.function(self.relax)
        x = jnp.reshape(jnp.linspace(-1, 1, 12, dtype="float32"), (3, 4))
        np.testing.assert_allclose(jax.vmap(lambda x: relax(x=x, n=1).loss)(x), np.sum(np.sin(x) + 0.1, 1), rtol=1e-5)
        np.testing.assert_allclose(jax.vmap(jax.grad(lambda x: relax(x=x, n=1).loss))(x), np.cos(x), rtol=1e-5)

    def test_in_place_is_a_copy(self):
        twice = adrt.jax.function(self.kernels["twice"])
        x = jnp.arange(4, dtype="float32")
        gradient = jax.grad(lambda x: jnp.sum(twice(x=x).x ** 2))(x)
        np.testing.assert_array_equal(x, np.arange(4))
        np.testing.assert_allclose(gradient, 8 * np.arange(4))

    def test_page(self):
        x = jnp.linspace(-1, 1, 10, dtype="float32")
        self.assertEqual(run_snippets("jax", bundle=self.relax.bundle, x=x), 1)

    def test_mistakes(self):
        relax = adrt.jax.function(self.relax)
        for wrong in {"x": jnp.zeros(3)}, {"x": jnp.zeros((3, 1), "float32")}:
            with Raises(self, adrt.ArgumentError, "x", "float32 of 1 axes"):
                relax(**wrong, n=1)
        with Raises(self, adrt.ArgumentError, "m", "one of x, loss, n"):
            relax(x=jnp.zeros(3, "float32"), n=1, m=1)
        with Raises(self, adrt.ArgumentError, "y", "a shape of 1 ax"):
            adrt.jax.function(self.kernels["scale"])(x=jnp.zeros(3), s=1.0)
        with Raises(self, adrt.NotFoundError, None, "'count' has no gradient"):
            adrt.jax.function(self.kernels["count"])
        with Raises(self, ValueError, None, "'reverse' or 'forward'"):
            adrt.jax.function(self.relax, mode="backward")


if __name__ == "__main__":
    main()
