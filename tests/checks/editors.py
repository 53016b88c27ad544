#!/usr/bin/env python3
"""The grammars in editors/ know every word of the language, and colour a text as they should.

    editors.py --repository ROOT

Words are those that the parser asks for, those of the grammar in docs/ir.md, and the operations. Vim reads its
file where it is installed.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

# Of the grammar of docs/ir.md: components and bases of numbers are no words.
NO_WORDS = set("xyzw")

TEXT = r'''kernel @k(%x.adj: buffer<f32, 1> diff) { // add
  %a = vec.make %x.adj, 0x1F:f64, -2.5e-3, nan
  print "add \" {}\n", %a
  if (gt %g::max[%i], 1) { yield_me }
  %b = %add.x + atomic add %x[], 1.0
}
'''
# (line, column) from 0, and what stands there: the scope of TextMate without ".adc", the group of Vim.
PLACES = [
    ("kernel", "keyword.control", "adcKeyword"),
    ("@k", "entity.name.function", "adcSymbol"),
    ("%x.adj", "variable.other", "adcValue"),
    ("buffer", "storage.type", "adcType"),
    ("f32", "storage.type", "adcType"),
    ("diff", "storage.modifier", "adcAttribute"),
    ("// add", "comment.line.double-slash", "adcComment"),
    ("vec.make", "support.function", "adcOperation"),
    ("0x1F", "constant.numeric", "adcNumber"),
    ("2.5e-3", "constant.numeric", "adcNumber"),
    ("f64", "storage.type", "adcType"),
    ("nan", "constant.language", "adcConstant"),
    ("print", "support.function", "adcOperation"),
    ('"add', "string.quoted.double", "adcString"),
    ("if (", "keyword.control", "adcKeyword"),
    ("gt", "support.function", "adcOperation"),
    ("max[", None, "adcField"),
    ("yield_me", None, ""),
    ("%add.x", "variable.other", "adcValue"),
    ("atomic", "keyword.control", "adcKeyword"),
    ("add %x[]", "support.function", "adcOperation"),
    ("1.0", "constant.numeric", "adcNumber"),
]


def place_of(needle):
    at = TEXT.index(needle)
    return TEXT.count("\n", 0, at), at - (TEXT.rfind("\n", 0, at) + 1)


def words_of_the_language(root):
    page = (root / "docs/ir.md").read_text(encoding="utf-8")
    grammar = page[page.index("## 10. Grammar") :]
    words = set(re.findall(r'"([a-z][a-z_.0-9]*)"', grammar)) - NO_WORDS
    for path in sorted((root / "lib/parse").glob("*.[ch]*")):
        text = path.read_text(encoding="utf-8")
        words |= set(re.findall(r'(?:AcceptWord|IsWord|ExpectWord)\("([a-z_.]+)"\)', text))
        if path.name == "control.cpp":
            words |= set(re.findall(r'(?:text == |\bparse\()"([a-z_]+)"', text))
    for spelling in re.findall(r'^ADC_WORD\(\w+, "([^"]+)", (?!OnCheck)', (root / "lib/ir/words.def").read_text(encoding="utf-8"), re.M):
        words |= set(spelling.split())
    table = (root / "lib/ir/ops.def").read_text(encoding="utf-8")
    operations = re.findall(r'^ADC_OP\(\w+, "([^"]+)"', table, re.M)
    assert len(operations) > 100 and "carry" in words and "unroll" in words, "the words are written in another way now"
    return words, {operation.split()[-1] for operation in operations}


def check_words(root):
    vim = set(re.findall(r"^syn keyword \w+ (\S+)$", (root / "editors/vim/syntax/adc.vim").read_text(), re.M))
    text_mate = json.loads((root / "editors/vscode/syntaxes/adc.tmLanguage.json").read_text())
    known = set()
    for pattern in text_mate["patterns"]:
        for group in re.findall(r"\(\?:([\w.|\\]+)\)", pattern.get("match", "")):
            known |= {word.replace("\\.", ".") for word in group.split("|")}
    words, operations = words_of_the_language(root)
    for name, have in (("vim/syntax/adc.vim", vim), ("vscode/syntaxes/adc.tmLanguage.json", known)):
        missing = sorted((words | operations) - have)
        assert not missing, f"editors/{name} lacks {missing}: add them to lib/parse/keywords.h and run scripts/gen-docs"
    listed = set(re.findall(r'"([a-z_]+)"', (root / "lib/parse/keywords.h").read_text()))
    stale = sorted(listed - words)
    assert not stale, f"lib/parse/keywords.h has {stale}, which the parser does not know"
    print(len(words), "words and", len(operations), "operations")


def scope_at(patterns, line, column):
    """The scope that a reader of TextMate's grammars gives a column: the leftmost match counts, then the first pattern."""
    at = 0
    while at <= column:
        found = []
        for order, pattern in enumerate(patterns):
            match = re.compile(pattern.get("match") or pattern["begin"]).search(line, at)
            if match and match.end() > match.start():
                found.append((match.start(), order, match, pattern))
        if not found:
            return None
        start, _, match, pattern = min(found, key=lambda each: each[:2])
        end = match.end()
        if "begin" in pattern:
            while end < len(line) and line[end] != '"':
                end += 2 if line[end] == "\\" else 1
            end += 1
        if start <= column < end:
            return pattern["name"].removesuffix(".adc")
        at = end
    return None


def check_text_mate(root):
    patterns = json.loads((root / "editors/vscode/syntaxes/adc.tmLanguage.json").read_text())["patterns"]
    lines = TEXT.split("\n")
    for needle, scope, _ in PLACES:
        line, column = place_of(needle)
        found = scope_at(patterns, lines[line], column)
        assert found == scope, f"{needle}: TextMate's grammar says {found}, not {scope}"


def check_vim(root):
    if shutil.which("vim") is None:
        print("NO VIM HERE, ITS SYNTAX FILE IS NOT READ")
        return
    with tempfile.TemporaryDirectory() as folder:
        text, script, out = (pathlib.Path(folder) / name for name in ("text.ir", "script.vim", "out"))
        text.write_text(TEXT)
        asked = "\n".join(
            "call add(out, synIDattr(synID(%d, %d, 1), 'name'))" % (line + 1, column + 1)
            for line, column in (place_of(needle) for needle, _, _ in PLACES)
        )
        script.write_text(
            f"set nocompatible\nset runtimepath^={root}/editors/vim\nfiletype on\nsyntax on\nedit {text}\nsyntax sync fromstart\n"
            f"let out = [&filetype]\n{asked}\ncall writefile(out, '{out}')\nquitall!\n"
        )
        subprocess.run(["vim", "-es", "-u", "NONE", "-i", "NONE", "-S", script], stdin=subprocess.DEVNULL, timeout=60)
        kind, *groups = out.read_text().splitlines()
        if kind == "" :
            print("THIS VIM COLOURS NOTHING, ITS SYNTAX FILE IS NOT READ")
            return
        assert kind == "adc", kind
        for (needle, _, group), found in zip(PLACES, groups, strict=True):
            assert found == group, f"{needle}: Vim says {found!r}, not {group!r}"


def check_code(root):
    """That the extension works: tests/e2e/vscode.py."""
    package = json.loads((root / "editors/vscode/package.json").read_text())
    json.loads((root / "editors/vscode/language-configuration.json").read_text())
    version = re.search(r'kVersion = "([^"]+)"', (root / "lib/product/version.h").read_text()).group(1)
    assert package["version"] == version, "the package has another version than the compiler"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repository", required=True, type=pathlib.Path)
    root = parser.parse_args().repository.resolve()
    check_words(root)
    check_text_mate(root)
    check_vim(root)
    check_code(root)


main()
