#include "dialect/explain.h"

#include <gtest/gtest.h>

#include <vector>

#include "chat/event_log.h"
#include "dialect/golden_testing.h"

namespace callgate::dialect::explain_test {
namespace {

class Lines final : public Explainer {
 public:
  explicit Lines(std::string_view asked) : asked_(asked) {}
  void stayed_text(const StayedText& text) override { all += to_string(text, asked_) + '\n'; }
  std::string all;

 private:
  std::string_view asked_;
};

const std::vector<ToolSpec> kTools = {{.name = "get_weather"}};

struct Asked {
  std::string_view dialect = "auto";
  std::span<const ToolSpec> tools = kTools;
  Channel channel = Channel::text;
  bool special_tokens_only = false;
};

std::string explain(const Asked& asked, std::string_view text, std::size_t piece) {
  Lines lines(asked.dialect);
  EventLog log;
  const Dialect& dialect = *find(asked.dialect);
  const auto parser = dialect.make({.tools = asked.tools,
                                    .special_tokens_only = asked.special_tokens_only,
                                    .commit = dialect.commit,
                                    .explain = &lines});
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    parser->push(text.substr(0, piece), asked.channel, log);
  }
  parser->finish(log);
  return lines.all;
}

void expect(const Asked& asked, std::string_view text, std::string_view lines) {
  for (const std::size_t piece : {text.size(), std::size_t{1}, std::size_t{3}}) {
    EXPECT_EQ(explain(asked, text, piece), lines) << asked.dialect << " in pieces of " << piece;
  }
}

TEST(Explain, says_what_json_lacks) {
  const Asked hermes{.dialect = "hermes"};
  expect(hermes, "<tool_call>\n{'name': 'f'}\n</tool_call>",
         "hermes: opener at byte 0, gave up at byte 13: expected '\"', found \"'\"\n");
  expect(hermes, "<tool_call>{\"nme\": \"f\", \"arguments\": {}}</tool_call>",
         "hermes: opener at byte 0, gave up at byte 39: expected a member \"name\", found '}'\n");
  expect(hermes, "Look: <tool_call>f(x)</tool_call>",
         "hermes: opener at byte 6, gave up at byte 17: expected a call, found 'f'\n");
  expect(hermes, "<tool_call>{\"name\": ",
         "hermes: opener at byte 0, gave up at byte 20: expected the rest of the call, found the "
         "end of the turn\n");
  expect(hermes, "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>", "");
}

TEST(Explain, says_what_other_families_lack) {
  expect({.dialect = "qwen3_coder"}, "<tool_call>\nhello</tool_call>",
         "qwen3_coder: opener at byte 0, gave up at byte 12: expected <function=, found 'h'\n");
  expect(
      {.dialect = "glm45"}, "<tool_call>get weather!\n",
      "glm45: opener at byte 0, gave up at byte 22: expected an argument of the call, found '!'\n");
  expect({.dialect = "pythonic"}, "[get_weather]",
         "pythonic: opener at byte 0, gave up at byte 12: expected '(', found ']'\n");
  expect({.dialect = "pythonic"}, "[fly(to=\"Rome\")]",
         "pythonic: opener at byte 0, gave up at byte 5: tool \"fly\" is not declared\n");
  expect({.dialect = "harmony"}, "<|channel|>commentary to=functions.f json<|message|>oops",
         "harmony: opener at byte 0, gave up at byte 52: expected '{'\n");
  expect({.dialect = "xlam"}, "[{\"name\": \"fly\", \"arguments\": {}}]",
         "xlam: opener at byte 0, gave up at byte 15: tool \"fly\" is not declared\n");
}

struct Told {
  std::string_view text;
  std::string_view line;  // after the dialect
};

void expect_each(std::string_view dialect, std::span<const Told> rows) {
  for (const Told& row : rows) {
    expect({.dialect = dialect}, row.text,
           std::string(dialect).append(": ").append(row.line).append("\n"));
  }
}

TEST(Explain, says_what_an_addressed_message_lacks) {
  constexpr Told kRows[] = {
      {"<|start|>assistant to=get_weather<|message|>hello<|eom|>",
       "opener at byte 0, gave up at byte 44: expected <atem:invoke or '{', found 'h'"},
      {"<|start|>assistant to=get_weather<|message|><atem:function_calls>\n<atem:invoke nme=\"f\">",
       "opener at byte 66, gave up at byte 87: expected the name of a tool in the tag, found "
       "\" nme=\"f\">\""},
      {"<|start|>assistant to=get_weather<|message|><atem:function_calls>\n<atem:invoke nam",
       "opener at byte 66, gave up at byte 82: expected '>', found the end of the turn"},
      {"<|start|>assistant to=user<|message|><atem:function_calls><atem:invoke name=\"fly\">"
       "</atem:invoke></atem:function_calls><|eot|>",
       "opener at byte 37, gave up at byte 118: tool \"fly\" is not declared"},
      {"<|start|>assistant to=user<|message|><atem:function_calls><atem:invoke "
       "name=\"get_weather\">"
       "</atem:invoke></atem:function_calls> is how.<|eot|>",
       "opener at byte 37, gave up at byte 127: expected the end of the message, found 'i'"},
      {"<|start|>assistant to=self<|message|>Hm. <|start|>you<|eom|>",
       "opener at byte 41, gave up at byte 50: expected assistant, to= and a recipient, found 'y'"},
  };
  expect_each("muse_glimmer", kRows);
}

TEST(Explain, says_what_a_content_block_lacks) {
  constexpr Told kRows[] = {
      {"<|message_model|>f<|content_invoke_tool_json|>oops<|end_message|>",
       "opener at byte 18, gave up at byte 46: expected '{', found 'o'"},
      {"<|content_invoke_tool_json|>{'name': 1}<|end_message|>",
       "opener at byte 0, gave up at byte 29: expected '\"', found \"'\""},
      {"<|content_invoke_tool_json|>{\"name\": ",
       "opener at byte 0, gave up at byte 37: expected the rest of the call, found the end of the "
       "turn"},
      {"<|content_invoke_tool_json|> ",
       "opener at byte 0, gave up at byte 29: expected '{', found the end of the turn"},
  };
  expect_each("inkling", kRows);
}

TEST(Explain, says_what_an_element_lacks) {
  constexpr Told kTags[] = {
      {"<get_weather>hello</get_weather>",
       "opener at byte 0, gave up at byte 13: expected a tag or '{', found 'h'"},
      {"<get_weather>< b></get_weather>",
       "opener at byte 0, gave up at byte 13: expected a tag, found '<'"},
      {"<get_weathers>",
       "opener at byte 0, gave up at byte 12: expected the end of the tag's name, "
       "found 's'"},
      {"<get_weather city",
       "opener at byte 0, gave up at byte 17: expected '>', found the end of "
       "the turn"},
      {"<get_weather><city>Paris</city>",
       "opener at byte 0, gave up at byte 31: expected </get_weather>, found the end of the turn"},
      {"<get_weather><city>Paris</get_weather>",
       "opener at byte 0, gave up at byte 38: expected a closed element for each argument"},
      {"<get_weather>{\"city\": }</get_weather>",
       "opener at byte 0, gave up at byte 37: expected JSON with the name and the arguments of a "
       "call"},
  };
  expect_each("generic_xml", kTags);
  constexpr Told kNames[] = {
      {"<use_tool><city>Paris</city></use_tool>",
       "opener at byte 0, gave up at byte 39: expected the name of a tool"},
      {"Write `<use_tool>` first.", "opener at byte 7: in inline code"},
  };
  expect_each("use_tool", kNames);
}

TEST(Explain, says_what_prefixed_tags_lack) {
  constexpr Told kRows[] = {
      {"]<]minimax[>[<tool_call>\nhello",
       "opener at byte 0, gave up at byte 25: expected ]<]minimax[>[<invoke, found 'h'"},
      {"]<]minimax[>[<tool_call>]<]minimax[>[<foo>",
       "opener at byte 0, gave up at byte 42: expected ]<]minimax[>[<invoke, found \"foo\""},
      {"]<]minimax[>[<invoke nme=\"f\">",
       "opener at byte 0, gave up at byte 29: expected the name of a tool in the tag, found "
       "\"invoke nme=\"f\"\""},
      {"]<]minimax[>[<tool_call>]<]mini",
       "opener at byte 0, gave up at byte 31: expected ]<]minimax[>[<invoke, found the end of the "
       "turn"},
  };
  expect_each("minimax_m3", kRows);
}

TEST(Explain, says_what_a_call_of_gemma_lacks) {
  constexpr Told kRows[] = {
      {"<|tool_call>call:f(x)<tool_call|>",
       "opener at byte 0, gave up at byte 18: expected the name of a tool and '{', found '('"},
      {"<|tool_call>{city: 1}",
       "opener at byte 0, gave up at byte 12: expected the name of a tool before the arguments, "
       "found '{'"},
      {"<|tool_call>call:get",
       "opener at byte 0, gave up at byte 20: expected the name of a tool and '{', found the end "
       "of the turn"},
  };
  expect_each("gemma4", kRows);
}

TEST(Explain, names_the_rules_of_auto) {
  const std::string call =
      "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {}}\n</tool_call>";
  const auto at = [](std::size_t byte, std::string_view dialect, std::string_view why) {
    return std::string(dialect) + ": opener at byte " + std::to_string(byte) + ": " +
           std::string(why) + "\n";
  };
  expect({}, call, "");
  expect({}, "Write " + call, at(6, "auto", "not at the start of a line"));
  expect({}, "Write <tool_call>\n<function=get_weather>\n</function>\n</tool_call>",
         at(6, "auto", "not at the start of a line") +
             at(18, "qwen3_coder", "inside markup that stayed text"));
  expect({}, "[THINK]Hm.[/THINK]\n> [TOOL_CALLS]get_weather[ARGS]{}",
         at(21, "mistral_v13", "in a block quote"));
  expect({}, "Write `<tool_call>` first.", at(7, "auto", "in inline code"));
  expect({}, "```\n" + call + "\n```", at(4, "auto", "in a code fence"));
  expect({}, "> <tool_call>", at(2, "auto", "in a block quote"));
  expect({}, call + "\nThat is how.", at(0, "hermes", "prose follows the call"));
  expect({}, "Hm.\n<tool_call>{\"name\": \"fly\", \"arguments\": {}}</tool_call>",
         at(4, "hermes", "tool \"fly\" is not declared"));
  expect({.channel = Channel::reasoning}, call, at(0, "auto", "in a reasoning field"));
  expect({.special_tokens_only = true}, call,
         at(0, "auto", "the upstream has structured calls for that"));
  expect({}, "<tool_call>\nget_wether\n</tool_call>",
         at(0, "auto", "tool \"get_wether\" is not declared"));
}

TEST(Explain, hands_on_what_the_dialect_says_that_auto_picked) {
  expect({}, "Hi.\n<tool_call>\n{'name': 'get_weather'}\n</tool_call>",
         "hermes: opener at byte 4, gave up at byte 17: expected '\"', found \"'\"\n");
  expect({}, "<|channel|>commentary to=functions.get_weather json<|message|>oops",
         "harmony: opener at byte 0, gave up at byte 62: expected '{'\n");
}

TEST(Explain, says_that_a_request_has_no_tools) {
  for (const std::string_view name : {"auto", "hermes"}) {
    Lines lines(name);
    EventLog log;
    const auto parser = make_without_calls(*find(name), {.explain = &lines});
    parser->push("<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>", Channel::text, log);
    parser->finish(log);
    EXPECT_NE(lines.all.find("the request declares no tools"), std::string::npos) << lines.all;
  }
}

struct Bounds final : Explainer {
  void stayed_text(const StayedText& text) override {
    EXPECT_LE(text.begin, text.end);
    last = std::max(last, text.end);
    all += to_string(text, "") + '\n';
  }
  std::uint64_t last = 0;
  std::string all;
};

std::string parse(const Dialect& dialect, const golden::Case& test, Explainer* explain,
                  std::size_t piece) {
  DialectOptions options = test.options();
  options.explain = explain;
  const auto parser = test.no_tools ? make_without_calls(dialect, options) : dialect.make(options);
  EventLog log;
  for (std::string_view rest = test.in; !rest.empty();) {
    parser->push(rest.substr(0, piece), test.channel, log);
    rest.remove_prefix(std::min(piece, rest.size()));
  }
  parser->finish(log);
  return print(log.events());
}

TEST(Explain, changes_nothing_and_says_the_same_at_every_cut) {
  for (const Dialect* dialect : all()) {
    for (const golden::Case& test : golden::cases_of(*dialect)) {
      if (!test.reason.empty() || test.in.empty()) continue;
      const std::string plain = parse(*dialect, test, nullptr, test.in.size());
      Bounds whole;
      EXPECT_EQ(parse(*dialect, test, &whole, test.in.size()), plain) << dialect->name << test.name;
      EXPECT_LE(whole.last, test.in.size()) << dialect->name << " " << test.name;
      Bounds bytes;
      parse(*dialect, test, &bytes, 1);
      EXPECT_EQ(bytes.all, whole.all) << dialect->name << " " << test.name;
    }
  }
}

}  // namespace
}  // namespace callgate::dialect::explain_test
