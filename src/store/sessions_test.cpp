#include "store/sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "net/net_testing.h"
#include "store/export.h"
#include "store/migration.h"
#include "store/postgres_testing.h"
#include "store/scratch_testing.h"

namespace callgate::store::sessions_test {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::SizeIs;

constexpr milliseconds kKeep{60'000};

// What holds for sessions in either engine.
class SessionContract : public testing::TestWithParam<Engine> {
 protected:
  SessionContract()
      : url_(GetParam() == Engine::sqlite ? scratch_.url() : shared_postgres().new_store()),
        database_(open_migrated(url_, {}).value()),
        sessions_(*database_),
        first_(*database_, "first"),
        second_(*database_, "second"),
        memory_(*database_) {}
  ~SessionContract() override {
    if (GetParam() == Engine::postgresql) shared_postgres().give_back(url_);
  }

  static Session session(const std::string& id, const std::string& answer, std::int64_t version) {
    Session session;
    session.id = id;
    session.key_name = "dev";
    session.upstream = "qwen";
    session.model = "qwen3-max";
    session.state = {.chat = "c1", .answer = answer, .told = "t"};
    session.identity = "after " + answer;
    session.opening = "opening";
    session.version = version;
    return session;
  }
  static SessionAnswer answer(const std::string& id, const std::string& of_session) {
    SessionAnswer answer;
    answer.upstream = "qwen";
    answer.where = {.chat = "c1", .answer = id, .told = "t"};
    answer.session = of_session;
    answer.identity = "after " + id;
    answer.request = "req_" + id;
    return answer;
  }
  bool remember(const std::string& id, const std::string& of_session, std::int64_t version) {
    return sessions_.remember(session(of_session, id, version), answer(id, of_session), kKeep)
        .value();
  }
  SessionAnswer find(const std::string& id) {
    const auto found = sessions_.candidates("after " + id, "before " + id).value();
    return found.empty() ? SessionAnswer{} : found.front();
  }

  ScratchFolder scratch_;
  const std::string url_;
  std::unique_ptr<Database> database_;
  SessionTable sessions_;
  NodeTable first_;
  NodeTable second_;
  MemoryTable memory_;
};

INSTANTIATE_TEST_SUITE_P(Engines, SessionContract,
                         testing::Values(Engine::sqlite, Engine::postgresql),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST_P(SessionContract, keeps_a_session_and_its_answers) {
  ASSERT_TRUE(remember("r1", "s1", 0));
  SessionAnswer one = find("r1");
  EXPECT_EQ(one.session, "s1");
  EXPECT_EQ(one.where.told, "t");
  EXPECT_EQ(one.version, 1);
  ASSERT_TRUE(sessions_.follow(one).value());
  ASSERT_TRUE(remember("r2", "s1", 2));
  EXPECT_TRUE(find("r1").continued);
  EXPECT_FALSE(find("r2").continued);
  const Session kept = sessions_.get("s1").value().value();
  EXPECT_EQ(kept.state.answer, "r2");
  EXPECT_EQ(kept.identity, "after r2");
  EXPECT_EQ(kept.turns, 2);
  EXPECT_EQ(kept.version, 3);
  EXPECT_GE(kept.used_at, kept.created_at);
  EXPECT_EQ(kept.expires_at, kept.used_at + kKeep.count());
  const auto answers = sessions_.answers("s1", 10).value();
  ASSERT_THAT(answers, SizeIs(2));
  EXPECT_EQ(answers[1].request, "req_r2");
  EXPECT_EQ(sessions_.find_opening("opening").value()->where.answer, "r2");
}

void expect_same(const UpstreamState& got, const UpstreamState& wanted) {
  EXPECT_EQ(got.chat, wanted.chat);
  EXPECT_EQ(got.answer, wanted.answer);
  EXPECT_EQ(got.told, wanted.told);
}

void expect_same(const Session& got, const Session& wanted) {
  EXPECT_EQ(got.id, wanted.id);
  EXPECT_EQ(got.key_name, wanted.key_name);
  EXPECT_EQ(got.upstream, wanted.upstream);
  EXPECT_EQ(got.model, wanted.model);
  EXPECT_EQ(got.name, wanted.name);
  EXPECT_EQ(got.parent, wanted.parent);
  expect_same(got.state, wanted.state);
  EXPECT_EQ(got.identity, wanted.identity);
  EXPECT_EQ(got.opening, wanted.opening);
  EXPECT_EQ(got.turns, wanted.turns);
  EXPECT_EQ(got.version, wanted.version);
}

Session full_session(const std::string& prefix) {
  Session full;
  full.id = "session";
  full.key_name = prefix + "key";
  full.upstream = prefix + "upstream";
  full.model = prefix + "model";
  full.name = prefix + "name";
  full.parent = prefix + "parent";
  full.state = {.chat = prefix + "chat", .answer = prefix + "answer", .told = prefix + "told"};
  full.identity = prefix + "identity";
  full.opening = prefix + "opening";
  return full;
}

SessionAnswer full_answer(const Session& of, const std::string& prefix) {
  SessionAnswer full;
  full.upstream = of.upstream;
  full.where = {.chat = of.state.chat, .answer = of.state.answer, .told = prefix + "its told"};
  full.session = of.id;
  full.identity = prefix + "its identity";
  full.state = AnswerState::cut;
  full.said = prefix + "said";
  full.called = prefix + "called";
  full.request = prefix + "request";
  return full;
}

// A new session and one that goes on, each with every field another text.
TEST_P(SessionContract, gives_back_every_field_of_a_session_and_of_its_answers) {
  for (const std::int64_t version : {0, 1}) {
    Session wanted = full_session(version == 0 ? "" : "next ");
    wanted.version = version;
    const SessionAnswer answer = full_answer(wanted, version == 0 ? "" : "next ");
    ASSERT_TRUE(sessions_.remember(wanted, answer, kKeep).value());
    wanted.version = wanted.turns = version + 1;
    const Session got = sessions_.get("session").value().value();
    expect_same(got, wanted);
    EXPECT_EQ(got.expires_at, got.used_at + kKeep.count());
    expect_same(sessions_.list({}).value().sessions.at(0), wanted);

    const SessionAnswer kept =
        sessions_.answers("session", 10).value().at(static_cast<std::size_t>(version));
    EXPECT_EQ(kept.upstream, answer.upstream);
    expect_same(kept.where, answer.where);
    EXPECT_EQ(kept.session, "session");
    EXPECT_EQ(kept.identity, answer.identity);
    EXPECT_EQ(kept.state, AnswerState::cut);
    EXPECT_FALSE(kept.continued);
    EXPECT_EQ(kept.said, answer.said);
    EXPECT_EQ(kept.called, answer.called);
    EXPECT_EQ(kept.request, answer.request);
    EXPECT_EQ(kept.version, wanted.version);
    EXPECT_EQ(kept.name, wanted.name);
    EXPECT_GE(kept.created_at, got.created_at);
    EXPECT_EQ(sessions_.find_opening(wanted.opening).value()->where.answer, wanted.state.answer);
  }
  EXPECT_EQ(sessions_.answers("session", 1).value().size(), 1u);
}

TEST_P(SessionContract, a_running_answer_keeps_its_place) {
  SessionAnswer running = full_answer(full_session(""), "");
  running.state = AnswerState::running;
  ASSERT_TRUE(sessions_.begin(running, kKeep));
  const SessionAnswer kept = sessions_.candidates("", "its identity").value().at(0);
  EXPECT_EQ(kept.state, AnswerState::running);
  EXPECT_EQ(kept.upstream, "upstream");
  expect_same(kept.where, running.where);
  EXPECT_EQ(kept.session, "session");
  EXPECT_EQ(kept.request, "request");
  EXPECT_EQ(kept.said, "");
  EXPECT_EQ(kept.called, "");
}

TEST_P(SessionContract, lets_one_message_follow_an_answer) {
  ASSERT_TRUE(remember("r1", "s1", 0));
  const SessionAnswer seen = find("r1");
  EXPECT_TRUE(sessions_.follow(seen).value());
  EXPECT_FALSE(sessions_.follow(seen).value()) << "another one was first";
  ASSERT_TRUE(sessions_.unfollow(seen));
  EXPECT_FALSE(sessions_.follow(seen).value()) << "seen too long ago";
  EXPECT_TRUE(sessions_.follow(find("r1")).value());
  EXPECT_FALSE(remember("r9", "s1", 1)) << "decided on an old version";
  EXPECT_EQ(find("r9").session, "");
  EXPECT_TRUE(remember("r2", "s1", 3));
  EXPECT_TRUE(remember("r2", "s1", 3)) << "the same again is no harm";
  EXPECT_EQ(sessions_.get("s1").value()->turns, 2);
}

TEST_P(SessionContract, prefers_complete_answers_that_nothing_follows) {
  ASSERT_TRUE(remember("r1", "s1", 0));
  SessionAnswer twin = answer("r2", "s2");
  twin.identity = "after r1";
  ASSERT_TRUE(sessions_.remember(session("s2", "r2", 0), twin, kKeep).value());
  ASSERT_TRUE(sessions_.follow(find("r1")).value());
  const auto found = sessions_.candidates("after r1", "").value();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_FALSE(found[0].continued);
  EXPECT_TRUE(found[1].continued);
}

TEST_P(SessionContract, knows_running_and_cut_answers_by_what_was_said_before) {
  SessionAnswer running = answer("r1", "s1");
  running.identity = "before r1";
  ASSERT_TRUE(sessions_.begin(running, kKeep));
  EXPECT_EQ(find("r1").state, AnswerState::running);
  EXPECT_FALSE(sessions_.follow(find("r1")).value());
  SessionAnswer cut = running;
  cut.state = AnswerState::cut;
  cut.said = std::string("Hel\0lo", 6);
  cut.called = "2:c1";
  ASSERT_TRUE(sessions_.remember(session("s1", "r1", 0), cut, kKeep).value());
  const SessionAnswer kept = find("r1");
  EXPECT_EQ(kept.state, AnswerState::cut);
  EXPECT_EQ(kept.said, cut.said);
  EXPECT_EQ(kept.called, cut.called);
  ASSERT_TRUE(sessions_.drop("qwen", kept.where));
  EXPECT_EQ(find("r1").session, "");
}

TEST_P(SessionContract, forgets_chats_sessions_and_what_has_expired) {
  ASSERT_TRUE(remember("r1", "s1", 0));
  ASSERT_TRUE(sessions_.forget("other", "c1"));
  EXPECT_EQ(find("r1").session, "s1");
  ASSERT_TRUE(sessions_.forget("qwen", "c1"));
  EXPECT_EQ(find("r1").session, "");
  EXPECT_TRUE(sessions_.get("s1").value().has_value());
  ASSERT_TRUE(remember("r2", "s1", 1));
  EXPECT_TRUE(sessions_.erase("s1").value());
  EXPECT_FALSE(sessions_.erase("s1").value());
  EXPECT_EQ(find("r2").session, "");
  EXPECT_FALSE(remember("r3", "s1", 2)) << "a session that was deleted does not come back";
  ASSERT_TRUE(
      sessions_.remember(session("s2", "r4", 0), answer("r4", "s2"), milliseconds(-1)).value());
  ASSERT_TRUE(remember("r5", "s3", 0));
  EXPECT_EQ(find("r4").session, "");
  EXPECT_FALSE(sessions_.get("s2").value().has_value());
  EXPECT_EQ(sessions_.sweep(10).value(), 1);
  EXPECT_EQ(sessions_.sweep(10).value(), 0);
  EXPECT_EQ(find("r5").session, "s3");
}

TEST_P(SessionContract, lists_page_by_page) {
  for (int i = 0; i < 5; ++i) {
    Session each = session("s" + std::to_string(i), "r" + std::to_string(i), 0);
    if (i == 2) each.model = "other";
    const auto its_answer = answer(each.state.answer, each.id);
    ASSERT_TRUE(sessions_.remember(each, its_answer, kKeep).value());
    std::this_thread::sleep_for(milliseconds(2));
  }
  const auto ids = [](const SessionPage& page) {
    std::vector<std::string> all;
    for (const Session& each : page.sessions) all.push_back(each.id);
    return all;
  };
  SessionFilter filter;
  filter.limit = 2;
  filter.model = "qwen3-max";
  SessionPage page = sessions_.list(filter).value();
  EXPECT_THAT(ids(page), ElementsAre("s4", "s3"));
  filter.cursor = page.cursor;
  page = sessions_.list(filter).value();
  EXPECT_THAT(ids(page), ElementsAre("s1", "s0"));
  EXPECT_EQ(page.cursor, "");
  filter = {};
  filter.limit = 5;
  page = sessions_.list(filter).value();
  EXPECT_THAT(ids(page), ElementsAre("s4", "s3", "s2", "s1", "s0"));
  EXPECT_EQ(page.cursor, "") << "a full page may be the last";
  filter.upstream = "other";
  EXPECT_THAT(ids(sessions_.list(filter).value()), SizeIs(0));
  filter.upstream = "qwen";
  filter.key_name = "dev";
  EXPECT_THAT(ids(sessions_.list(filter).value()), SizeIs(5));
  filter = {};
  filter.key_name = "nobody";
  EXPECT_THAT(ids(sessions_.list(filter).value()), SizeIs(0));
  for (const char* wrong : {"nonsense", "5", "5x", "-"}) {
    filter.cursor = wrong;
    EXPECT_EQ(sessions_.list(filter).error().kind, FaultKind::bad_row) << wrong;
  }
}

MemoryStep memory_step(std::string after, std::string step, std::int64_t from,
                       std::vector<std::string> messages) {
  MemoryStep made;
  made.after = std::move(after);
  made.step = std::move(step);
  made.from = from;
  made.messages = std::move(messages);
  made.bytes = 10 * (from + static_cast<std::int64_t>(made.messages.size()));
  made.prompt = "[\"be kind\"]";
  return made;
}

TEST_P(SessionContract, remembers_a_conversation_step_by_step) {
  const MemoryName mine{"dev", "c1"};
  const MemoryName other{"ops", "c1"};
  EXPECT_FALSE(memory_.load(mine).value());
  const MemoryStep first = memory_step("", "a", 0, {"{\"role\":\"user\"}", "Hal\xc3\xb6"});
  EXPECT_TRUE(memory_.append(mine, first, kKeep).value());
  EXPECT_TRUE(memory_.append(mine, first, kKeep).value()) << "the same again is no harm";
  EXPECT_FALSE(memory_.append(mine, memory_step("", "b", 0, {"x"}), kKeep).value())
      << "it has begun already";
  EXPECT_TRUE(memory_.append(other, memory_step("", "c", 0, {"theirs"}), kKeep).value());
  MemoryStep second = memory_step("a", "d", 2, {"three"});
  second.pending = std::string("p\0q", 3);
  EXPECT_TRUE(memory_.append(mine, second, kKeep).value());
  EXPECT_FALSE(memory_.append(mine, memory_step("a", "e", 2, {"late"}), kKeep).value())
      << "it has gone on";
  const Memory kept = memory_.load(mine).value().value();
  EXPECT_THAT(kept.messages, ElementsAre("{\"role\":\"user\"}", "Hal\xc3\xb6", "three"));
  EXPECT_EQ(kept.head.step, "d");
  EXPECT_EQ(kept.head.messages, 3);
  EXPECT_EQ(kept.head.bytes, 30);
  EXPECT_EQ(kept.head.prompt, "[\"be kind\"]");
  EXPECT_EQ(kept.head.pending, second.pending);
  EXPECT_EQ(kept.head.expires_at, kept.head.used_at + kKeep.count());
  EXPECT_GT(kept.head.created_at, 1'700'000'000'000);
  EXPECT_LE(kept.head.created_at, kept.head.used_at);
  EXPECT_THAT(memory_.load(other).value()->messages, ElementsAre("theirs"));
}

TEST_P(SessionContract, forgets_conversations_with_all_their_messages) {
  const MemoryName name{"dev", "c1"};
  const auto rows = [&] {
    return database_->integer("SELECT count(*) FROM memory_message").value();
  };
  ASSERT_TRUE(memory_.append(name, memory_step("", "a", 0, {"1", "2"}), kKeep).value());
  EXPECT_TRUE(memory_.erase(name).value());
  EXPECT_FALSE(memory_.erase(name).value());
  EXPECT_EQ(rows(), 0);
  EXPECT_FALSE(memory_.append(name, memory_step("a", "b", 2, {"3"}), kKeep).value())
      << "one that was deleted does not come back";
  ASSERT_TRUE(memory_.append(name, memory_step("", "c", 0, {"1"}), milliseconds(-1)).value());
  EXPECT_FALSE(memory_.load(name).value());
  EXPECT_FALSE(memory_.append(name, memory_step("c", "d", 1, {"2"}), kKeep).value());
  ASSERT_TRUE(memory_.append(name, memory_step("", "e", 0, {"new"}), kKeep).value());
  EXPECT_THAT(memory_.load(name).value()->messages, ElementsAre("new"));
  ASSERT_TRUE(
      memory_.append({"dev", "c2"}, memory_step("", "f", 0, {"1", "2"}), milliseconds(-1)).value());
  EXPECT_EQ(memory_.sweep(10).value(), 1);
  EXPECT_EQ(memory_.sweep(10).value(), 0);
  EXPECT_EQ(rows(), 1);
}

TEST_P(SessionContract, moves_to_the_other_engine_and_goes_on_there) {
  ASSERT_TRUE(remember("r1", "s1", 0));
  const MemoryName name{"dev", "c1"};
  ASSERT_TRUE(memory_.append(name, memory_step("", "a", 0, {"1", "2"}), kKeep).value());
  SessionAnswer cut = answer("r2", "s2");
  cut.identity = "before r2";
  cut.state = AnswerState::cut;
  cut.said = "Hal\xc3\xb6\n";
  ASSERT_TRUE(sessions_.remember(session("s2", "r2", 0), cut, kKeep).value());
  std::vector<std::string> lines;
  ASSERT_TRUE(export_store(*database_, [&](std::string_view line) {
    lines.emplace_back(line);
    return true;
  }));
  const bool to_sqlite = GetParam() == Engine::postgresql;
  const std::string other_url =
      to_sqlite ? "sqlite:" + scratch_.path() + "/other.db" : shared_postgres().new_store();
  {
    const auto other = open_migrated(other_url, {}).value();
    std::size_t next = 0;
    const auto moved = import_store(*other, [&]() -> std::optional<std::string> {
      if (next == lines.size()) return std::nullopt;
      return lines[next++];
    });
    ASSERT_TRUE(moved) << moved.error().message;
    SessionTable there(*other);
    EXPECT_EQ(there.candidates("", "before r2").value().front().said, cut.said);
    MemoryTable memory(*other);
    EXPECT_TRUE(memory.append(name, memory_step("a", "b", 2, {"3"}), kKeep).value());
    EXPECT_THAT(memory.load(name).value()->messages, ElementsAre("1", "2", "3"));
    EXPECT_TRUE(there.follow(find("r1")).value());
    EXPECT_TRUE(there.remember(session("s1", "r3", 2), answer("r3", "s1"), kKeep).value());
  }
  if (!to_sqlite) shared_postgres().give_back(other_url);
}

TEST_P(SessionContract, leases_end_with_their_node) {
  EXPECT_FALSE(first_.take("chat", "1").value()) << "nobody knows that this node lives";
  ASSERT_TRUE(first_.beat(milliseconds(60'000)));
  ASSERT_TRUE(second_.beat(milliseconds(60'000)));
  EXPECT_EQ(first_.count().value(), 2);
  EXPECT_TRUE(first_.take("chat", "1").value());
  EXPECT_FALSE(second_.take("chat", "1").value());
  EXPECT_TRUE(first_.take("chat", "2").value());
  ASSERT_TRUE(first_.release("chat", "1"));
  EXPECT_FALSE(second_.take("chat", "1").value()) << "the later holder has it";
  ASSERT_TRUE(first_.release("chat", "2"));
  EXPECT_TRUE(second_.take("chat", "1").value());
  ASSERT_TRUE(second_.beat(milliseconds(-1)));
  EXPECT_TRUE(first_.take("chat", "3").value()) << "the other node is dead";
  ASSERT_TRUE(second_.beat(milliseconds(60'000)));
  ASSERT_TRUE(second_.release("chat", "1"));
  EXPECT_FALSE(second_.take("chat", "2").value()) << "it came back too late";
  ASSERT_TRUE(first_.leave());
  EXPECT_TRUE(second_.take("chat", "2").value());
  ASSERT_TRUE(second_.beat(milliseconds(-1)));
  ASSERT_TRUE(second_.sweep());
  EXPECT_EQ(database_->integer("SELECT count(*) FROM lease").value(), 0);
}

TEST_P(SessionContract, nodes_share_the_limits_of_a_key) {
  ASSERT_TRUE(first_.beat(milliseconds(60'000)));
  ASSERT_TRUE(second_.beat(milliseconds(60'000)));
  const auto share = [](NodeTable& node, std::int64_t held, std::int64_t running) {
    const KeyUse use{
        .key_name = "dev", .per_minute = 60, .held = held, .max_streams = 10, .running = running};
    return node.share(std::span(&use, 1)).value().front();
  };
  const auto start = std::chrono::steady_clock::now();
  // The limit refills by one a second.
  const auto refilled = [&] {
    const auto passed = std::chrono::steady_clock::now() - start;
    return std::chrono::ceil<std::chrono::seconds>(passed).count();
  };
  const KeyShare one = share(first_, 0, 0);
  EXPECT_EQ(one.requests, 30);
  EXPECT_EQ(one.left, 30);
  EXPECT_EQ(one.streams, 5);
  const KeyShare other = share(second_, 0, 0);
  EXPECT_THAT(other.requests, testing::AllOf(testing::Ge(15), testing::Le(15 + refilled())));
  EXPECT_EQ(other.streams, 3);
  EXPECT_EQ(share(first_, 30, 5).streams, 6) << "what the other leaves";
  EXPECT_EQ(share(second_, 15, 3).streams, 4);
  EXPECT_EQ(share(second_, 15, 4).streams, 4) << "all are given away";
  // One node lets in whatever it is given, the other one none: together not more than the limit.
  std::int64_t used = 0;
  KeyShare idle = share(second_, 15, 4);
  for (int i = 0; i < 20; ++i) {
    used += share(first_, 0, 5).requests;
    idle = share(second_, idle.requests, 4);
  }
  EXPECT_THAT(used + idle.requests, testing::AllOf(testing::Ge(28), testing::Le(32 + refilled())));
  ASSERT_TRUE(first_.beat(milliseconds(-1)));
  EXPECT_EQ(share(second_, 0, 4).streams, 10);
}

class SessionsTest : public SessionContract {
 protected:
  SessionsOptions options() {
    SessionsOptions options;
    options.tick = milliseconds(5);
    options.timeout = kLong;
    options.close_timeout = kLong;
    return options;
  }
  template <class Query>
  auto ask(Sessions& sessions, Query query) {
    using Answer = Result<typename std::invoke_result_t<Query&, Sessions::Tables&>::value_type>;
    std::optional<Answer> answer;
    net::Loop loop;
    const auto run = [](Sessions& of, net::Loop& on, Query what,
                        std::optional<Answer>& to) -> net::Task<> {
      to = co_await of.ask(on, "key", what);
    };
    net::run_to_end(loop, run(sessions, loop, query, answer));
    return std::move(*answer);
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, SessionsTest, testing::Values(Engine::sqlite, Engine::postgresql),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST_P(SessionsTest, answers_the_loop_that_asked) {
  Sessions sessions(url_, "node", options());
  EXPECT_EQ(sessions.shared(), GetParam() == Engine::postgresql);
  const auto stored = ask(sessions, [](Sessions::Tables& tables) {
    return tables.sessions.remember(session("s1", "r1", 0), answer("r1", "s1"), kKeep);
  });
  EXPECT_TRUE(stored.value());
  const auto got = ask(sessions, [](Sessions::Tables& t) { return t.sessions.get("s1"); });
  EXPECT_EQ(got.value()->identity, "after r1");
  const auto wrong = ask(sessions, [](Sessions::Tables& tables) {
    return tables.sessions.list({.model = "", .key_name = "", .upstream = "", .cursor = "x"});
  });
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_request);
  EXPECT_TRUE(sessions.health().healthy);
}

TEST_P(SessionsTest, does_what_was_submitted_before_it_ends) {
  std::atomic<int> done{0};
  {
    Sessions sessions(url_, "node", options());
    for (int i = 0; i < 50; ++i) {
      const std::string id = "r" + std::to_string(i);
      sessions.submit(id, {.run = [id](Sessions::Tables& tables) -> Attempt<void> {
                             const auto kept = tables.sessions.remember(
                                 session("s" + id, id, 0), answer(id, "s" + id), kKeep);
                             if (!kept) return tl::unexpected(kept.error());
                             return {};
                           },
                           .done = [&done](const Attempt<void>& ok) { done += ok ? 1 : 0; }});
    }
    // An asker whose loop ends before its answer.
    net::Loop loop;
    const auto query = [](Sessions::Tables& tables) { return tables.sessions.get("s1"); };
    loop.spawn([](Sessions& of, net::Loop& on, auto what) -> net::Task<> {
      static_cast<void>(co_await of.ask(on, "r1", what));
    }(sessions, loop, query));
  }
  EXPECT_EQ(done, 50);
  EXPECT_EQ(
      sessions_.list({.model = "", .key_name = "", .upstream = "", .cursor = "", .limit = 100})
          .value()
          .sessions.size(),
      50u);
  EXPECT_EQ(first_.count().value(), 0);
}

TEST_P(SessionsTest, refuses_what_does_not_fit_into_its_queue) {
  SessionsOptions small = options();
  small.queue = 2;
  Sessions sessions(url_, "node", std::move(small));
  std::promise<void> begun;
  std::promise<void> go_on;
  std::shared_future<void> gone_on = go_on.get_future().share();
  std::atomic<int> done{0};
  std::atomic<int> refused{0};
  const auto submit = [&](std::function<Attempt<void>(Sessions::Tables&)> run) {
    sessions.submit("key", {.run = std::move(run), .done = [&](const Attempt<void>& outcome) {
                              if (!outcome) {
                                EXPECT_EQ(outcome.error().kind, FaultKind::busy);
                              }
                              ++(outcome ? done : refused);
                            }});
  };
  submit([&](Sessions::Tables&) -> Attempt<void> {
    begun.set_value();
    gone_on.wait();
    return {};
  });
  begun.get_future().wait();
  for (int i = 0; i < 3; ++i) {
    submit([](Sessions::Tables&) -> Attempt<void> { return {}; });
  }
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(sessions.health().queued, 2u);
  EXPECT_EQ(sessions.health().failed, 1u);
  go_on.set_value();
  EXPECT_TRUE(eventually([&] { return done == 3 && sessions.health().done == 3; }));
  EXPECT_EQ(sessions.health().queued, 0u);
}

TEST_P(SessionsTest, an_asker_does_not_wait_longer_than_it_may) {
  SessionsOptions impatient = options();
  impatient.timeout = milliseconds(1);
  std::promise<void> go_on;
  std::shared_future<void> gone_on = go_on.get_future().share();
  Sessions sessions(url_, "node", std::move(impatient));
  const auto late = ask(sessions, [gone_on](Sessions::Tables&) -> Attempt<int> {
    gone_on.wait();
    return 1;
  });
  EXPECT_EQ(late.error().code, ErrorCode::unavailable);
  EXPECT_EQ(late.error().message, "store: no answer in time");
  go_on.set_value();
}

TEST_P(SessionsTest, tries_again_what_may_pass) {
  Sessions sessions(url_, "node", options());
  int tries = 0;
  const auto passing = ask(sessions, [&](Sessions::Tables&) -> Attempt<int> {
    if (++tries < 4) return fault(FaultKind::conflict, "again");
    return tries;
  });
  EXPECT_EQ(passing.value_or(0), 4);
  tries = 0;
  const auto lasting = ask(sessions, [&](Sessions::Tables&) -> Attempt<int> {
    ++tries;
    return fault(FaultKind::conflict, "for ever");
  });
  EXPECT_EQ(lasting.error().message, "store: for ever");
  EXPECT_EQ(tries, 4);
  tries = 0;
  const auto wrong = ask(sessions, [&](Sessions::Tables&) -> Attempt<int> {
    ++tries;
    return fault(FaultKind::bad_row, "wrong");
  });
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_request);
  EXPECT_EQ(tries, 1);
}

TEST(Sessions, catch_up_when_the_store_is_back) {
  PostgresServer server;
  const std::string url = server.new_store();
  SessionsOptions options;
  options.first_retry = milliseconds(10);
  options.last_retry = milliseconds(50);
  std::atomic<int> ticks_away{0};
  Sessions sessions(url, "node", std::move(options));
  sessions.set_tick([&](Sessions::Tables* tables) { ticks_away += tables == nullptr ? 1 : 0; });
  std::atomic<int> told{0};
  std::atomic<int> failed{0};
  std::atomic<int> ran{0};
  const auto submit = [&] {
    sessions.submit("key", {.run = [&](Sessions::Tables& tables) -> Attempt<void> {
                              const auto beaten = tables.nodes.beat(milliseconds(1000));
                              if (beaten) ++ran;
                              return beaten;
                            },
                            .done =
                                [&](const Attempt<void>& ok) {
                                  ++told;
                                  failed += ok ? 0 : 1;
                                },
                            .patient = true});
  };
  submit();
  ASSERT_TRUE(eventually([&] { return told == 1; }));
  EXPECT_EQ(failed, 0);
  server.stop();
  submit();
  submit();
  ASSERT_TRUE(eventually([&] { return told == 3 && ticks_away > 0; }));
  EXPECT_EQ(failed, 2);
  EXPECT_FALSE(sessions.health().healthy);
  server.start();
  ASSERT_TRUE(eventually([&] { return ran == 3; }));
  EXPECT_TRUE(eventually([&] { return sessions.health().healthy; }));
  sessions.set_tick({});
}

}  // namespace
}  // namespace callgate::store::sessions_test
