#!/usr/bin/env python3
"""Compiles to disks of every size up to what the bundle takes: an error, the bundle before or none, and nothing else.

usage: full_disk.py ADC FILE.ir

Disks are file systems in memory, in a namespace of this process. Exit code 77 where the system allows none.
"""

import os
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
    assert refused > 4 and written > 0, f"{refused} refused, {written} written"
    print(f"{refused} full disks refused, {written} bundles written: whole files or none, nothing else left")
