"""The types that editors see are those that there are: _adrt.pyi against the extension."""

import ast
import unittest

from support import ROOT, main, skip_unless_built

skip_unless_built()
from adrt import _adrt  # noqa: E402

BESIDE = {"Device"}  # for type checkers alone


class Stubs(unittest.TestCase):
    def test_names(self):
        tree = ast.parse((ROOT / "python/adrt/adrt/_adrt.pyi").read_text(encoding="utf-8"))
        stubs = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        self.assertEqual(set(stubs) - BESIDE, {name for name in dir(_adrt) if not name.startswith("__")})
        for name, node in stubs.items():
            if not isinstance(node, ast.ClassDef) or name in BESIDE:
                continue
            told = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            told |= {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
            kind = getattr(_adrt, name)
            for member in told:
                self.assertTrue(hasattr(kind, member), f"{name}.{member}")
            if issubclass(kind, BaseException):
                self.assertEqual([base.__name__ for base in kind.__bases__], [base.id for base in node.bases])
                continue
            there = {member for member in vars(kind) if not member.startswith("__")}
            self.assertEqual(told & there, there - {"n_fields", "n_sequence_fields", "n_unnamed_fields"}, name)
            if issubclass(kind, tuple):
                order = [item.target.id for item in node.body if isinstance(item, ast.AnnAssign)]
                self.assertEqual(tuple(order), kind.__match_args__)

    def test_docstrings(self):
        for name in dir(_adrt):
            thing = getattr(_adrt, name)
            if name.startswith("__"):
                continue
            self.assertTrue(thing.__doc__, name)
            for member in vars(thing) if isinstance(thing, type) and not issubclass(thing, BaseException) else ():
                if not member.startswith("_") and not member.startswith("n_"):
                    self.assertTrue(getattr(thing, member).__doc__, f"{name}.{member}")


if __name__ == "__main__":
    main()
