#!/usr/bin/env python3
"""check.py PROGRAM [--write]: counts the instructions and allocations of each case of cost.cpp, and fails where one is more than 5 %
above expected.tsv. Counts do not depend on how busy the machine is, but on the compiler: with another one than expected.tsv names,
the table is printed and only allocations are compared. --write makes the counts the expected ones."""
import argparse
import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile

EXPECTED = pathlib.Path(__file__).with_name("expected.tsv")
LEEWAY = 1.05


def measure(program):
    """The compiler, and case -> (instructions, allocations) of one time."""
    instructions = {}
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/out", program]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{program}: exit code {run.returncode}\n{run.stdout}{run.stderr[-2000:]}")
        for path in glob.glob(os.path.join(folder, "out*")):
            text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
            name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
            total = re.search(r"^(?:summary|totals): (\d+)", text, re.M)
            if name and total:
                instructions[name[1]] = int(total[1])
    compiler, *rows = run.stdout.splitlines()
    counts = {}
    for case, allocations, times in (row.split("\t") for row in rows):
        counts[case] = (instructions[case] // int(times), int(allocations) / int(times))
    return compiler, counts


def read_expected():
    lines = EXPECTED.read_text().splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    compiler = next(line[len("# compiler: "):] for line in lines if line.startswith("# compiler: "))
    return compiler, {case: (int(instructions), float(made)) for case, instructions, made in rows}


def write(compiler, counts):
    lines = [f"# compiler: {compiler}", "# case, instructions, allocations; written by tests/cost/check.py --write"]
    lines += [f"{case}\t{counts[case][0]}\t{counts[case][1]:g}" for case in sorted(counts)]
    EXPECTED.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    compiler, counts = measure(arguments.program)
    if not counts:
        sys.exit("cost: no case was measured")
    if arguments.write:
        return write(compiler, counts)
    expected_compiler, expected = read_expected()
    same = compiler == expected_compiler
    worse = []
    for case in sorted(set(counts) | set(expected)):
        if case not in counts or case not in expected:
            worse.append(f"{case}: {'not expected' if case in counts else 'not measured'}; see check.py --write")
            continue
        for unit, now, then, counted in zip(("instructions", "allocations"), counts[case], expected[case], (same, True)):
            if not same:
                print(f"{case}: {now:,g} {unit}, expected {then:,g}")
            if counted and now > then * LEEWAY:
                worse.append(f"{case}: {now:,g} {unit}, expected {then:,g} and 5 % more at most")
    note = "" if same else f" (instructions not compared: built by {compiler}, expected.tsv is of {expected_compiler})"
    print(f"cost: {len(counts)} cases, {len(worse)} cost more than expected{note}")
    if worse:
        sys.exit("\n".join(worse))


main()
