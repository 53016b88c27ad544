"""pip builds both packages, and what it installs runs: one file of at most 3 MB for Python 3.11 and later."""

import os
import shutil
import subprocess
import sys
import unittest

from support import ROOT, SKIPPED, WORK, main, sample, skip_without

skip_without("pip")
skip_without("numpy")
LARGEST = 3 * 2**20


def pip(*words):
    return subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *words], capture_output=True, text=True)


class Wheels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.wheels = WORK / "wheels"
        shutil.rmtree(cls.wheels, ignore_errors=True)
        probe = pip("download", "--no-deps", "--retries=1", "--timeout=20", "-d", str(WORK / "probe"), "scikit-build-core")
        if probe.returncode != 0:
            print("NOTHING IS TESTED: scikit-build-core cannot be had", file=sys.stderr)
            sys.exit(SKIPPED)
        for package in "adrt", "adc":
            made = pip("wheel", "--no-deps", "-w", str(cls.wheels), str(ROOT / "python" / package))
            if made.returncode != 0:
                raise RuntimeError(made.stdout + made.stderr)

    def test_files(self):
        names = sorted(os.listdir(self.wheels))
        self.assertRegex(names[0], r"^adc-.*-py3-none-any\.whl$")
        self.assertRegex(names[1], r"^adrt-.*-cp311-abi3-linux_.*\.whl$")
        for name in names:
            self.assertLess((self.wheels / name).stat().st_size, LARGEST)

    def test_installed(self):
        folder = WORK / "installed"
        shutil.rmtree(folder, ignore_errors=True)
        done = pip("install", "--no-deps", "--no-index", "--target", str(folder), *map(str, self.wheels.iterdir()))
        self.assertEqual(done.returncode, 0, done.stderr)
        program = ("import adc, adrt, numpy, sys\n"
                   "kernel = adrt.load(sys.argv[1])['relax']\n"
                   "x = numpy.ones(3, 'f')\n"
                   "assert numpy.allclose(kernel.grad(x=x, loss=0, n=1, loss_adj=1.0).x_adj, numpy.cos(1))\n"
                   "print(adrt.__file__)\n")
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        ran = subprocess.run([sys.executable, "-c", program, str(sample("relax"))], env=environment, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertTrue(ran.stdout.startswith(str(folder)))
        for part in "adrt/_adrt.pyi", "adrt/py.typed", "adrt/torch.py", "adrt/jax.py", "adrt/tvm_ffi.py", "adc/py.typed":
            self.assertTrue((folder / part).exists(), part)


if __name__ == "__main__":
    main()
