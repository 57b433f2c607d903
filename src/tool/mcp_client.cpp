#include "tool/mcp_client.h"

#include <algorithm>
#include <array>

#include "base/glob.h"
#include "callgate/version.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::tool {
namespace {

constexpr std::array<std::string_view, 4> kSessionRevisions = {kMcpSessionRevision, "2025-06-18",
                                                               "2025-03-26", "2024-11-05"};
constexpr int kMostPages = 100;

bool has(const std::vector<std::string>& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::string client_words() {
  std::string out;
  json::ObjectWriter object(out);
  object.string("name", "callgate");
  object.string("version", kVersion);
  object.close();
  return out;
}

// The answer's result, or the server's refusal as an Error.
Result<std::string> result_of(const Result<std::string>& answer) {
  if (!answer) return tl::unexpected(answer.error());
  const McpMessage message = read_mcp_message(*answer);
  if (message.kind == McpMessage::Kind::result) return std::string(message.result);
  Error refusal{
      .code = ErrorCode::upstream_failed,
      .message = "MCP error " + std::to_string(message.error_code) + ": " + message.error_message};
  refusal.upstream_code = std::to_string(message.error_code);
  return tl::unexpected(std::move(refusal));
}

std::int64_t error_code(const Result<std::string>& answer) {
  return answer ? read_mcp_message(*answer).error_code : 0;
}

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

void McpClient::lost(const Error& why) {
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
    loop_.spawn(start());
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
    listen();
  } else {
    if (!connected) start_error_ = connected.error();
    failed();
    transport_->close();
  }
  starting_ = false;
  for (Gate* gate : gates_) gate->news.notify();
}

net::Task<Result<void>> McpClient::connect() {
  revision_.clear();
  alive_ = true;
  const Result<void> opened = transport_->open();
  if (!opened) co_return opened;
  if (config_.revision != McpRevision::session_2025_11_25) {
    const Result<bool> found = co_await probe_stateless();
    if (!found) co_return tl::unexpected(found.error());
    if (!*found && !alive_) {
      // Some servers do not survive a first message that they do not know.
      alive_ = true;
      const Result<void> again = transport_->open();
      if (!again) co_return again;
    }
  }
  if (!stateless()) {
    const Result<void> hands = co_await shake_hands();
    if (!hands) co_return hands;
  }
  co_return co_await list(config_.start_timeout);
}

net::Task<Result<bool>> McpClient::probe_stateless() {
  revision_ = kMcpStatelessRevision;
  transport_->use_revision(revision_);
  const bool sure = config_.revision == McpRevision::stateless_2026_07_28;
  const bool stdio = config_.url.empty();
  const net::Millis timeout = stdio && !sure ? config_.probe_timeout : config_.start_timeout;
  CancelToken never;
  const Answer answer = co_await ask("server/discover", "", timeout, never);
  const Result<std::string> result = result_of(answer);
  const std::int64_t code = error_code(answer);
  const bool modern_fault = code == kMcpHeaderMismatch || code == kMcpMissingCapability;
  if (result) {
    const McpHello hello = read_hello(*result);
    if (has(hello.versions, kMcpStatelessRevision)) {
      lists_changes_ = hello.lists_changes;
      co_return true;
    }
  }
  revision_.clear();
  transport_->use_revision("");
  if (!sure && !modern_fault) co_return false;
  if (!result) co_return tl::unexpected(result.error());
  co_return fail(ErrorCode::upstream_failed, "the MCP server does not speak revision 2026-07-28");
}

net::Task<Result<void>> McpClient::shake_hands() {
  std::string members;
  members.append(R"("protocolVersion":")").append(kMcpSessionRevision);
  members.append(R"(","capabilities":{},"clientInfo":)").append(client_words());
  CancelToken never;
  const Answer answer = co_await ask("initialize", members, config_.start_timeout, never);
  const Result<std::string> result = result_of(answer);
  if (!result) co_return tl::unexpected(result.error());
  const McpHello hello = read_hello(*result);
  const std::string version = hello.versions.empty() ? "" : hello.versions.front();
  if (std::find(kSessionRevisions.begin(), kSessionRevisions.end(), version) ==
      kSessionRevisions.end()) {
    co_return fail(ErrorCode::upstream_failed,
                   "the MCP server speaks revision \"" + version + "\", which is not known");
  }
  revision_ = version;
  lists_changes_ = hello.lists_changes;
  transport_->use_revision(revision_);
  std::string initialized = write_mcp_notification("notifications/initialized", "");
  co_await transport_->deliver(std::move(initialized));
  co_return Result<void>();
}

void McpClient::listen() {
  if (!lists_changes_) return;
  if (!stateless()) return transport_->listen({});
  transport_->listen(
      request("subscriptions/listen", R"("notifications":{"toolsListChanged":true})", nullptr));
}

net::Task<Result<void>> McpClient::list(net::Millis timeout) {
  const auto self = shared_from_this();
  std::vector<McpToolEntry> all;
  std::string cursor;
  for (int pages = 0; pages < kMostPages; ++pages) {
    std::string members;
    if (!cursor.empty()) {
      members = R"("cursor":)";
      json::append_string(members, cursor);
    }
    CancelToken never;
    const Answer answer = co_await ask("tools/list", members, timeout, never);
    const Result<std::string> result = result_of(answer);
    if (!result) co_return tl::unexpected(result.error());
    McpToolPage page = read_tool_page(*result);
    if (!page.is_valid) {
      co_return fail(ErrorCode::upstream_failed, "the MCP server's list of tools is none");
    }
    for (McpToolEntry& tool : page.tools) {
      const bool wanted =
          config_.tools.empty() ||
          std::any_of(config_.tools.begin(), config_.tools.end(),
                      [&](auto& pattern) { return glob_matches(pattern, tool.name); });
      const bool usable = config_.url.empty() || read_header_params(tool.schema).has_value();
      if (wanted && usable && all.size() < config_.most_tools) all.push_back(std::move(tool));
    }
    if (page.next_cursor.empty() || page.next_cursor == cursor) break;
    cursor = page.next_cursor;
  }
  if (all != tools_) {
    tools_ = std::move(all);
    if (on_tools_) on_tools_();
  }
  co_return Result<void>();
}

net::Task<> McpClient::list_again([[maybe_unused]] std::shared_ptr<McpClient> self) {
  co_await loop_.sleep(
      net::Millis(0));  // whoever reads the notification still holds the read buffer
  while (stale_ && up_) {
    stale_ = false;
    const Result<void> listed = co_await list(config_.start_timeout);
    if (!listed) break;
  }
  listing_ = false;
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
  if (const McpToolEntry* entry = find(tool);
      entry != nullptr && stateless() && !config_.url.empty()) {
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
    } else if (error_code(answer) == kMcpHeaderMismatch) {
      (void)co_await list(rest);
    } else {
      break;
    }
  }
  if (!answer && answer.error().code == ErrorCode::timed_out) {
    co_return error_result(timeout_words(timeout));
  }
  if (!answer) co_return error_result(answer.error().message);
  failures_ = 0;
  const Result<std::string> result = result_of(answer);
  if (!result) co_return error_result(result.error().message);
  co_return read_call_result(*result, result_limit);
}

void McpClient::take_progress(std::string_view params) {
  json::Reader in(member_json(params, "progressToken"));
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
