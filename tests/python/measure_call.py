"""What a call from Python takes beyond the same launch in C: measure_call.py LOADER_ARCHIVE... (no test: it prints).

The archives are those that a program links: libadrt.a, libartifact_format.a. PYTHONPATH has the package, ADC names adc.
"""

import subprocess
import sys
import time

from support import WORK, sample, skip_unless_built, skip_without

skip_unless_built()
np = skip_without("numpy")
import adrt  # noqa: E402

# The same arguments, the same update of a plan, the same memory.
PROGRAM = r"""
#include <adrt/adrt.h>
#include <stdio.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

int main(int argc, char** argv) {
  static char bytes[1 << 20];
  FILE* file = fopen(argv[argc - 1], "rb");
  size_t size = fread(bytes, 1, sizeof bytes, file);
  adrt_host host = {.struct_size = sizeof host, .flags = ADRT_HOST_TRUST};
  adrt_bundle* bundle;
  adrt_device* device;
  adrt_module* module;
  adrt_heap* heap;
  const adrt_kernel* kernel;
  adrt_launch_plan* plan;
  float x = 0.5f, loss = 0;
  int n = 1;
  adrt_arg args[3] = {{.index = 0, .data = &x, .rank = 1, .extents = {1}}, {.index = 1, .data = &loss}, {.index = 2, .data = &n}};
  for (int i = 0; i < 3; ++i) {
    args[i].struct_size = sizeof args[i];
    args[i].kind = i == 2 ? ADRT_PARAM_SCALAR : ADRT_PARAM_BUFFER;
    args[i].type = i == 2 ? ADRT_TYPE_I32 : ADRT_TYPE_F32;
  }
  adrt_plan_desc desc = {.struct_size = sizeof desc, .arg_count = 3, .args = args};
  int bad = adrt_bundle_open(&host, bytes, size, ADRT_BUNDLE_COPY, &bundle, NULL) || adrt_device_open_cpu(NULL, 0, &device, NULL) ||
            adrt_module_load(device, bundle, &module, NULL) || adrt_bundle_find_kernel(bundle, "relax", 0, &kernel, NULL) ||
            adrt_heap_create(NULL, &heap, NULL);
  desc.module = module;
  bad = bad || adrt_plan(kernel, &desc, &plan, NULL);
  adrt_run_desc run = {.struct_size = sizeof run, .heap = heap};
  double best = 1e9;
  for (int round = 0; round < 20 && !bad; ++round) {
    double begin = now();
    for (int i = 0; i < 20000 && !bad; ++i) bad = adrt_plan_update(plan, args, 3, NULL) || adrt_run(plan, &run, NULL);
    double each = (now() - begin) / 20000;
    if (each < best) best = each;
  }
  if (!bad) printf("%.6f\n", best);
  return bad;
}
"""


def python_time(call, count=20000, rounds=20):
    best = 1e9
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(count):
            call()
        best = min(best, (time.perf_counter() - begin) / count)
    return best * 1e6


def main(archives):
    bundle, root = sample("relax"), __file__.rsplit("/", 3)[0]
    (WORK / "launch.c").write_text(PROGRAM, encoding="utf-8")
    subprocess.run(["cc", "-O2", "-I", f"{root}/runtime-loader/include", str(WORK / "launch.c"), *archives, "-lzstd", "-lpthread",
                    "-lm", "-ldl", "-o", str(WORK / "launch")], check=True)
    in_c = float(subprocess.run([str(WORK / "launch"), str(bundle)], capture_output=True, text=True, check=True).stdout)
    kernel = adrt.load(bundle)["relax"]
    x, loss = np.full(1, 0.5, "f"), np.zeros((), "f")
    given = python_time(lambda: kernel(x=x, loss=loss, n=1))
    made = python_time(lambda: kernel(x=x, n=1))
    nothing = python_time(lambda: None)
    print(f"one element: C {in_c:.2f} us; Python {given:.2f} us, {given - nothing - in_c:.2f} more, "
          f"with an output that is made {made - nothing - in_c:.2f} more")


if __name__ == "__main__":
    main(sys.argv[1:])
