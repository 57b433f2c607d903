#!/usr/bin/env python3
"""dialect_table.py BENCH: runs dialect_bench and prints the table of docs/performance.md, with the growth exponent.

The exponent is log(time at 10 MB / time at 100 KB) / log(100), from CPU times of 64-byte pushes, the best of three: 1.00 is linear.
"""
import json
import math
import subprocess
import sys

SIZES = {"100": "100 KB", "10240": "10 MB"}


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
        small, large = runs[("100", "64")], runs[("10240", "64")]
        ratio = large["cpu_time"] / small["cpu_time"]
        exponent = math.log(ratio) / math.log(102.4)
        allocations = runs[("10240", "4")]["alloc/push"]
        print(f"| `{dialect}` | {rate[0]:.0f} | {rate[1]:.0f} | {rate[2]:.0f} | {allocations:.4f} | {exponent:.3f} |")


if __name__ == "__main__":
    main()
