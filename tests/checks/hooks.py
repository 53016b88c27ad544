"""scripts/check and scripts/install-hooks, in a copy of a part of the source with a history of one commit.

    hooks.py --root REPOSITORY --work FOLDER

What git would commit decides, not what lies in the folder: a badly formatted file that is staged is refused although
the file in the folder is good, and the other way round. No build is needed.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

BAD = "namespace adc {\nint   Twice(int a) {return 2*a;}\n}  // namespace adc\n"
GOOD = "namespace adc {\nint Twice(int a) {\n  return 2 * a;\n}\n}  // namespace adc\n"
NAME = "lib/support/planted.cpp"

problems = []


def expect(condition, what):
    if not condition:
        problems.append(what)


class Repository:
    """A work tree, and commands in it that see no configuration of the user's."""

    def __init__(self, folder, environment):
        self.folder, self.environment = folder, environment

    def run(self, *command, code=0, **more):
        ran = subprocess.run(command, cwd=self.folder, env=dict(self.environment, **more), text=True, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        expect(ran.returncode == code, f"'{' '.join(map(str, command))}' ends with {ran.returncode}, not {code}:\n{ran.stdout}")
        return ran.stdout

    def head(self):
        return self.run("git", "rev-parse", "HEAD")

    def write(self, text, name=NAME):
        (self.folder / name).write_text(text, encoding="utf-8")


def copy_of(root, folder, environment):
    """A repository of what the checks need: scripts, some source and pages, and the folders that they look into."""
    patterns = [".clang-format", ".clang-tidy", ".gitignore", "*.md", "scripts/*", "docs/*.md", "lib/support/*",
                "tools/adc-runtime/*", "tools/adc/*", "*/CMakeLists.txt"]
    for path in sorted({path for pattern in patterns for path in root.glob(pattern) if path.is_file()}):
        to = folder / path.relative_to(root)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to)
    copy = Repository(folder, environment)
    copy.run("git", "init", "-q", "-b", "main")
    copy.run("git", "add", "-A")
    copy.run("git", "commit", "-q", "-m", "Begin")
    return copy


def check_commits(copy):
    said = copy.run("scripts/install-hooks")
    expect("before each commit" in said and "pre-commit" in said, f"install-hooks does not say what it did: {said}")
    begin = copy.head()

    copy.write(BAD)
    copy.run("git", "add", NAME)
    copy.write(GOOD)
    said = copy.run("git", "commit", "-m", "Add a badly formatted file", code=1)
    expect(NAME in said and "format    FAILED" in said, f"the refusal does not name file and check: {said}")
    expect(copy.head() == begin, "a badly formatted file that was staged is committed")

    copy.run("git", "add", NAME)
    copy.write(BAD)
    said = copy.run("git", "commit", "-m", "Add a file")
    for check in ("format", "includes", "ops", "words"):
        expect(f"  {check:<9} ok" in said, f"{check} did not run before the commit: {said}")
    expect("1 files are formatted" in said, f"format did not read the staged file alone: {said}")
    expect("LEFT OUT" in said and "WITHOUT tidy" in said, f"tidy was left out and nobody says so: {said}")
    expect(copy.head() != begin, "a good file that was staged is not committed")

    said = copy.run("scripts/check", code=1)
    expect(NAME in said, f"a file that is not staged is not checked: {said}")
    copy.run("git", "commit", "-q", "-a", "-m", "Break it", code=1)
    copy.run("git", "checkout", "-q", NAME)
    expect("nothing to check" in copy.run("scripts/check"), "a tree without changes is checked")


def check_other_checks(copy):
    """Each of the others stops a commit too."""
    for text, check in (('#include "driver/compile.h"\n', "includes"), ("int a = 1;  // what is kept\n", "words"),
                        ("bool Is(ir::Op op) {\n  return op >= Op::Sin;\n}\n", "ops")):
        copy.write(text, "lib/support/other.cpp")
        copy.run("git", "add", "lib/support/other.cpp")
        said = copy.run("scripts/check", "--staged", code=1)
        expect(f"  {check:<9} FAILED" in said and "other.cpp" in said, f"{check} lets through {text!r}: {said}")
    copy.run("git", "rm", "-q", "-f", "lib/support/other.cpp")


def check_tidy(copy):
    """With the commands of a build, tidy reads what changed, as it is staged, and nothing else."""
    other = "lib/support/other.cpp"
    build = copy.folder / "build/release"
    build.mkdir(parents=True)
    (build / "compile_commands.json").write_text(json.dumps(
        [{"directory": str(build), "command": f"c++ -c {copy.folder / name}", "file": str(copy.folder / name)}
         for name in (NAME, other)], indent=0), encoding="utf-8")
    copy.write("namespace adc {\nbool Same(int a) {\n  return a == a;\n}\n}  // namespace adc\n", other)
    copy.run("git", "add", other)
    copy.write("", other)
    said = copy.run("scripts/check", "--staged", code=1)
    expect("tidy      FAILED" in said and f"    {other}:3:" in said, f"tidy finds nothing in what is staged: {said}")
    expect("1 with findings, 0 of 1" in said, f"tidy reads what did not change: {said}")
    said = copy.run("scripts/check", "--staged", "--no-tidy")
    expect("LEFT OUT" in said and "WITHOUT tidy" in said, f"tidy was left out and nobody says so: {said}")
    copy.run("git", "rm", "-q", "-f", other)


def check_worktree(copy):
    """A hook that was installed in one worktree serves the others."""
    tree = Repository(copy.folder.parent / "worktree", copy.environment)
    copy.run("git", "worktree", "add", "-q", str(tree.folder), "-b", "side")
    begin = tree.head()
    tree.write(BAD)
    tree.run("git", "add", NAME)
    expect("FAILED" in tree.run("git", "commit", "-m", "Break it", code=1), "the hook does not run in a worktree")
    expect(tree.head() == begin, "a badly formatted file is committed in a worktree")


def check_foreign(copy):
    """A hook of somebody else's is never lost."""
    hook = copy.folder / ".git/hooks/pre-commit"
    copy.run("scripts/install-hooks", "--remove")
    expect(not hook.exists(), "--remove leaves the hook")
    foreign = "#!/bin/sh\necho mine\n"
    hook.write_text(foreign, encoding="utf-8")
    for arguments in ([], ["--remove"]):
        said = copy.run("scripts/install-hooks", *arguments, code=1)
        expect("not of this script" in said, f"a foreign hook is not named: {said}")
        expect(hook.read_text(encoding="utf-8") == foreign, "a foreign hook is changed")
    copy.run("scripts/install-hooks", "--force", "--no-tidy")
    expect("scripts/check\" --staged --no-tidy" in hook.read_text(encoding="utf-8"), "--force or --no-tidy does nothing")
    copy.run("scripts/install-hooks")
    copy.run("scripts/install-hooks", "--remove")
    expect(hook.read_text(encoding="utf-8") == foreign, "the hook that was there before does not come back")

    shared = copy.folder.parent / "gitconfig"
    shared.write_text(f"[core]\n\thooksPath = {copy.folder.parent}/everyone\n", encoding="utf-8")
    said = copy.run("scripts/install-hooks", code=1, GIT_CONFIG_GLOBAL=str(shared))
    expect("other repositories" in said, f"hooks of all of the user's repositories are changed: {said}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    folder = options.work.resolve() / "copy"
    folder.mkdir(parents=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment.update({"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"})
    for who in ("AUTHOR", "COMMITTER"):
        environment.update({f"GIT_{who}_NAME": "A Tester", f"GIT_{who}_EMAIL": "tester@example.org"})
    copy = copy_of(options.root.resolve(), folder, environment)
    check_commits(copy)
    check_other_checks(copy)
    check_tidy(copy)
    check_worktree(copy)
    check_foreign(copy)
    print("\n\n".join(problems) or "the hook refuses what the checks find, and commits what they do not")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
