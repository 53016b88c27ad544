#!/usr/bin/env python3
"""Code without device addresses counts in 32 bits where its kernel has no wider integers: run_near.py ADC

What it is used for is the same as with addresses, and the loader refuses launches that do not fit, before anything runs.
"""

import pathlib
import subprocess
import sys
import tempfile

KERNEL = """
kernel @spread(%x: buffer<f32, 2> diff, %y: buffer<f32, 1> diff, %wide: WIDE, %n: i32, %m: i32) {
  parallel %i, %j in 0..%n, 0..%m {
    %inside = lt %i, shape(%x, 0)
    if %inside {
      %narrow = cast (add %wide, %wide) to f32
      %v = load %x[%i, %j]
      store %y[(add (mul %i, %m), %j)], (mul %v, (mul %v, %narrow))
    }
  }
}
"""
ADC = pathlib.Path(sys.argv[1]).resolve()


def run(*words, fails=""):
    result = subprocess.run([ADC, *words], capture_output=True, text=True)
    if bool(fails) != (result.returncode != 0) or fails not in result.stderr:
        sys.exit(f"adc {' '.join(map(str, words))}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


with tempfile.TemporaryDirectory() as folder:
    source, near, far = (pathlib.Path(folder) / name for name in ("spread.ir", "near.adcb", "far.adcb"))
    inputs = ["--arg=x=random", "--shape=x=5,3", "--shape=y=15", "--arg=wide=2.5", "--kernel=spread"]
    # A value of 64 bits comes from both halves of its word.
    for wide in ("f64", "i64", "f32"):
        source.write_text(KERNEL.replace("WIDE", wide), encoding="utf-8")
        own = ["--arg=wide=" + ("3000000000000" if wide == "i64" else "2.5")]
        run(source, "-w", "--derive=none", "--target=vulkan:1.2-near", "-o", near)
        run(source, "-w", "--derive=none", "--target=vulkan:1.2", "-o", far)
        said = run("inspect", near)
        if ("shaderInt64" in said) != (wide != "f32") or "words u32" not in said:
            sys.exit(f"a kernel of {wide}: {said}")
        results = [run("run", bundle, "--device=vulkan", *more, *inputs[:3], *own, inputs[4], "--arg=n=5", "--arg=m=3")
                   for bundle, more in ((near, ["--confined"]), (far, ["--trust"]))]
        if results[0] != results[1] or "y" not in results[0]:
            sys.exit(f"results differ: {results}")
    for n in (65536, 46341):
        run("run", near, "--device=vulkan", "--confined", *inputs, f"--arg=n={n}", f"--arg=m={n}", fails="counts in 32 bits")
print("equal, and refused beyond 32 bits")
