#!/usr/bin/env python3
"""check_docs.py CALLGATE: runs the commands and checks the configurations, links and generated parts of README.md and docs/.

  toml          is checked with `callgate config check`, with a model added where the block has none
  json          is read, as one value or as a value per line
  commands      of a block marked sh, or that begins with one of PROGRAMS, run line by line beside a gateway with demo models;
                http://127.0.0.1:8080 and :8000 mean that gateway, and req_1 is a request whose call stayed text
  other blocks  are only shown

A block that cannot be checked has `<!-- skip: REASON -->` in the line before it. tests/library runs the programs of library.md.
"""
import collections
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import reference

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = {"callgate", "curl", "make", "npx", "docker", "kubectl", "apt-get", "vllm", "ollama", "lms", "llama-server", "python"}
FENCE = re.compile(r"(?:^<!-- (?P<mark>[^\n]*) -->\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.S | re.M)
DEMO = '\n[[upstream]]\nname = "demo"\nwire = "script"\n'
CONFIG = '[capture]\ndir = "captures"\n' + DEMO + "".join(f'\n[[model]]\nname = "{name}"\nupstream = "demo"\n' for name in ("coder", "Qwen/Qwen3-8B")) + '''
[[upstream]]
name = "broken"
url = "script:broken.script"

[[model]]
name = "broken"
upstream = "broken"
dialect = "hermes"
'''
TOOLS = '[{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]'
ASK = {"model": "broken", "messages": [{"role": "user", "content": "What is the weather?"}],
       "tools": [{"type": "function", "function": json.loads(TOOLS)[0]}]}


class Page:
    def __init__(self, path):
        self.path, self.name = path, str(path.relative_to(ROOT))
        self.text = path.read_text(encoding="utf-8")

    def blocks(self):
        for found in FENCE.finditer(self.text):
            line = self.text.count("\n", 0, found.start("body"))
            yield f"{self.name}:{line}", found["mark"] or "", found["language"], found["body"]


def anchors(text):
    """As GitHub names the headings of a page."""
    text = FENCE.sub("", text)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.*)$", text, re.M)}


def check_links(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", page.text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.path.parent / name).resolve() if name else page.path
        if not path.exists():
            yield f"{page.name}: {target} does not exist"
        elif anchor and path.suffix == ".md" and anchor not in anchors(path.read_text(encoding="utf-8")):
            yield f"{page.name}: {target} has no such heading"


class Place:
    """A folder with the files that the pages mention, and a gateway that knows the request req_1."""

    def __init__(self, callgate, folder):
        self.folder, self.callgate = pathlib.Path(folder), pathlib.Path(callgate).resolve()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = dict(os.environ, PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}", CALLGATE_URL=self.url)
        for name in set(re.findall(r"\$\{(\w+)\}", "".join(page.read_text(encoding="utf-8") for page in pages()))):
            self.environment.setdefault(name, "secret-of-the-docs-0123456789")
        self.environment.update(CALLGATE_STORE="postgresql://db/callgate", CALLGATE_UPSTREAM="http://model:8000/v1", CALLGATE_MODEL="mine",
                                CALLGATE_KEY="secret-of-the-docs-0123456789")
        (self.folder / "bin").mkdir()
        (self.folder / "bin/callgate").symlink_to(self.callgate)
        self.write("callgate.toml", CONFIG)
        self.write("broken.script", "rule any\n  text \"<tool_call>\\n{'name': 'get_weather', 'arguments': {}}\\n</tool_call>\"\n")
        self.write("tools.json", TOOLS)
        (self.folder / "captures").mkdir()
        self.write("answer.txt", '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>')
        self.write("turn.sse", 'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
        self.write("ask.json", json.dumps(ASK))

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def __enter__(self):
        self.gateway = subprocess.Popen(["callgate", "serve", "--demo", "--config", "callgate.toml", "--listen", self.url[7:]],
                                        cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                urllib.request.urlopen(self.url + "/readyz", timeout=5).read()
                break
            except OSError:
                time.sleep(0.1)
        headers = {"content-type": "application/json", "x-request-id": "req_1", "x-callgate-capture": "1"}
        urllib.request.urlopen(urllib.request.Request(self.url + "/v1/chat/completions", json.dumps(ASK).encode(), headers)).read()
        self.run_line("for i in $(seq 100); do cp captures/req_1.capture.jsonl . && exit 0; sleep 0.1; done; exit 1")
        return self

    def __exit__(self, *_):
        self.gateway.send_signal(signal.SIGTERM)
        self.gateway.wait(60)

    def run_line(self, line):
        """An error text, or None. A gateway that a line starts is stopped once it listens."""
        line = re.sub(r"http://127\.0\.0\.1:(8080|8000)\b", self.url, line)
        if line.startswith("callgate serve"):
            return self.start_briefly(line)
        done = subprocess.run(["bash", "-c", line], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=120)
        return None if done.returncode == 0 else f"{line}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"

    def start_briefly(self, line):
        words = line.split() + ["--listen", "127.0.0.1:0", "--set", "store.url=none"]
        with subprocess.Popen(words, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as served:
            said = ""
            for told in served.stdout:
                said += told
                if "listening" in told:
                    break
            served.terminate()
            return None if "listening" in said else f"{line}\n{said}"

    def check_config(self, text):
        """A block may show a model alone: the upstreams that it names are added."""
        lists = re.findall(r"\bupstream = (\[[^\]]*\]|\"[^\"]*\")", text)
        named = {name for some in lists for name in re.findall(r'"([^"]+)"', some)}
        defined = set(re.findall(r'\[\[upstream\]\]\n(?:.*\n)*?name = "([^"]+)"', text))
        for name in sorted(named - defined):
            text += DEMO.replace("demo", name)
        if "[[model]]" not in text:
            if "[[upstream]]" not in text:
                text += DEMO
            text += f'\n[[model]]\nname = "of-the-test"\nupstream = {re.findall(chr(10) + "name = (.*)", text)[-1]}\n'
        self.write("block.toml", text)
        return self.run_line("callgate config check block.toml")


def pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def shipped_configurations():
    """Those of packages, containers and Kubernetes."""
    for name in ("packaging/callgate.toml", "contrib/container/callgate.toml"):
        yield name, (ROOT / name).read_text(encoding="utf-8")
    name = "contrib/kubernetes/callgate.yaml"
    found = re.search(r"^  callgate.toml: \|\n((?:    .*\n|\n)+)", (ROOT / name).read_text(encoding="utf-8"), re.M)
    yield name, re.sub(r"^    ", "", found.group(1), flags=re.M)


def check_json(text):
    try:
        json.loads(text)
        return None
    except ValueError:
        pass
    try:
        for line in text.strip().split("\n"):
            json.loads(line)
        return None
    except ValueError as fault:
        return f"not JSON: {fault}"


def commands_in(language, body):
    """The lines to run, with continuations joined and comments dropped; none if the block is not of commands."""
    first = body.split(maxsplit=1)[:1]
    if language != "sh" and (language or not first or first[0] not in PROGRAMS):
        return []
    lines = body.replace("\\\n", " ").split("\n")
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def check_block(place, language, body):
    """A word for what was done, and an error or None."""
    if language == "toml":
        return "configurations checked", place.check_config(body)
    if language == "json":
        return "JSON read", check_json(body)
    lines = commands_in(language, body)
    if not lines:
        return "only shown", None
    faults = [fault for fault in map(place.run_line, lines) if fault]
    return "blocks of commands run", "\n".join(faults) or None


def check_generated(callgate):
    said = subprocess.run([callgate, "manual", "--format", "markdown"], capture_output=True, text=True, check=True).stdout
    if (ROOT / "docs/cli.md").read_text(encoding="utf-8") != said:
        yield "docs/cli.md differs from `callgate manual --format markdown`: write that into it"


def check_api(url):
    """Every route of /openapi.json is answered, and every path that the gateway knows is in it."""
    def ask(method, path, read=False):
        body = b"{}" if method == "POST" else None
        request = urllib.request.Request(url + path, body, {"content-type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return 200, answer.read().decode() if read else ""  # some answers do not end
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
    described = json.loads(ask("GET", "/openapi.json", read=True)[1])
    operations = {(method.upper(), path) for path, methods in described["paths"].items() for method in methods}
    for method, path in sorted(operations):
        status, said = ask(method, path.replace("{id}", "x"))
        if status == 405 or "known paths:" in said:
            yield f"/openapi.json: {method} {path} is answered with {status} {said[:200]}"
    known = json.loads(ask("GET", "/no-such-path")[1])["error"]["message"].split("known paths: ")[1].split(", ")
    for route in known:
        if tuple(route.replace("*", "{id}").split(" ")) not in operations:
            yield f"/openapi.json lacks {route}"


def check_index(listed):
    """The index, and the one for language models, name every page."""
    for index, form in (("docs/README.md", "({})"), ("llms.txt", "(docs/{})")):
        text = (ROOT / index).read_text(encoding="utf-8")
        for path in listed:
            if path.parent.name == "docs" and path.name != "README.md" and form.format(path.name) not in text:
                yield f"{index} does not name {path.name}"


def main():
    faults, done, skipped = [], collections.Counter(), []
    faults += check_generated(sys.argv[1])
    faults += check_index(pages())
    with tempfile.TemporaryDirectory() as folder, Place(sys.argv[1], folder) as place:
        faults += check_api(place.url)
        faults += reference.check(reference.expected(sys.argv[1], place.url))
        for name, text in shipped_configurations():
            done["configurations checked"] += 1
            if fault := place.check_config(text):
                faults.append(f"{name}: {fault}")
        for page in map(Page, pages()):
            faults += check_links(page)
            for where, mark, language, body in page.blocks():
                if mark.startswith("skip: "):
                    skipped.append(f"{where}: {mark[6:]}")
                    continue
                if mark.startswith("file: "):
                    done["programs, run by tests/library"] += 1
                    continue
                what, fault = check_block(place, language, body)
                done[what] += 1
                if fault:
                    faults.append(f"{where}: {fault}")
    for line in skipped:
        print(f"skipped {line}")
    print(", ".join(f"{count} {what}" for what, count in sorted(done.items())) + f", {len(skipped)} skipped")
    for fault in faults:
        print(f"FAILED {fault}")
    return 1 if faults or not done else 0


if __name__ == "__main__":
    sys.exit(main())
