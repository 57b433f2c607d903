#include "session/conversations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/protocol.h"

namespace callgate::server::conversations_test {
namespace {

Request request_of(std::string_view messages) {
  const std::string body = R"({"model":"m","messages":)" + std::string(messages) + "}";
  auto request = client::find("openai_chat")->decode({.body = body});
  EXPECT_TRUE(request) << (request ? "" : request.error().message);
  return *request;
}

ConversationIdentity who(std::string_view messages, ConversationScope scope = {}) {
  return identify(request_of(messages), scope);
}

constexpr std::string_view kAsked = R"([{"role":"system","content":"Be brief."},
  {"role":"user","content":"Weather?"}])";

TEST(ConversationIdentity, is_the_same_for_what_clients_change_without_meaning_it) {
  const Identity plain =
      who(R"([{"role":"user","content":"Hi"},{"role":"assistant","content":"Look.","tool_calls":[
        {"id":"c1","type":"function","function":{"name":"find","arguments":"{\"q\":\"a/b\",\"n\":[1,2]}"}}]},
        {"role":"tool","tool_call_id":"c1","content":"3"}])")
          .answer;
  EXPECT_EQ(who(R"([{"role":"user","content":[{"type":"text","text":"Hi"}]},{"role":"assistant",
        "content":"\n<think>hm</think>\nLook. \n","reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function",
        "function":{"name":"find","arguments":"{ \"q\" : \"a\\/b\",\n \"n\": [1, 2] }"}}]},
        {"role":"tool","tool_call_id":"c1","content":"4"},{"role":"user","content":"More"}])")
                .answer,
            plain);
}

TEST(ConversationIdentity, differs_with_everything_that_was_said) {
  const auto turn = [](std::string_view system, std::string_view user, std::string_view answer,
                       std::string_view id) {
    const auto text = [](std::string_view value) { return "\"" + std::string(value) + "\""; };
    return who(R"([{"role":"system","content":)" + text(system) + R"(},{"role":"user","content":)" +
               text(user) + R"(},{"role":"assistant","content":)" + text(answer) +
               R"(,"tool_calls":[{"id":)" + text(id) +
               R"(,"type":"function","function":{"name":"f","arguments":"{}"}}]},)"
               R"({"role":"tool","tool_call_id":)" +
               text(id) + R"(,"content":"1"}])")
        .answer;
  };
  const Identity one = turn("s", "u", "a", "c");
  EXPECT_EQ(turn("s", "u", "a", "c"), one);
  EXPECT_NE(turn("S", "u", "a", "c"), one);
  EXPECT_NE(turn("s", "U", "a", "c"), one);
  EXPECT_NE(turn("s", "u", "A", "c"), one);
  EXPECT_NE(turn("s", "u", "a", "C"), one);
}

TEST(ConversationIdentity, belongs_to_a_key_an_upstream_a_model_and_a_session) {
  const ConversationScope scopes[] = {{},
                                      {.key_name = "k"},
                                      {.upstream = "k"},
                                      {.model = "k"},
                                      {.session = "k"},
                                      {.key_name = "k", .session = "k"}};
  for (const ConversationScope& a : scopes) {
    for (const ConversationScope& b : scopes) {
      EXPECT_EQ(who(kAsked, a).whole == who(kAsked, b).whole, &a == &b);
    }
  }
}

TEST(ConversationIdentity, forgives_another_system_prompt_within_a_session) {
  constexpr std::string_view kOther = R"([{"role":"system","content":"It is noon."},
    {"role":"user","content":"Weather?"}])";
  EXPECT_EQ(who(kAsked, {.session = "s"}).whole, who(kOther, {.session = "s"}).whole);
  EXPECT_NE(who(kAsked).whole, who(kOther).whole);
  EXPECT_NE(identify_prompt(request_of(kAsked).messages),
            identify_prompt(request_of(kOther).messages));
}

CanonicalAnswer said(std::string_view text) {
  AnswerRecord record(1000);
  record.accept(TextDelta{text});
  return record.to_canonical(true);
}

// What the client sends when it goes on after those answers.
ConversationIdentity next(std::string_view answer) {
  return who(R"([{"role":"user","content":"Hi"},{"role":"assistant","content":")" +
             std::string(answer) + R"("},{"role":"user","content":"More"}])");
}
ConversationIdentity first() { return who(R"([{"role":"user","content":"Hi"}])"); }

std::optional<FoundAnswer> find(MemoryConversations& all, const ConversationIdentity& asked) {
  return all.find(asked);
}

std::string parent_of(MemoryConversations& all, const ConversationIdentity& asked) {
  const auto found = find(all, asked);
  return found ? found->answer.parent : "none";
}

TEST(MemoryConversations, finds_the_answer_that_a_request_follows) {
  MemoryConversations all;
  EXPECT_EQ(parent_of(all, first()), "none");
  all.remember(first(), said("Hello."), false, {.chat = "c", .parent = "r1"});
  EXPECT_EQ(parent_of(all, next("Hello.")), "r1");
  EXPECT_EQ(parent_of(all, next(" Hello.\\n")), "r1");
  EXPECT_EQ(parent_of(all, next("Hell")), "none");
  EXPECT_EQ(parent_of(all, next("Hello. Edited.")), "none");
  EXPECT_EQ(parent_of(all, first()), "none");
}

TEST(MemoryConversations, knows_a_cut_answer_by_each_of_its_beginnings) {
  MemoryConversations all;
  all.remember(first(), said("Hello there"), true, {.chat = "c", .parent = "r1"});
  EXPECT_EQ(parent_of(all, next("Hello there")), "r1");
  EXPECT_EQ(parent_of(all, next("Hello ")), "r1");
  EXPECT_EQ(parent_of(all, next("H")), "r1");
  EXPECT_EQ(parent_of(all, next("")), "none");
  EXPECT_EQ(parent_of(all, next("Hello you")), "none");
}

TEST(MemoryConversations, knows_an_answer_that_is_not_over) {
  MemoryConversations all;
  const KeptAnswer kept{.chat = "c", .parent = "r1"};
  all.begin(first(), kept);
  ASSERT_TRUE(find(all, next("Any")));
  EXPECT_TRUE(find(all, next("Any"))->running);
  all.remember(first(), said("Hello"), true, kept);
  EXPECT_EQ(parent_of(all, next("Any")), "none");
  EXPECT_FALSE(find(all, next("Hell"))->running);
  all.begin(first(), kept);
  all.drop(kept);
  EXPECT_EQ(all.size(), 0u);
}

TEST(MemoryConversations, prefers_an_answer_that_nothing_follows) {
  MemoryConversations all;
  all.remember(first(), said("Hello."), false, {.chat = "c1", .parent = "r1"});
  all.remember(first(), said("Hello."), false, {.chat = "c2", .parent = "r2"});
  const auto one = find(all, next("Hello."));
  ASSERT_TRUE(one);
  EXPECT_FALSE(one->continued);
  all.mark_continued(one->answer);
  const auto other = find(all, next("Hello."));
  EXPECT_NE(other->answer.parent, one->answer.parent);
  EXPECT_FALSE(other->continued);
  all.mark_continued(other->answer);
  EXPECT_TRUE(find(all, next("Hello."))->continued);
}

TEST(MemoryConversations, forgets_what_is_old_too_many_or_gone) {
  std::uint64_t now = 1000;
  MemoryConversations all({.answers = 2, .bytes = 10, .ttl_ms = 100}, [&] { return now; });
  all.remember(first(), said("1"), false, {.chat = "c1", .parent = "r1"});
  all.remember(first(), said("2"), false, {.chat = "c2", .parent = "r2"});
  EXPECT_EQ(parent_of(all, next("1")), "r1");  // the last used one
  all.remember(first(), said("3"), false, {.chat = "c3", .parent = "r3"});
  EXPECT_EQ(parent_of(all, next("2")), "none");
  EXPECT_EQ(parent_of(all, next("1")), "r1");
  now += 50;
  all.forget("c3");
  EXPECT_EQ(parent_of(all, next("3")), "none");
  EXPECT_EQ(parent_of(all, next("1")), "r1");
  now += 101;
  EXPECT_EQ(parent_of(all, next("1")), "none");
  EXPECT_EQ(all.size(), 0u);
  all.remember(first(), said("a long answer"), true, {.chat = "c4", .parent = "r4"});
  EXPECT_EQ(all.size(), 0u) << "cut answers are kept with their text, which is limited";
}

TEST(MemoryConversations, forgets_all_answers_of_a_session) {
  MemoryConversations all({.answers = 9, .bytes = 100, .ttl_ms = 100}, [] { return 1000; });
  all.remember(first(), said("1"), false, {.chat = "c1", .parent = "r1", .session = "s1"});
  all.remember(first(), said("2"), false, {.chat = "c2", .parent = "r2", .session = "s1"});
  all.remember(first(), said("3"), false, {.chat = "c3", .parent = "r3", .session = "s2"});
  all.forget_session("s1");
  EXPECT_EQ(all.size(), 1u);
  EXPECT_EQ(parent_of(all, next("3")), "r3");
}

// Only what is kept of answers that were cut counts, text and calls together.
TEST(MemoryConversations, limits_what_it_keeps_of_cut_answers) {
  MemoryConversations all({.answers = 9, .bytes = 10, .ttl_ms = 100}, [] { return 1000; });
  CanonicalAnswer answer = said("12345");
  answer.calls = "67890x";
  all.remember(first(), answer, true, {.chat = "c1", .parent = "r1"});
  EXPECT_EQ(all.size(), 0u);
  answer.calls = "67890";
  all.remember(first(), answer, true, {.chat = "c1", .parent = "r1"});
  EXPECT_EQ(all.size(), 1u);
}

TEST(AnswerRecord, keeps_calls_that_are_complete) {
  AnswerRecord record(1000);
  record.accept(ReasoningDelta{"Hm."});
  record.accept(TextDelta{"Look."});
  record.accept(CallStarted{0, "find", "c1"});
  record.accept(ArgumentsDelta{0, "{\"q\": "});
  record.accept(ArgumentsDelta{0, "1}"});
  record.accept(CallFinished{0, CallOutcome::complete});
  const CanonicalAnswer whole = record.to_canonical(true);
  EXPECT_EQ(whole.text, "Look.");
  EXPECT_EQ(whole.calls, "2:c14:find7:{\"q\":1}");
  record.accept(CallStarted{1, "add", "c2"});
  record.accept(ArgumentsDelta{1, "{"});
  record.accept(CallFinished{1, CallOutcome::truncated});
  EXPECT_EQ(record.to_canonical(true).calls, whole.calls);
  EXPECT_EQ(record.to_canonical(false).calls, "0:4:find7:{\"q\":1}");
  AnswerRecord small(3);
  small.accept(TextDelta{"1234"});
  EXPECT_TRUE(small.overflowed());
}

}  // namespace
}  // namespace callgate::server::conversations_test
