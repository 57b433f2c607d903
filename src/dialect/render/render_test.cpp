// What a dialect's renderer writes, its parser reads: the same calls, whole and byte by byte.
#include "dialect/render/render.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "callgate/dialect.h"
#include "chat/event_log.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::dialect::render_test {
namespace {

// One schema for every tool. The name of an argument tells its type, at every depth.
constexpr std::string_view kSchema = R"({"$ref": "#/$defs/object", "$defs": {"object": {
  "type": "object", "properties": {
    "text": {"type": "string"}, "path": {"type": "string"}, "count": {"type": "integer"},
    "ratio": {"type": "number"}, "flag": {"type": "boolean"}, "nothing": {"type": "null"},
    "words": {"type": "array", "items": {"type": "string"}},
    "numbers": {"type": "array", "items": {"type": "number"}},
    "rows": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
    "mixed": {"type": "array"}, "empty": {"type": "object"},
    "deep": {"$ref": "#/$defs/object"},
    "list": {"type": "array", "items": {"$ref": "#/$defs/object"}}}}}})";

std::vector<ToolSpec> tools() {
  std::vector<ToolSpec> all;
  for (const char* name : {"get_weather", "write", "search-web"}) {
    all.push_back({.name = name, .parameters = {std::string(kSchema)}});
  }
  return all;
}

// The value written in one way: no white space, strings escaped alike, numbers as they are.
void append_canonical(std::string& out, json::Reader& in) {
  switch (in.peek()) {
    case json::Kind::object:
      out.push_back('{');
      for (std::string_view key; in.next_member(key);) {
        json::append_string(out, key);
        out.push_back(':');
        append_canonical(out, in);
        out.push_back(',');
      }
      out.push_back('}');
      break;
    case json::Kind::array:
      out.push_back('[');
      while (in.next_element()) {
        append_canonical(out, in);
        out.push_back(',');
      }
      out.push_back(']');
      break;
    case json::Kind::string:
      json::append_string(out, in.string());
      break;
    case json::Kind::number:
    case json::Kind::boolean:
    case json::Kind::null:
    case json::Kind::invalid:
      out += in.raw();
      break;
  }
}

std::string canonical(std::string_view json) {
  if (json.empty()) return "{}";
  std::string out;
  json::Reader in(json);
  append_canonical(out, in);
  return in.finish() ? out : "not JSON: " + std::string(json);
}

using Calls = std::vector<CallRecord>;

CallRecord call(std::string name, std::string arguments) {
  return {.id = {}, .name = std::move(name), .arguments = std::move(arguments), .extra = {}};
}

// Gives every call the id that a model of that dialect could have written.
Calls with_ids(std::string_view dialect, Calls calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::string& id = calls[i].id;
    if (dialect == "kimi_k2") {
      id = "functions." + calls[i].name + ":" + std::to_string(i + 7);
    } else if (dialect == "mistral_old" || dialect == "mistral_v13" || dialect == "solar_open") {
      id = "a1b2c3d4" + std::to_string(i);
    } else if (dialect == "cohere_command_r7b") {
      id = std::to_string(i + 3);
    }
  }
  return calls;
}

std::string expected(const Calls& calls) {
  std::string out;
  for (const CallRecord& call : calls) {
    out += call.name + " " + call.id + " " + canonical(call.arguments) + " complete\n";
  }
  return out;
}

std::string parsed(const Dialect& dialect, std::string_view text, std::size_t size) {
  const std::vector<ToolSpec> declared = tools();
  const auto parser = dialect.make({.tools = declared, .commit = dialect.commit});
  EventLog log;
  for (std::size_t at = 0; at < text.size(); at += size) {
    parser->push(text.substr(at, size), Channel::text, log);
  }
  parser->finish(log);
  std::string out;
  for (const LoggedCall& call : log.calls()) {
    out += call.name + " " + call.id + " " + canonical(call.arguments) + " " +
           std::string(to_string(call.outcome)) + "\n";
  }
  if (!log.text().empty()) out += "text " + log.text() + "\n";
  if (!log.reasoning().empty()) out += "reasoning " + log.reasoning() + "\n";
  return out;
}

const std::vector<Calls>& table() {
  static const std::vector<Calls> kTable = {
      {call("get_weather", "")},
      {call("get_weather", "{}")},
      {call("get_weather", R"({"text": "Paris"})")},
      {call("search-web", R"({"text": "Paris", "count": 3})")},
      {call("write", R"({"text": "", "path": ""})")},
      {call("write", R"({"text": "line\n  two\n\nfour", "path": "/tmp/a b.txt"})")},
      {call("write", R"({"text": "\n\nlines around\n\n"})")},
      {call("write", R"({"text": "  spaces around  ", "path": " "})")},
      {call("write", R"({"text": "tab\there", "path": "C:\\dir\\new\\"})")},
      {call("write", R"({"text": "say \"hi\" and 'ho'", "path": "`x`"})")},
      {call("write", R"({"text": "caf\u00e9 \u4f60\u597d \ud83d\ude00", "path": "naïve ☃"})")},
      {call("write", R"({"text": "if (a < b && c > d) { x[1] = {}; }"})")},
      {call("write", R"({"text": "<div class=\"a\"><b>bold</b></div>"})")},
      {call("write", R"({"text": "3", "path": "null", "count": 3, "nothing": null})")},
      {call("write", R"({"text": "true", "path": "{\"a\": 1}", "flag": true})")},
      {call("get_weather", R"({"count": -1, "ratio": 0.5, "flag": false})")},
      {call("get_weather", R"({"count": 123456789012345678901234567890, "ratio": 1e400})")},
      {call("get_weather", R"({"ratio": -1.50E-7, "count": 0})")},
      {call("get_weather", R"({"words": ["a", "", "b, c", "]"], "numbers": [1, 2.5, -3]})")},
      {call("get_weather", R"({"words": [], "empty": {}, "list": [], "mixed": [{}, []]})")},
      {call("get_weather",
            R"({"mixed": [1, "1", true, null, {"a": ["x"]}], "rows": [[1], [2, 3]]})")},
      {call("get_weather", R"({"deep": {"text": "a", "deep": {"count": 1, "flag": true}}})")},
      {call("get_weather", R"({"list": [{"text": "x"}, {"count": 2, "words": ["y"]}]})")},
      {call("get_weather", R"({"text":"tight","count":1,"deep":{"flag":false}})")},
      {call("get_weather", "{\n  \"text\": \"spaced\",\n  \"count\" : 1\n}")},
      {call("get_weather", R"({"text": "Paris"})"), call("write", R"({"text": "x"})")},
      {call("get_weather", R"({"text": "a"})"), call("get_weather", R"({"text": "a"})")},
      {call("get_weather", ""), call("write", ""), call("get_weather", R"({"count": 1})")},
      {call("write", R"({"text": "tail "})"), call("write", R"({"text": "\n"})"),
       call("write", R"({"deep": {"text": "}"}})"), call("get_weather", "{}")},
  };
  return kTable;
}

class RandomCalls {
 public:
  explicit RandomCalls(std::uint64_t seed) : random_(seed) {}

  Calls next() {
    Calls calls;
    for (std::size_t left = 1 + below(3); left > 0; --left) {
      const char* names[] = {"get_weather", "write", "search-web"};
      std::string arguments;
      append_object(arguments, 0);
      calls.push_back(call(names[below(3)], std::move(arguments)));
    }
    return calls;
  }

 private:
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }

  void append_text(std::string& out) {
    static constexpr std::string_view kPieces[] = {
        "a",  "Paris", " ",   "\n",  "\t", "\"", "'",  "\\", "{",  "}",      "[",    "]",
        "(",  ")",     ",",   ":",   "=",  "<",  ">",  "/",  "&",  "&lt;",   "</",   "é",
        "你", "😀",     "007", "1.5", "#",  "|",  "<|", "|>", "``", "\\n",    "\x01", "<b>",
        "；", "None",  "_",   "-",   ";",  "%",  "$",  "*",  "~",  "</div>", "\r\n", "\\u0041"};
    std::string text;
    for (std::size_t left = below(9); left > 0; --left) text += kPieces[below(std::size(kPieces))];
    json::append_string(out, text);
  }

  void append_number(std::string& out) {
    static constexpr std::string_view kNumbers[] = {"0",    "-1",  "42",   "3.25",
                                                    "-0.5", "1e9", "2E-3", "98765432109876543210"};
    out += kNumbers[below(std::size(kNumbers))];
  }

  template <class Element>
  void append_array(std::string& out, Element element) {
    out.push_back('[');
    for (std::size_t i = 0, count = below(4); i < count; ++i) {
      if (i > 0) out += below(2) == 0 ? "," : ", ";
      element();
    }
    out.push_back(']');
  }

  void append_object(std::string& out, int depth) {
    static constexpr std::string_view kNames[] = {"text",    "path",  "count",   "ratio", "flag",
                                                  "nothing", "words", "numbers", "deep",  "list"};
    out.push_back('{');
    bool first = true;
    for (const std::string_view name : kNames) {
      if (below(3) != 0 || (depth > 2 && (name == "deep" || name == "list"))) continue;
      if (!first) out += below(2) == 0 ? "," : ", ";
      first = false;
      json::append_string(out, name);
      out += below(2) == 0 ? ":" : ": ";
      append_value(out, name, depth);
    }
    out.push_back('}');
  }

  void append_value(std::string& out, std::string_view name, int depth) {
    if (name == "text" || name == "path") {
      append_text(out);
    } else if (name == "count") {
      out += std::to_string(static_cast<int>(below(2000)) - 1000);
    } else if (name == "ratio") {
      append_number(out);
    } else if (name == "flag") {
      out += below(2) == 0 ? "true" : "false";
    } else if (name == "nothing") {
      out += "null";
    } else if (name == "words") {
      append_array(out, [&] { append_text(out); });
    } else if (name == "numbers") {
      append_array(out, [&] { append_number(out); });
    } else if (name == "deep") {
      append_object(out, depth + 1);
    } else {
      append_array(out, [&] { append_object(out, depth + 1); });
    }
  }

  std::mt19937_64 random_;
};

void expect_round_trip(const Dialect& dialect, const Calls& given) {
  const Calls calls = with_ids(dialect.name, given);
  std::string text;
  ASSERT_TRUE(render_calls(dialect.name, calls, text));
  EXPECT_EQ(parsed(dialect, text, text.size()), expected(calls)) << dialect.name << ": " << text;
  EXPECT_EQ(parsed(dialect, text, 1), expected(calls)) << dialect.name << " byte by byte: " << text;
}

class Render : public testing::TestWithParam<const Dialect*> {};

TEST_P(Render, is_the_inverse_of_the_parser_for_the_table) {
  for (const Calls& calls : table()) expect_round_trip(*GetParam(), calls);
}

TEST_P(Render, is_the_inverse_of_the_parser_for_random_calls) {
  RandomCalls random(20);
  for (int i = 0; i < 300 && !HasFailure(); ++i) expect_round_trip(*GetParam(), random.next());
}

TEST_P(Render, appends_and_refuses_arguments_that_are_no_object) {
  for (const char* arguments : {"[1]", "3", "{\"a\": ", "{} {}", "null"}) {
    std::string text = "before";
    EXPECT_FALSE(render_calls(GetParam()->name, Calls{call("write", arguments)}, text));
    EXPECT_EQ(text, "before");
  }
  std::string text = "before";
  EXPECT_TRUE(writes_calls_as_text(GetParam()->name));
  EXPECT_TRUE(render_calls(GetParam()->name, Calls{}, text));
  EXPECT_EQ(text, "before");
  EXPECT_TRUE(render_calls(GetParam()->name, Calls{call("write", "{}")}, text));
  EXPECT_TRUE(text.starts_with("before") && text.size() > 6);
}

TEST_P(Render, leaves_the_text_before_calls_alone) {
  const Calls calls = with_ids(GetParam()->name, {call("write", R"({"text": "x"})")});
  std::string text = "Let me write.\n";
  ASSERT_TRUE(render_calls(GetParam()->name, calls, text));
  const std::string out = parsed(*GetParam(), text, 1);
  EXPECT_TRUE(out.starts_with(expected(calls) + "text Let me write.")) << out;
}

std::vector<const Dialect*> text_dialects() {
  std::vector<const Dialect*> found;
  for (const Dialect* dialect : all()) {
    if (dialect->name != "native" && dialect->name != "auto") found.push_back(dialect);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(Dialects, Render, testing::ValuesIn(text_dialects()),
                         [](const auto& row) { return std::string(row.param->name); });

TEST(RenderCalls, carries_a_whole_call_of_the_dialect_in_a_string) {
  for (const Dialect* dialect : text_dialects()) {
    std::string shown;
    ASSERT_TRUE(render_calls(dialect->name, Calls{call("write", R"({"text": "x"})")}, shown));
    std::string arguments = R"({"text":)";
    json::append_string(arguments, shown);
    expect_round_trip(*dialect, {call("write", arguments + R"(,"count":3})"), call("write", "{}")});
  }
}

TEST(RenderCalls, has_no_text_for_native_auto_and_unknown_dialects) {
  for (const char* dialect : {"native", "auto", "", "klingon"}) {
    std::string text;
    EXPECT_FALSE(render_calls(dialect, Calls{call("write", "{}")}, text)) << dialect;
    EXPECT_FALSE(writes_calls_as_text(dialect)) << dialect;
    EXPECT_EQ(text, "");
  }
}

TEST(RenderCalls, writes_what_the_chat_templates_write) {
  struct Sample {
    std::string_view dialect;
    std::string_view text;
  };
  const Sample samples[] = {
      {"hermes",
       "<tool_call>\n{\"name\": \"write\", \"arguments\": {\"path\": \"a\", \"count\": "
       "3}}\n</tool_call>"},
      {"mistral_v13", R"([TOOL_CALLS]write[ARGS]{"path": "a", "count": 3})"},
      {"cohere_command_r7b",
       "<|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"write\", \"parameters\": "
       "{\"path\": \"a\", \"count\": 3}}\n]<|END_ACTION|>"},
      {"kimi_k2",
       R"(<|tool_calls_section_begin|><|tool_call_begin|>functions.write:0<|tool_call_argument_begin|>)"
       R"({"path": "a", "count": 3}<|tool_call_end|><|tool_calls_section_end|>)"},
      {"qwen3_coder",
       "<tool_call>\n<function=write>\n<parameter=path>\na\n</parameter>\n<parameter=count>\n3\n"
       "</parameter>\n</function>\n</tool_call>"},
      {"deepseek_v32",
       "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"write\">\n<｜DSML｜parameter "
       "name=\"path\" "
       "string=\"true\">a</｜DSML｜parameter>\n<｜DSML｜parameter name=\"count\" string=\"false\">3"
       "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"},
      {"kimi_k3", R"(<|open|>tools<|sep|><|open|>call tool="write" index="1"<|sep|>)"
                  R"(<|open|>argument key="path" type="string"<|sep|>a<|close|>argument<|sep|>)"
                  R"(<|open|>argument key="count" type="number"<|sep|>3<|close|>argument<|sep|>)"
                  "<|close|>call<|sep|><|close|>tools<|sep|>"},
      {"generic_xml", "<write>\n<path>a</path>\n<count>3</count>\n</write>"},
      {"minimax_m3",
       R"(]<]minimax[>[<tool_call>
]<]minimax[>[<invoke name="write">]<]minimax[>[<path>a]<]minimax[>[</path>]<]minimax[>[<count>3)"
       "]<]minimax[>[</count>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>"},
      {"pythonic", R"([write(path="a", count=3)])"},
      {"gemma4", R"(<|tool_call>call:write{path:<|"|>a<|"|>,count:3}<tool_call|>)"},
      {"harmony",
       R"(<|channel|>commentary to=functions.write <|constrain|>json<|message|>{"path": "a", "count": 3}<|call|>)"},
  };
  for (const Sample& sample : samples) {
    std::string text;
    EXPECT_TRUE(
        render_calls(sample.dialect, Calls{call("write", R"({"path": "a", "count": 3})")}, text));
    EXPECT_EQ(text, sample.text) << sample.dialect;
  }
}

TEST(RenderCalls, gives_a_kimi_call_an_id_that_names_its_tool) {
  Calls calls = {call("write", "{}"), call("write", "{}"), call("write", "{}")};
  calls[0].id = "functions.write:12";
  calls[1].id = "call_abc";
  calls[2].id = "functions.other:3";
  std::string text;
  ASSERT_TRUE(render_calls("kimi_k2", calls, text));
  EXPECT_NE(text.find("functions.write:12<"), std::string::npos);
  EXPECT_NE(text.find("functions.write:1<"), std::string::npos);
  EXPECT_NE(text.find("functions.write:2<"), std::string::npos);
}

}  // namespace
}  // namespace callgate::dialect::render_test
