#!/usr/bin/env python3
"""Measures the unit tests: makes one-line mistakes in the sources and counts those that no test notices.

Draws mutations of production .cpp files, first by kind, then by file, then by place. All of them are compiled into one
build of a copy of the tree, each behind a switch, so that a mutant costs a test run and not a build. A run without a
mutant records which programs reach which places. Each mutant then runs against the test program of its module and those
of the modules that use it, as far as they reach it, until one of them fails.

A mutant that changes nothing anyone could observe is equivalent. List such mutants in the file of --equivalent, one per
line, as the report writes them but without the line number: `src/net/pipe.cpp drop call: close()`. Lines that do not
begin with src/ are reasons. A file of the same form, or a whole report, says with --only which mutants to try: those that
survived, after the missing assertions were written.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from places import Places, masked

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOME = ROOT / "build" / "mutation"
HEADER = (pathlib.Path(__file__).parent / "switch.h").read_text() + "#line 1\n"


def fenced():
    """The words before a command that keep a mutant from harming the machine, such as by changing the mode of a folder or deleting it: the
    file system is read-only to it, but for the folder of the build, where temporary files go as well. Needs root; without it the
    user's rights are the fence."""
    if os.geteuid() != 0:
        return []
    temporary = HOME / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    temporary.chmod(0o1777)
    script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro / && cd "$PWD" && shift && exec "$@"'
    return ["unshare", "--mount", "env", f"TMPDIR={temporary}", "bash", "-c", script, "fenced", str(HOME)]


def read_modules():
    """The modules as the build files declare them, each with those that it uses."""
    modules = {}
    for path in [ROOT / "CMakeLists.txt", *sorted((ROOT / "cmake").glob("*.cmake"))]:
        for name, rest in re.findall(r"^\s*callgate_(?:room|module)\((\w+)([^)]*)\)", path.read_text(), re.M):
            uses = re.search(r"\bUSES((?:\s+[a-z_]\w*)+)", rest)
            modules[name] = uses.group(1).split() if uses else []
    return modules


def programs_of(module, modules):
    """The test programs of the module and of those that use it, the closest first."""
    order = [module]
    for name in order:
        order += [user for user, uses in modules.items() if name in uses and user not in order]
    return [f"callgate_{name}_test" for name in order if any((ROOT / "src" / name).rglob("*_test.cpp"))]


def module_of(mutant):
    return mutant.path.split("/")[1]


def name_of(mutant):
    return f"{mutant.path} {mutant.kind}: {mutant.detail}"


def read_enums():
    enums = collections.defaultdict(list)
    for path in [*ROOT.glob("include/**/*.h"), *ROOT.glob("src/**/*.h"), *ROOT.glob("src/**/*.cpp")]:
        for name, body in re.findall(r"\benum class (\w+)[^;{]*\{([^}]*)\}", masked(path.read_text())):
            enums[name].append(re.findall(r"(?:^|,)[\s\0]*([a-z_]\w*)", body))
    return enums


def read_names(path):
    """The mutants that a file names, with or without line numbers."""
    lines = [line.removeprefix("- ") for line in path.read_text().splitlines()]
    return {re.sub(r"^(\S+?):\d+ ", r"\1 ", line) for line in lines if line.startswith("src/")}


def find_places(options, modules):
    """All mutations that there could be: by kind, then by file."""
    enums, by_kind = read_enums(), collections.defaultdict(dict)
    for module in options.modules or modules:
        folder = ROOT / "src" / module
        for path in sorted(folder.rglob("*.cpp")):
            if path.name.endswith("_test.cpp") or path.name == "main.cpp" or "reference" in path.parts:
                continue
            name = str(path.relative_to(ROOT))
            for kind, places in Places(name, path.read_text(), enums).found.items():
                by_kind[kind][name] = places
    return by_kind


def take_apart(mutants, count):
    """The first of them that do not touch each other, numbered: all are compiled into one build."""
    taken = []
    for mutant in mutants:
        if len(taken) == count:
            break
        if all(mutant.path != m.path or mutant.end <= m.begin or m.end <= mutant.begin for m in taken):
            taken.append(mutant)
    return dict(enumerate(taken, 1))


def draw(options, modules):
    by_kind = find_places(options, modules)
    if options.only:
        wanted = read_names(options.only)
        everything = [m for files in by_kind.values() for places in files.values() for m in places]
        chosen = [m for m in everything if name_of(m) in wanted]
        for missing in sorted(wanted - {name_of(m) for m in chosen}):
            print("there is no", missing)
        return take_apart(chosen, len(chosen))
    rng = random.Random(options.seed)

    def pick():
        files = by_kind[rng.choice(sorted(by_kind))]
        return rng.choice(files[rng.choice(sorted(files))])

    return take_apart((pick() for _ in range(options.count * 50)), options.count)


class Build:
    """A copy of the tree with mutants in it."""

    def __init__(self, jobs):
        self.tree, self.jobs = HOME / "tree", jobs
        self.out = self.tree / "build" / "dev"

    def write(self, name, content):
        path = self.tree / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def copy(self):
        listed = subprocess.check_output(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, text=True)
        names = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
        for old in [path for path in self.tree.rglob("*") if path.is_file() and self.out not in path.parents]:
            if str(old.relative_to(self.tree)) not in names:
                old.unlink()
        for name in names:
            self.write(name, (ROOT / name).read_bytes())
            shutil.copymode(ROOT / name, self.tree / name)

    def run(self, *command):
        env = {**os.environ, "CCACHE_BASEDIR": str(self.tree), "CCACHE_NOHASHDIR": "1",
               "CCACHE_SLOPPINESS": "pch_defines,time_macros"}
        return subprocess.run(command, cwd=self.tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def ninja(self, *targets):
        return self.run("ninja", "-C", str(self.out), "-k", "0", "-j", str(self.jobs), *targets)

    def mutate(self, name, mutants):
        text = (ROOT / name).read_text()
        for number, m in sorted(mutants.items(), key=lambda item: -item[1].begin):
            text = text[:m.begin] + m.text.replace("mutant(@)", f"mutant({number})") + text[m.end:]
        self.write(name, (HEADER + text).encode())

    def working(self, name, mutants):
        """Those of a file's mutants that compile together."""
        self.mutate(name, mutants)
        done = self.ninja(f"{self.tree / name}^")
        if done.returncode == 0 or not mutants:
            return mutants
        original = (ROOT / name).read_text()
        blamed = {int(line) for line in re.findall(re.escape(name) + r":(\d+):\d+: error", done.stdout)}
        lines = {n: range(m.line, m.line + original.count("\n", m.begin, m.end) + 1) for n, m in mutants.items()}
        rest = {n: m for n, m in mutants.items() if not blamed.intersection(lines[n])}
        if len(rest) == len(mutants):  # the error is in another line: one half after the other
            numbers = sorted(mutants)
            halves = numbers[:len(numbers) // 2], numbers[len(numbers) // 2:]
            rest = {} if len(numbers) == 1 else {
                n: m for half in halves for n, m in self.working(name, {n: mutants[n] for n in half}).items()}
        return self.working(name, rest)

    def make(self, mutants, programs):
        files = collections.defaultdict(dict)
        for number, mutant in mutants.items():
            files[mutant.path][number] = mutant
        self.copy()
        configured = self.run("cmake", "--preset", "dev")
        if configured.returncode != 0:
            sys.exit(configured.stdout)
        for name in files:
            self.mutate(name, files[name])
        compiled = self.ninja(*(f"{self.tree / name}^" for name in files))
        for name in files:
            if re.search(f"^FAILED: .*/{name}.o", compiled.stdout, re.M):
                files[name] = self.working(name, files[name])
        built = self.ninja(*programs)
        if built.returncode != 0:
            sys.exit(built.stdout[-5000:])
        return {number: mutant for mutants in files.values() for number, mutant in mutants.items()}

    def passes(self, program, seconds, **env):
        command = [str(self.out / program), "--gtest_fail_fast", "--gtest_brief=1"]
        process = subprocess.Popen([*fenced(), *command], cwd=self.out, env={**os.environ, **env}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            return process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # with what it started
            except ProcessLookupError:
                pass
            process.wait()


def reach(build, programs, limit):
    """For each program: the mutants that it reaches, and the seconds that it takes."""
    reached = {}
    for program in programs:
        log = build.out / f"{program}.reached"
        log.unlink(missing_ok=True)
        start = time.monotonic()
        if not build.passes(program, limit * 10, CALLGATE_MUTANTS_REACHED=str(log)):
            sys.exit(f"{program} fails without a mutant")
        reached[program] = set(map(int, log.read_text().split())) if log.exists() else set(), time.monotonic() - start
    return reached


def killer_of(build, number, programs, reached, limit):
    """The program that notices the mutant; None if none does."""
    for program in programs:
        numbers, seconds = reached[program]
        if number in numbers and not build.passes(program, limit + 3 * seconds, CALLGATE_MUTANT=str(number)):
            return program
    return None


def print_report(mutants, kept, killers, equivalent, reached):
    rows, survivors, others = collections.defaultdict(collections.Counter), [], []
    for number, mutant in mutants.items():
        killer, name = killers.get(number), f"{mutant.kind}: {mutant.detail}"
        fate = ("invalid" if number not in kept else "own" if killer == f"callgate_{module_of(mutant)}_test"
                else "others" if killer else "equivalent" if name_of(mutant) in equivalent else "survived")
        rows[module_of(mutant)][fate] += 1
        if fate == "survived":
            by = [program for program, (numbers, _) in reached.items() if number in numbers]
            survivors.append(f"- {mutant.path}:{mutant.line} {name}\n  reached by {', '.join(by) or 'no test'}")
        elif fate in ("equivalent", "invalid"):
            others.append(f"* {fate}: {mutant.path}:{mutant.line} {name}")
    lines = ["| module | drawn | killed by own tests | by others' | survived | equivalent | do not compile | score |",
             "|---|---|---|---|---|---|---|---|"]
    for module, row in [*sorted(rows.items()), ("**all**", sum(rows.values(), collections.Counter()))]:
        killed = row["own"] + row["others"]
        score = f"{100 * killed / max(killed + row['survived'], 1):.0f} %"
        fates = [row[fate] for fate in ("own", "others", "survived", "equivalent", "invalid")]
        lines.append("| " + " | ".join(map(str, [module, sum(row.values()), *fates, score])) + " |")
    text = "\n".join([*lines, "", *sorted(survivors), "", *sorted(others), ""])
    (HOME / "report.md").write_text(text)
    print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--modules", type=str.split, default=[], help="names, separated by spaces; all if absent")
    parser.add_argument("--equivalent", type=pathlib.Path, help="file of mutants that change nothing")
    parser.add_argument("--only", type=pathlib.Path, help="file of mutants to try, instead of drawing some")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=30, help="seconds that a program gets beside three times its own")
    parser.add_argument("--own", action="store_true", help="run the tests of the mutant's own module only")
    parser.add_argument("--beside", type=str.split, default=[], help="with --own: the tests of these modules as well")
    parser.add_argument("--list", action="store_true", help="print the mutations and stop")
    options = parser.parse_args()
    modules = read_modules()
    mutants = draw(options, modules)
    if options.list:
        return print(*(f"{m.path}:{m.line} {m.kind}: {m.detail}" for m in mutants.values()), sep="\n")
    beside = {f"callgate_{name}_test" for name in options.beside}
    programs = {module: [program for i, program in enumerate(programs_of(module, modules))
                         if not options.own or i == 0 or program in beside]
                for module in map(module_of, mutants.values())}
    build = Build(options.jobs)
    everything = sorted(set().union(*programs.values()))
    kept = build.make(mutants, everything)
    print(f"{len(kept)} of {len(mutants)} mutants compile; {len(everything)} programs run without one", flush=True)
    reached = reach(build, everything, options.limit)
    print("now with one after the other", flush=True)

    def try_one(number):
        killer = killer_of(build, number, programs[module_of(mutants[number])], reached, options.limit)
        print(f"{'noticed' if killer else 'survives'}: {mutants[number].path}:{mutants[number].line} "
              f"{mutants[number].kind}: {mutants[number].detail}", flush=True)
        return killer

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        killers = dict(zip(kept, pool.map(try_one, kept)))
    equivalent = read_names(options.equivalent) if options.equivalent else set()
    print_report(mutants, kept, killers, equivalent, reached)


if __name__ == "__main__":
    main()
