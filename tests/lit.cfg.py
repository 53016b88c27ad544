"""How the directive files under tests/files run: `adc` and the tools of LLVM stand on the PATH.

Parameters: `adc` is the binary under test, `strip_bundle` takes a section out of a bundle, `lie_bundle` makes its metadata lie (tests/support), `llvm` the folder with FileCheck and not, `out` where tests may write.
Compilations verify the module after every pass.
"""

import os

import lit.formats

config.name = "adc"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".ir", ".test", ".comp", ".hlsl", ".cpp"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = lit_config.params.get("out", os.path.join(config.test_source_root, "..", "build", "lit"))

adc = os.path.abspath(lit_config.params["adc"])
llvm = lit_config.params.get("llvm", "/usr/lib/llvm-19/bin")
tools = os.path.join(config.test_exec_root, "bin")
os.makedirs(tools, exist_ok=True)
commands = "opt|fmt|run|gradcheck|bench|inspect|verify|sign|diff|size|extract|report|devices|batch|lsp|explain"
script = f"""#!/bin/sh
case "$1" in
  {commands}) exec {adc} "$@" ;;
esac
case "$*" in
  *.ir*|*.comp*|*.hlsl*|*.cpp*) exec {adc} --verify-each "$@" ;;
esac
exec {adc} "$@"
"""
# Several runs of lit may share the folder: the script appears whole.
own = os.path.join(tools, "adc.%d" % os.getpid())
with open(own, "w", encoding="utf-8") as wrapper:
    wrapper.write(script)
os.chmod(own, 0o755)
os.rename(own, os.path.join(tools, "adc"))

for library, folder, package in (("glm", "glm", "libglm-dev"), ("eigen", "eigen3", "libeigen3-dev")):
    if os.path.isdir("/usr/include/" + folder):
        config.available_features.add(library)
    else:
        lit_config.note("NO %s HERE (%s): KERNELS THAT INCLUDE IT ARE NOT TESTED" % (library.upper(), package))

config.environment["PATH"] = os.pathsep.join([tools, llvm, "/usr/bin", "/bin"])
config.environment["NO_COLOR"] = "1"
config.environment["TERM"] = "dumb"
config.substitutions.append(("%strip_bundle", os.path.abspath(lit_config.params.get("strip_bundle", "strip_bundle"))))
config.substitutions.append(("%lie_bundle", os.path.abspath(lit_config.params.get("lie_bundle", "lie_bundle"))))
config.substitutions.append(("%adc_program", adc))
config.substitutions.append(("%samples", os.path.join(config.test_source_root, "..", "samples")))
