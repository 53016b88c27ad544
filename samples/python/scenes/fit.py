"""Fits the stiffness and the damping of a material to what was seen in many small scenes, which workers share. bar.py makes
the bundle. A line each; docs/clusters.md says what they are for:

    python fit.py bar.adcb --workers=4                                            # processes of this machine
    XLA_FLAGS=--xla_force_host_platform_device_count=4 python fit.py bar.adcb --by=jax       # JAX, all its devices
    python fit.py bar.adcb --by=jax --coordinator=HOST:PORT --workers=2 --rank=0  # JAX, processes on several machines
    torchrun --nproc-per-node=4 fit.py bar.adcb --by=torch                        # PyTorch: gloo, on GPUs NCCL
    python fit.py bar.adcb --start=3 --checkpoint=fits/3.npz                      # one task of a job array
    python fit.py --best fits/*.npz

A step adds losses and gradients up in an order that the number of scenes alone decides: each worker those of its blocks of
scenes, in pairs, and then every worker the sums of all blocks, exactly (math.fsum). All take the same step, and the result has
the same bits with any number of workers. The checkpoint is written after each step, whole or not at
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


def blocks(scenes):
    """As how many blocks scenes are added up, whatever the workers. Few scenes are a block each."""
    while scenes >= 1024 and scenes % 2 == 0:
        scenes //= 2
    return scenes


def summed(rows, scenes):
    """The sums of blocks of rows, for arrays of any library. Only adding in pairs has the same bits everywhere."""
    for _ in range((scenes // blocks(scenes)).bit_length() - 1):
        rows = rows[0::2] + rows[1::2]
    return rows


class Scenes:
    """The kernel, and scenes `low` to `high` of `count`: how far each bar is pulled, and where its tip was seen. A worker that
    is a process has one processor, one that is a GPU all of its threads (0)."""

    def __init__(self, bundle, count, low=0, high=None, threads=1):
        self.bundle, self.count = adrt.load(bundle), count
        self.bar = self.bundle["bar"].on(threads=threads)
        self.pull = np.linspace(0.05, 0.3, count)[low:high]
        self.shape = (len(self.pull), TIMES)
        truth = np.tile(TRUTH, (len(self.pull), 1))
        self.seen = self.bar(material=truth, pull=self.pull, seen=np.zeros(self.shape), tip=self.shape, loss=self.shape[0]).tip

    def evaluate(self, material):
        """One row a block of scenes: its loss, and the gradient of that by the two numbers of `material`."""
        given = {"material": np.tile(material, (self.shape[0], 1)), "pull": self.pull, "seen": self.seen}
        left = self.bar(**given, tip=self.shape, loss=self.shape[0])
        adjoint = self.bar.grad(**given, tip=left.tip, loss=left.loss, tip_adj=np.zeros(self.shape),
                                loss_adj=np.ones(self.shape[0])).material_adj
        return summed(np.column_stack([left.loss, adjoint]), self.count)


class Processes:
    """Processes of this machine, which need no library."""

    def __init__(self, options):
        self.rank, self.workers, self.options = 0, options.workers, options
        self.pool = multiprocessing.get_context("spawn").Pool(self.workers)
        self.places = f"{os.cpu_count()} processors"
        self.parts = [share(options.scenes, self.workers, rank) for rank in range(self.workers)]

    def evaluate(self, material):
        tasks = [(self.options.bundle, self.options.scenes, *part, material) for part in self.parts]
        return np.concatenate(self.pool.starmap(evaluate_part, tasks, chunksize=1))

    def alone(self, material):
        return evaluate_part(self.options.bundle, self.options.scenes, *self.parts[0], material)

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
        self.places = f"{torch.cuda.device_count()} GPUs" if on_gpus else f"{os.cpu_count()} processors"
        if on_gpus:
            torch.cuda.set_device(self.device)
        scenes = Scenes(options.bundle, options.scenes, *share(options.scenes, self.workers, self.rank), threads=0 if on_gpus else 1)
        self.bar, self.shape, self.count = adrt.torch.function(scenes.bar), scenes.shape, scenes.count
        self.pull, self.seen = (torch.as_tensor(array, device=self.device) for array in (scenes.pull, scenes.seen))

    def mine(self, material):
        torch = self.torch
        each = torch.tensor(material, device=self.device).repeat(self.shape[0], 1).requires_grad_()
        loss = self.bar(material=each, pull=self.pull, seen=self.seen, tip=self.shape, loss=self.shape[0]).loss
        loss.sum().backward()
        return summed(torch.column_stack([loss.detach(), each.grad]), self.count)

    def alone(self, material):
        return self.mine(material).cpu().numpy()

    def evaluate(self, material):
        mine = self.mine(material)
        parts = [self.torch.empty_like(mine) for _ in range(self.workers)]
        self.distributed.all_gather(parts, mine)
        return self.torch.cat(parts).cpu().numpy()

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
        on_gpus = jax.default_backend() == "gpu"
        self.places = f"{self.workers} GPUs" if on_gpus else f"{os.cpu_count()} processors"
        first = slice(*share(options.scenes, self.workers, 0))
        scenes = Scenes(options.bundle, options.scenes, threads=0 if on_gpus else 1)
        bar = adrt.jax.function(scenes.bar)
        mesh = jax.make_mesh((self.workers,), ("scenes",))
        self.spread = jax.NamedSharding(mesh, jax.P("scenes"))
        self.pull, self.seen = self.parts(scenes.pull), self.parts(scenes.seen)
        self.of_one = [jax.device_put(array, jax.local_devices()[0]) for array in (scenes.pull[first], scenes.seen[first])]

        def part(material, pull, seen):
            loss, adjoint = jax.vjp(lambda material: bar(material=material, pull=pull, seen=seen, tip=seen.shape,
                                                         loss=pull.shape[0]).loss, material)
            return summed(jax.numpy.column_stack([loss, *adjoint(jax.numpy.ones_like(loss))]), scenes.count)

        self.run_one = jax.jit(part)
        self.run = jax.jit(jax.shard_map(part, mesh=mesh, in_specs=jax.P("scenes"), out_specs=jax.P("scenes")))

    def parts(self, array):
        return self.jax.make_array_from_callback(array.shape, self.spread, lambda at: array[at])

    def alone(self, material):
        each = self.jax.device_put(np.tile(material, (self.of_one[0].shape[0], 1)), self.jax.local_devices()[0])
        return np.asarray(self.run_one(each, *self.of_one))

    def evaluate(self, material):
        each = self.parts(np.tile(material, (self.pull.shape[0], 1)))
        return np.asarray(self.hosts.process_allgather(self.run(each, self.pull, self.seen), tiled=True))

    def wait(self):
        self.hosts.sync_global_devices("wait")

    def close(self):
        if self.jax.process_count() > 1:
            self.jax.distributed.shutdown()


def share(count, workers, rank):
    """The scenes of one worker, first and end. Each has as many blocks: the slowest one decides."""
    if blocks(count) % workers:
        sys.exit(f"fit.py: {count} scenes are not shared evenly by {workers} workers: choose others, such as "
                 f"--scenes={64 * workers}")
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
        state, scenes = self.state, self.state["problem"][0]
        loss, *gradient = (math.fsum(column) / scenes for column in rows.T)
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
        team.alone(fit.material())
        alone = statistics.median(seconds(lambda: team.alone(fit.material())) for _ in range(15))
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
        print(f"efficiency {alone / step:.2f}: {team.workers} workers on {team.places}; the share of one takes "
              f"{1e3 * alone:.2f} ms alone, a step of all {1e3 * step:.2f} ms", flush=True)
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
