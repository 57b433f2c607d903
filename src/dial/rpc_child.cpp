#include "dial/rpc_child.h"

#include <algorithm>

#include "callgate/version.h"
#include "json/writer.h"
#include "net/companion.h"

namespace callgate::server {
namespace {

constexpr net::Millis kLongestPause{10'000};
constexpr net::Millis kRest{60'000};  // after too many failures

Error unavailable(std::string message) {
  return {.code = ErrorCode::unavailable, .message = std::move(message)};
}

}  // namespace

// Lives in the frame of the waiting task and takes itself off the list when that frame goes away.
struct RpcChild::Waiting {
  Waiting(RpcChild& child, std::string request)
      : owner(child), id(std::move(request)), news(child.loop_) {
    if (id.empty()) {
      owner.gate_.push_back(this);
    } else {
      owner.answers_[id] = this;
    }
  }
  ~Waiting() {
    if (id.empty()) {
      std::erase(owner.gate_, this);
    } else {
      owner.answers_.erase(id);
    }
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  void tell(Result<std::string> what) {
    answer = std::move(what);
    news.notify();
  }

  RpcChild& owner;
  const std::string id;  // empty: waits at the gate
  net::Signal news;
  std::optional<Result<std::string>> answer;
};

RpcChild::RpcChild(net::Loop& loop, RpcChildOptions options, Events events, ChildHealth health)
    : loop_(loop),
      options_(std::move(options)),
      events_(std::move(events)),
      health_(std::move(health)) {}

net::Task<Result<void>> RpcChild::ready() {
  if (up_) co_return Result<void>();
  if (!starting_) {
    starting_ = true;
    loop_.spawn(net::watched(start(), [this] { break_start(); }));
  }
  if (starting_) {
    Waiting waiting(*this, "");
    while (starting_) co_await waiting.news.wait();
  }
  if (up_) co_return Result<void>();
  co_return tl::unexpected(start_error_.value_or(unavailable("the codex child ended at once")));
}

net::Millis restart_pause(net::Millis backoff, std::int64_t failures) {
  if (failures == 0) return net::Millis(0);
  const auto doubled = backoff * (std::int64_t{1} << std::min<std::int64_t>(failures - 1, 6));
  return std::min<net::Millis>(doubled, kLongestPause);
}

net::Millis RpcChild::pause() const {
  const net::Millis passed(loop_.now() - failed_at_);
  return std::max(restart_pause(options_.backoff, failures_) - passed, net::Millis(0));
}

net::Task<> RpcChild::start() {
  start_error_.reset();
  const net::Millis since(loop_.now() - failed_at_);
  if (failures_ >= options_.restart_limit && since < kRest) {
    start_error_ = unavailable("the codex child failed " + std::to_string(failures_) +
                               " times in a row and is left alone for a minute");
    co_return open_gate();
  }
  if (const net::Millis wait = pause(); wait > net::Millis(0)) co_await loop_.sleep(wait);
  auto child = LineChild::start(
      loop_, options_.process,
      {.line = [this](std::string_view text) { take_line(text); },
       .end = [this](const Error& why, std::string_view words) { take_end(why, words); }});
  if (!child) {
    failed();
    start_error_ = child.error();
    if (health_.log) health_.log(child.error().message);
    co_return open_gate();
  }
  child_ = std::move(*child);
  next_id_ = 0;
  if (started_before_ && health_.restarted) health_.restarted();
  started_before_ = true;
  auto greeted = co_await shake_hands();
  if (greeted && child_ != nullptr) {
    up_ = true;
    if (health_.up) health_.up(true);
  } else {
    start_error_ = greeted ? unavailable("the codex child ended at once") : greeted.error();
    if (child_ != nullptr) {
      std::exchange(child_, nullptr)->drop();
      failed();
    }
    if (health_.log) health_.log(start_error_->message);
  }
  open_gate();
}

net::Task<Result<void>> RpcChild::shake_hands() {
  std::string params;
  json::ObjectWriter object(params);
  json::ObjectWriter who(object.key("clientInfo"));
  who.string("name", "callgate");
  who.string("title", "Callgate");
  who.string("version", kVersion);
  who.close();
  object.raw("capabilities", R"({"experimentalApi":true})");
  object.close();
  auto answered = co_await ask("initialize", params);
  if (!answered) {
    answered.error().code = ErrorCode::unavailable;
    answered.error().message = "the codex child did not start: " + answered.error().message;
    co_return tl::unexpected(std::move(answered.error()));
  }
  if (child_ != nullptr) child_->tell(R"({"method":"initialized"})");
  co_return Result<void>();
}

void RpcChild::break_start() {
  up_ = false;
  if (child_ != nullptr) std::exchange(child_, nullptr)->drop();
  failed();
  start_error_ = unavailable("starting the codex child broke off inside the gateway");
  open_gate();
}

void RpcChild::open_gate() {
  starting_ = false;
  for (Waiting* waiting : gate_) waiting->news.notify();
}

void RpcChild::failed() {
  ++failures_;
  failed_at_ = loop_.now();
}

std::int64_t RpcChild::send(std::string_view method, std::string_view params) {
  const std::int64_t id = next_id_++;
  std::string line;
  json::ObjectWriter object(line);
  object.string("method", method);
  object.integer("id", id);
  object.raw("params", params);
  object.close();
  if (child_ != nullptr) child_->tell(line);
  return id;
}

void RpcChild::tell(std::string_view method, std::string_view params) { send(method, params); }

net::Task<Result<std::string>> RpcChild::ask(std::string_view method, std::string_view params) {
  if (child_ == nullptr) co_return tl::unexpected(unavailable("the codex child has ended"));
  Waiting waiting(*this, std::to_string(send(method, params)));
  co_await waiting.news.wait(options_.start_timeout);
  if (waiting.answer) co_return std::move(*waiting.answer);
  Error late{.code = ErrorCode::timed_out,
             .message = "the codex child did not answer " + std::string(method) + " in time"};
  co_return tl::unexpected(std::move(late));
}

void RpcChild::reply(std::string_view id, std::string_view result) {
  std::string line;
  json::ObjectWriter object(line);
  object.raw("id", id);
  object.raw("result", result);
  object.close();
  if (child_ != nullptr) child_->tell(line);
}

void RpcChild::refuse(std::string_view id, std::string_view message) {
  std::string line;
  json::ObjectWriter object(line);
  object.raw("id", id);
  json::ObjectWriter error(object.key("error"));
  error.integer("code", -32601);
  error.string("message", message);
  error.close();
  object.close();
  if (child_ != nullptr) child_->tell(line);
}

// Ids of the child's requests and of ours overlap: only what has no method answers one of ours.
void RpcChild::take_line(std::string_view text) {
  if (!upstream::read_codex_line(text, reader_, line_)) return;
  if (!line_.method.empty()) return events_.line(line_, text);
  const auto found = answers_.find(std::string(line_.id));
  if (found == answers_.end()) return;
  if (!line_.error.empty()) {
    found->second->tell(tl::unexpected(
        Error{.code = ErrorCode::upstream_failed,
              .message = "codex refused: " + upstream::any_member_text(line_.error, "message")}));
  } else {
    found->second->tell(std::string(line_.result));
  }
}

void RpcChild::take_end(const Error& why, std::string_view last_words) {
  child_.reset();
  failed();
  if (up_ && health_.up) health_.up(false);
  up_ = false;
  if (health_.log) health_.log(why.message + "; it said: " + std::string(last_words));
  for (const auto& [id, waiting] : answers_) waiting->tell(tl::unexpected(why));
  events_.end(why);
}

}  // namespace callgate::server
