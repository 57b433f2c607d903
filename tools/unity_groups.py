#!/usr/bin/env python3
"""unity_groups.py SIZE FILE...: sorts sources into groups of at most SIZE that compile as one, for unity builds.

Prints one line per file, its group's number and its path. Files share a group only if neither names anything that the
other keeps to itself (in an anonymous namespace or as static), so that sources need no names made for unity builds. A file
that keeps a name to itself which a header beside it declares stays alone.
"""
import pathlib
import re
import sys

ANONYMOUS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace\n", re.S | re.M)
TYPE = re.compile(r"(?:struct|class|enum class|enum|concept|using) (\w+)")
VALUE = re.compile(r"[\w:<>,&*\[\] ]+?[ &*](\w+)\s*(?:\(|=|\{|\[|;)")
STATIC = re.compile(r"^static [\w:<>,&* ]+?[ &*](\w+)\s*(?:\(|=|\{|\[|;)", re.M)
MACRO = re.compile(r"^#define (\w+)", re.M)


def own_names(text):
    names = set(STATIC.findall(text)) | set(MACRO.findall(text))
    for body in ANONYMOUS.findall(text):
        for line in body.split("\n"):
            if re.match(r"[A-Za-z]", line):
                found = TYPE.match(line) or VALUE.match(line)
                if found:
                    names.add(found[1])
    return names


def declared_names(folder):
    """What the headers of a folder declare outside of classes."""
    names = set()
    for header in folder.glob("*.h"):
        for line in header.read_text(encoding="utf-8").split("\n"):
            if re.match(r"[A-Za-z]", line):
                found = TYPE.match(line) or VALUE.match(line)
                if found:
                    names.add(found[1])
    return names


def words_of(text):
    text = re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', " ", text)
    return set(re.findall(r"(?<![.>\w])[A-Za-z_]\w*", text))


class Group:
    def __init__(self, size):
        self.size = size
        self.count = 0
        self.own = set()
        self.words = set()

    def takes(self, own, words):
        return self.count < self.size and not own & self.words and not words & self.own

    def add(self, own, words):
        self.count += 1
        self.own |= own
        self.words |= words


def main():
    size = int(sys.argv[1])
    paths = [pathlib.Path(path) for path in sorted(sys.argv[2:])]
    declared = {folder: declared_names(folder) for folder in {path.parent for path in paths}}
    groups = []
    for path in paths:
        text = path.read_text(encoding="utf-8")
        own, words = own_names(text), words_of(text)
        alone = own & declared[path.parent]
        group = next((g for g in groups if not alone and g.takes(own, words)), None)
        if group is None:
            group = Group(1 if alone else size)
            groups.append(group)
        group.add(own, words)
        print(groups.index(group), path)


if __name__ == "__main__":
    main()
