#include <gmock/gmock.h>

#include "script/reply/reply_testing.h"
#include "script/script.h"

namespace callgate::script::parse_script_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(std::string_view text) {
  const Result<Script> script = parse_script(text);
  return script ? "no error" : script.error().message;
}

template <class What>
const What& step(const Script& script, std::size_t index) {
  return std::get<What>(script.rules.at(0).steps.at(index).what);
}

TEST(ParseScript, reads_settings_rules_and_conditions) {
  const Script script = script_of(R"(
# A comment.
seed 7
created 1700000000
model gpt-one   # what is listed
model gpt-two

rule weather
  when model gpt-*
  when last user
  when turn 0
  when user contains "weather in"
  when tools
  when stream
  times 2
  header retry-after: 2
  text "Let me look."
)");
  EXPECT_EQ(script.seed, 7u);
  EXPECT_EQ(script.created, 1700000000);
  EXPECT_THAT(script.models, ElementsAre("gpt-one", "gpt-two"));
  const Rule& rule = script.rules.at(0);
  EXPECT_EQ(rule.name, "weather");
  EXPECT_EQ(rule.when.model, "gpt-*");
  EXPECT_EQ(rule.when.last_role, Role::user);
  EXPECT_EQ(rule.when.turn_from, 0u);
  EXPECT_EQ(rule.when.turn_to, 0u);
  EXPECT_EQ(rule.when.contains.at(0).text, "weather in");
  EXPECT_EQ(rule.when.tools, true);
  EXPECT_EQ(rule.when.stream, true);
  EXPECT_EQ(rule.times, 2u);
  EXPECT_THAT(rule.headers, ElementsAre(testing::Pair("retry-after", "2")));
  EXPECT_FALSE(rule.reads_request);
}

TEST(ParseScript, takes_a_text_without_rules_as_one_rule) {
  const Script script = script_of("text \"Hi\"\r\n");
  ASSERT_EQ(script.rules.size(), 1u);
  EXPECT_THAT(step<Say>(script, 0).pieces, ElementsAre("Hi"));
}

TEST(ParseScript, puts_what_stands_before_the_first_rule_into_every_rule) {
  const Script script =
      script_of("pace 5ms\nheader x-a: 1\nrule a\ntext \"A\"\nrule b\ntext \"B\"\n");
  ASSERT_EQ(script.rules.size(), 2u);
  for (const Rule& rule : script.rules) {
    EXPECT_EQ(std::get<Pace>(rule.steps.at(0).what).milliseconds, 5u);
    EXPECT_EQ(rule.headers.size(), 1u);
    EXPECT_EQ(rule.steps.size(), 2u);
  }
}

TEST(ParseScript, reads_strings_json_and_blocks) {
  const Script script = script_of(R"(text "a\n" "b"
text <<END
<tool_call>
  {"name": "f"}
END
call find {"q": "a } b"} id=call_7
call find "{\"q\"" ": 1}"
call now
raw <<END
data: x

END
frame {"choices": []}
)");
  EXPECT_THAT(step<Say>(script, 0).pieces, ElementsAre("a\n", "b"));
  EXPECT_THAT(step<Say>(script, 1).pieces, ElementsAre("<tool_call>\n  {\"name\": \"f\"}"));
  EXPECT_THAT(step<Call>(script, 2).arguments, ElementsAre(R"({"q": "a } b"})"));
  EXPECT_EQ(step<Call>(script, 2).id, "call_7");
  EXPECT_THAT(step<Call>(script, 3).arguments, ElementsAre("{\"q\"", ": 1}"));
  EXPECT_THAT(step<Call>(script, 4).arguments, ElementsAre("{}"));
  EXPECT_EQ(step<Raw>(script, 5).bytes, "data: x\n\n");
  EXPECT_EQ(step<Frame>(script, 6).json, R"({"choices": []})");
}

TEST(ParseScript, reads_numbers_durations_cuts_and_writes) {
  const Script script = script_of(R"(delay 2s
cut text words
cut arguments 8 bytes
cut 3
write 5
write all
truncate 100
usage prompt=10 completion=5 cached=4
finish length
)");
  EXPECT_EQ(step<Delay>(script, 0).milliseconds, 2000u);
  EXPECT_EQ(step<SetCut>(script, 1).text, (Cut{Cut::Unit::words, 0}));
  EXPECT_FALSE(step<SetCut>(script, 1).arguments.has_value());
  EXPECT_EQ(step<SetCut>(script, 2).arguments, (Cut{Cut::Unit::bytes, 8}));
  EXPECT_EQ(step<SetCut>(script, 3).text, (Cut{Cut::Unit::characters, 3}));
  EXPECT_EQ(step<WriteMode>(script, 4).size, 5u);
  EXPECT_EQ(step<WriteMode>(script, 5).kind, WriteMode::Kind::all);
  EXPECT_EQ(step<Truncate>(script, 6).bytes, 100u);
  EXPECT_EQ(step<Usage>(script, 7).total_tokens, 15);
  EXPECT_EQ(step<Usage>(script, 7).cached_tokens, 4);
  EXPECT_EQ(step<Finish>(script, 8).reason, FinishReason::length);
}

TEST(ParseScript, reads_faults_and_nested_repeats) {
  const Script script = script_of(R"(fault no_id finish=banana
repeat 2 {
  repeat 3 {
    text "x"
  }
  demo
}
)");
  EXPECT_TRUE(step<Faults>(script, 0).has(Fault::no_id));
  EXPECT_EQ(step<Faults>(script, 0).finish(), "banana");
  const Repeat& outer = step<Repeat>(script, 1);
  EXPECT_EQ(outer.count, 2u);
  EXPECT_EQ(std::get<Repeat>(outer.steps.at(0).what).count, 3u);
  EXPECT_TRUE(script.rules.at(0).reads_request);
}

TEST(ParseScript, names_the_line_and_what_was_expected) {
  const struct {
    std::string_view text;
    std::string_view error;
  } cases[] = {
      {"text \"a\"\nspeak \"b\"", "line 2: \"speak\" is no step"},
      {"pace fast", "line 1: pace: \"fast\", expected a duration such as 20ms or 2s"},
      {"pace 20", "line 1: pace: \"20\", expected a duration"},
      {"pace 20ms now", "line 1: pace: \"now\", expected the end of the line"},
      {"text", "line 1: text: nothing, expected a string in double quotes"},
      {"text \"open", "line 1: text: a string that is not closed"},
      {"text <<END\nabc\n", "line 1: text: no line says END"},
      {"text <<\nabc\n", "line 1: text: <<, expected a word behind it"},
      {"call", "line 1: call: nothing, expected the name of a tool"},
      {"call f {\"a\": }", "line 1: call: not a JSON value on one line"},
      {"call f nonsense", "line 1: call: \"nonsense\", expected {JSON}"},
      {"finish banana", "line 1: finish: \"banana\", expected stop|tool_calls|length"},
      {"fault bad", "line 1: fault: \"bad\", expected a fault from the table"},
      {"fault", "line 1: fault: nothing, expected a fault"},
      {"cut 0", "line 1: cut: \"0\", expected off|words|N|N bytes"},
      {"write 0", "line 1: write: \"0\", expected frame|all|N"},
      {"status 99", "line 1: status: \"99\", expected a status from 200 to 599"},
      {"text \"a\"\nstatus 500", "line 2: status: is a whole answer"},
      {"usage prompt=x", "line 1: usage: \"prompt=x\", expected prompt=N"},
      {"header nothing", "line 1: header: \"nothing\", expected NAME: VALUE"},
      {"when turn 1", "line 1: when: belongs in a rule"},
      {"rule a\nwhen moon", "line 2: when: \"moon\", expected model|last|turn"},
      {"rule a\nwhen last robot", "line 2: when: \"robot\", expected system|developer|user"},
      {"rule a\nseed 3", "line 2: seed: belongs before the first rule"},
      {"repeat 2 {\ntext \"a\"", "repeat: no } closes it"},
      {"}", "line 1: }: closes nothing"},
      {"repeat x {", "line 1: repeat: \"x\", expected a number"},
      {"repeat 1000000 {\nrepeat 1000000 {\n}\n}", "more than 1000000 steps"},
  };
  for (const auto& row : cases) EXPECT_THAT(error_of(row.text), HasSubstr(row.error)) << row.text;
}

TEST(ParseScript, survives_every_prefix_of_a_script) {
  const std::string text =
      "rule a\nwhen user contains \"x\"\ncall f {\"a\":[1]} id=3\nrepeat 2 {\nraw <<E\nq\nE\n}\n"
      "fault no_id finish=stop\nusage prompt=1\nheader a: b\nstatus 200 {}\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const Result<Script> script = parse_script(std::string_view(text).substr(0, size));
    if (!script) {
      EXPECT_THAT(script.error().message, HasSubstr("line ")) << size;
    }
  }
}

}  // namespace
}  // namespace callgate::script::parse_script_test
