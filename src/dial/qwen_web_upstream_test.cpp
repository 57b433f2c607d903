#include "dial/qwen_web_upstream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dial/qwen_web_testing.h"
#include "session/session_id.h"

namespace callgate::server::qwen_web_upstream_test {
namespace {

using testing::HasSubstr;

class QwenWebUpstream : public testing::Test {
 protected:
  Asked ask(const std::string& messages, const Who& who = {}) {
    return gateway_.ask(messages, who);
  }

  net::Loop loop_;
  ScriptedChats chats_{3};
  QwenGateway gateway_{loop_, chats_};
};

TEST_F(QwenWebUpstream, follows_its_own_answers) {
  const Asked first = ask("[" + user("Hi") + "]");
  EXPECT_EQ(first.how, "new");
  EXPECT_EQ(first.text, "an answer");
  const std::string more =
      "[" + user("Hi") + "," + assistant("an answer") + "," + user("More") + "]";
  EXPECT_EQ(ask(more).how, "continued");
  EXPECT_EQ(ask(more).how, "branched");
  EXPECT_THAT(chats_.print("chat-1").value(),
              HasSubstr(R"({"id":"msg-3","parent_id":"resp-1","role":"user","content":"More")"));
  EXPECT_EQ(gateway_.memory.claims.held(), 0u);
}

TEST_F(QwenWebUpstream, remembers_an_answer_that_was_left) {
  const Asked cut = ask("[" + user("Hi") + "]", {.leave = 3});
  EXPECT_EQ(cut.text, "an ans");
  EXPECT_EQ(gateway_.memory.claims.held(), 0u);
  EXPECT_EQ(ask("[" + user("Hi") + "," + assistant("an") + "," + user("More") + "]").how,
            "continued");
  EXPECT_EQ(ask("[" + user("Hi") + "," + assistant("An") + "," + user("More") + "]").how,
            "recovered");
  EXPECT_THAT(chats_.print("chat-1").value(), HasSubstr(R"("content":"an ans","status":"cut")"));
}

TEST_F(QwenWebUpstream, tells_a_new_chat_what_the_upstream_has_lost) {
  ask("[" + user("Hi") + "]");
  ask("[" + user("2") + "]");
  ask("[" + user("3") + "]");
  ask("[" + user("4") + "]");  // the upstream keeps three chats
  const std::string more =
      "[" + user("Hi") + "," + assistant("an answer") + "," + user("More") + "]";
  EXPECT_EQ(ask(more).how, "recovered");
  EXPECT_THAT(chats_.print("chat-5").value(), HasSubstr(R"([user]\nHi\n\n[assistant]\nan answer)"));
  EXPECT_EQ(
      ask(more.substr(0, more.size() - 1) + "," + assistant("an answer") + "," + user("x") + "]")
          .how,
      "continued");
}

TEST_F(QwenWebUpstream, keeps_keys_and_sessions_apart) {
  ask("[" + user("Hi") + "]", {.key_name = "a"});
  const std::string more =
      "[" + user("Hi") + "," + assistant("an answer") + "," + user("More") + "]";
  EXPECT_EQ(ask(more, {.key_name = "b"}).how, "recovered");
  EXPECT_EQ(ask(more, {.key_name = "a", .session = "s"}).how, "recovered");
  EXPECT_EQ(ask(more, {.key_name = "a"}).how, "continued");
}

TEST_F(QwenWebUpstream, tells_a_prompt_again_when_it_has_changed) {
  const std::string tools = R"({"role":"system","content":"Tools: find"},)";
  const std::string first = "[" + user("Hi") + "]";
  const std::string rest = user("Hi") + "," + assistant("an answer") + "," + user("More") + "]";
  ask(first, {.prompt = "[" + tools + user("Hi") + "]"});
  EXPECT_EQ(ask("[" + rest, {.prompt = "[" + tools + rest}).how, "continued");
  EXPECT_EQ(
      ask("[" + rest, {.prompt = R"([{"role":"system","content":"Tools: find, add"},)" + rest}).how,
      "branched");
  const std::string tree = chats_.print("chat-1").value();
  EXPECT_THAT(tree, HasSubstr(R"("content":"[system]\nTools: find\n\n[user]\nHi")"));
  EXPECT_THAT(tree, HasSubstr(R"("parent_id":"resp-1","role":"user","content":"More")"));
  EXPECT_THAT(tree, HasSubstr(R"("content":"[system]\nTools: find, add\n\n[user]\nMore")"));
}

TEST_F(QwenWebUpstream, waits_for_the_request_before_or_is_cancelled) {
  ask("[" + user("Hi") + "]");
  const std::string more =
      "[" + user("Hi") + "," + assistant("an answer") + "," + user("More") + "]";
  Asked first;
  Asked second;
  const Who who;
  const auto both = [&]() -> net::Task<> {
    loop_.spawn(gateway_.ask_on_loop(more, who, first));
    const Request request = request_of(more);
    auto call = gateway_.call();
    const auto leave = [](net::Loop& loop, UpstreamCall& waiting) -> net::Task<> {
      co_await loop.sleep(net::Millis(1));
      waiting.cancel();
    };
    loop_.spawn(leave(loop_, *call));
    const UpstreamRequest encoded;
    auto sent = co_await call->send(request, encoded);
    EXPECT_FALSE(sent);
    call.reset();
    co_await gateway_.ask_on_loop(more, who, second);
  };
  net::run_to_end(loop_, both());
  EXPECT_EQ(first.how, "continued");
  EXPECT_EQ(second.how, "branched");
  EXPECT_THAT(chats_.print("chat-1").value(), HasSubstr(R"("overlaps":0)"));
  EXPECT_EQ(gateway_.memory.claims.held(), 0u);
}

TEST_F(QwenWebUpstream, gives_each_chain_of_answers_a_session) {
  const Asked first = ask("[" + user("Hi") + "]");
  EXPECT_TRUE(is_session_id(first.session)) << first.session;
  const std::string more =
      "[" + user("Hi") + "," + assistant("an answer") + "," + user("More") + "]";
  EXPECT_EQ(ask(more).session, first.session);
  const Asked branch = ask(more);
  EXPECT_EQ(branch.how, "branched");
  EXPECT_NE(branch.session, first.session);
  EXPECT_NE(ask("[" + user("Hi") + "]").session, first.session);
}

TEST_F(QwenWebUpstream, finds_a_session_by_its_id) {
  const Asked one = ask("[" + user("Hi") + "]", {.session = "mine"});
  const Asked two = ask("[" + user("Hi") + "]", {.session = "mine"});
  ASSERT_NE(one.session, two.session);
  const std::string more =
      "[" + user("Hi") + "," + assistant("an answer") + "," + user("More") + "]";
  const Asked again = ask(more, {.session = one.session});
  EXPECT_EQ(again.how, "continued");
  EXPECT_EQ(again.session, one.session);
  const Asked edited = ask("[" + user("Ho") + "," + assistant("an answer") + "," + user("x") + "]",
                           {.session = one.session});
  EXPECT_EQ(edited.how, "recovered");
  EXPECT_NE(edited.session, one.session);
}

TEST_F(QwenWebUpstream, finds_what_clients_left_out_by_the_opening_when_told_to) {
  const std::string opening = user("Hi") + "," + assistant("an answer");
  ask("[" + user("Hi") + "]");
  ask("[" + opening + "," + user("2") + "]");
  const std::string cut =
      "[" + opening + "," + user("3") + "," + assistant("lost") + "," + user("4") + "]";
  EXPECT_EQ(ask(cut).how, "recovered");
  gateway_.use_fallback();
  ask("[" + user("Ho") + "]");
  const std::string other = user("Ho") + "," + assistant("an answer");
  const Asked before = ask("[" + other + "," + user("2") + "]");
  const Asked after =
      ask("[" + other + "," + user("left out") + "," + assistant("so") + "," + user("4") + "]");
  EXPECT_EQ(after.how, "continued");
  EXPECT_EQ(after.session, before.session);
}

}  // namespace
}  // namespace callgate::server::qwen_web_upstream_test
