#!/usr/bin/env python3
"""Tables of the documentation that the program itself knows: reference.py [--write] CALLGATE.

A line `<!-- generated: SOURCE NAME -->` stands directly above such a table:

  config SECTION   the keys of a section of the configuration, from `callgate config schema`; `top` are those of the top level
  routes TAG       the paths of a group, from GET /openapi.json

The headers in docs/http.md are compared with the source.

Without --write differences are reported, and what is generated must be complete: every section and every group has its table, once.
"""
import json
import pathlib
import re
import subprocess
import sys
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = re.compile(r"^<!-- generated: (?P<source>\w+) (?P<name>[^\n]+?) -->\n(?P<table>(?:\|[^\n]*\n)*)", re.M)


def cell(text):
    return text.replace("|", "\\|")


def config_tables(callgate):
    schema = json.loads(subprocess.run([callgate, "config", "schema"], capture_output=True, text=True, check=True).stdout)
    top, tables = [], {}

    def row(key, field):
        value = field.get("default")
        if isinstance(value, str) and value.isdigit():  # a size
            value = int(value)
        default = f"`{json.dumps(value, ensure_ascii=False)}`" if "default" in field else "none"
        return f"| `{key}` | {cell(default)} | {cell(field['description'])} |"

    for key, field in schema["properties"].items():
        inner = field.get("items", field).get("properties")
        if inner is None:
            top.append(row(key, field))
        else:
            tables["config", key] = [row(name, one) for name, one in inner.items()]
    tables["config", "top"] = top
    return {name: ["| key | default | meaning |", "|---|---|---|", *rows] for name, rows in tables.items()}


def route_tables(openapi):
    tables = {}
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            key = "no" if operation.get("security") == [] else "admin" if "admin" in operation["description"] else "as `metrics` says" if "`metrics`" in operation["description"] else "yes"
            row = f"| `{method.upper()} {path}` | {cell(operation['summary'])} | {key} |"
            tables.setdefault(("routes", operation["tags"][0]), ["| path | what it does | key |", "|---|---|---|"]).append(row)
    return tables


def expected(callgate, url):
    with urllib.request.urlopen(url + "/openapi.json", timeout=60) as answer:
        return config_tables(callgate) | route_tables(json.load(answer))


def check_headers():
    """Every x-callgate-* header of the source has its row in docs/http.md, and the other way round; pages may read what answers have."""
    page = (ROOT / "docs/http.md").read_text(encoding="utf-8")
    rows = {title: re.findall(r"^\| `([a-z-]+)` \|", part, re.M) for title, part in re.findall(r"^## (Headers [^\n]*)\n(.*?)(?=^## |\Z)", page, re.S | re.M)}
    written = set()
    for path in (ROOT / "src").rglob("*.[ch]*"):
        if not re.search(r"_test(?:ing)?\.", path.name):
            written |= set(re.findall(r'"(x-callgate-[a-z-]*[a-z])"', path.read_text(encoding="utf-8")))
    listed = {name for names in rows.values() for name in names if name.startswith("x-callgate-")}
    given = {"x-callgate-" + field for field in ("request-id", "key", "model", "session")}  # to tools: their names are put together
    for name in sorted(written - listed):
        yield f"docs/http.md: {name} has no row"
    for name in sorted(listed - written - given):
        yield f"docs/http.md: nothing in src/ uses {name}"
    exposed = re.findall(r'"([a-z-]+)",', (ROOT / "src/front/answer_headers.h").read_text(encoding="utf-8"))
    if exposed != rows["Headers of an answer"]:
        yield "docs/http.md: `Headers of an answer` differs from src/front/answer_headers.h"


def rewritten(text, tables):
    def replace(found):
        wanted = tables.get((found["source"], found["name"]))
        return found[0] if wanted is None else found[0][:found.start("table") - found.start()] + "\n".join(wanted) + "\n"
    return TABLE.sub(replace, text)


def check(tables, write=False):
    """What differs. With `write` tables are put right, and only what is missing is reported."""
    seen = []
    for path in sorted((ROOT / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for found in TABLE.finditer(text):
            name = (found["source"], found["name"])
            seen.append(name)
            if name not in tables:
                yield f"docs/{path.name}: callgate has no {' '.join(name)}"
            elif not write and found["table"] != "\n".join(tables[name]) + "\n":
                yield f"docs/{path.name}: the table of {' '.join(name)} differs; `tools/reference.py --write CALLGATE` writes it"
        if write:
            path.write_text(rewritten(text, tables), encoding="utf-8")
    yield from check_headers()
    for name in tables:
        if seen.count(name) != 1:
            yield f"docs/ has {seen.count(name)} tables of {' '.join(name)}, expected one"


def main():
    write, callgate = "--write" in sys.argv, sys.argv[-1]
    command = [callgate, "serve", "--demo", "--listen", "127.0.0.1:0", "--set", "store.url=none"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as gateway:
        try:
            url = re.search(r"http://\S+", gateway.stdout.readline())[0]
            faults = list(check(expected(callgate, url), write))
        finally:
            gateway.terminate()
    print("\n".join(faults) or "the tables are up to date")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
