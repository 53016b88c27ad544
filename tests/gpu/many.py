#!/usr/bin/env python3
"""Size kernels count past 2^31 iterations.

    many.py ADC DEVICE                compiles tests/e2e/rows/many.ir and counts its gradient's tape on DEVICE
    many.py ADC DEVICE BUNDLE         takes a bundle that was compiled from it

One iteration more than 2^31, all behind a gate that they pass: the size kernel must find the last one, whose loop
is the longest, and count them all.
"""
import os
import subprocess
import sys
import tempfile

ITERATIONS = 2**31 + 1
LONGEST = 77


def run(arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    adc, device = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        bundle = sys.argv[3] if len(sys.argv) > 3 else os.path.join(folder, "many.adcb")
        if len(sys.argv) <= 3:
            source = os.path.join(os.path.dirname(__file__), "../e2e/rows/many.ir")
            run([adc, "--target=cpu", "--target=vulkan", source, "-o", bundle])
        lengths = os.path.join(folder, "length.npy")
        content = bytes([1] * (ITERATIONS >> 20) + [LONGEST])
        head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(content)},), }}".encode()
        head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
        with open(lengths, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + content)
        arguments = ["x=ones[1]", "y=zeros[1]", f"length=@{lengths}", f"count={ITERATIONS}", "x.adj=zeros[1]",
                     "y.adj=ones[1]", "sizes=zeros[2]"]
        command = [adc, "run", "--trust", bundle, "--kernel", "many.grad.size0", "--device", device]
        for argument in arguments:
            command += ["--arg", argument]
        text = run(command)
        line = next((line for line in text.splitlines() if line.startswith("sizes:")), text)
        wanted = f"= {LONGEST} {ITERATIONS}"
        if wanted not in line:
            sys.exit(f"on {device}, expected {wanted}:\n{line}")
        print(f"{ITERATIONS} iterations counted on {device}, the longest of {LONGEST} steps")


main()
