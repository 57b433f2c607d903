#!/usr/bin/env python3
"""The site of the real documentation: every link resolves, nothing is asked of another origin, and search finds what it should first."""
import html.parser
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/site"))
import headers  # noqa: E402
from markdown import Document, Fault  # noqa: E402

# A question, and the address that comes first.
QUESTIONS = [
    ("install", "install.html"),
    ("first_byte_timeout", "config.html#upstream-one-per-model-server.first_byte_timeout"),
    ("stop_after_tools", "streaming.html#stop_after_tools"),
    ("qwen3_coder", "dialects.html#all-dialects.qwen3_coder"),
    ("callgate_calls_total", "metrics.html#callgate_calls_total"),
    ("callgate_parser_push", "api/callgate.html#callgate_parser_push"),
    ("DialectParser", "api/dialect.html#DialectParser"),
    ("markup_in_text", "repairs.html#markup_in_text"),
    ("claude code", "clients.html#claude-code"),
    ("VLLM parser", "recipes.html#vllm-with-its-parser"),
]
ASK = """
const fs = require('fs'), [folder, questions] = process.argv.slice(1);
globalThis.window = {};
for (const name of ['search.js', 'search-index.js']) (0, eval)(fs.readFileSync(`${folder}/${name}`, 'utf8'));
const entries = callgate_search.prepare(window.callgate_search_index);
const first = (question) => callgate_search.find(entries, question).slice(0, 3).map((entry) => entry.address);
console.log(JSON.stringify(JSON.parse(questions).map(first)));
"""


class Reader(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.targets, self.loaded, self.inline = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a":
            self.targets.append(given.get("href", ""))
        self.loaded += [given[name] for name in ("src", "href") if name in given and tag in ("script", "img", "link")]
        self.inline += [name for name in given if name.startswith("on") or name == "style"]


def built(folder):
    return subprocess.run([sys.executable, str(ROOT / "tools/site/build.py"), str(folder)], capture_output=True, text=True)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        done = built(cls.folder)
        assert done.returncode == 0, done.stderr
        cls.pages = {path: Reader(path.read_text(encoding="utf-8")) for path in cls.folder.rglob("*.html")}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_every_source_has_a_page(self):
        sources = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "include/callgate").glob("*.h")]
        self.assertGreaterEqual(len(self.pages), len(sources) + 5)

    def test_every_link_resolves(self):
        for path, page in self.pages.items():
            for target in page.targets + page.loaded:
                if urllib.parse.urlparse(target).scheme in ("http", "https"):
                    continue
                name, _, anchor = target.partition("#")
                to = (path.parent / name).resolve() if name else path
                with self.subTest(page=path.name, target=target):
                    self.assertTrue(to.is_file(), f"{target} does not exist")
                    if anchor:
                        self.assertIn(urllib.parse.unquote(anchor), self.pages[to].ids)

    def test_nothing_comes_from_elsewhere_and_nothing_is_inline(self):
        for path, page in self.pages.items():
            with self.subTest(page=path.name):
                self.assertEqual([target for target in page.loaded if ":" in target], [])
                self.assertEqual(page.inline, [])

    def test_ids_are_unique(self):
        for path, page in self.pages.items():
            with self.subTest(page=path.name):
                self.assertEqual(len(page.ids), len(set(page.ids)))

    def test_search_index_points_to_places_that_exist(self):
        text = (self.folder / "search-index.js").read_text(encoding="utf-8")
        entries = json.loads(text[text.index("["):text.rindex("]") + 1])
        self.assertGreater(len(entries), 1000)
        for address, *_ in entries:
            name, _, anchor = address.partition("#")
            with self.subTest(address=address):
                self.assertTrue(not anchor or anchor in self.pages[self.folder / name].ids)

    def test_search_finds_the_right_place_first(self):
        node = shutil.which("node")
        if node is None:
            self.skipTest("SKIPPED: node is not installed, search was not tried")
        said = subprocess.run([node, "-e", ASK, str(self.folder), json.dumps([question for question, _ in QUESTIONS])],
                              capture_output=True, text=True, check=True).stdout
        for (question, wanted), found in zip(QUESTIONS, json.loads(said)):
            with self.subTest(question=question):
                self.assertEqual(found[0], wanted, f"found {found}")

    def test_every_declaration_of_a_header_has_an_entry(self):
        known = headers.index(ROOT / "include/callgate")
        for name in ("callgate_loop_free", "callgate_pipeline_options", "Pipeline", "ToolLoop", "Result", "kVersion", "Overloaded", "set_policy"):
            self.assertIn(name, known)
        page = (self.folder / "api/pipeline.html").read_text(encoding="utf-8")
        self.assertNotIn("private:", page)


def rendered(text, link=lambda target: target, titles=None):
    return Document(text, "page.md", link, titles).html


class Markdown(unittest.TestCase):
    def test_html_is_text(self):
        self.assertIn("&lt;tool_call&gt;", rendered("A <tool_call> in prose."))
        self.assertIn("<code class=\"short\">&lt;b&gt;</code>", rendered("`<b>`"))

    def test_a_bar_in_a_cell(self):
        self.assertIn("<code class=\"short\">a|b</code>", rendered("| x | y |\n|---|---|\n| `a\\|b` | z |"))

    def test_the_name_of_a_page_is_a_link_in_prose_and_not_in_code(self):
        made = rendered("See tools.md and `tools.md`, [tools.md](tools.md#hooks).", titles={"tools.md": "Tools"})
        self.assertIn('See <a href="tools.md">Tools</a>', made)
        self.assertIn('<code class="short">tools.md</code>', made)
        self.assertIn('<a href="tools.md#hooks">Tools</a>', made)

    def test_words_with_stars_and_underscores_stay(self):
        self.assertNotIn("<em>", rendered("Give 2*3*4, snake_case_names and a lone * star."))

    def test_what_it_does_not_know_is_refused_with_its_line(self):
        for text in ("> quoted", "- one\n  - nested", "text\n\n    indented", "| a | b |\n|---|---|\n| one |", "```\nnever closed", "##### deep"):
            with self.subTest(text=text), self.assertRaisesRegex(Fault, r"page\.md:\d+: "):
                rendered(text)


if __name__ == "__main__":
    unittest.main()
