"""Fits the stiffness and the damping of a material to what was seen in many small scenes, which workers share. bar.py makes
the bundle. A line each; docs/clusters.md says what they are for:

    python fit.py bar.adcb --workers=4                                            # processes of this machine
    XLA_FLAGS=--xla_force_host_platform_device_count=4 python fit.py bar.adcb --by=jax       # JAX, all its devices
    python fit.py bar.adcb --by=jax --coordinator=HOST:PORT --workers=2 --rank=0  # JAX, processes on several machines
    torchrun --nproc-per-node=4 fit.py bar.adcb --by=torch                        # PyTorch: gloo, on GPUs NCCL
    python fit.py bar.adcb --start=3 --checkpoint=fits/3.npz                      # one task of a job array
    python fit.py --best fits/*.npz

Every worker has the losses and gradients of all scenes after a step, adds them up exactly (math.fsum) and takes the same step,
so that the result has the same bits with any number of workers. The checkpoint is written after each step, whole or not at
all, and a run that finds one goes on from there: with the same bits as one that was not stopped.
"""

import argparse
import math
import multiprocessing
import os
import pathlib
import statistics
import sys
import time

import adrt
import numpy as np

TRUTH, TIMES = (20.0, 0.3), 60


class Scenes:
    """The kernel, and scenes `low` to `high` of `count`: how far each bar is pulled, and where its tip was seen."""

    def __init__(self, bundle, count, low=0, high=None):
        self.bundle = adrt.load(bundle)
        self.bar = self.bundle["bar"].on(threads=1)  # a worker is a process or a device
        self.pull = np.linspace(0.05, 0.3, count)[low:high]
        self.shape = (len(self.pull), TIMES)
        truth = np.tile(TRUTH, (len(self.pull), 1))
        self.seen = self.bar(material=truth, pull=self.pull, seen=np.zeros(self.shape), tip=self.shape, loss=self.shape[0]).tip

    def evaluate(self, material):
        """One row a scene: its loss, and the gradient of that by the two numbers of `material`."""
        given = {"material": np.tile(material, (self.shape[0], 1)), "pull": self.pull, "seen": self.seen}
        left = self.bar(**given, tip=self.shape, loss=self.shape[0])
        adjoint = self.bar.grad(**given, tip=left.tip, loss=left.loss, tip_adj=np.zeros(self.shape),
                                loss_adj=np.ones(self.shape[0])).material_adj
        return np.column_stack([left.loss, adjoint])


class Processes:
    """Processes of this machine, which need no library."""

    def __init__(self, options):
        self.rank, self.workers, self.options = 0, options.workers, options
        self.pool = multiprocessing.get_context("spawn").Pool(self.workers)
        self.parts = [share(options.scenes, self.workers, rank) for rank in range(self.workers)]

    def evaluate(self, material):
        tasks = [(self.options.bundle, self.options.scenes, *part, material) for part in self.parts]
        return np.concatenate(self.pool.starmap(evaluate_part, tasks, chunksize=1))

    def wait(self):
        """No other process runs between two evaluations."""

    def close(self):
        self.pool.close()
        self.pool.join()


LOADED = {}


def evaluate_part(bundle, count, low, high, material):
    part = bundle, count, low, high
    if part not in LOADED:
        LOADED[part] = Scenes(*part)
    return LOADED[part].evaluate(material)


class Torch:
    """Processes that torchrun has started: with a GPU each where there are any, and gloo elsewhere."""

    def __init__(self, options):
        import adrt.torch
        import torch
        from torch import distributed

        self.torch, self.distributed = torch, distributed
        on_gpus = torch.cuda.is_available()
        distributed.init_process_group("nccl" if on_gpus else "gloo")
        self.rank, self.workers = distributed.get_rank(), distributed.get_world_size()
        self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if on_gpus else torch.device("cpu")
        if on_gpus:
            torch.cuda.set_device(self.device)
        self.scenes = Scenes(options.bundle, options.scenes, *share(options.scenes, self.workers, self.rank))
        self.bar = adrt.torch.function(self.scenes.bar)

    def evaluate(self, material):
        scenes, torch = self.scenes, self.torch
        each, pull, seen = (torch.as_tensor(array, device=self.device) for array in
                            (np.tile(material, (scenes.shape[0], 1)), scenes.pull, scenes.seen))
        each.requires_grad_()
        loss = self.bar(material=each, pull=pull, seen=seen, tip=scenes.shape, loss=scenes.shape[0]).loss
        loss.sum().backward()
        mine = torch.column_stack([loss.detach(), each.grad])
        parts = [torch.empty_like(mine) for _ in range(self.workers)]
        self.distributed.all_gather(parts, mine)
        return torch.cat(parts).cpu().numpy()

    def wait(self):
        self.distributed.barrier()

    def close(self):
        self.distributed.destroy_process_group()


class Jax:
    """All devices that JAX has: of this process, or of all that `jax.distributed` connects."""

    def __init__(self, options):
        import adrt.jax
        import jax
        from jax.experimental import multihost_utils

        jax.config.update("jax_enable_x64", True)
        if options.coordinator:
            jax.distributed.initialize(options.coordinator, options.workers, options.rank)
        self.jax, self.hosts = jax, multihost_utils
        self.rank, self.workers = jax.process_index(), jax.device_count()
        share(options.scenes, self.workers, 0)
        scenes, bar = Scenes(options.bundle, options.scenes), adrt.jax.function(adrt.load(options.bundle)["bar"].on(threads=1))
        mesh = jax.make_mesh((self.workers,), ("scenes",))
        self.spread = jax.NamedSharding(mesh, jax.P("scenes"))
        self.pull, self.seen = self.parts(scenes.pull), self.parts(scenes.seen)

        def part(material, pull, seen):
            loss, adjoint = jax.vjp(lambda material: bar(material=material, pull=pull, seen=seen, tip=seen.shape,
                                                         loss=pull.shape[0]).loss, material)
            return jax.numpy.column_stack([loss, *adjoint(jax.numpy.ones_like(loss))])

        self.run = jax.jit(jax.shard_map(part, mesh=mesh, in_specs=jax.P("scenes"), out_specs=jax.P("scenes")))

    def parts(self, array):
        return self.jax.make_array_from_callback(array.shape, self.spread, lambda at: array[at])

    def evaluate(self, material):
        each = self.parts(np.tile(material, (self.pull.shape[0], 1)))
        return np.asarray(self.hosts.process_allgather(self.run(each, self.pull, self.seen), tiled=True))

    def wait(self):
        self.hosts.sync_global_devices("wait")

    def close(self):
        if self.jax.process_count() > 1:
            self.jax.distributed.shutdown()


def share(count, workers, rank):
    """The scenes of one worker, first and end. Each has as many: the slowest one decides."""
    if count % workers:
        sys.exit(f"fit.py: {count} scenes are not shared evenly by {workers} workers: choose --scenes as a multiple")
    return rank * count // workers, (rank + 1) * count // workers


class Fit:
    """The material, and the optimiser (Adam, of the logarithms), which a checkpoint holds whole."""

    def __init__(self, options):
        self.path = options.checkpoint
        starts = np.exp(np.random.default_rng(0).uniform(-1, 1, (options.start + 1, 2)))
        self.state = {"step": 0, "problem": np.array([options.scenes, TIMES, options.start]), "loss": math.inf,
                      "log": np.log(np.multiply((12.0, 0.15), starts[-1])), "mean": np.zeros(2), "square": np.zeros(2)}
        if self.path and self.path.exists():
            found = dict(np.load(self.path))
            if not np.array_equal(found["problem"], self.state["problem"]):
                sys.exit(f"fit.py: {self.path} is the checkpoint of other scenes, or of another start")
            self.state = {**found, "step": int(found["step"])}

    def material(self):
        return np.exp(self.state["log"])

    def step(self, rows):
        state = self.state
        loss, *gradient = (math.fsum(column) / len(rows) for column in rows.T)
        gradient = np.array(gradient) * self.material()  # by the logarithms
        state["step"], state["loss"] = state["step"] + 1, loss
        state["mean"] = 0.8 * state["mean"] + 0.2 * gradient
        state["square"] = 0.9 * state["square"] + 0.1 * gradient ** 2
        mean, square = state["mean"] / (1 - 0.8 ** state["step"]), state["square"] / (1 - 0.9 ** state["step"])
        state["log"] = state["log"] - 0.1 * 0.97 ** state["step"] * mean / (np.sqrt(square) + 1e-12)

    def save(self):
        """Under its name stands the old checkpoint or the new one, never a part."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_name(self.path.name + ".partial")
        with open(partial, "wb") as file:
            np.savez(file, **self.state)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, self.path)


def seconds(run):
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def run(options):
    team = {"processes": Processes, "torch": Torch, "jax": Jax}[options.by](options)
    fit, alone, took = Fit(options), math.nan, []
    team.evaluate(fit.material())  # loads and compiles
    team.wait()
    if team.rank == 0:
        part = Scenes(options.bundle, options.scenes, *share(options.scenes, team.workers, 0))
        alone = statistics.median(seconds(lambda: part.evaluate(fit.material())) for _ in range(15))
    team.wait()
    while fit.state["step"] < options.steps:
        begin = time.perf_counter()
        rows = team.evaluate(fit.material())
        took.append(time.perf_counter() - begin)
        fit.step(rows)
        if team.rank == 0:
            if fit.path:
                fit.save()
            print(f"step {fit.state['step']}: loss {fit.state['loss']:.3e}", flush=True)
    if team.rank == 0:
        print("stiffness {} damping {}".format(*map(float, fit.material())), flush=True)
    if team.rank == 0 and took:
        step = statistics.median(took)
        print(f"efficiency {alone / step:.2f}: {team.workers} workers on {os.cpu_count()} processors; the share of one takes "
              f"{1e3 * alone:.2f} ms alone on a processor, a step of all {1e3 * step:.2f} ms", flush=True)
    team.close()


def best(paths):
    loss, path = min((float(np.load(path)["loss"]), path) for path in paths)
    print("best of {}: {}, loss {:.3e}, stiffness {:.4f} damping {:.4f}".format(
        len(paths), path, loss, *np.exp(np.load(path)["log"])))


def main():
    parser = argparse.ArgumentParser(description="fits a material to many small scenes")
    parser.add_argument("bundle", nargs="?")
    parser.add_argument("--by", choices=("processes", "torch", "jax"), default="processes")
    parser.add_argument("--workers", type=int, default=1, help="processes; torchrun and JAX alone know their own")
    parser.add_argument("--coordinator", help="of jax.distributed: HOST:PORT of process 0")
    parser.add_argument("--rank", type=int, default=0, help="of jax.distributed: which of the workers this is")
    parser.add_argument("--scenes", type=int, default=64)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--start", type=int, default=0, help="which of many starts")
    parser.add_argument("--checkpoint", type=pathlib.Path)
    parser.add_argument("--best", nargs="+", metavar="CHECKPOINT", help="says which of these has the least loss")
    options = parser.parse_args()
    if options.best:
        best(options.best)
    elif options.bundle:
        run(options)
    else:
        parser.error("name the bundle that bar.py made")


if __name__ == "__main__":
    main()
