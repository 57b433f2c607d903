#include "tool/mcp_client.h"

#include <algorithm>

#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "net/companion.h"

namespace callgate::tool {
namespace {

constexpr net::Millis kSlowStart{2'000};

}  // namespace

// Somebody waits until the server is connected.
struct McpClient::Gate {
  explicit Gate(McpClient& on) : owner(on), news(on.loop_) { owner.gates_.push_back(this); }
  ~Gate() { std::erase(owner.gates_, this); }
  McpClient& owner;
  net::Signal news;
};

Result<std::shared_ptr<McpClient>> McpClient::make(net::Loop& loop, const McpToolConfig& config) {
  if (config.command.empty() == config.url.empty()) {
    return fail(ErrorCode::invalid_request, "expected a command or a URL");
  }
  auto client = std::make_shared<McpClient>(loop, config);
  McpClient& self = *client;
  // The transport is the client's own, and lets go of its events before it goes.
  McpTransport::Events events;
  events.message = [&self](const McpMessage& message) { self.take_message(message); };
  events.end = [&self](const Error& why) { self.lost(why); };
  if (config.url.empty()) {
    client->transport_ = make_mcp_stdio(loop, config, std::move(events));
    return client;
  }
  const std::weak_ptr<McpClient> weak = client;
  // Over HTTP tasks of the transport may outlive the client.
  events.message = [weak](const McpMessage& message) {
    if (const auto alive = weak.lock()) alive->take_message(message);
  };
  events.end = [](const Error&) {};
  auto transport = make_mcp_http(loop, config, std::move(events));
  if (!transport) return tl::unexpected(transport.error());
  client->transport_ = std::move(*transport);
  return client;
}

McpClient::McpClient(net::Loop& loop, const McpToolConfig& config) : loop_(loop), config_(config) {}

McpClient::~McpClient() {
  if (transport_) transport_->close();
}

void McpClient::close() {
  closed_ = true;
  up_ = false;
  on_tools_ = nullptr;
  on_state_ = nullptr;
  transport_->close();
  for (Gate* gate : gates_) gate->news.notify();
}

net::Millis McpClient::pause() const {
  if (failures_ <= 1) return net::Millis(0);
  const int doublings = std::min(failures_ - 2, 20);
  const net::Millis whole =
      std::min(config_.backoff * (std::int64_t{1} << doublings), config_.most_backoff);
  const std::uint64_t passed = loop_.now() - failed_at_;
  return whole > net::Millis(passed) ? whole - net::Millis(passed) : net::Millis(0);
}

void McpClient::failed() {
  ++failures_;
  failed_at_ = loop_.now();
  up_ = false;
}

void McpClient::set_state(SourceState::Kind kind, std::string reason) {
  SourceState next{.kind = kind, .reason = std::move(reason)};
  if (next == state_) return;
  state_ = std::move(next);
  if (on_state_) on_state_();
}

void McpClient::judge(const Answer& answer, std::string_view tool, net::Millis timeout) {
  if (answer) return set_state(SourceState::Kind::ready);
  if (answer.error().code == ErrorCode::timed_out) {
    return set_state(SourceState::Kind::slow,
                     std::string(tool) + " " + std::string(timeout_words(timeout)));
  }
  set_state(SourceState::Kind::lost, answer.error().message);
}

net::Task<> McpClient::watch_start([[maybe_unused]] std::shared_ptr<McpClient> self) {
  co_await loop_.sleep(kSlowStart);
  if (starting_ && state_.kind == SourceState::Kind::starting) {
    set_state(SourceState::Kind::slow, "it has not listed its tools after 2 s");
  }
}

void McpClient::lost(const Error& why) {
  if (up_) set_state(SourceState::Kind::lost, why.message);
  if (up_) failed();
  up_ = false;
  alive_ = false;
  start_error_ = why;
}

net::Task<Result<void>> McpClient::ready(net::Millis timeout, CancelToken& cancel) {
  const auto self = shared_from_this();
  if (closed_) co_return fail(ErrorCode::unavailable, "the MCP server is no longer configured");
  if (up_) co_return Result<void>();
  if (!starting_ && pause() > timeout) {
    co_return fail(ErrorCode::unavailable, "the MCP server cannot be reached (" +
                                               (start_error_ ? start_error_->message : "") +
                                               "); it is tried again in " +
                                               std::to_string(pause().count()) + " ms");
  }
  if (!starting_) {
    starting_ = true;
    loop_.spawn(net::watched(start(), [this, self] { break_start(); }));
    if (state_.kind == SourceState::Kind::starting) loop_.spawn(watch_start(self));
  }
  if (starting_) {
    Gate gate(*this);
    const CancelToken::Hook hook(cancel, [&gate] { gate.news.notify(); });
    (void)co_await gate.news.wait(timeout);
  }
  if (up_) co_return Result<void>();
  if (cancel.cancelled()) co_return fail(ErrorCode::unavailable, kCancelledWords);
  if (starting_) co_return fail(ErrorCode::timed_out, "the MCP server is not ready yet");
  if (start_error_) co_return tl::unexpected(*start_error_);
  co_return fail(ErrorCode::unavailable, "the MCP server cannot be reached");
}

net::Task<> McpClient::start() {
  const auto self = shared_from_this();
  const net::Millis wait = pause();
  if (wait > net::Millis(0)) co_await loop_.sleep(wait);
  start_error_.reset();
  Result<void> connected = co_await connect();
  if (connected && !closed_) {
    up_ = true;
    set_state(SourceState::Kind::ready);
    listen();
  } else {
    if (!connected) {
      start_error_ = connected.error();
      set_state(SourceState::Kind::lost, connected.error().message);
    }
    failed();
    transport_->close();
  }
  open_gates();
}

void McpClient::break_start() {
  up_ = false;
  start_error_ = Error{.code = ErrorCode::internal,
                       .message = "starting the MCP server broke off inside the gateway"};
  failed();
  transport_->close();
  open_gates();
}

void McpClient::open_gates() {
  starting_ = false;
  for (Gate* gate : gates_) gate->news.notify();
}

std::string McpClient::meta(std::int64_t id, const ToolCall* call) const {
  std::string out;
  json::ObjectWriter object(out);
  if (stateless()) {
    object.string("io.modelcontextprotocol/protocolVersion", kMcpStatelessRevision);
    object.raw("io.modelcontextprotocol/clientInfo", client_words());
    object.raw("io.modelcontextprotocol/clientCapabilities", "{}");
  }
  if (call != nullptr) {
    if (call->on_progress) object.integer("progressToken", id);
    if (config_.pass_context) {
      if (!call->id.empty()) object.string("callgate/call-id", call->id);
      for (const auto& [name, value] : call->context.fields()) {
        object.string("callgate/" + name, value);
      }
      const ToolContext& context = call->context;
      if (!context.traceparent.empty()) object.string("traceparent", context.traceparent);
      if (!context.tracestate.empty()) object.string("tracestate", context.tracestate);
    }
  }
  object.close();
  return out;
}

// `members` are those of the params, without braces.
McpRequest McpClient::request(std::string_view method, std::string_view members,
                              const ToolCall* call) {
  McpRequest made;
  made.id = next_id_++;
  made.method = method;
  const std::string extra = meta(made.id, call);
  made.params = "{";
  made.params.append(members);
  if (extra != "{}") made.params.append(members.empty() ? "" : ",").append("\"_meta\":" + extra);
  made.params.push_back('}');
  return made;
}

net::Task<Result<std::string>> McpClient::ask(std::string_view method, std::string_view members,
                                              net::Millis timeout, CancelToken& cancel,
                                              const ToolCall* call, std::string_view tool) {
  McpRequest made = request(method, members, call);
  made.name = tool;
  // The transport leaves them out for servers of an older revision.
  if (const McpToolEntry* entry = find(tool); entry != nullptr && !config_.url.empty()) {
    const auto params = read_header_params(entry->schema);
    if (params) made.headers = header_values(*params, call->arguments);
  }
  struct Running {
    McpClient& client;
    std::int64_t id;
    ~Running() { client.running_.erase(id); }
  } running{*this, made.id};
  if (call != nullptr && call->on_progress) running_[made.id] = call;
  co_return co_await transport_->ask(made, timeout, cancel);
}

const McpToolEntry* McpClient::find(std::string_view tool) const {
  if (tool.empty()) return nullptr;
  const auto found = std::find_if(tools_.begin(), tools_.end(),
                                  [tool](const McpToolEntry& entry) { return entry.name == tool; });
  return found == tools_.end() ? nullptr : &*found;
}

net::Task<ToolResult> McpClient::call(const std::string& tool, const ToolCall& call,
                                      net::Millis timeout, std::size_t result_limit,
                                      CancelToken& cancel) {
  const auto self = shared_from_this();
  const std::uint64_t limit = loop_.now() + static_cast<std::uint64_t>(timeout.count());
  std::string members = R"("name":)";
  json::append_string(members, tool);
  members.append(R"(,"arguments":)").append(call.arguments.empty() ? "{}" : call.arguments);
  Answer answer = std::string();
  // Twice when the server says that it has not begun: it forgot the session, or wants other headers.
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::uint64_t now = loop_.now();
    const net::Millis rest(limit > now ? limit - now : 1);
    const Result<void> up = co_await ready(rest, cancel);
    if (!up && cancel.cancelled()) co_return error_result(kCancelledWords);
    if (!up) co_return error_result(up.error().message);
    answer = co_await ask("tools/call", members, rest, cancel, &call, tool);
    if (!answer && answer.error().code == ErrorCode::not_found) {
      up_ = false;
    } else if (error_code_of(answer) == kMcpHeaderMismatch) {
      (void)co_await list(rest);
    } else {
      break;
    }
  }
  if (!cancel.cancelled()) judge(answer, tool, timeout);
  if (!answer && answer.error().code == ErrorCode::timed_out) {
    co_return error_result(timeout_words(timeout));
  }
  if (!answer) co_return error_result(answer.error().message);
  failures_ = 0;
  const Result<std::string> result = result_of(answer);
  if (!result) co_return error_result(result.error().message);
  ToolResult read = read_call_result(*result, result_limit);
  if (call.wants_content && !read.truncated) {
    const std::string_view content = json::member_json(*result, "content");
    const std::string_view structured = json::member_json(*result, "structuredContent");
    if (content.starts_with('[')) read.content = content;
    if (structured.starts_with('{')) read.structured = structured;
  }
  co_return read;
}

void McpClient::take_progress(std::string_view params) {
  json::Reader in(json::member_json(params, "progressToken"));
  if (in.peek() != json::Kind::number) return;
  const auto found = running_.find(in.integer().value_or(-1));
  if (found != running_.end()) found->second->on_progress(params);
}

void McpClient::take_message(const McpMessage& message) {
  if (closed_) return;
  if (message.kind == McpMessage::Kind::request) {
    // Nothing but ping is offered.
    return transport_->tell(message.method == "ping"
                                ? write_mcp_result(message.id, "{}")
                                : write_mcp_error(message.id, kMcpMethodNotFound, "not offered"));
  }
  if (message.method == "notifications/progress") return take_progress(message.params);
  if (message.method != "notifications/tools/list_changed") return;
  stale_ = true;
  if (listing_ || !up_) return;
  listing_ = true;
  loop_.spawn(list_again(shared_from_this()));
}

}  // namespace callgate::tool
