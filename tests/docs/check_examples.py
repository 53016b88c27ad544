"""An example for each message of adc is what happens: runs those of lib/diag/errors/examples.txt, which docs/errors.md and `adc explain` show.

    check_examples.py --adc ADC --root REPOSITORY --work FOLDER [--write] [ID...]

A heading `== E0107` is followed by commands as in docs/*.md, in a folder of their own: `$ cat FILE` writes what stands below it into FILE,
any other `$ command` runs, and what stands below is what it prints. The messages that an example prints are all of its id.
What is right instead is one of these:
- a line `// right: TEXT` of a file. With TEXT in place of the line above, the same commands succeed, without the message. Several such lines
  take the place of one line;
- commands after the one that prints the message. They succeed, without the message.
An id without an example has a line `== E0201: reason`. --write puts what the commands print into the file.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

from check_docs import as_shown, commands, join_continued

HEADING = re.compile(r"== ([EW]\d{4})(?:: (.+))?")
TOLD = re.compile(r"(?:error|warning|remark): .*\[([EW]\d{4})\]|\"id\":\"([EW]\d{4})\"")
RIGHT = re.compile(r"\s*// right: (.*)")


def catalogue(root):
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((root / "lib/diag/errors").glob("*.def")))
    return sorted(re.findall(r"^ADC_ERROR\((\w+),", text, re.M))


def examples(text):
    """(id, reason why there is no example or None, lines) of every heading."""
    found = []
    for line in text.rstrip("\n").split("\n"):
        heading = HEADING.fullmatch(line)
        if heading:
            found.append((heading[1], heading[2], []))
        else:
            found[-1][2].append(line)
    return found


def corrected(lines):
    """The lines of a file as they are right, or the same lines."""
    result, replaces = [], False
    for line in lines:
        right = RIGHT.fullmatch(line)
        if right is None:
            result.append(line)
            replaces = True
            continue
        if replaces:
            result.pop()
            replaces = False
        result.append(right[1])
    return result


def run(listed, folder, adc, change=lambda lines: lines):
    """(command, shown, printed, exit code) of each command; those that write a file print nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = dict(os.environ, PATH=f"{adc.parent}:{os.environ['PATH']}", NO_COLOR="1", LC_ALL="C")
    ran = []
    for command, shown in listed:
        if command.startswith("cat "):
            (folder / command.split()[1]).write_text("\n".join(change(shown)) + "\n", encoding="utf-8")
            continue
        result = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, text=True, check=False, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, errors="replace")
        printed = [line.rstrip() for line in result.stdout.rstrip("\n").split("\n")] if result.stdout.strip() else []
        ran.append((command, shown, printed, result.returncode))
    return ran


def ids(printed):
    return {one or other for one, other in TOLD.findall("\n".join(printed))}


def check_example(name, lines, folder, adc):
    """Which outputs differ from those shown, what else is wrong with one example, and its lines with what its commands print."""
    listed = commands(lines)
    ran = run(listed, folder, adc)
    differs = [f"'{command}' prints\n" + "\n".join(printed) + "\nand not\n" + "\n".join(shown)
               for command, shown, printed, _ in ran if not as_shown(join_continued(shown), printed)]
    wrong = []
    told = set().union(*(ids(printed) for _, _, printed, _ in ran))
    if told != {name}:
        wrong.append(f"reports {', '.join(sorted(told)) or 'nothing'}")
    telling = [n for n, (_, _, printed, _) in enumerate(ran) if name in ids(printed)]
    for command, _, printed, code in ran[telling[-1] + 1 if telling else 0:]:
        if code != 0:
            wrong.append(f"'{command}', which is to be right, ends with {code}:\n" + "\n".join(printed))
    if any(RIGHT.fullmatch(line) for line in lines):
        for command, _, printed, code in run(listed, folder, adc, corrected):
            if code != 0 or ids(printed):
                wrong.append(f"'{command}', written right, ends with {code}:\n" + "\n".join(printed))
    outputs = iter([printed for _, _, printed, _ in ran])
    now = []
    for command, shown in listed:
        now += ["$ " + command, *(shown if command.startswith("cat ") or as_shown(join_continued(shown), printed := next(outputs)) else printed)]
    return differs, wrong, now


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--adc", type=pathlib.Path, required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("ids", nargs="*")
    options = parser.parse_args()
    options.adc = options.adc.absolute()
    file = options.root / "lib/diag/errors/examples.txt"
    found = examples(file.read_text(encoding="utf-8"))
    wrong = []
    names, known = [name for name, _, _ in found], catalogue(options.root)
    if names != known:
        wrong.append("not one heading for each id, in order: " + ", ".join(
            sorted(set(names) ^ set(known)) or [name for name, other in zip(names, known) if name != other]))
    wrong += [f"{name}: neither a reason nor an example" for name, reason, lines in found if (reason is None) != bool(lines)]
    chosen = [(name, lines) for name, _, lines in found if lines and (not options.ids or name in options.ids)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = dict(zip([name for name, _ in chosen],
                           pool.map(lambda one: check_example(*one, options.work / one[0], options.adc), chosen)))
    wrong += [f"{name}: {text}" for name, (differs, texts, _) in results.items()
              for text in ([] if options.write else differs) + texts]
    if options.write:
        text = ""
        for name, reason, lines in found:
            text += "\n".join([f"== {name}" + (f": {reason}" if reason else ""), *(results[name][2] if name in results else lines)]) + "\n"
        file.write_text(text, encoding="utf-8")
    print("\n\n".join(wrong + [f"{len(chosen)} examples, {len(wrong)} mistakes"]))
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
