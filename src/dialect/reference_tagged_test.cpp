// Dialects whose values are raw texts, typed by schemas: golden inputs, turns made at random from tools with random
// schemas, and both of them damaged, against the references; what was written comes out.
#include <gtest/gtest.h>

#include "dialect/golden_testing.h"
#include "dialect/random_turn_testing.h"
#include "dialect/reference_testing.h"

namespace callgate::dialect::reference::reference_tagged_test {
namespace {

// How a dialect writes calls: %n is a tool's name, %k and %v a parameter's, %s and %t say what the value is, %p are all
// parameters, %c all calls.
struct Writing {
  std::string_view dialect;
  std::string_view block;
  std::string_view call;
  std::string_view parameter;
  std::string_view close;  // of a value: the marker that is data when text follows it
  ReasoningText reasoning = {};
  bool tag_is_name = false;  // keys are tags: an unlisted key beside listed ones is text
};

void PrintTo(const Writing& writing, std::ostream* out) { *out << writing.dialect; }

constexpr ReasoningText kSeed = {"<seed:think>", "</seed:think>"};
constexpr ReasoningText kMiniMax = {"<mm:think>\n", "\n</mm:think>\n\n"};
constexpr ReasoningText kKimi = {"<|open|>think<|sep|>", "<|close|>think<|sep|>"};

constexpr Writing kWritings[] = {
    {"qwen3_coder", "%c", "<tool_call>\n<function=%n>\n%p</function>\n</tool_call>\n",
     "<parameter=%k>\n%v\n</parameter>\n", "</parameter>"},
    {"seed_oss", "%c", "<seed:tool_call>\n<function=%n>\n%p</function>\n</seed:tool_call>\n",
     "<parameter=%k>%v</parameter>\n", "</parameter>", kSeed},
    {"glm45", "%c", "<tool_call>%n\n%p</tool_call>\n",
     "<arg_key>%k</arg_key>\n<arg_value>%v</arg_value>\n", "</arg_value>"},
    {"glm47", "%c", "<tool_call>%n%p</tool_call>", "<arg_key>%k</arg_key><arg_value>%v</arg_value>",
     "</arg_value>"},
    {"hunyuan", "<tool_calls>%c</tool_calls>", "<tool_call>%n<tool_sep>%p</tool_call>",
     "<arg_key>%k</arg_key><arg_value>%v</arg_value>", "</arg_value>"},
    {"deepseek_v32", "<｜DSML｜function_calls>\n%c</｜DSML｜function_calls>",
     "<｜DSML｜invoke name=\"%n\">\n%p</｜DSML｜invoke>\n",
     "<｜DSML｜parameter name=\"%k\" string=\"%s\">%v</｜DSML｜parameter>\n",
     "</｜DSML｜parameter>"},
    {"deepseek_v4", "<｜DSML｜tool_calls>\n%c</｜DSML｜tool_calls>",
     "<｜DSML｜invoke name=\"%n\">\n%p</｜DSML｜invoke>\n",
     "<｜DSML｜parameter name=\"%k\">%v</｜DSML｜parameter>\n", "</｜DSML｜parameter>"},
    {"dots", "<dots_function_call>\n%c</dots_function_call>", "<invoke name=\"%n\">\n%p</invoke>\n",
     "<parameter name=\"%k\">%v</parameter>\n", "</parameter>"},
    {"minimax_m2", "<minimax:tool_call>\n%c</minimax:tool_call>",
     "<invoke name=\"%n\">\n%p</invoke>\n", "<parameter name=\"%k\">%v</parameter>\n",
     "</parameter>"},
    {"minimax_m3", "]<]minimax[>[<tool_call>\n%c]<]minimax[>[</tool_call>",
     "]<]minimax[>[<invoke name=\"%n\">%p]<]minimax[>[</invoke>\n",
     "]<]minimax[>[<%k>%v]<]minimax[>[</%k>", "</x>", kMiniMax, true},
    {"anthropic_xml", "<function_calls>\n%c</function_calls>",
     "<invoke name=\"%n\">\n%p</invoke>\n", "<parameter name=\"%k\">%v</parameter>\n",
     "</parameter>"},
    {"step3", "<｜tool_calls_begin｜>\n%c<｜tool_calls_end｜>",
     "<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke "
     "name=\"%n\">%p</steptml:invoke><｜tool_call_end｜>\n",
     "<steptml:parameter name=\"%k\">%v</steptml:parameter>", "</steptml:parameter>"},
    {"kimi_k3", "<|open|>tools<|sep|>%c<|close|>tools<|sep|>",
     "<|open|>call tool=\"%n\" index=\"1\"<|sep|>%p<|close|>call<|sep|>",
     "<|open|>argument key=\"%k\" type=\"%t\"<|sep|>%v<|close|>argument<|sep|>",
     "<|close|>argument<|sep|>", kKimi},
    {"minicpm5", "%c", "<function name=\"%n\">%p</function>\n", "<param name=\"%k\">%v</param>",
     "</param>"},
    {"generic_xml", "%c", "<%n>\n%p</%n>\n", "<%k>%v</%k>\n", "</x>", {}, true},
    {"use_tool",
     "%c",
     "<use_tool>\n<name>%n</name>\n%p</use_tool>\n",
     "<%k>%v</%k>\n",
     "</x>",
     {},
     true},
};

// A schema, a raw value, and the JSON that it is.
struct Value {
  std::string_view schema;
  std::string_view text;
  std::string_view json;
};

constexpr Value kValues[] = {
    {R"({"type": "integer"})", "5", "5"},
    {R"({"type": "integer"})", "-12345678901234567890123", "-12345678901234567890123"},
    {R"({"type": "integer"})", " 5.0 ", "5.0"},
    {R"({"type": "integer"})", "5.5", R"("5.5")"},
    {R"({"type": "integer"})", "02134", R"("02134")"},
    {R"({"type": "integer"})", "three", R"("three")"},
    {R"({"type": "integer"})", "true", R"("true")"},
    {R"({"type": "integer"})", "", R"("")"},
    {R"({"type": "integer"})", "+1", R"("+1")"},
    {R"({"type": "integer", "nullable": true})", "null", "null"},
    {R"({"type": ["integer", "null"]})", "None", "None"},
    {R"({"enum": [1, 2, null]})", "2", "2"},
    {R"({"const": 7})", "7", "7"},
    {R"({"type": "number"})", "-0.5", "-0.5"},
    {R"({"type": "number"})", "1E+400", "1E+400"},
    {R"({"type": "number"})", "0.1000000000000000055511151231257827",
     "0.1000000000000000055511151231257827"},
    {R"({"type": "number"})", ".5", R"(".5")"},
    {R"({"type": "number"})", "1.", R"("1.")"},
    {R"({"type": "number"})", "0x10", R"("0x10")"},
    {R"({"type": "number"})", "NaN", R"("NaN")"},
    {R"({"type": "number"})", "null", R"("null")"},
    {R"({"type": "boolean"})", "true", "true"},
    {R"({"type": "boolean"})", "False", "false"},
    {R"({"type": "boolean"})", "yes", R"("yes")"},
    {R"({"type": "boolean"})", "1", R"("1")"},
    {R"({"type": ["boolean", "integer"]})", "1", "1"},
    {R"({"type": "null"})", "null", "null"},
    {R"({"type": "object"})", R"({"a": {"b": [1, "</x>"]}, "é": null})",
     R"({"a": {"b": [1, "</x>"]}, "é": null})"},
    {R"({"properties": {"a": {"type": "string"}}})", R"({"a": 1})", R"({"a": 1})"},
    {R"({"type": "object"})", R"({"a": )", R"("{\"a\": ")"},
    {R"({"type": "object"})", "[1]", R"("[1]")"},
    {R"({"type": "object"})", "{}", "{}"},
    {R"({"type": "array"})", "[1, 2.50, true,\n null]", "[1, 2.50, true,\n null]"},
    {R"({"items": {"type": "string"}})", R"(["a"])", R"(["a"])"},
    {R"({"type": "array"})", "a, b", R"("a, b")"},
    {R"({"type": "array"})", R"({"a": 1})", R"("{\"a\": 1}")"},
    {R"({"type": ["array", "object"]})", R"({"a": 1})", R"({"a": 1})"},
    {R"({"type": "string"})", "5", R"("5")"},
    {R"({"type": "string"})", "null", R"("null")"},
    {R"({"type": "string"})", "True", R"("True")"},
    {R"({"type": "string"})", R"({"a": 1})", R"("{\"a\": 1}")"},
    {R"({"type": "string"})", "  two  spaces  ", R"("  two  spaces  ")"},
    {R"({"type": "string"})", " ", R"(" ")"},
    {R"({"type": ["string", "null"]})", "null", "null"},
    {R"({"type": ["string", "null"]})", "nullify", R"("nullify")"},
    {R"({"type": ["string", "null"]})", "nul", R"("nul")"},
    {R"({"type": ["string", "integer"]})", "5", R"("5")"},
    {R"({"enum": ["a", "5", 6]})", "5", R"("5")"},
    {R"({"anyOf": [{"type": "object"}, {"type": "string"}]})", "{}", R"("{}")"},
    {R"({"description": "anything"})", "5", R"("5")"},
    {"{}", "true", R"("true")"},
    {"true", "[1]", R"("[1]")"},
};

class TaggedTurns {
 public:
  TaggedTurns(const Writing& writing, std::uint64_t seed) : writing_(writing), random_(seed) {}

  Random& random() { return random_; }
  const std::vector<ToolSpec>& tools() const { return tools_; }
  const std::vector<LoggedCall>& calls() const { return calls_; }

  // One turn; tools() and calls() are those of it.
  std::string next() {
    tools_.clear();
    calls_.clear();
    std::string text;
    if (random_.one_in(3)) {
      text.append(writing_.reasoning.open).append(words()).append(writing_.reasoning.close);
    }
    if (random_.one_in(2)) text += words() + (random_.one_in(2) ? "\n\n" : " ");
    for (std::size_t left = random_.below(3); left > 0; --left) {
      std::string all;
      for (std::size_t count = 1 + random_.below(3); count > 0; --count) all += call();
      text += fill(writing_.block, 'c', all);
      if (random_.one_in(3)) text += "\n" + words() + "\n";
    }
    return text;
  }

 private:
  static std::string fill(std::string_view pattern, char mark, std::string_view with) {
    std::string out;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] == '%' && i + 1 < pattern.size() && pattern[i + 1] == mark) {
        out += with;
        ++i;
      } else {
        out += pattern[i];
      }
    }
    return out;
  }

  // Prose in which no marker is whole.
  std::string words() {
    constexpr std::string_view kWords[] = {
        "Let",  "a < b", "東京",  "x[0]", "\"it\"", "<b>",        "{}",  "1 >> 2", "\n",
        "🌦", "</",    "<tool", "<|op", "<｜",    "{\"a\": 1}", "]<]", "é"};
    std::string text = "Well";
    for (std::size_t left = random_.below(6); left > 0; --left) {
      text.append(" ").append(random_.pick(kWords));
    }
    return text + ".";
  }

  // A call of a tool of its own.
  std::string call() {
    ToolSpec tool{.name = "tool" + std::to_string(tools_.size())};
    std::string properties;
    std::string defs;
    std::string parameters;
    std::string json = "{";
    const std::size_t count = random_.below(4);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string key = "k" + std::to_string(i);
      Value value = random_.pick(kValues);
      std::string raw(value.text);
      std::string as_json(value.json == "None" ? "null" : value.json);
      if (value.schema == R"({"type": "string"})" && random_.one_in(2)) {
        raw = string(tool.name);
        as_json.clear();
        json::append_string(as_json, raw);
      }
      if (i > 0) json += ',';
      json += "\"" + key + "\":" + as_json;
      const bool listed = writing_.tag_is_name || as_json[0] != '"' || !random_.one_in(6);
      if (listed) {
        if (!properties.empty()) properties += ", ";
        properties += "\"" + key + "\": " + wrapped(value.schema, i, defs);
      }
      std::string parameter = fill(writing_.parameter, 's', as_json[0] == '"' ? "true" : "false");
      parameter = fill(fill(parameter, 't', type_of(as_json)), 'k', key);
      parameters += fill(parameter, 'v', raw);
    }
    tool.parameters.text =
        R"({"type": "object", "$defs": {)" + defs + R"(}, "properties": {)" + properties + "}}";
    calls_.push_back({.name = tool.name, .arguments = json + "}"});
    tools_.push_back(tool);
    return fill(fill(writing_.call, 'n', tool.name), 'p', parameters);
  }

  static std::string_view type_of(std::string_view json) {
    switch (json[0]) {
      case '"':
        return "string";
      case '{':
        return "object";
      case '[':
        return "array";
      case 't':
      case 'f':
        return "boolean";
      case 'n':
        return "null";
      default:
        return "number";
    }
  }

  // The same schema, said in another way.
  std::string wrapped(std::string_view schema, std::size_t index, std::string& defs) {
    const std::string plain(schema);
    switch (random_.below(7)) {
      case 0:
        return R"({"anyOf": [)" + plain + "]}";
      case 1:
        return R"({"description": "x", "allOf": [{"title": "y"}, )" + plain + "]}";
      case 2:
        return R"({"oneOf": [)" + plain + ", " + plain + "]}";
      case 3:
      case 4: {
        const std::string name = "d" + std::to_string(index);
        if (!defs.empty()) defs += ", ";
        defs += "\"" + name + "/~ %\": " + plain + R"(, "loop)" + name +
                R"(": {"anyOf": [{"$ref": "#/$defs/loop)" + name + R"("}, {"$ref": "#/$defs/)" +
                name + R"(~1~0%20%25"}]})";
        return random_.one_in(2) ? R"({"$ref": "#/$defs/loop)" + name + "\"}"
                                 : R"({"$ref": "#/%24defs/)" + name + R"(~1~0%20%25"})";
      }
      default:
        return plain;
    }
  }

  // A text with everything that breaks careless readers.
  std::string string(const std::string& tool) {
    std::string text;
    for (std::size_t left = random_.below(6); left > 0; --left) {
      switch (random_.below(8)) {
        case 0:
          text += std::string(writing_.close) + " x";  // text follows: data
          break;
        case 1:
          text += shown(tool);
          break;
        default: {
          constexpr std::string_view kPieces[] = {
              "a",  "\"",  "\\", "\n", "\t", "<",     ">",     "&amp;", "é",        "東京", "🌦",
              "</", "\\n", "{",  "}",  "]",  "null",  "\x01",  "\x7F",  "</think>", "x\n",  "<div>",
              "'",  "%n",  " ",  "<|", "]<", "</par", "</arg", "<｜",   "\r\n",     "#!",   "]]>"};
          text += random_.pick(kPieces);
          break;
        }
      }
    }
    return text;
  }

  // A whole call, and text behind it.
  std::string shown(const std::string& tool) {
    const std::string parameter =
        fill(fill(fill(fill(writing_.parameter, 's', "true"), 't', "string"), 'k', "k0"), 'v', "y");
    const std::string text =
        fill(writing_.block, 'c', fill(fill(writing_.call, 'n', tool), 'p', parameter));
    return text + "z";
  }

  const Writing& writing_;

  Random random_;
  std::vector<ToolSpec> tools_;
  std::vector<LoggedCall> calls_;
};

class Tagged : public testing::TestWithParam<Writing> {};

std::string printed(const std::vector<LoggedCall>& calls) {
  std::string out;
  for (const LoggedCall& call : calls) {
    out.append(call.name).append(" ").append(call.arguments).append(" ");
    out.append(to_string(call.outcome)).append("\n");
  }
  return out;
}

TEST_P(Tagged, gives_back_what_was_written) {
  const Dialect* dialect = find(GetParam().dialect);
  TaggedTurns turns(GetParam(), seed());
  for (int round = 0; round < 2 * rounds() && !HasFailure(); ++round) {
    const std::string text = turns.next();
    EventLog log;
    const auto parser = dialect->make({.tools = turns.tools()});
    parser->push(text, Channel::text, log);
    parser->finish(log);
    EXPECT_EQ(printed(log.calls()), printed(turns.calls())) << text;
  }
}

TEST_P(Tagged, says_the_same_as_its_reference) {
  const Dialect* dialect = find(GetParam().dialect);
  ASSERT_NE(find_reference(dialect->name), nullptr);
  Comparison comparison(*dialect);
  TaggedTurns turns(GetParam(), seed());
  std::vector<std::string> inputs;
  std::vector<std::vector<ToolSpec>> tools;
  for (const golden::Case& test : golden::cases_of(*dialect)) {
    const bool plain = test.reason.empty() && test.commit == Commit::eager &&
                       test.channel == Channel::text && test.max_held_back > 1000;
    if (!plain) continue;
    inputs.push_back(test.in);
    tools.push_back(test.tools);
    comparison.expect_same({test.in, test.tools, test.reasoning_open, test.cut_off}, test.name);
  }
  for (int round = 0; round < rounds() && !HasFailure(); ++round) {
    inputs.push_back(turns.next());
    tools.push_back(turns.tools());
    comparison.expect_same({inputs.back(), turns.tools(), turns.random().one_in(8)}, "random turn");
  }
  for (int round = 0; round < 3 * rounds() && !HasFailure(); ++round) {
    const std::size_t which = turns.random().below(inputs.size());
    std::string text = inputs[which];
    damage(text, inputs, turns.random());
    comparison.expect_same({text, tools[which], turns.random().one_in(8), turns.random().one_in(4)},
                           "damaged turn");
  }
  comparison.expect_opinions(0.55);
}

INSTANTIATE_TEST_SUITE_P(Dialects, Tagged, testing::ValuesIn(kWritings),
                         [](const auto& row) { return std::string(row.param.dialect); });

}  // namespace
}  // namespace callgate::dialect::reference::reference_tagged_test
