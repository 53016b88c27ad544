"""in_quadrants.py NAME FOLDER: runs a kernel of kernels.py, and its gradient, in Quadrants. In a process of its own, because
Quadrants ends the process where it cannot differentiate some kernels.

Reads FOLDER/NAME.start.npz, the numbers of the fields and the adjoints (`NAME_adj`) from which the gradient starts. Writes
NAME.values.npz, NAME.places.json (which place of the printed text is which field), and last NAME.gradient.npz."""

import json
import os
import pathlib
import sys

os.environ["QD_DUMP_IR"] = "1"
import numpy as np  # noqa: E402
import quadrants as qd  # noqa: E402


def made(about):
    options = {"dtype": qd.f64 if about["diff"] else qd.i32, "shape": about["shape"], "needs_grad": about["diff"]}
    if not about["of"]:
        return qd.field(**options)
    return qd.Vector.field(*about["of"], **options) if len(about["of"]) == 1 else qd.Matrix.field(*about["of"], **options)


def main(name, folder):
    qd.init(arch=qd.cpu, default_fp=qd.f64, offline_cache=False, debug_dump_path=str(folder / "dumps"), log_level=qd.CRITICAL,
            ad_stack_experimental_enabled=True)
    import kernels
    kernel, about, _ = kernels.CASES[name]
    start = np.load(folder / f"{name}.start.npz")
    fields = {key: made(field) for key, field in about.items()}
    for key, field in fields.items():
        field.from_numpy(start[key])
    kernel(*fields.values())
    np.savez(folder / f"{name}.values.npz", **{key: field.to_numpy() for key, field in fields.items()})
    (folder / f"{name}.places.json").write_text(json.dumps(
        {key: [field.snode._id, field.snode.parent()._id] for key, field in fields.items()}), encoding="utf-8")
    active = [key for key in about if about[key]["diff"]]
    for key in active:
        fields[key].grad.from_numpy(start[f"{key}_adj"])
    kernel.grad(*fields.values())
    np.savez(folder / f"{name}.gradient.npz", **{key: fields[key].grad.to_numpy() for key in active})


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
