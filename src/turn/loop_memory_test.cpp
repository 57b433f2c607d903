#include "turn/loop_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chat/message_json.h"
#include "net/net_testing.h"

namespace callgate::server::loop_memory_test {
namespace {

using testing::ElementsAre;

store::MemoryStep step(std::string after, std::string name, std::vector<std::string> messages) {
  store::MemoryStep made;
  made.after = std::move(after);
  made.step = std::move(name);
  made.messages = std::move(messages);
  return made;
}

TEST(UnstoredMemories, keeps_what_was_used_last_within_its_bytes_and_time) {
  UnstoredMemories memories;
  const MemoryLimits limits{.ttl = std::chrono::milliseconds(100), .unstored_bytes = 3'500};
  const std::string large(1'000, 'x');
  EXPECT_TRUE(memories.append({"k", "a"}, step("", "1", {large}), limits, 10));
  EXPECT_FALSE(memories.append({"k", "a"}, step("", "2", {large}), limits, 10));
  EXPECT_TRUE(memories.append({"k", "b"}, step("", "3", {large}), limits, 20));
  EXPECT_TRUE(memories.append({"k", "a"}, step("1", "4", {large}), limits, 30));
  EXPECT_EQ(memories.load({"k", "a"}, 40)->head.messages, 2);
  EXPECT_FALSE(memories.load({"other", "a"}, 40));
  EXPECT_TRUE(memories.append({"k", "c"}, step("", "5", {large}), limits, 50));
  EXPECT_FALSE(memories.load({"k", "b"}, 50)) << "the oldest had to go";
  EXPECT_TRUE(memories.load({"k", "a"}, 129));
  EXPECT_FALSE(memories.load({"k", "a"}, 130)) << "its time is over";
  EXPECT_FALSE(memories.append({"k", "a"}, step("4", "6", {large}), limits, 130));
  EXPECT_TRUE(memories.erase({"k", "c"}));
  EXPECT_FALSE(memories.erase({"k", "c"}));
}

class Deaf final : public loop::ClientSink {
 public:
  void accept(const Event&) override {}
  void notice(const loop::Notice&) override {}
};

class LoopMemoryTest : public testing::Test {
 protected:
  template <class T>
  T wait(net::Task<T> task) {
    std::optional<T> result;
    const auto run = [](net::Task<T> awaited, std::optional<T>& to) -> net::Task<> {
      to.emplace(co_await std::move(awaited));
    };
    net::run_to_end(loop_, run(std::move(task), result));
    return std::move(*result);
  }
  std::unique_ptr<LoopMemory> make(const std::string& conversation, loop::Memory mode) {
    store::MemoryName name{"k", conversation};
    return std::make_unique<LoopMemory>(all_, claims_, loop_, name, mode, ++seed_);
  }
  std::vector<std::string> stored(const std::string& conversation) {
    const auto memory = wait(all_.load(loop_, {"k", conversation})).value();
    return memory ? memory->messages : std::vector<std::string>();
  }
  static Request question() {
    Request request;
    request.messages.push_back({.role = Role::user, .content = {"\"Go\""}});
    return request;
  }

  net::Loop loop_;
  LoopMemories all_;
  ConversationClaims claims_;
  std::uint64_t seed_ = 0;
  Deaf deaf_;
};

// A round with a tool, told step by step; a cancel comes in the place of one of them.
class Play {
 public:
  Play(LoopMemory& memory, loop::ToolLoop& loop) : memory_(memory), loop_(loop) {}

  void tell(int number) {
    if (number == 0) loop_.start(0);
    if (number == 1) loop_.accept(TextDelta{"Let me look. "});
    if (number == 2) loop_.accept(CallStarted{0, "find", "tc1"});
    if (number == 3) loop_.accept(CallFinished{0, CallOutcome::complete});
    if (number == 4) loop_.accept(TurnFinished{FinishReason::tool_calls});
    if (number == 5) loop_.finish_run(1, {.text = "found"}, 1);
    if (number == 6) loop_.accept(TextDelta{"There it is."});
    if (number == 7) loop_.accept(TurnFinished{FinishReason::stop});
  }
  // True at the end.
  bool perform() {
    bool over = false;
    for (loop::Action& action : loop_.take_actions()) {
      if (auto* call = std::get_if<loop::CallModel>(&action)) memory_.take(*call);
      if (auto* last = std::get_if<loop::Finish>(&action)) {
        memory_.finish(*last);
        over = true;
      }
    }
    return over;
  }

 private:
  LoopMemory& memory_;
  loop::ToolLoop& loop_;
};

TEST_F(LoopMemoryTest, a_loop_that_is_cancelled_anywhere_leaves_a_whole_history) {
  for (const bool save_first : {true, false}) {
    for (int cut = 1; cut <= 8; ++cut) {
      const std::string conversation = (save_first ? "a" : "b") + std::to_string(cut);
      const auto memory = make(conversation, loop::Memory::inside);
      Request request = question();
      loop::Options options;
      ASSERT_TRUE(wait(memory->open(request, options)));
      auto loop = loop::ToolLoop::make(request, options, {{.spec = {.name = "find"}}}, deaf_);
      Play play(*memory, *loop);
      bool over = false;
      for (int number = 0; !over; ++number) {
        number == cut ? loop->cancel(2) : play.tell(number);
        over = play.perform();
        const bool now = save_first || over || number + 1 != cut;
        if (now && memory->unsaved()) {
          ASSERT_TRUE(wait(memory->save()));
        }
      }
      const std::string kept = join_json(stored(conversation));
      const auto messages = read_messages(kept).value();
      ASSERT_FALSE(messages.empty());
      int questions = 0;
      for (std::size_t i = 0; i < messages.size(); ++i) {
        questions += messages[i].role == Role::user ? 1 : 0;
        if (messages[i].calls.empty()) continue;
        ASSERT_LT(i + 1, messages.size()) << kept;
        EXPECT_EQ(messages[i + 1].tool_call_id, messages[i].calls[0].id) << kept;
      }
      EXPECT_EQ(questions, 1) << kept;
      EXPECT_EQ(messages.size(), cut == 8 ? 4u : messages.size()) << kept;
    }
  }
}

TEST_F(LoopMemoryTest, stores_nothing_behind_a_step_that_it_could_not_store) {
  const auto memory = make("c", loop::Memory::inside);
  Request request = question();
  loop::Options options;
  ASSERT_TRUE(wait(memory->open(request, options)));
  loop::CallModel call{.request = request, .remember = 1};
  memory->take(call);
  ASSERT_TRUE(wait(memory->save()));
  ASSERT_TRUE(wait(all_.forget(loop_, {"k", "c"})).value());
  loop::Finish last;
  last.remember.push_back({.role = Role::assistant, .content = {"\"Done\""}});
  memory->finish(last);
  const auto saved = wait(memory->save());
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, ErrorCode::conflict);
  EXPECT_FALSE(wait(memory->save()));
  EXPECT_THAT(stored("c"), ElementsAre());
}

TEST_F(LoopMemoryTest, a_turn_gets_what_is_remembered_then_what_is_for_it_alone) {
  const auto memory = make("c", loop::Memory::inside);
  Request request = question();
  request.messages.insert(request.messages.begin(),
                          {.role = Role::system, .content = {"\"Be kind\""}});
  loop::Options options;
  ASSERT_TRUE(wait(memory->open(request, options)));
  EXPECT_EQ(options.in_memory, 1u);
  loop::CallModel call{.remember = 1, .system_prompt = "Be brief"};
  call.request.messages = {{.role = Role::user, .content = {"\"Go\""}},
                           {.role = Role::user, .content = {"\"Answer now\""}}};
  memory->take(call);
  EXPECT_EQ(print_messages(call.request.messages),
            R"([{"role":"system","content":"Be brief"},{"role":"user","content":"Go"},)"
            R"({"role":"user","content":"Answer now"}])");
  ASSERT_TRUE(wait(memory->save()));
  EXPECT_THAT(stored("c"), ElementsAre(R"({"role":"user","content":"Go"})"));
  EXPECT_EQ(wait(all_.load(loop_, {"k", "c"})).value()->head.prompt,
            R"([{"role":"system","content":"Be kind"}])");
}

}  // namespace
}  // namespace callgate::server::loop_memory_test
