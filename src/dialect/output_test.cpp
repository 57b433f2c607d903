#include "dialect/output.h"

#include <gtest/gtest.h>

#include "chat/event_grammar.h"
#include "chat/event_log.h"

namespace callgate::dialect::output_test {
namespace {

class OutputTest : public testing::Test {
 protected:
  explicit OutputTest(Commit commit = Commit::eager) : out_(commit, 64) { out_.bind(sink_); }
  std::string printed() { return print(log_.events()); }

  EventLog log_;
  CheckedSink sink_{log_};
  Output out_;
};

class WholeCallOutputTest : public OutputTest {
 protected:
  WholeCallOutputTest() : OutputTest(Commit::whole_call) {}
};

TEST_F(OutputTest, joins_a_character_that_was_cut) {
  for (const char byte : std::string_view("é東🌦")) out_.prose({&byte, 1});
  out_.finish();
  EXPECT_EQ(printed(), "text \"é東🌦\"\n");
}

TEST_F(OutputTest, replaces_what_is_not_utf8_and_counts_its_bytes) {
  out_.prose("a\xC3");
  out_.prose("b\xFF");
  out_.prose("\xE2\x82");
  out_.finish();
  EXPECT_EQ(printed(),
            "text \"a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\xEF\xBF\xBD\"\n");
  EXPECT_EQ(out_.audit().text, 6u);
}

TEST_F(OutputTest, takes_white_space_around_calls_for_structure) {
  out_.prose(" \n");
  out_.start_call("f");
  out_.arguments("{}");
  out_.finish_call(CallOutcome::complete);
  out_.prose("\n\n");
  out_.finish();
  EXPECT_EQ(printed(), "call 0 f\nargs 0 {}\nend 0 complete\n");
  EXPECT_EQ(out_.audit().marker, 4u);
}

TEST_F(OutputTest, gives_back_what_is_held_in_its_place) {
  out_.prose("\n");
  out_.hold("<call>");
  out_.argument_bytes("{}");
  out_.arguments("{}");
  out_.release_held();
  out_.finish();
  EXPECT_EQ(printed(), "text \"\\n<call>{}\"\n");
}

TEST_F(OutputTest, holds_arguments_back_until_the_call_starts) {
  out_.hold("[");
  out_.argument_bytes("{\"a\":1}");
  out_.arguments("{\"a\":1}");
  EXPECT_EQ(printed(), "");
  out_.start_call("f", "id");
  out_.finish_call(CallOutcome::complete);
  EXPECT_EQ(printed(), "call 0 f id=id\nargs 0 {\"a\":1}\nend 0 complete\n");
  EXPECT_EQ(out_.audit().arguments, 7u);
  EXPECT_EQ(out_.audit().marker, 1u);
}

TEST_F(OutputTest, keeps_prose_of_a_section_ahead_of_its_call) {
  out_.hold("<section>");
  out_.hold_prose(" hm ");
  out_.hold("<call>");
  out_.start_call("f");
  out_.finish_call(CallOutcome::truncated);
  out_.finish();
  EXPECT_EQ(printed(), "text \" hm \"\ncall 0 f\nend 0 truncated\n");
  EXPECT_EQ(out_.audit().sum(), 19u);
}

TEST_F(WholeCallOutputTest, lets_a_bad_call_out_as_text) {
  out_.hold("<call>");
  out_.start_call("f");
  out_.argument_bytes("{oops");
  out_.arguments("{oops");
  EXPECT_EQ(printed(), "");
  EXPECT_FALSE(out_.finish_call(CallOutcome::malformed));
  EXPECT_EQ(printed(), "text \"<call>{oops\"\n");
}

TEST_F(WholeCallOutputTest, streams_a_call_that_is_too_long_to_hold) {
  out_.start_call("f");
  const std::string long_value(70, 'x');
  out_.argument_bytes(long_value);
  out_.arguments(long_value);
  EXPECT_EQ(printed(), "call 0 f\nargs 0 " + long_value + "\n");
  EXPECT_TRUE(out_.finish_call(CallOutcome::malformed));
}

TEST_F(OutputTest, passes_plain_pushes_only_while_they_are_expected) {
  EXPECT_FALSE(out_.pass_plain("abc"));
  out_.start_call("f");
  out_.expect_plain();
  EXPECT_TRUE(out_.pass_plain("abc"));
  for (const std::string_view other : {"", "ab\"", "ab\\", "a\nb", "ab\xC3\xA9"}) {
    EXPECT_FALSE(out_.pass_plain(other)) << other;
    EXPECT_FALSE(out_.pass_plain("abc")) << other;
    out_.expect_plain();
  }
  out_.finish_call(CallOutcome::truncated);
  EXPECT_EQ(printed(), "call 0 f\nargs 0 abc\nend 0 truncated\n");
}

}  // namespace
}  // namespace callgate::dialect::output_test
