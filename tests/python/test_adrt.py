"""Calls of kernels by the package adrt: values, gradients, memory, options, threads."""

import os
import subprocess
import sys
import threading
import time
import unittest

from support import HERE, Raises, compiled, compiled_text, main, sample, skip_unless_built, skip_without

skip_unless_built()
np = skip_without("numpy")
import adrt  # noqa: E402

TYPES = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
         "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64"}


def relaxed(x, n):
    for _ in range(n):
        x = np.sin(x) + 0.1
    return x


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.relax = adrt.load(sample("relax", "--derive=grad,jvp"))
        cls.kernels = adrt.load(compiled(HERE / "kernels.ir", "--derive=grad,jvp,jvp(grad)"))

    def test_bundle(self):
        path = sample("relax", "--derive=grad,jvp")
        for bundle in self.relax, adrt.load(str(path)), adrt.load(path.read_bytes()), adrt.load(bytearray(path.read_bytes())):
            self.assertEqual(bundle.kernels, ["relax", "relax.grad", "relax.jvp"])
            self.assertEqual(list(bundle), bundle.kernels)
            self.assertEqual(len(bundle), 3)
            self.assertIn("relax.grad", bundle)
            self.assertNotIn("relax.hessian", bundle)
            self.assertTrue(all(target.startswith("cpu:") for target in bundle.targets))
            self.assertEqual(bundle.content_id, self.relax.content_id)
            self.assertRegex(bundle.content_id, "^[0-9a-f]{64}$")
        # What the loader runs itself is not listed.
        self.assertNotIn("halve.grad.size0", self.kernels.kernels)

    def test_kernel_facts(self):
        kernel = self.relax["relax"].grad
        self.assertEqual((kernel.name, kernel.role, kernel.of), ("relax.grad", "grad", "relax"))
        self.assertEqual(self.relax["relax"].of, None)
        self.assertEqual(kernel.bundle, self.relax)
        names = [parameter.name for parameter in kernel.params]
        self.assertEqual(names, ["x", "loss", "n", "x_adj", "loss_adj"])
        adjoint = kernel.params[3]
        self.assertEqual((adjoint.bundle_name, adjoint.kind, adjoint.dtype, adjoint.ndim, adjoint.role, adjoint.primal),
                         ("x.adj", "buffer", "float32", 1, "adjoint", "x"))
        self.assertTrue(adjoint.reads and adjoint.writes and not adjoint.is_seed)
        self.assertTrue(kernel.params[4].is_seed)
        self.assertEqual(self.kernels["turn"].params[0].element_shape, (2, 3))
        self.assertEqual(self.kernels["weigh"].params[0].kind, "layout")

    def test_gradient_descends_with_closed_form_and_forward_mode(self):
        generator = np.random.default_rng(1)
        x = generator.uniform(-1, 1, 1000).astype("f")
        outputs = self.relax["relax"](x=x, n=4)
        np.testing.assert_allclose(outputs.loss, relaxed(x.astype("d"), 4).sum(), rtol=1e-5)
        gradient = self.relax["relax"].grad(x=x, loss=outputs.loss, n=4, loss_adj=2.0).x_adj
        exact, at = 2 * np.ones(1000), x.astype("d")
        for _ in range(4):
            exact, at = exact * np.cos(at), np.sin(at) + 0.1
        np.testing.assert_allclose(gradient, exact, rtol=1e-5)
        direction = generator.normal(size=1000).astype("f")
        tangent = self.relax["relax"].jvp(x=x, n=4, x_tan=direction, loss_tan=0).loss_tan
        np.testing.assert_allclose(2 * tangent, np.dot(exact, direction), rtol=1e-4)

    def test_gradient_of_scalars_against_differences(self):
        x, seed = np.linspace(0.1, 1.4, 50), np.linspace(-1, 1, 50)

        def value(s):
            return np.dot(seed, self.kernels["scale"](x=x, s=s, y=(50,)).y)

        y = self.kernels["scale"](x=x, s=1.5, y=50).y
        np.testing.assert_allclose(y, 1.5 * np.sin(x), rtol=1e-12)
        given = seed.copy()
        got = self.kernels["scale"].grad(x=x, s=1.5, y=y, y_adj=given)
        np.testing.assert_allclose(got.x_adj, seed * 1.5 * np.cos(x), rtol=1e-12)
        self.assertEqual(got.s_adj.shape, ())
        np.testing.assert_allclose(got.s_adj, (value(1.5 + 1e-6) - value(1.5 - 1e-6)) / 2e-6, rtol=1e-7)
        self.assertIs(got.y_adj, given)
        np.testing.assert_array_equal(given, 0)  # consumed: the kernel overwrites y
        tangent = self.kernels["scale"].jvp(x=x, s=1.5, y=50, x_tan=np.zeros(50), s_tan=1.0).y_tan
        np.testing.assert_allclose(np.dot(seed, tangent), got.s_adj, rtol=1e-12)

    def test_adjoints_add_up(self):
        x, total = np.linspace(0, 1, 9, dtype="f"), np.zeros(9, "f")
        for _ in range(2):
            self.relax["relax"].grad(x=x, loss=0.0, n=1, x_adj=total, loss_adj=1.0)
        np.testing.assert_allclose(total, 2 * np.cos(x), rtol=1e-5)

    def test_in_place(self):
        x = np.arange(5, dtype="f")
        self.assertIs(self.kernels["twice"](x=x).x, x)
        np.testing.assert_array_equal(x, [0, 2, 4, 6, 8])
        adjoint = np.ones(5, "f")
        self.kernels["twice"].grad(x=x, x_adj=adjoint)
        np.testing.assert_array_equal(adjoint, 2)
        with Raises(self, adrt.ArgumentError, "x_adj", "from which the gradient starts"):
            self.kernels["twice"].grad(x=x)
        with Raises(self, adrt.ArgumentError, "x_tan"):
            self.kernels["twice"].jvp(x=x)

    def test_data_dependent_loop(self):
        x = np.array([0.5, 3.0, 100.0])
        got = self.kernels["halve"](x=x, y=x.shape)
        gradient = self.kernels["halve"].grad(x=x, y=got.y, y_adj=np.ones(3)).x_adj
        tangent = self.kernels["halve"].jvp(x=x, y=3, x_tan=np.ones(3), y_tan=(3,)).y_tan
        np.testing.assert_allclose(gradient, tangent, rtol=1e-12)
        self.assertFalse(self.kernels["halve"].grad.size(x=3, y=3).resolved)
        high, low = (self.kernels["halve"](x=x * scale, y=3).y for scale in (1 + 1e-7, 1 - 1e-7))
        np.testing.assert_allclose(gradient, (high - low) / (2e-7 * x), rtol=1e-5)

    def test_vectors_and_matrices(self):
        m = np.arange(6, dtype="f").reshape(2, 3)
        v = np.random.default_rng(2).normal(size=(7, 3)).astype("f")
        for matrix in m, m.tolist(), [tuple(row) for row in m]:
            got = self.kernels["turn"](m=matrix, offset=(10, 20.5), v=v, w=7, copies=7)
            np.testing.assert_allclose(got.w, v @ m.T + np.array([10, 20.5], "f"), rtol=1e-5)
            np.testing.assert_array_equal(got.copies, np.broadcast_to(m, (7, 2, 3)))
        with Raises(self, adrt.ArgumentError, "m", "2 rows of 3 numbers of f32"):
            self.kernels["turn"](m=m.T, offset=(0, 0), v=v, w=7, copies=7)
        with Raises(self, adrt.ArgumentError, "v", "float32 of shape (7,)", "2 axes", "the last of 3"):
            self.kernels["turn"](m=m, offset=(0, 0), v=v[:, 0].copy(), w=7, copies=7)
        with Raises(self, adrt.ArgumentError, "offset", "2 numbers of f32"):
            self.kernels["turn"](m=m, offset=1.0, v=v, w=7, copies=7)

    def test_numbers_of_every_type(self):
        lowest = dict(a=False, b=-128, c=-2**15, d=-2**31, e=-2**63, f=0, g=0, h=0, j=0, k=-1.5, l=-0.25, m=1e300)
        highest = dict(a=True, b=127, c=2**15 - 1, d=2**31 - 1, e=2**63 - 1, f=255, g=2**16 - 1, h=2**32 - 1, j=2**64 - 1,
                       k=65504, l=np.float32(3e38), m=np.float64(-0.5))
        for numbers in lowest, highest:
            out = self.kernels["numbers"](**numbers, out=12).out
            np.testing.assert_array_equal(out, [float(value) for value in numbers.values()])
        for name in "bcdefghj":
            for numbers, step in (lowest, -1), (highest, 1):
                with Raises(self, adrt.ArgumentError, name, str(numbers[name] + step), "an integer of"):
                    self.kernels["numbers"](**{**numbers, name: numbers[name] + step}, out=12)
        for name, value in ("a", 2), ("k", 1e6), ("l", 1e39), ("m", "1.0"), ("d", 1.0), ("d", None), ("j", [1]):
            with Raises(self, adrt.ArgumentError, name):
                self.kernels["numbers"](**{**lowest, name: value}, out=12)
        self.assertEqual(self.kernels["numbers"](**{**lowest, "a": np.bool_(True), "d": np.int64(7)}, out=12).out[3], 7)

    def test_buffers_of_every_type(self):
        for short, name in TYPES.items():
            text = (f"kernel @copy(%x: buffer<{short}, 2>, %y: buffer<{short}, 2>) {{\n"
                    "  parallel %i, %j in 0..shape(%x, 0), 0..shape(%x, 1) {\n"
                    "    %v = load %x[%i, %j]\n    store %y[%i, %j], %v\n  }\n}\n")
            kernel = adrt.load(compiled_text(f"copy_{short}", text, "--derive=none"))["copy"]
            x = np.array([[0, 1, 1], [1, 0, 1]]).astype(name)
            y = kernel(x=x, y=(2, 3)).y
            self.assertEqual(y.dtype, np.dtype(name))
            np.testing.assert_array_equal(y, x)
            other = "float64" if name != "float64" else "float32"
            with Raises(self, adrt.ArgumentError, "x", other, name, f"buffer<{short}, 2>"):
                kernel(x=x.astype(other), y=(2, 3))

    def test_layouts(self):
        record = np.dtype([("mass", "f4"), ("pad", "f4"), ("at", "f8", 2)])
        self.assertEqual(record.itemsize, 24)
        cells = np.zeros(4, record)
        cells["mass"] = [1, 2, 3, 4]
        self.assertEqual(self.kernels["weigh"](g=cells).sum, 10)
        with Raises(self, adrt.ArgumentError, "g", "96 bytes", "72"):
            self.kernels["weigh"](g=cells[:3])

    def test_names(self):
        kernel = self.kernels["named"]
        # %x_in has its own name, so that %x.in keeps the bundle's.
        self.assertEqual([parameter.name for parameter in kernel.params], ["lambda_", "x.in", "x_in", "y"])
        self.assertEqual(kernel(lambda_=1.0, x_in=3.0, **{"x.in": 2.0}).y, 123)
        gradient = self.relax["relax"].grad
        np.testing.assert_array_equal(gradient(x=np.zeros(3, "f"), loss=0, n=1, **{"loss.adj": 1.0}).x_adj, 1)
        with Raises(self, adrt.ArgumentError, "loss_adj", "one of its two names"):
            gradient(x=np.zeros(3, "f"), loss=0, n=1, loss_adj=1.0, **{"loss.adj": 1.0})

    def test_no_copies(self):
        memory = np.zeros(100, "d")
        x, y = memory[:50], memory[50:]
        x[:] = np.linspace(0, 1, 50)
        self.assertIs(self.kernels["scale"](x=x, s=2.0, y=y).y, y)
        np.testing.assert_allclose(memory[50:], 2 * np.sin(memory[:50]), rtol=1e-12)
        # The loader sees the arrays' own addresses: it finds that these overlap, and that those lie badly.
        with Raises(self, adrt.ArgumentError, "y", "shares memory with 'x'"):
            self.kernels["scale"](x=memory[:50], s=2.0, y=memory[49:99])
        crooked = np.frombuffer(bytearray(8 * 50 + 1), "d", 50, 1)
        with Raises(self, adrt.ArgumentError, "x", "not a multiple of 8"):
            self.kernels["scale"](x=crooked, s=2.0, y=y)

    def test_saved_values(self):
        bundle = adrt.load(compiled(HERE / "saved.ir", "--save-overwritten"))
        kernel, start = bundle["squares"], np.linspace(0.5, 1.5, 7)
        for n in 0, 1, 3:
            x = start.copy()
            written = kernel(x=x, n=n)
            self.assertEqual(written[1].size, kernel.size(x=7, n=n).saved["saved_f64"])
            np.testing.assert_allclose(x, start ** 2 ** n, rtol=1e-12)
            adjoint = np.ones(7)
            kernel.grad(x=x, n=n, saved_f64=written.saved_f64, x_adj=adjoint)
            np.testing.assert_allclose(adjoint, 2 ** n * start ** (2 ** n - 1), rtol=1e-12)
        with Raises(self, adrt.ArgumentError, "saved_f64", "given nothing"):
            kernel.grad(x=x, n=3, x_adj=adjoint)
        with Raises(self, adrt.ArgumentError, "saved_f64"):
            kernel.grad(x=x, n=3, saved_f64=np.zeros(2), x_adj=adjoint)
        kernel, counts, x, adjoint = bundle["some_squares"], np.array([0, 1, 2, 3, 2, 1, 0], "i4"), start.copy(), np.ones(7)
        written = kernel(x=x, n=counts)
        self.assertGreaterEqual(written.saved_f64.size, counts.sum())
        kernel.grad(x=x, n=counts, saved_f64=written.saved_f64, x_adj=adjoint)
        np.testing.assert_allclose(adjoint, 2.0 ** counts * start ** (2.0 ** counts - 1), rtol=1e-12)

    def test_heap_of_the_caller(self):
        asked = []

        def allocate(count):
            asked.append(np.zeros(count, "u1"))
            return asked[-1]

        x = np.linspace(-1, 1, 1000, dtype="f")
        gradient = self.relax["relax"].grad.on(threads=1, heap=allocate)
        for n in 3, 40:
            got = gradient(x=x, loss=0, n=n, loss_adj=1.0).x_adj
            np.testing.assert_array_equal(got, self.relax["relax"].grad.on(threads=1)(x=x, loss=0, n=n, loss_adj=1.0).x_adj)
            needed = gradient.size(x=1000, n=n).heap_bytes
            self.assertTrue(needed <= len(asked[-1]) <= needed + 4096)
        self.assertEqual(len(asked), 2)
        self.assertTrue(np.any(asked[-1] != 0))  # the tape is there
        self.relax["relax"].on(heap=allocate)(x=x, n=3)
        self.assertEqual(len(asked), 2)  # without a tape there is nothing to ask for
        # Sizes that the data decide are known before it is asked.
        halve = self.kernels["halve"].grad.on(heap=allocate)
        np.testing.assert_allclose(halve(x=np.full(3, 0.5), y=np.full(3, 0.5), y_adj=np.ones(3)).x_adj, 1)
        big = np.array([0.5, 3.0, 100.0])
        expected = self.kernels["halve"].grad(x=big, y=big, y_adj=np.ones(3)).x_adj
        np.testing.assert_allclose(halve(x=big, y=big, y_adj=np.ones(3)).x_adj, expected)
        for wrong in (lambda count: np.empty(count - 1, "u1"), lambda count: bytes(count), lambda count: None):
            with Raises(self, adrt.ArgumentError, "heap", "bytes on cpu that may be written"):
                self.relax["relax"].grad.on(heap=wrong)(x=x, loss=0, n=3, loss_adj=1.0)
        with self.assertRaises(ZeroDivisionError):
            self.relax["relax"].grad.on(heap=lambda count: count // 0)(x=x, loss=0, n=3, loss_adj=1.0)
        with Raises(self, adrt.ArgumentError, "heap", "given 3"):
            gradient.on(heap=3)
        self.assertEqual(gradient.on(heap=None)(x=x, loss=0, n=0, loss_adj=1.0).x_adj[0], 1)

    def test_budget(self):
        kernel = adrt.load(sample("relax", "--checkpoint=auto"))["relax"].grad.on(threads=1)
        x = np.linspace(-1, 1, 50, dtype="f")
        whole = kernel.size(x=50, n=5000)
        self.assertGreaterEqual(whole.heap_bytes, 20000)
        expected = kernel(x=x, loss=0, n=5000, loss_adj=1.0).x_adj
        for budget in 4096, 8192:
            within = kernel.on(budget=budget)
            self.assertLessEqual(within.size(x=50, n=5000).heap_bytes, budget)
            np.testing.assert_allclose(within(x=x, loss=0, n=5000, loss_adj=1.0).x_adj, expected, rtol=1e-5)
        self.assertEqual(kernel.size(x=50, n=5000, budget=4096), kernel.on(budget=4096).size(x=50, n=5000))
        with Raises(self, adrt.Error) as raised:
            kernel.on(budget=64)(x=x, loss=0, n=5000, loss_adj=1.0)
        self.assertEqual(raised.exception.status_text, "heap too small")
        self.assertTrue(64 < raised.exception.needed_bytes < 4096)
        for option in "threads", "budget":
            for wrong in -1, "many", 2.5, 2**70:
                with Raises(self, adrt.ArgumentError, option, "not negative"):
                    kernel.on(**{option: wrong})
                with Raises(self, adrt.ArgumentError, option, "not negative"):
                    kernel.size(x=50, n=1, **{option: wrong})

    def test_second_derivatives(self):
        """Forward over reverse of sin(x) s, with its seeds named."""
        kernel, x = self.kernels["scale"], np.linspace(0, 1, 5)
        ones, zeros = np.ones(5), np.zeros(5)
        pushed = kernel.jvp(x=x, s=2.0, y=5, x_tan=ones, s_tan=0.0)
        arguments = dict(x=x, s=2.0, y=pushed.y, x_tan=ones, s_tan=0.0, y_tan=pushed.y_tan, x_adj_tan=zeros.copy(),
                         s_adj_tan=0.0, y_adj_tan=zeros.copy())
        got = kernel.grad.jvp(**arguments, y_adj=ones.copy())
        np.testing.assert_allclose(got.x_adj_tan, -2 * np.sin(x), rtol=1e-12)
        np.testing.assert_allclose(got.s_adj_tan, np.cos(x).sum(), rtol=1e-12)
        with Raises(self, adrt.ArgumentError, "y_adj", "from which the gradient starts"):
            kernel.grad.jvp(**arguments)

    def test_empty(self):
        self.assertEqual(self.relax["relax"](x=np.zeros(0, "f"), n=3).loss, 0)
        self.assertEqual(self.kernels["scale"](x=np.zeros(0), s=1.0, y=0).y.shape, (0,))

    def test_sizes(self):
        gradient = self.relax["relax"].grad
        size = gradient.size(x=1000000, n=64, threads=8)
        self.assertEqual((size.heap_bytes, size.workers, size.resolved), (2048, 8, True))
        self.assertEqual(size, gradient.size(x=np.zeros(1000000, "f"), n=64, threads=8))
        self.assertEqual(size, gradient.on(threads=8).size(x=(1000000,), n=64))
        self.assertTrue(size.target.startswith("cpu:"))
        with Raises(self, adrt.ArgumentError, "target", "cpu:x86-64"):
            gradient.size(x=10, n=1, target="cuda:sm_80")
        with Raises(self, adrt.ArgumentError, "x", "nothing", "the shape of buffer<f32, 1>"):
            gradient.size(n=1)
        with Raises(self, adrt.ArgumentError, "x", "1 axis"):
            gradient.size(x=(2, 3), n=1)
        with Raises(self, adrt.ArgumentError, "m"):
            gradient.size(x=3, m=1)

    def test_threads(self):
        """Other Python threads run while a kernel does, and calls of one kernel from several threads are each right."""
        ticks, running = 0, True

        def tick():
            nonlocal ticks
            while running:
                ticks += 1
                time.sleep(0.0005)

        other = threading.Thread(target=tick)
        other.start()
        before = ticks
        self.kernels["long"](n=20000000)
        after = ticks
        running = False
        other.join()
        self.assertGreater(after - before, 3)

        wrong = []

        def work(number):
            x = np.full(1000, number, "f")
            for _ in range(200):
                got = self.relax["relax"].grad(x=x, loss=0, n=1, loss_adj=1.0).x_adj
                if not np.allclose(got, np.cos(np.float32(number)), rtol=1e-5):
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_number_of_threads(self):
        x = np.random.default_rng(3).uniform(size=10000).astype("f")
        one = self.relax["relax"].on(threads=1)
        results = {float(one(x=x, n=3).loss) for _ in range(5)}
        self.assertEqual(len(results), 1)
        np.testing.assert_allclose(self.relax["relax"](x=x, n=3).loss, results.pop(), rtol=1e-4)
        self.assertEqual(one.grad.size(x=10, n=3).workers, 1)  # derivatives have the same options

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_fork(self):
        x = np.ones(100000, "f")
        expected = float(self.relax["relax"](x=x, n=2).loss)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if np.isclose(float(self.relax["relax"](x=x, n=2).loss), expected, rtol=1e-4) else 2
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_bundle_outlives_its_name(self):
        kernel = adrt.load(sample("relax"))["relax"]
        self.assertEqual(kernel(x=np.zeros(2, "f"), n=0).loss, 0)
        outputs = kernel(x=np.ones(2, "f"), n=0)
        del kernel
        self.assertEqual(repr(outputs), "adrt.Outputs(loss=array(2., dtype=float32))")

    def test_no_leaks(self):
        kernel, x = self.relax["relax"], np.zeros(10, "f")
        before = sys.getrefcount(x)
        for _ in range(100):
            kernel(x=x, n=1)
            with self.assertRaises(adrt.ArgumentError):
                kernel(x=x, n="one")
        self.assertEqual(sys.getrefcount(x), before)

    def test_bundles_are_released(self):
        """Loading a bundle again and again takes no more memory."""
        resource = skip_without("resource")

        def load():
            for _ in range(300):
                adrt.load(path)["relax"](x=np.zeros(3, "f"), n=1)
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        path = sample("relax")
        load()
        before = load()
        self.assertLess(load() - before, 256)  # KiB

    def test_module_prints_devices(self):
        done = subprocess.run([sys.executable, "-m", "adrt"], capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, r"(?m)^cpu: .*\d+ workers$")
        self.assertRegex(done.stdout, r"(?m)^cuda(:0)?: ")


if __name__ == "__main__":
    main()
