"""The reference of the library, from the comments and declarations of its public headers.

A header begins with a comment that says what it is. Every declaration at namespace level becomes an entry: its name, the comment above it,
and the code as it stands, without private members. A function without a comment directly below another one shares its entry.
"""
import re

from highlight import highlight
from markdown import Document, Section

SKIPPED = re.compile(r"^(#|namespace [\w:]+ \{$|\}(?:  // namespace.*)?$|extern \"C\" \{$)")
TYPE = re.compile(r"^(?:typedef )?(struct|class|enum(?: class)?|union)\s+(\w+)")
TAIL = re.compile(r"\s*//.*$")
C_LINKAGE = "CALLGATE_API "


class Entry:
    def __init__(self, comment):
        self.comment, self.code, self.names, self.kind = comment, [], [], ""


def reflowed(comment):
    """Comment lines as Markdown: an indented line is code, the rest is prose."""
    out, code = [], False
    for line in comment:
        text = line.strip()[2:]
        indented = text.startswith("   ")
        if indented != code and (text.strip() or not code):
            out.append("```cpp" if indented else "```")
            code = indented
        out.append(text[3:] if indented else text.strip())
    if code:
        out.append("```")
    return re.sub(r"\n+```$", "\n```", "\n".join(out), flags=re.M)


def declarations(lines):
    """(comment, code lines, whether a blank line came before) for every declaration at namespace level."""
    comment, code, depth, blank = [], [], 0, True
    for line in lines:
        if not code:
            if not line.strip():
                comment, blank = [], True
                continue
            if line.startswith("//"):
                comment.append(line)
                continue
            if SKIPPED.match(line):
                comment = []
                continue
        code.append(line)
        bare = TAIL.sub("", line)
        depth += bare.count("{") + bare.count("(") - bare.count("}") - bare.count(")")
        if depth == 0 and bare.rstrip().endswith((";", "}")):
            yield comment, code, blank
            comment, code, blank = [], [], False


def name_of(code):
    text = " ".join(TAIL.sub("", line).strip() for line in code if not line.strip().startswith("//"))
    text = re.sub(r"^template <[^>]*>\s*", "", text.replace(C_LINKAGE, ""))
    if found := re.match(r"using (\w+) =", text):
        return "type", found[1]
    if (found := TYPE.match(text)) and ("{" in text or text.count(" ") <= 3):
        return found[1].split()[0], found[2]
    if found := re.search(r"(\w+)\(", text):
        return "function", found[1]
    found = re.search(r"(\w+)(?:\[\])?\s*(?:=|;)", text)
    return ("constant", found[1]) if found else ("", "")


def shown(code, kind):
    """Code for readers: without export marks and private members, and a long declaration of a function with a line for each parameter."""
    code = [line.replace(C_LINKAGE, "") for line in without_private(list(code))]
    if kind != "function" or any("//" in line or "{" in line for line in code):
        return code
    text = " ".join(" ".join(code).split())
    if len(text) <= 80:
        return [text]
    head, inside = text.split("(", 1)
    inside, tail = inside.rsplit(")", 1)
    return [head + "("] + [f"    {one}," for one in inside.split(", ")[:-1]] + [f"    {inside.split(', ')[-1]}){tail}"]


def without_private(code):
    """A class as its users see it."""
    for at, line in enumerate(code):
        if line.strip() == "private:":
            end = next((i for i in range(at + 1, len(code)) if re.match(r"^\s*public:", code[i])), len(code) - 1)
            return without_private(code[:at] + code[end:])
    while len(code) > 2 and not code[-2].strip():
        del code[-2]
    return code


def read(path):
    """The comment that begins the header, and its entries."""
    lines = path.read_text(encoding="utf-8").split("\n")
    end = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    entries = []
    for comment, code, blank in declarations(lines[end:]):
        kind, name = name_of(code)
        if not name:
            continue
        again = entries and name in entries[-1].names  # a forward declaration, or a deduction guide
        if not (again or (entries and not comment and not blank and kind == entries[-1].kind == "function")):
            entries.append(Entry(comment))
            entries[-1].kind = kind
        entry = entries[-1]
        entry.code += shown(code, kind)
        if name not in entry.names:
            entry.names.append(name)
    return lines[:end], entries


def index(folder):
    """Where each name of the library is explained: {name: (header, anchor)}."""
    found = {}
    for path in sorted(folder.glob("*.h")):
        for entry in read(path)[1]:
            for name in entry.names:
                found.setdefault(name, (path.name, anchor(entry)))
    return found


def anchor(entry):
    return entry.names[0]


def page_name(header):
    return header.removesuffix(".h") + ".html"


def page(path, known, link):
    """A Document of the header's reference. Names of the library inside code lead to their entries."""
    intro, entries = read(path)
    document = Document(f"# callgate/{path.name}\n\n{reflowed(intro)}\n", str(path.name), link)
    parts = [document.html]
    for entry in entries:
        def target(word, own=anchor(entry)):
            header, where = known.get(word, (None, None))
            return None if header is None or where == own else f"{page_name(header)}#{where}"
        title, where = ", ".join(entry.names), document.anchor(anchor(entry))
        section = Section(title, where, 2)
        section.text.append(" ".join(line.strip().lstrip("/ ") for line in entry.comment + entry.code))
        document.sections.append(section)
        parts.append(f'<h2 id="{where}" class="entry"><code>{title}</code><span class="kind">{entry.kind}</span>'
                     f'<a class="own" href="#{where}" aria-label="Link to this heading">#</a></h2>')
        if entry.comment:
            parts.append(Document(reflowed(entry.comment), path.name, link).html)
        parts.append(f'<div class="code"><pre tabindex="0"><code>{highlight(chr(10).join(entry.code).strip(), "cpp", target)}</code></pre></div>')
    document.html = "\n".join(parts)
    return document
