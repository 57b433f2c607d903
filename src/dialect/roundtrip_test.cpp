// Turns made at random from the grammar: what was written comes out, at any cuts.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "callgate/dialect.h"
#include "chat/event_grammar.h"
#include "chat/event_log.h"
#include "json/writer.h"

namespace callgate::dialect::roundtrip_test {
namespace {

// How a dialect writes one call: head NAME middle ARGUMENTS tail; `open` and `close` around one or several of them.
struct Writing {
  std::string_view dialect;
  std::string_view open;
  std::string_view head;
  std::string_view middle;
  std::string_view tail;
  std::string_view separator;
  std::string_view close;
  std::string_view think = "<think>\n";
  std::string_view think_end = "\n</think>\n\n";
};

constexpr std::string_view kArguments = R"(", "arguments": )";
constexpr std::string_view kParameters = R"(", "parameters": )";
constexpr std::string_view kName = R"({"name": ")";

constexpr Writing kWritings[] = {
    {"hermes", "", "<tool_call>\n{\"name\": \"", kArguments, "}\n</tool_call>", "\n", ""},
    {"granite4", "", "<tool_call>{\"name\": \"", kArguments, "}</tool_call>", "", ""},
    {"ernie45", "", "<tool_call>\n{\"name\": \"", kArguments, "}\n</tool_call>", "\n", ""},
    {"granite", "<|tool_call|>[", kName, kArguments, "}", ", ", "]"},
    {"granite20b_fc", "", "<function_call> {\"name\": \"", kArguments, "}", " ", ""},
    {"llama3_json", "", kName, kParameters, "}", "; ", ""},
    {"mistral_v13", "", "[TOOL_CALLS]", "[ARGS]", "", "", "", "[THINK]", "[/THINK]"},
    {"deepseek_v3", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
     "\n```json\n", "\n```<｜tool▁call▁end｜>", "\n", "<｜tool▁calls▁end｜>"},
    {"deepseek_v31", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>",
     "<｜tool▁call▁end｜>", "", "<｜tool▁calls▁end｜>"},
    {"phi4_mini", "functools[", kName, kArguments, "}", ", ", "]"},
    {"jamba", "<tool_calls>[\n", kName, kArguments, "}", ",\n", "\n]</tool_calls>"},
    {"minimax_m1", "<tool_calls>\n", kName, kArguments, "}", "\n", "\n</tool_calls>"},
    {"hunyuan_a13b", "<tool_calls>[", kName, kArguments, "}", ",", "]</tool_calls>"},
    {"nemotron_deci", "<TOOLCALL>[", kName, kArguments, "}", ", ", "]</TOOLCALL>"},
    {"internlm2", "", "<|action_start|><|plugin|>{\"name\": \"", kParameters, "}<|action_end|>", "",
     ""},
    {"longcat", "", "<longcat_tool_call>{\"name\": \"", kArguments, "}</longcat_tool_call>", "\n",
     ""},
    {"apertus", "<|tools_prefix|>[", "{\"", "\": ", "}", ", ", "]<|tools_suffix|>",
     "<|inner_prefix|>", "<|inner_suffix|>"},
    {"gigachat3", "", "<|function_call|>{\"name\": \"", kArguments, "}", "", ""},
    {"functionary_v31", "", "<function=", ">", "</function>", "", ""},
    {"dots", "", "<dots_function_call>{\"name\": \"", kArguments, "}</dots_function_call>", "", ""},
    {"auto", "", "<tool_call>\n{\"name\": \"", kArguments, "}\n</tool_call>", "\n", ""},
};

class Turns {
 public:
  Turns(const Writing& writing, std::uint64_t seed) : writing_(writing), random_(seed) {}

  // One turn as text, and the events that it is.
  std::string write(EventSink& sink) {
    // `auto` takes an opener in the middle of a line, and calls that prose follows, for quotations.
    const bool careful = writing_.dialect == "auto";
    std::string text;
    calls_ = 0;
    if (below(2) == 0) {
      const std::string thought = prose();
      text.append(writing_.think).append(thought).append(writing_.think_end);
      sink.accept(ReasoningDelta{thought});
    }
    for (std::size_t left = 1 + below(3); left > 0; --left) {
      if (below(2) == 0 && !(careful && calls_ > 0)) {
        const std::string said = prose() + (careful || below(2) == 0 ? "\n\n" : " ");
        text += said;
        sink.accept(TextDelta{said});
      }
      write_calls(text, sink);
      if (left > 1) text += "\n";
    }
    return text;
  }
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }

 private:
  void write_calls(std::string& text, EventSink& sink) {
    constexpr std::string_view kNames[] = {"get_weather", "run", "mcp.read-file"};
    text += writing_.open;
    const std::size_t count = 1 + below(3);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view name = kNames[below(std::size(kNames))];
      std::string arguments;
      write_object(arguments, 0);
      if (i > 0) text += writing_.separator;
      text.append(writing_.head).append(name).append(writing_.middle).append(arguments);
      text += writing_.tail;
      sink.accept(CallStarted{.call = calls_, .name = name});
      sink.accept(ArgumentsDelta{.call = calls_, .bytes = arguments});
      sink.accept(CallFinished{.call = calls_++});
    }
    text += writing_.close;
  }

  std::string prose() {
    constexpr std::string_view kWords[] = {"Let",  "me",         "a < b", "see,",   "東京",
                                           "x[0]", "\"quoted\"", "<b>",   "it's",   "{}",
                                           "é",    "1 >> 2",     "\n",    "- item", "🌦"};
    std::string text = "Well";
    for (std::size_t left = below(6); left > 0; --left) {
      text.append(" ").append(kWords[below(std::size(kWords))]);
    }
    return text + ".";
  }

  void write_object(std::string& out, int depth) {
    out += '{';
    const std::size_t count = below(4);
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out += ", ";
      write_string(out);
      out += below(2) == 0 ? ": " : ":";
      write_value(out, depth + 1);
    }
    out += '}';
  }

  void write_value(std::string& out, int depth) {
    constexpr std::string_view kScalars[] = {
        "0", "-1.5e+10", "12345678901234567890", "true", "false", "null", "{}", "[]"};
    switch (below(depth < 4 ? 5 : 2)) {
      case 0:
        write_string(out);
        break;
      case 1:
        out += kScalars[below(std::size(kScalars))];
        break;
      case 2:
        write_object(out, depth);
        break;
      default:
        out += "[\n ";
        write_value(out, depth + 1);
        out += below(2) == 0 ? " ]" : "]";
        break;
    }
  }

  void write_string(std::string& out) {
    const std::string_view pieces[] = {"a",           " ",
                                       "</think>",    "}}",
                                       "]",           "{\"name\": \"run\"}",
                                       "```",         "é東🌦",
                                       "\\",          "\n\t",
                                       "<",           writing_.tail,
                                       writing_.head, writing_.close,
                                       writing_.open, "<tool_call>",
                                       "'",           "\x7F"};
    std::string text;
    for (std::size_t left = below(6); left > 0; --left) text += pieces[below(std::size(pieces))];
    if (below(3) == 0) text += '"';
    json::append_string(out, text);
    if (below(4) == 0) out.insert(out.size() - 1, "\\u00e9\\ud83d\\ude00");
  }

  const Writing& writing_;
  std::mt19937_64 random_;
  CallIndex calls_ = 0;
};

std::string parse(const Dialect& dialect, std::string_view text, std::size_t longest, Turns& cuts) {
  const std::vector<ToolSpec> tools = {
      {.name = "get_weather"}, {.name = "run"}, {.name = "mcp.read-file"}};
  EventLog log;
  CheckedSink sink(log);
  const auto parser = dialect.make({.tools = tools});
  while (!text.empty()) {
    const std::size_t size = std::min(text.size(), 1 + cuts.below(longest));
    parser->push(text.substr(0, size), Channel::text, sink);
    text.remove_prefix(size);
  }
  parser->finish(sink);
  return print(log.events());
}

class Roundtrip : public testing::TestWithParam<Writing> {};

TEST_P(Roundtrip, gives_back_what_was_written) {
  const Dialect* dialect = find(GetParam().dialect);
  ASSERT_NE(dialect, nullptr);
  Turns turns(GetParam(), 7);
  for (int round = 0; round < 300; ++round) {
    EventLog written;
    const std::string text = turns.write(written);
    for (const std::size_t longest :
         {std::size_t{1}, std::size_t{5}, std::size_t{40}, text.size()}) {
      ASSERT_EQ(parse(*dialect, text, longest, turns), print(written.events())) << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dialects, Roundtrip, testing::ValuesIn(kWritings),
                         [](const auto& row) { return std::string(row.param.dialect); });

}  // namespace
}  // namespace callgate::dialect::roundtrip_test
