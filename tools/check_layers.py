#!/usr/bin/env python3
"""Checks the dependency rule between modules, the landlord of each third-party library, friends, and the words of Chat Completions."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Modules from left to right; modules in one group never see each other.
ORDER = [
    ["base"],
    ["json", "sse", "compress"],
    ["chat"],
    ["upstream", "dialect", "policy", "client", "contract"],
    ["engine", "loop", "script"],
    ["capture", "c_api"],
    ["replay"],
    ["net"],
    ["tool", "store", "telemetry"],
    ["config"],
    ["session"],
    ["access", "dial"],
    ["recorder"],
    ["turn"],
    ["front"],
    ["room", "response", "admin"],
    ["inspector"],
    ["gateway"],
    ["mock"],
    ["cli"],
]
RANK = {module: rank for rank, group in enumerate(ORDER) for module in group}
IO_LINE = RANK["net"]
MAX_FILES = 60  # of production code in one folder; more of them form families with folders of their own

LANDLORDS = [
    (re.compile(r"^(openssl/|llhttp\.h)"), {"net"}),
    (re.compile(r"^sqlite3\.h|^libpq"), {"store"}),
    (re.compile(r"^zstd\.h|^brotli/"), {"compress"}),
    (re.compile(r"^toml\+\+/"), {"config"}),
    (re.compile(r"^CLI/"), {"cli"}),
    (re.compile(r"^unicode/"), {"policy"}),
    (re.compile(r"^valijson/"), {"tool"}),
    (re.compile(r"^sys/socket\.h|^netinet/|^arpa/|^netdb\.h|^sys/epoll\.h"), {"net"}),
]
FORBIDDEN_ABOVE = re.compile(r"^(thread|mutex|shared_mutex|condition_variable|future|fstream|iostream|ctime)$")
PUBLIC_ALLOWED = re.compile(r"^(callgate/|tl/expected\.hpp$|std(int|def)\.h$|[a-z_]+$)")
# What only Chat Completions says on its wire, and who else may say it (docs/adr/0025-the-protocol-belongs-to-the-request.md).
CHAT_WORDS = re.compile(r"chatcmpl-|\[DONE\]|chat\.completion")
CHAT_SPEAKERS = ("src/client/openai_chat/", "src/client/openai_completions/", "src/upstream/openai_chat/",
                 "src/upstream/decoder_base.h", "src/script/reply/", "src/contract/chat_contract",
                 "src/engine/golden_case.cpp", "src/dialect/family/named_json.cpp")
TYPE = re.compile(r"^\s*(?:template <.*> )?(?:class|struct)(?: \[\[\w+\]\])? (?:\w+::)?(\w+)\b(?!.*;)")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def check_public(path):
    for number, _, name in includes(path):
        if not PUBLIC_ALLOWED.match(name):
            yield f"{path}:{number}: public headers include only std, tl/expected and callgate/: {name}"


def is_test(path):
    return path.name.endswith("_test.cpp") or path.name.endswith("_testing.h") or path.parent.name == "reference"


def check_folders(paths):
    sizes = collections.Counter(path.parent for path in paths if not is_test(path))
    for folder, size in sorted(sizes.items()):
        if size > MAX_FILES:
            yield f"{folder}: {size} files of production code, at most {MAX_FILES} are allowed"


def check_module(path, module):
    in_test = is_test(path)
    for number, quote, name in includes(path):
        where = f"{path}:{number}"
        first = name.split("/")[0]
        if quote == '"' and first in RANK and first != module and RANK[first] >= RANK[module]:
            yield f"{where}: {module} may not include {name}"
        if quote == '"' and "/" in name and first not in RANK and first != "callgate":
            yield f"{where}: unknown module in {name}"
        for pattern, landlords in LANDLORDS:
            if pattern.match(name) and module not in landlords:
                yield f"{where}: only {', '.join(sorted(landlords))} may include {name}"
        if RANK[module] < IO_LINE and not in_test and FORBIDDEN_ABOVE.match(name):
            yield f"{where}: {module} is above the I/O line and may not include <{name}>"


def check_chat_words(path):
    if is_test(path) or str(path.relative_to(ROOT)).startswith(CHAT_SPEAKERS):
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        code = line.split("//")[0]
        if CHAT_WORDS.search(code):
            yield f"{path}:{number}: only Chat Completions and what ADR 25 names may say this: {code.strip()}"


def module_of(path):
    return path.relative_to(ROOT / "src").parts[0]


def check_friends(paths):
    """A friend is a type of the same module. Friend functions are defined in place and belong to their class."""
    lines = {path: path.read_text(encoding="utf-8").splitlines() for path in paths}
    types = {(module_of(path), match[1]) for path in paths for match in map(TYPE.match, lines[path]) if match}
    for path in paths:
        for number, line in enumerate(lines[path], 1):
            match = re.match(r"\s*friend (?:class|struct) (?:\w+::)*(\w+)", line)
            if match and (module_of(path), match[1]) not in types:
                yield f"{path}:{number}: {match[1]} is not of module {module_of(path)}: no friends across modules"


def main():
    faults = []
    checked = 0
    for path in sorted((ROOT / "include").rglob("*.h")):
        faults += check_public(path)
        checked += 1
    sources = sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in (".h", ".cpp"))
    faults += check_folders(sources)
    faults += check_friends(sources)
    for path in sources:
        module = module_of(path)
        if module not in RANK:
            faults.append(f"{path}: {module} is not a module")
            continue
        faults += check_module(path, module)
        faults += check_chat_words(path)
        checked += 1
    for fault in faults:
        print(fault)
    print(f"layers: {checked} files, {len(faults)} faults")
    return 1 if faults or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
