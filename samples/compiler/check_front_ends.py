"""Builds and runs what the two front ends make of one source: values and gradients agree with each other and with
central differences, mistakes are shown in the source of the front end, and the shared library exports its interface alone."""

import argparse
import math
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
INTERFACE = {"adc_version", "adc_options_init", "adc_compile", "adc_product_bytes", "adc_product_free"}


def run(*command, stdin=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, input=stdin)
    return done.returncode, done.stdout, done.stderr


def expect(condition, text):
    if not condition:
        sys.exit("check_front_ends: " + text)


def numbers(text, name):
    for line in text.splitlines():
        if line.startswith(name + ": "):
            return [float(word) for word in line.split("=")[1].split()]
    sys.exit(f"check_front_ends: no {name} in\n{text}")


def wave(x, gain):
    a = math.sin(x) * gain
    return a * a + 0.5 - min(a, 0.25) / (1 + math.exp(x))


def main():
    parser = argparse.ArgumentParser()
    for name in ("adc", "front-end", "work"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--shared")
    parser.add_argument("--nm")
    args = parser.parse_args()
    work = pathlib.Path(args.work)

    built = work / "cpp.adcb"
    code, _, errors = run(args.front_end, HERE / "wave.txt", built)
    expect(code == 0, errors)
    code, text, errors = run(sys.executable, HERE / "front_end.py", HERE / "wave.txt")
    expect(code == 0, errors)
    printed = work / "python.adcb"
    code, _, errors = run(args.adc, "--target=cpu:x86-64", "-o", printed, "-", stdin=text)
    expect(code == 0, errors)

    x, gain, seed = [0.3, -1.2, 2.5], [1.5, 0.7, -0.4], [1.0, 2.0, -3.0]
    array = lambda values: "[" + ",".join(map(str, values)) + "]"
    results = []
    for bundle, dot in ((built, ""), (printed, ".array")):
        inputs = ["--arg", f"x{dot}={array(x)}", "--arg", f"gain{dot}={array(gain)}"]
        code, out, errors = run(args.adc, "run", "--trust", bundle, "--kernel", "wave", *inputs, "--shape", f"y{dot}=3")
        expect(code == 0, errors)
        values = numbers(out, "y" + dot)
        code, out, errors = run(args.adc, "run", "--trust", bundle, "--kernel", "wave.grad", *inputs, "--shape",
                                f"y{dot}=3", "--arg", f"y{dot}.adj={array(seed)}")
        expect(code == 0, errors)
        results.append((values, numbers(out, f"x{dot}.adj"), numbers(out, f"gain{dot}.adj")))
    step = 1e-5
    for values, x_adjoint, gain_adjoint in results:
        for n in range(3):
            slope_x = seed[n] * (wave(x[n] + step, gain[n]) - wave(x[n] - step, gain[n])) / (2 * step)
            slope_gain = seed[n] * (wave(x[n], gain[n] + step) - wave(x[n], gain[n] - step)) / (2 * step)
            for found, wanted in ((values[n], wave(x[n], gain[n])), (x_adjoint[n], slope_x), (gain_adjoint[n], slope_gain)):
                expect(abs(found - wanted) < 1e-4 * (1 + abs(wanted)), f"{found} is not {wanted}")

    code, _, errors = run(args.front_end, HERE / "wrong.txt", work / "wrong.adcb")
    expect(code == 1 and "wrong.txt:3:" in errors and "no operation is named 'sine'" in errors, errors)
    expect("y = a * sine(x)" in errors and not (work / "wrong.adcb").exists(), errors)

    if args.shared:
        code, out, errors = run(args.nm, "-D", "--defined-only", args.shared)
        expect(code == 0, errors)
        exported = {line.split()[-1].split("@")[0] for line in out.splitlines() if line.split()[-2] in "TtDBRVWi"}
        expect(exported == INTERFACE, f"the shared library exports {sorted(exported ^ INTERFACE)}")
    print("two front ends agree")


main()
