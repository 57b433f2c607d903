// Claims that need a lease of the store, and answers that only the store knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/net_testing.h"
#include "session/conversation_claims.h"
#include "session/stored_conversations.h"
#include "store/scratch_testing.h"

namespace callgate::server::claim_lease_test {
namespace {

// A node that never said that it lives gets no lease: a claim that waits asks until its patience ends.
TEST(ConversationClaim, asks_for_a_lease_with_growing_pauses) {
  const store::ScratchFolder scratch;
  store::Sessions sessions(scratch.url(), "a", {});
  ConversationClaims claims;
  claims.set_leases(&sessions, true);
  net::Loop loop;
  Result<void> taken;
  std::uint64_t before = 0;
  const auto run = [&]() -> net::Task<> {
    ConversationClaim claim(claims, loop);
    const ConversationClaim::Options at_once{.wait = false};
    taken = co_await claim.take("chat", at_once);  // the store is open from now on
    EXPECT_FALSE(taken);
    before = sessions.health().done;
    const ConversationClaim::Options options{.wait = true, .patience = net::Millis(60)};
    const std::uint64_t begun = loop.now();
    taken = co_await claim.take("chat", options);
    EXPECT_GE(loop.now() - begun, 60u) << "its patience";
  };
  net::run_to_end(loop, run());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().upstream_code, kConversationBusy);
  // After 10, 30 and 70 ms, if nothing is slow: more would be a busy wait.
  EXPECT_LE(sessions.health().done - before, 5u);
  EXPECT_EQ(claims.held(), 0u);
}

Message message(Role role, std::string content) {
  return {.role = role, .content = {std::move(content)}};
}

CallRecord call(std::string id) { return {std::move(id), "f", "{}", {}}; }

// What a gateway finds that has the store, and nothing in memory.
class StoredAnswerTest : public testing::Test {
 protected:
  static Request question() {
    Request request{.model = "m"};
    request.messages.push_back(message(Role::user, "\"Go\""));
    return request;
  }
  // The same, with the answer as a client sends it back and another message.
  static Request next(std::string_view words, const std::vector<std::string>& calls) {
    Request request = question();
    Message said = message(Role::assistant, "\"" + std::string(words) + "\"");
    for (const std::string& id : calls) said.calls.push_back(call(id));
    request.messages.push_back(std::move(said));
    request.messages.push_back(message(Role::user, "\"More\""));
    return request;
  }
  static ConversationIdentity identity(const Request& request) {
    return identify(request, {.key_name = "k", .upstream = "u", .model = "m", .session = ""});
  }
  void remember(bool cut) {
    const Request answered = next("Well", {"c1", "c2"});
    SessionTurn turn;
    turn.who = identity(question());
    turn.answer = identity(answered).last;
    turn.cut = cut;
    turn.kept = {.chat = "chat-1", .parent = "resp-1", .session = "session-1"};
    turn.owner = {.key_name = "k", .upstream = "u", .model = "m", .name = "", .parent = ""};
    turn.request = "req_1";
    MemoryConversations cache;
    StoredConversations answers(cache);
    answers.set_store(&sessions_, true);
    net::run_to_end(loop_, answers.remember(loop_, std::move(turn)));
  }
  std::string find(const Request& request) {
    MemoryConversations cache;
    StoredConversations answers(cache);
    answers.set_store(&sessions_, true);
    std::string session = "failed";
    const auto run = [&]() -> net::Task<> {
      const ConversationIdentity who = identity(request);
      auto found = co_await answers.find(loop_, who, "");
      if (!found) co_return;
      session = *found ? (*found)->answer.session : "none";
    };
    net::run_to_end(loop_, run());
    return session;
  }

  net::Loop loop_;
  store::ScratchFolder scratch_;
  store::Sessions sessions_{scratch_.url(), "a", {}};
};

TEST_F(StoredAnswerTest, a_cut_answer_is_known_by_the_calls_that_its_client_got) {
  remember(true);
  EXPECT_EQ(find(next("Well", {"c1", "c2"})), "session-1");
  EXPECT_EQ(find(next("Well", {"c1"})), "session-1") << "the client left after the first call";
  EXPECT_EQ(find(next("We", {})), "session-1");
  EXPECT_EQ(find(next("Well", {"c2"})), "none");
  EXPECT_EQ(find(next("Otherwise", {"c1"})), "none");
}

TEST_F(StoredAnswerTest, a_whole_answer_is_known_by_all_of_it) {
  remember(false);
  EXPECT_EQ(find(next("Well", {"c1", "c2"})), "session-1");
  EXPECT_EQ(find(next("Well", {"c1"})), "none");
  EXPECT_EQ(find(next("We", {})), "none");
}

}  // namespace
}  // namespace callgate::server::claim_lease_test
