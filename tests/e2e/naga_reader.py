"""Gives SPIR-V modules to naga, by the wheel wgpu: naga_reader.py < PATHS > ANSWERS

Reads a path per line, and prints the path, a tab and OK or what naga says of the module, as JSON. naga ends the process
where it panics: the path has been printed then, and its answer has not. With the word `pipelines` each entry becomes a
pipeline, so that what naga has written is read by the driver as well.
"""

import json
import logging
import re
import sys

import wgpu

logging.disable(logging.CRITICAL)  # its own account of what the exception says


def entries_of(code):
    """The names of the entry points of a module."""
    words = memoryview(code).cast("I")
    at, names = 5, []
    while at < len(words):
        if words[at] & 0xFFFF == 15:
            names.append(bytes(code[4 * (at + 3):]).split(b"\0", 1)[0].decode())
        at += words[at] >> 16
    return names


def main(pipelines):
    adapter = wgpu.gpu.request_adapter_sync()
    device = adapter.request_device_sync(required_features=adapter.features)
    for path in map(str.strip, sys.stdin):
        print(path, end="\t", flush=True)
        with open(path, "rb") as file:
            code = file.read()
        answer = "OK"
        try:
            module = device.create_shader_module(code=code)
            for entry in entries_of(code) if pipelines else []:
                device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": entry})
        except wgpu.GPUError as error:
            answer = re.sub(r"\s+", " ", str(error)).strip()
        print(json.dumps(answer), flush=True)


main(sys.argv[1:] == ["pipelines"])
