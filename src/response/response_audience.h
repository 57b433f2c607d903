// Audiences of responses: one that keeps the response before its end leaves, one that stays when its client has gone, and one that
// only wants to know.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "response/response_desk.h"
#include "response/response_events.h"
#include "turn/audience.h"
#include "turn/running_responses.h"

namespace callgate::server {

// Passes everything on to another audience. When the response is complete, it is kept first: who has seen its end may go on
// from it at once.
class SavingAudience final : public Audience {
 public:
  using Save = std::function<net::Task<>(std::string object)>;
  // REQUIRES: `next` outlives the audience.
  SavingAudience(Audience& next, Save save) : next_(next), save_(std::move(save)) {}

  bool is_gone() const override { return next_.is_gone(); }
  void on_gone(std::function<void()> callback) override { next_.on_gone(std::move(callback)); }
  bool has_started() const override { return next_.has_started(); }
  net::Headers& headers() override { return next_.headers(); }
  net::Task<Result<void>> write(std::string_view bytes) override {
    std::string object = final_response(bytes);
    if (object.empty()) return next_.write(bytes);
    return save_and_write(std::move(object), bytes);
  }
  net::Task<Result<void>> end(std::string_view bytes) override {
    std::string object = final_response(bytes);
    if (object.empty()) return next_.end(bytes);
    return save_and_end(std::move(object), bytes);
  }
  net::Task<Result<void>> respond(int status, std::string_view body) override {
    if (status != 200) return next_.respond(status, body);
    return save_and_respond(body);
  }

 private:
  net::Task<Result<void>> save_and_write(std::string object, std::string_view bytes) {
    co_await save_(std::move(object));
    auto written = co_await next_.write(bytes);
    co_return written;
  }
  net::Task<Result<void>> save_and_end(std::string object, std::string_view bytes) {
    co_await save_(std::move(object));
    auto written = co_await next_.end(bytes);
    co_return written;
  }
  net::Task<Result<void>> save_and_respond(std::string_view body) {
    co_await save_(std::string(body));
    auto written = co_await next_.respond(200, body);
    co_return written;
  }

  Audience& next_;
  Save save_;
};

// What a response that runs in the background says is kept for who follows it. More than this ends it.
inline constexpr std::size_t kMaxBackgroundBytes = std::size_t{64} << 20;

class BackgroundAudience final : public Audience {
 public:
  explicit BackgroundAudience(std::shared_ptr<RunningResponse> running)
      : running_(std::move(running)) {}
  ~BackgroundAudience() override { running_->on_cancel({}); }

  bool is_gone() const override { return running_->is_cancelled(); }
  void on_gone(std::function<void()> callback) override {
    running_->on_cancel(std::move(callback));
  }
  bool has_started() const override { return started_; }
  net::Headers& headers() override { return headers_; }
  net::Task<Result<void>> write(std::string_view bytes) override {
    take(bytes);
    co_return Result<void>();
  }
  net::Task<Result<void>> end(std::string_view bytes) override {
    take(bytes);
    co_return Result<void>();
  }
  net::Task<Result<void>> respond(int, std::string_view body) override {
    error_ = body;
    co_return Result<void>();
  }

  // The object at the end of the stream; empty: it did not come.
  const std::string& object() const { return object_; }
  // The body of an error that came instead of an answer; empty: none.
  const std::string& error() const { return error_; }
  // There was no memory for what it said: that ended it.
  bool is_scarce() const { return scarce_; }

 private:
  void take(std::string_view bytes) {
    started_ = true;
    if (bytes.empty()) return;
    bytes_ += bytes.size();
    if (bytes_ > kMaxBackgroundBytes) {
      running_->cancel();
    } else if (!running_->append(bytes)) {
      scarce_ = true;
      running_->cancel();
    }
    std::string object = final_response(bytes);
    if (!object.empty()) object_ = std::move(object);
  }

  std::shared_ptr<RunningResponse> running_;
  net::Headers headers_;
  bool started_ = false;
  std::size_t bytes_ = 0;
  bool scarce_ = false;
  std::string object_;
  std::string error_;
};

// Keeps a whole answer for its caller.
class WholeAudience final : public Audience {
 public:
  explicit WholeAudience(std::function<bool()> gone) : gone_(std::move(gone)) {}

  bool is_gone() const override { return gone_(); }
  bool has_started() const override { return false; }
  net::Headers& headers() override { return headers_; }
  net::Task<Result<void>> write(std::string_view) override { co_return Result<void>(); }
  net::Task<Result<void>> end(std::string_view) override { co_return Result<void>(); }
  net::Task<Result<void>> respond(int status, std::string_view body) override {
    status_ = status;
    body_ = body;
    co_return Result<void>();
  }

  int status() const { return status_; }
  const std::string& body() const { return body_; }

 private:
  std::function<bool()> gone_;
  net::Headers headers_;
  int status_ = 0;
  std::string body_;
};

}  // namespace callgate::server
