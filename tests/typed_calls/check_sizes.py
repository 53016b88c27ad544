#!/usr/bin/env python3
"""Compares the sizes that headers compute with those of plans, and compiles headers as C11 and as C++.

For each file of kernels: a bundle and its header, and a program that asks both for launches of many shapes, numbers and
workers. A size that the header promises must be the plan's; where the plan says that it does not fit, so must the header.
"""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include "kernels.h"
static adrt_bundle* bundle;
static adrt_error error;
static unsigned same, refused;
static void compare(const char* name, uint64_t hash, const adrt_arg* table, uint32_t count, uint32_t workers, uint64_t heap,
                    uint64_t scratch) {
  adrt_plan_desc desc;
  adrt_plan_report report;
  adrt_launch_plan* plan = NULL;
  const adrt_kernel* kernel = NULL;
  memset(&desc, 0, sizeof desc);
  memset(&report, 0, sizeof report);
  desc.struct_size = sizeof desc;
  desc.args = table;
  desc.arg_count = count;
  desc.workers = workers;
  report.struct_size = sizeof report;
  if (adrt_bundle_find_kernel(bundle, name, hash, &kernel, &error)) exit(3);
  adrt_status status = adrt_plan(kernel, &desc, &plan, &error);
  if (status == ADRT_ERROR_SIZE_OVERFLOW) {
    /* An argument that cannot be, or iterations that need no memory. */
    if (strstr(error.text, ", parameter '") || (heap == 0 && strstr(error.text, "its number of iterations"))) return;
    ++refused;
    if (heap != UINT64_MAX) printf("%s: %llu, and the plan: %s\\n", name, (unsigned long long)heap, error.text), exit(1);
    return;
  }
  if (status || adrt_plan_info(plan, &report, &error)) printf("%s: %s\\n", name, error.text), exit(1);
  /* A task that is open may still have other iterations, but no rows. */
  for (uint32_t number = 0; number < report.task_count; ++number) {
    adrt_task_report task;
    memset(&task, 0, sizeof task);
    task.struct_size = sizeof task;
    if (adrt_plan_task(plan, number, &task, &error)) exit(3);
    if (!task.resolved && task.stack_count > 0) printf("%s: task %u is open\\n", name, number), exit(1);
  }
  if (report.heap_bytes != heap || report.scratch_bytes != scratch) {
    printf("%s, %u workers: heap %llu, scratch %llu; the plan %llu, %llu\\n", name, workers,
           (unsigned long long)heap, (unsigned long long)scratch, (unsigned long long)report.heap_bytes,
           (unsigned long long)report.scratch_bytes);
    for (uint32_t n = 0; n < count; ++n)
      printf("  %s: %lld, %lld\\n", table[n].name, (long long)table[n].extents[0], (long long)table[n].extents[1]);
    exit(1);
  }
  ++same;
  adrt_plan_release(plan);
}
"""
CASES = """
static const int64_t cases[][2] = {{0, 0},     {0, 7},        {1, -3},        {1, 1},        {1, 100},   {5, 0},
                                   {5, 7},     {64, 1},       {64, 100000},   {1000, -3},    {1000, 7},  {1000, 100},
                                   {70000, 0}, {70000, 7},    {70000, 100000}, {3, 2000000000}, {2000000, 2000000000}, {3, INT64_C(4611686018427387903)}};
static const uint32_t workers[] = {1, 2, 3, 4, 16};
"""


def members_of(body):
    """Extents and whole numbers of a struct, as (place, kind)."""
    found = []
    for line in body.splitlines():
        if match := re.match(r"  int64_t (\w+_shape\w*)\[(\d)\];", line):
            found += [(f"{match[1]}[{axis}]", "extent") for axis in range(int(match[2]))]
        elif match := re.match(r"  (u?int\d+_t) (\w+);", line):
            found.append((match[2], match[1]))
    return found


def assignments(members):
    """Statements that set them by `extent` and `number`, extents so that axes are not mistaken for each other."""
    for order, (place, kind) in enumerate(members):
        if kind == "extent":
            yield f"a.{place} = extent > 1 ? extent + {order} : extent;"
        elif kind in ("uint8_t", "int8_t"):
            yield f"a.{place} = number > 0;"
        else:
            yield f"a.{place} = ({kind})(number{' % 30000' if '16' in kind else ''});"


def program_of(header):
    text, kernels = PROGRAM + CASES, re.findall(r"typedef struct (\w+)_args \{\n(.*?)\n\} \w+_args;", header, re.S)
    calls = ""
    for word, body in kernels:
        if f"{word}_heap_bytes(const" not in header:
            continue
        scratch = f"{word}_scratch_bytes(&a)" if f"{word}_scratch_bytes(const" in header else "0"
        sets = "\n".join(assignments(members_of(body)))
        text += f"""static void of_{word}(void) {{
{word}_args a;
adrt_arg table[{word}_param_count];
memset(&a, 0, sizeof a);
for (size_t n = 0; n < sizeof cases / sizeof cases[0]; ++n) {{
const int64_t extent = cases[n][0], number = cases[n][1];
(void)extent;
(void)number;
{sets}
{word}_bind(&a, table);
for (size_t w = 0; w < sizeof workers / sizeof workers[0]; ++w)
compare({word}_name, {word}_interface_hash, table, {word}_param_count, workers[w], {word}_heap_bytes(&a, workers[w]), {scratch});
}}
}}
"""
        calls += f"  of_{word}();\n"
    return text + """
int main(void) {
  static unsigned char bytes[1 << 22];
  size_t size = fread(bytes, 1, sizeof bytes, stdin);
  error.struct_size = sizeof error;
  if (adrt_bundle_open(NULL, bytes, size, ADRT_BUNDLE_BORROW, &bundle, &error)) return 3;
""" + calls + """  printf("%u %u", same, refused);
  adrt_bundle_release(bundle);
  return 0;
}
"""


def run(command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, timeout=600, **more)


def check(options, number, source, more):
    """What is wrong, sizes that are the same, sizes that do not fit; None where the file has options of its own."""
    folder = options.work / str(number)
    folder.mkdir(parents=True, exist_ok=True)
    made = run([options.adc, source, "--target=cpu:x86-64", "-O0", *more, "-o", folder / "kernels.adcb",
                f"--header={folder / 'kernels.h'}"])
    if made.returncode != 0:
        return None
    (folder / "main.c").write_text(program_of((folder / "kernels.h").read_text()))
    include = ["-I", options.root / "runtime-loader/include"]
    strict = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion", "-Wcast-qual"]
    (folder / "only.c").write_text('#include "kernels.h"\nint main(void) { return 0; }\n')
    steps = [[options.cc, "-std=c11", "-O0", *strict, *include, folder / "main.c", "-o", folder / "main", *options.libraries,
              "-lzstd", "-lpthread", "-lm"]]
    for compiler in options.others if "gradients" not in str(source) else []:
        standards = ("c++17", "c++20") if "++" in compiler else ("c11",)
        steps += [[compiler, "-x", "c++" if "++" in compiler else "c", f"-std={standard}", *strict, *include, "-fsyntax-only",
                   folder / "only.c"] for standard in standards]
    for step in steps:
        done = run(step)
        if done.returncode != 0:
            return f"{source}: {done.stderr.decode()[:2000]}", 0, 0
    with open(folder / "kernels.adcb", "rb") as bundle:
        done = run([folder / "main"], stdin=bundle)
    if done.returncode != 0:
        return f"{source}: {done.stdout.decode()}", 0, 0
    same, refused = done.stdout.decode().split()
    return None, int(same), int(refused)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adc", required=True)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--others", nargs="*", default=[], help="compilers that read each header as well")
    parser.add_argument("--libraries", nargs="+", required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    root = options.root
    sources = [(source, []) for folder in ("samples", "tests/e2e/gradients", "tests/typed_calls")
               for source in sorted((root / folder).glob("*.ir"))]
    sources += [(root / "samples/relax.ir", ["--checkpoint=auto"])]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda item: check(options, item[0], *item[1]), enumerate(sources)))
    results = [result for result in results if result is not None]
    same, refused = sum(result[1] for result in results), sum(result[2] for result in results)
    problems = [result[0] for result in results if result[0]]
    print("\n".join(problems))
    print(f"{len(results)} of {len(sources)} files, {same} sizes as planned, {refused} that do not fit")
    # Most files compile without options, and there are sizes of each sort.
    return 1 if problems or len(results) < 0.8 * len(sources) or same < 8000 or refused < 4 else 0


if __name__ == "__main__":
    raise SystemExit(main())
