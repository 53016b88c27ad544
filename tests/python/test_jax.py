"""adrt.jax: grad, jit, vmap, jvp, shard_map and loops of kernels, against closed forms, differences, forward mode and the same
functions of JAX's own. The CPU is four devices."""

import collections
import ctypes
import functools
import gc
import os
import shutil
import subprocess
import sys
import threading
import unittest
from unittest import mock

from support import (HERE, ROOT, WORK, Counted, Raises, compiled, compiled_text, fetched, main, run_snippets, sample,
                     skip_unless_built, skip_without)

skip_unless_built()
fetched("jax==0.10.2")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
jax = skip_without("jax")
jax.config.update("jax_enable_x64", True)
import adrt  # noqa: E402
import adrt.jax  # noqa: E402
import numpy as np  # noqa: E402
from jax import numpy as jnp  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

# A number of f64 beside arrays of f32, and an assertion.
SCALED = """
kernel @scaled(%x: buffer<f32, 1> diff, %s: f64 diff, %n: i64, %o: vec<i16, 2>, %y: buffer<f32, 1> diff) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %good = gt %v, 0.0
    assert %good, "x is positive"
    %y[%i] = f32(f64(%v) * %s + f64(%n))
  }
}
"""


def same_of_jax(x, s):
    """What the kernel scale computes."""
    return jnp.sin(x) * s


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
        x = jnp.linspace(-1, 1, 12, dtype="float32")
        self.assertEqual(run_snippets("jax", bundle=self.relax.bundle, x=x), 3)

    def test_compiled_programs_call_no_python(self):
        for mode, transformed in ("reverse", jax.grad), ("forward", jax.jacfwd):
            scale = adrt.jax.function(self.kernels["scale"], mode)
            text = jax.jit(transformed(lambda s: jnp.sum(scale(x=jnp.ones(3), s=s, y=3).y))).lower(1.5).as_text()
            self.assertIn("adrt.kernel", text)
            self.assertNotIn("callback", text)

    def test_python_lock_is_not_taken(self):
        """Launches on several devices, which JAX does not wait for, end while this thread does not give the lock away."""
        kernel, x = adrt.jax.function(self.kernels["scale"]), jnp.linspace(0, 1, 1 << 20)
        mesh = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
        scale = jax.jit(jax.shard_map(lambda x: kernel(x=x, s=2.0, y=x.shape[0]).y, mesh=mesh, in_specs=P("i"), out_specs=P("i")))
        x = jax.device_put(x, jax.NamedSharding(mesh, P("i")))
        scale(x).block_until_ready()
        before, sleep = sys.getswitchinterval(), ctypes.PyDLL(None).usleep  # PyDLL: the lock is held in the call
        sys.setswitchinterval(1e6)
        try:
            y = scale(x)
            for _ in range(200):
                if y.is_ready():
                    break
                sleep(50000)
            self.assertTrue(y.is_ready())
        finally:
            sys.setswitchinterval(before)
        np.testing.assert_allclose(y, 2 * np.sin(x), rtol=1e-12)

    def test_threads(self):
        """One compiled program in several threads at once, beside calls from Python."""
        relax = adrt.jax.function(self.relax)
        step = jax.jit(jax.value_and_grad(lambda x: relax(x=x, n=1).loss))
        wrong = []

        def work(seed):
            for turn in range(50):
                x = np.linspace(-1, seed + turn / 50, 64, dtype="float32")
                value, gradient = step(x)
                direct = self.relax(x=x, n=1).loss
                if not (np.allclose(value, np.sum(np.sin(x) + 0.1), rtol=1e-4, atol=1e-4) and
                        np.allclose(gradient, np.cos(x), rtol=1e-5) and np.allclose(direct, value, rtol=1e-4, atol=1e-4)):
                    wrong.append((seed, turn))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_program_outlives_its_bundle(self):
        text = SCALED.replace("@scaled", "@forgotten")
        kernel = adrt.load(compiled_text("forgotten", text, "--derive=grad"))["forgotten"]
        function = jax.jit(lambda x, call=adrt.jax.function(kernel): call(x=x, s=2.0, n=1, o=(0, 0), y=3).y)
        x = jnp.asarray([1, 2, 3], "float32")
        function(x)
        del kernel
        gc.collect()
        np.testing.assert_allclose(function(x), [3, 5, 7])

    def test_cached_in_another_process(self):
        """The program that one process compiled runs the same kernel in another, which loads its bundles in another order."""
        folder = WORK / "cache"
        shutil.rmtree(folder, ignore_errors=True)
        scale, relax = compiled(HERE / "kernels.ir", "--derive=grad,jvp"), sample("relax", "--derive=grad,jvp")
        program = ("import adrt, adrt.jax, jax, sys\n"
                   "from jax import numpy as jnp\n"
                   "jax.config.update('jax_compilation_cache_dir', sys.argv[1])\n"
                   "jax.config.update('jax_persistent_cache_min_compile_time_secs', 0)\n"
                   "for path in sys.argv[2:]:\n"
                   "    bundle = adrt.load(path)\n"
                   "    for name in 'twice', 'relax':\n"
                   "        if name in bundle:\n"
                   "            kernel = adrt.jax.function(bundle[name])\n"
                   "            given = {'x': jnp.ones(3, 'float32'), **({} if name == 'twice' else {'n': 1})}\n"
                   "            print(name, f'{jax.jit(lambda: jnp.sum(kernel(**given)[0]))():.4f}')\n")
        said, held = [], []
        for paths in (scale, relax), (relax, scale):
            ran = subprocess.run([sys.executable, "-c", program, str(folder), *map(str, paths)], capture_output=True, text=True,
                                 env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
            self.assertEqual(ran.returncode, 0, ran.stderr)
            said.append(sorted(ran.stdout.split("\n")))
            held.append({path.name for path in folder.iterdir() if path.name.endswith("-cache")})
        self.assertEqual(said[0], ["", "relax 2.8244", "twice 6.0000"])
        self.assertEqual(said[1], said[0])
        self.assertTrue(held[0])
        self.assertEqual(held[0], held[1])  # nothing was compiled anew

    def test_loops(self):
        scale = adrt.jax.function(self.kernels["scale"])
        forward = adrt.jax.function(self.kernels["scale"], mode="forward")
        x = jnp.linspace(0.1, 1.4, 6)

        def scanned(step, x, s):
            last, each = jax.lax.scan(lambda x, t: (step(x, s * t), jnp.sum(x)), x, jnp.linspace(0.5, 1.5, 5))
            return jnp.sum(last ** 2) + jnp.sum(each)

        def counted(step, x, s):
            return jnp.sum(jax.lax.while_loop(lambda at: at[0] < 4, lambda at: (at[0] + 1, step(at[1], s)), (0, x))[1])

        def by(kernel):
            return lambda x, s: kernel(x=x, s=s, y=6).y

        for loop, transform, kernel in ((scanned, jax.value_and_grad, scale), (scanned, jax.jacfwd, forward),
                                        (counted, lambda f, _: f, scale), (counted, jax.jacfwd, forward)):
            got = jax.jit(transform(functools.partial(loop, by(kernel)), (0, 1)))(x, 1.3)
            wanted = transform(functools.partial(loop, same_of_jax), (0, 1))(x, 1.3)
            jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-12), got, wanted)

    def test_vmap_of_all_and_of_some(self):
        scale = adrt.jax.function(self.kernels["scale"])
        x, s = jnp.reshape(jnp.linspace(0, 1, 24), (2, 3, 4)), jnp.asarray([1.0, 2.0, 3.0])

        def by_kernel(x, s):
            return jnp.sum(scale(x=x, s=s, y=4).y ** 2)

        def by_jax(x, s):
            return jnp.sum(same_of_jax(x, s) ** 2)

        for axes, s_given in ((0, 0), s), ((0, None), 2.0), ((None, 0), s):
            x_given = x[0] if axes[0] == 0 else x[0, 0]
            got, wanted = (jax.jit(jax.vmap(jax.grad(f, (0, 1)), axes))(x_given, s_given) for f in (by_kernel, by_jax))
            jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-12), got, wanted)
        got, wanted = (jax.vmap(jax.vmap(f), (0, None))(x, s) for f in (by_kernel, by_jax))
        np.testing.assert_allclose(got, wanted, rtol=1e-12)

    def by_rows(self, kernel=None):
        rows = adrt.jax.function(kernel or self.kernels["rows"], batch=("x", "s", "y", "total"))
        one_after_the_other = adrt.jax.function(self.kernels["rows"])

        def batched(x, s, common):
            made = rows(x=x, s=s, common=common, n=2, y=x.shape)
            return jnp.sum(made.y) + made.total

        def sequential(x, s, common):
            made = one_after_the_other(x=x[None], s=s[None], common=common, n=2, y=(1, *x.shape), total=1)
            return jnp.sum(made.y) + made.total[0]

        return batched, sequential

    def test_vmap_over_a_batch_is_one_launch(self):
        """Values and gradients, equal to those of one launch for each element to the bit, and the launches of a program."""
        batched, sequential = self.by_rows()
        x, s = jnp.linspace(0.1, 1.4, 12).reshape(3, 4), jnp.asarray([0.5, 1.0, 1.5])
        common = jnp.linspace(0, 0.3, 4)
        for axes in (0, 0, None), (0, None, None), (None, 0, None), (1, 0, None):
            given = (x.T if axes[0] == 1 else x if axes[0] == 0 else x[0]), (s if axes[1] == 0 else s[1]), common
            for transform in lambda f: f, lambda f: jax.grad(f, (0, 1)):
                got, wanted = (jax.jit(jax.vmap(transform(f), axes))(*given) for f in (batched, sequential))
                jax.tree.map(np.testing.assert_array_equal, got, wanted)
            got, wanted = (jax.grad(lambda *given: jnp.sum(jax.vmap(f, axes)(*given) ** 2), (0, 1))(*given)
                           for f in (batched, sequential))
            jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-13), got, wanted)
        program = jax.jit(jax.vmap(jax.value_and_grad(batched), (0, 0, None))).lower(x, s, common).as_text()
        self.assertEqual((program.count("@adrt.kernel"), program.count("stablehlo.while")), (2, 0))
        program = jax.jit(jax.vmap(jax.value_and_grad(sequential), (0, 0, None))).lower(x, s, common).as_text()
        self.assertGreater(program.count("stablehlo.while"), 0)
        rows = adrt.jax.function(self.kernels["rows"], batch=("x", "s", "y", "total"))
        slopes = jax.jacrev(lambda x: rows(x=x, s=0.5, common=common, n=1, y=4).y)(x[0])  # vmap over seeds alone
        np.testing.assert_allclose(slopes, np.diag(0.5 * np.cos(0.5 * x[0])), rtol=1e-12)
        check_grads(lambda x, s: batched(x, s, common), (x[0], s[0]), order=1, modes=["rev"])

    def test_launches_of_a_batch_are_counted(self):
        launches = collections.Counter()

        x, s, common = jnp.linspace(0.1, 1.4, 12).reshape(3, 4), jnp.asarray([0.5, 1.0, 1.5]), jnp.linspace(0, 0.3, 4)
        with mock.patch.object(adrt.jax, "ffi", None):
            batched, sequential = self.by_rows(Counted(self.kernels["rows"], launches))
            got = jax.vmap(jax.value_and_grad(batched, (0, 1)), (0, 0, None))(x, s, common)
            jax.block_until_ready(got)
        self.assertEqual(launches, {"rows": 1, "rows.grad": 1})
        jax.tree.map(np.testing.assert_array_equal, got,
                     jax.vmap(jax.value_and_grad(sequential, (0, 1)), (0, 0, None))(x, s, common))

    def test_vmap_of_vmap_and_other_axes(self):
        """A batch of batches, an axis that is not the first, forward mode, and a number for all elements."""
        x, s, shared = jnp.linspace(0.1, 1.4, 24).reshape(2, 3, 4), jnp.asarray([0.5, 1.0, 1.5]), jnp.linspace(1, 2, 4)
        axes = {"x": 1, "s": 0, "y": 1}
        columns = adrt.jax.function(self.kernels["columns"], mode="forward", batch=axes)

        def by_kernel(x, s, shared):
            return columns(x=x, s=s, shared=shared, y=4).y

        def by_jax(x, s, shared):
            return jnp.sin(x * s) * shared

        def twice(f):
            return jax.vmap(jax.vmap(f, (0, 0, None)), (0, None, None))

        def pushed(f):
            return lambda *given: jax.jvp(twice(f), given, (jnp.cos(x), jnp.ones(3), shared))

        for transform in twice, pushed, lambda f: jax.vmap(jax.jacfwd(f), (0, None, None)):
            given = (x[0], s[0], shared) if transform not in (twice, pushed) else (x, s, shared)
            got, wanted = (jax.jit(transform(f))(*given) for f in (by_kernel, by_jax))
            jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-12), got, wanted)
        self.assertEqual(jax.vmap(lambda x: by_kernel(x, 0.5, shared))(x[0][:0]).shape, (0, 4))
        np.testing.assert_allclose(jax.vmap(lambda x: by_kernel(x, 0.5, shared))(x[0]), by_jax(x[0], 0.5, shared), rtol=1e-12)

    def test_vmap_over_a_batch_in_shard_map(self):
        batched, sequential = self.by_rows()
        mesh = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
        x, s, common = jnp.linspace(0.1, 1.4, 32).reshape(8, 4), jnp.linspace(0.5, 1.5, 8), jnp.linspace(0, 0.3, 4)
        run = jax.vmap(jax.value_and_grad(batched, (0, 1)), (0, 0, None))
        got = jax.jit(jax.shard_map(run, mesh=mesh, in_specs=(P("i"), P("i"), P()), out_specs=P("i")))(x, s, common)
        jax.tree.map(np.testing.assert_array_equal, got,
                     jax.vmap(jax.value_and_grad(sequential, (0, 1)), (0, 0, None))(x, s, common))

    def test_mistakes_of_batches(self):
        rows, columns = self.kernels["rows"], self.kernels["columns"]
        for kernel, batch, words in ((rows, ("x", "y"), "'rows' writes 'total', which has no axis of the batch"),
                                     (rows, ("x", "y", "total", "z"), "no buffer 'z' with an axis 0"),
                                     (rows, ("x", "y", "total", "n"), "no buffer 'n' with an axis 0"),
                                     (columns, {"x": 2, "y": 1}, "no buffer 'x' with an axis 2")):
            with self.assertRaisesRegex(ValueError, words):
                adrt.jax.function(kernel, batch=batch)
        squares = adrt.load(compiled(HERE / "saved.ir", "--save-overwritten"))["squares"]
        with self.assertRaisesRegex(ValueError, "batch: .*without --save-overwritten"):
            adrt.jax.function(squares, batch=("x",))
        batched, _ = self.by_rows()
        x, s, common = jnp.ones((3, 4)), jnp.ones(3), jnp.ones((3, 4))
        with Raises(self, adrt.ArgumentError, "common", "it is not in 'batch'"):
            jax.vmap(batched)(x, s, common)
        with Raises(self, adrt.ArgumentError, "x", "shape (3, 4)", "float64 of 1 axes"):
            batched(x, s[0], common[0])
        function = adrt.jax.function(columns, batch={"x": 1, "s": 0, "y": 1})
        given = {"s": 1.0, "shared": jnp.ones(4)}
        with Raises(self, adrt.ArgumentError, "y", "a shape of 1 axes"):
            function(x=x[0], **given, y=(3, 4))
        with Raises(self, adrt.ArgumentError, "y", "nothing", "a shape of 1 axes"):
            function(x=x[0], **given)
        with Raises(self, adrt.ArgumentError, "shared", "adds up its adjoint over all elements", "adc --active"):
            jax.vmap(jax.grad(lambda x: function(x=x, **given, y=4).y.sum()))(x)

    def test_shard_map(self):
        """Values and derivatives by what differs between devices and by what does not, with and without check_vma."""
        scale = adrt.jax.function(self.kernels["scale"])
        forward = adrt.jax.function(self.kernels["scale"], mode="forward")
        mesh = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
        x = jnp.linspace(0.1, 1.4, 24)

        def once(step, x, s):
            return step(x, s)

        def scanned(step, x, s):
            return jax.lax.scan(lambda x, _: (step(x, s), None), x, length=3)[0]

        def counted(step, x, s):
            return jax.lax.while_loop(lambda at: at[0] < 3, lambda at: (at[0] + 1, step(at[1], s)), (0, x))[1]

        def batched(step, x, s):
            return jnp.ravel(jax.vmap(step, (0, None))(jnp.reshape(x, (2, 3)), s))

        def by(kernel):
            return lambda x, s: kernel(x=x, s=s, y=x.shape[0]).y

        def total(step, body, x, s, **options):
            @functools.partial(jax.shard_map, mesh=mesh, in_specs=(P("i"), P()), out_specs=(P("i"), P()), **options)
            def part(x, s):
                y = body(step, x, s)
                return y, jax.lax.psum(jnp.sum(y ** 2), "i")

            y, squares = part(x, s)
            return squares + jnp.sum(y)

        cases = [(once, jax.value_and_grad, scale), (scanned, jax.value_and_grad, scale), (batched, jax.value_and_grad, scale),
                 (once, jax.jacfwd, forward), (counted, jax.jacfwd, forward), (counted, lambda f, _: f, scale)]
        for check in True, False:
            for body, transform, kernel in cases:
                got, wanted = (jax.jit(transform(functools.partial(total, step, body, check_vma=check), (0, 1)))(x, 1.3)
                               for step in (by(kernel), same_of_jax))
                jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-12), got, wanted)

    def test_gradient_inside_shard_map(self):
        relax = adrt.jax.function(self.relax)
        mesh = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
        shared = jnp.linspace(-1, 1, 8, dtype="float32")

        @jax.jit
        @functools.partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("i"), P()), out_specs=(P(), P("i")))
        def step(shared, own, n):  # the kernel's own input does not differ, what it is multiplied with does
            return jax.grad(lambda shared, own: relax(x=shared * own[0], n=n).loss, (0, 1))(shared, own)

        own = jnp.asarray([0.5, 1.0, 1.5, 2.0], "float32")
        by_shared, by_own = step(shared, own, 1)
        slope = np.cos(np.outer(own, shared))
        np.testing.assert_allclose(by_shared, np.sum(slope * np.asarray(own)[:, None], 0), rtol=1e-5)
        np.testing.assert_allclose(by_own, np.sum(slope * np.asarray(shared), 1), rtol=1e-4, atol=1e-6)

    def test_arrays_of_several_devices(self):
        scale = adrt.jax.function(self.kernels["scale"])
        mesh = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
        x = jax.device_put(jnp.linspace(0, 1, 8), jax.sharding.NamedSharding(mesh, P("i")))
        np.testing.assert_allclose(jax.jit(lambda x: scale(x=x, s=2.0, y=8).y)(x), 2 * np.sin(x), rtol=1e-12)

    def test_other_ways_than_the_handler(self):
        """JAX without jax.ffi, memory from a function, and programs that may run on another platform."""
        asked = []

        def heap(size):
            asked.append(size)
            return np.empty(size, "uint8")

        kernel, halve = self.kernels["scale"], self.kernels["halve"]
        x, at = jnp.linspace(0.1, 1.4, 8), jnp.asarray([0.5, 3.0, 50.0])
        wanted = jax.grad(lambda x: adrt.jax.function(halve)(x=x, y=3).y.sum())(at)
        mesh = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))

        def check(kernel, halve, word):
            scale, halved = adrt.jax.function(kernel), adrt.jax.function(halve)
            step = jax.jit(jax.value_and_grad(lambda x, s: jnp.sum(scale(x=x, s=s, y=x.shape[0]).y ** 2), (0, 1)))
            got, by_jax = step(x, 1.5), jax.value_and_grad(lambda x, s: jnp.sum(same_of_jax(x, s) ** 2), (0, 1))(x, 1.5)
            jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-12), got, by_jax)
            np.testing.assert_allclose(jax.grad(lambda x: halved(x=x, y=3).y.sum())(at), wanted, rtol=1e-12)
            part = jax.shard_map(lambda x, s: scale(x=x, s=s, y=2).y, mesh=mesh, in_specs=(P("i"), P()), out_specs=P("i"))
            np.testing.assert_allclose(jax.jit(part)(x, 1.5), 1.5 * np.sin(x), rtol=1e-12)
            self.assertIn(word, step.lower(x, 1.5).as_text())

        with mock.patch.object(adrt.jax, "ffi", None):
            check(kernel, halve, "callback")
        with mock.patch.object(adrt.jax, "_other_platforms", lambda: True):
            check(kernel, halve, "adrt.kernel")
        check(kernel.on(heap=heap), halve.on(heap=heap), "callback")
        self.assertTrue(asked)

    def test_numbers(self):
        """Traced numbers of other types, and JAX without 64 bits."""
        kernel = adrt.load(compiled_text("scaled", SCALED, "--derive=grad,jvp"))["scaled"]
        scaled = adrt.jax.function(kernel)
        x = jnp.asarray([1, 2, 3], "float32")
        step = jax.jit(lambda s, n, o: scaled(x=x, s=s, n=n, o=o, y=3).y)
        for s in 2, 2.0, np.float32(2), np.float16(2), np.uint8(2):
            for n in 1, True, np.int8(1), np.uint64(1):
                np.testing.assert_allclose(step(s, n, jnp.asarray([0, 300])), [3, 5, 7])
        with self.assertRaisesRegex(Exception, "'o'.* a number that vec<i16, 2> does not have"):
            step(2.0, 1, jnp.asarray([0, 40000])).block_until_ready()
        with self.assertRaisesRegex(Exception, "'n'.* a number that i64 does not have"):
            step(2.0, np.uint64(2**63), jnp.asarray([0, 0])).block_until_ready()
        with Raises(self, adrt.ArgumentError, "n", "int64 of 0 axes"):
            step(2.0, 1.0, jnp.asarray([0, 0]))
        with Raises(self, adrt.ArgumentError, "o", "2 numbers of i16"):
            scaled(x=x, s=2.0, n=1, o=3, y=3)
        with Raises(self, adrt.ArgumentError, "n", "a number of int64"):
            scaled(x=x, s=2.0, o=(0, 0), y=3)
        with jax.enable_x64(False):
            third = adrt.jax.function(kernel)(x=x, s=1 / 3, n=0, o=(0, 0), y=3).y
            np.testing.assert_array_equal(third, np.asarray(np.asarray(x, "f8") * (1 / 3), "f4"))
            value, slope = jax.value_and_grad(lambda s: scaled(x=x, s=s, n=2**40, o=(0, 0), y=3).y[0] - 2.0**40)(3.0)
            self.assertEqual(slope, 1)

    def test_in_compiled_programs_in_place_is_a_copy(self):
        twice = adrt.jax.function(self.kernels["twice"])
        x = jnp.arange(4, dtype="float32")
        np.testing.assert_allclose(jax.jit(lambda x: x + twice(x=x).x)(x), 3 * np.arange(4))
        np.testing.assert_array_equal(x, np.arange(4))
        np.testing.assert_allclose(jax.jit(lambda x: twice(x=x).x, donate_argnums=0)(x), 2 * np.arange(4))

    def test_reports_of_launches(self):
        scaled = adrt.jax.function(adrt.load(compiled_text("scaled", SCALED, "--derive=grad", "--asserts"))["scaled"])
        step = jax.jit(lambda x: scaled(x=x, s=1.0, n=0, o=(0, 0), y=2).y)
        with self.assertRaisesRegex(Exception, "x is positive"):
            step(jnp.asarray([1, -1], "float32")).block_until_ready()
        np.testing.assert_allclose(step(jnp.asarray([1, 2], "float32")), [1, 2])

    def test_handler_refuses(self):
        """What adrt.jax never asks for, and programs of other processes may."""
        from jax import ffi

        adrt.jax._register()
        name = self.kernels["scale"]._xla_name(True)
        x, two = jnp.zeros(3), np.frombuffer(np.float64(2).tobytes(), "uint8")
        good = {"kernel": name, "places": np.array([0, -1, -2, -1, -1, 0], "int32"), "numbers": two}  # x, s, y

        def run(*operands, dtype="float64", **attributes):
            attributes = {key: value for key, value in {**good, **attributes}.items() if value is not None}
            return ffi.ffi_call("adrt.kernel", jax.ShapeDtypeStruct((3,), dtype))(*operands, **attributes)

        np.testing.assert_array_equal(run(x), np.zeros(3))
        for words, operands, changes in (
                ("has not loaded", (x,), {"kernel": "00:scale:0:0"}),
                ("'kernel' and 'places'", (x,), {"kernel": None}),
                ("'kernel' and 'places'", (x,), {"places": np.array([0.5])}),
                ("has no place for it", (x,), {"places": np.array([0, -1], "int32")}),
                ("does not give it", (x,), {"places": np.array([-1, -1, -2, -1, -1, 0], "int32")}),
                ("no such buffer", (x,), {"places": np.array([7, -1, -2, -1, -1, 0], "int32")}),
                ("no result for it", (x,), {"places": np.array([0, -1, -2, -1, 0, -1], "int32")}),
                ("one too many", (x,), {"places": np.array([0, 0, -2, -1, -1, 0], "int32")}),
                ("another shape than buffer<f64, 1>", (jnp.zeros((3, 1)),), {}),
                ("another type than buffer<f64, 1>", (jnp.zeros(3, "float32"),), {}),
                ("another type than buffer<f64, 1>", (x,), {"dtype": "float32"}),
                ("another shape than the argument", (jnp.zeros(4),),
                 {"places": np.array([0, -1, -2, -1, 0, 0], "int32")}),
                ("other bytes", (x,), {"numbers": two[:4]}),
                ("other bytes", (x,), {"numbers": None}),
                ("other bytes", (x,), {"places": np.array([0, -1, -3, -1, -1, 0], "int32")})):
            with self.subTest(words), self.assertRaisesRegex(Exception, words):
                jax.block_until_ready(run(*operands, **changes))

    def test_layout_of_what_the_handler_reads(self):
        """Our declarations of XLA's interface against the header that JAX brings."""
        compiler = next(filter(None, map(shutil.which, ("c++", "clang++-19", "clang++", "g++"))), None)
        if not compiler:
            self.skipTest("NO C++ COMPILER: THE LAYOUT IS NOT COMPARED")
        same = {"Extension_Base": ("Extension", "struct_size type:kind next"),
                "Api_Version": ("Version", "struct_size extension_start:extensions major_version minor_version"),
                "Metadata": ("Metadata", "struct_size api_version:version traits"),
                "Metadata_Extension": ("MetadataExtension", "extension_base:base metadata"),
                "Error_Create_Args": ("ErrorArgs", "struct_size extension_start:extensions message errc:code"),
                "Stream_Get_Args": ("StreamArgs", "struct_size extension_start:extensions ctx:context stream"),
                "DeviceMemory_Allocate_Args": ("MemoryArgs", "struct_size extension_start:extensions ctx:context size:bytes "
                                                             "alignment data"),
                "DeviceMemory_Free_Args": ("FreeArgs", "struct_size extension_start:extensions ctx:context size:bytes data"),
                "Api": ("Api", "struct_size extension_start:extensions api_version:version XLA_FFI_Error_Create:create_error "
                               "XLA_FFI_Stream_Get:get_stream XLA_FFI_DeviceMemory_Allocate:allocate "
                               "XLA_FFI_DeviceMemory_Free:free"),
                "Buffer": ("Buffer", "struct_size extension_start:extensions dtype:type data rank dims:extents"),
                "Args": ("Buffers", "struct_size extension_start:extensions size:count types:kinds args:items"),
                "Rets": ("Buffers", "struct_size extension_start:extensions size:count types:kinds rets:items"),
                "ByteSpan": ("Span", "ptr:text len:size"), "Array": ("Array", "dtype:type size:count data"),
                "Attrs": ("Attributes", "struct_size extension_start:extensions size:count types:kinds names attrs:items"),
                "CallFrame": ("CallFrame", "struct_size extension_start:extensions api ctx:context stage args:arguments "
                                           "rets:results attrs:attributes")}
        lines = ["#include <xla/ffi/api/c_api.h>", '#include "xla_ffi.h"', "namespace xla = adrt_python::xla;"]
        for theirs, (ours, fields) in same.items():
            for field in fields.split():
                a, b = field.split(":") if ":" in field else (field, field)
                lines.append(f"static_assert(offsetof(XLA_FFI_{theirs}, {a}) == offsetof(xla::{ours}, {b}));")
                lines.append(f"static_assert(sizeof(XLA_FFI_{theirs}::{a}) == sizeof(xla::{ours}::{b}));")
        for theirs, ours in {"Extension_Metadata": "kMetadata", "Error_Code_INVALID_ARGUMENT": "Code::kInvalidArgument",
                             "Error_Code_NOT_FOUND": "Code::kNotFound", "Error_Code_INTERNAL": "Code::kInternal",
                             "Error_Code_RESOURCE_EXHAUSTED": "Code::kResourceExhausted", "ArgType_BUFFER": "kBuffer",
                             "RetType_BUFFER": "kBuffer", "AttrType_ARRAY": "kArray", "AttrType_STRING": "kString",
                             "ExecutionStage_EXECUTE": "kExecute", "API_MAJOR": "kMajor", "DataType_PRED": "ADRT_TYPE_I1",
                             **{f"DataType_S{bits}": f"ADRT_TYPE_I{bits}" for bits in (8, 16, 32, 64)},
                             **{f"DataType_U{bits}": f"ADRT_TYPE_U{bits}" for bits in (8, 16, 32, 64)},
                             **{f"DataType_F{bits}": f"ADRT_TYPE_F{bits}" for bits in (16, 32, 64)}}.items():
            where = "" if ours.startswith("ADRT") else "xla::"
            lines.append(f"static_assert(static_cast<long>(XLA_FFI_{theirs}) == static_cast<long>({where}{ours}));")
        source = WORK / "layout.cpp"
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-I", jax.ffi.include_dir(), "-I",
                               str(ROOT / "python/adrt/src"), "-I", str(ROOT / "runtime-loader/include"), str(source)],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_saved_values(self):
        squares = adrt.load(compiled(HERE / "saved.ir", "--save-overwritten"))["squares"]
        function, x = adrt.jax.function(squares), jnp.asarray([1.0, 2.0])
        np.testing.assert_allclose(jax.jit(lambda x: function(x=x, n=2).x)(x), [1, 16])
        with self.assertRaisesRegex(ValueError, "without --save-overwritten"):
            jax.grad(lambda x: function(x=x, n=2).x.sum())(x)

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
