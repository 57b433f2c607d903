"""The Python module: python3 -m unittest, with CALLGATE_LIBRARY naming the library. Runs the dialects' golden cases as well."""
import gc
import json
import pathlib
import threading
import unittest

import callgate

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}}]
TEXT = '<think>Look it up.</think>Let me see. 🌦<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich"}}\n</tool_call>'


def joined(events):
    """Events as the golden files print them, neighbouring pieces joined."""
    lines, last = [], None
    for event in events:
        if event.kind in ("text", "reasoning", "refusal", "arguments") and last == event.kind:
            lines[-1][1] += event.text
        elif event.kind != "finish":
            lines.append([event, event.text])
        last = event.kind
    out = []
    for event, text in lines:
        if event.kind in ("text", "reasoning", "refusal"):
            out.append((event.kind, text))
        elif event.kind == "call":
            out.append(("call", event.call, text, event.id))
        elif event.kind == "arguments":
            out.append(("args", event.call, text))
        elif event.kind == "call_end":
            out.append(("end", event.call, event.outcome))
    return out


def expected(body):
    """The `out` section of a golden case."""
    out = []
    for line in body.strip("\n").split("\n"):
        word, _, rest = line.partition(" ")
        if word in ("text", "reasoning", "refusal"):
            out.append((word, json.loads(rest)))
        elif word == "call":
            number, _, name = rest.partition(" ")
            name, _, native = name.partition(" id=")
            out.append(("call", int(number), name, native))
        elif word == "args":
            number, _, text = rest.partition(" ")
            out.append(("args", int(number), json.loads(text) if text.startswith('"') else text))
        elif word == "end":
            number, _, outcome = rest.partition(" ")
            out.append(("end", int(number), outcome))
    return out


def golden_cases(path):
    """Those that need no option but the tools."""
    for block in path.read_text(encoding="utf-8").split("\n=== ")[1:]:
        sections = dict(part.partition("\n")[::2] for part in block.split("\n--- "))
        if "in" in sections and "out" in sections and "options" not in sections:
            tools = json.loads(sections["tools"]) if "tools" in sections else None
            if tools != []:
                yield block.partition("\n")[0], tools, sections["in"], sections["out"]


class ParserTest(unittest.TestCase):
    def test_a_whole_turn(self):
        message = callgate.parse(TEXT, "hermes", tools=TOOLS)
        self.assertEqual(message.content, "Let me see. 🌦")
        self.assertEqual(message.reasoning, "Look it up.")
        self.assertEqual(message.finish_reason, "tool_calls")
        [call] = message.tool_calls
        self.assertEqual((call.name, json.loads(call.arguments), call.outcome), ("get_weather", {"city": "Zürich"}, "complete"))

    def test_the_dialect_follows_from_the_model(self):
        text = "<tool_call><function=get_weather><parameter=days>\n3\n</parameter></function></tool_call>"
        [call] = callgate.parse(text, model="Qwen/Qwen3-Coder-30B", tools=TOOLS).tool_calls
        self.assertEqual(json.loads(call.arguments), {"days": 3})
        self.assertEqual(callgate.dialect_for("Qwen/Qwen3-Coder-30B"), "qwen3_coder")
        self.assertIn("hermes", callgate.dialects())

    def test_auto_says_what_it_found(self):
        parser = callgate.Parser(tools=TOOLS)
        parser.feed(TEXT[TEXT.index("<tool_call>"):])
        parser.finish()
        self.assertNotEqual(parser.settled_on, "")

    def test_no_tools_no_calls(self):
        self.assertEqual(callgate.parse(TEXT, "hermes", tools=[]).tool_calls, [])

    def test_a_call_that_was_cut_off(self):
        message = callgate.parse(TEXT[:-25], "hermes", tools=TOOLS, reason="length")
        self.assertEqual(message.finish_reason, "length")
        self.assertEqual(message.tool_calls[0].outcome, "truncated")

    def test_arguments_leave_early(self):
        parser = callgate.Parser("hermes", tools=TOOLS)
        kinds = [event.kind for event in parser.feed('<tool_call>{"name": "get_weather", "arguments": {"city": "Par')]
        self.assertEqual((kinds[0], set(kinds[1:])), ("call", {"arguments"}))

    def test_mistakes(self):
        for wrong in ({"dialect": "hermse"}, {"tools": [{}]}, {"tools": {"name": "f"}}):
            with self.assertRaises(ValueError):
                callgate.Parser(**wrong)
        parser = callgate.Parser("hermes")
        parser.finish()
        with self.assertRaises(RuntimeError):
            parser.feed("more")
        with self.assertRaises(ValueError):
            callgate.Parser("hermes").finish("tired")

    def test_threads_have_parsers_of_their_own(self):
        seen = []
        threads = [threading.Thread(target=lambda: seen.append(callgate.parse(TEXT, "hermes", tools=TOOLS))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(seen, [callgate.parse(TEXT, "hermes", tools=TOOLS)] * 8)

    def test_golden_cases_whole_and_byte_by_byte(self):
        count = 0
        for path in sorted((ROOT / "golden/dialect").glob("*.golden")):
            for name, tools, text, out in golden_cases(path):
                data = text.encode()
                whole = callgate.Parser(path.stem, tools=tools)
                events = whole.feed(data) + whole.finish()
                parser = callgate.Parser(path.stem, tools=tools)
                pieces = [event for byte in range(len(data)) for event in parser.feed(data[byte:byte + 1])] + parser.finish()
                with self.subTest(dialect=path.stem, case=name):
                    self.assertEqual(joined(events), expected(out))
                    self.assertEqual(joined(pieces), joined(events))
                count += 1
        self.assertGreater(count, 500)
        print(f"{count} golden cases")


class ModuleTest(unittest.TestCase):
    def test_the_package_has_the_version_of_the_library(self):
        self.assertIn(f'\nversion = "{callgate.version()}"\n', (ROOT / "python/pyproject.toml").read_text(encoding="utf-8"))


class PipelineTest(unittest.TestCase):
    REQUEST = {"model": "demo", "stream": True, "messages": [{"role": "user", "content": "tea?"}]}
    UPSTREAM = (b'data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"find","arguments":{"q":"tea"}}}]},'
                b'"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')

    def test_mends_an_answer_byte_by_byte(self):
        pipeline = callgate.Pipeline(self.REQUEST, id_seed=1, policies={"tool_call_max": 2})
        out = b"".join(pipeline.feed(self.UPSTREAM[at:at + 1]) for at in range(len(self.UPSTREAM))) + pipeline.finish()
        self.assertIn(b'"finish_reason":"tool_calls"', out)
        self.assertTrue(out.endswith(b"data: [DONE]\n\n"))
        self.assertTrue(pipeline.finished)
        self.assertIsNone(pipeline.error)

    def test_failures(self):
        pipeline = callgate.Pipeline(self.REQUEST)
        pipeline.fail("the connection broke")
        self.assertEqual(pipeline.error, "the connection broke")
        with self.assertRaises(ValueError):
            callgate.Pipeline(self.REQUEST, policies={"tool_cal_max": 2})
        gc.collect()


if __name__ == "__main__":
    unittest.main()
