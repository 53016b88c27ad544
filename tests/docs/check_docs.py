"""What the pages for users show is what happens: runs every `$ command` of README.md and docs/*.md, and every C snippet.

    check_docs.py --adc ADC --cc CC --libraries A.a B.a --root REPOSITORY --work FOLDER

Each page has a folder of its own, with the samples in it, that of a sample with the sample's files. In a block between ``` lines:
- a block that begins with `kernel` and comes before the page's first command is the file that the next command names;
- `$ cat FILE` writes what stands below it into FILE;
- any other `$ command` runs, and what stands below is what it prints: `...` is any number of lines (the rest, at the
  end), numbers may differ in their last digits (not those with commas, 1,000), and tiny ones, which are errors of
  rounding, altogether;
- a command for a device that this machine has not is left out (adc's exit code 5);
- a block marked `c` is compiled and run with a bundle of samples/relax.ir, in a program that has its arguments and its header.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

# Pages whose commands need what is installed: tests/install/check_install.py runs them.
ON_WHAT_IS_INSTALLED = {"docs/first-gradient.md", "samples/arm/README.md", "samples/field/README.md", "samples/cloth/README.md"}
# check_examples.py runs the examples of messages.
RUN_ELSEWHERE = ON_WHAT_IS_INSTALLED | {"docs/errors.md"}
NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")

PROGRAM = r"""
#include <adrt/adrt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "relax.h"

int main(int argc, char** argv) {
  static char bytes[1 << 20];
  FILE* file = fopen(argv[argc - 1], "rb");
  size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  adrt_error error = {.struct_size = sizeof error};
  adrt_bundle* bundle = NULL;
  adrt_device* device = NULL;
  adrt_module* module = NULL;
  const adrt_kernel* kernel = NULL;
  adrt_launch_plan* plan = NULL;
  float x[2] = {0.25f, 0.5f}, gradient[2] = {0, 0}, loss = 0, seed = 1;
  int n = 1, count = 2;
%s
  if (error.status != ADRT_OK) printf("%%s\n", error.text);
  return fabsf(gradient[0] - cosf(x[0])) < 1e-6f && fabsf(gradient[1] - cosf(x[1])) < 1e-6f ? 0 : 1;
}
"""


def blocks(page):
    """(language, first line's number, lines) of every block."""
    found, inside = [], None
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("```"):
            if inside is None:
                inside = (line[3:].strip(), number + 1, [])
            else:
                found.append(inside)
                inside = None
        elif inside is not None:
            inside[2].append(line)
    return found


def commands(lines):
    """(command, lines below it) in order."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return found


def same_line(shown, printed):
    if NUMBER.sub("#", re.sub(r"\s+", " ", shown.strip())) != NUMBER.sub("#", re.sub(r"\s+", " ", printed.strip())):
        return False
    for left, right in zip(NUMBER.findall(shown), NUMBER.findall(printed)):
        one, other = (float(text.replace(",", "")) for text in (left, right))
        if "," in left and one != other:  # of bytes and the like, which are counted
            return False
        tiny = max(abs(one), abs(other)) < 1e-4
        if not tiny and abs(one - other) > 1e-3 * max(abs(one), abs(other)):
            return False
    return True


def as_shown(shown, printed):
    """Whether `printed` is what `shown` says; both are lists of lines."""
    if not shown:
        return not printed
    if shown[0].strip() == "...":
        return len(shown) == 1 or any(as_shown(shown[1:], printed[at:]) for at in range(len(printed) + 1))
    if shown[0].startswith("  ... ") and printed:  # a line that goes on
        return False
    return bool(printed) and same_line(shown[0], printed[0]) and as_shown(shown[1:], printed[1:])


def join_continued(lines):
    """A line that begins with `  ...` and more goes on behind the one before."""
    joined = []
    for line in lines:
        if joined and line.startswith("  ... "):
            joined[-1] += " " + line.strip()
        else:
            joined.append(line)
    return joined


def check_page(page, options, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if options.root / "samples" in page.parents:
        shutil.copytree(page.parent, folder, dirs_exist_ok=True)
    for sample in (options.root / "samples").glob("*.ir"):
        shutil.copy(sample, folder)
    environment = dict(os.environ, PATH=f"{options.adc.parent}:{os.environ['PATH']}", NO_COLOR="1")
    wrong, count, pending = [], 0, None
    for language, line, lines in blocks(page):
        where = f"{page.relative_to(options.root)}:{line}"
        if language == "c":
            count += 1
            wrong += check_program("\n".join(lines), where, options, folder)
            continue
        listed = commands(lines)
        if not listed:
            text = "\n".join(lines) + "\n"
            pending = text if text.startswith("kernel ") else pending
            continue
        for command, shown in listed:
            if command.startswith("cat "):
                (folder / command.split()[1]).write_text("\n".join(shown) + "\n", encoding="utf-8")
                continue
            source = re.search(r"\b(\w+)\.ir\b", command)
            if pending and source:
                (folder / source.group(0)).write_text(pending, encoding="utf-8")
                pending = None
            count += 1
            ran = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, text=True, check=False,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if ran.returncode == 5 and "--device" in command:
                continue
            if not shown or shown == [""]:
                refused = ran.returncode != 0
                if refused:
                    wrong.append(f"{where}: '{command}' ends with {ran.returncode}:\n{ran.stdout}")
                continue
            while shown and not shown[-1]:
                shown = shown[:-1]
            if not as_shown(join_continued(shown), ran.stdout.rstrip("\n").split("\n")):
                wrong.append(f"{where}: '{command}' prints\n{ran.stdout}\nand not\n" + "\n".join(shown))
    return wrong, count


def check_program(snippet, where, options, folder):
    source = folder / "program.c"
    source.write_text(PROGRAM % snippet, encoding="utf-8")
    bundle = folder / "program.adcb"
    subprocess.run([options.adc, "--target=cpu", options.root / "samples/relax.ir", "-o", bundle,
                    f"--header={folder / 'relax.h'}"], check=True)
    program = folder / "program"
    made = subprocess.run([options.cc, "-std=c11", "-I", str(options.root / "runtime-loader/include"), str(source),
                           *map(str, options.libraries), "-lzstd", "-lpthread", "-lm", "-o", str(program)],
                          text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if made.returncode != 0:
        return [f"{where}: does not compile:\n{made.stdout}"]
    ran = subprocess.run([program, bundle], text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return [] if ran.returncode == 0 else [f"{where}: its gradient is wrong: {ran.stdout}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--adc", type=pathlib.Path, required=True)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--libraries", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    pages = [options.root / "README.md", options.root / "runtime-loader/README.md",
             *(page for page in sorted((options.root / "docs").rglob("*.md")) if str(page.relative_to(options.root)) not in RUN_ELSEWHERE)]
    wrong, count = [], 0
    for page in pages:
        found, ran = check_page(page, options, options.work / page.relative_to(options.root).with_suffix(""))
        wrong += found
        count += ran
    print("\n\n".join(wrong + [f"{count} commands and snippets of {len(pages)} pages, {len(wrong)} are not as shown"]))
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
