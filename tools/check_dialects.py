#!/usr/bin/env python3
"""check_dialects.py CALLGATE [--write]: compares the dialect table of docs/dialects.md with `callgate dialects`, or writes it."""
import json
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/dialects.md"
BEGIN, END = "<!-- dialects -->\n", "<!-- /dialects -->"


def cell(text):
    return "`" + text.replace("|", "\\|") + "`" if text else ""


def table(callgate):
    dialects = json.loads(subprocess.run([callgate, "dialects", "--json"], capture_output=True, check=True, text=True).stdout)
    lines = ["| dialect | what the model writes | models |", "|---|---|---|"]
    for dialect in dialects:
        models = ", ".join(name.strip("*") for name in dialect["models"])
        lines.append(f"| `{dialect['name']}` | {cell(dialect['spec'])} | {models} |")
    return "\n".join(lines) + "\n"


def main():
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    old, tail = rest.split(END)
    new = table(sys.argv[1])
    if "--write" in sys.argv:
        PAGE.write_text(head + BEGIN + new + END + tail, encoding="utf-8")
        return 0
    if old != new:
        print("docs/dialects.md: the dialect table differs from `callgate dialects`; run tools/check_dialects.py CALLGATE --write")
        return 1
    print(f"docs/dialects.md: {new.count(chr(10)) - 2} dialects, as `callgate dialects` lists them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
