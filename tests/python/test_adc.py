"""The package adc: bundles, diagnostics, sizes and checks of gradients, from Python."""

import os
import pathlib
import shutil
import subprocess
import unittest
import unittest.mock
import warnings

import adc
from support import ADC, HERE, ROOT, Raises, WORK, main

RELAX = (ROOT / "samples/relax.ir").read_text(encoding="utf-8")
BAD = "kernel @k(%x: buffer<f32, 1> diff) {\n  %a = load %x[0]\n  store %x[0], (mul %a, %b)\n}\n"


class Compile(unittest.TestCase):
    def test_kinds(self):
        samples = ROOT / "samples"
        shader = samples / "shaders/relax.comp"
        for source, kind in ((samples / "relax.ir", None), (RELAX, None), (RELAX, "ir"), (samples / "cpp/relax.cpp", "cpp"),
                             ((samples / "cpp/relax.cpp").read_text(encoding="utf-8"), "cpp"),
                             (shader, None), (shader.read_text(encoding="utf-8"), "glsl")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", adc.CompileWarning)
                bundle = adc.compile(source, kind=kind, targets="cpu")
            self.assertEqual(bundle[:4], b"\x89ADC", f"{source} {kind}")

    @unittest.skipUnless(shutil.which("glslangValidator"), "needs glslangValidator")
    def test_spirv(self):
        module = WORK / "relax.spv"
        subprocess.run(["glslangValidator", "-V", "--quiet", "--target-env", "vulkan1.2",
                        str(ROOT / "samples/shaders/relax.comp"), "-o", str(module)], check=True)
        for source, kind in (module, None), (module.read_bytes(), "spirv"):
            self.assertEqual(adc.compile(source, kind=kind, targets="cpu", derive="none")[:4], b"\x89ADC")
        with Raises(self, adc.CompileError):
            adc.compile(module.read_bytes()[:100], kind="spirv")

    def test_same_bytes_as_the_command_line(self):
        made = WORK / "relax.adcb"
        subprocess.run([ADC, "--target=cpu", "--derive=grad,jvp", str(ROOT / "samples/relax.ir"), "-o", str(made)], check=True)
        self.assertEqual(adc.compile(ROOT / "samples/relax.ir", targets=["cpu"], derive=["grad", "jvp"]), made.read_bytes())

    def test_options(self):
        with_type = "type real = f32\nconst @n = 2 : i32\n" + RELAX.replace("f32", "real")
        bundle = adc.compile(with_type, targets=["cpu", "cuda"], defines={"real": "f64", "n": 7}, derive="none", options=["-O1"])
        sized = adc.size(bundle, shapes={"x": 8}, arguments={"n": 3})
        self.assertEqual({entry["target"].split(":")[0] for entry in sized}, {"cpu", "cuda"})
        self.assertEqual({entry["kernel"] for entry in sized}, {"relax"})
        with unittest.mock.patch.dict(os.environ), Raises(self, adc.CompileError, None, "no_such.ir"):
            adc.compile('import "no_such.ir"\n' + RELAX, targets="cpu")
        (WORK / "imported").mkdir(exist_ok=True)
        (WORK / "imported/some.ir").write_text("const @some = 0.1 : f32\n", encoding="utf-8")
        text = 'import "some.ir"\n' + RELAX.replace(", 0.1", ", @some")
        self.assertEqual(adc.compile(text, targets="cpu", include=[WORK / "imported"])[:4], b"\x89ADC")

    def test_diagnostics(self):
        with Raises(self, adc.CompileError, None, "kernel.ir:3:25: error: no value is named '%b' [E0106]", "^~") as raised:
            adc.compile(BAD)
        error = raised.exception
        self.assertEqual(error.exit_code, 1)
        told = error.diagnostics[0]
        self.assertEqual((told.severity, told.id, told.file, told.line, told.column), ("error", "E0106", "kernel.ir", 3, 25))
        self.assertEqual(told.help, "did you mean '%x'?")
        with Raises(self, adc.CompileError, None, "step.cpp:1:9: error"):
            adc.compile("int x = ;", kind="cpp", name="step")
        with Raises(self, adc.CompileError, None, "unknown target"):
            adc.compile(RELAX, targets="abacus")
        with Raises(self, adc.CompileError, None, "f64") as raised:
            adc.compile(RELAX.replace("f32", "f64"), targets="metal")
        self.assertEqual(raised.exception.exit_code, 5)
        with self.assertWarnsRegex(adc.CompileWarning, "W0401"):
            adc.compile(RELAX.replace("%loss: buffer<f32, 0> diff", "%loss: buffer<f32, 0>"), targets="cpu")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            adc.compile(RELAX, targets="cpu")

    def test_wrong_sources(self):
        for source, kind, words in ((3, None, "given int"), (b"abc", None, "bytes are SPIR-V"), (RELAX, "rust", "'rust'"),
                                    (RELAX, "spirv", "'spirv'"), (pathlib.Path("a.ir"), "cpp", "'cpp'")):
            with Raises(self, (TypeError, ValueError), None, words):
                adc.compile(source, kind=kind)
        with Raises(self, adc.CompileError, None, "no_such.ir"):
            adc.compile(pathlib.Path("no_such.ir"))

    def test_program(self):
        self.assertEqual(adc.program(), ADC)
        with unittest.mock.patch.dict(os.environ, {"ADC": "/no/such/adc"}), Raises(self, FileNotFoundError, None, "/no/such/adc"):
            adc.compile(RELAX)
        with unittest.mock.patch.dict(os.environ, {"PATH": str(pathlib.Path(ADC).parent)}):
            del os.environ["ADC"]
            self.assertEqual(adc.program(), ADC)
        with unittest.mock.patch.dict(os.environ, {"PATH": ""}):
            del os.environ["ADC"]
            with Raises(self, FileNotFoundError, None, "PATH"):
                adc.program()

    def test_size(self):
        entry, = (entry for entry in adc.size(ROOT / "samples/relax.ir", kernel="relax.grad", shapes={"x": (1000000,)},
                                              arguments={"n": 64}, options=["--threads=8"]) if entry["target"] == "cpu:x86-64-v3")
        self.assertEqual((entry["heap_bytes"], entry["missing"]), (2048, []))
        with Raises(self, adc.CompileError, None, "nothing"):
            adc.size(RELAX, kernel="nothing")

    def test_gradcheck(self):
        text = RELAX.replace("f32", "f64")
        for source in text, adc.compile(text, targets="cpu", derive=["grad", "jvp"]):
            report = adc.gradcheck(source, shapes={"x": 100}, arguments={"n": 4})
            self.assertEqual((report["kernel"], report["differ"]), ("relax", 0))
            self.assertEqual([param["verdict"] for param in report["parameters"]], ["agrees", "agrees"])
        wrong = ("func @f(%x: f64) -> f64 vjp @g { return %x * %x }\nfunc @g(%x: f64, %s: f64) -> f64 { return %s }\n"
                 "kernel @k(%x: buffer<f64, 1> diff, %y: buffer<f64, 1> diff) {\n  parallel %i in 0..shape(%x, 0) {\n"
                 "    %y[%i] = @f(%x[%i])\n  }\n}\n")
        report = adc.gradcheck(wrong, shapes={"x": 5, "y": 5})
        self.assertGreater(report["differ"], 0)
        with Raises(self, adc.CompileError, None, "E0106"):
            adc.gradcheck(BAD)


if __name__ == "__main__":
    main()
