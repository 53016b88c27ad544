"""samples/python/scenes/bar.ipynb: its cells run in order, and its pictures show something. With --write, the notebook gets
what they have shown.

Jupyter is not needed: a cell is a file in the folder of the test, so that adc finds the source of kernels, and what is shown
are the value of the last expression and the figures of matplotlib."""

import ast
import base64
import io
import json
import sys
import unittest

from support import ROOT, WORK, fetched, main, skip_unless_built, skip_without

skip_unless_built()
fetched("matplotlib==3.10.0")
matplotlib = skip_without("matplotlib")
matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

NOTEBOOK = ROOT / "samples/python/scenes/bar.ipynb"


def run_cell(number, source, names):
    """Runs a cell. Gives what it shows: text, if it ends with an expression, and pictures."""
    path = WORK / f"cell_{number}.py"
    path.write_text(source, encoding="utf-8")
    tree, last = ast.parse(source), None
    if isinstance(tree.body[-1], ast.Expr) and "plt.show" not in ast.unparse(tree.body[-1]):
        last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, str(path), "exec"), names)
    outputs = []
    if last:
        text = repr(eval(compile(last, str(path), "eval"), names))
        outputs.append({"output_type": "execute_result", "execution_count": number, "metadata": {},
                        "data": {"text/plain": text.splitlines(keepends=True)}})
    for figure in map(plt.figure, plt.get_fignums()):
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=80, metadata={"Software": None})
        outputs.append({"output_type": "display_data", "metadata": {},
                        "data": {"image/png": base64.b64encode(file.getvalue()).decode() + "\n"}})
    plt.close("all")
    return outputs


def run(book):
    """Runs the notebook, and gives it what its cells show."""
    names, number = {"__name__": "__main__"}, 0
    sys.path.insert(0, str(NOTEBOOK.parent))
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            cell["execution_count"], cell["outputs"] = number, run_cell(number, "".join(cell["source"]), names)
    return names


def pictures(book):
    found = [output["data"]["image/png"] for cell in book["cells"] for output in cell.get("outputs", [])
             if "image/png" in output["data"]]
    return [plt.imread(io.BytesIO(base64.b64decode(picture)))[..., :3] for picture in found]


class Notebook(unittest.TestCase):
    def check_pictures(self, book):
        """Two, of which much is drawn on, in many colours, and which differ."""
        found = pictures(book)
        self.assertEqual(len(found), 2)
        for picture in found:
            drawn = np.any(picture < 0.98, axis=2)
            self.assertGreater(np.mean(drawn), 0.02)
            self.assertGreater(min(np.mean(np.any(drawn, axis=0)), np.mean(np.any(drawn, axis=1))), 0.7)
            self.assertGreater(len(np.unique(np.round(picture.reshape(-1, 3), 2), axis=0)), 50)
        self.assertNotEqual(found[0].tobytes(), found[1].tobytes())

    def test_runs(self):
        stored = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
        self.check_pictures(stored)
        fresh = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
        names = run(fresh)
        self.check_pictures(fresh)
        np.testing.assert_allclose(names["fitted"], [20, 0.3], rtol=0.1)
        self.assertEqual([cell["execution_count"] for cell in fresh["cells"] if cell["cell_type"] == "code"], [1, 2, 3, 4, 5])

    def test_empty_pictures_are_found(self):
        """The checks see a picture without anything, and one of a frame alone."""
        plt.subplots()[1].axis("off")
        empty = run_cell(0, "pass", {})
        plt.subplots(figsize=(7, 4))
        frame = run_cell(0, "pass", {})
        for outputs in empty, frame:
            with self.assertRaises(AssertionError):
                self.check_pictures({"cells": [{"outputs": outputs * 2}]})


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        written = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
        run(written)
        NOTEBOOK.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    else:
        main()
