"""What the tests of the packages for Python share: compiled bundles, derivatives by differences, and skips that are loud."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ADC = os.environ.get("ADC", "adc")
WORK = pathlib.Path(os.environ.get("ADC_TEST_FOLDER", ".")).resolve()
WORK.mkdir(parents=True, exist_ok=True)
SKIPPED = 77


def compiled(source, *options):
    """The path of the bundle of a source file, compiled for this machine's CPU unless the options say otherwise."""
    source = pathlib.Path(source)
    name = "-".join([source.stem, *(option.strip("-").replace("/", "_") for option in options)])
    bundle = WORK / f"{name}.adcb"
    if bundle.exists() and not shutil.which(ADC):
        return bundle  # was made elsewhere
    targets = [] if any(option.startswith("--target") for option in options) else ["--target=cpu"]
    subprocess.run([ADC, "-w", *targets, *options, str(source), "-o", str(bundle)], check=True)
    return bundle


def compiled_text(name, text, *options):
    source = WORK / f"{name}.ir"
    source.write_text(text, encoding="utf-8")
    return compiled(source, *options)


def sample(name, *options):
    return compiled(ROOT / "samples" / f"{name}.ir", *options)


def run_snippets(*kinds, **names):
    """Runs the blocks of docs/python.md that are marked `python KIND`, one after the other, in the folder of the bundle of
    samples/relax.ir; says how many there were."""
    page = ROOT / "docs/python.md"
    text, count, here = page.read_text(encoding="utf-8"), 0, os.getcwd()
    folder = WORK / "page"
    folder.mkdir(exist_ok=True)
    shutil.copy(sample("relax", "--derive=grad,jvp"), folder / "relax.adcb")
    os.chdir(folder)
    try:
        for block in re.finditer(r"(?ms)^```python ?(\w*)\n(.*?)^```", text):
            if block.group(1) in kinds:
                lines = "\n" * text.count("\n", 0, block.start(2))
                exec(compile(lines + block.group(2), str(page), "exec"), names)
                count += 1
    finally:
        os.chdir(here)
    return count


def skip_unless_built():
    """Ends the whole run, loudly, where CMake has left out the package. Where it has not, importing it must work."""
    if os.environ.get("ADRT_PYTHON_IS_MISSING"):
        print("NOTHING IS TESTED: the package adrt is not built here (no headers of Python 3.11)", file=sys.stderr)
        sys.exit(SKIPPED)


def skip_without(module):
    """Ends the whole run, loudly, where a library that it is about cannot be had."""
    try:
        return __import__(module)
    except ImportError as error:
        print(f"NOTHING IS TESTED: {module} is not installed ({error})", file=sys.stderr)
        sys.exit(SKIPPED)


def fetched(wheel):
    """Makes a wheel of Python's registry importable: one that was fetched before, or, with ADC_FULL=1 in the environment,
    is fetched now."""
    folder = ROOT / "build/validators" / wheel
    if not folder.exists() and os.environ.get("ADC_FULL"):
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:", "--retries=1", "--timeout=20",
                        "--disable-pip-version-check", "--target", str(partial), wheel], check=False)
        if partial.exists():
            partial.rename(folder)
    sys.path.insert(0, str(folder))


class Counted:
    """A kernel whose launches from Python, and those of its gradient, are counted by name."""

    def __init__(self, kernel, launches):
        self.kernel, self.launches = kernel, launches

    def __getattr__(self, name):
        found = getattr(self.kernel, name)
        return Counted(found, self.launches) if name == "grad" else found

    def __call__(self, **arguments):
        self.launches[self.kernel.name] += 1
        return self.kernel(**arguments)


class Raises:
    """with Raises(self, adrt.ArgumentError, "x", "float64", "float32"): type, parameter and words of the message."""

    def __init__(self, case, kind, parameter=None, *words):
        self.case, self.kind, self.parameter, self.words = case, kind, parameter, words

    def __enter__(self):
        self.context = self.case.assertRaises(self.kind)
        self.context.__enter__()
        return self

    def __exit__(self, *raised):
        done = self.context.__exit__(*raised)
        self.exception = self.context.exception
        if self.parameter is not None:
            self.case.assertEqual(self.exception.parameter, self.parameter)
        for word in self.words:
            self.case.assertIn(word, str(self.exception))
        return done


def main():
    unittest.main(verbosity=1)
