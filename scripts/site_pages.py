"""A hook of mkdocs (mkdocs.yml): the site has what the pages of docs/ link to outside of docs/, and reads our Markdown.

- README.md is the first page.
- A file outside of docs/ that a page links to is a page `repository/PATH`: Markdown as it is, public headers as reference (header_page.py),
  other text as code. A
  folder is a page with a link to each file in it. Links point there.
- Python's Markdown reads our pages as CommonMark does, by which repositories show them: lists nest by two blanks; a block's
  language is the first word behind ```; `<` is text; in tables the code `\\|` is `|`.
"""

import pathlib
import posixpath
import re
import sys

from markdown.blockprocessors import build_block_parser
from markdown.extensions import Extension
from mkdocs.structure.files import File, InclusionLevel

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from header_page import header_page  # pylint: disable=wrong-import-position
LINK = re.compile(r"(?<=\]\()([^()\s#:]+)(?=(?:#[^()\s]*)?\))")
LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".cmake": "cmake", ".glsl": "glsl",
             ".hlsl": "hlsl", ".comp": "glsl", ".ipynb": "json", ".json": "json", ".sh": "sh"}
FENCE = re.compile(r"( *)(`{3,})(\S*)")
ANCHOR = re.compile(r'(<a id="[\w-]+"></a>)')
CODE = re.compile(r"(`+[^`]+`+)")
HEADER = re.compile(r"runtime-loader/include/adrt/\w+\.h|include/adc/\w+\.h")
LARGEST = 200_000  # bytes of a file that is shown
NOT_SEARCHED = "---\nsearch:\n  exclude: true\n---\n"


class ListsByTwo(Extension):
    def extendMarkdown(self, md):
        md.tab_length = 2
        md.parser = build_block_parser(md)


def place(path):
    """Where the site has a file of the repository, which is named relative to the root."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"repository/{path}" if path.endswith(".md") else f"repository/{path}.md"


def linked(text, path):
    """What the text of the file `path` links to: (link, file of the repository). Of a folder that is its README.md,
    which need not exist."""
    for link in LINK.findall(text):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
        if (ROOT / target).is_dir():
            target += "/README.md"
        elif not (ROOT / target).exists():
            continue
        if not target.startswith("."):
            yield link, target


def folder_text(path):
    """The README.md of a folder, and links to the folder's files."""
    readme, folder = ROOT / path, (ROOT / path).parent
    text = readme.read_text(encoding="utf-8") if readme.exists() else f"# {posixpath.dirname(path)}\n"
    names = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith((".", "__")) and entry != readme)
    return text + "\n## Files\n\n" + "".join(f"- [{name}]({name})\n" for name in names)


def file_text(path):
    """A file as code; a public header with its comments as text."""
    file = ROOT / path
    if HEADER.fullmatch(path):
        return header_page(path, file.read_text(encoding="utf-8"))
    try:
        text = file.read_text(encoding="utf-8") if file.stat().st_size <= LARGEST else None
    except UnicodeDecodeError:
        text = None
    language = "cmake" if file.name == "CMakeLists.txt" else LANGUAGES.get(file.suffix, "text")
    fence = "`" * 12
    shown = f"{file.stat().st_size} bytes, which are not shown.\n" if text is None else f"{fence}{language}\n{text}\n{fence}\n"
    return f"{NOT_SEARCHED}# {path}\n\n{shown}"


def repository_text(path):
    if posixpath.basename(path) == "README.md" and path != "README.md":
        return folder_text(path)
    return (ROOT / path).read_text(encoding="utf-8") if path.endswith(".md") else file_text(path)


def with_links_of_site(text, path):
    """The text of `path`, its links to files of the repository led to their places in the site."""
    here = posixpath.dirname(place(path)) or "."
    moved = {link: posixpath.relpath(place(target), here) for link, target in linked(text, path)}
    return LINK.sub(lambda found: moved.get(found.group(1), found.group(1)), text)


def as_text(piece):
    """`<` is text, but in comments and anchors."""
    parts = ANCHOR.split(piece)
    parts[::2] = [re.sub(r"<(?!!--)", "&lt;", part) for part in parts[::2]]
    return "".join(parts)


def as_python_reads(text):
    """The text in the form that Python's Markdown reads as CommonMark reads this one."""
    lines, fence = [], None
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if fence is None and mark:
            fence = mark.group(2)
            line = mark.group(1) + fence + mark.group(3)
        elif fence is not None:
            fence = None if line.strip() == fence else fence
        else:
            pieces = CODE.split(line)  # text and code, in turn
            pieces[::2] = [as_text(piece) for piece in pieces[::2]]
            if line.startswith("|"):
                pieces[1::2] = [piece.replace("\\|", "|") for piece in pieces[1::2]]
            line = "".join(pieces)
        lines.append(line)
    return "\n".join(lines)


def on_config(config):
    config.markdown_extensions.insert(0, ListsByTwo())
    return config


def on_files(files, config):
    """Adds README.md, and what can be reached from it and from docs/ by links."""
    texts = {"README.md": repository_text("README.md")}
    for file in files.documentation_pages():
        texts[f"docs/{file.src_uri}"] = file.content_string
    waiting = list(texts)
    while waiting:
        path = waiting.pop()
        for _, target in linked(texts[path], path):
            if target not in texts and not target.startswith("docs/"):
                texts[target] = repository_text(target)
                waiting.append(target)
    for path, text in texts.items():
        if not path.startswith("docs/"):
            in_nav = place(path) in str(config.nav)
            files.append(File.generated(config, place(path), content=as_python_reads(with_links_of_site(text, path)),
                                        inclusion=InclusionLevel.INCLUDED if in_nav else InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown, page, **_):
    is_ours = page.file.generated_by is None
    return as_python_reads(with_links_of_site(markdown, f"docs/{page.file.src_uri}")) if is_ours else markdown
