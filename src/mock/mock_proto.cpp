#include "json/member.h"
#include "json/writer.h"
#include "mock/stdio_player.h"
#include "script/reply/codex_request.h"
#include "upstream/codex/codex_line.h"

namespace callgate::server {
namespace {

using upstream::any_member_text;
using upstream::CodexLine;

class MockProto {
 public:
  explicit MockProto(StdioPlayer& player) : player_(player), news_(player.loop()) {
    request_.stream = true;
    request_.include_usage = true;
    tell("", R"({"type":"session_configured","session_id":"session_1","model":"mock"})");
  }
  void take(std::string_view text);

 private:
  void tell(std::string_view id, std::string_view msg) {
    std::string line = "{\"id\":";
    json::append_string(line, id);
    player_.say(line.append(",\"msg\":").append(msg) + "}");
  }
  net::Task<> run_turn(std::string id);

  StdioPlayer& player_;
  Request request_;
  net::Signal news_;
  bool interrupted_ = false;
  std::string said_;
};

void MockProto::take(std::string_view text) {
  const std::string id = any_member_text(text, "id");
  const std::string_view op = json::member_json(text, "op");
  const std::string type = any_member_text(op, "type");
  if (type == "user_input" || type == "user_turn") {
    if (const std::string model = any_member_text(op, "model"); !model.empty())
      request_.model = model;
    script::add_codex_input(request_, json::member_json(op, "items"));
    interrupted_ = false;
    player_.spawn(run_turn(id));
  } else if (type == "interrupt") {
    interrupted_ = true;
    news_.notify();
  } else if (type == "shutdown") {
    tell(id, R"({"type":"shutdown_complete"})");
    player_.end({});
  }
}

net::Task<> MockProto::run_turn(std::string id) {
  said_.clear();
  const auto forward = [this, &id](std::string_view text) {
    json::Reader reader;
    CodexLine line;
    if (!upstream::read_codex_line(text, reader, line)) return player_.say(text);
    if (any_member_text(line.msg, "type") == "agent_message")
      said_ += any_member_text(line.msg, "message");
    tell(id, line.msg);
  };
  const auto outcome = co_await player_.play(
      request_, news_, [this] { return interrupted_; }, forward);
  if (outcome == StdioPlayer::Outcome::stopped) {
    tell(id, R"({"type":"turn_aborted","reason":"interrupted"})");
  }
  Message said{.role = Role::assistant};
  json::append_string(said.content.text, said_);
  request_.messages.push_back(std::move(said));
}

}  // namespace

Result<void> run_mock_proto(StdioPlayer& player) {
  MockProto proto(player);
  return player.run([&](std::string_view line) { proto.take(line); });
}

}  // namespace callgate::server
