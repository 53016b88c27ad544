"""adrt.tvm_ffi: kernels as packed functions, of NumPy's arrays and, where it is installed, of PyTorch's tensors."""

import gc
import sys
import unittest

from support import HERE, compiled, fetched, main, run_snippets, sample, skip_unless_built, skip_without

skip_unless_built()
np = skip_without("numpy")
fetched("apache-tvm-ffi==0.1.15.post2")
tvm_ffi = skip_without("tvm_ffi")
import adrt  # noqa: E402
import adrt.tvm_ffi  # noqa: E402

try:
    import torch
except ImportError:
    torch = None


class TvmFfi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bundle = adrt.load(compiled(HERE / "kernels.ir", "--derive=grad,jvp"))
        cls.packed = adrt.tvm_ffi.functions(cls.bundle)

    def check(self, array):
        """Values, and the gradient against the forward mode and the closed form. `array` makes one of a library's own of
        NumPy's."""
        x, y = array(np.linspace(0, 1, 5)), array(np.zeros(5))
        self.packed["scale"](x, 2.0, y)
        np.testing.assert_allclose(np.asarray(y), 2 * np.sin(np.linspace(0, 1, 5)), rtol=1e-12)
        arguments = {"x": x, "s": 2.0, "y": y, "x_adj": array(np.zeros(5)), "s_adj": array(np.zeros(())), "y_adj": array(np.ones(5))}
        names = [param.name for param in self.bundle["scale"].grad.params]
        self.packed["scale.grad"](*(arguments[name] for name in names))
        np.testing.assert_allclose(np.asarray(arguments["x_adj"]), 2 * np.cos(np.linspace(0, 1, 5)), rtol=1e-12)
        tangents = self.bundle["scale"].jvp(x=np.linspace(0, 1, 5), s=2.0, y=5, x_tan=np.zeros(5), s_tan=1.0).y_tan
        np.testing.assert_allclose(np.asarray(arguments["s_adj"]), np.sum(tangents), rtol=1e-12)

    def test_numpy(self):
        self.check(lambda array: array)

    def test_pytorch(self):
        if torch is None:
            print("PYTORCH IS NOT TESTED: it is not installed", file=sys.stderr)
            self.skipTest("PYTORCH IS NOT INSTALLED")
        self.check(torch.tensor)

    def test_vectors_and_matrices(self):
        m, v = np.arange(6, dtype="f").reshape(2, 3), np.ones((4, 3), "f")
        w, copies = np.zeros((4, 2), "f"), np.zeros((4, 2, 3), "f")
        self.packed["turn"](m.tolist(), (1.0, 2.0), v, w, copies)
        np.testing.assert_allclose(w, v @ m.T + [1, 2])
        np.testing.assert_array_equal(copies, [m] * 4)

    def test_registry(self):
        bundle = adrt.load(compiled(HERE / "kernels.ir", "--derive=grad,jvp"))
        names = adrt.tvm_ffi.register(bundle, prefix="tested.")
        self.assertEqual(set(names), {f"tested.{name}" for name in bundle})
        with self.assertRaisesRegex(RuntimeError, "already registered"):
            adrt.tvm_ffi.register(bundle, prefix="tested.")
        adrt.tvm_ffi.register(bundle, prefix="tested.", override=True)
        del bundle
        gc.collect()
        x = np.arange(3, dtype="f")
        tvm_ffi.get_global_func("tested.twice")(x)
        np.testing.assert_array_equal(x, [0, 2, 4])

    def test_mistakes(self):
        x, y = np.zeros(5), np.zeros(5)
        for words, arguments in (("given 2 arguments, wanted 3: x, s, y", (x, 2.0)), ("'s': given str, wanted a number", (x, "a", y)),
                                 ("'x'.*wanted float64", (x.astype("f"), 2.0, y)), ("'y'.*wanted", (x, 2.0, None))):
            with self.assertRaisesRegex(RuntimeError, words):
                self.packed["scale"](*arguments)

    def test_page(self):
        bundle = adrt.load(sample("relax", "--derive=grad,jvp"))
        self.assertEqual(run_snippets("tvm", bundle=bundle, x=np.linspace(-1, 1, 10, dtype="f")), 1)


if __name__ == "__main__":
    main()
