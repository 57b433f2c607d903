#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "callgate/event.h"
#include "dial/upstream_call.h"
#include "dialect/render/render.h"
#include "script/reply/qwen_web_reply.h"
#include "script/scripted_model.h"

namespace callgate::server {
namespace {

bool write_calls(std::string_view dialect, std::span<const script::Call> calls, std::string& out) {
  std::vector<CallRecord> records;
  for (const script::Call& call : calls) {
    CallRecord& record = records.emplace_back();
    record.id = call.id;
    record.name = call.name;
    for (const std::string& piece : call.arguments) record.arguments += piece;
  }
  return dialect::render_calls(dialect, records, out);
}

constexpr net::Millis kForever{24 * 3'600'000};

// Plays a reply of the scripted model as if it came over a connection.
class ScriptCall final : public UpstreamCall {
 public:
  ScriptCall(net::Loop& loop, script::ScriptedModel& model, const UpstreamConfig& config,
             std::string_view dialect, ScriptedChats& chats)
      : model_(model), config_(config), dialect_(dialect), chats_(chats), cancelled_(loop) {}
  ~ScriptCall() override {
    if (!place_.empty()) chats_.end(place_);
  }

  net::Task<Result<void>> send(const Request& asked, const UpstreamRequest& request) override {
    script::ReplyOptions options;
    if (config_.wire != "script") options.wire = config_.wire;
    const script::ReplyFormat* format = script::find_reply_format(options.wire);
    options.call_text = call_text(dialect_);
    if (options.call_text.render == nullptr && format != nullptr) {
      options.call_text = call_text(format->call_dialect);
    }
    if (config_.wire == "qwen_web") {
      if (answer_of_chats(request)) co_return Result<void>();
      options.place = place_;
      Request streamed = asked;
      streamed.stream = true;  // this upstream knows nothing else
      reply_.emplace(model_.reply(streamed, options));
    } else {
      reply_.emplace(model_.reply(asked, options));
    }
    auto first = co_await next(net::Millis(config_.first_byte_timeout.count()));
    if (!first) co_return tl::unexpected(std::move(first.error()));
    pending_ = first->bytes;
    has_pending_ = true;
    co_return Result<void>();
  }

  int status() const override { return status_; }
  std::string_view header(std::string_view name) const override {
    for (const auto& [key, value] : headers_) {
      if (net::equals_ignoring_case(key, name)) return value;
    }
    return {};
  }

  net::Headers headers() const override {
    net::Headers all;
    for (const auto& [name, value] : headers_) all.add(name, value);
    return all;
  }

  net::Task<Result<Piece>> read(net::Millis patience) override {
    if (has_pending_) {
      has_pending_ = false;
      if (!pending_.empty()) co_return Piece{.bytes = pending_};
    }
    if (!reply_) co_return Piece{};
    co_return co_await next(net::Millis(config_.idle_timeout.count()), patience);
  }

  void cancel() override {
    gone_ = true;
    cancelled_.notify();
  }

 private:
  static Error broken(std::string_view how) {
    return {.code = ErrorCode::upstream_failed,
            .message = "the scripted model " + std::string(how)};
  }

  static Error silent() {
    return {.code = ErrorCode::timed_out, .message = "the scripted model sent nothing in time"};
  }

  // What the upstream answers by itself: a new chat, or a message that has no place. False: the model answers.
  bool answer_of_chats(const UpstreamRequest& request) {
    if (request.path == "/chats/new") {
      whole_ = chats_.start();
    } else {
      auto posted = chats_.post(request.body);
      if (posted) {
        place_ = std::move(posted->place);
        return false;
      }
      whole_ = script::qwen_web_error_body("Not_Found", posted.error().message);
    }
    whole_headers_ = {{"content-type", "application/json"}};
    headers_ = whole_headers_;
    pending_ = whole_;
    has_pending_ = true;
    return true;
  }

  // Performs actions until there are bytes, the end, or a failure.
  net::Task<Result<Piece>> next(net::Millis timeout, net::Millis patience = net::kNever) {
    for (;;) {
      if (wait_left_ > net::Millis(0)) {
        const net::Millis nap =
            patience == net::kNever ? wait_left_ : std::min(wait_left_, patience);
        co_await cancelled_.wait(nap);
        if (gone_) co_return tl::unexpected(broken("was interrupted"));
        wait_left_ -= nap;
        if (wait_left_ > net::Millis(0)) co_return Piece{.bytes = {}, .waiting = true};
      }
      if (gone_) co_return tl::unexpected(broken("was interrupted"));
      if (hung_) co_return tl::unexpected(silent());
      const std::optional<script::Action> action = reply_->next();
      if (!action) co_return Piece{};
      std::optional<Result<Piece>> result;
      std::visit(Overloaded{
                     [&](const script::Write& write) {
                       take_head(reply_->status(), reply_->headers());
                       if (!place_.empty()) chats_.sent(place_, write.bytes);
                       if (!write.bytes.empty() || !head_sent_)
                         result = Piece{.bytes = write.bytes};
                       head_sent_ = true;
                     },
                     [&](const script::Wait& wait) { wait_left_ = net::Millis(wait.milliseconds); },
                     [&](const script::Respond& whole) {
                       take_head(whole.status, whole.headers);
                       head_sent_ = true;
                       result = Piece{.bytes = whole.body};
                     },
                     [&](const script::Reset&) {
                       result = tl::unexpected(broken("reset the connection"));
                     },
                     [&](const script::Close&) {
                       result = tl::unexpected(broken("closed the connection"));
                     },
                     [&](const script::Hang&) {
                       hung_ = true;
                       wait_left_ = timeout == net::kNever ? kForever : timeout;
                     },
                 },
                 *action);
      if (result) co_return std::move(*result);
    }
  }

  void take_head(int status, std::span<const std::pair<std::string, std::string>> headers) {
    status_ = status;
    headers_ = headers;
  }

  script::ScriptedModel& model_;
  const UpstreamConfig& config_;
  const std::string_view dialect_;  // the model's, as configured
  ScriptedChats& chats_;
  script::ReplyPlace place_;  // in a chat
  std::string whole_;         // the upstream's own answer
  script::Headers whole_headers_;
  net::Signal cancelled_;
  std::optional<script::Reply> reply_;
  std::string_view pending_;
  bool has_pending_ = false;
  bool head_sent_ = false;
  bool gone_ = false;
  bool hung_ = false;  // the script hangs: when the wait is over, the upstream has timed out
  net::Millis wait_left_{0};
  int status_ = 200;
  std::span<const std::pair<std::string, std::string>> headers_;
};

class ScriptTarget final : public UpstreamTarget {
 public:
  ScriptTarget(net::Loop& loop, UpstreamConfig config, std::shared_ptr<const script::Script> script,
               std::shared_ptr<ScriptedChats> chats)
      : loop_(loop),
        config_(std::move(config)),
        model_(std::move(script)),
        chats_(std::move(chats)) {}

  std::unique_ptr<UpstreamCall> call(const ModelConfig& model) override {
    return std::make_unique<ScriptCall>(loop_, model_, config_, model.dialect, *chats_);
  }

 private:
  net::Loop& loop_;
  const UpstreamConfig config_;
  script::ScriptedModel model_;
  const std::shared_ptr<ScriptedChats> chats_;
};

}  // namespace

script::CallText call_text(std::string_view dialect) {
  if (!dialect::writes_calls_as_text(dialect)) return {};
  return {.render = write_calls, .dialect = dialect};
}

std::string script_file(const UpstreamConfig& config) {
  constexpr std::string_view kScheme = "script:";
  return config.url.starts_with(kScheme) ? config.url.substr(kScheme.size()) : config.url;
}

Result<std::string> read_script(const std::string& file) {
  if (file.empty()) return std::string(script::demo_script());
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail(ErrorCode::not_found, "cannot read script " + file);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Result<script::Script> parse_script_of(const std::string& file, std::string_view text) {
  auto script = script::parse_script(text);
  if (!script)
    script.error().message = (file.empty() ? "demo" : file) + ": " + script.error().message;
  return script;
}

Result<script::Script> load_script(const std::string& file) {
  const auto text = read_script(file);
  if (!text) return tl::unexpected(text.error());
  return parse_script_of(file, *text);
}

std::unique_ptr<UpstreamTarget> make_script_target(net::Loop& loop, const UpstreamConfig& config,
                                                   std::shared_ptr<const script::Script> script,
                                                   std::shared_ptr<ScriptedChats> chats) {
  return std::make_unique<ScriptTarget>(loop, config, std::move(script), std::move(chats));
}

}  // namespace callgate::server
