"""What docs/python.md shows is what happens: runs its blocks marked `python`, one after the other, and the sample."""

import os
import re
import shutil
import subprocess
import sys
import unittest

from support import ADC, ROOT, WORK, main, sample, skip_unless_built, skip_without

skip_unless_built()
skip_without("numpy")


class Docs(unittest.TestCase):
    def test_page(self):
        shutil.copy(ROOT / "samples/relax.ir", WORK)
        here = os.getcwd()
        os.chdir(WORK)
        try:
            subprocess.run([ADC, "--derive=grad,jvp", "relax.ir"], check=True)
            page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
            blocks = re.findall(r"(?ms)^```python\n(.*?)^```", page)
            self.assertGreater(len(blocks), 5)
            names, line = {}, 0
            for block in blocks:
                line = page.count("\n", 0, page.index(block))
                exec(compile("\n" * line + block, str(ROOT / "docs/python.md"), "exec"), names)
        finally:
            os.chdir(here)

    def test_sample(self):
        done = subprocess.run([sys.executable, str(ROOT / "samples/python/relax.py"), str(sample("relax"))],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        losses = [float(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("step")]
        self.assertGreater(len(losses), 3)
        self.assertLess(losses[-1], 1e-3 * losses[0])


if __name__ == "__main__":
    main()
