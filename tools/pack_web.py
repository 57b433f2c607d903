#!/usr/bin/env python3
"""pack_web.py OUT [--plain] PATH=FILE...: writes the files of the inspector into a C++ source, gzipped unless they are plain.
Fails when the page is larger than its budget."""
import gzip
import pathlib
import sys

BUDGET = 100 * 1024  # bytes, compressed, of all files
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".svg": "image/svg+xml"}


def literal(data):
    return ",".join(f"'\\x{byte:02x}'" for byte in data)


def main():
    out = pathlib.Path(sys.argv[1])
    plain = sys.argv[2] == "--plain"
    text = ["// Made by tools/pack_web.py from web/.\n", "namespace callgate::server {\nnamespace {\n"]
    rows = []
    total = 0
    for number, pair in enumerate(sys.argv[3 if plain else 2:]):
        path, _, name = pair.partition("=")
        file = pathlib.Path(name)
        data = file.read_bytes()
        if not plain:
            data = gzip.compress(data, 9, mtime=0)
        total += len(data)
        text.append(f"constexpr char kPageFile{number}[] = {{{literal(data)}}};\n")
        rows.append(f'    {{"{path}", "{TYPES[file.suffix]}", {"false" if plain else "true"}, '
                    f"{{kPageFile{number}, sizeof kPageFile{number}}}}},\n")
    if total > BUDGET:
        print(f"pack_web.py: the page has {total} bytes, at most {BUDGET} are allowed", file=sys.stderr)
        return 1
    text += ["constexpr PageAsset kPageAssets[] = {\n", *rows, "};\n}  // namespace\n}  // namespace callgate::server\n"]
    made = "".join(text)
    if not out.exists() or out.read_text() != made:
        out.write_text(made)
    else:
        out.touch()
    print(f"inspector: {total} bytes compressed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
