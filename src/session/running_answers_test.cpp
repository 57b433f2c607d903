// What other gateways see of an answer that is still being given.
#include <gtest/gtest.h>

#include "net/net_testing.h"
#include "session/stored_conversations.h"
#include "store/migration.h"
#include "store/postgres_testing.h"

namespace callgate::server::running_answers_test {
namespace {

Request talk(bool answered) {
  Request request{.model = "m"};
  request.messages.push_back({.role = Role::user, .content = {"\"Go\""}});
  if (!answered) return request;
  request.messages.push_back({.role = Role::assistant, .content = {"\"We\""}});
  request.messages.push_back({.role = Role::user, .content = {"\"More\""}});
  return request;
}

ConversationIdentity identity(bool answered) {
  return identify(talk(answered), {.key_name = "k", .upstream = "u", .model = "m", .session = ""});
}

TEST(StoredConversations, another_gateway_knows_that_an_answer_is_running) {
  const std::string url = store::shared_postgres().new_store();
  ASSERT_TRUE(store::open_migrated(url, {}));
  store::Sessions first(url, "first", {});
  store::Sessions second(url, "second", {});
  MemoryConversations here;
  MemoryConversations there;
  StoredConversations ours(here);
  StoredConversations theirs(there);
  ours.set_store(&first, true);
  theirs.set_store(&second, true);
  SessionTurn turn;
  turn.who = identity(false);
  turn.kept = {.chat = "chat-1", .parent = "resp-1", .session = "session-1"};
  turn.owner = {.key_name = "k", .upstream = "u", .model = "m", .name = "", .parent = ""};
  turn.request = "req_1";
  net::Loop loop;
  const auto run = [&]() -> net::Task<> {
    co_await ours.begin(loop, turn);
    const ConversationIdentity who = identity(true);
    auto found = co_await theirs.find(loop, who, "");
    EXPECT_TRUE(found);
    if (!found) co_return;
    EXPECT_TRUE(*found);
    if (!*found) co_return;
    EXPECT_TRUE((*found)->running);
    EXPECT_EQ((*found)->answer.session, "session-1");
    EXPECT_EQ(there.size(), 0u) << "nobody will say when it is over";
  };
  net::run_to_end(loop, run());
}

}  // namespace
}  // namespace callgate::server::running_answers_test
