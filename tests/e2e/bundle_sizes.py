#!/usr/bin/env python3
"""Bundles of many kernels that are alike stay small, and open.

  bundle_sizes.py ADC GENERATOR

A bundle takes at most what its content compresses to with ten kernels, ten times as much with ten times the kernels,
or the bytes without which an open of it would exceed the budget (artifact-format/README.md)."""

import os
import re
import subprocess
import sys
import tempfile

TEN = {"cpu:x86-64-v3": 5_000, "cuda": 6_000, "hip": 7_000, "vulkan:1.3": 6_500, "metal": 6_000}
FOR_ALL = {10: 20_480, 100: 90_000}
STEPS, METADATA_STEPS, SPIRV_STEPS, OWN_STEPS, STEPS_PER_BYTE = 7, 13, 9, 19 << 20, 40


def call(*words):
    outcome = subprocess.run(words, capture_output=True, text=True)
    if outcome.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit {outcome.returncode}\n{outcome.stdout}{outcome.stderr}")
    return outcome.stdout


def main():
    adc, generator = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        source, bundle = os.path.join(folder, "many.ir"), os.path.join(folder, "many.adcb")
        for count in (10, 100, 1000):
            with open(source, "w") as file:
                file.write(call(sys.executable, generator, "kernels", str(count), "--type=f32"))
            if count in FOR_ALL:
                call(adc, source, "-o", bundle)
                size, most = os.path.getsize(bundle), FOR_ALL[count]
                print(f"{count} kernels for all targets by default: {size:,} bytes, at most {most:,}", flush=True)
                if size > most:
                    sys.exit("too large")
            for target, ten in TEN.items():
                if count == 1000 and target != "cuda":
                    continue
                # A thousand have none of their gradients: these take a minute.
                call(adc, source, f"--target={target}", f"--derive={'none' if count == 1000 else 'grad'}", "-o", bundle)
                size = os.path.getsize(bundle)
                rows = re.findall(r"^  (....) .*?([\d,]+) bytes", call(adc, "inspect", bundle), re.MULTILINE)
                steps = sum({"META": METADATA_STEPS, "SPV_": SPIRV_STEPS}.get(kind, STEPS) * int(raw.replace(",", ""))
                            for kind, raw in rows if kind in ("META", "SHLB", "OBJ_", "PTX_", "HSAC", "SPV_", "MSL_"))
                most = max(ten * count // 10, (steps - OWN_STEPS) // (STEPS_PER_BYTE - 1) + 1000)
                print(f"{count} kernels for {target}: {size:,} bytes, at most {most:,}", flush=True)
                if size > most:
                    sys.exit("too large")


if __name__ == "__main__":
    main()
