#!/usr/bin/env python3
"""Compiles to disks of every size up to what the bundle takes: an error, the bundle before or none, and nothing else.

usage: full_disk.py ADC FILE.ir

Disks are file systems in memory, in a namespace of this process. Exit code 77 where the system allows none.
"""

import os
import signal
import subprocess
import sys
import tempfile

adc, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
INSIDE = "ADC_FULL_DISK_INSIDE"
if INSIDE not in os.environ:
    probe = ["unshare", "--user", "--map-root-user", "--mount"]
    with tempfile.TemporaryDirectory() as folder:
        try:
            allowed = subprocess.run(probe + ["mount", "-t", "tmpfs", "none", folder], capture_output=True).returncode == 0
        except FileNotFoundError:
            allowed = False
    if not allowed:
        print("NO FILE SYSTEM CAN BE MOUNTED HERE, NO DISK IS FILLED")
        sys.exit(77)
    os.environ[INSIDE] = "1"
    os.execvp(probe[0], probe + [sys.executable] + sys.argv)


def run(folder, name, level):
    command = [adc, "--target=cpu", "--target=cuda", "--target=vulkan", f"-O{level}", source, "-o", os.path.join(folder, name)]
    return subprocess.run(command, capture_output=True, text=True)


page = os.sysconf("SC_PAGE_SIZE")
with tempfile.TemporaryDirectory() as folder:
    assert run(folder, "k.adcb", 0).returncode == 0
    with open(os.path.join(folder, "k.adcb"), "rb") as file:
        whole = file.read()
    refused = written = 0
    # A file system of N pages, for each N up to what both bundles take; with the earlier bundle on it and without.
    pages = -(-len(whole) // page)
    for with_old in (False, True):
        for free in range(1, pages + 4):
            disk = os.path.join(folder, "disk")
            os.makedirs(disk, exist_ok=True)
            size = (free + (pages if with_old else 0)) * page
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk], check=True)
            try:
                if with_old:
                    with open(os.path.join(disk, "k.adcb"), "wb") as file:
                        file.write(whole)
                result = run(disk, "k.adcb", 1)
                left = os.listdir(disk)
                where = f"{free} pages free of {pages}, with an earlier bundle: {with_old}"
                if result.returncode == 0:
                    written += 1
                    assert left == ["k.adcb"], f"{where}: left {left}"
                else:
                    refused += 1
                    assert result.returncode == 1, f"{where}: ended with {result.returncode}"
                    assert result.stderr.startswith("adc: error: cannot write '") and "No space left" in result.stderr, result.stderr
                    assert "help: free space on that disk" in result.stderr, result.stderr
                    assert left == (["k.adcb"] if with_old else []), f"{where}: left {left}"
                    if with_old:
                        with open(os.path.join(disk, "k.adcb"), "rb") as file:
                            assert file.read() == whole, f"{where}: the earlier bundle has changed"
            finally:
                subprocess.run(["umount", disk], check=True)

    # What else writes, on a disk without a free page: whole or not at all.
    bundle, other, long = (os.path.join(folder, name) for name in ("k.adcb", "other.adcb", "long.ir"))
    run(folder, "other.adcb", 2)
    with open(long, "w", encoding="utf-8") as file:  # its dump is longer than a pipe holds
        chain = "".join(f"    %v{n + 1} = sin %v{n}\n" for n in range(4000))
        file.write("kernel @k(%x: buffer<f32, 1>) {\n  parallel %i in 0..shape(%x, 0) {\n    %v0 = load %x[%i]\n" + chain +
                   "    store %x[%i], %v4000\n  }\n}\n")
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={page}", "none", disk], check=True)
    try:
        with open(os.path.join(disk, "filler"), "wb") as file:
            file.write(b"x" * page)
        place = os.path.join(disk, "new")
        for words in (["report", bundle, "-o", place], ["opt", "--passes=simplify", source, "-o", place],
                      ["strip", bundle, "-o", place], ["extract", bundle, "-o", disk], [source, "--emit=ir", "-o", place],
                      ["merge", bundle, "-o", place, other], ["diff", "--text", bundle, other], ["inspect", "--json", bundle]):
            prints = words[0] in ("diff", "inspect")
            with open(place if prints else os.devnull, "wb") as out:
                result = subprocess.run([adc, *words], stdout=out, stderr=subprocess.PIPE, text=True)
            if prints:
                os.remove(place)
            expected = "both have code" if words[0] == "merge" else "No space left"
            assert result.returncode == 1 and expected in result.stderr, f"{words}: {result.returncode}, {result.stderr}"
            assert os.listdir(disk) == ["filler"], f"{words}: left {os.listdir(disk)}"
        # The report of an internal error: the signal comes from outside, while a dump waits for its reader.
        process = subprocess.Popen([adc, f"--repro={place}", "--dump=parse", "-o", os.path.join(folder, "no.adcb"), long],
                                   stderr=subprocess.PIPE)
        process.stderr.read(1)
        process.send_signal(signal.SIGABRT)
        said = process.communicate(timeout=60)[1].decode()
        assert process.returncode == 70 and "cannot write the reproduction file" in said, f"{process.returncode}: {said[-300:]}"
        assert os.listdir(disk) == ["filler"], f"--repro: left {os.listdir(disk)}"
    finally:
        subprocess.run(["umount", disk], check=True)
    assert refused > 4 and written > 0, f"{refused} refused, {written} written"
    print(f"{refused} full disks refused, {written} bundles written: whole files or none, nothing else left")
