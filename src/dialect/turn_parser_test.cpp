#include "dialect/turn_parser.h"

#include <gtest/gtest.h>

#include "chat/event_grammar.h"
#include "chat/event_log.h"

namespace callgate::dialect::turn_parser_test {
namespace {

struct Push {
  std::string_view text;
  Channel channel = Channel::text;
};

std::string parse(std::string_view dialect, std::initializer_list<Push> pushes,
                  DialectOptions options = {}) {
  EventLog log;
  CheckedSink sink(log);
  const auto parser = find(dialect)->make(options);
  for (const Push& push : pushes) parser->push(push.text, push.channel, sink);
  parser->finish(sink);
  return print(log.events());
}

TEST(TurnParser, keeps_the_channels_of_the_upstream_apart) {
  EXPECT_EQ(parse("hermes", {{"Hm. <", Channel::reasoning}, {"think>Ok.", Channel::text}}),
            "reasoning \"Hm. <\"\ntext \"think>Ok.\"\n");
}

TEST(TurnParser, ends_reasoning_that_the_upstream_ended) {
  EXPECT_EQ(parse("hermes", {{"<think>Hm.", Channel::reasoning}, {"Ok.", Channel::text}}),
            "reasoning \"Hm.\"\ntext \"Ok.\"\n");
}

TEST(TurnParser, reads_a_call_across_channels) {
  EXPECT_EQ(parse("hermes", {{"Hm.<tool_call>{\"name\": \"f\", \"argu", Channel::reasoning},
                             {"ments\": {}}</tool_call>\nOk.", Channel::text}}),
            "reasoning \"Hm.\"\ncall 0 f\nargs 0 {}\nend 0 complete\ntext \"Ok.\"\n");
}

TEST(TurnParser, gives_an_unfinished_call_back_to_its_channel) {
  EXPECT_EQ(parse("hermes", {{"<tool_call>{\"x\"", Channel::reasoning}, {": oops", Channel::text}}),
            "reasoning \"<tool_call>{\\\"x\\\": \"\ntext \"oops\"\n");
}

// Every one of these may open a call that holds back all the others. Read again for each, they would take minutes.
TEST(TurnParser, reads_openers_that_hold_each_other_back_only_a_few_times) {
  const std::vector<ToolSpec> tools = {{.name = "run"}};
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "<run>";
  EventLog log;
  const auto parser = find("generic_xml")->make({.tools = tools, .commit = Commit::whole_call});
  parser->push(text, Channel::text, log);
  parser->finish(log);
  EXPECT_EQ(log.text(), text);
}

TEST(TurnParser, takes_an_empty_turn) {
  for (const Dialect* dialect : all()) {
    EXPECT_EQ(parse(dialect->name, {}), "") << dialect->name;
    EXPECT_EQ(parse(dialect->name, {{""}, {"", Channel::reasoning}}), "") << dialect->name;
  }
}

TEST(TurnParser, passes_plain_text_in_every_dialect) {
  for (const Dialect* dialect : all()) {
    EXPECT_EQ(parse(dialect->name, {{"Hel"}, {"lo, world.\n"}}), "text \"Hello, world.\\n\"\n")
        << dialect->name;
  }
}

TEST(TurnParser, lets_arguments_out_while_they_are_written) {
  EventLog log;
  const auto parser = find("hermes")->make({});
  parser->push("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"x", Channel::text, log);
  EXPECT_EQ(print(log.events()), "call 0 f\nargs 0 {\"a\": \"x\n");
  parser->push("y", Channel::text, log);
  EXPECT_EQ(print(log.events()), "call 0 f\nargs 0 {\"a\": \"xy\n");
}

TEST(TurnParser, cuts_no_escape_in_two) {
  class Fragments final : public EventSink {
   public:
    void accept(const Event& event) override {
      if (const auto* delta = std::get_if<ArgumentsDelta>(&event)) {
        all.append(delta->bytes).append("|");
      }
    }
    std::string all;
  };
  Fragments sink;
  const auto parser = find("hermes")->make({});
  const std::string_view text =
      R"(<tool_call>{"name": "f", "arguments": {"a": "\n\ud83d\ude00\u00e9"}}</tool_call>)";
  for (const char& byte : text) parser->push({&byte, 1}, Channel::text, sink);
  parser->finish(sink);
  EXPECT_EQ(sink.all, R"({|"|a|"|:| |"|\n|\ud83d\ude00|\u00e9|"|}|)");
}

}  // namespace
}  // namespace callgate::dialect::turn_parser_test
