#include "session/stored_conversations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "dial/qwen_web_testing.h"
#include "store/migration.h"
#include "store/postgres_testing.h"
#include "store/scratch_testing.h"

namespace callgate::server::stored_conversations_test {
namespace {

using std::chrono::milliseconds;
using store::Engine;
using testing::HasSubstr;
using testing::Not;

// A gateway with a store behind its conversations. It can be restarted: then all that it remembers is in the store.
class StoredGateway {
 public:
  StoredGateway(net::Loop& loop, ScriptedChats& chats, std::string url, std::string name)
      : loop_(loop), chats_(chats), url_(std::move(url)), name_(std::move(name)) {
    restart();
  }
  void restart(bool closed = false) {
    gateway_.reset();
    sessions_.reset();
    store::SessionsOptions options;
    options.timeout = milliseconds(20'000);
    options.first_retry = milliseconds(5);
    options.last_retry = milliseconds(20);
    name_ += "+";
    sessions_ = std::make_unique<store::Sessions>(url_, name_, std::move(options));
    gateway_ = std::make_unique<QwenGateway>(loop_, chats_, std::hash<std::string>()(name_));
    gateway_->memory.answers.set_store(sessions_.get(), closed);
    if (sessions_->shared()) gateway_->memory.claims.set_leases(sessions_.get(), closed);
  }
  Asked ask(const std::string& messages, const Who& who = {}) {
    return gateway_->ask(messages, who);
  }
  QwenGateway& operator*() { return *gateway_; }
  QwenGateway* operator->() { return gateway_.get(); }

 private:
  net::Loop& loop_;
  ScriptedChats& chats_;
  const std::string url_;
  std::string name_;
  std::unique_ptr<store::Sessions> sessions_;
  std::unique_ptr<QwenGateway> gateway_;
};

class StoredConversationsTest : public testing::TestWithParam<Engine> {
 protected:
  StoredConversationsTest()
      : url_(GetParam() == Engine::sqlite ? scratch_.url() : store::shared_postgres().new_store()),
        database_(store::open_migrated(url_, {}).value()),
        table_(*database_) {}
  ~StoredConversationsTest() override {
    if (GetParam() == Engine::postgresql) store::shared_postgres().give_back(url_);
  }

  store::ScratchFolder scratch_;
  const std::string url_;
  std::unique_ptr<store::Database> database_;
  store::SessionTable table_;
  net::Loop loop_;
  ScriptedChats chats_{10'000};
};

INSTANTIATE_TEST_SUITE_P(Engines, StoredConversationsTest,
                         testing::Values(Engine::sqlite, Engine::postgresql),
                         [](const auto& test) { return std::string(to_string(test.param)); });

std::string talk(int turns, std::string_view last, std::string_view first = "Hi") {
  std::string messages = "[" + user(first);
  for (int i = 1; i < turns; ++i) messages += "," + assistant("an answer") + "," + user(last);
  return messages + "]";
}

TEST_P(StoredConversationsTest, goes_on_after_a_restart) {
  StoredGateway gateway(loop_, chats_, url_, "a");
  const Asked first = gateway.ask(talk(1, ""));
  gateway.restart();
  const Asked second = gateway.ask(talk(2, "More"));
  EXPECT_EQ(second.how, "continued");
  EXPECT_EQ(second.session, first.session);
  const store::Session session = table_.get(first.session).value().value();
  EXPECT_EQ(session.turns, 2);
  EXPECT_EQ(session.state.chat, "chat-1");
  EXPECT_EQ(session.state.answer, "resp-2");
  EXPECT_EQ(
      session.identity,
      to_hex(identify(request_of(talk(3, "More")), {.upstream = "qwen", .model = "m"}).answer));
  gateway.restart();
  const Asked branch = gateway.ask(talk(2, "Other"));
  EXPECT_EQ(branch.how, "branched");
  EXPECT_EQ(table_.get(branch.session).value()->parent, first.session);
  // One that leaves in mid-answer, and comes back after a restart with what it had got.
  gateway.ask(talk(3, "More"), {.leave = 3});
  gateway.restart();
  const Asked left = gateway.ask("[" + user("Hi") + "," + assistant("an answer") + "," +
                                 user("More") + "," + assistant("an answer") + "," + user("More") +
                                 "," + assistant("an") + "," + user("Go on") + "]");
  EXPECT_EQ(left.how, "continued");
  EXPECT_EQ(left.session, first.session);
}

TEST_P(StoredConversationsTest, replays_a_session_that_was_deleted) {
  StoredGateway gateway(loop_, chats_, url_, "a");
  const Asked first = gateway.ask(talk(1, ""));
  ASSERT_TRUE(table_.erase(first.session).value());
  const Asked second = gateway.ask(talk(2, "More"));
  EXPECT_EQ(second.how, "recovered") << "although this gateway remembers it";
  EXPECT_NE(second.session, first.session);
  EXPECT_EQ(gateway.ask(talk(3, "More")).session, second.session);
}

// Conversations that begin alike, each turn on another gateway, some at the same time. A file is one gateway's own.
TEST_P(StoredConversationsTest, never_forks_a_chain) {
  const int count = std::getenv("CALLGATE_SOAK") != nullptr ? 1000 : 150;
  StoredGateway one(loop_, chats_, url_, "one");
  std::optional<StoredGateway> second;
  if (GetParam() == Engine::postgresql) second.emplace(loop_, chats_, url_, "other");
  StoredGateway& other = second ? *second : one;
  int done = 0;
  int clashes = 0;
  const auto hold = [&](int number) -> net::Task<> {
    const std::string first = "Question " + std::to_string(number / 2);  // two ask the same
    const Who who{.key_name = "dev"};
    for (int turn = 1; turn <= 3; ++turn) {
      QwenGateway& gateway = (number + turn) % 2 == 0 ? *one : *other;
      Asked asked;
      const std::string last = std::to_string(number) + " asks";
      const std::string messages = talk(turn, last, first);
      co_await gateway.ask_on_loop(messages, who, asked);
      EXPECT_FALSE(asked.error) << asked.error->message;
      // The twin may have taken the answer that was like ours: then we branch off or find ours.
      const std::string_view known =
          turn == 2 && asked.how == "branched" ? "branched" : "continued";
      EXPECT_EQ(asked.how, turn == 1 ? "new" : known);
    }
    // Both gateways at the same time: one continues, the other one branches off.
    Asked here;
    Asked there;
    int open = 2;
    net::Signal both(loop_);
    const std::string messages = talk(4, std::to_string(number) + " asks", first);
    const auto ask = [](QwenGateway& gateway, std::string what, Who whose, Asked& to, int& left,
                        net::Signal& all) -> net::Task<> {
      co_await gateway.ask_on_loop(what, whose, to);
      if (--left == 0) all.notify();
    };
    loop_.spawn(ask(*one, messages, who, here, open, both));
    loop_.spawn(ask(*other, messages, who, there, open, both));
    co_await both.wait();
    const std::set<std::string> hows = {here.how, there.how};
    if (hows != std::set<std::string>{"continued", "branched"}) ++clashes;
    if (here.session == there.session) ++clashes;
    ++done;
  };
  const auto all = [&]() -> net::Task<> {
    constexpr int kAtATime = 16;
    int started = 0;
    while (done < count) {
      while (started < count && started - done < kAtATime) loop_.spawn(hold(started++));
      co_await loop_.sleep(net::Millis(1));
    }
  };
  net::run_to_end(loop_, all());
  EXPECT_EQ(clashes, 0);
  EXPECT_EQ(one->memory.claims.held() + other->memory.claims.held(), 0u);
  // No chat was told two things at a time, and in no session two answers follow the same one.
  for (int chat = 1; chat <= count; ++chat) {
    EXPECT_THAT(chats_.print("chat-" + std::to_string(chat)).value_or(""),
                HasSubstr(R"("overlaps":0)"));
  }
  EXPECT_EQ(database_->integer("SELECT count(*) FROM session").value(), 2 * count)
      << "one for each conversation, and one for each branch";
  EXPECT_EQ(database_
                ->integer("SELECT count(*) FROM session_answer WHERE state <> 'complete' AND "
                          "state <> 'cut'")
                .value(),
            0);
  EXPECT_EQ(database_
                ->integer("SELECT count(*) FROM (SELECT session FROM session_answer WHERE "
                          "continued = 0 GROUP BY session HAVING count(*) > 1) forked")
                .value(),
            0);
}

TEST(ConversationClaim, is_held_by_one_request_over_all_gateways) {
  const std::string url = store::shared_postgres().new_store();
  store::Sessions first(url, "first", {});
  store::Sessions second(url, "second", {});
  ConversationClaims here;
  ConversationClaims there;
  here.set_leases(&first, true);
  there.set_leases(&second, true);
  net::Loop loop;
  const auto run = [&]() -> net::Task<> {
    ConversationClaim mine(here, loop);
    ConversationClaim other(there, loop);
    const ConversationClaim::Options wait{};
    const ConversationClaim::Options refuse{.wait = false};
    auto taken = co_await mine.take("chat", wait);
    EXPECT_TRUE(taken) << taken.error().message;
    co_await loop.sleep(net::Millis(20));  // until the other node has said that it lives
    auto refused = co_await other.take("chat", refuse);
    EXPECT_EQ(refused ? "" : refused.error().upstream_code, kConversationBusy);
    const ConversationClaim::Options brief{.wait = true, .patience = net::Millis(15)};
    auto late = co_await other.take("chat", brief);
    EXPECT_FALSE(late);
    const auto release = [](net::Loop& on, ConversationClaim& claim) -> net::Task<> {
      co_await on.sleep(net::Millis(15));
      claim.release();
    };
    loop.spawn(release(loop, mine));
    auto waited = co_await other.take("chat", wait);
    EXPECT_TRUE(waited);
    auto now_refused = co_await mine.take("chat", refuse);
    EXPECT_FALSE(now_refused);
  };
  net::run_to_end(loop, run());
  EXPECT_EQ(here.held() + there.held(), 0u);
}

TEST(StoredConversations, uses_memory_or_refuses_while_the_store_is_away) {
  store::PostgresServer server;
  net::Loop loop;
  ScriptedChats chats(100);
  const std::string url = server.new_store();
  const auto database = store::open_migrated(url, {}).value();
  StoredGateway gateway(loop, chats, url, "a");
  const Asked first = gateway.ask(talk(1, ""));
  server.stop();
  const Asked second = gateway.ask(talk(2, "More"));
  EXPECT_EQ(second.how, "continued");
  EXPECT_EQ(second.session, first.session);
  EXPECT_GT(gateway->memory.answers.failures(), 0u);
  server.start();
  // What was kept in memory alone is written when the store is back.
  const auto after = store::open_migrated(url, {}).value();
  store::SessionTable table(*after);
  ASSERT_TRUE(store::eventually([&] {
    const auto session = table.get(first.session);
    return session && *session && (*session)->turns == 2;
  }));
  EXPECT_EQ(gateway.ask(talk(3, "More")).session, first.session);
  server.stop();
  gateway.restart(true);
  const Asked refused = gateway.ask(talk(2, "More"));
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace callgate::server::stored_conversations_test
