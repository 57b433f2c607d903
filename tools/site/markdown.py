"""The Markdown that the documentation is written in, to HTML.

Headings, paragraphs, lists of one level, tables, fenced code, images, links, `code`, **strong** and *emphasis*. Anything else fails with its
line, so that a page cannot look right in one viewer and broken in another. HTML in a page is text, except for comments, which are dropped.
"""
import html
import re

from highlight import highlight

FENCE = re.compile(r"^```(\w*)$")
HEADING = re.compile(r"^(#{1,4}) (.+)$")
ITEM = re.compile(r"^(?:[-*]|\d+\.) +")
RULE = re.compile(r"^\|(?:\s*:?-+:?\s*\|)+$")
FOREIGN = re.compile(r"^(?:>|    \S|#{5,} |\s+(?:[-*]|\d+\.) |(?:---+|===+|\*\*\*+)$)")
INLINE = re.compile(r"(?P<code>`+)(?P<coded>.+?)(?P=code)|!\[(?P<alt>[^\]]*)\]\((?P<image>[^)\s]+)\)"
                    r"|\[(?P<label>(?:`[^`]*`|[^\]`])+)\]\((?P<target>[^)\s]+)\)"
                    r"|\*\*(?P<strong>(?=\S).+?)\*\*|(?<![\w*])\*(?P<emphasis>(?=[^\s*])[^*]+?)\*(?![\w*])", re.S)


class Fault(Exception):
    pass


def slug(title):
    """The anchor of a heading, as GitHub names it."""
    return re.sub(r"[^\w\- ]", "", plain(title).lower()).replace(" ", "-")


def plain(text):
    """Inline Markdown as text."""
    def replace(found):
        if found["coded"] is not None:
            return found["coded"]
        return plain(found["label"] or found["alt"] or found["strong"] or found["emphasis"] or "")
    return INLINE.sub(replace, text)


class Section:
    """What search finds: a heading, or a row of a table that begins with `code`."""

    def __init__(self, title, anchor, level):
        self.title, self.anchor, self.level, self.text = title, anchor, level, []


class Document:
    """One page. `link` turns the target of a link into one of the site; `titles` has those of the files that pages name, {"tools.md": "Tools"}."""

    def __init__(self, text, name, link, titles=None):
        self.name, self.link, self.titles, self.lines, self.at = name, link, titles or {}, text.split("\n"), 0
        self.title, self.sections, self.rows, self.anchors = "", [], [], set()
        self.html = "\n".join(self.blocks())

    def fault(self, what):
        raise Fault(f"{self.name}:{self.at + 1}: {what}: {self.lines[self.at][:80]!r}")

    def anchor(self, wanted):
        name, number = wanted, 1
        while name in self.anchors:
            name, number = f"{wanted}-{number}", number + 1
        self.anchors.add(name)
        return name

    def note(self, text):
        if self.sections:
            self.sections[-1].text.append(plain(text))

    def blocks(self):
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip():
                self.at += 1
            elif line.startswith("<!--"):
                self.comment()
            elif FENCE.match(line):
                yield self.fence()
            elif HEADING.match(line):
                yield self.heading()
            elif line.startswith("|"):
                yield self.table()
            elif FOREIGN.match(line):
                self.fault("the site does not know this Markdown")
            elif ITEM.match(line):
                yield self.items()
            else:
                yield f"<p>{self.inline(self.paragraph())}</p>"

    def comment(self):
        while "-->" not in self.lines[self.at]:
            self.at += 1
            if self.at == len(self.lines):
                self.at -= 1
                self.fault("the comment does not end")
        self.at += 1

    def fence(self):
        language, begin = FENCE.match(self.lines[self.at])[1], self.at
        end = next((i for i in range(begin + 1, len(self.lines)) if self.lines[i] == "```"), None)
        if end is None:
            self.fault("the block does not end")
        self.at = end + 1
        body = "\n".join(self.lines[begin + 1:end])
        if self.sections:
            self.sections[-1].text.append(body)
        return f'<div class="code"><pre tabindex="0"><code>{highlight(body, language)}</code></pre></div>'

    def heading(self):
        marks, title = HEADING.match(self.lines[self.at]).groups()
        self.at += 1
        level, anchor = len(marks), self.anchor(slug(title))
        if level == 1 and not self.title:
            self.title = plain(title)
        self.sections.append(Section(plain(title), anchor, level))
        own = f'<a class="own" href="#{anchor}" aria-label="Link to this heading">#</a>' if level > 1 else ""
        return f'<h{level} id="{anchor}">{self.inline(title)}{own}</h{level}>'

    def paragraph(self):
        begin = self.at
        while self.at < len(self.lines) and self.lines[self.at].strip() and not self.begins_block(self.lines[self.at], self.at > begin):
            self.at += 1
        text = "\n".join(self.lines[begin:self.at])
        self.note(text)
        return text

    def begins_block(self, line, inside):
        return inside and bool(FENCE.match(line) or HEADING.match(line) or ITEM.match(line) or line.startswith(("|", "<!--")))

    def items(self):
        tag = "ol" if self.lines[self.at][0].isdigit() else "ul"
        parts = []
        while self.at < len(self.lines) and ITEM.match(self.lines[self.at]):
            text = [ITEM.sub("", self.lines[self.at])]
            self.at += 1
            while self.at < len(self.lines) and self.lines[self.at].startswith("  "):
                if FOREIGN.match(self.lines[self.at].replace("    ", "  ")):
                    self.fault("the site does not know lists in lists")
                text.append(self.lines[self.at].strip())
                self.at += 1
            self.note("\n".join(text))
            parts.append(f"<li>{self.inline(chr(10).join(text))}</li>")
        return f"<{tag}>{''.join(parts)}</{tag}>"

    def cells(self, line):
        inner = line.strip()
        if not inner.endswith("|") or inner.endswith("\\|"):
            self.fault("the row does not end with a bar")
        return [cell.strip() for cell in re.split(r"(?<!\\)\|", inner[1:-1])]

    def table(self):
        head = self.cells(self.lines[self.at])
        self.at += 1
        if self.at == len(self.lines) or not RULE.match(self.lines[self.at]):
            self.at -= 1
            self.fault("a table needs a head and a line of dashes")
        self.at += 1
        # A table of three columns or more becomes a list on a narrow screen; the roles keep it a table for those who listen.
        listed = len(head) > 2
        table, row, cell_role, group = (' class="listed" role="table"', ' role="row"', ' role="cell"', ' role="rowgroup"') if listed else ("",) * 4
        heads = [f' data-head="{html.escape(plain(cell))}"' if listed and i > 0 and cell else "" for i, cell in enumerate(head)]
        out = [f'<div class="table" tabindex="0"><table{table}>']
        if any(head):
            role = ' role="columnheader"' if listed else ""
            cells = "".join(f'<th scope="col"{role}>{self.cell(cell)}</th>' if cell else f"<td{cell_role}></td>" for cell in head)
            out.append(f"<thead{group}><tr{row}>{cells}</tr></thead>")
        out.append(f"<tbody{group}>")
        while self.at < len(self.lines) and self.lines[self.at].startswith("|"):
            cells = self.cells(self.lines[self.at])
            if len(cells) != len(head):
                self.fault(f"the row has {len(cells)} cells, the head {len(head)}")
            inner = "".join(f"<td{cell_role}{head}>{self.cell(cell)}</td>" for cell, head in zip(cells, heads))
            out.append(f"<tr{row}{self.row(cells)}>{inner}</tr>")
            self.at += 1
        return "".join(out) + "</tbody></table></div>"

    def cell(self, text):
        return self.inline(text.replace("\\|", "|"))

    def row(self, cells):
        """A row that begins with `code` has an address, and search finds it."""
        cells = [cell.replace("\\|", "|") for cell in cells]
        found = re.match(r"`([^`]+)`", cells[0])
        self.note(" ".join(cells))
        if not found or not self.sections:
            return ""
        above = self.sections[-1]
        name = re.sub(r"[^\w.\-]+", "-", found[1]).strip("-") or "row"
        anchor = self.anchor(name if above.level == 1 else f"{above.anchor}.{name}")
        row = Section(plain(cells[0]), anchor, 9)
        row.text.append(" ".join(plain(cell) for cell in cells[1:]))
        row.above = above.title
        self.rows.append(row)
        return f' id="{anchor}"'

    def inline(self, text):
        out, at = [], 0
        for found in INLINE.finditer(text):
            out.append(self.prose(text[at:found.start()]))
            out.append(self.span(found))
            at = found.end()
        return "".join(out) + self.prose(text[at:])

    def prose(self, text):
        """Text in which the name of a page's file, such as tools.md, is a link with the page's title."""
        def replace(found):
            title = self.titles.get(found[0])
            return f'<a href="{html.escape(self.link(found[0]))}">{html.escape(title)}</a>' if title else found[0]
        return re.sub(r"(?<![\w/.-])[a-z]+\.md\b", replace, html.escape(text, quote=False))

    def span(self, found):
        if found["coded"] is not None:
            short = ' class="short"' if len(found["coded"]) <= 24 else ""  # not broken inside a table
            return f"<code{short}>{html.escape(found['coded'], quote=False)}</code>"
        if found["image"]:
            return f'<img src="{html.escape(self.link(found["image"]))}" alt="{html.escape(found["alt"])}" loading="lazy">'
        if found["strong"]:
            return f"<strong>{self.inline(found['strong'])}</strong>"
        if found["emphasis"]:
            return f"<em>{self.inline(found['emphasis'])}</em>"
        label = self.titles.get(found["label"])
        label = self.label(found["label"]) if label is None else html.escape(label)
        return f'<a href="{html.escape(self.link(found["target"]))}">{label}</a>'

    def label(self, text):
        titles, self.titles = self.titles, {}  # a link has no links inside
        made, self.titles = self.inline(text), titles
        return made
