#!/usr/bin/env python3
"""dialect_table.py BENCH: runs dialect_bench and prints the table of docs/performance.md, with the growth exponent.

The exponent is log(cost at 10 MB / cost at 100 KB) / log(102.4) for 64-byte pushes: 1.00 is linear. The cost is counted in instructions
(valgrind's cachegrind), which no other program on the machine can change; two parses are counted less one.
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

# One `rep movsb` counts as one instruction however much it copies: large copies are made the way small ones are.
PLAIN_COPIES = "glibc.cpu.x86_rep_movsb_threshold=4294967295:glibc.cpu.x86_non_temporal_threshold=4294967295"


def instructions(bench, dialect, size, times):
    with tempfile.NamedTemporaryFile() as out:
        done = subprocess.run(
            ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={out.name}", bench, "parse", dialect, str(size), str(times)],
            capture_output=True, text=True, env={**os.environ, "GLIBC_TUNABLES": PLAIN_COPIES},
        )
    if done.returncode != 0:
        sys.exit(f"dialect_table.py: {dialect} was not parsed:\n{done.stderr}")
    return int(re.search(r"I\s+refs:\s+([\d,]+)", done.stderr).group(1).replace(",", ""))


def exponent(bench, dialect):
    # The second parse: what a process does once is not of the parser.
    small, large = (instructions(bench, dialect, size, 2) - instructions(bench, dialect, size, 1) for size in (100 << 10, 10 << 20))
    return math.log(large / small) / math.log(102.4)


def main():
    out = subprocess.run(
        [sys.argv[1], "--benchmark_format=json", "--benchmark_min_time=0.1", "--benchmark_repetitions=3", "--benchmark_filter=/(100|10240)KB/"],
        capture_output=True, text=True, check=True,
    ).stdout
    rows = {}
    for run in json.loads(out)["benchmarks"]:
        if run["run_type"] != "iteration":
            continue
        dialect, size, step = run["run_name"].split("/")
        best = rows.setdefault(dialect, {})
        key = (size[:-2], step)
        if key not in best or run["cpu_time"] < best[key]["cpu_time"]:
            best[key] = run
    print("| dialect | 4-byte pushes, MB/s | 64-byte pushes | whole | allocations per push | exponent |")
    print("|---|---|---|---|---|---|")
    for dialect, runs in sorted(rows.items()):
        rate = [runs[("100", step)]["bytes_per_second"] / 1e6 for step in ("4", "64", "whole")]
        growth = exponent(sys.argv[1], dialect)
        allocations = runs[("10240", "4")]["alloc/push"]
        print(f"| `{dialect}` | {rate[0]:.0f} | {rate[1]:.0f} | {rate[2]:.0f} | {allocations:.4f} | {growth:.3f} |", flush=True)


if __name__ == "__main__":
    main()
