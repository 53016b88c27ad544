"""The packages: cpack makes those of loader and development files; what is in them, on what they depend, and that a program
links and runs with nothing else. (The compiler's package is made in the same way and takes longer.)

    check_packages.py --build FOLDER --cpack CPACK --work FOLDER --cxx CXX
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

SKIP = 77
HERE = pathlib.Path(__file__).resolve().parent


def run(*command, **more):
    ran = subprocess.run([str(word) for word in command], text=True, check=False, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, **more)
    if ran.returncode != 0:
        sys.exit(f"'{' '.join(str(word) for word in command)}' ends with {ran.returncode}:\n{ran.stdout}")
    return ran.stdout


def expect(holds, what):
    if not holds:
        sys.exit(f"wrong: {what}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cpack", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--cxx", required=True)
    options = parser.parse_args()
    if not shutil.which("dpkg-deb") or not shutil.which("dpkg-shlibdeps"):
        print("NO dpkg-deb OR dpkg-shlibdeps HERE, NO PACKAGE IS MADE")
        return SKIP
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    run(options.cpack, "-G", "DEB", "-D", "CPACK_COMPONENTS_ALL=loader;development", "-B", options.work / "made",
        "--config", options.build / "CPackConfig.cmake", cwd=options.work)
    packages = {file.name.split("_")[0]: file for file in (options.work / "made").glob("*.deb")}
    expect(sorted(packages) == ["adc-dev", "adrt"], f"the packages are {sorted(packages)}")
    depends = run("dpkg-deb", "-f", packages["adrt"], "Depends")
    expect("libc6" in depends and "llvm" not in depends.lower(), f"the loader depends on {depends}")
    expect("adrt (= " in run("dpkg-deb", "-f", packages["adc-dev"], "Depends"), "adc-dev does not depend on its own loader")
    expect("adc (= " in run("dpkg-deb", "-f", packages["adc-dev"], "Recommends"), "adc-dev does not recommend its own compiler")
    root = options.work / "root"
    for file in packages.values():
        run("dpkg-deb", "-x", file, root)
    pc = next(root.rglob("adrt.pc"))
    environment = dict(os.environ, PKG_CONFIG_PATH=str(pc.parent), LD_LIBRARY_PATH=str(pc.parent.parent))
    flags = run("pkg-config", "--cflags", "--libs", "adrt", env=environment).split()
    run(options.cxx, "-std=c++17", HERE / "consumer/kinds.cpp", *flags, "-o", options.work / "kinds")
    print(run(options.work / "kinds", env=environment).strip())
    expect("adc-runtime" in run(root / "usr/bin/adc-runtime", "--help"), "adc-runtime of the package")
    shutil.rmtree(options.work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
