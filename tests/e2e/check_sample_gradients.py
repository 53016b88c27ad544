#!/usr/bin/env python3
"""`adc gradcheck` of every kernel of the samples that has a gradient: reverse against forward mode, central differences
and the interpreter. A kernel that the table below does not have, and no other test, fails the run.

Usage: check_sample_gradients.py ADC SAMPLES ADC_MPM_STATE [WORD]: only files and kernels in whose names WORD is
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

from directives import write_npy

GRID = "mass=6,6,6 momentum=6,6,6"
PARTICLES = "v=3,5 affine=3,5 deformation=3,5"
SPRINGS = "position=3,4 velocity=3,4 force=3,4"
CSR = "start=[0,2,5,5,9] column=[0,1,2,0,3,1,2,3,0]"
# By file and kernel: shapes; values; other options.
SAMPLES = {
    "cholesky.ir cholesky": ("l=2,3,3", "a=@matrices"),
    "cpp/cholesky.cpp cholesky": ("l=2,3,3", "a=@matrices"),
    "csr_reduce.ir csr_reduce": ("value=9 x=4 y=4", CSR),
    "cpp/csr_reduce.cpp csr_reduce": ("value=9 x=4 y=4", CSR),
    "relax.ir relax": ("x=30", "n=5"),
    "build_systems/relax.ir relax": ("x=30", "n=5"),
    "cpp/relax.cpp relax": ("x=30", "n=5"),
    "shaders/relax.comp relax": ("x=8 y=8", "n=10 count=8 invocations_x=64"),
    "shaders/springs.comp springs": ("points=12,8 forces=12,4", "stiffness=2 damping=0.3 rest=0.5 gravity=[0,-9,0] "
                                     "columns=4 rows=3 invocations_x=8 invocations_y=8"),
    "svd3.ir decompose": ("a=2 y=2 z=2", ""),
    "cpu_engine/fit.ir miss": ("x=7 wanted=7", ""),
    "static_engine/settle.ir settle": ("x=5", "steps=[3,0,2,5,1]"),
    "time_stepping/chain.ir step": ("x=9 v=9 force=9", "stiffness=3 dt=0.1", "--save-overwritten"),
    "time_stepping/chain.ir miss": ("x=9 wanted=9", "", "--save-overwritten"),
    "arm/track.cpp track": ("axis=7 link=7 path=4 angle=4,7 residual=4,10 joint=4,7", "calm=0.1"),
    "field/field.comp field": ("points=5 wanted=5 weights=1185 field=5", "count=5 invocations_x=64"),
    "cloth/cloth.comp cloth": ("after=18 stiffness=9", "before=@cloth side=3 dt=0.1 wind=[1,0.5,2] invocations_x=64",
                              "--points=2"),  # at points that coincide a spring has no direction
    "cloth/miss.comp miss": ("state=10 wanted=10", "count=5 invocations_x=64"),
    "vulkan_engine/throw.ir throw": ("v=4 goal=4", "steps=12 dt=0.05"),
    "mpm_step.ir clear_grid": (GRID, ""),
    "mpm_step.ir p2g": (f"{GRID} {PARTICLES}", "x=@positions f=1 dt=0.001 dx=0.2 volume=0.01 particle_mass=0.01"),
    "mpm_step.ir grid": (f"{GRID} velocity=6,6,6", "dt=0.001 gravity=9.8"),
    "mpm_step.ir g2p": ("v=3,5 affine=3,5 velocity=6,6,6", "x=@positions f=1 dt=0.001 dx=0.2"),
    "mpm_step.ir miss": ("x=3,5", "f=2 target=[0.1,0.2,0.3]"),
    "cpp/cloth_springs.cpp cloth_springs": (SPRINGS, "spring.stiffness=2 spring.damping=0.3 stiffness=1 rest=0.5 gravity=[0,-9,0]",
                                        "--points=2"),  # as for the other cloth
    "cpp/forward_kinematics.cpp forward_kinematics": ("axis=3 offset=3 angle=2,3 position=2,3 rotation=2,3", "parent=[-1,0,1]"),
    "cpp/mlp.cpp mlp": ("input=3,2 wanted=3 w1=6,3 w2=6,7 w3=1,7", ""),
    "cpp/sph_density.cpp sph_density": ("position=3 density=3", "start=[0,2,3,4] neighbour=[1,2,0,0] mass=0.5 h=3 at_rest=1"),
}
for scalar in ("float", "double"):
    SAMPLES[f"cpp/pd_rollout.cpp pd_rollout_{scalar}"] = (
        "start=3 target=3", "gains.proportional=3 gains.derivative=0.7 gains.limit=50 steps=40 dt=0.01")
for path in ("mpm_grid_op.ir", "mpm_grid_op_infix.ir", "cpp/mpm_grid_op.cpp"):
    SAMPLES[f"{path} mpm_grid_op"] = ("", "@state")
ELSEWHERE = {"update_cartesian_space.ir update_cartesian_space": "run_articulated.py"}


def call(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True)


def kernels_of(adc, path):
    """Those that have a gradient: some parameter is differentiated."""
    text = call(adc, "opt", "--passes=verify", path).stdout
    return [name for name, parameters in re.findall(r"^kernel @(\w+)\((.*)\)", text, re.M) if " diff" in parameters]


def main():
    adc, samples, state = sys.argv[1:4]
    samples = pathlib.Path(samples)
    files = sorted(path for ending in ("ir", "cpp", "comp") for path in samples.rglob("*." + ending)
                   if ending != "cpp" or "ADC_KERNEL" in path.read_text(encoding="utf-8"))
    there = {f"{path.relative_to(samples)} {kernel}" for path in files for kernel in kernels_of(adc, path)}
    faults = [f"{key}: no test checks its gradient" for key in sorted(there - SAMPLES.keys() - ELSEWHERE.keys())]
    faults += [f"{key}: no such kernel of a sample" for key in sorted((SAMPLES.keys() | ELSEWHERE.keys()) - there)]
    with tempfile.TemporaryDirectory() as folder:
        call(state, folder + "/state", "--scale", "0.05", "--pass-fraction", "0.3")
        # Symmetric, positive definite.
        matrix = [[4, 1, 0.5], [1, 3, 0.25], [0.5, 0.25, 2]]
        write_npy(folder + "/matrices", "f32", [matrix, [[2 * number for number in row] for row in matrix]])
        # Inside of the grid, with a cell to spare.
        write_npy(folder + "/positions", "f32", [[[0.3 + 0.1 * ((7 * f + 3 * p + k) % 5) for k in range(3)] for p in range(5)]
                                                 for f in range(3)])
        # A bent sheet of 3 by 3 masses: places a spring's length apart, velocities.
        write_npy(folder + "/cloth", "f32", [[float(k) for k in row] for i in range(9) for row in (
            (i % 3, -(i // 3), 0.3 * (i % 2) + 0.1 * i, 0), (0.1 * (i % 4), 0.2, 0.05 * i, 0))])
        given = {"@state": (pathlib.Path(folder) / "state/arguments").read_text().split()}

        def check(key):
            path, kernel = key.split()
            shapes, values, *options = SAMPLES[key]
            words = given.get(values) or [f"--arg={value}" for value in values.replace("=@", f"=@{folder}/").split()]
            words += [f"--shape={shape}" for shape in shapes.split()] + (options or ["--points=4"])
            return call(adc, "gradcheck", samples / path, "--kernel", kernel, "--threads=2", *words)

        chosen = [key for key in SAMPLES if (sys.argv[4:] or [""])[0] in key]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for key, done in zip(chosen, pool.map(check, chosen)):
                if done.returncode != 0:
                    faults.append(f"{key}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    print("\n".join(faults) or f"{len(chosen)} kernels of samples, {len(files)} files")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
