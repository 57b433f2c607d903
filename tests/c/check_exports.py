#!/usr/bin/env python3
"""check_exports.py LIBRARY HEADER: the shared library exports what callgate.h declares, and nothing else."""
import pathlib
import re
import subprocess
import sys

library, header = sys.argv[1:]
listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, check=True, text=True).stdout
exported = {line.split()[-1].split("@")[0] for line in listed.splitlines() if line.split()[-2] in "TDBWVRu"}
text = re.sub(r"//.*", "", pathlib.Path(header).read_text(encoding="utf-8"))
declared = set(re.findall(r"CALLGATE_API\s[^;(]*?(callgate_\w+)\s*\(", text))
for name in sorted(declared - exported):
    print(f"{name} is declared and not exported")
for name in sorted(exported - declared):
    print(f"{name} is exported and not declared")
print(f"{len(declared)} functions")
sys.exit(0 if declared and declared == exported else 1)
