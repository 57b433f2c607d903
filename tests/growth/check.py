#!/usr/bin/env python3
"""check.py PROGRAM [--table] [--only PART]: counts instructions of each case of growth.cpp with n and 4n things, and fails where they
grow faster than n to the power of 1.1. Instructions are counted by valgrind, so no other program on the machine can change them."""
import argparse
import glob
import math
import os
import re
import subprocess
import sys
import tempfile

LIMIT = 1.1


def measure(program, only):
    """(case, n) -> instructions"""
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/out", program]
        run = subprocess.run(command + ([only] if only else []), capture_output=True, text=True)
        if run.returncode != 0 or run.stdout:
            sys.exit(f"{program}: exit code {run.returncode}\n{run.stdout}{run.stderr[-2000:]}")
        for path in glob.glob(os.path.join(folder, "out*")):
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            name = re.search(r"^desc: Trigger: Client Request: (.*)\|(\d+)$", text, re.M)
            total = re.search(r"^(?:summary|totals): (\d+)", text, re.M)
            if name and total:
                counts[name[1], int(name[2])] = int(total[1])
    return counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--table", action="store_true", help="print every case, for docs/performance.md")
    parser.add_argument("--only", default="", help="cases with this in their name")
    arguments = parser.parse_args()
    counts = measure(arguments.program, arguments.only)
    cases = sorted({case for case, _ in counts})
    if not cases:
        sys.exit("growth: no case was measured")
    worse = []
    if arguments.table:
        print("| case | instructions each | exponent |\n|---|---|---|")
    for case in cases:
        (n, few), (m, many) = sorted((n, count) for (name, n), count in counts.items() if name == case)
        exponent = math.log(many / few) / math.log(m / n)
        if arguments.table:
            print(f"| {case} | {many // m:,} | {exponent:.3f} |")
        if exponent > LIMIT:
            worse.append(f"{case}: {few:,} instructions for {n}, {many:,} for {m}: exponent {exponent:.2f}")
    print(f"growth: {len(cases)} cases, {len(worse)} grow faster than n^{LIMIT}")
    if worse:
        sys.exit("\n".join(worse))


main()
