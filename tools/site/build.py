#!/usr/bin/env python3
"""Builds the documentation as a static site: build.py [FOLDER]. The default is build/site.

The site has no dependencies: it works from any static server and from file://, asks no other origin for anything, and can be read without
scripts. Search runs in the page, over search-index.js. Pages come from Markdown (markdown.py says which), the reference of the library
from the public headers (headers.py), the sidebar from docs/README.md.
"""
import html
import json
import os
import pathlib
import re
import shutil
import sys

import headers
from markdown import Document, Fault, plain

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
INCLUDE = ROOT / "include/callgate"
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
VERSION = re.search(r'"([\d.]+)"', (INCLUDE / "version.h").read_text(encoding="utf-8"))[1]


def pages():
    """Where each source file goes: {path in the repository: path in the site}."""
    found = {"README.md": "index.html", "docs/README.md": "docs.html"}
    for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        found[name] = name.lower().replace(".md", ".html")
    found["contrib/README.md"] = "contrib.html"
    for path in sorted((ROOT / "docs").glob("*.md")):
        found.setdefault(f"docs/{path.name}", path.stem + ".html")
    for path in sorted((ROOT / "docs/adr").glob("*.md")):
        found[f"docs/adr/{path.name}"] = f"adr/{path.stem}.html"
    for path in sorted(INCLUDE.glob("*.h")):
        found[f"include/callgate/{path.name}"] = f"api/{headers.page_name(path.name)}"
    return found


class Site:
    def __init__(self, out):
        self.out, self.pages, self.entries = out, pages(), []
        self.pages |= {"docs/adr": "adr/index.html", "include/callgate": "api/index.html", "contrib": "contrib.html", "docs": "docs.html"}
        self.images = {f"docs/images/{path.name}": f"images/{path.name}" for path in (ROOT / "docs/images").iterdir()}
        self.template = (HERE / "page.html").read_text(encoding="utf-8")
        self.sections = self.read_navigation()
        names = {target: os.path.basename(source) for source, target in self.pages.items() if os.path.dirname(source) == "docs"}
        self.titles = {names[page]: label for _, entries in self.sections for label, page in entries if page in names}

    def linker(self, source, target):
        """Links of the page `source`, which becomes `target`, as links of the site. Another origin's stays."""
        def link(to):
            if re.match(r"[a-z]+:", to) or to.startswith("#"):
                return to
            name, _, anchor = to.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(source), name))
            found = self.pages.get(path) or self.images.get(path)
            if found is None:
                raise Fault(f"{source}: the site has no {to}")
            return os.path.relpath(found, os.path.dirname(target)) + (f"#{anchor}" if anchor else "")
        return link

    def read_navigation(self):
        """The sidebar, [(title, [(label, page)])], as docs/README.md is organised. A link into the middle of a page is not repeated."""
        sections, seen = [("", [("Overview", "index.html"), ("All pages", "docs.html")])], set()
        for line in (ROOT / "docs/README.md").read_text(encoding="utf-8").split("\n"):
            if line.startswith("## "):
                sections.append((line[3:], []))
            for label, target in LINK.findall(line):
                page = self.pages.get(os.path.normpath(os.path.join("docs", target)))
                if page and page not in seen and len(sections) > 1:
                    seen.add(page)
                    sections[-1][1].append((plain(label), page))
        return sections

    def sidebar(self, target):
        folder, out = os.path.dirname(target), []
        for title, entries in self.sections:
            links = []
            for label, page in entries:
                here = page == target or (page.endswith("/index.html") and os.path.dirname(page) == folder)
                current = ' aria-current="page"' if page == target else ' aria-current="true"' if here else ""
                links.append(f'<li><a href="{os.path.relpath(page, folder)}"{current}>{html.escape(label)}</a></li>')
            head = f"<h2>{html.escape(title)}</h2>" if title else ""
            out.append(f"{head}<ul>{''.join(links)}</ul>")
        return "".join(out)

    def contents(self, document):
        inner = [section for section in document.sections if section.level in (2, 3)]
        if len(inner) < 2:
            return ""
        links = "".join(f'<li class="level{section.level}"><a href="#{section.anchor}">{html.escape(section.title)}</a></li>' for section in inner)
        return f'<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>{links}</ul></nav>'

    def neighbours(self, target):
        flat = [entry for _, entries in self.sections for entry in entries]
        at = next((i for i, (_, page) in enumerate(flat) if page == target), None)
        if at is None:
            return ""
        out = []
        for word, rel, i in (("Previous", "prev", at - 1), ("Next", "next", at + 1)):
            if 0 <= i < len(flat):
                label, page = flat[i]
                out.append(f'<a rel="{rel}" href="{os.path.relpath(page, os.path.dirname(target))}"><span>{word}</span>{html.escape(label)}</a>')
        return f'<nav class="neighbours" aria-label="Neighbouring pages">{"".join(out)}</nav>'

    def write(self, target, document, source):
        path = self.out / target
        path.parent.mkdir(parents=True, exist_ok=True)
        top = os.path.relpath(".", os.path.dirname(target))
        title = document.title if target == "index.html" else f"{document.title} · Callgate"
        values = {"title": html.escape(title), "top": "" if top == "." else top + "/", "version": VERSION, "sidebar": self.sidebar(target),
                  "contents": self.contents(document), "body": document.html, "neighbours": self.neighbours(target),
                  "source": html.escape(source), "page": html.escape(target)}
        path.write_text(re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], self.template), encoding="utf-8")
        self.add_to_search(target, document)

    def add_to_search(self, target, document):
        """One entry for each heading, and one for each row of a table that begins with `code`: page, anchor, title, above it, text."""
        for section in document.sections + document.rows:
            above = getattr(section, "above", None) or (document.title if section.level > 1 else "")
            text = " ".join(" ".join(section.text).split())
            where = target if section.level == 1 else f"{target}#{section.anchor}"
            self.entries.append([where, section.title, above if section.level == 9 else "", document.title, text, section.level])

    def list_page(self, target, title, intro, links):
        """A page that lists others, which no source file has."""
        rows = "\n".join(f"- [{label}]({to}){': ' + about if about else ''}" for label, to, about in links)
        self.write(target, Document(f"# {title}\n\n{intro}\n\n{rows}\n", target, lambda to: to), "")

    def build(self):
        shutil.rmtree(self.out, ignore_errors=True)
        known = {name: where for name, where in headers.index(INCLUDE).items() if name[0].isupper() or name.startswith("callgate_")}
        decisions, reference = [], []
        for source, target in self.pages.items():
            path, link = ROOT / source, self.linker(source, target)
            if path.is_dir():
                continue
            if path.suffix == ".h":
                document = headers.page(path, known, link)
                about = headers.reflowed(headers.read(path)[0]).split(". ")[0].split(": ")
                reference.append((f"`{path.name}`", os.path.basename(target), plain(about[-1]).rstrip(".").replace("\n", " ")))
            else:
                document = Document(path.read_text(encoding="utf-8"), source, link, self.titles if source.startswith("docs/") and source.count("/") == 1 else None)
                if source.startswith("docs/adr/"):
                    decisions.append((document.title, os.path.basename(target), ""))
            self.write(target, document, source)
        self.list_page("adr/index.html", "Decisions", "Why things are as they are, one decision to a page, in the order in which they were made.", decisions)
        self.list_page("api/index.html", "Library reference", "Every public header, from its own comments. [Library](../library.html) has the first steps.", reference)
        self.write_assets()

    def write_assets(self):
        for name in ("site.css", "site.js", "search.js", "theme.js"):
            shutil.copy(HERE / name, self.out / name)
        shutil.copy(ROOT / "web/icon.svg", self.out / "icon.svg")
        (self.out / "images").mkdir()
        for source, target in self.images.items():
            shutil.copy(ROOT / source, self.out / target)
        entries = ",\n".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in self.entries)
        (self.out / "search-index.js").write_text(f"window.callgate_search_index = [\n{entries}\n];\n", encoding="utf-8")


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/site")
    site = Site(out)
    try:
        site.build()
    except Fault as fault:
        print(fault, file=sys.stderr)
        return 1
    print(f"{out}: {sum(1 for _ in out.rglob('*.html'))} pages, {len(site.entries)} entries for search; open {out}/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
