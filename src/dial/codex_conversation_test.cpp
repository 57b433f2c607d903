#include "dial/codex_conversation.h"

#include <gtest/gtest.h>

namespace callgate::server::codex_conversation_test {
namespace {

using State = Conversation::State;
using Follows = ChildPrompt::Follows;

constexpr HashKey kKey{1, 2};

class ConversationBookTest : public testing::Test {
 protected:
  Conversation& add(std::string thread, State state, std::uint64_t since = 0) {
    Conversation& made = book_.add(std::move(thread));
    made.state = state;
    made.since = since;
    made.history = 7;
    made.said = "Hello there";
    made.called = {"c1", "c2"};
    return made;
  }
  static ChildPrompt prompt(Follows follows) {
    ChildPrompt made;
    made.follows = follows;
    made.before = 7;
    made.answer = words_of("Hello\nthere", kKey);
    made.called = {"c2", "c1"};
    return made;
  }

  ConversationBook book_{kKey};
};

TEST_F(ConversationBookTest, finds_by_thread_and_by_listener) {
  net::Loop loop;
  Conversation& first = add("t1", State::running);
  Conversation& second = add("t2", State::running);
  second.lane = std::make_shared<AnswerLane>(loop, 10);
  EXPECT_EQ(book_.find("t1"), &first);
  EXPECT_EQ(book_.find("t3"), nullptr);
  EXPECT_EQ(book_.find(second.lane), &second);
  EXPECT_EQ(book_.find(std::make_shared<AnswerLane>(loop, 10)), nullptr);
  EXPECT_NE(first.session, second.session);
  EXPECT_EQ(book_.size(), 2);
  book_.remove(first);
  EXPECT_EQ(book_.size(), 1);
  EXPECT_EQ(book_.find("t1"), nullptr);
}

TEST_F(ConversationBookTest, an_idle_one_goes_on_behind_its_answer) {
  Conversation& known = add("t", State::idle);
  EXPECT_EQ(book_.find_known(prompt(Follows::answer)), &known);
  EXPECT_EQ(book_.find_known(prompt(Follows::nothing)), nullptr);
  EXPECT_EQ(book_.find_known(prompt(Follows::calls)), nullptr);
  ChildPrompt other = prompt(Follows::answer);
  other.before = 8;
  EXPECT_EQ(book_.find_known(other), nullptr);
  other = prompt(Follows::answer);
  other.answer = words_of("Something else", kKey);
  EXPECT_EQ(book_.find_known(other), nullptr);
  known.state = State::running;
  EXPECT_EQ(book_.find_known(prompt(Follows::answer)), nullptr);
}

TEST_F(ConversationBookTest, a_parked_one_goes_on_with_results_of_its_calls) {
  Conversation& known = add("t", State::parked);
  EXPECT_EQ(book_.find_known(prompt(Follows::calls)), &known);
  EXPECT_EQ(book_.find_known(prompt(Follows::answer)), nullptr);
  ChildPrompt other = prompt(Follows::calls);
  other.called = {"c1", "c3"};
  EXPECT_EQ(book_.find_known(other), nullptr);
  known.state = State::idle;
  EXPECT_EQ(book_.find_known(prompt(Follows::calls)), nullptr);
}

TEST_F(ConversationBookTest, gives_up_idle_ones_before_parked_ones_and_the_oldest_first) {
  EXPECT_EQ(book_.find_oldest_quiet(), nullptr);
  add("running", State::running, 1);
  EXPECT_EQ(book_.find_oldest_quiet(), nullptr);
  add("parked", State::parked, 2);
  EXPECT_EQ(book_.find_oldest_quiet()->thread, "parked");
  add("older", State::parked, 1);
  EXPECT_EQ(book_.find_oldest_quiet()->thread, "older");
  add("idle", State::idle, 9);
  EXPECT_EQ(book_.find_oldest_quiet()->thread, "idle");
  add("idler", State::idle, 8);
  add("as old", State::idle, 8);
  EXPECT_EQ(book_.find_oldest_quiet()->thread, "idler");
}

TEST_F(ConversationBookTest, lets_each_kind_wait_for_its_own_time) {
  UpstreamConfig limits;
  limits.call_timeout = Milliseconds(10);
  limits.conversation_timeout = Milliseconds(20);
  add("running", State::running, 0);
  Conversation& parked = add("parked", State::parked, 100);
  EXPECT_EQ(book_.find_expired(110, limits), nullptr);
  EXPECT_EQ(book_.find_expired(111, limits), &parked);
  book_.remove(parked);
  const Conversation& idle = add("idle", State::idle, 100);
  EXPECT_EQ(book_.find_expired(120, limits), nullptr);
  EXPECT_EQ(book_.find_expired(121, limits), &idle);
}

TEST(Conversation, announces_a_call_once) {
  Conversation conversation;
  EXPECT_TRUE(conversation.announce("c1"));
  EXPECT_FALSE(conversation.announce("c1"));
  EXPECT_TRUE(conversation.announce("c2"));
  EXPECT_EQ(conversation.called, (std::vector<std::string>{"c1", "c2"}));
}

Request request() {
  Request made{.model = "m"};
  made.messages.push_back({.role = Role::user, .content = {"\"hi\""}});
  made.tools.push_back({.name = "f", .description = "Finds", .parameters = {"{}"}});
  return made;
}

TEST(ChildPrompt, is_known_by_everything_that_shapes_the_conversation) {
  const std::uint64_t known = make_child_prompt(request(), "", kKey).history;
  EXPECT_EQ(make_child_prompt(request(), "other body", kKey).history, known);
  std::vector<Request> others(7, request());
  others[0].model = "n";
  others[1].tool_choice.mode = ToolChoice::Mode::none;
  others[2].tools[0].name = "g";
  others[3].tools[0].description = "Looks";
  others[4].tools[0].parameters.text = "[]";
  others[5].messages[0].content.text = "\"ho\"";
  others[6].messages[0].role = Role::system;
  for (const Request& other : others) {
    EXPECT_NE(make_child_prompt(other, "", kKey).history, known) << &other - others.data();
  }
  Request required = request();
  required.tool_choice.mode = ToolChoice::Mode::required;
  EXPECT_EQ(make_child_prompt(required, "", kKey).history, known) << "codex cannot be forced";
}

TEST(ChildPrompt, has_what_the_wire_needs) {
  const ChildPrompt prompt = make_child_prompt(request(), "body", kKey);
  EXPECT_EQ(prompt.body, "body");
  EXPECT_EQ(prompt.model, "m");
  EXPECT_TRUE(prompt.tools.contains("f"));
  EXPECT_EQ(prompt.before, 0u);
}

}  // namespace
}  // namespace callgate::server::codex_conversation_test
