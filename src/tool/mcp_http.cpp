#include <algorithm>

#include "net/client.h"
#include "sse/decoder.h"
#include "tool/bounded_text.h"
#include "tool/mcp_transport.h"
#include "tool/network_guard.h"
#include "tool/tool.h"
#include "tool/url_template.h"

namespace callgate::tool {
namespace {

constexpr net::Millis kTellTimeout{5'000};
constexpr net::Millis kResumePause{500};
constexpr net::Millis kMostListenPause{30'000};
constexpr int kMostResumes = 100;
constexpr std::size_t kPreview = 300;

bool is_event_stream(std::string_view type) { return type.starts_with("text/event-stream"); }

// Reads the messages of a body, JSON or frames, as they come.
class BodyReader {
 public:
  BodyReader(std::int64_t id, std::size_t limit) : id_(id), limit_(limit), frames_(limit) {}

  // Another stream begins; what the last one left unfinished comes again.
  void restart() { frames_ = SseDecoder(limit_); }

  void push_frames(std::string_view bytes, const std::function<void(const McpMessage&)>& other) {
    frames_.push(bytes, [&](const SseFrame& frame) {
      last_event_ = frame.id;
      take(frame.data, other);
    });
    if (frames_.retry()) pause_ = std::min(net::Millis(*frames_.retry()), kMostListenPause);
  }
  void take(std::string_view text, const std::function<void(const McpMessage&)>& other) {
    read_mcp_messages(text, [&](const McpMessage& message) {
      switch (message.kind) {
        case McpMessage::Kind::request:
        case McpMessage::Kind::notification:
          return other(message);
        case McpMessage::Kind::result:
          if (message.number() != id_) return;
          is_named_ = true;
          answer_ = std::string(message.text);
          return;
        case McpMessage::Kind::error:
          // One that names no request can only mean ours.
          is_named_ = message.number() == id_;
          if (is_named_ || message.id.empty() || message.id == "null") {
            answer_ = std::string(message.text);
          }
          return;
        case McpMessage::Kind::invalid:
          return;
      }
    });
  }
  bool overflowed() const { return frames_.overflowed(); }
  bool answered() const { return answer_.has_value(); }
  // The answer names our request, so the server has understood it.
  bool is_named() const { return is_named_; }
  std::string take_answer() { return std::move(*answer_); }
  const std::string& last_event() const { return last_event_; }
  // What the server wants to pass before its stream is asked for again.
  net::Millis pause() const { return pause_; }

 private:
  std::int64_t id_;
  std::size_t limit_;
  SseDecoder frames_;
  std::string last_event_;
  net::Millis pause_ = kResumePause;
  bool is_named_ = false;
  std::optional<std::string> answer_;
};

class McpHttp : public McpTransport, public std::enable_shared_from_this<McpHttp> {
 public:
  McpHttp(net::Loop& loop, const McpToolConfig& config, Events events, UrlTemplate::Place place,
          const NetworkGuard& guard)
      : loop_(loop),
        config_(config),
        events_(std::move(events)),
        place_(std::move(place)),
        client_(make_guarded_client(loop, config.network, guard)) {}

  Result<void> open() override {
    close();
    closed_ = false;
    ++generation_;
    return {};
  }

  net::Task<Result<std::string>> ask(const McpRequest& request, net::Millis timeout,
                                     CancelToken& cancel) override {
    const std::uint64_t limit = loop_.now() + static_cast<std::uint64_t>(timeout.count());
    BodyReader reader(request.id, config_.message_bytes);
    const std::string body = write_mcp_request(request.id, request.method, request.params);
    Result<void> done = co_await exchange("POST", body, &request, reader, timeout, cancel);
    // A stream that broke off goes on where it was, if the server numbers its frames.
    for (int resumes = 0; resumes < kMostResumes && may_resume(done, reader, cancel); ++resumes) {
      co_await loop_.sleep(reader.pause());
      if (loop_.now() >= limit || cancel.cancelled()) break;
      const net::Millis rest(limit - loop_.now());
      done = co_await exchange("GET", "", nullptr, reader, rest, cancel);
    }
    if (done && reader.answered()) co_return reader.take_answer();
    if (cancel.cancelled() || (!done && done.error().code == ErrorCode::timed_out)) {
      if (revision_ != kMcpStatelessRevision) tell_cancelled(request.id);
      if (cancel.cancelled()) co_return fail(ErrorCode::unavailable, kCancelledWords);
      co_return fail(ErrorCode::timed_out, timeout_words(timeout));
    }
    if (!done) co_return tl::unexpected(done.error());
    co_return fail(ErrorCode::upstream_failed, "the MCP server's answer ended without a result");
  }

  void tell(std::string message) override {
    loop_.spawn(post(shared_from_this(), "POST", std::move(message)));
  }

  net::Task<> deliver(std::string message) override {
    return post(shared_from_this(), "POST", std::move(message));
  }

  void use_revision(std::string revision) override { revision_ = std::move(revision); }

  void listen(McpRequest request) override {
    loop_.spawn(listen_on(shared_from_this(), std::move(request), generation_));
  }

  void close() override {
    if (!closed_ && !session_.empty()) loop_.spawn(post(shared_from_this(), "DELETE", ""));
    closed_ = true;
    session_.clear();
    revision_.clear();
    if (listening_ != nullptr) listening_->cancel();
  }

 private:
  net::Headers headers(const McpRequest* request, std::string_view last_event,
                       bool has_body) const {
    net::Headers headers;
    for (const auto& [name, value] : config_.headers) headers.add(name, value);
    const auto add = [&](std::string_view name, std::string_view value) {
      if (net::is_sendable({name, value})) headers.add(name, value);
    };
    add("accept", has_body ? "application/json, text/event-stream" : "text/event-stream");
    if (has_body) add("content-type", "application/json");
    if (!session_.empty()) add("mcp-session-id", session_);
    if (!revision_.empty()) add("mcp-protocol-version", revision_);
    if (!last_event.empty()) add("last-event-id", last_event);
    if (request == nullptr || revision_ != kMcpStatelessRevision) return headers;
    add("mcp-method", request->method);
    if (!request->name.empty()) add("mcp-name", encode_mcp_header(request->name));
    for (const auto& [name, value] : request->headers) add(name, value);
    return headers;
  }

  bool may_resume(const Result<void>& done, const BodyReader& reader,
                  const CancelToken& cancel) const {
    const bool broken = done.has_value() || done.error().code == ErrorCode::upstream_failed;
    return broken && !reader.answered() && !reader.last_event().empty() && !cancel.cancelled() &&
           !closed_ && revision_ != kMcpStatelessRevision;
  }

  net::Task<Result<void>> exchange(std::string_view method, std::string_view body,
                                   const McpRequest* request, BodyReader& reader,
                                   net::Millis timeout, CancelToken& cancel) {
    reader.restart();
    net::ClientRequest message;
    message.method = method;
    message.path = place_.path;
    message.headers = headers(request, reader.last_event(), method == "POST");
    message.body = body;
    net::Timeouts timeouts;
    timeouts.connect = timeouts.tls = timeouts.first_byte = timeouts.idle = timeouts.total =
        timeout;
    net::ClientExchange http(*client_, place_.target, timeouts);
    const CancelToken::Hook hook(cancel, [&http] { http.cancel(); });
    const Result<void> sent = co_await http.send(message);
    if (!sent) co_return sent;
    if (request != nullptr && request->method == "initialize") {
      session_ = std::string(http.headers().find("mcp-session-id").value_or(""));
    }
    co_return co_await read_body(http, reader);
  }

  net::Task<Result<void>> read_body(net::ClientExchange& http, BodyReader& reader) {
    const int status = http.status();
    const std::string type(http.headers().find("content-type").value_or(""));
    if (status == 200 && is_event_stream(type)) {
      while (!reader.answered()) {
        const auto bytes = co_await http.read();
        if (!bytes) co_return tl::unexpected(bytes.error());
        if (bytes->empty()) break;
        reader.push_frames(*bytes, events_.message);
        if (reader.overflowed())
          co_return fail(ErrorCode::too_large, "the MCP server's answer is too large");
      }
      co_return Result<void>();
    }
    const auto body = co_await http.read_all(config_.message_bytes);
    if (!body) co_return tl::unexpected(body.error());
    reader.take(*body, events_.message);
    // Servers say 404, and many say 400, when they know the session no more.
    const bool refused = status == 404 || status == 400;
    if (refused && !session_.empty() && !reader.is_named()) {
      co_return fail(ErrorCode::not_found, "the MCP server has forgotten the session");
    }
    if (reader.answered()) co_return Result<void>();
    std::string words = "the MCP server answered HTTP " + std::to_string(status) + " " +
                        std::string(net::reason_phrase(status));
    BoundedText preview(kPreview);
    preview.append(*body);
    if (!body->empty()) words += ": " + preview.take();
    Error error{.code = ErrorCode::upstream_failed, .message = std::move(words)};
    error.status = status;
    co_return tl::unexpected(std::move(error));
  }

  void tell_cancelled(std::int64_t id) {
    tell(write_mcp_notification("notifications/cancelled",
                                R"({"requestId":)" + std::to_string(id) + "}"));
  }

  static net::Task<> post(std::shared_ptr<McpHttp> self, std::string method, std::string body) {
    net::ClientRequest message;
    message.method = method;
    message.path = self->place_.path;
    message.headers = self->headers(nullptr, "", method == "POST");
    message.body = body;
    // The reader of the message that this answers may still hold the read buffer.
    co_await self->loop_.sleep(net::Millis(0));
    net::Timeouts timeouts;
    timeouts.total = kTellTimeout;
    net::ClientExchange http(*self->client_, self->place_.target, timeouts);
    const Result<void> sent = co_await http.send(message);
    if (!sent) co_return;
    (void)co_await http.read_all(kPreview);  // drained so that the connection can be kept
  }

  // As long as this connection lasts, with pauses that grow while it fails.
  static net::Task<> listen_on(std::shared_ptr<McpHttp> self, McpRequest request, int generation) {
    const bool stateless = self->revision_ == kMcpStatelessRevision;
    const std::string body =
        stateless ? write_mcp_request(request.id, request.method, request.params) : "";
    BodyReader reader(stateless ? request.id : -1, self->config_.message_bytes);
    net::Millis pause = self->config_.backoff;
    while (!self->closed_ && self->generation_ == generation && !reader.overflowed()) {
      net::ClientRequest message;
      message.method = stateless ? "POST" : "GET";
      message.path = self->place_.path;
      message.headers =
          self->headers(stateless ? &request : nullptr, reader.last_event(), stateless);
      message.body = body;
      const std::uint64_t began = self->loop_.now();
      const bool offered = co_await listen_once(*self, message, reader);
      if (!offered) co_return;
      // One that lasted a while was no failure.
      if (self->loop_.now() - began > 5'000) pause = self->config_.backoff;
      co_await self->loop_.sleep(pause);
      pause = std::min(pause * 2, kMostListenPause);
    }
  }

  // False when the server offers no such stream.
  static net::Task<bool> listen_once(McpHttp& self, const net::ClientRequest& message,
                                     BodyReader& reader) {
    reader.restart();
    net::Timeouts timeouts;
    timeouts.idle = net::kNever;
    net::ClientExchange http(*self.client_, self.place_.target, timeouts);
    struct Listening {
      McpHttp& on;
      ~Listening() { on.listening_ = nullptr; }
    } listening{self};
    self.listening_ = &http;
    const Result<void> sent = co_await http.send(message);
    bool offered = true;
    if (sent) {
      const auto type = http.headers().find("content-type").value_or("");
      offered = http.status() == 200 && is_event_stream(type);
    }
    while (sent && offered && !reader.answered() && !reader.overflowed() && !self.closed_) {
      const auto bytes = co_await http.read();
      if (!bytes || bytes->empty()) break;
      reader.push_frames(*bytes, self.events_.message);
    }
    co_return offered && !reader.answered();
  }

  net::Loop& loop_;
  const McpToolConfig config_;
  const Events events_;
  const UrlTemplate::Place place_;
  std::unique_ptr<net::HttpClient> client_;
  std::string session_;
  std::string revision_;
  net::ClientExchange* listening_ = nullptr;
  int generation_ = 0;
  bool closed_ = true;
};

}  // namespace

Result<std::shared_ptr<McpTransport>> make_mcp_http(net::Loop& loop, const McpToolConfig& config,
                                                    McpTransport::Events events) {
  Result<UrlTemplate> url = UrlTemplate::parse(config.url);
  if (!url) return tl::unexpected(url.error());
  Result<UrlTemplate::Place> place = url->expand({});
  if (!place) return tl::unexpected(place.error());
  Result<NetworkGuard> guard = NetworkGuard::make(config.network);
  if (!guard) return tl::unexpected(guard.error());
  if (auto allowed = guard->check_host(place->target.host); !allowed) {
    return tl::unexpected(allowed.error());
  }
  return std::make_shared<McpHttp>(loop, config, std::move(events), std::move(*place), *guard);
}

}  // namespace callgate::tool
