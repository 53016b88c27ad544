"""A compilation depends on its declared inputs and on nothing else: the same bytes from any folder, environment, user,
number of processors and locale; and from a sandbox that holds adc, its libraries and the input alone.

    check_hermetic.py --adc ADC --clc FOLDER --samples FOLDER --work FOLDER

With strace, where it is installed, every file that adc opens is looked at.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIP = 77


def run(command, **more):
    ran = subprocess.run([str(word) for word in command], text=True, check=False, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, **more)
    if ran.returncode != 0:
        sys.exit(f"'{' '.join(str(word) for word in command)}' ends with {ran.returncode}:\n{ran.stdout}")
    return ran.stdout


def libraries(program):
    """What the dynamic linker loads, with the linker itself."""
    return sorted(set(re.findall(r"(/\S+) \(0x", run(["ldd", program]))))


def fill(folder, samples):
    folder.mkdir(parents=True)
    for name in ("relax.ir", "step.ir"):
        shutil.copy(samples / name, folder)
    return folder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--adc", type=pathlib.Path, required=True)
    parser.add_argument("--clc", type=pathlib.Path, required=True)
    parser.add_argument("--samples", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    compile_words = ["relax.ir", "-o", "out.adcb", "--header=out.h", "-MD", "--target=cpu", "--target=cuda",
                     "--target=hip", "--target=vulkan"]
    plain = fill(options.work / "plain", options.samples)
    run([options.adc, *compile_words], cwd=plain)
    outputs = ("out.adcb", "out.h", "out.adcb.d")
    expected = {name: (plain / name).read_bytes() for name in outputs}

    def compare(folder, what):
        for name in outputs:
            if (folder / name).read_bytes() != expected[name]:
                sys.exit(f"{name} is another one {what}")
        print(f"the same bytes {what}")

    environment = {"HOME": "/nonexistent", "LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu",
                   "TMPDIR": "/nonexistent", "CPATH": "/nonexistent", "LIBRARY_PATH": "/nonexistent", "USER": "nobody",
                   "SOURCE_DATE_EPOCH": "1", "CUDA_PATH": "/nonexistent", "MAKEFLAGS": "-j --jobserver-auth=3,4"}
    for name, prefix, more, what in (
            ("a folder with another name", [], {}, "in another folder"),
            ("environment", [], {"env": environment}, "with another environment and locale"),
            ("empty", ["env", "-i"], {}, "with no environment"),
            ("one", ["taskset", "-c", "0"], {}, "on one processor"),
            ("jobs", [], {"words": ["--jobs=7"]}, "with seven jobs")):
        folder = fill(options.work / name, options.samples)
        run([*prefix, options.adc, *compile_words, *more.pop("words", [])], cwd=folder, **more)
        compare(folder, what)
    if os.geteuid() == 0:
        folder = fill(options.work / "user", options.samples)
        os.chmod(folder, 0o777)
        if subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", "test", "-x", options.adc], check=False).returncode == 0:
            run(["setpriv", "--reuid=65534", "--clear-groups", options.adc, *compile_words], cwd=folder)
            compare(folder, "as another user")

    # The sandbox: the program, what it is linked with, its bitcode as it is installed, and the input.
    sandbox = options.work / "sandbox"
    inside = fill(sandbox / "in", options.samples)
    (sandbox / "bin").mkdir()
    (sandbox / "proc").mkdir()
    shutil.copy(options.adc, sandbox / "bin/adc")
    (sandbox / "lib/adc/clc").mkdir(parents=True)
    for name in ("nvptx64--nvidiacl.bc", "gfx1100-amdgcn--.bc"):  # what a link leads to is what is installed
        shutil.copy((options.clc / name).resolve(), sandbox / "lib/adc/clc")
    for library in libraries(options.adc):
        place = sandbox / library[1:]
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, place)
        # The dynamic linker looks there without a cache.
        if not (sandbox / "lib" / place.name).exists():
            shutil.copy(library, sandbox / "lib" / place.name)
    namespaces = ["unshare", "--mount", "--pid", "--fork", "--net", f"--mount-proc={sandbox}/proc"]
    if os.geteuid() != 0:
        namespaces[1:1] = ["--user", "--map-root-user"]
    enter = ["sh", "-c", 'cd / && exec chroot "$0" /bin/adc --version', sandbox]
    if subprocess.run([*namespaces, *enter], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE).returncode != 0:
        print("NO SANDBOX CAN BE MADE HERE (unshare, chroot), NOTHING IS COMPILED IN ONE")
        return SKIP
    # adc writes relative to where it is: chroot starts at the root, where the input lies for this.
    for name in ("relax.ir", "step.ir"):
        (inside / name).rename(sandbox / name)
    run([*namespaces, "env", "-i", shutil.which("chroot"), sandbox, "/bin/adc", *compile_words])
    compare(sandbox, "in a sandbox of the declared inputs alone")

    if not shutil.which("strace"):
        print("NO strace HERE, WHAT ADC OPENS IS NOT LOOKED AT")
    else:
        log = options.work / "opened"
        run(["strace", "-f", "-qq", "-e", "trace=openat,open,readlink,readlinkat", "-o", log, options.adc, *compile_words],
            cwd=plain)
        allowed = re.compile(r"|".join([
            re.escape(str(options.clc.resolve())) + r"/.*", re.escape(str(options.clc)) + r"/.*",
            r"(/usr)?/lib(64)?/.*\.so(\.[\d.]+)?", r"/etc/ld\.so\.(cache|preload)", r"/proc/self/.*",
            r"/sys/devices/system/cpu/.*", r"/dev/null", r"/proc/sys/vm/overcommit_memory", r"/sys/fs/cgroup/.*",
            re.escape(str(plain)) + r"/?",  # a file that has no name until it is whole
            r"relax\.ir", r"step\.ir", r"\.", r"\./step\.ir", r"out\..*", r"\.out.*"]))
        opened = set(re.findall(r'(?:openat|open)\((?:\w+, )?"([^"]*)"', log.read_text(encoding="utf-8")))
        # Links are followed in the names of inputs and outputs, from the root on.
        followed = set(re.findall(r'readlink(?:at)?\((?:\w+, )?"([^"]*)"', log.read_text(encoding="utf-8")))
        followed = {path for path in followed if not pathlib.Path(path).is_relative_to(plain) and
                    not plain.is_relative_to(path)}
        strange = sorted(path for path in opened | followed if not allowed.fullmatch(path))
        if strange:
            sys.exit("opened, and no declared input: " + ", ".join(strange))
        print(f"{len(opened)} files opened, all of them declared")
    shutil.rmtree(options.work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
