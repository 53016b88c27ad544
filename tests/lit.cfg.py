"""How the directive files under tests/files run: `adc` and the tools of LLVM stand on the PATH.

Parameters: `adc` is the binary under test, `llvm` the folder with FileCheck and not.
"""

import os

import lit.formats

config.name = "adc"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".ir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params.get("out", os.path.join(config.test_source_root, "..", "build", "lit"))

adc = os.path.abspath(lit_config.params["adc"])
llvm = lit_config.params.get("llvm", "/usr/lib/llvm-19/bin")
config.environment["PATH"] = os.pathsep.join([os.path.dirname(adc), llvm, "/usr/bin", "/bin"])
config.environment["NO_COLOR"] = "1"
config.environment["TERM"] = "dumb"
config.substitutions.append(("%samples", os.path.join(config.test_source_root, "..", "samples")))
