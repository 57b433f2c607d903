#include "dialect/custom/catalog.h"

#include <gtest/gtest.h>

#include "dialect/auto_signs.h"
#include "dialect/custom/golden_case.h"
#include "dialect/oracle_testing.h"

namespace callgate::dialect::catalog_test {
namespace {

const std::vector<ToolSpec>& tools() {
  static const std::vector<ToolSpec> declared = {
      {.name = "find",
       .parameters = {R"({"type":"object","properties":{"q":{"type":"string"},)"
                      R"("n":{"type":"integer"}}})"}}};
  return declared;
}

Definition json() {
  return {.name = "mine",
          .models = {"acme-*"},
          .call = {"<<call>>{json}<</call>>", "<<do>>{json}<</do>>"},
          .section = "<<calls>>{calls}<</calls>>",
          .reasoning = {"<<muse>>{text}<</muse>>"},
          .end = {"<<over>>"},
          .name_member = {"tool"},
          .arguments_member = {"with"}};
}
Definition python() {
  return {.name = "snake", .call = {"<|run|>{python}<|ran|>"}, .special_tokens = true};
}
Definition named() {
  return {.name = "named", .call = {"[CALL]{name}[ID]{id}[ARGS]{arguments}[/CALL]"}};
}
Definition tagged() {
  return {.name = "tags",
          .call = {"<fn={name}> {parameters} </fn>"},
          .parameter = "<p={key}>{value}</p>",
          .section = "<fns>{calls}</fns>",
          .untyped = "json",
          .trim_newline = true,
          .raw = "<![CDATA[{value}]]>"};
}
Definition attributes() {
  return {.name = "attributes",
          .call = {R"(<fn name="{name}">{parameters}</fn>)"},
          .parameter = R"(<p key="{key}">{value}</p>)"};
}
Definition pairs() {
  return {.name = "pairs",
          .call = {"<use>{name}{parameters}</use>"},
          .parameter = "<k>{key}</k><v>{value}</v>"};
}

std::vector<Definition> all_forms() {
  return {json(), python(), named(), tagged(), attributes(), pairs()};
}

struct Row {
  std::string_view dialect;
  std::string_view in;
  std::string_view out;
};

constexpr Row kRows[] = {
    {"mine",
     R"(<<muse>>Hm.<</muse>>Wait. <<call>>{"tool": "find", "with": {"q": "a"}}<</call>><<over>>)",
     "reasoning \"Hm.\"\ntext \"Wait. \"\ncall 0 find\nargs 0 {\"q\": \"a\"}\nend 0 complete\n"},
    {"mine", R"(<<calls>><<do>>[{"with": {"n": 1}, "tool": "find"}]<</do>><</calls>>)",
     "call 0 find\nargs 0 {\"n\": 1}\nend 0 complete\n"},
    {"mine", R"(<<call>>{"name": "find", "arguments": {}}<</call>>)",
     "text \"<<call>>{\\\"name\\\": \\\"find\\\", \\\"arguments\\\": {}}<</call>>\"\n"},
    {"snake", "<|run|>find(q='a', n=2)<|ran|>",
     "call 0 find\nargs 0 {\"q\":\"a\",\"n\":2}\nend 0 complete\n"},
    {"named", R"([CALL]find[ID]x1[ARGS]{"q": "[/CALL]"}[/CALL])",
     "call 0 find id=x1\nargs 0 {\"q\": \"[/CALL]\"}\nend 0 complete\n"},
    {"tags", "<fns>\n<fn=find>\n<p=q>\n7\n</p>\n<p=n>\n7\n</p><p=x>[1]</p></fn>\n</fns>",
     "call 0 find\nargs 0 {\"q\":\"7\",\"n\":7,\"x\":[1]}\nend 0 complete\n"},
    {"tags", "<fn=find><p=q><![CDATA[</p></fn>]]></p></fn>",
     "call 0 find\nargs 0 {\"q\":\"</p></fn>\"}\nend 0 complete\n"},
    {"attributes", R"(<fn name="find"><p key="q">a < b</p></fn>)",
     "call 0 find\nargs 0 {\"q\":\"a < b\"}\nend 0 complete\n"},
    {"pairs", "<use>find\n<k>q</k>\n<v>x</v></use>",
     "call 0 find\nargs 0 {\"q\":\"x\"}\nend 0 complete\n"},
};

TEST(Catalog, reads_calls_of_every_form_at_every_cut) {
  const Catalog catalog(all_forms());
  for (const Row& row : kRows) {
    const golden::Case test{.name = std::string(row.dialect),
                            .tools = tools(),
                            .in = std::string(row.in),
                            .out = std::string(row.out)};
    const Dialect* dialect = catalog.find(row.dialect);
    ASSERT_NE(dialect, nullptr) << row.dialect;
    EXPECT_EQ(golden::check_case(*dialect, test), "") << print_case(*dialect, test, {});
  }
}

TEST(Catalog, keeps_the_rules_of_all_dialects_on_damaged_text) {
  const Catalog catalog(all_forms());
  for (const Row& row : kRows) {
    for (std::size_t hole = 0; hole < row.in.size(); ++hole) {
      std::string text(row.in);
      text.erase(hole, 1 + hole % 3);
      text += row.in.substr(0, hole);
      for (const std::string_view name : {row.dialect, std::string_view("auto")}) {
        EXPECT_EQ(oracle::check(*catalog.find(name), {.tools = tools()}, Channel::text, text, hole),
                  "")
            << name << " reads " << text;
      }
    }
  }
}

TEST(Catalog, lets_auto_find_calls_of_own_dialects_and_of_all_others) {
  const Catalog catalog(all_forms());
  for (const Row& row : kRows) {
    if (row.out.find("call 0") == std::string_view::npos) continue;
    EventLog log;
    const auto parser = catalog.find("auto")->make({.tools = tools()});
    // A call that is ordinary text counts at the start of a line.
    const std::size_t at = row.in.find("<<call>>");
    const std::string text(row.in.substr(at == std::string_view::npos ? 0 : at));
    parser->push(text, Channel::text, log);
    parser->finish(log);
    ASSERT_EQ(log.calls().size(), 1u) << row.in;
    EXPECT_EQ(parser->settled_on(), row.dialect) << row.in;
  }
  EventLog log;
  const auto parser = catalog.find("auto")->make({.tools = tools()});
  parser->push("<tool_call>{\"name\": \"find\", \"arguments\": {}}</tool_call>", Channel::text,
               log);
  parser->finish(log);
  EXPECT_EQ(log.calls().size(), 1u);
  EXPECT_EQ(parser->settled_on(), "hermes");
}

TEST(Catalog, reads_reasoning_but_no_calls_for_a_request_without_tools) {
  const Catalog catalog({json()});
  EventLog log;
  const auto parser = make_without_calls(*catalog.find("auto"), {});
  parser->push(kRows[0].in, Channel::text, log);
  parser->finish(log);
  EXPECT_EQ(log.reasoning(), "Hm.");
  EXPECT_TRUE(log.calls().empty());
}

TEST(Catalog, an_opener_of_an_own_dialect_replaces_one_of_the_library) {
  Definition own = json();
  own.call = {"<tool_call>{json}</tool_call>"};
  const Catalog catalog({own});
  EventLog log;
  const auto parser = catalog.find("auto")->make({.tools = tools()});
  parser->push(R"(<tool_call>{"tool": "find", "with": {}}</tool_call>)", Channel::text, log);
  parser->finish(log);
  EXPECT_EQ(parser->settled_on(), "mine");
}

TEST(Catalog, chooses_an_own_dialect_by_its_patterns_before_all_others) {
  const Catalog catalog({json()});
  EXPECT_EQ(catalog.choose_for("acme-qwen3-coder-480b").dialect->name, "mine");
  EXPECT_EQ(catalog.choose_for("qwen3-coder-480b").dialect->name, "qwen3_coder");
  EXPECT_EQ(catalog.all().size(), all().size() + 1);
  EXPECT_TRUE(std::is_sorted(catalog.all().begin(), catalog.all().end(),
                             [](const Dialect* a, const Dialect* b) { return a->name < b->name; }));
}

TEST(Catalog, a_parser_outlives_the_catalog_that_made_it) {
  std::unique_ptr<DialectParser> parser;
  EventLog log;
  {
    const Catalog catalog({named()});
    parser = catalog.find("named")->make({});
  }
  const Catalog other({named()});
  parser->push("[CALL]f[ID]1[ARGS]{}[/CALL]", Channel::text, log);
  parser->finish(log);
  EXPECT_EQ(log.calls().size(), 1u);
}

struct FlawRow {
  std::string_view key;
  std::string_view message;
  void (*spoil)(Definition& definition);
};

TEST(Definition, reports_every_mistake_with_what_was_found) {
  const FlawRow rows[] = {
      {"name", R"(name: "hermes" is a built-in dialect; choose another name, such as "my_hermes")",
       [](Definition& d) { d.name = "hermes"; }},
      {"name", R"(name: expected up to 64 letters, digits, `_`, `-` and `.`, got "a b")",
       [](Definition& d) { d.name = "a b"; }},
      {"call", R"(call is missing: show one, such as "<call>{json}</call>")",
       [](Definition& d) { d.call.clear(); }},
      {"call",
       "call: expected a text with {json}, {python}, {name} and {arguments}, or {name} and "
       R"({parameters}, got "<call>{jsn}</call>")",
       [](Definition& d) { d.call = {"<call>{jsn}</call>"}; }},
      {"call", "call: expected {name}, {arguments} in this order, got {name}, {argument}",
       [](Definition& d) { d = {.name = "x", .call = {"<a>{name}<b>{argument}</a>"}}; }},
      {"call", R"(call: the text before {json} "<" has 1 bytes, expected 2 to 64)",
       [](Definition& d) { d.call = {"<{json}</call>"}; }},
      {"call",
       R"(call: all of them must have the same {words}, and "<b>{python}</b>" differs from the first)",
       [](Definition& d) { d.call.push_back("<b>{python}</b>"); }},
      {"call", R"(call: "<<over>>" is a marker with another meaning)",
       [](Definition& d) {
         d.call.push_back("<<call2>>{json}<<over>>");
         d.end = {};
         d.call.push_back("<<over>>{json}<</call>>");
       }},
      {"end", R"(end: "<</call>>" is a marker with another meaning)",
       [](Definition& d) { d.end = {"<</call>>"}; }},
      {"end", R"(end: the token " x" has white space around it)",
       [](Definition& d) { d.end = {" x"}; }},
      {"reasoning", "reasoning: expected {text} in this order, got none",
       [](Definition& d) { d.reasoning = {"<think>"}; }},
      {"section", "section: expected {calls} in this order, got {call}",
       [](Definition& d) { d.section = "<a>{call}</a>"; }},
      {"parameter", "parameter is for calls with {parameters}, and `call` has none",
       [](Definition& d) { d.parameter = "<p={key}>{value}</p>"; }},
      {"parameter", "parameter: expected {key}, {value} in this order, got none",
       [](Definition& d) {
         d = tagged();
         d.parameter = "";
       }},
      {"parameter", R"(parameter: a tag must begin with "<", got "[p=")",
       [](Definition& d) {
         d = tagged();
         d.parameter = "[p={key}]{value}[/p]";
       }},
      {"call", R"(the marker "<fn=" is the beginning of "<fn=x")",
       [](Definition& d) {
         d = tagged();
         d.section = "<fn=x{calls}</fns>";
       }},
      {"untyped", R"(untyped must be text or json, got "number")",
       [](Definition& d) { d.untyped = "number"; }},
      {"commit", R"(commit must be eager or whole_call, got "late")",
       [](Definition& d) { d.commit = "late"; }},
      {"arguments_member", R"(arguments_member: "tool" is also a name_member)",
       [](Definition& d) { d.arguments_member = {"tool"}; }},
      {"models", "models: expected at most 16, got 17",
       [](Definition& d) { d.models.assign(17, "a*"); }},
      {"end", "end: the token is not UTF-8", [](Definition& d) { d.end = {"\xff\xff"}; }},
  };
  for (const FlawRow& row : rows) {
    Definition definition = json();
    row.spoil(definition);
    const std::vector<Flaw> flaws = find_flaws(definition);
    ASSERT_FALSE(flaws.empty()) << row.message;
    EXPECT_EQ(flaws.front().message, row.message);
    EXPECT_EQ(flaws.front().key, row.key) << row.message;
  }
  for (const Definition& definition : all_forms()) {
    const std::vector<Flaw> flaws = find_flaws(definition);
    EXPECT_TRUE(flaws.empty()) << definition.name << ": " << flaws.front().message;
  }
}

TEST(GoldenCase, says_which_line_is_wrong_and_where_the_output_differs) {
  const auto message = [](std::string_view text) {
    const auto cases = golden::read_cases(text);
    return cases ? std::string("none") : cases.error().message;
  };
  EXPECT_EQ(message("=== a\n--- tools\n{]\n"), "line 2: the tools are not a JSON list of objects");
  EXPECT_EQ(message("=== a\n--- options\nloud\n--- in\nx\n"), "line 2: unknown option \"loud\"");
  EXPECT_EQ(message("=== a\n--- input\nx\n"),
            "line 2: unknown section \"input\", expected tools, options, in, in json or out");
  EXPECT_EQ(message("=== a\n--- options\nmax_held_back=99999999999999999999999\n"), "none");
  const auto cases = golden::read_cases("=== a\n--- in\nHello\n--- out\ntext \"Bye\"\n");
  ASSERT_TRUE(cases);
  EXPECT_EQ(golden::check_case(*find("hermes"), cases->front()),
            "case \"a\": expected `text \"Bye\"`, got `text \"Hello\"`");
}

}  // namespace
}  // namespace callgate::dialect::catalog_test
