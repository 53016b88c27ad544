"""What docs/python.md shows is what happens: runs its blocks marked `python`, one after the other, and the sample.
test_torch.py, test_jax.py and test_cuda.py run those of their libraries."""

import subprocess
import sys
import unittest

from support import ROOT, main, run_snippets, sample, skip_unless_built, skip_without

skip_unless_built()
skip_without("numpy")


class Docs(unittest.TestCase):
    def test_page(self):
        self.assertGreater(run_snippets(""), 5)

    def test_sample(self):
        done = subprocess.run([sys.executable, str(ROOT / "samples/python/relax.py"), str(sample("relax"))],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        losses = [float(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("step")]
        self.assertGreater(len(losses), 3)
        self.assertLess(losses[-1], 1e-3 * losses[0])


if __name__ == "__main__":
    main()
