#!/usr/bin/env python3
"""check_readme.py CALLGATE [--write]: compares README.md's dialect table with `callgate dialects`, or writes it."""
import json
import pathlib
import subprocess
import sys

README = pathlib.Path(__file__).resolve().parent.parent / "README.md"
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
    text = README.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    old, tail = rest.split(END)
    new = table(sys.argv[1])
    if "--write" in sys.argv:
        README.write_text(head + BEGIN + new + END + tail, encoding="utf-8")
        return 0
    if old != new:
        print("README.md: the dialect table differs from `callgate dialects`; run tools/check_readme.py CALLGATE --write")
        return 1
    print(f"README.md: {new.count(chr(10)) - 2} dialects, as `callgate dialects` lists them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
