#include "loop/compaction.h"

#include <gtest/gtest.h>

#include "chat/content.h"
#include "chat/token_estimate.h"
#include "loop/history.h"
#include "loop/transcript.h"

namespace callgate::loop::compaction_test {
namespace {

void add_round(Request& request, const std::string& id, std::size_t result_bytes) {
  Message& asked = request.messages.emplace_back();
  asked.role = Role::assistant;
  asked.content = text_content("I look at " + id + ".");
  asked.calls.push_back(
      {.id = id, .name = "find", .arguments = R"({"id":")" + id + "\"}", .extra = {}});
  Message& result = request.messages.emplace_back();
  result.role = Role::tool;
  result.tool_call_id = id;
  result.content = text_content(std::string(result_bytes, 'x'));
}

Request conversation(int rounds, std::size_t result_bytes) {
  Request request;
  request.messages.emplace_back().content = text_content("Where are they?");
  for (int i = 0; i < rounds; ++i) add_round(request, "c" + std::to_string(i), result_bytes);
  return request;
}

TEST(Compaction, leaves_a_conversation_alone_that_fits) {
  Request request = conversation(3, 1000);
  EXPECT_FALSE(compact(request, 10'000));
  EXPECT_EQ(request.messages.size(), 7u);
}

TEST(Compaction, leaves_out_the_oldest_results_first_and_never_the_last) {
  Request request = conversation(3, 40'000);
  ASSERT_TRUE(compact(request, estimate_tokens(request) - 100));
  ASSERT_EQ(request.messages.size(), 7u);
  EXPECT_EQ(text_of(request.messages[2].content).substr(0, 34),
            "[40002 bytes of this result were l");
  EXPECT_EQ(text_of(request.messages[4].content).size(), 40'000u);
  ASSERT_TRUE(compact(request, 10));
  EXPECT_EQ(text_of(request.messages.back().content).size(), 40'000u);
}

TEST(Compaction, folds_rounds_when_results_are_not_enough) {
  Request request = conversation(30, 300);
  ASSERT_TRUE(compact(request, 100));
  std::size_t calls = 0;
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    calls += request.messages[i].calls.size();
    if (request.messages[i].role == Role::tool) {
      EXPECT_EQ(request.messages[i].tool_call_id, "c29");
    }
  }
  EXPECT_EQ(calls, 1u) << "only the last round has calls left, and its result follows it";
  EXPECT_EQ(text_of(request.messages[1].content),
            "I look at c0.\n[Earlier calls, left out with their results to save space: find "
            "{\"id\":\"c0\"}]");
}

std::vector<std::string> texts_of(const Request& request) {
  std::vector<std::string> texts;
  for (const Message& message : request.messages) texts.push_back(text_of(message.content));
  return texts;
}

using Step = Compaction::Step;

// Rounds whose results are too short to be worth leaving out.
Request long_conversation(int rounds) {
  Request request = conversation(rounds, 300);
  request.messages.insert(request.messages.begin(), text_message(Role::system, "Be brief."));
  return request;
}

TEST(Compaction, asks_the_model_for_a_summary_when_results_are_not_enough) {
  Request request = long_conversation(60);
  const std::size_t before = request.messages.size();
  Compaction compaction(5'000, 500);
  ASSERT_EQ(compaction.fit(request), Step::summarize);
  EXPECT_EQ(request.messages.size(), before) << "it is not touched before the summary is there";
  const Request& question = compaction.question();
  EXPECT_LT(estimate_tokens(question) + 500, 4'500) << "the question itself has to fit";
  EXPECT_TRUE(question.tools.empty());
  ASSERT_EQ(question.extra.size(), 1u);
  EXPECT_EQ(question.extra[0].name, "max_tokens");
  EXPECT_EQ(question.extra[0].value.text, "500");
  const std::string record = text_of(question.messages[1].content);
  EXPECT_NE(record.find("Call: find {\"id\":\"c0\"}"), std::string::npos);
  EXPECT_NE(record.find("c58"), std::string::npos);
  EXPECT_EQ(record.find("c59"), std::string::npos) << "the last round stays as it is";
  EXPECT_EQ(record.find("Where are they?"), std::string::npos) << "and so does the question";

  ASSERT_EQ(compaction.summarized(request, "All were found."), Step::shortened);
  ASSERT_EQ(request.messages.size(), 5u);
  EXPECT_EQ(request.messages[0].role, Role::system);
  EXPECT_EQ(texts_of(request)[1], "Where are they?");
  EXPECT_EQ(request.messages[2].role, Role::user);
  EXPECT_EQ(texts_of(request)[2],
            "[Summary of the conversation until here, in place of what was left out to save "
            "space:]\nAll were found.");
  EXPECT_EQ(request.messages[3].calls.size(), 1u);
  EXPECT_EQ(request.messages[4].tool_call_id, "c59");
}

TEST(Compaction, keeps_its_summary_for_later_turns_and_asks_again_only_when_it_must) {
  Request first = long_conversation(60);
  Compaction compaction(5'000, 500);
  ASSERT_EQ(compaction.fit(first), Step::summarize);
  ASSERT_EQ(compaction.summarized(first, "Sixty were found."), Step::shortened);
  Request second = long_conversation(61);
  ASSERT_EQ(compaction.fit(second), Step::shortened);
  EXPECT_EQ(second.messages.size(), 7u) << "the round that was last then, and the one that is now";
  Request later = long_conversation(120);
  ASSERT_EQ(compaction.fit(later), Step::summarize);
  const std::string record = text_of(compaction.question().messages[1].content);
  EXPECT_NE(record.find("Sixty were found."), std::string::npos) << "what the first one covered";
  EXPECT_EQ(record.find("\"c5\""), std::string::npos);
  ASSERT_EQ(compaction.summarized(later, "All were found."), Step::shortened);
  EXPECT_EQ(later.messages.size(), 5u);
}

TEST(Compaction, does_without_a_summary_that_does_not_come_and_asks_for_none_again) {
  Request request = long_conversation(60);
  Compaction compaction(5'000, 500);
  ASSERT_EQ(compaction.fit(request), Step::summarize);
  ASSERT_EQ(compaction.summarized(request, " \n"), Step::shortened);
  EXPECT_LE(estimate_tokens(request), 5'000);
  EXPECT_FALSE(compaction.wants_summaries());
  Request again = long_conversation(61);
  EXPECT_EQ(compaction.fit(again), Step::shortened);
}

TEST(Compaction, asks_for_no_summary_where_none_is_wanted_or_results_are_enough) {
  Request request = long_conversation(60);
  EXPECT_EQ(Compaction(2'000, 0).fit(request), Step::shortened);
  Request results = conversation(3, 40'000);
  EXPECT_EQ(Compaction(20'000, 500).fit(results), Step::shortened);
  Request fits = conversation(3, 1'000);
  EXPECT_EQ(Compaction(20'000, 500).fit(fits), Step::fits);
  EXPECT_EQ(Compaction(0, 500).fit(fits), Step::fits);
}

TEST(Compaction, summarizes_answers_of_earlier_questions_but_not_the_question) {
  Request request;
  for (int i = 0; i < 40; ++i) {
    request.messages.push_back(text_message(Role::user, "Question " + std::to_string(i)));
    request.messages.push_back(text_message(Role::assistant, std::string(300, 'a')));
  }
  request.messages.push_back(text_message(Role::user, "And now?"));
  Compaction compaction(1'500, 300);
  ASSERT_EQ(compaction.fit(request), Step::summarize);
  EXPECT_NE(text_of(compaction.question().messages[1].content).find("User: Question 0"),
            std::string::npos);
  ASSERT_EQ(compaction.summarized(request, "Forty answers."), Step::shortened);
  ASSERT_EQ(request.messages.size(), 2u);
  EXPECT_EQ(texts_of(request)[1], "And now?");
}

TEST(Compaction, learns_from_a_refusal_and_gives_up_when_nothing_more_can_go) {
  Request request = long_conversation(60);
  const std::int64_t before = estimate_tokens(request);
  Compaction compaction(0, 500);
  ASSERT_EQ(compaction.fit(request), Step::fits);
  ASSERT_TRUE(compaction.refused(request));
  ASSERT_EQ(compaction.fit(request), Step::summarize);
  ASSERT_EQ(compaction.summarized(request, "Found."), Step::shortened);
  EXPECT_LT(estimate_tokens(request), before * 6 / 10);
  ASSERT_TRUE(compaction.refused(request)) << "it is still too long";
  EXPECT_EQ(request.messages.size(), 122u) << "whole again";
  EXPECT_EQ(compaction.fit(request), Step::stuck);
  Request short_one = conversation(0, 0);
  Compaction other(0, 500);
  ASSERT_TRUE(other.refused(short_one));
  EXPECT_EQ(other.fit(short_one), Step::stuck);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(other.refused(short_one));
  EXPECT_FALSE(other.refused(short_one));
}

TEST(Compaction, cuts_a_summary_that_does_not_end) {
  Request request = long_conversation(60);
  Compaction compaction(2'000, 10);
  ASSERT_EQ(compaction.fit(request), Step::summarize);
  ASSERT_EQ(compaction.summarized(request, std::string(100'000, 'x')), Step::shortened);
  EXPECT_LT(texts_of(request)[2].size(), 300u);
}

TEST(Transcript, leaves_out_what_came_first_when_there_is_too_much_for_crumbs) {
  std::vector<Message> said;
  for (int i = 0; i < 1'000; ++i) {
    said.push_back(text_message(Role::user, "number " + std::to_string(i) + std::string(200, '.')));
  }
  std::vector<const Message*> all;
  for (const Message& message : said) all.push_back(&message);
  const std::string text = print_transcript(all, 2'000);
  EXPECT_LE(text.size(), 2'000u);
  EXPECT_EQ(text.find("User: number 0."), 0u) << "what it began with stays";
  EXPECT_NE(text.find(" messages left out]\nUser: number 9"), std::string::npos);
  EXPECT_NE(text.find("number 999"), std::string::npos);
}

TEST(Transcript, gives_long_pieces_the_same_share_and_short_ones_theirs) {
  const Message a = text_message(Role::user, "short");
  const Message b = text_message(Role::tool, std::string(5'000, 'b'));
  const Message c = text_message(Role::tool, std::string(500, 'c') + "the end");
  const std::string text = print_transcript({&a, &b, &c}, 1'000);
  EXPECT_LE(text.size(), 1'000u);
  EXPECT_EQ(text.find("User: short\nResult: bbb"), 0u);
  EXPECT_NE(text.find(" bytes left out] "), std::string::npos);
  EXPECT_NE(text.find("the end\n"), std::string::npos);
  EXPECT_EQ(print_transcript({&a}, 10'000), "User: short\n");
  EXPECT_EQ(print_transcript({}, 10), "");
}

TEST(Compaction, knows_how_servers_refuse_what_is_too_long) {
  for (const char* words :
       {"This model's maximum context length is 8192 tokens", "prompt is too long: 9 > 8",
        "the request exceeds the available context size"}) {
    EXPECT_TRUE(is_too_long_for_model({.code = ErrorCode::invalid_request, .message = words}))
        << words;
  }
  EXPECT_FALSE(
      is_too_long_for_model({.code = ErrorCode::invalid_request, .message = "no such field"}));
  EXPECT_FALSE(
      is_too_long_for_model({.code = ErrorCode::unavailable, .message = "context length"}));
}

}  // namespace
}  // namespace callgate::loop::compaction_test
