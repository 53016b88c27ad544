#!/usr/bin/env python3
"""What -g writes, as RenderDoc shows it: it captures kernels and their gradients on Vulkan, and steps through them.

Usage: run_renderdoc.py ADC PROGRAM

PROGRAM (renderdoc_program.c) makes captures. RenderDoc's module for Python replays them, without a window: the shader has
the text of its file, and each value comes from the line that computes it. Without RenderDoc the test is skipped: exit code 77.
"""

import argparse
import bisect
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
NO_TARGET = "no target for this device"
# Debian's module is for Debian's interpreter.
PYTHONS = (sys.executable, "/usr/bin/python3")

IR = """\
// Instructions, each in its line.
func @twice(%v: f32) -> f32 {
  %w = mul %v, 2.0
  return %w
}

kernel @steps(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %a = load %x[%i]
    %b = mul %a, %a
    %c = call @twice(%b)
    %d = for %t in 0..%n carry(%s = %c) {
      %u = add %s, 0.5
      yield %u
    }
    store %y[%i], %d
  }
}
"""
GLSL = """\
#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, binding = 1) writeonly buffer Y { float y[]; };  // adc: diff
float twice(float v) {
  return v * 2.0;
}
void main() {
  uint i = gl_GlobalInvocationID.x;
  float b = x[i] * x[i];
  y[i] = twice(b);
}
"""
HEADER = """\
#pragma once

inline float Twice(float v) {
  return v * 2.0f;
}
"""
CPP = """\
#include <adc/kernel.hpp>

#include "twice.h"

ADC_KERNEL void steps(adc::buffer<float, 1> x, adc::buffer<float, 1> y) {
  adc::parallel(x.extent(0), [&](int i) {
    float b = x[i] * x[i];
    y[i] = Twice(b);
  });
}
"""
# Of a kernel: its file, the others, its name, the line where it begins, and (file, line, value) of what is computed. The
# program makes every component 3: x * x is 9, twice that 18, and 20 after four steps; the gradient of 2 * x * x is 12 * y.adj.
KERNELS = (
    ("steps.ir", IR, {}, "steps", 8, [("steps.ir", 9, 3), ("steps.ir", 10, 9), ("steps.ir", 3, 18),
                                      *[("steps.ir", 13, 18 + n / 2) for n in (1, 2, 3, 4)]]),
    ("steps.ir", IR, {}, "steps.grad", 8, [("steps.ir", 9, 3), ("steps.ir", 3, 6), ("steps.ir", 10, 36)]),
    ("shade.comp", GLSL, {}, "shade", 8, [("shade.comp", 10, 3), ("shade.comp", 10, 9), ("shade.comp", 6, 18)]),
    ("shade.comp", GLSL, {}, "shade.grad", 8, [("shade.comp", 10, 3), ("shade.comp", 6, 6), ("shade.comp", 10, 36)]),
    ("kernel.cpp", CPP, {"twice.h": HEADER}, "steps", 6, [("kernel.cpp", 7, 9), ("twice.h", 4, 18)]),
)


def actions_of(actions):
    for action in actions:
        yield action
        yield from actions_of(action.children)


def steps_of(rd, controller):
    """[file, line, numbers] of each step of the first thread; file -1 where an instruction has no place."""
    trace = controller.DebugThread((0, 0, 0), (0, 0, 0))
    starts = [info.instruction for info in trace.instInfo]
    steps, at = [], None
    while states := controller.ContinueDebug(trace.debugger):
        for state in states:
            if at is not None:
                place = trace.instInfo[bisect.bisect_right(starts, at) - 1].lineInfo
                values = [change.after.value.f32v[0] for change in state.changes if change.after.type == rd.VarType.Float]
                steps.append([place.fileIndex, place.lineStart, values])
            at = state.nextInstruction
    controller.FreeTrace(trace)
    return steps


def replay(capture):
    """Prints as JSON what RenderDoc has to show of the only dispatch of a capture."""
    import renderdoc as rd

    rd.InitialiseReplay(rd.GlobalEnvironment(), [])
    file = rd.OpenCaptureFile()
    file.OpenFile(capture, "", None)
    done, controller = file.OpenCapture(rd.ReplayOptions(), None)
    if controller is None:
        sys.exit(f"{capture}: {done.Message()}")
    dispatches = [action for action in actions_of(controller.GetRootActions()) if action.flags & rd.ActionFlags.Dispatch]
    if len(dispatches) != 1:
        sys.exit(f"{capture}: {len(dispatches)} dispatches")
    controller.SetFrameEvent(dispatches[0].eventId, True)
    shader = controller.GetPipelineState().GetShaderReflection(rd.ShaderStage.Compute)
    info = shader.debugInfo
    print(json.dumps({
        "version": rd.GetVersionString(), "entry": shader.entryPoint, "spirv": shader.encoding == rd.ShaderEncoding.SPIRV,
        "files": [[one.filename, one.contents] for one in info.files], "by_source": info.sourceDebugInformation,
        "begins": [info.entryLocation.fileIndex, info.entryLocation.lineStart], "refused": info.debugStatus,
        "steps": steps_of(rd, controller) if info.debuggable else None}))
    controller.Shutdown()
    file.Shutdown()
    rd.ShutdownReplay()


def mistakes_of(shown, target, texts, main, symbol, line, wanted):
    """What is wrong with what is shown of a kernel."""
    if not shown["spirv"] or shown["entry"] != symbol:
        yield f"the entry is {shown['entry']}"
    files = [[name.removeprefix("./"), text] for name, text in shown["files"]]
    if files[:1] != [[main, texts[main]]] or any(text != texts.get(name) for name, text in files):
        yield f"the files are {files}"
        return
    by_source = target.startswith("vulkan:1.3")
    if shown["by_source"] != by_source or (by_source and shown["begins"] != [0, line]):
        yield f"by source: {shown['by_source']}; the kernel begins in file, line {shown['begins']}"
    if not target.endswith("-near"):
        if shown["refused"] and "PhysicalStorageBufferAddresses" not in shown["refused"]:
            yield f"not stepped through: {shown['refused']}"
        if shown["refused"]:
            return
    if not shown["steps"]:
        yield f"no steps: {shown['refused']}"
        return
    # RenderDoc of Debian counts files of OpLine from 1, or from 0, as its compiler evaluates `m[i] = m.size()`.
    first = 0 if by_source else min(file for file, _, _ in shown["steps"] if file >= 0)
    if first not in (0, 1):
        yield f"files count from {first}"
    seen = [(files[file - first][0], at, value) for file, at, values in shown["steps"] if file >= 0 for value in values]
    for name, at, value in wanted:
        if not any((name, at) == step[:2] and abs(value - step[2]) < 1e-3 for step in seen):
            yield f"no {value} is computed in {name}:{at}; but {[step[1:] for step in seen]}"
    lines = {name: text.splitlines() for name, text in texts.items()}
    if bare := {step[:2] for step in seen if step[1] > len(lines[step[0]]) or not lines[step[0]][step[1] - 1].strip("{} ")}:
        yield f"lines without code: {bare}"


def run(words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)


def check(adc, program, python, target, folder):
    """What is wrong, and the version of RenderDoc; None where it does not offer the target on this device."""
    mistakes, version = [], None
    for main, text, others, kernel, line, wanted in KERNELS:
        texts = {main: text, **others}
        for name, content in texts.items():
            (folder / name).write_text(content, encoding="utf-8")
        made = run([adc, "-g", "-w", f"--target={target}", "-o", "debug.adcb", main], cwd=folder)
        if made.returncode != 0:
            sys.exit(f"{main}: {made.stderr}")
        captured = run([program, "debug.adcb", folder / "frame", kernel], cwd=folder)
        if captured.returncode == SKIPPED:
            print(captured.stderr.strip())
            sys.exit(SKIPPED)
        if NO_TARGET in captured.stderr:
            return None
        if captured.returncode != 0:
            sys.exit(f"{main} {kernel}: {captured.stderr}")
        replayed = run([python, __file__, "--replay", captured.stdout.strip()])
        if replayed.returncode != 0:
            sys.exit(f"{main} {kernel}: exit code {replayed.returncode}: {replayed.stderr}")
        shown = json.loads(replayed.stdout.splitlines()[-1])
        version = shown["version"]
        symbol = f"adc_{kernel.replace('.', '_2E')}_t0"
        mistakes += [f"{target}: {main} {kernel}: {one}" for one in mistakes_of(shown, target, texts, main, symbol, line, wanted)]
    return mistakes, version


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adc", type=pathlib.Path)
    parser.add_argument("program", type=pathlib.Path)
    options = parser.parse_args()
    python = next((one for one in PYTHONS if os.path.exists(one) and run([one, "-c", "import renderdoc"]).returncode == 0), None)
    if python is None:
        print("NO RENDERDOC FOR PYTHON HERE, WHAT IT SHOWS IS NOT TESTED: apt-get install --no-install-recommends python3-renderdoc librenderdoc-dev")
        return SKIPPED
    mistakes = []
    for target in ("vulkan:1.2-near", "vulkan:1.3-near", "vulkan:1.3"):
        with tempfile.TemporaryDirectory() as folder:
            found = check(options.adc.resolve(), options.program.resolve(), python, target, pathlib.Path(folder))
        if found is None and target == "vulkan:1.2-near":
            sys.exit(f"{target}: {NO_TARGET}")
        if found is None:
            print(f"{target}: NOT CHECKED: this device has no addresses that can be captured, and so is one of Vulkan 1.2 to RenderDoc")
        else:
            mistakes += found[0]
            print(f"{target}: {len(KERNELS)} kernels in RenderDoc {found[1]}, {len(found[0])} mistakes")
    for mistake in mistakes:
        print(mistake)
    return 1 if mistakes else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--replay"]:
        replay(sys.argv[2])
    else:
        sys.exit(main())
