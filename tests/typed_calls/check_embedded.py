#!/usr/bin/env python3
"""Runs typed calls with the source of --emit=c, as each compiler makes it of C11 and of C++17, in the place of what EMBED makes."""

import argparse
import pathlib
import subprocess

STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wcast-qual"]


def run_views(options, run):
    """Runs views.cpp by each compiler that has std::mdspan, in its own library or in LLVM's. Their number."""
    found = 0
    for compiler, library in ((compiler, library) for compiler in options.compilers if "++" in compiler for library in ([], ["-stdlib=libc++"])):
        words = [compiler, "-std=c++23", *library]
        asked = subprocess.run([*words, "-x", "c++", "-E", "-"], input="#include <mdspan>\n", text=True, capture_output=True, check=False)
        if asked.returncode == 0:
            found += 1
            program = options.work / "views"
            run(*words, *STRICT, "-I", options.root / "runtime-loader/include", "-I", options.headers, options.root / "tests/typed_calls/views.cpp",
                "-o", program)
            run(program)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adc", required=True)
    parser.add_argument("--cc", required=True, help="the compiler that links")
    parser.add_argument("--compilers", nargs="+", required=True)
    parser.add_argument("--libraries", nargs="+", required=True)
    parser.add_argument("--headers", type=pathlib.Path, required=True, help="the folder of kernels.h and EMBED's kernels_adcb.h")
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    work, root = options.work, options.root
    work.mkdir(parents=True, exist_ok=True)

    def run(*command):
        subprocess.run([str(word) for word in command], check=True, timeout=600)

    source = work / "kernels_adcb.c"
    run(options.adc, root / "tests/typed_calls/kernels.ir", root / "samples/relax.ir", "--target=cpu:x86-64", "--emit=c", "-o", source)
    run(options.cc, "-std=c11", "-I", root / "runtime-loader/include", "-I", options.headers, "-c", root / "tests/typed_calls/main.c",
        "-o", work / "main.o")
    for compiler in options.compilers:
        language = ["-x", "c++", "-std=c++17"] if "++" in compiler else ["-x", "c", "-std=c11"]
        run(compiler, *language, *STRICT, "-c", source, "-o", work / "embedded.o")
        run(options.cc, work / "main.o", work / "embedded.o", "-o", work / "program", *options.libraries, "-lzstd", "-lpthread", "-lm")
        run(work / "program")
    print(f"{len(options.compilers)} compilers, {run_views(options, run)} with std::mdspan")


if __name__ == "__main__":
    main()
