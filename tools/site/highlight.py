"""Colours for code: comments, strings, numbers, keys and words, one regular expression for each language. A language without one is shown plain."""
import html
import re

STRING = r'(?P<s>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
NUMBER = r"(?P<n>\b\d[\d_.]*(?:ms|s|m|h|[KMG]i?B)?\b)"
C_WORDS = ("auto|bool|case|char|class|const|constexpr|enum|explicit|extern|false|for|if|inline|int|namespace|new|noexcept|nullptr|operator|override|private|public|return|"
           "size_t|sizeof|static|std|struct|switch|template|this|true|typedef|typename|u?int\\d+_t|union|unsigned|using|virtual|void|while")


def words(names):
    return rf"(?P<k>\b(?:{names})\b)"


HASH = r"(?P<c>(?<!\S)#[^\n]*)"
LANGUAGES = {
    "toml": rf'{HASH}|{STRING}|(?P<k>^\s*\[\[?[^\]\n]+\]\]?|^\s*[\w.\-"]+(?=\s*=))|(?P<n2>\b(?:true|false)\b)|{NUMBER}',
    "json": rf'(?P<k>"(?:\\.|[^"\\\n])*"(?=\s*:))|{STRING}|(?P<n>\b(?:true|false|null)\b)|(?P<n2>-?\b\d[\d.eE+-]*\b)',
    "sh": rf'{HASH}|{STRING}|(?P<k>(?:^|(?<=&& )|(?<=\| ))[\w./-]+(?= ))|(?P<n>(?<=\s)--?[\w-]+)',
    "yaml": rf'{HASH}|{STRING}|(?P<k>^[\s-]*[\w.\-/]+(?=:))|{NUMBER}',
    "cmake": rf'{HASH}|{STRING}|(?P<k>^\s*\w+(?=\())',
    "nginx": rf'{HASH}|{STRING}|(?P<k>^\s*\w+)',
    "script": rf'{HASH}|{STRING}|(?P<k>^\s*\w+)|{NUMBER}',
    "python": rf'{HASH}|{STRING}|{words("and|as|class|def|else|except|finally|for|from|if|import|in|is|lambda|None|not|or|print|return|try|True|False|while|with|yield")}|{NUMBER}',
    "js": rf'(?P<c>//[^\n]*)|{STRING}|(?P<s2>`[^`]*`)|{words("async|await|catch|class|const|else|export|for|from|function|if|import|let|new|of|return|try|while")}|{NUMBER}',
    "cpp": rf'(?P<c>//[^\n]*)|(?P<p>^\s*#[^\n]*)|{STRING}|{words(C_WORDS)}|{NUMBER}',
}
LANGUAGES["c"] = LANGUAGES["cpp"]
COMPILED = {name: re.compile(pattern, re.M) for name, pattern in LANGUAGES.items()}


def highlight(text, language, name=lambda text: None):
    """HTML of `text`. `name` gives words an address: what it returns for one becomes its link."""
    def passed(between):
        out, at = [], 0
        for word in re.finditer(r"\w+", between):
            if target := name(word[0]):
                out.append(html.escape(between[at:word.start()], quote=False) + f'<a href="{html.escape(target)}">{word[0]}</a>')
                at = word.end()
        return "".join(out) + html.escape(between[at:], quote=False)

    pattern = COMPILED.get(language)
    if pattern is None:
        return passed(text)
    out, at = [], 0
    for found in pattern.finditer(text):
        if not found[0]:
            continue
        out.append(passed(text[at:found.start()]) + f'<span class="{found.lastgroup[0]}">{html.escape(found[0], quote=False)}</span>')
        at = found.end()
    return "".join(out) + passed(text[at:])
