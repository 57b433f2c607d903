// For tests: a Qwen web upstream in front of the scripted model, as one or several gateways call it on one loop.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "client/protocol.h"
#include "dial/qwen_web_upstream.h"
#include "net/net_testing.h"

namespace callgate::server {

inline Request request_of(const std::string& messages) {
  const std::string body = R"({"model":"m","messages":)" + messages + "}";
  auto request = client::find("openai_chat")->decode({.body = body});
  EXPECT_TRUE(request) << (request ? "" : request.error().message);
  return *request;
}

inline std::string user(std::string_view text) {
  return R"({"role":"user","content":")" + std::string(text) + "\"}";
}
inline std::string assistant(std::string_view text) {
  return R"({"role":"assistant","content":")" + std::string(text) + "\"}";
}

struct Asked {
  std::string how;
  std::string session;  // its id
  std::string text;
  std::optional<Error> error;
};
struct Who {
  std::string key_name;
  std::string session;
  std::string prompt;      // messages; empty: what was asked
  std::size_t leave = 99;  // pieces that are read
};

// The scripted model answers every message with "an answer".
class QwenGateway {
 public:
  QwenGateway(net::Loop& loop, ScriptedChats& chats, std::uint64_t seed = 1)
      : loop_(loop), chats_(chats), seed_(seed) {
    config_.name = "qwen";
    config_.wire = "qwen_web";
    model_.name = "m";
    make_target();
  }

  // Conversations that are not known are looked up by their opening.
  void use_fallback() {
    config_.conversation_fallback = "opening";
    make_target();
  }

  void make_target() {
    config_.url = "script:";
    auto script = script::parse_script("cut 3\npace 1ms\ntext \"an answer\"\n");
    EXPECT_TRUE(script);
    const std::shared_ptr<ScriptedChats> borrowed(std::shared_ptr<void>(), &chats_);
    auto posts = make_script_target(
        loop_, config_, std::make_shared<const script::Script>(std::move(*script)), borrowed);
    target_ = make_qwen_web_target(loop_, config_, std::move(posts), memory, seed_);
  }

  std::unique_ptr<UpstreamCall> call() { return target_->call(model_); }

  net::Task<> ask_on_loop(std::string messages, Who who, Asked& asked) {
    const Request request = request_of(messages);
    const Request prompt = who.prompt.empty() ? request : request_of(who.prompt);
    auto used = call();
    const Origin origin{.prompt = prompt, .key_name = who.key_name, .session = who.session};
    used->set_origin(origin);
    const UpstreamRequest encoded;
    auto sent = co_await used->send(request, encoded);
    if (!sent) {
      asked.error = sent.error();
      co_return;
    }
    asked.how = used->header(kSessionStateHeader);
    asked.session = used->header(kSessionHeader);
    std::string bytes;
    for (std::size_t i = 0; i < who.leave; ++i) {
      auto piece = co_await used->read(net::kNever);
      if (!piece || piece->bytes.empty()) break;
      bytes += piece->bytes;
      // Each piece is a frame; what it says is what the client gets.
      const auto decoder = upstream::find("qwen_web")->make_decoder(request);
      Sinks sinks(*used->observer(), asked.text);
      decoder->push({.event = {}, .data = piece->bytes.substr(6), .id = {}}, sinks);
    }
    co_await used->settle();
  }

  Asked ask(const std::string& messages, const Who& who = {}) {
    Asked asked;
    net::run_to_end(loop_, ask_on_loop(messages, who, asked));
    return asked;
  }

 private:
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

  net::Loop& loop_;
  ScriptedChats& chats_;
  const std::uint64_t seed_;
  UpstreamConfig config_;
  ModelConfig model_;

 public:
  ConversationMemory memory;

 private:
  std::unique_ptr<UpstreamTarget> target_;
};

}  // namespace callgate::server
