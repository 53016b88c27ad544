"""The site that scripts/site builds is whole: every link leads to a file and an anchor of it, no page asks another host for
anything, and the Markdown became what it is meant to be.

    check_site.py --root REPOSITORY --work FOLDER

Where mkdocs-material is not installed nothing is tested (exit code 77), and a line says so.
"""

import argparse
import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

NOT_INSTALLED = 77
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src", "object": "data"}
# What a browser reads as text where the Markdown was to be a list, a table, a block, a link or an anchor.
UNREAD = re.compile(r"^\s*(?:- |1\. |\||```)|\]\(|<a id=", re.MULTILINE)


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.anchors, self.unread, self.inside = [], [], set(), [], []
        self.before = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if values.get(LOADED.get(tag)) and values.get("rel") not in ("next", "prev", "canonical"):
            self.loaded.append(values[LOADED[tag]])
        self.before = "" if tag == "p" else "x"  # of the line on which the next text is
        if tag in ("p", "code", "pre"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if tag in self.inside:
            self.inside.reverse()
            self.inside.remove(tag)
            self.inside.reverse()

    def handle_data(self, data):
        if self.inside and self.inside[-1] == "p" and UNREAD.search(self.before + data):
            self.unread.append(data.strip())


def faults(folder):
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in sorted(folder.rglob("*.html"))}
    for file, page in pages.items():
        where = file.relative_to(folder)
        for link in page.links + page.loaded:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    yield f"{where}: loads {link}"
                continue
            if where.name == "404.html":  # is shown at any address
                continue
            target = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.is_file():
                yield f"{where}: no file for {link}"
            elif anchor and target in pages and anchor not in pages[target].anchors and anchor != "__search":
                yield f"{where}: no anchor for {link}"
        for text in page.unread:
            yield f"{where}: is shown as text: {text}"
    for file in sorted(folder.rglob("*.css")):
        for link in re.findall(r"url\(['\"]?(https?:[^)]*)|@import\s+['\"]?(http[^;]*)", file.read_text(encoding="utf-8")):
            yield f"{file.relative_to(folder)}: loads {''.join(link)}"


def undescribed(root, site):
    """Functions and structs of public headers that their pages do not have."""
    for header in [*(root / "runtime-loader/include/adrt").glob("*.h"), *(root / "include/adc").glob("*.h")]:
        page = site / "repository" / header.relative_to(root).with_name(header.name + ".html")
        if not page.is_file():
            yield f"{header.name}: has no page"
            continue
        shown = " ".join(re.findall(r"<h3 [^>]*>(.*?)</h3>", page.read_text(encoding="utf-8")))
        text = header.read_text(encoding="utf-8")
        for name in re.findall(r"^(?:ADRT_API|ADC_API)[^;(]*?\b(\w+)\(|^typedef struct (\w+) \{", text, re.MULTILINE):
            if not re.search(rf"\b{''.join(name)}\b", shown):
                yield f"{page.name}: does not describe {''.join(name)}"


def check_that_faults_are_found(folder):
    """One fault of each kind on a page of our own."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "page.html").write_text('<h1 id="top">x</h1><a href="page.html#top">a</a><a href="gone.html">b</a><a href="#gone">c</a>'
                                      '<img src="https://example.org/x.png"><p>text\n- no list</p><p><code>- code</code></p>',
                                      encoding="utf-8")
    (folder / "page.css").write_text("@import 'https://example.org/x.css';", encoding="utf-8")
    found = list(faults(folder))
    if len(found) != 5:
        sys.exit("of 5 planted faults these are found:\n" + "\n".join(found))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    check_that_faults_are_found(options.work / "planted")
    site = options.work.resolve() / "site"
    built = subprocess.run([sys.executable, options.root / "scripts/site", "--output", site], text=True, check=False,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(built.stdout, end="")
    if built.returncode != 0:
        return NOT_INSTALLED if built.returncode == NOT_INSTALLED else 1
    missing = [page for page in (options.root / "docs").rglob("*.md")
               if not (site / page.relative_to(options.root / "docs")).with_name(
                   "index.html" if page.name == "README.md" else page.stem + ".html").is_file()]
    wrong = [f"{page}: has no page" for page in missing] + list(faults(site)) + list(undescribed(options.root, site))
    count = len(list(site.rglob("*.html")))
    print("\n".join(wrong + [f"{count} pages, {len(wrong)} faults"]))
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
