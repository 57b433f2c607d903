#!/usr/bin/env python3
"""count_tests.py BUILD_FOLDER CTEST_LOG: prints how many tests passed and how many failed in one run of ctest.

A test program writes each test's result to BUILD_FOLDER/results; a process that ended without doing so counts as one
failure. What has no results of its own counts as one test.
"""
import json
import pathlib
import re
import sys


def results_of(folder, name):
    path = folder / "results" / (name.replace("/", ".") + ".json")
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def count(folder, log):
    passed = failed = 0
    for name, outcome in re.findall(r"^ *\d+/\d+ Test +#\d+: (.+?) \.{2,} *(?:\*\*\*)?(\w+)", log, re.M):
        ok = outcome in ("Passed", "Skipped")
        results = results_of(folder, name)
        bad = results["failures"] + results["errors"] if results else 0
        failed += bad if ok or bad else 1
        passed += results["tests"] - bad if results else int(ok)
    return passed, failed


if __name__ == "__main__":
    print(*count(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")))
