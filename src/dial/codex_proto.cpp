// Conducts conversations with `codex proto`, a process each. A process that has answered is kept for the next question of
// its conversation; a conversation that no process knows starts one with its history as a transcript.
//
//   -> {"id":"1","op":{"type":"user_turn","items":[{"type":"text","text":"hi"}],"cwd":"/","approval_policy":"never",...}}
//   <- {"id":"1","msg":{"type":"agent_message_delta","delta":"Hel"}}
#include <algorithm>
#include <filesystem>

#include "dial/child_host.h"
#include "json/member.h"
#include "json/writer.h"
#include "session/session_id.h"
#include "upstream/codex/codex_line.h"

namespace callgate::server {
namespace {

using upstream::any_member_text;
using upstream::CodexLine;

struct Talk {
  enum class State : std::uint8_t { starting, running, idle };
  State state = State::starting;
  std::shared_ptr<LineChild> child;
  std::shared_ptr<AnswerLane> lane;
  std::uint64_t history = 0;
  std::string session;  // its id for clients; it ends with the child
  std::string said;
  std::int64_t number = 0;  // of the last submission
  std::int64_t turn = 0;    // the submission that is being answered
  std::uint64_t since = 0;
};

class ProtoConductor final : public Conductor {
 public:
  ProtoConductor(net::Loop& loop, const UpstreamConfig& config, const HashKey& key,
                 ChildHealth health)
      : loop_(loop),
        config_(config),
        key_(key),
        mint_(keyed_hash(key, "ids of sessions")),
        health_(std::move(health)) {
    loop_.spawn(sweep());
  }

  void begin(std::shared_ptr<AnswerLane> lane, ChildPrompt prompt) override;
  void abandon(const std::shared_ptr<AnswerLane>& lane) override;
  void release() override {
    for (const auto& talk : talks_) talk->child.reset();
  }

 private:
  Talk* find_known(const ChildPrompt& prompt);
  Result<Talk*> start();
  bool make_room();
  void ask(Talk& talk, std::string_view items, const ChildPrompt& prompt);
  void submit(Talk& talk, std::string_view op);
  void take(Talk& talk, std::string_view text);
  void deny(Talk& talk, std::string_view op, std::string_view event);
  void end_turn(Talk& talk, bool keep);
  void lose(Talk& talk, const Error& why, std::string_view last_words);
  void drop(Talk& talk);
  net::Task<> sweep();

  net::Loop& loop_;
  const UpstreamConfig config_;
  const HashKey key_;
  IdMint mint_;
  const ChildHealth health_;
  std::vector<std::unique_ptr<Talk>> talks_;
  json::Reader reader_;
  CodexLine line_;
};

void ProtoConductor::begin(std::shared_ptr<AnswerLane> lane, ChildPrompt prompt) {
  if (lane->left()) return;
  Talk* talk = find_known(prompt);
  const bool known = talk != nullptr;
  if (!known) {
    auto started = start();
    if (!started) return lane->fail(started.error());
    talk = *started;
  }
  talk->lane = std::move(lane);
  talk->history = prompt.history;
  talk->said.clear();
  talk->state = known ? Talk::State::running : Talk::State::starting;
  talk->since = loop_.now();
  std::string first = R"({"method":"callgate/answer","params":{"ownTools":)";
  json::append_string(first, config_.codex_tools);
  talk->lane->push(first + "}}\n");
  talk->lane->accept(talk->session);
  ask(*talk, json::member_json(prompt.body, known ? "next" : "first"), prompt);
}

Talk* ProtoConductor::find_known(const ChildPrompt& prompt) {
  if (prompt.follows != ChildPrompt::Follows::answer) return nullptr;
  for (const auto& talk : talks_) {
    if (talk->state == Talk::State::idle && talk->history == prompt.before &&
        words_of(talk->said, key_) == prompt.answer) {
      return talk.get();
    }
  }
  return nullptr;
}

// False: as many processes as are allowed are answering.
bool ProtoConductor::make_room() {
  if (static_cast<std::int64_t>(talks_.size()) < config_.max_conversations) return true;
  Talk* oldest = nullptr;
  for (const auto& talk : talks_) {
    if (talk->state != Talk::State::idle) continue;
    if (oldest == nullptr || talk->since < oldest->since) oldest = talk.get();
  }
  if (oldest == nullptr) return false;
  drop(*oldest);
  return true;
}

Result<Talk*> ProtoConductor::start() {
  if (!make_room()) {
    return fail(ErrorCode::rate_limited,
                "codex has as many conversations running as max_conversations allows");
  }
  auto talk = std::make_unique<Talk>();
  Talk* const raw = talk.get();
  auto child = LineChild::start(
      loop_, child_process(config_),
      {.line = [this, raw](std::string_view text) { take(*raw, text); },
       .end = [this, raw](const Error& why, std::string_view words) { lose(*raw, why, words); }});
  if (!child) {
    if (health_.up) health_.up(false);
    if (health_.log) health_.log(child.error().message);
    return tl::unexpected(child.error());
  }
  talk->child = std::move(*child);
  talk->session = mint_session(mint_);
  talks_.push_back(std::move(talk));
  return raw;
}

void ProtoConductor::submit(Talk& talk, std::string_view op) {
  std::string line;
  json::ObjectWriter object(line);
  object.string("id", std::to_string(++talk.number));
  object.raw("op", op);
  object.close();
  talk.child->tell(line);
}

void ProtoConductor::ask(Talk& talk, std::string_view items, const ChildPrompt& prompt) {
  std::string op;
  json::ObjectWriter object(op);
  object.string("type", "user_turn");
  object.raw("items", items);
  object.string("cwd",
                config_.cwd.empty() ? std::filesystem::current_path().string() : config_.cwd);
  object.string("approval_policy", "never");
  json::ObjectWriter sandbox(object.key("sandbox_policy"));
  sandbox.string("mode", config_.codex_sandbox);
  sandbox.close();
  object.raw("model", json::member_json(prompt.body, "model"));
  const std::string_view effort = json::member_json(prompt.body, "effort");
  object.raw("effort", effort.empty() ? "null" : effort);
  object.string("summary", "auto");
  object.close();
  submit(talk, op);
  talk.turn = talk.number;
}

void ProtoConductor::take(Talk& talk, std::string_view text) {
  if (!upstream::read_codex_line(text, reader_, line_)) return;
  const std::string type = any_member_text(line_.msg, "type");
  if (talk.state == Talk::State::starting) {
    talk.state = Talk::State::running;
    if (health_.up) health_.up(true);
  }
  if (talk.lane == nullptr || line_.id != "\"" + std::to_string(talk.turn) + "\"") return;
  if (type == "exec_approval_request") return deny(talk, "exec_approval", line_.id);
  if (type == "apply_patch_approval_request") return deny(talk, "patch_approval", line_.id);
  if (type == "agent_message") talk.said += any_member_text(line_.msg, "message");
  if (!talk.lane->push(std::string(text) + "\n")) return drop(talk);
  if (type == "task_complete") end_turn(talk, true);
  if (type == "error" || type == "turn_aborted") end_turn(talk, false);
}

// Approvals are never granted. They are answered by the id of the submission, not by that of the call.
void ProtoConductor::deny(Talk& talk, std::string_view op, std::string_view event) {
  std::string json;
  json::ObjectWriter object(json);
  object.string("type", op);
  object.raw("id", event);
  object.string("decision", "denied");
  object.close();
  submit(talk, json);
}

void ProtoConductor::end_turn(Talk& talk, bool keep) {
  talk.lane->end();
  talk.lane.reset();
  talk.state = Talk::State::idle;
  talk.since = loop_.now();
  if (!keep) drop(talk);
}

void ProtoConductor::abandon(const std::shared_ptr<AnswerLane>& lane) {
  for (const auto& talk : talks_) {
    if (talk->lane != lane) continue;
    submit(*talk, R"({"type":"interrupt"})");
    // The process goes with its conversation, but not before it has heard of the interruption.
    talk->lane.reset();
    talk->history = 0;
    talk->state = Talk::State::idle;
    talk->since = 0;
    return;
  }
}

void ProtoConductor::drop(Talk& talk) {
  talk.child->drop();
  std::erase_if(talks_, [&](const auto& each) { return each.get() == &talk; });
}

void ProtoConductor::lose(Talk& talk, const Error& why, std::string_view last_words) {
  if (talk.lane != nullptr) {
    talk.lane->fail(why);
    if (health_.up) health_.up(false);
    if (health_.restarted) health_.restarted();
    if (health_.log) health_.log(why.message + "; it said: " + std::string(last_words));
  }
  std::erase_if(talks_, [&](const auto& each) { return each.get() == &talk; });
}

net::Task<> ProtoConductor::sweep() {
  const Milliseconds shorter = std::min(config_.start_timeout, config_.conversation_timeout);
  const net::Millis step = std::clamp(shorter / 4, Milliseconds(20), Milliseconds(1000));
  const Error silent{.code = ErrorCode::unavailable,
                     .message = "the codex child did not start in time"};
  for (;;) {
    co_await loop_.sleep(step);
    const std::uint64_t now = loop_.now();
    const auto expired = [&](const auto& each) {
      const net::Millis age(now - each->since);
      return (each->state == Talk::State::starting && age > config_.start_timeout) ||
             (each->state == Talk::State::idle && age > config_.conversation_timeout);
    };
    for (;;) {
      const auto found = std::find_if(talks_.begin(), talks_.end(), expired);
      if (found == talks_.end()) break;
      if ((*found)->lane != nullptr) (*found)->lane->fail(silent);
      drop(**found);
    }
  }
}

}  // namespace

std::unique_ptr<Conductor> make_proto_conductor(net::Loop& loop, const UpstreamConfig& config,
                                                const HashKey& key, ChildHealth health) {
  return std::make_unique<ProtoConductor>(loop, config, key, std::move(health));
}

}  // namespace callgate::server
