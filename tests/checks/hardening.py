#!/usr/bin/env python3
"""Reads programs and static libraries for what cmake/AdcOptions.cmake (ADC_HARDEN) asks of them.

Programs: position-independent, relocations read-only and bound before main (full RELRO), no executable stack, canaries.
Objects of our own libraries: landing pads and shadow stacks (CET notes, x86-64), no executable stack, and none of the
functions that write without a bound. Compilations: canaries, landing pads and checked copies in every command. Debian's
libraries inside a program (LLVM, zstd, the C runtime's first object) have no CET notes, so that the linker leaves them
out of a program: objects say more.

  hardening.py --readelf LLVM_READELF [--compiler CC] [--commands compile_commands.json] [--program FILE...] [--library FILE...]
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile

UNBOUNDED = {"gets", "strcpy", "strcat", "sprintf", "vsprintf", "stpcpy", "wcscpy", "wcscat"}


def read(readelf, file, *options):
    return subprocess.run([readelf, "--wide", *options, file], capture_output=True, text=True, check=True).stdout


def program_faults(readelf, file):
    text = read(readelf, file, "--file-header", "--program-headers", "--dynamic", "--dyn-syms")
    stack = re.search(r"GNU_STACK.*", text)
    rules = {
        "is no position-independent program": "Type: " in text and re.search(r"Type:\s+DYN", text) and "INTERP" in text,
        "has relocations that stay writable (no RELRO)": "GNU_RELRO" in text,
        "binds functions while it runs (no BIND_NOW)": re.search(r"\(FLAGS(_1)?\).*(BIND_NOW|\bNOW\b)", text),
        "has an executable stack": stack and not re.search(r"\bRWE\b", stack.group(0)),
        "has no canaries": "__stack_chk_fail" in text,
        "has a text section that is written to": "(TEXTREL)" not in text,
    }
    return [what for what, good in rules.items() if not good]


def library_faults(readelf, file):
    """Of each object in an archive."""
    text = read(readelf, file, "--file-header", "--sections", "--notes", "--symbols")
    # One object prints no "File:" line.
    parts = re.split(r"^File: ", text, flags=re.M)[1:] or [text]
    faults, checked_stacks = [], 0
    for part in parts:
        name = part.split("\n", 1)[0].strip()
        if "X86-64" in part and not re.search(r"x86 feature:.*IBT.*SHSTK", part):
            faults.append(f"{name} has no notes of landing pads and shadow stacks")
        stack = re.search(r"\.note\.GNU-stack\s+PROGBITS(.*)", part)
        if not stack or re.search(r"\bA?X\b", stack.group(1)):
            faults.append(f"{name} asks for an executable stack")
        undefined = set(re.findall(r"\bUND ([A-Za-z_][A-Za-z0-9_]*)", part))
        faults += [f"{name} calls {function}, which writes without a bound" for function in undefined & UNBOUNDED]
        checked_stacks += "__stack_chk_fail" in undefined
    if checked_stacks == 0:
        faults.append("no object has a canary")
    return faults


def command_faults(file):
    with open(file, encoding="utf-8") as commands:
        entries = json.load(commands)
    faults = []
    pads = any("-fcf-protection=full" in entry["command"] for entry in entries)
    for entry in entries:
        words = entry["command"].split()
        if not re.search(r"/(lib|tools|runtime-loader|artifact-format)/", entry["file"]):
            continue
        wanted = ["-fstack-protector-strong", "-fvisibility=hidden"]
        if pads:
            wanted.append("-fcf-protection=full")
        if not any(word.startswith("-D_FORTIFY_SOURCE=3") for word in words):
            faults.append(f"{entry['file']} is compiled without -D_FORTIFY_SOURCE=3")
        faults += [f"{entry['file']} is compiled without {word}" for word in wanted if word not in words]
    if not entries:
        faults.append("no compilation is listed")
    return faults


def fault_counts_of_bad_ones(readelf, compiler, folder):
    """What the rules say of a program and a library that break them: the check itself is checked."""
    source, objects, program, library = (f"{folder}/bad{end}" for end in (".c", ".o", "", ".a"))
    with open(source, "w", encoding="utf-8") as file:
        file.write("#include <string.h>\nint main(int n, char** w) { char t[64]; strcpy(t, w[n - 1]); return t[0]; }\n")
    plain = ["-U_FORTIFY_SOURCE", "-fno-stack-protector", "-fcf-protection=none", "-fno-pie", "-fno-builtin"]
    subprocess.run([compiler, *plain, "-c", source, "-o", objects], check=True)
    subprocess.run([compiler, objects, "-no-pie", "-Wl,-z,norelro", "-Wl,-z,lazy", "-Wl,-z,execstack", "-o", program], check=True)
    subprocess.run(["ar", "qc", library, objects], check=True)
    return len(program_faults(readelf, program)), len(library_faults(readelf, library))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--readelf", required=True)
    parser.add_argument("--commands")
    parser.add_argument("--program", action="append", default=[])
    parser.add_argument("--library", action="append", default=[])
    parser.add_argument("--compiler", help="compiles what must be found faulty")
    options = parser.parse_args()
    faults = []
    if options.compiler:
        with tempfile.TemporaryDirectory() as folder:
            counts = fault_counts_of_bad_ones(options.readelf, options.compiler, folder)
            if counts != (5, 3):
                faults.append(f"of a program with 5 faults and a library with 3 these were found: {counts}")
    for file in options.program:
        faults += [f"{file} {what}" for what in program_faults(options.readelf, file)]
    for file in options.library:
        faults += [f"{file}: {what}" for what in library_faults(options.readelf, file)]
    if options.commands:
        faults += command_faults(options.commands)
    for fault in faults:
        print(fault)
    print(f"{len(options.program)} programs, {len(options.library)} libraries, {len(faults)} faults")
    sys.exit(1 if faults else 0)


main()
