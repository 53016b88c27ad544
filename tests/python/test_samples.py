"""samples/python: programs that compare their derivatives, reach what they shall, and draw a picture."""

import os
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree

from support import ROOT, WORK, main, skip_unless_built, skip_without

skip_unless_built()
skip_without("numpy")


class Samples(unittest.TestCase):
    def run_sample(self, name, *options):
        """What it prints, and the root of its picture."""
        picture = WORK / f"{name}.svg"
        command = [sys.executable, ROOT / f"samples/python/{name}/{name}.py", picture, *options]
        ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("reverse mode", ran.stdout)
        return ran.stdout, xml.etree.ElementTree.parse(picture).getroot()

    def test_splats(self):
        said, picture = self.run_sample("splats", "--splats=12", "--size=16", "--steps=40")
        losses = [float(loss) for loss in re.findall(r"loss (0\.\d+)", said)]
        self.assertLess(losses[-1], losses[0] / 4)
        images = picture.findall("{http://www.w3.org/2000/svg}image")
        self.assertEqual(len(images), 3)
        self.assertTrue(all(image.get("href").startswith("data:image/png;base64,iVBOR") for image in images))

    def test_quadrotor(self):
        said, picture = self.run_sample("quadrotor", "--seconds=1.2")
        self.assertLess(int(re.search(r"(\d+) in the last half second", said)[1]), 30)
        self.assertEqual([len(line.get("points").split()) for line in picture.findall("{http://www.w3.org/2000/svg}polyline")], [60] * 4)

    def test_push(self):
        said, picture = self.run_sample("push", "--side=6")
        self.assertLess(float(re.findall(r"(\S+) cm beside the mark", said)[-1]), 0.1)
        drawn = picture.findall(".//{http://www.w3.org/2000/svg}path/{http://www.w3.org/2000/svg}animate")
        self.assertEqual([len(one.get("values").split(";")) for one in drawn], [31, 31])


if __name__ == "__main__":
    main()
