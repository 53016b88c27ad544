"""What is installed is enough, wherever it lies: installs a build into a temporary prefix, moves the prefix, and has a
project outside of the tree (consumer/) use it through find_package, pkg-config and adc_add_kernels.

    check_install.py --build FOLDER --cmake CMAKE --adc ADC --work FOLDER [--cc CC] [--cxx CXX]
"""

import argparse
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from lsp_client import Client  # noqa: E402

WRONG = "kernel @k() {\n  %b = neg %a\n}\n"


def run(*command, code=0, **more):
    ran = subprocess.run([str(word) for word in command], text=True, check=False, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, **more)
    if ran.returncode != code:
        sys.exit(f"'{' '.join(str(word) for word in command)}' ends with {ran.returncode} and not {code}:\n{ran.stdout}")
    return ran.stdout


def expect(holds, what):
    if not holds:
        sys.exit(f"wrong: {what}")


def install(options):
    """Installs, and moves what was installed. The first place is gone then."""
    first, prefix = options.work / "first", options.work / "moved" / "adc"
    run(options.cmake, "--install", options.build, "--prefix", first)
    prefix.parent.mkdir()
    first.rename(prefix)
    for file in [*prefix.rglob("*.cmake"), *prefix.rglob("*.pc")]:
        text = file.read_text(encoding="utf-8")
        expect(str(options.work) not in text and str(options.build) not in text, f"{file} names a folder of this machine")
    return prefix


def check_relocated(options, prefix):
    """adc finds its own bitcode, C++ front end and headers from where it is now, and makes the bytes that it makes in the
    build tree."""
    folder = options.work / "relocated"
    folder.mkdir()
    shutil.copy(HERE / "consumer/kernels/relax.ir", folder)
    shutil.copy(HERE / "consumer/kernels/step.ir", folder)
    # In f64 a GPU's functions come from the bitcode.
    (folder / "sine.ir").write_text("kernel @sine(%x: buffer<f64, 1>) { parallel %i in 0..shape(%x, 0) { %x[%i] = sin(%x[%i]) } }\n",
                                    encoding="utf-8")
    shutil.copy(HERE.parent.parent / "samples/cpp/relax.cpp", folder / "relax_cpp.cpp")
    adc = prefix / "bin/adc"
    for name, shown in (("man/man1/adc.1", ("man",)), ("man/man1/adc-merge.1", ("man", "merge")),
                        ("bash-completion/completions/adc", ("completion", "bash")),
                        ("zsh/site-functions/_adc", ("completion", "zsh")),
                        ("fish/vendor_completions.d/adc.fish", ("completion", "fish"))):
        expect((prefix / "share" / name).read_text() == run(adc, *shown), f"share/{name} is not what adc prints")
    link = folder / "link-to-adc"
    link.symlink_to(adc)
    for program, output in ((options.adc, "tree"), (adc, "installed"), (link, "linked")):
        run(program, "relax.ir", "-o", f"{output}.adcb", cwd=folder)
    tree = (folder / "tree.adcb").read_bytes()
    expect((folder / "installed.adcb").read_bytes() == tree, "the installed adc makes other bytes than that of the build")
    expect((folder / "linked.adcb").read_bytes() == tree, "adc makes other bytes where it is called through a link")
    run(adc, "relax_cpp.cpp", "--target=cpu", "-o", "cpp.adcb", cwd=folder)
    # That these are the files that are read: another content is noticed.
    for name, command in (("clc/nvptx64--nvidiacl.bc", ("sine.ir", "--target=cuda")),
                          ("adc-cpp.so", ("relax_cpp.cpp", "--target=cpu")),
                          ("clang/include/stddef.h", ("relax_cpp.cpp", "--target=cpu"))):
        file = prefix / "lib/adc" / name
        aside = file.with_suffix(".aside")
        file.rename(aside)
        file.write_text("#error this is another file\n", encoding="utf-8")
        said = run(adc, *command, "-o", "other.adcb", code=1, cwd=folder)
        expect(str(file.name) in said, f"no word of {file} in:\n{said}")
        aside.rename(file)


def check_error_page(options, prefix):
    """A message of the installed adc leads to its place on the page that is installed: in an editor, and on a terminal."""
    page, adc = prefix / "lib/adc/errors.html", prefix / "bin/adc"
    expect(page.read_text(encoding="utf-8") == run(adc, "explain", "--page"), "lib/adc/errors.html is not what adc prints")
    expect('<h2 id="E0106">' in page.read_text(encoding="utf-8"), "the page has no anchor for E0106")
    wanted = page.resolve().as_uri() + "#E0106"

    def linked():
        client = Client(adc)
        client.initialize()
        client.open("file:///wrong.ir", WRONG)
        message, = client.diagnostics("file:///wrong.ir")
        client.process.kill()
        return message.get("codeDescription", {}).get("href")

    def terminal(kind):
        """What adc writes where standard error is a terminal."""
        ours, theirs = pty.openpty()
        file = options.work / "wrong.ir"
        file.write_text(WRONG, encoding="utf-8")
        environment = {**os.environ, "TERM": kind}
        environment.pop("NO_COLOR", None)
        subprocess.run([adc, "--emit=ir", file], stderr=theirs, stdout=subprocess.DEVNULL, env=environment, check=False)
        os.close(theirs)
        said = os.read(ours, 100000).decode()
        os.close(ours)
        return said

    expect(linked() == wanted, f"a message in an editor leads to {linked()} and not to {wanted}")
    link = f"[\033]8;;{wanted}\033\\E0106\033]8;;\033\\]"
    expect(link in terminal("xterm-256color"), "on a terminal the id is no link")
    for kind in ("linux", "dumb"):
        expect("\033]8" not in terminal(kind) and "[E0106]" in terminal(kind), f"TERM={kind} gets a link")
    aside = page.with_suffix(".aside")
    page.rename(aside)
    expect(linked() is None and "\033]8" not in terminal("xterm"), "a message leads to a page that is not there")
    aside.rename(page)


def check_consumer(options, prefix, generator):
    """Configures, builds and runs consumer/; builds again after changes."""
    source = options.work / f"consumer {generator}"
    shutil.copytree(HERE / "consumer", source)
    build = source / "build"
    configure = (options.cmake, "-S", source, "-B", build, "-G", generator, f"-DCMAKE_PREFIX_PATH={prefix}",
                 "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_C_COMPILER={options.cc}", f"-DCMAKE_CXX_COMPILER={options.cxx}")
    run(*configure)
    run(options.cmake, "--build", build, "-j", "2")
    for program in ("run_static", "run_shared", "kinds", "linked", "compile"):
        print(run(build / program).strip())
    bundle = build / "kernels-static/relax.adcb"
    header, metadata = bundle.with_suffix(".h"), bundle.with_suffix(".json")
    for file, emit in ((header, "header"), (metadata, "json")):
        alone = run(prefix / "bin/adc", "kernels/relax.ir", "--target=cpu:x86-64", "--target=vulkan", f"--emit={emit}",
                    "-o", "-", cwd=source)
        expect(file.read_text(encoding="utf-8") == alone, f"{file} is not what --emit={emit} prints")

    # A change in an import that leaves all names as they are: a new bundle in the program, the header untouched.
    def times():
        objects = sorted(build.rglob("names.c.o"))
        expect(len(objects) == 2, "names.c is compiled for two programs")
        return [file.stat().st_mtime_ns for file in (*objects, header)], bundle.stat().st_mtime_ns

    before = times()
    run(options.cmake, "--build", build)
    expect(times() == before, "a second build builds something")
    step = source / "kernels/step.ir"
    step.write_text(step.read_text(encoding="utf-8").replace("0.1", "0.2"), encoding="utf-8")
    run(options.cmake, "--build", build)
    after = times()
    expect(after[0] == before[0], "a header that did not change was written, or what includes it was compiled again")
    expect(after[1] != before[1], "a change in an import does not lead to a new bundle")
    run(build / "run_static", code=1)  # which expects 0.1
    step.write_text(step.read_text(encoding="utf-8").replace("0.2", "0.1"), encoding="utf-8")
    run(options.cmake, "--build", build)
    run(build / "run_static")
    # An option that is wrong stops the configuration with a line that says what.
    wrong = source / "CMakeLists.txt"
    correct = wrong.read_text(encoding="utf-8")
    for arguments, what in (("EMBEDDED TARGET kinds SOURCES kernels/relax.ir", "unknown argument 'EMBEDDED'"),
                            ("TARGET nothing SOURCES kernels/relax.ir", "there is no target 'nothing'"),
                            ("TARGET kinds", "SOURCES names the kernels"),
                            ("TARGET kinds SOURCES kernels/relax.ir TARGETS vulkan STATIC", "TARGETS names 0: 'vulkan'")):
        wrong.write_text(f"{correct}adc_add_kernels({arguments})\n", encoding="utf-8")
        said = " ".join(run(*configure, code=1).split())
        expect(what in said, f"'{what}' in {said}")
        expect("policy" not in said, f"CMake says more behind the error: {said}")


def check_cpp_alone(options, prefix):
    """A project without C embeds a bundle."""
    source = options.work / "cpp_alone"
    source.mkdir()
    shutil.copytree(HERE / "consumer/kernels", source / "kernels")
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(alone LANGUAGES CXX)\nfind_package(adc REQUIRED)\nadd_executable(alone main.cpp)\n"
        "adc_add_kernels(TARGET alone SOURCES kernels/relax.ir TARGETS cpu EMBED)\n", encoding="utf-8")
    (source / "main.cpp").write_text(
        '#include <cstdio>\n#include "relax_adcb.h"\nint main() { return std::fwrite(relax_adcb, 1, relax_adcb_size, stdout) == 0; }\n',
        encoding="utf-8")
    run(options.cmake, "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={options.cxx}")
    run(options.cmake, "--build", source / "build")
    embedded = subprocess.run([source / "build/alone"], check=True, capture_output=True).stdout
    expect(embedded == (source / "build/adc-kernels/relax.adcb").read_bytes(), "what is embedded is not the bundle")


def check_not_built(options):
    """Installing what is not built says what builds it."""
    build = options.work / "not_built"
    run(options.cmake, "-S", HERE.parent.parent / "runtime-loader", "-B", build, "-G", "Ninja", f"-DCMAKE_C_COMPILER={options.cc}",
        f"-DCMAKE_CXX_COMPILER={options.cxx}")
    said = " ".join(run(options.cmake, "--install", build, "--prefix", options.work / "nothing", code=1).split())
    expect(f"libadrt.a' is not built. First: cmake --build {build} --target adrt_installed" in said, said)


def check_documents(prefix):
    """Pages are installed with all that they link to."""
    folder = prefix / "share/doc/adc"
    count, missing = {}, []
    for page in sorted(folder.rglob("*.md")):
        # Code may look like a link.
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        links = [link for link in re.findall(r"\]\(([^)#\s]+)[)#]", text) if not re.match(r"\w+:", link)]
        count[page.relative_to(folder).as_posix()] = len(links)
        missing += [f"{page.relative_to(folder)}: {link}" for link in links if not (page.parent / link).exists()]
    expect(count["README.md"] > 20 and count["docs/api.md"] > 10 and len(count) > 40, f"pages and their links: {count}")
    expect(not missing, f"pages link to what is not installed: {missing}")


def check_subproject(options):
    """adc as a part of the consumer: configured, with nothing of ours but what the consumer asks for. Building it all is
    what the presets do."""
    build = options.work / "subproject"
    run(options.cmake, "-S", HERE / "consumer", "-B", build, "-G", "Ninja", f"-DCONSUMER_SUBPROJECT={HERE.parent.parent}",
        f"-DCMAKE_C_COMPILER={options.cc}", f"-DCMAKE_CXX_COMPILER={options.cxx}", "-DCMAKE_BUILD_TYPE=Release")
    targets = run("ninja", "-C", build, "-t", "targets", "all")
    for name in ("adc_unit", "adc_mpm", "relax_vs_clang", "adrt_installed"):
        expect(name not in targets, f"{name} is built as a part of another project")
    planned = run("ninja", "-C", build, "-t", "commands", "run_static").splitlines()
    expect(any("-o tools/adc/adc " in line or "-o adc/tools/adc/adc " in line for line in planned) and
           any("kernels/relax.ir" in line and "--header=" in line for line in planned), "the kernels do not wait for adc")
    ours = [line for line in planned if "lib/driver/compile.cpp" in line]
    expect(ours and not any("-Werror" in line for line in ours), "warnings of adc are errors in another project")


def check_pkg_config(options, prefix):
    if not shutil.which("pkg-config"):
        print("NO pkg-config HERE, ITS FILES ARE NOT TRIED")
        return
    folder = next(prefix.rglob("adrt.pc")).parent
    environment = dict(os.environ, PKG_CONFIG_PATH=str(folder))
    program = options.work / "program"
    for package in ("adrt", "adrt-static"):
        flags = run("pkg-config", "--cflags", "--libs", package, env=environment).split()
        run(options.cxx, "-std=c++17", HERE / "consumer/kinds.cpp", *flags, "-o", program)
        run(program, env=dict(os.environ, LD_LIBRARY_PATH=str(folder.parent)))
    needed = run("readelf", "-d", program)
    expect("libadrt" not in needed, "adrt-static links the shared library")
    flags = run("pkg-config", "--cflags", "--libs", "adc", env=environment).split()
    run(options.cc, "-std=c11", HERE / "consumer/compile.c", *flags, "-o", program)
    run(program, env=dict(os.environ, LD_LIBRARY_PATH=str(folder.parent)))
    compiler = run("pkg-config", "--variable=adc", "adc", env=environment).strip()
    expect("adc" in run(compiler, "--version"), "pkg-config names the compiler")


def check_build_systems(options, prefix):
    """samples/build_systems: each system builds the program, which checks a gradient, and notices a changed import."""
    environment = dict(os.environ, PKG_CONFIG_PATH=str(next(prefix.rglob("adrt.pc")).parent), CC=str(options.cc))
    cmake = [["cmake", "-S", ".", "-B", "out", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"], ["cmake", "--build", "out"]]
    systems = {
        "make": ([["make", "-j2"]], "."),
        "meson": ([["meson", "setup", "out"], ["ninja", "-C", "out"]], "out"),
        "cmake": (cmake, "out"),
    }
    for name, (commands, out) in systems.items():
        if not shutil.which(name) or (name == "make" and not shutil.which("pkg-config")):
            print(f"NO {name} HERE, samples/build_systems IS NOT BUILT BY IT")
            continue
        folder = options.work / f"by-{name}"
        shutil.copytree(HERE.parent.parent / "samples/build_systems", folder)
        for command in commands:
            run(*command, cwd=folder, env=environment)
        said = run(folder / out / "relax", folder / out / "relax.adcb")
        first = (folder / out / "relax.adcb").read_bytes()
        imported = folder / "recurrence.ir"
        imported.write_text(imported.read_text(encoding="utf-8").replace("0.1", "0.3"), encoding="utf-8")
        run(*commands[-1], cwd=folder, env=environment)
        expect((folder / out / "relax.adcb").read_bytes() != first, f"{name} does not see a change in an import")
        # The loader's own calls are the same, but this gradient is another one: main.c notices.
        run(folder / out / "relax", folder / out / "relax.adcb", code=1)
        print(f"{name}: {said.strip()}")


def check_bazel(options, prefix):
    """The rule of samples/build_systems in Bazel's sandbox. Not the program: Bazel fetches its rules for C++."""
    if not shutil.which("bazel"):
        print("NO bazel HERE, ITS RULE IS NOT TRIED")
        return
    folder = options.work / "by-bazel"
    shutil.copytree(HERE.parent.parent / "samples/build_systems", folder)
    workspace = folder / "WORKSPACE"
    workspace.write_text(workspace.read_text(encoding="utf-8").replace("/opt/adc", str(prefix)), encoding="utf-8")
    bazel = ["bazel", f"--output_user_root={options.work}/bazel-root"]
    imported = folder / "recurrence.ir"
    try:
        for text in (imported.read_text(encoding="utf-8"), imported.read_text(encoding="utf-8").replace("0.1", "0.3")):
            imported.write_text(text, encoding="utf-8")
            run(*bazel, "build", "//:relax_kernels", cwd=folder)
            run(prefix / "bin/adc", "relax.ir", "--target=cpu", "-o", "direct.adcb", cwd=folder)
            expect((folder / "bazel-bin/relax.adcb").read_bytes() == (folder / "direct.adcb").read_bytes(),
                   "bazel's bundle is not what adc writes")
    finally:
        subprocess.run([*bazel, "shutdown"], cwd=folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # Bazel's folders may not be written.
        subprocess.run(["chmod", "-R", "u+w", options.work / "bazel-root"], check=False)
    print("bazel: the bytes that adc writes, also after a change of an import")


def check_new(options, prefix):
    """What `adc new` makes builds with what is installed, and its gradient is right."""
    for name, more in (("spring", []), ("springs", ["--cpp"])):
        run(prefix / "bin" / "adc", "new", *more, name, cwd=options.work)
        folder = options.work / name
        run(options.cmake, "-S", folder, "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_C_COMPILER={options.cc}")
        run(options.cmake, "--build", folder / "build")
        said = run(folder / "build" / name)
        expect("energy 0.0700" in said and "error of the gradient" in said, f"{name}: {said}")


def check_pages(options, prefix):
    """The pages for newcomers, typed as they are."""
    sys.path.insert(0, str(HERE.parent / "docs"))
    import check_docs  # pylint: disable=import-outside-toplevel
    os.environ["CMAKE_PREFIX_PATH"] = str(prefix)
    os.environ["PKG_CONFIG_PATH"] = str(next(prefix.rglob("adrt.pc")).parent)
    root = HERE.parent.parent
    page_options = argparse.Namespace(adc=prefix / "bin/adc", cc=options.cc, libraries=[], root=root)
    for name in sorted(check_docs.ON_WHAT_IS_INSTALLED):
        if "pkg-config" in (root / name).read_text(encoding="utf-8") and not shutil.which("pkg-config"):
            print(f"NO pkg-config HERE, {name} IS NOT TYPED")
            continue
        wrong, count = check_docs.check_page(root / name, page_options, options.work / "pages")
        expect(count > 0 and not wrong, "\n\n".join(wrong))
        print(f"{name}: {count} commands")


def check_shared(prefix):
    """The shared loader: its soname, the names that it exports, no C++ runtime."""
    library = next(prefix.rglob("libadrt.so.0"))
    facts = run("readelf", "-d", "-W", library)
    expect("soname: [libadrt.so.0]" in facts, "the soname of libadrt.so.0")
    expect("libstdc++" not in facts and "zstd" not in facts, f"what the shared loader links:\n{facts}")
    declared = set()
    for header in (prefix / "include/adrt").glob("*.h"):
        declared |= set(re.findall(r"ADRT_API [^(;]*?\b(adrt_\w+)\(", header.read_text(encoding="utf-8")))
    exported = {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", library).splitlines()}
    expect(declared and exported == declared, f"exported and not declared, or the other way round: {sorted(exported ^ declared)}")
    archive = next(prefix.rglob("libadrt.a"))
    visible = {line.split()[-1] for line in run("nm", "-g", "--defined-only", archive).splitlines() if len(line.split()) == 3}
    expect(visible == declared, f"the archive has other names: {sorted(visible ^ declared)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--adc", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    prefix = install(options)
    check_shared(prefix)
    check_relocated(options, prefix)
    check_error_page(options, prefix)
    check_consumer(options, prefix, "Ninja")
    check_consumer(options, prefix, "Unix Makefiles")
    check_cpp_alone(options, prefix)
    check_documents(prefix)
    check_not_built(options)
    check_subproject(options)
    check_pkg_config(options, prefix)
    check_build_systems(options, prefix)
    check_bazel(options, prefix)
    check_new(options, prefix)
    check_pages(options, prefix)
    shutil.rmtree(options.work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
