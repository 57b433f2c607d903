#include "server/qwen_web_upstream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "client/protocol.h"
#include "net/net_testing.h"

namespace callgate::server {
namespace {

using testing::HasSubstr;

Request request_of(const std::string& messages) {
  auto request =
      client::find("openai_chat")->decode(R"({"model":"m","messages":)" + messages + "}");
  EXPECT_TRUE(request) << (request ? "" : request.error().message);
  return *request;
}

std::string user(std::string_view text) {
  return R"({"role":"user","content":")" + std::string(text) + "\"}";
}
std::string assistant(std::string_view text) {
  return R"({"role":"assistant","content":")" + std::string(text) + "\"}";
}

struct Asked {
  std::string how;
  std::string text;
  std::optional<Error> error;
};
struct Who {
  std::string key_name;
  std::string session;
  std::string prompt;      // messages; empty: what was asked
  std::size_t leave = 99;  // pieces that are read
};

// Calls on one loop, with the scripted model as the upstream. It answers every message with "an answer".
class QwenWebUpstream : public testing::Test {
 protected:
  QwenWebUpstream() {
    const std::string script = testing::TempDir() + "qwen_web_upstream_test.script";
    std::ofstream(script) << "cut 3\npace 1ms\ntext \"an answer\"\n";
    config_.name = "qwen";
    config_.wire = "qwen_web";
    config_.url = "script:" + script;
    model_.name = "m";
    auto posts = make_script_target(loop_, config_, chats_);
    EXPECT_TRUE(posts);
    std::remove(script.c_str());
    target_ = make_qwen_web_target(loop_, config_, std::move(*posts), memory_, 1);
  }

  net::Task<> ask_on_loop(const std::string& messages, const Who& who, Asked& asked) {
    const Request request = request_of(messages);
    const Request prompt = who.prompt.empty() ? request : request_of(who.prompt);
    auto call = target_->call(model_);
    const Origin origin{.prompt = prompt, .key_name = who.key_name, .session = who.session};
    call->set_origin(origin);
    const UpstreamRequest encoded;
    auto sent = co_await call->send(request, encoded);
    if (!sent) {
      asked.error = sent.error();
      co_return;
    }
    asked.how = call->header(kConversationHeader);
    std::string bytes;
    for (std::size_t i = 0; i < who.leave; ++i) {
      auto piece = co_await call->read(net::kNever);
      if (!piece || piece->bytes.empty()) break;
      bytes += piece->bytes;
      // Each piece is a frame; what it says is what the client gets.
      const auto decoder = upstream::find("qwen_web")->make_decoder(request);
      Sinks sinks(*call->observer(), asked.text);
      decoder->push({.event = {}, .data = piece->bytes.substr(6), .id = {}}, sinks);
    }
  }

  Asked ask(const std::string& messages, const Who& who = {}) {
    Asked asked;
    net::run_to_end(loop_, ask_on_loop(messages, who, asked));
    return asked;
  }

  class Sinks final : public ChoiceSinks, public EventSink {
   public:
    Sinks(EventSink& observer, std::string& text) : observer_(observer), text_(text) {}
    EventSink& choice(std::uint32_t) override { return *this; }
    std::uint32_t count() const override { return 1; }
    void accept(const Event& event) override {
      if (const auto* delta = std::get_if<TextDelta>(&event)) text_ += delta->text;
      observer_.accept(event);
    }

   private:
    EventSink& observer_;
    std::string& text_;
  };

  net::Loop loop_;
  ScriptedChats chats_{3};
  ConversationMemory memory_;
  UpstreamConfig config_;
  ModelConfig model_;
  std::unique_ptr<UpstreamTarget> target_;
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
  EXPECT_EQ(memory_.claims.held(), 0u);
}

TEST_F(QwenWebUpstream, remembers_an_answer_that_was_left) {
  const Asked cut = ask("[" + user("Hi") + "]", {.leave = 3});
  EXPECT_EQ(cut.text, "an ans");
  EXPECT_EQ(memory_.claims.held(), 0u);
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
    loop_.spawn(ask_on_loop(more, who, first));
    const Request request = request_of(more);
    auto call = target_->call(model_);
    const auto leave = [](net::Loop& loop, UpstreamCall& waiting) -> net::Task<> {
      co_await loop.sleep(net::Millis(1));
      waiting.cancel();
    };
    loop_.spawn(leave(loop_, *call));
    const UpstreamRequest encoded;
    auto sent = co_await call->send(request, encoded);
    EXPECT_FALSE(sent);
    call.reset();
    co_await ask_on_loop(more, who, second);
  };
  net::run_to_end(loop_, both());
  EXPECT_EQ(first.how, "continued");
  EXPECT_EQ(second.how, "branched");
  EXPECT_THAT(chats_.print("chat-1").value(), HasSubstr(R"("overlaps":0)"));
  EXPECT_EQ(memory_.claims.held(), 0u);
}

}  // namespace
}  // namespace callgate::server
