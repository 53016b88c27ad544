"""Every mistake is an exception that names what is wrong."""

import os
import subprocess
import unittest

from support import ADC, HERE, ROOT, WORK, Raises, compiled, compiled_text, main, sample, skip_unless_built, skip_without

skip_unless_built()
np = skip_without("numpy")
import adc  # noqa: E402
import adrt  # noqa: E402

STRIP_BUNDLE = os.environ["ADC_STRIP_BUNDLE"]


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.relax = adrt.load(sample("relax"))["relax"]
        cls.kernels = adrt.load(compiled(HERE / "kernels.ir"))
        cls.x = np.linspace(0, 1, 10, dtype="f")

    def test_classes(self):
        for kind in adrt.ArgumentError, adrt.NotFoundError, adrt.NoTargetError, adrt.OutOfMemoryError, adrt.UntrustedError:
            self.assertTrue(issubclass(kind, adrt.Error))
        self.assertTrue(issubclass(adrt.ArgumentError, (TypeError, ValueError)))
        self.assertTrue(issubclass(adrt.OutOfMemoryError, MemoryError))

    def test_fields(self):
        with Raises(self, adrt.ArgumentError, "x") as raised:
            self.relax(x=self.x.astype("d"), n=1)
        error = raised.exception
        self.assertEqual((error.given, error.wanted), ("float64 of shape (10,)", "float32, for buffer<f32, 1>"))
        self.assertEqual((error.status, error.status_text), (100, "wrong argument"))
        self.assertIsNone(error.needed_bytes)

    def test_what_is_given(self):
        def wrong(parameter, *words, **arguments):
            with Raises(self, adrt.ArgumentError, parameter, *words):
                self.relax(**{"x": self.x, "n": 1, **arguments})

        wrong("x", "float32 of shape (5, 2)", "1 axis", x=self.x.reshape(5, 2))
        wrong("x", "contiguous", x=np.zeros(20, "f")[::2])
        wrong("x", "contiguous", x=self.x[::-1])
        wrong("x", ">f4", x=self.x.astype(">f4"))
        wrong("x", "complex64", x=self.x.astype("F"))
        wrong("x", "given list", x=[1.0, 2.0])
        wrong("x", "given 3.0", x=3.0)
        wrong("x", "given None", x=None)
        wrong("x", "given str", x="abc")
        wrong("x", "given tuple", "an array", x=(10,))  # a shape stands for an output alone
        wrong("loss", "read-only", loss=np.broadcast_to(np.float32(0), ()))
        wrong("loss", "0 axes", loss=np.zeros(1, "f"))
        wrong("loss", "of shape (1,)", "0 axes", loss=np.zeros((1,), "f"))
        wrong("los", "one of x, loss, n", los=1)
        wrong("n", "given 1.5", "an integer of i32", n=1.5)
        wrong("n", "given 4294967296", n=2**32)
        with Raises(self, adrt.ArgumentError, "x", "given nothing"):
            self.relax(n=1)
        with Raises(self, adrt.ArgumentError, "n", "given nothing", "a value of i32"):
            self.relax(x=self.x)
        with Raises(self, adrt.ArgumentError, None, "by name", "relax(x: buffer<f32, 1> diff"):
            self.relax(self.x, 1)

    def test_freed_memory(self):
        view = memoryview(bytearray(40))
        view.release()
        with Raises(self, adrt.ArgumentError, "x", "memory") as raised:
            self.relax(x=view, n=1)
        self.assertIsInstance(raised.exception.__cause__, ValueError)

    def test_shapes_of_outputs(self):
        x = np.zeros(3)
        with Raises(self, adrt.ArgumentError, "y", "given nothing", "buffer<f64, 1>", "or its shape"):
            self.kernels["scale"](x=x, s=1.0)
        with Raises(self, adrt.ArgumentError, "y", "1 axis"):
            self.kernels["scale"](x=x, s=1.0, y=(3, 3))
        with Raises(self, adrt.ArgumentError, "y", "not negative"):
            self.kernels["scale"](x=x, s=1.0, y=-3)
        with Raises(self, adrt.ArgumentError, "x_adj", "one shape"):
            self.kernels["scale"].grad(x=x, s=1.0, y=x, y_adj=np.ones(3), x_adj=np.zeros(4))
        with Raises(self, adrt.ArgumentError, "y_adj", "from which the gradient starts"):
            self.kernels["scale"].grad(x=x, s=1.0, y=x)

    def test_missing_derivatives(self):
        with Raises(self, adrt.NotFoundError, None, "'count' has no gradient", "'diff'"):
            self.kernels["count"].grad
        with Raises(self, adrt.NotFoundError, None, "'relax' has no forward mode", "--derive=grad,jvp"):
            self.relax.jvp
        with Raises(self, adrt.NotFoundError, None, "--derive='jvp(grad)'"):
            self.relax.grad.jvp
        none = adrt.load(sample("relax", "--derive=none"))["relax"]
        with Raises(self, adrt.NotFoundError, None, "'relax' has no gradient", "--derive=grad"):
            none.grad
        self.assertFalse(hasattr(none, "grad"))

    def test_no_such_kernel(self):
        with Raises(self, adrt.NotFoundError, None, "'relx'", "relax, relax.grad"):
            self.relax.bundle["relx"]
        with self.assertRaises(LookupError):
            self.relax.bundle["relx"]
        with self.assertRaises(TypeError):
            self.relax.bundle[3]

    def test_no_target(self):
        kernel = adrt.load(sample("relax", "--target=cuda"))["relax"]
        with Raises(self, adrt.NoTargetError, None, "has code for: cuda:sm_80", "adc --target=cpu"):
            kernel(x=self.x, n=1)
        self.assertEqual(kernel.size(x=10, n=1).target, "cuda:sm_80")

    def test_untrusted(self):
        bundle = adrt.load(sample("relax"), trust=False)
        self.assertEqual(bundle.kernels, ["relax", "relax.grad"])
        with Raises(self, adrt.UntrustedError) as raised:
            bundle["relax"](x=self.x, n=1)
        self.assertEqual(raised.exception.status, 207)

    def test_keys(self):
        for name in "ours", "theirs":
            for half in name, f"{name}.pub":
                (WORK / half).unlink(missing_ok=True)
            made = subprocess.run([ADC, "sign", f"--new-key={name}"], cwd=WORK, capture_output=True, text=True, check=False)
            if made.returncode != 0:
                self.skipTest("adc was built without libsodium: " + made.stderr)
        ours, theirs = WORK / "ours.pub", WORK / "theirs.pub"
        plain = sample("relax").read_bytes()
        signed = adc.sign_bundle(plain, WORK / "ours")
        (WORK / "signed.adcb").write_bytes(signed)
        raw = bytes.fromhex(ours.read_text(encoding="ascii").split()[1])
        for source, keys in (signed, [ours]), (signed, (str(theirs), raw)), (WORK / "signed.adcb", [bytearray(raw)]):
            gradient = adrt.load(source, keys=keys)["relax"].grad(x=self.x, loss=0.0, n=1, loss_adj=1.0).x_adj
            self.assertTrue(np.allclose(gradient, np.cos(self.x), rtol=1e-6))
        moved = WORK / "moved.adcb"  # ours has signed other content
        (WORK / "other.adcb").write_bytes(adc.compile(ROOT / "samples/relax.ir", targets="cpu", derive="none"))
        (WORK / "other.adcb").write_bytes(adc.sign_bundle(WORK / "other.adcb", WORK / "ours"))
        subprocess.run([STRIP_BUNDLE, WORK / "other.adcb", moved, WORK / "signed.adcb"], check=True)
        for source, keys, why in ((plain, [ours], "not signed"), (signed, [], "not checked"), (signed, [theirs], "an unknown key"),
                                  (moved, [ours], "the signature of a known key is bad")):
            with Raises(self, adrt.UntrustedError, None, "none of the keys has signed it", why) as raised:
                adrt.load(source, keys=keys)
            self.assertEqual(raised.exception.status, 207)
        adrt.load(moved)  # trusted, whatever its signatures say
        broken = bytearray(signed)
        broken[len(signed) // 2] ^= 1
        with Raises(self, adrt.Error):
            adrt.load(broken, keys=[ours])
        for keys, kind, words in ((str(ours), TypeError, "wanted a list of public keys"), ([3], TypeError, "paths of public keys"),
                                  ([raw[:31]], ValueError, "given 31 bytes"), ([WORK / "ours"], ValueError, "is a secret key"),
                                  ([WORK / "none.pub"], FileNotFoundError, "none.pub")):
            with Raises(self, kind, None, words):
                adrt.load(signed, keys=keys)
        for trust in True, False:
            with Raises(self, TypeError, None, "trust and keys"):
                adrt.load(signed, keys=[ours], trust=trust)
        with Raises(self, adrt.ArgumentError, None, "at most 64"):
            adrt.load(signed, keys=[raw] * 65)
        with Raises(self, adc.CompileError, None, "a secret one is expected"):
            adc.sign_bundle(signed, ours)

    def test_broken_bundles(self):
        good = sample("relax").read_bytes()
        with Raises(self, adrt.Error, None, "not a bundle"):
            adrt.load(b"no bundle at all")
        for cut in range(0, len(good), 501):
            with self.assertRaises(adrt.Error):
                adrt.load(good[:cut])
        broken = bytearray(good)
        broken[len(good) // 2] ^= 1
        with Raises(self, adrt.Error) as raised:
            adrt.load(broken)
        self.assertTrue(200 <= raised.exception.status < 207)
        with self.assertRaises(FileNotFoundError):
            adrt.load("no/such.adcb")
        with Raises(self, TypeError, None, "given 3", "a path or the bytes"):
            adrt.load(3)

    def test_reports_of_launches(self):
        kernel = adrt.load(compiled(HERE / "kernels.ir", "--asserts"))["checked"]
        self.assertEqual(kernel(x=np.ones(4, "f")).y, 4)
        with Raises(self, adrt.Error, None, "x is positive") as raised:
            kernel(x=np.zeros(4, "f"))
        self.assertEqual(raised.exception.status, 404)
        self.assertEqual(kernel(x=np.ones(4, "f")).y, 4)  # and the kernel goes on
        text = ("kernel @gather(%x: buffer<f32, 1>, %at: i32, %y: buffer<f32, 0>) {\n"
                "  %v = load %x[%at]\n  store %y[], %v\n}\n")
        checked = adrt.load(compiled_text("gather", text, "--check-bounds", "--derive=none"))["gather"]
        with Raises(self, adrt.Error) as raised:
            checked(x=np.zeros(4, "f"), at=4)
        self.assertEqual(raised.exception.status, 405)


if __name__ == "__main__":
    main()
