"""Finds the places of a C++ file where a one-line mistake could be made. Relies on the layout that clang-format gives."""
import collections
import re

OPEN, CLOSE = "([{", ")]}"
LOGIC = [";", ",", "?", ":", "&&", "||", " = ", " += "]
COMPARE = LOGIC + ["==", "!=", " < ", " > ", "<=", ">=", "<<"]
SUM = COMPARE + [" + ", " - ", " +\n", " -\n"]
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
NOTHING = {"{}", "nullptr", "std::nullopt", "0", "*this", '""'}  # what a mutation would put there
KEYWORDS = ("if for while switch return co_return catch sizeof static_assert throw case do else using delete new "
            "CALLGATE_CHECK template namespace").split()
TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#[^\n]*", re.S | re.M)

# `text` replaces source[begin:end]; callgate_mutant(@) in it is true when the mutant is active.
Mutation = collections.namedtuple("Mutation", "kind path begin end line text detail")


def masked(source):
    """The source without what comments, strings and directives say, every position as it was."""
    def blank(match):
        text = match.group(0)
        if text.lstrip()[0] in "/#":
            return re.sub(r"[^\n]", "\0", text)
        return '"' + re.sub(r"[^\n]", "_", text[1:-1]) + '"'

    return TOKENS.sub(blank, source)


def matching(code, start):
    """The position of the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(code)):
        depth += (code[i] in OPEN) - (code[i] in CLOSE)
        if depth == 0:
            return i
    return len(code)


def end_of(code, start, stops):
    """Where the expression at `start` ends: at a closing bracket, or at one of the texts in `stops`."""
    i = start
    while i < len(code) and code[i] not in CLOSE:
        if code[i] in OPEN:
            i = matching(code, i)
        elif code.startswith("::", i):
            i += 1
        elif any(code.startswith(stop, i) for stop in stops):
            break
        i += 1
    return i


def begin_of(code, end, stops):
    """Where the expression that ends at `end` begins."""
    i, depth = end - 1, 0
    while i >= 0 and (depth > 0 or code[i] not in OPEN):
        depth += (code[i] in CLOSE) - (code[i] in OPEN)
        if depth == 0 and code[i - 1:i + 1] == "::":
            i -= 1
        elif depth == 0 and any(code.startswith(stop, i - len(stop) + 1) for stop in stops):
            break
        i -= 1
    return re.compile(r"(\s|return\b|co_return\b)*").match(code, i + 1, end).end()


def flat(text):
    return " ".join(text.split())


class Places:
    """All mutations that one file has room for, by kind."""

    def __init__(self, path, source, enums):
        self.path, self.source, self.code = path, source, masked(source)
        self.found = collections.defaultdict(list)
        self.find_clauses()
        self.find_comparisons()
        self.find_numbers()
        self.find_conditions()
        self.find_fields()
        self.find_constants(enums)
        self.find_sums()
        self.find_statements()
        self.find_returns()

    def add(self, kind, begin, end, text, detail):
        head = self.code[self.code.rfind("\n", 0, begin) + 1:begin]
        constant = re.match(r"\s*(static )?constexpr|\s*case |\s*static_assert", head)
        if end > begin and "\0" not in self.code[begin:end] and not constant:
            line = self.source.count("\n", 0, begin) + 1
            self.found[kind].append(Mutation(kind, self.path, begin, end, line, text, flat(detail)))

    def line_at(self, position):
        return self.source[self.source.rfind("\n", 0, position) + 1:].split("\n", 1)[0]

    def find_clauses(self):
        for match in re.finditer(r" (&&|\|\|)\s", self.code):
            word = match.group(1)
            switch = "(callgate_mutant(@) || (%s))" if word == "&&" else "(!callgate_mutant(@) && (%s))"
            for begin, end in ((begin_of(self.code, match.start(), LOGIC), match.start()),
                               (match.end(), end_of(self.code, match.end(), LOGIC))):
                text = self.source[begin:end]
                self.add("drop clause", begin, end, switch % text, f"{text} of {word}")

    def find_comparisons(self):
        for match in re.finditer(r" (<=|>=|<|>|==|!=)\s", self.code):
            begin, end = begin_of(self.code, match.start(), COMPARE), end_of(self.code, match.end(), COMPARE)
            left, right = self.source[begin:match.start()], self.source[match.end():end]
            word, swapped = match.group(1), SWAPS[match.group(1)]
            text = f"(callgate_mutant(@) ? ({flat(left)} {swapped} {flat(right)}) : ({self.source[begin:end]}))"
            self.add("equality" if word in ("==", "!=") else "boundary", begin, end, text,
                     f"{left} {word} {right} -> {swapped}")

    def find_numbers(self):
        for match in re.finditer(r"(?<![\w.'\"])\d[\d']*[uUlLzZ]*(?![\w.'\"])", self.code):
            number = match.group(0)
            self.add("limit off by one", *match.span(), f"(callgate_mutant(@) ? {number} + 1 : {number})",
                     f"{number} -> {number} + 1 in {self.line_at(match.start())}")

    def find_conditions(self):
        for match in re.finditer(r"\bif \(", self.code):
            close = matching(self.code, match.end() - 1)
            begin = end_of(self.code, match.end(), [";"])
            begin = match.end() if begin == close else begin + 1
            if re.match(r"\s*[\w:<>&*, ]+[ &*]\w+ = ", self.code[begin:close]):
                continue  # a declaration
            condition = self.source[begin:close]
            never = f" !callgate_mutant(@) && ({condition})"
            exits = re.match(r"\)\s*\{?\s*(co_return|return|break|continue)\b", self.code[close:close + 200])
            for kind, text, name in (
                    ("force condition", never, "never"),
                    ("force condition", f" callgate_mutant(@) || ({condition})", "always"),
                    ("negate condition", f" callgate_mutant(@) != static_cast<bool>({condition})", "negated"),
                    ("remove early exit", never if exits else "", "does not leave")):
                if text:
                    self.add(kind, begin, close, text, f"if ({condition}) -> {name}")

    def find_fields(self):
        for match in re.finditer(r"[{,]\s*\.(\w+) = ", self.code):
            end = end_of(self.code, match.end(), [","])
            value = self.source[match.end():end]
            if flat(value) in NOTHING or value[:1] in "{[":
                continue
            empty = '""' if value[:1] == '"' else f"std::decay_t<decltype({flat(value)})>()"
            self.add("skip field", match.end(), end, f"(callgate_mutant(@) ? {empty} : {value})",
                     f".{match.group(1)} = {value} -> empty")

    def find_constants(self, enums):
        for match in re.finditer(r"\b(?:\w+::)*(\w+)::(\w+)\b", self.code):
            enum, name = match.groups()
            others = {other for values in enums.get(enum, []) if name in values for other in values} - {name}
            for other in sorted(others)[:3]:
                text = f"(callgate_mutant(@) ? {match.group(0)[:-len(name)]}{other} : {match.group(0)})"
                self.add("enum constant", *match.span(), text,
                         f"{enum}::{name} -> {other} in {self.line_at(match.start())}")

    def find_sums(self):
        for match in re.finditer(r" ([+-])\s", self.code):
            begin, end = begin_of(self.code, match.start(), SUM), end_of(self.code, match.end(), SUM)
            if re.search("[\"']|string", self.source[begin:end]):
                continue  # texts have no difference
            value = self.source[match.end():end]
            self.add("arithmetic", match.end(), end, f"(callgate_mutant(@) ? -({flat(value)}) : ({value}))",
                     f"{self.source[begin:end]} -> {'-' if match.group(1) == '+' else '+'}")

    def find_statements(self):
        start = r"(?:[;{})]|\belse)\s+(?="
        call = r"(?:co_await )?[A-Za-z_]\w*(?:(?:\.|->|::)\w+|\([^()\n]*\)|\[[^\]\n]*\])*\()"
        assignment = r"(?:(?:\+\+|--)[\w.>\-]+;|[A-Za-z_*][\w.()\[\]*]*(?:->[\w.()\[\]*]+)* [-+|&]?= ))"
        for kind, pattern in (("drop call", call), ("drop assignment", assignment)):
            for match in re.finditer(start + pattern, self.code):
                begin, end = match.end(), end_of(self.code, match.end(), [";"])
                whole = self.code[end:end + 1] == ";" and (kind != "drop call" or self.code[end - 1] == ")")
                in_for = re.search(r"\bfor \([^{}]*$", self.code[max(0, begin - 300):begin])
                if whole and not in_for and re.match(r"\w*", self.code[begin:]).group(0) not in KEYWORDS:
                    text = self.source[begin:end]
                    self.add(kind, begin, end, "if (callgate_mutant(@)) {} else " + text, text)

    def find_returns(self):
        for match in re.finditer(r"\b(return|co_return) (?=[^;\s])", self.code):
            end = end_of(self.code, match.end(), [";"])
            value = self.source[match.end():end]
            other = "true" if value == "false" else "{}"
            if flat(value) not in NOTHING:
                text = f"{{ if (callgate_mutant(@)) {match.group(1)} {other}; {self.source[match.start():end]}; }}"
                self.add("return value", match.start(), end + 1, text, f"return {value} -> {other}")
