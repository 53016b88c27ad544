"""A header of C as a page of the site: its comments as text, what they stand in front of as code.

A comment that begins a line belongs to the declarations below it, up to an empty line or to the next such comment. The first one is
about the header, and a ruler, `/* ------ host */`, begins a section.
"""

import re

# What is no declaration.
FRAME = re.compile(r'#(?!define \w+\S* )|extern "C"|\}$')
RULER = re.compile(r"/\* -{10,} (.+) \*/")
NAMES = (re.compile(r"^typedef (?:struct|enum) (\w+) \{", re.M), re.compile(r"^(?!typedef|#)\w[^\n;{(]*?\b(\w+)\(", re.M),
         re.compile(r"^typedef [^;(]*?(\w+);", re.M), re.compile(r"^#define (\w+)", re.M), re.compile(r"^typedef [^;(]*\(\*(\w+)\)", re.M))
# The body of a function.
BODY = re.compile(r"^(?!typedef|extern|enum|#)(\w[^\n;{]*(?:\n[^\n;{]+)*\)) \{\n.*?^\}$", re.M | re.S)
WORD = re.compile(r"\b[A-Za-z]\w*_\w+(?:\.\w+)*(?:\(\))?\*?")


def chunks(text):
    """(comment, declarations) in the order of the header, each of which may be empty; of a ruler its title and None."""
    lines, at = text.split("\n"), 0
    while at < len(lines):
        ruler, first, comment = RULER.fullmatch(lines[at]), at, ""
        if ruler:
            at += 1
            yield ruler[1], None
            continue
        if lines[at].startswith("/*"):
            while not lines[at].rstrip().endswith("*/"):
                at += 1
            at += 1
            comment = "\n".join(lines[first:at])
        depth, declarations = 0, []
        while at < len(lines) and (depth > 0 or (lines[at] and not lines[at].startswith("/*"))):
            code = re.sub(r"/\*.*?\*/|/\*.*", "", lines[at])
            if depth > 0 or not FRAME.match(lines[at]):
                declarations.append(lines[at])
                depth += code.count("{") - code.count("}")
            at += 1
        if comment or declarations:
            yield comment, "\n".join(declarations)
        elif at < len(lines) and not lines[at]:
            at += 1


def prose(comment):
    """The text of a comment: what stands three blanks further in is code."""
    lines = [re.sub(r"^(?:/\*| \*(?=/| |$))", "", line) for line in comment.removesuffix("*/").split("\n")]
    paragraphs, code = [], False
    for line in lines:
        is_code = line.startswith("    ") or (line.startswith("   ") and code)
        if not line.strip():
            paragraphs.append("")
        elif is_code != code or not paragraphs or not paragraphs[-1]:
            paragraphs.append(f"    {line.strip()}" if is_code else line.strip())
        else:
            paragraphs[-1] += f"\n    {line.strip()}" if is_code else f" {line.strip()}"
        code = is_code
    marked = [text if text.startswith("    ") else WORD.sub(r"`\g<0>`", text.replace("*", "\\*")).replace("\\*`", "*`") for text in paragraphs]
    return "\n\n".join(text for text in marked if text)


def title_of(declarations):
    """The names that declarations give, or an empty text."""
    for pattern in NAMES:
        names = dict.fromkeys(pattern.findall(declarations))
        if names:
            return ", ".join(names)
    return ""


def header_page(path, text):
    parts, is_first = [f"# {path.rsplit('/', 1)[-1]}"], True
    for comment, declarations in chunks(BODY.sub(r"\1;", text)):
        if declarations is None:
            parts.append(f"## {comment[0].upper()}{comment[1:]}")
            continue
        title = title_of(declarations) if declarations and not is_first else ""
        if title:
            parts.append(f"### {title}")
        if comment:
            parts.append(prose(comment))
        if declarations:
            parts.append(f"```c\n{declarations}\n```")
        is_first = False
    return "\n\n".join(parts) + "\n"
