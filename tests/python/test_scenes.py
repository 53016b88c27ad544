"""samples/python/scenes: a fit that workers share, by processes, PyTorch and JAX. The result has the same bits with any number
of workers, and after a process was killed."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

from support import ADC, ROOT, WORK, fetched, main, skip_unless_built, skip_without

skip_unless_built()
np = skip_without("numpy")
import adrt  # noqa: E402

FOLDER = ROOT / "samples/python/scenes"
BUNDLE = WORK / "bar.adcb"
STEPS = 40
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}


def environment_of_jax(devices):
    """Of a process that has JAX and so many devices, and NumPy as JAX wants it."""
    before = list(sys.path)
    fetched("jax==0.10.2")
    paths, sys.path[:] = os.pathsep.join(filter(None, sys.path)), before
    return {**ENVIRONMENT, "PYTHONPATH": paths, "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}


def port():
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return found.getsockname()[1]


def start(*words, environment=None, module=()):
    """fit.py, running; `module` is what starts it, torchrun for instance."""
    line = [sys.executable, *module, str(FOLDER / "fit.py"), str(BUNDLE), f"--steps={STEPS}", *map(str, words)]
    return subprocess.Popen(line, env=environment or ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            start_new_session=True)


def wait_for_step(path, step):
    """Until the checkpoint is of this step or of a later one."""
    for _ in range(6000):
        if path.exists() and int(np.load(path)["step"]) >= step:
            return
        time.sleep(0.005)
    raise AssertionError(f"{path} has no step {step} after 30 seconds")


def kill(*processes):
    """These, and all that they have started."""
    for process in processes:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def children(pid):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # has ended
        if int(words[1]) == pid:
            found.append(int(path.parent.name))
    return sorted(found)


class Scenes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        made = subprocess.run([sys.executable, str(FOLDER / "bar.py"), str(BUNDLE)], env={**ENVIRONMENT, "ADC": ADC},
                              capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        cls.whole = cls.checkpoint("whole")
        cls.lines = cls.ended(start(f"--checkpoint={cls.whole}"))

    @staticmethod
    def checkpoint(name):
        path = WORK / f"{name}.npz"
        for old in WORK.glob(f"{name}.npz*"):
            old.unlink()
        return path

    @staticmethod
    def ended(process, timeout=120):
        out, error = process.communicate(timeout=timeout)
        assert process.returncode == 0, out + error
        return out.splitlines()

    def check_same(self, path):
        """All of the checkpoint, to the bit, as of one process that was not stopped."""
        found, wanted = np.load(path), np.load(self.whole)
        self.assertEqual(sorted(found), sorted(wanted))
        for name in wanted:
            self.assertEqual(found[name].tobytes(), wanted[name].tobytes(), name)

    def test_gradient(self):
        """Reverse mode, forward mode and differences of each scene's loss."""
        bar, count, times = adrt.load(BUNDLE)["bar"], 6, 60
        given = {"pull": np.linspace(0.05, 0.3, count), "seen": np.full((count, times), 8.0)}
        material = np.tile([12.0, 0.2], (count, 1))
        shapes = {"tip": (count, times), "loss": count}
        left = bar(material=material, **given, **shapes)
        got = bar.grad(material=material, **given, tip=left.tip, loss=left.loss, tip_adj=np.zeros((count, times)),
                       loss_adj=np.ones(count)).material_adj
        for column in 0, 1:
            step = np.zeros_like(material)
            step[:, column] = 1
            tangent = bar.jvp(material=material, **given, **shapes, material_tan=step).loss_tan
            np.testing.assert_allclose(got[:, column], tangent, rtol=1e-11)
            high, low = (bar(material=material + side * 1e-5 * step, **given, **shapes).loss for side in (1, -1))
            np.testing.assert_allclose(got[:, column], (high - low) / 2e-5, rtol=1e-5)

    def test_finds_the_material(self):
        self.assertEqual(len(self.lines), STEPS + 2)
        self.assertRegex(self.lines[-1], r"^efficiency \d+\.\d\d: 1 workers on \d+ processors")
        words = self.lines[-2].split()
        self.assertAlmostEqual(float(words[1]), 20, delta=0.2)
        self.assertAlmostEqual(float(words[3]), 0.3, delta=0.01)

    def test_processes(self):
        path = self.checkpoint("processes")
        lines = self.ended(start("--workers=4", f"--checkpoint={path}"))
        self.assertIn(": 4 workers on ", lines[-1])
        self.assertEqual(lines[:-1], self.lines[:-1])
        self.check_same(path)

    def check_blocks(self, *words, environment=None, module=()):
        """Scenes that are added up in blocks: the same bits as of one process."""
        many = ("--scenes=2048", "--steps=2")
        alone, path = self.checkpoint("alone"), self.checkpoint("many")
        self.ended(start(*many, f"--checkpoint={alone}"))
        self.ended(start(*many, *words, f"--checkpoint={path}", environment=environment, module=module))
        self.assertEqual(path.read_bytes(), alone.read_bytes())

    def test_blocks(self):
        self.check_blocks("--workers=4")

    def test_killed(self):
        path = self.checkpoint("killed")
        process = start("--workers=2", f"--checkpoint={path}", "--steps=100000")
        wait_for_step(path, 5)
        kill(process)
        reached = int(np.load(path)["step"])
        path.with_name("killed.npz.partial").write_bytes(b"half of a checkpoint")
        lines = self.ended(start("--workers=4", f"--checkpoint={path}", f"--steps={reached + 7}"))
        self.assertEqual(len(lines), 7 + 2)
        straight = self.checkpoint("straight")
        self.ended(start(f"--checkpoint={straight}", f"--steps={reached + 7}"))
        self.assertEqual(path.read_bytes(), straight.read_bytes())

    def test_job_array(self):
        paths = [self.checkpoint(f"start-{task}") for task in range(3)]
        for task, path in enumerate(paths):
            self.ended(start(f"--start={task}", f"--checkpoint={path}", "--scenes=16"))
        losses = [float(np.load(path)["loss"]) for path in paths]
        self.assertEqual(len(set(losses)), 3)
        said = subprocess.run([sys.executable, FOLDER / "fit.py", "--best", *paths], capture_output=True, text=True, check=True)
        self.assertIn(f"best of 3: {paths[int(np.argmin(losses))]}, loss {min(losses):.3e}, stiffness", said.stdout)

    def scripts(self, library, environment):
        """Runs the blocks of docs/clusters.md that are marked with this library, with stand-ins for srun and for the commands
        that Python's packages install. Gives what they print."""
        shims = WORK / "shims"
        shims.mkdir(exist_ok=True)
        stand_ins = {"python": f'exec "{sys.executable}" "$@"', "hostname": "echo localhost",
                     "torchrun": f'exec "{sys.executable}" -m torch.distributed.run --redirects=0:1 --tee=0:1 "$@"',
                     "srun": 'for rank in $(seq 1 $SLURM_NTASKS); do SLURM_PROCID=$((rank - 1)) "$@" & all="$all $!"; done\n'
                             'for one in $all; do wait $one || exit 1; done'}
        for name, text in stand_ins.items():
            (shims / name).write_text(f"#!/bin/bash\n{text}\n")
            (shims / name).chmod(0o755)
        folder, said = WORK / f"page-{library}", []
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for path in FOLDER / "fit.py", FOLDER / "bar.py", BUNDLE:
            shutil.copy(path, folder)
        slurm = {"SLURM_NTASKS": "2" if library == "jax" else "1", "SLURM_NNODES": "1", "SLURM_JOB_ID": "7"}
        page = (ROOT / "docs/clusters.md").read_text(encoding="utf-8")
        for words, block in re.findall(r"(?ms)^```sh ([\w ]+)\n(.*?)^```", page):
            if library not in words.split():
                continue
            (folder / "fit.npz").unlink(missing_ok=True)
            for task in range(3 if "array slurm" in words else 1):
                ran = subprocess.run(["bash", "-ec", block.replace(":12355", f":{port()}").replace(":29500", f":{port()}")],
                                     cwd=folder, text=True, capture_output=True, timeout=300, env={
                                         **environment, **(slurm if "slurm" in words else {}), "SLURM_ARRAY_TASK_ID": str(task), "ADC": ADC,
                                         "PATH": f"{shims}:{environment['PATH']}"})
                self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
                said.append(ran.stdout)
        return said

    def check_page(self, library, environment, runs):
        said = self.scripts(library, environment)
        self.assertEqual(len(said), runs)
        for text in said[-1:] if library == "array" else said:
            words = re.search(r"stiffness (\S+) damping (\S+)", text).groups()
            np.testing.assert_allclose(np.array(words, float), [20, 0.3], rtol=0.02)

    def test_page(self):
        self.assertEqual(self.scripts("setup", ENVIRONMENT), [""])
        self.check_page("processes", ENVIRONMENT, 1)
        self.check_page("array", ENVIRONMENT, 4)

    def test_mistakes(self):
        for words, wanted in ((["--workers=3"], "64 scenes are not shared evenly by 3 workers"),
                              (["--scenes=32", f"--checkpoint={self.whole}"], "the checkpoint of other scenes")):
            process = start(*words)
            self.assertIn(wanted, process.communicate(timeout=60)[1])
            self.assertNotEqual(process.returncode, 0)

    def test_torch(self):
        """Four processes, of which one is killed: torchrun starts all of them again."""
        # A folder named torch where the test runs would pass for a package.
        if subprocess.run([sys.executable, "-c", "import torch.distributed"], capture_output=True).returncode:
            self.skip_loudly("PyTorch", "torch.distributed")
        path, logs = self.checkpoint("torch"), WORK / "logs"
        shutil.rmtree(logs, ignore_errors=True)
        # PyTorch 1.13 on Python 3.11 wants --redirects and --tee, of any value but 0.
        process = start("--by=torch", f"--checkpoint={path}", module=(
            "-m", "torch.distributed.run", "--nproc_per_node=4", "--max_restarts=1", "--monitor_interval=0.2",
            f"--master_port={port()}", "--redirects=0:1", "--tee=0:1", f"--log_dir={logs}"))
        wait_for_step(path, 5)
        os.kill(children(process.pid)[-1], signal.SIGKILL)
        lines = self.ended(process)
        self.assertTrue(list(logs.glob("*/attempt_1")), "nothing was started again")
        self.assertIn(": 4 workers on ", lines[-1])
        self.assertEqual(sum("step 1:" in line for line in lines), 1)
        self.check_same(path)
        self.check_blocks("--by=torch", module=("-m", "torch.distributed.run", "--nproc_per_node=2", f"--master_port={port()}",
                                                "--redirects=0:1", "--tee=0:1"))
        self.check_page("torch", ENVIRONMENT, 2)

    def test_jax(self):
        """Four devices of one process; two processes of two, of which one is killed, and both start again."""
        if subprocess.run([sys.executable, "-c", "import jax; jax.shard_map"], capture_output=True,
                          env=environment_of_jax(4)).returncode:
            self.skip_loudly("JAX", "shard_map and jax.distributed")
        path = self.checkpoint("jax")
        lines = self.ended(start("--by=jax", f"--checkpoint={path}", environment=environment_of_jax(4)))
        self.assertIn(": 4 workers on ", lines[-1])
        self.check_same(path)
        path = self.checkpoint("jax-killed")

        def both():
            words = "--by=jax", f"--checkpoint={path}", "--workers=2", f"--coordinator=localhost:{port()}"
            return [start(*words, f"--rank={rank}", environment=environment_of_jax(2)) for rank in range(2)]

        processes = both()
        wait_for_step(path, 5)
        reached = int(np.load(path)["step"])
        kill(*reversed(processes))
        lines = [self.ended(process) for process in both()][0]
        self.assertIn(": 4 workers on ", lines[-1])
        first = next(line for line in lines if line.startswith("step "))
        self.assertGreater(int(first[5:].split(":")[0]), reached)
        self.check_same(path)
        self.check_blocks("--by=jax", environment=environment_of_jax(4))
        self.check_page("jax", environment_of_jax(1), 2)

    def skip_loudly(self, library, what):
        text = f"{what.upper()} IS NOT TESTED: {library} is not installed"
        print(text, file=sys.stderr)
        self.skipTest(text)


if __name__ == "__main__":
    main()
